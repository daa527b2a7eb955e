// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests which BTF file is used, and which kernel features are reported as missing. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "probe/btf.h"
#include "probe/features.h"
#include "probe/permission.h"
#include "tap.h"

#define OWN "/sys/kernel/btf/vmlinux"

static char error[1024], path[BTF_PATH_MAX];

static void refused(const char *given, int status, const char *says)
{
	int err = btf_find(given, path, error, sizeof(error));

	ok(err == status && strstr(error, says), "%s: %d, %.*s", given, err,
	   (int)strcspn(error, "\n"), error);
	is_str(path, "", "and no file is used");
}

static void test_files(void)
{
	char text[] = "/tmp/faultscope-btf-XXXXXX";
	int fd = mkstemp(text);

	if (fd < 0 || write(fd, "no BTF", 6) != 6 || close(fd))
		exit(99);
	refused("/nowhere/vmlinux", -ENOENT,
		"--btf /nowhere/vmlinux: cannot be read: No such file");
	refused(text, -EINVAL, "holds no BTF that can be read");
	refused("/", -EINVAL, "--btf /: holds no BTF that can be read");
	if (geteuid()) {
		chmod(text, 0);
		refused(text, -EINVAL, "cannot be read: Permission denied");
	}
	unlink(text);
}

static void test_own(void)
{
	if (access(OWN, R_OK)) {
		ok(btf_find(NULL, path, error, sizeof(error)) == -ENOSYS || *path,
		   "without the kernel's own, an archive or an error");
		return;
	}
	strcpy(path, "before");
	is_u64(btf_find(NULL, path, error, sizeof(error)), 0, "the kernel's own");
	is_str(path, "", "is no file");
	is_u64(btf_find(OWN, path, error, sizeof(error)), 0, "a file that is good is taken");
	is_str(path, "", "but the kernel's own comes first");
}

/* Tests that the kernel has at least the features of its release. */
static void test_features(void)
{
	struct features f = {}, again;
	unsigned int major = 0, minor = 0;
	struct utsname un;

	uname(&un);
	if (sscanf(un.release, "%u.%u", &major, &minor) != 2 || permission_is_total(-EPERM)) {
		ok(true, "# SKIP no rights to ask this kernel");
		return;
	}
	features_ask(&f);
	ok(f.asked, "asked");
	ok(f.lacks_btf == (access(OWN, R_OK) != 0), "type information");
	ok(!f.lacks_task_storage || major * 1000 + minor < 5011, "task storage, of 5.11");
	ok(!f.lacks_loop || major * 1000 + minor < 5017, "the helper loop, of 5.17");
	ok(f.lacks_btf || !f.lacks_iterators || major * 1000 + minor < 6007, "iterators, of 6.7");
	ok(kernel_lacks_task_storage() == f.lacks_task_storage, "the same answer alone");
	again = (struct features){.asked = true, .lacks_loop = true};
	features_ask(&again);
	ok(again.lacks_loop && !again.lacks_btf, "what was asked is not asked again");
}

int main(void)
{
	test_files();
	test_own();
	test_features();
	return tap_done();
}
