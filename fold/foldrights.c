/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/foldrights.h"

#include "common/filter/confine.h"
#include "fold/opener/fileopener.h"
#include "fold/symbols/samehost.h"
#include "common/filter/in.h"
#include "fold/kernel/kallcache.h"
#include "common/files/fullio.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bits for files that pjfold writes besides its output. NEEDS_CACHE: cache file of kernel symbols. NEEDS_SPOOL: a
 * temporary file for input that is not seekable. */
enum needs { NEEDS_CACHE = 1, NEEDS_SPOOL = 2 };

/* Returns the bits of enum needs for the input at `path`. perf.data needs the cache of kernel symbols. Input that may
 * be perf.data but is not seekable (pipe, gzip) needs a temporary file, too. */
static unsigned needs_of(const char *path)
{
	unsigned char magic[8] = { 0 };
	struct stat status;
	int fd;

	if (!path || strcmp(path, "-") == 0 || stat(path, &status) < 0 || !S_ISREG(status.st_mode))
		return NEEDS_CACHE | NEEDS_SPOOL;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return 0;
	fullio_pread(fd, magic, sizeof(magic), 0);
	close(fd);
	/* gzip: the compressed input may be perf.data. */
	if (magic[0] == 0x1f && magic[1] == 0x8b)
		return NEEDS_CACHE | NEEDS_SPOOL;
	return memcmp(magic, "PERFILE2", sizeof(magic)) == 0 ? NEEDS_CACHE : 0;
}

static unsigned needs_of_all(char *const *paths)
{
	unsigned needs = paths[0] ? 0 : NEEDS_CACHE | NEEDS_SPOOL;

	for (; paths[0]; paths++)
		needs |= needs_of(paths[0]);
	return needs;
}

void foldrights_give_up(const struct request *request, char *const *paths)
{
	unsigned needs = needs_of_all(paths);
	char *cache;

	/* Only perf.data needs the helper that opens files: text refers to no other files. */
	if (needs)
		fileopener_start(request->unprivileged);
	cache = needs & NEEDS_CACHE ? kallcache_prepare() : NULL;
	samehost_prepare();
	confine(&(struct confine){ .input = paths,
				   .file = { request->recording.kallsyms, request->threads_file },
				   .output = { request->out },
				   .folder = { cache, needs & NEEDS_SPOOL ? in_spool_folder() : NULL },
				   .reads_others = needs,
				   .threads = request->threads > 1,
				   .unprivileged = request->unprivileged });
	free(cache);
}
