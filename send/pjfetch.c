/* SPDX-License-Identifier: Apache-2.0 */
/* pjfetch - get the profile of any time range from a store. */
#include "common/arena.h"
#include "send/spool/folding.h"
#include "send/gather.h"
#include "common/timearg.h"
#include "common/filter/opt.h"
#include "send/http/secret.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* time range in s if --from is not given: ten minutes, like draw.sh of the original pipeline */
#define DEFAULT_S 600
/* time in s since 1970 that is later than any window */
#define LAST_MOMENT UINT64_C(9999999999)

struct request {
	const char *store, *dir, *output;
	struct store_options options;
	struct gather gather;
	uint64_t now;
	bool from, to, all_hosts, list, each, strict, quiet; /* true if the option of that name is given */
};

/* ---- command line ---------------------------------------------------------------------------------------------- */

static void parse_time(struct request *request, const char *value, const char *name, uint64_t *to)
{
	if (!timearg_parse(value, request->now, to))
		die_usage("%s: '%s' is not a time: seconds since 1970, 2026-11-21T15:04:05, -10m, 'yesterday 06:00'",
			  name, value);
}

static void opt_from(void *to, const char *value, const char *name)
{
	struct request *request = to;

	parse_time(request, value, name, &request->gather.q.from);
	request->from = true;
}

static void opt_to(void *to, const char *value, const char *name)
{
	struct request *request = to;

	parse_time(request, value, name, &request->gather.q.to);
	request->to = true;
}

static void opt_host(void *to, const char *value, const char *name)
{
	struct request *request = to;

	if (!*value)
		die_usage("%s: the name is empty", name);
	request->gather.q.host = str_of(value);
}

static void pjfetch_opt_label(void *to, const char *value, const char *name)
{
	struct store_query *query = &((struct request *)to)->gather.q;

	if (str_find(str_of(value), '=') <= 0)
		die_usage("%s: '%s' is not KEY=VALUE", name, value);
	query->label = mem_more(query->label, sizeof(*query->label), query->nlabel);
	query->label[query->nlabel++] = str_of(value);
}

static void pjfetch_opt_only(void *to, const char *value, const char *name)
{
	struct gather *gather = &((struct request *)to)->gather;
	struct str rest = str_of(value);

	while (rest.n) {
		struct str string = str_cut(&rest, ','), key = str_cut(&string, '=');
		struct gather_only only = { ONLY_COMM, string };

		if (string.n == 0)
			die_usage("%s: '%s' is not KEY=VALUE,...", name, value);
		if (str_eq(key, STR("event"))) {
			gather->q.event = mem_more(gather->q.event, sizeof(*gather->q.event), gather->q.nevent);
			gather->q.event[gather->q.nevent++] = string;
			continue;
		}
		if (str_eq(key, STR("pid")))
			only.key = ONLY_PID;
		else if (!str_eq(key, STR("comm")))
			die_usage(
				"%s: '%.*s': use comm, pid or event; other selections are made when windows are folded",
				name, (int)key.n, key.p);
		gather->only = mem_more(gather->only, sizeof(*gather->only), gather->nonly);
		gather->only[gather->nonly++] = only;
	}
}

static void pjfetch_opt_by(void *to, const char *value, const char *name)
{
	struct store_query *query = &((struct request *)to)->gather.q;

	if (strcmp(value, "host") == 0) {
		query->by = BY_HOST;
	} else if (strcmp(value, "time") == 0) {
		query->by = BY_TIME;
	} else if (strncmp(value, "label:", 6) == 0 && value[6]) {
		query->by = BY_LABEL;
		query->by_label = str_of(value + 6);
	} else {
		opt_choice(value, name, "host|time|label:KEY"); /* no valid value: exits with a usage message */
	}
}

static void pjfetch_check(struct request *request)
{
	struct store_query *query = &request->gather.q;

	if (!request->store)
		request->store = getenv("PJ_STORE");
	if (request->all_hosts && query->host.n)
		die_usage("--host and --all-hosts exclude each other");
	if (!request->to)
		/* `to` is exclusive; + 1 includes a window that begins in this second */
		query->to = request->now + 1;
	if (!request->from)
		query->from = request->list ? 0 : query->to > DEFAULT_S ? query->to - DEFAULT_S : 0;
	if (query->from >= query->to)
		die_usage("--from is not before --to");
	request->options.reading = true;
	if (!request->each)
		return;
	if (!request->output || strcmp(request->output, "-") == 0)
		die_usage("--each writes several files: add --output=DIR");
	if (request->list || query->by != BY_ALL || request->options.stacks_url)
		die_usage("--each excludes --list, --by and --stacks");
	query->by = BY_TIME;
	request->gather.plain = true;
}

static void pjfetch_parse(struct request *request, int argc, char **argv)
{
	const struct opt opts[] = {
		OPT_GROUP("Store"),
		{ 's', "store", "STORE", OPT_STR, &request->store, NULL,
		  "store to read (PJ_STORE, else dir:DIR/store)" },
		{ 'd', "directory", "DIR", OPT_STR, &request->dir, NULL, "DIR of pjsend (.)" },
		{ 0, "dir", "DIR", OPT_STR, &request->dir, NULL, NULL },
		{ 0, "stacks", "URL", OPT_STR, &request->options.stacks_url, NULL,
		  "eve: let this service (/stacks/) compute the sum" },
		OPT_GROUP("Selection of windows"),
		{ 'f', "from", "TIME", OPT_CALL, request, opt_from,
		  "windows that start at or after TIME (10 minutes before --to)" },
		{ 't', "to", "TIME", OPT_CALL, request, opt_to, "windows that start before TIME (now)" },
		{ 'H', "host", "NAME", OPT_CALL, request, opt_host, "windows of this host" },
		{ 'a', "all-hosts", NULL, OPT_FLAG, &request->all_hosts, NULL, "windows of all hosts (the default)" },
		{ 0, "only", "KEY=VALUE,...", OPT_CALL, request, pjfetch_opt_only,
		  "only samples of comm=GLOB, pid=, event=GLOB" },
		{ 'l', "label", "KEY=VALUE", OPT_CALL, request, pjfetch_opt_label,
		  "windows with this label; may be repeated" },
		OPT_GROUP("Output"),
		{ 0, "by", "host|time|label:KEY", OPT_CALL, request, pjfetch_opt_by,
		  "add a first frame: host, window, value of a label" },
		{ 0, "list", NULL, OPT_FLAG, &request->list, NULL, "list the windows and the gaps between them" },
		{ 0, "each", NULL, OPT_FLAG, &request->each, NULL,
		  "write each window to a file of its own in the new directory --output" },
		{ 'o', "output", "FILE", OPT_STR, &request->output, NULL,
		  "write to FILE, complete or not at all (standard output)" },
		{ 0, "strict", NULL, OPT_FLAG, &request->strict, NULL,
		  "exit 1 if nothing was recorded for a part of the time" },
		{ 'q', "quiet", NULL, OPT_FLAG, &request->quiet, NULL, "do not report gaps" },
		OPT_GROUP("Connection"),
		STORE_OPTS(&request->options),
	};
	const struct tool tool = {
		.name = "pjfetch",
		.does = "get the profile of any time range from a store",
		.synopsis = "[options]",
		.example = "example: pjfetch --store=dir:/srv/profiles --from=-1h --host=web1 | pjsvg > hour.svg\n"
			   "         pjfetch --from='yesterday 06:00' --to='yesterday 07:00' --by=host > a\n"
			   "         pjfetch --list",
		.opts = opts,
		.nopts = countof(opts),
		.libraries = LIBRARY_ZLIB | LIBRARY_ZSTD | LIBRARY_CURL | LIBRARY_JANSSON,
		.print_values = store_print_values,
	};
	char **operand = opt_parse(&tool, argc, argv);

	if (*operand)
		die_usage("unexpected operand '%s': give times by --from and --to, a store by --store", *operand);
	pjfetch_check(request);
}

/* ---- querying the store, and output ------------------------------------------------------------------------------ */

static void pjfetch_query(struct store *store,
			  bool (*how)(void *, const struct store_query *, const struct store_sink *, struct text *),
			  struct gather *gather, const struct store_sink *sink)
{
	struct text why = { 0 };

	if (!how(store->it, &gather->q, sink, &why)) {
		if (gather->why_not[0])
			die("%s", gather->why_not);
		die("%s: %.*s", store->spec, (int)why.n, why.p);
	}
	text_free(&why);
}

static void pjfetch_list(struct store *store, struct request *request, struct coverage *coverage)
{
	/* With --list this sink reports damaged windows; otherwise the sink of pjfetch_fetch does. */
	const struct store_sink sink = { .window = cover_window,
					 .damaged = request->list ? cover_damaged : NULL,
					 .to = coverage };

	if (!store->ops->list || !store->ops->fetch)
		die("%s: this store is write-only", store->spec);
	if (request->options.stacks_url && !store->ops->sums)
		die_usage("--stacks is for eve: stores only");
	pjfetch_query(store, store->ops->list, &request->gather, &sink);
}

static void pjfetch_fetch(struct store *store, struct request *request)
{
	const struct store_sink sink = { gather_window, gather_lines, gather_damaged, &request->gather };

	pjfetch_query(store, store->ops->fetch, &request->gather, &sink);
	gather_end(&request->gather);
}

/* Writes each window to a file of its own in a new directory. */
static void pjfetch_each(struct store *store, struct request *request)
{
	struct each each = { .dir = request->output, .gather = &request->gather };
	const struct store_sink sink = { each_window, each_lines, each_damaged, &each };

	if (mkdir(request->output, 0777) < 0)
		die_errno("cannot create the directory '%s'", request->output);
	pjfetch_query(store, store->ops->fetch, &request->gather, &sink);
	each_end(&each);
}

/* Writes the output: the list of windows with --list, else the sum of the windows. */
static void pjfetch_write(struct request *request, const struct coverage *coverage)
{
	static struct out out;

	out_open(&out, request->output);
	if (request->list)
		cover_print(coverage, &out);
	else
		folded_write(&out, &request->gather.s, 1, &request->gather.header);
	out_close(&out);
}

/* Appends to a message the times of the first and the last window that match the query's filters, whatever their time.
 * Appends nothing for eve: stores, which need a request for each window. */
static void append_span(struct store *store, struct request *request, struct text *to)
{
	struct store_query *query = &request->gather.q, selection = *query;
	struct coverage all = { 0 };
	uint64_t first, last;
	char text[2][32];

	if (store->ops->sums)
		return;
	query->from = 0;
	query->to = LAST_MOMENT;
	pjfetch_list(store, request, &all);
	*query = selection;
	if (cover_span(&all, &first, &last)) {
		timearg_local_text(text[0], first);
		timearg_local_text(text[1], last);
		text_printf(to, "; the first starts at %s, the last at %s", text[0], text[1]);
	}
	cover_free(&all);
}

/* Warns that no window starts in the query's time range, and adds a hint: an hour's roll-up that starts before the
 * range, a wrong host name, or the times of existing windows. */
static void print_none(struct store *store, struct request *request)
{
	const struct store_query *query = &request->gather.q;
	const char *which = query->host.n || query->nlabel || query->nevent ? "of the selection " : "";
	struct coverage hours = { 0 };
	struct text name = { 0 }, hint = { 0 };
	uint64_t from = query->from;

	request->gather.q.from -= from % 3600;
	pjfetch_list(store, request, &hours);
	request->gather.q.from = from;
	append_span(store, request, &hint);
	folding_host(&name, query->host);
	if (!str_eq(query->host, text_view(&name)))
		text_printf(&hint, "; pjsend names that host '%.*s'", (int)name.n, name.p);
	else if (cover_has_hours(&hours))
		text_add(&hint, "; they are rolled up to hours there, which start at the full hour");
	else if (!request->list && (query->host.n || query->nlabel || query->nevent))
		text_add(&hint, "; --list lists all windows");
	warn("no windows: none %sstarts in that time%.*s", which, (int)hint.n, hint.p);
	text_free(&name);
	text_free(&hint);
	cover_free(&hours);
}

static int pjfetch_finish(struct store *store, struct request *request, const struct coverage *coverage)
{
	const struct gather *gather = &request->gather;
	bool gaps = (request->strict || !request->list) &&
		    cover_gaps(coverage, &gather->q, request->now, !request->list && !request->quiet);

	if (coverage->n == 0 && !gather->damaged && !coverage->damaged)
		print_none(store, request);
	else if (gather->nonly && !request->list && !request->each && stacks_sum(&gather->s, 0) == 0)
		warn("no sample of that comm or pid; windows have pids only with pjsend --pid");
	if (gather->damaged + coverage->damaged > 3)
		warn("%" PRIu64 " windows are damaged", gather->damaged + coverage->damaged);
	if (gather->skipped)
		warn("%" PRIu64 " lines are not stacks and were skipped", gather->skipped);
	return coverage->n == 0 || gather->damaged || coverage->damaged || gather->skipped ||
			       (request->strict && gaps) ?
		       PJ_FAILED :
		       PJ_OK;
}

/* Returns the spec of the store that pjsend fills by default, dir:DIR/store. Exits with a message if DIR exists but has
 * no store yet. */
static struct text default_store(const char *dir)
{
	struct text store = { 0 };

	text_printf(&store, "dir:%s/store", dir);
	text_char(&store, 0);
	if (access(dir, F_OK) == 0 && access(store.p + STR("dir:").n, F_OK) != 0 && errno == ENOENT)
		die("nothing was sent from '%s' yet: pjsend --once -d %s sends its windows to %s/store", dir, dir, dir);
	return store;
}

int main(int argc, char **argv)
{
	static struct request request;
	struct store store = { 0 };
	struct coverage cover = { 0 };
	struct text own = { 0 };
	int status;

	diag_tool("pjfetch");
	secret_take_environment();
	request.now = (uint64_t)time(NULL);
	pjfetch_parse(&request, argc, argv);
	if (!request.store) {
		own = default_store(request.dir ? request.dir : ".");
		request.store = own.p;
	}
	store_open(&store, request.store, &request.options);
	pjfetch_list(&store, &request, &cover);
	if (request.each) {
		pjfetch_each(&store, &request);
	} else {
		if (!request.list)
			pjfetch_fetch(&store, &request);
		pjfetch_write(&request, &cover);
	}
	status = pjfetch_finish(&store, &request, &cover);
	store_close(&store);
	cover_free(&cover);
	gather_free(&request.gather);
	text_free(&own);
	free(request.gather.only);
	free(request.gather.q.label);
	free(request.gather.q.event);
	return status;
}
