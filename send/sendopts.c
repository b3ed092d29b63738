/* SPDX-License-Identifier: Apache-2.0 */
#include "send/sendopts.h"

#include "common/arena.h"
#include "common/timearg.h"
#include "common/filter/opt.h"

#include <stdlib.h>
#include <time.h>

/* Parses an option's value as a size in bytes: "500M", "2G" or a plain number. `to` points to a uint64_t. Exits with a
 * usage message if the value is invalid. */
static void opt_size(void *to, const char *value, const char *name)
{
	static const struct {
		char letter;
		unsigned shift;
	} units[] = { { 'K', 10 }, { 'M', 20 }, { 'G', 30 }, { 'T', 40 } };
	struct str string = str_of(value);
	unsigned shift = 0;
	uint64_t n;

	for (size_t i = 0; i < countof(units); i++)
		if (string.n && string.p[string.n - 1] == units[i].letter) {
			shift = units[i].shift;
			string.n--;
			break;
		}
	if (!str_u64(string, &n) || n > UINT64_MAX >> shift >> 1)
		die_usage("%s: '%s' is not a size such as 500M or 2G", name, value);
	*(uint64_t *)to = n << shift;
}

static void opt_percent(void *to, const char *value, const char *name)
{
	double d;

	if (!opt_number(&value, 100, &d) || *value)
		die_usage("%s: '%s' is not a percentage such as 5%%", name, value);
	*(double *)to = d / 100;
}

#define KEEPS "raw|spool"

static void opt_keep(void *to, const char *value, const char *name)
{
	((struct request *)to)->keep_spool = opt_choice(value, name, KEEPS) == 1;
}

static bool good_key(struct str key)
{
	for (size_t i = 0; i < key.n; i++) {
		char byte = key.p[i];

		if (!((byte | 32) >= 'a' && (byte | 32) <= 'z') &&
		    !(i && (byte_is_digit(byte) || byte == '.' || byte == '-')) && byte != '_')
			return false;
	}
	return key.n > 0;
}

/* Inserts the label of an option --label into the list, which is sorted by key. Labels are part of the stream's
 * identity, which therefore does not depend on the order of options. */
static void sendopts_opt_label(void *to, const char *value, const char *name)
{
	struct request *request = to;
	struct str string = str_of(value), key = str_cut(&string, '='), rest = text_view(&request->labels), k, old;
	struct text all = { 0 };
	bool placed = false;

	if (!good_key(key) || string.n == 0)
		die_usage("%s: '%s' is not KEY=VALUE; a key is letters, digits, '_', '.', '-'", name, value);
	for (size_t i = 0; i < string.n; i++)
		if (string.p[i] == ',' || (unsigned char)string.p[i] < ' ' || string.p[i] == 0x7F)
			die_usage("%s: a value cannot contain ',' or control bytes", name);
	while (label_next(&rest, &k, &old)) {
		if (str_eq(k, key))
			die_usage("%s: '%.*s' is given twice", name, (int)key.n, key.p);
		if (!placed && str_cmp(key, k) < 0) {
			text_printf(&all, "%s,", value);
			placed = true;
		}
		text_printf(&all, "%.*s=%.*s,", (int)k.n, k.p, (int)old.n, old.p);
	}
	if (!placed)
		text_printf(&all, "%s,", value);
	all.n--;
	text_free(&request->labels);
	request->labels = all;
}

static void sendopts_opt_time(void *to, const char *value, const char *name)
{
	struct request *request = to;

	if (!timearg_parse(value, (uint64_t)time(NULL), &request->time))
		die_usage("%s: '%s' is not a time: seconds since 1970, 2026-11-21T15:04:05, -10m, 'yesterday 06:00'",
			  name, value);
}

static void opt_fold(void *to, const char *value, const char *name)
{
	struct request *request = to;

	if (request->noptions + 1 >= countof(request->option))
		die_usage("%s: too many", name);
	request->option[request->noptions++] = value;
}

static void sendopts_operands(struct request *request, char **operand)
{
	for (; *operand; operand++) {
		const char *value = *operand;
		uint64_t ns;

		if (strcmp(value, "-") == 0 && !request->pipe)
			request->pipe = true;
		else if (request->interval <= 0 && opt_is_duration(str_of(value), &ns) && ns > 0 &&
			 ns <= 86400 * SECOND_NS)
			request->interval = (double)ns / 1e9;
		else if (!request->dir)
			request->dir = *operand;
		else
			die_usage("'%s': give one DIR", *operand);
	}
}

static void sendopts_check(struct request *request)
{
	if (request->once && request->interval > 0)
		die_usage("--once and -i exclude each other");
	if (request->pipe && !request->time)
		die_usage("-: a pipe needs --time, the start of the recording");
	if (!request->pipe && (request->time || request->seconds))
		die_usage("--time and --seconds need a pipe: -");
	if (request->pipe && !request->store)
		die_usage("-: a pipe needs --store");
	if (!request->dir && !request->pipe)
		request->dir = ".";
	if (request->interval <= 0)
		request->interval = 1;
}

/* ---- the table of options --------------------------------------------------------------------------------------- */

static void sendopts_add_operation(struct opt_table *table, struct request *request)
{
	const struct opt rows[] = {
		OPT_GROUP("Operation"),
		{ 's', "store", "STORE", OPT_STR, &request->store, NULL,
		  "store to write (PJ_STORE, else dir:DIR/store)" },
		{ 'd', "directory", "DIR", OPT_STR, &request->dir, NULL, "pjrecord's directory (.)" },
		{ 0, "dir", "DIR", OPT_STR, &request->dir, NULL, NULL },
		{ '1', "once", NULL, OPT_FLAG, &request->once, NULL, "try each window once, and exit: for cron" },
		{ 'i', "interval", "SECONDS", OPT_SECONDS, &request->interval, NULL,
		  "look for new windows every SECONDS (1)" },
		{ 0, "verify", NULL, OPT_FLAG, &request->options.verify, NULL,
		  "query the store before a window is deleted here" },
		{ 0, "schema", NULL, OPT_FLAG, &request->schema, NULL,
		  "print the statements that set up the store's server" },
		{ 'q', "quiet", NULL, OPT_FLAG, &request->quiet, NULL, "print errors only" },
	};

	opt_table_add(table, rows, countof(rows));
}

static void sendopts_add_windows(struct opt_table *table, struct request *request)
{
	const struct opt rows[] = {
		OPT_GROUP("Windows"),
		{ 'l', "label", "KEY=VALUE", OPT_CALL, request, sendopts_opt_label,
		  "add a label to every window; may be repeated" },
		{ 0, "host", "NAME", OPT_STR, &request->host, NULL, "host name (that of the recording)" },
		{ 0, "pid", NULL, OPT_FLAG, &request->pids, NULL, "first frames are comm-PID (eve: always)" },
		{ 0, "fold", "OPTION", OPT_CALL, request, opt_fold, "pass this option to pjfold; may be repeated" },
		{ 0, "time", "TIME", OPT_CALL, request, sendopts_opt_time, "with a pipe (-): its start time" },
		{ 0, "seconds", "N", OPT_U64, &request->seconds, NULL,
		  "with a pipe: its duration (that of its header, else 1)" },
		{ 0, "map-wait", "SECONDS", OPT_SECONDS, &request->map_wait, NULL,
		  "wait SECONDS for pjmap's next scan (10)" },
	};

	opt_table_add(table, rows, countof(rows));
}

static void sendopts_add_spool(struct opt_table *table, struct request *request)
{
	const struct opt rows[] = {
		OPT_GROUP("Spool"),
		{ 0, "keep", KEEPS, OPT_CALL, request, opt_keep,
		  "keep recordings until they are sent (raw), or folded (spool)" },
		{ 0, "min-free", "PCT", OPT_CALL, &request->min_free, opt_percent,
		  "delete the oldest files if less of the file system is free (5%)" },
		{ 0, "spool", "SIZE", OPT_CALL, &request->spool_bytes, opt_size,
		  "limit of the spool; the oldest windows are deleted (1G)" },
		{ 0, "catch-up", "N", OPT_DOUBLE, &request->catch_up, NULL,
		  "send a backlog N times as fast as recorded; 0: at once (4)" },
		{ 0, "splay", "SECONDS", OPT_SECONDS, &request->splay, NULL,
		  "delay the first send by up to SECONDS, by host (30 for servers)" },
	};

	opt_table_add(table, rows, countof(rows));
}

static void sendopts_add_dir(struct opt_table *table, struct request *request)
{
	const struct opt rows[] = {
		OPT_GROUP("Stores of type dir"),
		{ 0, "keep-days", "N", OPT_U64, &request->options.keep_days, NULL,
		  "dir: delete this host's windows after N days" },
		{ 0, "max-bytes", "SIZE", OPT_CALL, &request->options.max_bytes, opt_size,
		  "dir: delete this host's oldest days beyond SIZE" },
		{ 0, "roll-up", "DAYS", OPT_U64, &request->options.roll_up_days, NULL,
		  "dir: merge windows older than DAYS into one an hour (7); 0: never" },
		{ 0, "gzip", NULL, OPT_FLAG, &request->options.gzip, NULL, "dir: use gzip even if zstd is built in" },
		{ 0, "tidy", NULL, OPT_FLAG, &request->tidy, NULL, "dir: roll up and delete for all hosts, and exit" },
	};

	opt_table_add(table, rows, countof(rows));
}

static void sendopts_add_connection(struct opt_table *table, struct request *request)
{
	const struct opt rows[] = {
		OPT_GROUP("Connection"),
		STORE_OPTS(&request->options),
	};

	opt_table_add(table, rows, countof(rows));
}

/* Sets the defaults of all options. */
static void sendopts_set_defaults(struct request *request)
{
	request->catch_up = 4;
	request->map_wait = 10;
	request->splay = -1;
	request->min_free = 0.05;
	request->spool_bytes = (uint64_t)1 << 30;
	request->options.roll_up_days = 7;
}

void sendopts_parse(struct request *request, int argc, char **argv)
{
	struct opt_table table = { 0 };
	struct tool tool = {
		.name = "pjsend",
		.does = "send windows to a store, each exactly once",
		.synopsis = "[options] [DIR] [SECONDS]\n"
			    "       pjfold --header FILE | pjsend --store=STORE --time=TIME [--host=NAME] -",
		.example = "stores:  dir:PATH            files, by host and day; no server\n"
			   "         clickhouse:URL      sums on the server\n"
			   "         couch:URL           CouchDB, a document a window\n"
			   "         eve:URL             Eve, a REST service on MongoDB\n"
			   "         ndjson:FILE         lines of JSON, one way; - is standard output\n"
			   "         pyroscope:URL       one way\n\n"
			   "example: pjsend -d /var/lib/pj --store=dir:/srv/profiles --label=service=shop\n"
			   "         pjfetch --store=dir:/srv/profiles --from=-1h | pjsvg > hour.svg",
		.libraries = LIBRARY_ZLIB | LIBRARY_ZSTD | LIBRARY_CURL | LIBRARY_JANSSON,
		.print_values = store_print_values,
	};

	sendopts_add_operation(&table, request);
	sendopts_add_windows(&table, request);
	sendopts_add_spool(&table, request);
	sendopts_add_dir(&table, request);
	sendopts_add_connection(&table, request);
	tool.opts = table.opt;
	tool.nopts = table.n;
	sendopts_set_defaults(request);
	sendopts_operands(request, opt_parse(&tool, argc, argv));
	free(table.opt);
	if (!request->store)
		request->store = getenv("PJ_STORE");
	if (request->host && !*request->host)
		die_usage("--host: the name is empty");
	if (!request->schema && !request->tidy)
		sendopts_check(request);
}
