/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The zoo is a collection of test cases in which a system call fails for a known cause. A case
 * reaches one limit, makes the call, removes only this limit, and makes the call again. The second
 * call must succeed. If it fails, the limit was not the only cause, and the case is wrong. The zoo
 * uses no code of faultscope.
 */
#ifndef ZOO_H
#define ZOO_H

#include "../workloads/common.h"

#include <linux/capability.h>

/* Constants that headers of some distributions lack */
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
/* end of user addresses on x86-64 with 4 levels of page tables */
#define USER_END     0x7ffffffff000L
/* ENOTSUPP of the kernel, which some system calls return. User space headers lack it. */
#define ERROR_NOTSUPP 524
#define P(pointer)   ((long)(pointer))
#define MOST_FLOOD   20000

/*
 * What faultscope must report for a failed call. `causes` are the correct causes, separated by '|'.
 */
struct want {
	const char *call; /* name of the system call */
	int error;	  /* errno; 0 for brk (returns none) and recvmsg (succeeds) */
	const char *causes;
	/* further limits that the call exceeds, in the order in which the kernel checks them */
	const char *next;
	/* true if faultscope cannot read the facts that would distinguish the causes */
	bool undecidable;
	int or_error;	      /* errno that other kernels return in its place, or 0 */
};

struct zoo_case {
	const char *name;
	struct want want;
	void (*prepare)(void);
	/* makes the failing call and returns -1; if NULL, make_asked() makes the call */
	long (*make)(void);
	void (*lift)(void); /* removes only the limit, so that the call succeeds */
	struct want also;   /* a second call of the case, which must fail for another cause */
	const char *class;  /* accepted classes of the fault signal, separated by '|' */
	int signal;
	/*
	 * accepted constraints of the expected OOM kill, separated by '|'; NULL if no OOM kill is
	 * expected
	 */
	const char *oom;
	/* sets a state that cannot be undone: the call must succeed before, and fail afterwards */
	void (*impose)(void);
	bool guest;	 /* true if the case changes a setting of the whole machine */
	/* control case: faultscope must name no cause except `causes` (may be NULL) */
	bool control;
	long times;	 /* number of calls; 0 means one */
};

/* Tables of cases; a case without a name ends each table. */
extern const struct zoo_case mapping_cases[], space_cases[], file_cases[], count_cases[],
	change_cases[], remap_cases[], heap_cases[], lock_cases[], descriptor_cases[],
	number_cases[], object_cases[], task_cases[], exec_cases[], cgroup_cases[], signal_cases[],
	flood_cases[], order_cases[], injected_cases[], compat_cases[], wrong_cases[],
	caller_cases[], fault_cases[], room_cases[], namespace_cases[], counted_cases[],
	length_cases[], device_cases[], multicast_cases[], quota_cases[], stub_cases[],
	rdma_cases[], machine_cases[],
	control_cases[],
	guest_cases[];

/*
 * The system call under test. The function `lift` may change its arguments, so that the call
 * succeeds.
 */
struct ask {
	long number;
	long arg[6];
};
extern struct ask ask;
#define ASK(call, ...) (ask = (struct ask){ SYS_##call, { __VA_ARGS__ } })

long make_asked(void);
long make_fork(void); /* forks a child, which exits at once */
void end_with(pid_t parent); /* makes a child end when its parent ends */
/*
 * Forks a child that calls `first`, unless this is NULL, and then sleeps until its parent ends.
 * Returns after `first` has returned.
 */
pid_t start_sleeper(void (*first)(void));
void *empty_thread(void *arg);

/* The process and thread that make the failing call. By default, this is the main thread. */
extern struct subject {
	pid_t pid;
	pid_t tid;
} subject;

/* The signal that the last access raised; 0 if none. */
extern volatile sig_atomic_t got_signal;
long catch_signal(void (*access)(void));

/*
 * Address that reads(), writes() and runs() access. They return -1 if the access raises a signal.
 * runs() needs a `ret` instruction at this address.
 */
extern long bad_address;
long reads(void);
long writes(void);
long runs(void);
void dig(long bytes); /* uses `bytes` bytes of stack */

#define SEGV(class_, prepare_, make_, lift_)                                                       \
	.class = class_, .signal = SIGSEGV, .prepare = prepare_, .make = make_, .lift = lift_
#define BUS(class_, prepare_, make_, lift_)                                                        \
	.class = class_, .signal = SIGBUS, .prepare = prepare_, .make = make_, .lift = lift_

/*
 * Registers a function that undoes changes outside of this process. The function runs at the end of
 * the case, even if the case fails.
 */
void at_end(void (*undo)(void));
void run_undo(void);

__attribute__((noreturn, format(printf, 1, 2))) void skip(const char *format, ...);

/* Returns a random size or count from low to high, which depends only on the seed of the run. */
long vary(long low, long high);
size_t some_bytes(void);  /* returns a size in bytes: whole pages, 4 to 64 MiB */
size_t small_bytes(void); /* returns a size in bytes: whole pages, 256 KiB to 4 MiB */
size_t beyond_memory(void); /* returns a size in bytes: more than all memory and swap */

/* Functions that set limits, rights and identity */
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
uid_t other_user(void); /* returns the uid of become_another_user() */
void become_another_user(void);
void enter_user_namespace(void);
void enter_mount_namespace(void);
void enter_ipc_namespace(void);
long status_bytes(const char *key);

/* Functions for small files, such as those in /proc */
long read_number(const char *path);
bool write_text(const char *path, const char *text);
void write_number(const char *path, long number);
/* Sets a sysctl, in guests only. The old value is restored when the case ends. */
void machine_setting(const char *path, long number);

/* Functions for mappings and address space */
void *map_anon(size_t bytes, int protection, int flags);
void *map_file(int fd, size_t bytes, int protection, int flags);
int sized_memfd(size_t bytes, unsigned int flags);
int disk_file(size_t bytes);
int reopen(int fd, int flags);
void fill_maps(long count);
long most_maps(void);
void unmap_last_filler(void);
void fill_window(uintptr_t low, uintptr_t high);
void fill_space(size_t hole); /* fills the address space, but leaves holes of this size */
void unfill_space(void);

/* Sets RLIMIT_NOFILE so that `free` numbers below it are free. */
void leave_free(int free);

/* Functions that create a cgroup for the case. They move this process into it. */
bool cgroup_v2(void);
void cgroup_make(const char *controller);
void cgroup_enter(const char *controller, const char *below);
void cgroup_set(const char *controller, const char *below, const char *file, const char *text);

#endif
