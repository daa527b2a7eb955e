// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "rules/oom_advice.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"

#define PAGES_OF_TABLE 512 /* a huge page of 2 MiB needs no table for 512 pages */
#define HOUR_S	       3600.0

static struct oom_advice *advise(struct oom_page *p, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Adds advice. If there is no more room, the last one is replaced. */
static struct oom_advice *advise(struct oom_page *p, const char *format, ...)
{
	struct oom_advice *a =
		&p->advice[p->advices < OOM_ADVICE_MAX ? p->advices++ : OOM_ADVICE_MAX - 1];
	va_list ap;

	va_start(ap, format);
	vsnprintf(a->text, sizeof(a->text), format, ap);
	va_end(ap);
	a->command[0] = 0;
	return a;
}

static void command(struct oom_advice *a, const char *text)
{
	snprintf(a->command, sizeof(a->command), "%s", text);
}

static uint64_t size_of(const struct oom_page *p, enum oom_memory kind)
{
	uint64_t bytes = p->kill->has_scene ? p->kill->scene.memory[kind] : FIGURE_UNKNOWN;

	return bytes != FIGURE_UNKNOWN ? bytes : 0;
}

static bool limit_is_known(const struct oom_page *p)
{
	return p->limit != FIGURE_UNKNOWN && p->used != FIGURE_UNKNOWN;
}

/* Says how much would have been in use without some bytes. */
static void say_without(struct oom_page *p, const char *what, uint64_t bytes)
{
	if (limit_is_known(p) && bytes && bytes <= p->used)
		advise(p, "without %s, %s of %s would have been in use", what,
		       as_bytes(p->used - bytes).s, as_bytes(p->limit).s);
}

/*
 * Says for how long a higher limit would suffice, from the growth before the kill. Names the memory
 * for an hour only if that is at most twice the limit: growth measured over seconds says nothing
 * about a limit many times higher.
 */
static void say_higher_limit(struct oom_page *p)
{
	double per_second = p->grown_ns ? p->grown_bytes / (p->grown_ns / 1e9) : 0;
	const char *what = p->scope == OOM_SCOPE_CGROUP ? "a limit" : "memory or swap";
	char hour[64] = "";

	if (!limit_is_known(p) || p->scope == OOM_SCOPE_DAEMON)
		return;
	if (per_second > 0 && per_second * HOUR_S <= p->limit)
		snprintf(hour, sizeof(hour), "; an hour needs %s more",
			 as_bytes(count_of_real(per_second * HOUR_S)).s);
	if (per_second > 0)
		advise(p, "%.15s grew by %s in %s: at this rate, twice %s (%s) lasts %s longer%s",
		       p->culprit->comm, as_bytes(p->grown_bytes).s, as_span(p->grown_ns / 1e9).s,
		       p->scope == OOM_SCOPE_CGROUP ? "the limit" : what, as_bytes(p->limit * 2).s,
		       as_span(p->limit / per_second).s, hour);
	else
		advise(p,
		       "how much more it needs is not known: nobody recorded its growth. Double %s "
		       "to %s and watch the peak: if it grows there too, it leaks",
		       p->scope == OOM_SCOPE_CGROUP ? "the limit" : what, as_bytes(p->limit * 2).s);
}

static void say_swap(struct oom_page *p)
{
	const struct oom_scene_record *s = &p->kill->scene;
	uint64_t anon = size_of(p, OOM_ANON);

	if (p->kind == OOM_ANON && anon && p->kill->has_scene && s->swap_limit == 0)
		advise(p,
		       "there was no swap: swap can take up to %s of anonymous memory, and slows "
		       "down what uses it",
		       as_bytes(anon).s);
}

static void help_process(struct oom_page *p)
{
	const struct oom_holder_record *h = p->culprit;
	uint64_t bytes = oom_holder_kept(h);

	if (p->blame == OOM_BLAME_PROCESS) {
		advise(p,
		       "give %.15s[%u] a memory limit of its own, or fewer workers or a smaller "
		       "batch: it was not killed%s",
		       h->comm, h->pid,
		       h->score_adj < p->kill->first.score_adj
			       ? ", because its oom_score_adj is lower"
			       : "");
		say_without(p, "it", bytes != FIGURE_UNKNOWN ? bytes : 0);
	} else {
		advise(p,
		       "let %.15s keep less memory: smaller caches, queues or batches (-Xmx, "
		       "GOMEMLIMIT, --max-old-space-size), or find its leak",
		       h->comm);
		command(p->advice + p->advices - 1, "faultscope memory -p PID");
	}
	if (p->kind_known && p->kind == OOM_PAGE_TABLES)
		advise(p,
		       "huge pages: page tables of %s map memory in small pages; with huge pages "
		       "they need about %s",
		       as_bytes(size_of(p, OOM_PAGE_TABLES)).s,
		       as_bytes(size_of(p, OOM_PAGE_TABLES) / PAGES_OF_TABLE + 1).s);
	say_higher_limit(p);
	say_swap(p);
}

static void help_many(struct oom_page *p)
{
	const struct oom_scene_record *s = &p->kill->scene;
	uint64_t each = s->tasks && limit_is_known(p) ? p->used / s->tasks : 0;

	command(advise(p, "limit the number of processes: %s %s took %s each on average",
		       as_count(s->tasks).s, as_words(s->tasks, "process{|es}").s,
		       as_bytes(each).s),
		p->scope == OOM_SCOPE_CGROUP ? "systemctl set-property UNIT TasksMax=NUMBER"
					     : "ps -eo comm= | sort | uniq -c | sort -rn | head");
}

static void help_tmpfs(struct oom_page *p)
{
	uint64_t bytes = p->unmapped_bytes ? p->unmapped_bytes : size_of(p, OOM_SHMEM);

	command(advise(p, "remove files of tmpfs (/dev/shm, /tmp, /run) or System V segments, or "
			  "keep them on a disk: killing a process does not free them"),
		"df -t tmpfs; ls -lS /dev/shm | head; ipcs -m");
	say_without(p, "them", bytes);
}

static void help_cache(struct oom_page *p)
{
	uint64_t waits = size_of(p, OOM_DIRTY) + size_of(p, OOM_WRITEBACK);

	if (waits)
		advise(p,
		       "let less data wait for the disk: %s of page cache was dirty or being "
		       "written. Write with O_DIRECT, call sync_file_range(2) or fsync(2) more "
		       "often, or use a faster disk",
		       as_bytes(waits).s);
	if (size_of(p, OOM_UNEVICTABLE))
		advise(p, "%s is locked in memory (mlock, ramfs) and is not reclaimable",
		       as_bytes(size_of(p, OOM_UNEVICTABLE)).s);
	if (!waits && !size_of(p, OOM_UNEVICTABLE))
		advise(p, "the page cache is in use by running reads or writes: read and write in "
			  "smaller pieces");
	say_without(p, "this page cache", size_of(p, OOM_FILE));
}

static void help_kernel(struct oom_page *p)
{
	uint64_t bytes = size_of(p, p->kind);

	switch (p->kind) {
	case OOM_SLAB:
		command(advise(p,
			       "find which kernel objects fill the slab: many open files, inodes, "
			       "dentries or timers of the processes of this cgroup"),
			"slabtop -o -s c | head -20");
		break;
	case OOM_SOCK:
		command(advise(p,
			       "socket buffers hold %s: a receiver reads too slowly, or too many "
			       "sockets have large buffers",
			       as_bytes(bytes).s),
			"ss -tm | head; sysctl net.ipv4.tcp_mem net.core.rmem_max");
		break;
	case OOM_KERNEL_STACK:
		advise(p, "threads hold %s of kernel stacks (16 KiB each): use fewer threads",
		       as_bytes(bytes).s);
		break;
	default:
		command(advise(p,
			       "kernel memory that is not listed by kind: data in pipes and unix "
			       "sockets, io_uring rings, BPF maps, or memory of drivers"),
			"ls -l /proc/*/fd 2>/dev/null | grep -c pipe:");
	}
	say_without(p, "it", bytes);
}

static void help_hugetlb(struct oom_page *p)
{
	command(advise(p,
		       "reserve fewer hugetlb pages: %s of RAM is reserved for them, whether "
		       "used or not",
		       as_bytes(size_of(p, OOM_HUGETLB)).s),
		"grep -i huge /proc/meminfo; sysctl vm.nr_hugepages");
	say_without(p, "them", size_of(p, OOM_HUGETLB));
}

static void say_victims(struct oom_page *p)
{
	const struct oom_kill *k = p->kill;

	if (k->victims > 1)
		advise(p,
		       "memory.oom.group is set: the kernel killed %s processes together, to "
		       "free the memory of the whole workload",
		       as_count(k->victims).s);
	if (k->first.pid_inside == 1 && k->first.subject.pid != 1)
		advise(p, "the killed process was PID 1 of its container: the container ended with "
			  "it");
	/* programs such as earlyoom have settings of their own, which faultscope does not read */
	if (k->first.score_adj > 0 && p->blame != OOM_BLAME_VICTIM && p->scope != OOM_SCOPE_DAEMON)
		advise(p, "the kernel chose the victim because of its oom_score_adj of %d",
		       k->first.score_adj);
}

void oom_advise(struct oom_page *p)
{
	switch (p->blame) {
	case OOM_BLAME_VICTIM:
	case OOM_BLAME_PROCESS:
		help_process(p);
		break;
	case OOM_BLAME_MANY:
		help_many(p);
		break;
	case OOM_BLAME_TMPFS:
		help_tmpfs(p);
		break;
	case OOM_BLAME_CACHE:
		help_cache(p);
		break;
	case OOM_BLAME_KERNEL:
		help_kernel(p);
		break;
	case OOM_BLAME_HUGETLB:
		help_hugetlb(p);
		break;
	default:
		advise(p,
		       "run faultscope record or export before the next kill: the values of this "
		       "kill were not recorded");
	}
	say_victims(p);
}
