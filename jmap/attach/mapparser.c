/* SPDX-License-Identifier: Apache-2.0 */
#include "jmap/attach/mapparser.h"

#include "common/process/helperprocess.h"
#include "common/process/sandbox.h"
#include "common/files/fullio.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* limit for the parser's address space in bytes, in addition to the address space of pjmap */
#define ADDRESS_SPACE ((uint64_t)1 << 30)
#define FILE_BYTES ((uint64_t)512 << 20)

enum { FD_MAP, FD_COUNTS, FDS, CPU_MS = 20000 };

struct counts {
	uint64_t bytes, lines, left_out;
};

struct work {
	struct str bytes;
	enum untrustedmap_names names;
	enum method_style read, style;
};

/* Runs in the sandboxed process: parses the map, and writes the parsed map and its counts to two files in memory
 * (FD_MAP, FD_COUNTS). Does not return. */
static void mapparser_parse(void *arg)
{
	const struct work *work = arg;
	const struct sandbox rights = { .groups = SANDBOX_DEADLINE,
					.address_space = helperprocess_memory() + ADDRESS_SPACE,
					.file_bytes = FILE_BYTES,
					.files = HELPERPROCESS_FD + FDS };
	struct codemap codemap = { 0 };
	struct text map = { 0 };
	struct counts counts;

	sandbox_enter(&rights);
	sandbox_deadline(CPU_MS);
	untrustedmap_read(&codemap, work->bytes, work->names, work->read);
	codemap_print(&codemap, work->style == METHOD_HOTSPOT, &map);
	counts = (struct counts){ map.n, codemap.n, codemap.left_out };
	if (fullio_write(HELPERPROCESS_FD + FD_MAP, text_view(&map)))
		fullio_write(HELPERPROCESS_FD + FD_COUNTS, (struct str){ (const char *)&counts, sizeof(counts) });
	/* _exit, because exit would run the exit handlers of pjmap in this child. */
	_exit(0);
}

static bool take_counts(struct mapparser_map *map, int fd)
{
	struct counts counts;

	if (fullio_pread(fd, &counts, sizeof(counts), 0) != sizeof(counts))
		return false;
	map->bytes = counts.bytes;
	map->lines = counts.lines;
	map->left_out = counts.left_out;
	return counts.lines > 0;
}

bool mapparser_run(struct mapparser_map *map, struct str bytes, enum untrustedmap_names names, enum method_style read,
		   enum method_style style)
{
	struct work work = { bytes, names, read, style };
	int fd[FDS] = { memfd_create("map", MFD_CLOEXEC), memfd_create("counts", MFD_CLOEXEC) };
	pid_t pid =
		fd[FD_MAP] >= 0 && fd[FD_COUNTS] >= 0 ?
			helperprocess_start(&(struct helperprocess){
				.name = "pjmap-parse", .fd = fd, .fds = FDS, .run = mapparser_parse, .to = &work }) :
			0;
	bool good;

	*map = (struct mapparser_map){ .fd = -1 };
	while (pid && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	good = pid && take_counts(map, fd[FD_COUNTS]);
	if (good)
		map->fd = fd[FD_MAP];
	else if (fd[FD_MAP] >= 0)
		close(fd[FD_MAP]);
	if (fd[FD_COUNTS] >= 0)
		close(fd[FD_COUNTS]);
	sandbox_warn(sandbox_reported());
	return good;
}
