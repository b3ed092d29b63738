/* SPDX-License-Identifier: Apache-2.0 */
#include "record/syncread/switchwatch.h"

#include "common/arena.h"
#include "common/clocks.h"
#include "record/perf/rings.h"
#include "unwind/dwarf/processor.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define RATE_NS UINT64_C(100000000) /* time in ns over which the rate of records is measured */

/* perf events of a CPU. All write to the ring of ARRIVALS: migrations to the CPU, context switches, and the user
 * registers of each thread that leaves, just before the record of its switch. */
enum { ARRIVALS, SWITCHES, REGISTERS, EVENTS };

struct watched_cpu {
	uint32_t cpu, reader;
	int event[EVENTS]; /* descriptors of the perf events */
	bool on;           /* true if the records of context switches are on */
	uint32_t left;     /* thread whose registers were recorded since the last switch; 0: none */
	struct userregs registers;
	uint64_t paused_until;
	uint64_t counted; /* records since `since`, without switches from or to the reader thread */
	uint64_t since;   /* time in ns at which counting began or, if the records are off, at which the pause began */
};

struct switchwatch {
	struct rings *rings;
	struct watched_cpu *cpu;
	size_t ncpus;
	uint32_t per_second;
	uint64_t pause_ns, records, pauses;
	int epoll;
	struct certificate *certificate; /* certificate, arrived, arrived_to: arguments of switchwatch_take, valid only
					    during that call */
	void (*arrived)(void *to, uint32_t cpu, uint32_t tid);
	void *arrived_to;
};

struct switchwatch *switchwatch_new(uint32_t per_second, uint64_t pause_ns, int epoll)
{
	struct switchwatch *switchwatch = mem_alloc(sizeof(*switchwatch), 1);

	*switchwatch = (struct switchwatch){
		.rings = rings_new(), .per_second = per_second, .pause_ns = pause_ns, .epoll = epoll
	};
	return switchwatch;
}

void switchwatch_free(struct switchwatch *switchwatch)
{
	if (!switchwatch)
		return;
	rings_free(switchwatch->rings);
	for (size_t i = 0; i < switchwatch->ncpus; i++) {
		for (unsigned event = 0; event < EVENTS; event++)
			close(switchwatch->cpu[i].event[event]);
	}
	free(switchwatch->cpu);
	free(switchwatch);
}

static struct watched_cpu *watched(const struct switchwatch *switchwatch, uint32_t cpu)
{
	for (size_t i = 0; i < switchwatch->ncpus; i++)
		if (switchwatch->cpu[i].cpu == cpu)
			return switchwatch->cpu + i;
	return NULL;
}

/* Sample fields of all events. Samples begin with, and other records end with, the fields that rings.h requires. */
#define SAMPLE_TYPE (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU)

static int open_event(uint32_t cpu, unsigned event, size_t bytes)
{
	static const uint64_t config[EVENTS] = { [ARRIVALS] = PERF_COUNT_SW_CPU_MIGRATIONS,
						 [SWITCHES] = PERF_COUNT_SW_DUMMY,
						 [REGISTERS] = PERF_COUNT_SW_CONTEXT_SWITCHES };
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = config[event],
		.sample_type = SAMPLE_TYPE | (event == REGISTERS ? PERF_SAMPLE_REGS_USER : 0),
		.sample_regs_user = event == REGISTERS ? processor_here()->perf : 0,
		.sample_period = 1,
		.disabled = 1,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.context_switch = event == SWITCHES,
		.exclude_kernel =
			event == SWITCHES, /* the other events occur only in the kernel, so they must not exclude it */
		.watermark = 1,
		.wakeup_watermark = (uint32_t)bytes / 2,
	};

	return (int)syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static void switchwatch_close_events(const struct watched_cpu *one)
{
	for (unsigned event = 0; event < EVENTS; event++)
		if (one->event[event] >= 0)
			close(one->event[event]);
}

/* Opens the events of a CPU, starts the event of migrations, and maps a ring of `bytes` bytes. On failure, closes the
 * events and returns false with errno. */
static bool switchwatch_open_all(const struct switchwatch *switchwatch, struct watched_cpu *one, size_t bytes)
{
	bool opened = true;
	int error;

	for (unsigned event = 0; event < EVENTS; event++) {
		one->event[event] = open_event(one->cpu, event, bytes);
		opened = opened && one->event[event] >= 0;
	}
	if (opened && rings_add(switchwatch->rings, one->event[ARRIVALS], bytes, RING_OF_SWITCHES, one->cpu)) {
		if (ioctl(one->event[SWITCHES], PERF_EVENT_IOC_SET_OUTPUT, one->event[ARRIVALS]) == 0 &&
		    ioctl(one->event[REGISTERS], PERF_EVENT_IOC_SET_OUTPUT, one->event[ARRIVALS]) == 0 &&
		    ioctl(one->event[ARRIVALS], PERF_EVENT_IOC_ENABLE, 0) == 0)
			return true;
		rings_remove(switchwatch->rings, one->cpu);
	}
	error = errno;
	switchwatch_close_events(one);
	errno = error;
	return false;
}

/* Opens the events of a CPU with the largest ring that the kernel allows. Returns false if the kernel allows no
 * ring. */
static bool switchwatch_open_largest(const struct switchwatch *switchwatch, struct watched_cpu *one)
{
	for (size_t bytes = SWITCHWATCH_BYTES; bytes >= SWITCHWATCH_LEAST; bytes /= 2) {
		if (switchwatch_open_all(switchwatch, one, bytes))
			return true;
		if (errno != EPERM && errno != ENOMEM)
			return false;
	}
	return false;
}

void switchwatch_open(struct switchwatch *switchwatch, struct certificate *certificate, uint32_t cpu)
{
	struct epoll_event poll = { .events = EPOLLIN };
	struct watched_cpu one = { .cpu = cpu };

	if (watched(switchwatch, cpu))
		return;
	/* declares the records of this CPU as incomplete: no record shows a thread that began to run before its events
	 * were open */
	certificate_watch(certificate, cpu, false, 0);
	if (!processor_here() || !switchwatch_open_largest(switchwatch, &one))
		return;
	/* ignores a failure: then a full ring wakes no thread, and is drained at the next regular call of
	 * switchwatch_take
	 */
	epoll_ctl(switchwatch->epoll, EPOLL_CTL_ADD, one.event[ARRIVALS], &poll);
	switchwatch->cpu = mem_grow(switchwatch->cpu, sizeof(*switchwatch->cpu), switchwatch->ncpus + 1);
	switchwatch->cpu[switchwatch->ncpus++] = one;
	certificate_watch_arrivals(certificate, cpu, true, clock_now());
}

bool switchwatch_has(const struct switchwatch *switchwatch, uint32_t cpu)
{
	return watched(switchwatch, cpu) != NULL;
}

static void stop(struct watched_cpu *one, struct certificate *certificate)
{
	one->on = false;
	one->since = clock_now();
	certificate_watch(certificate, one->cpu, false, clock_now());
	ioctl(one->event[SWITCHES], PERF_EVENT_IOC_DISABLE, 0);
	ioctl(one->event[REGISTERS], PERF_EVENT_IOC_DISABLE, 0);
}

bool switchwatch_set(struct switchwatch *switchwatch, struct certificate *certificate, uint32_t cpu, bool on)
{
	struct watched_cpu *one = watched(switchwatch, cpu);
	uint64_t now = clock_now();

	if (!one)
		return false;
	if (one->on == on || (on && now < one->paused_until))
		return one->on;
	if (!on) {
		stop(one, certificate);
		return false;
	}
	if (ioctl(one->event[REGISTERS], PERF_EVENT_IOC_ENABLE, 0) != 0 ||
	    ioctl(one->event[SWITCHES], PERF_EVENT_IOC_ENABLE, 0) != 0)
		return false;
	one->on = true;
	one->counted = 0;
	one->since = clock_now();
	certificate_watch(certificate, cpu, true, one->since);
	return true;
}

void switchwatch_reader(struct switchwatch *switchwatch, struct certificate *certificate, uint32_t cpu, uint32_t tid)
{
	struct watched_cpu *one = watched(switchwatch, cpu);

	certificate_reader(certificate, cpu, tid);
	if (one)
		one->reader = tid;
}

static void close_one(struct switchwatch *switchwatch, struct watched_cpu *one)
{
	rings_remove(switchwatch->rings, one->cpu);
	switchwatch_close_events(one);
	*one = switchwatch->cpu[--switchwatch->ncpus];
}

void switchwatch_close(struct switchwatch *switchwatch, struct certificate *certificate, uint32_t cpu)
{
	struct watched_cpu *one = watched(switchwatch, cpu);

	certificate_without(certificate, cpu);
	certificate_lose(certificate, clock_now());
	if (!one)
		return;
	close_one(switchwatch, one);
}

void switchwatch_close_all(struct switchwatch *switchwatch, struct certificate *certificate)
{
	while (switchwatch->ncpus)
		switchwatch_close(switchwatch, certificate, switchwatch->cpu[0].cpu);
}

/* ---- records of switches and migrations ------------------------------------------------------------------------ */

/* PERF_RECORD_SWITCH_CPU_WIDE. misc: direction of the switch; next_prev_tid: thread that runs after or before it. */
struct switch_record {
	struct perf_record head;
	uint32_t next_prev_pid, next_prev_tid;
	struct ring_sample_id id;
};

#define MISC_OUT (1 << 13)
#define MISC_OUT_PREEMPT (1 << 14)

static void take_switch(struct switchwatch *switchwatch, const struct switch_record *got)
{
	struct watched_cpu *one = watched(switchwatch, got->id.cpu);
	struct certificate_switch change = { .cpu = got->id.cpu,
					     .tid = got->id.tid,
					     .other = got->next_prev_tid,
					     .out = got->head.misc & MISC_OUT,
					     .preempted = got->head.misc & MISC_OUT_PREEMPT,
					     .time = got->id.time };

	if (one) {
		one->counted += change.tid != one->reader && change.other != one->reader;
		if (change.out && one->left == change.tid)
			change.registers = one->registers;
		one->left = 0;
	}
	certificate_pass(switchwatch->certificate, &change);
}

/* A sample of the event REGISTERS: user registers of a thread that leaves the CPU. */
struct registers_sample {
	char start[offsetof(struct ring_sample, period)];
	uint64_t abi, value[];
};

static void take_registers(struct switchwatch *switchwatch, const struct ring_sample *sample)
{
	const struct registers_sample *registers = (const void *)sample;
	struct watched_cpu *one = watched(switchwatch, sample->cpu);
	size_t n = (sample->head.size - sizeof(*registers)) / sizeof(registers->value[0]);

	if (!one || !registers->abi)
		return;
	one->left = sample->tid;
	one->registers = userregs_of(processor_here(), registers->value, n);
}

static void switchwatch_take_record(void *to, const struct ring_record *record)
{
	struct switchwatch *switchwatch = to;
	const struct ring_sample *sample = (const void *)record->head;

	switchwatch->records++;
	if (record->head->type == RECORD_SAMPLE && record->head->size >= sizeof(struct registers_sample)) {
		take_registers(switchwatch, sample);
	} else if (record->head->type == RECORD_SWITCH_CPU_WIDE && record->head->size == sizeof(struct switch_record)) {
		take_switch(switchwatch, (const void *)record->head);
	} else if (record->head->type == RECORD_SAMPLE && record->head->size >= offsetof(struct ring_sample, period)) {
		certificate_arrive(switchwatch->certificate, sample->cpu, sample->tid, sample->time);
		switchwatch->arrived(switchwatch->arrived_to, sample->cpu, sample->tid);
	}
}

/* Pauses the records of each CPU whose rate exceeds per_second. The rate is measured over the time since the last
 * check, at least RATE_NS. */
static void bound_rates(struct switchwatch *switchwatch, uint64_t now)
{
	for (size_t i = 0; i < switchwatch->ncpus; i++) {
		struct watched_cpu *one = switchwatch->cpu + i;
		uint64_t past = now - one->since, window = past > RATE_NS ? past : RATE_NS;

		if (!one->on)
			continue;
		if (one->counted * SECOND_NS / window > switchwatch->per_second) {
			stop(one, switchwatch->certificate);
			one->paused_until = now + switchwatch->pause_ns;
			switchwatch->pauses++;
		} else if (past < RATE_NS) {
			continue;
		}
		one->counted = 0;
		one->since = now;
	}
}

void switchwatch_take(struct switchwatch *switchwatch, struct certificate *certificate, uint64_t now,
		      void (*arrived)(void *to, uint32_t cpu, uint32_t tid), void *to)
{
	uint64_t horizon = now - SWITCHWATCH_MARGIN_NS;

	switchwatch->certificate = certificate;
	switchwatch->arrived = arrived;
	switchwatch->arrived_to = to;
	/* Only this function empties the rings, so a ring that became full after the last call is still full. */
	if (rings_lossy(switchwatch->rings, RING_OF_SWITCHES))
		certificate_lose(certificate, clock_now());
	rings_drain(switchwatch->rings, horizon, switchwatch_take_record, switchwatch);
	certificate_advance(certificate, horizon);
	bound_rates(switchwatch, now);
}

uint64_t switchwatch_records(const struct switchwatch *switchwatch)
{
	return switchwatch->records;
}

uint64_t switchwatch_pauses(const struct switchwatch *switchwatch)
{
	return switchwatch->pauses;
}
