/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * unwind: writes unwind tables, rules and the mappings of processes into BPF maps, where the BPF
 * program reads them. Memory for rows is allocated in chunks of 512 KiB, up to FS_UNWIND_CHUNKS
 * chunks.
 */
#ifndef FS_UNWIND_UNWIND_MAPS_H
#define FS_UNWIND_UNWIND_MAPS_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

#include "unwind/extents.h"
#include "unwind/unwind_table.h"
#include "wire_python.h"

/* A chunk of rows that is mapped into memory. */
struct open_chunk {
	__u32 number;
	struct fs_unwind_row *row; /* memory of the mapped chunk; NULL: no chunk is open */
};

struct unwind_maps {
	/* descriptors of the BPF maps; borrowed; `python_map` < 0: programs read no CPython */
	int procs, epochs, rows, area_map, page_map, rule_map, python_map;
	/* memory of the BPF maps, shared with the BPF program; NULL: not mapped now */
	struct fs_unwind_area *area;
	struct fs_unwind_page *page;
	struct fs_unwind_rule *rule;
	struct fs_python *python; /* entries for CPython */
	struct extents areas, pages, row_space, pythons;
	int chunk[FS_UNWIND_CHUNKS]; /* descriptors of the chunks, owned; -1: not allocated */
	__u32 chunks;
	__u32 chunks_max;	 /* maximum number of chunks; at most FS_UNWIND_CHUNKS */
	struct open_chunk walks; /* chunk that unwind_maps_find_rule() reads; owned */
	__u32 generation;
	pthread_t thread; /* makes the first chunk */
	bool making;	  /* true: the thread is not joined */
};

/* Where the rows of a file are in the BPF maps. */
struct unwind_place {
	__u32 first; /* index of the first page */
	__u32 pages; /* number of pages; 0: none */
	__u32 done;  /* number of pages whose rows are copied */
	struct unwind_run {
		__u32 first, n; /* first row and number of rows of a run */
	} * run;		/* owned */
	size_t runs, room;
};

struct bpf_object;

/* Finds the maps of a BPF object by their names. Returns 0, -ENOENT, -ENOMEM or another -errno. */
int unwind_maps_open(struct unwind_maps *m, const struct bpf_object *object);

/*
 * Unmaps the memory of the BPF maps until it is used again: mapped memory, 2.4 MiB, counts as
 * resident memory of faultscope.
 */
void unwind_maps_unmap(struct unwind_maps *m);

/*
 * Starts a thread that makes the first chunk, which most sessions need. In the system call that
 * inserts a chunk, the kernel waits 10 to 30 ms until no BPF program uses the old map
 * (maybe_wait_bpf_programs(), kernel/bpf/syscall.c). A process that lives only that long would end
 * before its mappings are read. Without the thread, the first table makes the chunk. `m` must stay
 * where it is.
 */
void unwind_maps_prepare(struct unwind_maps *m);

/* Waits for the thread of unwind_maps_prepare(). Other functions call this if they need to. */
void unwind_maps_settle(struct unwind_maps *m);
void unwind_maps_close(struct unwind_maps *m);

/*
 * Reserves the pages of a table. Returns 0, or -E2BIG if there is no room for them.
 */
int unwind_maps_begin_table(struct unwind_maps *m, const struct unwind_table *t, __u64 now_ns,
			    struct unwind_place *ret);

/*
 * Copies a part of a table into the BPF maps, and takes the work off *left (about 10 ns a unit).
 * Returns -EAGAIN if there is more to copy, 0 at the end, -E2BIG if the memory for tables is used
 * up, or another -errno. After an error, no memory is used.
 */
int unwind_maps_go_on_table(struct unwind_maps *m, const struct unwind_table *t, __u64 now_ns,
			    struct unwind_place *place, __u64 *left);

/* Frees the rows of a table that no process maps any more. */
void unwind_maps_drop_table(struct unwind_maps *m, struct unwind_place *place, __u64 now_ns);

/* Frees chunks without rows. */
void unwind_maps_trim(struct unwind_maps *m, __u64 now_ns);

/* Copies the rules that were added since the last call. */
void unwind_maps_add_rules(struct unwind_maps *m, struct rule_set *rules);

/*
 * Begins to read the mappings of a process. The order of calls is unwind_maps_begin(),
 * mapped_code_read(), unwind_maps_publish(). *ret describes the process at this time. If the
 * mappings change after this call, the BPF program sends a new code_record.
 */
int unwind_maps_begin(struct unwind_maps *m, pid_t tgid, struct fs_unwind_epoch *ret);

/*
 * Gives a process its mappings, sorted by address, and its CPython (NULL: none). *ret says where
 * they are stored, for unwind_maps_drop_areas() when no process uses them any more. A mapping that
 * was made during the read has no table until the next read. Returns 0, -E2BIG, -ENOENT if the
 * process ended, -ESTALE if it runs another program or replaced a mapping, or another -errno.
 */
struct unwind_given {
	__u32 first, areas;
	__u32 python; /* index of the CPython entry; 0: none */
	__u32 generation;
};
int unwind_maps_publish(struct unwind_maps *m, pid_t tgid, const struct fs_unwind_epoch *begun,
			const struct fs_unwind_area *area, __u32 areas,
			const struct fs_python *python, __u64 now_ns, struct unwind_given *ret);
void unwind_maps_drop_areas(struct unwind_maps *m, const struct unwind_given *given, __u64 now_ns);

/*
 * Marks the mappings that a process made after `since` as having no table, because they may have
 * replaced others. `since` is a value of fs_unwind_epoch.mapped. Returns false if there were too
 * many.
 */
bool unwind_epoch_hide(const struct fs_unwind_epoch *now, __u32 since, struct fs_unwind_area *area,
		       __u32 areas);

/*
 * Finds the rule for an address, as the BPF program does. unwind_maps_end_walks() must be called
 * after the last use.
 */
enum stack_end unwind_maps_find_rule(struct unwind_maps *m, struct fs_unwind_area *area,
				     __u32 areas, __u64 pc, struct fs_unwind_rule *ret);
void unwind_maps_end_walks(struct unwind_maps *m);

/* Reads what happened to the mappings of a process. Returns 0 or -ENOENT. */
int unwind_maps_epoch(const struct unwind_maps *m, pid_t tgid, struct fs_unwind_epoch *ret);

/* Removes the entry of a process. */
void unwind_maps_end(struct unwind_maps *m, pid_t tgid);

/* Called for each process. */
typedef void unwind_proc_fn(void *ctx, pid_t tgid, const struct fs_unwind_proc *p);
void unwind_maps_each(const struct unwind_maps *m, unwind_proc_fn *each, void *ctx);

/* Returns the bytes that the tables use in kernel memory. */
size_t unwind_maps_bytes(const struct unwind_maps *m);

#endif
