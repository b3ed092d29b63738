#!/bin/sh
# holdlock.t - readers of a process's files in /proc wait for ever (holdlock.c): pjrecord goes on, knows the programs that ran before it, and
# ends within 2 s, whether the attack or pjrecord comes first.
PJ_TOP=${PJ_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
export PJ_TOP
. "$PJ_TOP/test/tap.sh"
. "$PJ_TOP/test/hostile/lib.sh"
. "$PJ_TOP/test/record/lib.sh"

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
	pjfold -q "$1"/out/*.data | grep -q '^beside;.*;main '
}

cp "$build/test/hostile/fusehang" "$scratch/beside"
"$scratch/beside" burn >/dev/null 9>/dev/null &
attacks="$attacks $!"

start_holding
ok "mappings of the attacker cannot be read" waits_for_ever exec cmdline
pjrecord -F 499 -w 1 -d first 8>&- >/dev/null 2>first.err &
recorder=$!
until_ 10 test -e first/out
sleep $((attack_secs / 4))
ok "attack first: windows go on" until_ 10 has_windows first 2
ok "  SIGTERM ends it" ends_within 2 $recorder
ok "  a program that ran before has names" is_named first
ok "  the attacker loses detail, and is named" grep -q "user $attacker" first.err
stop_holding

pjrecord -F 499 -w 1 -d second >/dev/null 2>second.err &
recorder=$!
until_ 10 test -e second/out
start_holding
sleep $((attack_secs / 4))
ok "attack second: windows go on" until_ 10 has_windows second $(($(windows second) + 1))
ok "  SIGTERM ends it" ends_within 2 $recorder
ok "  a program that ran before has names" is_named second
stop_holding
done_testing
