/* jvms_test - which of all options holds. */
/* covers: record/jvms.c */
#include "record/jvms.h"

#include "common/diag.h"
#include "test/lib/tap.h"

static bool files(void *arg, struct str name, struct text *text)
{
	(void)arg;
	if (str_eq(name, STR("on")))
		text_add(text, "# -XX:-PreserveFramePointer\n-Xmx1g\n  '-XX:+PreserveFramePointer'\n");
	else if (str_eq(name, STR("off")))
		text_add(text, "-XX:-PreserveFramePointer");
	else if (str_eq(name, STR("to on")))
		text_add(text, "-XX:VMOptionsFile=on @on");
	else
		return false;
	return true;
}

#define P "-XX:+PreserveFramePointer"
#define M "-XX:-PreserveFramePointer"

static const struct {
	struct str cmdline, environ;
	bool on;
	struct str main;
	const char *what;
} row[] = {
	{ STR("java\0Main"), STR(""), false, STR("Main"), "nothing said" },
	{ STR("java\0" P "\0Main\0x"), STR(""), true, STR("Main"), "on the command line" },
	{ STR("java\0" P "\0" M "\0Main"), STR(""), false, STR("Main"), "the last wins" },
	{ STR("java\0-cp\0" P "\0Main"), STR(""), false, STR("Main"), "a value is no option" },
	{ STR("java\0-jar\0app.jar\0" P), STR(""), false, STR("app.jar"),
	  "what comes behind the jar is the program's" },
	{ STR("java\0-Xmx1g\0Main\0" P), STR(""), false, STR("Main"), "or behind the class" },
	{ STR("java\0-m\0mod/cls\0" P), STR(""), false, STR("mod/cls"), "or behind the module" },
	{ STR("java\0Main"), STR("A=1\0JAVA_TOOL_OPTIONS=-Xmx1g  " P "\0B=2"), true, STR("Main"), "JAVA_TOOL_OPTIONS" },
	{ STR("java\0Main"), STR("JAVA_TOOL_OPTIONS=\"" P "\""), true, STR("Main"), "in quotes" },
	{ STR("java\0" M "\0Main"), STR("JAVA_TOOL_OPTIONS=" P), false, STR("Main"), "the command line comes later" },
	{ STR("java\0" M "\0Main"), STR("_JAVA_OPTIONS=" P), true, STR("Main"), "_JAVA_OPTIONS last" },
	{ STR("java\0Main"), STR("JDK_JAVA_OPTIONS=" P), true, STR("Main"), "JDK_JAVA_OPTIONS" },
	{ STR("java\0Main"), STR("XJAVA_TOOL_OPTIONS=" P), false, STR("Main"), "another variable" },
	{ STR("java\0@on\0Main"), STR(""), true, STR("Main"), "a file of arguments" },
	{ STR("java\0@on\0@off\0Main"), STR(""), false, STR("Main"), "two of them" },
	{ STR("java\0--disable-@files\0@on\0Main"), STR(""), false, STR("@on"), "that are switched off" },
	{ STR("java\0@@on\0Main"), STR(""), false, STR("@@on"), "a name with @" },
	{ STR("java\0@missing\0Main"), STR(""), false, STR("Main"), "a file that is not there" },
	{ STR("java\0-XX:VMOptionsFile=on\0Main"), STR(""), true, STR("Main"), "a file of options" },
	{ STR("java\0-XX:VMOptionsFile=to on\0Main"), STR(""), false, STR("Main"), "which names no others" },
	{ STR("java\0-XX:+PreserveFramePointers\0Main"), STR(""), false, STR("Main"), "almost that name" },
	{ STR(""), STR(""), false, STR(""), "no command line" },
	{ STR("java"), STR("JAVA_TOOL_OPTIONS="), false, STR(""), "nothing in it" },
	{ STR("java\0-XX:+\0-XX:\0-\0@\0Main"), STR(""), false, STR("@"), "odd ones" },
};

int main(void)
{
	struct str rest = STR(" a 'b c'd \"e\\\"f\" # g\n#h\n'i");
	struct str word;
	struct text t = { 0 };

	diag_tool("pjtest");
	for (size_t i = 0; i < countof(row); i++) {
		struct jvm j = jvm_options(row[i].cmdline, row[i].environ, files, NULL);

		ok(j.frame_pointers == row[i].on, row[i].what);
		if (!str_eq(j.main, row[i].main))
			is_str(j.main, row[i].main, "main class");
	}
	ok(jvm_word(&rest, true, &t, &word) && str_eq(word, STR("a")), "words");
	ok(jvm_word(&rest, true, &t, &word) && str_eq(word, STR("b cd")), "quotes within");
	ok(jvm_word(&rest, true, &t, &word) && str_eq(word, STR("e\"f")), "escapes");
	ok(jvm_word(&rest, true, &t, &word) && str_eq(word, STR("i")), "comments, and a quote that does not end");
	ok(!jvm_word(&rest, true, &t, &word), "the end");
	text_free(&t);
	return done();
}
