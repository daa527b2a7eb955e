/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Part of wire.h: what is kept of a page fault that is open. */
#ifndef FS_WIRE_FAULT_H
#define FS_WIRE_FAULT_H

/* A thread's page fault: open, or ended and not yet added to the figures of its process. */
struct fs_fault_slot {
	__u64 begin_ns; /* 0: none open */
	__u64 ended_ns; /* how long the last one took; 0: added, or none */
	__u32 end;	/* enum fault_end: its class */
	__u32 maj_flt;	/* of its thread, where it waits to be tried again */
	__u64 tried;	/* address of one that may begin once more; 0: none */
	__u64 address;
	__u64 area_from; /* what was mapped where it last looked: [from, to) */
	__u64 area_to;
	__u64 area_version;	   /* of the mappings then */
	__u64 read_bytes;	   /* from disks: by its thread before it began, then in it */
	__s64 known;		   /* before it began: what tells a huge page where no event does */
	__u64 numa;		   /* the same of NUMA balancing */
	__u64 lock_ns;		   /* when it began to ask for mmap_lock; 0: it does not */
	__u64 held_ns;		   /* since when it has that */
	__u64 disk_ns;		   /* when it went to sleep for a disk; 0: it does not */
	__u64 reclaim_ns;	   /* when its thread began to reclaim; 0: it does not */
	__u64 wait_ns;		   /* when the wait under way began; 0: none */
	__u64 waited_ns[NR_WAITS]; /* in it, by enum wait */
	__u32 area;		   /* AREA_* of the kernel side */
	__u8 as[NR_ENDS];	   /* enum fault_class, of a minor one and of a major one */
	__u16 read_for;		   /* a class that it is of if its thread read from disks */
	__u32 holder;		   /* pid of who had mmap_lock then; 0: nobody, or not known */
	__u32 holder_writes;
	char holder_comm[16];
	__u64 no_area_bytes; /* in its call no free range of that length was found; 0: none sought
			      */
	__u32 said;	     /* FACT_SAID_*, in its call */
	__u32 noted;	     /* of the two one is set */
};

#endif
