#!/bin/sh
# run.sh [DIR] - what pjdiff says of runs of one unchanged Java program: nothing, if all is well. make null
#
# Five runs of Steady.java, eight windows of four seconds each, every pair of runs both ways: percent of the picture's area that is coloured,
# and whether --fail-over 2% lets it pass. With DIR, windows rN.wM that are there are used; else they are recorded there (6 minutes), or
# in a folder of its own. Needs perf, and a JDK of 17 or later with jcmd (JAVA_HOME).
set -u
top=$(cd "$(dirname "$0")/../../.." && pwd)
bin=$top/${PJ_BUILD:-build/std-cc}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/pj-null.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM
dir=${1:-$tmp}
LC_ALL=C
export LC_ALL

skip()
{
	echo "SKIPPED: the null test of real runs: $1" >&2
	exit 77
}

record()
{
	jdk=${JAVA_HOME:-$(dirname "$(dirname "$(readlink -f "$(command -v java || echo /none/none)")")")}
	command -v perf >/dev/null || skip "perf is not installed"
	for tool in java javac jcmd; do
		[ -x "$jdk/bin/$tool" ] || skip "no $tool in $jdk: set JAVA_HOME to a JDK of 17 or later"
	done
	"$jdk/bin/javac" -d "$tmp" "$top/test/diff/null/Steady.java" || skip "javac failed"
	perf record -q -g -o "$tmp/try" -- true 2>/dev/null || skip "perf may not record here"
	for run in 1 2 3 4 5; do
		"$jdk/bin/java" -Xmx512m -XX:+PreserveFramePointer -cp "$tmp" Steady 48 &
		java=$!
		sleep 12
		perf record -q -F 499 -g -o "$tmp/data" -p $java -- sleep 33 2>/dev/null
		"$jdk/bin/jcmd" $java Compiler.perfmap >/dev/null
		perf script -i "$tmp/data" -F comm,pid,tid,time,event,ip,sym,dso --show-lost-events >"$tmp/script" 2>/dev/null
		wait $java
		for window in 0 1 2 3 4 5 6 7; do
			"$bin/bin/pjfold" -q --from +$((window * 4)) --to +$((window * 4 + 4)) "$tmp/script" >"$dir/r$run.w$window"
		done
	done
}

[ -x "$bin/bin/pjdiff" ] || skip "pjdiff is not built"
[ -s "$dir/r5.w7" ] || record
cc -std=c17 -D_GNU_SOURCE -O2 -I"$top" -o "$tmp/area" "$top/test/diff/null/area.c" "$bin/libpj.a" -lz -lm -pthread || exit 1

failed=0
: >"$tmp/areas"
for a in 1 2 3 4 5; do
	for b in 1 2 3 4 5; do
		[ $a = $b ] && continue
		"$bin/bin/pjdiff" --fail-over 2% -o "$tmp/diff" "$dir"/r$a.w? : "$dir"/r$b.w? 2>"$tmp/err"
		status=$?
		area=$("$tmp/area" "$tmp/diff")
		echo "$area" >>"$tmp/areas"
		echo "run $a, run $b: $area % coloured, moved; --fail-over 2%: status $status"
		if [ $status != 0 ]; then
			failed=1
			sed 's/^/  /' "$tmp/err"
		fi
	done
done
awk '{ sum += $1; moved += $2 } END { printf "mean of %d ordered pairs: %.2f %% coloured (at most 5), %.2f %% moved\n", NR, sum / NR, moved / NR; exit !(sum / NR <= 5) }' "$tmp/areas" || failed=1
exit $failed
