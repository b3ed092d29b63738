/*
 * fakejvm - processes that have the memory of a HotSpot (test/lib/synth.h), whose contents attack the reader.
 *
 *	fakejvm stubs COUNT
 *		code blobs of stubs of 4 MB, in which an entry seems to begin every few bytes
 *	fakejvm segmap COUNT
 *		a segment map of 512 MB in which no block begins
 *	fakejvm maze COUNT
 *		the same, each byte of which leads back by another number of segments
 *	fakejvm deep COUNT
 *		blocks everywhere, each sampled once: as many lookups as there are samples
 *	fakejvm slow COUNT MS
 *		the same segment map, in a file system (FUSE) that answers each read after MS milliseconds; needs a
 *		node of /dev/fuse that may be opened, called fuse, in the current folder
 *	fakejvm hang COUNT
 *		a segment map of 512 kB, as small as that of a genuine JVM, in such a file system, which does not answer
 *		for 100 s. Started as root, in whose stead fusermount mounts for users (the kernel lets nobody else read
 *		a file system of another user namespace); becomes uid 65534
 *
 * COUNT processes share the memory; together they use a third of a CPU, at random addresses. They end with their
 * parent, and after PJ_HOSTILE_SECS + 30 seconds. PJ_SEED chooses the JDK, the offsets of its fields, sizes and
 * addresses.
 */
#include "test/lib/standin.h"

#include "attack.h"
#include "fuse.h"
#include "common/str.h"

#include <errno.h>
#include <grp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>

enum { MB = 1 << 20, SLOT = 64, SPIN_NS = 300000, NAME_AT = 2048, BLOCK_AT = 4096 };

/* The code heap that takes the place of the image's; its memory has the same address here and there. */
struct heap {
	uint64_t low, bytes, map, map_bytes;
	unsigned shift;
	uint64_t code, code_bytes; /* the part of it where functions are */
};

static _Noreturn void fail(const char *what)
{
	perror(what);
	exit(1);
}

/* ---- memory ---- */

static uint64_t number_at(const struct synth *synth, uint64_t address)
{
	uint64_t value;

	memcpy(&value, synth->byte + (address - SYNTH_BASE), 8);
	return value;
}

static void set_at(const struct synth *synth, uint64_t object, const char *type, const char *name, uint64_t value)
{
	int i = synth_field(synth, type, name);

	if (i >= 0)
		memcpy((void *)(uintptr_t)(object + synth->at[i]), &value, synth_fields[i].width);
}

/* The CodeHeap of the image: JDK 8 has one, later ones a list. */
static uint64_t code_heap(const struct synth *synth)
{
	int one = synth_field(synth, "CodeCache", "_heap"), list = synth_field(synth, "CodeCache", "_heaps");

	if (one >= 0)
		return number_at(synth, synth->at[one]);
	return number_at(synth, number_at(synth, number_at(synth, synth->at[list]) +
							 synth->at[synth_field(synth, "GrowableArray<int>", "_data")]));
}

static void use_heap(struct synth *synth, const struct heap *h)
{
	uint64_t heap = code_heap(synth);
	uint64_t memory = heap + synth->at[synth_field(synth, "CodeHeap", "_memory")],
		 map = heap + synth->at[synth_field(synth, "CodeHeap", "_segmap")];

	synth_set(synth, memory, "VirtualSpace", "_low", h->low);
	synth_set(synth, memory, "VirtualSpace", "_high", h->low + h->bytes);
	synth_set(synth, map, "VirtualSpace", "_low", h->map);
	synth_set(synth, map, "VirtualSpace", "_high", h->map + h->map_bytes);
	synth_set(synth, heap, "CodeHeap", "_log2_segment_size", h->shift);
}

static void *map_at(uint64_t address, uint64_t n, int protection, int fd)
{
	void *p = mmap((void *)(uintptr_t)address, n, protection, MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0);

	if (p == MAP_FAILED)
		fail("mmap");
	return p;
}

static int shared_memory(uint64_t n)
{
	int fd = memfd_create("heap", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, (off_t)n) < 0)
		fail("memfd");
	return fd;
}

/* mov ecx, turns; loop: dec ecx; jnz loop; ret */
static void put_function(unsigned char *at, uint32_t turns)
{
	*at++ = 0xb9;
	memcpy(at, &turns, 4);
	memcpy(at + 4, "\xff\xc9\x75\xfc\xc3", 5);
}

/* ---- attacks ---- */

static struct heap stubs(struct synth *synth)
{
	uint64_t block = 4 * MB, n = 4 + synth_lot(synth, 5), skip = 5 + synth_lot(synth, 3);
	struct heap h = { .low = UINT64_C(0x7e0000000000) + synth_lot(synth, 4096) * block,
			  .bytes = n * block,
			  .shift = 12 };
	int memory = shared_memory(h.bytes), map = shared_memory(MB);
	unsigned char *at = map_at(h.low, h.bytes, PROT_READ | PROT_WRITE | PROT_EXEC, memory), *hop;

	h.map = h.low + 1024 * block;
	h.map_bytes = h.bytes >> h.shift;
	hop = map_at(h.map, MB, PROT_READ | PROT_WRITE, map);
	for (uint64_t i = 0; i < n; i++, at += block) {
		uint64_t blob = h.low + i * block + synth_size(synth, "block"), begin = h.low + i * block + BLOCK_AT,
			 end = h.low + (i + 1) * block;

		for (uint64_t k = 0; k < block >> h.shift; k++)
			hop[i * (block >> h.shift) + k] = (unsigned char)(k ? (k - 1) % 254 + 1 : 0);
		for (uint64_t k = BLOCK_AT; k + skip <= block; k += skip)
			memcpy(at + k, "\xc3\x55\x48\x8b\xec", 5);
		for (uint64_t k = BLOCK_AT; k < BLOCK_AT + 64 * SLOT; k += SLOT)
			put_function(at + k, 60000);
		memcpy(at + NAME_AT, "StubRoutines (2)", 17);
		set_at(synth, h.low + i * block, "HeapBlock::Header", "_length", block >> h.shift);
		set_at(synth, h.low + i * block, "HeapBlock::Header", "_used", 1);
		set_at(synth, blob, "CodeBlob", "_name", h.low + i * block + NAME_AT);
		set_at(synth, blob, "CodeBlob", "_size", end - blob);
		set_at(synth, blob, "CodeBlob", "_code_begin", begin);
		set_at(synth, blob, "CodeBlob", "_code_end", end);
		set_at(synth, blob, "CodeBlob", "_code_offset", begin - blob);
		set_at(synth, blob, "CodeBlob", "_data_offset", end - blob);
	}
	h.code = h.low;
	h.code_bytes = block;
	return h;
}

/* Functions at the end of a heap of 4 GB; where its segment map lies is left to the caller. */
static struct heap large(struct synth *synth)
{
	struct heap h = { .low = UINT64_C(0x7c0000000000) + synth_lot(synth, 4096) * 16 * MB,
			  .bytes = (uint64_t)4096 * MB,
			  .shift = 3 };
	unsigned char *at;

	h.map = h.low + 2 * h.bytes;
	h.map_bytes = h.bytes >> h.shift;
	h.code_bytes = 4 * MB;
	h.code = h.low + h.bytes - h.code_bytes;
	at = map_at(h.code, h.code_bytes, PROT_READ | PROT_WRITE | PROT_EXEC, shared_memory(h.code_bytes));
	for (uint64_t k = 0; k < h.code_bytes; k += SLOT)
		put_function(at + k, 30000);
	return h;
}

static struct heap segmap(struct synth *synth, bool maze)
{
	struct heap h = large(synth);
	uint64_t n = 2 * MB;
	int fd = shared_memory(n);
	unsigned char *at = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	for (uint64_t i = 0; i < n; i++)
		at[i] = maze ? (unsigned char)(1 + synth_lot(synth, 254)) : 1;
	for (uint64_t i = 0; i < h.map_bytes; i += n)
		map_at(h.map + i, n, PROT_READ, fd);
	return h;
}

/* Each function is a blob of its own, and compiled code. */
static struct heap deep(struct synth *synth)
{
	struct heap h = { .low = UINT64_C(0x7d0000000000) + synth_lot(synth, 4096) * 64 * MB,
			  .bytes = 64 * MB,
			  .shift = 7 };
	uint64_t each = 1024, name = h.low + h.bytes - 64;
	unsigned char *at = map_at(h.low, h.bytes, PROT_READ | PROT_WRITE | PROT_EXEC, shared_memory(h.bytes)), *hop;

	h.map = h.low + 4 * h.bytes;
	h.map_bytes = h.bytes >> h.shift;
	hop = map_at(h.map, h.map_bytes, PROT_READ | PROT_WRITE, shared_memory(h.map_bytes));
	for (uint64_t i = 0; i < h.map_bytes; i++)
		hop[i] = (unsigned char)(i % (each >> h.shift));
	for (uint64_t k = 0; k + 2 * each <= h.bytes; k += each) {
		uint64_t blob = h.low + k + synth_size(synth, "block"), begin = h.low + k + each / 2 + SLOT,
			 end = h.low + k + each;

		put_function(at + k + each / 2 + SLOT, 10000);
		set_at(synth, h.low + k, "HeapBlock::Header", "_length", each >> h.shift);
		set_at(synth, h.low + k, "HeapBlock::Header", "_used", 1);
		set_at(synth, blob, "CodeBlob", "_name", name);
		set_at(synth, blob, "CodeBlob", "_kind", 1);
		set_at(synth, blob, "CodeBlob", "_size", end - blob);
		set_at(synth, blob, "CodeBlob", "_code_begin", begin);
		set_at(synth, blob, "CodeBlob", "_code_end", end);
		set_at(synth, blob, "CodeBlob", "_code_offset", begin - blob);
		set_at(synth, blob, "CodeBlob", "_data_offset", end - blob);
		set_at(synth, blob, "CodeBlob", "_frame_size", 4);
		set_at(synth, blob, "nmethod", "_method", h.low + k);
		set_at(synth, blob, "CompiledMethod", "_method", h.low + k);
		set_at(synth, blob, "nmethod", "_compile_id", k / each + 1);
	}
	memcpy(at + h.bytes - 64, "nmethod", 8);
	h.code = h.low;
	h.code_bytes = h.bytes - 2 * each;
	return h;
}

/* ---- a file system that takes its time ---- */

static void reply(int fd, const struct fuse_in_header *header, int error, const void *p, size_t n)
{
	if (!fuse_answer(fd, header, error, p, n))
		fail("fuse");
}

/* One folder (1) with one file (2), whose bytes are all 1. */
static void serve(int fd, uint64_t bytes, unsigned ms)
{
	static char buffer[1 << 20], ones[1 << 20];
	struct fuse_attr folder = { .ino = 1, .mode = S_IFDIR | 0755, .nlink = 2 },
			 file = { .ino = 2, .mode = S_IFREG | 0444, .nlink = 1, .size = bytes };
	struct timespec wait = { (time_t)(ms / 1000), (long)(ms % 1000) * 1000000 };

	memset(ones, 1, sizeof(ones));
	for (ssize_t n; (n = read(fd, buffer, sizeof(buffer))) > 0 || errno == EINTR || errno == ENOENT;) {
		const struct fuse_in_header *in = (const void *)buffer;
		const struct fuse_attr *attr = in->nodeid == 1 ? &folder : &file;

		if (n < (ssize_t)sizeof(*in))
			continue;
		if (in->opcode == FUSE_INIT) {
			reply(fd, in, 0, &(struct fuse_init_out){ .major = 7, .minor = 31, .max_write = 4096 },
			      sizeof(struct fuse_init_out));
		} else if (in->opcode == FUSE_LOOKUP) {
			reply(fd, in, 0, &(struct fuse_entry_out){ .nodeid = 2, .attr = file },
			      sizeof(struct fuse_entry_out));
		} else if (in->opcode == FUSE_GETATTR) {
			reply(fd, in, 0, &(struct fuse_attr_out){ .attr = *attr }, sizeof(struct fuse_attr_out));
		} else if (in->opcode == FUSE_OPEN) {
			reply(fd, in, 0, &(struct fuse_open_out){ .fh = 1 }, sizeof(struct fuse_open_out));
		} else if (in->opcode == FUSE_READ) {
			const struct fuse_read_in *r = (const void *)(in + 1);

			nanosleep(&wait, NULL);
			reply(fd, in, 0, ones, r->size < sizeof(ones) ? r->size : sizeof(ones));
		} else if (in->opcode != FUSE_FORGET && in->opcode != FUSE_BATCH_FORGET &&
			   in->opcode != FUSE_INTERRUPT) {
			reply(fd, in, in->opcode == FUSE_FLUSH || in->opcode == FUSE_RELEASE ? 0 : -ENOSYS, NULL, 0);
		}
	}
}

static struct heap slow(struct heap heap, const char *dir, unsigned ms)
{
	char options[128], mount_at[96], path[128];
	int fd;

	if (geteuid() == 0) {
		if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
			fail("unshare");
	} else {
		enter_user_namespace(getuid(), getgid());
	}
	fd = open("fuse", O_RDWR | O_CLOEXEC);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40755,user_id=%u,group_id=%u%s", fd, getuid(), getgid(),
		 geteuid() ? "" : ",allow_other");
	snprintf(mount_at, sizeof(mount_at), "%s/slow", dir);
	snprintf(path, sizeof(path), "%s/libjvm.so", dir);
	if (fd < 0 || mkdir(mount_at, 0700) < 0 || mount("pj", mount_at, "fuse", MS_NOSUID | MS_NODEV, options) < 0)
		fail("fuse");
	if (geteuid() == 0 &&
	    (lchown(dir, 65534, 65534) < 0 || lchown(path, 65534, 65534) < 0 || setgroups(0, NULL) < 0 ||
	     setresgid(65534, 65534, 65534) < 0 || setresuid(65534, 65534, 65534) < 0))
		fail("setresuid");
	prctl(PR_SET_DUMPABLE, 1);
	if (fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		serve(fd, heap.map_bytes, ms);
		_exit(0);
	}
	close(fd); /* whoever has it keeps the file system alive */
	snprintf(path, sizeof(path), "%s/map", mount_at);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		fail(path);
	map_at(heap.map, heap.map_bytes, PROT_READ, fd);
	return heap;
}

/* The last 64 MB of the large heap. */
static struct heap small(struct synth *synth)
{
	struct heap h = large(synth);

	h.low += h.bytes - 64 * MB;
	h.bytes = 64 * MB;
	h.shift = 7;
	h.map_bytes = h.bytes >> h.shift;
	return h;
}

/* ---- processes ---- */

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Calls functions of the heap, each another time; what each of the processes uses is a third of a CPU divided by their
 * number. */
static _Noreturn void burn(struct synth *synth, const struct heap *heap, unsigned number, unsigned count)
{
	synth->seed += number * UINT64_C(0x9e3779b97f4a7c15);
	for (;;) {
		uint64_t until = clock_ns(CLOCK_PROCESS_CPUTIME_ID) + SPIN_NS, rest;

		while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < until) {
			uint64_t at = heap->code + synth_lot(synth, heap->code_bytes / SLOT) * SLOT;

			if (*(const unsigned char *)(uintptr_t)at == 0xb9)
				((void (*)(void))(uintptr_t)at)();
		}
		rest = (uint64_t)SPIN_NS * 3 * count;
		nanosleep(&(struct timespec){ (time_t)(rest / 1000000000), (long)(rest % 1000000000) }, NULL);
	}
}

static struct heap make(struct synth *synth, const char *mode, const char *dir, unsigned ms)
{
	if (strcmp(mode, "stubs") == 0)
		return stubs(synth);
	if (strcmp(mode, "segmap") == 0 || strcmp(mode, "maze") == 0)
		return segmap(synth, mode[0] == 'm');
	if (strcmp(mode, "deep") == 0)
		return deep(synth);
	if (strcmp(mode, "hang") == 0)
		return slow(small(synth), dir, 100000);
	return slow(large(synth), dir, ms);
}

int main(int argc, char **argv)
{
	static const unsigned jdks[] = { SYNTH_8, SYNTH_17, SYNTH_21, SYNTH_25 };
	const char *seed = getenv("PJ_SEED"), *secs = getenv("PJ_HOSTILE_SECS");
	unsigned count = argc > 2 ? (unsigned)atoi(argv[2]) : 0, ms = argc > 3 ? (unsigned)atoi(argv[3]) : 0;
	uint64_t lot = seed ? strtoull(seed, NULL, 10) : 1;
	struct standin j;
	struct heap h;

	if (count == 0 || count > 1000)
		return 2;
	alarm((secs ? (unsigned)atoi(secs) : 20) + 30);
	if (!standin_make(&j, jdks[lot % countof(jdks)]))
		fail("standin");
	j.s.seed ^= lot << 20;
	h = make(&j.s, argv[1], j.dir, ms);
	use_heap(&j.s, &h);
	for (unsigned i = 0; i < count; i++) {
		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			if (standin_map(&j))
				burn(&j.s, &h, i, count);
			_exit(1);
		}
	}
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}
