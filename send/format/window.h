/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window.h - one folded window of one stream, as it is in the spool and in stores.
 *
 * Its text begins with a `# pj` line with the window's properties (pj-store(5)); the stacks follow, each once, as valid
 * UTF-8 with integer weights above 0. Its identity: the machine, the stream (unit, event, recorder, labels) and the
 * second at which it begins. A hash of these, the host and a stack gives an id that is the same in each attempt to send
 * it. A spool file contains one such text for each event of the window, one after the other. Does no input or output.
 */
#ifndef PJ_WINDOW_H
#define PJ_WINDOW_H

#include "common/text.h"

/* A parsed window. The strings point into the parsed text or into a buffer of the caller. */
struct window {
	/* time span [epoch, until) of the window in s since 1970; epoch is its name */
	uint64_t epoch, until;
	struct str host;
	/* hashes of the machine id, which itself is a secret of the host, and of the stream's properties */
	uint64_t machine, stream;
	struct str unit, event, frequency;
	/* labels "k=v,k2=v2", sorted by key; see label_next() */
	struct str labels;
	uint64_t samples, lost;
	bool lost_known;
	/* number of recorded windows that this one sums: 1, except for roll-ups */
	uint64_t parts;
	/* the complete text of the window, exactly as spooled */
	struct str text;
	/* the lines of `text` with stacks */
	struct str stacks;
	/* `text`, compressed as in the spool; empty: not available */
	struct str packed;
	/* hash of machine, stream and host, for window_id */
	uint64_t key;
};

/* Parses the first window of *rest and removes it from there. Encoded values are decoded into *text, which must live as
 * long as window. Returns NULL, or the reason (a static string) if that is no window. *rest must not be empty. */
const char *window_parse(struct str *rest, struct text *text, struct window *window);

/* Parses the header line of a window, and removes it from *rest; does not set text, stacks and key of *window. */
const char *window_parse_header(struct str *rest, struct text *text, struct window *window);

/* Stores the next stack of *lines and its weight. Returns false at the end. Skips lines that are no stack; the spool
 * contains none. */
bool window_next(struct str *lines, struct str *stack, uint64_t *count);

/* Returns the id of a stack in this window, for all stores that have ids. It is the same in each attempt to send the
 * window. The window's epoch is not part of it. */
uint64_t window_id(const struct window *window, struct str stack);

/* Stores the next label of *labels in *key and *value and removes it from *labels. Returns false at the end. */
bool label_next(struct str *labels, struct str *key, struct str *value);
/* Stores the value of the label `key`. Returns false, with *value unchanged, if labels has no such key. */
bool label_find(struct str labels, struct str key, struct str *value);

/* Appends the header line of window to text, with its newline. */
void window_header(struct text *text, const struct window *window);

/* Computes window->key from machine, stream and host of the window. */
void window_key(struct window *window);

#endif
