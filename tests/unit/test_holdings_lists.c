// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests how mappings and open fds are grouped, for any text of /proc/PID/maps and any targets of
 * /proc/PID/fd. fopen() and opendir() are replaced by functions that open files of the test.
 */
#include "fakeroot.h"

#include <dirent.h>
#include <errno.h>

#include "collect/holdings_reader.h"
#include "model/holdings.h"
#include "tap.h"

#define PID 4711

static const struct process_key of = {.pid = PID, .start_ns = 1};
static const char *maps, *tcp; /* texts of the files; NULL: the file is not there */
static const char *fds;	       /* the directory that is opened as /proc/PID/fd */
static struct holding_record got[HOLDINGS_TOLD];
static size_t n, sockets_opened;

FILE *fopen(const char *path, const char *mode)
{
	const char *text = NULL;
	int fd;

	if (strstr(path, "/maps")) {
		text = maps;
	} else if (strstr(path, "/net/")) {
		sockets_opened++;
		text = strcmp(strrchr(path, '/'), "/tcp") ? NULL : tcp;
	} else {
		fd = open(path, *mode == 'w' ? O_WRONLY | O_CREAT | O_TRUNC : O_RDONLY, 0600);
		return fd < 0 ? NULL : fdopen(fd, *mode == 'w' ? "w" : "r");
	}
	errno = ENOENT;
	return text ? fmemopen((void *)text, strlen(text), "r") : NULL;
}

DIR *opendir(const char *path)
{
	int fd = open(strstr(path, "/fd") ? fds : path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? NULL : fdopendir(fd);
}

static int take(void *ctx, const struct record *h)
{
	if (n == HOLDINGS_TOLD)
		abort();
	got[n++] = *(const struct holding_record *)h;
	return 0;
}

static int read_all(enum what what)
{
	static const struct sink sink = {.take = take};

	n = sockets_opened = 0;
	return holdings_read(PID, &of, what, &sink);
}

static void test_kinds_of_maps(void)
{
	static const struct {
		const char *rights, *name;
		enum holding_kind kind;
	} rows[] = {
		{"rw-p", "[heap]", HOLDING_HEAP},
		{"rw-p", "[stack]", HOLDING_STACK},
		{"rw-p", "[stack:7]", HOLDING_STACK},
		{"rw-s", "[anon_shmem:x]", HOLDING_SHARED_MEMORY},
		{"r-xp", "[vdso]", HOLDING_SPECIAL},
		{"rw-p", "[heap", HOLDING_SPECIAL},
		{"rw-s", "/dev/shm/a", HOLDING_SHARED_MEMORY},
		{"rw-s", "/memfd:a (deleted)", HOLDING_SHARED_MEMORY},
		{"rw-s", "/SYSV00000000 (deleted)", HOLDING_SHARED_MEMORY},
		{"rw-s", "/dev/zero (deleted)", HOLDING_SHARED_MEMORY},
		{"rw-s", "/dev/zero", HOLDING_FILE_SHARED},
		{"rw-s", "/home/dev/shm/a", HOLDING_FILE_SHARED},
		{"rw-p", "/usr/lib/a.so", HOLDING_FILE_PRIVATE},
		{"s--p", "/usr/lib/a.so", HOLDING_FILE_PRIVATE},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ok(holding_kind_of_map(rows[i].rights, rows[i].name) == rows[i].kind, "%s %s",
		   rows[i].rights, rows[i].name);
}

/* Checks the group with an index. */
static void group_is(size_t i, uint32_t kind, const char *name, uint64_t count, uint64_t bytes,
		     uint32_t names)
{
	const struct holding *g = &got[i].g;

	ok(i < n && g->kind == kind && !strcmp(g->name, name) && g->count == count &&
		   g->bytes == bytes && g->names == names && got[i].nth == i,
	   "group %zu: %s, kind %u, %llu times, %llu bytes, names %u", i, name, kind,
	   (unsigned long long)count, (unsigned long long)bytes, names);
	ok(i < n && g->subject.pid == PID && g->subject.start_ns == 1, "of the process");
}

static void test_maps(void)
{
	maps = "1000-3000 rw-p 00000000 00:00 0 \n"
	       "3000-5000 rw-p 00000000 00:00 0\n"
	       "5000-9000 rw-p 00000000 00:00 0    [anon:arena]\n"
	       "9000-a000 ---p 00000000 00:00 0 \n"
	       "a000-b000 r--p 00000000 08:01 7    /a file\n"
	       "b000-c000 r--p 00000000 08:01 7    /a file\n"
	       "c000-c000 r--p 00000000 08:01 8    /empty\n"
	       "d000-c000 r--p 00000000 08:01 8    /backwards\n"
	       "d000-e000 r--p 00000000\n"
	       "no mapping\n"
	       "e000-f000 rw-s 00000000 08:01 9    /pool-1001\n"
	       "f000-10000 rw-s 00000000 08:01 9   /pool-1002\n"
	       "10000-14000 rw-p 00000000 08:01 9  /pool-1001";
	is_u64(read_all(WHAT_MAPS), 0, "mappings");
	is_u64(n, 6, "valid lines are grouped");
	group_is(0, HOLDING_ANONYMOUS, "rw-p", 3, 0x8000, 2);
	group_is(1, HOLDING_FILE_PRIVATE, "/a file", 2, 0x2000, 1);
	group_is(2, HOLDING_FILE_SHARED, "/pool-#", 2, 0x2000, 2);
	group_is(3, HOLDING_GUARD, "---p 4 KiB", 1, 0x1000, 1);
	group_is(4, HOLDING_FILE_PRIVATE, "/empty", 1, 0, 1);
	group_is(5, HOLDING_FILE_PRIVATE, "/pool-1001", 1, 0x4000, 1);
	for (size_t i = 0; i < n; i++)
		ok(got[i].g.what == WHAT_MAPS && !got[i].g.cut, "they are all");
	maps = "";
	ok(read_all(WHAT_MAPS) == -ESRCH, "a process that is gone has no mappings");
	maps = NULL;
	ok(read_all(WHAT_MAPS) == -ESRCH, "or no file");
}

/* More groups than there is room for. Each has a name without digits, so that it is a group. */
static void test_many(void)
{
	static char text[2100 * 64];

	for (int most = 2047; most <= 2049; most++) {
		size_t len = 0;

		for (int i = 0; i < most; i++)
			len += snprintf(text + len, sizeof(text) - len,
					"1000-2000 r--p 0 08:01 7 /%c%c%c\n", 'a' + i % 16,
					'a' + i / 16 % 16, 'a' + i / 256);
		/* the last group twice, so that it is told first if there was room */
		snprintf(text + len, sizeof(text) - len, "1000-2000 r--p 0 08:01 7 /%c%c%c\n",
			 'a' + (most - 1) % 16, 'a' + (most - 1) / 16 % 16, 'a' + (most - 1) / 256);
		maps = text;
		is_u64(read_all(WHAT_MAPS), 0, "many mappings");
		is_u64(n, HOLDINGS_TOLD, "the most frequent groups are told");
		is_u64(got[0].g.count, most <= 2048 ? 2 : 1, "of up to 2,048 groups");
		ok(got[0].g.cut && got[n - 1].g.cut, "the list is marked as cut");
	}
}

static void test_fds(struct fakeroot *r)
{
	static const struct {
		const char *fd, *target;
		uint32_t kind;
		const char *name;
	} rows[] = {
		{"3", "/dev/shm/a", HOLDING_SHARED_MEMORY, "/dev/shm/a"},
		{"4", "/dev/null", HOLDING_DEVICE, "/dev/null"},
		{"5", "/srv/a", HOLDING_FILE, "/srv/a"},
		{"6", "/memfd:a (deleted)", HOLDING_MEMFD, "/memfd:a (deleted)"},
		{"7", "/dmabuf:x", HOLDING_ANON_INODE, "/dmabuf:x"},
		{"8", "anon_inode:[eventpoll]", HOLDING_ANON_INODE, "anon_inode:[eventpoll]"},
		{"9", "pipe:[123]", HOLDING_PIPE, "pipe"},
		{"10", "pipe:x", HOLDING_PIPE, "pipe:x"},
		{"11", "mnt:[4026531841]", HOLDING_OTHER, "mnt:[4026531841]"},
		{"12", "socket:[77]", HOLDING_SOCKET, "tcp LISTEN on port 8080"},
		{"13", "socket:[78]", HOLDING_SOCKET, "socket"},
		{"14", "socket:", HOLDING_OTHER, "socket:"},
	};
	const size_t many = sizeof(rows) / sizeof(rows[0]);
	static char dir[128];
	char path[64];

	tcp = "  sl  local_address rem_address\n"
	      "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 77 "
	      "1\n";
	for (size_t i = 0; i < many; i++) {
		snprintf(path, sizeof(path), "proc/%d/fd/%s", PID, rows[i].fd);
		fake_link(r, path, rows[i].target);
	}
	snprintf(dir, sizeof(dir), "%s/proc/%d/fd", r->path, PID);
	fds = dir;
	is_u64(read_all(WHAT_FDS), 0, "descriptors");
	is_u64(n, many, "each is a group");
	for (size_t i = 0; i < many; i++) {
		size_t found = 0;

		for (size_t k = 0; k < n; k++)
			found += got[k].g.kind == rows[i].kind && got[k].g.count == 1 &&
				 !got[k].g.bytes && !strcmp(got[k].g.name, rows[i].name);
		is_u64(found, 1, rows[i].target);
	}
	ok(got[0].g.what == WHAT_FDS && !got[0].g.cut, "they are all");
	is_u64(sockets_opened, 6, "the tables of sockets are read once");
	for (size_t i = 0; i < many; i++) {
		snprintf(path, sizeof(path), "proc/%d/fd/%s", PID, rows[i].fd);
		if (strstr(rows[i].target, "socket:["))
			fake_remove(r, path);
	}
	read_all(WHAT_FDS);
	is_u64(n, many - 2, "without sockets");
	is_u64(sockets_opened, 0, "no table of sockets is read");
	fds = "/nonexistent";
	ok(read_all(WHAT_FDS) == -ESRCH, "a process that is gone");
}

int main(void)
{
	struct fakeroot r = fakeroot_make();

	test_kinds_of_maps();
	test_maps();
	test_many();
	test_fds(&r);
	fakeroot_free(&r);
	return tap_done();
}
