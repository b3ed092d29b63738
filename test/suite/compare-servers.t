#!/bin/sh
# compare-servers.t - examples/compare-servers: tomcat10 with and without compression under load; the difference is the compression.
# stage: live
# full: starts four servers and their load
# covers: diff/pjdiff.c record/recordopts.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
LC_ALL=C
export LC_ALL
script=$top/examples/compare-servers

have pjrecord || skip_all "pjrecord is not built"
ok "the shell understands it" sh -n "$script"
for words in "one" "-n 0" "-r 1x" "-p examples" "-z" "a b c" "-n 2 one"; do
	# shellcheck disable=SC2086 # words
	"$script" $words >out 2>err
	is "  '$words': usage" "$? $(grep -c '^usage: compare-servers' err)" "2 1"
done
mkdir empty
"$script" empty not-there >out 2>err
is "  a folder that is not there" "$? $(grep -c 'not-there: no such folder' err)" "1 1"

missing=
for c in tomcat10-instance-create ab ip java unshare setpriv; do have $c || missing="$missing $c"; done
[ -d /usr/share/tomcat10-examples/examples ] || missing="$missing tomcat10-examples"
why=
if [ -n "$missing" ]; then
	why="not installed:$missing (the head of examples/compare-servers says how)"
elif [ "$(id -u)" != 0 ] || ! unshare -n true 2>/dev/null; then
	why="namespaces need root"
elif ! pjrecord -q -a -w 1 --once -d try >out 2>err; then
	why="recording is not allowed here: $(head -n 1 err)"
fi
if [ -n "$why" ]; then
	skip "tomcat10 with and without compression" "$why"
	done_testing
fi

timeout 560 "$script" -n 2 -r 1500 -o made >table 2>err
status=$?
is "tomcat10 with and without compression: status" $status 0
[ $status = 0 ] || sed 's/^/# /' err
is "  two runs a side" "$(ls made.runs/before.?.folded made.runs/after.?.folded | wc -l | tr -d ' ')" 4
is "  CPU time per request of each" "$(grep -cE '^run [12], (before|after): [0-9]+ samples, [0-9.]+ ms of CPU a request$' err)" 4
ok "  the table has the class that compresses, as new" grep -qE ' new +org/apache/coyote/http11/filters/GzipOutputFilter\.' table
ok "  and what it calls: Java's, then zlib" grep -qE ' new +(java/util/zip/Deflater\.deflate|java/util/zip/GZIPOutputStream\.|deflate$)' table
not_before=$(awk '/Deflater|GzipOutputFilter/ { n += $NF } END { print n + 0 }' made.runs/before.?.folded)
is "  it did not run before" "$not_before" 0
ok "  a picture of the difference" grep -q 'with compression: 2 runs of 1500 requests each' made.svg
pjsvg --unpack made.svg >unpacked 2>why
ok "  which has it, too" grep -q 'GzipOutputFilter' unpacked
ok "  nothing is left" sh -c '! ls -d /var/tmp/compare-servers.* 2>/dev/null && ! pgrep -f "catalina[.]base=/var/tmp/compare-servers"'
done_testing
