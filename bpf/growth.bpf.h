/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Records growth: counts new mappings and fds by user stack, system call and name, in which numbers
 * become "#". Growth is recorded only for processes that hold many mappings or fds, so that the
 * start of other processes costs nothing.
 */
#ifndef FS_GROWTH_BPF_H
#define FS_GROWTH_BPF_H

#include "refusal.bpf.h"

struct growth_key {
	struct process_key subject;
	__s32 stack;
	__u16 call;
	__u16 what;
	__u32 flags;
	__u32 mode;
	__u64 name; /* hash of the name with each number replaced by "#" (folded) */
};
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, GROWTH_MAX);
	__type(key, struct growth_key);
	__type(value, __u32); /* index of an entry of `growth` */
} growth_places SEC(".maps");

/* User space reads this map through mmap, without system calls. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, GROWTH_MAX);
	__type(key, __u32);
	__type(value, struct growth);
} growth SEC(".maps");

/* The key that an entry of `growth` has at present. */
struct growth_holder {
	struct growth_key key;
	__u32 generation; /* number of times that the entry was reused */
	__u32 pad;
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, GROWTH_MAX);
	__type(key, __u32);
	__type(value, struct growth_holder);
} growth_holders SEC(".maps");

/* A ring of entries of `growth` that user space has released. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, GROWTH_MAX);
	__type(key, __u32);
	__type(value, struct fs_spare);
} growth_spares SEC(".maps");

#define CHURN_EXACT 512 /* closes per second up to which the creator of each fd is recorded */
#define CHURN_EACH  8	/* of the other fds, one in CHURN_EACH is recorded; a power of two */

/* Maps each fd to an entry of `growth`, so that the number of open fds is known per entry. */
struct owner_key {
	__u64 start_ns; /* start time of the process, as its pid may be reused */
	__u32 pid;
	__u32 fd;
};
struct owner {
	__u32 place;
	__u32 generation; /* growth_holder.generation; if it differs, the entry has a new key */
	__u32 weight;	  /* number of fds that this one counts for in the entry */
};
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, struct owner_key);
	__type(value, struct owner);
} owners SEC(".maps");

#ifndef FS_HASH
#include "call_site.bpf.h"

/* Returns memory for one entry of `growth` until scratch_end(), or NULL if all memory is in use. */
static __always_inline struct scratch *begin_growth(enum what what)
{
	struct scratch *s = scratch_begin();

	if (!s) {
		bump(shared.losses.growth);
		return NULL;
	}
	__builtin_memset(&s->growth, 0, sizeof(s->growth));
	s->growth.what = what;
	return s;
}

/*
 * Replaces each number in a name by "#", including hexadecimal digits after a decimal digit.
 * Returns the hash of the new name. Removed digits become NAME_FILLER: each loop step then writes
 * one position, as the verifier requires. Only the end of the name is a branch, because the
 * verifier checks the rest of the loop once for each path through a step.
 */
once_verified __u64 fold_name(struct growth *g)
{
	__u64 hash = 0xcbf29ce484222325UL; /* offset basis of the FNV-1a hash */
	__u64 in_number = 0;

	if (!g)
		return 0;
	for (__u32 i = 0; i < FILE_NAME_LEN; i++) {
		__u64 c = g->name[i], digit, removed, folded;

		if (!c)
			break;
		digit = is_within(c, '0', '9');
		removed = in_number & (digit | is_within(c, 'a', 'f'));
		c ^= (c ^ '#') & -digit;
		in_number = digit | removed;
		g->name[i] = c ^ ((c ^ NAME_FILLER) & -removed);
		folded = (hash ^ c) * 0x100000001b3UL;
		hash ^= (hash ^ folded) & (removed - 1);
	}
	return hash;
}

#define SPARES_TRIED 4

/*
 * Returns the index of an entry that user space released, after removing its old key, or -1 if
 * there is none. Skips entries of `growth` that grew after their release. The argument `any` is not
 * used.
 */
once_verified int take_spare(__u32 any)
{
	barrier_var(any);
	for (int i = 0; i < SPARES_TRIED; i++) {
		__u32 taken = *(volatile __u32 *)&shared.growth_taken, slot, place, *found;
		struct growth_holder *holder;
		struct fs_spare *spare;
		struct growth *g;

		if (taken == *(volatile __u32 *)&shared.growth_spared)
			return -1;
		slot = taken & (GROWTH_MAX - 1);
		spare = bpf_map_lookup_elem(&growth_spares, &slot);
		if (!spare || !swap_if(&shared.growth_taken, taken, taken + 1))
			continue;
		place = spare->place;
		g = bpf_map_lookup_elem(&growth, &place);
		holder = bpf_map_lookup_elem(&growth_holders, &place);
		if (!g || !holder || g->last_ns != spare->last_ns)
			continue;
		found = bpf_map_lookup_elem(&growth_places, &holder->key);
		if (found && *found == place)
			bpf_map_delete_elem(&growth_places, &holder->key);
		return place;
	}
	return -1;
}

/* Returns the index of an unused entry of `growth`, or -1 if there is none. */
static __always_inline __s32 free_place(void)
{
	if (shared.growth_used < GROWTH_MAX) {
		__u32 at = add_fetch(&shared.growth_used, 1) - 1;

		if (at < GROWTH_MAX)
			return at;
	}
	return take_spare(0);
}

/*
 * Returns the index of a new entry of `growth`, or -1 if none is left. The entry is filled before
 * other threads can find it. If another thread has inserted the key first, the index of that
 * thread's entry is returned; user space releases the unused entry, whose last_ns is 0.
 */
static __always_inline __s32 new_place(const struct growth_key *key, const struct growth *like)
{
	struct growth_holder *holder;
	struct growth *g;
	__u32 at, *other;

	at = free_place();
	g = bpf_map_lookup_elem(&growth, &at);
	holder = bpf_map_lookup_elem(&growth_holders, &at);
	if (!g || !holder)
		goto lost;
	holder->key = *key;
	holder->generation++;
	*g = *like;
	g->added = g->removed = 0;
	g->first_ns = bpf_ktime_get_ns();
	if (!bpf_map_update_elem(&growth_places, key, &at, BPF_NOEXIST))
		return at;
	other = bpf_map_lookup_elem(&growth_places, key);
	if (other)
		return *other;
lost:
	bump(shared.losses.growth);
	return -1;
}

/*
 * Adds growth to the entry of `growth` for a call's stack and name. `g` describes what the call
 * created; its name is not folded yet. Returns the entry's index, or -1 if no entry is left.
 */
static __noinline __s32 grow(const struct call *c, struct growth *g)
{
	struct growth_key key = {};
	struct growth *kept;
	__u32 *known;
	__s32 at;

	fill_subject(&g->subject, leader_of(c));
	g->call = c->call;
	g->stack = c->stack;
	key.subject = g->subject;
	key.stack = g->stack;
	key.call = g->call;
	key.what = g->what;
	key.flags = g->flags;
	key.mode = g->mode;
	key.name = fold_name(g);
	known = bpf_map_lookup_elem(&growth_places, &key);
	at = known ? (__s32)*known : new_place(&key, g);
	kept = bpf_map_lookup_elem(&growth, &at); /* if `at` is -1, the lookup fails */
	if (!kept)
		return -1;
	atomic_add(&kept->added, g->added);
	atomic_add(&kept->removed, g->removed);
	if (c->weight > 1)
		kept->flags |= GROWTH_SAMPLED;
	kept->last_ns = bpf_ktime_get_ns();
	return at;
}

static __always_inline void name_file(struct growth *g, struct task_struct *task, __u32 fd)
{
	__u64 address = file_of_fd(task, fd);
	struct inode *inode;
	struct file *file;

	if (!address)
		return;
	file = as_file(address);
	inode = get_cast(file, f_inode);
	g->flags = FILE_KNOWN | (get_cast(inode, i_nlink) ? 0 : FILE_DELETED);
	g->mode = get_cast(inode, i_mode);
	g->magic = get_cast(inode, i_sb, s_magic);
	bpf_probe_read_kernel_str(g->name, sizeof(g->name),
				  get_cast(file, f_path.dentry, d_name.name));
}

/* Lets the verifier check the code that follows once, not once for each kind of growth. */
static __always_inline void forget_growth(struct call *c)
{
	forget_value(c->added);
	forget_value(c->removed);
	forget_value(c->fds);
	forget_value(c->fd[0]);
	forget_value(c->fd[1]);
	forget_value(c->weight);
}

/* Notes in `c` by how much a call changed the map count. */
static __always_inline void note_maps(struct call *c, __u32 count, __u32 before)
{
	if (!config.attribute || count < config.attribute_maps)
		return;
	c->added = count > before ? count - before : 0;
	c->removed = before > count ? before - count : 0;
}

static __always_inline struct owner_key owner_key_of(struct task_struct *leader, __u32 fd)
{
	return (struct owner_key){
		.start_ns = get(leader, start_boottime), .pid = get(leader, tgid), .fd = fd};
}

static __always_inline void disown(const struct owner *owner)
{
	struct growth_holder *holder = bpf_map_lookup_elem(&growth_holders, &owner->place);
	struct growth *g = bpf_map_lookup_elem(&growth, &owner->place);

	if (!g || !holder || holder->generation != owner->generation)
		return;
	atomic_add(&g->removed, owner->weight);
	g->last_ns = bpf_ktime_get_ns();
}

/*
 * Counts a close of an fd whose creator is recorded, up to CHURN_EXACT + 1 in a second. A thread
 * may overwrite the count of another, which delays sampling by a few fds.
 */
static __always_inline void count_churn(struct fs_descriptors *d)
{
	__u32 second = current_second();

	if (!d)
		return;
	if (d->churn_second != second) {
		d->churn_second = second;
		d->churn = 0;
	}
	if (d->churn <= CHURN_EXACT)
		d->churn++;
}

/*
 * Returns how many fds an fd counts for that was just created. It is 1 as long as the process
 * closes few of the fds whose creator is recorded. If it closes more than CHURN_EXACT in a second,
 * one new fd in CHURN_EACH is recorded, drawn at random, and counts for CHURN_EACH; the others get
 * 0. A process that keeps its fds open closes few, so its counts are exact at any rate.
 */
static __always_inline __u32 weight_of_open(const struct fs_descriptors *d)
{
	if (!d || d->churn <= CHURN_EXACT || d->churn_second != current_second())
		return 1;
	return bpf_get_prandom_u32() & (CHURN_EACH - 1) ? 0 : CHURN_EACH;
}

/*
 * Counts the end of an fd for the entry of `growth` that created it. Does nothing if the creator is
 * not recorded.
 */
static __always_inline void attribute_close(struct fs_state *st, struct fs_descriptors *d,
					    const struct call *c, __u32 fd)
{
	struct owner_key key;
	struct owner *owner;

	if (!st->owners)
		return;
	key = owner_key_of(leader_of(c), fd);
	owner = bpf_map_lookup_elem(&owners, &key);
	if (!owner)
		return;
	disown(owner);
	bpf_map_delete_elem(&owners, &key);
	atomic_add(&st->owners, -1);
	count_churn(d);
}

/* Notes in `c` that a call created `made` fds, `fd` among them. */
static __always_inline void note_fd(struct fs_state *st, struct fs_descriptors *d, struct call *c,
				    __u32 fd, __u32 made)
{
	if (!config.attribute || st->fds < config.attribute_fds)
		return;
	c->weight = weight_of_open(d);
	if (!c->weight) {
		attribute_close(st, d, c, fd); /* of the old fd: see attribute_fd() */
		return;
	}
	c->added = made * c->weight;
	c->fds = 1;
	c->fd[0] = fd;
}

/* Notes in `c` that a call created two fds. */
static __always_inline void note_fds(struct fs_state *st, struct fs_descriptors *d, struct call *c,
				     const __u32 fd[2])
{
	note_fd(st, d, c, fd[0], 1);
	if (!c->fds) {
		attribute_close(st, d, c, fd[1]);
		return;
	}
	c->fds = 2;
	c->fd[1] = fd[1];
}

static __always_inline void attribute_maps(const struct call *c)
{
	struct scratch *s = begin_growth(WHAT_MAPS);

	if (!s)
		return;
	s->growth.added = c->added;
	s->growth.removed = c->removed;
	if (c->shape == FS_SHAPE_MMAP && c->added) {
		if (call_arg(c, 3) & MAP_ANONYMOUS)
			s->growth.mode = GROWTH_ANON(call_arg(c, 2), call_arg(c, 3));
		else
			name_file(&s->growth, c->task, call_arg(c, 4));
	}
	grow(c, &s->growth);
	scratch_end(s);
}

/*
 * Stores in which entry of `growth` an fd is counted. A negative `place` means that the entry is
 * not known.
 */
static __always_inline void own(const struct owner_key *key, __s32 place, __u32 weight)
{
	struct growth_holder *holder = bpf_map_lookup_elem(&growth_holders, &place);
	struct owner owner = {.place = place, .weight = weight};

	if (holder)
		owner.generation = holder->generation;
	bpf_map_update_elem(&owners, key, &owner, BPF_ANY);
}

static __always_inline void attribute_fd(struct fs_state *st, const struct call *c, __u32 fd)
{
	struct owner_key key = owner_key_of(leader_of(c), fd);
	struct scratch *s = begin_growth(WHAT_FDS);
	struct owner *old;
	__s32 at;

	if (!s)
		return;
	s->growth.added = c->added;
	name_file(&s->growth, c->task, fd);
	at = grow(c, &s->growth);
	old = bpf_map_lookup_elem(&owners, &key);
	if (old)
		disown(old); /* the old fd was closed by dup2, close_range or execve */
	else
		atomic_add(&st->owners, 1);
	own(&key, at, c->weight);
	scratch_end(s);
}

returns_unread int attribute_by_stack(struct fs_state *st, const struct call *c)
{
	if (!c->fds)
		attribute_maps(c);
	for (__u32 i = 0; i < 2; i++)
		if (i < c->fds)
			attribute_fd(st, c, c->fd[i]);
	return 0;
}

/* Records growth for the code that made a call. */
static __always_inline void attribute(struct fs_state *st, struct call *c)
{
	if (c->added && !take_site_stack(c)) {
		find_stack(c);
		keep_site(c);
	}
	if (c->added | c->removed)
		attribute_by_stack(st, c);
}

#else /* older verifiers do not accept this code in the FS_HASH build */

static __always_inline void forget_growth(struct call *c)
{
}

static __always_inline void note_maps(struct call *c, __u32 count, __u32 before)
{
}

static __always_inline void note_fd(struct fs_state *st, struct fs_descriptors *d, struct call *c,
				    __u32 fd, __u32 made)
{
}

static __always_inline void note_fds(struct fs_state *st, struct fs_descriptors *d, struct call *c,
				     const __u32 fd[2])
{
}

static __always_inline void attribute(struct fs_state *st, struct call *c)
{
}

static __always_inline void attribute_close(struct fs_state *st, struct fs_descriptors *d,
					    const struct call *c, __u32 fd)
{
}

#endif

#endif
