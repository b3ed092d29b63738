/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/foldopts.h"

#include "common/arena.h"
#include "fold/symbols/inlines.h"
#include "common/filter/opt.h"
#include "fold/slices.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Records that the option `name` needs an input with samples: perf.data, or text of samples. Only the first such name
 * is stored, for the error message. */
static void needs_samples(struct request *request, const char *name)
{
	if (!request->sample_option[0])
		snprintf(request->sample_option, sizeof(request->sample_option), "%s", name);
}

/* Records that the option `name` needs perf.data as input, and therefore also samples. Only the first such name is
 * stored, for the error message. */
static void needs_recording(struct request *request, const char *name)
{
	if (!request->recording_option[0])
		snprintf(request->recording_option, sizeof(request->recording_option), "%s", name);
	needs_samples(request, name);
}

/* Values that each option allows, separated by "|"; opt_choice() returns the index of the given value. */
#define ROOTS "process|thread|both|groups"
#define GROUPS "cgroup|container|pod|thread"
#define SPELLINGS "java|hotspot"
#define WEIGHTS "samples|period"
#define COMMS "keep|none|canonical"

static void opt_root(void *to, const char *value, const char *name)
{
	static const enum recording_root root[] = { ROOT_PROCESS, ROOT_THREAD, ROOT_BOTH, ROOT_GROUPS };
	struct request *request = to;

	request->recording.root = root[opt_choice(value, name, ROOTS)];
	needs_recording(request, name);
}

static void foldopts_opt_by(void *to, const char *value, const char *name)
{
	static const enum containers_by by[] = { BY_CGROUP, BY_CONTAINER, BY_POD };
	struct request *request = to;
	size_t choice = opt_choice(value, name, GROUPS);

	if (choice < countof(by))
		request->recording.by = by[choice];
	else
		request->recording.root = ROOT_BOTH;
	needs_recording(request, name);
}

static void opt_place(void *to, const char *value, const char *name)
{
	struct request *request = to;

	if (strcmp(name, "--symfs") == 0)
		request->recording.symfs = value;
	else if (strcmp(name, "--symbol-store") == 0 || strcmp(name, "--kept") == 0)
		request->recording.saved = value;
	else if (strcmp(name, "--maps") == 0)
		request->recording.maps = value;
	else
		request->recording.kallsyms = value;
	needs_recording(request, name);
}

static void opt_inline(void *to, const char *value, const char *name)
{
	struct request *request = to;

	(void)value;
	if (!inlines_here)
		die_usage("%s: pjfold was built without libdw: install libdw-dev (elfutils-devel) and rebuild", name);
	request->recording.inlined = true;
	needs_recording(request, name);
}

static void opt_slice(void *to, const char *value, const char *name)
{
	struct request *request = to;

	request->recording.slice_ns = opt_duration(value, name, SECOND_NS / 1000000, OPT_TIME_MOST);
	needs_recording(request, name);
}

static void opt_report(void *to, const char *value, const char *name)
{
	struct request *request = to;

	(void)value;
	if (strcmp(name, "--info") == 0)
		request->info = true;
	else if (strcmp(name, "--unresolved") == 0)
		request->unresolved = true;
	else if (strcmp(name, "--stacks") == 0)
		request->stacks = true;
	else
		request->recording.as_perf = true;
	needs_recording(request, name);
}

static void opt_thread_dump(void *to, const char *value, const char *name)
{
	struct request *request = to;

	request->thread_dump = true;
	request->threads_file = value;
	needs_recording(request, name);
}

static void foldopts_opt_label(void *to, const char *value, const char *name)
{
	struct request *request = to;

	(void)value;
	if (strcmp(name, "--tid") == 0)
		request->script.tid = true;
	else
		request->script.pid = true;
	needs_samples(request, name);
}

static void opt_kinds(void *to, const char *value, const char *name)
{
	struct request *request = to;

	(void)value;
	if (strcmp(name, "--kernel") == 0)
		request->kinds_named |= 1u << KIND_KERNEL;
	else if (strcmp(name, "--jit") == 0)
		request->kinds_named |= 1u << KIND_JIT;
	else
		request->kinds_named |= NAMES_ALL_KINDS;
	request->kinds_given = true;
	needs_samples(request, name);
}

/* Handles --annotate=LIST: adds the kinds of code in LIST (`value`), such as k,j, to the kinds whose names get a
 * suffix; "none" adds no kind. Without the option, all kinds get a suffix. */
static void opt_annotate(void *to, const char *value, const char *name)
{
	static const struct {
		const char *name;
		enum names_kind kind;
	} kinds[] = { { "k", KIND_KERNEL },
		      { "j", KIND_JIT },
		      { "i", KIND_INLINED },
		      { "0", KIND_INTERPRETED },
		      { "1", KIND_C1 } };
	struct request *request = to;
	struct str rest = str_of(value);

	request->kinds_given = true;
	needs_samples(request, name);
	if (str_eq(rest, STR("none")))
		return;
	if (rest.n == 0)
		die_usage("--annotate needs a list of k, j, i, 0, 1, or none");
	while (rest.n) {
		struct str word = str_cut(&rest, ',');
		size_t i = 0;

		while (i < countof(kinds) && !str_eq(word, str_of(kinds[i].name)))
			i++;
		if (i == countof(kinds))
			die_usage("--annotate=%s: '%.*s' is none of k, j, i, 0, 1, none", value, (int)word.n, word.p);
		request->kinds_named |= 1u << kinds[i].kind;
	}
}

static void foldopts_opt_names(void *to, const char *value, const char *name)
{
	struct request *request = to;

	request->script.names.hotspot = opt_choice(value, name, SPELLINGS) == 1;
	needs_samples(request, name);
}

static void opt_weight(void *to, const char *value, const char *name)
{
	static const enum samples_weight weight[] = { WEIGHT_SAMPLES, WEIGHT_PERIOD };
	struct request *request = to;

	request->script.weight = weight[opt_choice(value, name, WEIGHTS)];
	needs_samples(request, name);
}

static void opt_comm(void *to, const char *value, const char *name)
{
	static const enum samples_comm comm[] = { COMM_KEEP, COMM_NONE, COMM_CANONICAL };
	struct request *request = to;

	request->script.comm = comm[opt_choice(value, name, COMMS)];
	needs_samples(request, name);
}

static void foldopts_opt_only(void *to, const char *value, const char *name)
{
	struct request *request = to;

	select_only(&request->script.select, value);
	needs_samples(request, name);
}

/* Handles --event-filter EVENT, an option of FlameGraph's stackcollapse-perf.pl: selects the event whose name is
 * exactly EVENT (`value`), which is not a glob pattern. */
static void opt_event_filter(void *to, const char *value, const char *name)
{
	struct request *request = to;
	struct select_key *key = &request->script.select.event;

	key->glob = mem_grow(key->glob, sizeof(*key->glob), key->n + 1);
	key->glob[key->n++] = str_of(value);
	needs_samples(request, name);
}

static void opt_skip_after(void *to, const char *value, const char *name)
{
	struct samples_options *options = &((struct request *)to)->script;

	options->skip_after = mem_grow(options->skip_after, sizeof(*options->skip_after), options->nskip_after + 1);
	options->skip_after[options->nskip_after++] = str_of(value);
	needs_samples(to, name);
}

static void opt_flag(void *to, const char *value, const char *name)
{
	struct request *request = to;

	(void)value;
	if (strcmp(name, "--addrs") == 0)
		request->script.names.addresses = true;
	else if (strcmp(name, "--srcline") == 0)
		request->script.srcline = true;
	else if (strcmp(name, "--collapse-recursion") == 0)
		request->script.collapse_recursion = true;
	else if (strcmp(name, "--list-events") == 0)
		request->list_events = true;
	else
		request->as_flamegraph = true;
	needs_samples(request, name);
}

static void foldopts_opt_time(void *to, const char *value, const char *name)
{
	struct request *request = to;

	if (strcmp(name, "--from") == 0)
		request->script.select.from = select_parse_time(value, name);
	else
		request->script.select.to = select_parse_time(value, name);
	needs_samples(request, name);
}

static void opt_top(void *to, const char *value, const char *name)
{
	struct request *request = to;

	if (!str_u64(str_of(value), &request->top))
		die_usage("%s: '%s' is not a number of rows, as in %s 20 %s", name, value, name,
			  access(value, F_OK) == 0 ? value : "FILE");
	request->top_given = true;
}

static NORETURN void opt_stdio(void *to, const char *value, const char *name)
{
	(void)to;
	(void)value;
	die_usage("%s: --tree prints the call tree, --top=20 a table of functions", name);
}

static void foldopts_opt_tree(void *to, const char *value, const char *name)
{
	struct request *request = to;

	request->tree = true;
	request->tree_percent = 0.5;
	if (value && (!opt_number(&value, 100, &request->tree_percent) || *value))
		die_usage("%s: '%s' is not a percentage from 0 to 100", name, value);
}

/* Sets the options that a key of --sort implies besides its column: --sort=pid labels processes as --pid does. */
static void apply_sort_word(struct request *request, const struct sortkeys_word *word)
{
	static const enum containers_by by[] = {
		[LABEL_CGROUP] = BY_CGROUP, [LABEL_CONTAINER] = BY_CONTAINER, [LABEL_POD] = BY_POD
	};
	char shown[32];

	snprintf(shown, sizeof(shown), "--sort=%s", word->name);
	if (word->is_order)
		return;
	if (word->column == COLUMN_DSO || word->label == LABEL_PID || word->label == LABEL_TID)
		needs_samples(request, shown);
	if (word->column == COLUMN_THREAD || word->column == COLUMN_GROUP)
		needs_recording(request, shown);
	request->script.pid |= word->label == LABEL_PID;
	request->script.tid |= word->label == LABEL_TID;
	if (word->column == COLUMN_GROUP) {
		if (request->recording.by && request->recording.by != by[word->label])
			die_usage("%s: cgroup, container and pod exclude each other", shown);
		request->recording.by = by[word->label];
	}
}

static void foldopts_opt_sort(void *to, const char *value, const char *name)
{
	struct request *request = to;

	do {
		apply_sort_word(request, sortkeys_take(&request->sort, &value, name));
	} while (*value);
	request->sort_given = true;
}

/* Dies if other options contradict --sort; sets the options that its columns need. */
static void settle_sort(struct request *request)
{
	const struct sortkeys *keys = &request->sort;

	if (request->sort_given && !request->top_given && !request->tree)
		die_usage("--sort is the order of --top or --tree, which is missing");
	if ((keys->has[COLUMN_COMM] || keys->has[COLUMN_THREAD]) &&
	    (request->script.comm == COMM_NONE || request->script.nskip_after))
		die_usage("--sort by processes or threads excludes --comm=none and --skip-after");
	if (keys->has[COLUMN_THREAD])
		request->recording.root = ROOT_BOTH;
	/* Frames need their DSO for the column dso. In --top with columns of processes, a frame with a DSO is certainly
	 * a function and not the name of a process. --tree shows the DSO. */
	request->script.names.dso = keys->has[COLUMN_DSO] || (request->top_given && sortkeys_of_threads(keys));
}

static void print_option_values(struct out *out, const char *option)
{
	if (strcmp(option, "sort") == 0)
		sortkeys_list(out);
}

static void foldopts_opt_input(void *to, const char *value, const char *name)
{
	struct request *request = to;

	(void)name;
	request->input = mem_more(request->input, sizeof(*request->input), request->ninputs);
	request->input[request->ninputs++] = value;
}

/* Returns a new array of the files of -i, then the files of `operand`, then NULL; the caller frees it. */
static char **join_inputs(const struct request *request, char **operand)
{
	size_t n = 0, noperands = 0;
	char **joined;

	while (operand[noperands])
		noperands++;
	joined = mem_alloc(sizeof(*joined), request->ninputs + noperands + 1);
	for (size_t i = 0; i < request->ninputs; i++)
		joined[n++] = (char *)request->input[i];
	for (size_t i = 0; i < noperands; i++)
		joined[n++] = operand[i];
	return joined;
}

static void opt_max_lost(void *to, const char *value, const char *name)
{
	struct request *request = to;
	char *end;

	request->max_lost = strtod(value, &end);
	if (end == value || (*end && strcmp(end, "%") != 0) || !(request->max_lost >= 0 && request->max_lost <= 100))
		die_usage("%s: '%s' is not a percentage", name, value);
	request->has_max_lost = true;
}

/* Fills request->flamegraph, the options of --as-flamegraph, from the parsed options. Dies if an option is given that
 * stackcollapse-perf.pl does not have. */
static void prepare_flamegraph(struct request *request)
{
	struct samples_options *options = &request->script;
	struct select *select = &options->select;

	if (select->pid.n || select->tid.n || select->cpu.n || select->comm.n || select->cgroup.n ||
	    select->event.n > 1 || select_needs_time(select) || options->comm != COMM_KEEP || options->nskip_after ||
	    options->collapse_recursion || options->names.hotspot || options->names.dso || request->list_events)
		die_usage("--as-flamegraph allows only --pid, --tid, --kernel, --jit, --all, --addrs, --srcline, "
			  "--weight and one event, as stackcollapse-perf.pl does");
	request->flamegraph = (struct asflamegraph_options){
		.pid = options->pid,
		.tid = options->tid,
		.addrs = options->names.addresses,
		.srcline = options->srcline,
		.kernel = request->kinds_named >> KIND_KERNEL & 1,
		.jit = request->kinds_named >> KIND_JIT & 1,
		.samples = options->weight == WEIGHT_SAMPLES,
		.event = select->event.n ? select->event.glob[0] : (struct str){ 0 },
	};
}

/* ---- table of options ---------------------------------------------------------------------------------------- */

/* Table of options. Each function add_*_group() appends the rows of one group. */
struct options {
	struct opt row[80];
	size_t n;
};

static void add_opt_rows(struct options *options, const struct opt *row, size_t n)
{
	if (n > countof(options->row) - options->n)
		die("more options than struct options has space for");
	memcpy(options->row + options->n, row, n * sizeof(*row));
	options->n += n;
}

static void add_output_group(struct options *options, struct request *request)
{
	const struct opt rows[] = {
		OPT_GROUP("Output"),
		{ 'i', "input", "FILE", OPT_CALL, request, foldopts_opt_input, "read FILE, as an operand does" },
		{ 'o', "output", "FILE", OPT_CALL, &request->out, opt_text_path,
		  "write to FILE, complete or not at all (standard output)" },
		{ 'j', NULL, "N", OPT_U64, &request->threads, NULL,
		  "number of threads (1); the result is the same for any number" },
		{ 'q', "quiet", NULL, OPT_FLAG, &request->quiet, NULL, "print no summary" },
		{ 'v', "verbose", NULL, OPT_FLAG, &request->verbose, NULL,
		  "print all counts and causes before the summary sentence" },
		{ 0, "header", NULL, OPT_FLAG, &request->header, NULL,
		  "start the output with a line '# pj unit=... samples=...'" },
		{ 0, "time-slice", "SECONDS", OPT_CALL, request, opt_slice,
		  "put the time, by SECONDS, before stacks; %s in -o NAME: a file each" },
	};

	add_opt_rows(options, rows, countof(rows));
}

static void add_reports_group(struct options *options, struct request *request)
{
	const struct opt rows[] = {
		OPT_GROUP("Reports instead of stacks"),
		{ 0, "top", "N", OPT_CALL, request, opt_top, "print the N hottest frames instead: self and total" },
		{ 0, "sort", "KEY,...", OPT_CALL, request, foldopts_opt_sort,
		  "columns of --top: comm,thread,dso,sym,...; order: self, total, name" },
		{ 0, "stdio", NULL, OPT_CALL_FLAG, request, opt_stdio, NULL },
		{ 0, "tree", "[=PCT]", OPT_CALL, request, foldopts_opt_tree,
		  "print the call tree instead, without callees below PCT % (0.5)" },
		{ 0, "list-events", NULL, OPT_CALL_FLAG, request, opt_flag, "print the events of the input instead" },
		{ 0, "info", NULL, OPT_CALL_FLAG, request, opt_report, "describe the perf.data files instead" },
		{ 0, "stacks", NULL, OPT_CALL_FLAG, request, opt_report,
		  "print how complete the stacks are instead, by first frame" },
		{ 0, "thread-dump", "[=FILE]", OPT_CALL, request, opt_thread_dump,
		  "print the newest stack of each thread instead, or of those in FILE" },
		{ 0, "unresolved", NULL, OPT_CALL_FLAG, request, opt_report,
		  "print code without names instead, and the reason" },
	};

	add_opt_rows(options, rows, countof(rows));
}

static void add_selection_group(struct options *options, struct request *request)
{
	const struct opt rows[] = {
		OPT_GROUP("Selection of samples"),
		{ 0, "only", "KEY=VALUE,...", OPT_CALL, request, foldopts_opt_only,
		  "only samples of pid=, tid=, comm=GLOB, cpu=, event=GLOB, cgroup=GLOB" },
		{ 0, "from", "TIME", OPT_CALL, request, foldopts_opt_time,
		  "only samples at or after TIME: seconds, or +SECONDS from the first" },
		{ 0, "to", "TIME", OPT_CALL, request, foldopts_opt_time, "only samples before TIME" },
		{ 0, "event-filter", "EVENT", OPT_CALL, request, opt_event_filter, NULL },
		{ 0, "weight", WEIGHTS, OPT_CALL, request, opt_weight,
		  "count samples, or sum their periods (samples)" },
		{ 0, "min-samples", "N", OPT_U64, &request->min_samples, NULL,
		  "fold subtrees that weigh less than N into [other]" },
	};

	add_opt_rows(options, rows, countof(rows));
}

static void add_roots_group(struct options *options, struct request *request)
{
	const struct opt rows[] = {
		OPT_GROUP("First frames"),
		{ 0, "root", ROOTS, OPT_CALL, request, opt_root,
		  "first frame: process, thread, both; groups: of JVM threads (process)" },
		{ 0, "by", GROUPS, OPT_CALL, request, foldopts_opt_by,
		  "add a first frame, for perf.data with cgroups; thread: as --root=both" },
		{ 0, "pid", NULL, OPT_CALL_FLAG, request, foldopts_opt_label, "first frame is comm-PID" },
		{ 0, "tid", NULL, OPT_CALL_FLAG, request, foldopts_opt_label, "first frame is comm-PID/TID" },
		{ 0, "comm", COMMS, OPT_CALL, request, opt_comm,
		  "first frame: unchanged, absent, without trailing numbers (keep)" },
	};

	add_opt_rows(options, rows, countof(rows));
}

static void add_frames_group(struct options *options, struct request *request)
{
	const struct opt rows[] = {
		OPT_GROUP("Frames"),
		{ 0, "annotate", "k,j,i,0,1|none", OPT_CALL, request, opt_annotate,
		  "suffixes of kernel, JIT, inlined, interpreted, C1 code (all)" },
		{ 0, "kernel", NULL, OPT_CALL_FLAG, request, opt_kinds, "only the suffix _[k] of kernel code" },
		{ 0, "jit", NULL, OPT_CALL_FLAG, request, opt_kinds, "only the suffix _[j] of JIT code" },
		{ 0, "all", NULL, OPT_CALL_FLAG, request, opt_kinds, "suffixes of all kinds of code" },
		{ 0, "names", SPELLINGS, OPT_CALL, request, foldopts_opt_names,
		  "Java methods as pkg/Class.method, or as the JDK spells them (java)" },
		{ 0, "addrs", NULL, OPT_CALL_FLAG, request, opt_flag, "show the address of frames without a symbol" },
		{ 0, "inline", NULL, OPT_CALL_FLAG, request, opt_inline,
		  "show inlined functions as frames (perf.data with debug information)" },
		{ 0, "srcline", NULL, OPT_CALL_FLAG, request, opt_flag,
		  "append file:line, of interpreters or by perf script -F+srcline" },
		{ 0, "skip-after", "FRAME", OPT_CALL, request, opt_skip_after,
		  "drop the callers of FRAME; may be repeated" },
		{ 0, "collapse-recursion", NULL, OPT_CALL_FLAG, request, opt_flag,
		  "merge a frame with its caller if both are the same function" },
	};

	add_opt_rows(options, rows, countof(rows));
}

static void add_losses_group(struct options *options, struct request *request)
{
	const struct opt rows[] = {
		OPT_GROUP("Losses"),
		{ 0, "max-lost", "PCT", OPT_CALL, request, opt_max_lost,
		  "exit 3 if more than PCT % of the samples were lost" },
		{ 0, "show-lost", NULL, OPT_FLAG, &request->show_lost, NULL,
		  "add the stack [lost] with the lost samples" },
		{ 0, "strict", NULL, OPT_FLAG, &request->strict, NULL, "exit 1 if anything was skipped" },
	};

	add_opt_rows(options, rows, countof(rows));
}

static void add_symbols_group(struct options *options, struct request *request)
{
	const struct opt rows[] = {
		OPT_GROUP("Symbols"),
		{ 0, "kallsyms", "FILE", OPT_CALL, request, opt_place,
		  "symbols of the recorded kernel: a copy of /proc/kallsyms, or vmlinux" },
		{ 0, "symbol-store", "DIR", OPT_CALL, request, opt_place,
		  "DIR of pjrecord with symbols/ and jit/ (that of the window)" },
		{ 0, "kept", "DIR", OPT_CALL, request, opt_place, NULL },
		{ 0, "maps", "DIR", OPT_CALL, request, opt_place,
		  "timelines of pjmap -i (maps/ beside the window's out/)" },
		{ 0, "symfs", "DIR", OPT_CALL, request, opt_place, "look up files of the recorded machine below DIR" },
		{ 0, "unprivileged", NULL, OPT_FLAG, &request->unprivileged, NULL,
		  "open files without capabilities, too: for untrusted recordings" },
	};

	add_opt_rows(options, rows, countof(rows));
}

static void add_compatibility_group(struct options *options, struct request *request)
{
	const struct opt rows[] = {
		OPT_GROUP("Compatibility"),
		{ 0, "as-perf", NULL, OPT_CALL_FLAG, request, opt_report,
		  "names and stacks of perf.data exactly as perf script's" },
		{ 0, "as-flamegraph", NULL, OPT_CALL_FLAG, request, opt_flag,
		  "names and weights exactly as stackcollapse-perf.pl's" },
	};

	add_opt_rows(options, rows, countof(rows));
}

static void add_opt_groups(struct options *options, struct request *request)
{
	add_output_group(options, request);
	add_reports_group(options, request);
	add_selection_group(options, request);
	add_roots_group(options, request);
	add_frames_group(options, request);
	add_losses_group(options, request);
	add_symbols_group(options, request);
	add_compatibility_group(options, request);
}

/* Dies if --time-slice is combined with a report, or with an output that cannot have slices. */
static void foldopts_check_slices(const struct request *request)
{
	if (!request->recording.slice_ns)
		return;
	if (request->list_events || request->top_given || request->tree || request->info || request->stacks ||
	    request->unresolved || request->thread_dump || request->show_lost)
		die_usage("--time-slice allows neither --show-lost nor tables");
	if (slices_name_fits(request->out))
		return;
	if (request->out && strstr(request->out, "%s"))
		die_usage("--time-slice: -o has more than one %%s in its name");
	if (request->min_samples > 1)
		die_usage("--min-samples with --time-slice needs files: -o with %%s in its name");
}

/* Dies if options contradict each other, or have a value out of range. */
static void refuse_contradictions(const struct request *request)
{
	if (request->threads < 1 || request->threads > 256)
		die_usage("-j %llu: from 1 to 256", (unsigned long long)request->threads);
	if (request->top_given && request->top == 0)
		die_usage("--top 0: at least 1");
	if (request->list_events + request->top_given + request->tree + request->header + request->info +
		    request->stacks + request->unresolved + request->thread_dump >
	    1)
		die_usage("--top, --tree, --list-events, --info, --stacks, --unresolved, --thread-dump and --header "
			  "exclude each other");
	if (request->header && request->as_flamegraph)
		die_usage("--as-flamegraph and --header exclude each other: stackcollapse-perf.pl writes no header");
	if (select_empty_range(&request->script.select))
		die_usage("--from is not before --to: no sample can be between them");
	foldopts_check_slices(request);
}

/* Sets the options that --thread-dump implies, and dies if other options contradict it. Frames show file and line
 * instead of the suffix of their kind. Each sample has weight 1: weights of several events have no common unit. */
static void prepare_thread_dump(struct request *request)
{
	if (!request->thread_dump)
		return;
	if (request->script.select.event.n || request->recording.by || request->recording.as_perf ||
	    request->as_flamegraph)
		die_usage("--thread-dump takes all events, and excludes --by, --as-perf and --as-flamegraph");
	request->script.weight = WEIGHT_SAMPLES;
	request->script.srcline = true;
	if (!request->kinds_given)
		request->script.names.kinds = 0;
}

void foldopts_parse(struct request *request, int argc, char ***argv)
{
	static struct options options;
	struct tool tool = {
		.name = "pjfold",
		.does = "fold stack samples of perf into one line per distinct stack",
		.synopsis = "[options] [file ...]",
		.example = "example: perf record -F 99 -a -g -- sleep 10\n"
			   "         pjfold perf.data | pjsvg > flame.svg",
		.opts = options.row,
		.libraries = LIBRARY_ZLIB | LIBRARY_ZSTD | LIBRARY_LZMA | LIBRARY_LIBDW,
		.print_values = print_option_values,
	};

	add_opt_groups(&options, request);
	tool.nopts = options.n;
	request->threads = 1;
	*argv = opt_parse(&tool, argc, *argv);
	if (request->ninputs)
		*argv = request->joined = join_inputs(request, *argv);
	request->script.names.kinds = request->kinds_given ? request->kinds_named : NAMES_ALL_KINDS;
	prepare_thread_dump(request);
	refuse_contradictions(request);
	settle_sort(request);
	request->verbose = request->verbose && !request->quiet;
	/* with several inputs, a header of folded text may have times; the output's range must include the samples' */
	request->script.times = request->header || ((*argv)[0] && (*argv)[1]);
	request->recording.samples = &request->script;
	request->recording.threads = (unsigned)request->threads;
	if (request->as_flamegraph)
		prepare_flamegraph(request);
}

void foldopts_free(struct request *request)
{
	select_free(&request->script.select);
	free(request->script.skip_after);
	free(request->input);
	free(request->joined);
}
