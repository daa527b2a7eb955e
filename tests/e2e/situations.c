// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Prints the live view of a made-up machine without a terminal. Each situation is made of records,
 * as a measurement sends them, so that its screen is the same at every run.
 *
 * usage: situations NAME WIDTH HEIGHT
 */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/ended.h"
#include "model/pressure.h"
#include "fixture.h"
#include "render/tui/tui.h"

#define SCANS 20
#define GIB   (1ULL << 30)

static struct model m;
static struct findings findings;
static struct tui tui;
static struct view view = {.m = &m, .findings = &findings, .unicode = true};
static uint64_t now = SECOND;

/* A process at one scan. Members that are 0 or NULL get common values. */
struct given {
	uint32_t pid, parent, uid, fds, maps, execs;
	uint64_t minor, major, rss_pages, birth;
	const char *comm, *command, *user, *cgroup;
	bool final;
};

static void put(struct given g)
{
	struct process_record r =
		process_record(g.pid, g.birth ? g.birth : g.pid, now + SECOND / 2);
	struct names_record names = RECORD(names_record, RECORD_NAMES, now + SECOND / 2);

	r.g.ppid = g.parent ? g.parent : 1;
	r.g.uid = g.uid;
	r.g.min_flt = g.minor;
	r.g.maj_flt = g.major;
	r.g.fds = r.g.fd_high = g.fds ? g.fds : 4;
	r.g.map_count = r.g.map_high = g.maps ? g.maps : 60;
	r.g.rss_anon_pages = g.rss_pages ? g.rss_pages : 800;
	r.u.cpu_ns = g.minor * 20000;
	r.g.flags = PROC_BORN | (g.final ? PROC_FINAL : 0);
	snprintf(r.g.comm, sizeof(r.g.comm), "%s", g.comm);
	model_take(&m, &r.h);
	names.subject = r.subject;
	snprintf(names.exe, sizeof(names.exe), "/usr/bin/%s", g.comm);
	snprintf(names.command, sizeof(names.command), "%s", g.command ? g.command : g.comm);
	snprintf(names.user, sizeof(names.user), "%s", g.user ? g.user : "root");
	snprintf(names.cgroup, sizeof(names.cgroup), "%s",
		 g.cgroup ? g.cgroup : "/system.slice/app.service");
	model_take(&m, &names.h);
}

/* Processes that every machine has. */
static void put_common(uint64_t scan)
{
	put((struct given){.pid = 2,
			   .comm = "systemd",
			   .command = "/sbin/init",
			   .minor = scan,
			   .fds = 190,
			   .cgroup = "/init.scope"});
	put((struct given){.pid = 310,
			   .comm = "journald",
			   .minor = 40 * scan,
			   .fds = 60,
			   .command = "/lib/systemd/systemd-journald",
			   .cgroup = "/system.slice/systemd-journald.service"});
	put((struct given){.pid = 402,
			   .comm = "sshd",
			   .fds = 9,
			   .command = "sshd: /usr/sbin/sshd -D [listener]",
			   .cgroup = "/system.slice/ssh.service"});
	put((struct given){.pid = 700,
			   .comm = "postgres",
			   .minor = 300 * scan,
			   .fds = 60,
			   .maps = 220,
			   .user = "postgres",
			   .rss_pages = 40000,
			   .command = "postgres: writer process",
			   .cgroup = "/system.slice/postgresql.service"});
}

static void put_leak(uint64_t scan)
{
	put((struct given){.pid = 4211,
			   .comm = "api",
			   .minor = 120 * scan,
			   .fds = 300 + 30 * scan,
			   .user = "www-data",
			   .command = "/opt/shop/api --listen :8080 --workers 4",
			   .cgroup = "/system.slice/shop-api.service"});
}

static void short_processes(uint64_t scan)
{
	char comm[16];

	put_common(scan);
	put_leak(scan);
	for (uint32_t i = 0; i < 500; i++) {
		snprintf(comm, sizeof(comm), i % 2 ? "sleep" : "cat");
		put((struct given){.pid = 10000 + 500 * scan + i,
				   .comm = comm,
				   .minor = 400 + i,
				   .parent = 402,
				   .final = true});
	}
}

static void two_full(uint64_t scan)
{
	char command[64];

	put_common(scan);
	for (uint32_t i = 0; i < 40; i++) {
		snprintf(command, sizeof(command), "/usr/bin/worker --queue %u", i);
		put((struct given){.pid = 2000 + i,
				   .comm = "worker",
				   .command = command,
				   .minor = (1000 + 20 * i) * scan});
	}
	put((struct given){.pid = 3100,
			   .comm = "proxy",
			   .fds = 1024,
			   .user = "nobody",
			   .command = "proxy --config /etc/proxy.conf"});
	put((struct given){.pid = 3200,
			   .comm = "loader",
			   .maps = 65530,
			   .user = "anna",
			   .command = "python3 train.py --data /srv/shards"});
}

static void oom(uint64_t scan)
{
	put_common(scan);
	put((struct given){.pid = 5000,
			   .comm = "java",
			   .minor = 9000 * scan,
			   .fds = 220,
			   .maps = 900,
			   .rss_pages = 60000 * scan,
			   .user = "kafka",
			   .command = "java -Xmx6g -jar kafka.jar",
			   .cgroup = "/system.slice/kafka.service",
			   .final = scan == SCANS});
	if (scan == SCANS) {
		struct oom_record r = RECORD(oom_record, RECORD_OOM, now + SECOND / 3);

		r.subject = (struct process_key){.pid = 5000, .start_ns = 5000};
		strcpy(r.comm, "java");
		model_take(&m, &r.h);
	}
}

static void thrash(uint64_t scan)
{
	static struct pressure_record p;

	put_common(scan);
	put((struct given){.pid = 5000,
			   .comm = "builder",
			   .minor = 2000 * scan,
			   .major = 900 * scan,
			   .rss_pages = 1500000,
			   .user = "ci",
			   .command = "builder --jobs 64 all"});
	p.h = (struct record){RECORD_SHORTAGE, sizeof(p), now + SECOND / 2};
	p.n[HOST_SWAP_IN] += 9000;
	p.n[HOST_SWAP_OUT] += 7000;
	p.n[HOST_REFAULT_FILE] += 8000;
	p.some.known = p.full.known = 1;
	p.some.total_us += 700000;
	p.full.total_us += 500000;
	p.some.avg10 = p.some.avg60 = 7000;
	p.full.avg10 = p.full.avg60 = 5000;
	model_take(&m, &p.h);
}

static void containers(uint64_t scan)
{
	char cgroup[160], command[64];

	put_common(scan);
	for (uint32_t pod = 0; pod < 10; pod++)
		for (uint32_t i = 0; i < 3; i++) {
			snprintf(cgroup, sizeof(cgroup),
				 "/kubepods.slice/kubepods-pod%08x.slice/"
				 "%02x3f8e6d0b7c4a59%02x3f8e6d0b7c4a59%02x3f8e6d0b7c4a59aabbcc",
				 0xa1b2c300 + pod, pod, pod, pod);
			snprintf(command, sizeof(command), "nginx: worker process %u", i);
			put((struct given){.pid = 6000 + 10 * pod + i,
					   .comm = "nginx",
					   .command = command,
					   .minor = (50 * pod + i) * scan,
					   .fds = pod == 4 && !i ? 1000 : 30 + pod,
					   .user = "www-data",
					   .cgroup = cgroup,
					   .uid = 33});
		}
}

static void pythons(uint64_t scan)
{
	char command[96];

	put_common(scan);
	for (uint32_t i = 0; i < 30; i++) {
		snprintf(command, sizeof(command), "/usr/bin/python3 shard_%02u.py --epochs 3", i);
		put((struct given){.pid = 8000 + i,
				   .comm = "python3",
				   .command = command,
				   .minor = (500 + i) * scan,
				   .fds = i == 17 ? 200 + 35 * scan : 40,
				   .maps = 1800,
				   .rss_pages = 20000,
				   .user = "anna"});
	}
}

static void family(uint64_t scan)
{
	put_common(scan);
	put((struct given){
		.pid = 900, .comm = "bash", .command = "-bash", .parent = 402, .user = "anna"});
	put((struct given){
		.pid = 901, .comm = "make", .command = "make -j4", .parent = 900, .user = "anna"});
	for (uint32_t i = 0; i < 4; i++) {
		put((struct given){.pid = 910 + 2 * i,
				   .comm = "gcc",
				   .parent = 901,
				   .command = "gcc -c part.c",
				   .user = "anna",
				   .minor = 100 * scan});
		put((struct given){.pid = 911 + 2 * i,
				   .comm = "cc1",
				   .parent = 910 + 2 * i,
				   .command = "cc1 -quiet part.c",
				   .user = "anna",
				   .minor = 4000 * scan,
				   .fds = i == 2 ? 1010 : 5});
	}
}

static void many_findings(uint64_t scan)
{
	put_common(scan);
	for (uint32_t i = 0; i < 70; i++)
		put((struct given){.pid = 7000 + i,
				   .comm = i % 2 ? "shard" : "index",
				   .fds = i % 3 ? 900 + i : 1024,
				   .maps = i % 5 ? 100 : 60000,
				   .minor = i * scan});
}

static void quiet(uint64_t scan)
{
	put_common(0);
}

/* The kernel measures the programs of the probes, except of one. */
static void costs(uint64_t scan)
{
	static const struct {
		const char *name;
		uint64_t runs, run_ns;
	} probes[] = {{"scan", 1, 250000}, {"fault_begin", 30000, 11000000}, {"oom", 0, 0}};
	struct probe_cost_record r = RECORD(probe_cost_record, RECORD_PROBE_COST, now + SECOND);

	put_common(scan);
	for (size_t i = 0; i < sizeof(probes) / sizeof(probes[0]); i++) {
		snprintf(r.name, sizeof(r.name), "%s", probes[i].name);
		r.runs = probes[i].runs * scan;
		r.run_ns = probes[i].run_ns * scan;
		model_take(&m, &r.h);
	}
}

static void leak(uint64_t scan)
{
	put_common(scan);
	put_leak(scan);
}

static const struct tui_mark marks[] = {{8 * SECOND, MARK_OPENED}, {15 * SECOND, MARK_CRITICAL}};

static void end_of_replay(void)
{
	strcpy(tui.status, "END OF RECORDING");
	tui.timeline = (struct tui_timeline){.begin_ns = SECOND,
					     .end_ns = now,
					     .read_ns = now,
					     .mark = marks,
					     .nr_marks = 2,
					     .from = "14:02:50",
					     .to = "14:03:10",
					     .now = "14:03:10"};
}

static const struct situation {
	const char *name, *keys;
	void (*put)(uint64_t scan);
	void (*end)(void);
} situations[] = {
	{"leak-among-short", "", short_processes, NULL},
	{"leak-fds", "3", short_processes, NULL},
	{"two-full", "", two_full, NULL},
	{"oom", "", oom, NULL},
	{"thrash", "", thrash, NULL},
	{"thrash-kernel", "5", thrash, NULL},
	{"containers", "t", containers, NULL},
	{"pythons", "", pythons, NULL},
	{"family", "tt", family, NULL},
	{"many-findings", "6", many_findings, NULL},
	{"quiet", "", quiet, NULL},
	{"columns", "ojj ", leak, NULL},
	{"costs", "5G", costs, NULL},
	{"leak-page", "\r", leak, NULL},
	{"leak-commands", "\r\r", leak, NULL},
	{"replay-end", "", short_processes, end_of_replay},
	{"replay-ended", "e", short_processes, end_of_replay},
};

static void press(const char *keys)
{
	struct buf frame = {};

	for (; *keys; keys++) {
		buf_clear(&frame);
		tui_frame(&tui, &view, &frame); /* as a user, who sees each page */
		tui_press(&tui, &view, *keys);
	}
	buf_free(&frame);
}

static int show(const struct situation *s)
{
	struct buf frame = {};

	begin_model(&m, NULL);
	if (model_keep_ended(&m, 4096))
		return 1;
	tui_open(&tui, &view);
	for (uint64_t scan = 1; scan <= SCANS; scan++) {
		struct tick_record tick = tick_record(now + SECOND);

		s->put(scan);
		tick.limits.mem_available_bytes = s->put == thrash ? GIB / 4 : 5 * GIB;
		if (s->put == costs)
			tick.own_bpf_ns = 11250000 * scan;
		now += SECOND;
		model_take(&m, &tick.h);
		findings_judge(&findings, &m);
		if (tui_update(&tui, &view))
			return 1;
		model_next_window(&m);
		findings_next_window(&findings);
	}
	if (s->end)
		s->end();
	press(s->keys);
	tui_frame(&tui, &view, &frame);
	fputs(frame.s ? frame.s : "", stdout);
	buf_free(&frame);
	tui_free(&tui);
	findings_free(&findings);
	model_free(&m);
	return 0;
}

int main(int argc, char **argv)
{
	setlocale(LC_ALL, "C.UTF-8");
	if (argc < 4) {
		for (size_t i = 0; i < sizeof(situations) / sizeof(situations[0]); i++)
			puts(situations[i].name);
		return 0;
	}
	view.width = atoi(argv[2]);
	view.height = atoi(argv[3]);
	for (size_t i = 0; i < sizeof(situations) / sizeof(situations[0]); i++)
		if (!strcmp(situations[i].name, argv[1]))
			return show(&situations[i]);
	return 2;
}
