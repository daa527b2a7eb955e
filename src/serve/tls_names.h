/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* serve: what the web configuration names of TLS, as the library wants to hear it. */
#ifndef FS_SERVE_TLS_NAMES_H
#define FS_SERVE_TLS_NAMES_H

#include <stddef.h>

#include "serve/web_config.h"

#define PRIORITY_BYTES 1024

/*
 * Versions, cipher suites (by their IANA names) and curves (by Go's) as a GnuTLS priority string.
 * Where suites are named, no other is agreed upon below TLS 1.3, and there only their ciphers.
 * -EINVAL with `error` set: a name that is none, or suites that cannot be had without others.
 */
int tls_priority(const struct web_config *c, char ret[PRIORITY_BYTES], char *error, size_t size);

#endif
