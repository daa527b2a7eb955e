/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* serve: who accepts a gzipped body. */
#ifndef FS_SERVE_GZIP_H
#define FS_SERVE_GZIP_H

#include <stdbool.h>

/* Whether an Accept-Encoding header allows it. */
bool gzip_accepted(const char *accept_encoding);

#endif
