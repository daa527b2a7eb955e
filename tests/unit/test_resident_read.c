// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests how the holders of resident memory are read. The test plays the BPF programs: it fills the
 * map of owners, and writes the records of read_pages(). The mappings are those of this process.
 */
#define _GNU_SOURCE
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/array.h"
#include "made_maps.h"
#include "probe/host_facts.h"
#include "resident/page_ranges.h"
#include "resident/resident.h"
#include "tap.h"
#include "wire.h"

#define PAGES	   8 /* of each small mapping */
#define HUGE_PAGES 512
#define HUGE_BYTES (HUGE_PAGES * PAGE_BYTES)
#define PROGRAM	   77	/* descriptor of read_pages() */
#define MEMORY	   4096 /* stands for the memory of this process */
#define READ_MAX   1100

static struct fs_config config = {.resident = {.on = 1,
					       .zero_frame = ~0ULL,
					       .secret = {0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9}}};
static struct made_map *owner_map, *wanted_map, *shared_map;
static struct fs_shared *shared;

/* ---- the program read_pages() ---- */

static struct fs_page_read page[READ_MAX]; /* what the program finds, in order */
static size_t pages;
static __u64 memory = MEMORY;
static int program = PROGRAM, link_of; /* `link_of`: process of the last link */
static unsigned int runs;
static bool has_next = true; /* the last record of a run is there */

struct bpf_program *bpf_object__find_program_by_name(const struct bpf_object *obj, const char *name)
{
	(void)obj;
	return strcmp(name, "read_pages") ? NULL : (struct bpf_program *)&program;
}

int bpf_program__fd(const struct bpf_program *prog)
{
	return prog ? *(const int *)prog : -EINVAL;
}

int bpf_link_create(int prog_fd, int target_fd, enum bpf_attach_type type,
		    const struct bpf_link_create_opts *opts)
{
	if (prog_fd != PROGRAM || target_fd || type != BPF_TRACE_ITER ||
	    opts->iter_info_len != sizeof(*opts->iter_info))
		return made_error(EINVAL);
	link_of = opts->iter_info->task.tid;
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* A run sends at most three pages, and also some that are before the wanted ones. */
int bpf_iter_create(int link)
{
	const __u64 from = shared->resident_read.from, to = shared->resident_read.to;
	struct fs_page_read next = {.page = to, .frame = memory, .what = FS_PAGE_NEXT};
	int fd = memfd_create("run", MFD_CLOEXEC), sent = 0;

	(void)link;
	runs++;
	for (size_t i = 0; i < pages && to; i++) {
		if (page[i].page + 2 < from || page[i].page > to + 2)
			continue;
		if (page[i].page >= from && ++sent > 3) {
			next.page = page[i].page;
			break;
		}
		if (write(fd, &page[i], sizeof(page[i])) != sizeof(page[i]))
			abort();
	}
	if (has_next && write(fd, &next, sizeof(next)) != sizeof(next))
		abort();
	lseek(fd, 0, SEEK_SET);
	return fd;
}

static void see(const void *at, size_t first, size_t n, __u32 what, __u64 frame)
{
	for (size_t i = 0; i < n; i++)
		page[pages++] =
			(struct fs_page_read){.page = ((uintptr_t)at >> PAGE_SHIFT) + first + i,
					      .frame = frame ? frame + i : 0,
					      .what = what};
}

/* ---- owners ---- */

static __u64 number_of(const void *at, size_t nth)
{
	return ((uintptr_t)at >> PAGE_SHIFT) + nth;
}

static void own(const struct process_key *of, __u32 unit, __u64 number, struct fs_resident is)
{
	const struct fs_resident_key key = {of->pid, unit, number};

	is.start_ns = of->start_ns;
	if (bpf_map_update_elem(owner_map->fd, &key, &is, BPF_ANY))
		abort();
}

static bool owner_of(const struct process_key *of, __u32 unit, __u64 number,
		     struct fs_resident *ret)
{
	const struct fs_resident_key key = {of->pid, unit, number};

	return !bpf_map_lookup_elem(owner_map->fd, &key, ret);
}

/* ---- rows ---- */

static struct resident_record row[4096];
static struct resident_sum_record total;
static size_t rows;
static int sink_err;

static int take(void *ctx, const struct record *h)
{
	(void)ctx;
	if (h->kind == RECORD_RESIDENT)
		row[rows++ % 4096] = *(const struct resident_record *)h;
	else
		total = *(const struct resident_sum_record *)h;
	return sink_err;
}

static const struct sink sink = {.take = take};

static const char *const by_names[] = {"touched", "copied",   "inherited",
				       "before",  "no fault", "not chosen"};

static int order_texts(const void *a, const void *b)
{
	return strcmp(a, b);
}

/*
 * Returns all rows as a text, sorted, with "pid stack < before: by, pages, huge MiB, kind, file" of
 * each. Rows for memory of which no page was chosen depend on this process, and are left out.
 */
static const char *rows_text(void)
{
	static char line[64][160], text[8192];
	size_t n = 0, len = 0;

	for (size_t i = 0; i < rows && n < 64; i++) {
		const struct resident_record *r = &row[i];

		if (r->by == RESIDENT_NOT_CHOSEN)
			continue;
		snprintf(line[n++], sizeof(line[0]), "%u %d<%d: %s, %llu, %llu, %u %s\n",
			 r->toucher.pid, r->stack, r->before, by_names[r->by],
			 (unsigned long long)r->pages, (unsigned long long)r->huge_bytes >> 20,
			 r->kind, r->file);
	}
	qsort(line, n, sizeof(line[0]), order_texts);
	text[0] = 0;
	for (size_t i = 0; i < n; i++)
		len += snprintf(text + len, sizeof(text) - len, "%s", line[i]);
	return text;
}

/* ---- mappings ---- */

static char *anon, *shared_file, *private_file, *other, *huge;

/*
 * Maps memory at the beginning of a huge page, so that no test depends on where the kernel places
 * it. Memory without rights stays around it, so that the kernel joins it with no other mapping.
 */
static char *map(size_t bytes, int flags, int fd)
{
	char *at = mmap(NULL, bytes + 2 * HUGE_BYTES, PROT_NONE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED)
		abort();
	at = (char *)(((uintptr_t)at + HUGE_BYTES) & ~(HUGE_BYTES - 1));
	if (mmap(at, bytes, PROT_READ | PROT_WRITE, flags | MAP_FIXED, fd, 0) != at)
		abort();
	return at;
}

static void map_all(void)
{
	char path[] = "/tmp/test_resident_read.XXXXXX";
	int fd = memfd_create("made_pages", MFD_CLOEXEC), file = mkstemp(path);

	if (fd < 0 || file < 0 || ftruncate(fd, PAGES * PAGE_BYTES) ||
	    ftruncate(file, PAGES * PAGE_BYTES))
		abort();
	anon = map(PAGES * PAGE_BYTES, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	shared_file = map(PAGES * PAGE_BYTES, MAP_SHARED, fd);
	private_file = map(PAGES * PAGE_BYTES, MAP_PRIVATE, file);
	other = map(PAGES * PAGE_BYTES, MAP_SHARED | MAP_ANONYMOUS, -1);
	huge = map(6 << 20, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
	unlink(path);
	close(fd);
	close(file);
}

/* ---- readings ---- */

static const struct process_key own_id = {.pid = 1001, .start_ns = 7};

static struct resident_process process(void)
{
	return (struct resident_process){.id = own_id, .pid = getpid(), .born = true, .execs = 1};
}

static struct resident *begin(__u32 each)
{
	struct resident *r;

	made_clear(owner_map);
	made_clear(wanted_map);
	memset(shared, 0, sizeof(*shared));
	shared->resident_map_base = 1;
	memory = MEMORY;
	pages = rows = runs = 0;
	program = PROGRAM;
	has_next = true;
	r = resident_new((struct bpf_object *)&config);
	if (!r)
		abort();
	resident_begin(r, each);
	return r;
}

static int order_pages(const void *a, const void *b)
{
	const struct fs_page_read *x = a, *y = b;

	return x->page < y->page ? -1 : x->page > y->page;
}

static int reading(struct resident *r, const struct resident_process *p)
{
	int err = resident_prepare(r);

	qsort(page, pages, sizeof(page[0]), order_pages);
	rows = 0;
	memset(&total, 0, sizeof(total));
	return err ?: resident_read(r, p, &sink);
}

static bool has_ended(void *ctx, const struct process_key *of)
{
	return of->pid == *(const __u32 *)ctx;
}

static size_t open_files(void)
{
	DIR *d = opendir("/proc/self/fd");
	size_t n = 0;

	while (d && readdir(d))
		n++;
	closedir(d);
	return n;
}

/* ---- tests ---- */

static void test_programs_without(void)
{
	config.resident.on = 0;
	ok(!resident_new((struct bpf_object *)&config), "programs that choose no pages");
	config.resident.on = 1;
	made_maps[0].initial_bytes = sizeof(config) - 1;
	ok(!resident_new((struct bpf_object *)&config), "settings of an older size");
	made_maps[0].initial_bytes = sizeof(config);
	owner_map->name = "other";
	ok(!resident_new((struct bpf_object *)&config), "no map of owners");
	owner_map->name = "resident";
	shared_map->name = "other";
	ok(!resident_new((struct bpf_object *)&config), "no shared memory");
	shared_map->name = ".data.shared";
	resident_free(NULL);
}

static void test_choice(void)
{
	static const struct {
		__u32 each, below, ranges;
	} want[] = {{1, UINT32_MAX, UINT32_MAX}, {2, 1u << 31, UINT32_MAX},
		    {64, 1u << 26, UINT32_MAX},	 {128, 1u << 25, 1u << 31},
		    {256, 1u << 24, 1u << 30},	 {1u << 20, 1u << 12, 1u << 18}};

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		struct resident *r = begin(want[i].each);

		is_u64(shared->resident_below, want[i].below, "share of the pages");
		is_u64(shared->resident_ranges_below, want[i].ranges, "share of the ranges");
		resident_free(r);
	}
}

static void test_wanted(void)
{
	struct resident *r = begin(1);
	struct process_key id = own_id;
	const __u8 since = FS_WANTED_SINCE_FORK;
	int added = 0;

	ok(!resident_wanted_since_fork(r, &id), "a process that is not wanted");
	ok(resident_want(r, &id), "a process is wanted");
	ok(resident_want(r, &id), "a process that is wanted already");
	ok(!resident_wanted_since_fork(r, &id), "it is wanted since later");
	bpf_map_update_elem(wanted_map->fd, &id.pid, &since, BPF_ANY);
	ok(resident_want(r, &id) && resident_wanted_since_fork(r, &id), "wanted since its fork");
	resident_unwant(r, &id);
	ok(!wanted_map->n, "no process is wanted any more");
	for (id.pid = 1; id.pid <= RESIDENT_WANTED_MAX + 1; id.pid++)
		added += resident_want(r, &id);
	is_u64(added, RESIDENT_WANTED_MAX, "processes that are wanted at once");
	ok(!resident_knows(r, &own_id), "a wanted process is not known");
	resident_free(r);
}

static void test_owners(void)
{
	struct resident *r = begin(1);
	struct resident_process p = process();
	const struct process_key earlier = {own_id.start_ns - 1, own_id.pid};

	see(anon, 0, 4, FS_PAGE_PRESENT, 100);
	see(anon, 4, 1, FS_PAGE_SWAPPED, 0);
	see(anon, 5, 2, FS_PAGE_PRESENT, 110);
	own(&p.id, FS_RESIDENT_PAGE, number_of(anon, 0), (struct fs_resident){.stack = 10});
	own(&p.id, FS_RESIDENT_PAGE, number_of(anon, 1), (struct fs_resident){.stack = 0});
	own(&p.id, FS_RESIDENT_PAGE, number_of(anon, 3), (struct fs_resident){.stack = -1});
	own(&p.id, FS_RESIDENT_PAGE, number_of(anon, 4), (struct fs_resident){.stack = 10});
	own(&earlier, FS_RESIDENT_PAGE, number_of(anon, 5), (struct fs_resident){.stack = 66});
	own(&p.id, FS_RESIDENT_HUGE, number_of(anon, 6) / HUGE_PAGES,
	    (struct fs_resident){.stack = 12});
	ok(!reading(r, &p), "a process is read");
	is_str(rows_text(),
	       "1001 -1<-1: touched, 1, 0, 0 \n1001 0<-1: touched, 1, 0, 0 \n"
	       "1001 10<-1: touched, 2, 0, 0 \n1001 12<-1: touched, 3, 0, 0 \n",
	       "rows of pages of anonymous memory");
	is_u64(link_of, getpid(), "the process whose pages are read");
	is_u64(total.subject.pid, own_id.pid, "process of the totals");
	is_u64(total.each, 1, "one of each page is chosen");
	is_u64(total.rows, rows, "number of rows");
	is_u64(total.watched_ns, 0, "time since the first reading");
	ok(total.anon_bytes > 1 << 16 && total.file_bytes > 1 << 16, "totals of the kernel");
	ok(!total.swap_bytes || total.swap_bytes % 1024 == 0, "swap in bytes");
	ok(!(total.anon_bytes % 4096) && !(total.file_bytes % 4096), "whole pages");
	is_u64(total.lost, 0, "no fault is lost");
	for (size_t i = 0; i < rows; i++)
		is_u64(row[i].nth, i, "rows are numbered");
	shared->resident_lost = 3;
	ok(!reading(r, &p), "a process is read again");
	ok(total.watched_ns > 0, "time since the first reading");
	is_u64(total.lost, 3, "lost faults");
	sink_err = -EPIPE;
	ok(reading(r, &p) == -EPIPE, "the sink fails");
	sink_err = 0;
	resident_free(r);
}

static void test_before(void)
{
	struct resident *r = begin(1);
	struct resident_process p = process();

	p.born = false;
	see(anon, 0, 2, FS_PAGE_PRESENT, 100);
	ok(!reading(r, &p), "a process that ran before it was watched");
	is_str(rows_text(), "1001 -1<-1: before, 2, 0, 0 \n", "pages that were there before");
	resident_free(r);
}

static void test_copies(void)
{
	struct resident *r = begin(1);
	struct resident_process p = process();
	struct fs_resident now;
	const struct fs_resident copied = {
		.stack = 20, .before = 21, .how = FS_RESIDENT_COPIED, .since_ns = 5};
	struct fs_resident framed = copied;

	see(anon, 0, 1, FS_PAGE_PRESENT, 100);
	see(anon, 1, 1, FS_PAGE_PRESENT, 200);
	see(anon, 2, 1, FS_PAGE_PRESENT, 300);
	see(shared_file, 0, 1, FS_PAGE_PRESENT, 400);
	own(&p.id, FS_RESIDENT_PAGE, number_of(anon, 0), copied);
	framed.frame = 200; /* the write made no copy: the frame is still the same */
	own(&p.id, FS_RESIDENT_PAGE, number_of(anon, 1), framed);
	framed.frame = 299;
	own(&p.id, FS_RESIDENT_PAGE, number_of(anon, 2), framed);
	own(&p.id, FS_RESIDENT_PAGE, number_of(shared_file, 0), copied);
	ok(!reading(r, &p), "a process is read");
	is_str(rows_text(),
	       "1001 20<-1: touched, 1, 0, 6 memfd:made_pages (deleted)\n"
	       "1001 20<21: copied, 2, 0, 0 \n1001 21<-1: touched, 1, 0, 0 \n",
	       "copied pages");
	ok(owner_of(&p.id, FS_RESIDENT_PAGE, number_of(anon, 1), &now) &&
		   now.how == FS_RESIDENT_TOUCHED && now.stack == 21 && !now.frame,
	   "a write without a copy is settled in the map");
	ok(owner_of(&p.id, FS_RESIDENT_PAGE, number_of(anon, 2), &now) &&
		   now.how == FS_RESIDENT_COPIED && now.stack == 20 && !now.frame,
	   "a copy is settled in the map");
	resident_free(r);
}

/* Pages of files without an owner belong to the nearest page of the same range of 2 MiB. */
static void test_nearest(void)
{
	struct resident *r = begin(1);
	struct resident_process p = process();

	see(shared_file, 0, PAGES, FS_PAGE_PRESENT, 400);
	own(&p.id, FS_RESIDENT_PAGE, number_of(shared_file, 1), (struct fs_resident){.stack = 30});
	own(&p.id, FS_RESIDENT_PAGE, number_of(shared_file, 5), (struct fs_resident){.stack = 31});
	ok(!reading(r, &p), "a process is read");
	is_str(rows_text(),
	       "1001 30<-1: touched, 4, 0, 6 memfd:made_pages (deleted)\n"
	       "1001 31<-1: touched, 4, 0, 6 memfd:made_pages (deleted)\n",
	       "pages around a fault");
	resident_free(r);
}

/* A page that was there before an older page nearby was touched stays with its row. */
static void test_older_pages(void)
{
	struct resident *r = begin(1);
	struct resident_process p = process();

	p.born = false;
	see(shared_file, 0, 3, FS_PAGE_PRESENT, 400);
	ok(!reading(r, &p), "a process is read");
	own(&p.id, FS_RESIDENT_PAGE, number_of(shared_file, 1), (struct fs_resident){.stack = 32});
	see(shared_file, 3, 1, FS_PAGE_PRESENT, 403);
	ok(!reading(r, &p), "a process is read again");
	is_str(rows_text(),
	       "1001 -1<-1: before, 2, 0, 6 memfd:made_pages (deleted)\n"
	       "1001 32<-1: touched, 2, 0, 6 memfd:made_pages (deleted)\n",
	       "pages that were there before");
	resident_free(r);
}

static void test_huge_pages(void)
{
	const __u64 first = number_of(huge, 0) / HUGE_PAGES;
	struct resident *r = begin(1);
	struct resident_process p = process();

	see(huge, 0, 1, FS_PAGE_PRESENT | FS_PAGE_HUGE, 0);
	see(huge, HUGE_PAGES, 1, FS_PAGE_PRESENT | FS_PAGE_HUGE, 0);
	own(&p.id, FS_RESIDENT_HUGE, first, (struct fs_resident){.stack = 40, .since_ns = 50});
	own(&p.id, FS_RESIDENT_PAGE, first * HUGE_PAGES + 3,
	    (struct fs_resident){.stack = 41, .since_ns = 50});
	ok(!reading(r, &p), "a process is read");
	is_str(rows_text(), "1001 -1<-1: no fault, 512, 0, 0 \n1001 40<-1: touched, 0, 2, 0 \n",
	       "huge pages");
	own(&p.id, FS_RESIDENT_PAGE, first * HUGE_PAGES + 511,
	    (struct fs_resident){.stack = 42, .since_ns = 51});
	ok(!reading(r, &p), "a process is read again");
	is_str(rows_text(),
	       "1001 -1<-1: no fault, 512, 0, 0 \n1001 41<-1: touched, 258, 0, 0 \n"
	       "1001 42<-1: touched, 254, 0, 0 \n",
	       "a huge page of pages that were touched on their own");
	resident_free(r);
}

/* Pages that were there before stay with their row if a huge page is made of them, or split. */
static void test_older_huge_pages(void)
{
	struct resident *r = begin(1);
	struct resident_process p = process(), child = process();
	size_t all;

	p.born = false;
	see(huge, 0, HUGE_PAGES, FS_PAGE_PRESENT, 100);
	see(huge, HUGE_PAGES, 1, FS_PAGE_PRESENT | FS_PAGE_HUGE, 0);
	ok(!reading(r, &p), "a process is read");
	is_str(rows_text(), "1001 -1<-1: before, 512, 2, 0 \n", "small pages and a huge page");
	for (int i = 0; i < 2; i++) {
		pages = 0;
		see(huge, 0, 1, FS_PAGE_PRESENT | FS_PAGE_HUGE, 0);
		see(huge, HUGE_PAGES, HUGE_PAGES / 2, FS_PAGE_PRESENT, 700);
		ok(!reading(r, &p), "it is read again");
		is_str(rows_text(), "1001 -1<-1: before, 768, 0, 0 \n",
		       "a huge page of these pages, and pages of this huge page");
	}
	all = pages;
	pages = 0;
	ok(!reading(r, &p), "a reading misses all pages");
	pages = all;
	ok(!reading(r, &p), "the next one finds them");
	is_str(rows_text(), "1001 -1<-1: before, 768, 0, 0 \n", "they are in the same row");
	own(&p.id, FS_RESIDENT_PAGE, number_of(huge, 9),
	    (struct fs_resident){.stack = 45, .since_ns = 60});
	ok(!reading(r, &p), "it is read again");
	is_str(rows_text(), "1001 -1<-1: before, 767, 0, 0 \n1001 45<-1: touched, 1, 0, 0 \n",
	       "a page that was freed and touched between");
	child.id.pid = 1002;
	child.parent = p.id;
	child.forked_ns = 50;
	ok(!reading(r, &child), "a child is read");
	is_str(rows_text(), "1001 -1<-1: inherited, 768, 0, 0 \n", "all pages are inherited");
	resident_free(r);
}

/* Memory that was freed and touched again in one huge page is new, also if that page is split. */
static void test_huge_page_touched_again(void)
{
	struct resident *r = begin(1);
	struct resident_process p = process();

	p.born = false;
	see(huge, 0, 2, FS_PAGE_PRESENT, 100);
	see(huge, HUGE_PAGES, 1, FS_PAGE_PRESENT | FS_PAGE_HUGE, 0);
	ok(!reading(r, &p), "a process is read");
	is_str(rows_text(), "1001 -1<-1: before, 2, 2, 0 \n", "pages and a huge page");
	for (int i = 0; i < 2; i++)
		own(&p.id, FS_RESIDENT_HUGE, number_of(huge, 0) / HUGE_PAGES + i,
		    (struct fs_resident){.stack = 46, .since_ns = 60});
	pages = 0;
	see(huge, 0, 2, FS_PAGE_PRESENT, 300);
	see(huge, HUGE_PAGES, 2, FS_PAGE_PRESENT, 400);
	ok(!reading(r, &p), "it is read again");
	is_str(rows_text(), "1001 46<-1: touched, 4, 0, 0 \n", "parts of new huge pages");
	resident_free(r);
}

/* A huge page can be made of small pages of which no chosen one was touched. */
static void test_huge_pages_without_chosen_page(void)
{
	struct resident *r = begin(1024);
	struct resident_process p = process();
	size_t chosen = 0;

	for (size_t i = 0; i < 3; i++)
		see(huge, i * HUGE_PAGES, 1, FS_PAGE_PRESENT | FS_PAGE_HUGE, 0);
	for (size_t i = 0; i < 3 * HUGE_PAGES; i++)
		chosen += fs_resident_chosen(config.resident.secret, number_of(huge, i),
					     shared->resident_below);
	ok(!reading(r, &p), "a process is read");
	is_u64(rows && row[0].by == RESIDENT_NO_FAULT ? row[0].pages : 0, chosen,
	       "only chosen pages are counted");
	is_u64(rows ? row[0].huge_bytes : 0, 0, "no huge page is known to be without a fault");
	resident_free(r);
}

/* A mapping can begin or end within a huge page, and pages can be swapped. */
static void test_parts_of_huge_pages(void)
{
	const __u64 first = number_of(huge, 0) / HUGE_PAGES;
	struct resident *r = begin(1);
	struct resident_process p = process();

	see(huge, 500, 1, FS_PAGE_PRESENT | FS_PAGE_HUGE, 0);
	see(huge, HUGE_PAGES, 1, FS_PAGE_SWAPPED | FS_PAGE_HUGE, 0);
	own(&p.id, FS_RESIDENT_HUGE, first, (struct fs_resident){.stack = 43});
	own(&p.id, FS_RESIDENT_HUGE, first + 1, (struct fs_resident){.stack = 44});
	ok(!reading(r, &p), "a process is read");
	is_str(rows_text(), "1001 43<-1: touched, 12, 0, 0 \n1001 44<-1: touched, 512, 0, 0 \n",
	       "a part of a huge page, and a huge page in swap");
	resident_free(r);
}

static void test_inherited(void)
{
	struct resident *r = begin(1);
	struct resident_process old = process(), parent = process(), child = process();

	old.id.pid = 900;
	old.born = false;
	parent.id.pid = 950;
	parent.parent = old.id;
	parent.forked_ns = 50;
	child.parent = parent.id;
	child.forked_ns = 100;
	/* page 0: before; 1 and 2: touched before the fork; 3: after it; 4: copied; 5: by `old` */
	see(anon, 0, 1, FS_PAGE_PRESENT, 100);
	ok(!reading(r, &old), "the oldest process is read");
	own(&parent.id, FS_RESIDENT_PAGE, number_of(anon, 1),
	    (struct fs_resident){.stack = 50, .since_ns = 99});
	own(&parent.id, FS_RESIDENT_PAGE, number_of(anon, 2),
	    (struct fs_resident){.stack = 50, .since_ns = 100});
	own(&parent.id, FS_RESIDENT_PAGE, number_of(anon, 3),
	    (struct fs_resident){.stack = 51, .since_ns = 101});
	own(&parent.id, FS_RESIDENT_PAGE, number_of(anon, 4),
	    (struct fs_resident){
		    .stack = 52, .before = 53, .since_ns = 101, .how = FS_RESIDENT_COPIED});
	own(&old.id, FS_RESIDENT_PAGE, number_of(anon, 5),
	    (struct fs_resident){.stack = 54, .since_ns = 50});
	own(&old.id, FS_RESIDENT_PAGE, number_of(anon, 6),
	    (struct fs_resident){.stack = 55, .since_ns = 51});
	ok(!resident_open(r, &parent), "the parent is opened");
	see(anon, 1, 6, FS_PAGE_PRESENT, 101);
	ok(!reading(r, &child), "the child is read");
	is_str(rows_text(),
	       "900 -1<-1: inherited, 2, 0, 0 \n900 54<-1: inherited, 1, 0, 0 \n"
	       "950 -1<-1: inherited, 1, 0, 0 \n950 50<-1: inherited, 2, 0, 0 \n"
	       "950 53<-1: inherited, 1, 0, 0 \n",
	       "pages of ancestors");
	ok(resident_knows(r, &child.id) && resident_knows(r, &parent.id), "processes are known");
	resident_free(r);
}

/* An owner may appear in the map after it was copied. */
static void test_late_owners(void)
{
	struct resident *r = begin(1);
	struct resident_process p = process();

	see(anon, 0, 4, FS_PAGE_PRESENT, 100);
	see(huge, 0, 1, FS_PAGE_PRESENT | FS_PAGE_HUGE, 0);
	qsort(page, pages, sizeof(page[0]), order_pages);
	ok(!resident_prepare(r), "owners are copied");
	own(&p.id, FS_RESIDENT_PAGE, number_of(anon, 0), (struct fs_resident){.stack = 60});
	own(&p.id, FS_RESIDENT_PAGE, number_of(anon, 1),
	    (struct fs_resident){.stack = 61, .before = 62, .how = FS_RESIDENT_COPIED});
	own(&p.id, FS_RESIDENT_PAGE, number_of(anon, 2), (struct fs_resident){.stack = -2});
	own(&p.id, FS_RESIDENT_HUGE, number_of(huge, 0) / HUGE_PAGES,
	    (struct fs_resident){.stack = 0});
	rows = 0;
	ok(!resident_read(r, &p, &sink), "a process is read");
	is_str(rows_text(),
	       "1001 -1<-1: no fault, 2, 0, 0 \n1001 0<-1: touched, 0, 2, 0 \n"
	       "1001 60<-1: touched, 1, 0, 0 \n1001 61<-1: copied, 1, 0, 0 \n",
	       "owners that came late");
	resident_free(r);
}

static void test_exec(void)
{
	struct resident *r = begin(1);
	struct resident_process p = process();
	size_t files = open_files();

	resident_expect(r, p.pid);
	is_u64(open_files(), files + 1, "the file of an expected process is opened");
	p.born = false;
	ok(!resident_open(r, &p) && !resident_open(r, &p), "an expected process");
	is_u64(open_files(), files + 1, "its file is used");
	see(anon, 0, 1, FS_PAGE_PRESENT, 100);
	ok(!reading(r, &p), "a process is read");
	memory++;
	ok(reading(r, &p) == -ESRCH, "its memory is another one");
	p.execs++;
	p.born = true;
	ok(!reading(r, &p), "it executed another program");
	is_str(rows_text(), "1001 -1<-1: no fault, 1, 0, 0 \n", "pages are those of new memory");
	ok(total.watched_ns > 0, "time since the first reading of the process");
	is_u64(open_files(), files + 1, "the old file is closed");
	has_next = false;
	ok(reading(r, &p) == -ESRCH, "the process has ended while it was read");
	p.id.pid = p.pid = 0x7ffffff0;
	ok(reading(r, &p) == -ESRCH && resident_open(r, &p) == -ESRCH, "there is no such process");
	ok(!resident_knows(r, &p.id), "it is not known");
	resident_free(r);
	is_u64(open_files(), files, "all files are closed");
}

/* A process that ended is kept while processes that inherited its pages are there. */
static void test_ended(void)
{
	struct resident *r = begin(1);
	struct resident_process parent = process(), child = process();
	size_t files = open_files();
	__u32 ended = 950;

	parent.id.pid = 950;
	child.parent = parent.id;
	ok(resident_want(r, &parent.id) && resident_want(r, &child.id), "both are wanted");
	ok(!resident_open(r, &parent) && !resident_open(r, &child), "both are opened");
	ok(!resident_prepare(r) && !resident_finish(r, has_ended, &ended), "the parent ended");
	ok(resident_knows(r, &parent.id), "a parent is kept");
	is_u64(open_files(), files + 1, "its file is closed");
	is_u64(wanted_map->n, 1, "it is not wanted any more");
	ended = child.id.pid;
	ok(!reading(r, &child), "the child is read");
	ok(!resident_finish(r, has_ended, &ended), "the child ended");
	ok(resident_knows(r, &child.id), "a process is kept in the round in which it was read");
	ok(!resident_prepare(r) && !resident_finish(r, has_ended, &ended), "in the next round");
	ok(!resident_knows(r, &child.id), "the child is forgotten");
	is_u64(open_files(), files, "its file is closed");
	is_u64(wanted_map->n, 0, "no process is wanted");
	ended = 950;
	ok(!resident_prepare(r) && !resident_finish(r, has_ended, &ended), "in the next round");
	ok(!resident_knows(r, &parent.id), "the parent is forgotten");
	resident_free(r);
}

/* Adds `n` entries for pages that are not there. */
static void fill(const struct process_key *of, size_t from, size_t n, struct fs_resident is)
{
	for (size_t i = 0; i < n; i++)
		own(of, FS_RESIDENT_PAGE, from + i, is);
}

static void test_full_map(void)
{
	const size_t quarter = FS_RESIDENT_PAGES / 4;
	struct resident *r = begin(1);
	struct resident_process p = process();
	const struct process_key gone = {3, 950, 0}, running = {3, 960, 0};
	__u32 ended = gone.pid;

	see(anon, 0, 1, FS_PAGE_PRESENT, 100);
	own(&p.id, FS_RESIDENT_PAGE, number_of(anon, 0), (struct fs_resident){});
	fill(&p.id, 1, quarter - 2, (struct fs_resident){});
	ok(!reading(r, &p) && !resident_finish(r, has_ended, &ended), "a map that is filling up");
	is_u64(owner_map->n, quarter - 1, "below a quarter, all entries are kept");
	fill(&gone, 1, 10, (struct fs_resident){});
	fill(&running, 1, 20, (struct fs_resident){});
	fill(&p.id, quarter, 30, (struct fs_resident){.since_ns = ~0ULL});
	ok(!reading(r, &p) && !resident_finish(r, has_ended, &ended),
	   "a map that is a quarter full");
	is_u64(owner_map->n, 1 + 20 + 30,
	       "kept: pages that were found, processes not read, and new entries");
	is_u64(total.each, 1, "all pages are chosen");
	fill(&running, 100, 3 * quarter - 51, (struct fs_resident){});
	ok(!reading(r, &p) && !resident_finish(r, has_ended, &ended), "three quarters");
	is_u64(shared->resident_below, UINT32_MAX, "all pages are still chosen");
	fill(&running, 100 + 3 * quarter, 1, (struct fs_resident){});
	ok(!reading(r, &p) && !resident_finish(r, has_ended, &ended), "more than three quarters");
	is_u64(shared->resident_below, 1u << 31, "half of the pages are chosen");
	ok(owner_map->n > quarter && owner_map->n < 2 * quarter, "%zu entries of chosen pages",
	   owner_map->n);
	ok(!reading(r, &p) && total.each == 2, "one of two pages is chosen");
	resident_free(r);
}

/* The kernel is asked about pages of which the page table does not say enough. */
static void test_asked(void)
{
	struct resident *r = begin(1);
	struct resident_process p = process();
	static const char of_file[] = "1001 71<-1: touched, 1, 0, 4 test_resident_read.";
	volatile char *at = anon, *file = private_file;
	const char *text;

	at[0] = at[2 * PAGE_BYTES] = 1;
	(void)file[0];
	file[PAGE_BYTES] = 1;
	for (size_t i = 0; i < 4; i++)
		own(&p.id, FS_RESIDENT_PAGE, number_of(anon, i), (struct fs_resident){.stack = 70});
	for (size_t i = 0; i < 2; i++)
		own(&p.id, FS_RESIDENT_PAGE, number_of(private_file, i),
		    (struct fs_resident){.stack = 71});
	see(anon, 0, 4, FS_PAGE_UNKNOWN, 0);
	see(private_file, 0, 2, FS_PAGE_PRESENT, 500);
	ok(!reading(r, &p), "a process is read");
	ok(!reading(r, &p), "a process is read again, with known frames");
	is_u64(total.rows, rows, "number of rows");
	text = rows_text();
	ok(!strncmp(text, "1001 70<-1: touched, 2, 0, 0 \n", 30), "pages in memory");
	text = strstr(text, of_file);
	ok(text && strstr(text + 1, of_file), "a page of the file and a private copy are apart");
	resident_free(r);
}

/* Without the program, pages are read from /proc/PID/pagemap. */
static void test_without_program(void)
{
	struct resident *r;
	struct resident_process p = process();
	volatile char *at = anon;
	const char *text;

	resident_free(begin(1));
	runs = 0;
	program = -1;
	r = resident_new((struct bpf_object *)&config);
	resident_begin(r, 1);
	at[0] = at[3 * PAGE_BYTES] = 1;
	own(&p.id, FS_RESIDENT_PAGE, number_of(anon, 0), (struct fs_resident){.stack = 80});
	own(&p.id, FS_RESIDENT_PAGE, number_of(anon, 1), (struct fs_resident){.stack = 81});
	own(&p.id, FS_RESIDENT_PAGE, number_of(anon, 3), (struct fs_resident){.stack = 80});
	ok(!reading(r, &p), "a process is read");
	is_u64(runs, 0, "the program does not run");
	text = rows_text();
	ok(strstr(text, "1001 80<-1: touched, 2, 0, 0 \n") && !strstr(text, " 81<"),
	   "pages in memory");
	resident_free(r);
}

/* The program is not used if it does not work, or does not know where the kernel maps memory. */
static void test_unusable_program(void)
{
	struct resident_process p = process();
	struct resident *r;

	resident_free(begin(1));
	runs = 0;
	shared->resident_map_base = 0;
	r = resident_new((struct bpf_object *)&config);
	ok(!reading(r, &p) && !runs, "without the address of memory");
	resident_free(r);
	shared->resident_map_base = 1;
	has_next = false;
	r = resident_new((struct bpf_object *)&config);
	ok(!reading(r, &p) && runs == 1, "a program that sends nothing");
	resident_free(r);
}

int main(void)
{
	made_map(".rodata.config", sizeof(config), 0, 0, 0);
	made_maps[0].initial = &config;
	made_maps[0].initial_bytes = sizeof(config);
	shared_map = made_map(".data.shared", sizeof(struct fs_shared), 0, 0, 0);
	owner_map = made_map("resident", 0, sizeof(struct fs_resident_key),
			     sizeof(struct fs_resident), FS_RESIDENT_PAGES);
	wanted_map =
		made_map("resident_wanted", 0, sizeof(__u32), sizeof(__u8), FS_RESIDENT_WANTED);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, shared_map->fd, 0);
	map_all();
	test_programs_without();
	test_choice();
	test_wanted();
	test_owners();
	test_before();
	test_copies();
	test_nearest();
	test_older_pages();
	test_huge_pages();
	test_older_huge_pages();
	test_huge_page_touched_again();
	test_huge_pages_without_chosen_page();
	test_parts_of_huge_pages();
	test_inherited();
	test_late_owners();
	test_exec();
	test_ended();
	test_full_map();
	test_asked();
	test_without_program();
	test_unusable_program();
	return tap_done();
}
