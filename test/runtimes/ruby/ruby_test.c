/* Frames, names and lines of real Rubies against what caller_locations prints: each version of this machine, stopped in
 * stacks that are known; and images of their memory, damaged. */
/* covers: runtimes/ruby/ruby.c runtimes/ruby/rubycheck.c runtimes/ruby/rubyframes.c runtimes/ruby/rubycode.c */
/* covers: runtimes/ruby/rubyobject.c runtimes/ruby/rubylayout.c runtimes/ruby/rubylines.c runtimes/ruby/rubyeval.c */
/* covers: runtimes/memory/fdetable.c */
#include "test/lib/rubies.h"

#include "common/text.h"
#include "runtimes/memory/livecopy.h"
#include "runtimes/ruby/rubylayout.h"
#include "runtimes/ruby/rubyobject.h"

enum { PAGE = 4096, PAGES_MAX = 1024, CACHED = 512, DAMAGES = 3000 };

static struct ruby_stack stack;
static struct threadcopy *copy;
static struct rubyrun run;
static struct ruby ruby;

static const char *const modes[] = { "plain",    "deep",       "deeper",      "blocks",
				     "closures", "exceptions", "singletons",  "defined_methods",
				     "evals",    "fibers",     "enumerators", "threads",
				     "long",     "modules",    "nam\xc3\xa9s" };

/* Removes the class from a name: caller_locations has none before 3.4. */
static void without_class(char *name)
{
	char *in = strstr(name, " in "), *method = in ? in + 4 : name, *end = method + strlen(method);
	char *hash = strrchr(method, '#');

	if (!hash && *method >= 'A' && *method <= 'Z')
		hash = strrchr(method, '.');
	if (hash && *method != '<')
		memmove(method, hash + 1, (size_t)(end - hash));
}

/* Appends the frames outside of the first one with the name `here`, as stacks.rb prints them. A C function has file and
 * line of its caller. */
static void show_frames(struct text *text, unsigned *classes)
{
	static struct ruby_code code[RUBY_FRAMES_MAX];
	bool rescues = ruby.layout.version >= 304 && strncmp(run.mode, "exceptions", 10) == 0;
	char label[RUBY_NAME_MAX];
	uint32_t first = 0, caller;

	for (uint32_t i = 0; i < stack.n; i++) {
		if (!ruby_code(&ruby, &stack.frame[i], &code[i]))
			snprintf(code[i].name, sizeof(code[i].name), "?");
		*classes += strstr(code[i].name, "Stacks#") != NULL;
		snprintf(label, sizeof(label), "%s", code[i].name);
		without_class(label);
		if (ruby.layout.version < 304)
			memcpy(code[i].name, label, sizeof(label));
		if (!first && strcmp(label, "here") == 0)
			first = i + 1;
	}
	for (uint32_t i = first; i < stack.n; i++) {
		/* backtraces of 3.4 show a rescue and its method as one frame, of the line of the former */
		if (rescues && i > first && strcmp(code[i].name, code[i - 1].name) == 0)
			continue;
		for (caller = i; caller + 1 < stack.n && !code[caller].file[0]; caller++)
			;
		text_printf(text, "%s\t%s\t%u\n", code[i].name, code[caller].file, code[caller].line);
	}
}

/* Fills *text with the frames of the thread that has called `here`. Returns false if no thread has. */
static bool show(struct text *text, unsigned *classes)
{
	struct ruby_thread thread[8];
	struct threadplan plan;
	size_t n = ruby_threads(&ruby, thread, 8);

	ruby_plan(&ruby.layout, &plan);
	for (size_t i = 0; i < n; i++) {
		enum ruby_end end;

		livecopy_read(ruby.memory, &plan, thread[i].root, copy, THREADCOPY_BYTES);
		end = ruby_frames(&ruby.layout, copy, &stack);
		text->n = 0;
		show_frames(text, classes);
		if (end == RUBY_COMPLETE && text->n) {
			text_char(text, '\0');
			if (strncmp(text->p, run.out, 8) == 0)
				return true;
			continue;
		}
		text_printf(text, "end %d, copy %u\n", (int)end, copy->end);
	}
	text_char(text, '\0');
	return false;
}

static void one_program(const struct rubyprogram *program, const char *mode)
{
	struct text text = { 0 };
	unsigned classes = 0;
	char what[400];
	bool good = ruby_run(program, mode, &run);
	enum ruby_answer answer = good ? ruby_open_run(&run, &ruby) : RUBY_REFUSED;

	snprintf(what, sizeof(what), "%s %s: frames, names and lines", program->name, mode);
	if (answer != RUBY_OPEN) {
		ok(false, what);
		printf("# %d: %s\n", (int)answer, good ? ruby.why : "it does not run");
	} else {
		good = show(&text, &classes);
		text.n = text.n ? text.n - 1 : 0;
		text_add(&text, "end\n");
		text_char(&text, '\0');
		if (!ok(good && strcmp(text.p, run.out) == 0, what))
			printf("# got:\n%s\n# of:\n%s\n", text.p, run.out);
		ok(classes > 0 || strcmp(mode, "threads") == 0 || strcmp(mode, "modules") == 0, "  and classes");
	}
	text_free(&text);
	ruby_end(&run);
}

/* Writes the version number of another build into the program. */
static bool poke_version(struct rubyrun *program, struct ruby *of)
{
	char path[64];
	uint64_t address;
	bool good;
	int fd;

	if (!loadedfile_symbol(&of->file, STR("ruby_version"), &address))
		return false;
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)program->pid);
	fd = open(path, O_RDWR | O_CLOEXEC);
	good = fd >= 0 && pwrite(fd, "3.9", 3, (off_t)address) == 3;
	close(fd);
	memory_forget(&program->memory);
	return good;
}

/* Returns true if a frame that `show` printed has a line. */
static bool has_lines(const char *text)
{
	bool any = false;

	for (const char *tab = strchr(text, '\t'); tab; tab = strchr(tab + 1, '\t'))
		any |= tab[1] >= '1' && tab[1] <= '9';
	return any;
}

/* A version that has no row: the only row that is proven is that of the build, or the process is refused. */
static void unknown_ruby(const struct rubyprogram *program)
{
	struct text text = { 0 };
	unsigned classes = 0;
	char what[400];
	bool good = ruby_run(program, "singletons", &run) && ruby_open_run(&run, &ruby) == RUBY_OPEN &&
		    poke_version(&run, &ruby);
	struct ruby_layout layout = ruby.layout;
	struct ruby_candidate candidate = { .base = run.base, .path = STR("libruby.so") };
	enum ruby_answer answer = good ? ruby_open(&ruby, &run.memory, &candidate) : RUBY_OTHER_FILE;

	snprintf(what, sizeof(what), "%s with another version number: the same layout", program->name);
	if (answer == RUBY_REFUSED) {
		snprintf(what, sizeof(what), "%s with another version number is refused: several rows are proven",
			 program->name);
		ok(layout.version != 301 && strstr(ruby.why, "Ruby 3.9") && strstr(ruby.why, "several layouts"), what);
	} else if (!ok(answer == RUBY_OPEN && ruby.layout.version == layout.version && show(&text, &classes), what)) {
		printf("# %d: %s\n", (int)answer, ruby.why);
	} else if (!ok(classes == 0 && !has_lines(text.p), "  without classes and lines, which are not proven")) {
		printf("# %s\n", text.p);
	}
	text_free(&text);
	ruby_end(&run);
}

/* Empties the VM stack of the only thread: its innermost frame is the end of the stack. */
static bool poke_idle(struct rubyrun *program, struct ruby *of)
{
	uint64_t ec, start, words, end;
	char path[64];
	bool good;
	int fd;

	if (!memory_pointer(&program->memory, of->thread + of->layout.thread.ec, &ec) ||
	    !memory_pointer(&program->memory, ec + EC_STACK, &start) ||
	    !memory_pointer(&program->memory, ec + EC_WORDS, &words))
		return false;
	end = start + 8 * words;
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)program->pid);
	fd = open(path, O_RDWR | O_CLOEXEC);
	good = fd >= 0 && pwrite(fd, &end, sizeof(end), (off_t)(ec + EC_FRAME)) == (ssize_t)sizeof(end);
	close(fd);
	memory_forget(&program->memory);
	return good;
}

/* A Ruby that runs no method may be tried again, also one whose version has no row. */
static void idle_ruby(const struct rubyprogram *program)
{
	char what[400];
	bool good = ruby_run(program, "singletons", &run) && ruby_open_run(&run, &ruby) == RUBY_OPEN &&
		    poke_idle(&run, &ruby);
	struct ruby_candidate candidate = { .base = run.base, .path = STR("libruby.so") };

	snprintf(what, sizeof(what), "%s without a frame is early", program->name);
	ok(good && ruby_open(&ruby, &run.memory, &candidate) == RUBY_EARLY, what);
	good = good && poke_version(&run, &ruby);
	if (!ok(good && ruby_open(&ruby, &run.memory, &candidate) == RUBY_EARLY, "  also with another version number"))
		printf("# %s\n", ruby.why);
	ruby_end(&run);
}

static void refused(const struct rubyprogram *program)
{
	char what[400];
	bool good = ruby_run(program, "plain", &run) && ruby_open_run(&run, &ruby) == RUBY_REFUSED;

	snprintf(what, sizeof(what), "%s is refused, with a sentence", program->name);
	if (!ok(good && strstr(ruby.why, "is not supported (3.1 and later are)"), what))
		printf("# %s\n", ruby.why);
	ruby_end(&run);
}

/* ---- damaged images ---------------------------------------------------------------------------------------------- */

static struct memory_part page[PAGES_MAX];
static size_t npages;

static void take_page(struct memory *memory, uint64_t address)
{
	size_t at = npages;
	char *bytes;

	while (at > 0 && page[at - 1].address > address)
		at--;
	if (npages == PAGES_MAX || (at > 0 && page[at - 1].address == address))
		return;
	bytes = malloc(PAGE);
	if (!bytes || !memory_bulk(memory, address, bytes, PAGE)) {
		free(bytes);
		return;
	}
	memmove(&page[at + 1], &page[at], (npages - at) * sizeof(page[0]));
	page[at] = (struct memory_part){ address, PAGE, bytes };
	npages++;
}

/* Reads all that is read of an image, within a budget. Calls `after`, if there is one, after each frame. */
static void read_image(struct ruby *of, void (*after)(const struct memory *reader))
{
	static struct ruby_code code;
	struct ruby_thread thread[8];
	struct threadplan plan;
	size_t n = ruby_threads(of, thread, 8);

	ruby_plan(&of->layout, &plan);
	for (size_t i = 0; i < n; i++) {
		livecopy_read(of->memory, &plan, thread[i].root, copy, THREADCOPY_BYTES);
		ruby_frames(&of->layout, copy, &stack);
		for (uint32_t k = 0; k < stack.n; k++) {
			if (ruby_code(of, &stack.frame[k], &code) &&
			    (strlen(code.name) >= sizeof(code.name) || strlen(code.file) >= sizeof(code.file)))
				exit(1);
			if (after)
				after(of->memory);
		}
	}
}

/* Returns true if a frame that read_image has found has the name of a class. */
static bool read_class(struct ruby *of)
{
	static struct ruby_code code;

	for (uint32_t i = 0; i < stack.n; i++)
		if (ruby_code(of, &stack.frame[i], &code) && strstr(code.name, "Stacks#"))
			return true;
	return false;
}

/* Takes the pages of the live process that were read through a cache, of its memory or of an image. */
static void take_cached(const struct memory *reader)
{
	for (unsigned i = 0; reader->number && i < CACHED; i++)
		if (reader->number[i])
			take_page(ruby.memory, (reader->number[i] - 1) * PAGE);
}

/* Opens the image, and takes the pages that this asks for, until the image has them. */
static void take_opened(const struct ruby_candidate *candidate)
{
	size_t before;

	do {
		struct memory reader = { 0 };
		struct ruby of;

		before = npages;
		memory_image(&reader, page, npages);
		ruby_open(&of, &reader, candidate);
		take_cached(&reader);
		memory_close(&reader);
	} while (npages > before);
}

/* Reads the frames of the image, and takes the pages that this asks for, until the image has them. They are taken after
 * each frame, as pages that share a place in the cache push each other out. */
static void take_read(void)
{
	size_t before;

	do {
		struct memory reader = { 0 };
		struct ruby of = ruby;

		before = npages;
		memory_image(&reader, page, npages);
		of.memory = of.file.m = &reader;
		read_image(&of, take_cached);
		take_cached(&reader);
		memory_close(&reader);
	} while (npages > before);
}

/* Takes the pages of the live process that its reading needs. */
static void take_pages(void)
{
	struct threadplan plan;
	struct ruby_thread thread[8];
	size_t n = ruby_threads(&ruby, thread, 8);

	memory_forget(ruby.memory);
	read_image(&ruby, NULL);
	take_cached(ruby.memory);
	ruby_plan(&ruby.layout, &plan);
	for (size_t i = 0; i < n; i++) {
		livecopy_read(ruby.memory, &plan, thread[i].root, copy, THREADCOPY_BYTES);
		for (uint32_t k = 0; k < copy->nareas; k++)
			for (uint64_t at = copy->area[k].address / PAGE;
			     at * PAGE < copy->area[k].address + copy->area[k].n; at++)
				take_page(ruby.memory, at * PAGE);
	}
}

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

/* Overwrites a word of a page with another word of the image, a small number, or noise. Returns the old word. */
static uint64_t damage(uint32_t *state, char **at)
{
	struct memory_part *part = &page[next_random(state) % npages], *other = &page[next_random(state) % npages];
	uint64_t old, value = next_random(state) % 64;

	*at = (char *)part->bytes + next_random(state) % (PAGE / 8) * 8;
	memcpy(&old, *at, 8);
	switch (next_random(state) % 3) {
	case 0: memcpy(&value, other->bytes + next_random(state) % (PAGE / 8) * 8, 8); break;
	case 1: value = old ^ (UINT64_C(1) << next_random(state) % 64); break;
	default: break;
	}
	memcpy(*at, &value, 8);
	return old;
}

/* Replaces an id of class variables that are Strings in the image. Returns the number of those. */
static unsigned replace_id(struct ruby *of, uint64_t id, uint64_t by)
{
	char name[RUBY_NAME_MAX];
	unsigned replaced = 0;
	uint64_t word[2], n;

	for (size_t i = 0; i < npages; i++) {
		for (size_t at = 0; at + sizeof(word) <= PAGE; at += 8) {
			memcpy(word, page[i].bytes + at, sizeof(word));
			if (word[0] != id || !rubystring_read(of, word[1], name, sizeof(name), &n) || n == 0)
				continue;
			memcpy((char *)page[i].bytes + at, &by, sizeof(by));
			replaced++;
		}
	}
	memory_forget(of->memory);
	return replaced;
}

/* An id of 0 is one like others (before 3.2, where the path of a class is a variable of it). */
static void path_of_id_0(struct memory *image)
{
	struct ruby of = ruby;
	uint64_t id = ruby.path_id;

	of.memory = of.file.m = image;
	if (id == 0)
		return;
	ok(replace_id(&of, id, 0) >= 2 && rubyclass_find_ids(&of) && of.path_id == 0, "an image with an id of 0");
	read_image(&of, NULL);
	ok(read_class(&of), "  its classes have their names");
	replace_id(&of, 0, id);
}

static void damaged(const struct rubyprogram *program)
{
	struct ruby of;
	struct memory image = { 0 };
	struct ruby_candidate candidate = { .path = STR("libruby-3.1.so.3.1") };
	uint32_t state = 1;
	unsigned answers[4] = { 0 }, over = 0;
	bool good = ruby_run(program, "closures", &run) && ruby_open_run(&run, &ruby) == RUBY_OPEN;

	candidate.base = run.base;
	npages = 0;
	if (good) {
		take_pages();
		take_read();
		take_opened(&candidate);
		rubyclass_find_ids(&ruby);
		take_cached(ruby.memory);
	}
	memory_image(&image, page, npages);
	if (good)
		path_of_id_0(&image);
	for (unsigned i = 0; good && i < DAMAGES; i++) {
		struct readbudget budget = { .steps = 200000, .bytes = 8 << 20 };
		uint64_t old[4];
		char *at[4];

		for (unsigned k = 0; k < 4; k++)
			old[k] = damage(&state, &at[k]);
		memory_forget(&image);
		image.budget = &budget;
		of = ruby;
		of.memory = of.file.m = &image;
		read_image(&of, NULL);
		over += budget.over != READBUDGET_LEFT;
		budget = (struct readbudget){ .steps = 2000000, .bytes = 8 << 20 };
		if (i % 16 == 0)
			answers[ruby_open(&of, &image, &candidate) & 3]++;
		for (unsigned k = 4; k-- > 0;)
			memcpy(at[k], &old[k], 8);
	}
	ok(good, "damaged images are read, or refused, within bounds");
	printf("# %zu pages; answers %u %u %u %u; %u over their budget\n", npages, answers[0], answers[1], answers[2],
	       answers[3], over);
	memory_close(&image);
	for (size_t i = 0; i < npages; i++)
		free((char *)page[i].bytes);
	ruby_end(&run);
}

static void check_paths(void)
{
	ok(ruby_is_library(STR("/usr/lib/x86_64-linux-gnu/libruby-3.1.so.3.1.2")) &&
		   ruby_is_library(STR("/opt/lib/libruby.so.3.3 (deleted)")) &&
		   ruby_is_library(STR("/usr/bin/ruby3.1")) && ruby_is_library(STR("/opt/bin/ruby")),
	   "paths of Ruby");
	ok(!ruby_is_library(STR("/usr/bin/rubyist")) && !ruby_is_library(STR("/usr/lib/libruby_extra.so")) &&
		   !ruby_is_library(STR("/srv/ruby/app")) && !ruby_is_library(STR("")),
	   "paths of others");
}

int main(void)
{
	static struct rubyprogram program[RUBIES_MAX];
	size_t n = rubies_find(program);
	bool any = false;

	copy = calloc(1, sizeof(*copy) + THREADCOPY_BYTES);
	check_paths();
	for (size_t i = 0; i < n; i++) {
		if (!program[i].supported) {
			refused(&program[i]);
			continue;
		}
		for (size_t k = 0; k < countof(modes); k++)
			one_program(&program[i], modes[k]);
		unknown_ruby(&program[i]);
		idle_ruby(&program[i]);
		damaged(&program[i]);
		any = true;
	}
	if (!any)
		printf("ok - frames of Ruby # SKIP no Ruby 3.1, 3.3 or 3.4 is installed\n");
	free(copy);
	return done();
}
