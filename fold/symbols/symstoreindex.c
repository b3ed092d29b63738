/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/symbols/symstoreindex.h"

#include "common/filter/broker.h"
#include "common/intern.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct entry {
	/* listed: true if the path is a folder whose names are in the index. polled: true if `inode` is final. */
	bool listed, polled;
	uint64_t inode; /* inode of the regular file at the path; 0: there is none, or polled is false */
};

struct symstore_index {
	pthread_mutex_t lock;
	int dir;
	/* Each folder that was listed, even if it does not exist, and each name in it. So a path does not exist if its
	 * folder was listed and the path is missing here. */
	struct intern paths;
	struct entry *entry; /* state of each path, by id in `paths` */
	size_t cap;
};

struct symstore_index *symstoreindex_new(int dir)
{
	struct symstore_index *index = mem_alloc(sizeof(*index), 1);

	pthread_mutex_init(&index->lock, NULL);
	index->dir = dir;
	return index;
}

void symstoreindex_free(struct symstore_index *index)
{
	if (!index)
		return;
	pthread_mutex_destroy(&index->lock);
	intern_free(&index->paths);
	free(index->entry);
	free(index);
}

static struct entry *symstoreindex_entry_of(struct symstore_index *index, struct str path)
{
	uint32_t id = intern(&index->paths, path);

	if (id >= index->cap) {
		size_t cap = 2 * (size_t)id + 64;

		index->entry = mem_grow(index->entry, sizeof(*index->entry), cap);
		memset(index->entry + index->cap, 0, (cap - index->cap) * sizeof(*index->entry));
		index->cap = cap;
	}
	return &index->entry[id];
}

static void symstoreindex_list(struct symstore_index *index, struct str folder)
{
	struct text path = { 0 }, names = { 0 };
	int fd;

	if (symstoreindex_entry_of(index, folder)->listed)
		return;
	symstoreindex_entry_of(index, folder)->listed = true;
	text_str(&path, folder);
	text_char(&path, 0);
	fd = broker_open(index->dir, path.p, O_DIRECTORY);
	if (fd >= 0) {
		broker_names(fd, &names);
		close(fd);
	}
	for (struct str left = text_view(&names); left.n;) {
		path.n = folder.n;
		text_char(&path, '/');
		text_str(&path, str_cut(&left, 0));
		symstoreindex_entry_of(index, text_view(&path));
	}
	text_free(&path);
	text_free(&names);
}

static bool symstoreindex_exists(struct symstore_index *index, struct str path)
{
	for (size_t i = 0; i < path.n; i++) {
		struct str rest = str_from(path, i + 1);

		if (path.p[i] != '/')
			continue;
		symstoreindex_list(index, str_head(path, i));
		if (!intern_find(&index->paths, str_head(path, i + 1 + str_cut(&rest, '/').n)))
			return false;
	}
	return true;
}

/* Returns the inode of the regular file at a path; 0 if there is no such file. The caller holds the lock. */
static uint64_t symstoreindex_inode_of(struct symstore_index *index, const char *path)
{
	struct entry *entry;
	struct stat status;
	int fd;

	if (!symstoreindex_exists(index, str_of(path)))
		return 0;
	entry = symstoreindex_entry_of(index, str_of(path));
	if (entry->polled)
		return entry->inode;
	entry->polled = true;
	fd = broker_open(index->dir, path, O_NOFOLLOW);
	if (fd < 0)
		return 0;
	if (fstat(fd, &status) == 0)
		entry->inode = status.st_ino;
	close(fd);
	return entry->inode;
}

uint64_t symstoreindex_inode(struct symstore_index *index, const char *path)
{
	uint64_t inode;

	pthread_mutex_lock(&index->lock);
	inode = symstoreindex_inode_of(index, path);
	pthread_mutex_unlock(&index->lock);
	return inode;
}

int symstoreindex_open(struct symstore_index *index, const char *path)
{
	bool there;

	pthread_mutex_lock(&index->lock);
	there = symstoreindex_exists(index, str_of(path));
	pthread_mutex_unlock(&index->lock);
	if (there)
		return broker_open(index->dir, path, O_NOFOLLOW);
	errno = ENOENT;
	return -1;
}
