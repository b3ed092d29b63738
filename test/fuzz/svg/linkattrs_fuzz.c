/* linkattrs, palmap: files of links and colours. No address that could run a script is taken; a file of colours that
 * was written is read again as the same. Input: a byte that chooses, then the file. */
/* covers: svg/layout/linkattrs.c svg/layout/palmap.c */
#include "svg/layout/linkattrs.h"
#include "svg/layout/palmap.h"
#include "common/filter/in.h"
#include "common/visible.h"

#include "test/fuzz/fuzz.h"

static void check_href(struct str href)
{
	MUST(href.n == 0 || link_attrs_is_safe_href(href));
	for (size_t i = 0; i < href.n; i++)
		MUST((unsigned char)href.p[i] > 0x20 && href.p[i] != '\\' && href.p[i] != 0x7f);
	if (href.n && !str_starts(href, STR("http")) && !str_starts(href, STR("HTTP")))
		for (size_t i = 0; i < href.n && !strchr("/?#", href.p[i]); i++)
			MUST((href.p[i] | 32) == 'h' || href.p[i] != ':' || str_find(href, '/') >= 0);
}

static void links(const char *path)
{
	struct link_attrs a;

	link_attrs_read(&a, path);
	for (uint32_t id = 1; id <= a.names.n; id++) {
		const struct link_attr *attr = link_attrs_find(&a, intern_str(&a.names, id), STR(""));

		MUST(attr == &a.of[id]);
		check_href(attr->href);
	}
	MUST(!link_attrs_find(&a, STR("a name\tthat has a tab"), STR("_[k]")));
	link_attrs_free(&a);
}

static void colours(const char *path)
{
	struct palmap m, again;
	uint32_t rgb = 0x123456, other = 0;

	palmap_read(&m, path);
	MUST(m.bad || m.names.n == 0 || m.rgb[1] <= 0xffffff);
	if (m.names.n) {
		palmap_colour(&m, intern_str(&m.names, 1), &other);
		MUST(other == m.rgb[1] && !m.added);
	}
	palmap_colour(&m, STR("a name->rgb(1,2,3)"), &rgb);
	palmap_write(&m);
	palmap_read(&again, path);
	MUST(again.bad == m.bad);
	for (uint32_t id = 1; id <= m.names.n && !m.bad; id++) {
		other = 1;
		palmap_colour(&again, intern_str(&m.names, id), &other);
		MUST(other == m.rgb[id] && !again.added);
	}
	palmap_free(&m);
	palmap_free(&again);
}

/* What is no text ends the tool, and what it had is not given back. */
static bool is_text(const char *path)
{
	static struct in in;
	volatile bool text = false;

	if (!FUZZ_GUARD()) {
		in_open(&in, path);
		in_expect_text(&in);
		text = true;
	}
	in_close(&in);
	return text;
}

int fuzz_one(const uint8_t *data, size_t n)
{
	char path[128];

	if (n < 1 ||
	    (n > 2 &&
	     data[1] == 0x1f)) /* damaged gzip ends the tool, and what it had is not given back: in_fuzz reads that */
		return 0;
	fuzz_put("file", (struct str){ (const char *)data + 1, n - 1 });
	snprintf(path, sizeof(path), "%s/file", fuzz_folder_path);
	if (is_text(path) && !FUZZ_GUARD()) {
		if (data[0] & 1)
			links(path);
		else
			colours(path);
	}
	unlinkat(fuzz_folder(), "file", 0);
	return 0;
}
