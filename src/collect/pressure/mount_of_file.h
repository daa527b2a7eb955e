/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: measures how full the file system of a file is when a process gets SIGBUS, or when a
 * call finds no space in the file. The values of the last scan may be outdated, because a file
 * system may fill up between two scans.
 */
#ifndef FS_COLLECT_PRESSURE_MOUNT_OF_FILE_H
#define FS_COLLECT_PRESSURE_MOUNT_OF_FILE_H

#include "collect/names/process_names.h"
#include "collect/pressure/pressure_reader.h"

/*
 * Sends a mount record for the file system with this device number to the consumer `sink`. The
 * number is super_block->s_dev, as MKDEV(); 0: not known. Sends no record for a network file
 * system. Also sends none if neither faultscope, nor the process, nor an ancestor of the process
 * sees the mount. Returns the consumer's result.
 */
int mount_of_file(const struct names *n, const struct process_key *process, uint64_t device,
		  const struct sink *sink);

#endif
