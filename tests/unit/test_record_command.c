// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the command record with a played kernel: the name of its file, what it says about its
 * progress and its end, and what it stores. Scans read /proc.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "command_output.h"
#include "played_kernel.h"
#include "played_terminal.h"
#include "probe/recording.h"
#include "session/commands.h"

static const char *host_name = "a-host"; /* NULL: it fills the whole room, without an end */

time_t time(time_t *ret)
{
	if (ret)
		*ret = 1700000000;
	return 1700000000; /* 2023-11-14 22:13:20 UTC */
}

int gethostname(char *ret, size_t size)
{
	memset(ret, 'h', size);
	if (host_name)
		snprintf(ret, size, "%s", host_name);
	return 0;
}

static int record(const struct options *o)
{
	alarm(60); /* ends a command that does not end */
	return command_record(o);
}

/* Options of a recording that ends soon. */
static struct options options(const char *name)
{
	struct options o = {.command = CMD_RECORD,
			    .colour = WHEN_NEVER,
			    .revision = "test",
			    .duration = 0.2,
			    .interval = 20,
			    .output = name};

	o.forced[hook_find("scan")] = "/proc";
	return o;
}

static void run(const struct options *o)
{
	played_begin();
	run_command(record, o);
}

/* What a recording contains. */
static struct {
	struct host_record host;
	unsigned int scans, processes, ends;
} found;

static int take(void *ctx, const struct record *h)
{
	(void)ctx;
	if (h->kind == RECORD_HOST)
		memcpy(&found.host, h, sizeof(found.host));
	found.scans += h->kind == RECORD_TICK;
	found.processes += h->kind == RECORD_PROCESS;
	found.ends += h->kind == RECORD_END;
	return 0;
}

static void read_recording(const char *path)
{
	const struct sink sink = {.take = take};
	struct source *src;
	char error[512];

	memset(&found, 0, sizeof(found));
	if (!ok(!replay_open(path, &src, error, sizeof(error)), "a recording"))
		return;
	while (!src->ops->look(src, &sink))
		continue;
	src->ops->close(src);
}

/* Each sequence in the name of the file, and sequences that do not exist. */
static void test_names(void)
{
	static const struct {
		const char *pattern, *want; /* NULL: the sequence is unknown */
	} rows[] = {
		{"%t.fsr", "20231114T221320Z.fsr"},
		{"%h-%h", "a-host-a-host"},
		{"100%%", "100%"},
		{"%x", NULL},
		{"a%", NULL},
	};
	char path[400] = "", want[512], name[256];
	struct options o = options(path);

	o.quiet = true;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snprintf(path, sizeof(path), "%s", fixture_path(rows[i].pattern));
		run(&o);
		if (rows[i].want) {
			is_u64(got.status, 0, rows[i].pattern);
			is_u64(unlink(fixture_path(rows[i].want)), 0, rows[i].want);
			continue;
		}
		is_u64(got.status, EXIT_USAGE, "an unknown sequence");
		snprintf(want, sizeof(want),
			 "faultscope: %s: unknown %% sequence in the file name: use %%p "
			 "(process), %%h (host), %%t (time) or %%%%\n",
			 path);
		is_str(got.err, want, rows[i].pattern);
	}
	snprintf(path, sizeof(path), "%s", fixture_path("%p.fsr"));
	o.filter.pid[0] = getpid();
	o.filter.pids = 1;
	run(&o);
	snprintf(name, sizeof(name), "%d.fsr", getpid());
	is_u64(unlink(fixture_path(name)), 0, "the pid of the process");
	o.filter.pids = 0;
	path[0] = 0;
	run(&o);
	is_u64(got.status, EXIT_USAGE, "no name");
	snprintf(path, sizeof(path), "%s", fixture_path("%h"));
	run(&o);
	host_name = NULL;
	is_u64(unlink(fixture_path("a-host")), 0, "the name of the host");
	run(&o);
	host_name = "a-host";
	memset(name, 'h', 255);
	name[255] = 0;
	snprintf(path, sizeof(path), "%s/%s", fixture_dir, name);
	is_u64(unlink(path), 0, "the longest name of a host");
}

/* The longest name has 4,095 characters. */
static void test_length(void)
{
	char *path = calloc(1, 8192);
	struct options o = options(path);

	snprintf(path, 8192, "%s/", fixture_path("none"));
	memset(path + strlen(path), '/', 4096 - strlen(path));
	path[4095] = 0;
	run(&o);
	is_u64(got.status, EXIT_FAILED, "a name that fits is opened, and fails then");
	memset(path + strlen(path), '/', 1);
	run(&o);
	is_u64(got.status, EXIT_USAGE, "a name that is too long");
	free(path);
}

static void test_contents(void)
{
	char host[sizeof(found.host.host)];
	char path[200] = "";
	struct options o = options(path);

	snprintf(path, sizeof(path), "%s", fixture_path("one.fsr"));
	run(&o);
	is_u64(got.status, 0, "status");
	is_str(got.out, "", "no output");
	ok(!strncmp(got.err, "faultscope: recorded 0.", 23), "how long it was");
	ok(strstr(got.err, " of 0.2 s, 2 scans, ") != NULL && strstr(got.err, " processes, "),
	   "its scans and processes");
	ok(strstr(got.err, " B in ") || strstr(got.err, " KiB in "), "its size");
	ok(strstr(got.err, "in memory") == NULL, "there is no ring");
	read_recording(path);
	is_u64(found.host.interval_ns, 20 * SECOND, "the interval");
	is_str(found.host.mode, "all", "the mode");
	strcpy(host, found.host.host);
	ok(*host, "the host");
	is_u64(found.scans, 2, "the first scan and the last one");
	is_u64(found.ends, 1, "the end");
	run(&o);
	is_u64(got.status, EXIT_FAILED, "an existing file is not replaced");
	ok(strstr(got.err, "recorded") == NULL, "and nothing was recorded");
	o.force = o.redact = o.quiet = true;
	o.interval = 0;
	run(&o);
	is_u64(got.status, 0, "unless --force is given");
	is_str(got.err, "", "--quiet");
	read_recording(path);
	is_u64(found.host.interval_ns, 10 * SECOND, "the default interval of all processes");
	ok(strcmp(found.host.host, host) != 0, "the name of the host is removed");
	o.filter.pid[0] = getpid();
	o.filter.pids = 1;
	run(&o);
	is_u64(got.status, EXIT_INCOMPLETE, "no program reports the process");
	read_recording(path);
	is_u64(found.host.interval_ns, SECOND, "the default interval of chosen processes");
	is_str(found.host.mode, "targets", "the mode");
	unlink(path);
}

static size_t files_in(const char *dir)
{
	DIR *d = opendir(dir);
	size_t n = 0;

	for (struct dirent *de; d && (de = readdir(d));)
		n += de->d_name[0] != '.';
	if (d)
		closedir(d);
	return n;
}

/* With --ring, nothing is stored but incidents. */
static void test_ring(void)
{
	char path[200] = "";
	struct options o = options(path);

	snprintf(path, sizeof(path), "%s", fixture_path("store"));
	o.incident.ring.bytes = 1 << 20;
	o.incident.ring_given = true;
	run(&o);
	is_u64(got.status, 0, "status");
	ok(strstr(got.err, " in memory, 0 incidents in ") != NULL, "the ring and its incidents");
	is_u64(files_in(path), 0, "no incident is stored");
	o.output = "/dev/null/store";
	run(&o);
	is_u64(got.status, EXIT_FAILED, "a store that cannot be made");
	ok(strstr(got.err, "/dev/null/store") != NULL, "is named");
	rmdir(path);
}

static int record_on_terminal(const struct options *given)
{
	struct options o = options(given->output);

	o.duration = given->duration;
	o.quiet = given->quiet;
	return record(&o);
}

/* On a terminal, each scan shows how much was recorded so far. */
static void test_progress(void)
{
	char path[256],
		*argv[] = {"faultscope", "record", "-o", path, "-d", "0.2", "--force", NULL, NULL};

	snprintf(path, sizeof(path), "%s", fixture_path("progress.fsr"));
	start_on_terminal(argv, record_on_terminal);
	ok(shows("\r\033[K0.0 s of 0.2 s, 1 scan, ") && shows(" processes, ") &&
		   shows("B  (Ctrl-C stops it)"),
	   "the first scan");
	ok(shows("2 scans, "), "the second one");
	ok(shows("\r\033[Kfaultscope: recorded 0."), "the end replaces it");
	waitpid(child, NULL, 0);
	close(master);
	unlink(path);
	argv[7] = "-q";
	start_on_terminal(argv, record_on_terminal);
	ok(!shows("scan"), "--quiet");
	waitpid(child, NULL, 0);
	close(master);
	unlink(path);
	free(seen);
}

int main(void)
{
	if (access("/sys/kernel/btf/vmlinux", R_OK)) {
		ok(true, "# SKIP no types of the kernel");
		return tap_done();
	}
	setenv("TERM", "xterm", 1);
	signal(SIGPIPE, SIG_IGN);
	test_names();
	test_length();
	test_contents();
	test_ring();
	test_progress();
	return tap_done();
}
