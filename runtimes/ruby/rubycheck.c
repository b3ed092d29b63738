/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/ruby/rubycheck.h"

#include "common/arena.h"
#include "runtimes/memory/livecopy.h"
#include "runtimes/ruby/rubylayout.h"
#include "runtimes/ruby/rubyobject.h"

#include <stdlib.h>

/* ATTEMPTS: maximum number of attempts to prove a layout. EMPTY_ATTEMPTS: number of attempts without contradiction and
 * without an iseq after which the attempts end. The others: maxima of bytes copied, threads and frames per attempt. */
#define ATTEMPTS 32u
#define EMPTY_ATTEMPTS 4u
#define COPY_BYTES (128u << 10)
#define THREADS_PROVEN 64u
#define FRAMES_PROVEN 64u
#define TID_MAX (1u << 22) /* the kernel's upper limit of pid_max; a larger tid is invalid */
#define DATA_CHUNK 4096u
#define DATA_MAX ((uint64_t)4 << 20)
#define VM_BYTES 512u /* number of bytes at the start of an rb_vm_t that are searched for a pointer to a thread */
#define MODULES_MAX 64u
/* number of bytes of a module's thread-local variables that are searched; Ruby 3.1 of Debian has 16 */
#define VARIABLES_BYTES 64u

/* Offsets in struct pthread of glibc for x86-64, 2.17 to 2.43. It has two pointers to itself (tcbhead_t.tcb and
 * .self), the dtv and the tid. An entry of the dtv has DTV_ENTRY bytes and starts with a pointer; the entry before
 * the dtv has the number of entries. */
#define PTHREAD_DTV 8u
#define PTHREAD_SELF 16u
#define PTHREAD_TID 0x2d0u
#define DTV_ENTRY 16u

/* ---- threads and their variables --------------------------------------------------------------------------------- */

/* Returns true if the address `thread` has an rb_thread_t of the VM whose execution context points back to it. */
static bool rubycheck_is_thread(struct ruby *ruby, uint64_t thread, uint64_t vm)
{
	const struct ruby_layout *layout = &ruby->layout;
	uint64_t value, ec;

	return rubylayout_is_address(thread) && memory_pointer(ruby->memory, thread + layout->thread.vm, &value) &&
	       value == vm && memory_pointer(ruby->memory, thread + layout->thread.ec, &ec) &&
	       rubylayout_is_address(ec) && memory_pointer(ruby->memory, ec + EC_THREAD, &value) && value == thread;
}

/* Sets ruby->vm and ruby->thread if there is an rb_vm_t at `vm`: it begins with a pointer to the object RubyVM, and
 * has a pointer to a thread of this VM. Returns false otherwise. */
static bool is_vm(struct ruby *ruby, uint64_t vm)
{
	uint64_t word[VM_BYTES / 8];

	if (!rubylayout_is_address(vm) || !memory_read(ruby->memory, vm, word, sizeof(word)) ||
	    !rubyobject_is(ruby, word[0], OBJECT_TYPE_DATA))
		return false;
	for (size_t i = 1; i < countof(word); i++) {
		if (rubycheck_is_thread(ruby, word[i], vm)) {
			ruby->vm = vm;
			ruby->thread = word[i];
			return true;
		}
	}
	return false;
}

bool rubycheck_find_vm(struct ruby *ruby)
{
	uint64_t variable, vm, word[DATA_CHUNK / 8];
	uint64_t start = (ruby->file.data + 7) & ~(uint64_t)7;
	uint64_t n = ruby->file.data_n < DATA_MAX ? ruby->file.data_n : DATA_MAX;

	if (loadedfile_symbol(&ruby->file, STR("ruby_current_vm_ptr"), &variable))
		return memory_pointer(ruby->memory, variable, &vm) && is_vm(ruby, vm);
	for (uint64_t at = 0; at < n; at += DATA_CHUNK) {
		size_t left = n - at < sizeof(word) ? (size_t)(n - at) & ~(size_t)7 : sizeof(word);

		if (!memory_read(ruby->memory, start + at, word, left))
			return false;
		for (size_t i = 0; i < left / 8; i++)
			if (is_vm(ruby, word[i]))
				return true;
	}
	return false;
}

/* Sets *pthread to the address of the struct pthread of a thread. Returns the tid of that native thread, or 0 if the
 * thread has none yet or the struct is not glibc's. */
static uint32_t native_thread(struct ruby *ruby, uint64_t thread, uint64_t *pthread)
{
	const struct ruby_layout *layout = &ruby->layout;
	uint64_t at = thread, tcb, self, tid;

	if (layout->thread.nt != RUBY_NO_FIELD &&
	    (!memory_pointer(ruby->memory, thread + layout->thread.nt, &at) || !rubylayout_is_address(at)))
		return 0;
	if (!memory_pointer(ruby->memory, at + layout->thread.pthread, pthread) || !rubylayout_is_address(*pthread) ||
	    !memory_pointer(ruby->memory, *pthread, &tcb) ||
	    !memory_pointer(ruby->memory, *pthread + PTHREAD_SELF, &self) || tcb != *pthread || self != *pthread ||
	    !memory_u64(ruby->memory, *pthread + PTHREAD_TID, 4, &tid) || tid > TID_MAX)
		return 0;
	return (uint32_t)tid;
}

/* Returns the address of a module's block of thread-local variables in a thread, or 0 if the thread has none. */
static uint64_t variables_of(struct ruby *ruby, uint64_t pthread, uint32_t module)
{
	uint64_t dtv, entries, block;

	if (!memory_pointer(ruby->memory, pthread + PTHREAD_DTV, &dtv) || !rubylayout_is_address(dtv) ||
	    !memory_pointer(ruby->memory, dtv - DTV_ENTRY, &entries) || module > entries ||
	    !memory_pointer(ruby->memory, dtv + (uint64_t)DTV_ENTRY * module, &block) || !rubylayout_is_address(block))
		return 0;
	return block;
}

/* Fills thread[0..cap) with the threads of the circular list that contains ruby->thread, and returns their number.
 * *why is NULL, or the contradiction. */
static size_t rubycheck_threads(struct ruby *ruby, struct ruby_thread *thread, size_t cap, const char **why)
{
	uint64_t at = ruby->thread, next, back, pthread, block;
	size_t n = 0;

	*why = NULL;
	for (size_t i = 0; i < RUBY_THREADS_MAX && n < cap; i++) {
		uint32_t tid = rubycheck_is_thread(ruby, at, ruby->vm) ? native_thread(ruby, at, &pthread) : 0;

		block = tid ? variables_of(ruby, pthread, ruby->module) : 0;
		if (block)
			thread[n++] = (struct ruby_thread){ .tid = tid, .root = block + ruby->variable };
		/* the list also contains its head, which is not a thread */
		if (!memory_pointer(ruby->memory, at + THREAD_NEXT, &next) || !rubylayout_is_address(next) ||
		    !memory_pointer(ruby->memory, next + THREAD_PREVIOUS, &back) || back != at) {
			*why = "the list of threads does not lead back";
			return n;
		}
		at = next;
		if (at == ruby->thread)
			return n;
	}
	*why = "the list of threads has no end";
	return n;
}

static int rubycheck_compare(const void *one, const void *other)
{
	const struct ruby_thread *a = one, *b = other;

	return (a->tid > b->tid) - (a->tid < b->tid);
}

size_t ruby_threads(struct ruby *ruby, struct ruby_thread *thread, size_t cap)
{
	const char *why;
	size_t n = rubycheck_threads(ruby, thread, cap, &why), left = 0;

	qsort(thread, n, sizeof(*thread), rubycheck_compare);
	/* Ruby threads that share a native thread (M:N scheduling) share its ruby_current_ec: only one of these threads
	 * is reported */
	for (size_t i = 0; i < n; i++)
		if (i == 0 || thread[i].tid != thread[i - 1].tid)
			thread[left++] = thread[i];
	return left;
}

/* ---- ruby_current_ec --------------------------------------------------------------------------------------------- */

/* Sets ruby->module and ruby->variable to the only thread-local variable whose value in ruby->thread is the
 * execution context of that thread. Returns NULL, or the reason of the failure. */
static const char *rubycheck_variable(struct ruby *ruby)
{
	uint64_t pthread, ec, word[VARIABLES_BYTES / 8];
	unsigned found = 0;

	if (!native_thread(ruby, ruby->thread, &pthread))
		return "its C library is not glibc";
	if (!memory_pointer(ruby->memory, ruby->thread + ruby->layout.thread.ec, &ec))
		return "a thread is not readable";
	for (uint32_t module = 1; module < MODULES_MAX; module++) {
		uint64_t block = variables_of(ruby, pthread, module);

		for (uint32_t at = 0; block && at < VARIABLES_BYTES; at += 8) {
			if (!memory_pointer(ruby->memory, block + at, &word[at / 8]) || word[at / 8] != ec)
				continue;
			/* A block of one module may extend into the block of the next module. The same address in
			 * both counts once: with the module whose block starts nearest before it. */
			if (found++ && variables_of(ruby, pthread, ruby->module) + ruby->variable != block + at)
				return "its thread-local variable is not unique";
			if (found == 1 || at < ruby->variable) {
				ruby->module = module;
				ruby->variable = at;
			}
		}
	}
	return found ? NULL : "its thread-local variable is not found";
}

/* ---- proof of a layout ------------------------------------------------------------------------------------------- */

struct prover {
	struct ruby *ruby;
	struct threadcopy *copy;
	struct ruby_stack *stack;
	uint64_t iseq; /* address of the iseq of a frame; 0: none found */
	struct ruby_thread thread[THREADS_PROVEN];
};

/* Checks the frames of a thread against the layout. Sets prover->iseq if a frame has an iseq. Returns NULL, or the
 * contradiction. */
static const char *rubycheck_stack(struct prover *prover, const struct ruby_thread *thread)
{
	struct threadplan plan;
	enum ruby_end end;
	uint64_t iseq = 0;

	ruby_plan(&prover->ruby->layout, &plan);
	plan.frames = FRAMES_PROVEN;
	livecopy_read(prover->ruby->memory, &plan, thread->root, prover->copy, COPY_BYTES);
	end = ruby_frames(&prover->ruby->layout, prover->copy, prover->stack);
	if (end == RUBY_NO_FRAME)
		return NULL;
	if (end == RUBY_IMPOSSIBLE)
		return "its frames are impossible";
	if (end == RUBY_TRUNCATED && prover->copy->end != THREADCOPY_LIMIT)
		return "its frames are not readable";
	if (prover->stack->tag < prover->stack->low || prover->stack->tag >= prover->stack->high)
		return "its native stack is not found";
	for (uint32_t i = 0; i < prover->stack->n; i++) {
		struct ruby_code code;

		if (!ruby_code(prover->ruby, &prover->stack->frame[i], &code))
			return "a frame has no code";
		if (prover->stack->frame[i].kind == RUBY_METHOD)
			iseq = prover->stack->frame[i].code;
	}
	prover->iseq = iseq ? iseq : prover->iseq;
	return NULL;
}

static const char *rubycheck_once(struct prover *prover)
{
	struct ruby *ruby = prover->ruby;
	const char *why = rubycheck_variable(ruby), *list;
	size_t n = why ? 0 : rubycheck_threads(ruby, prover->thread, THREADS_PROVEN, &list);

	if (!why && list && n < THREADS_PROVEN)
		why = list;
	for (size_t i = 0; i < n && !why; i++)
		why = rubycheck_stack(prover, &prover->thread[i]);
	return why;
}

enum rubycheck_answer rubycheck_prove(struct ruby *ruby, uint64_t *iseq, const char **why)
{
	struct prover prover = { .ruby = ruby };
	/* An image does not change: one attempt is enough. */
	unsigned attempts = ruby->memory->fd < 0 ? 1 : ATTEMPTS, empty = 0;
	bool proven = false;

	prover.copy = mem_grow(NULL, 1, sizeof(*prover.copy) + COPY_BYTES);
	prover.stack = mem_grow(NULL, 1, sizeof(*prover.stack));
	for (unsigned i = 0; i < attempts && !proven && empty < EMPTY_ATTEMPTS; i++) {
		memory_forget(ruby->memory);
		prover.iseq = 0;
		*why = rubycheck_once(&prover);
		proven = !*why && prover.iseq;
		empty += !proven && !*why;
	}
	*iseq = prover.iseq;
	free(prover.copy);
	free(prover.stack);
	return proven ? RUBYCHECK_PROVEN : *why ? RUBYCHECK_CONTRADICTED : RUBYCHECK_NO_FRAME;
}
