/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: finds names of pods and their containers from the names of the kubelet's log files,
 * without its API and without the runtime's socket. No file is opened.
 */
#ifndef FS_COLLECT_NAMES_POD_NAMES_H
#define FS_COLLECT_NAMES_POD_NAMES_H

#include <stdbool.h>

struct pod_names {
	char namespace[64]; /* namespace of the pod; empty: `pod` and `container` are, too */
	char pod[256];
	char container[256];
	bool guessed; /* `container` is the pod's only container so far, found without its id */
};

/*
 * Reads the names below `root` of /var/log/containers/POD_NAMESPACE_CONTAINER-ID.log, and of
 * /var/log/pods/NAMESPACE_POD_UID/, which has a directory per container. `uid` has dashes, or is
 * the hash of a static pod. `uid` and `container_id` may be empty.
 */
void pod_names_find(int root, const char *uid, const char *container_id, struct pod_names *ret);

#endif
