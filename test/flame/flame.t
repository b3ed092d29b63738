#!/bin/sh
# flame.t - pjflame on this machine: a container of two JVMs and a C program gives one picture with the right names and nothing else in it, the
# table holds on a terminal, and nothing is left behind, whatever ends it. Run by ./check as root.
# stage: live
# full: 75 s; flame-habits.t runs pjflame in each ./check
# covers: flame/pjflame.sh flame/assemble flame/record.sh flame/draw.sh flame/table.sh flame/widths.awk flame/life.sh
# covers: flame/containers.sh common/process/parent.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
LC_ALL=C
export LC_ALL

have pjflame || skip_all "pjflame is not built"
have cc || skip_all "no compiler for the loads"
[ "$(id -u)" = 0 ] || skip_all "containers need root"
unshare -m -p -f true 2>why || skip_all "no containers here: $(head -n 1 why)"
pjrecord -q -a -w 1 --once -d try >out 2>why || skip_all "recording is not allowed here: $(head -n 1 why)"
# shellcheck source=test/lib/jvm.sh
. "$top/test/lib/jvm.sh"
# the hierarchy that perf events use: its own, where there is one of version 1
root=$(awk '{ for (i = 7; i < NF; i++) if ($i == "-") { type = $(i + 1); options = $(i + 3); break }
	if (type == "cgroup" && ("," options ",") ~ /,perf_event,/) own = $5
	if (type == "cgroup2" && !second) second = $5 } END { print own ? own : second }' /proc/self/mountinfo)
[ -n "$root" ] || skip_all "no cgroups that perf events know"

# ids that begin alike, then differ; of another run of this test in the digits that are looked at
id_of()
{
	echo "$1" | awk '{ s = $1; while (length(s) < 64) s = s "0"; print s }'
}
ours=$(printf '%06x' $$)
web=$(id_of "${ours}1111")
db=$(id_of "${ours}2222")
slice=pj-test-$$.slice
# as systemd makes them for docker, and docker itself
folders="$slice $slice/docker-$web.scope $slice/docker $slice/docker/$db"

clean_up()
{
	for f in $(echo "$folders" | tr ' ' '\n' | sort -r); do
		tries=100
		while [ -d "$root/$f" ] && ! rmdir "$root/$f" 2>/dev/null && [ $((tries -= 1)) -gt 0 ]; do
			for p in $(cat "$root/$f/cgroup.procs" 2>/dev/null); do kill -9 "$p" 2>/dev/null; done
			sleep 0.1
		done
	done
}
for f in $folders; do mkdir "$root/$f" 2>why || skip_all "no cgroups may be made here: $(head -n 1 why)"; done

# Its temporary directories are here, so that one that stays is seen.
mkdir -p left
TMPDIR=$PWD/left
export TMPDIR

# nothing_left NAME: neither a directory nor a process that uses one; whoever ends may take a moment
no_process()
{
	! grep -lsaE "$TMPDIR/[p]jflame" /proc/[0-9]*/cmdline 2>/dev/null >running
}
nothing_left()
{
	if [ -z "$(ls left)" ] && until_true no_process; then pass "$1"; else ls left >>running; fail "$1" running; fi
}

# flame ARGUMENT...: out, err, $status
flame()
{
	pjflame "$@" >out 2>err </dev/null
	status=$?
}

# both sums of a folded file that match a pattern
count()
{
	grep -v '^#' "$2" | grep -E -- "$1" | awk '{ n += $NF } END { print n + 0 }'
}

# ---- loads without end ----

cat >busy.c <<'C'
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>
static volatile unsigned long sink;
#define NAMED __attribute__((noinline, noclone))
NAMED void in_a_loop(void) { for (unsigned i = 0; i < 20000; i++) sink += i; }
NAMED void a_name_that_is_much_longer_than_any_terminal_is_wide_as_those_of_templates_are_a_name_that_is_much_longer_than_any_terminal_is_wide_with_its_end(void)
{
	for (unsigned i = 0; i < 20000; i++)
		sink ^= i;
}
NAMED void gr\u00f6\u00dfe\u4e2d\u6587(void) { for (unsigned i = 0; i < 20000; i++) sink -= i; }
static void end(int number) { _exit(number); }
int main(int argc, char **argv)
{
	prctl(PR_SET_NAME, argv[1]);
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* with who started it; */
	signal(SIGALRM, end);             /* where a test that was killed left it, as the first of a container, not for ever */
	alarm(1200);
	puts("ready");
	fflush(stdout);
	for (;;) {
		char none;
		in_a_loop();
		a_name_that_is_much_longer_than_any_terminal_is_wide_as_those_of_templates_are_a_name_that_is_much_longer_than_any_terminal_is_wide_with_its_end();
		gr\u00f6\u00dfe\u4e2d\u6587();
		for (int i = 0; i < 200; i++)
			if (argc > 2 && readlink("/proc/self/exe", &none, 1) < 0)
				return 1;
		usleep(100); /* half of a CPU is enough */
	}
}
C
cc -O1 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls -o busy busy.c 2>why || skip_all "the load does not compile: $(head -n 1 why)"
cat >wait.c <<'C'
#include <unistd.h>
__attribute__((noinline)) static void rests(void) { for (;;) usleep(20000); }
int main(void) { rests(); }
C
cc -O0 -g -fno-omit-frame-pointer -o waits wait.c

# contain FOLDER COMMAND...: with mounts, processes and network of its own
contain()
{
	folder=$1
	shift
	sh -c 'echo $$ >"$0/cgroup.procs" && exec unshare -m -n -p -f sh -c "mount -t tmpfs none /mnt && exec \"\$@\"" - "$@"' "$root/$folder" "$@" 2>>contained.err &
	started="$started $!"
}

busy_one()
{
	./busy outside x >busy.out &
	outside=$!
	started="$started $outside"
	contain "$slice/docker-$web.scope" ./busy inside x >inside.out
	contain "$slice/docker/$db" ./busy database >database.out
	until_true grep -q ready busy.out && until_true grep -q ready inside.out && until_true grep -q ready database.out
}
busy_one

# JVMs whose Java code is compiled by now
jvms=
if [ -n "$jdks" ] && [ -n "$javac" ] && { "$javac" --release 8 -nowarn -d . "$top/test/jmap/Work.java" 2>javac.err || "$javac" -d . "$top/test/jmap/Work.java" 2>javac.err; }; then
	for jdk in $jdks; do
		contain "$slice/docker-$web.scope" "$jdk/bin/java" -Xmx64m -cp "$PWD" Work burst 3600 >java.out
		jvms=$((jvms + 1))
	done
fi
pids_in()
{
	pjmap --list 2>/dev/null | awk -v id="$(printf '%.12s' "$web")" '$4 == id { print $1 }'
}
compiled()
{
	[ "$(pids_in | wc -l)" -eq "$jvms" ] || return 1
	for p in $(pids_in); do
		pjmap --once --stdout "$p" 2>/dev/null | grep -q ' Work\.some$' || return 1
	done
}
if [ -n "$jvms" ]; then ok "the JVMs have compiled" until_true compiled; fi

# ---- containers ----

pjflame --list >list
is "--list: both containers, with those who are in them" "$(awk -v a="$(printf '%.12s' "$web")" -v b="$(printf '%.12s' "$db")" '$1 == a { print "web", ($3 > 1) } $1 == b { print "db", ($3 > 1) }' list | sort | tr '\n' ' ')" "db 1 web 1 "
flame -c "${ours}1111" -s 4 -F 499 -o web.svg --folded web.folded
is "-c, the first digits of the id: status" $status 0
ok "  nothing on standard output" test ! -s out
nothing_left "  nothing is left"
ok "  its C program, with the kernel below it" grep -qE '^inside;.*readlink.*_\[k\]' web.folded
is "  nothing of others" "$(grep -v '^#' web.folded | grep -cE '^(outside|database)')" 0
ok "  the picture is one, and says what it is of" sh -c 'head -c 300 web.svg | grep -q "<svg" && tail -c 20 web.svg | grep -q "</svg>" && grep -q "<title>CPU of container $1</title>" web.svg' - "$(printf '%.12s' "$web")"
if [ -n "$jvms" ]; then
	ok "  compiled Java, at its time" [ "$(count ';Work\.some(_\[[ji]\])?[; ]' web.folded)" -gt 20 ]
	ok "  libjvm, too" grep -qE '^java;.*(JavaThread|JavaCalls|thread_native_entry|Compile)' web.folded
	# of the threads that work; the few samples before tables are there, and the JVM's own threads, may end early
	ok "  whole, without any flag" awk '/;Work\.some(_\[[ji]\])?[; ]/ { all += $NF } /;JavaThread::run.*;Work\.some|;start_thread;.*;Work\.some/ { at += $NF } END { print at, all; exit !(all > 20 && at >= all * .8) }' web.folded
	is "  and nobody asks for one" "$(grep -c PreserveFramePointer err)" 0
	flame -c "${ours}1111" -s 4 --by=process -o by.svg --folded by.folded
	is "  $jvms JVMs in it, each with Java" "$(grep -E ';Work\.' by.folded | sed 's/;.*//' | sort -u | grep -c '^java-[0-9]*$')" "$jvms"
	for p in $(pids_in); do kill -9 "$p"; done
else
	skip "  Java" "no JDK below /usr/lib/jvm (PJ_JDKS), or no javac"
fi
flame -c "docker://$web" -s 1 -q -o q.svg
is "-c with all digits, as kubectl shows it, quietly" "$status $(wc -c <err | tr -d ' ')" "0 0"
flame -c "$ours" -s 1 -o none.svg
is "digits of two containers: status" $status 1
ok "  both are named" sh -c 'grep -q "more than one" err && grep -q "$1" err && grep -q "$2" err' - "$web" "$db"
flame -c no-such -s 1 -o none.svg
is "no such container: status" $status 1
ok "  the advice is the list" sh -c "grep -q \"called 'no-such': pjflame --list prints\" err"
ok "  no picture of either" test ! -e none.svg
flame -c "$slice" -s 1 --folded slice.folded -o slice.svg
is "-c with the name of a cgroup: all below it" "$status $(sed -n 's/^\(inside\|database\|outside\);.*/\1/p' slice.folded | sort -u | tr '\n' ' ')" "0 database inside "

# A user names cgroups, in one that was delegated to him, as a container: as systemd does, as docker does, and by the digits that are given;
# so does a container whose root may make cgroups, be it named by its digits or as LXC does
forged="$slice/docker/$db/docker-$web.scope $slice/lxc.payload.box $slice/lxc.payload.box/docker-$web.scope $slice/delegated $slice/delegated/docker-$web.scope $slice/delegated/$web $slice/delegated/${ours}1111"
folders="$folders $forged"
for f in $forged; do mkdir "$root/$f"; done
chown -R 65534 "$root/$slice/delegated"
for f in "docker/$db/docker-$web.scope" "lxc.payload.box/docker-$web.scope" "delegated/docker-$web.scope" "delegated/$web" "delegated/${ours}1111"; do contain "$slice/$f" ./busy forged >>forged.out; done
all_forged()
{
	[ "$(grep -c ready forged.out)" -eq 5 ]
}
until_true all_forged
for given in "docker://$web" "${ours}1111"; do
	flame -c "$given" -s 3 --folded forged.folded -o forged.svg
	is "cgroups that a user named as a container are left out" "$status $(sed -n 's/^\(inside\|database\|forged\);.*/\1/p' forged.folded | sort -u | tr '\n' ' ')" "0 inside "
	ok "  that is said" grep -q "cgroups that container $(printf '%.12s' "$db"), container lxc.payload.box, user 65534 named as container .* left out" err
done
for f in $forged; do
	for p in $(cat "$root/$f/cgroup.procs"); do kill -9 "$p"; done
done
clean_forged()
{
	for f in $forged; do echo "$f"; done | sort -r | while read -r f; do [ ! -d "$root/$f" ] || rmdir "$root/$f" || return 1; done
}
until_true clean_forged 2>/dev/null

# names, as engines write them down; for us only
cat >named.sh <<'SH'
mount -t tmpfs none /var/lib && mkdir -p "/var/lib/docker/containers/$1" /var/lib/containers/storage/overlay-containers || exit 9
printf '{"StreamConfig":{},"ID":"%s","Name":"/the-web","Driver":"overlay2"}' "$1" >"/var/lib/docker/containers/$1/config.v2.json"
printf '[{"id":"%s","names":["the-db"],"image":"x"},{"id":"ffff","names":["other"]}]' "$2" >/var/lib/containers/storage/overlay-containers/containers.json
pjflame --list >list
pjflame -c the-web -s 1 -q -o the-web.svg --folded the-web.folded && pjflame -c the-db -s 1 -q -o the-db.svg --folded the-db.folded
SH
unshare -m sh named.sh "$web" "$db" >out 2>err
is "-c with names of docker and podman" "$? $(cat err)" "0 "
ok "  each is the right one" sh -c 'grep -q "^inside;" the-web.folded && ! grep -q "^database" the-web.folded && grep -q "^database;" the-db.folded && ! grep -q "^inside" the-db.folded'
is "  --list shows them" "$(awk '$2 ~ /^the-/ { print $2 }' list | sort | tr '\n' ' ')" "the-db the-web "
ok "  titles, too" grep -q "<title>CPU of container the-web $(printf '%.12s' "$web")</title>" the-web.svg

# cgroups that perf events do not know
other=$(awk -v root="$root" '{ for (i = 7; i < NF; i++) if ($i == "-") { type = $(i + 1); options = $(i + 3); break }
	if (type == "cgroup" && $5 != root && ("," options ",") ~ /,(freezer|pids|cpuacct|memory|blkio|devices),/) { print $5; exit } }' /proc/self/mountinfo)
third=$(id_of "${ours}3333")
if [ -n "$other" ] && mkdir "$other/$third" 2>/dev/null; then
	./busy third >third.out &
	pid=$!
	started="$started $pid"
	echo $pid >"$other/$third/cgroup.procs"
	until_true grep -q ready third.out
	flame -c "${ours}3333" -s 1 -o third.svg --folded third.folded
	is "a cgroup of another hierarchy: its processes" "$status $(grep -c 'perf events have no cgroup' err) $(grep -v '^#' third.folded | sed 's/[; ].*//' | sort -u)" "0 1 third"
	kill -9 $pid
	wait $pid 2>/dev/null
	until_true rmdir "$other/$third" 2>/dev/null
else
	skip "a cgroup of another hierarchy" "none, or none may be made"
fi

# ---- processes, commands, the host ----

flame -p "$outside" -s 1 -o p.svg --folded p.folded
is "-p: just that process" "$status $(grep -v '^#' p.folded | sed 's/;.*//' | sort -u)" "0 outside"
for shell in dash 'busybox sh'; do
	if ! have "${shell%% *}"; then
		skip "$shell" "not installed"
		continue
	fi
	# shellcheck disable=SC2086 # words
	$shell "$(command -v pjflame)" -p "$outside" -s 1 -q -o shell.svg >out 2>err
	is "$shell: status, and nothing said" "$? $(cat out err)" "0 "
	# shellcheck disable=SC2086 # words
	$shell "$(command -v pjflame)" -c "${ours}2222" --top -n 1 -s 1 -q >out 2>err
	is "  and the table" "$? $(grep -cE '%  (in_a_loop|größe中文|a_name_.*_with_its_end)$' out | sed 's/^[1-9].*/some/') $(cat err)" "0 some "
done
sh -c 'sleep 0; exit 0' &
gone=$!
wait $gone
flame -p $gone -s 1 -o none.svg
is "-p of a process that is gone" "$status $(grep -c 'no such process' err) $(ls none.svg 2>/dev/null)" "1 1 "
flame -s 1 -F 99 -o -
is "no arguments but the length: the host, to standard output" "$status $(head -c 300 out | grep -c '<svg')" "0 1"
mkdir default
(cd default && exec pjflame -s 1 -q) </dev/null >out 2>err
is "  and to flame.svg without -o" "$? $(ls default)" "0 flame.svg"
flame -F 999 -o cmd.svg --folded cmd.folded -- sh -c 'echo said; ./busy cmd & sleep 1; kill -9 $!; exit 7'
is "a command: its status, and what it says" "$status $(tr '\n' ' ' <out)" "7 said ready "
ok "  its picture" sh -c 'grep -q "^cmd;.*in_a_loop " cmd.folded && grep -q "<title>CPU of sh -c" cmd.svg'
echo hello | pjflame -q -o in.svg -- sh -c 'cat; timeout 1 ./busy cmd' >out 2>err
ok "  it has our standard input" grep -q hello out
flame -o none.svg -- no-such-command
is "  one that is not there" "$status $(grep -c 'no-such-command: not found' err)" "127 1"
flame -p "$outside" -s 1 --keep kept -q -o kept.svg --folded kept.folded
ok "--keep: the window is there" sh -c 'ls kept/out/*.data'
pjfold -q -o again.folded kept/out/*.data
grep -v '^#' kept.folded >kept.stacks
same "  and folds to the same" kept.stacks again.folded
flame -p "$outside" --unwind=tables -s 1 -o tables.svg --folded tables.folded
is "--unwind goes to pjrecord" "$status $(grep -cE '^outside;.*main[; ]' tables.folded | sed 's/^[1-9].*/some/')" "0 some"
./waits &
waits=$!
started="$started $waits"
flame -p $waits --off-cpu -s 1 -o off.svg --folded off.folded
ok "--off-cpu: where it waits, in ns" sh -c 'grep -q "^# pj unit=ns" off.folded && grep -q "^waits;.*main.*nanosleep.*schedule_" off.folded && grep -q "<title>Off-CPU time of process" off.svg'
flame -e wall -s 1 -o wall.svg --folded wall.folded "$outside,$waits,$(sh -c 'echo $$')"
ok "-e wall: where processes run and wait, in ns" sh -c 'grep -q "^# pj unit=ns event=wall-time" wall.folded && grep -q "^outside;.*main" wall.folded && grep -q "^waits;.*main.*;\[blocked" wall.folded && grep -q "<title>Wall-clock time of processes" wall.svg'
# reasons: most of the blocked time of the load has the reason of nanosleep
reasons() { awk '/^waits;.*nanosleep.*;\[blocked: sleep\] / { s += $NF } /^waits;.*;\[blocked/ { a += $NF } END { exit !(a && s >= a / 2) }' wall.folded; }
if ! grep -q 'do_nanosleep' wall.folded; then
	skip "  the reason of the wait" "kernel frames have no names here"
elif reasons; then
	pass "  the reason of the wait"
else
	fail "  the reason of the wait" wall.folded
fi
ok "  a process of the list that is gone is counted" grep -q '1 of 3 processes are gone' err
flame -p $waits -e page-faults -s 1 -o faults.svg
is "no samples: said, with what helps, and no picture" "$status $(grep -c 'no samples of process' err) $(ls faults.svg 2>/dev/null)" "1 1 "
kill -9 $waits

if [ -n "$jvms" ]; then
	"${jdks##* }/bin/java" -Xmx64m -cp . Work burst 3600 >nofp.out 2>&1 &
	nofp=$!
	"${jdks##* }/bin/java" -Xmx64m -XX:+PreserveFramePointer -cp . Work burst 3600 >fp.out 2>&1 &
	fp=$!
	started="$started $nofp $fp"
	for p in $nofp $fp; do until_true sh -c 'pjmap --once --stdout "$1" 2>/dev/null | grep -q " Work\.some$"' - $p; done
	flame -p $nofp,$fp --unwind=fp -s 3 -o nofp.svg
	is "--unwind=fp: a JVM without frame pointers is named, with the remedy" \
		"$status $(grep -c "$nofp, Java.*-XX:+PreserveFramePointer.*leave out --unwind=fp" err) $(grep -c '% of stacks complete' err)" "0 1 1"
	is "  and not one with them" "$(grep -c "$fp, Java" err)" 0
	kill -9 $nofp $fp
fi

# ---- how it ends ----

# begin: pjflame in the background, until it records; $flame. Jobs of a shell ignore SIGINT.
undo=
if env --default-signal=INT true 2>/dev/null; then undo='env --default-signal=INT'; fi
begin()
{
	rm -f begun.svg
	echo old >begun.svg
	$undo setsid pjflame "$@" -o begun.svg >out 2>err </dev/null &
	flame=$!
	started="$started $flame"
	until_true sh -c 'ls left/*/pj/recording/*.data >/dev/null 2>&1'
}
begin -p "$outside" -s 600
kill -HUP $flame
wait $flame
is "HUP: status, and the picture of before" "$? $(cat begun.svg)" "129 old"
nothing_left "  nothing is left"
# ticks PID: hundredths of a second that its threads ran
ticks()
{
	awk '{ print $14 + $15 }' "/proc/$1/stat"
}
ran_since()
{
	[ "$(ticks "$1")" -ge "$2" ]
}
for signal in TERM INT; do
	if [ "$signal" = INT ] && [ -z "$undo" ]; then
		skip "INT draws what there is" "env cannot undo that jobs of a shell ignore it"
		continue
	fi
	begin -p "$outside" -s 600
	until_true ran_since "$outside" $(($(ticks "$outside") + 50)) # some 50 samples; without any there is no picture
	kill -$signal $flame
	wait $flame
	is "$signal draws what there is: status" "$? $(grep -c '</svg>' begun.svg)" "0 1"
	nothing_left "  nothing is left"
done
# timeout(1) sends SIGTERM to the process, then to its group
timeout 8 pjflame -q -p "$outside" -s 600 -o begun.svg >out 2>err </dev/null
is "timeout(1): status, and the picture" "$? $(grep -c '</svg>' begun.svg)" "124 1"
nothing_left "  nothing is left"
pjflame -p "$outside" -s 1 -o - >/dev/full 2>err
is "a full disk: status" "$? $(grep -c 'No space left' err)" "1 1"
pjflame --top -p "$outside" -n 2 -s 1 >/dev/full 2>err
is "  of tables, of the list, of --help: status" "$? $(pjflame -l >/dev/full 2>err; echo $?) $(pjflame --help >/dev/full 2>err; echo $?)" "1 1 1"
if [ "$(uname -m)" = x86_64 ]; then
	# one frame for certain: the frame pointer is 0
	cat >rests.c <<'C'
__attribute__((noinline, noclone)) static void rests(void)
{
	static const long ms[2] = { 0, 1000000 };

	for (int i = 0; i < 300; i++)
		__asm__ volatile("push %%rbp; xor %%ebp, %%ebp; mov $35, %%eax; syscall; pop %%rbp" : : "D"(ms), "S"(0) : "rax", "rcx", "r11", "memory");
}
int main(void) { rests(); }
C
	cc -O0 -mno-red-zone -o rests rests.c
	flame --off-cpu -o rests.svg -- ./rests
	# its frames are found neither by frame pointers nor by tables: no remedy is offered that does not help
	is "--off-cpu: no remedy where none helps" \
		"$status $(grep -c 'rests' err) $(grep -c 'frame-pointer' err) $(grep -c 'unwind=tables' err)" "0 1 0 0"
fi
ok "tables that nobody reads any more end" sh -c 'pjflame --top -p "$0" -s 1 2>err | head -n 1 | grep -q samples' "$outside"
nothing_left "  nothing is left"
flame -o absent/x.svg --folded x.folded -- touch ran
is "a picture that cannot be made: said before the command runs" "$status $(ls ran absent 2>/dev/null) $(cat err)" "125  pjflame: --output: there is no directory 'absent/': create it first, or name another file"
mkdir -p folder
flame --folded folder -p "$outside" -s 86400
is "  one that would replace a directory: status" "$status $(grep -c "'folder' is a directory" err)" "1 1"
pjflame -q -o - -- sh -c 'echo printed; timeout 0.5 ./busy prints >/dev/null; true' >out.svg 2>err
is "a picture on standard output, without what the command prints: status" "$? $(head -c 4 out.svg) $(grep -c '^printed$' out.svg) $(grep -c '^printed$' err)" "0 <svg 0 1"
nothing_left "  nothing is left"
TMPDIR=/no/such/folder pjflame -s 1 -o none.svg >out 2>err
is "no temporary directory: status" "$? $(grep -c TMPDIR err)" "1 1"

# ---- what is missing ----

chmod 1777 left
if [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -gt 0 ]; then
	chmod a+rx "$scratch"
	setpriv --reuid=65534 --regid=65534 --clear-groups pjflame -s 1 -o left/none.svg >out 2>err
	is "not allowed: status" $? 1
	ok "  what helps" grep -qE '^pjrecord: .*(CAP_PERFMON|perf_event_paranoid)' err
	nothing_left "  nothing is left"
else
	skip "not allowed" "everybody may record the host here"
fi
if (PATH=/usr/bin:/bin && ! have pjrecord && ! have pjfold); then
	mkdir alone
	cp "$(command -v pjflame)" alone/
	PATH=/usr/bin:/bin alone/pjflame -s 1 >out 2>err
	is "without the other tools" "$? $(grep -c 'not found: pjrecord pjmap pjfold pjsvg' err)" "1 1"
	cp "$(command -v pjrecord)" "$(command -v pjfold)" "$(command -v pjsvg)" "$(command -v pjmap)" alone/
	ln -s alone/pjflame link
	PATH=/usr/bin:/bin ./link -p "$outside" -s 1 -q -o link.svg >out 2>err
	is "those beside it are found, also through a link" "$? $(cat err)" "0 "
else
	skip "without the other tools" "they are installed here"
fi
for words in "--bogus" "-s 0" "-s 1x" "-s" "-F 0" "word" "-p 1,,2" "-p x" "-a -p 1" "-c a -c b" "--by=x" "-n 1" "-o - --folded -" "--top -o x" "--top -- true" "--off-cpu -e x" "--"; do
	# shellcheck disable=SC2086 # words
	flame $words
	is "'$words': usage" "$status $(grep -c 'see pjflame --help' err) $(wc -l <err | tr -d ' ')" "2 1 1"
done

# ---- tables ----

flame --top -c "${ours}1111" -n 2 -s 1 --rows 6
is "--top on a pipe: status, two tables" "$status $(grep -c '   self   total  function' out)" "0 2"
is "  of at most as many rows" "$(awk '/function/ { if (t++) print (n >= 1 && n <= 6); n = 0; next } /%  / { n++ } END { print (n >= 1 && n <= 6) }' out | tr '\n' ' ')" "1 1 "
ok "  kinds" grep -qE '_\[k\]$' out
flame --top -c "${ours}2222" -n 1 -s 4
ok "  the hottest is there, names as they are" sh -c 'grep -qE "^ *[0-9.]+% +[0-9.]+%  in_a_loop$" out && grep -qE "%  größe中文$" out && grep -qE "%  a_name_that_is_much_longer.*_with_its_end$" out'
nothing_left "  nothing is left"
flame --top -c "$slice" --by=container -n 1 -s 2
ok "--top --by=container: a table of each" sh -c 'grep -q "== $1" out && grep -q "== $2" out' - "$(printf '%.12s' "$web")" "$(printf '%.12s' "$db")"

# terminal COLUMNS ROWS LANG WORDS...: pjflame --top on a terminal of its own, until $awaited is there and the key in $press; what it wrote is in screen, later settings in modes
terminal()
{
	columns=$1 rows=$2 lang=$3
	shift 3
	rm -f keys screen modes
	mkfifo keys
	cat >on.sh <<SH
stty cols $columns rows $rows
LC_ALL=$lang TERM=xterm pjflame --top $* 2>top.err
echo \$? >top.status
stty -a >modes
SH
	script -qfc 'sh on.sh' screen <keys >/dev/null 2>&1 &
	on=$!
	started="$started $on"
	exec 7>keys
	for word in $awaited; do until_true grep -qs -- "$word" screen; done
	printf '%s' "$press" >&7
	until_true test -s modes || kill -9 $on
	exec 7>&-
	wait $on
}
if have script; then
	press=q awaited='_with_its_end größe'
	terminal 60 14 C.UTF-8 -c "${ours}2222" -s 1
	is "--top on a terminal, ended by q: status" "$(cat top.status) $(cat top.err)" "0 "
	ok "  the terminal is as before" grep -q '[^-]icanon.* [^-]*echo ' modes
	escape=$(printf '\033')
	tr -d '\r' <screen | sed "s/$escape\[H/\\n/g; s/$escape\[[0-9;?]*[A-Za-z]//g" | grep -E '%  |function|samples' >text
	widest=$(LC_ALL=C.UTF-8 wc -L <text)
	ok "  no line is wider ($widest)" [ "$widest" -le 60 ]
	ok "  the end of a long name stays, and UTF-8" sh -c 'grep -q "…[a-z_]*_with_its_end" text && grep -q "größe中文" text'
	is "  no more rows than fit" "$(awk '/function/ { n = 0 } /%/ && /%  / { n++; if (n > most) most = n } END { print most <= 9 }' text)" 1
	ok "  it ends on the screen of before, with the last table" sh -c 'tail -n 14 screen | grep -q "\[?1049l"'
	nothing_left "  nothing is left"
	press=$(printf '\003') awaited=%
	terminal 40 10 C -c "${ours}2222" -s 1 --by=process
	is "  by Ctrl-C, narrower, without UTF-8: status" "$(cat top.status) $(cat top.err)" "0 "
	tr -d '\r' <screen | sed "s/$escape\[H/\\n/g; s/$escape\[[0-9;?]*[A-Za-z]//g" | grep -E '%  |samples' >text
	ok "  no line is wider" [ "$(wc -L <text)" -le 40 ]
	is "  ASCII only" "$(grep -c '[^ -~]' text)" 0
	nothing_left "  nothing is left"
else
	skip "--top on a terminal" "script is not installed (bsdutils)"
fi
setsid pjflame --top -p "$outside" -s 1 >out 2>err </dev/null &
flame=$!
started="$started $flame"
until_true grep -q function out
kill -9 $flame
until_true sh -c '[ -z "$(ls left)" ]'
nothing_left "--top that was killed outright: what it started ends"
setsid pjflame -q -p "$outside" -s 600 -o never.svg >out 2>err </dev/null &
flame=$!
started="$started $flame"
until_true sh -c 'ls left/pjflame.*/pj/recording/*.data'
kill -9 $flame
ok "a recording that was killed outright: its recorder and its mapper end" until_true no_process
rm -rf left/* # nobody was there to do it
done_testing
