/* SPDX-License-Identifier: Apache-2.0 */
#include "record/probes/libjvms.h"

#include "common/arena.h"
#include "common/clocks.h"
#include "common/files/targetfile.h"
#include "common/hash.h"
#include "common/process/fdmessage.h"
#include "common/process/helperprocess.h"
#include "common/process/taskwait.h"
#include "common/process/tenants.h"
#include "common/process/timelimit.h"
#include "record/probes/mappedfile.h"
#include "record/probes/namedmapping.h"
#include "record/probes/probehelper.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Maximum size in bytes of /proc/PID/maps: enough for 65,530 mappings, the default limit of a process. */
#define MAPS_MAX ((size_t)8 << 20)
/* TENANTS_MAX: size of the table of tenants; all further tenants share its last entry. SHARES: number of slots of the
 * table of used times. LATE_MAX: maximum number of processes that are read again. THREADS_MAX: maximum number of
 * threads of a process that are read. */
enum { TENANTS_MAX = 256, SHARES = 1024, LATE_MAX = 1024, THREADS_MAX = 16 };
/* Times in ms. SCAN_MS: after this time, further processes are skipped. SHARE_MS: maximum for the processes of one
 * fault domain (tenant_place). RETRY_MS: interval at which late processes are read again, longer than the usual rest of
 * a fault domain (timelimit.h). RETRY_END_MS: time since the start of the search at which these reads end. RETRIES:
 * minimum number of these reads before a process that does not answer is reported as blocked. */
enum { SCAN_MS = 12000, SHARE_MS = SCAN_MS / 8, RETRY_MS = 1100, RETRIES = 2, RETRY_END_MS = 17000 };

/* A file in /proc/PID whose open takes the lock of the address space, then fails, because no mapping has this range. No
 * other file suffices: since Linux 6.17, reads of maps take locks of single mappings (CONFIG_PER_VMA_LOCK), and reads
 * of cmdline take no lock if a process has set the range of its arguments to be empty (PR_SET_MM_MAP). */
#define LOCK_FILE "map_files/0-1"

/* A tenant with a libjvm.so. */
struct owner {
	struct tenant tenant;
	uint32_t files;              /* number of files of struct scan that its processes have mapped */
	bool has[LIBJVMS_FILES_MAX]; /* has[i]: its processes have mapped file[i] of struct scan */
};

struct file {
	struct namedmapping mapping; /* device and inode of the file; the other members are empty */
	struct libjvm of;
	/* number of files of the same tenant that were found before this file; the minimum over all tenants that have
	 * mapped it */
	uint32_t rank;
	/* device and inode that fstat() returns for the file. btrfs: true on btrfs, where mappings of different files
	 * may show the same device and inode (targetfile_is) */
	dev_t device;
	ino_t inode;
	bool btrfs;
};

/* Message from the helper process: one for each file, with its descriptor, then one with the counts. */
struct message {
	uint32_t pid; /* process that has mapped the file; 0: the last message */
	uint32_t left_out, unread, skipped, blocked;
};

/* A process to read. target: true: a libjvm.so that it has mapped is added; false: it is only checked for blocked
 * reads. */
struct candidate {
	uint32_t pid;
	uint32_t thread;  /* thread whose files are read; pid, unless the main thread has ended */
	uint64_t late_ms; /* time (clock_now_ms) at which its last read timed out; 0: no read has timed out */
	bool target;
};

struct scan {
	const uint32_t *pid;
	size_t npids;
	struct file file[LIBJVMS_FILES_MAX];
	struct owner owner[TENANTS_MAX];
	uint32_t n, nowners;
	struct message counts;
	uint64_t begin; /* time of the start in ns (clock_now) */
	/* hash table of the ns that each fault domain has used, by its key `place` (tenant_place), with open
	 * addressing; a slot with place 0 is free */
	struct share {
		uint64_t place, ns;
	} share[SHARES];
	uint32_t nshares;
	/* late: processes to read again, because they did not answer in time, or were not read while their fault domain
	 * rested; again: copy of late[] during the repeated reads */
	struct candidate late[LATE_MAX], again[LATE_MAX];
	uint32_t nlate;
};

/* ---- helper process --------------------------------------------------------------------------------------------- */

static struct owner *find_owner(struct scan *scan, struct tenant tenant)
{
	uint32_t i = 0;

	while (i < scan->nowners && !tenant_same(scan->owner[i].tenant, tenant))
		i++;
	if (i == TENANTS_MAX)
		return &scan->owner[TENANTS_MAX - 1];
	if (i == scan->nowners)
		scan->owner[scan->nowners++] = (struct owner){ .tenant = tenant };
	return &scan->owner[i];
}

/* Adds an open file. Returns its index. */
static uint32_t add_file(struct scan *scan, struct libjvm of, const struct namedmapping *mapping,
			 const struct stat *status)
{
	scan->file[scan->n] =
		(struct file){ .mapping = { .major = mapping->major, .minor = mapping->minor, .inode = mapping->inode },
			       .of = of,
			       .rank = UINT32_MAX,
			       .device = status->st_dev,
			       .inode = status->st_ino,
			       .btrfs = targetfile_is_btrfs(of.fd) };
	return scan->n++;
}

/* Returns the index of the file of a mapping; scan->n if it is not in the list. status: of the open file; NULL: the
 * mapping alone counts. */
static uint32_t find_file(const struct scan *scan, const struct namedmapping *mapping, const struct stat *status)
{
	uint32_t i = 0;

	while (i < scan->n &&
	       (!namedmapping_same(&scan->file[i].mapping, mapping) ||
		(status && (scan->file[i].device != status->st_dev || scan->file[i].inode != status->st_ino))))
		i++;
	return i;
}

/* Opens the file of a mapping, and adds it if it is not in the list and may_add. Returns its index; LIBJVMS_FILES_MAX
 * if it cannot be opened, scan->n if it is not added. */
static uint32_t open_file(struct scan *scan, int process, struct candidate candidate,
			  const struct namedmapping *mapping, bool may_add)
{
	const struct libjvm of = { mappedfile_open_soon(process, candidate.thread, mapping), candidate.pid };
	struct stat status;
	uint32_t i = LIBJVMS_FILES_MAX;

	if (of.fd < 0)
		return i;
	if (fstat(of.fd, &status) == 0)
		i = find_file(scan, mapping, &status);
	if (i == scan->n && may_add)
		return add_file(scan, of, mapping, &status);
	close(of.fd);
	return i;
}

/* Adds the libjvm.so of a process to the list, unless it is there. Counts the process as left out if the list is full,
 * its tenant has too many files, or the file cannot be opened. */
static void take_mapping(struct scan *scan, int process, struct candidate candidate, const struct namedmapping *mapping)
{
	struct owner *owner = find_owner(scan, tenant_of(process));
	uint32_t i = find_file(scan, mapping, NULL);
	bool may_add = scan->n < LIBJVMS_FILES_MAX && owner->files < LIBJVMS_TENANT;

	if (i < scan->n && !scan->file[i].btrfs && owner->has[i])
		return;
	if (i == scan->n ? may_add : scan->file[i].btrfs)
		i = open_file(scan, process, candidate, mapping, may_add);
	if (i >= scan->n) {
		scan->counts.left_out++;
		return;
	}
	if (owner->has[i])
		return;
	owner->has[i] = true;
	if (owner->files < scan->file[i].rank)
		scan->file[i].rank = owner->files;
	owner->files++;
}

/* Returns the slot of a fault domain, or, if it has none, the free slot (place 0) for it. */
static struct share *time_share(struct scan *scan, uint64_t place)
{
	size_t i = hash_mix(place, 0x9E3779B97F4A7C15u) % SHARES;

	while (scan->share[i].place && scan->share[i].place != place)
		i = (i + 1) % SHARES;
	return &scan->share[i];
}

static void add_used_time(struct scan *scan, uint64_t place, uint64_t ns)
{
	struct share *share = time_share(scan, place);

	if (!place || (!share->place && scan->nshares == SHARES / 2))
		return;
	scan->nshares += !share->place;
	share->place = place;
	share->ns += ns;
}

static uint64_t since_begin_ms(const struct scan *scan)
{
	return (clock_now() - scan->begin) / (SECOND_NS / 1000);
}

static int open_candidate(uint32_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%" PRIu32, pid);
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* Adds a process without an answer to those to read again. If there are LATE_MAX already, one process is skipped: one
 * that was not read, rather than one that timed out. */
static void add_late(struct scan *scan, struct candidate candidate)
{
	uint32_t i = 0;

	if (scan->nlate < LATE_MAX) {
		scan->late[scan->nlate++] = candidate;
		return;
	}
	scan->counts.skipped++;
	while (candidate.late_ms && i < LATE_MAX && scan->late[i].late_ms)
		i++;
	if (candidate.late_ms && i < LATE_MAX)
		scan->late[i] = candidate;
}

/* Adds a process to those to read again if `error` means that it gave no answer. Returns false for other errors. Only
 * ETIMEDOUT sets late_ms, by which the process can be reported as blocked: EBUSY means that it was not read
 * (timelimit_call), EAGAIN that no thread could be started. */
static bool retry_unanswered(struct scan *scan, struct candidate candidate, int error)
{
	if (!taskwait_is_unanswered(error) && error != EAGAIN)
		return false;
	if (error == ETIMEDOUT)
		candidate.late_ms = clock_now_ms();
	add_late(scan, candidate);
	return true;
}

/* Returns false if the lock of the address space cannot be taken in time; the process is read again then. */
static bool check_lock(struct scan *scan, int process, struct candidate candidate)
{
	struct text none = { 0 };
	bool failed = !taskwait_read(process, LOCK_FILE, &none, 1);
	int error = errno;

	text_free(&none);
	return !failed || !retry_unanswered(scan, candidate, error);
}

/* Adds the libjvm.so in the text of /proc/PID/maps. A process that has mapped several files of this name is no usual
 * JVM, and is left out. */
static void take_maps(struct scan *scan, int process, struct candidate candidate, struct str maps)
{
	struct namedmapping mapping;

	switch (namedmapping_find(maps, LIBJVMS_NAME, &mapping)) {
	case NAMEDMAPPING_ONE: take_mapping(scan, process, candidate, &mapping); break;
	case NAMEDMAPPING_SEVERAL: scan->counts.left_out++; break;
	case NAMEDMAPPING_NONE: break;
	}
}

/* Reads the files of candidate.thread. Returns false if it has no mappings, or has ended. */
static bool read_candidate(struct scan *scan, int process, struct candidate candidate)
{
	struct text maps = { 0 };
	int error = taskwait_read(process, "maps", &maps, MAPS_MAX) ? 0 : errno;
	bool any = error ? error != ESRCH && error != ENOENT : maps.n;

	if (error)
		scan->counts.unread += any && !retry_unanswered(scan, candidate, error) && candidate.target;
	else if (any && check_lock(scan, process, candidate) && candidate.target)
		take_maps(scan, process, candidate, text_view(&maps));
	text_free(&maps);
	return any;
}

/* Reads other threads of a process until one has mappings. The main thread has none after pthread_exit(). */
static void read_other_threads(struct scan *scan, int process, struct candidate candidate)
{
	int folder = openat(process, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = folder < 0 ? NULL : fdopendir(folder);
	unsigned n = 0;
	bool any = false;

	for (struct dirent *entry; dir && !any && n < THREADS_MAX && (entry = readdir(dir));) {
		uint64_t thread;
		int opened;

		if (!str_u64(str_of(entry->d_name), &thread) || thread > INT32_MAX || thread == candidate.pid)
			continue;
		n++;
		candidate.thread = (uint32_t)thread;
		opened = open_candidate(candidate.thread);
		if (opened < 0)
			continue;
		any = read_candidate(scan, opened, candidate);
		close(opened);
	}
	if (dir)
		closedir(dir);
	else if (folder >= 0)
		close(folder);
}

static void read_process(struct scan *scan, int process, struct candidate candidate)
{
	if (!read_candidate(scan, process, candidate) && candidate.thread == candidate.pid)
		read_other_threads(scan, process, candidate);
}

/* Reads a process, or skips it if the time for the search (SCAN_MS), or for its fault domain (SHARE_MS), is used up. */
static void scan_process(struct scan *scan, uint32_t pid, bool target)
{
	uint64_t begin = clock_now(), place;
	int process = open_candidate(pid);

	if (process < 0)
		return;
	place = tenant_place(process);
	if (since_begin_ms(scan) >= SCAN_MS || time_share(scan, place)->ns >= SHARE_MS * (SECOND_NS / 1000))
		scan->counts.skipped++;
	else
		read_process(scan, process, (struct candidate){ .pid = pid, .thread = pid, .target = target });
	add_used_time(scan, place, clock_now() - begin);
	close(process);
}

static bool libjvms_is_target(const struct scan *scan, uint32_t pid)
{
	for (size_t i = 0; i < scan->npids; i++)
		if (scan->pid[i] == pid)
			return true;
	return false;
}

/* Reads all processes that are not in scan->pid. */
static void scan_others(struct scan *scan)
{
	DIR *dir = opendir("/proc");

	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		uint64_t pid;

		if (str_u64(str_of(entry->d_name), &pid) && pid && pid <= INT32_MAX &&
		    !libjvms_is_target(scan, (uint32_t)pid))
			scan_process(scan, (uint32_t)pid, !scan->npids);
	}
	if (dir)
		closedir(dir);
}

/* Returns the PID of the late process whose read timed out last; it is the reason why its fault domain rests. Returns 0
 * if no read of a late process has timed out, or if all reads that timed out have ended since. */
static uint32_t blocked_process(const struct scan *scan)
{
	const struct candidate *last = NULL;

	for (uint32_t i = 0; i < scan->nlate; i++)
		if (scan->late[i].late_ms && (!last || scan->late[i].late_ms > last->late_ms))
			last = &scan->late[i];
	return last && timelimit_left() ? last->pid : 0;
}

static void read_late_once(struct scan *scan)
{
	uint32_t n = scan->nlate;

	memcpy(scan->again, scan->late, n * sizeof(*scan->again));
	scan->nlate = 0;
	for (uint32_t i = 0; i < n; i++) {
		int process = open_candidate(scan->again[i].thread);

		if (process < 0)
			continue;
		if (since_begin_ms(scan) < RETRY_END_MS)
			read_process(scan, process, scan->again[i]);
		else
			add_late(scan, scan->again[i]);
		close(process);
	}
}

/* Reads the late processes again: they may have waited only for a CPU, or for a call that has ended, or were not read
 * because of another process of their fault domain. Then sets counts.blocked to a process that does not answer (0:
 * none), and counts all that are still late as skipped. */
static void read_late(struct scan *scan)
{
	const struct timespec moment = { RETRY_MS / 1000, RETRY_MS % 1000 * 1000000L };

	for (unsigned i = 0; scan->nlate && since_begin_ms(scan) < RETRY_END_MS; i++) {
		if (i >= RETRIES && blocked_process(scan))
			break;
		nanosleep(&moment, NULL);
		read_late_once(scan);
	}
	scan->counts.blocked = blocked_process(scan);
	scan->counts.skipped += scan->nlate;
}

/* Sends the files, first the first file of each tenant, then the second files, and so on; then the counts. */
static void send_files(struct scan *scan)
{
	for (uint32_t rank = 0; rank < LIBJVMS_FILES_MAX; rank++)
		for (uint32_t i = 0; i < scan->n; i++) {
			const struct message message = { .pid = scan->file[i].of.pid };

			if (scan->file[i].rank == rank &&
			    !fdmessage_put(HELPERPROCESS_FD, &message, sizeof(message), scan->file[i].of.fd))
				scan->counts.left_out++;
		}
	fdmessage_put(HELPERPROCESS_FD, &scan->counts, sizeof(scan->counts), -1);
}

static void run_scan(void *to)
{
	struct scan *scan = to;

	scan->begin = clock_now();
	for (size_t i = 0; i < scan->npids; i++)
		scan_process(scan, scan->pid[i], true);
	scan_others(scan);
	read_late(scan);
	send_files(scan);
}

/* ---- messages --------------------------------------------------------------------------------------------------- */

/* Receives all messages of the helper process, and fills *libjvms from them. Returns PROBEHELPER_DONE after the last
 * message, otherwise the failure of probehelper_take; PROBEHELPER_ENDED, too, if there are too many messages. */
static enum probehelper_answer take_files(struct probehelper *helper, struct libjvms *libjvms)
{
	for (uint32_t i = 0; i <= LIBJVMS_FILES_MAX; i++) {
		struct message message;
		int fd;
		enum probehelper_answer answer = probehelper_take(helper, &message, sizeof(message), &fd);

		if (answer == PROBEHELPER_DONE && message.pid && fd >= 0 && i < LIBJVMS_FILES_MAX) {
			libjvms->file[libjvms->n++] = (struct libjvm){ fd, message.pid };
			continue;
		}
		if (fd >= 0)
			close(fd);
		if (answer != PROBEHELPER_DONE)
			return answer;
		if (!message.pid) {
			libjvms->left_out += message.left_out;
			libjvms->unread = message.unread;
			libjvms->skipped = message.skipped;
			libjvms->blocked = message.blocked;
			return answer;
		}
		libjvms->left_out++;
	}
	return PROBEHELPER_ENDED;
}

/* Appends the sentence for a failure to *why. */
static void libjvms_explain(struct text *why, enum probehelper_answer answer, int error, uint32_t blocked)
{
	switch (answer) {
	case PROBEHELPER_STOPPED: text_add(why, "a signal ended pjrecord before it found JVMs: start it again"); return;
	case PROBEHELPER_FAILED:
		text_printf(why, "no process can be started to search JVMs (%s): raise the limits of pjrecord",
			    strerror(error));
		return;
	case PROBEHELPER_ENDED:
		text_add(why, "the process that searches JVMs was killed, as by the kernel without memory: start "
			      "pjrecord again");
		return;
	case PROBEHELPER_LATE:
		text_printf(why, "the search for JVMs did not end within %d s: give the PIDs of JVMs with -p",
			    PROBEHELPER_WAIT_S);
		return;
	case PROBEHELPER_DONE: break;
	}
	text_printf(why,
		    "the mappings of process %" PRIu32
		    " cannot be read in time: a probe would wait for it, and fork() of "
		    "all processes with it: end that process, or try again",
		    blocked);
}

bool libjvms_find(struct libjvms *libjvms, const uint32_t *pid, size_t npids, const volatile sig_atomic_t *stop,
		  struct text *why)
{
	struct scan *scan = mem_alloc(sizeof(*scan), 1);
	struct probehelper helper;
	enum probehelper_answer answer = PROBEHELPER_FAILED;
	int error = 0;

	*libjvms = (struct libjvms){ 0 };
	scan->pid = pid;
	scan->npids = npids;
	if (probehelper_start(&helper,
			      &(struct probehelper_work){ run_scan, scan, -1,
							  clock_now_ms() + PROBEHELPER_WAIT_S * 1000, stop })) {
		answer = take_files(&helper, libjvms);
		probehelper_end(&helper);
	} else {
		error = errno;
	}
	free(scan);
	if (answer == PROBEHELPER_DONE && !libjvms->blocked)
		return true;
	libjvms_explain(why, answer, error, libjvms->blocked);
	libjvms_free(libjvms);
	return false;
}

void libjvms_free(struct libjvms *libjvms)
{
	for (uint32_t i = 0; i < libjvms->n; i++)
		close(libjvms->file[i].fd);
	*libjvms = (struct libjvms){ 0 };
}
