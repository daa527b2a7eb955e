// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "rules/remedy.h"

#include <stdlib.h>

#include "tap.h"

#define ID  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define POD "11111111-2222-3333-4444-555555555555"

static struct remedy r[REMEDY_MAX];

/* Returns the command of the first workaround; "none" if there is no workaround. */
static const char *gain(const struct origin *o, uint64_t want, uint32_t pid, bool persistent)
{
	const struct remedy_for f = {.want = want, .pid = pid};
	const struct remedy *one;

	one = remedy_find(r, remedies_for(o, &f, r), REMEDY_WORKAROUND, persistent);
	return one ? one->command : "none";
}

static struct origin of(enum limit_id limit, uint64_t value, uint64_t hard)
{
	return (struct origin){
		.limit = &limit_table[limit], .known = true, .value = value, .hard = hard};
}

static void test_machine(void)
{
	struct origin o = of(LIMIT_MAX_MAP_COUNT, 65530, 0);

	is_str(gain(&o, 0, 0, false), "sysctl -w vm.max_map_count=1048576", "the usual value");
	is_str(gain(&o, 1 << 22, 0, false), "sysctl -w vm.max_map_count=4194304", "what is wanted");
	is_str(gain(&o, 1ULL << 40, 0, false), "sysctl -w vm.max_map_count=2147483647",
	       "never more than the kernel takes");
	is_str(gain(&o, 0, 0, true),
	       "echo 'vm.max_map_count = 1048576' > /etc/sysctl.d/99-max_map_count.conf && "
	       "sysctl -p /etc/sysctl.d/99-max_map_count.conf",
	       "a file of its own");
	o.line = (struct origin_line){.file = "/usr/lib/sysctl.d/99-z.conf", .line = 4};
	ok(strstr(gain(&o, 0, 0, true), "/etc/sysctl.d/zz-max_map_count.conf"),
	   "that comes after the one which says otherwise");
	strcpy(o.line.file, "/etc/sysctl.d/my file.conf");
	is_str(gain(&o, 0, 0, true),
	       "sed -i '4s/.*/vm.max_map_count = 1048576/' '/etc/sysctl.d/my file.conf' && "
	       "sysctl -p '/etc/sysctl.d/my file.conf'",
	       "the line that sets it");
	o.line.glob = true;
	ok(strstr(gain(&o, 0, 0, true), "echo"), "but not one that sets more");
	o = of(LIMIT_OVERCOMMIT_MEMORY, 2, 0);
	is_str(gain(&o, 0, 0, false), "sysctl -w vm.overcommit_memory=0", "a mode: the next one");
	o.value = 0;
	is_str(gain(&o, 0, 0, false), "sysctl -w vm.overcommit_memory=1", "and the next");
	o = of(LIMIT_INOTIFY_INSTANCES, 128, 0);
	is_str(gain(&o, 8192, 0, false), "sysctl -w fs.inotify.max_user_instances=8192", "inotify");
}

static void test_host_wide(void)
{
	struct origin o = of(LIMIT_MAX_MAP_COUNT, 65530, 0);
	const struct remedy_for f = {};
	bool pod = false;
	size_t n;

	workload_of("/kubepods/pod" POD "/" ID, &o.workload);
	n = remedies_for(&o, &f, r);
	for (size_t i = 0; i < n; i++) {
		if (r[i].kind == REMEDY_WORKAROUND)
			ok(r[i].scope == SCOPE_HOST && strstr(r[i].text, "host"),
			   "is said: %s", r[i].text);
		pod |= strstr(r[i].command, "privileged: true") != NULL;
	}
	ok(pod, "a pod needs a privileged container for it");
	ok(strstr(remedy_find(r, n, REMEDY_WORKAROUND, false)->text, "not in the container"),
	   "where");
	workload_of("/docker/" ID, &o.workload);
	n = remedies_for(&o, &f, r);
	pod = false;
	for (size_t i = 0; i < n; i++)
		pod |= strstr(r[i].text, "--sysctl") != NULL;
	ok(pod, "docker cannot set it for one container");
}

static void test_running(void)
{
	struct origin o = of(LIMIT_NOFILE, 1024, 524288);
	const struct remedy_for gone = {.want = 4096, .pid = 77, .gone = true};

	is_str(gain(&o, 4096, 77, false),
	       "prlimit --pid 77 --nofile=4096:", "up to the hard limit, which stays");
	ok(!strstr(r[1].text, "root"), "without root: %s", r[1].text);
	is_str(gain(&o, 1 << 20, 77, false), "prlimit --pid 77 --nofile=1048576:1048576", "above");
	ok(strstr(r[1].text, "root"), "with root: %s", r[1].text);
	o.most = 524288;
	is_str(gain(&o, 1 << 20, 77, false),
	       "sysctl -w fs.nr_open=1048576 && prlimit --pid 77 --nofile=1048576:1048576",
	       "and above fs.nr_open");
	is_str(gain(&o, 4096, 0, false), "ulimit -Sn 4096", "in a shell");
	is_str(gain(&o, 524289, 0, false),
	       "sysctl -w fs.nr_open=524289 && prlimit --pid $$ --nofile=524289:524289",
	       "above the hard limit");
	remedies_for(&o, &gone, r);
	is_str(r[1].command, "ulimit -Sn 4096", "of who is gone: for the next");
	o = of(LIMIT_MEMLOCK, 8 << 20, 8 << 20);
	o.hard = LIMIT_NONE;
	is_str(gain(&o, 64 << 20, 0, false), "ulimit -Sl 65536", "in its own units");
	is_str(gain(&o, 64 << 20, 7, false), "prlimit --pid 7 --memlock=67108864:", "or bytes");
}

static void test_lasting(void)
{
	struct origin o = of(LIMIT_NOFILE, 1024, 524288);

	is_str(gain(&o, 4096, 77, true), "none", "nobody known to have set it");
	strcpy(o.at_holder.unit, "db.service");
	is_str(gain(&o, 4096, 77, true),
	       "mkdir -p /etc/systemd/system/db.service.d && printf "
	       "'[Service]\\nLimitNOFILE=4096:524288\\n' > "
	       "/etc/systemd/system/db.service.d/zz-nofile.conf && systemctl daemon-reload && "
	       "systemctl restart db.service",
	       "a drop-in of the unit, and the hard limit stays");
	o.at_holder.user_manager = true;
	ok(strstr(gain(&o, 4096, 77, true), "mkdir -p ~/.config/systemd/user/db.service.d ") &&
		   strstr(r[2].command, "systemctl --user restart"),
	   "a user's own");
	strcpy(o.at_holder.unit, "session-3.scope");
	o.holder.uid = 1000;
	is_str(gain(&o, 4096, 77, true),
	       "echo ':1000 soft nofile 4096' > /etc/security/limits.d/zz-nofile.conf",
	       "a login's");
	o.holder.uid = 0;
	is_str(gain(&o, 1 << 20, 77, true),
	       "echo 'root - nofile 1048576' > /etc/security/limits.d/zz-nofile.conf", "root's");
}

static void test_containers(void)
{
	struct origin o = of(LIMIT_NOFILE, 1024, 1024);

	workload_of("/docker/" ID, &o.workload);
	is_str(gain(&o, 4096, 77, true), "docker run --ulimit nofile=4096:4096 ...",
	       "it is given at the start");
	workload_of("/machine.slice/libpod-" ID ".scope", &o.workload);
	is_str(gain(&o, 4096, 77, true), "podman run --ulimit nofile=4096:4096 ...", "podman");
	workload_of("/kubepods.slice/kubepods-pod" POD ".slice/cri-containerd-" ID ".scope",
		    &o.workload);
	ok(strstr(gain(&o, 4096, 77, true), "containerd.service.d/zz-nofile.conf"), "on the node");
	workload_of("/kubepods.slice/kubepods-pod" POD ".slice/crio-" ID ".scope", &o.workload);
	is_str(gain(&o, 4096, 77, true),
	       "printf '[crio.runtime]\\ndefault_ulimits = [\"nofile=4096:4096\"]\\n' > "
	       "/etc/crio/crio.conf.d/zz-nofile.conf && systemctl restart crio",
	       "cri-o");
	workload_of("/lxc.payload.web", &o.workload);
	is_str(gain(&o, 4096, 77, true), "lxc config set web limits.kernel.nofile=4096", "lxc");
}

static void test_cgroups(void)
{
	struct origin o = of(LIMIT_CGROUP_MEMORY, 1 << 30, 0);
	const struct remedy_for f = {};

	is_u64(remedies_for(&o, &f, r), 1, "where none binds there is nothing to raise");
	o.used = 1 << 30;
	o.from = ORIGIN_HAND;
	strcpy(o.dir, "/sys/fs/cgroup/a b/$(id)");
	strcpy(o.file, "memory.max");
	is_str(gain(&o, 0, 0, false), "echo 2147483648 > '/sys/fs/cgroup/a b/$(id)/memory.max'",
	       "the file");
	strcpy(o.dir, "/sys/fs/cgroup/system.slice/db.service");
	strcpy(o.at_holder.unit, "db.service");
	is_str(gain(&o, 0, 0, true), "systemctl set-property db.service MemoryMax=2147483648",
	       "the unit");
	o.from = ORIGIN_RUNTIME;
	workload_of("/docker/" ID, &o.at_holder);
	is_str(gain(&o, 1 << 20, 0, false),
	       "docker update --memory 1048576 --memory-swap 1074790400 " ID,
	       "the container, with the swap that docker gives by itself");
	o.swap_known = true;
	is_str(gain(&o, 3ULL << 30, 0, false),
	       "docker update --memory 3221225472 --memory-swap 3221225472 " ID,
	       "one that may not swap still may not");
	o.swap = 1 << 20;
	is_str(gain(&o, 3ULL << 30, 0, false),
	       "docker update --memory 3221225472 --memory-swap 3222274048 " ID,
	       "one that may a little may no more");
	o.swap = LIMIT_NONE;
	is_str(gain(&o, 3ULL << 30, 0, false),
	       "docker update --memory 3221225472 --memory-swap -1 " ID, "one without a limit");
	workload_of("/kubepods/pod" POD "/" ID, &o.at_holder);
	is_str(gain(&o, 3 << 20, 0, true),
	       "kubectl set resources deployment/NAME --limits=memory=3Mi", "the pod");
	o.limit = &limit_table[LIMIT_CGROUP_PIDS];
	workload_of("/docker/" ID, &o.at_holder);
	is_str(gain(&o, 100, 0, false), "docker update --pids-limit 100 " ID, "pids");
}

static bool is_command(const char *command)
{
	char file[] = "/tmp/remedy.XXXXXX", check[64];
	int fd = mkstemp(file);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
	bool good;

	if (!f)
		return false;
	fputs(command, f);
	fclose(f);
	snprintf(check, sizeof(check), "sh -n %s", file);
	good = !system(check);
	remove(file);
	return good;
}

/* Tests that no process name or path can make a suggestion run a second command. */
static void test_all(void)
{
	static const char *const paths[] = {
		"/",
		"/system.slice/a'; touch pwned; '.service",
		"/system.slice/$(touch pwned).scope",
		"/docker/" ID,
		"/kubepods/pod" POD "/" ID,
		"/lxc.payload.;touch pwned;",
		"/machine.slice/systemd-nspawn@`touch pwned`.service",
		"/user.slice/user-1.slice/user@1.service/a \".service",
	};
	size_t commands = 0, bad = 0, unsafe = 0;

	for (enum limit_id l = 0; l < NR_LIMITS; l++)
		for (size_t p = 0; p < sizeof(paths) / sizeof(paths[0]); p++) {
			struct origin o = of(l, 1000, 2000);
			const struct remedy_for f = {.pid = 7};
			size_t n;

			workload_of(paths[p], &o.workload);
			o.at_holder = o.workload;
			o.from = o.workload.runtime ? ORIGIN_RUNTIME : ORIGIN_HAND;
			snprintf(o.dir, sizeof(o.dir), "/sys/fs/cgroup%s", paths[p]);
			strcpy(o.file, "memory.max");
			n = remedies_for(&o, &f, r);
			for (size_t i = 0; i < n; i++) {
				bool yaml = strstr(r[i].command, "Containers:") ||
					    strstr(r[i].command, "podPidsLimit:");

				if (!*r[i].command || yaml)
					continue;
				commands++;
				bad += !r[i].text[0] || !is_command(r[i].command);
				unsafe +=
					strstr(r[i].command, "touch") && !strstr(r[i].command, "'");
			}
		}
	ok(commands > 300 && !bad && !unsafe, "%zu commands: %zu no command, %zu not quoted",
	   commands, bad, unsafe);
}

static void test_long(void)
{
	struct origin o = of(LIMIT_CGROUP_MEMORY, 1000, 0);

	o.from = ORIGIN_HAND;
	memset(o.dir, '\'', sizeof(o.dir) - 1);
	strcpy(o.file, "memory.max");
	is_str(gain(&o, 0, 0, false), "none", "a command that would be cut is none");
}

int main(void)
{
	test_machine();
	test_host_wide();
	test_running();
	test_lasting();
	test_containers();
	test_cgroups();
	test_all();
	test_long();
	return tap_done();
}
