/*
 * evestub - answers as Eve does with the original pipeline's schema (what was measured of it is in the table of the man
 * page's tests), so that tests need neither Eve nor MongoDB. Inserts in order: a batch that meets what is there keeps
 * what stood before.
 *
 * evestub --portfile FILE [--port N] [--file KEPT] [--token T] [--down FILE] [--log FILE]: KEPT has what was stored,
 * also after SIGKILL. While the file of --down exists, the database is gone. GET /_dump: "timestamp host stack value" a
 * line, in order of _id.
 */
#include "serve.h"

#include "common/arena.h"
#include "common/hash.h"
#include "send/http/json.h"

#include <fcntl.h>

#define EPOCH_LEAST 1490778413

struct doc {
	char id[25];
	uint64_t timestamp, value;
	struct str host, stack;
};

static struct doc **docs;
static size_t ndocs;
static bool in_order = true;
static uint32_t *slot; /* by id: index + 1 */
static size_t nslots;
static struct arena arena;
static int saved = -1;
static uint64_t made;
static const char *token, *down, *logged;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- stored windows --------------------------------------------------------------------------------------------- */

static uint32_t *place_of(const char *id)
{
	size_t i = hash_bytes(id, 24) & (nslots - 1);

	while (slot[i] && memcmp(docs[slot[i] - 1]->id, id, 24) != 0)
		i = (i + 1) & (nslots - 1);
	return &slot[i];
}

static void more_space(void)
{
	if (nslots > 2 * (ndocs + 1))
		return;
	nslots = nslots ? 2 * nslots : 1024;
	free(slot);
	slot = mem_alloc(sizeof(*slot), nslots);
	for (size_t i = 0; i < ndocs; i++)
		*place_of(docs[i]->id) = (uint32_t)(i + 1);
}

/* False: it is there. */
static bool insert(const struct doc *doc)
{
	struct doc *mine;

	more_space();
	if (*place_of(doc->id))
		return false;
	mine = arena_new(&arena, struct doc, 1);
	*mine = *doc;
	mine->host = arena_copy(&arena, doc->host);
	mine->stack = arena_copy(&arena, doc->stack);
	*place_of(doc->id) = (uint32_t)(ndocs + 1);
	if (ndocs && strcmp(docs[ndocs - 1]->id, doc->id) > 0)
		in_order = false;
	docs = mem_more(docs, sizeof(*docs), ndocs);
	docs[ndocs++] = mine;
	if (saved >= 0)
		dprintf(saved, "%s\t%llu\t%.*s\t%.*s\t%llu\n", doc->id, (unsigned long long)doc->timestamp,
			(int)doc->host.n, doc->host.p, (int)doc->stack.n, doc->stack.p, (unsigned long long)doc->value);
	return true;
}

static int by_id(const void *a, const void *b)
{
	return strcmp((*(struct doc *const *)a)->id, (*(struct doc *const *)b)->id);
}

static int by_time(const void *a, const void *b)
{
	const struct doc *x = *(struct doc *const *)a, *y = *(struct doc *const *)b;
	int order = x->timestamp < y->timestamp ? -1 : x->timestamp > y->timestamp;

	return order ? order : str_cmp(x->host, y->host);
}

static void sort(void)
{
	if (in_order)
		return;
	qsort(docs, ndocs, sizeof(struct doc *), by_id);
	in_order = true;
	memset(slot, 0, nslots * sizeof(*slot));
	for (size_t i = 0; i < ndocs; i++)
		*place_of(docs[i]->id) = (uint32_t)(i + 1);
}

static void read_saved(const char *path)
{
	FILE *f = fopen(path, "r");
	char *line = NULL;
	size_t cap = 0;
	ssize_t n;

	while (f && (n = getline(&line, &cap, f)) > 0) {
		struct str s = { line, (size_t)n }, id;
		struct doc d = { 0 };

		if (line[n - 1] != '\n')
			break; /* killed here */
		s.n--;
		id = str_cut(&s, '\t');
		if (id.n != 24)
			break;
		memcpy(d.id, id.p, 24);
		str_u64(str_cut(&s, '\t'), &d.timestamp);
		d.host = str_cut(&s, '\t');
		d.stack = str_cut(&s, '\t');
		str_u64(s, &d.value);
		insert(&d);
	}
	if (f)
		fclose(f);
	free(line);
	saved = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
}

/* ---- answers ---------------------------------------------------------------------------------------------------- */

struct call {
	int fd;
	bool head_only;
	char total[64];
};

static void answer(const struct call *call, const char *status, struct str body)
{
	struct text t = { 0 };

	text_printf(
		&t,
		"HTTP/1.1 %s\r\nServer: gunicorn\r\nConnection: close\r\nContent-Type: %s\r\n%sContent-Length: %zu\r\n\r\n",
		status, body.n && body.p[0] == '<' ? "text/html" : "application/json", call->total, body.n);
	if (!call->head_only)
		text_str(&t, body);
	serve_write(call->fd, t.p, t.n);
	text_free(&t);
}

static void error(const struct call *call, const char *status, const char *message)
{
	struct text t = { 0 };

	text_printf(&t, "{\"_status\": \"ERR\", \"_error\": {\"code\": %.3s, \"message\": \"%s\"}}", status, message);
	answer(call, status, text_view(&t));
	text_free(&t);
}

/* ---- POST ------------------------------------------------------------------------------------------------------- */

struct check {
	struct doc doc;
	const char *key, *issue;
};

static bool check_member(void *to, struct str key, const struct jv *value)
{
	struct check *c = to;
	struct str s;

	c->key = key.p;
	c->issue = NULL;
	if (str_eq(key, STR("timestamp"))) {
		if (!jv_u64(value, &c->doc.timestamp))
			c->issue = "must be of integer type";
		else if (c->doc.timestamp < EPOCH_LEAST)
			c->issue = "min value is 1490778413";
	} else if (str_eq(key, STR("value"))) {
		if (!jv_u64(value, &c->doc.value))
			c->issue = "must be of integer type";
		else if (c->doc.value < 1)
			c->issue = "min value is 1";
	} else if (str_eq(key, STR("hostname"))) {
		if (!jv_str(value, &c->doc.host))
			c->issue = "null value not allowed";
	} else if (str_eq(key, STR("stack"))) {
		if (!jv_str(value, &c->doc.stack))
			c->issue = "must be of string type";
		else if (!c->doc.stack.n)
			c->issue = "empty values not allowed";
		else if (str_find_str(c->doc.stack, STR("poison-422")) >= 0)
			c->issue = "not this one";
	} else if (str_eq(key, STR("_id"))) {
		if (!jv_str(value, &s) || s.n != 24 || strspn(s.p, "0123456789abcdefABCDEF") != 24)
			c->issue = "must be of objectid type";
		else
			for (size_t i = 0; i < 24; i++)
				c->doc.id[i] = (char)(s.p[i] >= 'A' && s.p[i] <= 'F' ? s.p[i] | 32 : s.p[i]);
	} else {
		c->issue = "unknown field";
	}
	return !c->issue;
}

static void store(const struct call *call, const struct jv *list, size_t n, bool flat)
{
	struct check *check = mem_alloc(sizeof(*check), n);
	struct text t = { 0 };
	bool good = true;

	for (size_t i = 0; i < n; i++) {
		const struct jv *one = flat && !jv_is_array(list) ? list : jv_at(list, i);

		good &= jv_each(one, check_member, &check[i]);
		if (good && !check[i].doc.id[0])
			snprintf(check[i].doc.id, sizeof(check[i].doc.id), "%08llx%016llx",
				 (unsigned long long)check[i].doc.timestamp & 0xFFFFFFFF,
				 (unsigned long long)hash_number(++made + (uint64_t)getpid() * 1000003));
	}
	text_add(&t, flat ? "" : good ? "{\"_status\": \"OK\", \"_items\": [" : "{\"_status\": \"ERR\", \"_items\": [");
	for (size_t i = 0; i < n; i++) {
		if (i)
			text_add(&t, ", ");
		if (check[i].issue) {
			text_printf(&t, "{\"_status\": \"ERR\", \"_issues\": {\"%s\": \"%s\"}}", check[i].key,
				    check[i].issue);
			continue;
		}
		if (good && !insert(&check[i].doc)) {
			error(call, "409 CONFLICT", "Document(s) with duplicate key(s) already exist");
			goto done;
		}
		text_printf(
			&t,
			"{\"_updated\": \"Sat, 21 Nov 2026 20:00:00 GMT\", \"_created\": \"Sat, 21 Nov 2026 20:00:00 GMT\", \"_etag\": \"%s%.16s\", "
			"\"_id\": \"%s\", \"_links\": {\"self\": {\"title\": \"Cpu\", \"href\": \"cpu/%s\"}}, \"_status\": \"OK\"}",
			check[i].doc.id, check[i].doc.id, check[i].doc.id, check[i].doc.id);
	}
	if (!good && flat)
		t.n--;
	if (!flat)
		text_char(&t, ']');
	if (!good)
		text_add(
			&t,
			", \"_error\": {\"code\": 422, \"message\": \"Insertion failure: document(s) contain(s) error(s)\"}");
	if (!flat || !good)
		text_char(&t, '}');
	answer(call, good ? "201 CREATED" : "422 UNPROCESSABLE ENTITY", text_view(&t));
done:
	text_free(&t);
	free(check);
}

static void post(const struct call *call, struct str head, struct str body)
{
	struct str type = serve_header(head, "Content-Type");
	const char *why;
	struct jv *v;
	size_t n;

	if (str_find_str(body, STR("poison-500")) >= 0 || str_find_str(body, STR("\\ud8")) >= 0) {
		answer(call, "500 INTERNAL SERVER ERROR",
		       STR("<!doctype html>\n<title>500 Internal Server Error</title>"));
		return;
	}
	if (!str_starts(type, STR("application/json")) || serve_header(head, "Content-Encoding").n ||
	    !(v = jv_parse(body, &why))) {
		error(call, "400 BAD REQUEST",
		      "The browser (or proxy) sent a request that this server could not understand.");
		return;
	}
	n = jv_is_array(v) ? jv_count(v) : 1;
	if (n == 0)
		error(call, "400 BAD REQUEST", "Empty bulk insert");
	else
		store(call, v, n, n == 1);
	jv_free(v);
}

/* ---- GET -------------------------------------------------------------------------------------------------------- */

static int hex(char c)
{
	return byte_is_digit(c) ? c - '0' : byte_is_hex(c) ? (c | 32) - 'a' + 10 : -1;
}

static struct str unescaped(struct text *text, struct str string)
{
	size_t start = text->n;

	for (size_t i = 0; i < string.n; i++) {
		if (string.p[i] == '%' && i + 2 < string.n && hex(string.p[i + 1]) >= 0 && hex(string.p[i + 2]) >= 0) {
			text_char(text, (char)(hex(string.p[i + 1]) << 4 | hex(string.p[i + 2])));
			i += 2;
		} else {
			text_char(text, string.p[i] == '+' ? ' ' : string.p[i]);
		}
	}
	return str_from(text_view(text), start);
}

static struct str argument(struct text *space, struct str query, const char *name)
{
	while (query.n) {
		struct str value = str_cut(&query, '&'), key = str_cut(&value, '=');

		if (str_eq(key, str_of(name))) {
			text_reserve(space, value.n + 1);
			return unescaped(space, value);
		}
	}
	return (struct str){ 0 };
}

static bool holds(int order, struct str how)
{
	return str_eq(how, STR("$gt"))  ? order > 0 :
	       str_eq(how, STR("$gte")) ? order >= 0 :
	       str_eq(how, STR("$lt"))  ? order < 0 :
	       str_eq(how, STR("$lte")) ? order <= 0 :
					  false;
}

static bool id_holds(void *to, struct str how, const struct jv *value)
{
	const struct doc *d = to;
	struct str s;

	return jv_str(value, &s) && holds(str_cmp(str_of(d->id), s), how);
}

static bool time_holds(void *to, struct str how, const struct jv *value)
{
	const struct doc *d = to;
	uint64_t n;

	return jv_u64(value, &n) && holds(d->timestamp < n ? -1 : d->timestamp > n, how);
}

static bool host_holds(void *to, struct str how, const struct jv *value)
{
	const struct doc *d = to;
	struct str s;

	return jv_str(value, &s) && holds(str_cmp(d->host, s), how);
}

static bool matches(void *to, struct str key, const struct jv *value)
{
	struct doc *d = to;
	uint64_t n;
	struct str s;

	if (str_eq(key, STR("$or")))
		return jv_each(jv_at(value, 0), matches, d) || jv_each(jv_at(value, 1), matches, d);
	if (str_eq(key, STR("_id"))) {
		const struct jv *in = jv_get(value, "$in");

		for (size_t i = 0; i < jv_count(in); i++)
			if (jv_str(jv_at(in, i), &s) && str_eq(s, str_of(d->id)))
				return true;
		return !in && jv_each(value, id_holds, d);
	}
	if (str_eq(key, STR("timestamp")))
		return jv_u64(value, &n) ? n == d->timestamp : jv_each(value, time_holds, d);
	return str_eq(key, STR("hostname")) && (jv_str(value, &s) ? str_eq(s, d->host) : jv_each(value, host_holds, d));
}

static void add_doc(struct text *text, const struct doc *doc)
{
	text_printf(text, "{\"_id\": \"%s\", \"timestamp\": %llu, \"hostname\": ", doc->id,
		    (unsigned long long)doc->timestamp);
	json_quote(text, doc->host);
	text_add(text, ", \"stack\": ");
	json_quote(text, doc->stack);
	text_printf(
		text,
		", \"value\": %llu, \"_updated\": \"Sat, 21 Nov 2026 20:00:00 GMT\", \"_etag\": \"%s\", \"_links\": {\"self\": {\"href\": \"cpu/%s\"}}}",
		(unsigned long long)doc->value, doc->id, doc->id);
}

static void list(struct call *call, struct str query)
{
	struct text space = { 0 }, t = { 0 };
	struct str where;
	uint64_t page = 1, max = 25, seen = 0;
	const char *why;
	struct doc **shown = docs;
	struct jv *v = NULL;

	text_reserve(&space, query.n + 64); /* so that nothing moves */
	where = argument(&space, query, "where");
	str_u64(argument(&space, query, "page"), &page);
	if (!str_u64(argument(&space, query, "max_results"), &max) || max < 1)
		max = 25;
	if (max > 50)
		max = 50; /* silently */
	if (where.n && !(v = jv_parse(where, &why))) {
		error(call, "400 BAD REQUEST", "where");
		goto done;
	}
	sort();
	if (str_eq(argument(&space, query, "sort"), STR("timestamp,hostname"))) {
		shown = mem_alloc(sizeof(*shown), ndocs + 1);
		memcpy(shown, docs, ndocs * sizeof(*shown));
		qsort(shown, ndocs, sizeof(*shown), by_time);
	}
	text_add(&t, "{\"_items\": [");
	for (size_t i = 0; i < ndocs; i++) {
		if (v && !jv_each(v, matches, shown[i]))
			continue;
		seen++;
		if (seen > max * (page - 1) && seen <= max * page) {
			if (seen > max * (page - 1) + 1)
				text_add(&t, ", ");
			add_doc(&t, shown[i]);
		}
	}
	text_printf(
		&t,
		"], \"_links\": {\"parent\": {\"title\": \"home\", \"href\": \"/\"}}, \"_meta\": {\"page\": %llu, \"max_results\": %llu, \"total\": %llu}}",
		(unsigned long long)page, (unsigned long long)max, (unsigned long long)seen);
	snprintf(call->total, sizeof(call->total), "X-Total-Count: %llu\r\n", (unsigned long long)seen);
	answer(call, "200 OK", text_view(&t));
	if (shown != docs)
		free(shown);
done:
	jv_free(v);
	text_free(&space);
	text_free(&t);
}

static int by_stack(const void *a, const void *b)
{
	return str_cmp((*(struct doc *const *)a)->stack, (*(struct doc *const *)b)->stack);
}

/* The original's service: sums of a range, with both its ends. */
static void stacks(const struct call *call, struct str query)
{
	struct text space = { 0 }, t = { 0 };
	struct doc **some = mem_alloc(sizeof(struct doc *), ndocs + 1);
	uint64_t from = 0, to = UINT64_MAX;
	struct str host;
	size_t n = 0;

	text_reserve(&space, query.n + 64);
	str_u64(argument(&space, query, "start_time"), &from);
	str_u64(argument(&space, query, "end_time"), &to);
	host = argument(&space, query, "hostname");
	for (size_t i = 0; i < ndocs; i++)
		if (docs[i]->timestamp >= from && docs[i]->timestamp <= to &&
		    (str_eq(host, STR("ALL")) || str_eq(host, docs[i]->host)))
			some[n++] = docs[i];
	qsort(some, n, sizeof(struct doc *), by_stack);
	text_char(&t, '{');
	for (size_t i = 0; i < n;) {
		uint64_t sum = 0;
		struct str stack = some[i]->stack;

		if (i)
			text_add(&t, ", ");
		for (; i < n && str_eq(some[i]->stack, stack); i++)
			sum += some[i]->value;
		json_quote(&t, stack);
		text_printf(&t, ": %llu.0", (unsigned long long)sum);
	}
	text_char(&t, '}');
	answer(call, "200 OK", text_view(&t));
	free(some);
	text_free(&space);
	text_free(&t);
}

static void dump(const struct call *call)
{
	struct text t = { 0 };

	sort();
	for (size_t i = 0; i < ndocs; i++)
		text_printf(&t, "%llu %.*s %.*s %llu\n", (unsigned long long)docs[i]->timestamp, (int)docs[i]->host.n,
			    docs[i]->host.p, (int)docs[i]->stack.n, docs[i]->stack.p,
			    (unsigned long long)docs[i]->value);
	answer(call, "200 OK", text_view(&t));
	text_free(&t);
}

static void one(const struct call *call, struct str id)
{
	struct text t = { 0 };
	uint32_t i = 0;

	more_space();
	if (id.n == 24)
		i = *place_of(id.p);
	if (i) {
		add_doc(&t, docs[i - 1]);
		answer(call, "200 OK", text_view(&t));
	} else {
		error(call, "404 NOT FOUND", "The requested URL was not found on the server.");
	}
	text_free(&t);
}

/* ---- */

/* Pyroscope knows nothing of what it has. */
static void ingest(const struct call *call, struct str head, struct str body)
{
	struct str line = str_cut(&head, '\r');
	FILE *f = fopen(logged, "a");

	if (f && fprintf(f, "%.*s\n%.*s", (int)line.n, line.p, (int)body.n, body.p) > 0 && fclose(f) == 0)
		answer(call, "200 OK", STR(""));
}

static void handle(struct call *call, struct str head, struct str body)
{
	struct str rest = head, line = str_cut(&rest, '\n'), method = str_cut(&line, ' '), query = str_cut(&line, ' '),
		   path;

	path = str_cut(&query, '?');
	call->head_only = str_eq(method, STR("HEAD"));
	if (str_starts(path, STR("/_dump")))
		dump(call);
	else if (token && str_find_str(serve_header(head, "Authorization"), str_of(token)) < 0)
		error(call, "401 UNAUTHORIZED", "Please provide proper credentials");
	else if (head.n > 4094 + 400 && query.n > 4000)
		answer(call, "400 Bad Request", STR("<html><h1>Request Line is too large</h1></html>"));
	else if (down && access(down, F_OK) == 0)
		answer(call, "500 INTERNAL SERVER ERROR",
		       STR("<!doctype html>\n<title>500 Internal Server Error</title>"));
	else if (logged && str_eq(path, STR("/ingest")))
		ingest(call, head, body);
	else if (str_eq(method, STR("POST")) && str_eq(path, STR("/cpu")))
		post(call, rest, body);
	else if (str_eq(method, STR("POST")))
		error(call, "405 METHOD NOT ALLOWED", "The method is not allowed for the requested URL.");
	else if (str_eq(path, STR("/cpu")))
		list(call, query);
	else if (str_starts(path, STR("/cpu/")))
		one(call, str_from(path, 5));
	else if (str_eq(path, STR("/stacks/")))
		stacks(call, query);
	else
		error(call, "404 NOT FOUND", "The requested URL was not found on the server.");
}

static void *each(void *connection)
{
	struct call c = { .fd = (int)(intptr_t)connection };
	struct text t = { 0 };
	struct str head, body;

	if (serve_request(c.fd, &t, &head, &body)) {
		pthread_mutex_lock(&lock);
		handle(&c, head, body);
		pthread_mutex_unlock(&lock);
	}
	shutdown(c.fd, SHUT_WR);
	close(c.fd);
	text_free(&t);
	return NULL;
}

int main(int argc, char **argv)
{
	const char *portfile = NULL;
	unsigned port = 0;

	diag_tool("evestub");
	for (int i = 1; i + 1 < argc; i += 2) {
		if (strcmp(argv[i], "--portfile") == 0)
			portfile = argv[i + 1];
		else if (strcmp(argv[i], "--port") == 0)
			port = (unsigned)strtoul(argv[i + 1], NULL, 10);
		else if (strcmp(argv[i], "--file") == 0)
			read_saved(argv[i + 1]);
		else if (strcmp(argv[i], "--token") == 0)
			token = argv[i + 1];
		else if (strcmp(argv[i], "--log") == 0)
			logged = argv[i + 1];
		else if (strcmp(argv[i], "--down") == 0)
			down = argv[i + 1];
		else
			die("what is %s", argv[i]);
	}
	serve(serve_listen(port, portfile), each);
}
