// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the pages of random OOM kills in all formats: a cgroup, the machine or a memory policy was
 * out of memory, and values are often unknown, 0, or at a threshold. After an intended change of a
 * page, copy the checksums that this test prints.
 */
#include "fixture.h"
#include "model/oom_kills.h"
#include "render/oom_pages.h"
#include "render/render.h"
#include "rules/oom_page.h"
#include "sums.h"

#define KILLS 1500
#define MIB   (1ULL << 20)
#define KILL  (100 * SECOND)
#define WALL  (1795877792 * SECOND)
#define PAGE  4096

static uint64_t dice;
static struct model m;

static uint64_t below(uint64_t n)
{
	return roll(&dice) % n;
}

/* Returns a number of bytes: often none, unknown, or an exact share of 100 MiB. */
static uint64_t bytes(void)
{
	static const uint64_t percents[] = {0,	1,  2,	5,  9,	10, 20, 25, 33,	 49,
					    50, 51, 66, 75, 80, 90, 95, 99, 100, 110};

	switch (below(10)) {
	case 0:
		return FIGURE_UNKNOWN;
	case 1:
		return below(2 * MIB);
	default:
		return MIB * percents[below(sizeof(percents) / sizeof(percents[0]))];
	}
}

static const char *one_of(const char *const *texts, size_t n)
{
	return texts[below(n)];
}

#define ONE_OF(...)                                                                                \
	one_of((const char *const[]){__VA_ARGS__},                                                 \
	       sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static uint64_t pages_of(uint64_t n)
{
	return n == FIGURE_UNKNOWN ? UINT64_MAX : n / PAGE;
}

static struct oom_record random_kill(void)
{
	struct oom_record r = RECORD(oom_record, RECORD_OOM, KILL);

	r.subject = (struct process_key){.pid = 50, .start_ns = KILL - below(4) * 30 * SECOND};
	r.constraint = below(OOM_MEMCG + 1);
	r.score_adj = below(3) ? 0 : (int)below(2001) - 1000;
	r.rss_anon_pages = below(30000);
	r.rss_file_pages = below(3000);
	r.rss_shmem_pages = below(2) ? 0 : below(9000);
	r.swap_pages = below(2) ? 0 : below(5000);
	r.total_vm_pages = 100000;
	r.by = below(2) ? 50 : 60;
	r.by_kept_pages = below(2) ? 0 : below(20000);
	r.version = below(3);
	r.cgroup_id = below(2) ? 7 : 0;
	r.group = !below(4);
	r.sent = below(5) ? 0 : below(2) ? 9 : 15;
	r.pid_inside = below(2) ? 0 : 3;
	r.page_table_bytes = below(2) ? 0 : below(4 * MIB);
	r.memory = (struct level_room){.used = 100 * MIB / PAGE,
				       .limit = below(4) ? 100 * MIB / PAGE : UINT64_MAX,
				       .up = below(3),
				       .known = below(4) > 0};
	r.swap_used = pages_of(bytes());
	r.swap_limit = pages_of(bytes());
	r.kmem_pages = pages_of(bytes());
	strcpy(r.comm, ONE_OF("victim", "a b", "\xc3\xa4", "x\nINJECTED", "|pipe`"));
	strcpy(r.by_comm, ONE_OF("victim", "other", ""));
	return r;
}

static struct oom_scene_record random_scene(const struct oom_record *r)
{
	struct oom_scene_record s = RECORD(oom_scene_record, RECORD_OOM_SCENE, KILL);

	s.subject = r->subject;
	s.kill_ns = KILL;
	s.wall_ns = below(20) ? WALL + below(5000) * SECOND / 1000 : 0;
	s.source = below(OOM_FROM_SCAN + 1);
	s.in_log = s.source == OOM_FROM_LOG;
	s.values_ns = s.source ? KILL - below(3) * 2 * SECOND : 0;
	s.limit = below(5) ? 100 * MIB : bytes();
	s.used = below(3) ? s.limit : bytes();
	s.swap_used = bytes();
	s.swap_limit = bytes();
	for (int i = 0; i < NR_OOM_MEMORY; i++)
		s.memory[i] = below(3) ? FIGURE_UNKNOWN : bytes();
	s.tasks = below(4);
	s.tasks_kept_bytes = s.tasks ? below(100) * MIB : 0;
	s.tasks_page_table_bytes = s.tasks ? below(8) * MIB : 0;
	for (uint64_t i = 0, n = below(OOM_CURVE_POINTS + 1), each = 1 + below(3); i < n; i++) {
		s.curve_ns[i] = KILL - (n - i) * each * SECOND;
		s.curve_bytes[i] = below(8) ? (40 + 2 * i) * MIB : bytes();
	}
	s.zone_free = below(2) ? 0 : below(50) * MIB;
	s.zone_min = below(2) ? 0 : below(50) * MIB;
	s.order = below(3) ? 0 : below(10);
	strcpy(s.zone, ONE_OF("", "Node 0 Normal", "Node 1 DMA32"));
	strcpy(s.gfp, ONE_OF("", "GFP_KERNEL", "GFP_HIGHUSER_MOVABLE|__GFP_COMP"));
	strcpy(s.path, ONE_OF("", "do_anonymous_page handle_mm_fault", "shmem_fault __do_fault",
			      "alloc_skb_with_frags sock_alloc_send_pskb", "unknown_function"));
	strcpy(s.cgroup, ONE_OF("", "/a", "/system.slice/x.service", "/kubepods/pod1/c1"));
	strcpy(s.victim_cgroup, ONE_OF("", "/a", "/a/b", "/system.slice/x.service/sub"));
	strcpy(s.namespace, ONE_OF("", "prod"));
	strcpy(s.pod, ONE_OF("", "web-0"));
	strcpy(s.container, ONE_OF("", "app", "0123456789abcdef0123456789abcdef"));
	return s;
}

static void add_holders(const struct oom_record *r)
{
	uint64_t n = below(2) ? below(4) : below(OOM_HOLDERS + 1);

	for (uint64_t i = 0; i < n; i++) {
		struct oom_holder_record h = RECORD(oom_holder_record, RECORD_OOM_HOLDER, KILL);

		h.subject = r->subject;
		h.kill_ns = KILL;
		h.nth = i;
		h.pid = i == n / 2 ? 50 : 60 + i;
		h.score_adj = below(3) ? 0 : (int)below(2001) - 1000;
		h.anon = bytes();
		h.file = bytes();
		h.shmem = bytes();
		h.rss = below(100) * MIB;
		h.swap = below(3) ? 0 : bytes();
		h.page_tables = bytes();
		h.before_ns = below(2) ? 0 : KILL - (1 + below(60)) * SECOND;
		h.before_bytes = below(100) * MIB;
		snprintf(h.comm, sizeof(h.comm), "p%u", h.pid);
		strcpy(h.cgroup, ONE_OF("", "/a", "/a/b"));
		model_take(&m, &h.h);
	}
}

/* Makes a model with one random kill. */
static void begin(void)
{
	struct oom_scene_record s;
	struct oom_record r, more;

	begin_model(&m, NULL);
	r = random_kill();
	model_take(&m, &r.h);
	s = random_scene(&r);
	if (below(20))
		model_take(&m, &s.h);
	add_holders(&r);
	more = r;
	for (uint64_t i = 0, n = r.group ? below(OOM_VICTIMS_MAX + 3) : 0; i < n; i++) {
		more.subject.pid = 70 + i;
		more.rss_anon_pages = below(9000);
		more.h.t_ns++;
		snprintf(more.comm, sizeof(more.comm), "more%u", more.subject.pid);
		model_take(&m, &more.h);
	}
}

/* Returns whether a page shows an escaped newline that is not that of a program's name. */
static bool has_stray_escape(const char *page)
{
	for (const char *at = page; (at = strstr(at, "\\x0a")); at++)
		if (strncmp(at, "\\x0aINJECTED", 12))
			return true;
	return false;
}

int main(void)
{
	unsigned int stray = 0;
	struct sum sums[] = {{"text", SUM_BEGINS, 0xe08bb61f124261b1},
			     {"narrow text", SUM_BEGINS, 0x9b438073fdc960fb},
			     {"Markdown", SUM_BEGINS, 0xa2c3efd4061ba1c7},
			     {"JSON", SUM_BEGINS, 0x88f9c395ee9c56f2},
			     {"list", SUM_BEGINS, 0xdfc1504479f83352}};

	for (uint64_t seed = 1; seed <= KILLS; seed++) {
		struct view wide = {.m = &m, .width = 100, .unicode = true};
		struct view narrow = {.m = &m, .width = 55};
		struct buf b[5] = {};
		struct oom_page page;

		dice = seed * 0x9e3779b97f4a7c15;
		begin();
		oom_page_of(oom_kills_last(&m), PAGE, &page);
		oom_page_text(&b[0], &wide, &page);
		oom_page_text(&b[1], &narrow, &page);
		oom_page_markdown(&b[2], &wide, &page);
		oom_page_json(&b[3], &wide, &page);
		oom_list_heading(&b[4], &wide);
		oom_list_line(&b[4], &wide, "/store/1.fsr", &page);
		for (int i = 0; i < 5; i++) {
			buf_putc(&b[i], 0);
			mix_text(&sums[i].got, b[i].s);
			stray += has_stray_escape(b[i].s);
			buf_free(&b[i]);
		}
		model_free(&m);
	}
	is_u64(stray, 0, "pages with an escaped newline outside of names");
	are_sums(sums, sizeof(sums) / sizeof(sums[0]));
	return tap_done();
}
