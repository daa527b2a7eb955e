// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
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
	redact_record(&r, &u.h);
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

static void test_names(void)
{
	struct names_record n = RECORD(names_record, RECORD_NAMES, 1), again;
	struct host_record host = host_record(1);

	strcpy(n.exe, "/home/alice/secret-project/bin/server");
	strcpy(n.cgroup, "/user.slice/user-1000.slice/alice-job.service");
	again = n;
	redact_record(&r, &n.h);
	redact_record(&r, &again.h);
	is_str(n.exe, "server", "a program without where it is");
	ok(!strstr(n.cgroup, "alice") && !strstr(n.cgroup, "1000"), "a cgroup without names");
	ok(strstr(n.cgroup, ".service"), "that is still a service");
	is_str(n.cgroup, again.cgroup, "the same name is the same again");
	redact_record(&r, &host.h);
	is_str(host.host, "host", "no host");
	is_str(host.boot_id, "", "no boot");
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

int main(void)
{
	redaction_begin(&r);
	test_addresses();
	test_places();
	test_kernel();
	test_names();
	test_files();
	test_sample();
	rmdir(fixture_dir);
	return tap_done();
}
