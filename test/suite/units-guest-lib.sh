# units-guest-lib.sh - checks of units that the scripts of units-guest.t and units-python-guest.t share. They run as root inside a guest and print
# "ok NAME" or "not ok NAME" for each check, "# " for all else.
# shellcheck shell=sh disable=SC2086,SC2154 # lists; $units is of the script
export SYSTEMD_COLORS=0 SYSTEMD_URLIFY=0 SYSTEMD_PAGER=
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
		case $name in pjrecord-table | pjrecord-jvm | pjrecord-symbol | pjrecord-interp | pjfold) [ $((0x$caps)) = 0 ] || return 1 ;; esac
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

# From now on a call outside of the list ends the process, and windows are short.
kill_on_call()
{
	for unit in $units; do
		mkdir -p "/run/systemd/system/$unit.service.d"
		printf '[Service]\nSystemCallErrorNumber=\n' >"/run/systemd/system/$unit.service.d/kill.conf"
	done
	printf 'ExecStart=\n%s\n' "$(grep '^ExecStart=' /etc/systemd/system/pjrecord.service | sed 's/--window=30/--window=8/')" >>/run/systemd/system/pjrecord.service.d/kill.conf
	systemctl daemon-reload
}
