// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "collect/names/runtime_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "collect/files/json_text.h"
#include "collect/files/rooted_file.h"

#define KEYS_MOST 3

/* How a runtime names things in its state files. */
struct notation {
	const char *object[KEYS_MOST - 1]; /* names of the objects that contain the keys below */
	/* keys; NULL: the files have no such key */
	const char *namespace, *pod, *container, *family;
	/* key of the pod's UID, or of the ECS task's ARN, which ends in the ID of the task */
	const char *owner;
	/* key of the kind of a container, and the kind of a pod's sandbox */
	const char *kind, *sandbox;
};

/* Annotations of the OCI configuration: pkg/cri/annotations/annotations.go of containerd */
static const struct notation containerd = {
	.object = {"annotations"},
	.namespace = "io.kubernetes.cri.sandbox-namespace",
	.pod = "io.kubernetes.cri.sandbox-name",
	.container = "io.kubernetes.cri.container-name",
	.owner = "io.kubernetes.cri.sandbox-uid",
	.kind = "io.kubernetes.cri.container-type",
	.sandbox = "sandbox",
};

/* pkg/annotations/annotations.go of CRI-O, and the kubelet's labels, which CRI-O copies */
static const struct notation crio = {
	.object = {"annotations"},
	.namespace = "io.kubernetes.pod.namespace",
	.pod = "io.kubernetes.pod.name",
	.container = "io.kubernetes.container.name",
	.owner = "io.kubernetes.pod.uid",
	.kind = "io.kubernetes.cri-o.ContainerType",
	.sandbox = "sandbox",
};

/* Labels of cri-dockerd: core/docker_service.go */
static const struct notation docker = {
	.object = {"Config", "Labels"},
	.namespace = "io.kubernetes.pod.namespace",
	.pod = "io.kubernetes.pod.name",
	.container = "io.kubernetes.container.name",
	.owner = "io.kubernetes.pod.uid",
	.kind = "io.kubernetes.docker.type",
	.sandbox = "podsandbox",
};

/* Labels of the agent of Amazon ECS: agent/engine/docker_task_engine.go */
static const struct notation ecs = {
	.object = {"Config", "Labels"},
	.container = "com.amazonaws.ecs.container-name",
	.family = "com.amazonaws.ecs.task-definition-family",
	.owner = "com.amazonaws.ecs.task-arn",
};

/* nerdctl: pkg/labels/labels.go */
static const struct notation nerdctl = {.object = {"annotations"}, .container = "nerdctl/name"};

#define TASKS "io.containerd.runtime.v2.task/"

/*
 * State directories, and below them the file of a container: DIRECTORY/BELOW/ID/FILE. Distributions
 * of Kubernetes configure their own containerd with a directory of their own.
 */
static const struct {
	const char *dir, *below, *file;
	const struct notation *notation;
} states[] = {
	{"/run/containerd/" TASKS, "k8s.io/", "config.json", &containerd},
	{"/run/containerd/" TASKS, "default/", "config.json", &nerdctl},
	{"/run/k3s/containerd/" TASKS, "k8s.io/", "config.json", &containerd},
	{"/run/k0s/containerd/" TASKS, "k8s.io/", "config.json", &containerd},
	{"/var/snap/microk8s/common/run/containerd/" TASKS, "k8s.io/", "config.json", &containerd},
	{"/run/containers/storage/overlay-containers/", "", "userdata/config.json", &crio},
	{"/var/lib/containers/storage/overlay-containers/", "", "userdata/config.json", &crio},
	{"/var/lib/docker/containers/", "", "config.v2.json", &docker},
	{"/var/lib/docker/containers/", "", "config.v2.json", &ecs},
};

#define NR_STATES (sizeof(states) / sizeof(states[0]))

const char *runtime_state_dir(size_t i)
{
	return i < NR_STATES ? states[i].dir : NULL;
}

static bool find_key(const struct notation *n, struct span text, const char *key, char *ret,
		     size_t size)
{
	const char *path[KEYS_MOST + 1] = {};
	size_t at = 0;

	ret[0] = 0;
	if (!key)
		return false;
	while (at < KEYS_MOST - 1 && n->object[at]) {
		path[at] = n->object[at];
		at++;
	}
	path[at] = key;
	return json_string_find(text, path, ret, size);
}

/* Returns whether a text is `id`, or ends in "/" and `id`. An unknown `id` fits all texts. */
static bool is_owner(const char *text, const char *id)
{
	const char *last = strrchr(text, '/');

	return !*id || !strcmp(last ? last + 1 : text, id);
}

static bool take_state(const struct notation *n, const struct workload *w, struct span text,
		       struct pod_names *ret)
{
	struct pod_names found = {};
	char owner[256], kind[32];

	if (n->owner && (!find_key(n, text, n->owner, owner, sizeof(owner)) ||
			 !is_owner(owner, n->family ? w->task : w->pod)))
		return false;
	find_key(n, text, n->container, found.container, sizeof(found.container));
	if (n->sandbox && find_key(n, text, n->kind, kind, sizeof(kind)) &&
	    !strcmp(kind, n->sandbox))
		array_copy(found.container, sizeof(found.container), "pause");
	find_key(n, text, n->family, found.family, sizeof(found.family));
	if (!found.container[0] ||
	    (n->pod &&
	     (!find_key(n, text, n->pod, found.pod, sizeof(found.pod)) ||
	      !find_key(n, text, n->namespace, found.namespace, sizeof(found.namespace)))))
		return false;
	*ret = found;
	return true;
}

static bool may_be_of(size_t i, const struct workload *w)
{
	const struct notation *n = states[i].notation;

	if (w->task[0])
		return n == &ecs;
	switch (w->runtime) {
	case RUNTIME_CONTAINERD:
		return n == &containerd || (n == &nerdctl && !w->pod[0]);
	case RUNTIME_CRIO:
		return n == &crio;
	case RUNTIME_DOCKER:
		/* whoever starts a container with docker may give it the labels of a pod */
		return n == &docker && w->pod[0];
	default:
		return w->runtime == RUNTIME_UNNAMED && w->pod[0] && n != &nerdctl && n != &ecs;
	}
}

bool runtime_state_find(int root, const struct workload *w, struct pod_names *ret)
{
	struct files f = {.root = root};
	char path[256], *text;
	bool found = false;
	size_t len;

	for (size_t i = 0; i < NR_STATES && !found; i++) {
		if (!may_be_of(i, w))
			continue;
		snprintf(path, sizeof(path), "%s%s%s/%s", states[i].dir, states[i].below,
			 w->container, states[i].file);
		if (file_read(&f, path, &text, &len))
			continue;
		found = take_state(states[i].notation, w, (struct span){text, len}, ret);
		free(text);
	}
	return found;
}
