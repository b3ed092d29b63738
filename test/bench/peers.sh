#!/bin/bash
# peers.sh - the table of README.md that compares with FlameGraph: FLAMEGRAPH_DIR=DIR bash test/bench/peers.sh
#
# Each figure is the median of PAIRS (7) ratios of CPU time, user and system: ours and theirs run by turns on the same input, so that a machine
# that other programs load slows both. Medians of the times follow. Chromium's figures are elapsed times and need a quiet machine.
#
# FLAMEGRAPH_DIR   a checkout of FlameGraph
# PJ_BENCH_INPUT   perf script text, plain or .gz; default: ../shared/bench/mixed-60s-999hz.script.gz, else generated
# PJ_BENCH_DATA    a perf.data of this machine, for the row of recordings
set -u
cd "$(dirname "$0")/../.." || exit 1
bin=$PWD/${PJ_BUILD:-build/std-cc}/bin
peer=${FLAMEGRAPH_DIR:?a checkout of FlameGraph}
pairs=${PAIRS:-7}
LC_ALL=C
export LC_ALL
tmp=$(mktemp -d "${TMPDIR:-/var/tmp}/pj-peers.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM
cc -O2 -o "$tmp/measure" test/bench/measure.c && cc -O2 -o "$tmp/generate" test/bench/generate.c || exit 1

text=$tmp/text
input=${PJ_BENCH_INPUT:-../shared/bench/mixed-60s-999hz.script.gz}
if [ -e "$input" ]; then gzip -dcf -- "$input" >"$text"; else "$tmp/generate" script 100000000 >"$text"; fi

cpu()
{
	"$tmp/measure" -o /dev/null -- sh -c "$1" 2>/dev/null | cut -d' ' -f1
}

median()
{
	sort -n | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

# pair NAME OURS THEIRS: shell commands
pair()
{
	local i

	: >"$tmp/pairs"
	for ((i = 0; i < pairs; i++)); do
		echo "$(cpu "$2") $(cpu "$3")" >>"$tmp/pairs"
	done
	printf '%-62s | 1/%5.1f (%5.1f to %5.1f) | %.3f s, %.3f s\n' "$1" \
		"$(awk '{ print $2 / $1 }' "$tmp/pairs" | median)" \
		"$(awk '{ print $2 / $1 }' "$tmp/pairs" | sort -n | head -n 1)" "$(awk '{ print $2 / $1 }' "$tmp/pairs" | sort -n | tail -n 1)" \
		"$(cut -d' ' -f1 "$tmp/pairs" | median)" "$(cut -d' ' -f2 "$tmp/pairs" | median)"
}

echo "# $(nproc) processors, load $(cut -d' ' -f1-3 /proc/loadavg), $pairs pairs; FlameGraph $(git -C "$peer" rev-parse --short HEAD 2>/dev/null || echo '(no git)'), $(perl -e 'print "perl $^V"')"
echo "# text: $(stat -c %s "$text") bytes, $(grep -c '^[^	#]' "$text") samples"
printf '%-62s | %-24s | %s\n' "CPU time" "median (range)" "medians: ours, theirs"
pair "pjfold -j1; stackcollapse-perf.pl --all" "$bin/pjfold -q -j 1 $text" "perl $peer/stackcollapse-perf.pl --all $text"
pair "pjfold -j1; stackcollapse-perf.pl" "$bin/pjfold -q -j 1 $text" "perl $peer/stackcollapse-perf.pl $text"
"$bin/pjfold" -q "$text" >"$tmp/folded"
"$tmp/generate" folded 123000 | "$bin/pjfold" -q >"$tmp/generated"
for folded in folded generated; do
	pair "pjsvg; flamegraph.pl, $folded: $(wc -l <"$tmp/$folded") stacks" "$bin/pjsvg $tmp/$folded" "perl $peer/flamegraph.pl $tmp/$folded"
	pair "pjsvg; flamegraph.pl --minwidth 0, $folded" "$bin/pjsvg $tmp/$folded" "perl $peer/flamegraph.pl --minwidth 0 $tmp/$folded"
done
if [ -n "${PJ_BENCH_DATA:-}" ]; then
	pair "pjfold perf.data; perf script | stackcollapse-perf.pl --all" "$bin/pjfold -q -j 1 $PJ_BENCH_DATA" \
		"perf script -i $PJ_BENCH_DATA | perl $peer/stackcollapse-perf.pl --all"
fi

"$bin/pjsvg" -q "$tmp/folded" >"$tmp/ours.svg" 2>/dev/null || "$bin/pjsvg" "$tmp/folded" >"$tmp/ours.svg" 2>/dev/null
perl "$peer/flamegraph.pl" "$tmp/folded" >"$tmp/default.svg" 2>/dev/null
perl "$peer/flamegraph.pl" --minwidth 0 "$tmp/folded" >"$tmp/all.svg" 2>/dev/null
for picture in ours default all; do
	printf '%-62s | %d bytes, %d rectangles\n' "picture: $picture" "$(stat -c %s "$tmp/$picture.svg")" "$(grep -o '<rect' "$tmp/$picture.svg" | wc -l)"
done
if command -v node >/dev/null && sh test/svg/browser/setup.sh >/dev/null 2>&1; then
	echo "# Chromium, elapsed ms, medians of $pairs by turns: ours, default, all"
	node test/svg/browser/bench.mjs "$tmp/ours.svg" "$tmp/default.svg" "$tmp/all.svg" "$pairs" paint
fi
