/* SPDX-License-Identifier: Apache-2.0 */
#include "record/renamer.h"

#include "common/diag.h"
#include "common/process/capabilities.h"
#include "common/process/helperprocess.h"
#include "common/process/sandbox.h"
#include "common/process/urgency.h"
#include "record/perf/privileges.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static const char kept_name[] = "perf.data", old_name[] = "perf.data.old";

enum { RENAMER_RENAME = 'n', RENAMER_REMOVE = 'r' };

/* Results of two steps, each 0 or an errno. kept: renaming perf.data to perf.data.old. done: renaming or removing the
 * file. */
struct renamer_result {
	int kept, done;
};

static struct renamer_result renamer_act(const struct renamer *renamer, bool complete)
{
	struct renamer_result result = { 0 };
	int folder = renamer->folder;

	if (!complete) {
		result.done = unlinkat(folder, renamer->part, 0) ? errno : 0;
		return result;
	}
	if (strcmp(renamer->name, kept_name) == 0 && renameat(folder, kept_name, folder, old_name) && errno != ENOENT)
		result.kept = errno;
	result.done = renameat(folder, renamer->part, folder, renamer->name) ? errno : 0;
	return result;
}

/* ---- functions of the helper process ---------------------------------------------------------------------------- */

/* Runs in the helper process. It does not keep CAP_FOWNER, so in a sticky folder, files of other users stay. */
static void renamer_run(void *to)
{
	static const char *const writable[] = { "/proc/self/fd/4", NULL };
	struct renamer renamer = *(struct renamer *)to;
	struct renamer_result result;
	struct capabilities has;
	char command;
	ssize_t got;

	renamer.folder = HELPERPROCESS_FD + 1;
	if (!capabilities_get(&has) || !capabilities_limit(has.permitted & CAPABILITY_BIT(PRIV_DAC_OVERRIDE)))
		return;
	sandbox_enter(&(struct sandbox){ .groups = SANDBOX_OPENER, .writable = writable, .keep_capabilities = true });
	do
		got = read(HELPERPROCESS_FD, &command, 1);
	while (got < 0 && errno == EINTR);
	if (got != 1 || (command != RENAMER_RENAME && command != RENAMER_REMOVE))
		return;
	result = renamer_act(&renamer, command == RENAMER_RENAME);
	if (write(HELPERPROCESS_FD, &result, sizeof(result)) < 0) {
		/* the recorder was killed, so no process receives the result */
	}
}

/* ---- functions of the recorder ---------------------------------------------------------------------------------- */

void renamer_start(struct renamer *renamer, int folder, const char *part, const char *name)
{
	int pair[2], fd[2];

	*renamer = (struct renamer){ .folder = folder, .part = part, .name = name, .socket = -1 };
	if (geteuid() != 0 && !privileges_has(PRIV_DAC_OVERRIDE))
		return;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return;
	fd[0] = pair[1];
	fd[1] = folder;
	renamer->pid = helperprocess_start(
		&(struct helperprocess){ "pjrecord-rename", fd, 2, URGENCY_USUAL, renamer_run, renamer });
	close(pair[1]);
	if (renamer->pid)
		renamer->socket = pair[0];
	else
		close(pair[0]);
}

/* Sends the command to the helper process, receives *result, and reaps the helper process. Returns false if no helper
 * process runs, or it has failed. */
static bool renamer_request(struct renamer *renamer, bool complete, struct renamer_result *result)
{
	char command = complete ? RENAMER_RENAME : RENAMER_REMOVE;
	ssize_t got = -1;

	if (!renamer->pid)
		return false;
	if (send(renamer->socket, &command, 1, MSG_NOSIGNAL) == 1)
		do
			got = read(renamer->socket, result, sizeof(*result));
		while (got < 0 && errno == EINTR);
	close(renamer->socket);
	while (waitpid(renamer->pid, NULL, 0) < 0 && errno == EINTR)
		;
	renamer->pid = 0;
	return got == sizeof(*result);
}

int renamer_finish(struct renamer *renamer, bool complete)
{
	struct renamer_result result;

	/* Does the step itself if the helper process failed. Without /proc, for example, the helper's sandbox allows no
	 * change. */
	if (!renamer_request(renamer, complete, &result) || result.done)
		result = renamer_act(renamer, complete);
	if (result.kept)
		warn("the former %s is not kept as %s: %s", kept_name, old_name, strerror(result.kept));
	return result.done;
}
