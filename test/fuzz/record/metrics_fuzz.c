/* metrics: DIR/pjrecord.prom of any bytes is counted on from, or begun again; what is written is read back as the same
 * numbers. */
/* covers: record/windows/metrics.c */
#include "record/windows/metrics.h"

#include "test/fuzz/fuzz.h"

static struct window_report report_of(struct str bytes)
{
	struct window_report r = { .begin = 5, .end = 30000000005 };
	struct text t = { 0 };

	memcpy((char *)&r.samples, bytes.p, bytes.n < 24 ? bytes.n : 24);
	memcpy((char *)&r.loss, bytes.p, bytes.n < sizeof(r.loss) ? bytes.n : sizeof(r.loss));
	if (bytes.n > 8) {
		r.has_offcpu = bytes.p[0] & 1;
		r.has_unwinding = bytes.p[0] & 2;
		r.depth_limit = (unsigned char)bytes.p[1];
		r.unrecorded_ns = r.samples;
		memcpy(&r.unwinding.stacks, bytes.p, 8);
		memcpy(&r.saved.binaries, bytes.p, 8);
	}
	metrics_summary(&t, &r);
	MUST(t.n > 20);
	text_free(&t);
	return r;
}

/* With nothing new, counters are what they were, up to the first that is saturated. */
static bool same_counters(struct str now, struct str again)
{
	bool counter = false;

	while (now.n) {
		struct str a = str_cut(&now, '\n'), b = str_cut(&again, '\n');

		if (str_starts(a, STR("# TYPE")))
			counter = str_ends(a, STR(" counter"));
		if ((counter || a.p[0] == '#') && !str_eq(a, b))
			return str_find_str(a, STR(" 18446744073")) >=
			       0; /* saturated: begins again; with a point in it where the unit is seconds */
	}
	return again.n == 0;
}

int fuzz_one(const uint8_t *data, size_t n)
{
	struct str rest = { (const char *)data, n }, first = fuzz_part(&rest);
	struct window_report r = report_of(first);
	struct metrics m = { .windows = 1, .rss = 5 }, none = { 0 };
	struct text t = { 0 }, again = { 0 };
	int folder = fuzz_folder();

	metrics_add(&m, &r);
	metrics_add_dropped(&m, &r);
	metrics_text(&t, &m, rest);
	metrics_text(&again, &none, text_view(&t));
	MUST(same_counters(text_view(&t), text_view(&again)));
	fuzz_put("pjrecord.prom", rest);
	m.windows = 3;
	MUST(metrics_write(&m, folder) && m.windows == 0);
	MUST(metrics_write(&none, folder));
	unlinkat(folder, "pjrecord.prom", 0);
	MUST(metrics_write(&none, folder));
	unlinkat(folder, "pjrecord.prom", 0);
	text_free(&t);
	text_free(&again);
	return 0;
}
