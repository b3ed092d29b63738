/* SPDX-License-Identifier: Apache-2.0 */
/* threadtext_test.c - the report on threads: their states, the stack that is shown, the lines below it, and losses. */
/* covers: fold/threads/threadtext.c */
#include "fold/threads/threadtext.h"

#include "common/formats/perfrecord.h"
#include "test/lib/tap.h"

#include <stdlib.h>

#define MS UINT64_C(1000000)
#define BORDER (1000 * MS) /* end of the window */
#define END (BORDER - 1)

enum { LEAF, CALLER, COMPLETE, BROKEN, IN_KERNEL, IN_JIT, NOWHERE, PLACES };

static struct addrspace addrspace;
static struct locations locations;
static struct stacks stacks;
static struct threadstacks threads;
static struct threadtext threadtext;
static struct threadtext_counts counts;
static uint32_t place[PLACES];
static const struct perfdata_event waits = { .name = { "offcpu-time", 11 } },
				   preempted = { .name = { "offcpu-time-preempted", 21 } },
				   clock_event = { .name = { "cpu-clock", 9 } };

/* Makes the locations, in the order of the list of names in shows(). */
static void make_places(void)
{
	uint32_t kernel = addrspace_special(&addrspace, DSO_KERNEL, STR("[kernel.kallsyms]")),
		 jit = addrspace_special(&addrspace, DSO_JIT, STR("/tmp/perf-1.map")),
		 file = addrspace_special(&addrspace, DSO_FILE, STR("/bin/a"));

	place[LEAF] = locations_id(&locations, location_in_dso(file, 1));
	place[CALLER] = locations_id(&locations, location_in_dso(file, 2));
	place[COMPLETE] = locations_id(&locations, location_of_end(STACK_COMPLETE, 0));
	place[BROKEN] = locations_id(&locations, location_of_end(STACK_BROKEN, 0));
	place[IN_KERNEL] = locations_id(&locations, location_in_dso(kernel, 3));
	place[IN_JIT] = locations_id(&locations, location_in_dso(jit, 4));
	place[NOWHERE] = locations_id(&locations, location_in_dso(0, 5));
}

/* Adds a sample: `leaf`, CALLER and `end` (0: none); of IN_KERNEL that frame alone. */
static void add(uint32_t pid, uint32_t tid, const char *comm, const struct perfdata_event *event, uint64_t time,
		uint32_t leaf, uint32_t end)
{
	struct perfdata_record record = { .kind = PERFDATA_SAMPLE, .pid = pid, .tid = tid, .time = time };
	uint32_t frame[3] = { leaf | LOCATION_BIT, place[CALLER] | LOCATION_BIT, end | LOCATION_BIT };

	record.sample.event = event;
	record.sample.period = 5 * MS;
	record.cpu = 3;
	record.has_cpu = event == &clock_event;
	threadstacks_sample(&threads, &record, intern(&addrspace.comms, str_of(comm)), true, end == place[COMPLETE],
			    frame,
			    leaf == place[IN_KERNEL] ? 1 :
			    end                      ? 3 :
						       2);
}

static struct str dso_of(const struct addrspace *of, const struct location *location)
{
	return of->dso[location->dso].path;
}

/* Compares the text of all threads, and forgets them. */
static void shows(const char *what, const char *expected)
{
	uint32_t leaf = stacks_frame(&stacks, STR("leaf\033")), caller = stacks_frame(&stacks, STR("caller")),
		 kernel = stacks_frame(&stacks, STR("schedule")), jit = stacks_frame(&stacks, STR("LMain;::run")),
		 unknown = stacks_frame(&stacks, STR("[unknown]"));
	uint32_t first[] = { 0, 0, 1, 2, 2, 2, 3, 4, 5 }, frame[] = { leaf, caller, kernel, jit, unknown };
	struct text text = { 0 };

	threadtext.addrspace = &addrspace;
	threadtext.locations = &locations;
	threadtext.stacks = &stacks;
	threadtext.first = first;
	threadtext.frame = frame;
	threadtext.dso = dso_of;
	threadtext.over_budget = threads.over_budget;
	counts = (struct threadtext_counts){ 0 };
	threadtext_write(&threadtext, &threads, &text, &counts);
	is_str(text_view(&text), str_of(expected), what);
	text_free(&text);
	threadstacks_free(&threads);
	threads = (struct threadstacks){ 0 };
}

#define FRAMES "  at leaf\\x1b (/bin/a)\n  at caller (/bin/a)\n"
#define WAITS "waiting for at least 5.0 ms, offcpu-time\n" FRAMES

static void test_order(void)
{
	add(20, 20, "last", &waits, END, place[LEAF], place[COMPLETE]);
	add(10, 9, "second", &waits, END, place[LEAF], place[COMPLETE]);
	add(10, 10, "\"\n\" tid 1, ", &waits, END, place[LEAF], place[COMPLETE]);
	shows("threads by process, the main thread first; names are escaped",
	      "process 10\n\n\"\\x22\\x0a\\x22 tid 1, \" tid 10, " WAITS "\n\"second\" tid 9, " WAITS
	      "\nprocess 20\n\n\"last\" tid 20, " WAITS);
	is_u64(counts.waiting, 3, "  all wait");
}

static void test_states(void)
{
	add(1, 1, "a", &clock_event, END - 2 * MS, place[LEAF], place[COMPLETE]);
	add(1, 1, "a", &waits, END, place[LEAF], place[BROKEN]);
	shows("a wait at the border is shown, though an older stack is complete",
	      "process 1\n\n\"a\" tid 1, " WAITS "  [incomplete: no caller was found]\n");
	add(1, 1, "a", &waits, END, place[LEAF], place[COMPLETE]);
	add(1, 2, "b", &clock_event, BORDER + MS, place[LEAF], place[COMPLETE]);
	threadtext.last = BORDER + MS;
	shows("records that are later than the border change no wait",
	      "process 1\n\n\"a\" tid 1, " WAITS "\n\"b\" tid 2, running, last sampled on CPU 3, cpu-clock\n" FRAMES);
	add(1, 1, "a", &waits, END - 1, place[LEAF], place[COMPLETE]);
	shows("a wait that is not certain up to the border is none",
	      "process 1\n\n\"a\" tid 1, running, offcpu-time\n" FRAMES);
	add(1, 1, "a", &clock_event, END - 2 * MS, place[LEAF], place[COMPLETE]);
	add(1, 1, "a", &preempted, END - MS, place[LEAF], 0);
	shows("a running thread has its recent complete stack",
	      "process 1\n\n\"a\" tid 1, running, stack of 2.0 ms before the end, cpu-clock\n" FRAMES);
	add(1, 1, "a", &clock_event, END - 200 * MS, place[LEAF], place[COMPLETE]);
	add(1, 1, "a", &waits, END - MS, place[LEAF], 0);
	shows("but none that is older than 100 ms",
	      "process 1\n\n\"a\" tid 1, running, stack of 1.0 ms before the end, offcpu-time\n" FRAMES
	      "  [callers by frame pointers: some may be missing]\n");
	add(1, 1, "a", &clock_event, END - 2 * MS, place[LEAF], place[COMPLETE]);
	add(1, 1, "a", &preempted, END, place[IN_KERNEL], 0);
	shows("a preempted thread is one, with its recent complete stack",
	      "process 1\n\n\"a\" tid 1, preempted for at least 5.0 ms, stack of 2.0 ms before the end, cpu-clock\n" FRAMES);
	add(1, 1, "a", &preempted, END, place[IN_KERNEL], 0);
	shows("a stack without user code has a line about that",
	      "process 1\n\n\"a\" tid 1, preempted for at least 5.0 ms, offcpu-time-preempted\n"
	      "  at schedule ([kernel.kallsyms])\n  [no frame of user code was recorded]\n");
	is_u64(counts.preempted, 1, "  it is counted");
	add(1, 1, "a", &clock_event, END - 101 * MS, place[LEAF], place[COMPLETE]);
	add(1, 2, "b", &waits, END - 101 * MS, place[LEAF], place[COMPLETE]);
	shows("a thread without a record in the last 100 ms has no known state",
	      "process 1\n\n\"a\" tid 1, state unknown, stack of 101.0 ms before the end, cpu-clock\n" FRAMES
	      "\n\"b\" tid 2, state unknown, stack of 101.0 ms before the end, offcpu-time\n" FRAMES);
	is_u64(counts.unknown, 2, "  they are counted");
}

static void test_modules(void)
{
	add(1, 1, "a", &waits, END, place[IN_JIT], place[COMPLETE]);
	add(1, 2, "b", &waits, END, place[NOWHERE], place[COMPLETE]);
	shows("JIT code has no file; a frame without a mapping has no module",
	      "process 1\n\n\"a\" tid 1, waiting for at least 5.0 ms, offcpu-time\n  at LMain;::run ([jit])\n"
	      "  at caller (/bin/a)\n\n\"b\" tid 2, waiting for at least 5.0 ms, offcpu-time\n  at [unknown]\n"
	      "  at caller (/bin/a)\n");
}

static void test_losses(void)
{
	threadtext.lost_switches = 12;
	threadtext.lost_samples = 1;
	threadtext.uncertain = true;
	add(1, 1, "a", &waits, END, place[LEAF], place[COMPLETE]);
	add(1, 2, "b", &waits, END - 1, place[LEAF], place[COMPLETE]);
	add(1, 3, "c", &clock_event, END - 2 * MS, place[LEAF], place[COMPLETE]);
	shows("after losses only waits at the border are certain",
	      "[lost: 12 records of context switches, 1 sample]\n"
	      "[records or stacks of context switches are missing: only waiting and preempted threads have a certain state]\n\n"
	      "process 1\n\n\"a\" tid 1, " WAITS "\n\"b\" tid 2, state unknown, offcpu-time\n" FRAMES
	      "\n\"c\" tid 3, state unknown, stack of 2.0 ms before the end, cpu-clock\n" FRAMES);
	threadtext.lost_switches = threadtext.lost_samples = 0;
	threadtext.uncertain = false;
	threadtext.border = 0;
	threadtext.last = END;
	add(1, 1, "a", &waits, END, place[LEAF], place[COMPLETE]);
	shows("a recording without an end shows no states",
	      "[the end of the recording is missing: states of threads are unknown]\n\n"
	      "process 1\n\n\"a\" tid 1, state unknown, offcpu-time\n" FRAMES);
	threadtext.border = BORDER;
	threads.over = true;
	shows("a limit that was reached is named",
	      "[limit of 65536 threads or 16777216 frames: other stacks are left out]\n\n");
}

static void test_left_out(void)
{
	threadtext.left_out = true;
	add(1, 1, "a", &clock_event, END, place[LEAF], place[COMPLETE]);
	add(1, 2, "b", &waits, END - 2 * MS, place[LEAF], place[COMPLETE]);
	add(1, 2, "b", &clock_event, END, place[LEAF], place[COMPLETE]);
	shows("where switches of processes are left out, a thread that was never off the CPU may be one of these",
	      "process 1\n\n\"a\" tid 1, state unknown, cpu-clock\n" FRAMES
	      "\n\"b\" tid 2, running, last sampled on CPU 3, cpu-clock\n" FRAMES);
	threadtext.left_out = false;
}

static void test_over_budget(void)
{
	struct perfdata_record record = { .kind = PERFDATA_SAMPLE, .pid = 1, .tid = 1, .time = END };
	const uint64_t ips[] = { CONTEXT_USER, PJ_OVER_BUDGET_IP, CONTEXT_USER, CONTEXT_USER, CONTEXT_USER };
	uint32_t frame = place[LEAF] | LOCATION_BIT;

	record.sample.event = &waits;
	record.sample.period = 5 * MS;
	record.sample.ips = ips;
	record.sample.nips = countof(ips);
	threadstacks_sample(&threads, &record, intern(&addrspace.comms, STR("a")), true, false, &frame, 1);
	add(1, 2, "b", &clock_event, END, place[LEAF], place[COMPLETE]);
	shows("the sum of several waits over budget is not the length of one",
	      "[times of tenants over budget were summed: only waiting and preempted threads have a certain state]\n\n"
	      "process 1\n\n\"a\" tid 1, waiting, offcpu-time\n  at leaf\\x1b (/bin/a)\n"
	      "  [over budget: its stack was left out]\n\n"
	      "\"b\" tid 2, state unknown, cpu-clock\n" FRAMES);
}

static void test_listed(void)
{
	struct threadlist list = { 0 };
	struct text text = { 0 };

	threadlist_line(&list, STR("2 2 other"));
	threadlist_line(&list, STR("1 3 c\033"));
	threadlist_line(&list, STR("1 1 a"));
	threadlist_sort(&list);
	threadtext.list = &list;
	add(1, 1, "a", &waits, END, place[LEAF], place[COMPLETE]);
	add(1, 2, "ended", &waits, END, place[LEAF], place[COMPLETE]);
	add(9, 9, "child", &waits, END, place[LEAF], place[COMPLETE]);
	shows("of a list all threads are shown, and no others",
	      "process 1\n\n\"a\" tid 1, " WAITS
	      "\n\"c\\x1b\" tid 3, no stack\n  [no sample: it did not run, and its stack was not read]\n"
	      "\nprocess 2\n\n\"other\" tid 2, no stack\n  [no sample: it did not run, and its stack was not read]\n");
	threadtext_sentence(&counts, &text);
	is_str(text_view(&text), STR("3 threads: 0 running, 1 waiting, 0 preempted, 2 without a stack"),
	       "  the sentence");
	threadtext.list = NULL;
	text_free(&text);
	threadlist_free(&list);
}

int main(void)
{
	addrspace_init(&addrspace, false);
	make_places();
	threadtext.border = BORDER;
	test_order();
	test_states();
	test_modules();
	test_losses();
	test_left_out();
	test_over_budget();
	test_listed();
	shows("no thread is no text", "");
	locations_free(&locations);
	stacks_free(&stacks);
	addrspace_free(&addrspace);
	return done();
}
