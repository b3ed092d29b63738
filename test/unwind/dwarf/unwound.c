/* unwound - unwinds the samples that samples.c wrote, of whatever processor: unwound FILE PROGRAM [ROOT-OF-LIBRARIES]
 * Prints those that are not what libgcc found there, then "samples N, same N, to the root N, frames N". Ends in 1
 * unless all are.
 *
 * unwound -c | -s FILE PROGRAM: the same as perf would have recorded it, on stdout: with the callchains that libgcc
 * found, or with registers and stacks; only whole ones. */
#include "unwind/dwarf/cfiunwind.h"

#include "common/arena.h"
#include "common/formats/perfrecord.h"
#include "common/text.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { OBJECTS = 32, WORDS = 256, COPY = 16384 };

struct sample {
	uint64_t reg[WORDS], want[WORDS];
	unsigned nregs, nwant;
	char stack[COPY];
	size_t ncopied;
};

static struct object {
	uint64_t bias, start, end, offset;
	char path[1024];
	struct unwind_table *table;
} object[OBJECTS];
static unsigned nobjects;

static const struct processor *processor_of_sample(const struct sample *sample)
{
	return sample->nregs == 33 ? &processor_aarch64 : &processor_x86_64;
}

/* ---- the file ---- */

static bool read_object(const char *line, const char *program)
{
	struct object o = { 0 };

	if (nobjects == OBJECTS || sscanf(line, "object %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %1000s",
					  &o.bias, &o.start, &o.end, &o.offset, o.path) != 5)
		return false;
	if (strcmp(o.path, "-") == 0)
		snprintf(o.path, sizeof(o.path), "%s", program);
	object[nobjects++] = o;
	return true;
}

static unsigned words(const char *line, uint64_t *to)
{
	unsigned n = 0;
	char *end;

	for (const char *p = strchr(line, ' '); p && n < WORDS; p = *end == ' ' ? end : NULL)
		to[n++] = strtoull(p, &end, 16);
	return n;
}

static size_t bytes(const char *line, char *to)
{
	size_t n = 0;
	unsigned v;

	while (n < COPY && sscanf(line + 2 * n, "%2x", &v) == 1)
		to[n++] = (char)v;
	return n;
}

/* The next sample; objects are in front of all. */
static bool next(FILE *file, const char *program, struct sample *sample)
{
	static char line[1 << 17];

	while (fgets(line, sizeof(line), file)) {
		if (strncmp(line, "object ", 7) == 0 && !read_object(line, program))
			return false;
		if (strncmp(line, "reg ", 4) == 0)
			sample->nregs = words(line, sample->reg);
		if (strncmp(line, "stack ", 6) == 0)
			sample->ncopied = fgets(line, sizeof(line), file) ? bytes(line, sample->stack) : 0;
		if (strncmp(line, "want ", 5) == 0) {
			sample->nwant = words(line, sample->want);
			return true;
		}
	}
	return false;
}

/* ---- unwinding ---- */

static struct unwind_code code_of(uint64_t address)
{
	for (unsigned i = 0; i < nobjects; i++)
		if (address >= object[i].start && address < object[i].end)
			return (struct unwind_code){ object[i].table, object[i].bias };
	return (struct unwind_code){ 0 };
}

static void open_tables(const char *program, const char *root)
{
	for (struct object *o = object; o < object + nobjects; o++) {
		char full[2200];
		const char *why;

		snprintf(full, sizeof(full), "%s%s", strcmp(o->path, program) == 0 ? "" : root, o->path);
		o->table = unwind_table_open(open(full, O_RDONLY | O_CLOEXEC), &why);
		if (!o->table)
			fprintf(stderr, "unwound: %s: %s\n", full, why);
	}
}

/* How many callers are the same, and whether the stack ends in a root; libgcc knows no stubs of PLTs, so ours may be
 * longer. */
static unsigned walk(struct unwind_state *state, const uint64_t *want, unsigned nwant, bool *root, bool print)
{
	enum unwind_end end = UNWIND_MORE;
	unsigned i = 0;

	for (; end == UNWIND_MORE && i < WORDS && (i >= nwant || state->ip == want[i]); i++) {
		end = unwind_step(state, code_of(state->ip - !state->interrupted), i == 0);
		if (print)
			printf("    %d %" PRIx64 " sp %" PRIx64 "\n", (int)end, state->ip, state->sp);
	}
	*root = end == UNWIND_ROOT;
	return i < nwant ? i : nwant;
}

static int compare(FILE *file, const char *program, const char *root)
{
	static struct sample a;
	unsigned samples = 0, same = 0, roots = 0, frames = 0;

	while (next(file, program, &a)) {
		const struct processor *p = processor_of_sample(&a);
		struct unwind_state s, again;
		unsigned found;
		bool complete;

		if (samples == 0)
			open_tables(program, root);
		if (!unwind_start_on(p, &s, p->perf, a.reg, 2, (struct str){ a.stack, a.ncopied }))
			return 1;
		again = s;
		found = walk(&s, a.want, a.nwant, &complete, false);
		samples++;
		frames += found;
		same += found == a.nwant;
		roots += complete;
		if (found != a.nwant || !complete) {
			printf("sample %u: %u of %u, ip %" PRIx64 ", want %" PRIx64 "\n", samples, found, a.nwant, s.ip,
			       found < a.nwant ? a.want[found] : 0);
			walk(&again, a.want, a.nwant, &complete, true);
		}
	}
	printf("samples %u, same %u, to the root %u, frames %u\n", samples, same, roots, frames);
	for (unsigned i = 0; i < nobjects; i++)
		unwind_table_close(object[i].table);
	return samples && same == samples && roots == samples ? 0 : 1;
}

/* ---- perf.data ---- */

enum { PID = 4242 };

static void put_u32(struct text *text, uint32_t v)
{
	text_bytes(text, &v, sizeof(v));
}

static void put_u64(struct text *text, uint64_t v)
{
	text_bytes(text, &v, sizeof(v));
}

static void put_string(struct text *text, const char *string) /* to a multiple of 8 */
{
	text_add(text, string);
	do
		text_char(text, 0);
	while (text->n % 8);
}

static size_t begin(struct text *text, uint32_t type, uint16_t misc)
{
	struct perf_record r = { .type = type, .misc = misc };

	text_bytes(text, &r, sizeof(r));
	return text->n - sizeof(r);
}

static void end(struct text *text, size_t start)
{
	uint16_t size = (uint16_t)(text->n - start);

	memcpy(text->p + start + offsetof(struct perf_record, size), &size, sizeof(size));
}

static void put_process(struct text *text)
{
	size_t start = begin(text, RECORD_COMM, 0);

	put_u32(text, PID);
	put_u32(text, PID);
	put_string(text, "load");
	end(text, start);
	for (const struct object *o = object; o < object + nobjects; o++) {
		start = begin(text, RECORD_MMAP2, 2);
		put_u32(text, PID);
		put_u32(text, PID);
		put_u64(text, o->start);
		put_u64(text, o->end - o->start);
		put_u64(text, o->offset);
		text_bytes(text, (const char[32]){ 0 }, 32); /* which file it was; what it allowed */
		put_string(text, o->path);
		end(text, start);
	}
}

static void put_sample(struct text *text, const struct sample *sample, bool stacks)
{
	size_t start = begin(text, RECORD_SAMPLE, 2);
	uint64_t ip = processor_of_sample(sample)->link ? sample->reg[32] : sample->reg[8];

	put_u64(text, ip);
	put_u32(text, PID);
	put_u32(text, PID);
	put_u64(text, 1);
	if (stacks) {
		put_u64(text, 0); /* no callchain from the kernel */
		put_u64(text, 2); /* 64 bits */
		text_bytes(text, sample->reg, 8 * sample->nregs);
		put_u64(text, COPY);
		text_bytes(text, sample->stack, COPY);
		put_u64(text, sample->ncopied);
	} else {
		put_u64(text, sample->nwant + 1);
		put_u64(text, CONTEXT_USER);
		text_bytes(text, sample->want, 8 * sample->nwant);
	}
	end(text, start);
}

/* Where whole stacks end, as libgcc found it: in a stub of a PLT it finds no caller. */
static uint64_t find_root(FILE *file, const char *program)
{
	static struct sample s;
	unsigned max = 0;
	uint64_t root = 0;

	while (next(file, program, &s))
		if (s.nwant > max) {
			max = s.nwant;
			root = s.want[max - 1];
		}
	rewind(file);
	nobjects = 0;
	return root;
}

static int record(FILE *file, const char *program, bool stacks)
{
	static struct sample s;
	uint64_t root = find_root(file, program);
	struct perf_event_attr a = { .type = PERF_TYPE_SOFTWARE,
				     .size = sizeof(a),
				     .sample_period = 1,
				     .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
						    PERF_SAMPLE_CALLCHAIN };
	struct perf_file_header h = { .magic = PERF_MAGIC,
				      .size = sizeof(h),
				      .attr_size = sizeof(a) + sizeof(struct perf_section) };
	struct perf_section ids = { 0 }, machine;
	struct text t = { 0 };

	while (next(file, program, &s)) {
		if (t.n == 0)
			put_process(&t);
		if (s.nwant && s.want[s.nwant - 1] == root)
			put_sample(&t, &s, stacks);
	}
	a.sample_type |= stacks ? PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER : 0;
	a.sample_regs_user = stacks ? processor_of_sample(&s)->perf : 0;
	a.sample_stack_user = stacks ? COPY : 0;
	h.attrs = (struct perf_section){ sizeof(h), h.attr_size };
	h.data = (struct perf_section){ sizeof(h) + h.attr_size, t.n };
	h.features[0] = 1U << FEATURE_ARCH;
	machine = (struct perf_section){ h.data.offset + h.data.size + sizeof(machine), 4 + 64 };
	fwrite(&h, sizeof(h), 1, stdout);
	fwrite(&a, sizeof(a), 1, stdout);
	fwrite(&ids, sizeof(ids), 1, stdout);
	fwrite(t.p, t.n, 1, stdout);
	fwrite(&machine, sizeof(machine), 1, stdout);
	fwrite(&(uint32_t){ 64 }, 4, 1, stdout);
	fwrite(processor_of_sample(&s)->link ? (char[64]){ "aarch64" } : (char[64]){ "x86_64" }, 64, 1, stdout);
	text_free(&t);
	return fflush(stdout) == 0 && root ? 0 : 1;
}

int main(int argc, char **argv)
{
	bool chains = argc > 1 && strcmp(argv[1], "-c") == 0, stacks = argc > 1 && strcmp(argv[1], "-s") == 0;
	char **arg = argv + 1 + (chains || stacks);
	FILE *f = argc > 2 + (chains || stacks) ? fopen(arg[0], "r") : NULL;

	if (!f)
		return 2;
	return chains || stacks ? record(f, arg[1], stacks) : compare(f, arg[1], arg[2] ? arg[2] : "");
}
