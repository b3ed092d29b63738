/* naming rules and headers: whatever goes in, what comes out can stand in folded text. */
/* covers: fold/names/names.c fold/names/namescxx.c fold/names/namesdotnet.c fold/names/namesjava.c */
/* covers: fold/names/namesjs.c fold/names/namesrust.c */
#include "fold/samples/samplekey.h"
#include "fold/script/linecache.h"
#include "fold/names/names.h"

#include "test/fuzz/fuzz.h"

static void check_name(struct str name)
{
	MUST(name.n > 0);
	for (size_t i = 0; i < name.n; i++)
		MUST(name.p[i] != ';' && (unsigned char)name.p[i] >= ' ' && name.p[i] != 0x7f);
}

static void inside(struct str part, const char *p, size_t n)
{
	MUST(part.n == 0 || (part.p >= p && part.p + part.n <= p + n));
}

/* First byte: options. Then a frame line's tail, "sym+0x1 (dso)", which is also tried as a header and a comm. */
int fuzz_one(const uint8_t *data, size_t n)
{
	struct names names = { 0 };
	struct names_frame f;
	struct sample_key h;
	unsigned how;
	char *copy;
	struct str all, made;

	if (n < 1 || memchr(data, '\n', n))
		return 0;
	how = data[0];
	copy = fuzz_copy(data + 1, n - 1);
	all = (struct str){ copy, n - 1 };
	if (FUZZ_GUARD()) {
		free(copy);
		return 0;
	}
	names.kinds = how & 1 ? NAMES_ALL_KINDS : how >> 3;
	names.hotspot = how & 2;
	names.addresses = how & 4;

	f = linecache_split(all);
	inside(f.symbol, copy, all.n);
	inside(f.dso, copy, all.n);
	f.address = STR("7f00");
	made = names_make(&names, f);
	MUST(made.n > 0);
	for (struct str rest = made; rest.n;)
		check_name(str_cut(&rest, '\n'));
	if (all.n)
		check_name(names_comm(&names, all, how & 8));
	if (samplekey_parse(all, &h) != SAMPLEKEY_NONE) {
		inside(h.comm, copy, all.n);
		inside(h.before, copy, all.n);
		inside(h.event, copy, all.n);
		inside(h.rest, copy, all.n);
		(void)samplekey_event_key(h.event);
	}
	names_free(&names);
	free(copy);
	return 0;
}
