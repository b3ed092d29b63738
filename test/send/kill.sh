# shellcheck shell=sh disable=SC2154 # what tap.sh has
# kill.sh - pjsend is killed before and after each call that changes or tells anything, then started again until nothing is left: the
# store must hold exactly what was recorded. Source it behind tap.sh.
#
# kill_everywhere LABEL FRESH STORE SUM [STACKS [STEP]]
#	FRESH  a function: makes the store empty; may set what STORE and SUM use
#	STORE  a function: prints the store's spec
#	SUM    a function: prints all stacks of the store, "stack value" lines, in any order (pjfetch, or what the stub holds)
#	STACKS of each of the three windows (1200: three batches), STEP: every so many calls only (1)

kill_so=${PJ_BUILD:-$top/build/std-cc}/test/send/preload/kill.so

# kill_windows DIR STACKS: three windows of DIR/out, and DIR.want
kill_windows()
{
	mkdir -p "$1/out"
	awk -v dir="$1" -v stacks="$2" 'BEGIN {
		for (w = 0; w < 3; w++) {
			file = sprintf("%s/out/%d.data", dir, 1700000000 + 30 * w)
			sum = 0
			body = ""
			for (i = 0; i < stacks; i++) {
				v = (i * 7 + w * 3) % 50 + 1
				sum += v
				body = body sprintf("java;Thread.run;org/example/Handler%05d.handle;leaf%d %d\n", i, (i * 31 + w) % 9973, v)
			}
			printf "# pj unit=samples event=cycles frequency=99 from=%d to=%d host=h1 samples=%d lost=0\n%s",
				1700000000 + 30 * w, 1700000030 + 30 * w, sum, body >file
			close(file)
			printf "%s", body
		}
	}' | kill_sum >"$1.want"
}

# One line a stack, summed and in order.
kill_sum()
{
	awk '/^#/ { next } { v = $NF; sub(/ [0-9]+$/, ""); sum[$0] += v } END { for (s in sum) printf "%s %d\n", s, sum[s] }' | sort
}

# One run that is killed; then as many as it takes.
kill_once()
{
	rm -rf kill.dir
	cp -r kill.source kill.dir
	"$kill_fresh" || return 1
	spec=$("$kill_store")
	PJ_KILL_AT=$1 PJ_KILL_AFTER=$2 LD_PRELOAD=$kill_so pjsend -q --once --store="$spec" kill.dir >kill.out 2>&1
	tries=0
	until pjsend -q --once --store="$spec" kill.dir >kill.again 2>&1; do
		tries=$((tries + 1))
		[ $tries -lt 20 ] || return 1
	done
	"$kill_sum_of" 2>kill.err | kill_sum >kill.got
	cmp -s kill.got kill.source.want || return 1
	[ -z "$(find kill.dir/out kill.dir/bad kill.dir/spool -type f ! -name recorder)" ]
}

kill_everywhere()
{
	kill_label=$1 kill_fresh=$2 kill_store=$3 kill_sum_of=$4 kill_step=${6:-1}
	if [ ! -e "$kill_so" ]; then
		skip "$kill_label: killed at every call" "test/send/preload/kill.so is not built, or not of this variant"
		return
	fi
	rm -rf kill.source kill.dir
	kill_windows kill.source "${5:-1200}"
	cp -r kill.source kill.dir
	"$kill_fresh" || { fail "$kill_label: the store is there"; return; }
	PJ_KILL_COUNT=kill.count LD_PRELOAD=$kill_so pjsend -q --once --store="$("$kill_store")" kill.dir >kill.out 2>&1 ||
		{ fail "$kill_label: a run that is not killed" kill.out; return; }
	calls=$(cat kill.count)
	kills=0 exact=0 at=1
	while [ "$at" -le "$calls" ]; do
		for when in 0 1; do
			kills=$((kills + 1))
			if kill_once $at $when; then
				exact=$((exact + 1))
			else
				echo "# killed $([ $when = 1 ] && echo after || echo before) call $at of $calls: not exact"
				diff kill.got kill.source.want | head -n 3 | sed 's/^/# /'
				head -n 3 kill.again | sed 's/^/# /'
				find kill.dir/out kill.dir/bad kill.dir/spool -type f | sed 's/^/# left: /'
			fi
		done
		at=$((at + kill_step))
	done
	is "$kill_label: killed $kills times, at $calls calls, exact each time" "$exact" "$kills"
}
