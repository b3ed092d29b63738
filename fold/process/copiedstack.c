/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/process/copiedstack.h"

#include "common/arena.h"
#include "common/debug.h"
#include "fold/jit/jitdump.h"
#include "fold/jit/jitunwind.h"
#include "fold/opener/fileopener.h"
#include "runtimes/hotspot/hotspotruntime.h"
#include "runtimes/hotspot/javaunwind.h"
#include "unwind/dwarf/unwindtable.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MAXIMUM 1024 /* maximum number of frames of a stack; deeper stacks, as of endless recursion, are truncated */
/* maximum number of frames of a stack with as_perf, the default of perf script's --max-stack; deeper stacks are
 * truncated */
#define PERF_MAX 127

/* Unwind tables of one DSO. */
struct copiedstack_table {
	struct unwind_table *table; /* NULL before the search for the file, or if the file or its tables are missing */
	struct jitunwind jit;       /* unwind tables of the code in the DSO's jitdump */
	bool tried;                 /* true after the search for the file */
};

/* ---- opening of mapped files, and their unwind tables ------------------------------------------------------- */

/* Returns the build-id of a mapped file: from its MMAP2 record, otherwise from the recording's list of build-ids.
 * Member n of the result is 0 if neither has the build-id. */
static struct build_id build_id_of(struct copiedstack *stack, const struct dso *dso, const struct perfdata *data)
{
	const struct perfdata_build_id *id;
	size_t n;

	if (dso->build_id.n)
		return dso->build_id;
	id = perfdata_build_ids(data, &n);
	buildids_update(&stack->buildids, id, n);
	return buildids_find(&stack->buildids, false, dso->path);
}

/* Returns true if the open file fd has build-id *id, or if the recording has no build-id for the file (id->n == 0);
 * false if the file has another or no build-id. fd stays open. */
static bool copiedstack_is_build(int fd, const struct build_id *id)
{
	struct build_id found;

	if (id->n == 0)
		return true;
	found = elfsyms_file_build_id(fd);
	return found.n == id->n && memcmp(found.byte, id->byte, id->n) == 0;
}

/* Returns fd if it is -1 or has build-id *id; otherwise closes fd and returns -1. */
static int copiedstack_checked(int fd, const struct build_id *id)
{
	if (fd >= 0 && !copiedstack_is_build(fd, id)) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Opens the file with this build-id in perf's cache, ~/.debug/.build-id/xx/yyyy/elf. Returns a descriptor, or -1 if
 * there is no such file. */
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

/* Opens a mapped file. Tries, in this order: pjrecord's copy, the file as the live process sees it (not with --symfs),
 * the file below --symfs or of this machine, the file in perf's cache, a copy in the symbol store whose tenant is
 * unknown (symstore_unclaimed). The file must have the recorded build-id. If no build-id is recorded, pjrecord's copies
 * and the file below --symfs are used unchecked, and fileopener_mapped must prove that a file of the live process or of
 * this machine is the mapped file. Returns a descriptor, or -1 if there is no such file. */
static int copiedstack_open_mapped(struct copiedstack *stack, const struct dso *dso, const struct provenance *origin,
				   const struct perfdata *data)
{
	struct build_id id = build_id_of(stack, dso, data);
	pid_t live = provenance_process(origin, dso->pid, dso->mapped_ns);
	char path[4096];
	int got = snprintf(path, sizeof(path), "%s%.*s", stack->symfs ? stack->symfs : "",
			   (int)(dso->path.n < 4096 ? dso->path.n : 4096), dso->path.p);
	int fd = -1;

	if (got < 0 || (size_t)got >= sizeof(path) || dso->path.n == 0 || dso->path.p[0] != '/')
		return -1;
	if (stack->symstore)
		fd = copiedstack_checked(symstore_binary(stack->symstore, dso->pid, &id, &dso->file_id), &id);
	if (fd >= 0)
		return fd;
	if (live && !stack->symfs)
		fd = id.n ? copiedstack_checked(fileopener_inside(live, dso->path), &id) :
			    fileopener_mapped(live, dso->path, &dso->file_id, origin->until);
	if (fd < 0 && (stack->symfs || id.n))
		fd = copiedstack_checked(fileopener_path(path), &id);
	else if (fd < 0 && origin->host)
		fd = fileopener_mapped(0, dso->path, &dso->file_id, origin->until);
	fd = fd >= 0 ? fd : copiedstack_checked(copiedstack_open_cached(&id), &id);
	if (fd < 0 && stack->symstore)
		fd = copiedstack_checked(symstore_unclaimed(stack->symstore, dso->pid, &id, &dso->file_id), &id);
	return fd;
}

/* Returns the element of stack->table for a DSO. */
static struct copiedstack_table *copiedstack_table(struct copiedstack *stack, uint32_t dso)
{
	if (dso >= stack->cap) {
		size_t cap = (size_t)dso + 64;

		stack->table = mem_grow(stack->table, sizeof(*stack->table), cap);
		memset(stack->table + stack->cap, 0, (cap - stack->cap) * sizeof(*stack->table));
		stack->cap = cap;
	}
	return &stack->table[dso];
}

/* Returns the unwind tables of a DSO. Loads them at the first call. Member `table` of the result is NULL if the DSO is
 * no file, or if the file is not found or has no tables. */
static struct copiedstack_table *copiedstack_table_of(struct copiedstack *stack, const struct addrspace *addrspace,
						      uint32_t dso, const struct provenance *origin,
						      const struct perfdata *data)
{
	struct copiedstack_table *table = copiedstack_table(stack, dso);
	const char *why;
	int fd;

	if (table->tried)
		return table;
	table->tried = true;
	if (addrspace->dso[dso].kind != DSO_FILE)
		return table;
	fd = copiedstack_open_mapped(stack, &addrspace->dso[dso], origin, data);
	if (fd >= 0)
		table->table = unwind_table_open(fd, &why);
	debug(DEBUG_FILES, "%.*s: unwind tables: %s", (int)addrspace->dso[dso].path.n, addrspace->dso[dso].path.p,
	      table->table ? "loaded" :
	      fd < 0       ? "no file with this build-id" :
			     why);
	return table;
}

/* ---- code that sets up the frame pointer ---------------------------------------------------------------------- */

/* Returns the processor of the recorded machine (of this machine if the recording does not name it), or NULL if no
 * unwinder supports this processor. */
static const struct processor *copiedstack_processor_of(const struct perfdata *data)
{
	struct str machine = perfdata_info(data)->arch;

	return machine.n ? processor_of_machine(machine) : processor_here();
}

/* Limit in bytes for the unwind tables that copiedstack_keeps_pointer() has loaded: if the sum exceeds the limit, no
 * further file is loaded, and copiedstack_keeps_pointer() returns false for the code of further files. */
#define KEEPS_MAX ((size_t)96 << 20)

/* Returns true if a CFI row shows that the frame pointer is set up. On x86-64 this is so if the CFA is rbp + 16. On
 * aarch64, where rows mostly have the CFA from sp, it is so if x29 is saved. Returns false for a row with expressions
 * (CFI_ROW_FULL). */
static bool is_by_pointer(const struct cfi_row *row, const struct processor *processor)
{
	if (row->flags & CFI_ROW_FULL)
		return false;
	if (!processor->link)
		return row->reg == CFI_RBP && row->cfa == 16;
	for (unsigned i = 0; i < CFI_NKEPT; i++)
		if (cfi_saved[i] == CFI_RBP && row->saved & 1u << i)
			return true;
	return false;
}

/* Offset in bytes of the CFA from rsp in Go code without a frame. */
enum { GO_NO_FRAME = 8 };

static bool is_go_without_frame(const struct unwind_table *table, uint64_t address)
{
	const struct cfi_row *row = unwind_table_go_row(table, address);

	return row && row->cfa <= GO_NO_FRAME;
}

/* Returns true if rbp is the frame pointer of the Go function at `address`, whose CFI row is `row`. CFI of Go has the
 * CFA from rsp and no rule for rbp, so the test is by the distance to code without frame. Prologue: subq $n,rsp; movq
 * rbp,n-8(rsp) (5 bytes, 8 in a large frame); leaq n-8(rsp),rbp: false until the leaq has run. Epilogue: movq
 * n-8(rsp),rbp; addq $n,rsp (4 or 7 bytes): false at the addq. Since Go 1.21 the prologue is pushq rbp; movq rsp,rbp (4
 * bytes), which the same distance covers. Return addresses are farther from prologue and epilogue, so the result for
 * them is true. */
static bool is_go_by_pointer(const struct unwind_table *table, const struct cfi_row *row, uint64_t address)
{
	uint64_t setup = row->cfa > 128 ? 9 : 6;

	if (row->cfa <= GO_NO_FRAME)
		return false;
	for (uint64_t back = 1; back <= setup; back++)
		if (is_go_without_frame(table, address - back))
			return false;
	for (uint64_t size = 4; size <= 7; size += 3)
		if (is_go_without_frame(table, address + size) && !is_go_without_frame(table, address + size - 1))
			return false;
	return true;
}

bool copiedstack_keeps_pointer(struct copiedstack *stack, const struct addrspace *addrspace, uint32_t dso,
			       uint64_t offset, const struct provenance *origin, const struct perfdata *data)
{
	struct copiedstack_table *table = copiedstack_table(stack, dso);
	const struct processor *processor = copiedstack_processor_of(data);
	bool tried = table->tried;
	const struct cfi_row *row;
	uint64_t bias;

	if (!processor || (!tried && stack->bytes > KEEPS_MAX))
		return false;
	table = copiedstack_table_of(stack, addrspace, dso, origin, data);
	if (!table->table || !unwind_table_bias(table->table, offset, offset, &bias))
		return false;
	stack->bytes += tried ? 0 : unwind_table_bytes(table->table);
	row = unwind_table_go_row(table->table, offset - bias);
	if (row)
		return is_go_by_pointer(table->table, row, offset - bias);
	row = unwind_table_row(table->table, offset - bias);
	return row ? is_by_pointer(row, processor) : addrspace->dso[dso].v8;
}

/* ---- walking of stack copies -------------------------------------------------------------------------------- */

/* The sample whose stack is walked; argument of the callbacks of walk.h and javaunwind.h. */
struct copiedstack_sample {
	struct copiedstack *stack;
	const struct addrspace *addrspace;
	const struct addrspace_thread *thread;
	const struct provenance *origin;
	const struct perfdata *data;
	uint64_t time; /* time of the sample in ns, for lookups in jitdumps */
	/* frame data in the JVM's timeline; NULL: the process is no JVM, or has no timeline */
	struct frametimes *frames;
	struct javaunwind_code java; /* code blobs of the JVM at the sample's time, for javaunwind_step;
					empty if the process is no JVM with a timeline */
};

/* The callback javaunwind_code.read, by which the unwinder requests code bytes of the process. Always returns false: a
 * recording has no code bytes, so the unwinder calls copiedstack_how instead. */
static bool copiedstack_read_code(void *arg, uint64_t address, void *to, size_t n)
{
	(void)arg;
	(void)address;
	(void)to;
	(void)n;
	return false;
}

static bool copiedstack_is_code(void *arg, uint64_t address)
{
	const struct copiedstack_sample *sample = arg;
	struct location place = addrspace_find(sample->addrspace, sample->thread, MODE_USER, address);
	enum dso_kind kind = sample->addrspace->dso[place.dso].kind;

	return kind == DSO_FILE || kind == DSO_VDSO;
}

static int copiedstack_how(void *arg, const struct code_blob *blob, uint64_t address)
{
	return frametimes_how(((const struct copiedstack_sample *)arg)->frames, blob, address);
}

/* Loads the code blobs of the process at the time of record into *sample, if the process is a JVM with a timeline. */
static void copiedstack_find_java(struct copiedstack_sample *sample, const struct perfdata_record *record)
{
	struct copiedstack *stack = sample->stack;
	struct timeline *timeline = stack->timelines ? timelines_of(stack->timelines, record->pid) : NULL;
	const struct javaunwind_code *code;

	sample->frames = timeline ? timeline_frames(timeline) : NULL;
	code = sample->frames ? frametimes_at(sample->frames, stack->monotonic ? record->time : 0) : NULL;
	if (!code)
		return;
	sample->java = *code;
	sample->java.read = copiedstack_read_code;
	sample->java.is_code = copiedstack_is_code;
	sample->java.how = copiedstack_how;
	sample->java.arg = sample;
}

/* Sets *code to the JIT code at `place`, whose virtual address is ip, and its unwind table in a jitdump. Returns false
 * if no jitdump has a table for this code, on other processors than x86-64, or with as_perf. */
static bool copiedstack_find_jit(const struct copiedstack_sample *sample, const struct location *place, uint64_t ip,
				 struct walk_code *code)
{
	const struct dso *dso = &sample->addrspace->dso[place->dso];
	const struct jit_code *jit = NULL;

	if (dso->kind == DSO_JIT && dso->jitdump && !sample->stack->as_perf &&
	    copiedstack_processor_of(sample->data) == &processor_x86_64)
		jit = jitdump_find(dso->jitdump, ip, dso->jit_clock ? sample->time : 0);
	if (!jit || !jitunwind_find(&copiedstack_table(sample->stack, place->dso)->jit, jit, &code->tables))
		return false;
	code->mapped = true;
	code->unwinder = &unwinder_cfi;
	return true;
}

/* The callback walk.find: sets *code to the code at the address of *state, with its unwind tables. Returns true. */
static bool copiedstack_find(void *owner, const struct walk *walk, const struct unwind_state *state,
			     struct walk_code *code)
{
	struct copiedstack_sample *sample = owner;
	uint64_t ip = walk_code_address(state);
	struct location place;

	(void)walk;
	if (runtime_find(&runtime_hotspot, &sample->java, state, code))
		return true;
	place = addrspace_find(sample->addrspace, sample->thread, MODE_USER, ip);
	if (copiedstack_find_jit(sample, &place, ip, code))
		return true;
	code->mapped = copiedstack_is_code(sample, ip);
	code->v8 = state->unproven && sample->addrspace->dso[place.dso].v8;
	code->tables.table =
		copiedstack_table_of(sample->stack, sample->addrspace, place.dso, sample->origin, sample->data)->table;
	if (code->tables.table && !unwind_table_bias(code->tables.table, ip, place.address, &code->tables.bias))
		code->tables.table = NULL;
	if (code->tables.table)
		code->unwinder = &unwinder_cfi;
	return true;
}

/* Removes the first caller whose address cannot be code, and all frames outside of it: the unwinder took another word
 * for the return address of this caller, so these frames are wrong. The stack then is broken (UNWIND_NO_CODE). */
static void copiedstack_drop_impossible(struct walk *walk, const struct addrspace_thread *thread)
{
	for (size_t i = 1; i < walk->n; i++)
		if (!walk->frame[i].method && !addrspace_may_be_code(thread, walk_frame_lookup(&walk->frame[i]))) {
			walk->n = i;
			walk->end = UNWIND_NO_CODE;
		}
}

/* Walks the stack copy of a sample, also in a packed recording, and puts the result into stack->walk. The result has no
 * frames if no unwinder supports the registers. */
static void copiedstack_unwind(struct copiedstack *stack, const struct addrspace *addrspace,
			       const struct addrspace_thread *thread, const struct perfdata_record *record,
			       const struct provenance *origin, const struct perfdata *data)
{
	const struct processor *processor = copiedstack_processor_of(data);
	struct copiedstack_sample sample = { .stack = stack,
					     .addrspace = addrspace,
					     .thread = thread,
					     .origin = origin,
					     .data = data,
					     .time = record->time };
	struct walk *walk = &stack->walk;
	struct unwind_state state;

	walk->n = 0;
	walk->end = UNWIND_NO_CODE;
	if (!processor || !unwind_start_on(processor, &state, record->sample.event->regs_user, record->sample.regs,
					   record->sample.regs_abi, record->sample.stack))
		return;
	if (processor == &processor_x86_64)
		copiedstack_find_java(&sample, record);
	walk->find = copiedstack_find;
	walk->owner = &sample;
	walk->max = stack->as_perf ? PERF_MAX : MAXIMUM;
	walk->retry_leaf = !stack->as_perf;
	walk_stack(walk, &state);
	copiedstack_drop_impossible(walk, thread);
	walk_debug(walk, record->pid);
}

/* ---- stacks of packed recordings ---------------------------------------------------------------------------- */

/* Sets stack->walk to the next stack of a packed recording. Returns false if the recording is not packed or has no more
 * stacks, or with as_perf. */
static bool copiedstack_take(struct copiedstack *stack)
{
	struct walk *walk = &stack->walk;
	uint64_t n;
	unsigned end;

	if (!stack->symbolized || stack->as_perf || !symbolized_stack(stack->symbolized, &n, &end))
		return false;
	for (walk->n = 0; walk->n < n && walk->n < MAXIMUM; walk->n++) {
		struct symbolized_frame frame = symbolized_frame(stack->symbolized);

		if (walk->n == walk->capacity) {
			walk->capacity = walk->capacity ? 2 * walk->capacity : 64;
			walk->frame = mem_grow(walk->frame, sizeof(*walk->frame), walk->capacity);
		}
		walk->frame[walk->n] =
			(struct walk_frame){ .address = frame.address, .exact = frame.exact, .method = frame.method };
	}
	walk->end = end <= UNWIND_OTHER_STACK ? (enum unwind_end)end : UNWIND_NO_CODE;
	return true;
}

static void copiedstack_put(struct symbolizedwriter *writer, const struct walk *walk)
{
	struct symbolized_frame frame, before;

	if (!symbolizedwriter_stack(writer, walk->n, walk->end))
		return;
	for (size_t i = 0; i < walk->n; i++, before = frame) {
		frame = (struct symbolized_frame){ walk->frame[i].address, walk->frame[i].exact,
						   walk->frame[i].method };
		symbolizedwriter_frame(writer, &frame, i ? &before : NULL);
	}
}

void copiedstack_skip(struct copiedstack *stack)
{
	uint64_t n;
	unsigned end;

	if (stack->symbolized)
		symbolized_stack(stack->symbolized, &n, &end);
}

void copiedstack_walk(struct copiedstack *stack, const struct addrspace *addrspace,
		      const struct addrspace_thread *thread, const struct perfdata_record *record,
		      const struct provenance *origin, const struct perfdata *data)
{
	if (!copiedstack_take(stack))
		copiedstack_unwind(stack, addrspace, thread, record, origin, data);
	stack->cut += stack->walk.end == UNWIND_STACK_CUT;
	if (stack->packed)
		copiedstack_put(stack->packed, &stack->walk);
}

void copiedstack_errors(const struct copiedstack *stack, const struct addrspace *addrspace, struct input_errors *errors)
{
	for (size_t i = 0; i < stack->cap; i++)
		inputerrors_note(errors, stack->table[i].jit.refused,
				 "unwind tables of the jitdump of process %u exceed a limit",
				 stack->table[i].jit.refused ? (unsigned)addrspace->dso[i].pid : 0);
}

void copiedstack_free(struct copiedstack *stack)
{
	for (size_t i = 0; i < stack->cap; i++) {
		unwind_table_close(stack->table[i].table);
		jitunwind_free(&stack->table[i].jit);
	}
	buildids_free(&stack->buildids);
	walk_release(&stack->walk);
	free(stack->table);
}
