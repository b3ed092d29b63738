#!/bin/sh
# record-events.t - what pjrecord -e and --off-cpu record on this machine: tracepoints as perf prints them, times off the CPU against
# threads that wait for known times (test/record/waits.c).
#
# Times are compared with clocks of the load itself, within 3 %, and never with what was asked for: a loaded machine wakes
# late. Run by ./check as root; a part that is not allowed is skipped with the reason.
# stage: live
# full: samples the host alone for a minute: tracepoints and times off the CPU
# covers: record/perf/events.c record/perf/eventlist.c record/perf/tracefs.c record/perf/eventattrs.c record/offcpu/offcpu.c
# covers: record/offcpu/switches.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
LC_ALL=C
export LC_ALL
perf=${PJ_PERF:-perf}

have pjrecord || skip_all "pjrecord is not built"
have cc || skip_all "no compiler for the load"
pjrecord -q -F 99 -o may.data -- true 2>why || skip_all "recording is not allowed here: $(head -n 1 why)"
ok "the load compiles" cc -O1 -g -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -pthread -o waits "$top/test/record/waits.c"
"$perf" --version >/dev/null 2>&1 || perf=
tracefs=
for dir in /sys/kernel/tracing /sys/kernel/debug/tracing; do
	[ -r "$dir/events/sched/sched_switch/format" ] && [ -z "$tracefs" ] && tracefs=$dir
done

# count EVENT FILE: samples, as perf script prints them
count()
{
	"$perf" script -i "$2" -F event 2>/dev/null | tr -d ' ' | grep -cx "$1:"
}

# ---- tracepoints: four recorders at once of one command, a file, a pipe and windows of ours, and perf's ----

events='sched:*,irq:*,kmem:kmalloc'
for one in syscalls:sys_enter_write syscalls:sys_exit_read; do
	[ -n "$tracefs" ] && [ -d "$tracefs/events/$(echo $one | tr : /)" ] && events=$events,$one
done
# fields FILE: of the command, once it is what it is called. Sorted: an interrupt may come when one recorder has its record of an event
# and the other does not yet (seen on a loaded machine), and then what the interrupt does comes after it there, and before it here.
fields()
{
	"$perf" script -i "$1" -F comm,tid,cpu,event,trace 2>/dev/null | grep '^ *dd ' | sort
}

if [ -z "$perf" ]; then
	skip "tracepoints" "perf is not installed"
elif [ -z "$tracefs" ]; then
	skip "tracepoints" "tracefs cannot be read here"
else
	cat >inner <<-'END'
		exec pjrecord -q -e "$events" -o o.data -- \
			pjrecord -q -e "$events" -o - -- dd if=/dev/zero of=zeros bs=64k count=40 conv=fsync >o.pipe 2>dd.err
	END
	export events
	# --buildid-mmap, since the kernel marks its mappings so once another recorder asks for build-ids
	"$perf" record -q --buildid-mmap -e "$events" -o p.data -- pjrecord -q -e "$events" -w 60 -d win -- sh ./inner >windows 2>err
	is "recorders of tracepoints, one within the other, and all end well" "$?" 0
	fields p.data >want
	[ "$(wc -l <want)" -gt 50 ] && [ "$(sed 's/^[^:]* \([a-z]*:[a-z_]*\):.*/\1/' want | sort -u | wc -l)" -gt 4 ]
	is "perf has many samples of many kinds" $? 0
	lost=$("$perf" script --show-lost-events -i p.data 2>/dev/null | grep -c 'PERF_RECORD_LOST')
	fields o.data >got
	if [ "$lost" = 0 ]; then
		same "a file: fields as perf prints them of its own" want got
	else
		skip "a file: fields as perf prints them of its own" "perf lost records"
		mv got want
	fi
	fields - <o.pipe >got
	for f in want got; do grep -v kmem: $f | sed 's/^ *//' | sort >$f.plain; done # perf script has no kernel symbols yet when it begins to read a pipe
	same "a pipe" want.plain got.plain
	fields "$(cat windows)" >got
	same "a window" want got
	ok "pjfold reads it" sh -c 'pjfold --only event=sched:sched_switch o.data >folded'
fi
if [ -z "$tracefs" ]; then
	skip "names of tracepoints" "tracefs cannot be read here"
else
	pjrecord -q -e sched:sched_swich -o bad.data -- true 2>err
	is "an unknown tracepoint is a usage error" $? 2
	ok "  with the name that was meant" grep -q "no tracepoint 'sched:sched_swich' on this host; there is sched:sched_switch" err
	ok "  and no file" test ! -e bad.data
	pjrecord -q -e 'sched:nothing_*' -o bad.data -- true 2>err
	is "a pattern that fits none, too" $? 2
	if [ "$(id -u)" = 0 ] && have setpriv && [ -n "$(find "$tracefs" -maxdepth 0 ! -perm -o+x)" ]; then
		chmod 755 .
		cp "$(command -v pjrecord)" theirs
		setpriv --reuid=65534 --regid=65534 --clear-groups ./theirs -q -e sched:sched_switch -o - -- true 2>err | cat
		ok "who may not read tracefs is told so" grep -q "'sched:sched_switch'.*: .*mount -o remount\|'sched:sched_switch'.*run it as root" err
	else
		skip "who may not read tracefs is told so" "not root, or everybody may"
	fi
fi
if [ -n "$perf" ] && [ -d "$tracefs/events/syscalls/sys_enter_write" ] && have taskset; then
	taskset -c 0 pjrecord -q -e syscalls:sys_enter_write -o each.data -- dd if=/dev/zero of=/dev/null bs=1 count=400 2>dd.err
	taskset -c 0 pjrecord -q -e syscalls:sys_enter_write -c 10 -o tenth.data -- dd if=/dev/zero of=/dev/null bs=1 count=400 2>dd.err
	each=$(count syscalls:sys_enter_write each.data)
	ok "each one is a sample" test "$each" -ge 400
	is "-c 10: each tenth" "$(count syscalls:sys_enter_write tenth.data)" $((each / 10))
else
	skip "-c 10: each tenth" "no perf, system calls as tracepoints, or taskset"
fi

# ---- software events ----

work='i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done; sleep 0.01'
if [ -z "$perf" ]; then
	skip "software events" "perf is not installed"
else
	for event in cpu-clock task-clock page-faults minor-faults context-switches cpu-clock:u page-faults:u page-faults:k; do
		pjrecord -q -F 999 -e $event -o one.data -- sh -c "$work" 2>err
		"$perf" script -i one.data -F event 2>/dev/null | sort -u | tr -d ' \n' >names
		is "-e $event: its samples, and no others" "$(cat names)" "$event:"
	done
	pjrecord -q -F 999 -e cpu-clock,page-faults -e context-switches -o all.data -- sh -c "$work" 2>err
	is "three events in one file" "$("$perf" script -i all.data -F event 2>/dev/null | tr -d ' ' | sort -u | tr -d '\n')" "context-switches:cpu-clock:page-faults:"
	for pair in cpu-clock:u=user cpu-clock:k=kernel; do
		pjrecord -q -F 999 -e ${pair%=*} -o one.data -- sh -c "$work; $work" 2>err
		wrong=$("$perf" script -i one.data -F event,ip -G 2>/dev/null | awk -v want="${pair#*=}" '
			NF { kernel = substr($NF, 1, 8) == "ffffffff"; n += (want == "kernel") != kernel } END { print n + 0 }')
		if [ "$(uname -m)" = x86_64 ]; then is "-e ${pair%=*}: only ${pair#*=}" "$wrong" 0; fi
	done
	if have taskset && [ "$(nproc)" -gt 1 ]; then
		pjrecord -q -e cpu-migrations -o one.data -- sh -c 'for i in 1 2 3; do taskset -pc 0 $$; taskset -pc 1 $$; done' >/dev/null 2>err
		ok "-e cpu-migrations" test "$(count cpu-migrations one.data)" -ge 5
	else
		skip "-e cpu-migrations" "one CPU, or no taskset"
	fi
fi
pjrecord -q -e context-switches:u -o none.data -- true 2>err
is "what is in the kernel only is refused without it" $? 2
if pjrecord -q -e cycles -o cycles.data -- true 2>err; then
	skip "without hardware counters" "this machine has them"
else
	ok "without hardware counters the way out is named" grep -q 'cycles.*cpu-clock' err
fi

# ---- times off the CPU ----

pjrecord -q --off-cpu -o may.data -- true 2>why || {
	skip "off-CPU times" "$(head -n 1 why)"
	done_testing
}

# tally FILE...: by function, "function blocked preempted on" in ns, and "all"; the clock ticks at 999 Hz
tally()
{
	: >times.in
	for event in offcpu-time offcpu-time-preempted cpu-clock; do
		pjfold --only event=$event,comm=waits "$@" 2>/dev/null | sed "s/^/$event /" >>times.in
	done
	awk '
	BEGIN { n = split("wait_sleep wait_pipe wait_lock wait_forever burn feed", name, " "); name[++n] = "all" }
	{
		ns = $NF * ($1 == "cpu-clock" ? 1000000000 / 999 : 1)
		sum["all", $1] += ns
		for (i = 1; i < n; i++)
			if (index($0, ";" name[i] ";") || index($0, ";" name[i] " "))
				sum[name[i], $1] += ns
	}
	END { for (i = 1; i <= n; i++) printf "%s %.0f %.0f %.0f\n", name[i], sum[name[i], "offcpu-time"], sum[name[i], "offcpu-time-preempted"], sum[name[i], "cpu-clock"] }
	' times.in
}

# near NAME GOT WANT PERCENT
near()
{
	if awk -v got="$2" -v want="$3" -v most="$4" 'BEGIN { d = got - want; exit !(want > 0 && (d < 0 ? -d : d) <= want * most / 100) }'; then
		pass "$1"
	else
		printf 'got  %s\nwant %s within %s %%\n' "$2" "$3" "$4" >.near
		fail "$1" .near truth got.times err
	fi
}

# sum FUNCTION: blocked, preempted and on the CPU together; blocked FUNCTION
sum()
{
	awk -v f="$1" '$1 == f { print $2 + $3 + $4 }' got.times
}
blocked()
{
	awk -v f="$1" '$1 == f { print $2 }' got.times
}
truth()
{
	awk -v f="$1" '$1 == f { print $2 }' truth
}

# A file, and windows beside it, of the same run.
pjrecord -F 999 --off-cpu -o whole.data -- pjrecord -q -F 999 --off-cpu -w 1 -d win2 -- ./waits 3 2>err >mixed
grep -v '^win2/' mixed >truth
grep '^win2/' mixed >windows
is "threads that wait were recorded, twice" "$(wc -l <truth) $([ "$(wc -l <windows)" -ge 3 ] && echo 3)" "7 3"
pjfold --only event=offcpu-time whole.data >folded 2>fold.err
ok "pjfold reads times off the CPU" test -s folded
tally whole.data >got.times
for f in wait_sleep wait_pipe wait_lock wait_forever; do
	near "$f: time in it, off and on the CPU" "$(sum $f)" "$(truth $f)" 3
	near "$f: nearly all of it blocked" "$(blocked $f)" "$(awk -v f=$f '$1 == f { print $2 + $4 }' got.times)" 3
done
near "burn: preempted and on the CPU" "$(sum burn)" "$(truth burn)" 3
is "burn: never blocked" "$(blocked burn)" 0
near "all threads: off and on is their life" "$(sum all)" "$(truth threads)" 3
cp got.times whole.times
# shellcheck disable=SC2046 # names without blanks
tally $(cat windows) >got.times
for f in wait_sleep wait_pipe wait_lock wait_forever feed all; do
	near "$f: windows add up to the whole" "$(blocked $f)" "$(awk -v f=$f '$1 == f { print $2 }' whole.times)" 1
done
tally "$(sed -n 2p windows)" >got.times
is "who waits throughout a window has all of it, to the ns" "$(blocked wait_forever)" 1000000000
for f in wait_sleep wait_pipe wait_lock feed; do
	near "$f: a window of a second" "$(sum $f)" 1000000000 3
done

# What ends while threads are still blocked, and goes on without us.
pjrecord -q -F 999 --off-cpu -w 1 -n 2 -d win3 -- ./waits 4 >mixed 2>err
tally "$(grep '^win3/' mixed | sed -n 2p)" >got.times
is "still blocked at the end of the recording" "$(blocked wait_forever)" 1000000000

# Processes that run already: the stack of a thread that was blocked before is read.
./waits 30 >truth &
waits=$!
i=0
while [ "$(ls /proc/$waits/task 2>/dev/null | wc -l)" -lt 7 ] && [ $i -lt 200 ]; do
	sleep 0.05
	i=$((i + 1))
done
pjrecord -v -F 999 --off-cpu -p $waits -w 1 -n 2 -d win4 2>err >windows
tally "$(sed -n 2p windows)" >got.times
for f in wait_sleep wait_pipe wait_lock; do
	near "-p: $f in a second" "$(sum $f)" 1000000000 3
done
is "-p: who waits since before has all of it, to the ns" "$(blocked wait_forever)" 1000000000
ok "  and the number is said" grep -q 'off the CPU since before the recording, with a stack: [1-9]' err
pjrecord -v --unwind=fp -F 999 --off-cpu -p $waits -s 1 -o unread.data 2>err
tally unread.data >got.times
is "--unwind=fp: no time is invented" "$(blocked wait_forever)" 0
ok "  but it is said" grep -q 'off the CPU since before the recording, without stack: .*2 that did not return' err
ok "  also by pjfold" sh -c "pjfold unread.data 2>&1 >/dev/null | grep -q '; [2-7] threads that have waited since before the recording are not shown$'"
is "  but not with a selection, of which that is unknown" "$(pjfold --only "pid=$waits" unread.data 2>&1 >/dev/null | grep -c 'not shown')" 0
kill $waits
wait $waits 2>/dev/null

# Shorter times are left out, and counted.
pjrecord -v --off-cpu=25000 -o long.data -- ./waits 1 >truth 2>err
if [ -n "$perf" ]; then
	is "--off-cpu=25000: nothing shorter" "$("$perf" script -i long.data -F event,period 2>/dev/null | awk '$2 ~ /^offcpu-time/ && $1 < 25000000' | wc -l)" 0
	is "perf script's periods are pjfold's" \
		"$("$perf" script -i long.data -F event,period 2>/dev/null | awk '$2 == "offcpu-time:" { n += $1 } END { printf "%.0f\n", n }')" \
		"$(pjfold --only event=offcpu-time long.data 2>/dev/null | awk '{ n += $NF } END { printf "%.0f\n", n }')"
	ok "perf report reads it" sh -c "'$perf' report --stdio -i long.data 2>/dev/null | grep -q \"of event 'offcpu-time'\""
else
	skip "--off-cpu=25000 as perf script shows it" "perf is not installed"
fi
ok "  and what was left out is said" grep -q 'not written: [0-9,]* shorter' err

# Lost records make no time.
pjrecord -v -F 999 --off-cpu -m 8K -o lossy.data -- ./waits 2 switches >truth 2>err
tally lossy.data >got.times
if grep -q 'records were lost' err; then
	for f in wait_sleep wait_pipe wait_lock wait_forever; do
		more=$(awk -v got="$(blocked $f)" -v want="$(truth $f)" 'BEGIN { print (got > want * 1.03) }')
		is "with rings that are too small: not more than there was in $f" "$more" 0
	done
else
	skip "with rings that are too small" "nothing was lost"
fi

# over budget, times off the CPU lose their callchains, never their sum: as many ns as recorded, in few samples
pjrecord -v -F 99 --off-cpu --tenant-bytes=20k -o over.data -- ./waits 3 switches >truth 2>err
times=$(sed -n 's/.*off the CPU: \([0-9,]*\) times* blocked (\([0-9.]*\) s), \([0-9,]*\) preempted (\([0-9.]*\) s).*/\1 \2 \3 \4/p' err | tr -d ,)
pjfold -q --only event=offcpu-time over.data >folded
pjfold -q --only event=offcpu-time-preempted over.data >>folded
pjfold --info over.data >info
sums=$(awk '{ ns += $NF } /;\[over budget\] [0-9]*$/ { over += $NF } END { printf "%.0f %.0f", ns, over }' folded)
samples=$(awk '$1 == "event" && $2 ~ /^offcpu-time/ { for (i = 3; i < NF; i++) if ($(i + 1) ~ /^samples?$/) n += $i } END { print n + 0 }' info)
echo "# $times: times blocked, s, preempted, s; $sums: ns in the file, of these over budget; $samples samples"
if [ "$(echo "$times" | awk '{ print ($1 + $3 > 20000) }')" = 1 ]; then
	ok "over budget, the sum of times off the CPU is the same" sh -c "echo '$times $sums' | awk '{ t = \$2 + \$4; exit !(\$6 > 0 && \$5 / 1e9 > .995 * t && \$5 / 1e9 < 1.005 * t) }'"
	ok "  in few samples: a sum for each thread" [ "$samples" -gt 0 -a $((samples * 4)) -lt "$(echo "$times" | awk '{ print $1 + $3 }')" ]
	ok "  which are counted" grep -q 'over budget: .* samples without their stacks' err
else
	skip "times off the CPU over budget" "this machine is too busy: $times"
fi

# The pipeline.
pjrecord -q --off-cpu -o - -- sh -c './waits 0.5 >truth' 2>err | tee off.data | pjfold 2>fold.err | pjsvg --countname=ns --colors=io >off.svg 2>svg.err
ok "pjrecord | pjfold | pjsvg: an off-CPU flame graph" grep -q 'wait_lock' off.svg
ok "  in seconds" grep -qE '<title>[0-9.]+ s, 100%</title>' off.svg
pjfold -q --only event=offcpu-time,comm=waits off.data >times.in
pjsvg --unpack off.svg 2>svg.err | grep '^waits;' >unfolded
is "  with all that was blocked, to the ns" "$(awk '{ n += $NF } END { printf "%.0f\n", n }' unfolded)" "$(awk '{ n += $NF } END { printf "%.0f\n", n }' times.in)"
pjfold -q --only event=cpu-clock off.data >times.in
ok "  the clock's samples are there for who asks" test -s times.in
done_testing
