/* SPDX-License-Identifier: Apache-2.0 */
#include "common/filter/features.h"

#include "common/base.h"

#include <zlib.h>
#ifdef PJ_ZSTD
#include <zstd.h>
#else
#define ZSTD_VERSION_STRING NULL
#endif
#if PJ_LZMA
#include <lzma.h>
#else
#define LZMA_VERSION_STRING NULL
#endif
#ifdef PJ_LIBDW
#include <elfutils/version.h>
#define LIBDW_VERSION "0." STRING_OF(_ELFUTILS_VERSION)
#else
#define LIBDW_VERSION NULL
#endif
#ifdef PJ_CURL
#include <curl/curlver.h>
#else
#define LIBCURL_VERSION NULL
#endif
#ifdef PJ_JANSSON
#include <jansson.h>
#else
#define JANSSON_VERSION NULL
#endif
#ifndef PJ_TLS
#define PJ_TLS NULL
#endif

#define STRING_OF_WORD(word) #word
#define STRING_OF(macro) STRING_OF_WORD(macro)

static const struct {
	unsigned library;
	const char *name, *version; /* name, and version of the headers; version NULL: this build lacks the library */
	const char *lacks;          /* text about the features that are missing without the library */
} libraries[] = {
	{ LIBRARY_ZLIB, "zlib", ZLIB_VERSION, "" },
	{ LIBRARY_ZSTD, "libzstd", ZSTD_VERSION_STRING, "no compressed recordings, windows are sent gzipped" },
	{ LIBRARY_LZMA, "liblzma", LZMA_VERSION_STRING, "no symbols from .gnu_debugdata" },
	{ LIBRARY_LIBDW, "libdw", LIBDW_VERSION, "no inlined functions (--inline)" },
	{ LIBRARY_CURL, "libcurl", LIBCURL_VERSION, "no stores over HTTP, no TLS: dir: and ndjson: only" },
	{ LIBRARY_JANSSON, "jansson", JANSSON_VERSION, "no stores that answer in JSON (couch:, eve:)" },
};

/* For libcurl, appends how it is linked and which TLS library it uses; for other libraries, nothing. */
static void features_put_linkage(struct out *out, unsigned library)
{
	const char *tls = PJ_TLS;

	if (library != LIBRARY_CURL)
		return;
#ifdef PJ_STATIC
	out_printf(out, " (%s)", tls ? tls : "no TLS: http: only");
#else
	(void)tls;
	out_printf(out, " (loaded when a store needs it)");
#endif
}

void features_print(struct out *out, unsigned uses)
{
	const char *before = "libraries: ";
	bool any = false;

	for (size_t i = 0; i < countof(libraries); i++) {
		if (!(uses & libraries[i].library) || !libraries[i].version)
			continue;
		out_printf(out, "%s%s %s", before, libraries[i].name, libraries[i].version);
		features_put_linkage(out, libraries[i].library);
		before = ", ";
		any = true;
	}
	if (any)
		out_printf(out, "\n");
	for (size_t i = 0; i < countof(libraries); i++)
		if ((uses & libraries[i].library) && !libraries[i].version)
			out_printf(out, "without %s: %s\n", libraries[i].name, libraries[i].lacks);
#ifdef PJ_STATIC
	before = "statically";
#else
	before = "dynamically";
#endif
#ifdef __GLIBC__
	out_printf(out, "C library: glibc %d.%d, linked %s\n", __GLIBC__, __GLIBC_MINOR__, before);
#else
	out_printf(out, "C library: linked %s\n", before);
#endif
}
