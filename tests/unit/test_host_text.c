// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests the page of `host`, line by line, for machines whose memory fills up. */
#include "fixture.h"
#include "model/pressure.h"
#include "render/render.h"
#include "rules/rules.h"
#include "tap.h"

#define MIB   (1ULL << 20)
#define GIB   (1ULL << 30)
#define SCANS 90

static struct model m;
static struct findings findings;
static struct view view;
static struct buf page;

static void begin(int width)
{
	begin_model(&m, NULL);
	memset(&findings, 0, sizeof(findings));
	view = (struct view){
		.m = &m, .findings = &findings, .once = true, .width = width, .unicode = false};
}

static void end(void)
{
	findings_free(&findings);
	model_free(&m);
	buf_free(&page);
}

static void write_page(void)
{
	page.len = 0;
	host_renderer.close(&page, &view);
	buf_putc(&page, 0);
}

/* Returns the lines of the page that have a title, and those below them without one. */
static const char *part(const char *title)
{
	static char text[2048];
	char begin[32];
	const char *at;
	size_t len = 0;

	snprintf(begin, sizeof(begin), "\n %-11s", title);
	at = strstr(page.s, begin);
	text[0] = 0;
	while (at && len < sizeof(text)) {
		size_t n = strcspn(at + 1, "\n");

		len += snprintf(text + len, sizeof(text) - len, "%s%.*s", len ? "\n" : "", (int)n,
				at + 1);
		at += n + 1;
		if (strncmp(at, "\n            ", 13) && strncmp(at, begin, strlen(begin)))
			break;
	}
	return text;
}

static struct cgroup_record level_record(const char *path, uint64_t t_ns, uint64_t anon,
					 uint64_t limit)
{
	struct cgroup_record c = RECORD(cgroup_record, RECORD_LEVEL, t_ns);

	for (int i = 0; i < NR_CGROUP_FIGURES; i++)
		c.n[i] = FIGURE_UNKNOWN;
	snprintf(c.path, sizeof(c.path), "%s", path);
	c.version = 2;
	c.n[CGROUP_USED] = anon + MIB;
	c.n[CGROUP_ANON] = anon;
	c.n[CGROUP_SHMEM] = 0;
	c.n[CGROUP_KERNEL] = 0;
	c.n[CGROUP_SWAP_USED] = 0;
	c.n[CGROUP_LIMIT] = limit;
	return c;
}

/* A machine on which everything grows for a minute and a half. */
static void grow(uint64_t s, uint64_t mode)
{
	struct tick_record tick = tick_record(s * SECOND);
	struct cgroup_record c = level_record("/job", s * SECOND, (600 + 3 * s) * MIB, GIB);
	struct mount_record u = RECORD(mount_record, RECORD_MOUNT, s * SECOND);

	tick.limits.mem_available_bytes = 4 * GIB - s * 16 * MIB;
	tick.limits.swap_free_bytes = GIB - s * 8 * MIB;
	tick.limits.overcommit_memory = mode;
	tick.limits.committed_bytes = 2 * GIB + s * 32 * MIB;
	model_take(&m, &c.h);
	strcpy(u.path, "/data");
	u.magic = 0x01021994;
	u.flags = MOUNT_IN_MEMORY;
	u.size_bytes = GIB;
	u.used_bytes = (600 + 2 * s) * MIB;
	u.free_bytes = GIB - u.used_bytes;
	u.device = 7;
	model_take(&m, &u.h);
	model_take(&m, &tick.h);
	findings_judge(&findings, &m);
}

static void test_unread(void)
{
	struct tick_record tick = tick_record(SECOND);

	begin(120);
	memset(&tick.limits, 0, sizeof(tick.limits));
	model_take(&m, &tick.h);
	findings_judge(&findings, &m);
	write_page();
	is_str(part("memory"), " memory     not known: /proc/meminfo was not read", "no memory");
	is_str(part("swap"), " swap       not known: /proc/meminfo was not read", "nor swap");
	is_str(part("committed"), " committed  not known: /proc/meminfo was not read", "nor limit");
	end();
}

static void test_growth(void)
{
	begin(120);
	for (uint64_t s = 2; s < SCANS; s++) {
		grow(s, 2);
		model_next_window(&m);
		findings_next_window(&findings);
	}
	grow(SCANS, 2);
	write_page();
	is_str(part("memory"),
	       " memory     5.41 GiB of 8.00 GiB  [##############      ] 68%  available "
	       "2.59 GiB  full in about 2m 46s",
	       "memory");
	is_str(part("swap"),
	       " swap       720 MiB of 1.00 GiB   [##############      ] 70%  full in about "
	       "38 s",
	       "swap");
	is_str(part("committed"),
	       " committed  4.81 GiB of 8.00 GiB  [############        ] 60%  (mode 2, "
	       "strict)  full in about 102 s",
	       "committed memory in strict mode");
	is_str(part("cgroup"),
	       " cgroup     /job  871 MiB of 1.00 GiB, 85% not reclaimable  full in about "
	       "51 s",
	       "a cgroup with a limit");
	is_str(part("tmpfs"),
	       " tmpfs      780 MiB of 1.00 GiB   [###############     ] 76%  /data  full "
	       "in about 2m 02s",
	       "a tmpfs");
	is_str(part("pressure"),
	       " pressure   not known: this recording does not tell",
	       "pressure that is not known");
	is_str(part("huge pages"), "", "no huge pages");
	view.width = 75;
	write_page();
	is_str(part("memory"),
	       " memory     5.41 GiB of 8.00 GiB 68%  available 2.59 GiB  full in about 2m\n"
	       "            46s",
	       "no bar in a narrow window");
	m.tick.limits.overcommit_memory = 1;
	m.tick.limits.mem_available_bytes = 9 * GIB;
	write_page();
	is_str(part("committed"),
	       " committed  4.81 GiB  (mode 1, always: allocations never fail)",
	       "without a limit of committed memory");
	is_str(part("memory"),
	       " memory     0 B of 8.00 GiB 0%  available 9.00 GiB  full in about 2m 46s",
	       "more available than there is");
	m.tick.limits.overcommit_memory = 3;
	m.tick.limits.swap_total_bytes = 0;
	write_page();
	is_str(part("committed"),
	       " committed  4.81 GiB  (mode 3, ?)",
	       "a mode that is not known");
	is_str(part("swap"),
	       " swap       none",
	       "no swap");
	end();
}

/* Tests which cgroups are listed, and in which order: at least half full, the fullest first. */
static void test_levels(void)
{
	static const int percents[] = {49, 50, 69, 70, 89, 90, 100, 20};
	struct tick_record tick = tick_record(2 * SECOND);
	struct cgroup_record c;
	char path[16];

	begin(120);
	for (size_t i = 0; i < sizeof(percents) / sizeof(percents[0]); i++) {
		snprintf(path, sizeof(path), "/p%d", percents[i]);
		c = level_record(path, 2 * SECOND, percents[i] * MIB, 100 * MIB);
		if (percents[i] == 90) {
			c.n[CGROUP_HIGH] = 95 * MIB;
			c.n[CGROUP_OOM_KILLS] = 3;
		}
		if (percents[i] == 89)
			c.n[CGROUP_OOM_KILLS] = 0;
		model_take(&m, &c.h);
	}
	c = level_record("/free", 2 * SECOND, 100 * MIB, UINT64_MAX);
	model_take(&m, &c.h);
	model_take(&m, &tick.h);
	write_page();
	is_str(part("cgroup"),
	       " cgroup     /p90  91.0 MiB of 100 MiB, 90% not reclaimable, high 95.0 "
	       "MiB, OOM kills 3\n"
	       " cgroup     /p100  101 MiB of 100 MiB, 100% not reclaimable\n"
	       " cgroup     /p70  71.0 MiB of 100 MiB, 70% not reclaimable\n"
	       " cgroup     /p89  90.0 MiB of 100 MiB, 89% not reclaimable\n"
	       "            and 2 cgroups more that are half full; --json has all",
	       "cgroups");
	end();
}

/* Tests a machine with all values of memory pressure, at two scans of which rates are computed. */
static void test_pressure(void)
{
	struct pressure_record p = RECORD(pressure_record, RECORD_SHORTAGE, 2 * SECOND);
	struct tick_record tick = tick_record(2 * SECOND);

	begin(120);
	tick.limits.huge_pages = 8;
	tick.limits.huge_pages_free = 2;
	tick.limits.huge_pages_reserved = 1;
	tick.limits.huge_page_bytes = 2 * MIB;
	tick.limits.mem_available_bytes = 2 * GIB;
	for (int i = 0; i < NR_HOST_FIGURES; i++)
		p.n[i] = 64 * MIB + i * 16 * MIB;
	p.n[HOST_OOM_KILLS] = 2;
	model_take(&m, &p.h);
	model_take(&m, &tick.h);
	model_next_window(&m);
	p.h.t_ns = tick.h.t_ns = 3 * SECOND;
	p.n[HOST_SWAP_IN] += 256;
	p.n[HOST_SWAP_OUT] += 512;
	p.n[HOST_REFAULT_ANON] += 1024;
	p.n[HOST_REFAULT_FILE] += 2048;
	p.n[HOST_DIRECT_STALLS] += 7;
	p.some = (struct stall){.known = 1, .avg10 = 110, .avg60 = 220, .avg300 = 330};
	p.full = (struct stall){.known = 1, .avg10 = 40, .avg60 = 50, .avg300 = 60};
	model_take(&m, &p.h);
	model_take(&m, &tick.h);
	write_page();
	is_str(part("pressure"),
	       " pressure   some/full in the last 10 s: 1.1/0.4 %; minute: 2.2/0.5 %; 5 "
	       "minutes: 3.3/0.6 %\n"
	       "            refaults:  swapped 4.00 MiB/s  files 8.00 MiB/s  direct "
	       "reclaims 7/s  OOM kills since boot 2",
	       "pressure");
	is_str(part("memory"),
	       " memory     6.00 GiB of 8.00 GiB  [###############     ] 75%  available "
	       "2.00 GiB\n"
	       "            anonymous 96.0 MiB  tmpfs and shared 112 MiB  cached 80.0 MiB "
	       " kernel 128 MiB",
	       "kinds of memory");
	is_str(part("swap"),
	       " swap       0 B of 1.00 GiB       [                    ] 0%  in 1.00 "
	       "MiB/s  out 2.00 MiB/s  zswap 192 MiB in 176 MiB",
	       "rates of swap");
	is_str(part("huge pages"),
	       " huge pages 12.0 MiB of 16.0 MiB  [###############     ] 75%  reserved "
	       "2.00 MiB",
	       "huge pages");
	is_str(part("committed"),
	       " committed  1.00 GiB  (mode 0, heuristic: only a single huge request "
	       "fails)",
	       "committed memory");
	p.some.known = 0;
	p.n[HOST_OOM_KILLS] = p.n[HOST_ZSWAP] = p.n[HOST_ANON] = FIGURE_UNKNOWN;
	model_take(&m, &p.h);
	write_page();
	is_str(part("pressure"),
	       " pressure   not known: this kernel has no PSI (boot with psi=1)\n"
	       "            refaults:  swapped 4.00 MiB/s  files 8.00 MiB/s  direct "
	       "reclaims 7/s",
	       "a kernel without PSI");
	is_str(part("memory"),
	       " memory     6.00 GiB of 8.00 GiB  [###############     ] 75%  available "
	       "2.00 GiB",
	       "kinds of memory that are not known");
	is_str(part("swap"),
	       " swap       0 B of 1.00 GiB       [                    ] 0%  in 1.00 "
	       "MiB/s  out 2.00 MiB/s",
	       "no zswap");
	end();
}

/* Tests the processes that use most memory, and the next victim of the OOM killer. */
static void test_consumers(void)
{
	static const struct {
		uint32_t pid;
		int64_t anon, shmem, swap;
	} all[] = {{10, 100, 0, 0}, {11, 400, 50, 0}, {12, 300, 80, 5}, {13, 200, 0, 0},
		   {14, 50, 0, 0},  {15, 10, 0, 0},   {16, 500, 0, 0}};
	struct tick_record tick = tick_record(2 * SECOND);
	struct score_record score = RECORD(score_record, RECORD_SCORE, 2 * SECOND);

	begin(120);
	for (uint64_t s = 2; s <= 4; s++) {
		for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
			struct process_record p = process_record(all[i].pid, 1, s * SECOND);

			p.g.rss_anon_pages = all[i].anon * 256;
			p.g.rss_shmem_pages = all[i].shmem * 256;
			p.g.swap_pages = all[i].swap * 256;
			p.g.data_vm_pages = 2 * all[i].anon * 256;
			p.g.rss_anon_pages += all[i].pid == 16 ? s * 512 : 0;
			p.g.rss_anon_pages -= all[i].pid == 11 ? s * 512 : 0;
			model_take(&m, &p.h);
		}
		tick.h.t_ns = s * SECOND;
		model_take(&m, &tick.h);
		if (s < 4)
			model_next_window(&m);
	}
	score.subject = (struct process_key){.pid = 13, .start_ns = 1};
	score.score = 700;
	score.adj = -5;
	model_take(&m, &score.h);
	write_page();
	is_str(part("top"),
	       " top        508 MiB   proc16[16], committed 1000 MiB, grows by 2.00 MiB/s\n"
	       "            442 MiB   proc11[11], committed 800 MiB, shrinks by 2.00 MiB/s\n"
	       "            380 MiB   proc12[12], swapped 5.00 MiB, shared 80.0 MiB, "
	       "committed 600 MiB\n"
	       "            200 MiB   proc13[13], committed 400 MiB\n"
	       "            100 MiB   proc10[10], committed 200 MiB",
	       "processes that use most memory");
	is_str(part("next victim"),
	       " next victim proc13[13] of the OOM killer: oom_score 700 (oom_score_adj "
	       "-5), resident 200 MiB",
	       "the next victim");
	end();
}

int main(void)
{
	test_unread();
	test_growth();
	test_levels();
	test_pressure();
	test_consumers();
	return tap_done();
}
