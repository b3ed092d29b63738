#!/bin/sh
# record-habits.t - pjrecord typed as perf record: options, a command without --, a command as timer, perf.data.old; and its refusals.
# stage: live
# covers: record/recordopts.c record/pjrecord.c record/single.c common/filter/opt.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=test/record/burn.sh
. "$(dirname "$0")/burn.sh"

# samples FILE: number of its samples in the load
samples()
{
	pjfold -q "$1" 2>err | awk '/burn/ { n += $NF } END { print n + 0 }'
}
some()
{
	[ "$(samples "$1")" -ge 20 ]
}

ok "pjrecord PROGRAM ARGUMENTS" pjrecord -q ./$burn shares 1
ok "  is the recording perf.data" some perf.data
mv perf.data first
ok "options of the program stay its own" pjrecord -q -g sh -c 'exec "$0" "$@"' ./$burn shares 1
ok "  with its stacks" some perf.data
inode=$(stat -c %i perf.data)
ok "--call-graph dwarf,SIZE" pjrecord -q -F 99 --call-graph dwarf,16384 ./$burn shares 1
is "perf.data is kept as perf.data.old" "$(stat -c %i perf.data.old)" "$inode"
ok "  and is a recording" pjfold -q -o out perf.data.old
rm -f perf.data perf.data.old
echo 'int main;' >main.c
pjrecord -q -o main.c -- true 2>err
is "-o with a file that is no recording: status" $? 125
ok "  is refused" grep -q 'is not a recording, and is not replaced' err
is "  and stays" "$(cat main.c)" "int main;"

refused()
{
	what=$1 message=$2
	shift 2
	"$@" >out 2>err
	is "$what: status" $? 2
	ok "  $message" grep -q -- "$message" err
}

cc -O1 -fomit-frame-pointer -fno-unwind-tables -fno-asynchronous-unwind-tables -o tableless "$top/test/record/burn.c"
pjrecord ./tableless shares 1 2>err
ok "the sentence names the process whose stacks are not complete" grep -q 'of stacks [a-z ]*: tableless has code' err

./$burn shares 60 &
load=$!
ok "-p PID sleep N" pjrecord -q -p $load sleep 1
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
ok "-s SECONDS -o FILE" pjrecord -q -p $load -s 1 -o x.data
ok "  ends by itself" some x.data
pjrecord -s 1 -o z.data -- sh -c "./$burn shares 3; exit 3" 2>err
is "-s SECONDS with a command that takes longer: status of the command" $? 3
ok "  the recording ends before the command" awk '/z.data: / { match($0, / [0-9.]+ s[;,]/); exit !(substr($0, RSTART) + 0 < 3) }' err
ok "  and no event after its end counts as lost" not grep -q ' lost' err
is "a window in a directory, for so long" "$(pjrecord -q -p $load -s 2 -w 1 -d w 2>err | wc -l)" 2
pjrecord -q -p $load -o - sleep 1 2>err | pjfold -q >piped 2>err
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
if pjrecord -q -a -s 1 -o all.data 2>err; then
	ok "-a -g -F N -- sleep N" pjrecord -q -F 99 -a -g -- sleep 1
	ok "  is the host" test -s perf.data
else
	skip "-a" "not allowed here: $(head -n 1 err)"
fi

refused "an option that nearly exists" "did you mean --frequency?" pjrecord --freq 99 true
refused "a period of a clock" "cpu-clock is sampled by frequency: -F 100000 is a sample every 10000 ns" pjrecord -e cpu-clock -c 10000 true
refused "a period of a counter" "instructions:u is sampled by frequency: -F HZ sets it" pjrecord -e instructions:u -c 10000 true
refused "an event that nearly exists" "unknown event 'page-fault': did you mean page-faults?" pjrecord -e page-fault true
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
refused "branch stacks" "leave it out, stacks are complete" pjrecord --call-graph lbr true
refused "a number with a unit" "operands are SECONDS" pjrecord 10s
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
