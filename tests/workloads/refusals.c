/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Makes a system call five times. Each time, it fails for the same known cause. */
#include "common.h"

#include <linux/capability.h>

#define TIMES 5
#define BIG (16L << 20)

/* Values that a prepare_ function passes to its call_ function. */
static int limit_fd;
static char *three_pages;
static char *old_break;

static void limit_to(int resource, long soft)
{
	struct rlimit limit;

	getrlimit(resource, &limit);
	limit.rlim_cur = soft;
	if (setrlimit(resource, &limit))
		die("setrlimit");
}

/* Sets RLIMIT_NOFILE to the lowest free number, so that no number below the limit is free. */
static void prepare_nofile(void)
{
	limit_fd = dup(STDOUT_FILENO);
	if (limit_fd < 0)
		die("dup");
	close(limit_fd);
	limit_to(RLIMIT_NOFILE, limit_fd);
}

static void prepare_as(void)
{
	limit_to(RLIMIT_AS, BIG);
}

static void prepare_data(void)
{
	limit_to(RLIMIT_DATA, PAGE_BYTES);
}

static void prepare_brk(void)
{
	old_break = sbrk(0);
	prepare_data();
}

static void prepare_memlock(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &header, sets))
		die("capget");
	sets[CAP_TO_INDEX(CAP_IPC_LOCK)].effective &= ~CAP_TO_MASK(CAP_IPC_LOCK);
	if (syscall(SYS_capset, &header, sets))
		die("capset");
	limit_to(RLIMIT_MEMLOCK, 16 * PAGE_BYTES);
}

/* Makes mappings up to vm.max_map_count. All of these mmap() calls succeed. */
static void prepare_split(void)
{
	FILE *setting = fopen("/proc/sys/vm/max_map_count", "r");
	long most, room;

	if (!setting || fscanf(setting, "%ld", &most) != 1)
		die("read vm.max_map_count");
	fclose(setting);
	three_pages = map_pages(3);
	room = most - map_count();
	for (long i = 0; i < room; i++)
		if (map_unmergeable(i) == MAP_FAILED)
			die("mmap of map %ld", i);
}

static long map_anonymous(size_t bytes, int protection, int flags)
{
	return syscall(SYS_mmap, NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1,
		       0);
}

static long call_map_big(void)
{
	return map_anonymous(BIG, PROT_READ | PROT_WRITE, 0);
}

static long call_map_locked(void)
{
	return map_anonymous(BIG, PROT_READ | PROT_WRITE, MAP_LOCKED);
}

static long call_map_nothing(void)
{
	return map_anonymous(0, PROT_READ, 0);
}

static long call_map_huge(void)
{
	return map_anonymous(1UL << 48, PROT_NONE, 0);
}

static long call_map_no_file(void)
{
	return syscall(SYS_mmap, NULL, PAGE_BYTES, PROT_READ, MAP_PRIVATE, -1, 0);
}

static long call_open(void)
{
	return open("/dev/null", O_RDONLY);
}

static long call_dup2(void)
{
	return dup2(STDOUT_FILENO, limit_fd);
}

static long call_dupfd(void)
{
	return fcntl(STDOUT_FILENO, F_DUPFD, limit_fd);
}

static long call_split(void)
{
	return munmap(three_pages + PAGE_BYTES, PAGE_BYTES);
}

static long call_brk(void)
{
	return brk(old_break + BIG);
}

static const struct refusal {
	const char *name;
	void (*prepare)(void);
	long (*make)(void);
	const char *call;
	const char *cause;
	int error;
} refusals[] = {
	{ "as", prepare_as, call_map_big, "mmap", "rlimit_as", ENOMEM },
	{ "data", prepare_data, call_map_big, "mmap", "rlimit_data", ENOMEM },
	{ "memlock", prepare_memlock, call_map_locked, "mmap", "rlimit_memlock", EAGAIN },
	{ "nofile", prepare_nofile, call_open, "openat", "rlimit_nofile", EMFILE },
	{ "dup2-past-limit", prepare_nofile, call_dup2, "dup2", "descriptor_number_limit", EBADF },
	{ "fdupfd-past-limit", prepare_nofile, call_dupfd, "fcntl", "descriptor_number_limit",
	  EINVAL },
	{ "munmap-split", prepare_split, call_split, "munmap", "max_map_count", ENOMEM },
	{ "brk-data", prepare_brk, call_brk, "brk", "rlimit_data", ENOMEM },
	{ "badfd", NULL, call_map_no_file, "mmap", "bad_descriptor", EBADF },
	{ "zero-length", NULL, call_map_nothing, "mmap", "bad_argument", EINVAL },
	{ "huge", NULL, call_map_huge, "mmap", "address_space", ENOMEM },
};

static void run(const struct refusal *refusal)
{
	if (refusal->prepare)
		refusal->prepare();
	wait_for_go();

	for (int i = 0; i < TIMES; i++) {
		errno = 0;
		if (refusal->make() != -1 || errno != refusal->error)
			die("%s was not refused as %s", refusal->call,
			    strerrorname_np(refusal->error));
	}

	truth_open();
	truth_text("case", refusal->name);
	truth_text("call", refusal->call);
	truth_errno(refusal->error);
	truth_number("times", TIMES);
	truth_text("cause", refusal->cause);
	truth_close();
}

int main(int argc, char **argv)
{
	static const char usage[] =
		"as|data|memlock|nofile|dup2-past-limit|fdupfd-past-limit|munmap-split|brk-data|"
		"badfd|zero-length|huge";
	const char *word;

	parse_args(argc, argv, usage, NULL, &word, 1, 1);
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
		if (!strcmp(refusals[i].name, word)) {
			run(&refusals[i]);
			return 0;
		}
	wrong_usage(usage);
}
