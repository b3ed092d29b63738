#!/bin/sh
# native.t - perf.data as pjfold reads it, against perf script, frame by frame, on a mixed load of this machine.
#
# `pjfold --as-perf --root=thread X` and `perf script --no-inline -i X | pjfold` must agree but for one frame in a thousand.
# The load: test/bench/load.sh (C with and without frame pointers, C++ of the compiler, Python, node with its map, a storm of
# processes), a JVM with its map where there is one, and a process in mount and PID namespaces of its own.
# shellcheck source=test/tap.sh
. "$(dirname "$0")/tap.sh"
LC_ALL=C
export LC_ALL
perf=${PJ_PERF:-perf}

have pjfold || skip_all "pjfold is not built"
"$perf" --version >/dev/null 2>&1 || skip_all "perf is not installed"
have cc || skip_all "no compiler for the load"
cc -O1 -g -fno-omit-frame-pointer -pthread -o demo "$top/examples/demo.c" || skip_all "the demo load does not compile"

cat >load <<'SH'
#!/bin/sh
"$1/test/bench/load.sh" 3 &
if command -v unshare >/dev/null; then
	unshare -m -p -f sh -c 'mount -t tmpfs none /mnt && cp demo /mnt/inside && /mnt/inside 3' >/dev/null 2>&1 &
fi
if [ -e Demo.class ]; then java -XX:+PreserveFramePointer -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit -cp . Demo 2 >/dev/null 2>&1 & fi
wait
SH
chmod +x load
if have javac; then javac -d . "$top/examples/Demo.java" >/dev/null 2>&1; fi
[ -e Demo.class ] || skip "a JVM" "no JDK"

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

# differing OURS THEIRS: "DIFFERING ALL" frames; samples whose stacks only one has are paired in the order of the files
differing()
{
	diff "$1" "$2" | awk -v all="$(awk '{ n = $NF; sub(/ [0-9]+$/, ""); all += n * split($0, part, ";") } END { print all + 0 }' "$1")" '
	/^[<>]/ { side = $1; weight = $NF; sub(/^. /, ""); sub(/ [0-9]+$/, ""); for (; weight > 0; weight--) stack[side, ++n[side]] = $0 }
	END {
		most = n["<"] > n[">"] ? n["<"] : n[">"]
		for (i = 1; i <= most; i++) {
			x = split(stack["<", i], ours, ";")
			y = split(stack[">", i], theirs, ";")
			for (j = 1; j <= x || j <= y; j++) bad += j > x || j > y || ours[j] != theirs[j]
		}
		print bad + 0, all
	}'
}

# agrees NAME DATA
agrees()
{
	"$perf" script --no-inline -i "$2" 2>/dev/null | pjfold -q >theirs 2>/dev/null
	pjfold -q --as-perf --root=thread "$2" >ours 2>why
	differing ours theirs >count
	read -r bad total <count
	if [ "$total" -gt 0 ] && [ $((bad * 1000)) -le "$total" ]; then
		pass "$1: $bad of $total frames differ from perf script's"
	else
		diff ours theirs >>why
		fail "$1: $bad of $total frames differ from perf script's" why
	fi
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
if [ -n "$all" ] && grep -q '^inside;' default; then
	if grep '^inside;' default | grep -q ';main'; then pass "a file that only a mount namespace has is named, or the process is gone"; else
		skip "names in a mount namespace" "the process ended before its recording was read"
	fi
fi
if [ -e Demo.class ]; then
	ok "the JVM's map names Java methods" grep -q '^java;.*Demo\.[a-z]*_\[j\]' default
fi
pjfold --stacks -q graph.data >quality
ok "--stacks" grep -q '(all)' quality
pjfold --info graph.data >told
ok "--info" grep -q '^process ' told

record own.data -F 499 -g -k CLOCK_MONOTONIC && agrees "on CLOCK_MONOTONIC" own.data
ok "--from and --to of the wall clock" sh -c 'pjfold -q --from 2001-01-01 --to 2099-12-31 own.data >b; pjfold -q own.data | cmp - b'
record z.data -F 299 -g -z 2>/dev/null && agrees "compressed" z.data
"$perf" record -q -F 299 -g -k CLOCK_MONOTONIC -o - -- ./demo 1 2>/dev/null >pipe.data && agrees "pipe" pipe.data
"$perf" record -q -F 299 --namespaces -e cpu-clock -o flat.data -- ./demo 1 2>/dev/null && agrees "no callchains" flat.data

# Unwound stacks are longer than perf's where perf mistakes the maps (docs/INPUTS.md, 7): the innermost frames are the same.
if "$perf" record -q -F 199 --call-graph dwarf -o dwarf.data -- ./demo 1 >/dev/null 2>&1; then
	"$perf" script --no-inline -i dwarf.data 2>/dev/null | pjfold -q | sed 's/;.*;\([^;]* [0-9]*\)$/;\1/' | sort >theirs
	pjfold -q --as-perf --root=thread dwarf.data | sed 's/;.*;\([^;]* [0-9]*\)$/;\1/' | sort >ours
	awk '{ n = $NF; sub(/ [0-9]+$/, ""); c[$0] += n } END { for (s in c) print s, c[s] }' ours | sort >ours.leaf
	awk '{ n = $NF; sub(/ [0-9]+$/, ""); c[$0] += n } END { for (s in c) print s, c[s] }' theirs | sort >theirs.leaf
	ok "--call-graph dwarf: the same innermost frames" cmp ours.leaf theirs.leaf
	pjfold -q --stacks dwarf.data >quality
	ok "  and most stacks are whole (the demo recurses deeper than the copies)" awk '$NF == "(all)" { exit !($2 + 0 > 50) }' quality
fi
done_testing
