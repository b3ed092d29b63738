#!/bin/sh
# readers.t - texts of other profilers: bpftrace, bcc, thread dumps, jfr print, simpleperf; and those of a real JVM.
# covers: fold/foreign/foreignreader.c fold/foreign/foreignstack.c fold/foreign/bpftrace.c fold/foreign/bcc.c fold/run.c
# covers: fold/foreign/threaddump.c fold/foreign/jfrprint.c fold/foreign/simpleperf.c fold/foreign/jsonlines.c
# full-san: 15 to 60 s with sanitizers; unit tests, cases and fuzz corpora of its modules run with them in ./check
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
have pjfold || skip_all "pjfold is not built"

# folded FILE [OPTION...]: on one line
folded()
{
	file=$1
	shift
	pjfold -q "$@" "$file" 2>err | tr '\n' '|'
}

# ---- bpftrace
cat >maps <<'END'
Attaching 2 probes...
^C

@[
    tcp_recvmsg+808
    entry_SYSCALL_64_after_hwframe+61
, 
    read+37 (/usr/lib/libc.so.6)
    0x7f1a2b3c4d5e
    main(int)+0x25
, a b, 4711]: 12
@[, 
    main+1
, app]: 3
@[java]: 2
@other[
	ffffffff8a0e1c3d _raw_spin_lock_bh+0 ([kernel.kallsyms])
	7f1a2b3c4d5e 0x7f1a2b3c4d5e ([unknown])
]: 5
@usecs[app]: 
[1K, 2K)              12 |@@@@|
END
is "bpftrace: stacks and words of a key" "$(folded maps)" \
	'a_b;main;[unknown];read;entry_SYSCALL_64_after_hwframe_[k];tcp_recvmsg_[k] 12|app;main 3|java 2|'
ok "  what is no count is named" grep -q "not recognized: '\[1K, 2K)" err
ok "  other maps are named" grep -q '@other (5 samples)' err
is "  and are folded on request" "$(folded maps --addrs --only event=@other)" '[unknown <7f1a2b3c4d5e>];_raw_spin_lock_bh_[k] 5|'
printf '@[\n    main+1\n, \n    do_idle+3\n    secondary_startup_64+1\n]: 4\n' >reverse
is "  kernel code is innermost in any order" "$(folded reverse)" 'main;secondary_startup_64_[k];do_idle_[k] 4|'
is "  the total is that of the maps" "$(pjfold -q maps 2>/dev/null | awk '{ n += $NF } END { print n }')" 17
{
	echo '{"type": "attached_probes", "data": {"probes": 1}}'
	printf '%s\n' '{"type": "map", "data": {"@": {"\n    read+1\n    entry_SYSCALL_64_after_hwframe+6\n,\n    main\u003cint>+37\n,app,12": 7, ",\n    main+1\n,app": 3}}}'
	echo '{"type": "hist", "data": {"@h": {"app": [{"min": 1, "max": 2, "count": 9}]}}}'
} >json
is "  in JSON" "$(folded json)" 'app;main 3|app;main<int>;entry_SYSCALL_64_after_hwframe_[k];read_[k] 7|'
printf '@a[x]: 9223372036854775807\n@a[y]: 9223372036854775807\n' >heavy
ok "  a sum beyond 63 bits is refused" not pjfold -q heavy

# ---- bcc
cat >profile <<'END'
Sampling at 49 Hertz of all threads by user + kernel stack... Hit Ctrl-C to end.
^C
    vfs_read
    sys_read
    --
    read
    b'main'
    -                my app (9036)
        3

    main
    -                other (12)
        4

END
is "bcc profile" "$(folded profile --pid)" 'my_app-9036;main;read;sys_read_[k];vfs_read_[k] 3|other-12;main 4|'
printf 'Tracing off-CPU time (us) of all threads by user + kernel stack... Hit Ctrl-C to end.\n\n    schedule\n    entry_SYSCALL_64_after_hwframe\n    read\n    -                app (9)\n        15\n\n' >offcpu
is "bcc offcputime: ns" "$(folded offcpu --header)" \
	'# pj unit=ns event=offcpu-time samples=1|app;read;entry_SYSCALL_64_after_hwframe_[k];schedule_[k] 15000|'

# ---- thread dumps
dump()
{
	cat <<'END'
4711:
2026-11-22 15:00:51
Full thread dump OpenJDK 64-Bit Server VM (17.0.15+6 mixed mode, sharing):

"main" #1 prio=5 os_prio=0 cpu=2138.12ms elapsed=5.57s tid=0x00007f33e8018170 nid=0x1012 runnable  [0x00007f33ecd1d000]
   java.lang.Thread.State: RUNNABLE
	at java.util.HashMap.put(java.base@17.0.15/HashMap.java:610)
	- locked <0x00000000f80ea060> (a java.lang.Object)
	at Burn$$Lambda$14/0x0000000800c03000.run(Unknown Source)
	at Burn.main(Burn.java:4)

"pool "a" 1" #3 daemon prio=8 tid=0x00007f33e80c2d00 nid=4711 waiting on condition  [0x00007f33d0aa7000]
   java.lang.Thread.State: TIMED_WAITING (sleeping)
	at java.lang.Thread.sleep(java.base@17.0.15/Native Method)

   Locked ownable synchronizers:
	- None

"acceptor" #4 prio=5 nid=0x14 runnable
   java.lang.Thread.State: RUNNABLE
	at sun.nio.ch.Net.accept(java.base@17.0.15/Native Method)
	at Burn.listen(Burn.java:9)

"Signal Dispatcher" #4 daemon prio=9 nid=0x101b waiting on condition  [0x0000000000000000]
   java.lang.Thread.State: RUNNABLE

"GC Thread#0" os_prio=0 cpu=30.00ms elapsed=5.57s tid=0x00007f33e8054e80 nid=0x1013 runnable

JNI global refs: 25, weak refs: 3

Found one Java-level deadlock:
=============================
"main":
  waiting to lock monitor 0x1, which is held by "acceptor"

Java stack information for the threads listed above:
===================================================
"main":
	at Burn.main(Burn.java:4)

END
}
dump >dump1
{ dump && dump | sed 's/$/\r/'; } >dump2
is "a thread dump: threads that run" "$(folded dump1)" 'main;Burn.main;Burn$$Lambda$14.run;java/util/HashMap.put 1|'
ok "  the others are named" grep -q 'TIMED_WAITING (1 sample), native-wait (1 sample)' err
is "  and are folded on request" "$(folded dump1 --only event=native-wait) $(folded dump1 --tid --only event=TIMED_WAITING)" \
	'acceptor;Burn.listen;sun/nio/ch/Net.accept 1| pool_"a"_1-?/4711;java/lang/Thread.sleep 1|'
is "  several dumps add up" "$(folded dump2)" 'main;Burn.main;Burn$$Lambda$14.run;java/util/HashMap.put 2|'

# ---- JFR
cat >jfr <<'END'
jdk.ThreadSleep {
  startTime = 15:00:46.970
  eventThread = "worker" (javaThreadId = 15)
  stackTrace = [
    java.lang.Thread.sleep(long)
    Burn.run() line: 9
  ]
}

jdk.ExecutionSample {
  startTime = 15:00:46.980
  sampledThread = "worker one" (javaThreadId = 15)
  state = "STATE_RUNNABLE"
  stackTrace = [
    java.util.HashMap.put(Object, Object) line: 610
    Burn.work(int) line: 3
    ...
  ]
}

END
is "jfr print: samples, with the mark of cut stacks" "$(folded jfr)" 'worker_one;[truncated];Burn.work;java/util/HashMap.put 1|'
ok "  with the remedy" grep -q -- '--stack-depth 64' err
is "  other events" "$(folded jfr --only event=jdk.ThreadSleep)" 'worker;Burn.run;java/lang/Thread.sleep 1|'
cat >jfr.json <<'END'
{
  "recording": {
    "events": [{
      "type": "jdk.ExecutionSample", 
      "values": {
        "sampledThread": { "osName": "x", "javaName": "worker \"one\"", "group": { "parent": null, "name": "main" } },
        "stackTrace": {
          "truncated": false, 
          "frames": [{
            "method": { "type": { "classLoader": { "type": null, "name": "bootstrap" }, "name": "java\/util\/HashMap", "package": { "name": "java\/util" } },
              "name": "hash", "descriptor": "()V" },
            "lineNumber": 3, "type": "Inlined"
          }, {
            "method": { "type": { "name": "java\/util\/HashMap" }, "name": "put" }, "type": "JIT compiled"
          }, {
            "method": { "type": { "name": "Burn$$Lambda$88\/360062456" }, "name": "run" }, "type": "Interpreted"
          }]
        }
      }
    }]
  }
}
END
is "jfr print --json: kinds of code" "$(folded jfr.json)" 'worker_"one";Burn$$Lambda$88.run_[0];java/util/HashMap.put_[j];java/util/HashMap.hash_[i] 1|'

# ---- simpleperf
cat >simpleperf <<'END'
sample:
  event_type: cpu-cycles:u
  time: 1234567890
  event_count: 7
  thread_id: 31850
  thread_name: RenderThread
  vaddr_in_file: ad9c
  file: /system/lib64/libc.so
  symbol: malloc
  callchain:
    vaddr_in_file: c1
    file: /system/lib64/libhwui.so
    symbol: unknown::draw()
lost_situation:
  sample_count: 1
  lost_count: 2
END
is "simpleperf report-sample" "$(folded simpleperf --header --tid --weight=period --from 1.2)" \
	'# pj unit=cpu-cycles event=cpu-cycles:u from=1.234567890 to=1.234567890 samples=1 lost=2|RenderThread-?/31850;unknown::draw;malloc 7|'

# ---- laws
for file in maps json profile offcpu dump2 jfr jfr.json simpleperf; do
	pjfold -q "$file" >plain 2>/dev/null
	pjfold -q -j 3 "$file" >threads 2>/dev/null
	gzip -c "$file" | pjfold -q >piped 2>/dev/null
	same "$file: threads" plain threads
	same "$file: a pipe, packed" plain piped
	ok "$file: options for perf.data are refused" not pjfold -q --stacks "$file"
done
ok "two formats add up" test "$(pjfold -q dump1 jfr 2>/dev/null | wc -l)" -ge 1
yes '    deep+1' | head -n 6000 | { echo '@['; cat; echo ']: 1'; } >deep
is "a stack beyond the limit of frames" "$(pjfold -q deep | cut -c1-16; pjfold -q deep | tr ';' '\n' | wc -l)" '[truncated];deep
4097'

# ---- a real JVM
javac=$(command -v javac) || { skip "a real JVM" "no JDK is installed"; done_testing; }
jdk=$(dirname "$(readlink -f "$javac")")
cat >Burn.java <<'END'
import java.util.*;
public class Burn extends Thread {
	static int work(int n) { Map<String, Integer> m = new HashMap<>(); for (int i = 0; i < n; i++) m.put(Integer.toString(i % 1000), i); return m.size(); }
	Burn() { super("worker one"); }
	/* jfr print leaves hidden frames out of text, not of JSON: no lambdas here. */
	public void run() { long s = 0; while (true) s += work(10000); }
	public static void main(String[] a) throws Exception {
		Thread worker = new Burn();
		worker.setDaemon(true);
		worker.start();
		System.out.println("ready");
		System.in.read();
	}
}
END
"$jdk/javac" Burn.java >/dev/null 2>why || { skip "a real JVM" "javac: $(head -n 1 why)"; done_testing; }
mkfifo in out
"$jdk/java" -Xmx64m -XX:StartFlightRecording=filename=burn.jfr,settings=profile Burn <in >out 2>&1 &
jvm=$!
exec 3>in 4<out
while read -r line <&4 && [ "$line" != ready ]; do :; done
cat <&4 >/dev/null &
drain=$!
for dump in a b c; do "$jdk/jcmd" $jvm Thread.print && echo "# $dump"; done >dumps 2>why
# it stops in work or, between two calls of it, in run
is "dumps of a real JVM: a thread that runs" "$(pjfold -q dumps 2>/dev/null | grep -c '^worker_one;Burn.run')" \
	"$(pjfold -q dumps 2>/dev/null | grep -c '^worker_one')"
is "  is there in each" "$(pjfold -q dumps 2>/dev/null | awk '/^worker_one/ { n += $NF } END { print n }')" 3
is "  the one that reads waits" "$(pjfold -q --only event=native-wait dumps 2>/dev/null | awk '/^main;/ { n += $NF } END { print n }')" 3
echo >&3
wait "$jvm" "$drain"
"$jdk/jfr" print --events jdk.ExecutionSample --stack-depth 64 burn.jfr >real
"$jdk/jfr" print --events jdk.ExecutionSample --stack-depth 64 --json burn.jfr >real.json
samples=$(grep -c '^jdk.ExecutionSample {' real)
if [ "$samples" = 0 ]; then
	skip "a real recording" "JFR took no sample"
	done_testing
fi
is "a real recording: all samples" "$(pjfold -q real | awk '{ n += $NF } END { print n }')" "$samples"
# Other threads of a JVM go through hidden frames.
pjfold -q --annotate none real | grep '^worker_one' >text
pjfold -q --annotate none real.json | grep '^worker_one' >names
same "  text and JSON agree" text names
ok "  with the kinds of code" sh -c 'pjfold -q real.json | grep -q "_\[[j0]\]"'
done_testing
