/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: reads how full the file system of a mapped file is when SIGBUS hits. The scan measures
 * mounts only now and then, and a file system may fill up in between.
 */
#ifndef FS_COLLECT_PRESSURE_MOUNT_OF_FILE_H
#define FS_COLLECT_PRESSURE_MOUNT_OF_FILE_H

#include "collect/names/process_names.h"
#include "collect/pressure/pressure_reader.h"

/*
 * Sends the sink a mount record for the file system of r->file. Sends nothing unless that is a
 * local file system, mounted here or visible to the process or one of its ancestors. Returns what
 * the sink returns.
 */
int mount_of_file(const struct names *n, const struct signal_record *r, const struct sink *sink);

#endif
