#!/bin/sh
# send-strange.t - what is allowed but nobody expects goes into each store and comes back: stacks of every byte, stacks of a megabyte, labels that
# look like the store's own language, hosts that are no names of folders.
# covers: send/stores/batches.c send/stores/dirnames.c send/stores/eve.c send/http/json.c
# full-san: 15 to 60 s with sanitizers; unit tests, cases and fuzz corpora of its modules run with them in ./check
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
LC_ALL=C TZ=UTC
export LC_ALL TZ
unset PJ_STORE
# shellcheck source=test/lib/stores.sh
. "$top/test/lib/stores.sh"
have pjsend && have pjfetch || skip_all "pjsend is not built"

# mended: what stores take, from what was sent: invalid UTF-8 is U+FFFD, and what is the same then is added up
mended()
{
	awk '!/^#/ { value = $NF; sub(/ [0-9]+$/, ""); n[$0] += value } END { for (s in n) print s, n[s] }' "$1" | sort
}

awk 'BEGIN { for (i = 1; i < 256; i++) if (i != 10) printf "a;x%cy;z %d\n", i, i }' >bytes
awk 'BEGIN { m = "0123456789abcdef"; while (length(m) < 1048576) m = m m; printf "a;%s 3\nb;%s%s;c 4\n", m, m, m }' >long
awk 'BEGIN { for (i = 0; i < 5000; i++) printf "f%d;", i; print "e 1" }' >deep
label="quote='; DROP TABLE pj; --"
other='json="}]{"a":[\\'

# through NAME STORE: each text is a window; it comes back as it comes back from a directory
through()
{
	at=1700000000
	for text in bytes long deep; do
		pjsend -q --store="$2" --time=$at --host=h1 --label="$label" --label="$other" - <$text 2>err
		is "$1: $text: sent" "$? $(cat err)" "0 "
		pjfetch -q --store="$2" --host=h1 --from=$at --to=$((at + 1)) >got 2>err
		is "  fetched" "$? $(cat err)" "0 "
		mended got >have
		mended $text.dir >want
		ok "  as it was" cmp -s have want
		at=$((at + 30))
	done
	[ "$1" != eve ] || return 0 # which keeps no labels
	pjfetch -q --store="$2" --from=1700000000 --to=1700000030 --label="$label" | sed -n '1s/.* labels=//p' >have
	printf '%s\n' "$other,$label" | sed 's/ /%20/g' >want
	same "$1: labels are what they were" have want
	is "$1: and chosen by" "$(pjfetch -q --store="$2" --from=1700000060 --to=1700000090 --label="$other" --by=label:quote 2>/dev/null | tail -n 1 | cut -d';' -f1,2)" \
		"': DROP TABLE pj: --;f0"
}

# ---- a directory
at=1700000000
for text in bytes long deep; do
	pjsend -q --store=dir:dir --time=$at --host=h1 - <$text
	pjfetch -q --store=dir:dir --from=$at --to=$((at + 1)) >$text.dir
	at=$((at + 30))
done
is "every byte is there, as UTF-8" "$(grep -vc '^#' bytes.dir) $(awk '!/^#/ { n += $NF } END { print n }' bytes.dir)" "$(
	awk 'BEGIN { for (i = 1; i < 128; i++) k += i != 10; print k + 1 }') $(awk '{ n += $NF } END { print n }' bytes)"
grep -v '^#' long.dir >have
ok "a megabyte in a line" cmp -s have long
grep -v '^#' deep.dir >have
ok "5000 frames" cmp -s have deep
through dir dir:labels

for host in 'a/b' '../../etc' '.hidden' 'a b' "$(awk 'BEGIN { while (i++ < 300) printf "y" }')" "$(printf 'new\nline')" "$(printf 'gr\303\274n')"; do
	pjsend -q --store=dir:hosts --time=1700000000 --host="$host" - <deep || fail "a host called $host"
done
is "hosts that are no names of folders" "$(ls hosts | cut -c1-20)" "$(printf '%s\n' -.-..-etc -hidden a-b gr--n new-line yyyyyyyyyyyyyyyyyyyy)"
is "a long one is cut" "$(ls hosts | tail -n 1 | wc -c)" 256
pjfetch -q --store=dir:hosts --host=a/b --from=1700000000 --to=1700000001 >out 2>err
is "who asks for such a host is told its name" "$? $(cat err)" "1 pjfetch: no windows: none of the selection starts in that time; pjsend names that host 'a-b'"

# ---- servers
pjsend --once --store=eve:http://127.0.0.1:1 /nonexistent >probe 2>&1
if grep -q 'built without' probe; then
	skip "remote stores" "$(sed 's/.*: built/built/' probe)"
	done_testing
fi
if eve --file kept; then
	through eve "eve:http://127.0.0.1:$eve_port"
	stop "$eve_pid"
fi
modules=$top/build/node-stores/node_modules
if ! have node || [ ! -d "$modules/express-pouchdb" ]; then
	skip "couch" "express-pouchdb is not installed (test/send/setup.sh does it)"
elif couch "$modules"; then
	through couch "couch:http://127.0.0.1:$couch_port/pj"
	stop "$couch_pid"
fi
if ! have clickhouse-server; then
	skip "clickhouse" "clickhouse-server is not installed"
elif clickhouse && tables; then
	through clickhouse "clickhouse:http://127.0.0.1:$clickhouse_port"
	stop "$clickhouse_pid"
fi
done_testing
