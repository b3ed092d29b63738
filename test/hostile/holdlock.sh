# holdlock.sh - starts and stops the attack holdlock.c; source it after lib.sh.
# shellcheck shell=sh
# shellcheck disable=SC2154 # lib.sh sets arena, build, seed, attacker

[ -c /dev/fuse ] || skip_all "no /dev/fuse"
fuse=$arena/fuse
mknod -m 666 "$fuse" c 10 229 || skip_all "mknod is not allowed here"
head -c 65536 "$build/bin/pjfold" >"$arena/libjvm.so"
chmod 644 "$arena/libjvm.so"
mkfifo hold

# start_holding: the attack, until stop_holding; other programs are started with 8>&-, else it goes on
start_holding()
{
	attack_mount=$(mktemp -d "$arena/m.XXXXXX")
	chown "$attacker:$attacker" "$attack_mount"
	timeout -s KILL "${hold_secs:-$((attack_secs + 30))}" setpriv --reuid="$attacker" --regid="$attacker" --clear-groups --pdeathsig KILL \
		env PJ_SEED="$seed" "$(program holdlock)" "$fuse" "$attack_mount" "$arena/libjvm.so" 3 <hold >log 2>&1 &
	attack=$!
	attacks="$attacks $attack"
	exec 8>hold
	until_ 10 grep -q ready log || { exec 8>&-; wait "$attack"; skip_all "FUSE cannot be mounted here: $(cat log)"; }
	sleep 1
}
stop_holding()
{
	exec 8>&-
	wait "$attack" 2>/dev/null
}

# waits_for_ever FILE: reading that file of the attacker does not end
waits_for_ever()
{
	victim=$(sed -n "s/^$1 //p" log | head -1)
	timeout -s KILL 1 head -c 1 "/proc/$victim/$2" >/dev/null 2>&1
	[ $? = 137 ]
}
