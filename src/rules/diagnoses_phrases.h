/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* rules: commands and sentences that several texts of diagnoses_*.def share. */
#ifndef FS_RULES_DIAGNOSES_PHRASES_H
#define FS_RULES_DIAGNOSES_PHRASES_H

/* clang-format off */
#define COUNT_MAPS "$ grep -vc vsyscall /proc/PID/maps; sysctl vm.max_map_count\n"
#define NAME_MAPS \
	"$ awk '{print $6}' /proc/PID/maps | sed 's/[0-9][0-9]*/#/g' | sort | uniq -c | " \
	"sort -n | tail\n"
#define RAISE "$ sysctl -w vm.max_map_count=262144\n"
#define COMMIT "$ grep -E 'CommitLimit|Committed_AS' /proc/meminfo; sysctl vm.overcommit_memory\n"
#define LOCKED "$ grep VmLck /proc/PID/status; grep 'locked memory' /proc/PID/limits\n"
#define OF_USER \
	"$ ps -L --no-headers -u USER | wc -l; grep 'processes' /proc/PID/limits\n" \
	"$ ps -eo nlwp,pid,comm --sort=-nlwp | head\n"
#define OF_GROUP \
	"$ cat /proc/PID/cgroup\n" \
	"$ cat /sys/fs/cgroup/PATH/memory.current /sys/fs/cgroup/PATH/memory.max\n"
#define LEVELS \
	"A level is left again five points below its threshold. Of a process that ended its " \
	"highest figure is judged."
#define FIT \
	"A line through high-water marks of the figure (Theil-Sen: the median of all slopes), " \
	"with an interval. Where the fit is poor no time is given, and this finding does not open."
#define LIST_FDS \
	"$ ls -l /proc/PID/fd | awk '{print $NF}' | sed 's/[0-9][0-9]*/#/g' | sort | uniq -c | " \
	"sort -n | tail\n"
#define FD_LIMIT "$ ls /proc/PID/fd | wc -l; grep 'open files' /proc/PID/limits\n"
#define RAISE_SOFT "$ prlimit --pid PID --nofile=65536:\n"
/* clang-format on */

#endif
