#!/bin/sh
# processors.t - stacks of this processor and of aarch64 (compiled for it, run by qemu), unwound here: callers are those that libgcc finds
# there. Interrupted by a timer, anywhere: prologues, epilogues, leaves, PLTs; with and without signed return addresses.
# full: runs programs of aarch64 in an emulator
# covers: unwind/dwarf/processor.c unwind/dwarf/cfiunwind.c unwind/dwarf/cfi.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
LC_ALL=C
export LC_ALL
unwound=${PJ_BUILD:-$top/build/std-cc}/test/unwind/dwarf/unwound

[ -x "$unwound" ] || skip_all "not built: make tests"

# unwinds NAME COMMAND PROGRAM [ROOT]: all samples are the same, and end in the root
unwinds()
{
	# shellcheck disable=SC2086 # a command
	if ! timeout 100 $2 ./"$3" samples 200 2>why; then skip "$1" "does not run: $(head -n 1 why)" && return; fi
	if "$unwound" samples "./$3" "${4:-}" >seen 2>why; then pass "$1: $(tail -n 1 seen)"; else fail "$1" seen why; fi
	folds "$1" "$3" "${4:-}"
}

# folds NAME PROGRAM ROOT: the same samples as perf's, with callchains and with stacks, are the same to pjfold
folds()
{
	# what the program mapped, below one root
	rm -rf sys
	awk '$1 == "object" && $6 ~ "^/" { print $6 } $1 == "sample" { exit }' samples | while read -r object; do
		[ -e "$3$object" ] && mkdir -p "sys${object%/*}" && cp -L "$3$object" "sys$object"
	done
	mkdir -p sys && cp "$2" "sys/$2"
	"$unwound" -c samples "/$2" >chains.data && "$unwound" -s samples "/$2" >stacks.data || { fail "  pjfold: $1" samples; return; }
	pjfold -q --symfs="$PWD/sys" chains.data >chains 2>why
	pjfold -q --symfs="$PWD/sys" stacks.data >stacks 2>>why
	if [ "$(awk '{ all += $NF } END { print all + 0 }' chains)" -ge 150 ] && diff chains stacks >differ; then
		pass "  pjfold: $1: $(wc -l <stacks) stacks"
	else
		fail "  pjfold: $1" why differ
	fi
}

case $(uname -m) in
x86_64 | aarch64)
	if have cc && cc -O2 -o here "$top/test/unwind/dwarf/samples.c"; then
		unwinds "this processor" "" here
		cc -O1 -fno-omit-frame-pointer -o pointers "$top/test/unwind/dwarf/samples.c"
		unwinds "  with frame pointers" "" pointers
	else
		skip "this processor" "no compiler"
	fi ;;
*) skip "this processor" "neither x86-64 nor aarch64" ;;
esac

libraries=/usr/aarch64-linux-gnu
qemu=$(command -v qemu-aarch64-static || command -v qemu-aarch64)
if [ "$(uname -m)" != aarch64 ] && [ -n "$qemu" ] && have aarch64-linux-gnu-gcc && [ -d $libraries/lib ]; then
	for how in "-O2" "-O2 -mbranch-protection=standard" "-O0 -mbranch-protection=pac-ret+b-key" "-Os -mbranch-protection=pac-ret+leaf" \
		"-O2 -fomit-frame-pointer -fno-asynchronous-unwind-tables -g -funwind-tables" "-O3 -static"; do
		# shellcheck disable=SC2086 # options
		aarch64-linux-gnu-gcc $how -o arm "$top/test/unwind/dwarf/samples.c" 2>why || { skip "aarch64 $how" "$(head -n 1 why)"; continue; }
		unwinds "aarch64 $how" "$qemu -L $libraries" arm $libraries
	done
else
	skip "aarch64" "needs qemu-user, gcc-aarch64-linux-gnu and libc6-dev-arm64-cross"
fi
echo "1..$n"
exit $failed
