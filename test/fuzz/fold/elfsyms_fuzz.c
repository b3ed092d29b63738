/* ELF files: whatever a file says, answers are names that it holds, at or before the place; asking twice gives the
 * same. */
/* covers: fold/symbols/elfsyms.c fold/symbols/elffile.c fold/symbols/symtab.c fold/symbols/plt.c */
/* covers: fold/symbols/minidebug.c */
#include "fold/symbols/elffile.h"
#include "common/formats/buildid.h"
#include "fold/symbols/elfsyms.h"

#include "common/arena.h"
#include "test/fuzz/fuzz.h"

#include <elf.h>

enum { PLACES = 320 };

/* Places all over the file, and around where its tables point. */
static size_t places(struct symbols_query *q, const uint8_t *data, size_t n)
{
	uint64_t at = 0, step = n / 256 + 1;
	size_t count = 0;

	for (; count < 256; at += step)
		q[count++] = (struct symbols_query){ .address = at };
	/* behind its end, and far behind it */
	for (; count < PLACES - 4; at += count % 3 + 1)
		q[count++] = (struct symbols_query){ .address = at };
	for (; count < PLACES; at = at * 65536 + (n ? data[n / 2] : 0) + 1)
		if (at > q[count - 1].address)
			q[count++] = (struct symbols_query){ .address = at };
		else
			break;
	return count;
}

static size_t query(const char *path, struct elfsyms_options options, struct symbols_query *q, size_t n,
		    struct intern *names)
{
	const char *why = NULL;
	struct elfsyms *e = elfsyms_open(open(path, O_RDONLY | O_CLOEXEC), &options, &why);
	size_t found;

	MUST(!e == !!why);
	if (!e)
		return 0;
	MUST(elfsyms_build_id(e).n <= BUILD_ID_MAX);
	(void)elfsyms_debuglink_crc(e);
	MUST(!memchr(elfsyms_debuglink(e).p ? elfsyms_debuglink(e).p : "", 0, elfsyms_debuglink(e).n));
	found = elfsyms_resolve(e, e, q, n, names);
	MUST(elfsyms_resolve(e, e, q, n, names) == 0 || found < n); /* what is answered stays */
	elfsyms_close(e);
	return found;
}

/* As .gnu_debugdata is read, from memory; and packed sections. */
static void image(const uint8_t *data, size_t n)
{
	char *copy = fuzz_copy(data, n);
	struct elffile f;
	size_t total = 0;

	if (!elffile_open_image(&f, (struct str){ copy, n }))
		for (size_t i = 1; i < f.sections && i < 64; i++) {
			struct str s = elffile_bytes(&f, &f.section[i], 1u << 20),
				   again = elffile_bytes(&f, &f.section[i], 1u << 20);

			MUST(s.n <= 1u << 20 && again.n == s.n);
			for (size_t k = 0; k < s.n; k++)
				total += (unsigned char)s.p[k];
		}
	MUST(total <= 64 * (255u << 20));
	elffile_close(&f);
	free(copy);
}

int fuzz_one(const uint8_t *data, size_t n)
{
	struct symbols_query q[PLACES], one[PLACES];
	struct elfsyms_options o = { .as_perf = n > 15 && data[15] & 1, .mangled = n > 15 && data[15] & 2 };
	struct intern names = { 0 };
	size_t count = places(q, data, n), found;
	char path[32];
	int fd = fuzz_file(data, n, path);

	memcpy(one, q, sizeof(one));
	found = query(path, o, q, count, &names);
	for (size_t i = 0; i < count; i++) {
		MUST(q[i].name <= names.n);
		MUST(q[i].name == 0 || q[i].offset == UINT32_MAX || q[i].offset <= q[i].address);
		found -= q[i].name != 0;
	}
	MUST(found == 0);
	/* a place alone is answered as among others */
	for (size_t i = 0; i < count && n < 4096; i += count / 3) {
		query(path, o, &one[i], 1, &names);
		MUST(one[i].name == q[i].name && one[i].offset == q[i].offset);
	}
	image(data, n);
	buildid_in_notes((struct str){ (const char *)data, n });
	intern_free(&names);
	close(fd);
	return 0;
}
