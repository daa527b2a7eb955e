// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/workload.h"

#include <stdlib.h>
#include <ctype.h>
#include <string.h>

#define ID_LEN 64 /* number of hex digits of a container ID in OCI runtimes */

/*
 * Names that runtimes give to a container's cgroup. With systemd: PREFIX-ID.scope. If the path
 * names a systemd slice, but the runtime is not configured for systemd: SLICE:PREFIX:ID. Without
 * systemd: PREFIX/ID or PREFIX-ID.
 */
static const struct {
	const char *prefix;
	enum runtime runtime;
} prefixes[] = {
	{"docker-", RUNTIME_DOCKER},
	{"libpod-", RUNTIME_PODMAN},
	{"cri-containerd-", RUNTIME_CONTAINERD},
	{"crio-", RUNTIME_CRIO},
	{"nerdctl-", RUNTIME_CONTAINERD},
	{"cri-containerd:", RUNTIME_CONTAINERD},
	{"docker:", RUNTIME_DOCKER},
	{"crio:", RUNTIME_CRIO},
};

const char *runtime_name(enum runtime r)
{
	static const char *const names[] = {
		[RUNTIME_NONE] = "none",
		[RUNTIME_DOCKER] = "docker",
		[RUNTIME_PODMAN] = "podman",
		[RUNTIME_CONTAINERD] = "containerd",
		[RUNTIME_CRIO] = "cri-o",
		[RUNTIME_LXC] = "lxc",
		[RUNTIME_NSPAWN] = "systemd-nspawn",
		[RUNTIME_UNNAMED] = "a container",
	};

	return names[r];
}

bool is_unit(const char *name, const char *type)
{
	size_t len = strlen(name), type_len = strlen(type);

	return len > type_len + 1 && name[len - type_len - 1] == '.' &&
	       !strcmp(name + len - type_len, type);
}

static bool is_id(const char *s)
{
	size_t n = 0;

	while (isxdigit((unsigned char)s[n]))
		n++;
	return n == ID_LEN && (!s[n] || !strcmp(s + n, ".scope"));
}

static size_t hex_length(const char *s)
{
	size_t n = 0;

	while (isxdigit((unsigned char)s[n]) || s[n] == '-')
		n++;
	return n;
}

static void take_container(struct workload *w, enum runtime runtime, const char *id)
{
	size_t len = strlen(id);

	w->runtime = runtime;
	if (is_unit(id, "scope"))
		len -= strlen(".scope");
	else if (is_unit(id, "service"))
		len -= strlen(".service");
	if (len >= sizeof(w->container))
		len = sizeof(w->container) - 1;
	memcpy(w->container, id, len);
	w->container[len] = 0;
	/* a unit below a container belongs to the container's own systemd */
	w->unit[0] = 0;
	w->user_manager = w->of_user = false;
}

/* Returns whether a user may create cgroups below this name (Delegate= in user@.service). */
static bool is_users(const char *name)
{
	return !strncmp(name, "user@", 5) || !strcmp(name, "user.slice") ||
	       (!strncmp(name, "user-", 5) && isdigit((unsigned char)name[5]));
}

/*
 * Finds the UID of a pod: 36 characters after "pod", in which systemd replaces dashes by
 * underscores. Searches only below the kubelet's "kubepods", "kubepods.slice" or
 * "kubelet-kubepods.slice", because elsewhere anybody may create a cgroup with the name of a pod.
 */
static void take_pod(struct workload *w, const char *name)
{
	const char *pod = name;

	w->kubepods |= strstr(name, "kubepods") != NULL;
	w->delegated |= is_users(name);
	if (!w->kubepods || w->delegated)
		return;
	while ((pod = strstr(pod, "pod"))) {
		size_t n = 0;

		pod += 3;
		while (isxdigit((unsigned char)pod[n]) || pod[n] == '-' || pod[n] == '_')
			n++;
		if (n < 32 || n >= sizeof(w->pod))
			continue;
		for (size_t i = 0; i < n; i++)
			w->pod[i] = pod[i] == '_' ? '-' : pod[i];
		w->pod[n] = 0;
		return;
	}
}

/*
 * Finds the ID of a task of Amazon ECS: 32 hex digits, or a UUID. The agent of ECS makes the cgroup
 * /ecs/TASK, or with cgroup v2 /ecstasks.slice/ecstasks-TASK.slice (agent/api/task/task_linux.go of
 * amazon-ecs-agent); AWS Fargate makes /ecs/TASK.
 */
static void take_task(struct workload *w, const char *name, const char *parent)
{
	const char *task = !strcmp(parent, "ecs") ? name
			   : !strcmp(parent, "ecstasks.slice") && !strncmp(name, "ecstasks-", 9)
				   ? name + 9
				   : NULL;
	size_t n = task ? hex_length(task) : 0;

	if (w->delegated || n < 32 || n >= sizeof(w->task) ||
	    (task[n] && strcmp(task + n, ".slice")))
		return;
	memcpy(w->task, task, n);
	w->task[n] = 0;
}

/* On AWS Fargate, which uses containerd, the ID of a container is TASK-NUMBER. */
static bool take_fargate(struct workload *w, const char *name)
{
	size_t n = strlen(w->task);

	if (!n || strncmp(name, w->task, n) || name[n] != '-' || !name[n + 1] ||
	    name[n + 1 + strspn(name + n + 1, "0123456789")])
		return false;
	take_container(w, RUNTIME_CONTAINERD, name);
	return true;
}

static bool take_prefixed(struct workload *w, const char *name)
{
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		/* in "SLICE:docker:ID", a colon precedes the runtime's prefix "docker" */
		const char *at = strstr(name, prefixes[i].prefix);

		if (!at || (at != name && at[-1] != ':'))
			continue;
		at += strlen(prefixes[i].prefix);
		if (!is_id(at))
			continue;
		take_container(w, prefixes[i].runtime, at);
		return true;
	}
	return false;
}

static int hex_value(char c)
{
	return isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10;
}

void unit_unescape(char *s)
{
	char *to = s;

	for (; *s; s++) {
		if (s[0] == '\\' && s[1] == 'x' && isxdigit((unsigned char)s[2]) &&
		    isxdigit((unsigned char)s[3])) {
			char c = hex_value(s[2]) << 4 | hex_value(s[3]);

			*to++ = c ? c : '?';
			s += 3;
		} else {
			*to++ = *s;
		}
	}
	*to = 0;
}

/*
 * Parses a scope's name from systemd-machined. systemd-nspawn uses only the container's name;
 * libvirt puts the driver and a number before it. Returns NULL for qemu, as a VM is no container.
 */
static const char *take_machine(struct workload *w, const char *name)
{
	const char *number;

	if (!strncmp(name, "qemu-", 5))
		return NULL;
	w->runtime = RUNTIME_NSPAWN;
	number = !strncmp(name, "lxc-", 4) ? name + 4 : "";
	if (number[strspn(number, "0123456789")] == '-' && *number != '-') {
		w->runtime = RUNTIME_LXC;
		name = strchr(number, '-') + 1;
	}
	return name;
}

static bool take_named(struct workload *w, const char *name, const char *parent)
{
	char plain[256];

	strcpy(plain, name); /* safe, because a path component has less than 256 bytes */
	unit_unescape(plain);
	if (!strncmp(name, "lxc.payload.", 12) && name[12])
		w->runtime = RUNTIME_LXC, name += 12;
	else if (!strcmp(parent, "lxc") || !strcmp(parent, "lxc.payload"))
		w->runtime = RUNTIME_LXC;
	else if (!strncmp(name, "systemd-nspawn@", 15) && is_unit(name, "service"))
		w->runtime = RUNTIME_NSPAWN, name = plain + 15;
	else if (!strncmp(name, "machine-", 8) && is_unit(name, "scope"))
		name = take_machine(w, plain + 8);
	else
		return false;
	if (!name)
		return false;
	take_container(w, w->runtime, name);
	return true;
}

static bool take_bare_id(struct workload *w, const char *name, const char *parent)
{
	if (!is_id(name))
		return false;
	take_container(w,
		       !strcmp(parent, "docker") || w->task[0]	  ? RUNTIME_DOCKER
		       : !strncmp(parent, "libpod", 6)		  ? RUNTIME_PODMAN
		       : !strcmp(parent, "default") && !w->pod[0] ? RUNTIME_CONTAINERD
								  : RUNTIME_UNNAMED,
		       name);
	return true;
}

static void take_unit(struct workload *w, const char *name)
{
	unsigned long uid;
	char *end;

	/* systemd puts '_' before names that look like files of the kernel */
	if (name[0] == '_')
		name++;
	/* init.scope, with the manager's own processes, is no real unit: it has no limits */
	if (!strcmp(name, "init.scope") ||
	    !(is_unit(name, "service") || is_unit(name, "scope") || is_unit(name, "socket") ||
	      is_unit(name, "mount") || is_unit(name, "swap")))
		return;
	if (!strncmp(w->unit, "user@", 5)) {
		uid = strtoul(w->unit + 5, &end, 10);
		if (!strcmp(end, ".service")) {
			w->user_manager = true;
			w->uid = uid;
		}
	}
	strcpy(w->unit, name); /* safe, because a component has less than 256 bytes */
	w->unit_inside = w->runtime != RUNTIME_NONE;
}

/* Parses the uid in a name such as "user-1000.slice". */
static void take_user(struct workload *w, const char *name)
{
	unsigned long uid;
	char *end;

	if (strncmp(name, "user-", 5) || !isdigit((unsigned char)name[5]))
		return;
	uid = strtoul(name + 5, &end, 10);
	if (strcmp(end, ".slice") || uid > UINT32_MAX)
		return;
	w->of_user = true;
	w->uid = uid;
}

static void take_component(struct workload *w, const char *name, const char *parent)
{
	take_pod(w, name);
	take_task(w, name, parent);
	take_user(w, name);
	if (!take_prefixed(w, name) && !take_named(w, name, parent) && !take_fargate(w, name) &&
	    !take_bare_id(w, name, parent))
		take_unit(w, name);
}

void workload_of(const char *path, struct workload *ret)
{
	char name[256], parent[256] = "";

	memset(ret, 0, sizeof(*ret));
	while (*path) {
		size_t len = strcspn(path, "/");

		if (len && len < sizeof(name)) {
			memcpy(name, path, len);
			name[len] = 0;
			take_component(ret, name, parent);
			memcpy(parent, name, len + 1);
		}
		path += len;
		path += *path == '/';
	}
}
