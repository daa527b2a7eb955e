/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Test cases of a GPU driver that is not there: a process of the case serves a stub device with the
 * name of NVIDIA's device file, by CUSE (character devices in user space). The numbers of the
 * requests are real; what the stub returns is made up. So these cases test what faultscope says
 * about a device and a request, not what NVIDIA's driver does.
 */
#include "zoo.h"

#include <linux/fuse.h>
#include <sys/ioctl.h>
#include <sys/uio.h>

#define NAME		     "nvidia-uvm"
#define MAP_EXTERNAL	     33 /* UVM_MAP_EXTERNAL_ALLOCATION */
#define CREATE_RANGE	     73 /* UVM_CREATE_EXTERNAL_RANGE */
#define INITIALIZE	     0x30000001 /* UVM_INITIALIZE */
#define REQUEST_ROOM	     (64 * KIB)
#define WAIT_US		     10000
#define WAITS		     500

/* What the stub returns for a request: 0 or an errno. Shared with the process that serves it. */
static volatile int *answer;

static void reply(int cuse, const struct fuse_in_header *to, int error, const void *body,
		  size_t bytes)
{
	struct fuse_out_header head = { .len = sizeof(head) + bytes, .error = -error,
					.unique = to->unique };
	struct iovec parts[] = { { &head, sizeof(head) }, { (void *)body, bytes } };

	if (writev(cuse, parts, bytes ? 2 : 1) < 0)
		_exit(1);
}

static void reply_init(int cuse, const struct fuse_in_header *to)
{
	struct {
		struct cuse_init_out init;
		char info[sizeof("DEVNAME=" NAME)];
	} out = { .init = { .major = FUSE_KERNEL_VERSION, .minor = FUSE_KERNEL_MINOR_VERSION,
			    .flags = CUSE_UNRESTRICTED_IOCTL, .max_read = PAGE_BYTES,
			    .max_write = PAGE_BYTES },
		  .info = "DEVNAME=" NAME };

	reply(cuse, to, 0, &out, sizeof(out.init) + sizeof(out.info));
}

static void serve(int cuse)
{
	static char request[REQUEST_ROOM];
	const struct fuse_in_header *head = (const void *)request;
	const struct fuse_ioctl_out done = {};
	const struct fuse_open_out opened = {};

	while (read(cuse, request, sizeof(request)) > 0) {
		switch (head->opcode) {
		case CUSE_INIT:
			reply_init(cuse, head);
			break;
		case FUSE_OPEN:
			reply(cuse, head, 0, &opened, sizeof(opened));
			break;
		case FUSE_IOCTL:
			if (*answer)
				reply(cuse, head, *answer, NULL, 0);
			else
				reply(cuse, head, 0, &done, sizeof(done));
			break;
		case FUSE_RELEASE:
			reply(cuse, head, 0, NULL, 0);
			break;
		}
	}
	_exit(0);
}

/* Starts the stub, which ends with this process, and opens it. Its requests return `error`. */
static int open_stub(int error)
{
	pid_t parent = getpid(), child;
	int cuse, fd = -1;

	if (!access("/dev/" NAME, F_OK))
		skip("/dev/" NAME " exists");
	cuse = open("/dev/cuse", O_RDWR | O_CLOEXEC);
	if (cuse < 0)
		skip("/dev/cuse: %s", strerror(errno));
	answer = map_file(-1, PAGE_BYTES, RW, SHARED_ANON);
	*answer = error;
	child = fork();
	if (child < 0)
		die("fork");
	if (!child) {
		end_with(parent);
		serve(cuse);
	}
	close(cuse);
	for (int i = 0; i < WAITS && fd < 0; i++) {
		usleep(WAIT_US);
		fd = open("/dev/" NAME, O_RDWR | O_CLOEXEC);
	}
	if (fd < 0)
		skip("the stub /dev/" NAME ": %s", strerror(errno));
	return fd;
}

static void lacks_memory(void)
{
	ASK(ioctl, open_stub(ENOMEM), CREATE_RANGE, 0);
}

static void lacks_space(void)
{
	ASK(ioctl, open_stub(ENOSPC), MAP_EXTERNAL, 0);
}

static void lacks_right(void)
{
	ASK(ioctl, open_stub(EPERM), INITIALIZE, 0);
}

static void let_it(void)
{
	*answer = 0;
}

#define STUB(error, cause, prepare)                                                                \
	{ "ioctl", error, cause, .undecidable = true }, prepare, NULL, let_it, .guest = true

const struct zoo_case stub_cases[] = {
	{ "nvidia-stub-memory", STUB(ENOMEM, "device", lacks_memory) },
	{ "nvidia-stub-space", STUB(ENOSPC, "device", lacks_space) },
	{ "nvidia-stub-right", STUB(EPERM, "device_right", lacks_right) },
	{ 0 },
};
