/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/trampolines.h"

#include "unwind/x86.h"

enum { RBP = 6, RSP = 7, RETURN_ADDRESS = 16 }; /* DWARF register numbers */

enum { CFA_ADVANCE_LOC = 0x40, CFA_OFFSET = 0x80, CFA_RESTORE = 0xc0, CFA_DEF_CFA = 0x0c, CFA_DEF_CFA_OFFSET = 0x0e };
enum { ENCODING_UDATA4 = 3 }; /* DW_EH_PE_udata4: addresses have 4 bytes */

/* Forms of a trampoline, after an optional endbr64, with their rows. */
static const struct form {
	/* code bytes */
	const char *code;
	/* bytes: length of the code; pushed, popped: code offsets between which the return address is at sp + 8;
	 * outside of them it is at sp */
	uint8_t bytes, pushed, popped;
	/* true if the caller's rbp is at sp between `pushed` and `popped` */
	bool saves_rbp;
} forms[] = {
	{ X86_SUB_RSP_8 "\x08" X86_CALL_RCX X86_ADD_RSP_8 "\x08" X86_RET, 11, 4, 10, false },
	{ X86_PUSH_RBP X86_MOV_RBP_RSP_GAS X86_CALL_RCX X86_POP_RBP X86_RET, 8, 1, 7, true },
};

static void trampolines_byte(struct text *out, unsigned byte)
{
	text_char(out, (char)byte);
}

static void trampolines_word(struct text *out, uint64_t value)
{
	text_bytes(out, &value, 4);
}

/* Ends the CFI entry that starts at offset `start`: pads it with zeros (DW_CFA_nop) and sets its length. */
static void trampolines_end(struct text *out, size_t start)
{
	uint32_t length;

	while ((out->n - start) % 4)
		trampolines_byte(out, 0);
	length = (uint32_t)(out->n - start - 4);
	memcpy(out->p + start, &length, sizeof(length));
}

static void put_cie(struct text *out)
{
	trampolines_word(out, 0); /* length; trampolines_end sets it */
	trampolines_word(out, 0); /* id of a CIE */
	text_bytes(out, "\1zR", 4);
	trampolines_byte(out, 1);    /* code alignment factor */
	trampolines_byte(out, 0x78); /* data alignment factor -8, as LEB128 */
	trampolines_byte(out, RETURN_ADDRESS);
	trampolines_byte(out, 1); /* size of the augmentation data */
	trampolines_byte(out, ENCODING_UDATA4);
	text_bytes(out, ((uint8_t[]){ CFA_DEF_CFA, RSP, 8, CFA_OFFSET | RETURN_ADDRESS, 1 }), 5);
	trampolines_end(out, 0);
}

/* Appends the FDE of a trampoline at `address`. before: length of its endbr64 in bytes, 0 if it has none. */
static void put_fde(struct text *out, const struct form *form, uint64_t address, uint8_t before)
{
	size_t start = out->n;

	trampolines_word(out, 0);
	trampolines_word(out, start + 4); /* distance to the CIE, which starts at offset 0 */
	trampolines_word(out, address);
	trampolines_word(out, form->bytes + before);
	trampolines_byte(out, 0); /* size of the augmentation data */
	trampolines_byte(out, CFA_ADVANCE_LOC | (form->pushed + before));
	text_bytes(out, ((uint8_t[]){ CFA_DEF_CFA_OFFSET, 16 }), 2);
	if (form->saves_rbp)
		text_bytes(out, ((uint8_t[]){ CFA_OFFSET | RBP, 2 }), 2);
	trampolines_byte(out, CFA_ADVANCE_LOC | (form->popped - form->pushed));
	text_bytes(out, ((uint8_t[]){ CFA_DEF_CFA_OFFSET, 8 }), 2);
	if (form->saves_rbp)
		trampolines_byte(out, CFA_RESTORE | RBP);
	trampolines_end(out, start);
}

static const struct form *form_of(struct str code)
{
	for (size_t i = 0; i < countof(forms); i++)
		if (code.n >= forms[i].bytes && memcmp(code.p, forms[i].code, forms[i].bytes) == 0)
			return &forms[i];
	return NULL;
}

void trampolines_frames(struct str code, uint64_t address, struct text *out)
{
	size_t end = 0; /* offset after the last trampoline found */

	for (size_t at = 0; at < code.n;) {
		const struct form *form = form_of(str_from(code, at));
		uint8_t before = at >= end + 4 && x86_is(code.p + at - 4, 4, X86_ENDBR64) ? 4 : 0;

		if (!form) {
			at++;
			continue;
		}
		if (!out->n)
			put_cie(out);
		put_fde(out, form, address + at - before, before);
		end = at += form->bytes;
	}
}
