/* SPDX-License-Identifier: Apache-2.0 */
#include "record/perf/uprobes.h"

#include "common/arena.h"
#include "common/files/fullio.h"
#include "common/files/targetfile.h"
#include "record/perf/elfsymbol.h"
#include "common/process/fdmessage.h"
#include "common/process/helperprocess.h"
#include "common/process/sandbox.h"
#include "common/process/urgency.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define PMU_TYPE "/sys/bus/event_source/devices/uprobe/type"
#define WAIT_S 20                   /* longest wait for the helper process */
#define CPU_MS 10000                /* CPU time that it may use for symbols */
#define MEMORY ((uint64_t)1 << 30)  /* its address space in bytes: symbols and names of the largest files */
#define MAPS_MAX ((size_t)64 << 20) /* bytes of /proc/PID/maps */

enum problem {
	NO_PROBLEM,
	CANNOT_OPEN, /* error: errno */
	CANNOT_READ_PROCESS,
	NOT_MAPPED,
	REPLACED,
	DIFFERENT,
	NOT_ELF,
	NO_SYMBOL /* symbol: enum elfsymbol_answer */
};

/* Result of the helper process. Its numbers come from a process that has read a hostile file. */
struct reply {
	int32_t problem, error, symbol;
	uint32_t pid;
	uint64_t offset, size;
	char similar[ELFSYMBOL_SIMILAR];
};

struct search {
	struct str file, symbol;
	const uint32_t *pid;
	size_t npids;
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

/* A mapping, as a line of /proc/PID/maps shows it. */
struct mapping {
	struct str range, file_id, path;
	bool deleted;
};

static struct mapping parse_mapping(struct str line)
{
	static const struct str deleted = { " (deleted)", 10 };
	struct mapping mapping = { .range = str_cut(&line, ' ') };

	str_cut(&line, ' ');
	str_cut(&line, ' ');
	mapping.file_id = line;
	str_cut(&line, ' ');
	str_cut(&line, ' ');
	mapping.file_id.n -= line.n;
	mapping.path = str_trim_left(line);
	mapping.deleted = str_ends(mapping.path, deleted);
	if (mapping.deleted)
		mapping.path.n -= deleted.n;
	return mapping;
}

/* Finds the first mapping of a file with this name in the text of /proc/PID/maps. */
static bool find_mapping(struct str maps, struct str name, struct mapping *mapping)
{
	while (maps.n) {
		struct str path;

		*mapping = parse_mapping(str_cut(&maps, '\n'));
		path = mapping->path;
		if (path.n > name.n && path.p[0] == '/' && path.p[path.n - name.n - 1] == '/' && str_ends(path, name))
			return true;
	}
	return false;
}

/* Returns an address without the zeros with which maps pads it to 8 digits; names in map_files have none. */
static struct str unpadded(struct str address)
{
	while (address.n > 1 && address.p[0] == '0')
		address = str_from(address, 1);
	return address;
}

/* Opens a mapped file: the mapping itself, or, without the right to that, its path below the root of the process. */
static int open_mapping(struct search *search, uint32_t pid, const struct mapping *mapping)
{
	struct text path = { 0 };
	struct str begin, end;
	int fd, root;

	end = mapping->range;
	begin = unpadded(str_cut(&end, '-'));
	end = unpadded(end);
	text_printf(&path, "/proc/%" PRIu32 "/map_files/%.*s-%.*s", pid, (int)begin.n, begin.p, (int)end.n, end.p);
	text_char(&path, '\0');
	fd = targetfile_reopen(open(path.p, O_PATH | O_CLOEXEC));
	text_free(&path);
	if (fd >= 0)
		return fd;
	if (mapping->deleted) {
		search->reply.problem = REPLACED;
		return -1;
	}
	root = targetfile_root((pid_t)pid);
	fd = root < 0 ? -1 : targetfile_open(root, mapping->path, true);
	search->reply.problem = fd < 0 ? CANNOT_OPEN : NO_PROBLEM;
	search->reply.error = errno;
	if (root >= 0)
		close(root);
	return fd;
}

/* Opens the file of that name that the processes have mapped. Returns -1 and sets the reply on failure: also if they
 * have mapped different files. */
static int open_mapped(struct search *search)
{
	struct text id = { 0 };
	int fd = -1;

	search->reply.problem = NOT_MAPPED;
	for (size_t i = 0; i < search->npids; i++) {
		struct text maps = { 0 };
		struct mapping mapping;
		char path[48];

		search->reply.pid = search->pid[i];
		snprintf(path, sizeof(path), "/proc/%" PRIu32 "/maps", search->pid[i]);
		if (!fullio_read_at(AT_FDCWD, path, &maps, MAPS_MAX)) {
			search->reply.error = errno;
			search->reply.problem = CANNOT_READ_PROCESS;
		} else if (find_mapping(text_view(&maps), search->file, &mapping)) {
			if (id.n && !str_eq(text_view(&id), mapping.file_id)) {
				search->reply.problem = DIFFERENT;
			} else if (!id.n) {
				text_str(&id, mapping.file_id);
				search->reply.problem = NO_PROBLEM;
				fd = open_mapping(search, search->pid[i], &mapping);
			}
		}
		text_free(&maps);
		if (search->reply.problem != NO_PROBLEM && search->reply.problem != NOT_MAPPED)
			break;
	}
	text_free(&id);
	return fd;
}

static int open_by_path(struct search *search)
{
	struct text path = { 0 };
	int fd;

	text_str(&path, search->file);
	text_char(&path, '\0');
	fd = targetfile_reopen(open(path.p, O_PATH | O_CLOEXEC));
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
		search->reply.symbol = elfsymbol_find(&elfhead, search->symbol, &symbol);
		search->reply.problem = search->reply.symbol == ELFSYMBOL_FOUND ? NO_PROBLEM : NO_SYMBOL;
		search->reply.offset = symbol.offset;
		search->reply.size = symbol.size;
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

/* Runs the search in a helper process. Returns the descriptor of the file, or -1; false in *answered if the process
 * gave no answer: it was ended for its limits, or a file system does not respond. */
static int search_in_helper(struct search *search, bool *answered)
{
	struct timeval limit = { .tv_sec = WAIT_S };
	int pair[2], fd = -1;
	pid_t pid;

	*answered = false;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -1;
	pid = helperprocess_start(
		&(struct helperprocess){ "pjrecord-probe", &pair[1], 1, URGENCY_USUAL, helper_run, search });
	close(pair[1]);
	if (pid && setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) == 0)
		*answered = fdmessage_receive(pair[0], &search->reply, sizeof(search->reply), &fd, 0) > 0;
	close(pair[0]);
	if (pid) {
		kill(pid, SIGKILL);
		/* does not wait for a process that is blocked by a file system: init reaps it */
		waitpid(pid, NULL, *answered ? 0 : WNOHANG);
	}
	search->reply.similar[sizeof(search->reply.similar) - 1] = '\0';
	return fd;
}

/* ---- messages ------------------------------------------------------------------------------------------------- */

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

/* Splits "FILE:SYMBOL+OFFSET" at the last colon and plus. Returns false and appends a sentence on a wrong form. */
static bool split(struct search *search, struct str spec, uint64_t *offset, struct text *why)
{
	ptrdiff_t colon = str_rfind(spec, ':'), plus;

	if (colon <= 0 || (size_t)colon + 1 == spec.n) {
		text_add(why, "use uprobe:FILE:FUNCTION, such as uprobe:/bin/bash:readline");
		return false;
	}
	search->file = str_head(spec, (size_t)colon);
	search->symbol = str_from(spec, (size_t)colon + 1);
	plus = str_rfind(search->symbol, '+');
	*offset = 0;
	if (plus > 0) {
		struct str number = str_from(search->symbol, (size_t)plus + 1);

		if (str_starts(number, STR("0x")) ? !str_hex(str_from(number, 2), offset) : !str_u64(number, offset)) {
			text_printf(why, "the offset '%.*s' must be a number of bytes, such as 16 or 0x10",
				    (int)number.n, number.p);
			return false;
		}
		search->symbol = str_head(search->symbol, (size_t)plus);
	}
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

bool uprobes_find(struct uprobe *uprobe, struct str spec, const uint32_t *pid, size_t npids, struct text *why)
{
	struct search search = { .pid = pid, .npids = npids };
	uint64_t offset;
	bool answered;
	struct text path = { 0 };

	*uprobe = (struct uprobe){ .fd = -1 };
	if (!split(&search, spec, &offset, why))
		return false;
	uprobe->fd = search_in_helper(&search, &answered);
	if (!answered)
		text_printf(
			why,
			"symbols of '%.*s' cannot be read within %d s: its file system does not respond, or it is too large",
			(int)search.file.n, search.file.p, WAIT_S);
	else if (uprobe->fd < 0)
		explain(why, &search);
	else if (offset && offset >= search.reply.size)
		text_printf(why, "+%" PRIu64 " is beyond '%.*s', which has %" PRIu64 " bytes", offset,
			    (int)search.symbol.n, search.symbol.p, search.reply.size);
	else if (__builtin_add_overflow(search.reply.offset, offset, &uprobe->offset))
		text_add(why, "the offset is beyond the file");
	if (why->n)
		return false;
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
