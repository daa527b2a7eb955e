// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "records/record_fields.h"

#include <stddef.h>

#include "records/incident_record.h"
#include "records/oom_records.h"
#include "records/pressure_records.h"

_Static_assert(NR_BANDS == 12, "a row each");

/*
 * Tables of the fields of records, one table per kind of record. Append rows only, and rename none:
 * recordings identify fields by name.
 *
 * A row is one of these macros. F: a number. T: a text. C: a counter, which is unknown (~0) if a
 * recording lacks the field. A: an array of numbers. U: an array of counters. P: a member of each
 * struct in an array of structs.
 */
#define SIZE(member)   sizeof(((OF *)0)->member)
#define SIGNED(member) ((__typeof__(((OF *)0)->member))-1 < 1)
#define F(member, unit)                                                                            \
	{                                                                                          \
#member, unit, offsetof(OF, member), SIZE(member), SIZE(member), 1,                \
			SIGNED(member) ? VALUE_SIGNED : VALUE_UNSIGNED, 0                          \
	}
#define T(member)                                                                                  \
	{                                                                                          \
#member, "", offsetof(OF, member), SIZE(member), SIZE(member), 1, VALUE_TEXT, 0    \
	}
#define C(member)                                                                                  \
	{                                                                                          \
#member, "", offsetof(OF, member), 8, 8, 1, VALUE_UNSIGNED, 1                      \
	}
#define A(member, unit)                                                                            \
	{                                                                                          \
#member, unit, offsetof(OF, member), 8, 8, SIZE(member) / 8, VALUE_UNSIGNED, 0     \
	}
#define U(member)                                                                                  \
	{                                                                                          \
#member, "", offsetof(OF, member), 8, 8, SIZE(member) / 8, VALUE_UNSIGNED, 1       \
	}
#define P(table, part, unit)                                                                       \
	{                                                                                          \
#table "." #part, unit,                                                            \
			offsetof(OF, table) + offsetof(__typeof__(*((OF *)0)->table), part),       \
			sizeof(((OF *)0)->table->part), sizeof(*((OF *)0)->table),                 \
			SIZE(table) / sizeof(*((OF *)0)->table), VALUE_UNSIGNED, 0                 \
	}

#define OF struct process_record
static const struct record_field process_fields[] = {
	F(subject.start_ns, "ns"),
	F(subject.pid, ""),
	F(g.cgroup_id, ""),
	F(g.min_flt, ""),
	F(g.maj_flt, ""),
	F(g.total_vm_pages, "pages"),
	F(g.data_vm_pages, "pages"),
	F(g.locked_vm_pages, "pages"),
	F(g.rss_file_pages, "pages"),
	F(g.rss_anon_pages, "pages"),
	F(g.swap_pages, "pages"),
	F(g.rss_shmem_pages, "pages"),
	F(g.fd_soft, ""),
	F(g.fd_hard, ""),
	F(g.as_limit_bytes, "bytes"),
	F(g.data_limit_bytes, "bytes"),
	F(g.memlock_limit_bytes, "bytes"),
	F(g.map_count, ""),
	F(g.map_high, ""),
	F(g.fds, ""),
	F(g.fd_high, ""),
	F(g.ppid, ""),
	F(g.uid, ""),
	F(g.threads, ""),
	F(g.flags, ""),
	F(g.execs, ""),
	F(g.fd_base, ""),
	T(g.comm),
	F(u.cpu_ns, "ns"),
	F(u.user_threads, ""),
	F(u.user_threads_limit, ""),
	A(c.fault_kind, ""),
#define COUNTER(id, ...) C(c.id),
#define UNSHOWN(id)	 C(c.id),
#include "records/counters.def"
	P(c.map_call, calls, ""),
	P(c.map_call, refused, ""),
	P(c.map_call, vmas_added, ""),
	P(c.map_call, vmas_removed, ""),
	P(c.fd_call, calls, ""),
	P(c.fd_call, refused, ""),
	A(c.map_size, ""),
	A(c.stall_ns, "ns"),
	A(c.latency_max_ns, "ns"),
	A(c.latency, ""),
	A(c.served_max_ns, "ns"),
	P(c.served, stall_ns, "ns"),
	P(c.served, band[0], ""),
	P(c.served, band[1], ""),
	P(c.served, band[2], ""),
	P(c.served, band[3], ""),
	P(c.served, band[4], ""),
	P(c.served, band[5], ""),
	P(c.served, band[6], ""),
	P(c.served, band[7], ""),
	P(c.served, band[8], ""),
	P(c.served, band[9], ""),
	P(c.served, band[10], ""),
	P(c.served, band[11], ""),
	P(c.wait, count, ""),
	P(c.wait, ns, "ns"),
	P(c.wait, in_faults_ns, "ns"),
};
#undef OF

#define OF struct crossing_record
static const struct record_field crossing_fields[] = {
	F(subject.start_ns, "ns"),
	F(subject.pid, ""),
	F(what, ""),
	F(percent, ""),
	F(value, ""),
	F(limit, ""),
	T(comm),
};
#undef OF

#define OF struct refused_record
static const struct record_field refused_fields[] = {
	F(subject.start_ns, "ns"),
	F(subject.pid, ""),
	F(tid, ""),
	F(call, ""),
	F(error, ""),
	F(count, ""),
	A(args, ""),
	F(ret, ""),
	F(total_vm_pages, "pages"),
	F(data_vm_pages, "pages"),
	F(locked_vm_pages, "pages"),
	F(heap_bytes, "bytes"),
	F(task_size_bytes, "bytes"),
	F(as_limit_bytes, "bytes"),
	F(data_limit_bytes, "bytes"),
	F(memlock_limit_bytes, "bytes"),
	F(stack_limit_bytes, "bytes"),
	F(nproc_limit, ""),
	F(fd_soft, ""),
	F(area_bytes, "bytes"),
	F(range.hole, ""),
	F(range.start, ""),
	F(range.end, ""),
	F(range.flags_all, ""),
	F(range.flags_any, ""),
	F(range.above, ""),
	F(range.mapped_bytes, "bytes"),
	F(range.locked_bytes, "bytes"),
	F(range.start_flags, ""),
	F(range.vmas, ""),
	F(range.walk, ""),
	F(asked.bytes, "bytes"),
	F(asked.longest, ""),
	F(asked.whole, ""),
	F(file.magic, ""),
	F(file.size_bytes, "bytes"),
	F(file.mmap_ip, ""),
	F(file.flags, ""),
	F(file.mode, ""),
	F(file.open_mode, ""),
	F(file.seals, ""),
	T(file.name),
	F(memory.used, ""),
	F(memory.limit, ""),
	F(memory.up, ""),
	F(memory.known, ""),
	F(pids.used, ""),
	F(pids.limit, ""),
	F(pids.up, ""),
	F(pids.known, ""),
	F(user.processes, ""),
	F(user.inotify_instances, ""),
	F(user.inotify_instances_max, ""),
	F(user.inotify_watches, ""),
	F(user.inotify_watches_max, ""),
	F(user.pipe_pages, "pages"),
	F(user.locked_pages, "pages"),
	A(variable, ""),
	F(variables, ""),
	F(map_count, ""),
	F(fds, ""),
	F(fds_free, ""),
	F(facts, ""),
	F(stack, ""),
	T(comm),
	F(space.limit, ""),
	F(space.used, ""),
	F(space.file_blocks, ""),
	F(space.device, ""),
	F(space.block_bytes, "bytes"),
	F(ipc.used, ""),
	F(ipc.limit, ""),
	F(ipc.largest, ""),
	F(ipc.objects, ""),
	F(ipc.objects_max, ""),
	F(ipc.initial, ""),
	F(device.number, ""),
	F(device.pinned_pages, "pages"),
	T(device.driver),
	F(counted.used, ""),
	F(counted.limit, ""),
	F(counted.asked, ""),
	F(counted.what, ""),
	F(counted.owner, ""),
	F(counted.inside, ""),
	F(counted.types, ""),
	F(counted.namespace, ""),
	F(counted.level, ""),
};
#undef OF

#define OF struct signal_record
static const struct record_field signal_fields[] = {
	F(subject.start_ns, "ns"),
	F(subject.pid, ""),
	F(tid, ""),
	F(signal, ""),
	F(code, ""),
	F(area, ""),
	F(address, ""),
	F(sp, ""),
	F(error_code, ""),
	F(ip_bytes, "bytes"),
	F(area_flags, ""),
	F(area_start, ""),
	F(area_end, ""),
	F(above_flags, ""),
	F(above_end, ""),
	F(file_page, ""),
	F(stack_limit_bytes, "bytes"),
	F(tmpfs_pages, "pages"),
	F(tmpfs_pages_used, ""),
	F(file.magic, ""),
	F(file.size_bytes, "bytes"),
	F(file.mmap_ip, ""),
	F(file.flags, ""),
	F(file.mode, ""),
	F(file.open_mode, ""),
	F(file.seals, ""),
	T(file.name),
	F(flags, ""),
	F(file_device, ""),
	T(comm),
	F(stack, ""),
};
#undef OF

#define OF struct kernel_fault_record
static const struct record_field kernel_fault_fields[] = {
	F(subject.start_ns, "ns"),
	F(subject.pid, ""),
	F(ip, ""),
	F(address, ""),
	F(error_code, ""),
	F(count, ""),
	F(nofault, ""),
	F(tid, ""),
	T(comm),
};
#undef OF

#define OF struct fork_record
static const struct record_field fork_fields[] = {
	F(subject.start_ns, "ns"),
	F(subject.pid, ""),
	F(cgroup_id, ""),
	F(parent, ""),
};
#undef OF

#define OF struct exec_record
static const struct record_field exec_fields[] = {
	F(subject.start_ns, "ns"), F(subject.pid, ""), F(cgroup_id, ""), F(execs, ""), T(path),
};
#undef OF

#define OF struct oom_record
static const struct record_field oom_fields[] = {
	F(subject.start_ns, "ns"),
	F(subject.pid, ""),
	F(constraint, ""),
	F(score_adj, ""),
	F(total_vm_pages, "pages"),
	F(rss_file_pages, "pages"),
	F(rss_anon_pages, "pages"),
	F(swap_pages, "pages"),
	F(rss_shmem_pages, "pages"),
	F(memory.used, ""),
	F(memory.limit, ""),
	F(memory.up, ""),
	F(memory.known, ""),
	F(by, ""),
	T(by_comm),
	T(comm),
	F(by_kept_pages, "pages"),
	F(cgroup_id, ""),
	C(swap_used),
	C(swap_limit),
	C(kmem_pages),
	F(page_table_bytes, "bytes"),
	F(version, ""),
	F(group, ""),
	F(pid_inside, ""),
	F(sent, ""),
	F(stack, ""),
};
#undef OF

#define OF struct cgroup_path_record
static const struct record_field cgroup_path_fields[] = {
	F(id, ""),
	F(hierarchy, ""),
	F(pid, ""),
	T(path),
};
#undef OF

#define OF struct memory_wait_record
static const struct record_field memory_wait_fields[] = {
	F(subject.start_ns, "ns"),
	F(subject.pid, ""),
	F(reclaim_ns, "ns"),
	F(swap_ins, ""),
};
#undef OF

#define OF struct slow_faults_record
static const struct record_field slow_faults_fields[] = {
	F(subject.start_ns, "ns"),
	F(subject.pid, ""),
	F(tid, ""),
	F(class, ""),
	F(stack, ""),
	F(count, ""),
	F(total_ns, "ns"),
	F(max_ns, "ns"),
	F(read_bytes, "bytes"),
	A(waited_ns, "ns"),
	F(inode, ""),
	F(holder, ""),
	F(holder_writes, ""),
	T(holder_comm),
	T(comm),
	T(file),
};
#undef OF

#define OF struct report_record
static const struct record_field report_fields[] = {
	F(pid, ""),
	F(tid, ""),
	T(comm),
	T(line),
};
#undef OF

#define OF struct sample_record
static const struct record_field sample_fields[] = {
	F(subject.start_ns, "ns"),
	F(subject.pid, ""),
	F(tid, ""),
	F(weight, ""),
	F(class, ""),
	F(stack, ""),
	F(address, ""),
	F(area_from, ""),
	F(area_to, ""),
	F(took_ns, "ns"),
	F(read_bytes, "bytes"),
	F(kind, ""),
	F(major, ""),
	T(file),
};
#undef OF

#define OF struct retry_record
static const struct record_field retry_fields[] = {
	F(subject.start_ns, "ns"), F(subject.pid, ""), F(tid, ""), F(call, ""), F(bytes, "bytes"),
};
#undef OF

#define OF struct host_record
static const struct record_field host_fields[] = {
	F(wall_ns, "ns"), F(interval_ns, "ns"),
	F(tiers, ""),	  F(cpus, ""),
	T(version),	  T(kernel),
	T(arch),	  T(host),
	T(boot_id),	  T(mode),
	T(target),	  F(zone_s, "s"),
	F(zone_known, ""),
};
#undef OF

#define OF struct hook_record
static const struct record_field hook_fields[] = {
	F(tier, ""), F(state, ""), F(lacks, ""), T(name), T(mechanism), T(why),
};
#undef OF

#define OF struct probe_cost_record
static const struct record_field probe_cost_fields[] = {
	F(runs, ""), F(run_ns, "ns"), T(name),
};
#undef OF

#define OF struct tick_record
static const struct record_field tick_fields[] = {
	F(wall_ns, "ns"),
	F(losses.ring, ""), F(losses.map, ""), F(losses.slot, ""),
	F(losses.coalesced, ""),
	F(losses.missed, ""),
	F(losses.stack, ""),
	F(losses.growth, ""),
	F(limits.max_map_count, ""),
	F(limits.file_max, ""),
	F(limits.file_nr, ""),
	F(limits.nr_open, ""),
	F(limits.commit_limit_bytes, "bytes"),
	F(limits.committed_bytes, "bytes"),
	F(limits.mem_total_bytes, "bytes"),
	F(limits.mem_available_bytes, "bytes"),
	F(limits.swap_total_bytes, "bytes"),
	F(limits.swap_free_bytes, "bytes"),
	F(limits.inotify_instances, ""),
	F(limits.overcommit_memory, ""),
	F(limits.mmap_min_addr, ""),
	F(limits.page_bytes, "bytes"),
	F(limits.huge_page_bytes, "bytes"),
	F(limits.huge_pages, ""),
	F(limits.huge_pages_free, ""),
	F(limits.huge_pages_reserved, ""),
	F(limits.threads, ""),
	F(limits.threads_max, ""),
	F(limits.pid_max, ""),
	F(limits.inotify_watches, ""),
	F(limits.epoll_watches, ""),
	F(limits.pipe_pages_soft, "pages"),
	F(limits.pipe_pages_hard, "pages"),
	F(limits.pipe_max_bytes, "bytes"),
	F(limits.mem_free_bytes, "bytes"),
	F(own_cpu_ns, "ns"),		F(own_bpf_ns, "ns"),
	F(own_rss_bytes, "bytes"),	F(own_tables_bytes, "bytes"),
	F(own_state_bytes, "bytes"),	F(look_ns, "ns"),
	A(walk_ends, ""),
};
#undef OF

#define OF struct names_record
static const struct record_field names_fields[] = {
	F(subject.start_ns, "ns"),
	F(subject.pid, ""),
	T(exe),
	T(cgroup),
	T(command),
	T(user),
};
#undef OF

#define OF struct symbol_record
static const struct record_field symbol_fields[] = {
	F(ip, ""),
	T(symbol),
	T(module),
};
#undef OF

#define OF struct end_record
static const struct record_field end_fields[] = {
	F(reason, ""),
};
#undef OF

#define OF struct limits_record
static const struct record_field limits_fields[] = {
	F(limits.max_map_count, ""),
	F(limits.file_max, ""),
	F(limits.file_nr, ""),
	F(limits.nr_open, ""),
	F(limits.commit_limit_bytes, "bytes"),
	F(limits.committed_bytes, "bytes"),
	F(limits.mem_total_bytes, "bytes"),
	F(limits.mem_available_bytes, "bytes"),
	F(limits.swap_total_bytes, "bytes"),
	F(limits.swap_free_bytes, "bytes"),
	F(limits.inotify_instances, ""),
	F(limits.overcommit_memory, ""),
	F(limits.mmap_min_addr, ""),
	F(limits.page_bytes, "bytes"),
	F(limits.huge_page_bytes, "bytes"),
	F(limits.huge_pages, ""),
	F(limits.huge_pages_free, ""),
	F(limits.huge_pages_reserved, ""),
	F(limits.threads, ""),
	F(limits.threads_max, ""),
	F(limits.pid_max, ""),
	F(limits.inotify_watches, ""),
	F(limits.epoll_watches, ""),
	F(limits.pipe_pages_soft, "pages"),
	F(limits.pipe_pages_hard, "pages"),
	F(limits.pipe_max_bytes, "bytes"),
	F(limits.mem_free_bytes, "bytes"),
};
#undef OF

#define OF struct growth_record
static const struct record_field growth_fields[] = {
	F(place, ""),	      F(g.subject.start_ns, "ns"),
	F(g.subject.pid, ""), F(g.stack, ""),
	F(g.call, ""),	      F(g.what, ""),
	F(g.flags, ""),	      F(g.mode, ""),
	F(g.magic, ""),	      F(g.added, ""),
	F(g.removed, ""),     F(g.first_ns, "ns"),
	F(g.last_ns, "ns"),   T(g.name),
};
#undef OF

#define OF struct frames_record
static const struct record_field frames_fields[] = {
	F(subject.start_ns, "ns"), F(subject.pid, ""), F(stack, ""), F(flags, ""), F(end, ""),
	F(by_chain, ""),	   T(user_line),       T(text),
};
#undef OF

#define OF struct frame_list_record
static const struct record_field frame_list_fields[] = {
	F(subject.start_ns, "ns"),
	F(subject.pid, ""),
	F(stack, ""),
	F(first, ""),
	F(n, ""),
	P(frame, offset, ""),
	P(frame, line, ""),
	P(frame, function, ""),
	P(frame, file, ""),
	P(frame, module, ""),
	P(frame, kind, ""),
	P(frame, flags, ""),
	T(texts),
};
#undef OF

#define OF struct holding_record
static const struct record_field holding_fields[] = {
	F(nth, ""),	      F(g.subject.start_ns, "ns"),
	F(g.subject.pid, ""), F(g.what, ""),
	F(g.kind, ""),	      F(g.count, ""),
	F(g.bytes, "bytes"),  F(g.names, ""),
	F(g.cut, ""),	      T(g.name),
};
#undef OF

#define OF struct origin_record
static const struct record_field origin_fields[] = {
	F(subject.start_ns, "ns"),
	F(subject.pid, ""),
	F(limit, ""),
	F(host_wide, ""),
	T(set_by),
	T(at_once),
	T(for_good),
	T(cost),
};
#undef OF

#define OF struct levels_record
static const struct record_field levels_fields[] = {
	F(subject.start_ns, "ns"), F(subject.pid, ""), F(memory.used, ""),
	F(memory.limit, ""),	   F(memory.up, ""),   F(memory.known, ""),
	F(pids.used, ""),	   F(pids.limit, ""),  F(pids.up, ""),
	F(pids.known, ""),
};
#undef OF

#define OF struct pressure_record
static const struct record_field pressure_fields[] = {
	U(n),
	F(some.total_us, "us"),
	F(some.avg10, "0.01%"),
	F(some.avg60, "0.01%"),
	F(some.avg300, "0.01%"),
	F(some.known, ""),
	F(full.total_us, "us"),
	F(full.avg10, "0.01%"),
	F(full.avg60, "0.01%"),
	F(full.avg300, "0.01%"),
	F(full.known, ""),
};
#undef OF

#define OF struct cgroup_record
static const struct record_field cgroup_fields[] = {
	T(path),
	F(version, ""),
	U(n),
	F(some.total_us, "us"),
	F(some.avg10, "0.01%"),
	F(some.avg60, "0.01%"),
	F(some.avg300, "0.01%"),
	F(some.known, ""),
	F(full.total_us, "us"),
	F(full.avg10, "0.01%"),
	F(full.avg60, "0.01%"),
	F(full.avg300, "0.01%"),
	F(full.known, ""),
};
#undef OF

#define OF struct mount_record
static const struct record_field mount_fields[] = {
	T(path),	      F(magic, ""),	 F(size_bytes, "bytes"),
	F(used_bytes, "bytes"), F(free_bytes, "bytes"), F(inodes, ""),
	F(inodes_free, ""),   F(pid, ""),	 F(flags, ""),
	F(device, ""),	      T(largest),	 F(largest_bytes, "bytes"),
	F(largest_uid, ""),   F(unnamed_bytes, "bytes"),
};
#undef OF

#define OF struct score_record
static const struct record_field score_fields[] = {
	F(subject.start_ns, "ns"), F(subject.pid, ""), F(score, ""), F(adj, ""), F(nth, ""),
};
#undef OF

#define OF struct resident_record
static const struct record_field resident_fields[] = {
	F(subject.start_ns, "ns"),
	F(subject.pid, ""),
	F(nth, ""),
	F(stack, ""),
	F(by, ""),
	F(kind, ""),
	F(bytes, "bytes"),
	F(low, "bytes"),
	F(high, "bytes"),
	F(swapped_bytes, "bytes"),
	F(huge_bytes, "bytes"),
	F(pages, ""),
	F(before, ""),
	F(toucher.start_ns, "ns"),
	F(toucher.pid, ""),
	T(file),
};
#undef OF

#define OF struct resident_sum_record
static const struct record_field resident_sum_fields[] = {
	F(subject.start_ns, "ns"),
	F(subject.pid, ""),
	F(rows, ""),
	F(each, ""),
	F(anon_bytes, "bytes"),
	F(file_bytes, "bytes"),
	F(shmem_bytes, "bytes"),
	F(swap_bytes, "bytes"),
	F(hugetlb_bytes, "bytes"),
	F(watched_ns, "ns"),
	F(took_ns, "ns"),
	F(lost, ""),
};
#undef OF

#define OF struct phase_record
static const struct record_field phase_fields[] = {
	T(name),
};
#undef OF

#define OF struct oom_scene_record
static const struct record_field oom_scene_fields[] = {
	F(subject.start_ns, "ns"),
	F(subject.pid, ""),
	F(kill_ns, "ns"),
	F(wall_ns, "ns"),
	F(values_ns, "ns"),
	F(source, ""),
	F(in_log, ""),
	C(used),
	C(limit),
	C(swap_used),
	C(swap_limit),
	U(memory),
	F(tasks, ""),
	F(tasks_kept_bytes, "bytes"),
	F(tasks_page_table_bytes, "bytes"),
	A(curve_ns, "ns"),
	A(curve_bytes, "bytes"),
	F(zone_free, "bytes"),
	F(zone_min, "bytes"),
	T(zone),
	T(gfp),
	T(path),
	F(order, ""),
	T(cgroup),
	T(victim_cgroup),
	T(namespace),
	T(pod),
	T(container),
};
#undef OF

#define OF struct oom_holder_record
static const struct record_field oom_holder_fields[] = {
	F(subject.start_ns, "ns"),
	F(subject.pid, ""),
	F(kill_ns, "ns"),
	F(pid, ""),
	F(nth, ""),
	F(score_adj, ""),
	C(rss),
	C(anon),
	C(file),
	C(shmem),
	C(swap),
	C(page_tables),
	F(before_bytes, "bytes"),
	F(before_ns, "ns"),
	T(comm),
	T(cgroup),
};
#undef OF

#define OF struct incident_record
static const struct record_field incident_fields[] = {
	F(subject.start_ns, "ns"),
	F(subject.pid, ""),
	F(at_ns, "ns"),
	F(wall_ns, "ns"),
	F(until_ns, "ns"),
	F(trigger, ""),
	F(severity, ""),
	F(raised, ""),
	F(more, ""),
	T(finding),
	T(comm),
	T(cause),
	T(workload),
	T(title),
	T(not_raised),
};
#undef OF

#define K(kind, type, name, brief)                                                                 \
	{                                                                                          \
		kind, #name, sizeof(struct type), brief, name##_fields,                            \
			sizeof(name##_fields) / sizeof(name##_fields[0])                           \
	}
const struct record_fields record_fields[] = {
	K(RECORD_PROCESS, process_record, process, offsetof(struct process_record, c)),
	K(RECORD_CROSSING, crossing_record, crossing, 0),
	K(RECORD_REFUSED, refused_record, refused, 0),
	K(RECORD_SIGNAL, signal_record, signal, 0),
	K(RECORD_KERNEL_FAULT, kernel_fault_record, kernel_fault, 0),
	K(RECORD_FORK, fork_record, fork, 0),
	K(RECORD_EXEC, exec_record, exec, 0),
	K(RECORD_OOM, oom_record, oom, 0),
	K(RECORD_CGROUP, cgroup_path_record, cgroup_path, 0),
	K(RECORD_PRESSURE, memory_wait_record, memory_wait, 0),
	K(RECORD_SLOW_FAULTS, slow_faults_record, slow_faults, 0),
	K(RECORD_REPORT, report_record, report, 0),
	K(RECORD_SAMPLE, sample_record, sample, 0),
	K(RECORD_RETRY, retry_record, retry, 0),
	K(RECORD_HOST, host_record, host, 0),
	K(RECORD_HOOK, hook_record, hook, 0),
	K(RECORD_TICK, tick_record, tick, 0),
	K(RECORD_NAMES, names_record, names, 0),
	K(RECORD_SYMBOL, symbol_record, symbol, 0),
	K(RECORD_END, end_record, end, 0),
	K(RECORD_LIMITS, limits_record, limits, 0),
	K(RECORD_GROWTH, growth_record, growth, 0),
	K(RECORD_FRAMES, frames_record, frames, 0),
	K(RECORD_FRAME_LIST, frame_list_record, frame_list, 0),
	K(RECORD_HOLDING, holding_record, holding, 0),
	K(RECORD_RESIDENT, resident_record, resident, 0),
	K(RECORD_RESIDENT_SUM, resident_sum_record, resident_sum, 0),
	K(RECORD_PHASE, phase_record, phase, 0),
	K(RECORD_PROBE_COST, probe_cost_record, probe_cost, 0),
	K(RECORD_ORIGIN, origin_record, origin, 0),
	K(RECORD_LEVELS, levels_record, levels, 0),
	K(RECORD_SHORTAGE, pressure_record, pressure, 0),
	K(RECORD_LEVEL, cgroup_record, cgroup, 0),
	K(RECORD_MOUNT, mount_record, mount, 0),
	K(RECORD_SCORE, score_record, score, 0),
	K(RECORD_OOM_SCENE, oom_scene_record, oom_scene, 0),
	K(RECORD_OOM_HOLDER, oom_holder_record, oom_holder, 0),
	K(RECORD_INCIDENT, incident_record, incident, 0),
};

const size_t record_fields_count = sizeof(record_fields) / sizeof(record_fields[0]);
