/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbolized.h - reads the names that a portable recording brings along: the section FEATURE_PJ_NAMES of pjpack.
 *
 * The section (pjsection.h has its layout) is hostile input. symbolized_read decompresses it into limited memory and
 * validates all of it; if one byte is invalid, no name of it is used. Lookups then only read, so threads may share the
 * object, except for the functions of code and of stacks, which belong to pass 1.
 *
 * A DSO has a key, a text that is the same on any machine: its kind, then what identifies it in a recording. The
 * functions symbolized_key_* make it, for the writer and for lookups.
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

/* Reads a section. Sets *symbolized to the result, which the caller frees. Returns NULL, or a static text with the
 * error; then *symbolized is NULL. */
const char *symbolized_read(struct symbolized **symbolized, struct str section);
/* Frees the names and all that symbolized_code returned; accepts NULL. */
void symbolized_free(struct symbolized *symbolized);

/* Returns true if the section has the calls that are inlined at each address (pjpack --inline). */
bool symbolized_has_inlined(const struct symbolized *symbolized);
/* Returns the number of DSOs, and of processes with code by time. */
size_t symbolized_count(const struct symbolized *symbolized);
/* Returns the number of DSOs and entries of code that pjpack left out because of a limit. */
uint64_t symbolized_left_out(const struct symbolized *symbolized);

/* ---- DSOs ---- */

/* Append the key of a DSO. File: of a process of this tenant (its folder in the symbol store), with its build-id, or,
 * if it has none, its file id. Process: JIT code. Image: the kernel or the vDSO, by its name. */
void symbolized_key_file(struct text *key, struct str tenant, const struct build_id *id, const struct file_id *numbers,
			 struct str path);
void symbolized_key_process(struct text *key, uint32_t pid);
void symbolized_key_image(struct text *key, struct str name);

/* The addresses of a DSO that symbolized_row has not returned yet. */
struct symbolized_rows {
	struct str rest;
	uint64_t left, address;
	unsigned why; /* number that the writer gave: the reason for addresses without a name */
};

/* An address with its name, module and inlined calls, which are empty if there are none. Texts are valid as long as
 * the section. */
struct symbolized_row {
	uint64_t address;
	struct str name, module, inlined;
};

/* Sets *rows to the addresses of the DSO with this key, in ascending order. Returns false if there is no such DSO. */
bool symbolized_find(const struct symbolized *symbolized, struct str key, struct symbolized_rows *rows);
/* Takes the next address out of *rows. Returns false if there is none. */
bool symbolized_row(const struct symbolized *symbolized, struct symbolized_rows *rows, struct symbolized_row *row);

/* ---- code of jitdumps and timelines, by time ---- */

/* The section has no code of a process; code that completes the code in the window; code of a jitdump, which replaces
 * it. */
enum symbolized_has { SYMBOLIZED_NONE, SYMBOLIZED_MORE, SYMBOLIZED_ALL };
enum symbolized_has symbolized_has_code(const struct symbolized *symbolized, uint32_t pid);

/* Returns the code at an address of a process at a time in ns; NULL if the section has none. The result is valid until
 * symbolized_free. */
const struct jit_code *symbolized_code(struct symbolized *symbolized, uint32_t pid, uint64_t address, uint64_t time);

/* ---- stacks of samples with a stack copy ---- */

/* A frame that the stack walk found. exact: the address is no return address. method: it is a Method* of HotSpot. */
struct symbolized_frame {
	uint64_t address;
	bool exact, method;
};

/* Begins the stack of the next sample with a stack copy: sets the number of its frames, and the way in which its walk
 * ended (a number of the writer). The caller then takes that many frames, or none. Returns false if there is none. */
bool symbolized_stack(struct symbolized *symbolized, uint64_t *n, unsigned *end);
struct symbolized_frame symbolized_frame(struct symbolized *symbolized);

#endif
