/* perf maps: of any bytes, an answer is the name of the last line that holds the address. */
/* covers: fold/jit/perfmap.c */
#include "fold/jit/perfmap.h"

#include "test/fuzz/fuzz.h"

#define QUERIES 64

int fuzz_one(const uint8_t *data, size_t n)
{
	struct symbols_query q[QUERIES];
	static struct intern names;
	struct perfmap_tally t;
	ptrdiff_t answered, counted = 0;
	char path[32];
	int fd = fuzz_file(data, n, path);

	for (size_t i = 0; i < QUERIES; i++) /* near 0, around 0x1000, at the end of all addresses */
		q[i] = (struct symbols_query){ .address = i < 32 ? i * i * 8 :
							  i < 48 ? 0x1000 + i * 16 :
								   UINT64_MAX - 63 + i };
	intern_free(&names);
	answered = perfmap_resolve(fd, q, QUERIES, &names, &t);
	for (size_t i = 0; i < QUERIES; i++) {
		struct str name = q[i].name ? intern_str(&names, q[i].name) : STR("");

		counted += q[i].name != 0;
		MUST(q[i].name <= names.n);
		MUST(name.n <= n && !memchr(name.n ? name.p : "", '\n', name.n) &&
		     !memchr(name.n ? name.p : "", 0, name.n));
	}
	MUST(answered == counted);
	MUST(t.bad <= t.lines && (t.first_bad != 0) == (t.bad != 0) && t.first_bad <= t.lines && !t.cut);
	close(fd);
	return 0;
}
