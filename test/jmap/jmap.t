#!/bin/sh
# jmap.t - pjmap on real JVMs: what it says is what Compiler.perfmap says, wherever and however the JVM runs, and nothing happens to it.
#
# Every JDK below /usr/lib/jvm, those in PJ_JDKS (folders), and as root those below usr/lib/jvm of the root file systems in PJ_ROOTFS, which bring the libc
# that they need (test/jmap/rootfs.sh makes one with JDK 8, 11 and 21). PJ_JMAP_ROUNDS: damaged images and snapshots under churn (40). Run by ./check.
# stage: live
# covers: jmap/pjmap.c jmap/mapopts.c jmap/listing.c jmap/perfmap/codemap.c jmap/perfmap/mapfile.c
# covers: jmap/reader/jvmhandle.c jmap/reader/readhelper.c runtimes/hotspot/hotspot.c runtimes/hotspot/codecache.c
# covers: runtimes/hotspot/discover.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
LC_ALL=C
export LC_ALL

rounds=${PJ_JMAP_ROUNDS:-40}
image=${PJ_BUILD:-$top/build/std-cc}/test/jmap/image
have pjmap || skip_all "pjmap is not built"
# shellcheck source=test/lib/jvm.sh
. "$top/test/lib/jvm.sh"
need_jdk "$top/test/jmap/Work.java"
chmod 755 .
mkdir -m 777 maps
pjmap --once --to=maps "" 2>err
is "an empty list of PIDs: not all JVMs" "$? $(cat err)" "2 pjmap: '' is not a PID: does the program run? (see pjmap --help)"

root=
# in_root COMMAND...: with $root as its root and this folder as /mnt, in a mount namespace of its own; takes the place of the shell
in_root()
{
	# shellcheck disable=SC2016 # the inner shell's
	exec unshare -m sh -c 'r=$1 && mount --bind /proc "$r/proc" && mount --bind /dev "$r/dev" && mount --bind "$2" "$r/mnt" && shift 2 && exec chroot "$r" "$@"' \
		- "$root" "$PWD" "$@"
}

# start JDK OPTION...: $pid is one that rests after its work
start()
{
	jdk=$1
	shift
	: >ready
	if [ -n "$root" ]; then
		(in_root "$jdk/bin/java" -Xmx64m "$@" -cp /mnt Work idle 900) >ready 2>java.err &
	else
		"$jdk/bin/java" -Xmx64m "$@" -cp . Work idle 900 >ready 2>java.err &
	fi
	pid=$!
	started="$started $pid"
	until_true grep -qs ready ready
}

# jcmd ARGUMENT...: that of the JDK
jcmd()
{
	if [ -n "$root" ]; then (in_root "$jdk/bin/jcmd" "$@"); else "$jdk/bin/jcmd" "$@"; fi
}

stop()
{
	kill -9 "$1" 2>/dev/null
	wait "$1" 2>/dev/null
}

ours()
{
	pjmap --once --stdout --names hotspot "$1"
}

# Compiled code still comes while a JVM gets idle: what was the same before and after jcmd looked must be what it saw.
agrees()
{
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		ours "$1" >before 2>err || return 1
		jcmd "$1" Compiler.perfmap >jcmd.out 2>&1 || return 1
		ours "$1" >after 2>err || return 1
		cmp -s before after && break
		sleep 1
	done
	cmp -s before after || { echo "it does not get idle"; return 1; }
	sort before >a
	sort "$root/tmp/perf-$1.map" >b
	rm -f "$root/tmp/perf-$1.map"
	[ "$(wc -l <a)" -gt 500 ] && diff a b
}

# The same before there was that command, by Compiler.codelist: "id tier state class.method(signature)result [blob, code - end]". It adds a number to
# the names of classes that have none, /123456.
agrees_with_codelist()
{
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		pjmap --once --stdout --names java "$1" >before 2>err || return 1
		jcmd "$1" Compiler.codelist >jcmd.out 2>&1 || return 1
		pjmap --once --stdout --names java "$1" >after 2>err || return 1
		cmp -s before after && break
		sleep 1
	done
	cmp -s before after || { echo "it does not get idle"; return 1; }
	sed -nE 's/^ *[0-9]+ +-?[0-9]+ +-?[0-9]+ +([^ (]+)\(.*\[0x[0-9a-f]+, 0x0*([0-9a-f]+) - .*/\2 \1/p' jcmd.out | sed -E 's:/(0x[0-9a-f]+|[0-9]+)\.:.:' | tr / . | sort >b
	awk 'NR == FNR { want[$1]; next } $1 in want { print $1, $3 }' b before | tr / . | sort >a
	[ "$(wc -l <b)" -gt 250 ] && diff a b
}

# A signal was sent when kill returns, and one thread must run to take it: on a busy machine the others go on meanwhile.
all_stopped()
{
	awk '{ sub(/.*\) /, "") } $1 != "T" { bad = 1 } END { exit bad || NR == 0 }' "/proc/$1"/task/*/stat 2>/dev/null
}

# same_stopped PID: stopped it has the map that it had before, and stays stopped; what is compiled in between is given some tries
same_stopped()
{
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		pjmap --once --stdout "$1" >running || return 1
		kill -STOP "$1"
		until_true all_stopped "$1" || return 1
		pjmap --once --stdout "$1" >stopped || return 1
		cmp running stopped && return
		kill -CONT "$1"
		sleep 1
	done
	return 1
}

find_rooted
for at in $jdks $rooted; do
	jdk=${at#*:} root=
	[ "$at" = "$jdk" ] || root=${at%%:*}
	jvm=${jdk##*/}
	if ! start "$jdk"; then
		fail "$jvm: starts" java.err
		continue
	fi
	jcmd "$pid" help >help 2>/dev/null
	if grep -q Compiler.perfmap help; then
		ok "$jvm: line for line what Compiler.perfmap says" agrees "$pid"
	elif grep -q Compiler.codelist help; then
		ok "$jvm: what Compiler.codelist says" agrees_with_codelist "$pid"
	else
		skip "$jvm: line for line what Compiler.perfmap says" "this JDK has no such command"
	fi
	pjmap --list "$pid" >list
	ok "$jvm: --list: version, collector, code" awk -v pid="$pid" 'NR == 2 && $1 == pid && $2 == pid && $6 ~ /^[0-9]/ && $7 ~ /^[A-Z]/ && $9 == "ok" && $10 > 500 && $11 == "Work" { good = 1 } END { exit !good }' list
	pjmap --once --stdout "$pid" >java
	ok "  names as pj spells them" grep -qx '[0-9a-f]* [0-9a-f]* Work\.some' java
	ok "  the interpreter by its parts, without a hole or an overlap" awk '
		function hex(s,  i, v) { for (i = 1; i <= length(s); i++) v = v * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1; return v }
		/ Interpreter/ { from = hex($1); if (n++ && from != end) hole = 1; end = from + hex($2) }
		/ Interpreter: invokevirtual$/ { good = 1 }
		END { exit !(good && !hole && n > 200) }' java
	ok "  stubs by their names, each in its block" awk '
		function hex(s,  i, v) { for (i = 1; i <= length(s); i++) v = v * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1; return v }
		/ StubRoutines/ { if (hex($1) < end) overlap = 1; end = hex($1) + hex($2) }
		/ StubRoutines: .*arraycopy(_avx3)?$/ { copies++ }
		/ StubRoutines: / { n++ }
		END { exit !(n > 50 && copies > 5 && !overlap) }' java
	ok "  those of hidden classes without addresses" not grep -q 'Lambda.*0x' java
	pjmap --once --stdout --names flamegraph "$pid" >pma
	ok "  and as perf-map-agent does" grep -q ' LWork;::some$' pma
	ok "  perf's format" not grep -vqE '^[0-9a-f]+ [0-9a-f]+ [ -~]+$' java
	ok "$jvm: stopped: the same map" same_stopped "$pid"
	"$image" "$pid" "$rounds" >tap
	status=$?
	sed -n 's/^ok [0-9]* - //p' tap >good
	while read -r what; do pass "$jvm: image: $what"; done <good
	[ $status = 0 ] || fail "$jvm: image" tap
	kill -CONT "$pid"
	stop "$pid"

	[ -z "$root" ] || continue
	if start "$jdk" -XX:+DisableAttachMechanism -XX:-UsePerfData "-Xlog:safepoint:file=safepoints"; then
		before=$(grep -c . safepoints)
		stat -c '%n %Y %s' /proc/"$pid"/cwd/* >files
		for i in 1 2 3 4 5 6 7 8 9 10; do pjmap --once --to maps -q "$pid" 2>err || break; done
		ok "$jvm: attach disabled: mapped" grep -q ' Work\.some$' "maps/perf-$pid.map"
		sleep 0.2
		cp safepoints points
		ok "  ten maps, and no safepoint for them" [ "$(grep -vc 'GuaranteedSafepoint\|Cleanup' points)" -le "$((before + 1))" ]
		ok "  it runs on" kill -0 "$pid"
		if have strace && strace -o trace true 2>/dev/null; then
			strace -f -o trace pjmap --once --to maps -q "$pid" 2>err
			is "  every system call of a map: status" $? 0
			calls='kill|tkill|tgkill|pidfd_send_signal|rt_(tg)?sigqueueinfo|ptrace|process_vm_writev|process_madvise|setns|socket|connect'
			ok "  none signals, stops, writes to or connects with a process" not grep -E "^[0-9]+ +($calls)\(" trace
			# .gcda: counters of a build for coverage
			ok "  nothing is opened for writing but the map" not grep -E 'open(at|at2)?\(.*(O_WRONLY|O_RDWR|O_CREAT|O_TRUNC)' <<-END
				$(grep -v '"\.pjmap-[0-9a-f]*\.tmp"\|"/dev/null"\|"/proc/self/oom_score_adj"\|\.gcda"' trace)
			END
			ok "  nothing below its root" not grep -E '"(/proc/[0-9]+/)?(root|cwd)["/]' trace
			ok "  its memory was read" grep -q '^[0-9]* *pread64(' trace
		else
			skip "  every system call of a map" "no strace here"
		fi
		stop "$pid"
	else
		skip "$jvm: attach disabled" "it does not start: $(head -n 1 java.err)"
	fi
done

# ---- wherever it runs ----

jdk=${jdks##* } root=
if [ "$(id -u)" = 0 ] && have unshare && have setpriv; then
	# its own PID, mount, network, IPC and host name; another user; a root that is read-only; a /tmp of its own
	cat >inner <<-'END'
		mount --bind "$2" /mnt && mount -t tmpfs none /tmp && mount -o remount,ro,bind / && cd /mnt &&
			exec setpriv --reuid 12345 --regid 23456 --clear-groups "$1/bin/java" -Xmx64m -cp /mnt Work idle 900
	END
	unshare -pfmniu --mount-proc sh "$PWD/inner" "$jdk" "$PWD" >ready.ns 2>ns.err &
	outer=$!
	started="$started $outer"
	if until_true grep -qs ready ready.ns; then
		pid=$(pgrep -P "$outer" | head -n 1)
		started="$started $pid"
		stat -c '%n %y %z' "/proc/$pid/root/tmp" >folder.before
		ok "in namespaces, read-only, another user: mapped" pjmap --once --to maps -q "$pid"
		ok "  its folders have not changed" sh -c 'stat -c "%n %y %z" "/proc/$1/root/tmp" | diff - folder.before' - "$pid"
		ok "  by the number outside" grep -q ' Work\.some$' "maps/perf-$pid.map"
		pjmap --list "$pid" >list
		ok "  --list: its number inside, its user" awk 'NR == 2 && $2 == 1 && $3 == "12345" { good = 1 } END { exit !good }' list
		ok "  nothing was written there" [ -z "$(find "/proc/$pid/root/tmp" -mindepth 1 ! -path "*hsperf*")" ]
		stop "$pid"
	else
		skip "in namespaces" "unshare: $(head -n 1 ns.err)"
	fi
	stop "$outer"
	unshare -Urpf "$jdk/bin/java" -Xmx64m -cp . Work idle 900 >ready.user 2>ns.err &
	outer=$!
	started="$started $outer"
	if until_true grep -qs ready ready.user; then
		pid=$(pgrep -P "$outer" | head -n 1)
		started="$started $pid"
		ok "in a user namespace: mapped" pjmap --once --to maps -q "$pid"
		stop "$pid"
	else
		skip "in a user namespace" "unshare: $(head -n 1 ns.err)"
	fi
	stop "$outer"
	start "$jdk"
	cp "$(command -v pjmap)" mine
	setpriv --reuid 65534 --regid 65534 --clear-groups ./mine --once --to maps "$pid" 2>err
	is "somebody else may not: status" $? 1
	ok "  said, with what helps" grep -q "$pid: no-permission: .*CAP_SYS_PTRACE" err
	stop "$pid"
else
	skip "in namespaces" "not root, or no unshare"
fi

many='' number=20
if [ "${PJ_FULL:-}" = 0 ]; then number=8; fi # their start takes most of the time
for i in $(seq $number); do
	"$jdk/bin/java" -Xmx16m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp . Work idle 900 >ready.$i 2>java.err &
	many="$many $!"
done
started="$started $many"
until_true sh -c '[ "$(cat ready.[0-9]* | grep -c ready)" = "$1" ]' - $number
rm -rf maps20
mkdir maps20
pjmap --once --to maps20 -q 2>err
for pid in $many; do grep -q ' Work\.some$' "maps20/perf-$pid.map" 2>/dev/null && echo "$pid"; done >mapped
is "$number JVMs at once: all are mapped" "$(wc -l <mapped)" $number
is "  --list has them" "$(pjmap --list 2>/dev/null | awk '{ print $1 }' | grep -cxF "$(echo "$many" | tr -s ' ' '\n' | grep .)")" $number
for pid in $many; do stop "$pid"; done

# ---- hostile and odd ----

start "$jdk"
echo mine >victim
ln -s "$PWD/victim" "/tmp/perf-$pid.map"
pjmap --once -q "$pid"
is "a link where the map goes: status" $? 0
is "  what it points to stays" "$(cat victim)" mine
ok "  the map is there" sh -c '[ ! -L "$1" ] && grep -q Work "$1"' - "/tmp/perf-$pid.map"
is "  for the user of the JVM alone" "$(stat -c %a:%u "/tmp/perf-$pid.map")" "600:$(id -u)"
rm -f "/tmp/perf-$pid.map"
pjmap --once --to /no/such/dir "$pid" 2>err
is "no such folder: status" $? 1
ok "  said" grep -q "/no/such/dir" err
pjmap --once --stdout "$pid" >/dev/full 2>err
is "a full disk: status" $? 1
pjmap --once 2147483647 2>err
is "no such process: status" $? 1
pjmap --once --stdout $$ 2>err
is "no JVM: status" $? 1
ok "  said" grep -q "is not a JVM" err
pjmap "$pid" -d bare --no-perf-map 2>err &
bare=$!
started="$started $bare"
until_true grep -qs "did you mean" err
ok "the number of a JVM, taken for seconds: what was meant is asked" grep -qx "pjmap: $pid, used as seconds, is the PID of a JVM: did you mean 'pjmap --once $pid'?" err
kill -INT $bare
wait $bare
rm -rf bare # the wait below is for the timeline of this pjmap, which then takes SIGINT
pjmap 1 -d bare --no-perf-map 2>err &
bare=$!
started="$started $bare"
until_true sh -c 'find bare -name "$1-*.jmap" | grep -q .' - "$pid"
kill -INT $bare
wait $bare
ok "  nothing is asked of a number of seconds" not grep -q 'did you mean' err
stop "$pid"
cp "$jdk/lib/server/libjvm.so" small.so 2>/dev/null
mkdir -p fake
head -c 100000 /dev/urandom >fake/libjvm.so
if have python3; then
	python3 -c 'import mmap, time
f = open("fake/libjvm.so", "rb")
m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)
print("ready", flush=True)
time.sleep(600)' >ready.fake &
	fake=$!
	started="$started $fake"
	until_true grep -qs ready ready.fake
	pjmap --once --to maps "$fake" 2>err
	is "a libjvm.so that is none: status" $? 1
	ok "  said" grep -q "no-vmstructs: .*ELF" err
	stop $fake
else
	skip "a libjvm.so that is none" "no python3"
fi

# ---- at any moment ----

: >ready.young # the shell may be slow to open it
: >odd
"$jdk/bin/java" -Xmx64m -cp . Work idle 30 >ready.young 2>java.err &
pid=$!
started="$started $pid"
bad=0
while ! grep -q ready ready.young && kill -0 "$pid" 2>>odd; do
	pjmap --once --stdout --names hotspot "$pid" >young 2>err || grep -q 'starting:\|no JVM\|no-vmstructs:\|unreadable:' err || { bad=1; cat err >>odd; }
	grep -vE '^0x[0-9a-f]{16} 0x[0-9a-f]{16} [ -~]+$' young >>odd && bad=1
done
ok "a JVM gets ready" grep -q ready ready.young
if [ $bad = 0 ]; then pass "from its first moment on: a map or a reason"; else fail "from its first moment on: a map or a reason" odd; fi
stop "$pid"
for jdk in $jdks; do
	jvm=${jdk##*/}
	rm -rf churn
	mkdir churn
	"$jdk/bin/java" -Xmx200m -XX:ReservedCodeCacheSize=10m -XX:-TieredCompilation -Djava.io.tmpdir=churn -cp . Work churn 9000 >ready.churn 2>java.err &
	pid=$!
	started="$started $pid"
	until_true grep -qs ready ready.churn
	i=0
	: >all
	while [ $((i += 1)) -le "$rounds" ]; do
		ours "$pid" >one 2>err || { fail "$jvm: a map under churn" err; break; }
		cat one >>all
	done
	# an nmethod: result, class, method, parameters; a blob: words
	is "$jvm: code that comes and goes, $rounds maps: names that make no sense, of $(wc -l <all)" "$(grep -vcE '^0x[0-9a-f]{16} 0x[0-9a-f]{16} ([A-Za-z0-9_.$]+(\[\])* [A-Za-z0-9_.$/]+\.[A-Za-z0-9_$<>]+\([A-Za-z0-9_.$, []*\]?[])A-Za-z0-9_.$, []*|[A-Za-z0-9_./ ():$-]+)$' all)" 0
	stop "$pid"
done
done_testing
