#!/bin/sh
# table.sh [FILE] - the table in docs/FUZZING.md: lines that the corpora reach, out of FILE (what make cover printed; without it those in
# the table), and seconds of campaigns that count for the present sources, out of docs/fuzz-log.txt.
set -u
cover=${1:-/dev/null}
echo '| target | covers | lines | seconds |'
echo '|---|---|---|---|'
for target in test/fuzz/*/*_fuzz.c; do
	name=${target##*/}
	name=${name%_fuzz.c}
	files=$(sed -n 's:^/\* covers\: \(.*\) \*/$:\1:p' "$target" | paste -sd' ' -)
	lines=$(awk -v name="$name" '$1 == name { last = $NF } END { print last }' "$cover")
	[ -n "$lines" ] || lines=$(awk -F' *[|] *' -v name="$name" '$2 == name { print $4 }' docs/FUZZING.md)
	echo "| $name | $files | ${lines:--} | $(sh test/fuzz/campaign.sh --seconds "$name") |"
done | LC_ALL=C sort
