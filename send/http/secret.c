/* SPDX-License-Identifier: Apache-2.0 */
#include "send/http/secret.h"

#include "common/files/fullio.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define VARIABLE "PJ_STORE_AUTH"
#define SECRET_MAX 65536

/* value of PJ_STORE_AUTH, which was removed from the environment */
static struct text taken;

void secret_take_environment(void)
{
	char *value = getenv(VARIABLE);

	if (!value)
		return;
	taken.n = 0;
	text_add(&taken, value);
	explicit_bzero(value, strlen(value));
	unsetenv(VARIABLE);
}

/* Returns true if only this user, or the owner of the file, can read or change the file. Exception: the group may read
 * a file of another user (root), as with systemd's LoadCredential and Kubernetes' fsGroup. */
static bool is_private(const struct stat *status)
{
	return !(status->st_mode & (S_IRWXO | S_IWGRP)) && !(status->st_uid == geteuid() && status->st_mode & S_IRGRP);
}

static bool secret_read_file(const char *file, struct text *secret, struct text *why)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	struct stat status;
	bool good = false;

	if (fd < 0 || fstat(fd, &status) < 0)
		text_printf(why, "%s: %s", file, strerror(errno));
	else if (!is_private(&status))
		text_printf(why, "%s: other users can read or change it: chmod 600", file);
	else if (!fullio_read(fd, secret, SECRET_MAX))
		text_printf(why, "%s: %s", file, strerror(errno));
	else
		good = true;
	if (fd >= 0)
		close(fd);
	return good;
}

bool secret_read(const char *file, struct text *secret, struct text *why)
{
	if (file)
		return secret_read_file(file, secret, why);
	secret_take_environment();
	text_str(secret, text_view(&taken));
	return true;
}

static bool is_loopback(const char *host)
{
	struct in_addr four;
	struct in6_addr six;
	char inner[64];
	size_t n = strlen(host);

	if (strcasecmp(host, "localhost") == 0 || strcasecmp(host, "localhost.") == 0)
		return true;
	if (inet_pton(AF_INET, host, &four) == 1)
		return ntohl(four.s_addr) >> 24 == 127;
	if (n < 3 || n > sizeof(inner) || host[0] != '[' || host[n - 1] != ']')
		return false;
	memcpy(inner, host + 1, n - 2);
	inner[n - 2] = 0;
	return inet_pton(AF_INET6, inner, &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

const char *secret_forbidden(const char *scheme, const char *host, bool insecure)
{
	if (insecure || strcmp(scheme, "https") == 0 || is_loopback(host))
		return NULL;
	return "anyone on the way can read a secret sent by http: use https, or allow it by "
	       "--insecure-auth";
}
