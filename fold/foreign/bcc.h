/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bcc.h - reads the blocks of text that bcc's profile and offcputime print without -f.
 *
 *     do_page_fault          frames, leaf first
 *     --                     with -d: separates kernel from user code
 *     main
 *     -                cp (9036)
 *         3                  samples of profile, microseconds of offcputime
 *
 * A block of offcputime becomes one sample of the event offcpu-time, with the time in ns as its period, like a sample
 * of pjrecord --off-cpu. A block of profile becomes as many samples as its count.
 */
#ifndef PJ_BCC_H
#define PJ_BCC_H

#include "fold/foreign/foreignstack.h"

struct bcc {
	struct foreignstack *stack;
	bool off_cpu;     /* true if weights are off-CPU times in microseconds, false if they are numbers of samples */
	bool named;       /* true if the line with the command name has been read; the weight follows */
	struct text comm; /* line with the command name: "-                cp (9036)" */
};

/* Initializes *bcc; bcc_free() frees it. Samples are added through `stack`, which must stay valid until then. */
void bcc_begin(struct bcc *bcc, struct foreignstack *stack);

/* Reads a line. Returns false if the line is malformed. */
bool bcc_line(struct bcc *bcc, struct str line);

void bcc_free(struct bcc *bcc);

#endif
