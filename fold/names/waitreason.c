/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/names/waitreason.h"

/* maximum number of kernel frames, from the innermost one, that are compared with the table; if none of them is in the
 * table, the leaf is [blocked] */
enum { FRAMES_MAX = 64 };

/* Table of leaf frames, by the kernel function in which the thread sleeps. */
static const struct {
	const char *function, *leaf;
} reasons[] = {
	{ "futex_do_wait", "[blocked: futex]" },
	{ "futex_wait_queue", "[blocked: futex]" },
	{ "futex_wait_queue_me", "[blocked: futex]" },
	{ "futex_wait", "[blocked: futex]" },
	{ "__futex_wait", "[blocked: futex]" },
	{ "futex_wait_multiple", "[blocked: futex]" },
	{ "futex_wait_requeue_pi", "[blocked: futex]" },
	{ "futex_lock_pi", "[blocked: futex]" },
	{ "io_schedule", "[blocked: disk]" },
	{ "io_schedule_timeout", "[blocked: disk]" },
	{ "jbd2_log_wait_commit", "[blocked: disk]" },
	{ "sk_wait_data", "[blocked: network]" },
	{ "__skb_wait_for_more_packets", "[blocked: network]" },
	{ "sk_stream_wait_memory", "[blocked: network]" },
	{ "sk_stream_wait_connect", "[blocked: network]" },
	{ "sock_alloc_send_pskb", "[blocked: network]" },
	{ "inet_csk_accept", "[blocked: network]" },
	{ "inet_wait_for_connect", "[blocked: network]" },
	{ "__inet_stream_connect", "[blocked: network]" },
	{ "unix_stream_read_generic", "[blocked: network]" },
	{ "unix_wait_for_peer", "[blocked: network]" },
	{ "pipe_read", "[blocked: pipe]" },
	{ "pipe_write", "[blocked: pipe]" },
	{ "anon_pipe_read", "[blocked: pipe]" },
	{ "anon_pipe_write", "[blocked: pipe]" },
	{ "fifo_pipe_read", "[blocked: pipe]" },
	{ "fifo_pipe_write", "[blocked: pipe]" },
	{ "wait_for_partner", "[blocked: pipe]" },
	{ "do_nanosleep", "[blocked: sleep]" },
	{ "hrtimer_nanosleep", "[blocked: sleep]" },
	{ "poll_schedule_timeout", "[blocked: poll]" },
	{ "do_poll", "[blocked: poll]" },
	{ "do_sys_poll", "[blocked: poll]" },
	{ "do_select", "[blocked: poll]" },
	{ "ep_poll", "[blocked: poll]" },
	{ "do_epoll_wait", "[blocked: poll]" },
};

struct str waitreason_leaf(struct str event)
{
	if (str_eq(event, STR("wall-time-blocked")))
		return STR("[blocked]");
	if (str_eq(event, STR("wall-time-preempted")))
		return STR("[preempted]");
	if (str_eq(event, STR("wall-time-unsampled")))
		return STR("[on CPU, not sampled]");
	return (struct str){ 0 };
}

bool waitreason_is_wait(struct str leaf)
{
	return str_starts(leaf, STR("[blocked")) || str_eq(leaf, STR("[preempted]"));
}

/* Removes the suffix for kernel code from *name, and suffixes that compilers add to clones of functions (".isra.0").
 * Returns false for other code than the kernel's. */
static bool kernel_function(struct str *name)
{
	const struct str suffix = STR("_[k]");
	struct str rest;

	if (name->n <= suffix.n || !str_eq(str_from(*name, name->n - suffix.n), suffix))
		return false;
	rest = str_head(*name, name->n - suffix.n);
	*name = str_cut(&rest, '.');
	return true;
}

struct str waitreason_of(const struct stacks *stacks, uint32_t node, uint32_t first)
{
	for (unsigned i = 0; node && node != first && i < FRAMES_MAX; i++, node = stacks->node[node].parent) {
		struct str name = names_shown(intern_str(&stacks->frames, stacks->node[node].frame));

		if (!kernel_function(&name) || str_starts(name, STR("asm_")))
			break;
		for (size_t row = 0; row < countof(reasons); row++)
			if (str_eq(name, str_of(reasons[row].function)))
				return str_of(reasons[row].leaf);
	}
	return STR("[blocked]");
}
