# units-python-guest.sh - what units-python-guest.t runs as root inside its guest, after units-guest-lib.sh.
# shellcheck shell=sh disable=SC2086,SC2154,SC2034 # lists, and names of units-guest-lib.sh
units="pjrecord pjsend"
six=4400884004

# real_time: a thread of pjrecord has SCHED_FIFO, 1
real_time()
{
	for pid in $(processes pjrecord); do cat /proc/$pid/task/*/stat; done 2>/dev/null | sed 's/.*) //' | awk '{ n[$39]++ } END { for (policy in n) print policy, n[policy]; exit !n[1] }'
}

echo 2 >/proc/sys/kernel/perf_event_paranoid
check "user and directories" sh -c 'systemd-sysusers && systemd-tmpfiles --create pj.conf'
cd /opt/python || exit 1
(exec nice -n 15 "$(cat program)" -S -E spin.py) >/dev/null 2>&1 &
check "a Python program runs" sh -c 'sleep 3; kill -0 "$1"' - $!
kill_on_call
check "the units start" systemctl start $units
# an emulated processor that this machine gives little time needs over 30 s until the program is read
check "a thread has real-time priority" wait_for 120 real_time
check "pjrecord: six capabilities at most, its parsers none" at_most $six host pjrecord
check "  a helper process parses" wait_for 30 helper pjrecord-interp
check "  its tasks are limited" [ "$(cat /sys/fs/cgroup/system.slice/pjrecord.service/pids.max)" = 2048 ]
check "no unit was disturbed" undisturbed
for unit in $units; do check "$unit stops in time" stop_unit $unit; done
check "no unit was disturbed" undisturbed
journalctl --no-pager -b -u pjrecord -u pjsend | tail -n 40 | cut -c1-200 | sed 's/^/# /'
