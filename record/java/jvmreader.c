/* SPDX-License-Identifier: Apache-2.0 */
#include "record/java/jvmreader.h"

#include "common/process/helperprocess.h"
#include "common/arena.h"
#include "common/clocks.h"
#include "common/process/fdmessage.h"
#include "record/java/jvmopen.h"
#include "record/perf/schedstat.h"
#include "common/process/taskwait.h"
#include "common/process/urgency.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MS_NS (SECOND_NS / 1000)
#define HANG_NS (250 * MS_NS) /* time in ns after which a helper that is blocked in a request is killed */
/* CPU time in ns of one request after which the helper is killed: ten times the limit of a request */
#define RUNS_NS (200 * MS_NS)
/* Time in ns without a reply after which the helper is killed even if it is not blocked and has not used RUNS_NS of CPU
 * time. Only a heavily overloaded machine takes that long. */
#define ANSWER_NS (5 * SECOND_NS)
/* minimum time in ns between the starts of two helpers; before it has passed, no helper runs */
#define RESTART_NS (100 * MS_NS)
/* duration of a request in ns below which no blocked time is charged */
#define NOTICED_NS (5 * MS_NS)
#define QUESTION_NS 10000 /* CPU time in ns of one request in the recorder itself */
enum { LEFT_MAX = 8, BLOCKED_WEIGHT = 10, SOCKET_BYTES = 256 << 10 };

struct jvmreader_jvm {
	uint32_t slot, pid;
	uint64_t start;
	struct tenant tenant;
	int process;      /* O_PATH descriptor of /proc/PID; -1: not opened yet */
	struct taskid id; /* identity of the program that is read; changes with an exec */
	uint64_t helper;  /* serial number of the helper that has opened this JVM; 0: none */
	bool over_budget;
	struct hotspot_reason why;
};

struct jvmreader {
	struct tenants *tenants; /* budgets of the tenants; NULL: no limits */
	uint64_t own_ns;         /* inode of the recorder's mount namespace */
	pid_t pid;               /* pid of the helper; 0: none runs */
	uint64_t helper;         /* serial number of the helper, counted from 1 */
	int socket, schedstat;
	clockid_t clock;
	uint64_t started;
	struct jvmreader_jvm *jvm[JVM_SLOTS]; /* open JVMs, indexed by their slot */
	bool busy;                            /* true: a request has no reply yet */
	/* JVM of the current request; NULL: the JVM was closed after the request was sent */
	struct jvmreader_jvm *at;
	struct tenant payer;    /* tenant that pays for the current request */
	uint64_t serial, since; /* serial number of the current request, and time in ns at which it was sent */
	/* cpu: CPU time of the helper; waiting: time for which it waited for a CPU; both in ns at the last reading */
	uint64_t cpu, waiting;
	uint64_t used; /* CPU time of the current request so far, in ns */
	uint64_t patience;
	struct {
		pid_t pid;
		struct tenant tenant;
	} left[LEFT_MAX];
	struct {
		/* counts since the start. hung: number of helpers that were killed because they hung; crashed: number
		 * of helpers that crashed; avoided: number of requests not sent because the tenant is avoided */
		uint64_t hung, crashed, avoided;
		unsigned left; /* number of killed helpers that have not ended yet */
	} counts;
	struct jvm_request request;
	struct jvm_reply reply;
	size_t reply_n; /* size of the reply's array in bytes */
	uint8_t *same;  /* by index of the blob in a jvmreader_check: 1 if unchanged, otherwise 0 */
	size_t same_cap;
};

/* ---- start and end of the helper process ---------------------------------------------------------------------- */

static void jvmreader_run_helper(void *to)
{
	(void)to;
	urgency_short_slices();
	jvmhelper_run(HELPERPROCESS_FD);
}

static void jvmreader_start_helper(struct jvmreader *jvmreader)
{
	int pair[2], bytes = SOCKET_BYTES;

	jvmreader->started = clock_now();
	if (jvmreader->counts.left == LEFT_MAX || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return;
	for (unsigned i = 0; i < 2; i++)
		setsockopt(pair[i], SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
	/* The raised priority is acceptable, because the steps of a request and the CPU time of a tenant are
	 * limited. */
	jvmreader->pid = helperprocess_start(
		&(struct helperprocess){ "pjrecord-jvm", &pair[1], 1, URGENCY_SOON, jvmreader_run_helper, NULL });
	close(pair[1]);
	if (!jvmreader->pid || clock_getcpuclockid(jvmreader->pid, &jvmreader->clock) != 0) {
		close(pair[0]);
		jvmreader->pid = 0;
		return;
	}
	jvmreader->socket = pair[0];
	jvmreader->schedstat = schedstat_open(jvmreader->pid);
	jvmreader->helper++;
	jvmreader->cpu = jvmreader->waiting = 0;
}

/* Reaps killed helpers that have ended. A blocked helper ends only when the call that blocks it returns. */
static void jvmreader_reap(struct jvmreader *jvmreader)
{
	for (unsigned i = 0; i < LEFT_MAX; i++) {
		if (jvmreader->left[i].pid && waitpid(jvmreader->left[i].pid, NULL, WNOHANG) != 0) {
			jvmreader->left[i].pid = 0;
			jvmreader->counts.left--;
		}
	}
}

static void end_helper(struct jvmreader *jvmreader)
{
	static const struct timespec moment = { .tv_nsec = 200000 };
	unsigned free = 0;
	pid_t ended = 0;

	close(jvmreader->socket);
	if (jvmreader->schedstat >= 0)
		close(jvmreader->schedstat);
	kill(jvmreader->pid, SIGKILL); /* SIGKILL is safe: the helper has no state that must be saved */
	for (unsigned tries = 0; tries < 25 && (ended = waitpid(jvmreader->pid, NULL, WNOHANG)) == 0; tries++)
		nanosleep(&moment, NULL);
	while (jvmreader->left[free].pid)
		free++;
	if (ended == 0) {
		jvmreader->left[free].pid = jvmreader->pid;
		jvmreader->left[free].tenant = jvmreader->payer;
		jvmreader->counts.left++;
	}
	jvmreader->pid = 0;
	jvmreader->busy = false;
	jvmreader->at = NULL;
}

static void replace_helper(struct jvmreader *jvmreader, const char *code, const char *why)
{
	if (jvmreader->at)
		jvmreader->at->why = (struct hotspot_reason){ .code = code };
	if (jvmreader->at)
		snprintf(jvmreader->at->why.why, sizeof(jvmreader->at->why.why), "%s", why);
	end_helper(jvmreader);
	if (clock_now() > jvmreader->started + RESTART_NS)
		jvmreader_start_helper(jvmreader);
}

static bool is_stuck(const struct jvmreader *jvmreader, const struct tenant *tenant)
{
	for (unsigned i = 0; jvmreader->counts.left && i < LEFT_MAX; i++)
		if (jvmreader->left[i].pid && jvmreader->left[i].tenant.kind == tenant->kind &&
		    jvmreader->left[i].tenant.key == tenant->key)
			return true;
	return false;
}

/* ---- CPU time and blocked time -------------------------------------------------------------------------------- */

/* Returns the total time in ns for which the helper has waited for a CPU since its start. */
static uint64_t time_waiting(const struct jvmreader *jvmreader)
{
	struct schedstat schedstat = { .waited = jvmreader->waiting };

	schedstat_read(jvmreader->schedstat, &schedstat);
	return schedstat.waited;
}

static uint64_t jvmreader_cpu_time(const struct jvmreader *jvmreader)
{
	struct timespec spec;

	return clock_gettime(jvmreader->clock, &spec) == 0 ?
		       (uint64_t)spec.tv_sec * SECOND_NS + (uint64_t)spec.tv_nsec :
		       jvmreader->cpu;
}

/* Charges the helper's CPU time since the last reading to the tenant of the current request. */
static void charge_cpu(struct jvmreader *jvmreader, uint64_t now)
{
	uint64_t cpu = jvmreader_cpu_time(jvmreader);

	jvmreader->used += cpu - jvmreader->cpu;
	if (jvmreader->tenants) {
		tenants_charge(jvmreader->tenants, jvmreader->payer, TENANT_CPU_NS, cpu - jvmreader->cpu + QUESTION_NS,
			       now);
		tenants_charge(jvmreader->tenants, jvmreader->payer, TENANT_JVM_NS, cpu - jvmreader->cpu + QUESTION_NS,
			       now);
	}
	jvmreader->cpu = cpu;
}

/* Returns the time in ns since the current request was sent in which the helper neither ran nor waited for a CPU; 0 if
 * the request took less than NOTICED_NS. Must not be called while the helper waits for a CPU: the kernel adds that time
 * only when the wait ends. */
static uint64_t time_blocked(struct jvmreader *jvmreader, uint64_t now)
{
	uint64_t past = now - jvmreader->since, waiting, known;

	if (past < NOTICED_NS)
		return 0;
	waiting = time_waiting(jvmreader);
	known = jvmreader->used + waiting - jvmreader->waiting;
	jvmreader->waiting = waiting;
	return past > known ? past - known : 0;
}

/* Charges the helper's blocked time to the tenant. TENANT_BLOCKED_NS is an allowance for reading pages from disk when a
 * JVM starts. Beyond it, ten times the blocked time is charged as CPU time for JVMs. */
static void charge_blocked(struct jvmreader *jvmreader, uint64_t blocked, uint64_t now)
{
	if (jvmreader->tenants && !tenants_take(jvmreader->tenants, jvmreader->payer, TENANT_BLOCKED_NS, blocked, now))
		tenants_charge(jvmreader->tenants, jvmreader->payer, TENANT_JVM_NS, BLOCKED_WEIGHT * blocked, now);
}

/* Charges CPU time and blocked time of the current request to its tenant. ended: time in ns at which the request
 * ended. */
static void jvmreader_charge(struct jvmreader *jvmreader, uint64_t ended, uint64_t now)
{
	uint64_t blocked;

	charge_cpu(jvmreader, now);
	blocked = time_blocked(jvmreader, ended);
	if (blocked)
		charge_blocked(jvmreader, blocked, now);
}

/* ---- receiving of replies ------------------------------------------------------------------------------------- */

static const char *const codes[] = { "openj9",     "zing",        "no-permission", "no-jvm",
				     "gone",       "starting",    "no-vmstructs",  "unsupported",
				     "unreadable", "over-budget", "not-dumpable" };

/* Returns the reason in a reply. The helper is untrusted: an unknown code becomes "unreadable", and the text is made
 * printable. */
static struct hotspot_reason jvmreader_reason_of(const struct jvm_reply *reply)
{
	struct hotspot_reason reason = { .code = "unreadable" };

	for (size_t i = 0; i < countof(codes); i++)
		if (strncmp(codes[i], reply->code, sizeof(reply->code)) == 0)
			reason.code = codes[i];
	for (size_t i = 0; i + 1 < sizeof(reason.why) && reply->why[i]; i++)
		reason.why[i] = reply->why[i] >= 0x20 && reply->why[i] < 0x7f ? reply->why[i] : '?';
	return reason;
}

/* To be called when the reply to the current request has arrived. Completes the request: charges its time, and stores
 * the reason if the JVM is lost. */
static void jvmreader_collect(struct jvmreader *jvmreader)
{
	uint64_t now = clock_now(),
		 ended = jvmreader->reply.ns < now - jvmreader->since ? jvmreader->since + jvmreader->reply.ns : now;

	jvmreader_charge(jvmreader, ended, now);
	if (jvmreader->at && jvmreader->reply.lost)
		jvmreader->at->why = jvmreader_reason_of(&jvmreader->reply);
	jvmreader->at = NULL;
	jvmreader->busy = false;
}

/* Waits for the reply until the time `until` (ns). Returns false if no reply came by then, or if the helper crashed. */
static bool jvmreader_receive(struct jvmreader *jvmreader, uint64_t until)
{
	while (jvmreader->busy) {
		ssize_t got = recv(jvmreader->socket, &jvmreader->reply, sizeof(jvmreader->reply), MSG_DONTWAIT);
		struct pollfd polled = { .fd = jvmreader->socket, .events = POLLIN };
		uint64_t now;

		if (got >= (ssize_t)JVM_REPLY_HEAD && jvmreader->reply.serial == jvmreader->serial) {
			jvmreader->reply_n = (size_t)got - JVM_REPLY_HEAD;
			jvmreader_collect(jvmreader);
			return true;
		}
		/* the helper has ended, or has sent a malformed reply */
		if (got >= 0 || (errno != EAGAIN && errno != EINTR)) {
			charge_cpu(jvmreader, clock_now());
			charge_blocked(jvmreader, HANG_NS, clock_now());
			jvmreader->counts.crashed++;
			replace_helper(jvmreader, "crashed", "the process that reads it crashed");
			return false;
		}
		now = clock_now();
		if (now >= until ||
		    ppoll(&polled, 1,
			  &(struct timespec){ (time_t)((until - now) / SECOND_NS), (long)((until - now) % SECOND_NS) },
			  NULL) == 0)
			return false;
	}
	return false;
}

/* Returns true if a helper runs and is idle. If a reply to the current request has arrived, completes that request
 * first. */
static bool jvmreader_is_idle(struct jvmreader *jvmreader)
{
	if (jvmreader->busy)
		jvmreader_receive(jvmreader, 0);
	return jvmreader->pid && !jvmreader->busy;
}

/* ---- sending of requests ------------------------------------------------------------------------------------- */

static bool send_request(struct jvmreader *jvmreader, size_t array, const int *fd)
{
	return fdmessage_send_soon(jvmreader->socket, &jvmreader->request, JVM_REQUEST_HEAD + array, fd,
				   fd ? JVM_FDS : 0);
}

/* Ends a request that the kernel refused to send, because too many descriptors are in flight or memory ran out: the
 * helper is idle, so it must not count as hanging. Other errors mean that the helper has ended or reads no messages. */
static void end_unsent(struct jvmreader *jvmreader, struct jvmreader_jvm *jvm, enum jvm_question question, int error)
{
	if (error != ETOOMANYREFS && error != ENOBUFS && error != ENOMEM)
		return;
	if (question == JVM_OPEN)
		jvm->helper = 0;
	jvmreader->at = NULL;
	jvmreader->busy = false;
}

/* Sends jvmreader->request, whose array has `array` bytes, and waits for the reply until the deadline. */
static enum jvmreader_answer jvmreader_query(struct jvmreader *jvmreader, struct jvmreader_jvm *jvm,
					     enum jvm_question question, size_t array, const int *fd)
{
	uint64_t now = clock_now(), after;
	bool answered;
	int error;

	jvmreader->request.serial = ++jvmreader->serial;
	jvmreader->request.question = question;
	jvmreader->request.slot = jvm->slot;
	jvmreader->at = jvm;
	jvmreader->payer = jvm->tenant;
	jvmreader->since = now;
	jvmreader->cpu = jvmreader_cpu_time(jvmreader); /* CPU time between requests is not charged */
	jvmreader->used = 0;
	jvmreader->busy = true;
	error = send_request(jvmreader, array, fd) ? 0 : errno;
	answered = !error && jvmreader_receive(jvmreader, now + jvmreader->patience);
	after = clock_now();
	jvmreader->patience -= after - now < jvmreader->patience ? after - now : jvmreader->patience;
	if (jvmreader->busy)
		charge_cpu(jvmreader, after);
	if (error)
		end_unsent(jvmreader, jvm, question, error);
	if (jvm->why.code)
		return JVMREADER_LOST;
	return answered ? JVMREADER_DONE : JVMREADER_LATE;
}

static enum jvmreader_answer open_jvm(struct jvmreader *jvmreader, struct jvmreader_jvm *jvm)
{
	enum jvmreader_answer answer;
	struct jvmopen *jvmopen;
	char path[64];

	if (jvm->process < 0) {
		snprintf(path, sizeof(path), "/proc/%u", jvm->pid);
		jvm->process = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	}
	jvmopen = jvmopen_files(jvm->process, jvm->start, TASKID_FOR_USER, &jvm->why);
	if (!jvmopen)
		return JVMREADER_LOST;
	jvm->id = jvmopen->id;
	jvm->helper = jvmreader->helper;
	jvmreader->request.pid = jvm->pid;
	jvmreader->request.user = jvmopen->user.uid;
	jvmreader->request.start = jvmopen->id.start;
	/* The inode number of a mount namespace other than the recorder's may be reused. It is sent as 0, so that the
	 * JVM's layout is not shared. */
	jvmreader->request.mount_ns = jvmopen->mount_ns == jvmreader->own_ns ? jvmopen->mount_ns : 0;
	answer = jvmreader_query(jvmreader, jvm, JVM_OPEN, 0, jvmopen->fd);
	jvmopen_free(jvmopen);
	return answer;
}

static void jvmreader_mend(struct jvmreader *jvmreader)
{
	uint64_t now = clock_now();

	if (jvmreader->counts.left)
		jvmreader_reap(jvmreader);
	if (!jvmreader_is_idle(jvmreader) && jvmreader->pid && now > jvmreader->since + HANG_NS) {
		charge_cpu(jvmreader, now);
		if (helperprocess_is_blocked(jvmreader->pid) || jvmreader->used > RUNS_NS ||
		    now > jvmreader->since + ANSWER_NS) {
			jvmreader->counts.hung++;
			jvmreader_charge(jvmreader, now, now);
			replace_helper(jvmreader, "hangs", "reading its memory takes too long");
		}
	}
	if (!jvmreader->pid && now > jvmreader->started + RESTART_NS)
		jvmreader_start_helper(jvmreader);
}

static bool has_time(const struct jvmreader *jvmreader, struct tenant tenant)
{
	uint64_t now = clock_now();

	return !jvmreader->tenants || (tenants_may(jvmreader->tenants, tenant, TENANT_JVM_NS, now) &&
				       tenants_may(jvmreader->tenants, tenant, TENANT_CPU_NS, now));
}

/* Prepares a request: opens the JVM in the helper if necessary. Returns JVMREADER_DONE if the JVM is open and the
 * helper is idle; otherwise the result that the caller of the request gets. */
static enum jvmreader_answer jvmreader_begin(struct jvmreader *jvmreader, struct jvmreader_jvm *jvm)
{
	jvmreader_mend(jvmreader);
	jvm->over_budget = false;
	if (jvm->why.code)
		return JVMREADER_LOST;
	if (!jvmreader_is_idle(jvmreader) || jvmreader->patience == 0)
		return JVMREADER_LATE;
	jvmreader->counts.avoided += is_stuck(jvmreader, &jvm->tenant);
	jvm->over_budget = is_stuck(jvmreader, &jvm->tenant) || !has_time(jvmreader, jvm->tenant);
	if (jvm->over_budget)
		return JVMREADER_LATE;
	return jvm->helper == jvmreader->helper ? JVMREADER_DONE : open_jvm(jvmreader, jvm);
}

static enum jvmreader_answer query_at(struct jvmreader *jvmreader, struct jvmreader_jvm *jvm,
				      enum jvm_question question, uint64_t address)
{
	enum jvmreader_answer answer = jvmreader_begin(jvmreader, jvm);

	if (answer != JVMREADER_DONE)
		return answer;
	jvmreader->request.address = address;
	return jvmreader_query(jvmreader, jvm, question, 0, NULL);
}

/* Returns true if the code blobs in the reply are valid: sorted, disjoint, and of known kinds. */
static bool check_blobs(const struct jvm_reply *reply, size_t bytes)
{
	if (reply->n == 0 || reply->n > JVM_CODE_BLOBS_MAX || bytes != reply->n * sizeof(*reply->code_blob))
		return false;
	for (uint32_t i = 0; i < reply->n; i++)
		if (reply->code_blob[i].start > reply->code_blob[i].end || reply->code_blob[i].kind > BLOB_THAW ||
		    (i && reply->code_blob[i].start < reply->code_blob[i - 1].end))
			return false;
	return true;
}

enum jvmreader_answer jvmreader_find(struct jvmreader *jvmreader, struct jvmreader_jvm *jvm, uint64_t address,
				     struct jvmreader_found *found)
{
	enum jvmreader_answer answer = query_at(jvmreader, jvm, JVM_FIND, address);
	const struct jvm_reply *reply = &jvmreader->reply;
	unsigned char compiled;

	if (answer != JVMREADER_DONE)
		return answer;
	*found = (struct jvmreader_found){ .where = reply->where <= CODECACHE_BLOB ? reply->where : CODECACHE_FREE,
					   .bytes = reply->read ? reply->text : NULL };
	if (found->where == CODECACHE_BLOB && !check_blobs(reply, jvmreader->reply_n))
		found->where = CODECACHE_FREE;
	memcpy(&compiled, (const char *)&reply->blob + offsetof(struct blob, compiled), 1);
	memcpy(&found->blob, &reply->blob, offsetof(struct blob, compiled));
	found->blob.compiled = compiled & 1;
	found->code.call_stub_return = reply->call_stub_return;
	found->code.continuation_return = reply->continuation_return;
	if (found->where == CODECACHE_BLOB) {
		found->code.blob = reply->code_blob;
		found->code.n = reply->n;
	}
	return answer;
}

/* Checks n blobs from index `from` on, at most JVM_BLOBS_MAX, in one request. Sets the elements of the unchanged blobs
 * in jvmreader->same to 1; the caller has set all elements to 0. */
static enum jvmreader_answer check_some(struct jvmreader *jvmreader, struct jvmreader_jvm *jvm, const struct blob *blob,
					size_t from, size_t n)
{
	enum jvmreader_answer answer = jvmreader_begin(jvmreader, jvm);
	const struct jvm_reply *reply = &jvmreader->reply;

	if (answer != JVMREADER_DONE)
		return answer;
	jvmreader->request.n = (uint32_t)n;
	memcpy(jvmreader->request.blob, blob + from, n * sizeof(*blob));
	answer = jvmreader_query(jvmreader, jvm, JVM_CHECK, n * sizeof(*blob), NULL);
	for (uint32_t i = 0;
	     answer == JVMREADER_DONE && i < reply->n && i < n && jvmreader->reply_n == reply->n * sizeof(*reply->same);
	     i++)
		if (reply->same[i] < n)
			jvmreader->same[from + reply->same[i]] = 1;
	return answer;
}

enum jvmreader_answer jvmreader_check(struct jvmreader *jvmreader, struct jvmreader_jvm *jvm, struct blob *blob,
				      size_t *n)
{
	enum jvmreader_answer answer = JVMREADER_DONE;
	size_t retained = 0;

	if (jvmreader->same_cap < *n) {
		jvmreader->same_cap = *n + *n / 2;
		jvmreader->same = mem_grow(jvmreader->same, 1, jvmreader->same_cap);
	}
	if (*n)
		memset(jvmreader->same, 0, *n);
	for (size_t from = 0; from < *n && answer == JVMREADER_DONE; from += JVM_BLOBS_MAX)
		answer = check_some(jvmreader, jvm, blob, from, *n - from < JVM_BLOBS_MAX ? *n - from : JVM_BLOBS_MAX);
	if (answer != JVMREADER_DONE)
		return answer;
	for (size_t i = 0; i < *n; i++)
		if (jvmreader->same[i])
			blob[retained++] = blob[i];
	*n = retained;
	return answer;
}

enum jvmreader_answer jvmreader_bytes(struct jvmreader *jvmreader, struct jvmreader_jvm *jvm, uint64_t address,
				      const char **bytes)
{
	enum jvmreader_answer answer = query_at(jvmreader, jvm, JVM_BYTES, address);

	if (answer == JVMREADER_DONE)
		*bytes = jvmreader->reply.read ? jvmreader->reply.text : NULL;
	return answer;
}

bool jvmreader_ready(struct jvmreader *jvmreader)
{
	jvmreader_mend(jvmreader);
	return jvmreader->patience && jvmreader_is_idle(jvmreader);
}

/* Requests the names of n methods, at most JVM_METHODS_MAX, and calls fn for each. Sets *done to the number of
 * processed methods. */
static enum jvmreader_answer name_some(struct jvmreader *jvmreader, struct jvmreader_jvm *jvm, const uint64_t *method,
				       size_t n, size_t *done, void (*fn)(void *to, uint64_t method, struct str name),
				       void *to)
{
	enum jvmreader_answer answer = jvmreader_begin(jvmreader, jvm);
	struct str names;

	if (answer != JVMREADER_DONE)
		return answer;
	jvmreader->request.n = (uint32_t)n;
	memcpy(jvmreader->request.method, method, n * sizeof(*method));
	answer = jvmreader_query(jvmreader, jvm, JVM_NAMES, n * sizeof(*method), NULL);
	if (answer != JVMREADER_DONE)
		return answer;
	/* The process has called exec or ended, so the names may belong to the old program. */
	if (!taskwait_is(jvm->process, &jvm->id)) {
		jvm->why = hotspot_refusal(TASKID_GONE);
		return JVMREADER_LOST;
	}
	names = (struct str){ jvmreader->reply.names, jvmreader->reply_n };
	while (names.n >= 8) {
		uint32_t head[2];

		memcpy(head, names.p, sizeof(head));
		if (head[0] >= n || head[1] > names.n - sizeof(head))
			break;
		fn(to, method[head[0]], str_head(str_from(names, sizeof(head)), head[1]));
		names = str_from(names, sizeof(head) + head[1]);
	}
	*done = jvmreader->reply.n > 0 && jvmreader->reply.n < n ? jvmreader->reply.n : n;
	return answer;
}

enum jvmreader_answer jvmreader_names(struct jvmreader *jvmreader, struct jvmreader_jvm *jvm, const uint64_t *method,
				      size_t n, void (*fn)(void *to, uint64_t method, struct str name), void *to)
{
	enum jvmreader_answer answer = JVMREADER_DONE;

	for (size_t from = 0, done = 0; from < n && answer == JVMREADER_DONE; from += done)
		answer = name_some(jvmreader, jvm, method + from,
				   n - from < JVM_METHODS_MAX ? n - from : JVM_METHODS_MAX, &done, fn, to);
	return answer;
}

/* Calls fn for the elements of a reply to JVM_DESCRIBE; stops at an invalid element. */
static void take_codes(struct str rest, size_t n, jvmreader_code *fn, void *to)
{
	static uint64_t method[JVM_CODE_BYTES_MAX / sizeof(uint64_t)];
	struct jvm_code code;

	while (rest.n >= sizeof(code)) {
		size_t methods, bytes;

		memcpy(&code, rest.p, sizeof(code));
		rest = str_from(rest, sizeof(code));
		methods = (size_t)code.nmethods * sizeof(*method);
		bytes = ((size_t)code.bytes + 7) & ~(size_t)7;
		if (code.index >= n || code.nmethods > countof(method) || code.bytes > JVM_CODE_BYTES_MAX ||
		    methods + bytes > rest.n || code.start >= code.end || code.end - code.start > UINT32_MAX)
			return;
		memcpy(method, rest.p, methods);
		fn(to, &code, method, str_head(str_from(rest, methods), code.bytes));
		rest = str_from(rest, methods + bytes);
	}
}

enum jvmreader_answer jvmreader_describe(struct jvmreader *jvmreader, struct jvmreader_jvm *jvm,
					 const struct blob *blob, size_t n, size_t *done, jvmreader_code *fn, void *to)
{
	enum jvmreader_answer answer = jvmreader_begin(jvmreader, jvm);

	*done = 0;
	if (answer != JVMREADER_DONE)
		return answer;
	n = n < JVM_DESCRIBE_MAX ? n : JVM_DESCRIBE_MAX;
	jvmreader->request.n = (uint32_t)n;
	memcpy(jvmreader->request.blob, blob, n * sizeof(*blob));
	answer = jvmreader_query(jvmreader, jvm, JVM_DESCRIBE, n * sizeof(*blob), NULL);
	if (answer != JVMREADER_DONE)
		return answer;
	if (!taskwait_is(jvm->process, &jvm->id)) {
		jvm->why = hotspot_refusal(TASKID_GONE);
		return JVMREADER_LOST;
	}
	take_codes((struct str){ jvmreader->reply.names, jvmreader->reply_n }, n, fn, to);
	*done = jvmreader->reply.n > 0 && jvmreader->reply.n < n ? jvmreader->reply.n : n;
	return answer;
}

/* ---- creation and release ------------------------------------------------------------------------------------- */

struct jvmreader_jvm *jvmreader_open(struct jvmreader *jvmreader, uint32_t pid, uint64_t start, struct tenant tenant)
{
	uint32_t slot = 0;

	while (slot < JVM_SLOTS && jvmreader->jvm[slot])
		slot++;
	if (slot == JVM_SLOTS)
		return NULL;
	jvmreader->jvm[slot] = mem_alloc(sizeof(*jvmreader->jvm[slot]), 1);
	*jvmreader->jvm[slot] =
		(struct jvmreader_jvm){ .process = -1, .slot = slot, .pid = pid, .start = start, .tenant = tenant };
	return jvmreader->jvm[slot];
}

void jvmreader_close(struct jvmreader *jvmreader, struct jvmreader_jvm *jvm)
{
	if (!jvm)
		return;
	jvmreader_is_idle(jvmreader);
	if (jvmreader->at == jvm)
		jvmreader->at = NULL;
	/* If the message cannot be sent, the next JVM that is opened in this slot replaces `jvm` in the helper. */
	if (jvmreader->pid && jvm->helper == jvmreader->helper) {
		jvmreader->request.question = JVM_CLOSE;
		jvmreader->request.slot = jvm->slot;
		send_request(jvmreader, 0, NULL);
	}
	if (jvm->process >= 0)
		close(jvm->process);
	jvmreader->jvm[jvm->slot] = NULL;
	free(jvm);
}

struct hotspot_reason jvmreader_why(const struct jvmreader_jvm *jvm)
{
	return jvm->why;
}

bool jvmreader_over_budget(const struct jvmreader_jvm *jvm)
{
	return jvm->over_budget;
}

void jvmreader_deadline(struct jvmreader *jvmreader, uint64_t ns)
{
	jvmreader->patience = ns;
}

struct helper_counts jvmreader_count(const struct jvmreader *jvmreader)
{
	return (struct helper_counts){ .hung = jvmreader->counts.hung,
				       .crashed = jvmreader->counts.crashed,
				       .avoided = jvmreader->counts.avoided,
				       .lingering = jvmreader->counts.left,
				       .off = !jvmreader->pid };
}

void jvmreader_budgets(struct jvmreader *jvmreader, struct tenants *tenants)
{
	jvmreader->tenants = tenants;
}

struct jvmreader *jvmreader_new(struct tenants *tenants)
{
	struct jvmreader *jvmreader = mem_alloc(sizeof(*jvmreader), 1);
	struct stat own;

	jvmreader->tenants = tenants;
	jvmreader->own_ns = stat("/proc/self/ns/mnt", &own) == 0 ? own.st_ino : 0;
	jvmreader_start_helper(jvmreader);
	return jvmreader;
}

void jvmreader_free(struct jvmreader *jvmreader)
{
	if (jvmreader && jvmreader->pid)
		end_helper(jvmreader);
	if (jvmreader)
		free(jvmreader->same);
	free(jvmreader);
}
