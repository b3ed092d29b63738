#!/bin/sh
# Processes with many executable mappings, and storms of new ones: what the recorder pays for them is bounded, and others do not notice.
# stage: live
# full: an attack of 20 s or more beside the tools; planted.t and escapes.t are in the gate
# covers: record/processes/mappings.c record/processes/budgets.c record/processes/rescan.c
PJ_TOP=${PJ_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=test/lib/tap.sh
. "$PJ_TOP/test/lib/tap.sh"
# shellcheck source=test/hostile/lib.sh
. "$PJ_TOP/test/hostile/lib.sh"
# shellcheck source=test/hostile/beside.sh
. "$PJ_TOP/test/hostile/beside.sh"

beside_secs=$((attack_secs / 5 + 1))
record_control before

# compare NAME LABEL: the last recording with those without an attack, before and after it
compare()
{
	ok "$2: the recorder takes at most 5 % of a CPU for it" [ "$(cat "$1/permille")" -le $((control_permille + 50)) ]
	# a host with many programs and JVMs needs more tables and symbols of them
	ok "$2: and 32 MB" [ "$(cat "$1/peak")" -le $((control_kb > 16384 ? control_kb + 16384 : 32768)) ]
}

check_beside()
{
	echo "$used_permille" >"$rec/permille"
	echo "$peak_kb" >"$rec/peak"
	ok "$1: the recording is stopped within 2 s" [ "$stopped" = 0 ]
	ok "$1: no sample was lost" not grep -q 'LOST [0-9,]* samples\{0,1\}\b' "$rec/err"
	ok "$1: the victim has its samples" has_samples
	ok "$1: with their callers" has_callers
}

check_named()
{
	ok "$1: the tenant is named" grep -q "over budget: .*user $attacker " "$rec/err"
}

record_victim many maps 1 60000 0
check_beside "60,000 mappings"
check_named "60,000 mappings"
record_victim several maps $((2 + seed % 7)) $((8000 + seed % 52000)) $((seed % 5000))
check_beside "several processes"
record_victim storm maps 4 $((1000 + seed % 59000)) 1000000
check_beside "a storm"
check_named "a storm"
record_control after
compare many "60,000 mappings"
compare several "several processes"
compare storm "a storm"
done_testing
