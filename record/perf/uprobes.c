/* SPDX-License-Identifier: Apache-2.0 */
#include "record/perf/uprobes.h"

#include "common/arena.h"
#include "common/files/fullio.h"
#include "common/files/targetfile.h"
#include "record/perf/elfsymbol.h"
#include "record/perf/namedmapping.h"
#include "common/clocks.h"
#include "common/process/capabilities.h"
#include "common/process/fdmessage.h"
#include "common/process/helperprocess.h"
#include "common/process/sandbox.h"
#include "common/process/urgency.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define PMU_TYPE "/sys/bus/event_source/devices/uprobe/type"
#define WAIT_S 20                                                  /* longest wait for the helper process */
#define STOP_MS 100                                                /* interval of checks for a stop during the wait */
#define CPU_MS 10000                                               /* CPU time that it may use for symbols */
#define MEMORY (3 * ELFSYMBOL_SECTION_MAX + ((uint64_t)128 << 20)) /* its address space in bytes, for one table */
#define MAPS_MAX ((size_t)64 << 20)                                /* bytes of /proc/PID/maps */

enum problem {
	NO_PROBLEM,
	CANNOT_OPEN, /* error: errno */
	CANNOT_READ_PROCESS,
	NOT_MAPPED,
	REPLACED,
	SEVERAL,   /* in process pid */
	DIFFERENT, /* in process pid, and in one before */
	NOT_ELF,
	NO_SYMBOL, /* symbol: enum elfsymbol_answer */
	NO_ANSWER, /* the helper process did not answer in time */
	STOPPED,   /* a signal ended pjrecord before the answer */
	ENDED      /* the helper process ended without an answer, for its limits */
};

/* Result of the helper process. Its numbers come from a process that has read a hostile file. */
struct reply {
	int32_t problem, error, symbol;
	uint32_t pid;
	uint32_t without, nwithout; /* first process that does not map the file, and number of these */
	uint64_t offset;
	char similar[ELFSYMBOL_SIMILAR];
};

struct search {
	struct str file, symbol;
	const uint32_t *pid;
	size_t npids;
	const volatile sig_atomic_t *stop;
	struct reply reply;
};

uint32_t uprobes_type(void)
{
	struct text text = { 0 };
	uint64_t type = 0;

	if (!fullio_read_at(AT_FDCWD, PMU_TYPE, &text, 64) ||
	    !str_u64(str_cut(&(struct str){ text.p, text.n }, '\n'), &type) || type > UINT32_MAX)
		type = 0;
	text_free(&text);
	return (uint32_t)type;
}

/* ---- the file ------------------------------------------------------------------------------------------------- */

/* Returns an address without the zeros with which maps pads it to 8 digits; names in map_files have none. */
static struct str unpadded(struct str address)
{
	while (address.n > 1 && address.p[0] == '0')
		address = str_from(address, 1);
	return address;
}

static int open_range(uint32_t pid, struct str range)
{
	struct text path = { 0 };
	struct str begin, end = range;
	int fd;

	begin = unpadded(str_cut(&end, '-'));
	end = unpadded(end);
	text_printf(&path, "/proc/%" PRIu32 "/map_files/%.*s-%.*s", pid, (int)begin.n, begin.p, (int)end.n, end.p);
	text_char(&path, '\0');
	fd = targetfile_reopen(open(path.p, O_PATH | O_CLOEXEC));
	text_free(&path);
	return fd;
}

/* Opens the file at the path of a mapping, below the root of the process, if it is still the mapped file. */
static int open_below_root(struct search *search, uint32_t pid, const struct namedmapping *mapping)
{
	int root = targetfile_root((pid_t)pid);
	int fd = root < 0 ? -1 : targetfile_open(root, mapping->path, true);

	search->reply.error = errno;
	if (root >= 0)
		close(root);
	if (fd < 0) {
		search->reply.problem = CANNOT_OPEN;
	} else if (!targetfile_is(fd, mapping->major, mapping->minor, mapping->inode)) {
		search->reply.problem = REPLACED;
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Opens a mapped file: the mapping itself, or, without the right to that (CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE), its
 * path. The process may have mapped another file there since its mappings were read. */
static int open_mapping(struct search *search, uint32_t pid, const struct namedmapping *mapping)
{
	int fd = open_range(pid, mapping->range);

	if (fd < 0 && !mapping->deleted)
		return open_below_root(search, pid, mapping);
	if (fd < 0 || !targetfile_is(fd, mapping->major, mapping->minor, mapping->inode)) {
		search->reply.problem = REPLACED;
		if (fd >= 0)
			close(fd);
		return -1;
	}
	return fd;
}

/* Looks for the file in the mappings of one process. The first process that has it opens *fd and sets *first; those
 * after it must have the same one. */
static void search_process(struct search *search, uint32_t pid, struct namedmapping *first, int *fd)
{
	struct text maps = { 0 };
	struct namedmapping mapping;
	char path[48];

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/maps", pid);
	if (!fullio_read_at(AT_FDCWD, path, &maps, MAPS_MAX)) {
		search->reply.error = errno;
		search->reply.problem = CANNOT_READ_PROCESS;
		text_free(&maps);
		return;
	}
	switch (namedmapping_find(text_view(&maps), search->file, &mapping)) {
	case NAMEDMAPPING_NONE:
		if (!search->reply.nwithout++)
			search->reply.without = pid;
		break;
	case NAMEDMAPPING_SEVERAL: search->reply.problem = SEVERAL; break;
	case NAMEDMAPPING_ONE:
		if (*fd >= 0) {
			if (!namedmapping_same(first, &mapping))
				search->reply.problem = DIFFERENT;
			break;
		}
		search->reply.problem = NO_PROBLEM;
		*first = mapping;
		*fd = open_mapping(search, pid, &mapping);
		break;
	}
	text_free(&maps);
}

/* Opens the file of that name that the processes have mapped. Returns -1 and sets the reply on failure: also if they
 * have mapped different files. */
static int open_mapped(struct search *search)
{
	struct namedmapping first;
	int fd = -1;

	search->reply.problem = NOT_MAPPED;
	for (size_t i = 0; i < search->npids; i++) {
		search->reply.pid = search->pid[i];
		search_process(search, search->pid[i], &first, &fd);
		if (search->reply.problem != NO_PROBLEM && search->reply.problem != NOT_MAPPED)
			break;
	}
	return fd;
}

/* Opens a file with the rights of the real user alone: the capabilities of pjrecord (setcap) must not show which files
 * and symbols are in folders that are closed to the user. access alone does not suffice, because the user can replace a
 * link on the path after it. */
static int open_as_user(const char *path)
{
	struct capabilities all, none;
	bool limited = getuid() != 0;
	int fd, error;

	if (access(path, R_OK) < 0)
		return -1;
	if (limited) {
		if (!capabilities_get(&all))
			return -1;
		none = all;
		none.effective = 0;
		if (!capabilities_set(&none))
			return -1;
	}
	fd = targetfile_reopen(open(path, O_PATH | O_CLOEXEC));
	error = errno;
	if (limited)
		capabilities_set(&all);
	errno = error;
	return fd;
}

static int open_by_path(struct search *search)
{
	struct text path = { 0 };
	int fd;

	text_str(&path, search->file);
	text_char(&path, '\0');
	fd = open_as_user(path.p);
	if (fd < 0) {
		search->reply.problem = CANNOT_OPEN;
		search->reply.error = errno;
	}
	text_free(&path);
	return fd;
}

/* ---- the helper process --------------------------------------------------------------------------------------- */

static void read_symbols(struct search *search, int fd)
{
	struct elfhead_source source;
	struct elfhead elfhead = { 0 };
	struct elfsymbol symbol;

	search->reply.problem = NOT_ELF;
	if (!elfhead_file(&source, fd))
		return;
	if (!elfhead_read(&elfhead, &source, true)) {
		search->reply.symbol = (int32_t)elfsymbol_find(&elfhead, search->symbol, &symbol);
		search->reply.problem = search->reply.symbol == ELFSYMBOL_FOUND ? NO_PROBLEM : NO_SYMBOL;
		search->reply.offset = symbol.offset;
		memcpy(search->reply.similar, symbol.similar, sizeof(search->reply.similar));
	}
	elfhead_free(&elfhead);
}

static void helper_run(void *to)
{
	struct sandbox limits = { .groups = SANDBOX_MESSAGES | SANDBOX_DEADLINE,
				  .files = 16,
				  .address_space = helperprocess_memory() + MEMORY };
	struct search *search = to;
	int fd = str_find(search->file, '/') >= 0 ? open_by_path(search) : open_mapped(search);

	if (fd >= 0 && search->reply.problem == NO_PROBLEM && targetfile_is_proc(fd)) {
		search->reply.problem = CANNOT_OPEN;
		search->reply.error = EINVAL;
	}
	sandbox_enter(&limits);
	sandbox_deadline(CPU_MS);
	if (fd >= 0 && search->reply.problem == NO_PROBLEM)
		read_symbols(search, fd);
	fdmessage_put(HELPERPROCESS_FD, &search->reply, sizeof(search->reply),
		      search->reply.problem == NO_PROBLEM ? fd : -1);
}

/* Waits until the helper process replies, pjrecord must stop, or WAIT_S is over. Returns true if there is a reply. A
 * signal between the check and poll does not interrupt poll, so it waits STOP_MS at most. */
static bool wait_for_search(const struct search *search, int socket)
{
	struct pollfd polled = { .fd = socket, .events = POLLIN };
	uint64_t end = clock_now_ms() + WAIT_S * 1000;
	int ready = 0;

	while (ready <= 0 && !*search->stop && clock_now_ms() < end) {
		ready = poll(&polled, 1, STOP_MS);
		if (ready < 0 && errno != EINTR)
			break;
	}
	return ready > 0;
}

/* Takes the reply of the helper process. Returns the descriptor of the file, or -1. */
static int take_reply(struct search *search, int socket)
{
	int fd = -1;

	if (!wait_for_search(search, socket))
		search->reply.problem = *search->stop ? STOPPED : NO_ANSWER;
	else if (fdmessage_take(socket, &search->reply, sizeof(search->reply), &fd) != sizeof(search->reply))
		search->reply = (struct reply){ .problem = ENDED };
	search->reply.similar[sizeof(search->reply.similar) - 1] = '\0';
	return fd;
}

static void search_failed(struct search *search)
{
	search->reply = (struct reply){ .problem = CANNOT_OPEN, .error = errno };
}

/* Kills the helper process. It is not waited for if it may be blocked by a file system: init reaps it then. */
static void end_search(pid_t pid, bool waits)
{
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, waits ? 0 : WNOHANG) < 0 && errno == EINTR)
		;
}

/* Runs the search in a helper process. Returns the descriptor of the file, or -1 with the problem in the reply. */
static int search_in_helper(struct search *search)
{
	int pair[2], fd = -1;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
		search_failed(search);
		return -1;
	}
	pid = helperprocess_start(
		&(struct helperprocess){ "pjrecord-probe", &pair[1], 1, URGENCY_USUAL, helper_run, search });
	if (!pid)
		search_failed(search);
	close(pair[1]);
	if (pid) {
		fd = take_reply(search, pair[0]);
		end_search(pid, search->reply.problem != NO_ANSWER && search->reply.problem != STOPPED);
	}
	close(pair[0]);
	return fd;
}

/* ---- messages ------------------------------------------------------------------------------------------------- */

static void explain_large(struct text *why, struct str file)
{
	text_printf(
		why,
		"symbols of '%.*s' need more than %d MB in a section, %d MB in all, or %d s of CPU time: install one "
		"with fewer symbols",
		(int)file.n, file.p, (int)(ELFSYMBOL_SECTION_MAX >> 20), (int)(MEMORY >> 20), CPU_MS / 1000);
}

static void explain_symbol(struct text *why, const struct search *search)
{
	struct str file = search->file, symbol = search->symbol;
	const char *similar = search->reply.similar;

	switch ((enum elfsymbol_answer)search->reply.symbol) {
	case ELFSYMBOL_EMPTY:
		text_printf(
			why,
			"'%.*s' has no symbols (stripped): install one with symbols, or probe a library that exports them",
			(int)file.n, file.p);
		return;
	case ELFSYMBOL_LARGE: explain_large(why, file); return;
	case ELFSYMBOL_SEVERAL:
		text_printf(
			why,
			"several functions of '%.*s' are named '%.*s': choose a function that calls them, or that they call",
			(int)file.n, file.p, (int)symbol.n, symbol.p);
		return;
	case ELFSYMBOL_INDIRECT:
		text_printf(
			why,
			"'%.*s' only selects a function for this CPU (IFUNC) when the program starts: choose the function itself, as pjfold names it",
			(int)symbol.n, symbol.p);
		return;
	case ELFSYMBOL_NO_CODE:
		text_printf(why, "'%.*s' has no code for '%.*s': choose the file that was loaded, not its debug file",
			    (int)file.n, file.p, (int)symbol.n, symbol.p);
		return;
	default: break;
	}
	text_printf(why, "no function '%.*s' in '%.*s': ", (int)symbol.n, symbol.p, (int)file.n, file.p);
	if (similar[0])
		text_printf(why, "did you mean %s?", similar);
	else
		text_add(why, "nm and nm -D list the functions of a file, by their mangled names");
}

static void explain(struct text *why, const struct search *search)
{
	const struct reply *reply = &search->reply;
	struct str file = search->file;

	switch ((enum problem)reply->problem) {
	case CANNOT_READ_PROCESS:
		text_printf(why, "mappings of process %" PRIu32 " cannot be read (%s): run it as root, or give a path",
			    reply->pid, strerror(reply->error));
		return;
	case NOT_MAPPED:
		text_printf(
			why,
			"no process of -p has a file '%.*s' mapped: grep / /proc/PID/maps lists the names, or give a path",
			(int)file.n, file.p);
		return;
	case REPLACED:
		text_printf(why,
			    "'%.*s' was replaced since process %" PRIu32
			    " mapped it: run it as root, or start the process again",
			    (int)file.n, file.p, reply->pid);
		return;
	case SEVERAL:
		text_printf(why,
			    "process %" PRIu32 " has several files '%.*s' mapped: give the path of one, in a container "
			    "below /proc/%" PRIu32 "/root",
			    reply->pid, (int)file.n, file.p, reply->pid);
		return;
	case NO_ANSWER:
		text_printf(why,
			    "'%.*s' cannot be read within %d s: its file system does not respond: give a copy of it",
			    (int)file.n, file.p, WAIT_S);
		return;
	case STOPPED:
		text_printf(why, "'%.*s' was not read: a signal ended pjrecord first: start it again", (int)file.n,
			    file.p);
		return;
	case ENDED: explain_large(why, file); return;
	case DIFFERENT:
		text_printf(why, "the processes of -p have different files '%.*s' mapped: record each with its own -p",
			    (int)file.n, file.p);
		return;
	case NOT_ELF:
		text_printf(why, "'%.*s' is not an ELF file, or it is damaged: give a program or library", (int)file.n,
			    file.p);
		return;
	case NO_SYMBOL: explain_symbol(why, search); return;
	default: break;
	}
	text_printf(why, "'%.*s' cannot be opened (%s): give a program or library", (int)file.n, file.p,
		    strerror(reply->error));
}

/* ---- a specification ------------------------------------------------------------------------------------------ */

/* Splits "FILE:SYMBOL" at the last colon. Returns false and appends a sentence on a wrong form. There is no offset in a
 * function: a breakpoint that is not on the first byte of an instruction makes processes run other code. */
static bool split(struct search *search, struct str spec, struct text *why)
{
	ptrdiff_t colon = str_rfind(spec, ':');

	if (colon <= 0 || (size_t)colon + 1 == spec.n) {
		text_add(why, "use uprobe:FILE:FUNCTION, such as uprobe:/bin/bash:readline");
		return false;
	}
	search->file = str_head(spec, (size_t)colon);
	search->symbol = str_from(spec, (size_t)colon + 1);
	if (str_find(search->file, '/') < 0 && !search->npids) {
		text_printf(
			why,
			"'%.*s' is not a path: give one, or -p PID to take the file of that name that the process has mapped",
			(int)search->file.n, search->file.p);
		return false;
	}
	if (search->symbol.n >= ELFSYMBOL_NAME_MAX) {
		text_printf(why, "a name of a function has less than %d bytes here", ELFSYMBOL_NAME_MAX);
		return false;
	}
	return true;
}

bool uprobes_find(struct uprobe *uprobe, struct str spec, const uint32_t *pid, size_t npids,
		  const volatile sig_atomic_t *stop, struct text *why)
{
	struct search search = { .pid = pid, .npids = npids, .stop = stop };
	struct text path = { 0 };

	*uprobe = (struct uprobe){ .fd = -1 };
	if (!split(&search, spec, why))
		return false;
	uprobe->fd = search_in_helper(&search);
	if (uprobe->fd < 0) {
		explain(why, &search);
		return false;
	}
	uprobe->offset = search.reply.offset;
	uprobe->without = search.reply.without;
	uprobe->nwithout = search.reply.nwithout;
	text_printf(&path, "/proc/self/fd/%d", uprobe->fd);
	text_char(&path, '\0');
	uprobe->path = path.p;
	return true;
}

void uprobes_free(struct uprobe *uprobe)
{
	if (uprobe->fd >= 0)
		close(uprobe->fd);
	free(uprobe->path);
	*uprobe = (struct uprobe){ .fd = -1 };
}
