/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symconflicts.h - finds files in the symbol store with the build-id of another file but other symbols.
 *
 * A build-id is a claim of the file. pjfold uses a file of a tenant only for the code of this tenant
 * (record/symsaver/savernames.h), so a conflict changes no names of other tenants. But it means that one of the two
 * files is forged, or that a tool made two builds with one build-id.
 */
#ifndef PJ_SYMCONFLICTS_H
#define PJ_SYMCONFLICTS_H

#include "fold/symbols/symstore.h"
#include "common/process/tenants.h"

/* The conflicts of one tenant. */
struct symconflicts {
	struct tenant tenant;
	/* number of the tenant's files that have the build-id of another file, but other symbols */
	uint64_t files;
	char first[2 * BUILD_ID_MAX + 1]; /* lowest build-id of the files that `files` counts, in hexadecimal */
};

/* Compares the files of the window's tenants (of the first 256) with the files of root on the host and of the shared
 * folder. Calls f for each tenant that has files with the build-id of another file but other symbols. */
void symconflicts_each(const struct symstore *symstore, void (*f)(void *arg, const struct symconflicts *symconflicts),
		       void *arg);

#endif
