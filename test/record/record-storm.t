#!/bin/sh
# record-storm.t - pjrecord beside many short processes, and beside perf record.
#
# PJ_STORM: seconds in which 500 processes a second begin and end (5).
# stage: live
# full: 20 s of loads on all CPUs; windows of the whole host are in record.t, which is in the gate
# covers: record/session/session.c record/processes/host.c record/processes/state.c record/processes/idle.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=test/record/burn.sh
. "$(dirname "$0")/burn.sh"
[ "$all" ] || skip_all "the whole host cannot be recorded here: $(head -n 1 why)"

# ---- a storm of short processes
rm -rf storm
pjrecord -v -F 999 -w 2 -d storm >windows 2>err &
recorder=$!
sleep 1
./$burn storm "${PJ_STORM:-5}" 500 >made
sleep 1
kill -INT $recorder
wait $recorder
made=$(cat made)
for w in $(cat windows); do "$dump" "$w"; done >records
awk '/^COMM/ { split($2, p, "/"); comm[p[2]] = 1 } /^SAMPLE/ { split($2, p, "/"); n++; if (!(p[2] in comm) && p[1] != -1) bad++ } END { printf "%d %d\n", n, bad }' records >named
ok "a storm was recorded ($made processes, $(cut -d' ' -f1 named) samples)" test "$(cut -d' ' -f1 named)" -gt 500
# (a process that has ended so far that the kernel gives it no number is -1)
is "every sample of it has the name of its thread before it" "$(cut -d' ' -f2 named)" 0
for w in $(cat windows); do pjfold -q "$w"; done >storm.folded 2>err
is "  none is called by its number" "$(grep -c '^:[0-9]' storm.folded)" 0
awk -v burn="^$burn" '$0 ~ burn { n = $NF; sub(/ [0-9]+$/, ""); m = split($0, f, ";"); all += n; if (f[m] == "[unknown]") bad += n }
	END { if (bad > 0.02 * all) print bad " of " all }' storm.folded >leaves
if [ -s leaves ]; then fail "  leaves have a mapping" leaves; else pass "  leaves have a mapping"; fi
mkdir alone
: >different
for w in $(cat windows); do
	cp "$w" alone/x.data
	pjfold -q "$w" >a.folded 2>err
	pjfold -q alone/x.data >b.folded 2>err
	# of the storm: what others run here may be known by what was kept beside the windows only
	grep "^$burn" a.folded >a.burn # none in the last window, maybe
	grep "^$burn" b.folded >b.burn
	diff a.burn b.burn >>different
	[ "$(sum a.folded)" = "$(sum b.folded)" ] || echo "$w: other sums" >>different
done
if [ -s different ]; then fail "each window folds alone as in its place" different; else pass "each window folds alone as in its place"; fi

# ---- shares beside perf record, at the same time; idle left out
# by_process FILE [FROM TO]: samples by process, between two times
by_process()
{
	"$dump" "$1" | awk -v from="${2:-0}" -v to="${3:-9e18}" '/^SAMPLE/ && $3 >= from && $3 <= to { split($2, p, "/"); if (p[1]) { c[p[1]]++; n++ } }
		END { for (k in c) print k, c[k], n }' | sort
}
if "$perf" --version >/dev/null 2>&1; then
	load 3 spin 20
	"$perf" record -q -N -k CLOCK_MONOTONIC -F 499 -e cpu-clock -a -g -o theirs.data -- sleep 7 2>err &
	theirs=$!
	sleep 1 # it needs that to begin
	pjrecord -q -F 499 -e cpu-clock -w 6 -n 1 -d beside >windows 2>err
	wait $theirs
	# shellcheck disable=SC2086
	kill $load 2>/dev/null
	wait 2>/dev/null
	by_process "$(cat windows)" >ours
	# shellcheck disable=SC2046
	by_process theirs.data $("$dump" "$(cat windows)" | awk '/^SAMPLE/ { if (!from) from = $3; to = $3 } END { print from, to }') >theirs
	join theirs ours | awk '$2 / $3 > 0.05 || $4 / $5 > 0.05 {
		a = 100 * $2 / $3; b = 100 * $4 / $5; noise = 4 * sqrt(a * (100 - a) * (1 / $3 + 1 / $5)); n++
		if (a - b > 1 + noise || b - a > 1 + noise) print "process " $1 ": " a " % there, " b " % here" }
		END { if (n < 2) print n + 0 " processes in both" }' >shares
	if awk 'FNR == 1 { n[FILENAME] = $3 } END { exit !(n["theirs"] < n["ours"] * .97) }' theirs ours; then # on a busy machine
		skip "shares of processes as perf record sees them" "perf record lost samples: it has $(awk '{ print $3; exit }' theirs) of $(awk '{ print $3; exit }' ours)"
	elif [ -s shares ]; then fail "shares of processes as perf record sees them" shares theirs ours; else pass "shares of processes as perf record sees them"; fi
else
	skip "shares of processes as perf record sees them" "perf is not installed"
fi
done_testing
