#!/bin/sh
# record-node.t - JavaScript programs whose stacks are known, recorded with --interpreters=on, without any option of node: each function has
# a caller that the program has, and nearly all have names.
#
# Debian's node, or another one in /usr/bin, and those in PJ_NODES (programs, separated by colons). Recordings begin in the first second of the
# process and count from the next second on.
# stage: live
# full: 25 s for each node
# covers: record/interpreters/interpreters.c record/interpreters/jsinterpreter.c record/interpreters/jsstacks.c
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

pid=
other=
clean_up()
{
	for at in $pid $other; do kill -9 "$at" 2>/dev/null; done
	wait
	chmod -R u+rwx "$scratch"
	rm -rf "$scratch"
}
trap clean_up EXIT

# recorded PID SECONDS: folded, of all windows but the first and the last
recorded()
{
	rm -rf win
	pjrecord -v -d win -F 199 -w 1 --interpreters=on -p "$1" >/dev/null 2>said &
	recorder=$!
	sleep $(($2 + 2))
	kill -INT $recorder
	wait $recorder
	# shellcheck disable=SC2046
	pjfold -q --root=process $(find win/out -name '*.data' | sort | sed '1d;$d') 2>why >folded
}

# one NODE MODE: the functions of truth.js in that mode
one()
{
	"$1" "$top/test/lib/loads/truth.js" "$2" 60 >/dev/null 2>&1 &
	pid=$!
	sleep 0.5
	recorded $pid 2
	kill -9 $pid
	wait $pid 2>/dev/null
	pid=
	awk -f "$top/test/record/record-node.awk" folded >figures 2>impossible
	# shellcheck disable=SC2046
	set -- "$1" "$2" $(cat figures)
	what="$1 $2"
	ok "$what: samples ($3)" [ "${3:-0}" -ge 40 ]
	is "  no function has a wrong caller" "${5:-}" 0
	[ "${5:-0}" = 0 ] || fail "  impossible ones" impossible
	# On a loaded machine the helper process is over its budget of CPU time: then a stack has no functions. What is neither has none, either:
	# garbage collection and compilation.
	if awk -v all="$3" -v named="$4" -v unnamed="$6" 'BEGIN { exit !(named >= 0.4 * all && unnamed <= 0.1 * named) }'; then
		pass "  $4 of $3 samples have functions, $6 have frames of unknown code"
	else
		fail "  only $4 of $3 samples have functions, $6 have frames of unknown code" said figures folded
	fi
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

for node in $nodes; do
	for mode in names parents deep renewed; do
		one "$node" $mode
	done
	ok "  the file's functions have lines" sh -c "pjfold -q --srcline \$(find win/out -name '*.data' | sort | sed -n 2p) | grep -q 'shared:truth.js:[0-9]*_'"
done

# A program that only has node's name: its stacks stay native, and those of node beside it do not suffer.
cp "$(command -v dash || echo /bin/sh)" node
./node -c 'while :; do :; done' &
other=$!
set -- $nodes
one "$1" names
recorded $other 1
kill -9 $other
wait $other 2>/dev/null
other=
ok "a program that only has node's name has its native stacks" grep -q '^node;' folded
is "  and no function of JavaScript" "$(grep -c '_\[[0ji]\]' folded)" 0
done_testing
