#!/bin/bash
# send-stores.sh - what windows of 2000 stacks cost on their way into each remote store, and how fast they get into ClickHouse
# compared with curl, which posts the same rows, formatted and packed before, in the same run. Servers as in test/send/send-stores.t; no timing
# decides anything.
# Then a backlog (PJ_BENCH_BACKLOG windows, 10000) into ClickHouse, and how long a recorded window takes until it can be fetched there.
# bash test/bench/send-stores.sh [WINDOWS]
cd "$(dirname "$0")/../.." || exit 1
PJ_TOP=$PWD PJ_BUILD=${PJ_BUILD:-$PWD/build/std-cc} PATH=$PWD/build/std-cc/bin:$PATH
export PJ_TOP PJ_BUILD
. test/lib/tap.sh
# shellcheck source=test/lib/stores.sh
. "$top/test/lib/stores.sh"
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
	# what curl posts: the rows of each window, as an INSERT each; and of four windows, as pjsend does. Not: the rows of pj_windows
	mkdir prepared
	i=0
	for f in win/*; do
		epoch=${f#win/} epoch=${epoch%.h1}
		awk -v e="$epoch" '!/^#/ { v = $NF; sub(/ [0-9]+$/, ""); gsub(/\\/, "\\\\"); printf "h1\t2023-11-14\t%s\t%d\t71\t1\t%d\n", $0, e, v }' "$f" >rows
		gzip -1 <rows >"prepared/$epoch.one.gz"
		cat rows >>"prepared/$((1000 + i / 4)).rows"
		i=$((i + 1))
	done
	for f in prepared/*.rows; do gzip -1 <"$f" >"${f%.rows}.four.gz"; done
	insert="http://127.0.0.1:$clickhouse_port/?query=INSERT%20INTO%20pj%20(hostname,day,stack,timestamp,stream,machine,value)%20FORMAT%20TabSeparated"
	TIMEFORMAT=%R

	# curls FILE...: how long curl takes to post these
	curls()
	{
		local args=() f
		for f in "$@"; do args+=(--next -s -H "Content-Encoding: gzip" -H Expect: --data-binary "@$f" "$insert"); done
		{ time curl "${args[@]:1}" >/dev/null 2>&1; } 2>&1
	}

	# afresh: empty tables, so that nothing is left to be merged
	afresh()
	{
		for t in pj pj_windows; do
			echo "DROP TABLE $t" >drop
			"$here/ask" POST "http://127.0.0.1:$clickhouse_port" / drop
		done
		tables
	}

	for round in 1 2 3 4 5; do
		rm -rf spool
		mkdir -p spool/spool
		for f in win/*; do f=${f#win/} && cp "win/$f" "spool/spool/${f%.h1}.0000000000000001.folded.gz"; done
		afresh
		one=$(curls prepared/*.one.gz)
		afresh
		ours=$({ time pjsend -q --once --store="$store" spool >/dev/null; } 2>&1)
		afresh
		four=$(curls prepared/*.four.gz)
		awk -v r="$round" -v c="$one" -v d="$four" -v o="$ours" -v n="$count" 'BEGIN {
			printf "clickhouse, round %d: pjsend %.0f rows/s; curl with prepared bytes, a window a request %.0f rows/s: %.0f %%; four windows a request %.0f rows/s: %.0f %%\n",
				r, 2000 * n / o, 2000 * n / c, 100 * c / o, 2000 * n / d, 100 * d / o }'
	done
	grep -E '^[^#]*(windows_sent|requests_total|bytes_sent)' spool/pjsend.prom

	# asked STATEMENT: what ClickHouse answers
	asked()
	{
		printf %s "$1" >statement
		"$here/ask" POST "http://127.0.0.1:$clickhouse_port" / statement
	}

	# a backlog: how long, its memory, and whether what is left at half time is the newer half
	afresh
	backlog=${PJ_BENCH_BACKLOG:-10000}
	windows small 1 "$backlog" 100 -v seed=5 >/dev/null
	rm -rf spool
	mkdir -p spool/spool
	for f in small/*; do f=${f#small/} && mv "small/$f" "spool/spool/${f%.h1}.0000000000000001.folded.gz"; done
	begin=$(date +%s%N)
	pjsend -q --once --store="$store" spool &
	sender=$!
	left=$backlog most=0 order="not seen"
	while kill -0 $sender 2>/dev/null; do
		rss=$(awk '/^VmHWM/ { print $2 }' /proc/$sender/status 2>/dev/null)
		[ "${rss:-0}" -le $most ] || most=$rss
		if [ "$left" -gt $((backlog / 2)) ]; then
			find spool/spool -name '*.folded.*' -printf '%f\n' | sort >left # while files go, up to 32 at once
			left=$(wc -l <left)
			[ "$left" -gt $((backlog / 2)) ] || order=$(awk -F. 'NR == 1 { first = $1 } { n++; last = $1 } END {
				print n " left, " ((last - first) / 30 + 1 <= n + 32 ? "all of them the newest" : "NOT in order") }' left)
		fi
		sleep 0.05
	done
	wait $sender
	awk -v n="$backlog" -v b="$begin" -v e="$(date +%s%N)" -v m="$most" -v o="$order" 'BEGIN {
		s = (e - b) / 1e9
		printf "clickhouse: a backlog of %d windows of 100 stacks: %.1f s, %.0f windows/s, memory %.1f MB; at half time %s\n", n, s, n / s, m / 1024, o }'
	asked 'SELECT count(), uniqExact(timestamp), sum(stacks) FROM pj_windows FINAL' | awk -v n="$backlog" '{ print "clickhouse: " ($1 == n && $2 == n ? "each" : "NOT each") " of them is there: " $0 }'

	# from the end of a window until it can be fetched
	afresh
	if pjrecord -q -a -d live -w 2 -n 1 >/dev/null 2>&1; then
		pjsend -q --splay=0 --store="$store" live 2>/dev/null &
		sender=$!
		pjrecord -q -a -d live -w 2 -n 10 >/dev/null 2>&1 &
		recorder=$!
		: >seen
		end=$(($(date +%s) + 40))
		while [ "$(date +%s)" -lt $end ] && [ "$(wc -l <seen)" -lt 11 ]; do
			now=$(date +%s.%N)
			for until in $(asked 'SELECT DISTINCT toUnixTimestamp(until) FROM pj_windows'); do
				grep -q "^$until " seen || echo "$until $now" >>seen
			done
			sleep 0.1
		done
		kill $recorder $sender 2>/dev/null
		wait $recorder $sender
		awk 'NR > 1 { d = $2 - $1; if (d > most) most = d; sum += d; n++ } END {
			printf "clickhouse: from the end of a window until it can be fetched: %d windows, %.1f s on average, %.1f s at most (asked: map interval + 5 s)\n", n, sum / n, most }' seen
	fi
fi
