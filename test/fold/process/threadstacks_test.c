/* SPDX-License-Identifier: Apache-2.0 */
/* threadstacks_test.c - the newest stack of each thread: which sample is shown, in which order, and what stands below.
 */
/* covers: fold/process/threadstacks.c */
#include "fold/process/threadstacks.h"

#include "test/lib/tap.h"

#include <stdlib.h>

#define MS UINT64_C(1000000)
#define END (1000 * MS) /* time of the last record */

enum { LEAF, CALLER, COMPLETE, BROKEN, IN_KERNEL, PLACES };

static struct addrspace addrspace;
static struct locations locations;
static struct stacks stacks;
static struct threadstacks threads;
static uint32_t place[PLACES];
static const struct perfdata_event waits = { .name = { "offcpu-time", 11 } },
				   preempted = { .name = { "offcpu-time-preempted", 21 } },
				   clock_event = { .name = { "cpu-clock", 9 } };

/* Makes the locations, in the order of the list of names in shows(). */
static void make_places(void)
{
	uint32_t kernel = addrspace_special(&addrspace, DSO_KERNEL, STR("[kernel.kallsyms]"));

	place[LEAF] = locations_id(&locations, location_in_dso(0, 1));
	place[CALLER] = locations_id(&locations, location_in_dso(0, 2));
	place[COMPLETE] = locations_id(&locations, location_of_end(STACK_COMPLETE, 0));
	place[BROKEN] = locations_id(&locations, location_of_end(STACK_BROKEN, 0));
	place[IN_KERNEL] = locations_id(&locations, location_in_dso(kernel, 3));
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
		 kernel = stacks_frame(&stacks, STR("schedule"));
	uint32_t first[] = { 0, 0, 1, 2, 2, 2, 3 }, frame[] = { leaf, caller, kernel };
	struct threadstacks_names names = { &addrspace, &locations, first, frame, &stacks, dso_of, END };
	struct text text = { 0 };

	threadstacks_write(&threads, &names, &text);
	is_str(text_view(&text), str_of(expected), what);
	text_free(&text);
	threadstacks_free(&threads);
	memset(&threads, 0, sizeof(threads));
}

#define FRAMES "  at leaf\\x1b ([unknown])\n  at caller ([unknown])\n"

static void test_order(void)
{
	add(20, 20, "last", &waits, END, place[LEAF], place[COMPLETE]);
	add(10, 9, "second", &waits, END, place[LEAF], place[COMPLETE]);
	add(10, 11, "third", &waits, END, place[LEAF], place[COMPLETE]);
	add(10, 10, "main\n\"", &waits, END, place[LEAF], place[COMPLETE]);
	shows("processes by pid, in each the main thread first, then by tid; names are escaped",
	      "process 10\n\n\"main\\x0a\"\" tid 10, waiting for 5.0 ms, offcpu-time\n" FRAMES
	      "\n\"second\" tid 9, waiting for 5.0 ms, offcpu-time\n" FRAMES
	      "\n\"third\" tid 11, waiting for 5.0 ms, offcpu-time\n" FRAMES
	      "\nprocess 20\n\n\"last\" tid 20, waiting for 5.0 ms, offcpu-time\n" FRAMES);
}

static void test_newest(void)
{
	add(1, 1, "a", &clock_event, END - 2 * MS, place[LEAF], place[COMPLETE]);
	add(1, 1, "a", &waits, END, place[LEAF], place[BROKEN]);
	add(1, 1, "a", &clock_event, END - 3 * MS, place[LEAF], place[COMPLETE]);
	shows("a wait that lasts until the end is shown, though an older stack is complete",
	      "process 1\n\n\"a\" tid 1, waiting for 5.0 ms, offcpu-time\n" FRAMES
	      "  [incomplete: no caller was found]\n");
	add(1, 1, "a", &clock_event, END - 2 * MS, place[LEAF], place[COMPLETE]);
	add(1, 1, "a", &preempted, END - MS, place[LEAF], 0);
	shows("a running thread has its recent complete stack",
	      "process 1\n\n\"a\" tid 1, running on CPU 3, 2.0 ms before the end, cpu-clock\n" FRAMES);
	add(1, 1, "a", &clock_event, END - 200 * MS, place[LEAF], place[COMPLETE]);
	add(1, 1, "a", &preempted, END - MS, place[LEAF], 0);
	shows("but none that is older than 100 ms",
	      "process 1\n\n\"a\" tid 1, running, after it was preempted for 5.0 ms, 1.0 ms before the end, "
	      "offcpu-time-preempted\n" FRAMES "  [callers by frame pointers: some may be missing]\n");
	add(1, 1, "a", &preempted, END, place[IN_KERNEL], 0);
	shows("a stack without user code has a line about that",
	      "process 1\n\n\"a\" tid 1, preempted for 5.0 ms, offcpu-time-preempted\n"
	      "  at schedule ([kernel.kallsyms])\n  [no frame of user code was recorded]\n");
}

static void test_ended(void)
{
	add(1, 1, "a", &waits, END, place[LEAF], place[COMPLETE]);
	add(1, 2, "b", &waits, END - MS, place[LEAF], place[COMPLETE]);
	threadstacks_delete(&threads, 1, 2);
	threadstacks_delete(&threads, 1, 3);
	shows("a thread that has ended is not shown",
	      "process 1\n\n\"a\" tid 1, waiting for 5.0 ms, offcpu-time\n" FRAMES);
	add(1, 2, "b", &waits, END, place[LEAF], place[COMPLETE]);
	threadstacks_delete(&threads, 1, 2);
	add(1, 2, "c", &waits, END - MS, place[LEAF], place[COMPLETE]);
	shows("a thread with the tid of one that has ended has its own stack",
	      "process 1\n\n\"c\" tid 2, running, after it was waiting for 5.0 ms, 1.0 ms before the end, "
	      "offcpu-time\n" FRAMES);
	shows("no thread is no text", "");
}

int main(void)
{
	addrspace_init(&addrspace, false);
	make_places();
	test_order();
	test_newest();
	test_ended();
	locations_free(&locations);
	stacks_free(&stacks);
	addrspace_free(&addrspace);
	return done();
}
