/* What an answer means, what of a host's bytes gets into JSON, and which URLs are refused. */
/* covers: send/http/http.c send/http/json.c send/http/libcurl.c send/http/secret.c */
#include "send/http/http.h"
#include "send/http/json.h"
#include "send/http/secret.h"

#include "test/lib/tap.h"

#include <stdlib.h>
#include <unistd.h>
#include <sys/stat.h>
#include <fcntl.h>

static void classes(void)
{
	static const struct {
		unsigned status;
		enum http_class class;
	} of[] = {
		{ 200, HTTP_DONE },     { 201, HTTP_DONE },    { 202, HTTP_DONE },    { 204, HTTP_DONE },
		{ 299, HTTP_DONE },     { 301, HTTP_HOLD },    { 302, HTTP_HOLD },    { 304, HTTP_HOLD },
		{ 308, HTTP_HOLD },     { 400, HTTP_POISON },  { 401, HTTP_HOLD },    { 403, HTTP_HOLD },
		{ 404, HTTP_HOLD },     { 405, HTTP_HOLD },    { 407, HTTP_HOLD },    { 408, HTTP_AGAIN },
		{ 409, HTTP_CONFLICT }, { 410, HTTP_PERHAPS }, { 413, HTTP_SMALLER }, { 415, HTTP_PERHAPS },
		{ 422, HTTP_POISON },   { 425, HTTP_AGAIN },   { 429, HTTP_AGAIN },   { 500, HTTP_PERHAPS },
		{ 501, HTTP_PERHAPS },  { 502, HTTP_AGAIN },   { 503, HTTP_AGAIN },   { 504, HTTP_AGAIN },
		{ 507, HTTP_PERHAPS },  { 599, HTTP_PERHAPS }, { 0, HTTP_AGAIN },     { 100, HTTP_AGAIN },
		{ 700, HTTP_AGAIN },
	};
	char what[64];

	for (size_t i = 0; i < countof(of); i++) {
		snprintf(what, sizeof(what), "what %u means", of[i].status);
		is_u64(http_class(HTTP_COMPLETE, of[i].status), of[i].class, what);
	}
	ok(http_class(HTTP_BROKEN, 201) == HTTP_AGAIN && http_class(HTTP_BROKEN, 409) == HTTP_AGAIN &&
		   http_class(HTTP_BROKEN, 401) == HTTP_AGAIN,
	   "a transfer that failed wins over any number");
	ok(http_class(HTTP_UNTRUSTED, 200) == HTTP_HOLD && http_class(HTTP_UNTRUSTED, 0) == HTTP_HOLD,
	   "and so does a server that cannot be trusted");
}

static void quotes(struct str string, struct str want, const char *what)
{
	struct text t = { 0 };

	json_quote(&t, string);
	is_str(text_view(&t), want, what);
	text_free(&t);
}

static void quoting(void)
{
	struct text t = { 0 };

	quotes(STR("a;b c"), STR("\"a;b c\""), "plain");
	quotes(STR(""), STR("\"\""), "nothing");
	quotes(STR("\"\\/\t\n\x7F"), STR("\"\\\"\\\\/\\u0009\\u000a\\u007f\""), "what JSON escapes");
	quotes(STR("\0x"), STR("\"\\u0000x\""), "NUL");
	quotes(STR("\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80"), STR("\"\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80\""),
	       "characters of 2, 3 and 4 bytes");
	quotes(STR("\xED\xA0\x80"), STR("\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\""), "half of a surrogate pair");
	quotes(STR("\xC0\x80\xF5\xE2\x82"), STR("\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\""),
	       "longer than need be, too large, cut");
	utf8_mend(&t, STR("a\xFF"
			  "b\"\n"));
	is_str(text_view(&t),
	       STR("a\xEF\xBF\xBD"
		   "b\"\n"),
	       "mended");
	t.n = 0;
	http_escape(&t, STR("{\"a b\":~1}&\xC3"));
	is_str(text_view(&t), STR("%7B%22a%20b%22%3A~1%7D%26%C3"), "escaped for a URL");
	text_free(&t);
}

#ifdef PJ_JANSSON
static bool count(void *to, struct str key, const struct jv *value)
{
	uint64_t n;

	(void)key;
	*(uint64_t *)to += jv_u64(value, &n) ? n : 1000;
	return true;
}

static void parsing(void)
{
	const char *why = NULL;
	struct jv *v = jv_parse(STR("{\"a\": [1, 2.0, 2.5, -1, \"3\", {\"b\": \"x\\u0000y\"}], \"ok\": true}"), &why);
	const struct jv *a = jv_get(v, "a");
	struct str s;
	uint64_t n = 0;

	ok(jv_is_array(a) && jv_count(a) == 6 && jv_true(jv_get(v, "ok")), "parts of a document");
	ok(jv_u64(jv_at(a, 0), &n) && n == 1 && jv_u64(jv_at(a, 1), &n) && n == 2, "whole numbers, 2.0 among them");
	ok(!jv_u64(jv_at(a, 2), &n) && !jv_u64(jv_at(a, 3), &n) && !jv_u64(jv_at(a, 4), &n), "and what is none");
	ok(jv_str(jv_get(jv_at(a, 5), "b"), &s) && str_eq(s, STR("x\0y")), "a string with NUL");
	ok(!jv_get(jv_at(jv_get(NULL, "x"), 3), "y") && jv_count(NULL) == 0 && !jv_str(NULL, &s) && !jv_u64(NULL, &n) &&
		   !jv_true(a),
	   "of nothing comes nothing");
	n = 0;
	jv_free(v);
	v = jv_parse(STR("{\"x\": 3, \"y\": 4.0, \"z\": null}"), &why);
	ok(jv_each(v, count, &n) && n == 1007, "all members");
	jv_free(v);
	ok(!jv_parse(STR("{\"a\": "), &why) && why, "cut");
	ok(!jv_parse(STR(""), &why) && !jv_parse(STR("<html>"), &why) && !jv_parse(STR("3 4"), &why), "something else");
}
#endif

static void secrets(void)
{
	static const char *const safe[] = { "localhost", "LocalHost", "127.0.0.1", "127.1.2.3", "[::1]" };
	static const char *const far[] = { "localhost.evil.org",
					   "128.0.0.1",
					   "127.0.0.1.evil.org",
					   "[::2]",
					   "[::ffff:1.2.3.4]",
					   "[]",
					   "",
					   "0.0.0.0" };
	bool good = true;

	for (size_t i = 0; i < countof(safe); i++)
		good = good && !secret_forbidden("http", safe[i], false);
	ok(good, "the loopback interface");
	for (size_t i = 0; i < countof(far); i++)
		good = good && secret_forbidden("http", far[i], false) && !secret_forbidden("https", far[i], false) &&
		       !secret_forbidden("http", far[i], true);
	ok(good, "other hosts need https, or permission");
}

static void files(void)
{
	static const mode_t refused[] = { 0644, 0640, 0604, 0620, 0602, 0601, 0666 };
	char name[] = "/tmp/pj-secret.XXXXXX";
	struct text secret = { 0 }, why = { 0 };
	int fd = mkstemp(name);
	bool good = fd >= 0 && write(fd, "abc\n", 4) == 4 && secret_read(name, &secret, &why) &&
		    str_eq(text_view(&secret), STR("abc\n"));

	ok(good, "a file that only its owner can read");
	for (size_t i = 0; i < countof(refused); i++) {
		why.n = 0;
		good = good && fchmod(fd, refused[i]) == 0 && !secret_read(name, &secret, &why) &&
		       str_find_str(text_view(&why), STR("chmod 600")) > 0;
	}
	ok(good, "others are refused, with the remedy");
	if (geteuid() == 0)
		ok(fchown(fd, 65534, 65534) == 0 && fchmod(fd, 0440) == 0 && secret_read(name, &secret, &why) &&
			   fchmod(fd, 0444) == 0 && !secret_read(name, &secret, &why),
		   "a group reads a file of another user: credentials of systemd");
	close(fd);
	unlink(name);
	text_free(&secret);
	text_free(&why);
}

#ifdef PJ_CURL
static void refused(const char *url, const char *part, const char *what)
{
	struct text why = { 0 };
	struct http *h = http_open(url, NULL, &why);

	ok(!h && str_find_str(text_view(&why), str_of(part)) >= 0, what);
	http_close(h);
	text_free(&why);
}

static void urls(void)
{
	struct text why = { 0 };
	struct http *h;
	struct str user, password;

	unsetenv("PJ_STORE_AUTH");
	refused("http://joe:secret@127.0.0.1/", "--auth", "a password in a URL, with the remedy");
	refused("ftp://127.0.0.1/", "http", "another protocol");
	refused("file:///etc/passwd", "http", "a file");
	refused("127.0.0.1", "http", "no protocol");
	refused("http://127.0.0.1/x?y=z", "path", "a query");
	refused("", "URL", "nothing");
	setenv("PJ_STORE_AUTH", "a\r\nHost: evil", 1);
	h = http_open("http://127.0.0.1/a/b//", NULL, &why);
	ok(h && !http_secret(h, &user, &password), "only the first line is a secret: here a token");
	ok(h && str_eq(http_path(h), STR("/a/b")), "the path of a URL");
	http_close(h);
	setenv("PJ_STORE_AUTH", "joe:se:cret", 1);
	h = http_open("https://[::1]:8443", NULL, &why);
	ok(h && http_secret(h, &user, &password) && str_eq(user, STR("joe")) && str_eq(password, STR("se:cret")),
	   "a user and a password");
	http_close(h);
	setenv("PJ_STORE_AUTH", "joe:\x01", 1);
	h = http_open("https://localhost", NULL, &why);
	ok(!h && str_find_str(text_view(&why), STR("control bytes")) >= 0, "control bytes are no secret");
	unsetenv("PJ_STORE_AUTH");
	h = http_open("https://localhost", &(struct http_options){ .auth = "/nonexistent" }, &why);
	ok(!h && str_find_str(text_view(&why), STR("/nonexistent: ")) == 0, "a file that is not there");
	setenv("PJ_STORE_AUTH", "joe:secret", 1);
	refused("http://example.com/", "--insecure-auth", "a secret over plain http, with the remedy");
	h = http_open("http://example.com/", &(struct http_options){ .insecure_auth = true }, &why);
	ok(h != NULL, "which the user may allow");
	http_close(h);
	ok(!getenv("PJ_STORE_AUTH"), "the environment has no secret any more");
	text_free(&why);
}
#endif

int main(void)
{
	classes();
	quoting();
#ifdef PJ_JANSSON
	parsing();
#endif
	secrets();
	files();
#ifdef PJ_CURL
	urls();
#endif
	return done();
}
