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

static struct build_id build_id_of(struct copiedstack *walk, const struct dso *dso, const struct perfdata *data)
{
	const struct perfdata_build_id *id;
	size_t n;

	if (dso->build_id.n)
		return dso->build_id;
	id = perfdata_build_ids(data, &n);
	buildids_update(&walk->buildids, id, n);
	return buildids_find(&walk->buildids, false, dso->path);
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
	int got;

	for (unsigned i = 0; i < id->n && i < BUILD_ID_MAX; i++)
		snprintf(hex + 2 * i, 3, "%02x", id->byte[i]);
	got = home && id->n > 1 ? snprintf(path, sizeof(path), "%s/.debug/.build-id/%.2s/%s/elf", home, hex, hex + 2) :
				  -1;
	return got > 0 && (size_t)got < sizeof(path) ? fileopener_path(path) : -1;
}

/* The file that was mapped: what pjrecord kept of it, of the process while it lives, below --symfs, of this machine, of
 * perf's cache. */
static int copiedstack_open_mapped(struct copiedstack *walk, const struct dso *dso, const struct provenance *origin,
				   const struct perfdata *data)
{
	struct build_id id = build_id_of(walk, dso, data);
	pid_t live = provenance_process(origin, dso->pid, dso->mapped_ns);
	char path[4096];
	int got = snprintf(path, sizeof(path), "%s%.*s", walk->symfs ? walk->symfs : "",
			   (int)(dso->path.n < 4096 ? dso->path.n : 4096), dso->path.p);
	int fd = -1;

	if (got < 0 || (size_t)got >= sizeof(path) || dso->path.n == 0 || dso->path.p[0] != '/')
		return -1;
	if (walk->symstore)
		fd = copiedstack_checked(symstore_binary(walk->symstore, dso->pid, &id,
							 &(struct symstore_numbers){ dso->major, dso->minor, dso->inode,
										     dso->generation }),
					 &id);
	if (fd >= 0)
		return fd;
	if (live && !walk->symfs)
		fd = copiedstack_checked(fileopener_inside(live, dso->path), &id);
	if (fd < 0 && (walk->symfs || origin->host || id.n))
		fd = copiedstack_checked(fileopener_path(path), &id);
	fd = fd >= 0 ? fd : copiedstack_checked(copiedstack_open_cached(&id), &id);
	if (fd < 0 && walk->symstore)
		fd = copiedstack_checked(symstore_unclaimed(walk->symstore, dso->pid, &id,
							    &(struct symstore_numbers){ dso->major, dso->minor,
											dso->inode, dso->generation }),
					 &id);
	return fd;
}

static struct walk_table *copiedstack_table_of(struct copiedstack *walk, const struct addrspace *addrspace,
					       uint32_t dso, const struct provenance *origin,
					       const struct perfdata *data)
{
	struct walk_table *table;
	const char *why;
	int fd;

	if (dso >= walk->cap) {
		size_t cap = (size_t)dso + 64;

		walk->table = mem_grow(walk->table, sizeof(*walk->table), cap);
		memset(walk->table + walk->cap, 0, (cap - walk->cap) * sizeof(*walk->table));
		walk->cap = cap;
	}
	table = &walk->table[dso];
	if (table->tried)
		return table;
	table->tried = true;
	if (addrspace->dso[dso].kind != DSO_FILE)
		return table;
	fd = copiedstack_open_mapped(walk, &addrspace->dso[dso], origin, data);
	if (fd >= 0)
		table->table = unwind_table_open(fd, &why);
	return table;
}

/* ---- walking ------------------------------------------------------------------------------------------------ */

static void copiedstack_push(struct copiedstack *walk, uint64_t ip, bool method)
{
	if (walk->n == walk->cap_frames) {
		walk->cap_frames = walk->cap_frames ? 2 * walk->cap_frames : 128;
		walk->frame = mem_grow(walk->frame, sizeof(*walk->frame), walk->cap_frames);
	}
	walk->frame[walk->n++] = (struct copiedstack_frame){ ip, method };
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
	const struct stack_walk *walk = arg;
	enum dso_kind kind = walk->a->dso[addrspace_find(walk->a, walk->t, MODE_USER, address).dso].kind;

	return kind == DSO_FILE || kind == DSO_VDSO;
}

static int copiedstack_how(void *arg, const struct code_blob *blob, uint64_t address)
{
	return frametimes_how(((const struct stack_walk *)arg)->frames, blob, address);
}

/* Of the machine that was recorded; NULL: of one whose stacks nobody here can walk. */
static const struct processor *copiedstack_processor_of(const struct perfdata *data)
{
	struct str machine = perfdata_info(data)->arch;

	return machine.n ? processor_of_machine(machine) : processor_here();
}

/* What is known of the code of a JVM at the time of record. */
static void copiedstack_find_java(struct stack_walk *walk, const struct perfdata_record *record)
{
	struct timeline *timeline = walk->w->timelines ? timelines_of(walk->w->timelines, record->pid) : NULL;
	const struct javaunwind_code *code;

	walk->frames = timeline ? timeline_frames(timeline) : NULL;
	code = walk->frames ? frametimes_at(walk->frames, walk->w->monotonic ? record->time : 0) : NULL;
	if (!code)
		return;
	walk->java = *code;
	walk->java.read = copiedstack_read_code;
	walk->java.is_code = copiedstack_is_code;
	walk->java.how = copiedstack_how;
	walk->java.arg = walk;
}

static enum unwind_end copiedstack_step_java(const struct stack_walk *walk, struct unwind_state *state,
					     const struct code_blob *blob)
{
	struct javaunwind_frame frame;
	enum unwind_end end = javaunwind_step(state, &walk->java, blob, &frame);

	if (!frame.thawed)
		copiedstack_push(walk->w, frame.exact || frame.address == 0 ? frame.address : frame.address - 1,
				 frame.method);
	return end;
}

static enum unwind_end step_native(const struct stack_walk *walk, struct unwind_state *state)
{
	uint64_t ip = state->interrupted || state->ip == 0 ? state->ip : state->ip - 1;
	struct addrspace_place place = addrspace_find(walk->a, walk->t, MODE_USER, ip);
	struct unwind_code code = {
		.table = copiedstack_table_of(walk->w, walk->a, place.dso, walk->origin, walk->data)->table
	};

	copiedstack_push(walk->w, ip, false);
	if (code.table && !unwind_table_bias(code.table, ip, place.address, &code.bias))
		code.table = NULL;
	return unwind_step(state, code, walk->w->n == 1);
}

void walk_stack(struct copiedstack *walk, const struct addrspace *addrspace, const struct addrspace_thread *thread,
		const struct perfdata_record *record, const struct provenance *origin, const struct perfdata *data)
{
	const struct processor *processor = copiedstack_processor_of(data);
	struct stack_walk k = { .w = walk, .a = addrspace, .t = thread, .origin = origin, .data = data };
	struct unwind_state state;
	enum unwind_end end = UNWIND_MORE;
	size_t max = walk->as_perf ? PERF_MAX : MAXIMUM;

	walk->n = 0;
	walk->short_copy = false;
	if (!processor || !unwind_start_on(processor, &state, record->sample.event->regs_user, record->sample.regs,
					   record->sample.regs_abi, record->sample.stack))
		return;
	if (processor == &processor_x86_64)
		copiedstack_find_java(&k, record);
	while (end == UNWIND_MORE && walk->n < max) {
		const struct code_blob *blob = k.java.n ? javaunwind_find(&k.java, &state) : NULL;

		end = blob ? copiedstack_step_java(&k, &state, blob) : step_native(&k, &state);
	}
	walk->short_copy = end == UNWIND_STACK_CUT;
	walk->cut += walk->short_copy;
}

void walk_free(struct copiedstack *walk)
{
	for (size_t i = 0; i < walk->cap; i++)
		unwind_table_close(walk->table[i].table);
	buildids_free(&walk->buildids);
	free(walk->table);
	free(walk->frame);
}
