#!/bin/bash
# Windows into real servers and back, whatever happens on the way: ClickHouse, the CouchDB API, nginx with TLS; and what goes one way.
# stage: stores
# covers: send/stores/clickhouse.c send/stores/clickvalues.c send/stores/clickread.c send/stores/clickseen.c send/stores/couch.c
# covers: send/stores/oneway.c send/http/libcurl.c
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=test/lib/stores.sh disable=SC2154
. "$top/test/lib/stores.sh"
[ -x "$here/ship" ] || skip_all "not built: make tests"
"$here/ship" --list 0 1 eve:http://127.0.0.1:1 >probe 2>&1
if grep -q 'built without' probe; then skip_all "$(sed 's/.*: built/built/' probe)"; fi

windows win 2 3 700
windows many 2 8 90 -v first=1700100000 -v seed=11
cut -d' ' -f2- win.all | awk '{ value = $NF; sub(/ [0-9]+$/, ""); n[$0] += value } END { for (s in n) print s, n[s] }' | sort >win.sum
all='0 2000000000'

# of_store ARGUMENTS: its stacks with their sums, in order
of_store()
{
	# shellcheck disable=SC2086
	"$here/ship" "$@" 2>fetch.err | awk '!/^# / { value = $NF; sub(/ [0-9]+$/, ""); n[$0] += value } END { for (s in n) print s, n[s] }' | sort
}

# same_as NAME WANT STORE: what comes back is that
same_as()
{
	of_store --fetch 0 2000000000 "$3" >have
	same "$1" have "$2"
}

# spooled DIR FILE...: the windows as they lie in a spool
spooled()
{
	local dir=$1 f
	shift
	rm -rf "$dir"
	mkdir -p "$dir/spool"
	for f in "$@"; do
		cp "$f" "$dir/spool/$(basename "${f%.h*}").$(printf %016x "${f##*.h}").folded.gz"
	done
}

# sent_in_the_end STORE DIR: as often as it takes
sent_in_the_end()
{
	local left=40
	until pjsend -q --once --store="$1" "$2" >sent.out 2>&1; do
		left=$((left - 1))
		[ $left -gt 0 ] || return 1
	done
}

# store_is_exact STORE-BEFORE-PORT PORT PATH NAME: sent, again, by hosts and times and labels, through faults and with the sender killed
store_is_exact()
{
	local store=$1 port=$2 path=$3 label=$4 f

	ok "$label: windows are sent" ship "$store$port$path" win/*
	cp ship.out first.out
	same_as "$label: and come back, each once" win.sum "$store$port$path"
	ok "$label: and are sent again" ship "$store$port$path" win/*
	ok "$label: and differ from nothing" not grep -q DIFFERS ship.out
	same_as "$label: and are there once" win.sum "$store$port$path"
	# shellcheck disable=SC2086
	ship --list $all "$store$port$path"
	is "$label: the list" "$(cut -d' ' -f1-3 ship.out | tr '\n' ,)" \
		"h1 1700000000 1700000030,h1 1700000030 1700000060,h1 1700000060 1700000090,h2 1700000000 1700000030,h2 1700000030 1700000060,h2 1700000060 1700000090,"
	ok "$label: with what is known of each" grep -qx "h2 1700000060 1700000090 event=cycles unit=samples labels=service=shop2,version=1.2 samples=[0-9]* lost=2 parts=1" ship.out
	ship --host h2 --fetch 1700000030 1700000060 "$store$port$path"
	grep -v '^#' ship.out | sort >have
	grep -v '^#' win/1700000030.h2 | sort >want
	same "$label: one window of one host" have want
	of_store --label service=shop1 --fetch 0 2000000000 "$store$port$path" >have
	cat win/*.h1 | grep -v '^#' | awk '{ value = $NF; sub(/ [0-9]+$/, ""); n[$0] += value } END { for (s in n) print s, n[s] }' | sort >want
	same "$label: what has a label" have want
	ship --event other --fetch 0 2000000000 "$store$port$path"
	is "$label: an event that nobody recorded" "$(wc -c <ship.out)" 0

	fault "$port" --plan swallow,cut,reset,ok,upload,garbage,nothing,500,503,429,502,504,ok,swallow,408
	ok "$label: twelve kinds of faults" ship --tries 60 --doubts 30 "$store$fault_port$path" many/*
	stop "$fault_pid"
	fault "$port" --percent 40 --seed 5
	for f in 1 2 3 4 5 6; do # killed anywhere
		"$here/ship" --tries 400 --doubts 200 "$store$fault_port$path" many/* >/dev/null 2>&1 &
		killed=$!
		sleep "0.0$f"
		kill -KILL $killed 2>/dev/null
		wait $killed 2>/dev/null
	done
	ok "$label: 40 % of connections faulty, the sender killed six times" ship --tries 400 --doubts 200 "$store$fault_port$path" many/*
	stop "$fault_pid"
	cat win/* many/* | grep -v "^#" | awk '{ value = $NF; sub(/ [0-9]+$/, ""); n[$0] += value } END { for (s in n) print s, n[s] }' | sort >want
	same_as "$label: and everything is there once" want "$store$port$path"
}

# ---- ClickHouse

if clickhouse; then
	ship "clickhouse:http://127.0.0.1:$clickhouse_port" win/1700000000.h1
	is "clickhouse: without tables a person must do something, and is told what" \
		"$(cut -d' ' -f2 ship.out) $(grep -o -- 'pjsend --schema' ship.out | wc -l)" "hold 1"
	ok "clickhouse: it takes the schema" tables
	store_is_exact clickhouse:http://127.0.0.1: "$clickhouse_port" "" clickhouse
	ship --by host --fetch 0 2000000000 "clickhouse:http://127.0.0.1:$clickhouse_port"
	is "clickhouse: the server sums up, by host" "$(grep '^#' ship.out | cut -d" " -f2,10 | tr '\n' ,)" "h1 parts=11,h2 parts=11,"
	ship --by label:service --fetch 0 2000000000 "clickhouse:http://127.0.0.1:$clickhouse_port/default.pj"
	is "clickhouse: by a label" "$(grep '^#' ship.out | sed 's/.*labels=\([^ ]*\).*/\1/' | tr '\n' ,)" "service=shop1,service=shop2,"
	ok "clickhouse: --verify" ship --verify "clickhouse:http://127.0.0.1:$clickhouse_port" many/*
	ok "clickhouse: which finds nothing else" not grep -q DIFFERS ship.out
	echo 'DROP TABLE pj' >clickhouse/drop
	"$here/ask" POST "http://127.0.0.1:$clickhouse_port" / clickhouse/drop
	tables
	ship --tries 2 --verify "clickhouse:http://127.0.0.1:$clickhouse_port" win/1700000000.h1
	is "clickhouse: rows that were lost are sent again" "$(cut -d' ' -f2 ship.out)" sent

	# the server is killed while windows are sent
	fault "$clickhouse_port" --percent 10 --seed 3
	"$here/ship" --tries 100000 --doubts 100000 "clickhouse:http://127.0.0.1:$fault_port" many/* many/* many/* >restart.out 2>&1 &
	sender=$!
	running="$running $sender"
	stop "$clickhouse_pid" KILL
	ok "clickhouse: the server is killed, and comes back" clickhouse "$clickhouse_port"
	wait $sender
	is "clickhouse: what was under way arrives" "$(grep -c ' sent ' restart.out)" 48
	cat many/* win/1700000000.h1 | grep -v "^#" | awk '{ value = $NF; sub(/ [0-9]+$/, ""); n[$0] += value } END { for (s in n) print s, n[s] }' | sort >want
	same_as "clickhouse: and is there once" want "clickhouse:http://127.0.0.1:$clickhouse_port"

	# stacks whose window is not there, as those of a sender that was killed in between
	printf 'INSERT INTO pj SELECT hostname, day, stack, timestamp + 7, stream, machine, value FROM pj' >clickhouse/half
	"$here/ask" POST "http://127.0.0.1:$clickhouse_port" / clickhouse/half
	same_as "clickhouse: stacks without their window do not count" want "clickhouse:http://127.0.0.1:$clickhouse_port"

	# several windows in one request, and what becomes of them when that fails
	spooled together many/*
	ok "clickhouse: windows go together" pjsend -q --once --store="clickhouse:http://127.0.0.1:$clickhouse_port" together
	is "clickhouse: their stacks in one request, they in another, and a question for each host" "$(grep -E '^[^#]*(requests_total|windows_sent)' together/pjsend.prom | sed 's/.* //' | tr '\n' ,)" "16,4,"
	same_as "clickhouse: and are there once" want "clickhouse:http://127.0.0.1:$clickhouse_port"
	windows more 2 8 90 -v first=1700200000 -v seed=12
	for plan in 413,500,ok,ok,swallow,422,ok,reset ok,413,cut,ok,503,ok,401,garbage; do
		spooled together more/*
		fault "$clickhouse_port" --plan "$plan"
		sent_in_the_end "clickhouse:http://127.0.0.1:$fault_port" together
		ok "clickhouse: together through $plan: nothing is left, nothing in bad/" [ -z "$(find together -name '*.folded*')" ]
		stop "$fault_pid"
	done
	cat many/* more/* win/1700000000.h1 | grep -v "^#" | awk '{ value = $NF; sub(/ [0-9]+$/, ""); n[$0] += value } END { for (s in n) print s, n[s] }' | sort >want
	same_as "clickhouse: and everything is there once" want "clickhouse:http://127.0.0.1:$clickhouse_port"
	# what is there stays when something else is sent under its name: other counts, a stack less, another length
	windows odd 1 1 30 -v first=1700300000
	odd=$(echo odd/*)
	ship "clickhouse:http://127.0.0.1:$clickhouse_port" "$odd"
	ship "clickhouse:http://127.0.0.1:$clickhouse_port" "$odd"
	is "clickhouse: the same again is no alarm" "$(grep -c DIFFERS ship.out)" 0
	for change in 's/ 1$/ 77/' '$d' '1s/to=1700300030/to=1700300031/'; do
		sed "$change" "$odd" >changed
		ship "clickhouse:http://127.0.0.1:$clickhouse_port" changed
		is "clickhouse: another content ($change) is an alarm" "$(cmp -s "$odd" changed || grep -c DIFFERS ship.out)" 1
	done
	ship --fetch 1700300000 1700300001 "clickhouse:http://127.0.0.1:$clickhouse_port"
	grep -v '^#' ship.out | sort >have
	grep -v '^#' "$odd" | sort >want
	same "clickhouse: and nothing of it is there" have want

	stop_all
	windows wild 1 1 50 -v wild=1
	clickhouse "$clickhouse_port"
	ok "clickhouse: bytes that are no UTF-8" ship "clickhouse:http://127.0.0.1:$clickhouse_port" wild/*
	stop_all
else
	have clickhouse-server || skip "clickhouse" "clickhouse-server is not installed"
fi

# ---- the CouchDB API

modules=$top/build/node-stores/node_modules
if ! have node; then
	skip "couch" "node is not installed"
elif [ ! -d "$modules/express-pouchdb" ]; then
	skip "couch" "express-pouchdb is not installed (test/send/setup.sh does it)"
elif couch "$modules"; then
	ship "couch:http://127.0.0.1:$couch_port/nodb" win/1700000000.h1
	is "couch: without a database a person must do something" "$(cut -d' ' -f2 ship.out)" hold
	store_is_exact couch:http://127.0.0.1: "$couch_port" /pj couch
	sed "$ s/[0-9]*$/12345/" win/1700000000.h1 >other
	ship "couch:http://127.0.0.1:$couch_port/pj" other
	is "couch: another window of the same name: it is said" "$(grep -c DIFFERS ship.out)" 1
	stop_all
fi

# ---- TLS, passwords, what a proxy answers

rm -f kept
eve --file kept
if nginx_tls "$eve_port"; then
	export SSL_CERT_DIR=/nonexistent SSL_CERT_FILE=/nonexistent
	echo joe:s3cret >auth
	echo joe:wr0ng >wrong
	chmod 600 auth wrong
	# tls NAME VERDICT ARGUMENTS
	tls()
	{
		local label=$1 verdict=$2
		shift 2
		ship "$@" win/1700000000.h1
		is "tls: $label" "$(cut -d' ' -f2 ship.out)" "$verdict"
	}
	tls "an authority that nobody knows: held" hold --auth auth "eve:https://localhost:$nginx_port"
	tls "another authority: held" hold --auth auth --cacert nginx/other.pem "eve:https://localhost:$nginx_port"
	tls "the certificate of another host: held" hold --cacert nginx/ca.pem "eve:https://localhost:$wrong_port"
	if openssl x509 -checkend 0 -noout -in nginx/old.pem >/dev/null 2>&1; then
		skip "tls: a certificate of yesterday" "this openssl makes none"
	else
		tls "a certificate of yesterday: held" hold --cacert nginx/ca.pem "eve:https://localhost:$old_port"
	fi
	is "tls: nothing was sent to any of them" "$(wc -l <kept)" 0
	tls "no password: held" hold --cacert nginx/ca.pem "eve:https://localhost:$nginx_port"
	tls "a wrong one: held" hold --auth wrong --cacert nginx/ca.pem "eve:https://localhost:$nginx_port"
	ok "tls: it is not said" not grep -q wr0ng ship.out
	tls "authority and password: sent" sent --auth auth --cacert nginx/ca.pem "eve:https://localhost:$nginx_port"
	is "tls: and there" "$(wc -l <kept)" 700
	ship --cacert nginx/ca.pem "eve:https://localhost:$mutual_port" win/1700000000.h1
	ok "tls: without the client's certificate it is not" not grep -q ' sent ' ship.out
	tls "with the client's certificate" sent --cacert nginx/ca.pem --cert nginx/client.pem --key nginx/client.key "eve:https://localhost:$mutual_port"
	unset SSL_CERT_DIR SSL_CERT_FILE
	tls "plain HTTP to a port of TLS: held, as nginx's 400 is no answer of the store" hold "eve:http://localhost:$nginx_port"

	: >kept
	stop "$eve_pid"
	eve --port "$eve_port" --file kept
	tls "nginx takes no more than 60 kB: smaller requests" sent "eve:http://127.0.0.1:$plain_port/small/cpu"
	is "tls: all of it" "$(wc -l <kept)" 700
	for answer in moved:hold busy:later slower:later forbidden:hold broken:doubt; do
		tls "nginx answers ${answer%:*}" "${answer#*:}" "eve:http://127.0.0.1:$plain_port/${answer%:*}/"
	done
	ship "eve:http://127.0.0.1:$plain_port/busy/" win/1700000000.h1
	is "tls: and how long" "$(sed 's/.*after=\([0-9]*\).*/\1/' ship.out)" 7
else
	have nginx && have openssl || skip "tls" "nginx or openssl is not installed"
fi

# ---- one way

stop_all
ok "ndjson: a file" ship ndjson:lines win/1700000000.h1 win/1700000000.h2
is "ndjson: a line for each stack" "$(grep -c '^{"id":"6553f100[0-9a-f]\{16\}","timestamp":1700000000,"until":1700000030,"hostname":"h[12]",.*"labels":{"service":"shop[12]","version":"1.2"},"stack":".*","value":[0-9]*}$' lines)" 1400
"$here/ship" ndjson:- win/1700000000.h1 >shown.out
is "ndjson: standard output" "$(grep -c '^{"id"' shown.out)" 700
ok "ndjson: a full disk is told" not ship ndjson:/dev/full win/1700000000.h1
is "ndjson: and tried again" "$(tail -n 1 ship.out | cut -d' ' -f2)" later
eve --log ingested
ok "pyroscope: a window" ship "pyroscope:http://127.0.0.1:$eve_port" win/1700000000.h1
is "pyroscope: where it goes" "$(head -n 1 ingested)" \
	"POST /ingest?name=shop1.cycles%7Bhostname%3Dh1%2Cversion%3D1.2%7D&from=1700000000&until=1700000030&sampleRate=99&units=samples&aggregationType=sum&spyName=pj&format=folded HTTP/1.1"
grep '^java' ingested | sort >have
grep -v '^#' win/1700000000.h1 | sort >want
same "pyroscope: what" have want
: >ingested
mkdir -p strange/out
printf '# pj unit=samples event=a{b},c from=1700000000 to=1700000030 host=h1 samples=1 lost=0 labels=service=sh{x="1",zone=a=b\na;b 1\n' >strange/out/1700000000.data
pjsend -q --once --store="pyroscope:http://127.0.0.1:$eve_port" strange
is "pyroscope: no value ends the name of its series" "$(sed -n 's/.*name=\([^&]*\)&.*/\1/p' ingested)" "sh_x__1_.a_b__c%7Bhostname%3Dh1%2Czone%3Da_b%7D"
: >ingested
fault "$eve_port" --plan swallow
ship --tries 3 "pyroscope:http://127.0.0.1:$fault_port" win/1700000000.h1
is "pyroscope: without ids, an answer that is lost counts twice (what all stores above do not)" "$(grep -c '^java' ingested)" 1400
fault "$eve_port" --plan 422,422,422,422
ship --tries 9 --doubts 3 "pyroscope:http://127.0.0.1:$fault_port" win/1700000000.h1
is "pyroscope: what it says no to for long is refused" "$(tail -n 1 ship.out | cut -d' ' -f2)" refused

done_testing
