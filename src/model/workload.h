/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* model: what a cgroup's path says of who runs there: systemd unit, container, pod. */
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
	RUNTIME_UNNAMED, /* a container by its id, or a pod's, without a name of who runs it */
};

struct workload {
	enum runtime runtime;
	char container[72]; /* its id, or the name of an lxc or nspawn one; empty: none */
	char pod[40];	    /* uid, with dashes; empty: not of Kubernetes */
	char unit[256];	    /* the innermost service or scope; empty: none */
	bool unit_inside;   /* it is the container's own systemd that runs it */
	bool user_manager;  /* it is the one of `uid` that runs it */
	bool kubepods;	    /* it is at or below a cgroup that the kubelet made */
	bool delegated;	    /* it is below a cgroup that a user may make others in, by any name */
	bool of_user;	    /* it is below the slice of `uid`: of a session, or of that manager */
	uint32_t uid;
};

/* Of a path such as cgroup_of() gives; what it does not say is empty. */
void workload_of(const char *path, struct workload *ret);

const char *runtime_name(enum runtime r); /* "docker"; "a container" for an unnamed one */

/* Whether a component of a path is the name of a unit of this type, "service" for one. */
bool is_unit(const char *name, const char *type);

/* systemd's \x2d in names of units, in place; no NUL comes of it. */
void unit_unescape(char *s);

#endif
