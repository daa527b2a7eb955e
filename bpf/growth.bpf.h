/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who grows: mappings and descriptors by user stack, call and sort of name. Kept for processes that
 * hold many of them: what ordinary ones do when they start costs nothing here.
 */
#ifndef FS_GROWTH_BPF_H
#define FS_GROWTH_BPF_H

#include "refusal.bpf.h"

struct growth_key {
	struct fs_subject subject;
	__s32 stack;
	__u16 call;
	__u16 what;
	__u32 flags;
	__u32 mode;
	__u64 name; /* a hash of it */
};
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, FS_GROWTH_MAX);
	__type(key, struct growth_key);
	__type(value, __u32); /* its place in `growth` */
} growth_places SEC(".maps");

/* User space reads it where it is, without a system call. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, FS_GROWTH_MAX);
	__type(key, __u32);
	__type(value, struct fs_growth);
} growth SEC(".maps");

/* Which of them a descriptor belongs to, to know what is left of each. */
struct owner_key {
	__u32 pid;
	__u32 fd;
};
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, struct owner_key);
	__type(value, __u32);
} owners SEC(".maps");

/* What is being attributed: beside the stack, of which verifiers allow 512 bytes in all. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct fs_growth);
} attributed SEC(".maps");

static __always_inline struct fs_growth *new_growth(enum fs_what what)
{
	struct fs_growth *g;
	__u32 zero = 0;

	g = bpf_map_lookup_elem(&attributed, &zero);
	if (!g)
		return NULL;
	__builtin_memset(g, 0, sizeof(*g));
	g->what = what;
	return g;
}

/*
 * Folds numbers of a name to "#", hexadecimal digits behind a first decimal one too; its hash. What
 * is left out of a number stays as FS_NAME_FILLER, so that the verifier has one place a step.
 */
once_verified __u64 fold_name(struct fs_growth *g)
{
	__u64 hash = 0xcbf29ce484222325UL; /* FNV-1a */
	bool in_number = false;

	if (!g)
		return 0;
	for (__u32 i = 0; i < FS_FILE_NAME; i++) {
		__u8 c = g->name[i];
		bool digit = c >= '0' && c <= '9';

		if (!c)
			break;
		if (in_number && (digit || (c >= 'a' && c <= 'f'))) {
			g->name[i] = FS_NAME_FILLER;
			continue;
		}
		if (digit)
			g->name[i] = c = '#';
		in_number = digit;
		hash = (hash ^ c) * 0x100000001b3UL;
	}
	return hash;
}

/* A new place, where there is one left; -1 else. */
static __always_inline __s32 new_place(const struct growth_key *key, const struct fs_growth *like)
{
	__u32 at = shared.growth_used, *other;
	struct fs_growth *g;

	if (at >= FS_GROWTH_MAX)
		goto lost;
	at = add_fetch(&shared.growth_used, 1) - 1;
	g = bpf_map_lookup_elem(&growth, &at);
	if (!g)
		goto lost;
	if (bpf_map_update_elem(&growth_places, key, &at, BPF_NOEXIST)) {
		other = bpf_map_lookup_elem(&growth_places, key); /* another thread was first */
		if (!other)
			goto lost;
		return *other;
	}
	*g = *like;
	g->first_ns = bpf_ktime_get_ns();
	return at;
lost:
	bump(shared.losses.growth);
	return -1;
}

/*
 * Adds to what its place in the code has made; `g` says what, its name not yet folded. Returns the
 * place, or -1.
 */
static __always_inline __s32 grow(const struct call *c, struct fs_growth *g)
{
	struct growth_key key = {};
	struct fs_growth *kept;
	__u32 *known;
	__s32 at;

	fill_subject(&g->subject, c->leader);
	g->call = c->call;
	g->stack = g->added ? stack_of(c->ctx, &g->subject, regs_caller(c->regs), FS_STACKS) : -1;
	key.subject = g->subject;
	key.stack = g->stack;
	key.call = g->call;
	key.what = g->what;
	key.flags = g->flags;
	key.mode = g->mode;
	key.name = fold_name(g);
	known = bpf_map_lookup_elem(&growth_places, &key);
	if (!known) {
		at = new_place(&key, g);
		if (at < 0)
			return at;
	} else {
		at = *known;
	}
	kept = bpf_map_lookup_elem(&growth, &at);
	if (!kept)
		return -1;
	if (known) {
		__sync_fetch_and_add(&kept->added, g->added);
		__sync_fetch_and_add(&kept->removed, g->removed);
	}
	kept->last_ns = bpf_ktime_get_ns();
	return at;
}

static __always_inline void name_file(struct fs_growth *g, struct task_struct *task, __u32 fd)
{
	struct fdtable *fdt = BPF_CORE_READ(task, files, fdt);
	struct file *file = NULL;
	struct inode *inode;

	if (fdt && fd < BPF_CORE_READ(fdt, max_fds))
		bpf_probe_read_kernel(&file, sizeof(file), BPF_CORE_READ(fdt, fd) + fd);
	if (!file)
		return;
	inode = BPF_CORE_READ(file, f_inode);
	g->flags = FS_FILE_KNOWN | (BPF_CORE_READ(inode, i_nlink) ? 0 : FS_FILE_DELETED);
	g->mode = BPF_CORE_READ(inode, i_mode);
	g->magic = BPF_CORE_READ(inode, i_sb, s_magic);
	bpf_probe_read_kernel_str(g->name, sizeof(g->name),
				  BPF_CORE_READ(file, f_path.dentry, d_name.name));
}

#ifndef FS_HASH

/* The map count of a process moved in a call. */
static __always_inline void attribute_maps(const struct call *c, __u32 count, __u32 before)
{
	struct fs_growth *g;

	if (!config.attribute || count < config.attribute_maps)
		return;
	g = new_growth(FS_WHAT_MAPS);
	if (!g)
		return;
	if (count > before)
		g->added = count - before;
	else
		g->removed = before - count;
	if (c->shape == FS_SHAPE_MMAP && g->added) {
		if (call_arg(c, 3) & MAP_ANONYMOUS)
			g->mode = FS_ANON(call_arg(c, 2), call_arg(c, 3));
		else
			name_file(g, c->task, call_arg(c, 4));
	}
	grow(c, g);
}

static __always_inline void disown(const __u32 *owner)
{
	struct fs_growth *g;

	g = bpf_map_lookup_elem(&growth, owner);
	if (g) {
		__sync_fetch_and_add(&g->removed, 1);
		g->last_ns = bpf_ktime_get_ns();
	}
}

/* Descriptors were made: this one, and others like it in the same call. */
static __always_inline void attribute_fd(struct fs_state *st, const struct call *c, __u32 fd,
					 __u32 made)
{
	struct owner_key key = {.pid = st->pid, .fd = fd};
	struct fs_growth *g;
	__u32 *old;
	__s32 at;

	if (!config.attribute || st->fds < config.attribute_fds)
		return;
	old = bpf_map_lookup_elem(&owners, &key);
	if (old)
		disown(old); /* the number was closed unseen: by dup2, close_range, execve */
	else
		__sync_fetch_and_add(&st->owners, 1);
	g = new_growth(FS_WHAT_FDS);
	if (!g)
		return;
	g->added = made;
	name_file(g, c->task, fd);
	at = grow(c, g);
	if (at >= 0)
		bpf_map_update_elem(&owners, &key, &at, BPF_ANY);
}

static __always_inline void attribute_close(struct fs_state *st, __u32 fd)
{
	struct owner_key key = {.pid = st->pid, .fd = fd};
	__u32 *owner;

	if (!st->owners)
		return;
	owner = bpf_map_lookup_elem(&owners, &key);
	if (!owner)
		return;
	disown(owner);
	bpf_map_delete_elem(&owners, &key);
	__sync_fetch_and_add(&st->owners, -1);
}

#else /* too much for the verifiers of the kernels that this build is for */

static __always_inline void attribute_maps(const struct call *c, __u32 count, __u32 before)
{
}

static __always_inline void attribute_fd(struct fs_state *st, const struct call *c, __u32 fd,
					 __u32 made)
{
}

static __always_inline void attribute_close(struct fs_state *st, __u32 fd)
{
}

#endif

#endif
