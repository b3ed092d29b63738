/* SPDX-License-Identifier: Apache-2.0 */
#include "common/debug.h"

#include "common/str.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Limit for a message in bytes; the rest of a longer message is cut off. A path can have up to 4,096 bytes, so its end
 * may be missing. */
#define MESSAGE_MAX 2000

static const char *const names[DEBUG_TOPICS] = {
	[DEBUG_FILES] = "files",
	[DEBUG_UNWIND] = "unwind",
	[DEBUG_HELPERS] = "helpers",
	[DEBUG_HTTP] = "http",
};

unsigned debug_topics;

static unsigned debug_named(struct str name)
{
	if (str_eq(name, STR("all")))
		return (1U << DEBUG_TOPICS) - 1;
	for (unsigned i = 0; i < DEBUG_TOPICS; i++)
		if (str_eq(name, str_of(names[i])))
			return 1U << i;
	return 0;
}

void debug_begin(void)
{
	const char *wanted = secure_getenv("PJ_DEBUG");
	struct str rest = str_of(wanted ? wanted : "");

	debug_topics = 0;
	while (rest.n) {
		struct str name = str_trim(str_cut(&rest, ','));
		unsigned topics = debug_named(name);

		if (name.n && !topics)
			warn("PJ_DEBUG: '%.*s' is no topic: use files, unwind, helpers, http or all", (int)name.n,
			     name.p);
		debug_topics |= topics;
	}
}

void debug_print(enum debug_topic topic, const char *format, ...)
{
	char message[MESSAGE_MAX];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	warn("[%s] %s", names[topic], message);
}
