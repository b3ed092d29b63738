/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/foreign/foreignreader.h"

void foreignreader_begin(struct foreignreader *reader, enum foreign_kind kind, struct samples *samples, uint64_t block)
{
	struct foreignstack *stack = &reader->stack;

	*reader = (struct foreignreader){ .kind = kind, .block = block, .preferred = samples->preferred };
	stack->samples = samples;
	switch (kind) {
	case FOREIGN_BCC: bcc_begin(&reader->bcc, stack); break;
	case FOREIGN_BPFTRACE: bpftrace_begin(&reader->bpftrace, stack, false); break;
	case FOREIGN_BPFTRACE_JSON: bpftrace_begin(&reader->bpftrace, stack, true); break;
	case FOREIGN_JFR: jfrprint_begin(&reader->jfr, stack, false); break;
	case FOREIGN_JFR_JSON: jfrprint_begin(&reader->jfr, stack, true); break;
	case FOREIGN_SIMPLEPERF: simpleperf_begin(&reader->simpleperf, stack); break;
	case FOREIGN_THREADS: threaddump_begin(&reader->threads, stack); break;
	case FOREIGN_NONE:
	case FOREIGN_OTHER: break;
	}
	/* The event that comes first in the input is random. If the user selects none, prefer the event that shows CPU
	 * time. */
	if (kind == FOREIGN_THREADS)
		samples->preferred = STR("RUNNABLE");
	else if (kind == FOREIGN_JFR || kind == FOREIGN_JFR_JSON)
		samples->preferred = STR("jdk.ExecutionSample");
}

void foreignreader_line(struct foreignreader *reader, struct str line, uint64_t number)
{
	bool understood = true;

	if (line.n && line.p[line.n - 1] == '\r')
		line.n--;
	switch (reader->kind) {
	case FOREIGN_BCC: understood = bcc_line(&reader->bcc, line); break;
	case FOREIGN_BPFTRACE:
	case FOREIGN_BPFTRACE_JSON: understood = bpftrace_line(&reader->bpftrace, line); break;
	case FOREIGN_JFR:
	case FOREIGN_JFR_JSON: understood = jfrprint_line(&reader->jfr, line); break;
	case FOREIGN_SIMPLEPERF: simpleperf_line(&reader->simpleperf, line); break;
	case FOREIGN_THREADS: threaddump_line(&reader->threads, line); break;
	case FOREIGN_NONE:
	case FOREIGN_OTHER: break;
	}
	if (!understood)
		samples_skip(reader->stack.samples, line, reader->block, number);
}

uint64_t foreignreader_end(struct foreignreader *reader)
{
	uint64_t cut = 0;

	switch (reader->kind) {
	case FOREIGN_BCC: bcc_free(&reader->bcc); break;
	case FOREIGN_BPFTRACE:
	case FOREIGN_BPFTRACE_JSON: bpftrace_free(&reader->bpftrace); break;
	case FOREIGN_JFR:
	case FOREIGN_JFR_JSON:
		cut = reader->jfr.truncated;
		jfrprint_free(&reader->jfr);
		break;
	case FOREIGN_SIMPLEPERF:
		simpleperf_end(&reader->simpleperf);
		simpleperf_free(&reader->simpleperf);
		break;
	case FOREIGN_THREADS:
		threaddump_end(&reader->threads);
		threaddump_free(&reader->threads);
		break;
	case FOREIGN_NONE:
	case FOREIGN_OTHER: break;
	}
	reader->stack.samples->preferred = reader->preferred;
	foreignstack_free(&reader->stack);
	return cut;
}
