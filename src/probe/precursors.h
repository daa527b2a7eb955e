/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * probe: the probes of the flight recorder, one row each. Each probe is attached on its own; if a
 * probe cannot be attached, the kernel's reason is kept.
 */
#ifndef FS_PROBE_PRECURSORS_H
#define FS_PROBE_PRECURSORS_H

#include <stdbool.h>
#include <stddef.h>

#include "records/precursor_record.h"

#define PRECURSOR_HOOKS	   16
#define PRECURSOR_PROGRAMS 3

struct precursor_hook {
	const char *name;
	const char *program[PRECURSOR_PROGRAMS];
	const char *feeds;
	const char *lost; /* information that is missing without this probe */
};

extern const struct precursor_hook precursor_hooks[];
extern const size_t nr_precursor_hooks;

struct precursors; /* the loaded BPF object, and its links */

/* Loads and attaches the probes. Returns 0 or -errno with `error` set. `btf_path` may be NULL. */
int precursors_open(struct precursors **ret, const char *btf_path, char *error, size_t size);
void precursors_close(struct precursors *p);

/* Returns why a probe could not be attached, or NULL if it is attached. */
const char *precursors_refused(const struct precursors *p, size_t hook);

int precursors_fd(const struct precursors *p); /* returns an fd to wait for records */

/* Passes new records to take(). Returns 0, or the first result of take() that is not 0. */
int precursors_drain(struct precursors *p, int (*take)(void *ctx, const struct precursor_record *r),
		     void *ctx);

/*
 * Returns how many events of one kind occurred at an instruction so far, including events that were
 * not sent.
 */
__u64 precursors_count(const struct precursors *p, __u32 what, __u64 ip);

/* Returns whether precursors_count() needs CAP_BPF, as before 5.19 if bpf(2) is privileged. */
bool precursors_need_rights(struct precursors *p);

/*
 * Returns 1 plus the number of the CPU whose panic waits, or 0 if no panic waits. The panic
 * continues after precursors_panic_kept(), or after PRECURSORS_HOLD_NS.
 */
#define PRECURSORS_HOLD_NS 1000000000ull
__u64 precursors_panic(const struct precursors *p);
void precursors_panic_kept(struct precursors *p);

/*
 * Returns whether a panic would wait for the recorder: the panic probe is attached, and another CPU
 * can run faultscope.
 */
bool precursors_holds(const struct precursors *p);

/* Returns the kernel memory with copies of records, and its size. Returns NULL if there is none. */
unsigned char *precursors_memory(const struct precursors *p, size_t *ret_bytes);

#endif
