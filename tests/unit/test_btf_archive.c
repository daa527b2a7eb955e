// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests which file with types of the kernel is used on a kernel that has none itself: the one that
 * the user names, or one of an archive. The directories are those of this test.
 */
#define _GNU_SOURCE
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <sys/utsname.h>

#include "own_machine.h"
#include "probe/btf.h"
#include "tap.h"

#define RELEASE "4.18.0-test"

static char path[BTF_PATH_MAX], error[1024];
static const void *types; /* raw BTF */
static __u32 size;

int uname(struct utsname *un)
{
	memset(un, 0, sizeof(*un));
	strcpy(un->release, RELEASE);
	strcpy(un->machine, "machine");
	return 0;
}

static int find(const char *given)
{
	strcpy(path, "before");
	error[0] = 0;
	return btf_find(given, path, error, sizeof(error));
}

/* Writes a file, and makes its directories. */
static void write_file(const char *file, const void *bytes, size_t n)
{
	char part[256];
	int fd;

	snprintf(part, sizeof(part), "%s", file);
	for (char *slash = part + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = 0;
		mkdir(part, 0755);
		*slash = '/';
	}
	fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	machine_must(fd >= 0 && write(fd, bytes, n) == (ssize_t)n, file);
	close(fd);
}

static void test_none(void)
{
	is_u64(find(NULL), (uint64_t)-ENOSYS, "no archive");
	ok(strstr(error, "this kernel has no BTF") &&
		   strstr(error, "so that /usr/lib/faultscope/btf/machine/" RELEASE ".btf is"),
	   "the file that is missing: %s", error);
}

static void test_given(void)
{
	write_file(MACHINE_FILES "/given", types, size);
	is_u64(find(MACHINE_FILES "/given"), 0, "a file that the user names");
	is_str(path, MACHINE_FILES "/given", "is used");
	write_file(MACHINE_FILES "/damaged", types, size - 1);
	is_u64(find(MACHINE_FILES "/damaged"), (uint64_t)-EINVAL, "a damaged file");
	is_str(path, "", "is not used");
	ok(strstr(error, "--btf " MACHINE_FILES "/damaged: holds no BTF that can be read"), "%s",
	   error);
	is_u64(find(MACHINE_FILES "/none"), (uint64_t)-ENOENT, "no such file");
	is_str(path, "", "nothing is used");
}

static void test_archives(void)
{
	static const char first[] = "/usr/lib/faultscope/btf/machine/" RELEASE ".btf";
	static const char second[] = "/usr/local/lib/faultscope/btf/machine/" RELEASE ".btf";

	write_file("/usr/lib/faultscope/btf/machine/4.18.0-other.btf", types, size);
	write_file("/usr/lib/faultscope/btf/other/" RELEASE ".btf", types, size);
	is_u64(find(NULL), (uint64_t)-ENOSYS, "an archive of other kernels and machines");
	write_file(second, types, size);
	is_u64(find(NULL), 0, "an archive that the administrator made");
	is_str(path, second, "has the types of this kernel");
	write_file(first, types, size);
	is_u64(find(NULL), 0, "an archive of a package");
	is_str(path, first, "comes first");
	is_u64(find(MACHINE_FILES "/given"), 0, "a file that the user names");
	is_str(path, MACHINE_FILES "/given", "comes before archives");
	write_file(first, "no types", 8);
	is_u64(find(NULL), (uint64_t)-EINVAL, "a damaged archive");
	ok(strstr(error, first) && strstr(error, "holds no BTF"), "is named: %s", error);
}

static void test_own(void)
{
	mkdir("/sys/kernel/btf", 0755);
	write_file("/sys/kernel/btf/vmlinux", "x", 1);
	is_u64(find(NULL), 0, "a kernel with types");
	is_str(path, "", "needs no archive");
	is_u64(find(MACHINE_FILES "/given"), 0, "nor a file that is named");
	is_str(path, "", "which is not used");
	is_u64(find(MACHINE_FILES "/damaged"), (uint64_t)-EINVAL, "but must be good");
}

int main(void)
{
	struct btf *b = btf__new_empty();

	libbpf_set_print(NULL);
	btf__add_int(b, "int", 4, BTF_INT_SIGNED);
	types = btf__raw_data(b, &size);
	if (access("/usr/local/lib", F_OK) || !machine_enter()) {
		ok(true, "# SKIP user namespaces are not permitted");
		return tap_done();
	}
	machine_empty("/sys/kernel");
	machine_empty("/usr/local/lib");
	machine_empty("/usr/lib");
	test_none();
	test_given();
	test_archives();
	test_own();
	btf__free(b);
	return tap_done();
}
