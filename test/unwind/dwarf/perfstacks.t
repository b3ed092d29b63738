#!/bin/sh
# run.t - unwinds programs that perf recorded with copies of their stacks, and compares each frame with perf's (libunwind).
#
# Each recording is of one process without exec: perf 6.1 mixes up where a library lay before and behind an exec. perf knows
# neither .debug_frame here nor files without .eh_frame_hdr: there our stacks must reach the outermost function instead.
# full: records copies of stacks with perf; record-unwind.t unwinds live
# covers: unwind/dwarf/cfiunwind.c unwind/dwarf/cfi.c unwind/dwarf/unwindtable.c unwind/dwarf/unwindelf.c
# covers:
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
LC_ALL=C
export LC_ALL
perf=${PJ_PERF:-perf}
walk=${PJ_BUILD:-$top/build/std-cc}/test/unwind/dwarf/walk

[ "$(uname -m)" = x86_64 ] || skip_all "x86-64 only"
"$perf" --version >/dev/null 2>&1 || skip_all "perf is not installed"
have cc || skip_all "no compiler for the load"

# record COMMAND...
record()
{
	rm -f data
	"$perf" record -q -F 499 --call-graph dwarf,16384 -e cpu-clock -o data -- "$@" >why 2>&1 || rm -f data
	[ -s data ]
}
cc -O2 -fomit-frame-pointer -o plain "$top/test/lib/loads/load.c" || skip_all "the load does not compile"
record ./plain 500 || skip_all "perf record is not allowed here: $(head -n 2 why | tr '\n' ' ')"

# walked: recording `data` unwound into `walked`, ends into `ends`
walked()
{
	"$walk" -e data >walked 2>ends && [ -s walked ]
}

# agrees NAME: at most 2 % of the stacks are not perf's, and those are longer
agrees()
{
	if [ ! -s data ]; then skip "$1" "perf record failed: $(tail -n 1 why)" && return; fi
	"$perf" script -i data --no-inline -F tid,time,ip >script 2>/dev/null
	if walked && awk -f "$top/test/unwind/dwarf/compare.awk" script walked >compared &&
		tail -n 1 compared | awk -F '[ ,]+' '{ exit !($2 >= $4 * .98 && $4 >= 10 && $8 == 0 && $10 == 0) }'; then
		pass "$1: $(tail -n 1 compared)"
	else
		fail "$1: $(tail -n 1 compared)" compared ends
	fi
}

# reaches_root NAME: all stacks reach the outermost function, but those of which perf copied nothing (at most one)
# $2: how many stacks may end for want of code: where there are no tables, one that was interrupted in a prologue does
reaches_root()
{
	if [ ! -s data ]; then skip "$1" "perf record failed: $(tail -n 1 why)" && return; fi
	if walked && grep -qE "^root [0-9]{2,} cut 0 no code [0-${2:-0}] loop 0 unmapped 0 .* without a copy [01]$" ends; then
		pass "$1: $(grep ^root ends)"
	else
		fail "$1" ends
	fi
}

agrees "C without frame pointers: callbacks, signals, recursion, alloca, realigned stacks"
reaches_root "C without frame pointers, to its end"
record ./plain 500 alternate
agrees "signals on another stack"
if have c++ && c++ -O2 -o cpp "$top/test/lib/loads/load.cc"; then
	record ./cpp 500
	agrees "C++: exceptions, libstdc++"
else
	skip "C++" "no C++ compiler"
fi
if have clang && clang -O2 -fuse-ld=lld -Wl,-z,lazy -o lld "$top/test/lib/loads/load.c" 2>/dev/null; then
	record ./lld 500
	agrees "clang and lld: segments share pages, no tables for the PLT"
else
	skip "lld" "no clang with lld"
fi

cc -O2 -g -fno-asynchronous-unwind-tables -fno-unwind-tables -o debug "$top/test/lib/loads/load.c"
record ./debug 500
reaches_root "only .debug_frame" 2 # the linker makes no tables for the PLT then
cc -O2 -Wl,--no-eh-frame-hdr -o headerless "$top/test/lib/loads/load.c"
record ./headerless 500
reaches_root "no .eh_frame_hdr"
cc -O2 -fno-omit-frame-pointer -fno-asynchronous-unwind-tables -fno-unwind-tables -o pointers "$top/test/lib/loads/load.c"
record ./pointers 500
reaches_root "no tables, frame pointers" 4
if have llvm-objcopy && llvm-objcopy --strip-sections plain sectionless 2>/dev/null; then
	record ./sectionless 500
	reaches_root "no section headers"
else
	skip "no section headers" "llvm-objcopy is not installed"
fi
echo "1..$n"
exit $failed
