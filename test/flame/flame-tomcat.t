#!/bin/sh
# flame-tomcat.t - the recipe in examples/: a server not written by us, in namespaces of its own, gives one picture of Java, libjvm, libc and kernel.
# stage: live
# full: needs a Tomcat and its load
# covers: flame/pjflame.sh flame/draw.sh
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
LC_ALL=C
export LC_ALL
recipe=$top/examples/flame-tomcat

have pjflame || skip_all "pjflame is not built"
ok "the shell understands it" sh -n "$recipe"
"$recipe" out.svg none >out 2>err
status=$?
if [ "$(id -u)" = 0 ]; then is "  usage" "$status $(grep -c '^usage: flame-tomcat' err)" "2 1"; fi
missing=
for c in tomcat10-instance-create ab ip java nsenter unshare setpriv; do have $c || missing="$missing $c"; done
[ -d /usr/share/tomcat10-examples/examples ] || missing="$missing tomcat10-examples"
why=
if [ -n "$missing" ]; then
	why="not installed:$missing (the head of examples/flame-tomcat says how)"
elif [ "$(id -u)" != 0 ] || ! unshare -m -n -p -f true 2>/dev/null; then
	why="namespaces need root"
elif ! pjrecord -q -a -w 1 --once -d try >out 2>err; then
	why="recording is not allowed here: $(head -n 1 err)"
fi
if [ -n "$why" ]; then
	skip "tomcat10 under load" "$why"
	done_testing
fi

timeout 400 "$recipe" out.svg 5 >out 2>err
status=$?
if grep -q 'no cgroups that perf events know' err; then
	skip "tomcat10 under load" "no cgroups that perf events know"
	done_testing
fi
is "tomcat10 under load: status" $status 0
id=$(sed -n 's/.*container \([0-9a-f]*\)$/\1/p' out)
ok "  the picture says what it is of" grep -q "container $id," out.svg
pjsvg --unpack out.svg >folded 2>why
# of each kind, on one stack from the thread's begin to the kernel: Java of the server, what libjvm and libc stand for in it
ok "  Java" grep -qE ';org/apache/(coyote|tomcat|catalina)/[^;]*_\[[ji]\]' folded
ok "  libjvm below it" grep -qE ';JavaCalls::[^;]*;.*org/apache/' folded
ok "  libc, and the kernel behind it" grep -qE ';org/apache/.*;[^;]*(write|read|epoll_wait|send|recv)[^;]*;.*_\[k\]' folded
is "  nothing of who makes the load" "$(grep -cE '^ab(;| )' folded)" 0
ok "  most stacks are complete" awk '/ % of stacks complete/ { sub(/ % of stacks complete.*/, ""); sub(/.* /, ""); exit !($0 + 0 > 60) }' err
is "  nothing of it is left" "$(find /sys/fs/cgroup -maxdepth 2 -name "docker-$id*"; ls -d /var/tmp/flame-tomcat.* 2>/dev/null)" ""
done_testing
