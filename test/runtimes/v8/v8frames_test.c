/* Frames, functions and strings in a small heap that is made here: each invariant that is broken removes the frame, and
 * cyclic or endless data ends within its budget. */
/* covers: runtimes/v8/v8frames.c runtimes/v8/v8code.c runtimes/v8/v8heap.c runtimes/v8/v8function.c */
/* covers: runtimes/v8/v8lines.c runtimes/v8/v8deopt.c runtimes/v8/v8numbers.c */
#include "runtimes/v8/v8code.h"
#include "runtimes/v8/v8deopt.h"
#include "runtimes/v8/v8lines.h"
#include "test/lib/v8objects.h"

/* ---- strings ---------------------------------------------------------------------------------------------------- */

static void is_text(uint64_t string, const char *want, const char *what)
{
	char text[64];

	memory_forget(&memory);
	if (!v8heap_string(&v8, string, text, sizeof(text)))
		memcpy(text, "-", 2);
	is_str(str_of(text), str_of(want), what);
	budget = (struct readbudget){ .steps = 200000, .bytes = 1 << 20 };
}

static void check_strings(void)
{
	static const uint16_t wide[] = { 'a', 0xe9, 0x20ac, 0xd83d, 0xde00, 0xd800, 'z', 0, 0xdc00, 0xd800 };
	uint64_t abc, cons, string;

	start();
	abc = text_of("abc");
	is_text(abc, "abc", "one byte");
	is_text(string_of(ONE_BYTE, 2, "\xe9\0", 2), "\xc3\xa9\xef\xbf\xbd", "  Latin-1, and NUL");
	is_text(string_of(TWO_BYTE, 10, wide, sizeof(wide)),
		"a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xef\xbf\xbdz\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd",
		"two bytes, surrogates and lone ones");
	cons = pair_of(CONS, 6, abc, text_of("def"));
	is_text(cons, "abcdef", "cons");
	is_text(pair_of(CONS, 12, cons, cons), "abcdefabcdef", "  of cons");
	is_text(pair_of(CONS, 3, abc, text_of("")), "abc", "  that is flat");
	is_text(pair_of(SLICED, 2, abc, smi(1)), "bc", "sliced");
	is_text(pair_of(SLICED, 3, abc, smi(1)), "-", "  beyond its parent");
	is_text(pair_of(SLICED, 2, abc, smi(0x7fffffff)), "-", "  with the largest offset");
	is_text(pair_of(THIN, 3, abc, 0), "abc", "thin");
	is_text(pair_of(EXTERNAL, 3, 0, abc - 1 + 16), "abc", "external");
	is_text(pair_of(UNCACHED, 3, 0, abc - 1 + 16), "-", "  without the address of its characters");
	is_text(pair_of(12, 3, abc, abc), "-", "of a representation that does not exist");
	is_text(object(TYPE_SHARED, 4), "-", "no string");
	is_text(string_of(ONE_BYTE, (1u << 30) + 1, "abc", 3), "-", "longer than V8 makes one");
	string = text_of("0123456789012345678901234567890123456789012345678901234567890123456789");
	is_text(string, "012345678901234567890123456789012345678901234567890123456789...", "a long one is cut");
	string = pair_of(CONS, 3, abc, abc);
	set(string, 16, string);
	is_text(string, "-", "a cons that contains itself first");
	string = pair_of(CONS, 3, abc, abc);
	set(string, 24, string);
	is_text(string, "abcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabc...", "  second");
	string = pair_of(THIN, 3, 0, 0);
	set(string, 16, string);
	is_text(string, "-", "a thin string of itself");
	string = pair_of(SLICED, 0, 0, smi(0));
	set(string, 16, string);
	is_text(string, "-", "a slice of itself");
}

/* ---- an interpreted frame --------------------------------------------------------------------------------------- */

static void check_interpreted(void)
{
	struct v8_function found;

	make_frame();
	is_u64(find(), 1, "an interpreted frame is found");
	is_u64(frames.frame[0].kind, V8_INTERPRETED, "  as such");
	is_u64(frames.frame[0].fp, STACK + 8 * FP, "  with its frame pointer");
	is_u64(frames.frame[0].pc, INTERPRETER + 0x123, "  and the return address in it");
	is_u64(frames.frame[0].address, (bytecode + 70) & ~UINT64_C(1), "  and its instruction");
	is_u64(unproven, 0, "  and no other one");
	ok(v8_function(&v8, frames.frame[0].shared, &found), "its function is read");
	is_str(str_of(found.name), STR("f"), "  its name");
	is_str(str_of(found.file), STR("/s.js"), "  its file");
	is_u64(found.line, 3, "  its line, by the source");
}

/* Breaks one word, and expects no frame. */
static void broken(uint64_t *word, uint64_t value, const char *what)
{
	uint64_t before = *word;

	*word = value;
	is_u64(find(), 0, what);
	*word = before;
}

/* The same, if the stack still has words that look like a frame: it is one without a name. */
static void refuted(uint64_t *word, uint64_t value, const char *what)
{
	broken(word, value, what);
	is_u64(unproven, 1, "  and is a function without a name");
}

static void check_proof(void)
{
	make_frame();
	refuted(at(function), map_of[TYPE_CONTEXT], "a JSFunction needs the map of one");
	broken(at(function), function + 8, "  not any word of the heap");
	broken(at(function), map_of[TYPE_FUNCTION] - 1, "  nor an address to which it has moved");
	broken(at(map_of[TYPE_FUNCTION]), map_of[TYPE_SHARED], "  and its map that of a map");
	broken(at(function) + 5, smi(7), "it needs a context");
	broken(at(function) + 5, text_of("context"), "  that is no string");
	broken(at(function) + 5, HEAP - 4095, "  in memory that can be read");
	broken(at(function) + 4, context, "it needs a SharedFunctionInfo");
	broken(at(function) + 4, 0, "  at all");
	broken(at(shared) + 1, object(TYPE_BYTECODE, 16), "this has the frame's BytecodeArray");
	broken(at(shared) + 1, context, "  and not something else");
	refuted(&stack_words[5], CODE + 64, "its code is in the file");
	refuted(&stack_words[5], 16, "  at an address of user memory");
	broken(&stack_words[FP - 4], context, "so does the frame");
	broken(&stack_words[FP - 5], smi(62), "the offset is not before the bytecode");
	broken(&stack_words[FP - 5], smi(103), "  nor behind it");
	broken(&stack_words[FP - 5], smi(UINT32_MAX), "  nor negative");
	broken(at(bytecode) + 1, smi(0), "  if that has a length");
	broken(&stack_words[FP - 1], 3 << 1, "a frame of another kind has a marker");
	broken(&stack_words[4], STACK - 8, "a frame is above the one that it called");
	is_u64(find(), 1, "all as it was: the frame is there");
	set(shared, 8, smi(7));
	ok(find() == 1 && frames.frame[0].kind == V8_BUILTIN, "a function without bytecode is one of V8");
}

static void is_named(const char *want, uint32_t line, const char *what)
{
	struct v8_function found;

	memory_forget(&memory);
	v8.characters = 1 << 20;
	budget = (struct readbudget){ .steps = 200000, .bytes = 1 << 20 };
	if (!v8_function(&v8, shared, &found))
		memcpy(found.name, "-", 2);
	is_str(str_of(found.name), str_of(want), what);
	is_u64(found.line, line, "  and its line");
}

static void check_names(void)
{
	static const uint32_t ends[] = { 1, 3, 19 };
	uint64_t array;

	make_frame();
	set(shared, 16, text_of("own"));
	is_named("own", 0, "a name without ScopeInfo");
	set(shared, 16, smi(0));
	is_named("(anonymous)", 0, "no name");
	set(shared, 16, scope);
	set(scope, 24, smi(1u << 30));
	is_named("-", 0, "a ScopeInfo with too many variables");
	set(scope, 24, smi(0));
	set(scope, 8, smi(1u << 14 | 2));
	set(scope, 40, smi(4));
	is_named("f", 3, "a name that V8 inferred");
	set(scope, 8, smi(1u << 14 | 1u << 7 | 2));
	is_named("f", 3, "  of a function that has a receiver");
	v8.layout.version = 9004;
	is_named("-", 0, "  which has a word of its own in V8 9.4");
	set(scope, 56, get(scope, 48));
	set(scope, 48, get(scope, 40));
	set(scope, 40, get(scope, 32));
	set(scope, 32, smi(0));
	is_named("f", 3, "  before the name");
	v8.layout.version = 11003;
	set(scope, 32, get(scope, 40));
	set(scope, 40, get(scope, 48));
	set(scope, 48, get(scope, 56));
	set(scope, 56, smi(19));
	set(scope, 8, smi(1u << 14 | 2));
	set(scope, 48, smi(9));
	is_named("f", 3, "  with positions");
	set(scope, 8, smi(1u << 12 | 2));
	set(scope, 40, smi(1));
	set(scope, 48, smi(5));
	set(scope, 56, smi(4));
	is_named("f", 0, "a start behind the end");
	set(scope, 48, smi(4));
	set(scope, 56, smi(19));
	set(source, 8, (uint64_t)UINT32_MAX << 32);
	is_named("f", 0, "a source of impossible length");
	set(source, 8, UINT64_C(2) << 32);
	is_named("f", 0, "a source that ends before");
	array = object(TYPE_ARRAY, 8);
	set(array, 8, smi(3));
	for (unsigned i = 0; i < 3; i++)
		set(array, 16 + 8 * i, smi(ends[i]));
	set(script, 32, array);
	is_named("f", 3, "lines by their ends");
	set(array, 8, smi(0x7fffffff));
	is_named("f", 0, "  whose number is impossible");
	set(array, 8, smi(3));
	set(script, 24, smi(10));
	is_named("f", 13, "  with the script's offset");
	v8.characters = 0;
}

/* ---- compiled code ---------------------------------------------------------------------------------------------- */

static void check_optimized(void)
{
	make_optimized();
	is_u64(find(), 2, "optimized code with an inlined function");
	is_u64(frames.frame[0].kind, V8_INLINED, "  which is first");
	is_u64(frames.frame[0].shared, inner, "  with its function");
	is_u64(frames.frame[1].kind, V8_OPTIMIZED, "  then the one that contains it");
	is_u64(frames.frame[1].shared, shared, "  with its own");
	broken(at(owner) + 5, START + 64, "the Code leads back to its instructions");
	memset(v8.known, 0, sizeof(v8.known));
	broken(at(owner) + 6, UINT64_C(10) << 32 | 12, "  which contain the pc");
	memset(v8.known, 0, sizeof(v8.known));
	broken(at(owner) + 6, UINT64_C(100) << 32 | 3, "  and are those of a function");
	broken(at(deopt) + 8, inner, "  the one of the frame");
	broken(at(deopt) + 8, context, "  if that is a function");
	refuted(at(deopt) + 1, smi(0), "code that does not identify its function is that of none");
	stack_words[FP + 1] = PC;
	stack_words[FP + 9] = context;
	stack_words[FP + 8] = function;
	is_u64(find(), 4, "a recursion has its functions again");
	ok(frames.frame[2].kind == V8_INLINED && frames.frame[3].fp == STACK + 8 * (FP + 10), "  in its own frame");
	ok(frames.frame[1].kind == V8_OPTIMIZED && frames.frame[1].fp == STACK + 8 * FP, "  after the callee's");
}

/* Changes one word, and expects the outer function alone. */
static void alone(uint64_t *word, uint64_t value, const char *what)
{
	uint64_t before = *word;

	*word = value;
	memset(v8.known, 0, sizeof(v8.known));
	ok(find() == 1 && frames.frame[0].kind == V8_OPTIMIZED, what);
	*word = before;
}

static void check_inlined(void)
{
	make_optimized();
	alone(at(literals) + 2, context, "an inlined function is a SharedFunctionInfo");
	alone(at(inlining) + 3, 1, "  of the literals");
	alone(at(inlining) + 1, smi(8), "  in a table that is long enough");
	alone(at(inlining) + 2, UINT64_C(1) << 31, "a position that leads to itself");
	alone(at(deopt) + 3, smi(2), "more inlined functions than literals");
	alone(at(table) + 1, smi(0x7fffffff), "a table of positions of impossible size");
	alone(at(table) + 2, UINT64_MAX, "  with a number without end");
	alone(at(table) + 2, UINT64_C(0xff7f), "  with the largest step");
	is_u64(find(), 2, "all as it was: both frames are there");
}

/* ---- code of Maglev --------------------------------------------------------------------------------------------- */

/* Returns the number of functions of the frame if the sample is at an offset of its code. */
static uint32_t find_sample(uint32_t offset)
{
	struct v8_stack stack = {
		STACK, { (const char *)stack_words, sizeof(stack_words) }, START + offset, STACK + 8 * FP
	};

	stack_words[4] = stack_words[5] = 0;
	memory_forget(&memory);
	memset(v8.known, 0, sizeof(v8.known));
	budget = (struct readbudget){ .steps = 200000, .bytes = 1 << 20 };
	v8_frames(&v8, &stack, &frames);
	return take_proven();
}

static void check_maglev(void)
{
	make_maglev();
	is_u64(find(), 2, "code of Maglev: a return address in an inlined function");
	ok(frames.frame[0].kind == V8_INLINED && frames.frame[0].shared == inner, "  which is first");
	ok(frames.frame[1].kind == V8_OPTIMIZED && frames.frame[1].shared == shared, "  then the one that contains it");
	alone(at(deopt) + 2, smi(0), "its translations are an array");
	alone(at(table) + 1, smi(8), "  that is long enough");
	alone(at(table) + 4, UINT64_C(0x01020204ffffffff), "  of operations that the version has");
	alone(at(literals) + 3, context, "its functions are SharedFunctionInfos");
	alone(at(literals) + 1, smi(1), "  of the literals");
	alone(at(deopt) + 10, smi(1000), "exits lie within the code");
	alone(at(deopt) + 11, smi(4), "  for each of the points");
	alone(at(deopt) + 2 + 12 + 9, smi(4000), "a translation begins in the table");
	alone(&code_space[(START + CODE_BYTES - CODE) / 8], UINT64_C(0x9100000001) << 4,
	      "safepoints are as many as stated");
}

/* The layout of a peeled loop: g is inlined at two checks, and what lies between them may be the work of the loop. */
static void check_samples(void)
{
	make_maglev();
	is_u64(find_sample(CHECK_INNER + 8), 1, "a sample between two checks of an inlined function");
	ok(frames.frame[0].kind == V8_OPTIMIZED && frames.frame[0].shared == shared,
	   "  is in the function that contains it");
	is_u64(find_sample(RETURN_INNER - 1), 1, "  and before its call");
	is_u64(find_sample(RETURN_INNER), 1, "  and where that returns to");
	is_u64(find_sample(CHECK_INNER), 1, "  and at a check");
	stack_words[5] = START + CHECK_INNER + 8;
	stack_words[4] = STACK + 8 * FP;
	is_u64(find(), 1, "a return address that is no point");
}

/* A table of safepoints in three pages, the second of which cannot be read: its pcs do not count as 0. */
static void check_safepoints(void)
{
	enum { PAGE = 4096, SIZE = PAGE - 1024 - 17, ENTRIES = 1030 }; /* 0x406 */
	struct v8_code code = { 0, START, SIZE, 11 };
	uint64_t inlined[V8CODE_INLINED];
	char *bytes = (char *)code_space;
	struct memory_part split[] = {
		{ HEAP, sizeof(heap), (const char *)heap },
		{ CODE, PAGE, bytes },
		{ CODE + 2 * PAGE, sizeof(code_space) - 2 * PAGE, bytes + 2 * PAGE },
	};

	make_maglev();
	code.object = owner;
	memcpy(bytes + 1024 + SIZE, bytes + 1024 + CODE_BYTES, 16);
	memcpy(bytes + 1024 + SIZE, "\x06\x04", 2); /* ENTRIES */
	/* entry 1024 has its pc in the last byte of the second page, and its point in the third one */
	for (unsigned i = 0; i < ENTRIES; i++)
		memcpy(bytes + PAGE - 1 + (size_t)4 * i, i > 1024 ? "\1\4\0\0" : "\0\4\0\0", 4);
	memory_forget(&memory);
	is_u64(v8deopt_inlined(&v8, &code, START, inlined), 1, "a safepoint is found by its pc");
	is_u64(v8deopt_inlined(&v8, &code, START + 2, inlined), 0, "  by no other one");
	memory_close(&memory);
	memory_image(&memory, split, countof(split));
	memory.budget = &budget;
	is_u64(v8deopt_inlined(&v8, &code, START, inlined), 0, "  nor by one that cannot be read");
}

/* Code of Turbofan has a source position for each instruction. */
static void check_turbofan(void)
{
	static const unsigned char positions[] = { 20, 0x80, 0x80, 0x80, 0x80, 0x10, 40, 0xff, 0xff, 0xff, 0xff, 0x0f };

	make_turbofan(positions, sizeof(positions));
	is_u64(find(), 2, "Turbofan: a return address has the functions of its point");
	is_u64(find_sample(9), 1, "a sample before an inlined function");
	is_u64(find_sample(10), 2, "  in it");
	ok(frames.frame[0].kind == V8_INLINED && frames.frame[0].shared == inner, "  which is first");
	is_u64(find_sample(29), 2, "  at its end");
	is_u64(find_sample(30), 1, "  behind it");
	is_u64(find_sample(RETURN_INNER), 1, "  where its call returns to");
	make_turbofan(positions, 6);
	is_u64(find_sample(29), 1, "  behind the last position, as in a slow path");
	make_turbofan(positions, sizeof(positions));
	v8.layout.version = 11003;
	is_u64(find_sample(10), 2, "V8 before Maglev: a sample in an inlined function");
	v8.layout.version = 12005;
	is_u64(find_sample(10), 1, "a version whose tables are unknown shows no inlined function");
	stack_words[4] = STACK + 8 * FP;
	stack_words[5] = START + 25;
	is_u64(find(), 1, "  nor at a return address");
}

/* A build whose layout never fits. */
static void check_refuted(void)
{
	make_frame();
	v8.refuted = V8_REFUTED;
	is_u64(find(), 0, "a build with no frame among many candidates is left alone");
	v8.proven = 1;
	is_u64(find(), 1, "  but not one with some");
}

/* A stack in which each word leads to a frame. */
static void check_flood(void)
{
	make_frame();
	for (unsigned i = 0; i + 2 < countof(stack_words); i++)
		stack_words[i] = i % 2 ? function : STACK + 8 * (i + 2);
	find();
	ok(budget.steps > 0 && frames.n <= V8_FRAMES_MAX, "a stack of possible frames ends within the budget");
	budget = (struct readbudget){ .steps = 1 };
	v8_frames(&v8, &(struct v8_stack){ STACK + 4, { (const char *)stack_words, 64 }, 0, 0 }, &frames);
	is_u64(frames.n, 0, "a stack pointer that is not aligned");
}

/* The functions at one instruction are found together, or none of them, whatever the budget is. */
static void check_groups(void)
{
	struct v8_stack stack = {
		STACK, { (const char *)stack_words, sizeof(stack_words) }, INTERPRETER + 0x555, 0x1234
	};
	unsigned none = 0, both = 0, other = 0;

	make_optimized();
	for (uint64_t steps = 1; steps < 400; steps++) {
		memory_forget(&memory);
		memset(v8.known, 0, sizeof(v8.known));
		budget = (struct readbudget){ .steps = steps, .bytes = 1 << 20 };
		v8_frames(&v8, &stack, &frames);
		take_proven();
		none += frames.n == 0 && unproven == 1;
		both += frames.n == 2 && unproven == 0;
		other += frames.n + unproven != 2 - (frames.n == 0);
	}
	ok(none > 0 && both > 0 && none + both == 399,
	   "an inlined function and its caller are found together, or none");
	is_u64(other, 0, "  then as one without a name");
}

/* Leaves without a frame: their caller is found by a return address. */
static void check_leaf(void)
{
	struct v8_stack stack = {
		STACK, { (const char *)stack_words, sizeof(stack_words) }, INTERPRETER, STACK + 8 * FP
	};

	make_optimized();
	find(); /* notes where code is */
	stack_words[5] = stack_words[4] = 0;
	stack_words[0] = PC;
	memory_forget(&memory);
	v8_frames(&v8, &stack, &frames);
	is_u64(take_proven(), 2, "the return address of a leaf at its entry");
	ok(frames.frame[1].calls_leaf && frames.frame[1].pc == PC, "  is in its caller");
	stack_words[0] = STACK + 8 * FP;
	stack_words[1] = PC;
	v8_frames(&v8, &stack, &frames);
	is_u64(take_proven(), 2, "  or behind the frame pointer that it has stored");
	stack_words[0] = 0;
	v8_frames(&v8, &stack, &frames);
	ok(take_proven() == 1 && frames.frame[0].kind == V8_OPTIMIZED,
	   "elsewhere it may be left from a call before: no inlined functions");
}

/* Functions of one shape have return addresses with the same lower bits. */
static void check_known(void)
{
	enum { FUNCTIONS = 30 };
	struct v8_code code;
	unsigned found = 0, again = 0;

	make_frame();
	for (unsigned i = 0; i < FUNCTIONS; i++) {
		uint64_t first = CODE + 1024 * (i + 1), made = object(TYPE_CODE, 10);

		set(made, 40, first);
		set(made, 48, UINT64_C(100) << 32 | 12);
		code_space[(first - 24 - CODE) / 8] = made;
	}
	for (unsigned i = 0; i < FUNCTIONS; i++) {
		v8.searches = 1;
		found += v8code_find(&v8, CODE + 1024 * (i + 1) + 20, &code) == V8CODE_GENERATED;
	}
	for (unsigned i = 0; i < FUNCTIONS; i++)
		again += v8code_find(&v8, CODE + 1024 * (i + 1) + 20, &code) == V8CODE_GENERATED &&
			 code.start == CODE + 1024 * (i + 1);
	is_u64(found, FUNCTIONS, "code of functions of one shape is found");
	is_u64(again, FUNCTIONS, "  and needs no search again");
	ok(v8code_find(&v8, CODE + 1024 + 24, &code) == V8CODE_UNKNOWN, "code is unknown without a search");
	ok(v8code_find(&v8, INTERPRETER + 8, &code) == V8CODE_OF_FILE, "  but not that of a file");
	v8.searches = 1;
	ok(v8code_find(&v8, CODE + 1024 + 24, &code) == V8CODE_GENERATED, "  and is found by one");
}

/* Reads the line of a position, as for a new stack. */
static uint32_t line_of(uint32_t position, bool *later)
{
	uint32_t line;

	v8.characters = 96 << 10;
	budget = (struct readbudget){ .steps = 200000, .bytes = 1 << 20 };
	memory_forget(&memory);
	*later = !v8lines_at(&v8, script, position, &line);
	return line;
}

/* A large source: a line each 100 characters. */
static void check_lines(void)
{
	uint32_t stacks = 0, last = TEXT_BYTES - 50;
	bool later;

	make_frame();
	for (uint32_t i = 0; i < TEXT_BYTES; i++)
		text_space[i] = i % 100 == 99 ? '\n' : 'x';
	set(script, 8, pair_of(EXTERNAL, TEXT_BYTES, 0, TEXT));
	is_u64(line_of(1000, &later), 11, "a line near the start of a large source");
	is_u64(line_of(last, &later), 0, "one near its end needs more characters than a stack has");
	ok(later, "  and comes later");
	is_u64(line_of(1000, &later), 11, "  which does not change others");
	for (later = true; later && stacks < 100; stacks++) {
		uint32_t line = line_of(last, &later);

		is_u64(line, later ? 0 : last / 100 + 1, "  no line, or the right one");
	}
	ok(stacks > 20 && stacks < 100, "  after some stacks");
	v8.characters = 1024;
	ok(v8lines_at(&v8, script, last, &stacks) && stacks == last / 100 + 1, "then it needs few characters");
	text_space[last - 1] = '!';
	is_u64(line_of(last, &later), last / 100 + 1, "another source at its place is counted anew");
	memset(text_space + 200, '\r', 2);
	text_space[202] = '\n';
	memset(v8.lines, 0, sizeof(v8.lines));
	is_u64(line_of(201, &later), 4, "CR ends a line");
	is_u64(line_of(210, &later), 5, "  and CR with LF ends one");
	set(script, 8, pair_of(EXTERNAL, V8LINES_SOURCE, 0, TEXT));
	ok(line_of(1000, &later) == 0 && !later, "a source without limit has no lines");
}

int main(void)
{
	check_strings();
	check_interpreted();
	check_proof();
	check_names();
	check_optimized();
	check_inlined();
	check_maglev();
	check_samples();
	check_safepoints();
	check_turbofan();
	check_flood();
	check_groups();
	check_leaf();
	check_known();
	check_lines();
	check_refuted();
	memory_close(&memory);
	return done();
}
