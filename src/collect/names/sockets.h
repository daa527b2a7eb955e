/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: what the sockets of a network namespace are, by inode: /proc/PID/net. */
#ifndef FS_COLLECT_NAMES_SOCKETS_H
#define FS_COLLECT_NAMES_SOCKETS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct sockets {
	struct socket_label {
		uint64_t inode;
		char text[72]; /* "tcp CLOSE_WAIT to 10.4.0.9:6379", "unix", … */
	} * label;	       /* by inode; owned */
	size_t n, room;
	int cut; /* there were more than are kept */
};

/* Reads those that a process sees. What cannot be read is left out. */
void sockets_read(struct sockets *s, uint32_t pid);

/* The same of one of its files, "tcp6" say, beside what there is. */
void sockets_parse(struct sockets *s, const char *file, FILE *f);

/* NULL where it is not known: another namespace's, or another family. */
const char *sockets_find(const struct sockets *s, uint64_t inode);

void sockets_free(struct sockets *s);

#endif
