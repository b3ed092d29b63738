#!/bin/sh
# record-php.t - PHP programs whose stacks are known, recorded with --interpreters=on, without any option of theirs: every stack is one that the
# program can have, and nearly all have all functions and names.
#
# Debian's PHP, and those in PJ_PHPS (programs). Native stacks are in them, too, so the truth is compared without them. On a loaded machine many
# copies are not certain, and functions end before they are named, so the shares have wide bounds (PJ_PHP_LEAST, in %, of all
# samples), and few samples have none. PJ_PHP_ALL=1 tries all programs.
# stage: live
# full: 20 s of samples of the real program; syncread.t and the unit tests of the runtime are in the gate
# covers: record/interpreters/phpinterpreter.c record/interpreters/interpreters.c record/interpreters/scripts.c record/interpreters/innerthreads.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
LC_ALL=C
HOME=$scratch
export LC_ALL HOME

[ "$(uname -m)" = x86_64 ] || skip_all "x86-64 only"
{ have pjrecord && have pjfold; } || skip_all "pjrecord or pjfold is not built"
timeout 60 pjrecord -v -o data -- true >/dev/null 2>said || skip_all "perf events are not allowed here: $(head -n 1 said)"
pjrecord --check -d . 2>/dev/null | grep -q '^ok *interpreters' || skip_all "no right to real-time priority"
phps=$PJ_PHPS
for at in /usr/bin/php[78].[0-9]; do [ ! -x "$at" ] || phps="$phps $at"; done
[ -n "$phps" ] || skip_all "no PHP is installed"

# the recorder prints each stack whose lists do not match
PJ_DEBUG=unwind
export PJ_DEBUG

pid=
clean_up()
{
	[ -z "$pid" ] || kill -9 "$pid" 2>/dev/null
	wait
}

# recorded PHP MODE OPTION...: records the program for $wanted windows of a second, two by default. The process is new to the first window, which has no functions at its start.
recorded()
{
	php=$1 mode=$2
	shift 2
	TMPDIR=$scratch "$php" "$@" "$top/test/lib/loads/truth.php" "$mode" 120 >php.out 2>&1 &
	pid=$!
	sleep 0.5
	rm -rf win
	pjrecord -v -d win -F 997 -w 1 --interpreters=on -p "$pid" >/dev/null 2>said &
	recorder=$!
	tries=0
	while [ "$(find win/out -name '*.data' 2>/dev/null | wc -l)" -lt "${wanted:-2}" ] && [ $((tries += 1)) -le 100 ]; do sleep 0.1; done
	kill -INT $recorder
	wait $recorder
	kill -9 "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
	pid=
	windows=$(find win/out -name '*.data' | sort)
	mismatches=$(grep -c 'segments (.*do not match' said)
	# shellcheck disable=SC2086
	pjfold -q --root=process $windows 2>why | grep '^php' >folded
}

# judged PHP MODE NAMED: all stacks of `folded` are possible; NAMED % of those with functions have all names
judged()
{
	awk -v mode="$2" -f "$top/test/record/record-php.awk" folded >figures 2>impossible
	what="${1##*/}, $2" mode=$2 least=$3
	# shellcheck disable=SC2046
	set -- $(cat figures)
	is "$what: of $1 samples, all of $2 stacks with functions are possible" "${4:-}" 0
	[ "${4:-0}" = 0 ] || fail "  impossible ones" impossible
	if [ "${2:-0}" -lt 100 ]; then
		skip "  the share with names" "only $2 stacks with functions"
	elif awk -v all="$5" -v shown="$6" -v least="$least" -v some="${PJ_PHP_LEAST:-5}" 'BEGIN { exit !(all >= some && shown >= least) }'; then
		pass "  $5 % have all functions, with names, $6 % of those with any: $(sed -n 's/.*; of \([^;]*in interpreters[^;]*\).*/\1/p' said | tail -n 1)"
	else
		fail "  only $5 % have all functions, with names, $6 % of those with any" said figures
	fi
	# a few stacks change while frames are pushed or popped
	ok "  at most 3 % contradict the native frames: $mismatches" [ "$mismatches" -le $(($1 * 3 / 100 + 3)) ]
	[ "$mode" = parents ] || return 0
	if [ "${10:-0}" -lt 100 ]; then
		skip "  the leaves have their shares" "only ${10} stacks"
	elif awk -v a="$9" -v b="$8" -v c="$7" -v n="${10}" 'function far(got, want) { return (got - want) ^ 2 > 9 * want * (100 - want) / n + 25 }
		BEGIN { exit !(!far(a, 50) && !far(b, 30) && !far(c, 20)) }'; then
		pass "  the leaves have their shares: $9, $8, $7 of ${10}"
	else
		fail "  the leaves have $9, $8, $7 of ${10}, not 50, 30, 20" figures
	fi
}

# In renewed, and for the closure of callbacks, functions end within a fraction of a millisecond: such a frame may have no name.
for php in $phps; do
	recorded "$php" parents
	judged "$php" parents 95
	recorded "$php" callbacks
	judged "$php" callbacks 50
	# A destructor runs after the frame of its function has left the list: the activation of the latter has no segment.
	recorded "$php" ends
	judged "$php" ends 80
	if "$php" -r 'exit(class_exists("Fiber") ? 0 : 1);'; then
		recorded "$php" fibers
		judged "$php" fibers 80
	fi
	[ -n "${PJ_PHP_ALL:-}" ] || continue
	recorded "$php" generators
	judged "$php" generators 95
	recorded "$php" renewed
	judged "$php" renewed 20
done

# The code of opcache's JIT compiler runs in frames of the eval function, with the same list of frames.
compiled()
{
	recorded "$php" "$2" -d opcache.enable_cli=1 -d opcache.jit_buffer_size=16M -d "opcache.jit=$1"
	judged "$php" "$2" "$3"
	# until the process is opened, in the first window, stacks through compiled code are followed by frame pointers
	are_complete "$1" 2
}

# are_complete JIT WINDOW: most stacks of the window are complete, by its number
are_complete()
{
	complete=$(sed -n 's/.*: \([0-9,]*\) samples.* \([0-9.]*\) % of [0-9,]* stacks are complete.*/\1 \2/p' said | sed -n "$2p")
	if [ "$(echo "${complete%% *}" | tr -d ,)" -lt 50 ] 2>/dev/null || [ -z "$complete" ]; then
		skip "  with opcache's JIT, $1: complete stacks" "few samples: $complete"
	else
		ok "  with opcache's JIT, $1: ${complete#* } % of the stacks of window $2 are complete" \
			awk -v complete="${complete#* }" 'BEGIN { exit !(complete >= 80) }'
	fi
}

# Opened while PHP compiles, when the code of the JIT compiler is not executable. It is mostly found later (docs/RUNTIMES.md); no stack may be
# wrong meanwhile.
compiling()
{
	wanted=6
	recorded "$php" compiling -d opcache.enable_cli=1 -d opcache.jit_buffer_size=128M -d opcache.jit=1205 -d opcache.file_update_protection=0
	wanted=
	awk -v mode=compiling -f "$top/test/record/record-php.awk" folded >figures 2>impossible
	# shellcheck disable=SC2046
	set -- $(cat figures)
	is "${php##*/}, compiling: of $1 samples, all of $2 stacks with functions are possible" "${4:-}" 0
	[ "${4:-0}" = 0 ] || fail "  impossible ones" impossible
	ok "  the process is not refused" sh -c '! grep -q "set opcache.jit to off" said'
}

for php in $phps; do
	if "$php" -d opcache.enable_cli=1 -d opcache.jit_buffer_size=16M -d opcache.jit=tracing -r \
		'exit(function_exists("opcache_get_status") && !empty(opcache_get_status()["jit"]["on"]) ? 0 : 1);' 2>/dev/null; then
		compiled tracing parents 95
		compiled function callbacks 50
		compiling
		[ -z "${PJ_PHP_ALL:-}" ] || { compiled function parents 95 && compiled tracing callbacks 50 && compiled tracing generators 95; }
	else
		skip "${php##*/} with opcache's JIT" "it has none"
	fi
done
done_testing
