/* SPDX-License-Identifier: Apache-2.0 */
#include "record/processes/idlist.h"

#include "record/perf/chunk.h"
#include "common/intern.h"
#include "record/processes/kernel.h"
#include "common/formats/pjsection.h"

#define LONGEST 4096 /* paths of this length in bytes or more are not added to the list */
#define USER 2       /* value of PERF_RECORD_MISC_USER */

/* Entry of idlist->waiting: a file without a build-id. Its path of path_n bytes follows the struct. */
struct waiting_file {
	struct file_id file_id;
	uint32_t pid, path_n;
};

void idlist_begin(struct idlist *idlist)
{
	idlist->entries.n = idlist->waiting.n = 0;
}

static struct symsaver_mapping idlist_mapping_of(const struct waiting_file *file)
{
	return (struct symsaver_mapping){ .file_id = file->file_id };
}

void idlist_add(struct idlist *idlist, struct symsaver *keep, uint32_t pid, struct mapped_file *file)
{
	struct waiting_file w = { file->file_id, pid, (uint32_t)file->path.n };
	struct symsaver_mapping mapping = idlist_mapping_of(&w);

	if (file->path.n == 0 || file->path.n >= LONGEST)
		return;
	if (!file->build_id.n && keep && file->file_id.inode)
		file->build_id = symsaver_build_id(keep, &mapping);
	if (file->build_id.n) {
		kernel_put_build_id(&idlist->entries, USER, (int32_t)pid, &file->build_id, file->path);
	} else if (keep && file->file_id.inode && file->path.p[0] == '/') {
		text_bytes(&idlist->waiting, &w, sizeof(w));
		text_str(&idlist->waiting, file->path);
	}
}

/* ---- end of a window -------------------------------------------------------------------------------------------- */

/* Adds the paths of all BUILD_ID entries of the list to *reported. */
static void idlist_read_entries(const struct idlist *idlist, struct intern *reported)
{
	struct perf_record record;

	for (size_t at = 0; at + sizeof(record) <= idlist->entries.n; at += record.size) {
		const char *path = idlist->entries.p + at + sizeof(record) + sizeof(int32_t) + 24;

		memcpy(&record, idlist->entries.p + at, sizeof(record));
		intern(reported, str_of(path));
	}
}

/* Adds a BUILD_ID entry for a file, and its path to *reported, unless the path has an entry: perf supports only one
 * build-id for a path, and would use the build-id of one file for another file with the same path. */
static void idlist_report(struct idlist *idlist, struct intern *reported, const struct pj_build_id *id, uint32_t pid,
			  struct str path)
{
	uint32_t before = reported->n;

	if (intern(reported, path) > before)
		kernel_put_build_id(&idlist->entries, USER, (int32_t)pid, &id->build_id, path);
}

void idlist_end(struct idlist *idlist, struct symsaver *keep, struct text *items)
{
	struct str rest = text_view(&idlist->waiting);
	struct intern reported = { 0 };
	bool read = false;

	while (rest.n) {
		struct waiting_file w;
		struct symsaver_mapping mapping;
		struct pj_build_id id = { 0 };
		struct str path;

		memcpy(&w, rest.p, sizeof(w));
		path = str_head(str_from(rest, sizeof(w)), w.path_n);
		rest = str_from(rest, sizeof(w) + w.path_n);
		mapping = idlist_mapping_of(&w);
		id = (struct pj_build_id){ .file_id = w.file_id };
		id.build_id = symsaver_build_id(keep, &mapping);
		if (!id.build_id.n)
			continue;
		if (!read)
			idlist_read_entries(idlist, &reported);
		read = true;
		chunk_put_item(items, PJ_ITEM_BUILD_ID, &id, sizeof(id));
		idlist_report(idlist, &reported, &id, w.pid, path);
	}
	intern_free(&reported);
}

void idlist_free(struct idlist *idlist)
{
	text_free(&idlist->entries);
	text_free(&idlist->waiting);
}
