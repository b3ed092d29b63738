/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libcurl.h - access to libcurl, loaded before the first request to a server.
 *
 * libcurl loads thirty libraries, which costs 7 ms and 5 MB: as much as a query of a store in a directory, which needs
 * none of them. A static program (PJ_STATIC) has it linked. Without PJ_CURL this header declares nothing.
 *
 *	const struct libcurl *lib = libcurl_load(&why);
 *	CURL *handle = lib->easy_init();
 */
#ifndef PJ_LIBCURL_H
#define PJ_LIBCURL_H

#include "common/base.h"

#ifdef PJ_CURL

/* libcurl's type checks are macros that call its functions by name, which are not linked */
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#undef curl_easy_getinfo
#undef curl_easy_setopt

/* The functions of libcurl that pj uses, without their prefix curl_. */
#define LIBCURL_FUNCTIONS(of)                                                                                          \
	of(easy_cleanup) of(easy_getinfo) of(easy_init) of(easy_perform) of(easy_reset) of(easy_setopt)                \
		of(easy_strerror) of(free) of(global_init) of(slist_append) of(slist_free_all) of(url) of(url_cleanup) \
			of(url_get) of(url_set)

/* Pointers to these functions of libcurl, each named as its function without curl_. libcurl_load fails if one is
 * missing: version 7.62 or later is required. */
struct libcurl {
#define LIBCURL_MEMBER(name) __typeof__(&curl_##name) name;
	LIBCURL_FUNCTIONS(LIBCURL_MEMBER)
#undef LIBCURL_MEMBER
};

/* Loads libcurl for the rest of the process's life; later calls return the same pointer. Returns NULL, and in *why
 * the missing library or function. */
const struct libcurl *libcurl_load(const char **why);

/* Returns the file of the certificate authorities that this host trusts, or NULL if libcurl knows it by itself: a
 * libcurl in a static program was not built for this distribution. */
const char *libcurl_authorities(void);

#endif
#endif
