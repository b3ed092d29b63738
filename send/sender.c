/* SPDX-License-Identifier: Apache-2.0 */
#include "send/sender.h"

#include "common/arena.h"
#include "common/clocks.h"
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

#define BASE_MS 1000
#define CAP_MS 60000
#define REQUESTED_MAX_S 300 /* of what a store asks for */
#define HOLD_MS 30000
#define AWAY 5 /* attempts in a row, with --once: the store is away, and the next run may find it */
#define RETRIES 10
#define STALE_MS (UINT64_C(3600) * 1000)
#define LOOK_MS 1000
#define LIST_MS 60000 /* for what somebody else put into the spool */
#define WRITE_MS 5000
#define REPORT_MS 60000
#define TIDY_MS 60000
#define FRESH_S 120 /* a window that ended since then is no backlog */

static uint64_t now_ms(void)
{
	return clock_now_ms() + 1; /* 0 is never */
}

static uint64_t sender_below(uint64_t n)
{
	uint64_t r = 0;

	if (getrandom(&r, sizeof(r), 0) != sizeof(r))
		r = n / 2;
	return n ? r % n : 0;
}

/* Full jitter: a fleet that failed together does not come back together. */
static uint64_t pause_ms(unsigned failures, uint64_t requested_s)
{
	uint64_t cap = BASE_MS;

	if (requested_s)
		return (requested_s < REQUESTED_MAX_S ? requested_s : REQUESTED_MAX_S) * 1000 + sender_below(BASE_MS);
	while (failures-- > 1 && cap < CAP_MS)
		cap *= 2;
	return sender_below(cap < CAP_MS ? cap : CAP_MS) + 1;
}

/* At most one line a minute. */
static bool sender_may_report(struct sender *s)
{
	uint64_t now = now_ms();

	if (s->shown && now - s->shown < REPORT_MS)
		return false;
	s->shown = now;
	return true;
}

/* ---- what waits ---------------------------------------------------------------------------------------------- */

static int sender_cmp(struct spool_name a, struct spool_name b)
{
	if (a.epoch != b.epoch)
		return a.epoch < b.epoch ? -1 : 1;
	return a.tag < b.tag ? -1 : a.tag > b.tag;
}

static void sender_forget(struct sender *s, size_t i)
{
	s->doubtful |= s->window[i].retries > 0;
	free(s->window[i].text);
	memmove(s->window + i, s->window + i + 1, (s->n - i - 1) * sizeof(*s->window));
	s->n--;
}

/* What is in the spool now; what is known of windows that were there before is kept. */
static void sender_merge(struct sender *s, const struct spool_name *names, size_t n)
{
	struct ringpoll *all = mem_alloc(sizeof(*all), n ? n : 1);
	size_t old = 0;

	for (size_t i = 0; i < n; i++) {
		for (; old < s->n && sender_cmp(s->window[old].name, names[i]) < 0; old++)
			free(s->window[old].text);
		if (old < s->n && sender_cmp(s->window[old].name, names[i]) == 0)
			all[i] = s->window[old++];
		else
			all[i].name = names[i];
	}
	for (; old < s->n; old++)
		free(s->window[old].text);
	free(s->window);
	s->window = all;
	s->n = n;
	s->cap = n ? n : 1;
}

/* Whatever anybody put into the spool. */
static void sender_look(struct sender *s)
{
	struct spool_name *names;
	size_t n;

	s->listed = now_ms();
	if (!spool_windows(s->spool, &names, &n)) {
		if (sender_may_report(s))
			warn("cannot read the spool: %s", strerror(errno));
		return;
	}
	sender_merge(s, names, n);
	free(names);
}

void sender_add(struct sender *s, struct spool_name n)
{
	pthread_mutex_lock(&s->lock);
	s->added = mem_more(s->added, sizeof(*s->added), s->nadded);
	s->added[s->nadded++] = n;
	pthread_mutex_unlock(&s->lock);
}

static void sender_insert(struct sender *s, struct spool_name n)
{
	size_t i = s->n;

	while (i && sender_cmp(s->window[i - 1].name, n) > 0)
		i--;
	if (i && sender_cmp(s->window[i - 1].name, n) == 0)
		return;
	if (s->n == s->cap) {
		s->cap = s->cap ? 2 * s->cap : 64;
		s->window = mem_grow(s->window, sizeof(*s->window), s->cap);
	}
	memmove(s->window + i + 1, s->window + i, (s->n - i) * sizeof(*s->window));
	s->window[i] = (struct ringpoll){ .name = n };
	s->n++;
}

static void take_added(struct sender *s)
{
	pthread_mutex_lock(&s->lock);
	for (size_t i = 0; i < s->nadded; i++)
		sender_insert(s, s->added[i]);
	s->nadded = 0;
	free(s->added);
	s->added = NULL;
	pthread_mutex_unlock(&s->lock);
}

static bool is_fresh(const struct ringpoll *w)
{
	uint64_t now = (uint64_t)time(NULL);

	return w->name.epoch + FRESH_S > now;
}

static bool is_due(const struct sender *s, const struct ringpoll *w, uint64_t now)
{
	return s->o.once ? w->attempts == 0 : w->due <= now;
}

/* Each attempt may take as long as the store's time is out: not for each of a thousand windows, while the next run
 * waits for the lock. */
static bool is_away(const struct sender *s)
{
	return s->o.once && s->away >= AWAY;
}

/* The oldest that is due; in turn with it the newest, when that has just been recorded. NULL: none. */
static struct ringpoll *sender_choose(struct sender *s, uint64_t now)
{
	struct ringpoll *oldest = NULL, *newest = NULL;

	if (is_away(s) || (s->store_due > now && !(s->o.once && s->failures)))
		return NULL;
	for (size_t i = 0; i < s->n && !oldest; i++)
		if (is_due(s, s->window + i, now))
			oldest = s->window + i;
	if (!oldest || is_fresh(oldest))
		return oldest;
	for (size_t i = s->n; i-- > 0 && is_fresh(s->window + i) && !newest;)
		if (is_due(s, s->window + i, now) && !s->window[i].attempts)
			newest = s->window + i;
	if (newest && (s->fresh_turn || s->backlog_due > now)) {
		s->fresh_turn = false;
		return newest;
	}
	s->fresh_turn = true;
	return s->backlog_due > now && !s->o.once ? NULL : oldest;
}

/* ---- what becomes of it -------------------------------------------------------------------------------------- */

static void cannot_remove(struct sender *s, struct ringpoll *w)
{
	w->due = now_ms() + LOOK_MS;
	if (errno != EBUSY && sender_may_report(s))
		warn("window %" PRIu64 " is sent, but cannot be removed: %s", w->name.epoch, strerror(errno));
}

static void sender_finish(struct sender *s, struct ringpoll *w)
{
	if (spool_done(s->spool, w->name))
		sender_forget(s, (size_t)(w - s->window));
	else
		cannot_remove(s, w);
}

static void sender_confirmed(struct sender *s, struct ringpoll *w)
{
	s->sent++;
	s->failures = s->away = 0;
	s->store_due = 0;
	if (s->held && !s->o.quiet)
		warn("%s takes windows again", s->store->spec);
	s->held = false;
	count(COUNT_SENT, 1);
	count_set(COUNT_LAST_SENT, (uint64_t)time(NULL));
	w->sent = true;
	s->doubtful |= s->noted > 0; /* of another window it is known now that the store takes some */
	sender_finish(s, w);
}

static void sender_refuse(struct sender *s, struct ringpoll *w, struct str why)
{
	warn("window %" PRIu64 " is refused, and kept in bad/: %.*s", w->name.epoch, (int)why.n, why.p);
	if (spool_refuse(s->spool, w->name, why)) {
		count(COUNT_REFUSED, 1);
		s->refused++;
		sender_forget(s, (size_t)(w - s->window));
	} else {
		w->due = now_ms() + CAP_MS;
		if (errno != EBUSY && sender_may_report(s))
			warn("cannot put window %" PRIu64 " into bad/: %s", w->name.epoch, strerror(errno));
	}
}

static void put_off(struct sender *s, struct ringpoll *w, const struct store_report *r)
{
	uint64_t now = now_ms(), pause;

	s->failures++;
	s->away = r->verdict == STORE_INDETERMINATE ? 0 : s->away + 1;
	pause = r->verdict == STORE_HOLD ? HOLD_MS + sender_below(HOLD_MS) : pause_ms(s->failures, r->after);
	s->store_due = now + pause;
	/* another window goes first then */
	w->due = s->store_due + pause_ms(w->attempts, 0);
	count(r->verdict == STORE_HOLD          ? COUNT_HOLD :
	      r->verdict == STORE_INDETERMINATE ? COUNT_INDETERMINATE :
						  COUNT_LATER,
	      1);
	if (r->verdict == STORE_HOLD && !s->held) {
		warn("%s refuses us: %.*s; nothing is lost, but somebody must look at it", s->store->spec,
		     (int)r->why.n, r->why.p);
		s->held = true;
		s->shown = now;
	} else if (sender_may_report(s)) {
		warn("window %" PRIu64 " waits: %.*s", w->name.epoch, (int)r->why.n, r->why.p);
	}
}

/* How long it has been tried. */
static uint64_t age_ms(const struct ringpoll *w)
{
	return w->aged + (w->first ? now_ms() - w->first : 0);
}

static bool others_taken(const struct sender *s, const struct ringpoll *w)
{
	return w->others || (w->first && s->sent > w->sent_before);
}

/* Was it tried often enough, by a store that takes other windows? */
static bool is_poison(const struct sender *s, const struct ringpoll *w)
{
	return others_taken(s, w) && (w->retries >= RETRIES || (w->retries && age_ms(w) >= STALE_MS));
}

/* Of a window that is stored but for these stacks. */
static bool keep_poison(struct sender *s, const struct window *w, const struct store_report *r)
{
	struct text part = { 0 };
	struct str lines = text_view(&r->refused), stack;
	uint64_t n, documents = 0;
	bool good;

	while (window_next(&lines, &stack, &n))
		documents++;
	window_header(&part, w);
	text_str(&part, text_view(&r->refused));
	good = spool_refuse_part(s->spool, (struct spool_name){ w->epoch, w->stream }, text_view(&part),
				 text_view(&r->refused_why));
	text_free(&part);
	if (good) {
		count(COUNT_POISON, documents);
		s->refused++;
		warn("of window %" PRIu64 " %" PRIu64 " %s refused, and kept in bad/: %.*s", w->epoch, documents,
		     documents == 1 ? "stack is" : "stacks are", (int)r->refused_why.n, r->refused_why.p);
	}
	return good;
}

/* The store's stays as it is; ours is named by what is in it, so that a third one finds room, too. */
static bool keep_other(struct sender *s, const struct window *w)
{
	struct spool_name name = { w->epoch, hash_sum(w->text.p, w->text.n) };
	struct text why = { 0 };
	bool good;

	text_printf(&why, "%s holds something else under that name", s->store->spec);
	good = spool_refuse_part(s->spool, name, w->text, text_view(&why));
	if (good) {
		count(COUNT_DIFFERS, 1);
		s->differ++;
		warn("window %" PRIu64 " of %.*s: %.*s; this one is kept in bad/", w->epoch, (int)w->host.n, w->host.p,
		     (int)why.n, why.p);
	}
	text_free(&why);
	return good;
}

/* What must be in bad/ before the window may go on. */
static void keep_rest(struct sender *s, struct sending *p, const struct window *w, struct store_report *r)
{
	if (r->refused.n && r->verdict != STORE_REFUSED && !keep_poison(s, w, r))
		p->resume = 0; /* it is found again */
	else if (r->verdict != STORE_SENT || !p->differs || keep_other(s, w))
		return;
	r->why.n = 0;
	text_printf(&r->why, "cannot write into bad/: %s", strerror(errno));
	r->verdict = STORE_LATER;
}

static struct sending *sending_of(struct ringpoll *w, size_t which)
{
	if (which >= w->ntexts) {
		w->text = mem_grow(w->text, sizeof(*w->text), which + 1);
		w->text[which] = (struct sending){ 0 };
		w->ntexts = which + 1;
	}
	return w->text + which;
}

static void sender_tally(const struct store_report *r)
{
	count(COUNT_DOCUMENTS, r->documents);
	count(COUNT_KNOWN, r->known);
	count(COUNT_BYTES, r->bytes);
	count(COUNT_REQUESTS, r->requests);
}

/* One text of a window. True: it is confirmed, go on with the next. */
static bool send_text(struct sender *s, struct ringpoll *w, size_t which, const struct window *text)
{
	struct sending *p = sending_of(w, which);
	struct store_report r = { 0 };
	bool sent;

	if (p->done)
		return true;
	s->store->ops->send(s->store->it, text, &p->resume, is_poison(s, w), &r);
	sender_tally(&r);
	w->retries += r.verdict == STORE_INDETERMINATE;
	s->doubtful |= r.verdict == STORE_INDETERMINATE;
	p->differs |= r.differs;
	keep_rest(s, p, text, &r);
	p->done = sent = r.verdict == STORE_SENT;
	if (r.verdict == STORE_REFUSED || (r.verdict == STORE_INDETERMINATE && is_poison(s, w) && w->retries > RETRIES))
		sender_refuse(s, w, text_view(&r.why));
	else if (!sent)
		put_off(s, w, &r);
	store_report_free(&r);
	return sent;
}

/* The backlog goes at so many windows in the time that one of them took. */
static void sender_pace(struct sender *s, const struct window *w)
{
	if (s->o.catch_up > 0 && w->until > w->epoch && w->epoch + FRESH_S < (uint64_t)time(NULL))
		s->backlog_due = now_ms() + (uint64_t)((double)(w->until - w->epoch) * 1000 / s->o.catch_up);
}

static void send_all(struct sender *s, struct ringpoll *w, struct str rest, struct str packed)
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
			sender_refuse(s, w, str_of(wrong));
			good = false;
		} else {
			if (which == 0 && rest.n == 0)
				text.packed = packed;
			good = send_text(s, w, which++, &text);
		}
	}
	if (good) {
		sender_pace(s, &text);
		sender_confirmed(s, w);
	}
	text_free(&decoded);
}

static void send_window(struct sender *s, struct ringpoll *w)
{
	struct text text = { 0 }, packed = { 0 };

	if (!w->first) {
		w->first = now_ms();
		w->sent_before = s->sent;
	}
	w->attempts++;
	if (w->sent) {
		sender_finish(s, w);
	} else if (spool_get(s->spool, w->name, &text, &packed)) {
		if (text.n)
			send_all(s, w, text_view(&text), text_view(&packed));
		else
			sender_refuse(s, w, STR("it is empty"));
	} else if (errno == EBADMSG) {
		sender_refuse(s, w, STR("it is damaged"));
	} else if (errno == ENOENT) {
		sender_forget(s, (size_t)(w - s->window)); /* it made room */
	} else {
		w->due = now_ms() + CAP_MS;
		if (sender_may_report(s))
			warn("cannot read window %" PRIu64 " in the spool: %s", w->name.epoch, strerror(errno));
	}
	text_free(&text);
	text_free(&packed);
}

/* ---- several together ------------------------------------------------------------------------------------------ */

/* Who was tried goes alone, so that what is wrong with one is not wrong with others; so does a backlog that has its
 * pace. */
static bool goes_along(const struct sender *s, const struct ringpoll *w)
{
	return !w->attempts && !w->alone && !w->retries && is_due(s, w, now_ms()) &&
	       (s->o.once || s->o.catch_up <= 0 || is_fresh(w));
}

/* All texts of a window. What is damaged is said when it goes alone. */
static enum store_joined join_texts(struct sender *s, struct str rest, struct store_report *r)
{
	enum store_joined joined = STORE_ALONE;
	struct text decoded = { 0 };
	struct window text;
	bool full = false;

	while (rest.n) {
		decoded.n = 0;
		joined = window_parse(&rest, &decoded, &text) ? STORE_ALONE :
								s->store->ops->join(s->store->it, &text, r);
		full |= joined == STORE_FULL;
		if (joined == STORE_ALONE || joined == STORE_PARTED)
			break;
	}
	text_free(&decoded);
	return joined == STORE_JOINED && full ? STORE_FULL : joined;
}

static enum store_joined join_window(struct sender *s, struct ringpoll *w, struct store_report *r)
{
	enum store_joined joined = STORE_ALONE;
	struct text text = { 0 };

	if (spool_get(s->spool, w->name, &text, NULL))
		joined = join_texts(s, text_view(&text), r);
	text_free(&text);
	w->alone = joined == STORE_ALONE;
	return joined;
}

/* Those that go together begin at `at`; nothing is known of any. */
static void sender_part(struct sender *s, size_t at, size_t n, const struct store_report *r)
{
	for (size_t i = at; i < at + n; i++)
		s->window[i].alone = true;
	if (r->verdict != STORE_LATER && r->verdict != STORE_HOLD)
		return;
	s->window[at].attempts++;
	put_off(s, s->window + at, r);
}

/* What is due from `first` on, the next of it in order, as many as the store takes at once. */
static void send_together(struct sender *s, struct ringpoll *first)
{
	size_t at = (size_t)(first - s->window), n = 0;
	enum store_joined joined = STORE_JOINED;
	struct store_report r = { 0 };

	while (joined == STORE_JOINED && at + n < s->n && goes_along(s, s->window + at + n)) {
		joined = join_window(s, s->window + at + n, &r);
		n += joined != STORE_ALONE;
	}
	if (joined != STORE_PARTED)
		s->store->ops->send_joined(s->store->it, &r);
	sender_tally(&r);
	if (r.verdict != STORE_SENT) {
		sender_part(s, at, n, &r);
	} else {
		for (size_t before = s->n; n--; before = s->n) {
			sender_confirmed(s, s->window + at);
			at += s->n == before; /* it could not be removed yet */
		}
	}
	store_report_free(&r);
}

/* ---- from run to run ------------------------------------------------------------------------------------------ */

static void sender_recall(struct sender *s)
{
	uint64_t now = (uint64_t)time(NULL);
	struct retry *d;
	size_t n, k = 0;

	retries_read(s->spool, &d, &n);
	for (size_t i = 0; i < s->n; i++) { /* both are in order */
		while (k < n && sender_cmp(d[k].name, s->window[i].name) < 0)
			k++;
		if (k == n || sender_cmp(d[k].name, s->window[i].name) != 0)
			continue;
		s->window[i].retries = d[k].retries;
		s->window[i].aged = d[k].since < now ? (now - d[k].since) * 1000 : 0;
		s->window[i].others = d[k].others;
	}
	s->noted = n;
	free(d);
}

static void sender_note(struct sender *s)
{
	uint64_t now = (uint64_t)time(NULL);
	struct retry *d = NULL;
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++) {
		const struct ringpoll *w = s->window + i;

		if (!w->retries)
			continue;
		d = mem_more(d, sizeof(*d), n);
		d[n++] = (struct retry){ w->name, w->retries, now - age_ms(w) / 1000, others_taken(s, w) };
	}
	s->doubtful = !retries_write(s->spool, d, n);
	if (s->doubtful && sender_may_report(s))
		warn("cannot write spool/doubts: %s", strerror(errno));
	s->noted = n;
	free(d);
}

/* ---- the loop ------------------------------------------------------------------------------------------------ */

void sender_begin(struct sender *s)
{
	pthread_mutex_init(&s->lock, NULL);
	sender_look(s);
	sender_recall(s);
}

void sender_not_before(struct sender *s, uint64_t ms)
{
	s->store_due = now_ms() + ms;
}

uint64_t sender_splay(struct str host, double seconds)
{
	return (uint64_t)((double)(hash_sum(host.p, host.n) % 1000) * seconds);
}

bool sender_step(struct sender *s)
{
	struct ringpoll *w;

	take_added(s);
	if (now_ms() - s->listed > (s->n < 1000 ? LIST_MS / 10 : LIST_MS))
		sender_look(s);
	w = sender_choose(s, now_ms());
	if (w && s->store->ops->join && w + 1 < s->window + s->n && goes_along(s, w) && goes_along(s, w + 1))
		send_together(s, w);
	else if (w)
		send_window(s, w);
	else if (s->store->ops->tidy && now_ms() - s->tidied > TIDY_MS && !s->o.once &&
		 !s->store->ops->tidy(s->store->it, s->o.host, (uint64_t)time(NULL)))
		s->tidied = now_ms();
	return w != NULL;
}

uint64_t sender_wait(const struct sender *s)
{
	uint64_t now = now_ms(), wait = LOOK_MS / 4;

	if (s->n && s->store_due > now && s->store_due - now > wait)
		wait = s->store_due - now < LOOK_MS ? s->store_due - now : LOOK_MS;
	return wait;
}

bool sender_finished(const struct sender *s)
{
	for (size_t i = 0; i < s->n && !is_away(s); i++)
		if (!s->window[i].attempts)
			return false;
	return true;
}

void sender_report(struct sender *s, bool now)
{
	uint64_t time_s = (uint64_t)time(NULL);

	if (!now && now_ms() - s->written < WRITE_MS)
		return;
	s->written = now_ms();
	count_set(COUNT_WAITING, s->n);
	count_set(COUNT_OLDEST_S, s->n && s->window[0].name.epoch < time_s ? time_s - s->window[0].name.epoch : 0);
	count_set(COUNT_HELD, s->held);
	if (s->doubtful)
		sender_note(s);
	if (!counters_write() && sender_may_report(s))
		warn("cannot write pjsend.prom: %s", strerror(errno));
}

void sender_end(struct sender *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->window[i].text);
	free(s->window);
	free(s->added);
	s->window = NULL;
	s->added = NULL;
	s->n = s->nadded = 0;
}
