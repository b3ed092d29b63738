/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window.h - the text of one folded window of one stream, as it is in the spool and in stores.
 *
 * The text begins with a `# pj` line with the window's properties (pj-store(5)). The stacks follow, each once, as valid
 * UTF-8 with integer weights above 0. A window is identified by the machine, the stream (unit, event, recorder, labels)
 * and the second in which it begins. window_id computes the id of a stack in a window; the id is the same in each
 * attempt to send the window. A spool file contains one text for each event of the window, one after the other. The
 * module does no input or output.
 */
#ifndef PJ_WINDOW_H
#define PJ_WINDOW_H

#include "common/text.h"

/* A parsed window. Its strings point into the parsed text or into a buffer of the caller. */
struct window {
	/* time span [epoch, until) of the window in s since 1970; epoch is its name, too */
	uint64_t epoch, until;
	struct str host;
	/* machine: hash of the machine id, which is a secret of the host; stream: hash of the stream's properties */
	uint64_t machine, stream;
	struct str unit, event, frequency;
	/* labels "k=v,k2=v2", sorted by key; label_next() parses them */
	struct str labels;
	uint64_t samples, lost;
	/* true if `lost` is the number of all losses; false for a sum if the losses of one of its windows are unknown
	 */
	bool lost_known;
	/* number of recorded windows in this one: 1, or more for a roll-up */
	uint64_t parts;
	/* complete text of the window, exactly as in the spool */
	struct str text;
	/* the stack lines of `text` */
	struct str stacks;
	/* `text`, compressed as in the spool; empty if not available */
	struct str packed;
	/* hash of machine, stream and host, for window_id */
	uint64_t key;
};

/* Parses the first window of *rest and removes it from *rest, which must not be empty. Appends decoded values to *text,
 * which must neither end nor grow while *window is used. Returns NULL on success, else the reason (a static string),
 * with *rest empty. */
const char *window_parse(struct str *rest, struct text *text, struct window *window);

/* Like window_parse, but parses and removes only the header line. Does not set text, stacks and key of *window. */
const char *window_parse_header(struct str *rest, struct text *text, struct window *window);

/* Removes the next stack from *lines and stores it and its weight in *stack and *count. Returns false at the end. Skips
 * lines that are not stacks; the spool contains none. */
bool window_next(struct str *lines, struct str *stack, uint64_t *count);

/* Returns the id of a stack in this window, for all stores that have ids. The id is the same in each attempt to send
 * the window. It does not depend on the epoch, so stores put the epoch before the id. */
uint64_t window_id(const struct window *window, struct str stack);

/* Removes the next label from *labels and stores it in *key and *value. Returns false at the end. */
bool label_next(struct str *labels, struct str *key, struct str *value);
/* Finds the label `key` in `labels` and stores its value. Returns false, with *value unchanged, if there is none. */
bool label_find(struct str labels, struct str key, struct str *value);

/* Appends the header line of a window to *text, with its newline. */
void window_header(struct text *text, const struct window *window);

/* Sets window->key to the hash of machine, stream and host. */
void window_key(struct window *window);

#endif
