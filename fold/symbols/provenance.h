/* SPDX-License-Identifier: Apache-2.0 */
/*
 * provenance.h - decides whether a recording was made on this machine and during this boot.
 *
 * The decision is made once for each recording. It determines which files of this machine may name the recorded code,
 * and whether a living process is the sampled one.
 */
#ifndef PJ_PROVENANCE_H
#define PJ_PROVENANCE_H

#include "fold/perfdata/perfdata.h"

#include <sys/types.h>

struct provenance {
	/* true if the recording contains host name and kernel release; a recording whose recorder was killed mostly
	 * lacks both */
	bool reported;
	bool host; /* true if recorded on this machine, according to host name and kernel release */
	/* true if recorded during this boot of this machine: processes and their files in /tmp may be used */
	bool boot;
	/* wall-clock time in ns of the last record, 0 if unknown; a file that was changed later may not be the recorded
	 * file */
	uint64_t until;
	uint64_t first_ns;               /* time of the first record in ns on the recording's clock */
	struct str release;              /* release of the recorded kernel; valid as long as the recording */
	const struct recorder *recorder; /* pjrecord's data in the recording: start times identify processes */
};

/* Returns the provenance of an open recording. first_ns, last_ns: times of its first and last record; 0: unknown. */
struct provenance provenance_of(const struct perfdata_info *info, const struct in *input, uint64_t first_ns,
				uint64_t last_ns);

/* Returns pid if the process with this pid is alive and is the recorded process; otherwise 0. It is the recorded
 * process if its start time is that in pjrecord's list of processes; without a list, if it started before the time `ns`
 * on the recording's clock (0: before the first record). */
pid_t provenance_process(const struct provenance *provenance, uint32_t pid, uint64_t ns);

#endif
