/* SPDX-License-Identifier: Apache-2.0 */
#include "record/symsaver/saverfiles.h"

#include "common/files/publicfile.h"
#include "common/files/targetfile.h"
#include "record/symsaver/savernames.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static void saverfiles_count(struct saverfiles *files, enum saver_count what, uint64_t n)
{
	atomic_fetch_add_explicit(&files->shared->count[what], n, memory_order_relaxed);
}

static enum symsaver_reason why_errno(int error)
{
	switch (error) {
	case ESTALE: return SYMSAVER_OTHER;
	case EACCES:
	case EPERM:
	case EMFILE:
	case ENFILE: return SYMSAVER_FORBIDDEN;
	case EINVAL:
	case ELOOP: return SYMSAVER_NOT_ELF;
	default: return SYMSAVER_GONE;
	}
}

enum symsaver_reason saverfiles_reason(enum symparser_answer answer)
{
	static const uint8_t why[] = { [SYMPARSER_NOT_ELF] = SYMSAVER_NOT_ELF,   [SYMPARSER_LARGE] = SYMSAVER_LARGE,
				       [SYMPARSER_CANNOT_WRITE] = SYMSAVER_DISK, [SYMPARSER_HUNG] = SYMSAVER_HUNG,
				       [SYMPARSER_CRASHED] = SYMSAVER_NOT_ELF,   [SYMPARSER_OFF] = SYMSAVER_SLOW };

	return (enum symsaver_reason)why[answer];
}

/* Reports the build-id of a mapped file to the recorder, unless the mapping already has one or the id is shorter than 2
 * bytes. */
static void report_build_id(struct saverfiles *files, const struct target_mapping *mapping, struct build_id id)
{
	struct pj_build_id found = { .file_id = mapping->file_id, .build_id = id };

	if (mapping->build_id.n || id.n < 2)
		return;
	saverids_put(&files->shared->found, &found);
}

struct tenant saverfiles_owner(const struct saver_message *message)
{
	struct tenant tenant = message->process.of;

	if (tenant.kind == TENANT_UNKNOWN && message->process.mount_ns)
		tenant = (struct tenant){ TENANT_MOUNT_NS, message->process.mount_ns };
	return tenant;
}

/* Selects the parser for a file. trusted: true: the file is one of root. A file of a tenant may take over its parser,
 * so the results of that parser are used for the tenant only. Results for files of root are used for all tenants, so
 * these files have their own parser. */
static void choose_parser(struct saverfiles *files, const struct saver_message *message, bool trusted)
{
	static const struct tenant host = { TENANT_UNKNOWN, 0 };
	struct tenant tenant = trusted ? host : saverfiles_owner(message);

	symhelper_for(&files->parser, &tenant);
}

static struct build_id saverfiles_read_build_id(struct saverfiles *files, const struct saver_message *message, int fd)
{
	choose_parser(files, message, savernames_trusted(message, fd));
	return symhelper_build_id(&files->parser, fd);
}

/* Argument `to` of targetfiles_verifier.is_build: state of this module, and the message that names the mapped file to
 * find. */
struct assessed {
	struct saverfiles *files;
	const struct saver_message *message;
};

static bool saverfiles_is_build(void *to, int fd, const struct build_id *id)
{
	const struct assessed *assessed = to;
	struct build_id found = saverfiles_read_build_id(assessed->files, assessed->message, fd);

	return build_id_equal(&found, id);
}

static int saverfiles_open_mapped(struct saverfiles *files, const struct saver_message *message, int root, int process)
{
	struct assessed assessed = { files, message };

	return targetfiles_open(root, process, &message->mapping,
				&(struct targetfiles_verifier){ saverfiles_is_build, &assessed });
}

bool saverfiles_are_saved(struct saverfiles *files, const struct saver_message *message)
{
	struct tenant tenant = saverfiles_owner(message);
	char path[SAVERDIR_PATH];
	int fd;

	if (!savernames_find(files->dir, message, path))
		return false;
	fd = message->mapping.build_id.n ? -1 : saverdir_read(files->dir, path);
	if (fd < 0)
		return true;
	symhelper_enter(&files->parser, &tenant, 0);
	choose_parser(files, message, !str_starts(str_of(path), STR("tenants/")));
	report_build_id(files, &message->mapping, symhelper_build_id(&files->parser, fd));
	close(fd);
	return true;
}

/* Makes the parser reduce the file fd or, if fd is -1, the program in memory `mem`, whose file starts at virtual
 * address `base`. Saves the result under its names. Returns -1 if the result is saved, otherwise an enum
 * symsaver_reason. */
static int reduce_and_keep(struct saverfiles *files, const struct saver_message *message, int fd, int mem,
			   uint64_t base)
{
	struct saverdir_file file = { .fd = -1 };
	enum symparser_answer answer;
	struct symparser_reply reply;
	bool conflict = false, trusted = fd >= 0 && savernames_trusted(message, fd);
	int why = -1;

	if (!saverdir_begin(files->dir, &file))
		return SYMSAVER_DISK;
	choose_parser(files, message, trusted);
	answer = fd >= 0 ? symhelper_reduce(&files->parser, fd, file.fd, files->largest, &reply) :
			   symhelper_reduce_memory(&files->parser, mem, base, file.fd, files->largest, &reply);
	if (answer != SYMPARSER_DONE)
		why = (int)saverfiles_reason(answer);
	if (why < 0 && message->mapping.build_id.n > 1)
		reply.build_id = message->mapping.build_id;
	if (why < 0)
		report_build_id(files, &message->mapping, reply.build_id);
	if (why < 0 && !reply.names)
		why = SYMSAVER_NOT_ELF;
	if (why < 0 && !savernames_commit(files->dir, message, &file, &reply.build_id, trusted, &conflict))
		why = SYMSAVER_DISK;
	saverdir_discard(files->dir, &file);
	saverfiles_count(files, COUNT_CONFLICTS, conflict);
	return why;
}

/* Reads the build-id of the file fd. Returns true if a file with that build-id is saved already, and then gives the
 * saved file the name by file_id, too. Returns false if the mapping has a build-id: then saverfiles_are_saved has
 * looked up that id. */
static bool is_saved_elsewhere(struct saverfiles *files, const struct saver_message *message, int fd)
{
	struct build_id id;

	if (message->mapping.build_id.n > 1)
		return false;
	id = saverfiles_read_build_id(files, message, fd);
	report_build_id(files, &message->mapping, id);
	return savernames_find_id(files->dir, message, &id);
}

/* Opens the mapped file, or the memory of its process, and saves a reduced copy. root: descriptor of the root directory
 * for its path; -1: unknown. Returns -1 if a copy is saved, otherwise an enum symsaver_reason. */
static int keep_binary(struct saverfiles *files, const struct saver_message *message, int process, int root)
{
	uint64_t base = 0;
	int error, why, mem = -1, fd = saverfiles_open_mapped(files, message, root, process);

	error = errno;
	if (fd >= 0 && is_saved_elsewhere(files, message, fd)) {
		close(fd);
		return -1;
	}
	if (fd < 0 && process >= 0 && error != EINVAL)
		mem = targetfiles_memory(process, &message->mapping, &base);
	if (fd < 0 && mem < 0)
		return (int)why_errno(error);
	why = reduce_and_keep(files, message, fd, mem, base);
	close(fd >= 0 ? fd : mem);
	if (why < 0)
		saverfiles_count(files, COUNT_BINARIES, 1);
	return why;
}

/* Returns true for paths of packages, such as /usr/lib: pjfold finds their files later if it may read them, so these
 * need no copy. A file of a package stays until a new version replaces it. It is stripped, so the memory of a process
 * that still runs the old version has all names that the file had. Files elsewhere were built on this host and will be
 * built again, so false is returned for them. */
static bool will_stay(struct str path)
{
	static const struct str roots[] = { STR("/usr/"), STR("/lib"),  STR("/bin/"), STR("/sbin/"),
					    STR("/opt/"), STR("/nix/"), STR("/snap/") };

	for (size_t i = 0; i < countof(roots); i++)
		if (str_starts(path, roots[i]) && !str_starts(path, STR("/usr/local/")))
			return true;
	return false;
}

/* Returns true if this host has the mapped file at its path. In this case also reports the file's build-id to the
 * recorder, if the mapping has none. */
static bool is_here(struct saverfiles *files, const struct saver_message *message)
{
	int root = targetfile_root(getpid()), fd = root >= 0 ? targetfile_open(root, message->mapping.path, true) : -1;
	struct assessed assessed = { files, message };
	bool same = fd >= 0 && targetfiles_is_mapped(fd, &message->mapping,
						     &(struct targetfiles_verifier){ saverfiles_is_build, &assessed });

	if (same && !message->mapping.build_id.n)
		report_build_id(files, &message->mapping, saverfiles_read_build_id(files, message, fd));
	if (fd >= 0)
		close(fd);
	if (root >= 0)
		close(root);
	return same;
}

/* Returns a descriptor of the root directory to which the path of the file is relative; -1 with errno on failure. */
static int saverfiles_root_of(struct saverfiles *files, const struct saver_message *message, int process, uint64_t now)
{
	int held;

	if (!message->elsewhere && message->kind != KEEP_BINARY)
		return targetfile_root(getpid());
	if (process >= 0)
		return targetfiles_root(process);
	held = targetfiles_roots_find(files->roots, message->process.mount_ns, now);
	errno = ESRCH;
	return held >= 0 ? fcntl(held, F_DUPFD_CLOEXEC, 0) : -1;
}

/* Reads the build-id of the file and reports it to the recorder. Returns -1 on success, otherwise an enum
 * symsaver_reason. */
static int find_id(struct saverfiles *files, const struct saver_message *message, int process, uint64_t now)
{
	int root = saverfiles_root_of(files, message, process, now),
	    fd = saverfiles_open_mapped(files, message, root, process), error = errno;

	if (fd >= 0) {
		report_build_id(files, &message->mapping, saverfiles_read_build_id(files, message, fd));
		close(fd);
	}
	if (root >= 0)
		close(root);
	return fd >= 0 ? -1 : (int)why_errno(error);
}

int saverfiles_save(struct saverfiles *files, const struct saver_message *message, int process, uint64_t now)
{
	int root, why;

	if (message->kind == KEEP_ID)
		return find_id(files, message, process, now);
	if (message->kind == KEEP_CHECK && will_stay(message->mapping.path) && publicfile_is(message->mapping.path) &&
	    is_here(files, message))
		return -1;
	if (!saverbudget_may(&files->dir->budget, message->process.of, now)) {
		saverbudget_count(&files->dir->budget, message->process.of, 1);
		return SYMSAVER_BUDGET;
	}
	root = saverfiles_root_of(files, message, process, now);
	if (process >= 0 && root < 0 && (errno == EACCES || errno == EPERM))
		why = SYMSAVER_FORBIDDEN;
	else
		why = keep_binary(files, message, process, root);
	if (root >= 0)
		close(root);
	if (why == SYMSAVER_GONE && is_here(files, message))
		return -1;
	if (why == SYMSAVER_NOT_ELF && str_starts(message->mapping.path, STR("/memfd:")))
		return -1; /* a JIT mapped its code from memory without a file, so there is no file to save */
	return why;
}
