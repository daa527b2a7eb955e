// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "collect/oom/oom_report.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define KIB	1024ULL
#define COLUMNS 16
/* a limit of at least 2^NO_LIMIT_BITS KiB is none */
#define NO_LIMIT_BITS 50

struct printed_key {
	const char *key;
	enum oom_printed value;
};

void oom_report_begin(struct oom_report *r, uint64_t page_bytes)
{
	memset(r, 0, sizeof(*r));
	memset(r->printed, 0xff, sizeof(r->printed)); /* sets all to FIGURE_UNKNOWN */
	memset(r->column, -1, sizeof(r->column));
	r->page_bytes = page_bytes;
}

static void add(struct oom_report *r, enum oom_printed value, uint64_t bytes)
{
	if (r->printed[value] == FIGURE_UNKNOWN)
		r->printed[value] = 0;
	r->printed[value] += bytes;
}

/* Adds `number` * `unit` to the value of a key. Keys may share a value. */
static void take_key(struct oom_report *r, const struct printed_key *table, size_t n,
		     const char *key, size_t len, uint64_t bytes)
{
	for (size_t i = 0; i < n; i++)
		if (strlen(table[i].key) == len && !memcmp(table[i].key, key, len))
			add(r, table[i].value, bytes);
}

#define TAKE_KEY(r, table, key, len, bytes)                                                        \
	take_key(r, table, sizeof(table) / sizeof((table)[0]), key, len, bytes)

/* A line "memory: usage 32768kB, limit 32768kB, failcnt 142". */
static bool take_counter(struct oom_report *r, const char *line)
{
	static const struct {
		const char *prefix;
		enum oom_printed used;
		bool limited;
	} counters[] = {{"memory: usage ", PRINTED_USED, true},
			{"memory+swap: usage ", PRINTED_SWAP_USED, true},
			{"swap: usage ", PRINTED_SWAP_USED, true},
			{"kmem: usage ", PRINTED_KMEM, false}};

	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
		unsigned long long used, limit;
		size_t len = strlen(counters[i].prefix);

		if (strncmp(line, counters[i].prefix, len) ||
		    sscanf(line + len, "%llukB, limit %llukB", &used, &limit) != 2)
			continue;
		r->printed[counters[i].used] = used * KIB;
		/* the kernel prints "no limit" as the maximum of a page counter, 2^63 bytes */
		if (counters[i].limited && !(limit >> NO_LIMIT_BITS))
			r->printed[counters[i].used + 1] = limit * KIB;
		return true;
	}
	return false;
}

/* A line "KEY NUMBER" of memory.stat, in bytes. Keys that begin with total_ are of cgroup v1. */
static void take_stat(struct oom_report *r, const char *line)
{
	static const struct printed_key keys[] = {
		{"anon", PRINTED_ANON},
		{"file", PRINTED_FILE},
		{"shmem", PRINTED_SHMEM},
		{"file_dirty", PRINTED_DIRTY},
		{"file_writeback", PRINTED_WRITEBACK},
		{"unevictable", PRINTED_UNEVICTABLE},
		{"kernel_stack", PRINTED_KERNEL_STACK},
		{"pagetables", PRINTED_PAGE_TABLES},
		{"sec_pagetables", PRINTED_PAGE_TABLES},
		{"sock", PRINTED_SOCK},
		{"slab_reclaimable", PRINTED_SLAB_RECLAIMABLE},
		{"slab_unreclaimable", PRINTED_SLAB_UNRECLAIMABLE},
		{"hugetlb", PRINTED_HUGETLB},
	};
	static const struct printed_key totals[] = {
		{"total_rss", PRINTED_ANON},
		{"total_cache", PRINTED_FILE},
		{"total_shmem", PRINTED_SHMEM},
		{"total_dirty", PRINTED_DIRTY},
		{"total_writeback", PRINTED_WRITEBACK},
		{"total_unevictable", PRINTED_UNEVICTABLE},
	};
	size_t len = strcspn(line, " ");
	uint64_t bytes;

	if (line[len] != ' ' || line[len + 1] < '0' || line[len + 1] > '9')
		return;
	bytes = strtoull(line + len + 1, NULL, 10);
	/* cgroup v1 prints values of the cgroup alone first: totals replace them */
	for (size_t i = 0; i < sizeof(totals) / sizeof(totals[0]); i++)
		if (strlen(totals[i].key) == len && !memcmp(totals[i].key, line, len))
			r->printed[totals[i].value] = FIGURE_UNKNOWN;
	TAKE_KEY(r, keys, line, len, bytes);
	TAKE_KEY(r, totals, line, len, bytes);
}

/* Numbers "KEY:NUMBER" of the whole machine, in pages. */
static void take_pages(struct oom_report *r, const char *line)
{
	static const struct printed_key keys[] = {
		{"active_anon", PRINTED_ANON},
		{"inactive_anon", PRINTED_ANON},
		{"isolated_anon", PRINTED_ANON},
		{"active_file", PRINTED_FILE},
		{"inactive_file", PRINTED_FILE},
		{"isolated_file", PRINTED_FILE},
		{"unevictable", PRINTED_UNEVICTABLE},
		{"dirty", PRINTED_DIRTY},
		{"writeback", PRINTED_WRITEBACK},
		{"slab_reclaimable", PRINTED_SLAB_RECLAIMABLE},
		{"slab_unreclaimable", PRINTED_SLAB_UNRECLAIMABLE},
		{"shmem", PRINTED_SHMEM},
		{"pagetables", PRINTED_PAGE_TABLES},
		{"sec_pagetables", PRINTED_PAGE_TABLES},
		{"free", PRINTED_FREE},
	};

	while (*line) {
		size_t len = strcspn(line, ": ");

		if (line[len] == ':')
			TAKE_KEY(r, keys, line, len,
				 strtoull(line + len + 1, NULL, 10) * r->page_bytes);
		line += len;
		line += strcspn(line, " ");
		line += strspn(line, " ");
	}
}

/* Returns the number of KiB behind a key such as " free:" in a line, or FIGURE_UNKNOWN. */
static uint64_t kib_of(const char *line, const char *key)
{
	const char *at = strstr(line, key);

	return at ? strtoull(at + strlen(key), NULL, 10) * KIB : FIGURE_UNKNOWN;
}

/* A line "Node 0 Normal free:1234kB boost:0kB min:2048kB …". Keeps the zone that is short. */
static bool take_zone(struct oom_report *r, const char *line)
{
	uint64_t free_bytes = kib_of(line, " free:"), min = kib_of(line, " min:");
	size_t len = strcspn(line, ":");

	if (free_bytes == FIGURE_UNKNOWN || min == FIGURE_UNKNOWN)
		return false;
	/* of several zones that are short, the last one is that of most requests */
	if (free_bytes < min || !r->zone[0]) {
		len -= strlen(" free");
		snprintf(r->zone, sizeof(r->zone), "%.*s", (int)len, line);
		r->zone_free = free_bytes;
		r->zone_min = min;
	}
	return true;
}

/* A line "Node 0 …" of the report of the whole machine. */
static void take_node(struct oom_report *r, const char *line)
{
	unsigned long long total, size;
	const char *at = strstr(line, " hugepages_total=");
	uint64_t stack;

	if (at) {
		const char *bytes = strstr(at, " hugepages_size=");

		if (bytes && sscanf(at, " hugepages_total=%llu", &total) == 1 &&
		    sscanf(bytes, " hugepages_size=%llukB", &size) == 1)
			add(r, PRINTED_HUGETLB, total * size * KIB);
		return;
	}
	if (take_zone(r, line))
		return;
	stack = kib_of(line, " kernel_stack:");
	if (stack != FIGURE_UNKNOWN)
		add(r, PRINTED_KERNEL_STACK, stack);
}

static void take_host(struct oom_report *r, const char *line)
{
	static const struct {
		const char *text;
		enum oom_printed value;
	} counts[] = {{" pages RAM", PRINTED_RAM}, {" pages reserved", PRINTED_RESERVED}};
	uint64_t number = strtoull(line, NULL, 10);
	size_t digits = strspn(line, "0123456789");
	unsigned long long kib;

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		if (digits && !strcmp(line + digits, counts[i].text))
			add(r, counts[i].value, number * r->page_bytes);
	if (sscanf(line, "Free swap = %llukB", &kib) == 1)
		r->printed[PRINTED_SWAP_FREE] = kib * KIB;
	else if (sscanf(line, "Total swap = %llukB", &kib) == 1)
		r->printed[PRINTED_SWAP_TOTAL] = kib * KIB;
	else if (!strncmp(line, "Node ", strlen("Node ")))
		take_node(r, line);
	else if (strstr(line, "active_anon:") || line[0] == ' ')
		take_pages(r, line + strspn(line, " "));
}

/* Returns whether a line begins as a row of the table of tasks: "[   4207]     0  4207 …". */
static bool is_row(const char *line)
{
	return line[0] == '[' && isdigit((unsigned char)line[1 + strspn(line + 1, " ")]);
}

/* The heading of the table of tasks: "[  pid  ]   uid  tgid total_vm …". */
static void take_heading(struct oom_report *r, const char *line)
{
	static const char *const names[NR_OOM_COLUMNS] = {
		[OOM_COLUMN_TGID] = "tgid",	  [OOM_COLUMN_RSS] = "rss",
		[OOM_COLUMN_ANON] = "rss_anon",	  [OOM_COLUMN_FILE] = "rss_file",
		[OOM_COLUMN_SHMEM] = "rss_shmem", [OOM_COLUMN_PAGE_TABLES] = "pgtables_bytes",
		[OOM_COLUMN_SWAP] = "swapents",	  [OOM_COLUMN_ADJ] = "oom_score_adj",
		[OOM_COLUMN_NAME] = "name",
	};
	const char *at = strchr(line, ']');

	for (int i = 0; at && i < COLUMNS; i++) {
		size_t len;

		at += at[0] == ']';
		at += strspn(at, " ");
		len = strcspn(at, " ");
		for (int k = 0; len && k < NR_OOM_COLUMNS; k++)
			if (strlen(names[k]) == len && !memcmp(names[k], at, len))
				r->column[k] = i;
		at += len;
	}
}

/* Returns the memory of a process that the kernel cannot take away without swap. */
static uint64_t kept_bytes(const struct oom_holder_record *h)
{
	uint64_t sum = h->swap != FIGURE_UNKNOWN ? h->swap : 0;

	if (h->anon == FIGURE_UNKNOWN || h->shmem == FIGURE_UNKNOWN)
		return sum + (h->rss != FIGURE_UNKNOWN ? h->rss : 0);
	return sum + h->anon + h->shmem;
}

static bool holds_more(const void *a, const void *b)
{
	return kept_bytes(a) > kept_bytes(b);
}

/* A row of the table of tasks: "[   4207]     0  4207    10823 … python3". */
static void take_task(struct oom_report *r, const char *line)
{
	struct oom_holder_record h = {.h = {RECORD_OOM_HOLDER, sizeof(h)}};
	const char *at = strchr(line, ']'), *word[COLUMNS] = {};
	uint64_t *const pages[] = {[OOM_COLUMN_RSS] = &h.rss,
				   [OOM_COLUMN_ANON] = &h.anon,
				   [OOM_COLUMN_FILE] = &h.file,
				   [OOM_COLUMN_SHMEM] = &h.shmem,
				   [OOM_COLUMN_PAGE_TABLES] = &h.page_tables,
				   [OOM_COLUMN_SWAP] = &h.swap};

	for (int i = 0; at && *at && i < COLUMNS; i++) {
		at += at[0] == ']';
		at += strspn(at, " ");
		word[i] = at;
		if (i == r->column[OOM_COLUMN_NAME])
			break;
		at += strcspn(at, " ");
	}
	for (int k = OOM_COLUMN_RSS; k <= OOM_COLUMN_SWAP; k++) {
		int at_column = r->column[k];
		uint64_t unit = k == OOM_COLUMN_PAGE_TABLES ? 1 : r->page_bytes;

		*pages[k] = at_column >= 0 && word[at_column]
				    ? strtoull(word[at_column], NULL, 10) * unit
				    : FIGURE_UNKNOWN;
	}
	if (r->column[OOM_COLUMN_TGID] < 0 || r->column[OOM_COLUMN_NAME] < 0 ||
	    !word[(int)r->column[OOM_COLUMN_TGID]] || !word[(int)r->column[OOM_COLUMN_NAME]])
		return;
	h.pid = strtoul(word[(int)r->column[OOM_COLUMN_TGID]], NULL, 10);
	if (r->column[OOM_COLUMN_ADJ] >= 0 && word[(int)r->column[OOM_COLUMN_ADJ]])
		h.score_adj = strtol(word[(int)r->column[OOM_COLUMN_ADJ]], NULL, 10);
	array_copy(h.comm, sizeof(h.comm), word[(int)r->column[OOM_COLUMN_NAME]]);
	r->tasks++;
	r->tasks_kept_bytes += kept_bytes(&h);
	r->tasks_page_table_bytes += h.page_tables != FIGURE_UNKNOWN ? h.page_tables : 0;
	array_insert(r->holder, &r->holders, OOM_HOLDERS, sizeof(h), holds_more, &h);
}

/* A line " do_anonymous_page+0x1a4/0x5b0" of the kernel's call trace. */
static void take_frame(struct oom_report *r, const char *line)
{
	/* functions of every kill, from the printing of the trace up to the request for memory */
	static const char *const common[] = {"dump_stack",
					     "dump_stack_lvl",
					     "show_stack",
					     "dump_header",
					     "oom_kill_process",
					     "out_of_memory",
					     "mem_cgroup_out_of_memory",
					     "mem_cgroup_oom",
					     "try_charge",
					     "try_charge_memcg"};
	char name[64];
	size_t len;

	line += strspn(line, " ");
	len = strcspn(line, ".+");
	if (line[0] == '?' || !line[len] || len >= sizeof(name))
		return;
	array_copy(name, len + 1, line);
	for (size_t i = 0; i < sizeof(common) / sizeof(common[0]); i++)
		if (!strcmp(name, common[i]))
			return;
	if (strlen(r->path) + len + 2 > sizeof(r->path))
		return;
	array_append(r->path, sizeof(r->path), r->path[0] ? " " : "");
	array_append(r->path, sizeof(r->path), name);
}

/* "python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0" */
static void take_first(struct oom_report *r, const char *at)
{
	const char *flags = strchr(at, '('), *order = strstr(at, " order=");

	oom_report_begin(r, r->page_bytes);
	r->begun = true;
	if (flags)
		snprintf(r->gfp, sizeof(r->gfp), "%.*s", (int)strcspn(flags + 1, ")"), flags + 1);
	if (order)
		r->order = strtoul(order + strlen(" order="), NULL, 10);
}

/* Copies the text between `from` and the last `to` in a line. */
static void copy_between(const char *line, const char *from, const char *to, char *ret, size_t size)
{
	const char *begin = strstr(line, from), *end = NULL;

	if (!begin)
		return;
	begin += strlen(from);
	for (const char *at = begin; (at = strstr(at, to)); at++)
		end = at;
	if (end)
		snprintf(ret, size, "%.*s", (int)(end - begin), begin);
}

/*
 * "oom-kill:constraint=CONSTRAINT_MEMCG,…,oom_memcg=/a,task_memcg=/a/b,task=python3,pid=1,uid=0":
 * the name of the task may contain anything, so the pid is the last one.
 */
static bool take_last(struct oom_report *r, const char *line)
{
	static const struct {
		const char *name;
		enum oom_constraint constraint;
	} names[] = {{"CONSTRAINT_NONE,", OOM_NONE},
		     {"CONSTRAINT_CPUSET,", OOM_CPUSET},
		     {"CONSTRAINT_MEMORY_POLICY,", OOM_POLICY},
		     {"CONSTRAINT_MEMCG,", OOM_MEMCG}};
	const char *at = strstr(line, "constraint="), *last = NULL;

	for (size_t i = 0; at && i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(at + strlen("constraint="), names[i].name, strlen(names[i].name)))
			r->constraint = names[i].constraint;
	copy_between(line, ",oom_memcg=", ",task_memcg=", r->cgroup, sizeof(r->cgroup));
	copy_between(line, ",task_memcg=", ",task=", r->victim_cgroup, sizeof(r->victim_cgroup));
	for (at = line; (at = strstr(at, ",pid=")); at++)
		last = at + strlen(",pid=");
	r->pid = last ? strtoul(last, NULL, 10) : 0;
	return r->begun && r->pid;
}

bool oom_report_line(struct oom_report *r, const char *line)
{
	const char *first = strstr(line, " invoked oom-killer: gfp_mask=");

	if (first) {
		take_first(r, first);
	} else if (!strncmp(line, "oom-kill:", strlen("oom-kill:"))) {
		if (take_last(r, line))
			return true;
		r->begun = false;
	} else if (!strncmp(line, "Call Trace:", strlen("Call Trace:"))) {
		r->section = OOM_SECTION_TRACE;
	} else if (r->section == OOM_SECTION_TRACE && line[0] == ' ') {
		take_frame(r, line);
	} else if (!strncmp(line, "Memory cgroup stats for ", strlen("Memory cgroup stats for "))) {
		r->section = OOM_SECTION_CGROUP;
	} else if (!strncmp(line, "Mem-Info:", strlen("Mem-Info:"))) {
		r->section = OOM_SECTION_HOST;
	} else if (!strncmp(line, "Tasks state ", strlen("Tasks state "))) {
		r->section = OOM_SECTION_TASKS;
	} else if (!take_counter(r, line)) {
		if (r->section == OOM_SECTION_TRACE)
			r->section = OOM_SECTION_NONE; /* the trace ends at the registers */
		if (r->section == OOM_SECTION_CGROUP)
			take_stat(r, line);
		else if (r->section == OOM_SECTION_HOST)
			take_host(r, line);
		/* a process may choose a name that looks like a heading */
		else if (r->section == OOM_SECTION_TASKS && !is_row(line) &&
			 strstr(line, "total_vm"))
			take_heading(r, line);
		else if (r->section == OOM_SECTION_TASKS && line[0] == '[')
			take_task(r, line);
	}
	return false;
}

static uint64_t known(uint64_t bytes)
{
	return bytes != FIGURE_UNKNOWN ? bytes : 0;
}

static uint64_t above(uint64_t bytes, uint64_t part)
{
	return bytes > part ? bytes - part : 0;
}

/* Sets what no other kind accounts for. cgroup v1 counts all kernel memory, others only the rest.
 */
static void fill_rest(const struct oom_report *r, struct oom_scene_record *s)
{
	const uint64_t *p = r->printed;
	uint64_t sum = known(p[PRINTED_FREE]);

	for (size_t i = 0; i < NR_OOM_KINDS; i++)
		sum += known(s->memory[i]);
	if (p[PRINTED_KMEM] != FIGURE_UNKNOWN && s->memory[OOM_SLAB] == FIGURE_UNKNOWN)
		s->memory[OOM_OTHER_KERNEL] =
			above(p[PRINTED_KMEM], known(s->memory[OOM_PAGE_TABLES]));
	else if (r->cgroup[0])
		s->memory[OOM_OTHER_KERNEL] = above(known(p[PRINTED_USED]), sum);
	else if (p[PRINTED_RAM] != FIGURE_UNKNOWN)
		s->memory[OOM_OTHER_KERNEL] =
			above(above(p[PRINTED_RAM], known(p[PRINTED_RESERVED])), sum);
}

void oom_report_fill(const struct oom_report *r, struct oom_scene_record *ret)
{
	const uint64_t *p = r->printed;
	uint64_t *n = ret->memory;
	bool host = !r->cgroup[0];

	n[OOM_ANON] = p[PRINTED_ANON];
	n[OOM_SHMEM] = p[PRINTED_SHMEM];
	n[OOM_FILE] = p[PRINTED_FILE];
	/* tmpfs pages are on the LRU lists of anonymous memory, but a cgroup counts them as files
	 */
	if (host && n[OOM_ANON] != FIGURE_UNKNOWN)
		n[OOM_ANON] =
			above(n[OOM_ANON] + known(p[PRINTED_UNEVICTABLE]), known(n[OOM_SHMEM]));
	if (!host && n[OOM_FILE] != FIGURE_UNKNOWN)
		n[OOM_FILE] = above(n[OOM_FILE], known(n[OOM_SHMEM]));
	n[OOM_PAGE_TABLES] = p[PRINTED_PAGE_TABLES];
	if (n[OOM_PAGE_TABLES] == FIGURE_UNKNOWN && r->tasks)
		n[OOM_PAGE_TABLES] = r->tasks_page_table_bytes;
	if (p[PRINTED_SLAB_UNRECLAIMABLE] != FIGURE_UNKNOWN)
		n[OOM_SLAB] = p[PRINTED_SLAB_UNRECLAIMABLE] + known(p[PRINTED_SLAB_RECLAIMABLE]);
	n[OOM_SLAB_RECLAIMABLE] = p[PRINTED_SLAB_RECLAIMABLE];
	n[OOM_KERNEL_STACK] = p[PRINTED_KERNEL_STACK];
	n[OOM_SOCK] = p[PRINTED_SOCK];
	n[OOM_HUGETLB] = p[PRINTED_HUGETLB];
	n[OOM_DIRTY] = p[PRINTED_DIRTY];
	n[OOM_WRITEBACK] = p[PRINTED_WRITEBACK];
	n[OOM_UNEVICTABLE] = p[PRINTED_UNEVICTABLE];
	fill_rest(r, ret);
	ret->used = p[PRINTED_USED];
	ret->limit = p[PRINTED_LIMIT];
	ret->swap_used = p[PRINTED_SWAP_USED];
	ret->swap_limit = p[PRINTED_SWAP_LIMIT];
	if (host && p[PRINTED_RAM] != FIGURE_UNKNOWN) {
		ret->limit = above(p[PRINTED_RAM], known(p[PRINTED_RESERVED]));
		ret->used = above(ret->limit, known(p[PRINTED_FREE]));
		ret->swap_limit = p[PRINTED_SWAP_TOTAL];
		ret->swap_used = p[PRINTED_SWAP_TOTAL] != FIGURE_UNKNOWN
					 ? above(p[PRINTED_SWAP_TOTAL], known(p[PRINTED_SWAP_FREE]))
					 : FIGURE_UNKNOWN;
	}
	ret->tasks = r->tasks;
	ret->tasks_kept_bytes = r->tasks_kept_bytes;
	ret->tasks_page_table_bytes = r->tasks_page_table_bytes;
	ret->zone_free = r->zone_free;
	ret->zone_min = r->zone_min;
	ret->order = r->order;
	array_copy(ret->zone, sizeof(ret->zone), r->zone);
	array_copy(ret->gfp, sizeof(ret->gfp), r->gfp);
	array_copy(ret->path, sizeof(ret->path), r->path);
}
