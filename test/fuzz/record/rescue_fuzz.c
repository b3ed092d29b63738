/* Windows of killed runs: what was rescued is complete, holds the samples that were counted, and a second time changes
 * nothing. */
/* covers: record/windows/rescue.c */
#include "record/windows/rescue.h"

#include "test/fuzz/fuzz.h"

#include <sys/stat.h>

static struct str bytes_of(int fd)
{
	struct stat st;
	char *p;

	MUST(fstat(fd, &st) == 0);
	p = malloc((size_t)st.st_size + 1);
	MUST(p && pread(fd, p, (size_t)st.st_size, 0) == st.st_size);
	return (struct str){ p, (size_t)st.st_size };
}

int fuzz_one(const uint8_t *data, size_t n)
{
	struct rescued r, again;
	const char *why = NULL;
	struct pj_window w;
	struct str before, after;
	char path[32];
	int fd = fuzz_file(data, n, path);

	chunk_item(fd, FEATURE_PJ_START, PJ_ITEM_WINDOW, &w, sizeof(w));
	if (chunk_rescue(fd, &r, &why)) {
		MUST(r.samples > 0 && r.processes <= r.samples && why == NULL);
		before = bytes_of(fd);
		MUST(chunk_rescue(fd, &again, &why) && again.samples == r.samples && again.processes == r.processes);
		after = bytes_of(fd);
		MUST(str_eq(before, after));
		free((void *)(uintptr_t)before.p);
		free((void *)(uintptr_t)after.p);
		chunk_item(fd, FEATURE_PJ_END, PJ_ITEM_LOSS, &w, sizeof(w));
	} else {
		MUST(why && r.samples == 0);
		before = bytes_of(fd);
		MUST(before.n == n && (n == 0 || memcmp(before.p, data, n) == 0));
		free((void *)(uintptr_t)before.p);
	}
	close(fd);
	return 0;
}
