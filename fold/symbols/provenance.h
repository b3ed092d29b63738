/* SPDX-License-Identifier: Apache-2.0 */
/*
 * provenance.h - decides whether a recording was made on this machine and during this boot.
 *
 * Decided once for each recording. It determines which files of this machine may name its code, and whether a living
 * process is the sampled one.
 */
#ifndef PJ_PROVENANCE_H
#define PJ_PROVENANCE_H

#include "fold/perfdata/perfdata.h"

#include <sys/types.h>

struct provenance {
	bool reported; /* the recording has host name and kernel release; recordings of killed recorders mostly lack
			  them */
	bool host;     /* made on this machine, by host name and kernel release */
	bool boot;     /* made during this boot of this machine: processes and their files in /tmp may be used */
	/* wall clock in ns at the last record, 0 if unknown: files that were changed later may be others */
	uint64_t until;
	uint64_t first_ns;               /* time of the first record, in ns of the record clock */
	struct str release;              /* release of the recorded kernel; valid as long as the recording */
	const struct recorder *recorder; /* identifies processes by their start times in recordings of pjrecord */
};

/* Returns the provenance of an open recording. first_ns, last_ns: times of its first and last record; 0: unknown. */
struct provenance provenance_of(const struct perfdata_info *info, const struct in *input, uint64_t first_ns,
				uint64_t last_ns);

/* Returns pid if that process lives and is the one that was sampled, or mapped a file, at time ns (0: at the start of
 * the recording); otherwise 0. */
pid_t provenance_process(const struct provenance *provenance, uint32_t pid, uint64_t ns);

#endif
