/* SPDX-License-Identifier: Apache-2.0 */
#include "record/symsaver/savernames.h"

#include "common/clocks.h"

#include <sys/stat.h>
#include <sys/statvfs.h>

#define OTHERS_WRITE 022

static void name_of(const struct keepdir *k, char path[KEEPDIR_PATH], const char *folder,
		    const struct foreign_mapping *m)
{
	if (m->build_id_n > 1)
		keepdir_build_id(path, folder, m->build_id, m->build_id_n);
	else
		keepdir_numbers(k, path, folder, m->major, m->minor, m->inode, m->generation);
}

bool keepnames_find(struct keepdir *k, const struct keep_message *m, char path[KEEPDIR_PATH])
{
	char own[KEEPDIR_FOLDER];

	keepdir_tenant(own, &m->process.of, m->process.mount_ns);
	name_of(k, path, own, &m->mapping);
	if (keepdir_touch(k, path))
		return true;
	name_of(k, path, "", &m->mapping);
	return keepdir_touch(k, path);
}

bool keepnames_find_id(struct keepdir *k, const struct keep_message *m, const uint8_t *id, unsigned n)
{
	char own[KEEPDIR_FOLDER], path[KEEPDIR_PATH], numbers[KEEPDIR_PATH];

	if (n < 2 || m->mapping.build_id_n > 1)
		return false;
	keepdir_tenant(own, &m->process.of, m->process.mount_ns);
	name_of(k, numbers, own, &m->mapping);
	keepdir_build_id(path, own, id, n);
	if (keepdir_touch(k, path))
		return keepdir_link(k, path, numbers);
	keepdir_build_id(path, "", id, n);
	return keepdir_touch(k, path) && keepdir_link(k, path, numbers);
}

bool keepnames_trusted(const struct keep_message *m, int fd)
{
	struct stat st;
	struct statvfs fs;

	return !m->elsewhere && fstat(fd, &st) == 0 && st.st_uid == 0 && !(st.st_mode & OTHERS_WRITE) &&
	       fstatvfs(fd, &fs) == 0 && !(fs.f_flag & ST_NOSUID);
}

/* Its tenant pays for a file that is no link of another one; the host's files are no tenant's. */
static bool commit(struct keepdir *k, const struct keep_message *m, struct keepdir_file *f, const char *path,
		   const char *also, bool trusted)
{
	uint64_t before = k->bytes;
	bool good = keepdir_commit(k, f, path, also);

	if (!trusted)
		keepbudget_charge(&k->budget, m->process.of, k->bytes - before, 0, clock_now());
	return good;
}

bool keepnames_commit(struct keepdir *k, const struct keep_message *m, struct keepdir_file *f, const uint8_t *id,
		      unsigned n, bool trusted, bool *conflict)
{
	char own[KEEPDIR_FOLDER] = "", name[KEEPDIR_PATH], numbers[KEEPDIR_PATH], equal[2][KEEPDIR_PATH];
	bool numbered = m->mapping.build_id_n < 2;

	*conflict = false;
	if (!trusted)
		keepdir_tenant(own, &m->process.of, m->process.mount_ns);
	keepdir_numbers(k, numbers, own, m->mapping.major, m->mapping.minor, m->mapping.inode, m->mapping.generation);
	if (n < 2)
		return commit(k, m, f, numbers, NULL, trusted);
	keepdir_build_id(name, own, id, n);
	keepdir_build_id(equal[0], "", id, n);
	keepdir_build_id(equal[1], KEEPDIR_SHARED, id, n);
	for (size_t i = trusted; i < countof(equal); i++) {
		enum keepdir_likeness likeness = keepdir_compare(k, f, equal[i]);

		*conflict = *conflict || likeness == KEEPDIR_OTHER;
		if (likeness == KEEPDIR_SAME)
			return keepdir_touch(k, equal[i]) && keepdir_link(k, equal[i], name) &&
			       (!numbered || keepdir_link(k, equal[i], numbers));
	}
	return commit(k, m, f, name, numbered ? numbers : NULL, trusted) &&
	       (trusted || keepdir_link(k, name, equal[1]));
}
