#!/bin/sh
# holdlock.t - readers of a process's files in /proc wait for ever (holdlock.c): pjrecord goes on, knows the programs that ran before it, and
# ends within 2 s, whether the attack or pjrecord comes first.
PJ_TOP=${PJ_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
export PJ_TOP
. "$PJ_TOP/test/tap.sh"
. "$PJ_TOP/test/hostile/lib.sh"
. "$PJ_TOP/test/record/lib.sh"

[ -c /dev/fuse ] || skip_all "no /dev/fuse"
fuse=$arena/fuse
mknod -m 666 "$fuse" c 10 229 || skip_all "mknod is not allowed here"
head -c 65536 "$build/bin/pjfold" >"$arena/libjvm.so"
chmod 644 "$arena/libjvm.so"
mkfifo hold

# start_holding: the attack, until stop_holding
start_holding()
{
	attack_mount=$(mktemp -d "$arena/m.XXXXXX")
	chown "$attacker:$attacker" "$attack_mount"
	timeout -s KILL $((attack_secs + 30)) setpriv --reuid=$attacker --regid=$attacker --clear-groups --pdeathsig KILL \
		env PJ_SEED="$seed" "$(program holdlock)" "$fuse" "$attack_mount" "$arena/libjvm.so" 3 <hold >log 2>&1 &
	attack=$!
	attacks="$attacks $attack"
	exec 8>hold
	until_ 10 grep -q ready log || { exec 8>&-; wait $attack; skip_all "FUSE cannot be mounted here: $(cat log)"; }
	sleep 1
}
stop_holding()
{
	exec 8>&-
	wait $attack 2>/dev/null
}

# waits_for_ever FILE: reading that file of the attacker does not end
waits_for_ever()
{
	victim=$(sed -n "s/^$1 //p" log | head -1)
	timeout -s KILL 1 head -c 1 "/proc/$victim/$2" >/dev/null 2>&1
	[ $? = 137 ]
}
windows()
{
	find "$1/out" -name '*.data' | wc -l
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
ok "attack first: windows go on" [ "$(windows first)" -ge 2 ]
ok "  SIGTERM ends it" ends_within 2 $recorder
ok "  a program that ran before has names" is_named first
ok "  the attacker loses detail, and is named" grep -q "user $attacker" first.err
stop_holding

pjrecord -F 499 -w 1 -d second >/dev/null 2>second.err &
recorder=$!
until_ 10 test -e second/out
start_holding
sleep $((attack_secs / 4))
before=$(windows second)
sleep 2
ok "attack second: windows go on" [ "$(windows second)" -gt "$before" ]
ok "  SIGTERM ends it" ends_within 2 $recorder
ok "  a program that ran before has names" is_named second
stop_holding
done_testing
