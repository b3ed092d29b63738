#!/bin/sh
# escapes.t - pjmap --list prints nothing that a terminal obeys, whatever a JVM calls itself.
# stage: live
# covers: jmap/listing.c common/visible.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=test/hostile/lib.sh
. "$top/test/hostile/lib.sh"
have pjmap || skip_all "pjmap is not built"
TMPDIR=$arena
export TMPDIR
LC_ALL=C
export LC_ALL

first=$seed
for round in 1 2 3 4 5 6; do
	seed=$((first + round))
	attack escapes 20
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		bad=
		for pid in $(descendants "$attack"); do grep -qs libjvm "/proc/$pid/maps" && bad=$pid; done
		[ -n "$bad" ] && break
		sleep 0.1
	done
	pjmap --list "$bad" >one 2>>said
	awk 'NR > 1' one >>list
	awk -v pid="$bad" 'NR == 2 && $1 == pid && $9 == "ok" { good = 1 } NR == 2 && NF < 11 { good = 0 } END { exit !(good && NR == 2) }' one && echo "$round" >>rows
	end_attacks
done
is "one row of all columns for each" "$(wc -l <rows)" 6
is "bytes that a terminal obeys" "$(tr -d '\n -~' <list | wc -c)" 0
ok "  they are shown as escapes" grep -q '\\x\|\\u' list
is "also in messages" "$(tr -d '\n -~' <said | wc -c)" 0
done_testing
