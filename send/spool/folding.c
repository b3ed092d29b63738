/* SPDX-License-Identifier: Apache-2.0 */
#include "send/spool/folding.h"

#include "common/arena.h"
#include "common/process/child.h"
#include "send/spool/chunkinfo.h"
#include "common/diag.h"
#include "common/formats/folded.h"
#include "common/hash.h"
#include "send/http/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* latest epoch that all stores accept, in s since 1970 (year 2106): limit of ClickHouse's DateTime and of the _id in
 * eve: stores */
#define EPOCH_MAX UINT64_C(0xFFFFFFFF)
/* time in s after which a run of pjfold is killed, longer than any window needs: a pjfold that hangs must not block the
 * next windows */
#define FOLD_SECONDS 600
#define EVENTS_MAX 64
#define ARGS_MAX 64

/* ---- stacks of a profile ----------------------------------------------------------------------------------------- */

struct collected {
	/* stacks: distinct stacks in order of appearance, with ids from 1; count: weight of each stack, indexed by
	 * id */
	struct intern stacks;
	uint64_t *count;
	size_t cap;
	/* sum: sum of all weights; lines: number of stack lines; two: number of stack lines that end in two numbers */
	uint64_t sum, lines, two;
	/* wrong_line: number, from 1, of the first line that makes the input invalid: a malformed line, the header of a
	 * second profile, a weight that overflows the sum, or line 1 if all lines have two weights (a difference).
	 * wrong: static text with the reason; NULL: all lines are valid. */
	uint64_t wrong_line;
	const char *wrong;
};

static void folding_complain(struct collected *collected, uint64_t line, const char *wrong)
{
	if (!collected->wrong) {
		collected->wrong_line = line;
		collected->wrong = wrong;
	}
}

static void folding_collect(struct collected *collected, struct str stack, uint64_t count, uint64_t line,
			    struct text *mended)
{
	struct str rest = stack;
	uint64_t number;
	uint32_t id;

	collected->lines++;
	collected->two += folded_cut_number(&rest, &number);
	if (count == 0)
		return;
	mended->n = 0;
	utf8_mend(mended, stack);
	id = intern(&collected->stacks, text_view(mended));
	while (id >= collected->cap) {
		size_t cap = collected->cap ? 2 * collected->cap : 1024;

		collected->count = mem_grow(collected->count, sizeof(*collected->count), cap);
		memset(collected->count + collected->cap, 0, (cap - collected->cap) * sizeof(*collected->count));
		collected->cap = cap;
	}
	if (count > INT64_MAX - collected->sum) {
		folding_complain(collected, line, "the sum of weights is too large");
		return;
	}
	collected->count[id] += count;
	collected->sum += count;
}

static void collect_all(struct collected *collected, struct str lines)
{
	struct text mended = { 0 };

	for (uint64_t n = 1; lines.n; n++) {
		struct str line = str_cut(&lines, '\n'), stack;
		const char *wrong;
		uint64_t count;
		bool rounded;

		if (n > 1 && folded_is_header(line))
			folding_complain(collected, n, "another profile starts here: send each profile separately");
		if (str_is_blank(line) || line.p[0] == '#')
			continue;
		wrong = folded_parse(line, &stack, &count, &rounded);
		if (wrong || stack.n == 0)
			folding_complain(collected, n, wrong ? wrong : "no stack before the weight");
		else
			folding_collect(collected, stack, count, n, &mended);
	}
	if (collected->lines && collected->two == collected->lines)
		folding_complain(collected, 1, "each line ends in two numbers: a difference is not a profile");
	text_free(&mended);
}

static void write_stacks(struct text *text, const struct collected *collected)
{
	for (uint32_t id = 1; id <= collected->stacks.n; id++) {
		text_str(text, intern_str(&collected->stacks, id));
		text_char(text, ' ');
		text_u64(text, collected->count[id]);
		text_char(text, '\n');
	}
}

/* ---- header of a window ------------------------------------------------------------------------------------------ */

void folding_host(struct text *text, struct str host)
{
	for (size_t i = 0; i < host.n && i < 255; i++) {
		char byte = host.p[i];
		bool good = byte_is_digit(byte) || ((byte | 32) >= 'a' && (byte | 32) <= 'z') || byte == '_' ||
			    byte == '-' || (byte == '.' && i);

		text_char(text, good ? byte : '-');
	}
}

static bool folding_decimal(struct str string, uint64_t *ns)
{
	struct str complete = str_cut(&string, '.');
	uint64_t fraction = 0, scale = 1000000000;

	if (!str_u64(complete, ns) || *ns > UINT64_MAX / 1000000000 - 1 || string.n > 9 ||
	    (string.n && !str_u64(string, &fraction)))
		return false;
	for (size_t i = 0; i < string.n; i++)
		scale /= 10;
	*ns = *ns * 1000000000 + fraction * scale;
	return true;
}

/* Returns the duration of a recording in s; 0: unknown. */
static uint64_t seconds_of(const struct folded_header *header)
{
	uint64_t from, to;

	/* Windows have integer seconds in their header; output of pjfold has times of samples with decimals. */
	if (str_u64(header->from, &from) && str_u64(header->to, &to))
		return to > from ? to - from : 0;
	return folding_decimal(header->from, &from) && folding_decimal(header->to, &to) && to >= from ?
		       (to - from) / 1000000000 + 1 :
		       0;
}

/* Returns the identity of a stream: a hash of recorder, unit, event and labels. */
static uint64_t folding_stream_of(const struct folding *folding, const struct window *window)
{
	struct text text = { 0 };
	uint64_t n;

	text_printf(&text, "%016" PRIx64, folding->recorder);
	text_str(&text, window->unit);
	text_char(&text, '\n');
	text_str(&text, window->event);
	text_char(&text, '\n');
	text_str(&text, window->labels);
	n = hash_sum(text.p, text.n);
	text_free(&text);
	return n;
}

/* Converts one folded text with pjfold's header to a window text and appends it to *text. epoch: start of the window in
 * s since 1970; seconds: its duration, 0: from the header, else 1 s. Returns false and appends nothing if the sum of
 * all weights is 0. If why is not NULL, appends line number and reason of the first invalid line to it. */
static bool add_window(const struct folding *folding, struct str folded, uint64_t epoch, uint64_t seconds,
		       struct text *text, struct text *why)
{
	struct folded_header header = { 0 };
	struct folded_comments comments = { 0 };
	struct stacks stacks = { 0 };
	struct collected collected = { 0 };
	struct window window = { .epoch = epoch, .parts = 1 };
	struct text host = { 0 };
	struct str rest = folded, line = str_cut(&rest, '\n');

	if (line.n && line.p[0] == '#')
		folded_comment(&comments, &header, line, &stacks, (struct place){ "folded text", 1 });
	collect_all(&collected, folded);
	if (collected.wrong && why)
		text_printf(why, "standard input:%" PRIu64 ": %s", collected.wrong_line, collected.wrong);
	seconds = seconds ? seconds : seconds_of(&header);
	window.until = epoch + (seconds ? seconds : 1);
	folding_host(&host, folding->host.n ? folding->host : header.host);
	if (host.n == 0)
		text_add(&host, "unknown");
	window.host = text_view(&host);
	window.machine = folding->machine;
	window.unit = header.unit.n ? header.unit : STR("samples");
	window.event = header.event;
	window.frequency = header.frequency;
	window.labels = folding->labels.n ? folding->labels : header.labels;
	window.samples = header.present && !header.samples_unknown ? header.samples : collected.sum;
	window.lost = header.lost;
	window.lost_known = header.lost_known;
	window.stream = folding_stream_of(folding, &window);
	if (collected.sum) {
		window_header(text, &window);
		write_stacks(text, &collected);
	}
	free(collected.count);
	intern_free(&collected.stacks);
	folded_comments_end(&comments, &header, &stacks);
	stacks_free(&stacks);
	text_free(&host);
	return collected.sum > 0;
}

/* ---- runs of pjfold ---------------------------------------------------------------------------------------------- */

/* Sets *why to the first line of pjfold's messages, else to its exit status, signal or other failure. */
static void folding_why_of(const struct child *child, struct text *why)
{
	struct str err = text_view(&child->err), line = str_cut(&err, '\n');

	why->n = 0;
	if (child->error)
		text_printf(why, "cannot run pjfold: %s", strerror(child->error));
	else if (child->late)
		text_printf(why, "pjfold took more than %u s", FOLD_SECONDS);
	else if (child->large)
		text_add(why, "pjfold printed more than a gigabyte");
	else if (child->signal)
		text_printf(why, "pjfold ended by signal %d", child->signal);
	else if (line.n)
		text_str(why, line);
	else
		text_printf(why, "pjfold ended with status %d", child->status);
}

/* Runs pjfold for the events whose name matches the pattern `event`; NULL: for all events. */
static void run_pjfold(const struct folding *folding, const char *path, const char *event, struct child *child)
{
	char *argv[ARGS_MAX], only[512];
	size_t n = 0;

	argv[n++] = (char *)(uintptr_t)folding->pjfold;
	argv[n++] = (char *)(uintptr_t) "-q";
	argv[n++] = (char *)(uintptr_t) "--header";
	argv[n++] = (char *)(uintptr_t) "--unprivileged";
	if (folding->pids)
		argv[n++] = (char *)(uintptr_t) "--pid";
	if (folding->without_kinds)
		argv[n++] = (char *)(uintptr_t) "--annotate=none";
	if (event) {
		snprintf(only, sizeof(only), "--only=event=%s", event);
		argv[n++] = only;
	}
	for (size_t i = 0; folding->option && folding->option[i] && n < ARGS_MAX - 2; i++)
		argv[n++] = (char *)(uintptr_t)folding->option[i];
	argv[n++] = (char *)(uintptr_t)path;
	argv[n] = NULL;
	child_run(child, argv, FOLD_SECONDS, folding->stop);
}

/* Returns true if pjfold ran out of memory. The cause may be the window or the machine, so the caller limits the
 * retries. */
static bool lacked_memory(const struct child *child)
{
	return str_find_str(text_view(&child->err), STR(": out of memory (")) >= 0;
}

/* Converts the exit of pjfold to a result, and sets *why on failure. some: true if pjfold printed stacks. Status 1
 * means that pjfold cannot read the window (FOLD_BAD) or a part of it (FOLD_PART). A signal, the time limit or lack of
 * memory gives FOLD_CRASHED, too much output FOLD_BAD, another failure FOLD_FAILED. */
static enum fold_result folding_assess(const struct child *child, bool some, struct text *why)
{
	if (child->status == 0)
		return some ? FOLD_GOOD : FOLD_EMPTY;
	if (child->stopped)
		return FOLD_STOPPED;
	folding_why_of(child, why);
	if (child->error)
		return FOLD_FAILED;
	if (child->status == 1 && lacked_memory(child))
		return FOLD_CRASHED;
	if (child->status == 1)
		return some ? FOLD_PART : FOLD_BAD;
	return child->large ? FOLD_BAD : child->signal || child->late ? FOLD_CRASHED : FOLD_FAILED;
}

static enum fold_result fold_event(const struct folding *folding, const char *path, const char *event, uint64_t epoch,
				   uint64_t seconds, struct text *text, struct text *why)
{
	struct child child;
	enum fold_result result;
	bool some;

	run_pjfold(folding, path, event, &child);
	some = add_window(folding, text_view(&child.out), epoch, seconds, text, NULL);
	result = folding_assess(&child, some, why);
	child_free(&child);
	return result;
}

/* Runs pjfold --list-events and sets name[0] to name[*count - 1] to the events that have samples (column 3), as
 * patterns for --only. Returns FOLD_GOOD, FOLD_FAILED if pjfold cannot be run, or FOLD_STOPPED. */
static enum fold_result list_events(const struct folding *folding, const char *path, char name[EVENTS_MAX][256],
				    size_t *count, struct text *why)
{
	char *argv[] = { (char *)(uintptr_t)folding->pjfold, (char *)(uintptr_t) "--list-events",
			 (char *)(uintptr_t) "--unprivileged", (char *)(uintptr_t)path, NULL };
	struct child child;
	struct str rest;
	size_t n = 0;
	enum fold_result result;

	child_run(&child, argv, FOLD_SECONDS, folding->stop);
	rest = text_view(&child.out);
	str_cut(&rest, '\n');
	while (rest.n && n < EVENTS_MAX) {
		struct str line = str_trim(str_cut(&rest, '\n')), event;

		str_cut(&line, ' ');
		line = str_trim_left(line);
		str_cut(&line, ' ');
		event = str_trim_left(line);
		if (event.n == 0 || event.n > 250)
			continue;
		/* Characters with a meaning in --only become '?', which matches any character. */
		for (size_t i = 0; i < event.n; i++)
			name[n][i] = strchr(",*?[]\\", event.p[i]) ? '?' : event.p[i];
		name[n++][event.n] = 0;
	}
	if (child.error)
		folding_why_of(&child, why);
	*count = n;
	result = child.error ? FOLD_FAILED : child.stopped ? FOLD_STOPPED : FOLD_GOOD;
	child_free(&child);
	return result;
}

static enum fold_result fold_events(const struct folding *folding, const char *path, uint64_t epoch, uint64_t seconds,
				    struct text *text, struct text *why)
{
	static __thread char name[EVENTS_MAX][256];
	enum fold_result all = FOLD_EMPTY, one;
	size_t n;

	one = list_events(folding, path, name, &n, why);
	if (one != FOLD_GOOD)
		return one;
	if (n < 2)
		return fold_event(folding, path, NULL, epoch, seconds, text, why);
	for (size_t i = 0; i < n; i++) {
		one = fold_event(folding, path, name[i], epoch, seconds, text, why);
		if (one == FOLD_FAILED || one == FOLD_CRASHED || one == FOLD_STOPPED)
			return one;
		if (one != FOLD_EMPTY)
			all = all == FOLD_EMPTY || all == one ? one : FOLD_PART;
	}
	return all;
}

enum fold_result folding_chunk(const struct folding *folding, const char *path, int fd, uint64_t epoch,
			       struct text *text, struct text *why)
{
	struct chunkinfo info;
	uint64_t seconds = 0;
	size_t before = text->n;
	enum fold_result result;

	if (epoch < folding->since || epoch == 0) {
		text_printf(why, "the clock of its host was not set: it starts %" PRIu64 " s after 1970", epoch);
		return FOLD_BAD;
	}
	if (epoch > EPOCH_MAX) {
		text_printf(why, "its name is not a valid time: %" PRIu64 " s after 1970", epoch);
		return FOLD_BAD;
	}
	chunkinfo_read(&info, fd);
	if (info.end)
		seconds = (info.end - info.begin + 500000000) / 1000000000;
	result = info.events > 1 ? fold_events(folding, path, epoch, seconds, text, why) :
				   fold_event(folding, path, NULL, epoch, seconds, text, why);
	if (result != FOLD_GOOD && result != FOLD_PART)
		text->n = before;
	return result;
}

enum fold_result folding_text(const struct folding *folding, struct str folded, uint64_t epoch, uint64_t seconds,
			      struct text *text, struct text *why)
{
	size_t before = text->n;
	bool some;

	if (epoch < folding->since || epoch == 0) {
		text_printf(why, "standard input: time %" PRIu64 " is too early for the store", epoch);
		return FOLD_BAD;
	}
	if (epoch > EPOCH_MAX) {
		text_printf(why, "standard input: time %" PRIu64 " is too late for stores", epoch);
		return FOLD_BAD;
	}
	some = add_window(folding, folded, epoch, seconds, text, why);
	if (why->n == 0)
		return some ? FOLD_GOOD : FOLD_EMPTY;
	text->n = before;
	return FOLD_BAD;
}
