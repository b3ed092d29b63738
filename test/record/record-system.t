#!/bin/sh
# record-system.t - the whole host, recorded by perf with copies of stacks: ours are perf's (libunwind), or longer, and end in a root; and
# so do pjrecord's own. Counted are the samples of loads that run all the while: C without and with frame pointers, C++, threads, Python.
# stage: live
# full: records the whole host with perf beside pjrecord
# covers: record/unwind/samplestack.c record/unwind/unwinder.c record/unwind/cfitables.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
LC_ALL=C
HOME=$scratch # perf keeps copies of what it met
PJ_BUILD=${PJ_BUILD:-$top/build/std-cc}
export LC_ALL HOME PJ_BUILD
perf=${PJ_PERF:-perf}

[ "$(uname -m)" = x86_64 ] || skip_all "x86-64 only"
"$perf" --version >/dev/null 2>&1 || skip_all "perf is not installed"
have cc || skip_all "no compiler for the load"
cc -O2 -fomit-frame-pointer -o sys-plain "$top/test/lib/loads/load.c" || skip_all "the load does not compile"
cc -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls -o sys-pointers "$top/test/lib/loads/load.c"
cat >threads.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static void *work(void *arg)
{
	int v[1000];

	for (unsigned n = (unsigned)(size_t)arg; clock() < 100 * CLOCKS_PER_SEC; n++) {
		for (unsigned i = 0; i < 1000; i++)
			v[i] = (int)((n + i) * 2654435761u >> 8);
		qsort(v, 1000, sizeof(*v), compare);
	}
	return NULL;
}
int main(void)
{
	pthread_t t[3];

	for (size_t i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, work, (void *)i);
	return work(NULL) != NULL;
}
C
cc -O2 -pthread -o sys-threads threads.c
if have c++; then c++ -O2 -o sys-cpp "$top/test/lib/loads/load.cc"; fi
cat >job.py <<'P'
import json, re, time
while time.process_time() < 100:
    json.loads(json.dumps({'a': list(range(2000))}))
    re.sub('a+', 'b', 'aab' * 1000)
    sorted([3, 2, 1] * 300, key=lambda x: -x)
P

# they end by themselves after 100 s of CPU, should this be killed
pids=
trap 'kill $pids 2>/dev/null; wait; rm -rf "$scratch"' EXIT
start()
{
	"$@" >/dev/null 2>&1 &
	pids="$pids $!"
}
start ./sys-plain 100000
start ./sys-pointers 100000
start ./sys-threads
[ -x sys-cpp ] && start ./sys-cpp 100000
if have python3; then
	ln -s "$(python3 -c 'import sys; print(sys.executable)')" sys-python
	start ./sys-python job.py
fi
# they have called exec: nobody is this shell any more
tries=0
for pid in $pids; do
	while [ "$(readlink "/proc/$pid/exe")" = "$(readlink "/proc/$$/exe")" ] && [ $((tries += 1)) -lt 600 ]; do sleep 0.1; done
done
# shellcheck disable=SC2086 # numbers
list=$(echo $pids | tr ' ' ,)
sh "$top/test/unwind/dwarf/system.sh" "$list" >counts || skip_all "perf record -a: $(head -n 2 why | tr '\n' ' ')"
read -r samples same longer shorter other root cut _ <counts
pass "of $samples samples $same are the same, $longer longer, $shorter shorter, $other other; $root end in a root, $cut are cut"
ok "there are enough of them" test "$samples" -ge 100
# 99.5 %; one of a few is not a share
few() { [ "$1" -le 1 ] || [ $((1000 * $1)) -le $((5 * samples)) ]; }
if few $((samples - same - longer)); then pass "libunwind's is the leaf side"; else fail "libunwind's is the leaf side" compared; fi
if few $((samples - root)); then pass "they end in a root"; else fail "they end in a root" ends; fi

if timeout 100 pjrecord -v -a --unwind=auto -F 199 -w 5 -n 1 -d dir >windows 2>said; then
	pjfold -q --stacks "$(cat windows)" 2>why | awk '$NF ~ /^sys-/' >stacks
	read -r samples root <<-E
	$(awk '{ all += $1; whole += $1 * $2 / 100 } END { printf "%d %d\n", all, whole + .5 }' stacks)
	E
	pass "pjrecord: of $samples samples $root end in a root"
	ok "there are enough of them" test "$samples" -ge 100
	if few $((samples - root)); then pass "they end in a root"; else fail "they end in a root" stacks said; fi
else
	skip "pjrecord" "not allowed here: $(head -n 1 said)"
fi
done_testing
