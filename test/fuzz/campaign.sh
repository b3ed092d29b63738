#!/bin/sh
# campaign.sh - each fuzz target for SECS (600) seconds of CPU time: make fuzz-campaign SECS=600 T=pattern
# Runs one target at a time with the CPU that nobody else wants (SCHED_IDLE), and appends a line for each run to docs/fuzz-log.txt, also for one
# that was ended early by SIGINT or SIGTERM. Seconds count for a target as long as its source and the files that it covers are unchanged
# ("sources": a digest of these); a target with fewer seconds comes first, one with SECS is not run again. So a campaign that was ended goes on.
# Inputs that reach edges that test/corpus/NAME does not are added to it, small ones first, up to KEEP_KB (32) for each run; the rest of what was
# found stays in build/corpus/NAME. Status 1: a finding, whose input is build/corpus/NAME-crash-* or the like.
set -u
export ASAN_OPTIONS=detect_leaks=0
secs=${SECS:-600} keep=$((${KEEP_KB:-32} * 1024)) log=docs/fuzz-log.txt
status=0 child='' ended=''
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
# the target ends by itself, with its figures, before the next input
trap 'ended=1; [ -z "$child" ] || kill -HUP "$child" 2>/dev/null' INT TERM HUP
idle=$(chrt -i 0 true 2>/dev/null && echo 'chrt -i 0')

sources()
{
	# shellcheck disable=SC2046 # a list of files
	cat test/fuzz/*/"$1_fuzz.c" $(sed -n 's:^/\* covers\: \(.*\) \*/$:\1:p' test/fuzz/*/"$1_fuzz.c") | sha256sum | cut -c1-12
}

# seconds NAME DIGEST: so far
seconds()
{
	awk -v name="$1" -v digest="$2" '$2 == name && $4 == digest { sum += $5 } END { print sum + 0 }' "$log"
}

if [ "${1:-}" = --seconds ]; then # of target $2, and no run
	seconds "$2" "$(sources "$2")"
	exit
fi

# Sets cpu: CPU time of the children that ended, in seconds. Not in a subshell, which has none.
read_cpu()
{
	times >"$tmp/times"
	cpu=$(awk 'NR == 2 { for (i = 1; i <= 2; i++) { split($i, t, "[ms]"); sum += t[1] * 60 + t[2] } printf "%d\n", sum }' "$tmp/times")
}

# merge TO FROM NAME OPTIONS: what FROM reaches and TO does not
merge()
{
	merge_to=$1 merge_from=$2 merge_target=$(echo "$PJ_BUILD"/test/fuzz/*/"$3_fuzz")
	shift 3
	$idle nice -n 19 "$merge_target" -merge=1 -timeout=600 -rss_limit_mb=2000 -detect_leaks=0 -close_fd_mask=2 "$@" "$merge_to" "$merge_from" >"$tmp/merge" 2>&1
}

# Inputs that reach edges that none before them reaches, the small ones first. The control file of a merge: how many files, how many of them are
# in TO, their names; then of each COV, its number and its new edges. (libFuzzer itself would add those that only differ in counts, too.)
new_edges()
{
	awk 'NR == 1 { n = $1; next } NR == 2 { first = $1; next } NR <= n + 2 { file[NR - 3] = $0; next }
		$1 == "COV" && $2 >= first && NF > 2 { print file[$2] }' "$1"
}

# Prints the bytes that were added to test/corpus/NAME.
keep_new()
{
	name=$1 kept=0
	rm -rf "$tmp/new" "$tmp/smaller" "$tmp/control"
	mkdir "$tmp/new" "$tmp/smaller"
	cp -rL "test/corpus/$name/." "$tmp/new"
	if merge "$tmp/new" "build/corpus/$name" "$name" -use_counters=0 -merge_control_file="$tmp/control"; then
		new_edges "$tmp/control" >"$tmp/edges"
		while read -r file; do
			size=$(wc -c <"$file")
			[ $((kept + size)) -le "$keep" ] || break
			kept=$((kept + size))
			cp "$file" "test/corpus/$name/$(basename "$file" | cut -c1-8)"
		done <"$tmp/edges"
	fi
	echo "$kept"
	# inputs that only repeat others leave the working corpus, so that the next run begins soon
	if merge "$tmp/smaller" "build/corpus/$name" "$name"; then
		rm -rf "build/corpus/$name" && mv "$tmp/smaller" "build/corpus/$name"
	fi
}

if [ "${1:-}" = --keep ]; then # of what build/corpus holds for target $2
	keep_new "$2"
	exit
fi

# run NAME DIGEST SECONDS
run()
{
	name=$1
	mkdir -p "build/corpus/$name" "test/corpus/$name"
	largest=$(sed -n 's:^/\* largest\: \([0-9]*\) \*/$:\1:p' test/fuzz/*/"${name}_fuzz.c")
	out=build/corpus/$name.log
	read_cpu
	before=$cpu
	PJ_FUZZ_CPU=$3 $idle nice -n 19 "$PJ_BUILD"/test/fuzz/*/"${name}_fuzz" -max_len="${largest:-8192}" -timeout=600 -rss_limit_mb=2000 \
		-detect_leaks=0 -close_fd_mask=2 -print_final_stats=1 -artifact_prefix="$PWD/build/corpus/$name-" "build/corpus/$name" "test/corpus/$name" >"$out" 2>&1 &
	child=$!
	wait $child
	code=$?
	while kill -0 $child 2>/dev/null; do # a signal of ours ended wait
		wait $child
		code=$?
	done
	child=''
	read_cpu
	used=$((cpu - before))
	findings=0
	if [ $code = 137 ]; then # SIGKILL: of a test beside it, or for want of memory; libFuzzer's own limit would have left the input
		echo "$name: killed after $used s, counts as not run"
		used=0
		status=1
	elif [ $code != 0 ] && [ $code != 129 ]; then # 129: SIGHUP before the first input
		findings=1
		status=1
		grep -avE '^#[0-9]' "$out" | tail -n 40
	fi
	runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$out")
	edges=$(grep -aoE ' cov: [0-9]+' "$out" | tail -n 1 | cut -d' ' -f3)
	cost=$(sed -n 's/^# highest cost of an input: \([0-9]*\) steps, \([0-9]*\) kB.*/\1 \2/p' "$out" | tail -n 1)
	# shellcheck disable=SC2086 # two columns
	printf '%-10s %-14s %-10s %-12s %7s %10s %6s %10s %8s %8s %8s\n' "$(date -u +%F)" "$name" "$commit" "$2" "$used" "${runs:--}" "${edges:--}" ${cost:-- -} \
		"$(keep_new "$name")" "$findings" >>"$log"
	tail -n 1 "$log"
}

commit=$(git rev-parse --short=10 HEAD 2>/dev/null || echo -)
[ -s "$log" ] || printf '# %-8s %-14s %-10s %-12s %7s %10s %6s %10s %8s %8s %8s\n' date target commit sources 'CPU s' inputs edges steps 'heap kB' 'kept B' findings >"$log"
for target in "$PJ_BUILD"/test/fuzz/*/*_fuzz; do
	name=${target##*/}
	name=${name%_fuzz}
	if [ -n "${T:-}" ] && ! echo "$name" | grep -qE -- "$T"; then continue; fi
	digest=$(sources "$name")
	echo "$(seconds "$name" "$digest") $name $digest"
done | sort -n >"$tmp/order"
while read -r had name digest; do
	[ -z "$ended" ] || break
	[ "$had" -ge "$secs" ] || run "$name" "$digest" $((secs - had))
done <"$tmp/order"
exit $status
