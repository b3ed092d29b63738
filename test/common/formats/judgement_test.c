/* The summary sentence: figures, the largest trouble with its advice, names of subjects that are hostile. */
/* covers: common/formats/judgement.c */
#include "common/formats/judgement.h"

#include "test/lib/tap.h"

/* The figures of a profile without trouble. */
static struct judgement profile(void)
{
	return (struct judgement){ .samples = 6038,
				   .processes = 221,
				   .ns = UINT64_C(10000000000),
				   .stacks = 6038,
				   .complete = 5374,
				   .frames = 100000,
				   .unnamed = 0 };
}

static void is_sentence(struct judgement *judgement, const char *want, const char *what)
{
	struct text text = { 0 };

	judgement_sentence(&text, judgement);
	is_str(text_view(&text), str_of(want), what);
	text_free(&text);
	judgement_free(judgement);
}

#define FIGURES "6,038 samples, 221 processes, 10 s; 89 % of stacks complete"
#define NAMED FIGURES ", 100 % of frames named"

/* A trouble of one kind and its sentence. The subject has 3,000 of 6,038 samples or stacks, or of 100,000 frames. */
struct kind_row {
	enum trouble_kind kind;
	const char *subject, *want;
};

/* Samples without callers or without names of an interpreter's functions. */
static const struct kind_row sample_rows[] = {
	{ TROUBLE_OVER_BUDGET, "",
	  NAMED "; 50 % of samples without stacks: a container or user was over budget (a larger "
		"--tenant-bytes of pjrecord helps)" },
	{ TROUBLE_NO_CALLCHAIN, "",
	  NAMED "; 50 % of samples without callers: recorded without callchains (perf record -g, or pjrecord, "
		"helps)" },
	{ TROUBLE_PYTHON, "python3",
	  FIGURES "; 50 % of samples in an interpreter: python3 does not name its Python functions "
		  "(pjflame or pjrecord, as root with CAP_SYS_NICE on x86-64, or Python 3.12 or later with -X perf, "
		  "helps)" },
	{ TROUBLE_PYTHON_FP, "python3",
	  FIGURES
	  "; 50 % of samples in an interpreter: python3 does not name its Python functions "
	  "(pjflame or pjrecord without --unwind=fp, as root with CAP_SYS_NICE on x86-64, or Python 3.12 or later with -X perf, "
	  "helps)" },
	{ TROUBLE_PYTHON_UNREAD, "python3",
	  FIGURES "; 50 % of samples in an interpreter: python3 was not read, or not with certainty" },
	{ TROUBLE_INTERPRETER_PRIVATE, "php-fpm8.2",
	  FIGURES "; 50 % of samples in an interpreter: php-fpm8.2 was not read, or not with certainty (if it "
		  "changed its user, --interpreters=all, as root, shows its functions, to all who may read the "
		  "result)" },
	{ TROUBLE_RUBY, "ruby",
	  FIGURES
	  "; 50 % of samples in an interpreter: ruby does not name its Ruby methods (pjflame or "
	  "pjrecord, as root with CAP_SYS_NICE on x86-64, with Ruby 3.1 or 3.3, or --yjit --yjit-perf of 3.3 or "
	  "later, helps)" },
	{ TROUBLE_PHP, "php",
	  FIGURES "; 50 % of samples in an interpreter: php does not name its PHP functions "
		  "(pjflame or pjrecord, as root with CAP_SYS_NICE on x86-64, with PHP 7.4, 8.2 or 8.4 without the "
		  "JIT, helps)" },
	{ TROUBLE_PERL, "perl",
	  FIGURES "; 50 % of samples in an interpreter: perl does not name its Perl functions "
		  "(pjflame or pjrecord, as root with CAP_SYS_NICE on x86-64, with Perl 5.32 to 5.42, helps)" },
	{ TROUBLE_NODE_INTERPRETED, "node",
	  FIGURES "; 50 % of samples in an interpreter: node does not name its interpreted functions "
		  "(pjflame or pjrecord, as root with CAP_SYS_NICE on x86-64, or node --perf-basic-prof "
		  "--interpreted-frames-native-stack helps)" },
	{ TROUBLE_INTERPRETER_OFFCPU, "node",
	  FIGURES "; 50 % of samples in an interpreter: node does not name its functions in waits" },
};

/* Frames without names. */
static const struct kind_row name_rows[] = {
	{ TROUBLE_STRIPPED_PACKAGE, "gzip",
	  FIGURES "; 3 % of frames without names: gzip is stripped (its -dbgsym package helps)" },
	{ TROUBLE_STRIPPED, "prog",
	  FIGURES "; 3 % of frames without names: prog is stripped (a build without -s and strip helps)" },
	{ TROUBLE_NO_FILE, "prog",
	  FIGURES "; 3 % of frames without names: prog was not found (pjrecord -d DIR saves symbols while files "
		  "exist)" },
	{ TROUBLE_OTHER_BUILD, "prog",
	  FIGURES "; 3 % of frames without names: prog was replaced by another build (pjrecord -d DIR saves "
		  "symbols while files exist)" },
	{ TROUBLE_FORBIDDEN, "prog",
	  FIGURES "; 3 % of frames without names: prog may not be read by this user (folding as root helps)" },
	{ TROUBLE_SILENT, "prog",
	  FIGURES "; 3 % of frames without names: prog is on a file system that does not respond (folding again "
		  "when it responds helps)" },
	{ TROUBLE_OTHER_MACHINE, "prog",
	  FIGURES "; 3 % of frames without names: prog is not known to be of this machine (--symfs with the "
		  "files of the recorded machine helps)" },
	{ TROUBLE_NO_SYMBOL, "prog", FIGURES "; 3 % of frames without names: prog has no symbols there" },
	{ TROUBLE_TEXT, "",
	  FIGURES "; 3 % of frames without names: perf script had no symbols for them (pjfold of the perf.data, "
		  "on the machine with the files, may help)" },
	{ TROUBLE_NO_MAPPING, "", FIGURES "; 3 % of frames without names: addresses in no known file" },
	{ TROUBLE_KERNEL, "addresses are hidden (run as root)",
	  FIGURES "; 3 % of frames are of the kernel and without names: addresses are hidden (run as root)" },
	{ TROUBLE_NODE, "node 4711",
	  FIGURES "; 3 % of frames without names: node 4711 has no perf map (node --perf-basic-prof helps)" },
	{ TROUBLE_DOTNET, "dotnet 4711",
	  FIGURES "; 3 % of frames without names: dotnet 4711 has no perf map (DOTNET_PerfMapEnabled=1 helps)" },
	{ TROUBLE_ERLANG, "beam.smp 4711",
	  FIGURES "; 3 % of frames without names: beam.smp 4711 has no perf map (erl +JPperf true helps)" },
	{ TROUBLE_PHP_JIT, "php 4711",
	  FIGURES "; 3 % of frames without names: php 4711 has no perf map (opcache.jit_debug=0x10 helps)" },
	{ TROUBLE_RUBY_JIT, "ruby 4711",
	  FIGURES "; 3 % of frames without names: ruby 4711 has no perf map (Ruby 3.3 or later with --yjit-perf "
		  "helps)" },
	{ TROUBLE_PYTHON_JIT, "python3 4711",
	  FIGURES "; 3 % of frames without names: python3 4711 has no perf map (Python 3.12 or later with -X "
		  "perf helps)" },
	{ TROUBLE_JIT, "chromium 4711",
	  FIGURES "; 3 % of frames without names: chromium 4711 has code of a JIT and no perf map" },
	{ TROUBLE_JVM_UNREAD, "java 4711",
	  FIGURES "; 3 % of frames without names: java 4711 is a JVM that pjrecord may not read (pjrecord as "
		  "root, or with CAP_SYS_PTRACE, helps)" },
	{ TROUBLE_JVM_FP, "java 4711",
	  FIGURES "; 3 % of frames without names: java 4711 is a JVM that was recorded by frame pointers "
		  "(pjrecord without --unwind=fp, or with pjmap -i 1 beside it, helps)" },
	{ TROUBLE_JVM_PERF, "java 4711",
	  FIGURES "; 3 % of frames without names: java 4711 is a JVM without perf map (pjmap --once now, or "
		  "recording with pjrecord, helps)" },
	{ TROUBLE_JVM_ENDED, "java 4711",
	  FIGURES "; 3 % of frames without names: java 4711 is a JVM that has ended (recording with pjrecord, "
		  "which saves the names, helps)" },
	{ TROUBLE_JVM, "java 4711",
	  FIGURES "; 3 % of frames without names: java 4711 is a JVM whose code pjrecord could not name "
		  "(shorter windows (-w) help)" },
};

/* Incomplete stacks. */
static const struct kind_row stack_rows[] = {
	{ TROUBLE_TRUNCATED_COPY, "",
	  NAMED "; 50 % of stacks truncated: longer than the stack copy (a larger --stack-size of pjrecord "
		"helps)" },
	{ TROUBLE_TRUNCATED_PERF_COPY, "",
	  NAMED "; 50 % of stacks truncated: longer than the stack copy (perf record --call-graph dwarf,65528, or "
		"pjrecord, helps)" },
	{ TROUBLE_TRUNCATED_LIMIT, "",
	  NAMED "; 50 % of stacks truncated: deeper than the kernel's limit (a larger sysctl "
		"kernel.perf_event_max_stack before recording helps)" },
	{ TROUBLE_TRUNCATED_EVENT, "",
	  NAMED "; 50 % of stacks truncated: deeper than the limit of the event (a larger perf record --max-stack "
		"helps)" },
	{ TROUBLE_BROKEN_FP, "prog",
	  NAMED
	  "; 50 % of stacks broken: prog was unwound by frame pointers, which its code lacks (pjrecord --unwind=tables, or "
	  "perf record --call-graph dwarf, helps)" },
	{ TROUBLE_UNKNOWN_END, "php",
	  NAMED "; 50 % of stacks of unknown completeness: php has code that may not keep frame pointers" },
	{ TROUBLE_BROKEN_OFFCPU, "prog",
	  NAMED "; 50 % of stacks broken: prog has no frame pointers, which off-CPU callchains need "
		"(-fno-omit-frame-pointer (java -XX:+PreserveFramePointer) helps)" },
	{ TROUBLE_UNREAD_OFFCPU, "prog",
	  NAMED "; 50 % of stacks incomplete: prog was off the CPU too briefly, or may not be read" },
	{ TROUBLE_EARLY_OFFCPU, "java",
	  NAMED "; 50 % of stacks incomplete: java has waited since before the recording, so some registers are "
		"unknown" },
	{ TROUBLE_BROKEN, "prog", NAMED "; 50 % of stacks broken: prog has code without unwind tables" },
	{ TROUBLE_BROKEN_LATE, "prog",
	  NAMED "; 50 % of stacks broken: prog was sampled before its unwind tables were loaded (a longer "
		"recording helps)" },
	{ TROUBLE_BROKEN_EXEC, "prog",
	  NAMED "; 50 % of stacks broken: prog was sampled in exec or exit (no action needed: a process "
		"has no user stack then)" },
	{ TROUBLE_BROKEN_OTHER_STACK, "prog",
	  NAMED
	  "; 50 % of stacks broken: prog changed to another stack in Go's runtime, where unwinding ends (no action "
	  "needed: the frames shown are right)" },
};

static void check_rows(const struct kind_row *row, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct judgement judgement = profile();

		judgement_add(&judgement, row[i].kind, str_of(row[i].subject), 3000);
		is_sentence(&judgement, row[i].want, row[i].want + sizeof(FIGURES) - 1);
	}
}

static void each_kind(void)
{
	check_rows(sample_rows, countof(sample_rows));
	check_rows(name_rows, countof(name_rows));
	check_rows(stack_rows, countof(stack_rows));
}

static size_t count(struct str string, char byte)
{
	size_t n = 0;

	for (size_t i = 0; i < string.n; i++)
		n += string.p[i] == byte;
	return n;
}

/* However many kinds of trouble there are, the sentence has one of them, with one advice; lines have the others. */
static void many_kinds(void)
{
	struct judgement judgement = profile();
	struct text text = { 0 };

	judgement.lost = 1000;
	judgement_add(&judgement, TROUBLE_BROKEN_LATE, STR("prog"), 600);
	judgement_add(&judgement, TROUBLE_STRIPPED, STR("libx.so"), 5000);
	judgement_add(&judgement, TROUBLE_PYTHON, STR("python3"), 1500);
	judgement_add(&judgement, TROUBLE_OVER_BUDGET, (struct str){ 0 }, 200);
	judgement_sentence(&text, &judgement);
	is_u64(count(text_view(&text), '('), 1, "five kinds of trouble: one advice");
	ok(str_find_str(text_view(&text), STR("; 25 % of samples in an interpreter: python3")) > 0, "  of the largest");
	text.n = 0;
	judgement_lines(&text, &judgement);
	is_u64(count(text_view(&text), '\n'), 4, "  the others are lines");
	text_free(&text);
	judgement_free(&judgement);
}

/* A longer recording mends both. */
static void few_and_late(void)
{
	struct judgement judgement = { .samples = 3, .processes = 1, .ns = 300000000, .stacks = 3 };

	judgement_add(&judgement, TROUBLE_BROKEN_LATE, STR("prog"), 3);
	is_sentence(
		&judgement,
		"3 samples, 1 process, 0.3 s; 0 % of stacks complete; too few samples to judge (a longer recording or a "
		"higher frequency (-F) helps)",
		"few samples, all before the tables were loaded");
}

static void figures(void)
{
	struct judgement judgement = profile();

	is_sentence(&judgement, NAMED, "no trouble");
	judgement = profile();
	judgement.unnamed = 1;
	judgement.complete = 6037;
	is_sentence(&judgement, "6,038 samples, 221 processes, 10 s; 99.9 % of stacks complete, 99.9 % of frames named",
		    "nearly all is not 100 %");
	judgement = profile();
	judgement.complete = 1;
	is_sentence(&judgement,
		    "6,038 samples, 221 processes, 10 s; under 0.1 % of stacks complete, 100 % of frames named",
		    "nearly nothing is not 0 %");
	judgement = (struct judgement){ .samples = 100, .ns = 1 };
	is_sentence(&judgement, "100 samples, 0.0 s", "processes, stacks and frames are not known");
	judgement = (struct judgement){ .samples = 1, .processes = 1, .may_be_small = true };
	is_sentence(&judgement, "1 sample, 1 process", "one, of waits");
	judgement = (struct judgement){ .samples = 99 };
	is_sentence(&judgement,
		    "99 samples; too few samples to judge (a longer recording or a higher frequency (-F) helps)",
		    "too few");
	judgement = profile();
	judgement.lost = 6038;
	is_sentence(&judgement,
		    NAMED "; 50 % of samples lost: rings were full (a larger ring (pjrecord -m, perf record -m), a "
			  "lower frequency (-F) or a larger period (-c) helps)",
		    "losses");
}

static void choice(void)
{
	struct judgement judgement = profile();
	struct text text = { 0 };

	judgement.unnamed = 17000;
	judgement_add(&judgement, TROUBLE_STRIPPED_PACKAGE, STR("gzip"), 2000);
	judgement_add(&judgement, TROUBLE_STRIPPED_PACKAGE, STR("libLLVM"), 14000);
	judgement_add(&judgement, TROUBLE_STRIPPED_PACKAGE, STR("gzip"), 1000);
	judgement_add(&judgement, TROUBLE_NODE, STR("node 4711"), 16999);
	judgement_add(&judgement, TROUBLE_TRUNCATED_COPY, STR(""), 600);
	judgement_add(&judgement, TROUBLE_PYTHON, STR("python3"), 0);
	judgement_lines(&text, &judgement);
	is_str(text_view(&text),
	       STR("17 % of frames without names: node 4711 has no perf map (node --perf-basic-prof helps)\n"
		   "10 % of stacks truncated: longer than the stack copy (a larger --stack-size of pjrecord helps)\n"),
	       "one line for each further cause, by share");
	text_free(&text);
	is_sentence(&judgement,
		    FIGURES "; 17 % of frames without names: libLLVM, gzip are stripped (their -dbgsym packages help)",
		    "the largest trouble, with its subjects by weight");
	judgement = profile();
	judgement_add(&judgement, TROUBLE_STRIPPED, STR("a"), 999);
	is_sentence(&judgement, NAMED, "a trouble below 1 % is not in the sentence");
	judgement = profile();
	for (const char *name = "a\0b\0c\0d\0e\0"; *name; name += 2)
		judgement_add(&judgement, TROUBLE_STRIPPED, str_of(name), 1000);
	is_sentence(&judgement,
		    FIGURES
		    "; 5 % of frames without names: a, b, c and 2 more are stripped (a build without -s and strip "
		    "helps)",
		    "three of five subjects");
}

/* Off-CPU times: 810 of 1,000 waits have no complete stack, but they take 14 % of the time only. */
static void by_time(void)
{
	struct judgement judgement = { .samples = 1000,
				       .offcpu_ns = UINT64_C(10000000000),
				       .offcpu_complete_ns = UINT64_C(8600000000),
				       .may_be_small = true,
				       .by_time = true };

	judgement_add(&judgement, TROUBLE_UNREAD_OFFCPU, STR("a"), UINT64_C(1000000000));
	judgement_add(&judgement, TROUBLE_TRUNCATED_WAIT, STR(""), UINT64_C(400000000));
	is_sentence(&judgement,
		    "1,000 samples; 86 % of the time off the CPU has complete stacks; 10 % of the time off the CPU has "
		    "incomplete stacks: a was off the CPU too briefly, or may not be read",
		    "stacks of waits are judged by their time");
	judgement = (struct judgement){
		.samples = 1000, .offcpu_ns = 100, .offcpu_complete_ns = 90, .by_time = true, .wall = true
	};
	judgement_add(&judgement, TROUBLE_BROKEN_OFFCPU, STR("a"), 10);
	is_sentence(
		&judgement,
		"1,000 samples; 90 % of the wall-clock time has complete stacks; 10 % of the wall-clock time has broken "
		"stacks: a has no frame pointers, which off-CPU callchains need (-fno-omit-frame-pointer (java "
		"-XX:+PreserveFramePointer) helps)",
		"a profile of on-CPU and off-CPU times");
	judgement = profile();
	judgement.offcpu_ns = 1000;
	judgement.lacking = 1200;
	judgement.offcpu_complete_ns = 999;
	judgement_add(&judgement, TROUBLE_TRUNCATED_COPY, STR(""), 3000);
	is_sentence(
		&judgement,
		FIGURES
		"; 99.9 % of the time off the CPU has complete stacks, 100 % of frames named; 50 % of stacks "
		"truncated: longer than the stack copy (a larger --stack-size of pjrecord helps); 1,200 threads that "
		"have waited since before the recording are not shown",
		"beside the stacks of samples, each has its own share");
}

static void hostile_names(void)
{
	struct judgement judgement = profile();
	char longest[4096];

	judgement_add(&judgement, TROUBLE_STRIPPED, STR("a\n\033[31m\xe2\x80\xae"), 2000);
	is_sentence(&judgement,
		    FIGURES "; 2 % of frames without names: a\\x0a\\x1b[31m\\u202e is stripped (a build without "
			    "-s and strip helps)",
		    "control characters are escaped");
	judgement = profile();
	memset(longest, 'x', sizeof(longest));
	judgement_add(&judgement, TROUBLE_STRIPPED, (struct str){ longest, sizeof(longest) }, 2000);
	is_sentence(&judgement,
		    FIGURES
		    "; 2 % of frames without names: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx... "
		    "is stripped (a build without -s and strip helps)",
		    "long names are truncated");
	judgement = profile();
	judgement_add(&judgement, TROUBLE_LOST, STR(""), UINT64_MAX);
	judgement.lost = 1;
	judgement.samples = UINT64_MAX;
	judgement_add(&judgement, TROUBLE_STRIPPED, STR("b"), UINT64_MAX);
	judgement_add(&judgement, TROUBLE_STRIPPED, STR("c"), UINT64_MAX);
	judgement_free(&judgement);
}

int main(void)
{
	each_kind();
	many_kinds();
	few_and_late();
	figures();
	choice();
	by_time();
	hostile_names();
	return done();
}
