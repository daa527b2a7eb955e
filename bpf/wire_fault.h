/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Part of wire.h: state of an open page fault. */
#ifndef FS_WIRE_FAULT_H
#define FS_WIRE_FAULT_H

/* A thread's page fault: open, or ended and not yet added to the counters of its process. */
struct fs_fault_slot {
	__u64 begin_ns; /* 0: no fault is open */
	__u64 ended_ns; /* duration of the last fault; 0: already added, or none */
	__u32 end;	/* enum fault_end, selects its class */
	__u32 maj_flt;	/* of its thread, while the fault waits for its retry */
	__u64 tried;	/* address of a fault that may start once more; 0: none */
	__u64 address;
	__u64 area_from; /* mapping of the thread's last fault: [from, to) */
	__u64 area_to;
	__u64 area_version; /* version of the mappings then */
	/* bytes its thread read from disks: before the fault, then in it */
	__u64 read_bytes;
	/* value before the fault, to detect a huge page without an event */
	__s64 known;
	__u64 numa;		   /* the same for NUMA balancing */
	__u64 lock_ns;		   /* when it started to wait for mmap_lock; 0: it does not wait */
	__u64 held_ns;		   /* when it acquired mmap_lock */
	__u64 disk_ns;		   /* when it went to sleep for disk I/O; 0: it does not sleep */
	__u64 reclaim_ns;	   /* when its thread started reclaim; 0: not in reclaim */
	__u64 wait_ns;		   /* when the current wait started; 0: none */
	__u64 waited_ns[NR_WAITS]; /* time waited within the fault, by enum wait */
	__u32 area;		   /* AREA_* of the kernel side */
	__u8 as[NR_ENDS];	   /* enum fault_class if the fault is minor, and if it is major */
	__u16 read_for;		   /* enum fault_class if its thread read from disks */
	__u32 holder;		   /* pid that held mmap_lock then; 0: nobody, or not known */
	__u32 holder_writes;
	char holder_comm[16];
	__u64 no_area_bytes; /* length of a free range that its call did not find; 0: none */
	__u32 said;	     /* FACT_SAID_* of its call */
	__u32 noted;	     /* one of the two is set */
};

#endif
