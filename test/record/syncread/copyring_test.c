/* The ring of copies: order, content, restart, full rings, with a writer and a taker at once. */
/* covers: record/syncread/copyring.c */
#include "record/syncread/copyring.h"
#include "common/process/threads.h"
#include "test/lib/tap.h"

#include <sched.h>
#include <string.h>

/* Writes copy number n, of `bytes` bytes. */
static bool put(struct copyring *ring, uint64_t n, uint32_t bytes)
{
	struct threadcopy *copy = copyring_begin(ring);
	struct certificate_copy note = { .time = n };

	if (!copy)
		return false;
	copy->time = n;
	copy->nbytes = bytes;
	memset(copy->bytes, (int)(n & 0xff), bytes);
	copyring_end(ring, copy, &note);
	return true;
}

/* Takes the oldest copy. Returns its number, UINT64_MAX if its content is not that of its number, 0 if there is none.
 */
static uint64_t take(struct copyring *ring)
{
	const struct threadcopy *copy = copyring_oldest(ring);
	uint64_t n;

	if (!copy)
		return 0;
	n = copy->time;
	for (uint32_t i = 0; i < copy->nbytes; i++)
		if ((uint8_t)copy->bytes[i] != (n & 0xff))
			n = UINT64_MAX;
	copyring_drop(ring);
	return n;
}

static void check_order(void)
{
	struct copyring ring;
	struct certificate_copy note;
	uint64_t n = 0, next = 1;
	bool valid = true;

	ok(copyring_init(&ring), "a ring");
	ok(take(&ring) == 0 && !copyring_note(&ring, &note) && !copyring_is_filling(&ring), "  is empty");
	while (put(&ring, n + 1, 10000))
		n++;
	ok(n > 300 && n < COPYRING_BYTES / 10000, "copies of 10 kB fill it");
	ok(copyring_begin(&ring) == NULL && copyring_begin(&ring) == NULL, "  and then it refuses");
	ok(copyring_is_filling(&ring), "  and is filling");
	for (uint64_t i = 0; i < 2000; i++) {
		valid &= take(&ring) == next++ && copyring_note(&ring, &note) && note.time == next - 1;
		if (put(&ring, n + 1, (uint32_t)(i * 997 % 60000)))
			n++;
	}
	for (; next <= n; next++)
		valid &= take(&ring) == next && copyring_note(&ring, &note);
	ok(!copyring_is_filling(&ring), "without copies it is not filling");
	ok(valid && take(&ring) == 0 && n > 1000, "copies of all sizes come out in order");
	ok(put(&ring, ++n, THREADCOPY_BYTES) && put(&ring, ++n, THREADCOPY_BYTES), "the largest copies");
	ok(take(&ring) == n - 1 && take(&ring) == n, "  come out");
	copyring_free(&ring);
}

static void check_notes(void)
{
	struct copyring ring;
	struct certificate_copy note;
	uint64_t n = 0;

	copyring_init(&ring);
	for (; put(&ring, n + 1, 8); n++)
		take(&ring);
	is_u64(n, COPYRING_NOTES, "the ring of notes is full");
	ok(copyring_note(&ring, &note) && note.time == 1 && put(&ring, 1, 8), "  one is taken, one fits");
	copyring_free(&ring);
}

enum { COPIES = 20000 };

static void *write_all(void *arg)
{
	for (uint64_t n = 1; n <= COPIES;) {
		if (put(arg, n, (uint32_t)(n * 7919 % 30000)))
			n++;
		else
			sched_yield();
	}
	return NULL;
}

static void check_threads(void)
{
	struct copyring ring;
	struct certificate_copy note;
	pthread_t thread;
	uint64_t next = 1, notes = 0;
	bool valid = true;

	copyring_init(&ring);
	threads_start(&thread, 0, write_all, &ring);
	while (next <= COPIES && valid) {
		uint64_t n = take(&ring);

		if (n)
			valid = n == next++;
		else
			sched_yield();
		while (copyring_note(&ring, &note))
			valid &= note.time == ++notes;
	}
	ok(valid, "a writer and a taker at once: each copy comes once, in order");
	pthread_join(thread, NULL);
	copyring_free(&ring);
}

int main(void)
{
	check_order();
	check_notes();
	check_threads();
	return done();
}
