#!/bin/sh
# languages.t - the table of languages in README.md: a program of each runtime that is installed has its functions' names where the table has
# them, with the flag that it names.
# stage: live
# full: starts twenty programs
# full-san: names depend on runtimes, not on the build
# covers: fold/jit/perfmap.c record/java/codenames.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
LC_ALL=C
export LC_ALL
pjrecord -q -o try.data -- true >out 2>why || skip_all "recording is not allowed here: $(head -n 1 why)"

# All programs are one: main calls outer_work, which calls inner_work, which takes the time.
cat >p.c <<'X'
static volatile unsigned long sum;
__attribute__((noinline)) static void inner_work(long n) { while (n--) sum += n * n; }
__attribute__((noinline)) static void outer_work(long n) { inner_work(n); sum++; }
int main(void) { for (int i = 0; i < 100; i++) outer_work(4000000); return 0; }
X
cp p.c p.cc
cat >p.rs <<'X'
use std::hint::black_box;
#[inline(never)] fn inner_work(n: u64) -> u64 { let mut s = 0u64; for i in 0..n { s = black_box(s.wrapping_add(i * i)); } s }
#[inline(never)] fn outer_work(n: u64) -> u64 { inner_work(n) + 1 }
fn main() { let mut s = 0u64; for _ in 0..100 { s = s.wrapping_add(outer_work(4000000)); } println!("{}", s); }
X
cat >p.go <<'X'
package main
import "fmt"
//go:noinline
func inner_work(n int) int { s := 0; for i := 0; i < n; i++ { s += i * i ^ s }; return s }
//go:noinline
func outer_work(n int) int { return inner_work(n) + 1 }
func main() { s := 0; for i := 0; i < 150; i++ { s += outer_work(4000000) }; fmt.Println(s) }
X
cat >P.java <<'X'
public class P {
    static int inner_work(int n) { int s = 0; for (int i = 0; i < n; i++) s += i * i % 7; return s; }
    static int outer_work(int n) { return inner_work(n) + 1; }
    public static void main(String[] a) { int s = 0; for (int k = 0; k < 60; k++) s += outer_work(5000000); System.out.println(s); }
}
X
cat >p.js <<'X'
function inner_work(n) { let s = 0; for (let i = 0; i < n; i++) s = (s + i * i) % 1000003; return s }
function outer_work(n) { return inner_work(n) + 1 }
let s = 0; for (let i = 0; i < 60; i++) s += outer_work(1000000); console.log(s)
X
cat >p.py <<'X'
def inner_work(n):
    s = 0
    for i in range(n): s += i * i
    return s
def outer_work(n): return inner_work(n) + 1
for _ in range(12): outer_work(1000000)
X
cat >p.rb <<'X'
def inner_work(n) s = 0; i = 0; while i < n; s += i * i % 7; i += 1; end; s end
def outer_work(n) inner_work(n) + 1 end
20.times { outer_work(1000000) }
X
cat >p.php <<'X'
<?php
function inner_work($n) { $s = 0; for ($i = 0; $i < $n; $i++) $s += $i % 7; return $s; }
function outer_work($n) { return inner_work($n) + 1; }
for ($k = 0; $k < 60; $k++) outer_work(1000000);
X
cat >p.pl <<'X'
sub inner_work { my $n = shift; my $s = 0; for (my $i = 0; $i < $n; $i++) { $s += $i % 7 } return $s }
sub outer_work { return inner_work(@_) + 1 }
outer_work(1000000) for 1..12;
X
cat >p.cs <<'X'
using System; using System.Runtime.CompilerServices;
class P {
	[MethodImpl(MethodImplOptions.NoInlining)] static int inner_work(int n) { int s = 0; for (int i = 0; i < n; i++) s += i * i % 7; return s; }
	[MethodImpl(MethodImplOptions.NoInlining)] static int outer_work(int n) { return inner_work(n) + 1; }
	static void Main() { int s = 0; for (int k = 0; k < 50; k++) s += outer_work(5000000); Console.WriteLine(s); }
}
X
cat >p.erl <<'X'
-module(p).
-export([main/0, inner_work/2, outer_work/1]).
inner_work(0, S) -> S;
inner_work(N, S) -> inner_work(N - 1, (S + N * N) rem 1000003).
outer_work(N) -> inner_work(N, 0) + 1.
main() -> [outer_work(1000000) || _ <- lists:seq(1, 150)], halt().
X
cat >p.lua <<'X'
function inner_work(n) local s = 0 for i = 1, n do s = s + i % 7 end return s end
function outer_work(n) return inner_work(n) + 1 end
for _ = 1, 20 do outer_work(1000000) end
X

rows=$(sed -n '/^## Languages/,/^## /p' "$top/README.md" | grep '^|')
# row PATTERN: README.md has a line of the table that matches
row()
{
	ok "README.md: $1" sh -c 'printf "%s\n" "$1" | grep -qE -- "$2"' - "$rows" "$1"
}

# share PATTERN: percent of the samples whose stack matches
share()
{
	awk -v pattern="$1" '{ all += $NF; if ($0 ~ pattern) n += $NF } END { printf "%d\n", all ? 100 * n / all : 0 }' folded
}

# try named|called|read|unnamed RUNTIME COMMAND...: named: most samples have the name of the function; called: and that of its caller below it;
# read: so do many, of an interpreter that pjrecord reads;
# unnamed: no sample has it. A word that begins with off-: without the functions that pjrecord reads of interpreters.
try()
{
	want=$1
	runtime=$2
	before=$failed
	failed=0
	shift 2
	interpreters=auto
	case $want in off-*) interpreters=off want=${want#off-} ;; esac
	if ! have "$1" || [ -z "$built" ]; then
		failed=$before
		skip "$runtime" "it is not installed"
		return
	fi
	pjrecord -q -F 499 --interpreters=$interpreters -o data -- "$@" >out 2>err </dev/null && pjfold -q data >folded 2>>err
	case $? in
	0) ;;
	*) fail "$runtime: it runs, and is recorded" err; return ;;
	esac
	inner=$(share 'inner_work')
	case $want in
	named) ok "$runtime: $inner % of the samples have the function" test "$inner" -ge 50 ;;
	called)
		caller=$(share 'outer_work.*;[^;]*inner_work')
		ok "$runtime: $inner % of the samples have the function, $caller % its caller, too" test "$inner" -ge 50 -a "$caller" -ge $((inner * 9 / 10))
		;;
	read)
		caller=$(share 'outer_work.*;[^;]*inner_work')
		# of a short program on a loaded machine 22 % were seen: copies are not certain, and the first moments have none
		ok "$runtime: $inner % of the samples have the function, $caller % its caller, too" test "$inner" -ge 5 -a "$caller" -ge $((inner * 9 / 10))
		;;
	unnamed) is "$runtime: samples with the function" "$inner" 0 ;;
	esac
	if [ $failed = 0 ]; then failed=$before && return; fi
	awk '{ print $NF, $0 }' folded | sort -rn | head -n 3 | cut -c1-300 | sed 's/^/# /'
}

# default PATTERN LANGUAGE COMMAND...: the functions of an interpreter, without an option of its own, where this user may read them and its version,
# in the first lines of COMMAND --version, is one of docs/RUNTIMES.md; and none with --interpreters=off
default()
{
	pattern=$1
	language=$2
	shift 2
	if have "$1"; then try off-unnamed "$language, --interpreters=off" "$@"; fi
	if [ -z "$readable" ]; then
		skip "$language" "interpreters cannot be read here"
	elif have "$1" && ! "$1" --version 2>&1 | grep . | head -n 2 | grep -qE "$pattern"; then
		skip "$language" "of a version that is not read"
	else
		try read "$language" "$@"
	fi
}
readable=
if pjrecord --check -d . 2>/dev/null | grep -q '^ok *interpreters: '; then readable=yes; fi

# build COMMAND...: try skips the program if its compiler is not installed or fails
build()
{
	built=
	if have "$1" && "$@" >build.out 2>&1; then built=yes; fi
}

row '^\| C, C\+\+ .*\| yes'
build cc -O2 -o c-program p.c && try called C ./c-program
build c++ -O2 -o cc-program p.cc && try called C++ ./cc-program
build cc -O2 -s -o stripped p.c && try unnamed "C, stripped" ./stripped
row '^\| Rust .*\| yes'
build rustc -O -o rust-program p.rs && try called Rust ./rust-program
row '^\| Go .*\| yes'
GOFLAGS=-mod=mod GO111MODULE=off
export GOFLAGS GO111MODULE
build env "HOME=$PWD" go build -o go-program p.go && try called Go ./go-program
build env "HOME=$PWD" go build -ldflags '-s -w' -o go-stripped p.go && try called "Go, stripped" ./go-stripped
row '^\| Java.*\| yes'
build javac -d . P.java && try called Java java -cp . P
built=yes
row '^\| node .*as root.*--perf-basic-prof --interpreted-frames-native-stack'
default '^v(16|18|20|22|24|26)\.' "node without a flag" node --no-turbo-inlining p.js
try named "node --perf-basic-prof" node --perf-basic-prof p.js
try called "node --perf-basic-prof --interpreted-frames-native-stack" node --perf-basic-prof --interpreted-frames-native-stack p.js
row '^\| Python .*-X perf.*\| yes \|'
default '^Python 3\.([89]|1[0-5])\.' "Python without a flag" "$(python3 -S -c 'import os, sys; print(os.path.realpath(sys.executable))' 2>/dev/null || echo python3)" p.py
for python in python3 "$HOME"/.pyenv/versions/3.1[2-9]*/bin/python3 /root/.pyenv/versions/3.1[2-9]*/bin/python3; do
	if [ -x "$(command -v "$python")" ] && "$python" -X perf -c 'import sys; sys.exit(0 if sys.version_info >= (3, 12) else 1)' 2>/dev/null; then
		try called "$("$python" --version) -X perf" "$python" -X perf p.py
		break
	fi
done
row '^\| Ruby .*3.1, 3.3 and 3.4.*\| yes \|'
default '^ruby 3\.[134]\.' Ruby ruby p.rb
row '^\| PHP .*8.4.*\| yes \|'
default '^PHP (7\.4|8\.[245])\..*\(NTS|NTS ' PHP php p.php
row '^\| Perl .*5.42.*\| yes \|'
default '\(v5\.(3[2468]|4[02])\.' Perl perl p.pl
row '^\| Lua .*not yet'
try unnamed Lua lua5.4 p.lua
row '^\| Mono .*--jitmap'
build mcs p.cs && try unnamed "Mono without a flag" mono p.exe && try named "mono --jitmap" mono --jitmap p.exe
row '^\| Erlang.*\+JPperf true'
build erlc p.erl && try called "erl +JPperf true" erl +JPperf true -noshell -s p main
done_testing
