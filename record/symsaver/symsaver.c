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
#include "common/process/taskid.h"
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

/* number of slots of symsaver.reported, the keys of the messages that were sent in this window; a power of two */
#define REPORTED 4096
#define VERDICTS 1024
#define STOP_LOOK_NS 2000000
/* ns without progress at files of one fault domain after which the symbol saver is blocked, and is replaced */
#define BLOCKED_NS (2 * SECOND_NS)

struct verdict {
	uint32_t pid;
	/* elsewhere: true: the process has another mount namespace or root directory. jit: true: it generates code, so
	 * the symbol saver needs a message when it ends. */
	bool elsewhere, jit;
	uint64_t start, mount_ns;
};

struct symsaver {
	struct symsaver_options o;
	struct saverprocess_options saver_options;
	struct saver_shared *shared;
	struct saverids ids;
	uint64_t own_ns;
	pid_t saver; /* pid of the symbol saver; 0: it does not run */
	int wake;
	/* Times in ns. hang_ns: duration of an access to one file after which the symbol saver is replaced. next:
	 * earliest time (clock_now) of the next start. border: time (clock_now) of the last window border. */
	uint64_t hang_ns, next, border;
	struct symsaver_scan {
		/* The last check at which the symbol saver had made progress. at: time of the check in ns (clock_now).
		 * used: CPU time of the symbol saver in ns at that time. since: value of saver_shared.busy_since at
		 * that time. */
		uint64_t at, used, since;
	} look;
	struct backoff backoff;
	struct saverbudget_counts over; /* counts of files over budget at the last symsaver_each_over */
	/* dropped: number of messages that were not sent. gone: number of processes with JIT code that ended before
	 * their first record. */
	uint64_t dropped, gone;
	uint64_t reported[REPORTED];
	struct verdict verdict[VERDICTS];
	char boot[BOOT_ID + 1];
};

/* ---- symbol saver process --------------------------------------------------------------------------------------- */

/* Stores in the shared memory the fault domains that the next symbol saver must avoid, with the times until which they
 * are avoided. */
static void publish_avoided(struct symsaver *saver)
{
	uint64_t now = clock_now();
	size_t n = 0;

	memset(saver->shared->avoid, 0, sizeof(saver->shared->avoid));
	for (size_t i = 0; i < BACKOFF_PLACES_MAX; i++) {
		uint64_t until = backoff_avoided_until(&saver->backoff, saver->backoff.place[i].place, now);

		if (saver->backoff.place[i].place && until > now)
			saver->shared->avoid[n++] = (struct saver_avoided){ saver->backoff.place[i].place, until };
	}
}

/* Runs the symbol saver in the forked child. Excludes the shared memory from processes that the symbol saver forks:
 * otherwise a parser could write messages, which the symbol saver trusts. */
static void run_saver(void *to)
{
	struct symsaver *saver = to;

	madvise(saver->shared, sizeof(*saver->shared), MADV_DONTFORK);
	urgency_idle_disk();
	saverprocess_run(saver->shared, &saver->saver_options, HELPERPROCESS_FD);
}

static bool symsaver_start_saver(struct symsaver *saver)
{
	struct saver_shared *shared = saver->shared;
	int wake[2];

	/* A socket instead of a pipe, because a write to a pipe whose reader has ended raises SIGPIPE. */
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, wake) < 0)
		return false;
	atomic_store(&shared->busy_since, 0);
	publish_avoided(saver);
	atomic_store(&shared->tail, atomic_load(&shared->head));
	atomic_store(&shared->sleeping, 0);
	madvise(shared, sizeof(*shared), MADV_DOFORK);
	saver->saver = helperprocess_start(
		&(struct helperprocess){ "pjrecord-keeper", &wake[0], 1, URGENCY_USUAL, run_saver, saver });
	madvise(shared, sizeof(*shared), MADV_DONTFORK);
	close(wake[0]);
	saver->wake = wake[1];
	if (saver->saver)
		return true;
	close(wake[1]);
	saver->wake = -1;
	return false;
}

/* Reads into buf the first bytes, at most cap, of the file `name` in /proc/PID of the symbol saver. Returns the bytes
 * that were read; an empty string on failure. */
static struct str read_saver(const struct symsaver *saver, const char *name, char *buf, size_t cap)
{
	char path[256];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "%s/%d/%s", saver->o.proc, (int)saver->saver, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = fd >= 0 ? read(fd, buf, cap) : -1;
	if (fd >= 0)
		close(fd);
	return (struct str){ buf, got > 0 ? (size_t)got : 0 };
}

/* Returns true if the symbol saver has accessed files of one fault domain for more than `ns` without running or waiting
 * for a CPU. Returns false if /proc lacks the data. since: value of saver_shared.busy_since. now: ns of clock_now(). */
static bool symsaver_is_blocked(struct symsaver *saver, uint64_t since, uint64_t now, uint64_t ns)
{
	char buf[1024];
	struct str stat = read_saver(saver, "stat", buf, sizeof(buf)), schedstat;
	bool runnable = stat.n == 0 || taskid_state(stat) == 'R';
	uint64_t used;

	/* the first field is the time on a CPU in ns */
	schedstat = read_saver(saver, "schedstat", buf, sizeof(buf));
	if (!str_u64(str_cut(&schedstat, ' '), &used))
		return false;
	if (runnable || used != saver->look.used || since != saver->look.since)
		saver->look = (struct symsaver_scan){ now, used, since };
	return now - saver->look.at > ns;
}

/* To be called when the symbol saver has ended or is replaced: sets its pid to 0 and closes its socket. The next symbol
 * saver starts at least rest_ns later. */
static void end_saver(struct symsaver *saver, uint64_t rest_ns)
{
	saver->next = clock_now() + rest_ns;
	close(saver->wake);
	saver->wake = -1;
	saver->saver = 0;
}

/* Returns true if the child process has ended. Does not reap it, because backoff.c does. */
static bool has_ended(pid_t pid)
{
	siginfo_t info = { 0 };

	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
}

void symsaver_tick(struct symsaver *saver)
{
	struct saver_shared *shared = saver->shared;
	uint64_t now = clock_now(), since = atomic_load_explicit(&shared->busy_since, memory_order_acquire);
	uint64_t place = atomic_load_explicit(&shared->busy_place, memory_order_relaxed);

	if (saver->saver && has_ended(saver->saver)) {
		backoff_failed(&saver->backoff, saver->saver, since ? place : 0, false, now);
		end_saver(saver, saver->hang_ns / 2);
	} else if (saver->saver && since && now > since &&
		   (now - since > saver->hang_ns || symsaver_is_blocked(saver, since, now, BLOCKED_NS))) {
		backoff_failed(&saver->backoff, saver->saver, place, true, now);
		end_saver(saver, 0);
	}
	if (!saver->saver && now >= saver->next && backoff_may_start(&saver->backoff, now)) {
		memset(saver->reported, 0, sizeof(saver->reported));
		symsaver_start_saver(saver);
	}
}

/* ---- start of the symbol saver ---------------------------------------------------------------------------------- */

static uint64_t symsaver_inode_of(const char *proc, const char *name)
{
	char path[256];
	struct stat status;

	snprintf(path, sizeof(path), "%s/%s", proc, name);
	return stat(path, &status) == 0 ? status.st_ino : 0;
}

static void set_defaults(struct symsaver *saver, const struct symsaver_options *options)
{
	saver->o = *options;
	saver->o.proc = options->proc ? options->proc : "/proc";
	saver->hang_ns = (options->hang_s ? options->hang_s : 20) * SECOND_NS;
	saver->saver_options = (struct saverprocess_options){
		.dir = options->dir,
		.proc = saver->o.proc,
		.max_bytes = options->max_bytes ? options->max_bytes : (uint64_t)1 << 30,
		.min_age_s = options->min_age_s ? options->min_age_s : 86400,
		.min_free = options->min_free,
		.hang_ns = saver->hang_ns,
		.parse = symparser_run,
	};
}

struct symsaver *symsaver_start(const struct symsaver_options *options, const char **why)
{
	struct symsaver *saver = mem_alloc(sizeof(*saver), 1);
	struct saverdir saverdir;

	set_defaults(saver, options);
	saver->wake = -1;
	*why = NULL;
	if (options->dir) {
		*why = saverdir_open(&saverdir, options->dir, saver->o.proc, 0);
		memcpy(saver->boot, saverdir.boot, sizeof(saver->boot));
		saverdir_close(&saverdir);
	}
	saver->shared =
		*why ? NULL :
		       mmap(NULL, sizeof(*saver->shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!*why && saver->shared == MAP_FAILED) {
		saver->shared = NULL;
		*why = "no shared memory";
	}
	saver->own_ns = symsaver_inode_of(saver->o.proc, "self/ns/mnt");
	saver->border = clock_now();
	if (!*why && !symsaver_start_saver(saver))
		*why = strerror(errno);
	if (!*why)
		return saver;
	if (saver->shared)
		munmap(saver->shared, sizeof(*saver->shared));
	free(saver);
	return NULL;
}

/* ---- messages to the symbol saver ------------------------------------------------------------------------------- */

/* Wakes the symbol saver. Ignores errors: if the socket is full, the symbol saver wakes up anyway, and symsaver_tick
 * replaces a symbol saver that has ended. */
static void wake_saver(struct symsaver *saver)
{
	if (saver->wake >= 0 && send(saver->wake, "", 1, MSG_NOSIGNAL) < 0)
		return;
}

static void symsaver_put(struct symsaver *saver, struct saver_message *message, struct str path)
{
	if (!saver->saver || !saverring_put(saver->shared, message, path)) {
		saver->dropped++;
		return;
	}
	if (atomic_exchange(&saver->shared->sleeping, 0))
		wake_saver(saver);
}

/* Returns true if the message with this key was sent already in this window. Otherwise returns false and records the
 * message as sent. A collision in the table may cause a second sending. */
static bool is_recorded(struct symsaver *saver, uint64_t key)
{
	uint64_t *slot = &saver->reported[key & (REPORTED - 1)];

	if (*slot == key)
		return true;
	*slot = key;
	return false;
}

/* Returns a hash, never 0, that identifies a file of a tenant; 0 if mapping is NULL. */
static uint64_t symsaver_key_of(const struct symsaver_process *process, const struct symsaver_mapping *mapping)
{
	uint64_t id[8] = { 0 };

	if (!mapping)
		return 0;
	id[0] = (uint64_t)mapping->file_id.major << 32 | mapping->file_id.minor;
	id[1] = mapping->file_id.inode;
	id[2] = mapping->file_id.generation;
	id[3] = process->of.kind;
	id[4] = process->of.kind == TENANT_UNKNOWN ? process->mount_ns : process->of.key;
	if (mapping->build_id.n)
		memcpy(id + 5, mapping->build_id.byte, 20);
	return hash_bytes(id, sizeof(id)) | 1;
}

/* Sends a message about the file of a mapping, or about the process itself if mapping is NULL, once in a window. A file
 * is reported for each process that maps it until the file is saved, because a single process may end too soon. */
static void symsaver_report(struct symsaver *saver, enum saver_kind kind, const struct verdict *verdict,
			    const struct symsaver_process *process, const struct symsaver_mapping *mapping)
{
	struct saver_message message = { .kind = kind,
					 .elsewhere = verdict->elsewhere,
					 .key = symsaver_key_of(process, mapping),
					 .process = *process };
	uint64_t what[5] = { kind, process->pid, process->start, process->mount_ns, message.key };

	if ((kind == KEEP_BINARY || kind == KEEP_CHECK || kind == KEEP_ID) &&
	    atomic_load_explicit(&saver->shared->done[message.key & (KEEP_DONE - 1)], memory_order_relaxed) ==
		    message.key)
		return;
	if (is_recorded(saver, hash_bytes(what, sizeof(what)) | 1))
		return;
	if (mapping)
		message.mapping = (struct target_mapping){ .start = mapping->start,
							   .file_id = mapping->file_id,
							   .build_id = mapping->build_id };
	symsaver_put(saver, &message, mapping ? mapping->path : (struct str){ 0 });
}

/* Returns true if a process is in another mount namespace or has another root directory. Returns false if neither is
 * known, also for a process that does not respond in time (taskwait.h). */
static bool symsaver_is_elsewhere(const struct symsaver *saver, const struct symsaver_process *p)
{
	struct text root = { 0 };
	char path[256];
	bool longer;
	int process;

	if (p->mount_ns == 0)
		return false;
	if (p->mount_ns != saver->own_ns)
		return true;
	if (p->start == 0) /* the process has ended, and its root directory is unknown */
		return false;
	snprintf(path, sizeof(path), "%s/%u", saver->o.proc, p->pid);
	process = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	/* true if the path of the process's root directory is longer than "/" */
	longer = process >= 0 && taskwait_link(process, "root", &root, 2) && root.n == 2;
	text_free(&root);
	if (process >= 0)
		close(process);
	return longer;
}

static struct verdict *verdict_of(struct symsaver *saver, const struct symsaver_process *process)
{
	struct verdict *verdict = &saver->verdict[process->pid & (VERDICTS - 1)];

	if (verdict->pid != process->pid || verdict->start != process->start ||
	    verdict->mount_ns != process->mount_ns || process->start == 0)
		*verdict = (struct verdict){ process->pid, symsaver_is_elsewhere(saver, process), false, process->start,
					     process->mount_ns };
	return verdict;
}

bool symsaver_process(struct symsaver *saver, const struct symsaver_process *process)
{
	struct verdict *verdict = verdict_of(saver, process);

	if (verdict->elsewhere && saver->o.dir)
		symsaver_report(saver, KEEP_ROOT, verdict, process, NULL);
	return verdict->elsewhere;
}

/* Returns true for paths of mappings of memory without a file, whose code pjfold treats as code of a JIT. */
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

void symsaver_mapping(struct symsaver *saver, const struct symsaver_process *process,
		      const struct symsaver_mapping *mapping)
{
	struct verdict *verdict = verdict_of(saver, process);
	bool jit = symsaver_is_jit(mapping->path), memory = str_starts(mapping->path, STR("/memfd:"));
	bool file = (!jit || memory) && mapping->path.p[0] == '/' && (mapping->file_id.inode || mapping->build_id.n);

	if (!saver->o.dir) {
		if (file && !mapping->build_id.n)
			symsaver_report(saver, KEEP_ID, verdict, process, mapping);
		return;
	}
	if (jit && process->start) {
		verdict->jit = true;
		symsaver_report(saver, KEEP_JIT, verdict, process, NULL);
	} else if (jit) {
		saver->gone += !is_recorded(saver, hash_bytes(&process->pid, sizeof(process->pid)) | 1);
	}
	if (is_dump(mapping->path)) {
		if ((verdict->elsewhere || saver->o.all) && process->start) {
			verdict->jit = true;
			symsaver_report(saver, KEEP_DUMP, verdict, process, mapping);
		}
	} else if (file) {
		symsaver_report(saver,
				verdict->elsewhere || saver->o.all || str_ends(mapping->path, STR(" (deleted)")) ?
					KEEP_BINARY :
					KEEP_CHECK,
				verdict, process, mapping);
	}
}

struct build_id symsaver_build_id(struct symsaver *saver, const struct symsaver_mapping *mapping)
{
	const struct pj_build_id *found;

	saverids_take(&saver->ids, &saver->shared->found);
	found = saverids_find(&saver->ids, &mapping->file_id);
	return found ? found->build_id : (struct build_id){ 0 };
}

static uint64_t busy_since(const struct symsaver *saver)
{
	return atomic_load_explicit(&saver->shared->busy_since, memory_order_acquire);
}

void symsaver_settle(struct symsaver *saver, unsigned deadline_ms)
{
	struct timespec pause = { 0, 1000000 };
	uint64_t until = clock_now() + deadline_ms * UINT64_C(1000000);

	while (saver->saver && clock_now() < until) {
		uint64_t since = atomic_load_explicit(&saver->shared->busy_since, memory_order_acquire);

		if (atomic_load(&saver->shared->sleeping) &&
		    atomic_load(&saver->shared->head) == atomic_load(&saver->shared->tail))
			break;
		if (since && clock_now() > since + saver->hang_ns)
			break;
		nanosleep(&pause, NULL);
	}
}

void symsaver_exit(struct symsaver *saver, uint32_t pid)
{
	struct verdict *verdict = &saver->verdict[pid & (VERDICTS - 1)];
	struct saver_message message = { .kind = KEEP_EXIT, .process.pid = pid };

	if (verdict->pid == pid && verdict->jit)
		symsaver_put(saver, &message, (struct str){ 0 });
	if (verdict->pid == pid)
		*verdict = (struct verdict){ 0 };
}

void symsaver_window(struct symsaver *saver)
{
	struct saver_message message = { .kind = KEEP_WINDOW };

	memset(saver->reported, 0, sizeof(saver->reported));
	for (size_t i = 0; i < KEEP_DONE; i++)
		atomic_store_explicit(&saver->shared->done[i], 0, memory_order_relaxed);
	saver->border = clock_now();
	saverids_take(&saver->ids, &saver->shared->found);
	saverids_window(&saver->ids);
	symsaver_put(saver, &message, (struct str){ 0 });
	symsaver_tick(saver);
}

/* ---- data for the recorder -------------------------------------------------------------------------------------- */

size_t symsaver_kernels(struct symsaver *saver, char names[2][64])
{
	const struct saver_shared *shared = saver->shared;
	uint64_t now = atomic_load(&shared->kernel_now), before = atomic_load(&shared->kernel_before),
		 changed = atomic_load(&shared->kernel_changed);
	char name[SAVERDIR_PATH];
	size_t n = 0;

	for (int i = 0; i < 2; i++) {
		uint64_t number = i == 0 ? now : before;

		if (number == 0 || (i == 1 && (before == now || changed < saver->border)))
			break;
		kernelsaver_name(name, saver->boot, number);
		snprintf(names[n++], 64, "%.63s", name);
	}
	return n;
}

struct symsaver_counts symsaver_counts(struct symsaver *saver)
{
	const struct saver_shared *shared = saver->shared;
	struct symsaver_counts counts = {
		.binaries = shared->count[COUNT_BINARIES],
		.maps = shared->count[COUNT_MAPS],
		.kernels = shared->count[COUNT_KERNELS],
		.bytes = shared->count[COUNT_BYTES],
		.removed = shared->count[COUNT_REMOVED],
		.forced = shared->count[COUNT_FORCED],
		.kernel_hidden = shared->count[COUNT_HIDDEN],
		.conflicts = shared->count[COUNT_CONFLICTS],
		.dropped = saver->dropped,
		.hung = saver->backoff.hung + shared->parser[PARSER_HUNG],
		.crashed = saver->backoff.crashed + shared->parser[PARSER_CRASHED],
		.lingering = backoff_lingering(&saver->backoff) + shared->parser[PARSER_LINGERING],
		.off = !saver->saver,
	};

	for (size_t i = 0; i < SYMSAVER_REASONS; i++)
		counts.failed[i] = shared->failed[i];
	counts.failed[SYMSAVER_GONE] += saver->gone;
	return counts;
}

void symsaver_each_over(struct symsaver *saver, void (*f)(void *arg, struct tenant tenant, uint64_t files), void *arg)
{
	saverbudget_each(&saver->shared->over, &saver->over, f, arg);
}

struct symsaver_counts symsaver_since(const struct symsaver_counts *now, const struct symsaver_counts *before)
{
	struct symsaver_counts counts = *now;

	counts.binaries -= before->binaries;
	counts.maps -= before->maps;
	counts.kernels -= before->kernels;
	for (size_t i = 0; i < SYMSAVER_REASONS; i++)
		counts.failed[i] -= before->failed[i];
	counts.dropped -= before->dropped;
	counts.conflicts -= before->conflicts;
	counts.removed -= before->removed;
	counts.forced -= before->forced;
	counts.hung -= before->hung;
	counts.crashed -= before->crashed;
	counts.kernel_hidden -= before->kernel_hidden;
	return counts;
}

void symsaver_text(struct text *text, const struct symsaver_counts *counts)
{
	static const char *const whys[SYMSAVER_REASONS] = {
		[SYMSAVER_GONE] = "of processes that had ended",
		[SYMSAVER_FORBIDDEN] = "without permission (CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH)",
		[SYMSAVER_OTHER] = "whose file was replaced",
		[SYMSAVER_NOT_ELF] = "without symbols",
		[SYMSAVER_LARGE] = "too large",
		[SYMSAVER_UNTRUSTED] = "that are links, of another user, or not text",
		[SYMSAVER_DISK] = "without space or permission to write",
		[SYMSAVER_HUNG] = "whose symbol saver hung",
		[SYMSAVER_SLOW] = "on slow file systems",
		[SYMSAVER_BUDGET] = "of tenants over budget",
	};
	const char *sep = "; not saved: ";

	if (counts->binaries || counts->maps)
		text_printf(text, "saved %llu binar%s, %llu map%s", (unsigned long long)counts->binaries,
			    counts->binaries == 1 ? "y" : "ies", (unsigned long long)counts->maps,
			    counts->maps == 1 ? "" : "s");
	for (size_t i = 0; i < SYMSAVER_REASONS; i++) {
		if (!counts->failed[i])
			continue;
		text_printf(text, "%s%llu %s", text->n ? sep : sep + 2, (unsigned long long)counts->failed[i], whys[i]);
		sep = ", ";
	}
	if (counts->dropped)
		text_printf(text, "%s%llu messages to the symbol saver lost", text->n ? "; " : "",
			    (unsigned long long)counts->dropped);
	if (counts->conflicts)
		text_printf(text, "%s%llu with the build-id of another file, which name only code of their own tenant",
			    text->n ? "; " : "", (unsigned long long)counts->conflicts);
	if (counts->kernel_hidden)
		text_printf(text, "%skernel addresses are hidden: sysctl kernel.kptr_restrict=0, or CAP_SYSLOG",
			    text->n ? "; " : "");
	if (counts->forced)
		text_printf(text, "%s%llu files removed that a window needs, for want of space", text->n ? "; " : "",
			    (unsigned long long)counts->forced);
	if (counts->hung)
		text_printf(text, "%s%llu symbol saver%s hung", text->n ? "; " : "", (unsigned long long)counts->hung,
			    counts->hung == 1 ? "" : "s");
	if (counts->crashed)
		text_printf(text, "%s%llu symbol saver%s crashed", text->n ? "; " : "",
			    (unsigned long long)counts->crashed, counts->crashed == 1 ? "" : "s");
}

struct symsaver_counts symsaver_stop(struct symsaver *saver, unsigned deadline_ms)
{
	struct timespec pause = { 0, STOP_LOOK_NS };
	uint64_t until = clock_now() + deadline_ms * UINT64_C(1000000), busy_ns = 0, last = clock_now();
	uint64_t since;
	struct symsaver_counts counts;
	bool ended = !saver->saver, blocked = false;

	atomic_store(&saver->shared->stop, 1);
	wake_saver(saver);
	while (!ended && !(ended = waitpid(saver->saver, NULL, WNOHANG) == saver->saver) && last < until && !blocked &&
	       busy_ns < SYMSAVER_STOP_BUSY_MS * UINT64_C(1000000)) {
		nanosleep(&pause, NULL);
		since = busy_since(saver);
		busy_ns += since ? clock_now() - last : 0;
		last = clock_now();
		blocked =
			since && symsaver_is_blocked(saver, since, last, SYMSAVER_STOP_BLOCKED_MS * UINT64_C(1000000));
	}
	if (!ended) {
		saver->backoff.hung++;
		if (last >= until)
			kill(saver->saver, SIGKILL);
		waitpid(saver->saver, NULL, WNOHANG);
	}
	counts = symsaver_counts(saver);
	if (saver->wake >= 0)
		close(saver->wake);
	munmap(saver->shared, sizeof(*saver->shared));
	saverids_free(&saver->ids);
	free(saver);
	return counts;
}
