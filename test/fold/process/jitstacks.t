#!/bin/sh
# jitstacks.t - pjfold walks stack copies through generated code by the unwind tables that a jitdump has (JIT_CODE_UNWINDING_INFO): those of
# a program whose generated code keeps no frame pointers, and those of CPython -X perf_jit, where it is installed.
# covers: fold/process/copiedstack.c fold/jit/jitunwind.c fold/jit/jitdump.c
# full-san: 15 to 60 s with sanitizers; unit tests, cases and fuzz corpora of its modules run with them in ./check
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
LC_ALL=C
export LC_ALL
perf=${PJ_PERF:-perf}

have pjfold && have cc && have "$perf" || skip_all "pjfold, perf or a compiler is missing"
[ "$(uname -m)" = x86_64 ] || skip_all "x86-64 only"
cc -O1 -fomit-frame-pointer -o jit "$top/test/lib/loads/jit.c" || skip_all "the load does not compile"

# take COMMAND...: records it with copies of its stacks; folded, stacks
take()
{
	rm -f data
	timeout 60 "$perf" record -B -q -F 499 -k CLOCK_MONOTONIC -e cpu-clock:u --call-graph dwarf,16384 -o data "$@" >why 2>&1
	[ -s data ] || return 1
	pjfold -q data >folded 2>said
	pjfold -q --stacks data >stacks 2>>said
}

# reaches FUNCTION PATTERN LEAST: the function has at least 50 samples, and LEAST percent of them, at least, match the pattern
reaches()
{
	awk -v function_="$1" -v pattern="$2" -v least="$3" '
		$0 ~ function_ { all += $NF; if ($0 ~ pattern) at += $NF }
		END { print at + 0, "of", all + 0; exit !(all >= 50 && at >= all * least / 100) }' folded
}

# complete_share: the share of complete stacks
complete_share()
{
	awk '$NF == "(all)" { print int($2) }' stacks
}

take ./jit dump 700 || skip_all "no --call-graph dwarf here: $(tail -n 1 why)"
ok "by the tables of a jitdump: from _start through generated code" reaches '[;]inner' ';(_start|\[jit\]);.*;main;outer;trampoline_[0-9]*_\[j\];inner' 98
ok "  each function of generated code has its own name" sh -c 'grep -o "trampoline_[0-9]*" folded | sort -u | wc -l | awk "{ exit !(\$1 >= 10) }"'
ok "  such stacks are complete" [ "$(complete_share)" -ge 98 ]
ok "  nothing is refused" not grep -q jitdump said
take ./jit map 700
ok "by a map, without tables: callers are missing" not reaches '[;]inner' ';main;outer;' 50
ok "  and no such stack is called complete" [ "$(complete_share)" -le 2 ]

python=
for try in "${PJ_PYTHON:-python3}" python3.1[3-9] "$HOME"/.pyenv/versions/3.1[3-9]*/bin/python3; do
	if have "$try" && "$try" -X perf_jit -c 'import sys; sys.exit(sys.version_info < (3, 13) or not sys.is_stack_trampoline_active())' 2>/dev/null; then
		python=$try
	fi
done
if [ -n "$python" ]; then
	cat >p.py <<'P'
import time
def inner_work(n):
    s = 0
    for i in range(n): s += i * i
    return s
def outer_work(n): return sorted([3, 1, 2], key=lambda x: inner_work(n) + x)[0]
while time.process_time() < 1: outer_work(10000)
P
	take sh -c 'echo $$ >pid; exec "$@"' sh "$python" -X perf_jit p.py
	ok "$("$python" --version 2>&1) -X perf_jit: all callers" reaches 'py::inner_work' 'py::<module>:.*py::outer_work:.*<lambda>:.*py::inner_work' 98
	ok "  from the start of the program" reaches 'py::inner_work' '^[^;]*;(_start|\[[^;]*\]|__libc_start_main[^;]*);' 98
	ok "  and complete" [ "$(complete_share)" -ge 98 ]
	rm -f "/tmp/jit-$(cat pid).dump"
else
	skip "CPython -X perf_jit" "no CPython of 3.13 or later is installed"
fi
done_testing
