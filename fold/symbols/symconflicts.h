/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symconflicts.h - finds files in the symbol store with the build-id of another file but other symbols.
 *
 * A build-id is a claim of the file. Such a file names code of its own tenant only (record/symsaver/savernames.h), so a
 * conflict changes no names of other tenants; but one of the two is forged, or a tool made two builds with one id.
 */
#ifndef PJ_SYMCONFLICTS_H
#define PJ_SYMCONFLICTS_H

#include "fold/symbols/symstore.h"
#include "common/process/tenants.h"

struct symconflicts {
	struct tenant tenant;
	uint64_t files;                   /* number of files of the tenant with such a conflict */
	char first[2 * BUILD_ID_MAX + 1]; /* lowest build-id of these files, in hexadecimal */
};

/* Calls f for each tenant of the window that has files with such a conflict. */
void symconflicts_each(const struct symstore *symstore, void (*f)(void *arg, const struct symconflicts *symconflicts),
		       void *arg);

#endif
