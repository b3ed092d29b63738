/* SPDX-License-Identifier: Apache-2.0 */
#include "common/formats/containers.h"

#include "common/arena.h"
#include "common/filter/broker.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define ID 64          /* number of hexadecimal digits of a container id */
#define SHORT 12       /* number of digits of a container id in a frame */
#define UID 36         /* length of the UID of a pod in bytes, with separators */
#define MAXIMUM 100000 /* limit for the links that containers_read reads from a folder; further links are ignored */

/* ---- container ids and pods in paths ----------------------------------------------------------------------------- */

/* Returns true if a run of exactly n hexadecimal digits starts at byte i of string. */
static bool containers_digits_at(struct str string, size_t i, size_t n)
{
	for (size_t index = 0; index < n; index++)
		if (i + index >= string.n || !byte_is_hex(string.p[i + index]))
			return false;
	return i + n == string.n || !byte_is_hex(string.p[i + n]);
}

struct str containers_id(struct str path)
{
	struct str id = { 0 };

	for (size_t i = 0; i + ID <= path.n;) {
		size_t n = 0;

		while (i + n < path.n && byte_is_hex(path.p[i + n]))
			n++;
		if (n == ID)
			id = str_head(str_from(path, i), ID);
		i += n + 1;
	}
	return id;
}

/* Returns the length of the UID of a pod at byte i of string, 0 if there is none. A UID has 8-4-4-4-12 hexadecimal
 * digits; systemd writes '_' for '-'. The UID of a static pod has 32 digits without separators. */
static size_t uid_at(struct str string, size_t i)
{
	static const size_t part[] = { 8, 4, 4, 4, 12 };
	size_t at = i;

	if (containers_digits_at(string, i, 32))
		return 32;
	for (size_t index = 0; index < countof(part); index++) {
		if (!containers_digits_at(string, at, part[index]))
			return 0;
		at += part[index];
		if (index + 1 < countof(part) && (at >= string.n || (string.p[at] != '-' && string.p[at] != '_')))
			return 0;
		at += index + 1 < countof(part);
	}
	return UID;
}

struct str containers_pod(struct str path)
{
	struct str pod = { 0 };

	for (size_t i = 0; i + 3 < path.n; i++) {
		size_t n = str_starts(str_from(path, i), STR("pod")) ? uid_at(path, i + 3) : 0;

		if (n)
			pod = str_head(str_from(path, i + 3), n);
	}
	return pod;
}

/* Returns the id of a podman pod, the digits in "machine-libpod_pod_DIGITS.slice"; empty if path contains none. */
static struct str podman_pod(struct str path)
{
	ptrdiff_t at = str_find_str(path, STR("libpod_pod_"));

	return at >= 0 && containers_digits_at(path, (size_t)at + 11, ID) ?
		       str_head(str_from(path, (size_t)at + 11), ID) :
		       (struct str){ 0 };
}

static struct str last_component(struct str path)
{
	while (path.n && path.p[path.n - 1] == '/')
		path.n--;
	return str_from(path, (size_t)(str_rfind(path, '/') + 1));
}

/* Returns NAME in "/lxc/NAME/...", "/lxc.payload.NAME/..." or "/machine.slice/machine-NAME.scope/..."; empty for other
 * paths. */
static struct str named_container(struct str path)
{
	struct str rest = path, lxc = STR("lxc.payload."), machine = STR("machine-");

	while (rest.n) {
		struct str part = str_cut(&rest, '/');

		if (str_starts(part, lxc))
			return str_from(part, lxc.n);
		if (str_eq(part, STR("lxc")) && rest.n)
			return str_cut(&rest, '/');
		if (str_starts(part, machine) && str_ends(part, STR(".scope")))
			return str_head(str_from(part, machine.n), part.n - machine.n - 6);
	}
	return (struct str){ 0 };
}

/* ---- names of pods ------------------------------------------------------------------------------------------ */

/* Returns uid in the form of Kubernetes, with '-' in place of '_', for lookups. key is the buffer of the result. */
static struct str uid_key(struct str uid, char key[UID])
{
	for (size_t i = 0; i < uid.n; i++)
		key[i] = uid.p[i] == '_' ? '-' : uid.p[i];
	return (struct str){ key, uid.n };
}

static void containers_add_name(struct containers *containers, struct str key, struct str pod, struct str namespace)
{
	uint32_t id = intern(&containers->keys, key);
	struct text text = { 0 };

	if (id >= containers->cap) {
		size_t cap = 2 * (size_t)id + 64;

		containers->name = mem_grow(containers->name, sizeof(*containers->name), cap);
		memset(containers->name + containers->cap, 0, (cap - containers->cap) * sizeof(*containers->name));
		containers->cap = cap;
	}
	text_str(&text, namespace);
	text_char(&text, '/');
	text_str(&text, pod);
	containers->name[id] = arena_copy(&containers->text, text_view(&text));
	text_free(&text);
}

/* Stores the name of a pod for the id of its container, and for the UID of the pod if `target` contains it. file: name
 * of the link, "POD_NAMESPACE_CONTAINER-ID.log"; target: target of the link,
 * "/var/log/pods/NAMESPACE_POD_UID/CONTAINER/0.log". */
static void add_link(struct containers *containers, struct str file, struct str target)
{
	struct str pod, namespace, uid = { 0 };
	char key[UID];

	if (!str_ends(file, STR(".log")) || file.n < ID + 5 || !containers_digits_at(file, file.n - 4 - ID, ID) ||
	    file.p[file.n - 5 - ID] != '-')
		return;
	pod = file;
	namespace = pod;
	pod = str_cut(&namespace, '_');
	namespace = str_cut(&namespace, '_');
	if (pod.n == 0 || namespace.n == 0)
		return;
	containers_add_name(containers, str_head(str_from(file, file.n - 4 - ID), ID), pod, namespace);
	for (size_t i = 0; i < target.n && !uid.n; i++)
		if (target.p[i] == '_')
			uid = str_head(str_from(target, i + 1), uid_at(target, i + 1));
	if (uid.n)
		containers_add_name(containers, uid_key(uid, key), pod, namespace);
}

void containers_read(struct containers *containers, const char *folder)
{
	int fd = broker_open(AT_FDCWD, folder, O_DIRECTORY);
	struct text links = { 0 };
	struct str left;

	if (fd < 0)
		return;
	broker_links(fd, &links);
	close(fd);
	left = text_view(&links);
	for (int got = 0; got < MAXIMUM && left.n; got++) {
		struct str name = str_cut(&left, 0);

		add_link(containers, name, str_cut(&left, 0));
	}
	text_free(&links);
}

static struct str pod_name(const struct containers *containers, struct str key)
{
	uint32_t id = key.n ? intern_find(&containers->keys, key) : 0;

	return id ? containers->name[id] : (struct str){ 0 };
}

/* ---- names of frames --------------------------------------------------------------------------------------------- */

static void containers_put_container(struct str path, struct text *out)
{
	struct str id = containers_id(path), name = id.n ? str_head(id, SHORT) : named_container(path);

	if (!name.n)
		name = last_component(path);
	text_str(out, name.n ? name : STR("[host]"));
}

static void put_pod(const struct containers *containers, struct str path, struct text *out)
{
	struct str uid = containers_pod(path), podman = podman_pod(path),
		   name = pod_name(containers, containers_id(path));
	char key[UID];

	if (uid.n)
		uid = uid_key(uid, key);
	if (!name.n)
		name = pod_name(containers, uid);
	if (!name.n)
		name = uid.n ? uid : str_head(podman, podman.n ? SHORT : 0);
	text_str(out, name.n ? name : STR("[host]"));
}

static void containers_put_name(const struct containers *containers, enum containers_by by, struct str path,
				struct text *out)
{
	if (path.n == 0)
		text_str(out, STR("[unknown]"));
	else if (by == BY_CONTAINER)
		containers_put_container(path, out);
	else if (by == BY_POD)
		put_pod(containers, path, out);
	else
		text_str(out, path);
}

/* Returns the uid N in the path of a cgroup below user@N.service, which systemd delegated to user N; empty for other
 * paths. User N can give such cgroups any name, also the name of a container, pod or service of root. */
static struct str delegated_user(struct str path)
{
	const struct str before = STR("/user.slice/user-"), after = STR("slice/user@");
	struct str rest, user;

	if (!str_starts(path, before))
		return (struct str){ 0 };
	rest = str_from(path, before.n);
	user = str_cut(&rest, '.');
	if (!str_starts(rest, after))
		return (struct str){ 0 };
	rest = str_from(rest, after.n);
	return str_eq(str_cut(&rest, '.'), user) && str_starts(rest, STR("service/")) ? user : (struct str){ 0 };
}

void containers_name(const struct containers *containers, enum containers_by by, struct str path, struct text *out)
{
	struct str user = delegated_user(path);
	size_t start = out->n;

	containers_put_name(containers, by, path, out);
	if (by == BY_CGROUP || !user.n || str_eq(str_from(text_view(out), start), STR("[host]")))
		return;
	text_add(out, "@user-"); /* without a blank, like all frames of containers and pods */
	text_str(out, user);
}

void containers_free(struct containers *containers)
{
	intern_free(&containers->keys);
	free(containers->name);
	arena_free(&containers->text);
	*containers = (struct containers){ 0 };
}
