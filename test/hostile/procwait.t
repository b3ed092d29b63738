#!/bin/sh
# procwait.t - files of /proc/PID whose reader may wait for ever (holdlock.c) are read by no thread that others depend on: system calls of
# the main threads of pjrecord, pjmap and pjfold, beside JVMs, jitdumps and short processes.
# stage: live
# full: an attack of 20 s or more beside the tools; planted.t and escapes.t are in the gate
# covers: record/processes/procreader.c common/process/taskwait.c jmap/follow.c
PJ_TOP=${PJ_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
export PJ_TOP
# shellcheck source=test/lib/tap.sh
. "$PJ_TOP/test/lib/tap.sh"
# shellcheck source=test/hostile/lib.sh
. "$PJ_TOP/test/hostile/lib.sh"
have strace || skip_all "strace is not installed"
strace -y -o /dev/null true 2>strace.err || skip_all "strace may not trace here: $(head -n 1 strace.err)"
# shellcheck source=test/hostile/java.sh
. "$PJ_TOP/test/hostile/java.sh"
# shellcheck source=test/lib/record.sh
. "$PJ_TOP/test/lib/record.sh"

# trace NAME COMMAND...: runs the tool in the background, its main thread traced; its PID is in $traced, once NAME.pid exists
trace()
{
	trace_name=$1
	shift
	strace -y -s 0 -e trace=%file,%process,read,pread64,readv,preadv,getdents64 -o "$trace_name.calls" \
		sh -c 'echo $$ >"$1.pid"; shift; exec "$@"' sh "$trace_name" "$@" &
	tracer=$!
	started="$started $tracer"
	until_ 10 test -s "$trace_name.pid"
	traced=$(cat "$trace_name.pid")
	started="$started $traced"
}

# waits_not NAME CALLS [PIDS]: the main thread looked at other processes (at these) in so many calls at least, and only at files that never
# wait
waits_not()
{
	awk -v self="$(cat "$1.pid")" -v only="${3:-}" -f "$top/test/hostile/waiting.awk" "$1.calls" >"$1.waiting"
	sed 's/[0-9]\{2,\}/N/g' "$1.waiting" | sort | uniq -c
	[ "$(wc -l <"$1.waiting")" = 1 ] && [ "$(awk 'END { print $1 }' "$1.waiting")" -ge "$2" ]
}

# end NAME: by SIGTERM
end()
{
	kill -TERM "$traced"
	wait "$tracer"
}

# short processes of this test's own mount namespace
storm()
{
	for _ in $(seq $((attack_secs * 20))); do
		/bin/true
		sleep 0.05
	done
}

begin_java
first=$genuine
storm &
started="$started $!"
attack jitflood many 4

trace record pjrecord -v -F 499 -w 1 -d rec --unwind=tables >/dev/null 2>record.err
until_ 20 test -e rec/out
begin_java
second=$genuine
"$build/test/hostile/fusehang" burn >/dev/null 9>/dev/null &
burning=$!
started="$started $burning"
sleep $((attack_secs / 3))
end record
ok "pjrecord: its main thread reads no file of others that may wait" waits_not record 10
awk '/CLONE_THREAD/ { threads++; next } /^(clone3?|v?fork)\(/ { forks++; if (threads) print } END { if (!threads || forks < 3) print "no calls" }' \
	record.calls >beside
is "  it forks helper processes before it starts threads" "$(cat beside)" ""
pjfold -q rec/out/*.data >folded 2>/dev/null
ok "  it recorded short processes" grep -q '^true;' folded
ok "  and JVMs" grep -q '^java.*;' folded
ok "  and programs that write jitdumps" grep -q '^jitflood;' folded

# timelines of JVMs that still run are there when the second one starts
mkdir to
timeout -s TERM 4 pjmap -i 0.2 -d maps --to to 2>/dev/null
trace map pjmap -i 0.2 -d maps --to to 2>map.err
sleep $((attack_secs / 6))
begin_java
sleep $((attack_secs / 6))
end map
ok "pjmap: its main thread reads no file of others that may wait" waits_not map 10
ok "  it followed JVMs" grep -q 'JVMs followed' map.err

for how in --list "--once --to to"; do
	# shellcheck disable=SC2086 # two words
	trace "once$how" pjmap $how >once.out 2>once.err
	wait "$tracer"
	ok "pjmap $how: neither" waits_not "once$how" 10
done

trace check pjrecord --check >check.out 2>&1
wait "$tracer"
ok "pjrecord --check: neither" waits_not check 0

trace pid pjrecord -v -o pid.data -p "$first,$burning" >/dev/null 2>pid.err
sleep 2
end pid
ok "pjrecord -p: neither" waits_not pid 0

for data in pid.data rec/out/*.data; do
	trace fold pjfold -q "$data" >>fold.out 2>fold.err
	wait "$tracer"
	cat fold.calls >>folds.calls
done
cp fold.pid folds.pid
# of its helper, a grandchild, it may read how it does
ok "pjfold of processes that live: neither" waits_not folds 0 "$first $second $burning"
ok "  samples of all were folded" grep -q '^true;' fold.out
done_testing
