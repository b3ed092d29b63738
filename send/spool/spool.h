/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spool.h - DIR from the view of pjsend: recordings in out/, folded windows in spool/, refused ones in bad/.
 *
 *	out/E.data                     a window of pjrecord
 *	spool/E.TAG.folded.gz (.zst)   the same, folded and compressed: exactly the text that is sent
 *	spool/recorder                 constant id of this DIR
 *	bad/E.TAG.folded.gz, .why      data that a store refused for good, and the reason
 *	bad/E.data, .why               a recording that could not be folded, and the reason
 *
 * TAG identifies the recorder, or the stream of a pipe: windows of two recorders on one host are two streams.
 *
 * A file appears in spool/ complete and on disk, or not at all. After a window is sent, its recording in out/ is
 * removed before its spool file: a run that is killed in between sends the window again, which stores with ids do not
 * count twice. No window is folded twice, since names of code may have changed in between. One process sends from a DIR
 * (flock on spool/); any process may add files. Functions fail by return value and errno.
 *
 *	spool_open(&spool, "/var/lib/pj");
 *	if (spool_lock(&spool))
 *		spool_sweep(&spool);
 *	if (spool_get(&spool, name, &text, NULL) && send(&text))
 *		spool_done(&spool, name);
 *	spool_close(&spool);
 */
#ifndef PJ_SPOOL_H
#define PJ_SPOOL_H

#include "common/text.h"

/* An open DIR. The functions below open and close its descriptors. */
struct spool {
	/* path of DIR, owned by the caller */
	const char *name;
	/* descriptors of DIR, spool/ and bad/ */
	int dir, space, bad;
	/* descriptor of out/; -1: it does not exist yet */
	_Atomic int out;
	/* recorder: random id of this DIR, from spool/recorder; machine: hash of the machine id */
	uint64_t recorder, machine;
	/* disk space in bytes of the file that spool_put wrote last */
	uint64_t put_bytes;
	/* true: the store keeps the spooled bytes unchanged, so spool_put compresses them well */
	bool saved;
	/* true: this process holds the lock and is the only sender */
	bool alone;
};

/* Name of a folded window: its start in s since 1970, and the recorder's id or the hash of a pipe's stream. */
struct spool_name {
	uint64_t epoch, tag;
};

/* Opens DIR and creates missing directories. Exits with a message if DIR cannot be used. out/ may be missing before
 * the first recording: spool_chunks then tries to open it again. */
void spool_open(struct spool *spool, const char *dir);
/* Locks the spool. Returns false if another pjsend sends from DIR, or if the lock fails. */
bool spool_lock(struct spool *spool);
/* Removes temporary files that killed processes left. Call it only with the lock. */
void spool_sweep(struct spool *spool);
/* Closes the descriptors of DIR, which releases the lock. */
void spool_close(struct spool *spool);

/* Return the names of the folded windows in spool/, or the epochs of the recordings in out/, sorted. The caller frees
 * the list with free(). Return false and errno on failure. */
bool spool_windows(const struct spool *spool, struct spool_name **names, size_t *n);
bool spool_chunks(struct spool *spool, uint64_t **epochs, size_t *n);
/* True if spool/ has this window. */
bool spool_has(const struct spool *spool, struct spool_name name);

/* Sorts windows in the order in which their recordings were completed. Names are wall-clock seconds: after a clock
 * was set back the newest windows have the lowest names. pjrecord maintains the order in the modification times of
 * the recordings, which spool_put copies. */
void spool_oldest_first(const struct spool *spool, struct spool_name *names, size_t n);

/* Writes a window to the spool, compressed; it is on disk when the function returns. */
bool spool_put(struct spool *spool, struct spool_name name, struct str text);
/* Reads a window of the spool into text and, unless packed is NULL, the compressed bytes of its file into *packed.
 * Returns false and errno on failure; EBADMSG if the file is corrupt. */
bool spool_get(const struct spool *spool, struct spool_name name, struct text *text, struct text *packed);

/* Removes a window that was sent: its recording, then its spool file. Returns false and errno on failure; EBUSY if
 * another process reads the recording: the caller retries later. */
bool spool_done(struct spool *spool, struct spool_name name);
/* Removes the recording of a window, not its spool file. An absent recording counts as success. */
bool spool_drop_chunk(const struct spool *spool, uint64_t epoch);

/* Move data to bad/ and write the reason, one line, beside it. spool_refuse moves a spooled window and deletes its
 * recording; spool_refuse_chunk moves a recording; spool_refuse_part writes a text and leaves the window in place.
 * Existing files in bad/ are never lost: a text is merged into the file of its name, and the others take the next free
 * name. */
bool spool_refuse(struct spool *spool, struct spool_name name, struct str why);
bool spool_refuse_chunk(struct spool *spool, uint64_t epoch, struct str why);
bool spool_refuse_part(struct spool *spool, struct spool_name name, struct str text, struct str why);

/* Opens a recording for reading, with a shared lock, so that pjrecord's retention does not delete it. Returns -1 and
 * errno on failure; EBUSY: another process is deleting it. */
int spool_chunk_open(const struct spool *spool, uint64_t epoch);

/* Returns the disk space in bytes of all windows in spool/, and sets *bad to that of the windows and recordings in
 * bad/. */
uint64_t spool_bytes(const struct spool *spool, uint64_t *bad);
/* Returns the disk space in bytes of one window in spool/. */
uint64_t spool_window_bytes(const struct spool *spool, struct spool_name name);
/* Returns the share of DIR's file system that is free, 0 to 1; 1 if it is unknown. */
double spool_free(const struct spool *spool);
/* Removes the oldest window or recording in bad/ and sets *bytes to its disk space. Returns false if there is none or
 * it cannot be removed. */
bool spool_drop_bad(const struct spool *spool, uint64_t *bytes);

#endif
