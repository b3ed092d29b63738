/* SPDX-License-Identifier: Apache-2.0 */
/*
 * features.h - prints for --version the libraries that a build has, and the features that it lacks because other
 * libraries are missing.
 *
 * Versions are those of the headers at build time. A library that is loaded at run time (libcurl) is marked as loaded.
 */
#ifndef PJ_FEATURES_H
#define PJ_FEATURES_H

#include "common/filter/out.h"

/* Libraries that a tool may use, as bits of struct tool.libraries. A build may lack any of them. */
enum library {
	LIBRARY_ZLIB = 1,
	LIBRARY_ZSTD = 2,
	LIBRARY_LZMA = 4,
	LIBRARY_LIBDW = 8,
	LIBRARY_CURL = 16,
	LIBRARY_JANSSON = 32
};

/* Appends a line `libraries: NAME VERSION, ...`; a line for each library of `uses` that this build lacks, with the
 * missing feature; and a line with the C library. `uses` has the bits of enum library. */
void features_print(struct out *out, unsigned uses);

#endif
