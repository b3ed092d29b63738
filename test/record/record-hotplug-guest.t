#!/bin/sh
# record-hotplug-guest.t - CPUs that go offline and return, inside a guest with two CPUs: slowly, within milliseconds, and in a suspend.
# full: boots a virtual machine
# once: an emulated machine is slow
# covers: record/perf/detached.c record/perf/sources.c record/session/session.c
PJ_TOP=${PJ_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=test/lib/tap.sh
. "$PJ_TOP/test/lib/tap.sh"
# shellcheck source=test/lib/guest.sh
. "$PJ_TOP/test/lib/guest.sh"

build=${PJ_BUILD:-$top/build/std-cc}
case $build in /*) ;; *) build=$top/$build ;; esac
[ -x "$build/bin/pjrecord" ] || skip_all "pjrecord is not built"
guest_need
guest_add "$build/bin/pjrecord" /bin/pjrecord
guest_add "$build/test/fold/perfdata/dump" /bin/dump
PJ_GUEST_CPUS=2
guest_boot 400 <<'END' >results
cpu=/sys/devices/system/cpu/cpu1/online
spin='while :; do :; done'

# windows NUMBER: waits until the recorder has completed NUMBER more windows
windows()
{
	until_=$(($(wc -l <lines) + $1))
	for _ in $(seq 120); do
		[ "$(wc -l <lines)" -lt $until_ ] || return 0
		sleep 1
	done
	return 1
}

# on_cpu1: prints "many" or the number of samples of CPU 1 in the newest window
on_cpu1()
{
	dump "$(tail -n 1 lines)" | awk '/^SAMPLE/ { for (k = 1; k < NF; k++) if ($k == "cpu" && $(k + 1) == 1) n++ } END { print (n > 20 ? "many" : n + 0) }'
}

# load: a load on CPU 1; the kernel moves loads away from a CPU that goes offline
load()
{
	taskset 2 sh -c "$spin" &
	loads="$loads $!"
}

# check NAME GOT WANT
check()
{
	if [ "$2" = "$3" ]; then echo "ok $1"; else echo "not ok $1: got $2, want $3"; fi
}

cd /tmp
[ "$(cat $cpu)" = 1 ] || { echo "skip CPU 1 cannot go offline"; exit 0; }
pjrecord -v -F 97 -w 2 -d out --keep-symbols none >lines 2>err &
recorder=$!
load
windows 1
check "samples of CPU 1" "$(on_cpu1)" many
# Debian's kernel lets no CPU be recorded at 3 without CAP_SYS_ADMIN, which pjrecord drops.
echo 3 >/proc/sys/kernel/perf_event_paranoid
echo 0 >$cpu
windows 3
check "none while it is offline" "$(on_cpu1)" 0
echo 1 >$cpu
load
windows 2
case $(uname -v) in
*Debian*) check "pjrecord reports that it may not record the CPU" "$(grep -c 'came online and is not recorded.*perf_event_paranoid=2' err)" 1 ;;
esac
echo 2 >/proc/sys/kernel/perf_event_paranoid
windows 3
check "samples again after it returned" "$(on_cpu1)" many

# offline and online again before pjrecord compares the sets of online CPUs
before=$(grep -c 'went offline and returned' err)
for _ in 1 2 3; do
	kill -STOP $recorder
	echo 0 >$cpu
	echo 1 >$cpu
	kill -CONT $recorder
	load
	windows 5
	check "samples after a short time offline" "$(on_cpu1)" many
done
check "  pjrecord reports each of them" "$(($(grep -c '1 CPU went offline and returned' err) - before))" 3

# suspend: the kernel takes CPU 1 offline while all processes are frozen
for how in processors none; do
	echo $how >/sys/power/pm_test || continue
	if [ $how = none ]; then
		# the clock wakes the machine
		[ -e /sys/class/rtc/rtc0/wakealarm ] || { echo "skip a suspend to memory: the guest has no alarm"; continue; }
		echo 0 >/sys/class/rtc/rtc0/wakealarm
		echo +5 >/sys/class/rtc/rtc0/wakealarm
	fi
	echo mem >/sys/power/state || { echo "skip suspend $how: the guest's kernel refuses it"; continue; }
	load
	windows 5
	check "samples after a suspend, pm_test $how" "$(on_cpu1)" many
done
kill -INT $recorder
wait $recorder
check "the recorder ends" $? 0
sed 's/^/# /' err | cut -c1-200 | grep -v 'samples, ' | tail -n 20
kill $loads
# the machine does not power off after the suspend
echo "guest-status 0"
sleep 1
echo b >/proc/sysrq-trigger
sleep 10
END
status=$?
is "the guest ran to its end" $status 0
[ $status = 0 ] || sed 's/^/# /' "$scratch/guest.console" | tail -n 40
while read -r line; do
	case $line in
	'ok '*) pass "${line#ok }" ;;
	'not ok '*) fail "${line#not ok }" ;;
	'skip '*) skip "${line#skip }" "this guest cannot" ;;
	*) echo "# ${line#\# }" ;;
	esac
done <results
done_testing
