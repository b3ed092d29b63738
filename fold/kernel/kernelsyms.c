/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/kernel/kernelsyms.h"

#include "common/arena.h"
#include "common/filter/broker.h"
#include "common/diag.h"
#include "fold/opener/fileopener.h"
#include "fold/kernel/kallsyms.h"
#include "common/text.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- lookups in kallsyms ------------------------------------------------------------------------------------ */

/* Returns true if the running kernel is the recorded one: their build-ids are equal. If the recording has no build-id
 * of its kernel, or the build-id of the running kernel cannot be read, returns options->here. */
static bool is_running(const struct kernelsyms_options *options)
{
	char notes[4096];
	struct build_id id;
	ssize_t got;
	int fd;

	if (options->id.n == 0)
		return options->here;
	fd = broker_open(AT_FDCWD, "/sys/kernel/notes", 0);
	if (fd < 0)
		return options->here;
	got = read(fd, notes, sizeof(notes));
	close(fd);
	id = buildid_in_notes((struct str){ notes, got > 0 ? (size_t)got : 0 });
	return id.n == options->id.n && memcmp(id.byte, options->id.byte, id.n) == 0;
}

/* Sets *path to HOME/.debug/DIR/BUILD-ID/FILE, ended by NUL, where perf stores files. Returns false without HOME or
 * build-id. DIR is `dir`, FILE is `file`. parted: true: the first byte of the build-id is a directory of its own, as in
 * "ab/cdef". */
static bool saved_path(const struct kernelsyms_options *options, const char *dir, bool parted, const char *file,
		       struct text *path)
{
	const char *home = getenv("HOME");

	path->n = 0;
	if (!home || options->id.n < 2)
		return false;
	text_printf(path, "%s/.debug/%s/", home, dir);
	for (unsigned i = 0; i < options->id.n; i++)
		text_printf(path, i == 0 && parted ? "%02x/" : "%02x", options->id.byte[i]);
	text_printf(path, "/%s", file);
	text_char(path, 0);
	return true;
}

/* Looks up query[0..n) in a table (query and modules as in kallsyms_resolve()), whose addresses are relocated to the
 * load address of the recorded kernel, and closes the table. */
static void query_table(const struct kernelsyms_options *options, struct kallsyms *kallsyms,
			struct symbols_query *query, size_t n, struct intern *names, uint32_t *modules)
{
	uint64_t here = options->address ? kallsyms_address(kallsyms, options->symbol) : 0;

	kallsyms_resolve(kallsyms, here ? (int64_t)(options->address - here) : 0, query, n, names, modules);
	kallsyms_close(kallsyms);
}

static const char *query_kallsyms(const struct kernelsyms_options *options, const char *file,
				  struct symbols_query *query, size_t n, struct intern *names, uint32_t *modules)
{
	struct kallsyms_options ko = { .cache = true, .file = file };
	const char *why;
	struct kallsyms *kallsyms = kallsyms_open(&ko, &why);

	if (!kallsyms)
		return why;
	query_table(options, kallsyms, query, n, names, modules);
	return NULL;
}

/* Looks up those of query[0..n) that have no name yet in a further table (modules as in kallsyms_resolve()). Returns
 * the number of queries that still have no name. */
static size_t query_rest(const struct kernelsyms_options *options, struct kallsyms *kallsyms,
			 struct symbols_query *query, size_t n, struct intern *names, uint32_t *modules)
{
	struct symbols_query *rest = mem_alloc(sizeof(*rest), n + 1);
	uint32_t *module = mem_alloc(sizeof(*module), n + 1);
	size_t *of = mem_alloc(sizeof(*of), n + 1), open = 0, left = 0;

	for (size_t i = 0; i < n; i++)
		if (!query[i].name) {
			of[open] = i;
			rest[open++].address = query[i].address;
		}
	query_table(options, kallsyms, rest, open, names, module);
	for (size_t i = 0; i < open; i++) {
		query[of[i]] = rest[i];
		modules[of[i]] = module[i];
		left += !rest[i].name;
	}
	free(of);
	free(module);
	free(rest);
	return left;
}

/* Looks up query[0..n) in pjrecord's snapshots of kallsyms, newest first. An older snapshot may have a module that was
 * unloaded later. Returns NULL, or the reason for which no snapshot can be read. */
static const char *query_snapshots(const struct kernelsyms_options *options, struct symbols_query *query, size_t n,
				   struct intern *names, uint32_t *modules)
{
	const char *why = "no snapshot is stored";
	bool found = false;
	size_t left = n;

	for (size_t i = 0; options->symstore && i < symstore_kernels(options->symstore) && left; i++) {
		int fd = symstore_kernel(options->symstore, i);
		struct kallsyms *kallsyms = fd >= 0 ? kallsyms_open_file(fd, &why) : NULL;

		if (kallsyms)
			left = query_rest(options, kallsyms, query, n, names, modules);
		found = found || kallsyms;
	}
	return found ? NULL : why;
}

/* Looks up query[0..n) in the copy of kallsyms that perf record stored. Returns NULL, or the reason for which the copy
 * cannot be used. */
static const char *query_saved(const struct kernelsyms_options *options, struct symbols_query *query, size_t n,
			       struct intern *names, uint32_t *modules)
{
	struct text path = { 0 };
	const char *why = "no copy";

	if (saved_path(options, "[kernel.kallsyms]", false, "kallsyms", &path))
		why = query_kallsyms(options, path.p, query, n, names, modules);
	text_free(&path);
	return why;
}

/* ---- lookups in vmlinux ------------------------------------------------------------------------------------- */

/* Returns true if two build-ids have the same bytes up to the length of the shorter build-id, otherwise false. perf
 * pads build-ids in its records with zeros to 20 bytes. */
static bool kernelsyms_same_build(struct build_id a, struct build_id b)
{
	size_t n = a.n < b.n ? a.n : b.n;

	return n > 0 && memcmp(a.byte, b.byte, n) == 0;
}

/* Looks up query[0..n) in a vmlinux, the file fd, whose addresses are relocated to the load address of the recorded
 * kernel, and closes fd. Returns NULL, or the reason for which the file cannot be used. */
static const char *query_elf(const struct kernelsyms_options *options, int fd, struct symbols_query *query, size_t n,
			     struct intern *names)
{
	struct elfsyms_options eo = { .as_perf = options->as_perf, .mangled = true };
	const char *why;
	struct elfsyms *elfsyms = elfsyms_open(fd, &eo, &why);
	uint64_t linked;

	if (!elfsyms)
		return why;
	if (options->id.n == 0)
		why = "the recording has no build-id of its kernel";
	else if (!kernelsyms_same_build(options->id, elfsyms_build_id(elfsyms)))
		why = "its build-id differs from the recorded kernel's";
	else if (!elfsyms_has_symtab(elfsyms))
		why = "stripped";
	else if (!options->address || !elfsyms_address(elfsyms, options->symbol, &linked))
		why = "the load address of the recorded kernel is unknown";
	else
		elfsyms_resolve_addresses(elfsyms, options->address - linked, query, n, names);
	elfsyms_close(elfsyms);
	return why;
}

/* Looks up query[0..n) in the first vmlinux that has the build-id of the recorded kernel. Returns NULL, or the reason
 * for which no vmlinux can be used. */
static const char *query_vmlinux(const struct kernelsyms_options *options, struct symbols_query *query, size_t n,
				 struct intern *names)
{
	static const struct {
		const char *before, *after;
	} place[] = { { "/boot/vmlinux-", "" },
		      { "/usr/lib/debug/boot/vmlinux-", "" },
		      { "/lib/modules/", "/build/vmlinux" },
		      { "/usr/lib/debug/lib/modules/", "/vmlinux" },
		      { "/usr/lib/debug/boot/vmlinux-", ".debug" },
		      { "/boot/vmlinux", NULL },
		      { "/vmlinux", NULL } };
	struct text path = { 0 };
	const char *why = "no file";
	int fd = -1;

	if (options->id.n < 2 || str_find(options->release, '/') >= 0)
		return why;
	if (saved_path(options, ".build-id", true, "vmlinux", &path))
		fd = fileopener_path(path.p);
	for (size_t i = 0; i <= countof(place); i++) {
		if (fd >= 0)
			why = query_elf(options, fd, query, n, names);
		if (!why || i == countof(place))
			break;
		path.n = 0;
		text_add(&path, options->symfs ? options->symfs : "");
		text_add(&path, place[i].before);
		if (place[i].after)
			text_str(&path, options->release);
		text_add(&path, place[i].after ? place[i].after : "");
		text_char(&path, 0);
		fd = fileopener_path(path.p);
	}
	text_free(&path);
	return why;
}

/* ---- choice of the table ----------------------------------------------------------------------------------------- */

static bool is_elf(int fd)
{
	char magic[4];

	return fd >= 0 && pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
	       memcmp(magic,
		      "\x7f"
		      "ELF",
		      4) == 0;
}

/* Looks up query[0..n) in the file of --kallsyms: a copy of kallsyms, or a vmlinux. Dies if the file cannot be used. */
static void query_named(const struct kernelsyms_options *options, struct symbols_query *query, size_t n,
			struct intern *names, uint32_t *modules)
{
	int fd = fileopener_path(options->file);
	const char *why;

	if (is_elf(fd)) {
		why = query_elf(options, fd, query, n, names);
	} else {
		if (fd >= 0)
			close(fd);
		why = query_kallsyms(options, options->file, query, n, names, modules);
	}
	if (why)
		die("cannot use '%s': %s", options->file, why);
}

const char *kernelsyms_resolve(const struct kernelsyms_options *options, struct symbols_query *query, size_t n,
			       struct intern *names, uint32_t *modules)
{
	const char *why =
		options->id.n || options->release.n ?
			"recorded with another kernel: give its kallsyms or vmlinux by --kallsyms" :
			"the recording does not identify its kernel; if it is this one: --kallsyms /proc/kallsyms";

	if (options->file) {
		query_named(options, query, n, names, modules);
		return NULL;
	}
	if (!query_snapshots(options, query, n, names, modules))
		return NULL;
	if (options->as_perf && !query_vmlinux(options, query, n, names))
		return NULL;
	if (is_running(options))
		why = query_kallsyms(options, NULL, query, n, names, modules);
	if (!why || !query_saved(options, query, n, names, modules) || !query_vmlinux(options, query, n, names))
		return NULL;
	return why;
}
