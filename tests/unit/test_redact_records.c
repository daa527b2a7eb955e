// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests redaction with known secrets, and of the records of OOM kills, incidents and frames.
 * getrandom() is replaced.
 */
#include <sys/random.h>

#include "collect/redact.h"
#include "fixture.h"
#include "model/pressure.h"
#include "records/incident_record.h"
#include "records/oom_records.h"
#include "tap.h"

#define MIB   (1ULL << 20)
#define SHIFT (6 * MIB) /* of user addresses */
#define LIFT  (4 * MIB) /* of kernel addresses */

static struct redaction r;
static bool random_fails; /* whether getrandom() fails */

ssize_t getrandom(void *ret, size_t size, unsigned int flags)
{
	(void)flags;
	memset(ret, 0xff, size);
	return random_fails ? -1 : (ssize_t)size;
}

static void test_secrets(void)
{
	memset(&r, 0xee, sizeof(r));
	redaction_begin(&r);
	is_u64(r.user_shift, (1ULL << 40) - 2 * MIB, "a shift is less than 1 TiB, by huge pages");
	is_u64(r.kernel_shift, (1ULL << 40) - 2 * MIB, "so is that of the kernel");
	is_u64(r.salt, UINT64_MAX, "each bit of the salt is secret");
	ok(!r.all_names, "names of common files are kept");
	ok(r.machine[0], "there is a secret of the machine, or one made up");
	random_fails = true;
	redaction_begin(&r);
	ok(r.salt && r.salt != UINT64_MAX, "without random numbers there is a salt, too");
	ok(!(r.user_shift % (2 * MIB)) && !(r.kernel_shift % (2 * MIB)),
	   "and shifts by huge pages");
}

static uint64_t hidden(uint64_t address)
{
	struct kernel_fault_record k = kernel_fault_record(10, address, false);

	k.address = address;
	redact_record(&r, &k.h);
	ok(k.address == k.ip, "equal addresses stay equal");
	return k.ip;
}

/* Addresses of user space move towards the gap at 96 TiB. */
static void test_shifts(void)
{
	const uint64_t gap = 96ULL << 40, end = 1ULL << 47, kernel = 1ULL << 63;

	r = (struct redaction){.user_shift = SHIFT, .kernel_shift = LIFT};
	is_u64(hidden(MIB), MIB + SHIFT, "the first address of user space");
	is_u64(hidden(0x555555554000), 0x555555554000 + SHIFT, "a program");
	is_u64(hidden(gap - 1), gap - 1 + SHIFT, "the last address below the gap");
	is_u64(hidden(gap), gap - SHIFT, "the first one above it");
	is_u64(hidden(0x7f0000001234), 0x7f0000001234 - SHIFT, "a mapping");
	is_u64(hidden(end - 1), end - 1 - SHIFT, "the last address");
	is_u64(hidden(end), end, "an address behind it");
	is_u64(hidden(0xaaaaaaaa0000), 0xaaaaaaaa0000 - SHIFT, "a program on arm64");
	is_u64(hidden(2 * end), 2 * end - SHIFT, "the end of a mapping on arm64");
	is_u64(hidden(2 * end + 1), 2 * end + 1, "an address that no kernel uses");
	is_u64(hidden(kernel), kernel + LIFT, "the first address of the kernel");
	is_u64(hidden(0xffffffff81000000), 0xffffffff81000000 + LIFT, "code of the kernel");
}

/* A mapping keeps its size with each shift, however large it is. */
static void test_mappings(void)
{
	static const struct {
		uint64_t from, to;
	} areas[] = {{0x400000, 0x500000},
		     {0xc000000000, 0xc400000000},	/* Go */
		     {0x10007fff8000, 0x20007fff8000},	/* AddressSanitizer */
		     {0x555555554000, 0x55d555554000},	/* a program, and its heap */
		     {0x700000000000, 0x7fff00000000},	/* 16 TiB without access */
		     {0x7ffc00000000, 0x7ffffffff000},	/* a stack */
		     {0xffff00000000, 0xfffffffff000}}; /* on arm64 */
	struct sample_record s = RECORD(sample_record, RECORD_SAMPLE, 1);

	for (uint64_t shift = 2 * MIB; shift < 1ULL << 40; shift = shift * 3 / MIB * MIB) {
		const struct redaction other = {.user_shift = shift};

		for (size_t i = 0; i < sizeof(areas) / sizeof(areas[0]); i++) {
			s.area_from = areas[i].from;
			s.area_to = areas[i].to;
			s.address = areas[i].from + (areas[i].to - areas[i].from) / 3;
			redact_record(&other, &s.h);
			ok(s.area_from != areas[i].from, "area %zu is hidden", i);
			is_u64(s.area_to - s.area_from, areas[i].to - areas[i].from, "its size");
			is_u64(s.address - s.area_from, (areas[i].to - areas[i].from) / 3,
			       "the place of an address in it");
		}
	}
}

static void test_signal(void)
{
	struct signal_record s = RECORD(signal_record, RECORD_SIGNAL, 1);

	s.address = s.sp = s.area_start = s.area_end = s.above_end = 0x7f0000000000;
	strcpy(s.file.name, "/srv/big-corp.db");
	redact_record(&r, &s.h);
	is_u64(s.address, 0x7f0000000000 - SHIFT, "the address of a signal");
	ok(s.sp == s.address && s.area_start == s.address && s.area_end == s.address &&
		   s.above_end == s.address,
	   "the addresses around it");
	ok(!strncmp(s.file.name, "name-", 5) && strlen(s.file.name) == 13, "the name of its file");
}

static void test_common_names(void)
{
	static const struct {
		const char *path, *want; /* NULL: a hash */
	} rows[] = {
		{"", ""},
		{"/usr/lib/libm.so", "libm.so"},
		{"/usr/lib/libm.so.6", "libm.so.6"},
		{"torch_1_2", "torch_1_2"},
		{"[heap]", "[heap]"},
		{"rw shared", "rw shared"},
		{"r-x", "r-x"},
		{"---", "---"},
		{"socket", "socket"},
		{"pipe", "pipe"},
		{"anon_inode", "anon_inode"},
		{"memfd:x", "memfd:x"},
		{"eventfd", "eventfd"},
		{"heap", "heap"},
		{"stack", "stack"},
		{"/home/alice/", ""},
		{"/home/my-socket", NULL},
		{"/home/torc", NULL},
		{"so", NULL},
		{"r", NULL},
		{"/home/a.s", NULL},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct growth_record g = RECORD(growth_record, RECORD_GROWTH, 1);

		snprintf(g.g.name, sizeof(g.g.name), "%s", rows[i].path);
		redact_record(&r, &g.h);
		if (rows[i].want)
			is_str(g.g.name, rows[i].want, rows[i].path);
		else
			ok(!strncmp(g.g.name, "name-", 5), "%s is hidden", rows[i].path);
	}
}

static void test_programs(void)
{
	static const struct {
		const char *exe, *want;
	} rows[] = {
		{"/usr/bin/server", "server"},
		{"server", "server"},
		{"/server", "server"},
		{"/a/b/c", "c"},
		{"", ""},
		{"/x/", "/x/"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct names_record n = RECORD(names_record, RECORD_NAMES, 1);

		strcpy(n.exe, rows[i].exe);
		redact_record(&r, &n.h);
		is_str(n.exe, rows[i].want, rows[i].exe);
	}
}

static void test_host(void)
{
	struct host_record a = host_record(1), b = a, c = a;

	strcpy(r.machine, "the id of a machine");
	a.zone_s = 3600;
	a.zone_known = 1;
	strcpy(b.host, "hosu");
	redact_record(&r, &a.h);
	redact_record(&r, &b.h);
	ok(!a.zone_s && !a.zone_known, "no time zone");
	ok(strcmp(a.host, b.host), "another name is another one");
	is_str(a.kernel, "6.1.0", "the kernel's version is kept");
	strcpy(r.machine, "the id of another machine");
	redact_record(&r, &c.h);
	ok(strcmp(a.host, c.host), "the same name on another machine is another one");
}

static void test_incident(void)
{
	struct incident_record i = RECORD(incident_record, RECORD_INCIDENT, 1), none = i;

	strcpy(i.title, "/srv/big-corp.db fills up");
	strcpy(i.workload, "alice-job.service");
	strcpy(i.finding, "M01");
	redact_record(&r, &i.h);
	redact_record(&r, &none.h);
	is_str(i.title, "", "no title");
	ok(!strncmp(i.workload, "name-", 5) && strlen(i.workload) == 13, "no workload's name");
	is_str(i.finding, "M01", "the finding is kept");
	is_str(none.workload, "", "the whole host has no name");
}

static void test_oom(void)
{
	struct oom_scene_record s = RECORD(oom_scene_record, RECORD_OOM_SCENE, 1);
	struct oom_holder_record h = RECORD(oom_holder_record, RECORD_OOM_HOLDER, 1);
	struct names_record n = RECORD(names_record, RECORD_NAMES, 1);

	strcpy(s.cgroup, "/alice.slice");
	strcpy(s.victim_cgroup, "/alice.slice/job.service");
	strcpy(s.namespace, "corp");
	strcpy(s.pod, "corp-0");
	strcpy(s.container, "app");
	strcpy(h.cgroup, s.victim_cgroup);
	strcpy(n.cgroup, s.victim_cgroup);
	redact_record(&r, &s.h);
	redact_record(&r, &h.h);
	redact_record(&r, &n.h);
	ok(!strstr(s.cgroup, "alice") && strstr(s.cgroup, ".slice"), "the cgroup that was full");
	ok(!strstr(s.victim_cgroup, "alice") && !strstr(s.victim_cgroup, "job"), "the victim's");
	ok(!strncmp(s.victim_cgroup, s.cgroup, strlen(s.cgroup)), "is still below it");
	is_str(h.cgroup, s.victim_cgroup, "a process that held memory is in the same one");
	is_str(n.cgroup, s.victim_cgroup, "as its names say");
	ok(!s.namespace[0] && !s.pod[0] && !s.container[0], "no pod or container");
}

/* Only names of files lose their directories: functions and modules may have slashes. */
static void test_frames(void)
{
	static const struct {
		const char *texts, *want;
	} rows[] = {
		{"main\n/home/alice/a.py\nlib/x\n", "main\na.py\nlib/x\n"},
		{"a/b.f\nsrc/x/y.go\n", "a/b.f\ny.go\n"},
		{"f\na.c\n", "f\na.c\n"},
		{"f\n/a.c", "f\na.c"},
		{"f\n/x/\ng\n", "f\n\ng\n"},
		{"", ""},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct frame_list_record l = RECORD(frame_list_record, RECORD_FRAME_LIST, 1);
		size_t after = 0, len = strlen(rows[i].want);

		l.n = 2;
		l.frame[0].function = l.frame[1].function = 1;
		l.frame[1].file = 2;
		l.frame[2].file = 1; /* behind the last frame */
		strcpy(l.texts, rows[i].texts);
		redact_record(&r, &l.h);
		is_str(l.texts, rows[i].want, "texts of frames");
		for (size_t k = len; k < sizeof(l.texts); k++)
			after += l.texts[k] != 0;
		is_u64(after, 0, "nothing is left behind them");
	}
}

static void test_mounts(void)
{
	static const struct {
		const char *path;
		bool kept;
	} rows[] = {
		{"/", true},
		{"/dev/shm", true},
		{"/tmp", true},
		{"/run", true},
		{"/proc/12/root/dev/shm", true},
		{"/process/12/root/dev/shm", false},
		{"/proc/12/root/srv", false},
		{"/run/user", false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct mount_record u = RECORD(mount_record, RECORD_MOUNT, 1);

		strcpy(u.path, rows[i].path);
		redact_record(&r, &u.h);
		ok(!strcmp(u.path, rows[i].path) == rows[i].kept, "%s", rows[i].path);
		is_str(u.largest, "", "no largest file stays none");
	}
}

int main(void)
{
	test_secrets();
	test_shifts();
	test_mappings();
	test_signal();
	test_common_names();
	test_programs();
	test_host();
	test_incident();
	test_oom();
	test_frames();
	test_mounts();
	return tap_done();
}
