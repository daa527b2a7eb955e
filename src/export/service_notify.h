/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* sd_notify(3), without its library: what the service manager is told, where there is one. */
#ifndef FS_EXPORT_SERVICE_NOTIFY_H
#define FS_EXPORT_SERVICE_NOTIFY_H

#include <stdint.h>

struct notify {
	int fd;		      /* -1: nobody asked */
	uint64_t watchdog_ns; /* how often it wants to hear of us; 0: not at all */
};

/* Connects, while that is still permitted. */
void notify_open(struct notify *n);
void notify_send(const struct notify *n, const char *text); /* "READY=1\nSTATUS=…" */
void notify_close(struct notify *n);

#endif
