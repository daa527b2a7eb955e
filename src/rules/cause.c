// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "rules/cause.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"

/* include/uapi/asm-generic/mman*.h: the same on every architecture we run on but alpha and parisc
 */
#define F_MAP_PRIVATE	0x02
#define F_MAP_TYPE	0x0f
#define F_MAP_ANONYMOUS 0x20
#define F_MAP_LOCKED	0x2000
#define F_MAP_NORESERVE 0x4000
#define F_MAP_HUGETLB	0x40000
#define F_PROT_WRITE	2
#define TASK_BITS	47 /* x86-64 and arm64 user space without a hint above it */

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

struct request {
	const struct fs_refused_record *r;
	const struct fs_limits *l;
	uint64_t pages; /* asked for on top of what there is */
	bool writable;	/* private and writable: accountable */
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

static bool is_split(unsigned int call)
{
	return call == FS_CALL_MUNMAP || call == FS_CALL_MPROTECT || call == FS_CALL_MADVISE ||
	       call == FS_CALL_MLOCK || call == FS_CALL_MUNLOCK;
}

/* A check: whether its limit refuses the request. Evidence goes to `v`. */
struct check {
	const char *cause;
	bool (*refuses)(const struct request *q, struct verdict *v, bool *ret_certain);
};

static bool past_map_count(const struct request *q, struct verdict *v, bool *ret_certain)
{
	uint64_t count = q->r->map_count, max = q->l->max_map_count;
	bool hit;

	if (!max)
		return false;
	if (is_split(q->r->call))
		hit = count >= max; /* __split_vma() */
	else if (q->r->call == FS_CALL_MREMAP)
		hit = count + 3 >= max; /* move_vma() wants room for its splits */
	else
		hit = count > max; /* do_mmap(), do_brk_flags() */
	if (!hit)
		return false;
	add(v, "map_count", count, max);
	/* A hole in the range gives the same answer, and is not looked for here. */
	*ret_certain = !is_split(q->r->call) || q->r->call == FS_CALL_MUNMAP ||
		       (q->r->call == FS_CALL_MADVISE && q->r->error == EAGAIN);
	return true;
}

static bool past_task_size(const struct request *q, struct verdict *v, bool *ret_certain)
{
	uint64_t length = q->r->call == FS_CALL_MREMAP ? q->r->args[2] : q->r->args[1];

	if (q->r->call == FS_CALL_BRK || is_split(q->r->call) || q->r->call == FS_CALL_SHMAT)
		return false;
	if (!(length >> TASK_BITS))
		return false;
	add(v, "length_bytes", length, 1ULL << TASK_BITS);
	*ret_certain = true;
	return true;
}

static bool past_as(const struct request *q, struct verdict *v, bool *ret_certain)
{
	uint64_t limit = limit_pages(q, q->r->as_limit_bytes);

	if (is_split(q->r->call) || limit == UINT64_MAX || q->r->total_vm_pages + q->pages <= limit)
		return false;
	add_sum(v, "total_vm_pages", q->r->total_vm_pages, q->pages, limit);
	*ret_certain = true;
	return true;
}

static bool past_data(const struct request *q, struct verdict *v, bool *ret_certain)
{
	uint64_t limit = q->r->data_limit_bytes;

	if (limit == UINT64_MAX)
		return false;
	if (q->r->call == FS_CALL_BRK) {
		/* check_data_rlimit(): the heap, in bytes, before anything else is asked */
		uint64_t more = q->r->args[0] - (uint64_t)q->r->ret;

		if (q->r->heap_bytes + more > limit) {
			add_sum(v, "heap_bytes", q->r->heap_bytes, more, limit);
			*ret_certain = true;
			return true;
		}
	}
	if (!q->writable || q->r->data_vm_pages + q->pages <= limit_pages(q, limit))
		return false;
	add_sum(v, "data_vm_pages", q->r->data_vm_pages, q->pages, limit_pages(q, limit));
	*ret_certain = true;
	return true;
}

static bool past_memlock(const struct request *q, struct verdict *v, bool *ret_certain)
{
	uint64_t limit = limit_pages(q, q->r->memlock_limit_bytes);
	bool locks = q->r->call == FS_CALL_MLOCK || q->r->def_flags_locked ||
		     (q->r->call == FS_CALL_MMAP && q->r->args[3] & F_MAP_LOCKED);

	if (!locks || q->r->cap_ipc_lock || limit == UINT64_MAX ||
	    q->r->locked_vm_pages + q->pages <= limit)
		return false;
	add_sum(v, "locked_vm_pages", q->r->locked_vm_pages, q->pages, limit);
	*ret_certain = true;
	return true;
}

static bool past_hugetlb(const struct request *q, struct verdict *v, bool *ret_certain)
{
	return q->r->call == FS_CALL_MMAP && q->r->args[3] & F_MAP_HUGETLB;
}

static bool past_commit(const struct request *q, struct verdict *v, bool *ret_certain)
{
	uint64_t asked = q->pages * q->l->page_bytes;

	if (!q->writable || q->l->overcommit_memory != 2 ||
	    q->l->committed_bytes + asked < q->l->commit_limit_bytes)
		return false;
	/* Committed_AS was read at the last look: near enough to name, not to be certain. */
	add_sum(v, "committed_bytes", q->l->committed_bytes, asked, q->l->commit_limit_bytes);
	return true;
}

static bool past_heuristic(const struct request *q, struct verdict *v, bool *ret_certain)
{
	uint64_t asked = q->pages * q->l->page_bytes;
	uint64_t have = q->l->mem_total_bytes + q->l->swap_total_bytes;

	if (!q->writable || q->l->overcommit_memory != 0 || !have || asked <= have ||
	    (q->r->call == FS_CALL_MMAP && q->r->args[3] & F_MAP_NORESERVE))
		return false;
	add(v, "asked_bytes", asked, have);
	*ret_certain = true;
	return true;
}

/* In the kernel's order for mmap; brk looks at the heap first, which past_data() knows. */
static const struct check mapping_checks[] = {
	{"max_map_count", past_map_count},  {"address_space", past_task_size},
	{"rlimit_memlock", past_memlock},   {"rlimit_as", past_as},
	{"rlimit_data", past_data},	    {"hugetlb_pool", past_hugetlb},
	{"overcommit_strict", past_commit}, {"overcommit_heuristic", past_heuristic},
};

static void run_checks(const struct request *q, struct verdict *v)
{
	for (size_t i = 0; i < sizeof(mapping_checks) / sizeof(mapping_checks[0]); i++) {
		const struct check *c = &mapping_checks[i];
		struct verdict scratch = {};
		bool certain = false;

		if (!c->refuses(q, v->cause ? &scratch : v, &certain))
			continue;
		if (!v->cause) {
			v->cause = c->cause;
			v->certain = certain;
		} else if (v->nr_next < NEXT_MAX) {
			v->next[v->nr_next++] = c->cause;
		}
	}
}

static void describe(const struct request *q, struct verdict *v)
{
	add(v, "map_count", q->r->map_count, q->l->max_map_count);
	add_sum(v, "total_vm_pages", q->r->total_vm_pages, q->pages,
		limit_pages(q, q->r->as_limit_bytes));
	add_sum(v, "data_vm_pages", q->r->data_vm_pages, q->writable ? q->pages : 0,
		limit_pages(q, q->r->data_limit_bytes));
}

static uint64_t to_pages(const struct request *q, uint64_t bytes)
{
	return bytes / q->l->page_bytes + !!(bytes % q->l->page_bytes);
}

static void read_request(struct request *q)
{
	const __u64 *a = q->r->args;

	switch (q->r->call) {
	case FS_CALL_MMAP:
		q->pages = to_pages(q, a[1]);
		q->writable = (a[3] & F_MAP_TYPE) == F_MAP_PRIVATE && a[2] & F_PROT_WRITE;
		break;
	case FS_CALL_MREMAP:
		q->pages = a[2] > a[1] ? to_pages(q, a[2]) - to_pages(q, a[1]) : 0;
		q->writable = true;
		break;
	case FS_CALL_BRK:
		q->pages = to_pages(q, a[0] - (uint64_t)q->r->ret);
		q->writable = true;
		break;
	case FS_CALL_MPROTECT:
		q->pages = to_pages(q, a[1]);
		q->writable = a[2] & F_PROT_WRITE;
		break;
	case FS_CALL_MLOCK:
		q->pages = to_pages(q, a[1]);
		break;
	}
}

/* What an errno alone decides. NULL where it does not. */
static const char *by_errno(const struct request *q, bool *ret_certain)
{
	bool anonymous = q->r->call != FS_CALL_MMAP || q->r->args[3] & F_MAP_ANONYMOUS;

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
		*ret_certain = !anonymous;
		return "not_mappable";
	case EPERM:
		if (q->r->call == FS_CALL_MMAP && q->r->args[0] < q->l->mmap_min_addr &&
		    q->r->args[3] & 0x10 /* MAP_FIXED */)
			return "min_address";
		if (!q->r->memlock_limit_bytes && !q->r->cap_ipc_lock)
			return "rlimit_memlock";
		break;
	}
	*ret_certain = false;
	return NULL;
}

static void cause_of_mapping(const struct fs_refused_record *r, const struct fs_limits *l,
			     struct verdict *v)
{
	struct request q = {.r = r, .l = l};

	read_request(&q);
	v->cause = by_errno(&q, &v->certain);
	if (v->cause)
		return;
	if (r->error == ENOMEM || r->error == EAGAIN || r->call == FS_CALL_BRK)
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
	case EINVAL:
		v->cause = "descriptor_number_limit";
		v->certain = true;
		add(v, "number", r->error == EBADF ? r->args[1] : r->args[2], r->fd_soft);
		break;
	}
	if (!v->nr_evidence && counted)
		add(v, "fds", r->fds, r->fd_soft);
}

void cause_of(const struct fs_refused_record *r, const struct fs_limits *l, struct verdict *ret)
{
	struct fs_limits sane = *l;

	if (!sane.page_bytes)
		sane.page_bytes = 4096;
	memset(ret, 0, sizeof(*ret));
	if (r->call < FS_CALL_FD_FIRST)
		cause_of_mapping(r, &sane, ret);
	else
		cause_of_descriptor(r, &sane, ret);
}
