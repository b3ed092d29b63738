#!/bin/bash
# send-stores.sh - what windows of 2000 stacks cost on their way into each remote store, and how fast they get into ClickHouse
# compared with curl, which posts the same bytes, prepared before, in the same run. Servers as in test/send-stores.t; no timing decides anything.
# bash test/bench/send-stores.sh [WINDOWS]
cd "$(dirname "$0")/../.." || exit 1
PJ_TOP=$PWD PJ_BUILD=${PJ_BUILD:-$PWD/build/std-cc}
export PJ_TOP PJ_BUILD
. test/tap.sh
# shellcheck source=test/send/lib.sh
. "$top/test/send/lib.sh"
count=${1:-100}

windows win 1 "$count" 2000 -v seed=3 >/dev/null
# real Java stacks are longer than those of the tests: 950 bytes
for f in win/*; do
	awk '/^#/ { print; next } { v = $NF; sub(/ [0-9]+$/, ""); s = $0; for (i = 0; length(s) < 930; i++) s = s ";org/springframework/web/filter/Filter" (length($0) * i) % 97 ".doFilterInternal"; print s, v }' "$f" >f.new
	mv f.new "$f"
done
du -sb win | awk -v n="$count" '{ printf "%d windows of 2000 stacks, %.2f MB each\n", n, $1 / n / 1e6 }'

# cost NAME STORE: CPU of a window
cost()
{
	bash -c 'TIMEFORMAT="%U %S %R"; time "$@" >/dev/null' - "$here/ship" "$2" win/* 2>cost.out
	awk -v name="$1" -v n="$count" 'END { printf "%-12s %5.1f ms of CPU a window, %5.1f ms in all\n", name, ($1 + $2) * 1000 / n, $3 * 1000 / n }' cost.out
}

eve --file kept && cost eve "eve:http://127.0.0.1:$eve_port"
stop_all
if [ -d "$top/build/node-stores/node_modules/express-pouchdb" ] && couch "$top/build/node-stores/node_modules"; then
	cost couch "couch:http://127.0.0.1:$couch_port/pj"
	stop_all
fi
cost ndjson ndjson:lines
if clickhouse && tables; then
	store=clickhouse:http://127.0.0.1:$clickhouse_port
	cost clickhouse "$store"
		mkdir prepared
	for f in win/*; do
		epoch=${f#win/} epoch=${epoch%.h1}
		awk -v e="$epoch" '!/^#/ { v = $NF; sub(/ [0-9]+$/, ""); gsub(/\\/, "\\\\"); printf "h1\t2023-11-14\t%s\t%d\t71\t1\t%d\n", $0, e, v }' "$f" 2>/dev/null | gzip -1 >"prepared/$epoch.gz"
	done
	insert="http://127.0.0.1:$clickhouse_port/?query=INSERT%20INTO%20pj%20(hostname,day,stack,timestamp,stream,machine,value)%20FORMAT%20TabSeparated"
	args=()
	for f in prepared/*; do args+=(--next -s -H "Content-Encoding: gzip" -H Expect: --data-binary "@$f" "$insert"); done
	TIMEFORMAT=%R
	for round in 1 2 3; do
		curls=$({ time curl "${args[@]:1}" >/dev/null 2>&1; } 2>&1)
		ours=$({ time "$here/ship" "$store" win/* >/dev/null; } 2>&1)
		awk -v r="$round" -v c="$curls" -v o="$ours" -v n="$count" 'BEGIN { printf "clickhouse, round %d: %.0f rows/s; curl with prepared bytes %.0f rows/s: %.0f %%\n", r, 2000 * n / o, 2000 * n / c, 100 * c / o }'
	done
fi
