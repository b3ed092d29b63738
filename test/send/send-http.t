#!/bin/bash
# What networks and servers do to a store over HTTP, against a stub of Eve and a proxy that breaks connections: everything arrives
# exactly once, what cannot be sent is named, and what a person must mend is held.
# full-san: 45 s with sanitizers
# covers: send/http/http.c send/http/libcurl.c send/http/secret.c send/stores/eve.c send/stores/everead.c send/stores/batches.c send/retries.c
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck disable=SC2154 # tap.sh has it
. "$top/test/lib/stores.sh"
[ -x "$here/ship" ] || skip_all "not built: make tests"

windows win 2 2 1100
windows small 1 1 40
first=win/1700000000.h1

"$here/ship" --list 0 1 eve:http://127.0.0.1:1 >probe 2>&1
if grep -q 'built without' probe; then skip_all "$(sed 's/.*: built/built/' probe)"; fi

# A stub with an empty store, and a proxy with a plan before it.
fresh()
{
	stop_all
	rm -f kept
	eve --file kept && fault "$eve_port" "$@"
}

# exact NAME [ALL]: the stub holds each stack of each window once
exact()
{
	eve_has >have
	same "$1" have "${2:-win.all}"
}

# ---- there and back

fresh
ok "windows are sent" ship "eve:http://127.0.0.1:$fault_port" win/*
exact "and are there, once"
is "in few requests" "$(awk '{ sub(/.*requests=/, ""); n += $1 } END { print n }' ship.out)" 12
awk 'BEGIN { m = "0123456789"; while (length(m) < 20000) m = m m
	print "# pj unit=samples from=1700000900 to=1700000930 host=h9 samples=100 machine=0123456789abcdef stream=0123456789abcdef"
	for (i = 0; i < 100; i++) print "a;" i m " 1" }' >large
ship "eve:http://127.0.0.1:$eve_port" large
is "no body is larger than 768 kB: 100 stacks of 20 kB are three" "$(grep -o 'documents=100 known=0 requests=3' ship.out)" "documents=100 known=0 requests=3"
grep -v h9 kept >kept.less
stop "$eve_pid"
mv kept.less kept
eve --port "$eve_port" --file kept
ok "and are sent again" ship "eve:http://127.0.0.1:$eve_port" win/*
is "which finds them there" "$(grep -c ' documents=0 known=1100 ' ship.out)" 4
exact "once"
sum() { awk '!/^#/ { value = $NF; sub(/ [0-9]+$/, ""); n[$0] += value } END { for (s in n) print s, n[s] }' "$@" | sort; }
cut -d' ' -f2- win.all | sum >want
ship --fetch 0 2000000000 "eve:http://127.0.0.1:$eve_port"
sum ship.out >have
same "they come back, page by page" have want
ship --stacks "http://127.0.0.1:$eve_port/stacks/" --fetch 0 2000000000 "eve:http://127.0.0.1:$eve_port"
sum ship.out >have
same "and added up by the original's service" have want
ship --by time --host h2 --fetch 1700000030 1700000060 "eve:http://127.0.0.1:$eve_port"
is "one window of one host" "$(head -n 1 ship.out | cut -d' ' -f2,3) $(grep -vc '^#' ship.out)" "h2 1700000030 1100"
sum ship.out >have
sum win/1700000030.h2 >want
same "is that window" have want
ship --stacks "http://127.0.0.1:$eve_port/stacks/" --host h1 --fetch 1700000000 1700000030 "eve:http://127.0.0.1:$eve_port"
sum ship.out >have
sum $first >want
same "the service's range has both its ends: the window behind it is not in it" have want
ship --list 0 2000000000 "eve:http://127.0.0.1:$eve_port"
is "a list of hosts and windows" "$(cut -d' ' -f1,2 ship.out | tr '\n' ,)" "h1 1700000000,h1 1700000030,h2 1700000000,h2 1700000030,"
ship --host h2 --list 1700000001 2000000000 "eve:http://127.0.0.1:$eve_port"
is "of one host and a range" "$(cut -d' ' -f1,2 ship.out)" "h2 1700000030"
is "pjfetch --list: the store has no ends of windows, so none are printed, and no gaps" \
	"$(TZ=UTC pjfetch --list -s "eve:http://127.0.0.1:$eve_port" --to=2000000000)" \
	"h1  2023-11-14T22:13:20Z  -  2 windows  30 s  
h2  2023-11-14T22:13:20Z  -  2 windows  30 s  "
pjfetch -s "eve:http://127.0.0.1:$eve_port" --from=1690000000 --to=1710000000 >out 2>err
is "  nor does a sum report gaps, or times and numbers that the store does not have" "$? $(cat err) $(head -n 1 out | sed 's/samples=[1-9].*/samples/')" "0  # pj unit=samples samples"

# Ids mix the documents of hosts whose windows begin in one second.
pjfetch -s "eve:http://127.0.0.1:$eve_port" --each --from=1690000000 --to=1710000000 -o each >out 2>err
is "pjfetch --each: each window of each host is one file" "$? $(cat err) $(ls each)" "0  1700000000-1.folded
1700000000-2.folded
1700000030-3.folded
1700000030-4.folded"
file=0
for f in win/1700000000.h1 win/1700000000.h2 win/1700000030.h1 win/1700000030.h2; do
	file=$((file + 1))
	sum each/*-$file.folded >have
	sum $f >want
	same "  with the stacks of $f" have want
done
ship --by time --fetch 0 2000000000 "eve:http://127.0.0.1:$eve_port"
is "by time: a window for each time and host" "$(sed -n 's/^# \(h. [0-9]*\) .*/\1/p' ship.out | tr '\n' ,)" "h1 1700000000,h2 1700000000,h1 1700000030,h2 1700000030,"
cp kept kept.hosts
stop "$eve_pid"
printf '6553f1000000000000000001\t1700000000\t\tnohost;a\t7\n' >>kept
eve --port "$eve_port" --file kept
ship --by time --fetch 0 1700000030 "eve:http://127.0.0.1:$eve_port"
is "  a window with an empty host has only its own stack" "$(grep -vc '^#' ship.out) $(sed -n 2p ship.out)" "2201 nohost;a 7"
stop "$eve_pid"
mv kept.hosts kept
eve --port "$eve_port" --file kept

# ---- a beginning of a window is there already

mv kept all.kept
for n_there in 1 137 499 500 501 1099; do
	stop_all
	grep 'h1' all.kept | head -n $n_there >kept
	eve --file kept
	ship "eve:http://127.0.0.1:$eve_port" $first
	is "$n_there documents are there: the others follow" "$(grep -c "documents=$((1100 - n_there)) known=$n_there " ship.out) $(awk -F'\t' '$2 == 1700000000' kept | wc -l)" "1 1100"
done
sed '7,60s/[0-9]*$/999/' all.kept >kept
stop_all
eve --file kept
ship "eve:http://127.0.0.1:$eve_port" win/*
is "what is stored under the same name differs: it is said" "$(grep -c DIFFERS ship.out)" 1
stop_all
awk 'NR % 7' all.kept >kept
eve --file kept
ship --verify "eve:http://127.0.0.1:$eve_port" win/*
exact "--verify sends what the database lost afterwards"

# ---- one fault, then none

# suffers FAULT VERDICT: with one try it is VERDICT; with more everything is there once
suffers()
{
	fresh --plan "$1"
	ship --timeout 3 "eve:http://127.0.0.1:$fault_port" $first
	is "$1: $2" "$(cut -d' ' -f2 ship.out)" "$2"
	cp ship.out "suffers.$1"
	fresh --plan "ok,$1,ok,$1,$1"
	ship --timeout 3 --tries 9 "eve:http://127.0.0.1:$fault_port" win/*
	exact "$1: everything is there once"
}

for f in reset upload swallow cut garbage nothing 502 503 504 429 408; do suffers $f later; done
for f in 500 507; do suffers $f doubt; done
for f in 301 302 401 403 404 405; do
	fresh --plan $f
	ship "eve:http://127.0.0.1:$fault_port" $first
	is "$f: held" "$(cut -d' ' -f2 ship.out)" hold
done
is "after how many seconds: as the server says" "$(sed 's/.*after=\([0-9]*\).*/\1/' suffers.503)" 1
ok "also as a date" grep -qE 'after=[123] ' suffers.429
ok "a number is told" grep -q 'why=http://127.0.0.1:[0-9]*: HTTP 503' suffers.503
for f in stall slow endless bomb; do
	fresh --plan "$f,ok,$f"
	ship --timeout 2 --tries 9 "eve:http://127.0.0.1:$fault_port" small/*
	exact "$f: everything is there once" small.all
	fresh --plan $f
	ship --timeout 2 "eve:http://127.0.0.1:$fault_port" small/*
	is "$f: tried again" "$(cut -d' ' -f2 ship.out)" later
done
fresh --plan 413,ok,413
ship "eve:http://127.0.0.1:$fault_port" win/*
exact "413: smaller requests"
fresh --plan 400
ship "eve:http://127.0.0.1:$fault_port" $first
is "400 of who is not Eve: held, nothing is put aside" "$(cut -d' ' -f2 ship.out)" hold
stop "$eve_pid"
ship "eve:http://127.0.0.1:$eve_port" $first
is "nobody there: later" "$(cut -d' ' -f2 ship.out)" later

for seed in 1 2; do
	fresh --percent 40 --seed $seed
	ship --tries 2000 --doubts 1000 "eve:http://127.0.0.1:$fault_port" win/*
	exact "40 % of all connections fail, seed $seed: everything is there once"
done

# the server goes, too, and the sender is killed: eight windows
windows eight 1 8 700
fresh --percent 40 --seed 9
for round in 1 2 3 4 5 6; do
	"$here/ship" --tries 3000 --doubts 2000 "eve:http://127.0.0.1:$fault_port" eight/* >/dev/null 2>&1 &
	killed=$!
	sleep "0.$((round % 3))5"
	kill -KILL $killed 2>/dev/null
	wait $killed 2>/dev/null
	stop "$eve_pid" KILL
	eve --port "$eve_port" --file kept
done
ok "40 % faulty, the sender killed six times, the server as well" ship --tries 3000 --doubts 2000 "eve:http://127.0.0.1:$fault_port" eight/*
exact "everything is there once" eight.all

# ---- documents that the server does not want

awk 'NR == 5 || NR == 900 { sub(/leaf/, "poison-422") } { print }' $first >poison
fresh
ship "eve:http://127.0.0.1:$fault_port" poison
is "422: the two are found" "$(grep -c '^refused: .*poison-422' ship.out) $(grep -c '^refused' ship.out) $(tail -n 1 ship.out | cut -d' ' -f2)" "2 2 sent"
is "and all others sent" "$(wc -l <kept)" 1098
awk 'NR == 5 || NR == 900 { sub(/leaf/, "poison-500") } { print }' $first >poison
fresh
ship "eve:http://127.0.0.1:$fault_port" poison
is "500: first it is the server's fault" "$(cut -d' ' -f2 ship.out)" doubt
ship --tries 5 --doubts 2 "eve:http://127.0.0.1:$fault_port" poison
is "then the two are found" "$(grep -c '^refused: .*poison-500' ship.out) $(grep -c '^refused' ship.out) $(tail -n 1 ship.out | cut -d' ' -f2) $(wc -l <kept)" "2 2 sent 1098"
sed 's/;leaf/;poison-422/' $first >poison
fresh
ship "eve:http://127.0.0.1:$fault_port" poison
is "each of them: the window is refused, soon" "$(tail -n 1 ship.out | cut -d' ' -f2) $(grep -c '^refused' ship.out)" "refused 8"
fresh
eve --file kept --down gone
touch gone
ship "eve:http://127.0.0.1:$eve_port" $first
is "the database is gone: doubt" "$(cut -d' ' -f2 ship.out)" doubt
rm gone
windows wild 1 1 50 -v wild=1
ship "eve:http://127.0.0.1:$eve_port" wild/*
is "bytes that are no UTF-8 are sent as U+FFFD" "$(grep -c "$(printf 'bad\357\277\275')" kept)" 1
ship "eve:http://127.0.0.1:$eve_port" wild/*
is "and found again" "$(grep -c ' known=50 ' ship.out) $(grep -c DIFFERS ship.out)" "1 0"

# ---- secrets

stop_all
rm -f kept
eve --file kept --token s3cret
ship "eve:http://127.0.0.1:$eve_port" small/*
is "without a token: held" "$(cut -d' ' -f2 ship.out)" hold
echo s3cret >token
ship --auth token "eve:http://127.0.0.1:$eve_port" small/*
ok "a file that others can read is refused, with what to do" grep -q 'token: other users can read or change it: chmod 600' ship.out
chmod 600 token
ok "a token from a file" ship --auth token "eve:http://127.0.0.1:$eve_port" small/*
ok "a token from the environment" env PJ_STORE_AUTH=s3cret "$here/ship" "eve:http://127.0.0.1:$eve_port" small/*
# a pjfold that keeps its environment
mkdir -p env/bin env/dir/out
for tool in pjsend pjfetch; do ln -s "$(command -v "$tool")" "env/bin/$tool"; done
cp "$(command -v pjsend)" env/bin/pjsend.real
rm env/bin/pjsend
mv env/bin/pjsend.real env/bin/pjsend
{
	echo '#!/bin/sh'
	echo "env >>'$PWD/env/seen'"
	echo "exec '$(command -v pjfold)' \"\$@\""
} >env/bin/pjfold
chmod +x env/bin/pjfold
cp small/* env/dir/out/1700000000.data
PJ_STORE_AUTH=s3cret https_proxy=http://joe:hidden@127.0.0.1:1 env/bin/pjsend -q --once --store="eve:http://127.0.0.1:$eve_port" env/dir >env/log 2>&1
is "pjfold below pjsend inherits no secret and no proxy" "$(grep -c '^PATH=' env/seen) $(grep -cE 's3cret|hidden' env/seen)" "1 0"
# nothing listens at port 1
ok "a secret over http is not shown to a proxy of the environment" env http_proxy=http://127.0.0.1:1 PJ_STORE_AUTH=s3cret "$here/ship" "eve:http://127.0.0.1:$eve_port" small/*
env PJ_STORE_AUTH=s3cret "$here/ship" "eve:http://192.0.2.1:$eve_port" small/* >ship.out 2>&1
ok "no secret by http to other hosts, with what to do" grep -q 'use https, or allow it by --insecure-auth' ship.out
not_said=$(grep -c s3cret ship.out)
is "  nor is it said" "$not_said" 0
(umask 077 && echo wr0ng >token)
ship --auth token "eve:http://127.0.0.1:$eve_port" small/*
ok "a secret is not printed" not grep -q wr0ng ship.out
ship "eve:http://joe:s3cret@127.0.0.1:$eve_port" small/*
ok "a password in a URL is refused, with what to do" grep -q -- '--auth' ship.out

done_testing
