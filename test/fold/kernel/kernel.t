#!/bin/sh
# kernel.t - names of a kernel that is not running, from its ELF file: a small one, linked elsewhere than it was recorded.
# covers: fold/kernel/kernelsyms.c fold/symbols/symtab.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
LC_ALL=C
HOME=$scratch
export LC_ALL HOME
perf=${PJ_PERF:-perf}
write=${PJ_BUILD:-$top/build/std-cc}/test/fold/perfdata/write

have pjfold && [ -x "$write" ] || skip_all "pjfold, or the writer, is not built"
have as && have ld && have objcopy || skip_all "binutils are not installed"
[ "$(uname -m)" = x86_64 ] || skip_all "only for x86-64 so far"

# The file says: kernel 6.1.0, build-id 000102..., _text at 0xffffffff81000000.
"$write" >in.data
id=0x000102030405060708090a0b0c0d0e0f10111213
cat >kernel.s <<'S'
	.text
	.globl _text, first, second, third
_text:
	.type first, @function
first:	.skip 0x40000, 0x90
	.size first, .-first
	.type second, @function
second:	.skip 0x40000, 0x90
	.size second, .-second
	.type _RNvCs1_5third, @function
_RNvCs1_5third: .skip 0x80000, 0x90
	.size _RNvCs1_5third, .-_RNvCs1_5third
S
as -o kernel.o kernel.s && ld -o vmlinux -Ttext=0xffffffff80200000 --build-id=$id -e _text kernel.o &&
	ld -o other -Ttext=0xffffffff80200000 --build-id=0xff0102030405060708090a0b0c0d0e0f10111213 -e _text kernel.o ||
	skip_all "a kernel cannot be linked here"
objcopy --strip-all vmlinux stripped

# folded: weights of the kernel's functions
folded()
{
	pjfold -q "$@" in.data 2>err | grep -o '[^;]*_\[k\]' | sort | uniq -c
}

is "no table of it" "$(folded | awk '{ print $2 }')" "[kernel.kallsyms]_[k]"
pjfold -v in.data 2>err >/dev/null
ok "  the reason" grep -q 'no kernel symbols: recorded with another kernel: give its kallsyms or vmlinux by --kallsyms' err
folded --kallsyms vmlinux >named
is "--kallsyms names a vmlinux" "$(awk '$2 !~ /kallsyms/ { print $2 }' named | tr '\n' ' ')" "_RNvCs1_5third_[k] first_[k] second_[k] "
for place in boot/vmlinux-6.1.0 usr/lib/debug/boot/vmlinux-6.1.0 lib/modules/6.1.0/build/vmlinux usr/lib/debug/lib/modules/6.1.0/vmlinux \
	boot/vmlinux; do
	mkdir -p "root/${place%/*}"
	cp vmlinux "root/$place"
	folded --symfs root >found
	same "--symfs DIR: DIR/$place" named found
	cp other "root/$place"
	folded --symfs root >found
	is "  of another build: not used" "$(awk '{ print $2 }' found)" "[kernel.kallsyms]_[k]"
	rm "root/$place"
done
mkdir -p .debug/.build-id/00/0102030405060708090a0b0c0d0e0f10111213
cp vmlinux .debug/.build-id/00/0102030405060708090a0b0c0d0e0f10111213/vmlinux
folded >found
same "perf's cache of files" named found
rm -r .debug
pjfold -v --kallsyms other in.data >out 2>err
is "another build by name: an error" "$?" 1
ok "  with the reason" grep -q "cannot use 'other': its build-id differs from the recorded kernel's" err
ok "  and no output" test ! -s out
pjfold -v --kallsyms stripped in.data >out 2>err
is "stripped: an error" "$? $(sed -n "s/.*cannot use 'stripped': //p" err)" "1 stripped"
head -c 3000 vmlinux >early
pjfold -v --kallsyms early in.data >out 2>err
is "a file that ends early: an error" "$?" 1
mkfifo root/boot/vmlinux-6.1.0
ok "a FIFO in its place" timeout 20 pjfold -q --symfs root in.data

# perf does as much, and says no more
if "$perf" --version >/dev/null 2>&1; then
	"$perf" script -k vmlinux -i in.data -F comm,tid,time,event,ip,sym,dso --no-inline 2>/dev/null | pjfold -q | sort >theirs
	pjfold -q --as-perf --root=thread --kallsyms vmlinux in.data 2>/dev/null | sort >ours
	if grep -q 'second_' theirs; then
		same "perf script -k" theirs ours
	else
		skip "perf script -k" "this perf does not take it"
	fi
else
	skip "perf script -k" "perf is not installed"
fi
done_testing
