/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sender.h - the sending loop: what goes to the store next, when it is tried again, and what becomes of a window.
 *
 * The oldest window goes first; one that is blocked does not block the next; while there is a backlog every second
 * window is a fresh one, and the backlog goes at a bounded rate. Waiting is full jitter (a random part of 1 s, 2 s, ...
 * 60 s), or what the store asked for, at most 5 minutes. What a store cannot decide about (DOUBT) is tried 10 times or
 * for an hour, in one run or many, and only counted while the store takes other windows; then the poison is looked for,
 * and goes to bad/.
 */
#ifndef PJ_SENDER_H
#define PJ_SENDER_H

#include "send/spool/spool.h"
#include "send/store.h"

#include <pthread.h>

struct sender_options {
	double catch_up; /* windows of the backlog for each one's length; 0: no bound */
	bool once;       /* each window once, then the end */
	bool quiet;
	struct str host; /* for tidy; empty: all */
};

struct sender {
	struct spool *spool;
	struct store *store;
	struct sender_options o;
	struct ringpoll {
		struct spool_name name;
		uint64_t due, first; /* ms; not before; when it was tried first, 0: never */
		struct sending {
			uint64_t resume; /* the store's */
			bool differs;    /* another content is stored there */
			bool done;
		} * text; /* each of it */
		size_t ntexts;
		unsigned attempts;
		uint64_t retries;     /* answers that decide nothing, of runs before, too (retries.h) */
		uint64_t aged;        /* ms from the first attempt to this run */
		bool others;          /* the store took other windows in between, in runs before */
		uint64_t sent_before; /* windows that the store had taken when this was tried first */
		bool alone;           /* it went together with others, in vain */
		bool sent;            /* confirmed, but its files cannot be removed yet */
	} * window;                   /* sorted */
	size_t n, cap;
	pthread_mutex_t lock; /* of what the spooler adds */
	struct spool_name *added;
	size_t nadded;
	uint64_t listed, store_due, backlog_due, sent, shown, tidied, written;
	unsigned failures, away;  /* in a row; away: without those of DOUBT, where the store did answer */
	uint64_t differ, refused; /* texts of which the store holds another content, of which something is in bad/ */
	bool held, fresh_turn, doubtful; /* doubtful: doubts are to be written */
	size_t noted;                    /* doubts that are */
};

void sender_begin(struct sender *sender);
bool sender_step(struct sender *sender);           /* sends one window that is due, or some together; false: none was */
uint64_t sender_wait(const struct sender *sender); /* ms until something is due, at most a second */
void sender_not_before(struct sender *sender, uint64_t ms); /* the first send is so much later */
uint64_t sender_splay(struct str host,
		      double seconds); /* ms below that: the same for a host at each start, spread evenly over many */
void sender_add(struct sender *sender, struct spool_name name); /* by another thread: it is in the spool now */
void sender_report(struct sender *sender, bool now);            /* counters, at most once a second */
bool sender_finished(const struct sender *sender);              /* once: each window was tried, or the store is away */
void sender_end(struct sender *sender);

#endif
