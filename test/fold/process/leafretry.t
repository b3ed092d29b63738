#!/bin/sh
# leafretry.t - pjfold completes stacks that end in assembly without unwind tables, as pjrecord does.
# covers: fold/process/copiedstack.c unwind/walk.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
LC_ALL=C
HOME=$scratch
export LC_ALL HOME
perf=${PJ_PERF:-perf}

have pjfold cc "$perf" || skip_all "pjfold, perf or a compiler is missing"

# Assembly beside code with tables. `framed` keeps a frame pointer and has 0, then a return address, at sp; `leafed` has no frame, and
# rbp is 0 there; `pushed` pushes a word that is no return address, so that no assumption leads to its caller.
cat >assembly.c <<'C'
#include <stdlib.h>
#include <time.h>
void framed(void), leafed(void), pushed(void);
__asm__(".text\n.type framed, @function\nframed: push %rbp\nmov %rsp, %rbp\npush %rbx\nsub $24, %rsp\nmovq $0, (%rsp)\nmov $100000, %ecx\n1: dec %ecx\njnz 1b\n"
	"lea framed(%rip), %rax\nmov %rax, (%rsp)\nmov $100000, %ecx\n1: dec %ecx\njnz 1b\nadd $24, %rsp\npop %rbx\npop %rbp\nret\n.size framed, . - framed\n"
	".type leafed, @function\nleafed: mov $200000, %ecx\n1: dec %ecx\njnz 1b\nret\n.size leafed, . - leafed\n"
	".type pushed, @function\npushed: push %rbp\nxor %ebp, %ebp\npushq $12345\nmov $200000, %ecx\n1: dec %ecx\njnz 1b\npop %rax\npop %rbp\nret\n.size pushed, . - pushed\n");
int main(int argc, char **argv)
{
	clock_t until = (argc > 1 ? atoi(argv[1]) : 500) * (CLOCKS_PER_SEC / 1000);

	while (clock() < until) {
		framed();
		leafed();
		pushed();
	}
	return 0;
}
C
cc -O1 -fomit-frame-pointer -o assembly assembly.c || skip_all "no x86-64 compiler"
timeout 60 "$perf" record -B -q -F 499 -e cpu-clock:u --call-graph dwarf,4096 -o data ./assembly 900 >why 2>&1 || skip_all "no --call-graph dwarf here: $(tail -n 1 why)"
pjfold -q data >folded

# reaches FUNCTION PATTERN PERCENT: the function has at least 50 samples, and that share of them, at least, matches the pattern
reaches()
{
	awk -v name=";$1 " -v pattern="$2" -v percent="$3" 'index($0, name) { all += $NF; if ($0 ~ pattern) n += $NF }
		END { print "# " n + 0 " of " all + 0; exit !(all >= 50 && n * 100 >= all * percent) }' folded
}

for name in framed leafed; do
	ok "$name: stacks reach _start" reaches $name "^assembly;_start;.*;main;$name " 98
done
ok "pushed: is sampled" reaches pushed . 100
ok "  and no caller is made up" not reaches pushed ";main;" 1
pjfold -q --as-perf data >as-perf
ok "--as-perf: stacks end where those of perf script end" grep -q '^assembly;leafed [0-9]*$' as-perf
done_testing
