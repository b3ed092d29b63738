/* SPDX-License-Identifier: Apache-2.0 */
#include "common/filter/opt.h"

#include "common/arena.h"
#include "common/filter/features.h"
#include "common/filter/out.h"
#include "common/similar.h"
#include "common/text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns true if the option has an optional value, "[=N]". Such a value is given after '=' only, never as the next
 * word. */
static bool is_optional(const struct opt *opt)
{
	return opt->arg[0] == '[';
}

static bool is_heading(const struct opt *opt)
{
	return !opt->letter && !opt->name;
}

void opt_table_add(struct opt_table *table, const struct opt *rows, size_t n)
{
	table->opt = mem_grow(table->opt, sizeof(*table->opt), table->n + n);
	memcpy(table->opt + table->n, rows, n * sizeof(*rows));
	table->n += n;
}

/* Prints the row of an option for --help, on two lines if its names and value take 28 columns or more. */
static void print_row(struct out *out, const struct opt *opt)
{
	char left[80];
	int got = 0;

	got += snprintf(left, sizeof(left), opt->letter ? "  -%c" : "    ", opt->letter);
	if (opt->name)
		got += snprintf(left + got, sizeof(left) - (size_t)got, "%s--%s", opt->letter ? ", " : "  ", opt->name);
	if (opt->arg)
		snprintf(left + got, sizeof(left) - (size_t)got, "%s%s",
			 is_optional(opt) ? "" :
			 opt->name        ? "=" :
					    " ",
			 opt->arg);
	out_printf(out, strlen(left) < 28 ? "%-28s %s\n" : "%s\n%29s%s\n", left, strlen(left) < 28 ? opt->help : "",
		   opt->help);
}

static void opt_help(const struct tool *tool)
{
	static struct out out;
	bool grouped = false;

	out_open(&out, NULL);
	out_printf(&out, "%s - %s\nusage: %s %s\n\n", tool->name, tool->does, tool->name, tool->synopsis);
	for (size_t i = 0; i < tool->nopts; i++) {
		const struct opt *opt = &tool->opts[i];

		if (is_heading(opt)) {
			out_printf(&out, "%s%s:\n", i ? "\n" : "", opt->help);
			grouped = true;
		} else if (opt->help) {
			print_row(&out, opt);
		}
	}
	out_printf(&out, "%s%-28s %s\n%-28s %s\n", grouped ? "\n" : "", "      --help", "show this", "      --version",
		   "show the version");
	if (tool->example)
		out_printf(&out, "\n%s\n", tool->example);
	out_printf(&out, "\nMore: man %s, man pj\n", tool->name);
	out_close(&out);
	exit(PJ_OK);
}

static void opt_version(const struct tool *tool)
{
	static struct out out;

	out_open(&out, NULL);
	out_printf(&out, "%s (pj) %s\n", tool->name, PJ_VERSION);
	features_print(&out, tool->libraries);
	out_close(&out);
	exit(PJ_OK);
}

static double opt_parse_number(const char *value, const char *shown)
{
	char *end;
	double d;

	errno = 0;
	/* NOLINTNEXTLINE(clang-analyzer-core.*): value is not NULL, since an option of this kind has one */
	d = strtod(value, &end);
	if (end == value || *end || errno || !isfinite(d) || strpbrk(value, "xXnNpP"))
		die_usage("%s: '%s' is not a number", shown, value);
	if (d < 0)
		die_usage("%s: '%s' is negative: it must be 0 or more", shown, value);
	return d;
}

bool opt_number(const char **strings, double max, double *value)
{
	char *end;
	double d;

	if (!byte_is_digit(**strings) && **strings != '.')
		return false;
	d = strtod(*strings, &end);
	if (end == *strings || !(d >= 0 && d <= max) || memchr(*strings, 'x', (size_t)(end - *strings)) ||
	    memchr(*strings, 'X', (size_t)(end - *strings)))
		return false;
	*value = d;
	*strings = *end == '%' ? end + 1 : end;
	return true;
}

uint64_t opt_scaled(const char *value, const char *name, const char *letters, const uint64_t *factor,
		    const char *example)
{
	struct str string = str_of(value);
	uint64_t n, times = 1;
	const char *at = string.n ? strchr(letters, string.p[string.n - 1]) : NULL;

	if (at && *at) {
		times = factor[at - letters];
		string.n--;
	}
	if (!str_u64(string, &n) || __builtin_mul_overflow(n, times, &n))
		die_usage("%s: '%s' is not a number such as %s", name, value, example);
	return n;
}

static const struct {
	const char *name;
	uint64_t ns;
} units[] = {
	{ "d", 86400 * SECOND_NS }, { "h", 3600 * SECOND_NS },  { "m", 60 * SECOND_NS },
	{ "s", SECOND_NS },         { "ms", SECOND_NS / 1000 }, { "us", SECOND_NS / 1000000 },
};

/* Removes the unit of time at the end of *string and returns its length in ns; SECOND_NS if there is no unit, 0 if the
 * unit is unknown. */
static uint64_t cut_unit(struct str *string)
{
	size_t n = string->n;
	struct str unit;

	while (n && !byte_is_digit(string->p[n - 1]) && string->p[n - 1] != '.')
		n--;
	unit = str_from(*string, n);
	*string = str_head(*string, n);
	for (size_t i = 0; i < countof(units); i++)
		if (str_eq(unit, str_of(units[i].name)))
			return units[i].ns;
	return unit.n ? 0 : SECOND_NS;
}

bool opt_is_duration(struct str string, uint64_t *ns)
{
	uint64_t unit = cut_unit(&string), number = 0, part, time;
	struct str decimals = string, integer = str_cut(&decimals, '.');

	if (!unit || integer.n + decimals.n == 0 || (integer.n && !str_u64(integer, &number)) ||
	    __builtin_mul_overflow(number, unit, &time) || str_decimals(decimals, unit, &part) != decimals.n ||
	    __builtin_add_overflow(time, part, &time))
		return false;
	*ns = time;
	return true;
}

/* Prints a time with the largest unit that gives an integer, and 0 without a unit. */
static void print_duration(struct text *text, uint64_t ns)
{
	size_t i = 0;

	if (!ns) {
		text_add(text, "0");
		return;
	}
	while (i + 1 < countof(units) && (ns < units[i].ns || ns % units[i].ns))
		i++;
	text_printf(text, "%llu%s", (unsigned long long)(ns / units[i].ns), units[i].name);
}

uint64_t opt_duration(const char *value, const char *name, uint64_t least, uint64_t most)
{
	struct text range = { 0 };
	uint64_t ns;

	if (!opt_is_duration(str_of(value), &ns))
		die_usage("%s: '%s' is not a time such as 10, 1.5, 200ms, 5m or 36h", name, value);
	if (ns >= least && ns <= most)
		return ns;
	print_duration(&range, least);
	text_add(&range, " to ");
	print_duration(&range, most);
	die_usage("%s: '%s' is not a time from %.*s", name, value, (int)range.n, range.p);
}

void opt_bytes(void *to, const char *value, const char *name)
{
	static const uint64_t factor[] = { 1u << 10, 1u << 10, 1u << 20, 1u << 30, UINT64_C(1) << 40 };

	*(uint64_t *)to = opt_scaled(value, name, "kKMGT", factor, "500M or 2G");
}

void opt_text_path(void *to, const char *value, const char *name)
{
	static const char *const pictures[] = { ".svg", ".svgz", ".png", ".html" };
	struct str path = str_of(value);

	for (size_t i = 0; i < countof(pictures); i++)
		if (str_ends(path, str_of(pictures[i])))
			die_usage("%s %s: this is a picture, which pjsvg draws: %s ... | pjsvg -o FILE.svg", name,
				  value, diag_tool_name());
	*(const char **)to = value;
}

void opt_svg_path(void *to, const char *value, const char *name)
{
	static const char *const others[] = { ".png", ".pdf", ".jpg", ".jpeg", ".gif", ".webp" };
	struct str path = str_of(value);

	for (size_t i = 0; i < countof(others); i++)
		if (str_ends(path, str_of(others[i])))
			die_usage("%s %s: %s writes SVG, which browsers open: %s %.*s.svg", name, value,
				  diag_tool_name(), name, (int)(path.n - strlen(others[i])), value);
	*(const char **)to = value;
}

void opt_min_delta(const char *value, const char *name, double *points, double *relative)
{
	const char *at = value;
	double percent = 100 * *relative, least;

	if (!opt_number(&at, 100, &least) || (*at == ',' && (at++, !opt_number(&at, 100, &percent))) || *at)
		die_usage("%s: '%s' is not POINTS or POINTS,REL%%: 0.5,1%% is the default", name, value);
	*points = least;
	*relative = percent / 100;
}

size_t opt_choice(const char *value, const char *name, const char *choices)
{
	struct str rest = str_of(choices), word = str_of(value);
	struct similar similar = similar_to(word);
	struct text list = { 0 };

	for (size_t i = 0; rest.n; i++) {
		struct str choice = str_cut(&rest, '|');

		if (str_eq(choice, word)) {
			text_free(&list);
			return i;
		}
		similar_offer(&similar, choice);
		text_add(&list, i ? ", " : "");
		text_str(&list, choice);
	}
	if (similar.found.n)
		die_usage("%s: '%s' is not one of %.*s: did you mean %.*s?", name, value, (int)list.n, list.p,
			  (int)similar.found.n, similar.found.p);
	die_usage("%s: '%s' is not one of %.*s", name, value, (int)list.n, list.p);
}

/* Sets the variable of an option, or calls its function. `shown` is the option as the user wrote it, for messages. */
static void opt_apply(const struct opt *opt, const char *value, const char *shown)
{
	switch (opt->kind) {
	case OPT_FLAG: *(bool *)opt->to = true; break;
	case OPT_NOFLAG: *(bool *)opt->to = false; break;
	case OPT_STR: *(const char **)opt->to = value; break;
	case OPT_U64:
		if (!str_u64(str_of(value), opt->to))
			die_usage("%s: '%s' is not a whole number", shown, value);
		break;
	case OPT_SECONDS: *(double *)opt->to = (double)opt_duration(value, shown, 0, OPT_TIME_MOST) / 1e9; break;
	case OPT_DOUBLE: *(double *)opt->to = opt_parse_number(value, shown); break;
	case OPT_CALL:
	case OPT_CALL_FLAG: opt->call(opt->to, value, shown); break;
	}
}

static const struct opt *find_long(const struct tool *tool, struct str name)
{
	for (size_t i = 0; i < tool->nopts; i++)
		if (tool->opts[i].name && str_eq(str_of(tool->opts[i].name), name))
			return &tool->opts[i];
	return NULL;
}

static const struct opt *find_letter(const struct tool *tool, char letter)
{
	for (size_t i = 0; i < tool->nopts; i++)
		if (tool->opts[i].letter == letter)
			return &tool->opts[i];
	return NULL;
}

static NORETURN void die_unknown(const struct tool *tool, struct str name, const char *shown)
{
	struct similar similar = similar_to(name);

	for (size_t i = 0; i < tool->nopts; i++)
		if (tool->opts[i].name && tool->opts[i].help)
			similar_offer(&similar, str_of(tool->opts[i].name));
	if (similar.found.n)
		die_usage("unknown option '%s': did you mean --%.*s?", shown, (int)similar.found.n, similar.found.p);
	die_usage("unknown option '%s'", shown);
}

static NORETURN void die_unknown_letter(const char *shown, const char *word)
{
	if (strcmp(shown, word) == 0)
		die_usage("unknown option '%s'", shown);
	die_usage("unknown option '%s' in '%s'", shown, word);
}

/* Handles --values=OPTION: prints the possible values of the option, one a line, from the choices in its `arg`, else by
 * tool->print_values. Ends the tool. */
static NORETURN void print_values(const struct tool *tool, struct str name)
{
	static struct out out;
	const struct opt *opt = find_long(tool, name);
	struct str rest = opt && opt->arg ? str_of(opt->arg) : (struct str){ 0 };

	if (!opt)
		die_usage("--values=%.*s: there is no option --%.*s", (int)name.n, name.p, (int)name.n, name.p);
	out_open(&out, NULL);
	if (str_find(rest, '|') >= 0)
		while (rest.n) {
			out_str(&out, str_cut(&rest, '|'));
			out_char(&out, '\n');
		}
	else if (tool->print_values)
		tool->print_values(&out, opt->name);
	out_close(&out);
	exit(PJ_OK);
}

/* Handles the long options that all tools have; each ends the tool. Returns if `name` is another option. */
static void parse_common(const struct tool *tool, struct str name, const char *value)
{
	if (value && str_eq(name, STR("values")))
		print_values(tool, str_of(value));
	if (!str_eq(name, STR("help")) && !str_eq(name, STR("version")))
		return;
	if (value)
		die_usage("option '--%.*s' takes no value", (int)name.n, name.p);
	if (str_eq(name, STR("help")))
		opt_help(tool);
	opt_version(tool);
}

/* Parses the long option at argv[*i]: --name, --name=VALUE, or --name followed by a word VALUE; then sets *i to the
 * index of VALUE. `word` is the option without dashes. */
static void parse_long(const struct tool *tool, char **argv, int *i, struct str word)
{
	const char *eq = memchr(word.p, '=', word.n);
	struct str name = eq ? str_head(word, (size_t)(eq - word.p)) : word;
	const struct opt *opt = find_long(tool, name);
	const char *value = NULL;
	char shown[80];

	snprintf(shown, sizeof(shown), "--%.*s", (int)(name.n < 70 ? name.n : 70), name.p);
	if (!opt)
		parse_common(tool, name, eq ? eq + 1 : NULL);
	if (!opt)
		die_unknown(tool, name, shown);
	if (opt->arg && is_optional(opt)) {
		value = eq ? eq + 1 : NULL;
	} else if (opt->arg) {
		value = eq ? eq + 1 : argv[*i + 1];
		if (!value)
			die_usage("option '%s' needs a value: %s=%s", shown, shown, opt->arg);
		*i += !eq;
	} else if (eq) {
		die_usage("option '%s' takes no value", shown);
	}
	opt_apply(opt, value, shown);
}

/* Parses the short options at argv[*i]: -x, -xyz (bundled flags), -oVALUE, or -o followed by a word VALUE; then sets *i
 * to the index of VALUE. */
static void parse_letters(const struct tool *tool, char **argv, int *i)
{
	for (const char *p = argv[*i] + 1; *p; p++) {
		const struct opt *opt = find_letter(tool, *p);
		char shown[] = { '-', *p, 0 };

		if (*p == 'h' && !opt)
			opt_help(tool);
		if (*p == 'V' && !opt)
			opt_version(tool);
		if (!opt)
			die_unknown_letter(shown, argv[*i]);
		if (opt->arg && !is_optional(opt)) {
			const char *value = p[1] ? p + 1 : argv[++*i];

			if (!value)
				die_usage("option '%s' needs a value: %s %s", shown, shown, opt->arg);
			opt_apply(opt, value, shown);
			return;
		}
		opt_apply(opt, NULL, shown);
	}
}

/* Turns argv[i] and all words after it into operands, after the first `operands` ones, which were found before. If the
 * tool runs a command, these words are the command. Returns the number of all operands. */
static int take_operands(const struct tool *tool, int argc, char **argv, int i, int operands)
{
	/* Without this check, a script with an empty variable after -- would record the whole host without end. */
	if (tool->command && i == argc)
		die_usage("-- needs a command after it");
	if (tool->command)
		*tool->command = (size_t)(argc - i);
	while (i < argc)
		argv[operands++] = argv[i++];
	return operands;
}

char **opt_parse(const struct tool *tool, int argc, char **argv)
{
	int operands = 0;

	for (int i = 1; i < argc; i++) {
		struct str word = str_of(argv[i]);

		if (str_eq(word, STR("--"))) {
			operands = take_operands(tool, argc, argv, i + 1, operands);
			break;
		}
		if (str_starts(word, STR("--"))) {
			parse_long(tool, argv, &i, str_from(word, 2));
		} else if (word.n > 1 && word.p[0] == '-') {
			struct str rest = str_from(word, 1), name = str_cut(&rest, '=');

			if (tool->single_dash_long && name.n > 1 &&
			    (find_long(tool, name) || str_eq(name, STR("help"))))
				parse_long(tool, argv, &i, str_from(word, 1));
			else
				parse_letters(tool, argv, &i);
		} else if (tool->starts_command && operands == 0 && tool->starts_command(argv[i])) {
			operands = take_operands(tool, argc, argv, i, operands);
			break;
		} else {
			argv[operands++] = argv[i];
		}
	}
	argv[operands] = NULL;
	return argv;
}
