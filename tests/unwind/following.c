// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Test program: checks that the mappings of processes are followed, with the BPF maps of
 * kernel_walk.bpf.c. It prints TAP. With PIDs, it prints how long reading their mappings takes.
 *
 * Usage: following OBJECT [PID...]
 */
#define _GNU_SOURCE
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <libelf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "large_elf.h"
#include "tap.h"
#include "unwind/unwinder.h"

#define MOST_AREAS	4096
#define LARGE_FUNCTIONS 262144
#define LARGE_PAGES	256 /* pages of 64 KiB */
#define LARGE_MS	15
#define LARGE_ROUNDS	12

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static struct bpf_object *load(const char *path)
{
	struct bpf_object *o = bpf_object__open_file(path, NULL);

	return o && !bpf_object__load(o) ? o : NULL;
}

static bool entry_of(const struct bpf_object *o, pid_t pid, struct fs_unwind_proc *ret)
{
	int fd = bpf_object__find_map_fd_by_name(o, "unwind_procs");

	return !bpf_map_lookup_elem(fd, &pid, ret);
}

/* Finds the mapping of a process that contains an address. */
static bool area_of(const struct bpf_object *o, pid_t pid, const void *at,
		    struct fs_unwind_area *ret)
{
	int fd = bpf_object__find_map_fd_by_name(o, "unwind_areas");
	struct fs_unwind_proc p;

	if (!entry_of(o, pid, &p) || p.areas > MOST_AREAS)
		return false;
	for (__u32 i = p.first; i < p.first + p.areas; i++)
		if (!bpf_map_lookup_elem(fd, &i, ret) && (unsigned long)at >= ret->start &&
		    (unsigned long)at < ret->end)
			return true;
	return false;
}

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

struct pieces {
	int n;
	double longest_ms; /* CPU time of the longest piece */
};

/* Works until there is no more work. */
static struct pieces work(struct unwinder *u)
{
	struct pieces p = {};
	int ms = 0;

	while (ms >= 0) {
		double began = cpu_ms(), took;

		ms = unwinder_work(u, UNWINDER_PIECE_NS);
		took = cpu_ms() - began;
		p.longest_ms = took > p.longest_ms ? took : p.longest_ms;
		p.n++;
		if (ms > 0)
			usleep(ms * 1000);
	}
	return p;
}

static struct pieces note(struct unwinder *u, pid_t pid)
{
	unwinder_note(u, &(struct process_key){.pid = pid});
	return work(u);
}

/* Waits for n sweeps, which are one second apart. A list is freed after two sweeps. */
static void wait_for_sweeps(struct unwinder *u, int n)
{
	for (int i = 0; i < n; i++) {
		usleep(1100 * 1000);
		work(u);
	}
}

static bool has_rows(const struct fs_unwind_area *a)
{
	return a->pages < FS_UNWIND_PAGES;
}

static void test_own(const struct bpf_object *o, struct unwinder *u)
{
	struct unwinder_figures before, after;
	struct fs_unwind_area a;
	void *jit, *lib;

	note(u, getpid());
	ok(area_of(o, getpid(), test_own, &a) && has_rows(&a), "our program has rows");
	ok(area_of(o, getpid(), dlsym(RTLD_DEFAULT, "malloc"), &a) && has_rows(&a),
	   "libc has rows");
	unwinder_figures(u, &before);
	note(u, getpid());
	unwinder_figures(u, &after);
	is_u64(after.tables, before.tables, "read again, no table is made anew");
	is_u64(after.processes, before.processes + 1, "it was read again");

	lib = dlopen("libm.so.6", RTLD_NOW);
	lib = lib && dlsym(lib, "cbrt") ? lib : dlopen("libz.so.1", RTLD_NOW);
	jit = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	note(u, getpid());
	ok(area_of(o, getpid(), jit, &a) && a.pages == FS_UNWIND_BY_CHAIN,
	   "code without a file goes by frame pointers");
	munmap(jit, 4096);
}

static pid_t start_program(char *const argv[])
{
	pid_t pid = fork();

	if (!pid) {
		execvp(argv[0], argv);
		_exit(1);
	}
	usleep(200 * 1000);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void test_sharing(const struct bpf_object *o, struct unwinder *u)
{
	struct unwinder_figures one, two, freed;
	pid_t a = start_program((char *[]){"perl", "-e", "sleep 60", NULL});
	pid_t b = start_program((char *[]){"perl", "-e", "sleep 60", NULL});
	struct fs_unwind_proc p;

	note(u, a);
	unwinder_figures(u, &one);
	note(u, b);
	unwinder_figures(u, &two);
	is_u64(two.tables, one.tables, "two processes of one program share its tables");
	is_u64(two.bytes, one.bytes, "and their memory");
	ok(entry_of(o, a, &p) && p.areas > 2, "a process has its mappings");
	end(a);
	wait_for_sweeps(u, 3);
	ok(!entry_of(o, a, &p), "one that ended has none");
	ok(entry_of(o, b, &p) && p.areas > 2, "the other still has");
	end(b);
	wait_for_sweeps(u, 3);
	unwinder_figures(u, &freed);
	ok(freed.freed == two.freed, "tables stay for a while");
}

static void test_gone(const struct bpf_object *o, struct unwinder *u)
{
	struct fs_unwind_proc p;
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	note(u, pid);
	ok(!entry_of(o, pid, &p), "a process that is gone gets no entry");
}

static void test_ceiling(const struct bpf_object *o)
{
	struct unwinder *u = unwinder_new(o);
	struct unwinder_figures f;
	struct fs_unwind_area a;

	unwinder_set_ceiling(u, 1);
	note(u, getpid());
	unwinder_figures(u, &f);
	ok(f.no_room > 2 && !f.bytes, "below a ceiling of 0 no table has room");
	ok(area_of(o, getpid(), test_own, &a) && a.pages == FS_UNWIND_FILE_NO_ROOM,
	   "and the area says so");
	unwinder_set_ceiling(u, 64 << 20);
	usleep(100 * 1000);
	note(u, getpid());
	ok(area_of(o, getpid(), test_own, &a) && has_rows(&a), "with more room it has one");
	unwinder_free(u);
}

/* Makes a file, and starts a process that maps its code. */
static pid_t start_mapper(const char *path, const struct large_elf *e, int *ret_fd)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	pid_t pid;

	*ret_fd = fd;
	if (fd < 0 || write(fd, e->bytes, e->size) != (ssize_t)e->size)
		return -1;
	pid = fork();
	if (!pid) {
		mmap(NULL, e->size - e->text, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, e->text);
		sleep(60);
		_exit(1);
	}
	usleep(100 * 1000);
	return pid;
}

/* Works until a table is in progress, which shows by rounds without an end. */
static bool begin_large(struct unwinder *u, pid_t pid)
{
	unwinder_note(u, &(struct process_key){.pid = pid});
	for (int i = 0; i < LARGE_ROUNDS; i++)
		if (unwinder_work(u, 1))
			return false;
	return true;
}

static bool large_has_rows(const struct bpf_object *o, pid_t pid, __u32 pages)
{
	int fd = bpf_object__find_map_fd_by_name(o, "unwind_areas");
	struct fs_unwind_area a;
	struct fs_unwind_proc p;

	if (!entry_of(o, pid, &p) || p.areas > MOST_AREAS)
		return false;
	for (__u32 i = p.first; i < p.first + p.areas; i++)
		if (!bpf_map_lookup_elem(fd, &i, &a) && has_rows(&a) && a.pages >= pages)
			return true;
	return false;
}

/* Tests that no piece of work for a large file is long. */
static void test_large(const struct bpf_object *o, struct unwinder *u, const char *path,
		       const struct large_elf *e)
{
	struct pieces p;
	int fd;
	pid_t pid = start_mapper(path, e, &fd);

	p = note(u, pid);
	printf("# a file of %zu KiB: %d pieces, the longest %.1f ms of CPU\n", e->size >> 10, p.n,
	       p.longest_ms);
	ok(p.n > 4 && p.longest_ms < LARGE_MS, "each piece takes less than %d ms", LARGE_MS);
	ok(large_has_rows(o, pid, LARGE_PAGES), "a large file has rows");
	end(pid);
	close(fd);
}

/* Tests that a table is made again if its file changes while it is made. */
static void test_changing(const struct bpf_object *o, struct unwinder *u, const char *path,
			  const struct large_elf *e)
{
	struct unwinder_figures before, after;
	int fd;
	pid_t pid = start_mapper(path, e, &fd);

	unwinder_figures(u, &before);
	ok(begin_large(u, pid), "a table is in progress");
	ok(pwrite(fd, e->bytes, LARGE_HEAD, 0) == LARGE_HEAD, "the file is written");
	work(u);
	ok(large_has_rows(o, pid, LARGE_PAGES), "a file that changed has rows");
	unwinder_figures(u, &after);
	is_u64(after.unreadable, before.unreadable, "it counts as readable");
	end(pid);
	pid = start_mapper(path, e, &fd);
	ok(begin_large(u, pid), "a table is in progress again");
	ok(!ftruncate(fd, LARGE_HEAD), "the file is cut");
	work(u);
	ok(large_has_rows(o, pid, LARGE_PAGES), "what is cut has rows of gaps");
	end(pid);
	close(fd);
}

/* Tests that a process may end while the table of its file is made. */
static void test_ending(const struct bpf_object *o, struct unwinder *u, const char *path,
			const struct large_elf *e)
{
	struct unwinder_figures before, after;
	int fd;
	pid_t pid = start_mapper(path, e, &fd), next;

	ok(begin_large(u, pid), "a table is in progress for a process that ends");
	end(pid);
	work(u);
	wait_for_sweeps(u, 2);
	ok(!large_has_rows(o, pid, LARGE_PAGES), "the process has no entry");
	unwinder_figures(u, &before);
	next = fork();
	if (!next) {
		mmap(NULL, e->size - e->text, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, e->text);
		sleep(60);
		_exit(1);
	}
	usleep(100 * 1000);
	note(u, next);
	unwinder_figures(u, &after);
	ok(large_has_rows(o, next, LARGE_PAGES), "the next process has the rows");
	is_u64(after.tables, before.tables, "from the table of the process that ended");
	end(next);
	close(fd);
}

static void test_large_files(const struct bpf_object *o, struct unwinder *u)
{
	struct large_elf e = large_elf_make(LARGE_FUNCTIONS, 0);
	char dir[] = "/tmp/following-XXXXXX", path[64];

	if (!ok(mkdtemp(dir) != NULL, "a directory"))
		return;
	snprintf(path, sizeof(path), "%s/large.so", dir);
	test_large(o, u, path, &e);
	test_changing(o, u, path, &e);
	test_ending(o, u, path, &e);
	unlink(path);
	rmdir(dir);
	free(e.bytes);
}

static void measure(struct unwinder *u, pid_t pid)
{
	struct unwinder_figures before, f;
	double began = seconds();
	struct pieces p;

	unwinder_figures(u, &before);
	p = note(u, pid);
	unwinder_figures(u, &f);
	printf("# %d: %llu tables in %.3f s, %d pieces, the longest %.1f ms (%.1f ms of CPU), %llu "
	       "KiB in all\n",
	       pid, f.tables - before.tables, seconds() - began, p.n, f.longest_piece_ns / 1e6,
	       p.longest_ms, f.bytes >> 10);
}

int main(int argc, char **argv)
{
	struct unwinder *u;
	struct bpf_object *o;

	elf_version(EV_CURRENT);
	if (argc < 2 || geteuid()) {
		printf("1..0 # SKIP needs root and an object\n");
		return argc < 2;
	}
	o = load(argv[1]);
	u = o ? unwinder_new(o) : NULL;
	if (!ok(u != NULL, "the kernel side has the maps"))
		return tap_done();
	for (int i = 2; i < argc; i++)
		measure(u, atoi(argv[i]));
	if (argc == 2) {
		test_own(o, u);
		test_sharing(o, u);
		test_gone(o, u);
		test_large_files(o, u);
	}
	unwinder_free(u);
	if (argc == 2)
		test_ceiling(o);
	bpf_object__close(o);
	return tap_done();
}
