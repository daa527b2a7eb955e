// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/fleet.h"

#include <errno.h>
#include <stdlib.h>

#include "fetch/fetch.h"
#include "render/text/fleet_table.h"
#include "tap.h"

#define SECOND 1000000000ULL
#define BUILD  "faultscope_build_info{version=\"0.1.0\",kernel=\"6.1\"} 1\n"

/* A page as an exporter has it, of one workload. */
static const char *page_of(const char *workload, int maps, int fds, int limit, int majors,
			   double stall)
{
	static char page[2048];

	snprintf(
		page, sizeof(page),
		"# HELP faultscope_mappings_limit x\n# TYPE faultscope_mappings_limit gauge\n" BUILD
		"faultscope_mappings_limit 65530\n"
		"faultscope_workload_info{workload=\"%s\",kind=\"pod\"} 1\n"
		"faultscope_mappings{workload=\"%s\"} 99999\n"
		"faultscope_worst_process_mappings{workload=\"%s\"} %d\n"
		"faultscope_worst_process_open_fds{workload=\"%s\"} %d\n"
		"faultscope_worst_process_fds_limit{workload=\"%s\"} %d\n"
		"faultscope_page_faults_total{workload=\"%s\",severity=\"minor\"} 5e6\n"
		"faultscope_page_faults_total{workload=\"%s\",severity=\"major\"} %d # {pid=\"4\"} "
		"1\n"
		"faultscope_major_fault_stall_seconds_total{workload=\"%s\"} %g\n# EOF\n",
		workload, workload, workload, maps, workload, fds, workload, limit, workload,
		workload, majors, workload, stall);
	return page;
}

static int take(struct fleet *f, uint32_t host, const char *page, uint64_t t_ns)
{
	return fleet_take(f, host, page, strlen(page), t_ns);
}

static void test_rates(void)
{
	static const char *const names[] = {"a", "b"};
	struct fleet_entry *e;
	struct fleet f;
	size_t n;

	fleet_init(&f, names, 2);
	take(&f, 0, page_of("shop/cart/app", 6553, 100, 1000, 10, 1), 10 * SECOND);
	e = fleet_sorted(&f, &n);
	ok(n == 1 && e[0].majors_per_s < 0 && e[0].stall_share < 0, "one page has no rates");
	ok(e[0].maps_share == 0.1 && e[0].fds_share == 0.1 && e[0].pressure == 0.1, "but shares");
	free(e);
	take(&f, 0, page_of("shop/cart/app", 6553, 100, 1000, 30, 2), 14 * SECOND);
	take(&f, 1, page_of("db", 60000, 5, 0, 0, 0), 14 * SECOND);
	e = fleet_sorted(&f, &n);
	ok(n == 2 && !strcmp(e[0].host->name, "b") && e[0].fds_share == 1,
	   "under most pressure first: descriptors without a limit that allows any");
	ok(e[1].majors_per_s == 5 && e[1].stall_share == 0.25 && e[1].pressure == 0.25,
	   "rates of two pages");
	free(e);
	take(&f, 0, page_of("shop/cart/app", 6553, 100, 1000, 8, 0.5), 16 * SECOND);
	e = fleet_sorted(&f, &n);
	ok(e[1].majors_per_s == 4 && e[1].stall_share == 0.25, "a counter that began anew");
	free(e);
	take(&f, 0, page_of("other", 1, 1, 2, 0, 0), 18 * SECOND);
	e = fleet_sorted(&f, &n);
	ok(n == 2 && !strcmp(e[1].row->workload, "other") && e[1].majors_per_s < 0,
	   "what is no longer told is forgotten");
	free(e);
	fleet_down(&f, 1, "connection refused");
	e = fleet_sorted(&f, &n);
	ok(n == 1 && !strcmp(f.host[1].why, "connection refused"), "a host that is down");
	free(e);
	take(&f, 1, page_of("db", 60000, 5, 10, 0, 0), 20 * SECOND);
	e = fleet_sorted(&f, &n);
	ok(n == 2 && !f.host[1].why[0] && e[0].majors_per_s < 0, "and up again");
	free(e);
	fleet_free(&f);
}

static void test_pages(void)
{
	static const char *const names[] = {"a"};
	char *many = malloc(1 << 20);
	struct fleet f;
	size_t n, len = 0;

	fleet_init(&f, names, 1);
	is_u64(-take(&f, 0, "<html>hello</html>\n", SECOND), EBADMSG, "no page of ours");
	is_str(f.host[0].why, "no page of faultscope export", "and it says so");
	is_u64(-take(&f, 0, "node_load1 3\n", SECOND), EBADMSG, "nor another exporter's");
	is_u64(take(&f, 0, BUILD "rubbish\nfaultscope_mappings_limit NaN\n", SECOND), 0,
	       "one of ours");
	is_u64(f.host[0].bad_lines, 1, "with a bad line");
	len += sprintf(many, "%s", BUILD);
	for (int i = 0; i < FLEET_ROWS_MAX + 10; i++)
		len += sprintf(many + len,
			       "faultscope_worst_process_mappings{workload=\"w%d\"} %d\n", i, i);
	take(&f, 0, many, 2 * SECOND);
	free(fleet_sorted(&f, &n));
	ok(n == FLEET_ROWS_MAX && f.host[0].lost == 10, "workloads have a cap");
	fleet_free(&f);
	fleet_init(&f, names, 1);
	take(&f, 0, BUILD "faultscope_worst_process_mappings{workload=\"\\n\\u\xff\"} -3\n",
	     3 * SECOND);
	ok(f.host[0].rows && !strcmp(f.host[0].row[f.host[0].rows - 1].workload, "?u?"),
	   "labels are made valid");
	free(many);
	fleet_free(&f);
	is_u64(-fleet_init(&f, names, FLEET_HOSTS_MAX + 1), E2BIG, "hosts have a cap");
}

static void test_text(void)
{
	static const char *const names[] = {"node-1", "node-2"};
	struct view v = {.width = 100, .top = 20};
	struct buf b = {};
	struct fleet f;

	fleet_init(&f, names, 2);
	take(&f, 0, page_of("shop/cart/app", 6553, 100, 1000, 10, 1), 10 * SECOND);
	take(&f, 0, page_of("shop/cart/app", 6553, 100, 1000, 30, 2), 14 * SECOND);
	fleet_down(&f, 1, "no \033[31mroute");
	fleet_text(&b, &v, &f, 2);
	is_str(b.s,
	       "faultscope top  2 hosts, 1 down  1 workload  every 2s\n"
	       "HOST         WORKLOAD          MAPS     LIMIT     FDS     LIMIT    MAJ/s  STALL/s\n"
	       "node-1       shop/cart/app    6,553    65,530     100     1,000      5.0   250 ms\n"
	       "node-2: no ?[31mroute\n",
	       "the table");
	buf_clear(&b);
	v.width = 120;
	fleet_text(&b, &v, &f, 2);
	ok(strstr(b.s, "MAP%") && strstr(b.s, "  10.0 "), "with shares where it is wide");
	buf_clear(&b);
	v.height = 3;
	fleet_text(&b, &v, &f, 2);
	ok(strstr(b.s, "node-2") && strstr(b.s, "cart"), "what fits on the screen");
	buf_clear(&b);
	v = (struct view){.width = 40, .top = 0};
	fleet_text(&b, &v, &f, 2);
	ok(strstr(b.s, "1 more"), "what is left out is counted");
	buf_free(&b);
	fleet_free(&f);
}

/* Two that differ in their ends alone, beside workloads of short names. */
static void test_long_hosts(void)
{
	static const char *const names[] = {"10.0.0.100:18444", "10.0.0.100:18445"};
	struct view v = {.width = 100, .top = 20};
	struct buf b = {};
	struct fleet f;

	fleet_init(&f, names, 2);
	for (uint32_t i = 0; i < 2; i++)
		take(&f, i, page_of("cart", 6553, 100, 1000, 10, 1), 10 * SECOND);
	fleet_text(&b, &v, &f, 2);
	ok(strstr(b.s, "\n10.0.0.100:18444 cart") && strstr(b.s, "\n10.0.0.100:18445 cart"),
	   "the host has what workloads do not need");
	buf_free(&b);
	fleet_free(&f);
}

static const struct {
	const char *given, *url, *name;
} urls[] = {
	{"node-1:10435", "http://node-1:10435/metrics", "node-1"},
	{"node-1:9100", "http://node-1:9100/metrics", "node-1:9100"},
	{"node-1", "http://node-1/metrics", "node-1"},
	{"[::1]:10435", "http://[::1]:10435/metrics", "[::1]"},
	{"https://node-1:10435", "https://node-1:10435/metrics", "node-1"},
	{"https://node-1/", "https://node-1/metrics", "node-1"},
	{"https://node-1/a/b?c=d", "https://node-1/a/b?c=d", "node-1"},
	{"http://me:secret@node-1:80/m", "http://me:secret@node-1:80/m", "node-1:80"},
	{"", NULL, NULL},
	{"http://", NULL, NULL},
	{"http:///metrics", NULL, NULL},
	{"/metrics", NULL, NULL},
	{"file:///etc/passwd", NULL, NULL},
	{"ftp://node-1", NULL, NULL},
	{"node 1", NULL, NULL},
	{"node\n1", NULL, NULL},
};

static void test_urls(void)
{
	char url[64], name[64];

	for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
		int err = fetch_url(urls[i].given, url, sizeof(url));

		if (!urls[i].url) {
			is_u64(-err, EINVAL, "no address");
			continue;
		}
		fetch_name(url, ":10435", name, sizeof(name));
		ok(!err && !strcmp(url, urls[i].url) && !strcmp(name, urls[i].name), "%s: %s, %s",
		   urls[i].given, url, name);
	}
	is_u64(-fetch_url("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
			  url, sizeof(url)),
	       ENAMETOOLONG, "one that is too long");
}

int main(void)
{
	test_rates();
	test_pages();
	test_text();
	test_long_hosts();
	test_urls();
	return tap_done();
}
