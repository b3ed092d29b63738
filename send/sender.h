/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sender.h - the sending loop: selects the next window, computes the time of each retry, and removes, keeps or rejects
 * windows by the result.
 *
 * The oldest window goes first, and a blocked window does not block the next. During a backlog every second window is a
 * recent one, and the backlog is sent at a bounded rate. Pauses have full jitter (a random part of 1 s, 2 s, ... 60 s),
 * or the length that the store requested, at most 5 minutes. Indeterminate attempts (STORE_INDETERMINATE) are repeated
 * 10 times or for an hour, in one run or several, and count only while the store accepts other windows; then the store
 * is made to isolate the poison documents, which go to bad/.
 *
 * One thread calls all functions, except sender_add. The loop:
 *
 *	sender_begin(&sender);
 *	while (!stop) { if (!sender_step(&sender)) sleep_ms(sender_wait(&sender)); sender_report(&sender, false); }
 *	sender_report(&sender, true);
 *	sender_end(&sender);
 */
#ifndef PJ_SENDER_H
#define PJ_SENDER_H

#include "send/spool/spool.h"
#include "send/store.h"

#include <pthread.h>

/* Options, as on pjsend's command line. */
struct sender_options {
	/* rate of the backlog: number of windows that are sent in the time that one window spans; 0: no limit */
	double catch_up;
	/* true: try each window once, then end */
	bool once;
	/* true: print no messages about success */
	bool quiet;
	/* host whose files `tidy` maintains in the store; empty: all hosts */
	struct str host;
};

/* The state of the loop. The caller sets spool, store and o before sender_begin. */
struct sender {
	struct spool *spool;
	struct store *store;
	struct sender_options o;
	/* a window that waits in the spool; the list is sorted by name */
	struct waiting_window {
		struct spool_name name;
		/* ms of the clock: due: no attempt before this time; first: first attempt of this run, 0: none yet */
		uint64_t due, first;
		/* state of each text of the window; a window has one folded text for each perf event */
		struct sending {
			/* position in the text for the next attempt; its meaning belongs to the store module, see
			 * store_ops.send */
			uint64_t resume;
			/* true: the store holds other content under the same id */
			bool differs;
			bool done;
		} * text;
		size_t ntexts;
		unsigned attempts;
		/* number of indeterminate attempts, including those of earlier runs (retries.h) */
		uint64_t retries;
		/* ms from the first attempt, if that was in an earlier run, to the start of this run */
		uint64_t aged;
		/* true: in earlier runs the store accepted other windows after the first attempt */
		bool others;
		/* number of windows sent in this run (sender.sent) before the first attempt */
		uint64_t sent_before;
		/* true: the window needs a request of its own, because a request with other windows failed or did not
		 * include it */
		bool alone;
		/* true: the store confirmed the window, but its files cannot be removed yet */
		bool sent;
	} * window;
	size_t n, cap;
	/* lock protects added and nadded: windows that another thread has spooled */
	pthread_mutex_t lock;
	struct spool_name *added;
	size_t nadded;
	/* sent: number of windows sent. The others are ms of the clock. listed, shown, tidied, written: last listing of
	 * the spool, message, tidy, counters; store_due: end of the pause after a failure; backlog_due: earliest next
	 * window of the backlog */
	uint64_t listed, store_due, backlog_due, sent, shown, tidied, written;
	/* number of failures in a row. `away` also returns to 0 after an indeterminate attempt, as the store did
	 * respond then. */
	unsigned failures, away;
	/* differ: number of texts of which the store holds other content; refused: number of refused windows, and of
	 * texts with refused stacks */
	uint64_t differ, refused;
	/* held: since the last verdict HOLD no window was confirmed; fresh_turn: a recent window is next; doubtful:
	 * spool/doubts is outdated */
	bool held, fresh_turn, doubtful;
	/* number of windows in spool/doubts */
	size_t noted;
};

/* Lists the spool and reads spool/doubts. */
void sender_begin(struct sender *sender);
/* Sends one window that is due, or several in one request. Returns false if none was due; it may then tidy the
 * store. */
bool sender_step(struct sender *sender);
/* Returns the time in ms to sleep until a window may be due, at most 1000. */
uint64_t sender_wait(const struct sender *sender);
/* Delays the first attempt of this run by ms. */
void sender_not_before(struct sender *sender, uint64_t ms);
/* Returns a delay in ms, at most `seconds`: the same for a host at each start, and evenly distributed over many
 * hosts. */
uint64_t sender_splay(struct str host, double seconds);
/* Adds a window that was just spooled. Any thread may call it. */
void sender_add(struct sender *sender, struct spool_name name);
/* Writes the counters (counters.h) and spool/doubts: at most every 5 s; immediately if `now` is true. */
void sender_report(struct sender *sender, bool now);
/* With --once: true if each window was tried, or if 5 attempts in a row showed that the store is unavailable. */
bool sender_finished(const struct sender *sender);
/* Frees the list of windows. Does not write anything: call sender_report first. */
void sender_end(struct sender *sender);

#endif
