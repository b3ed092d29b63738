/* SPDX-License-Identifier: Apache-2.0 */
/*
 * framenames.h - table of the names, files and lines of all interpreted frames in the stacks of one window.
 *
 * A frame is identified by the address of its instruction. The stack walker adds each frame to the table, with the name
 * that was read at the sample, and gets the address to write into the callchain. Normally this is the frame's own
 * address. But an interpreter reuses the memory of freed code: if another function or line was at the same address
 * earlier in the window, the frame gets a new address outside of the memory of all processes (PJ_FUNCTIONS_MORE), so
 * that both keep their names. A frame without a name gets PJ_FUNCTIONS_UNNAMED, and never the name of another frame at
 * its address. After FRAMENAMES_TURNS functions and lines at one address, further ones have no name.
 *
 * The table is emptied at the end of each window. Its size is limited, and one tenant gets at most half of it; frames
 * beyond the limit are counted, and have no name.
 */
#ifndef PJ_FRAMENAMES_H
#define PJ_FRAMENAMES_H

#include "common/process/tenants.h"
#include "common/text.h"

#define FRAMENAMES_MAX 65536u       /* maximum number of frames with names in a window */
#define FRAMENAMES_TURNS 16u        /* maximum number of functions and lines at one address in a window */
#define FRAMENAMES_BYTES (8u << 20) /* maximum number of bytes of the distinct names and files in a window */

struct framenames;

struct framenames *framenames_new(void);
/* Frees the table. Accepts NULL. */
void framenames_free(struct framenames *framenames);

/* An interpreted frame, as the stack walker passes it to framenames_note. */
struct framenames_frame {
	uint64_t address;  /* address of the instruction */
	uint32_t language; /* language of the frame, an enum pj_language */
	uint32_t line;     /* line of the instruction; 0: unknown */
	/* Name and file, each followed by a NUL. Empty: the name could not be read, or could not be proven to be the
	 * frame's. */
	struct str text;
};

/* Adds a frame of process pid to the table. tenant: tenant of the process. Returns the address to write into the
 * callchain: PJ_FUNCTIONS_UNNAMED if the frame has no name, or if there is no space for its name. */
uint64_t framenames_note(struct framenames *framenames, uint32_t pid, struct tenant tenant,
			 const struct framenames_frame *frame);

/* Appends the table as PJ_ITEM_FUNCTIONS items to text, and empties it for the next window. */
void framenames_end(struct framenames *framenames, struct text *text);

#endif
