/* Frames, names and lines of real Perls against what caller() has: each version of this machine, stopped in stacks that
 * are known. */
/* covers: runtimes/perl/perl.c runtimes/perl/perlframes.c runtimes/perl/perlfunction.c runtimes/perl/perllayout.c */
#include "test/lib/perls.h"

#include "common/text.h"
#include "runtimes/memory/livecopy.h"
#include "runtimes/perl/perllayout.h"

static struct perl_stack stack;
static struct threadcopy *copy;

static const struct {
	const char *mode;
	unsigned depth, stops;
	unsigned entries; /* activations of the run loop at the first stop */
	unsigned since;   /* minor version */
} programs[] = {
	{ "deep", 2, 1, 1, 0 },    { "deep", 122, 1, 1, 0 },     { "deep", 1996, 1, 1, 0 },
	{ "looping", 0, 1, 1, 0 }, { "cross", 0, 1, 2, 0 },      { "cross", 20, 1, 21, 0 },
	{ "lists", 0, 5, 2, 0 },   { "objects", 0, 8, 2, 0 },    { "closures", 0, 3, 1, 0 },
	{ "code", 0, 8, 1, 0 },    { "exceptions", 0, 1, 1, 0 }, { "catching", 0, 5, 2, 0 },
	{ "regexp", 0, 1, 2, 0 },  { "storable", 0, 4, 3, 0 },   { "ends", 0, 1, 1, 0 },
	{ "blocks", 0, 3, 2, 36 },
};

static bool runs(const struct waitingprogram *program, size_t which)
{
	const char *name = strstr(program->program, "/perl5.");

	return name && strtoul(name + strlen("/perl5."), NULL, 10) >= programs[which].since;
}

/* Appends the frames as truth.pl prints them. Returns the number of entry frames. */
static unsigned show(struct perl *perl, struct text *text)
{
	struct threadplan plan;
	enum perl_end end;
	unsigned entries = 0;

	perl_plan(&perl->layout, &plan);
	livecopy_read(perl->memory, &plan, perl->interpreter, copy, THREADCOPY_BYTES);
	end = perl_frames(perl, copy, &stack);
	if (end != PERL_COMPLETE)
		text_printf(text, "end %d after %u frames\n", (int)end, stack.n);
	for (uint32_t i = 0; i < stack.n; i++) {
		struct perl_function function;

		if (!perl_function(perl, &stack.frame[i], &function))
			text_printf(text, "? %d\n", (int)stack.frame[i].kind);
		else
			text_printf(text, "%s\t%s\t%u\n", function.name, function.file, function.line);
		entries += stack.frame[i].entry;
	}
	text_printf(text, "end\n");
	return entries;
}

static bool is_truth(struct waitingrun *run, struct perl *perl, unsigned *entries)
{
	struct text text = { 0 };
	bool good;

	memory_forget(&run->memory);
	*entries = show(perl, &text);
	text_char(&text, '\0');
	good = strcmp(text.p, run->out) == 0;
	if (!good)
		printf("# got:\n%s\n# of:\n%s\n", text.p, run->out);
	text_free(&text);
	return good;
}

static void one_program(const struct waitingprogram *program, size_t which)
{
	struct waitingrun run;
	struct perl perl = { 0 };
	unsigned entries = 0, stops = 0;
	char what[400];
	bool good = perlrun_start(program, programs[which].mode, programs[which].depth, &run);
	enum perl_answer answer = good ? perlrun_open(&run, &perl) : PERL_UNREADABLE;

	if (answer != PERL_OPEN)
		printf("# %d: %s\n", (int)answer, good ? perl.why : "it does not run");
	good = good && answer == PERL_OPEN;
	while (good && stops < programs[which].stops) {
		unsigned found;

		good = (stops == 0 || waitingrun_next(&run)) && is_truth(&run, &perl, &found);
		entries = stops++ ? entries : found;
	}
	snprintf(what, sizeof(what), "%s %s %u: frames, names and lines of %u stops", program->name,
		 programs[which].mode, programs[which].depth, programs[which].stops);
	ok(good, what);
	if (!ok(entries == programs[which].entries, "  and the number of activations"))
		printf("# %u, not %u\n", entries, programs[which].entries);
	waitingrun_end(&run);
}

/* The memory of a closure may have another closure by the time it is named: its place is shown only if the statement of
 * the frame is one of its ops. */
static void other_closure(const struct waitingprogram *program)
{
	struct waitingrun run;
	struct perl perl = { 0 };
	struct perl_function function;
	struct text text = { 0 };
	unsigned n = 0, plain = 0;

	if (perlrun_start(program, "closures", 0, &run) && perlrun_open(&run, &perl) == PERL_OPEN)
		show(&perl, &text);
	for (uint32_t i = 0; i + 1 < stack.n && text.n; i++) {
		if (!perl_function(&perl, &stack.frame[i], &function) || !strstr(function.name, "::__ANON__["))
			continue;
		n++;
		stack.frame[i].cop = stack.frame[i + 1].cop;
		plain += perl_function(&perl, &stack.frame[i], &function) &&
			 str_ends(str_of(function.name), STR("::__ANON__"));
	}
	text_free(&text);
	ok(n > 0 && plain == n, "a sub without a name that runs a statement of another sub has no place");
	waitingrun_end(&run);
}

/* Writes into the memory of a process, as another build would have it. */
static bool poke_perl(const struct waitingrun *run, uint64_t address, const void *bytes, size_t n)
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

/* Writes a word, reads the frames, and writes the old word again. */
static bool with_word(struct waitingrun *run, struct perl *perl, uint64_t address, uint64_t word, struct text *text)
{
	uint64_t old;

	memory_forget(&run->memory);
	if (!memory_u64(&run->memory, address, 8, &old) || !poke_perl(run, address, &word, sizeof(word)))
		return false;
	memory_forget(&run->memory);
	text->n = 0;
	show(perl, text);
	text_char(text, '\0');
	return poke_perl(run, address, &old, sizeof(old));
}

/* The innermost sub in moments in which other variables than its own are current: its context shows whether it runs. */
static void other_variables(const struct waitingprogram *program)
{
	struct waitingrun run;
	struct perl perl = { 0 };
	struct text text = { 0 };
	uint64_t at, old = 0, contexts = 0, last = 0, pad = 0, context;
	char what[400];
	bool good = perlrun_start(program, "deep", 3, &run) && perlrun_open(&run, &perl) == PERL_OPEN &&
		    memory_pointer(&run.memory, perl.interpreter + perl.layout.stackinfo, &at) &&
		    memory_pointer(&run.memory, at + STACKINFO_CONTEXTS, &contexts) &&
		    memory_u64(&run.memory, at + STACKINFO_LAST, 4, &last);

	pad = perl.interpreter + perl.layout.pad;
	context = contexts + (last & 0xffffffff) * CONTEXT_BYTES;
	good = good && memory_u64(&run.memory, context + CONTEXT_OLD_PAD, 8, &old);
	snprintf(what, sizeof(what), "%s: no variables are current: the sub runs", program->name);
	if (!ok(good && with_word(&run, &perl, pad, 0, &text) && strcmp(text.p, run.out) == 0, what))
		printf("# got:\n%s\n", text.p);
	snprintf(what, sizeof(what), "%s: those of a closure are: the sub runs", program->name);
	ok(good && with_word(&run, &perl, pad, old + 4096, &text) && strcmp(text.p, run.out) == 0, what);
	snprintf(what, sizeof(what), "%s: those of its caller are: it does not run", program->name);
	if (!ok(good && with_word(&run, &perl, pad, old, &text) && strncmp(text.p, "Truth::deep\t", 12) == 0, what))
		printf("# got:\n%s\n", text.p);
	text_free(&text);
	waitingrun_end(&run);
}

/* The context behind the innermost one is that of an eval that has ended: it is in the array while another one, of a
 * substitution, is filled. */
static void old_eval(const struct waitingprogram *program)
{
	static const char eval[CONTEXT_BYTES] = { CONTEXT_EVAL };
	struct waitingrun run;
	struct perl perl = { 0 };
	struct text text = { 0 };
	uint64_t at, contexts = 0, last = 0, max = 0;
	char what[400];
	bool good = perlrun_start(program, "deep", 3, &run) && perlrun_open(&run, &perl) == PERL_OPEN &&
		    memory_pointer(&run.memory, perl.interpreter + perl.layout.stackinfo, &at) &&
		    memory_pointer(&run.memory, at + STACKINFO_CONTEXTS, &contexts) &&
		    memory_u64(&run.memory, at + STACKINFO_LAST, 4, &last) &&
		    memory_u64(&run.memory, at + STACKINFO_MAX, 4, &max) && last < max;

	good = good && poke_perl(&run, contexts + (last + 1) * CONTEXT_BYTES, eval, sizeof(eval)) &&
	       with_word(&run, &perl, at + STACKINFO_LAST, max << 32 | (last + 1), &text);
	snprintf(what, sizeof(what), "%s: an eval that has ended is not shown", program->name);
	if (!ok(good && text.n > 1 && !strstr(text.p, "(eval)") && strncmp(text.p, "Truth::stop\t", 12) == 0, what))
		printf("# got:\n%s\n", text.n ? text.p : "nothing");
	text_free(&text);
	waitingrun_end(&run);
}

/* Opens a Perl whose version has no row: the layouts of all versions are candidates. Returns false if it has other
 * names than the right layout. *opened: exactly one layout is proven. In one of some twenty processes the memory behind
 * the array of a stash has a name by chance, as with Perl 5.34: then two are, and it is refused. */
static bool has_no_other_names(const struct waitingprogram *program, bool *opened, char *why, size_t size)
{
	struct waitingrun run;
	struct perl perl = { 0 }, other = { 0 };
	unsigned entries;
	uint64_t at;
	bool good = perlrun_start(program, "deep", 3, &run) && perlrun_open(&run, &perl) == PERL_OPEN &&
		    loadedfile_symbol(&perl.file, STR("PL_version"), &at) && poke_perl(&run, at, "\x63", 1);

	if (good)
		memory_forget(&run.memory);
	*opened = good && perl_open(&other, &run.memory, run.base) == PERL_OPEN;
	good = good && strcmp(other.version, "5.99") == 0 && (!*opened || is_truth(&run, &other, &entries));
	snprintf(why, size, "%s", other.why);
	waitingrun_end(&run);
	return good;
}

static void unknown_perl(const struct waitingprogram *program)
{
	bool good = true, opened = false;
	char what[400], why[sizeof(((struct perl *)NULL)->why)] = "";

	for (unsigned i = 0; i < 4 && good && !opened; i++)
		good = has_no_other_names(program, &opened, why, sizeof(why));
	snprintf(what, sizeof(what), "%s with version 5.99: the same names", program->name);
	if (!ok(good && opened, what))
		printf("# %s\n", why);
}

/* A version without a row whose current variables are not where the row has them is not opened: the row's offset of
 * them is not proven. */
static void unproven_variables(const struct waitingprogram *program)
{
	static const uint64_t none = 0;
	struct waitingrun run;
	struct perl perl = { 0 }, other = { 0 };
	uint64_t at;
	char what[400];
	bool good = perlrun_start(program, "deep", 3, &run) && perlrun_open(&run, &perl) == PERL_OPEN &&
		    loadedfile_symbol(&perl.file, STR("PL_version"), &at) && poke_perl(&run, at, "\x63", 1) &&
		    poke_perl(&run, perl.interpreter + perl.layout.pad, &none, sizeof(none));

	if (good)
		memory_forget(&run.memory);
	snprintf(what, sizeof(what), "%s with another version and other variables is not opened", program->name);
	ok(good && perl_open(&other, &run.memory, run.base) == PERL_EARLY, what);
	waitingrun_end(&run);
}

/* Code that another run loop runs is refused; docatch is found. */
static void other_loop(const struct waitingprogram *program)
{
	struct waitingrun run;
	struct perl perl = { 0 }, other = { 0 };
	uint64_t loop;
	char what[400];
	bool good = perlrun_start(program, "deep", 3, &run) && perlrun_open(&run, &perl) == PERL_OPEN;

	snprintf(what, sizeof(what), "%s: docatch and the ops that call it are found", program->name);
	/* entertry, entereval, require, since 5.34 entertrycatch */
	ok(good && perl.ncatching == (perl.layout.version < 34 ? 4u : 5u), what);
	good = good && loadedfile_symbol(&perl.file, STR("Perl_runops_debug"), &loop) &&
	       poke_perl(&run, perl.interpreter + perl.run_loop, &loop, sizeof(loop));
	if (good)
		memory_forget(&run.memory);
	good = good && perl_open(&other, &run.memory, run.base) == PERL_REFUSED;
	snprintf(what, sizeof(what), "%s with another run loop is refused", program->name);
	ok(good, what);
	printf("# %s\n", other.why);
	waitingrun_end(&run);
}

static void paths(void)
{
	ok(perl_is_library(STR("/usr/bin/perl")) && perl_is_library(STR("/usr/local/bin/perl5.36.0")) &&
		   perl_is_library(STR("/usr/bin/perl5.36-x86_64-linux-gnu")) &&
		   perl_is_library(STR("/usr/lib/x86_64-linux-gnu/libperl.so.5.40")) &&
		   perl_is_library(STR("/usr/lib/libperl.so (deleted)")) && perl_is_library(STR("perl")),
	   "paths of programs and libraries");
	ok(!perl_is_library(STR("/usr/bin/perldoc")) && !perl_is_library(STR("/usr/bin/perlbug")) &&
		   !perl_is_library(STR("/srv/perl.pl")) && !perl_is_library(STR("")) &&
		   !perl_is_library(STR("/usr/lib/libperlio.so")) && !perl_is_library(STR("/usr/bin/perl5.")),
	   "paths of other files");
}

int main(void)
{
	struct waitingprogram program[WAITINGPROGRAMS_MAX];
	size_t n = perls_find(program);

	copy = malloc(sizeof(*copy) + THREADCOPY_BYTES);
	paths();
	if (n == 0)
		printf("ok %d - Perl # SKIP no perl5.N.N in /usr/bin\n", ++tap_n);
	for (size_t i = 0; i < n; i++) {
		unknown_perl(&program[i]);
		unproven_variables(&program[i]);
		other_loop(&program[i]);
		other_variables(&program[i]);
		old_eval(&program[i]);
		other_closure(&program[i]);
		for (size_t k = 0; k < sizeof(programs) / sizeof(*programs); k++)
			if (runs(&program[i], k))
				one_program(&program[i], k);
	}
	free(copy);
	return done();
}
