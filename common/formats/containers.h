/* SPDX-License-Identifier: Apache-2.0 */
/*
 * containers.h - which container and which pod a cgroup is, by the shape of its path.
 *
 * Docker, containerd, CRI-O and podman have the 64 hexadecimal digits of the container in it, whatever stands around
 * them; the innermost counts. Kubernetes has "pod" and a UID. LXC and systemd-nspawn have a name. What a pod is called
 * come from the links in /var/log/containers, POD_NAMESPACE_CONTAINER-ID.log.
 */
#ifndef PJ_CONTAINERS_H
#define PJ_CONTAINERS_H

#include "common/intern.h"
#include "common/text.h"

enum containers_by { BY_NONE, BY_CGROUP, BY_CONTAINER, BY_POD };

/* Names of pods. */
struct containers {
	struct intern keys; /* ids of containers, UIDs of pods */
	struct str *name;   /* by key: "NAMESPACE/POD" */
	size_t cap;
	struct arena text;
};

/* Reads a folder like /var/log/containers; one that is not there has no names. */
void containers_read(struct containers *containers, const char *folder);

/* Appends the frame of a cgroup to out. An empty path is an unknown cgroup. */
void containers_name(const struct containers *containers, enum containers_by by, struct str path, struct text *out);

void containers_free(struct containers *containers);

/* Pure. The parts of a path: 64 digits; 36 or 32 bytes, as written, '_' for '-' or not; empty where there is none. */
struct str containers_id(struct str path);
struct str containers_pod(struct str path);

#endif
