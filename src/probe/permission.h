/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* probe: what a refusal of the kernel means, and what to do about it. */
#ifndef FS_PROBE_PERMISSION_H
#define FS_PROBE_PERMISSION_H

#include <stdbool.h>
#include <stddef.h>

/* Whether an error of the load concerns everything, not one program. */
bool permission_is_total(int err);

/* The whole story of a load that failed. Returns -EPERM, -ENOSYS or err. */
int permission_explain(int err, const char *log, char *error, size_t size);

/* One hook's: "not permitted", "no such tracepoint (tracefs is not mounted)", … Static text. */
const char *permission_load_reason(int err, const char *log);
const char *permission_attach_reason(const char *mechanism, int err);

#endif
