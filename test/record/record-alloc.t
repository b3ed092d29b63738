#!/bin/sh
# record-alloc.t - pjrecord -e java:alloc and pjflame -e alloc: a Java program that allocates objects of two classes in a known proportion;
# classes, bytes and samples are those of JFR's events of the same run; what is refused, and what to do then.
#
# Every JDK below /usr/lib/jvm, those in PJ_JDKS, and as root those in the root file systems of PJ_ROOTFS, which are containers for this.
# stage: live
# covers: record/probes/libjvms.c record/probes/mappedfile.c record/probes/probehelper.c record/perf/allocevents.c record/perf/events.c record/java/allocations.c flame/pjflame.sh
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
LC_ALL=C
HOME=$scratch
export LC_ALL HOME

[ "$(uname -m)" = x86_64 ] || skip_all "x86-64 only"
{ have pjrecord && have pjfold; } || skip_all "pjrecord or pjfold is not built"
[ "$(id -u)" = 0 ] || skip_all "uprobes need root"
[ -r /sys/bus/event_source/devices/uprobe/type ] || skip_all "this kernel has no uprobe PMU"
# shellcheck source=test/lib/jvm.sh
. "$top/test/lib/jvm.sh"
need_jdk "$top/test/lib/loads/Allocating.java"
# shellcheck source=test/lib/busy.sh
. "$top/test/lib/busy.sh"
cat >alloc.jfc <<'END'
<?xml version="1.0" encoding="UTF-8"?>
<configuration version="2.0">
  <event name="jdk.ObjectAllocationInNewTLAB"><setting name="enabled">true</setting></event>
  <event name="jdk.ObjectAllocationOutsideTLAB"><setting name="enabled">true</setting></event>
</configuration>
END

# begin DIR OPTION...: starts the program, which waits for the file DIR/go
begin()
{
	dir=$1
	shift
	rm -f "$dir/go" "$dir/stop"
	at=$PWD/$dir
	[ -z "$root" ] || at=/mnt/$dir
	start_java -XX:TLABSize=64k -XX:-ResizeTLAB "$@" Allocating "$at/go" "$at/stop"
	until_true sh -c "grep -qs 'libjvm[.]so' /proc/$pid/maps && [ \$(ls /proc/$pid/task | wc -l) -gt 8 ]"
}

# finish: the program ends by itself, also if nothing was recorded
finish()
{
	: >"$dir/go"
	: >"$dir/stop"
	wait "$pid"
	pid=
}

# record PIDS DIR...: into data, while the programs that wait in these folders allocate; the window ends 0.5 s later, so that it has all
record()
{
	pids=$1
	shift
	rm -f data
	# shellcheck disable=SC2016 # the inner shell's
	timeout 120 pjrecord -q -o data -p "$pids" -e java:alloc -- sh -c 'for dir; do : >"$dir/go"; done
		for dir; do while [ -e "$dir/go" ]; do sleep 0.1; done; done
		sleep 0.5' - "$@" 2>err
	status=$?
}

# by_class [OPTION...]: lines "CLASS WEIGHT" of the thread that allocates
by_class()
{
	pjfold -q --root=thread "$@" data 2>/dev/null | awk '/^allocating;/ { weight = $NF; sub(/ [0-9]+$/, ""); n = split($0, frame, ";")
		sub(/ \(allocated\)$/, "", frame[n]); sum[frame[n]] += weight }
		END { for (class in sum) print class, sum[class] }' | sort
}

# by_jfr: lines "CLASS BYTES EVENTS" of the same thread, by JFR's events. jfr prints some events twice.
by_jfr()
{
	"$jfr" print --json --stack-depth 1 --events jdk.ObjectAllocationInNewTLAB,jdk.ObjectAllocationOutsideTLAB "$1" 2>jfr.err | awk '
		function value(line) { sub(/^[^:]*: */, "", line); sub(/,? *$/, "", line); gsub(/["\\]/, "", line); return line }
		function take() { if (thread == "allocating" && !((start, class) in seen)) { seen[start, class]; sum[class] += tlab ? tlab : size; events[class]++ } }
		{ match($0, /^ */); indent = RLENGTH }
		/"startTime":/ { take(); start = value($0); tlab = size = 0; thread = class = "" }
		/"javaName":/ { thread = value($0) }
		/"objectClass":/ { within = indent }
		/"name":/ && within && indent == within + 2 { class = value($0); within = 0 }
		/"allocationSize":/ { size = value($0) }
		/"tlabSize":/ { tlab = value($0) }
		END {
			take()
			name["[B"] = "byte[]"; name["[J"] = "long[]"
			for (class in sum) print (class in name) ? name[class] : class, sum[class], events[class]
		}' | sort
}

# judge NAME PROGRAMS: what the recording has is what so many programs did
judge()
{
	is "$1: status" "$status" 0
	ok "  unit and event" sh -c 'pjfold -q --header data | head -n 1 | grep -q " unit=bytes event=alloc-bytes "'
	by_class >classes
	ok "  3 of 4 bytes of small objects are in byte[], and 30 long[] of each program outside of TLABs" awk -v n="$2" '{ of[$1] = $2 } END {
		share = of["byte[]"] / (of["byte[]"] + of["java/lang/String"]); large = 1048592; print share, of["long[]"] / large
		exit !(share > .65 && share < .85 && of["long[]"] >= 30 * n * large && of["long[]"] < (30 * n + 1) * large) }' classes
	pjfold -q --root=thread data 2>/dev/null | grep '^allocating;' >stacks
	ok "  each class is that of its method" awk '/;Allocating[.](bytes|string|large)_/ { all++
		if (/;Allocating[.]bytes_.*;byte\[\] \(allocated\) / || /;Allocating[.]string_.*;java\/lang\/String \(allocated\) / || /;Allocating[.]large_.*;long\[\] \(allocated\) /) at++ }
		END { print at, all; exit !(all >= 3 && at == all) }' stacks
	pjfold -q --root=thread --stacks data >quality 2>&1
	# some are unwound before the tables of libjvm.so are read: on a busy host more of them
	ok "  most stacks are complete" awk '$NF == "allocating" { n += $1; at += $1 * $2 } END { print n, at / n; exit !(n > 200 && at / n > 50) }' quality
}

# compare: with the events in rec.jfr
compare()
{
	jfr=$jdk/bin/jfr
	[ -z "$root" ] || jfr=${jdks##* }/bin/jfr
	by_jfr rec.jfr | grep -E '^(byte\[\]|long\[\]|java/lang/String) ' >jfr.all
	by_class --weight=samples >samples
	join classes samples | grep -E '^(byte\[\]|long\[\]|java/lang/String) ' >own.all
	if [ ! -s jfr.all ]; then
		skip "  bytes and samples of each class are those of JFR's events" "jfr prints none: $(head -n 1 jfr.err)"
	elif pjfold --info data 2>/dev/null | grep -q '^lost *0,'; then
		ok "  bytes and samples of each class are those of JFR's events" diff jfr.all own.all
	else
		# a busy host: each class has nearly as many samples, and no more bytes
		join jfr.all own.all >both
		ok "  bytes and samples of each class are those of JFR's events, but for lost samples" awk '
			$4 > $2 || $5 > $3 || $5 < .8 * $3 { bad = 1; print } END { exit bad || NR != 3 }' both
	fi
}

# one: records $jdk in $root alone
one()
{
	what=${jdk##*/} at=$PWD
	[ -z "$root" ] || at=/mnt
	begin . -XX:StartFlightRecording:filename="$at/rec.jfr,settings=$at/alloc.jfc,dumponexit=true"
	record "$pid" .
	if grep -q 'uprobes need' err; then
		skip_all "a uprobe is not allowed here: $(head -n 1 err)"
	elif grep -q 'has no symbol of AllocTracer' err; then
		is "$what: stripped: status" "$status" 125
		stop
		return
	fi
	finish
	judge "$what" 1
	compare
}

find_rooted
for place in $jdks $rooted; do
	jdk=${place#*:} root=
	[ "$place" = "$jdk" ] || root=${place%%:*}
	one
done

# ---- several JVMs with files of their own

# copy_jdk DIR COMMAND...: the JDK of this host in DIR, in which COMMAND FROM TO makes libjvm.so
copy_jdk()
{
	cp -as "$jdk/." "$1"
	for file in bin/java lib/libjli.so lib/jvm.cfg; do
		rm "$1/$file"
		cp "$jdk/$file" "$1/$file"
	done
	rm "$1/lib/server/libjvm.so"
	"$2" "$jdk/lib/server/libjvm.so" "$1/lib/server/libjvm.so"
}

# strip_to FROM TO
strip_to()
{
	strip -o "$2" "$1"
}

# clean_up: of busy.sh, and the mounted JDK
clean_up()
{
	[ -z "$pid" ] || kill -9 "$pid" 2>/dev/null
	wait
	umount -l "$scratch/merged" 2>/dev/null
}

jdk=${jdks##* } root=
mkdir one two three merged empty
copy_jdk copy cp
lower=$jdk
begin one
first=$pid
started=$first
if mount -t overlay overlay -o "lowerdir=$lower:$PWD/empty" merged 2>why; then
	# as containers of one image have it: another device, but the same file below, which is probed twice
	jdk=$PWD/merged begin three
	started="$started $pid"
	pids=$first,$pid programs=3 dirs='one two three'
else
	skip "JVMs that share a file by an overlay" "it cannot be mounted: $(head -n 1 why)"
	pids=$first programs=2 dirs='one two'
fi
jdk=$PWD/copy begin two
# shellcheck disable=SC2086 # a list
record "$pids,$pid" $dirs
judge "$programs JVMs: two files, one of them also by an overlay" $programs
is "  two events of each file" "$(pjfold --info data 2>/dev/null | grep -c '^event *alloc-bytes')" $((2 * programs))
finish

# forge_to FROM TO: with a breakpoint as first byte of both functions, which the kernel refuses to probe
forge_to()
{
	cp "$1" "$2"
	nm "$2" | awk '/ _ZN11AllocTracer[0-9]*send_allocation_(in|outside)/ { print $1 }' >addresses
	while read -r at; do
		readelf -lW "$2" | awk '$1 == "LOAD" && / R E / { print $2, $3 }' | while read -r from address; do
			printf '\314' | dd of="$2" bs=1 seek=$((0x$at - address + from)) conv=notrunc 2>/dev/null
		done
	done <addresses
}

if have strip && have nm && have readelf; then
	mkdir forged
	forge_to "$lower/lib/server/libjvm.so" forged/libjvm.so
	LD_PRELOAD=$PWD/forged/libjvm.so sleep 100 &
	forged=$!
	copy_jdk stripped strip_to
	jdk=$PWD/stripped begin two
	pjrecord -q -p "$pid" -e java:alloc -s 1 -o refused.data 2>err
	is "a stripped libjvm.so: status" $? 1
	ok "  and the remedy" grep -q "process $pid: its libjvm.so has no symbol of AllocTracer .*: use another build" err
	until_true grep -q forged/libjvm.so "/proc/$forged/maps"
	pjrecord -q -p "$first,$forged,$pid" -e java:alloc -s 1 -o beside.data 2>err
	is "  beside one that cannot be probed, and another one: status" $? 0
	ok "  it is named" grep -q "process $pid: allocations are not recorded: its libjvm.so has no symbol" err
	ok "  as is the one that cannot be probed" grep -q "process $forged: allocations are not recorded: the kernel refuses a probe" err
	stop
	pid=$forged
	stop
else
	skip "a stripped libjvm.so, and one that cannot be probed" "no strip, nm or readelf"
fi

# ---- pjflame

if have pjflame && have pjsvg; then
	begin two
	mkdir temporary
	{ until_true sh -c 'find temporary -path "*/recording/*.data" -size +0 | grep -q .'; : >two/go; } &
	ok "pjflame -e alloc PID" env TMPDIR="$PWD/temporary" pjflame -q -e alloc -s 2 --folded=folded -o alloc.svg "$pid"
	ok "  has classes, in bytes" sh -c 'grep -q ";java/lang/String (allocated) [0-9]*$" folded && grep -q "<title>Allocations of " alloc.svg && grep -q "bytes" alloc.svg'
	pjrecord -q -e cpu-clock -o cpu.data -- sh -c 'i=0; while [ $i -lt 50000 ]; do i=$((i + 1)); done'
	pjfold -q --header -o cpu.folded cpu.data
	pjfold -q --header -o alloc.folded data
	if have pjdiff; then
		ok "  pjdiff does not compare it with CPU time" sh -c '! pjdiff alloc.folded cpu.folded 2>&1 | grep -v "unlike units"'
	fi
	finish
fi

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
refused "no JVM" 1 'no process of -p has a libjvm.so mapped: start the JVM first' -p $$ -e java:alloc
refused "one of N" 2 'leave -c out' -p "$first" -e java:alloc -c 2
refused "small rings" 1 'java:alloc needs copies of stacks: a ring of 64 kB holds too few' -p "$first" -e java:alloc -m 64K
refused "modifiers" 2 "java:alloc has no modifiers: leave ':u' out" -p "$first" -e java:alloc:u
refused "a cgroup" 2 'use -p with the PIDs of its JVMs' -G / -e java:alloc
refused "frame pointers" 2 'use --unwind=auto or --unwind=tables' -p "$first" -e java:alloc --unwind=fp
refused "a command" 2 'start it before and use -p PID' -e java:alloc -- true

# ---- a process that holds the lock of its mappings for ever, on which a probe would wait

holdlock=$PJ_BUILD/test/hostile/holdlock
# hold [fresh]: the attack, until descriptor 8 is closed
hold()
{
	mkdir -p held
	timeout -s KILL 60 "$holdlock" /dev/fuse "$PWD/held" "$PWD/libjvm.so" 1 "$@" <hold >log 2>&1 &
	pid=$!
	exec 8>hold
	until_true grep -q -e ready -e mount log
	sleep 0.5
}

# is_refused_beside LABEL: pjrecord does not start beside the attack
is_refused_beside()
{
	if grep -q ready log; then
		pjrecord -q -s 1 -o refused.data -p "$first" -e java:alloc 2>err 8>&-
		is "$1: status" $? 1
		ok "  it is named" grep -qE "mappings of process ($(sed 's/.* //' log | paste -sd '|')) cannot be read in time" err
	else
		skip "$1" "FUSE cannot be mounted: $(head -n 1 log)"
	fi
	exec 8>&-
	stop
}

if [ -x "$holdlock" ] && [ -c /dev/fuse ] && mkfifo hold; then
	head -c 65536 "$lower/lib/server/libjvm.so" >libjvm.so
	hold
	is_refused_beside "another process blocks readers of its mappings"
	hold fresh
	is_refused_beside "one blocks all that need the lock of its address space"
else
	skip "a process that blocks readers of its mappings" "no /dev/fuse, or the attack is not built"
fi
kill "$first"
wait "$first" 2>/dev/null
done_testing
