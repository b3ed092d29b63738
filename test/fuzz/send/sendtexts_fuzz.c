/* chunkinfo, json: the front of a window, and JSON of servers. Input: a byte that chooses, then the file or text. */
/* covers: send/spool/chunkinfo.c send/http/json.c */
#include "send/spool/chunkinfo.h"
#include "send/http/json.h"

#include "test/fuzz/fuzz.h"

static void front(struct str bytes)
{
	struct chunkinfo c;
	char path[32];
	int fd = fuzz_file(bytes.p, bytes.n, path);

	chunkinfo_read(&c, fd);
	MUST(c.perf || (!c.events && !c.end && !c.boot[0]));
	MUST(c.end >= c.begin && strnlen(c.boot, sizeof(c.boot)) < sizeof(c.boot) && c.events <= 1024);
	close(fd);
}

static bool is_utf8(struct str string)
{
	for (size_t i = 0; i < string.n;) {
		unsigned char c = (unsigned char)string.p[i];
		size_t more = c < 0x80 ? 0 : c < 0xc2 ? 9 : c < 0xe0 ? 1 : c < 0xf0 ? 2 : c < 0xf5 ? 3 : 9;

		if (more > string.n - i - 1)
			return false;
		for (size_t k = 1; k <= more; k++)
			if (((unsigned char)string.p[i + k] & 0xc0) != 0x80)
				return false;
		i += 1 + more;
	}
	return true;
}

/* In quotes it is JSON, and comes back as what was valid of it. */
static void quote(struct str string)
{
	struct text t = { 0 }, mended = { 0 };
	const char *why = NULL;
	struct str back;
	struct jv *v;

	json_quote(&t, string);
	utf8_mend(&mended, string);
	MUST(t.n >= 2 && is_utf8(text_view(&t)) && is_utf8(text_view(&mended)));
	t.n = 0;
	text_char(&t, '[');
	json_quote(&t, string);
	text_char(&t, ']');
	v = jv_parse(text_view(&t), &why);
	if (v && jv_str(jv_at(v, 0), &back))
		MUST(str_eq(back, text_view(&mended)));
	else
		MUST(why || memchr(string.p, 0, string.n));
	jv_free(v);
	text_free(&t);
	text_free(&mended);
	MUST(ascii_run(string, '"', '\\') <= string.n);
}

struct visit {
	unsigned depth, seen;
};

static void look(struct visit *visit, const struct jv *value);

static bool member(void *to, struct str key, const struct jv *value)
{
	(void)key;
	look(to, value);
	return ((struct visit *)to)->seen < 1000;
}

static void look(struct visit *visit, const struct jv *value)
{
	struct str s;
	uint64_t number = 0;
	bool is_text, is_number;

	if (visit->seen++ > 1000 || visit->depth > 8)
		return;
	visit->depth++;
	MUST(jv_is_array(value) || jv_count(value) == 0);
	MUST(!jv_at(value, jv_count(value)));
	for (size_t i = 0; i < jv_count(value) && i < 100; i++)
		look(visit, jv_at(value, i));
	is_text = jv_str(value, &s);
	is_number = jv_u64(value, &number);
	MUST(is_text + is_number + jv_true(value) <= 1);
	(void)jv_each(value, member, visit);
	(void)jv_get(value, "_items");
	visit->depth--;
}

static void json(struct str string)
{
	struct visit visit = { 0 };
	const char *why = NULL;
	struct jv *v = jv_parse(string, &why);

	MUST(!v == !!why);
	look(&visit, v);
	jv_free(v);
}

int fuzz_one(const uint8_t *data, size_t n)
{
	struct str rest = { (const char *)data + (n > 0), n - (n > 0) };

	if (n && data[0] % 3 == 0)
		front(rest);
	else if (n && data[0] % 3 == 1)
		json(rest);
	else if (n)
		quote(rest);
	return 0;
}
