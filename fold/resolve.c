/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/resolve.h"

#include "common/filter/broker.h"
#include "common/diag.h"
#include "fold/symbols/dsofiles.h"
#include "fold/symbols/fileopener.h"
#include "fold/symbols/samehost.h"
#include "fold/jit/jitdump.h"
#include "fold/kernel/kernelsyms.h"
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

/* The sites of one DSO, or of all of the kernel. */
struct job {
	uint32_t dso;
	uint32_t from, n; /* in site[] of the task */
};

/* A thread's own tables. */
struct worker {
	struct task *task;
	struct intern raw;  /* as the sources say */
	struct intern made; /* as readers see them: frames of one site, one a line */
	struct names names;
	struct symbols_query *q;
	uint32_t *module;
	size_t cap;
	struct text frames;       /* scratch */
	struct input_errors maps; /* lines of perf maps; the first is that of ... */
	uint32_t maps_dso;        /* ... the first DSO, whatever order threads take */
	pthread_t thread;
};

struct task {
	const struct resolve_options *o;
	const struct provenance *origin;
	const struct addrspace *a;
	const struct locations *s;
	struct resolved *out;
	uint32_t *location; /* ids, by job, then by address */
	struct job *job;
	uint32_t njobs;
	atomic_uint next;
	uint32_t *made; /* by site: id in made of its worker */
	uint8_t *by;    /* by site: worker */
	struct worker *worker;
	unsigned nworkers;
};

/* ---- jobs --------------------------------------------------------------------------------------------------- */

/* All of the kernel is one job, under the number of its first DSO: kallsyms tells all of it in one go. */
static uint32_t *job_keys(const struct addrspace *a)
{
	uint32_t *key = mem_alloc(sizeof(*key), (size_t)a->keys.n + 1), kernel = 0;

	for (uint32_t d = 0; d <= a->keys.n; d++) {
		key[d] = d;
		if (a->dso[d].kind != DSO_KERNEL)
			continue;
		kernel = kernel ? kernel : d;
		key[d] = kernel;
	}
	return key;
}

static int job_cmp(const void *va, const void *vb)
{
	const struct job *a = va, *b = vb;

	if (a->n != b->n)
		return a->n < b->n ? 1 : -1;
	return a->dso < b->dso ? -1 : 1;
}

/* Sites by DSO, by counting; the largest DSOs first, so that threads end together. */
static void make_jobs(struct task *t)
{
	const struct locations *s = t->s;
	uint32_t *key = job_keys(t->a), ndsos = t->a->keys.n + 1;
	uint32_t *first = mem_alloc(sizeof(*first), (size_t)ndsos + 1);

	for (uint32_t id = 1; id <= s->n; id++)
		first[key[s->location[id].dso] + 1]++;
	t->job = mem_alloc(sizeof(*t->job), ndsos);
	for (uint32_t d = 0, at = 0; d < ndsos; d++) {
		if (first[d + 1])
			t->job[t->njobs++] = (struct job){ d, at, first[d + 1] };
		at += first[d + 1];
		first[d + 1] = at;
	}
	t->location = mem_alloc(sizeof(*t->location), s->n);
	for (uint32_t id = 1; id <= s->n; id++)
		t->location[first[key[s->location[id].dso]]++] = id;
	qsort(t->job, t->njobs, sizeof(*t->job), job_cmp);
	free(first);
	free(key);
}

/* Sites of a job by address: least significant byte first, bytes that are all equal skipped. */
static void sort_locations(const struct locations *s, uint32_t *id, uint32_t *spare, uint32_t n)
{
	uint64_t all = 0, base = n ? s->location[id[0]].address : 0;
	uint32_t *from = id, *to = spare;

	for (uint32_t i = 0; i < n; i++)
		all |= s->location[id[i]].address ^ base;
	for (unsigned shift = 0; shift < 64; shift += 8) {
		uint32_t at[257] = { 0 }, *swap;

		if ((all >> shift & 255) == 0)
			continue;
		for (uint32_t i = 0; i < n; i++)
			at[(s->location[from[i]].address >> shift & 255) + 1]++;
		for (unsigned b = 0; b < 256; b++)
			at[b + 1] += at[b];
		for (uint32_t i = 0; i < n; i++)
			to[at[s->location[from[i]].address >> shift & 255]++] = from[i];
		swap = from;
		from = to;
		to = swap;
	}
	if (from != id)
		memcpy(id, from, n * sizeof(*id));
}

/* Questions for the sites of a job; several sites may have one address. Returns how many there are. */
static size_t make_queries(struct worker *w, const uint32_t *id, uint32_t n)
{
	const struct locations *s = w->task->s;
	size_t nq = 0;

	if (n > w->cap) {
		w->cap = n;
		w->q = mem_grow(w->q, sizeof(*w->q), n);
		w->module = mem_grow(w->module, sizeof(*w->module), n);
	}
	for (uint32_t i = 0; i < n; i++)
		if (nq == 0 || w->q[nq - 1].address != s->location[id[i]].address)
			w->q[nq++] = (struct symbols_query){ .address = s->location[id[i]].address };
	memset(w->module, 0, nq * sizeof(*w->module));
	return nq;
}

/* ---- sources ------------------------------------------------------------------------------------------------ */

static enum resolve_why resolve_why_of(enum dso_reason why)
{
	static const uint8_t whys[] = {
		[DSO_FOUND] = WHY_NOT_IN_TABLE, [DSO_NO_FILE] = WHY_NO_FILE, [DSO_OTHER_BUILD] = WHY_OTHER_BUILD,
		[DSO_STRIPPED] = WHY_STRIPPED,  [DSO_NOT_ELF] = WHY_NOT_ELF, [DSO_FORBIDDEN] = WHY_FORBIDDEN,
		[DSO_SILENT] = WHY_SILENT,
	};

	return (size_t)why < countof(whys) ? (enum resolve_why)whys[why] : WHY_NO_FILE;
}

/* Is it a C library, which has what signal handlers return to? */
static bool has_trampoline(struct str path)
{
	struct str base = str_from(path, (size_t)(str_rfind(path, '/') + 1));

	return (str_starts(base, STR("libc.so")) || str_starts(base, STR("libc-")) ||
		str_starts(base, STR("ld-musl"))) &&
	       str_find_str(base, STR(".so")) > 0;
}

/* Nobody called __restore_rt: it is a "return address" that the kernel made, and no instruction is before it. */
static void query_trampoline(struct worker *w, const struct dsofiles_options *o, const struct dsofiles_query *d,
			     size_t n)
{
	struct symbols_query *q = mem_alloc(sizeof(*q), n);
	size_t *of = mem_alloc(sizeof(*of), n), nq = 0;

	for (size_t i = 0; i < n; i++) {
		if (w->q[i].name)
			continue;
		of[nq] = i;
		q[nq++].address = w->q[i].address + 1;
	}
	if (nq)
		dsofiles_resolve(o, d, q, nq, &w->raw);
	for (size_t i = 0; i < nq; i++)
		if (q[i].name && q[i].offset == 0)
			w->q[of[i]].name = q[i].name;
	free(q);
	free(of);
}

static enum resolve_why query_files(struct worker *w, const struct dso *d, size_t n)
{
	const struct task *t = w->task;
	struct dsofiles_options o = {
		.elf = { .as_perf = t->o->as_perf },
		.symfs = t->o->symfs,
		.symstore = t->o->symstore,
		.local = t->origin->host,
		.inlined = t->o->inlined ? &t->out->inlined[d - t->a->dso] : NULL,
	};
	struct dsofiles_query q = {
		.path = d->path,
		.build_id = d->build_id,
		.pid = d->pid,
		.live = provenance_process(t->origin, d->pid, d->mapped_ns),
		.numbers = { d->major, d->minor, d->inode, d->generation },
		.elsewhere = t->o->symstore && recorder_elsewhere(t->origin->recorder, d->pid),
	};

	enum resolve_why why = resolve_why_of(dsofiles_resolve(&o, &q, w->q, n, &w->raw));

	if (why == WHY_NO_FILE && !t->origin->host && !d->build_id.n && !t->o->symfs)
		why = t->origin->reported ? WHY_OTHER_MACHINE : WHY_NOT_RECORDED; /* a file of that name says nothing */
	o.inlined = NULL;
	if (t->o->symstore && symstore_conflicts(t->o->symstore, d->pid, &d->build_id))
		t->out->conflicts++;
	if (!t->o->as_perf && has_trampoline(d->path))
		query_trampoline(w, &o, &q, n);
	return why;
}

/* Of a folder of /proc: hidepid hides it from users without capabilities. */
static bool process_stat(const char *path, struct stat *st)
{
	int fd = broker_open(AT_FDCWD, path, O_DIRECTORY);
	bool good = fd >= 0 && fstat(fd, st) == 0;

	if (fd >= 0)
		close(fd);
	return good;
}

/* perf believes only its own user and root. Names are no danger to us; but who runs the process is known while it
 * lives. */
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

/* More damage, of DSO dso; the first that is told is that of the first DSO. */
static void add_maps(struct input_errors *all, uint32_t *first, const struct input_errors *d, uint32_t dso)
{
	struct input_errors before = *d;

	if (d->n == 0)
		return;
	if (all->n && *first < dso) {
		inputerrors_add(all, d);
		return;
	}
	inputerrors_add(&before, all);
	*all = before;
	*first = dso;
}

/* path: for people. */
static bool query_map(struct worker *w, uint32_t dso, int fd, const char *path, pid_t live, size_t n)
{
	struct perfmap_tally tally = { 0 };
	struct input_errors d = { 0 };
	bool good;

	if (fd < 0)
		return false;
	good = resolve_is_trusted(fd, live, w->task->o->as_perf) && perfmap_resolve(fd, w->q, n, &w->raw, &tally) >= 0;
	close(fd);
	inputerrors_note(&d, tally.cut, "%.160s: larger than 1 GB: only its end is read", path);
	if (tally.first_bad)
		inputerrors_note(&d, tally.bad, "%.160s:%llu: %s", path, (unsigned long long)tally.first_bad,
				 tally.why);
	else
		inputerrors_note(&d, tally.bad, "%.180s: %s", path, tally.why);
	add_maps(&w->maps, &w->maps_dso, &d, dso);
	return good;
}

/* What pjrecord copied: the map as it was last, then what it was before. */
static bool query_symstore_maps(struct worker *w, const struct dso *d, size_t n)
{
	static const char *const kinds[] = { "map", "map.1" };
	const struct symstore *k = w->task->o->symstore;
	uint32_t dso = (uint32_t)(d - w->task->a->dso);
	bool found = false;
	char name[192];

	for (size_t i = 0; k && i < countof(kinds); i++) {
		symstore_name(k, d->pid, kinds[i], name, sizeof(name));
		found = query_map(w, dso, symstore_jit(k, d->pid, kinds[i]), name, 0, n) || found;
	}
	return found;
}

/* Is there a process of that number? A filter may not send signals, not even none. */
static bool is_process(uint32_t pid)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%u", (unsigned)pid);
	return process_stat(path, &st);
}

/* The map that the process wrote in its own /tmp under its own number, then the one in ours. */
static enum resolve_why query_live_maps(struct worker *w, const struct dso *d, size_t n)
{
	const struct task *t = w->task;
	pid_t live = provenance_process(t->origin, d->pid, d->mapped_ns), inner;
	uint32_t dso = (uint32_t)(d - t->a->dso);
	char path[4096];
	int len, fd;

	if (t->o->symfs) {
		len = snprintf(path, sizeof(path), "%s/tmp/perf-%u.map", t->o->symfs, (unsigned)d->pid);
		if (len > 0 && (size_t)len < sizeof(path) && query_map(w, dso, fileopener_plain(path), path, 0, n))
			return WHY_NOT_IN_TABLE;
	}
	if (!t->origin->boot)
		return t->o->symfs ? WHY_NO_MAP : t->origin->reported ? WHY_ELSEWHERE : WHY_NOT_RECORDED;
	inner = live ? samehost_inner_pid(live) : 0;
	if (inner) {
		len = snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)inner);
		fd = fileopener_map_inside(live, (struct str){ path, (size_t)len });
		snprintf(path, sizeof(path), "/proc/%d/root/tmp/perf-%d.map", (int)live, (int)inner);
		if (query_map(w, dso, fd, path, live, n))
			return WHY_NOT_IN_TABLE;
	}
	if (!live && is_process(d->pid))
		return WHY_ELSEWHERE; /* another process has the number now, and may have the file */
	if (!live && !t->o->as_perf && recorder_elsewhere(t->origin->recorder, d->pid))
		return WHY_NO_MAP; /* what has its number in our /tmp was somebody else's, or pjmap's of another one */
	snprintf(path, sizeof(path), "/tmp/perf-%u.map", (unsigned)d->pid);
	return query_map(w, dso, fileopener_plain(path), path, live, n) ? WHY_NOT_IN_TABLE : WHY_NO_MAP;
}

static bool all_named(const struct worker *w, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!w->q[i].name)
			return false;
	return true;
}

/* While the process lives, its map may be newer than the last copy. */
static enum resolve_why query_maps(struct worker *w, const struct dso *d, size_t n)
{
	bool saved = query_symstore_maps(w, d, n);
	enum resolve_why why;

	if (saved && (all_named(w, n) || !provenance_process(w->task->origin, d->pid, d->mapped_ns)))
		return WHY_NOT_IN_TABLE;
	why = query_live_maps(w, d, n);
	return saved ? WHY_NOT_IN_TABLE : why;
}

static enum resolve_why query_kernel(struct worker *w, size_t n)
{
	const struct task *t = w->task;
	const struct addrspace *a = t->a;
	struct kernelsyms_options o = {
		.file = t->o->kallsyms,
		.symfs = t->o->symfs,
		.symstore = t->o->symstore,
		.as_perf = t->o->as_perf,
		.here = t->origin->host,
		.release = t->origin->release,
		.symbol = a->kernel_symbol,
		.address = a->kernel_text,
	};

	if (a->kernel_core)
		o.id = a->dso[a->kernel_core].build_id;
	t->out->kernel = kernelsyms_resolve(&o, w->q, n, &w->raw, w->module);
	return t->out->kernel ? WHY_KERNEL : WHY_NOT_IN_TABLE;
}

static enum resolve_why query_recorder(struct worker *w, const struct dso *d, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct interpreted_method *m =
			interpreted_find(&w->task->origin->recorder->interpreted, d->pid, w->q[i].address);

		if (m && m->name.n)
			w->q[i].name = intern(&w->raw, m->name);
	}
	return WHY_METHOD;
}

/* ---- names -------------------------------------------------------------------------------------------------- */

static enum resolve_why resolve_query(struct worker *w, const struct dso *d, size_t n)
{
	switch (d->kind) {
	case DSO_FILE:
	case DSO_VDSO: return query_files(w, d, n);
	case DSO_JIT: return query_maps(w, d, n);
	case DSO_KERNEL: return query_kernel(w, n);
	case DSO_METHOD: return query_recorder(w, d, n);
	case DSO_DATA: return WHY_DATA;
	case DSO_NOWHERE: return WHY_NO_MAPPING;
	case DSO_SYMBOL:
	case DSO_CODE:
	case DSO_THREAD:
	case DSO_CUT: /* names are there already */ break;
	}
	return WHY_NOT_IN_TABLE;
}

/* A frame of --root=both. */
static uint32_t make_thread(struct worker *w, uint32_t comm)
{
	struct str name = names_comm(&w->names, intern_str(&w->task->a->comms, comm), w->task->o->canonical);
	char text[256];
	int n = snprintf(text, sizeof(text), "[%.*s]", (int)(name.n < 200 ? name.n : 200), name.p);

	return intern(&w->made, (struct str){ text, (size_t)n });
}

/* The functions that were inlined at a place stand behind the one that they are in, each by the rules of all names. */
static struct str with_inlined(struct worker *w, struct names_frame f, struct str inlined)
{
	w->frames.n = 0;
	text_str(&w->frames, names_make(&w->names, f));
	for (f.inlined = true; inlined.n;) {
		f.symbol = str_cut(&inlined, 0);
		text_char(&w->frames, '\n');
		text_str(&w->frames, names_make(&w->names, f));
	}
	return text_view(&w->frames);
}

/* What a site is called; raw, module and inlined are answers, 0: none. */
static uint32_t resolve_make_name(struct worker *w, const struct location_key *s, uint32_t raw, uint32_t module,
				  uint32_t inlined)
{
	const struct task *t = w->task;
	const struct dso *d = &t->a->dso[s->dso];
	struct names_frame f = { .dso = d->path, .interpreted = d->kind == DSO_METHOD };
	char address[24];

	if (raw)
		f.symbol = intern_str(&w->raw, raw);
	if (module)
		f.dso = intern_str(&w->raw, module);
	if (d->kind == DSO_SYMBOL) {
		f.symbol = d->path;
		if (!t->o->as_perf)
			f.dso = STR("[kernel.kallsyms]"); /* code of the kernel, whoever made it */
	} else if (d->kind == DSO_CODE) {
		f.symbol = ((const struct jitdump_code *)(uintptr_t)s->address)->name;
	} else if (d->kind == DSO_KERNEL && !raw && t->o->as_perf && !t->out->kernel) {
		f.dso = STR("[unknown]"); /* perf's map of the kernel ends where kallsyms ends */
	}
	if (w->names.addresses && f.symbol.n == 0) {
		f.address.p = address;
		f.address.n = (size_t)snprintf(address, sizeof(address), "%llx", (unsigned long long)s->address);
	}
	if (d->kind == DSO_CODE && ((const struct jitdump_code *)(uintptr_t)s->address)->inlined.n)
		return intern(&w->made,
			      with_inlined(w, f, ((const struct jitdump_code *)(uintptr_t)s->address)->inlined));
	if (inlined)
		return intern(&w->made, with_inlined(w, f, intern_str(&w->raw, inlined)));
	return intern(&w->made, names_make(&w->names, f));
}

/* Neighbours mostly are the same function, which has one name. */
static void make_names(struct worker *w, const uint32_t *id, uint32_t n)
{
	const struct task *t = w->task;
	uint32_t last_raw = 0, last_module = 0, last_inlined = 0, last_dso = UINT32_MAX, last = 0;

	for (uint32_t i = 0, q = 0; i < n; i++) {
		const struct location_key *s = &t->s->location[id[i]];
		enum dso_kind kind = t->a->dso[s->dso].kind;
		uint32_t raw, module, inlined;

		while (w->q[q].address != s->address)
			q++;
		raw = w->q[q].name;
		module = w->module[q];
		inlined = w->q[q].inlined;
		if (kind == DSO_CUT)
			t->made[id[i]] = intern(&w->made, s->address == CUT_MARKED ? STR("[truncated]") : STR(""));
		else if (kind == DSO_THREAD)
			t->made[id[i]] = make_thread(w, (uint32_t)s->address);
		else if (raw && raw == last_raw && module == last_module && inlined == last_inlined &&
			 s->dso == last_dso)
			t->made[id[i]] = last;
		else
			t->made[id[i]] = resolve_make_name(w, s, raw, module, inlined);
		t->by[id[i]] = (uint8_t)(w - t->worker);
		t->out->named[id[i]] =
			raw || kind == DSO_SYMBOL || kind == DSO_CODE || kind == DSO_THREAD || kind == DSO_CUT;
		last_raw = raw;
		last_module = module;
		last_inlined = inlined;
		last_dso = s->dso;
		last = t->made[id[i]];
	}
}

static void *resolve_work(void *arg)
{
	struct worker *w = arg;
	struct task *t = w->task;
	uint32_t *spare = NULL;
	size_t cap = 0;

	for (uint32_t i; (i = atomic_fetch_add(&t->next, 1)) < t->njobs;) {
		const struct job *j = &t->job[i];
		uint32_t *id = t->location + j->from;

		if (j->n > cap)
			spare = mem_grow(spare, sizeof(*spare), cap = j->n);
		sort_locations(t->s, id, spare, j->n);
		t->out->why[j->dso] = (uint8_t)resolve_query(w, &t->a->dso[j->dso], make_queries(w, id, j->n));
		make_names(w, id, j->n);
	}
	free(spare);
	return NULL;
}

/* ---- all together ------------------------------------------------------------------------------------------- */

/* The frames of all sites, as ids of to: each distinct text is cut and interned once. */
static void resolve_collect(struct task *t, struct stacks *to)
{
	struct resolved *out = t->out;
	uint32_t n = t->s->n, used = 0, cap = n + 16;
	uint32_t **text =
		mem_alloc(sizeof(*text), t->nworkers); /* by worker and made: where its frames are; 0: nowhere yet */
	uint32_t **count = mem_alloc(sizeof(*count), t->nworkers);

	for (unsigned i = 0; i < t->nworkers; i++) {
		text[i] = mem_alloc(sizeof(**text), (size_t)t->worker[i].made.n + 1);
		count[i] = mem_alloc(sizeof(**count), (size_t)t->worker[i].made.n + 1);
	}
	out->first = mem_alloc(sizeof(*out->first), (size_t)n + 2);
	out->frame = mem_alloc(sizeof(*out->frame), cap);
	for (uint32_t id = 1; id <= n; id++) {
		uint32_t by = t->by[id], made = t->made[id], from = text[by][made];
		struct str rest = count[by][made] ? (struct str){ 0 } : intern_str(&t->worker[by].made, made);

		out->first[id] = used;
		for (uint32_t i = 0; i < count[by][made] || rest.n; i++) {
			if (used == cap)
				out->frame = mem_grow(out->frame, sizeof(*out->frame), cap *= 2);
			out->frame[used] = rest.n ? stacks_frame(to, str_cut(&rest, '\n')) : out->frame[from + i];
			used++;
		}
		text[by][made] = out->first[id];
		count[by][made] = used - out->first[id];
	}
	out->first[n + 1] = used;
	for (unsigned i = 0; i < t->nworkers; i++) {
		free(text[i]);
		free(count[i]);
	}
	free(text);
	free(count);
}

static void run_workers(struct task *t)
{
	unsigned started = 1;

	t->nworkers = t->o->threads < t->njobs ? t->o->threads : t->njobs;
	if (t->nworkers < 1)
		t->nworkers = 1;
	if (t->nworkers > 1)
		mem_keep();
	t->worker = mem_alloc(sizeof(*t->worker), t->nworkers);
	for (unsigned i = 0; i < t->nworkers; i++) {
		t->worker[i].task = t;
		t->worker[i].names = t->o->names;
	}
	for (; started < t->nworkers; started++)
		if (pthread_create(&t->worker[started].thread, NULL, resolve_work, &t->worker[started]) != 0)
			break; /* fewer threads do the same work */
	resolve_work(&t->worker[0]);
	for (unsigned i = 1; i < started; i++)
		pthread_join(t->worker[i].thread, NULL);
}

void resolve(struct resolved *out, const struct resolve_options *o, const struct provenance *origin,
	     const struct addrspace *a, const struct locations *s, struct stacks *to)
{
	struct task t = { .o = o, .origin = origin, .a = a, .s = s, .out = out };
	uint32_t maps_dso = 0;

	*out = (struct resolved){ 0 };
	out->named = mem_alloc(sizeof(*out->named), (size_t)s->n + 1);
	out->why = mem_alloc(sizeof(*out->why), (size_t)a->keys.n + 1);
	if (o->inlined)
		out->inlined = mem_alloc(sizeof(*out->inlined), (size_t)a->keys.n + 1);
	t.made = mem_alloc(sizeof(*t.made), (size_t)s->n + 1);
	t.by = mem_alloc(sizeof(*t.by), (size_t)s->n + 1);
	make_jobs(&t);
	run_workers(&t);
	resolve_collect(&t, to);
	for (unsigned i = 0; i < t.nworkers; i++) {
		struct worker *w = &t.worker[i];

		add_maps(&out->maps, &maps_dso, &w->maps, w->maps_dso);
		intern_free(&w->raw);
		intern_free(&w->made);
		names_free(&w->names);
		free(w->q);
		free(w->module);
		text_free(&w->frames);
	}
	free(t.worker);
	free(t.made);
	free(t.by);
	free(t.location);
	free(t.job);
}

const char *resolve_why(const struct resolved *r, enum resolve_why why)
{
	static const char *const texts[] = {
		[WHY_NOT_IN_TABLE] = "no symbol at these addresses",
		[WHY_NO_MAPPING] = "nothing was mapped there",
		[WHY_DATA] = "not a file",
		[WHY_NO_FILE] = "no file",
		[WHY_OTHER_BUILD] = "the file has another build-id",
		[WHY_STRIPPED] = "stripped",
		[WHY_NOT_ELF] = "not an ELF file",
		[WHY_FORBIDDEN] = "no permission",
		[WHY_SILENT] = "its file system does not answer",
		[WHY_METHOD] = "the method's name could not be read",
		[WHY_NO_MAP] = "no perf map",
		[WHY_ELSEWHERE] = "not a process of this machine and boot",
		[WHY_NOT_RECORDED] = "the recording does not tell its machine; if it is this one: --symfs /",
		[WHY_OTHER_MACHINE] = "of another machine, without build-id; --symfs names its files",
	};

	return why == WHY_KERNEL ? r->kernel : texts[why];
}

void resolved_free(struct resolved *r)
{
	free(r->first);
	free(r->frame);
	free(r->named);
	free(r->why);
	free(r->inlined);
}
