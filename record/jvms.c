/* SPDX-License-Identifier: Apache-2.0 */
#include "record/jvms.h"

#define FRAME_POINTERS STR("PreserveFramePointer")

struct reading {
	struct jvm jvm;
	jvm_read *read;
	void *arg;
	bool no_files; /* true: --disable-@files was given, so @FILE arguments are not read */
};

static bool jvms_blank(char byte)
{
	return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r' || byte == '\f' || byte == '\v';
}

static void skip_blanks(struct str *rest, bool comments)
{
	for (;;) {
		while (rest->n && jvms_blank(rest->p[0]))
			*rest = str_from(*rest, 1);
		if (!comments || !rest->n || rest->p[0] != '#')
			return;
		str_cut(rest, '\n');
	}
}

bool jvm_word(struct str *rest, bool comments, struct text *text, struct str *word)
{
	char quote = 0;

	text->n = 0;
	skip_blanks(rest, comments);
	if (!rest->n)
		return false;
	for (; rest->n && (quote || !jvms_blank(rest->p[0])); *rest = str_from(*rest, 1)) {
		char byte = rest->p[0];

		if (quote && byte == quote) {
			quote = 0;
		} else if (!quote && (byte == '"' || byte == '\'')) {
			quote = byte;
			/* A backslash escapes a byte only within quotes, and only in an option file, not in a
			 * variable. */
		} else if (byte == '\\' && quote && comments && rest->n > 1) {
			*rest = str_from(*rest, 1);
			text_char(text, rest->p[0]);
		} else {
			text_char(text, byte);
		}
	}
	*word = text_view(text);
	return true;
}

static void read_words(struct reading *reading, struct str text, bool comments, bool of_file);

static void jvms_take_file(struct reading *reading, struct str name)
{
	struct text text = { 0 };

	if (reading->read && reading->read(reading->arg, name, &text))
		read_words(reading, text_view(&text), true, true);
	text_free(&text);
}

/* Evaluates one option of the JVM. of_file: true: the option comes from a file, which cannot name further files. */
static void take_option(struct reading *reading, struct str option, bool of_file)
{
	struct str flag;

	if (!str_starts(option, STR("-XX:")))
		return;
	flag = str_from(option, 4);
	/* NOLINTNEXTLINE(clang-analyzer-core.*): p is not NULL if n is not 0 */
	if (flag.n > 1 && (flag.p[0] == '+' || flag.p[0] == '-') && str_eq(str_from(flag, 1), FRAME_POINTERS))
		reading->jvm.frame_pointers = flag.p[0] == '+';
	else if (!of_file && str_starts(flag, STR("VMOptionsFile=")))
		jvms_take_file(reading, str_from(flag, strlen("VMOptionsFile=")));
}

static void read_words(struct reading *reading, struct str text, bool comments, bool of_file)
{
	struct text t = { 0 };
	struct str word;

	while (jvm_word(&text, comments, &t, &word))
		take_option(reading, word, of_file);
	text_free(&t);
}

/* Returns true if the java launcher uses the next argument as the value of this option. */
static bool takes_value(struct str option)
{
	static const char *const name[] = { "-cp",
					    "-classpath",
					    "--class-path",
					    "-p",
					    "--module-path",
					    "--upgrade-module-path",
					    "--add-modules",
					    "--limit-modules",
					    "--add-exports",
					    "--add-opens",
					    "--add-reads",
					    "--patch-module",
					    "-d",
					    "--describe-module",
					    "--enable-native-access",
					    "--source" };

	for (size_t i = 0; i < countof(name); i++)
		if (str_eq(option, str_of(name[i])))
			return true;
	return false;
}

/* Evaluates the options up to the main class, jar or module. The arguments after it are those of the Java program. */
static void read_command_line(struct reading *reading, struct str cmdline)
{
	str_cut(&cmdline, 0); /* skips the path of the launcher */
	while (cmdline.n) {
		struct str argument = str_cut(&cmdline, 0);

		if (str_eq(argument, STR("--disable-@files"))) {
			reading->no_files = true;
		} else if (argument.n > 1 && argument.p[0] == '@' && argument.p[1] != '@' && !reading->no_files) {
			jvms_take_file(reading, str_from(argument, 1));
		} else if (str_eq(argument, STR("-jar")) || str_eq(argument, STR("-m")) ||
			   str_eq(argument, STR("--module"))) {
			reading->jvm.main = str_cut(&cmdline, 0);
			return;
		} else if (takes_value(argument)) {
			str_cut(&cmdline, 0);
		} else if (argument.n && argument.p[0] != '-') {
			reading->jvm.main = argument;
			return;
		} else {
			take_option(reading, argument, false);
		}
	}
}

static struct str jvms_variable(struct str environ, struct str name)
{
	while (environ.n) {
		struct str value = str_cut(&environ, 0);

		if (str_eq(str_cut(&value, '='), name))
			return value;
	}
	return (struct str){ 0 };
}

struct jvm jvm_options(struct str cmdline, struct str environ, jvm_read *read, void *arg)
{
	struct reading reading = { .read = read, .arg = arg };

	read_words(&reading, jvms_variable(environ, STR("JAVA_TOOL_OPTIONS")), false, false);
	read_words(&reading, jvms_variable(environ, STR("JDK_JAVA_OPTIONS")), false, false);
	read_command_line(&reading, cmdline);
	read_words(&reading, jvms_variable(environ, STR("_JAVA_OPTIONS")), false, false);
	return reading.jvm;
}
