/* SPDX-License-Identifier: Apache-2.0 */
#include "record/java/jvmbuilds.h"

#include "common/arena.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUILDS = 16, PAGE = 4096 };

struct build {
	char *page; /* copy of the first page of libjvm.so; NULL: the entry is free */
	struct jvmbuilds_key key;
	/* Descriptor of /proc/PID of a process in the mount namespace of the key; -1 if that is the recorder's own
	 * namespace. */
	int owner;
	uint64_t base;
	/* Writable segment of libjvm.so: offset from base, and size in bytes; 0, 0: none. */
	uint64_t data, data_n;
	struct vmlayout layout;
	struct blobframes_layout frames;
};

struct jvmbuilds {
	struct build build[BUILDS];
	unsigned next;
	uint64_t own_ns;
};

/* Returns the inode of a process's mount namespace; 0 if the process has ended, or if the permission is missing. */
static uint64_t mount_ns_of(int process)
{
	struct stat status;

	return fstatat(process, "ns/mnt", &status, 0) == 0 ? status.st_ino : 0;
}

struct jvmbuilds_key jvmbuilds_key(const struct jvm_process *process)
{
	return (struct jvmbuilds_key){ process->uid, mount_ns_of(process->folder), process->library.major,
				       process->library.minor, process->library.inode };
}

static bool is_key(const struct jvmbuilds_key *a, const struct jvmbuilds_key *key)
{
	return a->mount_ns && a->mount_ns == key->mount_ns && a->uid == key->uid && a->major == key->major &&
	       a->minor == key->minor && a->inode == key->inode;
}

/* Returns true if the entry is for the recorder's own mount namespace, or if its owner is still in the mount namespace
 * of the key. Then the kernel has not reused the namespace's inode number. */
static bool is_valid(const struct build *known)
{
	return known->owner < 0 || mount_ns_of(known->owner) == known->key.mount_ns;
}

static void set_owner(const struct jvmbuilds *jvmbuilds, struct build *build, int process)
{
	int copy = build->key.mount_ns == jvmbuilds->own_ns ? -1 : fcntl(process, F_DUPFD_CLOEXEC, 0);

	if (build->owner >= 0)
		close(build->owner);
	build->owner = copy;
	if (copy < 0 && build->key.mount_ns != jvmbuilds->own_ns)
		/* No file descriptor is free. Without an owner, the entry is never shared. */
		build->key.mount_ns = 0;
}

bool jvmbuilds_take(struct jvmbuilds *jvmbuilds, const struct jvmbuilds_key *key, int process, uint64_t base,
		    struct hotspot *hotspot, struct blobframes *frames)
{
	char page[PAGE];

	if (!memory_read(&hotspot->memory, base, page, PAGE))
		return false;
	for (unsigned i = 0; i < BUILDS; i++) {
		struct build *known = &jvmbuilds->build[i];

		if (!known->page || !is_key(&known->key, key) || memcmp(known->page, page, PAGE) != 0 ||
		    !is_valid(known))
			continue;
		set_owner(jvmbuilds, known, process);
		hotspot->memory.probe = base;
		hotspot->libjvm.base = base;
		hotspot->libjvm.data = known->data ? base + known->data : 0;
		hotspot->libjvm.data_n = known->data_n;
		hotspot->layout = known->layout;
		vmlayout_move(&hotspot->layout, base - known->base);
		*frames = (struct blobframes){ .layout = known->frames };
		blobframes_move(&frames->layout, base - known->base);
		return true;
	}
	return false;
}

void jvmbuilds_keep(struct jvmbuilds *jvmbuilds, const struct jvmbuilds_key *key, int process, uint64_t base,
		    struct hotspot *hotspot, const struct blobframes *frames)
{
	struct build *build = &jvmbuilds->build[jvmbuilds->next];
	char page[PAGE];

	if (!key->mount_ns || !memory_read(&hotspot->memory, base, page, PAGE))
		return;
	jvmbuilds->next = (jvmbuilds->next + 1) % BUILDS;
	if (!build->page)
		build->page = mem_grow(NULL, 1, PAGE);
	memcpy(build->page, page, PAGE);
	build->key = *key;
	set_owner(jvmbuilds, build, process);
	build->base = base;
	build->data = hotspot->libjvm.data_n ? hotspot->libjvm.data - base : 0;
	build->data_n = hotspot->libjvm.data_n;
	build->layout = hotspot->layout;
	build->frames = frames->layout;
}

struct jvmbuilds *jvmbuilds_new(void)
{
	struct jvmbuilds *jvmbuilds = mem_alloc(sizeof(*jvmbuilds), 1);
	struct stat status;

	jvmbuilds->own_ns = stat("/proc/self/ns/mnt", &status) == 0 ? status.st_ino : 0;
	for (unsigned i = 0; i < BUILDS; i++)
		jvmbuilds->build[i].owner = -1;
	return jvmbuilds;
}

void jvmbuilds_free(struct jvmbuilds *jvmbuilds)
{
	for (unsigned i = 0; jvmbuilds && i < BUILDS; i++) {
		free(jvmbuilds->build[i].page);
		if (jvmbuilds->build[i].owner >= 0)
			close(jvmbuilds->build[i].owner);
	}
	free(jvmbuilds);
}
