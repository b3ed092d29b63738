/* SPDX-License-Identifier: Apache-2.0 */
#include "record/processes/kernel.h"

#include "common/arena.h"
#include "record/processes/kerneltext.h"
#include "record/perf/rings.h"
#include "common/files/fullio.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

#define KERNEL_NAME "[kernel.kallsyms]_text"
struct module {
	uint64_t start, size;
	bool hit; /* true: the open window has a mapping record of this module */
	char name[KERNELTEXT_MODULE];
	char *path; /* path according to modules.dep, or "[name]"; NULL until it is looked up */
};

struct ksymbol {
	uint64_t start;
	uint32_t size;
	uint16_t type, flags;
	char name[256];
};

struct kernel {
	/* address range [start, end) of the kernel's text; 0: unknown */
	uint64_t start, end;
	struct build_id id;
	struct module *module; /* loaded modules, in order of address */
	size_t nmodules;
	/* address range of all modules, from the start of the first to the end of the last */
	uint64_t first_module, last_module;
	struct text modules; /* text of /proc/modules at the latest reading */
	struct ksymbol *symbol;
	size_t nsymbols, capsymbols;
	char release[256];
};

/* ---- reading of the kernel's state ------------------------------------------------------------------------------ */

static struct text kernel_read_file(const char *path)
{
	struct text text = { 0 };

	fullio_read_at(AT_FDCWD, path, &text, SIZE_MAX);
	return text;
}

static void kernel_add_symbol(struct kernel *kernel, uint64_t start, uint32_t size, uint16_t type, uint16_t flags,
			      struct str name)
{
	struct ksymbol *ksymbol;

	if (kernel->nsymbols == kernel->capsymbols) {
		kernel->capsymbols = kernel->capsymbols ? 2 * kernel->capsymbols : 16;
		kernel->symbol = mem_grow(kernel->symbol, sizeof(*kernel->symbol), kernel->capsymbols);
	}
	ksymbol = kernel->symbol + kernel->nsymbols++;
	*ksymbol = (struct ksymbol){ .start = start, .size = size, .type = type, .flags = flags };
	if (name.n >= sizeof(ksymbol->name))
		name.n = sizeof(ksymbol->name) - 1;
	memcpy(ksymbol->name, name.p, name.n);
}

/* Applies a line of /proc/kallsyms, if it is the first or last symbol of the kernel text, or a BPF program. */
static void take_symbol_line(struct kernel *kernel, struct str line)
{
	struct str name, module;
	uint64_t a;

	if (!kerneltext_symbol(line, &a, &name, &module))
		return;
	if (!kernel->start && (str_eq(name, STR("_text")) || str_eq(name, STR("_stext"))))
		kernel->start = a;
	else if (!kernel->end && str_eq(name, STR("_etext")))
		kernel->end = a;
	else if (str_eq(module, STR("[bpf]")))
		kernel_add_symbol(kernel, a, 0, 1, 0, name);
}

static int symbol_by_address(const void *a, const void *b)
{
	const struct ksymbol *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Sorts BPF programs by address and sets their sizes, which /proc/kallsyms does not have. It lists the programs in the
 * order in which they were loaded. Each program is assumed to end at the next one, but after at most 4,096 bytes. */
static void set_symbol_sizes(struct kernel *kernel)
{
	uint64_t end = UINT64_MAX;

	if (kernel->nsymbols)
		qsort(kernel->symbol, kernel->nsymbols, sizeof(*kernel->symbol), symbol_by_address);
	for (size_t i = kernel->nsymbols; i-- > 0;) {
		struct ksymbol *symbol = kernel->symbol + i;

		if (i + 1 < kernel->nsymbols && symbol[1].start > symbol->start)
			end = symbol[1].start;
		symbol->size = end - symbol->start < 4096 ? (uint32_t)(end - symbol->start) : 4096;
	}
}

static void kernel_read_symbols(struct kernel *kernel)
{
	int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
	/* A read of kallsyms returns at most one page. The buffer is on the stack and small, because this thread may be
	 * profiled, and a large frame would not fit into the stack copy. */
	char text[8192];
	size_t n = 0;
	ssize_t got;

	if (fd < 0)
		return;
	while ((got = read(fd, text + n, sizeof(text) - n)) > 0) {
		struct str string = { text, n + (size_t)got };
		ptrdiff_t last = str_rfind(string, '\n');
		struct str lines = str_head(string, last < 0 ? 0 : (size_t)last);

		while (lines.n)
			take_symbol_line(kernel, str_cut(&lines, '\n'));
		/* moves the incomplete last line to the start for the next read; drops a line longer than the buffer,
		 * which is malformed */
		n = last < 0 ? 0 : string.n - (size_t)last - 1;
		memmove(text, string.p + string.n - n, n);
	}
	close(fd);
	set_symbol_sizes(kernel);
}

static int kernel_by_address(const void *a, const void *b)
{
	const struct module *module = a, *y = b;

	return module->start < y->start ? -1 : module->start > y->start;
}

static void take_module_line(struct kernel *kernel, struct str line)
{
	struct module module = { 0 };

	if (!kerneltext_module(line, module.name, &module.start, &module.size))
		return;
	kernel->module = mem_grow(kernel->module, sizeof(*kernel->module), kernel->nmodules + 1);
	kernel->module[kernel->nmodules++] = module;
}

void kernel_refresh(struct kernel *kernel)
{
	struct text text = kernel_read_file("/proc/modules");

	if (str_eq(text_view(&text), text_view(&kernel->modules))) {
		text_free(&text);
		return;
	}
	text_free(&kernel->modules);
	kernel->modules = text;
	while (kernel->nmodules)
		free(kernel->module[--kernel->nmodules].path);
	struct str lines = text_view(&text);
	while (lines.n)
		take_module_line(kernel, str_cut(&lines, '\n'));
	qsort(kernel->module, kernel->nmodules, sizeof(*kernel->module), kernel_by_address);
	kernel->first_module = kernel->nmodules ? kernel->module[0].start : UINT64_MAX;
	kernel->last_module = kernel->nmodules ? kernel->module[kernel->nmodules - 1].start +
							 kernel->module[kernel->nmodules - 1].size :
						 0;
}

struct kernel *kernel_new(void)
{
	struct kernel *kernel = mem_alloc(sizeof(*kernel), 1);
	struct text notes = kernel_read_file("/sys/kernel/notes");
	struct utsname u;

	kernel->id = buildid_in_notes(text_view(&notes));
	text_free(&notes);
	if (uname(&u) == 0)
		snprintf(kernel->release, sizeof(kernel->release), "%s", u.release);
	kernel->first_module = UINT64_MAX;
	kernel_read_symbols(kernel);
	kernel_refresh(kernel);
	return kernel;
}

void kernel_free(struct kernel *kernel)
{
	if (!kernel)
		return;
	while (kernel->nmodules)
		free(kernel->module[--kernel->nmodules].path);
	free(kernel->module);
	free(kernel->symbol);
	text_free(&kernel->modules);
	free(kernel);
}

void kernel_symbol(struct kernel *kernel, const struct perf_record *record)
{
	const char *p = (const char *)(record + 1);
	size_t n = record->size - sizeof(*record) - sizeof(struct ring_sample_id);
	struct str name;

	if (n < 16)
		return;
	uint64_t start = load64(p);
	for (size_t i = 0; i < kernel->nsymbols; i++)
		if (kernel->symbol[i].start == start)
			kernel->symbol[i--] = kernel->symbol[--kernel->nsymbols];
	name = (struct str){ p + 16, strnlen(p + 16, n - 16) };
	if (!(load16(p + 14) & 1)) /* PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER is not set */
		kernel_add_symbol(kernel, start, load32(p + 8), load16(p + 12), load16(p + 14), name);
}

/* ---- writing of records ----------------------------------------------------------------------------------------- */

static size_t kernel_begin_record(struct text *text, uint32_t type, uint16_t misc)
{
	struct perf_record record = { .type = type, .misc = misc };

	text_bytes(text, &record, sizeof(record));
	return text->n - sizeof(record);
}

/* Completes the record that starts at offset `start` of text: appends the name, a NUL, padding and the trailer, and
 * sets the record's size. */
static void kernel_end(struct text *text, size_t start, struct str name, uint64_t event, uint64_t ns)
{
	struct ring_sample_id sample_id = { .time = ns, .event = event };

	text_str(text, name);
	do
		text_char(text, 0);
	while ((text->n - start) % 8);
	text_bytes(text, &sample_id, sizeof(sample_id));
	uint16_t size = (uint16_t)(text->n - start);
	memcpy(text->p + start + offsetof(struct perf_record, size), &size, sizeof(size));
}

static void kernel_put_map(struct text *text, uint64_t from, uint64_t size, uint64_t offset, struct str name,
			   uint64_t event, uint64_t ns)
{
	size_t start = kernel_begin_record(text, RECORD_MMAP, 1);
	uint32_t ids[2] = { UINT32_MAX, 0 }; /* pid -1 means the kernel */
	uint64_t where[3] = { from, size, offset };

	text_bytes(text, ids, sizeof(ids));
	text_bytes(text, where, sizeof(where));
	kernel_end(text, start, name, event, ns);
}

static struct str module_path(const struct kernel *kernel, struct module *module)
{
	if (!module->path) {
		char path[320];

		snprintf(path, sizeof(path), "/lib/modules/%s/modules.dep", kernel->release);
		struct text text = kernel_read_file(path);
		module->path = kerneltext_module_path(text_view(&text), kernel->release, module->name);
		text_free(&text);
	}
	return str_of(module->path);
}

void kernel_begin(struct kernel *kernel, struct text *records, uint64_t event, uint64_t ns)
{
	for (size_t i = 0; i < kernel->nmodules; i++)
		kernel->module[i].hit = false;
	if (kernel->start && kernel->end > kernel->start)
		kernel_put_map(records, kernel->start, kernel->end - kernel->start, kernel->start, STR(KERNEL_NAME),
			       event, ns);
	for (size_t i = 0; i < kernel->nsymbols; i++) {
		const struct ksymbol *ksymbol = kernel->symbol + i;
		size_t start = kernel_begin_record(records, RECORD_KSYMBOL, 0);

		text_bytes(records, &ksymbol->start, 8);
		text_bytes(records, &ksymbol->size, 4);
		text_bytes(records, &ksymbol->type, 2);
		text_bytes(records, &ksymbol->flags, 2);
		kernel_end(records, start, str_of(ksymbol->name), event, ns);
	}
}

static struct module *module_at(const struct kernel *kernel, uint64_t address)
{
	size_t low = 0, high = kernel->nmodules;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (kernel->module[mid].start + kernel->module[mid].size <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low < kernel->nmodules && kernel->module[low].start <= address ? kernel->module + low : NULL;
}

void kernel_modules_hit(struct kernel *kernel, struct text *records, const uint64_t *ips, uint64_t n, uint64_t event,
			uint64_t ns)
{
	for (uint64_t i = 0; i < n && ips[i] != CONTEXT_USER; i++) {
		struct module *module;

		if (ips[i] < kernel->first_module || ips[i] >= kernel->last_module ||
		    !(module = module_at(kernel, ips[i])) || module->hit)
			continue;
		module->hit = true;
		kernel_put_map(records, module->start, module->size, 0, module_path(kernel, module), event, ns);
	}
}

void kernel_put_build_id(struct text *section, unsigned mode, int32_t pid, const struct build_id *id, struct str path)
{
	size_t start = kernel_begin_record(section, 0, (uint16_t)(mode | MISC_BUILD_ID_SIZE));
	uint8_t padded[24] = { 0 };

	memcpy(padded, id->byte, BUILD_ID_MAX);
	padded[20] = id->n;
	text_bytes(section, &pid, sizeof(pid));
	text_bytes(section, padded, sizeof(padded));
	text_str(section, path);
	do
		text_char(section, 0);
	while ((section->n - start) % 64); /* pads to 64 bytes, NAME_ALIGN of perf */
	uint16_t size = (uint16_t)(section->n - start);
	memcpy(section->p + start + offsetof(struct perf_record, size), &size, sizeof(size));
}

void kernel_build_ids(const struct kernel *kernel, struct text *section)
{
	if (kernel->id.n)
		kernel_put_build_id(section, 1, -1, &kernel->id, STR("[kernel.kallsyms]"));
	for (size_t i = 0; i < kernel->nmodules; i++) {
		char path[128];
		struct build_id id;

		if (!kernel->module[i].hit)
			continue;
		snprintf(path, sizeof(path), "/sys/module/%s/notes/.note.gnu.build-id", kernel->module[i].name);
		struct text text = kernel_read_file(path);
		id = buildid_in_notes(text_view(&text));
		text_free(&text);
		if (id.n)
			kernel_put_build_id(section, 1, -1, &id, module_path(kernel, kernel->module + i));
	}
}
