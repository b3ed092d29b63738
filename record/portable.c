/* SPDX-License-Identifier: Apache-2.0 */
#include "record/portable.h"

#include "common/files/listing.h"
#include "common/diag.h"
#include "common/process/capabilities.h"
#include "common/process/program.h"
#include "common/process/urgency.h"
#include "common/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* maximum depth of nested folders that are removed: the depth of a symbol store, symbols/tenants/TENANT/.build-id/xx */
#define DEPTH_MAX 6

/* ---- folder with the symbols ------------------------------------------------------------------------------------ */

/* Removes the folder `name` in the folder with descriptor `folder`, and its content. Does not follow links. */
static void portable_remove(int folder, const char *name, unsigned depth)
{
	DIR *dir = listing_take(openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
	const struct dirent *entry;

	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (unlinkat(dirfd(dir), entry->d_name, 0) && depth < DEPTH_MAX)
			portable_remove(dirfd(dir), entry->d_name, depth + 1);
	}
	closedir(dir);
	unlinkat(folder, name, AT_REMOVEDIR);
}

static void portable_free(struct portable *portable)
{
	free(portable->program);
	free(portable->symbols);
	free(portable->name);
	*portable = (struct portable){ 0 };
}

void portable_find(struct portable *portable)
{
	*portable = (struct portable){ .program = program_find("pjpack") };
	if (!portable->program)
		die("--portable: pjpack is neither beside pjrecord nor in PATH");
}

/* Returns true if pjpack, with the rights of this process, may not replace the recording. In a sticky folder, such as
 * /tmp, only the owner of the folder or of the file may. Root may have created the file before it became another user,
 * who then is not the owner. */
static bool is_sticky(const struct single *single)
{
	struct stat folder, file;

	return fstat(single->place.folder, &folder) == 0 && fstat(single->fd, &file) == 0 && folder.st_mode & S_ISVTX &&
	       folder.st_uid != geteuid() && file.st_uid != geteuid();
}

void portable_begin(struct portable *portable, struct single *single, bool verbose)
{
	const struct outpath *place = &single->place;
	struct text text = { 0 }, path = { 0 };
	char link[64], real[4096];
	ssize_t got;

	portable->single = single;
	portable->verbose = verbose;
	if (!single->part)
		die("--portable: '%s' is no regular file, and pjpack reads the recording again", single->path);
	text_printf(&text, ".%s.symbols%c", place->name, 0);
	portable->name = text.p;
	portable_remove(place->folder, portable->name, 0);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", place->folder);
	got = readlink(link, real, sizeof(real));
	bool sticky = is_sticky(single);
	if (sticky || got < 0 || (size_t)got >= sizeof(real) || mkdirat(place->folder, portable->name, 0700)) {
		int error = sticky ? EPERM : errno;

		single_abandon(single);
		if (error == EACCES || error == EPERM)
			die("--portable: pjrecord gives up the right to write to the folder of '%s': name a file in a folder "
			    "to which user %lu may write without it",
			    single->path, (unsigned long)geteuid());
		errno = error;
		die_errno("cannot create the directory '%s' for symbols", portable->name);
	}
	text_printf(&path, "%.*s/%s%c", (int)got, real, portable->name, 0);
	portable->symbols = path.p;
}

/* ---- execution of pjpack ---------------------------------------------------------------------------------------- */

/* Passes the capabilities of this process to the program that it executes next. Without this, the program would have no
 * capabilities, as the recorder gave up the right to gain them by exec. */
static void portable_pass_capabilities(void)
{
	struct capabilities capabilities;

	if (!capabilities_get(&capabilities))
		return;
	capabilities.inheritable = capabilities.permitted;
	if (!capabilities_set(&capabilities))
		return;
	for (unsigned long cap = 0; cap < 64; cap++)
		if (capabilities.permitted & CAPABILITY_BIT(cap))
			prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0);
}

static NORETURN void portable_exec(const struct portable *portable)
{
	char *part = portable->single->part;
	char *argv[] = { portable->program,
			 portable->verbose ? (char[]){ "-v" } : (char[]){ "-q" },
			 (char[]){ "--symbol-store" },
			 portable->symbols,
			 (char[]){ "-o" },
			 part,
			 (char[]){ "--" },
			 part,
			 NULL };

	urgency_lower(URGENCY_USUAL);
	portable_pass_capabilities();
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	if (fchdir(portable->single->place.folder) == 0)
		execv(argv[0], argv);
	_exit(127);
}

bool portable_pack(struct portable *portable)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0)
		portable_exec(portable);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	portable_remove(portable->single->place.folder, portable->name, 0);
	portable_free(portable);
	if (pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return true;
	warn("the recording is not portable, as pjpack failed: pack it on this host with pjpack -o FILE FILE");
	return false;
}

void portable_abandon(struct portable *portable)
{
	portable_remove(portable->single->place.folder, portable->name, 0);
	portable_free(portable);
}
