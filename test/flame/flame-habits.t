#!/bin/sh
# flame-habits.t - pjflame typed as users of async-profiler, py-spy and perf type it: a PID, a command or a file as operand, their
# options, the name of a service; and one line for what it does not do.
# stage: live
# covers: flame/pjflame.sh flame/draw.sh flame/life.sh flame/record.sh flame/containers.sh fold/process/jvmthreads.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=test/record/burn.sh
. "$top/test/record/burn.sh"
# shellcheck source=test/lib/jvm.sh
. "$top/test/lib/jvm.sh"

have pjflame || skip_all "pjflame is not built"

# shows FILE FRAME: true if the picture has this frame
shows()
{
	pjsvg --unpack "$1" 2>/dev/null | grep -q -- "$2"
}

refused()
{
	name=$1 message=$2
	shift 2
	"$@" >out 2>err </dev/null
	is "$name: status" $? 2
	ok "  one line" test "$(wc -l <err)" = 1
	ok "  $message" grep -qF -- "$message" err
	ok "  nothing on stdout" test ! -s out
}

# ---- files: nothing is recorded
printf 'app;main;parse 5\napp;main;read 3\n' >x.folded
ok "pjflame x.folded" pjflame x.folded
ok "  is its picture" shows flame.svg 'app;main;parse 5'
ok "-f FILE and --title" pjflame -f y.svg --title 'Two calls' x.folded
ok "  has the title" grep -q 'Two calls' y.svg
ok "text of perf script" pjflame -q -o script.svg "$top/examples/sample.script.gz"
ok "  is folded" shows script.svg 'start_thread;'
pjflame -q -o - - <x.folded >piped.svg
is "pjflame - reads standard input: status" $? 0
ok "  and -o - writes standard output" shows piped.svg 'app;main;read 3'
mkdir folder
refused "a directory" "draws the windows of a recorder" pjflame folder
refused "two files" "pjfold adds several" pjflame x.folded x.folded
refused "a file and a length" "options of a recording do not apply" pjflame -s 3 x.folded
refused "a file and a PID" "exclude each other" pjflame x.folded 1
echo 'neither a stack nor a sample of any kind' >notes.txt
pjflame -q -o notes.svg notes.txt 2>err
is "text without samples: status" $? 1
ok "  and no picture" test ! -e notes.svg

# ---- a full disk: one sentence with what helps, and no name of a file that is removed
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
	mkdir full
	# full KILOBYTES ARGUMENT...: runs pjflame with a TMPDIR of this size
	full()
	{
		unshare -m sh -c 'mount -t tmpfs -o "size=$1k" full full && shift && TMPDIR=full pjflame -q -o full.svg "$@"; echo "$? $(ls full)" >left' - "$@" 2>err
	}
	sentence="pjflame: the file system of 'full' is full: free some space there, or set TMPDIR to a directory on another file system"
	full 64 -F 9999 -s 1
	is "a full disk, recording: status, and nothing is left" "$(cat left)" "1 "
	is "  the sentence" "$(cat err)" "$sentence"
	full 64 -F 9999 -- sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done'
	is "  recording a command: status, and nothing is left" "$(cat left)" "125 "
	is "  the sentence" "$(tail -n 1 err)" "$sentence"
	ok "  pjrecord's reason has no part" sh -c 'grep -c "^pjrecord: cannot write .*: No space left on device$" err | grep -qx 1 && ! grep -q "[.]part" err'
	awk 'BEGIN { for (i = 0; i < 9000; i++) print "app;main;function" i " 1" }' >long.folded
	full 64 long.folded
	is "  drawing a file: status, and nothing is left" "$(cat left)" "1 "
	is "  the sentence" "$(cat err)" "$sentence"
else
	skip "a full disk" "a tmpfs may not be mounted"
fi

# ---- what is not done is answered in one line
refused "a word" "no PID, no file with samples and no command" pjflame no-such-word
refused "a file that is not there" "no such file" pjflame no-such.data
refused "an unknown palette, before the recording" "unknown palette 'jav'" pjflame --colors=jav -s 1
refused "a page of HTML" "-f x.svg" pjflame -d 5 -f x.html 1
refused "a page of another format" "written by --folded=FILE" pjflame -d 5 -o collapsed 1
refused "a pattern of async-profiler" "such as %p and %t are not replaced" pjflame -d 5 -f profile-%p.svg 1
refused "  at the end" "are not replaced" pjflame -d 5 -o x.%t 1
ok "a percent sign in a name" pjflame -q -o 50%part.svg x.folded
refused "a cgroup, of perf" "-G: -c NAME records a cgroup by the last part of its path" pjflame -G no-such -s 60
refused "  by its long name" "--cgroup: -c NAME records a cgroup" pjflame --cgroup=no-such -s 60
touch file
for folder in no/such file; do
	TMPDIR=$folder pjflame -s 60 >out 2>err </dev/null
	is "TMPDIR=$folder: status, one line with the reason" "$? $(sed "s/'[^']*'/X/; s/: set TMPDIR to.*//" err | tr '\n' ';')" "1 pjflame: cannot create a temporary directory in X, which $([ -e $folder ] && echo is no directory || echo does not exist);"
done
refused "a picture of pixels" "-o x.svg" pjflame -o x.png 1
refused "another profile" "stacks of --folded=FILE" pjflame -o x.pb.gz 1
refused "a format of py-spy" "stacks of --folded=FILE" pjflame --format speedscope 1
refused "a time that is none" "such as 10, 1.5, 5m or 1h" pjflame -s 1,5 1
refused "a time that is too short" "from 10ms to 1d" pjflame -s 0.001 1
refused "a time that is too long" "from 10ms to 1d" pjflame -s 25h 1
refused "a part of a second for tables" "in whole seconds" pjflame top -s 1.5
refused "an option of pjsvg" "--reverse is an option of pjsvg" pjflame --reverse -s 60
refused "  with a value" "--minwidth is an option of pjsvg" pjflame --minwidth=3 -s 60
refused "an option of pjrecord" "--keep-age is an option of pjrecord" pjflame --keep-age 3d
refused "an option of pjfold" "--tree is an option of pjfold" pjflame --tree perf.data
refused "threads that wait, of py-spy" "-e wall has the waits" pjflame record --idle --pid 1
refused "child processes of py-spy" "-p PID,PID2" pjflame record --subprocesses --pid 1
refused "an empty PID" "--pid: there is no PID: pgrep -d, NAME" pjflame --pid "" -s 60
refused "  an option in its place" "--pid: there is no PID" pjflame record --pid -o x.svg
refused "a verb of async-profiler" "records for a time and ends" pjflame start 1
pjflame -q -s 60 -- true 2>err
is "a command that is too short for a sample: status, message" "$? $(grep -c 'too short a time (-F 9999 takes more samples' err)" "125 1"
refused "a misspelt event, before the recording" "did you mean page-faults?" pjflame -e page-fault -s 60
refused "a misspelt way to unwind, before the recording" "did you mean tables?" pjflame --unwind=tabels -s 60
refused "an interval that is none" "such as 10ms" pjflame -i 10x 1
if [ "$(id -u)" = 0 ] && have setpriv && chmod 755 . && setpriv --reuid=65534 --regid=65534 --clear-groups test -r x.folded 2>/dev/null; then
	chmod 600 x.folded
	refused "a file that may not be read" "permission denied" setpriv --reuid=65534 --regid=65534 --clear-groups "$(command -v pjflame)" x.folded
	chmod 644 x.folded
else
	skip "a file that may not be read" "root with setpriv only, in a folder that others may enter"
fi
gone=$(sh -c 'echo $$')
pjflame -s 1 "$gone" >out 2>err
is "a process that is gone" "$? $(cat err)" "1 pjflame: $gone: no such process (or this user may not see it)"
refused "wall clock with an event" "--wall exclude --event" pjflame --wall -e page-faults 1
ok "of several -e the last one counts" pjflame -q -e wall -e page-faults -o last.svg -- sh -c 'ls / >/dev/null'
ok "  also above wall" grep -q '<title>page-faults of sh' last.svg
printf '#x  10/10  1.000000:  1 cycles: \n\t  401000 main+0x0 (/bin/x)\n\n' >hash.txt
ok "a thread named #x is no header" pjflame -q -o hash.svg hash.txt
ok "--values=event has it" sh -c 'pjflame --values=event | grep -qx wall'
refused "wall clock with --off-cpu" "has the off-CPU times, too" pjflame -e wall --off-cpu 1
refused "locks" "--off-cpu records where threads wait" pjflame -e lock 1
refused "a name for a PID" "pgrep -d, NAME prints those of a program" pjflame -p java
refused "native allocations" "allocations are not recorded" pjflame -e nativemem 1
if have script; then
	timeout 60 script -qec 'pjflame -s 1 -o - 1' typescript >out 2>&1 </dev/null
	is "-o - to a terminal: refused before the recording" "$(tr -d '\r' <out)" "pjflame: standard output is a terminal: write the picture to a file with -o flame.svg (see pjflame --help)"
else
	skip "-o - to a terminal" "no script"
fi
if command -v dump >/dev/null; then
	skip "a verb after options" "this host has a command dump"
else
	refused "a verb after options" "in front of all options: pjflame dump -p PID" pjflame -q dump 1
fi
refused "dump of nothing" "dump needs a PID" pjflame dump
refused "a misspelt option" "did you mean --seconds?" pjflame --second 3
refused "a misspelt grouping" "did you mean container?" pjflame --by=contaner
refused "letters that are swapped" "did you mean thread?" pjflame --by=thraed
is "--values=by" "$(pjflame --values=by | tr '\n' ' ')" "process thread container pod cgroup "
is "--values=colors are those of pjsvg" "$(pjflame --values=colors)" "$(pjsvg --values=colors)"
is "--values=seconds" "$(pjflame --values=seconds)" ""
refused "--values of no option" "there is no option --zzz" pjflame --values=zzz
refused "an unknown option" "unknown option '--zzz'" pjflame --zzz
pjflame -h >help
is "-h: status" $? 0
pjflame --help | cmp -s - help
is "  is --help" $? 0

if have script; then
	script -qec 'pjsvg x.folded' typescript >out 2>&1
	is "pjsvg on a terminal: status" $? 2
	ok "  with the remedy" grep -q -- '-o flame.svg' typescript
	ok "  without a picture" test "$(wc -c <typescript)" -lt 1000
else
	skip "a terminal" "script(1) is not installed"
fi

# ---- recordings
pjrecord -q -a -s 100ms -o try.data >out 2>why || { skip "recordings" "recording is not allowed here: $(head -n 1 why)"; done_testing; exit; }
./$burn shares 400 &
load=$!
ok "pjflame PID" pjflame -q -s 1 $load
echo 'app;main 3' | pjflame -s 300ms -o host.svg 2>err
is "a pipe without the operand -: status, message" "$? $(grep -c 'pipe on standard input is not read: perf script | pjflame - draws it' err)" "0 1"
echo 'app;main 3' | pjflame -s 300ms -o host.svg -a 2>err
is "  with a target: status, message" "$? $(grep -c 'pipe on standard input' err)" "0 0"
pjflame -c no-such-container -s 60 >out 2>err </dev/null
is "a container that is not there: status, advice" "$? $(grep -cE "called 'no-such-container': (pjflame --list prints|there is none that this user may see: -p PID records|did you mean)" err)" "1 1"
ok "  is its picture" shows flame.svg burn
sh -c 'sleep 60 & wait' &
idle=$!
until_true pgrep -P "$idle"
children=$(pgrep -P "$idle")
pjflame -q -s 300ms -o idle.svg $idle 2>err
is "a process that sleeps, with a child process: status" $? 1
ok "  with the PIDs to record" grep -qF -- "(-p $idle,$children " err
kill $idle $children
ok "options after a PID: -d and -f" pjflame $load -q -d 1s -f after.svg
ok "  is its picture" shows after.svg burn
ok "record --pid PID --rate N -g, as py-spy has it" pjflame record -q -g --rate 199 --duration 1 --pid $load -o spy.svg
ok "  is its picture" shows spy.svg burn
ok "-p PID sleep N, as perf has it, and -i TIME" pjflame -q -i 5ms -p $load --native -o timer.svg sleep 1
ok "  is its picture" shows timer.svg burn
ok "  of N seconds" sh -c 'pjsvg --unpack timer.svg | awk "{ n += \$NF } END { exit !(n >= 5 && n <= 300) }"'
ok "-t PID" pjflame -q -s 500ms -t -o threads.svg $load
# shellcheck disable=SC2154 # of burn.sh
ok "  has a frame of the process and one of the thread" shows threads.svg "^$burn;\[$burn\];"
pjflame top -q -n 1 -s 1 --pid $load >table
is "top --pid PID: status" $? 0
ok "  is a table" grep -q '%  fifty' table
ok "pjflame PROGRAM ARGUMENTS" pjflame -q ./$burn cpu 0.3
ok "  is its picture" shows flame.svg burn
pjflame -q sh -c 'exit 7' -q 2>err
is "a program in PATH, with options of its own and its status" $? 7
pjflame -q -s 500ms -o first.svg -- sh -c "./$burn shares 1.5; head -c 300000000 /dev/zero | cksum; exit 7" >out 2>err
is "-s 500ms with a command that takes longer: status of the command" $? 7
ok "  is the picture of its first half second" shows first.svg burn
ok "  alone" not shows first.svg cksum

# a signal ends the recording of a command and, as with perf record, the command
cat >turns.sh <<'SH'
trap 'echo interrupted; exit 5' INT
echo begun $$
while :; do :; done
SH
# has_run FILE: true if the process whose PID is in the first line has run for half a second, some 150 samples
has_run()
{
	awk '{ exit $14 + $15 < 50 }' "/proc/$(sed -n 's/^begun \([0-9]*\).*/\1/p;q' "$1")/stat"
}
undo=
if env --default-signal=INT,QUIT true 2>/dev/null; then undo='env --default-signal=INT,QUIT'; fi
for signal in TERM INT; do
	if [ "$signal" = INT ] && [ -z "$undo" ]; then
		skip "INT while a command is recorded" "env cannot undo that jobs of a shell ignore it"
		continue
	fi
	# a loop would not end if the signal was lost
	$undo pjflame -q -o ended.svg -- timeout --foreground 60 sh turns.sh >ended.out 2>err &
	flame=$!
	until_true grep -q begun ended.out
	until_true has_run ended.out
	kill -$signal $flame
	wait $flame
	is "$signal while a command is recorded: status of the command" "$? $(cat err)" "143 "
	ok "  is its picture" shows ended.svg '^sh;'
	ok "  and the command has ended" not has_run ended.out
	rm -f ended.svg
done
echo given | pjflame -q -o in.svg -- sh -c "cat; exec ./$burn cpu 0.1" >out 2>err
is "a command has the standard input: status" "$? $(cat out err)" "0 given"
pjflame -q -o closed.svg -- sh -c "./$burn cpu 0.2; exit 7" >&- 2>err
is "a closed standard output: status of the command" "$? $(cat err)" "7 "
ok "  is its picture" shows closed.svg burn
if [ -n "$undo" ] && have script; then
	mkfifo keys
	# script runs $SHELL, and a shell without a trap, such as dash, would end at Ctrl-C before it prints the status
	$undo timeout 60 script -qefc 'trap : INT; pjflame -o ctrl.svg -- sh turns.sh; echo status $?' typescript <keys >ctrl.out 2>&1 &
	terminal=$!
	exec 7>keys
	until_true grep -q begun ctrl.out
	until_true has_run ctrl.out
	printf '\003' >&7
	until_true grep -q status ctrl.out
	exec 7>&-
	wait $terminal
	is "Ctrl-C reaches a command that handles it, without SIGTERM: its status" "$(tr -d '\r' <ctrl.out | grep -o -e 'interrupted$' -e 'status .*' | tr '\n' ' ')" "interrupted status 5 "
	ok "  is its picture" shows ctrl.svg '^sh;'
else
	skip "Ctrl-C while a command is recorded" "no script, or env cannot undo that jobs of a shell ignore it"
fi

pjrecord -q -p $load -s 500ms -o perf.data 2>err
ok "pjflame perf.data" pjflame -q -o data.svg perf.data
ok "  is its picture" shows data.svg burn

# ---- JVMs: their own threads are in groups; nobody else's
cat >named.c <<'C'
#include <pthread.h>
#include <sys/prctl.h>
static void *work(void *seconds)
{
	prctl(PR_SET_NAME, "VM Thread");
	for (volatile unsigned long n = 0;; n++)
		;
	return seconds;
}
int main(void)
{
	pthread_t thread;
	pthread_create(&thread, 0, work, 0);
	pthread_join(thread, 0);
}
C
ok "a program with a thread called VM Thread" ${CC:-cc} -O1 -g -pthread -o named named.c
./named &
named=$!
ok "  pjflame -t" pjflame -q -s 500ms -t -o named.svg $named
ok "  has the thread, and no group" shows named.svg '^named;\[VM_Thread\];'
kill -9 $named
wait $named 2>/dev/null
java=$(ls -d /usr/lib/jvm/*/bin/java 2>/dev/null | tail -n 1)
if [ -n "$java" ] && [ -x "${java%/*}/javac" ]; then
	cat >Garbage.java <<'J'
public class Garbage {
	static byte[][] held = new byte[2000][];
	public static void main(String[] words) {
		for (int i = 0;; i = (i + 1) % held.length)
			held[i] = new byte[20000];
	}
}
J
	"${java%/*}/javac" Garbage.java
	"$java" -Xmx200m -XX:+UseG1GC Garbage >garbage.out 2>&1 &
	garbage=$!
	collects()
	{
		cat /proc/$garbage/task/*/comm 2>/dev/null | grep -q '^GC Thread#0'
	}
	ok "a JVM collects garbage" until_true collects
	ok "  pjflame PID" pjflame -q -s 2 -F 997 -o jvm.svg $garbage
	ok "  has the group of GC threads" shows jvm.svg '^java;\[JVM\] GC;'
	ok "  threads of the application are in none" shows jvm.svg '^java;[^[].*Garbage\.main'
	ok "  no frame of a thread" not shows jvm.svg '^java;\[GC_Thread#'
	ok "  pjflame -t PID" pjflame -q -s 2 -F 997 -t -o jvm-t.svg $garbage
	ok "  has the thread below its group" shows jvm-t.svg '^java;\[JVM\] GC;\[GC_Thread#0\];'
	ok "  has the thread of the application" shows jvm-t.svg '^java;\[java\];.*Garbage\.main'
	kill -9 $garbage
	wait $garbage 2>/dev/null
else
	skip "a JVM" "no JDK below /usr/lib/jvm"
fi

# ---- functions of Python, without an option
cat >spin.py <<'P'
import sys, time
end = time.process_time() + float(sys.argv[1])
def inner(n):
    return sum(str(i) != '' for i in range(n))
def outer():
    while time.process_time() < end:
        inner(2000)
outer()
P
python=$(for at in /usr/bin/python3.[0-9]*; do case ${at##*/} in python3.8 | python3.9 | python3.1[0-5]) echo "$at" ;; esac; done | head -n 1)
if [ -n "$python" ] && [ "$(id -u)" = 0 ] && pjrecord --check -d . 2>/dev/null | grep -q '^ok *interpreters'; then
	ok "pjflame python3 FILE" pjflame -q -o py.svg "$python" spin.py 1
	ok "  has its functions" shows py.svg '__main__\.outer_\[0\];.*__main__\.inner_\[0\]'
	ok "--interpreters=off" pjflame -q --interpreters=off -o off.svg "$python" spin.py 0.5
	is "  does not: samples with them" "$(pjsvg --unpack off.svg >off.folded; echo "$? $(grep -c __main__ off.folded)")" "0 0"
else
	skip "functions of Python" "no Python from 3.8 to 3.15 in /usr/bin, or no right to real-time priority"
fi
refused "--interpreters=maybe" "is not off, on, all or auto" pjflame --interpreters=maybe 1
refused "--interpreters=on with --unwind=fp" "exclude each other" pjflame --interpreters=on --unwind=fp 1
refused "--interpreters=all with --unwind=fp" "exclude each other" pjflame --interpreters=all --unwind=fp 1
is "--values=interpreters" "$(pjflame --values=interpreters | tr '\n' ' ')" "off on all auto "

root=$(awk '{ for (i = 7; i < NF; i++) if ($i == "-") { type = $(i + 1); options = $(i + 3); break }
	if (type == "cgroup" && ("," options ",") ~ /,perf_event,/) own = $5
	if (type == "cgroup2" && !second) second = $5 } END { print own ? own : second }' /proc/self/mountinfo)
service=$root/pjweb$$.service
if [ -n "$root" ] && mkdir "$service" 2>why; then
	echo $load >"$service/cgroup.procs"
	ok "-c NAME of a service" pjflame -q -s 500ms -c pjweb$$ -o web.svg
	ok "  is its picture" shows web.svg burn
	pjflame -l >list
	is "-l lists units: one process" "$(awk -v unit="pjweb$$.service" '$2 == unit { print $3 }' list)" 1
	ok "--values=container has it" sh -c 'pjflame --values=container | grep -qx "$1"' - "pjweb$$.service"
	pjflame -q -s 1 -c pjwbe$$ -o near.svg 2>err
	is "-c with swapped letters: status" $? 1
	is "  and the unit that was meant" "$(cat err)" "pjflame: no process is in a container, unit or cgroup called 'pjwbe$$': did you mean pjweb$$? (pjflame --list)"
	pjflame -q -s 1 -c "b$$" -o near.svg 2>err
	ok "-c with a part of a name: the unit is named" grep -qF "did you mean pjweb$$.service?" err
	echo $load >"$root/cgroup.procs"
	rmdir "$service"
else
	skip "-c NAME of a service" "no cgroup can be made here: $(head -n 1 why 2>/dev/null)"
fi
kill -9 $load
wait $load 2>/dev/null
done_testing
