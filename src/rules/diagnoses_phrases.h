/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* rules: commands and sentences that several diagnoses in diagnoses_*.def contain. */
#ifndef FS_RULES_DIAGNOSES_PHRASES_H
#define FS_RULES_DIAGNOSES_PHRASES_H

/* clang-format off */
#define COUNT_MAPS "$ grep -vc vsyscall /proc/PID/maps; sysctl vm.max_map_count\n"
#define NAME_MAPS \
	"$ awk '{print $6}' /proc/PID/maps | sed 's/[0-9][0-9]*/#/g' | sort | uniq -c | " \
	"sort -n | tail\n"
#define RAISE "$ sysctl -w vm.max_map_count=1048576\n"
#define COMMIT "$ grep -E 'CommitLimit|Committed_AS' /proc/meminfo; sysctl vm.overcommit_memory\n"
#define LOCKED "$ grep VmLck /proc/PID/status; grep 'locked memory' /proc/PID/limits\n"
#define OF_USER \
	"$ ps -L --no-headers -u USER | wc -l; grep 'processes' /proc/PID/limits\n" \
	"$ ps -eo nlwp,pid,comm --sort=-nlwp | head\n"
#define OF_GROUP \
	"$ cat /proc/PID/cgroup\n" \
	"$ cat /sys/fs/cgroup/PATH/memory.current /sys/fs/cgroup/PATH/memory.max\n"
#define LEVELS \
	"The severity falls only when the value is at least five percentage points below the " \
	"threshold. For a process that has exited, faultscope compares the peak of the value " \
	"with the thresholds."
#define FIT \
	"faultscope fits a line through the peaks of the value (Theil-Sen estimator: the median " \
	"of the slopes between all pairs of points). It computes the earliest and the latest " \
	"time at which the line may reach the limit. If the line fits the values poorly, " \
	"faultscope does not open this finding."
#define SURE \
	"A critical finding also needs one of two conditions. First: at least 98 % of the limit " \
	"is used. Second: the value rose and fell several times, and its peaks grew evenly."
#define LIST_FDS \
	"$ ls -l /proc/PID/fd | awk '{print $NF}' | sed 's/[0-9][0-9]*/#/g' | sort | uniq -c | " \
	"sort -n | tail\n"
#define FD_LIMIT "$ ls /proc/PID/fd | wc -l; grep 'open files' /proc/PID/limits\n"
#define RAISE_SOFT "$ prlimit --pid PID --nofile=65536:\n"
/* clang-format on */

#endif
