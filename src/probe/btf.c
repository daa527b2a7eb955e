// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "probe/btf.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Directories that contain files MACHINE/RELEASE.btf, named after the fields of uname(2). */
static const char *const archives[] = {"/usr/lib/faultscope/btf", "/usr/local/lib/faultscope/btf"};

static int check_file(const char *path, char *error, size_t size)
{
	struct btf *btf;
	int err;

	/* btf__parse() returns one error for any cause; the errno of access() is the cause. */
	if (access(path, R_OK)) {
		err = -errno;
		snprintf(error, size, "--btf %s: cannot be read: %s", path, strerror(-err));
		return err == -EACCES ? -EINVAL : err;
	}
	btf = btf__parse(path, NULL);
	err = libbpf_get_error(btf);
	if (err) {
		snprintf(error, size,
			 "--btf %s: %s\n  give the BTF of this very kernel: a raw .BTF section, a "
			 "vmlinux with debug information, or what `make btf-archive` made of one",
			 path, "holds no BTF that can be read");
		return -EINVAL;
	}
	btf__free(btf);
	return 0;
}

static int find_in_archives(char *ret_path, char *error, size_t size)
{
	struct utsname un;

	uname(&un);
	for (size_t i = 0; i < sizeof(archives) / sizeof(archives[0]); i++) {
		snprintf(ret_path, BTF_PATH_MAX, "%s/%s/%s.btf", archives[i], un.machine,
			 un.release);
		if (!access(ret_path, R_OK))
			return check_file(ret_path, error, size);
	}
	snprintf(error, size,
		 "this kernel has no BTF: /sys/kernel/btf/vmlinux is missing "
		 "(CONFIG_DEBUG_INFO_BTF)\n"
		 "  kernel %s: unpack a BTF archive that has it, so that %s/%s/%s.btf is there\n"
		 "  (where its BTF or vmlinux is at hand, `make btf-archive KERNEL_BTF=FILE` makes "
		 "one),\n  or give its BTF with --btf FILE",
		 un.release, archives[0], un.machine, un.release);
	return -ENOSYS;
}

int btf_find(const char *given, char *ret_path, char *error, size_t size)
{
	int err = given ? check_file(given, error, size) : 0;

	ret_path[0] = 0;
	if (err || !access("/sys/kernel/btf/vmlinux", R_OK))
		return err;
	if (!given)
		return find_in_archives(ret_path, error, size);
	snprintf(ret_path, BTF_PATH_MAX, "%s", given);
	return 0;
}
