/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* model: names of what comes and goes made equal: pods of one set, transient units. */
#ifndef FS_MODEL_COLLAPSE_H
#define FS_MODEL_COLLAPSE_H

#include <stddef.h>

/* "cart-7d9f8b6c5d-x2x9v" is "cart", "backup-29231040-x2x9v" too. `collapse`: COLLAPSE_*. */
void pod_collapse(const char *pod, unsigned int collapse, char *ret, size_t size);

/* "app-gimp-4211.scope" is "app-gimp-#.scope", "sshd@3-10.0.0.1:22-10.0.0.2:4.service" "sshd@#…".
 */
void unit_collapse(const char *unit, unsigned int collapse, char *ret, size_t size);

#endif
