/* inlines: debug information of any bytes gives, for places in ascending order, lists of names or nothing; a place
 * alone is answered as among others when neither is given up. A function without a place is passed over by libdw, which
 * then reads entries that are damaged and that a walk into the function does not reach: so the one may be given up and
 * the other not. */
/* covers: fold/symbols/inlines.c fold/symbols/dies.c fold/symbols/dwarfimage.c */
/* largest: 32768 */
#include "fold/symbols/dwarfimage.h"
#include "fold/symbols/inlines.h"

#include "test/fuzz/fuzz.h"

enum { PLACES = 256 };

static const char *file_path;

static int same_file(void *with, const char *dir, const char *name)
{
	(void)with;
	(void)dir;
	MUST(name);
	return open(file_path, O_RDONLY | O_CLOEXEC);
}

static int same_shared(void *with, const char *name, struct str build_id)
{
	(void)build_id;
	return same_file(with, NULL, name);
}

static const char *resolve(const struct elffile *elffile, struct symbols_query *q, size_t n, struct intern *names,
			   bool as_perf)
{
	struct inlines_options o = { .as_perf = as_perf, .files = { .split = same_file, .shared = same_shared } };
	const char *why = inlines_resolve(&o, elffile, elffile, q, n, names);

	for (size_t i = 0; i < n; i++) {
		struct str list = q[i].inlined ? intern_str(names, q[i].inlined) : STR("x");

		MUST(q[i].inlined <= names->n && list.n);
	}
	return why;
}

/* Half of the places are in code, one after the other; the others are behind that, all over the file and beyond. */
static void find_places(const struct elffile *elffile, size_t n, struct symbols_query q[PLACES])
{
	uint64_t code = 0, step = n / (PLACES / 2) + 1;

	for (size_t i = elffile->segments; i-- > 0;)
		if (elffile->segment[i].flags & 1 && elffile->segment[i].offset < UINT32_MAX)
			code = elffile->segment[i].offset;
	for (size_t i = 0; i < PLACES; i++)
		q[i] = (struct symbols_query){ .address = i < PLACES / 2 ?
								  code + i :
								  code + PLACES / 2 + (i - PLACES / 2) * step };
}

static void query(const struct elffile *elffile, size_t n)
{
	struct symbols_query q[PLACES], one;
	struct intern names = { 0 };
	const char *why;

	find_places(elffile, n, q);
	why = resolve(elffile, q, PLACES, &names, n & 1);
	for (size_t i = 0; i < PLACES && !why; i += PLACES / 4) {
		one = (struct symbols_query){ .address = q[i].address };
		MUST(resolve(elffile, &one, 1, &names, n & 1) || one.inlined == q[i].inlined);
	}
	intern_free(&names);
}

int fuzz_one(const uint8_t *data, size_t n)
{
	struct dwarfimage image = { 0 };
	struct elffile f;
	char path[32];
	int fd = fuzz_file(data, n, path);

	file_path = path;
	if (!elffile_open(&f, fd)) {
		for (unsigned split = 0; split < 2; split++) {
			const char *why = dwarfimage_make(&image, &f, split);

			MUST(why || (image.p && image.n > 64 &&
				     memcmp(image.p,
					    "\x7f"
					    "ELF",
					    4) == 0));
			dwarfimage_free(&image);
		}
		query(&f, n);
	}
	elffile_close(&f);
	close(fd);
	return 0;
}
