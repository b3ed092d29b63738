#!/bin/sh
# record-send.t - the whole pipeline, live, into each store that is here: pjrecord, pjmap and pjsend side by side on one directory, and what
# pjfetch gives back is what was recorded, to the sample. PJ_SEND_WINDOWS: how many windows of 2 s for each store (4).
# stage: live
# full: the pipeline into each store; record.t and send-stores.t have its parts
# covers: record/windows/windows.c jmap/follow.c send/pjsend.c send/spool/spooler.c send/spool/jmapscans.c
# covers: send/pjfetch.c send/gather.c send/spool/chunkinfo.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
LC_ALL=C
HOME=$scratch
export LC_ALL HOME
unset PJ_STORE
# shellcheck source=test/lib/stores.sh
. "$top/test/lib/stores.sh"
count=${PJ_SEND_WINDOWS:-4}

have pjrecord && have pjmap && have pjsend && have pjfetch || skip_all "the tools are not built"
timeout 30 pjrecord -q -a -n 1 -w 1 -d probe >out 2>err || skip_all "perf events are not allowed here: $(head -n 1 err)"

# load: two programs that burn, one of them a JVM where there is one, until this test ends
load()
{
	sh -c 'while :; do :; done' &
	running="$running $!"
	for jdk in /usr/lib/jvm/*; do
		if [ -x "$jdk/bin/javac" ] && [ ! -L "$jdk" ]; then
			"$jdk/bin/javac" -d . "$top/examples/Demo.java" >/dev/null 2>&1 || return 0
			"$jdk/bin/java" -Xmx64m -XX:+PreserveFramePointer -cp . Demo $((60 * count)) >/dev/null 2>&1 &
			running="$running $!"
			return 0
		fi
	done
}

# value FILE NAME: of a counter
value()
{
	awk -v what="$2" '$1 == what { print $2 }' "$1"
}

emptied()
{
	[ -z "$(find "$1/out" "$1/recording" "$1/spool" -name '[0-9]*' 2>/dev/null)" ]
}

# pipeline NAME STORE: sets recorded, after everything was sent
pipeline()
{
	d=dir.$1
	mkdir -p "$d"
	pjmap -q -i 1 --no-perf-map -d "$d" 2>"$1.map" &
	mapper=$!
	pjsend -q --splay=0 --catch-up=0 --store="$2" -d "$d" 2>"$1.send" &
	sender=$!
	running="$running $mapper $sender"
	timeout 120 pjrecord -q -a -w 2 -n "$count" -d "$d" >"$1.windows" 2>"$1.record"
	is "$1: recorded: status, windows" "$? $(wc -l <"$1.windows" | tr -d ' ')" "0 $count"
	recorded=$(value "$d/pjrecord.prom" pj_record_samples_total)
	ok "  samples were taken" [ "${recorded:-0}" -gt 50 ]
	ok "  everything is sent, while pjsend runs" soon emptied "$d"
	stop "$sender"
	stop "$mapper"
	is "  windows that were sent, refused, dropped" "$(value "$d/pjsend.prom" pj_send_windows_sent_total) $(find "$d/bad" -type f 2>/dev/null | wc -l | tr -d ' ') $(
		value "$d/pjsend.prom" pj_send_windows_dropped_total)" "$count 0 0"
	same "  nothing was wrong" "$1.send" /dev/null
}

# fetched NAME STORE: what is there is what was recorded
fetched()
{
	pjfetch -q --store="$2" --all-hosts --from=-1h >"$1.got" 2>"$1.err"
	is "  pjfetch: status" $? 0
	is "  the sum is what was recorded, lost samples beside it" "$(awk '!/^#/ { n += $NF } END { print n }' "$1.got")" "$recorded"
}

load
pipeline dir "dir:$PWD/store"
fetched dir "dir:$PWD/store"
if [ -e Demo.class ]; then
	ok "  Java methods have names, which only pjmap's timeline tells" grep -q 'Demo\.[a-zA-Z]*_\[[j1i]\]' dir.got
else
	skip "  Java methods have names" "no JDK"
fi

pjsend --once --store=eve:http://127.0.0.1:1 /nonexistent >probe.send 2>&1
if grep -q 'built without' probe.send; then
	skip "remote stores" "$(sed 's/.*: built/built/' probe.send)"
	done_testing
fi

if eve --file kept; then
	pipeline eve "eve:http://127.0.0.1:$eve_port"
	is "  the sum is what was recorded" "$(awk -F'\t' '{ n += $5 } END { print n }' kept)" "$recorded"
	is "  first frames tell the process" "$(awk -F'\t' '$4 !~ /^[^;]*-([0-9]+|[?])(;|$)/' kept | head -n 3)" ""
	stop "$eve_pid"
fi
modules=$top/build/node-stores/node_modules
if ! have node || [ ! -d "$modules/express-pouchdb" ]; then
	skip "couch" "express-pouchdb is not installed (test/send/setup.sh does it)"
elif couch "$modules"; then
	pipeline couch "couch:http://127.0.0.1:$couch_port/pj"
	fetched couch "couch:http://127.0.0.1:$couch_port/pj"
	stop "$couch_pid"
fi
if ! have clickhouse-server; then
	skip "clickhouse" "clickhouse-server is not installed"
elif clickhouse && tables; then
	pipeline clickhouse "clickhouse:http://127.0.0.1:$clickhouse_port"
	fetched clickhouse "clickhouse:http://127.0.0.1:$clickhouse_port"
	stop "$clickhouse_pid"
fi
done_testing
