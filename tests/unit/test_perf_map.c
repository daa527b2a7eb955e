// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests a perf map of this process. It grows while it is read, as if a JIT compiler wrote it. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/symbols/perf_map.h"
#include "tap.h"

static char path[64];
static struct perf_map m = {.fd = -1};

static void put(int flags, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0600);

	ok(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text), "written");
	close(fd);
}

static void is_at(uint64_t ip, const char *name, uint64_t offset)
{
	char got[64] = "";
	__u64 at = 0;
	bool found = perf_map_find(&m, ip, got, sizeof(got), &at);

	ok(found == !!name && (!name || (!strcmp(got, name) && at == offset)),
	   "0x%" PRIx64 " is %s: %s+0x%llx", ip, name ? name : "nothing", got,
	   (unsigned long long)at);
}

static int open_own(void)
{
	int proc = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int err = perf_map_open(proc, &m);

	close(proc);
	return err;
}

static void test_places(void)
{
	put(O_TRUNC, "1000 10 first\n1010 20 second one\n3000 1 last\nno line\n5000 0 empty\n");
	ok(!open_own() && m.fd >= 0, "ours is opened");
	is_at(0x0fff, NULL, 0);
	is_at(0x1000, "first", 0);
	is_at(0x100f, "first", 15);
	is_at(0x1010, "second one", 0);
	is_at(0x102f, "second one", 31);
	is_at(0x1030, NULL, 0);
	is_at(0x3000, "last", 0);
	is_at(0x3001, NULL, 0);
	is_at(0x5000, NULL, 0);
}

static void test_growth(void)
{
	put(O_APPEND, "6000 10 half");
	is_at(0x6000, NULL, 0);
	put(O_APPEND, " a line\n1000 8 newer\n");
	is_at(0x6000, "half a line", 0);
	is_at(0x1000, "newer", 0);
	is_at(0x1007, "newer", 7);
	is_at(0x1010, "second one", 0);
	put(O_TRUNC, "7000 10 anew\n");
	is_at(0x7001, "anew", 1);
	is_at(0x1000, NULL, 0);
	is_at(0x6000, NULL, 0);
}

/* Tests more lines than are searched linearly, and a line that is longer than one read. */
static void test_many(void)
{
	size_t room = 200000, n = 0;
	char *text = calloc(1, room);

	if (!text)
		return;
	for (int i = 5000; i; i--)
		n += snprintf(text + n, room - n, "%x 10 code_%d\n", 0x100000 + i * 16, i);
	put(O_TRUNC, text);
	for (int i = 1; i <= 5000; i += 833) {
		char name[32];

		snprintf(name, sizeof(name), "code_%d", i);
		is_at(0x100000 + i * 16 + 15, name, 15);
	}
	is_at(0x100000 + 5001 * 16, NULL, 0);
	put(O_APPEND, "100010 10 last of all\n");
	is_at(0x100010, "last of all", 0);
	memset(text, 'x', 40000);
	strcpy(text + 40000, "\n200000 10 behind it\n");
	put(O_APPEND, text);
	is_at(0x200008, "behind it", 8);
	free(text);
}

static void test_refused(void)
{
	perf_map_close(&m);
	is_at(0x100010, NULL, 0);
	unlink(path);
	ok(open_own() == -ENOENT && m.fd == -1, "there is none");
	put(O_TRUNC, "1000 10 other\n");
	if (geteuid() == 0 && !chown(path, 4711, 4711))
		ok(open_own() == -EPERM && m.fd == -1, "another's is not read");
	unlink(path);
	ok(!mkfifo(path, 0600) && open_own() < 0, "nor what is no file");
}

int main(void)
{
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	unlink(path);
	test_places();
	test_growth();
	test_many();
	test_refused();
	unlink(path);
	return tap_done();
}
