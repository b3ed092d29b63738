/* Damaged heaps: the pages that a real node's stack leads to, with words that are replaced. Each stack is read within
 * its budget, and names are text. */
/* covers: runtimes/v8/v8frames.c runtimes/v8/v8code.c runtimes/v8/v8heap.c runtimes/v8/v8function.c */
#include "test/lib/nodes.h"

#define PAGE 4096u
#define PAGES_MAX 512u
#define ROUNDS 6000u
#define STEPS 200000u

static struct v8 live, v8;
static struct noderun run;
static struct v8_frames frames;
static struct v8_stack stack;
static struct memory_part part[PAGES_MAX];
static char page[PAGES_MAX][PAGE];
static size_t npages;
static uint64_t state = 88172645463325252u;

static uint64_t next(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

static int part_cmp(const void *left, const void *right)
{
	const struct memory_part *a = left, *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

/* Copies the pages that the cache of the memory holds. */
static void copy_pages(void)
{
	for (size_t i = 0; i < PAGES_MAX; i++) {
		uint64_t address = run.memory.number[i] ? (run.memory.number[i] - 1) * PAGE : 0;

		if (address && pread(run.memory.fd, page[npages], PAGE, (off_t)address) == PAGE) {
			part[npages] = (struct memory_part){ address, PAGE, page[npages] };
			npages++;
		}
	}
	qsort(part, npages, sizeof(*part), part_cmp);
}

/* Reads all functions of the stack. Returns their number. */
static uint32_t read_all(struct v8 *of, unsigned *bad)
{
	struct v8_function function;
	uint32_t n = 0;

	v8_frames(of, &stack, &frames);
	for (uint32_t i = 0; i < frames.n; i++) {
		*bad += frames.frame[i].kind > V8_UNPROVEN || frames.frame[i].fp < stack.start ||
			frames.frame[i].fp - stack.start >= stack.bytes.n;
		if (frames.frame[i].kind == V8_UNPROVEN || !v8_function(of, frames.frame[i].shared, &function))
			continue;
		n++;
		*bad += function.name[0] == 0 || strnlen(function.name, V8_NAME_MAX) == V8_NAME_MAX ||
			strnlen(function.file, V8_NAME_MAX) == V8_NAME_MAX || (function.line && !function.file[0]);
	}
	return n;
}

/* Returns a value for a damaged word: what is there elsewhere, or what breaks arithmetic. */
static uint64_t damage(uint64_t before)
{
	const struct memory_part *from = &part[next() % npages];
	static const uint64_t edge[] = { 0,
					 1,
					 UINT64_MAX,
					 UINT64_C(1) << 63,
					 UINT32_MAX,
					 UINT64_C(0x7fffffff) << 32,
					 UINT64_C(0xffffffff) << 32,
					 UINT64_C(0x80000000) << 32 };

	switch (next() % 6) {
	case 0: return edge[next() % countof(edge)];
	case 1: return before ^ UINT64_C(1) << next() % 64;
	case 2: return from->address + 8 * (next() % (PAGE / 8)) + 1;
	case 3: return before + 8 * (next() % 33) - 128;
	case 4: return next() >> next() % 64;
	default: memcpy(&before, from->bytes + 8 * (next() % (PAGE / 8)), 8); return before;
	}
}

/* Damages one to eight words of the heap, or of the stack, reads, and repairs them. Returns the number of functions. */
static uint32_t round_of(struct memory *image, unsigned *bad, uint64_t *most)
{
	struct readbudget budget = { .steps = STEPS, .bytes = 1 << 20 };
	char *at[8];
	uint64_t before[8];
	size_t n = 1 + next() % 8;
	uint32_t found;

	for (size_t i = 0; i < n; i++) {
		uint64_t word;

		at[i] = next() % 4 ? page[next() % npages] + 8 * (next() % (PAGE / 8)) :
				     run.stack + 8 * (next() % (stack.bytes.n / 8 < 512 ? stack.bytes.n / 8 : 512));
		memcpy(&before[i], at[i], 8);
		word = damage(before[i]);
		memcpy(at[i], &word, 8);
	}
	memory_forget(image);
	image->budget = &budget;
	found = read_all(&v8, bad);
	if (STEPS - budget.steps > *most)
		*most = STEPS - budget.steps;
	while (n-- > 0)
		memcpy(at[n], &before[n], 8);
	return found;
}

/* Makes an image of the pages that were read, and reads it. Returns the number of its functions, with the image open if
 * these are three or more. The cache of pages, from which they are copied, may lack some. */
static uint32_t read_image(struct memory *image, unsigned *bad)
{
	uint32_t n;

	npages = 0;
	copy_pages();
	memory_image(image, part, npages);
	image->budget = &run.budget;
	v8 = live;
	v8.memory = image;
	n = read_all(&v8, bad);
	if (n < 3)
		memory_close(image);
	return n;
}

/* Starts node, and makes an image of a stack of three functions or more. Returns their number; 0 if that fails: where
 * two pages of the stack have one place in the cache, which depends on the addresses of the process, the image lacks
 * one. */
static uint32_t start_node(const char *node, const char *option, const char *mode, struct memory *image, unsigned *bad,
			   bool *traced)
{
	uint32_t all = 0;

	*traced = noderun_start(&run, node, option, mode);
	if (!*traced || noderun_open(&run, &live) != V8_OPEN)
		return 0;
	for (unsigned i = 0; i < 60 && all < 3 && noderun_stop(&run, &stack); i++) {
		all = read_all(&live, bad) < 3 ? 0 : read_image(image, bad);
		if (all < 3) {
			noderun_go_on(&run);
			usleep(5000);
		}
	}
	return all < 3 ? 0 : all;
}

static void check(const char *node, const char *option, const char *mode)
{
	struct memory image = { .fd = -1 };
	char what[PATH_MAX + 64];
	unsigned bad = 0, less = 0;
	uint64_t most = 0;
	bool traced;
	uint32_t all = start_node(node, option, mode, &image, &bad, &traced);

	if (!traced) {
		noderun_end(&run);
		printf("ok %d # SKIP %s: a process may not be traced here\n", ++tap_n, node);
		return;
	}
	for (unsigned i = 0; i < 8 && !all; i++) {
		noderun_end(&run);
		all = start_node(node, option, mode, &image, &bad, &traced);
	}
	snprintf(what, sizeof(what), "%s %s: a stack of %u functions", node, mode, all);
	if (ok(all >= 3, what)) {
		for (unsigned i = 0; i < ROUNDS; i++) {
			v8 = live;
			v8.memory = &image;
			less += round_of(&image, &bad, &most) < all;
		}
		memory_close(&image);
		printf("# %zu pages; %u of %u rounds have fewer functions; at most %llu steps\n", npages, less, ROUNDS,
		       (unsigned long long)most);
		ok(less > 0 && less < ROUNDS, "  damage removes functions, as far as it concerns them");
		is_u64(bad, 0, "  no frame outside of the stack, no name that is no text");
	}
	noderun_end(&run);
}

int main(void)
{
	static char node[16][PATH_MAX];
	size_t n = nodes_find(node, 16);

	if (!n) {
		printf("1..0 # SKIP no node\n");
		return 0;
	}
	for (size_t i = 0; i < n; i++) {
		check(node[i], NULL, "flat");
		check(node[i], "--jitless", "names");
	}
	return done();
}
