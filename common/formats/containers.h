/* SPDX-License-Identifier: Apache-2.0 */
/*
 * containers.h - finds the container and the pod of a cgroup by the form of its path.
 *
 * In paths of Docker, containerd, CRI-O and podman, the container id is a run of 64 hexadecimal digits; of several ids,
 * the innermost is used. Kubernetes writes "pod" and a UID into the path, LXC and systemd-nspawn a name. The names of
 * pods come from the symbolic links in /var/log/containers, POD_NAMESPACE_CONTAINER-ID.log.
 */
#ifndef PJ_CONTAINERS_H
#define PJ_CONTAINERS_H

#include "common/intern.h"
#include "common/text.h"

enum containers_by { BY_NONE, BY_CGROUP, BY_CONTAINER, BY_POD };

/* Names of pods, by id of the container and by UID of the pod. */
struct containers {
	struct intern keys; /* ids of containers and UIDs of pods */
	/* Name of the pod, "NAMESPACE/POD", by id in keys. */
	struct str *name;
	size_t cap;
	struct arena text;
};

/* Reads the names of pods from the symbolic links in a folder such as /var/log/containers. Reads none if the folder
 * cannot be opened. */
void containers_read(struct containers *containers, const char *folder);

/* Appends the frame for the cgroup with this path to out. `by` selects the text of the frame. BY_CGROUP: the path.
 * BY_CONTAINER: the first 12 digits of the container id, else the name of the container, else the last component of the
 * path, else "[host]". BY_POD: the name of the pod, else its UID, else the first 12 digits of the id of a podman pod,
 * else "[host]". For an empty path the frame is "[unknown]". "@user-N" is appended to the name of a container or pod
 * that user N could choose. */
void containers_name(const struct containers *containers, enum containers_by by, struct str path, struct text *out);

void containers_free(struct containers *containers);

/* containers_id returns the id of the innermost container (64 digits) in the path of a cgroup. containers_pod returns
 * the UID of the innermost pod (36 or 32 bytes as in path, with '-' or '_'). Both return an empty str if there is none.
 * Pure. */
struct str containers_id(struct str path);
struct str containers_pod(struct str path);

#endif
