/* epochs_test - no name twice, whatever the clock does. */
/* covers: record/windows/epochs.c */
#include "record/windows/epochs.h"

#include "common/diag.h"
#include "test/lib/tap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static struct epochs e;

static void steps(void)
{
	static const struct {
		uint64_t wanted, got;
		const char *what;
	} row[] = {
		{ 1000, 1000, "the first" },
		{ 1030, 1030, "the next" },
		{ 1060, 1060, "and the next" },
		{ 1060, 1061, "the same second again, by another run" },
		{ 1055, 1062, "set back by 5 s" },
		{ 1000, 1063, "set back by a minute" },
		{ 1090, 1090, "the clock comes to where nobody was" },
		{ 400000000, 400000000, "years ahead" },
		{ 400000030, 400000030, "for two windows" },
		{ 1120, 1120, "and right again: not behind those" },
		{ 1150, 1150, "as before" },
		{ 400000000, 400000031, "ahead once more" },
		{ 10, 10, "long before" },
		{ 40, 40, "all goes on there" },
		{ 1000, 1151, "until it meets what was" },
		{ 1010, 1152, "what lies between is not told apart" },
		{ 5, 5, "what lies before is" },
	};

	struct text t = { 0 };

	for (size_t i = 0; i < countof(row); i++) {
		is_u64(epochs_take(&e, row[i].wanted), row[i].got, row[i].what);
		t.n = 0;
		epochs_text(&e, &t);
		epochs_parse(&e, text_view(&t));
	}
	text_free(&t);
}

static uint64_t state = 1;

static uint64_t any(uint64_t below)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (state >> 33) % below;
}

/* A clock that jumps in every way; names are read back from text each time. */
static void never_twice(void)
{
	enum { TIMES = 20000, SPAN = 40000000 };
	static bool used[SPAN + 100000];
	uint64_t clock = 1000000, twice = 0, far = 0, normal = 0, as_wanted = 0;
	struct text t = { 0 };

	e = (struct epochs){ 0 };
	for (int i = 0; i < TIMES; i++) {
		uint64_t how = any(200), got;

		if (how == 0)
			clock = any(SPAN);
		else if (how < 4)
			clock = clock > 7200 ? clock - any(7200) : clock;
		else
			clock = (clock + 30) % SPAN;
		got = epochs_take(&e, clock);
		if (got >= countof(used)) {
			far++;
			continue;
		}
		twice += used[got];
		used[got] = true;
		normal += how >= 4;
		as_wanted += how >= 4 && got == clock;
		t.n = 0;
		epochs_text(&e, &t);
		epochs_parse(&e, text_view(&t));
	}
	is_u64(twice, 0, "20,000 windows of a clock that jumps: no name twice");
	ok(far == 0 && e.n <= EPOCHS_RANGES && t.n <= EPOCHS_RANGES * 42, "in a file of at most 64 lines");
	ok(as_wanted > normal / 10, "and many have the name they want");
	text_free(&t);
}

static void many_eras(void)
{
	uint64_t twice = 0;

	e = (struct epochs){ 0 };
	for (uint64_t i = 1; i < 200; i++)
		twice += epochs_take(&e, i * 1000000) != i * 1000000;
	ok(twice == 0 && e.n == EPOCHS_RANGES, "more eras than ranges: the closest become one");
	for (uint64_t i = 1; i < 200; i++)
		twice += epochs_take(&e, i * 1000000) == i * 1000000;
	is_u64(twice, 0, "and stay used");
}

static void texts(void)
{
	struct text t = { 0 };

	epochs_parse(&e,
		     STR("garbage\n5 4\n7\n10 20\n18446744073709551615 18446744073709551615\n\n15 30\n-1 5\n1 2 3\n"));
	epochs_text(&e, &t);
	is_str(text_view(&t), STR("00000000000000000010 00000000000000000030\n"), "what is no range is passed over");
	t.n = 0;
	epochs_used(&e, UINT64_MAX - 1);
	is_u64(epochs_take(&e, UINT64_MAX - 1), UINT64_MAX, "the last number");
	text_free(&t);
}

/* Processes that take names at once from one file. */
static void together(void)
{
	enum { PROCESSES = 4, EACH = 200 };
	char path[] = "/tmp/pj-epochs-test.XXXXXX";
	int fd = mkstemp(path);
	uint64_t *got =
		mmap(NULL, sizeof(*got) * PROCESSES * EACH, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	static bool seen[2 * PROCESSES * EACH];
	uint64_t wrong = 0;

	if (fd < 0 || got == MAP_FAILED)
		abort();
	fflush(stdout);
	for (int p = 0; p < PROCESSES; p++) {
		if (fork() == 0) {
			int own = open(path, O_RDWR);

			for (int i = 0; i < EACH; i++)
				if (!epochs_take_from(own, 5, &got[p * EACH + i]))
					_exit(1);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
	for (int i = 0; i < PROCESSES * EACH; i++) {
		wrong += got[i] < 5 || got[i] >= countof(seen) || seen[got[i]];
		if (got[i] < countof(seen))
			seen[got[i]] = true;
	}
	is_u64(wrong, 0, "runs at once: no name twice");
	e = (struct epochs){ 0 };
	epochs_used(&e, 100000);
	epochs_used(&e, 5000000);
	ok(epochs_add_to(fd, &e) && epochs_take_from(fd, 5000000, got) && *got == 5000001 &&
		   epochs_take_from(fd, 5, got) && *got > 800,
	   "what is found elsewhere is added");
	ok(!epochs_take_from(-1, 5, got), "no file, no name");
	close(fd);
	unlink(path);
}

int main(void)
{
	diag_tool("pjtest");
	steps();
	never_twice();
	many_eras();
	texts();
	together();
	return done();
}
