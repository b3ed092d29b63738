/* Inlined calls: of this program itself, which has debug information; and of copies of which any byte may be wrong. */
/* covers: fold/symbols/inlines.c fold/symbols/dies.c fold/symbols/dwarfimage.c */
#include "fold/symbols/elfsyms.h"
#include "fold/symbols/inlines.h"

#include "test/lib/tap.h"
#include "common/text.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define COPIES 400 /* damaged ones */
#define PLACES 2000

/* ---- inlined functions ------------------------------------------------------------------------------------------ */

/* Each place is one instruction; the label is beside it. */
#define PLACE(label) __asm__ volatile(".globl " #label "\n" #label ":\tnop")

extern const char place_inner[], place_middle[], place_outer[];

static inline __attribute__((always_inline)) void inner_call(int *x)
{
	PLACE(place_inner);
	++*x;
}

static inline __attribute__((always_inline)) void middle_call(int *x)
{
	inner_call(x);
	{
		int y = *x + 1;

		PLACE(place_middle);
		*x = y;
	}
}

static __attribute__((noinline)) int outer_call(int x)
{
	middle_call(&x);
	PLACE(place_outer);
	return x;
}

/* ---- this program as a file ------------------------------------------------------------------------------------- */

static struct text read_self(void)
{
	struct text t = { 0 };
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0)
		exit(1);
	text_reserve(&t, (size_t)st.st_size);
	while (t.n < (size_t)st.st_size) {
		ssize_t n = read(fd, t.p + t.n, (size_t)st.st_size - t.n);

		if (n <= 0)
			exit(1);
		t.n += (size_t)n;
	}
	close(fd);
	return t;
}

extern const char __ehdr_start[]; /* the linker's: the first byte of the file, where it is mapped */

/* The place in the file of an address of this process. */
static uint64_t offset_of(const struct elffile *elffile, const char *address)
{
	uint64_t at;

	return elffile_offset(elffile, (uint64_t)(address - __ehdr_start) + elffile->segment[0].vaddr, &at) ? at : 0;
}

/* "middle_call|inner_call" at a place. */
static void calls_at(struct elffile *elffile, uint64_t place, struct text *out, const char **why)
{
	struct symbols_query q = { .address = place };
	struct inlines_options o = { 0 };
	struct intern names = { 0 };

	*why = inlines_resolve(&o, elffile, elffile, &q, 1, &names);
	out->n = 0;
	if (q.inlined)
		text_str(out, intern_str(&names, q.inlined));
	for (size_t i = 0; i < out->n; i++)
		if (out->p[i] == 0)
			out->p[i] = '|';
	intern_free(&names);
}

/* ---- damage ----------------------------------------------------------------------------------------------------- */

static uint64_t seed = 1;

static uint64_t number(uint64_t below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (seed >> 33) % below;
}

/* All over the debug information, some bytes of a copy are others; some files end too early. */
static size_t query_damaged(struct text *copy, const struct elffile *good, const struct symbols_query *all)
{
	struct symbols_query *q = malloc(PLACES * sizeof(*q));
	struct inlines_options o = { .as_perf = number(2) };
	struct intern names = { 0 };
	struct elffile f;
	size_t n = copy->n, answered = 0;
	uint64_t changes = 1 + number(8);

	if (!q)
		exit(1);
	memcpy(q, all, PLACES * sizeof(*q));
	while (changes) {
		const struct elf_section *s = &good->section[1 + number(good->sections - 1)];
		char value[] = { 0, 1, (char)0xff, (char)0x80, (char)number(256) };

		if (!str_starts(s->name, STR(".debug_")) || s->size == 0)
			continue;
		/* most tables are telling at their beginning */
		copy->p[s->offset + number(number(2) ? s->size : s->size < 64 ? s->size : 64)] = value[number(5)];
		changes--;
	}
	if (number(10) == 0)
		n = (size_t)number(n);
	if (!elffile_open_image(&f, (struct str){ copy->p, n })) {
		inlines_resolve(&o, &f, &f, q, PLACES, &names);
		for (size_t i = 0; i < PLACES; i++) {
			answered += q[i].inlined != 0;
			if (q[i].inlined > names.n || (q[i].inlined && intern_str(&names, q[i].inlined).n == 0))
				answered = SIZE_MAX / 2;
		}
	}
	elffile_close(&f);
	intern_free(&names);
	free(q);
	return answered;
}

static void test_input_errors(const struct text *self, const struct elffile *good, uint64_t first, uint64_t last)
{
	struct symbols_query *q = malloc(PLACES * sizeof(*q));
	size_t answered = 0;

	if (!q)
		exit(1);
	for (size_t i = 0; i < PLACES; i++)
		q[i] = (struct symbols_query){ .address = first + (last - first) * i / PLACES };
	for (int i = 0; i < COPIES && answered < SIZE_MAX / 2; i++) {
		struct text copy = { 0 };

		text_str(&copy, text_view(self));
		answered += query_damaged(&copy, good, q);
		text_free(&copy);
	}
	ok(answered < SIZE_MAX / 2, "400 damaged copies: answers are names");
	ok(answered > 0, "... and what is good in them is used");
	free(q);
}

int main(void)
{
	struct text self = read_self(), out = { 0 };
	struct str view = text_view(&self);
	const struct elf_section *code;
	struct elffile f;
	const char *why;

	if (elffile_open_image(&f, view)) {
		ok(false, "this program is an ELF file");
		return done();
	}
	code = elffile_section(&f, STR(".text"));
	if (!inlines_here || !elffile_section(&f, STR(".debug_info"))) {
		printf("1..0 # SKIP %s\n",
		       inlines_here ? "built without debug information (-g)" : "built without libdw");
		return 0;
	}
	ok(outer_call(1) > 1, "the calls are there");
	calls_at(&f, offset_of(&f, place_inner), &out, &why);
	is_str(text_view(&out), STR("middle_call|inner_call"), "two calls, one in the other");
	ok(!why, "no damage");
	calls_at(&f, offset_of(&f, place_middle), &out, &why);
	is_str(text_view(&out), STR("middle_call"), "within a block");
	calls_at(&f, offset_of(&f, place_outer), &out, &why);
	is_str(text_view(&out), STR(""), "nothing was inlined");
	calls_at(&f, self.n + 1, &out, &why);
	is_str(text_view(&out), STR(""), "a place behind the file");
	test_input_errors(&self, &f, code->offset, code->offset + code->size);
	elffile_close(&f);
	text_free(&self);
	text_free(&out);
	return done();
}
