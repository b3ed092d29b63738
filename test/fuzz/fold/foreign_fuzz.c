/* Texts of other profilers: frames come out clean, sums are those of the samples, and nothing depends on what follows a
 * line. */
/* covers: fold/foreign/foreignreader.c fold/foreign/foreignstack.c fold/foreign/bpftrace.c fold/foreign/bcc.c */
/* covers: fold/foreign/threaddump.c fold/foreign/jfrprint.c fold/foreign/simpleperf.c fold/foreign/jsonlines.c */
/* covers: common/filter/foreign.c */
#include "fold/foreign/foreignreader.h"

#include "test/fuzz/fuzz.h"

static void check_names(const struct stacks *stacks)
{
	for (uint32_t id = 1; id <= stacks->frames.n; id++) {
		struct str name = intern_str(&stacks->frames, id);

		MUST(name.n > 0);
		for (size_t i = 0; i < name.n; i++)
			MUST(name.p[i] != ';' && (unsigned char)name.p[i] >= ' ' && name.p[i] != 0x7f);
	}
}

/* Each line is a copy of its own, so that a read past its end is seen. */
static void read_lines(struct samples *samples, struct str text, enum foreign_kind kind)
{
	struct foreignreader reader;
	uint64_t number = 0;

	foreignreader_begin(&reader, kind, samples, 3);
	while (text.n) {
		struct str line = str_cut(&text, '\n');
		char *copy = fuzz_copy(line.p, line.n);

		foreignreader_line(&reader, (struct str){ copy, line.n }, ++number);
		free(copy);
	}
	MUST(foreignreader_end(&reader) <= number);
	MUST(samples->tally.skipped <= number);
}

int fuzz_one(const uint8_t *data, size_t n)
{
	static struct str skip[] = { { "main", 4 } };
	struct str text = { (const char *)data + (n > 0), n - (n > 0) };
	unsigned how = n > 0 ? data[0] : 0;
	struct samples_options options = {
		.names = { .kinds = how & 1 ? NAMES_ALL_KINDS : 0, .hotspot = how & 2, .addresses = how & 4 },
		.pid = how & 8,
		.tid = how & 16,
		.collapse_recursion = how & 32,
		.skip_after = skip,
		.nskip_after = how & 64 ? 1 : 0
	};
	enum foreign_kind kind = foreign_kind(str_head(text, text.n < FOREIGN_HEAD ? text.n : FOREIGN_HEAD));
	static struct samples samples;

	MUST((kind == FOREIGN_NONE) ==
	     (foreign_format(str_head(text, text.n < FOREIGN_HEAD ? text.n : FOREIGN_HEAD)) == NULL));
	if (kind <= FOREIGN_OTHER)
		return 0;
	samples_init(&samples, &options);
	read_lines(&samples, text, kind);
	check_names(&samples.stacks);
	MUST(samples.sample.state == SAMPLE_NONE);
	MUST(samples.tally.unresolved <= samples.tally.frames);
	if (!samples.tally.overflow && !str_eq(samples.event_name, STR("offcpu-time")))
		MUST(stacks_sum(&samples.stacks, 0) == samples.tally.samples);
	samples_free(&samples);
	return 0;
}
