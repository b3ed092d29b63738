#!/bin/sh
# record-python.t - Python programs whose stacks are known, recorded with --interpreters=on, without any option of theirs: every stack is
# one that the program can have, and nearly all have all functions and names.
#
# Debian's CPython, those of pyenv, and those in PJ_PYTHONS (programs). Native stacks are in them, too, so the truth is compared without them. All
# runs begin in the second second of the process. On a loaded machine many copies are not certain (0.1 % on a quiet one), so the share of all
# samples has a wide bound (PJ_PYTHON_LEAST, in %), that of the stacks with functions a narrow one. PJ_PYTHON_ALL=1
# tries all versions, otherwise the oldest, Debian's and the newest.
# stage: live
# full: 45 s for each CPython
# covers: record/interpreters/interpreters.c record/interpreters/scripts.c record/interpreters/interpthread.c record/interpreters/interpclient.c
# covers: record/interpreters/interphelper.c record/interpreters/pythoninterpreter.c record/interpreters/interpreter.c
# covers: record/interpreters/innerthreads.c record/interpreters/onestack.c record/unwind/samplestack.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
LC_ALL=C
homes=$HOME/.pyenv/versions
HOME=$scratch
export LC_ALL HOME

[ "$(uname -m)" = x86_64 ] || skip_all "x86-64 only"
{ have pjrecord && have pjfold; } || skip_all "pjrecord or pjfold is not built"
timeout 60 pjrecord -v -o data -- true >/dev/null 2>said || skip_all "perf events are not allowed here: $(head -n 1 said)"
pjrecord --check -d . 2>/dev/null | grep -q '^ok *interpreters' || skip_all "no right to real-time priority"

pythons=$PJ_PYTHONS
for at in /usr/bin/python3.[0-9]* "$homes"/3.*/bin/python3.[0-9]*; do
	case ${at##*/} in python3.8 | python3.9 | python3.1[0-9]) [ ! -x "$at" ] || pythons="$pythons $at" ;; esac
done
[ -n "$pythons" ] || skip_all "no CPython is installed"
# shellcheck disable=SC2086
pythons=$(printf '%s\n' $pythons | sed 's|.*/python3[.]|& |' | sort -k2n | sed 's| ||')
[ -n "${PJ_PYTHON_ALL:-}" ] || pythons=$(echo "$pythons" | awk 'NR == 1 || /^\/usr\/bin/ { print; next } { last = $0 } END { if (last) print last }')

pid=
clean_up()
{
	[ -z "$pid" ] || kill -9 "$pid" 2>/dev/null
	wait
}

# start PYTHON MODE: sets pid
start()
{
	"$1" "$top/test/lib/loads/truth.py" "$2" 120 >python.out 2>&1 &
	pid=$!
}

stop()
{
	kill -9 "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
	pid=
}

# recorded SECONDS OPTION...: into data; starts to count in the second second of the recording, as its process is new to it
recorded()
{
	seconds=$1
	shift
	rm -rf data win
	pjrecord -v -d win -F 997 -w 1 "$@" >/dev/null 2>said &
	recorder=$!
	sleep $((seconds + 2))
	kill -INT $recorder
	wait $recorder
	# the second window is the first that counts, the last one is short
	windows=$(find win/out -name '*.data' | sort | sed '1d;$d')
	# shellcheck disable=SC2086
	pjfold -q --root=process $windows 2>why | grep '^python' >folded
}

# judged NAME MODE LEAST SHARES: all stacks of `folded` are possible, LEAST % have all names; the leaves have their shares if SHARES
judged()
{
	what=$1 least=$3 shares=$4
	awk -v mode="$2" -f "$top/test/record/record-python.awk" folded >figures 2>impossible
	# shellcheck disable=SC2046
	set -- $(cat figures)
	ok "$what: samples ($1)" [ "${1:-0}" -ge 500 ]
	is "  all of $2 stacks with functions are possible" "${4:-}" 0
	[ "${4:-0}" = 0 ] || fail "  impossible ones" impossible
	if awk -v all="$5" -v shown="$6" -v least="$least" 'BEGIN { exit !(all >= least && shown >= 95) }'; then
		pass "  $5 % have all functions, with names, $6 % of those with any: $(sed -n 's/.*; of \([^;]*in interpreters[^;]*\).*/\1/p' said | tail -n 1)"
	else
		fail "  only $5 % have all functions, with names, $6 % of those with any" said figures
	fi
	[ -n "$shares" ] || return 0
	if awk -v a="$9" -v b="$8" -v c="$7" -v n="${10}" 'function far(got, want) { return (got - want) ^ 2 > 9 * want * (100 - want) / n + 25 }
		BEGIN { exit !(n >= 300 && !far(a, 50) && !far(b, 30) && !far(c, 20)) }'; then
		pass "  the leaves have their shares: $9, $8, $7 of ${10}"
	else
		fail "  the leaves have $9, $8, $7 of ${10}, not 50, 30, 20" figures
	fi
}

# one PYTHON MODE SECONDS LEAST SHARES
one()
{
	start "$1" "$2"
	sleep 0.5
	recorded "$3" --interpreters=on -p "$pid"
	stop
	judged "${1##*/}, $2" "$2" "$4" "$5"
}

# Shares: 5 points more are for the time in callers and for calls, which is not the same in all versions (54/28/17 seen in 3.13).
for python in $pythons; do
	for mode in parents deep callbacks generators exceptions renewed threads; do
		shares=
		[ "$mode" != parents ] && [ "$mode" != deep ] || shares=yes
		one "$python" $mode 3 "${PJ_PYTHON_LEAST:-15}" $shares
	done
done

# the file is one that perf reads, and that says how many samples it is about
first=$(find win/out -name '*.data' | sort | sed -n 2p)
ok "--info counts them" sh -c "pjfold --info '$first' | grep -q 'in interpreters'"
if command -v perf >/dev/null 2>&1; then
	ok "perf script reads the window" sh -c "perf script -i '$first' 2>err | grep -q '^python'"
else
	skip "perf script reads the window" "perf is not installed"
fi

# --srcline: the windows are those of the last program
# shellcheck disable=SC2086
pjfold -q --srcline --root=process $windows 2>why | grep '^python' >lines
awk -f "$top/test/record/record-python-lines.awk" "$top/test/lib/loads/truth.py" lines >figures 2>wrong
read -r all good distinct <figures
ok "--srcline: functions with a line ($all)" [ "${all:-0}" -ge 200 ]
is "  all are lines of the function" "${good:-}" "$all"
[ "$good" = "$all" ] || fail "  wrong ones" wrong
ok "  several of each function ($distinct)" [ "${distinct:-0}" -ge 6 ]

# off: the functions of the interpreter
start "$(echo "$pythons" | tail -n 1)" parents
sleep 0.5
recorded 2 --interpreters=off -p "$pid"
ok "--interpreters=off: native frames" grep -q '_PyEval_EvalFrameDefault\|libpython\|python3' folded
ok "  and no functions" not grep -q '_\[0\]' folded

# the default, without the option
recorded 3 -p "$pid"
stop
judged "without the option" parents "${PJ_PYTHON_LEAST:-15}" ''

# the cron line, for a shorter time: root becomes another user and keeps the right
if [ "$(id -u)" = 0 ]; then
	chmod 755 .
	mkdir windows
	chown 65534 windows
	# shellcheck disable=SC2046 # words
	set -- $(grep -v '^#' "$top/examples/pjrecord.cron" |
		sed -n 's/.* root *pjrecord //; s/>.*//; s/ --align//; s/--user=pj/--user=65534/; s|=/var/lib/pj|=windows|; s/ --window=60/ --window=5/p')
	start "$(echo "$pythons" | tail -n 1)" parents
	sleep 0.5
	pjrecord "$@" >out 2>err
	is "the cron line: status, messages" "$? $(cat err)" "0 "
	stop
	pjfold -q --root=process windows/out/*.data 2>why | grep '^python' >folded
	ok "  functions" grep -q '_\[0\];' folded
else
	skip "the cron line" "needs root"
fi
done_testing
