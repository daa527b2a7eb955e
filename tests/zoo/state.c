/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions that prepare test cases: they set limits, rights and cgroups, create mappings and fds,
 * and fill the address space.
 */
#include "zoo.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>

/* Functions for resource limits */

static struct rlimit original[RLIM_NLIMITS];
static bool limited[RLIM_NLIMITS];

void soft_limit(int resource, rlim_t soft)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit))
		die("getrlimit");
	if (!limited[resource])
		original[resource] = limit;
	limited[resource] = true;
	limit.rlim_cur = soft;
	if (setrlimit(resource, &limit))
		die("setrlimit %d to %lu", resource, soft);
}

void restore_limit(int resource)
{
	if (limited[resource] && setrlimit(resource, &original[resource]))
		die("setrlimit %d back", resource);
}

/* Returns the value of a line of /proc/self/status in bytes. Needs no new memory. */
long status_bytes(const char *key)
{
	static char text[8192];
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	ssize_t got;
	char *at;

	if (fd < 0 || (got = read(fd, text, sizeof(text) - 1)) < 1)
		die("read /proc/self/status");
	close(fd);
	text[got] = '\0';
	at = strstr(text, key);
	if (!at)
		die("no %s in /proc/self/status", key);
	return strtol(at + strlen(key), NULL, 10) * KIB;
}

void room_as(size_t bytes)
{
	soft_limit(RLIMIT_AS, status_bytes("\nVmSize:") + bytes);
}

void room_data(size_t bytes)
{
	soft_limit(RLIMIT_DATA, status_bytes("\nVmData:") + bytes);
}

void room_memlock(size_t bytes)
{
	drop_capability(CAP_IPC_LOCK);
	soft_limit(RLIMIT_MEMLOCK, status_bytes("\nVmLck:") + bytes);
}

void restore_as(void)
{
	restore_limit(RLIMIT_AS);
}

void restore_data(void)
{
	restore_limit(RLIMIT_DATA);
}

void restore_nofile(void)
{
	restore_limit(RLIMIT_NOFILE);
}

void restore_stack(void)
{
	restore_limit(RLIMIT_STACK);
}

/* Functions for rights and identity */

static void set_effective(int capability, bool on)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];
	unsigned int *effective = &sets[CAP_TO_INDEX(capability)].effective;

	if (syscall(SYS_capget, &header, sets))
		die("capget");
	if (on)
		*effective |= CAP_TO_MASK(capability);
	else
		*effective &= ~CAP_TO_MASK(capability);
	if (syscall(SYS_capset, &header, sets))
		die("capset %d", capability);
}

void drop_capability(int capability)
{
	set_effective(capability, false);
}

void raise_capability(int capability)
{
	set_effective(capability, true);
}

void raise_ipc_lock(void)
{
	raise_capability(CAP_IPC_LOCK);
}

/* Changes to a user ID without processes, so that its counters are 0. Drops capabilities. */
uid_t other_user(void)
{
	return 1000000000 + getpid();
}

void become_another_user(void)
{
	uid_t uid = other_user();

	if (setresgid(uid, uid, uid) || setresuid(uid, uid, uid))
		die("setresuid");
	/* Files in /proc/self stay readable. */
	if (prctl(PR_SET_DUMPABLE, 1))
		die("prctl PR_SET_DUMPABLE");
}

/* Enters a new user namespace. Its limits can be set without an effect on other processes. */
void enter_user_namespace(void)
{
	char map[64];
	uid_t uid = getuid(), gid = getgid();

	if (unshare(CLONE_NEWUSER))
		skip("no user namespaces: %s", strerror(errno));
	snprintf(map, sizeof(map), "0 %u 1", uid);
	if (!write_text("/proc/self/uid_map", map))
		die("uid_map");
	if (!write_text("/proc/self/setgroups", "deny"))
		die("setgroups");
	snprintf(map, sizeof(map), "0 %u 1", gid);
	if (!write_text("/proc/self/gid_map", map))
		die("gid_map");
}

/* Enters a new mount namespace. Its mounts disappear when this process ends. */
void enter_mount_namespace(void)
{
	if (unshare(CLONE_NEWNS))
		skip("no mount namespaces: %s", strerror(errno));
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
		die("mount --make-rprivate /");
}

void enter_ipc_namespace(void)
{
	if (unshare(CLONE_NEWIPC))
		skip("no IPC namespaces: %s", strerror(errno));
}

/* Functions for files */

long read_number(const char *path)
{
	char text[64] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 1)
		die("read %s", path);
	close(fd);
	return strtol(text, NULL, 10);
}

bool write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return ok;
}

void write_number(const char *path, long number)
{
	char text[32];

	snprintf(text, sizeof(text), "%ld", number);
	if (!write_text(path, text))
		die("write %s to %s", text, path);
}

int sized_memfd(size_t bytes, unsigned int flags)
{
	int fd = memfd_create("zoo", MFD_CLOEXEC | flags);

	if (fd < 0)
		skip("memfd_create: %s", strerror(errno));
	if (ftruncate(fd, bytes))
		die("ftruncate");
	return fd;
}

/* Returns an unlinked file on the file system of /tmp. */
int disk_file(size_t bytes)
{
	char path[] = "/tmp/zoo-XXXXXX";
	int fd = mkostemp(path, O_CLOEXEC);

	if (fd < 0 || unlink(path) || ftruncate(fd, bytes))
		die("%s", path);
	return fd;
}

int reopen(int fd, int flags)
{
	char path[32];
	int again;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = open(path, flags | O_CLOEXEC);
	if (again < 0)
		die("open %s", path);
	return again;
}

/* Functions for mappings */

void *map_anon(size_t bytes, int protection, int flags)
{
	return map_file(-1, bytes, protection, PRIVATE_ANON | flags);
}

void *map_file(int fd, size_t bytes, int protection, int flags)
{
	void *at = mmap(NULL, bytes, protection, flags, fd, 0);

	if (at == MAP_FAILED)
		die("mmap %zu bytes", bytes);
	return at;
}

static void *last_filler;

long most_maps(void)
{
	return read_number("/proc/sys/vm/max_map_count");
}

/* Makes mappings until there are `count`. None of these mmap calls may fail. */
void fill_maps(long count)
{
	long room = count - map_count();

	if (room < 1)
		die("there are more than %ld mappings already", count);
	/*
	 * A new mapping may merge with an existing one. So one round may add too few mappings, and
	 * another round follows.
	 */
	for (long i = 0; room > 0; room = count - map_count())
		for (; room > 0; room--) {
			last_filler = map_unmergeable(i++);
			if (last_filler == MAP_FAILED)
				die("mmap of map %ld", i);
		}
	if (map_count() != count)
		die("%ld mappings, not %ld", map_count(), count);
}

void unmap_last_filler(void)
{
	if (munmap(last_filler, PAGE_BYTES))
		die("munmap");
}

size_t beyond_memory(void)
{
	struct sysinfo info;

	if (read_number("/proc/sys/vm/overcommit_memory"))
		skip("vm.overcommit_memory is not 0");
	sysinfo(&info);
	return (info.totalram + info.totalswap) * info.mem_unit + some_bytes();
}

/* Functions for the address space */

/* free space below the stack in bytes, so that the stack can grow */
#define STACK_ROOM  (16 * MIB)
#define MOST_RANGES 64

struct range {
	uintptr_t low;
	uintptr_t high;
};
static struct range filled;

/* Stores the ranges between `low` and `high` that are not mapped. */
static size_t free_ranges(uintptr_t low, uintptr_t high, struct range *found)
{
	static char text[16384];
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	size_t length = 0, n = 0;
	ssize_t got;
	char *line, *next;

	while (fd >= 0 && (got = read(fd, text + length, sizeof(text) - 1 - length)) > 0)
		length += got;
	if (fd < 0 || !length)
		die("read /proc/self/maps");
	close(fd);
	text[length] = '\0';
	for (line = text; *line && low < high; line = next) {
		uintptr_t from, to;

		next = strchr(line, '\n') + 1;
		if (sscanf(line, "%lx-%lx", &from, &to) != 2)
			die("line of /proc/self/maps");
		if (memmem(line, next - line, "[stack]", 7))
			from -= STACK_ROOM;
		if (from > low && n < MOST_RANGES)
			found[n++] = (struct range){ low, from < high ? from : high };
		if (to > low)
			low = to;
	}
	if (low < high && n < MOST_RANGES)
		found[n++] = (struct range){ low, high };
	return n;
}

/* Maps the free parts of a range. Leaves holes of `hole` bytes in the largest part. */
static void fill_range(uintptr_t low, uintptr_t high, size_t hole)
{
	struct range range[MOST_RANGES], *largest = range;
	size_t n = free_ranges(low, high, range);

	for (size_t i = 0; i < n; i++) {
		void *at = (void *)range[i].low;

		if (mmap(at, range[i].high - range[i].low, PROT_NONE,
			 PRIVATE_ANON | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0) != at)
			die("mmap at %p", at);
		if (range[i].high - range[i].low > largest->high - largest->low)
			largest = &range[i];
	}
	filled = *largest;
	for (int i = 1; hole && i < 1000; i++)
		if (munmap((void *)(filled.low + 2 * i * hole), hole))
			die("munmap of a hole");
}

void fill_window(uintptr_t low, uintptr_t high)
{
	fill_range(low, high, 0);
}

void fill_space(size_t hole)
{
	fill_range(read_number("/proc/sys/vm/mmap_min_addr"), USER_END, hole);
}

void unfill_space(void)
{
	if (munmap((void *)filled.low, filled.high - filled.low))
		die("munmap");
}

/* Functions for file descriptors */

void leave_free(int free)
{
	int lowest = fcntl(STDOUT_FILENO, F_DUPFD, 0);

	if (lowest < 0)
		die("dup");
	close(lowest);
	soft_limit(RLIMIT_NOFILE, lowest + free);
}

/* Functions for cgroups. cgroup v1 has a hierarchy for each controller, v2 has one for all. */

#define V1_TOP "/sys/fs/cgroup"
#define V2_TOP "/sys/fs/cgroup"

static char cgroup_made[4][128];
static size_t nr_cgroups;
static char cgroup_home[256];
/* pid of the process that created the cgroups, which its children also use */
static pid_t cgroup_owner;

bool cgroup_v2(void)
{
	return !access(V2_TOP "/cgroup.controllers", F_OK);
}

static void cgroup_path(char *path, size_t size, const char *controller, const char *below)
{
	if (cgroup_v2())
		snprintf(path, size, V2_TOP "/faultscope-zoo-%d%s", cgroup_owner, below);
	else
		snprintf(path, size, V1_TOP "/%s/faultscope-zoo-%d%s", controller, cgroup_owner,
			 below);
}

/* Stores the path of this process's cgroup at its start, from /proc/self/cgroup. */
static void note_home(const char *controller)
{
	static char text[4096];
	int fd = open("/proc/self/cgroup", O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	char key[32], *at;

	if (got < 1)
		die("read /proc/self/cgroup");
	close(fd);
	text[got] = '\0';
	snprintf(key, sizeof(key), cgroup_v2() ? "0::" : ":%s:", controller);
	at = strstr(text, key);
	if (!at)
		skip("no cgroup of %s", controller);
	at += strlen(key);
	at[strcspn(at, "\n")] = '\0';
	snprintf(cgroup_home, sizeof(cgroup_home), cgroup_v2() ? V2_TOP "%s%s" : V1_TOP "/%s%s",
		 cgroup_v2() ? at : controller, cgroup_v2() ? "" : at);
}

static void cgroup_undo(void)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/cgroup.procs", cgroup_home);
	if (!write_text(path, "0"))
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
	while (nr_cgroups)
		if (rmdir(cgroup_made[--nr_cgroups]))
			fprintf(stderr, "%s: %s\n", cgroup_made[nr_cgroups], strerror(errno));
}

static void make_directory(const char *controller, const char *below)
{
	char *path = cgroup_made[nr_cgroups];

	cgroup_path(path, sizeof(cgroup_made[0]), controller, below);
	if (mkdir(path, 0755))
		skip("mkdir %s: %s", path, strerror(errno));
	nr_cgroups++;
}

/* Creates a cgroup and a cgroup within it, so that a case can limit the parent. */
void cgroup_make(const char *controller)
{
	char text[32];

	cgroup_owner = getpid();
	note_home(controller);
	if (cgroup_v2()) {
		snprintf(text, sizeof(text), "+%s", controller);
		if (!write_text(V2_TOP "/cgroup.subtree_control", text))
			skip("cgroup.subtree_control: %s", strerror(errno));
	}
	at_end(cgroup_undo);
	make_directory(controller, "");
	if (cgroup_v2())
		cgroup_set(controller, "", "cgroup.subtree_control", text);
	make_directory(controller, "/below");
}

void cgroup_enter(const char *controller, const char *below)
{
	cgroup_set(controller, below, "cgroup.procs", "0");
}

void cgroup_set(const char *controller, const char *below, const char *file, const char *text)
{
	char path[160], whole[192];

	cgroup_path(path, sizeof(path), controller, below);
	snprintf(whole, sizeof(whole), "%s/%s", path, file);
	if (!write_text(whole, text))
		die("write %s to %s", text, whole);
}
