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

#define ADDRESS_SPACE ((uint64_t)1 << 30) /* beside that of pjmap */
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

/* In the process. */
static void mapparser_parse(void *arg)
{
	const struct work *w = arg;
	const struct sandbox rights = { .groups = SANDBOX_DEADLINE,
					.address_space = helperprocess_memory() + ADDRESS_SPACE,
					.file_bytes = FILE_BYTES,
					.files = HELPERPROCESS_FD + FDS };
	struct codemap c = { 0 };
	struct text map = { 0 };
	struct counts counts;

	sandbox_enter(&rights);
	sandbox_deadline(CPU_MS);
	untrustedmap_read(&c, w->bytes, w->names, w->read);
	codemap_print(&c, w->style == METHOD_HOTSPOT, &map);
	counts = (struct counts){ map.n, c.n, c.left_out };
	if (fullio_write(HELPERPROCESS_FD + FD_MAP, text_view(&map)))
		fullio_write(HELPERPROCESS_FD + FD_COUNTS, (struct str){ (const char *)&counts, sizeof(counts) });
	_exit(0); /* here, and not in the caller: without its handlers */
}

static bool take_counts(struct mapparser_map *m, int fd)
{
	struct counts counts;

	if (fullio_pread(fd, &counts, sizeof(counts), 0) != sizeof(counts))
		return false;
	m->bytes = counts.bytes;
	m->lines = counts.lines;
	m->left_out = counts.left_out;
	return counts.lines > 0;
}

bool mapparser_run(struct mapparser_map *m, struct str bytes, enum untrustedmap_names names, enum method_style read,
		   enum method_style style)
{
	struct work w = { bytes, names, read, style };
	int fd[FDS] = { memfd_create("map", MFD_CLOEXEC), memfd_create("counts", MFD_CLOEXEC) };
	pid_t pid = fd[FD_MAP] >= 0 && fd[FD_COUNTS] >= 0 ?
			    helperprocess_start(&(struct helperprocess){
				    .name = "pjmap-parse", .fd = fd, .fds = FDS, .run = mapparser_parse, .to = &w }) :
			    0;
	bool good;

	*m = (struct mapparser_map){ .fd = -1 };
	while (pid && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	good = pid && take_counts(m, fd[FD_COUNTS]);
	if (good)
		m->fd = fd[FD_MAP];
	else if (fd[FD_MAP] >= 0)
		close(fd[FD_MAP]);
	if (fd[FD_COUNTS] >= 0)
		close(fd[FD_COUNTS]);
	sandbox_warn(sandbox_reported());
	return good;
}
