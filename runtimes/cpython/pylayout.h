/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pylayout.h - finds the offsets in the structures of a CPython build: by its version, or from the table that the build
 * contains.
 *
 * Since 3.13 a build describes itself: _PyRuntime starts with _Py_DebugOffsets, a table of words without names. Their
 * order is known for each version; newer versions insert words. For earlier versions the offsets are in a table in
 * pylayout.c, from the headers of each version (offsetof, x86-64). pycheck.h proves all offsets before their first use.
 * The offsets of fields of code objects come from PyCode_Type.tp_members, if that has them.
 */
#ifndef PJ_PYLAYOUT_H
#define PJ_PYLAYOUT_H

#include "runtimes/cpython/cpython.h"

#define PYLAYOUT_OLDEST 8u
#define PYLAYOUT_NEWEST 15u
#define PYLAYOUT_DEBUG_OFFSETS 13u /* first minor version with _Py_DebugOffsets */
/* number of bytes at the start of _PyRuntime that contain the table in all known versions */
#define PYLAYOUT_DEBUG_BYTES 1024u

/* Offsets that are the same in all supported versions for 64-bit processors. */
#define PYOBJECT_TYPE 8u
#define PYVAR_SIZE 16u
#define PYBYTES_DATA 32u
#define PYSTRING_LENGTH 16u
#define PYSTRING_STATE 32u
#define PYTYPE_NAME 24u
#define PYTYPE_MEMBERS 240u

/* Returns the word at an offset in a copied structure. */
static inline uint64_t pylayout_word(const char *bytes, uint32_t at)
{
	uint64_t value;

	memcpy(&value, bytes + at, sizeof(value));
	return value;
}

/* Sets *layout to the layout of version 3.`minor`, before 3.13. Returns false if the version is not in the table.
 * Pure. */
bool pylayout_of_version(uint32_t minor, struct cpython_layout *layout);

/* Fields at the start of a _Py_DebugOffsets. */
struct pylayout_debug {
	uint32_t hexversion;
	bool free_threaded;
};

/* Returns true if PYLAYOUT_DEBUG_BYTES bytes from the start of _PyRuntime contain a _Py_DebugOffsets, and sets *debug
 * to its first fields; otherwise returns false. Pure. */
bool pylayout_has_debug(const char *bytes, struct pylayout_debug *debug);

/* Sets *layout from a _Py_DebugOffsets whose words have the order of version 3.`order`. Returns false if the order is
 * unknown, or if a word with a known value has another value. Pure. */
bool pylayout_of_debug(const char *bytes, uint32_t order, struct cpython_layout *layout);

/* Returns the hash for cpython_frame.copied: of the code object at an address, from the copy; 0 if the copy does not
 * contain its fields. Pure. */
uint64_t pycode_copied(const struct cpython_layout *layout, struct threadcopy_view *view, uint64_t address);

/* Replaces the offsets of code objects by those in PyCode_Type.tp_members. Returns false if tp_members lacks a field
 * that this version must have. */
bool pylayout_members(struct memory *memory, uint64_t code_type, struct cpython_layout *layout);

#endif
