/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* probe: keeps libbpf's messages during loads and attachments, to explain failures. */
#ifndef FS_PROBE_LOAD_LOG_H
#define FS_PROBE_LOAD_LOG_H

/* Empties the log, and from now on keeps libbpf's messages in it. */
void load_log_begin(void);

/* Returns the messages since load_log_begin(). If they are too long, omits the middle. */
const char *load_log(void);

/* Adds a text to the log. */
void load_log_add(const char *text);

#endif
