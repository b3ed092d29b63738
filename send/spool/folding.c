/* SPDX-License-Identifier: Apache-2.0 */
#include "send/spool/folding.h"

#include "common/arena.h"
#include "send/spool/child.h"
#include "send/spool/chunkinfo.h"
#include "common/diag.h"
#include "common/formats/folded.h"
#include "common/hash.h"
#include "send/http/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define EPOCH_MAX UINT64_C(0xFFFFFFFF) /* in the year 2106; what DateTime and the _id of eve: have room for */
#define FOLD_SECONDS 600               /* longer than any window takes; a pjfold that hangs must not stop the rest */
#define EVENTS_MAX 64
#define ARGS_MAX 64

/* ---- stacks -------------------------------------------------------------------------------------------------- */

struct collected {
	struct intern stacks; /* ids are numbers + 1, in order of appearance */
	uint64_t *count;
	size_t cap;
	uint64_t sum, lines, two; /* two: lines that end in two numbers */
	uint64_t wrong_line;      /* the first that is no stack, counted from 1; 0: none */
	const char *wrong;
};

static void folding_complain(struct collected *c, uint64_t line, const char *wrong)
{
	if (!c->wrong) {
		c->wrong_line = line;
		c->wrong = wrong;
	}
}

static void folding_collect(struct collected *c, struct str stack, uint64_t count, uint64_t line, struct text *mended)
{
	struct str rest = stack;
	uint64_t number;
	uint32_t id;

	c->lines++;
	c->two += folded_cut_number(&rest, &number);
	if (count == 0)
		return;
	mended->n = 0;
	utf8_mend(mended, stack);
	id = intern(&c->stacks, text_view(mended));
	while (id >= c->cap) {
		size_t cap = c->cap ? 2 * c->cap : 1024;

		c->count = mem_grow(c->count, sizeof(*c->count), cap);
		memset(c->count + c->cap, 0, (cap - c->cap) * sizeof(*c->count));
		c->cap = cap;
	}
	if (count > INT64_MAX - c->sum) {
		folding_complain(c, line, "the sum is larger than any recording's");
		return;
	}
	c->count[id] += count;
	c->sum += count;
}

static void collect_all(struct collected *c, struct str lines)
{
	struct text mended = { 0 };

	for (uint64_t n = 1; lines.n; n++) {
		struct str line = str_cut(&lines, '\n'), stack;
		const char *wrong;
		uint64_t count;
		bool rounded;

		if (n > 1 && folded_is_header(line))
			folding_complain(c, n, "another profile begins here: each is a window of its own");
		if (str_is_blank(line) || line.p[0] == '#')
			continue;
		wrong = folded_parse(line, &stack, &count, &rounded);
		if (wrong || stack.n == 0)
			folding_complain(c, n, wrong ? wrong : "no stack before the weight");
		else
			folding_collect(c, stack, count, n, &mended);
	}
	if (c->lines && c->two == c->lines)
		folding_complain(c, 1, "each line ends in two numbers: this is a difference, not a profile");
	text_free(&mended);
}

static void write_stacks(struct text *t, const struct collected *c)
{
	for (uint32_t id = 1; id <= c->stacks.n; id++) {
		text_str(t, intern_str(&c->stacks, id));
		text_char(t, ' ');
		text_u64(t, c->count[id]);
		text_char(t, '\n');
	}
}

/* ---- header -------------------------------------------------------------------------------------------------- */

void folding_host(struct text *t, struct str host)
{
	for (size_t i = 0; i < host.n && i < 255; i++) {
		char c = host.p[i];
		bool good = byte_is_digit(c) || ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '_' || c == '-' ||
			    (c == '.' && i);

		text_char(t, good ? c : '-');
	}
}

static bool folding_decimal(struct str s, uint64_t *ns)
{
	struct str complete = str_cut(&s, '.');
	uint64_t fraction = 0, scale = 1000000000;

	if (!str_u64(complete, ns) || *ns > UINT64_MAX / 1000000000 - 1 || s.n > 9 || (s.n && !str_u64(s, &fraction)))
		return false;
	for (size_t i = 0; i < s.n; i++)
		scale /= 10;
	*ns = *ns * 1000000000 + fraction * scale;
	return true;
}

/* How long the samples took, in whole seconds; 0: not known. */
static uint64_t seconds_of(const struct folded_header *h)
{
	uint64_t from, to;

	if (str_u64(h->from, &from) && str_u64(h->to, &to)) /* of a window; times of samples have decimals */
		return to > from ? to - from : 0;
	return folding_decimal(h->from, &from) && folding_decimal(h->to, &to) && to >= from ?
		       (to - from) / 1000000000 + 1 :
		       0;
}

/* unit, event, recorder and labels: what is counted, by whom. */
static uint64_t folding_stream_of(const struct folding *f, const struct window *w)
{
	struct text t = { 0 };
	uint64_t n;

	text_printf(&t, "%016" PRIx64, f->recorder);
	text_str(&t, w->unit);
	text_char(&t, '\n');
	text_str(&t, w->event);
	text_char(&t, '\n');
	text_str(&t, w->labels);
	n = hash_sum(t.p, t.n);
	text_free(&t);
	return n;
}

/* A folded text with pjfold's header becomes one with ours. False: nothing is in it. why, if not NULL: what is wrong in
 * which line. */
static bool add_window(const struct folding *f, struct str folded, uint64_t epoch, uint64_t seconds, struct text *text,
		       struct text *why)
{
	struct folded_header h = { 0 };
	struct folded_comments comments = { 0 };
	struct stacks s = { 0 };
	struct collected c = { 0 };
	struct window w = { .epoch = epoch, .parts = 1 };
	struct text host = { 0 };
	struct str rest = folded, line = str_cut(&rest, '\n');

	if (line.n && line.p[0] == '#')
		folded_comment(&comments, &h, line, &s, (struct place){ "folded text", 1 });
	collect_all(&c, folded);
	if (c.wrong && why)
		text_printf(why, "standard input:%" PRIu64 ": %s", c.wrong_line, c.wrong);
	seconds = seconds ? seconds : seconds_of(&h);
	w.until = epoch + (seconds ? seconds : 1);
	folding_host(&host, f->host.n ? f->host : h.host);
	if (host.n == 0)
		text_add(&host, "unknown");
	w.host = text_view(&host);
	w.machine = f->machine;
	w.unit = h.unit.n ? h.unit : STR("samples");
	w.event = h.event;
	w.frequency = h.frequency;
	w.labels = f->labels.n ? f->labels : h.labels;
	w.samples = h.present && !h.samples_unknown ? h.samples : c.sum;
	w.lost = h.lost;
	w.lost_known = h.lost_known;
	w.stream = folding_stream_of(f, &w);
	if (c.sum) {
		window_header(text, &w);
		write_stacks(text, &c);
	}
	free(c.count);
	intern_free(&c.stacks);
	folded_comments_end(&comments, &h, &s);
	stacks_free(&s);
	text_free(&host);
	return c.sum > 0;
}

/* ---- pjfold -------------------------------------------------------------------------------------------------- */

/* The first line that it said, or what became of it. */
static void folding_why_of(const struct child *c, struct text *why)
{
	struct str err = text_view(&c->err), line = str_cut(&err, '\n');

	why->n = 0;
	if (c->error)
		text_printf(why, "pjfold cannot be run: %s", strerror(c->error));
	else if (c->late)
		text_printf(why, "pjfold took more than %u s", FOLD_SECONDS);
	else if (c->large)
		text_add(why, "pjfold printed more than a gigabyte");
	else if (c->signal)
		text_printf(why, "pjfold ended by signal %d", c->signal);
	else if (line.n)
		text_str(why, line);
	else
		text_printf(why, "pjfold ended with status %d", c->status);
}

/* event: a pattern; NULL: whatever there is. */
static void run_pjfold(const struct folding *f, const char *path, const char *event, struct child *c)
{
	char *argv[ARGS_MAX], only[512];
	size_t n = 0;

	argv[n++] = (char *)(uintptr_t)f->pjfold;
	argv[n++] = (char *)(uintptr_t) "-q";
	argv[n++] = (char *)(uintptr_t) "--header";
	argv[n++] = (char *)(uintptr_t) "--unprivileged";
	if (f->pids)
		argv[n++] = (char *)(uintptr_t) "--pid";
	if (f->fp)
		argv[n++] = (char *)(uintptr_t) "--annotate=none";
	if (event) {
		snprintf(only, sizeof(only), "--only=event=%s", event);
		argv[n++] = only;
	}
	for (size_t i = 0; f->option && f->option[i] && n < ARGS_MAX - 2; i++)
		argv[n++] = (char *)(uintptr_t)f->option[i];
	argv[n++] = (char *)(uintptr_t)path;
	argv[n] = NULL;
	child_run(c, argv, FOLD_SECONDS, f->stop);
}

/* Memory may be short because of this window or because of something else: it is tried again, but not for ever. */
static bool lacked_memory(const struct child *c)
{
	return str_find_str(text_view(&c->err), STR(": out of memory (")) >= 0;
}

/* Status 1 is a window that cannot be read, or only in part; all else is not its fault. */
static enum fold_result folding_assess(const struct child *c, bool some, struct text *why)
{
	if (c->status == 0)
		return some ? FOLD_GOOD : FOLD_EMPTY;
	if (c->stopped)
		return FOLD_STOPPED;
	folding_why_of(c, why);
	if (c->error)
		return FOLD_FAILED;
	if (c->status == 1 && lacked_memory(c))
		return FOLD_CRASHED;
	if (c->status == 1)
		return some ? FOLD_PART : FOLD_BAD;
	return c->large ? FOLD_BAD : c->signal || c->late ? FOLD_CRASHED : FOLD_FAILED;
}

static enum fold_result fold_event(const struct folding *f, const char *path, const char *event, uint64_t epoch,
				   uint64_t seconds, struct text *text, struct text *why)
{
	struct child c;
	enum fold_result result;
	bool some;

	run_pjfold(f, path, event, &c);
	some = add_window(f, text_view(&c.out), epoch, seconds, text, NULL);
	result = folding_assess(&c, some, why);
	child_free(&c);
	return result;
}

/* Names of events that have samples, as patterns for --only: third column of --list-events. Returns FOLD_FAILED if
 * pjfold could not be run, FOLD_STOPPED, or FOLD_GOOD. */
static enum fold_result list_events(const struct folding *f, const char *path, char name[EVENTS_MAX][256],
				    size_t *count, struct text *why)
{
	char *argv[] = { (char *)(uintptr_t)f->pjfold, (char *)(uintptr_t) "--list-events",
			 (char *)(uintptr_t) "--unprivileged", (char *)(uintptr_t)path, NULL };
	struct child c;
	struct str rest;
	size_t n = 0;
	enum fold_result result;

	child_run(&c, argv, FOLD_SECONDS, f->stop);
	rest = text_view(&c.out);
	str_cut(&rest, '\n');
	while (rest.n && n < EVENTS_MAX) {
		struct str line = str_trim(str_cut(&rest, '\n')), event;

		str_cut(&line, ' ');
		line = str_trim_left(line);
		str_cut(&line, ' ');
		event = str_trim_left(line);
		if (event.n == 0 || event.n > 250)
			continue;
		for (size_t i = 0; i < event.n; i++) /* what has a meaning in a list of patterns */
			name[n][i] = strchr(",*?[]\\", event.p[i]) ? '?' : event.p[i];
		name[n++][event.n] = 0;
	}
	if (c.error)
		folding_why_of(&c, why);
	*count = n;
	result = c.error ? FOLD_FAILED : c.stopped ? FOLD_STOPPED : FOLD_GOOD;
	child_free(&c);
	return result;
}

static enum fold_result fold_events(const struct folding *f, const char *path, uint64_t epoch, uint64_t seconds,
				    struct text *text, struct text *why)
{
	static __thread char name[EVENTS_MAX][256];
	enum fold_result all = FOLD_EMPTY, one;
	size_t n;

	one = list_events(f, path, name, &n, why);
	if (one != FOLD_GOOD)
		return one;
	if (n < 2)
		return fold_event(f, path, NULL, epoch, seconds, text, why);
	for (size_t i = 0; i < n; i++) {
		one = fold_event(f, path, name[i], epoch, seconds, text, why);
		if (one == FOLD_FAILED || one == FOLD_CRASHED || one == FOLD_STOPPED)
			return one;
		if (one != FOLD_EMPTY && all != FOLD_PART)
			all = one == FOLD_BAD && all == FOLD_GOOD ? FOLD_PART : one;
	}
	return all;
}

enum fold_result folding_chunk(const struct folding *f, const char *path, int fd, uint64_t epoch, struct text *text,
			       struct text *why)
{
	struct chunkinfo info;
	uint64_t seconds = 0;
	size_t before = text->n;
	enum fold_result result;

	if (epoch < f->since || epoch == 0) {
		text_printf(why, "the clock of its host was not set: it begins %" PRIu64 " s after 1970", epoch);
		return FOLD_BAD;
	}
	if (epoch > EPOCH_MAX) {
		text_printf(why, "its name is no time: %" PRIu64 " s after 1970", epoch);
		return FOLD_BAD;
	}
	chunkinfo_read(&info, fd);
	if (info.end)
		seconds = (info.end - info.begin + 500000000) / 1000000000;
	result = info.events > 1 ? fold_events(f, path, epoch, seconds, text, why) :
				   fold_event(f, path, NULL, epoch, seconds, text, why);
	if (result != FOLD_GOOD && result != FOLD_PART)
		text->n = before;
	return result;
}

enum fold_result folding_text(const struct folding *f, struct str folded, uint64_t epoch, uint64_t seconds,
			      struct text *text, struct text *why)
{
	size_t before = text->n;
	bool some;

	if (epoch < f->since || epoch == 0) {
		text_printf(why, "standard input: time %" PRIu64 " is before what the store takes", epoch);
		return FOLD_BAD;
	}
	if (epoch > EPOCH_MAX) {
		text_printf(why, "standard input: time %" PRIu64 " is after what stores can tell", epoch);
		return FOLD_BAD;
	}
	some = add_window(f, folded, epoch, seconds, text, why);
	if (why->n == 0)
		return some ? FOLD_GOOD : FOLD_EMPTY;
	text->n = before;
	return FOLD_BAD;
}
