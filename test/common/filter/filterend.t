#!/bin/sh
# filterend.t - when a filter has ended, no process that it started is left in its process group.
# covers: common/process/childend.c common/filter/broker.c common/filter/brokerserver.c fold/opener/fileopener.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
HOME=$scratch
export HOME
have pjfold && have pjsvg && have pjdiff || skip_all "not built"
have setsid || skip_all "no setsid"
printf 'a;b 1\na;c 2\n' >in
data=$top/test/fold/cases/perfdata/in.data

# left TIMES COMMAND...: how often a process of the group is left at the moment when the command has ended
left()
{
	times=$1 found=0
	shift
	while [ "$times" -gt 0 ]; do
		setsid "$@" >/dev/null 2>&1 &
		wait $!
		kill -0 -$! 2>/dev/null && found=$((found + 1))
		times=$((times - 1))
	done
	echo $found
}

setsid true &
wait $!
kill -0 -$! 2>/dev/null && skip_all "this shell starts background commands in groups of their own"
is "pjfold of perf.data" "$(left 20 pjfold -o out "$data")" 0
is "pjfold that dies" "$(left 20 pjfold -o out "$data" --only cgroup=x)" 0
is "pjfold of text" "$(left 20 pjfold -o out in)" 0
is "pjsvg" "$(left 20 pjsvg -o out.svg in)" 0
is "pjdiff" "$(left 20 pjdiff -o out in in)" 0
done_testing
