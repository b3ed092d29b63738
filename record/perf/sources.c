/* SPDX-License-Identifier: Apache-2.0 */
#include "record/perf/sources.h"

#include "common/arena.h"
#include "common/hash.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#define ONLINE "/sys/devices/system/cpu/online"

#define DESCRIPTORS_BESIDE 32
#define RING_SHARE 32 /* of the memory is for rings with copies of stacks */

struct source {
	int fd;
	uint32_t cpu;
	bool counts; /* its reads tell what was lost */
};

struct sources {
	struct sources_options o;
	struct rings *rings;
	struct source *source;
	size_t n, cap;
	uint32_t *cpu;
	size_t ncpus;
	struct {
		uint64_t id, event;
	} * name; /* open addressing, by id */
	size_t nnames, mask;
	uint32_t *tid;
	size_t ntids;
	size_t bytes[3]; /* of a ring of each kind: they shrink to what is allowed */
	int *cgroup;     /* descriptors of directories */
	bool enabled, without_kernel;
};

/* ---- CPUs ---------------------------------------------------------------------------------------------------- */

uint32_t *sources_parse_cpus(struct str s, size_t *n)
{
	uint32_t *cpu = NULL;

	*n = 0;
	while ((s = str_trim(s)).n && s.p[0] != '\n') {
		struct str range = str_cut(&s, ','), from;
		uint64_t lo, hi;

		if (range.n && range.p[range.n - 1] == '\n')
			range.n--;
		from = str_cut(&range, '-');
		if (!str_u64(from, &lo) || (range.n && !str_u64(range, &hi)))
			continue;
		hi = range.n ? hi : lo;
		for (; lo <= hi && *n < 65536; lo++) {
			cpu = mem_grow(cpu, sizeof(*cpu), *n + 1);
			cpu[(*n)++] = (uint32_t)lo;
		}
	}
	return cpu;
}

static uint32_t *sources_online(size_t *n)
{
	char text[4096];
	int fd = open(ONLINE, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text));

	if (fd >= 0)
		close(fd);
	if (got > 0)
		return sources_parse_cpus((struct str){ text, (size_t)got }, n);
	*n = (size_t)sysconf(_SC_NPROCESSORS_ONLN); /* /sys is not there in every container */
	uint32_t *cpu = mem_alloc(sizeof(*cpu), *n);
	for (size_t i = 0; i < *n; i++)
		cpu[i] = (uint32_t)i;
	return cpu;
}

/* ---- numbers of events --------------------------------------------------------------------------------------- */

static size_t name_place(const struct sources *s, uint64_t id)
{
	size_t i = (size_t)hash_mix(id, 0x9E3779B97F4A7C15u) & s->mask;

	while (s->name[i].event && s->name[i].id != id)
		i = (i + 1) & s->mask;
	return i;
}

static void name_event(struct sources *s, uint64_t id, uint64_t event)
{
	if (2 * s->nnames >= s->mask) {
		struct sources wide = *s;

		wide.mask = s->mask ? 2 * s->mask + 1 : 63;
		wide.name = mem_alloc(sizeof(*wide.name), wide.mask + 1);
		for (size_t i = 0; s->name && i <= s->mask; i++)
			if (s->name[i].event)
				wide.name[name_place(&wide, s->name[i].id)] = s->name[i];
		free(s->name);
		s->name = wide.name;
		s->mask = wide.mask;
	}
	size_t i = name_place(s, id);
	s->nnames += !s->name[i].event;
	s->name[i].id = id;
	s->name[i].event = event;
}

uint64_t sources_event(const struct sources *s, uint64_t id)
{
	return s->name ? s->name[name_place(s, id)].event : 0;
}

/* ---- opening one event --------------------------------------------------------------------------------------- */

/* What older kernels do not know, newest first. False: the attribute asks for nothing that could be left out. */
static bool step_down(struct perf_event_attr *a)
{
	if (a->precise_ip)
		return a->precise_ip--, true;
	if (a->read_format & FORMAT_LOST) /* 6.0 */
		return a->read_format &= ~FORMAT_LOST, true;
	if (a->cgroup || a->sample_type & PERF_SAMPLE_CGROUP) /* 5.7, and only with CONFIG_CGROUP_PERF */
		return a->cgroup = 0, a->sample_type &= ~(uint64_t)PERF_SAMPLE_CGROUP, true;
	if (a->ksymbol || a->bpf_event) /* 5.1 */
		return a->ksymbol = a->bpf_event = 0, true;
	if (a->namespaces) /* 4.12 */
		return a->namespaces = 0, true;
	if (a->exclude_guest)
		return a->exclude_guest = 0, true;
	return false;
}

/* Happens in the kernel only: without it nothing would be left. */
static bool in_kernel(const struct perf_event_attr *a)
{
	return a->type == PERF_TYPE_TRACEPOINT ||
	       (a->type == PERF_TYPE_SOFTWARE &&
		(a->config == PERF_COUNT_SW_CONTEXT_SWITCHES || a->config == PERF_COUNT_SW_CPU_MIGRATIONS));
}

/* What needs more permission than the rest. */
static bool request_less(struct sources *s, struct perf_event_attr *a)
{
	if (a->namespaces)
		return a->namespaces = 0, true;
	if (a->ksymbol || a->bpf_event)
		return a->ksymbol = a->bpf_event = 0, true;
	if (a->exclude_kernel || in_kernel(a) || (s->o.target != TARGET_THREADS && s->o.target != TARGET_COMMAND))
		return false;
	s->without_kernel = true;
	return a->exclude_kernel = a->exclude_hv = 1, true;
}

static bool more_descriptors(void)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) || l.rlim_cur == l.rlim_max)
		return false;
	l.rlim_cur = l.rlim_max;
	return setrlimit(RLIMIT_NOFILE, &l) == 0;
}

static int sources_open_event(struct sources *s, struct perf_event_attr *a, pid_t pid, int cpu, unsigned long flags)
{
	for (;;) {
		int fd = (int)syscall(SYS_perf_event_open, a, pid, cpu, -1, flags | PERF_FLAG_FD_CLOEXEC);

		if (fd >= 0)
			return fd;
		switch (errno) {
		case EINVAL:
		case E2BIG:
		case EOPNOTSUPP:
			if (step_down(a))
				continue;
			return -1;
		case ENOENT:
			if (a->precise_ip) { /* precise events may be those of another unit that is not there */
				a->precise_ip--;
				continue;
			}
			return -1;
		case EACCES:
		case EPERM: {
			int error = errno;

			if (request_less(s, a))
				continue;
			errno = error;
			return -1;
		}
		case EMFILE:
			if (more_descriptors())
				continue;
			errno = EMFILE;
			return -1;
		default: return -1;
		}
	}
}

static void keep_source(struct sources *s, int fd, uint32_t cpu, bool counts)
{
	if (s->n == s->cap) {
		s->cap = s->cap ? 2 * s->cap : 16;
		s->source = mem_grow(s->source, sizeof(*s->source), s->cap);
	}
	s->source[s->n++] = (struct source){ fd, cpu, counts };
}

/* ---- all events of a CPU ------------------------------------------------------------------------------------- */

/* Who an event is for: pid and flags of perf_event_open. */
struct owner {
	pid_t pid;
	unsigned long flags;
};

static struct owner sources_owner(const struct sources *s, size_t i)
{
	switch (s->o.target) {
	case TARGET_CGROUPS: return (struct owner){ s->cgroup[i], PERF_FLAG_PID_CGROUP };
	case TARGET_THREADS: return (struct owner){ (pid_t)s->tid[i], 0 };
	case TARGET_COMMAND: return (struct owner){ (pid_t)s->o.pid[0], 0 };
	default: return (struct owner){ -1, 0 };
	}
}

static size_t sources_whoms(const struct sources *s)
{
	return s->o.target == TARGET_CGROUPS ? s->o.ncgroups : s->o.target == TARGET_THREADS ? s->ntids : 1;
}

/* Those of all events on all CPUs, and as many as windows and /proc need at a time. */
static uint64_t descriptors_needed(const struct sources *s)
{
	uint64_t one = s->o.nevents + 1 + (s->o.switches ? 1 : 0);

	return s->ncpus * sources_whoms(s) * one + DESCRIPTORS_BESIDE;
}

static uint64_t locked_bytes(const struct sources *s)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	return s->bytes[RING_OF_STATE] + s->bytes[RING_OF_SAMPLES] + 2 * page +
	       (s->o.switches ? s->bytes[RING_OF_SWITCHES] + page : 0);
}

/* Maps the ring of the CPU, or lets fd write into the one that is there. Rings shrink until they are allowed. */
static bool give_ring(struct sources *s, int fd, int *ring, enum ring_kind kind, uint32_t cpu)
{
	size_t *bytes = s->bytes + kind;

	if (*ring >= 0)
		return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, *ring) == 0;
	while (!rings_add(s->rings, fd, *bytes, kind, cpu)) {
		bool requested = s->o.ring_bytes && kind == RING_OF_SAMPLES;

		if ((errno != EPERM && errno != ENOMEM) || *bytes <= RING_LEAST || requested || s->o.ring_least)
			return false;
		*bytes /= 2;
	}
	*ring = fd;
	return true;
}

static bool sources_open_one(struct sources *s, struct perf_event_attr *a, const char *what, uint64_t number,
			     struct owner w, uint32_t cpu, int *ring, enum ring_kind kind, struct sources_failure *why)
{
	a->wakeup_watermark = (uint32_t)(s->bytes[kind] / 4);
	int fd = sources_open_event(s, a, w.pid, (int)cpu, w.flags);
	uint64_t id;

	*why = (struct sources_failure){ .step = SOURCES_OPEN,
					 .error = errno,
					 .attr = *a,
					 .what = what,
					 .target = s->o.target,
					 .pid = (uint32_t)w.pid,
					 .cpu = (int)cpu,
					 .needed = descriptors_needed(s) };
	if (fd < 0)
		return s->o.target == TARGET_THREADS && why->error == ESRCH; /* a thread that ended meanwhile */
	keep_source(s, fd, cpu, kind == RING_OF_SAMPLES && a->read_format & FORMAT_LOST);
	if (!give_ring(s, fd, ring, kind, cpu)) {
		why->step = SOURCES_MAP;
		why->error = errno;
		why->needed = locked_bytes(s);
		return false;
	}
	if (ioctl(fd, PERF_EVENT_IOC_ID, &id) == 0)
		name_event(s, id, number);
	if (s->enabled)
		ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	return true;
}

static bool open_cpu(struct sources *s, uint32_t cpu, struct sources_failure *why)
{
	int ring = -1, state = -1, switches = -1;
	size_t n = sources_whoms(s);

	for (size_t i = 0; i < n; i++) {
		struct owner w = sources_owner(s, i), all = { -1, 0 };

		if ((s->o.target != TARGET_CGROUPS || i == 0) &&
		    !sources_open_one(s, s->o.state, NULL, s->o.nevents + 1, s->o.target == TARGET_CGROUPS ? all : w,
				      cpu, &state, RING_OF_STATE, why))
			return false;
		for (size_t e = 0; e < s->o.nevents; e++) {
			if (s->o.event[e].attr.type == PERF_TYPE_SOFTWARE &&
			    s->o.event[e].attr.config == PERF_COUNT_SW_BPF_OUTPUT)
				continue; /* one that we make ourselves */
			if (!sources_open_one(s, &s->o.event[e].attr, s->o.event[e].name, e + 1, w, cpu, &ring,
					      RING_OF_SAMPLES, why))
				return false;
		}
		if (s->o.switches && !sources_open_one(s, s->o.switches, "context-switches", s->o.nevents + 2, w, cpu,
						       &switches, RING_OF_SWITCHES, why))
			return false;
	}
	return true;
}

static void close_cpu(struct sources *s, uint32_t cpu)
{
	size_t n = 0;

	rings_remove(s->rings, cpu);
	for (size_t i = 0; i < s->n; i++) {
		if (s->source[i].cpu == cpu)
			close(s->source[i].fd);
		else
			s->source[n++] = s->source[i];
	}
	s->n = n;
}

/* ---- whom ---------------------------------------------------------------------------------------------------- */

/* Threads of all processes. Those that come later are their children, and inherit the events. */
static bool find_threads(struct sources *s, struct sources_failure *why)
{
	for (size_t i = 0; i < s->o.npids; i++) {
		char path[64];
		DIR *d;

		snprintf(path, sizeof(path), "/proc/%u/task", s->o.pid[i]);
		d = opendir(path);
		if (!d) {
			*why = (struct sources_failure){ .step = SOURCES_PROCESS,
							 .error = errno,
							 .target = s->o.target,
							 .pid = s->o.pid[i],
							 .cpu = -1 };
			return false;
		}
		for (struct dirent *e; (e = readdir(d));) {
			uint64_t tid;

			if (!str_u64(str_of(e->d_name), &tid))
				continue;
			s->tid = mem_grow(s->tid, sizeof(*s->tid), s->ntids + 1);
			s->tid[s->ntids++] = (uint32_t)tid;
		}
		closedir(d);
	}
	return true;
}

static bool open_cgroups(struct sources *s, struct sources_failure *why)
{
	s->cgroup = mem_alloc(sizeof(*s->cgroup), s->o.ncgroups);
	for (size_t i = 0; i < s->o.ncgroups; i++) {
		s->cgroup[i] = open(s->o.cgroup[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (s->cgroup[i] < 0) {
			*why = (struct sources_failure){ .step = SOURCES_CGROUP,
							 .error = errno,
							 .what = s->o.cgroup[i],
							 .target = s->o.target,
							 .cpu = -1 };
			return false;
		}
	}
	return true;
}

/* Enough for what comes later: files of windows, which would fail without a word of what helps. */
static bool can_open_more(const struct sources *s, struct sources_failure *why)
{
	struct rlimit l;

	*why = (struct sources_failure){ .step = SOURCES_OPEN,
					 .error = EMFILE,
					 .target = s->o.target,
					 .cpu = -1,
					 .needed = s->n + DESCRIPTORS_BESIDE };
	if (getrlimit(RLIMIT_NOFILE, &l) || l.rlim_cur >= why->needed)
		return true;
	return more_descriptors() && getrlimit(RLIMIT_NOFILE, &l) == 0 && l.rlim_cur >= why->needed;
}

/* Of rings that hold copies of stacks: on all CPUs not more than a share of the memory. */
static size_t sources_bounded(const struct sources *s, size_t bytes, size_t least)
{
	struct sysinfo info;
	uint64_t max = sysinfo(&info) == 0 ? (uint64_t)info.totalram * info.mem_unit / RING_SHARE : UINT64_MAX;

	while (bytes > least && bytes * s->ncpus > max)
		bytes /= 2;
	return bytes;
}

static void set_sizes(struct sources *s)
{
	size_t small = s->o.switches ? RING_SMALL / 2 : RING_SMALL; /* three rings do with what is allowed for two */
	size_t samples = s->o.ring_bytes ? s->o.ring_bytes : s->o.large ? RING_MAX : small;

	s->bytes[RING_OF_SAMPLES] = samples;
	if (!s->o.ring_bytes && s->o.ring_wanted > samples)
		s->bytes[RING_OF_SAMPLES] = sources_bounded(s, s->o.ring_wanted, samples);
	s->bytes[RING_OF_STATE] = s->o.large ? RING_STATE : RING_STATE_SMALL;
	s->bytes[RING_OF_SWITCHES] = RING_SWITCHES * samples;
}

static bool open_cpus(struct sources *s, struct sources_failure *why)
{
	bool ok = true;

	for (size_t i = 0; ok && i < s->ncpus; i++) {
		ok = open_cpu(s, s->cpu[i], why);
		if (!ok && why->error == ENODEV && s->ncpus > 1 && i > 0) { /* it went offline just now */
			close_cpu(s, s->cpu[i]);
			s->cpu[i--] = s->cpu[--s->ncpus];
			ok = true;
		}
	}
	return ok;
}

/* Where rings must hold copies of stacks, all CPUs get the same: one alone could take all that is allowed. */
static bool open_with_less(struct sources *s, struct sources_failure *why)
{
	size_t *bytes = &s->bytes[RING_OF_SAMPLES];

	while (!open_cpus(s, why)) {
		if (why->step != SOURCES_MAP || (why->error != EPERM && why->error != ENOMEM) || s->o.ring_bytes ||
		    *bytes / 2 < s->o.ring_least || !s->o.ring_least)
			return false;
		for (size_t i = 0; i < s->ncpus; i++)
			close_cpu(s, s->cpu[i]);
		*bytes /= 2;
	}
	return true;
}

struct sources *sources_open(const struct sources_options *o, struct rings *rings, struct sources_failure *why)
{
	struct sources *s = mem_alloc(sizeof(*s), 1);

	s->o = *o;
	s->rings = rings;
	s->cpu = sources_online(&s->ncpus);
	set_sizes(s);
	bool ok = (o->target != TARGET_THREADS || find_threads(s, why)) &&
		  (o->target != TARGET_CGROUPS || open_cgroups(s, why));
	if (ok && open_with_less(s, why) && can_open_more(s, why))
		return s;
	sources_close(s);
	return NULL;
}

void sources_enable(struct sources *s)
{
	s->enabled = true;
	if (s->o.target != TARGET_COMMAND)
		for (size_t i = 0; i < s->n; i++)
			ioctl(s->source[i].fd, PERF_EVENT_IOC_ENABLE, 0);
}

void sources_close(struct sources *s)
{
	if (!s)
		return;
	while (s->ncpus)
		close_cpu(s, s->cpu[--s->ncpus]);
	for (size_t i = 0; s->cgroup && i < s->o.ncgroups; i++)
		if (s->cgroup[i] >= 0)
			close(s->cgroup[i]);
	free(s->cgroup);
	free(s->source);
	free(s->name);
	free(s->cpu);
	free(s->tid);
	free(s);
}

static bool has_cpu(const uint32_t *cpu, size_t n, uint32_t which)
{
	for (size_t i = 0; i < n; i++)
		if (cpu[i] == which)
			return true;
	return false;
}

bool sources_follow_cpus(struct sources *s, void (*drain)(void *to), void *to)
{
	struct sources_failure why;
	bool came = false;
	size_t n;
	uint32_t *now = sources_online(&n);

	if (n == 0 || (n == s->ncpus && memcmp(now, s->cpu, n * sizeof(*now)) == 0)) {
		free(now);
		return false;
	}
	drain(to);
	for (size_t i = 0; i < s->ncpus; i++)
		if (!has_cpu(now, n, s->cpu[i]))
			close_cpu(s, s->cpu[i]);
	for (size_t i = 0; i < n; i++) {
		if (has_cpu(s->cpu, s->ncpus, now[i]))
			continue;
		if (open_cpu(s, now[i], &why)) {
			came = true;
			continue;
		}
		close_cpu(s, now[i]);
		now[i--] = now[--n]; /* tried again the next time */
	}
	free(s->cpu);
	s->cpu = now;
	s->ncpus = n;
	return came;
}

uint64_t sources_lost(const struct sources *s)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < s->n; i++) {
		uint64_t value[2]; /* count, lost: read_format is FORMAT_LOST alone */

		if (s->source[i].counts && read(s->source[i].fd, value, sizeof(value)) == sizeof(value))
			sum += value[1];
	}
	return sum;
}

size_t sources_cpus(const struct sources *s)
{
	return s->ncpus;
}

size_t sources_fds(const struct sources *s)
{
	return s->n;
}

bool sources_without_kernel(const struct sources *s)
{
	return s->without_kernel;
}
