#!/bin/sh
# rights.t - what each process of a running pjrecord may do, read from the kernel: those that parse bytes of strangers hold no capability, may
# make 26 system calls at most, and have limits of memory; those that open files hold the recorder's six at most.
# stage: live
# full: an attack of 20 s or more beside the tools; planted.t and escapes.t are in the gate
# covers: common/process/sandbox.c common/process/capabilities.c record/perf/privileges.c record/symsaver/symparser.c
# covers: record/unwind/cfiparser.c record/java/jvmhelper.c
PJ_TOP=${PJ_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=test/lib/tap.sh
. "$PJ_TOP/test/lib/tap.sh"
# shellcheck source=test/hostile/lib.sh
. "$PJ_TOP/test/hostile/lib.sh"

# DAC_READ_SEARCH, IPC_LOCK, SYS_PTRACE, SYSLOG, PERFMON; SYS_NICE, where interpreters can be read; and SYS_RESOURCE, where root has it
own=$((0x$(awk '/^CapEff/ { print $2 }' /proc/self/status)))
six=$((0x4400084004 | (own & 1 << 24)))
python=
if pjrecord --check -d . 2>/dev/null | grep -q '^ok *interpreters: .* are shown'; then
	six=$((six | 1 << 23))
	for at in /usr/bin/python3.[0-9]*; do case ${at##*/} in python3.8 | python3.9 | python3.1[0-5]) python=$at ;; esac; done
fi
six=$(printf %016x $six)

# rights PID: NAME, CapEff, CapPrm, Seccomp, NoNewPrivs of a process
rights()
{
	awk '/^Name:|^CapEff:|^CapPrm:|^Seccomp:|^NoNewPrivs:/ { value[$1] = $2 }
		END { if (NR) print value["Name:"], value["CapEff:"], value["CapPrm:"], value["Seccomp:"], value["NoNewPrivs:"] }' "/proc/$1/status" 2>/dev/null
}

# calls PID: how many system calls a process may make, from the kernel's copy of its filter; -1: it has none
calls()
{
	"$build/test/hostile/allowed" "$1" 2>>allowed.err | awk '{ print $2 }'
}

# limits PID: NAME, address space in bytes, whether it is the kernel's first victim when memory runs out, largest resident size in kB
limits()
{
	printf '%s %s %s %s\n' "$(cat "/proc/$1/comm" 2>/dev/null)" "$(awk '/^Max address space/ { print $4 }' "/proc/$1/limits" 2>/dev/null)" \
		"$(cat "/proc/$1/oom_score_adj" 2>/dev/null)" "$(peak_kb "$1")"
}

jdk=$(find /usr/lib/jvm -maxdepth 3 -name java -path '*/bin/*' 2>/dev/null | sort | head -n 1)
if [ -n "$jdk" ]; then
	cp "$PJ_TOP/test/jmap/Work.java" "$PJ_TOP/examples/Demo.java" . 2>/dev/null
	"$jdk" Demo.java 600 >/dev/null 2>&1 &
	attacks="$attacks $!"
fi
if [ -n "$python" ]; then
	"$python" -S -c 'while True: sum(range(1000))' &
	attacks="$attacks $!"
fi
pjrecord -v --all -F 199 --window=2 --dir=out >/dev/null 2>log &
recorder=$!
attacks="$attacks $recorder"

# saw NAME: a helper process of that name runs
saw()
{
	for pid in $(descendants $recorder); do
		[ "$(cat "/proc/$pid/comm" 2>/dev/null)" != "$1" ] || return 0
	done
	return 1
}
for _ in $(seq 150); do
	! saw pjrecord-table || { [ -n "$jdk" ] && ! saw pjrecord-jvm; } || break
	sleep 0.2
done
# Parsers are replaced now and then, for another tenant: several looks, each at the processes that have run for a second.
names='pjrecord-table pjrecord-symbol'
[ -z "$jdk" ] || names="$names pjrecord-jvm"
[ -z "$python" ] || names="$names pjrecord-interp"
for _ in $(seq 10); do
	descendants $recorder >old
	sleep 1.5
	missing=
	for pid in $(descendants $recorder | grep -Fx -f old); do
		rights "$pid" >>all
		number=$(calls "$pid") # none if it has just ended
		[ -z "$number" ] || echo "$(cat "/proc/$pid/comm" 2>/dev/null) $number" >>calls
		limits "$pid" | grep ' [1-9][0-9]*$' >>limits
	done
	sort -u all >seen
	for name in $names; do grep -q "^$name " seen || missing=1; done
	[ -n "$missing" ] || break
done
sed 's/^/# /' seen
# A limit of addresses counts those that pjrecord has itself: rings, and what its threads' heaps reserve.
own=$(awk '/^VmPeak:/ { print $2 * 1024 }' /proc/$recorder/status)
sed 's/^/# calls: /' calls
sed 's/^/# limits: /' limits

for helper in pjrecord-table pjrecord-symbol pjrecord-jvm pjrecord-interp; do
	case $helper in
	pjrecord-jvm) [ -n "$jdk" ] || { skip "$helper" "no JDK"; continue; } ;;
	pjrecord-interp) [ -n "$python" ] || { skip "$helper" "no Python from 3.8 to 3.15 in /usr/bin, or no right to read it"; continue; } ;;
	esac
	if ! grep -q "^$helper " seen; then
		fail "$helper runs" seen
		continue
	fi
	ok "$helper: no capability, seccomp, no new privileges" awk -v name=$helper '$1 == name { n++; bad += $2 !~ /^0+$/ || $3 !~ /^0+$/ || $4 != 2 || $5 != 1 } END { exit !(n && !bad) }' seen
	if grep -q 'allowed: .*\(permitted\|supported\|implemented\)' allowed.err; then
		skip "  26 system calls at most" "$(head -n 1 allowed.err)"
	else
		ok "  26 system calls at most" awk -v name=$helper '$1 == name { n++; bad += $2 < 1 || $2 > 26 } END { exit !(n && !bad) }' calls
	fi
	# 128 MB resident; pjrecord-jvm has 256 MB of addresses, beside those it begins with
	ok "  limits of memory, and the first to be ended for it" awk -v name=$helper -v own="$own" '$1 == name { n++; bad += $2 !~ /^[0-9]+$/ || $2 > own + 256 * 2^20 || $3 != 1000 || $4 > 128 * 1024 } END { exit !(n && !bad) }' limits
done
ok "no process holds more than six capabilities" awk -v six=$six '$2 !~ /^0+$/ && $2 != six { bad = 1 } END { exit bad || !NR }' seen
ok "SIGTERM is answered" ends_within 2 $recorder

# Filters that root starts: each waits for an input; a second process opens files for it.
# filter NAME COMMAND...: rights of the process NAME in `filter`, those of its children in `children`
filter()
{
	name=$1
	shift
	rm -f in
	mkfifo in
	"$@" >/dev/null 2>why &
	pid=$!
	attacks="$attacks $pid"
	exec 9<>in
	for _ in $(seq 100); do # it, or the process that opens for it, has the input
		! grep -q '^Seccomp:[[:space:]]*2' "/proc/$pid/status" 2>/dev/null || break
		sleep 0.05
	done
	sleep 0.2
	rights "$pid" >filter
	called=$(calls "$pid")
	for child in $(descendants $pid | tail -n +2); do rights "$child"; done >children
	sed 's/^/# /' filter children
	printf 'a;b 1\n' >&9
	exec 9>&-
	wait $pid
	is "$name does its work" $? 0
	ok "  without a capability, below seccomp" awk -v name="$name" '$1 == name { n++; bad += $2 !~ /^0+$/ || $3 !~ /^0+$/ || $4 != 2 || $5 != 1 } END { exit !(n == 1 && !bad) }' filter
	ok "  26 system calls at most, in the kernel's copy of its filter: $called" awk -v n="$called" 'BEGIN { exit !(n > 10 && n <= 26) }'
}
for tool in pjfold pjsvg; do
	filter $tool $tool in
	ok "  whose files are opened by another process, below seccomp, too" grep -q "^$tool-files .* 2 1$" children
	filter $tool sh -c "exec $tool <in"
done
is "a filter between two pipes needs no other process" "$(cat children)" ""
filter pjdiff pjdiff /dev/null in
filter pjfold pjfold --unprivileged in
ok "  the process that forks openers of files is below seccomp, too" grep -q '^pjfold-start .* 2 1$' children
ok "  and no process with one" awk '$2 !~ /^0+$/ || $3 !~ /^0+$/ { bad = 1 } END { exit bad || !NR }' children

# What pjfold calls once it gave up its rights, with threads, symbols and an output
window=$(find out/out -name '*.data' 2>/dev/null | head -n 1)
if [ -n "$window" ] && have strace; then
	strace -f -o calls pjfold -q -j 3 -o folded "$window"
	is "pjfold folds a window under strace" $? 0
	main=$(awk 'NR == 1 { print $1 }' calls)
	awk -v main="$main" '$1 == main && /PR_SET_SECCOMP/ { narrow = 1; next }
		$1 == main && narrow && !/ = -1 (EPERM|ENOSYS)/ && match($2, /^[a-z_0-9]+\(/) { call[substr($2, 1, RLENGTH - 1)] = 1 }
		END { for (c in call) { n++; list = list " " c } print n + 0 list }' calls >made
	sed 's/^/# calls: /' made
	ok "  with 26 different system calls at most, none of which opens a file" awk '$1 < 5 || $1 > 26 || / (open|openat|openat2|execve|socket|fork|connect)( |$)/ { exit 1 }' made
else
	skip "system calls of pjfold" "no window, or strace is not installed"
fi
done_testing
