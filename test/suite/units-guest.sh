# units-guest.sh - what units-guest.t runs as root inside its guest, after units-guest-lib.sh.
# shellcheck shell=sh disable=SC2086,SC2154,SC2034 # lists, and names of units-guest-lib.sh
units="pjrecord pjmap pjsend"
six=4400884004 two=80004

if [ -x /opt/java/bin/java ]; then
	check "a JVM starts" /opt/java/bin/java -version
	(exec nice -n 15 /opt/java/bin/java -Xmx32m -XX:+UseSerialGC -cp /opt/work Work) >/dev/null 2>&1 &
fi
echo "# $(systemctl --version | head -n 1), Linux $(uname -r), kernel.perf_event_paranoid $(cat /proc/sys/kernel/perf_event_paranoid)"
echo 2 >/proc/sys/kernel/perf_event_paranoid
check "pj.sysusers makes the user" sh -c 'systemd-sysusers && id pj'
# before there is a directory: pjsend makes it, and waits
check "pjsend alone is started" systemctl start pjsend
check "  it waits for a recorder" sh -c 'sleep 5; systemctl is-active pjsend && systemctl show -p NRestarts pjsend | grep -q =0 && ! [ -e /var/lib/pj/out ]'
check "pj.tmpfiles makes the directories" sh -c 'systemd-tmpfiles --create pj.conf && [ "$(stat -c "%U %a" /var/lib/pj/out)" = "pj 750" ] && [ -d /etc/pj ]'
check "pj.target is enabled and started" systemctl enable --now pj.target
check "  it starts both" sh -c 'systemctl is-active pjrecord pjsend'
check "a window is recorded, folded and sent" wait_for 150 stored 0
if [ -x /opt/java/bin/java ]; then
	# An emulated processor may be too slow for the deadline of pjrecord, which reports that.
	check "  with methods of a JVM, without pjmap" wait_for 100 java_named_or_late
	check "  which a helper process reads" wait_for 30 helper pjrecord-jvm
fi
check "pjmap is enabled and started" systemctl enable --now pjmap
if [ -x /opt/java/bin/java ]; then check "  it names methods of a JVM, too" wait_for 150 java_named_or_late; fi
check "pjrecord's lines are in the journal" sh -c 'journalctl --no-pager -b -u pjrecord | grep -q " samples\{0,1\}, "'
check "pjrecord: user pj, six capabilities at most, seccomp, the host's mounts" at_most $six host pjrecord
check "pjmap: two capabilities at most, mounts of its own" at_most $two own pjmap
check "pjsend: no capability, mounts of its own" at_most 0 own pjsend
check "pjrecord: its limits are the kernel's" limits pjrecord 536870912 2048 100000
check "pjmap: its limits" limits pjmap 1073741824 2100 50000
check "pjsend: its limits" limits pjsend 536870912 64 100000
check "no unit was disturbed" undisturbed
check "pjrecord --check: this installation works" sh -c 'pjrecord --check -d /var/lib/pj'

# killed_returns UNIT: after SIGKILL the unit has another process
killed_returns()
{
	old=$(systemctl show -p MainPID --value "$1")
	kill -9 "$old"
	another() { new=$(systemctl show -p MainPID --value "$1"); [ "$new" != 0 ] && [ "$new" != "$old" ] && systemctl -q is-active "$1"; }
	wait_for 40 another "$1"
}
check "pjrecord returns after SIGKILL" killed_returns pjrecord
check "pjsend returns after SIGKILL" killed_returns pjsend
both_stopped() { systemctl stop pj.target && ! systemctl -q is-active pjrecord && ! systemctl -q is-active pjsend; }
check "pj.target stops both" both_stopped
check "  pjrecord --check names that, and the command" sh -c 'pjrecord --check -d /var/lib/pj | grep "no *recorder: .*systemctl enable --now pj.target"'
for unit in $units; do check "$unit stops in time" stop_unit $unit; done

since=$(date '+%F %T') # the units were killed before
kill_on_call
before=$(find /var/lib/pj/store -name '*.folded*' | wc -l)
check "a filter that kills: the units start" systemctl start $units
check "  windows are recorded, folded and sent" wait_for 120 stored "$before"
check "  no unit was disturbed" undisturbed
for unit in $units; do check "  $unit stops in time" stop_unit $unit; done
check "  no unit was disturbed" undisturbed
journalctl --no-pager -b -u pjrecord -u pjmap -u pjsend | tail -n 40 | cut -c1-200 | sed 's/^/# /'
