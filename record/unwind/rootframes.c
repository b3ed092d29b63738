/* SPDX-License-Identifier: Apache-2.0 */
#include "record/unwind/rootframes.h"

#include "common/hash.h"

/* Returns the index in rootframes.slot of the first slot of the set for a process and a return address. */
static size_t set_of(uint32_t pid, uint64_t inner)
{
	return hash_pair(inner, pid) % (ROOTFRAMES_SLOTS / ROOTFRAMES_WAYS) * ROOTFRAMES_WAYS;
}

static const struct root_frames *find_in_set(const struct root_frames *set, uint32_t pid, uint64_t inner)
{
	for (size_t way = 0; way < ROOTFRAMES_WAYS; way++)
		if (set[way].pid == pid && set[way].inner == inner)
			return &set[way];
	return NULL;
}

/* Adds the entry `like` to the cache. A full set loses its oldest entry. If the cache has other root frames for the
 * same process and return address, sets `unsure` of that entry: it is then not used any more. */
static void rootframes_learn_frames(struct rootframes *rootframes, const struct root_frames *like)
{
	struct root_frames *set = &rootframes->slot[set_of(like->pid, like->inner)];
	const struct root_frames *found = find_in_set(set, like->pid, like->inner);

	if (found) {
		if (memcmp(found->outer, like->outer, sizeof(found->outer)) != 0)
			set[found - set].unsure = true;
		return;
	}
	memmove(set + 1, set, (ROOTFRAMES_WAYS - 1) * sizeof(*set));
	set[0] = *like;
}

/* Returns the file name, without directory, of the mapping that contains the code before a return address; empty if no
 * mapping contains it. */
static struct str file_of(const struct process *process, uint64_t address)
{
	const struct mapping *mapping = processes_at(process, address - 1);
	struct str path = mapping ? mapping->file->path : (struct str){ 0 };
	const char *slash = path.n ? memrchr(path.p, '/', path.n) : NULL;

	return slash ? str_from(path, (size_t)(slash - path.p) + 1) : path;
}

static bool is_libc(struct str name)
{
	static const char *const begins[] = { "libc.so", "libc-", "libpthread", "ld-musl-", "libc.musl-" };

	for (size_t i = 0; i < countof(begins); i++)
		if (str_starts(name, (struct str){ begins[i], strlen(begins[i]) }))
			return true;
	return false;
}

void rootframes_learn(struct rootframes *rootframes, const struct process *process, const uint64_t *ips, size_t n)
{
	struct root_frames like = { .pid = process ? process->pid : 0 };

	for (size_t index = 1; index <= ROOTFRAMES_FRAMES && index < n && process && process->maps; index++) {
		if (ips[n - index] > INT64_MAX || ips[n - index - 1] > INT64_MAX)
			return;
		like.inner = ips[n - index - 1];
		memmove(like.outer + 1, like.outer, (ROOTFRAMES_FRAMES - 1) * sizeof(like.outer[0]));
		like.outer[0] = ips[n - index];
		if (!like.inner || !is_libc(file_of(process, like.inner)))
			return;
		rootframes_learn_frames(rootframes, &like);
	}
}

const struct root_frames *rootframes_find(const struct rootframes *rootframes, uint32_t pid, uint64_t inner)
{
	const struct root_frames *found = inner ? find_in_set(&rootframes->slot[set_of(pid, inner)], pid, inner) : NULL;

	return found && !found->unsure ? found : NULL;
}
