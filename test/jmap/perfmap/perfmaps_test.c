/* Limits of the maps that pjmap writes, with a publisher that writes them: a tenant at its limit loses the oldest maps
 * of processes that ended, never one of a process that lives, and never the file of another process. At the limit of
 * all, tenants without a living process lose theirs. */
/* covers: jmap/perfmap/perfmaps.c jmap/perfmap/publisher.c jmap/perfmap/mapfile.c */
#include "jmap/perfmap/perfmaps.h"
#include "test/lib/tap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[] = "/tmp/pj-perfmaps.XXXXXX";
static const struct tenant first = { TENANT_USER, 1 }, second = { TENANT_USER, 2 };

static const char *path_of(pid_t pid)
{
	static char path[64];

	snprintf(path, sizeof(path), "%s/perf-%d.map", dir, (int)pid);
	return path;
}

/* Returns the size of the map of a process in bytes; -1 if there is none. */
static long size_of(pid_t pid)
{
	struct stat status;

	return lstat(path_of(pid), &status) == 0 ? (long)status.st_size : -1;
}

/* Writes a map of n bytes as pjmap does. Returns false if its tenant has no space for it. */
static bool put(struct perfmaps *maps, pid_t pid, struct tenant tenant, size_t n)
{
	const struct taskid_user owner = { geteuid(), getegid() };
	static const char bytes[256];
	int fd;
	const char *failed;

	if (!perfmaps_reserve(maps, pid, tenant, n))
		return false;
	fd = memfd_create("map", MFD_CLOEXEC);
	if (fd < 0 || write(fd, bytes, n) != (ssize_t)n)
		abort();
	failed = publisher_put(maps->publisher, pid, fd, n, &owner, false);
	close(fd);
	if (failed)
		perror(failed);
	perfmaps_written(maps, pid, &owner);
	return true;
}

static void test_limit_of_tenant(struct perfmaps *maps)
{
	struct stat status = { 0 };

	ok(put(maps, 101, first, 40) && put(maps, 102, first, 40), "two maps within the limit of their tenant");
	ok(size_of(101) == 40 && size_of(102) == 40, "  both are written");
	ok(lstat(path_of(101), &status) == 0 && (status.st_mode & 07777) == 0600 && status.st_uid == geteuid(),
	   "  for the owner of the process alone");
	ok(!put(maps, 103, first, 40), "no third one while both processes live");
	ok(size_of(101) == 40 && size_of(102) == 40 && size_of(103) == -1, "  nothing is emptied for it");
	perfmaps_ended(maps, 101);
	is_u64((uint64_t)size_of(101), 40, "the map of a process that ended remains");
	ok(put(maps, 103, first, 40), "  until a map of its tenant needs the space");
	ok(size_of(101) == 0 && size_of(102) == 40 && size_of(103) == 40, "  then it is emptied, and no other");
	ok(put(maps, 102, first, 60), "a map that grows within the limit is written again");
	ok(!put(maps, 102, first, 101) && size_of(102) == 0, "one that exceeds it is emptied: its names are old");
	is_u64((uint64_t)size_of(103), 40, "  the other stays");
}

/* 103 ends and another process gets its pid: its file is not pjmap's to empty. */
static void test_replaced(struct perfmaps *maps)
{
	char other[64];
	int fd;

	snprintf(other, sizeof(other), "%s/other", dir);
	fd = open(other, O_WRONLY | O_CREAT, 0600);
	if (fd < 0 || write(fd, "other", 5) != 5 || close(fd) != 0 || rename(other, path_of(103)) != 0)
		abort();
	perfmaps_ended(maps, 103);
	ok(put(maps, 104, first, 90), "the space of a map whose file was replaced is free");
	is_u64((uint64_t)size_of(103), 5, "  and the file of another process is left alone");
}

static void test_limit_of_all(struct perfmaps *maps)
{
	ok(put(maps, 201, second, 60), "another tenant has space of its own");
	ok(!put(maps, 202, second, 30), "  up to the limit of all tenants");
	ok(size_of(104) == 90 && size_of(201) == 60, "  and no tenant loses a map to another");
	ok(put(maps, 105, first, 0), "a second process of the first tenant");
	perfmaps_ended(maps, 104);
	ok(!put(maps, 202, second, 30) && size_of(104) == 90,
	   "nor the map of an ended process while the tenant has another");
	perfmaps_ended(maps, 105);
	ok(!put(maps, 202, second, 50) && size_of(104) == 90, "  nor for a tenant at its own limit");
	ok(put(maps, 202, second, 30), "without a living process, the tenant loses its oldest map");
	ok(size_of(104) == 0 && size_of(201) == 60 && size_of(202) == 30, "  and no other tenant does");
}

/* Ended processes whose maps have no bytes reach no limit of bytes. */
static void test_limit_of_number(struct perfmaps *maps)
{
	const pid_t base = 1000;

	for (pid_t pid = base; pid < base + 2 * PERFMAPS_N_MAX; pid++)
		if (perfmaps_reserve(maps, pid, first, 0))
			perfmaps_ended(maps, pid);
	is_u64(maps->n, PERFMAPS_N_MAX, "the list of maps has a maximum");
	ok(size_of(201) == 60 && size_of(202) == 30, "  living processes keep their maps");
	ok(perfmaps_reserve(maps, base, second, 0), "  and another tenant has space in it");
}

int main(void)
{
	const struct tenant_limits limits = { .stock = { [TENANT_SAVED_BYTES] = 100 },
					      .total = { [TENANT_SAVED_BYTES] = 150 } };
	struct perfmaps maps = { .dir = dir };
	struct publisher *publisher;
	struct tenants *tenants;

	if (!mkdtemp(dir))
		return 1;
	maps.publisher = publisher = publisher_start(dir);
	maps.tenants = tenants = tenants_new(&limits);
	test_limit_of_tenant(&maps);
	test_replaced(&maps);
	test_limit_of_all(&maps);
	test_limit_of_number(&maps);
	perfmaps_free(&maps);
	tenants_free(tenants);
	publisher_end(publisher);
	for (pid_t pid = 101; pid <= 202; pid++)
		unlink(path_of(pid));
	ok(rmdir(dir) == 0, "no temporary file is left");
	return done();
}
