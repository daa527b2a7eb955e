/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: describes the sockets of a network namespace by inode, from /proc/PID/net. */
#ifndef FS_COLLECT_NAMES_SOCKETS_H
#define FS_COLLECT_NAMES_SOCKETS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct sockets {
	struct socket_label {
		uint64_t inode;
		char text[72]; /* a label, such as "tcp CLOSE_WAIT to 10.4.0.9:6379" or "unix" */
	} * label;	       /* array of labels, sorted by inode, owned */
	size_t n, room;
	int cut; /* some sockets were left out: too many */
};

/* Reads the sockets of the process's network namespace; skips unreadable files. */
void sockets_read(struct sockets *s, uint32_t pid);

/* Adds the sockets of a file of /proc/PID/net; `file` is its name, such as "tcp6". */
void sockets_parse(struct sockets *s, const char *file, FILE *f);

/* Returns a socket's label, or NULL for a socket of another namespace or address family. */
const char *sockets_find(const struct sockets *s, uint64_t inode);

void sockets_free(struct sockets *s);

#endif
