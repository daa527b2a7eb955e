// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the command doctor with a played kernel: the parts of its report and their order, its exit
 * status if probes, scans or outputs fail, and the limits of the cgroup. The mount table, the
 * cgroup and the limits are made by the test.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/resource.h>
#include <time.h>

#include "command_words.h"
#include "count_text.h"
#include "own_machine.h"
#include "played_kernel.h"
#include "session/commands.h"
#include "tap.h"

static uint64_t reading_ns; /* time that each reading of the clock takes; 0: the clock is real */
static const char *cgroup_max, *cgroup_now; /* memory.max and pids.max, if not NULL */
static const char *output;		    /* file of the report; NULL: standard output */
static char text[1 << 17];

int clock_gettime(clockid_t clock, struct timespec *ret)
{
	static uint64_t now_ns;
	long err = played_real(SYS_clock_gettime, clock, ret, 0, 0, 0, 0);

	if (!reading_ns || clock != CLOCK_MONOTONIC)
		return err;
	now_ns += reading_ns;
	ret->tv_sec = 1000 + now_ns / SECOND;
	ret->tv_nsec = now_ns % SECOND;
	return 0;
}

/* Sets the limits of two levels of cgroups. Returns false if this system does not permit it. */
static bool make_cgroups(void)
{
	static const char *const files[] = {"memory.max", "memory.current", "pids.max",
					    "pids.current"};
	char path[128];

	if (!machine_enter())
		return false;
	machine_cover("/proc/self/mountinfo",
		      "22 27 0:21 / /proc rw - proc proc rw\n"
		      "31 23 0:28 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n");
	machine_cover("/proc/self/cgroup", "0::/a/b\n");
	machine_empty("/sys/fs/cgroup");
	mkdir("/sys/fs/cgroup/a", 0755);
	mkdir("/sys/fs/cgroup/a/b", 0755);
	for (int i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "/sys/fs/cgroup/a/b/%s", files[i]);
		machine_must(machine_write(path, i == 2	 ? "max\n"
						 : i & 1 ? cgroup_now
							 : cgroup_max),
			     path);
	}
	return true;
}

static int examine(const struct options *o)
{
	struct rlimit fds = {777, 888};
	struct options mine = *o;

	alarm(60); /* ends a command that does not end */
	if (cgroup_max && !make_cgroups())
		return 99;
	setrlimit(RLIMIT_NOFILE, &fds);
	mine.output = output;
	return command_doctor(&mine);
}

/* Runs doctor with up to five words, and the standard output in `text`. */
static void run(const char *a, const char *b, const char *c, const char *d, const char *e)
{
	const char *const words[5] = {a, b, c, d, e};

	run_words(examine, "doctor", words);
	io_read(AT_FDCWD, fixture_path("out"), text, sizeof(text));
}

static void has(const char *in, const char *what)
{
	const char *line = what + strspn(what, "\n ");

	ok(strstr(in, what) != NULL, "it has: %.*s", (int)strcspn(line, "\n"), line);
}

static size_t longest_line(const char *in, const char *beginning)
{
	size_t most = 0;

	while ((in = strstr(in, beginning))) {
		size_t len = strcspn(in, "\n");

		most = len > most ? len : most;
		in += len;
	}
	return most;
}

/* The parts of the report, in their order. */
static void test_report(void)
{
	static const char *const parts[] = {
		"faultscope 0.",
		" probes work\n",
		"\nprobes\n",
		"\n  state         on     ",
		"\n      cost   part of the cost of the other probes\n",
		"\n  lifecycle     on     tp_btf         events\n",
		"\n      cost   not measured: --no-calibrate\n",
		"\n  resident      off ",
		"\nprobes of the flight recorder (faultscope blackbox)\n",
		"\nfile descriptors that are counted only in total, not by call\n",
		"\nsource lines and inlined functions of native code in stacks\n",
		"\nlimits of this machine and of this shell\n",
		"\n  vm.max_map_count ",
		"\n  RLIMIT_NOFILE, soft               777\n",
		"\n  RLIMIT_NOFILE, hard               888\n",
		"\nprivileges after all probes are attached\n",
		"\n  no_new_privs   on\n",
	};
	const char *at;

	played_begin();
	setenv("COLUMNS", "200", 1);
	run("--no-calibrate", NULL, NULL, NULL, NULL);
	unsetenv("COLUMNS");
	is_u64(got.status, 0, "status");
	is_str(got.err, "", "no message");
	ok(longest_line(text, "      provides ") <= 80 &&
		   longest_line(text, "      provides ") > 60,
	   "80 columns at most, even on a wider terminal");
	at = text;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && at; i++) {
		at = strstr(at, parts[i]); /* after the part before */
		has(at ? at : "", parts[i]);
		at = at ? at + strlen(parts[i]) - 1 : NULL;
	}
	is_u64(count(text, "limits of this machine"), 1, "each part is printed once");
	is_u64(count(text, "cost   not measured: --no-calibrate\n"), 9,
	       "probes whose cost could be measured");
	has(text, "\n      cost   a mapping call: not measured: --no-calibrate\n");
}

static void test_json(void)
{
	run("--no-calibrate", "--json", NULL, NULL, NULL);
	is_u64(got.status, 0, "status");
	ok(!strncmp(text, "{\"type\":\"doctor\",", 17), "a JSON object");
	is_u64(count(text, "\n"), 1, "on one line");
	has(text, "\"why\":\"not measured: --no-calibrate\"");
	has(text, "\"name\":\"lifecycle\"");
	is_u64(count(text, "{\"type\":\"doctor\""), 1, "once");
}

static void test_output(void)
{
	char path[160], whole[sizeof(text)];

	snprintf(path, sizeof(path), "%s", fixture_path("report"));
	output = path;
	run("--no-calibrate", NULL, NULL, NULL, NULL);
	is_u64(got.status, 0, "status");
	is_str(text, "", "nothing on standard output");
	io_read(AT_FDCWD, path, whole, sizeof(whole));
	ok(!strncmp(whole, "faultscope 0.", 13), "the file begins with the title");
	has(whole, " probes work\n");
	has(whole, "no_new_privs   on");
	is_u64(count(whole, " probes work\n"), 1, "once");
	output = NULL;
}

/* Fails what the kernel does from some call on, and runs doctor. */
static void run_failing(enum played_kind kind, const char *name, int number)
{
	played_begin();
	played_fail(kind, name, 0, number);
	run("--no-calibrate", NULL, NULL, NULL, NULL);
}

static void test_failures(void)
{
	run_failing(PLAYED_MAP, NULL, EPERM);
	is_u64(got.status, EXIT_NOT_PERMITTED, "maps that are not permitted");
	is_str(text, "", "no report");
	has(got.err, "faultscope: ");
	played_begin();
	played_run_error = EIO;
	run("--no-calibrate", NULL, NULL, NULL, NULL);
	is_u64(got.status, EXIT_FAILED, "a scan that fails");
	has(text, " probes work\n");
	ok(!strstr(text, "limits of this machine"), "the report ends before the scan");
	has(got.err, "Input/output error");
	played_begin();
	run("--no-calibrate", "--probe", "signal=none", "--width", "120");
	is_u64(got.status, 0, "a probe that the user disables is no gap");
	has(text, "\n  signal        unavailable");
	has(text, "\n      try    remove the --probe option for it\n");
	ok(longest_line(text, "      provides ") > 80, "--width comes before the 80 columns");
	run("--no-calibrate", "--probe", "lifecycle=none", NULL, NULL);
	is_u64(got.status, EXIT_KERNEL_LACKS, "a probe without which nothing works");
}

/* Measurements are given up if they take too long. */
static void test_measured(void)
{
	played_begin();
	reading_ns = 3000000;
	run(NULL, NULL, NULL, NULL, NULL);
	reading_ns = 0;
	is_u64(got.status, 0, "status");
	ok(!strstr(text, "--no-calibrate"), "the cost is measured");
	has(text, "not measured: attaching takes too long, or the machine is too busy");
}

/* The limits of the cgroup, and how much of them is used. */
static void test_cgroup(void)
{
	cgroup_max = "5242880\n";
	cgroup_now = "4194304\n";
	run("--no-calibrate", NULL, NULL, NULL, NULL);
	cgroup_max = NULL;
	if (got.status == 99) {
		ok(true, "# SKIP no user namespaces");
		return;
	}
	is_u64(got.status, 0, "status");
	has(text, "\n  cgroup                            /a/b\n");
	has(text, "\n  cgroup memory limit               5.00 MiB (4.00 MiB used)\n");
	has(text, "\n  cgroup pids limit                 unlimited\n");
}

int main(void)
{
	if (access("/sys/kernel/btf/vmlinux", R_OK)) {
		ok(true, "# SKIP no types of the kernel");
		return tap_done();
	}
	signal(SIGPIPE, SIG_IGN);
	unsetenv("COLUMNS");
	test_report();
	test_json();
	test_output();
	test_failures();
	test_measured();
	test_cgroup();
	return tap_done();
}
