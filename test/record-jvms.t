#!/bin/sh
# record-jvms.t - pjrecord --unwind=tables where it is not alone: many JVMs at once, on a host with more work than CPUs; those that begin, end and
# become another program meanwhile; one whose memory nobody can read. Nothing is lost, and no stack waits in vain.
# shellcheck source=test/tap.sh
. "$(dirname "$0")/tap.sh"
LC_ALL=C
HOME=$scratch
export LC_ALL HOME

[ "$(uname -m)" = x86_64 ] || skip_all "x86-64 only"
{ have pjrecord && have pjfold; } || skip_all "pjrecord or pjfold is not built"
# shellcheck source=test/jmap/jvm.sh
. "$top/test/jmap/jvm.sh"
timeout 60 pjrecord -o data --unwind=tables -- true >/dev/null 2>said || skip_all "perf events are not allowed here: $(head -n 1 said)"

# ---- priority --------------------------------------------------------------------------------------------------------

# nice_of PID: its nice value, which is the 19th field
nice_of()
{
	sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | awk '{ print $17 }'
}

# child_of PID NAME
child_of()
{
	for task in "/proc/$1/task"/*/children; do
		for child in $(cat "$task" 2>/dev/null); do
			[ "$(cat "/proc/$child/comm" 2>/dev/null)" = "$2" ] && echo "$child"
		done
	done
}

there()
{
	maker=$(child_of $recorder pjrecord-table)
	keeper=$(child_of $recorder pjrecord-keeper)
	command=$(child_of $recorder sleep)
	[ -n "$maker" ] && [ -n "$keeper" ] && [ -n "$command" ]
}

# priorities HOW: of the recorder, who makes tables, who keeps symbols, and the command
priorities()
{
	"$@" pjrecord --unwind=tables -d windows -- sleep 600 >/dev/null 2>said &
	recorder=$!
	started="$started $recorder"
	until_true there
	seen="$(nice_of $recorder) $(nice_of "$maker") $(nice_of "$keeper") $(nice_of "$command")"
	kill "$command" $recorder 2>/dev/null
	wait $recorder
	echo "$seen"
}

mine=$(nice_of $$)
if [ "$mine" != 0 ]; then
	skip "priority" "this test runs at nice $mine"
elif [ -n "$(nice -n -20 true 2>&1)" ]; then
	skip "priority is raised" "not allowed here"
else
	is "priority: the recorder's and the table maker's, not the keeper's and the command's" "$(priorities env)" "-20 -15 0 0"
	is "  as it was wanted, when another one was" "$(priorities nice -n 3)" "3 3 3 3"
fi
done_testing
