/* similar_test - the known word that a mistyped one stands for. */
/* covers: common/similar.c */
#include "common/similar.h"

#include "test/lib/tap.h"

static void finds(const char *word, const char *want)
{
	static const char *const known[] = { "cycles",  "page-faults", "container",
					     "cgroup",  "pod",         "a",
					     "process", "processes",   "a-known-word-that-is-longer-than-32-bytes" };
	struct similar similar = similar_to(str_of(word));

	for (size_t i = 0; i < countof(known); i++)
		similar_offer(&similar, str_of(known[i]));
	is_str(similar.found, str_of(want), word);
}

int main(void)
{
	finds("page-fault", "page-faults");
	finds("pagefaults", "page-faults");
	finds("contaner", "container");
	finds("cotnainer", "container");
	finds("cycels", "cycles");
	finds("cycle", "cycles");
	finds("proc", "process");
	finds("poc", "pod");
	finds("pdo", "pod");
	finds("process", "process");
	finds("xyz", "");
	finds("p", "");
	finds("", "");
	finds("ab", "");
	finds("a-known-word-that-is-longer-than-32-byte", "");
	finds("a-known-word", "");
	return done();
}
