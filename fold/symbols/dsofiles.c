/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/symbols/dsofiles.h"

#include "common/arena.h"
#include "common/filter/broker.h"
#include "fold/symbols/fileopener.h"
#include "fold/symbols/inlines.h"
#include "common/text.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define DEBUG_ROOT "/usr/lib/debug"
#define CRC_MAX ((off_t)1 << 30)
enum { HOLES_MAX = 16 }; /* times as large as its blocks, as on file systems that compress */

/* One search: the files that were found so far, and the worst that was met on the way. */
struct search {
	const struct dsofiles_options *options;
	const struct dsofiles_query *query;
	struct build_id id;      /* to be matched; n == 0: not known */
	struct elfsyms *path;    /* the file that was mapped */
	struct elfsyms *symbols; /* the first with .symtab */
	struct elfsyms *runtime; /* the first with .dynsym */
	struct elfsyms *debug;   /* the first with debug information, where inlined calls are asked for */
	struct text debug_dir;   /* where that is, with the slash */
	struct text debuglink;
	uint32_t debuglink_crc;
	enum dso_reason why;
	struct text name; /* scratch */
};

/* ---- opening ---------------------------------------------------------------------------------------------------- */

/* Reasons in the order in which they matter: what was met first is kept, but for a reason that tells more. */
static void dsofiles_note(struct search *s, enum dso_reason why)
{
	if (s->why == DSO_NO_FILE)
		s->why = why;
}

static bool dsofiles_same_build(struct build_id a, struct build_id b)
{
	static const uint8_t zero[BUILD_ID_MAX];
	size_t n = a.n < b.n ? a.n : b.n;

	/* records hold 20 bytes, also of shorter ids */
	return memcmp(a.byte, b.byte, n) == 0 && memcmp(a.byte + n, zero, a.n - n) == 0 &&
	       memcmp(b.byte + n, zero, b.n - n) == 0;
}

static struct elfsyms *open_elf(struct search *s, int fd)
{
	const char *why;
	struct elfsyms *e;

	if (fd < 0) {
		if (errno != ENOENT && errno != ENOTDIR)
			dsofiles_note(s, errno == ETIMEDOUT ? DSO_SILENT : DSO_FORBIDDEN);
		return NULL;
	}
	e = elfsyms_open(fd, &s->options->elf, &why);
	if (!e)
		dsofiles_note(s, DSO_NOT_ELF);
	return e;
}

static bool is_saved(const struct search *s, const struct elfsyms *e)
{
	return e == s->symbols || e == s->runtime || e == s->debug || e == s->path;
}

static struct str dir_of(struct str path) /* with the slash */
{
	return str_head(path, (size_t)(str_rfind(path, '/') + 1));
}

/* ---- candidates ------------------------------------------------------------------------------------------------- */

/* Takes e over: keeps it when it is needed. */
static void dsofiles_consider(struct search *s, struct elfsyms *e)
{
	if (!e)
		return;
	if (s->id.n && (!elfsyms_build_id(e).n || !dsofiles_same_build(s->id, elfsyms_build_id(e)))) {
		dsofiles_note(s, DSO_OTHER_BUILD);
		elfsyms_close(e);
		return;
	}
	if (!s->symbols && elfsyms_has_symtab(e))
		s->symbols = e;
	if (!s->runtime && elfsyms_has_dynsym(e))
		s->runtime = e;
	if (!s->debug && s->options->inlined && elfsyms_has_debug_info(e)) {
		s->debug = e;
		text_str(&s->debug_dir, dir_of(e == s->path ? s->query->path : str_of(s->name.p)));
	}
	if (!is_saved(s, e))
		elfsyms_close(e);
}

static bool dsofiles_complete(const struct search *s)
{
	return s->symbols && s->runtime && (s->debug || !s->options->inlined);
}

/* Opens as the sampled process would; else as we would, with the prefix of the user. */
static int open_as_mapped(struct search *s, const char *path)
{
	const char *symfs = s->options->symfs;
	struct text name = { 0 };
	int fd = -1;

	if (s->query->live)
		fd = fileopener_inside(s->query->live, str_of(path));
	/* another file of the same name is refused by its build-id; where none is known, nobody would notice */
	if (fd < 0 && (!s->query->live || s->id.n)) {
		if (symfs)
			text_add(&name, symfs);
		text_add(&name, path);
		text_char(&name, '\0');
		fd = fileopener_path(name.p);
		text_free(&name);
	}
	return fd;
}

static void try_path(struct search *s)
{
	if (!dsofiles_complete(s) && s->name.n) {
		text_char(&s->name, '\0');
		dsofiles_consider(s, open_elf(s, open_as_mapped(s, s->name.p)));
	}
}

static void dsofiles_begin(struct search *s, const char *start)
{
	s->name.n = 0;
	text_add(&s->name, start);
}

/* A file whose CRC is computed is read completely: at most CRC_MAX bytes, a second of CPU time, and not one that is
 * mostly a hole of its file system, which costs its author nothing. */
static bool dsofiles_may_be_read(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_size <= CRC_MAX &&
	       (st.st_size <= 4096 || st.st_blocks >= st.st_size / 512 / HOLES_MAX);
}

/* Without any build-id, the link's own check is what is left. */
static bool crc_matches(struct search *s)
{
	unsigned char *block = mem_alloc(1, 1u << 16);
	uLong crc = crc32(0, NULL, 0);
	bool read_it;
	ssize_t n;
	int fd;

	text_char(&s->name, '\0');
	s->name.n--;
	fd = open_as_mapped(s, s->name.p);
	read_it = fd >= 0 && dsofiles_may_be_read(fd);
	for (off_t at = 0; read_it && at <= CRC_MAX && (n = read(fd, block, 1u << 16)) > 0; at += n)
		crc = crc32(crc, block, (uInt)n);
	if (fd >= 0)
		close(fd);
	free(block);
	return read_it && (uint32_t)crc == s->debuglink_crc;
}

static void try_link(struct search *s, const char *root, struct str dir, const char *sub)
{
	dsofiles_begin(s, root);
	text_str(&s->name, dir);
	text_add(&s->name, sub);
	text_str(&s->name, text_view(&s->debuglink));
	if (s->id.n || s->options->elf.as_perf || crc_matches(s))
		try_path(s);
}

static void try_debuglink(struct search *s, struct str path)
{
	struct str dir = dir_of(path), name = text_view(&s->debuglink);

	/* a link is a name beside the file, not a way through the file system */
	if (name.n == 0 || str_find(name, '/') >= 0)
		return;
	try_link(s, "", dir, "");
	try_link(s, "", dir, ".debug/");
	try_link(s, DEBUG_ROOT, dir, "");
}

/* ROOT/.build-id/xx/yyyy: appends to the name; false when no build-id is known. */
static bool dsofiles_add_build_id(struct search *s)
{
	if (s->id.n < 2)
		return false;
	text_add(&s->name, "/.build-id/");
	for (size_t i = 0; i < s->id.n; i++)
		text_printf(&s->name, i == 0 ? "%02x/" : "%02x", s->id.byte[i]);
	return true;
}

/* perf's own cache; it is ours, so it is never looked for in a container. */
static void try_cache(struct search *s, const char *what)
{
	const char *dir = s->options->debug_dir, *home = getenv("HOME");

	if (dsofiles_complete(s) || (!dir && !home))
		return;
	dsofiles_begin(s, dir ? dir : home);
	if (!dir)
		text_add(&s->name, "/.debug");
	if (!dsofiles_add_build_id(s))
		return;
	text_add(&s->name, what);
	text_char(&s->name, '\0');
	dsofiles_consider(s, open_elf(s, fileopener_path(s->name.p)));
}

/* May the file at that path be the one that was mapped? Without build-id only where it was mapped. */
static bool is_recorded_by_path(const struct search *s)
{
	return s->id.n || s->options->symfs || s->query->live || (s->options->local && !s->query->elsewhere);
}

static void try_debug_root(struct search *s, struct str path)
{
	if (s->query->elsewhere && !is_recorded_by_path(s))
		return;
	dsofiles_begin(s, DEBUG_ROOT);
	text_str(&s->name, path);
	text_add(&s->name, ".debug");
	try_path(s);
	dsofiles_begin(s, DEBUG_ROOT);
	text_str(&s->name, path);
	try_path(s);
	dsofiles_begin(s, DEBUG_ROOT);
	if (dsofiles_add_build_id(s)) {
		text_add(&s->name, ".debug");
		try_path(s);
	}
}

static void try_rest(struct search *s, struct str path)
{
	struct str dir = dir_of(path);

	if (s->query->elsewhere && !is_recorded_by_path(s))
		return;
	dsofiles_begin(s, "");
	text_str(&s->name, dir);
	text_add(&s->name, ".debug/");
	text_str(&s->name, str_from(path, dir.n));
	try_path(s);
	if (str_starts(path, STR("/usr/lib/"))) { /* merged /usr: packages of debug files still say /lib */
		dsofiles_begin(s, DEBUG_ROOT);
		text_str(&s->name, str_from(path, 4));
		try_path(s);
	}
}

/* ---- the file itself -------------------------------------------------------------------------------------------- */

/* Opened first, as it holds the link, and the build-id when none was recorded; its turn to be considered comes later.
 * What pjrecord kept of it is as good. */
static void open_path(struct search *s, struct str path)
{
	struct str link;
	int fd = s->options->symstore ?
			 symstore_binary(s->options->symstore, s->query->pid, &s->id, &s->query->numbers) :
			 -1;

	if (fd < 0 && !is_recorded_by_path(s)) {
		dsofiles_note(s, DSO_NO_FILE);
		return;
	}
	s->name.n = 0;
	text_str(&s->name, path);
	text_char(&s->name, '\0');
	if (fd < 0)
		fd = open_as_mapped(s, s->name.p);
	s->path = open_elf(s, fd);
	if (s->options->symstore && s->id.n && (!s->path || !dsofiles_same_build(s->id, elfsyms_build_id(s->path)))) {
		fd = symstore_unclaimed(s->options->symstore, s->query->pid, &s->id, &s->query->numbers);
		if (fd >= 0 && s->path)
			elfsyms_close(s->path);
		if (fd >= 0)
			s->path = open_elf(s, fd);
	}
	if (!s->path)
		return;
	if (!s->id.n)
		s->id = elfsyms_build_id(s->path);
	link = elfsyms_debuglink(s->path);
	text_str(&s->debuglink, link);
	s->debuglink_crc = elfsyms_debuglink_crc(s->path);
}

static void consider_path(struct search *s)
{
	struct elfsyms *e = s->path;

	if (!e)
		return;
	if (s->id.n && !dsofiles_same_build(s->id, elfsyms_build_id(e))) {
		s->path = NULL;
		dsofiles_note(s, DSO_OTHER_BUILD);
		elfsyms_close(e);
		return;
	}
	dsofiles_consider(s, e);
}

/* "/usr/lib/x.so (deleted)": when the build-id matches, the file was only renamed, or copied over itself. */
static struct str real_path(const struct search *s)
{
	struct str path = s->query->path;

	if (s->id.n && !s->options->elf.as_perf && str_ends(path, STR(" (deleted)")))
		path.n -= strlen(" (deleted)");
	return path;
}

static void find_files(struct search *s)
{
	struct str path = real_path(s);

	open_path(s, path);
	try_debuglink(s, path);
	try_cache(s, "/elf");
	try_cache(s, "/debug");
	try_debug_root(s, path);
	consider_path(s);
	try_rest(s, path);
}

/* ---- [vdso] --------------------------------------------------------------------------------------------------------
 */

/* A copy of what the kernel maps into every process, also into us. */
static int open_own_vdso(void)
{
	const char *image = (const char *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
	Elf64_Ehdr h;
	size_t size;
	int fd;

	if (!image)
		return -1;
	memcpy(&h, image, sizeof(h));
	size = (size_t)h.e_shoff + (size_t)h.e_shnum * h.e_shentsize;
	if (h.e_ident[EI_CLASS] != ELFCLASS64 || size > 1u << 20)
		return -1;
	fd = broker_memory();
	if (fd >= 0 && write(fd, image, size) != (ssize_t)size) {
		close(fd);
		return -1;
	}
	return fd;
}

static void find_vdso(struct search *s)
{
	if (s->options->symstore)
		dsofiles_consider(s, open_elf(s, symstore_vdso(s->options->symstore)));
	if (!dsofiles_complete(s) && (s->id.n || s->options->local))
		dsofiles_consider(s, open_elf(s, open_own_vdso()));
	try_cache(s, "/vdso");
	try_cache(s, "/elf");
}

/* ---- asking
 * ---------------------------------------------------------------------------------------------------------- */

/* Also what the file that was mapped adds, where the debug file has nothing: .dynsym, .gnu_debugdata. */
static size_t dsofiles_query_one(struct search *s, struct symbols_query *q, size_t n, struct intern *names)
{
	/* The segments are those of the file that was mapped: a debug file's lie elsewhere. (perf takes them from there
	 * when the program is linked statically, and names other functions; no use in doing that as well.) */
	struct elfsyms *runtime = s->runtime, *symbols = s->symbols;
	size_t answered = 0;

	if (!runtime)
		runtime = s->path ? s->path : symbols;
	if (!runtime)
		return 0;
	if (symbols)
		answered = elfsyms_resolve(symbols, runtime, q, n, names);
	if (!symbols || (symbols != runtime && !s->options->elf.as_perf))
		answered += elfsyms_resolve(runtime, runtime, q, n, names);
	return answered;
}

/* The files that debug information refers to are searched for like those of the process. */
static int open_named(struct search *s, struct str dir, const char *name)
{
	dsofiles_begin(s, "");
	if (name[0] != '/') {
		text_str(&s->name, dir);
		text_char(&s->name, '/');
	}
	text_add(&s->name, name);
	text_char(&s->name, '\0');
	return s->name.p[0] == '/' ? open_as_mapped(s, s->name.p) : -1;
}

/* A .dwo: where it was made, or beside the file. libdw compares its own number of it. */
static int dsofiles_open_split(void *with, const char *dir, const char *name)
{
	struct search *s = with;
	int fd = open_named(s, str_of(dir), name);

	return fd >= 0 ? fd : open_named(s, text_view(&s->debug_dir), name);
}

static bool dsofiles_is_build(int fd, struct str id)
{
	struct build_id want = { .n = id.n < BUILD_ID_MAX ? (uint8_t)id.n : BUILD_ID_MAX },
			own = elfsyms_file_build_id(fd);

	memcpy(want.byte, id.p, want.n);
	return own.n && want.n && dsofiles_same_build(want, own);
}

/* What dwz moved out: below its build-id, or by its name. */
static int dsofiles_open_shared(void *with, const char *name, struct str build_id)
{
	struct search *s = with;
	struct text path = { 0 };
	int fd = -1;

	if (build_id.n >= 2) {
		text_add(&path, DEBUG_ROOT "/.build-id/");
		for (size_t i = 0; i < build_id.n; i++)
			text_printf(&path, i == 0 ? "%02x/" : "%02x", (unsigned char)build_id.p[i]);
		text_add(&path, ".debug");
		text_char(&path, '\0');
		fd = open_named(s, (struct str){ 0 }, path.p);
		text_free(&path);
	}
	if (fd < 0)
		fd = open_named(s, text_view(&s->debug_dir), name);
	if (fd >= 0 && !dsofiles_is_build(fd, build_id)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static void query_inlined(struct search *s, struct symbols_query *q, size_t n, struct intern *names)
{
	struct inlines_options o = { .as_perf = s->options->elf.as_perf,
				     .files = { dsofiles_open_split, dsofiles_open_shared, s } };
	struct elfsyms *runtime = s->runtime ? s->runtime : s->path ? s->path : s->debug;
	struct dsofiles_inlined *i = s->options->inlined;

	*i = (struct dsofiles_inlined){ .is_requested = true, .found = s->debug };
	i->why = s->debug ? elfsyms_inlines(s->debug, runtime, &o, q, n, names) : NULL;
}

static void close_files(struct search *s)
{
	struct elfsyms *file[] = { s->path, s->symbols, s->runtime, s->debug };

	for (size_t i = 0; i < countof(file); i++) {
		bool again = false;

		for (size_t k = 0; k < i; k++)
			again = again || file[k] == file[i];
		if (file[i] && !again)
			elfsyms_close(file[i]);
	}
	text_free(&s->debuglink);
	text_free(&s->debug_dir);
	text_free(&s->name);
}

enum dso_reason dsofiles_resolve(const struct dsofiles_options *o, const struct dsofiles_query *d,
				 struct symbols_query *q, size_t n, struct intern *names)
{
	struct search s = { .options = o, .query = d, .id = d->build_id, .why = DSO_NO_FILE };
	size_t open = 0, answered;

	for (size_t i = 0; i < n; i++)
		open += q[i].name == 0;
	if (str_eq(d->path, STR("[vdso]")))
		find_vdso(&s);
	else if (d->path.n && d->path.p[0] == '/' && !memchr(d->path.p, 0, d->path.n))
		find_files(&s);
	answered = dsofiles_query_one(&s, q, n, names);
	if (o->inlined)
		query_inlined(&s, q, n, names);
	if (s.symbols || (answered == open && s.runtime))
		s.why = DSO_FOUND;
	else if (s.runtime || s.path)
		s.why = DSO_STRIPPED;
	close_files(&s);
	return s.why;
}
