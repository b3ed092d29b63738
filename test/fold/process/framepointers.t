#!/bin/sh
# framepointers.t - callchains by frame pointers: which of them pjfold calls complete, for programs whose calls are known. main calls
# outer_work, which calls inner_work, which takes the time.
# stage: live
# covers: fold/process/copiedstack.c fold/stackquality.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
LC_ALL=C
export LC_ALL

have pjrecord && have pjfold || skip_all "pjrecord or pjfold is not built"
[ "$(uname -m)" = x86_64 ] || skip_all "x86-64 only"
have cc || skip_all "no compiler for the loads"
timeout 60 pjrecord -q -o data --unwind=fp -- true 2>said || skip_all "perf events are not allowed here: $(head -n 1 said)"

cat >p.c <<'X'
#include <time.h>
static volatile unsigned long sum;
__attribute__((noinline)) static void inner_work(long n) { while (n--) sum += n * n; }
__attribute__((noinline)) static void outer_work(long n) { inner_work(n); sum++; }
int main(void) { while (clock() < CLOCKS_PER_SEC) outer_work(40000); return 0; }
X

# fold PROGRAM: records the program by frame pointers, folds it, and sets $complete and $unknown to percentages of its stacks
fold()
{
	timeout 120 pjrecord -q -F 997 --unwind=fp -o data -- "./$1" >out 2>err && pjfold -q data >folded 2>>err &&
		pjfold --stacks data >stacks 2>>err || { fail "$1 is recorded and folded" err; return; }
	complete=$(awk '$NF == "(all)" { print int($2) }' stacks)
	unknown=$(awk '$NF == "(all)" { print int($5) }' stacks)
	lacks=$(awk '/;main;/ && /inner_work/ { all += $NF; if (!/outer_work/) n += $NF } END { print all ? int(100 * n / all) : -1 }' folded)
}

# Each function has a frame, the leaf, too.
cc -O0 -o keeps p.c || skip_all "the load does not compile"
fold keeps
is "with frame pointers in all functions, percent of stacks that lack a caller" "$lacks" 0
ok "  most are complete: $complete %" [ "$complete" -ge 90 ]

# gcc and clang omit the frame of the leaf inner_work: rbp is still that of outer_work when it is interrupted, so the callchain has main
# as the next frame.
cc -O2 -fno-omit-frame-pointer -o leaf p.c || skip_all "the load does not compile"
fold leaf
ok "without a frame in the leaf, $lacks % lack a caller, though all reach the start" [ "$lacks" -ge 90 ]
ok "  they are not complete: $complete %" [ "$complete" -le 5 ]
ok "  but unknown: $unknown %" [ "$unknown" -ge 90 ]
pjfold data >/dev/null 2>said
ok "  the sentence names the cause, and what helps" grep -q 'leaf was unwound by frame pointers, which its code may not keep (pjrecord' said

rm -f keeps
cc -O0 -o keeps p.c
fold keeps
rm -f keeps
pjfold --stacks data >stacks 2>err
is "the file is gone, so nothing is known of its code: complete" "$(awk '$NF == "(all)" { print int($2) }' stacks)" 0

# ---- Go: each function with a frame keeps the frame pointer; a leaf without one has that of its caller

# build_go NAME: the program NAME of NAME.go
build_go() { HOME=$scratch GOCACHE=$scratch/go GO111MODULE=off go build -o "$1" "$1.go" >said 2>&1; }

cat >framed.go <<'X'
package main

import "time"

var sum int

//go:noinline
func inner_work(n int) {
	var a [16]int
	for i := 0; i < n; i++ { a[(i+sum)&15] += i * i }
	sum += a[sum&15]
}

//go:noinline
func outer_work(n int) { inner_work(n); sum++ }

func main() { for start := time.Now(); time.Since(start) < time.Second; { outer_work(40000) } }
X
sed 's/var a .*/a := sum/; s/a\[.*\] += i/a += i/; s/a\[sum&15\]/a/' framed.go >frameless.go
# lacks_go: percent of the stacks of inner_work without outer_work
lacks_go() { awk '/inner_work/ { all += $NF; if (!/outer_work/) n += $NF } END { print all ? int(100 * n / all) : -1 }' folded; }
if ! have go; then
	skip "Go" "go is not installed"
elif ! build_go framed || ! build_go frameless; then
	skip "Go" "the loads do not compile: $(head -n 1 said)"
else
	fold framed
	is "Go, a leaf with a frame: percent of stacks that lack a caller" "$(lacks_go)" 0
	ok "  most are complete: $complete %" [ "$complete" -ge 90 ]
	fold frameless
	ok "Go, a leaf without a frame: $(lacks_go) % lack a caller" [ "$(lacks_go)" -ge 90 ]
	ok "  they are not complete: $complete %" [ "$complete" -le 10 ]
fi
done_testing
