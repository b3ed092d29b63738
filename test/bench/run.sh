#!/bin/bash
# run.sh - the figures that pj promises, measured in one run: make bench
#
# FLAMEGRAPH_DIR   a checkout of FlameGraph: its scripts are measured beside ours (said to be absent otherwise)
# PJ_BENCH_INPUT   perf script text, plain or .gz; default: ../shared/bench/mixed-60s-999hz.script.gz, else generated
# PJ_BENCH_RUNS    runs of which the best counts (5)
# PJ_BENCH_SKIP    what to leave out, of: text memory threads recording dwarf svg browser diff record jmap unwind send start check
# PJ_BENCH_ONLY    all that to do of it; also parts of these, as unwind-cpu (unwind.sh)
# PJ_BENCH_SECS    seconds of the recording (60; what is promised is about that), or
# PJ_BENCH_DATA    a perf.data of this machine to use instead
# PJ_BENCH_DWARF_SECS  seconds of the recording with copies of stacks (20: 200 to 400 MB)
set -u
cd "$(dirname "$0")/../.." || exit 1
top=$PWD
case ${PJ_BUILD:=build/std-cc} in "$top"/*) PJ_BUILD=${PJ_BUILD#"$top/"} ;; esac
bin=$top/$PJ_BUILD/bin
if ! [ -x "$bin/pjfold" ]; then # rows of what is not there would all be met
	echo "$0: $bin/pjfold is not built; PJ_BUILD is a folder below $top" >&2
	exit 2
fi
runs=${PJ_BENCH_RUNS:-5}
skip=" ${PJ_BENCH_SKIP:-} "
only=" ${PJ_BENCH_ONLY:-} "
perf=${PJ_PERF:-perf}
LC_ALL=C
export LC_ALL
tmp=$(mktemp -d "${TMPDIR:-/var/tmp}/pj-bench.XXXXXX")
# shellcheck disable=SC2046 # numbers
trap 'kill $(jobs -p) 2>/dev/null; xargs rm -f <"$tmp/maps"; rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM
missed=0
: >"$tmp/maps"

cc -O2 -o "$tmp/measure" test/bench/measure.c && cc -O2 -o "$tmp/generate" test/bench/generate.c || exit 1
measure=$tmp/measure
made=$PJ_BUILD/test
dump=$top/$made/fold/perfdata/dump
make -s "$made/fold/perfdata/dump" "$made/unwind/dwarf/walk" >/dev/null 2>&1

# wanted NAME [WHOLE]: this part of the bench, which may be a part of another one
wanted()
{
	case $skip in *" $1 "* | *" ${2:-$1} "*) return 1 ;; esac
	case $only in '  ' | *" $1 "* | *" ${2:-$1} "*) return 0 ;; esac
	return 1
}

calc()
{
	awk "BEGIN { printf \"$1\", $2 }"
}

# row WHAT FIGURE TARGET CONDITION: the condition is an awk expression; empty: no target
row()
{
	local ok=-

	if [ -n "$4" ]; then
		if awk "BEGIN { exit !($4) }"; then ok=yes; else ok=NO; missed=$((missed + 1)); fi
	fi
	printf '%-58s | %-34s | %-20s | %s\n' "$1" "$2" "$3" "$ok"
}

absent()
{
	printf '%-58s | %-34s | %-20s | %s\n' "$1" "$2" "" -
}

field()
{
	cut -d' ' -f"$1"
}

# cpu_ns PID: CPU time of its threads, and of its children
cpu_ns()
{
	# shellcheck disable=SC2046 # numbers
	cat /proc/"$1"/task/*/schedstat $(pgrep -P "$1" | sed 's|.*|/proc/&/schedstat|') 2>/dev/null | awk '{ n += $1 } END { print n + 0 }'
}

# cpu_ms PID: user and system time so far, also of threads that ended
cpu_ms()
{
	awk -v hz="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); print 1000 * ($12 + $13) / hz }' "/proc/$1/stat"
}

# tree_cpu_ms PID: of a process and its descendants, and of those that they reaped
tree_cpu_ms()
{
	local pids=$1 level=$1

	while level=$(pgrep -d, -P "$level"); do
		pids=$pids,$level
	done
	# shellcheck disable=SC2046 # numbers
	cat $(echo "$pids" | sed 's|[0-9]*|/proc/&/stat|g; s/,/ /g') 2>/dev/null |
		awk -v hz="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); n += $12 + $13 + $14 + $15 } END { print 1000 * n / hz }'
}

# jdks: folders
jdks()
{
	local jdk

	for jdk in ${JAVA_HOME:-/usr/lib/jvm/*}; do
		if [ -x "$jdk/bin/javac" ] && [ ! -L "$jdk" ]; then echo "$jdk"; fi
	done
}

echo "# $(uname -m), $(nproc) processors, load $(cut -d' ' -f1 /proc/loadavg), best of $runs, $(cc --version | head -n 1)"
printf '%-58s | %-34s | %-20s | %s\n' what figure target ok
printf '%s\n' "-----------------------------------------------------------+------------------------------------+----------------------+----"

# ---- input, and pjfold against stackcollapse-perf.pl
peer=${FLAMEGRAPH_DIR:-}
if wanted text || wanted memory || wanted threads || wanted svg || wanted diff; then
	input=${PJ_BENCH_INPUT:-../shared/bench/mixed-60s-999hz.script.gz}
	text=$tmp/input.script
	case $input in
	*.gz) if [ -e "$input" ]; then gzip -dc -- "$input" >"$text"; fi ;;
	*) if [ -e "$input" ]; then cat -- "$input" >"$text"; fi ;;
	esac
	if [ ! -s "$text" ]; then
		"$tmp/generate" script 100000000 >"$text"
		input='generated'
	fi
	mb=$(calc %.1f "$(stat -c %s "$text") / 1e6")
	absent "input: ${input##*/}" "$mb MB, $(grep -c '^[^	#]' "$text") samples"
	fold=$("$measure" -n "$runs" -o "$tmp/ours.folded" -- "$bin/pjfold" -q -j 1 "$text")
	fold_cpu=$(echo "$fold" | field 1)
	row "pjfold -j1: CPU time" "$fold_cpu s, $(calc %.0f "$mb / $fold_cpu") MB/s" "" ""
	if [ -n "$peer" ] && [ -e "$peer/stackcollapse-perf.pl" ]; then
		perl_cpu=$("$measure" -n 2 -o "$tmp/theirs.folded" -- perl "$peer/stackcollapse-perf.pl" --all "$text" 2>/dev/null | field 1)
		row "stackcollapse-perf.pl: CPU time, and how many times ours" "$perl_cpu s, $(calc %.1f "$perl_cpu / $fold_cpu") times" ">= 25 (goal 50)" \
			"$perl_cpu / $fold_cpu >= 25"
	else
		absent "stackcollapse-perf.pl" "absent (FLAMEGRAPH_DIR)"
	fi
fi
if wanted memory; then
	row "pjfold: anonymous memory, this input" "$(calc %.1f "$(echo "$fold" | field 3) / 1024") MB" "<= 48 MB" "$(echo "$fold" | field 3) <= 48 * 1024"
	times=$(calc %d "1000 / $mb + 0.999")
	kb=$(for ((i = 0; i < times; i++)); do cat "$text"; done | "$measure" -o /dev/null -- "$bin/pjfold" -q | field 3)
	row "pjfold: the same, repeated to $(calc %.1f "$mb * $times / 1000") GB" "$(calc %.1f "$kb / 1024") MB" "<= 48 MB" "$kb <= 48 * 1024"
	kb=$("$tmp/generate" distinct 1000000000 | "$measure" -o /dev/null -- "$bin/pjfold" -q | field 3)
	row "pjfold: 1 GB, every address another one (generated)" "$(calc %.1f "$kb / 1024") MB" "<= 48 MB" "$kb <= 48 * 1024"
	# the bench input with every address made another one, up to 1 GB: its names, dsos and stacks
	kb=$(for ((i = 0; i < times; i++)); do cat "$text"; done |
		awk '/^\t/ { a += 16; $0 = sprintf("\t%16x%s", 140000000000000 + a, substr($0, 18)) } { print }' | "$measure" -o /dev/null -- "$bin/pjfold" -q | field 3)
	row "pjfold: this input to 1 GB, every address another one" "$(calc %.1f "$kb / 1024") MB" "<= 48 MB" "$kb <= 48 * 1024"
fi

# ---- a second thread: its gain, against what two halves gain when run at once
if wanted threads; then
	size=$(stat -c %s "$text")
	half=$(tail -c +$((size / 2)) "$text" | grep -bm1 '^$' | cut -d: -f1)
	head -c $((size / 2 + half)) "$text" >"$tmp/half1"
	tail -c +$((size / 2 + half + 1)) "$text" >"$tmp/half2"
	cat >"$tmp/both" <<'SH'
#!/bin/sh
"$1" -q -j 1 "$2" >"$2.folded" &
"$1" -q -j 1 "$3" >"$3.folded"
wait
SH
	chmod +x "$tmp/both"
	one=99 two=99 halves=99
	least()
	{
		awk "BEGIN { print ($1 < $2 ? $1 : $2) }"
	}
	for ((i = 0; i < runs; i++)); do
		one=$(least "$one" "$("$measure" -o "$tmp/j1" -- "$bin/pjfold" -q -j 1 "$text" | field 2)")
		two=$(least "$two" "$("$measure" -o "$tmp/j2" -- "$bin/pjfold" -q -j 2 "$text" | field 2)")
		halves=$(least "$halves" "$("$measure" -o /dev/null -- "$tmp/both" "$bin/pjfold" "$tmp/half1" "$tmp/half2" | field 2)")
	done
	share=$(calc %.0f "100 * ($one - $two) / ($one - $halves)")
	faster=$(calc %.0f "100 * ($one / $two - 1) / ($one / $halves - 1)")
	row "pjfold: wall time of -j1, -j2, two halves at once" "$one s, $two s, $halves s" "" ""
	row "pjfold: share of the time that halves save, that -j2 saves" "$share %" ">= 75 %" "$share >= 75"
	row "  the same as share of the gain in speed" "$faster %" "" ""
	if cmp -s "$tmp/j1" "$tmp/j2"; then row "pjfold: -j1 and -j2 give identical bytes" yes yes 1; else row "pjfold: -j1 and -j2 give identical bytes" no yes 0; fi
fi

# ---- perf.data, against perf script | stackcollapse-perf.pl

# recorded FILE SECONDS OPTION...: a recording of all of this machine, with the mixed load running; false where that may not be
recorded()
{
	local file=$1 secs=$2

	shift 2
	perf record -q -a -F 999 "$@" -o "$file" -- test/bench/load.sh "$secs" "$tmp/maps" >/dev/null 2>&1 && [ -s "$file" ]
}

samples_of()
{
	"$bin/pjfold" --info "$1" | awk '$1 == "samples" { print $2 + 0 }'
}

megabytes() # field 3 or 4 of measure's line
{
	calc %.1f "$(echo "$1" | field "$2") / 1024"
}

# pipeline DATA: measure's line of perf's way, the best of two. Without inlined functions: with them perf asks addr2line, and takes
# much longer.
pipeline()
{
	"$measure" -n 2 -o /dev/null -- sh -c 'perf script --no-inline -i "$1" 2>/dev/null | perl "$2" --all' - "$1" "$peer/stackcollapse-perf.pl" 2>/dev/null
}

# times THEIRS OURS FIELD: how many times ours theirs is
times()
{
	calc %.1f "$(echo "$1" | field "$3") / $(echo "$2" | field "$3")"
}

recording()
{
	local data=$tmp/perf.data secs=${PJ_BENCH_SECS:-60} cold warm perf wall theirs samples differ

	if ! command -v perf >/dev/null; then
		absent "perf.data" "absent (perf)"
		return
	fi
	if [ -n "${PJ_BENCH_DATA:-}" ]; then
		data=$PJ_BENCH_DATA
	elif ! recorded "$data" "$secs" -g; then
		absent "perf.data" "absent (may not record)"
		return
	fi
	samples=$(samples_of "$data")
	absent "recording: $(calc %.1f "$(stat -c %s "$data") / 1e6") MB, $secs s" "$samples samples"
	export XDG_CACHE_HOME=$tmp/cache
	cold=99
	for ((i = 0; i < runs; i++)); do
		rm -rf "$XDG_CACHE_HOME"
		wall=$("$measure" -o "$tmp/data.folded" -- "$bin/pjfold" -q "$data" | field 2)
		cold=$(calc %.6f "($wall < $cold ? $wall : $cold)")
	done
	warm=$("$measure" -n "$runs" -o "$tmp/data.folded" -- "$bin/pjfold" -q "$data")
	wall=$(echo "$warm" | field 2)
	row "pjfold perf.data: wall time, kernel symbols cached" "$wall s" "" ""
	row "  without the cache, first run" "$cold s" "" ""
	row "  with -j 2" "$("$measure" -n "$runs" -o /dev/null -- "$bin/pjfold" -q -j 2 "$data" | field 2) s" "" ""
	row "  memory: all of it, anonymous" "$(megabytes "$warm" 4) MB, $(megabytes "$warm" 3) MB" "<= 128 MB (goal 64)" "$(echo "$warm" | field 4) <= 128 * 1024"
	perf=$("$measure" -o "$tmp/data.script" -- perf script --no-inline -i "$data" 2>/dev/null)
	row "perf script: wall time, memory" "$(echo "$perf" | field 2) s, $(megabytes "$perf" 4) MB" "" ""
	"$bin/pjfold" -q --as-perf --root=thread "$data" >"$tmp/as-perf"
	differ=$("$bin/pjfold" -q "$tmp/data.script" | diff "$tmp/as-perf" - |
		awk -v all="$(awk -v count=1 -f test/lib/frames.awk "$tmp/as-perf")" -f test/lib/frames.awk)
	row "  frames that differ from ours with --as-perf" "${differ% *} of ${differ#* }" "<= 0.1 %" "${differ% *} <= ${differ#* } / 1000"
	rm -f "$tmp/data.script"
	if [ -z "$peer" ] || [ ! -e "$peer/stackcollapse-perf.pl" ]; then
		absent "perf script | stackcollapse-perf.pl" "absent (FLAMEGRAPH_DIR)"
		return
	fi
	perf=$(pipeline "$data")
	theirs=$(echo "$perf" | field 2)
	row "perf script | stackcollapse-perf.pl: wall time, times ours" "$theirs s, $(times "$perf" "$warm" 2) times" ">= 25 (goal 40)" "$theirs / $wall >= 25"
	row "  times ours without the cache" "$(calc %.1f "$theirs / $cold") times" ">= 25" "$theirs / $cold >= 25"
	row "  CPU time, times ours" "$(echo "$perf" | field 1) s, $(times "$perf" "$warm" 1) times" "" ""
}

# Stacks that are copied and walked: some hundred MB
dwarf()
{
	local data=$tmp/dwarf.data ours wall theirs

	if ! command -v perf >/dev/null || ! recorded "$data" "${PJ_BENCH_DWARF_SECS:-20}" --call-graph dwarf; then
		absent "perf.data, --call-graph dwarf" "absent (perf, or may not record)"
		return
	fi
	absent "recording with --call-graph dwarf: $(calc %.0f "$(stat -c %s "$data") / 1e6") MB" "$(samples_of "$data") samples"
	export XDG_CACHE_HOME=$tmp/cache
	ours=$("$measure" -n "$runs" -o /dev/null -- "$bin/pjfold" -q "$data")
	wall=$(echo "$ours" | field 2)
	row "pjfold: wall time, memory" "$wall s, $(megabytes "$ours" 4) MB" "" ""
	theirs=$("$measure" -n 2 -o /dev/null -- perf script --no-inline -i "$data" 2>/dev/null)
	row "perf script --no-inline: wall time, memory" "$(echo "$theirs" | field 2) s, $(megabytes "$theirs" 4) MB" "" ""
	row "  wall time, CPU time, times ours" "$(times "$theirs" "$ours" 2), $(times "$theirs" "$ours" 1) times" ">= 3" "$(times "$theirs" "$ours" 2) >= 3"
	if [ -n "$peer" ] && [ -e "$peer/stackcollapse-perf.pl" ]; then
		theirs=$(pipeline "$data")
		row "  and stackcollapse-perf.pl: wall time, CPU time, times ours" "$(times "$theirs" "$ours" 2), $(times "$theirs" "$ours" 1) times" ">= 3" \
			"$(times "$theirs" "$ours" 2) >= 3"
	fi
}

if wanted recording; then
	(recording; exit "$missed")
	missed=$?
	rm -f "$tmp/perf.data"
fi
if wanted dwarf; then
	(dwarf; exit "$missed")
	missed=$?
	rm -f "$tmp/dwarf.data"
fi

# svg_parts FILE: bytes of names, tree and self, static layer, all
svg_parts()
{
	perl -e '
		local $/; my $s = <STDIN>;
		my ($data) = $s =~ m{<script type="application/x-pjsvg"[^>]*>(.*?)</script>}s;
		my ($names, $rest) = split /\n\n/, $data, 2;
		my ($static) = $s =~ m{(<g class="pj-s">.*?)\n?(?=<text class="pj-i"|<script )}s;
		print join(" ", length $names, length $rest, length $static, length $s), "\n"' <"$1"
}

# Frames of folded text that is sorted depth first: those that the line before does not share.
frames()
{
	perl -ne 's/ \d+\n//; my @f = split /;/; my $i = 0; $i++ while $i < @f && $i < @last && $f[$i] eq $last[$i]; $n += @f - $i; @last = @f; END { print $n + 0 }' "$1"
}

# browse FILE RUNS [paint]: leaves the medians in $paint $zoom $unzoom $search $nodes $pss; false where there is no browser
browse()
{
	if ! wanted browser svg || ! command -v node >/dev/null || [ ! -e test/svg/browser/bench.mjs ] || ! sh test/svg/browser/setup.sh >/dev/null 2>&1 ||
		! node test/svg/browser/bench.mjs "$@" >"$tmp/browser" 2>"$tmp/browser.err"; then
		absent "  Chromium" "absent, or failed: $(head -c 60 "$tmp/browser.err" 2>/dev/null | tr '\n' ' ')"
		return 1
	fi
	column_of()
	{
		awk -F '\t' -v c="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == c) k = i } NR == 2 { print $k + 0 }' "$tmp/browser"
	}
	paint=$(column_of paint) zoom=$(column_of zoom) unzoom=$(column_of unzoom) search=$(column_of search) nodes=$(column_of nodes) pss=$(column_of pss)
}

# svg_rows NAME FOLDED SVG B_A_FRAME PAINT ZOOM SEARCH MB: the last are limits
svg_rows()
{
	local n parts names tree static all

	n=$(frames "$2")
	parts=$(svg_parts "$3")
	read -r names tree static all <<<"$parts"
	row "SVG of $1: $n frames" "$all B: $(calc %.2f "$tree / $n") B a frame" "<= $4 B a frame" "$tree / $n <= $4"
	row "  all beside frames and names ($names B)" "$((all - tree - names)) B" "<= 100 kB" "$all <= $4 * $n + $names + 100000"
	row "  static layer" "$static B" "<= 64 kB" "$static <= 65536"
	browse "$3" 9 || return
	row "  Chromium: first paint" "$paint ms" "<= $5 ms" "$paint <= $5"
	row "  Chromium: zoom, unzoom" "$zoom ms, $unzoom ms" "<= $6 ms" "$zoom <= $6 && $unzoom <= $6"
	row "  Chromium: search" "$search ms" "<= $7 ms" "$search <= $7"
	row "  Chromium: nodes, renderer" "$nodes nodes, $pss MB" "<= 4000, $8 MB" "$nodes <= 4000 && $pss <= $8"
}

# peer_rows NAME FOLDED OURS: size and paint of flamegraph.pl's picture with all frames, and with its default
peer_rows()
{
	local ours theirs ours_paint

	if [ -z "$peer" ] || [ ! -e "$peer/flamegraph.pl" ]; then return; fi
	ours=$(stat -c %s "$3")
	browse "$3" 5 paint || return
	ours_paint=$paint
	perl "$peer/flamegraph.pl" --minwidth 0 "$2" >"$tmp/all.svg" 2>/dev/null
	theirs=$(stat -c %s "$tmp/all.svg")
	row "flamegraph.pl --minwidth 0 of $1: size" "$theirs B, $(calc %.1f "$theirs / $ours") times ours" ">= 20" "$theirs / $ours >= 20"
	browse "$tmp/all.svg" 3 paint || return
	row "  its first paint" "$paint ms, $(calc %.1f "$paint / $ours_paint") times ours" ">= 10" "$paint / $ours_paint >= 10"
	perl "$peer/flamegraph.pl" "$2" >"$tmp/few.svg" 2>/dev/null
	theirs=$(stat -c %s "$tmp/few.svg")
	row "flamegraph.pl's default, which drops frames: size" "$theirs B, $(calc %.1f "$theirs / $ours") times ours" ">= 1" "$theirs >= $ours"
	browse "$tmp/few.svg" 5 paint || return
	row "  its first paint" "$paint ms, $(calc %.1f "$paint / $ours_paint") times ours" ">= 1" "$paint >= $ours_paint"
	rm -f "$tmp/all.svg" "$tmp/few.svg"
}

# ---- pjsvg against flamegraph.pl
if wanted svg; then
	svg=$("$measure" -n "$runs" -o "$tmp/ours.svg" -- "$bin/pjsvg" "$tmp/ours.folded" 2>/dev/null)
	svg_cpu=$(echo "$svg" | field 1)
	row "pjsvg, $(calc %.1f "$(stat -c %s "$tmp/ours.folded") / 1e6") MB of folded text: CPU time, memory" \
		"$svg_cpu s, $(calc %.1f "$(echo "$svg" | field 3) / 1024") MB" "" ""
	if [ -n "$peer" ] && [ -e "$peer/flamegraph.pl" ]; then
		perl_cpu=$("$measure" -n 2 -o "$tmp/theirs.svg" -- perl "$peer/flamegraph.pl" "$tmp/ours.folded" 2>/dev/null | field 1)
		row "flamegraph.pl: CPU time, and how many times ours" "$perl_cpu s, $(calc %.1f "$perl_cpu / $svg_cpu") times" ">= 15 (goal 25)" \
			"$perl_cpu / $svg_cpu >= 15"
	else
		absent "flamegraph.pl" "absent (FLAMEGRAPH_DIR)"
	fi
	svg_rows "this input" "$tmp/ours.folded" "$tmp/ours.svg" 2.5 400 80 100 110
	peer_rows "this input" "$tmp/ours.folded" "$tmp/ours.svg"
	"$tmp/generate" folded 123000 | "$bin/pjfold" -q >"$tmp/generated.folded"
	"$bin/pjsvg" "$tmp/generated.folded" >"$tmp/generated.svg" 2>/dev/null
	svg_rows "generated text" "$tmp/generated.folded" "$tmp/generated.svg" 2.5 400 80 100 110
	peer_rows "generated text" "$tmp/generated.folded" "$tmp/generated.svg"
	"$tmp/generate" folded 1230000 | "$bin/pjfold" -q >"$tmp/million.folded"
	"$bin/pjsvg" "$tmp/million.folded" >"$tmp/million.svg" 2>/dev/null
	svg_rows "a million" "$tmp/million.folded" "$tmp/million.svg" 4 900 120 120 160
fi

# ---- pjdiff against difffolded.pl: this input's stacks on so many hosts that it is 100 MB, and the same with other weights, stacks gone and new
if wanted diff; then
	awk -v size="$(stat -c %s "$tmp/ours.folded")" '{ line[NR] = $0 } END { for (h = 1; h <= 1e8 / size + 1; h++) for (i = 1; i <= NR; i++) print "host" h ";" line[i] }' \
		"$tmp/ours.folded" >"$tmp/before.folded"
	awk 'NR % 11 != 3 { w = $NF; sub(/ [0-9]+$/, ""); print $0, 1 + int(w * (1 + NR % 3) / 2) } NR % 13 == 5 { print $0 ";new", 2 }' "$tmp/before.folded" | "$bin/pjfold" -q >"$tmp/after.folded"
	diff=$("$measure" -n "$runs" -o "$tmp/ours.diff" -- "$bin/pjdiff" -q "$tmp/before.folded" "$tmp/after.folded" 2>/dev/null)
	diff_cpu=$(echo "$diff" | field 1)
	row "pjdiff, $(calc %.0f "($(stat -c %s "$tmp/before.folded" "$tmp/after.folded" | paste -sd+)) / 1e6") MB in two files: CPU time, memory" \
		"$diff_cpu s, $(calc %.0f "$(echo "$diff" | field 3) / 1024") MB" "" ""
	if [ -n "$peer" ] && [ -e "$peer/difffolded.pl" ]; then
		perl_cpu=$("$measure" -n 2 -o "$tmp/theirs.diff" -- perl "$peer/difffolded.pl" "$tmp/before.folded" "$tmp/after.folded" 2>/dev/null | field 1)
		row "difffolded.pl: CPU time, and how many times ours" "$perl_cpu s, $(calc %.1f "$perl_cpu / $diff_cpu") times" ">= 10" \
			"$perl_cpu / $diff_cpu >= 10"
	else
		absent "difffolded.pl" "absent (FLAMEGRAPH_DIR)"
	fi
	rm -f "$tmp/before.folded" "$tmp/after.folded" "$tmp/ours.diff" "$tmp/theirs.diff"
fi

# ---- recording
if wanted record; then
	# shellcheck source=test/bench/record.sh
	. test/bench/record.sh
fi

# ---- JVMs
if wanted jmap; then
	# shellcheck source=test/bench/jmap.sh
	. test/bench/jmap.sh
fi

# ---- stacks without frame pointers; its parts ask for themselves
# shellcheck source=test/bench/unwind.sh
. test/bench/unwind.sh

# ---- stores
if wanted send; then
	# shellcheck source=test/bench/send.sh
	. test/bench/send.sh
fi

# ---- start-up
if wanted start; then
	echo 'a 1' >"$tmp/little"
	for tool in "$bin"/*; do
		if [[ ${tool##*/} == pjrecord || ${tool##*/} == pjmap ]]; then continue; fi
		base=()
		if [ "${tool##*/}" = pjdiff ]; then base=("$tmp/little"); fi
		start=$("$measure" -n 50 -o /dev/null -- "$tool" "${base[@]}" "$tmp/little" 2>/dev/null)
		ms=$(calc %.2f "1000 * $(echo "$start" | field 2)") rss=$(calc %.1f "$(echo "$start" | field 4) / 1024")
		row "${tool##*/}: start-up, memory (all of it)" "$ms ms, $rss MB" "<= 3 ms, <= 4 MB" "$ms <= 3 && $rss <= 4"
	done
fi

# ---- make check
if wanted check; then
	unset MAKEFLAGS MAKELEVEL
	make -s tests >/dev/null 2>&1
	start=$EPOCHREALTIME
	env -u FLAMEGRAPH_DIR make check >"$tmp/check" 2>&1
	status=$?
	wall=$(calc %.1f "$EPOCHREALTIME - $start")
	row "make check: wall time; $(tail -n 1 "$tmp/check" | cut -c1-40)" "$wall s, status $status" "< 60 s" "$wall < 60 && $status == 0"
fi

echo
if [ "$missed" = 0 ]; then echo "all targets met"; else echo "$missed targets missed"; fi
exit $((missed > 0))
