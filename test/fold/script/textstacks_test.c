/* Samples of text that share lines with the sample before give the tree that the same samples give line by line. */
/* covers: fold/script/textstacks.c fold/script/suffixcache.c fold/samples/samples.c */
#include "fold/script/perfscript.h"
#include "test/lib/tap.h"

#include <stdlib.h>

enum { THREADS = 3000, SAMPLES = 20000 };

static uint64_t state = 1;

static uint32_t any(uint32_t n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 33) % n;
}

/* Writes samples of more threads than the cache of labels has entries, so that labels replace each other. The outer
 * lines of a thread mostly stay. */
static void write_samples(struct text *text)
{
	for (uint32_t i = 0; i < SAMPLES; i++) {
		uint32_t thread = any(4) ? any(8) : any(THREADS), depth = 1 + any(6);

		text_printf(text, "worker %u [000] %u.%06u:     250000 cycles:\n", 100 + thread, 1 + i / 100000, i);
		for (uint32_t frame = depth; frame-- > 0;)
			text_printf(text, "\t%16x f%u_%u+0x%x (/bin/w%u)\n", 0x401000 + frame, thread % 5,
				    any(10) ? frame : any(9), any(16), thread % 3);
		text_printf(text, "\n");
	}
}

/* Folds the text into *script, with or without shared lines. */
static void fold(struct script *script, const struct samples_options *options, struct str text, bool share)
{
	script_init(script, options);
	script->text.share = share;
	script_block(script, text, 0);
}

/* Returns a sum over all stacks that depends on their frames and weights, not on the order of nodes. */
static uint64_t digest(const struct samples *samples)
{
	const struct stacks *stacks = &samples->stacks;
	uint64_t *hash = mem_alloc(sizeof(*hash), stacks->n), sum = 0;

	for (uint32_t id = 1; id < stacks->n; id++) {
		struct str name = intern_str(&stacks->frames, stacks->node[id].frame);

		hash[id] = hash[stacks->node[id].parent] * 31;
		for (size_t i = 0; i < name.n; i++)
			hash[id] = (hash[id] ^ (uint8_t)name.p[i]) * UINT64_C(0x100000001b3);
		sum += (hash[id] | 1) * stacks->self[0][id];
	}
	free(hash);
	return sum;
}

static void check(const char *name, const struct samples_options *options, struct str text)
{
	struct script shared, single;

	fold(&shared, options, text, true);
	fold(&single, options, text, false);
	is_u64(shared.samples.tally.samples, SAMPLES, name);
	is_u64(single.samples.tally.samples, SAMPLES, "  line by line, too");
	ok(shared.text.suffixes.n > 0, "  lines were kept for the next sample");
	is_u64(digest(&shared.samples), digest(&single.samples), "  the same stacks and weights");
	is_u64(shared.samples.tally.frames, single.samples.tally.frames, "  the same number of frames");
	is_u64(shared.samples.tally.unresolved, single.samples.tally.unresolved, "  of them unresolved");
	is_u64(shared.samples.tally.deep, single.samples.tally.deep, "  samples of more than one frame");
	script_free(&shared);
	script_free(&single);
}

int main(void)
{
	struct samples_options options = { .weight = WEIGHT_PERIOD };
	struct text text = { 0 };

	write_samples(&text);
	check("samples by process name", &options, text_view(&text));
	options.tid = true;
	check("samples by thread", &options, text_view(&text));
	text_free(&text);
	return done();
}
