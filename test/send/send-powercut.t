#!/bin/sh
# send-powercut.t - the power fails at each call of pjsend that changes files: only what was synced is there afterwards, and the store in a
# directory holds exactly what was recorded once pjsend has run again. Both for journals (ext4, XFS, btrfs) and for what POSIX promises;
# the power of the store fails, too, or not. PJ_CUT_STEP: every so many calls only (4),
# from one that PJ_SEED chooses.
# covers: send/spool/spool.c send/stores/dirstore.c common/files/outfile.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
LC_ALL=C
export LC_ALL
# shellcheck source=test/send/kill.sh
. "$top/test/send/kill.sh"
# shellcheck source=test/lib/powercut.sh
. "$top/test/lib/powercut.sh"

have pjsend || skip_all "pjsend is not built"
[ -e "$powercut_so" ] || skip_all "test/send/preload/powercut.so is not built, or not of this variant"

step=${PJ_CUT_STEP:-4}
seed=${PJ_SEED:-$(($(date +%s) % 1000000))}
echo "# PJ_SEED=$seed PJ_CUT_STEP=$step"
kill_windows source 50

# sums STORE
sums() { pjfetch -q --store=dir:"$1" --from=1700000000 --to=1700001000 2>/dev/null | kill_sum; }

# cut MODEL STORE N: true if the store is exact in the end
cut()
{
	rm -rf machine away
	mkdir machine
	cp -r source machine/dir
	powercut pjsend "$1" "$3" machine disk pjsend -q --once --store="dir:$2" machine/dir >out 2>err
	[ "$3" != 0 ] || return 0
	powercut_restore machine disk
	tries=0
	until pjsend -q --once --store="dir:$2" machine/dir >out 2>err; do
		tries=$((tries + 1))
		[ $tries -lt 5 ] || return 1
	done
	sums "$2" >got
	cmp -s got source.want && [ -z "$(find machine/dir/out machine/dir/bad machine/dir/spool -type f ! -name recorder)" ]
}

for model in journal strict; do
	for store in machine/store away; do
		cut $model $store 0
		calls=$(powercut_calls)
		cuts=0 exact=0 at=$((1 + seed % step))
		while [ "$at" -le "$calls" ]; do
			cuts=$((cuts + 1))
			if cut $model $store $at; then
				exact=$((exact + 1))
			else
				echo "# $model, store $store, call $at of $calls: not exact: $(head -n 1 err)"
				diff got source.want | head -n 3 | sed 's/^/# /'
				find machine -type f | sed 's/^/# left: /' | head -n 12
			fi
			at=$((at + step))
		done
		is "$model, $([ $store = away ] && echo 'the store elsewhere' || echo 'the store on the same disk'): $cuts power cuts, exact each time" "$exact" "$cuts"
	done
done
done_testing
