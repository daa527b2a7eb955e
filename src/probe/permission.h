/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* probe: explains why the kernel refused a load or an attachment, and what to do. */
#ifndef FS_PROBE_PERMISSION_H
#define FS_PROBE_PERMISSION_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Returns whether a load error affects all BPF programs, not a single one. */
bool permission_is_total(int err);

/*
 * Returns whether kernel lockdown keeps BPF programs from reading kernel memory. If the lockdown
 * mode is unreadable and a load has failed (`refused`), permission_is_locked() loads a test
 * program.
 */
bool permission_is_locked(bool refused);

/*
 * Returns whether the main thread of a process has a seccomp filter: "Seccomp: 2" in its file
 * /proc/PID/status. false: it has none, or there is no such process.
 */
bool permission_is_filtered(pid_t pid);

/* Explains a failed load. Returns -EPERM, -ENOSYS or `err`. */
int permission_explain(int err, const char *log, char *error, size_t size);

/*
 * The reason why one probe could not be attached, and what to do. The text contains the errno and,
 * if the verifier refused a program, the verifier's reason.
 */
struct answer {
	char text[192];
	const char *remedy; /* a command that helps; NULL: nothing helps on this kernel */
};

extern const struct answer permission_locked;
struct answer permission_load_answer(int err, const char *log);
struct answer permission_attach_answer(const char *mechanism, int err);

/* Copies the mode of kernel lockdown; empty: this kernel has no lockdown. */
void permission_lockdown(char *ret, size_t size);

#endif
