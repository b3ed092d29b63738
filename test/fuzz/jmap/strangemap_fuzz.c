/* Maps that a JVM, or who plays one, wrote: of any bytes, what comes is in order, apart, one line each, of UTF-8
 * without control bytes. */
/* covers: jmap/attach/untrustedmap.c */
#include "jmap/attach/untrustedmap.h"

#include "test/fuzz/fuzz.h"

int fuzz_one(const uint8_t *data, size_t n)
{
	struct str bytes = { (const char *)data, n };

	for (unsigned names = UNTRUSTEDMAP_AS_IS; names <= UNTRUSTEDMAP_AGENT; names++) {
		for (unsigned style = METHOD_HOTSPOT; style <= METHOD_FLAMEGRAPH; style++) {
			struct codemap c;
			struct text t = { 0 };

			untrustedmap_read(&c, bytes, (enum untrustedmap_names)names, (enum method_style)style);
			for (size_t i = 0; i < c.n; i++) {
				MUST(c.entry[i].begin < c.entry[i].end &&
				     (i == 0 || c.entry[i - 1].end <= c.entry[i].begin));
				MUST(c.entry[i].name + c.entry[i].name_n <= c.names.n);
			}
			for (size_t i = 0; i < c.names.n; i++)
				MUST((unsigned char)c.names.p[i] >= 0x20 && c.names.p[i] != 0x7f);
			codemap_print(&c, style == METHOD_HOTSPOT, &t);
			MUST(c.n == 0 || t.p[t.n - 1] == '\n');
			text_free(&t);
			codemap_free(&c);
		}
	}
	return 0;
}
