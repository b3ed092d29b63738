/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/kernel/kallsyms.h"

#include "common/arena.h"
#include "common/filter/broker.h"
#include "fold/kernel/kallcache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define LINE_MAX_BYTES 4096
/* Maximum size in bytes of the text of a kallsyms file. A larger file is not used. The text of a kernel with all
 * options has 15 MB. */
#define TEXT_LIMIT ((size_t)1 << 30)

static const char live_file[] = "/proc/kallsyms";

struct kallsyms {
	const char *file;
	/* Symbols that were read from `file`; empty while `cache` is used. */
	struct ksyms table;
	/* Cache with the symbols of the core kernel; NULL: there is no valid cache, or it must not be used any more. */
	struct kallcache *cache;
};

/* ---- reading of the table -------------------------------------------------------------------------------------- */

struct builder {
	struct ksyms t;
	size_t cap;
	/* Offset in t.names of the module of the last line that was read, because the next line mostly has the same
	 * module; 0: no module. */
	uint32_t module;
	/* hidden: a line has the address 0, as all lines do if the reader may not see addresses. unsorted: the address
	 * of a line is below the address in the line before. */
	bool hidden, unsorted;
};

/* Returns true for the types of symbols that perf uses: code, and data, because a data symbol ends the code symbol
 * before it; false for all other types. Capital letters are types of global symbols. */
static bool type_is_taken(char type)
{
	return type && strchr("TtWwDdBb", type);
}

static uint32_t keep_name(struct text *names, struct str string)
{
	uint32_t at = (uint32_t)names->n;

	text_str(names, string);
	text_char(names, 0);
	return at;
}

static uint32_t keep_module(struct builder *builder, struct str module)
{
	if (module.n == 0)
		return 0;
	if (!builder->module || !str_eq(str_of(builder->t.names.p + builder->module), module))
		builder->module = keep_name(&builder->t.names, module);
	return builder->module;
}

static void kallsyms_add_symbol(struct builder *builder, struct ksym ksym)
{
	if (builder->t.n == builder->cap) {
		builder->cap = builder->cap ? builder->cap * 2 : 4096;
		builder->t.sym = mem_grow(builder->t.sym, sizeof(*builder->t.sym), builder->cap);
	}
	builder->unsorted = builder->unsorted || (builder->t.n && ksym.start < builder->t.sym[builder->t.n - 1].start);
	builder->t.sym[builder->t.n++] = ksym;
}

/* Adds the symbol in a line like "ffffffff81000000 T name"; in a module, "\t[module]" follows. Other lines are skipped.
 */
static void kallsyms_add_line(struct builder *builder, struct str line)
{
	struct str hex = str_cut(&line, ' '), name;
	uint64_t start;
	char type;

	if (line.n < 3 || line.p[1] != ' ' || !str_hex(hex, &start))
		return;
	type = line.p[0];
	line = str_trim_right(str_from(line, 2));
	name = str_trim_right(str_cut(&line, '\t'));
	line = str_trim_left(line);
	builder->hidden = builder->hidden || start == 0;
	if (start == 0 || (hex.n == 16 && !(start >> 63)))
		/* The address is hidden (0), or it is no kernel address but the offset of a per-CPU variable. */
		return;
	/* Names of ARM and RISC-V mapping symbols, which are not functions, begin with '$'. A NUL would end the name.
	 */
	if (!type_is_taken(type) || name.n == 0 || name.p[0] == '$' || str_find(name, 0) >= 0 || str_find(line, 0) >= 0)
		return;
	kallsyms_add_symbol(builder,
			    (struct ksym){ start, keep_name(&builder->t.names, name), keep_module(builder, line) });
}

/* Adds the symbols in all complete lines of `text`. Returns the size of these lines in bytes. */
static size_t kallsyms_add_lines(struct builder *builder, struct str text)
{
	size_t n = text.n;
	ptrdiff_t end;

	while ((end = str_find(text, '\n')) >= 0) {
		if (end < LINE_MAX_BYTES)
			kallsyms_add_line(builder, str_head(text, (size_t)end));
		text = str_from(text, (size_t)end + 1);
	}
	return n - text.n;
}

/* Adds the symbols of a file. Returns NULL, or the reason for which the text cannot be used. */
static const char *read_lines(struct builder *builder, gzFile in)
{
	static const char too_much[] = "too large for a copy of /proc/kallsyms";
	char *buf = mem_alloc(1, 64 * 1024);
	size_t retained = 0, total = 0;
	const char *why = NULL;

	text_char(&builder->t.names, 0);
	for (;;) {
		int got = gzread(in, buf + retained, (unsigned)(64 * 1024 - retained)), errors = Z_OK;
		size_t used;

		if (got <= 0)
			gzerror(in, &errors);
		if (errors != Z_OK)
			why = errors == Z_ERRNO ? strerror(errno) : "damaged";
		if (got <= 0)
			break;
		total += (size_t)got;
		if (total > TEXT_LIMIT) {
			why = too_much;
			break;
		}
		retained += (size_t)got;
		used = kallsyms_add_lines(builder, (struct str){ buf, retained });
		/* Lines of a kernel are shorter than 32 kB: drop a longer line that is still incomplete. The rest of
		 * that line will not be a valid line either. */
		retained = retained - used < 32 * 1024 ? retained - used : 0;
		memmove(buf, buf + used, retained);
	}
	/* A last line without newline is incomplete and not used. */
	free(buf);
	return why;
}

/* Compares symbols for qsort(): by start, then by offset of the name, so that symbols with the same start keep their
 * order. */
static int symbol_cmp(const void *left, const void *right)
{
	const struct ksym *ksym = left, *b = right;

	if (ksym->start != b->start)
		return ksym->start < b->start ? -1 : 1;
	return (ksym->name > b->name) - (ksym->name < b->name);
}

static const char *kallsyms_assess(const struct builder *builder)
{
	static const char hidden[] =
		"addresses are hidden (run as root, or: sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1)";

	return builder->t.n ? NULL : builder->hidden ? hidden : "no symbols";
}

/* Reads a table of symbols from fd, which may be compressed with gzip, and closes fd. Returns NULL, or the reason for
 * which the file cannot be used. */
static const char *kallsyms_read_table(int fd, struct ksyms *table)
{
	struct builder builder = { 0 };
	struct stat status;
	const char *why = fstat(fd, &status) < 0  ? strerror(errno) :
			  S_ISREG(status.st_mode) ? NULL :
						    "not a regular file";
	gzFile in = why ? NULL : gzdopen(fd, "rb");

	if (!in) {
		close(fd);
		return why ? why : "out of memory";
	}
	gzbuffer(in, 64 * 1024);
	why = read_lines(&builder, in);
	gzclose_r(in);
	if (!why)
		why = kallsyms_assess(&builder);
	if (why) {
		ksyms_free(&builder.t);
		return why;
	}
	if (builder.unsorted)
		qsort(builder.t.sym, builder.t.n, sizeof(*builder.t.sym), symbol_cmp);
	*table = builder.t;
	return NULL;
}

static const char *read_path(const char *path, struct ksyms *table)
{
	int fd = broker_open(AT_FDCWD, path, 0);

	return fd < 0 ? (errno == EINVAL ? "not a regular file" : strerror(errno)) : kallsyms_read_table(fd, table);
}

struct kallsyms *kallsyms_open_file(int fd, const char **why)
{
	struct kallsyms *kallsyms = mem_alloc(sizeof(*kallsyms), 1);

	*why = kallsyms_read_table(fd, &kallsyms->table);
	if (!*why)
		return kallsyms;
	kallsyms_close(kallsyms);
	return NULL;
}

struct kallsyms *kallsyms_open(const struct kallsyms_options *options, const char **why)
{
	struct kallsyms *kallsyms = mem_alloc(sizeof(*kallsyms), 1);
	bool cache = options->cache && !options->file;

	kallsyms->file = options->file ? options->file : options->live ? options->live : live_file;
	kallsyms->cache = cache ? kallcache_open() : NULL;
	if (kallsyms->cache)
		return kallsyms;
	*why = read_path(kallsyms->file, &kallsyms->table);
	if (*why) {
		kallsyms_close(kallsyms);
		return NULL;
	}
	if (cache)
		kallcache_store(&kallsyms->table);
	return kallsyms;
}

void kallsyms_close(struct kallsyms *kallsyms)
{
	if (!kallsyms)
		return;
	kallcache_close(kallsyms->cache);
	ksyms_free(&kallsyms->table);
	free(kallsyms);
}

/* ---- lookup of symbols ------------------------------------------------------------------------------------------- */

/* Returns the assumed end address of symbol i, because kallsyms has no sizes: the start of the next symbol if that
 * symbol is in the same module, otherwise ksym_last_end(). */
static uint64_t kallsyms_end_of(const struct ksyms *ksyms, size_t i)
{
	const struct ksym *ksym = &ksyms->sym[i];

	if (i + 1 < ksyms->n && strcmp(ksyms->names.p + ksym->module, ksyms->names.p + ksym[1].module) == 0)
		return ksym[1].start;
	return ksym_last_end(ksym->start);
}

/* Returns the index of the first symbol that starts after `address`; n if there is none. The search starts at index
 * `from`, the result for the address that was looked up before, because addresses are mostly in ascending order. */
static size_t kallsyms_after(const struct ksyms *ksyms, uint64_t address, size_t from)
{
	size_t low = from, step = 1, high;

	if (low > 0 && ksyms->sym[low - 1].start > address)
		/* The address is below the address of the previous lookup, for example because the subtraction of the
		 * relocation wrapped around. Search from the first symbol. */
		low = 0;
	while (low + step <= ksyms->n && ksyms->sym[low + step - 1].start <= address) {
		low += step;
		step *= 2;
	}
	high = low + step - 1 < ksyms->n ? low + step - 1 : ksyms->n;
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (ksyms->sym[mid].start <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Returns the index of the symbol that contains `address`; -1 if there is none. *from: index at which the search
 * starts; set to the index for the next search. Of several symbols with the same start, the result is the symbol listed
 * last, as in perf: perf computes the ends of symbols first, so that the symbols listed before are empty, and prefers
 * symbols that are not empty. */
static ptrdiff_t kallsyms_find(const struct ksyms *ksyms, uint64_t address, size_t *from)
{
	size_t i = *from = kallsyms_after(ksyms, address, *from);

	return i > 0 && address < kallsyms_end_of(ksyms, i - 1) ? (ptrdiff_t)i - 1 : -1;
}

/* Returns the index of the symbol at a sampled address; -1 if there is none. Addresses of the core kernel are relocated
 * to the table, by subtraction of `relocate`. Addresses of modules are not relocated, because their load addresses in
 * another boot are unknown. from: start indexes of the searches of kallsyms_find(): [0] with relocation, [1]
 * without. */
static ptrdiff_t find_relocated(const struct ksyms *ksyms, uint64_t address, int64_t relocate, size_t from[2])
{
	ptrdiff_t at = kallsyms_find(ksyms, address - (uint64_t)relocate, &from[0]);

	if (relocate == 0 || (at >= 0 && ksyms->sym[at].module == 0))
		return at;
	at = kallsyms_find(ksyms, address, &from[1]);
	return at >= 0 && ksyms->sym[at].module ? at : -1;
}

static void kallsyms_answer(struct symbols_query *query, uint32_t name, uint64_t start)
{
	uint64_t offset = query->address - start;

	query->name = name;
	query->offset = offset < UINT32_MAX ? (uint32_t)offset : UINT32_MAX;
}

static void forget_answers(struct symbols_query *query, size_t n, uint32_t *modules)
{
	for (size_t i = 0; i < n; i++) {
		query[i].name = 0;
		if (modules)
			modules[i] = 0;
	}
}

/* Looks up query[0..n) in the table; parameters as in kallsyms_resolve(). Returns the number of queries named. */
static size_t resolve_in_table(const struct ksyms *ksyms, int64_t relocate, struct symbols_query *query, size_t n,
			       struct intern *names, uint32_t *modules)
{
	size_t from[2] = { 0, 0 }, answered = 0;
	uint32_t name = 0, module = 0;
	ptrdiff_t before = -1;

	forget_answers(query, n, modules);
	for (size_t i = 0; i < n; i++) {
		ptrdiff_t at = find_relocated(ksyms, query[i].address, relocate, from);

		if (at < 0)
			continue;
		if (at != before) {
			name = intern(names, str_of(ksyms->names.p + ksyms->sym[at].name));
			module = ksyms->sym[at].module ? intern(names, str_of(ksyms->names.p + ksyms->sym[at].module)) :
							 0;
			before = at;
		}
		kallsyms_answer(&query[i], name, ksyms->sym[at].start + (module ? 0 : (uint64_t)relocate));
		if (modules)
			modules[i] = module;
		answered++;
	}
	return answered;
}

/* Looks up query[0..n) in the cache (parameters as in kallsyms_resolve()), and sets *answered to the number of queries
 * named. Returns KALLCACHE_FOUND on success; otherwise the results must not be used. all: true: a kernel address
 * outside of the core kernel is a failure; false: such an address gets no name. */
static enum kallcache_answer resolve_in_cache(struct kallcache *kallcache, int64_t relocate,
					      struct symbols_query *query, size_t n, struct intern *names,
					      uint32_t *modules, bool all, size_t *answered)
{
	enum kallcache_answer shown;
	uint64_t before = 0;
	uint32_t id = 0;

	forget_answers(query, n, modules);
	*answered = 0;
	for (size_t i = 0; i < n; i++) {
		struct str name;
		uint64_t start;

		if (!(query[i].address >> 63))
			/* An address in user space gets no name. */
			continue;
		shown = kallcache_find(kallcache, query[i].address - (uint64_t)relocate, &name, &start);
		if (shown == KALLCACHE_OUTSIDE && !all)
			continue;
		if (shown != KALLCACHE_FOUND)
			return shown;
		if (!id || start != before)
			id = intern(names, name);
		before = start;
		kallsyms_answer(&query[i], id, start + (uint64_t)relocate);
		(*answered)++;
	}
	return KALLCACHE_FOUND;
}

/* Reads the table of the running kernel and closes the cache; returns true. If the table cannot be read, for example
 * because the kernel now hides its addresses, keeps the cache and returns false. */
static bool leave_cache(struct kallsyms *kallsyms)
{
	struct ksyms live;

	if (read_path(kallsyms->file, &live))
		return false;
	kallcache_close(kallsyms->cache);
	kallsyms->cache = NULL;
	kallsyms->table = live;
	return true;
}

size_t kallsyms_resolve(struct kallsyms *kallsyms, int64_t relocate, struct symbols_query *query, size_t n,
			struct intern *names, uint32_t *modules)
{
	size_t answered;

	if (kallsyms->cache &&
	    resolve_in_cache(kallsyms->cache, relocate, query, n, names, modules, true, &answered) == KALLCACHE_FOUND)
		return answered;
	if (!kallsyms->cache || leave_cache(kallsyms))
		return resolve_in_table(&kallsyms->table, relocate, query, n, names, modules);
	/* The running kernel hides its addresses: symbols of the core kernel come from the cache, and modules get no
	 * names. */
	resolve_in_cache(kallsyms->cache, relocate, query, n, names, modules, false, &answered);
	return answered;
}

uint64_t kallsyms_address(struct kallsyms *kallsyms, struct str name)
{
	const struct ksyms *ksyms = &kallsyms->table;
	uint64_t start = 0;

	if (kallsyms->cache &&
	    (kallcache_address(kallsyms->cache, name, &start) != KALLCACHE_BROKEN || !leave_cache(kallsyms)))
		return start;
	for (size_t i = 0; i < ksyms->n; i++)
		if (ksyms->sym[i].module == 0 && str_eq(str_of(ksyms->names.p + ksyms->sym[i].name), name))
			return ksyms->sym[i].start;
	return 0;
}
