// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "fakeroot.h"

#include <errno.h>

#include "collect/limits/origin_pam.h"
#include "collect/limits/origin_unit.h"
#include "tap.h"

#define FILES_TITLE "Max open files"

static struct span span_of(const char *s)
{
	return (struct span){s, strlen(s)};
}

static void test_numbers(void)
{
	static const struct {
		const char *text;
		int err;
		uint64_t value;
	} rows[] = {
		{"0", 0, 0},
		{"65536", 0, 65536},
		{"8M", 0, 8 << 20},
		{"2GiB", 0, 2ULL << 30},
		{"64k", 0, 65536},
		{"0x10", 0, 16},
		{"infinity", 0, LIMIT_NONE},
		{"unlimited", 0, LIMIT_NONE},
		{"max", 0, LIMIT_NONE},
		{"-1", 0, LIMIT_NONE},
		{"18446744073709551615", 0, LIMIT_NONE},
		{"16384P", 0, LIMIT_NONE},
		{"18446744073709551616", -EINVAL, 0},
		{"", -EINVAL, 0},
		{"-2", -EINVAL, 0},
		{"+1", -EINVAL, 0},
		{"15%", -EINVAL, 0},
		{"8MM", -EINVAL, 0},
		{"1 2", -EINVAL, 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t value = 77;
		int err = text_number(span_of(rows[i].text), &value);

		ok(err == rows[i].err && value == (err ? 77 : rows[i].value), "number %s",
		   rows[i].text);
	}
}

static const char *unit_says(const char *text)
{
	static struct unit_limit s;

	s = (struct unit_limit){.key = "LimitNOFILE"};
	unit_scan(&s, "f", span_of(text));
	return s.line.line ? s.line.value : "none";
}

static void test_unit_scan(void)
{
	is_str(unit_says("[Service]\nLimitNOFILE=1\n"), "1", "an assignment");
	is_str(unit_says("[Service]\nLimitNOFILE=1\nLimitNOFILE = 2:3\n"), "2:3", "the last holds");
	is_str(unit_says("[Service]\nLimitNOFILE=1\nLimitNOFILE=\n"), "none",
	       "an empty one resets");
	is_str(unit_says("[Unit]\nLimitNOFILE=1\n[Install]\nLimitNOFILE=1\n[X-a]\nLimitNOFILE=1\n"),
	       "none", "in sections that have no limits");
	is_str(unit_says("[Service]\n#LimitNOFILE=1\n; LimitNOFILE=1\n"), "none", "comments");
	is_str(unit_says("[Service]\nExecStart=x \\\n# y\nLimitNOFILE=1 \\\n z\nLimitNOFILE=2\n"),
	       "2", "what goes on from the line before");
	is_str(unit_says("LimitNOFILEX=1\nLimitNOFILE"), "none", "other keys");
}

static const char *pam_says(const struct user *u, const char *text)
{
	static char said[160];
	struct pam_limit s = {.user = u, .item = "nofile"};

	pam_scan(&s, "f", span_of(text));
	snprintf(said, sizeof(said), "%s:%s", s.soft.line ? s.soft.value : "-",
		 s.hard.line ? s.hard.value : "-");
	return said;
}

static void test_pam_scan(void)
{
	struct user ann = {.uid = 1000, .gid = UINT32_MAX}, root = {.uid = 0};

	user_scan(&ann,
		  span_of("root:x:0:0::/root:/bin/sh\nann:x:1000:1001:A,B:/home/ann:/bin/sh\n"));
	user_scan_groups(&ann, span_of("ann:x:1001:\ndev:x:50:bob,ann\nops:x:51:annie,bob\n"));
	user_scan(&root, span_of("root:x:0:0::/root:/bin/sh\n"));
	is_str(ann.name, "ann", "a user's name");
	is_u64(ann.groups, 2, "and groups");
	is_str(pam_says(&ann, "* soft nofile 1\n"), "1:-", "the wildcard");
	is_str(pam_says(&ann, "ann - nofile 2\n* - nofile 1\n"), "2:2", "the user beats it");
	is_str(pam_says(&ann, "ann soft nofile 2\n@dev - nofile 3\n* hard nofile 4\n"), "2:3",
	       "a group beats it too");
	is_str(pam_says(&ann, "@ops - nofile 3\n@annie - nofile 3\nannie - nofile 3\n"), "-:-",
	       "others");
	is_str(pam_says(&ann, "* - nofile 1\n* - nofile 2\n"), "2:2", "the last of equal ones");
	is_str(pam_says(&ann, "999:1001 - nofile 5\n@1001: hard nofile 6\n"), "5:5", "ranges");
	is_str(pam_says(&ann, "1001: - nofile 5\n:999 - nofile 5\n: - nofile 5\n"), "-:-",
	       "ranges of others");
	is_str(pam_says(&ann, "#ann - nofile 2\nann - nproc 2\nann - nofile\nann\n"), "-:-",
	       "comments, other items, lines cut off");
	is_str(pam_says(&root, "* - nofile 1\n@root - nofile 1\n"), "-:-", "root is no wildcard");
	is_str(pam_says(&root, "root - nofile unlimited\n"), "unlimited:unlimited",
	       "but has a name");
}

/* Makes a machine on which systemd starts sshd, sshd a shell, and the shell a job. */
static struct fakeroot make_machine(void)
{
	struct fakeroot r = fakeroot_make();

	fake_file(&r, "proc/sys/fs/nr_open", "1048576\n");
	fake_process(&r, 1, 0, "systemd", 0, "0::/init.scope\n");
	fake_limit(&r, 1, FILES_TITLE, "1073741816", "1073741816");
	fake_process(&r, 812, 1, "sshd", 0, "0::/system.slice/ssh.service\n");
	fake_process(&r, 900, 812, "bash", 1000,
		     "0::/user.slice/user-1000.slice/session-3.scope\n");
	fake_process(&r, 901, 900, "python3", 1000,
		     "0::/user.slice/user-1000.slice/session-3.scope\n");
	for (unsigned int pid = 812; pid < 902; pid += pid == 812 ? 88 : 1)
		fake_limit(&r, pid, FILES_TITLE, "1024", "524288");
	fake_file(&r, "etc/passwd", "ann:x:1000:1000::/home/ann:/bin/sh\n");
	return r;
}

static void test_inherited(void)
{
	struct fakeroot r = make_machine();
	struct origin o = fake_find(&r, 901, LIMIT_NOFILE);

	ok(o.known && o.value == 1024 && o.hard == 524288, "what is in force");
	is_str(fake_said(&o),
	       "sshd (pid 812), 2 parents up, which has it from ssh.service: "
	       "systemd's default for units",
	       "up to the oldest who has the same");
	fake_file(&r, "usr/lib/systemd/system/ssh.service", "[Service]\nLimitNOFILE=1024:524288\n");
	o = fake_find(&r, 901, LIMIT_NOFILE);
	is_str(fake_said(&o),
	       "sshd (pid 812), 2 parents up, which has it from ssh.service: "
	       "/usr/lib/systemd/system/ssh.service:2: LimitNOFILE=1024:524288",
	       "and its unit's line");
	fake_remove(&r, "usr/lib/systemd/system/ssh.service");
	fake_file(&r, "etc/systemd/system.conf.d/x.conf",
		  "[Manager]\nDefaultLimitNOFILE=1024:524288\n");
	o = fake_find(&r, 901, LIMIT_NOFILE);
	is_str(o.line.file, "/etc/systemd/system.conf.d/x.conf", "or its manager's");
	fakeroot_free(&r);
}

static void test_changed(void)
{
	struct fakeroot r = make_machine();
	struct origin o;

	fake_limit(&r, 900, FILES_TITLE, "256", "256");
	fake_limit(&r, 901, FILES_TITLE, "256", "256");
	o = fake_find(&r, 901, LIMIT_NOFILE);
	is_str(fake_said(&o),
	       "bash (pid 900), 1 parent up, or the process that started it: its parent sshd (pid "
	       "812) has "
	       "1,024, hard 524,288",
	       "a shell's ulimit");
	fake_file(&r, "etc/security/limits.d/20-nofile.conf", "# x\nann - nofile 256\n");
	o = fake_find(&r, 901, LIMIT_NOFILE);
	is_str(fake_said(&o),
	       "bash (pid 900), 1 parent up, which has it from "
	       "/etc/security/limits.d/20-nofile.conf:2: ann - nofile 256",
	       "a login's");
	fake_limit(&r, 901, FILES_TITLE, "524288", "524288");
	fake_limit(&r, 900, FILES_TITLE, "1024", "524288");
	o = fake_find(&r, 901, LIMIT_NOFILE);
	is_str(fake_said(&o), "itself: it raised the soft limit to the hard one", "as Go does");
	fakeroot_free(&r);
}

/*
 * Tests drop-ins that have the same name in several directories. The expected order is that of
 * `systemd-analyze verify`.
 */
static void test_unit_order(void)
{
	static const char *const names[] = {
		"app-web-x@7.service", "app-web-x@.service", "app-web-.service",
		"app-.service",	       "app-web-@7.service", "app-web-@.service",
		"app-@7.service",      "app-@.service",	     "service",
	};
	struct fakeroot r = fakeroot_make();
	struct files f = {.root = r.fd};
	struct workload w = {};
	struct origin_line line;
	char path[128];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "etc/systemd/system/%s.d/a.conf", names[i]);
		fake_file(&r, path, "[Service]\nLimitNOFILE=%zu\n", i);
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		bool found = unit_find(&f, &w, "app-web-x@7.service", "LimitNOFILE", &line);

		ok(found && (size_t)atoi(line.value) == i, "drop-ins of %s", names[i]);
		snprintf(path, sizeof(path), "etc/systemd/system/%s.d/a.conf", names[i]);
		fake_remove(&r, path);
	}
	ok(!unit_find(&f, &w, "app-web-x@7.service", "LimitNOFILE", &line), "none is left");
	ok(!unit_find(&f, &w, "no-type", "LimitNOFILE", &line), "no unit");
	fakeroot_free(&r);
}

/* Units of up to 247 bytes and up to 12 names are searched for. */
static void test_bounds_of_units(void)
{
	static const struct {
		const char *dir;
		bool found;
	} rows[] = {{"a-b-c-d-e-f-g-h-i-j-k-l-m.service.d", true},
		    {"a-b-c-d-e-f-g-h-i-j-k-l-.service.d", true},
		    {"a-b-c-.service.d", true},
		    {"a-b-.service.d", true},
		    {"a-.service.d", false},
		    {"service.d", true}};
	struct workload w = {};
	struct origin_line line;
	char unit[256], path[300];

	for (int len = 246; len <= 248; len++) {
		struct fakeroot r = fakeroot_make();
		struct files f = {.root = r.fd};

		snprintf(unit, sizeof(unit), "%0*d.service", len - 8, 0);
		snprintf(path, sizeof(path), "etc/systemd/system/%s", unit);
		fake_file(&r, path, "[Service]\nLimitNOFILE=7\n");
		ok(unit_find(&f, &w, unit, "LimitNOFILE", &line) == (len < 248),
		   "a unit whose name has %d bytes", len);
		fakeroot_free(&r);
	}
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fakeroot r = fakeroot_make();
		struct files f = {.root = r.fd};

		snprintf(path, sizeof(path), "etc/systemd/system/%s/a.conf", rows[i].dir);
		fake_file(&r, path, "[Service]\nLimitNOFILE=7\n");
		ok(unit_find(&f, &w, "a-b-c-d-e-f-g-h-i-j-k-l-m.service", "LimitNOFILE", &line) ==
			   rows[i].found,
		   "a file in %s", rows[i].dir);
		fakeroot_free(&r);
	}
}

static void test_units(void)
{
	struct fakeroot r = make_machine();
	struct origin o;

	fake_process(&r, 50, 1, "worker", 5, "0::/system.slice/app-web-x@7.service\n");
	fake_limit(&r, 50, FILES_TITLE, "5000", "5000");
	o = fake_find(&r, 50, LIMIT_NOFILE);
	ok(o.from == ORIGIN_PROCESS, "no file says it");
	fake_file(&r, "etc/systemd/system/service.d/10-all.conf", "[Service]\nLimitNOFILE=5000\n");
	o = fake_find(&r, 50, LIMIT_NOFILE);
	is_str(o.line.file, "/etc/systemd/system/service.d/10-all.conf", "all services");
	fake_file(&r, "usr/lib/systemd/system/app-.service.d/10-all.conf",
		  "[Service]\nLimitNOFILE=6000\n");
	o = fake_find(&r, 50, LIMIT_NOFILE);
	ok(o.from == ORIGIN_PROCESS && strstr(fake_said(&o), "not /usr/lib/systemd/system/app-."),
	   "services of a prefix mask it: %s", fake_said(&o));
	fake_file(&r, "run/systemd/system/app-web-x@.service.d/20-t.conf",
		  "[Service]\nLimitNOFILE=5000\n");
	o = fake_find(&r, 50, LIMIT_NOFILE);
	is_str(o.line.file, "/run/systemd/system/app-web-x@.service.d/20-t.conf", "its template's");
	fake_file(&r, "etc/systemd/system/app-web-x@7.service.d/90-own.conf",
		  "[Service]\nLimitNOFILE=5000:infinity\n");
	fake_limit(&r, 50, FILES_TITLE, "5000", "1048576");
	o = fake_find(&r, 50, LIMIT_NOFILE);
	is_str(o.line.file, "/etc/systemd/system/app-web-x@7.service.d/90-own.conf",
	       "its own; infinity is fs.nr_open");
	fake_process(&r, 60, 1, "dbus", 1000,
		     "0::/user.slice/user-1000.slice/user@1000.service/app.slice/dbus.service\n");
	fake_limit(&r, 60, FILES_TITLE, "7000", "7000");
	fake_file(&r, "home/ann/.config/systemd/user/dbus.service",
		  "[Service]\nLimitNOFILE=7000\n");
	o = fake_find(&r, 60, LIMIT_NOFILE);
	is_str(o.line.file, "/home/ann/.config/systemd/user/dbus.service", "a user's own unit");
	fakeroot_free(&r);
}

static void test_containers(void)
{
	static const char id[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
	struct fakeroot r = make_machine();
	char cgroup[256];
	struct origin o;

	fake_process(&r, 70, 1, "containerd-shim", 0, "0::/system.slice/containerd.service\n");
	snprintf(cgroup, sizeof(cgroup), "0::/system.slice/docker-%s.scope\n", id);
	fake_process(&r, 71, 70, "nginx", 0, cgroup);
	fake_limit(&r, 70, FILES_TITLE, "1048576", "1048576");
	fake_limit(&r, 71, FILES_TITLE, "1048576", "1048576");
	fake_file(&r, "usr/lib/systemd/system/containerd.service",
		  "[Service]\nLimitNOFILE=infinity\n");
	o = fake_find(&r, 71, LIMIT_NOFILE);
	is_str(fake_said(&o),
	       "containerd-shim (pid 70), 1 parent up, which has it from "
	       "containerd.service: /usr/lib/systemd/system/containerd.service:2: "
	       "LimitNOFILE=infinity",
	       "a container has what its runtime has");
	ok(o.workload.runtime == RUNTIME_DOCKER && !strcmp(o.workload.container, id), "its id");
	fake_limit(&r, 71, FILES_TITLE, "1024", "2048");
	o = fake_find(&r, 71, LIMIT_NOFILE);
	is_str(fake_said(&o), "docker for 0123456789ab", "unless it is told otherwise");
	snprintf(cgroup, sizeof(cgroup),
		 "0::/system.slice/docker-%s.scope/system.slice/a.service\n", id);
	fake_process(&r, 72, 71, "a", 0, cgroup);
	fake_limit(&r, 72, FILES_TITLE, "300", "300");
	fake_file(&r, "etc/systemd/system/a.service", "[Service]\nLimitNOFILE=300\n");
	fake_file(&r, "inner/etc/systemd/system/a.service", "[Service]\n\nLimitNOFILE=300\n");
	fake_link(&r, "proc/72/root", "../../inner");
	o = fake_find(&r, 72, LIMIT_NOFILE);
	ok(o.from == ORIGIN_FILE && o.line.line == 3, "a systemd in it has files of its own");
	fakeroot_free(&r);
}

static void test_gone(void)
{
	struct fakeroot r = make_machine();
	struct origin_of of = {.pid = 77777, .ppid = 901, .cgroup = "/system.slice/x.service"};
	struct origin o = fake_find(&r, 77777, LIMIT_NOFILE);

	ok(!o.known && !o.holder.pid, "nothing is known of who is gone: %s", fake_said(&o));
	is_u64(origin_find(r.fd, &of, LIMIT_NOFILE, &o), 0, "with a parent");
	ok(!o.known && o.holder.pid == 812, "the parent's is told: %s", fake_said(&o));
	is_str(o.workload.unit, "x.service", "and what was known of it");
	is_u64(origin_find(-1, &of, LIMIT_NOFILE, &o), -EBADF, "no root");
	fakeroot_free(&r);
}

static void test_hostile(void)
{
	struct fakeroot r = make_machine();
	struct origin o;

	/*
	 * A hostile /proc, in which each of two processes is the other's parent, and a limit is not
	 * a number.
	 */
	fake_process(&r, 80, 81, "a", 0, "0::/../../etc/x.service\n");
	fake_process(&r, 81, 80, "b\x1b[2J", 0, "no colons");
	fake_limit(&r, 80, FILES_TITLE, "10", "10");
	fake_limit(&r, 81, FILES_TITLE, "10", "10");
	o = fake_find(&r, 80, LIMIT_NOFILE);
	ok(o.known && o.generations == 64, "a ring of parents ends");
	fake_limit(&r, 80, FILES_TITLE, "ten", "10");
	o = fake_find(&r, 80, LIMIT_NOFILE);
	ok(!o.known, "what is no number is not known");
	fake_file(&r, "proc/80/status", "%s", "");
	o = fake_find(&r, 80, LIMIT_NOFILE);
	ok(!o.known, "an empty file");
	fakeroot_free(&r);
}

static void test_first(void)
{
	struct fakeroot r = fakeroot_make();
	struct origin o;

	fake_process(&r, 1, 0, "init", 0, "0::/\n");
	fake_limit(&r, 1, FILES_TITLE, "1024", "4096");
	o = fake_find(&r, 1, LIMIT_NOFILE);
	is_str(fake_said(&o), "the kernel: its default", "init's");
	fake_limit(&r, 1, "Max locked memory", "65536", "65536");
	o = fake_find(&r, 1, LIMIT_MEMLOCK);
	is_str(fake_said(&o), "the kernel: its default", "that of kernels before 5.16");
	fake_link(&r, "proc/self/ns/pid", "pid:[4026532000]");
	fake_limit(&r, 1, FILES_TITLE, "99", "99");
	o = fake_find(&r, 1, LIMIT_NOFILE);
	is_str(fake_said(&o), "the process that started this container", "of a container's init");
	fakeroot_free(&r);
}

int main(void)
{
	test_numbers();
	test_unit_scan();
	test_pam_scan();
	test_inherited();
	test_changed();
	test_unit_order();
	test_bounds_of_units();
	test_units();
	test_containers();
	test_gone();
	test_hostile();
	test_first();
	return tap_done();
}
