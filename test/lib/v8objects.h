/* v8objects.h - makes a small heap of V8, and a stack with one frame: interpreted, or of optimized code with an inlined
 * function. */
#ifndef PJ_TEST_V8OBJECTS_H
#define PJ_TEST_V8OBJECTS_H

#include "runtimes/v8/v8code.h"
#include "test/lib/tap.h"

#include <string.h>

#define HEAP UINT64_C(0x100000000)
#define CODE UINT64_C(0x200000000)
#define TEXT UINT64_C(0x300000000)
#define STACK UINT64_C(0x7000000000)
#define INTERPRETER UINT64_C(0x400000) /* code of the file */
#define TEXT_BYTES (3u << 20)
#define WORDS 4096u
#define FP 16u /* index of the word at the frame pointer */

enum { ONE_BYTE = 8, CONS = 9, EXTERNAL = 10, SLICED = 11, THIN = 13, TWO_BYTE = 0, UNCACHED = 26 };
enum {
	TYPE_NONSTRING = 128,
	TYPE_FUNCTION = 200,
	TYPE_SHARED,
	TYPE_SCOPE,
	TYPE_SCRIPT,
	TYPE_CODE,
	TYPE_BYTECODE,
	TYPE_MAP,
	TYPE_ARRAY,
	TYPE_ODDBALL,
	TYPE_DATA,
	TYPE_CONTEXT,
	TYPE_WRAPPER
};

static uint64_t heap[WORDS], code_space[WORDS], stack_words[64];
static size_t used;
static struct memory memory;
static struct readbudget budget;
static struct v8 v8;
static struct v8_frames frames;
static struct memory_part part[3];
static char text_space[TEXT_BYTES];
static uint32_t unproven; /* frames of the last stack */
static uint64_t map_of[256];

static inline uint64_t smi(uint64_t value)
{
	return value << 32;
}

static inline uint64_t *at(uint64_t object)
{
	return object < CODE ? &heap[(object - 1 - HEAP) / 8] : &code_space[(object - 1 - CODE) / 8];
}

/* Returns a new object of n words, whose map has this type. */
static inline uint64_t object(unsigned type, size_t n)
{
	uint64_t made;

	if (!map_of[type]) {
		uint64_t map = HEAP + 8 * used + 1;

		used += 4;
		heap[(map - 1 - HEAP) / 8 + 1] = (uint64_t)type << 32;
		map_of[type] = map;
		*at(map) = type == TYPE_MAP ? map : map_of[TYPE_MAP];
	}
	made = HEAP + 8 * used + 1;
	used += n;
	*at(made) = map_of[type];
	return made;
}

static inline void set(uint64_t to, unsigned offset, uint64_t word)
{
	at(to)[offset / 8] = word;
}

static inline uint64_t get(uint64_t from, unsigned offset)
{
	return at(from)[offset / 8];
}

static inline uint64_t string_of(unsigned type, uint32_t length, const void *bytes, size_t n)
{
	uint64_t made = object(type, 2 + (n + 7) / 8 + 2);

	set(made, 8, (uint64_t)length << 32);
	if (n)
		memcpy(at(made) + 2, bytes, n);
	return made;
}

static inline uint64_t text_of(const char *text)
{
	return string_of(ONE_BYTE, (uint32_t)strlen(text), text, strlen(text));
}

static inline uint64_t pair_of(unsigned type, uint32_t length, uint64_t first, uint64_t second)
{
	uint64_t made = string_of(type, length, NULL, 0);

	set(made, 16, first);
	set(made, 24, second);
	return made;
}

static inline void start(void)
{
	memset(heap, 0, sizeof(heap));
	memset(code_space, 0, sizeof(code_space));
	memset(stack_words, 0, sizeof(stack_words));
	memset(map_of, 0, sizeof(map_of));
	used = 1;
	memory_close(&memory);
	part[0] = (struct memory_part){ HEAP, sizeof(heap), (const char *)heap };
	part[1] = (struct memory_part){ CODE, sizeof(code_space), (const char *)code_space };
	part[2] = (struct memory_part){ TEXT, sizeof(text_space), text_space };
	memory_image(&memory, part, 3);
	budget = (struct readbudget){ .steps = 200000, .bytes = 1 << 20 };
	memory.budget = &budget;
	memset(&v8, 0, sizeof(v8));
	v8.memory = &memory;
	v8.characters = 1 << 20;
	v8.range[v8.nranges++] = (struct v8_range){ INTERPRETER, INTERPRETER + 0x1000 };
	v8.layout = (struct v8_layout){
		.version = 11003,
		.type = { .first = TYPE_FUNCTION,
			  .last = TYPE_FUNCTION,
			  .shared = TYPE_SHARED,
			  .scope_info = TYPE_SCOPE,
			  .script = TYPE_SCRIPT,
			  .code = TYPE_CODE,
			  .bytecode_array = TYPE_BYTECODE,
			  .map = TYPE_MAP,
			  .fixed_array = TYPE_ARRAY,
			  .oddball = TYPE_ODDBALL,
			  .interpreter_data = TYPE_DATA,
			  .wrapper = TYPE_WRAPPER,
			  .nonstring = TYPE_NONSTRING },
		.map.type = 12,
		.function = { .shared = 32, .context = 40 },
		.shared = { .data = 8, .name = 16, .script = 24 },
		.script = { .name = 16, .source = 8, .line_ends = 32, .line_offset = 24 },
		.scope_info.first_vars = 3,
		.bytecode_array.data = 64,
		.code = { .start = 40,
			  .size = 52,
			  .flags = 48,
			  .deopt = 8,
			  .positions = 16,
			  .owner = 24,
			  .align = 64,
			  .kind_mask = 15,
			  .baseline = 10 },
		.deopt = { .count = 1, .literals = 2, .shared = 6, .inlining = 7, .wrapped = 8 },
	};
	object(TYPE_MAP, 1);
}

static uint64_t function, context, shared, scope, script, bytecode, source;

/* Makes function f, which starts at position 4 of /s.js, in line 3, and a stack with its frame. */
static inline void make_frame(void)
{
	start();
	function = object(TYPE_FUNCTION, 8);
	context = object(TYPE_CONTEXT, 2);
	shared = object(TYPE_SHARED, 8);
	scope = object(TYPE_SCOPE, 16);
	script = object(TYPE_SCRIPT, 8);
	bytecode = object(TYPE_BYTECODE, 16);
	source = text_of("a\nb\nfunction f() {}\n");
	set(function, 32, shared);
	set(function, 40, context);
	set(shared, 8, bytecode);
	set(shared, 16, scope);
	set(shared, 24, script);
	set(bytecode, 8, smi(40));
	set(script, 16, text_of("/s.js"));
	set(script, 8, source);
	/* scope info: no variable, a function name with its slot, start and end positions */
	set(scope, 8, smi(1u << 12 | 2));
	set(scope, 24, smi(0));
	set(scope, 32, text_of("f"));
	set(scope, 40, smi(1));
	set(scope, 48, smi(4));
	set(scope, 56, smi(19));
	stack_words[FP] = STACK + 8 * (FP + 10);
	stack_words[FP - 1] = context;
	stack_words[FP - 2] = function;
	stack_words[FP - 4] = bytecode;
	stack_words[FP - 5] = smi(70);
	/* the callee of the frame stores the frame pointer and the return address */
	stack_words[4] = STACK + 8 * FP;
	stack_words[5] = INTERPRETER + 0x123;
}

/* Removes unproven frames and sets `unproven` to their number. Returns the number of the others. */
static inline uint32_t take_proven(void)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < frames.n; i++)
		if (frames.frame[i].kind != V8_UNPROVEN)
			frames.frame[n++] = frames.frame[i];
	unproven = frames.n - n;
	frames.n = n;
	return n;
}

static inline uint32_t find(void)
{
	struct v8_stack stack = {
		STACK, { (const char *)stack_words, sizeof(stack_words) }, INTERPRETER + 0x555, 0x1234
	};

	memory_forget(&memory);
	budget = (struct readbudget){ .steps = 200000, .bytes = 1 << 20 };
	v8_frames(&v8, &stack, &frames);
	return take_proven();
}

#define START (CODE + 1024)
#define PC (START + 20)

static uint64_t owner, deopt, table, literals, inlining, inner;

/* As make_frame, but the frame runs optimized code, in which function g is inlined at its pc. */
static inline void make_optimized(void)
{
	static const unsigned char positions[] = { 20, 0, 0, 0, 0, 0, 0, 0 };
	unsigned char bytes[8];
	uint64_t inner_scope;

	make_frame();
	owner = object(TYPE_CODE, 10);
	deopt = object(TYPE_ARRAY, 16);
	table = object(TYPE_ARRAY, 4);
	literals = object(TYPE_ARRAY, 4);
	inlining = object(TYPE_ARRAY, 6);
	inner = object(TYPE_SHARED, 8);
	inner_scope = text_of("g");
	set(inner, 16, inner_scope);
	set(inner, 24, script);
	set(owner, 8, deopt);
	set(owner, 16, table);
	set(owner, 40, START);
	set(owner, 48, UINT64_C(100) << 32 | 12);
	code_space[(START - 24 - CODE) / 8] = owner;
	set(deopt, 8, smi(9));
	set(deopt, 16 + 8, smi(1));
	set(deopt, 16 + 16, literals);
	set(deopt, 16 + 48, shared);
	set(deopt, 16 + 56, inlining);
	set(literals, 8, smi(1));
	set(literals, 16, inner);
	set(inlining, 8, smi(16));
	set(inlining, 16, 0);
	set(inlining, 24, 0);
	/* one entry: offset 10 in the code (10 << 1: zigzag), then the position with inlining id 1 (1 << 31; as zigzag
	 * 1 << 32) */
	memcpy(bytes, positions, sizeof(bytes));
	bytes[1] = bytes[2] = bytes[3] = bytes[4] = 0x80;
	bytes[5] = 0x10;
	set(table, 8, smi(6));
	memcpy(at(table) + 2, bytes, sizeof(bytes));
	stack_words[5] = PC;
	stack_words[FP - 4] = stack_words[FP - 5] = 0;
}

/* Offsets of instructions in the code of make_maglev: checks that jump to exits, the return address of a call. */
enum { CHECK_INNER = 10, CHECK_INNER_LATER = 30, RETURN_INNER = 40, CHECK_OUTER = 50, EXITS = 64, CODE_BYTES = 100 };

static inline void put_check(unsigned char *code, uint32_t offset, uint32_t exit)
{
	int32_t distance = (int32_t)(EXITS + 4 * exit - (offset + 6));

	code[offset] = 0x0f;
	code[offset + 1] = 0x80;
	memcpy(code + offset + 2, &distance, sizeof(distance));
	memcpy(code + EXITS + 4 * exit, "\x41\xff\x55", 3);
}

/* As make_optimized, for code of Maglev in V8 12.4, with function g inlined from offset CHECK_INNER to RETURN_INNER. */
static inline void make_maglev(void)
{
	/* translations of f; of f and g; of f and g at a later position, where the frame of f is a repetition */
	static const unsigned char translations[] = { 12, 0, 2, 2,  1, 8, 0,  2,  12, 0, 4,  4, 1,  8, 0, 2,
						      35, 1, 1, 12, 2, 2, 12, 14, 4,  4, 42, 1, 16, 2, 2 };
	static const uint32_t point[4][2] = { { 4, 0 }, { 6, 8 }, { 8, 22 }, { 8, 22 } };
	unsigned char *code;

	make_optimized();
	v8.layout.version = 12004;
	set(owner, 48, UINT64_C(100) << 32 | 11);
	table = object(TYPE_ARRAY, 8);
	set(table, 8, smi(sizeof(translations)));
	memcpy(at(table) + 2, translations, sizeof(translations));
	literals = object(TYPE_ARRAY, 4);
	set(literals, 8, smi(2));
	set(literals, 16, shared);
	set(literals, 24, inner);
	deopt = object(TYPE_ARRAY, 32);
	set(owner, 8, deopt);
	set(deopt, 8, smi(23));
	set(deopt, 16, table);
	set(deopt, 16 + 16, literals);
	set(deopt, 16 + 48, shared);
	set(deopt, 16 + 64, smi(EXITS));
	set(deopt, 16 + 72, smi(3));
	set(deopt, 16 + 80, smi(1));
	for (unsigned i = 0; i < 4; i++) {
		set(deopt, 16 + 88 + 24 * i, smi(point[i][0]));
		set(deopt, 16 + 96 + 24 * i, smi(point[i][1]));
	}
	code = (unsigned char *)code_space + (START - CODE);
	put_check(code, CHECK_INNER, 1);
	put_check(code, CHECK_INNER_LATER, 2);
	put_check(code, CHECK_OUTER, 0);
	/* one safepoint: its pc, number of its point + 1, pc of its exit, pushed registers */
	memcpy(code + CODE_BYTES, "\1\0\0\0\x91\0\0\0\0\0\0\0\0\0\0\0\x28\4\0\0", 20);
	stack_words[5] = START + RETURN_INNER;
}

/* As make_maglev, for code of Turbofan, with a table of source positions of n bytes; at the second position, function g
 * is inlined. */
static inline void make_turbofan(const unsigned char *positions, size_t n)
{
	uint64_t array;

	make_maglev();
	set(owner, 48, UINT64_C(100) << 32 | 12);
	/* unlike that of make_maglev, without a number of words after the configuration and without pushed registers */
	memcpy((char *)code_space + (START - CODE) + CODE_BYTES, "\1\0\0\0\x91\0\0\0\x28\4\0\0", 12);
	array = object(TYPE_ARRAY, 2 + (n + 7) / 8);
	set(array, 8, smi(n));
	memcpy(at(array) + 2, positions, n);
	set(owner, 16, array);
	set(deopt, 16 + 8, smi(2));
	set(deopt, 16 + 56, inlining);
	set(inlining, 24, 1);
	stack_words[5] = START + RETURN_INNER;
	stack_words[4] = STACK + 8 * FP;
}

#endif
