#!/bin/sh
# record-check.t - pjrecord --check, and what pjrecord says when it may not record: as root, as nobody, with some capabilities, behind
# a seccomp filter, in a user namespace, with few descriptors; and the JVMs that it names.
#
# PJ_SYSCTL=1: also with kernel.perf_event_paranoid changed, for a moment.
# stage: live
# full: processes with few rights, 50 assertions; record.t has the tool itself
# covers: record/hostcheck.c record/perf/hints.c record/perf/hintfacts.c record/runtimes.c record/jvms.c
# covers: record/perf/privileges.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=test/lib/record.sh
. "$(dirname "$0")/../lib/record.sh"
LC_ALL=C
export LC_ALL

have pjrecord || skip_all "pjrecord is not built"
have cc || skip_all "no compiler"
ok "the filter compiles" cc -o deny "$top/test/record/deny.c"
chmod 755 .
mkdir -m 777 open

# where others may execute it
cp "$(command -v pjrecord)" record || skip_all "no room"
chmod 755 record

# each line: a verdict, what, and more; and a last one that tells what the status tells
well_formed()
{
	awk '{ last = $0 } !/^(ok|limited|no) +[A-Za-z][A-Za-z, -]*: ./ && !/^pjrecord (can|cannot) record the whole host/ { print; bad = 1 } END { exit bad || last !~ /^pjrecord (can|cannot) record the whole host/ }' "$1"
}

./record --check -d open >mine 2>err
status=$?
ok "--check: every line is well-formed" well_formed mine
ok "  numbers agree with their nouns" not grep -qE '(^|[^0-9])(1 JVMs|1 other processes|([02-9]|[0-9]{2,}) JVM |([02-9]|[0-9]{2,}) other process;)' mine
is "  nothing on stderr" "$(cat err)" ""
is "  the last line says what the status says" "$status" "$(grep -q '^pjrecord can record' mine; echo $?)"
is "  it changes nothing" "$(find open | wc -l)" 1
pjrecord -q -a -d really -w 1 -n 1 --keep-symbols none >out 2>really.err
is "  and is right" "$([ $? = 0 ] && echo 0 || echo 1)" "$status"
./record --check -d /no/such/dir >none 2>err
is "  a directory that is not there: status" $? 1
ok "    said" grep -q "^no *disk: .*/no/such/dir" none
./record --check -d open >/dev/full 2>err
is "  a full disk for its output: status" $? 1
ok "  and what cannot be written" grep -q 'cannot write standard output' err
timeout 20 pjrecord -a -d none -- >out 2>err
is "a command that is empty is not the whole host, for ever" "$? $(grep -c -e '-- needs a command' err)" "2 1"

if [ "$(id -u)" = 0 ] && have setpriv; then
	as_nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
	level=$(cat /proc/sys/kernel/perf_event_paranoid 2>/dev/null)
	as_nobody ./record --check -d open >nobody 2>err
	status=$?
	ok "as nobody: well-formed" well_formed nobody
	if [ "${level:-2}" -gt 0 ]; then
		is "  status" "$status" 1
		ok "  what is missing, and the command that helps" grep -q "^no .*CAP_PERFMON.*(now $level): run it as root, or: sudo setcap cap_perfmon,.*=ep /.*/record, or: sudo sysctl kernel.perf_event_paranoid=0" nobody
		if as_nobody ./record -q -o open/own.data -- true 2>err; then
			ok "  own processes have complete stacks" grep -q '^ok *callers: by unwind tables' nobody
			ok "  which need no deeper callchains" not grep -q perf_event_max_stack nobody
			is "  a command of root helps the whole system and interpreters alone" \
				"$(sed -n 's/^[a-z]* *\([^:]*\): .*sudo.*/\1/p' nobody | grep -vx -e interpreters -e 'kernel symbols')" "whole system"
			is "  the last line" "$(tail -n 1 nobody)" \
				"pjrecord cannot record the whole host, but your own processes: pjrecord -p PID, pjrecord -- COMMAND."
			rm -f open/own.data
		else
			skip "  own processes" "not allowed here: $(head -n 1 err)"
		fi
		as_nobody ./record -q -a -d open -w 1 -n 1 >out 2>err
		is "  a recording fails: status" $? 1
		is "  with one line" "$(grep -c . err)" 1
		ok "  that is the same" grep -q 'CAP_PERFMON.*sudo setcap' err
	else
		skip "  what is missing" "kernel.perf_event_paranoid is $level"
	fi
	as_nobody --no-new-privs ./record --check -d open >nnp
	ok "  with no_new_privs, setcap is no advice" not grep -q setcap nnp
	INVOCATION_ID=1 as_nobody --no-new-privs ./record --check -d open >unit
	ok "  in a unit, its lines are" grep -q '^no .*: add CAP_PERFMON to AmbientCapabilities= and CapabilityBoundingSet= of its unit' unit
	if as_nobody --inh-caps +perfmon --ambient-caps +perfmon true 2>/dev/null; then
		mkdir -m 777 fresh # no recorder has used it
		as_nobody --inh-caps +perfmon --ambient-caps +perfmon ./record --check -d fresh >perfmon 2>err
		is "with CAP_PERFMON alone: status" $? 0
		ok "  others' processes are limited" grep -q '^limited *other users: .*run it as root, or: ' perfmon
	else
		skip "with CAP_PERFMON alone" "this setpriv or kernel does not know it"
	fi
	# levels that only Debian and Ubuntu have
	echo 4 >four
	if unshare -m sh -c 'mount --bind four /proc/sys/kernel/perf_event_paranoid' 2>/dev/null; then
		unshare -m sh -c 'mount --bind four /proc/sys/kernel/perf_event_paranoid; setpriv --reuid 65534 --regid 65534 --clear-groups ./record --check -d open' >level4
		ok "level 4: said" grep -q 'kernel.perf_event_paranoid is 4, at which recording needs CAP_PERFMON' level4
	else
		skip "level 4" "no mount namespaces"
	fi
	if [ -n "${PJ_SYSCTL:-}" ]; then
		trap 'echo "$level" >/proc/sys/kernel/perf_event_paranoid' INT TERM
		echo -1 >/proc/sys/kernel/perf_event_paranoid
		as_nobody ./record --check -d open >low 2>err
		status=$?
		echo "$level" >/proc/sys/kernel/perf_event_paranoid
		is "kernel.perf_event_paranoid=-1: nobody may record everything" "$status" 0
		ok "  tracepoints, too, but for what tracefs hides" grep -q '^\(ok\|limited\) *tracepoints' low
	else
		skip "kernel.perf_event_paranoid=-1" "it changes the system: PJ_SYSCTL=1"
	fi
else
	skip "as nobody" "needs root and setpriv"
fi

for error in EPERM ENOSYS; do
	./deny $error ./record --check -d open >denied 2>err
	is "a seccomp filter that answers $error: status" $? 1
	ok "  named as one" grep -q "^no *whole system: a seccomp filter forbids perf_event_open ($error): " denied
	ok "  well-formed" well_formed denied
	./deny $error ./record -q -a -d denied.d -w 1 -n 1 >out 2>err
	is "  a recording fails: status" $? 1
	is "  with one line" "$(grep -c 'a seccomp filter forbids' err) $(grep -c . err)" "1 1"
	./deny $error ./record -q -o x.data -- true 2>err
	is "  so does a command: status" $? 125
done
# 444: landlock_create_ruleset; builds with sanitizers and for coverage do without Landlock
landlock=1
case ${PJ_BUILD:-} in */san-* | */thread-* | */cover-*) landlock= ;; esac
if [ -n "$landlock" ] && [ "$(uname -m)" = x86_64 ] && ./record -q --unwind=tables -o x.data -- sleep 0.1 2>err; then
	./deny ENOSYS:444 ./record -q --unwind=tables -o x.data -- sleep 3 2>err
	is "a kernel without Landlock: helper processes go on without it, which is reported once" "$? $(grep -c 'this kernel lacks Landlock' err)" "0 1"
fi
container=1 ./deny EPERM ./record --check -d open >denied
ok "  in a container: what to start it with" grep -qE 'start the container with --(cap-add=PERFMON|security-opt)' denied

# ---- interpreters: the right to real-time priority; that to memory of other processes is in privileges_test.c

if [ "$(uname -m)" = x86_64 ] && grep -q '^ok *interpreters: functions of Python, node, Ruby, PHP and Perl are shown$' mine; then
	cannot='^limited *interpreters: functions of Python, node, Ruby, PHP and Perl are not shown:'
	# 144: sched_setscheduler
	./deny EPERM:144 ./record --check -d open >realtime
	ok "no real-time priority: what helps" grep -q "$cannot a seccomp filter forbids real-time priority: set RestrictRealtime=no in its unit, and SystemCallFilter=sched_setscheduler" realtime
	ok "  well-formed" well_formed realtime
	if have node; then
		node -e 'function f(n) { let s = 0; for (let i = 0; i < n; i++) s += i % 7; return s } for (let i = 0; i < 300; i++) f(100000); console.log("ready"); setInterval(f, 1000, 9)' >ready &
		pid=$!
		until_ 60 test -s ready
		./record --check -d open >node.ok
		ok "node: its functions are shown, so it is not one without names" not grep -E "^limited *JIT: .*$pid " node.ok
		./deny EPERM:144 ./record --check -d open >node.limited
		# processes with one name have one line, which names the first of them
		ok "  without real-time priority it is one" grep -qE '^limited *JIT: [0-9]+ [^ ]+( and [0-9]+ more)?: generates code .* without names' node.limited
		is "    counted" "$(($(sed -n 's/.*; \([0-9]*\) will have complete.*/\1/p' node.ok) > $(sed -n 's/.*; \([0-9]*\) will have complete.*/\1/p' node.limited)))" 1
		kill $pid
		wait $pid 2>/dev/null
	else
		skip "node" "not installed"
	fi
	if [ -s nobody ]; then ok "  as nobody" grep -qE "$cannot real-time priority needs CAP_SYS_NICE: run it as root, or: sudo setcap cap_perfmon,.*,cap_sys_nice=ep /.*/record$" nobody; fi
else
	skip "no real-time priority" "not on this host: $(grep ' interpreters: ' mine)"
fi

if unshare -U -r true 2>/dev/null; then
	unshare -U -r ./record --check -d open >user 2>err
	if grep -q '^pjrecord cannot' user; then
		ok "in a user namespace: its capabilities do not count" grep -q 'capabilities of a user namespace .* do not count' user
	else
		skip "in a user namespace" "anybody may record here"
	fi
else
	skip "in a user namespace" "there are none here"
fi

if have prlimit && [ "$(tail -n 1 mine)" = 'pjrecord can record the whole host.' ] && [ "$(getconf _NPROCESSORS_ONLN)" -gt 1 ]; then
	prlimit --nofile=8 ./record -q -a -d few -w 1 -n 1 >out 2>err
	is "few descriptors: status" $? 1
	ok "  what helps" grep -q 'descriptors are required.*ulimit -n' err
	prlimit --nofile=14 ./record -q -a -d few -w 1 -n 1 >out 2>err
	is "enough for the events, but not for files of windows" "$? $(grep -c . err)" "1 1"
	more=$(sed -n 's/.*descriptors are required.*: ulimit -n \([0-9]*\) .*/\1/p' err)
	prlimit --nofile="${more:-14}" ./record -q -a -d few -w 1 -n 1 >out 2>err
	is "  with as many as it says it works" "$? $(grep -c few/out/ out)" "0 1"
	prlimit --nofile=14:4096 ./record -q -a -d few -w 1 -n 1 >out 2>err
	is "  a low limit that may be raised is raised" "$? $(grep -c few/out/ out)" "0 1"
	# Of 40 events, the twins (record/perf/sources.h) of the first CPU take the descriptors of the next one's events.
	many=cpu-clock
	while [ ${#many} -lt 399 ]; do many=$many,cpu-clock; done
	prlimit --nofile=14 ./record -q -e $many -o many.data -- true >out 2>err
	more=$(sed -n 's/.*descriptors are required.*: ulimit -n \([0-9]*\) .*/\1/p' err)
	prlimit --nofile="${more:-14}" ./record -q -e $many -o many.data -- true >out 2>err
	is "  enough for the events of a command, but not for their twins: with copies of stacks" "$? ${more:+said} $(cat err)" "0 said "
else
	skip "few descriptors" "they would suffice"
fi

# ---- what helps, where it fails: one line, no file

if [ "$(id -u)" = 0 ] && have setpriv && have prlimit && [ "$level" -le 2 ]; then
	as_nobody prlimit --memlock=0:0 ./record -m 16M -o open/mlock.data -- true 2>err
	is "rings that may not be locked: status" $? 125
	ok "  what helps, with the sum of a CPU's rings" grep -q 'rings of 16[0-9]* kB for .* CPUs\{0,1\} are more .*: a smaller --ring-size, or: sudo sysctl kernel.perf_event_mlock_kb=16' err
	as_nobody prlimit --memlock=0:0 ./record -q -o open/mlock.data -- true 2>err
	is "  without -m they are as large as allowed" $? 0
	mkdir -p theirs && chmod 755 theirs
	as_nobody ./record -q -w 1 -n 1 -d theirs -p $$ >out 2>err
	ok "a folder of somebody else" grep -q "'theirs' belongs to user 0: become that user, or choose another --dir" err
	as_nobody ./record -q -w 1 -n 1 -d theirs/new -p $$ >out 2>err
	ok "a folder that cannot be made" grep -q "'theirs/new': Permission denied: choose another --dir, or: sudo install -d -o 65534 theirs/new" err
else
	skip "rings that may not be locked, folders of others" "needs root, setpriv and prlimit"
fi
if ./record -q -e cycles -o open/none.data -- true 2>err; then
	skip "an event that is not there leaves no file" "this machine has it"
else
	is "an event that is not there leaves no file" "$(ls open/none.data* 2>/dev/null)" ""
fi
if [ -n "${PJ_SYSCTL:-}" ] && [ "$(id -u)" = 0 ]; then
	was=$(cat /proc/sys/kernel/kptr_restrict)
	trap 'echo "$was" >/proc/sys/kernel/kptr_restrict' INT TERM
	echo 2 >/proc/sys/kernel/kptr_restrict
	./record -q -o open/k.data -- true 2>err
	echo "$was" >/proc/sys/kernel/kptr_restrict
	ok "kernel.kptr_restrict=2 is said when it begins" grep -q 'will have no names: kernel.kptr_restrict is 2, .*: sudo sysctl kernel.kptr_restrict=1' err
else
	skip "kernel.kptr_restrict=2" "it changes the system: PJ_SYSCTL=1"
fi

# ---- who makes code

if have java && have javac && javac -d . "$top/examples/Demo.java" >/dev/null 2>&1; then
	echo '-XX:+PreserveFramePointer' >args
	java -cp . Demo 60 >/dev/null 2>&1 &
	without=$!
	java @args -cp . Demo 60 >/dev/null 2>&1 &
	with=$!
	JAVA_TOOL_OPTIONS='-Xmx64m -XX:+PreserveFramePointer' java -cp . Demo 60 >/dev/null 2>&1 &
	variable=$!
	tries=200
	while [ $tries -gt 0 ]; do # until all three have loaded their library
		loaded=0
		for pid in $without $with $variable; do grep -q libjvm.so "/proc/$pid/maps" 2>/dev/null && loaded=$((loaded + 1)); done
		[ $loaded = 3 ] && break
		tries=$((tries - 1))
		sleep 0.1
	done
	rm -f "/tmp/perf-$without.map" "/tmp/perf-$with.map" "/tmp/perf-$variable.map" # of others that had these numbers
	./record --unwind=fp --check -d open >jvms
	./record --unwind=auto --check -d open >walked
	kill $without $with $variable
	wait $without $with $variable 2>/dev/null
	ok "a JVM without -XX:+PreserveFramePointer is named" grep -q "^limited *JVM: $without java Demo runs without -XX:+PreserveFramePointer" jvms
	ok "  but not where its stacks are walked by tables" sh -c "grep -q '^ok *callers: by unwind tables' walked && ! grep -q 'JVM: .*$without java Demo runs without' walked"
	ok "  one with it in a file of arguments is not" not grep -q "JVM: $with .*runs without" jvms
	ok "  nor one with it in JAVA_TOOL_OPTIONS" not grep -q "JVM: $variable .*runs without" jvms
	ok "  that they have no map is said" grep -q "^limited *JVM: $with java Demo has no map of its code: jcmd $with Compiler.perfmap" jvms
	ok "  but not where the window has their names" sh -c "grep -q '^ok *callers: by unwind tables' walked && ! grep -q 'JVM: .*java Demo.* no map of its code' walked"
	rm -f "/tmp/perf-$without.map" "/tmp/perf-$with.map" "/tmp/perf-$variable.map"
else
	skip "JVMs" "no JDK"
fi

done_testing
