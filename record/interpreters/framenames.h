/* SPDX-License-Identifier: Apache-2.0 */
/*
 * framenames.h - names, files and lines of the interpreted frames on the stacks of a window.
 *
 * A frame is identified by the address of its instruction. The stack walker notes each one with its name, which was
 * read at the sample, and gets the address to write into the callchain. An interpreter reuses the memory of code that
 * it has freed: if an address has had another function or line before in the window, the frame gets an address of its
 * own, outside of all memory of processes (PJ_FUNCTIONS_MORE), so that each keeps its name; a frame without a name must
 * not get that of another one at its address, either. After FRAMENAMES_TURNS functions and lines at one address,
 * further ones have no name. The table is emptied with each window. Its size is bounded, and one tenant takes at most
 * half of it; further frames are counted, and have no name.
 */
#ifndef PJ_FRAMENAMES_H
#define PJ_FRAMENAMES_H

#include "common/process/tenants.h"
#include "common/text.h"

#define FRAMENAMES_MAX 65536u       /* maximum number of rows in a window */
#define FRAMENAMES_TURNS 16u        /* maximum number of functions and lines at one address in a window */
#define FRAMENAMES_BYTES (8u << 20) /* maximum bytes of the distinct names and files of a window */

struct framenames;

struct framenames *framenames_new(void);
/* Accepts NULL. */
void framenames_free(struct framenames *framenames);

/* One interpreted frame. */
struct framenames_frame {
	uint64_t address;  /* of the instruction */
	uint32_t language; /* enum pj_language */
	uint32_t line;     /* 0: unknown */
	/* The name and the file, each of which ends before a NUL. Empty: no name was proven. */
	struct str text;
};

/* Records a frame of process pid, which belongs to `tenant`. Returns the address to write into the callchain; for a
 * frame without a name, or without space for it, PJ_FUNCTIONS_UNNAMED. */
uint64_t framenames_note(struct framenames *framenames, uint32_t pid, struct tenant tenant,
			 const struct framenames_frame *frame);

/* Appends the items of the window (PJ_ITEM_FUNCTIONS) to text, and empties the table. */
void framenames_end(struct framenames *framenames, struct text *text);

#endif
