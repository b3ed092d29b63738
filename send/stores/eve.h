/* SPDX-License-Identifier: Apache-2.0 */
/*
 * eve.h - internal interface of the eve: store, with its state and its queries.
 *
 * eve.c sends windows and finds those that the server already has, everead.c reads windows.
 */
#ifndef PJ_EVE_H
#define PJ_EVE_H

#include "send/http/json.h"
#include "send/stores/batches.h"

/* An open store eve:. */
struct eve {
	/* http: the store's server; stacks: service that sums stacks (options.stacks_url), NULL if there is none */
	struct http *http, *stacks;
	struct batches batches;
	bool verify;
	/* why: reason of the last failure; path: buffer for the path of a request */
	struct text why, path;
};

/* Runs a query. Repeats it at once if the connection breaks, as that does not indicate overload: at most four attempts
 * in all. */
struct http_reply eve_query(struct http *http, const char *method, struct str path, struct text *why);

/* Queries the documents that match the JSON condition `where`; rest: more parameters of the URL. Returns the parsed
 * response and sets *total to the number of all matches (UINT64_MAX: unknown). Returns NULL on failure, with the class
 * in *class and the reason in eve->why. */
struct jv *eve_request(struct eve *eve, struct str where, const char *rest, enum http_class *class, uint64_t *total);

/* The functions `fetch` and `list` of store_eve (struct store_ops). */
bool eve_fetch(void *store, const struct store_query *query, const struct store_sink *sink, struct text *why);
bool eve_list(void *store, const struct store_query *query, const struct store_sink *sink, struct text *why);

#endif
