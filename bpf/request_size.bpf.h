/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads how much memory a failed call requested, if no argument contains the size. The size is read
 * from a kernel object that the call names, or from the memory of the process.
 */
#ifndef FS_REQUEST_SIZE_BPF_H
#define FS_REQUEST_SIZE_BPF_H

#include "evidence.bpf.h"

/* Values from include/linux/xarray.h. */
#define XA_LEVELS	  5
#define XA_CHUNK_SHIFT	  6
#define is_xa_node(entry) (((entry)&3) == 2 && (entry) > 4096)

/*
 * Values from include/linux/ipc_namespace.h and ipc/util.h: an IPC id consists of a slot number and
 * a sequence number.
 */
#define IPC_SHM		    2
#define IPCMNI_SHIFT	    15
#define IPCMNI_SHIFT_EXTEND 24

/* Returns the address of a shmid_kernel, or 0. A global function, so that it is verified once. */
__noinline __u64 segment_in_slot(__u64 of_ns, __u32 slot)
{
	struct ipc_namespace *ns = (struct ipc_namespace *)of_ns;
	__u64 entry = (__u64)BPF_CORE_READ(ns, ids[IPC_SHM].ipcs_idr.idr_rt.xa_head);

	for (__u32 level = 0; level < XA_LEVELS && is_xa_node(entry); level++) {
		struct xa_node *node = (struct xa_node *)(entry - 2);
		__u32 shift = BPF_CORE_READ(node, shift) & 31;

		if (!level && slot >> shift >> XA_CHUNK_SHIFT)
			return 0;
		entry = word_at((__u64)node + bpf_core_field_offset(struct xa_node, slots) +
				(slot >> shift & ((1 << XA_CHUNK_SHIFT) - 1)) * 8);
		slot &= (1UL << shift) - 1;
	}
	if (!entry || entry & 3)
		return 0;
	return entry - bpf_core_field_offset(struct shmid_kernel, shm_perm);
}

static __always_inline struct shmid_kernel *find_segment(struct ipc_namespace *ns, int id)
{
	__u32 slot = id & ((1 << IPCMNI_SHIFT) - 1);
	struct shmid_kernel *s = (struct shmid_kernel *)segment_in_slot((__u64)ns, slot);

	if (s && BPF_CORE_READ(s, shm_perm.id) == id)
		return s;
	slot = id & ((1 << IPCMNI_SHIFT_EXTEND) - 1);
	s = (struct shmid_kernel *)segment_in_slot((__u64)ns, slot);
	return s && BPF_CORE_READ(s, shm_perm.id) == id ? s : NULL;
}

static __always_inline void read_segment(struct refused_record *r)
{
	struct ipc_namespace *ns = BPF_CORE_READ(current_task(), nsproxy, ipc_ns);
	struct shmid_kernel *s = ns ? find_segment(ns, r->args[0]) : NULL;

	if (!s)
		return;
	r->asked.bytes = BPF_CORE_READ(s, shm_segsz);
	r->asked.whole = 1;
	describe_file(&r->file, (__u64)BPF_CORE_READ(s, shm_file));
}

/* Values from ipc/util.h and include/linux/sem.h: numbers of kernel.sem in sem_ctls. */
#define IPC_SEM	      0
#define IPC_MSG	      1
#define SEM_PER_SET   0
#define SEM_IN_ALL    1
#define SEM_PER_CALL  2
#define SEM_SETS      3
#define INITIAL_IPC   0xefffffffu /* PROC_IPC_INIT_INO of include/linux/proc_ns.h */

/* Reads the limits of System V IPC objects of the kind that the call creates. */
static __always_inline void read_ipc(struct refused_record *r)
{
	struct ipc_namespace *ns = BPF_CORE_READ(current_task(), nsproxy, ipc_ns);
	struct ipc_room *room = &r->ipc;

	if (!ns)
		return;
	room->initial = BPF_CORE_READ(ns, ns.inum) == INITIAL_IPC;
	if (r->call == CALL_SHMGET) {
		room->used = BPF_CORE_READ(ns, shm_tot);
		room->limit = BPF_CORE_READ(ns, shm_ctlall);
		room->largest = BPF_CORE_READ(ns, shm_ctlmax);
		room->objects = BPF_CORE_READ(ns, ids[IPC_SHM].in_use);
		room->objects_max = BPF_CORE_READ(ns, shm_ctlmni);
	} else if (r->call == CALL_SEMGET) {
		room->used = BPF_CORE_READ(ns, used_sems);
		room->limit = BPF_CORE_READ(ns, sem_ctls[SEM_IN_ALL]);
		room->largest = BPF_CORE_READ(ns, sem_ctls[SEM_PER_SET]);
		room->objects = BPF_CORE_READ(ns, ids[IPC_SEM].in_use);
		room->objects_max = BPF_CORE_READ(ns, sem_ctls[SEM_SETS]);
	} else {
		room->objects = BPF_CORE_READ(ns, ids[IPC_MSG].in_use);
		room->objects_max = BPF_CORE_READ(ns, msg_ctlmni);
	}
}

#define RLIMIT_MSGQUEUE 12
#define QUEUED_BYTES	48

#define STRING_CHUNK 4096
#ifdef FS_HASH
#define MOST_CHUNKS  8 /* the verifier accepts no longer bounded loop here */
#define MOST_BUFFERS 4
#else
#define MOST_CHUNKS  (1 << 17)
#define MOST_BUFFERS 1024
#endif

/*
 * A buffer for bpf_probe_read_user_str(). Only lengths of strings are used, never their bytes, so
 * several programs may write to this buffer at once.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, char[STRING_CHUNK]);
} string_chunk SEC(".maps");

/* A walk over the strings of argv and envp, which are NULL-terminated arrays of pointers. */
struct string_walk {
	__u64 list; /* address of the next pointer to a string */
	__u64 second;
	__u64 at;   /* address within a string; 0: between two strings */
	__u64 here; /* number of bytes read of the current string */
	__u64 bytes;
	__u64 longest;
	__u32 pointer_bytes;
	__u32 whole;
};

/* Moves to the next string. Returns false after the last string, or if a pointer is unreadable. */
static __always_inline bool next_string(struct string_walk *w)
{
	__u64 pointer = 0;

	w->here = 0;
	if (!w->list ||
	    bpf_probe_read_user(&pointer, w->pointer_bytes & 8 ? 8 : 4, (void *)w->list))
		return false;
	w->list += w->pointer_bytes;
	if (pointer) {
		w->at = pointer;
		w->bytes += 8; /* the kernel counts 8 bytes per pointer, also for 32-bit callers */
		return true;
	}
	w->whole = !w->second;
	w->list = w->second;
	w->second = 0;
	return !w->whole;
}

static long next_chunk(__u32 i, struct string_walk *w)
{
	__u32 zero = 0;
	char *chunk;
	long n;

	if (!w->at) {
		if (!next_string(w))
			return 1;
		if (!w->at)
			return 0;
	}
	chunk = bpf_map_lookup_elem(&string_chunk, &zero);
	n = chunk ? bpf_probe_read_user_str(chunk, STRING_CHUNK, (void *)w->at) : -1;
	if (n <= 0)
		return 1;
	/*
	 * The read replaced the last byte of a full chunk by NUL: the next chunk begins with that
	 * byte.
	 */
	if (n == STRING_CHUNK)
		n--, w->at += n;
	else
		w->at = 0;
	w->here += n;
	w->bytes += n;
	if (w->here > w->longest)
		w->longest = w->here;
	return 0;
}

/*
 * Sums the bytes of path, arguments and environment, which are three arguments of the call: exec
 * copies all of them to the new program.
 */
static __always_inline void read_strings(struct refused_record *r, const __u64 *args)
{
	struct string_walk w = {.at = args[0], .list = args[1], .second = args[2]};

	w.pointer_bytes = r->facts & FACT_COMPAT ? 4 : 8;
	forget_value(w.pointer_bytes);
	repeat(MOST_CHUNKS, next_chunk, &w);
	r->asked.bytes = w.bytes;
	r->asked.longest = w.longest;
	r->asked.whole = w.whole;
}

/* Values from include/uapi/linux/io_uring.h. */
#define IORING_REGISTER_BUFFERS	 0
#define IORING_REGISTER_BUFFERS2 15
struct buffers2 {
	__u32 nr, flags;
	__u64 reserved, data, tags;
};
struct user_iovec {
	__u64 base, len;
};

struct buffer_walk {
	__u64 at;
	__u64 left;
	__u64 bytes;
};

static long next_buffer(__u32 i, struct buffer_walk *w)
{
	struct user_iovec v;

	if (!w->left || bpf_probe_read_user(&v, sizeof(v), (void *)w->at))
		return 1;
	w->bytes += ((v.base + v.len + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1)) -
		    (v.base & ~(PAGE_BYTES - 1));
	w->at += sizeof(v);
	w->left--;
	return 0;
}

static __always_inline void read_buffers(struct refused_record *r)
{
	struct buffer_walk w = {};
	struct buffers2 two = {};

	if (r->args[1] == IORING_REGISTER_BUFFERS) {
		w.at = r->args[2];
		w.left = (__u32)r->args[3];
	} else if (r->args[1] == IORING_REGISTER_BUFFERS2 &&
		   !bpf_probe_read_user(&two, sizeof(two), (void *)r->args[2])) {
		w.at = two.data;
		w.left = two.nr;
	}
	if (!w.left || r->facts & FACT_COMPAT)
		return;
	repeat(MOST_BUFFERS, next_buffer, &w);
	r->asked.bytes = w.bytes;
	r->asked.whole = !w.left;
}

/*
 * Computes the bytes of a message queue as mqueue_get_inode() in ipc/mqueue.c does: per message its
 * size, and 48 bytes each for struct msg_msg and a tree node. Queues without attributes get default
 * sizes.
 */
static __always_inline void read_queue(struct refused_record *r)
{
	struct ipc_namespace *ns = BPF_CORE_READ(current_task(), nsproxy, ipc_ns);
	struct {
		long flags, messages, bytes;
	} attr = {0, BPF_CORE_READ(ns, mq_msg_default), BPF_CORE_READ(ns, mq_msgsize_default)};

	if (r->args[3] && (r->facts & FACT_COMPAT ||
			   bpf_probe_read_user(&attr, sizeof(attr), (void *)r->args[3])))
		return;
	r->asked.bytes = attr.messages * (attr.bytes + 2 * QUEUED_BYTES);
	r->asked.longest = soft_limit(get(current_task(), signal), RLIMIT_MSGQUEUE);
	r->asked.whole = 1;
}

/* Reads the size that a failed call requested; `with` is the call's enum fs_shape. */
record_part(read_request_size)
{
	if (r->call == CALL_SHMAT)
		read_segment(r);
	else if (with == FS_SHAPE_QUEUE)
		read_queue(r);
	else if (with == FS_SHAPE_EXEC || with == FS_SHAPE_EXECAT)
		/* the first argument of execveat() is an fd */
		read_strings(r, r->args + (with == FS_SHAPE_EXECAT));
	else if (r->call == CALL_IO_URING_REGISTER)
		read_buffers(r);
	else if (with == FS_SHAPE_IPC)
		read_ipc(r);
}

#endif
