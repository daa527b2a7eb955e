/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: finds the names of pods and containers in the file names of the kubelet's logs. No file
 * is opened, and no API of the kubelet or the container runtime is used.
 */
#ifndef FS_COLLECT_NAMES_POD_NAMES_H
#define FS_COLLECT_NAMES_POD_NAMES_H

#include <stdbool.h>

struct pod_names {
	char namespace[64]; /* namespace of the pod; "": `pod` and `container` are "", too */
	char pod[256];
	char container[256];
	char family[256]; /* family of the definition of an ECS task, which has no pod; "": none */
	bool guessed; /* `container` was found without id: it is the pod's only one so far */
};

/*
 * Finds the names of a pod and its container in file names below `root`. The names of files are
 * /var/log/containers/POD_NAMESPACE_CONTAINER-ID.log, and those of directories are
 * /var/log/pods/NAMESPACE_POD_UID/CONTAINER. `uid` has dashes, or is the hash of a static pod.
 * `uid` and `container_id` may be empty.
 */
void pod_names_find(int root, const char *uid, const char *container_id, struct pod_names *ret);

#endif
