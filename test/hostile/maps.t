#!/bin/sh
# Processes with many executable mappings, and storms of new ones: what the recorder pays for them is bounded, and others do not notice.
PJ_TOP=${PJ_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=test/tap.sh
. "$PJ_TOP/test/tap.sh"
# shellcheck source=test/hostile/lib.sh
. "$PJ_TOP/test/hostile/lib.sh"
# shellcheck source=test/hostile/beside.sh
. "$PJ_TOP/test/hostile/beside.sh"

beside_secs=$((attack_secs / 4 + 1))
record_victim alone
idle=$used_permille
idle_kb=$peak_kb # of this host, with whatever JVMs there are

check_beside()
{
	ok "$1: the recording is stopped within 2 s" [ "$stopped" = 0 ]
	ok "$1: no sample was lost" not grep -q 'LOST [0-9,]* samples\{0,1\}\b' "$rec/err"
	ok "$1: the victim has its samples" has_samples
	ok "$1: with their callers" [ "$named" -ge $((samples * 98 / 100 - 8)) ] # some are of the time before main
	# the aim is 5 % and 32 MB; a storm of 100,000 mappings a second costs 0.6 us each to read, and up to 15 % were seen
	ok "$1: the recorder takes at most 20 % of a CPU for it" [ "$used_permille" -le $((idle + 200)) ]
	ok "$1: and 48 MB" [ "$peak_kb" -le $((idle_kb > 16384 ? idle_kb + 32768 : 49152)) ]
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
done_testing
