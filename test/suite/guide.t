#!/bin/sh
# guide.t - each command of docs/guide.md runs as it stands, in its order, and what it is said to write is there.
# stage: live
# full: records for a minute, with a JVM
# full-san: texts
# covers: flame/pjflame.sh record/recordopts.c fold/foldopts.c send/sendopts.c diff/diffopts.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=test/lib/jvm.sh
. "$top/test/lib/jvm.sh"
LC_ALL=C
PJ=$top
export LC_ALL PJ
guide=$top/docs/guide.md

for c in cc java javac perf; do have $c || skip_all "$c is not there"; done
perf record -q -o try.data -- true >out 2>why || skip_all "perf: $(head -n 1 why)"
pjrecord -q -a -w 1 --once -d try >out 2>why || skip_all "recording is not allowed here: $(head -n 1 why)"
[ "$(id -u)" = 0 ] || skip_all "a service of its own needs root"

# ---- web: a JVM in the cgroup of a service

hierarchy=$(awk '{ for (i = 7; i < NF; i++) if ($i == "-") { type = $(i + 1); options = $(i + 3); break }
	if (type == "cgroup" && ("," options ",") ~ /,perf_event,/) own = $5
	if (type == "cgroup2" && !second) second = $5 } END { print own ? own : second }' /proc/self/mountinfo)
service=$hierarchy/system.slice/web.service
made=
clean_up()
{
	for folder in $made; do
		tries=50
		while [ -d "$folder" ] && ! rmdir "$folder" 2>/dev/null && [ $((tries -= 1)) -gt 0 ]; do sleep 0.1; done
	done
}
[ -n "$hierarchy" ] || skip_all "no cgroups that perf events have"
[ -d "$hierarchy/system.slice" ] || { mkdir "$hierarchy/system.slice" && made=$hierarchy/system.slice; }
[ ! -d "$service" ] || skip_all "there is a web.service"
mkdir "$service" && made="$service $made"
javac -d . "$top/examples/Demo.java" || skip_all "javac"
# shellcheck disable=SC2016 # for the other shell
sh -c 'echo $$ >"$0/cgroup.procs" && exec java -cp "$1" Demo 900' "$service" "$PWD" >web.out 2>&1 &
started="$started $!"

# ---- the commands, in one shell that ends at the first failure

mkdir guide.d blocks
awk '/^```sh$/ { on = 1; n++; next } /^```$/ { on = 0 } on { print >sprintf("blocks/%02d", n) }' "$guide"
ok "the guide has blocks of commands" test -e blocks/10
{
	# shellcheck disable=SC2016 # for the other shell
	echo 'trap "kill \$java \$recorder" EXIT'
	for block in blocks/*; do
		cat "$block"
		echo "echo $block >>../completed"
	done
} >commands
: >completed
(cd guide.d && sh -e ../commands) >out 2>err </dev/null
for block in blocks/*; do
	ok "$(head -n 1 "$block") ..." grep -qx "$block" completed
done
[ $failed = 0 ] || tail -n 20 err | sed 's/^/# /'

# ---- results

# names FILE PATTERN: the picture has a frame of this name
names()
{
	pjsvg --unpack "$1" >unpacked 2>why || { cat why; return 1; }
	grep -q "$2" unpacked
}
ok "flame.svg: the host, with its kernel" names guide.d/flame.svg '_\[k\]'
ok "java.svg: Java methods" names guide.d/java.svg ';Demo\.'
ok "web.svg: Java methods of the service" names guide.d/web.svg ';Demo\.'
ok "threads.svg: a frame for the thread" names guide.d/threads.svg '^java;\['
ok "demo.svg: functions and their callers" names guide.d/demo.svg 'handle_request;parse_list'
ok "parse.svg: only stacks with parse_list" names guide.d/parse.svg parse_list
ok "  and none without" not grep -qv parse_list unpacked
ok "perf.svg" names guide.d/perf.svg parse_list
ok "java.folded: methods of a JVM that perf recorded" grep -q 'Demo\.' guide.d/java.folded
ok "diff.svg: what was inlined is gone" names guide.d/diff.svg parse_list
ok "now.svg" names guide.d/now.svg 'Demo\.'
ok "hour.svg: Java methods from the store" names guide.d/hour.svg 'Demo\.'
ok "by-host.folded: the host is the first frame" grep -q "^$(uname -n);" guide.d/by-host.folded
done_testing
