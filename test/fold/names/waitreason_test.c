/* The reason of a wait by the kernel's functions of its stack. The stacks are those of Linux 6.18 for sh, cat, dd and
 * Python, as pjfold printed them. */
/* covers: fold/names/waitreason.c */
#include "fold/names/waitreason.h"
#include "test/lib/tap.h"

struct row {
	const char *stack, *want;
};

static const struct row rows[] = {
	{ "python3;clone3;__x64_sys_futex_[k];do_futex_[k];futex_wait_[k];__futex_wait_[k];futex_do_wait_[k];schedule_[k]",
	  "[blocked: futex]" },
	{ "dd;read;ksys_read_[k];vfs_read_[k];filemap_read_[k];filemap_get_pages_[k];folio_wait_bit_common_[k];"
	  "io_schedule_[k];schedule_[k]",
	  "[blocked: disk]" },
	{ "python3;recv;__x64_sys_recvfrom_[k];__sys_recvfrom_[k];sock_recvmsg_[k];udp_recvmsg_[k];__skb_recv_udp_[k];"
	  "__skb_wait_for_more_packets_[k];schedule_timeout_[k];schedule_[k]",
	  "[blocked: network]" },
	{ "cat;read;ksys_read_[k];vfs_read_[k];anon_pipe_read_[k];schedule_[k]", "[blocked: pipe]" },
	{ "sleep;__x64_sys_clock_nanosleep_[k];common_nsleep_timens_[k];hrtimer_nanosleep_[k];do_nanosleep_[k];schedule_[k]",
	  "[blocked: sleep]" },
	{ "python3;__x64_sys_pselect6_[k];do_pselect.constprop.0_[k];core_sys_select_[k];do_select_[k];"
	  "poll_schedule_timeout.constprop.0_[k];schedule_hrtimeout_range_clock_[k];schedule_[k]",
	  "[blocked: poll]" },
	{ "python3;__x64_sys_epoll_wait_[k];do_epoll_wait_[k];schedule_hrtimeout_range_clock_[k];schedule_[k]",
	  "[blocked: poll]" },
	{ "sh;kernel_wait4_[k];do_wait_[k];schedule_[k]", "[blocked]" },
	/* the page fault within a read of a pipe waits for the disk, and its other waits are none of the pipe */
	{ "cat;vfs_read_[k];anon_pipe_read_[k];asm_exc_page_fault_[k];filemap_fault_[k];io_schedule_[k];schedule_[k]",
	  "[blocked: disk]" },
	{ "cat;vfs_read_[k];anon_pipe_read_[k];asm_exc_page_fault_[k];down_read_[k];schedule_[k]", "[blocked]" },
	/* functions of programs do not count, whatever their name is */
	{ "app;futex_wait;io_schedule", "[blocked]" },
	{ "app;io_schedule_[k];pipe_read;schedule_[k]", "[blocked]" },
	{ "app", "[blocked]" },
	/* nor does the name of a process or of a thread, which are first frames */
	{ "io_schedule_[k]", "[blocked]" },
	{ "io_schedule_[k];schedule_[k]", "[blocked]" },
};

static void check_row(const struct row *row)
{
	struct stacks stacks = { 0 };
	struct str rest = str_of(row->stack);
	uint32_t node = stacks_child(&stacks, 0, stacks_frame(&stacks, str_cut(&rest, ';'))), first = node;

	while (rest.n)
		node = stacks_child(&stacks, node, stacks_frame(&stacks, str_cut(&rest, ';')));
	is_str(waitreason_of(&stacks, node, first), str_of(row->want), row->stack);
	stacks_free(&stacks);
}

int main(void)
{
	for (size_t i = 0; i < countof(rows); i++)
		check_row(&rows[i]);
	ok(str_eq(waitreason_leaf(STR("wall-time-blocked")), STR("[blocked]")), "leaf of blocked time");
	ok(str_eq(waitreason_leaf(STR("wall-time-preempted")), STR("[preempted]")), "leaf of preempted time");
	ok(str_eq(waitreason_leaf(STR("wall-time-unsampled")), STR("[on CPU, not sampled]")), "leaf of unsampled time");
	ok(waitreason_leaf(STR("wall-time")).n == 0 && waitreason_leaf(STR("offcpu-time")).n == 0, "no leaf of others");
	return done();
}
