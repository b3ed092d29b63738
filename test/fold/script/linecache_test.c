/* The cache must never take one line for another, whatever collides. */
/* covers: fold/script/linecache.c */
#include "fold/script/linecache.h"
#include "test/lib/tap.h"

#include <stdlib.h>

static const struct line_entry *get(struct linecache *lines, const char *tail)
{
	struct line_ref ref = { .p = tail, .n = (uint32_t)strlen(tail) };

	linecache_hash(lines, &ref);
	linecache_guess(lines, &ref);
	return linecache_get(lines, &ref);
}

static struct str name(struct linecache *lines, const char *tail)
{
	return intern_str(&lines->stacks->frames, get(lines, tail)->frame);
}

static void check_split(const char *tail, const char *symbol, const char *dso, bool inlined)
{
	struct names_frame f = linecache_split(str_of(tail));

	is_str(f.symbol, str_of(symbol), tail);
	is_str(f.dso, str_of(dso), "  dso");
	ok(f.inlined == inlined, "  inlined");
}

int main(void)
{
	struct names n = { .kinds = NAMES_ALL_KINDS };
	struct stacks s = { 0 };
	struct linecache l;
	char tail[64];
	bool same = true;

	check_split("f+0x1a (/x)", "f", "/x", false);
	check_split("f (/x (deleted))", "f", "/x (deleted)", false);
	check_split("f+0x1 (/a (1)/b.so)", "f", "/a (1)/b.so", false);
	check_split("f+0x1 (/a(x)", "f", "/a(x", false);
	check_split("f(int) (inlined)", "f(int)", "", true);
	check_split("f(int)", "f(int)", "", false);
	check_split("std::function<void (int)>::operator()(int)", "std::function<void (int)>::operator()(int)", "",
		    false);
	check_split("(/x.so)", "", "/x.so", false);
	check_split("", "", "", false);
	check_split("a+0xg (/x)", "a+0xg", "/x", false);
	check_split("f+0x12", "f", "", false);

	linecache_init(&l, &n, &s);
	is_str(name(&l, "f+0x1 (/x)"), STR("f"), "first sight");
	ok(get(&l, "f+0x1 (/x)")->frame == get(&l, "f+0x22 (/x)")->frame, "another offset is the same frame");
	ok(get(&l, "f+0x1 (/x)") == get(&l, "f (/x)"), "no offset, too");
	ok(get(&l, "f+0x1 (/x)") != get(&l, "f+0x1 (/y)"), "another dso is another entry");
	is_str(name(&l, "f+0xzz (/x)"), STR("f+0xzz"), "what is no offset belongs to the name");
	ok(get(&l, "g (/b+0x1)") == get(&l, "g (/b+0x2)"), "an offset of the dso is none of its name");
	get(&l, "La/B;::f->Lc/D;::g (/tmp/perf-1.map)");
	is_str(name(&l, "La/B;::f->Lc/D;::g (/tmp/perf-1.map)"), STR("c/D.g_[i]"), "the innermost is the frame");
	is_str(intern_str(&s.frames, l.more[get(&l, "La/B;::f->Lc/D;::g (/tmp/perf-1.map)")->callers]),
	       STR("a/B.f_[j]"), "its caller is kept beside");

	for (int i = 0; i < 400000; i++) { /* more than the front table holds, twice the same */
		snprintf(tail, sizeof(tail), "sym%d+0x%x (/x)", i % 200000, i);
		if (i % 7 == 0 || i > 399000) {
			char want[32];

			snprintf(want, sizeof(want), "sym%d", i % 200000);
			same = same && str_eq(name(&l, tail), str_of(want));
		}
	}
	ok(same, "400 000 lines, each its own name");
	linecache_free(&l);
	names_free(&n);
	stacks_free(&s);
	return done();
}
