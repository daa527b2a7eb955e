// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests how configuration files below a root are read: files of each type, links, sizes, and lists
 * of files in several directories.
 */
#include "fakeroot.h"

#include <errno.h>

#include "base/buf.h"
#include "collect/files/rooted_file.h"
#include "tap.h"

static struct fakeroot root;
static struct files files;

/* Returns the number of files that were not read since the last call. */
static uint32_t unread(void)
{
	uint32_t n = files.unread;

	files.unread = 0;
	return n;
}

static void reads(const char *path, const char *want)
{
	size_t len = 0;
	char *text = NULL;

	is_u64(file_read(&files, path, &text, &len), 0, path);
	is_str(text ? text : "nothing", want, "its text");
	is_u64(len, strlen(want), "its length");
	is_u64(unread(), 0, "it counts as read");
	free(text);
}

static void fails(const char *path, int err, uint32_t counted)
{
	char *text = "untouched";
	size_t len = 7;

	ok(file_read(&files, path, &text, &len) == err, "%s: %s", path, strerror(-err));
	ok(!strcmp(text, "untouched"), "no text");
	is_u64(unread(), counted, "whether it counts as not read");
}

static void test_types(void)
{
	char path[512];

	fake_file(&root, "etc/a.conf", "a\nb\n");
	fake_file(&root, "etc/none.conf", "%s", "");
	fake_link(&root, "etc/link", "a.conf");
	fake_link(&root, "etc/absolute", "/etc/a.conf");
	fake_link(&root, "etc/up", "../../../../etc/a.conf");
	fake_link(&root, "etc/loop", "loop");
	fake_link(&root, "etc/null", "/dev/null");
	fake_link(&root, "etc/dangling", "nowhere");
	mkfifo(fake_path(&root, "etc/fifo", path, sizeof(path)), 0600);
	reads("etc/a.conf", "a\nb\n");
	reads("/etc/a.conf", "a\nb\n");
	reads("etc/none.conf", "");
	reads("etc/link", "a\nb\n");
	reads("etc/absolute", "a\nb\n");
	reads("etc/up", "a\nb\n");
	fails("etc/fifo", -EINVAL, 1);
	fails("etc", -EINVAL, 1);
	fails("etc/loop", -ELOOP, 1);
	fails("etc/missing", -ENOENT, 0);
	fails("etc/dangling", -ENOENT, 0);
	fails("etc/null", -ENOENT, 0);
	fails("etc/a.conf/b", -ENOTDIR, 0);
	ok(file_exists(&files, "etc/a.conf") && file_exists(&files, "etc"), "what exists");
	ok(!file_exists(&files, "etc/missing") && !file_exists(&files, "etc/null"),
	   "what does not exist below the root");
}

/* Writes a file of some size. */
static void put_bytes(const char *path, size_t size)
{
	fake_file(&root, path, "%*s", (int)size, "");
}

static void test_sizes(void)
{
	size_t len = 0;
	char *text = NULL;

	put_bytes("etc/long", FILE_MOST_BYTES - 1);
	put_bytes("etc/longer", FILE_MOST_BYTES);
	is_u64(file_read(&files, "etc/long", &text, &len), 0, "the longest file");
	is_u64(len, FILE_MOST_BYTES - 1, "is read wholly");
	ok(text && text[len] == 0 && text[len - 1] == ' ', "and ends with NUL");
	free(text);
	fails("etc/longer", -EFBIG, 1);
}

static void is_number(const char *text, uint64_t want)
{
	uint64_t got = 0;

	fake_file(&root, "proc/sys/n", "%s", text);
	is_u64(file_number(&files, "proc/sys/n", &got), 0, "a number");
	is_u64(got, want, text);
}

static void test_numbers(void)
{
	uint64_t got = 7;

	is_number("65530\n", 65530);
	is_number("65530", 65530);
	is_number(" 12 \n", 12);
	is_number("max\n", LIMIT_NONE);
	fake_file(&root, "proc/sys/n", "1 2\n");
	ok(file_number(&files, "proc/sys/n", &got) == -EINVAL && got == 7, "two numbers are none");
	fake_file(&root, "proc/sys/n", "%s", "");
	ok(file_number(&files, "proc/sys/n", &got) == -EINVAL, "an empty file has none");
	ok(file_number(&files, "proc/sys/missing", &got) == -ENOENT, "a missing file");
}

static void add_text(void *ctx, const char *path, struct span text)
{
	buf_printf(ctx, "%s=%.*s;", path, (int)text.len, text.s);
}

/* Compares the files of a list, in order, and their texts. */
static void lists(const char *const *dirs, const char *want, const char *name)
{
	struct file_list l = {};
	struct buf got = {};

	for (; *dirs; dirs++)
		file_list_add_dir(&files, &l, *dirs);
	file_list_sort(&l);
	file_list_each(&files, &l, add_text, &got);
	is_str(got.s ? got.s : "", want, name);
	file_list_free(&l);
	ok(!l.n && !l.entry && !l.dir, "the list is empty again");
	buf_free(&got);
}

#define DIRS(...)                                                                                  \
	(const char *const[])                                                                      \
	{                                                                                          \
		__VA_ARGS__, NULL                                                                  \
	}

static void test_lists(void)
{
	struct buf one = {};
	char path[512];

	fake_file(&root, "one/20-b.conf", "1b");
	fake_file(&root, "one/10-a.conf", "1a");
	fake_file(&root, "one/readme", "no");
	fake_file(&root, "one/.conf", "no");
	fake_file(&root, "one/x.conf.bak", "no");
	fake_file(&root, "one/x.conf", "1x");
	fake_file(&root, "two/20-b.conf", "2b");
	fake_file(&root, "two/30-c.conf", "2c");
	fake_link(&root, "one/30-c.conf", "/dev/null");
	fake_file(&root, "two/40-d.conf", "2d");
	fake_link(&root, "one/40-d.conf", "nowhere");
	fake_link(&root, "one/50-e.conf", "10-a.conf");
	mkdir(fake_path(&root, "one/60-f.conf", path, sizeof(path)), 0755);
	fake_file(&root, "two/60-f.conf", "2f");
	lists(DIRS("one"), "one/10-a.conf=1a;one/20-b.conf=1b;one/50-e.conf=1a;one/x.conf=1x;",
	      "the files of a directory");
	lists(DIRS("one", "two"),
	      "one/10-a.conf=1a;one/20-b.conf=1b;two/40-d.conf=2d;one/50-e.conf=1a;"
	      "two/60-f.conf=2f;one/x.conf=1x;",
	      "an earlier directory hides names, also by a link to /dev/null");
	lists(DIRS("two", "one"),
	      "one/10-a.conf=1a;two/20-b.conf=2b;two/30-c.conf=2c;two/40-d.conf=2d;"
	      "one/50-e.conf=1a;two/60-f.conf=2f;one/x.conf=1x;",
	      "the other order");
	is_u64(unread(), 0, "all files were read");
	lists(DIRS("none", "one/readme"), "", "a missing directory, and a file");
	is_u64(unread(), 0, "which count as read");
	lists(DIRS("etc/loop"), "", "a directory that cannot be opened");
	is_u64(unread(), 1, "counts as not read");
	ok(file_each(&files, "one/x.conf", add_text, &one) && !strcmp(one.s, "one/x.conf=1x;"),
	   "a single file");
	buf_free(&one);
	ok(!file_each(&files, "one/missing.conf", add_text, NULL), "a missing one");
}

/* Writes the path of a file whose name has `len` characters, in the directory "names". */
static const char *long_name(char *to, size_t size, size_t len)
{
	snprintf(to, size, "names/%0*d.conf", (int)len - 5, 0);
	return to;
}

static void test_limits(void)
{
	char path[FILE_PATH_BYTES + 64];
	struct file_list l = {};

	fake_file(&root, long_name(path, sizeof(path), FILE_NAME_BYTES - 1), "x");
	file_list_add_dir(&files, &l, "names");
	ok(l.n == 1 && !unread(), "the longest name");
	fake_file(&root, long_name(path, sizeof(path), FILE_NAME_BYTES), "x");
	file_list_free(&l);
	file_list_add_dir(&files, &l, "names");
	ok(l.n == 1 && unread() == 1, "a longer one is not read");
	file_list_free(&l);

	for (unsigned int i = 0; i < FILES_MOST; i++) {
		snprintf(path, sizeof(path), "many/%03u.conf", i);
		fake_file(&root, path, "x");
	}
	file_list_add_dir(&files, &l, "many");
	ok(l.n == FILES_MOST && !unread(), "as many files as a list has");
	file_list_add_dir(&files, &l, "one");
	ok(l.n == FILES_MOST && unread() == 7, "those of a further directory are counted");
	file_list_free(&l);

	/* with "." and "..", the first directory has 4096 entries */
	for (unsigned int i = 0; i < 4094; i++) {
		snprintf(path, sizeof(path), "large/%u", i);
		fake_file(&root, path, "%s", "");
	}
	file_list_add_dir(&files, &l, "large");
	ok(!l.n && !unread(), "the largest directory");
	fake_file(&root, "large/more", "%s", "");
	file_list_add_dir(&files, &l, "large");
	ok(!l.n && unread() == 1, "a larger one is not read wholly");
	file_list_free(&l);

	for (int i = 0; i < FILE_DIRS_MOST; i++)
		file_list_add_dir(&files, &l, "names");
	ok(l.dirs == FILE_DIRS_MOST && unread() == FILE_DIRS_MOST,
	   "as many directories as a list has");
	file_list_add_dir(&files, &l, "two");
	ok(l.dirs == FILE_DIRS_MOST && l.n == 1 && unread() == 1, "a further one is not read");
	file_list_free(&l);

	memset(path, '/', sizeof(path));
	strcpy(path + FILE_PATH_BYTES - 1 - strlen("two"), "two");
	file_list_add_dir(&files, &l, path);
	ok(l.dirs == 1 && l.n == 4 && !unread(), "the longest path");
	file_list_free(&l);
	memset(path, '/', sizeof(path));
	strcpy(path + FILE_PATH_BYTES - strlen("two"), "two");
	file_list_add_dir(&files, &l, path);
	ok(!l.dirs && unread() == 1, "a longer one is not read");
	file_list_free(&l);
}

static void test_roots(void)
{
	struct files of = {};

	is_u64(file_root_of(&files, 1, &of), 0, "the root of a process");
	ok(of.foreign && file_exists(&of, "etc/a.conf"), "is a root with files");
	close(of.root);
	ok(file_root_of(&files, 2, &of) == -ENOENT, "a process that has ended");
}

int main(void)
{
	root = fakeroot_make();
	files.root = root.fd;
	test_types();
	test_sizes();
	test_numbers();
	test_lists();
	test_limits();
	test_roots();
	fakeroot_free(&root);
	return tap_done();
}
