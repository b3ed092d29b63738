/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debug.h - messages for engineers: PJ_DEBUG=TOPIC[,TOPIC...] prints the decisions of that topic on stderr.
 *
 * A topic is one question that an engineer has about results: which file gave the symbols, why a stack is incomplete,
 * which helper process started, what a server replied. Messages pass through warn(), so names of hostile files are
 * masked. The formats may change with each version. Off, a message costs one load and one branch.
 *
 *	debug(DEBUG_FILES, "%.*s: symbols from %s", (int)path.n, path.p, name);
 */
#ifndef PJ_DEBUG_H
#define PJ_DEBUG_H

#include "common/diag.h"

enum debug_topic {
	DEBUG_FILES,   /* files (pjfold): candidates for symbols and unwind tables of a mapped file, and the choice */
	DEBUG_UNWIND,  /* unwind (pjrecord, pjfold): stacks that are not complete, and where they end */
	DEBUG_HELPERS, /* helpers: helper processes that are started */
	DEBUG_HTTP,    /* http (pjsend, pjfetch): status and size of each reply */
	DEBUG_TOPICS
};

/* The topics that are enabled: bit i for enum debug_topic i. */
extern unsigned debug_topics;

/* Enables the topics in PJ_DEBUG: names separated by commas, or `all`. Warns of an unknown name and lists the known
 * ones. diag_tool() calls this; helper processes inherit the result. */
void debug_begin(void);

#define debug(topic, ...)                                   \
	do {                                                \
		if (unlikely(debug_topics & 1U << (topic))) \
			debug_print(topic, __VA_ARGS__);    \
	} while (0)

/* Prints "TOOL: [TOPIC] MESSAGE". Only the macro debug() calls it. */
void debug_print(enum debug_topic topic, const char *format, ...) PRINTF(2, 3);

#endif
