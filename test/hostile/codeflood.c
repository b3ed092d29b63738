/*
 * codeflood - processes that have the memory of a HotSpot (test/jmap/synth.h), and code that costs a reader of all of
 *it much:
 *
 *	codeflood scopes COUNT	compiled methods whose tables of inlined calls are 8 MB, 255 calls deep and 4,096 nodes
 *wide codeflood blobs COUNT	a code cache of up to 4 GB with a blob in every 1 or 2 kB, in memory of 4 MB codeflood
 *names COUNT	methods whose names are up to 60 kB long, and new ones all the time codeflood young COUNT	the code
 *cache of "blobs", in processes that live for half a second, one after the other
 *
 * COUNT processes share the memory. Some times a second all compile ids and names change, so that to a reader all code
 *is new. They end with their parent, and after PJ_HOSTILE_SECS + 30 seconds. PJ_SEED chooses the JDK, where its fields
 *lie, sizes and order.
 */
#include "test/jmap/standin.h"

#include <sys/resource.h>
#include <time.h>

enum { MB = 1 << 20, DEPTH = 255, CHAINS = 17, METHODS_MAX = 4096 };

/* The code heap that takes the place of the image's, and what is changed in it. */
struct heap {
	uint64_t low, bytes, map, map_bytes;
	unsigned shift;
	unsigned char *unit;         /* memory that is mapped again and again */
	uint64_t unit_bytes, stride; /* a blob in every so many bytes of it */
	char *letters, first;        /* that names are of; the least of 26 */
	uint64_t letters_bytes;
};

static _Noreturn void fail(const char *what)
{
	perror(what);
	exit(1);
}

/* ---- memory ---- */

static void set_at(const struct synth *s, unsigned char *object, const char *type, const char *name, uint64_t value)
{
	int i = synth_field(s, type, name);

	if (i >= 0)
		memcpy(object + s->at[i], &value, synth_fields[i].width);
}

static uint64_t get_at(const struct synth *s, uint64_t object, const char *type, const char *name)
{
	int i = synth_field(s, type, name);
	uint64_t value = 0;

	if (i >= 0)
		memcpy(&value, s->byte + (object - SYNTH_BASE) + s->at[i], synth_fields[i].width);
	return value;
}

static uint64_t pointer_at(const struct synth *s, uint64_t address)
{
	uint64_t value;

	memcpy(&value, s->byte + (address - SYNTH_BASE), 8);
	return value;
}

/* The CodeHeap of the image: JDK 8 has one, later ones a list. */
static void use_heap(struct synth *s, const struct heap *h)
{
	int one = synth_field(s, "CodeCache", "_heap"), list = synth_field(s, "CodeCache", "_heaps");
	uint64_t heap =
		one >= 0 ? pointer_at(s, s->at[one]) :
			   pointer_at(s, pointer_at(s, pointer_at(s, s->at[list]) +
							       s->at[synth_field(s, "GrowableArray<int>", "_data")]));
	uint64_t memory = heap + s->at[synth_field(s, "CodeHeap", "_memory")],
		 map = heap + s->at[synth_field(s, "CodeHeap", "_segmap")];

	synth_set(s, memory, "VirtualSpace", "_low", h->low);
	synth_set(s, memory, "VirtualSpace", "_high", h->low + h->bytes);
	synth_set(s, map, "VirtualSpace", "_low", h->map);
	synth_set(s, map, "VirtualSpace", "_high", h->map + h->map_bytes);
	synth_set(s, heap, "CodeHeap", "_log2_segment_size", h->shift);
}

static void *map_at(uint64_t address, uint64_t n, int fd)
{
	void *p = mmap((void *)(uintptr_t)address, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0);

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

/* A blob in a block of h->stride bytes at offset k of the unit, with code of 64 bytes and `tables` bytes after it;
 * returns where the blob is. */
static unsigned char *put_blob(struct synth *s, const struct heap *h, uint64_t k, uint64_t method, uint64_t name,
			       uint64_t tables)
{
	unsigned char *block = h->unit + k, *blob = block + synth_size(s, "block");
	uint64_t code = (synth_size(s, "blob") + 15) / 16 * 16, address = h->low + k + synth_size(s, "block");

	set_at(s, block, "HeapBlock::Header", "_length", h->stride >> h->shift);
	set_at(s, block, "HeapBlock::Header", "_used", 1);
	set_at(s, blob, "CodeBlob", "_name", name);
	set_at(s, blob, "CodeBlob", "_kind", method ? 1 : 2);
	set_at(s, blob, "CodeBlob", "_size", code + 64 + tables);
	set_at(s, blob, "CodeBlob", "_code_begin", address + code);
	set_at(s, blob, "CodeBlob", "_code_end", address + code + 64);
	set_at(s, blob, "CodeBlob", "_code_offset", code);
	set_at(s, blob, "CodeBlob", "_data_offset", code + 64);
	set_at(s, blob, "CodeBlob", "_frame_size", 4);
	set_at(s, blob, "nmethod", "_method", method);
	set_at(s, blob, "CompiledMethod", "_method", method);
	set_at(s, blob, "nmethod", "_compile_id", k / h->stride + 1);
	return blob;
}

/* Addresses of the image: a Method, and what HotSpot calls its code. */
static uint64_t image_blob(const struct synth *s, unsigned number)
{
	return s->heap + s->segments[7 + number] * SYNTH_SEGMENT + synth_size(s, "block");
}

static uint64_t image_method(const struct synth *s, unsigned number)
{
	uint64_t method = get_at(s, image_blob(s, number), "nmethod", "_method");

	return method ? method : get_at(s, image_blob(s, number), "CompiledMethod", "_method");
}

/* One map for all: 0 where a block starts. */
static void put_segment_map(struct heap *h)
{
	uint64_t each = h->stride >> h->shift;
	unsigned char *map;

	h->map_bytes = h->bytes >> h->shift;
	map = map_at(h->map, h->map_bytes, shared_memory(h->map_bytes));
	if (each > 1)
		for (uint64_t i = 0; i < h->map_bytes; i++)
			map[i] = (unsigned char)(i % each ? (i % each - 1) % 254 + 1 : 0);
}

/* ---- attacks ---- */

/* UNSIGNED5 of JDK 20 and later, and of earlier ones. */
static size_t put_number(unsigned char *to, uint32_t value, unsigned excluded)
{
	size_t n = 0;
	uint32_t low = 192 - excluded;

	while (value >= low && n < 4) {
		value -= low;
		to[n++] = (unsigned char)(192 + value % 64);
		value /= 64;
	}
	to[n++] = (unsigned char)(value + excluded);
	return n;
}

/* Chains of calls, each another word of three methods: their scopes make a tree of 4,096 nodes. Returns where the last
 * scopes of chains are. */
static size_t put_scopes(struct synth *s, unsigned char *to, uint32_t last[CHAINS])
{
	unsigned excluded = s->jdk >= SYNTH_21;
	size_t n = 0;

	to[n++] = (unsigned char)excluded;
	for (unsigned c = 0; c < CHAINS; c++) {
		uint32_t sender = 0;

		for (unsigned i = 0; i < DEPTH; i++) {
			uint32_t here = (uint32_t)n;

			n += put_number(to + n, sender, excluded);
			n += put_number(to + n, i ? 1 + (uint32_t)synth_lot(s, 3) : 1, excluded);
			n += put_number(to + n, 0, excluded);
			sender = here;
		}
		last[c] = sender;
	}
	return n;
}

static struct heap scopes(struct synth *s)
{
	uint64_t pcs_bytes = (4 + synth_lot(s, 4)) * MB / 64 * 64, pc = synth_size(s, "pc"),
		 tables = 24 + 64 * 1024 + pcs_bytes;
	uint64_t count = 4 + synth_lot(s, 12), header = synth_size(s, "block"),
		 code = (synth_size(s, "blob") + 15) / 16 * 16 + 64;
	struct heap h = { .low = UINT64_C(0x7c0000000000), .stride = 16 * MB, .shift = 12 };
	uint32_t last[CHAINS];

	h.unit_bytes = h.bytes = count * h.stride;
	h.map = h.low + 2 * h.bytes;
	h.unit = map_at(h.low, h.bytes, shared_memory(h.bytes));
	for (uint64_t i = 0; i < count; i++) {
		unsigned char *blob = put_blob(s, &h, i * h.stride, image_method(s, 0),
					       get_at(s, image_blob(s, 0), "CodeBlob", "_name"), tables);
		uint64_t at = code, address = h.low + i * h.stride + header, scopes_at = at + 24,
			 pcs_at = scopes_at + 64 * 1024;
		bool new = s->jdk == SYNTH_25;

		for (unsigned k = 0; k < 3; k++) {
			uint64_t method = image_method(s, k);

			memcpy(blob + at + 8 * k, &method, 8);
		}
		put_scopes(s, blob + scopes_at + (new ? pcs_bytes : 0), last);
		if (new)
			pcs_at = scopes_at;
		for (uint64_t k = 0; k < pcs_bytes / pc; k++) {
			set_at(s, blob + pcs_at + k * pc, "PcDesc", "_pc_offset", k * pc * 64 / pcs_bytes);
			set_at(s, blob + pcs_at + k * pc, "PcDesc", "_scope_decode_offset", last[synth_lot(s, CHAINS)]);
		}
		set_at(s, blob, "nmethod", "_metadata_offset", at);
		set_at(s, blob, "nmethod", "_scopes_data_offset", new ? pcs_bytes : scopes_at);
		set_at(s, blob, "CompiledMethod", "_scopes_data_begin", address + scopes_at);
		set_at(s, blob, "nmethod", "_scopes_pcs_offset", new ? 0 : pcs_at);
		set_at(s, blob, "nmethod", "_dependencies_offset", pcs_at + pcs_bytes);
		set_at(s, blob, "nmethod", "_immutable_data", address + pcs_at);
		set_at(s, blob, "nmethod", "_immutable_data_size", pcs_bytes + 64 * 1024);
		set_at(s, blob, "CodeBlob", "_mutable_data", address + at);
		set_at(s, blob, "CodeBlob", "_mutable_data_size", 24);
		set_at(s, blob, "CodeBlob", "_relocation_size", 0);
	}
	put_segment_map(&h);
	return h;
}

static struct heap blobs(struct synth *s)
{
	struct heap h = { .low = UINT64_C(0x7c0000000000),
			  .bytes = (uint64_t)4096 * MB >> synth_lot(s, 6),
			  .unit_bytes = 4 * MB,
			  .stride = 1024u << synth_lot(s, 2) };
	int fd = shared_memory(h.unit_bytes);

	for (h.shift = 6; 1u << h.shift < h.stride && synth_lot(s, 4); h.shift++)
		;
	h.map = h.low + (uint64_t)8192 * MB;
	h.unit = map_at(h.low, h.unit_bytes, fd);
	for (uint64_t k = 0; k < h.unit_bytes; k += h.stride) {
		unsigned number = (unsigned)synth_lot(s, 3);

		put_blob(s, &h, k, synth_lot(s, 4) ? image_method(s, number) : 0,
			 get_at(s, image_blob(s, number), "CodeBlob", "_name"), 0);
	}
	for (uint64_t k = h.unit_bytes; k < h.bytes; k += h.unit_bytes)
		map_at(h.low + k, h.unit_bytes, fd);
	put_segment_map(&h);
	return h;
}

/* Each two letters are a length, of 257 to 6,682, 8,481 to 14,906 or 24,929 to 31,354, so a Symbol is at each address
 * among letters. */
static struct heap names(struct synth *s)
{
	uint64_t count = METHODS_MAX / 2 + synth_lot(s, METHODS_MAX / 2), objects = 16 * MB,
		 header = synth_size(s, "pool");
	struct heap h = { .low = UINT64_C(0x7c0000000000), .stride = 2048, .shift = 7, .letters_bytes = 2 * MB };
	unsigned char *at;
	uint64_t base, pool, klass;

	h.first = "\1!a"[synth_lot(s, 3)];
	h.unit_bytes = h.bytes = count * h.stride;
	h.map = h.low + (uint64_t)4096 * MB;
	h.unit = map_at(h.low, h.bytes, shared_memory(h.bytes));
	base = h.map + (uint64_t)1024 * MB;
	at = map_at(base, objects, shared_memory(objects));
	h.letters = map_at(base + objects, h.letters_bytes, shared_memory(h.letters_bytes));
	for (uint64_t i = 0; i < h.letters_bytes; i++)
		h.letters[i] = (char)(h.first + (char)synth_lot(s, 26));
	pool = base + 8 * MB;
	klass = base + 12 * MB;
	set_at(s, at + 12 * MB, "Klass", "_name", base + objects + synth_lot(s, 1000));
	set_at(s, at + 8 * MB, "ConstantPool", "_pool_holder", klass);
	set_at(s, at + 8 * MB, "ConstantPool", "_length", count + 1);
	for (uint64_t i = 0; i < count; i++) {
		uint64_t method = base + i * 512, of = method + 256,
			 symbol = base + objects + synth_lot(s, h.letters_bytes - 65536);

		memcpy(at + 8 * MB + header + 8 * (i + 1), &symbol, 8);
		set_at(s, at + i * 512, "Method", "_constMethod", of);
		set_at(s, at + i * 512 + 256, "ConstMethod", "_constants", pool);
		set_at(s, at + i * 512 + 256, "ConstMethod", "_name_index", i + 1);
		set_at(s, at + i * 512 + 256, "ConstMethod", "_signature_index", count - i);
		put_blob(s, &h, i * h.stride, method, get_at(s, image_blob(s, 0), "CodeBlob", "_name"), 0);
	}
	put_segment_map(&h);
	return h;
}

/* ---- processes ---- */

/* To a reader all code is another. */
static void change(struct synth *s, const struct heap *h, uint64_t turn)
{
	for (uint64_t k = 0; k < h->unit_bytes; k += h->stride)
		set_at(s, h->unit + k + synth_size(s, "block"), "nmethod", "_compile_id",
		       k / h->stride + 1 + turn * 1000003);
	for (uint64_t i = 0; i < h->letters_bytes; i += 1 + synth_lot(s, 8192))
		h->letters[i] = (char)(h->first + (char)synth_lot(s, 26));
}

static pid_t start(const struct standin *j)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (standin_map(j))
			for (;;)
				pause();
		_exit(1);
	}
	return pid;
}

int main(int argc, char **argv)
{
	static const unsigned jdks[] = { SYNTH_8, SYNTH_17, SYNTH_21, SYNTH_25 };
	const char *seed = getenv("PJ_SEED"), *secs = getenv("PJ_HOSTILE_SECS"), *mode = argc > 2 ? argv[1] : "";
	unsigned count = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
	bool many = strcmp(mode, "blobs") == 0 || strcmp(mode, "young") == 0;
	long pause_ms =
		strcmp(mode, "names") == 0 ? 400 : 50; /* names that change while they are read count for nothing */
	uint64_t lot = seed ? strtoull(seed, NULL, 10) : 1;
	pid_t pid[1000];
	struct standin j;
	struct heap h;

	if (count == 0 || count > 1000)
		return 2;
	alarm((secs ? (unsigned)atoi(secs) : 20) + 30);
	setpriority(PRIO_PROCESS, 0, 10);
	/* memory that is mapped again and again has code at offsets, as JDK 8 and 25 have */
	if (!standin_make(&j, jdks[many ? lot % 2 * 3 : lot % countof(jdks)]))
		fail("standin");
	j.s.seed ^= lot << 20;
	h = many ? blobs(&j.s) : strcmp(mode, "scopes") == 0 ? scopes(&j.s) : names(&j.s);
	use_heap(&j.s, &h);
	for (unsigned i = 0; i < count; i++)
		pid[i] = start(&j);
	puts("ready");
	fflush(stdout);
	for (uint64_t turn = 1;; turn++) {
		nanosleep(&(struct timespec){ 0, pause_ms * 1000000 }, NULL);
		change(&j.s, &h, turn);
		for (unsigned i = 0; i < count && strcmp(mode, "young") == 0 && turn % 10 == 0; i++) {
			kill(pid[i], SIGKILL);
			waitpid(pid[i], NULL, 0);
			pid[i] = start(&j);
		}
	}
}
