#!/bin/sh
# record-habits.t - pjrecord typed as perf record: options, a command without --, a command as timer, perf.data.old; and its refusals.
# stage: live
# covers: record/recordopts.c record/pjrecord.c record/single.c record/renamer.c record/portable.c common/filter/opt.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=test/record/burn.sh
. "$(dirname "$0")/burn.sh"
# shellcheck source=test/lib/record.sh
. "$top/test/lib/record.sh"
first=''
trap 'kill -9 $first $load 2>/dev/null; mountpoint -q small && umount small; rm -rf "$scratch"' EXIT

# samples FILE: number of its samples in the load, of which `burn cpu 0.3` has 90, however busy the machine is
samples()
{
	pjfold -q "$1" 2>err | awk '/burn/ { n += $NF } END { print n + 0 }'
}
some()
{
	[ "$(samples "$1")" -ge 20 ]
}

ok "pjrecord PROGRAM ARGUMENTS" pjrecord -q ./$burn cpu 0.3
ok "  is the recording perf.data" some perf.data
mv perf.data first
ok "options of the program stay its own" pjrecord -q -g sh -c 'exec "$0" "$@"' ./$burn cpu 0.3
ok "  with its stacks" some perf.data
inode=$(stat -c %i perf.data)
ok "--call-graph dwarf,SIZE" pjrecord -q -F 99 --call-graph dwarf,16384 ./$burn cpu 0.3
is "perf.data is kept as perf.data.old" "$(stat -c %i perf.data.old)" "$inode"
ok "  and is a recording" pjfold -q -o out perf.data.old
rm -f perf.data perf.data.old
if [ "$(id -u)" = 0 ]; then
	mkdir home && chown 65534 home # as the folder of the user of sudo
	ok "root, in a folder of another user" sh -c "cd home && pjrecord -q ../$burn cpu 0.3 && pjrecord -q -o x ../$burn cpu 0.3"
	ok "  the recording" some home/x
	first=$(stat -c %i home/perf.data)
	ok "  again" sh -c "cd home && pjrecord -q ../$burn cpu 0.3"
	ok "  the recording" some home/perf.data
	is "  perf.data is kept as perf.data.old, and nothing else is left" "$(cd home && stat -c %i perf.data.old && echo *)" "$first
perf.data perf.data.old x"
	first=$(stat -c %i home/x)
	pjrecord -q -o home/x -- ./nosuch 2>err
	is "  a command that is not there: status, former file, folder" "$? $(stat -c %i home/x) $(cd home && echo *)" "127 $first perf.data perf.data.old x"
	ok "  the former recording" some home/x
	pjrecord -q --portable -o home/y true 2>err
	is "  --portable: status" $? 125
	ok "  is refused before the recording" grep -q "gives up the right to write to the folder of 'home/y'" err
	ok "  nothing is written" not test -e home/y -o -e home/y.part
	chown 0 home
	ok "--user=USER, in a folder of root" pjrecord -q --user=nobody -o home/z ./$burn cpu 0.3
	ok "  the recording" some home/z
	mkdir sticky && chmod 1777 sticky
	ok "--user=USER, in a sticky folder of root" pjrecord -q --user=nobody -o sticky/x ./$burn cpu 0.3
	ok "  again" pjrecord -q --user=nobody -o sticky/x ./$burn cpu 0.3
	ok "  the recording" some sticky/x
	is "  alone" "$(cd sticky && echo *)" x
	rm sticky/x
	pjrecord -q --user=nobody --portable -o sticky/y ./$burn cpu 0.3 2>err
	is "  --portable there, which pjpack could not complete: status" $? 125
	ok "  is refused at the start" grep -q 'portable: pjrecord gives up the right' err
	is "  and leaves nothing" "$(find sticky -mindepth 1)" ""
	pjrecord -q --user=nobody -o sticky/x ./$burn cpu 0.3
	chown 65533 sticky && chown 65534 sticky/x
	pjrecord -q -o sticky/x true 2>err
	is "a file of another user in a sticky folder of a third: status" $? 125
	ok "  is refused" grep -q "cannot replace 'sticky/x': it belongs to user 65534" err
	is "  and stays, alone" "$(stat -c %u sticky/x) $(cd sticky && echo *)" "65534 x"
	mv sticky/x sticky/perf.data.old && cp -p home/perf.data sticky/perf.data
	(cd sticky && pjrecord -q "../$burn" cpu 0.3) 2>err
	is "perf.data.old of another user there: stays" "$? $(stat -c %u sticky/perf.data.old)" "0 65534"
	ok "  with a warning" grep -q 'the former perf.data is not kept as perf.data.old' err
	ok "  the recording" some sticky/perf.data
else
	skip "root in a folder of another user" "not root"
fi
echo 'int main;' >main.c
pjrecord -q -o main.c -- true 2>err
is "-o with a file that is no recording: status" $? 125
ok "  is refused" grep -q 'is not a recording, and is not replaced' err
is "  and stays" "$(cat main.c)" "int main;"

# ---- two recordings into one file

# second FOLDER: a second recording into FOLDER/two.data while the first one runs, and the end of the first one
second()
{
	(cd "$1" && exec pjrecord -q -o two.data -p $$ -s 100) 2>first.err &
	first=$!
	until_ 60 test -s "$1/two.data.part"
	(cd "$1" && pjrecord -q -o two.data -- true) 2>err
	is "a second recording into one file, in $1: status" $? 125
	is "  the reason, and what helps" "$(cat err)" \
		"pjrecord: another pjrecord is recording into 'two.data': name another file (-o)"
	kill -TERM $first
	wait $first
	is "  the first one is complete" "$(cat first.err) $(cd "$1" && echo two.data*)" " two.data"
	ok "  and a recording" pjfold -q -o out "$1/two.data"
	(cd "$1" && exec pjrecord -q -o two.data -p $$ -s 100) 2>first.err &
	first=$!
	until_ 60 test -s "$1/two.data.part"
	kill -9 $first
	wait $first 2>/dev/null
	ok "  the file of a killed recorder is no obstacle" sh -c "cd $1 && pjrecord -q -o two.data -- true"
	is "  and is replaced" "$(cd "$1" && echo two.data*)" two.data
}
mkdir shared
second shared
if [ "$(id -u)" = 0 ]; then
	chown 65534 shared && rm shared/two.data
	second shared
else
	skip "two recordings of root in a folder of another user" "not root"
fi
# as in two recorders that start at once: each ends complete, or refuses
for _ in 1 2 3 4; do
	pjrecord -q -o once.data ./$burn shares 1 2>>once.err &
done
wait
is "of four at once, one ends complete" "$(ls once.data*) $(grep -vc 'another pjrecord is recording' once.err)" "once.data 0"

# where locks fail: the file that has the name at the end is another one
for how in removed replaced; do
	rm -f gone.data gone.data.part
	pjrecord -q -o gone.data -p $$ -s 100 2>err &
	first=$!
	until_ 60 test -s gone.data.part
	rm gone.data.part
	[ $how = removed ] || echo other >gone.data.part
	kill -TERM $first
	wait $first
	is "the unfinished file is $how: status" $? 1
	ok "  the reason" grep -q "another program has removed or replaced 'gone.data.part'" err
	ok "  no recording of others has its name" not test -e gone.data
done

# ---- a full disk

mkdir small
if [ "$(id -u)" = 0 ] && mount -t tmpfs -o size=200k none small 2>err; then
	load 1 spin 60
	# shellcheck disable=SC2086 # numbers
	pjrecord -q -F 4000 -s 30 -p $load -o small/full.data 2>err
	is "a full disk: status" $? 1
	is "  the reason, what helps, and what is left" "$(cat err)" "pjrecord: cannot write 'small/full.data': No space left on device: \
free some space, or name a file on another file system; 'small/full.data.part' keeps the samples until then, and pjfold reads it"
	ok "  that can be read" some small/full.data.part
	rm small/full.data.part
	dd if=/dev/zero of=small/filled bs=4k count=50 2>/dev/null
	pjrecord -q -s 30 -p $load -o small/full.data 2>err
	is "a disk that is full at the start: status, and what is left" "$? $(ls small)" "1 filled"
	is "  the reason, and what helps" "$(cat err)" "pjrecord: cannot write 'small/full.data': No space left on device: \
free some space, or name a file on another file system"
	kill -9 $load
	wait $load 2>/dev/null
	umount small
	load=
else
	skip "a full disk" "a tmpfs may not be mounted"
fi

mkdir theirs && chmod 755 theirs && : >theirs/file
refused_output()
{
	what=$1 message=$2
	shift 2
	"$@" 2>err
	is "$what: status" $? 125
	is "  the reason, and what helps" "$(cat err)" "pjrecord: cannot write $message"
}
refused_output "an output in a directory that does not exist" "'nowhere/x': No such file or directory: create its directory first, or name another file" \
	pjrecord -o nowhere/x true
refused_output "an output that is a directory" "'theirs': it is a directory: name a file in it" pjrecord -o theirs true
if [ "$(id -u)" = 0 ] && have setpriv && chmod 755 . && setpriv --reuid=65534 --regid=65534 --clear-groups test -r theirs/file 2>/dev/null; then
	refused_output "an output that may not be written" "'theirs/x': Permission denied: name a file in a directory to which you may write" \
		setpriv --reuid=65534 --regid=65534 --clear-groups "$(command -v pjrecord)" -o theirs/x true
else
	skip "an output that may not be written" "root with setpriv only, in a folder that others may enter"
fi

refused()
{
	what=$1 message=$2
	shift 2
	"$@" >out 2>err
	is "$what: status" $? 2
	ok "  $message" grep -q -- "$message" err
}

cc -O1 -fomit-frame-pointer -fno-unwind-tables -fno-asynchronous-unwind-tables -o tableless "$top/test/record/burn.c"
pjrecord ./tableless cpu 0.3 2>err
ok "the sentence names the process whose stacks are not complete" grep -q 'of stacks [a-z ]*: tableless has code' err

./$burn shares 60 &
load=$!
ok "-p PID sleep N" pjrecord -q -F 997 -p $load sleep 1
ok "  records the process" some perf.data
is "  alone" "$(pjfold -q --root=process perf.data | grep -c '^sleep')" 0
if [ "$load" -gt 3600 ]; then
	refused "a PID without -p" "-p $load records the process" pjrecord "$load"
else
	skip "a PID without -p" "the PID $load may be the length of a window"
fi
pjrecord -p $load -d operand 1 99 >out 2>err &
recorder=$!
until_note() { for _ in $(seq 100); do grep -q 'windows of 1 s go to operand/out until Ctrl-C; -s 1 records for 1 s' err && return; sleep 0.1; done; return 1; }
ok "a length of windows alone: the first line has the equivalent with an end" until_note
kill $recorder
wait $recorder
pjrecord -q -p $load -n 1 -d operand 1 >out 2>err
is "  not with -q and -n" "$(grep -c Ctrl-C err)" 0
sleep 60 &
idle=$!
until_idle() { for _ in $(seq 100); do grep -q '^[0-9]* (sleep) S' "/proc/$idle/stat" && return; sleep 0.1; done; return 1; }
ok "a process waits" until_idle
pjrecord -p $idle -s 300ms -o idle.data 2>err
ok "-p of a process that waits: what shows its waits" grep -q 'the process did not run on a CPU: --off-cpu shows where it waits' err
pjrecord --off-cpu -p $idle -s 300ms -o idle.data 2>err
is "  not with --off-cpu" "$(grep -c 'did not run' err)" 0
kill $idle
pjrecord -p $load -s 500ms -o part.data 2>err
is "a part of a second, as of sleep" $? 0
ok "  is a recording of that time" grep -q ' 0\.[5-9] s[;,]' err
ok "-s SECONDS -o FILE" pjrecord -q -F 997 -p $load -s 1 -o x.data
ok "  ends by itself" some x.data
(trap '' CHLD; exec pjrecord -q --portable -p $load -s 300ms -o packed.data) 2>err
is "--portable while SIGCHLD is ignored: status and messages" "$? $(cat err)" "0 "
pjrecord -s 300ms -o z.data -- sh -c "tries=600; until [ -e z.data ] || [ \$((tries -= 1)) = 0 ]; do sleep 0.05; done
	[ -e z.data ] && : >seen; ./$burn cpu 0.1; exit 3" 2>err
is "-s SECONDS with a command that takes longer: status of the command" $? 3
ok "  the recording ends before the command" test -e seen
ok "  and no event after its end counts as lost" not grep -q ' lost' err
is "a window in a directory, for so long" "$(pjrecord -q -p $load -s 2 -w 1 -d w 2>err | wc -l)" 2
pjrecord -q -p $load -o - sleep 0.5 2>err | pjfold -q >piped 2>err
ok "-o - with a command, into a pipe" grep -q burn piped
pjrecord -q -p $load -s 60 -o y.data sleep 1000 2>err &
recorder=$!
until_some() { for _ in $(seq 300); do [ -e y.data.part ] && pgrep -P $recorder -x sleep >/dev/null && return; sleep 0.1; done; return 1; }
ok "a recording with a command as timer" until_some
timer=$(pgrep -P $recorder -x sleep)
kill -9 $load
wait $load 2>/dev/null
wait $recorder
is "  ends with the recorded process, with status 0" $? 0
no_timer() { ! kill -0 "$timer" 2>/dev/null; }
ok "  and ends the timer" no_timer
if pjrecord -q -a -s 200ms -o all.data 2>err; then
	ok "-a -g -F N -- sleep N" pjrecord -q -F 99 -a -g -- sleep 0.5
	ok "  is the host" test -s perf.data
else
	skip "-a" "not allowed here: $(head -n 1 err)"
fi

refused "an option that nearly exists" "did you mean --frequency?" pjrecord --freq 99 true
refused "a period of a clock" "cpu-clock is sampled by frequency: -F 100000 is a sample every 10000 ns" pjrecord -e cpu-clock -c 10000 true
refused "a period of a counter" "instructions:u is sampled by frequency: -F HZ sets it" pjrecord -e instructions:u -c 10000 true
refused "an event that nearly exists" "unknown event 'page-fault': did you mean page-faults?" pjrecord -e page-fault true
refused "  before any message of windows" "did you mean page-faults?" pjrecord -d windows -e page-fault 30
is "  in one line" "$(grep -c . err) $(ls windows 2>/dev/null)" "1 "
refused "a tracepoint that nearly exists" "tracepoint 'sched:sched_swich'" pjrecord -e sched:sched_swich true
refused "no time" "not a time from 10ms to 365d" pjrecord -s 0
refused "a decimal comma" "is not a time such as 10, 1.5, 200ms, 5m or 36h" pjrecord -s 1,5
refused "a window of a part of a second" "-s 1.5 records for that time" pjrecord -w 1.5
refused "a word that nearly exists" "fp, tables, auto, verify: did you mean tables?" pjrecord --unwind=tabels true
if ! pjrecord -e cycles:u -o counter.data true 2>err; then
	ok "no counter: the advice keeps the modifier" grep -q 'use -e cpu-clock:u' err
	rm -f perf.data
	pjrecord -o clock.data true 2>err
	is "  the clock is not announced" "$(grep -c 'no hardware counters' err)" 0
	pjrecord -v -o clock.data true 2>err
	is "  but with -v" "$(grep -c 'no hardware counters' err)" 1
else
	skip "no counter" "this host has hardware counters"
fi
refused "threads of perf" "records all threads of a process: -p PID" pjrecord -t 1
refused "--all-user" "-e cycles:u" pjrecord --all-user true
refused "--all-kernel" "-e cycles:k" pjrecord --all-kernel true
refused "a frequency that is none" "neither a whole number of Hz nor max" pjrecord -F fast true
max=$(cat /proc/sys/kernel/perf_event_max_sample_rate)
ok "-F max, -z" pjrecord -q -F max -z -o max.data true
ok "  is the kernel's maximum" sh -c "pjfold --info max.data | grep -q $max"
pjrecord -q --interpreters=on --unwind=fp -o without.data true 2>err
is "--interpreters=on with --unwind=fp" "$(cat err)" "pjrecord: --interpreters has no effect with --unwind=fp: leave that out"
refused "branch stacks" "leave it out, stacks are complete" pjrecord --call-graph lbr true
refused "  by another option" "leave it out, stacks are complete" pjrecord -b true
refused "some CPUs" "records all CPUs: leave it out" pjrecord -C 0 -a sleep 1
refused "  with =" "records all CPUs: leave it out" pjrecord --cpu=0 -a sleep 1
refused "a delay" "record it later: -p PID" pjrecord -D 100 true
refused "several files" "writes a file for each window" pjrecord --switch-output=1G true
refused "rings in pages" "128 pages of perf are 512K" pjrecord -m 128 true
refused "an option in place of a value" "-d: '-a' is an option in place of a value" pjrecord -d -a sleep 1
ok "  makes no directory" test ! -e ./-a
refused "  the end of options" "-o: '--' is an option in place of a value" pjrecord -o -- true
ok "-T, -P" pjrecord -q -T --period -o times.data true
pjrecord -o verb.data record true 2>err
is "a verb of perf: status" $? 127
ok "  what pjrecord takes" grep -q 'a command to record, as in pjrecord ./program; -s 10 records the host' err
if grep -q ' - cgroup' /proc/self/mountinfo && [ "$(id -u)" = 0 ]; then
	pjrecord -G /tmp -s 1 -o x.data 2>err
	ok "a directory that is no cgroup has its name" grep -q "^pjrecord: '/tmp' is not a cgroup" err
else
	skip "a directory that is no cgroup" "not root, or no cgroups here"
fi
refused "no PID, as of pgrep without a match: not the host" "-p: there is no PID: pgrep -d, NAME" pjrecord -p "" -s 60
refused "  no cgroup" "there is no name of a cgroup" pjrecord -G "" -s 60
refused "a name for a PID" "pgrep -d, NAME prints those of a program" pjrecord -p java true
refused "a time as operand" "'10s': -s 10s records for this time" pjrecord 10s
refused "a number with another unit" "operands are SECONDS" pjrecord 10x
refused "nothing after --" "needs a command" pjrecord --
if have script; then
	script -qec pjrecord typescript >out 2>&1
	is "without an end, on a terminal: status" $? 2
	ok "  with the three remedies" grep -q 'add -d DIR; or a length or a command' typescript
	ok "  and no directory" test ! -e out/pjrecord.lock
else
	skip "a terminal" "script(1) is not installed"
fi
done_testing
