/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where the flight recorder keeps its records. */
#ifndef FS_CRASH_BLACKBOX_PLACES_H
#define FS_CRASH_BLACKBOX_PLACES_H

#define BLACKBOX_FILE	  "/var/lib/faultscope/blackbox.ring"
#define BLACKBOX_INSTANCE "boot_map" /* trace instance whose buffer survives a reboot */

#endif
