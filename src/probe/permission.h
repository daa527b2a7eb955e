/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* probe: what a refusal of the kernel means, and what to do about it. */
#ifndef FS_PROBE_PERMISSION_H
#define FS_PROBE_PERMISSION_H

#include <stdbool.h>
#include <stddef.h>

/* Whether an error of the load concerns everything, not one program. */
bool permission_is_total(int err);

/*
 * Whether kernel lockdown keeps kernel memory from programs of BPF: by its own word and, where that
 * cannot be read, once a load was refused, by whether a program may call the helper.
 */
bool permission_is_locked(bool refused);

/* The whole story of a load that failed. Returns -EPERM, -ENOSYS or err. */
int permission_explain(int err, const char *log, char *error, size_t size);

/*
 * What the kernel answered to one hook, in words and by its errno, and what to do about it. Where
 * the verifier refused a program, the words end with its reason.
 */
struct answer {
	char text[192];
	const char *remedy; /* a command; NULL: none helps on this kernel */
};

extern const struct answer permission_locked;
struct answer permission_load_answer(int err, const char *log);
struct answer permission_attach_answer(const char *mechanism, int err, const char *log);

/* The mode of kernel lockdown; empty where the kernel has none. */
void permission_lockdown(char *ret, size_t size);

#endif
