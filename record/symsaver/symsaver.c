/* SPDX-License-Identifier: Apache-2.0 */
#include "record/symsaver/symsaver.h"

#include "common/process/helperprocess.h"
#include "common/arena.h"
#include "common/clocks.h"
#include "common/diag.h"
#include "common/hash.h"
#include "common/process/backoff.h"
#include "record/symsaver/saverdir.h"
#include "record/symsaver/saverprocess.h"
#include "record/symsaver/saverids.h"
#include "record/symsaver/kernelsaver.h"
#include "record/symsaver/symparser.h"
#include "common/process/taskwait.h"
#include "common/text.h"
#include "common/process/urgency.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define REPORTED 4096 /* things that were told in this window; powers of two */
#define VERDICTS 1024
#define STOP_LOOK_NS 2000000
#define BLOCKED_NS (2 * SECOND_NS) /* in files of a process, without any progress */

struct verdict {
	uint32_t pid;
	bool elsewhere, jit; /* jit: the keeper wants to know when it ends */
	uint64_t start, mount_ns;
};

struct symsaver {
	struct symsaver_options o;
	struct saverprocess_options saver_options;
	struct saver_shared *shared;
	struct saverids ids;
	uint64_t own_ns;
	pid_t saver; /* 0: none */
	int wake;
	uint64_t hang_ns, next, border; /* next: when a keeper may be started */
	struct symsaver_scan {
		uint64_t at, used, since; /* when; ns of CPU time of the keeper; its busy_since */
	} look;
	struct backoff backoff;
	struct saverbudget_counts over; /* as of the last keep_each_over */
	uint64_t dropped, gone;         /* gone: processes with code of a JIT that ended before we knew them */
	uint64_t reported[REPORTED];
	struct verdict verdict[VERDICTS];
	char boot[BOOT_ID + 1];
};

/* ---- the keeper
 * ------------------------------------------------------------------------------------------------------------ */

/* The places that the next keeper leaves alone, and until when. */
static void publish_avoided(struct symsaver *k)
{
	uint64_t now = clock_now();
	size_t n = 0;

	memset(k->shared->avoid, 0, sizeof(k->shared->avoid));
	for (size_t i = 0; i < BACKOFF_PLACES_MAX; i++) {
		uint64_t until = backoff_avoided_until(&k->backoff, k->backoff.place[i].place, now);

		if (k->backoff.place[i].place && until > now)
			k->shared->avoid[n++] = (struct saver_avoided){ k->backoff.place[i].place, until };
	}
}

/* No process that is forked from here on has the messages: those that parse could write some, and the keeper obeys
 * them. */
static void run_saver(void *to)
{
	struct symsaver *k = to;

	madvise(k->shared, sizeof(*k->shared), MADV_DONTFORK);
	urgency_idle_disk();
	saverprocess_run(k->shared, &k->saver_options, HELPERPROCESS_FD);
}

static bool symsaver_start_saver(struct symsaver *k)
{
	struct saver_shared *s = k->shared;
	int wake[2];

	/* no pipe: who writes into that of a keeper that died is ended by SIGPIPE */
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, wake) < 0)
		return false;
	atomic_store(&s->busy_since, 0);
	publish_avoided(k);
	atomic_store(&s->tail, atomic_load(&s->head));
	atomic_store(&s->sleeping, 0);
	madvise(s, sizeof(*s), MADV_DOFORK);
	k->saver = helperprocess_start(
		&(struct helperprocess){ "pjrecord-keeper", &wake[0], 1, URGENCY_USUAL, run_saver, k });
	madvise(s, sizeof(*s), MADV_DONTFORK);
	close(wake[0]);
	k->wake = wake[1];
	if (k->saver)
		return true;
	close(wake[1]);
	k->wake = -1;
	return false;
}

/* The start of a file of the keeper in /proc; empty if it cannot be read. */
static struct str read_saver(const struct symsaver *k, const char *name, char *buf, size_t cap)
{
	char path[256];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%d/%s", k->o.proc, (int)k->saver, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd >= 0 ? read(fd, buf, cap) : -1;
	if (fd >= 0)
		close(fd);
	return (struct str){ buf, n > 0 ? (size_t)n : 0 };
}

/* Is it blocked: no CPU time used for so long, in one file, and not waiting for a CPU either? False if /proc does not
 * show that. */
static bool symsaver_is_blocked(struct symsaver *k, uint64_t since, uint64_t now, uint64_t ns)
{
	char buf[1024];
	struct str stat = read_saver(k, "stat", buf, sizeof(buf)), schedstat;
	bool runnable = stat.n == 0 || str_starts(str_from(stat, (size_t)str_rfind(stat, ')') + 1), STR(" R"));
	uint64_t used;

	schedstat = read_saver(k, "schedstat", buf, sizeof(buf)); /* ns on a CPU, ... */
	if (!str_u64(str_cut(&schedstat, ' '), &used))
		return false;
	if (runnable || used != k->look.used || since != k->look.since)
		k->look = (struct symsaver_scan){ now, used, since };
	return now - k->look.at > ns;
}

/* The next keeper starts in rest_ns. */
static void end_saver(struct symsaver *k, uint64_t rest_ns)
{
	k->next = clock_now() + rest_ns;
	close(k->wake);
	k->wake = -1;
	k->saver = 0;
}

/* Looked at only: backoff.c reaps it. */
static bool has_ended(pid_t pid)
{
	siginfo_t info = { 0 };

	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
}

void symsaver_tick(struct symsaver *k)
{
	struct saver_shared *s = k->shared;
	uint64_t now = clock_now(), since = atomic_load_explicit(&s->busy_since, memory_order_acquire);
	uint64_t place = atomic_load_explicit(&s->busy_place, memory_order_relaxed);

	if (k->saver && has_ended(k->saver)) {
		backoff_failed(&k->backoff, k->saver, since ? place : 0, false, now);
		end_saver(k, k->hang_ns / 2);
	} else if (k->saver && since && now > since &&
		   (now - since > k->hang_ns || symsaver_is_blocked(k, since, now, BLOCKED_NS))) {
		backoff_failed(&k->backoff, k->saver, place, true, now);
		end_saver(k, 0);
	}
	if (!k->saver && now >= k->next && backoff_may_start(&k->backoff, now)) {
		memset(k->reported, 0, sizeof(k->reported));
		symsaver_start_saver(k);
	}
}

/* ---- starting
 * ---------------------------------------------------------------------------------------------------------------- */

static uint64_t symsaver_inode_of(const char *proc, const char *name)
{
	char path[256];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", proc, name);
	return stat(path, &st) == 0 ? st.st_ino : 0;
}

static void set_defaults(struct symsaver *k, const struct symsaver_options *o)
{
	k->o = *o;
	k->o.proc = o->proc ? o->proc : "/proc";
	k->hang_ns = (o->hang_s ? o->hang_s : 20) * SECOND_NS;
	k->saver_options = (struct saverprocess_options){
		.dir = o->dir,
		.proc = k->o.proc,
		.max_bytes = o->max_bytes ? o->max_bytes : (uint64_t)1 << 30,
		.min_age_s = o->min_age_s ? o->min_age_s : 86400,
		.min_free = o->min_free,
		.hang_ns = k->hang_ns,
		.parse = symparser_run,
	};
}

struct symsaver *symsaver_start(const struct symsaver_options *o, const char **why)
{
	struct symsaver *k = mem_alloc(sizeof(*k), 1);
	struct saverdir d;

	set_defaults(k, o);
	k->wake = -1;
	*why = NULL;
	if (o->dir) {
		*why = saverdir_open(&d, o->dir, k->o.proc, 0);
		memcpy(k->boot, d.boot, sizeof(k->boot));
		saverdir_close(&d);
	}
	k->shared =
		*why ? NULL : mmap(NULL, sizeof(*k->shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!*why && k->shared == MAP_FAILED) {
		k->shared = NULL;
		*why = "no memory that can be shared";
	}
	k->own_ns = symsaver_inode_of(k->o.proc, "self/ns/mnt");
	k->border = clock_now();
	if (!*why && !symsaver_start_saver(k))
		*why = strerror(errno);
	if (!*why)
		return k;
	if (k->shared)
		munmap(k->shared, sizeof(*k->shared));
	free(k);
	return NULL;
}

/* ---- telling
 * ------------------------------------------------------------------------------------------------------------------ */

/* It is full: it will wake. It died: keep_tick sees to that. */
static void wake_saver(struct symsaver *k)
{
	if (k->wake >= 0 && send(k->wake, "", 1, MSG_NOSIGNAL) < 0)
		return;
}

static void symsaver_put(struct symsaver *k, struct saver_message *m, struct str path)
{
	if (!k->saver || !saverring_put(k->shared, m, path)) {
		k->dropped++;
		return;
	}
	if (atomic_exchange(&k->shared->sleeping, 0))
		wake_saver(k);
}

/* Was it told in this window? */
static bool is_recorded(struct symsaver *k, uint64_t key)
{
	uint64_t *slot = &k->reported[key & (REPORTED - 1)];

	if (*slot == key)
		return true;
	*slot = key;
	return false;
}

/* A file of a tenant; 0: no file. */
static uint64_t symsaver_key_of(const struct symsaver_process *p, const struct symsaver_mapping *m)
{
	uint64_t id[8] = { 0 };

	if (!m)
		return 0;
	id[0] = (uint64_t)m->major << 32 | m->minor;
	id[1] = m->inode;
	id[2] = m->generation;
	id[3] = p->of.kind;
	id[4] = p->of.kind == TENANT_UNKNOWN ? p->mount_ns : p->of.key;
	if (m->build_id_n)
		memcpy(id + 5, m->build_id, 20);
	return hash_bytes(id, sizeof(id)) | 1;
}

/* Each process tells of a file until it is kept: one alone may end too soon. */
static void symsaver_report(struct symsaver *k, enum saver_kind kind, const struct verdict *v,
			    const struct symsaver_process *p, const struct symsaver_mapping *m)
{
	struct saver_message message = {
		.kind = kind, .elsewhere = v->elsewhere, .key = symsaver_key_of(p, m), .process = *p
	};
	uint64_t what[5] = { kind, p->pid, p->start, p->mount_ns, message.key };

	if ((kind == KEEP_BINARY || kind == KEEP_CHECK || kind == KEEP_ID) &&
	    atomic_load_explicit(&k->shared->done[message.key & (KEEP_DONE - 1)], memory_order_relaxed) == message.key)
		return;
	if (is_recorded(k, hash_bytes(what, sizeof(what)) | 1))
		return;
	if (m) {
		message.mapping = (struct target_mapping){ .start = m->start,
							   .major = m->major,
							   .minor = m->minor,
							   .inode = m->inode,
							   .generation = m->generation,
							   .build_id_n = m->build_id_n };
		memcpy(message.mapping.build_id, m->build_id, sizeof(m->build_id));
	}
	symsaver_put(k, &message, m ? m->path : (struct str){ 0 });
}

/* In another mount namespace, or with another root in ours. A process that does not answer counts as one of ours
 * (taskwait.h). */
static bool symsaver_is_elsewhere(const struct symsaver *k, const struct symsaver_process *p)
{
	struct text root = { 0 };
	char path[256];
	bool longer;
	int process;

	if (p->mount_ns == 0)
		return false;
	if (p->mount_ns != k->own_ns)
		return true;
	if (p->start == 0) /* it is gone, so its root is */
		return false;
	snprintf(path, sizeof(path), "%s/%u", k->o.proc, p->pid);
	process = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	longer = process >= 0 && taskwait_link(process, "root", &root, 2) && root.n == 2; /* than "/" */
	text_free(&root);
	if (process >= 0)
		close(process);
	return longer;
}

static struct verdict *verdict_of(struct symsaver *k, const struct symsaver_process *p)
{
	struct verdict *v = &k->verdict[p->pid & (VERDICTS - 1)];

	if (v->pid != p->pid || v->start != p->start || v->mount_ns != p->mount_ns || p->start == 0)
		*v = (struct verdict){ p->pid, symsaver_is_elsewhere(k, p), false, p->start, p->mount_ns };
	return v;
}

bool symsaver_process(struct symsaver *k, const struct symsaver_process *p)
{
	struct verdict *v = verdict_of(k, p);

	if (v->elsewhere && k->o.dir)
		symsaver_report(k, KEEP_ROOT, v, p, NULL);
	return v->elsewhere;
}

/* Code of no file, as fold sees it: its names are in a map. */
static bool symsaver_is_jit(struct str path)
{
	return path.n == 0 || str_eq(path, STR("//anon")) || str_starts(path, STR("/dev/zero")) ||
	       str_starts(path, STR("/anon_hugepage")) || str_starts(path, STR("/memfd:")) ||
	       str_starts(path, STR("/SYSV")) || str_eq(path, STR("[heap]")) || str_starts(path, STR("[stack"));
}

static bool is_dump(struct str path)
{
	struct str base = str_from(path, (size_t)(str_rfind(path, '/') + 1));

	if (str_ends(base, STR(" (deleted)")))
		base.n -= strlen(" (deleted)");
	return str_starts(base, STR("jit-")) && str_ends(base, STR(".dump"));
}

void symsaver_mapping(struct symsaver *k, const struct symsaver_process *p, const struct symsaver_mapping *m)
{
	struct verdict *v = verdict_of(k, p);
	bool jit = symsaver_is_jit(m->path), memory = str_starts(m->path, STR("/memfd:"));
	bool file = (!jit || memory) && m->path.p[0] == '/' && (m->inode || m->build_id_n);

	if (!k->o.dir) {
		if (file && !m->build_id_n)
			symsaver_report(k, KEEP_ID, v, p, m);
		return;
	}
	if (jit && p->start) {
		v->jit = true;
		symsaver_report(k, KEEP_JIT, v, p, NULL);
	} else if (jit) {
		k->gone += !is_recorded(k, hash_bytes(&p->pid, sizeof(p->pid)) | 1);
	}
	if (is_dump(m->path)) {
		if ((v->elsewhere || k->o.all) && p->start) {
			v->jit = true;
			symsaver_report(k, KEEP_DUMP, v, p, m);
		}
	} else if (file) {
		symsaver_report(
			k, v->elsewhere || k->o.all || str_ends(m->path, STR(" (deleted)")) ? KEEP_BINARY : KEEP_CHECK,
			v, p, m);
	}
}

unsigned symsaver_build_id(struct symsaver *k, const struct symsaver_mapping *m, uint8_t id[20])
{
	const struct pj_build_id *found;

	saverids_take(&k->ids, &k->shared->found);
	found = saverids_find(&k->ids, m->major, m->minor, m->inode, m->generation);
	if (found)
		memcpy(id, found->id, sizeof(found->id));
	return found ? found->size : 0;
}

static uint64_t busy_since(const struct symsaver *k)
{
	return atomic_load_explicit(&k->shared->busy_since, memory_order_acquire);
}

void symsaver_settle(struct symsaver *k, unsigned deadline_ms)
{
	struct timespec pause = { 0, 1000000 };
	uint64_t until = clock_now() + deadline_ms * UINT64_C(1000000);

	while (k->saver && clock_now() < until) {
		uint64_t since = atomic_load_explicit(&k->shared->busy_since, memory_order_acquire);

		if (atomic_load(&k->shared->sleeping) && atomic_load(&k->shared->head) == atomic_load(&k->shared->tail))
			break;
		if (since && clock_now() > since + k->hang_ns)
			break;
		nanosleep(&pause, NULL);
	}
}

void symsaver_exit(struct symsaver *k, uint32_t pid)
{
	struct verdict *v = &k->verdict[pid & (VERDICTS - 1)];
	struct saver_message m = { .kind = KEEP_EXIT, .process.pid = pid };

	if (v->pid == pid && v->jit)
		symsaver_put(k, &m, (struct str){ 0 });
	if (v->pid == pid)
		*v = (struct verdict){ 0 };
}

void symsaver_window(struct symsaver *k)
{
	struct saver_message m = { .kind = KEEP_WINDOW };

	memset(k->reported, 0, sizeof(k->reported));
	for (size_t i = 0; i < KEEP_DONE; i++)
		atomic_store_explicit(&k->shared->done[i], 0, memory_order_relaxed);
	k->border = clock_now();
	saverids_take(&k->ids, &k->shared->found);
	saverids_window(&k->ids);
	symsaver_put(k, &m, (struct str){ 0 });
	symsaver_tick(k);
}

/* ---- asking
 * ---------------------------------------------------------------------------------------------------------------------
 */

size_t symsaver_kernels(struct symsaver *k, char names[2][64])
{
	const struct saver_shared *s = k->shared;
	uint64_t now = atomic_load(&s->kernel_now), before = atomic_load(&s->kernel_before),
		 changed = atomic_load(&s->kernel_changed);
	char name[SAVERDIR_PATH];
	size_t n = 0;

	for (int i = 0; i < 2; i++) {
		uint64_t number = i == 0 ? now : before;

		if (number == 0 || (i == 1 && (before == now || changed < k->border)))
			break;
		kernelsaver_name(name, k->boot, number);
		snprintf(names[n++], 64, "%.63s", name);
	}
	return n;
}

struct symsaver_counts symsaver_counts(struct symsaver *k)
{
	const struct saver_shared *s = k->shared;
	struct symsaver_counts c = {
		.binaries = s->count[COUNT_BINARIES],
		.maps = s->count[COUNT_MAPS],
		.kernels = s->count[COUNT_KERNELS],
		.bytes = s->count[COUNT_BYTES],
		.removed = s->count[COUNT_REMOVED],
		.forced = s->count[COUNT_FORCED],
		.kernel_hidden = s->count[COUNT_HIDDEN],
		.conflicts = s->count[COUNT_CONFLICTS],
		.dropped = k->dropped,
		.hung = k->backoff.hung + s->parser[PARSER_HUNG],
		.crashed = k->backoff.crashed + s->parser[PARSER_CRASHED],
		.lingering = backoff_lingering(&k->backoff) + s->parser[PARSER_LINGERING],
		.off = !k->saver,
	};

	for (size_t i = 0; i < SYMSAVER_REASONS; i++)
		c.failed[i] = s->failed[i];
	c.failed[SYMSAVER_GONE] += k->gone;
	return c;
}

void symsaver_each_over(struct symsaver *k, void (*f)(void *arg, struct tenant of, uint64_t files), void *arg)
{
	saverbudget_each(&k->shared->over, &k->over, f, arg);
}

struct symsaver_counts symsaver_since(const struct symsaver_counts *now, const struct symsaver_counts *before)
{
	struct symsaver_counts c = *now;

	c.binaries -= before->binaries;
	c.maps -= before->maps;
	c.kernels -= before->kernels;
	for (size_t i = 0; i < SYMSAVER_REASONS; i++)
		c.failed[i] -= before->failed[i];
	c.dropped -= before->dropped;
	c.conflicts -= before->conflicts;
	c.removed -= before->removed;
	c.forced -= before->forced;
	c.hung -= before->hung;
	c.crashed -= before->crashed;
	c.kernel_hidden -= before->kernel_hidden;
	return c;
}

void symsaver_text(struct text *t, const struct symsaver_counts *c)
{
	static const char *const whys[SYMSAVER_REASONS] = {
		[SYMSAVER_GONE] = "of processes that ended too soon",
		[SYMSAVER_FORBIDDEN] = "without permission (CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH)",
		[SYMSAVER_OTHER] = "whose file was replaced",
		[SYMSAVER_NOT_ELF] = "that name nothing",
		[SYMSAVER_LARGE] = "too large",
		[SYMSAVER_UNTRUSTED] = "that are links, not the process' own, or no text",
		[SYMSAVER_DISK] = "for want of space or permission to write",
		[SYMSAVER_HUNG] = "where a keeper hung",
		[SYMSAVER_SLOW] = "on file systems that answer too slowly",
		[SYMSAVER_BUDGET] = "of tenants over budget",
	};
	const char *sep = "; not kept: ";

	if (c->binaries || c->maps)
		text_printf(t, "kept %llu binar%s, %llu map%s", (unsigned long long)c->binaries,
			    c->binaries == 1 ? "y" : "ies", (unsigned long long)c->maps, c->maps == 1 ? "" : "s");
	for (size_t i = 0; i < SYMSAVER_REASONS; i++) {
		if (!c->failed[i])
			continue;
		text_printf(t, "%s%llu %s", t->n ? sep : sep + 2, (unsigned long long)c->failed[i], whys[i]);
		sep = ", ";
	}
	if (c->dropped)
		text_printf(t, "%s%llu messages to the keeper did not fit", t->n ? "; " : "",
			    (unsigned long long)c->dropped);
	if (c->conflicts)
		text_printf(t, "%s%llu with the build-id of another file, which name code of their own tenant only",
			    t->n ? "; " : "", (unsigned long long)c->conflicts);
	if (c->kernel_hidden)
		text_printf(t, "%skernel addresses are hidden: sysctl kernel.kptr_restrict=0, or CAP_SYSLOG",
			    t->n ? "; " : "");
	if (c->forced)
		text_printf(t, "%s%llu files removed for space that a window needs", t->n ? "; " : "",
			    (unsigned long long)c->forced);
	if (c->hung)
		text_printf(t, "%s%llu keeper%s hung", t->n ? "; " : "", (unsigned long long)c->hung,
			    c->hung == 1 ? "" : "s");
	if (c->crashed)
		text_printf(t, "%s%llu keeper%s crashed", t->n ? "; " : "", (unsigned long long)c->crashed,
			    c->crashed == 1 ? "" : "s");
}

struct symsaver_counts symsaver_stop(struct symsaver *k, unsigned deadline_ms)
{
	struct timespec pause = { 0, STOP_LOOK_NS };
	uint64_t until = clock_now() + deadline_ms * UINT64_C(1000000), busy_ns = 0, last = clock_now();
	uint64_t since;
	struct symsaver_counts c;
	bool ended = !k->saver, blocked = false;

	atomic_store(&k->shared->stop, 1);
	wake_saver(k);
	while (!ended && !(ended = waitpid(k->saver, NULL, WNOHANG) == k->saver) && last < until && !blocked &&
	       busy_ns < SYMSAVER_STOP_BUSY_MS * UINT64_C(1000000)) {
		nanosleep(&pause, NULL);
		since = busy_since(k);
		busy_ns += since ? clock_now() - last : 0;
		last = clock_now();
		blocked = since && symsaver_is_blocked(k, since, last, SYMSAVER_STOP_BLOCKED_MS * UINT64_C(1000000));
	}
	if (!ended) {
		k->backoff.hung++;
		if (last >= until)
			kill(k->saver, SIGKILL);
		waitpid(k->saver, NULL, WNOHANG);
	}
	c = symsaver_counts(k);
	if (k->wake >= 0)
		close(k->wake);
	munmap(k->shared, sizeof(*k->shared));
	saverids_free(&k->ids);
	free(k);
	return c;
}
