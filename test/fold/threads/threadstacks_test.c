/* SPDX-License-Identifier: Apache-2.0 */
/* threadstacks_test.c - which samples of a thread are kept: newest, complete, after its end and after an exec; limits.
 */
/* covers: fold/threads/threadstacks.c fold/threads/threadlist.c */
#include "fold/threads/threadstacks.h"

#include "common/text.h"
#include "fold/threads/threadlist.h"
#include "test/lib/tap.h"

#include <stdlib.h>

static struct threadstacks threads;
static const struct perfdata_event waits = { .name = { "offcpu-time", 11 } };

/* Adds a sample whose only frame is `frame`. */
static void add(uint32_t pid, uint32_t tid, uint64_t time, uint32_t frame, bool complete)
{
	struct perfdata_record record = { .kind = PERFDATA_SAMPLE, .pid = pid, .tid = tid, .time = time };

	record.sample.event = &waits;
	threadstacks_sample(&threads, &record, 1, true, complete, &frame, 1);
}

static void give(enum perfdata_kind kind, uint32_t pid, uint32_t tid, uint64_t time)
{
	struct perfdata_record record = { .kind = kind, .pid = pid, .tid = tid, .time = time };

	threadstacks_record(&threads, &record);
}

static void give_exec(uint32_t pid, uint64_t time)
{
	struct perfdata_record record = { .kind = PERFDATA_COMM, .pid = pid, .tid = pid, .time = time };

	record.comm.exec = true;
	threadstacks_record(&threads, &record);
}

/* Compares the threads, each as PID/TID:FRAME,FRAME of the complete one, and forgets them. */
static void holds(const char *what, const char *expected)
{
	struct text text = { 0 };
	size_t n;
	const struct threadstack **list = threadstacks_list(&threads, &n);

	for (size_t i = 0; i < n; i++) {
		text_printf(&text, "%s%u/%u:%u", i ? " " : "", list[i]->pid, list[i]->tid, list[i]->newest.frame[0]);
		if (list[i]->complete.comm)
			text_printf(&text, ",%u", list[i]->complete.frame[0]);
	}
	is_str(text_view(&text), str_of(expected), what);
	free(list);
	text_free(&text);
	threadstacks_free(&threads);
	threads = (struct threadstacks){ 0 };
}

static void test_newest(void)
{
	holds("no thread", "");
	add(20, 20, 5, 1, false);
	add(10, 9, 5, 2, false);
	add(10, 11, 5, 3, false);
	add(10, 10, 5, 4, false);
	holds("by process, the main thread first, then by tid", "10/10:4 10/9:2 10/11:3 20/20:1");
	add(1, 1, 10, 1, true);
	add(1, 1, 20, 2, false);
	add(1, 1, 15, 3, true);
	add(1, 1, 12, 4, true);
	holds("the newest sample and the newest complete one", "1/1:2,3");
}

static void test_ends(void)
{
	add(1, 2, 10, 1, true);
	give(PERFDATA_EXIT, 1, 2, 20);
	give(PERFDATA_EXIT, 1, 3, 20);
	is_u64(threads.n, 2, "the end of a thread without a sample makes no entry");
	is_u64(threads.frames, 0, "a thread that has ended takes no frames");
	add(1, 2, 21, 2, true);
	holds("a sample after the EXIT record is ignored", "");
	add(1, 2, 10, 1, true);
	give(PERFDATA_EXIT, 1, 2, 20);
	give(PERFDATA_COMM, 1, 2, 30);
	add(1, 2, 31, 2, false);
	holds("that of another thread with the same tid is not", "1/2:2");
	add(1, 2, 10, 1, true);
	give(PERFDATA_EXIT, 1, 2, 20);
	give(PERFDATA_FORK, 1, 2, 30);
	give(PERFDATA_EXIT, 1, 2, 35);
	add(1, 2, 36, 2, false);
	holds("it can end, too", "");
}

static void test_exec(void)
{
	add(1, 1, 10, 1, true);
	add(1, 2, 10, 2, true);
	add(1, 3, 10, 3, true);
	add(4, 4, 10, 4, true);
	give(PERFDATA_EXIT, 1, 1, 20);
	give(PERFDATA_EXIT, 1, 3, 20);
	give_exec(1, 21);
	add(1, 1, 30, 5, false);
	holds("exec of a thread that is not the first: its old tid has no stack, though it has no EXIT record",
	      "1/1:5 4/4:4,4");
	add(1, 1, 10, 1, true);
	add(1, 2, 10, 2, true);
	give_exec(1, 21);
	add(1, 2, 25, 3, false);
	add(1, 2, 24, 4, true);
	add(1, 2, 20, 5, true);
	holds("samples from before an exec are not mixed with later ones", "1/2:3,4");
	add(1, 1, 10, 1, true);
	add(1, 2, 10, 2, true);
	give_exec(1, 21);
	give(PERFDATA_EXIT, 1, 1, 30);
	add(9, 9, 31 + THREADSTACKS_ENDED_NS, 1, false);
	add(1, 3, 31 + THREADSTACKS_ENDED_NS, 3, false);
	holds("nor if the main thread ended after the exec", "1/3:3 9/9:1");
}

static void test_limits(void)
{
	static uint32_t frame[4096];
	struct perfdata_record record = { .kind = PERFDATA_SAMPLE, .pid = 1, .time = 1 };
	size_t n;

	for (uint32_t i = 0; i < 4 * THREADSTACKS_MAX; i++) {
		add(i + 1, i + 1, i, 1, true);
		give(PERFDATA_EXIT, i + 1, i + 1, i);
	}
	ok(!threads.over && threads.n <= THREADSTACKS_MAX && threads.frames == 0,
	   "threads that ended make space for others");
	add(7, 7, 1, 1, true);
	holds("the newest of many", "7/7:1,1");
	for (uint32_t i = 0; i < THREADSTACKS_MAX + 10; i++)
		add(1, i + 1, 1, i, false);
	free(threadstacks_list(&threads, &n));
	ok(threads.over && n == THREADSTACKS_MAX, "the number of threads has a limit");
	threadstacks_free(&threads);
	threads = (struct threadstacks){ 0 };
	record.sample.event = &waits;
	for (record.tid = 1; record.tid <= THREADSTACKS_MAX / 8; record.tid++)
		threadstacks_sample(&threads, &record, 1, true, true, frame, countof(frame));
	ok(threads.over && threads.frames <= THREADSTACKS_FRAMES, "the number of frames has a limit");
	threadstacks_free(&threads);
	threads = (struct threadstacks){ 0 };
}

static void test_list(void)
{
	static const char *const malformed[] = {
		"", "x", "1", "1 ", "1 x", "-1 2 a", "1  2 a", "4294967296 1 a", "1 2a"
	};
	struct threadlist list = { 0 };

	for (size_t i = 0; i < countof(malformed); i++)
		ok(!threadlist_line(&list, str_of(malformed[i])), malformed[i]);
	ok(threadlist_line(&list, STR("7 8 b c")) && threadlist_line(&list, STR("7\t7\ta")) &&
		   threadlist_line(&list, STR("7 8 again")) && threadlist_line(&list, STR("1 2")),
	   "lines");
	threadlist_sort(&list);
	is_u64(list.n, 3, "threads");
	ok(list.thread[0].pid == 1 && list.thread[0].tid == 2 && list.thread[0].name.n == 0, "one without a name");
	ok(list.thread[1].tid == 7, "the main thread");
	ok(list.thread[2].tid == 8, "the other one");
	threadlist_free(&list);
}

int main(void)
{
	test_newest();
	test_ends();
	test_exec();
	test_limits();
	test_list();
	return done();
}
