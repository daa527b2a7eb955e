/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Maps and settings that the BPF programs of the flight recorder share with src/probe. */
#ifndef FS_WIRE_BLACKBOX_H
#define FS_WIRE_BLACKBOX_H

#include "records/precursor_record.h"
#include "wire.h"

#define FS_FREED_AREAS 512

/* Key under which equal events are counted; only some of these events are sent. */
struct fs_equal_key {
	__u64 what;
	__u64 at;
};
struct fs_equal {
	__u64 count;
	__u64 told_ns;
};

/* Settings that the loader sets before the load. */
struct fs_blackbox_config {
	__u64 text_start, text_end; /* address range of the kernel's own code; 0: not known */
	__u32 smap;
	__u32 marks;   /* 1: bpf_trace_vprintk() is available (5.16); 0: it is not */
	__u64 hold_ns; /* maximum time that a panic waits for the recorder; 0: no wait */
};

struct fs_blackbox_shared {
	__u64 dropped[NR_PRECURSORS];
	__u64 faults_benign; /* number of user copies that faulted */
	__u64 areas;	     /* number of address ranges that drivers have freed */
	__u64 panic_cpu;     /* number of the CPU whose panic waits, plus 1; 0: no panic waits */
	/* The recorder sets panic_kept when everything is on disk, to end the panic's wait. */
	__u64 panic_kept;
};

#endif
