// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "fakeroot.h"

#include "collect/cgroup/cgroup_tree.h"
#include "collect/limits/origin_cgroup.h"
#include "tap.h"

#define ID	 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define V2_MOUNT "31 23 0:28 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n"

static void set_level(const struct fakeroot *r, const char *dir, const char *max, const char *now)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/memory.max", dir);
	fake_file(r, path, "%s\n", max);
	snprintf(path, sizeof(path), "%s/memory.current", dir);
	fake_file(r, path, "%s\n", now);
}

static struct fakeroot make_v2(const char *cgroup)
{
	struct fakeroot r = fakeroot_make();

	fake_file(&r, "proc/self/mountinfo", "22 27 0:21 / /proc rw - proc proc rw\n" V2_MOUNT);
	fake_process(&r, 9, 1, "job", 0, cgroup);
	return r;
}

static void test_v2(void)
{
	struct fakeroot r = make_v2("0::/a.slice/b.service/c\n");
	struct origin o = fake_find(&r, 9, LIMIT_CGROUP_MEMORY);

	ok(!o.known, "no files: not told");
	set_level(&r, "sys/fs/cgroup/a.slice/b.service/c", "max", "1000");
	o = fake_find(&r, 9, LIMIT_CGROUP_MEMORY);
	is_str(fake_said(&o), "no cgroup of the hierarchy", "no limit at all");
	ok(o.known && o.value == LIMIT_NONE, "is known to be none");
	set_level(&r, "sys/fs/cgroup/a.slice/b.service", "8192", "4096");
	fake_file(&r, "sys/fs/cgroup/a.slice/b.service/memory.swap.max", "12288\n");
	o = fake_find(&r, 9, LIMIT_CGROUP_MEMORY);
	ok(o.swap_known && o.swap == 12288, "what it may swap besides");
	o = fake_find(&r, 9, LIMIT_CGROUP_MEMORY);
	is_str(fake_said(&o),
	       "the process that created the cgroup, or a later change, in "
	       "/sys/fs/cgroup/a.slice/b.service/memory.max"
	       ", 1 level up",
	       "one level up");
	set_level(&r, "sys/fs/cgroup/a.slice", "20480", "20000");
	o = fake_find(&r, 9, LIMIT_CGROUP_MEMORY);
	ok(o.value == 20480 && o.used == 20000 && o.levels == 2, "the one with the least left");
	fake_file(&r, "etc/systemd/system/a.slice", "[Slice]\nMemoryMax=20K\n");
	o = fake_find(&r, 9, LIMIT_CGROUP_MEMORY);
	is_str(fake_said(&o),
	       "a.slice: /etc/systemd/system/a.slice:2: MemoryMax=20K, in "
	       "/sys/fs/cgroup/a.slice/memory.max, 2 levels up",
	       "its unit's line");
	fake_file(&r, "etc/systemd/system.control/a.slice.d/50-MemoryMax.conf",
		  "[Slice]\nMemoryMax=1G\n");
	o = fake_find(&r, 9, LIMIT_CGROUP_MEMORY);
	ok(o.from == ORIGIN_HAND && o.line.line == 2, "a line that says otherwise");
	fakeroot_free(&r);
}

static void test_containers(void)
{
	struct fakeroot r = make_v2("0::/system.slice/docker-" ID ".scope/inner\n");
	struct origin o;

	set_level(&r, "sys/fs/cgroup/system.slice/docker-" ID ".scope", "8192", "4096");
	o = fake_find(&r, 9, LIMIT_CGROUP_MEMORY);
	ok(o.from == ORIGIN_RUNTIME, "a container's: %s", fake_said(&o));
	set_level(&r, "sys/fs/cgroup/system.slice/docker-" ID ".scope/inner", "4096", "4096");
	o = fake_find(&r, 9, LIMIT_CGROUP_MEMORY);
	ok(o.from == ORIGIN_HAND, "one that it made itself: %s", fake_said(&o));
	fakeroot_free(&r);
	r = make_v2("0::/../x\n");
	fake_link(&r, "proc/self/ns/pid", "pid:[4026532000]");
	set_level(&r, "sys/fs/cgroup", "8192", "4096");
	o = fake_find(&r, 9, LIMIT_CGROUP_MEMORY);
	ok(o.from == ORIGIN_OUTSIDE, "from within: %s", fake_said(&o));
	fakeroot_free(&r);
}

static void test_v1(void)
{
	struct fakeroot r = fakeroot_make();
	struct origin o;

	fake_file(&r, "proc/self/mountinfo",
		  "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
		  "36 31 0:33 /outer /mnt/a\\040b rw - cgroup cgroup rw,cpu,pids\n"
		  "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
	fake_process(&r, 9, 1, "job", 0,
		     "8:pids,cpu:/outer/p\n4:memory:/m/n\n1:name=systemd:/x.service\n0::/u\n");
	fake_file(&r, "sys/fs/cgroup/memory/m/n/memory.limit_in_bytes", "9223372036854771712\n");
	fake_file(&r, "sys/fs/cgroup/memory/m/n/memory.usage_in_bytes", "5\n");
	fake_file(&r, "sys/fs/cgroup/memory/m/memory.limit_in_bytes", "8192\n");
	fake_file(&r, "sys/fs/cgroup/memory/m/memory.usage_in_bytes", "9000\n");
	o = fake_find(&r, 9, LIMIT_CGROUP_MEMORY);
	ok(o.value == 8192 && !strcmp(o.dir, "/sys/fs/cgroup/memory/m"),
	   "version 1; what has no limit says a large number");
	is_str(o.file, "memory.limit_in_bytes", "its file");
	fake_file(&r, "mnt/a b/p/pids.max", "100\n");
	fake_file(&r, "mnt/a b/p/pids.current", "90\n");
	o = fake_find(&r, 9, LIMIT_CGROUP_PIDS);
	ok(o.value == 100 && o.used == 90 && !strcmp(o.dir, "/mnt/a b/p"),
	   "mounted elsewhere, and not from its root");
	o = fake_find(&r, 9, LIMIT_CGROUP_MEMORY_HIGH);
	ok(!o.known, "version 1 has no memory.high");
	fakeroot_free(&r);
}

static void test_pids(void)
{
	struct fakeroot r = make_v2("0::/system.slice/b.service\n");
	const char *max = "sys/fs/cgroup/system.slice/b.service/pids.max";
	struct origin o;

	fake_file(&r, "proc/sys/kernel/pid_max", "4194304\n");
	fake_file(&r, "proc/sys/kernel/threads-max", "63502\n");
	fake_file(&r, max, "9525\n");
	fake_file(&r, "sys/fs/cgroup/system.slice/b.service/pids.current", "3\n");
	o = fake_find(&r, 9, LIMIT_CGROUP_PIDS);
	is_str(fake_said(&o),
	       "b.service: systemd's default for units, in "
	       "/sys/fs/cgroup/system.slice/b.service/pids.max",
	       "15 % of what there can be");
	fake_file(&r, max, "20954\n");
	o = fake_find(&r, 9, LIMIT_CGROUP_PIDS);
	ok(o.from == ORIGIN_HAND, "another figure");
	fake_file(&r, "etc/systemd/system.conf", "[Manager]\nDefaultTasksMax=33%%\n");
	o = fake_find(&r, 9, LIMIT_CGROUP_PIDS);
	is_str(o.line.file, "/etc/systemd/system.conf", "another default");
	fakeroot_free(&r);
}

static void test_hugetlb(void)
{
	struct fakeroot r = make_v2("0::/h\n");
	struct origin o;

	fake_file(&r, "proc/meminfo", "MemTotal: 1 kB\nHugepagesize:       1048576 kB\n");
	fake_file(&r, "sys/fs/cgroup/h/hugetlb.1GB.max", "1073741824\n");
	fake_file(&r, "sys/fs/cgroup/h/hugetlb.1GB.current", "0\n");
	o = fake_find(&r, 9, LIMIT_CGROUP_HUGETLB);
	is_str(o.file, "hugetlb.1GB.max", "named by the size of a page");
	is_u64(o.value, 1 << 30, "its value");
	fakeroot_free(&r);
}

static void test_gone(void)
{
	struct fakeroot r = make_v2("0::/h\n");
	struct origin_of of = {.pid = 4242, .cgroup = "/k"};
	struct origin o;

	set_level(&r, "sys/fs/cgroup/k", "8192", "4096");
	origin_find(r.fd, &of, LIMIT_CGROUP_MEMORY, &o);
	is_u64(o.value, 8192, "of a process that is gone: where it was");
	of.cgroup = NULL;
	origin_find(r.fd, &of, LIMIT_CGROUP_MEMORY, &o);
	ok(!o.known && o.from == ORIGIN_UNKNOWN, "or nothing");
	fakeroot_free(&r);
}

static void test_hostile(void)
{
	struct fakeroot r = fakeroot_make();
	static char path[4000];
	struct origin o;

	fake_file(&r, "proc/self/mountinfo", "\n-\n1 2 3\n31 23 0:28 / /x rw -\n\\\n" V2_MOUNT);
	memset(path, '/', sizeof(path) - 1);
	fake_process(&r, 9, 1, "job", 0, "0::/\n");
	fake_file(&r, "proc/9/cgroup", "0::%s\n", path);
	o = fake_find(&r, 9, LIMIT_CGROUP_MEMORY);
	ok(!o.known, "an endless path ends");
	fake_file(&r, "proc/9/cgroup", "0:\n::\n0::/\n");
	fake_file(&r, "sys/fs/cgroup/x", "%s", "");
	o = fake_find(&r, 9, LIMIT_CGROUP_MEMORY);
	ok(o.known && o.value == LIMIT_NONE, "the root has no limit");
	fakeroot_free(&r);
}

/* systemd's default is 15 % of all pids; its rounding may differ by one. */
static void test_rounded_shares(void)
{
	static const struct {
		const char *max;
		enum origin_from from;
	} rows[] = {{"629142", ORIGIN_HAND},	{"629143", ORIGIN_HAND},
		    {"629144", ORIGIN_MANAGER}, {"629145", ORIGIN_MANAGER},
		    {"629146", ORIGIN_MANAGER}, {"629147", ORIGIN_HAND}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fakeroot r = make_v2("0::/system.slice/b.service\n");
		struct origin o;

		fake_file(&r, "proc/sys/kernel/pid_max", "4194304\n");
		fake_file(&r, "sys/fs/cgroup/system.slice/b.service/pids.max", "%s\n", rows[i].max);
		fake_file(&r, "sys/fs/cgroup/system.slice/b.service/pids.current", "3\n");
		o = fake_find(&r, 9, LIMIT_CGROUP_PIDS);
		is_u64(o.from, rows[i].from, rows[i].max);
		fakeroot_free(&r);
	}
}

/* The kernel rounds a limit down to whole pages, so that the line of a unit may say more. */
static void test_rounded_pages(void)
{
	static const struct {
		const char *said, *limit;
		enum origin_from from;
	} rows[] = {{"8192", "8192", ORIGIN_FILE},  {"12287", "8192", ORIGIN_FILE},
		    {"12288", "8192", ORIGIN_HAND}, {"8191", "8192", ORIGIN_HAND},
		    {"8193", "8193", ORIGIN_FILE},  {"max", "8192", ORIGIN_HAND}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fakeroot r = make_v2("0::/b.service\n");
		struct origin o;

		set_level(&r, "sys/fs/cgroup/b.service", rows[i].limit, "4096");
		fake_file(&r, "etc/systemd/system/b.service", "[Service]\nMemoryMax=%s\n",
			  rows[i].said);
		o = fake_find(&r, 9, LIMIT_CGROUP_MEMORY);
		is_u64(o.from, rows[i].from, rows[i].said);
		is_u64(o.line.line, 2, "the line is told in each case");
		fakeroot_free(&r);
	}
}

/* Before systemd 231, MemoryMax= was called MemoryLimit=. */
static void test_old_name(void)
{
	struct fakeroot r = make_v2("0::/b.service\n");
	struct origin o;

	set_level(&r, "sys/fs/cgroup/b.service", "8192", "4096");
	fake_file(&r, "sys/fs/cgroup/b.service/pids.max", "8192\n");
	fake_file(&r, "sys/fs/cgroup/b.service/pids.current", "1\n");
	fake_file(&r, "etc/systemd/system/b.service", "[Service]\nMemoryLimit=8192\n");
	o = fake_find(&r, 9, LIMIT_CGROUP_MEMORY);
	ok(o.from == ORIGIN_FILE && o.line.line == 2, "the old name of the limit");
	o = fake_find(&r, 9, LIMIT_CGROUP_PIDS);
	ok(o.from == ORIGIN_HAND, "it is none of pids");
	fakeroot_free(&r);
}

/* cgroup v1 has a limit of memory and swap together. */
static void test_swap_of_v1(void)
{
	static const struct {
		const char *both;
		uint64_t want;
	} rows[] = {{"8193", 1},
		    {"8192", 0},
		    {"8191", 0},
		    {"1152921504606846975", (1ULL << 60) - 1 - 8192},
		    {"1152921504606846976", LIMIT_NONE}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fakeroot r = fakeroot_make();
		struct origin o;

		fake_file(&r, "proc/self/mountinfo",
			  "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
		fake_process(&r, 9, 1, "job", 0, "4:memory:/m\n");
		fake_file(&r, "sys/fs/cgroup/memory/m/memory.limit_in_bytes", "8192\n");
		fake_file(&r, "sys/fs/cgroup/memory/m/memory.usage_in_bytes", "5\n");
		fake_file(&r, "sys/fs/cgroup/memory/m/memory.memsw.limit_in_bytes", "%s\n",
			  rows[i].both);
		o = fake_find(&r, 9, LIMIT_CGROUP_MEMORY);
		ok(o.swap_known, "the limit of swap is known");
		is_u64(o.swap, rows[i].want, rows[i].both);
		fakeroot_free(&r);
	}
}

/*
 * Who has set the limit of a cgroup: a line of its unit, systemd's default for tasks, the container
 * runtime, or somebody else.
 */
static void test_judged(void)
{
	static const char in_docker[] = "system.slice/docker-" ID ".scope";
	static const struct {
		enum limit_id limit;
		const char *dir; /* the cgroup of the process, which has the limit */
		const char *value;
		const char *file, *text; /* a file of systemd; NULL: none */
		enum origin_from from;
		unsigned int line;
		const char *unit;
		const char *name;
	} rows[] = {
		{LIMIT_CGROUP_PIDS, "system.slice/b.service", "629145", NULL, NULL, ORIGIN_MANAGER,
		 0, "b.service", "the default of a service"},
		{LIMIT_CGROUP_PIDS, "system.slice/b.scope", "629145", NULL, NULL, ORIGIN_MANAGER, 0,
		 "b.scope", "the default of a scope"},
		{LIMIT_CGROUP_PIDS, "b.slice", "629145", NULL, NULL, ORIGIN_HAND, 0, "b.slice",
		 "a slice has no default"},
		{LIMIT_CGROUP_PIDS, "b.slice", "99", "etc/systemd/system/b.slice",
		 "[Slice]\nTasksMax=99\n", ORIGIN_FILE, 2, "b.slice", "a line of a slice"},
		{LIMIT_CGROUP_PIDS, "b.slice", "629145", "etc/systemd/system.conf",
		 "[Manager]\nDefaultTasksMax=629145\n", ORIGIN_HAND, 0, "b.slice",
		 "the default of the configuration is not for slices"},
		{LIMIT_CGROUP_PIDS, "b.service", "99", "etc/systemd/system.conf",
		 "[Manager]\nDefaultTasksMax=99\n", ORIGIN_FILE, 2, "b.service",
		 "a default of the configuration"},
		{LIMIT_CGROUP_PIDS, "b.service", "98", "etc/systemd/system.conf",
		 "[Manager]\nDefaultTasksMax=99\n", ORIGIN_HAND, 0, "b.service",
		 "another value than the default"},
		{LIMIT_CGROUP_PIDS, "b.service", "629145", "etc/systemd/system.conf",
		 "[Manager]\nDefaultTasksMax=99\n", ORIGIN_MANAGER, 0, "b.service",
		 "15 % in spite of another default"},
		{LIMIT_CGROUP_PIDS, "b.service", "15000", NULL, NULL, ORIGIN_MANAGER, 0,
		 "b.service", "15 % of all threads"},
		{LIMIT_CGROUP_PIDS, "b.service", "20000", "etc/systemd/system/b.service",
		 "[Service]\nTasksMax=20%\n", ORIGIN_FILE, 2, "b.service", "20 % of all threads"},
		{LIMIT_CGROUP_PIDS, "b.service", "20002", "etc/systemd/system/b.service",
		 "[Service]\nTasksMax=20%\n", ORIGIN_HAND, 2, "b.service", "a bit more than 20 %"},
		{LIMIT_CGROUP_PIDS, "b.service", "15000", "etc/systemd/system/b.service",
		 "[Service]\nTasksMax=99\n", ORIGIN_HAND, 2, "b.service",
		 "a unit with another value has no default"},
		{LIMIT_CGROUP_PIDS, "b.socket", "15000", NULL, NULL, ORIGIN_HAND, 0, "b.socket",
		 "a socket"},
		{LIMIT_CGROUP_PIDS, "b", "15000", NULL, NULL, ORIGIN_HAND, 0, "", "no unit"},
		{LIMIT_CGROUP_MEMORY, "b.service", "15000", NULL, NULL, ORIGIN_HAND, 0, "b.service",
		 "memory has no default"},
		{LIMIT_CGROUP_MEMORY, "b.service", "8192", "etc/systemd/system/b.service",
		 "[Service]\nMemoryMax=8K\n", ORIGIN_FILE, 2, "b.service", "a line of a service"},
		{LIMIT_CGROUP_MEMORY, "b.service", "8192", "etc/systemd/system/b.service",
		 "[Service]\nMemoryHigh=8K\n", ORIGIN_HAND, 0, "b.service",
		 "a line of another limit"},
		{LIMIT_CGROUP_MEMORY_HIGH, "b.service", "8192", "etc/systemd/system/b.service",
		 "[Service]\nMemoryHigh=8K\n", ORIGIN_FILE, 2, "b.service",
		 "a line of memory.high"},
		{LIMIT_CGROUP_MEMORY_HIGH, "b.service", "8192", "etc/systemd/system/b.service",
		 "[Service]\nMemoryLimit=8K\n", ORIGIN_HAND, 0, "b.service",
		 "the old name of another limit"},
		{LIMIT_CGROUP_HUGETLB, "b.service", "2097152", NULL, NULL, ORIGIN_HAND, 0,
		 "b.service", "a limit that units do not set"},
		{LIMIT_CGROUP_PIDS, in_docker, "629145", NULL, NULL, ORIGIN_RUNTIME, 0, "",
		 "a container"},
		{LIMIT_CGROUP_PIDS, "docker/" ID, "15000", NULL, NULL, ORIGIN_RUNTIME, 0, "",
		 "a container without systemd"},
		{LIMIT_CGROUP_PIDS, "docker/" ID "/x", "15000", NULL, NULL, ORIGIN_HAND, 0, "",
		 "a cgroup that the container made"},
		{LIMIT_CGROUP_PIDS, "docker/" ID "/x.service", "15000", NULL, NULL, ORIGIN_HAND, 0,
		 "x.service", "a unit of the systemd in a container"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct limit *l = &limit_table[rows[i].limit];
		bool huge = rows[i].limit == LIMIT_CGROUP_HUGETLB;
		char cgroup[200], path[300];
		struct fakeroot r;
		struct origin o;

		snprintf(cgroup, sizeof(cgroup), "0::/%s\n", rows[i].dir);
		r = make_v2(cgroup);
		fake_file(&r, "proc/sys/kernel/pid_max", "4194304\n");
		fake_file(&r, "proc/sys/kernel/threads-max", "100000\n");
		fake_file(&r, "proc/meminfo", "Hugepagesize: 2048 kB\n");
		snprintf(path, sizeof(path), "sys/fs/cgroup/%s/%s", rows[i].dir,
			 huge ? "hugetlb.2MB.max" : l->max);
		fake_file(&r, path, "%s\n", rows[i].value);
		snprintf(path, sizeof(path), "sys/fs/cgroup/%s/%s", rows[i].dir,
			 huge ? "hugetlb.2MB.current" : l->now);
		fake_file(&r, path, "7\n");
		if (rows[i].file)
			fake_file(&r, rows[i].file, "%s", rows[i].text);
		o = fake_find(&r, 9, rows[i].limit);
		is_u64(o.from, rows[i].from, rows[i].name);
		ok(o.known && o.value == strtoull(rows[i].value, NULL, 10) && o.used == 7 &&
			   !o.levels,
		   "its value");
		is_u64(o.line.line, rows[i].line, "its line");
		if (rows[i].unit[0] || o.from != ORIGIN_RUNTIME)
			is_str(o.at_holder.unit, rows[i].unit, "its unit");
		ok(!o.swap_known, "its swap is not known");
		fakeroot_free(&r);
	}
}

/* With at_cgroup, the limit of the given cgroup counts, even if an ancestor has less room. */
static void test_at_cgroup(void)
{
	struct fakeroot r = make_v2("0::/a/b\n");
	struct origin_of of = {.pid = 9, .cgroup = "/a/b", .at_cgroup = true};
	struct origin o;

	set_level(&r, "sys/fs/cgroup/a", "8192", "8192");
	set_level(&r, "sys/fs/cgroup/a/b", "16384", "4096");
	fake_file(&r, "sys/fs/cgroup/a/b/memory.swap.max", "max\n");
	is_u64(origin_find(r.fd, &of, LIMIT_CGROUP_MEMORY, &o), 0, "a cgroup");
	ok(o.value == 16384 && o.used == 4096 && !o.levels, "its own limit");
	is_str(o.dir, "/sys/fs/cgroup/a/b", "its directory");
	ok(o.swap_known && o.swap == LIMIT_NONE, "no limit of swap");
	of.cgroup = "/a";
	origin_find(r.fd, &of, LIMIT_CGROUP_MEMORY, &o);
	is_str(o.dir, "/sys/fs/cgroup/a", "another cgroup than that of the process");
	of.at_cgroup = false;
	origin_find(r.fd, &of, LIMIT_CGROUP_MEMORY, &o);
	ok(o.value == 8192 && o.used == 8192 && o.levels == 1, "the limit with the least room");
	set_level(&r, "sys/fs/cgroup/a/b", "max", "4096");
	of.cgroup = "/a/b";
	of.at_cgroup = true;
	origin_find(r.fd, &of, LIMIT_CGROUP_MEMORY, &o);
	ok(o.known && o.value == LIMIT_NONE && o.from == ORIGIN_NOBODY && !o.dir[0],
	   "a cgroup without a limit");
	fakeroot_free(&r);
}

int main(void)
{
	test_v2();
	test_containers();
	test_v1();
	test_pids();
	test_hugetlb();
	test_gone();
	test_hostile();
	test_rounded_shares();
	test_rounded_pages();
	test_old_name();
	test_swap_of_v1();
	test_judged();
	test_at_cgroup();
	return tap_done();
}
