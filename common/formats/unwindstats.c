/* SPDX-License-Identifier: Apache-2.0 */
#include "common/formats/unwindstats.h"

/* Reasons why stacks are broken: offset of the member of struct pj_unwinding, and text. */
static const struct reason {
	size_t at;
	const char *what;
} reasons[] = {
#define AT(field) offsetof(struct pj_unwinding, field)
	{ AT(no_stack), "in exec or exit: no stack" },
	{ AT(other_stack), "where Go changes to another stack" },
	{ AT(unmapped), "in no known mapping" },
	{ AT(no_table), "without unwind tables or frame pointers" },
	{ AT(no_rule), "in code without an FDE" },
	{ AT(astray), "contradict the unwind tables" },
	{ AT(no_caller), "contradict the JVM's metadata" },
	{ AT(narrow), "of 32-bit code" },
#undef AT
};

static uint64_t value_at(const struct pj_unwinding *unwinding, size_t at)
{
	uint64_t value;

	memcpy(&value, (const char *)unwinding + at, sizeof(value));
	return value;
}

void unwindstats_add(struct pj_unwinding *sum, const struct pj_unwinding *more)
{
	_Static_assert(sizeof(*sum) % sizeof(uint64_t) == 0, "nothing but numbers");
	for (size_t at = 0; at < sizeof(*sum); at += sizeof(uint64_t)) {
		uint64_t value = value_at(sum, at) + value_at(more, at);

		memcpy((char *)sum + at, &value, sizeof(value));
	}
}

void unwindstats_share(struct text *text, uint64_t part, uint64_t all)
{
	double share = all ? 100.0 * (double)part / (double)all : 0;

	if (part && share < 0.1)
		text_add(text, "under 0.1 %");
	else
		text_printf(text, "%.1f %%", share > 99.9 && part < all ? 99.9 : share);
}

static void put_reasons(struct text *text, const struct pj_unwinding *unwinding)
{
	bool any = false;

	for (size_t i = 0; i < countof(reasons); i++) {
		uint64_t n = value_at(unwinding, reasons[i].at);

		if (!n)
			continue;
		text_add(text, any ? ", " : " (");
		unwindstats_share(text, n, unwinding->stacks);
		text_char(text, ' ');
		text_add(text, reasons[i].what);
		any = true;
	}
	if (any)
		text_char(text, ')');
}

static void put_fp(struct text *text, const struct pj_unwinding *unwinding)
{
	text_add(text, " (by unwind tables alone ");
	unwindstats_share(text, unwinding->complete - unwinding->fp_complete, unwinding->stacks - unwinding->fp);
	text_add(text, ", partly by frame pointers ");
	unwindstats_share(text, unwinding->fp_complete, unwinding->fp);
	text_char(text, ')');
}

static void put_joined(struct text *text, const struct pj_unwinding *unwinding)
{
	text_add(text, "; ");
	text_grouped(text, unwinding->joined);
	text_add(text, unwinding->joined == 1 ? " exceeds the copy and continues" : " exceed the copy and continue");
	text_add(text, " by frame pointers");
	if (unwinding->lost) {
		text_add(text, ", ");
		text_grouped(text, unwinding->lost);
		text_add(text, " not to the root");
	}
}

/* Appends the results of --unwind=verify. If frame pointers miss callers, the unwinder may be right; other differences
 * are errors of the unwinder. */
static void put_verified(struct text *text, const struct pj_unwinding *unwinding)
{
	const struct {
		uint64_t n;
		const char *what;
	} part[] = {
		{ unwinding->other, "differ" },
		{ unwinding->short_of, "end where frame pointers go on" },
		{ unwinding->lost_java, "have more callers in Java" },
		{ unwinding->fewer, "have more callers in code without frame pointers" },
	};
	uint64_t equal = unwinding->same + unwinding->one_lost,
		 n = equal + unwinding->fewer + unwinding->lost_java + unwinding->short_of + unwinding->other;

	if (!n)
		return;
	text_add(text, "; of ");
	text_grouped(text, n);
	text_add(text, " compared with frame pointers, ");
	unwindstats_share(text, equal, n);
	text_add(text, " are equal (");
	text_grouped(text, unwinding->one_lost);
	text_add(text, " except for one caller that frame pointers lose)");
	for (size_t i = 0; i < countof(part); i++) {
		text_add(text, ", ");
		text_grouped(text, part[i].n);
		text_char(text, ' ');
		text_add(text, part[i].what);
	}
}

/* Appends the number of samples in interpreters whose functions are shown, and the reasons why the others are not
 * shown. */
static void unwindstats_put_interpreted(struct text *text, const struct pj_unwinding *unwinding)
{
	const struct {
		uint64_t n;
		const char *what;
	} part[] = {
		{ unwinding->interpreted_late, "read too late" },
		{ unwinding->interpreted_unsure, "ran on while they were read" },
		{ unwinding->interpreted_invalid, "without a valid list of functions" },
		{ unwinding->interpreted_other, "contradict the native frames" },
	};
	bool any = false;

	text_add(text, "; of ");
	text_grouped(text, unwinding->interpreted);
	text_add(text, unwinding->interpreted == 1 ? " in an interpreter, " : " in interpreters, ");
	unwindstats_share(text, unwinding->interpreted_shown, unwinding->interpreted);
	text_add(text, " show its functions");
	for (size_t i = 0; i < countof(part); i++) {
		if (!part[i].n)
			continue;
		text_add(text, any ? ", " : " (");
		unwindstats_share(text, part[i].n, unwinding->interpreted);
		text_char(text, ' ');
		text_add(text, part[i].what);
		any = true;
	}
	if (any)
		text_char(text, ')');
	if (unwinding->functions_unnamed) {
		text_add(text, ", ");
		unwindstats_share(text, unwinding->functions_unnamed, unwinding->functions);
		text_add(text, " of them without a name");
	}
}

void unwindstats_text(struct text *text, const struct pj_unwinding *unwinding)
{
	unwindstats_share(text, unwinding->complete, unwinding->stacks);
	text_add(text, " of ");
	text_grouped(text, unwinding->stacks);
	text_add(text, " stacks are complete");
	if (unwinding->fp)
		put_fp(text, unwinding);
	if (unwinding->cut) {
		text_add(text, ", ");
		unwindstats_share(text, unwinding->cut, unwinding->stacks);
		text_add(text, " are longer than the copy");
	}
	if (unwinding->broken) {
		text_add(text, ", ");
		unwindstats_share(text, unwinding->broken, unwinding->stacks);
		text_add(text, " are broken");
		put_reasons(text, unwinding);
	}
	if (unwinding->unknown) {
		text_add(text, ", ");
		unwindstats_share(text, unwinding->unknown, unwinding->stacks);
		text_add(text, " may be complete (they pass code that may keep no frame pointers)");
	}
	if (unwinding->joined)
		put_joined(text, unwinding);
	if (unwinding->java) {
		text_add(text, "; ");
		text_grouped(text, unwinding->java);
		text_add(text, unwinding->java == 1 ? " goes through Java, " : " go through Java, ");
		unwindstats_share(text, unwinding->java_complete, unwinding->java);
		text_add(text, " of these complete");
	}
	if (unwinding->interpreted)
		unwindstats_put_interpreted(text, unwinding);
	if (unwinding->interpreters_private)
		text_add(text, "; interpreters that root alone may read are not read (--interpreters=all)");
	if (unwinding->late) {
		text_add(text, "; ");
		text_grouped(text, unwinding->late);
		text_add(text, unwinding->late == 1 ? " unwound before its unwind tables were loaded" :
						      " unwound before their unwind tables were loaded");
	}
	if (unwinding->java_late) {
		text_add(text, "; ");
		text_grouped(text, unwinding->java_late);
		text_add(text, unwinding->java_late == 1 ? " missed the deadline of its JVM" :
							   " missed the deadline of their JVMs");
	}
	if (unwinding->jvms_unread) {
		text_add(text, "; ");
		text_grouped(text, unwinding->jvms_unread);
		text_add(text, unwinding->jvms_unread == 1 ? " JVM cannot be read" : " JVMs cannot be read");
	}
	if (unwinding->java_limited) {
		text_add(text, "; ");
		text_grouped(text, unwinding->java_limited);
		text_add(text, unwinding->java_limited == 1 ?
				       " compiled Java method has more inlined calls than are read" :
				       " compiled Java methods have more inlined calls than are read");
	}
	put_verified(text, unwinding);
}
