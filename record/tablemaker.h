/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tablemaker.h - the process that opens the files which others mapped, and makes tables for unwinding of them.
 *
 * Files belong to whoever is profiled: their file system may never answer, and what is in them is hostile. So all of that
 * happens here, one file after the other, and what the recorder gets is an image in sealed memory. Whoever asks is not waited
 * for, and nobody waits for an answer longer than it likes.
 */
#ifndef PJ_TABLEMAKER_H
#define PJ_TABLEMAKER_H

#include "base.h"

#define TABLEMAKER_PATH 4096

/* A file that process `pid` mapped, as the kernel told it. */
struct tablemaker_request {
	uint32_t number, pid;
	uint64_t start_ticks, mount_ns; /* 0: not known */
	uint64_t address;               /* of the mapping */
	uint32_t major, minor;
	uint64_t inode, generation;
	uint32_t npath;
	char path[TABLEMAKER_PATH];
};

enum tablemaker_answer {
	TABLEMAKER_MADE,  /* with a descriptor of the image */
	TABLEMAKER_NONE,  /* it has no tables, or is no ELF file */
	TABLEMAKER_LARGE, /* beyond the limit */
	TABLEMAKER_GONE   /* neither the process nor the file can be had, or not allowed */
};

struct tablemaker_reply {
	uint32_t number, answer;
};

/* Answers requests from the socket (SOCK_SEQPACKET) until its other end is closed. proc: /proc. */
void tablemaker_run(int socket, const char *proc);

#endif
