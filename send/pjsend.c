/* SPDX-License-Identifier: Apache-2.0 */
/* pjsend - send windows to a store, each exactly once. */
#include "common/arena.h"
#include "common/process/child.h"
#include "send/spool/counters.h"
#include "common/diag.h"
#include "common/formats/folded.h"
#include "common/process/program.h"
#include "common/process/sandbox.h"
#include "send/http/secret.h"
#include "send/pipefolder.h"
#include "send/sender.h"
#include "send/sendopts.h"
#include "send/spool/spooler.h"
#include "common/files/fullio.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PIPE_MAX ((size_t)1 << 30)
/* time in s for which the process waits for the spooler thread at the end; then it exits, although the thread has not
 * ended. An interrupted fold loses nothing, as the recording remains. */
#define END_S 5

static atomic_bool stop; /* true if the tool must end; set by a signal handler, read by both threads */
/* static, as the main thread and the spooler thread use it */
static struct sender sender;

static void pjsend_on_signal(int sig)
{
	(void)sig;
	stop = true;
}

static void sleep_ms(uint64_t ms)
{
	struct timespec spec = { (time_t)(ms / 1000), (long)(ms % 1000) * 1000000 };

	if (!stop)
		nanosleep(&spec, NULL);
}

/* Sleeps for `ms` ms, or until a signal sets `stop`. Sleeps at most 200 ms at a time, as a signal that arrives just
 * before nanosleep does not interrupt it. */
static void pjsend_doze(uint64_t ms)
{
	while (ms && !stop) {
		uint64_t part = ms < 200 ? ms : 200;

		sleep_ms(part);
		ms -= part;
	}
}

static void pjsend_catch_signals(void)
{
	struct sigaction action = { .sa_handler = pjsend_on_signal };

	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

static struct str pjsend_host_of(const struct request *request)
{
	static char name[256];

	if (request->host)
		return str_of(request->host);
	gethostname(name, sizeof(name) - 1);
	return str_of(name);
}

/* ---- sending from DIR ------------------------------------------------------------------------------------------ */

struct spooling {
	struct spooler *s;
	uint64_t pause_ms;
};

static void *spool_always(void *arg)
{
	struct spooling *spooling = arg;

	while (!stop) {
		spooler_pass(spooling->s);
		pjsend_doze(spooling->pause_ms);
	}
	return NULL;
}

static void pjsend_spooled(void *to, struct spool_name name)
{
	sender_add(to, name);
}

static void send_always(const struct request *request, struct spooler *spooler)
{
	struct spooling spooling = { spooler, (uint64_t)(request->interval * 1000) };
	struct timespec end;
	pthread_t thread;

	if (pthread_create(&thread, NULL, spool_always, &spooling) != 0)
		die("cannot start a thread");
	while (!stop) {
		if (!sender_step(&sender))
			pjsend_doze(sender_wait(&sender));
		sender_report(&sender, false);
	}
	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += END_S;
	if (pthread_timedjoin_np(thread, NULL, &end) != 0)
		_exit(PJ_FAILED);
}

/* Tries to send each window in the spool once. */
static void try_each(void)
{
	bool sent;

	do {
		sent = sender_step(&sender);
		if (!sent && !sender_finished(&sender))
			/* Waits until the first window is due: --splay delays the first attempt. */
			pjsend_doze(sender_wait(&sender));
	} while (!stop && (sent || !sender_finished(&sender)));
}

static void send_once(struct spooler *spooler)
{
	while (!stop && spooler_pass(spooler))
		pjsend_doze(200);
	try_each();
}

/* Delays the first attempt by a time that depends on the host's name, so that 1000 hosts that start together do not
 * overload the store. */
static void pjsend_splay(const struct request *request)
{
	struct str host = pjsend_host_of(request);
	double max = request->splay >= 0 ? request->splay : request->once || sender.store->ops->local ? 0 : 30;

	sender_not_before(&sender, sender_splay(host, max));
}

static struct folding folding_of(const struct request *request, const struct spool *spool, const struct store *store)
{
	return (struct folding){
		.pjfold = program_find("pjfold"),
		.pids = request->pids || store->ops->pids,
		.without_kinds = store->ops->without_kinds,
		.host = str_of(request->host),
		.labels = text_view(&request->labels),
		.machine = spool->machine,
		.recorder = spool->recorder,
		.since = store->ops->since,
		.stop = &stop,
		.option = request->option,
	};
}

/* Returns true if windows wait in the spool, including those of other processes, or if the spool cannot be read. */
static bool pjsend_waits(const struct spool *spool)
{
	struct spool_name *names;
	size_t n;
	bool some = !spool_windows(spool, &names, &n) || n > 0;

	free(names);
	return some;
}

/* Warns if DIR/out does not exist and no window waits: either pjrecord creates it later, or DIR is the wrong directory.
 * Otherwise, without --once and if stderr is a terminal, prints that pjsend runs until Ctrl-C. */
static void pjsend_print_missing(const struct request *request, const struct spool *spool)
{
	char out[4200];

	snprintf(out, sizeof(out), "%s/out", request->dir);
	if (!request->quiet && access(out, F_OK) != 0 && !pjsend_waits(spool))
		warn("'%s' does not exist: pjrecord has not recorded there yet", out);
	else if (!request->quiet && !request->once && diag_is_terminal(STDERR_FILENO))
		warn("windows of %s go to %s until Ctrl-C; --once sends those that wait", out, request->store);
}

static void print_untidy(const struct request *request)
{
	if (request->once && !request->quiet && (request->options.keep_days || request->options.max_bytes))
		warn("--once deletes nothing in the store: pjsend --tidy does, with the same options");
}

/* Prints the sandbox layers that this kernel lacks, once. Sets an environment variable so that pjfold does not print
 * them again for each window. */
static void report_layers(void)
{
	sandbox_warn(sandbox_probe());
	setenv(SANDBOX_REPORTED, "1", 1);
}

/* Appends "n REASON" to a list in a message, unless n is 0. */
static void put_left(struct text *text, size_t n, const char *reason)
{
	if (n)
		text_printf(text, "%s%zu %s", text->n ? ", " : "", n, reason);
}

/* Returns the number of windows that the store confirmed, but whose files could not be removed. */
static size_t sent_and_there(void)
{
	size_t sent = 0;

	for (size_t i = 0; i < sender.n; i++)
		sent += sender.window[i].sent;
	return sent;
}

/* Prints the number of windows that are left in DIR, with the reasons. Returns true if there are any, or if a directory
 * cannot be read. With --once, windows that appeared after the start are not counted. */
static bool report_left(struct spooler *spooler)
{
	struct spool_name *names = NULL;
	size_t unfolded, unsent, sent = sent_and_there();
	struct text why = { 0 };

	if (!spooler_left(spooler, &unfolded) || !spool_windows(spooler->spool, &names, &unsent)) {
		warn("windows may be left: cannot read '%s': %s", spooler->dir, strerror(errno));
		return true;
	}
	free(names);
	/* sender.n counts the windows that this run tried; another process (pjsend -) may have added more to the
	 * spool. */
	if (spooler->once && sender.n < unsent)
		unsent = sender.n;
	if (unfolded + unsent == 0)
		return false;
	sent = sent < unsent ? sent : unsent;
	put_left(&why, unfolded, "not folded");
	put_left(&why, unsent - sent, "not sent");
	put_left(&why, sent, "sent and not removed, as another process may read them");
	warn("windows left in '%s' for the next run: %.*s", spooler->dir, (int)why.n, why.p);
	text_free(&why);
	return true;
}

static bool send_dir(const struct request *request, struct spool *spool, struct store *store)
{
	struct folding folding = folding_of(request, spool, store);
	struct spooler spooler = { .spool = spool,
				   .folding = &folding,
				   .dir = request->dir,
				   .keep_spool = request->keep_spool,
				   .once = request->once,
				   .min_free = request->min_free,
				   .max_bytes = request->spool_bytes,
				   .map_wait_ms = (uint64_t)(request->map_wait * 1000),
				   .stop = &stop };
	bool left;

	if (!folding.pjfold)
		die("pjfold is neither beside pjsend nor in PATH");
	if (!spool_lock(spool))
		die("another pjsend sends from '%s'", request->dir);
	spool_sweep(spool);
	pjsend_print_missing(request, spool);
	report_layers();
	print_untidy(request);
	counters_open(spool->dir);
	sender_begin(&sender);
	spooler_begin(&spooler);
	spooler.spooled = pjsend_spooled;
	spooler.to = &sender;
	pjsend_splay(request);
	if (request->once)
		send_once(&spooler);
	else
		send_always(request, &spooler);
	sender_report(&sender, true);
	left = report_left(&spooler) || (request->once && (sender.differ || sender.refused || spooler.unreadable));
	sender_end(&sender);
	spooler_end(&spooler);
	free((char *)(uintptr_t)folding.pjfold);
	return !left;
}

/* ---- sending from a pipe --------------------------------------------------------------------------------------- */

/* directory of the spool for a window from a pipe: DIR, or a temporary directory (pipefolder.h) */
static char folder[4096];
/* descriptor that holds the lock of the temporary directory; -1: none */
static int folder_lock = -1;

/* Removes the temporary directory of the pipe's spool, unless it has a window. */
static void remove_folder(void)
{
	pipefolder_remove(folder, folder_lock);
}

static void pjsend_make_folder(const struct request *request)
{
	if (request->dir) {
		snprintf(folder, sizeof(folder), "%s", request->dir);
		return;
	}
	folder_lock = pipefolder_make(folder, sizeof(folder));
	if (folder_lock < 0)
		die_errno("cannot create a directory like '%s'", folder);
	/* If the tool exits because it refuses the input, it removes the temporary directory. */
	diag_at_death(remove_folder);
}

/* Writes the folded text of the pipe to the spool. Exits with a message if the spool has a different text of the same
 * name. */
static void put_pipe(struct spool *spool, struct spool_name name, struct str text)
{
	struct text there = { 0 };

	if (spool_get(spool, name, &there, NULL) && !str_eq(text_view(&there), text))
		die("standard input: another text of that host, event, time and labels is in the spool; "
		    "nothing is sent");
	text_free(&there);
	if (!spool_put(spool, name, text))
		die_errno("cannot write to the spool");
}

static struct spool_name spool_pipe(const struct request *request, struct spool *spool, const struct store *store)
{
	struct folding folding = folding_of(request, spool, store);
	struct text in = { 0 }, text = { 0 }, why = { 0 }, decoded = { 0 };
	struct spool_name name = { 0 };
	struct window window;
	struct str rest;

	/* Leaves the recorder's id out of the hash that names the window, so that equal texts get the same name in any
	 * DIR. */
	folding.recorder = 0;
	if (!fullio_read(STDIN_FILENO, &in, PIPE_MAX))
		die_errno("cannot read standard input");
	switch (folding_text(&folding, text_view(&in), request->time, request->seconds, &text, &why)) {
	case FOLD_GOOD: break;
	case FOLD_EMPTY: die("standard input: no stacks");
	default: die("%.*s; nothing is sent", (int)why.n, why.p);
	}
	rest = text_view(&in);
	if (!request->quiet && !folded_is_header(str_cut(&rest, '\n')))
		warn("standard input: without a header (pjfold --header) the unit is samples of an unknown event");
	rest = text_view(&text);
	if (window_parse(&rest, &decoded, &window) != NULL)
		die("standard input: no folded stacks");
	name = (struct spool_name){ window.epoch, window.stream };
	put_pipe(spool, name, text_view(&text));
	diag_at_death(NULL);
	free((char *)(uintptr_t)folding.pjfold);
	text_free(&in);
	text_free(&text);
	text_free(&why);
	text_free(&decoded);
	return name;
}

static bool send_pipe(const struct request *request, struct spool *spool, struct store *store)
{
	struct spool_name name = spool_pipe(request, spool, store);
	bool left;

	if (!spool_lock(spool)) {
		if (!request->quiet)
			warn("it is in the spool; the running pjsend will send it");
		return true;
	}
	counters_open(spool->dir);
	sender_begin(&sender);
	try_each();
	sender_report(&sender, true);
	left = spool_has(spool, name);
	if (left)
		warn("not sent yet");
	sender_end(&sender);
	return !left && !sender.differ && !sender.refused;
}

static bool pipe_into(const struct request *request, struct store *store)
{
	struct spool spool = { 0 };
	bool good;

	pjsend_make_folder(request);
	spool_open(&spool, folder);
	spool.saved = store->ops->local && !request->options.gzip;
	sender.spool = &spool;
	good = send_pipe(request, &spool, store);
	spool_close(&spool);
	if (!request->dir && good)
		remove_folder();
	else if (!request->dir && (sender.refused || sender.differ))
		warn("stored in '%s/bad'", folder);
	else if (!request->dir)
		warn("stored in '%s': retry with pjsend --once --store=%s %s", folder, request->store, folder);
	return good;
}

/* ---- other operations, and main ---------------------------------------------------------------------------------- */

static void print_schema(const struct request *request)
{
	static struct out out;
	struct str where;
	const struct store_ops *ops;

	if (!request->store)
		die_usage("--schema needs --store");
	ops = store_ops_of(request->store, &where);
	if (!ops->schema)
		die("%s: this store needs no schema%s", ops->form,
		    ops->sums ? " of pj, but a service with four fields: man pj-store" : "");
	out_open(&out, NULL);
	out_text(&out, ops->schema());
	out_close(&out);
}

static void tidy_all(struct store *store)
{
	if (!store->ops->tidy)
		die("%s: --tidy is for dir: stores; the server of this one deletes old windows", store->ops->form);
	while (!stop && store->ops->tidy(store->it, (struct str){ 0 }, (uint64_t)time(NULL)))
		;
}

int main(int argc, char **argv)
{
	static struct request request;
	struct store store = { 0 };
	struct spool spool = { 0 };
	struct text own = { 0 };
	bool good = true;

	diag_tool("pjsend");
	secret_take_environment();
	sendopts_parse(&request, argc, argv);
	if (request.schema) {
		print_schema(&request);
		return PJ_OK;
	}
	if (!request.store) {
		text_printf(&own, "dir:%s/store", request.dir ? request.dir : ".");
		text_char(&own, 0);
		request.store = own.p;
	}
	pjsend_catch_signals();
	/* Freed memory stays in the process: each window needs the same megabytes, and the page faults for new ones
	 * cost as much as the work on them. */
	mem_keep();
	if (!request.pipe && !request.tidy)
		spool_open(&spool, request.dir);
	store_open(&store, request.store, &request.options);
	if (!store.ops->send)
		die_usage("%s: this store is read-only", request.store);
	spool.saved = store.ops->local && !request.options.gzip;
	sender = (struct sender){ .spool = &spool,
				  .store = &store,
				  .o = { request.catch_up, request.once || request.pipe, request.quiet,
					 pjsend_host_of(&request) } };
	if (request.tidy)
		tidy_all(&store);
	else if (request.pipe)
		good = pipe_into(&request, &store);
	else
		good = send_dir(&request, &spool, &store);
	/* If DIR is the temporary directory of an earlier `pjsend -` whose window could not be sent, it is removed
	 * now. */
	if (!request.pipe && !request.tidy && request.once && good)
		pipefolder_remove(request.dir, -1);
	store_close(&store);
	if (!request.pipe && !request.tidy)
		spool_close(&spool);
	text_free(&own);
	text_free(&request.labels);
	return good ? PJ_OK : PJ_FAILED;
}
