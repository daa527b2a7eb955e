/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `top`: a table of the workloads of many hosts. */
#ifndef FS_EXPORT_TOP_COMMAND_H
#define FS_EXPORT_TOP_COMMAND_H

#include "cli/options.h"

int command_top(const struct options *o);

#endif
