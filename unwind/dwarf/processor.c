/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/dwarf/processor.h"

/* value in of_dwarf[] and of_perf[] for a register without a slot */
enum { NO = CFI_NREGS };

const struct processor processor_x86_64 = {
	.of_dwarf = { 0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
		      16, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO },
	/* by perf register number: ax bx cx dx si di bp sp ip flags cs ss ds es fs gs r8-r15 */
	.of_perf = { 0,  3,  2,  1,  4,  5,  6,  7,  NO, NO, NO, NO, NO, NO, NO, NO, 8,  9,  10, 11,
		     12, 13, 14, 15, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO },
	.perf = UINT64_C(0xff01ff),
	.perf_entry = UINT64_C(0x0f00b8), /* dx si di sp r8-r11 */
	.perf_ip = 8,
	.elf = 62,
	.saved = 1U << CFI_RBX | 1U << CFI_RBP | 1U << CFI_RSP | 0xF000,
	.code = UINT64_MAX,
};

/* Aarch64. The slots that short rows describe (cfi_saved) have x19, x29 and x20 to x23. x16 to x18 have slots because
 * linker stubs use them. Addresses of user space have 48 bits by default. */
const struct processor processor_aarch64 = {
	.of_dwarf = { NO, NO, NO, NO,      NO, NO, NO, NO, NO, NO, NO, NO, NO, NO,      NO,     11,
		      8,  9,  10, CFI_RBX, 12, 13, 14, 15, 0,  1,  2,  4,  5,  CFI_RBP, CFI_RA, CFI_RSP },
	/* by perf register number: x0-x28 x29 lr sp pc */
	.of_perf = { NO, NO, NO, NO, NO, NO, NO, NO, NO, NO,      NO,     NO,      NO, NO, NO, 11, 8,  9,  10, CFI_RBX,
		     12, 13, 14, 15, 0,  1,  2,  4,  5,  CFI_RBP, CFI_RA, CFI_RSP, NO, NO, NO, NO, NO, NO, NO, NO },
	.perf = UINT64_C(0x1ffffffff),
	.perf_entry = UINT64_C(0x0fffffffe), /* all registers except x0 and pc */
	.perf_ip = 32,
	.elf = 183,
	.saved = 1U << CFI_RBX | 1U << CFI_RBP | 1U << CFI_RSP | 0xF000 | 0x37,
	.link = true,
	.code = (UINT64_C(1) << 48) - 1,
};

const struct processor *processor_of_elf(uint16_t machine)
{
	return machine == processor_x86_64.elf  ? &processor_x86_64 :
	       machine == processor_aarch64.elf ? &processor_aarch64 :
						  NULL;
}

const struct processor *processor_of_machine(struct str name)
{
	if (str_eq(name, STR("x86_64")))
		return &processor_x86_64;
	return str_eq(name, STR("aarch64")) ? &processor_aarch64 : NULL;
}

const struct processor *processor_here(void)
{
#if defined(__aarch64__)
	return &processor_aarch64;
#elif defined(__x86_64__)
	return &processor_x86_64;
#else
	return NULL;
#endif
}
