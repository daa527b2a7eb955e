// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests how the processes of a container are found in /proc. */
#include "fakeroot.h"

#include <errno.h>

#include "collect/names/container_pids.h"
#include "tap.h"

#define ID    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ID2   "0123456789acdef00123456789abcdef0123456789abcdef0123456789abcdef"
#define TASK  "cd189a933e5849daa93386466019ab50"
#define SLICE "/kubepods.slice/kubepods-pod11111111_2222_3333_4444_555555555555.slice"

int main(void)
{
	struct fakeroot r = fakeroot_make();
	int proc;
	uint32_t pid[2] = {};

	fake_process(&r, 10, 1, "a", 0, "0::" SLICE "/cri-containerd-" ID ".scope\n");
	fake_process(&r, 11, 1, "a", 0, "4:memory:/docker/" ID2 "\n0::/\n");
	fake_process(&r, 12, 1, "a", 0, "0::/../cri-containerd-" ID ".scope\n");
	fake_process(&r, 13, 1, "a", 0, "0::/system.slice/" ID ".service\n");
	fake_process(&r, 14, 1, "a", 0, "0::/ecs/" TASK "/" TASK "-2495160603\n");
	fake_process(&r, 15, 1, "a", 0, "");
	proc = openat(r.fd, "proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ok(container_pids_find(proc, ID, pid, 2) == 2 && pid[0] + pid[1] == 22, "all processes");
	ok(container_pids_find(proc, "containerd://" ID, pid, 2) == 2, "Kubernetes' notation");
	ok(container_pids_find(proc, "0123456789ac", pid, 2) == 1 && pid[0] == 11, "a short ID");
	ok(container_pids_find(proc, "0123456789a", pid, 2) == -EINVAL, "too short");
	ok(container_pids_find(proc, TASK "-2495160603", pid, 2) == 1 && pid[0] == 14, "Fargate");
	ok(container_pids_find(proc, "0123456789ab", pid, 1) == 2, "more than there is room for");
	ok(container_pids_find(proc, "ffffffffffff", pid, 2) == 0, "no such container");
	ok(container_pids_find(proc, "", pid, 2) == -EINVAL, "no ID");
	ok(container_pids_find(proc, "web.service.example", pid, 2) == -EINVAL, "a name");
	ok(container_pids_find(proc, ID "0", pid, 2) == 0, "too long");
	close(proc);
	fakeroot_free(&r);
	return tap_done();
}
