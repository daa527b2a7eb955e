/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: names of pods and their containers by the names of log files that the kubelet makes:
 * without its API, and without the runtime's socket. No file is opened.
 */
#ifndef FS_COLLECT_NAMES_POD_NAMES_H
#define FS_COLLECT_NAMES_POD_NAMES_H

#include <stdbool.h>

struct pod_names {
	char namespace[64]; /* empty: not known; so with all */
	char pod[256];
	char container[256];
	bool guessed; /* the container: it is the pod's only one so far */
};

/*
 * By /var/log/containers/POD_NAMESPACE_CONTAINER-ID.log, and by /var/log/pods/NAMESPACE_POD_UID/
 * with a directory a container. `root`: what these are below; `uid` with dashes, or the hash of a
 * static pod; either may be empty.
 */
void pod_names_find(int root, const char *uid, const char *container_id, struct pod_names *ret);

#endif
