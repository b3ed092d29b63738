/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/symbols/dsofiles.h"

#include "common/formats/vdso.h"
#include "common/arena.h"
#include "common/filter/broker.h"
#include "fold/opener/fileopener.h"
#include "fold/symbols/inlines.h"
#include "common/debug.h"
#include "common/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define DEBUG_ROOT "/usr/lib/debug"
#define CRC_MAX ((off_t)1 << 30)
/* Maximum ratio of the size of a file to the size of its allocated blocks. A file with a larger ratio consists mostly
 * of holes, and is not read for its CRC. A compressed file has a ratio above 1. */
enum { HOLES_MAX = 16 };

/* The search for one DSO: the files found so far, and the first reason of a failure other than DSO_NO_FILE. */
struct search {
	const struct dsofiles_options *options;
	const struct dsofiles_query *query;
	struct build_id id;      /* build-id that a file must have; n == 0: unknown */
	struct elfsyms *path;    /* the mapped file, or its copy in the symbol store */
	struct elfsyms *symbols; /* the first file found with .symtab */
	struct elfsyms *runtime; /* the first file found with .dynsym */
	struct elfsyms *debug;   /* the first file found with debug information, if inlined calls are requested */
	struct text debug_dir;   /* folder of the file `debug`, ending in a slash */
	struct text debuglink;
	uint32_t debuglink_crc;
	enum dso_reason why;
	struct text name; /* buffer: path of the file that is tried */
};

/* ---- opening of ELF files --------------------------------------------------------------------------------------- */

/* Sets search->why to the reason of a failure, unless a reason other than DSO_NO_FILE is already set. */
static void dsofiles_note(struct search *search, enum dso_reason why)
{
	if (search->why == DSO_NO_FILE)
		search->why = why;
}

static bool dsofiles_same_build(struct build_id a, struct build_id b)
{
	static const uint8_t zero[BUILD_ID_MAX];
	size_t n = a.n < b.n ? a.n : b.n;

	/* A perf record has 20 bytes for a build-id, so zeros follow a shorter one. */
	return memcmp(a.byte, b.byte, n) == 0 && memcmp(a.byte + n, zero, a.n - n) == 0 &&
	       memcmp(b.byte + n, zero, b.n - n) == 0;
}

static struct elfsyms *open_elf(struct search *search, int fd)
{
	const char *why;
	struct elfsyms *elfsyms;

	if (fd < 0) {
		if (errno != ENOENT && errno != ENOTDIR)
			dsofiles_note(search, errno == ETIMEDOUT ? DSO_SILENT :
					      errno == ESTALE    ? DSO_OTHER_FILE :
					      errno == ENODATA   ? DSO_UNPROVEN :
								   DSO_FORBIDDEN);
		return NULL;
	}
	elfsyms = elfsyms_open(fd, &search->options->elf, &why);
	if (!elfsyms)
		dsofiles_note(search, DSO_NOT_ELF);
	return elfsyms;
}

static bool is_saved(const struct search *search, const struct elfsyms *elfsyms)
{
	return elfsyms == search->symbols || elfsyms == search->runtime || elfsyms == search->debug ||
	       elfsyms == search->path;
}

/* Returns the folder of a path, ending in a slash; empty if the path has none. */
static struct str dir_of(struct str path)
{
	return str_head(path, (size_t)(str_rfind(path, '/') + 1));
}

/* ---- candidate files -------------------------------------------------------------------------------------------- */

/* Takes ownership of elfsyms: stores the file in `search` if it is the first with .symtab, .dynsym or debug
 * information. Closes a file with another build-id, and a file that is not stored in `search`. */
static void dsofiles_consider(struct search *search, struct elfsyms *elfsyms)
{
	if (!elfsyms)
		return;
	if (search->id.n &&
	    (!elfsyms_build_id(elfsyms).n || !dsofiles_same_build(search->id, elfsyms_build_id(elfsyms)))) {
		dsofiles_note(search, DSO_OTHER_BUILD);
		elfsyms_close(elfsyms);
		return;
	}
	if (!search->symbols && elfsyms_has_symtab(elfsyms))
		search->symbols = elfsyms;
	if (!search->runtime && elfsyms_has_dynsym(elfsyms))
		search->runtime = elfsyms;
	if (!search->debug && search->options->inlined && elfsyms_has_debug_info(elfsyms)) {
		search->debug = elfsyms;
		text_str(&search->debug_dir,
			 dir_of(elfsyms == search->path ? search->query->path : str_of(search->name.p)));
	}
	if (!is_saved(search, elfsyms))
		elfsyms_close(elfsyms);
}

static bool dsofiles_complete(const struct search *search)
{
	return search->symbols && search->runtime && (search->debug || !search->options->inlined);
}

/* Opens a mapped path below the root of the sampled process if this process lives. If the process has ended, or if
 * opening fails and a build-id is known, opens the path in pjfold's own file system, below --symfs. */
static int open_as_mapped(struct search *search, const char *path)
{
	const char *symfs = search->options->symfs;
	struct text name = { 0 };
	int fd = -1;

	if (search->query->live)
		fd = fileopener_inside(search->query->live, str_of(path));
	if (search->query->live && fd < 0 && errno == ETIMEDOUT)
		dsofiles_note(search, DSO_SILENT);
	/* The path may name another file in pjfold's own file system. Only a build-id reveals this, so without a
	 * build-id the file of a living process is not looked up in that file system. */
	if (fd < 0 && (!search->query->live || search->id.n)) {
		if (symfs)
			text_add(&name, symfs);
		text_add(&name, path);
		text_char(&name, '\0');
		fd = fileopener_path(name.p);
		text_free(&name);
	}
	return fd;
}

/* Returns true if neither a build-id nor an option of the user identifies the mapped file, so that the file must be
 * proven by device, inode and times; otherwise false. */
static bool is_unproven(const struct search *search)
{
	return !search->id.n && !search->options->symfs && !search->options->elf.as_perf;
}

/* Opens the mapped file at a path, which ends in a NUL. Returns a descriptor, or -1 and errno. */
static int open_mapped_file(struct search *search, const char *path)
{
	int fd;

	if (!is_unproven(search))
		return open_as_mapped(search, path);
	fd = fileopener_mapped(search->query->live, str_of(path), &search->query->numbers, search->query->until);
	if (fd < 0 && (errno == ESTALE || errno == ENODATA))
		debug(DEBUG_FILES, "%s: not shown to be the mapped file", path);
	return fd;
}

/* Opens the file whose path is in search->name, and considers it as a source of symbols. */
static void try_path(struct search *search)
{
	struct elfsyms *elfsyms;

	if (dsofiles_complete(search) || search->name.n == 0)
		return;
	text_char(&search->name, '\0');
	elfsyms = open_elf(search, open_as_mapped(search, search->name.p));
	debug(DEBUG_FILES, "%.*s: %s: %s", (int)search->query->path.n, search->query->path.p, search->name.p,
	      !elfsyms ? "no ELF file that can be opened" :
	      search->id.n && !dsofiles_same_build(search->id, elfsyms_build_id(elfsyms)) ? "another build" :
											    "the build");
	dsofiles_consider(search, elfsyms);
}

static void dsofiles_begin(struct search *search, const char *start)
{
	search->name.n = 0;
	text_add(&search->name, start);
}

/* Returns true if the file fd may be read completely for its CRC. Returns false if the file has more than CRC_MAX bytes
 * (a second of CPU time), or mostly consists of holes, which cost an attacker nothing. */
static bool dsofiles_may_be_read(int fd)
{
	struct stat status;

	return fstat(fd, &status) == 0 && status.st_size <= CRC_MAX &&
	       (status.st_size <= 4096 || status.st_blocks >= status.st_size / 512 / HOLES_MAX);
}

/* Returns true if the file at search->name has the CRC-32 of .gnu_debuglink: this is the only check if no build-id is
 * known. Returns false if dsofiles_may_be_read refuses the file. */
static bool crc_matches(struct search *search)
{
	unsigned char *block = mem_alloc(1, 1u << 16);
	uLong crc = crc32(0, NULL, 0);
	bool read_it;
	ssize_t got;
	int fd;

	text_char(&search->name, '\0');
	search->name.n--;
	fd = open_as_mapped(search, search->name.p);
	read_it = fd >= 0 && dsofiles_may_be_read(fd);
	for (off_t at = 0; read_it && at <= CRC_MAX && (got = read(fd, block, 1u << 16)) > 0; at += got)
		crc = crc32(crc, block, (uInt)got);
	if (fd >= 0)
		close(fd);
	free(block);
	return read_it && (uint32_t)crc == search->debuglink_crc;
}

static void try_link(struct search *search, const char *root, struct str dir, const char *sub)
{
	dsofiles_begin(search, root);
	text_str(&search->name, dir);
	text_add(&search->name, sub);
	text_str(&search->name, text_view(&search->debuglink));
	if (search->id.n || search->options->elf.as_perf || crc_matches(search))
		try_path(search);
}

static void try_debuglink(struct search *search, struct str path)
{
	struct str dir = dir_of(path), name = text_view(&search->debuglink);

	/* .gnu_debuglink names a file in the same folder: a path with a slash is hostile */
	if (name.n == 0 || str_find(name, '/') >= 0)
		return;
	try_link(search, "", dir, "");
	try_link(search, "", dir, ".debug/");
	try_link(search, DEBUG_ROOT, dir, "");
}

/* Appends "/.build-id/xx/yyyy" to search->name. Returns false if no build-id is known. */
static bool dsofiles_add_build_id(struct search *search)
{
	if (search->id.n < 2)
		return false;
	text_add(&search->name, "/.build-id/");
	for (size_t i = 0; i < search->id.n; i++)
		text_printf(&search->name, i == 0 ? "%02x/" : "%02x", search->id.byte[i]);
	return true;
}

/* Tries the file `what` of the build-id in perf's buildid cache (~/.debug) of the user who runs pjfold, never one in a
 * container. */
static void try_cache(struct search *search, const char *what)
{
	const char *dir = search->options->debug_dir, *home = getenv("HOME");

	if (dsofiles_complete(search) || (!dir && !home))
		return;
	dsofiles_begin(search, dir ? dir : home);
	if (!dir)
		text_add(&search->name, "/.debug");
	if (!dsofiles_add_build_id(search))
		return;
	text_add(&search->name, what);
	text_char(&search->name, '\0');
	dsofiles_consider(search, open_elf(search, fileopener_path(search->name.p)));
}

/* Returns true if the file at the path may be the mapped file; false: it is not tried. Without a build-id, true
 * requires --symfs, the living process or the recorded machine; open_mapped_file then also requires a proof, except
 * with --symfs. */
static bool is_recorded_by_path(const struct search *search)
{
	return search->id.n || search->options->symfs || search->query->live ||
	       (search->options->local && !search->query->elsewhere);
}

static void try_debug_root(struct search *search, struct str path)
{
	if (is_unproven(search) || (search->query->elsewhere && !is_recorded_by_path(search)))
		return;
	dsofiles_begin(search, DEBUG_ROOT);
	text_str(&search->name, path);
	text_add(&search->name, ".debug");
	try_path(search);
	dsofiles_begin(search, DEBUG_ROOT);
	text_str(&search->name, path);
	try_path(search);
	dsofiles_begin(search, DEBUG_ROOT);
	if (dsofiles_add_build_id(search)) {
		text_add(&search->name, ".debug");
		try_path(search);
	}
}

static void try_rest(struct search *search, struct str path)
{
	struct str dir = dir_of(path);

	if (is_unproven(search) || (search->query->elsewhere && !is_recorded_by_path(search)))
		return;
	dsofiles_begin(search, "");
	text_str(&search->name, dir);
	text_add(&search->name, ".debug/");
	text_str(&search->name, str_from(path, dir.n));
	try_path(search);
	if (str_starts(path, STR("/usr/lib/"))) { /* on systems with merged /usr, -dbgsym packages still use /lib */
		dsofiles_begin(search, DEBUG_ROOT);
		text_str(&search->name, str_from(path, 4));
		try_path(search);
	}
}

/* ---- search for the mapped file --------------------------------------------------------------------------------- */

/* Opens the mapped file, or its copy in the symbol store, as search->path. Opens this file before all others, because
 * it contains .gnu_debuglink and also the build-id, which the recording may lack. consider_path() uses its symbols
 * later, in perf's order. */
static void open_path(struct search *search, struct str path)
{
	struct str link;
	int fd = search->options->symstore ? symstore_binary(search->options->symstore, search->query->pid, &search->id,
							     &search->query->numbers) :
					     -1;

	if (fd < 0 && !is_recorded_by_path(search)) {
		dsofiles_note(search, DSO_NO_FILE);
		return;
	}
	search->name.n = 0;
	text_str(&search->name, path);
	text_char(&search->name, '\0');
	if (fd < 0)
		fd = open_mapped_file(search, search->name.p);
	search->path = open_elf(search, fd);
	if (search->options->symstore && search->id.n &&
	    (!search->path || !dsofiles_same_build(search->id, elfsyms_build_id(search->path)))) {
		fd = symstore_unclaimed(search->options->symstore, search->query->pid, &search->id,
					&search->query->numbers);
		if (fd >= 0 && search->path)
			elfsyms_close(search->path);
		if (fd >= 0)
			search->path = open_elf(search, fd);
	}
	if (!search->path)
		return;
	if (!search->id.n)
		search->id = elfsyms_build_id(search->path);
	link = elfsyms_debuglink(search->path);
	text_str(&search->debuglink, link);
	search->debuglink_crc = elfsyms_debuglink_crc(search->path);
}

static void consider_path(struct search *search)
{
	struct elfsyms *elfsyms = search->path;

	if (!elfsyms)
		return;
	if (search->id.n && !dsofiles_same_build(search->id, elfsyms_build_id(elfsyms))) {
		search->path = NULL;
		dsofiles_note(search, DSO_OTHER_BUILD);
		elfsyms_close(elfsyms);
		return;
	}
	dsofiles_consider(search, elfsyms);
}

/* Returns the mapped path without " (deleted)" if a build-id is known; unchanged otherwise, or with as_perf. If the
 * file at the shortened path has the build-id, the mapped file was only renamed, or replaced by an equal file. */
static struct str real_path(const struct search *search)
{
	struct str path = search->query->path;

	if (search->id.n && !search->options->elf.as_perf && str_ends(path, STR(" (deleted)")))
		path.n -= strlen(" (deleted)");
	return path;
}

static void find_files(struct search *search)
{
	struct str path = real_path(search);

	open_path(search, path);
	try_debuglink(search, path);
	try_cache(search, "/elf");
	try_cache(search, "/debug");
	try_debug_root(search, path);
	consider_path(search);
	try_rest(search, path);
}

/* ---- image of the vDSO ------------------------------------------------------------------------------------------ */

/* Returns a descriptor of a memory file that contains this kernel's vDSO, or -1. */
static int open_own_vdso(void)
{
	struct str image = vdso_image();
	int fd = image.n ? broker_memory() : -1;

	if (fd >= 0 && write(fd, image.p, image.n) != (ssize_t)image.n) {
		close(fd);
		return -1;
	}
	return fd;
}

static void find_vdso(struct search *search)
{
	if (search->options->symstore)
		dsofiles_consider(search, open_elf(search, symstore_vdso(search->options->symstore)));
	if (!dsofiles_complete(search) && (search->id.n || search->options->local))
		dsofiles_consider(search, open_elf(search, open_own_vdso()));
	try_cache(search, "/vdso");
	try_cache(search, "/elf");
}

/* ---- lookups of symbols and inlined calls ----------------------------------------------------------------------- */

/* Looks up query[0..n) in the debug file, then, for addresses without a symbol there, in .dynsym, .gnu_debugdata and
 * .gopclntab of the mapped file. Returns the number of new names. */
static size_t dsofiles_query_one(struct search *search, struct symbols_query *query, size_t n, struct intern *names)
{
	/* The segments of the mapped file map offsets to addresses; segments of a debug file have other offsets. (For
	 * static programs, perf uses the debug file's segments and names wrong functions; pj does not copy this.) */
	struct elfsyms *runtime = search->runtime, *symbols = search->symbols;
	size_t answered = 0;

	if (!runtime)
		runtime = search->path ? search->path : symbols;
	if (!runtime)
		return 0;
	if (symbols)
		answered = elfsyms_resolve(symbols, runtime, query, n, names);
	if (!symbols || (symbols != runtime && !search->options->elf.as_perf))
		answered += elfsyms_resolve(runtime, runtime, query, n, names);
	return answered;
}

/* Opens a file to which debug information refers, in the file systems in which mapped files are searched
 * (open_as_mapped). A relative name is below dir. Returns a descriptor, or -1 if the file is not found. */
static int open_named(struct search *search, struct str dir, const char *name)
{
	dsofiles_begin(search, "");
	if (name[0] != '/') {
		text_str(&search->name, dir);
		text_char(&search->name, '/');
	}
	text_add(&search->name, name);
	text_char(&search->name, '\0');
	return search->name.p[0] == '/' ? open_as_mapped(search, search->name.p) : -1;
}

/* Opens the .dwo file `name` at its recorded path (below `dir`), or in the folder of the file that refers to it. libdw
 * then compares the ids of the units. Returns a descriptor, or -1. */
static int dsofiles_open_split(void *with, const char *dir, const char *name)
{
	struct search *search = with;
	int fd = open_named(search, str_of(dir), name);

	return fd >= 0 ? fd : open_named(search, text_view(&search->debug_dir), name);
}

static bool dsofiles_is_build(int fd, struct str id)
{
	struct build_id want = { .n = id.n < BUILD_ID_MAX ? (uint8_t)id.n : BUILD_ID_MAX },
			own = elfsyms_file_build_id(fd);

	memcpy(want.byte, id.p, want.n);
	return own.n && want.n && dsofiles_same_build(want, own);
}

/* Opens the file with the debug information that dwz shares between files: by its build-id, otherwise by its name.
 * Returns -1 if neither exists, or if the file has another build-id. */
static int dsofiles_open_shared(void *with, const char *name, struct str build_id)
{
	struct search *search = with;
	struct text path = { 0 };
	int fd = -1;

	if (build_id.n >= 2) {
		text_add(&path, DEBUG_ROOT "/.build-id/");
		for (size_t i = 0; i < build_id.n; i++)
			text_printf(&path, i == 0 ? "%02x/" : "%02x", (unsigned char)build_id.p[i]);
		text_add(&path, ".debug");
		text_char(&path, '\0');
		fd = open_named(search, (struct str){ 0 }, path.p);
		text_free(&path);
	}
	if (fd < 0)
		fd = open_named(search, text_view(&search->debug_dir), name);
	if (fd >= 0 && !dsofiles_is_build(fd, build_id)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Looks up inlined calls of query[0..n) in the tables of Go in the mapped file. To be called if the file has no debug
 * information. Returns true, and sets *why, as elfsyms_go_inlines does; false if the file has no usable tables of Go,
 * or with as_perf. */
static bool query_go_inlined(struct search *search, struct symbols_query *query, size_t n, struct intern *names,
			     const char **why)
{
	struct elfsyms *mapped = search->path ? search->path : search->runtime;

	return mapped && !search->options->elf.as_perf && elfsyms_go_inlines(mapped, query, n, names, why);
}

static void query_inlined(struct search *search, struct symbols_query *query, size_t n, struct intern *names)
{
	struct inlines_options options = { .as_perf = search->options->elf.as_perf,
					   .files = { dsofiles_open_split, dsofiles_open_shared, search } };
	struct elfsyms *runtime = search->runtime ? search->runtime : search->path ? search->path : search->debug;
	struct dsofiles_inlined *i = search->options->inlined;

	*i = (struct dsofiles_inlined){ .is_requested = true, .found = search->debug };
	if (search->debug)
		i->why = elfsyms_inlines(search->debug, runtime, &options, query, n, names);
	else
		i->found = query_go_inlined(search, query, n, names, &i->why);
}

static void close_files(struct search *search)
{
	struct elfsyms *file[] = { search->path, search->symbols, search->runtime, search->debug };

	for (size_t i = 0; i < countof(file); i++) {
		bool again = false;

		for (size_t index = 0; index < i; index++)
			again = again || file[index] == file[i];
		if (file[i] && !again)
			elfsyms_close(file[i]);
	}
	text_free(&search->debuglink);
	text_free(&search->debug_dir);
	text_free(&search->name);
}

enum dso_reason dsofiles_resolve(const struct dsofiles_options *options, const struct dsofiles_query *query,
				 struct symbols_query *q, size_t n, struct intern *names)
{
	struct search search = { .options = options, .query = query, .id = query->build_id, .why = DSO_NO_FILE };
	size_t open = 0, answered;

	for (size_t i = 0; i < n; i++)
		open += q[i].name == 0;
	if (str_eq(query->path, STR("[vdso]")))
		find_vdso(&search);
	else if (query->path.n && query->path.p[0] == '/' && !memchr(query->path.p, 0, query->path.n))
		find_files(&search);
	answered = dsofiles_query_one(&search, q, n, names);
	if (options->inlined)
		query_inlined(&search, q, n, names);
	if (search.symbols || (answered && !search.runtime && search.path) ||
	    (answered == open && (search.runtime || search.path)))
		search.why = DSO_FOUND;
	else if (search.runtime || search.path)
		search.why = DSO_STRIPPED;
	close_files(&search);
	return search.why;
}
