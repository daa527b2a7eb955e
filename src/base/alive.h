/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * base: finds a live thread of a process in /proc. A main thread that exits stays as a zombie until
 * the last thread exits. Such a zombie has no memory, file descriptors, root directory or
 * namespaces: exit_mm(), exit_files(), exit_fs(), exit_task_namespaces() in do_exit(),
 * kernel/exit.c.
 */
#ifndef FS_BASE_ALIVE_H
#define FS_BASE_ALIVE_H

#include <stdbool.h>
#include <stdint.h>

/* Returns whether the text of a /proc/PID/stat is that of a thread that exits or has exited. */
bool alive_is_over(const char *stat);

/*
 * Returns the id of a live thread of a process, or 0. `proc` is a descriptor of the directory
 * /proc/PID.
 */
uint32_t alive_below(int proc);

/*
 * Returns the pid, or the id of a live thread if the main thread has exited. /proc/ID exists for
 * every thread, although /proc lists only processes. Returns the pid when no thread is alive.
 */
uint32_t alive_thread(uint32_t pid);

#endif
