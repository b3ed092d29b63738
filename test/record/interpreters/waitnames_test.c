/* Names of threads that are off the CPU: each later window has them again, at the addresses of their callchains or at
 * others if those stand for other functions there; memory is bounded for all and for a tenant. */
/* covers: record/interpreters/waitnames.c */
#include "record/interpreters/waitnames.h"
#include "common/formats/pjsection.h"
#include "test/lib/tap.h"

#include <stdlib.h>

static const struct tenant tenant = { TENANT_USER, 1 };

static struct framenames_frame frame_of(uint64_t address, struct str text)
{
	return (struct framenames_frame){ address, PJ_LANGUAGE_PYTHON, 3, text };
}

/* Notes n frames of thread tid, and keeps them; ips gets their addresses. */
static bool keep(struct waitnames *waitnames, struct framenames *names, uint32_t tid,
		 const struct framenames_frame *frame, size_t n, uint64_t *ips)
{
	struct waitnames_frame kept[8];

	for (size_t i = 0; i < n; i++) {
		ips[i] = framenames_note(names, 7, tenant, &frame[i]);
		kept[i] = (struct waitnames_frame){ frame[i], ips[i] };
	}
	return waitnames_keep(waitnames, &(struct waitnames_wait){ 7, tid, tenant, kept, n });
}

static void next_window(struct framenames *names)
{
	struct text text = { 0 };

	framenames_end(names, &text);
	text_free(&text);
}

static void check_windows(struct waitnames *waitnames)
{
	struct framenames *names = framenames_new();
	const struct framenames_frame other = frame_of(0x1000, STR("m.other\0m.py\0")), frame[] = {
		frame_of(0x1000, STR("m.f\0m.py\0")), frame_of(0x2000, STR("m.g\0m.py\0")),
		frame_of(0x2000, STR("m.g\0m.py\0")), frame_of(0, (struct str){ 0 })
	};
	uint64_t ips[4], first[4], fresh;

	ok(keep(waitnames, names, 8, frame, 4, ips), "the names of a wait are kept");
	ok(ips[0] == 0x1000 && ips[1] == 0x2000 && ips[2] == 0x2000 && ips[3] == PJ_FUNCTIONS_UNNAMED,
	   "  at the addresses of its frames");
	next_window(names);
	waitnames_rename(waitnames, names, 8, ips, 4);
	ok(ips[0] == 0x1000 && ips[3] == PJ_FUNCTIONS_UNNAMED, "the next window has the same addresses");
	ok(framenames_note(names, 7, tenant, &other) != 0x1000, "  which are taken there");
	next_window(names);
	fresh = framenames_note(names, 7, tenant, &other);
	waitnames_rename(waitnames, names, 8, ips, 4);
	ok(fresh == 0x1000 && ips[0] >= PJ_FUNCTIONS_MORE && ips[1] == 0x2000,
	   "an address that is another function's in a window is replaced");

	/* addresses outside of processes are numbered in each window */
	next_window(names);
	framenames_note(names, 7, tenant, &other);
	ok(keep(waitnames, names, 8, frame, 2, first) && first[0] >= PJ_FUNCTIONS_MORE, "a wait with such an address");
	next_window(names);
	ips[0] = first[0];
	ips[1] = first[1];
	waitnames_rename(waitnames, names, 8, ips, 2);
	ok(ips[0] == 0x1000 && ips[1] == 0x2000, "  has its own in a window where that is free");
	ips[0] = 0x5000;
	waitnames_rename(waitnames, names, 9, ips, 1);
	waitnames_rename(waitnames, names, 8, ips, 1);
	ok(ips[0] == 0x5000, "other addresses, and other threads, stay as they are");
	framenames_free(names);
}

static void check_limits(struct waitnames *waitnames)
{
	static char text[1 << 20];
	struct waitnames_frame frame = { frame_of(0x1000, (struct str){ text, sizeof(text) }), 0x1000 };
	struct waitnames_wait wait = { 7, 1, tenant, &frame, 1 };
	unsigned n = 0, others = 0;

	waitnames_forget_all(waitnames);
	for (wait.tid = 1; wait.tid <= 20; wait.tid++)
		n += waitnames_keep(waitnames, &wait);
	ok(n == WAITNAMES_BYTES / 2 / sizeof(text) - 1, "a tenant has half of the memory");
	ok(waitnames_find(waitnames, 1) && !waitnames_find(waitnames, 20), "  further waits are not kept");
	wait.tid = 1;
	ok(waitnames_keep(waitnames, &wait), "a new wait of a thread takes the place of its last one");
	for (wait.tid = 101; wait.tid <= 120; wait.tid++) {
		wait.tenant.key = wait.tid;
		others += waitnames_keep(waitnames, &wait);
	}
	ok(n + others == WAITNAMES_BYTES / sizeof(text) - 1, "all tenants have all of it");
	waitnames_forget(waitnames, 1);
	waitnames_forget(waitnames, 1);
	ok(!waitnames_find(waitnames, 1), "a thread that runs again has no wait");
	wait.tid = 20;
	wait.tenant = tenant;
	ok(waitnames_keep(waitnames, &wait), "  and its memory is another's");
}

int main(void)
{
	struct waitnames *waitnames = waitnames_new();

	check_windows(waitnames);
	check_limits(waitnames);
	waitnames_free(waitnames);
	waitnames_free(NULL);
	return done();
}
