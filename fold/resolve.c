/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/process/jvmthreads.h"
#include "fold/process/lookupjobs.h"
#include "fold/namelookup.h"
#include "fold/resolve.h"

#include "fold/jit/jitdump.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

/* State of one thread. Each thread has tables of names of its own, so that threads share none. */
struct worker {
	struct task *task;
	/* Lookup of the names of one DSO after the other. */
	struct namelookup lookup;
	/* Interned names as they are shown. The frames of one location are one text: one frame a line, outermost first.
	 */
	struct intern made;
	struct names names;
	/* Buffer for the text of the frames of one location. */
	struct text frames;
	/* Buffer for the file and line of one location. */
	struct text place;
	pthread_t thread;
};

/* State shared by the threads. */
struct task {
	const struct resolve_options *o;
	const struct provenance *origin;
	const struct addrspace *a;
	const struct locations *s;
	struct resolved *out;
	/* Jobs of all threads. The thread that handles a job of a DSO sorts the job's locations by address. */
	struct lookupjobs jobs;
	atomic_uint next;
	/* By location: id of the name of the location in the table `made` of the worker that handled the location. */
	uint32_t *made;
	/* By location: index in `worker` of the worker that handled the location. */
	uint8_t *by;
	struct worker *worker;
	unsigned nworkers;
};

struct str resolve_dso(const struct addrspace *addrspace, const struct location *location)
{
	switch (location->kind) {
	case LOCATION_IN_DSO:
	case LOCATION_CODE: return addrspace->dso[location->dso].path;
	case LOCATION_METHOD: return STR("[interpreted]");
	case LOCATION_THREAD:
	case LOCATION_GROUP:
	case LOCATION_STACK_END: break;
	}
	return STR("");
}

/* ---- names of locations ------------------------------------------------------------------------------------- */

/* Returns the id in worker->made of the frame that --root=both adds for a thread: its comm in brackets. */
static uint32_t make_thread(struct worker *worker, uint32_t comm)
{
	struct str name =
		names_comm(&worker->names, intern_str(&worker->task->a->comms, comm), worker->task->o->canonical);
	char text[256];
	int got = snprintf(text, sizeof(text), "[%.*s]", (int)(name.n < 200 ? name.n : 200), name.p);

	return intern(&worker->made, (struct str){ text, (size_t)got });
}

/* Returns the name of a function, followed by the names of the calls inlined into it, one a line. The symbols in
 * `inlined` are separated by NUL. The result is valid until the next call. */
static struct str with_inlined(struct worker *worker, struct names_frame frame, struct str inlined)
{
	worker->frames.n = 0;
	text_str(&worker->frames, names_make(&worker->names, frame));
	for (frame.inlined = true; inlined.n;) {
		frame.symbol = str_cut(&inlined, 0);
		text_char(&worker->frames, '\n');
		text_str(&worker->frames, names_make(&worker->names, frame));
	}
	return text_view(&worker->frames);
}

/* Returns the id in worker->made of the name of a frame and of the calls inlined into it. With --addrs, the name of a
 * frame without symbol contains `address`. */
static uint32_t resolve_intern_name(struct worker *worker, struct names_frame frame, struct str inlined,
				    uint64_t address)
{
	char text[24];

	if (worker->names.addresses && frame.symbol.n == 0) {
		frame.address.p = text;
		frame.address.n = (size_t)snprintf(text, sizeof(text), "%llx", (unsigned long long)address);
	}
	return intern(&worker->made,
		      inlined.n ? with_inlined(worker, frame, inlined) : names_make(&worker->names, frame));
}

/* Returns the id in worker->made of the name of a location in a DSO. raw, module and inlined are ids in
 * worker->lookup.raw of the symbol, the module and the inlined calls that the lookup found; 0: not found. */
static uint32_t make_dso_name(struct worker *worker, const struct location *location, uint32_t raw, uint32_t module,
			      uint32_t inlined)
{
	const struct task *task = worker->task;
	const struct dso *dso = &task->a->dso[location->dso];
	struct names_frame frame = { .dso = dso->path };

	if (raw)
		frame.symbol = intern_str(&worker->lookup.raw, raw);
	if (module)
		frame.dso = intern_str(&worker->lookup.raw, module);
	if (dso->kind == DSO_SYMBOL) {
		frame.symbol = dso->path;
		/* BPF programs and trampolines are kernel code and get the suffix of kernel code. With as_perf, the
		 * symbol also stands for the DSO, as in perf. */
		if (!task->o->as_perf)
			frame.dso = STR("[kernel.kallsyms]");
	} else if (dso->kind == DSO_KERNEL && !raw && task->o->as_perf && !task->out->kernel) {
		/* As in perf, whose mapping of the kernel ends at the last symbol of kallsyms: a higher address is in
		 * no DSO. */
		frame.dso = STR("[unknown]");
	}
	return resolve_intern_name(worker, frame,
				   inlined ? intern_str(&worker->lookup.raw, inlined) : (struct str){ 0 },
				   location->address);
}

/* Sets the names of id[0..n), locations of one DSO sorted by address, from the results of the queries of the worker.
 * Successive locations in the same function share its name. */
static void make_dso_names(struct worker *worker, const uint32_t *id, uint32_t n)
{
	const struct task *task = worker->task;
	uint32_t last_raw = 0, last_module = 0, last_inlined = 0, last_dso = UINT32_MAX, last = 0;

	for (uint32_t i = 0, q = 0; i < n; i++) {
		const struct location *location = &task->s->location[id[i]];
		uint32_t raw, module, inlined;

		while (worker->lookup.q[q].address != location->address)
			q++;
		raw = worker->lookup.q[q].name;
		module = worker->lookup.module[q];
		inlined = worker->lookup.q[q].inlined;
		if (raw && raw == last_raw && module == last_module && inlined == last_inlined &&
		    location->dso == last_dso)
			task->made[id[i]] = last;
		else
			task->made[id[i]] = make_dso_name(worker, location, raw, module, inlined);
		task->by[id[i]] = (uint8_t)(worker - task->worker);
		task->out->named[id[i]] = raw || task->a->dso[location->dso].kind == DSO_SYMBOL;
		last_raw = raw;
		last_module = module;
		last_inlined = inlined;
		last_dso = location->dso;
		last = task->made[id[i]];
	}
}

/* Returns "file:line" of an interpreted function for --srcline, with the base name of the file, as perf script prints
 * it. Empty if file and line are unknown, or without --srcline. The result is valid until the next call. */
static struct str method_place(struct worker *worker, const struct interpreted_method *method)
{
	struct str base = str_from(method->file, (size_t)(str_rfind(method->file, '/') + 1));

	worker->place.n = 0;
	if (worker->task->o->srcline && base.n) {
		text_str(&worker->place, base);
		text_printf(&worker->place, ":%u", (unsigned)method->line);
	}
	return text_view(&worker->place);
}

/* Returns the id in worker->made of the leaf frame of an allocation: "java/util/HashMap (allocated)". */
static uint32_t make_class_name(struct worker *worker, const struct interpreted_method *class)
{
	static const struct str unknown = { "[unknown class]", 15 };
	struct names_frame frame = { .as_is = true };

	worker->place.n = 0;
	text_str(&worker->place, class->name.n ? class->name : unknown);
	text_add(&worker->place, " (allocated)");
	frame.symbol = text_view(&worker->place);
	return resolve_intern_name(worker, frame, (struct str){ 0 }, class->method);
}

/* Returns the id in worker->made of the name of a LOCATION_METHOD. Sets *named to false if pjrecord's list has no name
 * for the function or class. */
static uint32_t make_method_name(struct worker *worker, const struct location *location, bool *named)
{
	const struct interpreted_method *method =
		interpreted_find(&worker->task->origin->recorder->interpreted, location->pid, location->method);
	uint32_t language = method ? method->language : 0;
	struct names_frame frame = { .dso = resolve_dso(worker->task->a, location) };

	if (language == PJ_LANGUAGE_JAVA_CLASS) {
		*named = method->name.n > 0;
		return make_class_name(worker, method);
	}
	frame.compiled = language == PJ_LANGUAGE_JAVASCRIPT_COMPILED;
	frame.inlined = language == PJ_LANGUAGE_JAVASCRIPT_INLINED;
	frame.interpreted = !frame.compiled && !frame.inlined;
	if (method) {
		frame.symbol = method->name;
		frame.as_is = method->language != 0;
		frame.line = method_place(worker, method);
	}
	*named = frame.symbol.n > 0;
	return resolve_intern_name(worker, frame, (struct str){ 0 }, location->method);
}

/* Returns the id in worker->made of the name of a location that needs no lookup in a DSO. Sets *named to true if the
 * location has a name, otherwise to false. */
static uint32_t make_own_name(struct worker *worker, const struct location *location, bool *named)
{
	const struct jit_code *code;

	*named = true;
	switch (location->kind) {
	case LOCATION_CODE:
		code = location_code_of(location);
		return resolve_intern_name(
			worker,
			(struct names_frame){ .dso = resolve_dso(worker->task->a, location), .symbol = code->name },
			code->inlined, code->start);
	case LOCATION_METHOD: return make_method_name(worker, location, named);
	case LOCATION_THREAD: return make_thread(worker, location->comm);
	case LOCATION_GROUP: return intern(&worker->made, jvmthreads_frame((enum jvmthreads_group)location->group));
	case LOCATION_STACK_END:
		return intern(&worker->made, location->end == STACK_TRUNCATED ? STR("[truncated]") : STR(""));
	case LOCATION_IN_DSO: break;
	}
	return 0;
}

static void make_own_names(struct worker *worker, const uint32_t *id, uint32_t n)
{
	struct task *task = worker->task;

	for (uint32_t i = 0; i < n; i++) {
		task->made[id[i]] = make_own_name(worker, &task->s->location[id[i]], &task->out->named[id[i]]);
		task->by[id[i]] = (uint8_t)(worker - task->worker);
	}
}

/* Handles a job of locations in a DSO: sorts them, looks up their addresses, and makes their names. `spare` is scratch
 * space for job->n ids. */
static void resolve_in_dso(struct worker *worker, const struct lookupjob *job, uint32_t *spare)
{
	struct task *task = worker->task;
	uint32_t *id = task->jobs.location + job->from;

	lookupjobs_sort(task->s, id, spare, job->n);
	task->out->why[job->dso] = (uint8_t)namelookup_query(&worker->lookup, &task->a->dso[job->dso],
							     namelookup_prepare(&worker->lookup, task->s, id, job->n));
	make_dso_names(worker, id, job->n);
}

/* Main function of a thread: takes jobs of the task until none is left. */
static void *resolve_work(void *arg)
{
	struct worker *worker = arg;
	struct task *task = worker->task;
	uint32_t *spare = NULL;
	size_t cap = 0;

	for (uint32_t i; (i = atomic_fetch_add(&task->next, 1)) < task->jobs.n;) {
		const struct lookupjob *job = &task->jobs.job[i];

		if (job->n > cap)
			spare = mem_grow(spare, sizeof(*spare), cap = job->n);
		if (job->in_dso)
			resolve_in_dso(worker, job, spare);
		else
			make_own_names(worker, task->jobs.location + job->from, job->n);
	}
	free(spare);
	return NULL;
}

/* ---- threads and their results ----------------------------------------------------------------------------------- */

/* Fills out->first and out->frame: adds the frames of all locations to `stacks`, and stores their ids by location. Each
 * distinct text is split and interned once. */
static void resolve_collect(struct task *task, struct stacks *stacks)
{
	struct resolved *out = task->out;
	uint32_t n = task->s->n, used = 0, cap = n + 16;
	/* text[w][id]: index in out->frame of the first frame of the text `id` in table `made` of worker w.
	 * count[w][id]: number of frames of that text; 0: the text has not been split yet. */
	uint32_t **text = mem_alloc(sizeof(*text), task->nworkers);
	uint32_t **count = mem_alloc(sizeof(*count), task->nworkers);

	for (unsigned i = 0; i < task->nworkers; i++) {
		text[i] = mem_alloc(sizeof(**text), (size_t)task->worker[i].made.n + 1);
		count[i] = mem_alloc(sizeof(**count), (size_t)task->worker[i].made.n + 1);
	}
	out->first = mem_alloc(sizeof(*out->first), (size_t)n + 2);
	out->frame = mem_alloc(sizeof(*out->frame), cap);
	for (uint32_t id = 1; id <= n; id++) {
		uint32_t by = task->by[id], made = task->made[id], from = text[by][made];
		struct str rest = count[by][made] ? (struct str){ 0 } : intern_str(&task->worker[by].made, made);

		out->first[id] = used;
		for (uint32_t i = 0; i < count[by][made] || rest.n; i++) {
			if (used == cap)
				out->frame = mem_grow(out->frame, sizeof(*out->frame), cap *= 2);
			out->frame[used] = rest.n ? stacks_frame(stacks, str_cut(&rest, '\n')) : out->frame[from + i];
			used++;
		}
		text[by][made] = out->first[id];
		count[by][made] = used - out->first[id];
	}
	out->first[n + 1] = used;
	for (unsigned i = 0; i < task->nworkers; i++) {
		free(text[i]);
		free(count[i]);
	}
	free(text);
	free(count);
}

/* Starts up to task->o->threads - 1 threads. The calling thread works, too, and returns when all jobs are done. */
static void run_workers(struct task *task)
{
	unsigned started = 1;

	task->nworkers = task->o->threads < task->jobs.n ? task->o->threads : task->jobs.n;
	if (task->nworkers < 1)
		task->nworkers = 1;
	if (task->nworkers > 1)
		mem_keep();
	task->worker = mem_alloc(sizeof(*task->worker), task->nworkers);
	for (unsigned i = 0; i < task->nworkers; i++) {
		task->worker[i].task = task;
		task->worker[i].lookup = (struct namelookup){
			.options = task->o, .origin = task->origin, .addrspace = task->a, .out = task->out
		};
		task->worker[i].names = task->o->names;
	}
	for (; started < task->nworkers; started++)
		if (pthread_create(&task->worker[started].thread, NULL, resolve_work, &task->worker[started]) != 0)
			break; /* If a thread cannot be started, the other threads do its work. */
	resolve_work(&task->worker[0]);
	for (unsigned i = 1; i < started; i++)
		pthread_join(task->worker[i].thread, NULL);
}

void resolve(struct resolved *out, const struct resolve_options *options, const struct provenance *origin,
	     const struct addrspace *addrspace, const struct locations *locations, struct stacks *stacks)
{
	struct task task = { .o = options, .origin = origin, .a = addrspace, .s = locations, .out = out };
	uint32_t maps_dso = 0;

	*out = (struct resolved){ 0 };
	out->named = mem_alloc(sizeof(*out->named), (size_t)locations->n + 1);
	out->why = mem_alloc(sizeof(*out->why), (size_t)addrspace->keys.n + 1);
	if (options->inlined)
		out->inlined = mem_alloc(sizeof(*out->inlined), (size_t)addrspace->keys.n + 1);
	task.made = mem_alloc(sizeof(*task.made), (size_t)locations->n + 1);
	task.by = mem_alloc(sizeof(*task.by), (size_t)locations->n + 1);
	lookupjobs_make(&task.jobs, addrspace, locations);
	run_workers(&task);
	resolve_collect(&task, stacks);
	for (unsigned i = 0; i < task.nworkers; i++) {
		struct worker *worker = &task.worker[i];

		namelookup_add_maps(&out->maps, &maps_dso, &worker->lookup.maps, worker->lookup.maps_dso);
		namelookup_free(&worker->lookup);
		intern_free(&worker->made);
		names_free(&worker->names);
		text_free(&worker->frames);
		text_free(&worker->place);
	}
	free(task.worker);
	free(task.made);
	free(task.by);
	lookupjobs_free(&task.jobs);
}

const char *resolve_why(const struct resolved *resolved, enum resolve_why why)
{
	static const char *const texts[] = {
		[WHY_NOT_IN_TABLE] = "no symbol at these addresses",
		[WHY_NO_MAPPING] = "no mapping at these addresses",
		[WHY_DATA] = "not a file",
		[WHY_NO_FILE] = "no file",
		[WHY_OTHER_BUILD] = "the file has another build-id",
		[WHY_STRIPPED] = "stripped",
		[WHY_NOT_ELF] = "not an ELF file",
		[WHY_FORBIDDEN] = "no permission",
		[WHY_SILENT] = "its file system does not respond",
		[WHY_METHOD] = "unreadable method name",
		[WHY_NO_MAP] = "no perf map",
		[WHY_ENDED] = "no perf map, and the process has ended",
		[WHY_ELSEWHERE] = "not a process of this machine and boot",
		[WHY_NOT_RECORDED] = "the recording does not identify its machine; if it is this one: --symfs /",
		[WHY_OTHER_FILE] = "without build-id, and the file was replaced or changed",
		[WHY_UNPROVEN] = "without build-id, inode and time, so its file may be another: give it by --symfs",
		[WHY_OTHER_MACHINE] = "of another machine, without build-id: give its files by --symfs",
	};

	return why == WHY_KERNEL ? resolved->kernel : texts[why];
}

void resolved_free(struct resolved *resolved)
{
	free(resolved->first);
	free(resolved->frame);
	free(resolved->named);
	free(resolved->why);
	free(resolved->inlined);
}
