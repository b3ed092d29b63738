/* Rings in a file instead of the kernel's: order, wrapping, horizons, what is broken. */
/* covers: record/perf/rings.c */
#include "record/perf/rings.h"
#include "test/lib/tap.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define BYTES 4096

struct fake {
	int fd;
	struct perf_event_mmap_page *page;
	char *data;
};

static struct fake make(struct rings *rings, enum ring_kind kind, uint32_t tag)
{
	struct fake f = { .fd = memfd_create("ring", 0) };
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (ftruncate(f.fd, (off_t)(page + BYTES)))
		exit(1);
	char *p = mmap(NULL, page + BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, f.fd, 0);
	f.page = (void *)p;
	f.data = p + page;
	if (!rings_add(rings, f.fd, BYTES, kind, tag))
		exit(1);
	return f;
}

static void put(struct fake *fake, const void *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		fake->data[(fake->page->data_head + i) % BYTES] = ((const char *)p)[i];
	fake->page->data_head += n;
}

static void put_name(struct fake *fake, uint64_t time, size_t extra, uint16_t misc)
{
	char bytes[4096] = { 0 };
	struct perf_record h = { .type = RECORD_COMM,
				 .misc = misc,
				 .size = (uint16_t)(sizeof(h) + extra + sizeof(struct ring_sample_id)) };
	struct ring_sample_id t = { .time = time };

	memset(bytes, 'x', sizeof(bytes));
	memcpy(bytes, &h, sizeof(h));
	memcpy(bytes + h.size - sizeof(t), &t, sizeof(t));
	put(fake, bytes, h.size);
}

static void put_comm(struct fake *fake, uint64_t time, size_t extra)
{
	put_name(fake, time, extra, 0);
}

static void put_sample(struct fake *fake, uint64_t time)
{
	struct ring_sample s = { .head = { .type = RECORD_SAMPLE, .size = sizeof(s) }, .time = time };

	put(fake, &s, sizeof(s));
}

struct seen {
	uint64_t time[1000];
	size_t n, complete;
};

static void see(void *to, const struct ring_record *record)
{
	struct seen *s = to;
	const char *p = (const char *)(record->head + 1);
	bool complete = true;

	for (size_t i = 0; record->head->type == RECORD_COMM &&
			   i < record->head->size - sizeof(*record->head) - sizeof(struct ring_sample_id);
	     i++)
		complete &= p[i] == 'x';
	s->complete += complete;
	s->time[s->n++] = record->time * 2 + (record->kind == RING_OF_STATE);
}

static bool ascending(const struct seen *seen)
{
	for (size_t i = 1; i < seen->n; i++)
		if (seen->time[i] < seen->time[i - 1])
			return false;
	return true;
}

static void check_order(void)
{
	struct rings *r = rings_new();
	struct fake a = make(r, RING_OF_SAMPLES, 0), b = make(r, RING_OF_STATE, 0), c = make(r, RING_OF_SAMPLES, 1);
	struct seen s = { 0 };

	put_sample(&a, 10);
	put_sample(&a, 30);
	put_comm(&b, 10, 16);
	put_comm(&b, 20, 24);
	put_sample(&c, 15);
	put_sample(&c, 40);
	is_u64(rings_drain(r, 40, see, &s), 5, "what is older than the horizon");
	ok(s.time[0] == 21 && s.time[1] == 20, "state before a sample of the same time");
	ok(s.time[2] == 30 && s.time[3] == 41 && s.time[4] == 60, "three rings in order of time");
	is_u64(rings_drain(r, 40, see, &s), 0, "nothing twice");
	is_u64(rings_drain(r, UINT64_MAX, see, &s), 1, "the rest");
	ok(a.page->data_tail == a.page->data_head && c.page->data_tail == c.page->data_head,
	   "and the kernel has its room again");
	is_u64(rings_late(r), 0, "nothing was late");
	put_sample(&a, 5);
	rings_drain(r, UINT64_MAX, see, &s);
	is_u64(rings_late(r), 1, "what is older than what was delivered is counted");
	rings_remove(r, 1);
	put_sample(&c, 99);
	is_u64(rings_drain(r, UINT64_MAX, see, &s), 0, "a ring that was removed is not read");
	rings_free(r);
}

/* The third record waits until the second look. */
struct holding {
	struct rings *rings;
	struct seen seen;
	size_t calls;
};

static void hold_once(void *to, const struct ring_record *record)
{
	struct holding *h = to;

	if (h->calls++ == 2) {
		rings_hold(h->rings);
		return;
	}
	see(&h->seen, record);
}

static void check_hold(void)
{
	struct rings *r = rings_new();
	struct fake a = make(r, RING_OF_SAMPLES, 0), b = make(r, RING_OF_SAMPLES, 1);
	struct holding h = { .rings = r };

	for (uint64_t i = 1; i <= 3; i++) {
		put_sample(&a, 20 * i);
		put_sample(&b, 20 * i + 10);
	}
	is_u64(rings_drain(r, UINT64_MAX, hold_once, &h), 2, "a record that is held ends the look");
	is_u64(rings_drain(r, UINT64_MAX, hold_once, &h), 4, "  the next begins with it");
	ok(h.seen.n == 6 && ascending(&h.seen) && h.seen.time[2] == 80, "  nothing is lost, and all is in order");
	is_u64(rings_late(r), 0, "  nor late");
	rings_free(r);
}

static void check_wrapping(void)
{
	struct rings *r = rings_new();
	struct fake a = make(r, RING_OF_SAMPLES, 0), b = make(r, RING_OF_STATE, 1);
	struct seen s = { 0 };
	uint64_t time = 0;

	for (int i = 0; i < 300; i++) {
		put_comm(&a, ++time, 8 * (size_t)(i % 40));
		put_comm(&b, ++time, 8 * (size_t)(i % 7));
		rings_drain(r, UINT64_MAX, see, &s);
	}
	is_u64(s.n, 600, "records that lie at both ends of a ring, all");
	is_u64(s.complete, 600, "  and whole");
	ok(ascending(&s), "  in order");
	rings_free(r);
}

static void put_mapping(struct fake *fake, uint64_t time, uint32_t pid, size_t extra)
{
	struct ring_sample_id t = { .time = time };
	char bytes[1024] = { 0 };
	struct perf_record h = { .type = RECORD_MMAP2, .size = (uint16_t)(sizeof(h) + 8 + extra + sizeof(t)) };

	memcpy(bytes, &h, sizeof(h));
	memcpy(bytes + sizeof(h), &pid, sizeof(pid));
	memcpy(bytes + h.size - sizeof(t), &t, sizeof(t));
	put(fake, bytes, h.size);
}

static bool is_odd(void *to, uint32_t pid)
{
	++*(unsigned *)to;
	return pid & 1;
}

static void check_skip(void)
{
	struct rings *r = rings_new();
	struct fake a = make(r, RING_OF_STATE, 0), b = make(r, RING_OF_STATE, 1);
	struct seen s = { 0 };
	unsigned calls = 0;

	put_mapping(&a, 1, 7, 0);
	is_u64(rings_drain(r, UINT64_MAX, see, &s), 1, "before rings_skip all mappings are delivered");
	rings_skip(r, is_odd, &calls);
	put_mapping(&a, 10, 7, 8);
	put_mapping(&a, 20, 6, 16);
	put_mapping(&a, 90, 7, 24);
	put_name(&a, 95, 16, MISC_COMM_EXEC);
	put_mapping(&a, 96, 7, 24);
	put_mapping(&b, 91, 5, 0);
	is_u64(rings_drain(r, 50, see, &s), 1, "then those that nobody wants are skipped");
	is_u64(s.time[1], 41, "  the others are not,");
	is_u64(rings_skipped(r), 3, "  and are counted, also behind the horizon");
	ok(b.page->data_tail == b.page->data_head, "  where their place is the kernel's again");
	ok(a.page->data_head - a.page->data_tail > 100, "  but not behind a record that has to wait");
	is_u64(rings_drain(r, UINT64_MAX, see, &s), 1, "which is delivered in its turn");
	is_u64(rings_skipped(r), 4, "  and then the next is skipped");
	for (uint64_t i = 0; i < 500; i++) { /* around the end of the ring */
		put_mapping(&a, 100 + i, (uint32_t)i, 8 * (i % 60));
		if (i % 4 == 0)
			rings_drain(r, UINT64_MAX, see, &s);
	}
	rings_drain(r, UINT64_MAX, see, &s);
	is_u64(s.n, 3 + 250, "half of many");
	is_u64(calls, 5 + 500, "  each asked about once");
	put_comm(&a, 1000, 16);
	put_name(&a, 1010, 16, MISC_COMM_EXEC);
	calls = 0;
	rings_drain(r, UINT64_MAX, see, &s);
	is_u64(calls, 1, "  a new name is asked about, an exec is not");
	is_u64(rings_broken(r), 0, "  and none is broken");
	rings_free(r);
}

static void check_broken(void)
{
	struct rings *r = rings_new();
	struct fake a = make(r, RING_OF_SAMPLES, 0);
	struct seen s = { 0 };
	struct perf_record bad[] = { { .type = RECORD_COMM, .size = 8 },
				     { .type = RECORD_COMM, .size = 0 },
				     { .type = RECORD_COMM, .size = 4000 },
				     { .type = RECORD_SAMPLE, .size = 41 } };

	for (size_t i = 0; i < countof(bad); i++) {
		char pad[64] = { 0 };

		put(&a, bad + i, sizeof(*bad));
		put(&a, pad, sizeof(pad));
		is_u64(rings_drain(r, UINT64_MAX, see, &s), 0, "what is no record is no record");
		is_u64(rings_broken(r), i + 1, "  and counted");
		put_sample(&a, 100 + i);
		is_u64(rings_drain(r, UINT64_MAX, see, &s), 1, "  what comes next is read");
	}
	rings_free(r);
}

static void check_share(void)
{
	struct rings *r = rings_new();
	struct fake a = make(r, RING_OF_SAMPLES, 0);
	struct seen s = { 0 };

	for (int i = 0; i < 8; i++)
		put_comm(&a, (uint64_t)i + 1, 512 - sizeof(struct perf_record) - sizeof(struct ring_sample_id) - 256);
	rings_drain(r, 5, see, &s);
	is_u64(rings_high(r), 500, "half full");
	is_u64(rings_left(r), 250, "a quarter is left");
	is_u64(rings_bytes(r), BYTES + (size_t)sysconf(_SC_PAGESIZE), "memory");
	rings_free(r);
}

static void put_lost(struct fake *fake, uint32_t type, uint64_t time)
{
	struct {
		struct perf_record head;
		uint64_t id, lost;
		struct ring_sample_id tail;
	} r = { { .type = type, .size = sizeof(r) }, 1, 5, { .time = time } };

	put(fake, &r, sizeof(r));
}

static void check_lossy(void)
{
	struct rings *r = rings_new();
	struct fake a = make(r, RING_OF_SWITCHES, 0), b = make(r, RING_OF_SAMPLES, 1);
	struct seen s = { 0 };

	ok(!rings_lossy(r, RING_OF_SWITCHES), "nothing, so nothing was lost");
	for (int i = 0; i < 100; i++) { /* around the end of the ring, too */
		put_comm(&a, (uint64_t)i + 1, 64);
		put_sample(&a, (uint64_t)i + 1);
		if (rings_lossy(r, RING_OF_SWITCHES))
			break;
		rings_drain(r, UINT64_MAX, see, &s);
	}
	is_u64(s.n, 200, "records, and nothing was lost");
	put_lost(&b, RECORD_LOST, 200);
	ok(!rings_lossy(r, RING_OF_SWITCHES) && rings_lossy(r, RING_OF_SAMPLES), "in a ring of another kind");
	put_sample(&a, 201);
	put_lost(&a, RECORD_LOST, 202);
	put_sample(&a, 203);
	ok(rings_lossy(r, RING_OF_SWITCHES), "a record that says so");
	rings_drain(r, 203, see, &s);
	ok(!rings_lossy(r, RING_OF_SWITCHES), "until it was taken");
	put_lost(&a, RECORD_LOST_SAMPLES, 204);
	ok(rings_lossy(r, RING_OF_SWITCHES), "the other one");
	rings_drain(r, UINT64_MAX, see, &s);
	for (uint64_t i = 0; i < 6; i++) {
		ok(!rings_lossy(r, RING_OF_SWITCHES), "room for more");
		put_comm(&a, 300 + i, 512 - sizeof(struct perf_record) - sizeof(struct ring_sample_id));
	}
	put_sample(&a, 310);
	ok(rings_lossy(r, RING_OF_SWITCHES), "too full to tell");
	rings_free(r);
}

/* A ring that another thread polls is not in the list for poll, and is drained all the same. */
static void check_quiet(void)
{
	struct rings *rings = rings_new();
	struct fake sample = make(rings, RING_OF_SAMPLES, 3), state = make(rings, RING_OF_STATE, 3);
	struct seen seen = { 0 };
	size_t bytes;
	int fd[4] = { 0 };

	ok(rings_fd(rings, RING_OF_SAMPLES, 3, &bytes) == sample.fd && bytes == BYTES, "the ring of a kind and tag");
	ok(rings_fd(rings, RING_OF_SAMPLES, 4, &bytes) == -1 && bytes == 0, "no such ring");
	is_u64(rings_fds(rings, fd, 4), 2, "two rings to poll");
	rings_set_quiet(rings, RING_OF_SAMPLES, 3, true);
	rings_set_quiet(rings, RING_OF_SAMPLES, 4, true);
	ok(rings_fds(rings, fd, 4) == 1 && fd[0] == state.fd, "a quiet one is left out");
	put_sample(&sample, 5);
	ok(rings_drain(rings, UINT64_MAX, see, &seen) == 1, "  and drained");
	rings_set_quiet(rings, RING_OF_SAMPLES, 3, false);
	is_u64(rings_fds(rings, NULL, 0), 2, "both again");
	rings_free(rings);
}

int main(void)
{
	check_quiet();
	check_lossy();
	check_order();
	check_hold();
	check_wrapping();
	check_skip();
	check_broken();
	check_share();
	return done();
}
