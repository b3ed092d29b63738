#!/bin/sh
# holdlock.t - readers of a process's files in /proc wait for ever (holdlock.c): pjrecord goes on, knows the programs that ran before it, and
# ends within 2 s, whether the attack or pjrecord comes first, and whatever is recorded; pjrecord --check and pjfold end.
# stage: live
# full: an attack of 20 s or more beside the tools; planted.t and escapes.t are in the gate
# covers: record/processes/procreader.c common/process/taskwait.c common/process/timelimit.c
PJ_TOP=${PJ_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
export PJ_TOP
. "$PJ_TOP/test/lib/tap.sh"
. "$PJ_TOP/test/hostile/lib.sh"
. "$PJ_TOP/test/lib/record.sh"

# shellcheck source=test/hostile/holdlock.sh
. "$PJ_TOP/test/hostile/holdlock.sh"

windows()
{
	find "$1/out" -name '*.data' | wc -l
}
# has_windows DIR NUMBER
has_windows()
{
	[ "$(windows "$1")" -ge "$2" ]
}
# is_named DIR: functions of the program that ran first have names in the windows
is_named()
{
	timeout -s KILL 60 pjfold -q "$1"/out/*.data >"$1.folded" && grep -q '^beside;.*;main ' "$1.folded"
}

cp "$build/test/hostile/fusehang" "$scratch/beside"
"$scratch/beside" burn >/dev/null 9>/dev/null &
attacks="$attacks $!"

start_holding
ok "mappings of the attacker cannot be read" waits_for_ever exec cmdline
{ timeout -s KILL 60 pjrecord --check >check 2>&1; echo $? >check.status; } 8>&- &
attacks="$attacks $!"
pjrecord -v -F 499 -w 1 -d first 8>&- >/dev/null 2>first.err &
recorder=$!
until_ 10 test -e first/out
sleep $((attack_secs / 4))
ok "attack first: windows go on" until_ 10 has_windows first 2
ok "  SIGTERM ends it" ends_within 2 $recorder
ok "  a program that ran before has names" is_named first
ok "  the attacker loses detail, and is named" grep -q "user $attacker" first.err
until_ 60 test -s check.status
ok "--check ends" [ "$(cat check.status)" != 137 ]
ok "  and counts processes that do not answer" grep -q 'did not respond' check
pjrecord --check 8>&- >check 2>&1 &
checker=$!
sleep 0.7
ok "  and SIGTERM ends it" ends_within 2 $checker
pjrecord -v -F 499 -o one.data -p "$victim" 8>&- >/dev/null 2>one.err &
recorder=$!
sleep 1
ok "-p PID, of the attacker: SIGTERM ends it" ends_within 2 $recorder
timeout -s KILL 30 pjrecord -v -F 499 -o command.data -- sleep 0.5 8>&- >/dev/null 2>command.err
is "-- COMMAND ends with its command" $? 0
timeout -s KILL 60 pjflame -q -s 2 -o flame.svg 8>&- >/dev/null 2>flame.err
is "pjflame draws" $? 0
pjflame -q -s 60 -o flame2.svg 8>&- >/dev/null 2>flame.err &
flame=$!
sleep 2
ok "  and SIGTERM ends it" ends_within 2 $flame
stop_holding

# at some moment of a window, or of what pjrecord reads at its start
pjrecord -v -F 499 -w 1 -d second >/dev/null 2>second.err &
recorder=$!
until_ 10 test -e second/out
delay=$((seed * 7919 % 2000)) # ms
sleep "$((delay / 1000)).$(printf %03d $((delay % 1000)))"
start_holding
sleep $((attack_secs / 4))
ok "attack second: windows go on" until_ 10 has_windows second $(($(windows second) + 1))
ok "  SIGTERM ends it" ends_within 2 $recorder
ok "  a program that ran before has names" is_named second
stop_holding
done_testing
