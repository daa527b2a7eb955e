/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel log in a memory dump, and the list of loaded modules. */
#ifndef FS_CRASH_VMCORE_KERNEL_LOG_H
#define FS_CRASH_VMCORE_KERNEL_LOG_H

#include "base/buf.h"
#include "crash/vmcore/kernel_image.h"

/* Appends the log, as dmesg prints it. Returns 0, or -errno with the reason in *ret_why. */
int kernel_log_read(struct buf *b, const struct kernel_image *k, const char **ret_why);

/*
 * Appends the names of the loaded modules, separated by blanks. Returns 0, or -errno if the kernel
 * does not describe its symbols (before 6.0) or the list is damaged.
 */
int module_list_read(struct buf *b, const struct kernel_image *k);

#endif
