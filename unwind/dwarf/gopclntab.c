/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/dwarf/gopclntab.h"

#include "common/formats/gotable.h"
#include "unwind/dwarf/dwarfbytes.h"

/* MAGIC_18: magic number of the layout of Go 1.18; MAGIC_20: magic number of the layout since Go 1.20. */
#define MAGIC_18 0xfffffff0u
#define MAGIC_20 0xfffffff1u

/* Size of the header in bytes: magic, 2 zero bytes, quantum, size of a pointer, 8 numbers of 8 bytes. */
enum { HEADER = 72 };

/* PCSP: offset of pcsp in struct _func; FLAGS_18 and FLAGS_20: offset of flag in struct _func in the layouts of Go 1.18
 * and of Go 1.20. */
enum { PCSP = 16, FLAGS_18 = 37, FLAGS_20 = 41 };

/* Bits of _func.flag. SP_WRITE: the function changes to another stack, as runtime.systemstack does, so the values of
 * pcsp are wrong there. Root frames are runtime.clone, where threads start, and functions with both bits, such as
 * runtime.rt0_go, where the program starts. So the parent thread loses its callers while it is in clone(2). TOP_FRAME
 * alone does not prove a root frame: runtime.sigtramp has it, although a signal interrupts a caller. */
enum { TOP_FRAME = 1, SP_WRITE = 2 };

/* A function beyond one of these limits gets no FDE. FRAME_MAX: size of a frame in bytes; a Go stack has at most 1 GB.
 * FDE_MAX: instructions of one FDE in bytes. */
#define FRAME_MAX ((int64_t)1 << 30)
#define FDE_MAX ((size_t)1 << 20)

enum { CFA_ADVANCE_LOC = 0x40, CFA_ADVANCE_LOC1 = 2, CFA_ADVANCE_LOC2, CFA_ADVANCE_LOC4, CFA_UNDEFINED = 7 };
enum { CFA_DEF_CFA_OFFSET = 0x0e, RETURN_ADDRESS = 16 };

/* A .gopclntab that gopclntab_open has checked. */
struct pclntab {
	uint64_t text;      /* address of the code */
	uint64_t functions; /* number of functions */
	/* names: names of functions; values: pctab; table: table of functions, followed by the structs _func */
	struct str names, values, table;
	unsigned flags; /* offset of `flag` in struct _func */
};

static uint64_t gopclntab_number(struct str bytes, uint64_t at, unsigned size)
{
	struct dwarf_bytes cursor = dwarf_bytes_of(at < bytes.n ? str_from(bytes, (size_t)at) : (struct str){ 0 });

	return dwarf_uint(&cursor, size);
}

/* Returns the start of function i relative to the code; for i == functions, the end of the last function. */
static uint64_t gopclntab_start(const struct pclntab *tab, uint64_t i)
{
	return gopclntab_number(tab->table, GOTABLE_ENTRY * i, 4);
}

static bool gopclntab_open(struct pclntab *tab, struct str section, uint64_t text)
{
	uint64_t magic = gopclntab_number(section, 0, 4), pointer = gopclntab_number(section, 7, 1),
		 names = gopclntab_number(section, 32, 8), values = gopclntab_number(section, 56, 8),
		 table = gopclntab_number(section, 64, 8);

	if (section.n < HEADER || (magic != MAGIC_18 && magic != MAGIC_20) || pointer != 8 || table >= section.n ||
	    values >= table || names >= table)
		return false;
	*tab = (struct pclntab){ .text = text,
				 .functions = gopclntab_number(section, 8, 8),
				 .names = str_from(str_head(section, (size_t)table), (size_t)names),
				 .values = str_from(str_head(section, (size_t)table), (size_t)values),
				 .table = str_from(section, (size_t)table),
				 .flags = magic == MAGIC_18 ? FLAGS_18 : FLAGS_20 };
	return tab->functions < tab->table.n / GOTABLE_ENTRY;
}

static void gopclntab_advance(struct text *out, uint64_t bytes)
{
	if (bytes < 64) {
		text_char(out, (char)(CFA_ADVANCE_LOC | bytes));
	} else if (bytes < 256) {
		text_char(out, CFA_ADVANCE_LOC1);
		text_bytes(out, &bytes, 1);
	} else if (bytes < 65536) {
		text_char(out, CFA_ADVANCE_LOC2);
		text_bytes(out, &bytes, 2);
	} else {
		text_char(out, CFA_ADVANCE_LOC4);
		text_bytes(out, &bytes, 4);
	}
}

static void gopclntab_uleb(struct text *out, uint64_t value)
{
	for (; value > 127; value >>= 7)
		text_char(out, (char)(value | 128));
	text_char(out, (char)value);
}

/* Appends the CFI instructions for a function of `size` bytes from its pcsp table at offset `at` of pctab. The table is
 * a list of pairs: change of the value, which is -1 at first, and number of code bytes with the new value. Returns
 * false if the table is invalid. */
static bool gopclntab_instructions(const struct pclntab *tab, uint64_t at, uint64_t size, struct text *out)
{
	struct dwarf_bytes bytes =
		dwarf_bytes_of(at < tab->values.n ? str_from(tab->values, (size_t)at) : (struct str){ 0 });
	int64_t value = -1;
	uint64_t done = 0, length = 0;
	size_t start = out->n;

	while (done < size) {
		uint64_t change = dwarf_uleb(&bytes);

		if (change == 0 && done)
			return !bytes.bad; /* end of the table: the rest of the function is padding */
		if (bytes.bad || change > 2 * (uint64_t)FRAME_MAX || out->n - start > FDE_MAX)
			return false;
		value += change & 1 ? -(int64_t)(change >> 1) - 1 : (int64_t)(change >> 1);
		if (value < 0 || value > FRAME_MAX)
			return false;
		if (done)
			gopclntab_advance(out, length);
		text_char(out, CFA_DEF_CFA_OFFSET);
		gopclntab_uleb(out, (uint64_t)value + 8);
		length = dwarf_uleb(&bytes);
		if (bytes.bad || length == 0 || length > size - done)
			return false;
		done += length;
	}
	return true;
}

/* Ends the CFI entry that starts at offset `start` of `out`: pads it to a multiple of 8 bytes and sets its length. */
static void gopclntab_end(struct text *out, size_t start)
{
	uint32_t length;

	while ((out->n - start) % 8)
		text_char(out, 0);
	length = (uint32_t)(out->n - start - 4);
	memcpy(out->p + start, &length, 4);
}

/* Appends the CIE: the CFA is rsp + 8, and the return address is saved at CFA - 8. */
static void gopclntab_cie(struct text *out)
{
	static const char cie[] = "\0\0\0\0\xff\xff\xff\xff\3\0\1\x78\x10\x0c\7\x08\x90\1";

	text_bytes(out, cie, sizeof(cie) - 1);
	gopclntab_end(out, out->n - (sizeof(cie) - 1));
}

/* Returns true if a function is a root frame. place: offset of its struct in tab->table. Sets *skip to true if the
 * function gets no FDE, because it changes to another stack, otherwise to false. */
static bool gopclntab_is_root(const struct pclntab *tab, uint64_t place, bool *skip)
{
	static const struct str clone = STR("runtime.clone");
	uint64_t flags = gopclntab_number(tab->table, place + tab->flags, 1) & (TOP_FRAME | SP_WRITE),
		 name = gopclntab_number(tab->table, place + GOTABLE_NAME, 4);
	bool root = flags == (TOP_FRAME | SP_WRITE);

	if (flags == SP_WRITE && name < tab->names.n && tab->names.n - name > clone.n)
		root = memcmp(tab->names.p + name, clone.p, clone.n + 1) == 0;
	*skip = flags == SP_WRITE && !root;
	return root;
}

/* Appends the FDE of function i, or nothing if the function has no valid values. Returns the number of bytes made,
 * which includes those of an FDE that was dropped as invalid. */
static size_t gopclntab_fde(const struct pclntab *tab, uint64_t i, struct text *out)
{
	uint64_t from = gopclntab_start(tab, i), size = gopclntab_start(tab, i + 1) - from, address = tab->text + from,
		 place = gopclntab_number(tab->table, GOTABLE_ENTRY * i + 4, 4),
		 at = gopclntab_number(tab->table, place + PCSP, 4);
	bool skip, root = gopclntab_is_root(tab, place, &skip);
	size_t start = out->n, made;

	if (at == 0 || skip)
		return 0;
	text_bytes(out, "\0\0\0\0\0\0\0", 8); /* length; offset of the CIE, 0 */
	text_bytes(out, &address, 8);
	text_bytes(out, &size, 8);
	if (root) {
		text_char(out, CFA_UNDEFINED);
		text_char(out, RETURN_ADDRESS);
	}
	if (gopclntab_instructions(tab, at, size, out)) {
		gopclntab_end(out, start);
		return out->n - start;
	}
	made = out->n - start;
	out->n = start;
	return made;
}

void gopclntab_frames(struct str table, uint64_t text, size_t max, struct text *out)
{
	struct pclntab tab;
	size_t start = out->n, made = 0;

	if (!gopclntab_open(&tab, table, text))
		return;
	gopclntab_cie(out);
	for (uint64_t i = 0; i < tab.functions; i++) {
		if (gopclntab_start(&tab, i + 1) > gopclntab_start(&tab, i))
			made += gopclntab_fde(&tab, i, out);
		if (made > max) {
			out->n = start;
			return;
		}
	}
}
