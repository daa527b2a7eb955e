/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * probe: the flight recorder's hooks. One row a hook; each is attached for itself, and what the
 * kernel refuses is told with its answer.
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
	const char *lost; /* without it */
};

extern const struct precursor_hook precursor_hooks[];
extern const size_t nr_precursor_hooks;

struct precursors; /* loaded, with what is attached */

/* 0, or -EPERM, -ENOSYS, -errno with `error`. `btf_path` as live_open() has it. */
int precursors_open(struct precursors **ret, const char *btf_path, char *error, size_t size);
void precursors_close(struct precursors *p);

/* NULL where a hook is on, else the kernel's answer. */
const char *precursors_refused(const struct precursors *p, size_t hook);

int precursors_fd(const struct precursors *p); /* to wait for */

/* Hands over what has come: 0, or the first answer that was not 0. */
int precursors_drain(struct precursors *p, int (*take)(void *ctx, const struct precursor_record *r),
		     void *ctx);

/* How many equal ones there were until now, told or not: by sort and instruction. */
__u64 precursors_count(const struct precursors *p, __u32 what, __u64 ip);

/* Whether reading these counts needs CAP_BPF, as before 5.19 where bpf(2) is for the privileged. */
bool precursors_need_rights(struct precursors *p);

/*
 * CPU plus 1 of a panic that waits for us, 0: there is none. It goes on once it is told that all is
 * kept, or when it has waited for PRECURSORS_HOLD_NS.
 */
#define PRECURSORS_HOLD_NS 1000000000ull
__u64 precursors_panic(const struct precursors *p);
void precursors_panic_kept(struct precursors *p);

/* Whether a panic would wait: there is another CPU for us to run on, and a hook that waits. */
bool precursors_holds(const struct precursors *p);

/* Memory of the kernel for records, of so many bytes; NULL: none. */
unsigned char *precursors_memory(const struct precursors *p, size_t *ret_bytes);

#endif
