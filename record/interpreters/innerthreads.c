/* SPDX-License-Identifier: Apache-2.0 */
#include "record/interpreters/innerthreads.h"

#include "common/arena.h"
#include "common/files/fullio.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define STATUS_MAX ((size_t)64 << 10)

bool innerthreads_parse(struct str status, struct innerthread *thread)
{
	while (status.n) {
		struct str line = str_cut(&status, '\n');
		uint64_t first, last;

		if (!str_starts(line, STR("NSpid:\t")))
			continue;
		line = str_from(line, STR("NSpid:\t").n);
		thread->nested = str_find(line, '\t') >= 0;
		if (!str_u64(str_from(line, (size_t)(str_rfind(line, '\t') + 1)), &last) ||
		    !str_u64(str_cut(&line, '\t'), &first) || first > INT32_MAX || last > INT32_MAX)
			return false;
		thread->outer = (uint32_t)first;
		thread->inner = (uint32_t)last;
		return true;
	}
	return false;
}

static bool innerthreads_read(int folder, const char *path, struct text *text, struct innerthread *thread)
{
	text->n = 0;
	return fullio_read_at(folder, path, text, STATUS_MAX) && innerthreads_parse(text_view(text), thread);
}

static int innerthread_cmp(const void *left, const void *right)
{
	const struct innerthread *a = left, *b = right;

	return (a->inner > b->inner) - (a->inner < b->inner);
}

/* Sets *list to the threads of a process, sorted by inner id. Returns their number. */
static size_t innerthreads_list(int process, struct text *text, struct innerthread **list)
{
	int fd = openat(process, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;
	size_t n = 0;

	while (folder && n < INTERPRETER_THREADS_MAX && (entry = readdir(folder))) {
		struct innerthread thread;
		char path[300];

		snprintf(path, sizeof(path), "%s/status", entry->d_name);
		if (!byte_is_digit(entry->d_name[0]) || !innerthreads_read(fd, path, text, &thread))
			continue;
		*list = mem_more(*list, sizeof(**list), n);
		(*list)[n++] = thread;
	}
	if (folder)
		closedir(folder);
	if (n)
		qsort(*list, n, sizeof(**list), innerthread_cmp);
	return n;
}

/* Removes the threads that are not in /proc/PID/task. Returns the number of threads that remain. */
static size_t innerthreads_own(int process, struct interpreter_thread *thread, size_t n)
{
	size_t left = 0;

	for (size_t i = 0; i < n; i++) {
		char path[32];

		snprintf(path, sizeof(path), "task/%u", thread[i].tid);
		if (faccessat(process, path, F_OK, 0) == 0)
			thread[left++] = thread[i];
	}
	return left;
}

size_t innerthreads_translate(int process, struct interpreter_thread *thread, size_t n)
{
	struct innerthread own = { 0 }, *list = NULL;
	struct text text = { 0 };
	size_t all, left = 0;

	bool read = innerthreads_read(process, "status", &text, &own);

	for (size_t i = 0; i < n; i++)
		if (thread[i].tid == INTERPRETER_MAIN_THREAD)
			thread[i].tid = own.inner;
	if (!read || !own.nested) {
		text_free(&text);
		return own.outer ? innerthreads_own(process, thread, n) : 0;
	}
	all = innerthreads_list(process, &text, &list);
	for (size_t i = 0; i < n && all; i++) {
		struct innerthread key = { .inner = thread[i].tid };
		const struct innerthread *found = bsearch(&key, list, all, sizeof(*list), innerthread_cmp);

		if (!found)
			continue;
		thread[left] = thread[i];
		thread[left++].tid = found->outer;
	}
	free(list);
	text_free(&text);
	return left;
}
