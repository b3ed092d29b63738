/* SPDX-License-Identifier: Apache-2.0 */
/*
 * provenance.h - was a recording made here?
 *
 * Decided once per recording; what of this machine may then be asked, and which process is still the one that was
 * sampled, follows from it.
 */
#ifndef PJ_PROVENANCE_H
#define PJ_PROVENANCE_H

#include "fold/perfdata/perfdata.h"

#include <sys/types.h>

struct provenance {
	bool reported;      /* the recording says where it was made; one whose recorder was killed mostly does not */
	bool host;          /* this machine, as far as its name and kernel tell */
	bool boot;          /* and since it was started last: processes and what they left in /tmp are those */
	uint64_t first_ns;  /* time of the first record */
	struct str release; /* of the kernel; lives as long as the recording */
	const struct recorder *recorder; /* of the recording; knows processes by their start, if it is pjrecord's */
};

/* in: the recording, still open. first, last: times of its records. */
struct provenance provenance_of(const struct perfdata_info *info, const struct in *input, uint64_t first_ns,
				uint64_t last_ns);

/* pid when it lives and is the process that was sampled or mapped something at ns (0: when the recording began), else
 * 0. */
pid_t provenance_process(const struct provenance *provenance, uint32_t pid, uint64_t ns);

#endif
