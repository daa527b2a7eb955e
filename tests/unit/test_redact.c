// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <sys/stat.h>

#include "collect/redact.h"
#include "fixture.h"
#include "model/pressure.h"
#include "tap.h"

static struct redaction r;

static void test_addresses(void)
{
	struct signal_record s = RECORD(signal_record, RECORD_SIGNAL, 1), was;

	s.address = 0x18;
	s.sp = 0x7ffd00001000;
	s.area_start = 0x7ffd00000000;
	s.area_end = 0x7ffd00002000;
	s.ip_bytes = 0x1234;
	was = s;
	redact_record(&r, &s.h);
	is_u64(s.address, 0x18, "an address near 0 says that it is one");
	ok(s.sp != was.sp && s.area_start != was.area_start, "others are not what they were");
	is_u64(s.sp - s.area_start, was.sp - was.area_start, "but as far apart");
	is_u64(s.area_end - s.sp, was.area_end - was.sp, "on both sides");
	is_u64(s.sp & 0xfff, was.sp & 0xfff, "and at the same place of their page");
	is_u64(s.ip_bytes, 0, "no code");
}

static const char *mount_of(const char *path)
{
	static struct mount_record u;

	u = RECORD(mount_record, RECORD_MOUNT, 1);
	snprintf(u.path, sizeof(u.path), "%s", path);
	snprintf(u.largest, sizeof(u.largest), "job/corp-data");
	redact_record(&r, &u.h);
	ok(u.largest[0] && !strstr(u.largest, "corp") && !strstr(u.largest, "job"),
	   "no name of its largest file");
	return u.path;
}

/*
 * Tests records of cgroups and file systems. These records come from user space, not from BPF
 * programs.
 */
static void test_places(void)
{
	struct names_record n = RECORD(names_record, RECORD_NAMES, 1);
	struct cgroup_record c = RECORD(cgroup_record, RECORD_LEVEL, 1);

	strcpy(n.cgroup, "/user.slice/alice-job.service");
	strcpy(c.path, n.cgroup);
	redact_record(&r, &n.h);
	redact_record(&r, &c.h);
	ok(!strstr(c.path, "alice"), "a cgroup with a limit without names");
	is_str(c.path, n.cgroup, "and the same as of the processes in it");
	strcpy(c.path, "/");
	redact_record(&r, &c.h);
	is_str(c.path, "/", "the root is nobody's");
	ok(!strstr(mount_of("/srv/big-corp"), "corp") && !strstr(mount_of("/home/alice"), "alice"),
	   "no name of a mount");
	is_str(mount_of("/dev/shm"), "/dev/shm", "but of those that all have");
	is_str(mount_of("/proc/12/root/dev/shm"), "/proc/12/root/dev/shm", "or a process");
}

static void test_kernel(void)
{
	struct kernel_fault_record k = kernel_fault_record(10, 0xffffffffc0001234, false);
	struct symbol_record s = RECORD(symbol_record, RECORD_SYMBOL, 1);

	s.ip = k.ip;
	redact_record(&r, &k.h);
	redact_record(&r, &s.h);
	ok(k.ip != 0xffffffffc0001234 && k.ip >> 63, "an address of the kernel is hidden");
	is_u64(s.ip, k.ip, "and its symbol is still found by it");
}

/* A machine that has not booted yet, such as a chroot, may have no id or an empty one. */
static bool has_machine_id(void)
{
	struct stat st;

	return !stat("/etc/machine-id", &st) && st.st_size > 0;
}

static void test_names(void)
{
	struct names_record n = RECORD(names_record, RECORD_NAMES, 1), again;
	struct host_record host = host_record(1);
	char pseudonym[2][sizeof(host.host)];

	strcpy(n.exe, "/home/alice/secret-project/bin/server");
	strcpy(n.cgroup, "/user.slice/user-1000.slice/alice-job.service");
	strcpy(n.command, "server --token secret");
	strcpy(n.user, "alice");
	again = n;
	redact_record(&r, &n.h);
	redact_record(&r, &again.h);
	is_str(n.exe, "server", "a program without where it is");
	ok(!strstr(n.cgroup, "alice") && !strstr(n.cgroup, "1000"), "a cgroup without names");
	ok(!n.command[0] && !n.user[0], "neither command line nor user");
	ok(strstr(n.cgroup, ".service"), "that is still a service");
	is_str(n.cgroup, again.cgroup, "the same name is the same again");
	redact_record(&r, &host.h);
	ok(!strncmp(host.host, "host-", 5) && strlen(host.host) == 21, "no host name");
	is_str(host.boot_id, "", "no boot");
	for (int i = 0; i < 2; i++) {
		struct redaction each;

		host = host_record(1);
		redaction_begin(&each);
		redact_record(&each, &host.h);
		strcpy(pseudonym[i], host.host);
	}
	ok(!strcmp(pseudonym[0], pseudonym[1]) == has_machine_id(),
	   "the name of the host is the same in each recording if the machine has an id");
}

static void test_files(void)
{
	struct holding_record h = RECORD(holding_record, RECORD_HOLDING, 1);
	struct resident_record held = RECORD(resident_record, RECORD_RESIDENT, 1);

	strcpy(h.g.name, "/srv/customers/big-corp.db");
	redact_record(&r, &h.h);
	ok(!strstr(h.g.name, "corp") && !strstr(h.g.name, "customers"), "no name of a file");
	strcpy(h.g.name, "/usr/lib/libc.so.6");
	redact_record(&r, &h.h);
	is_str(h.g.name, "libc.so.6", "but that of a library");
	strcpy(held.file, "big-corp.db");
	redact_record(&r, &held.h);
	ok(!strstr(held.file, "corp"), "no name of a file in memory");
	held.file[0] = 0;
	redact_record(&r, &held.h);
	is_str(held.file, "", "and no name stays none");
}

static void test_sample(void)
{
	struct sample_record s = sample_record(10, 1, 1, 64), was;

	strcpy(s.file, "big-corp.db");
	was = s;
	redact_record(&r, &s.h);
	ok(s.address != was.address && !strstr(s.file, "corp"), "where a fault was is hidden");
	is_u64(s.address - s.area_from, was.address - was.area_from,
	       "but not where in its mapping");
	is_u64(s.area_to - s.area_from, was.area_to - was.area_from, "nor how large that is");
}

/* The first argument of these calls is an address, and of no other call that is tested. */
static bool first_is_address(enum call_id call)
{
	static const enum call_id calls[] = {CALL_MMAP,	   CALL_MUNMAP, CALL_MREMAP,  CALL_MPROTECT,
					     CALL_MADVISE, CALL_BRK,	CALL_MLOCK,   CALL_MUNLOCK,
					     CALL_SHMDT,   CALL_MSYNC,	CALL_MINCORE, CALL_MBIND};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i] == call)
			return true;
	return false;
}

static void test_failed_calls(void)
{
	const uint64_t at = 0x7f0000001000;

	for (int call = 1; call < CALL_MAX; call++) {
		struct refused_record f = refused_record(10, call, ENOMEM);

		for (int i = 0; i < 6; i++)
			f.args[i] = at + i;
		f.range.hole = f.range.start = f.range.end = f.range.above = f.file.mmap_ip = at;
		strcpy(f.file.name, "big-corp.db");
		redact_record(&r, &f.h);
		ok((f.args[0] != at) == first_is_address(call), "call %d: first argument", call);
		ok((f.args[1] != at + 1) == (call == CALL_SHMAT), "its second");
		ok(f.args[2] == at + 2 && f.args[3] == at + 3 && f.args[5] == at + 5,
		   "no other argument is an address");
		ok((f.args[4] != at + 4) == (call == CALL_MREMAP), "but the new address of mremap");
		ok(f.range.hole != at && f.range.start == f.range.hole &&
			   f.range.end == f.range.hole && f.range.above == f.range.hole &&
			   f.file.mmap_ip == f.range.hole,
		   "addresses around it are hidden alike");
		ok(!strstr(f.file.name, "corp"), "and the name of its file");
	}
}

static uint64_t hidden(uint64_t address)
{
	struct symbol_record s = RECORD(symbol_record, RECORD_SYMBOL, 1);

	s.ip = address;
	redact_record(&r, &s.h);
	return s.ip;
}

static void test_halves(void)
{
	const uint64_t low = 1 << 20, end = 1ull << 47, kernel = 1ull << 63;

	is_u64(hidden(0), 0, "NULL");
	is_u64(hidden(low - 1), low - 1, "the last address near NULL");
	ok(hidden(low) > low && hidden(low) < end, "the first of user space");
	ok(hidden(end - 1) != end - 1 && hidden(end - 1) >= low && hidden(end - 1) < end,
	   "the last");
	is_u64(hidden(end), end, "an address of neither half");
	is_u64(hidden(kernel - 1), kernel - 1, "nor this one");
	ok(hidden(kernel) != kernel && hidden(kernel) >= kernel, "the first of the kernel");
	ok(hidden(0xffffffff81000000) >= kernel, "its code");
	is_u64(hidden(UINT64_MAX), UINT64_MAX, "an error code is no address");
	is_u64(hidden(UINT64_MAX - 4095), UINT64_MAX - 4095, "nor is this one");
	is_u64(hidden(UINT64_MAX - low), UINT64_MAX - low, "nor is the first one that is near -1");
	ok(hidden(UINT64_MAX - low - 1) != UINT64_MAX - low - 1, "the last of the kernel");
}

static const char *cgroup_of_path(const char *path)
{
	static struct cgroup_record c;

	c = RECORD(cgroup_record, RECORD_LEVEL, 1);
	snprintf(c.path, sizeof(c.path), "%s", path);
	redact_record(&r, &c.h);
	return c.path;
}

static void test_cgroups(void)
{
	char one[64], both[256], long_path[sizeof(((struct cgroup_record *)0)->path)];

	snprintf(one, sizeof(one), "%s", cgroup_of_path("/a.b.slice"));
	ok(strlen(one) == strlen("/name-01234567.slice") && !strncmp(one, "/name-", 6) &&
		   !strcmp(one + 14, ".slice"),
	   "the type is what follows the last dot: %s", one);
	snprintf(both, sizeof(both), "%s/x", one);
	is_u64(strlen(cgroup_of_path("/a.b.slice/x")), strlen(one) + 14, "two parts");
	ok(!strncmp(cgroup_of_path("/a.b.slice/x"), one, strlen(one)), "each by itself");
	is_str(cgroup_of_path("//a.b.slice//"), one, "empty parts are left out");
	ok(strlen(cgroup_of_path("/a.123456789")) == 14 + 10, "the longest type that is kept");
	is_u64(strlen(cgroup_of_path("/a.1234567890")), 14, "a longer one may be a name");
	is_str(cgroup_of_path(""), "", "no cgroup");
	is_str(cgroup_of_path("/"), "/", "the root");
	memset(long_path, '/', sizeof(long_path));
	for (size_t i = 1; i < sizeof(long_path); i += 2)
		long_path[i] = 'a';
	long_path[sizeof(long_path) - 1] = 0;
	is_u64(strlen(cgroup_of_path(long_path)), sizeof(long_path) - 1, "a long one is cut");
	is_str(mount_of("/tmp"), "/tmp", "a mount that most machines have");
	is_str(mount_of("/run"), "/run", "another one");
	is_str(mount_of("/"), "/", "the root");
	ok(!strstr(mount_of("/srv/root/dev/shm"), "srv"), "but no other place of this name");
	ok(strcmp(mount_of("/tmp2"), "/tmp2"), "nor one that begins alike");
}

/* Different names must stay different. */
static void test_different_names(void)
{
	struct holding_record h = RECORD(holding_record, RECORD_HOLDING, 1);
	static char seen[500][16];
	size_t equal = 0;

	for (size_t i = 0; i < 500; i++) {
		snprintf(h.g.name, sizeof(h.g.name), "/srv/customer-%zu.db", i);
		redact_record(&r, &h.h);
		snprintf(seen[i], sizeof(seen[i]), "%.15s", h.g.name);
		for (size_t k = 0; k < i; k++)
			equal += !strcmp(seen[i], seen[k]);
	}
	ok(equal <= 1, "hashes of 500 names, of which %zu are equal by chance", equal);
}

static void test_other_records(void)
{
	struct slow_faults_record slow = RECORD(slow_faults_record, RECORD_SLOW_FAULTS, 1);
	struct growth_record g = RECORD(growth_record, RECORD_GROWTH, 1);
	struct origin_record o = RECORD(origin_record, RECORD_ORIGIN, 1);
	struct host_record host = host_record(1);

	strcpy(slow.file, "big-corp.db");
	strcpy(g.g.name, "/srv/big-corp#.db");
	strcpy(o.set_by, "alice");
	strcpy(o.at_once, "alice");
	strcpy(o.for_good, "alice");
	strcpy(host.target, "-p alice");
	redact_record(&r, &slow.h);
	redact_record(&r, &g.h);
	redact_record(&r, &o.h);
	redact_record(&r, &host.h);
	ok(!strstr(slow.file, "corp") && slow.file[0], "the file of slow faults");
	ok(!strstr(g.g.name, "corp") && g.g.name[0], "what grew");
	ok(!o.set_by[0] && !o.at_once[0] && !o.for_good[0],
	   "who set a limit, and how to change it");
	is_str(host.target, "", "what is watched");
}

int main(void)
{
	redaction_begin(&r);
	test_addresses();
	test_places();
	test_kernel();
	test_names();
	test_files();
	test_sample();
	test_failed_calls();
	test_halves();
	test_cgroups();
	test_different_names();
	test_other_records();
	return tap_done();
}
