/* User registers: changes that show that a thread ran on, and those that do not. */
/* covers: record/syncread/userregs.c */
#include "record/syncread/userregs.h"
#include "test/lib/tap.h"

/* Registers of x86-64 in perf's order. */
enum { AX, BX, CX, DX, SI, DI, BP, SP, IP, R8, R9, R10, R11, R12, R13, R14, R15, REGISTERS };

static const struct userregs none;

static struct userregs hash_of(const uint64_t *value)
{
	return userregs_of(&processor_x86_64, value, REGISTERS);
}

static void fill(uint64_t *value)
{
	for (uint64_t i = 0; i < REGISTERS; i++)
		value[i] = 0x1000 + i;
}

static void lose_saved(uint64_t *value)
{
	value[BX] = value[R12] = value[R13] = value[R14] = value[R15] = UINT64_MAX;
}

static bool are_selected(const struct processor *processor)
{
	return (processor->perf_entry & ~processor->perf) == 0 && !(processor->perf_entry >> processor->perf_ip & 1);
}

int main(void)
{
	uint64_t value[REGISTERS], other[REGISTERS];
	unsigned seen = 0, seen_in_kernel = 0;
	struct userregs a, b;

	fill(value);
	a = hash_of(value);
	ok(userregs_same(&a, &a, false) && userregs_same(&a, &a, true), "the same registers");
	for (unsigned i = 0; i < REGISTERS; i++) {
		fill(other);
		other[i]++;
		b = hash_of(other);
		seen += !userregs_same(&a, &b, false);
		seen_in_kernel += !userregs_same(&a, &b, true);
	}
	is_u64(seen, REGISTERS - 1, "a change of each register is seen, but for the instruction pointer");
	is_u64(seen_in_kernel, REGISTERS - 1, "at a sample in kernel mode, but for the result of a system call");
	fill(other);
	other[AX] = 5;
	b = hash_of(other);
	ok(userregs_same(&b, &a, true) && !userregs_same(&b, &a, false), "the end of a system call");
	lose_saved(other);
	b = hash_of(other);
	ok(userregs_same(&b, &a, true), "a sample from an NMI in a system call, and its end");
	ok(userregs_same(&a, &b, false), "a kernel that lacks the callee-saved registers when a thread leaves");
	seen = 0;
	for (unsigned i = 0; i < REGISTERS; i++) {
		fill(other);
		other[i]++;
		lose_saved(other);
		b = hash_of(other);
		seen += !userregs_same(&a, &b, false);
	}
	is_u64(seen, 8, "  a change is seen of those that it has and a system call keeps");
	fill(other);
	lose_saved(other);
	other[SP]++;
	b = hash_of(other);
	ok(!userregs_same(&a, &b, false) && !userregs_same(&a, &b, true), "  another stack pointer is seen there, too");
	ok(!userregs_same(&a, &none, false) && !userregs_same(&none, &none, true),
	   "unknown registers are not the same");
	b = userregs_of(&processor_x86_64, value, REGISTERS - 1);
	ok(!b.all && !b.entry, "a register too few");
	ok(are_selected(&processor_x86_64) && are_selected(&processor_aarch64),
	   "the registers that a system call keeps are sampled");
	return done();
}
