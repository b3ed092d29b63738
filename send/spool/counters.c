/* SPDX-License-Identifier: Apache-2.0 */
#include "send/spool/counters.h"

#include "common/text.h"
#include "common/files/fullio.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#define FILE_NAME "pjsend.prom"
#define FILE_MAX 65536

static const struct {
	/* metric name and help text in the Prometheus file; help is NULL if the metric of the row before continues with
	 * another label */
	const char *name, *help;
	enum counter which;
} rows[] = {
	{ "windows_folded_total", "Windows that were folded into the spool.", COUNT_FOLDED },
	{ "windows_empty_total", "Windows without samples.", COUNT_EMPTY },
	{ "windows_damaged_total", "Windows of which only a part could be folded.", COUNT_DAMAGED },
	{ "windows_unreadable_total", "Windows that could not be folded, in bad/.", COUNT_UNREADABLE },
	{ "fold_failures_total", "Attempts to fold that failed for another reason than the window.",
	  COUNT_FOLD_FAILED },
	{ "windows_unmapped_total", "Windows that were folded before pjmap had scanned every JVM.", COUNT_UNMAPPED },
	{ "windows_sent_total", "Windows that the store confirmed.", COUNT_SENT },
	{ "documents_sent_total", "Documents that the store confirmed.", COUNT_DOCUMENTS },
	{ "documents_known_total", "Documents that the store already had.", COUNT_KNOWN },
	{ "windows_differ_total", "Windows for which the store has another content under the same name.",
	  COUNT_DIFFERS },
	{ "bytes_sent_total", "Bytes of request bodies as sent.", COUNT_BYTES },
	{ "requests_total", "Requests to the store.", COUNT_REQUESTS },
	{ "retries_total{class=\"later\"}", "Attempts that did not store a window.", COUNT_LATER },
	{ "retries_total{class=\"doubt\"}", NULL, COUNT_INDETERMINATE },
	{ "retries_total{class=\"hold\"}", NULL, COUNT_HOLD },
	{ "windows_refused_total", "Windows that the store refused permanently, in bad/.", COUNT_REFUSED },
	{ "documents_refused_total", "Documents that the store refused permanently, in bad/.", COUNT_POISON },
	{ "windows_dropped_total", "Windows that were deleted unsent, for space.", COUNT_DROPPED },
	{ "chunks_dropped_total", "Recordings that were deleted after they were folded, for space.",
	  COUNT_RAW_DROPPED },
	{ "waiting_windows", "Windows in the spool.", COUNT_WAITING },
	{ "spool_bytes", "Their bytes.", COUNT_SPOOL_BYTES },
	{ "oldest_waiting_seconds", "Age of the oldest window that is not sent.", COUNT_OLDEST_S },
	{ "held",
	  "1: the store refuses the connection (401, 403, 404, TLS); the configuration needs "
	  "attention.",
	  COUNT_HELD },
	{ "last_sent_timestamp_seconds", "When a window was confirmed last.", COUNT_LAST_SENT },
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t now[COUNTERS], before[COUNTERS];
static int folder = -1;

static bool is_gauge(enum counter which)
{
	return which >= COUNT_WAITING;
}

void count(enum counter which, uint64_t n)
{
	pthread_mutex_lock(&lock);
	now[which] = now[which] + n < n ? UINT64_MAX : now[which] + n;
	pthread_mutex_unlock(&lock);
}

void count_set(enum counter which, uint64_t n)
{
	pthread_mutex_lock(&lock);
	now[which] = n;
	pthread_mutex_unlock(&lock);
}

uint64_t counter_get(enum counter which)
{
	uint64_t n;

	pthread_mutex_lock(&lock);
	n = now[which];
	pthread_mutex_unlock(&lock);
	return n;
}

/* Parses a line "pj_send_NAME VALUE" of the file that an earlier run left, and stores the value if NAME is a counter or
 * the time of the last success. Ignores other lines. */
static void counters_take_line(struct str line)
{
	ptrdiff_t blank = str_rfind(line, ' ');
	uint64_t value;

	if (blank < 0 || !str_starts(line, STR("pj_send_")) || !str_u64(str_from(line, (size_t)blank + 1), &value))
		return;
	line = str_from(str_head(line, (size_t)blank), 8);
	for (size_t i = 0; i < countof(rows); i++)
		if (str_eq(line, str_of(rows[i].name)) &&
		    (!is_gauge(rows[i].which) || rows[i].which == COUNT_LAST_SENT))
			before[rows[i].which] = value;
}

void counters_open(int dir)
{
	struct text text = { 0 };
	struct str rest;
	int fd = openat(dir, FILE_NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	folder = dir;
	fullio_read(fd, &text, FILE_MAX);
	rest = text_view(&text);
	while (rest.n)
		counters_take_line(str_cut(&rest, '\n'));
	text_free(&text);
	if (fd >= 0)
		close(fd);
}

static uint64_t counters_value_of(enum counter which)
{
	if (which == COUNT_LAST_SENT)
		return now[which] ? now[which] : before[which];
	return is_gauge(which)                         ? now[which] :
	       now[which] + before[which] < now[which] ? UINT64_MAX :
							 now[which] + before[which];
}

static void put_all(struct text *text)
{
	for (size_t i = 0; i < countof(rows); i++) {
		struct str name = str_of(rows[i].name), string = str_cut(&name, '{');

		if (rows[i].help)
			text_printf(text, "# HELP pj_send_%.*s %s\n# TYPE pj_send_%.*s %s\n", (int)string.n, string.p,
				    rows[i].help, (int)string.n, string.p,
				    is_gauge(rows[i].which) ? "gauge" : "counter");
		text_printf(text, "pj_send_%s %" PRIu64 "\n", rows[i].name, counters_value_of(rows[i].which));
	}
}

bool counters_write(void)
{
	struct text text = { 0 };
	bool good;
	int error;

	pthread_mutex_lock(&lock);
	put_all(&text);
	pthread_mutex_unlock(&lock);
	good = fullio_replace(folder, FILE_NAME, text_view(&text));
	error = errno;
	text_free(&text);
	errno = error;
	return good;
}
