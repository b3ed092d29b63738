/* replies: what a process that plays a JVM answers over the attach protocol, and its status. */
/* covers: jmap/attach/replies.c */
#include "jmap/attach/replies.h"

#include "test/fuzz/fuzz.h"

int fuzz_one(const uint8_t *data, size_t n)
{
	struct str text = { (const char *)data, n };
	struct replies_signals s;
	struct text t = { 0 };
	char line[REPLIES_LINE];
	uint64_t major;
	int status = 1;

	text_add(&t, "before");
	text_bytes(&t, data, n);
	if (replies_status(&t, 6, &status))
		MUST(t.n < 6 + n + 1 && memcmp(t.p, "before", 6) == 0);
	else
		MUST(t.n == 6 + n);
	(void)replies_major(text, &major);
	replies_first_line(text, line);
	MUST(strnlen(line, sizeof(line)) < sizeof(line));
	if (replies_loaded(text, status))
		MUST(status == 0 && line[strlen(line) - 1] == '0');
	(void)replies_signals(text, &s);
	text_free(&t);
	return 0;
}
