/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pylayout.h - offsets in the structures of CPython: by version, or from the table that the build holds.
 *
 * Since 3.13 a build describes itself: _PyRuntime starts with _Py_DebugOffsets, whose words have no names, and whose
 * order each version extends. Before, the offsets are in a table here; they come from the headers of each version
 * (offsetof, x86-64), and pycheck.h proves them before their first use. Fields of code objects come from
 * PyCode_Type.tp_members where the build has them there.
 */
#ifndef PJ_PYLAYOUT_H
#define PJ_PYLAYOUT_H

#include "runtimes/cpython/cpython.h"

#define PYLAYOUT_OLDEST 8u
#define PYLAYOUT_NEWEST 15u
#define PYLAYOUT_DEBUG_OFFSETS 13u /* the first version with _Py_DebugOffsets */
#define PYLAYOUT_DEBUG_BYTES 1024u /* bytes of _PyRuntime that hold the table in all known versions */

/* Offsets that all known versions of CPython for 64-bit processors share. */
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

/* Sets *layout to the layout of a version before 3.13. Returns false if the version is not in the table. Pure. */
bool pylayout_of_version(uint32_t minor, struct cpython_layout *layout);

/* The start of a _Py_DebugOffsets. */
struct pylayout_debug {
	uint32_t hexversion;
	bool free_threaded;
};

/* Returns true if the bytes at the start of _PyRuntime, PYLAYOUT_DEBUG_BYTES of them, are a _Py_DebugOffsets. Pure. */
bool pylayout_has_debug(const char *bytes, struct pylayout_debug *debug);

/* Sets *layout from a _Py_DebugOffsets whose words have the order of version 3.`order`. Returns false if the order is
 * unknown or the words that are the same in all builds have other values. Pure. */
bool pylayout_of_debug(const char *bytes, uint32_t order, struct cpython_layout *layout);

/* Returns cpython_frame.copied for the code object at an address. Pure. */
uint64_t pycode_copied(const struct cpython_layout *layout, struct threadcopy_view *view, uint64_t address);

/* Replaces the offsets of code objects by those of PyCode_Type.tp_members. Returns false if a name that this version
 * must have is missing there. */
bool pylayout_members(struct memory *memory, uint64_t code_type, struct cpython_layout *layout);

#endif
