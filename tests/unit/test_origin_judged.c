// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests who is said to have set the limits of a process: its unit, the manager's default, a login,
 * the process itself, or the kernel. One value differs from row to row.
 */
#include "fakeroot.h"

#include "collect/limits/limit_source.h"
#include "tap.h"

#define NOFILE	"Max open files"
#define MEMLOCK "Max locked memory"
#define STACK	"Max stack size"
#define NPROC	"Max processes"
#define ANN	1000

#define SESSION "0::/user.slice/user-1000.slice/session-3.scope\n"
#define SERVICE "0::/system.slice/app.service\n"

/* Makes a machine whose pid 1 is systemd, with users and fs.nr_open. */
static struct fakeroot make_machine(void)
{
	struct fakeroot r = fakeroot_make();

	fake_file(&r, "proc/sys/fs/nr_open", "1048576\n");
	fake_process(&r, 1, 0, "systemd", 0, "0::/init.scope\n");
	fake_file(&r, "etc/passwd", "ann:x:1000:1000::/home/ann:/bin/sh\n");
	return r;
}

static bool is_from(const struct origin *o, enum origin_from from, const char *value)
{
	return o->from == from && !strcmp(o->line.line ? o->line.value : "", value);
}

/* A process of a login, whose parent has other limits: 1, hard 2. */
static void test_login(void)
{
	static const struct {
		const char *title;
		enum limit_id limit;
		unsigned int uid;
		const char *soft, *hard, *conf;
		const char *value; /* of the line; NULL: the process has set the limit */
	} rows[] = {
		{MEMLOCK, LIMIT_MEMLOCK, ANN, "65536", "100000", "ann soft memlock 64", "64"},
		{MEMLOCK, LIMIT_MEMLOCK, ANN, "100000", "65536", "ann hard memlock 64", "64"},
		{MEMLOCK, LIMIT_MEMLOCK, ANN, "65536", "65536", "ann - memlock 65536", NULL},
		{MEMLOCK, LIMIT_MEMLOCK, ANN, "unlimited", "unlimited", "ann - memlock unlimited",
		 "unlimited"},
		{NOFILE, LIMIT_NOFILE, ANN, "256", "512", "ann soft nofile 256", "256"},
		{NOFILE, LIMIT_NOFILE, ANN, "512", "256", "ann hard nofile 256", "256"},
		{NOFILE, LIMIT_NOFILE, ANN, "256", "512", "ann hard nofile 256", NULL},
		{NOFILE, LIMIT_NOFILE, ANN, "512", "256", "ann soft nofile 256", NULL},
		{NOFILE, LIMIT_NOFILE, ANN, "256", "512", "ann - nofile 257", NULL},
		{NOFILE, LIMIT_NOFILE, ANN, "256", "512", "ann - nofile many", NULL},
		{NOFILE, LIMIT_NOFILE, ANN, "256", "512", "ann - memlock 256", NULL},
		{NOFILE, LIMIT_NOFILE, ANN + 1, "256", "512", "ann - nofile 256", NULL},
		{NOFILE, LIMIT_NOFILE, ANN, "256", "512",
		 "ann soft nofile 256\nann hard nofile 512", "256"},
		{NOFILE, LIMIT_NOFILE, ANN, "200", "512",
		 "ann soft nofile 256\nann hard nofile 512", "512"},
	};
	struct fakeroot r = make_machine();

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct origin o;

		fake_process(&r, 40, 1, "sshd", 0, SERVICE);
		fake_process(&r, 50, 40, "bash", rows[i].uid, SESSION);
		fake_limit(&r, 40, rows[i].title, "1", "2");
		fake_limit(&r, 50, rows[i].title, rows[i].soft, rows[i].hard);
		fake_file(&r, "etc/security/limits.conf", "%s\n", rows[i].conf);
		o = fake_find(&r, 50, rows[i].limit);
		ok(rows[i].value ? is_from(&o, ORIGIN_FILE, rows[i].value)
				 : is_from(&o, ORIGIN_PROCESS, ""),
		   "%s, hard %s: %s", rows[i].soft, rows[i].hard, rows[i].conf);
		ok(o.holder.pid == 50 && !o.generations && o.above.pid == 40, "its own limit");
	}
	fakeroot_free(&r);
}

/* A process that systemd started. pid 1 has other limits: 7, hard 9. */
static void test_unit(void)
{
	static const struct {
		const char *title;
		enum limit_id limit;
		const char *soft, *hard;
		const char *unit; /* a line of the unit file; "": none */
		enum origin_from from;
		const char *value; /* of the line that sets or set the limit; "": none */
		bool raised;
	} rows[] = {
		/* built-in defaults of systemd */
		{NOFILE, LIMIT_NOFILE, "1024", "524288", "", ORIGIN_MANAGER, "", false},
		{NOFILE, LIMIT_NOFILE, "1024", "4096", "", ORIGIN_MANAGER, "", false},
		{NOFILE, LIMIT_NOFILE, "1024", "4097", "", ORIGIN_PROCESS, "", false},
		{NOFILE, LIMIT_NOFILE, "1023", "524288", "", ORIGIN_PROCESS, "", false},
		{MEMLOCK, LIMIT_MEMLOCK, "8388608", "8388608", "", ORIGIN_MANAGER, "", false},
		{MEMLOCK, LIMIT_MEMLOCK, "8388607", "8388608", "", ORIGIN_PROCESS, "", false},
		{MEMLOCK, LIMIT_MEMLOCK, "8388608", "8388609", "", ORIGIN_PROCESS, "", false},
		{MEMLOCK, LIMIT_MEMLOCK, "1024", "524288", "", ORIGIN_PROCESS, "", false},
		{STACK, LIMIT_STACK, "8388608", "8388608", "", ORIGIN_PROCESS, "", false},
		/* a line of the unit */
		{NOFILE, LIMIT_NOFILE, "300", "300", "LimitNOFILE=300", ORIGIN_FILE, "300", false},
		{NOFILE, LIMIT_NOFILE, "300", "400", "LimitNOFILE=300:400", ORIGIN_FILE, "300:400",
		 false},
		{NOFILE, LIMIT_NOFILE, "300", "401", "LimitNOFILE=300:400", ORIGIN_PROCESS,
		 "300:400", false},
		{NOFILE, LIMIT_NOFILE, "301", "400", "LimitNOFILE=300:400", ORIGIN_PROCESS,
		 "300:400", false},
		{NOFILE, LIMIT_NOFILE, "300", "300", "LimitNOFILE=many", ORIGIN_PROCESS, "many",
		 false},
		{NOFILE, LIMIT_NOFILE, "300", "300", "LimitMEMLOCK=300", ORIGIN_PROCESS, "", false},
		{MEMLOCK, LIMIT_MEMLOCK, "65536", "65536", "LimitMEMLOCK=64K", ORIGIN_FILE, "64K",
		 false},
		/* systemd lowers values to fs.nr_open */
		{NOFILE, LIMIT_NOFILE, "1048576", "1048576", "LimitNOFILE=infinity", ORIGIN_FILE,
		 "infinity", false},
		{NOFILE, LIMIT_NOFILE, "1048576", "1048576", "LimitNOFILE=2000000", ORIGIN_FILE,
		 "2000000", false},
		{NOFILE, LIMIT_NOFILE, "1024", "1048576", "LimitNOFILE=1024:infinity", ORIGIN_FILE,
		 "1024:infinity", false},
		{NOFILE, LIMIT_NOFILE, "1024", "1048575", "LimitNOFILE=1024:infinity",
		 ORIGIN_PROCESS, "1024:infinity", false},
		{MEMLOCK, LIMIT_MEMLOCK, "unlimited", "unlimited", "LimitMEMLOCK=infinity",
		 ORIGIN_FILE, "infinity", false},
		{MEMLOCK, LIMIT_MEMLOCK, "1048576", "1048576", "LimitMEMLOCK=infinity",
		 ORIGIN_PROCESS, "infinity", false},
		/* a program that raised its soft limit to the hard one */
		{NOFILE, LIMIT_NOFILE, "400", "400", "LimitNOFILE=300:400", ORIGIN_PROCESS,
		 "300:400", true},
		{NOFILE, LIMIT_NOFILE, "399", "399", "LimitNOFILE=300:400", ORIGIN_PROCESS,
		 "300:400", false},
		{NOFILE, LIMIT_NOFILE, "400", "400", "LimitNOFILE=500:400", ORIGIN_PROCESS,
		 "500:400", false},
		{NOFILE, LIMIT_NOFILE, "524288", "524288", "", ORIGIN_PROCESS, "", true},
		{NOFILE, LIMIT_NOFILE, "524287", "524287", "", ORIGIN_PROCESS, "", false},
		{MEMLOCK, LIMIT_MEMLOCK, "524288", "524288", "", ORIGIN_PROCESS, "", false},
		{NOFILE, LIMIT_NOFILE, "9", "9", "", ORIGIN_PROCESS, "", true},
		{NOFILE, LIMIT_NOFILE, "8", "9", "", ORIGIN_PROCESS, "", false},
	};
	struct fakeroot r = make_machine();

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct origin o;

		fake_limit(&r, 1, rows[i].title, "7", "9");
		fake_process(&r, 50, 1, "app", 0, SERVICE);
		fake_limit(&r, 50, rows[i].title, rows[i].soft, rows[i].hard);
		fake_file(&r, "etc/systemd/system/app.service", "[Service]\n%s\n", rows[i].unit);
		o = fake_find(&r, 50, rows[i].limit);
		ok(is_from(&o, rows[i].from, rows[i].value) && o.raised == rows[i].raised,
		   "%s, %s, hard %s, %s: from %d, line \"%s\", raised %d", rows[i].title,
		   rows[i].soft, rows[i].hard, rows[i].unit, o.from, o.line.value, o.raised);
	}
	fakeroot_free(&r);
}

/* A default of the manager sets the limit only where its value is in force. */
static void test_manager(void)
{
	struct fakeroot r = make_machine();
	struct origin o;

	fake_limit(&r, 1, NOFILE, "7", "9");
	fake_process(&r, 50, 1, "app", 0, SERVICE);
	fake_limit(&r, 50, NOFILE, "300", "300");
	fake_file(&r, "etc/systemd/system.conf", "[Manager]\nDefaultLimitNOFILE=300\n");
	o = fake_find(&r, 50, LIMIT_NOFILE);
	ok(is_from(&o, ORIGIN_FILE, "300"), "the default is in force");
	fake_file(&r, "etc/systemd/system.conf", "[Manager]\nDefaultLimitNOFILE=301\n");
	o = fake_find(&r, 50, LIMIT_NOFILE);
	ok(is_from(&o, ORIGIN_PROCESS, ""), "another value is in force");
	fake_file(&r, "etc/systemd/system/app.service", "[Service]\nLimitNOFILE=400\n");
	fake_file(&r, "etc/systemd/system.conf", "[Manager]\nDefaultLimitNOFILE=300\n");
	o = fake_find(&r, 50, LIMIT_NOFILE);
	ok(is_from(&o, ORIGIN_PROCESS, "400"), "a unit with a value of its own has no default");
	fakeroot_free(&r);
}

/* The first process of a machine or container, which no known process has started. */
static void test_first(void)
{
	static const struct {
		const char *title;
		enum limit_id limit;
		const char *soft, *hard;
		enum origin_from from;
	} rows[] = {
		{NOFILE, LIMIT_NOFILE, "1024", "4096", ORIGIN_KERNEL},
		{NOFILE, LIMIT_NOFILE, "1024", "4097", ORIGIN_PROCESS},
		{NOFILE, LIMIT_NOFILE, "1025", "4096", ORIGIN_PROCESS},
		{NOFILE, LIMIT_NOFILE, "65536", "65536", ORIGIN_PROCESS},
		{MEMLOCK, LIMIT_MEMLOCK, "65536", "65536", ORIGIN_KERNEL},
		{MEMLOCK, LIMIT_MEMLOCK, "8388608", "8388608", ORIGIN_KERNEL},
		{MEMLOCK, LIMIT_MEMLOCK, "65536", "8388608", ORIGIN_PROCESS},
		{MEMLOCK, LIMIT_MEMLOCK, "8388608", "65536", ORIGIN_PROCESS},
		{STACK, LIMIT_STACK, "8388608", "unlimited", ORIGIN_KERNEL},
		{STACK, LIMIT_STACK, "8388608", "8388608", ORIGIN_PROCESS},
		{NPROC, LIMIT_NPROC, "12345", "54321", ORIGIN_KERNEL},
	};
	struct fakeroot r = fakeroot_make();

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct origin o;

		fake_link(&r, "proc/self/ns/pid", "pid:[4026531836]");
		fake_process(&r, 1, 0, "init", 0, "0::/\n");
		fake_limit(&r, 1, rows[i].title, rows[i].soft, rows[i].hard);
		o = fake_find(&r, 1, rows[i].limit);
		ok(o.from == rows[i].from && !o.raised, "%s %s, hard %s: from %d", rows[i].title,
		   rows[i].soft, rows[i].hard, o.from);
		fake_process(&r, 50, 40, "app", 0, "0::/\n");
		fake_limit(&r, 50, rows[i].title, rows[i].soft, rows[i].hard);
		o = fake_find(&r, 50, rows[i].limit);
		ok(o.from == ORIGIN_UNKNOWN && !o.raised, "of a parent that cannot be read");
		fake_link(&r, "proc/self/ns/pid", "pid:[4026532000]");
		o = fake_find(&r, 50, rows[i].limit);
		ok(o.from == ORIGIN_OUTSIDE && !o.raised, "the same in a container");
	}
	fakeroot_free(&r);
}

/* A chain of parents with the same limit. The oldest one is asked who has set it. */
static void test_ancestors(void)
{
	struct fakeroot r = make_machine();
	struct origin o;

	fake_limit(&r, 1, NOFILE, "7", "9");
	fake_process(&r, 40, 1, "sshd", 0, SERVICE);
	fake_limit(&r, 40, NOFILE, "300", "301");
	fake_process(&r, 50, 40, "bash", ANN, SESSION);
	fake_limit(&r, 50, NOFILE, "300", "301");
	fake_process(&r, 60, 50, "job", ANN, SESSION);
	fake_limit(&r, 60, NOFILE, "300", "301");
	o = fake_find(&r, 60, LIMIT_NOFILE);
	ok(o.known && o.value == 300 && o.hard == 301, "the limit in force");
	ok(o.holder.pid == 40 && o.generations == 2 && o.above.pid == 1, "from the oldest");
	ok(o.above.known && o.above.soft == 7 && o.above.hard == 9, "its parent has another one");
	is_str(o.at_holder.unit, "app.service", "the unit of the oldest");
	is_str(o.workload.unit, "session-3.scope", "the unit of the process");
	fake_limit(&r, 50, NOFILE, "300", "302");
	o = fake_find(&r, 60, LIMIT_NOFILE);
	ok(o.holder.pid == 60 && !o.generations && o.above.pid == 50, "another hard limit differs");
	fake_limit(&r, 50, NOFILE, "299", "301");
	o = fake_find(&r, 60, LIMIT_NOFILE);
	ok(o.holder.pid == 60 && !o.generations && o.above.pid == 50, "another soft limit differs");
	fake_remove(&r, "proc/50/limits");
	o = fake_find(&r, 60, LIMIT_NOFILE);
	ok(o.holder.pid == 60 && o.above.pid == 50 && !o.above.known, "an unknown limit differs");
	fakeroot_free(&r);
}

/* The own unit of a process sets its limit, and an ancestor has the same by chance. */
static void test_own_unit(void)
{
	struct fakeroot r = make_machine();
	struct origin o;

	fake_limit(&r, 1, NOFILE, "7", "9");
	fake_process(&r, 40, 1, "sshd", 0, "0::/system.slice/ssh.service\n");
	fake_limit(&r, 40, NOFILE, "300", "300");
	fake_process(&r, 50, 40, "app", 0, SERVICE);
	fake_limit(&r, 50, NOFILE, "300", "300");
	fake_file(&r, "etc/systemd/system/ssh.service", "[Service]\n\nLimitNOFILE=300\n");
	o = fake_find(&r, 50, LIMIT_NOFILE);
	ok(o.holder.pid == 40 && o.line.line == 3 && o.generations == 1, "the ancestor's unit");
	fake_file(&r, "etc/systemd/system/app.service", "[Service]\nLimitNOFILE=300\n");
	o = fake_find(&r, 50, LIMIT_NOFILE);
	ok(is_from(&o, ORIGIN_FILE, "300") && o.line.line == 2, "its own unit");
	ok(o.holder.pid == 50 && !o.generations && !o.above.pid, "so no ancestor is named");
	is_str(o.at_holder.unit, "app.service", "the unit is named");
	fake_file(&r, "etc/systemd/system/app.service", "[Service]\nLimitNOFILE=400\n");
	o = fake_find(&r, 50, LIMIT_NOFILE);
	ok(o.holder.pid == 40 && o.line.line == 3, "its own unit has another value");
	fakeroot_free(&r);
}

/*
 * The unit of a process is asked only if systemd may have started the process: its parent is in
 * another unit, or is pid 1.
 */
static void test_parents_unit(void)
{
	static const struct {
		unsigned int parent;
		const char *of_parent; /* its cgroup */
		enum origin_from from;
		const char *name;
	} rows[] = {
		{40, SERVICE, ORIGIN_PROCESS, "a parent in the same unit"},
		{40, SESSION, ORIGIN_MANAGER, "a parent in another unit"},
		{40, "0::/\n", ORIGIN_MANAGER, "a parent in no unit"},
		{1, SERVICE, ORIGIN_MANAGER, "pid 1 in the same unit"},
		{1, SESSION, ORIGIN_MANAGER, "pid 1 in another unit"},
		{77, SERVICE, ORIGIN_MANAGER, "an unknown parent"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fakeroot r = make_machine();
		struct origin o;

		fake_process(&r, rows[i].parent == 77 ? 40 : rows[i].parent, 0, "parent", 0,
			     rows[i].of_parent);
		fake_limit(&r, rows[i].parent == 77 ? 40 : rows[i].parent, NOFILE, "7", "9");
		fake_process(&r, 50, rows[i].parent, "app", 0, SERVICE);
		fake_limit(&r, 50, NOFILE, "1024", "524288");
		o = fake_find(&r, 50, LIMIT_NOFILE);
		ok(is_from(&o, rows[i].from, "") && o.holder.pid == 50, "%s: from %d", rows[i].name,
		   o.from);
		is_str(o.at_holder.unit, "app.service", "its unit");
		fakeroot_free(&r);
	}
}

#define ID	  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define CONTAINER "0::/docker/" ID "\n"
#define INSIDE	  "0::/docker/" ID "/system.slice/app.service\n"

/* The first process of a container has the limits that the runtime gives to it. */
static void test_container(void)
{
	static const struct {
		const char *of_parent, *own;
		enum origin_from from;
		const char *name;
	} rows[] = {
		{SERVICE, CONTAINER, ORIGIN_RUNTIME, "the first process of a container"},
		{"0::/docker/1" ID "\n", CONTAINER, ORIGIN_RUNTIME, "a parent in no container"},
		{CONTAINER, CONTAINER, ORIGIN_PROCESS, "a process that the container started"},
		{CONTAINER, INSIDE, ORIGIN_PROCESS, "a unit in the container"},
		{SERVICE, INSIDE, ORIGIN_PROCESS, "a unit in the container with a parent outside"},
		{SESSION, "0::/a/b\n", ORIGIN_PROCESS, "no container"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fakeroot r = make_machine();
		struct origin o;

		fake_process(&r, 40, 1, "parent", 0, rows[i].of_parent);
		fake_limit(&r, 40, NOFILE, "7", "9");
		fake_process(&r, 50, 40, "app", 0, rows[i].own);
		fake_limit(&r, 50, NOFILE, "300", "301");
		/* a file of the host, which is not that of the systemd in the container */
		fake_file(&r, "etc/systemd/system/app.service", "[Service]\nLimitNOFILE=300:301\n");
		o = fake_find(&r, 50, LIMIT_NOFILE);
		ok(is_from(&o, rows[i].from, ""), "%s: from %d, line \"%s\"", rows[i].name, o.from,
		   o.line.value);
		fakeroot_free(&r);
	}
}

/* Without fs.nr_open, values of a unit are compared as they are. */
static void test_unknown_maximum(void)
{
	static const struct {
		const char *soft, *hard, *value;
		enum origin_from from;
	} rows[] = {
		{"1048576", "1048576", "infinity", ORIGIN_PROCESS},
		{"1048576", "1048576", "2000000", ORIGIN_PROCESS},
		{"2000000", "2000000", "2000000", ORIGIN_FILE},
		{"300", "400", "300:400", ORIGIN_FILE},
		{"unlimited", "unlimited", "infinity", ORIGIN_FILE},
	};
	struct fakeroot r = make_machine();

	fake_remove(&r, "proc/sys/fs/nr_open");
	fake_limit(&r, 1, NOFILE, "7", "9");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct origin o;

		fake_process(&r, 50, 1, "app", 0, SERVICE);
		fake_limit(&r, 50, NOFILE, rows[i].soft, rows[i].hard);
		fake_file(&r, "etc/systemd/system/app.service", "[Service]\nLimitNOFILE=%s\n",
			  rows[i].value);
		o = fake_find(&r, 50, LIMIT_NOFILE);
		ok(is_from(&o, rows[i].from, rows[i].value) && !o.most, "%s, hard %s, %s: from %d",
		   rows[i].soft, rows[i].hard, rows[i].value, o.from);
	}
	fakeroot_free(&r);
}

/* Up to 64 generations of parents are searched for the oldest one with the same limit. */
static void test_generations(void)
{
	for (uint32_t generations = 63; generations <= 65; generations++) {
		struct fakeroot r = make_machine();
		struct origin o;

		for (uint32_t i = 0; i <= generations; i++) {
			fake_process(&r, 1000 + i, i == generations ? 1 : 1001 + i, "app", 0,
				     SERVICE);
			fake_limit(&r, 1000 + i, NOFILE, "300", "301");
		}
		fake_limit(&r, 1, NOFILE, "7", "9");
		o = fake_find(&r, 1000, LIMIT_NOFILE);
		is_u64(o.generations, generations < 64 ? generations : 64, "generations");
		is_u64(o.holder.pid, 1000 + o.generations, "the oldest that was found");
		is_u64(o.above.pid, generations < 64, "its parent is known if it was read");
		fakeroot_free(&r);
	}
}

/* What /proc says of the process that has the limit. */
static void test_status(void)
{
	struct fakeroot r = make_machine();
	struct origin o;

	fake_limit(&r, 1, NOFILE, "7", "9");
	fake_process(&r, 50, 1, "a name", 1234, SERVICE);
	fake_file(&r, "proc/50/status", "Name:\ta name\nUid:\t1234\t5\t6\t7\nPPid:\t1\n");
	fake_limit(&r, 50, NOFILE, "300", "unlimited");
	o = fake_find(&r, 50, LIMIT_NOFILE);
	ok(o.holder.pid == 50 && o.holder.uid == 1234 && o.holder.known && o.holder.soft == 300 &&
		   o.holder.hard == LIMIT_NONE,
	   "its numbers");
	is_str(o.holder.comm, "a name", "its name");
	ok(o.above.pid == 1 && !o.above.uid && o.above.soft == 7 && o.above.hard == 9,
	   "its parent");
	is_str(o.above.comm, "systemd", "the parent's name");
	ok(o.known && o.value == 300 && o.hard == LIMIT_NONE && o.most == 1048576, "the limit");
	fake_file(&r, "proc/50/status", "Name:\tx\nPPid:\tnone\n");
	o = fake_find(&r, 50, LIMIT_NOFILE);
	ok(o.known && !o.above.pid && !o.holder.uid, "an unknown parent");
	fakeroot_free(&r);
}

int main(void)
{
	test_login();
	test_unit();
	test_manager();
	test_first();
	test_ancestors();
	test_own_unit();
	test_parents_unit();
	test_container();
	test_unknown_maximum();
	test_generations();
	test_status();
	return tap_done();
}
