/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Signals that are read from a file, and the one that a program ends by. */
#ifndef FS_BASE_SIGNALS_H
#define FS_BASE_SIGNALS_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the signal is ignored, as nohup(1) has it and shells have it for commands behind `&`. */
bool signal_is_ignored(int number);

/*
 * Blocks these signals and returns a signalfd of them that does not block, or -errno. A signal that
 * is ignored stays so: who started the program wants it.
 */
int signals_open(const int *wanted, size_t n);

/* Ends this process by a signal, without a core file. Returns where that signal ends nothing. */
void signal_end_by(int number);

#endif
