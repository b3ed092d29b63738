/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/perfdata/perfrecords.h"

#include "common/formats/perfrecord.h"

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

/* What is left of a record, in words; bytes: of which the last is not whole. */
struct words {
	const uint64_t *p;
	size_t n;
};

static bool perfrecords_take(struct words *w, uint64_t *value)
{
	if (w->n == 0)
		return false;
	*value = *w->p++;
	w->n--;
	return true;
}

static bool take_some(struct words *w, uint64_t n, const uint64_t **p)
{
	if (n > w->n)
		return false;
	*p = w->p;
	w->p += n;
	w->n -= n;
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

/* ---- samples ------------------------------------------------------------------------------------------------- */

static const char *take_values(struct words *w, uint64_t format, struct perfrecords_values *v)
{
	bool group = format & PERF_FORMAT_GROUP;
	unsigned id = format & PERF_FORMAT_ID ? 1 : 0, lost = format & FORMAT_LOST ? 1 : 0;
	unsigned times =
		(format & PERF_FORMAT_TOTAL_TIME_ENABLED ? 1u : 0) + (format & PERF_FORMAT_TOTAL_TIME_RUNNING ? 1u : 0);
	uint64_t n = 1;
	const uint64_t *ignored;

	v->has_id = id;
	v->step = 1 + id + lost;
	v->id_at = 1;
	if (group) {
		if (!perfrecords_take(w, &n) || !take_some(w, times, &ignored) || n > w->n / v->step)
			return "counter values end behind the record";
	} else { /* the times stand between value and id */
		v->id_at += times;
		v->step += times;
	}
	v->n = n;
	return take_some(w, n * v->step, &v->word) ? NULL : "counter values end behind the record";
}

static const char *perfrecords_take_chain(struct words *w, struct perfdata_record *r)
{
	uint64_t n;

	if (!perfrecords_take(w, &n) || !take_some(w, n, &r->sample.ips))
		return "the callchain ends behind the record";
	r->sample.has_chain = true;
	if (n >= 2 && r->sample.ips[n - 2] == CONTEXT_USER_DEFERRED) {
		r->sample.cookie = r->sample.ips[n - 1];
		n -= 2;
	}
	r->sample.nips = n;
	return NULL;
}

static const char *skip_raw(struct words *w)
{
	const uint64_t *ignored;
	uint64_t bytes;

	if (w->n == 0)
		return "no room for raw data";
	bytes = (uint64_t)perfrecords_low(*w->p) + 4;
	if (bytes % 8)
		return "raw data of a size that is not aligned";
	return take_some(w, bytes / 8, &ignored) ? NULL : "raw data end behind the record";
}

static const char *take_branches(struct words *w, uint64_t type, struct perfdata_record *r)
{
	const uint64_t *ignored;
	uint64_t n;

	if (!perfrecords_take(w, &n) || !take_some(w, type & BRANCH_HW_INDEX ? 1 : 0, &ignored) || n > w->n / 3 ||
	    !take_some(w, 3 * n, &r->sample.branch) || !take_some(w, type & BRANCH_COUNTERS ? n : 0, &ignored))
		return "branches end behind the record";
	r->sample.nbranches = n;
	return NULL;
}

static const char *perfrecords_take_regs(struct words *w, unsigned n, uint64_t *abi, const uint64_t **regs)
{
	if (!perfrecords_take(w, abi) || !take_some(w, *abi ? n : 0, regs))
		return "registers end behind the record";
	return NULL;
}

static const char *perfrecords_take_stack(struct words *w, struct perfdata_record *r)
{
	const uint64_t *bytes;
	uint64_t size, valid;

	if (!perfrecords_take(w, &size))
		return "no room for the copy of the stack";
	if (size == 0)
		return NULL;
	if (size % 8 || !take_some(w, size / 8, &bytes) || !perfrecords_take(w, &valid))
		return "the copy of the stack ends behind the record";
	r->sample.stack = (struct str){ (const char *)bytes, (size_t)(valid < size ? valid : size) };
	return NULL;
}

/* The part of fixed size at the start. */
static bool take_fixed(struct words *w, uint64_t s, struct perfdata_record *r)
{
	uint64_t v = 0;
	bool good = true;

	if (s & PERF_SAMPLE_IDENTIFIER)
		good &= perfrecords_take(w, &v);
	if (s & PERF_SAMPLE_IP)
		good &= perfrecords_take(w, &r->sample.ip);
	if (s & PERF_SAMPLE_TID) {
		good &= perfrecords_take(w, &v);
		r->pid = perfrecords_low(v);
		r->tid = perfrecords_high(v);
	}
	if (s & PERF_SAMPLE_TIME)
		good &= perfrecords_take(w, &r->time);
	if (s & PERF_SAMPLE_ADDR)
		good &= perfrecords_take(w, &r->sample.addr);
	if (s & PERF_SAMPLE_ID)
		good &= perfrecords_take(w, &v);
	if (s & PERF_SAMPLE_STREAM_ID)
		good &= perfrecords_take(w, &v);
	if (s & PERF_SAMPLE_CPU) {
		good &= perfrecords_take(w, &v);
		r->cpu = perfrecords_low(v);
		r->has_cpu = true;
	}
	if (s & PERF_SAMPLE_PERIOD)
		good &= perfrecords_take(w, &r->sample.period);
	return good;
}

/* What follows the copy of the stack: only the cgroup is used, but all must fit. */
static const char *take_rest(struct words *w, uint64_t s, unsigned regs, struct perfdata_record *r)
{
	const uint64_t *ignored;
	uint64_t v = 0;
	const char *why;
	unsigned n = (s & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT) ? 1u : 0) +
		     (s & PERF_SAMPLE_DATA_SRC ? 1u : 0) + (s & PERF_SAMPLE_TRANSACTION ? 1u : 0);

	if (!take_some(w, n, &ignored))
		return "it is too short for its event";
	if (s & PERF_SAMPLE_REGS_INTR && (why = perfrecords_take_regs(w, regs, &v, &ignored)))
		return why;
	if ((s & PERF_SAMPLE_PHYS_ADDR && !perfrecords_take(w, &v)) ||
	    (s & PERF_SAMPLE_CGROUP && !perfrecords_take(w, &r->sample.cgroup)) ||
	    (s & PERF_SAMPLE_DATA_PAGE_SIZE && !perfrecords_take(w, &v)) ||
	    (s & PERF_SAMPLE_CODE_PAGE_SIZE && !perfrecords_take(w, &v)))
		return "it is too short for its event";
	if (s & PERF_SAMPLE_AUX && (!perfrecords_take(w, &v) || v > w->n * 8))
		return "AUX data end behind the record";
	return NULL;
}

static const char *parse_sample(struct words w, const struct perfevents *e, uint32_t event, struct perfdata_record *r,
				struct perfrecords_values *values)
{
	const struct perfdata_event *v = &e->event[event];
	const struct perfevents_layout *l = &e->layout[event];
	uint64_t s = v->sample_type;
	const char *why = NULL;

	r->kind = PERFDATA_SAMPLE;
	r->sample.event = v;
	r->sample.mode = (r->misc & MISC_CPUMODE) <= MODE_GUEST_USER ? (enum perfdata_mode)(r->misc & MISC_CPUMODE) :
								       MODE_UNKNOWN;
	r->sample.period = v->period ? v->period : 1;
	if (!take_fixed(&w, s, r))
		return "it is too short for its event";
	if (s & PERF_SAMPLE_READ)
		why = take_values(&w, v->read_format, values);
	if (!why && s & PERF_SAMPLE_CALLCHAIN)
		why = perfrecords_take_chain(&w, r);
	if (!why && s & PERF_SAMPLE_RAW)
		why = skip_raw(&w);
	if (!why && s & PERF_SAMPLE_BRANCH_STACK)
		why = take_branches(&w, v->branch_sample_type, r);
	if (!why && s & PERF_SAMPLE_REGS_USER)
		why = perfrecords_take_regs(&w, l->regs_user, &r->sample.regs_abi, &r->sample.regs);
	if (!why && s & PERF_SAMPLE_STACK_USER)
		why = perfrecords_take_stack(&w, r);
	return why ? why : take_rest(&w, s, l->regs_intr, r);
}

/* ---- other records ------------------------------------------------------------------------------------------- */

static void parse_trailer(const uint64_t *w, uint64_t s, struct perfdata_record *r)
{
	if (s & PERF_SAMPLE_TID) {
		r->pid = perfrecords_low(*w);
		r->tid = perfrecords_high(*w++);
	}
	if (s & PERF_SAMPLE_TIME)
		r->time = *w++;
	w += (s & PERF_SAMPLE_ID ? 1 : 0) + (s & PERF_SAMPLE_STREAM_ID ? 1 : 0);
	if (s & PERF_SAMPLE_CPU) {
		r->cpu = perfrecords_low(*w);
		r->has_cpu = true;
	}
}

/* The bytes up to a NUL, or all. */
static struct str perfrecords_text_of(struct words w)
{
	struct str s = { (const char *)w.p, w.n * 8 };
	ptrdiff_t end = str_find(s, 0);

	return end >= 0 ? str_head(s, (size_t)end) : s;
}

static void set_thread(struct perfdata_record *r, uint64_t word)
{
	r->pid = perfrecords_low(word);
	r->tid = perfrecords_high(word);
}

/*
 * Does p, in the place of device and inode, hold a build-id (u8 size, three zeros, 20 bytes), as the record says? Linux
 * (6.18 still does) sets that mark for every recorder while one on this machine asks for build-ids. Where none of the
 * file's events asks, it must look like one.
 */
static bool is_build_id(const uint8_t *p, bool is_requested)
{
	static const uint8_t zero[BUILD_ID_MAX];
	unsigned n = p[0];

	if (n == 0 || n > BUILD_ID_MAX || p[1] || p[2] || p[3])
		return false;
	return is_requested || ((n == 8 || n == 16 || n == 20) && memcmp(p + 4 + n, zero, BUILD_ID_MAX - n) == 0);
}

static const char *parse_mmap(struct words w, bool two, bool build_ids, struct perfdata_record *r)
{
	const uint64_t *p;

	if (!take_some(&w, two ? 8 : 4, &p))
		return "a mapping that is too short";
	r->kind = PERFDATA_MMAP;
	set_thread(r, p[0]);
	r->mmap.start = p[1];
	r->mmap.length = p[2];
	r->mmap.offset = p[3];
	r->mmap.data = r->misc & MISC_MMAP_DATA;
	r->mmap.path = perfrecords_text_of(w);
	if (!two) {
		r->mmap.protection = r->mmap.data ? 1 : 5; /* PROT_READ, PROT_EXEC: it does not say */
		return NULL;
	}
	if (r->misc & MISC_MMAP_BUILD_ID && is_build_id((const uint8_t *)&p[4], build_ids)) {
		const uint8_t *id = (const uint8_t *)&p[4];

		r->mmap.build_id.n = id[0];
		memcpy(r->mmap.build_id.byte, id + 4, r->mmap.build_id.n);
	} else {
		r->mmap.major = perfrecords_low(p[4]);
		r->mmap.minor = perfrecords_high(p[4]);
		r->mmap.inode = p[5];
		r->mmap.generation = p[6];
	}
	r->mmap.protection = perfrecords_low(p[7]);
	r->mmap.flags = perfrecords_high(p[7]);
	return NULL;
}

static const char *parse_task(struct words w, bool fork, struct perfdata_record *r)
{
	const uint64_t *p;

	if (!take_some(&w, 3, &p))
		return "a fork or exit that is too short";
	r->kind = fork ? PERFDATA_FORK : PERFDATA_EXIT;
	r->pid = perfrecords_low(p[0]);
	r->tid = perfrecords_low(p[1]);
	r->fork.ppid = perfrecords_high(p[0]);
	r->fork.ptid = perfrecords_high(p[1]);
	r->fork.synthesised = fork && r->misc & MISC_FORK_EXEC;
	return NULL;
}

static const char *parse_comm(struct words w, struct perfdata_record *r)
{
	uint64_t v;

	if (!perfrecords_take(&w, &v))
		return "a comm that is too short";
	r->kind = PERFDATA_COMM;
	set_thread(r, v);
	r->comm.comm = perfrecords_text_of(w);
	r->comm.exec = r->misc & MISC_COMM_EXEC;
	return NULL;
}

static const char *parse_lost(struct words w, bool samples, struct perfdata_record *r, bool *skip)
{
	const uint64_t *p;

	if (!take_some(&w, samples ? 1 : 2, &p))
		return "a count of lost records that is too short";
	r->kind = PERFDATA_LOST;
	r->lost.count = p[samples ? 0 : 1];
	r->lost.samples = samples;
	*skip = samples && r->misc & MISC_LOST_SAMPLES_BPF;
	return NULL;
}

static const char *parse_namespaces(struct words w, struct perfdata_record *r)
{
	uint64_t v, n;
	const uint64_t *p;

	if (!perfrecords_take(&w, &v) || !perfrecords_take(&w, &n) || n > w.n / 2 || !take_some(&w, 2 * n, &p))
		return "namespaces end behind the record";
	r->kind = PERFDATA_NAMESPACES;
	set_thread(r, v);
	r->namespaces.n = n < countof(r->namespaces.inode) ? n : countof(r->namespaces.inode);
	for (size_t i = 0; i < r->namespaces.n; i++)
		r->namespaces.inode[i] = p[2 * i + 1];
	return NULL;
}

static const char *parse_cgroup(struct words w, struct perfdata_record *r)
{
	if (!perfrecords_take(&w, &r->cgroup.id))
		return "a cgroup that is too short";
	r->kind = PERFDATA_CGROUP;
	r->cgroup.path = perfrecords_text_of(w);
	return NULL;
}

static const char *parse_ksymbol(struct words w, struct perfdata_record *r)
{
	uint64_t v;

	if (!perfrecords_take(&w, &r->ksymbol.start) || !perfrecords_take(&w, &v))
		return "a kernel symbol that is too short";
	r->kind = PERFDATA_KSYMBOL;
	r->ksymbol.length = perfrecords_low(v);
	r->ksymbol.type = (uint16_t)perfrecords_high(v);
	r->ksymbol.gone = perfrecords_high(v) >> 16 & 1;
	r->ksymbol.name = perfrecords_text_of(w);
	return NULL;
}

static const char *parse_deferred(struct words w, struct perfdata_record *r)
{
	if (!perfrecords_take(&w, &r->deferred.cookie) || !perfrecords_take(&w, &r->deferred.nips) ||
	    !take_some(&w, r->deferred.nips, &r->deferred.ips))
		return "the callchain ends behind the record";
	r->kind = PERFDATA_DEFERRED;
	return NULL;
}

static const char *parse_other(uint32_t type, struct words w, bool build_ids, struct perfdata_record *r, bool *skip)
{
	switch (type) {
	case RECORD_MMAP: return parse_mmap(w, false, false, r);
	case RECORD_MMAP2: return parse_mmap(w, true, build_ids, r);
	case RECORD_COMM: return parse_comm(w, r);
	case RECORD_FORK: return parse_task(w, true, r);
	case RECORD_EXIT: return parse_task(w, false, r);
	case RECORD_LOST: return parse_lost(w, false, r, skip);
	case RECORD_LOST_SAMPLES: return parse_lost(w, true, r, skip);
	case RECORD_THROTTLE: r->kind = PERFDATA_THROTTLE; return w.n >= 3 ? NULL : "a throttling that is too short";
	case RECORD_NAMESPACES: return parse_namespaces(w, r);
	case RECORD_CGROUP: return parse_cgroup(w, r);
	case RECORD_KSYMBOL: return parse_ksymbol(w, r);
	case RECORD_CALLCHAIN_DEFERRED: return parse_deferred(w, r);
	default: *skip = true; return NULL;
	}
}

/* How much of a struct perfdata_record a sample may fill, and another record. A table, so that memset is called: what
 * gcc puts in its place (rep stos) takes longer than all else here. */
static const size_t used[] = {
	offsetof(struct perfdata_record, mmap) + sizeof(((struct perfdata_record *)0)->mmap),
	offsetof(struct perfdata_record, sample) + sizeof(((struct perfdata_record *)0)->sample),
};

const char *perfrecords_parse(const char *p, const struct perfevents *e, uint32_t event, struct perfdata_record *r,
			      struct perfrecords_values *values, bool *skip)
{
	struct perf_record h;
	struct words w;
	const char *why;

	memcpy(&h, p, sizeof(h));
	memset(r, 0, used[h.type == RECORD_SAMPLE]);
	r->misc = h.misc;
	r->pid = r->tid = UINT32_MAX;
	*values = (struct perfrecords_values){ 0 };
	*skip = false;
	/* perf and kernel write whole words; of what does not end so, the last bytes belong to nothing */
	w = (struct words){ (const uint64_t *)(const void *)(p + sizeof(h)), (h.size - sizeof(h)) / 8 };
	if (h.type == RECORD_SAMPLE) {
		why = parse_sample(w, e, event, r, values);
	} else {
		const struct perfevents_layout *l = &e->layout[event];

		if (l->trailer > w.n)
			return "it is too short for its event";
		w.n -= l->trailer;
		if (l->trailer)
			parse_trailer(w.p + w.n, e->event[event].sample_type, r);
		why = parse_other(h.type, w, e->build_ids, r, skip);
	}
	r->has_time = r->time != 0 && r->time != UINT64_MAX;
	if (!r->has_time)
		r->time = 0;
	return why;
}
