#!/bin/sh
# jvm-reader.t - processes that pretend to be JVMs, and use what is read of them against the reader (fakejvm.c), beside a genuine JVM and a
# program whose profile is known: both are seen as without them, the memory of pjrecord and the CPU time of its reader stay bounded, and
# SIGTERM is answered.
#
# Runs with an attack and runs without take turns. Stacks are counted per second of CPU time (schedstat).
# stage: live
# full: an attack of 20 s or more beside the tools; planted.t and escapes.t are in the gate
# covers: record/java/jvmreader.c record/java/jvmhelper.c record/java/javabudget.c runtimes/memory/readbudget.c
PJ_TOP=${PJ_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=test/lib/tap.sh
. "$PJ_TOP/test/lib/tap.sh"
# shellcheck source=test/hostile/lib.sh
. "$PJ_TOP/test/hostile/lib.sh"
LC_ALL=C
export LC_ALL
[ "$(uname -m)" = x86_64 ] || skip_all "x86-64 only"
# shellcheck source=test/lib/jvm.sh
. "$top/test/lib/jvm.sh"
clean_up()
{
	end_attacks
	rm -rf "$arena"
}
need_jdk "$top/test/lib/loads/Load.java"
timeout 60 pjrecord -v -o data --unwind=tables -- true >/dev/null 2>said || skip_all "perf events are not allowed here: $(head -n 1 said)"
fuse=0
mknod "$arena/fuse" c 10 229 2>/dev/null && chmod 666 "$arena/fuse" && [ -e /sys/fs/fuse ] && fuse=1

secs=$((attack_secs / 6))
[ $secs -ge 2 ] || secs=2
# shellcheck disable=SC2154 # jdk: of jvm.sh
"$(echo "$jdks" | sed 's/.* //')/bin/java" -Xmx256m -cp . Load mixed 900 >java.out 2>&1 &
jvm=$!
"${CC:-cc}" -O1 -o burn "$PJ_TOP/test/record/burn.c" 2>cc.err || skip_all "cc: $(head -n 1 cc.err)"
./burn spin 900 >/dev/null 2>&1 &
truth=$!
started="$jvm $truth"
busy_for()
{
	awk '{ ns += $1 } END { exit !(ns >= 3e9) }' "/proc/$jvm/task"/*/schedstat
}
until_true busy_for || skip_all "the JVM does not run"

# task_us PID: CPU time of its threads
task_us()
{
	cat /proc/"$1"/task/*/schedstat 2>/dev/null | awk '{ ns += $1 } END { printf "%d\n", ns / 1000 }'
}

# observe: records the host for $secs seconds; sets, of the threads of the JVM, $seen stacks, of which $share % are complete, and $rate, complete
# stacks per second of CPU time; $known, the same rate of the known program; $peak_kb of pjrecord, $reader_kb and $reader_ms of its reader
observe()
{
	jvm0=$(task_us $jvm) truth0=$(task_us $truth) t0=$(date +%s%N)
	pjrecord -v -a -F 499 --unwind=tables -o data >/dev/null 2>said &
	recorder=$!
	for _ in $(seq 8); do # on a busy machine until the JVM has used as much time
		sleep $secs
		[ $(($(task_us $jvm) - jvm0)) -lt $((secs * 300000)) ] || break
	done
	peak=$(peak_kb $recorder) reader_ms=0 reader_kb=0
	for child in $(descendants $recorder); do
		[ "$(cat /proc/"$child"/comm 2>/dev/null)" = pjrecord-jvm ] || continue
		rights=$(awk '/^(CapEff|CapPrm|Seccomp):/ { printf "%s ", $2 }' /proc/"$child"/status)
		reader_ms=$((reader_ms + $(task_us "$child") / 1000)) reader_kb=$(peak_kb "$child")
	done
	kill -INT $recorder
	wait $recorder
	jvm_us=$(($(task_us $jvm) - jvm0)) truth_us=$(($(task_us $truth) - truth0)) ms=$((($(date +%s%N) - t0) / 1000000))
	part=$(sed -n 's/.* in \([0-9.]*\) s, .*/\1/p' said | awk -v ms=$ms '{ print $1 * 1000 / ms }')
	pjfold -q --root=thread --stacks data >stacks 2>&1
	rates=$(awk -v part="${part:-0}" -v jvm=$jvm_us -v truth=$truth_us '
		$NF != "(all)" && $NF ~ /^load-/ { n += $1; complete += $1 * $2 / 100 }
		$NF == "burn" { known += $1 * $2 / 100 }
		function per_second(n, us) { n = n * 1e6 / (us * part + 1); return n < 499 ? n : 499 }
		END { printf "%d %.2f %.1f %.1f", n, 100 * complete / (n + !n), per_second(complete, jvm), per_second(known, truth) }' stacks)
	# shellcheck disable=SC2086 # four numbers
	set -- $rates
	seen=$1 share=$2 rate=$3 known=$4
}

# Other programs of this machine may take so much of it that samples are lost: up to three tries.
observe_undisturbed()
{
	for _ in 1 2 3; do
		observe
		grep -q LOST said || return 0
	done
}

# Rates are at most the frequency: start and end of a recording are known to a tenth of a second only.
# The share of complete stacks is at least 99 % of what it was, but for three standard deviations. Rates vary by some percent from run to run
# on a busy machine: they show samples that are lost.
share_stays()
{
	awk -v a="$share" -v b="$share0" -v n="$seen" 'BEGIN { p = b / 100; exit !(n >= 100 && a / 100 >= .99 * p - 3 * sqrt(2 * p * (1 - p) / n + .00001)) }'
}

rate_stays()
{
	awk -v a="$1" -v b="$2" 'BEGIN { exit !(a >= .88 * b) }'
}

# against MODE COUNT [MS]
against()
{
	observe_undisturbed
	share0=$share rate0=$rate known0=$known peak0=$peak reader0=$reader_ms
	attack fakejvm "$@"
	until_true grep -q ready "$arena/log" || { fail "$*: the attack runs" "$arena/log"; return; }
	observe_undisturbed
	if share_stays && rate_stays "$rate" "$rate0"; then
		pass "$*: of the JVM's stacks $share % are complete, $rate per CPU second; without $share0 %, $rate0"
	else
		fail "$*: of the JVM's stacks $share % are complete, $rate per CPU second; without $share0 %, $rate0" said stacks
	fi
	ok "$*: of a known program $known; without $known0" rate_stays "$known" "$known0"
	ok "$*: pjrecord takes $peak kB, without $peak0; its reader $reader_kb" [ $((peak - peak0)) -le 32768 -a "$reader_kb" -le 131072 ]
	ok "$*: its reader takes $reader_ms ms of CPU time, without $reader0" [ $((reader_ms - reader0)) -le $((300 + secs * 50)) ]
	end_attacks
}

against stubs 48
is "the reader has no capability, system calls are filtered" "$rights" "0000000000000000 0000000000000000 2 "
against segmap 2
against maze 2
against deep 300
if [ $fuse = 1 ]; then
	against slow 2 20
	against slow 1 400
	attack fakejvm slow 3 100000
	until_true grep -q ready "$arena/log"
	pjrecord -v -a -F 499 --unwind=tables -o data >/dev/null 2>said &
	recorder=$!
	sleep 3
	ok "a JVM whose memory never answers: SIGTERM is answered within 2 s" ends_within 2 $recorder
	ok "  and what was recorded is there" pjfold -q -o /dev/null data
else
	skip "memory that is slow" "no FUSE"
fi
done_testing
