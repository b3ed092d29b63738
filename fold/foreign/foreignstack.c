/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/foreign/foreignstack.h"

#include "common/formats/folded.h"

#include <stdlib.h>

#define FRAMES_MAX 4096u
#define BYTES_MAX ((size_t)1 << 20)

void foreignstack_clear(struct foreignstack *stack)
{
	stack->n = 0;
	stack->text.n = 0;
	stack->truncated = false;
}

void foreignstack_frame(struct foreignstack *stack, struct foreignframe frame)
{
	struct foreignslot *slot;
	size_t bytes = frame.symbol.n + frame.dso.n + frame.address.n;

	if (stack->n == FRAMES_MAX || bytes > BYTES_MAX - stack->text.n) {
		stack->truncated = true;
		return;
	}
	if (stack->n == stack->cap) {
		stack->cap = stack->cap ? 2 * stack->cap : 128;
		stack->frame = mem_grow(stack->frame, sizeof(*stack->frame), stack->cap);
	}
	slot = &stack->frame[stack->n++];
	slot->code = frame.code;
	slot->symbol = stack->text.n;
	text_str(&stack->text, frame.symbol);
	slot->dso = stack->text.n;
	text_str(&stack->text, frame.dso);
	slot->address = stack->text.n;
	text_str(&stack->text, frame.address);
	slot->end = stack->text.n;
}

static struct str foreignstack_text(const struct foreignstack *stack, size_t from, size_t end)
{
	return from < end ? (struct str){ stack->text.p + from, end - from } : (struct str){ 0 };
}

static struct str foreignstack_symbol(const struct foreignstack *stack, const struct foreignslot *slot)
{
	return foreignstack_text(stack, slot->symbol, slot->dso);
}

/* ---- recognition of kernel code ----------------------------------------------------------------------------- */

/* Returns true if `symbol` is a function at which the kernel is entered or a kernel thread begins. No user code has
 * functions of these names. Returns false for all other symbols. */
static bool is_kernel_entry(struct str symbol)
{
	static const struct str names[] = {
		STR("entry_SYSCALL_64_after_hwframe"),
		STR("entry_SYSCALL_64"),
		STR("entry_SYSCALL_64_fastpath"),
		STR("entry_SYSENTER_compat_after_hwframe"),
		STR("entry_SYSCALL_compat_after_hwframe"),
		STR("system_call_fastpath"),
		STR("ret_from_fork"),
		STR("ret_from_fork_asm"),
		STR("asm_common_interrupt"),
		STR("secondary_startup_64"),
		STR("secondary_startup_64_no_verify"),
		STR("common_startup_64"),
		STR("x86_64_start_kernel"),
		STR("el0_svc"),
		STR("el0t_64_sync"),
		STR("el0t_64_irq"),
		STR("el1h_64_irq"),
		STR("__primary_switched"),
		STR("__secondary_switched"),
	};

	for (size_t i = 0; i < countof(names); i++)
		if (str_eq(symbol, names[i]))
			return true;
	return str_starts(symbol, STR("asm_exc_")) || str_starts(symbol, STR("asm_sysvec_"));
}

size_t foreignstack_find_kernel(struct foreignstack *stack, size_t from)
{
	size_t end = from;

	for (size_t i = from; i < stack->n; i++)
		if (is_kernel_entry(foreignstack_symbol(stack, &stack->frame[i])))
			end = i + 1;
	for (size_t i = from; i < end; i++)
		stack->frame[i].code = FOREIGN_KERNEL;
	return end - from;
}

static void foreignstack_reverse(struct foreignslot *frame, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		struct foreignslot slot = frame[i];

		frame[i] = frame[n - 1 - i];
		frame[n - 1 - i] = slot;
	}
}

void foreignstack_move_to_leaf(struct foreignstack *stack, size_t from)
{
	if (from == 0 || from >= stack->n)
		return;
	foreignstack_reverse(stack->frame, from);
	foreignstack_reverse(stack->frame + from, stack->n - from);
	foreignstack_reverse(stack->frame, stack->n);
}

/* ---- adding of samples -------------------------------------------------------------------------------------- */

/* Pushes a frame to the open sample. A symbol with inlined calls becomes several frames. */
static void push_names(struct foreignstack *stack, const struct foreignslot *slot)
{
	struct samples *samples = stack->samples;
	struct names_frame frame = {
		.symbol = foreignstack_symbol(stack, slot),
		.dso = foreignstack_text(stack, slot->dso, slot->address),
		.address = foreignstack_text(stack, slot->address, slot->end),
		.java = slot->code == FOREIGN_METHOD,
		.inlined = slot->code == FOREIGN_INLINED,
		.interpreted = slot->code == FOREIGN_INTERPRETED,
	};
	struct str rest, name;
	size_t first = samples->nframes;

	if (slot->code == FOREIGN_KERNEL)
		frame.dso = STR("[kernel.kallsyms]");
	else if (slot->code == FOREIGN_COMPILED || slot->code == FOREIGN_INLINED)
		frame.dso = STR("[JIT] tid 0");
	samples->tally.frames++;
	samples->tally.unresolved += names_unresolved(frame);
	rest = names_make(&samples->names, frame);
	while (rest.n) {
		name = str_cut(&rest, '\n');
		samples_push(samples, stacks_frame(&samples->stacks, name));
	}
	/* Reverse the new frames: names_make() returns the outermost name first, but a sample has its innermost frame
	 * first. */
	for (size_t i = first, j = samples->nframes; i + 1 < j; i++) {
		uint32_t id = samples->frame[i];

		samples->frame[i] = samples->frame[--j];
		samples->frame[j] = id;
	}
}

/* Applies --skip-after and --collapse-recursion to the frames of the open sample. */
static void reduce_stack(struct samples *samples)
{
	const struct samples_options *options = samples->options;
	const struct intern *names = &samples->stacks.frames;
	size_t n = 0;

	for (size_t i = 0; i < samples->nframes; i++) {
		struct str name = folded_plain(names_shown(intern_str(names, samples->frame[i])));
		bool last = false;

		if (!options->collapse_recursion || n == 0 ||
		    !str_eq(name, folded_plain(names_shown(intern_str(names, samples->frame[n - 1])))))
			samples->frame[n++] = samples->frame[i];
		for (size_t k = 0; k < options->nskip_after; k++)
			last = last || str_eq(name, folded_plain(options->skip_after[k]));
		if (last) {
			samples->sample.root = 0;
			break;
		}
	}
	samples->nframes = n;
}

void foreignstack_add(struct foreignstack *stack, const struct sample_key *key)
{
	struct samples *samples = stack->samples;

	samples_open(samples, key);
	if (samples->sample.state == SAMPLE_OPEN) {
		for (size_t i = 0; i < stack->n; i++)
			push_names(stack, &stack->frame[i]);
		if (stack->truncated)
			samples_push(samples, stacks_frame(&samples->stacks, STR("[truncated]")));
		reduce_stack(samples);
	}
	samples_close(samples);
	foreignstack_clear(stack);
}

void foreignstack_free(struct foreignstack *stack)
{
	text_free(&stack->text);
	free(stack->frame);
}
