// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests the parser of the kernel's reports of OOM kills, with reports of several kernels. */
#include <stdio.h>
#include <string.h>

#include "collect/oom/kernel_log.h"
#include "tap.h"

#define PAGE 4096
#define MIB  (1ULL << 20)

/* Passes lines to the parser. Returns true if the report of the kill of `pid` is complete. */
static bool take(struct oom_report *r, const char *text, uint32_t pid)
{
	char line[2048];

	oom_report_begin(r, PAGE);
	while (*text) {
		size_t n = strcspn(text, "\n");

		snprintf(line, sizeof(line), "%.*s", (int)n, text);
		if (oom_report_line(r, line) && r->pid == pid)
			return true;
		text += n + (text[n] == '\n');
	}
	return false;
}

static struct oom_scene_record filled(const struct oom_report *r)
{
	struct oom_scene_record s = {};

	memset(s.memory, 0xff, sizeof(s.memory));
	oom_report_fill(r, &s);
	return s;
}

static const char v2[] =
	"python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0\n"
	"CPU: 0 PID: 300 Comm: python3 Not tainted 6.12.0\n"
	"Call Trace:\n <TASK>\n dump_stack_lvl+0x5d/0x80\n oom_kill_process.cold+0x8/0x8a\n"
	" ? srso_alias_return_thunk+0x5/0xfbef5\n do_anonymous_page+0x340/0x900\n"
	" handle_mm_fault+0xd0/0x310\nRIP: 0033:0x7f23c7b7154a\n"
	"memory: usage 65536kB, limit 65536kB, failcnt 5\n"
	"swap: usage 1024kB, limit 2048kB, failcnt 0\n"
	"Memory cgroup stats for /kubepods/pod1:\n"
	"anon 41943040\nfile 12582912\nkernel 10485760\nkernel_stack 1048576\npagetables 2097152\n"
	"sec_pagetables 0\nsock 1048576\nshmem 8388608\nfile_dirty 4096\nfile_writeback 0\n"
	"unevictable 0\nslab_reclaimable 1048576\nslab_unreclaimable 3145728\nslab 4194304\n"
	"Tasks state (memory values in pages):\n"
	"[  pid  ]   uid  tgid total_vm      rss rss_anon rss_file rss_shmem pgtables_bytes "
	"swapents "
	"oom_score_adj name\n"
	"[    300]     0   300    99999     9000     8000      200      800   122880       10"
	"             0 python3\n"
	"[    301]  1000   301    99999     1000     1000        0        0    40960        0"
	"          -500 a [b] c\n"
	"oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,"
	"oom_memcg=/kubepods/pod1,task_memcg=/kubepods/pod1/c2,task=x,pid=9,pid=300,uid=0\n";

static void test_v2(void)
{
	struct oom_report r;
	struct oom_scene_record s;

	ok(take(&r, v2, 300), "the report is complete");
	is_u64(r.constraint, OOM_MEMCG, "constraint");
	is_str(r.cgroup, "/kubepods/pod1", "cgroup with the limit");
	is_str(r.victim_cgroup, "/kubepods/pod1/c2", "cgroup of the victim");
	is_str(r.gfp, "GFP_KERNEL", "flags of the request");
	is_str(r.path, "do_anonymous_page handle_mm_fault", "kernel functions");
	s = filled(&r);
	is_u64(s.used, 64 * MIB, "memory in use");
	is_u64(s.limit, 64 * MIB, "limit");
	is_u64(s.swap_used, MIB, "swap in use");
	is_u64(s.swap_limit, 2 * MIB, "limit of swap");
	is_u64(s.memory[OOM_ANON], 40 * MIB, "anonymous");
	is_u64(s.memory[OOM_SHMEM], 8 * MIB, "shared");
	is_u64(s.memory[OOM_FILE], 4 * MIB, "page cache without tmpfs");
	is_u64(s.memory[OOM_PAGE_TABLES], 2 * MIB, "page tables");
	is_u64(s.memory[OOM_SLAB], 4 * MIB, "slab");
	is_u64(s.memory[OOM_KERNEL_STACK], MIB, "kernel stacks");
	is_u64(s.memory[OOM_SOCK], MIB, "sockets");
	is_u64(s.memory[OOM_OTHER_KERNEL], 4 * MIB, "the rest of what is in use");
	is_u64(s.memory[OOM_HUGETLB], FIGURE_UNKNOWN, "not printed: unknown");
	is_u64(s.tasks, 2, "processes");
	is_u64(r.holder[0].pid, 300, "the larger process first");
	is_u64(r.holder[0].anon, 8000 * PAGE, "its anonymous memory");
	is_u64(r.holder[0].swap, 10 * PAGE, "its swap");
	is_u64(r.holder[0].page_tables, 122880, "its page tables are in bytes");
	is_str(r.holder[1].comm, "a [b] c", "a name with blanks and brackets");
	is_u64((uint64_t)(int64_t)r.holder[1].score_adj, (uint64_t)-500, "oom_score_adj");
	ok(!take(&r, v2, 301), "the report is not that of another kill");
}

/* cgroup v1 of 6.18 prints totals behind the values of the cgroup alone, and all kernel memory. */
static void test_v1(void)
{
	struct oom_report r;
	struct oom_scene_record s;

	ok(take(&r,
		"a invoked oom-killer: gfp_mask=0x1(X), order=3, oom_score_adj=0\n"
		"memory: usage 32768kB, limit 32768kB, failcnt 142\n"
		"memory+swap: usage 32768kB, limit 9007199254740988kB, failcnt 0\n"
		"kmem: usage 2048kB, limit 9007199254740988kB, failcnt 0\n"
		"Memory cgroup stats for /t:\n"
		"cache 0\nrss 4096\nshmem 0\ntotal_cache 1048576\ntotal_rss 20971520\n"
		"total_shmem 1048576\ntotal_dirty 0\ntotal_writeback 0\ntotal_unevictable 0\n"
		"Tasks state (memory values in pages):\n"
		"[  pid  ]   uid  tgid total_vm      rss pgtables_bytes swapents oom_score_adj "
		"name\n"
		"[      7]     0     7    10823     9792   1048576        3             0 a\n"
		"oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,"
		"oom_memcg=/t,task_memcg=/t,task=a,pid=7,uid=0\n",
		7),
	   "a report of cgroup v1");
	s = filled(&r);
	is_u64(s.memory[OOM_ANON], 20 * MIB, "the total replaces the value of the cgroup alone");
	is_u64(s.memory[OOM_SHMEM], MIB, "shared");
	is_u64(s.memory[OOM_FILE], 0, "page cache");
	is_u64(s.memory[OOM_PAGE_TABLES], MIB, "page tables, from the table of tasks");
	is_u64(s.memory[OOM_OTHER_KERNEL], MIB, "other kernel memory");
	is_u64(s.memory[OOM_SLAB], FIGURE_UNKNOWN, "slab is not printed");
	is_u64(s.swap_limit, FIGURE_UNKNOWN, "no limit of memory and swap");
	is_u64(s.order, 3, "order");
	is_u64(r.holder[0].rss, 9792 * PAGE, "rss");
	is_u64(r.holder[0].anon, FIGURE_UNKNOWN, "before 6.8 only the sum is printed");
}

static void test_host(void)
{
	struct oom_report r;
	struct oom_scene_record s;

	ok(take(&r,
		"eat invoked oom-killer: gfp_mask=0x1(GFP_HIGHUSER_MOVABLE), order=0, "
		"oom_score_adj=0\n"
		"Mem-Info:\n"
		"active_anon:1000 inactive_anon:60000 isolated_anon:0\n"
		" active_file:10 inactive_file:20 isolated_file:2\n"
		" unevictable:0 dirty:3 writeback:1\n"
		" slab_reclaimable:100 slab_unreclaimable:200\n"
		" mapped:30 shmem:1000 pagetables:300\n"
		" free:900 free_pcp:0 free_cma:0\n"
		"Node 0 active_anon:4000kB inactive_anon:240000kB kernel_stack:800kB "
		"pagetables:1200kB\n"
		"Node 0 DMA free:1500kB boost:0kB min:92kB low:112kB\n"
		"Node 0 DMA32 free:2100kB boost:0kB min:2200kB low:2700kB high:3200kB\n"
		"Node 0 DMA: 1*4kB (U) 0*8kB = 1500kB\n"
		"Node 0 hugepages_total=8 hugepages_free=8 hugepages_surp=0 hugepages_size=2048kB\n"
		"1030 total pagecache pages\nFree swap  = 0kB\nTotal swap = 1024kB\n"
		"98304 pages RAM\n0 pages HighMem/MovableOnly\n2304 pages reserved\n"
		"oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,"
		"global_oom,task_memcg=/,task=eat,pid=70,uid=0\n",
		70),
	   "a report of the whole machine");
	s = filled(&r);
	is_u64(r.constraint, OOM_NONE, "constraint");
	is_str(r.cgroup, "", "no cgroup");
	is_str(r.victim_cgroup, "/", "cgroup of the victim");
	is_u64(s.limit, 96000 * PAGE, "RAM without reserved pages");
	is_u64(s.used, (96000 - 900) * PAGE, "in use");
	is_u64(s.memory[OOM_ANON], 60000 * PAGE, "anonymous memory without tmpfs");
	is_u64(s.memory[OOM_SHMEM], 1000 * PAGE, "shared memory");
	is_u64(s.memory[OOM_FILE], 32 * PAGE, "page cache");
	is_u64(s.memory[OOM_KERNEL_STACK], 800 * 1024, "kernel stacks");
	is_u64(s.memory[OOM_HUGETLB], 16 * MIB, "hugetlb pages");
	is_u64(s.swap_used, MIB, "swap in use");
	is_str(s.zone, "Node 0 DMA32", "the zone that is short");
	is_u64(s.zone_free, 2100 * 1024, "its free bytes");
	is_u64(s.zone_min, 2200 * 1024, "the bytes that the kernel keeps");
}

/* Reports of other kills, and lines of other programs, must not be part of a report. */
static void test_others(void)
{
	struct oom_report r;

	ok(!take(&r,
		 "oom-kill:constraint=CONSTRAINT_MEMCG,oom_memcg=/a,task_memcg=/"
		 "a,task=b,pid=7,uid=0",
		 7),
	   "a last line without a first one is no report");
	ok(!take(&r, "", 7), "nothing");
	ok(!take(&r,
		 "a invoked oom-killer: gfp_mask=\n[\n[ ] x\nmemory: usage\nTasks state \n[  pid  "
		 "]\n[]\n"
		 "oom-kill:\noom-kill:constraint=,pid=",
		 7),
	   "damaged lines");
	is_u64(r.holders, 0, "no process");
}

/* Columns are found by their titles, and lines of other tasks may come between the rows. */
static void test_tables(void)
{
	static const char text[] =
		"x invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0\n"
		"[    1]     7   300    99999     9000\n"
		"Tasks state (memory values in pages):\n"
		"[  pid  ]   oom_score_adj  tgid total_vm      rss swapents name\n"
		"[    300]             -17   300    99999     9000       10 python3\n"
		"usb 1-1: [3]            5   301    99999    99000       10 no_task\n"
		"[    302]               3   302    99999      500       10 sh\n"
		"oom-kill:constraint=CONSTRAINT_NONE,task=x,pid=300,uid=0\n";
	struct oom_report r;

	ok(take(&r, text, 300), "a report with other columns");
	is_u64(r.tasks, 2, "tasks");
	is_u64(r.holders, 2, "tasks that are kept");
	is_u64(r.holder[0].pid, 300, "the largest");
	is_u64(r.holder[0].score_adj, (uint64_t)-17, "the first column");
	is_u64(r.holder[0].rss, 9000 * PAGE, "its memory");
	is_u64(r.holder[0].anon, FIGURE_UNKNOWN, "a column that is missing");
	is_str(r.holder[1].comm, "sh", "the other one");
	is_u64(r.holder[1].score_adj, 3, "its value");
}

static void test_escapes(void)
{
	char text[] = "a\\x0ab\\x5cx\\q\\x1", *plain = text;

	kernel_log_unescape(plain);
	is_str(plain, "a\nb\\x\\q\\x1", "escapes of /dev/kmsg");
}

int main(void)
{
	test_v2();
	test_v1();
	test_host();
	test_others();
	test_tables();
	test_escapes();
	return tap_done();
}
