/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * blackbox: the kernel's log out of records: the lines that were recorded; and where the machine
 * died before it printed any of an oops, what the fault's own record says, in the log's words.
 */
#ifndef FS_BLACKBOX_LOG_RECORDS_H
#define FS_BLACKBOX_LOG_RECORDS_H

#include "base/buf.h"
#include "blackbox/scan.h"

/* Of one boot. */
void bb_relog(struct buf *b, const struct bb_found *f, const uint8_t boot_id[BB_BOOT_BYTES]);

#endif
