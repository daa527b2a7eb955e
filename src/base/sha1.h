/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * base: SHA-1 (RFC 3174), for names derived from contents, and of secrets that have 128 random
 * bits; not for signatures.
 */
#ifndef FS_BASE_SHA1_H
#define FS_BASE_SHA1_H

#include <stddef.h>

#define SHA1_HEX_LEN 41

/* Writes the hash in hexadecimal, NUL-terminated. */
void sha1_hex(const void *data, size_t len, char ret[SHA1_HEX_LEN]);

#endif
