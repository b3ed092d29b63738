/* SPDX-License-Identifier: Apache-2.0 */
/* PJ_DEBUG turns topics on by name. */
/* covers: common/debug.c */
#include "common/debug.h"
#include "test/lib/child.h"
#include "test/lib/tap.h"

#include <stdlib.h>

static unsigned topics(const char *value)
{
	if (value)
		setenv("PJ_DEBUG", value, 1);
	else
		unsetenv("PJ_DEBUG");
	debug_begin();
	return debug_topics;
}

static void print(void *arg)
{
	static unsigned evaluated;

	topics(arg);
	debug(DEBUG_FILES, "%s %u", "a\033name", ++evaluated);
	debug(DEBUG_HTTP, "%u", ++evaluated);
	printf("%u", evaluated);
}

int main(void)
{
	static struct child c;

	diag_tool("pjtest");
	is_u64(topics(NULL), 0, "nothing without PJ_DEBUG");
	is_u64(topics(""), 0, "nor with an empty one");
	is_u64(topics("unwind"), 1U << DEBUG_UNWIND, "one topic");
	is_u64(topics("http, files"), 1U << DEBUG_HTTP | 1U << DEBUG_FILES, "several, with blanks");
	is_u64(topics("all"), (1U << DEBUG_TOPICS) - 1, "all");
	child_run(&c, print, (void *)(uintptr_t) "files");
	is_str(c.err, STR("pjtest: [files] a\\x1bname 1\n"), "a message of that topic, masked");
	is_str(c.out, STR("1"), "  arguments of other topics are not evaluated");
	child_run(&c, print, (void *)(uintptr_t) "file");
	is_str(c.err, STR("pjtest: PJ_DEBUG: 'file' is no topic: use files, unwind, helpers, http or all\n"),
	       "an unknown topic is reported");
	return done();
}
