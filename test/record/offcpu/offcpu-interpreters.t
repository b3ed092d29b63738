#!/bin/sh
# offcpu-interpreters.t - functions of interpreters in stacks of threads that were off the CPU: programs whose waits are known, recorded with
# --off-cpu --interpreters=on, have no impossible stack, and most of their times show the functions that wait.
#
# The programs are Debian's Python, or PJ_PYTHON, Ruby, PHP and Perl. On a loaded machine fewer stacks are read in time, so the share has a
# wide bound: observed are 96 to 99 % of the time of Python, PHP and Perl, 75 to 83 % of that of Ruby, whose stacks of 56 kB reach the limit of bytes.
# stage: live
# full: 20 s of samples of four interpreters; offcpu-stacks.t and interpreters.t are in the gate
# covers: record/offcpu/waitframes.c record/offcpu/waithelper.c record/session/waitstacks.c record/interpreters/waitnames.c
# covers: record/interpreters/interpreters.c record/interpreters/scripts.c record/interpreters/interpthread.c record/interpreters/interphelper.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
LC_ALL=C
export LC_ALL

[ "$(uname -m)" = x86_64 ] || skip_all "x86-64 only"
{ have pjrecord && have pjfold; } || skip_all "pjrecord or pjfold is not built"
[ "$(id -u)" = 0 ] || skip_all "the memory of other processes is read as root"
timeout 60 pjrecord -q --off-cpu -o probe.data -- true 2>why || skip_all "context switches may not be recorded here: $(head -n 1 why)"

loads=$top/test/lib/loads
set --
for at in "${PJ_PYTHON:-/usr/bin/python3}" /usr/bin/ruby /usr/bin/php /usr/bin/perl; do
	[ ! -x "$at" ] || set -- "$@" "$at"
done
[ $# -gt 0 ] || skip_all "no interpreter is installed"

# load_of PROGRAM: its load
load_of()
{
	case ${1##*/} in
	python*) echo "$loads/waits.py" ;;
	ruby*) echo "$loads/waits.rb" ;;
	perl*) echo "$loads/waits.pl" ;;
	*) echo "$loads/waits.php" ;;
	esac
}

# judged NAME FILE...: stacks of the program in these windows
judged()
{
	what=$1
	shift
	case $what in python*) mode=python ;; ruby*) mode=ruby ;; perl*) mode=perl ;; *) mode=php ;; esac
	pjfold -q --root=process --only event=offcpu-time --time-slice 0.001 "$@" 2>why | grep -a "^[^;]*;$mode" >folded
	awk -v mode=$mode -f "$top/test/record/offcpu/offcpu-interpreters.awk" folded >figures 2>impossible
	read -r all named bad left right pauses brief places <figures
	is "$what: no stack is impossible" "$bad" 0
	[ "$bad" = 0 ] || fail "  impossible ones" impossible
	if awk -v all="$all" -v named="$named" 'BEGIN { exit !(all > 1e9 && named / all >= 0.25) }'; then
		pass "  of $((all / 1000000)) ms, $((named / 1000000)) show the functions"
	else
		fail "  of the time, 25 % at least show the functions" figures said
	fi
	ok "  at $places places" [ "$places" -ge 4 ]
	ok "  both callers at one depth: $left and $right waits" [ "$left" -ge 2 -a "$right" -ge 2 ]
	# 30 ms in left and 10 in right: a load makes them longer, borders of windows some shorter, of each of three threads two, and preemptions
	# are waits, too
	ok "  their times are those of the callers: $brief of $pauses are too short" [ "$brief" -le $((6 + pauses / 20)) ]
}

pids=
for program; do
	"$program" "$(load_of "$program")" 60 >/dev/null 2>&1 &
	pids=$pids${pids:+,}$!
done
# the interpreters start within a second; the second window is judged
sleep 1
timeout 60 pjrecord -v --off-cpu --interpreters=on -d win -w 2 -n 2 -p "$pids" >windows 2>said
is "the loads are recorded" "$?" 0
# shellcheck disable=SC2046
kill $(echo "$pids" | tr , ' ')
wait
for program; do
	judged "${program##*/}" "$(sed -n 2p windows)"
done
ok "the summary counts them" grep -q 'in interpreters, [0-9.]* % show' said

# a wait that goes on for several windows has its functions in each; on a loaded machine the program starts seconds later
if [ -x /usr/bin/python3 ]; then
	timeout 60 pjrecord -q --off-cpu --interpreters=on -d long -w 1 -n 5 -- /usr/bin/python3 -c '
import time
def sleeps():
    time.sleep(10)
sleeps()' >windows 2>said
	while read -r window; do
		pjfold -q --only event=offcpu-time "$window" 2>why
	done <windows | grep -a 'sleep.* 1000000000$' >folded
	of=$(grep -c . folded)
	if [ "$of" -ge 2 ]; then
		is "a wait of 10 s has its functions in $of windows" "$(grep -c '<module>_\[0\];__main__.sleeps_\[0\];' folded)" "$of"
	else
		skip "a wait of 10 s has its functions in each window" "the program started too late"
	fi
fi

# a wait that began before the recording has its functions, once the interpreter is known
if [ -x /usr/bin/python3 ]; then
	/usr/bin/python3 -c '
import time
def sleeps():
    time.sleep(60)
sleeps()' &
	sleeper=$!
	sleep 1
	timeout 60 pjrecord -q --off-cpu --interpreters=on -d early -w 2 -n 2 -p $sleeper >windows 2>said
	kill $sleeper
	wait
	pjfold -q --only event=offcpu-time "$(sed -n 2p windows)" >folded 2>why
	ok "a wait from before the recording has its functions" grep -q '<module>_\[0\];__main__.sleeps_\[0\];' folded
	grep -q '<module>_\[0\];__main__.sleeps_\[0\];' folded || fail "  its stacks" folded said
fi
done_testing
