/* What is kept of an ELF file: whatever the file says, places have the names that the file itself gives them, and it
 * takes no more than it may. From its segments: whatever they say, an ELF file or a reason. */
/* covers: common/formats/elfhead.c record/symsaver/elfreducer.c record/symsaver/dynelf.c */
#include "fold/symbols/elfsyms.h"
#include "record/symsaver/dynelf.h"

#include "common/arena.h"
#include "test/fuzz/fuzz.h"

#include <sys/stat.h>

enum { PLACES = 300, BASE = 0x10000 };

static size_t query(int fd, struct elfsyms_options options, struct symbols_query *q, struct intern *names)
{
	const char *why = NULL;
	struct elfsyms *e = elfsyms_open(dup(fd), &options, &why);
	size_t found;

	if (!e)
		return SIZE_MAX;
	found = elfsyms_resolve(e, e, q, PLACES, names);
	elfsyms_close(e);
	return found;
}

static void same_names(int complete, int small, size_t n, struct elfsyms_options options)
{
	struct symbols_query a[PLACES], b[PLACES];
	struct intern names = { 0 };
	uint64_t step = n / 256 + 1;

	for (size_t i = 0; i < PLACES; i++)
		a[i] = b[i] = (struct symbols_query){ .address = i * step };
	/* what cannot be opened as it is may be better without what was damaged */
	if (query(complete, options, a, &names) != SIZE_MAX) {
		MUST(query(small, options, b, &names) != SIZE_MAX);
		for (size_t i = 0; i < PLACES; i++) {
			MUST(a[i].name == b[i].name);
			MUST(a[i].offset == b[i].offset);
		}
	}
	intern_free(&names);
}

/* The file as it lies in memory when its first page is at BASE. */
static void from_memory(const uint8_t *data, size_t n, struct elfsyms_options options)
{
	int mem = memfd_create("mem", MFD_CLOEXEC), out = memfd_create("out", MFD_CLOEXEC);
	struct reduced r;
	struct stat st;

	MUST(mem >= 0 && out >= 0 && (!n || pwrite(mem, data, n, BASE) == (ssize_t)n));
	if (!dynelf_from_memory(mem, BASE, out, 1u << 16, &r)) {
		struct symbols_query q[PLACES];
		struct intern names = { 0 };

		MUST(fstat(out, &st) == 0 && st.st_size > 0 && r.build_id.n <= 20);
		for (size_t i = 0; i < PLACES; i++)
			q[i] = (struct symbols_query){ .address = i };
		MUST(query(out, options, q, &names) != SIZE_MAX);
		intern_free(&names);
	}
	close(mem);
	close(out);
}

/* Bytes of sections are the same each time, and no more than were allowed. */
static void sections(int fd)
{
	enum { MAXIMUM = 1 << 20, SECTIONS = 64 };
	struct elfhead_source source;
	struct elfhead h = { 0 };

	MUST(elfhead_file(&source, fd));
	if (!elfhead_read(&h, &source, true)) {
		struct arena a = { 0 };

		for (size_t i = 1, left = 4 * MAXIMUM; i < h.sections && i < SECTIONS; i++) {
			size_t max = left < MAXIMUM ? left : MAXIMUM;
			struct str s = elfhead_section(&h, &h.section[i], &a, max);

			MUST(s.n <= max);
			left -= s.n;
		}
		arena_free(&a);
	}
	elfhead_free(&h);
}

int fuzz_one(const uint8_t *data, size_t n)
{
	struct elfsyms_options o = { .as_perf = n > 15 && data[15] & 1, .mangled = n > 15 && data[15] & 2 };
	char path[32];
	int complete = fuzz_file(data, n, path), small = memfd_create("small", MFD_CLOEXEC),
	    segments = memfd_create("segments", MFD_CLOEXEC);
	struct reduced r;
	struct stat st;
	const char *why = elfreducer_write(complete, small, 1u << 20, &r);

	MUST(fstat(small, &st) == 0);
	if (!why && r.bytes)
		same_names(complete, small, n, o);
	MUST(r.bytes <= 1u << 20 || why);
	why = dynelf_from_file(complete, segments, 1u << 16, &r);
	MUST(fstat(segments, &st) == 0 && (why || st.st_size > 0));
	if (!why) {
		struct symbols_query q[PLACES];
		struct intern names = { 0 };

		for (size_t i = 0; i < PLACES; i++)
			q[i] = (struct symbols_query){ .address = i };
		MUST(query(segments, o, q, &names) != SIZE_MAX);
		intern_free(&names);
	}
	sections(complete);
	from_memory(data, n, o);
	close(complete);
	close(small);
	close(segments);
	return 0;
}
