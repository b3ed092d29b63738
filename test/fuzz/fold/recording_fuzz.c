/* perf.data into stacks: every sample that is counted is in the tree once, whatever the options; kinds of quality are
 * parts of a whole. */
/* covers: fold/recording.c fold/process/locationcache.c fold/process/callchain.c fold/process/branches.c */
/* covers: fold/process/deferred.c fold/process/addrspace.c fold/process/locations.c fold/process/copiedstack.c */
/* covers: fold/symbols/symstore.c */
#include "fold/recording.h"
#include "fold/perfdata/perfdata.h"

#include "test/fuzz/fuzz.h"

/* As in perfdata_fuzz.c, in three passes; the second has two threads. */
const struct fuzz_budget fuzz_budget = {
	.steps = 10000000, .steps_per_byte = 2000, .heap = 144 << 20, .heap_per_byte = 1024
};

static struct in in; /* closed by the next run when this one died */
static struct samples sum;

static void read_as(const char *path, struct recording_options options)
{
	struct recording_tally t = { 0 };
	uint64_t samples = 0;

	in_open(&in, path);
	samples_init(&sum, options.samples);
	recording_read(&options, &in, &sum, &t);
	in_close(&in);
	MUST(sum.tally.overflow || options.samples->weight == WEIGHT_PERIOD ||
	     stacks_sum(&sum.stacks, 0) == sum.tally.samples);
	MUST(sum.tally.unresolved <= sum.tally.frames);
	for (uint32_t i = 0; i < t.quality_keys.n; i++) {
		const struct recording_quality *q = &t.quality[i];

		MUST(q->counts.reaches_root + q->counts.cut + q->counts.unknown <= q->counts.user);
		MUST(q->single <= q->counts.user && q->counts.user <= q->samples);
		MUST(q->waits.user <= q->counts.user);
		MUST(q->unresolved <= q->frames);
		samples += q->samples;
	}
	MUST(samples == sum.tally.samples);
	for (uint32_t i = 0; i < t.missing_keys.n; i++)
		MUST(t.missing[i].frames <= sum.tally.unresolved);
	recording_tally_free(&t);
	samples_free(&sum);
}

/* Does the file tell the wall clock? What dies leaks, and times of the wall clock die where nothing tells it. */
static bool reports_clock(const char *path)
{
	struct perfdata *data;
	bool reports;

	in_open(&in, path);
	data = perfdata_open(&in);
	while (perfdata_next(data))
		;
	reports = perfdata_info(data)->has_clock_data;
	perfdata_close(data);
	in_close(&in);
	return reports;
}

int fuzz_one(const uint8_t *data, size_t n)
{
	static struct str skip[] = { { "[unknown]", 9 }, { "with_frame", 10 } };
	const struct samples_options plain = { .weight = WEIGHT_SAMPLES, .names = { .kinds = NAMES_ALL_KINDS } };
	const struct samples_options other = { .weight = WEIGHT_SAMPLES,
					       .names = { .kinds = NAMES_ALL_KINDS, .addresses = true },
					       .skip_after = skip,
					       .nskip_after = 2,
					       .collapse_recursion = true,
					       .pid = true };
	const struct samples_options wall = { .weight = WEIGHT_PERIOD,
					      .select.from = { .set = true, .wall = true, .ns = 1 } };
	char path[32], symfs[4096], kallsyms[4110], saved[4096];
	volatile int fd = -1;

	if (n < 8 || !perfdata_is((struct str){ (const char *)data, n }))
		return 0;
	setenv("HOME", "/nowhere", 1);
	fd = fuzz_file(data, n, path);
	if (in.raw)
		in_close(&in);
	snprintf(symfs, sizeof(symfs), "%s/test/fuzz/symfs", getenv("PJ_TOP") ? getenv("PJ_TOP") : ".");
	snprintf(saved, sizeof(saved), "%s/test/fuzz/kept", getenv("PJ_TOP") ? getenv("PJ_TOP") : ".");
	snprintf(kallsyms, sizeof(kallsyms), "%s/kallsyms", symfs);
	if (!FUZZ_GUARD()) { /* no file of this machine is asked: what fuzzers find must be found again elsewhere */
		read_as(path,
			(struct recording_options){
				.samples = &plain, .symfs = symfs, .saved = saved, .threads = 1, .root = ROOT_BOTH });
		read_as(path, (struct recording_options){ .samples = &other,
							  .symfs = symfs,
							  .kallsyms = kallsyms,
							  .as_perf = true,
							  .threads = 2 });
		read_as(path, (struct recording_options){ .samples = reports_clock(path) ? &wall : &plain,
							  .symfs = symfs,
							  .slice_ns = 1500000000 });
	}
	close(fd);
	return 0;
}
