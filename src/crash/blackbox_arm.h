/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What this machine has that survives a crash, and switching it on. */
#ifndef FS_CRASH_BLACKBOX_ARM_H
#define FS_CRASH_BLACKBOX_ARM_H

#include "cli/options.h"

/* Says it, and switches on what --keep asks for, or all that is there. An exit status. */
int blackbox_arm(const struct options *o);

/*
 * The trace instance that a warm reboot leaves alone: what the boot before left in it is saved
 * beside the recorder's file, for it goes with the first change; then its events are switched on.
 * 0, -ENOENT: there is none, -errno.
 */
int arm_instance(const struct options *o);

#endif
