/* nametable_test.c - names of a timeline: numbers in the file go on while names that nothing uses are forgotten;
 * complete records. */
/* covers: common/nametable.c common/formats/jmapfile.c */
#include "test/lib/tap.h"

#include "common/arena.h"
#include "common/nametable.h"
#include "common/formats/jmapfile.h"
#include "common/files/fullio.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static uint32_t add(struct nametable *nametable, unsigned i, bool *is_new)
{
	char name[64];

	snprintf(name, sizeof(name), "void some.package.with.a.name.Class%u.method()", i);
	return nametable_id(nametable, str_of(name), is_new);
}

static void test_renewal(void)
{
	struct nametable t = { 0 };
	uint32_t used[2], id;
	bool is_new, good = true;

	used[0] = add(&t, 0, &is_new);
	ok(is_new && t.number[used[0]] == 0, "the first name has number 0");
	used[1] = add(&t, 1, &is_new);
	id = add(&t, 0, &is_new);
	ok(!is_new && id == used[0], "it comes again: the same id");
	for (unsigned i = 2; i < 200000; i++) { /* 20 MB of names, two of which are used */
		id = add(&t, i, &is_new);
		good = good && is_new && t.number[id] == i;
		nametable_renew(&t, used, 2);
		good = good && nametable_bytes(&t) < 2u << 20;
	}
	ok(good, "names that nothing uses are forgotten: less than 2 MB; numbers go on");
	ok(t.number[used[0]] == 0 && t.number[used[1]] == 1, "those in use have their numbers");
	id = add(&t, 1, &is_new);
	ok(!is_new && id == used[1], "  and are known");
	id = add(&t, 5, &is_new);
	ok(is_new && t.number[id] == 200000, "one that was forgotten is written again, under another number");
	nametable_free(&t);
	ok(t.next_number == 0 && nametable_bytes(&t) < 100, "a file that begins anew begins at 0");
}

static void test_complete(void)
{
	int fd = memfd_create("jmap", MFD_CLOEXEC);
	struct text t = { 0 }, body = { 0 };
	size_t sound;

	text_add(&t, JMAP_MAGIC);
	for (unsigned i = 0; i < 40000; i++)
		text_char(&body, (char)i);
	jmap_frame(&t, text_view(&body));
	jmap_frame(&t, STR("E1"));
	sound = t.n;
	jmap_frame(&t, STR("E2"));
	if (!fullio_write(fd, text_view(&t)))
		return;
	is_u64(jmap_complete(fd), t.n, "all records are complete");
	ok(ftruncate(fd, (off_t)t.n - 1) == 0 && jmap_complete(fd) == sound, "a torn one is not");
	ok(pwrite(fd, "x", 1, 30000) == 1 && jmap_complete(fd) == JMAP_MAGIC_BYTES,
	   "nothing counts from one on that is damaged");
	ok(pwrite(fd, "x", 1, 0) == 1 && jmap_complete(fd) == 0, "no timeline: nothing");
	close(fd);
	text_free(&t);
	text_free(&body);
}

int main(void)
{
	test_renewal();
	test_complete();
	return done();
}
