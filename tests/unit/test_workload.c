// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/workload.h"
#include "tap.h"

#define ID   "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define POD  "11111111-2222-3333-4444-555555555555"
#define POD_ "11111111_2222_3333_4444_555555555555"

static const struct {
	const char *path;
	enum runtime runtime;
	const char *container, *pod, *unit;
} rows[] = {
	{"", RUNTIME_NONE, "", "", ""},
	{"/", RUNTIME_NONE, "", "", ""},
	{"/init.scope", RUNTIME_NONE, "", "", ""},
	{"/system.slice/ssh.service", RUNTIME_NONE, "", "", "ssh.service"},
	{"/system.slice/system-getty.slice/getty@tty1.service", RUNTIME_NONE, "", "",
	 "getty@tty1.service"},
	{"/system.slice/db.service/workers/7", RUNTIME_NONE, "", "", "db.service"},
	{"/user.slice/user-1000.slice/session-3.scope", RUNTIME_NONE, "", "", "session-3.scope"},
	{"/user.slice/user-1000.slice/user@1000.service/init.scope", RUNTIME_NONE, "", "",
	 "user@1000.service"},
	{"/user.slice/user-1000.slice/user@1000.service/app.slice/a.service", RUNTIME_NONE, "", "",
	 "a.service"},
	{"/docker/" ID, RUNTIME_DOCKER, ID, "", ""},
	{"/system.slice/docker-" ID ".scope", RUNTIME_DOCKER, ID, "", ""},
	{"/system.slice/docker-" ID ".scope/system.slice/a.service", RUNTIME_DOCKER, ID, "",
	 "a.service"},
	{"/machine.slice/libpod-" ID ".scope/container", RUNTIME_PODMAN, ID, "", ""},
	{"/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID ".scope",
	 RUNTIME_PODMAN, ID, "", ""},
	{"/libpod_parent/libpod-" ID, RUNTIME_PODMAN, ID, "", ""},
	{"/machine.slice/libpod-conmon-" ID ".scope", RUNTIME_NONE, "", "",
	 "libpod-conmon-" ID ".scope"},
	{"/system.slice/nerdctl-" ID ".scope", RUNTIME_CONTAINERD, ID, "", ""},
	{"/default/" ID, RUNTIME_CONTAINERD, ID, "", ""},
	{"/kubepods/burstable/pod" POD "/" ID, RUNTIME_UNNAMED, ID, POD, ""},
	{"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" POD_
	 ".slice/cri-containerd-" ID ".scope",
	 RUNTIME_CONTAINERD, ID, POD, ""},
	{"/kubepods.slice/kubepods-pod" POD_ ".slice/crio-" ID ".scope", RUNTIME_CRIO, ID, POD, ""},
	{"/kubepods.slice/kubepods-pod" POD_ ".slice", RUNTIME_NONE, "", POD, ""},
	{"/system.slice/containerd.service/kubepods-burstable-pod" POD_ ".slice:cri-containerd:" ID,
	 RUNTIME_CONTAINERD, ID, POD, ""},
	{"/docker/" ID "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" POD_
	 ".slice/cri-containerd-fedcba98" ID,
	 RUNTIME_DOCKER, ID, POD, ""},
	/* a user may create such a cgroup; it must not count as a pod */
	{"/user.slice/user-1000.slice/user@1000.service/pod" POD, RUNTIME_NONE, "", "",
	 "user@1000.service"},
	{"/user.slice/user-1000.slice/user@1000.service/kubepods.slice/kubepods-pod" POD_
	 ".slice/cri-containerd-" ID ".scope",
	 RUNTIME_CONTAINERD, ID, "", ""},
	{"/user.slice/user-1000.slice/user@1000.service/docker-" ID ".scope/kubepods/pod" POD,
	 RUNTIME_DOCKER, ID, "", ""},
	{"/system.slice/app.service/pod" POD, RUNTIME_NONE, "", "", "app.service"},
	{"/pod" POD "/" ID, RUNTIME_UNNAMED, ID, "", ""},
	{"/lxc.payload.web.prod/system.slice/a.service", RUNTIME_LXC, "web.prod", "", "a.service"},
	{"/lxc/web", RUNTIME_LXC, "web", "", ""},
	{"/lxc.monitor.web", RUNTIME_NONE, "", "", ""},
	{"/machine.slice/systemd-nspawn@web.service/payload", RUNTIME_NSPAWN, "web", "", ""},
	{"/system.slice/docker-0123.scope", RUNTIME_NONE, "", "", "docker-0123.scope"},
	{"/a.service.service/.service/pod/podcast", RUNTIME_NONE, "", "", "a.service.service"},
};

static void test_paths(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct workload w;

		workload_of(rows[i].path, &w);
		ok(w.runtime == rows[i].runtime && !strcmp(w.container, rows[i].container) &&
			   !strcmp(w.pod, rows[i].pod) && !strcmp(w.unit, rows[i].unit),
		   "\"%s\": %s %s pod %s unit %s", rows[i].path, runtime_name(w.runtime),
		   w.container, w.pod, w.unit);
	}
}

/* Tasks of Amazon ECS: path, expected runtime, container and task. */
#define TASK "cd189a933e5849daa93386466019ab50"

static const struct {
	const char *path;
	enum runtime runtime;
	const char *container, *task;
} tasks[] = {
	{"/ecs/" TASK "/" ID, RUNTIME_DOCKER, ID, TASK},
	{"/ecs/" POD "/" ID, RUNTIME_DOCKER, ID, POD},
	{"/ecstasks.slice/ecstasks-" TASK ".slice/docker-" ID ".scope", RUNTIME_DOCKER, ID, TASK},
	{"/ecs/" TASK "/" TASK "-2495160603", RUNTIME_CONTAINERD, TASK "-2495160603", TASK},
	{"/ecs/" TASK, RUNTIME_NONE, "", TASK},
	{"/ecs/" TASK "/" TASK "-", RUNTIME_NONE, "", TASK},
	{"/ecs/" TASK "/" TASK "-12x", RUNTIME_NONE, "", TASK},
	{"/ecs/short/" ID, RUNTIME_UNNAMED, ID, ""},
	{"/ecs/" TASK "x/" ID, RUNTIME_UNNAMED, ID, ""},
	/* the shortest id, and the longest that there is room for */
	{"/ecs/cd189a933e5849daa93386466019ab5/x", RUNTIME_NONE, "", ""},
	{"/ecs/" TASK "1234567/x", RUNTIME_NONE, "", TASK "1234567"},
	{"/ecs/" TASK "12345678/x", RUNTIME_NONE, "", ""},
	{"/ecs/" TASK ".slice/x", RUNTIME_NONE, "", TASK},
	{"/ecs/" TASK ".scope/x", RUNTIME_NONE, "", ""},
	{"/other/" TASK "/" ID, RUNTIME_UNNAMED, ID, ""},
	{"/user.slice/user-7.slice/user@7.service/ecs/" TASK "/" ID, RUNTIME_UNNAMED, ID, ""},
};

static void test_tasks(void)
{
	for (size_t i = 0; i < sizeof(tasks) / sizeof(tasks[0]); i++) {
		struct workload w;

		workload_of(tasks[i].path, &w);
		ok(w.runtime == tasks[i].runtime && !strcmp(w.container, tasks[i].container) &&
			   !strcmp(w.task, tasks[i].task) && !w.pod[0],
		   "\"%s\": %s %s task %s", tasks[i].path, runtime_name(w.runtime), w.container,
		   w.task);
	}
}

static void test_managers(void)
{
	struct workload w;

	workload_of("/user.slice/user-7.slice/user@7.service/app.slice/a.service", &w);
	ok(w.user_manager && w.uid == 7, "a user's manager");
	workload_of("/user.slice/user-7.slice/user@7.service", &w);
	ok(!w.user_manager, "which is itself the system's");
	workload_of("/docker/" ID "/a.service", &w);
	ok(w.unit_inside, "a container's own systemd");
	workload_of("/system.slice/a.service", &w);
	ok(!w.unit_inside, "and ours");
}

static void test_users(void)
{
	static const struct {
		const char *path;
		bool of_user;
		uint32_t uid;
	} users[] = {
		{"/user.slice/user-1000.slice/x", true, 1000},
		{"/user.slice/user-0.slice", true, 0},
		{"/user.slice/user-4294967295.slice", true, 4294967295},
		{"/user.slice/user-4294967296.slice", false, 0},
		{"/user.slice/user-.slice", false, 0},
		{"/user.slice/user-7x.slice", false, 0},
		{"/user.slice/user-7.scope", false, 0},
		{"/user.slice/user-7", false, 0},
	};

	for (size_t i = 0; i < sizeof(users) / sizeof(users[0]); i++) {
		struct workload w;

		workload_of(users[i].path, &w);
		ok(w.of_user == users[i].of_user && w.uid == users[i].uid, "%s", users[i].path);
	}
}

/* A name in a path has less than 256 bytes, as NAME_MAX says. */
static void test_long_names(void)
{
	char path[300] = "/";
	struct workload w;

	memset(path + 1, 'a', 255);
	memcpy(path + 1 + 255 - 8, ".service", 9);
	workload_of(path, &w);
	is_u64(strlen(w.unit), 255, "the longest name");
	memset(path + 1, 'a', 256);
	memcpy(path + 1 + 256 - 8, ".service", 9);
	workload_of(path, &w);
	is_str(w.unit, "", "one byte more");
}

static void test_hostile(void)
{
	static char path[100000];
	struct workload w;

	memset(path, 'a', sizeof(path) - 1);
	workload_of(path, &w);
	ok(!w.unit[0], "a name that is too long");
	memset(path, '/', sizeof(path) - 1);
	workload_of(path, &w);
	ok(!w.unit[0], "no names at all");
	for (size_t i = 0; i + 4 < sizeof(path); i += 4)
		memcpy(path + i, "/pod", 4);
	workload_of(path, &w);
	ok(!w.pod[0], "pods without an id");
}

int main(void)
{
	test_paths();
	test_tasks();
	test_managers();
	test_users();
	test_long_names();
	test_hostile();
	return tap_done();
}
