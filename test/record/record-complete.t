#!/bin/sh
# record-complete.t - no stack that pjrecord calls complete lacks a caller: programs whose calls are known, in each runtime that is
# installed. test/record/claimed.c picks the stacks that are marked as complete. Each of them must begin where a thread or a program does, and
# have all callers of the function that takes the time. Behind generated code without frame pointers callers are missing, so the same check of
# all stacks fails there, which shows that it notices what it looks for.
# stage: live
# full: records twenty programs, most of them in a runtime of its own
# full-san: callers depend on runtimes, not on the build
# covers: unwind/trampolines.c record/unwind/cfiopener.c record/unwind/cfiparser.c record/unwind/cfitables.c
# covers: unwind/walk.c unwind/dwarf/unwindtable.c unwind/dwarf/unwindelf.c record/unwind/samplestack.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
LC_ALL=C
export LC_ALL

have pjrecord && have pjfold || skip_all "pjrecord or pjfold is not built"
[ "$(uname -m)" = x86_64 ] || skip_all "x86-64 only"
have cc || skip_all "no compiler for the loads"
cc -O2 -std=gnu17 -I"$top" -o claimed "$top/test/record/claimed.c" || skip_all "the reader of marks does not compile"
timeout 60 pjrecord -q -o data --unwind=tables -- true 2>said || skip_all "perf events are not allowed here: $(head -n 1 said)"

# The loads: main calls outer_work, which calls inner_work, which takes the time, until the process has used a second of a CPU.
cat >p.c <<'X'
#include <stdlib.h>
#include <time.h>
static volatile unsigned long sum;
__attribute__((noinline)) static void inner_work(long n) { while (n--) sum += n * n; }
__attribute__((noinline)) static int compare(const void *a, const void *b) { inner_work(100); return *(const int *)a - *(const int *)b; }
__attribute__((noinline)) static void outer_work(long n) {
	int v[64];
	for (int i = 0; i < 64; i++) v[i] = i * 37 % 64;
	qsort(v, 64, sizeof(*v), compare);
	inner_work(n);
	sum++;
}
int main(void) { while (clock() < CLOCKS_PER_SEC) outer_work(40000); return 0; }
X
cat >p.cc <<'X'
#include <ctime>
static volatile unsigned long sum;
struct work { virtual ~work() {} virtual void run(long n) = 0; };
__attribute__((noinline)) static void inner_work(long n) { while (n--) sum += n * n; if (sum % 8 == 1) throw 1; }
struct inner : work { __attribute__((noinline)) void run(long n) override { inner_work(n); sum++; } };
__attribute__((noinline)) static void outer_work(work *w, long n) { try { w->run(n); } catch (int) { sum = sum + 3; } }
int main() { inner i; while (clock() < CLOCKS_PER_SEC) outer_work(&i, 40000); return 0; }
X
cat >p.rs <<'X'
use std::hint::black_box;
use std::time::Instant;
#[inline(never)] fn inner_work(n: u64) -> u64 { let mut s = 0u64; for i in 0..n { s = black_box(s.wrapping_add(i * i)); } s }
#[inline(never)] fn outer_work(n: u64) -> u64 { inner_work(n) + 1 }
fn main() {
	let start = Instant::now();
	let work = move || { let mut s = 0u64; while start.elapsed().as_secs() < 1 { s = s.wrapping_add(outer_work(40000)); } s };
	let thread = std::thread::spawn(work);
	println!("{}", work().wrapping_add(thread.join().unwrap()));
}
X
cat >p.go <<'X'
package main

import (
	"fmt"
	"syscall"
)

//go:noinline
func inner_work(n int) int { s := 0; for i := 0; i < n; i++ { s += i * i ^ s }; return s }

//go:noinline
func outer_work(n int) int { return inner_work(n) + 1 }

func main() {
	var u syscall.Rusage
	s := 0
	for ; u.Utime.Sec < 1; syscall.Getrusage(0, &u) { s += outer_work(40000) + len(fmt.Sprint(s)) }
	fmt.Println(s)
}
X
sed 's/s += i \* i ^ s/s += len(make([]*int, i % 300 + s % 2))/; s/40000/4000/' p.go >garbage.go
mkdir cgo
cat >cgo/p.go <<'X'
package main

// extern void outer_c(long);
// extern void call_back(int);
import "C"
import "syscall"

//go:noinline
func inner_work(n int) int { s := 0; for i := 0; i < n; i++ { s += i * i ^ s }; return s }

//go:noinline
func outer_work(n int) int { return inner_work(n) + 1 }

//export back_work
func back_work(n C.int) C.int { return C.int(outer_work(int(n))) }

func main() {
	var u syscall.Rusage
	for s := 0; u.Utime.Sec < 2; syscall.Getrusage(0, &u) {
		s += outer_work(40000)
		C.outer_c(40000)
		C.call_back(40000)
	}
}
X
cat >cgo/c.c <<'X'
#include "_cgo_export.h"
static volatile unsigned long sum;
__attribute__((noinline)) static void inner_c(long n) { while (n--) sum += n * n; }
void outer_c(long n) { inner_c(n); sum++; }
void call_back(int n) { sum += (unsigned long)back_work(n); }
X
cat >P.java <<'X'
public class P {
	static int inner_work(int n) { int s = 0; for (int i = 0; i < n; i++) s += i * i % 7; return s; }
	static int outer_work(int n) { return inner_work(n) + 1; }
	public static void main(String[] a) {
		int s = 0;
		for (long end = System.nanoTime() + 2000000000L; System.nanoTime() < end;) s += outer_work(50000);
		System.out.println(s);
	}
}
X
cat >p.js <<'X'
function inner_work(n) { let s = 0; for (let i = 0; i < n; i++) s = (s + i * i) % 1000003; return s }
function outer_work(n) { return [3, 1, 2].map((x) => inner_work(n) + x).sort()[0] + 1 }
let s = 0; while (process.cpuUsage().user < 1.5e6) s += outer_work(20000); console.log(s)
X
cat >p.php <<'X'
<?php
function inner_work($n) { $s = 0; for ($i = 0; $i < $n; $i++) $s = ($s * 31 + $i) % 1000003; return $s; }
function outer_work($n) { $v = [3, 1, 2]; usort($v, function ($a, $b) use ($n) { return inner_work($n) & 1 ? $a - $b : $b - $a; }); return inner_work($n) + $v[0]; }
function cpu() { $u = getrusage(); return $u["ru_utime.tv_sec"] + $u["ru_utime.tv_usec"] / 1e6; }
while (cpu() < 1) outer_work(20000);
X
cat >p.erl <<'X'
-module(p).
-export([main/0, inner_work/2, outer_work/1]).
inner_work(0, S) -> S;
inner_work(N, S) -> inner_work(N - 1, (S + N * N) rem 1000003).
outer_work(N) -> L = lists:sort([X * 7919 rem 1009 || X <- lists:seq(1, N div 20)]), inner_work(N, 0) + hd(L).
loop(S) -> {T, _} = statistics(runtime), if T < 1500 -> loop((S + outer_work(20000)) rem 7); true -> S end.
main() -> io:format("~p~n", [loop(0)]), halt().
X
cat >p.cs <<'X'
using System; using System.Diagnostics; using System.Runtime.CompilerServices;
class P {
	[MethodImpl(MethodImplOptions.NoInlining)] static int inner_work(int n) { int s = 0; for (int i = 0; i < n; i++) s += i * i % 7; return s; }
	[MethodImpl(MethodImplOptions.NoInlining)] static int outer_work(int n) { return inner_work(n) + 1; }
	static int Main() { int s = 0; while (Process.GetCurrentProcess().TotalProcessorTime.TotalSeconds < 1.5) s += outer_work(200000); return s & 0; }
}
X
cat >p.py <<'X'
import time
def inner_work(n):
    s = 0
    for i in range(n): s += i * i
    return s
def outer_work(n): return sorted([3, 1, 2], key=lambda x: inner_work(n) + x)[0]
while time.process_time() < 1: outer_work(10000)
X
cat >p.rb <<'X'
def inner_work(n) s = 0; i = 0; while i < n; s += i * i % 7; i += 1; end; s end
def outer_work(n) [3, 1, 2].map { |x| inner_work(n) + x }.sort[0] end
outer_work(10000) while Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) < 1
X

# nested FILE LEAF CALLER...: no stack of the folded FILE lacks the frames in which programs and threads start, and those with a frame LEAF
# have the frames CALLER before it, in this order (awk patterns; - for no LEAF). The start of a file without symbols has no name, so the
# second frame, libc's that calls main, counts too. Fails if fewer than $enough stacks have LEAF or, without LEAF, are there.
enough=50
nested()
{
	file=$1
	leaf=$2
	shift 2
	awk -v leaf="$leaf" -v callers="$*" -v enough="$enough" '
		BEGIN {
			ncallers = split(callers, caller, " ")
			start = "^(_start|_dl_start|_dl_start_user|(__)?(GI___)?clone3?|thread_start|start_thread|runtime\\.(goexit|mstart|clone|rt0_go)|_rt0_amd64_linux|\\[ld-linux[^]]*\\]|\\[libc\\.so[^]]*\\])([@.].*)?$"
		}
		{
			weight = $NF
			stack = $0
			sub(/ [0-9]+$/, "", stack)
			n = split(stack, frame, ";")
			all += weight
			why = frame[2] ~ start || frame[3] ~ /^__libc_start_main/ ? "" : "no start"
			# the first instruction of a program is on a page that is not there yet, and has no name in a stripped file
			if (frame[2] ~ /^\[[a-z_0-9.]+\]$/ && frame[3] ~ /^asm_exc_page_fault/) why = ""
			has = 0
			for (i = 2; i <= n && !has; i++)
				if (leaf != "-" && frame[i] ~ leaf) has = i
			if (has) {
				seen += weight
				k = 1
				for (i = 2; i < has && k <= ncallers; i++)
					if (frame[i] ~ caller[k]) k++
				if (k <= ncallers) why = "no " caller[k]
			}
			if (why != "") {
				bad += weight
				if (shown++ < 5) print why ": " stack
			}
		}
		END {
			print all + 0 " stacks, " seen + 0 " of them with " leaf "; " bad + 0 " lack a caller"
			exit !(!bad && (leaf == "-" ? all : seen) >= enough)
		}' "$file"
}

# build COMMAND...: `claim` skips the program if its compiler is not installed or fails
build()
{
	built=
	if have "$1" && "$@" >build.out 2>&1; then built=yes; fi
}

# claim RUNTIME LEAST "LEAF CALLER..." COMMAND...: COMMAND is recorded, and no stack that is called complete lacks a caller; at least LEAST
# percent of the stacks are called complete.
claim()
{
	runtime=$1
	least=$2
	calls=$3
	shift 3
	recorded=
	if ! have "$1" || [ -z "$built" ]; then
		skip "$runtime" "it is not installed"
		return
	fi
	# native stacks: test/record/record-python.t and others judge those with functions of interpreters
	timeout 120 pjrecord -q -F 997 --unwind=tables --interpreters=off -o window.data -- "$@" >out 2>err </dev/null
	if ! ./claimed window.data claims.data >counts 2>>err || ! pjfold -q window.data >folded 2>>err || ! pjfold -q claims.data >claims 2>>err; then
		fail "$runtime: it runs, and is recorded" err
		return
	fi
	recorded=yes
	percent=$(awk '$1 == 0 { printf "%.1f", $2 ? 100 * $3 / $2 : 0 }' counts)
	echo "# $runtime: $(awk '$1 == 0 { print $2 " stacks, " $3 " complete, " $4 " unknown, " $5 " truncated, " $6 " broken" }' counts)"
	# shellcheck disable=SC2086 # patterns without blanks
	ok "$runtime: $percent % are called complete, and have all callers" nested claims $calls
	ok "  at least $least % are" awk -v got="$percent" -v least="$least" 'BEGIN { exit !(got >= least) }'
}

# unproven RUNTIME MOST "LEAF CALLER..." COMMAND...: like claim, but at most MOST percent are called complete, few of them with LEAF, and of
# all stacks some lack callers, as `nested` notices
unproven()
{
	most=$2
	lacking=$3
	enough=0 # a fast processor has no sample in the start of the program, which alone is complete
	program=$1
	shift 3
	claim "$program" 0 - "$@"
	enough=50
	[ -n "$recorded" ] || return 0
	ok "  at most $most %, as code may keep no frame pointers" awk -v got="$percent" -v most="$most" 'BEGIN { exit !(got <= most) }'
	# shellcheck disable=SC2086 # patterns without blanks
	ok "  of all stacks, some lack callers" not nested folded $lacking
	sed 's/^/# /' .ok | cut -c1-300
}

build cc -O2 -fomit-frame-pointer -o c-program p.c
claim C 98 '^inner_work ^main$ ^outer_work' ./c-program
build c++ -O2 -fomit-frame-pointer -o cc-program p.cc
claim C++ 98 '^inner_work ^main$ ^outer_work ^inner::run' ./cc-program
build rustc -O -o rust-program p.rs
claim Rust 98 'inner_work outer_work' ./rust-program
build env "HOME=$PWD" GOFLAGS=-mod=mod GO111MODULE=off go build -o go-program p.go
claim Go 95 '^main\.inner_work ^main\.main ^main\.outer_work' ./go-program
build env "HOME=$PWD" GOFLAGS=-mod=mod GO111MODULE=off go build -ldflags=-w -o go-program p.go
claim "Go without .debug_frame" 95 '^main\.inner_work ^main\.main ^main\.outer_work' ./go-program
for mode in -trimpath -buildmode=pie -linkmode=external; do
	flags='-s -w' options=$mode
	if [ $mode = -linkmode=external ]; then flags="$flags $mode" options=-buildmode=pie; fi
	build env "HOME=$PWD" GOFLAGS=-mod=mod GO111MODULE=off go build $options -ldflags "$flags" -o go-program p.go
	claim "Go without symbols, $mode" 95 '^main\.inner_work ^main\.main ^main\.outer_work' ./go-program
done
# Go and C are on two stacks: that of C ends where Go called it, that of Go where C called it back, and neither is complete.
build sh -c 'cd cgo && HOME=$PWD GOFLAGS=-mod=mod GO111MODULE=off go build -buildmode=pie -ldflags=-w -o ../cgo-program'
# the share of Go's own code depends on the processor: 18 to 36 % were seen
claim "Go that calls C that calls Go" 10 '^main\.inner_work ^main\.main ^main\.outer_work' ./cgo-program
if [ -n "$recorded" ]; then
	ok "  all frames are in order" awk '
		/inner_c/ { c += $NF; bad += $NF * !/runtime\.asmcgocall(;_cgo_[^;]*)?;outer_c;inner_c/ }
		/back_work/ { back += $NF; bad += $NF * !/runtime\.cgocallback;(runtime\.cgocallbackg[0-9]*;)+_cgoexp_[^;]*_back_work;|runtime\.asmcgocall(;_cgo_[^;]*)?;call_back;back_work/ }
		END { print c + 0 " stacks of C, " back + 0 " of Go in C, " bad + 0 " out of order"; exit bad > 2 || c < 100 || back < 100 }' folded
fi
build env "HOME=$PWD" GOFLAGS=-mod=mod GO111MODULE=off go build -o go-program garbage.go
claim "Go with garbage, some on the system stack of a thread" 40 '^main\.inner_work ^main\.main ^main\.outer_work' ./go-program
build javac -d . P.java
for option in -Xint -XX:TieredStopAtLevel=1 -XX:+TieredCompilation; do
	claim "Java $option" 90 'P[.:]+inner_work P[.:]+main P[.:]+outer_work' java $option -cp . P
done
built=yes
claim node 95 'inner_work outer_work' node --perf-basic-prof --interpreted-frames-native-stack --no-turbo-inlining p.js
claim "node without an option" 95 - node p.js
unproven "PHP with its tracing compiler" 30 '^TRACE zend_execute_scripts' php -d opcache.enable_cli=1 -d opcache.jit_buffer_size=64M -d opcache.jit=tracing -d opcache.jit_debug=16 p.php
claim "PHP, interpreted" 95 '^execute_ex zend_execute_scripts' php p.php
claim Ruby 90 '^rb_yield ^ruby_(run_node|options)' ruby p.rb
unproven "Ruby --yjit" 60 '\.map\]_\[j\] ^ruby_(run_node|options)' ruby --yjit p.rb
build mcs p.cs
unproven Mono 30 'P:inner_work P:Main P:outer_work' mono --jitmap p.exe
build erlc p.erl
unproven "Erlang +JPperf true" 30 'p:inner_work p:main p:outer_work' erl +S 1 +JPperf true -noshell -s p main
unproven Erlang 30 - erl +S 1 -noshell -s p main
built=yes
# the interpreter itself, not a script in its place that looks for it
claim CPython 95 - "$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null || echo python3)" p.py
pythons="python3 /usr/bin/python3.1[3-9] $HOME/.pyenv/versions/3.1[2-9]*/bin/python3"
if [ "$HOME" != /root ]; then pythons="$pythons /root/.pyenv/versions/3.1[2-9]*/bin/python3"; fi
for python in $pythons; do
	for option in perf perf_jit; do
		if [ -x "$(command -v "$python")" ] &&
			"$python" -X "$option" -c 'import sys; sys.exit(sys.version_info < (3, 12) or not sys.is_stack_trampoline_active())' 2>/dev/null; then
			claim "$("$python" --version) -X $option" 95 'py::inner_work py::<module> py::outer_work py::outer_work.<locals>.<lambda>' \
				"$python" -X "$option" p.py
		fi
	done
done

# Releases of Debian, unpacked: their trampolines begin with endbr64, those of 3.13.18, 3.14 and 3.15 keep a frame pointer.
for python in "${PJ_CPYTHONS:-/var/tmp/pj-cpython}"/*/usr/bin/python3.1[2-9]; do
	root=${python%/usr/bin/*}
	# root runs no programs that others unpacked
	if [ -O "$(dirname "$root")" ] && [ -x "$python" ] && [ -x "$root/lib64/ld-linux-x86-64.so.2" ]; then
		for option in perf perf_jit; do
			claim "$(basename "$root"), $(basename "$python") -X $option" 95 \
				'py::inner_work py::<module> py::outer_work py::outer_work.<locals>.<lambda>' env PYTHONHOME="$root/usr" \
				"$root/lib64/ld-linux-x86-64.so.2" --library-path "$root/usr/lib/x86_64-linux-gnu" "$python" -X "$option" p.py
		done
	fi
done

# Trampolines like those of CPython, of a program with its name; and code that differs from them by one instruction, behind which callers are
# unknown.
cat >trampoline.c <<'X'
#include <string.h>
#include <sys/mman.h>
#include <time.h>
static volatile unsigned long sum;
typedef void work(long n, long, long, void *callee);
__attribute__((noinline)) static void inner_work(long n) { while (n--) sum += n * n; }
__attribute__((noinline)) static void outer_work(work *trampoline, long n) { trampoline(n, 0, 0, (void *)inner_work); sum++; }
#define CODE(name, text) __asm__(".pushsection .rodata\n" #name ":" text "\n" #name "_end: .byte 0\n.popsection"); extern const char name[], name##_end[]
CODE(plain, "sub $8,%rsp;call *%rcx;add $8,%rsp;ret");
CODE(protected, "endbr64;sub $8,%rsp;call *%rcx;add $8,%rsp;ret");
CODE(pointer, "endbr64;push %rbp;mov %rsp,%rbp;call *%rcx;pop %rbp;ret");
CODE(other, "sub $8,%rsp;call *%rcx;nop;add $8,%rsp;ret");
int main(int n, char **arg)
{
	const char *start = plain, *end = plain_end;
	char *code = mmap(0, 131072, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (n < 2) return 1;
	if (!strcmp(arg[1], "protected")) start = protected, end = protected_end;
	if (!strcmp(arg[1], "pointer")) start = pointer, end = pointer_end;
	if (!strcmp(arg[1], "other")) start = other, end = other_end;
	for (long at = 0; at + (end - start) <= 131072; at += end - start) memcpy(code + at, start, end - start);
	mprotect(code, 131072, PROT_READ | PROT_EXEC);
	for (long k = 0; clock() < CLOCKS_PER_SEC; k++) outer_work((work *)(code + k % 8192 * (end - start)), 40000);
	return 0;
}
X
mkdir -p trampolines
build cc -O2 -fomit-frame-pointer -o trampolines/python3.12 trampoline.c
for form in plain protected pointer; do
	claim "$form trampolines, in two tables" 98 '^inner_work ^main$ ^outer_work' ./trampolines/python3.12 $form
done
unproven "./trampolines/python3.12 other" 30 '^inner_work ^main$ ^outer_work' ./trampolines/python3.12 other
done_testing
