# units-guest.sh - what units-guest.t runs as root inside its guest: "ok NAME" or "not ok NAME" for each check, "# " for all else.
# shellcheck shell=sh disable=SC2086 # lists
export SYSTEMD_COLORS=0 SYSTEMD_URLIFY=0 SYSTEMD_PAGER=
units="pjrecord pjmap pjsend"
five=4400084004 two=80004
host_mounts=$(readlink /proc/1/ns/mnt)

check()
{
	title=$1
	shift
	if "$@" >/tmp/check 2>&1; then
		echo "ok $title"
	else
		echo "not ok $title"
		tail -n 30 /tmp/check | sed 's/^/# /'
	fi
}

# wait_for SECONDS COMMAND...
wait_for()
{
	until_s=$(($(cut -d. -f1 /proc/uptime) + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ "$(cut -d. -f1 /proc/uptime)" -lt $until_s ] || return 1
		sleep 1
	done
}

stored() { [ "$(find /var/lib/pj/store -name '*.folded*' | wc -l)" -gt "$1" ]; }
processes() { cat "/sys/fs/cgroup/system.slice/$1.service/cgroup.procs"; }

# rights UNIT: of each of its processes NAME UID CAPABILITIES NO_NEW_PRIVS SECCOMP MOUNTS
rights()
{
	for pid in $(processes "$1"); do
		awk -v mounts="$([ "$(readlink /proc/$pid/ns/mnt)" = "$host_mounts" ] && echo host || echo own)" \
			'{ v[$1] = $2 } END { print v["Name:"], v["Uid:"], v["CapPrm:"], v["NoNewPrivs:"], v["Seccomp:"], mounts }' "/proc/$pid/status" 2>/dev/null
	done
}

# at_most CAPABILITIES MOUNTS UNIT: no process of the unit has others; all are user pj's, and without a way back
at_most()
{
	rights "$3" >/tmp/rights
	cat /tmp/rights
	[ -s /tmp/rights ] || return 1
	while read -r name uid caps no_new seccomp mounts; do
		[ "$uid" = "$(id -u pj)" ] && [ "$no_new" = 1 ] && [ "$seccomp" = 2 ] && [ "$mounts" = "$2" ] || return 1
		[ $((0x$caps & ~0x$1)) = 0 ] || return 1
		case $name in pjrecord-table | pjrecord-jvm | pjrecord-symbol | pjfold) [ $((0x$caps)) = 0 ] || return 1 ;; esac
	done </tmp/rights
}

# helper NAME: a process of that name is there
helper() { rights pjrecord | grep -q "^$1 "; }

# limits UNIT MEMORY TASKS CPU: as the kernel has them
limits()
{
	group=/sys/fs/cgroup/system.slice/$1.service
	cat "$group/memory.max" "$group/pids.max" "$group/cpu.max" "/proc/$(processes "$1" | head -n 1)/limits"
	systemctl show -p OOMPolicy "$1"
	[ "$(cat "$group/memory.max")" = "$2" ] && [ "$(cat "$group/pids.max")" = "$3" ] && [ "$(cut -d' ' -f1 "$group/cpu.max")" = "$4" ] &&
		grep -q '^Max core file size *0 ' "/proc/$(processes "$1" | head -n 1)/limits" && systemctl show -p OOMPolicy "$1" | grep -q '=continue'
}

# undisturbed: no unit failed or was started again, no process was killed by a filter
undisturbed()
{
	journalctl --no-pager -b ${since:+--since "$since"} | grep -E 'type=1326|SIGSYS|status=31|Failed with result' && return 1
	for unit in $units; do
		systemctl show -p NRestarts -p Result -p ActiveState $unit | tee /tmp/state
		grep -q '^NRestarts=0' /tmp/state && grep -q '^Result=success' /tmp/state || return 1
	done
	[ -z "$(systemctl list-units --failed --no-legend --plain)" ]
}

# java_named: the store has the name of a compiled method
java_named()
{
	pjfetch -q --store=dir:/var/lib/pj/store --from=-1h | grep 'Work\.add'
}

java_named_or_late()
{
	java_named || journalctl --no-pager -b -u pjrecord | grep -E 'reading its memory takes too long|more time than one tenant may use'
}

stop_unit()
{
	systemctl stop "$1"
	systemctl show -p Result -p ActiveState "$1" | tee /tmp/state
	grep -q '^Result=success' /tmp/state && grep -q '^ActiveState=inactive' /tmp/state
}

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
check "pjrecord: user pj, five capabilities at most, seccomp, the host's mounts" at_most $five host pjrecord
check "pjmap: two capabilities at most, mounts of its own" at_most $two own pjmap
check "pjsend: no capability, mounts of its own" at_most 0 own pjsend
check "pjrecord: its limits are the kernel's" limits pjrecord 536870912 256 100000
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
# From now on a call outside of the list ends the process.
for unit in $units; do
	mkdir -p "/run/systemd/system/$unit.service.d"
	printf '[Service]\nSystemCallErrorNumber=\n' >"/run/systemd/system/$unit.service.d/kill.conf"
done
printf 'ExecStart=\n%s\n' "$(grep '^ExecStart=' /etc/systemd/system/pjrecord.service | sed 's/--window=30/--window=8/')" >>/run/systemd/system/pjrecord.service.d/kill.conf
systemctl daemon-reload
before=$(find /var/lib/pj/store -name '*.folded*' | wc -l)
check "a filter that kills: the units start" systemctl start $units
check "  windows are recorded, folded and sent" wait_for 120 stored "$before"
check "  no unit was disturbed" undisturbed
for unit in $units; do check "  $unit stops in time" stop_unit $unit; done
check "  no unit was disturbed" undisturbed
journalctl --no-pager -b -u pjrecord -u pjmap -u pjsend | tail -n 40 | cut -c1-200 | sed 's/^/# /'
