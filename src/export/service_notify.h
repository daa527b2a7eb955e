/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* sd_notify(3) without libsystemd: messages to the service manager. */
#ifndef FS_EXPORT_SERVICE_NOTIFY_H
#define FS_EXPORT_SERVICE_NOTIFY_H

#include <stdint.h>

struct notify {
	int fd;		      /* socket; -1: there is no service manager */
	uint64_t watchdog_ns; /* interval of the watchdog in ns; 0: no watchdog */
};

/* Connects to the socket of $NOTIFY_SOCKET. Call this before privileges are dropped. */
void notify_open(struct notify *n);
/* sends a message to the service manager, such as "READY=1\nSTATUS=…" */
void notify_send(const struct notify *n, const char *text);
void notify_close(struct notify *n);

#endif
