/* SPDX-License-Identifier: Apache-2.0 */
#include "svg/layout/palmap.h"

#include "common/filter/broker.h"
#include "common/filter/in.h"
#include "common/filter/out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define BEFORE_COLOUR STR("->rgb(")

/* ---- reading of the colours --------------------------------------------------------------------------------- */

static ptrdiff_t palmap_find_last(struct str string, struct str needle)
{
	for (size_t i = string.n < needle.n ? 0 : string.n - needle.n + 1; i-- > 0;) {
		if (str_starts(str_from(string, i), needle))
			return (ptrdiff_t)i;
	}
	return -1;
}

/* Sets *rgb to the colour of three channels, "255,0,12". Returns false for other strings. */
static bool parse_channels(struct str string, uint32_t *rgb)
{
	*rgb = 0;
	for (unsigned i = 0; i < 3; i++) {
		uint64_t value;
		if (!str_u64(str_trim(str_cut(&string, ',')), &value) || value > 255)
			return false;
		*rgb = *rgb << 8 | (uint32_t)value;
	}
	return string.n == 0;
}

const char *palmap_parse(struct str line, struct str *name, uint32_t *rgb)
{
	line = str_trim_right(line);
	ptrdiff_t at = palmap_find_last(line, BEFORE_COLOUR);

	if (at < 0 || !str_ends(line, STR(")")))
		return "no ->rgb(r,g,b) at its end";
	*name = str_head(line, (size_t)at);
	struct str channels = str_from(line, (size_t)at + BEFORE_COLOUR.n);
	if (!parse_channels(str_head(channels, channels.n - 1), rgb))
		return "rgb() needs three numbers from 0 to 255";
	return NULL;
}

static void set_colour(struct palmap *palmap, struct str name, uint32_t rgb)
{
	uint32_t id = intern(&palmap->names, name);

	if (id >= palmap->cap) {
		palmap->cap = id * 2 + 64;
		palmap->rgb = mem_grow(palmap->rgb, sizeof(*palmap->rgb), palmap->cap);
	}
	palmap->rgb[id] = rgb;
}

void palmap_read(struct palmap *palmap, const char *path)
{
	struct in input;
	struct str line;
	int fd;

	*palmap = (struct palmap){ .path = path };
	fd = broker_open(AT_FDCWD, path, 0);
	if (fd < 0 && errno == ENOENT)
		return;
	/* EINVAL: not a regular file: palmap_write could not replace it, and the read of a FIFO would block. */
	if (fd < 0 && errno == EINVAL)
		die("%s: not a regular file", path);
	if (fd >= 0)
		close(fd);
	in_open(&input, path);
	in_expect_text(&input);
	while (in_line(&input, &line)) {
		struct str name = { 0 };
		uint32_t rgb = 0;
		const char *why = str_is_blank(line) ? NULL : palmap_parse(line, &name, &rgb);

		if (why && palmap->bad++ < 3)
			warn_at(in_place(&input), "not a colour: %s", why);
		if (!why && !str_is_blank(line))
			set_colour(palmap, name, rgb);
	}
	if (input.errors)
		die_at(in_place(&input), "%s", input.errors);
	if (palmap->bad > 1)
		warn("%s: %ju lines skipped", path, (uintmax_t)palmap->bad);
	in_close(&input);
}

/* ---- lookup and writing of the colours ---------------------------------------------------------------------- */

void palmap_colour(struct palmap *palmap, struct str name, uint32_t *rgb)
{
	uint32_t id = intern_find(&palmap->names, name);

	if (id) {
		*rgb = palmap->rgb[id];
		return;
	}
	set_colour(palmap, name, *rgb);
	palmap->added = true;
}

static void palmap_put_line(struct out *out, struct str name, uint32_t rgb)
{
	out_str(out, name);
	out_printf(out, "->rgb(%u,%u,%u)\n", rgb >> 16 & 255, rgb >> 8 & 255, rgb & 255);
}

void palmap_write(const struct palmap *palmap)
{
	static struct out out;

	if (!palmap->added)
		return;
	if (palmap->bad) {
		warn("%s is not changed: some of its lines are not colours, name->rgb(r,g,b)", palmap->path);
		return;
	}
	uint32_t *rank = intern_ranks(&palmap->names), *sorted = mem_alloc(sizeof(*sorted), palmap->names.n);
	for (uint32_t id = 1; id <= palmap->names.n; id++)
		sorted[rank[id]] = id;
	out_open(&out, palmap->path);
	for (uint32_t i = 0; i < palmap->names.n; i++)
		palmap_put_line(&out, intern_str(&palmap->names, sorted[i]), palmap->rgb[sorted[i]]);
	out_close(&out);
	free(sorted);
	free(rank);
}

void palmap_free(struct palmap *palmap)
{
	intern_free(&palmap->names);
	free(palmap->rgb);
	*palmap = (struct palmap){ 0 };
}
