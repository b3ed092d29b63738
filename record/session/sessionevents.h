/* SPDX-License-Identifier: Apache-2.0 */
/* sessionevents.h - opens the events of a recording with the requested unwinding, or with the best that the host
 * allows. */
#ifndef PJ_SESSIONEVENTS_H
#define PJ_SESSIONEVENTS_H

#include "record/perf/eventattrs.h"
#include "record/perf/rings.h"
#include "record/session/session.h"

/* Makes the attributes of all events and opens the events and their rings. If the host refuses that, tries smaller
 * stack copies or none, as fallback.h decides; *fallback has the decision. Returns NULL and sets *why if all attempts
 * fail. In both cases the caller frees *attrs (eventattrs_free). */
struct sources *sessionevents_open(const struct session_options *options, struct fallback *fallback,
				   struct eventattrs *attrs, struct rings *rings, struct sources_failure *why);

#endif
