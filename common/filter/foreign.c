/* SPDX-License-Identifier: Apache-2.0 */
#include "common/filter/foreign.h"

/* Number of non-empty lines at the start of an input that are compared with signatures. The first line is not enough:
 * some formats begin with a time or with output of the profiled program. */
#define LINES 4

struct signature {
	struct str begin; /* text with which a line of the format begins */
	struct str in;    /* further text that a line of the format must contain; empty: none */
	enum foreign_kind kind;
	const char *advice;
};

#define FOREIGN_MAPS "these are maps of bpftrace: pjfold FILE writes folded stacks"
#define FOREIGN_JSON "this is JSON: the program that wrote it may write folded stacks, too"

static const struct signature signature[] = {
	{ STR("Full thread dump"), STR(""), FOREIGN_THREADS,
	  "this is a thread dump of a JVM: pjfold FILE writes folded stacks" },
	{ STR("jdk."), STR(" {"), FOREIGN_JFR, "this is the text of jfr print: pjfold FILE writes folded stacks" },
	{ STR("@["), STR(""), FOREIGN_BPFTRACE, FOREIGN_MAPS },
	{ STR("Attaching "), STR(" probe"), FOREIGN_BPFTRACE, FOREIGN_MAPS },
	{ STR("Attached "), STR(" probe"), FOREIGN_BPFTRACE, FOREIGN_MAPS },
	{ STR("{\"type\": \""), STR("\"data\": {"), FOREIGN_BPFTRACE_JSON, FOREIGN_MAPS },
	{ STR("Sampling at "), STR(" Hertz of "), FOREIGN_BCC,
	  "this is the multi-line output of bcc's profile: pjfold FILE writes folded stacks" },
	{ STR("Tracing off-CPU time "), STR(""), FOREIGN_BCC,
	  "this is the multi-line output of bcc's offcputime: pjfold FILE writes folded stacks" },
	{ STR("PeriodType: "), STR(""), FOREIGN_OTHER,
	  "this is go tool pprof -raw: stackcollapse-go.pl FILE | pjfold" },
	{ STR("# callgrind format"), STR(""), FOREIGN_OTHER,
	  "these are costs of functions by callgrind, which has no stacks: callgrind_annotate FILE" },
	{ STR("Analysis of sampling "), STR(""), FOREIGN_OTHER,
	  "this is sample(1) of macOS: stackcollapse-sample.awk FILE | pjfold" },
	{ STR("--- Execution profile ---"), STR(""), FOREIGN_OTHER,
	  "these are traces of async-profiler: asprof -o collapsed writes folded stacks" },
	{ STR(""), STR(" function calls in "), FOREIGN_OTHER,
	  "these are sums of functions by Python's profiler, which has no stacks: py-spy record -f raw" },
	{ STR(" 0x"), STR(" : "), FOREIGN_OTHER, "these are stacks of SystemTap: stackcollapse-stap.pl FILE | pjfold" },
	{ STR("{\""), STR(""), FOREIGN_OTHER, FOREIGN_JSON },
	{ STR("[{\""), STR(""), FOREIGN_OTHER, FOREIGN_JSON },
};

/* Formats that are recognized by a complete line: the line equals `begin`, except for blanks at its start and end. */
static const struct signature exact_line[] = {
	{ STR("\"recording\": {"), STR(""), FOREIGN_JFR_JSON,
	  "this is the JSON of jfr print: pjfold FILE writes folded stacks" },
	{ STR("sample:"), STR(""), FOREIGN_SIMPLEPERF,
	  "these are samples of simpleperf: pjfold FILE writes folded stacks" },
};

static const struct signature json = { .kind = FOREIGN_OTHER, .advice = FOREIGN_JSON };
static const struct signature log_times = {
	.kind = FOREIGN_OTHER, .advice = "each line begins with the time of a log: cut -d' ' -f2- FILE | pjfold"
};
static const struct signature flight_recording = {
	.kind = FOREIGN_OTHER, .advice = "this is a JFR recording: jfr print --json --stack-depth 64 FILE.jfr | pjfold"
};

/* Returns true if the line begins with a time like 2026-11-22T15:00:01.123456789Z, which `kubectl logs --timestamps`
 * and `docker logs -t` print before each line. */
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

/* Returns true if the line begins with "@name[", a key of a map of bpftrace. */
static bool is_named_map(struct str line)
{
	size_t i = 1;

	while (i < line.n &&
	       (byte_is_digit(line.p[i]) || line.p[i] == '_' || ((line.p[i] | 32) >= 'a' && (line.p[i] | 32) <= 'z')))
		i++;
	return i < line.n && line.p[0] == '@' && line.p[i] == '[' && str_find(line, ';') < 0;
}

static const struct signature *format_of(struct str line)
{
	for (size_t i = 0; i < countof(signature); i++) {
		if (!str_starts(line, signature[i].begin))
			continue;
		if (!signature[i].in.n || str_find_str(line, signature[i].in) >= 0)
			return &signature[i];
	}
	for (size_t i = 0; i < countof(exact_line); i++)
		if (str_eq(str_trim(line), exact_line[i].begin))
			return &exact_line[i];
	if (is_named_map(line))
		return &signature[2];
	return has_log_time(line) ? &log_times : NULL;
}

static const struct signature *signature_of(struct str head)
{
	const struct signature *last = NULL;

	/* A JFR file begins with "FLR" and a NUL. */
	if (str_starts(head, (struct str){ "FLR", 4 }))
		return &flight_recording;
	for (unsigned lines = 0; head.n && lines < LINES;) {
		struct str line = str_trim_right(str_cut(&head, '\n'));
		const struct signature *found = line.n ? format_of(line) : NULL;

		if (found)
			return found;
		if (str_eq(line, STR("{")))
			last = &json; /* it is JSON, perhaps of a known format: the next lines decide */
		lines += line.n > 0;
	}
	return last;
}

enum foreign_kind foreign_kind(struct str head)
{
	const struct signature *found = signature_of(head);

	return found ? found->kind : FOREIGN_NONE;
}

const char *foreign_format(struct str head)
{
	const struct signature *found = signature_of(head);

	return found ? found->advice : NULL;
}
