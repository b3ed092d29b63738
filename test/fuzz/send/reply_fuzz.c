/* what servers answer: any bytes under any status end in a verdict, in lines that are stacks, or in a reason. */
/* full-san: 10 to 30 s with sanitizers */
/* covers: send/stores/eve.c send/stores/everead.c send/stores/clickhouse.c send/stores/clickvalues.c */
/* covers: send/stores/couch.c send/stores/batches.c */
#undef PJ_CURL
#define http_open none_open
#define http_send none_send
#define http_path none_path
#define http_set_path none_set_path
#define http_header none_header
#define http_secret none_secret
#define http_close none_close
#include "send/http/http.c"
#undef http_open
#undef http_send
#undef http_path
#undef http_set_path
#undef http_header
#undef http_secret
#undef http_close
#include "send/store.h"

#include "test/fuzz/fuzz.h"

/* http.h without a network: each request gets the next part of the input, "STATUS\nBODY" up to a line of "--". */
struct http *http_open(const char *url, const struct http_options *options, struct text *why);
struct http_reply http_send(struct http *http, const struct http_request *request, struct text *why);
struct str http_path(const struct http *http);
void http_set_path(struct http *http, struct str string);
void http_header(struct http *http, const char *line);
bool http_secret(const struct http *http, struct str *user, struct str *password);
void http_close(struct http *http);

static struct str answers, path;
static unsigned requests;

struct http *http_open(const char *url, const struct http_options *options, struct text *why)
{
	(void)url;
	(void)options;
	(void)why;
	path = STR("/db");
	return (struct http *)(void *)&answers;
}

struct http_reply http_send(struct http *http, const struct http_request *request, struct text *why)
{
	struct http_reply r = { .sent = request->body.n };
	struct str part = answers, line;
	ptrdiff_t end = str_find_str(answers, STR("\n--\n"));
	uint64_t status;

	(void)http;
	why->n = 0;
	if (end >= 0) {
		part = str_head(answers, (size_t)end);
		answers = str_from(answers, (size_t)end + 4);
	} else {
		answers = (struct str){ 0 };
	}
	line = str_cut(&part, '\n');
	r.status = str_u64(line, &status) && status < 1000 ? (unsigned)status : 0;
	r.body = part;
	r.class = http_class(r.status && ++requests < 500 ? HTTP_COMPLETE : HTTP_BROKEN, r.status);
	if (r.status == 200 && request->take) {
		request->take(request->to, str_head(part, part.n / 2)); /* in two pieces */
		request->take(request->to, str_from(part, part.n / 2));
		r.body = (struct str){ 0 };
	}
	if (r.class != HTTP_DONE)
		text_add(why, "so it is");
	return r;
}

struct str http_path(const struct http *http)
{
	(void)http;
	return path;
}

void http_set_path(struct http *http, struct str string)
{
	(void)http;
	path = string;
}

void http_header(struct http *http, const char *line)
{
	(void)http;
	(void)line;
}

bool http_secret(const struct http *http, struct str *user, struct str *password)
{
	(void)http;
	*user = *password = (struct str){ 0 };
	return false;
}

void http_close(struct http *http)
{
	(void)http;
}

static bool reported(void *to, const struct window *window)
{
	*(uint64_t *)to += window->parts;
	return true;
}

static bool lines(void *to, struct str string)
{
	(void)to;
	MUST(string.n && string.p[string.n - 1] == '\n');
	return true;
}

static void damaged(void *to, struct str place, const char *why)
{
	(void)to;
	(void)place;
	MUST(why && *why);
}

static const char window_text[] =
	"# pj unit=samples event=c from=1700000000 to=1700000030 host=h samples=6 lost=1 machine=0000000000000001 stream=0000000000000002 "
	"label.k=v label.n=3\na;b 1\na;c 2\nd 3\n";
static const char untrusted_text[] =
	"# pj unit=samples event=c from=1700000060 to=1700000090 host=h'\\\tx samples=3 machine=0000000000000001 stream=0000000000000002\n"
	"a\\';\xc3\xbc 1\na\\';\xff 2\n";

static void answer_from(struct str input)
{
	requests = 0;
	answers = input;
}

static void send_alone(struct store *store, const struct window *window, struct str input)
{
	struct store_report r = { 0 };
	uint64_t resume = 0;

	for (int i = 0; i < 3; i++) {
		answer_from(input);
		store->ops->send(store->it, window, &resume, i == 2, &r);
		MUST(r.verdict == STORE_SENT || r.why.n || r.refused_why.n);
		store_report_free(&r);
	}
}

/* Several windows in one request: joined until they are enough or nothing goes together. */
static void send_joined(struct store *store, const struct window *window, struct str input)
{
	struct store_report r = { 0 };
	enum store_joined joined = STORE_JOINED;

	answer_from(input);
	for (int i = 0; i < 40 && joined == STORE_JOINED; i++) {
		struct window one = *window;

		one.epoch += 60u * (unsigned)i;
		one.until += 60u * (unsigned)i;
		joined = store->ops->join(store->it, &one, &r);
		MUST(joined != STORE_PARTED || r.why.n || r.verdict != STORE_SENT);
	}
	if (joined == STORE_JOINED || joined == STORE_FULL) {
		store->ops->send_joined(store->it, &r);
		MUST(r.verdict == STORE_SENT || r.why.n || r.refused_why.n);
	}
	store_report_free(&r);
}

static void read_back(struct store *store, const struct store_query *query, struct str input)
{
	uint64_t seen = 0;
	struct store_sink sink = { reported, lines, damaged, &seen };
	struct text why = { 0 };

	answer_from(input);
	MUST(store->ops->fetch(store->it, query, &sink, &why) || why.n);
	why.n = 0;
	answer_from(input);
	MUST(store->ops->list(store->it, query, &sink, &why) || why.n);
	text_free(&why);
}

static void one_store(const char *spec, struct str input, const struct store_options *options)
{
	static struct str label[] = { { "k=v", 3 } }, event[] = { { "c*", 2 } };
	const struct store_query queries[] = {
		{ .from = 1600000000, .to = 1800000000 },
		{ .from = 1600000000, .to = 1800000000, .host = STR("h"), .by = BY_HOST },
		{ .from = 1600000000,
		  .to = 1800000000,
		  .label = label,
		  .nlabel = 1,
		  .event = event,
		  .nevent = 1,
		  .by = BY_LABEL,
		  .by_label = STR("k") },
		{ .from = 1600000000, .to = 1700000000, .by = BY_TIME },
	};
	const struct str texts[] = { { window_text, sizeof(window_text) - 1 },
				     { untrusted_text, sizeof(untrusted_text) - 1 } };
	struct text space = { 0 };
	struct store s = { 0 };

	store_open(&s, spec, options);
	for (size_t i = 0; i < countof(texts); i++) {
		struct str rest = texts[i];
		struct window w;

		space.n = 0;
		MUST(!window_parse(&rest, &space, &w));
		send_alone(&s, &w, input);
		if (s.ops->join)
			send_joined(&s, &w, input);
	}
	for (size_t i = 0; i < countof(queries); i++)
		read_back(&s, &queries[i], input);
	store_close(&s);
	text_free(&space);
}

int fuzz_one(const uint8_t *data, size_t n)
{
	char *copy = fuzz_copy(data, n);

	if (!FUZZ_GUARD()) {
		const struct store_options plain = { 0 }, verify = { .verify = true, .stacks_url = "http://y" };
		static const char *const spec[] = { "eve:http://x", "clickhouse:http://x", "couch:http://x" };

		for (size_t i = 0; i < countof(spec); i++) {
			one_store(spec[i], (struct str){ copy, n }, &plain);
			one_store(spec[i], (struct str){ copy, n }, i == 0 && n % 2 ? &plain : &verify);
		}
	}
	free(copy);
	return 0;
}
