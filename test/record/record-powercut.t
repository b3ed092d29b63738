#!/bin/sh
# record-powercut.t - the power fails while pjrecord records: every window that it has reported is complete afterwards, every window in out/ is
# complete or absent, and the next run goes on. PJ_CUTS: how many cuts (4) for each kind of file system, PJ_SEED: where.
# stage: live
# full: a window for each cut of the power
# covers: record/windows/windows.c common/files/outfile.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
LC_ALL=C
export LC_ALL
# shellcheck source=test/lib/powercut.sh
. "$top/test/lib/powercut.sh"

have pjrecord || skip_all "pjrecord is not built"
[ -e "$powercut_so" ] || skip_all "test/send/preload/powercut.so is not built, or not of this variant"
pjrecord -q -a -d probe -w 1 -n 1 --keep-symbols none >/dev/null 2>why || skip_all "the whole system may not be recorded here: $(head -n 1 why)"
seed=${PJ_SEED:-$(($(date +%s) % 1000000))}
echo "# PJ_SEED=$seed"

# is_complete FILE: pjfold finds nothing wrong with it
is_complete()
{
	[ -s "$1" ] && pjfold -q --strict "$1" >/dev/null 2>>problems && [ "$(head -c 8 "$1")" = PERFILE2 ]
}

# good FILE...: all of them are complete
good()
{
	for window in "$@"; do
		[ ! -e "$window" ] || is_complete "$window" || { echo "$window" >>problems; return 1; }
	done
}

# cut MODEL N
cut()
{
	rm -rf machine
	mkdir machine
	: >problems
	powercut pjrecord "$1" "$2" machine disk pjrecord -q -a -F 99 -w 1 -n 3 -d machine/dir --keep-symbols none >reported 2>err
	[ "$2" != 0 ] || return 0
	powercut_restore machine disk
	while read -r window; do
		is_complete "$window" || { echo "reported: $window" >>problems; return 1; }
	done <reported
	good machine/dir/out/*.data || return 1
	[ ! -d machine/dir/out ] || cp -r machine/dir/out before
	pjrecord -q -a -F 99 -w 1 -n 1 -d machine/dir --keep-symbols none >again 2>>problems || return 1
	good machine/dir/out/*.data || return 1
	for window in before/*.data; do
		[ ! -e "$window" ] || cmp -s "$window" "machine/dir/out/${window#before/}" || { echo "changed: $window" >>problems; return 1; }
	done
	rm -rf before
	[ "$(find machine/dir/recording -name '*.data' | wc -l)" = 0 ]
}

for model in journal strict; do
	cut $model 0
	calls=$(powercut_calls)
	cuts=0 good=0
	while [ $cuts -lt "${PJ_CUTS:-4}" ]; do
		cuts=$((cuts + 1))
		at=$(awk -v seed="$seed$cuts" -v n="$calls" 'BEGIN { srand(seed); print 1 + int(rand() * n) }')
		if cut $model "$at"; then
			good=$((good + 1))
		else
			echo "# $model, call $at of $calls"
			tail -n 8 problems | sed 's/^/# /'
			find machine -name '*.data*' -o -name used | sed 's/^/# left: /'
		fi
	done
	is "$model: $cuts power cuts at one of $calls calls" "$good" "$cuts"
done
done_testing
