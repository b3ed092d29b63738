/* SPDX-License-Identifier: Apache-2.0 */
#include "record/probes/uprobes.h"

#include "common/arena.h"
#include "common/clocks.h"
#include "common/files/fullio.h"
#include "common/files/targetfile.h"
#include "record/probes/elfsymbol.h"
#include "record/probes/mappedfile.h"
#include "record/probes/namedmapping.h"
#include "record/probes/probehelper.h"
#include "common/process/capabilities.h"
#include "common/process/fdmessage.h"
#include "common/process/helperprocess.h"
#include "common/process/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PMU_TYPE "/sys/bus/event_source/devices/uprobe/type"
/* CPU time that the helper process may use for symbols, in ms */
#define CPU_MS 10000
/* address space of the helper process in bytes, enough for the three sections of one symbol table */
#define MEMORY (3 * ELFSYMBOL_SECTION_MAX + ((uint64_t)128 << 20))
#define MAPS_MAX ((size_t)64 << 20) /* maximum number of bytes of /proc/PID/maps */

enum problem {
	NO_PROBLEM,
	CANNOT_OPEN, /* the file cannot be opened; reply.error: errno */
	CANNOT_READ_PROCESS,
	NOT_MAPPED,
	REPLACED,
	SEVERAL,   /* process reply.pid has mapped several files with the name to find */
	DIFFERENT, /* process reply.pid and a process before it have mapped different files with the name to find */
	NOT_ELF,
	NO_SYMBOL, /* the file has no usable function of the given name; reply.symbol: enum elfsymbol_answer */
	NO_ANSWER, /* the helper process did not reply in time */
	STOPPED,   /* a signal stopped pjrecord before the reply */
	ENDED      /* the helper process ended without a valid reply; its limits are the likely cause */
};

/* Result of the helper process. Its numbers are untrusted, because the helper process has parsed a hostile file. */
struct reply {
	int32_t problem, error, symbol;
	uint32_t pid;
	/* without: first target process that has not mapped the file; nwithout: number of such processes */
	uint32_t without, nwithout;
	uint64_t offset[UPROBES_FUNCTIONS_MAX]; /* file offset of each function */
	char similar[ELFSYMBOL_SIMILAR];
};

struct search {
	struct str file;
	const struct uprobe_function *function;
	size_t nfunctions;
	const uint32_t *pid;
	size_t npids;
	const volatile sig_atomic_t *stop;
	unsigned ms; /* time limit in ms */
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

/* ---- opening of the probed file ------------------------------------------------------------------------------- */

/* Opens a mapped file. Returns -1 and sets the reply on failure. */
static int open_mapping(struct search *search, uint32_t pid, const struct namedmapping *mapping)
{
	int fd = mappedfile_open(pid, mapping);

	search->reply.error = errno;
	if (fd < 0)
		search->reply.problem = errno == ESTALE ? REPLACED : CANNOT_OPEN;
	return fd;
}

/* Searches the mappings of one process for the file. For the first process that has the file, opens it as *fd and sets
 * *first; later processes must have mapped the same file. Sets the reply. */
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

/* Opens the file with the given name that the target processes have mapped. Returns -1 and sets the reply on failure,
 * also if they have mapped different files. */
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

/* Opens a file with the rights of the real user only. Returns its descriptor; -1 with errno on failure. A user must not
 * learn, by the capabilities of pjrecord (setcap), which files and symbols are in directories that the user may not
 * read. access() alone does not suffice, because the user can replace a link on the path after the check. */
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

/* ---- helper process ------------------------------------------------------------------------------------------- */

/* Looks up the names of a function, one after the other, until the file has one. Returns the answer for the last name
 * that was looked up. */
static enum elfsymbol_answer find_name(const struct uprobe_function *function, const struct elfhead *elfhead,
				       struct elfsymbol *symbol)
{
	enum elfsymbol_answer answer = ELFSYMBOL_NONE;

	for (size_t i = 0; i < function->n && answer == ELFSYMBOL_NONE; i++)
		answer = elfsymbol_find(elfhead, function->name[i], symbol);
	return answer;
}

static void find_functions(struct search *search, const struct elfhead *elfhead)
{
	search->reply.problem = NO_PROBLEM;
	for (size_t i = 0; i < search->nfunctions && search->reply.problem == NO_PROBLEM; i++) {
		struct elfsymbol symbol = { 0 };

		search->reply.symbol = (int32_t)find_name(&search->function[i], elfhead, &symbol);
		if (search->reply.symbol != ELFSYMBOL_FOUND)
			search->reply.problem = NO_SYMBOL;
		search->reply.offset[i] = symbol.offset;
		memcpy(search->reply.similar, symbol.similar, sizeof(search->reply.similar));
	}
}

/* Gives up the rights of this process, then reads the symbols of the file. */
static void read_symbols(struct search *search, int fd)
{
	struct sandbox limits = { .groups = SANDBOX_MESSAGES | SANDBOX_DEADLINE,
				  .files = 16,
				  .address_space = helperprocess_memory() + MEMORY };
	struct elfhead_source source;
	struct elfhead elfhead = { 0 };

	sandbox_enter(&limits);
	sandbox_deadline(CPU_MS);
	if (fd < 0 || search->reply.problem != NO_PROBLEM)
		return;
	search->reply.problem = NOT_ELF;
	if (!elfhead_file(&source, fd))
		return;
	if (!elfhead_read(&elfhead, &source, true))
		find_functions(search, &elfhead);
	elfhead_free(&elfhead);
}

static void helper_run(void *to)
{
	struct search *search = to;
	int fd = str_find(search->file, '/') >= 0 ? open_by_path(search) : open_mapped(search);

	if (fd >= 0 && search->reply.problem == NO_PROBLEM && targetfile_is_proc(fd)) {
		search->reply.problem = CANNOT_OPEN;
		search->reply.error = EINVAL;
	}
	read_symbols(search, fd);
	fdmessage_put(HELPERPROCESS_FD, &search->reply, sizeof(search->reply),
		      search->reply.problem == NO_PROBLEM ? fd : -1);
}

/* Like helper_run, but reads the symbols of the open file PROBEHELPER_FILE, and sends no descriptor. */
static void search_open_file(void *to)
{
	struct search *search = to;

	read_symbols(search, PROBEHELPER_FILE);
	fdmessage_put(HELPERPROCESS_FD, &search->reply, sizeof(search->reply), -1);
}

/* Runs the search in a helper process; file: the open file, -1: `run` opens it. Returns the descriptor that `run`
 * sends, or -1; sets the reply. */
static int search_in_helper(struct search *search, void (*run)(void *to), int file)
{
	const struct probehelper_work work = { run, search, file, clock_now_ms() + search->ms, search->stop };
	int fd;

	switch (probehelper_run(&work, &search->reply, sizeof(search->reply), &fd)) {
	case PROBEHELPER_DONE: break;
	case PROBEHELPER_FAILED: search->reply = (struct reply){ .problem = CANNOT_OPEN, .error = errno }; break;
	case PROBEHELPER_LATE: search->reply.problem = NO_ANSWER; break;
	case PROBEHELPER_STOPPED: search->reply.problem = STOPPED; break;
	case PROBEHELPER_ENDED: search->reply = (struct reply){ .problem = ENDED }; break;
	}
	search->reply.similar[sizeof(search->reply.similar) - 1] = '\0';
	return fd;
}

/* ---- error messages ------------------------------------------------------------------------------------------- */

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
	struct str file = search->file, symbol = search->function[0].name[0];
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
			    "'%.*s' cannot be read within %u s: its file system does not respond: give a copy of it",
			    (int)file.n, file.p, search->ms / 1000);
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

/* ---- parsing of FILE:SYMBOL ----------------------------------------------------------------------------------- */

/* Splits "FILE:SYMBOL" at the last colon; *symbol is SYMBOL. Returns false and appends a sentence on malformed text.
 * The syntax has no offset within a function, because a breakpoint that is not on the first byte of an instruction
 * makes processes run other code. */
static bool split(struct search *search, struct str spec, struct str *symbol, struct text *why)
{
	ptrdiff_t colon = str_rfind(spec, ':');

	if (colon <= 0 || (size_t)colon + 1 == spec.n) {
		text_add(why, "use uprobe:FILE:FUNCTION, such as uprobe:/bin/bash:readline");
		return false;
	}
	search->file = str_head(spec, (size_t)colon);
	*symbol = str_from(spec, (size_t)colon + 1);
	if (str_find(search->file, '/') < 0 && !search->npids) {
		text_printf(
			why,
			"'%.*s' is not a path: give one, or -p PID to take the file of that name that the process has mapped",
			(int)search->file.n, search->file.p);
		return false;
	}
	if (symbol->n >= ELFSYMBOL_NAME_MAX) {
		text_printf(why, "a name of a function has less than %d bytes here", ELFSYMBOL_NAME_MAX);
		return false;
	}
	return true;
}

/* Fills *uprobe with the breakpoint at an offset of the file fd. *uprobe then owns fd. */
static void set_breakpoint(struct uprobe *uprobe, int fd, uint64_t offset)
{
	struct text path = { 0 };

	text_printf(&path, "/proc/self/fd/%d", fd);
	text_char(&path, '\0');
	*uprobe = (struct uprobe){ .fd = fd, .offset = offset, .path = path.p };
}

bool uprobes_find(struct uprobe *uprobe, struct str spec, const uint32_t *pid, size_t npids,
		  const volatile sig_atomic_t *stop, struct text *why)
{
	struct str symbol;
	const struct uprobe_function function = { &symbol, 1 };
	struct search search = { .function = &function,
				 .nfunctions = 1,
				 .pid = pid,
				 .npids = npids,
				 .stop = stop,
				 .ms = PROBEHELPER_WAIT_S * 1000 };
	int fd;

	*uprobe = (struct uprobe){ .fd = -1 };
	if (!split(&search, spec, &symbol, why))
		return false;
	fd = search_in_helper(&search, helper_run, -1);
	if (fd < 0) {
		explain(why, &search);
		return false;
	}
	set_breakpoint(uprobe, fd, search.reply.offset[0]);
	uprobe->without = search.reply.without;
	uprobe->nwithout = search.reply.nwithout;
	return true;
}

bool uprobes_find_open(struct uprobe *uprobe, int file, const struct uprobe_file *what, struct text *why)
{
	struct search search = { .file = what->name,
				 .function = what->function,
				 .nfunctions = what->nfunctions,
				 .stop = what->stop,
				 .ms = what->ms };
	int fd = search_in_helper(&search, search_open_file, file), fds[UPROBES_FUNCTIONS_MAX];
	bool lacks = search.reply.problem == NO_SYMBOL &&
		     (search.reply.symbol == ELFSYMBOL_NONE || search.reply.symbol == ELFSYMBOL_EMPTY);

	if (fd >= 0)
		close(fd);
	if (lacks)
		text_str(why, what->lacks);
	else if (search.reply.problem != NO_PROBLEM)
		explain(why, &search);
	if (search.reply.problem != NO_PROBLEM)
		return false;
	for (size_t i = 0; i < what->nfunctions; i++) {
		fds[i] = fcntl(file, F_DUPFD_CLOEXEC, 0);
		if (fds[i] < 0) {
			text_printf(why, "it cannot be opened again: %s", strerror(errno));
			while (i > 0)
				close(fds[--i]);
			return false;
		}
	}
	for (size_t i = 0; i < what->nfunctions; i++)
		set_breakpoint(&uprobe[i], fds[i], search.reply.offset[i]);
	return true;
}

int uprobes_try(const struct perf_event_attr *attr)
{
	struct perf_event_attr plain = { .type = attr->type,
					 .size = sizeof(plain),
					 .config1 = attr->config1,
					 .config2 = attr->config2,
					 .sample_period = 1,
					 .disabled = 1 };
	int cpu = sched_getcpu();
	int fd = (int)syscall(SYS_perf_event_open, &plain, -1, cpu < 0 ? 0 : cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

bool uprobes_is_beside_file(int error)
{
	return error == EACCES || error == EPERM || error == EMFILE || error == ENFILE || error == ENOMEM ||
	       error == ENODEV;
}

void uprobes_free(struct uprobe *uprobe)
{
	if (uprobe->fd >= 0)
		close(uprobe->fd);
	free(uprobe->path);
	*uprobe = (struct uprobe){ .fd = -1 };
}
