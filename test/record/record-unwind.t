#!/bin/sh
# record-unwind.t - pjrecord --unwind=tables: stacks of code without frame pointers, whole, as ordinary callchains. Shares are of samples
# of the loads alone, so a machine that is busy with others makes them fewer, not other ones; loads end when they have run long enough.
# stage: live
# covers: record/unwind/unwinder.c record/unwind/samplestack.c record/unwind/cfitables.c record/unwind/cfihelpers.c
# covers: record/unwind/fallback.c record/unwind/rootframes.c common/formats/unwindstats.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
LC_ALL=C
HOME=$scratch
export LC_ALL HOME
perf=${PJ_PERF:-perf}

have pjrecord && have pjfold || skip_all "pjrecord or pjfold is not built"
[ "$(uname -m)" = x86_64 ] || skip_all "x86-64 only"
have cc || skip_all "no compiler for the load"
cc -O2 -fomit-frame-pointer -o plain "$top/test/lib/loads/load.c" || skip_all "the load does not compile"

# record OPTION... -- COMMAND: into data, at a rate that half a second is enough for; what is said goes to said
record()
{
	rm -f data
	timeout 120 pjrecord -v -o data -F 1999 "$@" >/dev/null 2>said
	[ -s data ]
}
record --unwind=tables -- ./plain 500 || skip_all "perf events are not allowed here: $(head -n 1 said)"

# whole SHARE: at least so many percent of the stacks in data are, as pjfold and as pjrecord say; of at least 100
whole()
{
	pjfold -q --stacks data 2>&1 | awk -v least="$1" '$NF == "(all)" { seen = $1; share = $2 + 0 } END { print seen, share; exit !(seen >= 100 && share >= least) }' &&
		sed -n 's/.*; \([0-9.]*\) % of [0-9,]* stacks are complete.*/\1/p' said | awk -v least="$1" '{ share = $1 } END { print share; exit !(NR && share >= least) }'
}
# from the outside in; a first sample or two may be of the exec itself
ok "C without frame pointers: stacks are complete" whole 99
pjfold -q --stacks data >stacks 2>&1
ok "  each is complete, cut, broken or unknown" awk 'NR > 1 { all = $2 + $3 + $4 + $5; if (all < 99.8 || all > 100.2) bad = 1 } END { exit !(NR > 1 && !bad) }' stacks
pjfold -q data >folded
ok "  from _start on" awk -F';' '{ w = $NF; sub(/.* /, "", w); all += w } $2 == "_start" { at += w } END { print at, all; exit !(at >= all * .98) }' folded
ok "  through libc, and back" grep -q ';main;callback_through_libc;\(__GI___\|\)qsort_r;.*compare' folded
ok "  through a signal, to what was interrupted" grep -qE ';main;through_plt;[^;]*;__restore_rt;at_alarm' folded
ok "  stacks that are made anew" grep -q ';main;realigned;variable' folded
ok "  the kernel's part is on top" grep -qE ';main;.*_\[k\]' folded
ok "no stack is in the file" test "$(wc -c <data)" -lt $((500 * $(awk '{ all += $NF } END { print all + 100 }' folded)))
pjfold --info data >info 2>&1
ok "  nor asked for, as it says" not grep -qi 'regs\|stack_user' info
if "$perf" --version >/dev/null 2>&1; then
	"$perf" script -i data -F comm,ip,sym 2>why | awk '/^[^ \t]/ { n++ } /_start/ { at++ } END { print n, at; exit !(n >= 100 && at >= n * .97) }' >seen
	is "perf script reads it as any other" $? 0
	"$perf" evlist -v -i data >events 2>&1
	ok "  as an event without copies" not grep -q 'REGS_USER\|STACK_USER\|exclude_callchain_user' events
else
	skip "perf script reads it as any other" "perf is not installed"
	skip "  as an event without copies" "perf is not installed"
fi

record --unwind=fp -- ./plain 500
pjfold -q data >folded.fp
ok "by frame pointers, callers of libc's are lost" not grep -q ';main;callback_through_libc;.*qsort_r;.*compare' folded.fp
is "  and nothing is said of stacks" "$(grep -c 'stacks are complete' said)" 0

record --unwind=tables --stack-size=1K -- ./plain 500
pjfold -q data >folded.cut
ok "a copy that is too short: the stack is [truncated]" grep -q '^plain;\[truncated\];.*compare' folded.cut
ok "  and counted" grep -q '% are longer than the copy' said
ok "  by pjfold, too" sh -c 'pjfold -q --stacks data 2>/dev/null | awk '\''$NF == "(all)" { exit !($3 + 0 > 0) }'\'

# with frame pointers, too, a stack goes on above the copy
cat >tall.c <<'C'
#include <stdlib.h>
#include <time.h>
static volatile unsigned long sink;
__attribute__((noinline)) static void leaf(clock_t until)
{
	while (clock() < until)
		for (int i = 0; i < 10000; i++)
			sink += (unsigned long)i;
}
__attribute__((noinline)) static unsigned long tall(int n, clock_t until)
{
	volatile char pad[64];

	pad[0] = (char)n;
	if (n)
		return tall(n - 1, until) + (unsigned long)pad[0];
	leaf(until);
	return 1;
}
int main(int argc, char **argv)
{
	clock_t until = (argc > 1 ? atoi(argv[1]) : 500) * (CLOCKS_PER_SEC / 1000);

	leaf(until / 4);
	return tall(60, until) == 0;
}
C
cc -O1 -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -fno-optimize-sibling-calls -o tall tall.c
record --unwind=tables --stack-size=2K -- ./tall 500
pjfold -q data >folded
ok "a stack that is longer than the copy, by tables" awk '/tall;.*tall/ { all += $NF } /^tall;\[truncated\];tall/ { at += $NF } END { print at, all; exit !(all >= 100 && at >= all * .98) }' folded
record --unwind=auto --stack-size=2K -- ./tall 500
pjfold -q data >folded
# 61 calls, and the name of the process
ok "  auto: goes on by frame pointers" awk '{ w = $NF } /;tall;.*tall/ { all += w } /;main;tall;/ && gsub(/tall;/, "") == 62 { at += w } END { print at, all; exit !(all >= 100 && at >= all * .98) }' folded
# libc's start keeps none: the shallow stacks before tell what is there
ok "  to the root" awk '{ w = $NF } /;tall;.*tall/ { all += w } /^tall;_start;.*;main;tall;/ { at += w } END { print at, all; exit !(all >= 100 && at >= all * .98) }' folded
ok "  and whole" whole 98
pjfold --info data >info 2>&1
ok "  as --info says" grep -q '^stacks .* stacks are complete.* continues\? by frame pointers' info
ok "  as is said" grep -q ' exceed the copy and continue by frame pointers' said
# few frames are in the copy, as one of them is large: the table must say that the frame pointer has its caller
cat >large.c <<'C'
#include <stdlib.h>
#include <string.h>
#include <time.h>
static volatile unsigned long sink;
__attribute__((noinline)) static void large(clock_t until)
{
	char room[6000];

	memset(room, (int)sink, sizeof(room));
	while (clock() < until)
		for (int i = 0; i < 10000; i++)
			sink += (unsigned char)room[i % 6000];
}
__attribute__((noinline)) static void outer(clock_t until)
{
	large(until);
	sink++;
}
int main(int argc, char **argv)
{
	clock_t until = (argc > 1 ? atoi(argv[1]) : 500) * (CLOCKS_PER_SEC / 1000);

	while (clock() < until / 4)
		for (int i = 0; i < 10000; i++)
			sink += (unsigned long)i;
	outer(until);
	return 0;
}
C
cc -O1 -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -fno-optimize-sibling-calls -o large large.c
record --unwind=auto --stack-size=2K -- ./large 500
pjfold -q data >folded
ok "  one large frame: to the root, too" awk '{ w = $NF } /large;large/ || /;outer;/ { all += w } /^large;_start;.*;main;outer;large/ { at += w } END { print at, all; exit !(all >= 100 && at >= all * .98) }' folded

# what a thread runs, main runs, too: nothing of a thread's start belongs to main, whose stacks are all cut
cat >both.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
static volatile unsigned long sink;
static clock_t until;
__attribute__((noinline)) static unsigned long tall(long n)
{
	volatile char pad[64];

	pad[0] = (char)n;
	if (n)
		return tall(n - 1) + (unsigned long)pad[0];
	while (clock() < until)
		for (int i = 0; i < 10000; i++)
			sink += (unsigned long)i;
	return 1;
}
__attribute__((noinline)) static void *work(void *arg)
{
	sink += tall((long)arg);
	return NULL;
}
int main(int argc, char **argv)
{
	clock_t all = (argc > 1 ? atoi(argv[1]) : 500) * (CLOCKS_PER_SEC / 1000);
	char room[6000];
	pthread_t t;

	memset(room, (int)sink, sizeof(room));
	until = all / 2;
	pthread_create(&t, NULL, work, NULL);
	pthread_join(t, NULL);
	until = all;
	work((void *)60);
	return room[sink % 6000] == 77;
}
C
cc -O1 -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -fno-optimize-sibling-calls -pthread -o both both.c
record --unwind=auto --stack-size=2K -- ./both 600
pjfold -q data >folded
ok "  what a thread calls and main, too: threads have their start" awk '{ w = $NF } !/tall;tall/ && /;work;tall/ { all += w } /clone3?;start_thread;work;tall/ && !/tall;tall/ { at += w } END { print at, all; exit !(all >= 50 && at >= all * .98) }' folded
ok "  and main has none" awk '{ w = $NF } /tall;tall/ { all += w } /start_thread/ && /tall;tall/ { bad += w } /main;work;tall;tall/ { at += w } END { print at, bad + 0, all; exit !(all >= 50 && at >= all * .98 && !bad) }' folded

# with addresses as they were before, after an exec of the same process into another program
if have setarch; then
	sed 's/__attribute__((noinline)) static void leaf/static int shift(int n) { return n * 3; }\n&/; s/return tall(60, until) == 0;/sink += (unsigned long)shift(argc); return tall(60, until) == 0 ? 1 : argc > 2 ? execv(argv[2], argv + 1) : 0;/; s/^#include <time.h>/&\n#include <unistd.h>/' tall.c >first.c
	cc -O1 -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -fno-optimize-sibling-calls -o first first.c
	record --unwind=auto --stack-size=2K -- setarch -R ./first 300 ./tall 700
	pjfold -q data >folded
	ok "  after exec, at the same addresses" awk '{ w = $NF } /tall;.*tall/ { all += w } /^(first|tall);_start;__libc_start_main[^;]*;[^;]*;main;tall;/ { at += w } END { print at, all; exit !(all >= 100 && at >= all * .98) }' folded
else
	skip "  after exec" "no setarch"
fi
record --unwind=auto -- ./plain 500
ok "  and code without them is as it was" whole 99

# where less can be had: events that are counted, and rings that hold no copies
record --unwind=auto -e page-faults -- sh -c ':'
ok "auto: events that are counted keep the kernel's callchains" not grep -q 'stacks are complete' said
record --unwind=tables -e page-faults -- sh -c ':'
ok "  tables: they do not" grep -q 'stacks are complete' said
record --unwind=auto -m 64K -- ./plain 500
ok "auto: a ring that holds no copies is said, with what helps" grep -q 'by frame pointers only.*: use --ring-size=' said
ok "  and recorded into by frame pointers" not grep -q 'stacks are complete' said
if [ "$(id -u)" = 0 ] && have setpriv && have prlimit; then
	mkdir free && chmod 711 . && chmod 777 free && cp plain "$(command -v pjrecord)" free
	# nobody(): what is left to a user without privileges, who may lock 516 kB a CPU
	nobody()
	{
		(cd free && prlimit --memlock=65536:65536 timeout 120 setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set=-all ./pjrecord -v -o data "$@" -- ./plain 2000) >/dev/null 2>said
		cp free/data data
	}
	if nobody --unwind=fp; then
		nobody --unwind=auto
		ok "auto, without privileges: most are whole" whole 50 # a small ring does not wait for tables, and they for a CPU
		is "  with what may be locked" "$(grep -c 'frame pointers only\|copies of stacks have' said)" 0
		nobody --unwind=auto -F 9999
		ok "  where that is not enough, it is said what is missing" grep -q '\(frame pointers only\|copies of stacks have\).*kernel.perf_event_mlock_kb' said
	else
		skip "auto, without privileges: most are whole" "not allowed here: $(head -n 1 said)"
		skip "  with what may be locked" "not allowed here"
		skip "  where that is not enough, it is said what is missing" "not allowed here"
	fi
else
	skip "auto, without privileges: most are whole" "needs root, to become somebody else, setpriv and prlimit"
	skip "  with what may be locked" "needs root"
	skip "  where that is not enough, it is said what is missing" "needs root"
fi

# what has no tables is walked by frame pointers, in the same stack
cc -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls -fno-asynchronous-unwind-tables -fno-unwind-tables -o pointers "$top/test/lib/loads/load.c"
record --unwind=tables -- ./pointers 500
pjfold -q data >folded
ok "code without tables: by frame pointers" awk -F';' '{ w = $NF; sub(/.* /, "", w); all += w } $2 == "_start" { at += w } END { print at, all; exit !(all >= 100 && at >= all * .9) }' folded

# assembly beside code with tables: with a frame pointer, and 0 or something at sp; and without one, as a leaf
cat >bare.c <<'C'
#include <stdlib.h>
#include <time.h>
void framed(void), leafed(void);
__asm__(".text\n.type framed, @function\nframed: push %rbp\nmov %rsp, %rbp\npush %rbx\nsub $24, %rsp\nmovq $0, (%rsp)\nmov $100000, %ecx\n1: dec %ecx\njnz 1b\n"
	"lea framed(%rip), %rax\nmov %rax, (%rsp)\nmov $100000, %ecx\n1: dec %ecx\njnz 1b\nadd $24, %rsp\npop %rbx\npop %rbp\nret\n.size framed, . - framed\n"
	".type leafed, @function\nleafed: mov $200000, %ecx\n1: dec %ecx\njnz 1b\nret\n.size leafed, . - leafed\n");
int main(int argc, char **argv)
{
	clock_t until = (argc > 1 ? atoi(argv[1]) : 500) * (CLOCKS_PER_SEC / 1000);

	while (clock() < until) {
		framed();
		leafed();
	}
	return 0;
}
C
cc -O1 -fomit-frame-pointer -o bare bare.c
record --unwind=tables -- ./bare 500
pjfold -q data >folded
for what in framed leafed; do
	ok "assembly without tables: $what" awk -v what="$what" '{ w = $NF } index($0, ";" what) { all += w } index($0, "bare;_start;") == 1 && index($0, ";main;" what) { at += w } END { print at, all; exit !(all >= 50 && at >= all * .98) }' folded
done

# the file is gone, the process runs on
cp plain gone
cat >delete <<'C'
rm -f gone
C
record --unwind=tables -- sh -c './gone 700 & sh ./delete; wait'
pjfold -q data >folded
ok "a program that was deleted" awk -F';' '/^gone/ { w = $NF; sub(/.* /, "", w); all += w } /^gone;.*__libc_start/ { at += w } END { print at, all; exit !(all >= 100 && at >= all * .95) }' folded

# files of their own, in memory that nobody else sees
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
	mkdir -p own
	record --unwind=tables -- unshare -m sh -c 'mount -t tmpfs none own && cp plain own/inner && exec own/inner 700'
	pjfold -q --stacks data 2>/dev/null >stacks
	ok "a program in a mount namespace" awk '$NF == "inner" { n = $1; share = $2 + 0 } END { print n, share; exit !(n >= 100 && share >= 98) }' stacks
else
	skip "a program in a mount namespace" "not allowed here"
fi

# windows, the whole host, together with times off the CPU
./plain 100000 >/dev/null &
load=$!
trap 'kill $load 2>/dev/null; wait; chmod -R u+rwx "$scratch" 2>/dev/null; rm -rf "$scratch"' EXIT
if timeout 60 pjrecord -v -a -d dir -w 3 -n 2 --unwind=tables --off-cpu -F 499 >windows 2>said; then
	w=$(sed -n 2p windows)
	pjfold -q --only "comm=plain,event=cpu-clock" --stacks "$w" 2>/dev/null >stacks || pjfold -q --only comm=plain --stacks "$w" 2>/dev/null >stacks
	ok "the whole host, in windows" awk '$NF == "plain" { n = $1; share = $2 + 0 } END { print n, share; exit !(n >= 10 && share >= 97) }' stacks
	is "  each line says how whole stacks are" "$(grep -c ' stacks are complete' said)" 2
else
	skip "the whole host, in windows" "not allowed here: $(head -n 1 said)"
fi
kill $load 2>/dev/null
wait $load 2>/dev/null

# Parsers of tables that are killed between requests are counted, and the next file finds another one. There may be two, as
# each tenant has its own.
if have pgrep; then
	pjrecord -v -o data -F 999 --unwind=tables -- sh -c './plain 300; until [ -e again ]; do sleep 0.1; done; ./cpp 2000' >/dev/null 2>said &
	recorder=$!
	cp plain cpp # another file
	tries=0
	maker='' next=''
	while [ -z "$next" ] && [ $((tries += 1)) -lt 600 ]; do
		found=$(pgrep -P $recorder -x pjrecord-table)
		if [ -z "$maker" ] && [ -n "$found" ]; then
			sleep 1 # its requests are answered
			maker=$(pgrep -P $recorder -x pjrecord-table)
			# shellcheck disable=SC2086 # a list
			kill -9 $maker
			touch again
		elif [ -n "$maker" ]; then
			next=$(echo "$found" | grep -vxF "$maker")
		fi
		sleep 0.1
	done
	wait $recorder
	ok "the process that reads tables, killed, is replaced" test -n "$next"
	ok "  that is said" grep -q 'hung or crashed, and was replaced' said
	pjfold -q --stacks data 2>/dev/null >stacks
	ok "  and stacks go on to be whole" awk '$NF == "cpp" { n = $1; share = $2 + 0 } END { print n, share; exit !(n >= 100 && share >= 95) }' stacks
else
	skip "the process that reads tables is replaced" "no pgrep"
fi

pjrecord -v --unwind=guess -- true >out 2>&1
is "a way that is none" "$? $(grep -c 'is not one of fp, tables, auto, verify' out)" "2 1"
pjrecord -v --unwind=tables --stack-size=63K -- true >out 2>&1
is "a copy that no record can hold" "$? $(grep -c 'from 1K to 56K' out)" "2 1"
done_testing
