/* perf.data: whatever the bytes are, what comes out lies inside of it, in order, and is not more than went in. */
/* covers: fold/perfdata/perfdata.c fold/perfdata/perfopen.c fold/perfdata/perfread.c fold/perfdata/perfbytes.c */
/* covers: fold/perfdata/perforder.c fold/perfdata/perfevents.c fold/perfdata/perfrecords.c */
/* covers: fold/perfdata/perffeatures.c fold/perfdata/recorder.c fold/perfdata/zstdstream.c */
#include "fold/perfdata/perfdata.h"

#include "test/fuzz/fuzz.h"
#include "test/fuzz/mutate.h"

/* zstd reserves the window that a frame asks for, at most 128 MB (perf record -z22), and touches what is used of it. */
const struct fuzz_budget fuzz_budget = {
	.steps = 10000000, .steps_per_byte = 2000, .heap = 144 << 20, .heap_per_byte = 1024
};

static uint64_t sum;

static void touch(const void *p, size_t n)
{
	const unsigned char *b = p;

	for (size_t i = 0; i < n; i++)
		sum += b[i];
}

static void touch_words(const uint64_t *p, uint64_t n)
{
	MUST(n < 65536 / 8);
	touch(p, (size_t)n * 8);
}

static void touch_text(struct str string)
{
	MUST(string.n < 65536);
	touch(string.p, string.n);
}

static void touch_sample(const struct perfdata_record *record)
{
	MUST(record->sample.event && record->sample.mode <= MODE_GUEST_USER);
	touch_text(record->sample.event->name);
	touch_words(record->sample.ips, record->sample.nips);
	touch_words(record->sample.branch, 3 * record->sample.nbranches);
	if (record->sample.regs_abi)
		touch_words(record->sample.regs, (uint64_t)__builtin_popcountll(record->sample.event->regs_user));
	touch_text(record->sample.stack);
}

static void touch_record(const struct perfdata_record *record)
{
	MUST(record->has_time == (record->time != 0));
	switch (record->kind) {
	case PERFDATA_SAMPLE: touch_sample(record); break;
	case PERFDATA_MMAP:
		MUST(record->mmap.build_id.n <= BUILD_ID_MAX);
		touch_text(record->mmap.path);
		break;
	case PERFDATA_COMM: touch_text(record->comm.comm); break;
	case PERFDATA_NAMESPACES: MUST(record->namespaces.n <= 8); break;
	case PERFDATA_CGROUP: touch_text(record->cgroup.path); break;
	case PERFDATA_KSYMBOL: touch_text(record->ksymbol.name); break;
	case PERFDATA_DEFERRED: touch_words(record->deferred.ips, record->deferred.nips); break;
	default: break;
	}
}

static void touch_info(const struct perfdata *perfdata)
{
	const struct perfdata_info *f = perfdata_info(perfdata);
	const struct perfdata_build_id *b;
	size_t n;

	touch_text(f->host);
	touch_text(f->kernel);
	touch_text(f->version);
	touch_text(f->arch);
	touch_text(f->cpu);
	for (size_t i = 0; i < f->narguments; i++)
		touch_text(f->argument[i]);
	b = perfdata_build_ids(perfdata, &n);
	for (size_t i = 0; i < n; i++) {
		MUST(b[i].id.n <= BUILD_ID_MAX);
		touch_text(b[i].path);
	}
}

/* What is the same however the bytes come. */
struct outcome {
	uint64_t records, bad, unknown, samples, late;
};

/* Do trailers of records have one layout and a time? A pipe may list an event after records; with another layout their
 * times change. */
static bool has_times(const struct perfdata *perfdata)
{
	size_t n;
	const struct perfdata_event *event = perfdata_events(perfdata, &n);
	bool alike = true;

	for (size_t i = 0; i < n; i++)
		alike = alike && event[i].sample_id_all && event[i].sample_type == event[0].sample_type;
	return alike;
}

static struct outcome read_all(const char *path)
{
	struct outcome o = { 0 };
	const struct perfdata_record *r;
	uint64_t before = 0, disorder = 0;
	struct perfdata *p;
	static struct in in; /* closed here when the run before died */
	size_t nevents;
	bool ordered;

	if (in.raw)
		in_close(&in);
	in_open(&in, path);
	if (!perfdata_is(in_peek(&in, 8))) {
		in_close(&in);
		return o;
	}
	p = perfdata_open(&in);
	perfdata_events(p, &nevents);
	ordered = has_times(p);
	MUST(nevents > 0);
	while ((r = perfdata_next(p))) {
		touch_record(r);
		disorder += r->has_time && r->time < before;
		if (r->has_time && r->time > before)
			before = r->time;
		o.samples += r->kind == PERFDATA_SAMPLE;
	}
	MUST(perfdata_next(p) == NULL);
	touch_info(p);
	o.records = perfdata_tally(p)->records;
	o.bad = perfdata_tally(p)->bad;
	o.unknown = perfdata_tally(p)->unknown;
	o.late = perfdata_tally(p)->late;
	MUST(!ordered || !has_times(p) || disorder == 0 || o.late > 0);
	MUST((o.bad == 0) == (perfdata_tally(p)->why == NULL));
	perfdata_close(p);
	in_close(&in);
	return o;
}

int fuzz_one(const uint8_t *data, size_t n)
{
	volatile int fd = -1;
	struct outcome o;
	char path[32];

	fd = fuzz_file(data, n, path);
	if (FUZZ_GUARD()) {
		close(fd);
		return 0;
	}
	o = read_all(path);
	(void)o;
	close(fd);
	return 0;
}

/* ---- libFuzzer only: records of the data section, or of a pipe -------------------------------------------------- */

static bool data_range(const uint8_t *data, size_t n, size_t *start, size_t *end)
{
	uint64_t head, section[2];

	if (n < 104)
		return false;
	memcpy(&head, data + 8, 8);
	memcpy(section, data + 40, 16);
	if (head == 16) { /* a pipe */
		*start = 16;
		*end = n;
		return true;
	}
	*start = section[0];
	*end = section[0] + section[1];
	return section[0] >= 104 && section[0] < n && section[1] <= n - section[0];
}

static size_t data_record_size(const uint8_t *record, size_t left)
{
	uint16_t size;

	if (left < 8)
		return 0;
	memcpy(&size, record + 6, 2);
	return size < 8 ? 0 : size;
}

static void data_record_set_size(uint8_t *record, size_t size)
{
	uint16_t n = (uint16_t)size;

	memcpy(record + 6, &n, 2);
}

/* What stands behind the data (features) moves, too. */
static void data_set_end(uint8_t *data, size_t n, size_t end)
{
	uint64_t head, section[2], moved, feature;
	size_t at;

	memcpy(&head, data + 8, 8);
	if (head == 16)
		return;
	memcpy(section, data + 40, 16);
	moved = end - section[0] - section[1];
	section[1] = end - section[0];
	memcpy(data + 40, section, 16);
	for (at = end; at + 16 <= n && at < end + 32 * 16;
	     at += 16) { /* the table of features: those that point behind it */
		memcpy(&feature, data + at, 8);
		feature += moved;
		if (feature >= end && feature <= n)
			memcpy(data + at, &feature, 8);
	}
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t max, unsigned seed)
{
	static const struct mutate_format f = { data_range, data_record_size, data_record_set_size, data_set_end, 8 };

	return mutate(&f, data, n, max, seed);
}
