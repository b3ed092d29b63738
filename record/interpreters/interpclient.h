/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interpclient.h - the recorder's side of the helper process for interpreters (interphelper.h), for use by one thread.
 *
 * Each request waits for its reply. If the helper does not reply within INTERPCLIENT_HANG_NS, the client kills and
 * replaces it, and avoids the tenant of the process for a time (backoff.h). All processes of a tenant together use at
 * most INTERPCLIENT_CPU_NS of the helper's CPU time per second. Copies of threads off the CPU use at most
 * INTERPCLIENT_WAITS_NS of this budget, so that the rest remains for samples. The client checks all that the helper
 * returns, as a hostile process may have taken control of the helper.
 */
#ifndef PJ_INTERPCLIENT_H
#define PJ_INTERPCLIENT_H

#include "common/process/backoff.h"
#include "record/interpreters/framestore.h"
#include "record/interpreters/interpstarter.h"

#define INTERPCLIENT_HANG_NS UINT64_C(250000000)
#define INTERPCLIENT_CPU_NS UINT64_C(50000000)
#define INTERPCLIENT_WAITS_NS UINT64_C(25000000)

struct interpclient;

/* Returns a client without a helper: the first request starts it. *starter is copied; its owner must outlive the
 * client. */
struct interpclient *interpclient_new(const struct interpstarter *starter);
/* Ends the helper and frees the client. Accepts NULL. */
void interpclient_free(struct interpclient *client);

/* Returns the serial number, from 1, of the helper process that runs; 0 if none runs. A process that an earlier helper
 * opened is not open in the present one. */
uint64_t interpclient_helper(const struct interpclient *client);

enum interpclient_answer {
	INTERPCLIENT_DONE,
	INTERPCLIENT_LOST, /* the helper failed, or the process is not open in the present helper */
	INTERPCLIENT_OVER  /* the tenant is over budget, or avoided after a failure: no request was sent */
};

/* Identifies a process in requests to the helper. */
struct interpclient_process {
	uint32_t slot; /* index of the process in the helper, below INTERP_SLOTS */
	uint64_t number;
	struct tenant tenant;
};

/* Result of interpclient_open. If answer is INTERPRETER_OPEN, language, nevals, eval and plan are set; otherwise why
 * has the reason. */
struct interpclient_opened {
	enum interpreter_answer answer;
	uint32_t language, nevals;
	struct onestack_range eval[INTERPRETER_EVALS_MAX];
	struct threadplan plan;
	char why[INTERPRETER_WHY]; /* reason of a refusal, printable characters only */
};

/* Opens a process in its slot; closes the process that had the slot before. fd: descriptors of /proc/PID/mem and
 * /proc/PID/maps, which the caller closes. Sets *thread to an array of *n threads, which the caller frees. */
enum interpclient_answer interpclient_open(struct interpclient *client, const struct interpclient_process *process,
					   const int fd[INTERP_FDS], struct interpclient_opened *opened,
					   struct interpreter_thread **thread, size_t *n);

/* Reads the threads of an open process: sets *thread to an array of *n threads, which the caller frees. */
enum interpclient_answer interpclient_threads(struct interpclient *client, const struct interpclient_process *process,
					      struct interpreter_thread **thread, size_t *n);

/* Result for one copy of a process's frames. */
struct interpclient_frames {
	uint64_t process; /* number of the process in this recording (interpclient_process.number) */
	/* true: the copy has no result, because the process is not open in the helper, or the helper failed */
	bool lost;
	bool known;   /* true: the copy has frames; the helper had read the code of all of them before the sample */
	bool reuses;  /* true: a frame's code replaced other code at its address, or is likely to be replaced itself */
	bool off_cpu; /* true: the copy is of a thread that was off the CPU */
	/* frames of the copy, which the caller frees; NULL if the copy is lost, or if memory is not available */
	struct framelist *list;
};

/* The next functions find the frames in copies, several copies in one request. interpclient_add_copy adds a copy to the
 * next request, interpclient_send_copies sends the request, and interpclient_take_frames waits for the reply. Between
 * the first call and the reply, the caller may call no other function except interpclient_helper and
 * interpclient_count.
 *
 * interpclient_add_copy returns false if the request has no space, if its copies belong to another tenant, or if either
 * its copies or this copy, but not both, are of threads off the CPU. Then the caller sends the request first. The
 * client moves an urgent copy to the start of the request, so that the helper reads its names first. A tenant is
 * charged for its requests, and is avoided for a time if the helper fails at one. If interpclient_send_copies does not
 * return INTERPCLIENT_DONE, it has dropped all copies. interpclient_take_frames fills one element of `frames` for each
 * copy and returns their number; if the helper failed, all copies are lost. */
bool interpclient_add_copy(struct interpclient *client, const struct interpclient_process *process,
			   const struct threadcopy *copy, bool urgent);
enum interpclient_answer interpclient_send_copies(struct interpclient *client);
size_t interpclient_take_frames(struct interpclient *client, struct interpclient_frames frames[INTERP_COPIES]);

/* Charges `ns` of CPU time, which the calling thread spent for a process, to the tenant of the process. */
void interpclient_spend(struct interpclient *client, const struct interpclient_process *process, uint64_t ns);

/* Requests that the helper closes a process and frees its slot. Does not wait until that is done. */
void interpclient_close(struct interpclient *client, const struct interpclient_process *process);

/* Returns the counts of helper failures. `off` is 1 if the helper could not be started; it is 0 before the first
 * request. Any thread may call this function. */
struct helper_counts interpclient_count(const struct interpclient *client);

#endif
