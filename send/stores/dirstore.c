/* SPDX-License-Identifier: Apache-2.0 */
#include "send/stores/dirstore.h"

#include "common/arena.h"
#include "common/files/outpath.h"
#include "send/format/pack.h"
#include "send/stores.h"
#include "common/files/fullio.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns true if the directory is a DIR of pjrecord. Its windows do not have the form of a store, so a reader would
 * find no windows. */
static bool is_of_recorder(int root)
{
	return faccessat(root, "recording/recorder", F_OK, 0) == 0 && faccessat(root, "out", F_OK, 0) == 0;
}

static void *dir_open(struct str where, const struct store_options *options, struct text *why)
{
	struct dir_store *store = mem_alloc(sizeof(*store), 1);
	struct outpath place;

	store->path = mem_alloc(1, where.n + 1);
	memcpy(store->path, where.p, where.n);
	store->zstd = pack_has_zstd && !options->gzip;
	store->keep_days = options->keep_days;
	store->max_bytes = options->max_bytes;
	store->roll_up_days = options->roll_up_days;
	store->root = outpath_directory(&place, store->path, options->reading ? 0 : 0750);
	if (store->root < 0)
		text_printf(why, "cannot use the directory: %s", place.refused[0] ? place.refused : strerror(errno));
	outpath_close(&place);
	if (store->root >= 0 && options->reading && is_of_recorder(store->root)) {
		text_printf(why,
			    "this is a directory of pjrecord, not a store: pjfold %.*s/out/*.data folds its windows",
			    (int)where.n, where.p);
		close(store->root);
		store->root = -1;
	}
	if (store->root >= 0)
		return store;
	free(store->path);
	free(store);
	return NULL;
}

static void dir_close(void *store)
{
	struct dir_store *dir_store = store;

	close(dir_store->root);
	free(dir_store->path);
	free(dir_store);
}

bool dir_pack(const struct dir_store *store, struct text *text, struct str string)
{
	return store->zstd ? pack_zstd(text, string, PACK_ZSTD) : pack_gzip(text, string, PACK_GZIP);
}

/* Opens a folder in another folder; if it does not exist, creates it and syncs the parent to disk. Returns -1 on
 * failure, with errno. */
static int dirstore_make_folder(int at, const char *name)
{
	int fd = dir_enter(at, name);

	if (fd >= 0 || errno != ENOENT)
		return fd;
	if (mkdirat(at, name, 0750) < 0 && errno != EEXIST)
		return -1;
	if (fsync(at) < 0 && errno != EINVAL)
		return -1;
	return dir_enter(at, name);
}

/* Sets the verdict for an errno: STORE_LATER if the error may pass by itself, STORE_HOLD if it needs an operator. Sets
 * the reason to `what` and the text of the errno. */
static void dirstore_failed(struct store_report *report, const char *what, int error)
{
	bool passes = error == ENOSPC || error == EDQUOT || error == EIO || error == ESTALE || error == EINTR ||
		      error == EAGAIN || error == EMFILE || error == ENFILE || error == ENOMEM;

	report->verdict = passes ? STORE_LATER : STORE_HOLD;
	text_printf(&report->why, "%s: %s", what, strerror(error));
}

/* Returns true if the decompressed content of a file equals `text`. */
static bool dirstore_holds(int fd, struct str text)
{
	struct unpack unpack;
	char buf[16384];
	size_t n;
	bool same = true;

	unpack_open(&unpack, fd);
	while (same && (n = unpack_read(&unpack, buf, sizeof(buf))) > 0) {
		same = n <= text.n && memcmp(buf, text.p, n) == 0;
		text = same ? str_from(text, n) : text;
	}
	same = same && text.n == 0 && !unpack.errors;
	unpack_close(&unpack);
	return same;
}

/* Returns 1 if the folder of a day has a window of the same stream and start, of any duration; 0 if not; -1 on failure,
 * with errno. */
static int begins_there(int day, struct dir_name name)
{
	struct dir_name *files;
	size_t nfiles;
	bool found = false;

	if (!dir_files(day, name.epoch, name.epoch + 1, &files, &nfiles))
		return -1;
	for (size_t i = 0; i < nfiles; i++)
		found |= !files[i].hour && files[i].stream == name.stream;
	free(files);
	return found;
}

/* Returns 1 if the store has the window, in either compression or in the roll-up of its hour; also 1, with
 * report->differs, if the store has other content for the same stream and start. Returns 0 if it has no window of that
 * stream and start; -1 on failure, with errno. day: descriptor of the folder of the day. */
static int dirstore_stored(int day, const struct window *window, struct dir_name n, struct store_report *report)
{
	struct dir_name hour;
	struct text offsets = { 0 };
	char name[DIR_NAME];
	int fd = -1, there;
	bool held;

	for (unsigned i = 0; i < 2 && fd < 0; i++, n.zstd = !n.zstd) {
		dir_name_put(name, &n);
		fd = openat(day, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	}
	if (fd >= 0) {
		report->differs = !dirstore_holds(fd, window->text);
		close(fd);
		return 1;
	}
	fd = dir_hour_open(day, window->epoch - window->epoch % DIR_HOUR, window->stream, &hour);
	held = fd >= 0 && dir_hour_list(fd, &offsets) && dir_hour_holds(text_view(&offsets), window->epoch % DIR_HOUR);
	if (fd >= 0)
		close(fd);
	text_free(&offsets);
	if (held)
		return 1;
	there = begins_there(day, n);
	report->differs = there > 0;
	return there;
}

static void send_to(struct dir_store *store, int day, const struct window *window, struct store_report *report)
{
	struct dir_name n = {
		.epoch = window->epoch, .until = window->until, .stream = window->stream, .zstd = store->zstd
	};
	struct text packed = { 0 };
	struct str bytes;
	char name[DIR_NAME];
	int error, there = dirstore_stored(day, window, n, report);

	if (there < 0) {
		dirstore_failed(report, "cannot read the directory of the day", errno);
		return;
	}
	if (there) {
		report->known = 1;
		/* Syncs the folder again: an earlier run may have been killed after it renamed the file and before it
		 * synced the folder. */
		if (fsync(day) < 0 && errno != EINVAL)
			dirstore_failed(report, "cannot sync the directory of the day", errno);
		return;
	}
	dir_name_put(name, &n);
	if (str_starts(window->packed, store->zstd ? STR("\x28\xB5\x2F\xFD") : STR("\x1F\x8B"))) {
		bytes = window->packed;
	} else if (dir_pack(store, &packed, window->text)) {
		bytes = text_view(&packed);
	} else {
		dirstore_failed(report, "cannot compress a window", ENOMEM);
		return;
	}
	error = fullio_replace(day, name, bytes) ? 0 : errno;
	if (error)
		dirstore_failed(report, "cannot write a window", error);
	else
		report->documents = 1;
	report->bytes = error ? 0 : bytes.n;
	text_free(&packed);
}

static void dir_send(void *store, const struct window *window, uint64_t *resume, bool isolate,
		     struct store_report *report)
{
	struct dir_store *dir_store = store;
	char host_name[256], day_name[16];
	int host, day = -1;

	(void)resume;
	(void)isolate;
	report->verdict = STORE_SENT;
	if (!dir_host_good(window->host)) {
		report->verdict = STORE_REFUSED;
		text_printf(&report->why, "its host name is not a directory name: letters, digits, '.', '_', '-'");
		return;
	}
	memcpy(host_name, window->host.p, window->host.n);
	host_name[window->host.n] = 0;
	dir_day_put(day_name, window->epoch / DIR_DAY);
	host = dirstore_make_folder(dir_store->root, host_name);
	if (host >= 0)
		day = dirstore_make_folder(host, day_name);
	if (day >= 0)
		send_to(dir_store, day, window, report);
	else
		dirstore_failed(report, "cannot create the directory of the day", errno);
	if (day >= 0)
		close(day);
	if (host >= 0)
		close(host);
}

const struct store_ops store_dir = {
	.scheme = "dir",
	.form = "dir:PATH",
	.does = "files in a directory, by host and day",
	.exact = true,
	.local = true,
	.open = dir_open,
	.send = dir_send,
	.list = dir_list,
	.fetch = dir_fetch,
	.tidy = dir_tidy,
	.close = dir_close,
};
