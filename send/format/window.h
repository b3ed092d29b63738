/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window.h - one folded window of one stream, as it lies in the spool and in stores.
 *
 * Its text begins with a `# pj` line that says all that is known of it (pj-store(5)); the stacks follow, each once, as
 * valid UTF-8 with whole numbers above 0. What identifies it: the machine, the stream (unit, event, recorder, labels)
 * and the second at which it begins. From these, the host and a stack a number is made that is the same in each attempt
 * to send it. A spool file holds one such text for each event of the window, one behind the other. Pure.
 */
#ifndef PJ_WINDOW_H
#define PJ_WINDOW_H

#include "common/text.h"

struct window {
	uint64_t epoch, until; /* seconds since 1970, half-open; epoch is its name */
	struct str host;
	uint64_t machine, stream; /* hashes; the machine's is not its id, which is a secret of the host */
	struct str unit, event, frequency;
	struct str labels; /* "k=v,k2=v2", by key; label_next() */
	uint64_t samples, lost;
	bool lost_known;
	uint64_t parts;    /* windows that it is the sum of; 1 but for roll-ups */
	struct str text;   /* all of it, exactly as it is spooled */
	struct str stacks; /* its lines of stacks */
	struct str packed; /* text, packed as in the spool; empty: not at hand */
	uint64_t key;      /* of machine, stream and host, for window_id */
};

/* Takes the first text off *rest. Values that are encoded are decoded into *t, which must live as long as window. NULL,
 * or why it is none (a static text). At the end of *rest (n is 0) it is not to be called. */
const char *window_parse(struct str *rest, struct text *text, struct window *window);

/* The same of its first line alone, which is taken off *rest; text, stacks and key are not set. */
const char *window_parse_header(struct str *rest, struct text *text, struct window *window);

/* The next stack of *lines: true. False: none is left. Lines that are no stack, which the spool never has, are passed
 * over. */
bool window_next(struct str *lines, struct str *stack, uint64_t *count);

/* The number of a stack in this window, for all stores that have ids; the same in each run. It does not contain the
 * epoch. */
uint64_t window_id(const struct window *window, struct str stack);

/* The next label of *labels; false: none is left. */
bool label_next(struct str *labels, struct str *key, struct str *value);
bool label_find(struct str labels, struct str key, struct str *value); /* false: *value stays as it is */

/* The header line of window, with its newline. */
void window_header(struct text *text, const struct window *window);

/* Makes window->key, when the fields before are set. */
void window_key(struct window *window);

#endif
