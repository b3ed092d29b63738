/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debug.h - messages for engineers: PJ_DEBUG=TOPIC[,TOPIC...] prints messages of these topics on stderr.
 *
 * A topic is one question that an engineer has about results: which file gave the symbols, why a stack is incomplete,
 * which helper process started, how a server replied. Messages pass through warn(), so names of hostile files are
 * masked. The formats may change with each version. A message of a topic that is off costs one load and one branch.
 *
 *	debug(DEBUG_FILES, "%.*s: symbols from %s", (int)path.n, path.p, name);
 */
#ifndef PJ_DEBUG_H
#define PJ_DEBUG_H

#include "common/diag.h"

enum debug_topic {
	/* topic "files" (pjfold): candidates for symbols and unwind tables of a mapped file, and which candidate was
	 * selected */
	DEBUG_FILES,
	DEBUG_UNWIND,  /* topic "unwind" (pjrecord, pjfold): stacks that are not complete, and where they end */
	DEBUG_HELPERS, /* topic "helpers": starts of helper processes */
	DEBUG_HTTP,    /* topic "http" (pjsend, pjfetch): status and size of each reply */
	DEBUG_TOPICS
};

/* Enabled topics: bit 1 << t for topic t of enum debug_topic. */
extern unsigned debug_topics;

/* Enables the topics that the environment variable PJ_DEBUG lists, separated by commas; `all` enables all. Warns of an
 * unknown name, with a list of the valid ones. diag_tool() calls this function; helper processes inherit the result. */
void debug_begin(void);

#define debug(topic, ...)                                   \
	do {                                                \
		if (unlikely(debug_topics & 1U << (topic))) \
			debug_print(topic, __VA_ARGS__);    \
	} while (0)

/* Prints "TOOL: [TOPIC] MESSAGE". Only the macro debug() calls it. */
void debug_print(enum debug_topic topic, const char *format, ...) PRINTF(2, 3);

#endif
