#!/bin/sh
# record-node.t - JavaScript programs whose stacks are known, recorded with --interpreters=on, without any option of node: each function has
# a caller that the program has, and nearly all have names.
#
# Debian's node, or another one in /usr/bin, and those in PJ_NODES (programs, separated by colons). Two programs are recorded at once. Recordings
# begin in the first second of the processes and count from the next second on.
# stage: live
# full: 12 s for each node
# covers: record/interpreters/interpreters.c record/interpreters/scripts.c record/interpreters/jsinterpreter.c record/interpreters/jsstacks.c
# covers: record/syncread/readerthread.c record/perf/samplerecord.c record/unwind/samplestack.c runtimes/v8/v8.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
LC_ALL=C
HOME=$scratch
export LC_ALL HOME

[ "$(uname -m)" = x86_64 ] || skip_all "x86-64 only"
{ have pjrecord && have pjfold; } || skip_all "pjrecord or pjfold is not built"
timeout 60 pjrecord -v -o data -- true >/dev/null 2>said || skip_all "perf events are not allowed here: $(head -n 1 said)"
pjrecord --check -d . 2>/dev/null | grep -q '^ok *interpreters' || skip_all "no right to real-time priority"
nodes=$({ echo /usr/bin/node; echo "${PJ_NODES:-}" | tr : '\n'; } | while read -r at; do [ ! -x "$at" ] || echo "$at"; done)
[ -n "$nodes" ] || skip_all "no node is installed"

pids=
clean_up()
{
	for at in $pids; do kill -9 "$at" 2>/dev/null; done
	wait
	chmod -R u+rwx "$scratch"
	rm -rf "$scratch"
}
trap clean_up EXIT

# started PROGRAM ARGUMENT...: in the background, in $pid
started()
{
	"$@" >/dev/null 2>&1 &
	pid=$!
	pids="$pids $pid"
}

# recorded PIDS: $windows are all but the first and the last, $lists the samples whose functions are shown, $unnamed the percentage of those
# functions that have no name
recorded()
{
	rm -rf win
	pjrecord -v -d win -F 199 -w 1 --interpreters=on -p "$1" >/dev/null 2>said &
	recorder=$!
	sleep 4
	kill -INT $recorder
	wait $recorder
	windows=$(find win/out -name '*.data' | sort | sed '1d;$d')
	grep '\.data: ' said | sed '1d;$d' >counted
	lists=$(sed -n 's/,//g; s/.* of \([0-9]*\) in \(an interpreter\|interpreters\) \([0-9.]*\) % show its functions.*/\1 \3/p' counted | awk '
		{ n += $1 * $2 / 100 }
		END { printf "%d\n", n }')
	unnamed=$(sed -n 's/.* \([0-9.]*\) % of them without a name.*/\1/p' counted | sort -n | tail -n 1)
}

# judged NODE MODE PID: the functions of truth.js in that mode. Adds to $named.
judged()
{
	# shellcheck disable=SC2086
	pjfold -q --root=process --only=pid="$3" $windows 2>why >folded
	awk -f "$top/test/record/record-node.awk" folded >figures 2>impossible
	# shellcheck disable=SC2046
	set -- "$1" "$2" $(cat figures)
	what="$1 $2"
	named=$((named + ${4:-0}))
	ok "$what: samples ($3), $4 with functions" [ "${4:-0}" -ge 20 ]
	is "  no function has a wrong caller" "${5:-}" 0
	[ "${5:-0}" = 0 ] || fail "  impossible ones" impossible
	ok "  few have frames of unknown code ($6)" [ $((20 * ${6:-1})) -le "${4:-0}" ]
	case $2 in
	names | deep)
		if awk -v a="$7" -v b="$8" -v c="$9" 'function far(got, want, n) { return (100 * got / n - want) ^ 2 > 9 * want * (100 - want) / n + 25 }
			BEGIN { n = a + b + c; exit !(n >= 20 && !far(a, 50, n) && !far(b, 30, n) && !far(c, 20, n)) }'; then
			pass "  the leaves have their shares: $7, $8, $9"
		else
			fail "  the leaves have $7, $8, $9, not 50, 30, 20 %" figures folded
		fi
		;;
	esac
}

# pair NODE MODE MODE [PROGRAM ARGUMENT...]: records both modes, and another program; its process is the last of $pids
pair()
{
	node=$1 one=$2 other=$3
	shift 3
	started "$node" "$top/test/lib/loads/truth.js" "$one" 60
	first=$pid
	started "$node" "$top/test/lib/loads/truth.js" "$other" 60
	second=$pid
	[ $# = 0 ] || started "$@"
	sleep 0.5
	# again, on a loaded machine: the helper process is given up if it does not answer for 0.25 s
	for try in 1 2 3; do
		recorded "$(echo $pids | tr ' ' ,)"
		if [ "$lists" -ge 80 ]; then break; fi
		echo "# attempt $try: only $lists samples are read in time"
	done
	# shellcheck disable=SC2086
	kill -9 $pids
	wait 2>/dev/null
	named=0
	judged "$node" "$one" "$first"
	judged "$node" "$other" "$second"
	# A sample that is read too late, as on a loaded machine, shows no functions, and is counted. What runs without any is garbage collection,
	# compilation, and node itself.
	if awk -v lists="$lists" -v named="$named" -v unnamed="${unnamed:-0}" 'BEGIN { exit !(lists >= 40 && named >= 0.8 * lists && unnamed <= 5) }'; then
		pass "  of $lists samples that are read in time, $named have functions; ${unnamed:-0} % of these have no name"
	else
		fail "  of $lists samples that are read in time, $named have functions; ${unnamed:-0} % of these have no name" said
	fi
}

# a program that only has node's name
cp "$(command -v dash || echo /bin/sh)" node
for node in $nodes; do
	pids=
	pair "$node" names renewed
	pids=
	pair "$node" parents deep ./node -c 'while :; do :; done'
	ok "  the file's functions have lines" sh -c "pjfold -q --srcline \$(find win/out -name '*.data' | sort | sed -n 2p) | grep -q 'shared:truth.js:[0-9]*_'"
	# shellcheck disable=SC2086
	pjfold -q --root=process --only=pid="$pid" $windows 2>why >folded
	ok "a program that only has node's name has its native stacks" grep -q '^node;' folded
	is "  and no function of JavaScript" "$(grep -c '_\[[0ji]\]' folded)" 0
	pids=
done
done_testing
