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
	is_str(s.gfp, "GFP_KERNEL", "flags of the request, in the scene");
	is_str(s.path, "do_anonymous_page handle_mm_fault", "kernel functions, in the scene");
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

/* A line of the report of a cgroup, behind its heading. */
static struct oom_report of_cgroup(const char *line)
{
	struct oom_report r;

	oom_report_begin(&r, PAGE);
	oom_report_line(&r, "Memory cgroup stats for /a:");
	oom_report_line(&r, line);
	return r;
}

static void test_limits(void)
{
	static const struct {
		const char *line;
		enum oom_printed value;
		uint64_t want;
		const char *name;
	} rows[] = {
		{"memory: usage 1kB, limit 1125899906842623kB, failcnt 0", PRINTED_LIMIT,
		 ((1ULL << 50) - 1) * 1024, "the largest limit"},
		{"memory: usage 1kB, limit 1125899906842624kB, failcnt 0", PRINTED_LIMIT,
		 FIGURE_UNKNOWN, "2^60 bytes: there is no limit"},
		{"memory: usage 1kB, limit 0kB, failcnt 0", PRINTED_LIMIT, 0, "a limit of 0"},
		{"memory: usage 3kB, limit", PRINTED_USED, FIGURE_UNKNOWN, "half a line"},
		{"memory+swap: usage 3kB, limit 4kB, failcnt 0", PRINTED_SWAP_USED, 3072,
		 "memory and swap in use"},
		{"memory+swap: usage 3kB, limit 4kB, failcnt 0", PRINTED_SWAP_LIMIT, 4096,
		 "their limit"},
		{"memory+swap: usage 3kB, limit 4kB, failcnt 0", PRINTED_USED, FIGURE_UNKNOWN,
		 "memory alone is another line"},
		{"kmem: usage 3kB, limit 4kB, failcnt 0", PRINTED_KMEM, 3072, "kernel memory"},
		{"kmem: usage 3kB, limit 4kB, failcnt 0", PRINTED_KMEM + 1, FIGURE_UNKNOWN,
		 "the limit of kernel memory is not told"},
		{"anon 0", PRINTED_ANON, 0, "a number of the digit 0"},
		{"anon 9", PRINTED_ANON, 9, "a number of the digit 9"},
		{"anon /", PRINTED_ANON, FIGURE_UNKNOWN, "the character before the digits"},
		{"anon :", PRINTED_ANON, FIGURE_UNKNOWN, "the character behind the digits"},
		{"anon -5", PRINTED_ANON, FIGURE_UNKNOWN, "a negative number"},
		{"anon", PRINTED_ANON, FIGURE_UNKNOWN, "a key without a number"},
		{"anon_thp 5", PRINTED_ANON, FIGURE_UNKNOWN, "a key that begins with another one"},
		{"ano 5", PRINTED_ANON, FIGURE_UNKNOWN, "a key that is part of another one"},
		{"file_dirty 5", PRINTED_DIRTY, 5, "dirty"},
		{"file_writeback 6", PRINTED_WRITEBACK, 6, "being written"},
		{"unevictable 7", PRINTED_UNEVICTABLE, 7, "unevictable"},
		{"hugetlb 8", PRINTED_HUGETLB, 8, "hugetlb pages"},
		{"sec_pagetables 9", PRINTED_PAGE_TABLES, 9, "page tables of guests"},
		{"total_dirty 10", PRINTED_DIRTY, 10, "dirty, of cgroup v1"},
		{"total_writeback 11", PRINTED_WRITEBACK, 11, "being written, of cgroup v1"},
		{"total_unevictable 12", PRINTED_UNEVICTABLE, 12, "unevictable, of cgroup v1"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct oom_report r = of_cgroup(rows[i].line);

		is_u64(r.printed[rows[i].value], rows[i].want, rows[i].name);
	}
}

static void test_sums_of_keys(void)
{
	struct oom_report r = of_cgroup("pagetables 100");

	oom_report_line(&r, "sec_pagetables 20");
	is_u64(r.printed[PRINTED_PAGE_TABLES], 120, "two keys of one value are added");
	oom_report_line(&r, "unevictable 5");
	oom_report_line(&r, "total_unevictable 70");
	is_u64(r.printed[PRINTED_UNEVICTABLE], 70, "a total replaces the value before it");
	oom_report_line(&r, "total_rss 0");
	is_u64(r.printed[PRINTED_ANON], 0, "a total of 0 is known");
}

static struct oom_report of_host(const char *const *lines)
{
	struct oom_report r;

	oom_report_begin(&r, PAGE);
	oom_report_line(&r, "Mem-Info:");
	for (; *lines; lines++)
		oom_report_line(&r, *lines);
	return r;
}

#define HOST(...) of_host((const char *const[]){__VA_ARGS__, NULL})

/* A zone is short if it has fewer free bytes than the kernel keeps. */
static void test_zones(void)
{
	static const struct {
		const char *dma, *normal, *want, *name;
	} rows[] = {
		{"Node 0 DMA free:91kB boost:0kB min:92kB", "Node 0 Normal free:92kB min:92kB",
		 "Node 0 DMA", "free memory that equals the minimum is enough"},
		{"Node 0 DMA free:91kB boost:0kB min:92kB", "Node 0 Normal free:91kB min:92kB",
		 "Node 0 Normal", "of two zones that are short, the last one"},
		{"Node 0 DMA free:900kB min:92kB", "Node 0 Normal free:92kB min:92kB", "Node 0 DMA",
		 "the first one if none is short"},
		{"Node 0 DMA free:91kB", "Node 0 Normal min:92kB", "", "half of the values"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct oom_report r = HOST(rows[i].dma, rows[i].normal);

		is_str(r.zone, rows[i].want, rows[i].name);
	}
}

static void test_machine_values(void)
{
	struct oom_report r = HOST(
		"active_anon:1 inactive_anon:20 isolated_anon:300",
		" active_file:4 inactive_file:50 isolated_file:600",
		" unevictable:7 dirty:8 writeback:9", " slab_reclaimable:10 slab_unreclaimable:11",
		" mapped:12 shmem:13 pagetables:14", " sec_pagetables:1 bounce:0",
		" free:15 free_pcp:16 free_cma:17", "Node 0 active_anon:4kB kernel_stack:100kB",
		"Node 1 active_anon:4kB kernel_stack:20kB",
		"Node 0 hugepages_total=2 hugepages_free=0 hugepages_surp=0 hugepages_size=2048kB",
		"Node 1 hugepages_total=1 hugepages_free=0 hugepages_surp=0 hugepages_size=1024kB",
		"Node 1 hugepages_total=9", "5 pages RAM", " pages RAM", "6 pages RAM x",
		"7 pages reserved", "Free swap  = 30kB", "Total swap = 70kB");
	static const struct {
		enum oom_printed value;
		uint64_t want;
		const char *name;
	} rows[] = {
		{PRINTED_ANON, 321 * PAGE, "three lists of anonymous pages"},
		{PRINTED_FILE, 654 * PAGE, "three lists of file pages"},
		{PRINTED_UNEVICTABLE, 7 * PAGE, "unevictable pages"},
		{PRINTED_DIRTY, 8 * PAGE, "dirty pages"},
		{PRINTED_WRITEBACK, 9 * PAGE, "pages that are being written"},
		{PRINTED_SLAB_RECLAIMABLE, 10 * PAGE, "slab that can be reclaimed"},
		{PRINTED_SLAB_UNRECLAIMABLE, 11 * PAGE, "slab that cannot"},
		{PRINTED_SHMEM, 13 * PAGE, "shared pages"},
		{PRINTED_PAGE_TABLES, 15 * PAGE, "page tables, with those of guests"},
		{PRINTED_FREE, 15 * PAGE, "free pages, without those of CPUs"},
		{PRINTED_KERNEL_STACK, 120 * 1024, "kernel stacks of all nodes"},
		{PRINTED_HUGETLB, 5 * MIB, "hugetlb pages of all nodes and sizes"},
		{PRINTED_RAM, 5 * PAGE, "pages of RAM"},
		{PRINTED_RESERVED, 7 * PAGE, "reserved pages"},
		{PRINTED_SWAP_FREE, 30 * 1024, "free swap"},
		{PRINTED_SWAP_TOTAL, 70 * 1024, "all swap"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		is_u64(r.printed[rows[i].value], rows[i].want, rows[i].name);
	is_str(r.zone, "", "no line of a zone");
}

#define HEADING "[  pid  ]   uid  tgid rss_anon rss_shmem swapents name total_vm"

/* Passes a heading and the number of rows that `row` makes. */
static void take_rows(struct oom_report *r, const char *heading, int rows,
		      void (*row)(int i, char *ret, size_t size))
{
	char line[256];

	oom_report_begin(r, PAGE);
	oom_report_line(r, "Tasks state (memory values in pages):");
	oom_report_line(r, heading);
	for (int i = 0; i < rows; i++) {
		row(i, line, sizeof(line));
		oom_report_line(r, line);
	}
}

/* Tasks that hold the same: three parts of memory count. */
static void equal_row(int i, char *ret, size_t size)
{
	snprintf(ret, size, "[ %6d] 0 %d %d %d %d t", i + 1, i + 1, i % 3 == 0 ? 8 : 0,
		 i % 3 == 1 ? 8 : 0, i % 3 == 2 ? 8 : 0);
}

static void growing_row(int i, char *ret, size_t size)
{
	snprintf(ret, size, "[ %6d] 0 %d %d 0 0 t", i + 1, i + 1, i);
}

static void test_holders(void)
{
	struct oom_report r;
	bool ordered = true;

	take_rows(&r, HEADING, OOM_HOLDERS, equal_row);
	is_u64(r.holders, OOM_HOLDERS, "as many tasks as are kept");
	for (uint32_t i = 0; i < OOM_HOLDERS; i++)
		ordered &= r.holder[i].pid == i + 1;
	ok(ordered, "tasks that hold the same stay in the order of the table");
	take_rows(&r, HEADING, OOM_HOLDERS + 1, growing_row);
	is_u64(r.holders, OOM_HOLDERS, "one more is left out");
	is_u64(r.tasks, OOM_HOLDERS + 1, "but counted");
	is_u64(r.tasks_kept_bytes, OOM_HOLDERS * (OOM_HOLDERS + 1) / 2 * PAGE,
	       "with the memory of all");
	is_u64(r.holder[0].pid, OOM_HOLDERS + 1, "the largest is the first");
	is_u64(r.holder[OOM_HOLDERS - 1].pid, 2, "the smallest is left out");
}

static void wide_row(int i, char *ret, size_t size)
{
	snprintf(ret, size, "[ 1] 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 a-name-too-long-to-fit 17");
}

static void test_columns(void)
{
	static const struct {
		const char *heading;
		uint64_t tasks;
		const char *name;
	} rows[] = {
		{"[ pid ] b tgid d e f g h i j k l m n o p name total_vm", 1,
		 "the name as column 16"},
		{"[ pid ] b c d e f g h i j k l m n o p tgid name total_vm", 0,
		 "columns behind the sixteenth are not read"},
		{"[ pid ] b c d total_vm name", 0, "no column of the process"},
		{"[ pid ] b tgid d total_vm", 0, "no column of the name"},
		{"[ pid ] tgids tgi d total_vm name", 0, "titles that are similar"},
	};
	struct oom_report r;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		take_rows(&r, rows[i].heading, 1, wide_row);
		is_u64(r.tasks, rows[i].tasks, rows[i].name);
	}
	take_rows(&r, rows[0].heading, 1, wide_row);
	is_u64(r.holder[0].pid, 3, "the process of a wide table");
	is_str(r.holder[0].comm, "a-name-too-long", "a name is cut to the kernel's length");
	is_u64(r.holder[0].rss, FIGURE_UNKNOWN, "no column of its memory");
	is_u64(r.tasks_page_table_bytes, 0, "no column of page tables");
}

#define NAME15 "abcdefghijklmno"
#define NAME60 NAME15 NAME15 NAME15 NAME15
#define NAME63 NAME60 "xyz"

static struct oom_report of_trace(const char *const *frames)
{
	struct oom_report r;

	oom_report_begin(&r, PAGE);
	oom_report_line(&r, "Call Trace:");
	for (; *frames; frames++)
		oom_report_line(&r, *frames);
	return r;
}

#define TRACE(...) of_trace((const char *const[]){__VA_ARGS__, NULL})

static void test_trace(void)
{
	struct oom_report r = TRACE(" " NAME63 "w+0x1/0x2", " " NAME63 "+0x1/0x2");

	is_str(r.path, NAME63, "a name of 63 bytes is kept, a longer one is left out");
	r = TRACE(" " NAME63 "+0x1", " " NAME63 "+0x1", " " NAME63 "+0x1", " " NAME63 "+0x1",
		  " a+0x1");
	is_str(r.path, NAME63 " " NAME63 " " NAME63 " " NAME63, "a path that just fits");
	r = TRACE(" " NAME63 "+0x1", " " NAME63 "+0x1", " " NAME63 "+0x1", " " NAME60 "+0x1",
		  " abc+0x1", " ab+0x1");
	is_str(r.path, NAME63 " " NAME63 " " NAME63 " " NAME60 " ab",
	       "a function that does not fit is left out, not cut");
	r = TRACE(" dump_stack+0x1", " show_stack+0x1", " dump_header+0x1", " out_of_memory+0x1",
		  " mem_cgroup_out_of_memory+0x1", " mem_cgroup_oom+0x1", " try_charge+0x1",
		  " try_charge_memcg+0x1", " oom_kill_process+0x1", " dump_stack_lvl+0x1",
		  " f.cold+0x1", " ? g+0x1", " <TASK>");
	is_str(r.path, "f", "functions of every kill are left out");
	r = TRACE(" f+0x1", "RIP: 0033:0x1", " g+0x1");
	is_str(r.path, "f", "the trace ends at the registers");
}

static void test_first_line(void)
{
	struct oom_report r;

	oom_report_begin(&r, PAGE);
	oom_report_line(&r, "memory: usage 1kB, limit 2kB, failcnt 0");
	ok(!oom_report_line(&r,
			    "a b invoked oom-killer: gfp_mask=0x1(GFP_A|GFP_B), order=10, adj=0"),
	   "a first line does not end a report");
	is_u64(r.printed[PRINTED_USED], FIGURE_UNKNOWN, "values of an earlier report are dropped");
	is_u64(r.page_bytes, PAGE, "the size of a page is kept");
	is_str(r.gfp, "GFP_A|GFP_B", "flags");
	is_u64(r.order, 10, "order");
	ok(!oom_report_line(&r, "oom-kill:constraint=CONSTRAINT_NONE,task=a,pid=0,uid=0"),
	   "there is no process 0");
	ok(!oom_report_line(&r, "oom-kill:constraint=CONSTRAINT_NONE,task=a,pid=1,uid=0"),
	   "a damaged last line ends the report");
}

static void test_last_line(void)
{
	static const struct {
		const char *text;
		enum oom_constraint want;
	} rows[] = {{"CONSTRAINT_NONE", OOM_NONE},
		    {"CONSTRAINT_CPUSET", OOM_CPUSET},
		    {"CONSTRAINT_MEMORY_POLICY", OOM_POLICY},
		    {"CONSTRAINT_MEMCG", OOM_MEMCG},
		    {"CONSTRAINT_MEMCG_X", OOM_UNKNOWN}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char line[256];
		struct oom_report r;

		oom_report_begin(&r, PAGE);
		r.begun = true;
		snprintf(line, sizeof(line),
			 "oom-kill:constraint=%s,oom_memcg=/a,task_memcg=/a/b,task=x,task=y,pid=1,"
			 "pid=2,uid=0",
			 rows[i].text);
		ok(oom_report_line(&r, line), "%s", rows[i].text);
		is_u64(r.constraint, rows[i].want, "its reason");
		is_u64(r.pid, 2, "the last pid, since the name of a task may be any text");
		is_str(r.victim_cgroup, "/a/b,task=x", "a cgroup ends at the last task");
	}
}

/* Parts that are larger than the whole must not become huge numbers. */
static void test_differences(void)
{
	static const struct {
		enum oom_printed whole, part;
		enum oom_memory kind;
		bool host;
		const char *name;
	} rows[] = {
		{PRINTED_ANON, PRINTED_SHMEM, OOM_ANON, true, "anonymous memory of the machine"},
		{PRINTED_FILE, PRINTED_SHMEM, OOM_FILE, false, "page cache of a cgroup"},
		{PRINTED_KMEM, PRINTED_PAGE_TABLES, OOM_OTHER_KERNEL, false, "kernel memory"},
		{PRINTED_USED, PRINTED_ANON, OOM_OTHER_KERNEL, false, "the rest of a cgroup"},
		{PRINTED_RAM, PRINTED_FREE, OOM_OTHER_KERNEL, true, "the rest of the machine"},
		{PRINTED_RAM, PRINTED_RESERVED, OOM_OTHER_KERNEL, true, "RAM that is not reserved"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (int more = -1; more <= 1; more++) {
			struct oom_report r;
			struct oom_scene_record s;

			oom_report_begin(&r, PAGE);
			strcpy(r.cgroup, rows[i].host ? "" : "/a");
			r.printed[rows[i].whole] = 100;
			r.printed[rows[i].part] = 100 + more;
			s = filled(&r);
			is_u64(s.memory[rows[i].kind], more < 0, rows[i].name);
		}
}

static void test_parts(void)
{
	struct oom_report r;
	struct oom_scene_record s;

	oom_report_begin(&r, PAGE);
	r.printed[PRINTED_RAM] = 1000;
	r.printed[PRINTED_RESERVED] = 100;
	r.printed[PRINTED_FREE] = 50;
	r.printed[PRINTED_ANON] = 400;
	r.printed[PRINTED_UNEVICTABLE] = 30;
	r.printed[PRINTED_SLAB_UNRECLAIMABLE] = 7;
	r.printed[PRINTED_DIRTY] = 3;
	r.printed[PRINTED_WRITEBACK] = 2;
	r.zone_free = 5;
	r.zone_min = 6;
	r.order = 9;
	r.tasks_kept_bytes = 11;
	r.tasks_page_table_bytes = 12;
	s = filled(&r);
	is_u64(s.limit, 900, "RAM that is not reserved");
	is_u64(s.used, 850, "without what is free");
	is_u64(s.swap_used, FIGURE_UNKNOWN, "swap is not printed");
	is_u64(s.memory[OOM_ANON], 430, "unevictable memory counts as anonymous");
	is_u64(s.memory[OOM_SLAB], 7, "slab of one kind alone");
	is_u64(s.memory[OOM_PAGE_TABLES], FIGURE_UNKNOWN, "no task tells its page tables");
	is_u64(s.memory[OOM_UNEVICTABLE], 30, "unevictable memory");
	is_u64(s.memory[OOM_DIRTY], 3, "dirty memory");
	is_u64(s.memory[OOM_WRITEBACK], 2, "memory that is being written");
	ok(s.zone_free == 5 && s.zone_min == 6 && s.order == 9, "zone and order");
	ok(s.tasks_kept_bytes == 11 && s.tasks_page_table_bytes == 12, "sums of all tasks");
	r.tasks = 1;
	r.printed[PRINTED_SWAP_TOTAL] = 80;
	s = filled(&r);
	is_u64(s.memory[OOM_PAGE_TABLES], 12, "page tables of a task");
	is_u64(s.swap_used, 80, "all swap, if free swap is not printed");
	is_u64(s.swap_limit, 80, "all swap");
}

/* A process may choose any name, even one that looks like the heading of the table. */
static void test_names_of_tasks(void)
{
	static const char *const names[] = {"total_vm tgid", "total_vm name", "name total_vm",
					    "total_vm rss",  "total_vm",      "pid] total_vm",
					    "[pid] total_vm"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct oom_report r;
		char line[256];

		oom_report_begin(&r, PAGE);
		oom_report_line(&r, "Tasks state (memory values in pages):");
		oom_report_line(&r, "[  pid  ]   uid  tgid total_vm      rss rss_anon rss_file "
				    "rss_shmem pgtables_bytes swapents oom_score_adj name");
		snprintf(line, sizeof(line), "[ 7] 0 7 99 90 80 2 8 4096 1 0 %s", names[i]);
		oom_report_line(&r, line);
		oom_report_line(&r, "[ 8] 0 8 99 60 50 2 8 4096 1 -17 sh");
		is_u64(r.tasks, 2, names[i]);
		is_str(r.holder[0].comm, names[i], "its name");
		ok(r.holder[1].pid == 8 && r.holder[1].rss == 60 * PAGE &&
			   r.holder[1].score_adj == -17,
		   "the row behind it");
		is_str(r.holder[1].comm, "sh", "the name in this row");
	}
}

/* Columns may be in any order, and rows may lack some of them. */
static void test_order_of_columns(void)
{
	static const struct {
		const char *heading, *row;
		uint64_t tasks, pid, rss;
		int adj;
		const char *name;
	} rows[] = {
		{"[ pid ] tgid rss total_vm name", "[ 1] 2 3 4 sh", 1, 2, 3 * PAGE, 0,
		 "the process as the first column"},
		{"[ pid ] rss tgid total_vm name", "[ 1] 3 2 4 sh", 1, 2, 3 * PAGE, 0,
		 "memory as the first column"},
		{"[ pid ] oom_score_adj tgid total_vm name", "[ 1] -5 2 4 sh", 1, 2, FIGURE_UNKNOWN,
		 -5, "the adjustment as the first column"},
		{"[ pid ] total_vm tgid name rss oom_score_adj", "[ 1] 3 2 sh 5 6", 1, 2,
		 FIGURE_UNKNOWN, 0, "columns behind the name are part of it"},
		{"[ pid ] name tgid total_vm", "[ 1] sh 2 3", 0, 0, 0, 0,
		 "the process behind the name"},
		{"[ pid ] total_vm tgid rss name", "[ 1] 3 2", 0, 0, 0, 0, "a short row"},
		{"[ pid ] total_vm tgid rss name", "[ 1]", 0, 0, 0, 0, "an empty row"},
		{"[ pid ] total_vm tgid rss name", "[ 1", 0, 0, 0, 0, "no bracket"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct oom_report r;

		oom_report_begin(&r, PAGE);
		oom_report_line(&r, "Tasks state (memory values in pages):");
		oom_report_line(&r, rows[i].heading);
		oom_report_line(&r, rows[i].row);
		is_u64(r.tasks, rows[i].tasks, rows[i].name);
		if (!r.tasks)
			continue;
		is_u64(r.holder[0].pid, rows[i].pid, "its process");
		is_u64(r.holder[0].rss, rows[i].rss, "its memory");
		is_u64(r.tasks_kept_bytes, rows[i].rss != FIGURE_UNKNOWN ? rows[i].rss : 0,
		       "what it keeps: all of its memory, since its parts are not known");
		ok(r.holder[0].score_adj == rows[i].adj, "its adjustment");
	}
}

int main(void)
{
	test_v2();
	test_v1();
	test_host();
	test_others();
	test_tables();
	test_escapes();
	test_limits();
	test_sums_of_keys();
	test_zones();
	test_machine_values();
	test_holders();
	test_columns();
	test_trace();
	test_names_of_tasks();
	test_order_of_columns();
	test_first_line();
	test_last_line();
	test_differences();
	test_parts();
	return tap_done();
}
