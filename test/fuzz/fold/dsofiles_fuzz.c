/* dsofiles: files of any bytes at all paths where names of a DSO are looked for: asking twice gives the same, no
 * descriptor is left open, and a file that is a hole of its file system costs no more than another one. Input: a byte
 * of options, one that chooses the build-id and one the path, then files: where (below), two bytes of size, the bytes;
 * of a size with the highest bit the file is a hole of 4 TB behind its bytes. */
/* covers: fold/symbols/dsofiles.c */
/* largest: 65536 */
#include "fold/symbols/symstore.h"
#include "fold/symbols/dsofiles.h"
#include "fold/opener/fileopener.h"
#include "fold/symbols/inlines.h"

#include "common/arena.h"
#include "test/fuzz/fuzz.h"
#include "test/fuzz/mutate.h"

#include <elf.h>
#include <errno.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <zlib.h>

enum { AS_PERF = 1, INLINED = 2, LIVE = 4, LOCAL = 8, ELSEWHERE = 16, SYMFS = 32, SYMSTORE = 64 };
enum { HEAD = 3, HOLE = 0x8000, PLACES = 40, FILES_MAX = 32 };

/* %s: a build-id as in .build-id/; without it the path as it is. */
static const char *const places[] = {
	"usr/lib/libx.so",
	"usr/lib/x.debug",
	"usr/lib/.debug/x.debug",
	"usr/lib/debug/usr/lib/x.debug",
	"usr/lib/debug/usr/lib/libx.so.debug",
	"usr/lib/debug/usr/lib/libx.so",
	"usr/lib/debug/lib/libx.so",
	"usr/lib/.debug/libx.so",
	"usr/lib/x.dwo",
	"usr/lib/x.dwz",
	"usr/lib/debug/.build-id/%s.debug",
	"cache/.build-id/%s/elf",
	"cache/.build-id/%s/debug",
	"cache/.build-id/%s/vdso",
};
static const char *const paths[] = { "/usr/lib/libx.so", "/usr/lib/libx.so (deleted)", "[vdso]",
				     "anon_inode:x",     "/usr/lib/none.so",           "/usr/lib/x.debug" };

/* Descriptors without a helper process, and not below any folder but ours. */
static int fake_path(const char *path)
{
	size_t n = strlen(fuzz_folder_path);

	if (strncmp(path, fuzz_folder_path, n) != 0 || strstr(path, "..")) {
		errno = ENOENT;
		return -1;
	}
	return open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
}

static int fake_inside(pid_t pid, struct str path)
{
	char name[4096];

	(void)pid;
	snprintf(name, sizeof(name), "%s%.*s", fuzz_folder_path, (int)path.n, path.p);
	return fake_path(name);
}

static int fake_mapped(pid_t pid, struct str path, const struct file_id *id, uint64_t until)
{
	char name[4096];

	(void)id;
	(void)until;
	if (pid)
		return fake_inside(pid, path);
	snprintf(name, sizeof(name), "%.*s", (int)path.n, path.p);
	return fake_path(name);
}

#define fileopener_path fake_path
#define fileopener_mapped fake_mapped
#define fileopener_inside fake_inside
#include "fold/symbols/dsofiles.c"

static struct build_id build_id_of(struct str bytes)
{
	char path[32];
	const char *why;
	struct elfsyms_options o = { 0 };
	struct elfsyms *e = elfsyms_open(fuzz_file(bytes.p, bytes.n, path), &o, &why);
	struct build_id id = { 0 };

	if (e)
		id = elfsyms_build_id(e);
	if (e)
		elfsyms_close(e);
	return id;
}

static void name_of(char *name, size_t n, unsigned place, const struct build_id *id)
{
	char hex[2 * BUILD_ID_MAX + 2] = "00/", *p = hex;

	for (unsigned i = 0; i < id->n; i++)
		p += sprintf(p, i ? "%02x" : "%02x/", id->byte[i]);
	snprintf(name, n, "%s", places[place]);
	if (strstr(places[place], "%s"))
		snprintf(name, n, "%.*s%s%s", (int)(strstr(places[place], "%s") - places[place]), places[place], hex,
			 strstr(places[place], "%s") + 2);
}

static void make_folders(const char *name)
{
	char path[256];

	for (const char *slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/')) {
		snprintf(path, sizeof(path), "%.*s", (int)(slash - name), name);
		mkdirat(fuzz_folder(), path, 0700);
	}
}

static void put_file(unsigned place, struct str bytes, bool hole, const struct build_id *id)
{
	char name[256], path[512];

	name_of(name, sizeof(name), place, id);
	make_folders(name);
	fuzz_put(name, bytes);
	snprintf(path, sizeof(path), "%s/%s", fuzz_folder_path, name);
	if (hole)
		MUST(truncate(path, (off_t)1 << 42) == 0);
}

static void remove_all(const struct build_id *id)
{
	char name[256];

	for (unsigned i = 0; i < countof(places); i++) {
		name_of(name, sizeof(name), i, id);
		unlinkat(fuzz_folder(), name, 0);
		for (char *slash = strrchr(name, '/'); slash && strstr(name, "build-id/"); slash = strrchr(name, '/')) {
			*slash = 0;
			if (unlinkat(fuzz_folder(), name, AT_REMOVEDIR) != 0)
				break;
		}
	}
}

/* The place, and the bytes; false at the end. */
static bool next_file(struct str *rest, unsigned *place, struct str *bytes, bool *hole)
{
	uint16_t size;

	if (rest->n < 3)
		return false;
	*place = (uint8_t)rest->p[0] % countof(places);
	memcpy(&size, rest->p + 1, 2);
	*rest = str_from(*rest, 3);
	*hole = size & HOLE;
	size &= HOLE - 1;
	*bytes = str_head(*rest, size < rest->n ? size : rest->n);
	*rest = str_from(*rest, bytes->n);
	return true;
}

static enum dso_reason query_all(const uint8_t *head, const struct build_id *id, const struct symstore *symstore,
				 struct symbols_query *query, struct intern *names)
{
	struct dsofiles_inlined inlined = { 0 };
	char cache[128];
	struct dsofiles_options o = { .elf.as_perf = head[0] & AS_PERF,
				      .inlined = head[0] & INLINED ? &inlined : NULL,
				      .symfs = head[0] & SYMFS ? fuzz_folder_path : NULL,
				      .debug_dir = cache,
				      .symstore = head[0] & SYMSTORE ? symstore : NULL,
				      .local = head[0] & LOCAL };
	struct dsofiles_query d = { .path = str_of(paths[head[2] % countof(paths)]),
				    .build_id = *id,
				    .pid = 10835,
				    .elsewhere = head[0] & ELSEWHERE,
				    .live = head[0] & LIVE ? 1 : 0 };
	enum dso_reason why;

	snprintf(cache, sizeof(cache), "%s/cache", fuzz_folder_path);
	for (unsigned i = 0; i < PLACES; i++)
		query[i] = (struct symbols_query){ .address = i < PLACES / 2 ? i * 16 : 0x1000 + i * 8 };
	why = dsofiles_resolve(&o, &d, query, PLACES, names);
	MUST(why <= DSO_SILENT && why != DSO_SILENT && inlined.is_requested == (o.inlined != NULL));
	return why;
}

static void query_twice(const uint8_t *head, const struct build_id *id)
{
	static struct symbols_query first[PLACES], again[PLACES];
	struct intern names = { 0 };
	enum dso_reason why = query_all(head, id, NULL, first, &names);

	MUST(query_all(head, id, NULL, again, &names) == why);
	for (unsigned i = 0; i < PLACES; i++)
		MUST(first[i].name == again[i].name && first[i].name <= names.n &&
		     (why == DSO_FOUND || why == DSO_STRIPPED || !first[i].name));
	intern_free(&names);
}

int fuzz_one(const uint8_t *data, size_t n)
{
	unsigned descriptors, count = 0, place;
	struct build_id id = { 0 };
	struct str rest, bytes;
	bool hole;

	if (n < HEAD)
		return 0;
	MUST(fuzz_folder() >= 0);
	descriptors = fuzz_descriptors();
	rest = (struct str){ (const char *)data + HEAD, n - HEAD };
	/* the build-id of one of the files, or none */
	for (struct str look = rest; data[1] && count < data[1] && next_file(&look, &place, &bytes, &hole); count++)
		if (count + 1 == data[1])
			id = build_id_of(bytes);
	count = 0;
	while (count++ < FILES_MAX && next_file(&rest, &place, &bytes, &hole))
		put_file(place, bytes, hole, &id);
	query_twice(data, data[0] & 128 ? &id : &(struct build_id){ 0 });
	remove_all(&id);
	MUST(fuzz_descriptors() == descriptors);
	return 0;
}

/* ---- libFuzzer only: files -------------------------------------------------------------------------------------- */

static bool files_range(const uint8_t *data, size_t n, size_t *start, size_t *end)
{
	(void)data;
	*start = HEAD;
	*end = n;
	return n > HEAD + 3;
}

static size_t file_size(const uint8_t *file, size_t left)
{
	uint16_t size = 0;

	if (left < 3)
		return 0;
	memcpy(&size, file + 1, 2);
	size &= HOLE - 1;
	return size > left - 3 ? 0 : 3 + (size_t)size;
}

static void file_set_size(uint8_t *file, size_t size)
{
	uint16_t bytes = (uint16_t)((size - 3) & (HOLE - 1));

	memcpy(file + 1, &bytes, 2);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t max, unsigned seed)
{
	static const struct mutate_format f = { files_range, file_size, file_set_size, NULL, 3 };

	return mutate(&f, data, n, max, seed);
}
