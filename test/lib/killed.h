/* killed.h - makes the bytes of a window as pjrecord leaves it if it is killed, in the format of
 * common/formats/pjsection.h, without the code that writes windows (record/perf/chunk.c). */
#ifndef PJ_KILLED_H
#define PJ_KILLED_H

#include "common/formats/perfrecord.h"
#include "common/formats/pjsection.h"
#include "common/text.h"

#define KILLED_TYPE                                                                                       \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | \
	 PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN)
#define KILLED_TIME UINT64_C(5000000000) /* time of the first sample in ns; one sample follows each millisecond */
#define KILLED_BOOT "01234567-89ab-cdef-0123-456789abcdef"

struct killed {
	struct text file;
	size_t data;      /* offset at which the records begin */
	size_t end[4096]; /* offset at which each record ends */
	bool sample[4096];
	size_t n;
};

static inline void killed_u32(struct killed *killed, uint32_t v)
{
	text_bytes(&killed->file, &v, sizeof(v));
}

static inline void killed_u64(struct killed *killed, uint64_t v)
{
	text_bytes(&killed->file, &v, sizeof(v));
}

static inline void killed_pad(struct killed *killed)
{
	while (killed->file.n % 8)
		text_char(&killed->file, 0);
}

static inline void killed_string(struct killed *killed, const char *string) /* of a feature */
{
	size_t n = (strlen(string) + 64) & ~(size_t)63;

	killed_u32(killed, (uint32_t)n);
	text_bytes(&killed->file, string, strlen(string));
	for (size_t i = strlen(string); i < n; i++)
		text_char(&killed->file, 0);
}

static inline void killed_item(struct killed *killed, uint32_t type, const void *p, size_t n)
{
	killed_u32(killed, type);
	killed_u32(killed, (uint32_t)n);
	text_bytes(&killed->file, p, n);
	killed_pad(killed);
}

static inline void killed_start(struct killed *killed, const struct pj_window *window, const char *boot)
{
	static const unsigned known[] = { FEATURE_HOSTNAME, FEATURE_OSRELEASE, FEATURE_ARCH, FEATURE_CLOCK_DATA,
					  FEATURE_PJ_START };
	struct perf_file_header h = { .magic = PERF_MAGIC,
				      .size = sizeof(h),
				      .attr_size = sizeof(struct perf_event_attr) + 16 };
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = sizeof(attr),
					.sample_period = 1000000,
					.sample_type = KILLED_TYPE,
					.sample_id_all = 1,
					.use_clockid = 1,
					.clockid = 1 };
	struct perf_section s[countof(known)];
	uint64_t bits[4] = { 0 };

	*killed = (struct killed){ 0 };
	text_bytes(&killed->file, &h, sizeof(h));
	killed_u64(killed, 77); /* the id */
	h.attrs = (struct perf_section){ killed->file.n, h.attr_size };
	text_bytes(&killed->file, &attr, sizeof(attr));
	killed_u64(killed, sizeof(h));
	killed_u64(killed, 8);
	for (size_t i = 0; i < countof(known); i++) {
		s[i].offset = killed->file.n;
		bits[known[i] / 64] |= UINT64_C(1) << known[i] % 64;
		if (known[i] == FEATURE_CLOCK_DATA) {
			killed_u64(killed, UINT64_C(1) << 32 | 1);
			killed_u64(killed, UINT64_C(1700000000) * 1000000000);
			killed_u64(killed, KILLED_TIME);
		} else if (known[i] == FEATURE_PJ_START) {
			killed_item(killed, PJ_ITEM_VERSION, "0.1", 3);
			killed_item(killed, PJ_ITEM_BOOT, boot, strlen(boot));
			killed_item(killed, PJ_ITEM_WINDOW, window, sizeof(*window));
		} else {
			killed_string(killed, known[i] == FEATURE_ARCH ? "x86_64" : "somewhere");
		}
		s[i].size = killed->file.n - s[i].offset;
		killed_pad(killed);
	}
	h.event_types = (struct perf_section){ killed->file.n, sizeof(bits) + sizeof(s) };
	text_bytes(&killed->file, bits, sizeof(bits));
	text_bytes(&killed->file, s, sizeof(s));
	h.data.offset = killed->data = killed->file.n;
	memcpy(killed->file.p, &h, sizeof(h));
}

static inline void killed_record(struct killed *killed, uint32_t type, uint16_t misc, const void *body, size_t n)
{
	struct perf_record r = { type, misc, (uint16_t)(sizeof(r) + n) };

	text_bytes(&killed->file, &r, sizeof(r));
	text_bytes(&killed->file, body, n);
	killed->sample[killed->n] = type == RECORD_SAMPLE;
	killed->end[killed->n++] = killed->file.n;
}

/* Adds a sample of process 42 with three frames. */
static inline void killed_sample(struct killed *killed, uint64_t time)
{
	uint64_t body[] = { 77,       0x401000, 42 | UINT64_C(42) << 32, time, 0, 1000000, 4, CONTEXT_USER, 0x401000,
			    0x401100, 0x401200 };

	killed_record(killed, RECORD_SAMPLE, 2, body, sizeof(body));
}

/* Adds the COMM record of process 42. It ends in the fields of sample_id_all: tid, time, cpu, identifier. */
static inline void killed_comm(struct killed *killed, uint64_t time)
{
	uint64_t body[] = { 42 | UINT64_C(42) << 32, 0x64616f6c /* "load" */, 42 | UINT64_C(42) << 32, time, 0, 77 };

	killed_record(killed, RECORD_COMM, 0, body, sizeof(body));
}

static inline void killed_lost(struct killed *killed, uint64_t time, uint64_t n)
{
	uint64_t lost[] = { 77, n, 0, time, 0, 77 }, samples[] = { n, 0, time, 0, 77 };

	killed_record(killed, RECORD_LOST, 0, lost, sizeof(lost));
	killed_record(killed, RECORD_LOST_SAMPLES, 0, samples, sizeof(samples));
	killed_record(killed, RECORD_LOST_SAMPLES, MISC_LOST_SAMPLES_BPF, samples, sizeof(samples));
}

/* Makes a window: its first records, then this number of samples, with a record FINISHED_ROUND after each seven. */
static inline void killed_make(struct killed *killed, const struct pj_window *window, size_t samples)
{
	killed_start(killed, window, KILLED_BOOT);
	killed_comm(killed, KILLED_TIME);
	for (size_t i = 0; i < samples; i++) {
		killed_sample(killed, KILLED_TIME + i * 1000000);
		if (i % 7 == 6)
			killed_record(killed, RECORD_FINISHED_ROUND, 0, "", 0);
	}
}

#endif
