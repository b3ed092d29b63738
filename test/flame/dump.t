#!/bin/sh
# dump.t - pjflame dump PID: of a C program, of Python and of a JVM each thread has the stack that its source gives it.
# stage: live
# covers: flame/dump.sh flame/pjflame.sh fold/process/threadstacks.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=test/lib/jvm.sh
. "$top/test/lib/jvm.sh"

have pjflame || skip_all "pjflame is not built"
have cc || skip_all "no compiler for the program"

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
ok "  has dump" grep -q '^       pjflame dump ' help
gone=$(sh -c 'echo $$')
pjflame dump "$gone" >out 2>err
is "a process that is gone" "$? $(cat err)" "1 pjflame: $gone: no such process (or this user may not see it)"

# ---- stacks
[ "$(uname -m)" = x86_64 ] || skip_all "stacks of waiting threads are read on x86-64"
pjrecord -q -a --off-cpu -w 1 --once -d try >out 2>why || skip_all "recording is not allowed here: $(head -n 1 why)"
cat >five.c <<'C'
#include <pthread.h>
#include <sys/prctl.h>
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

int main(void)
{
	void *(*start[])(void *) = { locker, reader, sleeper, spinner };
	pthread_t thread;

	pthread_mutex_lock(&mutex);
	if (pipe(ends))
		return 1;
	for (int i = 0; i < 4; i++)
		pthread_create(&thread, 0, start[i], 0);
	wait_signal();
}
C
ok "the program compiles" cc -O1 -g -pthread -o five five.c
./five &
five=$!
started="$started $five"
threads_of()
{
	[ "$(find "/proc/$five/task" -mindepth 1 -maxdepth 1 | wc -l)" = 5 ] && grep -q spinner "/proc/$five/task/"*/comm
}
ok "the program has its threads" until_true threads_of

# stack FILE NAME: the functions of the thread, leaf first, without those of the kernel
stack()
{
	awk -v name="\"$2\" tid " '/^"/ { on = index($0, name) == 1; next } on && / at / && !/\[kernel/ { sub(/@.*/, "", $2); printf "%s ", $2 } on && /^  \[/ { printf "%s ", $0 }' "$1"
}

# ends NAME FRAMES: the outer frames of the thread are those
ends()
{
	case " $(stack dump "$1")" in
	*" $2 ") pass "stack of $1" ;;
	*) fail "stack of $1: not '$2'" dump ;;
	esac
}

pjflame dump "$five" >dump 2>err
is "dump PID: status" $? 0
ends five "wait_signal main __libc_start_call_main __libc_start_main _start"
ends 'a "b" tid 1, ' "take_lock locker start_thread clone3"
ends reader "read_pipe reader start_thread clone3"
ends sleeper "wait_signal sleeper start_thread clone3"
ends spinner "spin spinner start_thread clone3"
is "  the main thread is first" "$(grep -c . dump; sed -n '3s/ tid.*//p' dump)" "$(grep -c . dump; echo '"five"')"
is "  four threads wait" "$(grep -c '^".*, waiting for [0-9.]* ms, offcpu-time$' dump)" 4
ok "  one sentence counts them" grep -q '^pjflame: 5 threads: [01] running, 4 waiting, [01] preempted, 0 without a stack$' err
is "  nothing was stopped, and it is the same process" "$(sed -n 's/^TracerPid:[[:blank:]]*//p; s/^State:[[:blank:]]*\([RS]\).*/\1/p' "/proc/$five/status" | tr '\n' ' ')" "S 0 "
pjflame dump -q -s 1 --pid "$five" -o dump.txt >out 2>err
is "dump -q --pid PID -o FILE: status, output" "$? $(cat out err)" "0 "
ok "  is in the file" grep -q '^  at take_lock (' dump.txt
pjflame dump -s 1 -p "$five" -o /dev/full 2>err
is "a full disk: status" $? 1

# ---- the report of pjfold is the same for each run
pjrecord -q --off-cpu -p "$five" -s 1 -o perf.data
pjfold -q --thread-dump perf.data >first
pjfold -q --thread-dump -j 3 perf.data >second
ok "pjfold --thread-dump writes the same bytes with 3 threads" cmp first second
ok "  not nothing" test "$(grep -c '^"' first)" = 5
pjfold --thread-dump --top 3 perf.data >out 2>err
is "--thread-dump and --top: status" $? 2
pjfold --thread-dump --by=container perf.data >out 2>err
is "--thread-dump and --by: status" $? 2
pjfold --thread-dump "$top/examples/sample.script.gz" >out 2>err
is "--thread-dump of text: status" $? 2
kill "$five"

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
		started="$started $jvm"
		until_true grep -q ready ready
		# pjrecord reads a thread again after 3 s, when it knows the JVM
		pjflame dump -s 5 "$jvm" >dump 2>err
		is "$jdk: status" $? 0
		case $(stack dump waiter) in
		*'java/lang/Object.wait Waits.waitHere '*' clone3 ') pass "$jdk: stack of waiter" ;;
		*) fail "$jdk: stack of waiter" dump ;;
		esac
		kill "$jvm"
	done
else
	skip "a JVM" "no JDK"
fi

# ---- Python
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
	python3 waits.py >ready &
	python=$!
	started="$started $python"
	until_true grep -q ready ready
	pjflame dump -s 5 "$python" >dump 2>err
	is "Python: status" $? 0
	if grep -q ': its functions are not shown\|has no effect' err; then
		skip "functions of Python" "$(head -n 1 err)"
	else
		ok "  the main thread" grep -q '^  at __main__.main_here:waits.py:7 ' dump
		ok "  the other thread" grep -q '^  at __main__.wait_here:waits.py:4 ' dump
	fi
	kill "$python"
else
	skip "Python" "no python3, or not root"
fi
done_testing
