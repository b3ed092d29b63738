/* SPDX-License-Identifier: Apache-2.0 */
#include "record/processes/idlist.h"

#include "record/perf/chunk.h"
#include "common/intern.h"
#include "record/processes/kernel.h"
#include "common/formats/pjsection.h"

#define LONGEST 4096 /* a path */
#define USER 2       /* PERF_RECORD_MISC_USER */

/* A file without build-id; its path follows. */
struct ringpoll {
	uint32_t major, minor;
	uint64_t inode, generation;
	uint32_t pid, path_n;
};

void idlist_begin(struct idlist *l)
{
	l->entries.n = l->waiting.n = 0;
}

static struct symsaver_mapping idlist_mapping_of(const struct ringpoll *w)
{
	return (struct symsaver_mapping){
		.major = w->major, .minor = w->minor, .inode = w->inode, .generation = w->generation
	};
}

void idlist_add(struct idlist *l, struct symsaver *keep, uint32_t pid, struct mapped_file *f)
{
	struct ringpoll w = { f->major, f->minor, f->inode, f->generation, pid, (uint32_t)f->path.n };
	struct symsaver_mapping m = idlist_mapping_of(&w);

	if (f->path.n == 0 || f->path.n >= LONGEST)
		return;
	if (!f->build_id_size && keep && f->inode)
		f->build_id_size = (uint8_t)symsaver_build_id(keep, &m, f->build_id);
	if (f->build_id_size) {
		kernel_put_build_id(&l->entries, USER, (int32_t)pid, f->build_id, f->build_id_size, f->path);
	} else if (keep && f->inode && f->path.p[0] == '/') {
		text_bytes(&l->waiting, &w, sizeof(w));
		text_str(&l->waiting, f->path);
	}
}

/* ---- the end of a window --------------------------------------------------------------------------------------- */

/* Paths that have an entry. */
static void idlist_read_entries(const struct idlist *l, struct intern *reported)
{
	struct perf_record r;

	for (size_t at = 0; at + sizeof(r) <= l->entries.n; at += r.size) {
		const char *path = l->entries.p + at + sizeof(r) + sizeof(int32_t) + 24;

		memcpy(&r, l->entries.p + at, sizeof(r));
		intern(reported, str_of(path));
	}
}

/* perf knows one build of a path: a second one would be taken for the first. */
static void idlist_report(struct idlist *l, struct intern *reported, const struct pj_build_id *id, uint32_t pid,
			  struct str path)
{
	uint32_t before = reported->n;

	if (intern(reported, path) > before)
		kernel_put_build_id(&l->entries, USER, (int32_t)pid, id->id, id->size, path);
}

void idlist_end(struct idlist *l, struct symsaver *keep, struct text *items)
{
	struct str rest = text_view(&l->waiting);
	struct intern reported = { 0 };
	bool read = false;

	while (rest.n) {
		struct ringpoll w;
		struct symsaver_mapping m;
		struct pj_build_id id = { 0 };
		struct str path;

		memcpy(&w, rest.p, sizeof(w));
		path = str_head(str_from(rest, sizeof(w)), w.path_n);
		rest = str_from(rest, sizeof(w) + w.path_n);
		m = idlist_mapping_of(&w);
		id = (struct pj_build_id){
			.major = w.major, .minor = w.minor, .inode = w.inode, .generation = w.generation
		};
		id.size = (uint8_t)symsaver_build_id(keep, &m, id.id);
		if (!id.size)
			continue;
		if (!read)
			idlist_read_entries(l, &reported);
		read = true;
		chunk_put_item(items, PJ_ITEM_BUILD_ID, &id, sizeof(id));
		idlist_report(l, &reported, &id, w.pid, path);
	}
	intern_free(&reported);
}

void idlist_free(struct idlist *l)
{
	text_free(&l->entries);
	text_free(&l->waiting);
}
