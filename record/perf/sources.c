/* SPDX-License-Identifier: Apache-2.0 */
#include "record/perf/sources.h"

#include "common/arena.h"
#include "record/perf/cpulist.h"
#include "record/perf/detached.h"
#include "record/perf/eventids.h"
#include "record/perf/openevent.h"
#include "record/probes/uprobes.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#define DESCRIPTORS_BESIDE 32
#define RING_SHARE 32 /* all rings with stack copies together use at most 1/32 of the host's memory */

struct source {
	int fd;
	uint32_t cpu;
	/* twinned: true if the event may have a twin; twin: true if this event is itself a twin, so that each of its
	 * samples wakes the readers (sources_wake_each) */
	bool twinned, twin;
	bool counts;   /* true if read() also returns the number of lost samples (FORMAT_LOST) */
	uint64_t lost; /* number of lost samples at the last successful read() */
};

struct cpu_wakes {
	uint32_t cpu;
	bool each; /* true if the twins are enabled instead of their events */
};

struct sources {
	struct sources_options o;
	struct rings *rings;
	struct source *source;
	size_t n, cap;
	uint32_t *cpu;
	size_t ncpus;
	struct eventids ids; /* indexes of the events by the kernel's event ids */
	uint32_t *tid;
	size_t ntids;
	/* size of one ring in bytes, by enum ring_kind; halved until the kernel allows it */
	size_t bytes[3];
	uint64_t lost_closed; /* number of lost samples of events that were closed with their CPU */
	int *cgroup;          /* descriptors of the o.ncgroups cgroup directories */
	bool enabled, without_kernel;
	bool changed;            /* true if an allocation event was not opened, because its file has changed */
	size_t refused;          /* number of times that an event was not opened on a CPU that came online */
	struct cpu_wakes *wakes; /* CPUs whose events have twins */
	size_t nwakes;
	struct detached *detached; /* NULL if events follow threads: the kernel does not detach these */
	uint64_t reopened; /* number of CPUs whose events were opened again because the kernel had detached them */
	int unopened;      /* errno of the last failure to open the events of an online CPU; 0: all have events */
};

uint64_t sources_event(const struct sources *sources, uint64_t id)
{
	return eventids_find(&sources->ids, id);
}

/* ---- opening of one event ------------------------------------------------------------------------------------ */

static int sources_open_event(struct sources *sources, struct perf_event_attr *attr, pid_t pid, int cpu,
			      unsigned long flags)
{
	bool user_only = sources->o.target == TARGET_THREADS || sources->o.target == TARGET_COMMAND;
	bool excluded = attr->exclude_kernel;
	int fd = openevent(attr, pid, cpu, flags, user_only);

	sources->without_kernel |= attr->exclude_kernel && !excluded;
	return fd;
}

static struct source *keep_source(struct sources *sources, int fd, uint32_t cpu, bool counts)
{
	if (sources->n == sources->cap) {
		sources->cap = sources->cap ? 2 * sources->cap : 16;
		sources->source = mem_grow(sources->source, sizeof(*sources->source), sources->cap);
	}
	sources->source[sources->n] = (struct source){ .fd = fd, .cpu = cpu, .counts = counts };
	return sources->source + sources->n++;
}

/* ---- opening of all events of a CPU -------------------------------------------------------------------------- */

/* Arguments of perf_event_open, pid and flags, that select the target of an event. */
struct owner {
	pid_t pid;
	unsigned long flags;
};

static struct owner sources_owner(const struct sources *sources, size_t i)
{
	switch (sources->o.target) {
	case TARGET_CGROUPS: return (struct owner){ sources->cgroup[i], PERF_FLAG_PID_CGROUP };
	case TARGET_THREADS: return (struct owner){ (pid_t)sources->tid[i], 0 };
	case TARGET_COMMAND: return (struct owner){ (pid_t)sources->o.pid[0], 0 };
	default: return (struct owner){ -1, 0 };
	}
}

static size_t sources_whoms(const struct sources *sources)
{
	return sources->o.target == TARGET_CGROUPS ? sources->o.ncgroups :
	       sources->o.target == TARGET_THREADS ? sources->ntids :
						     1;
}

/* Returns the number of descriptors that the recording needs: one for each event of each target on each CPU, and
 * DESCRIPTORS_BESIDE for files of windows and /proc that are open at the same time. */
static uint64_t descriptors_needed(const struct sources *sources)
{
	uint64_t one = sources->o.nevents * (sources->o.twins ? 2 : 1) + 1 + (sources->o.switches ? 1 : 0);

	return sources->ncpus * sources_whoms(sources) * one + DESCRIPTORS_BESIDE;
}

static uint64_t locked_bytes(const struct sources *sources)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	return sources->bytes[RING_OF_STATE] + sources->bytes[RING_OF_SAMPLES] + 2 * page +
	       (sources->o.switches ? sources->bytes[RING_OF_SWITCHES] + page : 0);
}

/* Maps a ring of this kind for the CPU with descriptor fd and sets *ring to fd. If *ring is a descriptor already, makes
 * the kernel write the records of fd to the ring of *ring instead. Halves the size until the kernel allows it.
 * Exception: does not halve the size of sources_options.ring_bytes, nor any size if sources_options.ring_least is set.
 * Returns false with errno on failure. */
static bool give_ring(struct sources *sources, int fd, int *ring, enum ring_kind kind, uint32_t cpu)
{
	size_t *bytes = sources->bytes + kind;

	if (*ring >= 0)
		return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, *ring) == 0;
	while (!rings_add(sources->rings, fd, *bytes, kind, cpu)) {
		bool requested = sources->o.ring_bytes && kind == RING_OF_SAMPLES;

		if ((errno != EPERM && errno != ENOMEM) || *bytes <= RING_LEAST || requested || sources->o.ring_least)
			return false;
		*bytes /= 2;
	}
	*ring = fd;
	return true;
}

/* Returns true for events that the kernel samples, false for off-CPU events, whose samples the recorder makes. */
static bool is_sampled(const struct perf_event_attr *attr)
{
	return attr->type != PERF_TYPE_SOFTWARE || attr->config != PERF_COUNT_SW_BPF_OUTPUT;
}

/* Returns true for events that get twins: those that are sampled by frequency and have a stack copy. An event with a
 * fixed period gets none: each occurrence would wake a reader, which causes two more context switches. */
static bool is_twinned(const struct perf_event_attr *attr)
{
	return is_sampled(attr) && attr->freq && attr->sample_type & PERF_SAMPLE_STACK_USER;
}

/* Returns true, and adds 1 to sources->refused, if the event cannot be opened because it needs a right that the
 * recorder has dropped since the start. That applies to uprobes, which need CAP_SYS_ADMIN since Linux 6.16. The other
 * events are still recorded on this CPU. */
static bool is_refused(struct sources *sources, const struct perf_event_attr *attr, int error)
{
	if (!sources->enabled || attr->type < PERF_TYPE_MAX || (error != EACCES && error != EPERM))
		return false;
	sources->refused++;
	return true;
}

/* Returns true if the event with index `number` (from 1) is a breakpoint of java:alloc that the kernel now refuses
 * because of its file, although it accepted the breakpoint in a test before (uprobes_try). Any user can change a file
 * of his own, and this must not end the recording of other processes. Returns false if other attributes of the event
 * are the cause, or errors such as a lack of descriptors (uprobes_is_beside_file). */
static bool is_file_changed(struct sources *sources, const struct perf_event_attr *attr, uint64_t number, int error)
{
	int tried;

	if (number > sources->o.nevents || !sources->o.event[number - 1].allocates || uprobes_is_beside_file(error))
		return false;
	tried = uprobes_try(attr);
	if (!tried || uprobes_is_beside_file(tried))
		return false;
	sources->changed = true;
	return true;
}

/* Returns the path of the cgroup with descriptor fd, for the message that this cgroup is not in perf's hierarchy; NULL
 * if no target cgroup has this descriptor. */
static const char *cgroup_path(const struct sources *sources, int fd)
{
	for (size_t i = 0; sources->cgroup && i < sources->o.ncgroups; i++)
		if (sources->cgroup[i] == fd)
			return sources->o.cgroup[i];
	return NULL;
}

/* Returns true if an event cannot be opened because its target has gone since it was listed: a thread that ended, or
 * during the recording a cgroup that was removed. The events of other targets are opened all the same. */
static bool is_target_gone(const struct sources *sources, struct owner owner, int error)
{
	switch (sources->o.target) {
	case TARGET_THREADS: return error == ESRCH;
	case TARGET_CGROUPS:
		return sources->enabled && error == ENOENT && faccessat(owner.pid, "cgroup.procs", F_OK, 0) < 0;
	default: return false;
	}
}

static bool sources_open_one(struct sources *sources, struct perf_event_attr *attr, const char *what, uint64_t number,
			     struct owner owner, uint32_t cpu, int *ring, enum ring_kind kind,
			     struct sources_failure *why)
{
	/* attr is also written to windows, without this bit */
	uint64_t format = kind == RING_OF_STATE && sources->detached ? DETACHED_FORMAT : 0;
	uint64_t id;
	int fd;

	attr->wakeup_watermark = (uint32_t)(sources->bytes[kind] / 4);
	attr->read_format |= format;
	fd = sources_open_event(sources, attr, owner.pid, (int)cpu, owner.flags);
	attr->read_format &= ~format;
	*why = (struct sources_failure){ .step = SOURCES_OPEN,
					 .error = errno,
					 .attr = *attr,
					 .what = what,
					 .target = sources->o.target,
					 .pid = (uint32_t)owner.pid,
					 .cpu = (int)cpu,
					 .needed = descriptors_needed(sources) };
	if (fd < 0 && errno == EBADF)
		why->what = cgroup_path(sources, owner.pid);
	if (fd < 0)
		return is_target_gone(sources, owner, why->error) || is_refused(sources, attr, why->error) ||
		       is_file_changed(sources, attr, number, why->error);
	keep_source(sources, fd, cpu, kind == RING_OF_SAMPLES && attr->read_format & FORMAT_LOST)->twinned =
		kind == RING_OF_SAMPLES && is_twinned(attr);
	if (!give_ring(sources, fd, ring, kind, cpu)) {
		why->step = SOURCES_MAP;
		why->error = errno;
		why->needed = locked_bytes(sources);
		return false;
	}
	if (ioctl(fd, PERF_EVENT_IOC_ID, &id) == 0)
		eventids_add(&sources->ids, id, number);
	if (format)
		detached_add(sources->detached, cpu, fd);
	if (sources->enabled)
		ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	return true;
}

const struct perf_event_attr *sources_format(const struct sources *sources)
{
	for (size_t i = 0; i < sources->o.nevents; i++)
		if (is_twinned(&sources->o.event[i].attr))
			return &sources->o.event[i].attr;
	return NULL;
}

/* ---- twins of sampled events ---------------------------------------------------------------------------------- */

/* Returns true if threads inherit the events. Then twins are opened together with the events, or never: a thread that
 * started before its parent had twins inherits only the events, and would not be sampled while twins replace them. */
static bool sources_inherits(const struct sources *sources)
{
	return sources->o.target == TARGET_COMMAND || sources->o.target == TARGET_THREADS;
}

static bool open_twin(struct sources *sources, size_t e, struct owner owner, uint32_t cpu, int ring)
{
	struct perf_event_attr attr = sources->o.event[e].attr;
	uint64_t id;
	int fd;

	attr.watermark = 0;
	attr.wakeup_events = 1;
	attr.disabled = 1;
	attr.enable_on_exec = 0;
	fd = sources_open_event(sources, &attr, owner.pid, (int)cpu, owner.flags);
	if (fd < 0)
		return is_target_gone(sources, owner, errno);
	struct source *source = keep_source(sources, fd, cpu, attr.read_format & FORMAT_LOST);
	source->twin = true;
	if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring) != 0)
		return false;
	if (ioctl(fd, PERF_EVENT_IOC_ID, &id) == 0)
		eventids_add(&sources->ids, id, e + 1);
	return true;
}

/* Opens the twins of all events on a CPU, disabled. If a twin cannot be opened, closes those already open and returns
 * false with errno. */
static bool open_twins(struct sources *sources, uint32_t cpu)
{
	size_t bytes, before = sources->n, n = sources_whoms(sources);
	int ring = rings_fd(sources->rings, RING_OF_SAMPLES, cpu, &bytes), error;
	bool valid = ring >= 0;

	errno = ENODEV;
	for (size_t i = 0; i < n && valid; i++)
		for (size_t e = 0; e < sources->o.nevents && valid; e++)
			valid = !is_twinned(&sources->o.event[e].attr) ||
				open_twin(sources, e, sources_owner(sources, i), cpu, ring);
	if (valid) {
		sources->wakes = mem_grow(sources->wakes, sizeof(*sources->wakes), sources->nwakes + 1);
		sources->wakes[sources->nwakes++] = (struct cpu_wakes){ .cpu = cpu };
		return true;
	}
	error = errno;
	while (sources->n > before)
		close(sources->source[--sources->n].fd);
	errno = error;
	return false;
}

static struct cpu_wakes *wakes_of(const struct sources *sources, uint32_t cpu)
{
	for (size_t i = 0; i < sources->nwakes; i++)
		if (sources->wakes[i].cpu == cpu)
			return sources->wakes + i;
	return NULL;
}

/* each true: disables the events of a CPU that have twins, then enables the twins. each false: disables the twins, then
 * enables the events. */
static void switch_twins(const struct sources *sources, uint32_t cpu, bool each)
{
	for (int on = 0; on <= 1; on++)
		for (size_t i = 0; i < sources->n; i++) {
			const struct source *source = sources->source + i;

			if ((source->twin || source->twinned) && source->cpu == cpu && (source->twin == each) == on)
				ioctl(source->fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
		}
}

bool sources_wake_each(struct sources *sources, uint32_t cpu, bool each)
{
	struct cpu_wakes *wakes = wakes_of(sources, cpu);

	if (!wakes) {
		if (!each)
			return true;
		if (!sources->enabled || sources_inherits(sources)) {
			errno = EOPNOTSUPP;
			return false;
		}
		if (!open_twins(sources, cpu))
			return false;
		wakes = wakes_of(sources, cpu);
	}
	if (wakes->each != each)
		switch_twins(sources, cpu, each);
	wakes->each = each;
	return true;
}

const uint32_t *sources_cpu_list(const struct sources *sources, size_t *n)
{
	*n = sources->ncpus;
	return sources->cpu;
}

/* ---- CPU hotplug ------------------------------------------------------------------------------------------------- */

static bool open_cpu(struct sources *sources, uint32_t cpu, struct sources_failure *why)
{
	int ring = -1, state = -1, switches = -1;
	size_t n = sources_whoms(sources);

	for (size_t i = 0; i < n; i++) {
		struct owner owner = sources_owner(sources, i), all = { -1, 0 };

		if ((sources->o.target != TARGET_CGROUPS || i == 0) &&
		    !sources_open_one(sources, sources->o.state, NULL, sources->o.nevents + 1,
				      sources->o.target == TARGET_CGROUPS ? all : owner, cpu, &state, RING_OF_STATE,
				      why))
			return false;
		for (size_t e = 0; e < sources->o.nevents; e++) {
			if (!is_sampled(&sources->o.event[e].attr))
				continue;
			if (!sources_open_one(sources, &sources->o.event[e].attr, sources->o.event[e].name, e + 1,
					      owner, cpu, &ring, RING_OF_SAMPLES, why))
				return false;
		}
		if (sources->o.switches &&
		    !sources_open_one(sources, sources->o.switches, "context-switches", sources->o.nevents + 2, owner,
				      cpu, &switches, RING_OF_SWITCHES, why))
			return false;
	}
	if (sources->o.twins && sources_inherits(sources))
		open_twins(sources, cpu);
	return true;
}

/* Returns the number of samples that the event has lost; if read() fails, as after its CPU went offline, the number at
 * the last successful read(). */
static uint64_t lost_of(struct source *source)
{
	/* layout of read() with FORMAT_LOST: the value of the event's counter, then the number of its lost samples */
	uint64_t value[2];

	if (source->counts && read(source->fd, value, sizeof(value)) == sizeof(value))
		source->lost = value[1];
	return source->lost;
}

static void close_cpu(struct sources *sources, uint32_t cpu)
{
	size_t n = 0;

	struct cpu_wakes *wakes = wakes_of(sources, cpu);

	rings_remove(sources->rings, cpu);
	detached_remove(sources->detached, cpu);
	if (wakes)
		*wakes = sources->wakes[--sources->nwakes];
	for (size_t i = 0; i < sources->n; i++) {
		if (sources->source[i].cpu == cpu) {
			sources->lost_closed += lost_of(&sources->source[i]);
			close(sources->source[i].fd);
		} else {
			sources->source[n++] = sources->source[i];
		}
	}
	sources->n = n;
}

/* ---- target processes and threads ---------------------------------------------------------------------------- */

/* Closes all twins. Where threads inherit events, sources_wake_each fails from then on. */
static void drop_twins(struct sources *sources)
{
	size_t n = 0;

	for (size_t i = 0; i < sources->n; i++) {
		if (sources->source[i].twin)
			close(sources->source[i].fd);
		else
			sources->source[n++] = sources->source[i];
	}
	sources->n = n;
	sources->nwakes = 0;
}

/* Lists the threads of all target processes in sources->tid. Threads that start later are children of the listed
 * threads and inherit their events. Returns false and sets *why if a process cannot be read. */
static bool find_threads(struct sources *sources, struct sources_failure *why)
{
	for (size_t i = 0; i < sources->o.npids; i++) {
		char path[64];
		DIR *dir;

		snprintf(path, sizeof(path), "/proc/%u/task", sources->o.pid[i]);
		dir = opendir(path);
		if (!dir) {
			*why = (struct sources_failure){ .step = SOURCES_PROCESS,
							 .error = errno,
							 .target = sources->o.target,
							 .pid = sources->o.pid[i],
							 .cpu = -1 };
			return false;
		}
		for (struct dirent *entry; (entry = readdir(dir));) {
			uint64_t tid;

			if (!str_u64(str_of(entry->d_name), &tid))
				continue;
			sources->tid = mem_grow(sources->tid, sizeof(*sources->tid), sources->ntids + 1);
			sources->tid[sources->ntids++] = (uint32_t)tid;
		}
		closedir(dir);
	}
	return true;
}

/* Returns true if a target process has a thread that is not in sources->tid, or if its threads cannot be listed. Such a
 * thread may have inherited an event but not its twin, which was opened later. */
static bool has_new_threads(const struct sources *sources)
{
	struct sources now = { .o = sources->o };
	struct sources_failure why;
	bool any = !find_threads(&now, &why);

	for (size_t i = 0, j = 0; i < now.ntids && !any; i++) {
		for (j = 0; j < sources->ntids && sources->tid[j] != now.tid[i];)
			j++;
		any = j == sources->ntids;
	}
	free(now.tid);
	return any;
}

static bool open_cgroups(struct sources *sources, struct sources_failure *why)
{
	sources->cgroup = mem_alloc(sizeof(*sources->cgroup), sources->o.ncgroups);
	for (size_t i = 0; i < sources->o.ncgroups; i++) {
		sources->cgroup[i] = open(sources->o.cgroup[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (sources->cgroup[i] < 0) {
			*why = (struct sources_failure){ .step = SOURCES_CGROUP,
							 .error = errno,
							 .what = sources->o.cgroup[i],
							 .target = sources->o.target,
							 .cpu = -1 };
			return false;
		}
	}
	return true;
}

/* Returns true if enough descriptors remain for the files of windows: without this check, opening a file of a window
 * would fail later, without a hint. Sets *why to the failure even if the result is true. */
static bool can_open_more(const struct sources *sources, struct sources_failure *why)
{
	struct rlimit limit;

	*why = (struct sources_failure){ .step = SOURCES_OPEN,
					 .error = EMFILE,
					 .target = sources->o.target,
					 .cpu = -1,
					 .needed = sources->n + DESCRIPTORS_BESIDE };
	return getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= why->needed;
}

/* Halves the size of a ring with stack copies until the rings of all CPUs use at most 1/RING_SHARE of the host's
 * memory, or until the size is `least`. Returns the size in bytes. */
static size_t sources_bounded(const struct sources *sources, size_t bytes, size_t least)
{
	struct sysinfo info;
	uint64_t max = sysinfo(&info) == 0 ? (uint64_t)info.totalram * info.mem_unit / RING_SHARE : UINT64_MAX;

	while (bytes > least && bytes * sources->ncpus > max)
		bytes /= 2;
	return bytes;
}

static void set_sizes(struct sources *sources)
{
	/* with rings for switches, three rings of a CPU share the locked memory that is allowed for two */
	size_t small = sources->o.switches ? RING_SMALL / 2 : RING_SMALL;
	size_t samples = sources->o.ring_bytes ? sources->o.ring_bytes : sources->o.large ? RING_MAX : small;

	sources->bytes[RING_OF_SAMPLES] = samples;
	if (!sources->o.ring_bytes && sources->o.ring_wanted > samples)
		sources->bytes[RING_OF_SAMPLES] = sources_bounded(sources, sources->o.ring_wanted, samples);
	sources->bytes[RING_OF_STATE] = sources->o.large ? RING_STATE : RING_STATE_SMALL;
	sources->bytes[RING_OF_SWITCHES] = RING_SWITCHES * samples;
}

static bool open_cpus(struct sources *sources, struct sources_failure *why)
{
	bool valid = true;

	for (size_t i = 0; valid && i < sources->ncpus; i++) {
		valid = open_cpu(sources, sources->cpu[i], why);
		/* the CPU went offline after it was listed: continue without it */
		if (!valid && why->error == ENODEV && sources->ncpus > 1 && i > 0) {
			close_cpu(sources, sources->cpu[i]);
			sources->cpu[i--] = sources->cpu[--sources->ncpus];
			valid = true;
		}
	}
	return valid;
}

/* Opens the events of all CPUs. If rings must hold stack copies, halves the size of the rings of all CPUs together
 * until the kernel allows it: otherwise the ring of the first CPU could use all locked memory that is allowed. */
static bool open_with_less(struct sources *sources, struct sources_failure *why)
{
	size_t *bytes = &sources->bytes[RING_OF_SAMPLES];

	while (!open_cpus(sources, why)) {
		if (why->step != SOURCES_MAP || (why->error != EPERM && why->error != ENOMEM) ||
		    sources->o.ring_bytes || *bytes / 2 < sources->o.ring_least || !sources->o.ring_least)
			return false;
		for (size_t i = 0; i < sources->ncpus; i++)
			close_cpu(sources, sources->cpu[i]);
		*bytes /= 2;
	}
	return true;
}

struct sources *sources_open(const struct sources_options *options, struct rings *rings, struct sources_failure *why)
{
	struct sources *sources = mem_alloc(sizeof(*sources), 1);

	sources->o = *options;
	sources->rings = rings;
	sources->cpu = cpulist_online(&sources->ncpus);
	if (options->target != TARGET_THREADS && options->target != TARGET_COMMAND)
		sources->detached = detached_new();
	set_sizes(sources);
	bool valid = (options->target != TARGET_THREADS || find_threads(sources, why)) &&
		     (options->target != TARGET_CGROUPS || open_cgroups(sources, why));
	valid = valid && open_with_less(sources, why);
	if (valid && sources->nwakes &&
	    ((options->target == TARGET_THREADS && has_new_threads(sources)) || !can_open_more(sources, why)))
		drop_twins(sources);
	if (valid && can_open_more(sources, why))
		return sources;
	sources_close(sources);
	return NULL;
}

void sources_enable(struct sources *sources)
{
	sources->enabled = true;
	if (sources->o.target != TARGET_COMMAND)
		for (size_t i = 0; i < sources->n; i++)
			if (!sources->source[i].twin)
				ioctl(sources->source[i].fd, PERF_EVENT_IOC_ENABLE, 0);
	detached_start(sources->detached);
}

void sources_close(struct sources *sources)
{
	if (!sources)
		return;
	while (sources->ncpus)
		close_cpu(sources, sources->cpu[--sources->ncpus]);
	for (size_t i = 0; sources->cgroup && i < sources->o.ncgroups; i++)
		if (sources->cgroup[i] >= 0)
			close(sources->cgroup[i]);
	free(sources->cgroup);
	free(sources->source);
	eventids_free(&sources->ids);
	detached_free(sources->detached);
	free(sources->wakes);
	free(sources->cpu);
	free(sources->tid);
	free(sources);
}

bool sources_cpus_differ(const struct sources *sources)
{
	size_t n;
	uint32_t *now = cpulist_online(&n);
	bool equal = n == 0 || n == sources->ncpus;

	for (size_t i = 0; equal && i < n; i++)
		equal = now[i] == sources->cpu[i] || cpulist_has(sources->cpu, sources->ncpus, now[i]);
	free(now);
	return !equal || detached_suspended(sources->detached);
}

/* Returns true if a CPU is not among the n online CPUs, or if its events are detached. */
static bool must_close(const struct sources *sources, uint32_t cpu, const uint32_t *online, size_t n)
{
	return !cpulist_has(online, n, cpu) || detached_has(sources->detached, cpu);
}

/* Closes the events of the CPUs for which must_close returns true, and removes these CPUs from the list. Calls `drain`
 * before, once, if there is such a CPU: a drain finishes samples that wait for unwind tables. */
static void close_cpus(struct sources *sources, const uint32_t *online, size_t n, void (*drain)(void *to), void *to)
{
	bool drained = false;

	for (size_t i = sources->ncpus; i-- > 0;) {
		uint32_t cpu = sources->cpu[i];

		if (!must_close(sources, cpu, online, n))
			continue;
		if (!drained)
			drain(to);
		drained = true;
		sources->reopened += cpulist_has(online, n, cpu);
		close_cpu(sources, cpu);
		sources->cpu[i] = sources->cpu[--sources->ncpus];
	}
}

bool sources_follow_cpus(struct sources *sources, void (*drain)(void *to), void *to)
{
	struct sources_failure why;
	bool came = false;
	size_t n;
	uint32_t *now = cpulist_online(&n);
	bool detached = detached_find(sources->detached) > 0;

	sources->unopened = 0;
	if (n == 0 || (!detached && n == sources->ncpus && memcmp(now, sources->cpu, n * sizeof(*now)) == 0)) {
		free(now);
		return false;
	}
	close_cpus(sources, now, n, drain, to);
	for (size_t i = 0; i < n; i++) {
		if (cpulist_has(sources->cpu, sources->ncpus, now[i]))
			continue;
		if (open_cpu(sources, now[i], &why)) {
			came = true;
			continue;
		}
		sources->unopened = why.error;
		close_cpu(sources, now[i]);
		now[i--] = now[--n]; /* the next call of sources_follow_cpus tries this CPU again */
	}
	free(sources->cpu);
	sources->cpu = now;
	sources->ncpus = n;
	return came;
}

uint64_t sources_lost(struct sources *sources)
{
	uint64_t sum = sources->lost_closed;

	for (size_t i = 0; i < sources->n; i++)
		sum += lost_of(&sources->source[i]);
	return sum;
}

uint64_t sources_reopened(const struct sources *sources)
{
	return sources->reopened;
}

int sources_unopened(const struct sources *sources)
{
	return sources->unopened;
}

size_t sources_refused(const struct sources *sources)
{
	return sources->refused;
}

size_t sources_cpus(const struct sources *sources)
{
	return sources->ncpus;
}

bool sources_changed(const struct sources *sources)
{
	return sources->changed;
}

bool sources_without_kernel(const struct sources *sources)
{
	return sources->without_kernel;
}
