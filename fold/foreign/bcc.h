/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bcc.h - the blocks that bcc's profile and offcputime print without -f.
 *
 *	    do_page_fault          frames, leaf first
 *	    --                     -d: between kernel and user code
 *	    main
 *	    -                cp (9036)
 *	        3                  samples of profile, microseconds of offcputime
 *
 * Times become the event offcpu-time in ns, as pjrecord --off-cpu has it; each block then is one sample.
 */
#ifndef PJ_BCC_H
#define PJ_BCC_H

#include "fold/foreign/foreignstack.h"

struct bcc {
	struct foreignstack *stack;
	bool off_cpu;     /* the weights are microseconds off the CPU */
	bool named;       /* the line with the command name has come */
	struct text comm; /* that line: "-                cp (9036)" */
};

/* stack: where samples go; it must stay. */
void bcc_begin(struct bcc *bcc, struct foreignstack *stack);

/* Takes a line. Returns false if it is not understood. */
bool bcc_line(struct bcc *bcc, struct str line);

void bcc_free(struct bcc *bcc);

#endif
