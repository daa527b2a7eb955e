/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* crash: loads libkdumpfile, which only compressed memory dumps need. */
#ifndef FS_CRASH_VMCORE_KDUMP_LIBRARY_H
#define FS_CRASH_VMCORE_KDUMP_LIBRARY_H

/*
 * Call kdump_library_load() before any function of libkdumpfile. Returns NULL, or the name of the
 * library or function that is missing.
 */
const char *kdump_library_load(void);

#endif
