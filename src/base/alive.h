/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * base: which thread of a process to read in /proc. A first thread that has ended stays as a zombie
 * until the last one ends. It has no memory, file descriptors, root directory or namespaces:
 * exit_mm(), exit_files(), exit_fs(), exit_task_namespaces() in do_exit(), kernel/exit.c.
 */
#ifndef FS_BASE_ALIVE_H
#define FS_BASE_ALIVE_H

#include <stdbool.h>
#include <stdint.h>

/* Whether the text of a /proc/PID/stat is of a thread that has ended. */
bool alive_is_over(const char *stat);

/* The id of a thread that has not ended, of the process whose /proc/PID is open; 0: none. */
uint32_t alive_below(int proc);

/*
 * Returns the pid, or where its first thread has ended the id of another thread that has not:
 * /proc/ID holds it as /proc/PID does, though no listing of /proc shows it. The pid where none is.
 */
uint32_t alive_thread(uint32_t pid);

#endif
