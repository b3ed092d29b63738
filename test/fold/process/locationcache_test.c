/* Code of JITs by time: each jitdump has its own clock. */
/* covers: fold/process/locationcache.c */
#include "fold/process/locationcache.h"
#include "common/formats/pjsection.h"
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

/* Maps anonymous executable memory at 0x1000. */
static void map_code(struct addrspace *as, uint32_t pid)
{
	struct perfdata_record record = { .kind = PERFDATA_MMAP, .pid = pid, .tid = pid, .time = 5, .has_time = true };

	record.mmap.start = 0x1000;
	record.mmap.length = 0x1000;
	record.mmap.protection = 4;
	record.mmap.path = STR("//anon");
	addrspace_record(as, &record);
}

static void map_dump(struct locationcache *cache, uint32_t pid)
{
	static const struct perfdata_info info = { .clock = CLOCK_MONOTONIC };
	static const struct provenance origin;
	struct perfdata_record record = { .kind = PERFDATA_MMAP, .pid = pid, .tid = pid, .time = 5, .has_time = true };
	char path[64];

	map_code(cache->as, pid);
	snprintf(path, sizeof(path), "/jit-%u.dump", (unsigned)pid);
	record.mmap.start = 0x100000;
	record.mmap.length = 0x1000;
	record.mmap.protection = 4;
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

/* Reads the two items of pjrecord that describe code of a process at 0x1000, with the name "late". */
static void take_code(struct recorder *recorder, uint32_t pid)
{
	static const struct pj_code_name name = { .number = 1, .size = 4 };
	const struct pj_code_names names = { .pid = pid, .jvm = 1 };
	const struct pj_codes codes = { .pid = pid, .jvm = 1 };
	const struct pj_code code = { .start = 0x1000, .from = 10, .until = UINT64_MAX, .size = 0x100, .nnames = 1 };
	static const uint32_t number = 1;
	struct text body = { 0 };

	text_bytes(&body, &names, sizeof(names));
	text_bytes(&body, &name, sizeof(name));
	text_add(&body, "late");
	ok(!windowcode_take_names(recorder->code, text_view(&body)), "the names are valid");
	body.n = 0;
	text_bytes(&body, &codes, sizeof(codes));
	text_bytes(&body, &code, sizeof(code));
	text_bytes(&body, &number, sizeof(number));
	ok(!windowcode_take(recorder->code, text_view(&body)), "the code is valid");
	text_free(&body);
}

/* In a pipe, the item with the code of an address may follow samples at the address. */
static void late_code(void)
{
	static struct addrspace as;
	struct locations locations = { 0 };
	struct recorder recorder = { .is = true, .code = windowcode_new() };
	struct locationcache cache = { .as = &as,
				       .locations = &locations,
				       .recorder = &recorder,
				       .timelines = { .dir = -1 },
				       .piped = true,
				       .monotonic = true };

	addrspace_init(&as, false);
	map_code(&as, 7);
	is_str(name_at(&cache, 7, 15), STR("(no code)"), "an address has no code before the item");
	take_code(&recorder, 7);
	is_str(name_at(&cache, 7, 20), STR("late"), "the same address has code after the item");
	locationcache_free(&cache);
	locations_free(&locations);
	addrspace_free(&as);
	windowcode_free(recorder.code);
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
	late_code();
	return done();
}
