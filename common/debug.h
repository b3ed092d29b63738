/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debug.h - messages for engineers: PJ_DEBUG=TOPIC[,TOPIC...] prints the decisions of that topic on stderr.
 *
 * A topic is one question that results raise: which file gave the symbols, why a stack is incomplete, which helper
 * process started, what a server replied. Messages pass through warn(), so names of hostile files are masked. The
 * formats may change with each version. Off, a message costs one load and one branch.
 *
 *	debug(DEBUG_FILES, "%.*s: symbols from %s", (int)path.n, path.p, name);
 */
#ifndef PJ_DEBUG_H
#define PJ_DEBUG_H

#include "common/diag.h"

enum debug_topic {
	DEBUG_FILES,   /* pjfold: candidates for symbols and unwind tables of a mapped file, and the verdict */
	DEBUG_UNWIND,  /* pjrecord, pjfold: stacks that are not complete, and where they end */
	DEBUG_HELPERS, /* helper processes that are started */
	DEBUG_HTTP,    /* pjsend, pjfetch: status and size of each reply */
	DEBUG_TOPICS
};

/* Topics that are on, a bit each. */
extern unsigned debug_topics;

/* Reads PJ_DEBUG: names of topics, separated by commas, or `all`. Warns of an unknown name and lists the known ones.
 * diag_tool() calls it; helper processes inherit the result. */
void debug_begin(void);

#define debug(topic, ...)                                   \
	do {                                                \
		if (unlikely(debug_topics & 1U << (topic))) \
			debug_print(topic, __VA_ARGS__);    \
	} while (0)

/* Prints "TOOL: [TOPIC] MESSAGE". To be called by debug() only. */
void debug_print(enum debug_topic topic, const char *format, ...) PRINTF(2, 3);

#endif
