#!/bin/sh
# record-perl.t - Perl programs whose stacks are known, recorded with --interpreters=on, without any option of theirs: every stack is one that the
# program can have, and nearly all have all subs and names.
#
# Debian's Perl, and those in PJ_PERLS (programs). Native stacks are in them, too, so the truth is compared without them. On a loaded machine many
# copies are not certain, so the shares have wide bounds (PJ_PERL_LEAST, in %, of all samples). PJ_PERL_ALL=1 tries all programs.
# stage: live
# full: 13 s of samples of the real program; syncread.t and the unit tests of the runtime are in the gate
# covers: record/interpreters/perlinterpreter.c record/interpreters/interpreters.c record/interpreters/scripts.c record/interpreters/onestack.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
LC_ALL=C
HOME=$scratch
export LC_ALL HOME

[ "$(uname -m)" = x86_64 ] || skip_all "x86-64 only"
{ have pjrecord && have pjfold; } || skip_all "pjrecord or pjfold is not built"
timeout 60 pjrecord -v -o data -- true >/dev/null 2>said || skip_all "perf events are not allowed here: $(head -n 1 said)"
pjrecord --check -d . 2>/dev/null | grep -q '^ok *interpreters' || skip_all "no right to real-time priority"
perls=$PJ_PERLS
for at in /usr/bin/perl5.[0-9]*[0-9]; do [ ! -x "$at" ] || perls="$perls $at"; done
[ -n "$perls" ] || skip_all "no perl5.N.N is in /usr/bin"

pid=
clean_up()
{
	[ -z "$pid" ] || kill -9 "$pid" 2>/dev/null
	wait
}

# recorded PERL MODE: records the program for two windows of a second. The process is new to the first window, which has no functions at its start.
recorded()
{
	perl=$1 mode=$2
	"$perl" "$top/test/lib/loads/truth.pl" "$mode" 120 >perl.out 2>&1 &
	pid=$!
	sleep 0.5
	rm -rf win
	pjrecord -v -d win -F 997 -w 1 --interpreters=on -p "$pid" >/dev/null 2>said &
	recorder=$!
	tries=0
	while [ "$(find win/out -name '*.data' 2>/dev/null | wc -l)" -lt 2 ] && [ $((tries += 1)) -le 100 ]; do sleep 0.1; done
	kill -INT $recorder
	wait $recorder
	kill -9 "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
	pid=
	windows=$(find win/out -name '*.data' | sort)
	# shellcheck disable=SC2086
	pjfold -q --root=process $windows 2>why | grep '^perl' >folded
}

# judged PERL MODE NAMED: all stacks of `folded` are possible; NAMED % of those with functions have all names
judged()
{
	awk -v mode="$2" -f "$top/test/record/record-perl.awk" folded >figures 2>impossible
	what="${1##*/}, $2" mode=$2 least=$3
	# shellcheck disable=SC2046
	set -- $(cat figures)
	is "$what: of $1 samples, all of $2 stacks with functions are possible" "${4:-}" 0
	[ "${4:-0}" = 0 ] || fail "  impossible ones" impossible
	if [ "${2:-0}" -lt 100 ]; then
		skip "  the share with names" "only $2 stacks with functions"
	elif awk -v all="$5" -v shown="$6" -v least="$least" -v some="${PJ_PERL_LEAST:-5}" 'BEGIN { exit !(all >= some && shown >= least) }'; then
		pass "  $5 % have all functions, with names, $6 % of those with any: $(sed -n 's/.*; of \([^;]*in interpreters[^;]*\).*/\1/p' said | tail -n 1)"
	else
		fail "  only $5 % have all functions, with names, $6 % of those with any" said figures
	fi
	if [ "$mode" = making ] && [ "${2:-0}" -ge 100 ]; then
		[ "${11:-0}" -ge 10 ] && pass "  ${11} of these are in native functions that make or free closures, or substitute" ||
			fail "  only ${11} make or free closures, or substitute" folded
		[ "${12:-0}" -ge 10 ] && pass "  ${12} are in a match behind its code" || fail "  only ${12} are in a match behind its code" folded
	fi
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

# The code of renewed and the closures of temporaries end within a fraction of a millisecond: such a frame may have no name.
for perl in $perls; do
	for mode in parents callbacks catching making; do
		recorded "$perl" $mode
		judged "$perl" $mode 90
	done
	recorded "$perl" temporaries
	judged "$perl" temporaries 50
	[ -n "${PJ_PERL_ALL:-}" ] || continue
	for mode in deep exceptions closures objects; do
		recorded "$perl" $mode
		judged "$perl" $mode 90
	done
	recorded "$perl" renewed
	judged "$perl" renewed 20
done
done_testing
