/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spool.h - DIR, as pjsend sees it: windows in out/, folded ones in spool/, what nobody took in bad/.
 *
 *	out/E.data                     a window of pjrecord
 *	spool/E.TAG.folded.gz (.zst)   it, folded, packed: exactly what is sent. TAG: which recorder, or which stream of
 *a pipe spool/recorder                 a number that this DIR has for ever: windows of two recorders on one host are
 *two streams bad/E.TAG.folded.gz, .why      what a store refused for good; bad/E.data, .why  what could not be folded
 *
 * A file is in spool/ whole and on disk, or not at all. A window in out/ is removed before its spool file: a run that
 *is killed in between sends again, which stores with ids do not count twice; never is it folded twice, since names of
 *code may have changed. One instance sends from a DIR (flock on spool/); anybody may put something in. Functions fail
 *by value and errno.
 */
#ifndef PJ_SPOOL_H
#define PJ_SPOOL_H

#include "common/text.h"

struct spool {
	const char *name;    /* of DIR */
	int dir, space, bad; /* room: spool/ */
	_Atomic int out;     /* -1: there is none yet */
	uint64_t recorder, machine;
	uint64_t put_bytes; /* of the file that spool_put wrote last */
	bool saved;         /* what is spooled is what the store keeps, as it is: packed well */
	bool alone;         /* we hold the lock: others do not send */
};

struct spool_name {
	uint64_t epoch, tag;
};

/* Makes what is missing. Dies when DIR cannot be used. out may be missing where nothing was recorded yet: spool_chunks
 * looks again. The name is kept. */
void spool_open(struct spool *spool, const char *dir);
bool spool_lock(struct spool *spool);  /* false: another pjsend sends from here */
void spool_sweep(struct spool *spool); /* what killed runs left half made; only when alone */
void spool_close(struct spool *spool);

/* Sorted by name; freed with free. */
bool spool_windows(const struct spool *spool, struct spool_name **names, size_t *n);
bool spool_chunks(struct spool *spool, uint64_t **epochs, size_t *n);
bool spool_has(const struct spool *spool, struct spool_name name);

/* Sorts windows in the order in which their recordings were completed. Names are wall-clock seconds: after a clock was
 * set back the newest have the lowest. pjrecord keeps the order in the recordings' times of modification, which
 * spool_put copies. */
void spool_oldest_first(const struct spool *spool, struct spool_name *names, size_t n);

bool spool_put(struct spool *spool, struct spool_name name, struct str text);
/* The text, and the file's own bytes (packed), which may be NULL. EBADMSG: it is damaged. */
bool spool_get(const struct spool *spool, struct spool_name name, struct text *text, struct text *packed);

/* The window is sent: nothing of it stays. EBUSY: somebody reads the chunk; later, please. */
bool spool_done(struct spool *spool, struct spool_name name);
bool spool_drop_chunk(const struct spool *spool, uint64_t epoch); /* the chunk only; ENOENT is good */

/* To bad/: the spooled window; the chunk; or a text of it, or a part of one, while the window itself stays. What has
 * that name there already is never lost: a part is added to it, and others take the next free name. why: one line. */
bool spool_refuse(struct spool *spool, struct spool_name name, struct str why);
bool spool_refuse_chunk(struct spool *spool, uint64_t epoch, struct str why);
bool spool_refuse_part(struct spool *spool, struct spool_name name, struct str text, struct str why);

/* A shared lock for who reads: pjrecord's limits leave it alone. -1: errno; EBUSY: being removed. */
int spool_chunk_open(const struct spool *spool, uint64_t epoch);

/* Room: bytes in spool/ and of windows in bad/; of one in spool/; the share of the file system that is free. */
uint64_t spool_bytes(const struct spool *spool, uint64_t *bad);
uint64_t spool_window_bytes(const struct spool *spool, struct spool_name name);
double spool_free(const struct spool *spool);
bool spool_drop_bad(const struct spool *spool,
		    uint64_t *bytes); /* the oldest window in bad/, which took so many; false: none */

#endif
