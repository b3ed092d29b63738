/* Headers of perf script, as perf 3.x to 6.x print them with all kinds of -F. */
/* covers: fold/samples/samplekey.c */
#include "fold/samples/samplekey.h"
#include "test/lib/tap.h"

struct row {
	const char *line;
	enum samplekey_kind kind;
	const char *comm, *event, *rest;
	int64_t pid, tid, cpu;
	uint64_t period;
	const char *time;
};

static const struct row rows[] = {
	{ "swapper     0 [000]   320.676929:    2004008 cpu-clock:ppp: ", SAMPLEKEY_SAMPLE, "swapper", "cpu-clock:ppp",
	  "", -1, 0, 0, 2004008, "320.676929" },
	{ "C2 CompilerThre 26015 [001]  1114.853106:    1001001 cycles: ", SAMPLEKEY_SAMPLE, "C2 CompilerThre",
	  "cycles", "", -1, 26015, 1, 1001001, "1114.853106" },
	{ "t 99076/99077 10314749.002559:     1 cycles:u: ", SAMPLEKEY_SAMPLE, "t", "cycles:u", "", 99076, 99077, -1, 1,
	  "10314749.002559" },
	{ "thread 1 12345/12346 [000]     1.600000:          1 cycles:u: ", SAMPLEKEY_SAMPLE, "thread 1", "cycles:u",
	  "", 12345, 12346, 0, 1, "1.600000" },
	{ "thread 1   324.011956: cycles:u: ", SAMPLEKEY_SAMPLE, "thread 1", "cycles:u", "", -1, -1, -1, 0,
	  "324.011956" },
	{ "thread 1    12   324.011956: cycles:u: ", SAMPLEKEY_SAMPLE, "thread 1", "cycles:u", "", -1, 12, -1, 0,
	  "324.011956" },
	{ "       kdamond.0    77/77      324.011956: cpu-clock:ppp:  ffffffff816a50b3 damon ([kernel.kallsyms])",
	  SAMPLEKEY_SAMPLE, "kdamond.0", "cpu-clock:ppp", "ffffffff816a50b3 damon ([kernel.kallsyms])", 77, 77, -1, 0,
	  "324.011956" },
	{ ":-1    -1/-1    [000]     1.500000:          1 cycles: ", SAMPLEKEY_SAMPLE, ":-1", "cycles", "", -1, -1, 0,
	  1, "1.500000" },
	{ "swapper     0/0     [000]     1.600000:          1 cycles: ", SAMPLEKEY_SAMPLE, "swapper", "cycles", "", 0,
	  0, 0, 1, "1.600000" },
	{ "perf  5126 [000]   325.961259: sched:sched_switch: prev_comm=perf prev_pid=5126 ==> next_comm=x next_prio=0",
	  SAMPLEKEY_SAMPLE, "perf", "sched:sched_switch", "prev_comm=perf prev_pid=5126 ==> next_comm=x next_prio=0",
	  -1, 5126, 0, 0, "325.961259" },
	{ "swapper     0 [000] K       320.676929:    2004008 cpu-clock:ppp: ", SAMPLEKEY_SAMPLE, "swapper",
	  "cpu-clock:ppp", "", -1, 0, 0, 2004008, "320.676929" },
	{ "swapper     0 [000]   320.676929881:    2004008 cpu-clock:ppp: ", SAMPLEKEY_SAMPLE, "swapper",
	  "cpu-clock:ppp", "", -1, 0, 0, 2004008, "320.676929881" },
	{ "    0 [000]   320.676929:    2004008 cpu-clock:ppp: ", SAMPLEKEY_SAMPLE, "", "cpu-clock:ppp", "", -1, 0, 0,
	  2004008, "320.676929" },
	{ "a  1/2   1.700000:          5 cpu_core/cycles:Pu/: ", SAMPLEKEY_SAMPLE, "a", "cpu_core/cycles:Pu/", "", 1, 2,
	  -1, 5, "1.700000" },
	{ "java 19983 cycles:", SAMPLEKEY_SAMPLE, "java", "cycles", "", -1, 19983, -1, 0, NULL },
	{ "java 19983 cycles: ", SAMPLEKEY_SAMPLE, "java", "cycles", "", -1, 19983, -1, 0, NULL },
	{ "java 19983 [002] 12345 cycles:u: ", SAMPLEKEY_SAMPLE, "java", "cycles:u", "", -1, 19983, 2, 12345, NULL },
	{ "java cycles: ", SAMPLEKEY_WEAK, "java", "cycles", "", -1, -1, -1, 0, NULL },
	{ "http worker 12 cycles: ", SAMPLEKEY_WEAK, "http worker 12", "cycles", "", -1, -1, -1, 0, NULL },
	{ "java    2004008 cycles: ", SAMPLEKEY_SAMPLE, "java", "cycles", "", -1, 2004008, -1, 0, NULL },
	{ "java ", SAMPLEKEY_WEAK, "java", "", "", -1, -1, -1, 0, NULL },
	{ "C2 CompilerThre  1234 ", SAMPLEKEY_WEAK, "C2 CompilerThre", "", "", -1, 1234, -1, 0, NULL },
	{ "            perf  5129  ffffffff821f8298 __schedule", SAMPLEKEY_WEAK, "perf", "",
	  "ffffffff821f8298 __schedule", -1, 5129, -1, 0, NULL },
	{ "swapper     0 [000]     0.000000: PERF_RECORD_MMAP -1/0: [0xffffffff81000000(0x12090c8) @ 0]: x y",
	  SAMPLEKEY_RECORD, "swapper", "", "", -1, 0, 0, 0, "0.000000" },
	{ "perf     1 [000]     0.500000: DEFERRED CALLCHAIN [cookie: 1]", SAMPLEKEY_DEFERRED, "perf", "", "", -1, -1,
	  0, 0, NULL },
	{ "a.b 1.5 c  1/2   1.700000:   5 cycles: ", SAMPLEKEY_SAMPLE, "a.b 1.5 c", "cycles", "", 1, 2, -1, 5,
	  "1.700000" },
	{ "java  1234 [000] 2026-11-21 10:11:12.123456:   5 cycles: ", SAMPLEKEY_SAMPLE, "java", "cycles", "", -1, 1234,
	  0, 5, NULL },
	{ "Gecko\t122 [007] 115540.10901:\t\t1000000 task-clock:u:", SAMPLEKEY_SAMPLE, "Gecko", "task-clock:u", "", -1,
	  122, 7, 1000000, "115540.10901" },
	{ "app 12 [001] 5.123456: 1 cycles:", SAMPLEKEY_SAMPLE, "app", "cycles", "", -1, 12, 1, 1, "5.123456" },
	{ "\t    7f00 x (y)", SAMPLEKEY_NONE, "", "", "", -1, -1, -1, 0, NULL },
};

static void check(const struct row *row)
{
	struct sample_key h;

	if (!ok(samplekey_parse(str_of(row->line), &h) == row->kind, row->line) || row->kind == SAMPLEKEY_NONE)
		return;
	is_str(h.comm, str_of(row->comm), "  comm");
	if (row->kind == SAMPLEKEY_RECORD || row->kind == SAMPLEKEY_DEFERRED)
		return;
	is_str(h.event, str_of(row->event), "  event");
	is_str(h.rest, str_of(row->rest), "  rest");
	ok(h.pid == row->pid, "  pid");
	ok(h.tid == row->tid, "  tid");
	ok(h.cpu == row->cpu, "  cpu");
	is_u64(h.period, row->period, "  period");
	is_str(h.time, str_of(row->time), "  time");
}

int main(void)
{
	struct sample_key h;
	uint64_t ns;

	for (size_t i = 0; i < countof(rows); i++)
		check(&rows[i]);
	samplekey_parse(STR("x  1 [000] 1.000000: PERF_RECORD_LOST lost 12"), &h);
	is_u64(h.lost, 12, "lost records");
	samplekey_parse(STR("x\t12 [000] 7.10901:\t\t1 task-clock:u:"), &h);
	ok(samplekey_ns(&h, &ns) && ns == 7010901000u, "simpleperf's microseconds have no leading zeros");
	samplekey_parse(STR("worker 3 [001] "), &h);
	ok(str_eq(h.comm, STR("worker 3")) && h.tid == -1 && h.cpu == 1,
	   "a cpu without time: the number ends the comm");
	samplekey_parse(STR("app 12 [001] 5.123456: 1 cycles:"), &h);
	ok(str_eq(h.comm, STR("app")) && h.tid == 12, "a cpu and a time: the number is the tid");
	ok(samplekey_time(STR("1.5"), &ns) && ns == 1500000000u, "decimals are parts of a second");
	ok(!samplekey_time(STR("1.5x"), &ns), "letters are no time");
	ok(!samplekey_time(STR("99999999999999999999.0"), &ns), "a time that does not fit");
	is_str(samplekey_event_key(STR("cpu_atom/cycles/P")), STR("cycles/P"), "hybrid events are one");
	is_str(samplekey_event_key(STR("cycles:u")), STR("cycles:u"), "others are what they are");
	return done();
}
