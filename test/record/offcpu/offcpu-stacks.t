#!/bin/sh
# offcpu-stacks.t - stacks of threads that were off the CPU, read meanwhile: none is wrong, as the kernel's frames of the same switch show,
# and far more are complete than by frame pointers.
#
# The paths of the load have one instruction that waits and, two of them, one stack pointer (knownwaits.c). On a loaded machine
# fewer stacks are read in time, so the share of complete ones has a wide bound: observed are 88 % of the time, and 0 % by frame
# pointers.
# stage: live
# covers: record/session/waitstacks.c record/offcpu/waitcopies.c record/offcpu/waithelper.c record/offcpu/waitshare.c record/offcpu/offcpu.c
# covers: common/formats/offcpustats.c record/offcpu/switches.c record/offcpu/earlywaits.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
LC_ALL=C
export LC_ALL

{ have pjrecord && have pjfold; } || skip_all "pjrecord or pjfold is not built"
have cc || skip_all "no compiler for the load"
[ "$(id -u)" = 0 ] || skip_all "the memory of other processes is read as root"
cc -O2 -fomit-frame-pointer -pthread -o knownwaits "$top/test/record/offcpu/knownwaits.c" || skip_all "the load does not compile"
timeout 60 pjrecord -q --off-cpu -o probe.data -- true 2>why || skip_all "context switches may not be recorded here: $(head -n 1 why)"

# paths FILE: ns of the stacks of workers that reach the root, by "right" or "wrong": the path is that of the kernel's frames
paths()
{
	pjfold --only event=offcpu-time "$1" 2>/dev/null | awk '
		/;worker;.*;step;/ && /;(clone3|__clone|clone);/ {
			n = $NF
			path = $0
			sub(/.*;worker;/, "", path)
			sub(/;step;.*/, "", path)
			gsub(/path_futex;path_futex/, "path_futex", path)
			while (gsub(/path_futex;path_futex/, "path_futex", path)) ;
			want = /nanosleep/ ? "path_sleep" : /pipe_read/ ? "path_read" : /_poll/ ? "path_buffer" : /futex_/ ? "path_futex" : "none"
			if (want == "none") next
			sum[path == want ? "right" : "wrong"] += n
			seen[want] = 1
			if (path != want) print "wrong: " $0 >"wrong"
		}
		END { for (path in seen) npaths++
			printf "%d %.0f %.0f\n", npaths, sum["right"], sum["wrong"] }'
}

: >wrong
timeout 60 pjrecord -v --off-cpu -o known.data -- ./knownwaits 3 2>said
is "the load is recorded" "$?" 0
# shellcheck disable=SC2046
set -- $(paths known.data)
if [ "${1:-0}" = 0 ]; then
	skip "stacks by the kernel's frames" "kernel frames have no names here"
else
	is "each path is seen" "$1" 4
	if [ "$3" = 0 ]; then pass "no stack is wrong"; else fail "no stack is wrong" wrong; fi
fi
pjfold --stacks known.data >table 2>/dev/null
share=$(awk '/off-CPU time of both events/ { sub(/%/, "", $2); print int($2) }' table)
if [ "${share:-0}" -ge 30 ]; then pass "of the time, 30 % at least have a complete stack"; else fail "of the time, 30 % at least have a complete stack" table said; fi
ok "the summary has the share, too" grep -q 'stacks of [0-9.]* s off the CPU: [0-9.]* % complete, read while' said
ok "  and pjfold --info" sh -c 'pjfold --info known.data | grep -q "^off CPU  *stacks of "'
# share FILE: the share of the time in a sentence
share()
{
	sed -nE 's/.*; (at least )?((under )?[0-9.]*) % of the time off the CPU has complete stacks.*/\2/p' "$1"
}
# same_share NAME: pjrecord, in `recorded`, and pjfold have the same share of the event offcpu-time
same_share()
{
	pjfold short.data 2>folded >/dev/null
	# pjfold may prove by frame pointers that stacks which were not read are complete
	if grep -q 'at least' recorded; then same='<='; else same='=='; fi
	if [ -n "$(share recorded)" ] && [ -n "$(share folded)" ] && awk "BEGIN { exit !($(share recorded | tr -dc 0-9.) $same $(share folded | tr -dc 0-9.)) }"; then pass "$1"; else fail "$1" recorded folded; fi
}
timeout 60 pjrecord --off-cpu -o short.data -- ./knownwaits 1 2>recorded
same_share "the sentences of pjrecord and pjfold have the same share of the time"
timeout 60 pjrecord --off-cpu -o short.data -- sh -c 'tar cf - /usr/lib/*/lib*.a /usr/bin 2>/dev/null | head -c 20000000 | gzip -1 | wc -c' 2>recorded >/dev/null
same_share "  of programs that wait for each other, and are preempted"
ok "no remedy is offered that does not help" sh -c 'pjfold known.data 2>&1 >/dev/null | tee sentence | grep -q "stacks" && ! grep -q "frame-pointer" sentence'

# waits that began before the recording: from its start on, with the stack if the registers that are known lead through it
if cc -O2 -fomit-frame-pointer -pthread -o silentwaits "$top/test/record/offcpu/silentwaits.c"; then
	# the sleep ends during the recording, though a loaded machine takes seconds to begin it
	./silentwaits 6 >ready &
	silent=$!
	for _ in $(seq 100); do
		[ ! -s ready ] || break
		sleep 0.1
	done
	timeout 60 pjrecord -v --off-cpu -s 8 -p $silent -o silent.data 2>said
	kill $silent
	wait $silent 2>/dev/null
	pjfold -q --only event=offcpu-time silent.data >folded
	# ms PATTERN: time of the stacks with it
	ms()
	{
		awk -v pattern="$1" '$0 ~ pattern { n += $NF } END { printf "%d", n / 1e6 }' folded
	}
	all=$(ms ';main;')
	ok "waits since before the recording: the first thread" [ "$all" -ge 7500 ]
	is "  a lock, all of the recording" "$(ms ';start_thread;lock;wait_lock;.*futex')" "$all"
	is "  a pipe" "$(ms ';start_thread;pipe_reader;wait_pipe;')" "$all"
	is "  callers that need another register are not shown, and the rest is" "$(ms '^silentwaits;wait_below;wait_pipe;') $(ms ';below;')" "$all 0"
	first=$(ms ';sleeper;wait_sleep;')
	ok "  a sleep that ends, up to its end" [ "$first" -gt 100 -a "$first" -lt 6000 ]
	ok "  and the wait after it" [ "$(($(ms ';sleeper;wait_lock;') + first))" -gt $((all - 1000)) ]
	is "  a thread that runs has none" "$(ms 'burner')" 0
	ok "  their number is in the summary" grep -q 'since before the recording, with a stack: [4-9] times' said
else
	skip "waits since before the recording" "the load does not compile"
fi

# Go: a goroutine that waits is left for the stack of the scheduler; frame pointers lead back
cat >park.go <<'END'
package main

import "time"

//go:noinline
func parker(c chan int) {
	for range c {
	}
}

//go:noinline
func sender(c chan int) {
	for i := 0; i < 200; i++ {
		c <- i
		time.Sleep(5 * time.Millisecond)
	}
}

func main() {
	c := make(chan int)
	go parker(c)
	sender(c)
}
END
if have go && HOME=$PWD GOCACHE=$PWD/go GO111MODULE=off go build -o park park.go >said 2>&1; then
	timeout 60 pjrecord -q --off-cpu -o park.data -- ./park 2>err
	pjfold -q --only event=offcpu-time park.data | awk '/;runtime[.](mcall|systemstack)[;. ]/ {
		all += $NF; if (/main[.](parker|sender|main)|runtime[.](goexit|main|bgsweep|bgscavenge|forcegchelper)/) back += $NF }
		END { print all / 1e9, back / 1e9; exit !(all > 0.3e9 && back > .8 * all) }' >share
	if [ $? = 0 ]; then pass "waits of Go lead from the scheduler's stack to the goroutine"; else fail "waits of Go lead from the scheduler's stack to the goroutine" share err; fi
else
	skip "waits of Go" "no Go compiler"
fi

# a host: the sleeps of the recording itself are left out, those of its command and of another recorder are not
timeout 60 pjrecord -q -o other.data -p $$ sleep 3 2>err &
other=$!
pjrecord -v -a --off-cpu -o host.data sleep 2 2>said &
recorder=$!
sleep 1
# pids of the other recorder, which timeout started, and of this one with its children
for at in /proc/[0-9]*/status; do awk '/^Name:/ { name = $2 } /^PPid:/ { ppid = $2 } /^Pid:/ { pid = $2 } END { if (pid) print name, pid, ppid }' "$at" 2>/dev/null; done >running
wait $recorder
awk -v parent=$recorder '($3 == parent && $1 ~ /^pjrecord-/) || $2 == parent { print $1 "-" $2 }' running | sort >own
awk -v parent=$other '$3 == parent { print $1 "-" $2 }' running >others
pjfold -q --pid --only event=offcpu-time host.data | awk '{ sub(/;.*/, ""); print }' | sort -u >roots
ok "the processes of a recording of the host are left out, and counted" grep -q '; left out: [0-9]* processes of this recording' said
is "  none is in its off-CPU times" "$(wc -l <own | awk '{ print ($1 > 1) }') $(comm -12 own roots)" "1 "
ok "  another recorder is" grep -qxFf others roots
ok "  and its own command" grep -q '^sleep-' roots
wait $other

timeout 60 pjrecord -q --off-cpu --unwind=fp -o fp.data -- ./knownwaits 1 2>err
ok "--unwind=fp reads no stacks" sh -c '! pjfold --stacks fp.data 2>/dev/null | grep -q "off-CPU time of both"'

# a CPU that came online and has no events: a thread may return there without a record, so no wait is certain
cat /sys/devices/system/cpu/online >online 2>/dev/null
cat >later.sh <<'END'
mount --bind online /sys/devices/system/cpu/online || exit 77
exec timeout 60 pjrecord -q --off-cpu -o cpus.data -- sh -c 'echo "$(cat online),4000" >new; cat new >online; sleep 0.3; ./knownwaits 1'
END
if unshare -m sh later.sh 2>err; then
	share=$(pjfold --stacks cpus.data 2>/dev/null | awk '/off-CPU time of both events/ { sub(/%/, "", $2); print int($2) }')
	# the waits of the start may be certain
	ok "with a CPU that has no events, no stack is certain" [ "${share:-100}" -lt 20 ]
else
	skip "with a CPU that has no events, no stack is certain" "no mount namespace here"
fi

# processes of another user, without the right to read them: the warning names the right, and the sentence what helps without it
if setpriv --bounding-set=-sys_ptrace --inh-caps=-sys_ptrace true 2>/dev/null; then
	timeout 60 setpriv --bounding-set=-sys_ptrace --inh-caps=-sys_ptrace pjrecord --off-cpu -o denied.data -- \
		setpriv --reuid=65534 --regid=65534 --clear-groups sh -c 'sleep 0.2; sleep 0.2; sleep 0.2' 2>said
	ok "without CAP_SYS_PTRACE a warning names it" grep -q 'by frame pointers only: .*CAP_SYS_PTRACE' said
	ok "  and pjfold says what helps" sh -c 'pjfold denied.data 2>&1 >/dev/null | tee sentence | grep -q "frame-pointer"'
else
	skip "without CAP_SYS_PTRACE a warning names it" "no setpriv here"
fi

# a thread of another user whose stack blocks its readers: its tenant is not read any more, all others are
cc -O1 -pthread -o waithang "$top/test/record/offcpu/waithang.c"
./waithang 65534 20 &
hang=$!
./knownwaits 40 &
known=$!
sleep 0.5
if kill -0 $hang 2>/dev/null; then
	timeout 60 pjrecord -q -a --off-cpu -w 2 -n 3 -d hung --keep-symbols none >windows 2>said
	is "beside a stack that blocks its readers: a recording goes on" "$?" 0
	ok "  the hang is counted" grep -q '^pj_record_helpers_lost_total{helper="wait",reason="hung"} [1-9]' hung/pjrecord.prom
	ok "  its tenant is avoided after that" grep -q '^pj_record_helpers_avoided_total{helper="wait"} [1-9]' hung/pjrecord.prom
	# shellcheck disable=SC2046
	set -- $(paths "$(tail -n 1 windows)")
	echo "# in the last window: $*"
	ok "  stacks of others are complete, and right, in the last window" [ "${2:-0}" -gt 100000000 -a "${3:-1}" = 0 ]
else
	skip "beside a stack that blocks its readers" "no userfaultfd here"
fi
kill $hang $known 2>/dev/null
wait $hang $known 2>/dev/null

# the process that reads is replaced when it ends, and the recording goes on
pjrecord -v -a --off-cpu -w 2 -n 2 -d dir --keep-symbols none >windows 2>said &
recorder=$!
child()
{
	for at in /proc/[0-9]*/status; do
		awk -v parent=$recorder '/^Name:/ { name = $2 } /^PPid:/ { ppid = $2 } /^Pid:/ { pid = $2 }
			END { if (name == "pjrecord-wait" && ppid == parent) print pid }' "$at" 2>/dev/null
	done
}
helper=
for _ in $(seq 50); do
	helper=$(child)
	[ -z "$helper" ] || break
	sleep 0.1
done
if [ -n "$helper" ]; then
	# the process has its name before it drops its capabilities
	for _ in $(seq 50); do
		capabilities=$(awk '/^CapEff/ { print $2 }' "/proc/$helper/status")
		[ "$capabilities" != 0000000000080000 ] || break
		sleep 0.1
	done
	is "it has one capability, CAP_SYS_PTRACE" "$capabilities" 0000000000080000
	kill -9 "$helper"
	wait $recorder
	is "a recording goes on when it is killed" "$?" 0
	is "  and counts that" "$(awk '/^pj_record_helpers_lost_total[{]helper="wait",reason="crashed"[}]/ { print $2 }' dir/pjrecord.prom)" 1
	ok "  metrics have the time by its stacks" grep -q '^pj_record_offcpu_stacks_seconds_total{stack="complete"} [0-9.]*[1-9]' dir/pjrecord.prom
else
	fail "the process that reads stacks runs" said
	kill $recorder
	wait $recorder
fi
done_testing
