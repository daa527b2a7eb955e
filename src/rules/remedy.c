// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "rules/remedy.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "rules/remedy_parts.h"

#define WHO_HAS(what)                                                                              \
	"find /proc/[0-9]*/fd -lname 'anon_inode:*" what "*' 2>/dev/null | cut -d/ -f3 | sort | "  \
	"uniq -c | sort -n | tail"
#define FEWER_THREADS "fewer threads: pools of a fixed size; threads that end"
#define LESS_MEMORY                                                                                \
	"less memory: find what grows; smaller caches, batches, heaps; files in tmpfs count too"

/* What is known of each limit, whoever set it. */
struct remedy_facts {
	const char *fix;   /* less of what it counts */
	const char *cost;  /* of a higher one */
	const char *check; /* a command: who uses it; NULL: none is known */
};

/*
 * Costs are sizes in the kernel: vm_area_struct and file are 192 bytes each on 6.18 (in
 * /proc/slabinfo), a maple tree node 256 for up to 16 mappings; fs/file.c, fs/eventpoll.c (160
 * bytes a watch, Documentation/admin-guide/sysctl/fs.rst), fs/notify/inotify/inotify_user.c
 * (INOTIFY_WATCH_COST: a mark and two inodes), kernel/fork.c (a stack of 16 KiB on x86-64 and arm64
 * and a task_struct of 6 to 10).
 */
static const struct remedy_facts facts[NR_LIMITS] = {
	[LIMIT_MAX_MAP_COUNT] =
		{"fewer mappings: pack small ones together, unmap what is done with, let the "
		 "allocator keep its pages",
		 "nothing until it is used; then about 200 bytes of kernel memory a mapping, in "
		 "every process that makes them; core files of more than 65,535 want a debugger "
		 "that knows PN_XNUM",
		 "grep -c '' /proc/[0-9]*/maps 2>/dev/null | sort -t: -k2 -n | tail"},
	[LIMIT_FILE_MAX] = {"fewer open files: find who holds them, and close what is done with",
			    "nothing until it is used; then about 200 bytes of kernel memory a "
			    "file, and what is behind it",
			    "faultscope --sort fds 1 1"},
	[LIMIT_NR_OPEN] = {"descriptors are handed out lowest first: a number this high is asked "
			   "for, or a leak",
			   "nothing by itself: it is what hard limits may be raised to", NULL},
	[LIMIT_OVERCOMMIT_MEMORY] =
		{"smaller reservations, MAP_NORESERVE or PROT_NONE for what is not touched; more "
		 "swap lets strict accounting promise more",
		 "what was promised may not be there when it is touched: then the OOM killer ends "
		 "a process, where a call would have been refused",
		 "grep -i commit /proc/meminfo"},
	[LIMIT_OVERCOMMIT_RATIO] = {"smaller reservations; more swap",
				    "less of the memory is kept back from promises",
				    "grep -i commit /proc/meminfo"},
	[LIMIT_OVERCOMMIT_KBYTES] = {"smaller reservations; more swap",
				     "less of the memory is kept back from promises",
				     "grep -i commit /proc/meminfo"},
	[LIMIT_INOTIFY_INSTANCES] = {"one instance can have any number of watches: share it, and "
				     "close what is done with",
				     "little: an instance, and up to fs.inotify.max_queued_events "
				     "events of each that does not read them",
				     WHO_HAS("inotify")},
	[LIMIT_INOTIFY_WATCHES] = {"watch fewer directories: leave out build products, "
				   "node_modules, .git",
				   "about 1 KiB of kernel memory a watch that is made, and the "
				   "inode it keeps there",
				   WHO_HAS("inotify")},
	[LIMIT_INOTIFY_EVENTS] = {"read the events faster: those beyond are dropped, with one "
				  "IN_Q_OVERFLOW",
				  "kernel memory for the events of a reader that is slow", NULL},
	[LIMIT_EPOLL_WATCHES] = {"remove descriptors that are done with from epoll sets",
				 "about 160 bytes of kernel memory a watch that is made",
				 WHO_HAS("eventpoll")},
	[LIMIT_PIPE_SIZE] = {"smaller pipes, read in time",
			     "that much memory that cannot be swapped, a pipe", NULL},
	[LIMIT_PIPE_PAGES_SOFT] = {"fewer or smaller pipes: beyond it new ones have two pages, or "
				   "one",
				   "memory that cannot be swapped, of every user", NULL},
	[LIMIT_PIPE_PAGES_HARD] = {"fewer or smaller pipes",
				   "memory that cannot be swapped, of every user", NULL},
	[LIMIT_THREADS_MAX] = {FEWER_THREADS,
			       "nothing until it is used; then about 24 KiB of kernel memory a "
			       "thread",
			       "ps -eo nlwp,pid,comm --sort nlwp | tail"},
	[LIMIT_PID_MAX] = {FEWER_THREADS,
			   "pids grow longer; 32-bit programs of old may not take more than 65,535",
			   "ps -eo nlwp,pid,comm --sort nlwp | tail"},
	[LIMIT_HUGEPAGES] = {"fewer huge pages asked for; or none: transparent ones need no pool",
			     "that memory is taken at once, and is of no use to anything else; "
			     "fewer may be found than asked for, where memory is fragmented",
			     "grep -i huge /proc/meminfo"},
	[LIMIT_MMAP_MIN_ADDR] = {"map at a higher address",
				 "kernel bugs that follow a null pointer can be used for attacks",
				 NULL},
	[LIMIT_KPTR_RESTRICT] = {"", "who has CAP_SYSLOG sees where the kernel lies", NULL},
	[LIMIT_NOFILE] = {"fewer open descriptors: find the leak, close what is done with",
			  "8 bytes a slot of its table, which never shrinks, and about 200 a file "
			  "that is open; select() cannot take numbers from 1,024 on, and programs "
			  "that close all up to the limit as they start take long with a large one",
			  NULL},
	[LIMIT_AS] =
		{"it counts reservations that nobody touches: bound memory by a cgroup instead",
		 "nothing by itself: memory is what the cgroup and the machine have", NULL},
	[LIMIT_DATA] = {"since Linux 4.7 it counts private writable mappings too, not only the "
			"heap: bound memory by a cgroup instead",
			"nothing by itself: memory is what the cgroup and the machine have", NULL},
	[LIMIT_STACK] = {"less depth: recursion without end, large arrays on the stack",
			 "address space: where it is not unlimited, each thread reserves as much; "
			 "programs started with unlimited get the old layout of mappings",
			 NULL},
	[LIMIT_MEMLOCK] = {"lock less, and unlock what is done with; since 5.12 rings of io_uring "
			   "do not count",
			   "what is locked can be neither swapped nor reclaimed", NULL},
	[LIMIT_NPROC] = {FEWER_THREADS "; it counts all of the user's, in every container",
			 "a fork bomb of this user goes further", NULL},
	[LIMIT_CGROUP_MEMORY] = {LESS_MEMORY, "the memory is another's no more", NULL},
	[LIMIT_CGROUP_MEMORY_HIGH] = {LESS_MEMORY,
				      "the memory is another's no more; beyond it is slowed down "
				      "and reclaimed from, not killed",
				      NULL},
	[LIMIT_CGROUP_PIDS] = {FEWER_THREADS, "a fork bomb in it goes further", NULL},
	[LIMIT_CGROUP_HUGETLB] = {"fewer huge pages", "the pool is another's no more", NULL},
	[LIMIT_CGROUP_HUGETLB_RSVD] = {"smaller reservations of huge pages",
				       "the pool is another's no more", NULL},
	[LIMIT_FANOTIFY_GROUPS] = {"one group can have any number of marks: share it, and close "
				   "what is done with",
				   "little: a group, and the events of each that does not read "
				   "them",
				   WHO_HAS("fanotify")},
	[LIMIT_MSGQUEUE] = {"mq_unlink() queues that are done with; fewer or smaller messages a "
			    "queue",
			    "kernel memory that cannot be swapped, of a user's queues",
			    "ls -l /dev/mqueue"},
};

static const struct remedy_facts *facts_of(const struct limit *l)
{
	return &facts[l - limit_table];
}

struct remedy *remedy_add(struct remedies *all, enum remedy_kind kind, bool lasts, const char *say,
			  struct buf *command)
{
	struct remedy *r = &all->r[all->n];

	if (all->n == REMEDY_MAX) {
		if (command)
			buf_free(command);
		return r - 1;
	}
	memset(r, 0, sizeof(*r));
	r->kind = kind;
	r->lasts = lasts;
	snprintf(r->say, sizeof(r->say), "%s", say);
	if (kind == REMEDY_GAIN_TIME)
		r->cost = facts_of(all->o->limit)->cost;
	if (command && command->s && !command->failed && command->len < sizeof(r->command))
		memcpy(r->command, command->s, command->len + 1);
	if (command)
		buf_free(command);
	all->n++;
	return r;
}

/* Of a mode: the one that refuses less. */
static uint64_t proposed(const struct origin *o, uint64_t want)
{
	uint64_t used = o->limit->kind == LIMIT_OF_CGROUP ? o->used : o->value;

	if (want)
		return o->limit->most && want > o->limit->most ? o->limit->most : want;
	if (o->limit == &limit_table[LIMIT_OVERCOMMIT_MEMORY])
		return o->value == 2 ? 0 : 1;
	if (o->limit == &limit_table[LIMIT_KPTR_RESTRICT])
		return 1;
	if (o->limit->is_mode || used == LIMIT_NONE)
		return o->value;
	return limit_roomy(o->limit, used);
}

static uint64_t wanted(const struct origin *o, const struct remedy_for *f)
{
	uint64_t want = proposed(o, f->want);
	bool is_figure = want != LIMIT_NONE && !o->limit->is_mode;

	return is_figure && f->most && want > f->most ? f->most : want;
}

void put_wanted(const struct remedies *all, uint64_t unit, const char *none, struct buf *c)
{
	if (all->want == LIMIT_NONE)
		buf_puts(c, none);
	else
		buf_printf(c, "%" PRIu64, all->want / unit + !!(all->want % unit));
}

size_t remedies_for(const struct origin *o, const struct remedy_for *f, struct remedy *ret)
{
	struct remedies all = {.o = o, .f = f, .want = wanted(o, f), .r = ret};
	const struct remedy_facts *known = facts_of(o->limit);
	struct buf check = {};

	if (*known->fix)
		remedy_add(&all, REMEDY_FIX_CAUSE, true, known->fix, NULL);
	switch (o->limit->kind) {
	case LIMIT_OF_MACHINE:
		remedy_machine(&all);
		break;
	case LIMIT_OF_PROCESS:
		remedy_process(&all);
		break;
	case LIMIT_OF_CGROUP:
		remedy_cgroup(&all);
		break;
	}
	if (known->check) {
		buf_puts(&check, known->check);
		remedy_add(&all, REMEDY_CHECK, false, "who uses it", &check);
	}
	return all.n;
}

const struct remedy *remedy_find(const struct remedy *r, size_t n, enum remedy_kind kind,
				 bool lasts)
{
	for (size_t i = 0; i < n; i++)
		if (r[i].kind == kind && r[i].lasts == lasts && r[i].command[0])
			return &r[i];
	return NULL;
}
