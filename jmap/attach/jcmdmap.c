/* SPDX-License-Identifier: Apache-2.0 */
#include "jmap/attach/jcmdmap.h"

#include "jmap/attach/agentimage.h"
#include "jmap/attach/attach.h"
#include "common/clocks.h"
#include "common/files/targetfile.h"
#include "jmap/reader/jvmhandle.h"
#include "jmap/attach/replies.h"
#include "common/process/taskwait.h"
#include "common/files/fullio.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

/* first JDK version with the command Compiler.perfmap: JDK-8254723 */
#define PERFMAP_SINCE 17
/* first JDK version in which Compiler.perfmap accepts a file name: JDK-8314029 */
#define PERFMAP_NAME_SINCE 22
/* time in seconds after which the child process of one job is killed; a job has at most two requests, with the time
 * limits of attach.h */
#define JOB_SECONDS 60

/* ---- method jcmd, in the child process --------------------------------------------------------------------------- */

static struct hotspot_reason cannot_make(void)
{
	int error = errno;

	return guest_reason(error == EROFS                     ? "ro-tmp" :
			    error == ENOSPC || error == EDQUOT ? "full" :
								 "refused",
			    "cannot create a file in its /tmp: %s", strerror(error));
}

/* Opens the file to which the JVM will write its map, and stores its name in `name`. major: version of the JDK. From
 * JDK 22 on, this is a new file; before, it is the JVM's own perf-PID.map, which must not be a link and is created if
 * there is none. Sets *made to true if the file did not exist, otherwise to false. Returns a descriptor, or -1 and
 * *reason. */
static int prepare_file(const struct targetuser *user, uint64_t major, char name[TARGETUSER_NAME], bool *made,
			struct hotspot_reason *reason)
{
	bool there = false;
	int fd;

	*made = true;
	if (major >= PERFMAP_NAME_SINCE) {
		fd = targetuser_create(user, name, ".map", 0600);
	} else {
		snprintf(name, TARGETUSER_NAME, "perf-%d.map", (int)user->inner);
		if (!targetuser_is_own(user, name, &there)) {
			*reason = guest_reason("in-the-way",
					       "%s in its /tmp is not a regular file of its user: it would write there",
					       name);
			return -1;
		}
		*made = !there;
		fd = openat(user->tmp, name,
			    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | (there ? 0 : O_CREAT | O_EXCL), 0600);
	}
	if (fd < 0)
		*reason = cannot_make();
	return fd;
}

/* Checks the file that the JVM wrote and appends its content to `out`. Returns a reason with code NULL on success. */
static struct hotspot_reason read_back(int fd, struct text *out)
{
	struct stat status;

	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) || status.st_nlink > 1)
		return guest_reason("in-the-way", "its map is no longer a regular file");
	if ((uint64_t)status.st_size > UNTRUSTEDMAP_MOST_BYTES)
		return guest_reason("bad-reply", "its map has %lld bytes", (long long)status.st_size);
	if (lseek(fd, 0, SEEK_SET) < 0 || !fullio_read(fd, out, UNTRUSTEDMAP_MOST_BYTES))
		return guest_reason("bad-reply", "its map cannot be read: %s", strerror(errno));
	if (out->n == 0)
		return guest_reason("no-map",
				    "it wrote nothing, without a reason: the disk is full, or it has no permission");
	if (out->p[out->n - 1] != '\n')
		return guest_reason("full", "its map is truncated: the disk is full");
	return targetuser_fine();
}

static struct hotspot_reason query_perfmap(const struct targetuser *user, void *arg, struct text *out)
{
	struct text reply = { 0 };
	char name[TARGETUSER_NAME], command[128], line[100];
	uint64_t major;
	int status, fd;
	bool made;
	struct hotspot_reason reason =
		attach_query(user, (const char *const[4]){ "jcmd", "VM.version" }, &reply, &status);

	(void)arg;
	if (reason.code)
		return reason;
	if (!replies_major(text_view(&reply), &major))
		return guest_reason("bad-reply", "its version is unknown");
	if (major < PERFMAP_SINCE)
		return guest_reason("too-old", "JDK %llu cannot write its map (17 and later can): use --method=agent",
				    (unsigned long long)major);
	fd = prepare_file(user, major, name, &made, &reason);
	if (fd < 0)
		return reason;
	snprintf(command, sizeof(command),
		 major >= PERFMAP_NAME_SINCE ? "Compiler.perfmap /tmp/%s" : "Compiler.perfmap", name);
	reply.n = 0;
	reason = attach_query(user, (const char *const[4]){ "jcmd", command }, &reply, &status);
	if (!reason.code && status != 0) {
		replies_first_line(text_view(&reply), line);
		reason = guest_reason("refused", "it answers: %s", line);
	}
	if (!reason.code)
		reason = read_back(fd, out);
	if (made)
		unlinkat(user->tmp, name, 0);
	close(fd);
	text_free(&reply);
	return reason;
}

/* ---- method agent, in the child process -------------------------------------------------------------------------- */

static bool write_agent(int fd)
{
	return fullio_write(fd, (struct str){ agentimage_begin, (size_t)agentimage_bytes });
}

/* Assesses the reply to "load". status: number in the first line of the response; reply: its rest, which is "0" or
 * "return code: 0" on success. Returns a reason with code NULL on success, otherwise with the error message of the
 * reply. */
static struct hotspot_reason assess_load(struct str reply, int status)
{
	char line[100];

	replies_first_line(reply, line);
	if (replies_loaded(reply, status))
		return targetuser_fine();
	return guest_reason("refused", "the agent was not loaded, or failed: %s", line);
}

#define AGENT_END "# end\n"

static struct hotspot_reason load_agent(const struct targetuser *user, const char *library, const char *map, int fd,
					struct text *out)
{
	char path[80], options[80];
	struct text reply = { 0 };
	struct hotspot_reason reason;
	int status;

	snprintf(path, sizeof(path), "/tmp/%s", library);
	snprintf(options, sizeof(options), "/tmp/%s", map);
	reason = attach_query(user, (const char *const[4]){ "load", path, "true", options }, &reply, &status);
	if (!reason.code)
		reason = assess_load(text_view(&reply), status);
	if (!reason.code)
		reason = read_back(fd, out);
	if (!reason.code && !str_ends(text_view(out), STR(AGENT_END)))
		reason = guest_reason("full", "its map is truncated: the disk is full");
	text_free(&reply);
	return reason;
}

static struct hotspot_reason query_agent(const struct targetuser *user, void *arg, struct text *out)
{
	char library[TARGETUSER_NAME], map[TARGETUSER_NAME];
	struct hotspot_reason reason;
	struct statvfs filesystem;
	int so, fd;

	(void)arg;
	if (agentimage_bytes == 0)
		return guest_reason("refused", "no agent exists for this processor");
	if (fstatvfs(user->tmp, &filesystem) == 0 && (filesystem.f_flag & ST_NOEXEC))
		return guest_reason("noexec-tmp", "its /tmp is mounted noexec, so no library can be loaded from there");
	so = targetuser_create(user, library, ".so", 0700);
	if (so < 0)
		return cannot_make();
	fd = targetuser_create(user, map, ".map", 0600);
	if (fd >= 0 && write_agent(so))
		reason = load_agent(user, library, map, fd, out);
	else
		reason = cannot_make();
	unlinkat(user->tmp, library, 0);
	close(so);
	if (fd >= 0) {
		unlinkat(user->tmp, map, 0);
		close(fd);
	}
	return reason;
}

/* ---- checks and requests, in pjmap ------------------------------------------------------------------------------- */

static struct hotspot_reason jcmdmap_check_target(const struct targetuser *user, const struct jvm_process *process,
						  enum jcmdmap_method method)
{
	struct read_answer answer;
	struct hotspot_reason reason = jvmhandle_once(process, READ_LAYOUT, METHOD_JAVA, &answer, NULL),
			      none = targetuser_fine();
	uint64_t major = 0;
	size_t n = 0;

	/* For a JVM other than HotSpot, the failed read is the result of the check. For HotSpot it is ignored: users
	 * select jcmd or agent usually because the JVM's memory cannot be read. The version and flags that were read
	 * before the failure are used. */
	if (process->kind != JVM_HOTSPOT)
		none = reason;
	while (byte_is_digit(answer.version[n]))
		n++;
	/* HotSpot of JDK 8 has version numbers of its own, such as 25.504-b01: "-b" identifies JDK 8. */
	if (strstr(answer.version, "-b"))
		major = 8;
	else if (!str_u64((struct str){ answer.version, n }, &major))
		/* The version is unknown: this check passes, because the JVM will report its version to the request. */
		major = PERFMAP_SINCE;
	if (!none.code && method == JCMDMAP_JCMD && major < PERFMAP_SINCE)
		none = guest_reason("too-old", "JDK %llu cannot write its map (17 and later can): use --method=agent",
				    (unsigned long long)major);
	if (!none.code)
		none = attach_check(user, answer.refuses_attach);
	return none;
}

struct hotspot_reason jcmdmap_check(const struct jvm_process *process, enum jcmdmap_method method)
{
	struct targetuser user;
	struct hotspot_reason reason = targetuser_enter(&user, process);

	if (!reason.code)
		reason = jcmdmap_check_target(&user, process, method);
	targetuser_leave(&user);
	return reason;
}

struct hotspot_reason jcmdmap_map(struct mapparser_map *map, const struct jvm_process *process,
				  enum jcmdmap_method method, enum method_style style)
{
	struct targetuser user;
	struct text bytes = { 0 };
	struct hotspot_reason reason = targetuser_enter(&user, process);

	*map = (struct mapparser_map){ .fd = -1 };
	if (!reason.code)
		reason = jcmdmap_check_target(&user, process, method);
	if (!reason.code)
		reason = guest_do(&user, method == JCMDMAP_JCMD ? query_perfmap : query_agent, NULL, JOB_SECONDS,
				  UNTRUSTEDMAP_MOST_BYTES, &bytes);
	if (!reason.code &&
	    !mapparser_run(map, text_view(&bytes), method == JCMDMAP_JCMD ? UNTRUSTEDMAP_PERFMAP : UNTRUSTEDMAP_AGENT,
			   style, style))
		reason = guest_reason("bad-reply", "its map has no valid line");
	text_free(&bytes);
	targetuser_leave(&user);
	return reason;
}

/* ---- maps that a JVM maintains itself -------------------------------------------------------------------------- */

/* Returns true if the file was modified after the process started, with a tolerance of 2 s. An older file belongs to an
 * earlier process with the same pid. start: start time of the process in clock ticks since boot. */
static bool is_younger(const struct stat *status, uint64_t start)
{
	uint64_t boot = clock_wall() / SECOND_NS - clock_since_boot() / SECOND_NS;
	time_t began = (time_t)(boot + start / (uint64_t)sysconf(_SC_CLK_TCK));

	return status->st_mtime + 2 >= began;
}

static const char *open_own(const struct jvm_process *process, int *fd, struct stat *status)
{
	char name[40];
	int root = taskwait_folder(process->folder, "root"), tmp = root < 0 ? -1 : targetfile_folder(root, STR("tmp"));

	snprintf(name, sizeof(name), "perf-%d.map", (int)process->inner);
	*fd = tmp < 0 ? -1 : targetfile_open(tmp, str_of(name), false);
	if (tmp >= 0)
		close(tmp);
	if (root >= 0)
		close(root);
	if (*fd < 0)
		return "it writes no map";
	/* Refuses the map of another user, except a map of root that all users may read. A map that only root may read
	 * may describe another process, since a process can choose its pid in its own PID namespace: it must not be
	 * shown to this JVM's user. */
	if (fstat(*fd, status) < 0 || status->st_nlink != 1 ||
	    (status->st_uid != process->uid && (status->st_uid != 0 || !(status->st_mode & S_IROTH))))
		return "the map in its /tmp belongs to another user";
	if (!is_younger(status, process->start))
		return "the map in its /tmp is older than the process";
	if ((uint64_t)status->st_size > UNTRUSTEDMAP_MOST_BYTES)
		return "its map is too large";
	return NULL;
}

bool jcmdmap_own(struct mapparser_map *map, const struct jvm_process *process, const char *same_as, bool *same,
		 enum method_style style, const char **why)
{
	struct text bytes = { 0 };
	struct stat status, other;
	int fd;

	*map = (struct mapparser_map){ .fd = -1 };
	*same = false;
	*why = open_own(process, &fd, &status);
	if (!*why && !fullio_read(fd, &bytes, UNTRUSTEDMAP_MOST_BYTES))
		*why = "its map cannot be read";
	if (!*why) {
		*same = same_as && lstat(same_as, &other) == 0 && other.st_dev == status.st_dev &&
			other.st_ino == status.st_ino;
		while (bytes.n && bytes.p[bytes.n - 1] != '\n')
			/* Drops an incomplete last line, because the JVM is still writing it. */
			bytes.n--;
		if (!mapparser_run(map, text_view(&bytes), UNTRUSTEDMAP_AS_IS, METHOD_JAVA, style))
			*why = "its map has no valid line";
	}
	if (fd >= 0)
		close(fd);
	text_free(&bytes);
	return *why == NULL;
}
