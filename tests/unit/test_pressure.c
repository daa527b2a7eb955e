// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests the findings about memory of the host, of cgroups and of mounts. */
#define _GNU_SOURCE

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/pressure/pressure_reader.h"
#include "render/losses.h"
#include "pressure_fixture.h"
#include "finding_text.h"

static void test_rates(void)
{
	const struct rates r = {.in = 100, .some = 20, .available = 6 * GIB, .swap_free = GIB};

	begin();
	ok(host_rate(&m, HOST_SWAP_IN) < 0 && host_stall(&m, false) < 0,
	   "without a record nothing is known");
	live(&r, 1);
	ok(host_rate(&m, HOST_SWAP_IN) < 0, "of one record there is no rate");
	ok(host_stall(&m, false) > 0.19 && host_stall(&m, false) < 0.21,
	   "but the kernel's own mean");
	live(&r, 40);
	ok(host_rate(&m, HOST_SWAP_IN) == 100, "a rate over the last ten to twenty seconds");
	ok(host_stall(&m, false) > 0.199 && host_stall(&m, false) < 0.201, "and a share");
	live(&(struct rates){.in = 0, .available = 6 * GIB, .swap_free = GIB}, 25);
	ok(host_rate(&m, HOST_SWAP_IN) == 0, "which forgets");
	m.pressure->now.n[HOST_SWAP_IN] = FIGURE_UNKNOWN;
	ok(host_rate(&m, HOST_SWAP_IN) < 0, "what is not told has no rate");
	end();
}

static void test_kinds(void)
{
	static const struct {
		const char *what, *id, *kind;
		struct rates r;
	} cases[] = {
		{"idle", NULL, "none", {.available = 6 * GIB, .swap_free = GIB}},
		{"swapped in and out, waiting",
		 "P05",
		 "swap",
		 {400, 300, 10, 40, 30, 2 * GIB, GIB / 2}},
		{"swapped out alone", NULL, "none", {0, 3000, 0, 2, 0, 2 * GIB, GIB / 2}},
		{"swapped in, little waiting", NULL, "none", {400, 300, 0, 3, 0, 6 * GIB, GIB / 2}},
		{"files read again, waiting",
		 "P06",
		 "page_cache",
		 {0, 0, 5000, 40, 10, 2 * GIB, GIB}},
		{"files read again, well", NULL, "none", {0, 0, 5000, 1, 0, 6 * GIB, GIB}},
		{"waiting, and no sign why", "P23", "pressure", {0, 0, 0, 25, 5, 6 * GIB, GIB}},
		{"little left", "P24", "memory", {.available = 300 * MIB, .swap_free = 100 * MIB}},
		{"little memory left, and swap",
		 NULL,
		 "none",
		 {.available = 300 * MIB, .swap_free = GIB}},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct shortage a;

		begin();
		live(&cases[i].r, 25);
		if (cases[i].id)
			ok(open_of(cases[i].id) && all_open() == 1, "%s: %s, and nothing else",
			   cases[i].what, cases[i].id);
		else
			is_u64(all_open(), 0, cases[i].what);
		shortage_of(&m, &fs, &a);
		is_str(a.kind, cases[i].kind, "and its kind");
		ok(a.is_short == (cases[i].id != NULL), "short, or not");
		live(&cases[0].r, 25);
		is_u64(all_open(), 0, "which passes");
		end();
	}
}

static void test_no_swap(void)
{
	const struct rates r = {.refaults = 5000, .some = 40, .available = 2 * GIB};
	const struct finding *f;

	begin();
	live(&r, 25);
	f = open_of("P06");
	ok(f && !strstr(remedy_str(f, 0), "add some swap"), "there is some: %s", remedy_str(f, 0));
	m.tick.limits.swap_total_bytes = 0;
	findings_judge(&fs, &m);
	f = open_of("P06");
	ok(f && strstr(remedy_str(f, 0), "add some swap"), "there is none: %s", remedy_str(f, 0));
	end();
}

/* Returns whether this finding alone, if critical, means that the host is short of memory. */
static bool is_short_by(const char *id)
{
	struct finding f = {.open = true, .severity = SEVERITY_CRITICAL};
	struct findings one = {.f = &f, .n = 1};
	struct shortage a;

	for (size_t i = 0; i < nr_rules; i++)
		if (!strcmp(rules[i].id, id))
			f.rule = &rules[i];
	shortage_of(&m, &one, &a);
	return a.is_short;
}

static const struct rule *rule_of(const char *id)
{
	for (size_t i = 0; i < nr_rules; i++)
		if (!strcmp(rules[i].id, id))
			return &rules[i];
	abort();
}

/*
 * Returns which of two findings is the main one. The order in which they are passed must not
 * matter.
 */
static const char *main_of(const char *a, enum severity as, const char *b, enum severity bs)
{
	struct finding f[2] = {{.open = true, .severity = as, .rule = rule_of(a)},
			       {.open = true, .severity = bs, .rule = rule_of(b)}};
	struct finding g[2] = {f[1], f[0]};
	struct findings two = {.f = f, .n = 2}, turned = {.f = g, .n = 2};
	struct shortage x, y;

	shortage_of(&m, &two, &x);
	shortage_of(&m, &turned, &y);
	ok(x.main->rule == y.main->rule && x.is_short == y.is_short, "%s and %s in either order", a,
	   b);
	return x.main->rule->id;
}

static void test_gravest(void)
{
	begin();
	is_str(main_of("P17", SEVERITY_CRITICAL, "P05", SEVERITY_WARNING), "P05",
	       "what goes on comes before what has happened");
	is_str(main_of("P19", SEVERITY_CRITICAL, "P22", SEVERITY_WARNING), "P22",
	       "what is near before what would be");
	is_str(main_of("P19", SEVERITY_WARNING, "P05", SEVERITY_INFO), "P19",
	       "a warning before a note");
	is_str(main_of("P19", SEVERITY_INFO, "P05", SEVERITY_INFO), "P05",
	       "of two notes what goes on");
	end();
}

static void test_what_is_no_shortage(void)
{
	static const char *const none[] = {"P02", "P03", "P08", "P10", "P12", "P13",
					   "P15", "P16", "P18", "M01", "F01"};

	begin();
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		ok(!is_short_by(none[i]), "%s is not about memory running short", none[i]);
	ok(is_short_by("P05") && is_short_by("P17") && is_short_by("P01") && is_short_by("M17"),
	   "others are");
	end();
}

static void test_since(void)
{
	struct pressure_record p = {.h = {RECORD_SHORTAGE, sizeof(p), 2 * SECOND}};
	struct shortage a;

	begin();
	/*
	 * if tasks are stalled for 40 % of the time, avg300 after 100 s is 40 % * (1 - exp(-100 /
	 * 300))
	 */
	p.some = (struct stall){0, 4000, 4000, 1133, 1};
	model_take(&m, &p.h);
	shortage_of(&m, &fs, &a);
	ok(a.since_seconds > 95 && a.since_seconds < 105 && !a.since_longer, "for 100 s: %f",
	   a.since_seconds);
	p.some.avg300 = 4000;
	model_take(&m, &p.h);
	shortage_of(&m, &fs, &a);
	ok(a.since_longer, "longer than the means tell");
	p.some = (struct stall){.known = 1};
	model_take(&m, &p.h);
	shortage_of(&m, &fs, &a);
	ok(a.since_seconds < 0, "not at all");
	end();
}

static void take_level(double percent, double high_per_s, double some)
{
	static struct cgroup_record c;

	if (now_s == 1) {
		memset(&c, 0, sizeof(c));
		memset(c.n, 0xff, sizeof(c.n));
		c.n[CGROUP_TIMES_HIGH] = 0;
		c.version = 2;
		strcpy(c.path, "/a/b");
	}
	c.h = (struct record){RECORD_LEVEL, sizeof(c), now_s * SECOND + SECOND / 2};
	c.n[CGROUP_LIMIT] = high_per_s ? FIGURE_UNKNOWN : GIB;
	c.n[CGROUP_HIGH] = high_per_s ? GIB : FIGURE_UNKNOWN;
	c.n[CGROUP_ANON] = GIB / 100 * percent;
	c.n[CGROUP_FILE] = GIB - c.n[CGROUP_ANON];
	c.n[CGROUP_USED] = GIB;
	c.n[CGROUP_SWAP_LIMIT] = 0;
	c.n[CGROUP_TIMES_HIGH] += high_per_s;
	c.some = stall_of(&c.some, some);
	c.full = stall_of(&c.full, some / 2);
	next();
	model_take(&m, &c.h);
	tick(6 * GIB, GIB);
}

static void test_cgroup(void)
{
	const struct finding *f;

	begin();
	for (int i = 0; i < 30; i++)
		take_level(50, 0, 0);
	is_u64(all_open(), 0, "a cgroup full of page cache is well");
	for (int i = 0; i < 3; i++)
		take_level(93, 0, 0);
	f = open_of("P22");
	ok(f && f->severity == SEVERITY_WARNING, "93 %% that cannot be dropped: a warning");
	is_str(f ? f->place : "", "/a/b", "of this cgroup");
	ok(f && !finding_has_process(f), "and of no process");
	take_level(98, 0, 0);
	f = open_of("P22");
	ok(f && f->severity == SEVERITY_CRITICAL, "98 %%: critical");
	next();
	tick(6 * GIB, GIB);
	is_u64(all_open(), 0, "a cgroup that is gone is not told of");
	end();
	begin();
	for (int i = 0; i < 40; i++)
		take_level(30 + i * 1.5, 0, 0);
	f = open_of("P22");
	ok(f && f->forecast.known && f->forecast.seconds > 3 && f->forecast.seconds < 12,
	   "of even growth the end is told: %f s", f ? f->forecast.seconds : -1);
	end();
	begin();
	for (int i = 0; i < 25; i++)
		take_level(90, 20, 60);
	f = open_of("P07");
	ok(f && f->severity == SEVERITY_CRITICAL, "held back at memory.high");
	ok(f && strstr(remedy_str(f, 0), "raise memory.high of the cgroup to 1610612736"),
	   "half as much again as a remedy: %s", remedy_str(f, 0));
	end();
	begin();
	for (int i = 0; i < 25; i++)
		take_level(90, 20, 2);
	ok(!open_of("P07"), "at memory.high without waiting is what it is for");
	end();
}

/*
 * Simulates memory that grows to 58.5 % of its limit and then stays the same. Returns whether the
 * finding P22 cgroup-not-reclaimable stays open.
 */
static bool stays_through(int seconds)
{
	bool stays = true;

	begin();
	for (int i = 0; i < 20; i++)
		take_level(30 + i * 1.5, 0, 0);
	stays = open_of("P22") && open_of("P22")->forecast.known;
	for (int i = 0; i < seconds; i++) {
		take_level(58.5, 0, 0);
		stays &= open_of("P22") != NULL;
	}
	end();
	return stays;
}

static void test_forecast_that_comes_and_goes(void)
{
	const struct finding *f;

	ok(stays_through(8), "growth that rests is told on");
	ok(!stays_through(60), "and is no more when it has ended");
	begin();
	for (int i = 0; i < 20; i++)
		take_level(30 + i * 1.5, 0, 0);
	m.pressure->level[0].series.n = 0;
	next();
	m.pressure->level[0].now.h.t_ns = now_s * SECOND + 1;
	tick(6 * GIB, GIB);
	f = open_of("P22");
	ok(f && !f->forecast.known && f->severity == SEVERITY_WARNING,
	   "without a time, as grave as it was");
	end();
}

#define MEMORY (8 * GIB) /* of the machine in tick_record() */

static void test_tmpfs(void)
{
	struct mount_record r = {.h = {RECORD_MOUNT, sizeof(r), 0},
				 .path = "/dev/shm",
				 .size_bytes = 64 * MIB,
				 .used_bytes = 60 * MIB,
				 .flags = MOUNT_IN_MEMORY};
	const struct finding *f;
	char size[64];

	begin();
	r.h.t_ns = 1 * SECOND + 1;
	model_take(&m, &r.h);
	tick(6 * GIB, GIB);
	f = open_of("P21");
	ok(f && f->severity == SEVERITY_WARNING, "a tmpfs at 94 %%");
	ok(f && f->nr_remedies == 2 && strstr(remedy_str(f, 1), "size=128M /dev/shm"),
	   "and twice its size as a remedy");
	strcpy(r.path, "/mnt/it's;reboot");
	r.h.t_ns = 2 * SECOND + 1;
	next();
	model_take(&m, &r.h);
	tick(6 * GIB, GIB);
	f = open_of("P21");
	ok(f && strstr(remedy_str(f, 1), "size=128M '/mnt/it'\\''s;reboot'"),
	   "a path that is more than a word to a shell is quoted: %s", remedy_str(f, 1));
	r.size_bytes = MEMORY - GIB;
	r.used_bytes = r.size_bytes - MIB;
	r.h.t_ns = 3 * SECOND + 1;
	next();
	model_take(&m, &r.h);
	tick(6 * GIB, GIB);
	snprintf(size, sizeof(size), "size=%lluM '/mnt/", MEMORY / MIB);
	ok(strstr(remedy_str(open_of("P21"), 1), size), "not more than the machine has: %s",
	   remedy_str(open_of("P21"), 1));
	r.size_bytes = MEMORY;
	r.used_bytes = MEMORY - MIB;
	r.h.t_ns = 4 * SECOND + 1;
	next();
	model_take(&m, &r.h);
	tick(6 * GIB, GIB);
	ok(strstr(remedy_str(open_of("P21"), 1), "should not be larger"),
	   "no larger size if the machine has no more memory: %s", remedy_str(open_of("P21"), 1));
	r.flags = 0;
	r.h.t_ns = 5 * SECOND + 1;
	next();
	model_take(&m, &r.h);
	tick(6 * GIB, GIB);
	ok(!open_of("P21"), "of a disk it is not said");
	end();
}

#define DISK(minor) (7ULL << 20 | (minor)) /* device number of a loop device */

static struct mount_record disk_record(const char *path, uint64_t device, uint64_t left)
{
	struct mount_record r = {.h = {RECORD_MOUNT, sizeof(r), now_s * SECOND + 1},
				 .magic = 0xef53,
				 .size_bytes = 100 * MIB,
				 .used_bytes = 100 * MIB - left,
				 .free_bytes = left,
				 .device = device};

	strcpy(r.path, path);
	return r;
}

/* Simulates a SIGBUS on a write to a file's hole. Returns finding P03 disk-full, or NULL. */
static const struct finding *writes_hole(uint64_t device, uint32_t flags, uint64_t held)
{
	struct signal_record r = RECORD(signal_record, RECORD_SIGNAL, now_s * SECOND + 2);

	r.subject.pid = 10;
	r.subject.start_ns = 110;
	r.signal = 7;
	r.code = 2;
	r.error_code = 6;
	r.area = MAPPED_FOUND;
	r.address = r.area_start = 0x7f0000000000;
	r.area_end = r.area_start + (1 << 20);
	r.file = (struct file_facts){.magic = 0xef53,
				     .size_bytes = 1 << 20,
				     .flags = FILE_KNOWN | flags,
				     .mode = 0100644};
	r.file_device = device;
	r.file_blocks = held / 512;
	model_take(&m, &r.h);
	tick(6 * GIB, GIB);
	return open_of("P03");
}

static bool full_is_told(uint64_t left, uint64_t device, uint32_t flags, uint64_t held)
{
	struct mount_record r = disk_record("/full", DISK(0), left);
	bool told;

	begin();
	model_take(&m, &r.h);
	told = writes_hole(device, flags, held);
	end();
	return told;
}

static void test_full_disks(void)
{
	struct mount_record r;
	const struct finding *f;

	ok(full_is_told(0, DISK(0), 0, 0), "a disk without room");
	ok(!full_is_told(0, DISK(1), 0, 0), "another one is full, and not its own");
	ok(!full_is_told(5 * MIB, DISK(0), 0, 0), "there is room: it was something else");
	ok(full_is_told(5 * MIB, DISK(0), FILE_DELETED, 5 * MIB),
	   "what the deleted file gave back");
	ok(!full_is_told(5 * MIB, DISK(0), 0, 5 * MIB),
	   "what a file has that is still there is no room");
	ok(!full_is_told(9 * MIB, DISK(0), FILE_DELETED, 5 * MIB), "more than that is room");
	ok(full_is_told(0, 0, 0, 0), "of an old recording, which has no device: by its kind");

	begin();
	r = disk_record("/kept for root", DISK(0), 0);
	r.used_bytes = 95 * MIB;
	model_take(&m, &r.h);
	ok(writes_hole(DISK(0), 0, 0), "room that is for root alone");
	end();
	begin();
	{
		struct process_record p = process_record(10, 110, SECOND);

		p.g.uid = 0;
		model_take(&m, &p.h);
	}
	model_take(&m, &r.h);
	ok(!writes_hole(DISK(0), 0, 0), "is there for root");
	end();
	begin();
	r = disk_record("/here", DISK(2), 0);
	r.h.t_ns = 2 * SECOND;
	model_take(&m, &r.h);
	f = writes_hole(DISK(2), FILE_DELETED, 3 * MIB);
	ok(f && f->nr_evidence >= 4 &&
		   !strcmp(f->evidence[f->nr_evidence - 2].field, "free just after"),
	   "it is said when it was measured");
	end();
}

static void test_mount_lines(void)
{
	static const char text[] =
		"36 35 259:3 / /mnt/a\\040b rw,noatime master:1 - ext4 /dev/x rw";
	struct span line = {text, sizeof(text) - 1};
	struct mount_line l;
	char path[16];

	ok(mountinfo_parse(line, &l) && l.device == (259ULL << 20 | 3), "the device of a mount");
	ok(text_is(l.type, "ext4"), "its type");
	ok(mountinfo_path(l.point, path, sizeof(path)) && !strcmp(path, "/mnt/a b"), "its path");
	ok(!mountinfo_path(l.point, path, 8), "which is not cut");
	line.len = 20;
	ok(!mountinfo_parse(line, &l), "half a line");
}

static void test_texts(void)
{
	struct stall some = {}, full = {};
	uint64_t n = 0;

	pressure_stalls("some avg10=12.34 avg60=0.50 avg300=0.01 total=256447\n"
			"full avg10=1.00 avg60=0.00 avg300=0.00 total=39717\n",
			&some, &full);
	ok(some.known && some.avg10 == 1234 && some.avg60 == 50 && some.avg300 == 1 &&
		   some.total_us == 256447,
	   "a pressure file");
	ok(full.known && full.avg10 == 100 && full.total_us == 39717, "both lines of it");
	full = (struct stall){};
	pressure_stalls("some avg10=x\nnonsense", &some, &full);
	ok(!full.known, "and nothing of another");
	ok(pressure_keyed("anon 1\nfile 22\nfile_mapped 3\n", "file", &n) && n == 22,
	   "a key, and no longer one");
	ok(!pressure_keyed("anon 1\n", "ano", &n) && !pressure_keyed("", "anon", &n),
	   "no part of one");
	for (size_t i = 0; i < NR_HOST_FIGURES; i++)
		for (size_t k = 0; k < i; k++)
			if (!strcmp(host_figure_key(i), host_figure_key(k)))
				ok(false, "%s is there twice", host_figure_key(i));
}

static void make_level(const char *path, const char *max)
{
	char name[400];
	FILE *f;

	snprintf(name, sizeof(name), "%s/%s", fixture_dir, path);
	mkdir(name, 0700);
	snprintf(name, sizeof(name), "%s/%s/memory.max", fixture_dir, path);
	f = fopen(name, "w");
	if (f) {
		fputs(max, f);
		fclose(f);
	}
}

/*
 * Tests more cgroups than a scan can store. Those that are left out must be counted and reported as
 * lost data.
 */
static void test_left_out(void)
{
	struct pressure_record p = RECORD(pressure_record, RECORD_SHORTAGE, SECOND);
	struct view v = {.m = &m, .findings = &fs};
	char name[260], deep[] = "d/d/d/d/d/d/d/d/d";
	struct pressure_reader r = {};
	uint64_t before;

	begin();
	r.root = open(fixture_path(""), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (int i = 0; i < LEVELS_MAX; i++) {
		snprintf(name, sizeof(name), "%d", i);
		make_level(name, "4096");
	}
	pressure_list_cgroups(&r, &m);
	ok(r.levels == LEVELS_MAX && !r.over, "as many as there is room for");
	make_level("one", "4096");
	make_level("other", "4096");
	make_level("free", "max");
	pressure_list_cgroups(&r, &m);
	ok(r.levels == LEVELS_MAX && r.over == 2, "two more are counted, one without limit is not");
	r.over = 0;
	memset(name, 'n', 200);
	strcpy(name + 200, "/");
	name[200] = 0;
	make_level(name, "max");
	strcpy(name + 200, "/");
	memset(name + 201, 'n', 58);
	name[259] = 0;
	make_level(name, "4096");
	pressure_list_cgroups(&r, &m);
	is_u64(r.over, 3, "so is one whose path is too long");
	r.over = 0;
	for (size_t i = 1; i <= sizeof(deep); i += 2) {
		snprintf(name, sizeof(name), "%.*s", (int)i, deep);
		make_level(name, "max");
	}
	pressure_list_cgroups(&r, &m);
	is_u64(r.over, 4, "and one that is too deep");
	close(r.root);
	free(r.level);

	p.n[HOST_LEFT_OUT] = FIGURE_UNKNOWN;
	model_take(&m, &p.h);
	before = losses_all(&v);
	p.n[HOST_LEFT_OUT] = 4;
	model_take(&m, &p.h);
	is_u64(losses_all(&v) - before, 4, "they are among the losses");
	end();
}

int main(void)
{
	test_rates();
	test_kinds();
	test_no_swap();
	test_gravest();
	test_what_is_no_shortage();
	test_since();
	test_cgroup();
	test_forecast_that_comes_and_goes();
	test_tmpfs();
	test_full_disks();
	test_mount_lines();
	test_texts();
	test_left_out();
	numbers_are(0xedbd028b);
	return tap_done();
}
