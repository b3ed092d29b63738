/* SPDX-License-Identifier: Apache-2.0 */
#include "send/http/libcurl.h"

#ifdef PJ_CURL

#ifdef PJ_STATIC

#include <stddef.h>
#include <unistd.h>

const struct libcurl *libcurl_load(const char **why)
{
	static const struct libcurl libcurl = {
#define LIBCURL_ROW(name) .name = curl_##name,
		LIBCURL_FUNCTIONS(LIBCURL_ROW)
#undef LIBCURL_ROW
	};

	(void)why;
	return &libcurl;
}

const char *libcurl_authorities(void)
{
	static const char *const files[] = {
		"/etc/ssl/certs/ca-certificates.crt", /* Debian, Arch, Alpine */
		"/etc/pki/tls/certs/ca-bundle.crt",   /* Fedora, RHEL */
		"/etc/ssl/ca-bundle.pem",             /* SUSE */
		"/etc/ssl/cert.pem",                  /* Alpine without ca-certificates */
	};

	for (size_t i = 0; i < countof(files); i++)
		if (access(files[i], R_OK) == 0)
			return files[i];
	return NULL;
}

#else

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

const char *libcurl_authorities(void)
{
	return NULL;
}

static const struct {
	const char *name;
	size_t at;
} functions[] = {
#define LIBCURL_ROW(name) { "curl_" #name, offsetof(struct libcurl, name) },
	LIBCURL_FUNCTIONS(LIBCURL_ROW)
#undef LIBCURL_ROW
};

/* Loads libcurl from the first of its library names that exists; all have had the same interface since 2006. Returns
 * NULL if there is none. */
static void *libcurl_load_symbols(void)
{
	static const char *const names[] = { "libcurl.so.4", "libcurl-gnutls.so.4", "libcurl.so" };
	void *library = NULL;

	for (size_t i = 0; i < countof(names) && !library; i++)
		library = dlopen(names[i], RTLD_LAZY | RTLD_LOCAL);
	return library;
}

const struct libcurl *libcurl_load(const char **why)
{
	static struct libcurl libcurl;
	static bool loaded;
	void *library = loaded ? NULL : libcurl_load_symbols();

	if (loaded)
		return &libcurl;
	*why = "libcurl.so.4 cannot be loaded: install libcurl";
	if (!library)
		return NULL;
	for (size_t i = 0; i < countof(functions); i++) {
		void *function = dlsym(library, functions[i].name);

		if (!function) {
			*why = "this libcurl is too old: 7.62 or later is required";
			return NULL;
		}
		memcpy((char *)&libcurl + functions[i].at, &function, sizeof(function));
	}
	loaded = true;
	return &libcurl;
}

#endif
#endif
