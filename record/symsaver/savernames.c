/* SPDX-License-Identifier: Apache-2.0 */
#include "record/symsaver/savernames.h"

#include "common/clocks.h"

#include <sys/stat.h>
#include <sys/statvfs.h>

#define OTHERS_WRITE 022

static void savernames_name_of(const struct saverdir *k, char path[SAVERDIR_PATH], const char *folder,
			       const struct target_mapping *m)
{
	if (m->build_id_n > 1)
		saverdir_build_id(path, folder, m->build_id, m->build_id_n);
	else
		saverdir_numbers(k, path, folder, m->major, m->minor, m->inode, m->generation);
}

bool savernames_find(struct saverdir *k, const struct saver_message *m, char path[SAVERDIR_PATH])
{
	char own[SAVERDIR_FOLDER];

	saverdir_tenant(own, &m->process.of, m->process.mount_ns);
	savernames_name_of(k, path, own, &m->mapping);
	if (saverdir_touch(k, path))
		return true;
	savernames_name_of(k, path, "", &m->mapping);
	return saverdir_touch(k, path);
}

bool savernames_find_id(struct saverdir *k, const struct saver_message *m, const uint8_t *id, unsigned n)
{
	char own[SAVERDIR_FOLDER], path[SAVERDIR_PATH], numbers[SAVERDIR_PATH];

	if (n < 2 || m->mapping.build_id_n > 1)
		return false;
	saverdir_tenant(own, &m->process.of, m->process.mount_ns);
	savernames_name_of(k, numbers, own, &m->mapping);
	saverdir_build_id(path, own, id, n);
	if (saverdir_touch(k, path))
		return saverdir_link(k, path, numbers);
	saverdir_build_id(path, "", id, n);
	return saverdir_touch(k, path) && saverdir_link(k, path, numbers);
}

bool savernames_trusted(const struct saver_message *m, int fd)
{
	struct stat st;
	struct statvfs fs;

	return !m->elsewhere && fstat(fd, &st) == 0 && st.st_uid == 0 && !(st.st_mode & OTHERS_WRITE) &&
	       fstatvfs(fd, &fs) == 0 && !(fs.f_flag & ST_NOSUID);
}

/* Its tenant pays for a file that is no link of another one; the host's files are no tenant's. */
static bool savernames_commit_file(struct saverdir *k, const struct saver_message *m, struct saverdir_file *f,
				   const char *path, const char *also, bool trusted)
{
	uint64_t before = k->bytes;
	bool good = saverdir_commit(k, f, path, also);

	if (!trusted)
		saverbudget_charge(&k->budget, m->process.of, k->bytes - before, 0, clock_now());
	return good;
}

bool savernames_commit(struct saverdir *k, const struct saver_message *m, struct saverdir_file *f, const uint8_t *id,
		       unsigned n, bool trusted, bool *conflict)
{
	char own[SAVERDIR_FOLDER] = "", name[SAVERDIR_PATH], numbers[SAVERDIR_PATH], equal[2][SAVERDIR_PATH];
	bool numbered = m->mapping.build_id_n < 2;

	*conflict = false;
	if (!trusted)
		saverdir_tenant(own, &m->process.of, m->process.mount_ns);
	saverdir_numbers(k, numbers, own, m->mapping.major, m->mapping.minor, m->mapping.inode, m->mapping.generation);
	if (n < 2)
		return savernames_commit_file(k, m, f, numbers, NULL, trusted);
	saverdir_build_id(name, own, id, n);
	saverdir_build_id(equal[0], "", id, n);
	saverdir_build_id(equal[1], SAVERDIR_SHARED, id, n);
	for (size_t i = trusted; i < countof(equal); i++) {
		enum saverdir_likeness likeness = saverdir_compare(k, f, equal[i]);

		*conflict = *conflict || likeness == SAVERDIR_OTHER;
		if (likeness == SAVERDIR_SAME)
			return saverdir_touch(k, equal[i]) && saverdir_link(k, equal[i], name) &&
			       (!numbered || saverdir_link(k, equal[i], numbers));
	}
	return savernames_commit_file(k, m, f, name, numbered ? numbers : NULL, trusted) &&
	       (trusted || saverdir_link(k, name, equal[1]));
}
