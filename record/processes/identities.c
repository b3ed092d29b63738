/* SPDX-License-Identifier: Apache-2.0 */
#include "record/processes/identities.h"

#include "common/arena.h"
#include "common/clocks.h"
#include "record/processes/procfs.h"
#include "common/process/timelimit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Minimum duration in ns of a lookup that is charged to IDENTITY_WAITS_NS. Ordinary lookups take 0.1 ms and are not
 * charged, even if all processes of a large host are looked up. */
#define SLOW_NS (IDENTITY_WAIT_MS * SECOND_NS / 2000)

struct identities {
	/* second: current second of CLOCK_MONOTONIC. waited: total duration of the slow lookups in this second, in
	 * ns. */
	uint64_t second, waited;
	bool (*read)(uint32_t pid, struct identity *found);
};

struct lookup {
	bool (*read)(uint32_t pid, struct identity *found);
	uint32_t pid;
	bool good;
	struct identity found;
};

static bool read_identity(uint32_t pid, struct identity *found)
{
	struct process process = { .pid = pid };
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%u", pid);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return false;
	procfs_identify(&process);
	*found = (struct identity){ .tenant = tenant_of_blocking(fd),
				    .start_ticks = process.start_ticks,
				    .mount_ns = process.mount_ns,
				    .inner_pid = process.inner_pid };
	close(fd);
	return true;
}

static void run_lookup(void *arg)
{
	struct lookup *lookup = arg;

	lookup->good = lookup->read(lookup->pid, &lookup->found);
}

static uint64_t place_of_lookup(void *arg)
{
	const struct lookup *lookup = arg;

	return tenant_place_of_pid(lookup->pid);
}

struct identities *identities_new(void)
{
	struct identities *i = mem_alloc(sizeof(*i), 1);

	i->read = read_identity;
	return i;
}

void identities_free(struct identities *i)
{
	free(i);
}

void identities_reader(struct identities *i, bool (*read)(uint32_t pid, struct identity *found))
{
	i->read = read;
}

static bool identities_look_up(const struct identities *i, uint32_t pid, struct identity *found)
{
	struct lookup *lookup = mem_alloc(sizeof(*lookup), 1);
	bool good;

	lookup->read = i->read;
	lookup->pid = pid;
	if (!timelimit_call(&(struct timelimit_call){ run_lookup, free, place_of_lookup, lookup, IDENTITY_WAIT_MS, 0 }))
		return false;
	good = lookup->good;
	*found = lookup->found;
	free(lookup);
	return good;
}

static bool find_in_time(struct identities *i, uint32_t pid, struct identity *found)
{
	uint64_t now = clock_now();
	bool good;

	if (now / SECOND_NS != i->second) {
		i->second = now / SECOND_NS;
		i->waited = 0;
	}
	if (i->waited >= IDENTITY_WAITS_NS)
		return false;
	good = identities_look_up(i, pid, found);
	now = clock_now() - now;
	if (now > SLOW_NS)
		i->waited += now;
	return good;
}

bool identities_find(struct identities *i, uint32_t pid, struct identity *found)
{
	bool good = find_in_time(i, pid, found);

	if (!good)
		*found = (struct identity){ .tenant = tenant_without_namespaces(pid) };
	return good;
}
