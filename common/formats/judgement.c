/* SPDX-License-Identifier: Apache-2.0 */
#include "common/formats/judgement.h"

#include "common/visible.h"

#include <stdlib.h>

/* Smallest share of a trouble in the summary sentence; a trouble with a smaller share is left out. */
#define LEAST 0.01
/* limit for the number of subjects that a trouble names; the others are only counted */
#define SUBJECTS 3
/* limit for the bytes of a subject in the text; a longer one is cut and ends in "..." */
#define SUBJECT_MAX 60

enum trouble_unit { OF_SAMPLES, OF_LOST_AND_SAMPLES, OF_FRAMES, OF_STACKS };

/* Texts of a kind of trouble, printed as "SHARE WHAT: SUBJECTS CAUSE (ADVICE)". SHARE is relative to the total of
 * `unit`. */
struct trouble_text {
	enum trouble_unit unit;
	const char *what, *of_time; /* of_time: used in place of `what` if judgement.by_time is set */
	/* cause: text for one subject; cause_many: text for several subjects, NULL: the same as `cause` */
	const char *cause, *cause_many;
	/* advice: text for one subject, NULL: nothing helps; advice_many: text for several subjects, NULL: the same as
	 * `advice` */
	const char *advice, *advice_many;
};

#define UNNAMED "of frames without names"
#define INTERPRETED "of samples in an interpreter"
#define TRUNCATED "of stacks truncated", .of_time = "has truncated stacks"
#define BROKEN "of stacks broken", .of_time = "has broken stacks"
#define UNKNOWN "of stacks of unknown completeness", .of_time = "has stacks of unknown completeness"

static const struct trouble_text trouble_texts[TROUBLE_KINDS] = {
	[TROUBLE_LOST] = { .unit = OF_LOST_AND_SAMPLES,
			   .what = "of samples lost",
			   .cause = "rings were full",
			   .advice =
				   "a larger ring (pjrecord -m, perf record -m), a lower frequency (-F) or a larger period (-c) helps" },
	[TROUBLE_OVER_BUDGET] = { .unit = OF_SAMPLES,
				  .what = "of samples without stacks",
				  .cause = "a container or user was over budget",
				  .advice = "a larger --tenant-bytes of pjrecord helps" },
	[TROUBLE_NO_CALLCHAIN] = { .unit = OF_SAMPLES,
				   .what = "of samples without callers",
				   .cause = "recorded without callchains",
				   .advice = "perf record -g, or pjrecord, helps" },
	[TROUBLE_PYTHON] = { .unit = OF_SAMPLES,
			     .what = INTERPRETED,
			     .cause = "does not name its Python functions",
			     .cause_many = "do not name their Python functions",
			     .advice =
				     "pjflame or pjrecord, as root with CAP_SYS_NICE on x86-64, or Python 3.12 or later with -X perf, helps" },
	[TROUBLE_PYTHON_FP] = { .unit = OF_SAMPLES,
				.what = INTERPRETED,
				.cause = "does not name its Python functions",
				.cause_many = "do not name their Python functions",
				.advice =
					"pjflame or pjrecord without --unwind=fp, as root with CAP_SYS_NICE on x86-64, or Python 3.12 or later with "
					"-X perf, helps" },
	[TROUBLE_PYTHON_UNREAD] = { .unit = OF_SAMPLES,
				    .what = INTERPRETED,
				    .cause = "was not read, or not with certainty",
				    .cause_many = "were not read, or not with certainty" },
	[TROUBLE_INTERPRETER_PRIVATE] = { .unit = OF_SAMPLES,
					  .what = INTERPRETED,
					  .cause = "was not read, or not with certainty",
					  .cause_many = "were not read, or not with certainty",
					  .advice = "if it changed its user, --interpreters=all, as root, shows its "
						    "functions, to all who may read the result",
					  .advice_many =
						  "if they changed their user, --interpreters=all, as root, shows "
						  "their functions, to all who may read the result" },
	[TROUBLE_RUBY] = { .unit = OF_SAMPLES,
			   .what = INTERPRETED,
			   .cause = "does not name its Ruby methods",
			   .cause_many = "do not name their Ruby methods",
			   .advice =
				   "pjflame or pjrecord, as root with CAP_SYS_NICE on x86-64, with Ruby 3.1 or 3.3, or "
				   "--yjit --yjit-perf of 3.3 or later, helps" },
	[TROUBLE_PHP] = { .unit = OF_SAMPLES,
			  .what = INTERPRETED,
			  .cause = "does not name its PHP functions",
			  .cause_many = "do not name their PHP functions",
			  .advice =
				  "pjflame or pjrecord, as root with CAP_SYS_NICE on x86-64, with PHP 7.4, 8.2 or 8.4 without the JIT, helps" },
	[TROUBLE_PERL] = { .unit = OF_SAMPLES,
			   .what = INTERPRETED,
			   .cause = "does not name its Perl functions",
			   .cause_many = "do not name their Perl functions",
			   .advice =
				   "pjflame or pjrecord, as root with CAP_SYS_NICE on x86-64, with Perl 5.32 to 5.42, helps" },
	[TROUBLE_NODE_INTERPRETED] = { .unit = OF_SAMPLES,
				       .what = INTERPRETED,
				       .cause = "does not name its interpreted functions",
				       .cause_many = "do not name their interpreted functions",
				       .advice = "pjflame or pjrecord, as root with CAP_SYS_NICE on x86-64, or node "
						 "--perf-basic-prof --interpreted-frames-native-stack helps" },
	[TROUBLE_INTERPRETER_OFFCPU] = { .unit = OF_SAMPLES,
					 .what = INTERPRETED,
					 .cause = "does not name its functions in waits",
					 .cause_many = "do not name their functions in waits" },
	[TROUBLE_STRIPPED_PACKAGE] = { .unit = OF_FRAMES,
				       .what = UNNAMED,
				       .cause = "is stripped",
				       .cause_many = "are stripped",
				       .advice = "its -dbgsym package helps",
				       .advice_many = "their -dbgsym packages help" },
	[TROUBLE_STRIPPED] = { .unit = OF_FRAMES,
			       .what = UNNAMED,
			       .cause = "is stripped",
			       .cause_many = "are stripped",
			       .advice = "a build without -s and strip helps" },
	[TROUBLE_NO_FILE] = { .unit = OF_FRAMES,
			      .what = UNNAMED,
			      .cause = "was not found",
			      .cause_many = "were not found",
			      .advice = "pjrecord -d DIR saves symbols while files exist" },
	[TROUBLE_OTHER_BUILD] = { .unit = OF_FRAMES,
				  .what = UNNAMED,
				  .cause = "was replaced by another build",
				  .cause_many = "were replaced by other builds",
				  .advice = "pjrecord -d DIR saves symbols while files exist" },
	[TROUBLE_FORBIDDEN] = { .unit = OF_FRAMES,
				.what = UNNAMED,
				.cause = "may not be read by this user",
				.advice = "folding as root helps" },
	[TROUBLE_SILENT] = { .unit = OF_FRAMES,
			     .what = UNNAMED,
			     .cause = "is on a file system that does not respond",
			     .cause_many = "are on file systems that do not respond",
			     .advice = "folding again when it responds helps" },
	[TROUBLE_OTHER_MACHINE] = { .unit = OF_FRAMES,
				    .what = UNNAMED,
				    .cause = "is not known to be of this machine",
				    .cause_many = "are not known to be of this machine",
				    .advice = "--symfs with the files of the recorded machine helps" },
	[TROUBLE_NO_SYMBOL] = { .unit = OF_FRAMES,
				.what = UNNAMED,
				.cause = "has no symbols there",
				.cause_many = "have no symbols there" },
	[TROUBLE_TEXT] = { .unit = OF_FRAMES,
			   .what = UNNAMED,
			   .cause = "perf script had no symbols for them",
			   .advice = "pjfold of the perf.data, on the machine with the files, may help" },
	[TROUBLE_NO_MAPPING] = { .unit = OF_FRAMES, .what = UNNAMED, .cause = "addresses in no known file" },
	[TROUBLE_KERNEL] = { .unit = OF_FRAMES, .what = "of frames are of the kernel and without names", .cause = "" },
	[TROUBLE_NODE] = { .unit = OF_FRAMES,
			   .what = UNNAMED,
			   .cause = "has no perf map",
			   .cause_many = "have no perf map",
			   .advice = "node --perf-basic-prof helps" },
	[TROUBLE_DOTNET] = { .unit = OF_FRAMES,
			     .what = UNNAMED,
			     .cause = "has no perf map",
			     .cause_many = "have no perf map",
			     .advice = "DOTNET_PerfMapEnabled=1 helps" },
	[TROUBLE_ERLANG] = { .unit = OF_FRAMES,
			     .what = UNNAMED,
			     .cause = "has no perf map",
			     .cause_many = "have no perf map",
			     .advice = "erl +JPperf true helps" },
	[TROUBLE_PHP_JIT] = { .unit = OF_FRAMES,
			      .what = UNNAMED,
			      .cause = "has no perf map",
			      .cause_many = "have no perf map",
			      .advice = "opcache.jit_debug=0x10 helps" },
	[TROUBLE_RUBY_JIT] = { .unit = OF_FRAMES,
			       .what = UNNAMED,
			       .cause = "has no perf map",
			       .cause_many = "have no perf map",
			       .advice = "Ruby 3.3 or later with --yjit-perf helps" },
	[TROUBLE_PYTHON_JIT] = { .unit = OF_FRAMES,
				 .what = UNNAMED,
				 .cause = "has no perf map",
				 .cause_many = "have no perf map",
				 .advice = "Python 3.12 or later with -X perf helps" },
	[TROUBLE_JIT] = { .unit = OF_FRAMES,
			  .what = UNNAMED,
			  .cause = "has code of a JIT and no perf map",
			  .cause_many = "have code of a JIT and no perf map" },
	[TROUBLE_JVM_UNREAD] = { .unit = OF_FRAMES,
				 .what = UNNAMED,
				 .cause = "is a JVM that pjrecord may not read",
				 .cause_many = "are JVMs that pjrecord may not read",
				 .advice = "pjrecord as root, or with CAP_SYS_PTRACE, helps" },
	[TROUBLE_JVM_FP] = { .unit = OF_FRAMES,
			     .what = UNNAMED,
			     .cause = "is a JVM that was recorded by frame pointers",
			     .cause_many = "are JVMs that were recorded by frame pointers",
			     .advice = "pjrecord without --unwind=fp, or with pjmap -i 1 beside it, helps" },
	[TROUBLE_JVM_PERF] = { .unit = OF_FRAMES,
			       .what = UNNAMED,
			       .cause = "is a JVM without perf map",
			       .cause_many = "are JVMs without perf map",
			       .advice = "pjmap --once now, or recording with pjrecord, helps" },
	[TROUBLE_JVM_ENDED] = { .unit = OF_FRAMES,
				.what = UNNAMED,
				.cause = "is a JVM that has ended",
				.cause_many = "are JVMs that have ended",
				.advice = "recording with pjrecord, which saves the names, helps" },
	[TROUBLE_JVM] = { .unit = OF_FRAMES,
			  .what = UNNAMED,
			  .cause = "is a JVM whose code pjrecord could not name",
			  .cause_many = "are JVMs whose code pjrecord could not name",
			  .advice = "shorter windows (-w) help" },
	[TROUBLE_TRUNCATED_COPY] = { .unit = OF_STACKS,
				     .what = TRUNCATED,
				     .cause = "longer than the stack copy",
				     .advice = "a larger --stack-size of pjrecord helps" },
	[TROUBLE_TRUNCATED_WAIT] = { .unit = OF_STACKS,
				     .what = TRUNCATED,
				     .cause = "longer than the copy of a waiting thread's stack" },
	[TROUBLE_TRUNCATED_PERF_COPY] = { .unit = OF_STACKS,
					  .what = TRUNCATED,
					  .cause = "longer than the stack copy",
					  .advice = "perf record --call-graph dwarf,65528, or pjrecord, helps" },
	[TROUBLE_TRUNCATED_LIMIT] = { .unit = OF_STACKS,
				      .what = TRUNCATED,
				      .cause = "deeper than the kernel's limit",
				      .advice = "a larger sysctl kernel.perf_event_max_stack before recording helps" },
	[TROUBLE_TRUNCATED_EVENT] = { .unit = OF_STACKS,
				      .what = TRUNCATED,
				      .cause = "deeper than the limit of the event",
				      .advice = "a larger perf record --max-stack helps" },
	[TROUBLE_BROKEN_FP] = { .unit = OF_STACKS,
				.what = BROKEN,
				.cause = "was unwound by frame pointers, which its code lacks",
				.cause_many = "were unwound by frame pointers, which their code lacks",
				.advice = "pjrecord --unwind=tables, or perf record --call-graph dwarf, helps" },
	[TROUBLE_BROKEN_OFFCPU] = { .unit = OF_STACKS,
				    .what = BROKEN,
				    .cause = "has no frame pointers, which off-CPU callchains need",
				    .cause_many = "have no frame pointers, which off-CPU callchains need",
				    .advice = "-fno-omit-frame-pointer (java -XX:+PreserveFramePointer) helps" },
	[TROUBLE_UNREAD_OFFCPU] = { .unit = OF_STACKS,
				    .what = "of stacks incomplete",
				    .of_time = "has incomplete stacks",
				    .cause = "was off the CPU too briefly, or may not be read",
				    .cause_many = "were off the CPU too briefly, or may not be read" },
	[TROUBLE_EARLY_OFFCPU] = { .unit = OF_STACKS,
				   .what = "of stacks incomplete",
				   .of_time = "has incomplete stacks",
				   .cause = "has waited since before the recording, so some registers are unknown",
				   .cause_many =
					   "have waited since before the recording, so some registers are unknown" },
	[TROUBLE_BROKEN_LATE] = { .unit = OF_STACKS,
				  .what = BROKEN,
				  .cause = "was sampled before its unwind tables were loaded",
				  .cause_many = "were sampled before their unwind tables were loaded",
				  .advice = "a longer recording helps" },
	[TROUBLE_BROKEN_EXEC] = { .unit = OF_STACKS,
				  .what = BROKEN,
				  .cause = "was sampled in exec or exit",
				  .cause_many = "were sampled in exec or exit",
				  .advice = "no action needed: a process has no user stack then" },
	[TROUBLE_BROKEN_OTHER_STACK] = { .unit = OF_STACKS,
					 .what = BROKEN,
					 .cause = "changed to another stack in Go's runtime, where unwinding ends",
					 .advice = "no action needed: the frames shown are right" },
	[TROUBLE_BROKEN] = { .unit = OF_STACKS,
			     .what = BROKEN,
			     .cause = "has code without unwind tables",
			     .cause_many = "have code without unwind tables" },
	[TROUBLE_UNKNOWN_END] = { .unit = OF_STACKS,
				  .what = UNKNOWN,
				  .cause = "has code that may not keep frame pointers",
				  .cause_many = "have code that may not keep frame pointers" },
	[TROUBLE_UNKNOWN_FP] = { .unit = OF_STACKS,
				 .what = UNKNOWN,
				 .cause = "was unwound by frame pointers, which its code may not keep",
				 .cause_many = "were unwound by frame pointers, which their code may not keep",
				 .advice = "pjrecord --unwind=tables, or perf record --call-graph dwarf, helps" },
	[TROUBLE_FEW] = { .unit = OF_SAMPLES,
			  .what = "too few samples to judge",
			  .cause = "",
			  .advice = "a longer recording or a higher frequency (-F) helps" },
};

/* Sum of all troubles of one kind: n affected samples, frames or stacks, and their share of the total. */
struct trouble_group {
	enum trouble_kind kind;
	uint64_t n;
	double share;
	/* largest: troubles with the largest n, in descending order, then NULL if there are fewer; nsubjects: number of
	 * all subjects of this kind */
	const struct trouble *largest[SUBJECTS];
	uint32_t nsubjects;
};

void judgement_add(struct judgement *judgement, enum trouble_kind kind, struct str subject, uint64_t n)
{
	struct text key = { 0 };
	uint32_t before = judgement->keys.n, id;

	if (n == 0)
		return;
	text_char(&key, (char)(kind + 1));
	text_str(&key, subject);
	id = intern(&judgement->keys, text_view(&key));
	text_free(&key);
	if (id > before) {
		judgement->trouble = mem_more(judgement->trouble, sizeof(*judgement->trouble), before);
		judgement->trouble[id - 1] = (struct trouble){ kind, str_from(intern_str(&judgement->keys, id), 1), 0 };
	}
	judgement->trouble[id - 1].n += n;
}

void judgement_free(struct judgement *judgement)
{
	intern_free(&judgement->keys);
	free(judgement->trouble);
}

enum trouble_kind judgement_broken(uint64_t broken, uint64_t late, uint64_t in_exec)
{
	if (late && late >= broken - broken / 2)
		return TROUBLE_BROKEN_LATE;
	return in_exec && in_exec >= broken - broken / 2 ? TROUBLE_BROKEN_EXEC : TROUBLE_BROKEN;
}

/* ---- groups of troubles ------------------------------------------------------------------------------------------ */

static double judgement_ratio(uint64_t part, uint64_t all)
{
	return all == 0 ? 0 : part >= all ? 1 : (double)part / (double)all;
}

static uint64_t unit_total(const struct judgement *judgement, enum trouble_unit unit)
{
	switch (unit) {
	case OF_FRAMES: return judgement->frames;
	case OF_STACKS:
		if (judgement->by_time)
			return judgement->offcpu_ns;
		return judgement->stacks ? judgement->stacks : judgement->samples;
	case OF_LOST_AND_SAMPLES: return judgement->samples + judgement->lost;
	case OF_SAMPLES: break;
	}
	return judgement->samples;
}

static bool is_larger(const struct trouble *a, const struct trouble *b)
{
	return a->n != b->n ? a->n > b->n : str_cmp(a->subject, b->subject) < 0;
}

static void group_put(struct trouble_group *group, const struct trouble *trouble)
{
	group->n += trouble->n;
	group->nsubjects += trouble->subject.n > 0;
	for (size_t i = 0; i < SUBJECTS; i++) {
		const struct trouble *shifted = group->largest[i];

		if (shifted && !is_larger(trouble, shifted))
			continue;
		group->largest[i] = trouble;
		if (!shifted)
			return;
		trouble = shifted;
	}
}

static int group_cmp(const void *left, const void *right)
{
	const struct trouble_group *a = left, *b = right;

	if (a->share > b->share || a->share < b->share)
		return a->share > b->share ? -1 : 1;
	return a->kind < b->kind ? -1 : a->kind > b->kind;
}

/* Fills `group` with one element for each kind of trouble that occurred, in descending order of share. Returns the
 * number of elements. */
static size_t judgement_groups(const struct judgement *judgement, struct trouble_group group[TROUBLE_KINDS])
{
	uint64_t recorded = judgement->samples + judgement->lost;
	size_t n = 0;

	memset(group, 0, TROUBLE_KINDS * sizeof(*group));
	for (size_t i = 0; i < judgement->keys.n; i++)
		group_put(&group[judgement->trouble[i].kind], &judgement->trouble[i]);
	group[TROUBLE_LOST].n += judgement->lost;
	if (recorded < JUDGEMENT_FEW && !judgement->may_be_small)
		group[TROUBLE_FEW].n = 1;
	bool late = group[TROUBLE_BROKEN_LATE].n > 0;
	for (size_t kind = 0; kind < TROUBLE_KINDS; kind++) {
		if (!group[kind].n)
			continue;
		group[n] = group[kind];
		group[n].kind = (enum trouble_kind)kind;
		group[n].share = judgement_ratio(group[n].n, unit_total(judgement, trouble_texts[kind].unit));
		/* The share of TROUBLE_FEW is the share of missing samples in JUDGEMENT_FEW, so a trouble with a larger
		 * share precedes it. Exception: if TROUBLE_BROKEN_LATE occurred, the share is set to 2, so that
		 * TROUBLE_FEW comes first: its advice removes both troubles. */
		if (kind == TROUBLE_FEW)
			group[n].share = late ? 2 : judgement_ratio(JUDGEMENT_FEW - recorded, JUDGEMENT_FEW);
		n++;
	}
	qsort(group, n, sizeof(*group), group_cmp);
	return n;
}

/* ---- text of the summary ----------------------------------------------------------------------------------------- */

/* Appends part / all in percent, as a whole number, or with one decimal below 1 % and above 99 %. Prints 100 % and 0 %
 * only if the share is exactly 1 or 0. */
static void put_percent(struct text *text, uint64_t part, uint64_t all)
{
	double percent = 100 * judgement_ratio(part, all);

	if (part == 0 || part >= all)
		text_printf(text, "%d %%", part ? 100 : 0);
	else if (percent < 0.1)
		text_add(text, "under 0.1 %");
	else if (percent < 1 || percent > 99)
		text_printf(text, "%.1f %%", percent > 99.9 ? 99.9 : percent);
	else
		text_printf(text, "%.0f %%", percent);
}

static void put_number(struct text *text, uint64_t n, const char *one, const char *many)
{
	text_grouped(text, n);
	text_char(text, ' ');
	text_add(text, n == 1 ? one : many);
}

static void put_subject(struct text *text, const struct trouble *trouble)
{
	struct text shown = { 0 };

	visible_str(&shown, trouble->subject);
	/* the subject of TROUBLE_KERNEL is a reason that pjfold wrote, so it is not truncated */
	if (shown.n > SUBJECT_MAX && trouble->kind != TROUBLE_KERNEL)
		text_printf(text, "%.*s...", SUBJECT_MAX - 3, shown.p);
	else
		text_str(text, text_view(&shown));
	text_free(&shown);
}

static void put_subjects(struct text *text, const struct trouble_group *group)
{
	for (uint32_t i = 0; i < group->nsubjects && i < SUBJECTS && group->largest[i]; i++) {
		if (i)
			text_add(text, ", ");
		put_subject(text, group->largest[i]);
	}
	if (group->nsubjects > SUBJECTS)
		text_printf(text, " and %u more", group->nsubjects - SUBJECTS);
}

static const char *whose_time(const struct judgement *judgement)
{
	return judgement->wall ? "of the wall-clock time" : "of the time off the CPU";
}

static void put_trouble(struct text *text, const struct judgement *judgement, const struct trouble_group *group)
{
	const struct trouble_text *texts = &trouble_texts[group->kind];
	bool many = group->nsubjects > 1;
	const char *cause = many && texts->cause_many ? texts->cause_many : texts->cause;
	const char *advice = many && texts->advice_many ? texts->advice_many : texts->advice;

	if (group->kind != TROUBLE_FEW) {
		put_percent(text, group->n, unit_total(judgement, texts->unit));
		text_char(text, ' ');
	}
	if (judgement->by_time && texts->of_time)
		text_printf(text, "%s %s", whose_time(judgement), texts->of_time);
	else
		text_add(text, texts->what);
	if (group->nsubjects || *cause)
		text_add(text, ": ");
	put_subjects(text, group);
	if (group->nsubjects && *cause)
		text_char(text, ' ');
	text_add(text, cause);
	if (advice)
		text_printf(text, " (%s)", advice);
}

static bool is_about_names(enum trouble_kind kind)
{
	return trouble_texts[kind].unit == OF_FRAMES || (kind >= TROUBLE_PYTHON && kind <= TROUBLE_INTERPRETER_OFFCPU);
}

/* Returns true if the share of the first group is at least LEAST, so that the summary sentence names it; false if not,
 * or if n is 0. */
static bool leads(const struct trouble_group *group, size_t n)
{
	return n > 0 && group->share >= LEAST;
}

void judgement_sentence(struct text *text, const struct judgement *judgement)
{
	struct trouble_group group[TROUBLE_KINDS];
	size_t n = judgement_groups(judgement, group);
	bool has_trouble = leads(group, n);

	put_number(text, judgement->samples, "sample", "samples");
	if (judgement->processes) {
		text_add(text, ", ");
		put_number(text, judgement->processes, "process", "processes");
	}
	if (judgement->ns) {
		double seconds = (double)judgement->ns / 1e9;

		text_printf(text, seconds < 9.95 ? ", %.1f s" : ", %.0f s", seconds);
	}
	if (judgement->stacks) {
		text_add(text, "; ");
		put_percent(text, judgement->complete, judgement->stacks);
		text_add(text, " of stacks complete");
	}
	if (judgement->offcpu_ns) {
		/* avoids "at least 0 %" and "at least under 0.1 %" */
		bool least = judgement->offcpu_unread &&
			     judgement_ratio(judgement->offcpu_complete_ns, judgement->offcpu_ns) >= 0.001;

		text_add(text, least ? "; at least " : "; ");
		put_percent(text, judgement->offcpu_complete_ns, judgement->offcpu_ns);
		text_printf(text, " %s has complete stacks", whose_time(judgement));
	}
	if (judgement->frames && !(has_trouble && is_about_names(group[0].kind))) {
		text_add(text, judgement->stacks || judgement->offcpu_ns ? ", " : "; ");
		put_percent(text, judgement->frames - judgement->unnamed, judgement->frames);
		text_add(text, " of frames named");
	}
	if (has_trouble) {
		text_add(text, "; ");
		put_trouble(text, judgement, &group[0]);
	}
	if (judgement->lacking) {
		text_add(text, "; ");
		put_number(text, judgement->lacking, "thread that has waited since before the recording is not shown",
			   "threads that have waited since before the recording are not shown");
	}
}

void judgement_lines(struct text *text, const struct judgement *judgement)
{
	struct trouble_group group[TROUBLE_KINDS];
	size_t n = judgement_groups(judgement, group);

	for (size_t i = leads(group, n); i < n; i++) {
		put_trouble(text, judgement, &group[i]);
		text_char(text, '\n');
	}
}
