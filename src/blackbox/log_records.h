/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * blackbox: rebuilds the kernel log from records. If the machine died before it logged an oops, the
 * record of the fault is written in the format of the kernel log.
 */
#ifndef FS_BLACKBOX_LOG_RECORDS_H
#define FS_BLACKBOX_LOG_RECORDS_H

#include "base/buf.h"
#include "blackbox/scan.h"

/* Writes the kernel log of one boot. */
void bb_relog(struct buf *b, const struct bb_found *f, const uint8_t boot_id[BB_BOOT_BYTES]);

#endif
