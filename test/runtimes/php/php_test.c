/* Frames, names and lines of real PHPs against what debug_backtrace() prints: each version of this machine, stopped in
 * stacks that are known. */
/* covers: runtimes/php/php.c runtimes/php/phpframes.c runtimes/php/phpfunction.c runtimes/php/phplayout.c */
/* covers: runtimes/memory/evalcode.c runtimes/php/phpcompiled.c */
#include "test/lib/phps.h"

#include "common/text.h"
#include "runtimes/memory/livecopy.h"
#include "runtimes/php/phpcompiled.h"

static struct php_stack stack;
static struct threadcopy *copy;

static const struct {
	const char *mode;
	unsigned depth, stops;
	unsigned entries; /* activations of execute_ex at the first stop */
} programs[] = {
	{ "deep", 2, 1, 1 },    { "deep", 122, 1, 1 },     { "deep", 1996, 1, 1 },    { "cross", 0, 1, 2 },
	{ "cross", 30, 1, 32 }, { "generators", 0, 1, 2 }, { "delegating", 0, 1, 2 }, { "objects", 0, 7, 2 },
	{ "ends", 0, 1, 2 },    { "exceptions", 0, 2, 1 }, { "callbacks", 0, 4, 2 },  { "code", 0, 6, 1 },
};

/* Appends the frames as truth.php prints them. Returns the number of entry frames. */
static unsigned show(struct php *php, struct text *text)
{
	struct threadplan plan;
	enum php_end end;
	unsigned entries = 0;

	php_plan(&php->layout, &plan);
	livecopy_read(php->memory, &plan, php_root(php), copy, THREADCOPY_BYTES);
	end = php_frames(php, copy, &stack);
	if (end != PHP_COMPLETE)
		text_printf(text, "end %d after %u frames\n", (int)end, stack.n);
	for (uint32_t i = 0; i < stack.n; i++) {
		struct php_function function;

		if (!php_function(php, &stack.frame[i], &function))
			text_printf(text, "? %d\n", (int)stack.frame[i].kind);
		else
			text_printf(text, "%s\t%s\t%u\n", function.name, function.file, function.line);
		entries += stack.frame[i].entry;
	}
	text_printf(text, "end\n");
	return entries;
}

static bool is_truth(struct waitingrun *run, struct php *php, unsigned *entries)
{
	struct text text = { 0 };
	bool good;

	memory_forget(&run->memory);
	*entries = show(php, &text);
	text_char(&text, '\0');
	good = strcmp(text.p, run->out) == 0;
	if (!good)
		printf("# got:\n%s\n# of:\n%s\n", text.p, run->out);
	text_free(&text);
	return good;
}

/* Stops a program and compares all. jit: opcache.jit=MODE, for opcache's JIT compiler; NULL: without it. */
static void one_program(const struct waitingprogram *program, const char *jit, size_t which)
{
	struct waitingrun run;
	struct php php = { 0 };
	unsigned entries = 0, stops = 0;
	char what[400];
	bool good = jit ? phprun_start_compiled(program, jit, programs[which].mode, programs[which].depth, &run) :
			  phprun_start(program, NULL, programs[which].mode, programs[which].depth, &run);
	enum php_answer answer = good ? phprun_open(&run, &php) : PHP_UNREADABLE;

	if (answer != PHP_OPEN)
		printf("# %d: %s\n", (int)answer, good ? php.why : "it does not run");
	good = good && answer == PHP_OPEN;
	while (good && stops < programs[which].stops) {
		unsigned found;

		good = (stops == 0 || waitingrun_next(&run)) && is_truth(&run, &php, &found);
		entries = stops++ ? entries : found;
	}
	snprintf(what, sizeof(what), "%s%s%s %s %u: frames, names and lines of %u stops", program->name, jit ? " " : "",
		 jit ? jit : "", programs[which].mode, programs[which].depth, programs[which].stops);
	ok(good, what);
	if (jit)
		ok(php.compiled.code.end > 0 && php.compiled.ncallers > 0,
		   "  and the code of the JIT compiler is found");
	if (!ok(entries == programs[which].entries, "  and the number of activations"))
		printf("# %u, not %u\n", entries, programs[which].entries);
	waitingrun_end(&run);
}

/* Writes into the memory of a process, as a build of another version would have it. */
static bool poke_php(const struct waitingrun *run, uint64_t address, const void *bytes, size_t n)
{
	char path[64];
	int fd;
	bool good;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)run->pid);
	fd = open(path, O_RDWR | O_CLOEXEC);
	good = fd >= 0 && pwrite(fd, bytes, n, (off_t)address) == (ssize_t)n;
	close(fd);
	return good;
}

/* Opens it again with n bytes at an exported function replaced. */
static enum php_answer reopen(struct waitingrun *run, struct php *php, struct str function, const char *bytes, size_t n)
{
	struct php other;
	uint64_t at;

	if (!loadedfile_symbol(&php->file, function, &at) || !poke_php(run, at, bytes, n))
		return PHP_UNREADABLE;
	memory_forget(&run->memory);
	*php = (struct php){ 0 };
	return php_open(&other, &run->memory, run->base, phprun_maps(run)) == PHP_OPEN ?
		       (*php = other, PHP_OPEN) :
		       (memcpy(php->why, other.why, sizeof(other.why)), PHP_REFUSED);
}

/* A version that no accessor has: the layouts of all versions are candidates, and only the right one is proven. */
static void unknown_php(const struct waitingprogram *program)
{
	struct waitingrun run;
	struct php php = { 0 };
	unsigned entries;
	char what[400];
	bool good = phprun_start(program, NULL, "deep", 3, &run) && phprun_open(&run, &php) == PHP_OPEN;

	good = good && reopen(&run, &php, STR("get_zend_version"), "\xc3\xc3\xc3\xc3\xc3", 5) == PHP_OPEN;
	snprintf(what, sizeof(what), "%s without a version: the same names", program->name);
	if (!ok(good && is_truth(&run, &php, &entries), what))
		printf("# %s\n", php.why);
	waitingrun_end(&run);
}

/* Code that is not known is refused. */
static void other_kind(const struct waitingprogram *program)
{
	struct waitingrun run;
	struct php php = { 0 };
	char what[400];
	bool good = phprun_start(program, NULL, "deep", 3, &run) && phprun_open(&run, &php) == PHP_OPEN;

	good = good && reopen(&run, &php, STR("zend_vm_kind"), "\xb8\x01\0\0\0\xc3", 6) == PHP_REFUSED;
	snprintf(what, sizeof(what), "%s with another kind of eval function is refused", program->name);
	ok(good, what);
	printf("# %s\n", php.why);
	waitingrun_end(&run);
}

/* A function whose memory is another's after the copy has no name, though its strings are there. */
static void ended_function(const struct waitingprogram *program)
{
	uint64_t next_free = 0x7f0000001000;
	struct php_function function;
	struct waitingrun run;
	struct php php = { 0 };
	struct text text = { 0 };
	char what[400];
	bool good = phprun_start(program, NULL, "deep", 3, &run) && phprun_open(&run, &php) == PHP_OPEN;
	uint32_t i = 0;

	if (good)
		show(&php, &text);
	while (good && i + 1 < stack.n && (stack.frame[i].kind != PHP_FUNCTION || !stack.frame[i].code.name))
		i++;
	good = good && php_function(&php, &stack.frame[i], &function) && stack.frame[i].code.type &&
	       poke_php(&run, stack.frame[i].function, &next_free, sizeof(next_free));
	memory_forget(&run.memory);
	snprintf(what, sizeof(what), "%s: a function that has ended since the copy has no name", program->name);
	ok(good && !php_function(&php, &stack.frame[i], &function), what);
	text_free(&text);
	waitingrun_end(&run);
}

static void paths(void)
{
	ok(php_is_library(STR("/usr/bin/php8.2")) && php_is_library(STR("/usr/local/bin/php")) &&
		   php_is_library(STR("/usr/sbin/php-fpm8.4")) && php_is_library(STR("/usr/sbin/php-fpm")) &&
		   php_is_library(STR("/usr/bin/php-cgi7.4")) &&
		   php_is_library(STR("/usr/lib/apache2/modules/libphp8.2.so")) &&
		   php_is_library(STR("/x/libphp.so (deleted)")) && php_is_library(STR("php7.4")),
	   "paths of programs and libraries");
	ok(!php_is_library(STR("/usr/bin/phpize8.2")) && !php_is_library(STR("/srv/www/index.php")) &&
		   !php_is_library(STR("/usr/bin/php8.2-config")) && !php_is_library(STR("")) &&
		   !php_is_library(STR("/usr/lib/php/20220829/opcache.so")) && !php_is_library(STR("/x/libphp8.2.a")) &&
		   !php_is_library(STR("/usr/bin/php.")),
	   "paths of other files");
}

/* The code of the JIT compiler is the only executable part of shared memory. */
static void compiled_code(void)
{
#define PRIVATE "5000-6000 r-xp 00001000 fe:00 10977534 /usr/bin/php8.2\n7000-8000 rwxp 00000000 00:00 0 \n"
#define DATA "10000-20000 rw-s 00000000 00:01 4259623 /dev/zero (deleted)\n"
#define CODE "20000-30000 r-xs 00010000 00:01 4259623 /dev/zero (deleted)\n"
	struct php php = { 0 };

	ok(phpcompiled_find_code(&php, STR(PRIVATE)) && !php.compiled.code.end && !php.compiled.shared,
	   "a process without opcache");
	ok(phpcompiled_find_code(&php, STR(PRIVATE DATA)) && !php.compiled.code.end && php.compiled.shared &&
		   phpcompiled_find_host(&php),
	   "a process without code of the JIT compiler");
	ok(!phpcompiled_is_handler(&php, 0x20010), "  where no such code is known");
	ok(phpcompiled_find_code(&php, STR(DATA CODE PRIVATE)) && php.compiled.code.start == 0x20000 &&
		   php.compiled.code.end == 0x30000,
	   "a process with it");
	ok(phpcompiled_is_handler(&php, 0x20000) && phpcompiled_is_handler(&php, 0x2ffff) &&
		   !phpcompiled_is_handler(&php, 0x30000) && !phpcompiled_is_handler(&php, 0x1ffff),
	   "  that has an address or not");
	ok(!phpcompiled_find_code(&php, STR(CODE DATA "40000-50000 rwxs 00010000 00:01 4259624 /SYSV00000000\n")),
	   "a process with two executable parts of opcache's memory is refused");
	ok(phpcompiled_find_code(&php, STR("40000-50000 r-xs 00000000 00:01 7 /memfd:libffi (deleted)\n" CODE)) &&
		   php.compiled.code.start == 0x20000,
	   "but not one with shared code of others");
	ok(phpcompiled_find_code(&php, STR("20000-10000 r-xs\nx r-xs\n\n30000-")) && !php.compiled.code.end,
	   "lines that are no mappings");
#undef PRIVATE
#undef DATA
#undef CODE
}

/* Opens a process with maps as they are while PHP compiles a function: the code of the JIT compiler is writable, not
 * executable. */
static void compiling(const struct waitingprogram *program)
{
	static char text[1 << 18];
	struct waitingrun run;
	struct php php = { 0 };
	enum php_answer answer = PHP_UNREADABLE;
	char *line;

	if (ok(phprun_start_compiled(program, "opcache.jit=1205", "deep", 2, &run) &&
		       phprun_open(&run, &php) == PHP_OPEN,
	       "a process with compiled code")) {
		struct str maps = phprun_maps(&run);

		snprintf(text, sizeof(text), "%.*s", (int)maps.n, maps.p);
		while ((line = strstr(text, "r-xs")))
			memcpy(line, "rw-s", 4);
		memory_forget(&run.memory);
		answer = php_open(&php, &run.memory, run.base, str_of(text));
	}
	if (!ok(answer == PHP_EARLY, "  is opened later if it compiles a function"))
		printf("# %d %s\n", (int)answer, php.why);
	waitingrun_end(&run);
}

/* Returns true if PHP has opcache's JIT compiler: the process then maps its buffer. */
static bool has_jit(const struct waitingprogram *program)
{
	struct waitingrun run;
	struct php php = { 0 };
	bool good = phprun_start_compiled(program, "opcache.jit=tracing", "deep", 1, &run) &&
		    phprun_open(&run, &php) == PHP_OPEN && php.compiled.code.end;

	waitingrun_end(&run);
	return good;
}

int main(void)
{
	struct waitingprogram program[WAITINGPROGRAMS_MAX];
	size_t n = phps_find(program);

	copy = malloc(sizeof(*copy) + THREADCOPY_BYTES);
	paths();
	compiled_code();
	if (n == 0)
		printf("ok %d - PHP # SKIP no PHP 7 or 8\n", ++tap_n);
	for (size_t i = 0; i < n; i++) {
		unknown_php(&program[i]);
		other_kind(&program[i]);
		ended_function(&program[i]);
		for (size_t k = 0; k < sizeof(programs) / sizeof(*programs); k++)
			one_program(&program[i], NULL, k);
		if (!has_jit(&program[i])) {
			printf("ok %d - %s with opcache's JIT compiler # SKIP it has none\n", ++tap_n, program[i].name);
			continue;
		}
		compiling(&program[i]);
		for (size_t k = 0; k < sizeof(programs) / sizeof(*programs); k++) {
			one_program(&program[i], "opcache.jit=1205", k);
			one_program(&program[i], "opcache.jit=tracing", k);
		}
	}
	free(copy);
	return done();
}
