/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * For workloads whose functions keep known amounts of memory. A function that keeps memory touches
 * it itself, so that the memory that it holds is known by construction. The number at the end of
 * its name is the number of MiB.
 */
#ifndef WORKLOADS_HOLD_H
#define WORKLOADS_HOLD_H

#include "common.h"

#define MIB (1UL << 20)
#define own __attribute__((noinline, noclone))

static bool huge;

static inline char *map(size_t bytes, int flags, int fd)
{
	char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);

	if (at == MAP_FAILED)
		die("mmap %zu bytes", bytes);
	madvise(at, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	return at;
}

static inline char *map_own(size_t bytes)
{
	return map(bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

static inline int file_of(const char *path, size_t bytes)
{
	static char block[1 << 20];
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

	for (size_t done = 0; done < bytes; done += sizeof(block))
		if (write(fd, block, sizeof(block)) != sizeof(block))
			die("write %s", path);
	return fd;
}

/*
 * Writes to each page, or reads each page. These are macros, so that the access is in the function
 * that uses them, even if it does nothing after it.
 */
#define touch_here(at, bytes)                                                                      \
	do {                                                                                       \
		volatile char *p__ = (at);                                                         \
		for (size_t i__ = 0; i__ < (bytes); i__ += PAGE_BYTES)                             \
			p__[i__] = 1;                                                              \
	} while (0)
#define read_here(at, bytes)                                                                       \
	do {                                                                                       \
		volatile const char *p__ = (at);                                                   \
		for (size_t i__ = 0; i__ < (bytes); i__ += PAGE_BYTES)                             \
			(void)p__[i__];                                                            \
	} while (0)

static inline void hold_begin(int argc, char **argv, const char *usage, const char **word)
{
	parse_args(argc, argv, usage, NULL, word, 0, 1);
	huge = *word && !strcmp(*word, "huge");
	if (!huge && prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0))
		die("prctl PR_SET_THP_DISABLE");
	wait_for_go();
}

/* Ends the truth line, whose values are JSON texts. */
static inline void hold_end(const char *truth)
{
	truth_open();
	printf(",\"holds\":{%s}", truth);
	truth_close();
}

#endif
