// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "rules/cause.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"

/* include/uapi/asm-generic/mman*.h: the same on every architecture we run on but alpha and parisc
 */
#define F_MAP_PRIVATE	      0x02
#define F_MAP_TYPE	      0x0f
#define F_MAP_FIXED	      0x10
#define F_MAP_ANONYMOUS	      0x20
#define F_MAP_LOCKED	      0x2000
#define F_MAP_NORESERVE	      0x4000
#define F_MAP_HUGETLB	      0x40000
#define F_MAP_FIXED_NOREPLACE 0x100000
#define F_PROT_WRITE	      2
#define F_MCL_CURRENT	      1

const char *const cause_names[] = {
	"max_map_count",
	"rlimit_as",
	"rlimit_data",
	"rlimit_memlock",
	"rlimit_stack",
	"address_space",
	"overcommit_heuristic",
	"overcommit_strict",
	"hugetlb_pool",
	"cgroup_memory",
	"range_hole",
	"no_room_in_place",
	"brk_collision",
	"fixed_exists",
	"file_mode",
	"noexec_mount",
	"sealed",
	"min_address",
	"not_mappable",
	"write_exec_denied",
	"security_module",
	"driver",
	"bad_descriptor",
	"bad_argument",
	"rlimit_nofile",
	"nr_open",
	"file_max",
	"descriptor_number_limit",
	"inotify_instances",
	"inotify_watches",
	"epoll_watches",
	"pipe_pages",
	"descriptors_dropped",
	"rlimit_nproc",
	"cgroup_pids",
	"threads_max",
	"unknown",
	NULL,
};

/* What a call asks for on top of what there is. */
struct request {
	const struct fs_refused_record *r;
	const struct fs_limits *l;
	uint64_t pages;
	uint64_t length_bytes; /* to be found a place for; 0: none */
	uint64_t space_bytes;  /* of a process, without a hint above it; UINT64_MAX: not known */
	bool data;	       /* private and writable: RLIMIT_DATA bounds it */
	bool accounted;	       /* what may be written is promised: commit accounting */
	bool no_reserve;       /* MAP_NORESERVE: taken back by overcommit mode 2 */
	bool locked;	       /* RLIMIT_MEMLOCK bounds it */
	bool hugetlb;
};

static void add(struct verdict *v, const char *field, uint64_t value, uint64_t limit)
{
	struct evidence *e;
	struct buf b = {};

	if (v->nr_evidence == EVIDENCE_MAX)
		return;
	e = &v->evidence[v->nr_evidence++];
	snprintf(e->field, sizeof(e->field), "%s", field);
	put_count(&b, value);
	snprintf(e->value, sizeof(e->value), "%s", b.s ? b.s : "");
	buf_clear(&b);
	put_limit(&b, limit);
	snprintf(e->limit, sizeof(e->limit), "%s", b.s ? b.s : "");
	buf_free(&b);
}

static void add_sum(struct verdict *v, const char *field, uint64_t have, uint64_t asked,
		    uint64_t limit)
{
	struct buf b = {};

	add(v, field, have, limit);
	put_count(&b, have);
	buf_puts(&b, " + ");
	put_count(&b, asked);
	if (v->nr_evidence)
		snprintf(v->evidence[v->nr_evidence - 1].value, sizeof(v->evidence[0].value), "%s",
			 b.s ? b.s : "");
	buf_free(&b);
}

static uint64_t limit_pages(const struct request *q, uint64_t bytes)
{
	return bytes == UINT64_MAX ? UINT64_MAX : bytes / q->l->page_bytes;
}

/*
 * A check of the kernel: whether its limit refuses the request. Evidence goes to `v`; `*ret_sure`,
 * true before, is cleared where the figures are too old to decide.
 */
typedef bool check_fn(const struct request *q, struct verdict *v, bool *ret_sure);

/* The map count that refuses is `short_by` below the limit. */
static bool count_within(const struct request *q, struct verdict *v, uint64_t short_by)
{
	uint64_t count = q->r->map_count, max = q->l->max_map_count;

	if (!max || count + short_by <= max)
		return false;
	add(v, "map_count", count, max);
	return true;
}

/* do_mmap(), do_brk_flags(): above the limit */
static bool past_count(const struct request *q, struct verdict *v, bool *ret_sure)
{
	return count_within(q, v, 0);
}

/* __split_vma(): at the limit */
static bool past_count_split(const struct request *q, struct verdict *v, bool *ret_sure)
{
	return count_within(q, v, 1);
}

/* move_vma() wants room for the splits it may need: three below */
static bool past_count_move(const struct request *q, struct verdict *v, bool *ret_sure)
{
	return count_within(q, v, 4);
}

static bool past_task_size(const struct request *q, struct verdict *v, bool *ret_sure)
{
	if (q->length_bytes < q->space_bytes)
		return false;
	add(v, "length_bytes", q->length_bytes, q->space_bytes);
	return true;
}

static bool past_as(const struct request *q, struct verdict *v, bool *ret_sure)
{
	uint64_t limit = limit_pages(q, q->r->as_limit_bytes);

	if (limit == UINT64_MAX || q->r->total_vm_pages + q->pages <= limit)
		return false;
	add_sum(v, "total_vm_pages", q->r->total_vm_pages, q->pages, limit);
	return true;
}

/* check_data_rlimit(): the heap, in bytes */
static bool past_heap(const struct request *q, struct verdict *v, bool *ret_sure)
{
	uint64_t limit = q->r->data_limit_bytes;
	uint64_t more = q->r->args[0] - (uint64_t)q->r->ret;

	if (limit == UINT64_MAX || q->r->heap_bytes + more <= limit)
		return false;
	add_sum(v, "heap_bytes", q->r->heap_bytes, more, limit);
	return true;
}

static bool past_data(const struct request *q, struct verdict *v, bool *ret_sure)
{
	uint64_t limit = limit_pages(q, q->r->data_limit_bytes);

	if (!q->data || limit == UINT64_MAX || q->r->data_vm_pages + q->pages <= limit)
		return false;
	add_sum(v, "data_vm_pages", q->r->data_vm_pages, q->pages, limit);
	return true;
}

static bool past_memlock(const struct request *q, struct verdict *v, bool *ret_sure)
{
	uint64_t limit = limit_pages(q, q->r->memlock_limit_bytes);
	bool all = q->r->call == FS_CALL_MLOCKALL; /* bounded by what is mapped */
	uint64_t have = all ? q->r->total_vm_pages : q->r->locked_vm_pages;

	if (!q->locked || q->r->cap_ipc_lock || limit == UINT64_MAX || have + q->pages <= limit)
		return false;
	add_sum(v, all ? "total_vm_pages" : "locked_vm_pages", have, q->pages, limit);
	return true;
}

static bool past_hugetlb(const struct request *q, struct verdict *v, bool *ret_sure)
{
	*ret_sure = false; /* the pool was not read */
	return q->hugetlb;
}

static bool past_commit(const struct request *q, struct verdict *v, bool *ret_sure)
{
	uint64_t asked = q->pages * q->l->page_bytes;

	if (!q->accounted || q->l->overcommit_memory != 2 ||
	    q->l->committed_bytes + asked < q->l->commit_limit_bytes)
		return false;
	*ret_sure = false; /* Committed_AS is of the last look: near enough to name */
	add_sum(v, "committed_bytes", q->l->committed_bytes, asked, q->l->commit_limit_bytes);
	return true;
}

static bool past_heuristic(const struct request *q, struct verdict *v, bool *ret_sure)
{
	uint64_t asked = q->pages * q->l->page_bytes;
	uint64_t have = q->l->mem_total_bytes + q->l->swap_total_bytes;

	if (!q->accounted || q->no_reserve || q->l->overcommit_memory != 0 || !have ||
	    asked <= have)
		return false;
	add(v, "asked_bytes", asked, have);
	return true;
}

/* What a call asks, in the kernel's order, and the errno it then answers. */
struct step {
	const char *cause;
	check_fn *refuses;
	int error;
};

#define CHECKS_MAX 9
static const struct order {
	enum fs_call call;
	bool hole; /* a hole in the range gives the same answer, and is not looked for here */
	struct step step[CHECKS_MAX];
} orders[] = {
	{FS_CALL_MMAP,
	 false,
	 {{"max_map_count", past_count, ENOMEM},
	  {"address_space", past_task_size, ENOMEM},
	  {"rlimit_memlock", past_memlock, EAGAIN},
	  {"rlimit_as", past_as, ENOMEM},
	  {"rlimit_data", past_data, ENOMEM},
	  {"hugetlb_pool", past_hugetlb, ENOMEM},
	  {"overcommit_strict", past_commit, ENOMEM},
	  {"overcommit_heuristic", past_heuristic, ENOMEM}}},
	/* its segment's size is in no argument: what can be said without is said */
	{FS_CALL_SHMAT,
	 false,
	 {{"max_map_count", past_count, ENOMEM}, {"rlimit_as", past_as, ENOMEM}}},
	{FS_CALL_BRK,
	 false,
	 {{"rlimit_data", past_heap, 0},
	  {"rlimit_memlock", past_memlock, 0},
	  {"rlimit_as", past_as, 0},
	  {"rlimit_data", past_data, 0},
	  {"max_map_count", past_count, 0},
	  {"overcommit_strict", past_commit, 0},
	  {"overcommit_heuristic", past_heuristic, 0}}},
	{FS_CALL_MREMAP,
	 false,
	 {{"address_space", past_task_size, ENOMEM},
	  {"rlimit_memlock", past_memlock, EAGAIN},
	  {"rlimit_as", past_as, ENOMEM},
	  {"rlimit_data", past_data, ENOMEM},
	  {"max_map_count", past_count_move, ENOMEM},
	  {"overcommit_strict", past_commit, ENOMEM},
	  {"overcommit_heuristic", past_heuristic, ENOMEM}}},
	{FS_CALL_MPROTECT,
	 true,
	 {{"rlimit_data", past_data, ENOMEM},
	  {"overcommit_strict", past_commit, ENOMEM},
	  {"overcommit_heuristic", past_heuristic, ENOMEM},
	  {"max_map_count", past_count_split, ENOMEM}}},
	{FS_CALL_MUNMAP, false, {{"max_map_count", past_count_split, ENOMEM}}},
	{FS_CALL_MADVISE, false, {{"max_map_count", past_count_split, EAGAIN}}},
	{FS_CALL_MLOCK, false, {{"rlimit_memlock", past_memlock, ENOMEM}}},
	{FS_CALL_MLOCK, true, {{"max_map_count", past_count_split, ENOMEM}}},
	{FS_CALL_MLOCKALL, false, {{"rlimit_memlock", past_memlock, ENOMEM}}},
	{FS_CALL_MUNLOCK, true, {{"max_map_count", past_count_split, ENOMEM}}},
};

static void run_step(const struct request *q, const struct step *c, bool hole, struct verdict *v)
{
	struct verdict scratch = {};
	bool sure = true;

	if (!c->refuses(q, v->cause ? &scratch : v, &sure))
		return;
	if (v->cause) {
		if (v->nr_next < NEXT_MAX && strcmp(c->cause, v->cause))
			v->next[v->nr_next++] = c->cause;
	} else if (c->error == q->r->error) {
		v->cause = c->cause;
		v->certain = sure && !hole;
	} else {
		v->nr_evidence = 0;
	}
}

static void run_checks(const struct request *q, struct verdict *v)
{
	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		const struct order *o = &orders[i];

		if (o->call != q->r->call)
			continue;
		for (size_t k = 0; k < CHECKS_MAX && o->step[k].cause; k++)
			run_step(q, &o->step[k], o->hole, v);
	}
}

static void describe(const struct request *q, struct verdict *v)
{
	add(v, "map_count", q->r->map_count, q->l->max_map_count);
	add_sum(v, "total_vm_pages", q->r->total_vm_pages, q->pages,
		limit_pages(q, q->r->as_limit_bytes));
	add_sum(v, "data_vm_pages", q->r->data_vm_pages, q->data ? q->pages : 0,
		limit_pages(q, q->r->data_limit_bytes));
}

static uint64_t to_pages(const struct request *q, uint64_t bytes)
{
	return bytes / q->l->page_bytes + !!(bytes % q->l->page_bytes);
}

static void read_mmap(struct request *q, uint64_t length, uint64_t prot, uint64_t flags)
{
	bool shared = (flags & F_MAP_TYPE) != F_MAP_PRIVATE;

	q->length_bytes = length;
	q->pages = to_pages(q, length);
	q->data = !shared && prot & F_PROT_WRITE;
	q->hugetlb = flags & F_MAP_HUGETLB;
	/* shmem_file_setup() promises all of a shared anonymous mapping, written or not */
	q->accounted = !q->hugetlb && (shared ? !!(flags & F_MAP_ANONYMOUS) : q->data);
	q->no_reserve = flags & F_MAP_NORESERVE;
	q->locked = flags & F_MAP_LOCKED;
}

static void read_request(struct request *q)
{
	const __u64 *a = q->r->args;

	switch (q->r->call) {
	case FS_CALL_MMAP:
		read_mmap(q, a[1], a[2], a[3]);
		break;
	case FS_CALL_MREMAP:
		q->length_bytes = a[2];
		q->pages = a[2] > a[1] ? to_pages(q, a[2]) - to_pages(q, a[1]) : 0;
		q->data = q->accounted = true;
		q->locked = q->r->error == EAGAIN; /* nothing else makes it say so */
		break;
	case FS_CALL_BRK:
		q->pages = to_pages(q, a[0] - (uint64_t)q->r->ret);
		q->data = q->accounted = true;
		break;
	case FS_CALL_MPROTECT:
		q->pages = to_pages(q, a[1]);
		q->data = q->accounted = a[2] & F_PROT_WRITE;
		break;
	case FS_CALL_MLOCK:
		q->pages = to_pages(q, a[1] + a[0] % q->l->page_bytes);
		q->locked = true;
		break;
	case FS_CALL_MLOCKALL:
		q->locked = a[0] & F_MCL_CURRENT;
		break;
	}
	q->locked |= q->r->def_flags_locked;
}

/* can_do_mlock(): with a limit of 0 what would lock is not even tried. */
static bool may_not_lock(const struct request *q)
{
	bool locks = q->r->call == FS_CALL_MLOCK || q->r->call == FS_CALL_MLOCKALL ||
		     (q->r->call == FS_CALL_MMAP && q->r->args[3] & F_MAP_LOCKED);

	return locks && !q->r->memlock_limit_bytes && !q->r->cap_ipc_lock;
}

static bool is_below_min_address(const struct request *q)
{
	return q->r->call == FS_CALL_MMAP && q->r->args[0] < q->l->mmap_min_addr &&
	       q->r->args[3] & (F_MAP_FIXED | F_MAP_FIXED_NOREPLACE);
}

/* What an errno alone decides. NULL where it does not. */
static const char *by_errno(const struct request *q, bool *ret_certain)
{
	*ret_certain = true;
	switch (q->r->error) {
	case EINVAL:
	case EOVERFLOW:
	case EFAULT:
		return "bad_argument";
	case EBADF:
		return "bad_descriptor";
	case EEXIST:
		return "fixed_exists";
	case ENODEV:
		*ret_certain = q->r->call == FS_CALL_MMAP && !(q->r->args[3] & F_MAP_ANONYMOUS);
		return "not_mappable";
	case EPERM:
		if (is_below_min_address(q))
			return "min_address";
		if (may_not_lock(q))
			return "rlimit_memlock";
		break;
	}
	*ret_certain = false;
	return NULL;
}

/* Elsewhere it depends on the CPU (riscv), or grows when it is asked for (s390). */
static uint64_t space_of(const char *arch)
{
	return !strcmp(arch, "x86_64")	  ? 1ULL << 47
	       : !strcmp(arch, "aarch64") ? 1ULL << 48
					  : UINT64_MAX;
}

static void cause_of_mapping(const struct fs_refused_record *r, const struct fs_limits *l,
			     const char *arch, struct verdict *v)
{
	struct request q = {.r = r, .l = l, .space_bytes = space_of(arch)};

	read_request(&q);
	v->cause = by_errno(&q, &v->certain);
	if (v->cause)
		return;
	run_checks(&q, v);
	if (!v->cause) {
		v->cause = "unknown";
		describe(&q, v);
	}
}

static void cause_of_descriptor(const struct fs_refused_record *r, const struct fs_limits *l,
				struct verdict *v)
{
	/* calls that make two need room for two */
	uint64_t room = r->call == FS_CALL_PIPE || r->call == FS_CALL_SOCKETPAIR ? 1 : 0;
	bool counted = r->fds != UINT32_MAX;

	v->cause = "unknown";
	switch (r->error) {
	case 0: /* only recvmsg drops without an errno, and only where no number was free */
		v->cause = "descriptors_dropped";
		v->certain = counted && r->fds >= r->fd_soft;
		break;
	case EMFILE:
		if (counted && (uint64_t)r->fds + room >= r->fd_soft) {
			v->cause = "rlimit_nofile";
			v->certain = true;
			add(v, "fds", r->fds, r->fd_soft);
		} else if (r->call == FS_CALL_INOTIFY) {
			v->cause = "inotify_instances";
			v->certain = counted;
			add(v, "fs.inotify.max_user_instances", l->inotify_instances,
			    l->inotify_instances);
		}
		break;
	case ENFILE:
		v->cause = r->call == FS_CALL_PIPE ? "unknown" : "file_max";
		v->certain = l->file_nr >= l->file_max && r->call != FS_CALL_PIPE;
		add(v, "file_nr", l->file_nr, l->file_max);
		break;
	case EBADF:
	case EINVAL: {
		uint64_t number = r->error == EBADF ? r->args[1] : r->args[2];
		bool past = number >= r->fd_soft;

		v->cause = past		       ? "descriptor_number_limit"
			   : r->error == EBADF ? "bad_descriptor"
					       : "bad_argument";
		v->certain = true;
		if (past)
			add(v, "number", number, r->fd_soft);
		break;
	}
	}
	if (!v->nr_evidence && counted)
		add(v, "fds", r->fds, r->fd_soft);
}

void cause_of(const struct fs_refused_record *r, const struct fs_limits *l, const char *arch,
	      struct verdict *ret)
{
	struct fs_limits sane = *l;

	if (!sane.page_bytes)
		sane.page_bytes = 4096;
	memset(ret, 0, sizeof(*ret));
	if (r->call < FS_CALL_FD_FIRST)
		cause_of_mapping(r, &sane, arch, ret);
	else
		cause_of_descriptor(r, &sane, ret);
}
