// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/buf.h"
#include "model/identity.h"
#include "tap.h"

#define ID   "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define POD  "11111111-2222-3333-4444-555555555555"
#define POD_ "11111111_2222_3333_4444_555555555555"
#define HASH "a1b2c3d4e5f60718293a4b5c6d7e8f90"
#define UUID "3c8e2a54-1b7d-4e0a-9a55-d0b6a1f2c3d4"

#define USER	  "/user.slice/user-1000.slice/"
#define MANAGED	  USER "user@1000.service/"
#define BURSTABLE "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" POD_ ".slice/"

/*
 * All cgroup layouts. Columns: cgroup path; known names (namespace, pod, container, comm); kind of
 * workload; expected name with default options.
 */
static const struct {
	const char *path;
	const char *namespace, *pod, *container, *comm;
	enum workload_kind kind;
	const char *name;
} rows[] = {
	/* Kubernetes: cgroupfs and systemd drivers, each QoS class, static pods, nested clusters */
	{"/kubepods/burstable/pod" POD "/" ID, "shop", "cart-7d9f8b6c5d-x2x9v", "app", "java",
	 KIND_POD, "shop/cart/app"},
	{"/kubepods/besteffort/pod" POD "/" ID, "shop", "web-0", "app", "java", KIND_POD,
	 "shop/web-0/app"},
	{"/kubepods/pod" POD "/" ID, NULL, NULL, NULL, "java", KIND_POD,
	 "pod/" POD "/0123456789ab"},
	{BURSTABLE "cri-containerd-" ID ".scope", "shop", "cart-7d9f8b6c5d-x2x9v", "app", "java",
	 KIND_POD, "shop/cart/app"},
	{BURSTABLE "crio-" ID ".scope", "kube-system", "kube-proxy-x7k2p", "kube-proxy", "x",
	 KIND_POD, "kube-system/kube-proxy/kube-proxy"},
	{BURSTABLE "docker-" ID ".scope", "shop", "backup-29231040-x2x9v", "dump", "x", KIND_POD,
	 "shop/backup/dump"},
	{"/kubepods.slice/kubepods-pod" POD_ ".slice/cri-containerd-" ID ".scope", "a", "b", NULL,
	 "x", KIND_POD, "a/b/0123456789ab"},
	{"/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" HASH
	 ".slice/cri-containerd-" ID ".scope",
	 "kube-system", "etcd-node1", "etcd", "etcd", KIND_POD, "kube-system/etcd-node1/etcd"},
	{"/kubepods/burstable/pod" HASH "/" ID, NULL, NULL, NULL, "etcd", KIND_POD,
	 "pod/" HASH "/0123456789ab"},
	{BURSTABLE "crio-conmon-" ID ".scope", "shop", "web-0", NULL, "conmon", KIND_POD,
	 "shop/web-0"},
	{"/system.slice/containerd.service/kubepods-burstable-pod" POD_ ".slice:cri-containerd:" ID,
	 "shop", "web-0", "app", "x", KIND_POD, "shop/web-0/app"},
	{"/docker/" ID "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" POD_
	 ".slice/cri-containerd-" ID ".scope",
	 "shop", "web-0", "app", "x", KIND_POD, "shop/web-0/app"},
	{"/../../kubepods-burstable-pod" POD_ ".slice/cri-containerd-" ID ".scope", "shop", "web-0",
	 "app", "x", KIND_POD, "shop/web-0/app"},
	/* containers: the name is shown if it is known, else the id */
	{"/docker/" ID, NULL, NULL, NULL, "x", KIND_CONTAINER, "docker/0123456789ab"},
	{"/system.slice/docker-" ID ".scope", NULL, NULL, "web", "x", KIND_CONTAINER, "docker/web"},
	{"/../docker-" ID ".scope", NULL, NULL, NULL, "x", KIND_CONTAINER, "docker/0123456789ab"},
	{MANAGED "user.slice/docker-" ID ".scope", NULL, NULL, NULL, "x", KIND_CONTAINER,
	 "docker/0123456789ab"},
	{"/machine.slice/libpod-" ID ".scope/container", NULL, NULL, "db", "x", KIND_CONTAINER,
	 "podman/db"},
	{"/machine.slice/machine-libpod_pod_" ID ".slice/libpod-" ID ".scope", NULL, NULL, NULL,
	 "x", KIND_CONTAINER, "podman/0123456789ab"},
	{MANAGED "user.slice/user-libpod_pod_" ID ".slice/libpod-" ID ".scope/container", NULL,
	 NULL, NULL, "x", KIND_CONTAINER, "podman/0123456789ab"},
	{"/libpod_parent/libpod-" ID, NULL, NULL, NULL, "x", KIND_CONTAINER, "podman/0123456789ab"},
	{"/default/" ID, NULL, NULL, NULL, "x", KIND_CONTAINER, "containerd/0123456789ab"},
	{"/system.slice/nerdctl-" ID ".scope", NULL, NULL, NULL, "x", KIND_CONTAINER,
	 "containerd/0123456789ab"},
	{"/system.slice/crio-" ID ".scope", NULL, NULL, NULL, "x", KIND_CONTAINER,
	 "cri-o/0123456789ab"},
	{"/k8s.io/" ID, NULL, NULL, NULL, "x", KIND_CONTAINER, "container/0123456789ab"},
	{"/lxc.payload.web.prod/system.slice/nginx.service", NULL, NULL, NULL, "x", KIND_CONTAINER,
	 "lxc/web.prod"},
	{"/lxc/web", NULL, NULL, NULL, "x", KIND_CONTAINER, "lxc/web"},
	{"/lxc.payload.project_c1/init.scope", NULL, NULL, NULL, "x", KIND_CONTAINER,
	 "lxc/project_c1"},
	{"/machine.slice/machine-web\\x2dprod.scope/payload", NULL, NULL, NULL, "x", KIND_CONTAINER,
	 "nspawn/web-prod"},
	{"/machine.slice/systemd-nspawn@web.service/payload", NULL, NULL, NULL, "x", KIND_CONTAINER,
	 "nspawn/web"},
	{"/machine.slice/machine-lxc\\x2d211\\x2dweb.scope", NULL, NULL, NULL, "x", KIND_CONTAINER,
	 "lxc/web"},
	/* systemd units, sessions, and other cgroups */
	{"/machine.slice/machine-qemu\\x2d7\\x2dweb.scope/libvirt/vcpu0", NULL, NULL, NULL, "x",
	 KIND_UNIT, "machine-qemu-7-web.scope"},
	{"/system.slice/ssh.service", NULL, NULL, NULL, "sshd", KIND_UNIT, "ssh.service"},
	{"/system.slice/system-postgresql.slice/postgresql@15-main.service", NULL, NULL, NULL, "x",
	 KIND_UNIT, "postgresql@15-main.service"},
	{"/system.slice/db.service/workers/7", NULL, NULL, NULL, "x", KIND_UNIT, "db.service"},
	{"/system.slice/web.service/libpod-payload-" ID, NULL, NULL, NULL, "x", KIND_UNIT,
	 "web.service"},
	{"/system.slice/snap.lxd.daemon.service", NULL, NULL, NULL, "x", KIND_UNIT,
	 "snap.lxd.daemon.service"},
	{"/lxc.monitor.web", NULL, NULL, NULL, "[lxc monitor]", KIND_COMM, "[lxc monitor]"},
	{USER "session-3.scope", NULL, NULL, NULL, "bash", KIND_SESSION, "user-1000.slice"},
	{USER "session-c1.scope", NULL, NULL, NULL, "bash", KIND_SESSION, "user-1000.slice"},
	{MANAGED "init.scope", NULL, NULL, NULL, "systemd", KIND_SESSION, "user-1000.slice"},
	{USER, NULL, NULL, NULL, "x", KIND_SESSION, "user-1000.slice"},
	{MANAGED "app.slice/pipewire.service", NULL, NULL, NULL, "x", KIND_UNIT,
	 "user@1000/pipewire.service"},
	{MANAGED "app.slice/app-flatpak-org.gimp.GIMP-4211.scope", NULL, NULL, NULL, "x", KIND_UNIT,
	 "user@1000/app-flatpak-org.gimp.GIMP-#.scope"},
	{MANAGED "app.slice/app-gnome-org.gnome.Terminal\\x2dx-4211.scope", NULL, NULL, NULL, "x",
	 KIND_UNIT, "user@1000/app-gnome-org.gnome.Terminal-x-#.scope"},
	{MANAGED "app.slice/snap.firefox.firefox-" UUID ".scope", NULL, NULL, NULL, "x", KIND_UNIT,
	 "user@1000/snap.firefox.firefox-#.scope"},
	{"/", NULL, NULL, NULL, "cart", KIND_COMM, "cart"},
	{"", NULL, NULL, NULL, NULL, KIND_COMM, "?"},
	{"/init.scope", NULL, NULL, NULL, "systemd", KIND_COMM, "systemd"},
	{"/system.slice", NULL, NULL, NULL, "x", KIND_COMM, "x"},
	{"/db/backend", NULL, NULL, NULL, "db", KIND_COMM, "db"},
	{"/../../..", NULL, NULL, NULL, "x", KIND_COMM, "x"},
	/* a program may set any comm; here, it looks like the name of a pod */
	{"/", NULL, NULL, NULL, "shop/cart/app", KIND_COMM, "shop_cart_app"},
	{"/", NULL, NULL, NULL, "ssh.service", KIND_COMM, "ssh_service"},
	{"/", NULL, NULL, NULL, "~other", KIND_COMM, "_other"},
	{"/", NULL, NULL, NULL, "a\"b\\c\n\xff\xc3", KIND_COMM, "a\"b\\c???"},
	{"/", NULL, NULL, NULL, "\xc3\xa4\xc2\x9b\xe2\x82\xac", KIND_COMM, "\xc3\xa4?\xe2\x82\xac"},
};

static struct identity make(const char *path, const struct identity_names *n, unsigned int collapse)
{
	struct workload w;
	struct identity id;

	workload_of(path, &w);
	identity_make(&w, n, collapse, &id);
	return id;
}

static void test_layouts(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct identity_names n = {rows[i].namespace, rows[i].pod, rows[i].container,
					   rows[i].comm, false};
		struct identity id = make(rows[i].path, &n, COLLAPSE_DEFAULT);

		ok(id.kind == rows[i].kind && !strcmp(id.name, rows[i].name), "%s: %s %s",
		   rows[i].path, workload_kind_name(id.kind), id.name);
	}
}

static void test_labels(void)
{
	struct identity_names n = {"shop", "cart-7d9f8b6c5d-x2x9v", "app", "java", false};
	struct identity id = make("/kubepods/pod" POD "/" ID, &n, COLLAPSE_DEFAULT);

	is_str(id.namespace, "shop", "namespace");
	is_str(id.pod, "cart-7d9f8b6c5d-x2x9v", "the pod, whole");
	is_str(id.container, "app", "container");
	is_str(id.pod_uid, POD, "uid");
	is_str(id.container_id, ID, "and id");
	n = (struct identity_names){.comm = "x"};
	id = make("/lxc.payload.web", &n, 0);
	ok(!id.container_id[0] && !strcmp(id.container, "web"), "a name is no id");
	n.kernel_thread = true;
	id = make("/", &n, 0);
	is_str(id.name, "kthreadd", "the kernel's threads are one");
}

static const struct {
	const char *unit;
	unsigned int collapse;
	const char *name;
} unit_rows[] = {
	{"sshd@3-10.0.0.1:22-10.0.0.2:4444.service", COLLAPSE_TRANSIENT, "sshd@#.service"},
	{"sshd@3-10.0.0.1:22-10.0.0.2:4444.service", 0, "sshd@3-10.0.0.1:22-10.0.0.2:4444.service"},
	{"sshd@0-fe80::1%eth0:22-fe80::2%eth0:9.service", COLLAPSE_TRANSIENT, "sshd@#.service"},
	{"systemd-coredump@12-3456-0.service", COLLAPSE_TRANSIENT, "systemd-coredump@#.service"},
	{"getty@tty1.service", COLLAPSE_TRANSIENT, "getty@tty1.service"},
	{"getty@tty1.service", COLLAPSE_INSTANCES, "getty@#.service"},
	{"postgresql@15-main.service", COLLAPSE_INSTANCES, "postgresql@#.service"},
	{"getty@.service", COLLAPSE_INSTANCES, "getty@.service"},
	{"run-u123.service", COLLAPSE_TRANSIENT, "run-#.service"},
	{"run-r" HASH ".scope", COLLAPSE_TRANSIENT, "run-#.scope"},
	{"run-p4211-i4212.service", COLLAPSE_TRANSIENT, "run-#.service"},
	{"run-webserver.service", COLLAPSE_TRANSIENT, "run-webserver.service"},
	{"redis-6379.service", COLLAPSE_TRANSIENT, "redis-6379.service"},
	{"php8.1-fpm.service", COLLAPSE_TRANSIENT, "php8.1-fpm.service"},
	{"dbus-:1.2-org.freedesktop.problems@0.service", COLLAPSE_TRANSIENT,
	 "dbus-#-org.freedesktop.problems@0.service"},
	{UUID ".web.scope", COLLAPSE_TRANSIENT, "#.web.scope"},
	{"libpod-conmon-" ID ".scope", COLLAPSE_TRANSIENT, "libpod-conmon-#.scope"},
	{"x-4211.scope", 0, "x-4211.scope"},
};

static const struct {
	const char *pod;
	unsigned int collapse;
	const char *name;
} pod_rows[] = {
	{"cart-7d9f8b6c5d-x2x9v", COLLAPSE_REPLICAS, "cart"},
	{"cart-7d9f-x2x9v", COLLAPSE_REPLICAS, "cart"},
	{"cart-7d9f8b6c5d-x2x9v", 0, "cart-7d9f8b6c5d-x2x9v"},
	{"cart-db-x2x9v", COLLAPSE_REPLICAS, "cart-db"},
	{"cart-cdbf-x2x9v", COLLAPSE_REPLICAS, "cart-cdbf"},
	{"kube-proxy-x7k2p", COLLAPSE_REPLICAS, "kube-proxy"},
	{"kube-proxy", COLLAPSE_REPLICAS, "kube-proxy"},
	{"my-nginx", COLLAPSE_REPLICAS, "my-nginx"},
	{"web-0", COLLAPSE_REPLICAS, "web-0"},
	{"backup-29231040-x2x9v", COLLAPSE_JOBS, "backup"},
	{"backup-1607817600-x2x9v", COLLAPSE_JOBS, "backup"},
	{"backup-29231040-x2x9v", COLLAPSE_REPLICAS, "backup-29231040"},
	{"cart-7d9f8b6c5d-x2x9v", COLLAPSE_JOBS, "cart-7d9f8b6c5d-x2x9v"},
	{"-x2x9v", COLLAPSE_REPLICAS, "-x2x9v"},
	{"x2x9v", COLLAPSE_REPLICAS, "x2x9v"},
	{"", COLLAPSE_REPLICAS, ""},
};

static void test_collapse(void)
{
	struct identity_names n = {.comm = "x", .namespace = "n", .container = "c"};
	char path[512];

	for (size_t i = 0; i < sizeof(unit_rows) / sizeof(unit_rows[0]); i++) {
		struct identity id;

		snprintf(path, sizeof(path), "/system.slice/%s", unit_rows[i].unit);
		id = make(path, &n, unit_rows[i].collapse);
		is_str(id.name, unit_rows[i].name, unit_rows[i].unit);
	}
	for (size_t i = 0; i < sizeof(pod_rows) / sizeof(pod_rows[0]); i++) {
		struct identity id;
		char wanted[256];

		n.pod = pod_rows[i].pod;
		id = make("/kubepods/pod" POD "/" ID, &n, pod_rows[i].collapse);
		snprintf(wanted, sizeof(wanted), "n/%s/c", pod_rows[i].name);
		is_str(id.name, wanted, pod_rows[i].pod);
	}
	n = (struct identity_names){.comm = "bash"};
	is_str(make(USER "session-3.scope", &n, 0).name, "user-1000.slice/session-3.scope",
	       "sessions apart");
}

static bool is_label(const char *s)
{
	uint32_t code;

	if (strlen(s) >= LABEL_BYTES)
		return false;
	for (int len; *s; s += len) {
		len = utf8_decode(s, &code);
		if (!len || code < 0x20 || (code >= 0x7f && code < 0xa0))
			return false;
	}
	return true;
}

/* Tests that every input results in a valid label. */
static void test_hostile(void)
{
	static const char *const parts[] = {
		"/",
		"kubepods",
		"pod",
		POD,
		POD_,
		HASH,
		ID,
		".slice",
		".scope",
		".service",
		"-",
		"@",
		"~",
		"\xff",
		"\xc3",
		"\xe2\x82",
		"\xe2\x82\xac",
		"\n",
		"\"",
		"\\x2d",
		"\\x00",
		"docker-",
		"libpod-",
		"crio-",
		"machine-",
		"lxc.payload.",
		"user-",
		"user@",
		"1",
		"4294967295",
		"99999999999999999999",
		"run-",
		"session-",
		":1.",
		"..",
		"lxc-",
		"a",
	};
	const size_t nr_parts = sizeof(parts) / sizeof(parts[0]);
	uint32_t seed = 1, bad = 0;
	char path[4096], word[2][600];

	for (int i = 0; i < 200000; i++) {
		struct identity_names n = {};
		struct identity id;

		path[0] = word[0][0] = word[1][0] = 0;
		for (int k = (seed >> 24) % 40; k >= 0; k--) {
			const char *part;

			seed = seed * 1664525 + 1013904223;
			part = parts[(seed >> 10) % nr_parts];
			strcat(path, part);
			if (strlen(word[k & 1]) < 500)
				strcat(word[k & 1], part);
		}
		n.comm = word[0];
		if (seed & 1 << 30)
			n.namespace = word[1], n.pod = word[0];
		if (seed & 1 << 29)
			n.container = word[1];
		id = make(path, &n, seed >> 20 & 15);
		bad += !id.name[0] || id.name[0] == '~' || !is_label(id.name) ||
		       !is_label(id.pod) || !is_label(id.namespace) || !is_label(id.container) ||
		       !is_label(id.container_id) || !is_label(id.pod_uid);
	}
	is_u64(bad, 0, "200,000 paths of hostile parts: labels");
}

int main(void)
{
	test_layouts();
	test_labels();
	test_collapse();
	test_hostile();
	return tap_done();
}
