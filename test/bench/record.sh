# shellcheck shell=bash
# shellcheck disable=SC2154 # run.sh sets them
# record.sh - what recording costs, and what lies between two windows. Part of run.sh, which it is sourced by.
# PJ_BENCH_GAP   windows of a second for the gap (30)

cc -O1 -fno-omit-frame-pointer -o "$tmp/burn" test/record/burn.c || exit 1

# gaps: lines "CPU TIME WINDOW" to the longest interval across a border and within windows, in ms, and lost seconds
gaps()
{
	sort -n -k1,1 -k2,2 | awk '
		NR > 1 && $1 == cpu { d = ($2 - t) / 1e6; if ($3 != w) { if (d > across) across = d; sum += d } else if (d > within) within = d }
		{ cpu = $1; t = $2; w = $3 }
		END { printf "%.3f %.3f %.3f\n", across, within, sum / 1e3 }'
}

times()
{
	local i=0 w

	for w in "$@"; do
		i=$((i + 1))
		"$dump" "$w" | awk -v w=$i '/^SAMPLE/ { for (k = 1; k < NF; k++) if ($k == "cpu") { print $(k + 1), $3, w; break } }'
	done
}

if ! "$bin/pjrecord" -q -a -d "$tmp/probe" -w 1 -n 1 >/dev/null 2>"$tmp/why"; then
	absent "pjrecord" "not allowed here"
	return 0
fi

# ---- nothing between two windows
windows=${PJ_BENCH_GAP:-30}
for ((i = 0; i < 2 * $(nproc); i++)); do "$tmp/burn" spin $((windows + 4)) & done
sleep 0.5
mapfile -t files < <("$bin/pjrecord" -q -F 999 -w 1 -n "$windows" -d "$tmp/gap" 2>/dev/null)
wait
read -r across within _ < <(times "${files[@]}" | gaps)
lost=$("$dump" "${files[0]}" >/dev/null; for w in "${files[@]}"; do "$dump" "$w"; done | grep -c '^LOST')
row "pjrecord: longest interval across $((windows - 1)) borders, within windows" "$across ms, $within ms, $lost lost" "not longer, 0 lost" \
	"$across <= $within && $lost == 0"
if "$perf" --version >/dev/null 2>&1; then
	for ((i = 0; i < 2 * $(nproc); i++)); do "$tmp/burn" spin 14 & done
	files=()
	for ((i = 0; i < 5; i++)); do
		"$perf" record -q -k CLOCK_MONOTONIC -F 999 -e cpu-clock -a -g -o "$tmp/loop$i.data" -- sleep 1 >/dev/null 2>&1
		files+=("$tmp/loop$i.data")
	done
	wait
	read -r across within sum < <(times "${files[@]}" | gaps)
	row "  a loop of perf record: the same of 5 windows; blind in all" "$across ms, $within ms; $sum CPU s" "" ""
fi
rm -rf "$tmp/gap" "$tmp"/loop*.data

# ---- what is known of the loads

"$bin/pjrecord" -q -F 999 -o "$tmp/one.data" -- "$tmp/burn" shares 10
error=$("$bin/pjfold" -q "$tmp/one.data" 2>/dev/null | awk '
	{ n = $NF; for (i = split($0, f, /[; ]/); i > 0; i--) if (f[i] ~ /^(fifty|thirty|twenty)$/) { c[f[i]] += n; t += n; break } }
	END { want["fifty"] = 50; want["thirty"] = 30; want["twenty"] = 20
		for (k in want) { d = 100 * c[k] / (t ? t : 1) - want[k]; d = d < 0 ? -d : d; if (d > most) most = d }
		printf "%.2f", most }')
row "pjrecord: functions that burn 50, 30 and 20 %, 10 s, 999 Hz" "$error points off at most" "<= 1.5" "$error <= 1.5"

# by_process FILE [FROM TO]: "PID SAMPLES ALL", the idle task left out
by_process()
{
	"$dump" "$1" | awk -v from="${2:-0}" -v to="${3:-9e18}" '/^SAMPLE/ && $3 >= from && $3 <= to { split($2, p, "/"); if (p[1] > 0) { c[p[1]]++; n++ } }
		END { for (k in c) print k, c[k], n }' | sort
}
if "$perf" --version >/dev/null 2>&1; then
	for ((i = 0; i < 3; i++)); do "$tmp/burn" spin 20 & done
	"$perf" record -q -k CLOCK_MONOTONIC -F 999 -e cpu-clock -a -g -o "$tmp/theirs.data" -- sleep 13 >/dev/null 2>&1 &
	theirs=$!
	sleep 1.5
	window=$("$bin/pjrecord" -q -F 999 -e cpu-clock -w 10 -n 1 -d "$tmp/beside" 2>/dev/null)
	wait $theirs
	by_process "$window" >"$tmp/ours.shares"
	# shellcheck disable=SC2046 # two numbers
	by_process "$tmp/theirs.data" $("$dump" "$window" | awk '/^SAMPLE/ { if (!from) from = $3; to = $3 } END { print from, to }') >"$tmp/theirs.shares"
	error=$(join "$tmp/theirs.shares" "$tmp/ours.shares" | awk '{ d = 100 * $2 / $3 - 100 * $4 / $5; d = d < 0 ? -d : d; if (d > most) most = d; n++ } END { printf "%.2f", (n > 2) ? most : 100 }')
	row "  shares of processes beside perf record, 10 s, 999 Hz" "$error points apart at most" "<= 1" "$error <= 1"
	wait
	rm -rf "$tmp/beside" "$tmp/theirs.data"
fi

"$bin/pjrecord" -q -F 999 -w 2 -d "$tmp/storm" >"$tmp/windows" 2>/dev/null &
recorder=$!
sleep 1
made=$("$tmp/burn" storm 20 500)
sleep 1
kill -INT $recorder
wait $recorder
read -r samples unnamed < <(while read -r w; do "$dump" "$w"; done <"$tmp/windows" |
	awk '/^COMM/ { split($2, p, "/"); comm[p[2]] = 1 } /^SAMPLE/ { split($2, p, "/"); n++; if (!(p[2] in comm) && p[1] != -1) bad++ } END { print n + 0, bad + 0 }')
row "  $((made / 20)) processes a second: samples without a name" "$unnamed of $samples" "0" "$unnamed == 0 && $samples > 1000"
rm -rf "$tmp/storm" "$tmp/one.data"

cc -O1 -g -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -pthread -o "$tmp/waits" test/record/waits.c || exit 1
"$bin/pjrecord" -q -F 999 --off-cpu -o "$tmp/waits.data" -- "$tmp/waits" 10 >"$tmp/truth"
for event in offcpu-time offcpu-time-preempted cpu-clock; do
	"$bin/pjfold" -q --only event=$event,comm=waits "$tmp/waits.data" 2>/dev/null | sed "s/^/$event /"
done >"$tmp/times"
read -r error sum < <(awk 'FNR == NR { want[$1] = $2; next }
	{ ns = $NF * ($1 == "cpu-clock" ? 1e9 / 999 : 1); all += ns
		for (f in want) if (index($0, ";" f ";") || index($0, ";" f " ")) got[f] += ns }
	END { n = split("wait_sleep wait_pipe wait_lock wait_forever", name, " ")
		for (i = 1; i <= n; i++) { d = 100 * got[name[i]] / want[name[i]] - 100; d = d < 0 ? -d : d; if (d > most) most = d }
		d = 100 * all / want["threads"] - 100; printf "%.2f %.2f\n", most, d < 0 ? -d : d }' "$tmp/truth" "$tmp/times")
row "pjrecord --off-cpu: sleep, pipe, lock, still blocked, 10 s" "$error % off at most" "<= 3 %" "$error <= 3"
row "  on and off the CPU against threads times wall" "$sum % off" "<= 3 %" "$sum <= 3"
rm -f "$tmp/waits.data"

# ---- what it costs beside 1500 processes

# steady HZ SECS OPTION...: pjrecord beside them; $share of one CPU, $own and $rings in kB, and $window, a complete one
steady()
{
	local recorder keeper before after start wall

	rm -rf "$tmp/cost"
	"$bin/pjrecord" -q -F "$1" "${@:3}" -w 10 -d "$tmp/cost" >"$tmp/windows" 2>/dev/null &
	recorder=$!
	sleep 5
	before=$(cpu_ns $recorder) start=$EPOCHREALTIME
	sleep "$2"
	after=$(cpu_ns $recorder) wall=$(calc %.3f "$EPOCHREALTIME - $start")
	keeper=$(pgrep -P $recorder -x pjrecord-keeper)
	# memory of two processes: the peak of the recorder, without rings where the kernel counts them at all, and what the keeper does not share
	rings=$(awk '/^[0-9a-f]+-/ { on = /perf_event/ } on && /^Size:/ { n += $2 } END { print n + 0 }' /proc/$recorder/smaps)
	own=$(awk '/^[0-9a-f]+-/ { on = /perf_event/ } on && /^Rss:/ { n += $2 } END { print n + 0 }' /proc/$recorder/smaps)
	own=$(($(awk '/^VmHWM/ { print $2 }' /proc/$recorder/status) - own + $(awk '/^Private/ { n += $2 } END { print n + 0 }' "/proc/$keeper/smaps_rollup")))
	kill -INT $recorder
	wait $recorder 2>/dev/null
	share=$(calc %.3f "($after - $before) / 1e7 / $wall")
	window=$(sed -n 2p "$tmp/windows")
}

"$tmp/burn" crowd 1500 50 200 >"$tmp/ready" &
crowd=$!
while [ ! -s "$tmp/ready" ]; do sleep 0.2; done
"$tmp/burn" spin 150 &
load=$!
steady 303 40
all=$(calc %.1f "($own + $rings) / 1024") most=$((64 + 8 * $(nproc)))
row "pjrecord, 303 Hz, 1500 processes: share of one CPU, steady" "$share %" "<= 0.5 % a busy CPU" "$share <= 0.5 * $(nproc)"
row "  peak memory, keeper and rings included" "$all MB" "<= $most MB" "$all <= $most"
steady 303 20 --unwind=fp
row "  by frame pointers only: share of one CPU" "$share %" "" ""
steady 99 40 --unwind=fp
row "  99 Hz" "$share %" "<= 0.15 %, goal 0.05" "$share <= 0.15"
row "  peak memory, keeper included (rings $rings kB)" "$(calc %.1f "$own / 1024") MB" "<= 8 MB" "$own <= 8 * 1024"
bytes=$(stat -c %s "$window") samples=$("$dump" "$window" | grep -c '^SAMPLE')
state=$(calc %.3f "($bytes - $("$dump" "$window" | awk '/^SAMPLE/ { n += 72 } /^\tip/ { n += 8 } END { print n + 0 }')) / 1e6")
row "  state in a window of 10 s ($samples samples, $bytes B)" "$state MB" "<= 0.4 MB" "$state <= 0.4"
kill $load 2>/dev/null
if "$perf" --version >/dev/null 2>&1; then
	"$perf" record -q -F 99 -a -g -e cpu-clock -o "$tmp/theirs.data" -- sleep 10 >/dev/null 2>&1
	row "  perf record of 10 s beside them" "$(calc %.1f "$(stat -c %s "$tmp/theirs.data") / 1e6") MB" "" ""
	rm -f "$tmp/theirs.data"
fi
pkill -P $crowd 2>/dev/null # children first: without their parent nobody knows them
wait 2>/dev/null

# ---- times off the CPU: what a switch costs, by turns, medians of five

# each COMMAND...: CPU ns a switch beside a recorder of all of the host, and of that recorder itself
each()
{
	local recorder

	"$@" >/dev/null 2>&1 &
	recorder=$!
	sleep 1.5
	echo "$("$tmp/burn" pingpong 50000 24 | cut -d' ' -f1) $(($(cpu_ns $recorder) / 100000))"
	kill -INT $recorder
	wait $recorder 2>/dev/null
}

# median COLUMN FILE
median()
{
	cut -d' ' -f"$1" "$2" | sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}
rm -f "$tmp"/each.*
for ((i = 0; i < 5; i++)); do
	"$tmp/burn" pingpong 50000 24 >>"$tmp/each.none"
	each "$bin/pjrecord" -q -F 99 -a -o "$tmp/cost.data" >>"$tmp/each.clock"
	each "$bin/pjrecord" -q -F 99 -a --off-cpu -o "$tmp/cost.data" >>"$tmp/each.ours"
	if "$perf" --version >/dev/null 2>&1; then
		each "$perf" record -q -a -g -e sched:sched_switch -o "$tmp/cost.data" >>"$tmp/each.perf"
	fi
done
rm -f "$tmp/cost.data"
none=$(median 1 "$tmp/each.none")
row "a switch between two processes, 24 frames deep: CPU time" "$none ns" "" ""
row "  beside pjrecord -F 99: more" "$(($(median 1 "$tmp/each.clock") - none)) ns" "" ""
row "  beside pjrecord --off-cpu: more; pjrecord itself" "$(($(median 1 "$tmp/each.ours") - none)) ns, $(median 2 "$tmp/each.ours") ns" "" ""
if [ -e "$tmp/each.perf" ]; then
	row "  beside perf record -e sched:sched_switch: more; perf itself" "$(($(median 1 "$tmp/each.perf") - none)) ns, $(median 2 "$tmp/each.perf") ns" "" ""
fi

# ---- an idle host: the least busy of up to five windows. Nothing is taken away: who does not have an idle host misses it.
busy=100
for ((i = 0; i < 5; i++)); do
	rm -rf "$tmp/idle"
	sleep 2
	window=$("$bin/pjrecord" -q -w 30 -n 1 -d "$tmp/idle" 2>/dev/null)
	this=$("$dump" "$window" | awk '/^SAMPLE/ { n++ } END { printf "%.2f", 100 * n / 303 / 30 / '"$(nproc)"' }')
	if awk "BEGIN { exit !($this < $busy) }"; then busy=$this bytes=$(stat -c %s "$window"); fi
	if awk "BEGIN { exit !($busy < 0.3) }"; then break; fi
done
row "pjrecord: a window of 30 s of this host, $busy % busy" "$(calc %.1f "$bytes / 1e3") kB" "<= 32 kB when idle" "$bytes <= 32000"
rm -rf "$tmp/idle" "$tmp/cost" "$tmp/probe"
