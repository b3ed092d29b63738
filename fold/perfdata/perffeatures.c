/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/perfdata/perffeatures.h"

#include "common/formats/perfrecord.h"

#include <stdlib.h>

static bool perffeatures_take32(struct str *string, uint32_t *v)
{
	if (string->n < sizeof(*v))
		return false;
	*v = load32(string->p);
	*string = str_from(*string, sizeof(*v));
	return true;
}

static bool perffeatures_take64(struct str *string, uint64_t *v)
{
	if (string->n < sizeof(*v))
		return false;
	*v = load64(string->p);
	*string = str_from(*string, sizeof(*v));
	return true;
}

static bool perffeatures_take_bytes(struct str *string, uint64_t n, struct str *bytes)
{
	if (string->n < n)
		return false;
	*bytes = str_head(*string, (size_t)n);
	*string = str_from(*string, (size_t)n);
	return true;
}

static struct str until_nul(struct str string)
{
	ptrdiff_t end = str_find(string, 0);

	return end >= 0 ? str_head(string, (size_t)end) : string;
}

/* Cuts a text off the start of *string: a u32 length, then as many bytes; bytes from a NUL on are padding. Returns
 * false if *string is too short. */
static bool perffeatures_take_text(struct str *string, struct str *text)
{
	uint32_t n;

	if (!perffeatures_take32(string, &n) || !perffeatures_take_bytes(string, n, text))
		return false;
	*text = until_nul(*text);
	return true;
}

static const char *perffeatures_read_text(struct perffeatures *perffeatures, struct str body, struct str *string)
{
	struct str text;

	/* perf 3.14 on ARM writes a CPU description of 0 bytes: this is no error. */
	if (body.n == 0)
		return NULL;
	if (!perffeatures_take_text(&body, &text))
		return "a feature's text is truncated";
	*string = arena_copy(&perffeatures->text, text);
	return NULL;
}

static const char *read_arguments(struct perffeatures *perffeatures, struct str body)
{
	struct perfdata_info *info = &perffeatures->info;
	struct str text;
	uint32_t n;

	/* Each argument needs at least 4 bytes, for its length. */
	if (!perffeatures_take32(&body, &n) || n > body.n / 4)
		return "the command line is truncated";
	info->narguments = 0;
	info->argument = arena_new(&perffeatures->text, struct str, n);
	while (info->narguments < n && perffeatures_take_text(&body, &text))
		info->argument[info->narguments++] = arena_copy(&perffeatures->text, text);
	return info->narguments == n ? NULL : "the command line is truncated";
}

/* Reads the names and ids of events from the feature EVENT_DESC. Returns NULL, or the error. */
static const char *read_events(struct perfevents *perfevents, struct str body)
{
	uint32_t n, attr_size, nids;
	struct str attr, name;
	uint64_t id;

	if (!perffeatures_take32(&body, &n) || !perffeatures_take32(&body, &attr_size))
		return "the list of events is truncated";
	for (uint32_t i = 0; i < n && i < perfevents->n; i++) {
		if (!perffeatures_take_bytes(&body, attr_size, &attr) || !perffeatures_take32(&body, &nids) ||
		    !perffeatures_take_text(&body, &name))
			return "the list of events is truncated";
		perfevents_set_name(perfevents, i, name);
		for (; nids; nids--) {
			if (!perffeatures_take64(&body, &id))
				return "the list of events is truncated";
			perfevents_add_id(perfevents, i, id);
		}
	}
	return NULL;
}

static const char *perffeatures_read_clock(struct perffeatures *perffeatures, struct str body)
{
	uint32_t version, clock;

	if (!perffeatures_take32(&body, &version) || !perffeatures_take32(&body, &clock) ||
	    !perffeatures_take64(&body, &perffeatures->info.clock_wall) ||
	    !perffeatures_take64(&body, &perffeatures->info.clock_record))
		return "the clock feature is truncated";
	perffeatures->info.clock = (int32_t)clock;
	perffeatures->info.has_clock_data = true;
	return NULL;
}

static const char *read_processors(struct perffeatures *perffeatures, struct str body)
{
	/* perf writes the number of all CPUs first, then the number of online CPUs; its documentation has the reverse
	 * order. */
	return perffeatures_take32(&body, &perffeatures->info.cpus) &&
			       perffeatures_take32(&body, &perffeatures->info.cpus_online) ?
		       NULL :
		       "the number of processors is truncated";
}

static const char *perffeatures_read_memory(struct perffeatures *perffeatures, struct str body)
{
	uint64_t kb;

	if (!perffeatures_take64(&body, &kb))
		return "the size of memory is truncated";
	perffeatures->info.memory = kb <= UINT64_MAX / 1024 ? kb * 1024 : UINT64_MAX;
	return NULL;
}

static const char *read_build_ids(struct perffeatures *perffeatures, struct str body)
{
	const char *why = NULL;

	while (body.n >= sizeof(struct perf_record) && !why) {
		uint16_t size = load16(body.p + 6);

		if (size < sizeof(struct perf_record) || size > body.n)
			return "the list of build-ids is truncated";
		why = perffeatures_build_id(perffeatures, str_head(body, size));
		body = str_from(body, size);
	}
	return why;
}

const char *perffeatures_build_id(struct perffeatures *perffeatures, struct str record)
{
	enum { PID = 8, ID = 12, SIZE = 32, PATH = 36 };
	struct perfdata_build_id *b;
	uint16_t misc;

	if (record.n < PATH)
		return "a build-id that is too short";
	misc = load16(record.p + 4);
	if (perffeatures->nbuild_ids == perffeatures->cap) {
		perffeatures->cap = perffeatures->cap ? perffeatures->cap * 2 : 64;
		perffeatures->build_id =
			mem_grow(perffeatures->build_id, sizeof(*perffeatures->build_id), perffeatures->cap);
	}
	b = &perffeatures->build_id[perffeatures->nbuild_ids++];
	*b = (struct perfdata_build_id){ .pid = load32(record.p + PID),
					 .kernel = (misc & MISC_CPUMODE) == PERF_RECORD_MISC_KERNEL,
					 .id.n = BUILD_ID_MAX };
	if (misc & MISC_BUILD_ID_SIZE && (uint8_t)record.p[SIZE] < BUILD_ID_MAX)
		b->id.n = (uint8_t)record.p[SIZE];
	memcpy(b->id.byte, record.p + ID, b->id.n);
	b->path = arena_copy(&perffeatures->text, until_nul(str_from(record, PATH)));
	return NULL;
}

bool perffeatures_wants(unsigned feature)
{
	static const uint64_t wanted = 1ull << FEATURE_BUILD_ID | 1ull << FEATURE_HOSTNAME | 1ull << FEATURE_OSRELEASE |
				       1ull << FEATURE_VERSION | 1ull << FEATURE_ARCH | 1ull << FEATURE_NRCPUS |
				       1ull << FEATURE_CPUDESC | 1ull << FEATURE_TOTAL_MEM | 1ull << FEATURE_CMDLINE |
				       1ull << FEATURE_EVENT_DESC | 1ull << FEATURE_SAMPLE_TIME |
				       1ull << FEATURE_COMPRESSED | 1ull << FEATURE_CLOCK_DATA;

	return (feature >= FEATURE_PJ_START && feature <= FEATURE_PJ_NAMES) || (feature < 64 && wanted >> feature & 1);
}

const char *perffeatures_read(struct perffeatures *perffeatures, struct perfevents *perfevents, unsigned feature,
			      struct str body)
{
	switch (feature) {
	case FEATURE_BUILD_ID: return read_build_ids(perffeatures, body);
	case FEATURE_HOSTNAME: return perffeatures_read_text(perffeatures, body, &perffeatures->info.host);
	case FEATURE_OSRELEASE: return perffeatures_read_text(perffeatures, body, &perffeatures->info.kernel);
	case FEATURE_VERSION: return perffeatures_read_text(perffeatures, body, &perffeatures->info.version);
	case FEATURE_ARCH: return perffeatures_read_text(perffeatures, body, &perffeatures->info.arch);
	case FEATURE_CPUDESC: return perffeatures_read_text(perffeatures, body, &perffeatures->info.cpu);
	case FEATURE_NRCPUS: return read_processors(perffeatures, body);
	case FEATURE_TOTAL_MEM: return perffeatures_read_memory(perffeatures, body);
	case FEATURE_CMDLINE: return read_arguments(perffeatures, body);
	case FEATURE_EVENT_DESC: return read_events(perfevents, body);
	case FEATURE_SAMPLE_TIME:
		return perffeatures_take64(&body, &perffeatures->info.first) &&
				       perffeatures_take64(&body, &perffeatures->info.last) ?
			       NULL :
			       "the times of the samples are truncated";
	case FEATURE_CLOCK_DATA: return perffeatures_read_clock(perffeatures, body);
	case FEATURE_COMPRESSED: perffeatures->info.compressed = true; return NULL;
	case FEATURE_PJ_START:
	case FEATURE_PJ_END: return recorder_read(&perffeatures->info.recorder, &perffeatures->text, body);
	case FEATURE_PJ_NAMES:
		/* the names are never replaced: results of lookups point into them */
		return perffeatures->info.recorder.symbolized ?
			       "a second list of stored names" :
			       symbolized_read(&perffeatures->info.recorder.symbolized, body);
	default: return NULL;
	}
}

void perffeatures_free(struct perffeatures *perffeatures)
{
	free(perffeatures->build_id);
	recorder_free(&perffeatures->info.recorder);
	arena_free(&perffeatures->text);
	*perffeatures = (struct perffeatures){ 0 };
}
