/* SPDX-License-Identifier: Apache-2.0 */
#include "record/symsaver/savernames.h"

#include "common/clocks.h"

#include <sys/stat.h>
#include <sys/statvfs.h>

#define OTHERS_WRITE 022

static void savernames_name_of(const struct saverdir *saverdir, char path[SAVERDIR_PATH], const char *folder,
			       const struct target_mapping *mapping)
{
	if (mapping->build_id.n > 1)
		saverdir_build_id(path, folder, &mapping->build_id);
	else
		saverdir_numbers(saverdir, path, folder, &mapping->file_id);
}

bool savernames_find(struct saverdir *saverdir, const struct saver_message *message, char path[SAVERDIR_PATH])
{
	char own[SAVERDIR_FOLDER];

	saverdir_tenant(own, &message->process.of, message->process.mount_ns);
	savernames_name_of(saverdir, path, own, &message->mapping);
	if (saverdir_touch(saverdir, path))
		return true;
	savernames_name_of(saverdir, path, "", &message->mapping);
	return saverdir_touch(saverdir, path);
}

bool savernames_find_id(struct saverdir *saverdir, const struct saver_message *message, const struct build_id *id)
{
	char own[SAVERDIR_FOLDER], path[SAVERDIR_PATH], numbers[SAVERDIR_PATH];

	if (id->n < 2 || message->mapping.build_id.n > 1)
		return false;
	saverdir_tenant(own, &message->process.of, message->process.mount_ns);
	savernames_name_of(saverdir, numbers, own, &message->mapping);
	saverdir_build_id(path, own, id);
	if (saverdir_touch(saverdir, path))
		return saverdir_link(saverdir, path, numbers);
	saverdir_build_id(path, "", id);
	return saverdir_touch(saverdir, path) && saverdir_link(saverdir, path, numbers);
}

bool savernames_trusted(const struct saver_message *message, int fd)
{
	struct stat status;
	struct statvfs filesystem;

	return !message->elsewhere && fstat(fd, &status) == 0 && status.st_uid == 0 &&
	       !(status.st_mode & OTHERS_WRITE) && fstatvfs(fd, &filesystem) == 0 && !(filesystem.f_flag & ST_NOSUID);
}

/* Gives a new file the name `path` and, unless `also` is NULL, a second name. Charges the file's bytes to the tenant of
 * the message, unless the file is trusted. Returns false with errno on failure. */
static bool savernames_commit_file(struct saverdir *saverdir, const struct saver_message *message,
				   struct saverdir_file *file, const char *path, const char *also, bool trusted)
{
	uint64_t before = saverdir->bytes;
	bool good = saverdir_commit(saverdir, file, path, also);

	if (!trusted)
		saverbudget_charge(&saverdir->budget, message->process.of, saverdir->bytes - before, 0, clock_now());
	return good;
}

bool savernames_commit(struct saverdir *saverdir, const struct saver_message *message, struct saverdir_file *file,
		       const struct build_id *id, bool trusted, bool *conflict)
{
	char own[SAVERDIR_FOLDER] = "", name[SAVERDIR_PATH], numbers[SAVERDIR_PATH], equal[2][SAVERDIR_PATH];
	bool numbered = message->mapping.build_id.n < 2;

	*conflict = false;
	if (!trusted)
		saverdir_tenant(own, &message->process.of, message->process.mount_ns);
	saverdir_numbers(saverdir, numbers, own, &message->mapping.file_id);
	if (id->n < 2)
		return savernames_commit_file(saverdir, message, file, numbers, NULL, trusted);
	saverdir_build_id(name, own, id);
	saverdir_build_id(equal[0], "", id);
	saverdir_build_id(equal[1], SAVERDIR_SHARED, id);
	for (size_t i = trusted; i < countof(equal); i++) {
		enum saverdir_likeness likeness = saverdir_compare(saverdir, file, equal[i]);

		*conflict = *conflict || likeness == SAVERDIR_OTHER;
		if (likeness == SAVERDIR_SAME)
			return saverdir_touch(saverdir, equal[i]) && saverdir_link(saverdir, equal[i], name) &&
			       (!numbered || saverdir_link(saverdir, equal[i], numbers));
	}
	return savernames_commit_file(saverdir, message, file, name, numbered ? numbers : NULL, trusted) &&
	       (trusted || saverdir_link(saverdir, name, equal[1]));
}
