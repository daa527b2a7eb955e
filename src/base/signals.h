/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads signals from a signalfd, and ends the program by a signal. */
#ifndef FS_BASE_SIGNALS_H
#define FS_BASE_SIGNALS_H

#include <stdbool.h>
#include <stddef.h>

/* Returns whether the signal is ignored, as set by nohup(1) and by shells for commands with `&`. */
bool signal_is_ignored(int number);

/*
 * Blocks the signals in `wanted`. Returns a non-blocking signalfd for the signals, or -errno. A
 * signal that the parent process made ignored stays ignored.
 */
int signals_open(const int *wanted, size_t n);

/*
 * Ends this process by a signal, without a core dump. Returns only if the signal does not end the
 * process.
 */
void signal_end_by(int number);

#endif
