// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "rules/cause.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "rules/request.h"

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
	"fanotify_groups",
	"rlimit_msgqueue",
	"epoll_watches",
	"pipe_pages",
	"descriptors_dropped",
	"rlimit_nproc",
	"cgroup_pids",
	"threads_max",
	"tmpfs_size",
	"tmpfs_quota",
	"hugetlbfs_size",
	"shmmax",
	"shmall",
	"shmmni",
	"semmsl",
	"semmns",
	"semmni",
	"msgmni",
	"device",
	"device_right",
	"device_busy",
	"max_user_namespaces",
	"max_pid_namespaces",
	"max_uts_namespaces",
	"max_ipc_namespaces",
	"max_net_namespaces",
	"max_mnt_namespaces",
	"max_cgroup_namespaces",
	"max_time_namespaces",
	"namespace_depth",
	"fanotify_marks",
	"rlimit_sigpending",
	"mount_max",
	"pid_max",
	"fds_in_flight",
	"optmem_max",
	"igmp_max_memberships",
	"mqueue_queues_max",
	"mqueue_msg_max",
	"mqueue_msgsize_max",
	"msgmax",
	"semopm",
	"protection_keys",
	"polled_fds",
	"rlimit_fsize",
	"maxkeys",
	"maxbytes",
	"aio_max_nr",
	"pty_max",
	"hardware_breakpoints",
	"file_quota",
	"unknown",
	NULL,
};

static struct evidence *new_evidence(struct verdict *v, const char *field)
{
	if (v->nr_evidence == EVIDENCE_MAX)
		return NULL;
	return evidence_init(&v->evidence[v->nr_evidence++], field);
}

void verdict_sum(struct verdict *v, const char *field, enum evidence_unit unit, uint64_t have,
		 uint64_t asked, uint64_t limit)
{
	struct evidence *e = new_evidence(v, field);

	if (!e)
		return;
	evidence_set(e, unit, have);
	evidence_limit(e, limit);
	e->asked = asked;
}

void verdict_count(struct verdict *v, const char *field, enum evidence_unit unit, uint64_t value,
		   uint64_t limit)
{
	verdict_sum(v, field, unit, value, 0, limit);
}

void verdict_figure(struct verdict *v, const char *field, enum evidence_unit unit, uint64_t value)
{
	struct evidence *e = new_evidence(v, field);

	if (e)
		evidence_set(e, unit, value);
}

void verdict_text(struct verdict *v, const char *field, const char *value)
{
	struct evidence *e = new_evidence(v, field);

	if (e)
		evidence_about(e, "%s", value);
}

void verdict_address(struct verdict *v, const char *field, uint64_t address)
{
	struct evidence *e = new_evidence(v, field);

	if (e)
		evidence_about(e, "0x%" PRIx64, address);
}

void verdict_need(struct verdict *v, uint64_t held, uint64_t asked)
{
	v->asked = asked;
	v->need = held < UINT64_MAX - asked ? held + asked : UINT64_MAX;
}

void verdict_set(struct verdict *v, const char *cause, bool certain)
{
	v->cause = cause;
	v->certain = certain;
}

uint64_t limit_pages(const struct request *q, uint64_t bytes)
{
	return bytes == UINT64_MAX ? UINT64_MAX : bytes / q->l->page_bytes;
}

/*
 * Returns how many bytes of the commit limit __vm_enough_memory() (mm/util.c) keeps in reserve.
 * Unless the caller has CAP_SYS_ADMIN, 8 MiB are reserved. In addition, 1/32 of the size of the
 * process is reserved, at most 128 MiB.
 *
 * 8 MiB and 128 MiB are the defaults of vm.admin_reserve_kbytes and vm.user_reserve_kbytes.
 */
static uint64_t kept_back(const struct request *q)
{
	uint64_t for_root = has_fact(q, FACT_ADMIN) ? 0 : 8ULL << 20;
	uint64_t of_process = q->r->total_vm_pages / 32 * q->l->page_bytes;

	return for_root + (of_process < 128ULL << 20 ? of_process : 128ULL << 20);
}

bool past_commit(const struct request *q, struct verdict *v, bool *ret_sure)
{
	uint64_t asked = q->pages * q->l->page_bytes;

	if (!q->accounted || q->l->overcommit_memory != 2)
		return false;
	if (q->l->committed_bytes + asked + kept_back(q) < q->l->commit_limit_bytes &&
	    !has_fact(q, FACT_SAID_COMMIT))
		return false;
	/*
	 * Committed_AS was read later than the call failed, and may have fallen since. The cause is
	 * certain only if the kernel logged its message about the failed request.
	 */
	*ret_sure = has_fact(q, FACT_SAID_COMMIT);
	verdict_need(v, q->l->committed_bytes + kept_back(q), asked);
	verdict_sum(v, "committed_bytes", IN_BYTES, q->l->committed_bytes, asked,
		    q->l->commit_limit_bytes);
	if (*ret_sure)
		verdict_text(v, "kernel log", "not enough memory for the allocation");
	return true;
}

bool past_heuristic(const struct request *q, struct verdict *v, bool *ret_sure)
{
	uint64_t asked = q->pages * q->l->page_bytes;
	uint64_t have = q->l->mem_total_bytes + q->l->swap_total_bytes;

	if (!q->accounted || q->no_reserve || q->l->overcommit_memory != 0 || !have ||
	    (asked <= have && !has_fact(q, FACT_SAID_COMMIT)))
		return false;
	if (q->by_name)
		*ret_sure = has_fact(q, FACT_SAID_COMMIT);
	verdict_need(v, 0, asked);
	verdict_count(v, "requested_bytes", IN_BYTES, asked, have);
	return true;
}

/*
 * The kernel charges pages to a cgroup in batches of MEMCG_CHARGE_BATCH (64) pages. The usage of a
 * cgroup at its limit may therefore be up to 64 pages below the limit.
 */
#define CGROUP_SLACK_PAGES 64

bool past_cgroup_memory(const struct request *q, struct verdict *v, bool *ret_sure)
{
	const struct level_room *m = &q->r->memory;

	if (!m->known || m->limit == UINT64_MAX || m->used + CGROUP_SLACK_PAGES < m->limit)
		return false;
	/* the cgroup is near its limit; no record shows whether this charge failed */
	*ret_sure = false;
	verdict_need(v, m->used * q->l->page_bytes, q->pages * q->l->page_bytes);
	verdict_count(v, "cgroup_memory_pages", IN_PAGES, m->used, m->limit);
	if (m->up)
		verdict_figure(v, "levels_above_own_cgroup", IN_COUNT, m->up);
	return true;
}

/*
 * Clears the limit value that a check stored. The check is not the cause, because the call failed
 * with another errno.
 */
static void forget_need(struct verdict *v)
{
	v->need = v->asked = 0;
	v->limit = NULL;
}

static void run_step(const struct request *q, const struct step *c, struct verdict *v)
{
	struct verdict scratch = {};
	size_t had = v->nr_evidence;
	bool sure = true;

	if (!c->refuses(q, v->cause ? &scratch : v, &sure))
		return;
	if (v->cause) {
		/*
		 * The cause is known already. This limit is named as the next one only if the check
		 * compared values and is certain.
		 */
		if (sure && scratch.nr_evidence && v->nr_next < NEXT_MAX &&
		    strcmp(c->cause, v->cause))
			v->next[v->nr_next++] = c->cause;
	} else if (c->error == q->r->error || c->error == ANY_ERROR) {
		verdict_set(v, c->cause, sure);
	} else {
		v->nr_evidence = had;
		forget_need(v);
	}
}

void run_steps(const struct request *q, const struct step *steps, size_t n, struct verdict *v)
{
	for (size_t i = 0; i < n; i++)
		run_step(q, &steps[i], v);
}

/* Returns the size of the user address space; UINT64_MAX for architectures that are not known. */
static uint64_t space_of(const char *arch)
{
	return !strcmp(arch, "x86_64")	  ? 1ULL << 47
	       : !strcmp(arch, "aarch64") ? 1ULL << 48
					  : UINT64_MAX;
}

static void overlay(const struct refused_record *r, enum variable which, uint64_t unit,
		    __u64 *limit)
{
	if (r->variables & 1U << which)
		*limit = r->variable[which] * unit;
}

/*
 * Computes CommitLimit from the values in the record, as the kernel's vm_commit_limit() does. The
 * kernel subtracts the pools of huge pages, whose size the record lacks. If there are huge pages,
 * CommitLimit keeps the value of /proc/meminfo.
 */
static void overlay_commit_limit(const struct refused_record *r, struct host_limits *l)
{
	const uint32_t need = 1U << VARIABLE_OVERCOMMIT_RATIO | 1U << VARIABLE_OVERCOMMIT_KBYTES |
			      1U << VARIABLE_RAM_PAGES | 1U << VARIABLE_SWAP_PAGES;
	const __u64 *v = r->variable;
	uint64_t pages;

	if ((r->variables & need) != need || l->huge_pages)
		return;
	if (v[VARIABLE_OVERCOMMIT_KBYTES])
		pages = v[VARIABLE_OVERCOMMIT_KBYTES] * 1024 / l->page_bytes;
	else
		pages = v[VARIABLE_RAM_PAGES] * v[VARIABLE_OVERCOMMIT_RATIO] / 100;
	l->commit_limit_bytes = (pages + v[VARIABLE_SWAP_PAGES]) * l->page_bytes;
}

/*
 * Some limits were read from /proc a little after the failure. Replaces them by the values that the
 * BPF program read at the failure.
 */
static void overlay_variables(const struct refused_record *r, struct host_limits *l)
{
	overlay(r, VARIABLE_MAX_MAP_COUNT, 1, &l->max_map_count);
	overlay(r, VARIABLE_RAM_PAGES, l->page_bytes, &l->mem_total_bytes);
	overlay(r, VARIABLE_SWAP_PAGES, l->page_bytes, &l->swap_total_bytes);
	overlay(r, VARIABLE_NR_OPEN, 1, &l->nr_open);
	overlay(r, VARIABLE_FILE_MAX, 1, &l->file_max);
	overlay(r, VARIABLE_PIPE_HARD, 1, &l->pipe_pages_hard);
	overlay(r, VARIABLE_PIPE_MAX, 1, &l->pipe_max_bytes);
	overlay(r, VARIABLE_THREADS_MAX, 1, &l->threads_max);
	overlay(r, VARIABLE_THREADS, 1, &l->threads);
	overlay(r, VARIABLE_EPOLL_WATCHES, 1, &l->epoll_watches);
	if (r->variables & 1U << VARIABLE_OVERCOMMIT)
		l->overcommit_memory = r->variable[VARIABLE_OVERCOMMIT];
	overlay_commit_limit(r, l);
}

/*
 * If a seccomp filter failed the call, the kernel checked no limit. The cause is then uncertain,
 * even if a limit would explain the errno.
 *
 * faultscope cannot detect a ptrace tracer that failed the call. Such a tracer replaces the system
 * call number, or changes the result after the BPF program ran.
 */
static void answered_by_others(const struct request *q, struct verdict *v)
{
	if (!has_fact(q, FACT_FILTERED))
		return;
	verdict_text(v, "seccomp", "a filter may have answered");
	v->certain = false;
}

void cause_of(const struct refused_record *r, const struct host_limits *l, const char *arch,
	      struct verdict *ret)
{
	struct host_limits sane = *l;
	struct request q = {.r = r, .l = &sane, .space_bytes = space_of(arch)};

	if (!sane.page_bytes)
		sane.page_bytes = 4096;
	memset(ret, 0, sizeof(*ret));
	overlay_variables(r, &sane);
	if (r->call < CALL_FD_FIRST)
		cause_of_mapping(&q, ret);
	else if (r->call < CALL_OTHER_FIRST)
		cause_of_descriptor(&q, ret);
	else
		cause_of_other(&q, ret);
	if (!ret->cause)
		verdict_set(ret, "unknown", false);
	answered_by_others(&q, ret);
}
