#!/bin/sh
# troubles.t - prepared troubles, each really recorded: the summary sentence names it, and its advice, followed, mends it.
#
# Losses are in the case `sentence`, as those of a live ring depend on the machine; hung file systems in test/hostile/hungfold.t.
# stage: live
# covers: fold/troubles.c fold/summary.c common/formats/judgement.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=test/lib/jvm.sh
. "$(dirname "$0")/../lib/jvm.sh"
LC_ALL=C
export LC_ALL

have pjrecord || skip_all "pjrecord is not built"
have cc || skip_all "no compiler for the loads"
ok "the load compiles" cc -O1 -g -fno-omit-frame-pointer -o good "$top/test/record/burn.c"
cc -O1 -g -fomit-frame-pointer -o plain "$top/test/record/burn.c"
pjrecord -q -F 999 -o good.data -- ./good cpu 1 2>why || skip_all "perf events are not allowed here: $(head -n 1 why)"

# record FILE OPTION... -- COMMAND
record()
{
	file=$1
	shift
	pjrecord -q -F 999 -o "$file" "$@" >/dev/null 2>record.err
}

# said PATTERN FILE [OPTION...]: the one line of pjfold has it
said()
{
	pattern=$1
	shift
	pjfold "$@" >/dev/null 2>said
	[ "$(grep -c . said)" = 1 ] && grep -qE "$pattern" said
}

# trouble NAME PATTERN FILE [OPTION...]
trouble()
{
	name=$1
	shift
	if said "$@"; then pass "$name"; else fail "$name" said; fi
}

# mended NAME PATTERN FILE [OPTION...]: the sentence has not that trouble
mended()
{
	name=$1
	shift
	if ! said "$@" && grep -qE '^pjfold: [0-9,]* samples?, ' said; then pass "$name"; else fail "$name" said; fi
}

# named FILE [OPTION...]: percent of frames with names
named()
{
	pjfold --unresolved "$@" 2>/dev/null | awk 'NR > 1 { sub(/%/, "", $2); sum += $2 } END { printf "%d", 100 - sum }'
}

trouble "a profile without trouble has none" ' of stacks complete, (100|99[.][0-9]) % of frames named$' good.data
is "  none with --quiet" "$(pjfold -q good.data 2>&1 >/dev/null)" ""
ok "  counts with --verbose" sh -c 'pjfold -v good.data 2>&1 >/dev/null | grep -q "^pjfold: [0-9]* samples of .* frames resolved"'

cp good stripped && strip stripped
record stripped.data -- ./stripped cpu 0.3
trouble "a stripped program" 'frames without names: stripped is stripped \(a build without -s' stripped.data
mended "  a build that is not: not stripped" 'is stripped' good.data
ok "  more frames have names" [ "$(named stripped.data)" -lt "$(named good.data)" ]

record few.data -F 20 -- ./good cpu 0.5
trouble "too few samples" 'too few samples to judge \(a longer recording or a higher frequency' few.data
mended "  a higher frequency" 'too few' good.data

record deep.data --stack-size=1K --unwind=tables -- ./plain deep 100 0.3
trouble "truncated stacks" 'stacks truncated: longer than the stack copy \(a larger --stack-size' deep.data
record deeper.data --stack-size=24K --unwind=tables -- ./plain deep 100 0.3
mended "  a larger stack copy" 'truncated' deeper.data

limit=$(cat /proc/sys/kernel/perf_event_max_stack 2>/dev/null || echo 0)
if [ "$limit" = 127 ]; then
	record limit.data --unwind=fp -- ./good deep 300 0.3
	trouble "the kernel's limit of frames" "stacks truncated: deeper than the kernel's limit \\(a larger sysctl" limit.data
else
	skip "the kernel's limit of frames" "kernel.perf_event_max_stack is $limit"
fi

# whose loop has rbp = 0, so no sample has a caller
if [ "$(uname -m)" = x86_64 ]; then
	cat >alone.c <<'X'
#include <sys/time.h>
__attribute__((noinline)) void spin(void)
{
	setitimer(ITIMER_PROF, &(struct itimerval){ .it_value = { .tv_usec = 300000 } }, 0); /* of CPU time */
	__asm__ volatile("xor %ebp,%ebp\n1: jmp 1b");
}
int main(void)
{
	spin();
}
X
	cc -O1 -fomit-frame-pointer -o alone alone.c
	record alone.data --unwind=fp -e cpu-clock:u -- ./alone
	trouble "frame pointers only, and none" 'stacks broken: alone was unwound by frame pointers' alone.data
else
	skip "frame pointers only, and none" "x86-64 only"
fi
record fp.data --unwind=fp -- ./plain deep 20 0.3
trouble "frame pointers only" 'stacks broken: plain was unwound by frame pointers' fp.data
record tables.data -- ./plain deep 20 0.3
mended "  unwind tables" 'broken' tables.data

# stacks that are broken by design: each has its reason, and its own processes
if have go; then
	cat >garbage.go <<'X'
package main

import "fmt"

func main() {
	s := 0
	for i := 0; i < 1500000; i++ {
		s += len(make([]*int, i%300+s%2))
	}
	fmt.Println(s)
}
X
	ok "a Go program compiles" env "HOME=$PWD" GOFLAGS=-mod=mod GO111MODULE=off go build -o garbage garbage.go
	record go.data --unwind=tables -- ./garbage
	pjfold -v go.data >folded 2>/dev/null
	if grep -qE 'garbage;runtime\.(systemstack|mcall)' folded; then
		trouble "a Go program on the stack of a thread" "stacks broken: garbage changed to another stack in Go's runtime, where unwinding ends" go.data
		ok "  as pjrecord reports" sh -c 'pjrecord -F 999 --unwind=tables -o go.data -- ./garbage 2>&1 | grep -q "stacks broken: garbage changed to another stack"'
		ok "  with a number" sh -c 'pjfold --info go.data | grep -q "% where Go changes to another stack"'
	else
		skip "a Go program on the stack of a thread" "it was not sampled there"
	fi
else
	skip "a Go program on the stack of a thread" "no Go here"
fi
if [ "$(id -u)" = 0 ]; then
	sh -c 'while :; do /bin/true; done' &
	execs=$!
	record exec.data -s 2
	kill $execs
	wait $execs 2>/dev/null
	pjfold -v exec.data 2>judged >/dev/null
	if pjfold --info exec.data | grep -q '% in exec or exit'; then
		ok "programs sampled in exec" grep -q 'stacks broken: .* sampled in exec or exit (no action needed' judged
	else
		skip "programs sampled in exec" "none was"
	fi
else
	skip "programs sampled in exec" "needs root"
fi

cp good gone
record gone.data -- ./gone cpu 0.3
rm gone
trouble "a program that was removed" 'frames without names: gone was not found \(pjrecord -d DIR' gone.data
# the symbol store keeps the symbols of files of other mount namespaces, and of files that end
cp good gone
mv gone replaced && record replaced.data -- ./replaced cpu 0.3
cp plain replaced
trouble "one that was replaced" 'frames without names: replaced (was replaced by another build|was not found)' replaced.data

if [ "$(id -u)" = 0 ] && have setpriv; then
	cp good secret && chmod 700 secret && chmod 755 . && chmod 644 good.data
	record secret.data -- ./secret cpu 0.3
	chmod 644 secret.data
	setpriv --reuid=65534 --regid=65534 --clear-groups "$(command -v pjfold)" secret.data >/dev/null 2>said
	if grep -q 'cannot open' said; then
		skip "a file that may not be read" "its folder may not be read"
	elif grep -qE 'frames without names: secret (may not be read by this user|was not found)' said; then
		pass "a file that may not be read"
	else
		fail "a file that may not be read" said
	fi
	mended "  folding as root" 'secret' secret.data
else
	skip "a file that may not be read" "needs root"
	skip "  folding as root" "needs root"
fi

# user COMMAND...: as a user without rights
user()
{
	setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}
record kernel.data -- dd if=/dev/zero of=/dev/null bs=4M count=1000
chmod 644 kernel.data
if [ "$(id -u)" = 0 ] && have setpriv && [ "$(user cut -c 1-16 /proc/kallsyms | sort -u)" = 0000000000000000 ] &&
	pjfold -q kernel.data 2>/dev/null | grep -q '_\[k\]'; then
	user "$(command -v pjfold)" -v <kernel.data 2>said >/dev/null
	if grep -q 'of the kernel and without names: addresses are hidden (run as root' said; then
		pass "kernel addresses are hidden"
	else
		fail "kernel addresses are hidden" said
	fi
	mended "  folding as root" 'addresses are hidden' kernel.data
else
	skip "kernel addresses are hidden" "they are not, or the kernel is not sampled here"
	skip "  folding as root" "they are not, or the kernel is not sampled here"
fi

if have node; then
	fib='function f(n) { return n < 2 ? 1 : f(n - 1) + f(n - 2) } while (process.cpuUsage().user < 700000) f(22)'
	record node.data --interpreters=off -- node -e "$fib"
	trouble "node" 'frames without names: node [0-9]+ has no perf map \(node --perf-basic-prof helps\)' node.data
	record node2.data --interpreters=off -- node --perf-basic-prof -e "$fib"
	mended "  --perf-basic-prof" 'has no perf map' node2.data
	ok "  more frames have names" [ "$(named node.data)" -lt "$(named node2.data)" ]
	# New functions all the time: many stacks are not read with certainty, some of them with code of the JIT.
	churn='function u(n){let s=0;for(let i=0;i<n;i++)s+=Math.sqrt(i%7);return s}
const e=Date.now()+1500;let t=0;while(Date.now()<e){t+=eval("(function h"+(t|0)%97+"(n){return u(n)})")(500)}'
	record node3.data -- node -e "$churn"
	pjfold -v node3.data 2>said >node3.folded
	want=$(awk '/^#/ { next } { all += $NF } /;Builtins_InterpreterEntryTrampoline/ && !/_\[0\]/ { n += $NF }
		END { printf "%d", 100 * n / all }' node3.folded)
	got=$(sed -n 's/.*[ ;]\([0-9]*\)[.0-9]* % of samples in an interpreter: node was not read.*/\1/p' said)
	if [ "$want" -ge 3 ]; then
		ok "  samples that were not read are counted, with code of the JIT, too ($want %: $got %)" [ "${got:-0}" -ge $((want - 2)) ]
	else
		skip "  samples that were not read" "almost all were read"
	fi
else
	skip "node" "node is not installed"
fi

# interpreter NAME PATTERN COMMAND...: recorded as by a user without the right to read interpreters
interpreter()
{
	name=$1 pattern=$2
	shift 2
	have "$1" || { skip "$name" "$1 is not installed"; return; }
	record "$name.data" --interpreters=off -- "$@"
	trouble "$name" "samples in an interpreter: $pattern" "$name.data"
}
interpreter Python 'python3[^ ]* does not name its Python functions \(pjflame or pjrecord, as root with CAP_SYS_NICE on x86-64, or Python 3.12' python3 -S -c 'for i in range(10000000): pass'
# The advice for Python is another one for those who did this already, or for whom it does not help.
python=$(python3 -S -c 'import os, sys; print(os.path.realpath(sys.executable))' 2>/dev/null)
if [ -n "$python" ]; then
	record fp.data --unwind=fp -- "$python" -S -c 'for i in range(10000000): pass'
	pjfold -v fp.data >/dev/null 2>said # its broken stacks come first
	if grep -qE 'in an interpreter: python3[^ ]* does not name its Python functions \(pjflame or pjrecord without --unwind=fp, as root with CAP_SYS_NICE on x86-64, or Python 3.12' said; then
		pass "Python by frame pointers"
	else
		fail "Python by frame pointers" said
	fi
	if [ "$(id -u)" = 0 ] && pjrecord --check -d . 2>/dev/null | grep -q '^ok *interpreters'; then
		record read.data -- "$python" -S -c 'for i in range(30000000): pass'
		mended "  pjrecord as root" 'python3[^ ]* does not name' read.data
		# Only files named python3* and libpython3* are read. A preloaded library takes the place of one with its SONAME.
		cp "$python" snake
		library=$(ldd ./snake 2>/dev/null | awk '$1 ~ /^libpython3/ { print $3 }')
		if [ -n "$library" ]; then cp "$library" snakelib.so; fi
		record snake.data -- env ${library:+"LD_PRELOAD=$PWD/snakelib.so"} ./snake -S -c 'for i in range(10000000): pass'
		if pjfold -q snake.data 2>/dev/null | grep -q '_PyEval_EvalFrameDefault'; then
			trouble "Python that pjrecord does not read: no advice" 'in an interpreter: snake was not read, or not with certainty$' snake.data
		else
			skip "Python that pjrecord does not read: no advice" "a copy of it does not run, or is stripped"
		fi
	else
		skip "  pjrecord as root" "interpreters cannot be read here"
	fi
else
	skip "Python by frame pointers" "python3 is not installed"
fi
# shellcheck disable=SC2016 # of Perl and PHP
interpreter Perl 'perl does not name its Perl functions' perl -e 'for ($i = 0; $i < 5000000; $i++) { $x += $i }'
interpreter Ruby 'ruby[^ ]* does not name its Ruby methods' ruby -e 'i = 0; while i < 12000000; i += 1; end'
# shellcheck disable=SC2016
interpreter PHP 'php[^ ]* does not name its PHP functions' php -n -r 'for ($i = 0; $i < 40000000; $i++) { $x = $i; }'

jdk=${jdks##* }
if [ -n "$jdk" ] && [ -n "$javac" ]; then
	cat >Spin.java <<'END'
public class Spin {
	static volatile long x;
	static void inner() { for (int i = 0; i < 100000; i++) x += i; }
	public static void main(String[] a) { long end = System.nanoTime() + Long.parseLong(a[0]); while (System.nanoTime() < end) inner(); }
}
END
	"$javac" --release 8 -d . Spin.java 2>/dev/null || "$javac" -d . Spin.java
	record java.data --unwind=fp -- "$jdk/bin/java" -XX:+PreserveFramePointer -XX:+UseSerialGC -cp . Spin 1500000000
	trouble "Java by frame pointers, which it may not keep" \
		'stacks of unknown completeness: java was unwound by frame pointers, which its code may not keep \(pjrecord' java.data
	pjfold -v java.data >/dev/null 2>said
	ok "a JVM that has ended" grep -qE 'frames without names: java [0-9]+ is a JVM that has ended \(recording with pjrecord' said
	record java2.data -- "$jdk/bin/java" -XX:+UseSerialGC -cp . Spin 3000000000
	mended "  names in the recording" 'JVM' java2.data
else
	skip "Java by frame pointers, which it may not keep" "no JDK"
	skip "a JVM that has ended" "no JDK"
	skip "  names in the recording" "no JDK"
fi
done_testing
