/* Code of JITs by time: each jitdump has its own clock. */
/* covers: fold/process/locationcache.c */
#include "fold/process/locationcache.h"
#include "fold/jit/jitdump.h"
#include "test/fold/jit/jitdump_write.h"
#include "test/lib/tap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static char dir[] = "/tmp/pj-locationcache.XXXXXX";

/* Writes the jitdump of a process, DIR/jit-PID.dump: code at 0x1000 from time 10 on, other code there from 20 on. */
static void write_dump(uint32_t pid, uint64_t flags)
{
	struct text text = { 0 };
	char path[64];
	int fd;

	jit_header(&text, pid, flags);
	jit_load(&text, 10, 0x1000, 0x100, 1, "old");
	jit_load(&text, 20, 0x1000, 0x100, 2, "new");
	snprintf(path, sizeof(path), "%s/jit-%u.dump", dir, (unsigned)pid);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	if (fd < 0 || write(fd, text.p, text.n) != (ssize_t)text.n)
		exit(1);
	close(fd);
	text_free(&text);
}

static void map_dump(struct locationcache *cache, uint32_t pid)
{
	static const struct perfdata_info info = { .clock = CLOCK_MONOTONIC };
	static const struct provenance origin;
	struct perfdata_record record = { .kind = PERFDATA_MMAP, .pid = pid, .tid = pid, .time = 5, .has_time = true };
	char path[64];

	record.mmap.start = 0x1000;
	record.mmap.length = 0x1000;
	record.mmap.protection = 4;
	record.mmap.path = STR("//anon");
	addrspace_record(cache->as, &record);
	snprintf(path, sizeof(path), "/jit-%u.dump", (unsigned)pid);
	record.mmap.start = 0x100000;
	record.mmap.path = str_of(path);
	addrspace_record(cache->as, &record);
	locationcache_map(cache, &record, &origin, &info);
	snprintf(path, sizeof(path), "%s/jit-%u.dump", dir, (unsigned)pid);
	unlink(path);
}

static struct str name_at(struct locationcache *cache, uint32_t pid, uint64_t time)
{
	uint32_t id = locationcache_locate(cache, addrspace_thread(cache->as, pid, pid), MODE_USER, 0x1010, time);
	const struct location *location = &cache->locations->location[id];

	return location->kind == LOCATION_CODE ? location_code_of(location)->name : STR("(no code)");
}

int main(void)
{
	static struct addrspace as;
	struct locations locations = { 0 };
	struct locationcache cache = {
		.as = &as, .locations = &locations, .symfs = dir, .timelines = { .dir = -1 }, .monotonic = true
	};

	if (!mkdtemp(dir))
		return 1;
	addrspace_init(&as, false);
	write_dump(100, 0);
	write_dump(101, 1); /* times of the processor's counter */
	write_dump(102, 0);
	map_dump(&cache, 100);
	map_dump(&cache, 101);
	is_str(name_at(&cache, 100, 15), STR("old"), "code at the time of the sample");
	is_str(name_at(&cache, 101, 15), STR("new"), "the newest code, if the jitdump has another clock");
	map_dump(&cache, 102);
	is_str(name_at(&cache, 102, 15), STR("old"), "a third process, by time");
	is_str(name_at(&cache, 101, 15), STR("new"), "  which changes nothing for the second");
	is_str(name_at(&cache, 100, 25), STR("new"), "  nor for the first");
	locationcache_free(&cache);
	locations_free(&locations);
	addrspace_free(&as);
	rmdir(dir);
	return done();
}
