/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libcurl.h - libcurl, loaded when a server is spoken to first.
 *
 * It brings thirty libraries, which cost 7 ms and 5 MB: as much as what a store in a directory is asked for, which
 * needs none of them.
 */
#ifndef PJ_LIBCURL_H
#define PJ_LIBCURL_H

#include "common/base.h"

#ifdef PJ_CURL

#define CURL_DISABLE_TYPECHECK /* its macros call functions by name */
#include <curl/curl.h>
#undef curl_easy_getinfo
#undef curl_easy_setopt

/* What is used of it. */
#define LIBCURL_FUNCTIONS(of)                                                                                          \
	of(easy_cleanup) of(easy_getinfo) of(easy_init) of(easy_perform) of(easy_reset) of(easy_setopt)                \
		of(easy_strerror) of(free) of(global_init) of(slist_append) of(slist_free_all) of(url) of(url_cleanup) \
			of(url_get) of(url_set)

struct libcurl {
#define LIBCURL_MEMBER(name) __typeof__(&curl_##name) name;
	LIBCURL_FUNCTIONS(LIBCURL_MEMBER)
#undef LIBCURL_MEMBER
};

/* For good. NULL: *why says what is missing. */
const struct libcurl *libcurl_load(const char **why);

#endif
#endif
