// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests who set a limit, on random machines: random values and files of sysctl.d, limits.conf,
 * systemd units, cgroups and /proc. The test compares checksums over the origins of all limits, and
 * over the commands that change them.
 *
 * If the environment variable FS_SHOW_EXPECTED=FILE is set, the origins are appended to FILE.
 */
#include "fakeroot.h"
#include "rules/remedy.h"
#include "sums.h"

#define MACHINES 40
#define SUMS	 4
#define ID	 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static uint64_t dice = 7;

static uint64_t below(uint64_t n)
{
	return roll(&dice) % n;
}

#define ANY(list) (list[below(sizeof(list) / sizeof(list[0]))])

/* Returns a value of a limit as configuration files write it; few values, so that many are equal.
 */
static const char *value(void)
{
	static const char *const values[] = {"1024",   "4096",	    "65530",	"65536", "524288",
					     "8M",     "4K",	    "infinity", "max",	 "-1",
					     "0x1000", "1024:4096", "4096:8M",	"15%",	 "",
					     "9525",   "8192",	    "unlimited"};

	return ANY(values);
}

/* Returns a value as /proc and cgroups show it. */
static const char *plain_value(void)
{
	static const char *const values[] = {"1024",	"4096", "65530", "65536",  "524288",
					     "8388608", "8192", "9525",	 "1048576"};

	return ANY(values);
}

static void sometimes(const struct fakeroot *r, unsigned int one_of, const char *path,
		      const char *text)
{
	if (!below(one_of))
		fake_file(r, path, "%s", text);
}

/* Writes files that set sysctls. */
static void make_sysctls(const struct fakeroot *r)
{
	static const char *const files[] = {
		"etc/sysctl.d/10-a.conf",	   "etc/sysctl.d/99-z.conf",
		"usr/lib/sysctl.d/10-a.conf",	   "run/sysctl.d/50-b.conf",
		"lib/sysctl.d/60-c.conf",	   "etc/sysctl.conf",
		"usr/local/lib/sysctl.d/99-z.conf"};
	static const char *const keys[] = {"vm.max_map_count",
					   "vm/max_map_count",
					   "fs.file-max",
					   "-fs.nr_open",
					   "-vm.max_map_count",
					   "vm.*",
					   "fs.*",
					   "kernel.pid_max",
					   "kernel/threads-max",
					   "*.max_map_count",
					   "# vm.max_map_count",
					   "; fs.file-max",
					   "other"};
	char text[1024];

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		size_t len = 0, lines = 1 + below(4);

		for (size_t k = 0; k < lines; k++) {
			const char *key = ANY(keys), *v = value();

			len += snprintf(text + len, sizeof(text) - len, "%s%s%s\n", key,
					below(4) ? " = " : "=", v);
		}
		sometimes(r, 3, files[i], text);
	}
	for (int i = 0; i < NR_LIMITS; i++) {
		char path[128];

		snprintf(path, sizeof(path), "proc/sys/%s", limit_table[i].path ?: "x");
		sometimes(r, 2, path, plain_value());
	}
	sometimes(r, 3, "proc/cmdline",
		  "ro quiet sysctl.vm.max_map_count=65536 sysctl.fs/file-max=4096 x");
	sometimes(r, 2, "run/systemd/system/x", "");
}

/* Writes a section of a unit file or of a configuration of systemd. */
static void make_unit(const struct fakeroot *r, const char *path, const char *section,
		      const char *prefix)
{
	static const char *const keys[] = {"LimitNOFILE",   "LimitNPROC",  "LimitMEMLOCK",
					   "LimitAS",	    "MemoryMax",   "MemoryHigh",
					   "TasksMax",	    "LimitDATA",   "LimitSTACK",
					   "MemorySwapMax", "#LimitNOFILE"};
	char text[1024];
	int len = snprintf(text, sizeof(text), "%s[%s]\n", below(3) ? "" : "# a comment\n",
			   below(9) ? section : "Other");
	uint64_t lines = 1 + below(4);

	for (uint64_t i = 0; i < lines; i++) {
		const char *key = ANY(keys), *v = value();

		len += snprintf(text + len, sizeof(text) - len, "%s%s=%s%s\n", prefix, key, v,
				below(9) ? "" : " \\\n more");
	}
	sometimes(r, 3, path, text);
}

static void make_units(const struct fakeroot *r)
{
	make_unit(r, "etc/systemd/system/b.service", "Service", "");
	make_unit(r, "usr/lib/systemd/system/b.service", "Service", "");
	make_unit(r, "etc/systemd/system/b.service.d/10-x.conf", "Service", "");
	make_unit(r, "run/systemd/system/service.d/20-y.conf", "Service", "");
	make_unit(r, "etc/systemd/system.control/b.service.d/50-z.conf", "Service", "");
	make_unit(r, "run/systemd/transient/run-1.scope", "Scope", "");
	make_unit(r, "etc/systemd/system/a.slice", "Slice", "");
	make_unit(r, "etc/systemd/user/c.service", "Service", "");
	make_unit(r, "run/user/1000/systemd/transient/c.service", "Service", "");
	make_unit(r, "etc/systemd/system.conf", "Manager", "Default");
	make_unit(r, "etc/systemd/system.conf.d/5.conf", "Manager", "Default");
	make_unit(r, "usr/lib/systemd/user.conf", "Manager", "Default");
}

static void make_logins(const struct fakeroot *r)
{
	static const char *const who[] = {"ann",   "*",	   "@dev",	 "@ann", "root", "1000:",
					  ":1000", "%dev", "@1000:1001", "bob",	 "#ann"};
	static const char *const items[] = {"nofile", "nproc", "memlock", "as", "data", "stack"};
	static const char *const kinds[] = {"soft", "hard", "-"};
	static const char *const files[] = {"etc/security/limits.conf",
					    "etc/security/limits.d/10.conf",
					    "etc/security/limits.d/20.conf"};
	char text[1024];

	fake_file(r, "etc/passwd",
		  "root:x:0:0::/root:/bin/sh\nann:x:1000:1000:A:/home/ann:/bin/sh\n");
	fake_file(r, "etc/group", "dev:x:50:bob,ann\nann:x:1000:\n");
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		int len = 0;

		for (int k = 0; k < 5; k++) {
			const char *name = ANY(who), *kind = ANY(kinds), *item = ANY(items),
				   *v = value();

			len += snprintf(text + len, sizeof(text) - len, "%s %s %s %s\n", name, kind,
					item, v);
		}
		sometimes(r, 2, files[i], text);
	}
}

static void make_process(const struct fakeroot *r, unsigned int pid, unsigned int ppid)
{
	static const char *const cgroups[] = {
		"0::/a.slice/b.service\n",
		"0::/a.slice/b.service/inner\n",
		"0::/init.scope\n",
		"0::/user.slice/user-1000.slice/session-3.scope\n",
		"0::/\n",
		"0::/user.slice/user-1000.slice/user@1000.service/app.slice/c.service\n",
		"0::/system.slice/docker-" ID ".scope\n",
		"0::/a.slice/run-1.scope\n",
		"5:memory:/a.slice\n4:pids:/a.slice\n0::/a.slice/b.service\n",
		"0::/kubepods.slice/kubepods-pod01234567_89ab_cdef_0123_456789abcdef.slice/"
		"cri-containerd-" ID ".scope\n"};
	static const char *const titles[] = {"Max open files",	  "Max processes",
					     "Max locked memory", "Max address space",
					     "Max data size",	  "Max stack size"};
	static const char *const names[] = {"systemd",	       "sshd", "bash",	 "dockerd",
					    "containerd-shim", "java", "python3"};
	const char *name = ANY(names), *cgroup = ANY(cgroups);
	char path[64], text[2048];
	int len = snprintf(text, sizeof(text), "Limit  Soft Limit  Hard Limit  Units\n");

	fake_process(r, pid, ppid, name, below(2) * 1000, cgroup);
	for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++) {
		const char *soft = below(3) ? plain_value() : "unlimited";
		const char *hard = below(2) ? plain_value() : "unlimited";

		len += snprintf(text + len, sizeof(text) - len, "%-25s %-20s %-20s units\n",
				titles[i], soft, hard);
	}
	snprintf(path, sizeof(path), "proc/%u/limits", pid);
	sometimes(r, 8, path, "Limit\n");
	if (below(8))
		fake_file(r, path, "%s", text);
}

static void make_cgroups(const struct fakeroot *r)
{
	static const char *const mounts[] = {
		"31 23 0:28 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n",
		"31 23 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
		"32 23 0:29 / /sys/fs/cgroup rw - cgroup cgroup rw,memory\n"
		"33 23 0:30 / /sys/fs/cgroup rw - cgroup cgroup rw,pids\n",
		"31 23 0:28 /a.slice /sys/fs/cgroup/a.slice rw - cgroup2 cgroup2 rw\n"};
	static const char *const dirs[] = {"a.slice",
					   "a.slice/b.service",
					   "a.slice/b.service/inner",
					   "user.slice/user-1000.slice",
					   "system.slice",
					   "system.slice/docker-" ID ".scope",
					   "a.slice/run-1.scope"};
	static const char *const files[] = {"memory.max",
					    "memory.current",
					    "memory.high",
					    "memory.swap.max",
					    "pids.max",
					    "pids.current",
					    "memory.limit_in_bytes",
					    "memory.usage_in_bytes",
					    "hugetlb.2MB.max",
					    "hugetlb.2MB.current",
					    "memory.low"};

	fake_file(r, "proc/self/mountinfo", "22 27 0:21 / /proc rw - proc proc rw\n%s",
		  ANY(mounts));
	fake_file(r, "proc/meminfo", "MemTotal: 1000 kB\nHugepagesize:       2048 kB\n");
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
		for (size_t k = 0; k < sizeof(files) / sizeof(files[0]); k++) {
			char path[256];

			snprintf(path, sizeof(path), "sys/fs/cgroup/%s/%s", dirs[i], files[k]);
			sometimes(r, 3, path, below(4) ? plain_value() : "max\n");
		}
}

static void mix_workload(uint64_t *sum, const struct workload *w)
{
	mix(sum, w->runtime | w->unit_inside << 8 | w->user_manager << 9 | w->kubepods << 10 |
			 w->delegated << 11 | w->of_user << 12);
	mix(sum, w->uid);
	mix_text(sum, w->container);
	mix_text(sum, w->pod);
	mix_text(sum, w->unit);
}

static void mix_process(uint64_t *sum, const struct origin_process *p)
{
	mix(sum, (uint64_t)p->pid << 32 | p->uid);
	mix_text(sum, p->comm);
	mix(sum, p->known ? p->soft ^ p->hard << 1 : 1);
}

static void mix_origin(uint64_t *sum, const struct origin *o)
{
	mix(sum, o->known ? o->value : 7);
	mix(sum, o->hard);
	mix(sum, o->used);
	mix(sum, o->swap_known ? o->swap : 7);
	mix(sum, o->most);
	mix(sum, o->from | o->raised << 8 | o->outside << 9 | o->line.glob << 10);
	mix(sum, (uint64_t)o->generations << 32 | o->levels);
	mix(sum, (uint64_t)o->unread << 32 | o->line.line);
	mix_text(sum, o->line.file);
	mix_text(sum, o->line.text);
	mix_text(sum, o->line.value);
	mix_text(sum, o->dir);
	mix_text(sum, o->file);
	mix_process(sum, &o->holder);
	mix_process(sum, &o->above);
	mix_workload(sum, &o->workload);
	mix_workload(sum, &o->at_holder);
}

static void mix_remedies(uint64_t *sum, const struct origin *o, unsigned int pid)
{
	struct remedy_for f = {.pid = pid % 2 ? pid : 0, .gone = pid == 77};
	static struct remedy r[REMEDY_MAX];
	size_t n;

	f.want = below(3) ? 0 : 1ULL << below(40);
	f.most = below(2) ? 0 : 1 << 20;
	n = remedies_for(o, &f, r);
	mix(sum, n);
	for (size_t i = 0; i < n; i++) {
		mix(sum,
		    r[i].kind | r[i].scope << 4 | r[i].persistent << 8 | (r[i].risk[0] != 0) << 9);
		mix_text(sum, r[i].command);
	}
}

static void show(const struct origin *o, int machine, unsigned int pid)
{
	const char *path = getenv("FS_SHOW_EXPECTED");
	FILE *file = path ? fopen(path, "a") : NULL;

	if (!file)
		return;
	fprintf(file, "%d: %s of %u: %" PRIu64 ", %s: %s\n", machine,
		o->limit ? o->limit->name : "?", pid, o->value, origin_name(o->from), fake_said(o));
	fclose(file);
}

/* Finds the origin of each limit of each process of a machine, and of a process that is gone. */
static void find_all(const struct fakeroot *r, int machine, uint64_t *sum)
{
	static const unsigned int pids[] = {1, 5, 9, 12, 77};

	for (size_t i = 0; i < sizeof(pids) / sizeof(pids[0]); i++)
		for (int limit = 0; limit < NR_LIMITS; limit++) {
			struct origin_of of = {.pid = pids[i],
					       .ppid = 9,
					       .cgroup = "/a.slice/b.service",
					       .at_cgroup = pids[i] == 77 && machine % 2};
			struct origin o = {};

			/* a limit of the machine is the same for all processes */
			if (i && limit_table[limit].kind == LIMIT_OF_MACHINE)
				continue;
			if (origin_find(r->fd, &of, limit, &o))
				abort();
			mix_origin(sum, &o);
			mix_remedies(sum, &o, pids[i]);
			show(&o, machine, pids[i]);
		}
}

int main(void)
{
	struct sum sums[SUMS] = {
		{"machines 0 to 9", SUM_BEGINS, 0x79e6e6c313543f24},
		{"machines 10 to 19", SUM_BEGINS, 0x911567be674a890b},
		{"machines 20 to 29", SUM_BEGINS, 0xb16dddb50e20dec5},
		{"machines 30 to 39", SUM_BEGINS, 0x1a67c4a0fd89bfbe},
	};

	for (int machine = 0; machine < MACHINES; machine++) {
		struct fakeroot r = fakeroot_make();

		make_sysctls(&r);
		make_units(&r);
		make_logins(&r);
		make_process(&r, 1, 0);
		make_process(&r, 5, 1);
		make_process(&r, 9, 5);
		make_process(&r, 12, 9);
		make_cgroups(&r);
		find_all(&r, machine, &sums[machine / (MACHINES / SUMS)].got);
		fakeroot_free(&r);
	}
	are_sums(sums, SUMS);
	return tap_done();
}
