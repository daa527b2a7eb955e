// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests hierarchies of cgroups: mount points, the sizes of huge pages, and the nearest limit. */
#include "fakeroot.h"

#include "collect/cgroup/cgroup_tree.h"
#include "collect/cgroup/cgroup_v2.h"
#include "collect/files/mountinfo.h"
#include "tap.h"

#define V2_MOUNT "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
#define V1_MOUNT "31 23 0:28 / /sys/fs/cgroup rw - cgroup cgroup rw,memory\n"

static struct span span_of(const char *s)
{
	return (struct span){s, strlen(s)};
}

/* Blanks of a mount point are octal numbers of three digits. */
static void test_points(void)
{
	static const struct {
		const char *point, *in_cgroups, *in_mounts;
	} rows[] = {
		{"/a\\040b", "/a b", "/a b"}, {"/a\\040", "/a ", "/a "},
		{"\\134", "\\", "\\"},	      {"/a\\04", "/a\\04", "/a\\04"},
		{"/a\\", "/a\\", "/a\\"},     {"/\\177\\100", "/\177@", "/\177@"},
		{"/a\\0400", "/a 0", "/a 0"}, {"/a\\048", NULL, "/a\\048"},
		{"/a\\0/0", NULL, "/a\\0/0"}, {"/a\\800", NULL, "/a\\800"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct cgroup_mount m = {};
		char line[256], path[64] = "";

		snprintf(line, sizeof(line), "31 23 0:28 / %s rw - cgroup2 cgroup2 rw\n",
			 rows[i].point);
		ok(cgroup_mount_find(span_of(line), "memory", &m), "a mount");
		if (rows[i].in_cgroups)
			is_str(m.point, rows[i].in_cgroups, rows[i].point);
		ok(mountinfo_path(span_of(rows[i].point), path, sizeof(path)), "a path");
		is_str(path, rows[i].in_mounts, rows[i].point);
	}
}

static void test_room(void)
{
	struct cgroup_mount m = {};
	char line[512], path[8];

	is_u64(mountinfo_path(span_of("/123456"), path, 8), true, "a path that just fits");
	is_str(path, "/123456", "it is whole");
	is_u64(mountinfo_path(span_of("/1234567"), path, 8), false, "one byte more");
	is_u64(mountinfo_path(span_of("/12345\\040"), path, 8), true, "an escape is one byte");
	is_str(path, "/12345 ", "it is whole");
	is_u64(mountinfo_path(span_of("/123456\\040"), path, 8), false, "one byte more");
	is_u64(mountinfo_path(span_of(""), path, 1), true, "nothing fits into one byte");
	is_str(path, "", "nothing");
	is_u64(mountinfo_path((struct span){"/a\\040", 5}, path, 8), true, "a part of a line");
	is_str(path, "/a\\04", "an escape that its end cuts");
	for (int len = 255; len <= 256; len++) {
		snprintf(line, sizeof(line), "31 23 0:28 / /%0*d rw - cgroup2 cgroup2 rw\n",
			 len - 1, 0);
		cgroup_mount_find(span_of(line), "memory", &m);
		is_u64(strlen(m.point), 255, "a mount point is cut after 255 bytes");
	}
}

/* Tests lines of mountinfo that are valid, or not. */
static void test_mounts(void)
{
	static const struct {
		const char *line;
		bool valid;
		uint64_t device;
	} rows[] = {
		{"31 23 8:1 / /a rw - ext4 /dev/a rw", true, 8 << 20 | 1},
		{"31 23 8:1 / /a rw shared:1 master:2 - ext4 /dev/a rw", true, 8 << 20 | 1},
		{"31 23 0:0 / /a rw - ext4", true, 0},
		{"31 23 8:1 / /a rw -", false, 0},
		{"31 23 8:1 / /a rw", false, 0},
		{"31 23 81 / /a rw - ext4 /dev/a rw", false, 0},
		{"31 23 8:x / /a rw - ext4 /dev/a rw", false, 0},
		{"31 23 x:1 / /a rw - ext4 /dev/a rw", false, 0},
		{"", false, 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct mount_line m = {};

		ok(mountinfo_parse(span_of(rows[i].line), &m) == rows[i].valid, "\"%s\"",
		   rows[i].line);
		if (rows[i].valid)
			ok(m.device == rows[i].device && text_is(m.point, "/a") &&
				   text_is(m.type, "ext4"),
			   "device, point and type");
	}
}

static const char *page_of(const char *meminfo)
{
	struct fakeroot root = fakeroot_make();
	struct files f = {.root = root.fd};
	static struct cgroup_tree tree;

	fake_file(&root, "proc/self/mountinfo", "%s", V2_MOUNT);
	if (meminfo)
		fake_file(&root, "proc/meminfo", "%s", meminfo);
	if (!cgroup_tree_open(&f, "hugetlb", &tree))
		exit(1);
	fakeroot_free(&root);
	return tree.page;
}

/* Files of hugetlb have the size of a huge page in their names. */
static void test_page_sizes(void)
{
	static const struct {
		const char *meminfo, *want;
	} rows[] = {
		{"Hugepagesize:       2048 kB\n", "2MB"},
		{"Hugepagesize:    1048576 kB\n", "1GB"},
		{"Hugepagesize:    1048575 kB\n", "1023MB"},
		{"Hugepagesize:   16777216 kB\n", "16GB"},
		{"Hugepagesize:       1024 kB\n", "1MB"},
		{"Hugepagesize:       1023 kB\n", "1023KB"},
		{"Hugepagesize:         64 kB\n", "64KB"},
		{"MemTotal:    1 kB\n", "2MB"},
		{NULL, "2MB"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		is_str(page_of(rows[i].meminfo), rows[i].want,
		       rows[i].meminfo ? rows[i].want : "no file");
}

static void put(const struct fakeroot *root, const char *dir, const char *file, const char *text)
{
	char path[512];

	snprintf(path, sizeof(path), "sys/fs/cgroup%s/%s", dir, file);
	fake_file(root, path, "%s\n", text);
}

/* Finds the memory limit that applies to a cgroup. */
static struct cgroup_level nearest(const struct fakeroot *root, const char *cgroup, bool firm)
{
	struct files f = {.root = root->fd};
	struct cgroup_tree tree;
	struct cgroup_level level;
	char dir[512];

	if (!cgroup_tree_open(&f, "memory", &tree))
		exit(1);
	tree.firm = firm;
	snprintf(dir, sizeof(dir), "%s", cgroup);
	cgroup_tree_find(&tree, dir, &limit_table[LIMIT_CGROUP_MEMORY], &level);
	return level;
}

/* The limit with the least room applies; of equal ones, the one that is nearest. */
static void test_nearest(void)
{
	static const struct {
		const char *own_max, *own_used, *above_max, *above_used, *want;
		uint32_t up;
	} rows[] = {
		{"8192", "4096", "12288", "8192", "/sys/fs/cgroup/a/b", 0},
		{"8192", "4095", "12288", "8192", "/sys/fs/cgroup/a", 1},
		{"8192", "4096", "12288", "8191", "/sys/fs/cgroup/a/b", 0},
		{"8192", "8192", "8192", "9000", "/sys/fs/cgroup/a/b", 0},
		{"8192", "9000", "8192", "8192", "/sys/fs/cgroup/a/b", 0},
		{"8192", "8191", "8192", "8192", "/sys/fs/cgroup/a", 1},
		{"8192", "8191", "8192", "9000", "/sys/fs/cgroup/a", 1},
		{"max", "4096", "12288", "8192", "/sys/fs/cgroup/a", 1},
		{"8192", "4096", "max", "8192", "/sys/fs/cgroup/a/b", 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fakeroot root = fakeroot_make();
		struct cgroup_level level;

		fake_file(&root, "proc/self/mountinfo", "%s", V2_MOUNT);
		put(&root, "/a/b", "memory.max", rows[i].own_max);
		put(&root, "/a/b", "memory.current", rows[i].own_used);
		put(&root, "/a", "memory.max", rows[i].above_max);
		put(&root, "/a", "memory.current", rows[i].above_used);
		level = nearest(&root, "/a/b", false);
		ok(level.binds, "a limit applies");
		is_str(level.dir, rows[i].want, "the cgroup that has it");
		is_u64(level.up, rows[i].up, "levels above the process");
		is_str(level.file, "memory.max", "its file");
		fakeroot_free(&root);
	}
}

/* Memory that the kernel can take back is not counted as used, if the caller asks for that. */
static void test_firm_memory(void)
{
	static const struct {
		const char *stat;
		uint64_t want;
	} rows[] = {
		{"inactive_file 999\n", 1},
		{"inactive_file 1000\n", 0},
		{"inactive_file 1001\n", 0},
		{"inactive_file 100\nactive_file 20\nslab_reclaimable 3\n", 877},
		{"inactive_file x\nfile 5\nslab 6\n", 1000},
		{"total_inactive_file 100\n", 1000},
		{"", 1000},
		{NULL, 1000},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fakeroot root = fakeroot_make();

		fake_file(&root, "proc/self/mountinfo", "%s", V2_MOUNT);
		put(&root, "/a", "memory.max", "8192");
		put(&root, "/a", "memory.current", "1000");
		if (rows[i].stat)
			put(&root, "/a", "memory.stat", rows[i].stat);
		is_u64(nearest(&root, "/a", true).used, rows[i].want, "memory that stays in use");
		is_u64(nearest(&root, "/a", false).used, 1000, "all memory");
		fakeroot_free(&root);
	}
}

static void test_version_1(void)
{
	static const struct {
		const char *limit;
		bool binds;
	} rows[] = {{"1152921504606846975", true},
		    {"1152921504606846976", false},
		    {"9223372036854771712", false},
		    {"0", true}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fakeroot root = fakeroot_make();

		fake_file(&root, "proc/self/mountinfo", "%s", V1_MOUNT);
		put(&root, "/a", "memory.limit_in_bytes", rows[i].limit);
		put(&root, "/a", "memory.usage_in_bytes", "1000");
		put(&root, "/a", "memory.stat",
		    "total_inactive_file 100\ntotal_active_file 20\ninactive_file 3\n"
		    "slab_reclaimable 4\n");
		ok(nearest(&root, "/a", false).binds == rows[i].binds, "a limit of %s bytes",
		   rows[i].limit);
		if (rows[i].binds)
			is_u64(nearest(&root, "/a", true).used, 880, "memory that stays in use");
		fakeroot_free(&root);
	}
}

/* Up to 64 levels are searched for a limit. */
static void test_depth(void)
{
	for (int levels = 63; levels <= 64; levels++) {
		struct fakeroot root = fakeroot_make();
		char path[256] = "";

		for (int i = 0; i < levels; i++)
			strcat(path, "/a");
		fake_file(&root, "proc/self/mountinfo", "%s", V2_MOUNT);
		put(&root, path, "memory.current", "1");
		put(&root, "", "memory.max", "8192");
		put(&root, "", "memory.current", "1");
		ok(nearest(&root, path, false).binds == (levels < 64), "a limit %d levels above",
		   levels);
		fakeroot_free(&root);
	}
}

/* The id of a cgroup of version 2 is the inode number of its directory. */
static void test_ids(void)
{
	struct fakeroot root = fakeroot_make();
	struct cgroup_v2 v;
	char path[900];
	struct stat st;

	fake_file(&root, "proc/self/mountinfo", "%s", V2_MOUNT);
	put(&root, "/a", "memory.max", "max");
	stat(fake_path(&root, "sys/fs/cgroup/a", path, 512), &st);
	cgroup_v2_open(&v, root.fd);
	is_str(v.mount.point, "/sys/fs/cgroup", "the mount point");
	is_u64(cgroup_v2_match(&v, "/a", st.st_ino), CGROUP_SAME, "its id");
	is_u64(cgroup_v2_match(&v, "/a", st.st_ino + 1), CGROUP_OTHER, "another id");
	is_u64(cgroup_v2_match(&v, "/b", st.st_ino), CGROUP_UNKNOWN, "no such cgroup");
	is_u64(cgroup_v2_match(&v, "/../a", st.st_ino), CGROUP_UNKNOWN, "outside");
	/* "sys/fs/cgroup" has 13 bytes, and 768 bytes have room for 767 */
	for (int len = 754; len <= 755; len++) {
		path[0] = 0;
		for (int i = 0; i < len - 2; i++)
			strcat(path, "/");
		strcat(path, "/a");
		is_u64(cgroup_v2_match(&v, path, st.st_ino),
		       len == 754 ? CGROUP_SAME : CGROUP_UNKNOWN,
		       len == 754 ? "a path that just fits" : "one byte more");
	}
	fake_file(&root, "proc/self/mountinfo", "%s",
		  "31 23 0:28 /a /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
	cgroup_v2_open(&v, root.fd);
	is_u64(cgroup_v2_match(&v, "/a", st.st_ino), CGROUP_UNKNOWN, "a part of the hierarchy");
	fake_file(&root, "proc/self/mountinfo", "%s", "");
	cgroup_v2_open(&v, root.fd);
	is_u64(cgroup_v2_match(&v, "/a", st.st_ino), CGROUP_UNKNOWN, "no mount");
	fakeroot_free(&root);
}

/* Tests which line of /proc/PID/cgroup has the path of a hierarchy. */
static void test_paths(void)
{
	static const struct {
		const char *text, *controller, *want;
	} rows[] = {
		{"0::/a", NULL, "/a"},
		{"4:memory:/m\n0::/a\n", NULL, "/a"},
		{"4:memory:/m\n", NULL, NULL},
		{"4:memory:/m\n0::/a\n", "memory", "/m"},
		{"4:cpu,memory:/m\n", "memory", "/m"},
		{"4:memory,cpu:/m\n", "memory", "/m"},
		{"4:cpu,memory,pids:/m\n", "memory", "/m"},
		{"4:cpu,memories,mem:/m\n", "memory", NULL},
		{"0::/a:b\n", NULL, "/a:b"},
		{"0:/a\n", NULL, NULL},
		{"0::/1234567890123456", NULL, "/12345678901234"},
		{"", NULL, NULL},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char path[16] = "";
		bool found = cgroup_path_find(span_of(rows[i].text), rows[i].controller, path,
					      sizeof(path));

		is_str(found ? path : NULL, rows[i].want,
		       rows[i].want ? rows[i].want : "no such hierarchy");
	}
}

/* A hierarchy may be mounted from one of its cgroups on. */
static void test_mounted_parts(void)
{
	static const struct {
		const char *root, *path, *want;
	} rows[] = {
		{"/outer", "/outer", ""},
		{"/outer", "/outer/p", "/p"},
		{"/outer", "/outerp", "/outerp"},
		{"/outer", "/", ""},
		{"/o", "/o/p", "/p"},
		{"/outer", "/../x", ""},
		{"/outer", "/..", ""},
		{"/", "/", ""},
		{"/", "/a", "/a"},
		{"/", "/../x", ""},
		{"/", "/.x", "/.x"},
	};
	struct fakeroot root = fakeroot_make();
	struct files f = {.root = root.fd};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct cgroup_tree tree;
		char dir[64];

		fake_file(&root, "proc/self/mountinfo",
			  "31 23 0:28 %s /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", rows[i].root);
		ok(cgroup_tree_open(&f, "memory", &tree) &&
			   cgroup_tree_dir(&tree, 0, rows[i].path, dir, sizeof(dir)),
		   "%s, where %s is mounted", rows[i].path, rows[i].root);
		is_str(dir, rows[i].want, "its directory");
	}
	fakeroot_free(&root);
}

int main(void)
{
	test_points();
	test_room();
	test_mounts();
	test_page_sizes();
	test_nearest();
	test_firm_memory();
	test_version_1();
	test_depth();
	test_ids();
	test_paths();
	test_mounted_parts();
	return tap_done();
}
