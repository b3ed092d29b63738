#!/bin/sh
# slices.t - --time-slice: what was lost stands in the header of the slice where it was lost; together it is the whole.
# covers: fold/slices.c
# full-san: 15 to 60 s with sanitizers; unit tests, cases and fuzz corpora of its modules run with them in ./check
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
LC_ALL=C
HOME=$scratch
export LC_ALL HOME
build=${PJ_BUILD:-$top/build/std-cc}
write=$build/test/fold/perfdata/write
dump=$build/test/fold/perfdata/dump

have pjfold && [ -x "$write" ] && [ -x "$dump" ] || skip_all "pjfold, the writer or the dump is not built"

# field NAME FILE...: sum of it over headers
field()
{
	name=$1
	shift
	sed -n "s/^# pj .*$name=\([0-9]*\).*/\1/p" "$@" | awk '{ n += $1 } END { print n + 0 }'
}

for seconds in 1 0.25 0.001; do
	"$write" seed=3 samples=200 >in.data
	pjfold -q --time-slice $seconds --header -o 'slice-%s' in.data
	pjfold -q --header in.data >whole
	is "$seconds s: losses add up" "$(field lost slice-*)" "$(field lost whole)"
	is "  samples, too" "$(field samples slice-*)" "$(field samples whole)"
	grep -L 'lost=' slice-* >lacks
	ok "  every header tells" test ! -s lacks
	# by the records themselves, on the wall clock (5 s were 1700000000)
	"$dump" in.data | awk -v s=$seconds '$1 == "LOST" && $NF == "samples" { t = 1699999995 + $3 / 1e9; n[sprintf("%.0f", int(t / s))] += $(NF - 1) }
		END { for (i in n) printf "%.3f %d\n", i * s, n[i] }' | sort >want
	for f in slice-*; do echo "${f#slice-} $(field lost "$f")"; done | awk '$2 { printf "%.3f %d\n", $1, $2 }' | sort >got
	same "  each where it was lost" want got
	rm slice-*
done

# one event of several is folded: its losses count, in the slices as in the whole
for seed in 1 2 3 4 5 6; do
	"$write" seed=$seed samples=200 events=3 >in.data
	pjfold -q --time-slice 1 --header -o 'slice-%s' in.data 2>/dev/null
	pjfold -q --header in.data >whole 2>/dev/null
	is "three events, seed $seed: losses add up" "$(field lost slice-*)" "$(field lost whole)"
	rm slice-*
done

# a slice of which nothing is left; not every recording has one
for seed in 1 2 3 4 5 6 7 8 9 10 11 12; do
	rm -f slice-*
	"$write" seed=$seed >in.data
	pjfold -q --only tid=102 --time-slice 0.001 --header -o 'slice-%s' in.data
	for f in slice-*; do grep -q -v '^#' "$f" || echo "$f"; done >empty
	if [ -s empty ]; then break; fi
done
ok "a slice of which all was lost is written" test -s empty
is "  with what was lost" "$(head -n 1 empty | xargs sed -n 's/.* \(samples=.*\)/\1/p' | sed 's/[1-9][0-9]*$/N/')" "samples=0 lost=N"
pjfold -q --header slice-* >all
pjfold -q --only tid=102 --header in.data >whole
is "  together they are the whole" "$(field samples all) $(field lost all)" "$(field samples whole) $(field lost whole)"
rm slice-*
pjfold -q --only tid=102 --time-slice 0.001 -o 'slice-%s' in.data
for f in slice-*; do [ -s "$f" ] || echo "$f"; done >empty
ok "  without --header it is not" test ! -s empty
rm slice-*
"$write" seed=1 >in.data
pjfold -q --weight period --time-slice 1 --header -o 'slice-%s' in.data
is "weights that are no samples: no slice has a number of samples" "$(cat slice-* | grep -c '^# pj unit=') $(cat slice-* | grep -c ' samples=')" \
	"$(find . -name 'slice-*' | wc -l | tr -d ' ') 0"
done_testing
