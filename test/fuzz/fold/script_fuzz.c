/* perf script text: frames come out clean, and where blocks are cut makes no difference. */
/* covers: fold/script/perfscript.c fold/samples/samplekey.c fold/script/linecache.c fold/script/suffixcache.c */
/* covers: fold/samples/samples.c */
#include "fold/script/perfscript.h"

#include "test/fuzz/fuzz.h"

static void check_frames(const struct stacks *stacks)
{
	for (uint32_t id = 1; id <= stacks->frames.n; id++) {
		struct str name = intern_str(&stacks->frames, id);
		size_t digits = 0;

		MUST(name.n > 0);
		for (size_t i = 0; i < name.n; i++)
			MUST(name.p[i] != ';' && (unsigned char)name.p[i] >= ' ' && name.p[i] != 0x7f);
		while (digits < name.n && name.p[name.n - 1 - digits] >= '0' && name.p[name.n - 1 - digits] <= '9')
			digits++;
		/* " <digits>" at the end would be read back as a weight */
		MUST(digits == 0 || digits == name.n || name.p[name.n - 1 - digits] != ' ');
	}
}

static bool same_trees(const struct stacks *stacks, const struct stacks *b)
{
	uint32_t *x = stacks_order(stacks), *y = stacks_order(b);
	bool same = stacks->n == b->n;

	for (uint32_t i = 0; same && i + 1 < stacks->n; i++)
		same = stacks->self[0][x[i]] == b->self[0][y[i]] &&
		       str_eq(intern_str(&stacks->frames, stacks->node[x[i]].frame),
			      intern_str(&b->frames, b->node[y[i]].frame));
	free(x);
	free(y);
	return same;
}

/* Threads: what a worker folds behind the first block is added to it. */
static void check_workers(const struct samples_options *options, struct str text, size_t cut,
			  const struct script *together)
{
	static struct script first, worker;
	const struct samples_tally *t = &first.samples.tally;

	script_init(&first, options);
	script_block(&first, str_head(text, cut), 0);
	script_fork(&worker, &first);
	script_block(&worker, str_from(text, cut), 1);
	samples_merge(&first.samples, &worker.samples);
	if (!t->overflow && !together->samples.tally.overflow && cut) {
		MUST(t->samples <= together->samples.tally.samples + worker.samples.tally.samples);
		MUST(stacks_sum(&first.samples.stacks, 0) <=
		     stacks_sum(&together->samples.stacks, 0) + stacks_sum(&worker.samples.stacks, 0));
	}
	if (first.samples.nevents)
		qsort(first.samples.event, first.samples.nevents, sizeof(*first.samples.event), samples_event_cmp);
	for (uint32_t i = 1; i < first.samples.nevents; i++)
		MUST(first.samples.event[i - 1].samples >= first.samples.event[i].samples);
	MUST(samples_unit(&first.samples, options->weight).n > 0);
	MUST(samples_event_name(&first.samples).n < text.n + 1);
	script_free(&first);
	script_free(&worker);
}

int fuzz_one(const uint8_t *data, size_t n)
{
	static struct str skip[] = { { "main", 4 }, { "[unknown]", 9 } };
	/* the first byte chooses options, the second where to cut */
	unsigned how = n > 0 ? data[0] : 0, where = n > 1 ? data[1] : 0;
	struct samples_options o = { 0 };
	static struct script one, two;
	char *copy;
	size_t cut;

	if (n < 2)
		return 0;
	copy = fuzz_copy(data + 2, n - 2);
	n -= 2;
	o.names.kinds = how & 1 ? NAMES_ALL_KINDS : 0;
	o.names.hotspot = how & 2;
	o.names.addresses = how & 4;
	o.pid = how & 8;
	o.tid = how & 16;
	o.srcline = how & 32;
	o.collapse_recursion = how & 64;
	o.weight = how & 128 ? WEIGHT_PERIOD : WEIGHT_DEFAULT;
	o.skip_after = skip;
	o.nskip_after = where % 4 == 1 ? 2 : 0;
	if (FUZZ_GUARD()) {
		free(copy);
		return 0;
	}
	script_init(&one, &o);
	script_block(&one, (struct str){ copy, n }, 0);
	check_frames(&one.samples.stacks);

	cut = script_last_border((struct str){ copy, n * where / 255 });
	MUST(cut <= n);
	script_init(&two, &o);
	if (cut)
		script_block(&two, (struct str){ copy, cut }, 0);
	script_block(&two, (struct str){ copy + cut, n - cut }, 1);
	check_frames(&two.samples.stacks);
	if (!one.samples.tally.overflow && !two.samples.tally.overflow) {
		MUST(one.samples.tally.samples == two.samples.tally.samples);
		MUST(stacks_sum(&one.samples.stacks, 0) == stacks_sum(&two.samples.stacks, 0));
		MUST(same_trees(&one.samples.stacks, &two.samples.stacks));
	}
	check_workers(&o, (struct str){ copy, n }, cut, &one);
	for (struct str rest = { copy, n }, line; rest.n && (line = str_cut(&rest, '\n')).p;)
		(void)script_looks_like(line);
	script_free(&one);
	script_free(&two);
	free(copy);
	return 0;
}
