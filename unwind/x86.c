/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/x86.h"

#include <string.h>

enum { OP_GROUP_5 = 0xff, CALL = 2, MOD_MEMORY = 0, MOD_8 = 1, MOD_32 = 2, MOD_REGISTER = 3, RM_SIB = 4 };

const uint8_t x86_popa[] = {
	0x4c, 0x8b, 0x3c, 0x24, 0x4c, 0x8b, 0x74, 0x24, 0x08, 0x4c, 0x8b, 0x6c, 0x24, 0x10, 0x4c,
	0x8b, 0x64, 0x24, 0x18, 0x4c, 0x8b, 0x5c, 0x24, 0x20, 0x4c, 0x8b, 0x54, 0x24, 0x28, 0x4c,
	0x8b, 0x4c, 0x24, 0x30, 0x4c, 0x8b, 0x44, 0x24, 0x38, 0x48, 0x8b, 0x7c, 0x24, 0x40, 0x48,
	0x8b, 0x74, 0x24, 0x48, 0x48, 0x8b, 0x6c, 0x24, 0x50, 0x48, 0x8b, 0x5c, 0x24, 0x60, 0x48,
	0x8b, 0x54, 0x24, 0x68, 0x48, 0x8b, 0x4c, 0x24, 0x70, 0x48, 0x8b, 0x44, 0x24, 0x78,
};

_Static_assert(sizeof(x86_popa) == X86_POPA_BYTES, "one byte more or less shifts the match");

int x86_mov_rsp_from(const uint8_t code[3])
{
	enum { REX_W = 0x48, REX_WB = 0x49, MOV = 0x8b, RSP_FROM_REGISTER = 0xe0 };

	if ((code[0] != REX_W && code[0] != REX_WB) || code[1] != MOV || x86_opcode(code[2]) != RSP_FROM_REGISTER)
		return -1;
	return (code[2] & 7) | (code[0] & 1) << 3;
}

/* n code bytes to decode; bytes beyond them read as 0. */
struct x86_code {
	const uint8_t *byte;
	size_t n;
};

static uint8_t x86_byte(const struct x86_code *code, uint32_t at)
{
	return at < code->n ? code->byte[at] : 0;
}

/* Returns the length in bytes of ModRM, SIB and displacement at offset `at` if the operand is [rsp + N]; otherwise
 * 0. */
static uint32_t x86_stack_operand(const struct x86_code *code, uint32_t at)
{
	enum { SIB_OF_RSP = 0x24 };
	static const uint8_t bytes[4] = { 2, 3, 6, 0 };
	uint8_t modrm = x86_byte(code, at);

	return (modrm & 7) == RM_SIB && x86_byte(code, at + 1) == SIB_OF_RSP ? bytes[modrm >> 6] : 0;
}

/* Returns the number of instruction bytes before ModRM if the code may be a move between memory and a register;
 * otherwise 0. Sets *after to the number of bytes after the operand. */
static uint32_t x86_move_head(const struct x86_code *code, uint32_t *after)
{
	uint8_t first = x86_byte(code, 0), second = x86_byte(code, 1);
	uint32_t rex = (second & 0xf0) == 0x40;

	*after = 0;
	switch (first) {
	case 0x48: /* mov of a general register; a load of rsp is refused */
	case 0x4c:
		return second == 0x89 || (second == 0x8b && (first == 0x4c || (x86_byte(code, 2) & 0x38) != 0x20)) ? 2 :
														     0;
	case 0xdd: return 1; /* fld, fst of x87 */
	case 0xc5: return 3; /* move of xmm or ymm, with the short VEX prefix */
	case 0xc4:
		/* long VEX prefix; vinsertf128 and vextractf128 end with an immediate byte */
		*after = (second & 0x1f) == 3;
		return 4;
	case 0xf2: /* movsd */
	case 0xf3: /* movss, movdqu */
	case 0x66: return x86_byte(code, 1 + rex) == 0x0f ? 3 + rex : 0;
	default: return 0;
	}
}

uint32_t x86_stack_move_bytes(const uint8_t *code, size_t n)
{
	const struct x86_code move = { code, n };
	uint32_t after, head = x86_move_head(&move, &after), operand = head ? x86_stack_operand(&move, head) : 0;

	return operand ? head + operand + after : 0;
}

bool x86_is_call_before(const uint8_t code[X86_CALL_MAX], int32_t *displacement)
{
	memcpy(displacement, &code[X86_CALL_MAX - 4], sizeof(*displacement));
	return code[X86_CALL_MAX - 5] == X86_OP_CALL;
}

/* Returns true if the n bytes of code are exactly one indirect call FF /2: opcode, ModRM, a SIB byte if rm is 4, and a
 * displacement of 1 or 4 bytes unless the operand is a register. Returns false for an operand in memory without
 * displacement. */
static bool x86_is_indirect_call(const uint8_t *code, unsigned n)
{
	unsigned mod = code[1] >> 6, rm = code[1] & 7;
	unsigned sib = mod != MOD_REGISTER && rm == RM_SIB;

	if (code[0] != OP_GROUP_5 || (code[1] >> 3 & 7) != CALL || mod == MOD_MEMORY)
		return false;
	return n == 2 + sib + (mod == MOD_8 ? 1 : mod == MOD_32 ? 4 : 0);
}

bool x86_is_indirect_call_before(const uint8_t code[X86_CALL_MAX])
{
	for (unsigned n = 2; n <= X86_CALL_MAX; n++)
		if (x86_is_indirect_call(&code[X86_CALL_MAX - n], n))
			return true;
	return false;
}
