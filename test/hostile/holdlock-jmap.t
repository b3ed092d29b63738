#!/bin/sh
# holdlock-jmap.t - readers of a process's files in /proc wait for ever (holdlock.c): pjmap follows genuine JVMs all the time, also one that
# starts later, names no frame less, and ends within 2 s; --list ends.
# stage: live
# full: an attack of 20 s or more beside the tools; planted.t and escapes.t are in the gate
# covers: jmap/follow.c jmap/listing.c common/process/taskwait.c
PJ_TOP=${PJ_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
export PJ_TOP
# shellcheck source=test/lib/tap.sh
. "$PJ_TOP/test/lib/tap.sh"
# shellcheck source=test/hostile/lib.sh
. "$PJ_TOP/test/hostile/lib.sh"
# shellcheck source=test/hostile/java.sh
. "$PJ_TOP/test/hostile/java.sh"
# shellcheck source=test/lib/record.sh
. "$PJ_TOP/test/lib/record.sh"
# shellcheck source=test/hostile/holdlock.sh
. "$PJ_TOP/test/hostile/holdlock.sh"

begin_java
first=$genuine
mkdir maps.d to
hold_secs=$((attack_secs + 90)) # longer than what is waited for below
start_holding
ok "mappings of the attacker cannot be read" waits_for_ever exec cmdline
pjmap -i 0.5 -d maps.d --to to 8>&- 2>err &
map=$!
started="$started $map"
ok "a JVM is followed that ran before" until_true has_records "$first"
begin_java
ok "  and one that starts later" until_true has_records "$genuine"
stop_holding
start_holding
secs=$(((attack_secs + 3) / 4))
seen=$(scans "$first" $secs)
ok "the attack starts again: the JVM is looked at all the time: $seen times in $secs s" [ "$seen" -ge $secs ] # every 0.5 s at rest
ok "SIGTERM ends pjmap within 2 s" ends_within 2 "$map"
timeout -s KILL 60 pjmap --list >list 2>list.err
is "--list ends" $? 0
ok "  and lists the genuine JVM" grep -qE "^$first .* ok " list
ok "  and counts processes that do not answer" grep -q 'do not respond' list.err
for how in --once "-i 0.5"; do
	# shellcheck disable=SC2086 # two words
	pjmap $how -d one.d --to to "$victim" 8>&- >/dev/null 2>one.err &
	map=$!
	started="$started $map"
	sleep 1
	ok "pjmap $how PID, of the attacker: SIGTERM ends it within 2 s" ends_within 2 "$map"
done
stop_holding
done_testing
