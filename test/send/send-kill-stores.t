#!/bin/sh
# send-kill-stores.t - pjsend killed at its calls, three windows of three batches, with real servers behind it: each stack is there once.
# PJ_KILL_STEP=1: at every call; by default at so many that each store takes half a minute.
# stage: stores
# covers: send/sender.c send/stores/eve.c send/stores/couch.c send/stores/clickhouse.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
LC_ALL=C
export LC_ALL
# shellcheck source=test/lib/stores.sh
. "$top/test/lib/stores.sh"
# shellcheck source=test/send/kill.sh
. "$top/test/send/kill.sh"

have pjsend && [ -x "$here/ask" ] || skip_all "not built: make tests"
pjsend --once --store=eve:http://127.0.0.1:1 /nonexistent >probe 2>&1
if grep -q 'built without' probe; then skip_all "$(sed 's/.*: built/built/' probe)"; fi

# said STATEMENT: to ClickHouse
said()
{
	printf %s "$1" >statement
	"$here/ask" POST "http://127.0.0.1:$clickhouse_port" / statement
}

eve_fresh() { if [ -n "${eve_pid:-}" ]; then stop "$eve_pid"; fi; rm -f kept; eve --file kept; }
eve_store() { echo "eve:http://127.0.0.1:$eve_port"; }
eve_sum() { awk -F'\t' '{ print $4, $5 }' kept; }

couch_fresh() { "$here/ask" DELETE "http://127.0.0.1:$couch_port" /pj >/dev/null 2>&1; "$here/ask" PUT "http://127.0.0.1:$couch_port" /pj >/dev/null; }
couch_store() { echo "couch:http://127.0.0.1:$couch_port/pj"; }
couch_sum() { pjfetch -q --store="$(couch_store)" --from=1700000000 --to=1700001000; }

clickhouse_fresh() { said 'DROP TABLE IF EXISTS pj' && said 'DROP TABLE IF EXISTS pj_windows' && tables; }
clickhouse_store() { echo "clickhouse:http://127.0.0.1:$clickhouse_port"; }
clickhouse_sum() { pjfetch -q --store="$(clickhouse_store)" --from=1700000000 --to=1700001000; }

modules=$top/build/node-stores/node_modules
if ! have node || [ ! -d "$modules/express-pouchdb" ]; then
	skip "couch" "express-pouchdb is not installed (test/send/setup.sh does it)"
elif couch "$modules"; then
	kill_everywhere "couch" couch_fresh couch_store couch_sum 400 "${PJ_KILL_STEP:-4}"
	stop_all
fi

if ! have clickhouse-server; then
	skip "clickhouse" "clickhouse-server is not installed"
elif clickhouse; then
	kill_everywhere "clickhouse" clickhouse_fresh clickhouse_store clickhouse_sum 9000 "${PJ_KILL_STEP:-7}"
	stop_all
fi

# Eve's first frames are comm-PID, which folded text does not tell: so here the windows are what perf script prints.
kill_windows()
{
	mkdir -p "$1/out"
	awk -v dir="$1" -v stacks="$2" 'BEGIN {
		for (w = 0; w < 3; w++) {
			file = sprintf("%s/out/%d.data", dir, 1700000000 + 30 * w)
			for (i = 0; i < stacks; i++) for (k = 0; k <= (i + w) % 3; k++) {
				printf "java %d/%d [000] %d.%06d:          1 cycles: \n\t    7f%08x leaf%d+0x0 (/lib/x.so)\n\t    7f%08x Handler%05d+0x0 (/lib/x.so)\n\n",
					101, 102, 100 + 30 * w, i, i % 17, i % 17, i + 100, i >file
				printf "java-101;Handler%05d;leaf%d 1\n", i, i % 17
			}
			close(file)
		}
	}' | kill_sum >"$1.want"
}

kill_everywhere "eve" eve_fresh eve_store eve_sum 1200 "${PJ_KILL_STEP:-7}"
done_testing
