#!/bin/sh
# table.sh [FILE] - the log in docs/FUZZING.md, of the last run of each target (build/corpus/NAME.log) and of FILE, what make cover printed.
# A target that was not run here keeps its line.
set -u
cover=${1:-/dev/null}
today=$(date -u +%F)
echo '| target | covers | lines | seconds | runs | edges | highest cost: steps, heap | date |'
echo '|---|---|---|---|---|---|---|---|'
for target in test/fuzz/*_fuzz.c; do
	name=${target##*/}
	name=${name%_fuzz.c}
	files=$(sed -n 's:^/\* covers\: \(.*\) \*/$:\1:p' "$target")
	lines=$(awk -v name="$name" '$1 == name { last = $NF } END { print last }' "$cover")
	log=build/corpus/$name.log
	old=$(grep "^| $name |" docs/FUZZING.md 2>/dev/null)
	if [ -n "$old" ] && [ -z "$lines" ]; then lines=$(echo "$old" | cut -d'|' -f4 | tr -d ' '); fi
	if run=$(grep -aE '^Done [0-9]+ runs in' "$log" 2>/dev/null) && done=$(grep -aE '^#[0-9]+.*DONE' "$log"); then
		runs=$(echo "$run" | cut -d' ' -f2)
		seconds=$(echo "$run" | cut -d' ' -f5)
		edges=$(echo "$done" | sed 's/.* cov: \([0-9]*\).*/\1/' | tail -n 1)
		cost=$(grep -a '^# highest' "$log" | sed 's/.*: \([0-9]*\) steps, \([0-9]*\) kB.*/\1, \2 kB/' | tail -n 1)
		echo "| $name | $files | ${lines:--} | $seconds | $runs | $edges | ${cost:--} | $today |"
	elif [ -n "$old" ]; then
		echo "| $name | $files | ${lines:--} |$(echo "$old" | cut -d'|' -f5-)"
	else
		echo "| $name | $files | ${lines:--} | - | - | - | - | - |"
	fi
done
