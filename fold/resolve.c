/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/process/jvmthreads.h"
#include "fold/lookupjobs.h"
#include "fold/resolve.h"

#include "common/filter/broker.h"
#include "common/diag.h"
#include "fold/symbols/dsofiles.h"
#include "fold/opener/fileopener.h"
#include "fold/symbols/samehost.h"
#include "fold/jit/jitdump.h"
#include "fold/kernel/kernelsyms.h"
#include "fold/process/packednames.h"
#include "fold/jit/perfmap.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* State of one thread. Each thread has tables of names of its own, so that threads share none. */
struct worker {
	struct task *task;
	/* Interned names as the sources have them: symbols, modules, lists of inlined calls. */
	struct intern raw;
	/* Interned names as they are shown. The frames of one location are one text: one frame a line, outermost first.
	 */
	struct intern made;
	struct names names;
	struct symbols_query *q;
	uint32_t *module;
	size_t cap;
	/* Buffer for the text of the frames of one location. */
	struct text frames;
	/* Buffer for the file and line of one location. */
	struct text place;
	/* Number of invalid lines in the perf maps that this thread read, and the text of one error: of the first error
	 * in the map of DSO maps_dso, the lowest index of a DSO with an invalid line, so that the error text does not
	 * depend on the order in which threads take jobs. */
	struct input_errors maps;
	uint32_t maps_dso;
	/* True if a perf map of the current job was skipped because its file system does not respond; the reason then
	 * is WHY_SILENT. */
	bool silent_map;
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

/* ---- queries of one DSO ------------------------------------------------------------------------------------- */

/* Makes one query in worker->q for each distinct address of the locations id[0..n), which must be sorted by address.
 * Returns the number of queries. */
static size_t make_queries(struct worker *worker, const uint32_t *id, uint32_t n)
{
	const struct locations *locations = worker->task->s;
	size_t nq = 0;

	if (n > worker->cap) {
		worker->cap = n;
		worker->q = mem_grow(worker->q, sizeof(*worker->q), n);
		worker->module = mem_grow(worker->module, sizeof(*worker->module), n);
	}
	for (uint32_t i = 0; i < n; i++)
		if (nq == 0 || worker->q[nq - 1].address != locations->location[id[i]].address)
			worker->q[nq++] = (struct symbols_query){ .address = locations->location[id[i]].address };
	memset(worker->module, 0, nq * sizeof(*worker->module));
	return nq;
}

/* ---- sources of names --------------------------------------------------------------------------------------- */

static enum resolve_why resolve_why_of(enum dso_reason why)
{
	static const uint8_t whys[] = {
		[DSO_FOUND] = WHY_NOT_IN_TABLE, [DSO_NO_FILE] = WHY_NO_FILE,       [DSO_OTHER_BUILD] = WHY_OTHER_BUILD,
		[DSO_STRIPPED] = WHY_STRIPPED,  [DSO_NOT_ELF] = WHY_NOT_ELF,       [DSO_FORBIDDEN] = WHY_FORBIDDEN,
		[DSO_SILENT] = WHY_SILENT,      [DSO_OTHER_FILE] = WHY_OTHER_FILE, [DSO_UNPROVEN] = WHY_UNPROVEN,
	};

	return (size_t)why < countof(whys) ? (enum resolve_why)whys[why] : WHY_NO_FILE;
}

/* Returns true if `path` has the file name of a C library (glibc or musl). A C library contains the code to which
 * signal handlers return; for other files the result is false. */
static bool has_trampoline(struct str path)
{
	struct str base = str_from(path, (size_t)(str_rfind(path, '/') + 1));

	return (str_starts(base, STR("libc.so")) || str_starts(base, STR("libc-")) ||
		str_starts(base, STR("ld-musl"))) &&
	       str_find_str(base, STR(".so")) > 0;
}

/* Looks up __restore_rt, the code to which signal handlers return, for those of the first n queries that have no name.
 * The kernel pushes the start of __restore_rt as return address, without a call. A query is for return address - 1,
 * which lies before the symbol, so the second lookup here uses the return address itself. */
static void query_trampoline(struct worker *worker, const struct dsofiles_options *options,
			     const struct dsofiles_query *query, size_t n)
{
	struct symbols_query *q = mem_alloc(sizeof(*q), n);
	size_t *of = mem_alloc(sizeof(*of), n), nq = 0;

	for (size_t i = 0; i < n; i++) {
		if (worker->q[i].name)
			continue;
		of[nq] = i;
		q[nq++].address = worker->q[i].address + 1;
	}
	if (nq)
		dsofiles_resolve(options, query, q, nq, &worker->raw);
	for (size_t i = 0; i < nq; i++)
		if (q[i].name && q[i].offset == 0)
			worker->q[of[i]].name = q[i].name;
	free(q);
	free(of);
}

/* Looks up the first n queries of the worker in the ELF file of the DSO, the symbol store and debug files. Returns the
 * reason for the queries that stay without a name. */
static enum resolve_why query_files(struct worker *worker, const struct dso *dso, size_t n)
{
	const struct task *task = worker->task;
	struct dsofiles_options options = {
		.elf = { .as_perf = task->o->as_perf },
		.symfs = task->o->symfs,
		.symstore = task->o->symstore,
		.local = task->origin->host,
		.inlined = task->o->inlined ? &task->out->inlined[dso - task->a->dso] : NULL,
	};
	struct dsofiles_query query = {
		.path = dso->path,
		.build_id = dso->build_id,
		.pid = dso->pid,
		.live = provenance_process(task->origin, dso->pid, dso->mapped_ns),
		.numbers = dso->file_id,
		.until = task->origin->until,
		.elsewhere = task->o->symstore && recorder_elsewhere(task->origin->recorder, dso->pid),
	};

	enum resolve_why why = resolve_why_of(dsofiles_resolve(&options, &query, worker->q, n, &worker->raw));

	/* Files of this machine were not searched: the DSO has no build-id, and the recording is from another or an
	 * unknown machine, where the path may have belonged to another file. Return the reason WHY_NOT_RECORDED or
	 * WHY_OTHER_MACHINE instead of WHY_NO_FILE. */
	if (why == WHY_NO_FILE && !task->origin->host && !dso->build_id.n && !task->o->symfs)
		why = task->origin->reported ? WHY_OTHER_MACHINE : WHY_NOT_RECORDED;
	options.inlined = NULL;
	if (task->o->symstore && symstore_conflicts(task->o->symstore, dso->pid, &dso->build_id))
		task->out->conflicts++;
	if (!task->o->as_perf && has_trampoline(dso->path))
		query_trampoline(worker, &options, &query, n);
	return why;
}

/* Stores the owner and mode of the directory `path` of /proc in *status. Returns false on failure. The broker opens the
 * directory, because the mount option hidepid of /proc hides it from processes without capabilities. */
static bool process_stat(const char *path, struct stat *status)
{
	int fd = broker_open(AT_FDCWD, path, O_DIRECTORY);
	bool good = fd >= 0 && fstat(fd, status) == 0;

	if (fd >= 0)
		close(fd);
	return good;
}

/* Returns true if pjfold may use the names of the perf map `fd`; false if the map belongs to another user. Like perf,
 * pjfold trusts maps of its own user and of root. It also trusts a map of the user who runs the process `live`, because
 * names cannot harm pjfold. If the process has ended (live is 0), it trusts any user's map, except with as_perf. */
static bool resolve_is_trusted(int fd, pid_t live, bool as_perf)
{
	struct stat map, process;
	char path[32];

	if (fstat(fd, &map) != 0)
		return false;
	if (map.st_uid == 0 || map.st_uid == samehost_user())
		return true;
	if (!live)
		return !as_perf;
	snprintf(path, sizeof(path), "/proc/%d", (int)live);
	return process_stat(path, &process) && process.st_uid == map.st_uid;
}

/* Adds the errors of the perf map of DSO `dso` to *all. *first: lowest index of a DSO with errors so far; all->first is
 * the error text of this DSO. */
static void add_maps(struct input_errors *all, uint32_t *first, const struct input_errors *errors, uint32_t dso)
{
	struct input_errors before = *errors;

	if (errors->n == 0)
		return;
	if (all->n && *first < dso) {
		inputerrors_add(all, errors);
		return;
	}
	inputerrors_add(&before, all);
	*all = before;
	*first = dso;
}

/* Looks up the first n queries of the worker in the perf map `fd`, and closes fd. fd -1: opening failed, with the
 * reason in errno. dso: index of the DSO, and path: name of the map, for error messages. live: pid of the process; 0:
 * it has ended. Returns false if the map cannot be used. */
static bool query_map(struct worker *worker, uint32_t dso, int fd, const char *path, pid_t live, size_t n)
{
	struct perfmap_tally tally = { 0 };
	struct input_errors errors = { 0 };
	bool good;

	if (fd < 0) {
		worker->silent_map = worker->silent_map || errno == ETIMEDOUT;
		return false;
	}
	good = resolve_is_trusted(fd, live, worker->task->o->as_perf) &&
	       perfmap_resolve(fd, worker->q, n, &worker->raw, &tally) >= 0;
	close(fd);
	inputerrors_note(&errors, tally.cut, "%.160s is larger than 1 GB: only its end is read", path);
	if (tally.first_bad)
		inputerrors_note(&errors, tally.bad, "%.160s:%llu: %s", path, (unsigned long long)tally.first_bad,
				 tally.why);
	else
		inputerrors_note(&errors, tally.bad, "%.180s: %s", path, tally.why);
	add_maps(&worker->maps, &worker->maps_dso, &errors, dso);
	return good;
}

/* Looks up the first n queries in the perf maps that pjrecord copied: the latest copy ("map"), then the previous copy
 * ("map.1"). Returns true if at least one of the two copies could be used, false if none. */
static bool query_symstore_maps(struct worker *worker, const struct dso *d, size_t n)
{
	static const char *const kinds[] = { "map", "map.1" };
	const struct symstore *symstore = worker->task->o->symstore;
	uint32_t dso = (uint32_t)(d - worker->task->a->dso);
	bool found = false;
	char name[192];

	for (size_t i = 0; symstore && i < countof(kinds); i++) {
		symstore_name(symstore, d->pid, kinds[i], name, sizeof(name));
		found = query_map(worker, dso, symstore_jit(symstore, d->pid, kinds[i]), name, 0, n) || found;
	}
	return found;
}

/* Returns true if a process with this pid exists in /proc, otherwise false. The sandbox does not allow kill(), not even
 * with signal 0. */
static bool is_process(uint32_t pid)
{
	char path[32];
	struct stat status;

	snprintf(path, sizeof(path), "/proc/%u", (unsigned)pid);
	return process_stat(path, &status);
}

/* Looks up the first n queries in a perf map of this machine. It tries, in this order: /tmp below --symfs; /tmp of the
 * live process, where the name of the map has the pid in the pid namespace of the process; /tmp of pjfold. Returns
 * WHY_NOT_IN_TABLE if a map was used, otherwise the reason for which no map was used. */
static enum resolve_why query_live_maps(struct worker *worker, const struct dso *d, size_t n)
{
	const struct task *task = worker->task;
	pid_t live = provenance_process(task->origin, d->pid, d->mapped_ns), inner;
	uint32_t dso = (uint32_t)(d - task->a->dso);
	char path[4096];
	int len, fd;

	if (task->o->symfs) {
		len = snprintf(path, sizeof(path), "%s/tmp/perf-%u.map", task->o->symfs, (unsigned)d->pid);
		if (len > 0 && (size_t)len < sizeof(path) && query_map(worker, dso, fileopener_plain(path), path, 0, n))
			return WHY_NOT_IN_TABLE;
	}
	if (!task->origin->boot)
		return task->o->symfs ? WHY_NO_MAP : task->origin->reported ? WHY_ELSEWHERE : WHY_NOT_RECORDED;
	inner = live ? samehost_inner_pid(live) : 0;
	if (inner) {
		len = snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)inner);
		fd = fileopener_map_inside(live, (struct str){ path, (size_t)len });
		worker->silent_map = worker->silent_map || (fd < 0 && errno == ETIMEDOUT);
		snprintf(path, sizeof(path), "/proc/%d/root/tmp/perf-%d.map", (int)live, (int)inner);
		if (fd >= 0 && query_map(worker, dso, fd, path, live, n))
			return WHY_NOT_IN_TABLE;
	}
	if (!live && is_process(d->pid))
		/* Another process has this pid now: the map in pjfold's /tmp may be of that process. */
		return WHY_ELSEWHERE;
	if (!live && !task->o->as_perf && recorder_elsewhere(task->origin->recorder, d->pid))
		/* The process ran in another mount namespace and had another /tmp. So a map with this pid in pjfold's
		 * /tmp, written by a process or by pjmap, describes another process. */
		return WHY_NO_MAP;
	snprintf(path, sizeof(path), "/tmp/perf-%u.map", (unsigned)d->pid);
	return query_map(worker, dso, fileopener_plain(path), path, live, n) ? WHY_NOT_IN_TABLE :
	       live                                                          ? WHY_NO_MAP :
									       WHY_ENDED;
}

static bool all_named(const struct worker *worker, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!worker->q[i].name)
			return false;
	return true;
}

/* Looks up the first n queries in perf maps. pjrecord's copies come first. Maps of this machine follow if no copy is
 * usable, or if names are missing and the process still runs, since the map of the process may be newer than the copy.
 * Returns the reason for queries without a name. */
static enum resolve_why query_maps(struct worker *worker, const struct dso *dso, size_t n)
{
	enum resolve_why why;
	bool saved;

	worker->silent_map = false;
	saved = query_symstore_maps(worker, dso, n);
	if (saved && (all_named(worker, n) || !provenance_process(worker->task->origin, dso->pid, dso->mapped_ns)))
		return WHY_NOT_IN_TABLE;
	why = query_live_maps(worker, dso, n);
	if (worker->silent_map && why != WHY_NOT_IN_TABLE)
		why = WHY_SILENT;
	return saved ? WHY_NOT_IN_TABLE : why;
}

/* Looks up the first n queries in the symbols of the kernel and its modules, and sets the module of each query. Returns
 * WHY_KERNEL if there are no kernel symbols, otherwise WHY_NOT_IN_TABLE. */
static enum resolve_why query_kernel(struct worker *worker, size_t n)
{
	const struct task *task = worker->task;
	const struct addrspace *addrspace = task->a;
	struct kernelsyms_options options = {
		.file = task->o->kallsyms,
		.symfs = task->o->symfs,
		.symstore = task->o->symstore,
		.as_perf = task->o->as_perf,
		/* Use symbols of the running kernel only if a record gives the load address of the recorded kernel:
		 * without that address the symbols could name other functions. */
		.here = task->origin->host && addrspace->kernel_mapped,
		.release = task->origin->release,
		.symbol = addrspace->kernel_symbol,
		.address = addrspace->kernel_text,
	};

	if (addrspace->kernel_core)
		options.id = addrspace->dso[addrspace->kernel_core].build_id;
	task->out->kernel = kernelsyms_resolve(&options, worker->q, n, &worker->raw, worker->module);
	return task->out->kernel ? WHY_KERNEL : WHY_NOT_IN_TABLE;
}

/* ---- names of locations ------------------------------------------------------------------------------------- */

/* Looks up the first n queries of the worker in the source of names for this kind of DSO. Returns the reason for the
 * queries that stay without a name. */
static enum resolve_why query_sources(struct worker *worker, const struct dso *dso, size_t n)
{
	switch (dso->kind) {
	case DSO_FILE:
	case DSO_VDSO: return query_files(worker, dso, n);
	case DSO_JIT: return query_maps(worker, dso, n);
	case DSO_KERNEL: return query_kernel(worker, n);
	case DSO_DATA: return WHY_DATA;
	case DSO_NOWHERE: return WHY_NO_MAPPING;
	case DSO_SYMBOL: break; /* The path of the DSO is the name: see make_dso_name(). */
	}
	return WHY_NOT_IN_TABLE;
}

/* Looks up the first n queries of the worker in the names of a packed recording. If these names are missing or
 * incomplete, looks up the queries in the source of names for this kind of DSO, too. Passes the results to the writer
 * of pjpack. Returns the reason for queries without a name. */
static enum resolve_why resolve_query(struct worker *worker, const struct dso *dso, size_t n)
{
	const struct task *task = worker->task;
	struct packednames names = { .query = worker->q,
				     .module = worker->module,
				     .n = n,
				     .raw = &worker->raw,
				     .dso = dso,
				     .symstore = task->o->symstore,
				     .as_perf = task->o->as_perf,
				     .inlined = task->o->inlined,
				     .named_source = task->o->named_source || task->o->kallsyms || task->o->symfs,
				     .packed = task->o->packed };
	bool packed = packednames_open(&names, task->origin->recorder);

	if (!packed || packednames_needs_more(&names))
		names.why = query_sources(worker, dso, n);
	if (packed)
		packednames_take(&names);
	if (names.why >= WHY_REASONS)
		names.why = WHY_NOT_IN_TABLE;
	if (dso->kind == DSO_KERNEL && names.why == WHY_KERNEL && !task->out->kernel)
		task->out->kernel = "pjpack found none when it packed the recording";
	packednames_close(&names);
	return (enum resolve_why)names.why;
}

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

/* Returns the id in worker->made of the name of a location in a DSO. raw, module and inlined are ids in worker->raw of
 * the symbol, the module and the inlined calls that the lookup found; 0: not found. */
static uint32_t make_dso_name(struct worker *worker, const struct location *location, uint32_t raw, uint32_t module,
			      uint32_t inlined)
{
	const struct task *task = worker->task;
	const struct dso *dso = &task->a->dso[location->dso];
	struct names_frame frame = { .dso = dso->path };

	if (raw)
		frame.symbol = intern_str(&worker->raw, raw);
	if (module)
		frame.dso = intern_str(&worker->raw, module);
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
	return resolve_intern_name(worker, frame, inlined ? intern_str(&worker->raw, inlined) : (struct str){ 0 },
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

		while (worker->q[q].address != location->address)
			q++;
		raw = worker->q[q].name;
		module = worker->module[q];
		inlined = worker->q[q].inlined;
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

/* Returns the id in worker->made of the name of an interpreted method, or of an allocated class. Sets *named to false
 * if pjrecord's list has no name for the method or class. */
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
	task->out->why[job->dso] =
		(uint8_t)resolve_query(worker, &task->a->dso[job->dso], make_queries(worker, id, job->n));
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

		add_maps(&out->maps, &maps_dso, &worker->maps, worker->maps_dso);
		intern_free(&worker->raw);
		intern_free(&worker->made);
		names_free(&worker->names);
		free(worker->q);
		free(worker->module);
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
