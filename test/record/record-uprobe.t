#!/bin/sh
# record-uprobe.t - pjrecord -e uprobe:FILE:FUNCTION: a program that calls a function a known number of times, by its path, by the name
# of the file in the process, below another root and after the file was replaced; what is refused, and what to do then.
#
# Run by ./check as root; a part that is not allowed is skipped with the reason.
# stage: live
# covers: record/perf/uprobes.c record/perf/elfsymbol.c record/perf/events.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
LC_ALL=C
export LC_ALL

have pjrecord || skip_all "pjrecord is not built"
have cc || skip_all "no compiler for the load"
[ "$(id -u)" = 0 ] || skip_all "uprobes need root"
[ -r /sys/bus/event_source/devices/uprobe/type ] || skip_all "this kernel has no uprobe PMU"
ok "the load compiles" cc -O1 -o calls "$top/test/record/uprobecalls.c"
pjrecord -q -a -e "uprobe:$PWD/calls:counted" -s 1 -o may.data 2>why || skip_all "a uprobe is not allowed here: $(head -n 1 why)"

# record FILE CALLS OPTION...: records the program, which makes its calls once the events are open.
record()
{
	"${program:-./calls}" "$2" &
	load=$!
	file=$1
	shift 2
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		grep -qE '/(calls|inside)( |$)' /proc/$load/maps && break
		sleep 0.1
	done
	[ -z "$replace" ] || { cp calls new && mv new calls; }
	pjrecord -p $load -o "$file" "$@" 2>err &
	recorder=$!
	# the probe is there once pjrecord has its file
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		[ -s "$file" ] && break
		sleep 0.25
	done
	sleep 0.5
	kill -USR1 $load
	wait $load
	wait $recorder
}

# calls FILE: number of samples whose innermost frame is the function
calls()
{
	pjfold -q "$1" 2>/dev/null | awk '/[; ]?counted [0-9]+$/ { sum += $NF } END { print sum + 0 }'
}

record each.data 5000 -e "uprobe:$PWD/calls:counted" -c 1
is "-c 1: each call is a sample" "$(calls each.data)" 5000
ok "  by the event's name" sh -c 'pjfold -q --only "event=uprobe:$PWD/calls:counted" each.data >only && [ -s only ]'

record offset.data 500 -e uprobe:calls:caller+0,cpu-clock -c 1
pjfold -q --only event=uprobe:calls:caller+0 offset.data | grep -c 'caller' >found
is "an offset, beside another event" "$(cat found)" 1

record thin.data 2000 -e uprobe:calls:counted -c 100 --unwind=tables
pjfold -q thin.data >folded
is "-c 100: one of 100 calls" "$(pjfold -q thin.data | awk '{ sum += $NF } END { print sum + 0 }')" 20
is "  as weight" "$(pjfold -q --weight=period thin.data | awk '{ sum += $NF } END { print sum + 0 }')" 2000
ok "  unwound by tables to the root" grep -q '_start;.*main;caller;counted ' folded

replace=1
record replaced.data 500 -e uprobe:calls:counted -c 1
replace=
if grep -q 'was replaced' err; then
	skip "a file that was replaced" "map_files cannot be read here"
else
	is "a file that was replaced: the one that runs" "$(pjfold -q replaced.data 2>/dev/null | awk '{ sum += $NF } END { print sum + 0 }')" 500
fi

if cc -O1 -static -o inside "$top/test/record/uprobecalls.c" 2>/dev/null && have chroot; then
	mkdir -p root/bin && mv inside root/bin/
	printf '#!/bin/sh\nexec chroot %s /bin/inside "$1"\n' "$PWD/root" >enter && chmod +x enter
	program=./enter record root.data 500 -e uprobe:inside:counted -c 1
	is "a file below another root" "$(pjfold -q root.data 2>/dev/null | awk '{ sum += $NF } END { print sum + 0 }')" 500
else
	skip "a file below another root" "no static libc"
fi

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
refused "a mistyped name" 2 "no function 'countd' in '$PWD/calls': did you mean counted?" -a -e "uprobe:$PWD/calls:countd"
refused "no function" 2 'use uprobe:FILE:FUNCTION' -a -e uprobe:/bin/sh
refused "a name without a process" 2 'give one, or -p PID' -a -e uprobe:libc.so.6:malloc
refused "a file that the process has not" 2 'no process of -p has a file' -p $$ -e uprobe:nothing.so:malloc
refused "no file" 2 'cannot be opened (No such file' -a -e "uprobe:$PWD/none:f"
refused "no ELF file" 2 'not an ELF file' -a -e uprobe:/etc/passwd:f
refused "memory of a process" 2 'cannot be opened' -a -e uprobe:/proc/self/environ:f
refused "an offset beyond" 2 "+4096 is beyond 'counted'" -a -e "uprobe:$PWD/calls:counted+0x1000"
refused "a name of 64 kB" 2 'less than 4096 bytes' -a -e "uprobe:$PWD/calls:$long"
refused "control characters" 2 'x1b' -a -e "uprobe:$PWD/calls:$(printf 'a\033[2J')"
refused "a command" 2 'use -p PID' -e "uprobe:$PWD/calls:counted" -- ./calls 1
if have setpriv; then
	chmod 755 . calls
	mkdir -m 777 open
	cp "$(command -v pjrecord)" record && chmod 755 record
	setpriv --reuid 65534 --regid 65534 --clear-groups ./record -q -a -s 1 -o open/x.data -e uprobe:/bin/sh:main 2>err
	setpriv --reuid 65534 --regid 65534 --clear-groups ./record -q -a -s 1 -o open/x.data -e "uprobe:$PWD/calls:counted" 2>err
	ok "without rights" grep -qE 'uprobes need CAP_PERFMON|kernel.perf_event_paranoid|cannot be opened' err
else
	skip "without rights" "no setpriv"
fi

if [ -r /sys/kernel/tracing/uprobe_events ]; then
	is "nothing is left in the kernel's list of uprobes" "$(grep -c calls /sys/kernel/tracing/uprobe_events)" 0
fi
done_testing
