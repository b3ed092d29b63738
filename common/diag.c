/* SPDX-License-Identifier: Apache-2.0 */
#include "common/diag.h"

#include "common/debug.h"
#include "common/visible.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *tool_name = "pj";
static void (*at_death)(void);
static void (*at_end[4])(void);
static unsigned nends;
static int death = PJ_FAILED;
static bool terminal[STDERR_FILENO + 1];

/* Opens /dev/null in place of closed descriptors 0, 1 and 2. Otherwise the next opened file would get one of these
 * numbers, and receive messages. Each is opened for the wrong direction (0 for writing, 1 and 2 for reading), so that
 * its use fails like the use of a closed descriptor. */
static void keep_standard_descriptors(void)
{
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
			_exit(PJ_FAILED);
}

void diag_tool(const char *name)
{
	tool_name = name;
	keep_standard_descriptors();
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		terminal[fd] = isatty(fd);
	debug_begin();
}

bool diag_is_terminal(int fd)
{
	return terminal[fd];
}

const char *diag_tool_name(void)
{
	return tool_name;
}

void diag_failure_is(int status)
{
	death = status;
}

void diag_at_death(void (*clean)(void))
{
	at_death = clean;
}

/* Calls the functions that diag_at_end registered, each once, the last one first. */
static void run_ends(void)
{
	while (nends)
		at_end[--nends]();
}

void diag_at_end(void (*end)(void))
{
	for (size_t i = 0; i < nends; i++)
		if (at_end[i] == end)
			return;
	if (nends == countof(at_end))
		die("more than %zu functions are registered for the end of the tool", countof(at_end));
	if (nends == 0)
		atexit(run_ends);
	at_end[nends++] = end;
}

/* Returns the length in bytes of the UTF-8 character at the start of string; 0 if its first byte must be escaped. */
static size_t shown_as_is(struct str string)
{
	uint32_t code;
	size_t n = visible_point(string, &code);

	return n && code >= 0x20 && code != 0x7F && !visible_hides(code) ? n : 0;
}

/* Copies n bytes from `from` to `to`, and escapes invalid UTF-8 and characters that control a terminal or reorder text.
 * Returns the number of bytes written. Text that does not fit into `space` bytes ends in "...". */
static size_t diag_masked(char *to, size_t space, const char *from, size_t n)
{
	size_t w = 0;

	for (size_t i = 0; i < n;) {
		size_t len = shown_as_is((struct str){ from + i, n - i });

		if (w + 8 > space) {
			memcpy(to + w, "...", 3);
			return w + 3;
		}
		if (len) {
			memcpy(to + w, from + i, len);
			w += len;
			i += len;
		} else {
			w += (size_t)snprintf(to + w, 5, "\\x%02x", (unsigned char)from[i]);
			i++;
		}
	}
	return w;
}

PRINTF(2, 0)
static void diag_print_message(struct place at, const char *fmt, va_list args, const char *after)
{
	char text[2048], place[512] = "", line[4096];
	int got = vsnprintf(text, sizeof(text), fmt, args);
	size_t w;

	if (got < 0)
		return;
	if (at.name && at.line)
		snprintf(place, sizeof(place), "%.400s:%llu: ", at.name, (unsigned long long)at.line);
	else if (at.name)
		snprintf(place, sizeof(place), "%.400s: ", at.name);
	w = (size_t)snprintf(line, 64, "%.32s: ", tool_name);
	w += diag_masked(line + w, 700, place, strlen(place));
	w += diag_masked(line + w, sizeof(line) - w - 400, text, strlen(text));
	w += (size_t)snprintf(line + w, 300, "%s\n", after);
	while (write(STDERR_FILENO, line, w) < 0 && errno == EINTR)
		;
}

void warn(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	diag_print_message((struct place){ 0 }, fmt, args, "");
	va_end(args);
}

void warn_at(struct place place, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	diag_print_message(place, fmt, args, "");
	va_end(args);
}

static NORETURN void diag_end(int status)
{
	if (at_death)
		at_death();
	run_ends();
	_exit(status);
}

void die(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	diag_print_message((struct place){ 0 }, fmt, args, "");
	va_end(args);
	diag_end(death);
}

void die_at(struct place place, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	diag_print_message(place, fmt, args, "");
	va_end(args);
	diag_end(death);
}

void die_errno(const char *fmt, ...)
{
	char why[200];
	va_list args;

	snprintf(why, sizeof(why), ": %s", strerror(errno));
	va_start(args, fmt);
	diag_print_message((struct place){ 0 }, fmt, args, why);
	va_end(args);
	diag_end(death);
}

void die_usage(const char *fmt, ...)
{
	char hint[100];
	va_list args;

	snprintf(hint, sizeof(hint), " (see %s --help)", tool_name);
	va_start(args, fmt);
	diag_print_message((struct place){ 0 }, fmt, args, hint);
	va_end(args);
	diag_end(PJ_USAGE);
}
