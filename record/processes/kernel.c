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
	bool hit; /* this window has it */
	char name[KERNELTEXT_MODULE];
	char *path; /* as in modules.dep, or "[name]"; NULL: not looked for yet */
};

struct ksymbol {
	uint64_t start;
	uint32_t size;
	uint16_t type, flags;
	char name[256];
};

struct kernel {
	uint64_t start, end;
	uint8_t id[20];
	unsigned id_size;
	struct module *module; /* by address */
	size_t nmodules;
	uint64_t first_module, last_module;
	struct text modules; /* /proc/modules as it was read last */
	struct ksymbol *symbol;
	size_t nsymbols, capsymbols;
	char release[256];
};

/* ---- reading ------------------------------------------------------------------------------------------------- */

static struct text kernel_read_file(const char *path)
{
	struct text t = { 0 };

	fullio_read_at(AT_FDCWD, path, &t, SIZE_MAX);
	return t;
}

static void kernel_add_symbol(struct kernel *k, uint64_t start, uint32_t size, uint16_t type, uint16_t flags,
			      struct str name)
{
	struct ksymbol *s;

	if (k->nsymbols == k->capsymbols) {
		k->capsymbols = k->capsymbols ? 2 * k->capsymbols : 16;
		k->symbol = mem_grow(k->symbol, sizeof(*k->symbol), k->capsymbols);
	}
	s = k->symbol + k->nsymbols++;
	*s = (struct ksymbol){ .start = start, .size = size, .type = type, .flags = flags };
	if (name.n >= sizeof(s->name))
		name.n = sizeof(s->name) - 1;
	memcpy(s->name, name.p, name.n);
}

/* The two ends of the text, and BPF programs. These have no sizes: as far as the next, or a page. */
static void take_symbol_line(struct kernel *k, struct str line)
{
	struct str name, module;
	uint64_t a;

	if (!kerneltext_symbol(line, &a, &name, &module))
		return;
	if (k->nsymbols && k->symbol[k->nsymbols - 1].size == 0 && a > k->symbol[k->nsymbols - 1].start) {
		uint64_t size = a - k->symbol[k->nsymbols - 1].start;
		k->symbol[k->nsymbols - 1].size = size < 4096 ? (uint32_t)size : 4096;
	}
	if (!k->start && (str_eq(name, STR("_text")) || str_eq(name, STR("_stext"))))
		k->start = a;
	else if (!k->end && str_eq(name, STR("_etext")))
		k->end = a;
	else if (str_eq(module, STR("[bpf]")))
		kernel_add_symbol(k, a, 0, 1, 0, name);
}

static void kernel_read_symbols(struct kernel *k)
{
	int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
	char text[8192]; /* the kernel gives a page at once; a large frame would be more than is copied of our own stack
			  */
	size_t n = 0;
	ssize_t got;

	if (fd < 0)
		return;
	while ((got = read(fd, text + n, sizeof(text) - n)) > 0) {
		struct str s = { text, n + (size_t)got };
		ptrdiff_t last = str_rfind(s, '\n');
		struct str lines = str_head(s, last < 0 ? 0 : (size_t)last);

		while (lines.n)
			take_symbol_line(k, str_cut(&lines, '\n'));
		n = last < 0 ? 0 : s.n - (size_t)last - 1; /* a line that is longer than all of text is none */
		memmove(text, s.p + s.n - n, n);
	}
	close(fd);
	if (k->nsymbols && k->symbol[k->nsymbols - 1].size == 0)
		k->symbol[k->nsymbols - 1].size = 4096;
}

static int kernel_by_address(const void *a, const void *b)
{
	const struct module *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static void take_module_line(struct kernel *k, struct str line)
{
	struct module m = { 0 };

	if (!kerneltext_module(line, m.name, &m.start, &m.size))
		return;
	k->module = mem_grow(k->module, sizeof(*k->module), k->nmodules + 1);
	k->module[k->nmodules++] = m;
}

void kernel_refresh(struct kernel *k)
{
	struct text t = kernel_read_file("/proc/modules");

	if (str_eq(text_view(&t), text_view(&k->modules))) {
		text_free(&t);
		return;
	}
	text_free(&k->modules);
	k->modules = t;
	while (k->nmodules)
		free(k->module[--k->nmodules].path);
	struct str lines = text_view(&t);
	while (lines.n)
		take_module_line(k, str_cut(&lines, '\n'));
	qsort(k->module, k->nmodules, sizeof(*k->module), kernel_by_address);
	k->first_module = k->nmodules ? k->module[0].start : UINT64_MAX;
	k->last_module = k->nmodules ? k->module[k->nmodules - 1].start + k->module[k->nmodules - 1].size : 0;
}

struct kernel *kernel_new(void)
{
	struct kernel *k = mem_alloc(sizeof(*k), 1);
	struct text notes = kernel_read_file("/sys/kernel/notes");
	struct utsname u;

	k->id_size = kerneltext_build_id(text_view(&notes), k->id);
	text_free(&notes);
	if (uname(&u) == 0)
		snprintf(k->release, sizeof(k->release), "%s", u.release);
	k->first_module = UINT64_MAX;
	kernel_read_symbols(k);
	kernel_refresh(k);
	return k;
}

void kernel_free(struct kernel *k)
{
	if (!k)
		return;
	while (k->nmodules)
		free(k->module[--k->nmodules].path);
	free(k->module);
	free(k->symbol);
	text_free(&k->modules);
	free(k);
}

bool kernel_known(const struct kernel *k)
{
	return k->start != 0;
}

void kernel_symbol(struct kernel *k, const struct perf_record *record)
{
	const char *p = (const char *)(record + 1);
	size_t n = record->size - sizeof(*record) - sizeof(struct ring_tail);
	struct str name;

	if (n < 16)
		return;
	uint64_t start = load64(p);
	for (size_t i = 0; i < k->nsymbols; i++)
		if (k->symbol[i].start == start)
			k->symbol[i--] = k->symbol[--k->nsymbols];
	name = (struct str){ p + 16, strnlen(p + 16, n - 16) };
	if (!(load16(p + 14) & 1)) /* PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER */
		kernel_add_symbol(k, start, load32(p + 8), load16(p + 12), load16(p + 14), name);
}

/* ---- writing ------------------------------------------------------------------------------------------------- */

static size_t kernel_begin_record(struct text *t, uint32_t type, uint16_t misc)
{
	struct perf_record r = { .type = type, .misc = misc };

	text_bytes(t, &r, sizeof(r));
	return t->n - sizeof(r);
}

/* Text, NUL, padding, trailer. */
static void kernel_end(struct text *t, size_t start, struct str name, uint64_t event, uint64_t ns)
{
	struct ring_tail tail = { .time = ns, .event = event };

	text_str(t, name);
	do
		text_char(t, 0);
	while ((t->n - start) % 8);
	text_bytes(t, &tail, sizeof(tail));
	uint16_t size = (uint16_t)(t->n - start);
	memcpy(t->p + start + offsetof(struct perf_record, size), &size, sizeof(size));
}

static void kernel_put_map(struct text *t, uint64_t from, uint64_t size, uint64_t offset, struct str name,
			   uint64_t event, uint64_t ns)
{
	size_t start = kernel_begin_record(t, RECORD_MMAP, 1);
	uint32_t ids[2] = { UINT32_MAX, 0 }; /* pid -1: the kernel */
	uint64_t where[3] = { from, size, offset };

	text_bytes(t, ids, sizeof(ids));
	text_bytes(t, where, sizeof(where));
	kernel_end(t, start, name, event, ns);
}

static struct str module_path(const struct kernel *k, struct module *m)
{
	if (!m->path) {
		char path[320];

		snprintf(path, sizeof(path), "/lib/modules/%s/modules.dep", k->release);
		struct text t = kernel_read_file(path);
		m->path = kerneltext_module_path(text_view(&t), k->release, m->name);
		text_free(&t);
	}
	return str_of(m->path);
}

void kernel_begin(struct kernel *k, struct text *records, uint64_t event, uint64_t ns)
{
	for (size_t i = 0; i < k->nmodules; i++)
		k->module[i].hit = false;
	if (k->start && k->end > k->start)
		kernel_put_map(records, k->start, k->end - k->start, k->start, STR(KERNEL_NAME), event, ns);
	for (size_t i = 0; i < k->nsymbols; i++) {
		const struct ksymbol *s = k->symbol + i;
		size_t start = kernel_begin_record(records, RECORD_KSYMBOL, 0);

		text_bytes(records, &s->start, 8);
		text_bytes(records, &s->size, 4);
		text_bytes(records, &s->type, 2);
		text_bytes(records, &s->flags, 2);
		kernel_end(records, start, str_of(s->name), event, ns);
	}
}

static struct module *module_at(const struct kernel *k, uint64_t address)
{
	size_t lo = 0, hi = k->nmodules;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (k->module[mid].start + k->module[mid].size <= address)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < k->nmodules && k->module[lo].start <= address ? k->module + lo : NULL;
}

void kernel_modules_hit(struct kernel *k, struct text *records, const uint64_t *ips, uint64_t n, uint64_t event,
			uint64_t ns)
{
	for (uint64_t i = 0; i < n && ips[i] != CONTEXT_USER; i++) {
		struct module *m;

		if (ips[i] < k->first_module || ips[i] >= k->last_module || !(m = module_at(k, ips[i])) || m->hit)
			continue;
		m->hit = true;
		kernel_put_map(records, m->start, m->size, 0, module_path(k, m), event, ns);
	}
}

void kernel_put_build_id(struct text *section, unsigned mode, int32_t pid, const uint8_t *id, unsigned n,
			 struct str path)
{
	size_t start = kernel_begin_record(section, 0, (uint16_t)(mode | MISC_BUILD_ID_SIZE));
	uint8_t padded[24] = { 0 };

	memcpy(padded, id, n <= 20 ? n : 20);
	padded[20] = (uint8_t)n;
	text_bytes(section, &pid, sizeof(pid));
	text_bytes(section, padded, sizeof(padded));
	text_str(section, path);
	do
		text_char(section, 0);
	while ((section->n - start) % 64); /* NAME_ALIGN */
	uint16_t size = (uint16_t)(section->n - start);
	memcpy(section->p + start + offsetof(struct perf_record, size), &size, sizeof(size));
}

void kernel_build_ids(const struct kernel *k, struct text *section)
{
	if (k->id_size)
		kernel_put_build_id(section, 1, -1, k->id, k->id_size, STR("[kernel.kallsyms]"));
	for (size_t i = 0; i < k->nmodules; i++) {
		char path[128];
		uint8_t id[20];
		unsigned n;

		if (!k->module[i].hit)
			continue;
		snprintf(path, sizeof(path), "/sys/module/%s/notes/.note.gnu.build-id", k->module[i].name);
		struct text t = kernel_read_file(path);
		n = kerneltext_build_id(text_view(&t), id);
		text_free(&t);
		if (n)
			kernel_put_build_id(section, 1, -1, id, n, module_path(k, k->module + i));
	}
}
