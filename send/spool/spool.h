/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spool.h - the files of DIR that pjsend uses: recordings in out/, folded windows in spool/, refused data in bad/.
 *
 *	out/E.data                     recording: a window of pjrecord
 *	spool/E.TAG.folded.gz (.zst)   window, folded and compressed: exactly the text that is sent
 *	spool/recorder                 constant random id of this DIR
 *	bad/E.TAG.folded.gz, .why      data that a store refused for good, and the reason
 *	bad/E.data, .why               recording that could not be folded, and the reason
 *
 * TAG is the id in spool/recorder, or a hash of the stream of a pipe: windows of two recorders on one host are two
 * streams.
 *
 * A file appears in spool/ complete and on disk, or not at all. After a window is sent, its recording in out/ is
 * removed before its spool file. If the process is killed in between, the next one sends the window again, and stores
 * with ids count it once. No window is folded twice, since names of code may have changed in between. One process sends
 * from a DIR (flock on spool/); any process may add files. Functions report failure by return value and errno.
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

/* An open DIR; spool_open and spool_close open and close its descriptors. */
struct spool {
	/* path of DIR; the caller owns the string */
	const char *name;
	/* descriptors: dir: of DIR; space: of spool/; bad: of bad/ */
	int dir, space, bad;
	/* descriptor of out/; -1: out/ does not exist yet */
	_Atomic int out;
	/* recorder: random id of this DIR, from spool/recorder; machine: hash of the machine id */
	uint64_t recorder, machine;
	/* disk space in bytes of the file that the last spool_put wrote */
	uint64_t put_bytes;
	/* true if the store keeps the spooled bytes as they are, so that spool_put compresses them at a higher level */
	bool saved;
	/* true if this process holds the lock, so that no other process sends from DIR */
	bool alone;
};

/* The name of a folded window. epoch: its start in s since 1970; tag: the recorder's id or the hash of a pipe's
 * stream. */
struct spool_name {
	uint64_t epoch, tag;
};

/* Opens DIR and creates missing directories. Exits with a message if DIR cannot be used. out/ may be missing before the
 * first recording; spool_chunks opens it later. */
void spool_open(struct spool *spool, const char *dir);
/* Locks the spool. Returns true if this process holds the lock; false if another pjsend holds it, or if locking
 * fails. */
bool spool_lock(struct spool *spool);
/* Removes temporary files of killed processes. Call it only with the lock. */
void spool_sweep(struct spool *spool);
/* Closes the descriptors of DIR, which releases the lock, too. */
void spool_close(struct spool *spool);

/* Return a sorted list and its length *n: spool_windows the names of the folded windows in spool/, spool_chunks the
 * epochs of the recordings in out/. The caller frees the list by free(). Return false on failure, with errno. */
bool spool_windows(const struct spool *spool, struct spool_name **names, size_t *n);
bool spool_chunks(struct spool *spool, uint64_t **epochs, size_t *n);
/* Returns true if spool/ contains this window. */
bool spool_has(const struct spool *spool, struct spool_name name);

/* Sorts windows by the time at which their recordings were completed. Their names are wall-clock seconds, so after a
 * clock was set back the newest windows have the lowest names. pjrecord keeps modification times of recordings in the
 * true order, and spool_put copies them. */
void spool_oldest_first(const struct spool *spool, struct spool_name *names, size_t n);

/* Writes a window to the spool, compressed; it is on disk when the function returns. Returns false on failure, with
 * errno. */
bool spool_put(struct spool *spool, struct spool_name name, struct str text);
/* Reads a window of the spool: its content into *text and, unless packed is NULL, the compressed bytes of its file into
 * *packed. Returns false on failure, with errno; EBADMSG: the file is corrupt. */
bool spool_get(const struct spool *spool, struct spool_name name, struct text *text, struct text *packed);

/* Removes a window that was sent: first its recording, then its spool file. Returns false on failure, with errno;
 * EBUSY: another process reads the recording, and the caller must retry later. */
bool spool_done(struct spool *spool, struct spool_name name);
/* Removes the recording of a window, but not its spool file. Returns true on success or if the recording is absent;
 * false with errno on failure, EBUSY if another process reads it. */
bool spool_drop_chunk(const struct spool *spool, uint64_t epoch);

/* Write data to bad/, and beside it a file with the reason, one line. spool_refuse moves a window from spool/ and
 * deletes its recording; spool_refuse_chunk moves a recording; spool_refuse_part writes a text and does not touch the
 * window. They never overwrite a file in bad/: spool_refuse_part merges the text into a file of the same name, the
 * other functions use the next free name. Return false on failure, with errno. */
bool spool_refuse(struct spool *spool, struct spool_name name, struct str why);
bool spool_refuse_chunk(struct spool *spool, uint64_t epoch, struct str why);
bool spool_refuse_part(struct spool *spool, struct spool_name name, struct str text, struct str why);

/* Opens a recording for reading, with a shared lock, so that pjrecord's retention does not delete it. Returns its
 * descriptor; -1 with errno on failure, EBUSY if another process is deleting the recording. */
int spool_chunk_open(const struct spool *spool, uint64_t epoch);

/* Returns the disk space in bytes of all windows in spool/, and sets *bad to the disk space of all windows and
 * recordings in bad/. */
uint64_t spool_bytes(const struct spool *spool, uint64_t *bad);
/* Returns the disk space in bytes of one window in spool/; 0 if it is absent. */
uint64_t spool_window_bytes(const struct spool *spool, struct spool_name name);
/* Returns the free share of DIR's file system, 0 to 1; 1 if it is unknown. */
double spool_free(const struct spool *spool);
/* Removes the window or recording with the lowest epoch in bad/ and its reason, and sets *bytes to its disk space.
 * Returns false if there is none or if it cannot be removed. */
bool spool_drop_bad(const struct spool *spool, uint64_t *bytes);

#endif
