/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A part of wire.h, which includes it where it belongs: what is told of a call that was refused. */
#include "wire.h"
#ifndef FS_WIRE_REFUSED_H
#define FS_WIRE_REFUSED_H

/* A range of the address space, as a refused call found it. Addresses; ends are exclusive. */

struct fs_range {
	__u64 hole;	 /* the first address where nothing is mapped; ~0: none */
	__u64 start;	 /* of the first VMA that is not as was asked for, and before a hole */
	__u64 end;	 /* of the same; both 0: none */
	__u64 flags_all; /* VM_*: of every VMA walked */
	__u64 flags_any; /* of any */
	__u64 above; /* start of the first VMA in what the call would have grown into; 0: none */
	__u64 mapped_bytes; /* within the range */
	__u64 locked_bytes; /* of these */
	__u64 start_flags;  /* VM_*: of the VMA that `start` is of */
	__u32 vmas;	    /* whether there was any */
	__u32 walk;	    /* enum walk: whether it was looked at, whole */
};

/* The file behind a descriptor. */
struct fs_file {
	__u64 magic;	  /* of its file system: linux/magic.h */
	__u64 size_bytes; /* of the inode */
	__u64 mmap_ip;	  /* its mmap method: tells the driver */
	__u32 flags;	  /* FILE_* */
	__u32 mode;	  /* inode->i_mode */
	__u32 open_mode;  /* file->f_mode: FMODE_* of include/linux/fs.h */
	__u32 seals;	  /* F_SEAL_* of a memory file */
	char name[FILE_NAME_LEN];
};

/* Of the levels of a hierarchy the one with the least room. */
struct fs_level {
	__u64 used;
	__u64 limit; /* ~0: none of them has one */
	__u32 up;    /* how many levels above the process's own */
	__u32 known;
};

/* What is counted for a user (in a user namespace), ~0 where it is not known. */
struct fs_user {
	__u64 processes;	 /* what RLIMIT_NPROC bounds */
	__u64 inotify_instances; /* of fanotify_init its groups in their place, since 5.13 */
	__u64 inotify_instances_max;
	__u64 inotify_watches;
	__u64 inotify_watches_max;
	__u64 pipe_pages;
	__u64 locked_pages; /* by io_uring, perf and others: a user's, not a process's */
};

/* What a call asks for, where its arguments only say where that is to be read. */
struct fs_asked {
	__u64 bytes;   /* segment of shmat; strings and pointers of execve; buffers of io_uring;
			* messages of mq_open */
	__u64 longest; /* string of execve, with its end; of mq_open RLIMIT_MSGQUEUE */
	__u32 whole;   /* all of it was read */
	__u32 pad;
};

/*
 * A thread that was refused memory by mmap, mremap or brk asked for at least half as much again
 * within RETRY_NS, by mmap or mremap, and got it. It comes behind the record of the refusal.
 */
struct fs_retry_record {
	struct fs_header h;
	struct fs_subject subject;
	__u32 tid;
	__u16 call; /* enum call_id: the one that succeeded */
	__u16 pad;
	__u64 bytes; /* that it asked for */
};

/* State at the moment a call was refused. */
struct fs_refused_record {
	struct fs_header h;
	struct fs_subject subject;
	__u32 tid;
	__u16 call;  /* enum call_id */
	__u16 error; /* errno; 0 for brk and recvmsg, which give none */
	__u64 count; /* of equal ones (process, call, errno, facts) up to and with this */
	__u64 args[6];
	__s64 ret;
	__u64 total_vm_pages;
	__u64 data_vm_pages;
	__u64 locked_vm_pages;
	__u64 heap_bytes; /* brk - start_brk + end_data - start_data: what RLIMIT_DATA bounds */
	__u64 task_size_bytes;
	__u64 as_limit_bytes;
	__u64 data_limit_bytes;
	__u64 memlock_limit_bytes;
	__u64 stack_limit_bytes;
	__u64 nproc_limit;
	__u64 fd_soft;
	__u64 area_bytes; /* what no free range was found for; 0: none was sought in vain */
	struct fs_range range;
	struct fs_asked asked;
	struct fs_file file;
	struct fs_level memory; /* pages, of the memory cgroup */
	struct fs_level pids;
	struct fs_user user;
	__u64 variable[NR_VARIABLES];
	__u32 variables; /* bit i: number i is known */
	__u32 map_count;
	__u32 fds;	/* ~0 where they were not counted */
	__u32 fds_free; /* numbers that it may have been given; ~0 where they were not counted */
	__u32 facts;	/* FACT_* */
	__s32 stack;	/* of a stack record; < 0: none */
	char comm[COMM_LEN];
};

#endif
