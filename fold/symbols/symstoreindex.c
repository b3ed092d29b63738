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
	bool listed, polled; /* a folder whose names are known; a file whose inode is */
	uint64_t inode;
};

struct symstore_index {
	pthread_mutex_t lock;
	int dir;
	struct intern paths; /* that exist, and folders that were listed */
	struct entry *entry; /* by id */
	size_t cap;
};

struct symstore_index *symstoreindex_new(int dir)
{
	struct symstore_index *x = mem_alloc(sizeof(*x), 1);

	pthread_mutex_init(&x->lock, NULL);
	x->dir = dir;
	return x;
}

void symstoreindex_free(struct symstore_index *x)
{
	if (!x)
		return;
	pthread_mutex_destroy(&x->lock);
	intern_free(&x->paths);
	free(x->entry);
	free(x);
}

static struct entry *symstoreindex_entry_of(struct symstore_index *x, struct str path)
{
	uint32_t id = intern(&x->paths, path);

	if (id >= x->cap) {
		size_t cap = 2 * (size_t)id + 64;

		x->entry = mem_grow(x->entry, sizeof(*x->entry), cap);
		memset(x->entry + x->cap, 0, (cap - x->cap) * sizeof(*x->entry));
		x->cap = cap;
	}
	return &x->entry[id];
}

static void symstoreindex_list(struct symstore_index *x, struct str folder)
{
	struct text path = { 0 }, names = { 0 };
	int fd;

	if (symstoreindex_entry_of(x, folder)->listed)
		return;
	symstoreindex_entry_of(x, folder)->listed = true;
	text_str(&path, folder);
	text_char(&path, 0);
	fd = broker_open(x->dir, path.p, O_DIRECTORY);
	if (fd >= 0) {
		broker_names(fd, &names);
		close(fd);
	}
	for (struct str left = text_view(&names); left.n;) {
		path.n = folder.n;
		text_char(&path, '/');
		text_str(&path, str_cut(&left, 0));
		symstoreindex_entry_of(x, text_view(&path));
	}
	text_free(&path);
	text_free(&names);
}

static bool symstoreindex_exists(struct symstore_index *x, struct str path)
{
	for (size_t i = 0; i < path.n; i++) {
		struct str rest = str_from(path, i + 1);

		if (path.p[i] != '/')
			continue;
		symstoreindex_list(x, str_head(path, i));
		if (!intern_find(&x->paths, str_head(path, i + 1 + str_cut(&rest, '/').n)))
			return false;
	}
	return true;
}

/* With the lock held. */
static uint64_t symstoreindex_inode_of(struct symstore_index *x, const char *path)
{
	struct entry *e;
	struct stat st;
	int fd;

	if (!symstoreindex_exists(x, str_of(path)))
		return 0;
	e = symstoreindex_entry_of(x, str_of(path));
	if (e->polled)
		return e->inode;
	e->polled = true;
	fd = broker_open(x->dir, path, O_NOFOLLOW);
	if (fd < 0)
		return 0;
	if (fstat(fd, &st) == 0)
		e->inode = st.st_ino;
	close(fd);
	return e->inode;
}

uint64_t symstoreindex_inode(struct symstore_index *x, const char *path)
{
	uint64_t inode;

	pthread_mutex_lock(&x->lock);
	inode = symstoreindex_inode_of(x, path);
	pthread_mutex_unlock(&x->lock);
	return inode;
}

int symstoreindex_open(struct symstore_index *x, const char *path)
{
	bool there;

	pthread_mutex_lock(&x->lock);
	there = symstoreindex_exists(x, str_of(path));
	pthread_mutex_unlock(&x->lock);
	if (there)
		return broker_open(x->dir, path, O_NOFOLLOW);
	errno = ENOENT;
	return -1;
}
