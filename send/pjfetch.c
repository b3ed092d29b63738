/* SPDX-License-Identifier: Apache-2.0 */
/* pjfetch - get the profile of any stretch of time out of a store. */
#include "common/arena.h"
#include "send/spool/folding.h"
#include "send/gather.h"
#include "send/timearg.h"
#include "common/filter/opt.h"
#include "send/http/secret.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DEFAULT_S 600 /* the last ten minutes, as draw.sh */

struct request {
	const char *store, *dir, *output;
	struct store_options options;
	struct gather gather;
	uint64_t now;
	bool from, to, all_hosts, list, strict, quiet;
};

/* ---- command line -------------------------------------------------------------------------------------------- */

static void parse_time(struct request *r, const char *value, const char *name, uint64_t *to)
{
	if (!timearg_parse(value, r->now, to))
		die_usage("%s: '%s' is no time: seconds since 1970, 2026-11-21T15:04:05, -10m, 'yesterday 06:00'", name,
			  value);
}

static void opt_from(void *to, const char *value, const char *name)
{
	struct request *r = to;

	parse_time(r, value, name, &r->gather.q.from);
	r->from = true;
}

static void opt_to(void *to, const char *value, const char *name)
{
	struct request *r = to;

	parse_time(r, value, name, &r->gather.q.to);
	r->to = true;
}

static void opt_host(void *to, const char *value, const char *name)
{
	struct request *r = to;

	if (!*value)
		die_usage("%s: the name is empty", name);
	r->gather.q.host = str_of(value);
}

static void pjfetch_opt_label(void *to, const char *value, const char *name)
{
	struct store_query *q = &((struct request *)to)->gather.q;

	if (str_find(str_of(value), '=') <= 0)
		die_usage("%s: '%s' is not KEY=VALUE", name, value);
	q->label = mem_more(q->label, sizeof(*q->label), q->nlabel);
	q->label[q->nlabel++] = str_of(value);
}

static void pjfetch_opt_only(void *to, const char *value, const char *name)
{
	struct gather *g = &((struct request *)to)->gather;
	struct str rest = str_of(value);

	while (rest.n) {
		struct str v = str_cut(&rest, ','), key = str_cut(&v, '=');
		struct gather_only o = { ONLY_COMM, v };

		if (v.n == 0)
			die_usage("%s: '%s' is not KEY=VALUE,...", name, value);
		if (str_eq(key, STR("event"))) {
			g->q.event = mem_more(g->q.event, sizeof(*g->q.event), g->q.nevent);
			g->q.event[g->q.nevent++] = v;
			continue;
		}
		if (str_eq(key, STR("pid")))
			o.key = ONLY_PID;
		else if (!str_eq(key, STR("comm")))
			die_usage("%s: '%.*s': comm, pid or event; the rest was chosen when the windows were folded",
				  name, (int)key.n, key.p);
		g->only = mem_more(g->only, sizeof(*g->only), g->nonly);
		g->only[g->nonly++] = o;
	}
}

static void pjfetch_opt_by(void *to, const char *value, const char *name)
{
	struct store_query *q = &((struct request *)to)->gather.q;

	if (strcmp(value, "host") == 0) {
		q->by = BY_HOST;
	} else if (strcmp(value, "time") == 0) {
		q->by = BY_TIME;
	} else if (strncmp(value, "label:", 6) == 0 && value[6]) {
		q->by = BY_LABEL;
		q->by_label = str_of(value + 6);
	} else {
		die_usage("%s=%s: host, time or label:KEY", name, value);
	}
}

static void pjfetch_check(struct request *r)
{
	struct store_query *q = &r->gather.q;

	if (!r->store)
		r->store = getenv("PJ_STORE");
	if (r->all_hosts && q->host.n)
		die_usage("--host and --all-hosts do not go together");
	if (!r->to)
		q->to = r->now + 1; /* a window that begins in this second, too */
	if (!r->from)
		q->from = r->list ? 0 : q->to > DEFAULT_S ? q->to - DEFAULT_S : 0;
	if (q->from >= q->to)
		die_usage("--from is not before --to");
	r->options.reading = true;
}

static void pjfetch_parse(struct request *r, int argc, char **argv)
{
	const struct opt opts[] = {
		{ 's', "store", "STORE", OPT_STR, &r->store, NULL, "where from (PJ_STORE, else dir:DIR/store)" },
		{ 'd', "directory", "DIR", OPT_STR, &r->dir, NULL, "the DIR of pjsend (.)" },
		{ 'f', "from", "TIME", OPT_CALL, r, opt_from,
		  "windows that begin at or after TIME (10 minutes before --to)" },
		{ 't', "to", "TIME", OPT_CALL, r, opt_to, "and before TIME (now)" },
		{ 'H', "host", "NAME", OPT_CALL, r, opt_host, "of this host" },
		{ 'a', "all-hosts", NULL, OPT_FLAG, &r->all_hosts, NULL, "of all hosts (the default)" },
		{ 0, "only", "KEY=VALUE,...", OPT_CALL, r, pjfetch_opt_only, "comm=GLOB, pid=, event=GLOB only" },
		{ 'l', "label", "KEY=VALUE", OPT_CALL, r, pjfetch_opt_label,
		  "windows with this label only; may be repeated" },
		{ 0, "by", "host|time|label:K", OPT_CALL, r, pjfetch_opt_by,
		  "a frame in front of all: host, window, value of a label" },
		{ 0, "list", NULL, OPT_FLAG, &r->list, NULL,
		  "print which windows there are, and the gaps between them" },
		{ 'o', "output", "FILE", OPT_STR, &r->output, NULL,
		  "write to FILE, complete or not at all (standard output)" },
		{ 0, "strict", NULL, OPT_FLAG, &r->strict, NULL,
		  "exit 1 when nothing was recorded for a part of the time" },
		{ 0, "stacks", "URL", OPT_STR, &r->options.stacks_url, NULL,
		  "eve: ask the original pipeline's /stacks/ to sum" },
		STORE_OPTS(&r->options),
		{ 'q', "quiet", NULL, OPT_FLAG, &r->quiet, NULL, "say nothing of gaps" },
	};
	const struct tool tool = {
		.name = "pjfetch",
		.does = "get the profile of any stretch of time out of a store",
		.synopsis = "[options]",
		.example = "example: pjfetch --store=dir:/srv/profiles --from=-1h --host=web1 | pjsvg > hour.svg\n"
			   "         pjfetch --from='yesterday 06:00' --to='yesterday 07:00' --by=host > a\n"
			   "         pjfetch --list",
		.opts = opts,
		.nopts = countof(opts),
	};
	char **operand = opt_parse(&tool, argc, argv);

	if (*operand)
		die_usage("'%s': what is this? Times are --from and --to, a store is --store", *operand);
	pjfetch_check(r);
}

/* -------------------------------------------------------------------------------------------------------------- */

static void pjfetch_query(struct store *s,
			  bool (*how)(void *, const struct store_query *, const struct store_sink *, struct text *),
			  struct gather *g, const struct store_sink *sink)
{
	struct text why = { 0 };

	if (!how(s->it, &g->q, sink, &why)) {
		if (g->why_not[0])
			die("%s", g->why_not);
		die("%s: %.*s", s->spec, (int)why.n, why.p);
	}
	text_free(&why);
}

static void pjfetch_list(struct store *s, struct request *r, struct coverage *c)
{
	/* who fetches hears of what is damaged then */
	const struct store_sink sink = { .window = cover_window, .damaged = r->list ? cover_damaged : NULL, .to = c };

	if (!s->ops->list || !s->ops->fetch)
		die("%s: what was sent there cannot be read back", s->spec);
	if (r->options.stacks_url && !s->ops->sums)
		die_usage("--stacks is the original pipeline's service, for eve: only");
	pjfetch_query(s, s->ops->list, &r->gather, &sink);
}

static void pjfetch_fetch(struct store *s, struct request *r)
{
	const struct store_sink sink = { gather_window, gather_lines, gather_damaged, &r->gather };

	pjfetch_query(s, s->ops->fetch, &r->gather, &sink);
	gather_end(&r->gather);
}

/* Nothing begins in that time; but something that was rolled up may reach into it. */
static void print_none(struct store *s, struct request *r)
{
	const struct store_query *q = &r->gather.q;
	const char *which = q->host.n || q->nlabel || q->nevent ? "that is asked for " : "";
	struct coverage hours = { 0 };
	struct text name = { 0 }, hint = { 0 };
	uint64_t from = q->from;

	r->gather.q.from -= from % 3600;
	pjfetch_list(s, r, &hours);
	r->gather.q.from = from;
	folding_host(&name, q->host);
	if (!str_eq(q->host, text_view(&name)))
		text_printf(&hint, "; pjsend calls that host '%.*s'", (int)name.n, name.p);
	else if (cover_has_hours(&hours))
		text_add(&hint, "; they are rolled up to hours there, which begin when the hour does");
	else if (!r->list && (q->host.n || q->nlabel || q->nevent))
		text_add(&hint, "; --list tells what there is");
	warn("no windows: none %sbegins in that time%.*s", which, (int)hint.n, hint.p);
	text_free(&name);
	text_free(&hint);
	cover_free(&hours);
}

static int pjfetch_finish(struct store *s, struct request *r, const struct coverage *c)
{
	const struct gather *g = &r->gather;
	bool gaps = (r->strict || !r->list) && cover_gaps(c, &g->q, r->now, !r->list && !r->quiet);

	if (c->n == 0 && !g->damaged && !c->damaged)
		print_none(s, r);
	else if (g->nonly && !r->list && stacks_sum(&g->s, 0) == 0)
		warn("no sample is of that comm or pid; pids are there when pjsend was told --pid");
	if (g->damaged + c->damaged > 3)
		warn("%" PRIu64 " windows are damaged", g->damaged + c->damaged);
	if (g->skipped)
		warn("%" PRIu64 " lines are no stacks, and skipped", g->skipped);
	return c->n == 0 || g->damaged || c->damaged || g->skipped || (r->strict && gaps) ? PJ_FAILED : PJ_OK;
}

int main(int argc, char **argv)
{
	static struct request r;
	static struct out o;
	struct store store = { 0 };
	struct coverage cover = { 0 };
	struct text own = { 0 };
	int status;

	diag_tool("pjfetch");
	secret_take_environment();
	r.now = (uint64_t)time(NULL);
	pjfetch_parse(&r, argc, argv);
	if (!r.store) {
		text_printf(&own, "dir:%s/store", r.dir ? r.dir : ".");
		text_char(&own, 0);
		r.store = own.p;
	}
	store_open(&store, r.store, &r.options);
	pjfetch_list(&store, &r, &cover);
	if (!r.list)
		pjfetch_fetch(&store, &r);
	out_open(&o, r.output);
	if (r.list)
		cover_print(&cover, &o);
	else
		folded_write(&o, &r.gather.s, 1, &r.gather.header);
	out_close(&o);
	status = pjfetch_finish(&store, &r, &cover);
	store_close(&store);
	cover_free(&cover);
	gather_free(&r.gather);
	text_free(&own);
	free(r.gather.only);
	free(r.gather.q.label);
	free(r.gather.q.event);
	return status;
}
