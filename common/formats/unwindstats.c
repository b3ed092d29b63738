/* SPDX-License-Identifier: Apache-2.0 */
#include "common/formats/unwindstats.h"

/* Why stacks are broken. */
static const struct reason {
	size_t at;
	const char *what;
} reasons[] = {
#define AT(field) offsetof(struct pj_unwinding, field)
	{ AT(no_stack), "in exec or exit: no stack" },
	{ AT(unmapped), "in no known mapping" },
	{ AT(no_table), "without tables or frame pointers" },
	{ AT(no_rule), "in code that its tables leave out" },
	{ AT(astray), "not as the tables say" },
	{ AT(no_caller), "in code of a JVM, not as it says" },
	{ AT(narrow), "of 32-bit code" },
#undef AT
};

static uint64_t value_at(const struct pj_unwinding *c, size_t at)
{
	uint64_t v;

	memcpy(&v, (const char *)c + at, sizeof(v));
	return v;
}

void unwindstats_add(struct pj_unwinding *sum, const struct pj_unwinding *more)
{
	_Static_assert(sizeof(*sum) % sizeof(uint64_t) == 0, "nothing but numbers");
	for (size_t at = 0; at < sizeof(*sum); at += sizeof(uint64_t)) {
		uint64_t v = value_at(sum, at) + value_at(more, at);

		memcpy((char *)sum + at, &v, sizeof(v));
	}
}

static void unwindstats_put_share(struct text *t, uint64_t part, uint64_t complete)
{
	double share = complete ? 100.0 * (double)part / (double)complete : 0;

	if (part && share < 0.1)
		text_add(t, "under 0.1 %");
	else
		text_printf(t, "%.1f %%", share > 99.9 && part < complete ? 99.9 : share);
}

static void put_reasons(struct text *t, const struct pj_unwinding *c)
{
	bool any = false;

	for (size_t i = 0; i < countof(reasons); i++) {
		uint64_t n = value_at(c, reasons[i].at);

		if (!n)
			continue;
		text_add(t, any ? ", " : " (");
		unwindstats_put_share(t, n, c->stacks);
		text_char(t, ' ');
		text_add(t, reasons[i].what);
		any = true;
	}
	if (any)
		text_char(t, ')');
}

static void put_fp(struct text *t, const struct pj_unwinding *c)
{
	text_add(t, " (all code with tables ");
	unwindstats_put_share(t, c->complete - c->fp_complete, c->stacks - c->fp);
	text_add(t, ", some without ");
	unwindstats_put_share(t, c->fp_complete, c->fp);
	text_char(t, ')');
}

static void put_joined(struct text *t, const struct pj_unwinding *c)
{
	text_add(t, "; ");
	text_grouped(t, c->joined);
	text_add(t, c->joined == 1 ? " is longer, and goes on" : " are longer, and go on");
	text_add(t, " by frame pointers");
	if (c->lost) {
		text_add(t, ", ");
		text_grouped(t, c->lost);
		text_add(t, " not to the end");
	}
}

/* --unwind=verify. What is missing in frame pointers is no evidence; the rest is. */
static void put_verified(struct text *t, const struct pj_unwinding *c)
{
	const struct {
		uint64_t n;
		const char *what;
	} part[] = {
		{ c->other, "differ" },
		{ c->short_of, "end where frame pointers go on" },
		{ c->lost_java, "have more in Java" },
		{ c->fewer, "have more in code that keeps none" },
	};
	uint64_t equal = c->same + c->one_lost, n = equal + c->fewer + c->lost_java + c->short_of + c->other;

	if (!n)
		return;
	text_add(t, "; of ");
	text_grouped(t, n);
	text_add(t, " that were compared with frame pointers, ");
	unwindstats_put_share(t, equal, n);
	text_add(t, " are the same (");
	text_grouped(t, c->one_lost);
	text_add(t, " but for a caller that those lose)");
	for (size_t i = 0; i < countof(part); i++) {
		text_add(t, ", ");
		text_grouped(t, part[i].n);
		text_char(t, ' ');
		text_add(t, part[i].what);
	}
}

void unwindstats_text(struct text *t, const struct pj_unwinding *c)
{
	unwindstats_put_share(t, c->complete, c->stacks);
	text_add(t, " of ");
	text_grouped(t, c->stacks);
	text_add(t, " stacks are whole");
	if (c->fp)
		put_fp(t, c);
	if (c->cut) {
		text_add(t, ", ");
		unwindstats_put_share(t, c->cut, c->stacks);
		text_add(t, " are longer than the copy");
	}
	if (c->broken) {
		text_add(t, ", ");
		unwindstats_put_share(t, c->broken, c->stacks);
		text_add(t, " are broken");
		put_reasons(t, c);
	}
	if (c->joined)
		put_joined(t, c);
	if (c->java) {
		text_add(t, "; ");
		text_grouped(t, c->java);
		text_add(t, c->java == 1 ? " goes through Java, " : " go through Java, ");
		unwindstats_put_share(t, c->java_complete, c->java);
		text_add(t, " of these whole");
	}
	if (c->late) {
		text_add(t, "; ");
		text_grouped(t, c->late);
		text_add(t, c->late == 1 ? " came before its tables" : " came before their tables");
	}
	if (c->java_late) {
		text_add(t, "; ");
		text_grouped(t, c->java_late);
		text_add(t, c->java_late == 1 ? " waited in vain for its JVM" : " waited in vain for their JVMs");
	}
	if (c->jvms_unread) {
		text_add(t, "; ");
		text_grouped(t, c->jvms_unread);
		text_add(t, c->jvms_unread == 1 ? " JVM cannot be read" : " JVMs cannot be read");
	}
	put_verified(t, c);
}
