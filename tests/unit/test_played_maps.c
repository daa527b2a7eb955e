// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests how executable mappings are listed, by the ioctl of new kernels and from the text of older
 * ones. /proc/PID is a directory of this test; the ioctl answers from a table.
 */
#include "fakeroot.h"

#include <errno.h>
#include <linux/types.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "collect/symbols/exec_maps.h"
#include "tap.h"

/* A question of the ioctl PROCMAP_QUERY, as in uapi/linux/fs.h. */
struct question {
	__u64 size, flags, at, start, end, vma_flags, page_size, offset, inode;
	__u32 dev_major, dev_minor, name_size, build_id_size;
	__u64 name_at, build_id_at;
};

#define LINE_BYTES  65
#define LARGE_LINES 10000

#define EXECUTABLE  0x04
#define NEXT	    0x10
#define FILE_BACKED 0x20

static struct fakeroot root;
static int proc;

/* What the ioctl answers: mappings of a page each, and then an error. */
static struct {
	unsigned int left;
	int error;
	unsigned int asked;
	__u64 flags;   /* of the last question */
	bool in_order; /* each question goes on behind the last answer */
} asked;

static size_t read_most;	/* maximum number of bytes that read() returns; 0: all */
static unsigned int reads_left; /* number of reads before an error */
static int read_error;

int ioctl(int fd, unsigned long request, ...)
{
	static __u64 behind;
	struct question *q;
	va_list list;

	(void)fd;
	(void)request;
	va_start(list, request);
	q = va_arg(list, struct question *);
	va_end(list);
	if (!asked.asked++)
		behind = 0;
	asked.flags = q->flags;
	asked.in_order &= q->at == behind && q->size == sizeof(*q);
	if (!asked.left) {
		errno = asked.error;
		return -1;
	}
	asked.left--;
	q->start = asked.asked * 0x10000ULL;
	q->end = behind = q->start + 0x1000;
	q->offset = 0x2000;
	q->inode = 100 + asked.asked;
	q->dev_major = 8;
	q->dev_minor = 3;
	snprintf((char *)(unsigned long)q->name_at, q->name_size, "/lib/%u.so", asked.asked);
	return 0;
}

ssize_t read(int fd, void *ret, size_t size)
{
	if (read_error && !reads_left--) {
		errno = read_error;
		return -1;
	}
	return syscall(SYS_read, fd, ret, read_most && size > read_most ? read_most : size);
}

/* The function that read() calls where the compiler knows the size of a buffer. */
ssize_t __read_chk(int fd, void *ret, size_t size, size_t room);
ssize_t __read_chk(int fd, void *ret, size_t size, size_t room)
{
	if (size > room)
		abort();
	return read(fd, ret, size);
}

static struct {
	unsigned int n;
	struct exec_map last;
	char path[64];	      /* of the last one */
	unsigned int stop_at; /* number of the mapping at which the consumer stops; 0: none */
} seen;

static int each(void *ctx, const struct exec_map *m)
{
	(void)ctx;
	seen.n++;
	seen.last = *m;
	snprintf(seen.path, sizeof(seen.path), "%s", m->path);
	return seen.n == seen.stop_at ? 77 : 0;
}

static int list(enum exec_maps_of of, bool text_only, bool *cut)
{
	seen.n = 0;
	seen.path[0] = 0;
	return exec_maps_each(proc, of, text_only, each, NULL, cut);
}

static void answers(unsigned int n, int error)
{
	memset(&asked, 0, sizeof(asked));
	asked.left = n;
	asked.error = error;
	asked.in_order = true;
}

static void test_asking(void)
{
	bool cut = false;

	fake_file(&root, "maps", "%s", "1000-2000 r-xp 00000000 08:03 5 /text\n");
	answers(3, ENOENT);
	is_u64(list(EXEC_MAPS_FILES, false, &cut), 0, "mappings of a new kernel");
	is_u64(seen.n, 3, "all of them");
	ok(!cut, "none is left out");
	ok(asked.in_order, "each question goes on behind the last mapping");
	is_u64(asked.flags, EXECUTABLE | NEXT | FILE_BACKED, "only code of files is asked for");
	ok(seen.last.start == 0x30000 && seen.last.end == 0x31000, "the addresses of the last");
	ok(seen.last.offset == 0x2000 && seen.last.inode == 103, "its offset and its file");
	ok(seen.last.dev_major == 8 && seen.last.dev_minor == 3, "its device");
	is_str(seen.path, "/lib/3.so", "its path");
	answers(1, ENOENT);
	is_u64(list(EXEC_MAPS_ALL, false, &cut), 0, "all code");
	is_u64(asked.flags, EXECUTABLE | NEXT, "also code without a file");
	answers(0, ENOENT);
	is_u64(list(EXEC_MAPS_ALL, false, &cut), 0, "a process without mappings");
	is_u64(seen.n, 0, "has none");
	answers(5, ENOENT);
	seen.stop_at = 2;
	is_u64(list(EXEC_MAPS_ALL, false, &cut), 77, "the consumer stops");
	is_u64(asked.asked, 2, "nothing more is asked");
	seen.stop_at = 0;
}

static void test_asking_fails(void)
{
	bool cut = false;

	answers(2, ESRCH);
	ok(list(EXEC_MAPS_ALL, false, &cut) == -ESRCH, "the process ends meanwhile");
	answers(0, ENOTTY);
	is_u64(list(EXEC_MAPS_ALL, false, &cut), 0, "an older kernel");
	is_str(seen.path, "/text", "its text is read");
	answers(3, ENOENT);
	is_u64(list(EXEC_MAPS_ALL, true, &cut), 0, "only the text is wanted");
	ok(seen.n == 1 && !asked.asked, "nothing is asked");
	answers(EXEC_MAPS_ASKED - 1, ENOENT);
	is_u64(list(EXEC_MAPS_ALL, false, &cut), 0, "nearly as many as are listed");
	ok(!cut && seen.n == EXEC_MAPS_ASKED - 1, "none is left out");
	answers(EXEC_MAPS_ASKED + 1, ENOENT);
	is_u64(list(EXEC_MAPS_ALL, false, &cut), 0, "more than are listed");
	ok(cut && seen.n == EXEC_MAPS_ASKED, "some are left out, which is said");
}

static void test_lines(void)
{
	static const struct {
		const char *line;
		bool is_file, is_code; /* is listed among code of files, and all code */
		const char *path, *name;
	} rows[] = {
		{"1000-2000 r-xp 00000800 08:03 5    /a b", true, true, "/a b", "a file"},
		{"1000-2000 r-xp 00000800 08:03 5 /a (deleted)", true, true, "/a (deleted)",
		 "a file that was removed"},
		{"1000-2000 --xs 00000800 08:03 5 /a", true, true, "/a", "a shared mapping"},
		{"1000-2000 rw-p 00000800 08:03 5 /a", false, false, "", "data"},
		{"1000-2000 r-xp 00000800 08:03 5 [vdso]", false, true, "[vdso]", "the vDSO"},
		{"1000-2000 rwxp 00000800 08:03 5 ", false, true, "", "code without a file"},
		{"1000-1000 r-xp 00000800 08:03 5 /a", false, false, "", "an empty mapping"},
		{"2000-1000 r-xp 00000800 08:03 5 /a", false, false, "", "an end before its start"},
		{"1000 r-xp 00000800 08:03 5 /a", false, false, "", "no end"},
		{"1000-2000 r-xp 00000800 08:03", false, false, "", "a line that is cut off"},
		{"", false, false, "", "an empty line"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bool cut = false;

		fake_file(&root, "maps", "%s\n", rows[i].line);
		is_u64(list(EXEC_MAPS_FILES, true, &cut), 0, rows[i].name);
		is_u64(seen.n, rows[i].is_file, "code of a file");
		is_u64(list(EXEC_MAPS_ALL, true, &cut), 0, rows[i].name);
		is_u64(seen.n, rows[i].is_code, "code");
		is_str(seen.path, rows[i].path, "its path");
		ok(!seen.n || (seen.last.start == 0x1000 && seen.last.end == 0x2000 &&
			       seen.last.offset == 0x800 && seen.last.inode == 5 &&
			       seen.last.dev_major == 8 && seen.last.dev_minor == 3),
		   "its values");
		ok(!cut, "nothing is left out");
	}
}

/* The kernel returns the text in parts, which may end within a line. */
static void test_parts(void)
{
	static const size_t parts[] = {1, 7, 38, 39, 40, 0};
	bool cut = false;

	fake_file(&root, "maps", "%s",
		  "1000-2000 r-xp 00000000 08:03 5 /first\n"
		  "3000-4000 rw-p 00000000 08:03 5 /data\n"
		  "5000-6000 r-xp 00000000 08:03 5 /last\n7000-8000 r-xp 0 08:03 5 /cut");
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		read_most = parts[i];
		is_u64(list(EXEC_MAPS_FILES, true, &cut), 0, "text in parts");
		ok(seen.n == 2 && seen.last.start == 0x5000, "%zu bytes at once", parts[i]);
		is_str(seen.path, "/last", "the last whole line");
	}
	read_most = 39;
	seen.stop_at = 1;
	is_u64(list(EXEC_MAPS_FILES, true, &cut), 77, "the consumer stops");
	is_u64(seen.n, 1, "no other mapping is listed");
	seen.stop_at = 0;
	read_error = ESRCH;
	reads_left = 1;
	ok(list(EXEC_MAPS_FILES, true, &cut) == -ESRCH, "the process ends meanwhile");
	is_u64(seen.n, 1, "after the first mapping");
	read_error = 0;
	read_most = 0;
	ok(!cut, "nothing is said to be left out");
}

static void put_text(size_t bytes, bool lines)
{
	static const char line[] =
		"1000-2000 r-xp 00000000 08:03 5 /aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n";
	char path[256];
	FILE *f = fopen(fake_path(&root, "maps", path, sizeof(path)), "w");

	_Static_assert(sizeof(line) == LINE_BYTES + 1, "the length of a line");
	for (size_t at = 0; at < bytes; at++)
		putc(lines ? line[at % LINE_BYTES] : 'x', f);
	fclose(f);
}

static void test_large(void)
{
	bool cut = false;

	put_text(LARGE_LINES * LINE_BYTES, true);
	is_u64(list(EXEC_MAPS_FILES, true, &cut), 0, "a large text");
	ok(!cut && seen.n == LARGE_LINES, "all lines are listed");
	put_text(100000, false);
	ok(list(EXEC_MAPS_FILES, true, &cut) == -EBADMSG, "no line of maps is that long");
	ok(!cut && !seen.n, "no mapping");
}

static void test_missing(void)
{
	bool cut = false;

	fake_remove(&root, "maps");
	ok(list(EXEC_MAPS_FILES, true, &cut) == -ESRCH, "the process has ended");
	fake_link(&root, "maps", "maps");
	ok(list(EXEC_MAPS_FILES, true, &cut) == -ELOOP, "another error is given back");
	is_u64(seen.n, 0, "no mapping");
}

int main(void)
{
	root = fakeroot_make();
	proc = open(root.path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	test_asking();
	test_asking_fails();
	test_lines();
	test_parts();
	test_large();
	test_missing();
	close(proc);
	fakeroot_free(&root);
	return tap_done();
}
