/* SPDX-License-Identifier: Apache-2.0 */
#include "send/stores/dirstore.h"

#include "common/arena.h"
#include "send/format/pack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* What the windows of a stream have in common, from the first that was opened. */
struct stream {
	uint64_t id;
	bool known, wanted;
	struct text text, decoded; /* of facts */
	struct window facts;
};

struct reading {
	const struct dir_store *d;
	const struct store_query *q;
	const struct store_sink *sink;
	struct text *why;
	bool lines; /* fetch, not list */
	const char *host, *day;
	int folder; /* of the day */
	struct stream *stream;
	size_t nstreams;
	struct unpack unpack; /* for one file after the other */
};

/* ---- one file ------------------------------------------------------------------------------------------------ */

static int dirread_open_file(const struct reading *r, const struct dir_name *n)
{
	char name[DIR_NAME];

	dir_name_put(name, n);
	return openat(r->folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

static void dirread_damaged(const struct reading *r, const struct dir_name *n, const char *why)
{
	struct text place = { 0 };
	char name[DIR_NAME];

	dir_name_put(name, n);
	text_printf(&place, "%s/%s/%s/%s", r->d->path, r->host, r->day, name);
	if (r->sink->damaged)
		r->sink->damaged(r->sink->to, text_view(&place), why);
	text_free(&place);
}

/* What the header of a file says; NULL, or why it cannot be used. lines: what else was read. */
static const char *dirread_read_head(struct unpack *u, const struct dir_name *n, struct text *decoded, struct window *w,
				     struct str *lines)
{
	const char *wrong;

	if (!unpack_lines(u, lines))
		return u->errors ? u->errors : "it is empty";
	wrong = window_parse_header(lines, decoded, w);
	if (!wrong && (w->epoch < n->epoch || w->until > n->until || w->stream != n->stream))
		wrong = "its header and its name do not agree";
	return wrong;
}

static bool send_lines(const struct reading *r, struct unpack *u, struct str lines)
{
	do
		if (lines.n && !r->sink->lines(r->sink->to, lines))
			return false;
	while (unpack_lines(u, &lines));
	return true;
}

/* ---- streams ------------------------------------------------------------------------------------------------- */

static struct stream *dirread_stream_of(struct reading *r, uint64_t id)
{
	for (size_t i = 0; i < r->nstreams; i++)
		if (r->stream[i].id == id)
			return r->stream + i;
	r->stream = mem_more(r->stream, sizeof(*r->stream), r->nstreams);
	r->stream[r->nstreams] = (struct stream){ .id = id };
	return r->stream + r->nstreams++;
}

static void forget_streams(struct reading *r)
{
	for (size_t i = 0; i < r->nstreams; i++) {
		text_free(&r->stream[i].text);
		text_free(&r->stream[i].decoded);
	}
	free(r->stream);
	r->stream = NULL;
	r->nstreams = 0;
}

static void dirread_learn(struct reading *r, struct stream *s, const struct window *w)
{
	struct window facts = *w;
	struct str rest;

	facts.labels = w->labels;
	window_header(&s->text, &facts); /* a copy, by writing and reading it */
	rest = text_view(&s->text);
	s->known = window_parse(&rest, &s->decoded, &s->facts) == NULL;
	s->wanted = store_wants(r->q, &s->facts);
}

/* Facts of its stream are known afterwards, or the file is damaged. */
static bool dirread_look(struct reading *r, const struct dir_name *n, struct stream *s)
{
	struct window w;
	struct text decoded = { 0 };
	struct str lines;
	int fd = dirread_open_file(r, n);
	const char *wrong = fd < 0 ? strerror(errno) : NULL;

	if (fd >= 0) {
		unpack_next(&r->unpack, fd);
		wrong = dirread_read_head(&r->unpack, n, &decoded, &w, &lines);
		if (!wrong)
			dirread_learn(r, s, &w);
		close(fd);
	}
	if (wrong)
		dirread_damaged(r, n, wrong);
	text_free(&decoded);
	return s->known;
}

/* ---- hours --------------------------------------------------------------------------------------------------- */

bool dir_hour_holds(struct str offsets, uint64_t offset)
{
	uint64_t have;

	while (offsets.n)
		if (str_u64(str_cut(&offsets, ','), &have) && have == offset)
			return true;
	return false;
}

int dir_hour_open(int day, uint64_t hour, uint64_t stream, struct dir_name *n)
{
	char name[DIR_NAME];
	int fd = -1;

	*n = (struct dir_name){ .epoch = hour, .until = hour + DIR_HOUR, .stream = stream, .hour = true };
	for (unsigned zstd = 0; zstd < 2 && fd < 0; zstd++) {
		n->zstd = zstd;
		dir_name_put(name, n);
		fd = openat(day, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	}
	return fd;
}

/* Behind the header: "# hour 0,30,60" */
static bool take_offsets(struct str lines, struct text *offsets)
{
	struct str line = str_cut(&lines, '\n');

	if (!str_starts(line, STR("# hour ")))
		return false;
	offsets->n = 0;
	text_str(offsets, str_from(line, 7));
	return true;
}

bool dir_hour_list(int fd, struct text *offsets)
{
	struct unpack u;
	struct str lines;
	bool good;

	unpack_open(&u, fd);
	good = unpack_lines(&u, &lines);
	if (good)
		str_cut(&lines, '\n');
	good = good && take_offsets(lines, offsets);
	unpack_close(&u);
	return good;
}

/* Is this window in a roll-up that stands in the same list? Roll-ups are few, and where both are, somebody tidies right
 * now. */
static bool in_hour(const struct reading *r, const struct dir_name *files, size_t nfiles, const struct dir_name *n)
{
	struct dir_name key = { .epoch = n->epoch - n->epoch % DIR_HOUR, .stream = n->stream, .hour = true }, hour;
	struct text offsets = { 0 };
	bool held = false;
	size_t low = 0, high = nfiles;
	int fd;

	key.until = key.epoch + DIR_HOUR;
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (dir_name_cmp(files + mid, &key) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == nfiles || files[low].epoch != key.epoch || !files[low].hour || files[low].stream != key.stream)
		return false;
	fd = dir_hour_open(r->folder, key.epoch, key.stream, &hour);
	if (fd < 0)
		return false;
	held = dir_hour_list(fd, &offsets) && dir_hour_holds(text_view(&offsets), n->epoch % DIR_HOUR);
	close(fd);
	text_free(&offsets);
	return held;
}

/* ---- the walk ------------------------------------------------------------------------------------------------ */

static bool list_file(struct reading *r, const struct dir_name *n, const struct stream *s)
{
	struct window w = s->facts;

	w.epoch = n->epoch;
	w.until = n->until;
	w.samples = w.lost = 0;
	w.lost_known = false;
	w.parts = n->hour ? 0 : 1;
	w.text = w.stacks = (struct str){ 0 };
	return r->sink->window(r->sink->to, &w);
}

static bool fetch_file(struct reading *r, const struct dir_name *n, struct stream *s)
{
	struct unpack *u = &r->unpack;
	struct window w;
	struct text decoded = { 0 };
	struct str lines = { 0 };
	const char *wrong;
	bool good = true;
	int fd = dirread_open_file(r, n);

	if (fd < 0) {
		/* the window was rolled up, or the day removed, while we were reading */
		text_printf(r->why, "%s/%s changes while it is read; once more, please", r->host, r->day);
		return errno != ENOENT ? (dirread_damaged(r, n, strerror(errno)), r->why->n = 0, true) : false;
	}
	unpack_next(u, fd);
	wrong = dirread_read_head(u, n, &decoded, &w, &lines);
	if (!wrong) {
		if (!s->known)
			dirread_learn(r, s, &w);
		if (s->wanted)
			good = r->sink->window(r->sink->to, &w) && send_lines(r, u, lines);
		wrong = u->errors;
	}
	if (wrong && good)
		dirread_damaged(r, n, wrong);
	close(fd);
	text_free(&decoded);
	return good;
}

static bool dirread_read_file(struct reading *r, const struct dir_name *files, size_t nfiles, const struct dir_name *n)
{
	struct stream *s = dirread_stream_of(r, n->stream);

	if (s->known && !s->wanted)
		return true;
	if (!n->hour && in_hour(r, files, nfiles, n))
		return true;
	if (n > files && !n->hour && !n[-1].hour && n[-1].epoch == n->epoch && n[-1].stream == n->stream) {
		dirread_damaged(r, n, "another window of its stream begins in that second: only that one counts");
		return true;
	}
	if (r->lines)
		return fetch_file(r, n, s);
	if (!s->known && !dirread_look(r, n, s))
		return true;
	return !s->wanted || list_file(r, n, s);
}

static bool read_day(struct reading *r, int host, const char *day)
{
	struct dir_name *files = NULL;
	size_t n = 0;
	bool good = true;

	r->day = day;
	r->folder = dir_enter(host, day);
	if (r->folder < 0 || !dir_files(r->folder, r->q->from, r->q->to, &files, &n)) {
		good = errno == ENOENT;
		if (!good)
			text_printf(r->why, "cannot read %s/%s: %s", r->host, day, strerror(errno));
	}
	for (size_t i = 0; i < n && good; i++)
		good = dirread_read_file(r, files, n, files + i);
	free(files);
	if (r->folder >= 0)
		close(r->folder);
	return good;
}

static bool read_host(struct reading *r, const char *host)
{
	int folder = dir_enter(r->d->root, host);
	char **days = NULL;
	size_t n = 0;
	bool good = true;

	r->host = host;
	if (folder < 0 || !dir_folders(folder, true, &days, &n)) {
		good = folder < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP);
		if (!good)
			text_printf(r->why, "cannot read %s: %s", host, strerror(errno));
	}
	for (size_t i = 0; i < n && good; i++) {
		uint64_t day;

		if (dir_day_parse(days[i], &day) && (day + 1) * DIR_DAY > r->q->from && day * DIR_DAY < r->q->to)
			good = read_day(r, folder, days[i]);
	}
	dir_folders_free(days, n);
	if (folder >= 0)
		close(folder);
	forget_streams(r); /* the number of a stream says nothing of the host */
	return good;
}

static bool read_hosts(struct reading *r)
{
	char **hosts = NULL;
	size_t n = 0;
	bool good = true;

	if (!dir_folders(r->d->root, false, &hosts, &n)) {
		text_printf(r->why, "cannot read the directory: %s", strerror(errno));
		good = false;
	}
	for (size_t i = 0; i < n && good; i++)
		if (r->q->host.n == 0 || str_eq(r->q->host, str_of(hosts[i])))
			good = read_host(r, hosts[i]);
	dir_folders_free(hosts, n);
	unpack_close(&r->unpack);
	return good;
}

bool dir_list(void *store, const struct store_query *q, const struct store_sink *sink, struct text *why)
{
	struct reading r = { .d = store, .q = q, .sink = sink, .why = why };

	return read_hosts(&r);
}

bool dir_fetch(void *store, const struct store_query *q, const struct store_sink *sink, struct text *why)
{
	struct reading r = { .d = store, .q = q, .sink = sink, .why = why, .lines = true };

	return read_hosts(&r);
}
