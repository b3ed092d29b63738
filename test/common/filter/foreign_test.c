/* SPDX-License-Identifier: Apache-2.0 */
/* foreign_test.c - first lines of formats that pj does not read, and of those that it reads. */
/* covers: common/filter/foreign.c */
#include "common/filter/foreign.h"

#include "test/lib/tap.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	const char *text, *advice;
} foreign[] = {
	{ "2026-11-22 15:00:51\nFull thread dump OpenJDK 64-Bit Server VM:\n\n\"main\" #1\n", "thread dump" },
	{ "\n\njdk.ExecutionSample {\n  startTime = 15:00:46\n", "jfr print" },
	{ "@[\n    do_idle+12\n]: 8\n", "bpftrace" },
	{ "Attaching 1 probe...\r\n\r\n@[\r\n", "bpftrace" },
	{ "# ./profile\nSampling at 49 Hertz of all threads by user + kernel stack... Hit Ctrl-C to end.\n", "bcc" },
	{ "PeriodType: cpu nanoseconds\nPeriod: 10000000\n", "pprof" },
	{ "# callgrind format\nversion: 1\n", "callgrind" },
	{ "Analysis of sampling rg (pid 1) every 1 millisecond\n", "macOS" },
	{ "--- Execution profile ---\nTotal samples       : 733\n", "async-profiler" },
	{ "Sun Nov 22 15:01:04 2026    c.prof\n\n         400005 function calls in 0.059 seconds\n", "Python" },
	{ " 0xffffffff8103ce3b : native_safe_halt+0xb/0x10 [kernel]\n\t2404\n", "SystemTap" },
	{ "sample:\n  event_type: cpu-cycles:u\n", "simpleperf" },
	{ "{\"traceEvents\": [\n", "JSON" },
	{ "{\n  \"nodes\": 3\n", "JSON" },
	{ "2026-11-22T15:00:01.123456789Z w  4872  4444.564758:    2004008 cpu-clock: \n", "log" },
};

static const char *const ours[] = {
	"java;Thread.run;jdk.internal.Foo {anonymous} 12\n",
	"# pj unit=samples event=cycles\na;b 3\n",
	"sample:;main 3\n",
	"{lambda()#1};main 3\n",
	"java 12345 [001] 5.123456: 1 cycles:\n\t 7f1a2b3c4d5e main+0x1 (/x)\n",
	"# ========\n# captured on    : Sun Nov 22 15:01:04 2026\n",
	"2026-11-22;main 3\n",
	"2026-11-22T15:00:01.5;main 3\n",
	"",
	"\n\n",
	"a;b 1\na;c 1\na;d 1\na;e 1\nFull thread dump 3\n",
};

int main(void)
{
	for (size_t i = 0; i < countof(foreign); i++) {
		const char *advice = foreign_format(str_of(foreign[i].text));

		ok(advice && strstr(advice, foreign[i].advice), foreign[i].advice);
		/* Each prefix is read without an access behind it; the test runs with sanitizers, too. */
		for (size_t n = 0; n < strlen(foreign[i].text); n++) {
			char *copy = memcpy(malloc(n + 1), foreign[i].text, n);

			foreign_format((struct str){ copy, n });
			free(copy);
		}
	}
	ok(foreign_format((struct str){ "FLR\0\0\2", 6 }) != NULL, "a JFR recording is named");
	for (size_t i = 0; i < countof(ours); i++)
		ok(!foreign_format(str_of(ours[i])), ours[i][0] ? "a text of pj, perf or FlameGraph" : "no text");
	return done();
}
