// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests how `triage --group` sorts the logs of a directory by their crash. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>

#include "command_output.h"
#include "crash/triage_command.h"
#include "tap.h"

static char place[64];

/* Writes a file below `place`, whose last change was at `when`, in seconds since 1970. */
static void put(const char *name, int64_t when, const char *text, size_t size)
{
	struct timespec times[2] = {{.tv_sec = when}, {.tv_sec = when}};
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", place, name);
	for (char *slash = path + strlen(place) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = 0;
		mkdir(path, 0755);
		*slash = '/';
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0 || write(fd, text, size) != (ssize_t)size || futimens(fd, times))
		abort();
	close(fd);
}

static void put_text(const char *name, const char *text)
{
	put(name, 86400, text, strlen(text));
}

/* Writes the log of a crash in a function, with this kernel release. */
static void put_crash(const char *name, int64_t when, const char *function, const char *release)
{
	char text[2048];

	snprintf(text, sizeof(text),
		 "[   10.000000] BUG: kernel NULL pointer dereference, address: 0000000000000008\n"
		 "[   10.000001] #PF: supervisor read access in kernel mode\n"
		 "[   10.000002] #PF: error_code(0x0000) - not-present page\n"
		 "[   10.000003] Oops: 0000 [#1] PREEMPT SMP NOPTI\n"
		 "[   10.000004] CPU: 0 PID: 7 Comm: reader Not tainted %s #1\n"
		 "[   10.000005] RIP: 0010:%s+0x10/0x20 [lab]\n"
		 "[   10.000006] Call Trace:\n"
		 "[   10.000007]  %s+0x10/0x20 [lab]\n"
		 "[   10.000008]  vfs_read+0x10/0x20\n"
		 "[   10.000009] ---[ end trace 0000000000000000 ]---\n",
		 release, function, function);
	put(name, when, text, strlen(text));
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	return remove(path);
}

static void begin(void)
{
	strcpy(place, "/tmp/test_triage_group.XXXXXX");
	if (!mkdtemp(place))
		abort();
}

static void end(void)
{
	nftw(place, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void run(const struct renderer *format)
{
	struct options o = {.group = place, .colour = WHEN_NEVER, .width = 200, .format = format};

	run_command(command_triage, &o);
}

/* The output must have this text, in which each ~ stands for the directory. */
static void shows(const char *want, const char *name)
{
	char text[1024];
	size_t n = 0;

	for (; *want; want++)
		n += snprintf(text + n, sizeof(text) - n, *want == '~' ? "%s" : "%.1s",
			      *want == '~' ? place : want);
	if (!ok(strstr(got.out, text) != NULL, "%s", name))
		printf("# want %s\n# got %s\n# %s\n", text, got.out, got.err);
}

#define ROW(logs, first, last, bucket)                                                             \
	"      " #logs "  " first "  " last "  FS_NULL_DEREF_R_lab!" bucket "\n"
#define REST "                                 "

static void test_buckets(void)
{
	begin();
	put_crash("a", 2 * 86400, "lab_read", "6.12.9");
	put_crash("b", 86400, "lab_read", "6.12.9");
	put_crash("c", 3 * 86400, "lab_read", "6.12.10");
	put_crash("d", 4 * 86400, "lab_write", "6.12.10");
	put_crash("e", 5 * 86400, "lab_write", "6.12.10");
	put_crash("f", 6 * 86400, "lab_close", "6.12.9");
	put_crash("g", 7 * 86400, "lab_again", "6.12.10");
	put_text("quiet", "[   10.000000] Linux version 6.1\n");
	run(NULL);
	is_u64(got.status, EXIT_GATE, "crashes were found");
	shows("   LOGS  FIRST       LAST        BUCKET\n" ROW(3, "1970-01-02", "1970-01-04",
							      "lab_read") REST
	      "~/a; kernel 6.12.9, 6.12.10\n",
	      "the most frequent crash, with its oldest and newest log");
	shows("6.12.10\n" ROW(2, "1970-01-05", "1970-01-06", "lab_write  new") REST
	      "~/d; kernel 6.12.10\n",
	      "the next one, which only the newest kernel has");
	shows("6.12.10\n" ROW(1, "1970-01-08", "1970-01-08", "lab_again  new") REST
	      "~/g; kernel 6.12.10\n",
	      "of equally frequent ones, the first by name");
	shows("6.12.10\n" ROW(1, "1970-01-07", "1970-01-07", "lab_close") REST
	      "~/f; kernel 6.12.9\n",
	      "and one that an older kernel has");
	shows("\n8 logs, 4 buckets, 1 without a crash\n", "the number of logs");
	run(&json_renderer);
	is_u64(got.status, EXIT_GATE, "the same as JSON");
	shows("\"count\":3", "counts");
	shows("lab!lab_write", "buckets");
	end();
}

static void test_one_release(void)
{
	begin();
	put_crash("a", 86400, "lab_read", "6.12.9");
	put_crash("b", 86400, "lab_write", "6.12.9");
	run(NULL);
	shows(ROW(1, "1970-01-02", "1970-01-02", "lab_read"), "of one kernel, no crash is new");
	shows("\n2 logs, 2 buckets, 0 without a crash\n", "the number of logs");
	end();
}

static void test_releases(void)
{
	char name[16], release[16];

	begin();
	for (int i = 1; i <= 10; i++) {
		snprintf(name, sizeof(name), "%02d", i);
		snprintf(release, sizeof(release), "6.%d.0", i < 10 ? i : 9);
		put_crash(name, 86400, "lab_read", release);
		if (i < 8)
			continue;
		run(NULL);
		shows("6.1.0, 6.2.0, 6.3.0, 6.4.0, 6.5.0, 6.6.0, 6.7.0, 6.8.0", "eight kernels");
		ok(strstr(got.out, i == 8   ? "6.8.0\n"
				   : i == 9 ? " and 1 more\n"
					    : " and 2 more\n"),
		   "%d logs", i);
	}
	end();
}

static void test_depth(void)
{
	char path[128];

	begin();
	put_crash("1/2/3/4/5/6/7/8/log", 86400, "lab_read", "6.12.9");
	put_crash("1/2/3/4/5/6/7/8/9/log", 86400, "lab_write", "6.12.9");
	put_crash(".hidden", 86400, "lab_write", "6.12.9");
	put_crash("1/.hidden/log", 86400, "lab_write", "6.12.9");
	snprintf(path, sizeof(path), "%s/link", place);
	ok(!symlink("1/2/3/4/5/6/7/8/log", path), "a link");
	run(NULL);
	shows("~/1/2/3/4/5/6/7/8/log; kernel", "the log of the deepest directory");
	shows("\n1 log, 1 bucket, 0 without a crash\n",
	      "none of a deeper one, and no hidden file or link");
	end();
}

static void test_quiet(void)
{
	static const char damaged[] = "\x1f\x8b\x08\0\0\0\0\0\0\3 no deflate";
	static const char noise[200] = "";

	begin();
	run(NULL);
	is_u64(got.status, EXIT_FAILED, "no log is a failure");
	ok(strstr(got.err, "nothing was read: there is no log") != NULL, "its reason");
	put_text("one", "[   10.000000] Linux version 6.1\n");
	put_text("two", "[   10.000000] Linux version 6.1\n");
	run(NULL);
	is_u64(got.status, EXIT_DONE, "logs without a crash");
	shows("\n2 logs, 0 buckets, 2 without a crash\n", "their number");
	is_str(got.err, "", "no complaint");
	put("noise", 86400, noise, sizeof(noise));
	run(NULL);
	is_u64(got.status, EXIT_INCOMPLETE, "a file that is no text");
	shows("\n3 logs, 0 buckets, 2 without a crash, 1 incomplete\n", "is counted apart");
	put("damaged", 86400, damaged, sizeof(damaged));
	run(NULL);
	is_u64(got.status, EXIT_FAILED, "a damaged file is a failure");
	shows("\n4 logs, 0 buckets, 2 without a crash, 1 unreadable, 1 incomplete\n",
	      "but the others are read");
	ok(strstr(got.err, "/damaged: it is compressed, and damaged") != NULL, "its reason");
	put_crash("crash", 86400, "lab_read", "6.12.9");
	run(NULL);
	is_u64(got.status, EXIT_FAILED, "also with a crash");
	shows("lab!lab_read", "which is shown");
	end();
	begin();
	put("noise", 86400, noise, sizeof(noise));
	run(NULL);
	is_u64(got.status, EXIT_FAILED, "only a file that is no text");
	end();
	run(NULL);
	is_u64(got.status, EXIT_FAILED, "a directory that does not exist");
	ok(strstr(got.err, ": No such file or directory") && strstr(got.err, "cannot read /tmp/"),
	   "its reason");
}

int main(void)
{
	test_buckets();
	test_one_release();
	test_releases();
	test_depth();
	test_quiet();
	return tap_done();
}
