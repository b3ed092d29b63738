/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/process/copiedstack.h"

#include "fold/symbols/fileopener.h"
#include "runtimes/hotspot/javaunwind.h"
#include "unwind/dwarf/cfiunwind.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MAXIMUM 1024 /* frames; recursion without end is not worth more */
#define PERF_MAX 127 /* perf script's --max-stack */

struct walk_table {
	struct unwind_table *table;
	bool tried;
};

/* ---- files -------------------------------------------------------------------------------------------------- */

static struct build_id build_id_of(struct copiedstack *w, const struct dso *d, const struct perfdata *data)
{
	const struct perfdata_build_id *id;
	size_t n;

	if (d->build_id.n)
		return d->build_id;
	id = perfdata_build_ids(data, &n);
	buildids_update(&w->buildids, id, n);
	return buildids_find(&w->buildids, false, d->path);
}

/* Is fd the recorded build? What has no id to compare is taken for it. Keeps fd. */
static bool copiedstack_is_build(int fd, const struct build_id *id)
{
	struct build_id found;

	if (id->n == 0)
		return true;
	found = elfsyms_file_build_id(fd);
	return found.n == id->n && memcmp(found.byte, id->byte, id->n) == 0;
}

static int copiedstack_checked(int fd, const struct build_id *id)
{
	if (fd >= 0 && !copiedstack_is_build(fd, id)) {
		close(fd);
		return -1;
	}
	return fd;
}

/* perf's cache of files: ~/.debug/.build-id/xx/yyyy/elf */
static int copiedstack_open_cached(const struct build_id *id)
{
	const char *home = getenv("HOME");
	char path[4096], hex[2 * BUILD_ID_MAX + 1] = "";
	int n;

	for (unsigned i = 0; i < id->n && i < BUILD_ID_MAX; i++)
		snprintf(hex + 2 * i, 3, "%02x", id->byte[i]);
	n = home && id->n > 1 ? snprintf(path, sizeof(path), "%s/.debug/.build-id/%.2s/%s/elf", home, hex, hex + 2) :
				-1;
	return n > 0 && (size_t)n < sizeof(path) ? fileopener_path(path) : -1;
}

/* The file that was mapped: what pjrecord kept of it, of the process while it lives, below --symfs, of this machine, of
 * perf's cache. */
static int copiedstack_open_mapped(struct copiedstack *w, const struct dso *d, const struct provenance *origin,
				   const struct perfdata *data)
{
	struct build_id id = build_id_of(w, d, data);
	pid_t live = provenance_process(origin, d->pid, d->mapped_ns);
	char path[4096];
	int n = snprintf(path, sizeof(path), "%s%.*s", w->symfs ? w->symfs : "",
			 (int)(d->path.n < 4096 ? d->path.n : 4096), d->path.p);
	int fd = -1;

	if (n < 0 || (size_t)n >= sizeof(path) || d->path.n == 0 || d->path.p[0] != '/')
		return -1;
	if (w->symstore)
		fd = copiedstack_checked(
			symstore_binary(w->symstore, d->pid, &id,
					&(struct symstore_numbers){ d->major, d->minor, d->inode, d->generation }),
			&id);
	if (fd >= 0)
		return fd;
	if (live && !w->symfs)
		fd = copiedstack_checked(fileopener_inside(live, d->path), &id);
	if (fd < 0 && (w->symfs || origin->host || id.n))
		fd = copiedstack_checked(fileopener_path(path), &id);
	fd = fd >= 0 ? fd : copiedstack_checked(copiedstack_open_cached(&id), &id);
	if (fd < 0 && w->symstore)
		fd = copiedstack_checked(
			symstore_unclaimed(w->symstore, d->pid, &id,
					   &(struct symstore_numbers){ d->major, d->minor, d->inode, d->generation }),
			&id);
	return fd;
}

static struct walk_table *copiedstack_table_of(struct copiedstack *w, const struct addrspace *a, uint32_t dso,
					       const struct provenance *origin, const struct perfdata *data)
{
	struct walk_table *t;
	const char *why;
	int fd;

	if (dso >= w->cap) {
		size_t cap = (size_t)dso + 64;

		w->table = mem_grow(w->table, sizeof(*w->table), cap);
		memset(w->table + w->cap, 0, (cap - w->cap) * sizeof(*w->table));
		w->cap = cap;
	}
	t = &w->table[dso];
	if (t->tried)
		return t;
	t->tried = true;
	if (a->dso[dso].kind != DSO_FILE)
		return t;
	fd = copiedstack_open_mapped(w, &a->dso[dso], origin, data);
	if (fd >= 0)
		t->table = unwind_table_open(fd, &why);
	return t;
}

/* ---- walking ------------------------------------------------------------------------------------------------ */

static void copiedstack_push(struct copiedstack *w, uint64_t ip, bool method)
{
	if (w->n == w->cap_frames) {
		w->cap_frames = w->cap_frames ? 2 * w->cap_frames : 128;
		w->frame = mem_grow(w->frame, sizeof(*w->frame), w->cap_frames);
	}
	w->frame[w->n++] = (struct copiedstack_frame){ ip, method };
}

/* One stack: who is walked, and when. */
struct stack_walk {
	struct copiedstack *w;
	const struct addrspace *a;
	const struct addrspace_thread *t;
	const struct provenance *origin;
	const struct perfdata *data;
	struct frametimes *frames;   /* of a JVM */
	struct javaunwind_code java; /* no pieces: it is none */
};

static bool copiedstack_read_code(void *arg, uint64_t address, void *to, size_t n)
{
	(void)arg;
	(void)address;
	(void)to;
	(void)n;
	return false; /* it is gone */
}

static bool copiedstack_is_code(void *arg, uint64_t address)
{
	const struct stack_walk *k = arg;
	enum dso_kind kind = k->a->dso[addrspace_find(k->a, k->t, MODE_USER, address).dso].kind;

	return kind == DSO_FILE || kind == DSO_VDSO;
}

static int copiedstack_how(void *arg, const struct code_blob *p, uint64_t address)
{
	return frametimes_how(((const struct stack_walk *)arg)->frames, p, address);
}

/* Of the machine that was recorded; NULL: of one whose stacks nobody here can walk. */
static const struct processor *copiedstack_processor_of(const struct perfdata *data)
{
	struct str machine = perfdata_info(data)->arch;

	return machine.n ? processor_of_machine(machine) : processor_here();
}

/* What is known of the code of a JVM at the time of r. */
static void copiedstack_find_java(struct stack_walk *k, const struct perfdata_record *r)
{
	struct timeline *t = k->w->timelines ? timelines_of(k->w->timelines, r->pid) : NULL;
	const struct javaunwind_code *code;

	k->frames = t ? timeline_frames(t) : NULL;
	code = k->frames ? frametimes_at(k->frames, k->w->monotonic ? r->time : 0) : NULL;
	if (!code)
		return;
	k->java = *code;
	k->java.read = copiedstack_read_code;
	k->java.is_code = copiedstack_is_code;
	k->java.how = copiedstack_how;
	k->java.arg = k;
}

static enum unwind_end copiedstack_step_java(const struct stack_walk *k, struct unwind_state *s,
					     const struct code_blob *p)
{
	struct javaunwind_frame f;
	enum unwind_end end = javaunwind_step(s, &k->java, p, &f);

	if (!f.thawed)
		copiedstack_push(k->w, f.exact || f.address == 0 ? f.address : f.address - 1, f.method);
	return end;
}

static enum unwind_end step_native(const struct stack_walk *k, struct unwind_state *s)
{
	uint64_t ip = s->interrupted || s->ip == 0 ? s->ip : s->ip - 1;
	struct addrspace_place place = addrspace_find(k->a, k->t, MODE_USER, ip);
	struct unwind_code code = { .table = copiedstack_table_of(k->w, k->a, place.dso, k->origin, k->data)->table };

	copiedstack_push(k->w, ip, false);
	if (code.table && !unwind_table_bias(code.table, ip, place.address, &code.bias))
		code.table = NULL;
	return unwind_step(s, code, k->w->n == 1);
}

void walk_stack(struct copiedstack *w, const struct addrspace *a, const struct addrspace_thread *t,
		const struct perfdata_record *r, const struct provenance *origin, const struct perfdata *data)
{
	const struct processor *p = copiedstack_processor_of(data);
	struct stack_walk k = { .w = w, .a = a, .t = t, .origin = origin, .data = data };
	struct unwind_state s;
	enum unwind_end end = UNWIND_MORE;
	size_t max = w->as_perf ? PERF_MAX : MAXIMUM;

	w->n = 0;
	w->short_copy = false;
	if (!p ||
	    !unwind_start_on(p, &s, r->sample.event->regs_user, r->sample.regs, r->sample.regs_abi, r->sample.stack))
		return;
	if (p == &processor_x86_64)
		copiedstack_find_java(&k, r);
	while (end == UNWIND_MORE && w->n < max) {
		const struct code_blob *blob = k.java.n ? javaunwind_find(&k.java, &s) : NULL;

		end = blob ? copiedstack_step_java(&k, &s, blob) : step_native(&k, &s);
	}
	w->short_copy = end == UNWIND_STACK_CUT;
	w->cut += w->short_copy;
}

void walk_free(struct copiedstack *w)
{
	for (size_t i = 0; i < w->cap; i++)
		unwind_table_close(w->table[i].table);
	buildids_free(&w->buildids);
	free(w->table);
	free(w->frame);
}
