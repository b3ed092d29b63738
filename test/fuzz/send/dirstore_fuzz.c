/* dirstore: a store in a directory whose files hold any bytes is listed, read, rolled up and kept within limits, or the
 * damage is named. Input: a byte of options, then the files, each text of a window that is packed here, or bytes as
 * they are. */
/* full-san: 10 to 30 s with sanitizers */
/* covers: send/stores/dirread.c send/stores/dirtidy.c send/stores/dirnames.c */
#include "send/stores/dirstore.h"
#include "send/format/pack.h"

#include "test/fuzz/fuzz.h"

#include <errno.h>
#include <ftw.h>
#include <sys/stat.h>

enum { PACKED = 1, ZSTD = 2, HOUR = 4, UNTRUSTED = 8, OFTEN = 16, LIMITS = 32 };
enum { FILES = 6 };
#define EPOCH UINT64_C(1795291200) /* a full hour */

static bool reported(void *to, const struct window *window)
{
	(void)to;
	(void)window;
	return true;
}

static bool lines(void *to, struct str string)
{
	MUST(string.n && string.p[string.n - 1] == '\n');
	*(uint64_t *)to += string.n;
	return true;
}

static void damaged(void *to, struct str place, const char *why)
{
	(void)to;
	MUST(place.n && why && *why);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	return at->level ? remove(path) : 0;
}

static void write_at(int folder, const char *name, struct str bytes)
{
	int fd = openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	MUST(fd >= 0 && (bytes.n == 0 || write(fd, bytes.p, bytes.n) == (ssize_t)bytes.n));
	close(fd);
}

static void fill(int day, unsigned bits, struct str rest)
{
	for (uint64_t i = 0; i < FILES && rest.n; i++) {
		struct dir_name name = { .epoch = EPOCH + (bits & HOUR && i == 0 ? 0 : 30 * i + (i > 4) * DIR_HOUR),
					 .stream = bits & OFTEN ? 1 : i % 2 + 1,
					 .hour = bits & HOUR && i == 0,
					 .zstd = pack_has_zstd && bits & ZSTD },
				same;
		struct str part = fuzz_part(&rest);
		struct text t = { 0 };
		char path[DIR_NAME];

		name.until = name.epoch + (name.hour ? DIR_HOUR : 30);
		dir_name_put(path, &name);
		MUST(dir_name_parse(path, &same) && dir_name_cmp(&same, &name) == 0 && same.until == name.until &&
		     same.zstd == name.zstd);
		if (bits & PACKED)
			MUST(name.zstd ? pack_zstd(&t, part, PACK_ZSTD) : pack_gzip(&t, part, PACK_GZIP));
		write_at(day, path, bits & PACKED ? text_view(&t) : part);
		text_free(&t);
	}
	if (bits & UNTRUSTED) {
		write_at(day, "1795291200+30.0123456789abcdeg.folded.gz", STR("x"));
		write_at(day, "1795291230+31.0000000000000001.folded.gz",
			 STR("x")); /* of the same second and stream as another */
		write_at(day, ".1795291200+30.0123456789abcdef.folded.gz.tmp", STR("x"));
		MUST(mkdirat(day, "1795291260+30.0000000000000001.folded.gz", 0700) == 0 || errno == EEXIST);
	}
}

static void read_all(struct dir_store *store)
{
	static struct str label = { "k=v", 3 }, event = { "c*", 2 };
	uint64_t bytes = 0;
	struct store_sink sink = { reported, lines, damaged, &bytes };
	struct text why = { 0 };

	for (unsigned by = BY_ALL; by <= BY_LABEL; by++) {
		struct store_query q = { .from = by == BY_TIME ? EPOCH + 30 : 0,
					 .to = EPOCH + 7200,
					 .by = (enum store_by)by,
					 .by_label = STR("k"),
					 .host = by == BY_HOST ? STR("h") : STR(""),
					 .label = &label,
					 .nlabel = by == BY_LABEL,
					 .event = &event,
					 .nevent = by == BY_LABEL };

		MUST(dir_fetch(store, &q, &sink, &why) || why.n);
		why.n = 0;
		MUST(dir_list(store, &q, &sink, &why) || why.n);
		why.n = 0;
	}
	text_free(&why);
}

int fuzz_one(const uint8_t *data, size_t n)
{
	unsigned bits = n ? data[0] : 0;
	int root = fuzz_folder(), host, day;
	struct dir_store d = { .path = fuzz_folder_path,
			       .root = root,
			       .zstd = bits & ZSTD && pack_has_zstd,
			       .roll_up_days = 1,
			       .keep_days = bits & LIMITS ? 30 : 0,
			       .max_bytes = bits & LIMITS ? 100 : 0 };
	char day_name[16];

	if (FUZZ_GUARD())
		return 0;
	dir_day_put(day_name, EPOCH / DIR_DAY);
	MUST(mkdirat(root, "h", 0700) == 0 && (host = openat(root, "h", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) >= 0);
	MUST(mkdirat(host, day_name, 0700) == 0 &&
	     (day = openat(host, day_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) >= 0);
	if (bits & UNTRUSTED)
		MUST(mkdirat(root, "g", 0700) == 0 && mkdirat(root, ".x", 0700) == 0 &&
		     mkdirat(host, "2026-13-01", 0700) == 0);
	if (bits & LIMITS) /* the newest day is never removed */
		MUST(mkdirat(host, "2026-11-22", 0700) == 0);
	fill(day, bits, (struct str){ (const char *)data + (n > 0), n - (n > 0) });
	read_all(&d);
	for (unsigned i = 0; i < 8 && dir_tidy(&d, i % 2 ? STR("h") : STR(""), EPOCH + 3 * DIR_DAY); i++)
		;
	read_all(&d);
	dir_tidy(&d, STR("other"), EPOCH + 60 * DIR_DAY);
	for (unsigned i = 0; i < 8 && dir_tidy(&d, STR(""), EPOCH + 60 * DIR_DAY); i++)
		;
	close(day);
	close(host);
	nftw(fuzz_folder_path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	return 0;
}
