#!/bin/sh
# Storms of names, namespaces and threads: windows stay as small as without them, and others keep their samples.
# stage: live
# full: an attack of 20 s or more beside the tools; planted.t and escapes.t are in the gate
# covers: record/processes/budgets.c record/processes/state.c
PJ_TOP=${PJ_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=test/lib/tap.sh
. "$PJ_TOP/test/lib/tap.sh"
# shellcheck source=test/hostile/lib.sh
. "$PJ_TOP/test/hostile/lib.sh"
# shellcheck source=test/hostile/beside.sh
. "$PJ_TOP/test/hostile/beside.sh"

beside_secs=$((attack_secs / 5 + 1))
bytes_of()
{
	cat "$1"/out/*.data | wc -c
}

record_control before

# check NAME LABEL: the last recording
check()
{
	ok "$2: the recording is stopped within 2 s" [ "$stopped" = 0 ]
	ok "$2: no sample was lost" not grep -q 'LOST [0-9,]* samples\{0,1\}\b' "$rec/err"
	ok "$2: the victim has its samples" has_samples
	ok "$2: with their callers" has_callers
	ok "$2: 4 MB more at most, in $((attack_secs / 5 + 3)) s" [ "$(bytes_of "$1")" -le $(($(bytes_of before) + 4194304)) ]
	ok "$2: 32 MB of memory at most" [ "$peak_kb" -le $((control_kb > 16384 ? control_kb + 16384 : 32768)) ]
	echo "# $2: $(bytes_of "$1") bytes, $(bytes_of before) before"
}

record_victim one renames 1
check one "one process that changes its name"
ok "the tenant is named" grep -q "over budget: .*user $attacker " "$rec/err"
one_permille=$used_permille
record_victim several renames 3
check several "names, namespaces and threads"
record_control after
ok "at most 7 % of a CPU more for changes of a name" [ "$one_permille" -le $((control_permille + 70)) ]
done_testing
