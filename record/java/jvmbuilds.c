/* SPDX-License-Identifier: Apache-2.0 */
#include "record/java/jvmbuilds.h"

#include "common/arena.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUILDS = 16, PAGE = 4096 };

struct build {
	char *page; /* NULL: none */
	struct jvmbuilds_key key;
	int owner; /* /proc/PID of a process of the key's mount namespace; -1: of our own, which stays */
	uint64_t base;
	struct vmlayout layout;
	struct blobframes_layout frames;
};

struct jvmbuilds {
	struct build build[BUILDS];
	unsigned next;
	uint64_t own_ns;
};

/* 0: it ended, or we may not ask. */
static uint64_t mount_ns_of(int process)
{
	struct stat st;

	return fstatat(process, "ns/mnt", &st, 0) == 0 ? st.st_ino : 0;
}

struct jvmbuilds_key jvmbuilds_key(const struct jvm_process *p)
{
	return (struct jvmbuilds_key){ p->uid, mount_ns_of(p->folder), p->library.major, p->library.minor,
				       p->library.inode };
}

static bool is_key(const struct jvmbuilds_key *a, const struct jvmbuilds_key *b)
{
	return a->mount_ns && a->mount_ns == b->mount_ns && a->uid == b->uid && a->major == b->major &&
	       a->minor == b->minor && a->inode == b->inode;
}

/* Is the mount namespace of the entry still the one that it was filled in? */
static bool is_valid(const struct build *known)
{
	return known->owner < 0 || mount_ns_of(known->owner) == known->key.mount_ns;
}

static void set_owner(const struct jvmbuilds *b, struct build *to, int process)
{
	int copy = to->key.mount_ns == b->own_ns ? -1 : fcntl(process, F_DUPFD_CLOEXEC, 0);

	if (to->owner >= 0)
		close(to->owner);
	to->owner = copy;
	if (copy < 0 && to->key.mount_ns != b->own_ns)
		to->key.mount_ns = 0; /* no descriptor is left: nothing is shared */
}

bool jvmbuilds_take(struct jvmbuilds *b, const struct jvmbuilds_key *key, int process, uint64_t base, struct hotspot *h,
		    struct blobframes *f)
{
	char page[PAGE];

	if (!memory_read(&h->memory, base, page, PAGE))
		return false;
	for (unsigned i = 0; i < BUILDS; i++) {
		struct build *known = &b->build[i];

		if (!known->page || !is_key(&known->key, key) || memcmp(known->page, page, PAGE) != 0 ||
		    !is_valid(known))
			continue;
		set_owner(b, known, process);
		h->memory.probe = base;
		h->layout = known->layout;
		vmlayout_move(&h->layout, base - known->base);
		*f = (struct blobframes){ .layout = known->frames };
		blobframes_move(&f->layout, base - known->base);
		return true;
	}
	return false;
}

void jvmbuilds_keep(struct jvmbuilds *b, const struct jvmbuilds_key *key, int process, uint64_t base, struct hotspot *h,
		    const struct blobframes *f)
{
	struct build *to = &b->build[b->next];
	char page[PAGE];

	if (!key->mount_ns || !memory_read(&h->memory, base, page, PAGE))
		return;
	b->next = (b->next + 1) % BUILDS;
	if (!to->page)
		to->page = mem_grow(NULL, 1, PAGE);
	memcpy(to->page, page, PAGE);
	to->key = *key;
	set_owner(b, to, process);
	to->base = base;
	to->layout = h->layout;
	to->frames = f->layout;
}

struct jvmbuilds *jvmbuilds_new(void)
{
	struct jvmbuilds *b = mem_alloc(sizeof(*b), 1);
	struct stat st;

	b->own_ns = stat("/proc/self/ns/mnt", &st) == 0 ? st.st_ino : 0;
	for (unsigned i = 0; i < BUILDS; i++)
		b->build[i].owner = -1;
	return b;
}

void jvmbuilds_free(struct jvmbuilds *b)
{
	for (unsigned i = 0; b && i < BUILDS; i++) {
		free(b->build[i].page);
		if (b->build[i].owner >= 0)
			close(b->build[i].owner);
	}
	free(b);
}
