/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files that are gzipped as a whole. */
#ifndef FS_SESSION_GZIP_FILE_H
#define FS_SESSION_GZIP_FILE_H

#include "base/buf.h"

/* -ENOMEM. */
int pack_gzip(const struct buf *from, struct buf *to);

#endif
