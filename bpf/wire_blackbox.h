/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Maps and settings that the flight recorder's kernel side shares with src/probe. */
#ifndef FS_WIRE_BLACKBOX_H
#define FS_WIRE_BLACKBOX_H

#include "records/precursor_record.h"
#include "wire.h"

#define FS_FREED_AREAS 512

/* Equal events are counted, and sent now and then. */
struct fs_equal_key {
	__u64 what;
	__u64 at;
};
struct fs_equal {
	__u64 count;
	__u64 told_ns;
};

/* Settings that the loader gives to the programs. */
struct fs_blackbox_config {
	__u64 text_start, text_end; /* range of the kernel's own code; 0: not known */
	__u32 smap;
	__u32 marks;   /* bpf_trace_vprintk() is available: 5.16 */
	__u64 hold_ns; /* how long a panic waits for the recorder at most; 0: not at all */
};

struct fs_blackbox_shared {
	__u64 dropped[NR_PRECURSORS];
	__u64 faults_benign; /* user copies */
	__u64 areas;	     /* ranges that drivers freed so far */
	__u64 panic_cpu;     /* CPU + 1 of a panic that waits; 0: none */
	/* set by the recorder: everything is written, the panic need not wait */
	__u64 panic_kept;
};

#endif
