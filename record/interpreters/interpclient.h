/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interpclient.h - the recorder's end of the helper process for interpreters (interphelper.h), for one thread.
 *
 * A request waits for its reply. A helper that does not answer within INTERPCLIENT_HANG_NS is killed and replaced, and
 * the tenant of the process is avoided for a time (backoff.h). The processes of a tenant take at most
 * INTERPCLIENT_CPU_NS of a second of the helper's CPU time, and copies of threads off the CPU at most
 * INTERPCLIENT_WAITS_NS of that, so these leave the rest to samples. Everything that the helper returns is checked: a
 * process may have taken it over.
 */
#ifndef PJ_INTERPCLIENT_H
#define PJ_INTERPCLIENT_H

#include "common/process/backoff.h"
#include "record/interpreters/framestore.h"

#define INTERPCLIENT_HANG_NS UINT64_C(250000000)
#define INTERPCLIENT_CPU_NS UINT64_C(50000000)
#define INTERPCLIENT_WAITS_NS UINT64_C(25000000)

struct interpclient;

/* Starts the helper: the caller has dropped privileges. */
struct interpclient *interpclient_new(void);
/* Ends the helper. Accepts NULL. */
void interpclient_free(struct interpclient *client);

/* Returns the serial number of the helper that runs, from 1; 0 if none runs. A process is open in the helper that
 * opened it. */
uint64_t interpclient_helper(const struct interpclient *client);

enum interpclient_answer {
	INTERPCLIENT_DONE,
	INTERPCLIENT_LOST, /* the helper failed, or the process is not open in it */
	INTERPCLIENT_OVER  /* the tenant is over budget, or is avoided: nothing was sent */
};

/* A process for the helper. */
struct interpclient_process {
	uint32_t slot; /* below INTERP_SLOTS */
	uint64_t number;
	struct tenant tenant;
};

/* What INTERP_OPEN found. */
struct interpclient_opened {
	enum interpreter_answer answer;
	uint32_t language, nevals;
	struct onestack_range eval[INTERPRETER_EVALS_MAX];
	struct threadplan plan;
	char why[INTERPRETER_WHY]; /* printable */
};

/* Opens a process, replacing another one in its slot. fd: descriptors of its memory and mappings, which remain the
 * caller's. *thread: n threads, to be freed by the caller. */
enum interpclient_answer interpclient_open(struct interpclient *client, const struct interpclient_process *process,
					   const int fd[INTERP_FDS], struct interpclient_opened *opened,
					   struct interpreter_thread **thread, size_t *n);

/* Lists the threads of an open process. */
enum interpclient_answer interpclient_threads(struct interpclient *client, const struct interpclient_process *process,
					      struct interpreter_thread **thread, size_t *n);

/* Frames that were found in a copy of a process. */
struct interpclient_frames {
	uint64_t process;       /* its number */
	bool lost;              /* the process is not open in the helper */
	bool known;             /* there are frames, and the code of all of them was read before the sample */
	bool reuses;            /* code of a frame replaced other code at its address, or is likely to be replaced */
	bool off_cpu;           /* the copy is of a thread off the CPU */
	struct framelist *list; /* to be freed by the caller; NULL if it is lost, or if memory is not available */
};

/* Find the frames in copies: interpclient_add_copy puts one beside those that wait to be sent, interpclient_send_copies
 * sends them, interpclient_take_frames waits for the reply. From the first one to the reply, no other function is
 * called but interpclient_helper and interpclient_count.
 *
 * interpclient_add_copy returns false if there is no space, or if copies of another tenant wait, or this one alone is
 * of a thread off the CPU, or is not: then they are to be sent first. An urgent copy becomes the first one, in the
 * place of another: its names are read first. A tenant is charged for its requests, and avoided if the helper fails at
 * one. interpclient_send_copies drops what it cannot send. interpclient_take_frames returns the number of copies: if
 * the helper failed, all of them are lost. */
bool interpclient_add_copy(struct interpclient *client, const struct interpclient_process *process,
			   const struct threadcopy *copy, bool urgent);
enum interpclient_answer interpclient_send_copies(struct interpclient *client);
size_t interpclient_take_frames(struct interpclient *client, struct interpclient_frames frames[INTERP_COPIES]);

/* Charges CPU time of the calling thread, spent for a process, to its tenant. */
void interpclient_spend(struct interpclient *client, const struct interpclient_process *process, uint64_t ns);

/* Closes a process. */
void interpclient_close(struct interpclient *client, const struct interpclient_process *process);

/* May be called by any thread. */
struct helper_counts interpclient_count(const struct interpclient *client);

#endif
