/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* serve: decides from a request header whether the response may be compressed. */
#ifndef FS_SERVE_GZIP_H
#define FS_SERVE_GZIP_H

#include <stdbool.h>

/* Returns whether an Accept-Encoding header (NULL: absent) permits gzip. */
bool gzip_accepted(const char *accept_encoding);

#endif
