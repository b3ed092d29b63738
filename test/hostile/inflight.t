#!/bin/sh
# inflight.t - root of a container leaves so many descriptors in flight that the kernel refuses messages with descriptors of other processes
# of root: the tools go on passing them, and where they cannot, they name the cause.
# stage: live
# covers: common/process/fdmessage.c common/filter/broker.c common/filter/brokerserver.c record/unwind/cfiopener.c record/unwind/cfiparser.c record/perf/privileges.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=test/hostile/lib.sh
. "$top/test/hostile/lib.sh"
have cc || skip_all "cc is not installed"

printf 'volatile unsigned long n;\n__attribute__((noinline)) int leaf(void) { while (n < 1ul << 40) n++; return 1; }\n__attribute__((noinline)) int caller(void) { return leaf() + 1; }\nint main(void) { return caller() + 1; }\n' >busy.c
cc -O1 -fno-optimize-sibling-calls -fomit-frame-pointer -o busy busy.c

# limited SOFT HARD COMMAND...: with these limits of open descriptors
limited()
{
	# shellcheck disable=SC2016 # the inner shell's
	sh -c 'ulimit -Sn "$1" && ulimit -Hn "$2" && shift 2 && exec "$@"' sh "$@"
}
# Where root has CAP_SYS_RESOURCE, the limit does not count. Containers and some virtual machines leave it out.
hard=4096
[ $((0x$(awk '/^CapEff/ { print $2 }' /proc/self/status) >> 24 & 1)) = 0 ] || hard=256
echo "# hard limit of open descriptors: $hard"
# without HARD COMMAND...: without these capabilities, with this hard limit
without()
{
	max=$1
	shift
	limited 128 "$max" setpriv --bounding-set=-sys_resource,-sys_admin --inh-caps=-all --ambient-caps=-all "$@"
}

# leave COUNT: leaves so many descriptors in flight, as root of a container: user 0 without capabilities
leave()
{
	[ -z "$attacks" ] || end_attacks
	: >ready
	setpriv --bounding-set=-all --inh-caps=-all --ambient-caps=-all "$(program inflight)" "$1" 400 >ready 2>log &
	attacks=$!
	for _ in $(seq 100); do
		! grep -q ready ready || return 0
		sleep 0.1
	done
	return 1
}

leave 600 || skip_all "no descriptors can be left in flight: $(cat log)"
limited 128 $hard pjrecord -v -F 499 -o busy.data -- timeout 3 ./busy 2>err
ok "pjrecord: status" test -s busy.data
sed 's/^/# /' err
ok "  no helper process is replaced" sh -c '! grep -qE "replaced|no helper process" err'
limited 128 $hard pjfold -q busy.data >folded 2>err
is "pjfold: status" $? 0
complete=$(awk '{ n += $NF } /main;caller;leaf / { good += $NF } END { printf "%d", n ? 100 * good / n : 0 }' folded)
ok "  stacks that are complete: $complete %" test "$complete" -gt 90
limited 128 $hard pjsvg folded >svg 2>err
is "pjsvg: status" $? 0
jdk=$(find /usr/lib/jvm -maxdepth 3 -name java -path '*/bin/*' 2>/dev/null | sort | head -n 1)
if [ -n "$jdk" ]; then
	cp "$top/examples/Demo.java" .
	"$jdk" Demo.java 300 >/dev/null 2>&1 &
	jvm=$!
	attacks="$attacks $jvm"
	# the launcher compiles the source first
	for _ in $(seq 60); do
		limited 128 $hard pjmap --once --stdout "$jvm" >map 2>err
		status=$?
		! grep -q Demo map || break
		sleep 1
	done
	is "pjmap: status" $status 0
	ok "  a map" grep -q Demo map
	limited 128 $hard pjrecord -q -F 499 -p "$jvm" -o jvm.data -- sleep 3 2>err
	pjfold -q jvm.data >folded 2>err
	sed "s/^/# /" err
	ok "pjrecord names methods of a JVM" grep -q 'Demo.*_\[j\]' folded
else
	skip "pjmap: status" "no JDK is installed"
fi

# shellcheck disable=SC2086 # a list
ok "  all the while the descriptors were in flight" kill -0 $attacks

# Without CAP_SYS_RESOURCE the limit counts: the greatest that the tool may have.
ok "descriptors in flight" leave 600
without 4096 pjfold -q busy.data >again 2>err
is "without CAP_SYS_RESOURCE, the hard limit counts: status" $? 0
ok "  the same" test -s again
without 256 pjfold -q busy.data >again 2>err
is "where that is too low: status" $? 1
ok "  the cause: $(head -n 1 err)" grep -q 'Too many references' err
leave 1
# the kernel frees the descriptors of the killed program later, in a work queue
for _ in $(seq 100); do
	without 256 pjfold -q busy.data >again 2>err
	status=$?
	[ $status != 0 ] || break
	sleep 0.1
done
is "and afterwards: status" "$status $(cat err)" "0 "
done_testing
