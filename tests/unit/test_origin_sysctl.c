// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "fakeroot.h"

#include "collect/limits/origin_sysctl.h"
#include "tap.h"

static struct span span_of(const char *s)
{
	return (struct span){s, strlen(s)};
}

/* Returns the value that a sysctl.d file with this text sets for a key; "none" if it sets none. */
static const char *said(const char *key, const char *text)
{
	static struct sysctl_setting s;

	s = (struct sysctl_setting){.key = key};
	sysctl_scan(&s, "f", span_of(text));
	return sysctl_line(&s) ? sysctl_line(&s)->value : "none";
}

static void test_scan(void)
{
	const char *key = "vm/max_map_count";

	is_str(said(key, ""), "none", "nothing in an empty file");
	is_str(said(key, "vm.max_map_count=1"), "1", "dots, and no newline at the end");
	is_str(said(key, "  vm/max_map_count =\t2 \r\n"), "2", "slashes and blanks");
	is_str(said(key, "/proc/sys/vm/max_map_count=3\n"), "3", "a path");
	is_str(said(key, "-vm.max_map_count = 4\n"), "4", "a dash: failure is ignored");
	is_str(said(key, "# vm.max_map_count=1\n;vm.max_map_count=1\n"), "none", "comments");
	is_str(said(key, "vm.max_map_count=1\nvm.max_map_count=5\n"), "5", "the last one");
	is_str(said(key, "vm.max_map_counts=1\nvm.max_map=1\nmax_map_count=1\n"), "none", "others");
	is_str(said(key, "vm.max_map_count\n"), "none", "no assignment");
	is_str(said(key, "vm.max_*=6\n"), "6", "a glob");
	is_str(said(key, "vm.max_map_count=7\nvm.*=6\n"), "7", "no glob beats the name");
	is_str(said(key, "vm.*=6\n-vm.max_map_count\n"), "none", "a glob that leaves it out");
	is_str(said(key, "*=6\n"), "none", "a glob does not go over a slash");
	is_str(said("net/ipv4/conf/eth0.1/forwarding", "net.ipv4.conf.eth0/1.forwarding=1\n"), "1",
	       "dots and slashes change places");
	is_str(said("net/ipv4/conf/eth0.1/forwarding", "net/ipv4/conf/eth0.1/forwarding=1\n"), "1",
	       "or stay");
}

static void test_hostile(void)
{
	static char text[200000];
	struct sysctl_setting s = {.key = "vm/max_map_count"};

	memset(text, 'x', sizeof(text) - 1);
	memcpy(text + 150000, "\nvm.max_map_count=8\n", 20);
	is_str(said("vm/max_map_count", text), "8", "a very long line hides nothing");
	memset(text, '[', 100000);
	memcpy(text, "vm.", 3);
	text[250] = '=';
	is_str(said("vm/max_map_count", text), "8", "an endless bracket");
	sysctl_scan(&s, "f", (struct span){"vm.max_map_count=1\0\x1b[2J", 23});
	ok(s.exact.line == 1 && strlen(s.exact.text) == 23, "a NUL ends nothing");
}

/* A name of up to 255 bytes is read: here, a pattern of that length. */
static void test_long_names(void)
{
	char text[300];

	for (size_t len = 254; len <= 257; len++) {
		memset(text, '*', len);
		memcpy(text, "vm.", 3);
		strcpy(text + len, "=7\n");
		is_str(said("vm/max_map_count", text), len < 256 ? "7" : "none",
		       len < 256 ? "a long pattern" : "a pattern that is too long");
	}
}

static void test_boot(void)
{
	struct origin_line l = {};

	ok(sysctl_scan_boot("vm/max_map_count", span_of("ro sysctl.vm.max_map_count=9 quiet"), &l),
	   "on the command line");
	is_str(l.value, "9", "its value");
	ok(sysctl_scan_boot("vm/nr_hugepages", span_of("hugepages=64"), &l), "huge pages");
	ok(!sysctl_scan_boot("vm/max_map_count", span_of("-- sysctl.vm.max_map_count=9"), &l),
	   "what init gets is not the kernel's");
}

static void test_boot_words(void)
{
	static const struct {
		const char *key, *text, *want; /* the word that decides; NULL: none */
	} rows[] = {
		{"vm/x", "sysctl.vm.x=1 quiet sysctl.vm.x=2", "sysctl.vm.x=2"},
		{"vm/x", "sysctl.vm/x=1", "sysctl.vm/x=1"},
		{"vm/x", "sysctl.vm.x=1 -- sysctl.vm.x=2", "sysctl.vm.x=1"},
		{"vm/x", "  sysctl.vm.x=", "sysctl.vm.x="},
		{"vm/x", "sysctl.vm.x quiet=1", NULL},
		{"vm/x", "vm.x=1 sysctl.vm.y=2 sysctl.vm.xx=3", NULL},
		{"vm/x", "sysctl.=1 hugepages=2", NULL},
		{"vm/nr_hugepages", "hugepagesz=2M hugepages=64 x", "hugepages=64"},
		{"vm/nr_hugepages", "hugepages=64 sysctl.vm.nr_hugepages=65",
		 "sysctl.vm.nr_hugepages=65"},
		{"vm/x", "", NULL},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct origin_line l = {};
		bool found = sysctl_scan_boot(rows[i].key, span_of(rows[i].text), &l);

		ok(found == (rows[i].want != NULL), "%s in \"%s\"", rows[i].key, rows[i].text);
		is_str(l.text, rows[i].want ?: "", "the word that decides");
		ok(!found || (l.line == 1 && !strcmp(l.file, "/proc/cmdline")), "where it is");
	}
}

static void in_force(const struct fakeroot *r, const char *value)
{
	fake_file(r, "proc/sys/vm/max_map_count", "%s\n", value);
}

static void test_files(void)
{
	struct fakeroot r = fakeroot_make();
	struct origin o;

	o = fake_find(&r, 0, LIMIT_MAX_MAP_COUNT);
	ok(!o.known && o.from == ORIGIN_UNKNOWN, "no such file: not told");
	in_force(&r, "65530");
	o = fake_find(&r, 0, LIMIT_MAX_MAP_COUNT);
	is_str(fake_said(&o), "the kernel: its default", "no file, and the default in force");
	in_force(&r, "70000");
	o = fake_find(&r, 0, LIMIT_MAX_MAP_COUNT);
	is_str(fake_said(&o),
	       "hand, or a program: no file sets it (the kernel's default is 65,530)", "by hand");
	fake_file(&r, "usr/lib/sysctl.d/10-map-count.conf", "vm.max_map_count=70000\n");
	o = fake_find(&r, 0, LIMIT_MAX_MAP_COUNT);
	is_str(fake_said(&o), "/usr/lib/sysctl.d/10-map-count.conf:1: vm.max_map_count=70000",
	       "by the distribution");
	fake_file(&r, "etc/sysctl.d/10-map-count.conf", "\n\nvm.max_map_count = 80000\n");
	o = fake_find(&r, 0, LIMIT_MAX_MAP_COUNT);
	is_str(fake_said(&o),
	       "hand, or a program, since: /etc/sysctl.d/10-map-count.conf:3: vm.max_map_count = "
	       "80000",
	       "a file of the same name masks it, and says otherwise");
	fake_file(&r, "run/sysctl.d/20-more.conf", "vm.max_map_count = 70000\n");
	o = fake_find(&r, 0, LIMIT_MAX_MAP_COUNT);
	is_str(o.line.file, "/run/sysctl.d/20-more.conf", "the last by name, wherever it lies");
	fake_link(&r, "etc/sysctl.d/20-more.conf", "/dev/null");
	fake_link(&r, "etc/sysctl.d/10-map-count.conf", "/dev/null");
	o = fake_find(&r, 0, LIMIT_MAX_MAP_COUNT);
	ok(o.from == ORIGIN_HAND && !o.line.line, "links to /dev/null mask");
	fakeroot_free(&r);
}

static void test_old_file(void)
{
	struct fakeroot r = fakeroot_make();
	struct origin o;

	in_force(&r, "70000");
	fake_file(&r, "etc/sysctl.d/99-x.conf", "vm.max_map_count = 70000\n");
	fake_file(&r, "etc/sysctl.conf", "vm.max_map_count = 90000\n");
	o = fake_find(&r, 0, LIMIT_MAX_MAP_COUNT);
	ok(o.from == ORIGIN_HAND && !strcmp(o.line.file, "/etc/sysctl.conf"),
	   "without systemd sysctl.conf is the last to be read");
	fake_file(&r, "run/systemd/system/x", "%s", "");
	o = fake_find(&r, 0, LIMIT_MAX_MAP_COUNT);
	ok(o.from == ORIGIN_FILE && !strcmp(o.line.file, "/etc/sysctl.d/99-x.conf"),
	   "systemd does not read it");
	in_force(&r, "90000");
	o = fake_find(&r, 0, LIMIT_MAX_MAP_COUNT);
	ok(o.from == ORIGIN_FILE && !strcmp(o.line.file, "/etc/sysctl.conf"),
	   "unless `sysctl -p` was called");
	fake_link(&r, "etc/sysctl.d/99-sysctl.conf", "../sysctl.conf");
	fake_link(&r, "etc/sysctl.d/98-absolute.conf", "/etc/sysctl.conf");
	fake_remove(&r, "etc/sysctl.d/99-x.conf");
	o = fake_find(&r, 0, LIMIT_MAX_MAP_COUNT);
	is_str(o.line.file, "/etc/sysctl.d/99-sysctl.conf", "or a link leads to it");
	fake_remove(&r, "etc/sysctl.d/99-sysctl.conf");
	o = fake_find(&r, 0, LIMIT_MAX_MAP_COUNT);
	is_str(o.line.file, "/etc/sysctl.d/98-absolute.conf", "which does not leave the root");
	fakeroot_free(&r);
}

static void test_odd_files(void)
{
	struct fakeroot r = fakeroot_make();
	char path[256], name[64];
	struct origin o;

	in_force(&r, "70000");
	fake_link(&r, "etc/sysctl.d/10-loop.conf", "20-loop.conf");
	fake_link(&r, "etc/sysctl.d/20-loop.conf", "10-loop.conf");
	fake_link(&r, "etc/sysctl.d/25-gone.conf", "gone");
	mkfifo(fake_path(&r, "etc/sysctl.d/30-fifo.conf", path, sizeof(path)), 0644);
	mkdir(fake_path(&r, "etc/sysctl.d/40-dir.conf", path, sizeof(path)), 0755);
	fake_file(&r, "etc/sysctl.d/50-x.conf.bak", "vm.max_map_count=1\n");
	fake_file(&r, "etc/sysctl.d/60-x.conf", "vm.max_map_count=70000\n");
	o = fake_find(&r, 0, LIMIT_MAX_MAP_COUNT);
	ok(o.from == ORIGIN_FILE && !o.unread, "loops, fifos, directories are passed by");
	fake_file(&r, "etc/sysctl.d/70-huge.conf", "%s", "");
	fake_path(&r, "etc/sysctl.d/70-huge.conf", path, sizeof(path));
	is_u64(truncate(path, 4 << 20), 0, "a file of 4 MiB");
	o = fake_find(&r, 0, LIMIT_MAX_MAP_COUNT);
	is_u64(o.unread, 1, "is not read, and counted");
	fake_remove(&r, "etc/sysctl.d/70-huge.conf");
	for (int i = 0; i < FILES_MOST + 10; i++) {
		snprintf(name, sizeof(name), "etc/sysctl.d/80-%d.conf", i);
		fake_file(&r, name, "kernel.x=1\n");
	}
	o = fake_find(&r, 0, LIMIT_MAX_MAP_COUNT);
	ok(o.unread >= 10, "files beyond the cap are counted: %u", o.unread);
	fakeroot_free(&r);
}

static void test_elsewhere(void)
{
	struct fakeroot r = fakeroot_make();
	struct origin o;

	in_force(&r, "70000");
	fake_file(&r, "proc/cmdline", "ro sysctl.vm.max_map_count=70000 quiet\n");
	o = fake_find(&r, 0, LIMIT_MAX_MAP_COUNT);
	is_str(fake_said(&o), "the kernel's command line: sysctl.vm.max_map_count=70000",
	       "at the boot");
	fake_file(&r, "etc/sysctl.d/1.conf", "vm.max_map_count=60000\n");
	o = fake_find(&r, 0, LIMIT_MAX_MAP_COUNT);
	ok(o.from == ORIGIN_BOOT, "a file with another value did not set this one");
	in_force(&r, "80000");
	o = fake_find(&r, 0, LIMIT_MAX_MAP_COUNT);
	ok(o.from == ORIGIN_HAND && !strcmp(o.line.file, "/etc/sysctl.d/1.conf"),
	   "neither has the value: the file is named");
	fake_remove(&r, "etc/sysctl.d/1.conf");
	o = fake_find(&r, 0, LIMIT_MAX_MAP_COUNT);
	ok(o.from == ORIGIN_HAND && !o.line.line, "without a file, the command line is not named");
	fake_file(&r, "etc/sysctl.d/1.conf", "vm.max_*=80000\n");
	o = fake_find(&r, 0, LIMIT_MAX_MAP_COUNT);
	ok(o.from == ORIGIN_FILE && o.line.glob, "a line with a wildcard");
	fake_file(&r, "proc/sys/fs/file-max", "9223372036854775807\n");
	o = fake_find(&r, 0, LIMIT_FILE_MAX);
	ok(o.from == ORIGIN_HAND, "without systemd, somebody raised fs.file-max");
	fake_file(&r, "run/systemd/system/x", "%s", "");
	o = fake_find(&r, 0, LIMIT_FILE_MAX);
	ok(o.from == ORIGIN_MANAGER, "systemd raises fs.file-max");
	fake_file(&r, "proc/sys/fs/file-max", "9223372036854775806\n");
	o = fake_find(&r, 0, LIMIT_FILE_MAX);
	ok(o.from == ORIGIN_HAND, "but not to any other value");
	fake_file(&r, "etc/sysctl.d/2.conf", "fs.file-max=7\n");
	fake_file(&r, "proc/sys/fs/file-max", "9223372036854775807\n");
	o = fake_find(&r, 0, LIMIT_FILE_MAX);
	ok(o.from == ORIGIN_HAND && o.line.line == 1, "nor if a file sets it");
	fake_file(&r, "proc/sys/kernel/threads-max", "192731\n");
	o = fake_find(&r, 0, LIMIT_THREADS_MAX);
	ok(o.from == ORIGIN_HAND && strstr(fake_said(&o), "at boot"),
	   "what the kernel computes: %s", fake_said(&o));
	fakeroot_free(&r);
}

static void test_container(void)
{
	struct fakeroot r = fakeroot_make();
	struct origin o;

	in_force(&r, "70000");
	fake_file(&r, "etc/sysctl.d/1.conf", "vm.max_map_count=70000\n");
	fake_link(&r, "proc/self/ns/pid", "pid:[4026532000]");
	o = fake_find(&r, 0, LIMIT_MAX_MAP_COUNT);
	ok(o.outside && o.from == ORIGIN_OUTSIDE, "a container's files do not set it");
	in_force(&r, "65530");
	o = fake_find(&r, 0, LIMIT_MAX_MAP_COUNT);
	ok(o.from == ORIGIN_KERNEL, "a default is one there too");
	in_force(&r, "70000");
	fake_link(&r, "proc/self/ns/pid", "pid:[4026531836]");
	fake_link(&r, "proc/1/root", "..");
	o = fake_find(&r, 0, LIMIT_MAX_MAP_COUNT);
	ok(o.outside, "with the host's pids, but not its root");
	fake_link(&r, "proc/1/root", "nowhere");
	o = fake_find(&r, 0, LIMIT_MAX_MAP_COUNT);
	ok(!o.outside, "pid 1 may not be looked at, and no mark is there");
	fake_file(&r, "run/.containerenv", "%s", "");
	o = fake_find(&r, 0, LIMIT_MAX_MAP_COUNT);
	ok(o.outside, "one is");
	fakeroot_free(&r);
}

/* Files that container runtimes create tell a container if pid 1 may not be looked at. */
static void test_marks(void)
{
	static const char *const marks[] = {".dockerenv", "run/.containerenv",
					    "run/systemd/container",
					    "var/run/secrets/kubernetes.io"};
	struct fakeroot r = fakeroot_make();
	struct origin o;

	in_force(&r, "70000");
	fake_link(&r, "proc/1/root", "nowhere");
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		fake_file(&r, marks[i], "%s", "");
		o = fake_find(&r, 0, LIMIT_MAX_MAP_COUNT);
		ok(o.outside, "%s", marks[i]);
		fake_remove(&r, marks[i]);
		o = fake_find(&r, 0, LIMIT_MAX_MAP_COUNT);
		ok(!o.outside, "without it");
	}
	fake_file(&r, marks[0], "%s", "");
	fake_link(&r, "proc/1/root", "../..");
	o = fake_find(&r, 0, LIMIT_MAX_MAP_COUNT);
	ok(!o.outside, "the root of pid 1 decides, if it may be looked at");
	fake_remove(&r, "proc/self/ns/pid");
	o = fake_find(&r, 0, LIMIT_MAX_MAP_COUNT);
	ok(o.outside, "a pid namespace that is not known is not the initial one");
	fakeroot_free(&r);
}

int main(void)
{
	test_scan();
	test_hostile();
	test_long_names();
	test_boot();
	test_boot_words();
	test_files();
	test_old_file();
	test_odd_files();
	test_elsewhere();
	test_container();
	test_marks();
	return tap_done();
}
