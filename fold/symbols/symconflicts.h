/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symconflicts.h - finds files that pjrecord kept whose build-id another kept file has, too, with other symbols.
 *
 * A build-id is what a file claims. Such a file names code of its own tenant only (record/symsaver/savernames.h), so a
 * conflict changes no name of others; but one of the two is forged, or a tool made two builds with one id.
 */
#ifndef PJ_SYMCONFLICTS_H
#define PJ_SYMCONFLICTS_H

#include "fold/symbols/symstore.h"
#include "common/process/tenants.h"

struct symconflicts {
	struct tenant tenant;
	uint64_t files;
	char first[2 * BUILD_ID_MAX + 1]; /* the lowest build-id, hexadecimal */
};

/* Calls f for each tenant of the window of which such files are kept. */
void symconflicts_each(const struct symstore *symstore, void (*f)(void *arg, const struct symconflicts *symconflicts),
		       void *arg);

#endif
