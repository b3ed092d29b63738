/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pjrows.h - parses items of pjrecord's section that are lists of names (pjsection.h): a head, then rows of a fixed
 * size, each followed by the bytes of its name.
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
	struct str rest; /* bytes of the item that are not parsed yet */
	bool cut;        /* true if the head or the last row is incomplete */
};

/* Copies the head of the list, n bytes, to *head. Returns false if the head is incomplete; rows->cut is then true. */
bool pjrows_head(struct pjrows *rows, void *head, size_t n);

/* Copies the next row, n bytes, to *row, and sets *name to the name of the row, a part of the item. size_at: offset in
 * the row of the uint32_t with the length of the name in bytes. Returns false at the end of the list, or if the row is
 * incomplete. */
bool pjrows_next(struct pjrows *rows, void *row, size_t n, size_t size_at, struct str *name);

#endif
