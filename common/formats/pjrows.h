/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pjrows.h - parser of the items of pjrecord's section that are lists of names (pjsection.h): a head, then rows of a
 * fixed size, each followed by the bytes of its name.
 *
 *     struct pjrows rows = { body };
 *     if (pjrows_head(&rows, &head, sizeof(head)))
 *             while (pjrows_next(&rows, &row, sizeof(row), offsetof(struct pj_method, size), &name))
 *                     ...
 *     if (rows.cut) ...
 */
#ifndef PJ_PJROWS_H
#define PJ_PJROWS_H

#include "common/str.h"

struct pjrows {
	struct str rest; /* bytes that are not parsed yet */
	bool cut;        /* the last row, or the head, is incomplete */
};

/* Copies the head of the list to *head. Returns false if it is incomplete. */
bool pjrows_head(struct pjrows *rows, void *head, size_t n);

/* Copies the next row, of n bytes, to *row, and sets *name to its name, which points into the list. size_at: offset in
 * the row of the uint32_t with the number of bytes of the name. Returns false at the end of the list, or if the row is
 * incomplete. */
bool pjrows_next(struct pjrows *rows, void *row, size_t n, size_t size_at, struct str *name);

#endif
