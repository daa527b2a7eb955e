/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Makes records like those of BPF programs, for tests. */
#ifndef FS_TESTS_FIXTURE_H
#define FS_TESTS_FIXTURE_H

#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/model.h"
#include "records/records.h"

#define SECOND 1000000000ULL
#define RECORD(type, k, t)                                                                         \
	((struct type){.h = {.kind = (k), .len = sizeof(struct type), .t_ns = (t)}})

static inline struct process_record process_record(uint32_t pid, uint64_t birth, uint64_t t_ns)
{
	struct process_record r = RECORD(process_record, RECORD_PROCESS, t_ns);

	r.subject.pid = pid;
	r.subject.start_ns = birth;
	r.g.fd_soft = 1024;
	r.g.fd_hard = 1048576;
	r.g.as_limit_bytes = r.g.data_limit_bytes = UINT64_MAX;
	r.g.memlock_limit_bytes = 8 << 20;
	r.g.map_count = r.g.map_high = 100;
	r.g.fds = r.g.fd_high = 4;
	r.g.threads = 1;
	r.u.user_threads = r.u.user_threads_limit = UINT64_MAX;
	snprintf(r.g.comm, sizeof(r.g.comm), "proc%u", pid);
	return r;
}

static inline struct tick_record tick_record(uint64_t t_ns)
{
	struct tick_record r = RECORD(tick_record, RECORD_TICK, t_ns);

	r.limits.max_map_count = 65530;
	r.limits.file_max = 1000000;
	r.limits.file_nr = 1000;
	r.limits.nr_open = 1048576;
	r.limits.threads_max = 1 << 20;
	r.limits.pid_max = 1 << 22;
	r.limits.commit_limit_bytes = 8ULL << 30;
	r.limits.committed_bytes = 1ULL << 30;
	r.limits.mem_total_bytes = 8ULL << 30;
	r.limits.swap_total_bytes = r.limits.swap_free_bytes = 1ULL << 30;
	r.limits.inotify_instances = 128;
	r.limits.mmap_min_addr = 65536;
	r.limits.page_bytes = 4096;
	r.own_rss_bytes = 4 << 20;
	return r;
}

/* Returns a sampled write fault in anonymous memory. The sample represents `weight` faults. */
static inline struct sample_record sample_record(uint32_t pid, uint64_t birth, uint64_t t_ns,
						 uint32_t weight)
{
	struct sample_record r = RECORD(sample_record, RECORD_SAMPLE, t_ns);

	r.subject.pid = r.tid = pid;
	r.subject.start_ns = birth;
	r.weight = weight;
	r.class = CLASS_ANONYMOUS;
	r.stack = 1;
	r.address = 0x7f0000003008;
	r.area_from = 0x7f0000000000;
	r.area_to = 0x7f0000100000;
	r.took_ns = 1500;
	r.kind = HOLDING_ANONYMOUS;
	return r;
}

static inline struct host_record host_record(uint64_t t_ns)
{
	struct host_record r = RECORD(host_record, RECORD_HOST, t_ns);

	r.wall_ns = 1700000000 * SECOND;
	r.interval_ns = SECOND;
	r.tiers = 0xf;
	r.cpus = 2;
	strcpy(r.version, "1.2.3");
	strcpy(r.kernel, "6.1.0");
	strcpy(r.arch, "x86_64");
	strcpy(r.host, "host");
	strcpy(r.boot_id, "0-1-2");
	strcpy(r.mode, "all");
	return r;
}

static inline struct hook_record hook_record(const char *name, enum hook_use state)
{
	struct hook_record r = RECORD(hook_record, RECORD_HOOK, 1);

	r.state = state;
	r.tier = 1;
	snprintf(r.name, sizeof(r.name), "%s", name);
	snprintf(r.mechanism, sizeof(r.mechanism), "%s", state == HOOK_ON ? "tp_btf" : "");
	snprintf(r.why, sizeof(r.why), "%s", state == HOOK_ON ? "" : "tp_btf: EPERM");
	return r;
}

/* Sets the number of open fds, all of them with numbers below the soft limit. */
static inline void hold_fds(struct refused_record *r, uint32_t fds)
{
	r->fds = fds;
	r->fds_free = r->fd_soft > fds ? r->fd_soft - fds : 0;
}

static inline struct refused_record refused_record(uint32_t pid, enum call_id call, int error)
{
	struct refused_record r = RECORD(refused_record, RECORD_REFUSED, 2 * SECOND);

	r.subject.pid = r.tid = pid;
	r.subject.start_ns = 1;
	r.call = call;
	r.error = error;
	r.count = 1;
	r.ret = -error;
	r.total_vm_pages = 1000;
	r.data_vm_pages = 500;
	r.as_limit_bytes = r.data_limit_bytes = r.memlock_limit_bytes = UINT64_MAX;
	r.stack_limit_bytes = 8 << 20;
	r.nproc_limit = UINT64_MAX;
	r.fd_soft = 1024;
	r.map_count = 100;
	hold_fds(&r, 10);
	r.range.hole = UINT64_MAX;
	r.memory.limit = r.pids.limit = UINT64_MAX;
	memset(&r.user, 0xff, sizeof(r.user));
	r.stack = -1;
	snprintf(r.comm, sizeof(r.comm), "proc%u", pid);
	return r;
}

static inline struct kernel_fault_record kernel_fault_record(uint32_t pid, uint64_t ip,
							     bool nofault)
{
	struct kernel_fault_record r = RECORD(kernel_fault_record, RECORD_KERNEL_FAULT, 2 * SECOND);

	r.subject.pid = r.tid = pid;
	r.subject.start_ns = 1;
	r.ip = ip;
	r.address = 0xffff888000000000ULL;
	r.count = 1;
	r.nofault = nofault;
	strcpy(r.comm, "oops");
	return r;
}

static const char *const fixture_hooks[] = {"scan",	 "lifecycle", "fault_begin",
					    "fault_kernel", "signal",	 "oom",
					    "fault_class",  "compaction", "map_area",
					    "fault_end",    "mmap_lock",  "calls"};
#define NR_FIXTURE_HOOKS (sizeof(fixture_hooks) / sizeof(fixture_hooks[0]))

/*
 * Initializes a model with records of a host, of all probes, and of a scan at 1 s. The probe
 * `blind` is unavailable (NULL: all probes work).
 */
static inline void begin_model(struct model *m, const char *blind)
{
	struct host_record host = host_record(SECOND / 2);
	struct tick_record tick = tick_record(SECOND);

	if (model_init(m))
		abort();
	model_take(m, &host.h);
	for (size_t i = 0; i < NR_FIXTURE_HOOKS; i++) {
		const char *name = fixture_hooks[i];
		bool off = blind && !strcmp(blind, name);
		struct hook_record h = hook_record(name, off ? HOOK_BLIND : HOOK_ON);

		model_take(m, &h.h);
	}
	model_take(m, &tick.h);
	model_next_window(m);
}

/* Directory for files of a test. The process that made it removes it when it exits. */
static char fixture_dir[64];
static pid_t fixture_owner;

static inline void fixture_clean(void)
{
	char *dirs[] = {fixture_dir, NULL};
	FTS *tree = getpid() == fixture_owner ? fts_open(dirs, FTS_PHYSICAL, NULL) : NULL;

	for (FTSENT *one; tree && (one = fts_read(tree));)
		if (one->fts_info != FTS_D)
			remove(one->fts_accpath);
	if (tree)
		fts_close(tree);
}

static inline const char *fixture_path(const char *name)
{
	static char path[4][160];
	static unsigned int turn;
	char *p = path[turn++ & 3];

	if (!fixture_dir[0]) {
		snprintf(fixture_dir, sizeof(fixture_dir), "/tmp/fs-unit-XXXXXX");
		if (!mkdtemp(fixture_dir) || atexit(fixture_clean))
			abort();
		fixture_owner = getpid();
	}
	snprintf(p, sizeof(path[0]), "%s/%s", fixture_dir, name);
	return p;
}

#endif
