/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/perfdata/perfrecords.h"

#include "common/formats/perfrecord.h"

/* bits of sample_type; linux/perf_event.h does not define them before Linux 5.12 */
#define SAMPLE_DATA_PAGE_SIZE (1u << 22)
#define SAMPLE_CODE_PAGE_SIZE (1u << 23)
#define SAMPLE_WEIGHT_STRUCT (1u << 24)

enum perfrecords_use perfrecords_use(uint32_t type)
{
	switch (type) {
	case RECORD_SAMPLE:
	case RECORD_MMAP:
	case RECORD_MMAP2:
	case RECORD_COMM:
	case RECORD_FORK:
	case RECORD_EXIT:
	case RECORD_LOST:
	case RECORD_LOST_SAMPLES:
	case RECORD_THROTTLE:
	case RECORD_NAMESPACES:
	case RECORD_CGROUP:
	case RECORD_KSYMBOL:
	case RECORD_CALLCHAIN_DEFERRED: return RECORD_USED;
	default:
		if (type == 0 || (type > RECORD_CALLCHAIN_DEFERRED && type < RECORD_USER) ||
		    type > RECORD_SCHEDSTAT_DOMAIN)
			return RECORD_UNKNOWN;
		return RECORD_PASSED;
	}
}

/* The unread rest of a record, in 8-byte words. */
struct words {
	const uint64_t *p;
	size_t n;
};

/* Sets *value to the next word of the record and advances; returns false if no word is left. */
static bool perfrecords_take(struct words *words, uint64_t *value)
{
	if (words->n == 0)
		return false;
	*value = *words->p++;
	words->n--;
	return true;
}

/* Sets *p to the next n words of the record and advances; returns false if fewer words are left. */
static bool take_some(struct words *words, uint64_t n, const uint64_t **p)
{
	if (n > words->n)
		return false;
	*p = words->p;
	words->p += n;
	words->n -= n;
	return true;
}

static uint32_t perfrecords_low(uint64_t word)
{
	return (uint32_t)word;
}

static uint32_t perfrecords_high(uint64_t word)
{
	return (uint32_t)(word >> 32);
}

/* ---- parsing of samples -------------------------------------------------------------------------------------- */

/* Parses the counters of a sample (PERF_SAMPLE_READ) into *values. format: read_format of the event. Returns NULL, or
 * the error. */
static const char *take_values(struct words *words, uint64_t format, struct perfrecords_values *values)
{
	bool group = format & PERF_FORMAT_GROUP;
	unsigned id = format & PERF_FORMAT_ID ? 1 : 0, lost = format & FORMAT_LOST ? 1 : 0;
	unsigned times =
		(format & PERF_FORMAT_TOTAL_TIME_ENABLED ? 1u : 0) + (format & PERF_FORMAT_TOTAL_TIME_RUNNING ? 1u : 0);
	uint64_t n = 1;
	const uint64_t *ignored;

	values->has_id = id;
	values->step = 1 + id + lost;
	values->id_at = 1;
	if (group) {
		if (!perfrecords_take(words, &n) || !take_some(words, times, &ignored) || n > words->n / values->step)
			return "counter values end after the record";
		/* Without PERF_FORMAT_GROUP, the enabled and running times are between the value and the id. */
	} else {
		values->id_at += times;
		values->step += times;
	}
	values->n = n;
	return take_some(words, n * values->step, &values->word) ? NULL : "counter values end after the record";
}

static const char *perfrecords_take_chain(struct words *words, struct perfdata_record *record)
{
	uint64_t n;

	if (!perfrecords_take(words, &n) || !take_some(words, n, &record->sample.ips))
		return "the callchain ends after the record";
	record->sample.has_chain = true;
	if (n >= 2 && record->sample.ips[n - 2] == CONTEXT_USER_DEFERRED) {
		record->sample.cookie = record->sample.ips[n - 1];
		n -= 2;
	}
	record->sample.nips = n;
	return NULL;
}

/* Skips PERF_SAMPLE_RAW: a u32 size, then as many bytes; together they are complete 8-byte words. Returns NULL, or the
 * error. */
static const char *skip_raw(struct words *words)
{
	const uint64_t *ignored;
	uint64_t bytes;

	if (words->n == 0)
		return "no space for raw data";
	bytes = (uint64_t)perfrecords_low(*words->p) + 4;
	if (bytes % 8)
		return "raw data of an unaligned size";
	return take_some(words, bytes / 8, &ignored) ? NULL : "raw data end after the record";
}

static const char *take_branches(struct words *words, uint64_t type, struct perfdata_record *record)
{
	const uint64_t *ignored;
	uint64_t n;

	if (!perfrecords_take(words, &n) || !take_some(words, type & BRANCH_HW_INDEX ? 1 : 0, &ignored) ||
	    n > words->n / 3 || !take_some(words, 3 * n, &record->sample.branch) ||
	    !take_some(words, type & BRANCH_COUNTERS ? n : 0, &ignored))
		return "branches end after the record";
	record->sample.nbranches = n;
	return NULL;
}

static const char *perfrecords_take_regs(struct words *words, unsigned n, uint64_t *abi, const uint64_t **regs)
{
	if (!perfrecords_take(words, abi) || !take_some(words, *abi ? n : 0, regs))
		return "registers end after the record";
	return NULL;
}

static const char *perfrecords_take_stack(struct words *words, struct perfdata_record *record)
{
	const uint64_t *bytes;
	uint64_t size, valid;

	if (!perfrecords_take(words, &size))
		return "no space for the copy of the stack";
	if (size == 0)
		return NULL;
	if (size % 8 || !take_some(words, size / 8, &bytes) || !perfrecords_take(words, &valid))
		return "the copy of the stack ends after the record";
	record->sample.stack = (struct str){ (const char *)bytes, (size_t)(valid < size ? valid : size) };
	return NULL;
}

/* Parses the members at the start of a sample, each of one word, that `s`, the sample_type of the event, selects.
 * Returns false if the record is too short. */
static bool take_fixed(struct words *words, uint64_t s, struct perfdata_record *record)
{
	uint64_t value = 0;
	bool good = true;

	if (s & PERF_SAMPLE_IDENTIFIER)
		good &= perfrecords_take(words, &value);
	if (s & PERF_SAMPLE_IP)
		good &= perfrecords_take(words, &record->sample.ip);
	if (s & PERF_SAMPLE_TID) {
		good &= perfrecords_take(words, &value);
		record->pid = perfrecords_low(value);
		record->tid = perfrecords_high(value);
	}
	if (s & PERF_SAMPLE_TIME)
		good &= perfrecords_take(words, &record->time);
	if (s & PERF_SAMPLE_ADDR)
		good &= perfrecords_take(words, &record->sample.addr);
	if (s & PERF_SAMPLE_ID)
		good &= perfrecords_take(words, &value);
	if (s & PERF_SAMPLE_STREAM_ID)
		good &= perfrecords_take(words, &value);
	if (s & PERF_SAMPLE_CPU) {
		good &= perfrecords_take(words, &value);
		record->cpu = perfrecords_low(value);
		record->has_cpu = true;
	}
	if (s & PERF_SAMPLE_PERIOD)
		good &= perfrecords_take(words, &record->sample.period);
	return good;
}

/* Parses the members of a sample after the stack copy. Stores only the cgroup, but all members must fit into the
 * record. s: sample_type of the event; regs: number of registers of PERF_SAMPLE_REGS_INTR. Returns NULL, or the
 * error. */
static const char *take_rest(struct words *words, uint64_t s, unsigned regs, struct perfdata_record *record)
{
	const uint64_t *ignored;
	uint64_t value = 0;
	const char *why;
	unsigned n = (s & (PERF_SAMPLE_WEIGHT | SAMPLE_WEIGHT_STRUCT) ? 1u : 0) + (s & PERF_SAMPLE_DATA_SRC ? 1u : 0) +
		     (s & PERF_SAMPLE_TRANSACTION ? 1u : 0);

	if (!take_some(words, n, &ignored))
		return "it is too short for its event";
	if (s & PERF_SAMPLE_REGS_INTR && (why = perfrecords_take_regs(words, regs, &value, &ignored)))
		return why;
	if ((s & PERF_SAMPLE_PHYS_ADDR && !perfrecords_take(words, &value)) ||
	    (s & PERF_SAMPLE_CGROUP && !perfrecords_take(words, &record->sample.cgroup)) ||
	    (s & SAMPLE_DATA_PAGE_SIZE && !perfrecords_take(words, &value)) ||
	    (s & SAMPLE_CODE_PAGE_SIZE && !perfrecords_take(words, &value)))
		return "it is too short for its event";
	if (s & PERF_SAMPLE_AUX && (!perfrecords_take(words, &value) || value > words->n * 8))
		return "AUX data end after the record";
	return NULL;
}

/* Parses a sample of the event with this index. Its members are in the order that perf_event.h gives for
 * PERF_RECORD_SAMPLE. Returns NULL, or the error. */
static const char *parse_sample(struct words words, const struct perfevents *perfevents, uint32_t event,
				struct perfdata_record *record, struct perfrecords_values *values)
{
	const struct perfdata_event *v = &perfevents->event[event];
	const struct perfevents_layout *layout = &perfevents->layout[event];
	uint64_t s = v->sample_type;
	const char *why = NULL;

	record->kind = PERFDATA_SAMPLE;
	record->sample.event = v;
	record->sample.mode = (record->misc & MISC_CPUMODE) <= MODE_GUEST_USER ?
				      (enum perfdata_mode)(record->misc & MISC_CPUMODE) :
				      MODE_UNKNOWN;
	record->sample.period = v->period ? v->period : 1;
	if (!take_fixed(&words, s, record))
		return "it is too short for its event";
	if (s & PERF_SAMPLE_READ)
		why = take_values(&words, v->read_format, values);
	if (!why && s & PERF_SAMPLE_CALLCHAIN)
		why = perfrecords_take_chain(&words, record);
	if (!why && s & PERF_SAMPLE_RAW)
		why = skip_raw(&words);
	if (!why && s & PERF_SAMPLE_BRANCH_STACK)
		why = take_branches(&words, v->branch_sample_type, record);
	if (!why && s & PERF_SAMPLE_REGS_USER)
		why = perfrecords_take_regs(&words, layout->regs_user, &record->sample.regs_abi, &record->sample.regs);
	if (!why && s & PERF_SAMPLE_STACK_USER)
		why = perfrecords_take_stack(&words, record);
	return why ? why : take_rest(&words, s, layout->regs_intr, record);
}

/* ---- parsing of other records -------------------------------------------------------------------------------- */

/* Sets pid, tid, time and cpu of *record from the sample_id trailer at w, of an event with sample_type s. */
static void parse_trailer(const uint64_t *w, uint64_t s, struct perfdata_record *record)
{
	if (s & PERF_SAMPLE_TID) {
		record->pid = perfrecords_low(*w);
		record->tid = perfrecords_high(*w++);
	}
	if (s & PERF_SAMPLE_TIME)
		record->time = *w++;
	w += (s & PERF_SAMPLE_ID ? 1 : 0) + (s & PERF_SAMPLE_STREAM_ID ? 1 : 0);
	if (s & PERF_SAMPLE_CPU) {
		record->cpu = perfrecords_low(*w);
		record->has_cpu = true;
	}
}

/* Returns the text in the rest of a record: the bytes up to a NUL, or all of them. */
static struct str perfrecords_text_of(struct words words)
{
	struct str string = { (const char *)words.p, words.n * 8 };
	ptrdiff_t end = str_find(string, 0);

	return end >= 0 ? str_head(string, (size_t)end) : string;
}

static void set_thread(struct perfdata_record *record, uint64_t word)
{
	record->pid = perfrecords_low(word);
	record->tid = perfrecords_high(word);
}

/*
 * Returns true if the 24 bytes at p, the fields of device and inode, are a build-id instead (u8 size, three zeros, 20
 * bytes). The caller has checked the flag of the record that announces a build-id. But Linux (6.18 still does) sets
 * this flag for all recorders while any recorder on the machine requests build-ids. So, if no event of the file
 * requests build-ids (is_requested is false), the bytes must also look like a build-id.
 */
static bool is_build_id(const uint8_t *p, bool is_requested)
{
	static const uint8_t zero[BUILD_ID_MAX];
	unsigned n = p[0];

	if (n == 0 || n > BUILD_ID_MAX || p[1] || p[2] || p[3])
		return false;
	return is_requested || ((n == 8 || n == 16 || n == 20) && memcmp(p + 4 + n, zero, BUILD_ID_MAX - n) == 0);
}

/* Parses an MMAP record (`two` is false) or an MMAP2 record (`two` is true). build_ids: true if an event of the file
 * requests build-ids. Returns NULL, or the error. */
static const char *parse_mmap(struct words words, bool two, bool build_ids, struct perfdata_record *record)
{
	const uint64_t *p;

	if (!take_some(&words, two ? 8 : 4, &p))
		return "a mapping that is too short";
	record->kind = PERFDATA_MMAP;
	set_thread(record, p[0]);
	record->mmap.start = p[1];
	record->mmap.length = p[2];
	record->mmap.offset = p[3];
	record->mmap.data = record->misc & MISC_MMAP_DATA;
	record->mmap.path = perfrecords_text_of(words);
	if (!two) {
		/* MMAP records have no protection: assume PROT_READ for data, PROT_READ | PROT_EXEC for code. */
		record->mmap.protection = record->mmap.data ? 1 : 5;
		return NULL;
	}
	if (record->misc & MISC_MMAP_BUILD_ID && is_build_id((const uint8_t *)&p[4], build_ids)) {
		const uint8_t *id = (const uint8_t *)&p[4];

		record->mmap.build_id.n = id[0];
		memcpy(record->mmap.build_id.byte, id + 4, record->mmap.build_id.n);
	} else {
		record->mmap.file_id.major = perfrecords_low(p[4]);
		record->mmap.file_id.minor = perfrecords_high(p[4]);
		record->mmap.file_id.inode = p[5];
		record->mmap.file_id.generation = p[6];
	}
	record->mmap.protection = perfrecords_low(p[7]);
	record->mmap.flags = perfrecords_high(p[7]);
	return NULL;
}

static const char *parse_task(struct words words, bool fork, struct perfdata_record *record)
{
	const uint64_t *p;

	if (!take_some(&words, 3, &p))
		return "a fork or exit that is too short";
	record->kind = fork ? PERFDATA_FORK : PERFDATA_EXIT;
	record->pid = perfrecords_low(p[0]);
	record->tid = perfrecords_low(p[1]);
	record->fork.ppid = perfrecords_high(p[0]);
	record->fork.ptid = perfrecords_high(p[1]);
	record->fork.synthesised = fork && record->misc & MISC_FORK_EXEC;
	return NULL;
}

static const char *parse_comm(struct words words, struct perfdata_record *record)
{
	uint64_t value;

	if (!perfrecords_take(&words, &value))
		return "a comm that is too short";
	record->kind = PERFDATA_COMM;
	set_thread(record, value);
	record->comm.comm = perfrecords_text_of(words);
	record->comm.exec = record->misc & MISC_COMM_EXEC;
	return NULL;
}

static const char *parse_lost(struct words words, bool samples, struct perfdata_record *record, bool *skip)
{
	const uint64_t *p;

	if (!take_some(&words, samples ? 1 : 2, &p))
		return "a count of lost records that is too short";
	record->kind = PERFDATA_LOST;
	record->lost.count = p[samples ? 0 : 1];
	record->lost.samples = samples;
	*skip = samples && record->misc & MISC_LOST_SAMPLES_BPF;
	return NULL;
}

static const char *parse_namespaces(struct words words, struct perfdata_record *record)
{
	uint64_t value, n;
	const uint64_t *p;

	if (!perfrecords_take(&words, &value) || !perfrecords_take(&words, &n) || n > words.n / 2 ||
	    !take_some(&words, 2 * n, &p))
		return "namespaces end after the record";
	record->kind = PERFDATA_NAMESPACES;
	set_thread(record, value);
	record->namespaces.n = n < countof(record->namespaces.inode) ? n : countof(record->namespaces.inode);
	for (size_t i = 0; i < record->namespaces.n; i++)
		record->namespaces.inode[i] = p[2 * i + 1];
	return NULL;
}

static const char *parse_cgroup(struct words words, struct perfdata_record *record)
{
	if (!perfrecords_take(&words, &record->cgroup.id))
		return "a cgroup that is too short";
	record->kind = PERFDATA_CGROUP;
	record->cgroup.path = perfrecords_text_of(words);
	return NULL;
}

static const char *parse_ksymbol(struct words words, struct perfdata_record *record)
{
	uint64_t value;

	if (!perfrecords_take(&words, &record->ksymbol.start) || !perfrecords_take(&words, &value))
		return "a kernel symbol that is too short";
	record->kind = PERFDATA_KSYMBOL;
	record->ksymbol.length = perfrecords_low(value);
	record->ksymbol.type = (uint16_t)perfrecords_high(value);
	record->ksymbol.gone = perfrecords_high(value) >> 16 & 1;
	record->ksymbol.name = perfrecords_text_of(words);
	return NULL;
}

static const char *parse_deferred(struct words words, struct perfdata_record *record)
{
	if (!perfrecords_take(&words, &record->deferred.cookie) || !perfrecords_take(&words, &record->deferred.nips) ||
	    !take_some(&words, record->deferred.nips, &record->deferred.ips))
		return "the callchain ends after the record";
	record->kind = PERFDATA_DEFERRED;
	return NULL;
}

/* Parses a record of type `type` that is not a sample, without its trailer. build_ids: true if an event of the file
 * requests build-ids. Sets *skip to true if the record has no data for the caller of perfdata_next(). Returns NULL, or
 * the error. */
static const char *parse_other(uint32_t type, struct words words, bool build_ids, struct perfdata_record *record,
			       bool *skip)
{
	switch (type) {
	case RECORD_MMAP: return parse_mmap(words, false, false, record);
	case RECORD_MMAP2: return parse_mmap(words, true, build_ids, record);
	case RECORD_COMM: return parse_comm(words, record);
	case RECORD_FORK: return parse_task(words, true, record);
	case RECORD_EXIT: return parse_task(words, false, record);
	case RECORD_LOST: return parse_lost(words, false, record, skip);
	case RECORD_LOST_SAMPLES: return parse_lost(words, true, record, skip);
	case RECORD_THROTTLE:
		record->kind = PERFDATA_THROTTLE;
		return words.n >= 3 ? NULL : "a throttling that is too short";
	case RECORD_NAMESPACES: return parse_namespaces(words, record);
	case RECORD_CGROUP: return parse_cgroup(words, record);
	case RECORD_KSYMBOL: return parse_ksymbol(words, record);
	case RECORD_CALLCHAIN_DEFERRED: return parse_deferred(words, record);
	default: *skip = true; return NULL;
	}
}

/* Sizes in bytes of the part of struct perfdata_record that the parser may fill, by kind of record: index 0 for records
 * that are not samples, 1 for samples. They are in a table so that the compiler calls memset(): the code that gcc emits
 * for constant sizes (rep stos) takes longer than the rest of perfrecords_parse(). */
static const size_t used[] = {
	offsetof(struct perfdata_record, mmap) + sizeof(((struct perfdata_record *)0)->mmap),
	offsetof(struct perfdata_record, sample) + sizeof(((struct perfdata_record *)0)->sample),
};

const char *perfrecords_parse(const char *p, const struct perfevents *perfevents, uint32_t event,
			      struct perfdata_record *record, struct perfrecords_values *values, bool *skip)
{
	struct perf_record h;
	struct words words;
	const char *why;

	memcpy(&h, p, sizeof(h));
	memset(record, 0, used[h.type == RECORD_SAMPLE]);
	record->misc = h.misc;
	record->pid = record->tid = UINT32_MAX;
	*values = (struct perfrecords_values){ 0 };
	*skip = false;
	/* perf and the kernel write complete words; surplus bytes at the end of a record with another size are ignored.
	 */
	words = (struct words){ (const uint64_t *)(const void *)(p + sizeof(h)), (h.size - sizeof(h)) / 8 };
	if (h.type == RECORD_SAMPLE) {
		why = parse_sample(words, perfevents, event, record, values);
	} else {
		const struct perfevents_layout *layout = &perfevents->layout[event];

		if (layout->trailer > words.n)
			return "it is too short for its event";
		words.n -= layout->trailer;
		if (layout->trailer)
			parse_trailer(words.p + words.n, perfevents->event[event].sample_type, record);
		why = parse_other(h.type, words, perfevents->build_ids, record, skip);
		if (record->kind == PERFDATA_LOST)
			record->lost.event = event;
	}
	record->has_time = record->time != 0 && record->time != UINT64_MAX;
	if (!record->has_time)
		record->time = 0;
	return why;
}
