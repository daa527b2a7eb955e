/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* base: messages that pass open files to another process, over a socket of AF_UNIX. */
#ifndef FS_BASE_PASSED_FILES_H
#define FS_BASE_PASSED_FILES_H

#include <stddef.h>
#include <sys/socket.h>

#define PASSED_FILES_MOST 250 /* the kernel passes at most 253: SCM_MAX_FD in include/net/scm.h */

/* Room for the files in the control part of a message, also of one to be received. */
union passed_files {
	struct cmsghdr head; /* aligns `space` */
	char space[CMSG_SPACE(PASSED_FILES_MOST * sizeof(int))];
};

/*
 * Sends `size` bytes, and `n` files (1 to PASSED_FILES_MOST). A receiver that has ended causes no
 * signal. Returns 0 or -errno.
 */
int passed_files_send(int socket, const void *data, size_t size, const int *files, int n,
		      int flags);

#endif
