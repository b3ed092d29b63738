/* SPDX-License-Identifier: Apache-2.0 */
#include "record/symsaver/saverfiles.h"

#include "common/files/targetfile.h"
#include "record/symsaver/savernames.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static void saverfiles_count(struct saverfiles *k, enum saver_count what, uint64_t n)
{
	atomic_fetch_add_explicit(&k->shared->count[what], n, memory_order_relaxed);
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

/* The recorder wants to know what the mapping did not tell it. */
static void report_build_id(struct saverfiles *k, const struct target_mapping *m, const uint8_t *id, unsigned n)
{
	struct pj_build_id found = {
		.major = m->major, .minor = m->minor, .inode = m->inode, .generation = m->generation, .size = (uint8_t)n
	};

	if (m->build_id_n || n < 2)
		return;
	memcpy(found.id, id, sizeof(found.id));
	saverids_put(&k->shared->found, &found);
}

struct tenant saverfiles_owner(const struct saver_message *m)
{
	struct tenant of = m->process.of;

	if (of.kind == TENANT_UNKNOWN && m->process.mount_ns)
		of = (struct tenant){ TENANT_MOUNT_NS, m->process.mount_ns };
	return of;
}

/* The parser of a tenant may have been taken over by a file of his. What it reads of files of root is believed for all
 * tenants, so these have a parser that reads no others. */
static void choose_parser(struct saverfiles *k, const struct saver_message *m, bool trusted)
{
	static const struct tenant host = { TENANT_UNKNOWN, 0 };
	struct tenant of = trusted ? host : saverfiles_owner(m);

	symhelper_for(&k->parser, &of);
}

static unsigned saverfiles_read_build_id(struct saverfiles *k, const struct saver_message *m, int fd, uint8_t id[20])
{
	choose_parser(k, m, savernames_trusted(m, fd));
	return symhelper_build_id(&k->parser, fd, id);
}

/* For targetfiles.h. */
struct assessed {
	struct saverfiles *files;
	const struct saver_message *message;
};

static bool saverfiles_is_build(void *to, int fd, const uint8_t *id, unsigned n)
{
	const struct assessed *j = to;
	uint8_t found[20];

	return saverfiles_read_build_id(j->files, j->message, fd, found) == n && memcmp(found, id, n) == 0;
}

static int saverfiles_open_mapped(struct saverfiles *k, const struct saver_message *m, int root, int process)
{
	struct assessed assessed = { k, m };

	return targetfiles_open(root, process, &m->mapping,
				&(struct targetfiles_judge){ saverfiles_is_build, &assessed });
}

bool saverfiles_are_saved(struct saverfiles *k, const struct saver_message *m)
{
	struct tenant of = saverfiles_owner(m);
	char path[SAVERDIR_PATH];
	uint8_t id[20] = { 0 };
	int fd;

	if (!savernames_find(k->dir, m, path))
		return false;
	fd = m->mapping.build_id_n ? -1 : saverdir_read(k->dir, path);
	if (fd < 0)
		return true;
	symhelper_enter(&k->parser, &of, 0);
	choose_parser(k, m, !str_starts(str_of(path), STR("tenants/")));
	report_build_id(k, &m->mapping, id, symhelper_build_id(&k->parser, fd, id));
	close(fd);
	return true;
}

/* Has the parser reduce what fd or mem is into a file, and gives that its names. -1: kept, else enum symsaver_reason.
 */
static int reduce_and_keep(struct saverfiles *k, const struct saver_message *m, int fd, int mem, uint64_t base)
{
	struct saverdir_file f = { .fd = -1 };
	enum symparser_answer answer;
	struct symparser_reply r;
	bool conflict = false, trusted = fd >= 0 && savernames_trusted(m, fd);
	int why = -1;

	if (!saverdir_begin(k->dir, &f))
		return SYMSAVER_DISK;
	choose_parser(k, m, trusted);
	answer = fd >= 0 ? symhelper_reduce(&k->parser, fd, f.fd, k->largest, &r) :
			   symhelper_reduce_memory(&k->parser, mem, base, f.fd, k->largest, &r);
	if (answer != SYMPARSER_DONE)
		why = (int)saverfiles_reason(answer);
	if (why < 0 && m->mapping.build_id_n > 1) {
		r.build_id_n = m->mapping.build_id_n;
		memcpy(r.build_id, m->mapping.build_id, sizeof(r.build_id));
	}
	if (why < 0)
		report_build_id(k, &m->mapping, r.build_id, r.build_id_n);
	if (why < 0 && !r.names)
		why = SYMSAVER_NOT_ELF;
	if (why < 0 && !savernames_commit(k->dir, m, &f, r.build_id, r.build_id_n, trusted, &conflict))
		why = SYMSAVER_DISK;
	saverdir_discard(k->dir, &f);
	saverfiles_count(k, COUNT_CONFLICTS, conflict);
	return why;
}

/* It may be kept under another name. */
static bool is_saved_elsewhere(struct saverfiles *k, const struct saver_message *m, int fd)
{
	uint8_t id[20] = { 0 };
	unsigned n;

	if (m->mapping.build_id_n > 1)
		return false;
	n = saverfiles_read_build_id(k, m, fd, id);
	report_build_id(k, &m->mapping, id, n);
	return savernames_find_id(k->dir, m, id, n);
}

/* Opens, and has it reduced; -1: kept, else enum symsaver_reason. */
static int keep_binary(struct saverfiles *k, const struct saver_message *m, int process, int root)
{
	uint64_t base = 0;
	int error, why, mem = -1, fd = saverfiles_open_mapped(k, m, root, process);

	error = errno;
	if (fd >= 0 && is_saved_elsewhere(k, m, fd)) {
		close(fd);
		return -1;
	}
	if (fd < 0 && process >= 0 && error != EINVAL)
		mem = targetfiles_memory(process, &m->mapping, &base);
	if (fd < 0 && mem < 0)
		return (int)why_errno(error);
	why = reduce_and_keep(k, m, fd, mem, base);
	close(fd >= 0 ? fd : mem);
	if (why < 0)
		saverfiles_count(k, COUNT_BINARIES, 1);
	return why;
}

/* Where packages put what runs: it stays until it is replaced by another version, and is stripped, so the memory of a
 * process that still runs the one before tells as much as the file did. What lies elsewhere was built here, and will be
 * built again. */
static bool will_stay(struct str path)
{
	static const struct str roots[] = { STR("/usr/"), STR("/lib"),  STR("/bin/"), STR("/sbin/"),
					    STR("/opt/"), STR("/nix/"), STR("/snap/") };

	for (size_t i = 0; i < countof(roots); i++)
		if (str_starts(path, roots[i]) && !str_starts(path, STR("/usr/local/")))
			return true;
	return false;
}

/* Does this host still have the file at its path? Then the recorder gets its build-id. */
static bool is_here(struct saverfiles *k, const struct saver_message *m)
{
	int root = targetfile_root(getpid()), fd = root >= 0 ? targetfile_open(root, m->mapping.path, true) : -1;
	struct assessed assessed = { k, m };
	bool same = fd >= 0 && targetfiles_is_mapped(fd, &m->mapping,
						     &(struct targetfiles_judge){ saverfiles_is_build, &assessed });
	uint8_t id[20] = { 0 };

	if (same && !m->mapping.build_id_n)
		report_build_id(k, &m->mapping, id, saverfiles_read_build_id(k, m, fd, id));
	if (fd >= 0)
		close(fd);
	if (root >= 0)
		close(root);
	return same;
}

/* The root that its path is below; -1 and errno. */
static int saverfiles_root_of(struct saverfiles *k, const struct saver_message *m, int process, uint64_t now)
{
	int held;

	if (!m->elsewhere && m->kind != KEEP_BINARY)
		return targetfile_root(getpid());
	if (process >= 0)
		return targetfiles_root(process);
	held = targetfiles_roots_find(k->roots, m->process.mount_ns, now);
	errno = ESRCH;
	return held >= 0 ? fcntl(held, F_DUPFD_CLOEXEC, 0) : -1;
}

/* Finds its build-id. -1: done, else enum symsaver_reason. */
static int find_id(struct saverfiles *k, const struct saver_message *m, int process, uint64_t now)
{
	int root = saverfiles_root_of(k, m, process, now), fd = saverfiles_open_mapped(k, m, root, process),
	    error = errno;
	uint8_t id[20] = { 0 };

	if (fd >= 0) {
		report_build_id(k, &m->mapping, id, saverfiles_read_build_id(k, m, fd, id));
		close(fd);
	}
	if (root >= 0)
		close(root);
	return fd >= 0 ? -1 : (int)why_errno(error);
}

int saverfiles_save(struct saverfiles *k, const struct saver_message *m, int process, uint64_t now)
{
	int root, why;

	if (m->kind == KEEP_ID)
		return find_id(k, m, process, now);
	if (m->kind == KEEP_CHECK && will_stay(m->mapping.path) && is_here(k, m))
		return -1;
	if (!saverbudget_may(&k->dir->budget, m->process.of, now)) {
		saverbudget_count(&k->dir->budget, m->process.of, 1);
		return SYMSAVER_BUDGET;
	}
	root = saverfiles_root_of(k, m, process, now);
	if (process >= 0 && root < 0 && (errno == EACCES || errno == EPERM))
		why = SYMSAVER_FORBIDDEN;
	else
		why = keep_binary(k, m, process, root);
	if (root >= 0)
		close(root);
	if (why == SYMSAVER_GONE && is_here(k, m))
		return -1;
	if (why == SYMSAVER_NOT_ELF && str_starts(m->mapping.path, STR("/memfd:")))
		return -1; /* code of a JIT: there is nothing to keep */
	return why;
}
