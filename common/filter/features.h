/* SPDX-License-Identifier: Apache-2.0 */
/*
 * features.h - prints the libraries that a tool is built with and what it cannot do without the others, for --version.
 *
 * Versions are those of the headers at build time. A library that is loaded at run time (libcurl) is called so.
 */
#ifndef PJ_FEATURES_H
#define PJ_FEATURES_H

#include "common/filter/out.h"

/* Libraries that a tool uses, for `struct tool`; each one may be left out of a build. */
enum library {
	LIBRARY_ZLIB = 1,
	LIBRARY_ZSTD = 2,
	LIBRARY_LZMA = 4,
	LIBRARY_LIBDW = 8,
	LIBRARY_CURL = 16,
	LIBRARY_JANSSON = 32
};

/* Appends a line `libraries: NAME VERSION, ...`, a line for each library of `uses` that this build lacks, with the
 * feature that is missing, and a line with the C library. `uses`: libraries of enum library, joined by |. */
void features_print(struct out *out, unsigned uses);

#endif
