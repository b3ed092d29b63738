#!/bin/sh
# faults-sweep.t - each allocation and each read, write and open of a tool fails once: it ends by itself with a message and without half an
# output; interrupted calls and short counts change nothing; pjsend loses nothing.
# full: 16 s; faults.t has the most frequent faults
# PJ_SWEEP: how many places are tried of each kind (12; all of them: 100000).
# covers: common/arena.c common/files/fullio.c common/filter/in.c common/filter/out.c send/spool/spool.c
# covers: send/stores/dirstore.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
LC_ALL=C
export LC_ALL
build=${PJ_BUILD:-$top/build/std-cc}
case $build in /*) ;; *) build=$top/$build ;; esac
fail_so=$build/test/suite/preload/fail.so
places=${PJ_SWEEP:-12}
[ -f "$fail_so" ] || skip_all "no preloading beside sanitizers"

# sweep NAME TOOL ARGUMENTS...: all kinds
sweep()
{
	sweep_name=$1
	shift
	for kind in alloc eio enospc eintr short; do
		if "$build/test/suite/sweep" "$fail_so" "$places" $kind "$@" >.sweep 2>&1; then
			pass "$sweep_name: $kind: $(tail -n 1 .sweep)"
		else
			fail "$sweep_name: $kind" .sweep
		fi
	done
}

awk 'BEGIN { for (i = 0; i < 3000; i++) printf "root;a%d;b%d;name_%d 1\n", i % 10, i % 100, i }' >in.folded
awk 'BEGIN { for (i = 0; i < 2000; i++) printf "root;a%d;b%d;name_%d 2\n", i % 10, i % 100, i }' >base.folded
gzip -c in.folded >in.gz
sweep "pjfold: gzip" pjfold in.gz
OUT=o.folded
export OUT
sweep "pjfold -o: perf script" pjfold -q -o o.folded "$top/test/fold/cases/merge/in"*
OUT=o.svg
sweep "pjsvg -o" pjsvg -o o.svg in.folded
sed 's/^root;a\(.\)/1.\1/' in.folded >times.folded
sweep "pjheat -o" pjheat -o o.svg times.folded
unset OUT
sweep "pjdiff" pjdiff base.folded in.folded

# A recording with symbols of files, as perf made it
mkdir -p symfs/tmp/pj-case
cp "$top/test/fold/cases/perfdata/load" symfs/tmp/pj-case
cp "$top/test/fold/cases/perfdata/map" symfs/tmp/perf-10835.map
HOME=$PWD
export HOME
sweep "pjfold: perf.data" pjfold --symfs=symfs "$top/test/fold/cases/perfdata/in.data"
sweep "pjfold: perf.data, its head" pjfold --info "$top/test/fold/cases/perfdata/in.data"

# ---- pjsend: what fails is tried again, and the store holds what was recorded, once ---------------------------------------------

# shellcheck source=test/send/kill.sh
. "$top/test/send/kill.sh"
kill_windows source 40
stored()
{
	pjfetch -q --store=dir:store --from=1700000000 --to=1700001000 2>fetch.err | kill_sum
}

# What could not be read is in bad/, complete: once it is back in out/ it can be sent.
from_bad()
{
	for bad in dir/bad/*.data; do
		[ ! -e "$bad" ] || mv "$bad" dir/out/
	done
	timeout 60 pjsend -q --once --store=dir:store dir >send.again 2>&1
}

# send FAIL ONLY: one run in which something fails, then until nothing is left
send()
{
	rm -rf dir store
	cp -r source dir
	PJ_FAIL=$1 PJ_FAIL_ONLY=$2 PJ_FAIL_COUNT=$scratch/count LD_PRELOAD=$fail_so timeout 60 pjsend -q --once --store=dir:store dir >send.out 2>&1
	[ $? -le 1 ] || { echo "PJ_FAIL=$1 in $2: status"; return 1; }
	for again in 1 2 3 4 5; do
		timeout 60 pjsend -q --once --store=dir:store dir >send.again 2>&1 && break
		[ "$again" != 5 ] || { echo "PJ_FAIL=$1 in $2: never done: $(tail -n 1 send.again)"; return 1; }
	done
	case $1:$2 in e*:pjfold) from_bad ;; esac
	stored >got
	cmp -s got source.want || { echo "PJ_FAIL=$1 in $2: the store holds something else: $(wc -l <got) of $(wc -l <source.want) stacks"; return 1; }
}

if have pjsend; then
	for only in pjsend pjfold; do
		send none $only
		# shellcheck disable=SC2034 # two numbers
		read -r allocs calls <count
		for kind in alloc eio enospc; do
			case $kind in alloc) all=$allocs ;; *) all=$calls ;; esac
			wrong=0
			: >.send
			i=1
			while [ "$i" -le "$all" ]; do
				send "$kind:$i" $only >>.send || wrong=$((wrong + 1))
				i=$((i + all / places + 1))
			done
			if [ $wrong = 0 ]; then pass "pjsend: $kind in $only: of $all"; else fail "pjsend: $kind in $only: $wrong wrong" .send; fi
		done
	done
else
	skip "pjsend" "it is not built"
fi

done_testing
