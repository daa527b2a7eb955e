/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the kernel side of the flight recorder shares with src/probe. */
#ifndef FS_WIRE_BLACKBOX_H
#define FS_WIRE_BLACKBOX_H

#include "records/precursor_record.h"
#include "wire.h"

#define FS_FREED_AREAS 512

/* Equal ones are counted, and told now and then. */
struct fs_equal_key {
	__u64 what;
	__u64 at;
};
struct fs_equal {
	__u64 count;
	__u64 told_ns;
};

/* What the loader tells the programs. */
struct fs_blackbox_config {
	__u64 text_start, text_end; /* of the kernel's own code; 0: not known */
	__u32 smap;
	__u32 marks;   /* bpf_trace_vprintk() may be called: 5.16 */
	__u64 hold_ns; /* that a panic waits for the recorder at most; 0: it does not */
};

struct fs_blackbox_shared {
	__u64 dropped[NR_PRECURSORS];
	__u64 faults_benign; /* user copies */
	__u64 areas;	     /* given back by drivers, until now */
	__u64 panic_cpu;     /* plus 1, of a panic that waits; 0: there is none */
	__u64 panic_kept;    /* the recorder's answer: all is kept, it need wait no more */
};

#endif
