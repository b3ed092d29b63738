/* SPDX-License-Identifier: Apache-2.0 */
#include "send/stores/dirstore.h"

#include "common/arena.h"
#include "common/formats/folded.h"
#include "send/format/pack.h"
#include "common/files/tempfile.h"
#include "common/files/fullio.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* minimum age in s of a roll-up at which the windows that it contains are deleted: before, a reader that listed the
 * folder without the roll-up may still read these windows */
#define GRACE_S 600

/* ---- writing roll-ups -------------------------------------------------------------------------------------------- */

/* The roll-up of an hour and stream that is being computed. */
struct sum {
	struct stacks s;
	/* properties of the first window that was added */
	struct window facts;
	/* memory of the strings in `facts` */
	struct text head, decoded;
	/* starts of the windows in s after the start of the hour, "0,30,60" */
	struct text offsets;
	uint64_t samples, lost, parts;
	/* any: true if `facts` is set; damaged: true if a line was not a stack; lost_unknown: true if the losses of one
	 * of the windows are unknown */
	bool lost_unknown, any, damaged;
};

static void dirtidy_take_facts(struct sum *sum, const struct window *window)
{
	/* Copies the window's properties: writes them as a header and parses the header into sum->facts. */
	if (!sum->any) {
		struct str rest;

		window_header(&sum->head, window);
		rest = text_view(&sum->head);
		sum->any = window_parse(&rest, &sum->decoded, &sum->facts) == NULL;
	}
	sum->samples += window->samples;
	sum->lost += window->lost;
	sum->lost_unknown |= !window->lost_known;
	sum->parts += window->parts;
}

static void dirtidy_add_lines(struct sum *sum, struct str lines)
{
	struct folded_header none = { 0 };
	struct folded_tally tally = { 0 };
	struct in input;

	in_memory(&input, lines, "a window");
	folded_read(&input, &sum->s, &none, &tally);
	sum->damaged |= tally.bad > 0;
	in_close(&input);
}

/* Adds a file to the roll-up: a window, or an earlier roll-up with its list of windows. Returns false if the file is
 * corrupt or cannot be read. */
static bool dirtidy_add_file(struct sum *sum, int day, const struct dir_name *n)
{
	struct text decoded = { 0 };
	struct unpack unpack;
	struct str lines, rest;
	struct window window;
	char name[DIR_NAME];
	bool good = false;
	int fd;

	dir_name_put(name, n);
	fd = openat(day, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return false;
	unpack_open(&unpack, fd);
	if (unpack_lines(&unpack, &lines)) {
		rest = lines;
		good = !window_parse(&rest, &decoded, &window) && window.stream == n->stream && rest.n == 0;
		if (good) {
			dirtidy_take_facts(sum, &window);
			lines = window.stacks;
			do
				dirtidy_add_lines(sum, lines);
			while (unpack_lines(&unpack, &lines));
		}
	}
	good = good && !unpack.errors && !sum->damaged;
	unpack_close(&unpack);
	if (good && n->hour) {
		struct text offsets = { 0 };

		good = lseek(fd, 0, SEEK_SET) == 0 && dir_hour_list(fd, &offsets);
		text_printf(&sum->offsets, "%s%.*s", sum->offsets.n ? "," : "", (int)offsets.n, offsets.p);
		text_free(&offsets);
	} else if (good) {
		text_printf(&sum->offsets, "%s%" PRIu64, sum->offsets.n ? "," : "", n->epoch % DIR_HOUR);
	}
	close(fd);
	text_free(&decoded);
	return good;
}

static void put_frames(struct text *text, const struct stacks *stacks, uint32_t node)
{
	uint32_t *frame, depth = 0, n = 0;

	for (uint32_t id = node; id; id = stacks->node[id].parent)
		depth++;
	frame = mem_alloc(sizeof(*frame), (size_t)depth + 1);
	for (uint32_t id = node; id; id = stacks->node[id].parent)
		frame[n++] = stacks->node[id].frame;
	while (n-- > 0) {
		text_str(text, intern_str(&stacks->frames, frame[n]));
		if (n)
			text_char(text, ';');
	}
	free(frame);
}

/* Appends the text of the roll-up of `hour` (s since 1970): header, list of windows, stacks. */
static void dirtidy_write_sum(struct text *text, const struct sum *sum, uint64_t hour)
{
	struct window window = sum->facts;
	struct stacks_walk walk;

	window.epoch = hour;
	window.until = hour + DIR_HOUR;
	window.samples = sum->samples;
	window.lost = sum->lost;
	window.lost_known = !sum->lost_unknown;
	window.parts = sum->parts;
	window_header(text, &window);
	text_printf(text, "# hour %.*s\n", (int)sum->offsets.n, sum->offsets.p);
	stacks_walk_begin(&walk, &sum->s);
	for (uint32_t id; (id = stacks_walk_next(&walk)) != 0;)
		/* NOLINTNEXTLINE(clang-analyzer-core.*): a node that the walk returns has a weight */
		if (sum->s.self[0][id]) {
			put_frames(text, &sum->s, id);
			text_printf(text, " %" PRIu64 "\n", sum->s.self[0][id]);
		}
	stacks_walk_end(&walk);
}

static void free_sum(struct sum *sum)
{
	stacks_free(&sum->s);
	text_free(&sum->head);
	text_free(&sum->decoded);
	text_free(&sum->offsets);
}

/* Writes the roll-up of one hour and stream from its n files in folder `day` (descriptor); an existing roll-up is the
 * first file. Returns false on failure, with no file changed. */
static bool roll_up(const struct dir_store *store, int day, const struct dir_name *files, size_t n)
{
	struct sum sum = { 0 };
	struct text text = { 0 }, packed = { 0 };
	struct dir_name name = { .epoch = files[0].epoch - files[0].epoch % DIR_HOUR,
				 .stream = files[0].stream,
				 .hour = true,
				 .zstd = files[0].hour ? files[0].zstd : store->zstd };
	char file[DIR_NAME];
	bool good = true;

	name.until = name.epoch + DIR_HOUR;
	for (size_t i = 0; i < n && good; i++) {
		uint64_t offset = files[i].epoch % DIR_HOUR;

		if (!files[i].hour && dir_hour_holds(text_view(&sum.offsets), offset))
			/* the existing roll-up contains this window; drop_parts deletes the file after GRACE_S */
			continue;
		/* A corrupt file ends the roll-up: it and the other files of the hour stay as they are. */
		good = dirtidy_add_file(&sum, day, files + i);
	}
	if (good) {
		dirtidy_write_sum(&text, &sum, name.epoch);
		dir_name_put(file, &name);
		good = name.zstd == store->zstd ? dir_pack(store, &packed, text_view(&text)) :
		       name.zstd                ? pack_zstd(&packed, text_view(&text), PACK_ZSTD) :
						  pack_gzip(&packed, text_view(&text), PACK_GZIP);
		good = good && fullio_replace(day, file, text_view(&packed));
	}
	text_free(&text);
	text_free(&packed);
	free_sum(&sum);
	return good;
}

/* Deletes the windows that a roll-up contains if the roll-up is at least GRACE_S old, so that no reader needs them.
 * Returns true if a file was deleted. */
static bool drop_parts(int day, const struct dir_name *files, size_t n, uint64_t now)
{
	struct text offsets = { 0 };
	struct dir_name hour;
	struct stat status;
	bool dropped = false;
	int fd = dir_hour_open(day, files[0].epoch, files[0].stream, &hour);

	if (fd < 0)
		return false;
	if (fstat(fd, &status) == 0 && (uint64_t)status.st_mtim.tv_sec + GRACE_S <= now && dir_hour_list(fd, &offsets))
		for (size_t i = 1; i < n; i++) {
			char name[DIR_NAME];

			if (files[i].hour || !dir_hour_holds(text_view(&offsets), files[i].epoch % DIR_HOUR))
				continue;
			for (unsigned zstd = 0; zstd < 2; zstd++) {
				struct dir_name part = files[i];

				part.zstd = zstd;
				dir_name_put(name, &part);
				dropped |= unlinkat(day, name, 0) == 0;
			}
		}
	close(fd);
	text_free(&offsets);
	return dropped;
}

/* Returns true if the files of an hour and stream include windows that the roll-up lacks or, without a roll-up, more
 * than one window. */
static bool has_more(int day, const struct dir_name *files, size_t n)
{
	struct text offsets = { 0 };
	struct dir_name hour;
	bool more = false;
	int fd;

	if (!files[0].hour)
		return n > 1;
	fd = dir_hour_open(day, files[0].epoch, files[0].stream, &hour);
	if (fd < 0 || !dir_hour_list(fd, &offsets))
		n = 0;
	for (size_t i = 1; i < n; i++)
		more |= !files[i].hour && !dir_hour_holds(text_view(&offsets), files[i].epoch % DIR_HOUR);
	if (fd >= 0)
		close(fd);
	text_free(&offsets);
	return more;
}

static int by_hour(const void *left, const void *right)
{
	const struct dir_name *name = left, *b = right;
	uint64_t ha = name->epoch / DIR_HOUR, hb = b->epoch / DIR_HOUR;

	if (ha != hb)
		return ha < hb ? -1 : 1;
	if (name->stream != b->stream)
		return name->stream < b->stream ? -1 : 1;
	return dir_name_cmp(name, b);
}

/* Does one step of maintenance in the folder `day` (descriptor): for the first hour and stream that needs it, writes
 * the roll-up, or deletes the windows that the roll-up contains. Returns true if something was done, so that more may
 * be left; false if nothing is left, or nothing could be done. */
static bool tidy_day(const struct dir_store *store, int day, uint64_t now)
{
	struct dir_name *files;
	size_t n, end;
	bool done = false;

	tempfile_sweep(day);
	if (!dir_files(day, 0, UINT64_MAX, &files, &n))
		return false;
	if (n)
		qsort(files, n, sizeof(*files), by_hour);
	for (size_t i = 0; i < n && !done; i = end) {
		for (end = i + 1; end < n && files[end].epoch / DIR_HOUR == files[i].epoch / DIR_HOUR &&
				  files[end].stream == files[i].stream;
		     end++)
			;
		if (has_more(day, files + i, end - i))
			done = roll_up(store, day, files + i, end - i);
		else if (files[i].hour && end - i > 1)
			done = drop_parts(day, files + i, end - i, now);
	}
	free(files);
	return done;
}

/* ---- limits of age and size -------------------------------------------------------------------------------------- */

/* Deletes the store's files in the folder of a day, then the folder if no other files are in it. Returns true if the
 * folder was deleted. */
static bool drop_day(int host, const char *name)
{
	int day = dir_enter(host, name);
	struct dir_name *files;
	size_t n = 0;

	if (day < 0)
		return false;
	if (dir_files(day, 0, UINT64_MAX, &files, &n)) {
		for (size_t i = 0; i < n; i++)
			for (unsigned zstd = 0; zstd < 2; zstd++) {
				char file[DIR_NAME];

				files[i].zstd = zstd;
				dir_name_put(file, files + i);
				unlinkat(day, file, 0);
			}
		free(files);
	}
	tempfile_sweep(day);
	close(day);
	return unlinkat(host, name, AT_REMOVEDIR) == 0;
}

static uint64_t day_bytes(int host, const char *name)
{
	int day = dir_enter(host, name);
	struct dir_name *files;
	uint64_t bytes = 0;
	size_t n = 0;

	if (day < 0)
		return 0;
	if (dir_files(day, 0, UINT64_MAX, &files, &n)) {
		for (size_t i = 0; i < n; i++) {
			char file[DIR_NAME];
			struct stat status;

			dir_name_put(file, files + i);
			if (fstatat(day, file, &status, AT_SYMLINK_NOFOLLOW) == 0)
				bytes += (uint64_t)status.st_size;
		}
		free(files);
	}
	close(day);
	return bytes;
}

/* Deletes the oldest day if the host exceeds its limit of age or size. Never deletes the newest day. Returns true if a
 * day was deleted. */
static bool dirtidy_keep_limits(const struct dir_store *store, int host, char **days, size_t n, uint64_t now)
{
	uint64_t day, sum = 0;

	for (size_t i = 0; store->keep_days && i + 1 < n; i++)
		if (dir_day_parse(days[i], &day) && day + store->keep_days < now / DIR_DAY && drop_day(host, days[i]))
			return true;
	if (!store->max_bytes)
		return false;
	for (size_t i = n; i-- > 0;) {
		sum += day_bytes(host, days[i]);
		if (sum > store->max_bytes && i + 1 < n) {
			for (size_t index = 0; index <= i; index++)
				if (drop_day(host, days[index]))
					return true;
			return false;
		}
	}
	return false;
}

/* ---- interface of the module ------------------------------------------------------------------------------------- */

static bool tidy_host(const struct dir_store *store, const char *name, uint64_t now)
{
	int host = dir_enter(store->root, name);
	char **days = NULL;
	size_t n = 0;
	bool more;

	if (host < 0)
		return false;
	/* Nothing to do: another process tidies this host, or its folder cannot be read. */
	if (flock(host, LOCK_EX | LOCK_NB) < 0 || !dir_folders(host, true, &days, &n)) {
		close(host);
		return false;
	}
	more = dirtidy_keep_limits(store, host, days, n, now);
	for (size_t i = 0; i < n && !more && store->roll_up_days; i++) {
		uint64_t day;
		int folder;

		if (!dir_day_parse(days[i], &day) || day + store->roll_up_days >= now / DIR_DAY)
			continue;
		folder = dir_enter(host, days[i]);
		if (folder < 0)
			continue;
		more = tidy_day(store, folder, now);
		close(folder);
	}
	dir_folders_free(days, n);
	close(host);
	return more;
}

bool dir_tidy(void *store, struct str host, uint64_t now)
{
	const struct dir_store *dir_store = store;
	char **hosts;
	size_t n;
	bool more = false;

	if (!dir_folders(dir_store->root, false, &hosts, &n))
		return false;
	for (size_t i = 0; i < n && !more; i++)
		if (host.n == 0 || str_eq(host, str_of(hosts[i])))
			more = tidy_host(dir_store, hosts[i], now);
	dir_folders_free(hosts, n);
	return more;
}
