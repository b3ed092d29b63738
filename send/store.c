/* SPDX-License-Identifier: Apache-2.0 */
#include "send/store.h"

#include "common/diag.h"
#include "send/http/http.h"
#include "send/stores.h"

const struct store_ops *const store_list[] = { &store_dir,    &store_eve,       &store_couch, &store_clickhouse,
					       &store_ndjson, &store_pyroscope, NULL };

const struct store_ops *store_ops_of(const char *spec, struct str *where)
{
	struct str rest = str_of(spec), scheme;

	if (str_find(rest, ':') < 0 || rest.p[0] == '/' || rest.p[0] == '.') {
		*where = rest;
		return &store_dir;
	}
	scheme = str_cut(&rest, ':');
	*where = rest;
	for (size_t i = 0; store_list[i]; i++)
		if (str_eq(scheme, str_of(store_list[i]->scheme)))
			return store_list[i];
	die_usage(
		"'%.*s:' is no store; there are dir:PATH, eve:URL, couch:URL, clickhouse:URL, ndjson:FILE and pyroscope:URL",
		(int)scheme.n, scheme.p);
}

void store_open(struct store *s, const char *spec, const struct store_options *o)
{
	struct text why = { 0 };
	struct str where;

	s->spec = spec;
	s->ops = store_ops_of(spec, &where);
	if (where.n == 0)
		die_usage("'%s' does not say where: %s", spec, s->ops->form);
	s->it = s->ops->open(where, o, &why);
	if (!s->it)
		die_usage("%s: %.*s", str_find(where, '@') < 0 ? spec : s->ops->form, (int)why.n,
			  why.p); /* it may hold a password */
	text_free(&why);
}

void store_close(struct store *s)
{
	if (s->it)
		s->ops->close(s->it);
	s->it = NULL;
}

void store_report_free(struct store_report *r)
{
	text_free(&r->why);
	text_free(&r->refused);
	text_free(&r->refused_why);
	*r = (struct store_report){ 0 };
}

static bool wants_event(const struct store_query *q, struct str event)
{
	for (size_t i = 0; i < q->nevent; i++)
		if (str_glob(q->event[i], event))
			return true;
	return q->nevent == 0;
}

bool store_wants(const struct store_query *q, const struct window *w)
{
	if (q->host.n && !str_eq(q->host, w->host))
		return false;
	if (!wants_event(q, w->event))
		return false;
	for (size_t i = 0; i < q->nlabel; i++) {
		struct str want = q->label[i], key = str_cut(&want, '='), value;

		if (!label_find(w->labels, key, &value) || !str_eq(value, want))
			return false;
	}
	return true;
}

struct http *store_http(struct str url, const struct store_options *o, struct text *why)
{
	struct http_options h = { .cacert = o->cacert,
				  .cert = o->cert,
				  .key = o->key,
				  .auth = o->auth,
				  .insecure_auth = o->insecure_auth,
				  .timeout = (unsigned)o->timeout_s };
	struct text t = { 0 };
	struct http *http;

	text_printf(&t, "%.*s%c", (int)url.n, url.p, 0);
	http = http_open(t.p, &h, why);
	text_free(&t);
	return http;
}
