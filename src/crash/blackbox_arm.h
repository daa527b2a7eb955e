/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds and enables the places on this machine where records survive a crash. */
#ifndef FS_CRASH_BLACKBOX_ARM_H
#define FS_CRASH_BLACKBOX_ARM_H

#include "cli/options.h"

/*
 * Lists the places for records. Enables those that the option --keep names; without this option,
 * enables all. Returns an exit status.
 */
int blackbox_arm(const struct options *o);

/*
 * Enables the events of the trace instance that survives a warm reboot. First saves the contents of
 * the previous boot beside the ring file, because enabling an event erases these contents. Returns
 * 0, -ENOENT if there is no such instance, or -errno.
 */
int arm_instance(const struct options *o);

#endif
