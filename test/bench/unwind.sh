# shellcheck shell=bash
# shellcheck disable=SC2154 # run.sh sets them
# unwind.sh - what pjrecord --unwind costs and finds, beside frame pointers. Part of run.sh, which it is sourced by. With PJ_BENCH_ONLY=unwind
# some fifteen minutes; its parts: unwind-cpu (6 of them), unwind-interpreters (3), unwind-slow (3), unwind-modes, unwind-agree, unwind-truth, unwind-memory.
# CPU and memory are of processes and slowdown is a ratio of neighbours, but another load beside shakes them all.
#
# PJ_BENCH_UNWIND       how (auto)
# PJ_BENCH_UNWIND_SECS  of a recording whose CPU is measured (50; a quarter of it for frame pointers)
# PAIRS                 turns without a recorder, with frame pointers, with unwinding (5)

doing=
for part in cpu interpreters slow modes agree truth memory; do
	if wanted unwind-$part unwind; then doing="$doing $part"; fi
done
if [ -z "$doing" ]; then return 0; fi
how=${PJ_BENCH_UNWIND:-auto}
secs=${PJ_BENCH_UNWIND_SECS:-50}
pairs=${PAIRS:-5}
dir=$tmp/unwind
mkdir -p "$dir"
with_flag=-XX:+PreserveFramePointer

# ---- loads: they run until stop_loads

loads=()
load() # COMMAND...
{
	(cd "$dir" && exec "$@" >/dev/null 2>&1) &
	loads+=($!)
}

stop_loads()
{
	kill -9 "${loads[@]}" 2>/dev/null
	wait "${loads[@]}" 2>/dev/null
	loads=()
}

# load_java JDK CLASS ARGUMENT [OPTION...]: its number is the last of $loads
load_java()
{
	local jdk=$1 class=$2 argument=$3

	shift 3
	load "$jdk/bin/java" -Xmx256m "$@" -cp "$dir" "$class" "$argument" 3600
}

# load_warm JDK MODE [OPTION...]: one that has used 6 s of CPU: by then most of its code is compiled
load_warm()
{
	local i

	load_java "$1" Load "${@:2}"
	for ((i = 0; i < 600; i++)); do
		if [ "$(cpu_ms "${loads[-1]}" 2>/dev/null || echo 0)" -ge 6000 ]; then return; fi
		sleep 0.1
	done
}

load_native()
{
	load ./cpp 3600000
	load ./c 3600000
}

load_host()
{
	load_native
	if [ -n "$python" ]; then load "$python" job.py 3600; fi
	if [ -n "$node" ]; then load "$node" job.js 3600; fi
	if [ -n "$jdk" ]; then load_java "$jdk" Load mixed "$@"; fi
}

load_jvms()
{
	local i

	for ((i = 0; i < 20; i++)); do load_java "$jdk" Load mixed -XX:+UseSerialGC "$@"; done
}

cc -O2 -fomit-frame-pointer -o "$dir/c" test/lib/loads/load.c || exit 1
c++ -O2 -o "$dir/cpp" test/lib/loads/load.cc || exit 1
cc -O2 -fomit-frame-pointer -fno-optimize-sibling-calls -o "$dir/rounds" test/bench/rounds.c || exit 1
cat >"$dir/job.py" <<'P'
import json, re, sys, time
end = time.process_time() + float(sys.argv[1])
while time.process_time() < end:
    json.loads(json.dumps({'a': list(range(2000))}))
    re.sub('a+', 'b', 'aab' * 1000)
    sorted([3, 2, 1] * 300, key=lambda x: -x)
P
cat >"$dir/job.js" <<'J'
const end = process.cpuUsage().user + 1e6 * process.argv[2];
const f = n => n < 2 ? n : f(n - 1) + f(n - 2);
while (process.cpuUsage().user < end) {
	f(18); JSON.parse(JSON.stringify({a: Array(500).fill(3)})); [...Array(200).keys()].sort((a, b) => b - a);
	'abc'.repeat(100).replace(/b/g, x => x + 'd'); new Map([...Array(100).keys()].map(x => [x, String(x)]));
}
J
python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null)
node=$(command -v node)
mapfile -t found < <(jdks)
jdk=${found[-1]-}
if [ -n "$jdk" ] && ! "${found[0]}/bin/javac" -nowarn -d "$dir" test/lib/loads/Load.java test/bench/Rounds.java 2>"$tmp/why"; then
	absent "pjrecord --unwind of Java" "$(head -c 34 "$tmp/why")"
	found=() jdk=
fi
if [ -z "$jdk" ]; then absent "pjrecord --unwind of Java" "absent (JDK)"; fi
if ! "$bin/pjrecord" -q --unwind=$how -a -d "$dir/probe" -w 1 -n 1 >/dev/null 2>"$tmp/why"; then
	absent "pjrecord --unwind=$how" "not allowed here"
	return 0
fi

# ---- what it costs

# busy PID: ms of CPU that it used so far; all: that any process did
busy()
{
	if [ "$1" = all ]; then
		awk -v hz="$(getconf CLK_TCK)" 'NR == 1 { printf "%.0f\n", 1000 * ($2 + $3 + $4 + $7 + $8) / hz }' /proc/stat
	else
		cpu_ms "$1"
	fi
}

# told FILE: $samples, $each (bytes), $frames (addresses) a sample, $lost percent, $whole percent
told()
{
	read -r samples frames < <("$dump" "$1" | awk '/^SAMPLE/ { n++ } /^\tip/ { f++ } END { printf "%d %.1f\n", n, n ? f / n : 0 }')
	each=$(calc %.1f "$(stat -c %s "$1") / ($samples ? $samples : 1)")
	lost=$("$bin/pjfold" --info "$1" 2>/dev/null | awk '$1 == "lost" { print $3 }')
	whole=$("$bin/pjfold" -q --stacks "$1" 2>/dev/null | awk '$NF == "(all)" { print $2 + 0 }')
}

# cost TARGET SECS OPTION...: a recording of a PID, or of all: $cost, percent of the CPU that the target used meanwhile, and $steady without the
# first fifth of the time; then with the given options. Without functions of interpreters: unwind_interpreters has their cost.
cost()
{
	local target=$1 long=$2 waiting recorder began ours theirs TIMEFORMAT='%U %S'

	shift 2
	began=$(busy "$target")
	{ time "$bin/pjrecord" -q --interpreters=off -o "$dir/data" "$@" >/dev/null 2>"$tmp/said"; } 2>"$tmp/spent" &
	waiting=$!
	sleep "$(calc %.1f "$long / 5")"
	recorder=$(pgrep -P $waiting)
	ours=$(cpu_ns "$recorder") theirs=$(busy "$target")
	sleep "$(calc %.1f "$long * 4 / 5")"
	steady=$(calc %.2f "($(cpu_ns "$recorder") - $ours) / 1e4 / ($(busy "$target") - $theirs)")
	began=$(calc %.0f "$(busy "$target") - $began")
	kill -INT "$recorder"
	wait $waiting
	cost=$(calc %.2f "1e5 * ($(sed 's/ / + /' "$tmp/spent")) / $began")
	told "$dir/data"
}

# beside TARGET OPTION...: by frame pointers, for a quarter of the time: $fp, $fp_each, $fp_frames
beside()
{
	cost "$1" "$(calc %.0f "$secs / 4")" "${@:2}" --unwind=fp
	fp="fp $cost, $steady" fp_each=$each fp_frames=$frames fp_whole=$whole
}

cost_row() # WHAT
{
	row "pjrecord, 303 Hz, $1: of busy CPU; steady" "$cost %, $steady % ($fp)" "<= 0.5 %" "$cost <= 0.5"
	row "  samples, whole, lost; fp whole" "$samples, $whole %, $lost %; $fp_whole %" "0 lost" "${lost:-100} == 0"
}

# The same JVM for frame pointers has the flag that they need: else their stacks are short, which costs less.
cost_of_jvm() # JDK
{
	load_warm "$1" mixed $with_flag
	beside "${loads[-1]}" -p "${loads[-1]}"
	stop_loads
	load_warm "$1" mixed
	cost "${loads[-1]}" "$secs" -p "${loads[-1]}" --unwind=$how
	stop_loads
	cost_row "$(basename "$1" | cut -c-12)"
	row "  bytes a sample, addresses; fp with its flag" "$each, $frames; $fp_each, $fp_frames" "<= 1.3 times" "$each <= 1.3 * $fp_each"
}

cost_of_all() # WHAT LOAD
{
	$2 $with_flag
	sleep 5
	beside all -a
	stop_loads
	$2
	sleep 5
	cost all "$secs" -a --unwind=$how
	stop_loads
	cost_row "$1"
}

unwind_cpu()
{
	local each_jdk

	for each_jdk in "${found[@]}"; do cost_of_jvm "$each_jdk"; done
	cost_of_all "C, C++" load_native
	cost_of_all "all" load_host
	if [ -n "$jdk" ]; then cost_of_all "20 JVMs" load_jvms; fi
}

# ---- what the default adds for functions of interpreters: nothing beside a C program

# interpreted LIMIT NAME COMMAND...
interpreted()
{
	local limit=$1 name=$2 off

	load "${@:3}"
	cost "${loads[-1]}" "$secs" -F 99 -p "${loads[-1]}"
	off=$steady
	cost "${loads[-1]}" "$secs" -F 99 -p "${loads[-1]}" --interpreters=auto
	stop_loads
	row "pjrecord, 99 Hz, $name: steady; without interpreters" "$steady %, $off %" "<= $limit % more" "$steady - $off <= $limit"
}

unwind_interpreters()
{
	interpreted 0.05 C ./c 3600000
	if [ -n "$python" ]; then interpreted 0.6 Python "$python" job.py 3600; fi
}

# ---- what is slowed down: fixed work again and again, in one thread, while recorders come and go

# turns PID FILE: "TURN HOW WALL CPU" of each piece of work that is in one state as a whole; PID prints them into FILE
turns()
{
	local turn state recorder from till began spent

	: >"$dir/rates"
	for ((turn = 1; turn <= pairs; turn++)); do
		for state in none fp $how; do
			if [ $state != none ]; then
				"$bin/pjrecord" -q --unwind=$state -F 9999 -p "$1" -o "$dir/slow" >/dev/null 2>&1 &
				recorder=$!
				began=$(busy "$1")
				sleep 0.7
			fi
			from=$(wc -l <"$2")
			sleep 2
			till=$(wc -l <"$2")
			sed -n "$((from + 2)),${till}s/^/$turn $state /p" "$2"
			if [ $state != none ]; then
				kill -INT $recorder
				spent=$(calc %.0f "$(busy "$1") - $began")
				wait $recorder
				"$bin/pjfold" --info "$dir/slow" | awk -v state=$state -v s="$spent" '$1 == "samples" { n = $2 + 0 } $1 == "lost" { l = $2 + 0 }
					END { print state, 1000 * n / s, 1000 * l / s }' >>"$dir/rates"
			fi
		done
	done
}

# slower STATE COLUMN HZ: percent, quartiles over turns of the median of one against that of its neighbour without a recorder
slower()
{
	sort -n -k"$2,$2" "$dir/turns" | awk -v state="$1" -v c="$2" '{ k = $1 " " $2; v[k, ++n[k]] = $c; if ($1 > turns) turns = $1 }
		function middle(k) { return v[k, int((n[k] + 1) / 2)] }
		END { for (t = 1; t <= turns; t++) if (n[t " none"] && n[t " " state]) print 100 * (middle(t " " state) / middle(t " none") - 1) }' |
		sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 3) / 4)], v[int((NR + 1) / 2)], v[int((3 * NR + 3) / 4)] }'
}

rate() # STATE: samples, and lost ones, a second of its CPU
{
	awk -v state="$1" '$1 == state { n++; s += $2; l += $3 } END { printf "%.0f %.0f", n ? s / n : 0, n ? l / n : 0 }' "$dir/rates"
}

slow_rows() # WHAT PID FILE
{
	local state low wall high cpu hz lost scaled

	turns "$2" "$3" >"$dir/turns"
	for state in fp $how; do
		read -r low wall high < <(slower $state 3)
		read -r _ cpu _ < <(slower $state 4)
		read -r hz lost < <(rate $state)
		scaled=$(calc %.2f "$wall * 303 / $hz")
		row "$1, $state: slower at $hz ($lost lost) samples/s, wall; CPU" "$(calc '%.1f (%.1f-%.1f); %.1f' "$wall, $low, $high, $cpu") %" "" ""
		row "  at 303 a second; each sample" "$scaled %; $(calc %.1f "$wall / 100 * 1e6 / $hz") us" "<= 1 %" "$scaled <= 1"
	done
}

# slow WHAT COMMAND...: which prints its pieces of work
slow()
{
	local what=$1

	shift
	(cd "$dir" && exec "$@" >"$dir/pieces" 2>/dev/null) &
	loads+=($!)
	sleep 6
	slow_rows "$what" "${loads[-1]}" "$dir/pieces"
	stop_loads
}

unwind_slow()
{
	local each_jdk

	slow "C" ./rounds 2000
	for each_jdk in "${found[@]}"; do slow "$(basename "$each_jdk" | cut -c-12)" "$each_jdk/bin/java" -Xmx256m -cp . Rounds 30; done
}

# ---- whole stacks, by what a JVM does

# mode WHAT PERCENT THREADS MODE [OPTION...]: of the threads that are called so
mode()
{
	local what=$1 least=$2 threads=$3 n share

	shift 3
	load_warm "$jdk" "$@"
	rm -f "$dir/data"
	timeout -s INT 5 "$bin/pjrecord" -q --unwind=$how -p "${loads[-1]}" -o "$dir/data" >/dev/null 2>"$tmp/said"
	read -r n share < <(whole_of "$threads")
	if [ "$n" = 0 ]; then share=$(tail -n 1 "$tmp/said"); fi
	row "whole stacks, $what" "$share % of $n" ">= $least %" "$n >= 200 && ${share%%[^0-9.]*} + 0 >= $least"
}

# whole_of THREADS: samples in $dir/data, percent whole
whole_of()
{
	"$bin/pjfold" -q --root=thread --stacks "$dir/data" 2>/dev/null |
		awk -v threads="$1" '$NF != "(all)" && $NF ~ threads { n += $1; whole += $1 * $2 } END { printf "%d %.2f\n", n, n ? whole / n : 0 }'
}

# from_work: percent of the samples of these threads that have the method from where all their work is called
from_work()
{
	"$bin/pjfold" -q --root=thread "$dir/data" 2>/dev/null | awk '/^load-/ { n += $NF } /^load-.*Load\.work/ { w += $NF } END { printf "%.1f", n ? 100 * w / n : 0 }'
}

unwind_modes()
{
	local here ours theirs

	if [ -z "$jdk" ]; then return; fi
	for here in "${found[@]}"; do
		jdk=$here mode "$(basename "$here" | cut -c-12)" 99.5 '^load-' mixed
		if [ "$here" = "$jdk" ] && "$perf" --version >/dev/null 2>&1; then
			"$bin/pjmap" -q --once "${loads[-1]}" >/dev/null 2>&1
			echo "/tmp/perf-${loads[-1]}.map" >>"$tmp/maps"
			ours=$(from_work)
			"$perf" record -q -F 303 -g -e cpu-clock -p "${loads[-1]}" -o "$dir/data" -- sleep 5 >/dev/null 2>&1
			theirs="$(whole_of '^load-' | field 2) %, $(from_work) %"
			row "  with Load.work; perf -g: whole, with Load.work" "$ours %; $theirs" "" ""
		fi
		stop_loads
	done
	mode "-Xint" 98 '^load-' mixed -Xint
	stop_loads
	mode "C1" 99.5 '^load-' mixed -XX:TieredStopAtLevel=1
	stop_loads
	mode "virtual threads" 97.5 '^ForkJoinPool' virtual
	stop_loads
	mode "ZGC" 99.5 '^load-' mixed -XX:+UseZGC
	stop_loads
	mode "ParallelGC" 99.5 '^load-' mixed -XX:+UseParallelGC
	stop_loads
	mode "200 deep" 99 '^load-' deep
	stop_loads
}

# ---- both walks of each sample, where frame pointers lead somewhere

unwind_agree()
{
	local each_jdk compared same differ short

	for each_jdk in "${found[@]}"; do
		load_warm "$each_jdk" mixed $with_flag
		timeout -s INT 10 "$bin/pjrecord" -q --unwind=verify -F 999 -p "${loads[-1]}" -o "$dir/data" >/dev/null 2>&1
		stop_loads
		read -r compared same differ short < <("$bin/pjfold" --info "$dir/data" | tr -d , |
			sed -n 's/^stacks .* of \([0-9]*\) compared .* pointers \([0-9.]*\) % are equal [^)]*) \([0-9]*\) differ \([0-9]*\) end .*/\1 \2 \3 \4/p')
		row "$(basename "$each_jdk" | cut -c-12): same as frame pointers; differ, end early" "$same % of $compared; $differ, $short" ">= 99 %, <= 0.1 %" \
			"${compared:-0} >= 5000 && ${same:-0} >= 99 && ${differ:-1} <= 0.001 * ${compared:-0}"
	done
}

# ---- the same samples as perf and libunwind

# same NAME COMMAND...
same()
{
	local what=$1 samples side rooted

	shift
	(cd "$dir" && "$perf" record -q -F 999 --call-graph dwarf,24576 -e cpu-clock -o data -- "$@" >/dev/null 2>&1) || return
	"$perf" script -i "$dir/data" --no-inline -F tid,time,ip >"$dir/script" 2>/dev/null
	"$top/$made/unwind/dwarf/walk" -e "$dir/data" >"$dir/walked" 2>"$dir/ends"
	read -r samples side < <(awk -f test/unwind/dwarf/compare.awk "$dir/script" "$dir/walked" | tail -n 1 | awk -F '[ ,]+' '{ printf "%d %.2f\n", $4, 100 * ($2 + $6) / $4 }')
	rooted=$(awk -v all="$samples" '$1 == "root" { printf "%.2f", 100 * $2 / all }' "$dir/ends")
	row "$what, dwarf copies: libunwind's is the leaf side; at a root" "$side %, $rooted % of $samples" ">= 99.5 %" "$side >= 99.5 && $rooted >= 99.5"
}

# live NAME COMMAND...: pjrecord's own
live()
{
	local what=$1

	shift
	(cd "$dir" && "$bin/pjrecord" -q --unwind=fp -F 999 -o data -- "$@" >/dev/null 2>&1)
	told "$dir/data"
	fp_each=$each fp_whole=$whole
	(cd "$dir" && "$bin/pjrecord" -q --unwind=$how -F 999 -o data -- "$@" >/dev/null 2>&1)
	told "$dir/data"
	row "  recorded: whole; bytes a sample (fp)" "$whole %; $each ($fp_whole %; $fp_each)" "" ""
}

# All that runs, with a load of many kinds, which outlasts who reads its files.
whole_host()
{
	local counts load

	bash test/bench/load.sh 40 >/dev/null 2>&1 &
	load=$!
	sleep 8
	if counts=$(cd "$dir" && PJ_COPY=65528 PJ_BUILD=$top/${made%/test} sh "$top/test/unwind/dwarf/system.sh"); then
		# shellcheck disable=SC2086 # numbers
		set -- $counts
		row "whole host, dwarf copies of 64 kB: libunwind's is the leaf side; at a root" "$(calc '%.2f %%, %.2f %%' "100 * ($2 + $3) / $1, 100 * $6 / $1") of $1" \
			">= 99.5 %" "$2 + $3 >= .995 * $1 && $6 >= .995 * $1"
		row "  cut, in JITs, elsewhere; not compared: of who called exec" "$7, $8, $(($9 + ${10} + ${11})); ${12}" "" ""
	else
		absent "whole host, dwarf copies" "$(head -c 34 "$dir/why")"
	fi
	"$bin/pjrecord" -v -a "--unwind=$how" -w 15 -n 1 -d "$dir/host" >/dev/null 2>"$tmp/said"
	row "  recorded: whole" "$(sed -n 's/.*; \([0-9.]* %\) of \([0-9,]*\) stacks are complete.*/\1 of \2/p' "$tmp/said")" "" ""
	sed -n 's/.*stacks are complete/    whole/p' "$tmp/said"
	wait $load
}

unwind_truth()
{
	local what command

	for what in C C++ Python node; do
		case $what in
		C) command=(./c 3000) ;;
		C++) command=(./cpp 3000) ;;
		Python) command=("$python" job.py 3) ;;
		node) command=("$node" job.js 3) ;;
		esac
		if [ -z "${command[0]}" ]; then continue; fi
		if "$perf" --version >/dev/null 2>&1; then same $what "${command[@]}"; fi
		live $what "${command[@]}"
	done
	if "$perf" --version >/dev/null 2>&1; then whole_host; fi
}

# ---- memory

# memory PID: kB of it and its children. Rings are pages that newer kernels count for nobody, so theirs is the size of their mappings.
memory()
{
	local p

	for p in "$1" $(pgrep -P "$1"); do cat "/proc/$p/smaps"; done 2>/dev/null | awk '/^[0-9a-f]+-/ { ring = /perf_event/ }
		/^Pss:/ && !ring { n += $2 } /^Size:/ && ring { n += $2; rings += $2 } END { print n + 0, rings + 0 }'
}

unwind_memory()
{
	local i recorder most=0 of_rings=0 now rings limit=$((64 + 8 * $(nproc)))

	for ((i = 0; i < 200; i++)); do
		cp "$dir/c" "$dir/p$i"
		load "./p$i" 3600000
	done
	if [ -n "$jdk" ]; then load_jvms -Xmx64m; fi
	"$bin/pjrecord" -a -q --unwind=$how -w 25 -n 1 -d "$dir/memory" >/dev/null 2>&1 &
	recorder=$!
	while kill -0 $recorder 2>/dev/null; do
		read -r now rings < <(memory $recorder)
		if [ "$now" -gt $most ]; then most=$now of_rings=$rings; fi
		sleep 0.5
	done
	stop_loads
	row "pjrecord: memory, 200 processes, ${jdk:+20 JVMs, }its rings" "$(calc '%.1f MB, %.1f MB' "$most / 1024, $of_rings / 1024")" "<= $limit MB" \
		"$most <= $limit * 1024"
}

for part in $doing; do "unwind_$part"; done
rm -rf "$dir"
