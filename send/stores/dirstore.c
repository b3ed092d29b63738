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

static void *dir_open(struct str where, const struct store_options *o, struct text *why)
{
	struct dir_store *d = mem_alloc(sizeof(*d), 1);
	struct outpath place;

	d->path = mem_alloc(1, where.n + 1);
	memcpy(d->path, where.p, where.n);
	d->zstd = pack_has_zstd && !o->gzip;
	d->keep_days = o->keep_days;
	d->max_bytes = o->max_bytes;
	d->roll_up_days = o->roll_up_days;
	d->root = outpath_directory(&place, d->path, o->reading ? 0 : 0750);
	if (d->root < 0)
		text_printf(why, "cannot use the directory: %s", place.refused[0] ? place.refused : strerror(errno));
	outpath_close(&place);
	if (d->root >= 0)
		return d;
	free(d->path);
	free(d);
	return NULL;
}

static void dir_close(void *store)
{
	struct dir_store *d = store;

	close(d->root);
	free(d->path);
	free(d);
}

bool dir_pack(const struct dir_store *d, struct text *t, struct str s)
{
	return d->zstd ? pack_zstd(t, s, PACK_ZSTD) : pack_gzip(t, s, PACK_GZIP);
}

/* A folder below another, made and durable if it was not there; -1: errno. */
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

/* What passes by itself is tried again at once and for ever; the rest needs somebody. */
static void dirstore_failed(struct store_report *r, const char *what, int error)
{
	bool passes = error == ENOSPC || error == EDQUOT || error == EIO || error == ESTALE || error == EINTR ||
		      error == EAGAIN || error == EMFILE || error == ENFILE || error == ENOMEM;

	r->verdict = passes ? STORE_LATER : STORE_HOLD;
	text_printf(&r->why, "%s: %s", what, strerror(error));
}

/* Does the file say what is to be sent? */
static bool dirstore_holds(int fd, struct str text)
{
	struct unpack u;
	char buf[16384];
	size_t n;
	bool same = true;

	unpack_open(&u, fd);
	while (same && (n = unpack_read(&u, buf, sizeof(buf))) > 0) {
		same = n <= text.n && memcmp(buf, text.p, n) == 0;
		text = same ? str_from(text, n) : text;
	}
	same = same && text.n == 0 && !u.errors;
	unpack_close(&u);
	return same;
}

/* Is another window of that stream there that begins in that second, but takes longer or shorter? -1: errno. */
static int begins_there(int day, struct dir_name n)
{
	struct dir_name *files;
	size_t nfiles;
	bool found = false;

	if (!dir_files(day, n.epoch, n.epoch + 1, &files, &nfiles))
		return -1;
	for (size_t i = 0; i < nfiles; i++)
		found |= !files[i].hour && files[i].stream == n.stream;
	free(files);
	return found;
}

/* Is the window stored already? As it is, of either packing, or in the sum of its hour. -1: errno. */
static int dirstore_stored(int day, const struct window *w, struct dir_name n, struct store_report *r)
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
		r->differs = !dirstore_holds(fd, w->text);
		close(fd);
		return 1;
	}
	fd = dir_hour_open(day, w->epoch - w->epoch % DIR_HOUR, w->stream, &hour);
	held = fd >= 0 && dir_hour_list(fd, &offsets) && dir_hour_holds(text_view(&offsets), w->epoch % DIR_HOUR);
	if (fd >= 0)
		close(fd);
	text_free(&offsets);
	if (held)
		return 1;
	there = begins_there(day, n);
	r->differs = there > 0;
	return there;
}

static void send_to(struct dir_store *d, int day, const struct window *w, struct store_report *r)
{
	struct dir_name n = { .epoch = w->epoch, .until = w->until, .stream = w->stream, .zstd = d->zstd };
	struct text packed = { 0 };
	struct str bytes;
	char name[DIR_NAME];
	int error, there = dirstore_stored(day, w, n, r);

	if (there < 0) {
		dirstore_failed(r, "cannot read the folder of the day", errno);
		return;
	}
	if (there) {
		r->known = 1;
		if (fsync(day) < 0 && errno != EINVAL) /* it was renamed, perhaps by a run that was killed then */
			dirstore_failed(r, "cannot sync the folder of the day", errno);
		return;
	}
	dir_name_put(name, &n);
	if (str_starts(w->packed, d->zstd ? STR("\x28\xB5\x2F\xFD") : STR("\x1F\x8B"))) {
		bytes = w->packed;
	} else if (dir_pack(d, &packed, w->text)) {
		bytes = text_view(&packed);
	} else {
		dirstore_failed(r, "cannot pack a window", ENOMEM);
		return;
	}
	error = fullio_replace(day, name, bytes) ? 0 : errno;
	if (error)
		dirstore_failed(r, "cannot write a window", error);
	else
		r->documents = 1;
	r->bytes = error ? 0 : bytes.n;
	text_free(&packed);
}

static void dir_send(void *store, const struct window *w, uint64_t *resume, bool isolate, struct store_report *r)
{
	struct dir_store *d = store;
	char host_name[256], day_name[16];
	int host, day = -1;

	(void)resume;
	(void)isolate;
	r->verdict = STORE_SENT;
	if (!dir_host_good(w->host)) {
		r->verdict = STORE_REFUSED;
		text_printf(&r->why, "the name of its host is no name of a folder: letters, digits, '.', '_', '-'");
		return;
	}
	memcpy(host_name, w->host.p, w->host.n);
	host_name[w->host.n] = 0;
	dir_day_put(day_name, w->epoch / DIR_DAY);
	host = dirstore_make_folder(d->root, host_name);
	if (host >= 0)
		day = dirstore_make_folder(host, day_name);
	if (day >= 0)
		send_to(d, day, w, r);
	else
		dirstore_failed(r, "cannot make the folder of the day", errno);
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
