/* SPDX-License-Identifier: Apache-2.0 */
#include "record/offcpu/waitcopies.h"

#include "common/arena.h"
#include "common/clocks.h"
#include "common/hash.h"
#include "common/process/capabilities.h"
#include "common/process/fdmessage.h"
#include "common/process/helperprocess.h"
#include "common/process/sandbox.h"
#include "common/process/urgency.h"
#include "record/offcpu/waithelper.h"
#include "unwind/dwarf/processor.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Duration of a read in ns after which pjrecord replaces a pjrecord-wait that is blocked. It is long, because a fork or
 * munmap of a large process, or a page on a slow disk, blocks a read for some 100 ms, and a replacement costs up to
 * RESTART_NS without copies. */
#define HANG_NS (2 * SECOND_NS)
/* duration of a read in ns after which pjrecord replaces pjrecord-wait even if pjrecord-wait is not blocked, but waits
 * for a CPU on a loaded machine */
#define ANSWER_NS (5 * SECOND_NS)
#define RESTART_NS (2 * SECOND_NS) /* minimum time in ns between two starts of pjrecord-wait */
/* limit of pjrecord-wait's address space in bytes, in addition to its memory at the fork and to the rings that it
 * maps */
#define ADDRESS_SPACE ((uint64_t)64 << 20)
enum { BUCKETS = 4096 };

struct noted {
	struct waitcopies_copy copy;
	uint64_t before; /* number, counted from 1, of the previous copy in the same hash bucket; 0: none */
};

struct waitcopies {
	struct waithelper_options o;
	uint64_t early; /* result of waitcopies_early_registers */
	uint32_t ip;    /* index of the instruction pointer among the user registers of a sample */
	struct waitshare *share;
	pid_t pid, parent;
	int socket;
	/* true: pjrecord-wait is new or has received WAITHELPER_RINGS, so it follows only rings that are sent from now
	 * on */
	bool dropped;
	uint64_t started, own_ns;
	const struct rings *rings;
	const struct sources *sources;
	size_t sent; /* number of CPUs whose rings were sent to pjrecord-wait */

	uint64_t at; /* position in the ring after the newest copy that is stored in `noted` */
	struct noted noted[WAITCOPIES_MAX];
	/* head: number of the next copy. tail: number of the oldest copy. Index in `noted`: number modulo
	 * WAITCOPIES_MAX. */
	uint64_t head, tail;
	/* hash table by tid: number, counted from 1, of the newest copy of the bucket; 0: none */
	uint64_t bucket[BUCKETS];

	struct backoff backoff;
	/* for each class: fault domain (backoff_place) of the last tenant in whose process a read hung; 0: none */
	uint64_t avoided[WAITSHARE_CLASSES];
	/* argument of waitcopies_limit: true: only processes with a known tenant are read */
	bool known_only;
	struct waitcounters counters; /* sum of the counters of replaced pjrecord-wait processes */
};

/* ---- start and end of pjrecord-wait ----------------------------------------------------------------------------- */

/* Runs in pjrecord-wait. Drops all capabilities but CAP_SYS_PTRACE. The sandbox has no Landlock (SANDBOX_READER),
 * because Landlock would deny reads of other processes. */
static void waitcopies_run(void *to)
{
	const struct waitcopies *waitcopies = to;
	struct waithelper_options options = waitcopies->o;
	options.socket = HELPERPROCESS_FD;
	options.share = waitcopies->share;
	if (options.frames && !waitframes_enter(options.frames, HELPERPROCESS_FD + 1))
		_exit(1);
	urgency_short_slices();
	if (!capabilities_limit(CAPABILITY_BIT(CAP_SYS_PTRACE)))
		_exit(1);
	/* without this signal, a process in a hanging read would not notice that the socket is closed, and its mappings
	 * would keep the rings alive */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != waitcopies->parent)
		_exit(0);
	sandbox_enter(&(struct sandbox){ .groups = SANDBOX_MESSAGES | SANDBOX_READER,
					 .address_space = helperprocess_memory() + ADDRESS_SPACE +
							  2 * rings_bytes(waitcopies->rings),
					 .files = 32,
					 .keep_capabilities = true });
	waithelper_run(&options);
}

static void waitcopies_start(struct waitcopies *waitcopies)
{
	struct waitframes *frames = waitcopies->o.frames;
	int pair[2], fd[2];

	waitcopies->started = clock_now();
	waitcopies->sent = 0;
	waitcopies->dropped = true;
	if (!waitcopies->share || !backoff_may_start(&waitcopies->backoff, waitcopies->started) ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return;
	waitcopies->parent = getpid();
	fd[0] = pair[1];
	fd[1] = waitframes_fd(frames);
	waitcopies->pid = helperprocess_start(&(struct helperprocess){ "pjrecord-wait", fd, frames ? 2 : 1, URGENCY_NOW,
								       waitcopies_run, waitcopies });
	close(pair[1]);
	if (!waitcopies->pid) {
		close(pair[0]);
		return;
	}
	waitcopies->socket = pair[0];
}

/* Makes pjrecord-wait drop earlier rings, if it has not done so, and sends it the remaining rings, as long as the
 * socket accepts messages; the next call continues. */
static void send_rings(struct waitcopies *waitcopies)
{
	size_t n;
	const uint32_t *cpus = sources_cpu_list(waitcopies->sources, &n);
	const struct waithelper_message none = { .kind = WAITHELPER_RINGS };

	if (waitcopies->pid && !waitcopies->dropped &&
	    !fdmessage_send_soon(waitcopies->socket, &none, sizeof(none), NULL, 0))
		return;
	waitcopies->dropped = true;
	while (waitcopies->pid && waitcopies->sent < n) {
		uint32_t cpu = cpus[waitcopies->sent];
		struct waithelper_message message = { .kind = WAITHELPER_RING, .cpu = cpu };
		size_t bytes;
		int fd = rings_fd(waitcopies->rings, RING_OF_SWITCHES, cpu, &bytes);

		message.bytes = bytes;
		if (fd >= 0 && !fdmessage_send_soon(waitcopies->socket, &message, sizeof(message), &fd, 1))
			return;
		waitcopies->sent++;
	}
}

bool waitcopies_read(struct waitcopies *waitcopies, uint32_t pid, uint32_t tid)
{
	struct waithelper_message message = { .kind = WAITHELPER_THREAD, .pid = pid, .tid = tid };
	char path[64];
	bool sent;
	int fd;

	if (!waitcopies->pid)
		return false;
	snprintf(path, sizeof(path), "/proc/%u/task/%u/syscall", (unsigned)pid, (unsigned)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		waitcopies->counters.denied += errno == EACCES || errno == EPERM;
		return true;
	}
	sent = fdmessage_send_soon(waitcopies->socket, &message, sizeof(message), &fd, 1);
	close(fd);
	return sent;
}

/* Returns the index of a register among the user registers of a sample. mask: registers of the sample, by perf's
 * numbers. number: perf's number of the register. */
static uint32_t register_index(uint64_t mask, unsigned number)
{
	return (uint32_t)__builtin_popcountll(mask & ((UINT64_C(1) << number) - 1));
}

struct waitcopies *waitcopies_fork(const struct perf_event_attr *attr, const struct rings *rings,
				   const struct sources *sources, struct waitframes *frames)
{
	const struct processor *processor = processor_here();
	struct waitcopies *waitcopies;
	struct stat own;
	unsigned sp = 0;

	while (processor && sp < countof(processor->of_perf) && processor->of_perf[sp] != CFI_RSP)
		sp++;
	if (!processor || sp == countof(processor->of_perf) || !(attr->sample_regs_user >> sp & 1) ||
	    __builtin_popcountll(attr->sample_regs_user) > WAIT_REGISTERS)
		return NULL;
	waitcopies = mem_alloc(sizeof(*waitcopies), 1);
	waitcopies->o = (struct waithelper_options){
		.frames = frames,
		.nregisters = (uint32_t)__builtin_popcountll(attr->sample_regs_user),
		.sp = register_index(attr->sample_regs_user, sp),
		.sample_type = attr->sample_type,
	};
	waitcopies->ip = register_index(attr->sample_regs_user, processor->perf_ip);
	waitcopies->early = UINT64_C(1) << sp | UINT64_C(1) << processor->perf_ip;
	waitcopies->own_ns = stat("/proc/self/ns/mnt", &own) == 0 ? own.st_ino : 0;
	waitcopies->rings = rings;
	waitcopies->sources = sources;
	waitcopies->share = waitshare_new();
	waitcopies_start(waitcopies);
	return waitcopies;
}

/* Closes the socket and kills pjrecord-wait. hung: true: a read of a process in fault domain `place` hung; false:
 * pjrecord-wait ended by itself or is broken. */
static void waitcopies_end(struct waitcopies *waitcopies, uint64_t place, bool hung, uint64_t now)
{
	close(waitcopies->socket);
	backoff_failed(&waitcopies->backoff, waitcopies->pid, place, hung, now);
	waitcopies->pid = 0;
}

void waitcopies_free(struct waitcopies *waitcopies)
{
	if (!waitcopies)
		return;
	if (waitcopies->pid) {
		close(waitcopies->socket);
		backoff_abandon(&waitcopies->backoff, waitcopies->pid, 0);
	}
	waitshare_free(waitcopies->share);
	free(waitcopies);
}

void waitcopies_follow(struct waitcopies *waitcopies)
{
	waitcopies->sent = 0;
	waitcopies->dropped = false;
	send_rings(waitcopies);
}

/* ---- copies of stacks ------------------------------------------------------------------------------------------- */

static uint64_t *bucket_of(struct waitcopies *waitcopies, uint32_t tid)
{
	return &waitcopies->bucket[hash_mix(tid, 0x9E3779B97F4A7C15u) & (BUCKETS - 1)];
}

static void forget_all(struct waitcopies *waitcopies)
{
	waitcopies->at = 0;
	waitcopies->tail = waitcopies->head;
}

/* Replaces the shared memory for the next pjrecord-wait, and adds the counters of the old memory to the sum. */
static void renew_share(struct waitcopies *waitcopies)
{
	struct waitshare *share = waitcopies->share;

	if (share) {
		waitcopies->counters = waitcopies_counters(waitcopies);
		waitshare_free(share);
	}
	forget_all(waitcopies);
	waitframes_renew(waitcopies->o.frames);
	waitcopies->share = waitshare_new();
	waitcopies_limit(waitcopies, waitcopies->known_only);
}

void waitcopies_collect(struct waitcopies *waitcopies)
{
	bool broken = false;
	const char *stack;
	struct waitcopy head;
	uint64_t at;

	if (!waitcopies || !waitcopies->share)
		return;
	for (at = waitcopies->at; waitcopies->head - waitcopies->tail < WAITCOPIES_MAX &&
				  waitshare_next(waitcopies->share, &waitcopies->at, &head, &stack, &broken);
	     at = waitcopies->at) {
		struct waitcopies_copy copy = { .tid = head.wait.tid,
						.sampled = head.wait.time,
						.begun = head.begun,
						.ended = head.ended,
						.frames = (enum waitcopy_frames)head.frames,
						.at = at,
						.end = waitcopies->at };
		uint64_t *bucket = bucket_of(waitcopies, copy.tid);

		waitcopies->noted[waitcopies->head++ % WAITCOPIES_MAX] =
			(struct noted){ copy, *bucket > waitcopies->tail ? *bucket : 0 };
		*bucket = waitcopies->head;
	}
	if (broken && waitcopies->pid) {
		waitcopies_end(waitcopies, 0, false, clock_now());
		renew_share(waitcopies);
	}
}

struct waitcopies_copy *waitcopies_find(struct waitcopies *waitcopies, uint32_t tid, uint64_t sampled)
{
	uint64_t number = *bucket_of(waitcopies, tid);

	while (number > waitcopies->tail) {
		struct noted *noted = &waitcopies->noted[(number - 1) % WAITCOPIES_MAX];

		if (noted->copy.tid == tid && noted->copy.sampled == sampled && !noted->copy.done)
			return &noted->copy;
		number = noted->before;
	}
	return NULL;
}

struct waitcopies_copy *waitcopies_at(struct waitcopies *waitcopies, size_t i)
{
	if (i >= waitcopies->head - waitcopies->tail)
		return NULL;
	return &waitcopies->noted[(waitcopies->tail + i) % WAITCOPIES_MAX].copy;
}

bool waitcopies_bytes(const struct waitcopies *waitcopies, const struct waitcopies_copy *copy, struct waitcopy *head,
		      const char **stack)
{
	uint64_t at = copy->at;
	bool broken = false;

	return waitcopies->share && waitshare_next(waitcopies->share, &at, head, stack, &broken) && at == copy->end;
}

uint64_t waitcopies_ip(const struct waitcopies *waitcopies, const struct waitcopy *head)
{
	return head->wait.registers[head->wait.time ? waitcopies->ip : WAIT_EARLY_REGISTERS - 1];
}

uint64_t waitcopies_early_registers(const struct waitcopies *waitcopies)
{
	return waitcopies->early;
}

void waitcopies_release(struct waitcopies *waitcopies)
{
	uint64_t end = 0;

	while (waitcopies->tail < waitcopies->head) {
		const struct waitcopies_copy *copy = &waitcopies->noted[waitcopies->tail % WAITCOPIES_MAX].copy;

		if (!copy->done)
			break;
		end = copy->end;
		waitcopies->tail++;
	}
	if (end && waitcopies->share)
		waitshare_drop(waitcopies->share, end);
}

bool waitcopies_press(const struct waitcopies *waitcopies)
{
	return waitcopies->head - waitcopies->tail > WAITCOPIES_MAX / 2 ||
	       (waitcopies->share && waitshare_level(waitcopies->share) > 500);
}

void waitcopies_learn(struct waitcopies *waitcopies, uint32_t tid, uint64_t sp, size_t used)
{
	if (waitcopies->share)
		waitshare_learn(waitcopies->share, tid, sp, used);
}

/* ---- tenants of processes --------------------------------------------------------------------------------------- */

uint8_t waitcopies_class(const struct tenant *tenant)
{
	return (uint8_t)(1 + hash_pair(tenant->key, tenant->kind) % (WAITSHARE_CLASSES - 1));
}

void waitcopies_process(struct waitcopies *waitcopies, uint32_t pid, const struct tenant *tenant)
{
	if (waitcopies->share && tenant->kind != TENANT_UNKNOWN)
		waitshare_set_class(waitcopies->share, pid, waitcopies_class(tenant));
}

void waitcopies_exit(struct waitcopies *waitcopies, uint32_t pid)
{
	if (waitcopies->share)
		waitshare_set_class(waitcopies->share, pid, 0);
}

bool waitcopies_is_new(const struct waitcopies *waitcopies, uint32_t pid)
{
	return waitcopies->share && waitshare_class(waitcopies->share, pid) == 0;
}

static uint32_t strictness(const struct waitcopies *waitcopies)
{
	return waitcopies->known_only ? WAITSHARE_SOME : WAITSHARE_ALL;
}

void waitcopies_limit(struct waitcopies *waitcopies, bool known_only)
{
	waitcopies->known_only = known_only;
	if (waitcopies->share)
		__atomic_store_n(&waitcopies->share->strict, strictness(waitcopies), __ATOMIC_RELEASE);
}

/* Passes the avoided classes to pjrecord-wait. While a class is avoided, pjrecord-wait reads no process whose tenant is
 * unknown. pjrecord-wait may read the table of avoided classes at any time, so each entry changes by one atomic
 * store. */
static void show_avoided(struct waitcopies *waitcopies, uint64_t now)
{
	bool any = false;

	if (!waitcopies->share)
		return;
	for (size_t class = 0; class < WAITSHARE_CLASSES; class ++) {
		uint8_t *refused = &waitcopies->share->refused[class];
		bool avoided = backoff_avoided_until(&waitcopies->backoff, waitcopies->avoided[class], now);

		any |= avoided;
		if (!avoided)
			waitcopies->avoided[class] = 0;
		if (*refused != avoided)
			__atomic_store_n(refused, avoided, __ATOMIC_RELAXED);
	}
	__atomic_store_n(&waitcopies->share->strict, any ? WAITSHARE_AVOID : strictness(waitcopies), __ATOMIC_RELEASE);
}

/* ---- hangs and ends of pjrecord-wait ---------------------------------------------------------------------------- */

/* Replaces a pjrecord-wait that hangs in a read of a process of `tenant`. The new shared memory has no classes of
 * processes: waitcopies_process sets them again, from the current tenants. */
static void replace_hung(struct waitcopies *waitcopies, uint64_t now, struct tenant tenant)
{
	uint64_t place = backoff_place(&tenant, waitcopies->own_ns, 0);

	waitcopies->avoided[waitcopies_class(&tenant)] = place;
	waitcopies_end(waitcopies, place, true, now);
	renew_share(waitcopies);
}

static bool waitcopies_has_ended(const struct waitcopies *waitcopies)
{
	siginfo_t info = { .si_pid = 0 };

	return waitid(P_PID, (id_t)waitcopies->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != 0;
}

static void check_process(struct waitcopies *waitcopies, uint64_t now, struct tenant (*owner)(void *to, uint32_t pid),
			  void *to)
{
	uint64_t since = __atomic_load_n(&waitcopies->share->reading_since, __ATOMIC_ACQUIRE);

	if (since && since < now && now - since > HANG_NS &&
	    (helperprocess_is_blocked(waitcopies->pid) || now - since > ANSWER_NS)) {
		replace_hung(waitcopies, now,
			     owner(to, __atomic_load_n(&waitcopies->share->reading_pid, __ATOMIC_RELAXED)));
	} else if (waitcopies_has_ended(waitcopies)) {
		waitcopies_end(waitcopies, 0, false, now);
		renew_share(waitcopies);
	}
}

void waitcopies_tick(struct waitcopies *waitcopies, uint64_t now, struct tenant (*owner)(void *to, uint32_t pid),
		     void *to)
{
	if (!waitcopies)
		return;
	if (waitcopies->pid && waitcopies->share)
		check_process(waitcopies, now, owner, to);
	if (!waitcopies->pid && waitcopies->started && now - waitcopies->started > RESTART_NS) {
		if (!waitcopies->share)
			renew_share(waitcopies);
		waitcopies_start(waitcopies);
	}
	show_avoided(waitcopies, now);
	send_rings(waitcopies);
}

/* ---- counts of pjrecord-wait ------------------------------------------------------------------------------------ */

uint32_t waitcopies_pid(const struct waitcopies *waitcopies)
{
	return (uint32_t)waitcopies->pid;
}

struct helper_counts waitcopies_helpers(const struct waitcopies *waitcopies)
{
	struct helper_counts counts;

	if (!waitcopies)
		return (struct helper_counts){ 0 };
	counts = backoff_counts(&waitcopies->backoff, !waitcopies->pid);
	counts.avoided = waitcopies_counters(waitcopies).refused;
	return counts;
}

struct waitcounters waitcopies_counters(const struct waitcopies *waitcopies)
{
	struct waitcounters sum = waitcopies->counters;
	const struct waitcounters *now = waitcopies->share ? &waitcopies->share->counters : NULL;

	if (!now)
		return sum;
	sum.copies += now->copies;
	sum.failed += now->failed;
	sum.denied += now->denied;
	sum.ring_full += now->ring_full;
	sum.queue_full += now->queue_full;
	sum.over_budget += now->over_budget;
	sum.refused += now->refused;
	sum.missed += now->missed;
	sum.rounds += now->rounds;
	sum.frames += now->frames;
	sum.frames_over += now->frames_over;
	sum.frames_full += now->frames_full;
	return sum;
}
