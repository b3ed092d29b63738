#!/bin/sh
# record-takeover.t - two recorders on one directory: the second one refuses, --replace continues without a gap.
#
# stage: live
# covers: record/takeover.c record/windows/recorderlock.c record/session/session.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=test/lib/record.sh
. "$top/test/lib/record.sh"
LC_ALL=C
export LC_ALL

need_whole_system
dump=${window%/*}/dump
have taskset || skip_all "no taskset"
# the load keeps this CPU busy, so that each tick of a clock there is a sample
cpu=$(sed -n 's/^Cpus_allowed_list:[^0-9]*\([0-9]*\).*/\1/p' /proc/self/status)
start_load
taskset -cp "$cpu" $load >out || skip_all "the load cannot be bound to CPU $cpu"
first='' reference=''
trap 'kill $load $first $reference 2>/dev/null; rm -rf "$scratch"' EXIT

# recordings COUNT: DIR has at least so many complete windows
recordings()
{
	[ "$(find both/out -name '*.data' 2>/dev/null | grep -c .)" -ge "$1" ]
}

# ---- the second one

pjrecord -q -a -F 499 -w 1 -d both --keep-symbols none >first.out 2>first.err &
first=$!
ok "a recorder records" until_ 30 recordings 1
timeout 60 pjrecord -q -a -w 1 -d both >second.out 2>second.err
is "a second one ends with status 1" $? 1
ok "  and names the first in one line" grep -qx "pjrecord: another recorder, process $first, writes windows into 'both': .* --replace" second.err
is "  that is all that it prints" "$(grep -c . second.err) $(grep -c . second.out)" "1 0"
timeout 60 pjrecord -q -a -w 1 --once --align -d both >cron.out 2>cron.err
is "  so does a run from cron" "$? $(grep -c "process $first," cron.err)" "1 1"
ok "  a command is not run then" sh -c '! timeout 60 pjrecord -d both touch ran 2>/dev/null && ! [ -e ran ]'

kill -9 "$first"
wait "$first" 2>/dev/null
first=''
pjrecord -q -a -F 499 -w 1 -d both --keep-symbols none -n 1 >after.out 2>after.err
is "after kill -9 of the first, the next one records" "$? $(grep 'another recorder' after.err)" "0 "
rm -rf both

# ---- --replace

pjrecord -q -a -F 499 -o reference.data 2>reference.err &
reference=$!
until_ 30 test -s reference.data.part || fail "the reference records" reference.err
pjrecord -q -a -F 499 -w 1 -d both --keep-symbols none >first.out 2>first.err &
first=$!
ok "a recorder records" until_ 30 recordings 2
timeout 60 pjrecord -q -a -F 499 -w 1 -n 2 -d both --keep-symbols none --replace >second.out 2>second.err
is "--replace: status" "$? $(grep -v 'unwind tables hung' second.err)" "0 "
wait "$first"
is "  of the first, too" "$? $(grep -v 'unwind tables hung' first.err)" "0 "
kill -INT "$reference"
wait "$reference"
first='' reference=''
cat first.out second.out | while read -r w; do "$window" "$w"; done >spans
is "  each window begins exactly where the one before it ends" "$(awk 'NR > 1 && $1 != end { print "gap:", $1 - end } { end = $2 }' spans)" ""
is "  no sample lies outside of its window" "$(awk '$3 && ($3 < $1 || $4 >= $2)' spans)" ""
is "  the second one has as many windows as it is to have" "$(grep -c . second.out)" 2
is "  the directory has no other windows" "$(find both/out -name '*.data' | sort | tr '\n' ' ')" "$(sort first.out second.out | tr '\n' ' ')"
begin=$(head -n 1 spans | cut -d ' ' -f 1) end=$(tail -n 1 spans | cut -d ' ' -f 2)
# moments FILE...: the ns of each sample of the busy CPU
moments()
{
	for f in "$@"; do "$dump" "$f"; done | awk -v cpu="$cpu" '$1 == "SAMPLE" && $4 == "cpu" && $5 == cpu { print $3 }'
}
# shellcheck disable=SC2046 # paths without blanks
moments $(cat first.out second.out) >windows.times
moments reference.data | awk -v begin="$begin" -v end="$end" '$1 >= begin && $1 < end' >reference.times
is "  no sample of a busy CPU is in two windows" "$(sort windows.times | uniq -d)" ""
counts="$(grep -c . windows.times) in windows, $(grep -c . reference.times) in a recording of the same time"
# Both clocks tick at the same frequency while the CPU is busy: the counts differed by at most 5 of 5,500 at a load
# average of 8. Those of one process differed by 13 %, since the clocks tick at different times. A lost window is a fifth.
ok "  nor is one missing: $counts" awk -v a="$(grep -c . windows.times)" -v b="$(grep -c . reference.times)" \
	'BEGIN { d = a > b ? a - b : b - a; exit !(b > 100 && d <= b / 50) }'
pjrecord -q -a -F 499 -w 1 -d both --keep-symbols none -n 1 --replace >alone.out 2>alone.err
is "--replace without another recorder records" "$? $(grep -c . alone.out)" "0 1"
is "--replace excludes runs from cron" "$(pjrecord --replace --once --align -d both 2>&1 | grep -c 'excludes --align')" 1
done_testing
