#!/bin/sh
# record-life.t - the directory of pjrecord over its life: killed at any moment, on a full disk, with limits, and with runs that
# overlap. Nothing complete is ever changed or lost.
#
# PJ_KILLS: how many times it is killed (5).
# stage: live
# full: fills disks and kills pjrecord in many windows
# covers: record/windows/windows.c record/windows/leftovers.c record/windows/rescue.c record/windows/retention.c
# covers: record/windows/metrics.c record/session/output.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=test/lib/record.sh
. "$top/test/lib/record.sh"
LC_ALL=C
export LC_ALL
perf=${PJ_PERF:-perf}
kills=${PJ_KILLS:-5}

need_whole_system
start_load
trap 'kill $load 2>/dev/null; chmod -R u+rwx "$scratch" 2>/dev/null; rm -rf "$scratch"' EXIT

# until SECONDS COMMAND...: true as soon as the command is
# whole FILE...: each is complete (its features tell the times of its samples), and pjfold has nothing to say against it
whole()
{
	"$window" "$@" | awk '$3 == 0 || $4 < $3 { print "not complete:", $0; bad = 1 } END { exit bad }' || return 1
	for f in "$@"; do
		pjfold -q "$f" >stacks 2>err
		if [ ! -s stacks ] || [ -s err ]; then
			echo "$f:"
			cat err
			return 1
		fi
	done
}

# ---- killed at any moment

# total FILE: samples in folded stacks
total()
{
	awk '{ n += $NF } END { print n + 0 }' "$1"
}

# keepers of this test that live
keepers()
{
	grep -ls '^pjrecord-keeper$' /proc/[0-9]*/comm | while read -r comm; do
		p=${comm%/comm}
		if [ "$(readlink "$p/cwd")" = "$scratch" ]; then echo "${p#/proc/}"; fi
	done
}

no_keepers()
{
	[ -z "$(keepers)" ]
}

mkdir killed
: >sums
: >held.now
: >perf.bad
k=0 readable=0 unreadable=0 held=0
while [ "$k" -lt "$kills" ]; do
	# every other one with a keeper, which nobody kills
	pjrecord -v -a -F 499 -w 1 -d killed --keep-symbols "$([ $((k % 2)) = 0 ] && echo none || echo 1G)" >killed.out 2>>killed.err &
	pid=$!
	# the last one has both: windows that are complete, and one that is not
	[ "$k" -lt $((kills - 1)) ] || until_ 20 sh -c '[ "$(grep -c . killed.out)" -gt 1 ]'
	sleep "$(awk -v seed="$k$$" 'BEGIN { srand(seed); printf "%.3f", 0.2 + 1.8 * rand() }')"
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
	for f in killed/recording/*.data; do
		[ -e "$f" ] || continue
		held=$((held + 1))
		# at once, as it is: what was flushed of it can be folded; before the first sample there is nothing
		pjfold -q "$f" >open.folded 2>open.err
		case $? in
		0 | 1) if grep -qE 'header is damaged|ends in its header|has no events' open.err && [ "$(stat -c %s "$f")" -gt 104 ]; then
			unreadable=$((unreadable + 1))
		elif [ -s open.folded ]; then
			readable=$((readable + 1))
			echo "$(basename "$f") $(total open.folded)" >>held.now
			# data.size says what was flushed; perf takes no more
			if "$perf" --version >/dev/null 2>&1 && [ "$(od -A n -t u8 -j 48 -N 8 "$f")" -gt 4096 ]; then
				"$perf" script -F comm,time -i "$f" >script 2>script.err && [ -s script ] || echo "$f: $(head -n 1 script.err)" >>perf.bad
			fi
		fi ;;
		*) unreadable=$((unreadable + 1)) ;;
		esac
	done
	# what is complete stays as it is from here on
	for f in killed/out/*.data; do [ -e "$f" ] && sha256sum "$f"; done | sort -u - sums >sums.new && mv sums.new sums
	k=$((k + 1))
done
echo "# killed $kills times: $(grep -c . sums) complete windows, $held open ones, of which $readable held samples"
is "killed $kills times: what was open can be read at once" "$unreadable" 0
same "  by perf, too" perf.bad /dev/null
ok "  a run afterwards" sh -c 'pjrecord -v -a -w 1 -n 1 -d killed --keep-symbols none 2>after.err'
# each is rescued by the run after it
grep -h 'left by a run.*: [0-9,]* sample' killed.err after.err >left
is "  what is rescued is said" "$(grep -c ' samples* of [1-9][0-9]* process' left)" "$(grep -c . left)"
ok "    and some were" sh -c "[ -s left ] || ! [ -s held.now ]"
for f in $(awk '{ print $1 }' held.now); do
	[ -e "killed/out/$f" ] && echo "$f $(pjfold -q "killed/out/$f" | awk '{ n += $NF } END { print n + 0 }')"
done >held.then
same "  all samples that an open one held are in the rescued one" held.then held.now
ok "  no keeper outlives its recorder" until_ 30 no_keepers
is "  leaves nothing in recording/" "$(ls -A killed/recording)" "recorder
used"
is "  some windows were complete before, some were open" "$([ -s sums ] && [ "$held" -gt 0 ] && echo yes)" yes
ok "  complete windows did not change" sha256sum -c --quiet sums
ok "  and are whole, like those that were rescued" whole killed/out/*.data
is "  no temporary is left" "$(find killed -name '.*' ! -name . ! -name .build-id)" ""
is "  each of bad/ has its reason" "$(find killed/bad -name '*.data' | wc -l)" "$(find killed/bad -name '*.why' | wc -l)"
is "  only those without a sample are there" "$(cat killed/bad/*.why 2>/dev/null | grep -vcE 'has no sample|is empty|header is truncated|was not written|were not written')" 0
# a kill between the move of a window to out/ and the next write of pjrecord.prom loses the count of that window
counted=$(metric killed windows_total) complete=$(find killed/out -name '*.data' | wc -l)
ok "  pjrecord.prom counts no window twice" test "$counted" -le "$complete"
ok "  and at most one window for each kill is not counted" test "$counted" -ge $((complete - kills))
ok "  the file of metrics is well-formed" awk -f "$top/test/lib/prom.awk" killed/pjrecord.prom
if "$perf" --version >/dev/null 2>&1; then
	bad=0
	# those at the ends, and some between
	for f in $(find killed/out -name '*.data' | sort | awk '{ f[NR] = $0 } END { for (i = 1; i <= NR; i += NR < 10 ? 1 : int(NR / 8)) print f[i] }'); do
		"$perf" script -F comm,time -i "$f" >script 2>script.err && [ -s script ] && "$perf" report --header-only -i "$f" 2>>script.err | grep -q 'hostname' || bad=$((bad + 1))
	done
	is "  perf reads them" "$bad" 0
else
	skip "  perf reads them" "perf is not installed"
fi

# ---- stopped

pjrecord -q -a -w 30 -d stopped --keep-symbols none >stopped.out 2>stopped.err &
pid=$!
until_ 20 sh -c 'set -- stopped/recording/*.data; [ -s "$1" ]'
kill -TERM "$pid"
wait "$pid"
is "SIGTERM finishes the window: status" $? 0
ok "  and the file" whole stopped/out/*.data
is "  its path" "$(cat stopped.out)" "$(ls stopped/out/*.data)"

# ---- a keeper that dies

pjrecord -v -a -w 600 -d keeps >keeps.out 2>keeps.err &
pid=$!
until_ 20 sh -c 'ls keeps/symbols/kallsyms-*'
keeper=$(keepers)
kill -9 "$keeper"
another()
{
	new=$(keepers)
	[ -n "$new" ] && [ "$new" != "$keeper" ]
}
ok "a keeper that dies is replaced long before the window ends" until_ 60 another
kill -TERM "$pid"
wait "$pid"
ok "  which is said" grep -q '1 symbol saver crashed' keeps.err

# ---- a full disk

if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
	mkdir full
	# with room for some windows
	pjrecord -q -a -F 4999 -w 1 -n 2 -d volume --keep-symbols none >out 2>err
	volume=$(du -sk volume/out | cut -f 1)
	cat >full.sh <<SH
mount -t tmpfs -o size=$((2 * volume))k none full || exit 99
pjrecord -v -a -F 4999 -w 1 -n 12 -d full --min-free 0 --keep-symbols none >full.out 2>full.err
echo \$? >full.status
cp -r full full.copy
SH
	unshare -m sh full.sh
	if [ -e full.status ]; then
		echo "# a disk of $((2 * volume)) kB: $(metric full.copy windows_total) windows complete, $(metric full.copy 'windows_dropped_total{reason="disk"}') dropped, $(metric full.copy 'windows_deleted_total{reason="free"}') deleted"
		ok "a full disk: windows are dropped" [ "$(metric full.copy 'windows_dropped_total{reason="disk"}')" -gt 0 ]
		ok "  which is said" grep -q 'is dropped.*No space left on device' full.err
		ok "  the oldest make room" [ "$(metric full.copy 'windows_deleted_total{reason="free"}')" -gt 0 ]
		ok "  and it goes on: some are complete" [ "$(metric full.copy windows_total)" -gt 2 ]
		ok "  those that stay are whole" whole full.copy/out/*.data
		is "  the end tells" "$(cat full.status)" 1
	else
		skip "a full disk" "a tmpfs may not be mounted"
	fi
else
	skip "a full disk" "needs root"
fi

# ---- limits

pjrecord -q -a -F 999 -w 1 -n 6 -d limits --keep-bytes 200K --keep-symbols none >limits.out 2>limits.err
is "--keep-bytes: all windows are printed" "$(grep -c . limits.out)" 6
ok "  some were deleted" [ "$(metric limits 'windows_deleted_total{reason="bytes"}')" -gt 0 ]
ok "  the newest are there" test -e "$(tail -n 1 limits.out)"
ok "  no more than the limit, or the newest alone" sh -c '[ "$(du -sk limits/out | cut -f 1)" -le 220 ] || [ "$(ls limits/out | wc -l)" = 1 ]'

pjrecord -q -a -w 1 -n 1 -d nofree --min-free 99.999 >out 2>nofree.err
is "--min-free holds for what is kept, too" "$(find nofree/symbols nofree/jit -type f 2>/dev/null | head -n 3)" ""

# ---- runs that overlap, as cron starts them

# at_border: just after a multiple of 4 seconds
pjrecord -q -a -F 999 -w 4 --once --align -d cron --keep-symbols none >cron.1 2>cron.err.1 &
one=$!
until_ 20 sh -c 'set -- cron/recording/*.data; [ -s "$1" ]'
first=$("$window" cron/recording/*.data)
# the second begins while the first records
until_ 20 sh -c '[ "$(date +%s%N)" -gt "'"$(ls cron/recording | sed -n 's/\.data$//p')"'500000000" ]'
pjrecord -q -a -F 999 -w 4 --once --align -d cron --keep-symbols none >cron.2 2>cron.err.2 &
two=$!
wait "$one"
is "a run from cron: status" $? 0
wait "$two"
is "  the next one, started before it ended" $? 0
a=$(cat cron.1) b=$(cat cron.2)
# shellcheck disable=SC2046 # four numbers
set -- $("$window" "$a") $("$window" "$b")
is "  what was planned is what came" "$1 $2" "${first% * *}"
is "  the next begins exactly where the last ends" "$2" "$5"
# planned on the wall clock, so the length follows it when it is slewed
ok "  both are as long as they are to be" awk -v a="$(($2 - $1))" -v b="$(($6 - $5))" 'BEGIN { exit !(a > 3.99e9 && a < 4.01e9 && b > 3.99e9 && b < 4.01e9) }'
is "  no sample of the first lies behind the border, none of the next before it" "$([ "$4" -lt "$2" ] && [ "$7" -ge "$5" ] && echo yes)" yes
# a CPU-bound process: the gap across the border is no larger than others
if "$perf" --version >/dev/null 2>&1; then
	for f in "$a" "$b"; do "$perf" script --ns -F pid,time -i "$f" 2>/dev/null; done | awk -v spins="$load" -v border="$2" '
		$1 == spins { sub(":", "", $2); split($2, t, "."); now = t[1] * 1e9 + t[2]
			if (last) { gap = now - last; if (last < border && now >= border) across = gap; else if (gap > inside) inside = gap }
			last = now }
		END { print "across the border " across / 1e6 " ms, inside at most " inside / 1e6 " ms"; exit !(across > 0 && across <= inside) }' >gap
	if [ $? -eq 0 ]; then pass "  the gap across is not larger than inside: $(cat gap)"; else fail "  the gap across is not larger than inside" gap; fi
else
	skip "  the gap across is not larger than inside" "perf is not installed"
fi
# shellcheck disable=SC2012 # names are numbers
is "  two windows, and no more" "$(ls cron/out | tr '\n' ' ')" "$(basename "$a") $(basename "$b") "

# ---- signals

# often SIGNAL PID: as timeout(1) sends one, to a process and to its group, so that it comes twice; or once, as it happens to be
often()
{
	for _ in $(seq 3000); do kill -"$1" "$2" 2>/dev/null; done
}

pjrecord -q -o twice.data -p $load 2>err &
pid=$!
until_ 60 test -s twice.data.part
often INT $pid
wait $pid
is "one signal that comes twice ends a recording as one does" "$? $(ls twice.data*)" "0 twice.data"
ok "  which is whole" whole twice.data

sh -c 'trap "" HUP; exec pjrecord -q -o hup.data -p "$1"' - $load 2>err &
pid=$!
until_ 60 test -s hup.data.part
kill -HUP $pid
sleep 0.3
is "with nohup, a terminal that is gone does not end it" "$(kill -0 $pid && ls hup.data*)" hup.data.part
kill -TERM $pid
wait $pid
is "  SIGTERM does" "$? $(ls hup.data*)" "0 hup.data"

# of a command: perf record ends it with SIGTERM, too
cat >turns.sh <<'SH'
trap 'exit 9' TERM
echo $$ >turns.pid
i=0; while [ $((i += 1)) -lt 100000000 ]; do :; done
SH
# true if the command has run for half a second
has_turned()
{
	awk '{ exit $14 + $15 < 50 }' "/proc/$(cat turns.pid)/stat"
}
for seconds in 60 1; do
	rm -f turns.pid turns.data
	pjrecord -q -o turns.data -s $seconds -- sh turns.sh 2>err &
	pid=$!
	until_ 60 test -s turns.pid
	until_ 60 has_turned
	[ $seconds = 60 ] || until_ 60 test -s turns.data
	kill -TERM $pid
	wait $pid
	is "SIGTERM ends a command, recorded for $seconds s at most: status" "$? $(cat err)" "9 "
	ok "  its recording is whole" whole turns.data
done
is "a background job ignores SIGINT and SIGQUIT" "$(sh -c 'pjrecord -q -o int.data -- grep SigIgn /proc/self/status & wait $!' | grep -c '[67ef]$')" 1
is "  --foreground: its command does not" "$(sh -c 'pjrecord -q --foreground -o int.data -- grep SigIgn /proc/self/status & wait $!' | grep -c '[0189]$')" 1

# ---- readers of paths

pjrecord -q -a -w 1 -n 3 -d reader --keep-symbols none 2>reader.err | head -n 1 >reader.out
is "a reader who leaves gets what he read" "$(grep -c . reader.out)" 1
is "  and windows go on" "$(find reader/out -name '*.data' | wc -l)" 3
pjrecord -q -a -w 1 -n 2 -d loop --keep-symbols none 2>err | while read -r w; do pjfold -q "$w" | pjsvg -o "${w%.data}.svg"; done
is "a loop over windows makes pictures" "$(find loop/out -name '*.svg' | wc -l)" 2

done_testing
