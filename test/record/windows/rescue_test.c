/* rescue_test - a window cut at any byte keeps its whole records, becomes complete, and stays so. */
/* covers: record/windows/rescue.c */
#include "record/windows/rescue.h"

#include "common/diag.h"
#include "fold/perfdata/perfdata.h"
#include "test/lib/killed.h"
#include "test/lib/tap.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static const struct pj_window window = { KILLED_TIME, KILLED_TIME + 30000000000u, 3 };
static struct killed k;

static int file_of(const void *p, size_t n)
{
	int fd = memfd_create("rescue", MFD_CLOEXEC);

	if (fd < 0 || write(fd, p, n) != (ssize_t)n)
		abort();
	return fd;
}

static struct str bytes_of(int fd)
{
	static char buf[4][1 << 20];
	static unsigned i;

	i = (i + 1) % 4;
	return (struct str){ buf[i], (size_t)pread(fd, buf[i], sizeof(buf[i]), 0) };
}

/* What is in a file, as pjfold sees it. */
struct seen {
	uint64_t samples, lost, bad;
	bool unfinished;
	uint64_t first, last;
	char host[32];
};

static struct seen look(int fd)
{
	static struct in in;
	const struct perfdata_record *r;
	struct seen s = { 0 };
	struct perfdata *p;
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	in_open(&in, path);
	p = perfdata_open(&in);
	while ((r = perfdata_next(p))) {
		s.samples += r->kind == PERFDATA_SAMPLE;
		if (r->kind == PERFDATA_SAMPLE) {
			s.first = s.first ? s.first : r->time;
			s.last = r->time;
		}
	}
	s.bad = perfdata_tally(p)->bad;
	s.unfinished = perfdata_info(p)->unfinished;
	snprintf(s.host, sizeof(s.host), "%.*s", (int)perfdata_info(p)->host.n,
		 perfdata_info(p)->host.p ? perfdata_info(p)->host.p : "");
	perfdata_close(p);
	in_close(&in);
	return s;
}

static uint64_t processes;

static bool rescue(int fd, uint64_t *samples, const char **why)
{
	struct rescued r = { 1, 1 };
	bool good = chunk_rescue(fd, &r, why);

	*samples = r.samples;
	processes = r.processes;
	return good;
}

static size_t complete(size_t cut, uint64_t *samples)
{
	size_t end = k.data;

	*samples = 0;
	for (size_t i = 0; i < k.n && k.end[i] <= cut; i++) {
		end = k.end[i];
		*samples += k.sample[i];
	}
	return end;
}

static bool rescued_right(int fd, size_t cut)
{
	uint64_t samples, want, again;
	size_t end = complete(cut, &want);
	const char *why = NULL;
	bool good = rescue(fd, &samples, &why);
	struct str now = bytes_of(fd), after;
	struct perf_file_header h;
	struct seen s;

	if (samples != want || good != (want > 0) || good != (why == NULL))
		return false;
	if (!good)
		return now.n == cut; /* as it was */
	memcpy(&h, now.p, sizeof(h));
	if (h.data.size != end - h.data.offset || memcmp(now.p + k.data, k.file.p + k.data, end - k.data) != 0)
		return false;
	s = look(fd);
	if (s.samples != want || s.unfinished || s.bad || strcmp(s.host, "somewhere") != 0 || s.first != KILLED_TIME ||
	    s.last != KILLED_TIME + (want - 1) * 1000000)
		return false;
	good = rescue(fd, &again, &why);
	after = bytes_of(fd);
	return good && again == want && str_eq(now, after);
}

static void any_cut(void)
{
	size_t bad = 0, bad_tail = 0;
	static const char suffixes[][24] = { { 0 },
					     { 9, 0, 0, 0, 2, 0, 64, 0 },
					     { 9, 0, 0, 0, 2, 0, 4, 0 },
					     { 9, 0, 0, 0, 2, 0, 13, 0 },
					     { 66, 0, 0, 0, 0, 0, 8, 0 },
					     { -1, -1, -1, -1, -1, -1, -1, -1 } };

	killed_make(&k, &window, 20);
	for (size_t cut = 0; cut <= k.file.n; cut++) {
		int fd = file_of(k.file.p, cut);

		bad += !rescued_right(fd, cut);
		close(fd);
	}
	is_u64(bad, 0, "cut at any byte: the whole records stay, twice is once");
	for (size_t i = 0; i < countof(suffixes); i++) {
		int fd = file_of(k.file.p, k.file.n);

		lseek(fd, 0, SEEK_END);
		if (write(fd, suffixes[i], sizeof(suffixes[i])) != sizeof(suffixes[i]))
			abort();
		bad_tail += !rescued_right(fd, k.file.n);
		close(fd);
	}
	is_u64(bad_tail, 0, "zeros, or what is no record, at the end");
}

/* Killed while it was being completed or rescued: any part of the table may be there, the bits are not. After a power
 * failure the bits may be there and the table not. */
static void in_between(void)
{
	int fd = file_of(k.file.p, k.file.n), part;
	uint64_t samples;
	const char *why;
	size_t bad = 0, bad_power = 0;
	struct perf_file_header h;
	struct str done_file;

	rescue(fd, &samples, &why);
	done_file = bytes_of(fd);
	memcpy(&h, done_file.p, sizeof(h));
	close(fd);
	for (size_t cut = k.file.n; cut <= done_file.n; cut++) {
		part = file_of(done_file.p, cut);
		if (pwrite(part, (uint64_t[4]){ 0 }, 32, offsetof(struct perf_file_header, features)) != 32)
			abort();
		bad += !rescued_right(part, k.file.n);
		close(part);
		part = file_of(done_file.p, cut);
		if (ftruncate(part, (off_t)done_file.n) < 0) /* zeros */
			abort();
		bad_power += cut < done_file.n - 100 && !rescued_right(part, k.file.n);
		close(part);
	}
	is_u64(bad, 0, "killed while it was completed");
	is_u64(bad_power, 0, "power failed after the header, before the table");
}

static void loss(void)
{
	struct pj_loss l = { 0 };
	struct pj_window w = { 0 };
	uint64_t other[] = { 77, 0x401000, 43 | UINT64_C(44) << 32, KILLED_TIME, 0, 1000000, 0 };
	char boot[64] = "";
	uint64_t samples;
	const char *why;
	int fd;

	text_free(&k.file);
	killed_start(&k, &window, KILLED_BOOT);
	killed_comm(&k, KILLED_TIME);
	killed_sample(&k, KILLED_TIME);
	killed_record(&k, RECORD_SAMPLE, 2, other, sizeof(other));
	killed_record(&k, RECORD_SAMPLE, 2, other, sizeof(other));
	killed_lost(&k, KILLED_TIME + 1, 100);
	killed_record(&k, RECORD_THROTTLE, 0, (uint64_t[7]){ 0 }, 56);
	fd = file_of(k.file.p, k.file.n);
	ok(chunk_item(fd, FEATURE_PJ_START, PJ_ITEM_WINDOW, &w, sizeof(w)) == sizeof(w) && w.end == window.end &&
		   w.serial == 3,
	   "the window of a file that is being written");
	ok(chunk_item(fd, FEATURE_PJ_END, PJ_ITEM_LOSS, &l, sizeof(l)) == 0, "which has no end yet");
	ok(rescue(fd, &samples, &why) && samples == 3 && processes == 2, "rescue: samples and processes are counted");
	ok(chunk_item(fd, FEATURE_PJ_END, PJ_ITEM_LOSS, &l, sizeof(l)) == sizeof(l) && l.samples == 100 &&
		   l.records == 100 && l.throttled == 1,
	   "lost samples and lost records are counted apart, samples that a filter dropped are not");
	ok(chunk_item(fd, FEATURE_PJ_START, PJ_ITEM_BOOT, boot, sizeof(boot)) == 36 && strcmp(boot, KILLED_BOOT) == 0,
	   "what was known at the start stays");
	ok(chunk_item(fd, FEATURE_PJ_START, PJ_ITEM_BOOT, boot, 4) == 4 &&
		   chunk_item(fd, FEATURE_PJ_START, 99, boot, 4) == 0 && chunk_item(fd, 999, 1, boot, 4) == 0,
	   "part of an item; none");
	close(fd);
}

static const char *refused(const void *p, size_t n)
{
	int fd = file_of(p, n);
	const char *why = NULL;
	uint64_t samples;

	if (rescue(fd, &samples, &why))
		why = "rescued";
	close(fd);
	return why;
}

static void refusals(void)
{
	struct perf_file_header h;
	char *copy = malloc(k.file.n);

	if (!copy)
		abort();
	memcpy(copy, k.file.p, k.file.n);
	is_str(str_of(refused("", 0)), STR("it is empty"), "an empty file");
	is_str(str_of(refused("PERFILE2", 8)), STR("its header is truncated"), "part of a header");
	memset(copy, 0, 104);
	is_str(str_of(refused(copy, k.file.n)), STR("its header is damaged, or was not written"), "zeros for a header");
	memcpy(copy, k.file.p, k.file.n);
	memcpy(&h, copy, sizeof(h));
	h.attrs.offset = UINT64_MAX - 8;
	memcpy(copy, &h, sizeof(h));
	is_str(str_of(refused(copy, k.file.n)), STR("its events are damaged, or were not written"),
	       "events that lie nowhere");
	memcpy(&h, k.file.p, sizeof(h));
	h.data.offset = UINT64_MAX - 7;
	memcpy(copy, &h, sizeof(h));
	is_str(str_of(refused(copy, k.file.n)), STR("its data starts after its end"), "data that lies nowhere");
	is_str(str_of(refused(k.file.p, k.data)), STR("it has no sample"), "nothing yet");
	memcpy(&h, k.file.p, sizeof(h));
	h.event_types.offset = UINT64_MAX - 16;
	memcpy(copy, &h, sizeof(h));
	is_str(str_of(refused(copy, k.file.n)), STR("rescued"), "without its features it is still one");
	free(copy);
}

int main(void)
{
	diag_tool("pjtest");
	any_cut();
	in_between();
	loss();
	refusals();
	text_free(&k.file);
	return done();
}
