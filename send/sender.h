/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sender.h - the sending loop of pjsend: selects the next window, sends it, and schedules its retry.
 *
 * The verdict of an attempt decides if the loop removes a window from the spool, retries it or moves it to bad/. The
 * oldest window goes first, and a window that fails does not block the next one. During a backlog every second window
 * is a recent one, and the backlog is sent at a bounded rate. Pauses have full jitter (a random part of 1 s, 2 s, ...
 * 60 s), or the length that the store requested, at most 5 minutes. Indeterminate attempts (STORE_INDETERMINATE) are
 * repeated 10 times or for an hour, in one run or several. They reach this limit only if the store accepted other
 * windows meanwhile. Then the loop sends the window with `isolate`, so that the store finds the poison documents, which
 * go to bad/.
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

/* Options of the sending loop, from pjsend's command line. */
struct sender_options {
	/* maximum rate of the backlog: number of windows sent in the time that one window spans; 0: no limit */
	double catch_up;
	/* true if the loop tries each window once and then ends */
	bool once;
	/* true if messages about success are suppressed */
	bool quiet;
	/* host whose files store_ops.tidy maintains; empty: all hosts */
	struct str host;
};

/* The state of the sending loop. The caller sets spool, store and o before sender_begin. */
struct sender {
	struct spool *spool;
	struct store *store;
	struct sender_options o;
	/* windows that wait in the spool, sorted by name */
	struct waiting_window {
		struct spool_name name;
		/* times in ms (clock_now_ms); due: no attempt before it; first: first attempt in this run, 0 if none
		 * yet */
		uint64_t due, first;
		/* one entry for each text of the window; a window has one folded text for each perf event */
		struct sending {
			/* resume position for the next attempt, which only the store module interprets
			 * (store_ops.send) */
			uint64_t resume;
			/* true if the store holds other content under the same id */
			bool differs;
			/* true if the store confirmed this text */
			bool done;
		} * text;
		size_t ntexts;
		/* number of attempts in this run */
		unsigned attempts;
		/* number of indeterminate attempts, including earlier runs (retries.h) */
		uint64_t retries;
		/* ms between the first attempt in an earlier run and the start of this run; 0 if there was none */
		uint64_t aged;
		/* true if the store accepted other windows in an earlier run after this window's first attempt */
		bool others;
		/* value of sender.sent (windows sent in this run) at the first attempt */
		uint64_t sent_before;
		/* true if the window must be sent in a request of its own: a common request failed or could not include
		 * it */
		bool alone;
		/* true if the store confirmed the window, but its files cannot be removed yet */
		bool sent;
	} * window;
	size_t n, cap;
	/* windows that another thread has spooled; `lock` protects added and nadded */
	pthread_mutex_t lock;
	struct spool_name *added;
	size_t nadded;
	/* sent: number of windows sent in this run. The other members are times in ms (clock_now_ms): listed: last time
	 * the spool was listed; shown: last time a fault was reported; tidied: last time the store was tidied; written:
	 * last time the counters were written; store_due: end of the pause after a failure; backlog_due: earliest time
	 * of the next backlog window. */
	uint64_t listed, store_due, backlog_due, sent, shown, tidied, written;
	/* failures: number of failures in a row; away: number of failures in a row by which the store is
	 * unavailable (STORE_LATER, STORE_HOLD); an indeterminate attempt resets it to 0 */
	unsigned failures, away;
	/* differ: number of texts for which the store holds other content; refused: number of refused windows plus
	 * number of texts with refused stacks */
	uint64_t differ, refused;
	/* held: an attempt failed with STORE_HOLD, and no window was confirmed since; fresh_turn: the next window
	 * should be a recent one; doubtful: the file spool/doubts is outdated */
	bool held, fresh_turn, doubtful;
	/* number of windows in the file spool/doubts */
	size_t noted;
};

/* Lists the windows in the spool and reads their retry counts from the file spool/doubts. */
void sender_begin(struct sender *sender);
/* Sends one window that is due, or several in one request, and returns true. Returns false if no window was due; then
 * it may have done one step of the store's maintenance. */
bool sender_step(struct sender *sender);
/* Returns the time in ms that the caller should sleep when no window is due; at most 1000. */
uint64_t sender_wait(const struct sender *sender);
/* Delays the first attempt of this run by `ms` milliseconds. */
void sender_not_before(struct sender *sender, uint64_t ms);
/* Returns a delay in ms, less than `seconds` s, that is a hash of the host's name: constant for a host, evenly
 * distributed over many hosts. */
uint64_t sender_splay(struct str host, double seconds);
/* Adds a window that was just spooled to the list. Any thread may call it. */
void sender_add(struct sender *sender, struct spool_name name);
/* Writes the counters (counters.h) and, if outdated, the file spool/doubts. Does nothing within 5 s of the last write,
 * unless `now` is true. */
void sender_report(struct sender *sender, bool now);
/* With --once: returns true if each window was tried, or if 5 attempts in a row showed that the store is
 * unavailable. */
bool sender_finished(const struct sender *sender);
/* Frees the list of windows. Writes no files: call sender_report first. */
void sender_end(struct sender *sender);

#endif
