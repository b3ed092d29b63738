/* SPDX-License-Identifier: Apache-2.0 */
#include "send/stores/dirstore.h"

#include "common/arena.h"
#include "send/format/pack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The properties that all windows of a stream have in common, from the first of its files that was read. */
struct stream {
	uint64_t id;
	/* known: true if `facts` is set; wanted: true if the stream matches the query, valid if known */
	bool known, wanted;
	/* memory of the strings in `facts` */
	struct text text, decoded;
	struct window facts;
};

struct reading {
	const struct dir_store *d;
	const struct store_query *q;
	const struct store_sink *sink;
	struct text *why;
	/* true for fetch, which delivers lines; false for list */
	bool lines;
	const char *host, *day;
	/* descriptor of the folder of `day` */
	int folder;
	struct stream *stream;
	size_t nstreams;
	/* decompressor, reused for all files */
	struct unpack unpack;
};

/* ---- reading a file -------------------------------------------------------------------------------------------- */

static int dirread_open_file(const struct reading *reading, const struct dir_name *n)
{
	char name[DIR_NAME];

	dir_name_put(name, n);
	return openat(reading->folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

static void dirread_damaged(const struct reading *reading, const struct dir_name *n, const char *why)
{
	struct text place = { 0 };
	char name[DIR_NAME];

	dir_name_put(name, n);
	text_printf(&place, "%s/%s/%s/%s", reading->d->path, reading->host, reading->day, name);
	if (reading->sink->damaged)
		reading->sink->damaged(reading->sink->to, text_view(&place), why);
	text_free(&place);
}

/* Reads the first part of a file: parses its header into *window, and sets *lines to the lines after it. Returns NULL
 * on success, else the reason why the file cannot be used. */
static const char *dirread_read_head(struct unpack *unpack, const struct dir_name *name, struct text *decoded,
				     struct window *window, struct str *lines)
{
	const char *wrong;

	if (!unpack_lines(unpack, lines))
		return unpack->errors ? unpack->errors : "it is empty";
	wrong = window_parse_header(lines, decoded, window);
	if (!wrong && (window->epoch < name->epoch || window->until > name->until || window->stream != name->stream))
		wrong = "its header and its name do not agree";
	return wrong;
}

static bool send_lines(const struct reading *reading, struct unpack *unpack, struct str lines)
{
	do
		if (lines.n && !reading->sink->lines(reading->sink->to, lines))
			return false;
	while (unpack_lines(unpack, &lines));
	return true;
}

/* ---- properties of streams --------------------------------------------------------------------------------------- */

static struct stream *dirread_stream_of(struct reading *reading, uint64_t id)
{
	for (size_t i = 0; i < reading->nstreams; i++)
		if (reading->stream[i].id == id)
			return reading->stream + i;
	reading->stream = mem_more(reading->stream, sizeof(*reading->stream), reading->nstreams);
	reading->stream[reading->nstreams] = (struct stream){ .id = id };
	return reading->stream + reading->nstreams++;
}

static void forget_streams(struct reading *reading)
{
	for (size_t i = 0; i < reading->nstreams; i++) {
		text_free(&reading->stream[i].text);
		text_free(&reading->stream[i].decoded);
	}
	free(reading->stream);
	reading->stream = NULL;
	reading->nstreams = 0;
}

static void dirread_learn(struct reading *reading, struct stream *stream, const struct window *window)
{
	struct window facts = *window;
	struct str rest;

	facts.labels = window->labels;
	/* Copies the window's properties: writes them as a header and parses the header into stream->facts. */
	window_header(&stream->text, &facts);
	rest = text_view(&stream->text);
	stream->known = window_parse(&rest, &stream->decoded, &stream->facts) == NULL;
	stream->wanted = store_wants(reading->q, &stream->facts);
}

/* Reads the properties of a stream from one of its files. Returns false if the file cannot be used. */
static bool dirread_look(struct reading *reading, const struct dir_name *name, struct stream *stream)
{
	struct window window;
	struct text decoded = { 0 };
	struct str lines;
	int fd = dirread_open_file(reading, name);
	const char *wrong = fd < 0 ? strerror(errno) : NULL;

	if (fd >= 0) {
		unpack_next(&reading->unpack, fd);
		wrong = dirread_read_head(&reading->unpack, name, &decoded, &window, &lines);
		if (!wrong)
			dirread_learn(reading, stream, &window);
		close(fd);
	}
	if (wrong)
		dirread_damaged(reading, name, wrong);
	text_free(&decoded);
	return stream->known;
}

/* ---- reading roll-ups -------------------------------------------------------------------------------------------- */

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

/* Parses the second line of a roll-up, "# hour 0,30,60", into *offsets, "0,30,60". Returns false if the line has
 * another form. */
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
	struct unpack unpack;
	struct str lines;
	bool good;

	unpack_open(&unpack, fd);
	good = unpack_lines(&unpack, &lines);
	if (good)
		str_cut(&lines, '\n');
	good = good && take_offsets(lines, offsets);
	unpack_close(&unpack);
	return good;
}

/* Returns true if a roll-up in files[], the files of the same folder, contains the window `name`. Roll-ups are few; a
 * window and its roll-up exist together only for the grace period of the store's maintenance. */
static bool in_hour(const struct reading *reading, const struct dir_name *files, size_t nfiles,
		    const struct dir_name *name)
{
	struct dir_name key = { .epoch = name->epoch - name->epoch % DIR_HOUR, .stream = name->stream, .hour = true },
			hour;
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
	fd = dir_hour_open(reading->folder, key.epoch, key.stream, &hour);
	if (fd < 0)
		return false;
	held = dir_hour_list(fd, &offsets) && dir_hour_holds(text_view(&offsets), name->epoch % DIR_HOUR);
	close(fd);
	text_free(&offsets);
	return held;
}

/* ---- running a query --------------------------------------------------------------------------------------------- */

static bool list_file(struct reading *reading, const struct dir_name *name, const struct stream *stream)
{
	struct window window = stream->facts;

	window.epoch = name->epoch;
	window.until = name->until;
	window.samples = window.lost = 0;
	window.lost_known = false;
	window.parts = name->hour ? 0 : 1;
	window.text = window.stacks = (struct str){ 0 };
	return reading->sink->window(reading->sink->to, &window);
}

static bool fetch_file(struct reading *reading, const struct dir_name *name, struct stream *stream)
{
	struct unpack *unpack = &reading->unpack;
	struct window window;
	struct text decoded = { 0 };
	struct str lines = { 0 };
	const char *wrong;
	bool good = true;
	int fd = dirread_open_file(reading, name);

	if (fd < 0) {
		/* ENOENT: after the file was listed, its window was rolled up, or retention deleted the day; the query
		 * fails, and the user repeats it. */
		text_printf(reading->why, "%s/%s changes while it is read: retry", reading->host, reading->day);
		return errno != ENOENT ? (dirread_damaged(reading, name, strerror(errno)), reading->why->n = 0, true) :
					 false;
	}
	unpack_next(unpack, fd);
	wrong = dirread_read_head(unpack, name, &decoded, &window, &lines);
	if (!wrong) {
		if (!stream->known)
			dirread_learn(reading, stream, &window);
		if (stream->wanted)
			good = reading->sink->window(reading->sink->to, &window) && send_lines(reading, unpack, lines);
		wrong = unpack->errors;
	}
	if (wrong && good)
		dirread_damaged(reading, name, wrong);
	close(fd);
	text_free(&decoded);
	return good;
}

static bool dirread_read_file(struct reading *reading, const struct dir_name *files, size_t nfiles,
			      const struct dir_name *name)
{
	struct stream *stream = dirread_stream_of(reading, name->stream);

	if (stream->known && !stream->wanted)
		return true;
	if (!name->hour && in_hour(reading, files, nfiles, name))
		return true;
	if (name > files && !name->hour && !name[-1].hour && name[-1].epoch == name->epoch &&
	    name[-1].stream == name->stream) {
		dirread_damaged(reading, name,
				"another window of its stream starts in that second: only that one counts");
		return true;
	}
	if (reading->lines)
		return fetch_file(reading, name, stream);
	if (!stream->known && !dirread_look(reading, name, stream))
		return true;
	return !stream->wanted || list_file(reading, name, stream);
}

static bool read_day(struct reading *reading, int host, const char *day)
{
	struct dir_name *files = NULL;
	size_t n = 0;
	bool good = true;

	reading->day = day;
	reading->folder = dir_enter(host, day);
	if (reading->folder < 0 || !dir_files(reading->folder, reading->q->from, reading->q->to, &files, &n)) {
		good = errno == ENOENT;
		if (!good)
			text_printf(reading->why, "cannot read %s/%s: %s", reading->host, day, strerror(errno));
	}
	for (size_t i = 0; i < n && good; i++)
		good = dirread_read_file(reading, files, n, files + i);
	free(files);
	if (reading->folder >= 0)
		close(reading->folder);
	return good;
}

static bool read_host(struct reading *reading, const char *host)
{
	int folder = dir_enter(reading->d->root, host);
	char **days = NULL;
	size_t n = 0;
	bool good = true;

	reading->host = host;
	if (folder < 0 || !dir_folders(folder, true, &days, &n)) {
		good = folder < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP);
		if (!good)
			text_printf(reading->why, "cannot read %s: %s", host, strerror(errno));
	}
	for (size_t i = 0; i < n && good; i++) {
		uint64_t day;

		if (dir_day_parse(days[i], &day) && (day + 1) * DIR_DAY > reading->q->from &&
		    day * DIR_DAY < reading->q->to)
			good = read_day(reading, folder, days[i]);
	}
	dir_folders_free(days, n);
	if (folder >= 0)
		close(folder);
	/* Streams of different hosts may have the same id, so those of this host are forgotten before the next host is
	 * read. */
	forget_streams(reading);
	return good;
}

static bool read_hosts(struct reading *reading)
{
	char **hosts = NULL;
	size_t n = 0;
	bool good = true;

	if (!dir_folders(reading->d->root, false, &hosts, &n)) {
		text_printf(reading->why, "cannot read the directory: %s", strerror(errno));
		good = false;
	}
	for (size_t i = 0; i < n && good; i++)
		if (reading->q->host.n == 0 || str_eq(reading->q->host, str_of(hosts[i])))
			good = read_host(reading, hosts[i]);
	dir_folders_free(hosts, n);
	unpack_close(&reading->unpack);
	return good;
}

bool dir_list(void *store, const struct store_query *query, const struct store_sink *sink, struct text *why)
{
	struct reading reading = { .d = store, .q = query, .sink = sink, .why = why };

	return read_hosts(&reading);
}

bool dir_fetch(void *store, const struct store_query *query, const struct store_sink *sink, struct text *why)
{
	struct reading reading = { .d = store, .q = query, .sink = sink, .why = why, .lines = true };

	return read_hosts(&reading);
}
