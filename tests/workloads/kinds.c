/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Causes a known number of page faults by each kind of access: read, write, exec, copy-on-write,
 * and access by the kernel.
 */
#include "common.h"

#if defined(__x86_64__)
static const unsigned char return_code[] = { 0xc3 };
#elif defined(__aarch64__)
static const unsigned char return_code[] = { 0xc0, 0x03, 0x5f, 0xd6 };
#else
#error "no return instruction known for this architecture"
#endif

/* Maps a page of code `count` times. The file has one page, so fault-around maps no others. */
static void map_code(void (**code)(void), long count)
{
	int fd = memfd_create("code", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, PAGE_BYTES) ||
	    write(fd, return_code, sizeof(return_code)) != sizeof(return_code))
		die("memfd of code");
	for (long i = 0; i < count; i++) {
		code[i] = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
		if (code[i] == MAP_FAILED)
			die("mmap of code, map %ld", i);
	}
	close(fd);
}

static void copy_to_pages(int fd, char *base, long pages)
{
	for (long i = 0; i < pages; i++)
		if (syscall(SYS_read, fd, base + i * PAGE_BYTES, PAGE_BYTES) != PAGE_BYTES)
			die("read /dev/zero");
}

static void run_code(void (**code)(void), long count)
{
	for (long i = 0; i < count; i++)
		code[i]();
}

int main(int argc, char **argv)
{
	long reads = 500, writes = 400, cows = 300, copies = 200, execs = 100;
	const struct opt opts[] = {
		{ "read", OPT_NUMBER, &reads },
		{ "write", OPT_NUMBER, &writes },
		{ "cow", OPT_NUMBER, &cows },
		{ "user-copy", OPT_NUMBER, &copies },
		{ "exec", OPT_NUMBER, &execs },
		{ 0 },
	};
	char *read_area, *write_area, *copy_area, zero[1];
	struct faults start, made;
	void (**code)(void);
	int fd;

	parse_args(argc, argv,
		   "[--read R] [--write W] [--cow C, at most R] [--user-copy K] [--exec X]", opts,
		   NULL, 0, 0);
	errno = 0;
	if (cows > reads)
		die("--cow writes to pages of --read, so it can be at most %ld", reads);
	read_area = map_pages(reads);
	write_area = map_pages(writes);
	copy_area = map_pages(copies);
	code = calloc(execs + 1, sizeof(*code));
	fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	if (!code || fd < 0 || syscall(SYS_read, fd, zero, 1) != 1)
		die("setup");
	map_code(code, execs);
	wait_for_go();

	faults_now(RUSAGE_THREAD);
	start = faults_now(RUSAGE_THREAD);
	read_pages(read_area, reads);
	write_pages(write_area, writes);
	write_pages(read_area, cows);
	copy_to_pages(fd, copy_area, copies);
	run_code(code, execs);
	made = faults_since(RUSAGE_THREAD, start);

	truth_open();
	truth_number("read", reads);
	truth_number("write", writes);
	truth_number("cow", cows);
	truth_number("user_copy", copies);
	truth_number("exec", execs);
	truth_faults(made);
	truth_close();
	return 0;
}
