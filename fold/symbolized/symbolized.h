/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbolized.h - reads the names in a packed recording: section FEATURE_PJ_NAMES, which pjpack writes.
 *
 * The section (layout: pjsection.h) is hostile input. symbolized_read decompresses it into limited memory and validates
 * all of it; if one byte is invalid, none of its names is used. Lookups of addresses do not change the object, so
 * threads may share it. The functions for code and stacks do, and only pass 1 calls them.
 *
 * A DSO has a key, a text that is the same on any machine: the kind of the DSO, then its identity in a recording. The
 * functions symbolized_key_* make keys, for the writer and for lookups.
 *
 *     why = symbolized_read(&symbolized, section);
 *     symbolized_key_file(&key, tenant, &build_id, &file_id, path);
 *     if (symbolized_find(symbolized, text_view(&key), &rows))
 *             while (symbolized_row(symbolized, &rows, &row))
 *                     ... row.address, row.name ...
 */
#ifndef PJ_SYMBOLIZED_H
#define PJ_SYMBOLIZED_H

#include "common/formats/buildid.h"
#include "common/formats/fileid.h"
#include "common/text.h"
#include "fold/jvm/jitcode.h"

struct symbolized;

/* Reads a section. Sets *symbolized to the result, which the caller frees, and returns NULL. On failure, sets
 * *symbolized to NULL and returns a static text with the reason. */
const char *symbolized_read(struct symbolized **symbolized, struct str section);
/* Frees the names, and all results of symbolized_code; accepts NULL. */
void symbolized_free(struct symbolized *symbolized);

/* Returns true if the section contains inlined calls (pjpack --inline), otherwise false. */
bool symbolized_has_inlined(const struct symbolized *symbolized);
/* Returns the number of DSOs plus the number of processes with code by time. */
size_t symbolized_count(const struct symbolized *symbolized);
/* Returns the number of results (names, addresses, code, stacks) that pjpack left out because of a limit. */
uint64_t symbolized_left_out(const struct symbolized *symbolized);

/* ---- names of addresses in DSOs ---- */

/* Appends the key of a mapped file to *key: tenant of the process (its folder in the symbol store), path, and build-id
 * or, if the build-id is unknown, the file id `numbers`. */
void symbolized_key_file(struct text *key, struct str tenant, const struct build_id *id, const struct file_id *numbers,
			 struct str path);
/* Appends the key of the JIT code of process `pid` to *key. */
void symbolized_key_process(struct text *key, uint32_t pid);
/* Appends the key of the kernel ("kernel") or of the vDSO (its pseudo-path) to *key. */
void symbolized_key_image(struct text *key, struct str name);

/* Addresses of a DSO that symbolized_row has not returned yet. left: their number. address: the last returned address.
 * rest: their bytes in the section. */
struct symbolized_rows {
	struct str rest;
	uint64_t left, address;
	unsigned why; /* reason why addresses have no name, a number that the writer chose */
};

/* An address with its name, module and inlined calls; a text is empty if the section has none. Texts are valid until
 * symbolized_free. */
struct symbolized_row {
	uint64_t address;
	struct str name, module, inlined;
};

/* Sets *rows to the addresses of the DSO with this key, in ascending order. Returns false if there is no such DSO. */
bool symbolized_find(const struct symbolized *symbolized, struct str key, struct symbolized_rows *rows);
/* Sets *row to the next address in *rows, and removes it from *rows. Returns false if *rows is empty. */
bool symbolized_row(const struct symbolized *symbolized, struct symbolized_rows *rows, struct symbolized_row *row);

/* ---- code of jitdumps and timelines, by time ---- */

/* Code that the section has for a process. SYMBOLIZED_NONE: none. SYMBOLIZED_MORE: code that adds to the code in the
 * recording's other sections. SYMBOLIZED_ALL: code of a jitdump, which replaces the code in other sections. */
enum symbolized_has { SYMBOLIZED_NONE, SYMBOLIZED_MORE, SYMBOLIZED_ALL };
enum symbolized_has symbolized_has_code(const struct symbolized *symbolized, uint32_t pid);

/* Returns the code at an address of process `pid` at a time in ns on the recording's clock; NULL if the section has
 * none. The result is valid until symbolized_free. */
const struct jit_code *symbolized_code(struct symbolized *symbolized, uint32_t pid, uint64_t address, uint64_t time);

/* ---- stacks of samples with a stack copy ---- */

/* A frame that the stack walk found. exact: the address is no return address. method: the address is a Method* of
 * HotSpot. */
struct symbolized_frame {
	uint64_t address;
	bool exact, method;
};

/* Starts reading the stack of the next sample with a stack copy. Sets *n to the number of frames of this stack, and
 * *end to the reason why its walk ended, a number that the writer chose. The caller then calls symbolized_frame n
 * times, or not at all. Returns false if there are no more stacks. */
bool symbolized_stack(struct symbolized *symbolized, uint64_t *n, unsigned *end);
struct symbolized_frame symbolized_frame(struct symbolized *symbolized);

#endif
