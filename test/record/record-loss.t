#!/bin/sh
# record-loss.t - loss is a number: samples and state that the kernel had no room for, in the file, in the line of the window, in
# pjrecord.prom and in the exit status; and what is known of processes afterwards.
# stage: live
# full: storms that fill the rings of the host
# covers: record/session/session.c record/windows/metrics.c record/perf/rings.c record/processes/rescan.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=test/lib/record.sh
. "$top/test/lib/record.sh"
LC_ALL=C
export LC_ALL

have pjrecord || skip_all "pjrecord is not built"
have cc || skip_all "no compiler for the loads"
dump=$top/${PJ_BUILD:-build/std-cc}/test/fold/perfdata/dump
case $PJ_BUILD in /*) dump=$PJ_BUILD/test/fold/perfdata/dump ;; esac
burn=burn$$
cc -O1 -g -fno-omit-frame-pointer -o $burn "$top/test/record/burn.c" || skip_all "the load does not compile"
pjrecord -q -a -d probe -w 1 -n 1 --keep-symbols none >probe.out 2>why || skip_all "the whole host may not be recorded here: $(head -n 1 why)"
load='' recorder=''
trap 'kill -CONT $recorder 2>/dev/null; kill $load $recorder 2>/dev/null; chmod -R u+rwx "$scratch" 2>/dev/null; rm -rf "$scratch"' EXIT

# lost WHAT FILE...: as the files have it
lost()
{
	what=$1
	shift
	for w in "$@"; do "$dump" "$w"; done | awk -v what="$what" '/^LOST/ && $NF == what { n += $(NF - 1) } END { print n + 0 }'
}

# ---- samples

# A recorder that stands still takes nothing out of its rings: these fill.
i=0
while [ $i -lt "$(getconf _NPROCESSORS_ONLN)" ]; do
	./$burn spin 60 &
	load="$load $!"
	i=$((i + 1))
done
stalled()
{
	pjrecord -v -F 1999 -m 16K -w 2 -n 3 -d "$@" >windows 2>err &
	recorder=$!
	until_ 20 grep -q . windows
	kill -STOP $recorder
	sleep 1.5
	kill -CONT $recorder
	wait $recorder
}
stalled small --max-lost 1%
is "--max-lost: status 3 when more was lost" $? 3
ok "  and how much" grep -qE '[0-9.]+ % of the samples were lost, more than --max-lost=1%: try a larger --ring-size' err
# shellcheck disable=SC2046 # names without blanks
in_files=$(lost samples $(cat windows))
ok "what was lost is in the files ($in_files)" test "$in_files" -gt 100
is "  in the lines of the windows" "$(sed -n 's/.*; LOST \([0-9,]*\) samples* .*/\1/p' err | tr -d , | awk '{ n += $1 } END { print n + 0 }')" "$in_files"
is "  and in pjrecord.prom" "$(metric small lost_samples_total)" "$in_files"
ok "  the fullest ring is told" test "$(metric small ring_high_ratio | awk '{ print ($1 > 0.5) }')" = 1
folded=0
for w in $(cat windows); do
	folded=$((folded + $(pjfold -q --show-lost "$w" 2>fold.err | sed -n 's/^\[lost\] //p' | awk '{ n += $1 } END { print n + 0 }')))
done
is "  pjfold --show-lost has it" "$folded" "$in_files"
stalled small2
is "without --max-lost it is 0" $? 0
# shellcheck disable=SC2046
is "with room for all nothing is lost" "$(pjrecord -q -F 1999 -w 1 -n 2 -d large --max-lost 0 >windows 2>err; echo $?) $(lost samples $(cat windows))" "0 0"
# shellcheck disable=SC2086
kill $load
wait 2>/dev/null
load=''

# ---- the state of processes: read again from /proc

pjrecord -v -F 499 -w 1 -d storm >windows 2>err &
recorder=$!
until_ 20 grep -q . windows
kill -STOP $recorder
./$burn storm 4 2000 >made
cp $burn late$$ # begins while nothing is taken, and goes on
./late$$ spin 60 &
load=$!
sleep 0.3
kill -CONT $recorder
# windows of the time when it stood still come at once; then one of now, and it and the next are looked at
seen_late()
{
	w=$(tail -n 1 windows)
	pjfold -q "$w" 2>fold.err | grep -q "^late$$;.*;fifty"
}
until_ 60 seen_late
before=$(wc -l <windows)
until_ 30 sh -c "[ \$(wc -l <windows) -gt $((before + 2)) ]"
kill -INT $recorder
wait $recorder
recorder=''
# shellcheck disable=SC2046
records=$(lost records $(cat windows))
if [ "$records" = 0 ]; then
	skip "records of processes that were lost" "the ring had room for a storm of $(cat made)"
else
	ok "records of processes that were lost are counted ($records)" grep -q 'LOST .* records* of processes' err
	is "  also in pjrecord.prom" "$(metric storm lost_records_total)" "$records"
	# shellcheck disable=SC2046
	is "  not taken for samples" "$(pjfold -q --show-lost $(cat windows) 2>fold.err | grep -c '^\[lost\]')" "$([ "$(metric storm lost_samples_total)" = 0 ]; echo $?)"
	# shellcheck disable=SC2046
	pjfold -q $(sed -n "$((before + 1)),$((before + 2))p" windows) >folded 2>fold.err
	ok "  who began meanwhile has its name and its functions" grep -q "^late$$;.*;fifty" folded
	is "  nobody is called by a number" "$(grep -c '^:[0-9]' folded)" 0
fi
kill $load
wait 2>/dev/null
load=''

done_testing
