// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Measures how long it takes to find the function names of user stacks. A child process maps the
 * given libraries. The benchmark names STACKS different stacks of FRAMES frames in their code. It
 * prints the time in seconds, and the peak of resident memory.
 *
 * usage: naming_bench STACKS FRAMES LIBRARY...
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <libelf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collect/symbols/user_files.h"

#define LIBRARIES_MAX 64

struct library {
	struct elf_headers h;
	__u64 offset, bytes; /* offset and size of the library's code in its file, in bytes */
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static int read_library(const char *path, struct library *ret)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = -1;

	if (fd >= 0 && !fstat(fd, &st)) {
		struct byte_source s = {.fd = fd, .bytes = st.st_size};

		err = elf_headers_read(&s, &ret->h);
	}
	for (unsigned int i = 0; !err && i < ret->h.nr_loads; i++) {
		if (!ret->h.load[i].executable)
			continue;
		ret->offset = ret->h.load[i].offset;
		ret->bytes = ret->h.load[i].bytes;
	}
	if (fd >= 0)
		close(fd);
	return err || !ret->bytes || !ret->h.build_id_bytes ? -1 : 0;
}

/*
 * Runs in the child process: maps all libraries as the dynamic loader does, writes a byte to
 * `done`, and waits.
 */
static void hold(char **paths, int n, int done)
{
	for (int i = 0; i < n; i++) {
		int fd = open(paths[i], O_RDONLY);
		struct stat st;

		if (fstat(fd, &st) ||
		    mmap(NULL, st.st_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
			_exit(1);
		close(fd);
	}
	if (write(done, "", 1) == 1)
		pause();
	_exit(0);
}

static pid_t start_child(char **paths, int n)
{
	pid_t child;
	int ends[2];
	char byte;

	if (pipe(ends))
		return -1;
	child = fork();
	if (!child)
		hold(paths, n, ends[1]);
	close(ends[1]);
	if (read(ends[0], &byte, 1) != 1)
		child = -1;
	close(ends[0]);
	return child;
}

static struct bpf_stack_build_id draw_frame(const struct library *l, int n)
{
	const struct library *of = &l[random() % n];
	struct bpf_stack_build_id frame = {.status = BPF_STACK_BUILD_ID_VALID};

	frame.offset = of->offset + ((unsigned long)random() << 8 ^ random()) % of->bytes;
	memcpy(frame.build_id, of->h.build_id, sizeof(frame.build_id));
	return frame;
}

/*
 * Returns VmHWM (peak resident memory) in KiB. ru_maxrss is not used, because it includes the
 * memory of the program that ran in this process before exec.
 */
static long peak_kib(void)
{
	FILE *f = fopen("/proc/self/status", "re");
	char line[128];
	long kib = -1;

	while (f && kib < 0 && fgets(line, sizeof(line), f))
		sscanf(line, "VmHWM: %ld", &kib);
	if (f)
		fclose(f);
	return kib;
}

static void measure(const struct process_key *of, const struct library *l, int n, long stacks,
		    long frames)
{
	struct user_symbols us;
	double start = now(), learned;
	long named = 0;

	if (user_symbols_open(&us) || user_symbols_learn(&us, of))
		exit(1);
	learned = now() - start;
	for (long i = 0; i < stacks * frames; i++) {
		struct bpf_stack_build_id frame = draw_frame(l, n);
		struct user_symbol s;

		user_symbols_resolve(&us, of, &frame, i % frames == 0, &s);
		named += s.name[0] != 0;
	}
	printf("{\"seconds\":%.4f,\"learn_seconds\":%.4f,", now() - start, learned);
	printf("\"peak_kib\":%ld,\"named\":%ld,\"frames\":%ld,\"tables_again\":%llu}\n", peak_kib(),
	       named, stacks * frames, us.lost.tables);
	user_symbols_close(&us);
}

int main(int argc, char **argv)
{
	static struct library l[LIBRARIES_MAX];
	struct process_key of = {};
	int n = argc - 3;

	if (n < 1 || n > LIBRARIES_MAX)
		return 2;
	elf_version(EV_CURRENT);
	for (int i = 0; i < n; i++) {
		if (read_library(argv[3 + i], &l[i])) {
			fprintf(stderr, "%s: no library with a build-id\n", argv[3 + i]);
			return 1;
		}
	}
	of.pid = start_child(argv + 3, n);
	if ((pid_t)of.pid < 0)
		return 1;
	measure(&of, l, n, atol(argv[1]), atol(argv[2]));
	kill(of.pid, SIGKILL);
	waitpid(of.pid, NULL, 0);
	return 0;
}
