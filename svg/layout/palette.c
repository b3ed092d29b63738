/* SPDX-License-Identifier: Apache-2.0 */
#include "svg/layout/palette.h"

#include "common/formats/folded.h"
#include "common/visible.h"

/* ---- colours of code kinds ---------------------------------------------------------------------------------- */

static const uint32_t kind_colour[CODE_COUNT][2] = {
	[CODE_KERNEL] = { 0xe8a52b, 0x854e09 },       [CODE_NATIVE] = { 0xfa7d7a, 0x7a3028 },
	[CODE_CPP] = { 0xf7d528, 0x826d13 },          [CODE_JAVA] = { 0x9cdd8a, 0x496644 },
	[CODE_JAVA_INLINED] = { 0xbaffff, 0x01708a }, [CODE_JAVA_INTERPRETED] = { 0xedf2af, 0x6a726a },
	[CODE_JIT] = { 0x9cdd8a, 0x496644 },          [CODE_INTERPRETED] = { 0xedf2af, 0x6a726a },
	[CODE_JS] = { 0x82c9ff, 0x2454a2 },           [CODE_PYTHON] = { 0xc290d7, 0x613b77 },
	[CODE_UNKNOWN] = { 0xb1b3b7, 0x474e55 },      [CODE_PROCESS] = { 0xd2d5d8, 0x323740 },
};

uint32_t palette_root(bool dark)
{
	return kind_colour[CODE_PROCESS][dark];
}

uint32_t palette_blend(uint32_t ink, uint32_t paper, unsigned percent)
{
	uint32_t rgb = 0;

	for (unsigned shift = 0; shift < 24; shift += 8) {
		unsigned a = (ink >> shift) & 255, b = (paper >> shift) & 255;
		rgb |= ((a * percent + b * (100 - percent) + 50) / 100) << shift;
	}
	return rgb;
}

uint32_t palette_dark(uint32_t light)
{
	return palette_blend(light, 0, 45);
}

struct shade palette_of_kind(enum code code)
{
	return (struct shade){ kind_colour[code][0], kind_colour[code][1], code_label(code) };
}

/* ---- flamegraph.pl's colours -------------------------------------------------------------------------------- */

/* Colour ranges of flamegraph.pl. Each channel of a colour is base + span * v[which], where v[0] to v[2] are values
 * from 0 to 1 that are computed from a name. */
enum hue { HOT, MEM, IO, RED, GREEN, BLUE, YELLOW, PURPLE, AQUA, ORANGE, HUES };

static const struct {
	uint8_t base[3], span[3], which[3];
} hues[HUES] = {
	[HOT] = { { 205, 0, 0 }, { 50, 230, 55 }, { 2, 0, 1 } },
	[MEM] = { { 0, 190, 0 }, { 0, 50, 210 }, { 0, 1, 0 } },
	[IO] = { { 80, 80, 190 }, { 60, 60, 55 }, { 0, 0, 1 } },
	[RED] = { { 200, 50, 50 }, { 55, 80, 80 }, { 0, 0, 0 } },
	[GREEN] = { { 50, 200, 50 }, { 60, 55, 60 }, { 0, 0, 0 } },
	[BLUE] = { { 80, 80, 205 }, { 60, 60, 50 }, { 0, 0, 0 } },
	[YELLOW] = { { 175, 175, 50 }, { 55, 55, 20 }, { 0, 0, 0 } },
	[PURPLE] = { { 190, 80, 190 }, { 65, 60, 65 }, { 0, 0, 0 } },
	[AQUA] = { { 50, 165, 165 }, { 60, 55, 55 }, { 0, 0, 0 } },
	[ORANGE] = { { 190, 90, 0 }, { 65, 65, 0 }, { 0, 0, 0 } },
};

/* Removes the first code point from *string and returns it. An invalid byte is treated as a code point. */
static uint32_t next_code(struct str *string)
{
	uint32_t u = (unsigned char)string->p[0];
	size_t n = visible_point(*string, &u);

	*string = str_from(*string, n ? n : 1);
	return u;
}

/* Returns a value from 0 to 1: the first number of drand48, with the sum of the name's code points as seed. */
static double seeded_value(struct str name)
{
	uint64_t seed = 0;

	while (name.n)
		seed += next_code(&name);
	uint64_t x = (seed & 0xffffffff) << 16 | 0x330e;
	x = (x * 0x5deece66d + 0xb) & 0xffffffffffff;
	return (double)x / (double)(1ULL << 48);
}

static double hashed_value(const uint32_t code[3], unsigned n)
{
	double vector = 0, weight = 1, max = 1;

	for (unsigned i = 0; i < n; i++) {
		uint32_t mod = 10 + i;
		vector += (double)(code[i] % mod) / (mod - 1) * weight;
		max += weight;
		weight *= 0.7;
	}
	return 1 - vector / max;
}

/* Returns "function" for "module`function". As in flamegraph.pl, the module has at least one character. */
static struct str without_module(struct str name)
{
	if (name.n == 0)
		return name;
	ptrdiff_t tick = str_find(str_from(name, 1), '`');
	return tick < 0 ? name : str_from(name, (size_t)tick + 2);
}

/* Returns "module" for "module`function": the part before the last backquote. As in flamegraph.pl, the function has at
 * least one character. */
static struct str without_function(struct str name)
{
	ptrdiff_t tick = name.n ? str_rfind(str_head(name, name.n - 1), '`') : -1;

	return tick < 0 ? name : str_head(name, (size_t)tick);
}

/* Sets v[0] to a hash of the function's first three characters, v[1] and v[2] to a hash of the module's last three
 * characters in reverse order. */
static void hashed_values(struct str name, double v[3])
{
	uint32_t first[3] = { 0 }, last[3] = { 0 };
	unsigned nfirst = 0, nlast = 0;
	struct str string = without_module(name);

	while (string.n && nfirst < 3)
		first[nfirst++] = next_code(&string);
	for (string = without_function(name); string.n;) {
		last[2] = last[1];
		last[1] = last[0];
		last[0] = next_code(&string);
		nlast += nlast < 3;
	}
	v[0] = hashed_value(first, nfirst);
	v[1] = v[2] = hashed_value(last, nlast);
}

static struct shade hue_shade(enum hue hue, bool hash, struct str frame)
{
	double v[3];
	uint32_t rgb = 0;

	if (hash)
		hashed_values(frame, v);
	else
		v[0] = v[1] = v[2] = seeded_value(frame);
	for (unsigned i = 0; i < 3; i++)
		rgb = rgb << 8 | (uint32_t)(hues[hue].base[i] + (int)(hues[hue].span[i] * v[hues[hue].which[i]]));
	return (struct shade){ .light = rgb, .label = "" };
}

/* ---- palettes by language ----------------------------------------------------------------------------------- */

static bool palette_has(struct str string, struct str needle)
{
	return str_find_str(string, needle) >= 0;
}

static enum hue hue_java(struct str string)
{
	static const struct str package[] = {
		STR("java/"), STR("javax/"), STR("jdk/"), STR("net/"),
		STR("org/"),  STR("com/"),   STR("io/"),  STR("sun/"),
	};
	struct str path = string.n && string.p[0] == 'L' ? str_from(string, 1) : string;

	if (str_ends(string, STR("_[j]")))
		return GREEN;
	if (str_ends(string, STR("_[i]")))
		return AQUA;
	for (size_t i = 0; i < countof(package); i++) {
		if (str_starts(path, package[i]))
			return GREEN;
	}
	if (palette_has(string, STR("::")))
		return palette_has(string, STR(":::")) ? GREEN : YELLOW;
	return str_ends(string, STR("_[k]")) ? ORANGE : RED;
}

static enum hue hue_js(struct str string)
{
	ptrdiff_t slash = str_find(string, '/');

	if (str_ends(string, STR("_[j]")))
		return slash >= 0 ? GREEN : AQUA;
	if (palette_has(string, STR("::")))
		return YELLOW;
	if (slash >= 0 && palette_has(str_from(string, (size_t)slash), STR(".js")))
		return GREEN;
	if (str_find(string, ':') >= 0)
		return AQUA;
	if (str_eq(string, STR(" ")))
		return GREEN;
	return palette_has(string, STR("_[k]")) ? ORANGE : RED;
}

static enum hue hue_perl(struct str string)
{
	if (palette_has(string, STR("::")))
		return YELLOW;
	if (palette_has(string, STR("Perl")) || palette_has(string, STR(".pl")))
		return GREEN;
	return str_ends(string, STR("_[k]")) ? ORANGE : RED;
}

static enum hue hue_python(struct str string)
{
	ptrdiff_t python = str_find_str(string, STR("python"));

	if (palette_has(string, STR("site-packages")))
		return AQUA;
	if (python >= 0 && string.n > (size_t)python + 6 && string.p[python + 6] >= '0' && string.p[python + 6] <= '9')
		return YELLOW;
	if (str_starts(string, STR("<built-in")) || str_starts(string, STR("<method")) ||
	    str_starts(string, STR("<frozen")))
		return YELLOW;
	return RED;
}

static enum hue hue_rust(struct str string)
{
	static const struct str base[] = { STR("core::"), STR("std::"), STR("alloc::") };
	ptrdiff_t tick = str_find(string, '`');

	if (tick >= 0)
		string = str_from(string, (size_t)tick + 1);
	struct str inner = string.n && string.p[0] == '<' ? str_from(string, 1) : string;
	for (size_t i = 0; i < countof(base); i++) {
		if (str_starts(inner, base[i]))
			return ORANGE;
	}
	return palette_has(string, STR("::")) ? AQUA : YELLOW;
}

/* ---- all palettes ------------------------------------------------------------------------------------------- */

struct palette {
	struct str name;
	enum { BY_KIND, BY_NAME, BY_LANGUAGE, BY_CHAIN } by;
	enum hue hue;
	enum hue (*language)(struct str frame);
};

static const struct palette palettes[] = {
	{ STR("kind"), BY_KIND, 0, NULL },
	{ STR("hot"), BY_NAME, HOT, NULL },
	{ STR("mem"), BY_NAME, MEM, NULL },
	{ STR("io"), BY_NAME, IO, NULL },
	{ STR("red"), BY_NAME, RED, NULL },
	{ STR("green"), BY_NAME, GREEN, NULL },
	{ STR("blue"), BY_NAME, BLUE, NULL },
	{ STR("yellow"), BY_NAME, YELLOW, NULL },
	{ STR("purple"), BY_NAME, PURPLE, NULL },
	{ STR("aqua"), BY_NAME, AQUA, NULL },
	{ STR("orange"), BY_NAME, ORANGE, NULL },
	{ STR("wakeup"), BY_NAME, AQUA, NULL },
	{ STR("chain"), BY_CHAIN, BLUE, NULL },
	{ STR("java"), BY_LANGUAGE, 0, hue_java },
	{ STR("js"), BY_LANGUAGE, 0, hue_js },
	{ STR("perl"), BY_LANGUAGE, 0, hue_perl },
	{ STR("python"), BY_LANGUAGE, 0, hue_python },
	{ STR("rust"), BY_LANGUAGE, 0, hue_rust },
};

const struct palette *palette_find(struct str name)
{
	for (size_t i = 0; i < countof(palettes); i++) {
		if (str_eq(palettes[i].name, name))
			return &palettes[i];
	}
	return NULL;
}

struct str palette_name(size_t i)
{
	return i < countof(palettes) ? palettes[i].name : (struct str){ 0 };
}

bool palette_is_kind(const struct palette *palette)
{
	return palette->by == BY_KIND;
}

bool palette_is_chain(const struct palette *palette)
{
	return palette->by == BY_CHAIN;
}

/* Returns the label that the legend shows for a suffix in palettes that do not show code kinds. */
static const char *suffix_label(struct str suffix)
{
	switch (suffix.n == 4 ? suffix.p[2] : 0) {
	case 'k': return "kernel";
	case 'j': return "compiled";
	case '1': return "compiled by C1";
	case 'i': return "inlined";
	case '0': return "interpreted";
	case 'w': return "waker";
	default: return "";
	}
}

/* Returns the colours of a frame after a separator: the colours of its name with `_[w]` appended. hash: true: colours
 * of --hash. */
static struct shade woken_shade(bool hash, struct str frame)
{
	struct text name = { 0 };

	text_str(&name, frame);
	text_add(&name, "_[w]");
	struct shade shade = hue_shade(AQUA, hash, text_view(&name));
	text_free(&name);
	return shade;
}

struct shade palette_shade(const struct palette *palette, bool hash, struct str frame, enum code_place place)
{
	struct str string = folded_plain(frame), suffix = str_from(frame, string.n);
	enum hue hue = palette->hue;
	struct shade shade;

	if (palette->by == BY_LANGUAGE)
		hue = palette->language(frame);
	else if (palette->by == BY_CHAIN && palette_has(frame, STR("_[w]")))
		hue = AQUA;

	shade = palette->by == BY_CHAIN && place == CODE_WOKEN ? woken_shade(hash, frame) : hue_shade(hue, hash, frame);
	if (str_eq(frame, STR("-")))
		shade.light = 0xc8c8c8;
	else if (str_eq(frame, STR("--")))
		shade.light = 0xa0a0a0;
	shade.dark = palette_dark(shade.light);
	shade.label = suffix_label(suffix);
	if (place == CODE_OUTERMOST && code_of(string, suffix, place) == CODE_PROCESS)
		shade.label = code_label(CODE_PROCESS);
	return shade;
}

/* ---- colours by name ---------------------------------------------------------------------------------------- */

struct named {
	struct str name;
	uint32_t rgb;
};

static bool find_named(const struct named *list, size_t n, struct str name, uint32_t *rgb)
{
	for (size_t i = 0; i < n; i++) {
		if (str_eq(list[i].name, name)) {
			*rgb = list[i].rgb;
			return true;
		}
	}
	return false;
}

/* Sets *rgb to the colour #rrggbb. Returns false for other strings. */
static bool read_hex(struct str string, uint32_t *rgb)
{
	uint64_t value;

	if (string.n != 7 || string.p[0] != '#' || !str_hex(str_from(string, 1), &value))
		return false;
	*rgb = (uint32_t)value;
	return true;
}

/* Sets *rgb to the colour #rgb. Returns false for other strings. */
static bool read_short_hex(struct str string, uint32_t *rgb)
{
	uint64_t value;

	if (string.n != 4 || string.p[0] != '#' || !str_hex(str_from(string, 1), &value))
		return false;
	*rgb = (uint32_t)((value >> 8 & 15) << 16 | (value >> 4 & 15) << 8 | (value & 15)) * 0x11;
	return true;
}

bool palette_background(struct str name, uint32_t *rgb)
{
	static const struct named named[] = {
		{ STR("yellow"), 0xeeeeb0 },
		{ STR("blue"), 0xe0e0ff },
		{ STR("green"), 0xe0ffe0 },
		{ STR("grey"), 0xe8e8e8 },
	};

	return find_named(named, countof(named), name, rgb) || read_hex(name, rgb);
}

bool palette_colour(struct str name, uint32_t *rgb)
{
	static const struct named css[] = {
		{ STR("black"), 0x000000 },   { STR("silver"), 0xc0c0c0 }, { STR("gray"), 0x808080 },
		{ STR("grey"), 0x808080 },    { STR("white"), 0xffffff },  { STR("maroon"), 0x800000 },
		{ STR("red"), 0xff0000 },     { STR("purple"), 0x800080 }, { STR("fuchsia"), 0xff00ff },
		{ STR("magenta"), 0xff00ff }, { STR("green"), 0x008000 },  { STR("lime"), 0x00ff00 },
		{ STR("olive"), 0x808000 },   { STR("yellow"), 0xffff00 }, { STR("navy"), 0x000080 },
		{ STR("blue"), 0x0000ff },    { STR("teal"), 0x008080 },   { STR("aqua"), 0x00ffff },
		{ STR("cyan"), 0x00ffff },    { STR("orange"), 0xffa500 }, { STR("pink"), 0xffc0cb },
		{ STR("brown"), 0xa52a2a },   { STR("violet"), 0xee82ee }, { STR("gold"), 0xffd700 },
	};

	return find_named(css, countof(css), name, rgb) || read_hex(name, rgb) || read_short_hex(name, rgb);
}
