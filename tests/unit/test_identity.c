// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "fakeroot.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "collect/names/process_identity.h"
#include "collect/names/pod_names.h"
#include "model/census.h"
#include "tap.h"

#define SECOND	1000000000ULL
#define ID	"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ID2	"fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define ID_REST "456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define POD	"11111111-2222-3333-4444-555555555555"
#define POD_	"11111111_2222_3333_4444_555555555555"
#define HASH	"a1b2c3d4e5f60718293a4b5c6d7e8f90"

#define TASK "cd189a933e5849daa93386466019ab50"

/* State files of runtimes */
#define CRI_POD(uid)                                                                               \
	"\"io.kubernetes.cri.sandbox-namespace\":\"shop\",\"io.kubernetes.cri.sandbox-name\":"     \
	"\"cart-7d9f8b6c5d-x2x9v\",\"io.kubernetes.cri.sandbox-uid\":\"" uid "\""
#define CRI(container, uid)                                                                        \
	"{\"ociVersion\":\"1.1.0\",\"process\":{\"env\":[\"A={\\\"annotations\\\":1}\"]},"         \
	"\"annotations\":{\"io.kubernetes.cri.container-name\":\"" container                       \
	"\",\"io.kubernetes.cri.container-type\":\"container\"," CRI_POD(uid) "}}"
#define DOCKER_LABELS                                                                              \
	"{\"io.kubernetes.container.name\":\"app\",\"io.kubernetes.docker.type\":\"container\","   \
	"\"io.kubernetes.pod.name\":\"web-0\",\"io.kubernetes.pod.namespace\":\"shop\","           \
	"\"io.kubernetes.pod.uid\":\"" POD "\"}"

#define V2    "0::/user.slice/x\n"
#define V1    "4:memory:/\n1:name=systemd:/\n0::/\n"
#define MOUNT "31 23 0:28 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n"

struct machine {
	struct fakeroot root;
	struct identities *ids;
};

/* Makes a machine. `own` is the exporter's /proc/self/cgroup, which shows the cgroup version. */
static struct machine machine_make(const char *own, const char *pattern)
{
	struct machine m = {.root = fakeroot_make()};
	struct identity_options opt = {
		.root = m.root.fd, .collapse = COLLAPSE_DEFAULT, .pattern = pattern};
	char error[256] = "";

	fake_file(&m.root, "proc/self/cgroup", "%s", own);
	fake_file(&m.root, "proc/self/mountinfo", MOUNT);
	if (identities_open(&opt, &m.ids, error, sizeof(error))) {
		printf("Bail out! %s\n", error);
		exit(1);
	}
	return m;
}

static void machine_free(struct machine *m)
{
	identities_close(m->ids);
	fakeroot_free(&m->root);
}

static struct process_record process(uint32_t pid, uint64_t cgroup_id, const char *comm,
				     uint64_t t_ns)
{
	struct process_record r = {
		.h = {RECORD_PROCESS, sizeof(r), t_ns},
		.subject = {pid * 10ULL, pid, 0},
		.g = {.cgroup_id = cgroup_id, .ppid = 1},
	};

	snprintf(r.g.comm, sizeof(r.g.comm), "%s", comm);
	return r;
}

static const char *name_of(struct machine *m, uint32_t pid, uint64_t cgroup_id, const char *comm)
{
	struct process_record r = process(pid, cgroup_id, comm, SECOND);

	return identity_of(m->ids, &r)->name;
}

/*
 * Machines with one process. Columns: description; /proc/self/cgroup of the exporter;
 * /proc/PID/cgroup of the process; its comm; container log files; expected name; expected
 * container.
 */
static const struct {
	const char *what, *own, *text, *comm;
	const char *file[2];
	const char *name, *container;
} rows[] = {
	{"v2: docker",
	 V2,
	 "0::/system.slice/docker-" ID ".scope\n",
	 "nginx",
	 {},
	 "docker/0123456789ab",
	 ""},
	{"v2: docker, its name",
	 V2,
	 "0::/system.slice/docker-" ID ".scope\n",
	 "nginx",
	 {"var/lib/docker/containers/" ID "/config.v2.json={\"Config\":{\"Env\":[\"A=\\\"Name\\\":"
	  "\\\"/evil\\\"\"]},\"MountPoints\":"
	  "{\"/d\":{\"Name\":\"vol\"}},\"Name\":\"/web\",\"Driver\":\"overlay2\"}"},
	 "docker/web",
	 "web"},
	{"v2: kubernetes, names by id",
	 V2,
	 "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" POD_
	 ".slice/cri-containerd-" ID ".scope\n",
	 "java",
	 {"var/log/containers/cart-7d9f8b6c5d-x2x9v_shop_app-" ID ".log="},
	 "shop/cart/app",
	 "app"},
	{"v2: kubernetes, names by uid",
	 V2,
	 "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" POD_
	 ".slice/cri-containerd-" ID ".scope\n",
	 "java",
	 {"var/log/pods/shop_cart-7d9f8b6c5d-x2x9v_" POD "/app/0.log="},
	 "shop/cart/app",
	 "app"},
	{"two containers, no names of theirs",
	 V2,
	 "0::/kubepods/burstable/pod" POD "/" ID "\n",
	 "java",
	 {"var/log/pods/shop_cart-7d9f8b6c5d-x2x9v_" POD "/app/0.log=",
	  "var/log/pods/shop_cart-7d9f8b6c5d-x2x9v_" POD "/proxy/0.log="},
	 "shop/cart/0123456789ab",
	 ""},
	{"the sandbox",
	 V2,
	 "0::/kubepods/burstable/pod" POD "/" ID "\n",
	 "pause",
	 {"var/log/pods/shop_cart-7d9f8b6c5d-x2x9v_" POD "/app/0.log="},
	 "shop/cart/pause",
	 "pause"},
	{"containerd's state",
	 V2,
	 "0::/kubepods.slice/kubepods-pod" POD_ ".slice/cri-containerd-" ID ".scope\n",
	 "java",
	 {"run/containerd/io.containerd.runtime.v2.task/k8s.io/" ID
	  "/config.json=" CRI("app", POD)},
	 "shop/cart/app",
	 "app"},
	{"containerd's state, with logs of two containers",
	 V2,
	 "0::/kubepods/burstable/pod" POD "/" ID "\n",
	 "java",
	 {"var/log/pods/shop_cart-7d9f8b6c5d-x2x9v_" POD "/other/0.log=",
	  "run/k3s/containerd/io.containerd.runtime.v2.task/k8s.io/" ID
	  "/config.json=" CRI("app", POD)},
	 "shop/cart/app",
	 "app"},
	{"containerd's state of another pod",
	 V2,
	 "0::/kubepods/burstable/pod" POD "/" ID "\n",
	 "java",
	 {"run/containerd/io.containerd.runtime.v2.task/k8s.io/" ID
	  "/config.json=" CRI("app", "99999999-2222-3333-4444-555555555555")},
	 "pod/" POD "/0123456789ab",
	 ""},
	{"containerd's state of a sandbox",
	 V2,
	 "0::/kubepods/burstable/pod" POD "/" ID "\n",
	 "catatonit",
	 {"run/containerd/io.containerd.runtime.v2.task/k8s.io/" ID
	  "/config.json={\"annotations\":{\"io.kubernetes.cri.container-type\":"
	  "\"sandbox\"," CRI_POD(POD) "}}"},
	 "shop/cart/pause",
	 "pause"},
	{"CRI-O's state, with annotations of the pod's owner",
	 V2,
	 "0::/kubepods.slice/kubepods-pod" POD_ ".slice/crio-" ID ".scope\n",
	 "java",
	 {"run/containers/storage/overlay-containers/" ID
	  "/userdata/config.json={\"process\":{\"env\":[\"io.kubernetes.pod.name=no\"]},"
	  "\"annotations\":{\"io.kubernetes.cri-o.Annotations\":\"{\\\"io.kubernetes.pod.name\\\":"
	  "\\\"no\\\"}\",\"io.kubernetes.container.name\":\"app\",\"io.kubernetes.cri-o."
	  "ContainerType\":\"container\",\"io.kubernetes.pod.name\":\"web-0\",\"io.kubernetes."
	  "pod.namespace\":\"shop\",\"io.kubernetes.pod.uid\":\"" POD "\"}}"},
	 "shop/web-0/app",
	 "app"},
	{"cri-dockerd's labels",
	 V2,
	 "0::/kubepods.slice/kubepods-pod" POD_ ".slice/docker-" ID ".scope\n",
	 "java",
	 {"var/lib/docker/containers/" ID "/config.v2.json={\"Config\":{\"Labels\":" DOCKER_LABELS
	  "},\"Name\":\"/k8s_app_web-0_shop_x_0\"}"},
	 "shop/web-0/app",
	 "app"},
	{"a docker container with the labels of a pod",
	 V2,
	 "0::/system.slice/docker-" ID ".scope\n",
	 "java",
	 {"var/lib/docker/containers/" ID "/config.v2.json={\"Config\":{\"Labels\":" DOCKER_LABELS
	  "},\"Name\":\"/web\"}"},
	 "docker/web",
	 "web"},
	{"a task of ECS, names by labels",
	 V2,
	 "0::/ecstasks.slice/ecstasks-" TASK ".slice/docker-" ID ".scope\n",
	 "java",
	 {"var/lib/docker/containers/" ID
	  "/config.v2.json={\"Config\":{\"Labels\":{\"com.amazonaws.ecs.container-name\":\"app\","
	  "\"com.amazonaws.ecs.task-arn\":\"arn:aws:ecs:us-west-2:1:task/default/" TASK
	  "\",\"com.amazonaws.ecs.task-definition-family\":\"cart\"}},\"Name\":\"/ecs-x\"}"},
	 "ecs/cart/app",
	 "app"},
	{"a task of ECS, names not known",
	 V1,
	 "4:memory:/ecs/" TASK "/" ID "\n0::/\n",
	 "java",
	 {},
	 "ecs/cd189a933e58/0123456789ab",
	 ""},
	{"a task on Fargate",
	 V1,
	 "4:memory:/ecs/" TASK "/" TASK "-2495160603\n0::/\n",
	 "java",
	 {},
	 "ecs/cd189a933e58/2495160603",
	 ""},
	{"nerdctl",
	 V2,
	 "0::/system.slice/nerdctl-" ID ".scope\n",
	 "nginx",
	 {"run/containerd/io.containerd.runtime.v2.task/default/" ID
	  "/config.json={\"annotations\":{\"nerdctl/name\":\"web\"}}"},
	 "containerd/web",
	 "web"},
	{"another pod's logs",
	 V2,
	 "0::/kubepods/burstable/pod" POD "/" ID "\n",
	 "java",
	 {"var/log/pods/shop_cart_99999999-2222-3333-4444-555555555555/app/0.log=",
	  "var/log/containers/cart_shop_app-" ID2 ".log="},
	 "pod/" POD "/0123456789ab",
	 ""},
	{"a static pod",
	 V2,
	 "0::/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" HASH
	 ".slice/crio-" ID ".scope\n",
	 "etcd",
	 {"var/log/pods/kube-system_etcd-node1_" HASH "/etcd/0.log="},
	 "kube-system/etcd-node1/etcd",
	 "etcd"},
	{"from within a pod: a sibling",
	 V2,
	 "0::/../cri-containerd-" ID ".scope\n",
	 "java",
	 {"var/log/containers/cart-7d9f8b6c5d-x2x9v_shop_app-" ID ".log="},
	 "shop/cart/app",
	 "app"},
	{"from within a pod: another pod",
	 V2,
	 "0::/../../kubepods-pod" POD_ ".slice/crio-" ID ".scope\n",
	 "java",
	 {"var/log/pods/a_b_" POD "/c/0.log="},
	 "a/b/c",
	 "c"},
	{"from within: itself", V2, "0::/\n", "faultscope", {}, "faultscope", ""},
	{"v1: docker under cgroupfs",
	 V1,
	 "12:hugetlb:/docker/" ID "\n4:memory:/docker/" ID "\n1:name=systemd:/docker/" ID
	 "\n0::/system.slice/containerd.service\n",
	 "nginx",
	 {},
	 "docker/0123456789ab",
	 ""},
	{"hybrid: kubernetes",
	 V1,
	 "8:cpu,cpuacct:/kubepods/burstable/pod" POD "/" ID "\n4:memory:/kubepods/burstable/pod" POD
	 "/" ID "\n0::/system.slice/containerd.service\n",
	 "java",
	 {"var/log/containers/web-0_shop_app-" ID ".log="},
	 "shop/web-0/app",
	 "app"},
	{"v1: a unit",
	 V1,
	 "4:memory:/system.slice/ssh.service\n1:name=systemd:/system.slice/ssh.service\n0::/\n",
	 "sshd",
	 {},
	 "ssh.service",
	 ""},
	{"hybrid: a session, and root elsewhere",
	 V1,
	 "4:memory:/user.slice\n1:name=systemd:/user.slice/user-1000.slice/session-3.scope\n0::/"
	 "user.slice/user-1000.slice/session-3.scope\n",
	 "bash",
	 {},
	 "user-1000.slice",
	 ""},
	{"v1: nothing but root",
	 V1,
	 "4:memory:/\n1:name=systemd:/\n0::/\n",
	 "cron",
	 {},
	 "cron",
	 ""},
	{"v1: a colon in a path",
	 V1,
	 "4:memory:/a:b/docker-" ID ".scope\n0::/\n",
	 "x",
	 {},
	 "docker/0123456789ab",
	 ""},
	{"no text at all", V2, "", "x", {}, "x", ""},
	{"no lines", V2, "rubbish\n::\n:\n0:\n", "x", {}, "x", ""},
};

static void put_file(struct machine *m, const char *spec)
{
	char path[256];
	const char *equal = strchr(spec, '=');

	snprintf(path, sizeof(path), "%.*s", (int)(equal - spec), spec);
	fake_file(&m->root, path, "%s", equal + 1);
}

static void test_layouts(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct machine m = machine_make(rows[i].own, NULL);
		struct process_record r = process(9, 77, rows[i].comm, SECOND);
		const struct identity *id;

		fake_file(&m.root, "proc/9/cgroup", "%s", rows[i].text);
		for (int k = 0; k < 2 && rows[i].file[k]; k++)
			put_file(&m, rows[i].file[k]);
		id = identity_of(m.ids, &r);
		ok(!strcmp(id->name, rows[i].name) && !strcmp(id->container, rows[i].container),
		   "%s: %s", rows[i].what, id->name);
		machine_free(&m);
	}
}

static void test_podman(void)
{
	struct machine m = machine_make(V2, NULL);
	static const char line[] = "/usr/bin/conmon\0-c\0" ID "\0-n\0db\0--exit-dir\0/run";
	char path[128];
	FILE *f;

	fake_process(&m.root, 50, 1, "conmon", 0, "0::/machine.slice/libpod-conmon-" ID ".scope\n");
	fake_process(&m.root, 51, 50, "postgres", 0, "0::/machine.slice/libpod-" ID ".scope\n");
	fake_process(&m.root, 52, 51, "postgres", 0, "0::/machine.slice/libpod-" ID ".scope\n");
	f = fopen(fake_path(&m.root, "proc/50/cmdline", path, sizeof(path)), "w");
	fwrite(line, sizeof(line), 1, f);
	fclose(f);
	fake_file(&m.root, "proc/51/cmdline", "postgres");
	fake_file(&m.root, "proc/52/cmdline", "-c");
	is_str(name_of(&m, 52, 5, "postgres"), "podman/db",
	       "podman's name, by who watches over it");
	machine_free(&m);
}

/* Tests that /proc is read for the first process of a cgroup only. Others may have exited. */
static void test_cache(void)
{
	struct machine m = machine_make(V2, NULL);
	struct process_record r;
	const struct identity *id;
	uint64_t serial;

	fake_file(&m.root, "proc/9/cgroup", "0::/system.slice/a.service\n");
	is_str(name_of(&m, 9, 77, "x"), "a.service", "read");
	is_u64(identities_counted(m.ids).reads, 1, "once");
	r = process(10, 77, "y", SECOND);
	r.g.flags = PROC_FINAL;
	id = identity_of(m.ids, &r);
	serial = id->serial;
	ok(!strcmp(id->name, "a.service") && identities_counted(m.ids).reads == 1,
	   "one that has ended is known by its cgroup");
	r = process(11, 88, "z", SECOND);
	is_str(identity_of(m.ids, &r)->name, "z", "nobody can be read: by its program");
	r.h.t_ns = 2 * SECOND;
	identity_of(m.ids, &r);
	is_u64(identities_counted(m.ids).reads, 2, "and not again at once");
	fake_file(&m.root, "proc/11/cgroup", "0::/system.slice/b.service\n");
	r.h.t_ns = 12 * SECOND;
	is_str(identity_of(m.ids, &r)->name, "b.service", "but later");
	r = process(9, 77, "x", SECOND);
	is_u64(identity_of(m.ids, &r)->serial, serial, "the same identity all the time");
	machine_free(&m);
}

/* Tests a process that moves to another cgroup. Its record and /proc may then disagree. */
static void test_moved(void)
{
	struct machine m = machine_make(V2, NULL);
	struct process_record r;
	struct stat st;
	char path[128];

	fake_file(&m.root, "sys/fs/cgroup/a.service/cgroup.procs", "%s", "");
	stat(fake_path(&m.root, "sys/fs/cgroup/a.service", path, sizeof(path)), &st);
	fake_file(&m.root, "proc/9/cgroup", "0::/a.service\n");
	is_str(name_of(&m, 9, st.st_ino + 1, "x"), "x", "the path is of another cgroup");
	is_str(name_of(&m, 9, st.st_ino, "x"), "a.service", "here it is not");
	r = process(10, st.st_ino + 1, "y", SECOND);
	is_str(identity_of(m.ids, &r)->name, "y", "and the first did not become its");
	machine_free(&m);
}

static void tell_made(struct machine *m, uint64_t id, uint32_t hierarchy, uint32_t pid,
		      const char *path)
{
	struct cgroup_path_record r = {.h = {RECORD_CGROUP, sizeof(r), SECOND},
				       .id = id,
				       .hierarchy = hierarchy,
				       .pid = pid};

	snprintf(r.path, sizeof(r.path), "%s", path);
	identities_take(m->ids, &r.h);
}

/* Returns the workload name of a process that has exited, from its record alone. */
static const char *name_at(struct machine *m, uint32_t pid, uint64_t t_ns)
{
	struct process_record r = process(pid, 1, "java", t_ns);

	return identity_of(m->ids, &r)->name;
}

/* A process moves in one hierarchy of version 1 at a time: a path that tells less is not taken. */
static void test_moves(void)
{
	struct machine m = machine_make(V1, NULL);

	fake_file(&m.root, "proc/10/cgroup", "4:memory:/docker/" ID "\n0::/\n");
	is_str(name_at(&m, 10, SECOND), "docker/0123456789ab", "as it was read");
	fake_remove(&m.root, "proc/10/cgroup");
	tell_made(&m, 7, 4, 10, "/docker/" ID2);
	is_str(name_at(&m, 10, SECOND + 1), "docker/fedcba987654", "another path of the same kind");
	tell_made(&m, 7, 5, 10, "/system.slice/a.service");
	is_str(name_at(&m, 10, SECOND + 2), "docker/fedcba987654", "a path that tells less");
	tell_made(&m, 7, 5, 10, "/");
	is_str(name_at(&m, 10, SECOND + 3), "docker/fedcba987654", "a path that tells nothing");
	tell_made(&m, 7, 5, 11, "/docker/" ID);
	is_str(name_at(&m, 10, SECOND + 4), "docker/fedcba987654", "a move of another process");
	machine_free(&m);
}

/* Tests that a move to another cgroup is noticed within a minute if its record was lost. */
static void test_moved_unseen(void)
{
	struct machine m = machine_make(V1, NULL);
	uint64_t reads;

	fake_file(&m.root, "proc/10/cgroup", "4:memory:/docker/" ID "\n0::/\n");
	is_str(name_at(&m, 10, SECOND), "docker/0123456789ab", "version 1: as it was read");
	fake_file(&m.root, "proc/10/cgroup", "4:memory:/docker/" ID2 "\n0::/\n");
	is_str(name_at(&m, 10, 30 * SECOND), "docker/0123456789ab", "not read again at each look");
	is_str(name_at(&m, 10, 62 * SECOND), "docker/fedcba987654", "but after a minute");
	for (uint32_t pid = 100; pid < 300; pid++) {
		char path[32];

		snprintf(path, sizeof(path), "proc/%u/cgroup", pid);
		fake_file(&m.root, path, "4:memory:/docker/" ID "\n0::/\n");
		name_at(&m, pid, 63 * SECOND);
	}
	reads = identities_counted(m.ids).reads;
	for (uint64_t s = 64; s < 200; s++) {
		for (uint32_t pid = 100; pid < 300; pid++)
			name_at(&m, pid, s * SECOND);
		if (s == 123)
			is_u64(identities_counted(m.ids).reads, reads, "no read within the minute");
		if (s == 124)
			is_u64(identities_counted(m.ids).reads - reads, 32, "then 32 a second");
	}
	reads = identities_counted(m.ids).reads - reads;
	ok(reads >= 400 && reads <= 600, "each once a minute: %llu reads",
	   (unsigned long long)reads);
	machine_free(&m);
}

static void test_short_lived(void)
{
	struct fork_record fork = {.h = {RECORD_FORK, sizeof(fork), SECOND},
				   .subject = {100, 10, 0},
				   .cgroup_id = 1,
				   .parent = 9};
	struct exec_record exec = {.h = {RECORD_EXEC, sizeof(exec), SECOND},
				   .subject = {100, 10, 0},
				   .cgroup_id = 5,
				   .execs = 1};
	struct machine m = machine_make(V2, NULL);
	struct process_record r = process(10, 5, "x", SECOND);

	tell_made(&m, 5, 0, 0, "/system.slice/docker-" ID ".scope");
	identities_take(m.ids, &fork.h);
	identities_take(m.ids, &exec.h);
	is_str(identity_of_event(m.ids, &exec.subject, "x", SECOND)->name, "docker/0123456789ab",
	       "an event of a process that no look has seen");
	r.g.flags = PROC_FINAL;
	is_str(identity_of(m.ids, &r)->name, "docker/0123456789ab", "its last record");
	is_u64(identities_counted(m.ids).reads, 0, "without a look into /proc");
	tell_made(&m, 6, 4, 0, "/system.slice/b.service");
	is_str(name_of(&m, 11, 6, "y"), "y", "an id of version 1 is another's");
	machine_free(&m);

	m = machine_make(V1, NULL);
	fake_file(&m.root, "proc/9/cgroup", "4:memory:/system.slice/a.service\n0::/\n");
	is_str(name_of(&m, 9, 1, "x"), "a.service", "v1: its parent");
	identities_take(m.ids, &fork.h);
	is_str(identity_of(m.ids, &r)->name, "a.service", "inherited by one that is gone");
	fork.subject.start_ns = r.subject.start_ns = 200;
	identities_take(m.ids, &fork.h); /* now the pid belongs to another process */
	tell_made(&m, 7, 4, 10, "/docker/" ID);
	tell_made(&m, 7, 5, 10, "/system.slice/containerd.service");
	is_str(identity_of(m.ids, &r)->name, "docker/0123456789ab",
	       "moved: the hierarchy that tells most");
	machine_free(&m);
}

static void test_programs(void)
{
	struct exec_record exec = {.h = {RECORD_EXEC, sizeof(exec), SECOND}, .execs = 1};
	struct machine m = machine_make(V1, NULL);
	struct process_record r = process(9, 1, "a", SECOND);

	fake_file(&m.root, "proc/9/cgroup", V1);
	is_str(identity_of(m.ids, &r)->name, "a", "by its program");
	fake_file(&m.root, "proc/9/cgroup", "4:memory:/system.slice/a.service\n0::/\n");
	is_str(identity_of(m.ids, &r)->name, "a", "it is not read again");
	r.g.execs = 1;
	is_str(identity_of(m.ids, &r)->name, "a.service", "but when it runs another");
	for (int i = 0; i < 1000; i++) {
		exec.subject = (struct process_key){i + 1, i + 1000, 0};
		identities_take(m.ids, &exec.h);
	}
	is_u64(identities_counted(m.ids).skipped, 500, "a storm of programs is not read whole");
	machine_free(&m);
}

static void test_names_come_late(void)
{
	struct machine m = machine_make(V2, NULL);
	struct process_record r = process(9, 77, "java", SECOND);
	const struct identity *id;
	uint64_t serial;

	fake_file(&m.root, "proc/9/cgroup", "0::/kubepods/burstable/pod" POD "/" ID "\n");
	id = identity_of(m.ids, &r);
	serial = id->serial;
	is_str(id->name, "pod/" POD "/0123456789ab", "no names yet");
	put_file(&m, "var/log/pods/shop_web-0_" POD "/init/0.log=");
	id = identity_of(m.ids, &r);
	ok(id->serial == serial, "not looked for at once");
	r.h.t_ns = 2 * SECOND;
	id = identity_of(m.ids, &r);
	ok(!strcmp(id->name, "shop/web-0/init") && id->serial != serial,
	   "the only container so far");
	put_file(&m, "var/log/containers/web-0_shop_app-" ID ".log=");
	r.h.t_ns = 3 * SECOND;
	is_str(identity_of(m.ids, &r)->name, "shop/web-0/app", "then its own name");
	serial = identity_of(m.ids, &r)->serial;
	put_file(&m, "var/log/pods/shop_web-0_" POD "/other/0.log=");
	r.h.t_ns = 1000 * SECOND;
	is_u64(identity_of(m.ids, &r)->serial, serial, "which stays");
	machine_free(&m);
}

static void test_pattern(void)
{
	struct machine m = machine_make(V2, "-[0-9]+|^run");
	struct identity_options opt = {.root = m.root.fd, .pattern = "a("};
	struct identities *ids;
	char error[256] = "";

	fake_file(&m.root, "proc/9/cgroup", "0::/system.slice/runrun-12-shard-7.service\n");
	is_str(name_of(&m, 9, 77, "x"), "*run*-shard*.service", "each match is one *");
	is_u64(-identities_open(&opt, &ids, error, sizeof(error)), EINVAL, "no expression");
	ok(strstr(error, "a("), "says so: %s", error);
	machine_free(&m);
	m = machine_make(V2, "x*");
	fake_file(&m.root, "proc/9/cgroup", "0::/system.slice/axxb.service\n");
	is_str(name_of(&m, 9, 77, "x"), "a*b.service", "a match of nothing is none");
	machine_free(&m);
}

/*
 * Tests more cgroups and pids than the caches hold. Lookups become slower, but their results must
 * stay right.
 */
static void test_many(void)
{
	struct machine m = machine_make(V2, NULL);
	char path[64], name[64];
	unsigned int wrong = 0;

	for (uint64_t round = 0; round < 2; round++)
		for (uint64_t i = 1; i < 20000; i++) {
			snprintf(path, sizeof(path), "/system.slice/u%llu.service",
				 (unsigned long long)i);
			tell_made(&m, i << 32 | 1, 0, 0, path);
			snprintf(name, sizeof(name), "u%llu.service", (unsigned long long)i);
			wrong += strcmp(name_of(&m, i, i << 32 | 1, "x"), name) != 0;
			wrong += strcmp(name_of(&m, i + 100000, i << 32 | 1, "x"), name) != 0;
		}
	is_u64(wrong, 0, "20,000 cgroups, each by its own name");
	for (uint32_t i = 0; i < 100000; i++) {
		snprintf(name, sizeof(name), "c%u", i % 5000);
		wrong += strcmp(name_of(&m, i + 1000, 3, name), name) != 0;
	}
	is_u64(wrong, 0, "100,000 processes of 5,000 programs");
	machine_free(&m);
}

static void test_foreign(void)
{
	struct fakeroot root = fakeroot_make();
	struct identity_options opt = {.root = root.fd, .foreign = true};
	struct machine m = {.root = root};
	char error[64];

	fake_file(&root, "proc/self/cgroup", "0::/\n");
	fake_file(&root, "proc/9/cgroup", "0::/system.slice/a.service\n");
	identities_open(&opt, &m.ids, error, sizeof(error));
	is_str(name_of(&m, 9, 77, "x"), "x", "pids that are not ours are not read");
	is_u64(identities_counted(m.ids).reads, 0, "never");
	machine_free(&m);
}

/* Tests that a search of the host's cgroup file system finds a cgroup by its id. */
static void test_walked(void)
{
	static const char path[] =
		"host/kubepods.slice/kubepods-pod" POD_ ".slice/cri-containerd-" ID ".scope";
	struct fakeroot root = fakeroot_make();
	struct identity_options opt = {.root = root.fd, .foreign = true};
	struct machine m = {.root = root};
	char error[64], file[512];
	struct stat st, top;

	fake_file(&root, "proc/self/cgroup", "0::/\n");
	snprintf(file, sizeof(file), "%s/cgroup.procs", path);
	fake_file(&root, file, "\n");
	identities_open(&opt, &m.ids, error, sizeof(error));
	fstatat(root.fd, path, &st, 0);
	fstatat(root.fd, "host", &top, 0);
	is_str(name_of(&m, 9, st.st_ino, "x"), "x", "before it is walked through");
	is_u64(identities_walk(m.ids, openat(root.fd, "host", O_RDONLY | O_DIRECTORY)), 0,
	       "there is room");
	is_str(name_of(&m, 9, st.st_ino, "x"), "pod/" POD "/0123456789ab", "a pod's container");
	is_str(name_of(&m, 8, top.st_ino, "y"), "y", "the root tells nothing");
	is_str(name_of(&m, 7, 1ULL << 60, "z"), "z", "nor does one that is not there");
	machine_free(&m);
}

#define WORKLOADS 24
#define LOOKS	  120
#define PROGRAMS  400 /* number of new programs between two scans */

/* Each workload has two processes. One of them is active in each scan, and the other one sleeps. */
static uint32_t pid_of(unsigned int workload, bool sleeps)
{
	return 1000 + workload * 2 + sleeps;
}

static const struct identity *tell(struct machine *m, struct census *c, uint32_t pid,
				   uint64_t cgroup_id, const char *comm, unsigned int look)
{
	struct process_record r = process(pid, cgroup_id, comm, (look + 1) * SECOND);
	const struct identity *id = identity_of(m->ids, &r);

	if (census_take(c, &r, id, r.h.t_ns))
		exit(1);
	return id;
}

static unsigned int lost_labels(const struct census *c)
{
	unsigned int lost = 0;

	for (uint32_t i = 0; i < c->owned; i++)
		lost += c->own[i]->id.kind == KIND_CONTAINER && !c->own[i]->one;
	return lost;
}

/*
 * Tests short-lived programs, each with its own name. The workloads that live during the whole test
 * must keep their entry in the census, and their labels.
 */
static void test_churn(const char *own, const char *line, const char *what)
{
	static const struct census_limits limits = {
		.workloads = 50, .series = 5000, .series_each = 20, .retention_ns = 300 * SECOND};
	uint64_t serial[WORKLOADS] = {}, wrong = 0, lost = 0;
	struct machine m = machine_make(own, NULL);
	char path[64], name[32];
	struct census c;

	census_init(&c, &limits);
	for (unsigned int look = 0; look < LOOKS; look++) {
		for (unsigned int w = 0; w < WORKLOADS; w++) {
			for (int k = 0; !look && k < 2; k++) {
				snprintf(path, sizeof(path), "proc/%u/cgroup", pid_of(w, k));
				fake_file(&m.root, path, line, w);
				serial[w] = tell(&m, &c, pid_of(w, k), 100 + w, "x", 0)->serial;
			}
			wrong += serial[w] !=
				 tell(&m, &c, pid_of(w, false), 100 + w, "x", look)->serial;
		}
		for (unsigned int i = 0; i < PROGRAMS; i++) {
			snprintf(name, sizeof(name), "p%u", look * PROGRAMS + i);
			identity_of_event(m.ids, &(struct process_key){9, 9, 0}, name,
					  (look + 1) * SECOND);
		}
		census_update(&c, (look + 1) * SECOND, 65530);
		lost += lost_labels(&c);
	}
	ok(!wrong, "%s: another identity at %llu looks", what, (unsigned long long)wrong);
	ok(!lost, "%s: labels lost %llu times", what, (unsigned long long)lost);
	/* If the process that supplied a workload's labels exits, another one supplies them. */
	for (unsigned int w = 0; w < WORKLOADS; w++)
		census_gone(&c, &(struct process_key){pid_of(w, true) * 10ULL, pid_of(w, true), 0});
	census_update(&c, LOOKS * SECOND, 65530);
	ok(!lost_labels(&c), "%s: labels stay when members end", what);
	census_free(&c);
	machine_free(&m);
}

int main(void)
{
	test_churn(V2, "0::/docker/%04x" ID_REST "\n", "v2");
	test_churn(V1, "4:memory:/docker/%04x" ID_REST "\n0::/\n", "both versions");
	test_layouts();
	test_podman();
	test_cache();
	test_moved();
	test_moved_unseen();
	test_moves();
	test_short_lived();
	test_programs();
	test_names_come_late();
	test_pattern();
	test_many();
	test_foreign();
	test_walked();
	return tap_done();
}
