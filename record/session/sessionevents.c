/* SPDX-License-Identifier: Apache-2.0 */
#include "record/session/sessionevents.h"

#include "record/perf/privileges.h"

#include <errno.h>

static struct eventattrs_options attrs_options(const struct session_options *options)
{
	return (struct eventattrs_options){
		.event = options->event,
		.nevents = options->nevents,
		.offcpu = options->offcpu,
		.made = options->offcpu ? 2 + options->wall : 0,
		.children = options->target == TARGET_THREADS || options->target == TARGET_COMMAND,
		.on_exec = options->target == TARGET_COMMAND,
		.both = options->both,
	};
}

static struct sources *open_sources(const struct session_options *options, const struct fallback *fallback,
				    struct eventattrs *attrs, struct rings *rings, struct sources_failure *why)
{
	struct sources *sources;
	struct sources_options so = {
		.target = options->target,
		.pid = options->pid,
		.npids = options->npids,
		.cgroup = options->cgroup,
		.ncgroups = options->ncgroups,
		.event = attrs->event,
		.nevents = options->nevents,
		.state = &attrs->event[options->nevents].attr,
		.switches = options->offcpu ? &attrs->switches : NULL,
		.ring_bytes = options->ring_bytes,
		.ring_wanted = fallback_ring(fallback),
		.ring_least = fallback_ring_least(fallback),
		.large = privileges_has(PRIV_IPC_LOCK),
		.twins = options->interpreters && !options->verify && fallback->bytes,
	};
	/* Threads inherit only the events of these two targets, so only these have twins from the start (sources.c). */
	bool inherited = options->target == TARGET_COMMAND || options->target == TARGET_THREADS;

	sources = sources_open(&so, rings, why);
	if (sources || !so.twins || !inherited || why->error != EMFILE)
		return sources;
	so.twins = false; /* without twins, the events may fit into the limit of descriptors */
	return sources_open(&so, rings, why);
}

struct sources *sessionevents_open(const struct session_options *options, struct fallback *fallback,
				   struct eventattrs *attrs, struct rings *rings, struct sources_failure *why)
{
	struct eventattrs_options ao = attrs_options(options);
	struct fallback_options fo = {
		.choose = options->both && !options->verify,
		.stack_bytes = options->stack_bytes,
		.exactly = options->exactly,
		.rate = eventattrs_copies(&ao),
		.ring_bytes = options->ring_bytes,
	};

	fallback_begin(fallback, &fo);
	for (;;) {
		struct sources *sources;

		ao.stack_bytes = fallback->bytes;
		eventattrs_make(attrs, &ao);
		sources = open_sources(options, fallback, attrs, rings, why);
		if (sources || !fallback_next(fallback, why))
			return sources;
		eventattrs_free(attrs);
	}
}
