#!/bin/sh
# dump.t - pjflame dump PID: of a C program, of Python and of a JVM each thread has the stack that its source gives it.
# stage: live
# covers: flame/dump.sh flame/pjflame.sh fold/threads/threadtext.c fold/threads/threadstacks.c fold/threads/threadlist.c record/processes/state.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=test/lib/jvm.sh
. "$top/test/lib/jvm.sh"

have pjflame || skip_all "pjflame is not built"
have cc || skip_all "no compiler for the program"
[ "$(uname -m)" = x86_64 ] || skip_all "stacks of waiting threads are read on x86-64"
pjrecord -q -a --off-cpu -w 1 --once -d try >out 2>why || skip_all "recording is not allowed here: $(head -n 1 why)"

refused()
{
	name=$1 message=$2
	shift 2
	pjflame dump "$@" >out 2>err </dev/null
	is "$name: status" $? 2
	ok "  $message" grep -qF -- "$message" err
	ok "  nothing on stdout" test ! -s out
}

# ---- command line
refused "dump of the host" "needs a PID" -a
refused "dump without a PID" "needs a PID"
refused "dump of a command" "needs a PID" true
refused "dump with options of pictures" "takes -p, -c, -s" --title x 1
refused "dump without unwind tables" "--unwind=fp exclude each other" --unwind=fp 1
pjflame dump -h >help
is "dump -h: status" $? 0
ok "  it is that of dump" grep -q '^usage: pjflame dump ' help
gone=$(sh -c 'echo $$')
pjflame dump "$gone" >out 2>err
is "a process that is gone" "$? $(cat err)" "1 pjflame: $gone: no such process (or this user may not see it)"

# ---- stacks
cat >threads.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int ends[2];
static volatile int always = 1, count;

__attribute__((noinline)) static void take_lock(void) { pthread_mutex_lock(&mutex); count++; }
__attribute__((noinline)) static void read_pipe(void) { char c; count += (int)read(ends[0], &c, 1); }
__attribute__((noinline)) static void wait_signal(void) { while (always) pause(); }
__attribute__((noinline)) static void spin(void) { while (always) count++; }
static void *locker(void *p) { prctl(PR_SET_NAME, "a \"b\" tid 1, "); take_lock(); return p; }
static void *reader(void *p) { prctl(PR_SET_NAME, "reader"); read_pipe(); return p; }
static void *sleeper(void *p) { prctl(PR_SET_NAME, "sleeper"); wait_signal(); return p; }
static void *spinner(void *p) { prctl(PR_SET_NAME, "spinner"); spin(); return p; }

static void spin_ms(long ms)
{
	struct timespec from, now;

	clock_gettime(CLOCK_MONOTONIC, &from);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - from.tv_sec) * 1000 + (now.tv_nsec - from.tv_nsec) / 1000000 < ms);
}

/* it runs, is renamed and ends without another sample, mostly */
static void *brief(void *p)
{
	prctl(PR_SET_NAME, "brief");
	spin_ms(30);
	prctl(PR_SET_NAME, "renamed");
	return p;
}

static void *maker(void *p)
{
	pthread_t thread;

	prctl(PR_SET_NAME, "maker");
	for (; always && !pthread_create(&thread, 0, brief, 0); usleep(20000))
		pthread_join(thread, 0);
	return p;
}

int main(void)
{
	void *(*start[])(void *) = { locker, reader, sleeper, spinner, maker };
	pthread_t thread;

	pthread_mutex_lock(&mutex);
	if (pipe(ends))
		return 1;
	for (int i = 0; i < 5; i++)
		pthread_create(&thread, 0, start[i], 0);
	wait_signal();
}
C
ok "the program compiles" cc -O1 -g -pthread -o threads threads.c
./threads &
threads=$!
started="$started $threads"
threads_of()
{
	grep -q spinner "/proc/$threads/task/"*/comm && grep -q maker "/proc/$threads/task/"*/comm && grep -q sleeper "/proc/$threads/task/"*/comm
}
ok "the program has its threads" until_true threads_of
pids=$threads

# ---- a JVM
if [ -n "$jdks" ] && [ -n "$javac" ]; then
	cat >Waits.java <<'J'
public class Waits {
	static final Object monitor = new Object();
	static void waitHere() throws InterruptedException { synchronized (monitor) { monitor.wait(); } }
	public static void main(String[] args) throws InterruptedException {
		Thread thread = new Thread(new Runnable() { public void run() { try { waitHere(); } catch (InterruptedException e) { } } }, "waiter");
		thread.start();
		System.out.println("ready");
		thread.join();
	}
}
J
	need_jdk Waits.java
	for jdk in $jdks; do
		"$jdk/bin/java" -cp . Waits >ready 2>&1 &
		jvm=$!
		started="$started $jvm" pids="$pids,$jvm"
		until_true grep -q ready ready
		rm ready
	done
else
	skip "a JVM" "no JDK"
fi

# ---- Python
python=
if have python3 && [ "$(id -u)" = 0 ]; then
	cat >waits.py <<'P'
import threading, time
event = threading.Event()
def wait_here():
    event.wait()
def main_here():
    print("ready", flush=True)
    time.sleep(600)
threading.Thread(target=wait_here, daemon=True).start()
main_here()
P
	python3 waits.py >ready.python &
	python=$!
	started="$started $python" pids="$pids,$python"
	until_true grep -q ready ready.python
else
	skip "Python" "no python3, or not root"
fi

# stack FILE NAME: the functions of the thread, leaf first, without those of the kernel
stack()
{
	name="\"$2\" tid " awk '/^"/ { on = index($0, ENVIRON["name"]) == 1; next } on && / at / && !/\[kernel/ { sub(/@.*/, "", $2); printf "%s ", $2 } on && /^  \[/ { printf "%s ", $0 }' "$1"
}

# has_frames NAME FRAMES: the thread has these frames, leaf first, and its stack is complete: the names of the functions of the libc that call
# the outermost one depend on its version and on its symbols
has_frames()
{
	case " $(stack dump "$1")" in
	*"[incomplete"* | *"[truncated"* | *"[callers"* | *"[no "*) fail "stack of $1: not complete" dump ;;
	*" $2 "*) pass "stack of $1" ;;
	*) fail "stack of $1: not '$2'" dump ;;
	esac
}

# of all programs at once; pjrecord reads a thread again after 1 and 3 s, when it knows the program
pjflame dump -s 5 -p "$pids" >dump 2>err
is "dump -p PID,...: status" $? 0
has_frames threads "wait_signal main"
has_frames 'a \x22b\x22 tid 1, ' "take_lock locker" # no name ends its own quotation marks
has_frames reader "read_pipe reader"
has_frames sleeper "wait_signal sleeper"
has_frames spinner "spin spinner"
is "  the main thread is first" "$(grep -A 2 "^process $threads\$" dump | sed -n '3s/ tid.*//p')" '"threads"'
is "  each wait lasts for the whole recording" "$(grep -c '^"\(threads\|a \\x22b\\x22 tid 1, \|reader\|sleeper\)" tid [0-9]*, waiting for at least [0-9.]* ms, offcpu-time$' dump)" 4
ok "  of the threads that ran and ended, at most the last one" test "$(grep -c '^"\(brief\|renamed\)"' dump)" -le 1
ok "  one sentence counts the threads" grep -q '^pjflame: [0-9]* threads: [0-9]* running, [0-9]* waiting, [0-9]* preempted' err
is "  nothing was stopped, and it is the same process" "$(sed -n 's/^TracerPid:[[:blank:]]*//p; s/^State:[[:blank:]]*\([RS]\).*/\1/p' "/proc/$threads/status" | tr '\n' ' ')" "S 0 "
if [ -n "$jdks" ] && [ -n "$javac" ]; then
	for jdk in $jdks; do jvms=${jvms:+$jvms }waiter; done
	is "  the waiting thread of each JVM" "$(awk '/^"/ { on = /^"waiter" tid/; next } on && $2 ~ /^Waits\.waitHere/ { printf "waiter " }' dump)" "$jvms "
	ok "  compiled code has no file" test "$(grep -c 'perf-[0-9]*\.map' dump)" = 0
fi
if [ -z "$python" ]; then
	:
elif grep -q ': its functions are not shown\|has no effect' err; then
	skip "functions of Python" "$(head -n 1 err)"
else
	ok "  the main thread of Python" grep -q '^  at __main__.main_here:waits.py:7 ' dump
	ok "  the other thread of Python" grep -q '^  at __main__.wait_here:waits.py:4 ' dump
fi
for pid in $started; do
	[ "$pid" = "$threads" ] || kill "$pid"
done

# ---- output
umask 077
pjflame dump -q -s 1 --pid "$threads" -o dump.txt >out 2>err
is "dump -q --pid PID -o FILE: status, output" "$? $(cat out err)" "0 "
is "  the mode is that of the umask" "$(stat -c %a dump.txt)" 600
is "  each thread is in the file" "$(grep -c '^"\(threads\|a \\x22b\\x22 tid 1, \|reader\|sleeper\|spinner\|maker\)" tid' dump.txt)" 6
umask 022
pjflame dump -v -s 1 -p "$threads" -o /dev/full 2>err
is "a full disk: status" $? 1
ok "  -v has the counts of pjrecord" grep -q '^pjrecord: .* blocked' err

# ---- the report of pjfold is the same for each run, and needs no list of threads
pjrecord -q --off-cpu -p "$threads,$gone" -s 1 -o perf.data 2>err
is "pjrecord leaves out a process that is gone" "$(cat err)" "pjrecord: --pid: 1 of 2 processes are gone"
pjfold -q --thread-dump perf.data >first
pjfold -q --thread-dump -j 3 perf.data >second
ok "pjfold --thread-dump writes the same bytes with 3 threads" cmp first second
ok "  threads that ended during the recording are left out" test "$(grep -c '^"\(brief\|renamed\)"' first)" -le 1
ok "  not nothing" grep -q '^"spinner" tid' first
tid=$(sed -n 's/^"spinner" tid \([0-9]*\),.*/\1/p' first)
printf '%s %s spinner\n%s 1 none\n' "$threads" "$tid" "$threads" >list
pjfold --thread-dump=list perf.data >out 2>err
is "  --thread-dump=FILE: status, threads" "$? $(sed -n 's/^"\(.*\)" tid.*/\1/p' out | tr '\n' ' ')" "0 none spinner "
ok "  the sentence" grep -q '^pjfold: 2 threads: .* 1 without a stack$' err
printf '%s 1 none\n' "$threads" >list
pjfold --thread-dump=list perf.data >out 2>err
is "  no thread with a stack: status" $? 1
echo x >list
pjfold --thread-dump=list perf.data >out 2>err
is "  a malformed list" "$? $(cat err)" "1 pjfold: list:1: no line of a list of threads: PID TID NAME"
pjfold --thread-dump --top 3 perf.data >out 2>err
is "--thread-dump and --top: status" $? 2
pjfold --thread-dump --by=container perf.data >out 2>err
is "--thread-dump and --by: status" $? 2
pjfold --thread-dump perf.data perf.data >out 2>err
is "--thread-dump of two recordings: status" $? 2
pjfold --thread-dump "$top/examples/sample.script.gz" >out 2>err
is "--thread-dump of text: status" $? 2
pjrecord -q -p "$threads" -s 1 -o cpu.data
pjfold --thread-dump cpu.data >out 2>err
is "--thread-dump of a recording without waits" "$? $(sed 's/ (see.*//' err)" "2 pjfold: --thread-dump needs the waits of threads, which 'cpu.data' lacks: record with pjrecord --off-cpu"
kill "$threads"
done_testing
