/* Code that changed between the two scans of a map is left out, and counted by code blob. */
/* covers: jmap/perfmap/codemap.c */
#include "jmap/perfmap/codemap.h"

#include "common/arena.h"
#include "test/lib/tap.h"

#include <stdlib.h>

/* Returns a map of three code blobs: one method, an interpreter of 40 codelets, and one method. */
static struct codemap make(const struct blob *blob)
{
	struct codemap codemap = { .entry = mem_alloc(sizeof(struct codemap_entry), 42) };

	codemap.entry[codemap.n++] = (struct codemap_entry){ .begin = blob[0].begin, .end = blob[0].end, .blob = 0 };
	for (uint64_t at = blob[1].begin; at < blob[1].end; at += 0x10)
		codemap.entry[codemap.n++] = (struct codemap_entry){ .begin = at, .end = at + 0x10, .blob = 1 };
	codemap.entry[codemap.n++] = (struct codemap_entry){ .begin = blob[2].begin, .end = blob[2].end, .blob = 2 };
	return codemap;
}

int main(void)
{
	struct blob before[] = { { .address = 0x1000, .begin = 0x1000, .end = 0x1100, .compile_id = 1 },
				 { .address = 0x2000, .begin = 0x2000, .end = 0x2280 },
				 { .address = 0x3000, .begin = 0x3000, .end = 0x3100, .compile_id = 2 } };
	struct blob after[] = { before[0], before[1], before[2] };
	struct codecache now = { .blob = after, .n = 3 };
	struct codemap codemap = make(before);

	codemap_keep_same(&codemap, before, &now);
	ok(codemap.n == 42 && codemap.left_out == 0, "nothing changed: all entries remain");
	after[1].end += 0x10;
	codemap_keep_same(&codemap, before, &now);
	is_u64(codemap.n, 2, "a blob with many entries changed: the others remain");
	is_u64(codemap.left_out, 1, "  it counts as one");
	now.n = 0;
	codemap_keep_same(&codemap, before, &now);
	is_u64(codemap.n, 0, "all are gone");
	is_u64(codemap.left_out, 3, "  each counts once");
	codemap_free(&codemap);
	return done();
}
