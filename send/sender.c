/* SPDX-License-Identifier: Apache-2.0 */
#include "send/sender.h"

#include "common/arena.h"
#include "common/clocks.h"
#include "send/format/pack.h"
#include "send/spool/counters.h"
#include "common/diag.h"
#include "send/retries.h"
#include "common/hash.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>

/* upper limits in ms for the random pause after the first failure, and after any number of failures in a row */
#define BASE_MS 1000
#define CAP_MS 60000
/* upper limit in s for a pause that a store requests; a longer pause is shortened to it */
#define REQUESTED_MAX_S 300
#define HOLD_MS 30000
/* number of failures in a row, none of them indeterminate, after which --once stops: the store is unavailable, and the
 * next run sends the rest */
#define AWAY 5
/* limits of a window's indeterminate attempts: their number, and the ms since the first attempt */
#define RETRIES 10
#define STALE_MS (UINT64_C(3600) * 1000)
#define LOOK_MS 1000
/* interval in ms at which the spool is listed, to find windows of other processes, if 1000 windows or more wait; a
 * tenth of it if fewer wait */
#define LIST_MS 60000
#define WRITE_MS 5000
#define REPORT_MS 60000
#define TIDY_MS 60000
/* age in s up to which a window is recent; older windows are the backlog */
#define FRESH_S 120

static uint64_t now_ms(void)
{
	/* + 1, because the value 0 means "never" */
	return clock_now_ms() + 1;
}

static uint64_t sender_below(uint64_t n)
{
	uint64_t r = 0;

	if (getrandom(&r, sizeof(r), 0) != sizeof(r))
		r = n / 2;
	return n ? r % n : 0;
}

/* Returns the pause in ms after `failures` failures in a row: requested_s seconds if the store requested a pause (not
 * 0), else a random part of a doubling limit (full jitter), so that hosts that failed together retry at different
 * times. */
static uint64_t pause_ms(unsigned failures, uint64_t requested_s)
{
	uint64_t cap = BASE_MS;

	if (requested_s)
		return (requested_s < REQUESTED_MAX_S ? requested_s : REQUESTED_MAX_S) * 1000 + sender_below(BASE_MS);
	while (failures-- > 1 && cap < CAP_MS)
		cap *= 2;
	return sender_below(cap < CAP_MS ? cap : CAP_MS) + 1;
}

/* Returns true if a message about a fault may be printed now: at most one a minute, so that a lasting fault does not
 * fill the log. */
static bool sender_may_report(struct sender *sender)
{
	uint64_t now = now_ms();

	if (sender->shown && now - sender->shown < REPORT_MS)
		return false;
	sender->shown = now;
	return true;
}

/* ---- list of waiting windows ----------------------------------------------------------------------------------- */

static int sender_cmp(struct spool_name name, struct spool_name b)
{
	if (name.epoch != b.epoch)
		return name.epoch < b.epoch ? -1 : 1;
	return name.tag < b.tag ? -1 : name.tag > b.tag;
}

static void sender_forget(struct sender *sender, size_t i)
{
	sender->doubtful |= sender->window[i].retries > 0;
	free(sender->window[i].text);
	memmove(sender->window + i, sender->window + i + 1, (sender->n - i - 1) * sizeof(*sender->window));
	sender->n--;
}

/* Replaces the list of windows by `names`, which is sorted. Windows that are in the old and the new list keep their
 * state. */
static void sender_merge(struct sender *sender, const struct spool_name *names, size_t n)
{
	struct waiting_window *all = mem_alloc(sizeof(*all), n ? n : 1);
	size_t old = 0;

	for (size_t i = 0; i < n; i++) {
		for (; old < sender->n && sender_cmp(sender->window[old].name, names[i]) < 0; old++)
			free(sender->window[old].text);
		if (old < sender->n && sender_cmp(sender->window[old].name, names[i]) == 0)
			all[i] = sender->window[old++];
		else
			all[i].name = names[i];
	}
	for (; old < sender->n; old++)
		free(sender->window[old].text);
	free(sender->window);
	sender->window = all;
	sender->n = n;
	sender->cap = n ? n : 1;
}

/* Lists the windows in the spool, to find those that other processes added or removed. */
static void sender_look(struct sender *sender)
{
	struct spool_name *names;
	size_t n;

	sender->listed = now_ms();
	if (!spool_windows(sender->spool, &names, &n)) {
		if (sender_may_report(sender))
			warn("cannot read the spool: %s", strerror(errno));
		return;
	}
	sender_merge(sender, names, n);
	free(names);
}

void sender_add(struct sender *sender, struct spool_name name)
{
	pthread_mutex_lock(&sender->lock);
	sender->added = mem_more(sender->added, sizeof(*sender->added), sender->nadded);
	sender->added[sender->nadded++] = name;
	pthread_mutex_unlock(&sender->lock);
}

static void sender_insert(struct sender *sender, struct spool_name name)
{
	size_t i = sender->n;

	while (i && sender_cmp(sender->window[i - 1].name, name) > 0)
		i--;
	if (i && sender_cmp(sender->window[i - 1].name, name) == 0)
		return;
	if (sender->n == sender->cap) {
		sender->cap = sender->cap ? 2 * sender->cap : 64;
		sender->window = mem_grow(sender->window, sizeof(*sender->window), sender->cap);
	}
	memmove(sender->window + i + 1, sender->window + i, (sender->n - i) * sizeof(*sender->window));
	sender->window[i] = (struct waiting_window){ .name = name };
	sender->n++;
}

static void take_added(struct sender *sender)
{
	pthread_mutex_lock(&sender->lock);
	for (size_t i = 0; i < sender->nadded; i++)
		sender_insert(sender, sender->added[i]);
	sender->nadded = 0;
	free(sender->added);
	sender->added = NULL;
	pthread_mutex_unlock(&sender->lock);
}

static bool is_fresh(const struct waiting_window *waiting)
{
	uint64_t now = (uint64_t)time(NULL);

	return waiting->name.epoch + FRESH_S > now;
}

static bool is_due(const struct sender *sender, const struct waiting_window *waiting, uint64_t now)
{
	return sender->o.once ? waiting->attempts == 0 : waiting->due <= now;
}

/* Returns true if --once must stop because the store is unavailable. Each attempt may last until the store's timeout:
 * too long for a thousand windows, as the next run waits for the lock meanwhile. */
static bool is_away(const struct sender *sender)
{
	return sender->o.once && sender->away >= AWAY;
}

/* Returns the oldest window that is due or, every second time during a backlog, the newest one if it is recent and
 * untried. Returns NULL if none is due, if the pause after a failure lasts, or if the rate of the backlog permits none
 * yet. */
static struct waiting_window *sender_choose(struct sender *sender, uint64_t now)
{
	struct waiting_window *oldest = NULL, *newest = NULL;

	if (is_away(sender) || (sender->store_due > now && !(sender->o.once && sender->failures)))
		return NULL;
	for (size_t i = 0; i < sender->n && !oldest; i++)
		if (is_due(sender, sender->window + i, now))
			oldest = sender->window + i;
	if (!oldest || is_fresh(oldest))
		return oldest;
	for (size_t i = sender->n; i-- > 0 && is_fresh(sender->window + i) && !newest;)
		if (is_due(sender, sender->window + i, now) && !sender->window[i].attempts)
			newest = sender->window + i;
	if (newest && (sender->fresh_turn || sender->backlog_due > now)) {
		sender->fresh_turn = false;
		return newest;
	}
	sender->fresh_turn = true;
	return sender->backlog_due > now && !sender->o.once ? NULL : oldest;
}

/* ---- results of an attempt ------------------------------------------------------------------------------------- */

static void cannot_remove(struct sender *sender, struct waiting_window *waiting)
{
	waiting->due = now_ms() + LOOK_MS;
	if (errno != EBUSY && sender_may_report(sender))
		warn("window %" PRIu64 " was sent, but cannot be removed: %s", waiting->name.epoch, strerror(errno));
}

static void sender_finish(struct sender *sender, struct waiting_window *waiting)
{
	if (spool_done(sender->spool, waiting->name))
		sender_forget(sender, (size_t)(waiting - sender->window));
	else
		cannot_remove(sender, waiting);
}

static void sender_confirmed(struct sender *sender, struct waiting_window *waiting)
{
	sender->sent++;
	sender->failures = sender->away = 0;
	sender->store_due = 0;
	if (sender->held && !sender->o.quiet)
		warn("%s accepts windows again", sender->store->spec);
	sender->held = false;
	count(COUNT_SENT, 1);
	count_set(COUNT_LAST_SENT, (uint64_t)time(NULL));
	waiting->sent = true;
	/* For the windows in spool/doubts, this success means that the store accepted other windows, so the file is
	 * outdated. */
	sender->doubtful |= sender->noted > 0;
	sender_finish(sender, waiting);
}

static void sender_refuse(struct sender *sender, struct waiting_window *waiting, struct str why)
{
	warn("window %" PRIu64 " was refused and moved to bad/: %.*s", waiting->name.epoch, (int)why.n, why.p);
	if (spool_refuse(sender->spool, waiting->name, why)) {
		count(COUNT_REFUSED, 1);
		sender->refused++;
		sender_forget(sender, (size_t)(waiting - sender->window));
	} else {
		waiting->due = now_ms() + CAP_MS;
		if (errno != EBUSY && sender_may_report(sender))
			warn("cannot move window %" PRIu64 " to bad/: %s", waiting->name.epoch, strerror(errno));
	}
}

static void put_off(struct sender *sender, struct waiting_window *waiting, const struct store_report *report)
{
	uint64_t now = now_ms(), pause;

	sender->failures++;
	sender->away = report->verdict == STORE_INDETERMINATE ? 0 : sender->away + 1;
	pause = report->verdict == STORE_HOLD ? HOLD_MS + sender_below(HOLD_MS) :
						pause_ms(sender->failures, report->after);
	sender->store_due = now + pause;
	/* The extra pause of this window lets another window go first when the pause of the store ends. */
	waiting->due = sender->store_due + pause_ms(waiting->attempts, 0);
	count(report->verdict == STORE_HOLD          ? COUNT_HOLD :
	      report->verdict == STORE_INDETERMINATE ? COUNT_INDETERMINATE :
						       COUNT_LATER,
	      1);
	if (report->verdict == STORE_HOLD && !sender->held) {
		warn("%s refuses the connection: %.*s; nothing is lost, but the configuration needs attention",
		     sender->store->spec, (int)report->why.n, report->why.p);
		sender->held = true;
		sender->shown = now;
	} else if (sender_may_report(sender)) {
		warn("window %" PRIu64 " waits: %.*s", waiting->name.epoch, (int)report->why.n, report->why.p);
	}
}

/* Returns the ms since the first attempt to send this window, which may be in an earlier run. */
static uint64_t age_ms(const struct waiting_window *waiting)
{
	return waiting->aged + (waiting->first ? now_ms() - waiting->first : 0);
}

static bool others_taken(const struct sender *sender, const struct waiting_window *waiting)
{
	return waiting->others || (waiting->first && sender->sent > waiting->sent_before);
}

/* Returns true if the indeterminate attempts of a window reached their limit, in number or time, while the store
 * accepted other windows. */
static bool is_poison(const struct sender *sender, const struct waiting_window *waiting)
{
	return others_taken(sender, waiting) &&
	       (waiting->retries >= RETRIES || (waiting->retries && age_ms(waiting) >= STALE_MS));
}

/* Writes the refused stacks of a window (report->refused) to bad/; the store holds the other stacks of that window.
 * Returns false on failure. */
static bool keep_poison(struct sender *sender, const struct window *window, const struct store_report *report)
{
	struct text part = { 0 };
	struct str lines = text_view(&report->refused), stack;
	uint64_t n, documents = 0;
	bool good;

	while (window_next(&lines, &stack, &n))
		documents++;
	window_header(&part, window);
	text_str(&part, text_view(&report->refused));
	good = spool_refuse_part(sender->spool, (struct spool_name){ window->epoch, window->stream }, text_view(&part),
				 text_view(&report->refused_why));
	text_free(&part);
	if (good) {
		count(COUNT_POISON, documents);
		sender->refused++;
		warn("of window %" PRIu64 " %" PRIu64 " %s refused and moved to bad/: %.*s", window->epoch, documents,
		     documents == 1 ? "stack is" : "stacks are", (int)report->refused_why.n, report->refused_why.p);
	}
	return good;
}

/* Writes a window to bad/ if the store holds other content under its name; the store's content is not changed. The name
 * in bad/ is a hash of the window's content, so that a third variant does not collide with it. Returns false on
 * failure. */
static bool keep_other(struct sender *sender, const struct window *window)
{
	struct spool_name name = { window->epoch, hash_sum(window->text.p, window->text.n) };
	struct text why = { 0 };
	bool good;

	text_printf(&why, "%s has another window under that name", sender->store->spec);
	good = spool_refuse_part(sender->spool, name, window->text, text_view(&why));
	if (good) {
		count(COUNT_DIFFERS, 1);
		sender->differ++;
		warn("window %" PRIu64 " of %.*s: %.*s; this one was moved to bad/", window->epoch, (int)window->host.n,
		     window->host.p, (int)why.n, why.p);
	}
	text_free(&why);
	return good;
}

/* Before a window is confirmed, writes to bad/ the data that the store lacks: refused stacks, or the window if the
 * store holds other content under its name. On failure changes the verdict to STORE_LATER. */
static void keep_rest(struct sender *sender, struct sending *sending, const struct window *window,
		      struct store_report *report)
{
	if (report->refused.n && report->verdict != STORE_REFUSED && !keep_poison(sender, window, report))
		/* start again from the first stack, so that the next attempt finds the refused stacks again */
		sending->resume = 0;
	else if (report->verdict != STORE_SENT || !sending->differs || keep_other(sender, window))
		return;
	report->why.n = 0;
	text_printf(&report->why, "cannot write to bad/: %s", strerror(errno));
	report->verdict = STORE_LATER;
}

static struct sending *sending_of(struct waiting_window *waiting, size_t which)
{
	if (which >= waiting->ntexts) {
		waiting->text = mem_grow(waiting->text, sizeof(*waiting->text), which + 1);
		waiting->text[which] = (struct sending){ 0 };
		waiting->ntexts = which + 1;
	}
	return waiting->text + which;
}

static void sender_tally(const struct store_report *report)
{
	count(COUNT_DOCUMENTS, report->documents);
	count(COUNT_KNOWN, report->known);
	count(COUNT_BYTES, report->bytes);
	count(COUNT_REQUESTS, report->requests);
}

/* Sends one text of a window. which: index of the text in waiting->text. Returns true if the store has confirmed the
 * text, also in an earlier attempt: the caller then sends the next text. */
static bool send_text(struct sender *sender, struct waiting_window *waiting, size_t which, const struct window *text)
{
	struct sending *sending = sending_of(waiting, which);
	struct store_report report = { 0 };
	bool sent;

	if (sending->done)
		return true;
	sender->store->ops->send(sender->store->it, text, &sending->resume, is_poison(sender, waiting), &report);
	sender_tally(&report);
	waiting->retries += report.verdict == STORE_INDETERMINATE;
	sender->doubtful |= report.verdict == STORE_INDETERMINATE;
	sending->differs |= report.differs;
	keep_rest(sender, sending, text, &report);
	sending->done = sent = report.verdict == STORE_SENT;
	if (report.verdict == STORE_REFUSED ||
	    (report.verdict == STORE_INDETERMINATE && is_poison(sender, waiting) && waiting->retries > RETRIES))
		sender_refuse(sender, waiting, text_view(&report.why));
	else if (!sent)
		put_off(sender, waiting, &report);
	store_report_free(&report);
	return sent;
}

/* After a window of the backlog was sent: sets the earliest time for the next one, so that at most catch_up windows are
 * sent in the time that one window spans. */
static void sender_pace(struct sender *sender, const struct window *window)
{
	if (sender->o.catch_up > 0 && window->until > window->epoch && window->epoch + FRESH_S < (uint64_t)time(NULL))
		sender->backlog_due =
			now_ms() + (uint64_t)((double)(window->until - window->epoch) * 1000 / sender->o.catch_up);
}

static void send_all(struct sender *sender, struct waiting_window *waiting, struct str rest, struct str packed)
{
	struct text decoded = { 0 };
	struct window text;
	size_t which = 0;
	bool good = true;

	while (rest.n && good) {
		const char *wrong;

		decoded.n = 0;
		wrong = window_parse(&rest, &decoded, &text);
		if (wrong) {
			sender_refuse(sender, waiting, str_of(wrong));
			good = false;
		} else {
			if (which == 0 && rest.n == 0)
				text.packed = packed;
			good = send_text(sender, waiting, which++, &text);
		}
	}
	if (good) {
		sender_pace(sender, &text);
		sender_confirmed(sender, waiting);
	}
	text_free(&decoded);
}

static void send_window(struct sender *sender, struct waiting_window *waiting)
{
	struct text text = { 0 }, packed = { 0 };

	if (!waiting->first) {
		waiting->first = now_ms();
		waiting->sent_before = sender->sent;
	}
	waiting->attempts++;
	if (waiting->sent) {
		sender_finish(sender, waiting);
	} else if (spool_get(sender->spool, waiting->name, &text, &packed)) {
		if (text.n)
			send_all(sender, waiting, text_view(&text), text_view(&packed));
		else
			sender_refuse(sender, waiting, STR("it is empty"));
	} else if (errno == EBADMSG) {
		sender_refuse(sender, waiting, STR("it is damaged"));
	} else if (errno == ENOENT) {
		/* The spooler deleted this window to keep the disk limits. */
		sender_forget(sender, (size_t)(waiting - sender->window));
	} else {
		waiting->due = now_ms() + CAP_MS;
		if (sender_may_report(sender))
			warn("cannot read window %" PRIu64 " in the spool: %s", waiting->name.epoch,
			     unpack_strerror(errno));
	}
	text_free(&text);
	text_free(&packed);
}

/* ---- several windows in one request ---------------------------------------------------------------------------- */

/* Returns true if a window may share a request with others. A window with earlier attempts may not, so that its fault
 * does not affect others; nor may a confirmed window whose files could not be removed, or a window of a backlog that
 * is sent at a bounded rate. */
static bool goes_along(const struct sender *sender, const struct waiting_window *waiting)
{
	return !waiting->sent && !waiting->attempts && !waiting->alone && !waiting->retries &&
	       is_due(sender, waiting, now_ms()) && (sender->o.once || sender->o.catch_up <= 0 || is_fresh(waiting));
}

/* Adds all texts of a window, the lines `rest`, to the common request. Returns the last result of store_ops.join, but
 * STORE_FULL if the texts joined and one of them filled the request; STORE_ALONE for a damaged window, whose fault is
 * reported when it is sent alone. */
static enum store_joined join_texts(struct sender *sender, struct str rest, struct store_report *report)
{
	enum store_joined joined = STORE_ALONE;
	struct text decoded = { 0 };
	struct window text;
	bool full = false;

	while (rest.n) {
		decoded.n = 0;
		joined = window_parse(&rest, &decoded, &text) ?
				 STORE_ALONE :
				 sender->store->ops->join(sender->store->it, &text, report);
		full |= joined == STORE_FULL;
		if (joined == STORE_ALONE || joined == STORE_PARTED)
			break;
	}
	text_free(&decoded);
	return joined == STORE_JOINED && full ? STORE_FULL : joined;
}

static enum store_joined join_window(struct sender *sender, struct waiting_window *waiting, struct store_report *report)
{
	enum store_joined joined = STORE_ALONE;
	struct text text = { 0 };

	if (spool_get(sender->spool, waiting->name, &text, NULL))
		joined = join_texts(sender, text_view(&text), report);
	text_free(&text);
	waiting->alone = joined == STORE_ALONE;
	return joined;
}

/* Handles the failure (*report) of a common request for n windows from index `at` on. The store may hold any of these
 * windows, so each is sent alone from now on. */
static void sender_part(struct sender *sender, size_t at, size_t n, const struct store_report *report)
{
	for (size_t i = at; i < at + n; i++)
		sender->window[i].alone = true;
	if (report->verdict != STORE_LATER && report->verdict != STORE_HOLD)
		return;
	sender->window[at].attempts++;
	put_off(sender, sender->window + at, report);
}

/* Sends due windows in one request, in list order from `first` on, as many as the store accepts. */
static void send_together(struct sender *sender, struct waiting_window *first)
{
	size_t at = (size_t)(first - sender->window), n = 0;
	enum store_joined joined = STORE_JOINED;
	struct store_report report = { 0 };

	while (joined == STORE_JOINED && at + n < sender->n && goes_along(sender, sender->window + at + n)) {
		joined = join_window(sender, sender->window + at + n, &report);
		n += joined != STORE_ALONE;
	}
	if (joined != STORE_PARTED)
		sender->store->ops->send_joined(sender->store->it, &report);
	sender_tally(&report);
	if (report.verdict != STORE_SENT) {
		sender_part(sender, at, n, &report);
	} else {
		for (size_t before = sender->n; n--; before = sender->n) {
			sender_confirmed(sender, sender->window + at);
			/* go on to the next window if the confirmed one is still in the list, because its files could
			 * not be removed */
			at += sender->n == before;
		}
	}
	store_report_free(&report);
}

/* ---- state across runs ----------------------------------------------------------------------------------------- */

static void sender_recall(struct sender *sender)
{
	uint64_t now = (uint64_t)time(NULL);
	struct retry *retry;
	size_t n, index = 0;

	retries_read(sender->spool, &retry, &n);
	/* Goes through the waiting windows and the entries of spool/doubts in parallel: both lists are sorted by
	 * name. */
	for (size_t i = 0; i < sender->n; i++) {
		while (index < n && sender_cmp(retry[index].name, sender->window[i].name) < 0)
			index++;
		if (index == n || sender_cmp(retry[index].name, sender->window[i].name) != 0)
			continue;
		sender->window[i].retries = retry[index].retries;
		sender->window[i].aged = retry[index].since < now ? (now - retry[index].since) * 1000 : 0;
		sender->window[i].others = retry[index].others;
	}
	sender->noted = n;
	free(retry);
}

static void sender_note(struct sender *sender)
{
	uint64_t now = (uint64_t)time(NULL);
	struct retry *retry = NULL;
	size_t n = 0;

	for (size_t i = 0; i < sender->n; i++) {
		const struct waiting_window *waiting = sender->window + i;

		if (!waiting->retries)
			continue;
		retry = mem_more(retry, sizeof(*retry), n);
		retry[n++] = (struct retry){ waiting->name, waiting->retries, now - age_ms(waiting) / 1000,
					     others_taken(sender, waiting) };
	}
	sender->doubtful = !retries_write(sender->spool, retry, n);
	if (sender->doubtful && sender_may_report(sender))
		warn("cannot write spool/doubts: %s", strerror(errno));
	sender->noted = n;
	free(retry);
}

/* ---- the sending loop -------------------------------------------------------------------------------------------- */

void sender_begin(struct sender *sender)
{
	pthread_mutex_init(&sender->lock, NULL);
	sender_look(sender);
	sender_recall(sender);
}

void sender_not_before(struct sender *sender, uint64_t ms)
{
	sender->store_due = now_ms() + ms;
}

uint64_t sender_splay(struct str host, double seconds)
{
	return (uint64_t)((double)(hash_sum(host.p, host.n) % 1000) * seconds);
}

bool sender_step(struct sender *sender)
{
	struct waiting_window *waiting;

	take_added(sender);
	if (now_ms() - sender->listed > (sender->n < 1000 ? LIST_MS / 10 : LIST_MS))
		sender_look(sender);
	waiting = sender_choose(sender, now_ms());
	if (waiting && sender->store->ops->join && waiting + 1 < sender->window + sender->n &&
	    goes_along(sender, waiting) && goes_along(sender, waiting + 1))
		send_together(sender, waiting);
	else if (waiting)
		send_window(sender, waiting);
	else if (sender->store->ops->tidy && now_ms() - sender->tidied > TIDY_MS && !sender->o.once &&
		 !sender->store->ops->tidy(sender->store->it, sender->o.host, (uint64_t)time(NULL)))
		sender->tidied = now_ms();
	return waiting != NULL;
}

uint64_t sender_wait(const struct sender *sender)
{
	uint64_t now = now_ms(), wait = LOOK_MS / 4;

	if (sender->n && sender->store_due > now && sender->store_due - now > wait)
		wait = sender->store_due - now < LOOK_MS ? sender->store_due - now : LOOK_MS;
	return wait;
}

bool sender_finished(const struct sender *sender)
{
	for (size_t i = 0; i < sender->n && !is_away(sender); i++)
		if (!sender->window[i].attempts)
			return false;
	return true;
}

void sender_report(struct sender *sender, bool now)
{
	uint64_t time_s = (uint64_t)time(NULL);

	if (!now && now_ms() - sender->written < WRITE_MS)
		return;
	sender->written = now_ms();
	count_set(COUNT_WAITING, sender->n);
	count_set(COUNT_OLDEST_S,
		  sender->n && sender->window[0].name.epoch < time_s ? time_s - sender->window[0].name.epoch : 0);
	count_set(COUNT_HELD, sender->held);
	if (sender->doubtful)
		sender_note(sender);
	if (!counters_write() && sender_may_report(sender))
		warn("cannot write pjsend.prom: %s", strerror(errno));
}

void sender_end(struct sender *sender)
{
	for (size_t i = 0; i < sender->n; i++)
		free(sender->window[i].text);
	free(sender->window);
	free(sender->added);
	sender->window = NULL;
	sender->added = NULL;
	sender->n = sender->nadded = 0;
}
