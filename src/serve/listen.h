/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* serve: sockets to listen on, opened by address or handed over by systemd. */
#ifndef FS_SERVE_LISTEN_H
#define FS_SERVE_LISTEN_H

#include <stddef.h>

struct listener {
	int fd;
	char name[80]; /* "127.0.0.1:10435", "[::1]:10435", "fd://0" */
};

/*
 * Opens one address, or for "fd://" all that systemd hands over: at most `room`. Returns how many,
 * or -errno with `error` set.
 */
int listen_open(const char *address, struct listener *ret, size_t room, char *error, size_t size);

#endif
