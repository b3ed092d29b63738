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

/* Options of the command line and the operands after them. */
struct ship {
	struct store_options options;
	struct store_query query;
	struct str event, label; /* of the query */
	bool fetch, list;
};

/* Sets what the query sums by: host, time or label:KEY. */
static void query_by(struct store_query *query, struct str by)
{
	query->by = str_eq(by, STR("host")) ? BY_HOST : str_eq(by, STR("time")) ? BY_TIME : BY_LABEL;
	if (query->by == BY_LABEL)
		query->by_label = str_from(by, 6);
}

/* Takes an option of the query. Returns false if it is none. */
static bool query_option(struct ship *ship, const char *name, const char *value)
{
	if (strcmp(name, "--host") == 0) {
		ship->query.host = str_of(value);
	} else if (strcmp(name, "--event") == 0) {
		ship->event = str_of(value);
		ship->query.event = &ship->event;
		ship->query.nevent = 1;
	} else if (strcmp(name, "--label") == 0) {
		ship->label = str_of(value);
		ship->query.label = &ship->label;
		ship->query.nlabel = 1;
	} else if (strcmp(name, "--by") == 0) {
		query_by(&ship->query, str_of(value));
	} else {
		return false;
	}
	return true;
}

/* Takes an option of the access to a store. Returns false if it is none. */
static bool store_option(struct store_options *options, const char *name, const char *value)
{
	if (strcmp(name, "--tries") == 0)
		tries = (unsigned)strtoul(value, NULL, 10);
	else if (strcmp(name, "--doubts") == 0)
		retries = (unsigned)strtoul(value, NULL, 10);
	else if (strcmp(name, "--timeout") == 0)
		options->timeout_s = strtoul(value, NULL, 10);
	else if (strcmp(name, "--auth") == 0)
		options->auth = value;
	else if (strcmp(name, "--cacert") == 0)
		options->cacert = value;
	else if (strcmp(name, "--cert") == 0)
		options->cert = value;
	else if (strcmp(name, "--key") == 0)
		options->key = value;
	else if (strcmp(name, "--stacks") == 0)
		options->stacks_url = value;
	else
		return false;
	return true;
}

/* Parses the options. Returns the index of the first operand. --schema STORE prints a schema and ends the process. */
static int parse_options(struct ship *ship, int argc, char **argv)
{
	struct str rest;
	int i;

	for (i = 1; i < argc && argv[i][0] == '-'; i++) {
		const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";

		if (strcmp(name, "--schema") == 0) {
			fputs(store_ops_of(value, &rest)->schema(), stdout);
			exit(PJ_OK);
		}
		if (strcmp(name, "--verify") == 0) {
			ship->options.verify = true;
			continue;
		}
		i++;
		if (store_option(&ship->options, name, value) || query_option(ship, name, value))
			continue;
		if (strcmp(name, "--fetch") != 0 && strcmp(name, "--list") != 0)
			die_usage("unknown option %s", name);
		ship->fetch = name[2] == 'f';
		ship->list = !ship->fetch;
		ship->query.from = strtoul(value, NULL, 10);
		ship->query.to = i + 1 < argc ? strtoul(argv[++i], NULL, 10) : 0;
	}
	return i;
}

/* Prints the windows of the query, or lists them. Returns false if the store failed. */
static bool read_back(struct ship *ship, struct store *store)
{
	struct store_sink sink = { ship->list ? reported : header, lines, damaged, NULL };
	struct text why = { 0 };
	bool good;

	if (!(ship->fetch ? store->ops->fetch : store->ops->list))
		die("%s cannot be read back", store->spec);
	good = (ship->fetch ? store->ops->fetch : store->ops->list)(store->it, &ship->query, &sink, &why);
	if (!good)
		warn("%s: %.*s", store->spec, (int)why.n, why.p);
	text_free(&why);
	return good;
}

/* Sends the windows of a file. Returns false if the store did not accept all. */
static bool send_file(struct store *store, const char *path)
{
	struct text file = { 0 }, space = { 0 };
	struct str rest;
	bool good = true;

	if (!fullio_read_at(AT_FDCWD, path, &file, (size_t)1 << 30))
		die_errno("cannot read %s", path);
	for (rest = text_view(&file); rest.n;) {
		struct window window;
		const char *wrong = window_parse(&rest, &space, &window);

		if (wrong)
			die("%s: %s", path, wrong);
		if (send_one(store, &window) != STORE_SENT)
			good = false;
	}
	text_free(&file);
	text_free(&space);
	return good;
}

int main(int argc, char **argv)
{
	static struct ship ship;
	struct store store = { 0 };
	bool good = true;
	int i;

	diag_tool("ship");
	i = parse_options(&ship, argc, argv);
	if (i >= argc)
		die_usage("the operand STORE is missing");
	store_open(&store, argv[i++], &ship.options);
	if (ship.fetch || ship.list)
		good = read_back(&ship, &store);
	for (; i < argc; i++)
		good = send_file(&store, argv[i]) && good;
	store_close(&store);
	return good ? PJ_OK : PJ_FAILED;
}
