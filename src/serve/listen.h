/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* serve: opens listening sockets by address, or uses those that systemd passed to this process. */
#ifndef FS_SERVE_LISTEN_H
#define FS_SERVE_LISTEN_H

#include <stddef.h>

struct listener {
	int fd;
	char name[80]; /* address, such as "127.0.0.1:10435", "[::1]:10435" or "fd://0" */
};

/*
 * Opens a listening socket for the address. For "fd://", uses all sockets that systemd passed to
 * this process. Fills at most `room` elements of `ret`. Returns the number of sockets, or -errno
 * with `error` set.
 */
int listen_open(const char *address, struct listener *ret, size_t room, char *error, size_t size);

#endif
