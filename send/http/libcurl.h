/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libcurl.h - access to libcurl, which is loaded before the first request to a server.
 *
 * libcurl loads thirty libraries, which costs 7 ms and 5 MB: as much as a query of a dir: store, which does not use
 * libcurl. A static program (PJ_STATIC) has libcurl linked in. Without PJ_CURL this header declares nothing.
 *
 *	const struct libcurl *lib = libcurl_load(&why);
 *	CURL *handle = lib->easy_init();
 */
#ifndef PJ_LIBCURL_H
#define PJ_LIBCURL_H

#include "common/base.h"

#ifdef PJ_CURL

/* disables libcurl's type checks: these checks are macros that call libcurl's functions by name, but pj calls the
 * functions by pointers */
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#undef curl_easy_getinfo
#undef curl_easy_setopt

/* Names of the libcurl functions that pj uses, without their prefix curl_; `of` is a macro that is applied to each. */
#define LIBCURL_FUNCTIONS(of)                                                                                          \
	of(easy_cleanup) of(easy_getinfo) of(easy_init) of(easy_perform) of(easy_reset) of(easy_setopt)                \
		of(easy_strerror) of(free) of(global_init) of(slist_append) of(slist_free_all) of(url) of(url_cleanup) \
			of(url_get) of(url_set)

/* Pointers to libcurl's functions, each named like its function without curl_. libcurl_load sets all of them or fails:
 * it requires version 7.62 or later. */
struct libcurl {
#define LIBCURL_MEMBER(name) __typeof__(&curl_##name) name;
	LIBCURL_FUNCTIONS(LIBCURL_MEMBER)
#undef LIBCURL_MEMBER
};

/* Loads libcurl for the rest of the process's life; later calls return the same pointer. Returns NULL on failure, with
 * the reason in *why. */
const struct libcurl *libcurl_load(const char **why);

/* Returns the path of the host's file of CA certificates for a static program, whose libcurl was not built for this
 * distribution; NULL if libcurl has a path of its own, or if no file exists. */
const char *libcurl_authorities(void);

#endif
#endif
