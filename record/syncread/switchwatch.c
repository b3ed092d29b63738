/* SPDX-License-Identifier: Apache-2.0 */
#include "record/syncread/switchwatch.h"

#include "common/arena.h"
#include "common/clocks.h"
#include "record/perf/rings.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CLOSE_NS \
	(10 * SECOND_NS) /* time after which an event that is off is closed: each one slows down all switches */
#define RATE_NS UINT64_C(100000000) /* time over which the rate of records is measured */

struct watched_cpu {
	uint32_t cpu, reader;
	int fd;
	bool on;
	uint64_t paused_until;
	uint64_t counted; /* records since `since`, without those of the reader's switches */
	uint64_t since;   /* time at which the count or, if it is off, the pause began */
};

struct switchwatch {
	struct rings *rings;
	struct watched_cpu *cpu;
	size_t ncpus;
	uint32_t per_second;
	uint64_t pause_ns, records, pauses;
	int epoll;
	struct certificate *certificate; /* during switchwatch_take */
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
	for (size_t i = 0; i < switchwatch->ncpus; i++)
		close(switchwatch->cpu[i].fd);
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

static struct watched_cpu *open_watch(struct switchwatch *switchwatch, uint32_t cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = RING_SAMPLE_TYPE,
		.sample_period = 1,
		.disabled = 1,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.context_switch = 1,
		.exclude_kernel = 1,
		.watermark = 1,
		.wakeup_watermark = SWITCHWATCH_BYTES / 2,
	};
	struct epoll_event poll = { .events = EPOLLIN };
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
	size_t bytes = SWITCHWATCH_BYTES;

	if (fd < 0)
		return NULL;
	while (!rings_add(switchwatch->rings, fd, bytes, RING_OF_SWITCHES, cpu)) {
		bytes /= 2;
		if ((errno != EPERM && errno != ENOMEM) || bytes < SWITCHWATCH_LEAST) {
			close(fd);
			return NULL;
		}
	}
	epoll_ctl(switchwatch->epoll, EPOLL_CTL_ADD, fd, &poll); /* if it fails, the caller takes them later */
	switchwatch->cpu = mem_grow(switchwatch->cpu, sizeof(*switchwatch->cpu), switchwatch->ncpus + 1);
	switchwatch->cpu[switchwatch->ncpus] = (struct watched_cpu){ .cpu = cpu, .fd = fd };
	return switchwatch->cpu + switchwatch->ncpus++;
}

static void stop(struct watched_cpu *one, struct certificate *certificate)
{
	one->on = false;
	one->since = clock_now();
	certificate_watch(certificate, one->cpu, false, clock_now());
	ioctl(one->fd, PERF_EVENT_IOC_DISABLE, 0);
}

bool switchwatch_set(struct switchwatch *switchwatch, struct certificate *certificate, uint32_t cpu, bool on)
{
	struct watched_cpu *one = watched(switchwatch, cpu);
	uint64_t now = clock_now();

	if (!one && on)
		one = open_watch(switchwatch, cpu);
	if (!one)
		return false;
	if (one->on == on || (on && now < one->paused_until))
		return one->on;
	if (!on) {
		stop(one, certificate);
		return false;
	}
	if (ioctl(one->fd, PERF_EVENT_IOC_ENABLE, 0) != 0)
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
	close(one->fd);
	*one = switchwatch->cpu[--switchwatch->ncpus];
}

void switchwatch_close(struct switchwatch *switchwatch, struct certificate *certificate, uint32_t cpu)
{
	struct watched_cpu *one = watched(switchwatch, cpu);

	certificate_without(certificate, cpu);
	if (!one)
		return;
	close_one(switchwatch, one);
}

/* ---- records -------------------------------------------------------------------------------------------------- */

/* A SWITCH_CPU_WIDE record: misc has the direction; next_prev is the other thread. */
struct switch_record {
	struct perf_record head;
	uint32_t next_prev_pid, next_prev_tid;
	struct ring_sample_id id;
};

#define MISC_OUT (1 << 13)
#define MISC_OUT_PREEMPT (1 << 14)

static void take_switch(void *to, const struct ring_record *record)
{
	struct switchwatch *switchwatch = to;
	struct watched_cpu *one;
	struct switch_record got;

	if (record->head->type != RECORD_SWITCH_CPU_WIDE || record->head->size != sizeof(got))
		return;
	memcpy(&got, record->head, sizeof(got));
	switchwatch->records++;
	one = watched(switchwatch, got.id.cpu);
	if (one && got.id.tid != one->reader && got.next_prev_tid != one->reader)
		one->counted++;
	certificate_pass(switchwatch->certificate,
			 &(struct certificate_switch){ .cpu = got.id.cpu,
						       .tid = got.id.tid,
						       .other = got.next_prev_tid,
						       .out = got.head.misc & MISC_OUT,
						       .preempted = got.head.misc & MISC_OUT_PREEMPT,
						       .time = got.id.time });
}

/* Stops the records of CPUs that have too many. */
static void bound_rates(struct switchwatch *switchwatch, uint64_t now)
{
	for (size_t i = 0; i < switchwatch->ncpus; i++) {
		struct watched_cpu *one = switchwatch->cpu + i;
		uint64_t past = now - one->since;

		if (!one->on || past < RATE_NS)
			continue;
		if (one->counted * SECOND_NS / past > switchwatch->per_second) {
			stop(one, switchwatch->certificate);
			one->paused_until = now + switchwatch->pause_ns;
			switchwatch->pauses++;
		}
		one->counted = 0;
		one->since = now;
	}
}

static void close_unused(struct switchwatch *switchwatch, uint64_t now)
{
	for (size_t i = switchwatch->ncpus; i-- > 0;)
		if (!switchwatch->cpu[i].on && now > switchwatch->cpu[i].since &&
		    now - switchwatch->cpu[i].since > CLOSE_NS)
			close_one(switchwatch, switchwatch->cpu + i);
}

void switchwatch_take(struct switchwatch *switchwatch, struct certificate *certificate, uint64_t now)
{
	uint64_t horizon = now - SWITCHWATCH_MARGIN_NS;

	switchwatch->certificate = certificate;
	/* Only this function empties the rings, so one that was full since the last call is still full. */
	if (rings_lossy(switchwatch->rings, RING_OF_SWITCHES))
		certificate_lose(certificate, clock_now());
	rings_drain(switchwatch->rings, horizon, take_switch, switchwatch);
	certificate_advance(certificate, horizon);
	bound_rates(switchwatch, now);
	close_unused(switchwatch, now);
}

uint64_t switchwatch_records(const struct switchwatch *switchwatch)
{
	return switchwatch->records;
}

uint64_t switchwatch_pauses(const struct switchwatch *switchwatch)
{
	return switchwatch->pauses;
}
