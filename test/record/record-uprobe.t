#!/bin/sh
# record-uprobe.t - pjrecord -e uprobe:FILE:FUNCTION: a program that calls a function a known number of times, by its path, by the name
# of the file in the process, below another root and after the file was replaced; the breakpoint is gone afterwards, also after kill -9;
# what is refused, and what to do then.
#
# Run by ./check as root; a part that is not allowed is skipped with the reason.
# stage: live
# covers: record/probes/uprobes.c record/probes/namedmapping.c record/probes/elfsymbol.c record/perf/events.c
# covers: record/session/lostshare.c record/recordreport.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
LC_ALL=C
export LC_ALL

have pjrecord || skip_all "pjrecord is not built"
have cc || skip_all "no compiler for the load"
have taskset || skip_all "no taskset"
[ "$(id -u)" = 0 ] || skip_all "uprobes need root"
[ -r /sys/bus/event_source/devices/uprobe/type ] || skip_all "this kernel has no uprobe PMU"
cc -O1 -o calls "$top/test/record/uprobecalls.c" 2>why || {
	fail "the load compiles" why
	done_testing
}
if pjrecord -q -a -e "uprobe:$PWD/calls:counted" -s 1 -o may.data 2>why; then
	pass "a uprobe of a path is recorded"
elif grep -qE 'need CAP_SYS_ADMIN|no uprobe PMU' why; then
	skip_all "a uprobe is not allowed here: $(head -n 1 why)"
else
	fail "a uprobe of a path is recorded" why
	done_testing
fi

load='' recorder='' cpu='' first='' sleeper=''
trap 'kill -9 $load $recorder $first $sleeper 2>/dev/null; [ -z "$cpu" ] || echo 1 >"$cpu"; rm -rf "$scratch"' EXIT

# soon COMMAND...: repeats it until it succeeds, for 20 s
soon()
{
	for _ in $(seq 200); do
		"$@" >/dev/null 2>&1 && return
		sleep 0.1
	done
	return 1
}

# begin CALLS: starts the program, which waits for a signal; its CPU is one, so that -c N leaves no remainder on others
begin()
{
	: >address
	taskset -c 0 "${program:-./calls}" "$1" >address &
	load=$!
	soon grep -q . address
}

# record FILE CALLS OPTION...: records the program. pjrecord starts the command that sends the signal once the events count;
# it ends when the program has ended. If it ends early, the program still waits and is killed.
record()
{
	begin "$2"
	file=$1
	shift 2
	[ -z "$replace" ] || { cp calls new && mv new calls; }
	pjrecord -p $load -o "$file" "$@" -- sh -c 'kill -USR1 "$0"; exec sleep 20' $load 2>err &
	recorder=$!
	wait $recorder || grep -q 'was replaced' err || fail "pjrecord -o $file: its status" err
	kill -9 $load 2>/dev/null
	wait $load 2>/dev/null
	load='' recorder=''
}

# samples FILE [OPTION...]: sum of the weights
samples()
{
	pjfold -q "$@" 2>/dev/null | awk '{ sum += $NF } END { print sum + 0 }'
}

# calls FILE: number of samples whose innermost frame is the function
calls()
{
	pjfold -q "$1" 2>/dev/null | awk '/[; ]?counted [0-9]+$/ { sum += $NF } END { print sum + 0 }'
}

record each.data 5000 -e "uprobe:$PWD/calls:counted" -c 1
is "-c 1: each call is a sample" "$(calls each.data)" 5000
ok "  by the event's name" sh -c 'pjfold -q --only "event=uprobe:$PWD/calls:counted" each.data >only && [ -s only ]'

record both.data 500 -e uprobe:calls:caller:u,cpu-clock
is "with a modifier, beside another event" "$(samples both.data --only event=uprobe:calls:caller:u)" 500

record thin.data 2000 -e uprobe:calls:counted -c 100 --unwind=tables
is "-c 100: one of 100 calls" "$(samples thin.data)" 20
is "  with a weight that adds up to all" "$(samples thin.data --weight=period)" 2000
ok "  unwound by tables to the root" sh -c 'pjfold -q thin.data | grep -q "_start;.*main;caller;counted "'

# A second process calls the function on the same CPU, and fills the rings with samples that are not those of -p.
taskset -c 0 ./calls 100000000 >first.out &
first=$!
soon grep -q . first.out
kill -USR1 $first
record crowded.data 500 -e uprobe:calls:counted -c 1 --unwind=tables -m 32K
# a process without samples has lost none
sleep 20 &
idle=$!
pjrecord -p $idle -o idle.data -s 1 --max-lost 50 -e "uprobe:$PWD/calls:counted" -c 1 --unwind=tables -m 32K 2>idle.err
idle_status=$?
kill $idle
wait $idle 2>/dev/null
kill -9 $first
wait $first 2>/dev/null
first=''
lost=$(pjfold --info crowded.data | awk '/^lost/ { gsub(",", "", $2); print $2 }')
all=$(sed -n 's/.*: how many of \([0-9,]*\) lost samples belong to -p is unknown.*/\1/p' err | tr -d ,)
ok "lost samples of other processes are not counted (${lost:-?} of ${all:-?})" test "${all:-0}" -gt "${lost:-100000000}"
is "  a process that does not run has lost none: status" "$idle_status" 0
ok "    and sentence" not grep -q 'of samples lost' idle.err
ok "  and the number is called an estimate" grep -q 'other processes filled the rings, too; [0-9,]* is an estimate' err

replace=1
record replaced.data 500 -e uprobe:calls:counted -c 1
replace=
if grep -q 'was replaced' err; then
	skip "a file that was replaced" "map_files cannot be read here"
else
	is "a file that was replaced: the one that runs" "$(samples replaced.data)" 500
fi

if cc -O1 -static -o inside "$top/test/record/uprobecalls.c" 2>/dev/null && have chroot; then
	mkdir -p root/bin && mv inside root/bin/
	printf '#!/bin/sh\nexec chroot %s /bin/inside "$1"\n' "$PWD/root" >enter && chmod +x enter
	program=./enter record root.data 500 -e uprobe:inside:counted -c 1
	is "a file below another root" "$(samples root.data)" 500
else
	skip "a file below another root" "no static libc"
fi

# ---- what is left

# code: the first bytes of the function in the memory of the load, where the kernel writes its breakpoint
code()
{
	dd if=/proc/$load/mem bs=1 count=4 skip="$(cat address)" 2>/dev/null | od -An -tx1
}

begin 0
before=$(code)
for signal in INT KILL; do
	pjrecord -q -p $load -o left.data -e uprobe:calls:counted 2>err &
	recorder=$!
	ok "the code has a breakpoint while pjrecord runs" soon sh -c '[ -e left.data.part ]'
	is "  in the first bytes of the function" "$([ "$(code)" != "$before" ] && echo yes)" yes
	kill -$signal $recorder
	wait $recorder 2>/dev/null
	is "the code is as before after SIG$signal" "$(code)" "$before"
	rm -f left.data*
done

mkdir other && cp calls other/calls
first=$load
program=other/calls begin 0
refused_pids=$first,$load
sleep 60 &
sleeper=$!
pjrecord -q -s 1 -p "$first,$sleeper" -o two.data -e uprobe:calls:counted 2>err
is "a process of two has not mapped the file: status" $? 0
ok "  it is named" grep -q "process $sleeper has not mapped the file of 'uprobe:calls:counted'" err
pjrecord -q -s 1 -p "$refused_pids" -o two.data -e uprobe:calls:counted 2>err
is "two processes have different files: status" $? 2
ok "  and the remedy" grep -q "different files 'calls' mapped: record each with its own -p" err
kill "$first" "$load" "$sleeper"
wait "$first" "$load" "$sleeper" 2>/dev/null
first='' load='' sleeper=''

# ---- what is refused

# refused LABEL STATUS TEXT OPTION...
refused()
{
	label=$1 want=$2 text=$3
	shift 3
	pjrecord -q -s 1 -o refused.data "$@" 2>err >out
	is "$label: status" $? "$want"
	ok "  and the remedy" grep -q -- "$text" err
}
long=$(head -c 65536 /dev/zero | tr '\0' x)
for spec in uprobe uprobe: uprobe:: uprobe:x uprobe:/bin/sh uprobe:/bin/sh: uprobe::f; do
	refused "'$spec'" 2 'use uprobe:FILE:FUNCTION' -a -e "$spec"
done
refused "a mistyped name" 2 "no function 'countd' in '$PWD/calls': did you mean counted?" -a -e "uprobe:$PWD/calls:countd"
refused "kernel code only" 2 'a uprobe is in user space' -a -e "uprobe:$PWD/calls:counted:k"
refused "a name without a process" 2 'give one, or -p PID' -a -e uprobe:libc.so.6:malloc
refused "a file that the process has not" 2 'no process of -p has a file' -p $$ -e uprobe:nothing.so:malloc
refused "no file" 2 'cannot be opened (No such file' -a -e "uprobe:$PWD/none:f"
refused "no ELF file" 2 'not an ELF file' -a -e uprobe:/etc/passwd:f
refused "memory of a process" 2 'cannot be opened' -a -e uprobe:/proc/self/environ:f
refused "an offset" 2 "no function 'counted+4'" -a -e "uprobe:$PWD/calls:counted+4"
refused "a name of 64 kB" 2 'less than 4096 bytes' -a -e "uprobe:$PWD/calls:$long"
refused "control characters" 2 'x1b' -a -e "uprobe:$PWD/calls:$(printf 'a\033[2J')"
refused "a command" 2 'use -p PID' -e "uprobe:$PWD/calls:counted" -- ./calls 1

# denied LABEL TEXT OPTION...: pjrecord with other rights, by options of setpriv. In a container the remedy is its option.
container='start the container with --cap-add=SYS_ADMIN'
libc=$(sed -n 's|.* \(/[^ ]*libc[.]so[.]6\)$|\1|p' /proc/self/maps | head -n 1)
mkdir -m 777 open
cp "$(command -v pjrecord)" open/record && chmod 755 . open/record
denied()
{
	label=$1 text=$2
	shift 2
	if ! have setpriv || [ -z "$libc" ]; then
		skip "$label" "no setpriv, or no glibc"
	elif ! setpriv "$@" test -x open/record; then
		skip "$label" "this folder is closed to others"
	elif setpriv "$@" open/record -q -a -s 1 -o open/x.data -e "uprobe:$libc:malloc" 2>err; then
		if [ "$label" = "with CAP_PERFMON alone" ]; then
			skip "$label" "this kernel accepts CAP_PERFMON"
		else
			fail "$label"
		fi
	else
		ok "$label" grep -qE "uprobes need CAP_SYS_ADMIN: ($text|$container)" err
	fi
}
denied "without rights" 'run it as root|add CAP_SYS_ADMIN to' --reuid 65534 --regid 65534 --clear-groups
denied "with CAP_PERFMON alone" 'root has lost CAP_SYS_ADMIN here' --bounding-set=-sys_admin

# ---- a CPU that comes online

online=/sys/devices/system/cpu/cpu1/online
if [ -z "${PJ_SYSCTL:-}" ]; then
	skip "a CPU that comes online" "it changes the system: PJ_SYSCTL=1"
elif ! [ -w $online ]; then
	skip "a CPU that comes online" "CPU 1 cannot be switched off here"
else
	cpu=$online
	begin 0
	echo 0 >$online
	pjrecord -p $load -o online.data -e uprobe:calls:counted,cpu-clock 2>err &
	recorder=$!
	soon [ -e online.data.part ]
	echo 1 >$online
	ok "a CPU that comes online: what is not counted there is named" soon grep -q 'a CPU came online, on which uprobes are not counted' err
	kill -INT $recorder
	wait $recorder
	is "  and the recording is complete" $? 0
fi
done_testing
