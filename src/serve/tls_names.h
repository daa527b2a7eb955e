/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* serve: converts the TLS settings of the web configuration to a GnuTLS priority string. */
#ifndef FS_SERVE_TLS_NAMES_H
#define FS_SERVE_TLS_NAMES_H

#include <stddef.h>

#include "serve/web_config.h"

#define PRIORITY_BYTES 1024

/*
 * Converts TLS versions, cipher suites (IANA names) and curves (Go names) to a GnuTLS priority
 * string. If suites are configured, TLS 1.2 and older use only these suites, and TLS 1.3 uses only
 * their ciphers. Returns 0, or -EINVAL with `error` set if a name is unknown, or if GnuTLS would
 * enable further suites.
 */
int tls_priority(const struct web_config *c, char ret[PRIORITY_BYTES], char *error, size_t size);

#endif
