// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/passed_files.h"

#include <errno.h>
#include <string.h>

int passed_files_send(int socket, const void *data, size_t size, const int *files, int n, int flags)
{
	union passed_files control = {};
	struct iovec part = {(void *)data, size};
	struct msghdr m = {.msg_iov = &part,
			   .msg_iovlen = 1,
			   .msg_control = control.space,
			   .msg_controllen = CMSG_SPACE(n * sizeof(*files))};

	control.head = (struct cmsghdr){.cmsg_len = CMSG_LEN(n * sizeof(*files)),
					.cmsg_level = SOL_SOCKET,
					.cmsg_type = SCM_RIGHTS};
	memcpy(CMSG_DATA(&control.head), files, n * sizeof(*files));
	return sendmsg(socket, &m, flags | MSG_NOSIGNAL) < 0 ? -errno : 0;
}
