# beside.sh - a recording of a known program beside an attack; source it after lib.sh.
# shellcheck shell=sh disable=SC2034,SC2154
#
# record_victim NAME [ATTACK ARGUMENTS...]: records this host for some seconds, beside an attack if one is given, while a program that burns CPU
# in one function runs within the recording. Afterwards:
#	$samples, $named   samples of the victim, and those that lead through victim_caller to victim_leaf: 98 % of all. The others are in its
#	                   clock, or before main: an attack causes more interrupts, which are frames above victim_leaf
#	$early             samples of the victim without its callers that pjrecord counts as unwound before the unwind tables were loaded
#	$complete          samples of the victim with a complete stack: from _start, each frame with its name
#	$victim_ms         CPU time of the victim, as it measured itself
#	$used_permille     CPU of pjrecord and its helper processes, of 1000 for one CPU: the median second
#	$peak_kb           resident memory of the recorder, without its rings
#	$stopped           0 if SIGTERM ended it within 2 seconds
#	NAME/err           its summary lines; NAME/out the windows
#
# record_control NAME: the same without an attack: what this host costs, and how well the victim does. More than one may be recorded, before and
# after the attacks: what else runs on this host changes. Afterwards:
#	$control_samples, $control_named   of the victim, sums of all controls
#	$control_permille, $control_kb     of the recorder, the highest of them
control_samples=0 control_named=0 control_permille=0 control_kb=0

# rings_kb PID: memory that the rings of a recorder take
rings_kb()
{
	awk '/^[0-9a-f]+-[0-9a-f]+ / { ring = /anon_inode:\[perf_event\]/ } ring && /^Rss:/ { kb += $2 } END { print kb + 0 }' "/proc/$1/smaps"
}

# wait_idle PID...: until these processes used no CPU for half a second: kernel symbols are saved at the start
wait_idle()
{
	idle_before=-1
	for _ in $(seq 40); do
		idle_now=$(cpu_ms "$@")
		[ "$idle_now" != "$idle_before" ] || return 0
		idle_before=$idle_now
		sleep 0.5
	done
}

# show_threads PID: where each thread of a process and its descendants is
show_threads()
{
	for pid in $(descendants "$1"); do
		for task in /proc/"$pid"/task/*; do
			echo "# $(cat "$task/comm") $(sed 's/.*) //; s/ .*//' "$task/stat") $(cat "$task/wchan" "$task/syscall" | tr '\n' ' ')"
			sed 's/^/#    /' "$task/stack" 2>/dev/null | head -n 6
		done
	done
}

# measure_seconds: sets $used_permille. A median, since a build or another test beside ours costs the recorder some seconds, too.
measure_seconds()
{
	: >"$rec/seconds"
	for _ in $(seq "$beside_secs"); do
		# shellcheck disable=SC2046 # a list
		before_ms=$(cpu_ms $(descendants "$recorder")) before_ns=$(date +%s%N)
		sleep 1
		# shellcheck disable=SC2046 # a list
		used_ms=$(($(cpu_ms $(descendants "$recorder")) - before_ms))
		echo $((used_ms * 1000000000 / ($(date +%s%N) - before_ns))) >>"$rec/seconds"
	done
	used_permille=$(sort -n "$rec/seconds" | sed -n "$(((beside_secs + 1) / 2))p")
}

record_victim()
{
	rec=$1
	shift
	mkdir "$rec"
	"$build/bin/pjrecord" -v -d "$rec" -w 300 2>"$rec/err" >/dev/null &
	recorder=$!
	attacks="$attacks $recorder"
	for _ in $(seq 100); do
		[ -z "$(ls "$rec/recording" 2>/dev/null)" ] || break
		sleep 0.1
	done
	sleep 1
	# shellcheck disable=SC2046 # a list
	wait_idle $(descendants "$recorder" | tail -n +2)
	if [ $# -gt 0 ]; then
		attack "$@"
		sleep 1
	fi
	nice -n -5 "$build/test/hostile/victim" "$rec/cpu" &
	victim=$!
	attacks="$attacks $victim"
	measure_seconds
	kill -TERM "$victim"
	wait "$victim"
	sleep 0.2
	peak_kb=$(($(peak_kb "$recorder") - $(rings_kb "$recorder")))
	ends_within 2 "$recorder"
	stopped=$?
	[ "$stopped" = 0 ] || show_threads "$recorder"
	end_attacks
	victim_ms=$(($(tr -d ' \n' <"$rec/cpu") / 1000000))
	sed 's/^/# /' "$rec/err"
	cat "$rec"/out/*.data >/dev/null 2>&1 || fail "$rec: a window was written" "$rec/err"
	"$build/bin/pjfold" "$rec"/out/*.data >"$rec/folded" 2>"$rec/fold.err"
	samples=$(awk '/^victim;/ { n += $NF } END { print n + 0 }' "$rec/folded")
	named=$(awk '/^victim;.*;victim_caller;victim_leaf[; ]/ { n += $NF } END { print n + 0 }' "$rec/folded")
	awk '/^victim;/ && (!/^victim;_start;/ || /;\[/ || /;victim_leaf[; ]/ && !/;main;victim_caller;victim_leaf[; ]/)' "$rec/folded" >"$rec/incomplete"
	complete=$((samples - $(awk '{ n += $NF } END { print n + 0 }' "$rec/incomplete")))
	early=$(awk '/^victim;.*;main;victim_leaf[; ]/ { n += $NF } END { print n + 0 }' "$rec/incomplete")
	early_counted=$(sed -n 's/.*[;,] \([0-9,]*\) unwound before their unwind tables were loaded.*/\1/p' "$rec/err" | tr -d , | tail -n 1)
	[ "$early" -le "${early_counted:-0}" ] || early=${early_counted:-0}
	head -n 5 "$rec/incomplete" | cut -c1-300 | sed 's/^/# incomplete: /'
	echo "# $rec: $samples samples, $named named, $complete complete, victim $victim_ms ms, recorder $used_permille/1000 of a CPU, peak $peak_kb kB"
}

# Has the victim 99 % of a sample for each 1/303 s of its CPU time, but for what chance does to so few?
has_samples()
{
	awk -v n="$samples" -v ms="$victim_ms" 'BEGIN { want = ms * 0.303; exit !(n >= 0.99 * want - 1.5 * sqrt(want)) }'
}

record_control()
{
	record_victim "$1"
	control_samples=$((control_samples + samples))
	control_named=$((control_named + named))
	[ "$control_permille" -ge "$used_permille" ] || control_permille=$used_permille
	[ "$control_kb" -ge "$peak_kb" ] || control_kb=$peak_kb
}

# Have 99 % as many of its samples their callers as without an attack, but for what chance does (3 sigma of both)? Some are of the time before main.
# A further 2 % may be of its first tenth of a second: while a ring is 40 % full, samples do not wait for unwind tables, and are counted as such.
has_callers()
{
	awk -v n="$samples" -v named=$((named + (early * 50 > samples ? samples / 50 : early))) -v cn="$control_samples" -v cnamed="$control_named" 'BEGIN {
		share = (cnamed + 1) / (cn + 2)
		sigma = sqrt(share * (1 - share) * (1 / n + 1 / (cn + 1)))
		exit !(n > 0 && named >= n * (0.99 * share - 3 * sigma))
	}'
}
