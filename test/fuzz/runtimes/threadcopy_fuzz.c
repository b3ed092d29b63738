/* threadcopy: the copy of a list of frames ends within its maxima, whatever memory and (valid) plan are, and each byte
 * of it is one of the memory. Input: 8 bytes for the plan, then the memory, from address 0x10000 on; a page of 256
 * bytes whose first byte is 0xee is missing. */
/* covers: runtimes/threadcopy.c */
#include "runtimes/threadcopy.h"

#include "test/fuzz/fuzz.h"

#define BASE UINT64_C(0x10000)
enum { PAGE = 256 };

struct image {
	struct str bytes;
	unsigned reads;
};

static bool missing(const struct image *image, uint64_t at)
{
	return at >= image->bytes.n || (uint8_t)image->bytes.p[at / PAGE * PAGE] == 0xee;
}

static size_t read_image(void *to, uint64_t address, void *into, size_t n)
{
	struct image *image = to;
	size_t got = 0;

	image->reads++;
	for (; got < n && !missing(image, address - BASE + got); got++)
		((char *)into)[got] = image->bytes.p[address - BASE + got];
	return got;
}

/* Makes it a plan of an array of frames if the shape is odd. Returns true if it is one. */
static bool shape_of_array(unsigned shape, struct threadplan *plan)
{
	uint32_t last = plan->hop[plan->nhops - 1];

	if (shape % 2 == 0)
		return false;
	plan->array.bytes = last + 8 + shape / 2;
	plan->array.start = shape / 2 * 3 % (plan->array.bytes - 7);
	plan->array.words = (plan->array.start + 8) % (plan->array.bytes - 7);
	plan->array.link_before = plan->before < shape ? plan->before : shape;
	return true;
}

static struct threadplan plan_of(struct str *rest)
{
	unsigned first = fuzz_byte(rest);
	struct threadplan plan = { .mask = ~UINT64_C(7), .nhops = 1 + first % THREADPLAN_HOPS };

	plan.root_bytes = 8 + fuzz_byte(rest);
	plan.hop[0] = fuzz_byte(rest) % (plan.root_bytes - 7);
	plan.hop[1] = plan.hop[2] = fuzz_byte(rest);
	plan.frame_bytes = 8 + fuzz_byte(rest);
	plan.next = fuzz_byte(rest) % (plan.frame_bytes - 7);
	plan.before = 16 * fuzz_byte(rest);
	plan.after = plan.frame_bytes + 16 * fuzz_byte(rest);
	plan.frames = 1 + plan.before * 7;
	plan.object = plan.next;
	plan.object_bytes = plan.before % 300;
	plan.object_last = plan.object;
	plan.objects = plan.object_bytes > 0 && plan.root_bytes % 2;
	if (shape_of_array(first / THREADPLAN_HOPS, &plan))
		plan.object_bytes = plan.objects = 0;
	return plan;
}

int fuzz_one(const uint8_t *data, size_t n)
{
	struct str rest = { (const char *)data, n };
	struct threadplan plan = plan_of(&rest);
	struct image image = { .bytes = rest };
	size_t max = n > 1 && data[1] & 1 ? THREADCOPY_BYTES : 3000;
	struct threadcopy *copy = calloc(1, sizeof(*copy) + max);

	MUST(copy && threadplan_valid(&plan));
	copy->root = BASE;
	threadcopy_follow(&plan, read_image, &image, max, copy);
	MUST(image.reads <= THREADCOPY_READS && copy->nareas <= THREADCOPY_READS && copy->nbytes <= max);
	MUST(copy->end <= THREADCOPY_FAILED);
	for (uint32_t i = 0, offset = 0; i < copy->nareas; i++) {
		const struct threadcopy_area *area = copy->area + i;

		MUST(area->offset == offset && area->n > 0 && area->address >= BASE);
		MUST(area->address - BASE + area->n <= image.bytes.n);
		MUST(memcmp(copy->bytes + offset, image.bytes.p + (area->address - BASE), area->n) == 0);
		offset += area->n;
		MUST(offset <= copy->nbytes);
	}
	free(copy);
	return 0;
}
