// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/fields.h"

#include <string.h>

#include "base/array.h"
#include "model/resources.h"

uint64_t count_kinds(const struct fs_counters *c, int kernel, int access, int protection)
{
	uint64_t sum = 0;

	for (int i = 0; i < FS_NR_FAULT_KINDS; i++) {
		if (kernel >= 0 && !!(i & FS_FAULT_KERNEL) != kernel)
			continue;
		if (access >= 0 && (i >> 1 & 3) != access)
			continue;
		if (protection >= 0 && (i & FS_FAULT_PROT) != protection)
			continue;
		sum += c->fault_kind[i];
	}
	return sum;
}

#define GETTER(name, expression)                                                                   \
	static bool get_##name(const struct model *m, const struct subject *s,                     \
			       const struct facts *f, uint64_t *ret)                               \
	{                                                                                          \
		const struct fs_counters *c = facts_counters(f);                                   \
		const struct fs_gauges *g = &f->g;                                                 \
		(void)m, (void)s, (void)c, (void)g;                                                \
		*ret = (expression);                                                               \
		return true;                                                                       \
	}

static uint64_t above(uint64_t v, uint64_t base)
{
	return v > base ? v - base : 0;
}

static uint64_t maps_refused(const struct fs_counters *c)
{
	uint64_t sum = 0;

	for (int i = 0; i < FS_NR_MAP_CALLS; i++)
		sum += c->map_call[i].refused;
	return sum;
}

static uint64_t map_calls(const struct fs_counters *c, enum fs_call call)
{
	return c->map_call[call - FS_CALL_MMAP].calls;
}

static uint64_t fd_refused(const struct fs_counters *c)
{
	uint64_t sum = 0;

	for (int i = 0; i < FS_NR_FD_CALLS; i++)
		sum += c->fd_call[i].refused;
	return sum;
}

static bool get_created(const struct model *m, const struct subject *s, const struct facts *f,
			uint64_t *ret)
{
	const struct fs_counters *c = facts_counters(f);

	if (model_hook_on(m, "calls"))
		*ret = map_calls(c, FS_CALL_MMAP) + map_calls(c, FS_CALL_SHMAT);
	else if (model_hook_on(m, "map_area"))
		*ret = c->unmapped_area;
	else
		return false;
	return true;
}

/* By the hook of its own, or by one that sees both modes. */
static bool get_kernel(const struct model *m, const struct subject *s, const struct facts *f,
		       uint64_t *ret)
{
	*ret = count_kinds(facts_counters(f), 1, -1, -1);
	if (model_hook_has(m, "fault_begin", FS_SEES_KERNEL))
		return true;
	return model_hook_on(m, "fault_kernel") &&
	       !model_hook_has(m, "fault_kernel", FS_LACKS_COPIES);
}

static bool get_map_count(const struct model *m, const struct subject *s, const struct facts *f,
			  uint64_t *ret)
{
	*ret = f->g.map_count;
	return !(f->g.flags & FS_PROC_NO_COUNT);
}

static bool get_map_high(const struct model *m, const struct subject *s, const struct facts *f,
			 uint64_t *ret)
{
	*ret = f->g.map_high;
	return !(f->g.flags & FS_PROC_NO_COUNT);
}

static bool get_map_limit(const struct model *m, const struct subject *s, const struct facts *f,
			  uint64_t *ret)
{
	*ret = resource_limit(m, s, RESOURCE_MAPS);
	return *ret != 0;
}

GETTER(minor, above(g->min_flt, s->base_min))
GETTER(major, above(g->maj_flt, s->base_maj))
GETTER(user, count_kinds(c, 0, -1, -1))
GETTER(read, count_kinds(c, -1, FS_FAULT_READ, -1))
GETTER(write, count_kinds(c, -1, FS_FAULT_WRITE, -1))
GETTER(exec, count_kinds(c, -1, FS_FAULT_EXEC, -1))
GETTER(not_present, count_kinds(c, -1, -1, 0))
GETTER(protection, count_kinds(c, -1, -1, 1))
GETTER(failed, c->fault_failed)
GETTER(kernel_bad, c->kernel_bad)
GETTER(kernel_probe, c->kernel_probe)
GETTER(stall, c->stall_ns[0] + c->stall_ns[1])
GETTER(sigbus, c->fault_sigbus)
GETTER(poison, c->fault_poison)
GETTER(killed, c->fault_killed)
GETTER(read_bytes, c->fault_read_bytes)
GETTER(reclaim, c->wait[FS_WAIT_RECLAIM].in_faults_ns)
GETTER(compaction, c->wait[FS_WAIT_COMPACTION].in_faults_ns)
GETTER(lock, c->wait[FS_WAIT_LOCK].in_faults_ns)
GETTER(disk, c->wait[FS_WAIT_DISK].in_faults_ns)
GETTER(locks, c->wait[FS_WAIT_LOCK].count)
GETTER(lock_all, c->wait[FS_WAIT_LOCK].ns)
GETTER(reclaims, c->wait[FS_WAIT_RECLAIM].count)
GETTER(reclaim_all, c->wait[FS_WAIT_RECLAIM].ns)
GETTER(compactions, c->wait[FS_WAIT_COMPACTION].count)
GETTER(compaction_all, c->wait[FS_WAIT_COMPACTION].ns)
GETTER(removed, map_calls(c, FS_CALL_MUNMAP) + map_calls(c, FS_CALL_SHMDT))
GETTER(map_refused, maps_refused(c))
GETTER(fds, g->fds)
GETTER(fd_soft, resource_limit(m, s, RESOURCE_FDS))
GETTER(fd_hard, g->fd_hard)
GETTER(fd_high, s->fds_high > g->fd_high ? s->fds_high : g->fd_high)
GETTER(opened, f->fds_opened)
GETTER(closed, f->fds_closed)
GETTER(fd_refused, fd_refused(c))
GETTER(close_failed, c->close_failed)
GETTER(selects_wide, c->selects_wide)
GETTER(cpu, above(f->u.cpu_ns, s->base_cpu_ns))
GETTER(rss, gauges_rss_pages(g) * m->tick.limits.page_bytes)
GETTER(swap, gauges_swap_pages(g) * m->tick.limits.page_bytes)
GETTER(vm, g->total_vm_pages * m->tick.limits.page_bytes)
GETTER(data, g->data_vm_pages * m->tick.limits.page_bytes)
GETTER(locked, g->locked_vm_pages * m->tick.limits.page_bytes)
GETTER(threads, g->threads)
GETTER(execs, g->execs)

#define COUNTER FIELD_COUNTER
#define GAUGE	FIELD_GAUGE

const struct field fields[] = {
	{"", "threads", "THR", UNIT_COUNT, GAUGE, NULL, "threads alive", get_threads},
	{"", "cpu_ns", NULL, UNIT_NS, COUNTER, NULL, "CPU time of all threads, dead ones too",
	 get_cpu},
	{"", "execs", NULL, UNIT_COUNT, COUNTER, "life", "execve calls that succeeded", get_execs},
	{"faults", "minor", "MINFLT", UNIT_COUNT, COUNTER, NULL,
	 "minor faults, as getrusage counts them", get_minor},
	{"faults", "major", "MAJFLT", UNIT_COUNT, COUNTER, NULL,
	 "major faults, as getrusage counts them", get_major},
	{"faults", "user", NULL, UNIT_COUNT, COUNTER, "fault_begin", "faults in user mode",
	 get_user},
	{"faults", "kernel", NULL, UNIT_COUNT, COUNTER, NULL,
	 "faults in kernel mode on behalf of the process: user copies", get_kernel},
	{"faults", "read", NULL, UNIT_COUNT, COUNTER, "fault_begin", "faults of a read", get_read,
	 FS_LACKS_ACCESS},
	{"faults", "write", NULL, UNIT_COUNT, COUNTER, "fault_begin", "faults of a write",
	 get_write, FS_LACKS_ACCESS},
	{"faults", "exec", NULL, UNIT_COUNT, COUNTER, "fault_begin",
	 "faults of an instruction fetch", get_exec, FS_LACKS_ACCESS},
	{"faults", "not_present", NULL, UNIT_COUNT, COUNTER, "fault_begin",
	 "faults on a page that was not there", get_not_present, FS_LACKS_PROTECTION},
	{"faults", "protection", NULL, UNIT_COUNT, COUNTER, "fault_begin",
	 "faults on a page that was there but not for this access: copy-on-write, mostly",
	 get_protection, FS_LACKS_PROTECTION},
	{"faults", "failed", NULL, UNIT_COUNT, COUNTER, "signal",
	 "faults that ended in SIGSEGV or SIGBUS", get_failed},
	{"faults", "kernel_bad", NULL, UNIT_COUNT, COUNTER, "fault_kernel",
	 "kernel-mode faults on kernel-half or forbidden addresses", get_kernel_bad},
	{"faults", "kernel_probe", NULL, UNIT_COUNT, COUNTER, "fault_kernel",
	 "the same in a probing read of the kernel, which survives them by design",
	 get_kernel_probe},
	{"faults", "stall_ns", "STALL", UNIT_NS, COUNTER, "fault_end",
	 "time threads spent in faults that were served", get_stall, FS_LACKS_MINOR},
	{"faults", "sigbus", NULL, UNIT_COUNT, COUNTER, "signal", "of those that failed, by SIGBUS",
	 get_sigbus},
	{"faults", "poison", NULL, UNIT_COUNT, COUNTER, "signal",
	 "of these, on memory that is broken", get_poison},
	{"faults", "killed", NULL, UNIT_COUNT, COUNTER, "fault_end",
	 "faults begun by a thread that died in it", get_killed},
	{"faults", "read_bytes", NULL, UNIT_BYTES, COUNTER, "fault_class",
	 "what disks were asked for within major faults, read ahead too", get_read_bytes},
	{"faults", "reclaim_ns", NULL, UNIT_NS, COUNTER, "reclaim",
	 "of stall_ns, taking memory from others: direct reclaim", get_reclaim},
	{"faults", "compaction_ns", NULL, UNIT_NS, COUNTER, "compaction",
	 "of stall_ns, moving pages to have some in one piece", get_compaction},
	{"faults", "lock_ns", NULL, UNIT_NS, COUNTER, "mmap_lock",
	 "of stall_ns, waiting for the lock of the address space", get_lock},
	{"faults", "disk_ns", NULL, UNIT_NS, COUNTER, "disk_wait",
	 "of stall_ns, waiting for pages of files and of swap to be read", get_disk},
	{"maps", "count", "MAPS", UNIT_COUNT, GAUGE, NULL, "VMAs: mm->map_count", get_map_count},
	{"maps", "limit", NULL, UNIT_LIMIT, GAUGE, NULL, "vm.max_map_count", get_map_limit},
	{"maps", "high", "MAPHI", UNIT_COUNT, GAUGE, NULL, "highest map count seen", get_map_high},
	{"maps", "created", NULL, UNIT_COUNT, COUNTER, NULL,
	 "mappings made by calls; where calls are not hooked, those that needed an address",
	 get_created},
	{"maps", "removed", NULL, UNIT_COUNT, COUNTER, "calls",
	 "munmap and shmdt calls that succeeded", get_removed},
	{"maps", "refused", NULL, UNIT_COUNT, COUNTER, "calls", "mapping calls refused",
	 get_map_refused},
	{"maps", "lock_waits", NULL, UNIT_COUNT, COUNTER, "mmap_lock",
	 "times that its threads waited for the lock of its address space", get_locks},
	{"maps", "lock_ns", NULL, UNIT_NS, COUNTER, "mmap_lock", "how long, in faults and calls",
	 get_lock_all},
	{"fds", "count", "FDS", UNIT_COUNT, GAUGE, NULL, "open descriptors", get_fds},
	{"fds", "limit", NULL, UNIT_LIMIT, GAUGE, NULL, "soft RLIMIT_NOFILE", get_fd_soft},
	{"fds", "hard_limit", NULL, UNIT_LIMIT, GAUGE, NULL, "hard RLIMIT_NOFILE", get_fd_hard},
	{"fds", "high", "FDHI", UNIT_COUNT, GAUGE, NULL, "most descriptors seen open", get_fd_high},
	{"fds", "opened", NULL, UNIT_COUNT, COUNTER, "calls",
	 "descriptors made: by calls, and by what else balances the count", get_opened},
	{"fds", "closed", NULL, UNIT_COUNT, COUNTER, "calls",
	 "descriptors closed: by calls, and by what else balances the count", get_closed},
	{"fds", "refused", NULL, UNIT_COUNT, COUNTER, "calls", "descriptor calls refused",
	 get_fd_refused},
	{"fds", "close_failed", NULL, UNIT_COUNT, COUNTER, "calls",
	 "closes of numbers that were not open", get_close_failed},
	{"fds", "selects_wide", NULL, UNIT_COUNT, COUNTER, "calls",
	 "select calls of sets with numbers beyond 1,023", get_selects_wide},
	{"memory", "rss_bytes", "RSS", UNIT_BYTES, GAUGE, NULL, "resident memory", get_rss},
	{"memory", "swap_bytes", NULL, UNIT_BYTES, GAUGE, NULL, "swapped out", get_swap},
	{"memory", "vm_bytes", "VM", UNIT_BYTES, GAUGE, NULL,
	 "address space: what RLIMIT_AS bounds", get_vm},
	{"memory", "data_bytes", NULL, UNIT_BYTES, GAUGE, NULL,
	 "private writable mappings: what RLIMIT_DATA bounds", get_data},
	{"memory", "locked_bytes", NULL, UNIT_BYTES, GAUGE, NULL,
	 "locked: what RLIMIT_MEMLOCK bounds", get_locked},
	{"memory", "reclaims", NULL, UNIT_COUNT, COUNTER, "reclaim",
	 "times that its threads had to take memory from others", get_reclaims},
	{"memory", "reclaim_ns", NULL, UNIT_NS, COUNTER, "reclaim", "how long, in faults and calls",
	 get_reclaim_all},
	{"memory", "compactions", NULL, UNIT_COUNT, COUNTER, "compaction",
	 "times that its threads moved pages to have some in one piece", get_compactions},
	{"memory", "compaction_ns", NULL, UNIT_NS, COUNTER, "compaction",
	 "how long, in faults and calls", get_compaction_all},
};

const size_t nr_fields = sizeof(fields) / sizeof(fields[0]);

const struct field *field_find(const char *name)
{
	const struct field *found = NULL;
	size_t group, matches = 0;

	for (size_t i = 0; i < nr_fields; i++) {
		const struct field *f = &fields[i];

		group = strlen(f->group);
		if (group && !strncmp(name, f->group, group) && name[group] == '.' &&
		    !strcmp(name + group + 1, f->key))
			return f;
		if (!strcmp(name, f->key) || (f->column && !strcmp(name, f->column)))
			found = f, matches++;
	}
	return matches == 1 ? found : NULL;
}

const char *field_name(const struct field *f, char *ret, size_t size)
{
	array_copy(ret, size, f->group);
	if (*f->group)
		array_append(ret, size, ".");
	array_append(ret, size, f->key);
	return ret;
}

bool is_told(const struct model *m, const char *hook, uint32_t lacks)
{
	return !hook || (model_hook_on(m, hook) && !model_hook_has(m, hook, lacks));
}

static bool get_at(const struct model *m, const struct subject *s, const struct facts *facts,
		   const struct field *f, uint64_t *ret)
{
	if (!is_told(m, f->hook, f->lacks))
		return false;
	return f->get(m, s, facts, ret);
}

bool field_get(const struct model *m, const struct subject *s, const struct field *f, uint64_t *ret)
{
	return get_at(m, s, &s->now, f, ret);
}

uint64_t field_delta(const struct model *m, const struct subject *s, const struct field *f)
{
	uint64_t now, prev;

	if (!subject_changed(m, s) || !get_at(m, s, &s->now, f, &now) ||
	    !get_at(m, s, &s->prev, f, &prev))
		return 0;
	return above(now, prev);
}

static const char *const call_names[FS_CALL_MAX] = {
#define X(id, name) [FS_CALL_##id] = name,
	FS_MAP_CALLS(X) FS_FD_CALLS(X) FS_OTHER_CALLS(X)
#undef X
};

const char *call_name(unsigned int call)
{
	return call < FS_CALL_MAX && call_names[call] ? call_names[call] : "unknown";
}

static const char *map_call_row(size_t i)
{
	return call_names[FS_CALL_MMAP + i];
}

static const char *fd_call_row(size_t i)
{
	return call_names[FS_CALL_FD_FIRST + i];
}

static uint64_t map_call_cell(const struct fs_counters *c, size_t row, size_t column)
{
	const struct fs_map_call_count *n = &c->map_call[row];

	return column == 0   ? n->calls
	       : column == 1 ? n->refused
	       : column == 2 ? n->vmas_added
			     : n->vmas_removed;
}

static uint64_t fd_call_cell(const struct fs_counters *c, size_t row, size_t column)
{
	return column ? c->fd_call[row].refused : c->fd_call[row].calls;
}

static const char *class_row(size_t i)
{
	static const char *const name[] = {"not_present", "protection", "failed"};

	return name[i];
}

/* Classes told apart so far: by the error code, and by the signal a failure ends in. */
static uint64_t class_cell(const struct fs_counters *c, size_t row, size_t column)
{
	return row == 2 ? c->fault_failed : count_kinds(c, -1, -1, row);
}

static const char *const class_names[] = {
#define X(id, name, help) name,
	FS_FAULT_CLASSES(X)
#undef X
};

static const char *const class_helps[] = {
#define X(id, name, help) help,
	FS_FAULT_CLASSES(X)
#undef X
};

const char *class_name(enum fs_fault_class id)
{
	return class_names[id];
}

const char *class_help(enum fs_fault_class id)
{
	return class_helps[id];
}

uint64_t count_served(const struct fs_counters *c, enum fs_fault_class id)
{
	uint64_t sum = 0;

	for (int i = 0; i < FS_NR_BANDS; i++)
		sum += c->served[id].band[i];
	return sum;
}

static const char *served_row(size_t i)
{
	return class_names[i];
}

static uint64_t served_cell(const struct fs_counters *c, size_t row, size_t column)
{
	return column ? c->served[row].stall_ns : count_served(c, row);
}

static const char *const served_columns[] = {"count", "stall_ns"};
static const char *const map_columns[] = {"calls", "refused", "vmas_added", "vmas_removed"};
static const char *const fd_columns[] = {"calls", "refused"};

const struct grid grids[] = {
	{"faults", "by_class", "fault_begin", "faults begun, by class", 3, 1, class_row, NULL,
	 class_cell, FS_LACKS_PROTECTION},
	{"faults", "served", "fault_class", "faults served, by what they were for", FS_NR_CLASSES,
	 2, served_row, served_columns, served_cell},
	{"maps", "by_call", "calls",
	 "mapping calls, and the change of the map count seen at their ends", FS_NR_MAP_CALLS, 4,
	 map_call_row, map_columns, map_call_cell},
	{"fds", "by_call", "calls", "descriptors made (or closed) by calls", FS_NR_FD_CALLS, 2,
	 fd_call_row, fd_columns, fd_call_cell},
};
const size_t nr_grids = sizeof(grids) / sizeof(grids[0]);

static const uint64_t *minor_latency(const struct fs_counters *c)
{
	return (const uint64_t *)c->latency[FS_END_MINOR];
}

static const uint64_t *major_latency(const struct fs_counters *c)
{
	return (const uint64_t *)c->latency[FS_END_MAJOR];
}

static uint64_t minor_max(const struct fs_counters *c)
{
	return c->latency_max_ns[FS_END_MINOR];
}

static uint64_t major_max(const struct fs_counters *c)
{
	return c->latency_max_ns[FS_END_MAJOR];
}

static const uint64_t *map_sizes(const struct fs_counters *c)
{
	return (const uint64_t *)c->map_size;
}

#define X(id, name, help)                                                                          \
	static const uint64_t *bands_##id(const struct fs_counters *c)                             \
	{                                                                                          \
		return (const uint64_t *)c->served[FS_CLASS_##id].band;                            \
	}                                                                                          \
	static uint64_t max_##id(const struct fs_counters *c)                                      \
	{                                                                                          \
		return c->served_max_ns[FS_CLASS_##id];                                            \
	}
FS_FAULT_CLASSES(X)
#undef X

/* clang-format off */
#define CLASS_HISTOGRAM(id, name, help)                                                            \
	{"faults", name, "fault_class", help, "served_latency_ns", UNIT_NS, FS_NR_BANDS,           \
	 FS_LATENCY_SHIFT, bands_##id, max_##id, 0, FS_BAND_STEP, true},
/* clang-format on */

const struct histogram histograms[] = {
	{"faults", "minor", "fault_end", "latency of minor faults", "latency_ns", UNIT_NS,
	 FS_NR_LATENCY, FS_LATENCY_SHIFT, minor_latency, minor_max, FS_LACKS_MINOR},
	{"faults", "major", "fault_end", "latency of major faults", "latency_ns", UNIT_NS,
	 FS_NR_LATENCY, FS_LATENCY_SHIFT, major_latency, major_max},
	/* clang-format off */
	FS_FAULT_CLASSES(CLASS_HISTOGRAM)
	/* clang-format on */
	{"maps", "size_bytes", "calls", "sizes asked of mmap", NULL, UNIT_BYTES, FS_NR_MAP_SIZES,
	 FS_MAP_SIZE_SHIFT, map_sizes, NULL},
};
const size_t nr_histograms = sizeof(histograms) / sizeof(histograms[0]);

uint64_t histogram_le(const struct histogram *h, size_t bucket)
{
	unsigned int step = h->step ?: 1;

	return bucket + 1 >= h->buckets ? UINT64_MAX : 1ULL << ((bucket + 1) * step + h->shift);
}

uint64_t histogram_total(const struct histogram *h, const struct fs_counters *c)
{
	const uint64_t *n = h->counts(c);
	uint64_t sum = 0;

	for (size_t i = 0; i < h->buckets; i++)
		sum += n[i];
	return sum;
}

uint64_t histogram_quantile(const struct histogram *h, const struct fs_counters *c, double q)
{
	const uint64_t *n = h->counts(c);
	uint64_t total = histogram_total(h, c), seen = 0;

	if (!total)
		return 0;
	for (size_t i = 0; i < h->buckets; i++) {
		seen += n[i];
		if (seen >= q * total) {
			uint64_t le = histogram_le(h, i), max = h->max ? h->max(c) : le;

			return max < le ? max : le;
		}
	}
	return UINT64_MAX;
}

void fields_offer(struct nearest *n, char name[NEAREST_BYTES])
{
	char one[NEAREST_BYTES];

	for (size_t i = 0; i < nr_fields; i++) {
		field_name(&fields[i], one, sizeof(one));
		nearest_offer(n, one);
		if (n->word != one)
			continue;
		memcpy(name, one, NEAREST_BYTES);
		n->word = name;
	}
}
