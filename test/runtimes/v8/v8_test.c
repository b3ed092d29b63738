/* Frames of real nodes, stopped at any moment: each caller and callee is one that the program has, with its line, and
 * compiled functions are those of --perf-basic-prof. */
/* covers: runtimes/v8/v8.c runtimes/v8/v8layout.c runtimes/v8/v8frames.c runtimes/v8/v8code.c runtimes/v8/v8deopt.c */
#include "test/lib/nodes.h"

#include "common/formats/perfrecord.h"

#define STACKS 60u /* with functions of truth.js */
#define STOPS 600u /* at most: on a loaded machine it starts for long */

/* Functions of truth.js, and who calls whom. */
static const char *const functions[] = {
	"main",        "flat",   "parents",         "deep",    "renewed", "callbacks", "names",
	"\303\274ber", "serve",  "alternate",       "ping",    "pong",    "shared",    "fifty",
	"thirty",      "twenty", "leaf_of_closure", "compare", "later",   "peeled",    "element"
};
static const char *const calls[] = {
	"main flat",
	"main parents",
	"main deep",
	"main renewed",
	"main callbacks",
	"main \303\274ber",
	"main later",
	"main peeled",
	"peeled element",
	"flat serve",
	"parents alternate",
	"\303\274ber serve",
	"serve fifty",
	"serve thirty",
	"serve twenty",
	"alternate ping",
	"alternate pong",
	"ping shared",
	"pong shared",
	"deep deep",
	"deep fifty",
	"deep thirty",
	"deep twenty",
	"renewed leaf_of_closure",
	"leaf_of_closure shared",
	"callbacks compare",
	"compare shared",
	"later fifty",
	"later thirty",
	"later twenty",
};

enum { FUNCTIONS = sizeof(functions) / sizeof(*functions) };
static bool may_call[FUNCTIONS][FUNCTIONS];
static unsigned line_of[FUNCTIONS][2]; /* two functions have the name "deep" */

static struct v8 v8;
static struct v8_frames frames;
static struct noderun run;

static int index_of(struct str name)
{
	for (int i = 0; i < FUNCTIONS; i++)
		if (str_eq(name, str_of(functions[i])))
			return i;
	return -1;
}

/* Fills may_call. */
static void read_calls(void)
{
	for (size_t i = 0; i < countof(calls); i++) {
		struct str rest = str_of(calls[i]), caller = str_cut(&rest, ' ');

		may_call[index_of(caller)][index_of(rest)] = true;
	}
}

/* Fills line_of. */
static void read_lines(void)
{
	const char *top = getenv("PJ_TOP");
	char path[PATH_MAX], line[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/test/lib/loads/truth.js", top ? top : ".");
	file = fopen(path, "re");
	for (unsigned number = 1; file && fgets(line, sizeof(line), file); number++) {
		for (int i = 0; i < FUNCTIONS; i++) {
			char with[3][64];

			snprintf(with[0], 64, "function %s(", functions[i]);
			snprintf(with[1], 64, "\t%s() {", functions[i]);
			snprintf(with[2], 64, "\t%s: (", functions[i]);
			if (strstr(line, with[0]) || strncmp(line, with[1], strlen(with[1])) == 0 ||
			    strncmp(line, with[2], strlen(with[2])) == 0)
				line_of[i][line_of[i][0] != 0] = number;
		}
	}
	if (file)
		fclose(file);
}

/* ---- a stack ---------------------------------------------------------------------------------------------------- */

struct counts {
	unsigned stops, with_frames, functions, wrong_calls, wrong_lines, kinds[5], compared, differ;
	unsigned leaves[FUNCTIONS]; /* stops in each function */
};

/* Follows frame pointers, and calls `fn` for each function of truth.js on the stack, innermost first. */
static void follow(const struct v8_stack *stack, void (*fn)(void *to, const struct v8_frame *frame), void *to)
{
	uint64_t fp = stack->bp, pc = stack->ip, end = stack->start + stack->bytes.n;

	for (unsigned n = 0; n < 1024 && fp % 8 == 0 && fp >= stack->start && fp + 16 <= end; n++) {
		uint64_t next = load64(stack->bytes.p + (fp - stack->start));

		for (uint32_t i = 0; i < frames.n; i++)
			if (frames.frame[i].fp == fp && frames.frame[i].pc == pc && frames.frame[i].kind < V8_UNPROVEN)
				fn(to, &frames.frame[i]);
		pc = load64(stack->bytes.p + (fp - stack->start) + 8);
		if (next <= fp)
			return;
		fp = next;
	}
}

struct judge {
	struct counts *counts;
	int callee;
	bool has_leaf;
};

static void judge_function(struct judge *judge, const struct v8_function *function, unsigned kind)
{
	int i = index_of(str_of(function->name));

	judge->counts->functions++;
	judge->counts->kinds[kind]++;
	if (!judge->has_leaf && i >= 0)
		judge->counts->leaves[i]++;
	judge->has_leaf = true;
	if (i < 0) {
		judge->callee = -1; /* the closures of renewed and map have no name */
		return;
	}
	if (function->line == 0 || (function->line != line_of[i][0] && function->line != line_of[i][1])) {
		judge->counts->wrong_lines++;
		printf("# %s in line %u\n", function->name, function->line);
	}
	if (judge->callee >= 0 && !may_call[i][judge->callee]) {
		judge->counts->wrong_calls++;
		printf("# %s calls %s\n", functions[i], functions[judge->callee]);
	}
	judge->callee = i;
}

/* Compares a compiled function with the last line of perf's map that contains its pc. */
static void compare_map(struct counts *counts, const struct v8_frame *frame, const struct v8_function *function)
{
	char path[64], line[2048], last[2048] = "", want[2 * V8_NAME_MAX + 16];
	const char *found;
	FILE *file;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", run.pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		unsigned long long start, size;

		if (sscanf(line, "%llx %llx", &start, &size) == 2 && frame->pc - 1 >= start &&
		    frame->pc - 1 - start < size)
			memcpy(last, line, sizeof(last));
	}
	if (file)
		fclose(file);
	if (!last[0])
		return;
	counts->compared++;
	snprintf(want, sizeof(want), "%s %s:%u", function->has_name ? function->name : "", function->file,
		 function->line);
	/* a column follows, in newer versions */
	found = strstr(last, want);
	if (!found || !strchr(":\n", found[strlen(want)])) {
		counts->differ++;
		printf("# got %s, want %s", want, last);
	}
}

static void judge_frame(void *to, const struct v8_frame *frame)
{
	struct judge *judge = to;
	struct v8_function function;

	v8.characters = 1 << 20;
	if (!v8_function(&v8, frame->shared, &function))
		return;
	if (frame->kind == V8_BASELINE || frame->kind == V8_OPTIMIZED)
		compare_map(judge->counts, frame, &function);
	if (str_ends(str_of(function.file), STR("/truth.js")))
		judge_function(judge, &function, frame->kind);
}

static bool judge_stop(struct counts *counts)
{
	struct judge judge = { counts, -1, false };
	struct v8_stack stack;
	unsigned before = counts->functions;

	if (!noderun_stop(&run, &stack))
		return false;
	v8_frames(&v8, &stack, &frames);
	follow(&stack, judge_frame, &judge);
	counts->stops++;
	counts->with_frames += counts->functions > before;
	noderun_go_on(&run);
	usleep(2000 + 37 * (counts->stops * 7919u % 61u));
	return true;
}

/* ---- programs --------------------------------------------------------------------------------------------------- */

static void check(const char *node, const char *option, const char *mode)
{
	struct counts counts = { 0 };
	char what[PATH_MAX + 64];
	enum v8_answer answer;

	if (!noderun_start(&run, node, option, mode)) {
		noderun_end(&run);
		printf("ok %d # SKIP %s: a process may not be traced here\n", ++tap_n, node);
		return;
	}
	answer = noderun_open(&run, &v8);
	snprintf(what, sizeof(what), "%s %s %s: V8 %u.%u is open", node, option ? option : "", mode,
		 v8.layout.version / 1000, v8.layout.version % 1000);
	if (!ok(answer == V8_OPEN, what))
		printf("# %s\n", v8.why);
	while (answer == V8_OPEN && counts.stops < STOPS && counts.with_frames < STACKS && judge_stop(&counts))
		;
	noderun_end(&run);
	printf("# %u of %u stops have %u functions: %u interpreted, %u baseline, %u optimized, %u inlined; %u compared\n",
	       counts.with_frames, counts.stops, counts.functions, counts.kinds[V8_INTERPRETED],
	       counts.kinds[V8_BASELINE], counts.kinds[V8_OPTIMIZED], counts.kinds[V8_INLINED], counts.compared);
	ok(counts.with_frames >= STACKS / 2, "  stacks have functions");
	/* element calls nothing: samples in Maglev's code show no function inlined there */
	if (option && strcmp(option, "--no-turbofan") == 0 && strcmp(mode, "peeled") != 0 && v8.layout.version >= 13006)
		ok(counts.kinds[V8_INLINED] > 0, "  functions that Maglev inlined, too");
	/* some 1 to 5 % of its time: an access to an array beside 15 divisions */
	if (!ok(5 * counts.leaves[index_of(STR("element"))] <= counts.with_frames,
		"  the work of a loop is not that of a function inlined in it"))
		printf("# %u stops in it\n", counts.leaves[index_of(STR("element"))]);
	is_u64(counts.wrong_calls, 0, "  no function has a wrong caller");
	is_u64(counts.wrong_lines, 0, "  nor a wrong line");
	is_u64(counts.differ, 0, "  nor another name than --perf-basic-prof has for it");
}

int main(void)
{
	static const struct {
		const char *option, *mode;
	} program[] = {
		{ "--perf-basic-prof", "flat" },
		{ NULL, "parents" },
		{ NULL, "deep" },
		{ "--perf-basic-prof", "renewed" },
		{ NULL, "callbacks" },
		{ "--no-opt", "names" },
		{ NULL, "async" },
		{ "--always-sparkplug", "parents" },
		{ "--jitless", "names" },
		{ "--no-turbofan", "flat" },
		{ "--no-turbofan", "callbacks" },
		{ NULL, "peeled" },
		{ "--no-turbofan", "peeled" },
	};
	static char node[16][PATH_MAX];
	size_t n = nodes_find(node, 16);

	if (!n) {
		printf("1..0 # SKIP no node\n");
		return 0;
	}
	read_calls();
	read_lines();
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < countof(program); k++)
			check(node[i], program[k].option, program[k].mode);
	return done();
}
