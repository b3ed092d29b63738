/* SPDX-License-Identifier: Apache-2.0 */
#include "record/unwind/stackjoin.h"

/* minimum number of consecutive equal addresses that prove that two callchains are at the same frame */
enum { EQUAL = 3 };

static uint64_t stackjoin_word(const struct text *out, size_t at)
{
	return load64(out->p + at);
}

/* Returns the number of consecutive equal addresses of both callchains, counted towards the leaf from the walk's last
 * address and from fp[i]. Only the walk has context markers here, so a marker never matches. */
static uint64_t stackjoin_equal(const struct text *out, size_t first, const uint64_t *fp, uint64_t i)
{
	uint64_t n = 0;

	while (n <= i && first + 8 * (n + 1) <= out->n && fp[i - n] == stackjoin_word(out, out->n - 8 * (n + 1)))
		n++;
	return n;
}

/* Returns true if the unwind table of the code at the return address `ip` marks the outermost frame. */
static bool is_root(struct sampled *sampled, uint64_t ip)
{
	struct unwind_state state = { .ip = ip };
	struct walk_frame frame = { .address = ip };
	struct walk_code code;

	return ip && samplestack_code_at(sampled, &state, &code) && !code.gone &&
	       code.unwinder->step(&state, &code, false, &frame) == UNWIND_ROOT;
}

/* Searches out, from its end down to offset `from`, for a return address whose root frames are cached. Sets *start to
 * these root frames. Returns the size of out in bytes up to and including that address; 0 if the cache has root frames
 * for none. */
static size_t find_start(const struct sampled *sampled, size_t from, const struct text *out,
			 const struct root_frames **start)
{
	for (size_t at = out->n; at > from && sampled->process; at -= 8) {
		*start = rootframes_find(&sampled->stack->starts, sampled->process->pid, load64(out->p + at - 8));
		if (*start)
			return at;
	}
	return 0;
}

/* Returns true if all addresses of out from offset `from` on are in mappings. Addresses are arbitrary if the kernel
 * followed a register that was no frame pointer. */
static bool all_mapped(const struct sampled *sampled, size_t from, const struct text *out)
{
	for (size_t at = from; at < out->n; at += 8)
		if (!processes_at(sampled->process, load64(out->p + at) - 1))
			return false;
	return true;
}

/* Returns true if callers may be missing among the addresses of out from offset `from` on, all in mappings. That is so
 * if the walk passed code that is not known to keep frame pointers. It is so, too, if an address is in generated code
 * of a process that is not a JVM. Exception: returns false if the walk or an address is in V8, whose generated code
 * keeps frame pointers. */
static bool any_unproven(const struct sampled *sampled, size_t from, const struct text *out)
{
	bool generated = false, v8 = sampled->stack->walk.v8;

	for (size_t at = from; at < out->n; at += 8) {
		const struct mapping *mapping = processes_at(sampled->process, load64(out->p + at) - 1);

		generated |= mapped_file_is_memory(mapping->file);
		v8 |= walk_is_v8(mapping->file->path);
	}
	return !v8 && (sampled->stack->walk.unproven || (generated && !sampled->jvm));
}

/* Completes a callchain that frame pointers have continued: appends the cached root frames if out does not end at a
 * root frame yet. libc's code around main and thread functions keeps no frame pointer, so most callchains end before
 * it, or at a word that is no return address. Returns UNWIND_ROOT if out then ends at a root frame, otherwise
 * UNWIND_STACK_CUT. */
static enum unwind_end join_start(struct sampled *sampled, size_t from, struct text *out)
{
	const struct root_frames *start;
	size_t at;

	if (is_root(sampled, stackjoin_word(out, out->n - 8)))
		return UNWIND_ROOT;
	at = find_start(sampled, from, out, &start);
	if (!at)
		return UNWIND_STACK_CUT;
	out->n = at;
	for (size_t i = 0; i < ROOTFRAMES_FRAMES && start->outer[i]; i++)
		samplestack_put(out, start->outer[i]);
	if (is_root(sampled, stackjoin_word(out, out->n - 8)))
		return UNWIND_ROOT;
	/* The cached frames do not end in a root frame of this program, so they may be from before an exec. Removes
	 * them; the stack remains truncated. */
	out->n = at;
	return UNWIND_STACK_CUT;
}

/* Returns the index in fp[0..n) of the walk's last address; n if it is not found. In a recursion several indexes match:
 * the one with the most equal addresses is right. Fewer than EQUAL equal addresses are enough if they reach the leaf
 * and fp_valid is true: then the unwind table confirms that the frame pointer leads to the next caller. */
static uint64_t stackjoin_find_last(const struct text *out, size_t first, const uint64_t *fp, uint64_t n, bool fp_valid)
{
	uint64_t best = n, max = EQUAL - 1, walked = (out->n - first) / 8;

	if (fp_valid && walked && walked <= n && stackjoin_equal(out, first, fp, walked - 1) == walked)
		return walked - 1;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t same = stackjoin_equal(out, first, fp, i);

		if (same > max) {
			best = i;
			max = same;
		}
	}
	return best;
}

/* Returns true if an address of the callchain fp[i..n) is in generated code. */
static bool any_generated(const struct sampled *sampled, const uint64_t *fp, uint64_t i, uint64_t n)
{
	for (; i < n && fp[i] <= INT64_MAX; i++) {
		const struct mapping *mapping = processes_at(sampled->process, fp[i] - 1);

		if (mapping && mapped_file_is_memory(mapping->file))
			return true;
	}
	return false;
}

/* Returns true if the sampled JVM's compiled code keeps frame pointers (-XX:+PreserveFramePointer), as an earlier stack
 * or this one proves. Without that option frame pointers skip compiled methods. The proof is a compiled method whose
 * caller by its code blob is also its caller by frame pointers. same: number of equal addresses of both callchains at
 * the end of the walk. */
static bool java_keeps_pointers(struct sampled *sampled, uint64_t same)
{
	size_t n = sampled->stack->walk.n;
	size_t last = sampled->compiled + 1 < n ? sampled->compiled : sampled->compiled_before;

	if (last != SIZE_MAX && last + same >= n)
		javacode_note_frame_pointers(sampled->jvm);
	return javacode_keeps_frame_pointers(sampled->jvm);
}

enum unwind_end stackjoin_continue(struct sampled *sampled, bool fp_valid, size_t first, const uint64_t *fp, uint64_t n,
				   bool full, size_t max, struct text *out)
{
	uint64_t last = stackjoin_find_last(out, first, fp, n, fp_valid);
	enum unwind_end end = UNWIND_STACK_CUT;
	size_t from = out->n;

	if (last == n)
		return end;
	if (any_generated(sampled, fp, last, n) && samplestack_jvm(sampled) &&
	    !java_keeps_pointers(sampled, stackjoin_equal(out, first, fp, last)))
		return end;
	sampled->stack->counts.joined++;
	for (uint64_t i = last + 1; i < n && fp[i] <= INT64_MAX && out->n + FRAME_SPACE <= max; i++)
		samplestack_put(out, fp[i]);
	if (!full)
		end = join_start(sampled, from, out);
	if (!all_mapped(sampled, from, out)) {
		out->n = from;
		end = UNWIND_STACK_CUT;
	} else if (end == UNWIND_ROOT && any_unproven(sampled, from, out)) {
		end = UNWIND_UNKNOWN;
	}
	sampled->stack->counts.lost += end == UNWIND_STACK_CUT;
	return end;
}
