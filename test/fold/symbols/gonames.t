#!/bin/sh
# gonames.t - names of stripped Go programs: at each function of nm, at three addresses each, the names of the program that is not
# stripped; and at each instruction the inlined calls that its debug information has. Static, of variable address, and with cgo.
# full: links eight Go programs
# full-san: 30 s with sanitizers
# covers: common/formats/gotable.c common/formats/gomodule.c fold/symbols/gosyms.c fold/symbols/goinlines.c record/symsaver/elfreducer.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
LC_ALL=C
export LC_ALL
names=$PJ_BUILD/test/fold/symbols/names
go=${PJ_GO:-go}
HOME=$scratch GOFLAGS=-mod=mod GO111MODULE=off GOCACHE=${PJ_GOCACHE:-$scratch/cache}
export HOME GOFLAGS GO111MODULE GOCACHE

[ -x "$names" ] || skip_all "test/fold/symbols/names is not built"
for tool in "$go" readelf objcopy; do
	have "$tool" || skip_all "$tool is not installed"
done

mkdir plain cgo
cat >plain/p.go <<'X'
package main

import (
	"fmt"
	"sort"
	"strings"
)

type number interface{ ~int | ~float64 }
type point struct{ x, y int }
type shape interface{ area() int }

func (p point) area() int   { return square(p.x) * abs(p.y) }
func (p *point) move(n int) { p.x += n }
func square(n int) int      { return n * n }
func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}

//go:noinline
func total[T number](list []T) T {
	var sum T
	for _, n := range list {
		sum = add(sum, n)
	}
	return sum
}
func add[T number](a, b T) T { return a + b }

func main() {
	list := []int{3, 1, 2}
	sort.Slice(list, func(i, j int) bool { return square(list[i]) < square(list[j]) })
	p := &point{1, 2}
	defer func() { p.move(1) }()
	shapes := map[shape]string{*p: "p"}
	fmt.Println(total(list), total([]float64{1, 2}), shapes, strings.ToUpper("x"))
}
X
sed 's/^import (/\/\/ static int twice(int n) { return 2 * n; }\nimport "C"\n&/; s/fmt.Println(/&C.twice(2), /' plain/p.go >cgo/p.go

# places FILE: offsets in FILE of the first byte, the middle and the last byte of each function of its .symtab that nm lists as code
places()
{
	# shellcheck disable=SC2046 # three numbers
	set -- "$1" $(readelf -SW "$1" | sed 's/^ *\[ *[0-9]*\] *//' | awk '$1 == ".text" { print $3, $4, $5 }')
	readelf -sW "$1" | awk -v addr="$2" -v off="$3" -v size="$4" '
		function hex(s,  i, v) { v = 0; for (i = 1; i <= length(s); i++) v = v * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1; return v }
		BEGIN { a = hex(addr); o = hex(off); n = hex(size) }
		$4 == "FUNC" && $7 != "UND" && $3 > 0 {
			v = hex($2) - a
			if (v >= 0 && v < n) printf "%x\n%x\n%x\n", v + o, v + o + int($3 / 2), v + o + $3 - 1
		}' | sort -u
}

# instructions FILE: offsets in FILE of every seventh instruction of .text
instructions()
{
	# shellcheck disable=SC2046 # two numbers
	set -- "$1" $(readelf -SW "$1" | sed 's/^ *\[ *[0-9]*\] *//' | awk '$1 == ".text" { print $3, $4 }')
	objdump -d --no-show-raw-insn -j .text "$1" | sed -n 's/^ *\([0-9a-f]*\):.*/\1/p' | awk -v addr="$2" -v off="$3" '
		function hex(s,  i, v) { v = 0; for (i = 1; i <= length(s); i++) v = v * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1; return v }
		BEGIN { a = hex(addr); o = hex(off) }
		NR % 7 == 0 { printf "%x\n", hex($1) - a + o }'
}

# known FILE FIELD: the lines of FILE whose address has a name in the program with symbols, and is no code of C. The table has
# neither type arguments nor the linker's mark of a function with another calling convention.
known()
{
	awk -F'[ +|]' 'NR == FNR { if ($2 !~ /unknown/ && $2 !~ /^(_?x?_?cgo_|_start|_init|_fini|_dl_|deregister|register|frame_dummy|__|fatalf|main$|threadentry|crosscall1|pthread_|runtime[.]etext)/) is[$1]; next } $1 in is' unstripped.names "$1" |
		sed 's/\.abi0+/+/; s/\[[^|]*\]/[...]/g'
}

# compare NAME FOLDER OPTION...: a program with its symbols, and one without them
compare()
{
	title=$1 folder=$2
	shift 2
	if ! (cd "$folder" && "$go" build "$@" -o ../unstripped p.go && "$go" build "$@" -ldflags '-s -w' -o ../stripped p.go) >why 2>&1; then
		skip "$title" "it does not link: $(tail -n 1 why)"
		return
	fi
	places unstripped >spots
	"$names" unstripped <spots >unstripped.names
	"$names" stripped <spots >stripped.names
	known unstripped.names >want
	known stripped.names >got
	count=$(wc -l <want)
	if [ "$count" -gt 3000 ] && cmp -s want got; then pass "$title: $count names"; else diff want got >other; fail "$title: $count names" other; fi
	if [ -z "$*" ]; then reduced "$title"; fi
	is "$title: perf names none" "$("$names" -p stripped <spots | grep -v unknown | grep -c "main\.")" 0
	if [ "$lines" = yes ]; then inlined "$title"; fi
}

# reduced NAME: what pjrecord keeps of the program has the same names
reduced()
{
	"$PJ_BUILD/test/record/symsaver/reduce" stripped small >why 2>&1
	"$names" small <spots >small.names
	same "$1: names of the copy in the symbol store" stripped.names small.names
}

# inlined NAME: the inlined calls of both programs
inlined()
{
	instructions unstripped >spots
	"$names" -i -d - "$scratch/unstripped" <spots >unstripped.names 2>why
	"$names" -i -d - "$scratch/stripped" <spots >stripped.names 2>>why
	# Go 1.19 writes no debug information for calls in wrappers of methods
	known unstripped.names | grep -v ' runtime\.(\*' >want
	known stripped.names | grep -v ' runtime\.(\*' >got
	count=$(grep -c '|' want)
	if [ "$count" -gt 1000 ] && cmp -s want got; then
		pass "$1: $count of $(wc -l <want) instructions in inlined calls"
	else
		diff want got >other
		fail "$1: $count of $(wc -l <want) instructions in inlined calls" other why
	fi
}

lines=yes
have objdump || lines="objdump is not installed"
if pjfold --inline /dev/null 2>&1 | grep -q 'built without libdw'; then lines="built without libdw"; fi
[ "$lines" = yes ] || skip "inlined calls" "$lines"
compare static plain
compare "variable address" plain -buildmode=pie
compare cgo cgo
compare "cgo, variable address" cgo -buildmode=pie
done_testing
