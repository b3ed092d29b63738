/* SPDX-License-Identifier: Apache-2.0 */
#include "common/filter/foreign.h"

/* Number of non-empty lines that are examined: some formats begin with a time or with output of the program. */
#define LINES 4

struct signature {
	struct str begin; /* start of a line */
	struct str in;    /* text anywhere in that line; empty: not needed */
	const char *advice;
};

static const struct signature signature[] = {
	{ STR("Full thread dump"), STR(""),
	  "this is a thread dump, which has no samples: pjflame -p PID samples the threads of a JVM" },
	{ STR("jdk."), STR(" {"),
	  "this is the text of a JFR recording: jfrconv -o collapsed FILE.jfr (async-profiler)" },
	{ STR("@["), STR(""), "these are maps of bpftrace: stackcollapse-bpftrace.pl FILE | pjfold" },
	{ STR("Attaching "), STR(" probe"), "these are maps of bpftrace: stackcollapse-bpftrace.pl FILE | pjfold" },
	{ STR("Sampling at "), STR(" Hertz of "),
	  "this is the multi-line output of bcc's profile: profile -f writes folded stacks" },
	{ STR("Tracing off-CPU time "), STR(""),
	  "this is the multi-line output of bcc's offcputime: offcputime -f writes folded stacks" },
	{ STR("PeriodType: "), STR(""), "this is go tool pprof -raw: stackcollapse-go.pl FILE | pjfold" },
	{ STR("# callgrind format"), STR(""),
	  "these are costs of functions by callgrind, which has no stacks: callgrind_annotate FILE" },
	{ STR("Analysis of sampling "), STR(""), "this is sample(1) of macOS: stackcollapse-sample.awk FILE | pjfold" },
	{ STR("--- Execution profile ---"), STR(""),
	  "these are traces of async-profiler: asprof -o collapsed writes folded stacks" },
	{ STR(""), STR(" function calls in "),
	  "these are sums of functions by Python's profiler, which has no stacks: py-spy record -f raw" },
	{ STR("{\""), STR(""), "this is JSON: the program that wrote it may write folded stacks, too" },
	{ STR("[{\""), STR(""), "this is JSON: the program that wrote it may write folded stacks, too" },
};

/* Returns true if the line begins with a time like 2026-11-22T15:00:01.123456789Z, as kubectl logs --timestamps and
 * docker logs -t print it. */
static bool has_log_time(struct str line)
{
	static const char form[] = "0000-00-00T00:00:00.";
	size_t i;

	if (line.n < sizeof(form))
		return false;
	for (i = 0; form[i]; i++)
		if (form[i] == '0' ? !byte_is_digit(line.p[i]) : line.p[i] != form[i])
			return false;
	while (i < line.n && byte_is_digit(line.p[i]))
		i++;
	return i + 1 < line.n && line.p[i] == 'Z' && line.p[i + 1] == ' ';
}

static const char *format_of(struct str line)
{
	for (size_t i = 0; i < countof(signature); i++) {
		if (!str_starts(line, signature[i].begin))
			continue;
		if (!signature[i].in.n || str_find_str(line, signature[i].in) >= 0)
			return signature[i].advice;
	}
	if (str_eq(line, STR("{")))
		return "this is JSON: the program that wrote it may write folded stacks, too";
	if (str_eq(line, STR("sample:")))
		return "these are samples of simpleperf: its stackcollapse.py writes folded stacks";
	if (has_log_time(line))
		return "each line begins with the time of a log: cut -d' ' -f2- FILE | pjfold";
	return NULL;
}

const char *foreign_format(struct str head)
{
	/* magic number of JFR: "FLR" and a zero byte */
	if (str_starts(head, (struct str){ "FLR", 4 }))
		return "this is a JFR recording: jfrconv -o collapsed FILE.jfr (async-profiler)";
	for (unsigned lines = 0; head.n && lines < LINES;) {
		struct str line = str_trim_right(str_cut(&head, '\n'));
		const char *advice = line.n ? format_of(line) : NULL;

		if (advice)
			return advice;
		lines += line.n > 0;
	}
	return NULL;
}
