/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/symbols/elfsyms.h"

#include "fold/symbols/dwarfimage.h"
#include "fold/symbols/inlines.h"
#include "fold/symbols/minidebug.h"
#include "fold/symbols/plt.h"
#include "fold/symbols/symtab.h"
#include "common/text.h"

#include <elf.h>
#include <stdlib.h>
#include <unistd.h>

#define NOTES_MAX (1u << 20)
#define LINK_MAX 4096
#define DEBUGDATA_MAX (64u << 20)

struct elfsyms {
	struct elfsyms_options options;
	struct elffile file;
	struct build_id build_id;
	struct str debuglink;
	uint32_t debuglink_crc;
	struct symtab table[3]; /* .symtab or that of .gnu_debugdata, .dynsym */
	size_t tables;
	const struct elf_section *symtab, *dynsym;
	struct elffile mini;
	struct text mini_image;
	bool mini_tried;
};

/* ---- notes, links ---------------------------------------------------------------------------------------------- */

static uint32_t elfsyms_u32_at(struct str s, size_t i)
{
	uint32_t v;

	memcpy(&v, s.p + i, sizeof(v));
	return v;
}

struct build_id elfsyms_note_build_id(struct str notes)
{
	struct build_id id = { 0 };

	while (notes.n >= 12) {
		uint64_t name = elfsyms_u32_at(notes, 0), desc = elfsyms_u32_at(notes, 4),
			 type = elfsyms_u32_at(notes, 8);
		uint64_t desc_at = 12 + ((name + 3) & ~(uint64_t)3), next = desc_at + ((desc + 3) & ~(uint64_t)3);

		if (desc_at + desc > notes.n)
			break;
		if (type == NT_GNU_BUILD_ID && name == 4 && memcmp(notes.p + 12, "GNU", 4) == 0 && desc > 0) {
			id.n = desc < BUILD_ID_MAX ? (uint8_t)desc : BUILD_ID_MAX;
			memcpy(id.byte, notes.p + desc_at, id.n);
			break;
		}
		notes = str_from(notes, next < notes.n ? (size_t)next : notes.n);
	}
	return id;
}

static struct build_id find_build_id(struct elffile *f)
{
	struct build_id id = { 0 };

	for (size_t i = 1; i < f->sections && !id.n; i++)
		if (f->section[i].type == SHT_NOTE)
			id = elfsyms_note_build_id(elffile_bytes(f, &f->section[i], NOTES_MAX));
	return id;
}

static void read_debuglink(struct elfsyms *e)
{
	struct str s = elffile_bytes(&e->file, elffile_section(&e->file, STR(".gnu_debuglink")), LINK_MAX);
	const char *end = s.n ? memchr(s.p, 0, s.n) : NULL;

	if (!end)
		return;
	e->debuglink = str_head(s, (size_t)(end - s.p));
	if (((e->debuglink.n + 4) & ~(size_t)3) + 4 <= s.n)
		e->debuglink_crc = elfsyms_u32_at(s, (e->debuglink.n + 4) & ~(size_t)3);
}

static const struct elf_section *table_named(const struct elffile *f, struct str name, uint32_t type)
{
	const struct elf_section *s = elffile_section(f, name);

	return s && s->type == type ? s : NULL;
}

/* ---- opening ---------------------------------------------------------------------------------------------------- */

struct elfsyms *elfsyms_open(int fd, const struct elfsyms_options *o, const char **why)
{
	struct elfsyms *e = mem_alloc(sizeof(*e), 1);

	e->options = *o;
	e->mini.fd = -1;
	*why = elffile_open(&e->file, fd);
	if (*why) {
		elfsyms_close(e);
		return NULL;
	}
	e->build_id = find_build_id(&e->file);
	read_debuglink(e);
	e->symtab = table_named(&e->file, STR(".symtab"), SHT_SYMTAB);
	e->dynsym = table_named(&e->file, STR(".dynsym"), SHT_DYNSYM);
	return e;
}

void elfsyms_close(struct elfsyms *e)
{
	int fd = e->file.fd;

	elffile_close(&e->mini);
	text_free(&e->mini_image);
	elffile_close(&e->file);
	close(fd);
	free(e);
}

struct build_id elfsyms_file_build_id(int fd)
{
	struct elffile f;
	struct build_id id = { 0 };

	if (!elffile_open(&f, fd))
		id = find_build_id(&f);
	elffile_close(&f);
	return id;
}

struct build_id elfsyms_build_id(const struct elfsyms *e)
{
	return e->build_id;
}

bool elfsyms_has_symtab(const struct elfsyms *e)
{
	return e->symtab;
}

bool elfsyms_has_dynsym(const struct elfsyms *e)
{
	return e->dynsym;
}

struct str elfsyms_debuglink(const struct elfsyms *e)
{
	return e->debuglink;
}

uint32_t elfsyms_debuglink_crc(const struct elfsyms *e)
{
	return e->debuglink_crc;
}

/* The symbols that were packed away when the file was stripped. */
static const struct elf_section *minidebug_table(struct elfsyms *e)
{
	struct str packed;

	if (!e->mini_tried) {
		e->mini_tried = true;
		packed = elffile_bytes(&e->file, elffile_section(&e->file, STR(".gnu_debugdata")), DEBUGDATA_MAX);
		if (packed.n == 0 || !minidebug_unpack(&e->mini_image, packed))
			return NULL;
		if (elffile_open_image(&e->mini, text_view(&e->mini_image)))
			elffile_close(&e->mini);
	}
	return table_named(&e->mini, STR(".symtab"), SHT_SYMTAB);
}

static void gather_tables(struct elfsyms *e)
{
	const struct elf_section *mini = NULL;

	e->tables = 0;
	if (!e->symtab && !e->options.as_perf)
		mini = minidebug_table(e);
	if (e->symtab)
		e->table[e->tables++] = (struct symtab){ &e->file, e->symtab };
	if (mini)
		e->table[e->tables++] = (struct symtab){ &e->mini, mini };
	if (e->dynsym)
		e->table[e->tables++] = (struct symtab){ &e->file, e->dynsym };
}

/* ---- asking ------------------------------------------------------------------------------------------------------ */

/* The indirect function at an address, or 0. */
static uint32_t ifunc_name(struct symtab_search *s, uint64_t address)
{
	struct symtab_answer a = { 0 };
	uint64_t place;

	if (!elffile_offset(s->runtime, address, &place))
		return 0;
	symtab_resolve(s, &place, 1, &a);
	return a.ifunc && a.start == place ? a.name : 0;
}

static uint32_t stub_name(struct symtab_search *s, const struct plt_stub *stub)
{
	struct text t = { 0 };
	uint32_t ifunc, name;

	switch (stub->kind) {
	case PLT_HEAD: return intern(s->names, STR(".plt"));
	case PLT_SYMBOL:
		if (!symtab_spend(s, stub->name.n))
			return 0;
		if (s->mangled || !elfsyms_demangle(&t, stub->name))
			text_str(&t, stub->name);
		break;
	case PLT_IFUNC:
		ifunc = ifunc_name(s, stub->address);
		if (ifunc) {
			text_str(&t, intern_str(s->names, ifunc));
			break;
		}
		/* fall through */
	default: text_printf(&t, "offset_%#llx", (unsigned long long)stub->start);
	}
	text_add(&t, "@plt");
	name = intern(s->names, text_view(&t));
	text_free(&t);
	return name;
}

/* Only a symbol without size, as _init is, seems to reach over all stubs past the end of .plt. perf 6.1 finds its way
 * to such a one when the stubs are few. */
static bool ends_before_stubs(const struct plt *plt, uint64_t at, uint64_t start)
{
	return start < plt->lazy.start && at >= plt->lazy.end && (!plt->as_perf || plt->slots > 8);
}

/* Stubs have no symbols, but a symbol without size that lies before them seems to reach over them: the nearer one wins.
 */
static void resolve_stubs(struct symtab_search *s, struct elffile *runtime, bool as_perf, const uint64_t *at, size_t n,
			  struct symtab_answer *answer)
{
	struct plt plt;
	struct plt_stub last = { 0 };
	uint32_t name = 0;

	plt_open(&plt, runtime, as_perf);
	for (size_t i = 0; i < n; i++) {
		struct plt_stub stub = plt_at(&plt, at[i]);

		if (ends_before_stubs(&plt, at[i], answer[i].start))
			answer[i].name = 0;
		if (stub.kind == PLT_NONE || (answer[i].name && answer[i].start >= stub.start))
			continue;
		if (!name || stub.start != last.start)
			name = stub_name(s, &stub);
		last = stub;
		answer[i] = (struct symtab_answer){ .start = stub.start, .name = name };
	}
	plt_close(&plt);
}

/* The open questions, apart: their addresses, and where they stand in q. */
static size_t elfsyms_gather(const struct symbols_query *q, size_t n, uint64_t *at, size_t *index)
{
	size_t open = 0;

	for (size_t i = 0; i < n; i++) {
		if (q[i].name)
			continue;
		at[open] = q[i].address;
		index[open++] = i;
	}
	return open;
}

/* runtime NULL: places are addresses, moved by so much. */
static size_t elfsyms_resolve_query(struct elfsyms *e, struct elffile *runtime, uint64_t moved, struct symbols_query *q,
				    size_t n, struct intern *names)
{
	uint64_t *at = mem_alloc(sizeof(*at), n + 1);
	size_t *index = mem_alloc(sizeof(*index), n + 1), open = elfsyms_gather(q, n, at, index), answered = 0;
	struct symtab_answer *answer = mem_alloc(sizeof(*answer), open + 1);
	struct symtab_search s = {
		.tables = e->table, .runtime = runtime, .mangled = e->options.mangled, .names = names
	};

	for (size_t i = 0; i < open; i++)
		at[i] -= moved;
	gather_tables(e);
	s.n_tables = e->tables;
	symtab_resolve(&s, at, open, answer);
	if (runtime && (s.any || !e->options.as_perf)) /* perf 6.1 looks for stubs only where it found a symbol */
		resolve_stubs(&s, runtime, e->options.as_perf, at, open, answer);
	for (size_t i = 0; i < open; i++) {
		uint64_t offset = at[i] - answer[i].start;

		if (!answer[i].name)
			continue;
		q[index[i]].name = answer[i].name;
		q[index[i]].offset = offset < UINT32_MAX ? (uint32_t)offset : UINT32_MAX;
		answered++;
	}
	text_free(&s.text);
	free(answer);
	free(index);
	free(at);
	return answered;
}

size_t elfsyms_resolve(struct elfsyms *e, const struct elfsyms *runtime, struct symbols_query *q, size_t n,
		       struct intern *names)
{
	return elfsyms_resolve_query(e, &((struct elfsyms *)(uintptr_t)runtime)->file, 0, q, n,
				     names); /* reads some of its bytes */
}

size_t elfsyms_resolve_addresses(struct elfsyms *e, uint64_t moved, struct symbols_query *q, size_t n,
				 struct intern *names)
{
	size_t wraps = 0; /* these become the largest: places are to ascend */

	while (wraps < n && q[wraps].address < moved)
		wraps++;
	return elfsyms_resolve_query(e, NULL, moved, q, wraps, names) +
	       elfsyms_resolve_query(e, NULL, moved, q + wraps, n - wraps, names);
}

bool elfsyms_address(const struct elfsyms *e, struct str name, uint64_t *address)
{
	struct symtab tab = { &e->file, e->symtab };

	return e->symtab && symtab_find(&tab, name, address);
}

bool elfsyms_has_debug_info(const struct elfsyms *e)
{
	return dwarfimage_has(&e->file, false);
}

const char *elfsyms_inlines(struct elfsyms *e, const struct elfsyms *runtime, const struct inlines_options *o,
			    struct symbols_query *q, size_t n, struct intern *names)
{
	return inlines_resolve(o, &e->file, &runtime->file, q, n, names);
}
