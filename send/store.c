/* SPDX-License-Identifier: Apache-2.0 */
#include "send/store.h"

#include "common/diag.h"
#include "common/similar.h"
#include "send/http/http.h"
#include "send/stores.h"

const struct store_ops *const store_list[] = { &store_dir,    &store_eve,       &store_couch, &store_clickhouse,
					       &store_ndjson, &store_pyroscope, NULL };

const struct store_ops *store_ops_of(const char *spec, struct str *where)
{
	struct str rest = str_of(spec), scheme;
	struct similar similar;

	for (size_t i = 0; store_list[i]; i++)
		if (str_eq(rest, str_of(store_list[i]->scheme)))
			die_usage("store '%s' lacks its place: %s:URL or PATH; ./%s is a directory", spec, spec, spec);
	if (str_find(rest, ':') < 0 || rest.p[0] == '/' || rest.p[0] == '.') {
		*where = rest;
		return &store_dir;
	}
	scheme = str_cut(&rest, ':');
	*where = rest;
	similar = similar_to(scheme);
	for (size_t i = 0; store_list[i]; i++)
		if (str_eq(scheme, str_of(store_list[i]->scheme)))
			return store_list[i];
	for (size_t i = 0; store_list[i]; i++)
		similar_offer(&similar, str_of(store_list[i]->scheme));
	if (similar.found.n)
		die_usage("unknown store '%.*s:': did you mean %.*s:?", (int)scheme.n, scheme.p, (int)similar.found.n,
			  similar.found.p);
	die_usage("unknown store '%.*s:': use dir:PATH, eve:URL, couch:URL, clickhouse:URL, ndjson:FILE or "
		  "pyroscope:URL",
		  (int)scheme.n, scheme.p);
}

void store_print_values(struct out *out, const char *option)
{
	for (size_t i = 0; strcmp(option, "store") == 0 && store_list[i]; i++)
		out_printf(out, "%s:\n", store_list[i]->scheme);
}

void store_open(struct store *store, const char *spec, const struct store_options *options)
{
	struct text why = { 0 };
	struct str where;

	store->spec = spec;
	store->ops = store_ops_of(spec, &where);
	if (where.n == 0)
		die_usage("'%s' has no place: %s", spec, store->ops->form);
	store->it = store->ops->open(where, options, &why);
	/* A URL with '@' may contain a password, so the message then shows the form of a spec instead of the spec. */
	if (!store->it)
		die_usage("%s: %.*s", str_find(where, '@') < 0 ? spec : store->ops->form, (int)why.n, why.p);
	text_free(&why);
}

void store_close(struct store *store)
{
	if (store->it)
		store->ops->close(store->it);
	store->it = NULL;
}

void store_report_free(struct store_report *report)
{
	text_free(&report->why);
	text_free(&report->refused);
	text_free(&report->refused_why);
	*report = (struct store_report){ 0 };
}

static bool wants_event(const struct store_query *query, struct str event)
{
	for (size_t i = 0; i < query->nevent; i++)
		if (str_glob(query->event[i], event))
			return true;
	return query->nevent == 0;
}

bool store_wants(const struct store_query *query, const struct window *window)
{
	if (query->host.n && !str_eq(query->host, window->host))
		return false;
	if (!wants_event(query, window->event))
		return false;
	for (size_t i = 0; i < query->nlabel; i++) {
		struct str want = query->label[i], key = str_cut(&want, '='), value;

		if (!label_find(window->labels, key, &value) || !str_eq(value, want))
			return false;
	}
	return true;
}

struct http *store_http(struct str url, const struct store_options *options, struct text *why)
{
	struct http_options h = { .cacert = options->cacert,
				  .cert = options->cert,
				  .key = options->key,
				  .auth = options->auth,
				  .insecure_auth = options->insecure_auth,
				  .timeout = (unsigned)options->timeout_s };
	struct text text = { 0 };
	struct http *http;

	text_printf(&text, "%.*s%c", (int)url.n, url.p, 0);
	http = http_open(text.p, &h, why);
	text_free(&text);
	return http;
}
