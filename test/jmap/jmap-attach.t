#!/bin/sh
# jmap-attach.t - pjmap --method=jcmd and agent: the JVM's own map, with its rights and in its /tmp, nothing left there, no stacks in its output; and what it
# answers is not believed.
#
# Run by ./check.
# stage: live
# full: 100 assertions about attaching to every JDK; jmap.t has the tool itself
# covers: jmap/attach/attach.c jmap/attach/jcmdmap.c jmap/attach/mapparser.c jmap/attach/replies.c
# covers: jmap/attach/agentimage.S jmap/agent/agent.c runtimes/hotspot/stubs.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
LC_ALL=C
export LC_ALL

have pjmap || skip_all "pjmap is not built"
fake=${PJ_BUILD:-$top/build/std-cc}/test/jmap/fake
# shellcheck source=test/lib/jvm.sh
. "$top/test/lib/jvm.sh"
need_jdk "$top/test/jmap/Work.java"
chmod 755 .
mkdir maps

clean_up()
{
	for p in $started; do rm -f "/tmp/.java_pid$p" "/tmp/perf-$p.map" "/tmp/.attach_pid$p"; done
}

# start OPTION...: $pid is a JVM that rests after its work; all it says is in said
start()
{
	rm -f said
	"$jdk/bin/java" -Xmx64m "$@" -cp . Work idle 900 >said 2>&1 &
	pid=$!
	started="$started $pid"
	until_true grep -qs ready said
}

stop()
{
	kill -9 "$1" 2>/dev/null
	wait "$1" 2>/dev/null
	rm -f "/tmp/.java_pid$1"
}

# Code still comes while a JVM gets idle: what was the same before and after it was asked must be what it says.
agrees()
{
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		pjmap --once --stdout --names hotspot "$pid" >before 2>err || return 1
		pjmap --once --stdout --names hotspot --method=jcmd "$pid" >asked 2>err || return 1
		pjmap --once --stdout --names hotspot "$pid" >after 2>err || return 1
		cmp -s before after && break
		sleep 1
	done
	cmp -s before after || { echo "it does not get idle"; return 1; }
	sort before >a
	sort asked >b
	diff a b
}

# missing MAP: compiled methods of the JVM that are not in it; JVM TI does not tell of intrinsics of method handles
missing()
{
	pjmap --once --stdout "$pid" | cut -d' ' -f3- | grep '/' | grep -v '^java/lang/invoke/' | sort -u >ours
	cut -d' ' -f3- "$1" | sort -u >theirs
	comm -23 ours theirs
}

# Code still comes for a while; and a machine that is busy may take more than the 5 s in which a JVM is to listen.
tells_all()
{
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		pjmap --once --stdout --method=agent "$pid" >agent.map 2>err && [ "$(missing agent.map | wc -l)" -le 3 ] && return
		sleep 1
	done
	cat err
	missing agent.map
	return 1
}

# asks METHOD OPTION...: into agent.map, err; status
asks()
{
	method=$1
	shift
	for _ in 1 2 3; do
		pjmap --once --stdout --method="$method" "$@" "$pid" >agent.map 2>err && return
		grep -q 'timeout:\|attach-disabled:' err || return
	done
	return 1
}

left()
{
	find /tmp -maxdepth 1 -name ".pjmap-*" -o -maxdepth 1 -name "perf-$pid.map" -o -maxdepth 1 -name ".attach_pid$pid"
	find "/proc/$pid/cwd/" -maxdepth 1 -name ".attach_pid$pid" 2>/dev/null
}

for jdk in $jdks; do
	jvm=${jdk##*/}
	if ! start; then
		fail "$jvm: starts" said
		continue
	fi
	major=$("$jdk/bin/java" -version 2>&1 | sed -n '1s/.*"\([0-9]*\)[."].*/\1/p')
	pjmap --list --method=jcmd "$pid" >list 2>&1
	if [ "$major" -ge 17 ]; then
		ok "$jvm: --method=jcmd: line for line what is seen without asking" agrees
		ok "  --list says before that it can be asked" grep -q "^$pid .* ok - *Work" list
		asks jcmd
		ok "  as pj spells it" grep -q ' Work\.some$' agent.map
	else
		pjmap --once --stdout --method=jcmd "$pid" 2>err
		is "$jvm: --method=jcmd: status" $? 1
		ok "  too old, said" grep -q "$pid: too-old: .*--method=agent" err
		ok "  by --list, too" grep -q "too-old" list
	fi
	ok "$jvm: --method=agent: all compiled methods are there" tells_all
	ok "  and what vmStructs do not name" grep -qi ' flush_icache_stub$\|vtable stub\|_icache\|Interpreter$\|return entry points$' agent.map
	pjmap --once --stdout "$pid" 2>err | grep ' StubRoutines: ' | sed 's/StubRoutines: //' | sort >stubs
	asks agent
	sort agent.map | comm -23 stubs - >others
	ok "  the $(wc -l <stubs) stubs that we find in its memory are where JVMTI says, called so" sh -c '[ "$(wc -l <stubs)" -gt 50 ] && [ ! -s others ] || { cat others; false; }'
	asks agent --names hotspot
	ok "  in all spellings" grep -q 'Work\.some(' agent.map
	is "  nothing is left in its /tmp" "$(left)" ""
	ok "  no stacks in what it says" not grep -q "Full thread dump" said
	ok "  it runs on" kill -0 "$pid"

	kill -STOP "$pid"
	pjmap --once --stdout --method=jcmd "$pid" 2>err
	is "$jvm: stopped: status" $? 1
	ok "  said" grep -q "$pid: stopped: " err
	kill -CONT "$pid"
	stop "$pid"

	start
	kill -STOP "$pid"
	pjmap --once --stdout --method=jcmd "$pid" 2>err
	ok "$jvm: stopped before it ever listened: said" grep -q "$pid: stopped: " err
	kill -CONT "$pid"
	asks agent
	ok "  goes on: no stacks, and it can be asked" sh -c '! grep -q "Full thread dump" said && grep -q " Work\.some$" agent.map'
	stop "$pid"

	if start -XX:+DisableAttachMechanism; then
		pjmap --once --stdout --method=agent "$pid" 2>err
		is "$jvm: attach disabled: status" $? 1
		ok "  said" grep -q "$pid: attach-disabled: " err
		ok "  by --list, too" sh -c 'pjmap --list --method=agent "$1" | grep -q "^$1 .* attach-disabled "' - "$pid"
		ok "  and no stacks in what it says" not grep -q "Full thread dump" said
		stop "$pid"
	fi
	if start -Xrs; then
		asks agent
		ok "$jvm: -Xrs, where SIGQUIT would end it: it lives, and tells" grep -q ' Work\.some$' agent.map
		rm -f "/tmp/.java_pid$pid"
		pjmap --once --stdout --method=agent "$pid" 2>err
		ok "  its socket is gone: said, and no signal" grep -q "$pid: no-handler: " err
		ok "  it lives" kill -0 "$pid"
		stop "$pid"
	fi
	if start -XX:-EnableDynamicAgentLoading; then
		asks agent
		ok "$jvm: agents forbidden: what it says" grep -q "$pid: refused: .*[Dd]ynamic agent loading" err
		is "  nothing is left in its /tmp" "$(left)" ""
		stop "$pid"
	fi
done

# ---- in the way ----

jdk=${jdks##* }
start
ln -s "$PWD/victim" "/tmp/.attach_pid$pid"
pjmap --once --stdout --method=agent "$pid" 2>err
ok "a link where the trigger goes: said" grep -q "$pid: in-the-way: " err
ok "  not followed, and no signal" sh -c '! [ -e victim ] && ! grep -q "Full thread dump" said'
rm -f "/tmp/.attach_pid$pid"
echo mine >victim
ln -s "$PWD/victim" "/tmp/.java_pid$pid"
pjmap --once --stdout --method=agent "$pid" >agent.map 2>err
is "a link where its socket is: what it points to stays" "$(cat victim)" mine
ok "  a map, or a reason" sh -c 'grep -q " Work\.some$" agent.map || grep -q ": attach-disabled: " err'
stop "$pid"

# ---- who is asked is no JVM ----

head -c 8192 /dev/zero >libjvm.so
# fake_jvm MODE [FILE]: $pid
fake_jvm()
{
	rm -f said
	"$fake" ./libjvm.so "$@" >said 2>&1 &
	pid=$!
	started="$started $pid"
	until_true grep -qs ready said
}

printf '%s\n' 'not a line' '1008 10 overlaps' '1000 10 good' '2000 ffffffffffffffff huge' '0x3000 0x10 int a.B.c(int)' '4000 10' '5000 0 empty' \
	"$(printf '6000 10 \033[2Jevil\377\007')" "7000 10 $(head -c 6000 /dev/zero | tr '\0' y)" '# comment' >hostile.map
fake_jvm map "$PWD/hostile.map"
pjmap --once --stdout --method=jcmd "$pid" >got 2>err
is "a map that is hostile: status" $? 0
printf '1000 10 good\n3000 10 a/B.c\n6000 10 ?[2Jevil??\n' >want
same "  what makes sense of it" got want
ok "  the rest is counted" grep -q "$pid: 6 code blobs left out" err
stop "$pid"

# asked MODE CODE [FILE]
asked()
{
	fake_jvm "$1" "${3:-/dev/null}"
	pjmap --once --stdout --method=jcmd "$pid" >got 2>err
	is "$1: status" $? 1
	ok "  $2" grep -q "^pjmap: $pid: $2: " err
	is "  no map" "$(cat got)" ""
	ok "  no control bytes" not grep -q "$(printf '[\001-\010\016-\037]')" err
	is "  nothing is left in its /tmp" "$(left | grep -v perf-)" ""
	stop "$pid"
}
printf '1000 10 good\n2000 10 cut' >cut.map
echo secret >secret
asked garbage bad-reply
asked endless bad-reply
asked control refused
asked hangup cred-rejected
asked old too-old
asked map no-map /dev/null
asked map full "$PWD/cut.map"
asked link no-map "$PWD/secret"
asked silent timeout
asked rest attach-disabled

# JDK 17 writes where it always does: that must be no way to another file
fake_jvm perfmap "$PWD/hostile.map"
ln -s "$PWD/victim" "/tmp/perf-$pid.map"
pjmap --once --stdout --method=jcmd "$pid" >got 2>err
ok "a link where it writes: said" grep -q "$pid: in-the-way: perf-" err
is "  what it points to stays" "$(cat victim)" mine
rm -f "/tmp/perf-$pid.map"
ln victim hard
ln hard "/tmp/perf-$pid.map" 2>/dev/null && {
	pjmap --once --stdout --method=jcmd "$pid" >got 2>err
	ok "a second name of a file: said" grep -q "$pid: in-the-way: perf-" err
	is "  it stays" "$(cat victim)" mine
}
rm -f "/tmp/perf-$pid.map"
pjmap --once --stdout --method=jcmd "$pid" >got 2>err
ok "nothing there: its map" grep -q ' good$' got
ok "  which does not stay" [ ! -e "/tmp/perf-$pid.map" ]
echo '1 1 old' >"/tmp/perf-$pid.map"
pjmap --once --stdout --method=jcmd "$pid" >got 2>err
ok "its own map is there: renewed" grep -q ' good$' got
ok "  and stays" [ -e "/tmp/perf-$pid.map" ]
stop "$pid"
pjmap -i 1 --method=jcmd 2>err
is "-i with a method that asks: status" $? 2
done_testing
