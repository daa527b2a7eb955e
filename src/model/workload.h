/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* model: finds the systemd unit, container and pod in a cgroup path. */
#ifndef FS_MODEL_WORKLOAD_H
#define FS_MODEL_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum runtime {
	RUNTIME_NONE,
	RUNTIME_DOCKER,
	RUNTIME_PODMAN,
	RUNTIME_CONTAINERD,
	RUNTIME_CRIO,
	RUNTIME_LXC,
	RUNTIME_NSPAWN,
	RUNTIME_UNNAMED, /* a container or pod whose path does not name the runtime */
};

#define SHORT_ID 12 /* number of characters of a container ID that are shown, as docker does */

struct workload {
	enum runtime runtime;
	char container[72]; /* container ID, or name for lxc and nspawn; empty: no container */
	char pod[40];	    /* UID of the pod, with dashes; empty: not in a pod */
	char task[40];	    /* ID of the task of Amazon ECS; empty: not in a task */
	char unit[256];	    /* innermost systemd service or scope of the path; empty: none */
	bool unit_inside;   /* `unit` belongs to the container's own systemd */
	bool user_manager;  /* `unit` is run by the systemd of user `uid` */
	bool kubepods;	    /* the path is a cgroup of the kubelet or below one */
	bool delegated;	    /* the user may choose the names of cgroups in the path */
	bool of_user;	    /* the path is below the slice of user `uid` */
	uint32_t uid;
};

/* Parses a path such as cgroup_of() returns. Members that are not in the path stay empty. */
void workload_of(const char *path, struct workload *ret);

const char *runtime_name(enum runtime r); /* returns a runtime's name, such as "docker" */

/* Returns whether a path component is the name of a unit with this type, for example "service". */
bool is_unit(const char *name, const char *type);

/* Decodes systemd's escapes, such as \x2d, in a unit name, in place. A NUL becomes '?'. */
void unit_unescape(char *s);

#endif
