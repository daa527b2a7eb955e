/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: finds names of pods and their containers from names of the kubelet's log files, without
 * its API and without the runtime's socket. It opens no files.
 */
#ifndef FS_COLLECT_NAMES_POD_NAMES_H
#define FS_COLLECT_NAMES_POD_NAMES_H

#include <stdbool.h>

struct pod_names {
	char namespace[64]; /* empty: not known, as are all others */
	char pod[256];
	char container[256];
	bool guessed; /* the container name is that of the pod's only container so far */
};

/*
 * Reads /var/log/containers/POD_NAMESPACE_CONTAINER-ID.log, and /var/log/pods/NAMESPACE_POD_UID/,
 * which has a directory per container, below `root`. `uid` has dashes, or is the hash of a static
 * pod. Either may be empty.
 */
void pod_names_find(int root, const char *uid, const char *container_id, struct pod_names *ret);

#endif
