#!/bin/sh
# keep.sh TEST - run one test, pass its TAP on and keep it in PJ_TAP, for tally.awk. At most ten minutes each; twenty in a browser.
set -u
name=$(echo "$1" | sed 's|^build/[^/]*/||; s|^test/||; s|/|-|g')
case $1 in
/*) test=$1 ;;
*) test=$PWD/$1 ;;
esac
limit=600
case $1 in
*test/browser/*) limit=1200 ;;
esac
{
	timeout $limit "$test" 2>"$PJ_TAP/$name.err"
	status=$?
	if [ -s "$PJ_TAP/$name.err" ]; then
		sed 's/^/# stderr: /' "$PJ_TAP/$name.err" | head -60
	fi
	rm -f "$PJ_TAP/$name.err"
	echo "# exit $status"
	echo "$status" >"$PJ_TAP/$name.status"
} | tee "$PJ_TAP/$name.tap"
exit "$(cat "$PJ_TAP/$name.status")"
