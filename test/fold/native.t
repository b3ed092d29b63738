#!/bin/sh
# native.t - perf.data as pjfold reads it, against perf script, frame by frame, on a mixed load of this machine.
#
# `pjfold --as-perf --root=thread X` and `perf script --no-inline -i X | pjfold` must agree but for one frame in a thousand.
# The load: test/bench/load.sh (C with and without frame pointers, C++, Python, node and a JVM with their maps, a storm of
# processes), and a process in mount and PID namespaces of its own, which lives until its recording was read.
# stage: live
# full: compares every frame with perf script: 150 s
# covers: fold/recording.c fold/resolve.c fold/namelookup.c fold/perfdata/perfdata.c fold/process/callchain.c
# covers: fold/process/addrspace.c fold/kernel/kernelsyms.c fold/jit/perfmap.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
LC_ALL=C
export LC_ALL
perf=${PJ_PERF:-perf}

have pjfold || skip_all "pjfold is not built"
"$perf" --version >/dev/null 2>&1 || skip_all "perf is not installed"
have cc || skip_all "no compiler for the load"
cc -O1 -g -fno-omit-frame-pointer -pthread -o demo "$top/examples/demo.c" || skip_all "the demo load does not compile"

cat >load <<'SH'
#!/bin/sh
exec "$1/test/bench/load.sh" 3 maps
SH
chmod +x load
: >maps
inside=
leave()
{
	if [ -n "$inside" ]; then kill -KILL "$inside" 2>/dev/null; fi
	xargs rm -f <maps
	rm -rf "$scratch"
}
trap leave EXIT

# A program that only its mount namespace has: a tenth of a processor, until it is killed. It dies with unshare.
cat >inside.c <<'C'
#include <time.h>
__attribute__((noinline)) void only_inside(void)
{
	for (volatile int i = 0; i < 1000000; i++)
		;
}
int main(void)
{
	for (;;) {
		only_inside();
		nanosleep(&(struct timespec){ 0, 9000000 }, 0);
	}
}
C
cc -O1 -g -fno-omit-frame-pointer -o inside.new inside.c || skip_all "the program for a namespace does not compile"
apart=$(unshare -m -p -f true 2>&1) && apart=
if [ -z "$apart" ]; then
	unshare -m -p -f --kill-child sh -c 'mount -t tmpfs none /mnt && cp inside.new /mnt/inside && : >ready && exec /mnt/inside' >/dev/null 2>&1 &
	inside=$!
	tries=0
	until [ -e ready ] || [ $((tries += 1)) -gt 300 ]; do sleep 0.1; done
fi

all=-a
record()
{
	out=$1
	shift
	"$perf" record -q $all "$@" -o "$out" -- ./load "$top" >why 2>&1 && [ -s "$out" ]
}
if ! record graph.data -F 499 -g; then
	all=
	record graph.data -F 499 -g || skip_all "perf record is not allowed here: $(head -n 2 why | tr '\n' ' ')"
	skip "all processors" "only own processes may be recorded here"
fi

# agrees NAME DATA
agrees()
{
	"$perf" script --no-inline -i "$2" >script 2>why
	status=$?
	if [ "$status" -ge 128 ]; then # docs/INPUTS.md, build-ids of mappings
		skip "$1" "perf script died of it ($status): $(tail -n 1 why)"
		return
	fi
	pjfold -q script >theirs 2>/dev/null
	rm -f script
	pjfold -q --as-perf --root=thread "$2" >ours 2>why
	diff ours theirs | awk -v all="$(awk -v count=1 -f "$top/test/lib/frames.awk" ours)" -f "$top/test/lib/frames.awk" >count
	read -r bad total <count
	if [ "$total" -gt 0 ] && [ $((bad * 1000)) -le "$total" ]; then
		pass "$1: $bad of $total frames differ from perf script's"
	else
		diff ours theirs >>why
		fail "$1: $bad of $total frames differ from perf script's" why
	fi
}

# header NAME DATA [1]: perf's own words for what --info tells; 1: of times, too, which perf does not know of what it packed
header()
{
	"$perf" report --header-only -i "$2" 2>why | awk -v times="${3:-0}" -f "$top/test/lib/header.awk" | sort >theirs
	pjfold --info "$2" 2>>why | awk -v ours=1 -v times="${3:-0}" -f "$top/test/lib/header.awk" | sort >ours
	if [ "$(wc -l <theirs)" -ge 9 ] && cmp -s ours theirs; then
		pass "$1"
	else
		diff ours theirs >>why
		fail "$1" why
	fi
}

# recorded_agrees NAME DATA OPTION...: of a recording that is made for it
recorded_agrees()
{
	what=$1
	data=$2
	shift 2
	if record "$data" "$@"; then agrees "$what" "$data"; else skip "$what" "perf record failed: $(tail -n 1 why)"; fi
}

sum()
{
	awk '{ n += $NF } END { print n + 0 }' "$1"
}

agrees "system-wide, frame pointers" graph.data
sum ours >a
sum theirs >b
ok "every sample of perf is there" cmp a b
pjfold -q graph.data >default
sum default >b
ok "and by process, with better names, too" cmp a b
pjfold -q -j 3 graph.data >threads
ok "-j 3 gives the same bytes" cmp default threads
if [ -n "$apart" ] || [ -z "$all" ]; then
	skip "names in a mount namespace" "${apart:-only own processes may be recorded here}"
else
	ok "a file that only a mount namespace has is named" grep -q '^inside;.*main;only_inside' default
fi
if [ -n "$inside" ]; then kill -KILL "$inside"; fi # it would be in the way of what comes
inside=

# On a machine with much else to do it takes long until a JVM compiles anything.
if have javac; then
	javac -d . "$top/examples/Demo.java" 2>why
	for seconds in 3 20 60; do
		if grep -q '^java;.*Demo\.[a-z]*_\[j\]' default; then break; fi
		# shellcheck disable=SC2016 # the process id is that of the inner shell
		"$perf" record -q -F 499 -g -o java.data -- sh -c 'echo "/tmp/perf-$$.map" >>maps; exec java "$@"' - -XX:+PreserveFramePointer \
			-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit -cp . Demo $seconds >why 2>&1
		pjfold -q java.data >default 2>>why
	done
	ok "the JVM's map names Java methods" grep -q '^java;.*Demo\.[a-z]*_\[j\]' default
else
	skip "the JVM's map names Java methods" "no JDK"
fi
if have node; then
	cat >hot.js <<-'JS'
		function hot(a, b) { let s = 0; for (let i = 0; i < 1e5; i++) s = (s * 31 + a * i + b) % 1000003; return s; }
		let s = 0;
		const end = Date.now() + 2000;
		do { for (let i = 0; i < 500; i++) s = hot(s, 7); } while (Date.now() < end);
	JS
	"$perf" record -q -F 499 -g -k CLOCK_MONOTONIC -o node.data -- node --perf-prof hot.js >why 2>&1
	pjfold -q node.data >default 2>>why
	ok "the jitdump of node --perf-prof names its functions" grep -q '^node;.*;hot .*hot\.js:1:[0-9]*_\[j\]' default
else
	skip "the jitdump of node --perf-prof names its functions" "no node"
fi
pjfold --stacks -q graph.data >quality
ok "--stacks" grep -q '(all)' quality
pjfold --info graph.data >told
ok "--info" grep -q '^process ' told
header "--info says what perf's header says" graph.data 1

# The examples of the man page, as they stand; only the sleep is shorter.
mkdir examples.d
{
	echo 'set -e'
	awk '/^\.Sh / { on = $2 == "EXAMPLES" } /^\.Ed/ { code = 0 } on && code { sub(/^\$ /, ""); sub(/sleep 10/, "sleep 1"); print } /^\.Bd/ { code = 1 }' \
		"$top/man/pjfold.1"
} >examples.sh
(
	cd examples.d || exit 1
	printf 'app;main 3\n' >monday.folded
	gzip -c monday.folded >tuesday.folded.gz
	gzip -dc "$top/examples/sample.script.gz" >perf.script
	if [ -z "$all" ]; then sed -i 's/ -a / /' ../examples.sh; fi
	have pjsvg && sh ../examples.sh >../out 2>../why
)
status=$?
if have pjsvg; then
	is "the examples of pjfold(1) run" "$status $(wc -l <examples.sh) $(grep -c '^</svg>' examples.d/flame.svg) $(find examples.d/minutes -name '*.folded' | wc -l | awk '{ print ($1 > 0) }') $(cat examples.d/both.folded)" \
		"0 12 1 1 app;main 6"
fi

recorded_agrees "on CLOCK_MONOTONIC" own.data -F 499 -g -k CLOCK_MONOTONIC
ok "--from and --to of the wall clock" sh -c 'pjfold -q --from 2001-01-01 --to 2099-12-31 own.data >b; pjfold -q own.data | cmp - b'
recorded_agrees "compressed" z.data -F 299 -g -z
if [ -s z.data ]; then header "  --info, too" z.data; fi
"$perf" record -q -e cpu-clock/freq=99/,cs,page-faults:u,sched:sched_switch -o many.data -- ./demo 1 >why 2>&1 ||
	"$perf" record -q -e cpu-clock/freq=99/,cs,page-faults:u -o many.data -- ./demo 1 >why 2>&1
header "  of several events" many.data 1
"$perf" record -q -F 299 -g -k CLOCK_MONOTONIC -o - -- ./demo 1 2>why >pipe.data
agrees "pipe" pipe.data
"$perf" record -q -F 299 --namespaces -e cpu-clock -o flat.data -- ./demo 1 >why 2>&1
agrees "no callchains" flat.data

recorded_alone()
{
	all_before=$all
	all=
	recorded_agrees "$@"
	all=$all_before
}
recorded_alone "per process" alone.data -F 499 -g

# Unwound stacks are longer than perf's where perf mistakes the maps, as of every process that called exec (docs/INPUTS.md, 7;
# test/unwind/dwarf/perfstacks.t compares frame by frame what did not): the innermost frames are the same.
leaves()
{
	sed 's/;.*;\([^;]* [0-9]*\)$/;\1/' | awk '{ n = $NF; sub(/ [0-9]+$/, ""); c[$0] += n } END { for (s in c) print s, c[s] }' | sort
}
same_leaves()
{
	"$perf" script --no-inline -i "$2" 2>/dev/null | pjfold -q | leaves >theirs
	pjfold -q --as-perf --root=thread "$2" | leaves >ours
	if [ -s ours ] && cmp -s ours theirs; then
		pass "$1"
	else
		diff ours theirs >why
		fail "$1" why
	fi
}
if record mixed.data -F 99 --call-graph dwarf; then
	same_leaves "the mixed load with --call-graph dwarf: the same innermost frames" mixed.data
	rm -f mixed.data
else
	skip "the mixed load with --call-graph dwarf" "perf record failed: $(tail -n 1 why)"
fi
if "$perf" record -q -F 199 --call-graph dwarf -o dwarf.data -- ./demo 1 >/dev/null 2>&1; then
	same_leaves "--call-graph dwarf: the same innermost frames" dwarf.data
	pjfold -q --stacks dwarf.data >quality
	ok "  and most stacks are complete (the demo recurses deeper than the copies)" awk '$NF == "(all)" { exit !($2 + 0 > 50) }' quality
fi
done_testing
