#!/bin/bash
# unwind.sh - what pjrecord --unwind=tables costs and finds: sh test/bench/unwind.sh, after make tests (PJ_BUILD). Needs perf, cc; node and
# python3 where they are. Figures of CPU are of processes' own time, ratios are of runs by turns: a machine at work shakes them little.
# shellcheck disable=SC2016
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${PJ_BUILD:-$top/build/std-cc}
case $build in /*) ;; *) build=$top/$build ;; esac
perf=${PJ_PERF:-perf}
pairs=${PAIRS:-5}
PATH=$build/bin:$PATH
LC_ALL=C
export LC_ALL
dir=$(mktemp -d) || exit 1
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$dir"' EXIT
cd "$dir" || exit 1

cc -O2 -fomit-frame-pointer -o c "$top/test/unwind/load.c" || exit 1
c++ -O2 -o cpp "$top/test/unwind/load.cc"
cat >work.c <<'C'
/* Fixed work; prints its own CPU time, in us. Recursion, qsort's callbacks. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static volatile unsigned sink;
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
__attribute__((noinline)) static unsigned deep(unsigned n)
{
	static int v[512];
	if (n)
		return deep(n - 1) + sink;
	for (int i = 0; i < 512; i++)
		v[i] = (int)((unsigned)i * 2654435761u >> 8);
	qsort(v, 512, sizeof(*v), compare);
	return (unsigned)v[1];
}
int main(int argc, char **argv)
{
	for (long i = argc > 1 ? atol(argv[1]) : 20000; i > 0; i--)
		deep(15);
	printf("%ld\n", (long)clock() * (1000000 / CLOCKS_PER_SEC));
	return 0;
}
C
cc -O2 -fomit-frame-pointer -fno-optimize-sibling-calls -o work work.c || exit 1
cc -O2 -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -fno-optimize-sibling-calls -o workfp work.c || exit 1
cat >job.py <<'P'
import json, re, sys, time
end = time.process_time() + float(sys.argv[1])
while time.process_time() < end:
    json.loads(json.dumps({'a': list(range(2000))}))
    re.sub('a+', 'b', 'aab' * 1000)
    sorted([3, 2, 1] * 300, key=lambda x: -x)
P
cat >job.js <<'J'
const end = process.cpuUsage().user + 1e6 * process.argv[2];
const f = n => n < 2 ? n : f(n - 1) + f(n - 2);
while (process.cpuUsage().user < end) {
	f(18); JSON.parse(JSON.stringify({a: Array(500).fill(3)})); [...Array(200).keys()].sort((a, b) => b - a);
	'abc'.repeat(100).replace(/b/g, x => x + 'd'); new Map([...Array(100).keys()].map(x => [x, String(x)]));
}
J
python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null)
node=$(command -v node)

# ---- the same samples as perf and libunwind -------------------------------------------------------------------------

# same NAME [OPTION...] -- COMMAND...
same()
{
	local what=$1
	shift
	"$perf" record -q -F 999 --call-graph dwarf,16384 -e cpu-clock -o data "$@" >/dev/null 2>&1 || return
	"$perf" script -i data --no-inline -F tid,time,ip >script 2>/dev/null
	"$build/test/unwind/walk" -e data >walked 2>ends
	awk -f "$top/test/unwind/compare.awk" script walked | tail -n 1 | awk -F '[ ,]+' -v what="$what" '{
		printf "%-34s %8d samples, libunwind'\''s stack is the leaf side of %.2f %%, %.2f %% are shorter or other\n", what, $4, 100 * ($2 + $6) / $4, 100 * ($8 + $10) / $4 }'
	sed 's/^/    /' ends | grep root
}
echo "the same samples through perf with libunwind, and through unwind/"
same C -- ./c 3000
same C++ -- ./cpp 3000
[ -n "$python" ] && same Python -- "$python" job.py 3
[ -n "$node" ] && same node -- "$node" job.js 3

# ---- recordings ------------------------------------------------------------------------------------------------------

# said FILE: samples, whole, bytes
said()
{
	local n whole bytes
	n=$(sed -n 's/.*: \([0-9,]*\) samples.*/\1/p' "$1" | tr -d ,)
	whole=$(sed -n 's/.*; \([0-9.]*\) % of .* stacks are whole.*/\1/p' "$1")
	bytes=$(wc -c <"$2")
	echo "$n ${whole:--} $((bytes / n))"
}
echo "stacks that reach the root, and bytes a sample"
for what in c cpp python node; do
	case $what in
	c) command="./c 3000" ;;
	cpp) command="./cpp 3000" ;;
	python) command="$python job.py 3"; [ -n "$python" ] || continue ;;
	node) command="$node job.js 3"; [ -n "$node" ] || continue ;;
	esac
	# shellcheck disable=SC2086
	for how in fp tables; do
		pjrecord --unwind=$how -F 999 -o $how.data -- $command >/dev/null 2>$how.said
	done
	# shellcheck disable=SC2046
	set -- $(said tables.said tables.data) $(said fp.said fp.data)
	printf '%-10s %6d samples, %5.1f %% whole (fp, by pjfold: %s), %d bytes (fp: %d)\n' $what "$1" "$2" \
		"$(pjfold -q --stacks fp.data 2>/dev/null | awk '$NF == "(all)" { print $2 }')" "$3" "$6"
done
pjrecord -F 999 -o fp.data -- ./workfp 20000 >/dev/null 2>fp.said
pjrecord --unwind=tables -F 999 -o tables.data -- ./workfp 20000 >/dev/null 2>tables.said
# shellcheck disable=SC2046
set -- $(said tables.said tables.data) $(said fp.said fp.data)
echo "bytes a sample of a program with frame pointers: tables $3, fp $6"

# ---- CPU of pjrecord ---------------------------------------------------------------------------------------------------

cpu_of() # user and system seconds of a command and its children
{
	local TIMEFORMAT='%U %S'
	{ time "$@" >/dev/null 2>said.cpu; } 2>&1 | awk '{ print $1 + $2 }'
}
if timeout 5 pjrecord -a -n 1 -w 1 -d probe >/dev/null 2>&1; then
	echo "CPU of pjrecord, whole host at 303 Hz, $(nproc) CPUs busy, 20 s: of the CPU that was busy meanwhile"
	for how in fp tables; do
		for _ in $(seq "$(nproc)"); do timeout 25 ./cpp 30000 >/dev/null & timeout 25 "${python:-./c}" ${python:+job.py} 30000 >/dev/null & done
		s=$(cpu_of pjrecord -a --unwind=$how -n 1 -w 20 -d "host.$how")
		n=$(sed -n 's/.*: \([0-9,]*\) samples.*/\1/p' said.cpu | tr -d ,)
		awk -v how=$how -v s="$s" -v n="$n" 'BEGIN { printf "%-8s %.2f s for %d samples: %.1f us a sample, %.2f %%\n", how, s, n, 1e6 * s / n, 100 * s / (n / 303) }'
		sed -n 's/.*\(rings up to.*\)/    \1/p' said.cpu
		# shellcheck disable=SC2046 # numbers
		kill $(jobs -p) 2>/dev/null
		wait 2>/dev/null
	done
fi

# ---- what is slowed down -----------------------------------------------------------------------------------------------

echo "slowdown of fixed work at 9,999 Hz, $pairs runs each by turns, and scaled to 303 Hz"
: >runs
for _ in $(seq "$pairs"); do
	echo "none $(./work 20000) 0" >>runs
	for how in fp tables; do
		t=$(pjrecord --unwind=$how -F 9999 -o slow.data -- ./work 20000 2>said.slow)
		echo "$how $t $(sed -n 's/.*: \([0-9,]*\) samples.*/\1/p' said.slow | tr -d ,)" >>runs
	done
done
sort -k1,1 -k2,2n runs | awk '{ n[$1]++; t[$1, n[$1]] = $2; s[$1] += $3 }
	END { for (how in n) mid[how] = t[how, int((n[how] + 1) / 2)]
	for (how in n) if (how != "none") printf "%-8s %.2f %% at 9,999 Hz, %.2f %% at 303 Hz (%.1f us a sample)\n", how, 100 * (mid[how] / mid["none"] - 1),
		100 * (mid[how] / mid["none"] - 1) * 303 / 9999, (mid[how] - mid["none"]) / (s[how] / n[how]) }'

# ---- memory ------------------------------------------------------------------------------------------------------------

if [ -d probe ]; then
	for i in $(seq 200); do cp c "p$i"; timeout 30 "./p$i" 200 >/dev/null & done
	cat >Small.java <<'J'
public class Small {
	static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
	public static void main(String[] a) throws Exception {
		java.util.HashMap<String, Integer> m = new java.util.HashMap<>();
		for (long end = System.currentTimeMillis() + 30000; System.currentTimeMillis() < end; Thread.sleep(20)) {
			fib(16);
			for (int i = 0; i < 200; i++) m.merge("k" + i % 50, i, Integer::sum);
		}
	}
}
J
	jvms=0
	if command -v javac >/dev/null && javac Small.java 2>/dev/null; then
		jvms=20
		for _ in $(seq $jvms); do timeout 40 java -Xmx16m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp . Small >/dev/null 2>&1 & done
	fi
	pjrecord -a -q --unwind=tables -F 303 -w 20 -n 1 -d memory 2>/dev/null >/dev/null &
	recorder=$!
	most=0
	while kill -0 $recorder 2>/dev/null; do
		# rings are memory of the kernel that is mapped; tables too; all of the process and its children
		now=$(for p in $recorder $(pgrep -P $recorder); do awk '/^Pss:/ { s += $2 } END { print s + 0 }' "/proc/$p/smaps_rollup" 2>/dev/null; done | awk '{ s += $1 } END { print s }')
		[ "${now:-0}" -gt $most ] && most=$now
		sleep 0.5
	done
	echo "memory while 200 programs of their own and $jvms JVMs ran: $((most / 1024)) MB, rings and tables included; the bound: $((64 + 8 * $(nproc))) MB"
fi
