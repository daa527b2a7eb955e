/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* probe: what libbpf says while it loads or attaches, to tell why that fails. */
#ifndef FS_PROBE_LOAD_LOG_H
#define FS_PROBE_LOAD_LOG_H

/* From here on its lines are kept. */
void load_log_begin(void);

/* The first lines since then and, where they are too many, the last. */
const char *load_log(void);

#endif
