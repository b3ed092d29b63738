/*
 * ship - sends windows through a store as pjsend does, but at once: what fails is tried again without waiting, so that
 * tests of a store and what may go wrong with it take no longer than the store.
 *
 * ship [--tries N] [--doubts N] [--timeout S] [--auth F] [--cacert F] [--verify] STORE FILE...   what became of each
 * window, a line each ship --fetch FROM TO [--host H] [--by host|time|label:K] [--label k=v] [--event E] [--stacks URL]
 * STORE ship --list FROM TO STORE ship --schema STORE
 */
#include "send/store.h"

#include "common/arena.h"
#include "common/diag.h"
#include "common/files/fullio.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *const verdicts[] = { "sent", "later", "doubt", "hold", "refused" };

static unsigned tries = 1, retries = 3;

static enum store_verdict send_one(struct store *store, const struct window *window)
{
	struct store_report r = { 0 };
	uint64_t resume = 0, known = 0, requests = 0, documents = 0;
	unsigned doubted = 0, tried = 0;
	enum store_verdict verdict;
	bool differs = false;

	do {
		store_report_free(&r);
		store->ops->send(store->it, window, &resume, doubted >= retries, &r);
		verdict = r.verdict;
		doubted += verdict == STORE_INDETERMINATE;
		known += r.known;
		documents += r.documents;
		requests += r.requests;
		differs |= r.differs;
		for (struct str lines = text_view(&r.refused); lines.n;) {
			struct str line = str_cut(&lines, '\n');

			printf("refused: %.*s\n", (int)line.n, line.p);
		}
	} while (++tried < tries && (verdict == STORE_LATER || verdict == STORE_INDETERMINATE));
	printf("%" PRIu64 " %s documents=%" PRIu64 " known=%" PRIu64 " requests=%" PRIu64 "%s after=%" PRIu64
	       "%s%.*s\n",
	       window->epoch, verdicts[verdict], documents, known, requests, differs ? " DIFFERS" : "", r.after,
	       r.why.n ? " why=" : "", (int)r.why.n, r.why.n ? r.why.p : "");
	fflush(stdout);
	store_report_free(&r);
	return verdict;
}

static bool reported(void *to, const struct window *window)
{
	printf("%.*s %" PRIu64 " %" PRIu64 " event=%.*s unit=%.*s labels=%.*s samples=%" PRIu64 " lost=%" PRIu64
	       " parts=%" PRIu64 "\n",
	       (int)window->host.n, window->host.p, window->epoch, window->until, (int)window->event.n, window->event.p,
	       (int)window->unit.n, window->unit.p, (int)window->labels.n, window->labels.p, window->samples,
	       window->lost, window->parts);
	return !to || *(bool *)to;
}

static bool header(void *to, const struct window *window)
{
	printf("# ");
	return reported(to, window);
}

static bool lines(void *to, struct str string)
{
	(void)to;
	return fwrite(string.p, 1, string.n, stdout) == string.n;
}

static void damaged(void *to, struct str place, const char *why)
{
	(void)to;
	warn("%.*s: %s", (int)place.n, place.p, why);
}

int main(int argc, char **argv)
{
	struct store s = { 0 };
	struct store_options o = { 0 };
	struct store_query q = { 0 };
	struct text file = { 0 }, space = { 0 }, why = { 0 };
	struct str event, label;
	bool fetch = false, list = false, good = true;
	int i;

	diag_tool("ship");
	for (i = 1; i < argc && argv[i][0] == '-'; i++) {
		const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";
		struct str by;

		if (strcmp(name, "--schema") == 0) {
			fputs(store_ops_of(value, &label)->schema(), stdout);
			return PJ_OK;
		}
		if (strcmp(name, "--verify") == 0) {
			o.verify = true;
			continue;
		}
		i++;
		if (strcmp(name, "--tries") == 0)
			tries = (unsigned)strtoul(value, NULL, 10);
		else if (strcmp(name, "--doubts") == 0)
			retries = (unsigned)strtoul(value, NULL, 10);
		else if (strcmp(name, "--timeout") == 0)
			o.timeout_s = strtoul(value, NULL, 10);
		else if (strcmp(name, "--auth") == 0)
			o.auth = value;
		else if (strcmp(name, "--cacert") == 0)
			o.cacert = value;
		else if (strcmp(name, "--cert") == 0)
			o.cert = value;
		else if (strcmp(name, "--key") == 0)
			o.key = value;
		else if (strcmp(name, "--stacks") == 0)
			o.stacks_url = value;
		else if (strcmp(name, "--host") == 0)
			q.host = str_of(value);
		else if (strcmp(name, "--event") == 0) {
			event = str_of(value);
			q.event = &event;
			q.nevent = 1;
		} else if (strcmp(name, "--label") == 0) {
			label = str_of(value);
			q.label = &label;
			q.nlabel = 1;
		} else if (strcmp(name, "--by") == 0) {
			by = str_of(value);
			q.by = str_eq(by, STR("host")) ? BY_HOST : str_eq(by, STR("time")) ? BY_TIME : BY_LABEL;
			if (q.by == BY_LABEL)
				q.by_label = str_from(by, 6);
		} else if (strcmp(name, "--fetch") == 0 || strcmp(name, "--list") == 0) {
			fetch = name[2] == 'f';
			list = !fetch;
			q.from = strtoul(value, NULL, 10);
			q.to = i + 1 < argc ? strtoul(argv[++i], NULL, 10) : 0;
		} else {
			die_usage("what is %s", name);
		}
	}
	if (i >= argc)
		die_usage("which store?");
	store_open(&s, argv[i++], &o);
	if (fetch || list) {
		struct store_sink sink = { list ? reported : header, lines, damaged, NULL };

		if (!(fetch ? s.ops->fetch : s.ops->list))
			die("%s cannot be read back", s.spec);
		good = (fetch ? s.ops->fetch : s.ops->list)(s.it, &q, &sink, &why);
		if (!good)
			warn("%s: %.*s", s.spec, (int)why.n, why.p);
	}
	for (; i < argc; i++) {
		struct str rest;

		file.n = 0;
		if (!fullio_read_at(AT_FDCWD, argv[i], &file, (size_t)1 << 30))
			die_errno("cannot read %s", argv[i]);
		for (rest = text_view(&file); rest.n;) {
			struct window w;
			const char *wrong = window_parse(&rest, &space, &w);

			if (wrong)
				die("%s: %s", argv[i], wrong);
			if (send_one(&s, &w) != STORE_SENT)
				good = false;
		}
	}
	store_close(&s);
	text_free(&file);
	text_free(&space);
	text_free(&why);
	return good ? PJ_OK : PJ_FAILED;
}
