/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: how full the file system of a mapped file is, at the moment that a SIGBUS is told of it.
 * The look measures what is mounted only now and then, and what fills up may do so between two.
 */
#ifndef FS_COLLECT_PRESSURE_MOUNT_OF_FILE_H
#define FS_COLLECT_PRESSURE_MOUNT_OF_FILE_H

#include "collect/names/process_names.h"
#include "collect/pressure/pressure_reader.h"

/*
 * Passes a mount record of the file system of r->file on, if it is mounted here, or where the
 * process or one of its ancestors sees it, and answers at once. Nothing where it is not found.
 * Returns what the sink says.
 */
int mount_of_file(const struct names *n, const struct signal_record *r, const struct sink *sink);

#endif
