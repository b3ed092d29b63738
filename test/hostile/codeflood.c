/*
 * codeflood - processes that have the memory of a HotSpot (test/lib/synth.h), and code that costs a reader of all of
 * it much.
 *
 *	codeflood scopes COUNT
 *		nmethods whose tables of inlined calls are 8 MB, 255 calls deep and 4,096 nodes wide
 *	codeflood blobs COUNT
 *		a code cache of up to 4 GB with a code blob in every 1 or 2 kB, in memory of 4 MB
 *	codeflood names COUNT
 *		methods whose names are up to 60 kB long, and new ones all the time
 *	codeflood young COUNT
 *		the code cache of "blobs", in processes that live for half a second, one after the other
 *
 * COUNT processes share the memory. Some times a second all compile ids and names change, so that to a reader all
 * code is new. They end with their parent, and after PJ_HOSTILE_SECS + 30 seconds. PJ_SEED chooses the JDK, the
 * offsets of its fields, sizes and order.
 */
#include "test/lib/standin.h"

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

static void set_at(const struct synth *synth, unsigned char *object, const char *type, const char *name, uint64_t value)
{
	int i = synth_field(synth, type, name);

	if (i >= 0)
		memcpy(object + synth->at[i], &value, synth_fields[i].width);
}

static uint64_t get_at(const struct synth *synth, uint64_t object, const char *type, const char *name)
{
	int i = synth_field(synth, type, name);
	uint64_t value = 0;

	if (i >= 0)
		memcpy(&value, synth->byte + (object - SYNTH_BASE) + synth->at[i], synth_fields[i].width);
	return value;
}

static uint64_t pointer_at(const struct synth *synth, uint64_t address)
{
	uint64_t value;

	memcpy(&value, synth->byte + (address - SYNTH_BASE), 8);
	return value;
}

/* The CodeHeap of the image: JDK 8 has one, later ones a list. */
static void use_heap(struct synth *synth, const struct heap *h)
{
	int one = synth_field(synth, "CodeCache", "_heap"), list = synth_field(synth, "CodeCache", "_heaps");
	uint64_t heap =
		one >= 0 ? pointer_at(synth, synth->at[one]) :
			   pointer_at(synth,
				      pointer_at(synth,
						 pointer_at(synth, synth->at[list]) +
							 synth->at[synth_field(synth, "GrowableArray<int>", "_data")]));
	uint64_t memory = heap + synth->at[synth_field(synth, "CodeHeap", "_memory")],
		 map = heap + synth->at[synth_field(synth, "CodeHeap", "_segmap")];

	synth_set(synth, memory, "VirtualSpace", "_low", h->low);
	synth_set(synth, memory, "VirtualSpace", "_high", h->low + h->bytes);
	synth_set(synth, map, "VirtualSpace", "_low", h->map);
	synth_set(synth, map, "VirtualSpace", "_high", h->map + h->map_bytes);
	synth_set(synth, heap, "CodeHeap", "_log2_segment_size", h->shift);
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

/* A blob in a block of heap->stride bytes at offset k of the unit, with code of 64 bytes and `tables` bytes after it;
 * returns where the blob is. */
static unsigned char *put_blob(struct synth *synth, const struct heap *heap, uint64_t k, uint64_t method, uint64_t name,
			       uint64_t tables)
{
	unsigned char *block = heap->unit + k, *blob = block + synth_size(synth, "block");
	uint64_t code = (synth_size(synth, "blob") + 15) / 16 * 16,
		 address = heap->low + k + synth_size(synth, "block");

	set_at(synth, block, "HeapBlock::Header", "_length", heap->stride >> heap->shift);
	set_at(synth, block, "HeapBlock::Header", "_used", 1);
	set_at(synth, blob, "CodeBlob", "_name", name);
	set_at(synth, blob, "CodeBlob", "_kind", method ? 1 : 2);
	set_at(synth, blob, "CodeBlob", "_size", code + 64 + tables);
	set_at(synth, blob, "CodeBlob", "_code_begin", address + code);
	set_at(synth, blob, "CodeBlob", "_code_end", address + code + 64);
	set_at(synth, blob, "CodeBlob", "_code_offset", code);
	set_at(synth, blob, "CodeBlob", "_data_offset", code + 64);
	set_at(synth, blob, "CodeBlob", "_frame_size", 4);
	set_at(synth, blob, "nmethod", "_method", method);
	set_at(synth, blob, "CompiledMethod", "_method", method);
	set_at(synth, blob, "nmethod", "_compile_id", k / heap->stride + 1);
	return blob;
}

/* Addresses of the image: a Method, and what HotSpot calls its code. */
static uint64_t image_blob(const struct synth *synth, unsigned number)
{
	return synth->heap + synth->segments[7 + number] * SYNTH_SEGMENT + synth_size(synth, "block");
}

static uint64_t image_method(const struct synth *synth, unsigned number)
{
	uint64_t method = get_at(synth, image_blob(synth, number), "nmethod", "_method");

	return method ? method : get_at(synth, image_blob(synth, number), "CompiledMethod", "_method");
}

/* One map for all: 0 where a block starts. */
static void put_segment_map(struct heap *heap)
{
	uint64_t each = heap->stride >> heap->shift;
	unsigned char *map;

	heap->map_bytes = heap->bytes >> heap->shift;
	map = map_at(heap->map, heap->map_bytes, shared_memory(heap->map_bytes));
	if (each > 1)
		for (uint64_t i = 0; i < heap->map_bytes; i++)
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
static size_t put_scopes(struct synth *synth, unsigned char *to, uint32_t last[CHAINS])
{
	unsigned excluded = synth->jdk >= SYNTH_21;
	size_t n = 0;

	to[n++] = (unsigned char)excluded;
	for (unsigned c = 0; c < CHAINS; c++) {
		uint32_t sender = 0;

		for (unsigned i = 0; i < DEPTH; i++) {
			uint32_t here = (uint32_t)n;

			n += put_number(to + n, sender, excluded);
			n += put_number(to + n, i ? 1 + (uint32_t)synth_lot(synth, 3) : 1, excluded);
			n += put_number(to + n, 0, excluded);
			sender = here;
		}
		last[c] = sender;
	}
	return n;
}

static struct heap scopes(struct synth *synth)
{
	uint64_t pcs_bytes = (4 + synth_lot(synth, 4)) * MB / 64 * 64, pc = synth_size(synth, "pc"),
		 tables = 24 + 64 * 1024 + pcs_bytes;
	uint64_t count = 4 + synth_lot(synth, 12), header = synth_size(synth, "block"),
		 code = (synth_size(synth, "blob") + 15) / 16 * 16 + 64;
	struct heap h = { .low = UINT64_C(0x7c0000000000), .stride = 16 * MB, .shift = 12 };
	uint32_t last[CHAINS];

	h.unit_bytes = h.bytes = count * h.stride;
	h.map = h.low + 2 * h.bytes;
	h.unit = map_at(h.low, h.bytes, shared_memory(h.bytes));
	for (uint64_t i = 0; i < count; i++) {
		unsigned char *blob = put_blob(synth, &h, i * h.stride, image_method(synth, 0),
					       get_at(synth, image_blob(synth, 0), "CodeBlob", "_name"), tables);
		uint64_t at = code, address = h.low + i * h.stride + header, scopes_at = at + 24,
			 pcs_at = scopes_at + 64 * 1024;
		bool new = synth->jdk == SYNTH_25;

		for (unsigned k = 0; k < 3; k++) {
			uint64_t method = image_method(synth, k);

			memcpy(blob + at + 8 * k, &method, 8);
		}
		put_scopes(synth, blob + scopes_at + (new ? pcs_bytes : 0), last);
		if (new)
			pcs_at = scopes_at;
		for (uint64_t k = 0; k < pcs_bytes / pc; k++) {
			set_at(synth, blob + pcs_at + k * pc, "PcDesc", "_pc_offset", k * pc * 64 / pcs_bytes);
			set_at(synth, blob + pcs_at + k * pc, "PcDesc", "_scope_decode_offset",
			       last[synth_lot(synth, CHAINS)]);
		}
		set_at(synth, blob, "nmethod", "_metadata_offset", at);
		set_at(synth, blob, "nmethod", "_scopes_data_offset", new ? pcs_bytes : scopes_at);
		set_at(synth, blob, "CompiledMethod", "_scopes_data_begin", address + scopes_at);
		set_at(synth, blob, "nmethod", "_scopes_pcs_offset", new ? 0 : pcs_at);
		set_at(synth, blob, "nmethod", "_dependencies_offset", pcs_at + pcs_bytes);
		set_at(synth, blob, "nmethod", "_immutable_data", address + pcs_at);
		set_at(synth, blob, "nmethod", "_immutable_data_size", pcs_bytes + 64 * 1024);
		set_at(synth, blob, "CodeBlob", "_mutable_data", address + at);
		set_at(synth, blob, "CodeBlob", "_mutable_data_size", 24);
		set_at(synth, blob, "CodeBlob", "_relocation_size", 0);
	}
	put_segment_map(&h);
	return h;
}

static struct heap blobs(struct synth *synth)
{
	struct heap h = { .low = UINT64_C(0x7c0000000000),
			  .bytes = (uint64_t)4096 * MB >> synth_lot(synth, 6),
			  .unit_bytes = 4 * MB,
			  .stride = 1024u << synth_lot(synth, 2) };
	int fd = shared_memory(h.unit_bytes);

	for (h.shift = 6; 1u << h.shift < h.stride && synth_lot(synth, 4); h.shift++)
		;
	h.map = h.low + (uint64_t)8192 * MB;
	h.unit = map_at(h.low, h.unit_bytes, fd);
	for (uint64_t k = 0; k < h.unit_bytes; k += h.stride) {
		unsigned number = (unsigned)synth_lot(synth, 3);

		put_blob(synth, &h, k, synth_lot(synth, 4) ? image_method(synth, number) : 0,
			 get_at(synth, image_blob(synth, number), "CodeBlob", "_name"), 0);
	}
	for (uint64_t k = h.unit_bytes; k < h.bytes; k += h.unit_bytes)
		map_at(h.low + k, h.unit_bytes, fd);
	put_segment_map(&h);
	return h;
}

/* Each two letters are a length, of 257 to 6,682, 8,481 to 14,906 or 24,929 to 31,354, so a Symbol is at each address
 * among letters. */
static struct heap names(struct synth *synth)
{
	uint64_t count = METHODS_MAX / 2 + synth_lot(synth, METHODS_MAX / 2), objects = 16 * MB,
		 header = synth_size(synth, "pool");
	struct heap h = { .low = UINT64_C(0x7c0000000000), .stride = 2048, .shift = 7, .letters_bytes = 2 * MB };
	unsigned char *at;
	uint64_t base, pool, klass;

	h.first = "\1!a"[synth_lot(synth, 3)];
	h.unit_bytes = h.bytes = count * h.stride;
	h.map = h.low + (uint64_t)4096 * MB;
	h.unit = map_at(h.low, h.bytes, shared_memory(h.bytes));
	base = h.map + (uint64_t)1024 * MB;
	at = map_at(base, objects, shared_memory(objects));
	h.letters = map_at(base + objects, h.letters_bytes, shared_memory(h.letters_bytes));
	for (uint64_t i = 0; i < h.letters_bytes; i++)
		h.letters[i] = (char)(h.first + (char)synth_lot(synth, 26));
	pool = base + 8 * MB;
	klass = base + 12 * MB;
	set_at(synth, at + 12 * MB, "Klass", "_name", base + objects + synth_lot(synth, 1000));
	set_at(synth, at + 8 * MB, "ConstantPool", "_pool_holder", klass);
	set_at(synth, at + 8 * MB, "ConstantPool", "_length", count + 1);
	for (uint64_t i = 0; i < count; i++) {
		uint64_t method = base + i * 512, of = method + 256,
			 symbol = base + objects + synth_lot(synth, h.letters_bytes - 65536);

		memcpy(at + 8 * MB + header + 8 * (i + 1), &symbol, 8);
		set_at(synth, at + i * 512, "Method", "_constMethod", of);
		set_at(synth, at + i * 512 + 256, "ConstMethod", "_constants", pool);
		set_at(synth, at + i * 512 + 256, "ConstMethod", "_name_index", i + 1);
		set_at(synth, at + i * 512 + 256, "ConstMethod", "_signature_index", count - i);
		put_blob(synth, &h, i * h.stride, method, get_at(synth, image_blob(synth, 0), "CodeBlob", "_name"), 0);
	}
	put_segment_map(&h);
	return h;
}

/* ---- processes ---- */

/* To a reader all code is another. */
static void change(struct synth *synth, const struct heap *heap, uint64_t turn)
{
	for (uint64_t k = 0; k < heap->unit_bytes; k += heap->stride)
		set_at(synth, heap->unit + k + synth_size(synth, "block"), "nmethod", "_compile_id",
		       k / heap->stride + 1 + turn * 1000003);
	for (uint64_t i = 0; i < heap->letters_bytes; i += 1 + synth_lot(synth, 8192))
		heap->letters[i] = (char)(heap->first + (char)synth_lot(synth, 26));
}

static pid_t start(const struct standin *standin)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (standin_map(standin))
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
