#!/bin/sh
# system.sh [PID,PID...] - the whole host for five seconds through perf with libunwind, and through unwind/: the same samples. For record-system.t
# and test/bench/unwind.sh; of these processes alone, or of all. Those that call exec meanwhile are counted apart: perf 6.1 mixes up where
# a library lay before and behind it (docs/INPUTS.md, section 7). Prints "SAMPLES SAME LONGER SHORTER OTHER ROOT CUT NOCODE LOOP UNMAPPED
# LONG EXEC"; copies are of PJ_COPY bytes; leaves data, script, walked, compared, ends here. Status 1: perf cannot, as `why` says.
perf=${PJ_PERF:-perf}
walk=${PJ_BUILD:?}/test/unwind/dwarf/walk
tries=0
while :; do
	# what is lost may be a mapping, for either
	"$perf" record -a -q -N -m 32M -F 199 --call-graph dwarf,"${PJ_COPY:-24576}" -e cpu-clock -o data -- sleep 5 >why 2>&1 || exit 1
	# shellcheck disable=SC2094 # perf does not write it
	"$perf" script -i data --no-inline -F tid,time,ip >script 2>why
	grep -q '[Ll]ost' why || break
	if [ $((tries += 1)) -ge 4 ]; then exit 1; fi
done
"$walk" -e -x ${1:+-p "$1"} data >walked 2>ends || exit 1
awk -f "$(dirname "$0")/compare.awk" script walked >compared
tail -n 1 compared | tr -d , | awk '{ printf "%d %d %d %d %d ", $4, $2, $6, $8, $10 }'
awk '$1 == "root" { print $2, $4, $7, $9, $11, $13, $15 }' ends
