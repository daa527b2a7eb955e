/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the kernel state at the end of a failed call, to find the limit that was reached: the range
 * of mappings, the file, cgroup levels, counters of the user. Each part is a global function, which
 * the verifier checks once. The input of each part is the call's description in the record.
 */
#ifndef FS_EVIDENCE_BPF_H
#define FS_EVIDENCE_BPF_H

#include "vma.bpf.h"
#include "refusal_record.bpf.h"
#include "errno.bpf.h"
#include "state.bpf.h"

#define PAGE_BYTES  4096UL /* smallest page size of all architectures */
#define MOST_LEVELS 12

#define CAP_SYS_RAWIO 17
#define RLIMIT_STACK  3

#define HUGETLBFS_MAGIC 0x958458f6 /* value from include/uapi/linux/magic.h */
#define MNT_NOEXEC	0x04	   /* value from include/linux/mount.h */
#define SB_I_NOEXEC	0x02	   /* value from include/linux/fs.h */

static __always_inline __u32 seals_of(struct inode *inode, __u64 magic)
{
	void *shmem = (void *)inode - bpf_core_field_offset(struct shmem_inode_info, vfs_inode);
	void *huge = (void *)inode - bpf_core_field_offset(struct hugetlbfs_inode_info, vfs_inode);

	if (magic == SHMEM_MAGIC)
		return BPF_CORE_READ((struct shmem_inode_info *)shmem, seals);
	if (magic == HUGETLBFS_MAGIC)
		return BPF_CORE_READ((struct hugetlbfs_inode_info *)huge, seals);
	return 0;
}

/*
 * Describes a file. `address` is the address of its struct file, passed as a number: before 5.12,
 * global functions take no kernel pointers.
 */
once_verified int describe_file(struct file_facts *f, __u64 address)
{
	struct file *file = (struct file *)address;
	struct inode *inode;

	if (!f || !file)
		return 0;
	inode = BPF_CORE_READ(file, f_inode);
	f->flags = FILE_KNOWN;
	f->open_mode = BPF_CORE_READ(file, f_mode);
	f->mode = BPF_CORE_READ(inode, i_mode);
	f->size_bytes = BPF_CORE_READ(inode, i_size);
	f->magic = BPF_CORE_READ(inode, i_sb, s_magic);
	f->seals = seals_of(inode, f->magic);
	f->mmap_ip = mmap_method(BPF_CORE_READ(file, f_op));
	if (f->mmap_ip)
		f->flags |= FILE_MAPPABLE;
	if (BPF_CORE_READ(file, f_path.mnt, mnt_flags) & MNT_NOEXEC ||
	    BPF_CORE_READ(inode, i_sb, s_iflags) & SB_I_NOEXEC)
		f->flags |= FILE_NOEXEC;
	if (!BPF_CORE_READ(inode, i_nlink))
		f->flags |= FILE_DELETED;
	bpf_probe_read_kernel_str(f->name, sizeof(f->name),
				  BPF_CORE_READ(file, f_path.dentry, d_name.name));
	return 0;
}

#define KIND_OF(mode) ((mode)&0170000) /* values from include/uapi/linux/stat.h */
#define KIND_REGULAR  0100000

/*
 * Returns 1 if the current task's fd number `fd` is a regular file in tmpfs or hugetlbfs, else 0.
 * Device files are in a tmpfs too.
 */
once_verified int is_file_in_memory(__u32 fd)
{
	struct file *file = (struct file *)file_of_fd(as_task(current_task()), fd);
	struct inode *inode;
	__u64 magic;

	if (!file)
		return 0;
	inode = BPF_CORE_READ(file, f_inode);
	magic = BPF_CORE_READ(inode, i_sb, s_magic);
	return KIND_OF(BPF_CORE_READ(inode, i_mode)) == KIND_REGULAR &&
	       (magic == SHMEM_MAGIC || magic == HUGETLBFS_MAGIC);
}

#define KIND_CHARACTERS 0020000
#define O_NONBLOCK	04000 /* value of include/uapi/asm-generic/fcntl.h */

/*
 * Majors of include/uapi/linux/major.h whose drivers return these errors in normal work: up to
 * TTYAUX_MAJOR, memory (/dev/full) and terminals; and pseudo terminals.
 */
#define TTYAUX_MAJOR	 5
#define UNIX98_PTY_FIRST 136
#define UNIX98_PTY_LAST	 143

#define ANON_INODE_MAGIC 0x09041934 /* include/uapi/linux/magic.h */

#define KVM_PREFIX 0x2d6d766b /* "kvm-": files of KVM are "kvm-vm", "kvm-vcpu:0" and others */

/*
 * Returns whether a file belongs to a virtual machine of KVM, by its name. From 5f6de5cbebee (5.17)
 * to 087e15206d6a (6.7), file_operations of such files name no module.
 */
static __always_inline bool is_of_kvm(struct file *file)
{
	__u32 prefix = 0;

	bpf_probe_read_kernel(&prefix, sizeof(prefix),
			      BPF_CORE_READ(file, f_path.dentry, d_name.name));
	return prefix == KVM_PREFIX;
}

/* Returns whether a file without a name is served by a module, such as a virtual machine of KVM. */
static __always_inline bool is_made_by_driver(struct file *file)
{
	return BPF_CORE_READ(file, f_inode, i_sb, s_magic) == ANON_INODE_MAGIC &&
	       (BPF_CORE_READ(file, f_op, owner) || is_of_kvm(file));
}

/*
 * Returns 1 if the current task's fd number `fd` is a character device, or a file that a driver
 * made, and the driver may lack memory or a right; else 0. `error` is the errno of the call. A
 * device that must not block returns EAGAIN until it is ready.
 */
once_verified int is_limited_device(__u32 fd, __u32 error)
{
	struct file *file = (struct file *)file_of_fd(as_task(current_task()), fd);
	struct inode *inode;
	__u32 major;

	if (!file)
		return 0;
	if (is_made_by_driver(file))
		return error != EAGAIN;
	inode = BPF_CORE_READ(file, f_inode);
	major = BPF_CORE_READ(inode, i_rdev) >> 20;
	if (KIND_OF(BPF_CORE_READ(inode, i_mode)) != KIND_CHARACTERS || major <= TTYAUX_MAJOR ||
	    (major >= UNIX98_PTY_FIRST && major <= UNIX98_PTY_LAST))
		return 0;
	return error != EAGAIN || !(BPF_CORE_READ(file, f_flags) & O_NONBLOCK);
}

/* Reads which driver serves a device, and how many pages drivers hold for the process. */
static __always_inline void read_device(struct device_facts *d, struct file *file)
{
	struct mm_struct *mm = get(current_task(), mm);
	struct module *owner = BPF_CORE_READ(file, f_op, owner);

	d->number = BPF_CORE_READ(file, f_inode, i_rdev);
	if (mm)
		d->pinned_pages = BPF_CORE_READ(mm, pinned_vm.counter);
	if (owner)
		bpf_probe_read_kernel_str(d->driver, sizeof(d->driver), owner->name);
	else if (is_made_by_driver(file))
		__builtin_memcpy(d->driver, "kvm", sizeof("kvm"));
}

/*
 * Reads size and used pages of the tmpfs of a file. The number of used pages is approximate,
 * because the kernel adds per-CPU counts to it only now and then.
 */
static __always_inline void read_tmpfs(struct file *file, __u64 *ret_size, __u64 *ret_used)
{
	struct shmem_sb_info *info = BPF_CORE_READ(file, f_inode, i_sb, s_fs_info);

	*ret_size = BPF_CORE_READ(info, max_blocks);
	*ret_used = BPF_CORE_READ(info, used_blocks.count);
}

/* Reads how full the file system of a file in tmpfs or hugetlbfs is. */
static __always_inline void read_space(struct file_space *space, struct file *file, __u64 magic)
{
	struct hugetlbfs_sb_info *info;
	struct hugepage_subpool *pool;

	if (magic == SHMEM_MAGIC) {
		read_tmpfs(file, &space->limit, &space->used);
	} else if (magic == HUGETLBFS_MAGIC) {
		info = BPF_CORE_READ(file, f_inode, i_sb, s_fs_info);
		pool = BPF_CORE_READ(info, spool);
		/* without the mount option size=, there is no pool, or max_hpages is -1 */
		if (pool && (__s64)BPF_CORE_READ(pool, max_hpages) > 0) {
			space->limit = BPF_CORE_READ(pool, max_hpages);
			space->used = BPF_CORE_READ(pool, used_hpages);
		}
	} else {
		return;
	}
	space->block_bytes = BPF_CORE_READ(file, f_inode, i_sb, s_blocksize);
	/* i_blocks counts 512 bytes each */
	space->file_blocks = BPF_CORE_READ(file, f_inode, i_blocks) / (PAGE_BYTES / 512);
	space->device = BPF_CORE_READ(file, f_inode, i_sb, s_dev);
}

/*
 * Describes the file of the current task's fd number `with`, and the space in its file system if
 * the call needs some.
 */
record_part(read_named)
{
	__u64 file = file_of_fd(as_task(current_task()), with);

	if (!file) {
		r->file.flags = FILE_CLOSED;
		return;
	}
	describe_file(&r->file, file);
	if (KIND_OF(r->file.mode) == KIND_CHARACTERS || is_made_by_driver((struct file *)file))
		read_device(&r->device, (struct file *)file);
	else if (r->call == CALL_FALLOCATE || r->call == CALL_WRITE)
		read_space(&r->space, (struct file *)file, r->file.magic);
}

#ifdef FS_HASH
#define MOST_AREAS 4 /* the verifier accepts no longer bounded loop here */
#else
#define MOST_AREAS 4096
#endif

/* A walk over a range of mappings. Sums are kept in the record, because the stack has no room. */
struct range_walk {
	struct refused_record *to;
	struct area a;
	__u64 at, end;
	/*
	 * file of the first mapping that lacks a requested flag; if none lacks one, file of the
	 * first mapping
	 */
	__u64 file;
	__u64 mask;  /* VM_* bits that the call changes */
	__u64 wants; /* the values that the call gives to the bits in `mask` */
	__u64 never; /* the call skips a mapping that has one of these VM_* bits */
};

/* VM_SPECIAL and VM_HUGETLB of include/linux/mm.h, which mlock_fixup() skips */
#define VM_ACCESS	0x7
#define VM_NEVER_LOCKED (0x4000 | 0x40000 | 0x400 | 0x10000000 | 0x400000)
#define VM_NONE_OF_ALL	(1UL << 62)

/*
 * Sets the VM_* bits that a call changes. mprotect, mlock and munlock change one mapping after
 * another. They stop at the first mapping that they cannot change; earlier mappings stay changed.
 * All other mapping calls change no mapping if they fail.
 */
static __always_inline void what_is_wanted(struct range_walk *w)
{
	__u64 call = w->to->call;
	__u64 protects = is_zero(call ^ CALL_MPROTECT), locks = is_zero(call ^ CALL_MLOCK);
	__u64 unlocks = is_zero(call ^ CALL_MUNLOCK), none = 1 - protects - locks - unlocks;

	w->mask = protects * VM_ACCESS + (locks + unlocks) * VM_LOCKED + none * VM_NONE_OF_ALL;
	w->wants =
		protects * (w->to->args[2] & VM_ACCESS) + locks * VM_LOCKED + none * VM_NONE_OF_ALL;
	w->never = (locks + unlocks) * VM_NEVER_LOCKED;
}

static __always_inline __u64 is_undone(const struct range_walk *w, __u64 flags)
{
	return is_not_zero((flags ^ w->wants) & w->mask) & is_zero(flags & w->never);
}

static __always_inline void take_mapping(struct range_walk *w, __u64 bytes)
{
	struct vm_area_struct *vma = (struct vm_area_struct *)w->a.vma;
	__u64 flags = BPF_CORE_READ(vma, vm_flags);
	struct address_range *r = &w->to->range;

	if (!r->vmas) {
		/* The member is a flag, because the verifier would check each value of a count. */
		r->vmas = 1;
		r->flags_all = flags;
		w->file = (__u64)BPF_CORE_READ(vma, vm_file);
	}
	if (is_zero(r->end) & is_zero(~r->hole) & is_undone(w, flags)) {
		r->start = w->a.from;
		r->end = w->a.to;
		r->start_flags = flags;
		w->file = (__u64)BPF_CORE_READ(vma, vm_file);
	}
	r->flags_all &= flags;
	r->flags_any |= flags;
	r->mapped_bytes += bytes;
	r->locked_bytes += (flags >> VM_LOCKED_BIT & 1) * bytes;
}

static long next_area(__u32 i, struct range_walk *w)
{
	__u64 to;

	if (w->at >= w->end)
		return 1;
	find_area(&w->a, w->at);
	to = w->a.to < w->end ? w->a.to : w->end;
	if (w->a.vma)
		take_mapping(w, to - w->at);
	else if (w->to->range.hole == NOT_KNOWN)
		w->to->range.hole = w->at;
	w->at = to;
	return 0;
}

/*
 * Returns the start of the first mapping that prevents growth into [to, above), or 0 if there is
 * none.
 */
static __always_inline __u64 find_area_above(struct area *a, __u64 to, __u64 above)
{
	find_area(a, to);
	return a->vma ? to : a->to < above ? a->to : 0;
}

/* Describes the mappings in [from, to), then finds what prevents growth into [to, above). */
static __always_inline void walk_range(struct refused_record *r, __u64 from, __u64 to, __u64 above)
{
	struct mm_struct *mm = get(as_task(current_task()), mm);
	struct range_walk w = {.to = r, .at = from & ~(PAGE_BYTES - 1), .end = to};
	__u64 before;

	if (!mm || (from >= to && to >= above))
		return;
	w.a.mm = (__u64)mm;
	before = mm_changes(mm);
	what_is_wanted(&w);
	if (from < to)
		repeat(MOST_AREAS, next_area, &w);
	if (to < above)
		r->range.above = find_area_above(&w.a, to, above);
	r->range.walk = before == ~0UL || before != mm_changes(mm) ? WALK_BUSY
			: from < to && w.at < w.end		   ? WALK_CUT
								   : WALK_DONE;
	if (r->call != CALL_MMAP) /* for mmap, `file` is the file passed to the call */
		describe_file(&r->file, w.file);
}

#define STACK_GAP_PAGES	    256 /* stack_guard_gap, which brk keeps free below a stack */
#define MREMAP_MAYMOVE	    1
#define MAP_FIXED	    0x10
#define MAP_ANONYMOUS	    0x20
#define MAP_FIXED_NOREPLACE 0x100000

/* Reads the address range from a mapping call's arguments, rounded to pages as in the kernel. */
record_part(read_range)
{
	__u64 from = 0, length = 0, above = 0;

	switch (r->call) {
	case CALL_MMAP:
		if (!(r->args[3] & (MAP_FIXED | MAP_FIXED_NOREPLACE)))
			break;
		from = r->args[0];
		length = r->args[1];
		break;
	case CALL_MPROTECT:
	case CALL_MADVISE:
	case CALL_MLOCK:
	case CALL_MUNLOCK:
	case CALL_MUNMAP:
	case CALL_MSYNC:
	case CALL_MINCORE:
	case CALL_MBIND:
	case CALL_MSEAL:
		from = r->args[0];
		length = r->args[1] + (from & (PAGE_BYTES - 1));
		break;
	case CALL_MREMAP:
		from = r->args[0];
		length = r->args[1];
		if (!(r->args[3] & MREMAP_MAYMOVE) && r->args[2] > length)
			above = from + ((r->args[2] + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1));
		break;
	case CALL_BRK:
		from = ((__u64)r->ret + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
		above = r->args[0] + STACK_GAP_PAGES * PAGE_BYTES;
		break;
	}
	length = (length + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
	walk_range(r, from, from + length, above);
}

static __always_inline void consider_level(struct level_room *l, __u64 used, __u64 limit,
					   __u64 unlimited, __u32 up)
{
	__u64 room = limit > used ? limit - used : 0;

	if (limit >= unlimited)
		return;
	if (l->limit != NOT_KNOWN && room >= (l->limit > l->used ? l->limit - l->used : 0))
		return;
	l->used = used;
	l->limit = limit;
	l->up = up;
}

/* A context for repeat(): a walk from a cgroup to the root. */
struct level_walk {
	void *at;
	struct level_room *l;
	__u32 without; /* number of levels below the first one that has the controller */
};

/* The value PAGE_COUNTER_MAX, which means no limit, is at least 2^51 pages. */
#define NO_PAGE_LIMIT (1UL << 50)
/* The value PIDS_MAX, which means no limit, is the maximum of pid_max plus one. */
#define NO_PIDS_LIMIT (1UL << 32)

static __always_inline struct cgroup_subsys_state *css_of(struct task_struct *task, __u32 id)
{
	struct css_set *set = BPF_CORE_READ(task, cgroups);
	struct cgroup_subsys_state *css = NULL;

	bpf_probe_read_kernel(&css, sizeof(css),
			      (void *)set + bpf_core_field_offset(struct css_set, subsys) +
				      id * sizeof(css));
	return css;
}

/*
 * A cgroup v2 controller need not be enabled at each level. Returns the number of levels from the
 * task's own cgroup up to the cgroup whose controller applies; 0 for cgroup v1. The kernel finds
 * this cgroup in cgroup_e_css(), kernel/cgroup/cgroup.c.
 */
static __always_inline __u32 levels_without(struct task_struct *task, void *css)
{
	struct cgroup *own = BPF_CORE_READ(task, cgroups, dfl_cgrp);
	struct cgroup *of = BPF_CORE_READ((struct cgroup_subsys_state *)css, cgroup);
	__u32 own_level = BPF_CORE_READ(own, level), level = BPF_CORE_READ(of, level);

	if (BPF_CORE_READ(own, root) != BPF_CORE_READ(of, root) || own_level < level)
		return 0;
	return own_level - level;
}

static long next_memory_level(__u32 up, struct level_walk *w)
{
	struct page_counter *at = w->at;

	if (!at)
		return 1;
	consider_level(w->l, BPF_CORE_READ(at, usage.counter), BPF_CORE_READ(at, max),
		       NO_PAGE_LIMIT, up + w->without);
	w->at = BPF_CORE_READ(at, parent);
	return 0;
}

static __always_inline void read_memory_levels(struct task_struct *task, struct level_room *l)
{
	struct level_walk w = {.l = l};
	void *css;

	l->limit = NOT_KNOWN;
	if (!bpf_core_enum_value_exists(enum cgroup_subsys_id, memory_cgrp_id))
		return;
	css = css_of(task, bpf_core_enum_value(enum cgroup_subsys_id, memory_cgrp_id));
	if (!css)
		return;
	l->known = 1;
	w.without = levels_without(task, css);
	css -= bpf_core_field_offset(struct mem_cgroup, css);
	w.at = css + bpf_core_field_offset(struct mem_cgroup, memory);
	repeat(MOST_LEVELS, next_memory_level, &w);
}

static long next_pids_level(__u32 up, struct level_walk *w)
{
	struct cgroup_subsys_state *css = w->at;
	struct pids_cgroup *at;

	if (!css)
		return 1;
	at = (void *)css - bpf_core_field_offset(struct pids_cgroup, css);
	consider_level(w->l, BPF_CORE_READ(at, counter.counter), BPF_CORE_READ(at, limit.counter),
		       NO_PIDS_LIMIT, up);
	w->at = BPF_CORE_READ(css, parent);
	return 0;
}

static __always_inline void read_pids_levels(struct task_struct *task, struct level_room *l)
{
	struct level_walk w = {.l = l};

	l->limit = NOT_KNOWN;
	if (!bpf_core_enum_value_exists(enum cgroup_subsys_id, pids_cgrp_id))
		return;
	w.at = css_of(task, bpf_core_enum_value(enum cgroup_subsys_id, pids_cgrp_id));
	l->known = !!w.at;
	repeat(MOST_LEVELS, next_pids_level, &w);
}

/*
 * Finds the cgroup level that is closest to its memory limit, and the level that is closest to its
 * limit of pids.
 */
record_part(read_levels)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();

	read_memory_levels(task, &r->memory);
	read_pids_levels(task, &r->pids);
}

/*
 * A context for repeat(): a walk from a user's counters in its namespace to the initial one. The
 * members from `count` on are those of the level that refuses one more object, or else of the level
 * that is closest to its limit: inc_ucount() in kernel/ucount.c.
 */
struct user_walk {
	struct ucounts *at;
	__u32 which; /* enum ucount_type */
	__u32 up;    /* level of `at` */
	__u64 count; /* NOT_KNOWN: no level was read */
	__u64 max;
	__u32 uid;
	__u32 namespace; /* inode number of the user namespace; 0: the initial one */
	__u32 level;	 /* number of levels above the user's own namespace */
};

/* Reads an element of ucounts->ucount or ns->ucount_max: int before f9c82a4ea89c (5.14), or long */
static __always_inline __u64 ucount_at(void *array, __u32 which)
{
	struct ucounts *any = NULL;
	__u32 bytes = bpf_core_field_size(any->ucount) /
		      bpf_core_enum_value(enum ucount_type, UCOUNT_COUNTS);
	__u32 narrow = 0;
	__u64 wide = 0;

	if (bytes == sizeof(wide)) {
		bpf_probe_read_kernel(&wide, sizeof(wide), array + which * sizeof(wide));
		return wide;
	}
	bpf_probe_read_kernel(&narrow, sizeof(narrow), array + which * sizeof(narrow));
	return narrow;
}

static __always_inline __u64 ucount_max(struct user_namespace *ns, __u32 which)
{
	return ucount_at((void *)ns + bpf_core_field_offset(struct user_namespace, ucount_max),
			 which);
}

/*
 * Prepares a walk. Verifiers before Linux 6.8 check the step of a walk with the values of its first
 * call alone, and remove branches that these values do not take. So they must not know the values.
 */
static __always_inline void begin_walk(struct user_walk *w, __u32 which)
{
	w->which = which;
	w->up = 0;
	w->count = w->max = NOT_KNOWN;
	forget_value(w->up);
	forget_wide(w->count);
	forget_wide(w->max);
}

static long next_user_level(__u32 i, struct user_walk *w)
{
	struct ucounts *at = w->at;
	struct user_namespace *ns;
	__s64 room, least;
	__u64 count, max;

	if (!at)
		return 1;
	ns = BPF_CORE_READ(at, ns);
	count = ucount_at((void *)at + bpf_core_field_offset(struct ucounts, ucount), w->which);
	max = ucount_max(ns, w->which);
	room = max - count;
	least = w->max - w->count;
	if (w->count == NOT_KNOWN || (least > 0 && room < least)) {
		w->count = count;
		w->max = max;
		w->uid = BPF_CORE_READ(at, uid.val);
		w->namespace = BPF_CORE_READ(ns, ucounts) ? BPF_CORE_READ(ns, ns.inum) : 0;
		w->level = w->up;
	}
	w->up++;
	forget_value(w->up);
	w->at = BPF_CORE_READ(ns, ucounts);
	return 0;
}

/*
 * Reads the number of a user's processes at the user namespace level that is closest to its
 * RLIMIT_NPROC. At the lowest level, the RLIMIT_NPROC of the process applies. At each higher level,
 * the RLIMIT_NPROC applies that was in force when the namespace was created.
 */
static __always_inline void read_processes(struct refused_record *r, const struct cred *cred)
{
	struct ucounts *at = NULL;
	__u64 max;

	r->user.processes = processes_of(cred);
	if (!bpf_core_field_exists(at->rlimit) ||
	    !bpf_core_field_exists(((struct user_namespace *)0)->rlimit_max))
		return;
	at = BPF_CORE_READ(cred, ucounts);
	for (__u32 i = 0; i < MOST_LEVELS && at; i++) {
		struct user_namespace *ns = BPF_CORE_READ(at, ns);
		__u64 count;

		max = BPF_CORE_READ(ns, rlimit_max[0]);
		at = BPF_CORE_READ(ns, ucounts);
		if (!at)
			break;
		count = BPF_CORE_READ(at, rlimit[0].counter);
		if ((__s64)(max - count) < (__s64)(r->nproc_limit - r->user.processes)) {
			r->user.processes = count;
			r->nproc_limit = max;
		}
	}
}

/* Reads the counters of the current user. */
record_part(read_user)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	const struct cred *cred = BPF_CORE_READ(task, cred);
	struct user_counts *u = &r->user;
	struct user_walk w = {};
	__u32 which;

	read_processes(r, cred);
	u->inotify_instances = u->inotify_instances_max = NOT_KNOWN;
	u->inotify_watches = u->inotify_watches_max = u->locked_pages = NOT_KNOWN;
	u->pipe_pages = BPF_CORE_READ(cred, user, pipe_bufs.counter);
	if (bpf_core_field_exists(((struct user_struct *)0)->locked_vm))
		u->locked_pages = BPF_CORE_READ(cred, user, locked_vm.counter);
	/* Before 905ae01c4ae2 (5.14), credentials have no ucounts. ucounts contains longs. */
	if (!bpf_core_field_exists(cred->ucounts))
		return;
	w.at = BPF_CORE_READ(cred, ucounts);
	which = bpf_core_enum_value(enum ucount_type, UCOUNT_INOTIFY_INSTANCES);
	if (r->call == CALL_FANOTIFY) {
		/* UCOUNT_FANOTIFY_GROUPS exists since 5b8fea65d197 (5.13). */
		if (!bpf_core_enum_value_exists(enum ucount_type, UCOUNT_FANOTIFY_GROUPS))
			return;
		which = bpf_core_enum_value(enum ucount_type, UCOUNT_FANOTIFY_GROUPS);
	}
	begin_walk(&w, which);
	repeat(MOST_LEVELS, next_user_level, &w);
	u->inotify_instances = w.count;
	u->inotify_instances_max = w.max;
	w.at = BPF_CORE_READ(cred, ucounts);
	begin_walk(&w, bpf_core_enum_value(enum ucount_type, UCOUNT_INOTIFY_WATCHES));
	repeat(MOST_LEVELS, next_user_level, &w);
	u->inotify_watches = w.count;
	u->inotify_watches_max = w.max;
}

/* bit that is set in SECCOMP_MODE_FILTER (2), but not in SECCOMP_MODE_STRICT (1) */
#define SECCOMP_FILTER_BIT 1

/*
 * Returns 1 if a seccomp filter may have failed the call, else 0. Since 8e01b51a31a1 (5.11) the
 * kernel keeps a bitmap of calls that the filter always permits.
 */
static __always_inline __u32 is_filtered(struct task_struct *task, __u32 nr, bool compat)
{
	struct seccomp_filter *filter = NULL;
	__u64 word = 0, at;

	if (!bpf_core_field_exists(task->seccomp))
		return 0;
	if (bpf_core_field_exists(filter->cache.allow_native)) {
		at = bpf_core_field_offset(struct seccomp_filter, cache.allow_native);
		if (bpf_core_field_exists(filter->cache.allow_compat))
			at += compat *
			      (bpf_core_field_offset(struct seccomp_filter, cache.allow_compat) -
			       at);
		at += (__u64)BPF_CORE_READ(task, seccomp.filter);
		bpf_probe_read_kernel(&word, sizeof(word), (void *)at + nr / 64 * 8);
	}
	return BPF_CORE_READ(task, seccomp.mode) >> SECCOMP_FILTER_BIT & ~(word >> (nr & 63)) & 1;
}

#define PIDNS_ADDING_BIT 31 /* value from include/linux/pid_namespace.h */

/*
 * Returns 1 if the init process of the task's pid namespace has exited, so that no process can be
 * created there; else 0.
 */
static __always_inline __u32 is_namespace_over(struct task_struct *task)
{
	return ~BPF_CORE_READ(task, nsproxy, pid_ns_for_children, pid_allocated) >>
		       PIDNS_ADDING_BIT &
	       1;
}

#define MDWE_BIT 28 /* bit of MMF_HAS_MDWE, since b507808ebce2 (6.3); unused before */

#define bit_to(bits, bit, fact) ((__u32)((bits) >> (bit)&1) * (fact))

/* Returns FACT_* bits. Has no branches: verifiers check the code after a branch for each path. */
static __always_inline __u32 facts_of(struct task_struct *task, struct mm_struct *mm)
{
	__u64 caps = host_capabilities(task);
	__u32 facts = bit_to(caps, CAP_IPC_LOCK, FACT_IPC_LOCK) |
		      bit_to(caps, CAP_SYS_RESOURCE, FACT_RESOURCE) |
		      bit_to(caps, CAP_SYS_ADMIN, FACT_ADMIN) |
		      bit_to(caps, CAP_SYS_RAWIO, FACT_RAWIO);

	if (!BPF_CORE_READ(task, cred, user, uid.val))
		facts |= FACT_ROOT;
	if (mm)
		facts |= bit_to(get(mm, def_flags), VM_LOCKED_BIT, FACT_LOCKS_FUTURE) |
			 bit_to(mm_flags_of(mm), MDWE_BIT, FACT_MDWE);
	return facts;
}

/*
 * Counts open fds with numbers below `limit`. Fds with higher numbers were opened while the fd
 * limit was higher.
 */
static __always_inline __u32 count_below(struct fdtable *fdt, __u64 limit)
{
	__u64 bits = (__u64)BPF_CORE_READ(fdt, open_fds), word;
	__u32 whole = limit / 128 * 2, count = 0, left = limit % 128;

	if (whole)
		count = count_bits(bits, whole);
	for (__u32 i = 0; i < 2; i++) {
		if (left <= i * 64 ||
		    bpf_probe_read_kernel(&word, sizeof(word), (void *)bits + (whole + i) * 8))
			break;
		if (left - i * 64 < 64)
			word &= (1UL << (left - i * 64)) - 1;
		count += popcount(word);
	}
	return count;
}

/* Counts open fds, and free fd numbers from `with` up to the soft limit. */
record_part(read_fds)
{
	struct task_struct *task = current_task();
	__u32 fds, below, most, soft, lowest = with;
	struct fdtable *fdt;

	r->fds = r->fds_free = ~0U;
	if (!count_fds(task, &fds))
		return;
	fdt = BPF_CORE_READ(task, files, fdt);
	most = BPF_CORE_READ(fdt, max_fds);
	r->fds = below = fds;
	soft = r->fd_soft > 0x7fffffff ? 0x7fffffff : (__u32)r->fd_soft;
	if (most > soft)
		below = count_below(fdt, soft);
	if (lowest)
		below -= lowest < most ? count_below(fdt, lowest) : below;
	r->fds_free = soft > lowest + below ? soft - lowest - below : 0;
}

static __always_inline __u64 variable_at(__u64 address, __u32 size)
{
	__u64 wide = 0;
	__u32 word = 0;

	if (size == 8) {
		bpf_probe_read_kernel(&wide, sizeof(wide), (void *)address);
		return wide;
	}
	bpf_probe_read_kernel(&word, sizeof(word), (void *)address);
	return word;
}

/* Reads limits of the machine from kernel variables whose addresses are known. */
record_part(read_variables)
{
	r->variables = 0;
#define X(id, symbol, offset, size)                                                                \
	r->variable[VARIABLE_##id] = 0;                                                            \
	if (shared.variable[VARIABLE_##id]) {                                                      \
		r->variables |= 1U << VARIABLE_##id;                                               \
		r->variable[VARIABLE_##id] =                                                       \
			variable_at(shared.variable[VARIABLE_##id] + (offset), size);              \
	}
	VARIABLES(X)
#undef X
}

#endif
