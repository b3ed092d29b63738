#!/bin/sh
# jmap-rights.t - which capabilities each process of pjmap has, and that what it writes is still written: as root, for folders of others.
# stage: live
# full: JVMs of other users; jmap.t has the tool itself
# covers: common/process/capabilities.c jmap/perfmap/publisher.c jmap/attach/targetuser.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
have pjmap || skip_all "pjmap is not built"
[ "$(id -u)" = 0 ] || skip_all "needs root, whose capabilities are to be dropped"
# shellcheck source=test/lib/jvm.sh
. "$top/test/lib/jvm.sh"
need_jdk "$top/test/jmap/Work.java"
chmod 755 .

read_search=4 ptrace=80000 # CAP_DAC_READ_SEARCH, CAP_SYS_PTRACE
own=$((0x$(awk '/^CapEff/ { print $2 }' /proc/self/status)))
two=$(printf %016x $((0x$read_search | 0x$ptrace | (own & 1 << 24)))) # CAP_SYS_RESOURCE, where root has it
three=$(printf %016x $((1 << 0 | 1 << 1 | 1 << 3))) # CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_FOWNER
# rights PID: "effective permitted inheritable ambient no_new_privs", and whether the bounding set has more
rights()
{
	awk '/^Cap(Eff|Prm|Inh|Amb):/ || /^NoNewPrivs:/ { printf "%s ", $2 } /^CapBnd:/ { bound = $2 } /^CapPrm:/ { has = $2 } END { print (bound == has ? "bound" : "more") }' "/proc/$1/status"
}

jdk=${jdks##* }
jdk=${jdk#*:}
: >ready
setpriv --reuid 12345 --regid 23456 --clear-groups "$jdk/bin/java" -Xmx64m -cp . Work idle 900 >ready 2>java.err &
pid=$!
started="$started $pid"
until_true grep -qs ready ready || skip_all "java does not start: $(head -n 1 java.err)"

mkdir -m 755 dir to
chown 12345 dir to
pjmap -i 0.2 -d dir --to to 2>err "$pid" &
pjmap=$!
started="$started $pjmap"
until_true sh -c 'ls to/perf-*.map' >/dev/null 2>&1
zero=0000000000000000
is "pjmap -i: two capabilities, for good" "$(rights $pjmap)" "$zero $two $two $zero 1 bound"
publisher=$(pgrep -P $pjmap -x pjmap-publish)
started="$started $publisher"
is "what gives maps away: three others" "$(rights "$publisher")" "$zero $three $three $zero 1 bound"
is "  with no descriptor but a socket and stderr" "$(find "/proc/$publisher/fd" -mindepth 1 -printf '%f %l\n' | grep -c 'socket\|/dev/null\|/err$')" "$(find "/proc/$publisher/fd" -mindepth 1 | wc -l)"
is "a folder of another user: the map is there, of the JVM's user" "$(stat -c %u:%g:%a "to/perf-$pid.map")" 12345:23456:600
ok "  and the timeline, in DIR of another user" sh -c 'find dir/maps -name "$1-*.jmap" | grep -q .' - "$pid"
kill -KILL $pjmap
until_true not kill -0 "$publisher" 2>/dev/null
ok "killed: its other process ends, too" not kill -0 "$publisher"
wait $pjmap 2>/dev/null
pjmap -i 0.2 -d dir --to to --no-perf-map 2>err "$pid" &
pjmap=$!
started="$started $pjmap"
until_true sh -c 'grep -q "^CapEff:.*$2" "/proc/$1/status"' - $pjmap "$two"
is "without maps no process gives any away" "$(pgrep -P $pjmap -x pjmap-publish | wc -l)" 0
until_true sh -c 'pgrep -P "$1" -x pjmap-jvm' - $pjmap >/dev/null
is "what reads the JVM: no capability" "$(rights "$(pgrep -P $pjmap -x pjmap-jvm)" | cut -d " " -f 1-5)" "$zero $zero $zero $zero 1"
is "  system calls are filtered" "$(awk '/^Seccomp:/ { print $2 }' "/proc/$(pgrep -P $pjmap -x pjmap-jvm)/status")" 2
kill -INT $pjmap
wait $pjmap
is "SIGINT: status" $? 0

rm -f to/*
ok "--once, into a folder of another user" pjmap --once -q --to to "$pid"
is "  of the JVM's user" "$(stat -c %u:%g:%a "to/perf-$pid.map")" 12345:23456:600
pjmap --once --to /no/such "$pid" 2>err
is "no such folder: status" $? 1
ok "  said, with the reason" grep -q "/no/such.*No such file" err
if have strace && strace -o trace true 2>/dev/null; then
	"$jdk/bin/java" -Xmx64m -cp . Work idle 900 >ready.root 2>java.err &
	root=$!
	started="$started $root"
	until_true grep -qs ready ready.root
	strace -f -o trace -e trace=capset,setresuid,connect,write pjmap --once -q --method=jcmd --to to "$root" 2>err
	is "asking a JVM of root: status" $? 0
	grep -n 'capset(' trace >capset
	ok "  pjmap keeps what it needs to become a user" grep -q "$(printf 'effective=1<<CAP_DAC_READ_SEARCH|1<<CAP_SETGID|1<<CAP_SETUID|1<<CAP_SYS_PTRACE')" capset
	ok "  the child that asks it has no capability before it connects" awk '/capset\(.*effective=0, permitted=0, inheritable=0/ { dropped[$1] = 1 } / connect\(/ { n++; if (!dropped[$1]) bad = 1 } END { exit bad || !n }' trace
	kill -KILL $root
fi
kill -KILL $pid
done_testing
