/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* serve: bodies compressed, for who accepts it. */
#ifndef FS_SERVE_GZIP_H
#define FS_SERVE_GZIP_H

#include <stdbool.h>

#include "base/buf.h"

struct gzip; /* its state, kept from one answer to the next */

/* Whether an Accept-Encoding header allows it. */
bool gzip_accepted(const char *accept_encoding);

/* Compresses `from` to `to`; *state is made where it is NULL. False: it could not be done. */
bool gzip_body(struct gzip **state, const struct buf *from, struct buf *to);
void gzip_free(struct gzip *state);

#endif
