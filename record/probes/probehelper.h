/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probehelper.h - runs a search for the file or function of a uprobe in a helper process with a time limit.
 *
 * The helper reads /proc and files of others, which may block it for ever, and parses hostile bytes.
 */
#ifndef PJ_PROBEHELPER_H
#define PJ_PROBEHELPER_H

#include "common/base.h"

#include <signal.h>
#include <sys/types.h>

enum {
	PROBEHELPER_WAIT_S = 20, /* usual maximum time to wait for the helper process, in s */
	PROBEHELPER_FILE = 4     /* in the helper process: the descriptor `file` of struct probehelper_work */
};

enum probehelper_answer {
	PROBEHELPER_DONE,
	PROBEHELPER_FAILED,  /* the helper process could not be started; errno */
	PROBEHELPER_LATE,    /* the helper process did not reply in time */
	PROBEHELPER_STOPPED, /* *stop was set before the reply */
	PROBEHELPER_ENDED    /* the helper process ended, as by its limits, or its reply has another size */
};

struct probehelper_work {
	/* runs in the helper process: sends messages, each with at most one descriptor, to HELPERPROCESS_FD
	 * (fdmessage_put) */
	void (*run)(void *to);
	void *to;
	/* descriptor that the helper process has as PROBEHELPER_FILE; -1: none */
	int file;
	/* time of clock_now_ms() until which replies are awaited */
	uint64_t end;
	const volatile sig_atomic_t *stop;
};

struct probehelper {
	struct probehelper_work work;
	pid_t pid;
	int socket;
};

/* probehelper_start starts the helper process pjrecord-probe. Returns false with errno on failure. probehelper_take
 * receives the next message, which has n bytes, in `reply`, and its descriptor, or -1, in *fd. The helper has parsed
 * hostile bytes, so the reply is untrusted. probehelper_end kills the helper process. */
bool probehelper_start(struct probehelper *helper, const struct probehelper_work *work);
enum probehelper_answer probehelper_take(struct probehelper *helper, void *reply, size_t n, int *fd);
void probehelper_end(struct probehelper *helper);

/* Starts a helper process, receives one message as probehelper_take does, and ends the helper process. Returns
 * PROBEHELPER_FAILED with errno if it cannot be started. */
enum probehelper_answer probehelper_run(const struct probehelper_work *work, void *reply, size_t n, int *fd);

#endif
