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
#define HANG_NS (250 * MS_NS)     /* after that, at one question, a helper that is blocked is killed */
#define RUNS_NS (200 * MS_NS)     /* and one that uses so much CPU time: ten times what a question can take */
#define ANSWER_NS (5 * SECOND_NS) /* for any reason: a machine that is busy beyond measure */
#define RESTART_NS (100 * MS_NS)  /* between two helpers */
#define NOTICED_NS (5 * MS_NS)    /* time at a question from which on is looked at where it went */
#define QUESTION_NS 10000         /* what a question costs the recorder */
enum { LEFT_MAX = 8, BLOCKED_WEIGHT = 10, SOCKET_BYTES = 256 << 10 };

struct jvmreader_jvm {
	uint32_t slot, pid;
	uint64_t start;
	struct tenant tenant;
	int process;      /* /proc/PID, of O_PATH; -1: not opened yet */
	struct taskid id; /* the program that is read */
	uint64_t helper;  /* serial of the helper that has it open; 0: none */
	bool over_budget;
	struct hotspot_reason why;
};

struct jvmreader {
	struct tenants *tenants; /* NULL: no budgets */
	uint64_t own_ns;         /* our mount namespace */
	pid_t pid;               /* of the helper; 0: none */
	uint64_t helper;         /* its serial number, from 1 */
	int socket, schedstat;
	clockid_t clock;
	uint64_t started;
	struct jvmreader_jvm *jvm[JVM_SLOTS]; /* that are open */
	bool busy;                            /* a question was not answered */
	struct jvmreader_jvm *at;             /* for which it was asked; NULL: closed meanwhile */
	struct tenant payer;                  /* of that JVM */
	uint64_t serial, since;               /* of the question */
	uint64_t cpu, waiting; /* ns of the helper: CPU time, and time without a CPU, when they were looked at */
	uint64_t used;         /* CPU time, for the question */
	uint64_t patience;
	struct {
		pid_t pid;
		struct tenant tenant;
	} left[LEFT_MAX];
	struct {
		uint64_t hung, crashed, avoided; /* since the start */
		unsigned left;                   /* now: killed, and not ended */
	} counts;
	struct jvm_request request;
	struct jvm_reply reply;
	size_t reply_n; /* bytes */
	uint8_t *same;  /* of the blobs of a jvmreader_check */
	size_t same_cap;
};

/* ---- the process ---------------------------------------------------------------------------------------------- */

static void jvmreader_run_helper(void *to)
{
	(void)to;
	urgency_short_slices();
	jvmhelper_run(HELPERPROCESS_FD);
}

static void jvmreader_start_helper(struct jvmreader *r)
{
	int pair[2], bytes = SOCKET_BYTES;

	r->started = clock_now();
	if (r->counts.left == LEFT_MAX || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return;
	for (unsigned i = 0; i < 2; i++)
		setsockopt(pair[i], SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
	/* URGENCY_SOON: a question has a fixed bound of steps, and a tenant one of CPU time */
	r->pid = helperprocess_start(
		&(struct helperprocess){ "pjrecord-jvm", &pair[1], 1, URGENCY_SOON, jvmreader_run_helper, NULL });
	close(pair[1]);
	if (!r->pid || clock_getcpuclockid(r->pid, &r->clock) != 0) {
		close(pair[0]);
		r->pid = 0;
		return;
	}
	r->socket = pair[0];
	r->schedstat = schedstat_open(r->pid);
	r->helper++;
	r->cpu = r->waiting = 0;
}

/* Helpers that were killed end when what they are blocked at answers. */
static void jvmreader_reap(struct jvmreader *r)
{
	for (unsigned i = 0; i < LEFT_MAX; i++) {
		if (r->left[i].pid && waitpid(r->left[i].pid, NULL, WNOHANG) != 0) {
			r->left[i].pid = 0;
			r->counts.left--;
		}
	}
}

static void end_helper(struct jvmreader *r)
{
	static const struct timespec moment = { .tv_nsec = 200000 };
	unsigned free = 0;
	pid_t ended = 0;

	close(r->socket);
	if (r->schedstat >= 0)
		close(r->schedstat);
	kill(r->pid, SIGKILL); /* it holds nothing that matters */
	for (unsigned tries = 0; tries < 25 && (ended = waitpid(r->pid, NULL, WNOHANG)) == 0; tries++)
		nanosleep(&moment, NULL);
	while (r->left[free].pid)
		free++;
	if (ended == 0) {
		r->left[free].pid = r->pid;
		r->left[free].tenant = r->payer;
		r->counts.left++;
	}
	r->pid = 0;
	r->busy = false;
	r->at = NULL;
}

static void replace_helper(struct jvmreader *r, const char *code, const char *why)
{
	if (r->at)
		r->at->why = (struct hotspot_reason){ .code = code };
	if (r->at)
		snprintf(r->at->why.why, sizeof(r->at->why.why), "%s", why);
	end_helper(r);
	if (clock_now() > r->started + RESTART_NS)
		jvmreader_start_helper(r);
}

static bool is_stuck(const struct jvmreader *r, const struct tenant *t)
{
	for (unsigned i = 0; r->counts.left && i < LEFT_MAX; i++)
		if (r->left[i].pid && r->left[i].tenant.kind == t->kind && r->left[i].tenant.key == t->key)
			return true;
	return false;
}

/* ---- costs ---------------------------------------------------------------------------------------------------- */

/* ns that the helper could run and had no CPU. */
static uint64_t time_waiting(const struct jvmreader *r)
{
	struct schedstat s = { .waited = r->waiting };

	schedstat_read(r->schedstat, &s);
	return s.waited;
}

static uint64_t jvmreader_cpu_time(const struct jvmreader *r)
{
	struct timespec t;

	return clock_gettime(r->clock, &t) == 0 ? (uint64_t)t.tv_sec * SECOND_NS + (uint64_t)t.tv_nsec : r->cpu;
}

/* Charges the CPU time that was used since the last time to the tenant whose JVM is read. */
static void charge_cpu(struct jvmreader *r, uint64_t now)
{
	uint64_t cpu = jvmreader_cpu_time(r);

	r->used += cpu - r->cpu;
	if (r->tenants) {
		tenants_charge(r->tenants, r->payer, TENANT_CPU_NS, cpu - r->cpu + QUESTION_NS, now);
		tenants_charge(r->tenants, r->payer, TENANT_JVM_NS, cpu - r->cpu + QUESTION_NS, now);
	}
	r->cpu = cpu;
}

/* How long the helper was neither running nor waiting for a CPU since the question was asked. Must not be called while
 * it waits for one: the kernel counts that time when it ends. */
static uint64_t time_blocked(struct jvmreader *r, uint64_t now)
{
	uint64_t past = now - r->since, waiting, known;

	if (past < NOTICED_NS)
		return 0;
	waiting = time_waiting(r);
	known = r->used + waiting - r->waiting;
	r->waiting = waiting;
	return past > known ? past - known : 0;
}

/* Pages that a disk has, at the start of a JVM, are within TENANT_BLOCKED_NS. */
static void charge_blocked(struct jvmreader *r, uint64_t blocked, uint64_t now)
{
	if (r->tenants && !tenants_take(r->tenants, r->payer, TENANT_BLOCKED_NS, blocked, now))
		tenants_charge(r->tenants, r->payer, TENANT_JVM_NS, BLOCKED_WEIGHT * blocked, now);
}

/* The question is over. */
static void jvmreader_charge(struct jvmreader *r, uint64_t ended, uint64_t now)
{
	uint64_t blocked;

	charge_cpu(r, now);
	blocked = time_blocked(r, ended);
	if (blocked)
		charge_blocked(r, blocked, now);
}

/* Does it wait for something that is not a CPU? */
static bool jvmreader_is_blocked(const struct jvmreader *r)
{
	char path[64], text[128];
	const char *state;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)r->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	text[n < 0 ? 0 : n] = 0;
	state = strrchr(text, ')');
	return state && state[1] && state[2] != 'R';
}

/* ---- answers -------------------------------------------------------------------------------------------------- */

static const char *const codes[] = { "openj9",     "zing",        "no-permission", "no-jvm",
				     "gone",       "starting",    "no-vmstructs",  "unsupported",
				     "unreadable", "over-budget", "not-dumpable" };

/* A reason that the helper gives: its text is shown to people. */
static struct hotspot_reason jvmreader_reason_of(const struct jvm_reply *a)
{
	struct hotspot_reason r = { .code = "unreadable" };

	for (size_t i = 0; i < countof(codes); i++)
		if (strncmp(codes[i], a->code, sizeof(a->code)) == 0)
			r.code = codes[i];
	for (size_t i = 0; i + 1 < sizeof(r.why) && a->why[i]; i++)
		r.why[i] = a->why[i] >= 0x20 && a->why[i] < 0x7f ? a->why[i] : '?';
	return r;
}

/* An answer arrived. */
static void jvmreader_collect(struct jvmreader *r)
{
	uint64_t now = clock_now(), ended = r->reply.ns < now - r->since ? r->since + r->reply.ns : now;

	jvmreader_charge(r, ended, now);
	if (r->at && r->reply.lost)
		r->at->why = jvmreader_reason_of(&r->reply);
	r->at = NULL;
	r->busy = false;
}

/* Waits for the answer until a time. False: it did not come. */
static bool jvmreader_receive(struct jvmreader *r, uint64_t until)
{
	while (r->busy) {
		ssize_t n = recv(r->socket, &r->reply, sizeof(r->reply), MSG_DONTWAIT);
		struct pollfd p = { .fd = r->socket, .events = POLLIN };
		uint64_t now;

		if (n >= (ssize_t)JVM_REPLY_HEAD && r->reply.serial == r->serial) {
			r->reply_n = (size_t)n - JVM_REPLY_HEAD;
			jvmreader_collect(r);
			return true;
		}
		if (n >= 0 || (errno != EAGAIN && errno != EINTR)) { /* it ended, or sends what was not asked for */
			charge_cpu(r, clock_now());
			charge_blocked(r, HANG_NS, clock_now());
			r->counts.crashed++;
			replace_helper(r, "crashed", "the process that reads it was ended by an error");
			return false;
		}
		now = clock_now();
		if (now >= until ||
		    ppoll(&p, 1,
			  &(struct timespec){ (time_t)((until - now) / SECOND_NS), (long)((until - now) % SECOND_NS) },
			  NULL) == 0)
			return false;
	}
	return false;
}

/* Is there a helper that waits for a question? */
static bool jvmreader_is_idle(struct jvmreader *r)
{
	if (r->busy)
		jvmreader_receive(r, 0);
	return r->pid && !r->busy;
}

/* ---- questions ------------------------------------------------------------------------------------------------ */

static bool send_request(struct jvmreader *r, size_t array, const int *fd)
{
	return fdmessage_send_soon(r->socket, &r->request, JVM_REQUEST_HEAD + array, fd, fd ? JVM_FDS : 0);
}

/* Sends r->request, whose array has so many bytes, and waits as long as there is patience. */
static enum jvmreader_answer jvmreader_query(struct jvmreader *r, struct jvmreader_jvm *jvm, enum jvm_question question,
					     size_t array, const int *fd)
{
	uint64_t now = clock_now(), after;
	bool answered;

	r->request.serial = ++r->serial;
	r->request.question = question;
	r->request.slot = jvm->slot;
	r->at = jvm;
	r->payer = jvm->tenant;
	r->since = now;
	r->cpu = jvmreader_cpu_time(r); /* what it used while it waited for a question is not charged */
	r->used = 0;
	r->busy = true;
	answered = send_request(r, array, fd) && jvmreader_receive(r, now + r->patience);
	after = clock_now();
	r->patience -= after - now < r->patience ? after - now : r->patience;
	if (r->busy)
		charge_cpu(r, after);
	if (jvm->why.code)
		return JVMREADER_LOST;
	return answered ? JVMREADER_DONE : JVMREADER_LATE;
}

static enum jvmreader_answer open_jvm(struct jvmreader *r, struct jvmreader_jvm *jvm)
{
	enum jvmreader_answer answer;
	struct jvmopen *o;
	char path[64];

	if (jvm->process < 0) {
		snprintf(path, sizeof(path), "/proc/%u", jvm->pid);
		jvm->process = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	}
	o = jvmopen_files(jvm->process, jvm->start, &jvm->why);
	if (!o)
		return JVMREADER_LOST;
	jvm->id = o->id;
	jvm->helper = r->helper;
	r->request.pid = jvm->pid;
	r->request.user = o->user.uid;
	r->request.start = o->id.start;
	r->request.mount_ns =
		o->mount_ns == r->own_ns ? o->mount_ns : 0; /* the number of another one may be given again */
	answer = jvmreader_query(r, jvm, JVM_OPEN, 0, o->fd);
	jvmopen_free(o);
	return answer;
}

static void jvmreader_mend(struct jvmreader *r)
{
	uint64_t now = clock_now();

	if (r->counts.left)
		jvmreader_reap(r);
	if (!jvmreader_is_idle(r) && r->pid && now > r->since + HANG_NS) {
		charge_cpu(r, now);
		if (jvmreader_is_blocked(r) || r->used > RUNS_NS || now > r->since + ANSWER_NS) {
			r->counts.hung++;
			jvmreader_charge(r, now, now);
			replace_helper(r, "hangs", "reading its memory takes too long");
		}
	}
	if (!r->pid && now > r->started + RESTART_NS)
		jvmreader_start_helper(r);
}

static bool has_time(const struct jvmreader *r, struct tenant of)
{
	uint64_t now = clock_now();

	return !r->tenants ||
	       (tenants_may(r->tenants, of, TENANT_JVM_NS, now) && tenants_may(r->tenants, of, TENANT_CPU_NS, now));
}

/* DONE: the JVM is open, and the helper waits for a question. */
static enum jvmreader_answer jvmreader_begin(struct jvmreader *r, struct jvmreader_jvm *jvm)
{
	jvmreader_mend(r);
	jvm->over_budget = false;
	if (jvm->why.code)
		return JVMREADER_LOST;
	if (!jvmreader_is_idle(r) || r->patience == 0)
		return JVMREADER_LATE;
	r->counts.avoided += is_stuck(r, &jvm->tenant);
	jvm->over_budget = is_stuck(r, &jvm->tenant) || !has_time(r, jvm->tenant);
	if (jvm->over_budget)
		return JVMREADER_LATE;
	return jvm->helper == r->helper ? JVMREADER_DONE : open_jvm(r, jvm);
}

static enum jvmreader_answer query_at(struct jvmreader *r, struct jvmreader_jvm *jvm, enum jvm_question question,
				      uint64_t address)
{
	enum jvmreader_answer answer = jvmreader_begin(r, jvm);

	if (answer != JVMREADER_DONE)
		return answer;
	r->request.address = address;
	return jvmreader_query(r, jvm, question, 0, NULL);
}

/* Are these what pieces of code can be? */
static bool check_blobs(const struct jvm_reply *a, size_t bytes)
{
	if (a->n == 0 || a->n > JVM_CODE_BLOBS_MAX || bytes != a->n * sizeof(*a->code_blob))
		return false;
	for (uint32_t i = 0; i < a->n; i++)
		if (a->code_blob[i].start > a->code_blob[i].end || a->code_blob[i].kind > BLOB_THAW ||
		    (i && a->code_blob[i].start < a->code_blob[i - 1].end))
			return false;
	return true;
}

enum jvmreader_answer jvmreader_find(struct jvmreader *r, struct jvmreader_jvm *jvm, uint64_t address,
				     struct jvmreader_found *found)
{
	enum jvmreader_answer answer = query_at(r, jvm, JVM_FIND, address);
	const struct jvm_reply *a = &r->reply;
	unsigned char compiled;

	if (answer != JVMREADER_DONE)
		return answer;
	*found = (struct jvmreader_found){ .where = a->where <= CODECACHE_BLOB ? a->where : CODECACHE_FREE,
					   .bytes = a->read ? a->text : NULL };
	if (found->where == CODECACHE_BLOB && !check_blobs(a, r->reply_n))
		found->where = CODECACHE_FREE;
	memcpy(&compiled, (const char *)&a->blob + offsetof(struct blob, compiled), 1);
	memcpy(&found->blob, &a->blob, offsetof(struct blob, compiled));
	found->blob.compiled = compiled & 1;
	found->code.call_stub_return = a->call_stub_return;
	found->code.continuation_return = a->continuation_return;
	if (found->where == CODECACHE_BLOB) {
		found->code.blob = a->code_blob;
		found->code.n = a->n;
	}
	return answer;
}

/* Sets r->same for up to JVM_BLOBS_MAX of the blobs, from number `from` on. */
static enum jvmreader_answer check_some(struct jvmreader *r, struct jvmreader_jvm *jvm, const struct blob *b,
					size_t from, size_t n)
{
	enum jvmreader_answer answer = jvmreader_begin(r, jvm);
	const struct jvm_reply *a = &r->reply;

	if (answer != JVMREADER_DONE)
		return answer;
	r->request.n = (uint32_t)n;
	memcpy(r->request.blob, b + from, n * sizeof(*b));
	answer = jvmreader_query(r, jvm, JVM_CHECK, n * sizeof(*b), NULL);
	for (uint32_t i = 0; answer == JVMREADER_DONE && i < a->n && i < n && r->reply_n == a->n * sizeof(*a->same);
	     i++)
		if (a->same[i] < n)
			r->same[from + a->same[i]] = 1;
	return answer;
}

enum jvmreader_answer jvmreader_check(struct jvmreader *r, struct jvmreader_jvm *jvm, struct blob *b, size_t *n)
{
	enum jvmreader_answer answer = JVMREADER_DONE;
	size_t saved = 0;

	if (r->same_cap < *n) {
		r->same_cap = *n + *n / 2;
		r->same = mem_grow(r->same, 1, r->same_cap);
	}
	if (*n)
		memset(r->same, 0, *n);
	for (size_t from = 0; from < *n && answer == JVMREADER_DONE; from += JVM_BLOBS_MAX)
		answer = check_some(r, jvm, b, from, *n - from < JVM_BLOBS_MAX ? *n - from : JVM_BLOBS_MAX);
	if (answer != JVMREADER_DONE)
		return answer;
	for (size_t i = 0; i < *n; i++)
		if (r->same[i])
			b[saved++] = b[i];
	*n = saved;
	return answer;
}

enum jvmreader_answer jvmreader_bytes(struct jvmreader *r, struct jvmreader_jvm *jvm, uint64_t address,
				      const char **bytes)
{
	enum jvmreader_answer answer = query_at(r, jvm, JVM_BYTES, address);

	if (answer == JVMREADER_DONE)
		*bytes = r->reply.read ? r->reply.text : NULL;
	return answer;
}

bool jvmreader_ready(struct jvmreader *r)
{
	jvmreader_mend(r);
	return r->patience && jvmreader_is_idle(r);
}

/* Names of up to JVM_METHODS_MAX methods; *done: how many were handled. */
static enum jvmreader_answer name_some(struct jvmreader *r, struct jvmreader_jvm *jvm, const uint64_t *method, size_t n,
				       size_t *done, void (*fn)(void *to, uint64_t method, struct str name), void *to)
{
	enum jvmreader_answer answer = jvmreader_begin(r, jvm);
	struct str names;

	if (answer != JVMREADER_DONE)
		return answer;
	r->request.n = (uint32_t)n;
	memcpy(r->request.method, method, n * sizeof(*method));
	answer = jvmreader_query(r, jvm, JVM_NAMES, n * sizeof(*method), NULL);
	if (answer != JVMREADER_DONE)
		return answer;
	if (!taskwait_is(jvm->process, &jvm->id)) { /* these are names of the program that it ran before */
		jvm->why = hotspot_refusal(TASKID_GONE);
		return JVMREADER_LOST;
	}
	names = (struct str){ r->reply.names, r->reply_n };
	while (names.n >= 8) {
		uint32_t head[2];

		memcpy(head, names.p, sizeof(head));
		if (head[0] >= n || head[1] > names.n - sizeof(head))
			break;
		fn(to, method[head[0]], str_head(str_from(names, sizeof(head)), head[1]));
		names = str_from(names, sizeof(head) + head[1]);
	}
	*done = r->reply.n > 0 && r->reply.n < n ? r->reply.n : n;
	return answer;
}

enum jvmreader_answer jvmreader_names(struct jvmreader *r, struct jvmreader_jvm *jvm, const uint64_t *method, size_t n,
				      void (*fn)(void *to, uint64_t method, struct str name), void *to)
{
	enum jvmreader_answer answer = JVMREADER_DONE;

	for (size_t from = 0, done = 0; from < n && answer == JVMREADER_DONE; from += done)
		answer = name_some(r, jvm, method + from, n - from < JVM_METHODS_MAX ? n - from : JVM_METHODS_MAX,
				   &done, fn, to);
	return answer;
}

/* ---- life ----------------------------------------------------------------------------------------------------- */

struct jvmreader_jvm *jvmreader_open(struct jvmreader *r, uint32_t pid, uint64_t start, struct tenant tenant)
{
	uint32_t slot = 0;

	while (slot < JVM_SLOTS && r->jvm[slot])
		slot++;
	if (slot == JVM_SLOTS)
		return NULL;
	r->jvm[slot] = mem_alloc(sizeof(*r->jvm[slot]), 1);
	*r->jvm[slot] =
		(struct jvmreader_jvm){ .process = -1, .slot = slot, .pid = pid, .start = start, .tenant = tenant };
	return r->jvm[slot];
}

void jvmreader_close(struct jvmreader *r, struct jvmreader_jvm *jvm)
{
	if (!jvm)
		return;
	jvmreader_is_idle(r);
	if (r->at == jvm)
		r->at = NULL;
	if (r->pid && jvm->helper == r->helper) { /* if this cannot be sent, the next JVM in the slot takes its place */
		r->request.question = JVM_CLOSE;
		r->request.slot = jvm->slot;
		send_request(r, 0, NULL);
	}
	if (jvm->process >= 0)
		close(jvm->process);
	r->jvm[jvm->slot] = NULL;
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

void jvmreader_deadline(struct jvmreader *r, uint64_t ns)
{
	r->patience = ns;
}

struct helper_counts jvmreader_count(const struct jvmreader *r)
{
	return (struct helper_counts){ .hung = r->counts.hung,
				       .crashed = r->counts.crashed,
				       .avoided = r->counts.avoided,
				       .lingering = r->counts.left,
				       .off = !r->pid };
}

void jvmreader_budgets(struct jvmreader *r, struct tenants *t)
{
	r->tenants = t;
}

struct jvmreader *jvmreader_new(struct tenants *t)
{
	struct jvmreader *r = mem_alloc(sizeof(*r), 1);
	struct stat own;

	r->tenants = t;
	r->own_ns = stat("/proc/self/ns/mnt", &own) == 0 ? own.st_ino : 0;
	jvmreader_start_helper(r);
	return r;
}

void jvmreader_free(struct jvmreader *r)
{
	if (r && r->pid)
		end_helper(r);
	if (r)
		free(r->same);
	free(r);
}
