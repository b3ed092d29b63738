/* The shares of off-CPU time by the origin of its stacks, in words, and their sums. */
/* covers: common/formats/offcpustats.c */
#include "common/formats/offcpustats.h"
#include "test/lib/tap.h"

static void check(const struct pj_offcpu *offcpu, const char *want)
{
	struct text text = { 0 };

	offcpustats_text(&text, offcpu);
	is_str(text_view(&text), str_of(want), want);
	text_free(&text);
}

int main(void)
{
	struct pj_offcpu sum = { .read_ns = UINT64_MAX - 5, .complete = 1, .blocked = 7 };
	struct offcpu_share share;

	check(&(struct pj_offcpu){ .read_ns = 1000000000, .complete_ns = 1000000000 },
	      "stacks of 1.000 s off the CPU: 100.0 % complete, read while the thread was off the CPU");
	check(&(struct pj_offcpu){ .read_ns = 3000000000, .complete_ns = 2000000000, .unread_ns = 1000000000 },
	      "stacks of 4.000 s off the CPU: 50.0 % complete, read while the thread was off the CPU, 25.0 % read but "
	      "not complete, 25.0 % not read");
	check(&(struct pj_offcpu){ .unread_ns = 1000000000 },
	      "stacks of 1.000 s off the CPU: 0.0 % complete, read while the thread was off the CPU, 100.0 % not read");
	offcpustats_add(&sum, &(struct pj_offcpu){ .read_ns = 6, .read = 2, .complete = 3, .unread = 4, .blocked = 8 });
	is_u64(sum.read_ns, UINT64_MAX, "a sum that is too large");
	is_u64(sum.read, 2, "a sum");
	is_u64(sum.complete, 4, "  of complete stacks");
	is_u64(sum.unread, 4, "  of stacks that were not read");
	is_u64(sum.blocked, 7, "other members stay");
	share = offcpustats_blocked(&(struct pj_offcpu){ .read_ns = 90,
							 .complete_ns = 80,
							 .unread_ns = 30,
							 .preempted_read_ns = 20,
							 .preempted_complete_ns = 15,
							 .preempted_unread_ns = 5 });
	ok(share.all == 95 && share.complete == 65 && share.unread == 25, "without times of preempted threads");
	share = offcpustats_blocked(&(struct pj_offcpu){ .read_ns = 9, .preempted_read_ns = 20, .complete_ns = 4 });
	ok(share.all == 0 && share.complete == 4 && share.unread == 0, "parts that are too large");
	return done();
}
