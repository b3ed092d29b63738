/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/cpython/pycheck.h"

#include "common/arena.h"
#include "runtimes/cpython/pylayout.h"
#include "runtimes/memory/livecopy.h"

#include <stdlib.h>

#define ATTEMPTS 32u
/* EMPTY_ATTEMPTS: after this number of attempts that found no frame, the proof ends; it is more than one, because a
 * thread may have been between two functions. INTERPRETERS_MAX: maximum number of interpreters that are read; further
 * ones are ignored. */
#define EMPTY_ATTEMPTS 4u
#define INTERPRETERS_MAX 1024u
#define THREADS_PROVEN 64u /* maximum number of threads whose frames are checked in an attempt */
#define FRAMES_PROVEN 64u
#define COPY_BYTES (128u << 10)
#define STATE_BYTES 192u
#define SMALL_COPY 2048u
#define TID_MAX (1u << 22) /* the kernel's upper limit of pid_max; a larger tid is invalid */

/* Offsets in struct pthread of glibc for x86-64, 2.17 to 2.43. It has two pointers to itself (tcbhead_t.tcb and
 * .self), and the tid. */
#define PTHREAD_SELF 16u
#define PTHREAD_TID 0x2d0u

/* Returns the tid of the thread with this pthread_t, or 0 if there is no struct pthread of glibc. */
static uint32_t tid_of_pthread(struct memory *memory, uint64_t pthread)
{
	uint64_t tcb, self, tid;

	if (!memory_pointer(memory, pthread, &tcb) || !memory_pointer(memory, pthread + PTHREAD_SELF, &self) ||
	    tcb != pthread || self != pthread || !memory_u64(memory, pthread + PTHREAD_TID, 4, &tid) || tid > TID_MAX)
		return 0;
	return (uint32_t)tid;
}

/* Reads the thread state at address `state` into *thread, and sets *next to the next state of the list. interpreter:
 * address of its interpreter; previous: the state before it in the list, 0 for the first one. Returns NULL, or the
 * contradiction. thread->tid is 0 for a thread that is just starting. */
static const char *read_thread(struct cpython *cpython, uint64_t interpreter, uint64_t state, uint64_t previous,
			       struct cpython_thread *thread, uint64_t *next)
{
	const struct cpython_layout *layout = &cpython->layout;
	char bytes[STATE_BYTES];
	uint64_t id, pthread;

	if (state % 8 != 0 || layout->thread.thread_id > STATE_BYTES - 8 ||
	    (layout->thread.native_thread_id != CPYTHON_NO_FIELD &&
	     layout->thread.native_thread_id > STATE_BYTES - 8) ||
	    layout->thread.prev > STATE_BYTES - 8 || layout->thread.next > STATE_BYTES - 8 ||
	    layout->thread.interpreter > STATE_BYTES - 8 || !memory_read(cpython->memory, state, bytes, sizeof(bytes)))
		return "a thread state is not readable";
	if (pylayout_word(bytes, layout->thread.interpreter) != interpreter)
		return "a thread has another interpreter";
	if (pylayout_word(bytes, layout->thread.prev) != previous)
		return "the list of threads does not lead back";
	*next = pylayout_word(bytes, layout->thread.next);
	*thread = (struct cpython_thread){ .state = state, .interpreter = interpreter };
	pthread = pylayout_word(bytes, layout->thread.thread_id);
	if (layout->thread.native_thread_id == CPYTHON_NO_FIELD) {
		thread->tid = pthread ? tid_of_pthread(cpython->memory, pthread) : 0;
		return NULL;
	}
	id = pylayout_word(bytes, layout->thread.native_thread_id);
	if (id > TID_MAX || (id != 0 && pthread == 0))
		return "a thread has no plausible id";
	thread->tid = (uint32_t)id;
	return NULL;
}

/* Appends the threads of one interpreter to thread[*n..cap). Returns NULL, or the contradiction. */
static const char *read_threads(struct cpython *cpython, uint64_t interpreter, struct cpython_thread *thread,
				size_t cap, size_t *n)
{
	uint64_t state, previous = 0, next = 0;

	if (!memory_pointer(cpython->memory, interpreter + cpython->layout.interpreter.threads, &state))
		return "an interpreter is not readable";
	for (size_t i = 0; state && i < CPYTHON_THREADS_MAX && *n < cap; i++) {
		const char *why = read_thread(cpython, interpreter, state, previous, &thread[*n], &next);

		if (why)
			return why;
		if (thread[*n].tid)
			++*n;
		previous = state;
		state = next;
	}
	return NULL;
}

size_t pycheck_threads(struct cpython *cpython, struct cpython_thread *thread, size_t cap, const char **why)
{
	uint64_t interpreter;
	size_t n = 0;

	*why = NULL;
	if (!memory_pointer(cpython->memory, cpython->runtime + cpython->layout.runtime.interpreters, &interpreter)) {
		*why = "the list of interpreters is not readable";
		return 0;
	}
	for (unsigned i = 0; interpreter && i < INTERPRETERS_MAX && n < cap; i++) {
		const char *contradiction = read_threads(cpython, interpreter, thread, cap, &n);

		if (contradiction && !*why)
			*why = contradiction;
		if (!memory_pointer(cpython->memory, interpreter + cpython->layout.interpreter.next, &interpreter)) {
			*why = "the list of interpreters is not readable";
			return n;
		}
	}
	return n;
}

/* ---- several states of a thread ---------------------------------------------------------------------------------- */

static int compare_tids(const void *one, const void *other)
{
	const struct cpython_thread *a = one, *b = other;

	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return a->state < b->state ? -1 : a->state > b->state;
}

enum state_of_thread { STATE_IDLE, STATE_RUNS, STATE_UNKNOWN };

/* Returns STATE_RUNS if the thread state has a frame of a Python function, STATE_IDLE if it has none, STATE_UNKNOWN if
 * its frames are not readable. stack: buffer for its frames. */
static enum state_of_thread state_of(struct cpython *cpython, uint64_t state, struct cpython_stack *stack)
{
	enum cpython_end end;
	_Alignas(struct threadcopy) char space[sizeof(struct threadcopy) + SMALL_COPY];
	struct threadcopy *copy = (void *)space;
	struct threadplan plan;

	cpython_plan(&cpython->layout, &plan);
	/* Two frames suffice to find one with a function: since 3.15, the outermost one has none. */
	plan.frames = 2;
	plan.before = 0;
	plan.after = plan.frame_bytes;
	livecopy_read(cpython->memory, &plan, state, copy, SMALL_COPY);
	end = cpython_frames(&cpython->layout, copy, stack);
	if (end == CPYTHON_NO_FRAME)
		return STATE_IDLE;
	return end != CPYTHON_IMPOSSIBLE && stack->n ? STATE_RUNS : STATE_UNKNOWN;
}

/* Returns the index of the only state in thread[0..n) that has a frame; n if none or more than one has a frame, or if
 * this is unknown for one of them. */
static size_t only_with_frame(struct cpython *cpython, const struct cpython_thread *thread, size_t n)
{
	struct cpython_stack *stack = mem_grow(NULL, 1, sizeof(*stack));
	size_t found = n;

	for (size_t i = 0; i < n; i++) {
		enum state_of_thread state = state_of(cpython, thread[i].state, stack);

		if (state == STATE_IDLE)
			continue;
		if (state == STATE_UNKNOWN || found < n) {
			found = n;
			break;
		}
		found = i;
	}
	free(stack);
	return found;
}

size_t pycheck_one_state_each(struct cpython *cpython, struct cpython_thread *thread, size_t n)
{
	size_t found = 0;

	qsort(thread, n, sizeof(*thread), compare_tids);
	for (size_t i = 0, end; i < n; i = end) {
		size_t chosen = 0;

		for (end = i + 1; end < n && thread[end].tid == thread[i].tid; end++)
			;
		if (end - i > 1)
			chosen = only_with_frame(cpython, thread + i, end - i);
		if (chosen < end - i)
			thread[found++] = thread[i + chosen];
	}
	return found;
}

/* ---- proof by the frames of threads ------------------------------------------------------------------------------ */

struct prover {
	struct cpython *cpython;
	struct threadcopy *copy;
	struct cpython_stack *stack;
	struct cpython_thread thread[THREADS_PROVEN];
};

static const char *prove_frame(struct cpython *cpython, const struct cpython_frame *frame)
{
	struct cpython_code code;
	uint64_t type;

	switch (cpython_code(cpython, frame, &code)) {
	case CPYTHON_CODE_NONE: return "a frame has no code object";
	case CPYTHON_CODE_INTERNAL: return NULL;
	case CPYTHON_CODE_READ: break;
	}
	if (!memory_pointer(cpython->memory, frame->globals + PYOBJECT_TYPE, &type) || type != cpython->dict_type)
		return "a frame has no dict of globals";
	if (cpython_instruction(&cpython->layout, &code, frame) == 0)
		return "the instruction of a frame is not in its code";
	return NULL;
}

/* Checks the frames of a thread against the layout. Sets *proven if the thread has frames and all are right. Returns
 * NULL, or the contradiction. */
static const char *prove_stack(struct prover *prover, const struct cpython_thread *thread, bool *proven)
{
	struct cpython *cpython = prover->cpython;
	struct threadplan plan;
	enum cpython_end end;

	cpython_plan(&cpython->layout, &plan);
	plan.frames = FRAMES_PROVEN;
	livecopy_read(cpython->memory, &plan, thread->state, prover->copy, COPY_BYTES);
	end = cpython_frames(&cpython->layout, prover->copy, prover->stack);
	if (end == CPYTHON_NO_FRAME)
		return NULL;
	if (end == CPYTHON_IMPOSSIBLE)
		return "the list of frames is impossible";
	if (end == CPYTHON_TRUNCATED && prover->copy->end != THREADCOPY_LIMIT)
		return "the list of frames is not readable";
	for (uint32_t i = 0; i < prover->stack->n; i++) {
		const char *why = prove_frame(cpython, &prover->stack->frame[i]);

		if (why)
			return why;
	}
	*proven = prover->stack->n > 0;
	return NULL;
}

/* Makes one attempt to prove the layout. Returns true if the frames of a thread prove the layout. Returns false if a
 * contradiction is found; then sets *why to it. Returns false with *why NULL if no thread has frames. */
static bool prove_once(struct prover *prover, const char **why)
{
	size_t n = pycheck_threads(prover->cpython, prover->thread, THREADS_PROVEN, why);
	bool proven = false;

	for (size_t i = 0; i < n && !*why; i++)
		*why = prove_stack(prover, &prover->thread[i], &proven);
	return proven && !*why;
}

enum pycheck_answer pycheck_prove(struct cpython *cpython, const char **why)
{
	struct prover prover = { .cpython = cpython };
	/* An image of memory (fd -1) does not change: one attempt is enough. */
	unsigned attempts = cpython->memory->fd < 0 ? 1 : ATTEMPTS, empty = 0;
	bool proven = false;

	prover.copy = mem_grow(NULL, 1, sizeof(*prover.copy) + COPY_BYTES);
	prover.stack = mem_grow(NULL, 1, sizeof(*prover.stack));
	for (unsigned i = 0; i < attempts && !proven && empty < EMPTY_ATTEMPTS; i++) {
		memory_forget(cpython->memory);
		proven = prove_once(&prover, why);
		empty += !proven && !*why;
	}
	free(prover.copy);
	free(prover.stack);
	return proven ? PYCHECK_PROVEN : *why ? PYCHECK_CONTRADICTED : PYCHECK_NO_FRAME;
}
