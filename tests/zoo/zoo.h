/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The zoo: calls that the kernel refuses, each for a cause that is true by construction. A case
 * sets one limit up for real, makes its call, then lifts that limit alone and makes the call again:
 * it has to succeed, or the case fails. Nothing of the program under test is used or asked.
 */
#ifndef ZOO_H
#define ZOO_H

#include "../workloads/common.h"

#include <linux/capability.h>

/* Newer than the headers of some distributions. */
#ifndef PR_SET_MDWE
#define PR_SET_MDWE		 65
#define PR_MDWE_REFUSE_EXEC_GAIN 1
#endif
#ifndef SYS_mseal
#define SYS_mseal 462
#endif

#define RW	     (PROT_READ | PROT_WRITE)
#define RX	     (PROT_READ | PROT_EXEC)
#define PRIVATE_ANON (MAP_PRIVATE | MAP_ANONYMOUS)
#define SHARED_ANON  (MAP_SHARED | MAP_ANONYMOUS)
#define KIB	     1024L
#define MIB	     (1024 * KIB)
#define GIB	     (1024 * MIB)
#define USER_END     0x7ffffffff000L /* of x86-64 with four levels of page tables */
#define ERROR_NOTSUPP 524 /* include/linux/errno.h: of the kernel alone, but it gets out */
#define P(pointer)   ((long)(pointer))
#define MOST_FLOOD   20000

/* What has to be said of a refused call: any of `causes`, separated by '|'. */
struct want {
	const char *call; /* the system call's name */
	int error;	  /* 0: brk, which never says, and recvmsg, which says success */
	const char *causes;
	const char *next;     /* limits that would have refused it after this one */
	bool undecidable;     /* no readable fact tells it from another cause */
	int or_error;	      /* of other kernels */
};

struct zoo_case {
	const char *name;
	struct want want;
	void (*prepare)(void);
	long (*make)(void); /* NULL: the asked call; -1 is a refusal, as from libc */
	void (*lift)(void); /* lifts the limit alone; the call must succeed then */
	struct want also;   /* a second refusal, of another cause */
	const char *class;  /* of a fault signal; accepted ones, separated by '|' */
	int signal;
	const char *oom; /* a process is killed for want of memory: accepted constraints */
	void (*impose)(void); /* of what nothing lifts: the call must succeed before it */
	bool guest;	 /* needs a setting of the whole machine */
	bool control;	 /* no refusal that names a limit; `causes` are allowed ones, or NULL */
	long times;	 /* that the call is made; 0: once */
};

/* Tables end with a case without a name. */
extern const struct zoo_case mapping_cases[], space_cases[], file_cases[], count_cases[],
	change_cases[], remap_cases[], heap_cases[], lock_cases[], descriptor_cases[],
	number_cases[], object_cases[], task_cases[], exec_cases[], cgroup_cases[], signal_cases[],
	flood_cases[], order_cases[], injected_cases[], compat_cases[], wrong_cases[],
	caller_cases[], fault_cases[],
	control_cases[],
	guest_cases[];

/* The call to make: prepared by a case, changed by its lift. */
struct ask {
	long number;
	long arg[6];
};
extern struct ask ask;
#define ASK(call, ...) (ask = (struct ask){ SYS_##call, { __VA_ARGS__ } })

long make_asked(void);
long make_fork(void); /* a process that ends at once */
void end_with(pid_t parent); /* in a child: ends when that does */
pid_t start_sleeper(void (*first)(void));
void *empty_thread(void *arg);

/* Who makes the failing call, where it is not the main thread. */
extern struct subject {
	pid_t pid;
	pid_t tid;
} subject;

/* Of an access that ended in one. */
extern volatile sig_atomic_t got_signal;
long catch_signal(void (*access)(void));

/* One byte, where a case set it: -1 where that ended in a signal. To run it wants a `ret` there. */
extern long bad_address;
long reads(void);
long writes(void);
long runs(void);
void dig(long bytes); /* down a stack */

#define SEGV(class_, prepare_, make_, lift_)                                                       \
	.class = class_, .signal = SIGSEGV, .prepare = prepare_, .make = make_, .lift = lift_
#define BUS(class_, prepare_, make_, lift_)                                                        \
	.class = class_, .signal = SIGBUS, .prepare = prepare_, .make = make_, .lift = lift_

/* Things that a case made outside of itself; they go whatever way it ends. */
void at_end(void (*undo)(void));
void run_undo(void);

__attribute__((noreturn, format(printf, 1, 2))) void skip(const char *format, ...);

/* A size or count of this seed: cases are not of one size. */
long vary(long low, long high);
size_t some_bytes(void);  /* pages of 4 to 64 MiB */
size_t small_bytes(void); /* pages of 256 KiB to 4 MiB */
size_t beyond_memory(void); /* more than all memory and swap */

/* Limits, rights, identity. */
void soft_limit(int resource, rlim_t soft);
void restore_limit(int resource);
void room_as(size_t bytes);
void room_data(size_t bytes);
void room_memlock(size_t bytes);
void restore_as(void);
void restore_data(void);
void restore_nofile(void);
void restore_stack(void);
void drop_capability(int capability);
void raise_capability(int capability);
void raise_ipc_lock(void);
void become_another_user(void);
void enter_user_namespace(void);
void enter_mount_namespace(void);
long status_bytes(const char *key);

/* Files of /proc, and small files elsewhere. */
long read_number(const char *path);
bool write_text(const char *path, const char *text);
void write_number(const char *path, long number);
/* Only in a guest; what was there comes back at the end. */
void machine_setting(const char *path, long number);

/* Mappings and address space. */
void *map_anon(size_t bytes, int protection, int flags);
void *map_file(int fd, size_t bytes, int protection, int flags);
int sized_memfd(size_t bytes, unsigned int flags);
int disk_file(size_t bytes);
int reopen(int fd, int flags);
void fill_maps(long count);
long most_maps(void);
void unmap_last_filler(void);
void fill_window(uintptr_t low, uintptr_t high);
void fill_space(size_t hole); /* all of it; of it holes of that size stay free */
void unfill_space(void);

/* Descriptors: limit so that exactly `free` numbers below it are unused. */
void leave_free(int free);

/* A cgroup of our own, and this process in it. */
bool cgroup_v2(void);
void cgroup_make(const char *controller);
void cgroup_enter(const char *controller, const char *below);
void cgroup_set(const char *controller, const char *below, const char *file, const char *text);

#endif
