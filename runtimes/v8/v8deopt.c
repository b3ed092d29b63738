/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/v8/v8deopt.h"

#include "common/formats/perfrecord.h"
#include "runtimes/v8/v8numbers.h"

/* POINT_WORDS: number of words of a deoptimization point: offset of its bytecode, index of its translation, pc.
 * POINTS_MAX, TRANSLATION_BYTES: maximum number of points (and of safepoints), and maximum bytes of translations, of
 * one code; larger tables are refused. */
#define POINT_WORDS 3u
#define POINTS_MAX 65536u
#define TRANSLATION_BYTES (1u << 20)
/* maximum number of operations of one translation, with those that it repeats from an earlier one; a longer one is
 * refused */
#define OPERATIONS_MAX 8192u
#define EXIT_BYTES 4u /* size in bytes of a deoptimization exit: a call through a table at r13 */

/* Fields of the configuration word of a table of safepoints. */
#define HAS_DEOPT 1u
#define REGISTER_BYTES(config) ((config) >> 1 & 7)
#define PC_BYTES(config) ((config) >> 4 & 7)
#define INDEX_BYTES(config) ((config) >> 7 & 7)

/* ---- operations of translations --------------------------------------------------------------------------------- */

/* Upper bounds of operation numbers: below FUNCTIONS, operations are frames of functions; below JAVASCRIPT, frames
 * of JavaScript; below operations.frames, frames of any kind. */
enum { FUNCTIONS = 2, JAVASCRIPT = 4 };

/* Operations of the translations of one V8 version, by number. The last one (MATCH_PREVIOUS_TRANSLATION) repeats
 * operations of an earlier translation; its operand is their number. A byte above the last operation repeats (byte -
 * last - 1) operations. */
struct operations {
	uint32_t version;
	/* number of operations that are frames; first of the two operations that begin a translation */
	uint32_t frames, begin;
	const char *operands;   /* number of operands of each operation, one digit each */
	uint32_t header;        /* number of 4-byte words before the length in the header of a table of safepoints */
	uint32_t maglev_header; /* number of 4-byte words in the header after the configuration, in code of Maglev */
};

static const struct operations list[] = {
	{ 12004, 10, 12, "5333213432103311111111111111111101111121", 0, 2 },
	{ 13006, 11, 14, "643321343331003311101111111111111111101111121", 1, 1 },
	{ 14006, 11, 14, "643321343331003311101111111111111111101111121", 1, 1 },
};

static const struct operations *operations_of(const struct v8 *v8)
{
	for (size_t i = 0; i < countof(list); i++)
		if (list[i].version == v8->layout.version)
			return &list[i];
	return NULL;
}

bool v8deopt_is_known(const struct v8 *v8)
{
	return operations_of(v8) != NULL;
}

/* ---- tables of a Code object ------------------------------------------------------------------------------------- */

struct tables {
	struct v8 *v8;
	const struct operations *operations;
	const struct v8_code *code;
	/* deoptimization data; address of the first byte of the translations; array of literals */
	uint64_t data, bytes, literals;
	uint32_t nbytes, nliterals;
	uint32_t first, npoints; /* index of the first point in the deoptimization data; number of points */
	uint64_t safepoints;     /* address of the first entry of the table of safepoints */
	uint32_t nsafepoints, config, stride; /* config: configuration word; stride: size of an entry in bytes */
};

static bool smi_at(const struct tables *tables, uint32_t index, uint32_t *value)
{
	uint64_t word;

	return v8code_element(tables->v8, tables->data, index, &word) && v8heap_smi(word, value);
}

static bool read_points(struct tables *tables)
{
	struct v8 *v8 = tables->v8;
	uint32_t length, exits, neager, nlazy, fixed = v8->layout.deopt.inlining + 1;
	uint64_t array;

	if (!v8code_deopt(v8, tables->code, &tables->data, &length) || length < fixed + 3 ||
	    !v8code_element(v8, tables->data, 0, &array) || !v8heap_is_object(array) ||
	    !v8code_length(v8, array, &tables->nbytes) || tables->nbytes > TRANSLATION_BYTES ||
	    !v8code_element(v8, tables->data, v8->layout.deopt.literals, &tables->literals) ||
	    !v8heap_is_object(tables->literals) || !v8code_length(v8, tables->literals, &tables->nliterals) ||
	    !smi_at(tables, fixed, &exits) || !smi_at(tables, fixed + 1, &neager) || !smi_at(tables, fixed + 2, &nlazy))
		return false;
	tables->bytes = array - 1 + V8CODE_ELEMENTS;
	tables->first = fixed + 3;
	tables->npoints = (length - tables->first) / POINT_WORDS;
	return tables->npoints <= POINTS_MAX && length == tables->first + tables->npoints * POINT_WORDS &&
	       neager <= tables->npoints && nlazy == tables->npoints - neager && exits <= tables->code->size &&
	       (uint64_t)tables->npoints * EXIT_BYTES <= tables->code->size - exits;
}

/* Finds the table of safepoints, which follows the code. Returns false if the table is not readable or malformed. */
static bool read_safepoints(struct tables *tables)
{
	uint64_t at = tables->code->start + tables->code->size + 4 * tables->operations->header, n, config;
	bool maglev = tables->code->kind == tables->v8->layout.code.baseline + 1;

	if (!memory_u64(tables->v8->memory, at, 4, &n) || n > POINTS_MAX ||
	    !memory_u64(tables->v8->memory, at + 4, 4, &config))
		return false;
	tables->config = (uint32_t)config;
	tables->nsafepoints = config & HAS_DEOPT ? (uint32_t)n : 0;
	tables->safepoints = at + 8 + (maglev ? 4 * tables->operations->maglev_header : 0);
	tables->stride = 2 * PC_BYTES(tables->config) + INDEX_BYTES(tables->config) + REGISTER_BYTES(tables->config) +
			 maglev; /* an entry of Maglev has one more byte: the number of pushed registers */
	return PC_BYTES(config) <= 4 && INDEX_BYTES(config) <= 4;
}

/* Sets *number to the number in n bytes (up to 4) at address `at`. Returns false if the bytes are not readable. */
static bool small_number(const struct tables *tables, uint64_t at, uint32_t n, uint32_t *number)
{
	char byte[4] = { 0 };

	if (!memory_read(tables->v8->memory, at, byte, n))
		return false;
	*number = load32(byte);
	return true;
}

static bool safepoint_pc(const struct tables *tables, uint32_t i, uint32_t *pc)
{
	return small_number(tables, tables->safepoints + (uint64_t)i * tables->stride, PC_BYTES(tables->config), pc);
}

/* Sets *point to the deoptimization point of safepoint i. Returns false if the safepoint has none. */
static bool safepoint_point(const struct tables *tables, uint32_t i, uint32_t *point)
{
	uint64_t at = tables->safepoints + (uint64_t)i * tables->stride + PC_BYTES(tables->config);

	if (!small_number(tables, at, INDEX_BYTES(tables->config), point) || *point == 0)
		return false;
	--*point;
	return *point < tables->npoints;
}

/* Sets *found to the safepoint of the return address at `offset` of the code, by binary search. Returns false if
 * there is none, or an entry is not readable. */
static bool safepoint_of(const struct tables *tables, uint32_t offset, uint32_t *found)
{
	uint32_t low = 0, high = tables->nsafepoints, pc;

	while (low < high) {
		*found = low + (high - low) / 2;
		if (!safepoint_pc(tables, *found, &pc))
			return false;
		if (pc == offset)
			return true;
		if (pc < offset)
			low = *found + 1;
		else
			high = *found;
	}
	return false;
}

/* ---- reading of translations ------------------------------------------------------------------------------------- */

/* Functions of a deoptimization point, outermost first. */
struct chain {
	uint32_t n;
	uint64_t shared[V8CODE_INLINED + 1];
};

/* A translation that is being read. It may repeat operations of an earlier translation, its basis. Both are read in
 * step: operation i of the translation is its own one, or operation i of the basis. */
struct translation {
	const struct tables *tables;
	struct v8numbers own, basis;
	uint64_t repeated; /* number of operations that still come from the basis */
	/* number of own operations since the basis was last read: the same number of operations of the basis is
	 * skipped */
	uint64_t unmatched;
	bool has_basis; /* true if the translation has a basis */
};

static uint64_t operand_count(const struct tables *tables, uint64_t operation)
{
	return (uint64_t)(tables->operations->operands[operation] - '0');
}

static uint64_t last_operation(const struct tables *tables)
{
	return strlen(tables->operations->operands) - 1;
}

/* Reads the operands of an operation from one table. Returns false if the operation is invalid in that table. */
static bool take_operation(const struct tables *tables, struct v8numbers *from, uint64_t operation, uint64_t operand[6])
{
	uint64_t n;

	if (from->bad || operation >= last_operation(tables))
		return false;
	n = operand_count(tables, operation);
	for (uint64_t i = 0; i < n; i++)
		operand[i] = v8numbers_next(from);
	return !from->bad;
}

/* Skips the operations of the basis that own operations of the translation have replaced. Returns false if there is
 * no basis, or it is malformed. */
static bool skip_basis(struct translation *translation)
{
	uint64_t operand[6] = { 0 };

	if (!translation->has_basis || translation->unmatched > OPERATIONS_MAX)
		return false;
	for (; translation->unmatched; translation->unmatched--)
		if (!take_operation(translation->tables, &translation->basis, v8numbers_byte(&translation->basis),
				    operand))
			return false;
	return true;
}

/* Reads the next operation and its operands. Returns false at the end of the table, and if the translation is
 * malformed. */
static bool next_operation(struct translation *translation, uint64_t *operation, uint64_t operand[6])
{
	const struct tables *tables = translation->tables;
	uint64_t last = last_operation(tables);

	if (translation->repeated == 0) {
		*operation = v8numbers_byte(&translation->own);
		if (*operation < last) {
			translation->unmatched++;
			return take_operation(tables, &translation->own, *operation, operand);
		}
		translation->repeated = *operation == last ? v8numbers_next(&translation->own) : *operation - last - 1;
		if (translation->own.bad || translation->repeated == 0 || !skip_basis(translation))
			return false;
	}
	translation->repeated--;
	*operation = v8numbers_byte(&translation->basis);
	return take_operation(tables, &translation->basis, *operation, operand);
}

static bool is_begin(const struct tables *tables, uint64_t operation)
{
	return operation == tables->operations->begin || operation == tables->operations->begin + 1;
}

/* Starts to read the translation at byte `index`. Sets *frames to the number of its frames and *javascript to the
 * number of JavaScript frames among them. Returns false if the translation is malformed. */
static bool begin(struct translation *translation, const struct tables *tables, uint32_t index, uint64_t *frames,
		  uint64_t *javascript)
{
	uint64_t end = tables->bytes + tables->nbytes, operation, operand[6] = { 0 };

	*translation = (struct translation){ .tables = tables };
	if (index >= tables->nbytes)
		return false;
	v8numbers_start(&translation->own, tables->v8, tables->bytes + index, end);
	operation = v8numbers_byte(&translation->own);
	if (!is_begin(tables, operation) || !take_operation(tables, &translation->own, operation, operand) ||
	    operand[0] > index)
		return false;
	*frames = operand[1] >> 1;
	*javascript = operand[2] >> 1;
	translation->has_basis = operand[0] > 0;
	if (!translation->has_basis)
		return true;
	v8numbers_start(&translation->basis, tables->v8, tables->bytes + index - operand[0], end);
	operation = v8numbers_byte(&translation->basis);
	return is_begin(tables, operation) && take_operation(tables, &translation->basis, operation, operand) &&
	       operand[0] == 0;
}

static bool add_function(struct chain *chain, const struct tables *tables, const uint64_t operand[6])
{
	uint64_t literal = operand[1] >> 1, word;

	if (chain->n > V8CODE_INLINED || literal >= tables->nliterals ||
	    !v8code_element(tables->v8, tables->literals, (uint32_t)literal, &word) ||
	    !v8code_shared(tables->v8, word, &chain->shared[chain->n]))
		return false;
	chain->n++;
	return true;
}

/* Reads the functions of a point into *chain. Returns false if they contradict the tables or the code, or are too
 * many. */
static bool read_chain(const struct tables *tables, uint32_t point, struct chain *chain)
{
	static struct translation translation;
	uint64_t frames, javascript, operation, operand[6] = { 0 }, own;
	uint32_t index;

	chain->n = 0;
	if (!smi_at(tables, tables->first + point * POINT_WORDS + 1, &index) ||
	    !begin(&translation, tables, index, &frames, &javascript))
		return false;
	for (unsigned n = 0; frames > 0; n++) {
		if (n == OPERATIONS_MAX || !next_operation(&translation, &operation, operand) ||
		    is_begin(tables, operation))
			return false;
		if (operation >= tables->operations->frames)
			continue;
		frames--;
		if (operation < JAVASCRIPT && javascript-- == 0)
			return false;
		if (operation < FUNCTIONS && !add_function(chain, tables, operand))
			return false;
	}
	return javascript == 0 && chain->n > 0 && v8code_function(tables->v8, tables->code, &own) &&
	       own == chain->shared[0];
}

/* ---- functions that are inlined at a call ------------------------------------------------------------------------ */

uint32_t v8deopt_inlined(struct v8 *v8, const struct v8_code *code, uint64_t pc, uint64_t inlined[V8CODE_INLINED])
{
	struct tables tables = { .v8 = v8, .operations = operations_of(v8), .code = code };
	static struct chain chain;
	uint32_t n = 0, safepoint, point;

	if (!tables.operations || !read_points(&tables) || !read_safepoints(&tables) ||
	    !safepoint_of(&tables, (uint32_t)(pc - code->start), &safepoint) ||
	    !safepoint_point(&tables, safepoint, &point) || !read_chain(&tables, point, &chain) ||
	    (v8->memory->budget && v8->memory->budget->over))
		return 0;
	for (uint32_t i = chain.n; i-- > 1;)
		inlined[n++] = chain.shared[i];
	return n;
}
