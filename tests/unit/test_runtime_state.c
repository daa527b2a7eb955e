// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the names that are found in the state files of container runtimes: which file is used for
 * which workload, and which files are ignored because they are of another pod or lack a name.
 */
#include "fakeroot.h"

#include "collect/names/runtime_state.h"
#include "open_files.h"
#include "tap.h"

#define ID    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define POD   "11111111-2222-3333-4444-555555555555"
#define OTHER "99999999-2222-3333-4444-555555555555"
#define TASK  "cd189a933e5849daa93386466019ab50"
#define ARN   "arn:aws:ecs:us-west-2:1:task/default/" TASK
#define TASKS "io.containerd.runtime.v2.task/"

static struct fakeroot root;

/* A file with the keys of all runtimes. The name of the container tells which keys were read. */
static const char all_keys[] =
	"{\"annotations\":{\"io.kubernetes.cri.sandbox-namespace\":\"ns1\","
	"\"io.kubernetes.cri.sandbox-name\":\"pod1\",\"io.kubernetes.cri.container-name\":"
	"\"containerd\",\"io.kubernetes.cri.sandbox-uid\":\"" POD "\","
	"\"io.kubernetes.cri.container-type\":\"container\","
	"\"io.kubernetes.pod.namespace\":\"ns2\",\"io.kubernetes.pod.name\":\"pod2\","
	"\"io.kubernetes.container.name\":\"crio\",\"io.kubernetes.pod.uid\":\"" POD "\","
	"\"nerdctl/name\":\"nerdctl\"},\"Config\":{\"Labels\":{"
	"\"io.kubernetes.pod.namespace\":\"ns3\",\"io.kubernetes.pod.name\":\"pod3\","
	"\"io.kubernetes.container.name\":\"docker\",\"io.kubernetes.pod.uid\":\"" POD "\","
	"\"com.amazonaws.ecs.container-name\":\"ecs\",\"com.amazonaws.ecs.task-definition-family\":"
	"\"family\",\"com.amazonaws.ecs.task-arn\":\"" ARN "\"}}}";

static struct workload workload(enum runtime runtime, const char *pod, const char *task)
{
	struct workload w = {.runtime = runtime};

	strcpy(w.container, ID);
	strcpy(w.pod, pod);
	strcpy(w.task, task);
	return w;
}

/* Finds names. Files that were opened are closed again. */
static bool find(const struct workload *w, struct pod_names *ret)
{
	size_t before = open_fds();
	bool found;

	memset(ret, 0x55, sizeof(*ret));
	found = runtime_state_find(root.fd, w, ret);
	if (open_fds() != before)
		ok(false, "a file was left open");
	return found;
}

static const struct {
	const char *file, *dir;
	const char *pod_keys; /* the keys that are read for a pod of this runtime */
	enum runtime runtime; /* runtime that keeps this file */
} files[] = {
	{"run/containerd/" TASKS "k8s.io/" ID "/config.json", "/run/containerd/" TASKS,
	 "containerd", RUNTIME_CONTAINERD},
	{"run/containerd/" TASKS "default/" ID "/config.json", "/run/containerd/" TASKS, NULL,
	 RUNTIME_CONTAINERD},
	{"run/k3s/containerd/" TASKS "k8s.io/" ID "/config.json", "/run/k3s/containerd/" TASKS,
	 "containerd", RUNTIME_CONTAINERD},
	{"run/k0s/containerd/" TASKS "k8s.io/" ID "/config.json", "/run/k0s/containerd/" TASKS,
	 "containerd", RUNTIME_CONTAINERD},
	{"var/snap/microk8s/common/run/containerd/" TASKS "k8s.io/" ID "/config.json",
	 "/var/snap/microk8s/common/run/containerd/" TASKS, "containerd", RUNTIME_CONTAINERD},
	{"run/containers/storage/overlay-containers/" ID "/userdata/config.json",
	 "/run/containers/storage/overlay-containers/", "crio", RUNTIME_CRIO},
	{"var/lib/containers/storage/overlay-containers/" ID "/userdata/config.json",
	 "/var/lib/containers/storage/overlay-containers/", "crio", RUNTIME_CRIO},
	{"var/lib/docker/containers/" ID "/config.v2.json", "/var/lib/docker/containers/", "docker",
	 RUNTIME_DOCKER},
};

#define NR_FILES (sizeof(files) / sizeof(files[0]))

/* Returns the keys that are expected to be read in a file for a workload; NULL: none. */
static const char *expected(size_t file, enum runtime runtime, bool in_pod, bool in_task)
{
	bool of_runtime = runtime == files[file].runtime;

	if (in_task)
		return files[file].runtime == RUNTIME_DOCKER ? "ecs" : NULL;
	if (!files[file].pod_keys)
		return of_runtime && !in_pod ? "nerdctl" : NULL;
	if (runtime == RUNTIME_UNNAMED)
		return in_pod ? files[file].pod_keys : NULL;
	if (runtime == RUNTIME_DOCKER && !in_pod)
		return NULL;
	return of_runtime ? files[file].pod_keys : NULL;
}

static void test_which_file(void)
{
	static const enum runtime runtimes[] = {RUNTIME_NONE,	    RUNTIME_DOCKER, RUNTIME_PODMAN,
						RUNTIME_CONTAINERD, RUNTIME_CRIO,   RUNTIME_LXC,
						RUNTIME_NSPAWN,	    RUNTIME_UNNAMED};

	for (size_t i = 0; i < NR_FILES; i++) {
		fake_file(&root, files[i].file, "%s", all_keys);
		for (size_t k = 0; k < 4 * sizeof(runtimes) / sizeof(runtimes[0]); k++) {
			bool in_pod = k & 1, in_task = k & 2;
			struct workload w =
				workload(runtimes[k / 4], in_pod ? POD : "", in_task ? TASK : "");
			const char *want = expected(i, w.runtime, in_pod, in_task);
			struct pod_names got;
			bool found = find(&w, &got);

			ok(found == !!want && (!found || !strcmp(got.container, want)),
			   "%s, %s%s%s: %s", files[i].dir, runtime_name(w.runtime),
			   in_pod ? ", in a pod" : "", in_task ? ", in a task" : "",
			   found ? got.container : "nothing");
		}
		fake_remove(&root, files[i].file);
	}
}

static void test_directories(void)
{
	size_t n = 0;

	for (; runtime_state_dir(n); n++) {
		bool known = false;

		for (size_t i = 0; i < NR_FILES; i++)
			known |= !strcmp(files[i].dir, runtime_state_dir(n));
		ok(known, "%s", runtime_state_dir(n));
	}
	is_u64(n, NR_FILES + 1, "number of directories; docker's has two kinds of files");
	is_str(runtime_state_dir(n - 1), "/var/lib/docker/containers/", "the last one");
	ok(!runtime_state_dir(n + 1) && !runtime_state_dir(SIZE_MAX), "none behind it");
}

#define OWNER(uid)    "\"io.kubernetes.pod.uid\":\"" uid "\""
#define NAMESPACE     "\"io.kubernetes.pod.namespace\":\"shop\""
#define NAME	      "\"io.kubernetes.pod.name\":\"web-0\""
#define CONTAINER     "\"io.kubernetes.container.name\":\"app\""
#define KIND(kind)    "\"io.kubernetes.docker.type\":\"" kind "\""
#define LABELS(...)   "{\"Config\":{\"Labels\":{" __VA_ARGS__ "}}}"
#define ECS(key, val) "\"com.amazonaws.ecs." key "\":\"" val "\""

/* Files of docker, for a pod or a task, and the names that are found in them. */
static void test_contents(void)
{
	static const struct {
		bool task; /* the workload is a task of ECS, not a pod */
		const char *text;
		const char *namespace, *pod, *container, *family; /* container NULL: no names */
		const char *name;
	} rows[] = {
		{false, LABELS(OWNER(POD) "," NAMESPACE "," NAME "," CONTAINER), "shop", "web-0",
		 "app", "", "all names of a container"},
		{false,
		 LABELS(OWNER(POD) "," NAMESPACE "," NAME "," CONTAINER "," KIND("container")),
		 "shop", "web-0", "app", "", "a container with its kind"},
		{false,
		 LABELS(OWNER(POD) "," NAMESPACE "," NAME "," CONTAINER "," KIND("podsandbox")),
		 "shop", "web-0", "pause", "", "a sandbox with a name"},
		{false, LABELS(OWNER(POD) "," NAMESPACE "," NAME "," KIND("podsandbox")), "shop",
		 "web-0", "pause", "", "a sandbox without a name"},
		{false, LABELS(OWNER(POD) "," NAMESPACE "," NAME "," KIND("sandbox")), "", "", NULL,
		 "", "the kind of another runtime's sandbox"},
		{false, LABELS(OWNER(POD) "," NAMESPACE "," NAME), "", "", NULL, "",
		 "no name of the container"},
		{false, LABELS(OWNER(POD) "," NAMESPACE "," CONTAINER), "", "", NULL, "",
		 "no name of the pod"},
		{false, LABELS(OWNER(POD) "," NAME "," CONTAINER), "", "", NULL, "",
		 "no namespace"},
		{false, LABELS(NAMESPACE "," NAME "," CONTAINER), "", "", NULL, "",
		 "no UID of the pod"},
		{false, LABELS(OWNER(OTHER) "," NAMESPACE "," NAME "," CONTAINER), "", "", NULL, "",
		 "the UID of another pod"},
		{false, LABELS(OWNER("x" POD) "," NAMESPACE "," NAME "," CONTAINER), "", "", NULL,
		 "", "a UID that ends in the pod's"},
		{false, LABELS(OWNER(POD "x") "," NAMESPACE "," NAME "," CONTAINER), "", "", NULL,
		 "", "a UID that begins with the pod's"},
		{false, "{" CONTAINER "}", "", "", NULL, "", "keys outside of their object"},
		{false, "", "", "", NULL, "", "an empty file"},
		{true,
		 LABELS(ECS("container-name", "app") "," ECS("task-arn", ARN) "," ECS(
			 "task-definition-family", "cart")),
		 "", "", "app", "cart", "a task"},
		{true, LABELS(ECS("container-name", "app") "," ECS("task-arn", TASK)), "", "",
		 "app", "", "a task without a family"},
		{true, LABELS(ECS("container-name", "app") "," ECS("task-arn", ARN "/x")), "", "",
		 NULL, "", "another task"},
		{true, LABELS(ECS("container-name", "app")), "", "", NULL, "", "no task"},
		{true, LABELS(ECS("task-arn", ARN) "," ECS("task-definition-family", "cart")), "",
		 "", NULL, "", "no container"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct workload w =
			workload(RUNTIME_DOCKER, rows[i].task ? "" : POD, rows[i].task ? TASK : "");
		struct pod_names got, was;

		memset(&was, 0x55, sizeof(was));
		fake_file(&root, files[NR_FILES - 1].file, "%s", rows[i].text);
		ok(find(&w, &got) == !!rows[i].container, "%s", rows[i].name);
		if (!rows[i].container) {
			ok(!memcmp(&got, &was, sizeof(got)), "earlier names stay");
			continue;
		}
		is_str(got.namespace, rows[i].namespace, "its namespace");
		is_str(got.pod, rows[i].pod, "its pod");
		is_str(got.container, rows[i].container, "its container");
		is_str(got.family, rows[i].family, "its family");
		ok(!got.guessed, "the container is certain");
	}
	fake_remove(&root, files[NR_FILES - 1].file);
}

/* The first file with names is used, and a file of another pod does not end the search. */
static void test_order(void)
{
	static const char of_other[] =
		"{\"annotations\":{\"io.kubernetes.cri.sandbox-namespace\":\"ns1\","
		"\"io.kubernetes.cri.sandbox-name\":\"pod1\",\"io.kubernetes.cri.container-name\":"
		"\"wrong\",\"io.kubernetes.cri.sandbox-uid\":\"" OTHER "\"}}";
	struct workload w = workload(RUNTIME_UNNAMED, POD, "");
	struct pod_names got;

	ok(!find(&w, &got), "no file");
	fake_file(&root, files[0].file, "%s", of_other);
	ok(!find(&w, &got), "the file of another pod");
	fake_file(&root, files[2].file, "%s", of_other);
	fake_file(&root, files[5].file, "%s", all_keys);
	fake_file(&root, files[7].file, "%s", all_keys);
	ok(find(&w, &got), "a file behind it");
	is_str(got.container, "crio", "the first file of the pod is used");
	w.pod[0] = 0;
	ok(!find(&w, &got), "a container without pod and runtime");
	w.runtime = RUNTIME_CONTAINERD;
	ok(find(&w, &got), "a container of an unknown pod");
	is_str(got.container, "wrong", "each owner fits");
	strcpy(w.container, "none");
	ok(!find(&w, &got), "another container");
	for (size_t i = 0; i < NR_FILES; i++)
		fake_remove(&root, files[i].file);
}

int main(void)
{
	root = fakeroot_make();
	test_which_file();
	test_directories();
	test_contents();
	test_order();
	fakeroot_free(&root);
	return tap_done();
}
