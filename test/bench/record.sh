# shellcheck shell=bash
# shellcheck disable=SC2154 # run.sh sets them
# record.sh - what recording costs, and what lies between two windows. Part of run.sh, which it is sourced by.
# PJ_BENCH_GAP   windows of a second for the gap (30)

cc -O1 -fno-omit-frame-pointer -o "$tmp/burn" test/record/burn.c || exit 1
dump=$top/${PJ_BUILD:-build/std-cc}/test/perfdata/dump
make -s "${dump#"$top"/}" >/dev/null 2>&1
perf=${PJ_PERF:-perf}

# gaps: lines "CPU TIME WINDOW" to the longest interval across a border and within windows, in ms, and lost seconds
gaps()
{
	sort -n -k1,1 -k2,2 | awk '
		$1 == cpu { d = ($2 - t) / 1e6; if ($3 != w) { if (d > across) across = d; sum += d } else if (d > within) within = d }
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

# cpu_ns PID: CPU time of its threads, and of the keeper
cpu_ns()
{
	# shellcheck disable=SC2046 # numbers
	cat /proc/"$1"/task/*/schedstat $(pgrep -P "$1" | sed 's|.*|/proc/&/schedstat|') 2>/dev/null | awk '{ n += $1 } END { print n + 0 }'
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

# ---- what it costs beside 1500 processes
"$tmp/burn" crowd 1500 50 70 >"$tmp/ready" &
crowd=$!
while [ ! -s "$tmp/ready" ]; do sleep 0.2; done
"$tmp/burn" spin 60 &
load=$!
rm -rf "$tmp/cost"
"$bin/pjrecord" -q -F 99 -w 10 -d "$tmp/cost" >"$tmp/windows" 2>/dev/null &
recorder=$!
sleep 5
before=$(cpu_ns $recorder) start=$EPOCHREALTIME
sleep 30
after=$(cpu_ns $recorder) wall=$(calc %.3f "$EPOCHREALTIME - $start")
hwm=$(awk '/^VmHWM/ { print $2 } ' /proc/$recorder/status) shared=$(awk '/^RssShmem/ { print $2 }' /proc/$recorder/status)
rings=$(awk '/perf_event/ { on = 1 } /^[0-9a-f]+-/ { on = /perf_event/ } on && /^Rss:/ { n += $2 } END { print n + 0 }' /proc/$recorder/smaps)
kill -INT $recorder
wait $recorder 2>/dev/null
share=$(calc %.3f "($after - $before) / 1e7 / $wall")
row "pjrecord, 99 Hz, 1500 processes: share of one CPU, steady" "$share %" "<= 0.15 %, goal 0.05" "$share <= 0.15"
own=$(calc %.1f "($hwm - $rings) / 1024")
row "  peak memory without rings (rings $rings kB, shmem $shared kB)" "$own MB" "<= 8 MB" "$own <= 8"
bytes=$(stat -c %s "$(sed -n 2p "$tmp/windows")") samples=$("$dump" "$(sed -n 2p "$tmp/windows")" | grep -c '^SAMPLE')
state=$(calc %.3f "($bytes - $("$dump" "$(sed -n 2p "$tmp/windows")" | awk '/^SAMPLE/ { n += 56 } /^\tip/ { n += 8 } END { print n + 0 }')) / 1e6")
row "  state in a window of 10 s ($samples samples, $bytes B)" "$state MB" "<= 0.4 MB" "$state <= 0.4"
kill $load 2>/dev/null
if "$perf" --version >/dev/null 2>&1; then
	"$perf" record -q -F 99 -a -g -e cpu-clock -o "$tmp/theirs.data" -- sleep 10 >/dev/null 2>&1
	row "  perf record of 10 s beside them" "$(calc %.1f "$(stat -c %s "$tmp/theirs.data") / 1e6") MB" "" ""
	rm -f "$tmp/theirs.data"
fi
kill $crowd 2>/dev/null
pkill -P $crowd 2>/dev/null
wait 2>/dev/null

# ---- an idle host
sleep 2
mapfile -t files < <("$bin/pjrecord" -q -w 30 -n 1 -d "$tmp/idle" 2>/dev/null)
bytes=$(stat -c %s "${files[0]}")
busy=$("$bin/pjfold" -q "${files[0]}" 2>/dev/null | awk '{ n += $NF } END { printf "%.2f", 100 * n / 303 / 30 / '"$(nproc)"' }')
row "pjrecord: a window of 30 s of this host, $busy % busy" "$(calc %.1f "$bytes / 1e3") kB" "<= 32 kB when idle" "$bytes <= 32000 || $busy > 1"
rm -rf "$tmp/idle" "$tmp/cost" "$tmp/probe"
