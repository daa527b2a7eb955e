/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The part of wire.h that describes the state of a thread's page fault. */
#ifndef FS_WIRE_FAULT_H
#define FS_WIRE_FAULT_H

/* A thread's page fault: open, or ended and not yet added to the counters of the process. */
struct fs_fault_slot {
	__u64 begin_ns; /* start of the open fault; 0: no fault is open */
	__u64 ended_ns; /* duration of the last fault; 0: none, or already added to the counters */
	__u32 end;	/* enum fault_end: index in `as` of the fault's class */
	__u32 maj_flt;	/* the thread's maj_flt while the fault waits for its retry */
	__u64 tried;	/* address of a fault that may begin a second time; 0: none */
	__u64 address;
	__u64 area_from; /* mapping of the thread's last fault: [area_from, area_to) */
	__u64 area_to;
	__u64 area_version; /* mappings_version() when area_from and area_to were set */
	/*
	 * bytes that the thread read from disks: until the fault ends, the total before the fault;
	 * afterwards, the bytes read during the fault
	 */
	__u64 read_bytes;
	/* Anonymous RSS before the fault, to detect huge pages. */
	__s64 known;
	__u64 numa;		   /* numa_figure() before the fault, to detect NUMA hints */
	__u64 lock_ns;		   /* time when a wait for mmap_lock began; 0: none */
	__u64 held_ns;		   /* time when mmap_lock was acquired */
	/*
	 * Time when sleep for disk I/O began; 0: none. If config.disk_by_counters is set:
	 * slept_ns() when the fault began, or after the last other wait (disk_wait.bpf.h).
	 */
	__u64 disk_ns;
	__u64 disk_queue;	   /* address of the run queue when disk_ns was read */
	__u64 reclaim_ns;	   /* time when reclaim began; 0: not in reclaim */
	__u64 wait_ns;		   /* time when the current wait began; 0: none */
	__u64 waited_ns[NR_WAITS]; /* time waited in the fault, by enum wait */
	__u32 area;		   /* AREA_* of class.bpf.h: kind of the mapping */
	/*
	 * class of the fault (enum fault_class): as[0] applies to a minor fault, as[1] to a major
	 * one
	 */
	__u8 as[NR_ENDS];
	__u16 read_for; /* enum fault_class of the fault if it read from a disk */
	__u32 holder;	/* pid that held mmap_lock; 0: nobody, or not known */
	__u32 holder_writes;
	char holder_comm[16];
	__u64 no_area_bytes; /* length of a free range that the call did not find; 0: none */
	__u32 said;	     /* FACT_SAID_* of the current call */
	__u32 noted;	     /* true if no_area_bytes or `said` is set */
	__u32 stored;	     /* true if the slot is counted in fs_shared.stored */
	__u32 pad;
};

#endif
