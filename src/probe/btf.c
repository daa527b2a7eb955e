// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "probe/btf.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/utsname.h>
#include <unistd.h>

static int copy_file(const char *from, const char *to)
{
	int in = open(from, O_RDONLY | O_CLOEXEC), out = -1, err = 0;
	char block[65536];
	ssize_t n;

	if (in < 0)
		return -errno;
	out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (out < 0)
		err = -errno;
	while (!err && (n = read(in, block, sizeof(block))) != 0)
		if (n < 0 || write(out, block, n) != n)
			err = n < 0 ? -errno : -ENOSPC;
	close(in);
	if (out >= 0)
		close(out);
	return err;
}

static int check_file(const char *path, char *error, size_t size)
{
	struct btf *btf = btf__parse(path, NULL);
	int err = libbpf_get_error(btf);

	if (err) {
		snprintf(error, size,
			 "--btf %s: %s\n  give the BTF of this very kernel: a raw .BTF section or "
			 "a vmlinux with debug information",
			 path, err == -ENOENT ? "no such file" : "holds no BTF that can be read");
		return err == -ENOENT ? -ENOENT : -EINVAL;
	}
	btf__free(btf);
	return 0;
}

int btf_show(struct btf_view *view, const char *path, char *error, size_t size)
{
	struct utsname un;
	char place[128];
	int err;

	view->old_ns = -1;
	view->mounted = false;
	uname(&un);
	if (path) {
		err = check_file(path, error, size);
		if (err)
			return err;
	}
	if (!access("/sys/kernel/btf/vmlinux", R_OK))
		return 0;
	if (!path) {
		snprintf(error, size,
			 "this kernel has no BTF: /sys/kernel/btf/vmlinux is missing "
			 "(CONFIG_DEBUG_INFO_BTF)\n"
			 "  kernel %s. Give its BTF with --btf FILE (a raw .BTF section, or its "
			 "vmlinux with debug information)",
			 un.release);
		return -ENOSYS;
	}
	snprintf(place, sizeof(place), "/boot/vmlinux-%s", un.release);
	view->old_ns = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
	/* EINVAL: in a chroot / may be no mount point; then what is mounted is taken down by hand
	 */
	if (view->old_ns < 0 || unshare(CLONE_NEWNS) ||
	    (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) && errno != EINVAL)) {
		err = -errno;
		snprintf(error, size,
			 "--btf needs a mount namespace of its own to show the file to libbpf: %s\n"
			 "  needed: CAP_SYS_ADMIN; or put the file at %s yourself",
			 strerror(-err), place);
		goto fail;
	}
	/* The file is given relative to where we are: copy it before /boot is covered. */
	view->mounted = !mount("faultscope", "/boot", "tmpfs", 0, "mode=0700");
	err = view->mounted ? copy_file(path, place) : -errno;
	if (err) {
		snprintf(error, size, "--btf %s: cannot show it at %s: %s", path, place,
			 strerror(-err));
		goto fail;
	}
	return 0;
fail:
	btf_hide(view);
	return err;
}

void btf_hide(struct btf_view *view)
{
	if (view->old_ns < 0)
		return;
	if (view->mounted)
		umount2("/boot", MNT_DETACH);
	setns(view->old_ns, CLONE_NEWNS);
	close(view->old_ns);
	view->old_ns = -1;
}
