/* SPDX-License-Identifier: Apache-2.0 */
/*
 * containers.h - which container and which pod a cgroup is, by the shape of its path.
 *
 * Docker, containerd, CRI-O and podman have the 64 hexadecimal digits of the container in it, whatever stands around
 * them; the innermost counts. Kubernetes has "pod" and a UID. LXC and systemd-nspawn have a name. The name of a pod
 * comes from the links in /var/log/containers, POD_NAMESPACE_CONTAINER-ID.log.
 */
#ifndef PJ_CONTAINERS_H
#define PJ_CONTAINERS_H

#include "common/intern.h"
#include "common/text.h"

enum containers_by { BY_NONE, BY_CGROUP, BY_CONTAINER, BY_POD };

/* The names of pods, by container and by pod. */
struct containers {
	struct intern keys; /* the keys: ids of containers and UIDs of pods */
	/* For each id in keys, the name of its pod, "NAMESPACE/POD". */
	struct str *name;
	size_t cap;
	struct arena text;
};

/* Reads the names of pods from the links of a folder like /var/log/containers. Adds none if the folder cannot be
 * opened. */
void containers_read(struct containers *containers, const char *folder);

/* Appends the frame of the cgroup with that path to out: the path, the name of its container (else its last component),
 * or the name of its pod (else "[host]"); "[unknown]" for an empty path. "@user-N" follows a name that user N could
 * choose. */
void containers_name(const struct containers *containers, enum containers_by by, struct str path, struct text *out);

void containers_free(struct containers *containers);

/* Return the id of the innermost container (64 digits) and the UID of the innermost pod (36 or 32 bytes as in path,
 * with '-' or '_') in the path of a cgroup; empty if there is none. Pure. */
struct str containers_id(struct str path);
struct str containers_pod(struct str path);

#endif
