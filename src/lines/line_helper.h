/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lines: a process that reads debug information with libdw. Debug information may be broken or
 * hostile, and reading it may take long: the process has no privileges, its memory and time are
 * limited, and nobody waits long for its answers.
 */
#ifndef FS_LINES_LINE_HELPER_H
#define FS_LINES_LINE_HELPER_H

#include <linux/types.h>

#include "lines/source_lines.h"

#define LINE_BUILD_ID_BYTES 20

struct line_question {
	__u64 address;
	__u32 serial; /* number of the file, never reused */
	/* bytes of the build ID; 0: none. It is needed to download debug information. */
	__u32 build_id_bytes;
	__u8 build_id[LINE_BUILD_ID_BYTES];
	__u32 has_lines; /* 1 if the file has debug information, else 0 */
};

struct line_answer {
	__u32 lacks_libdw; /* 1: libdw is not installed, or this program is static */
	__u32 n;	   /* number of frames; 0: not known */
	struct source_frame frame[SOURCE_FRAMES_MAX];
};

struct line_helper {
	int socket;
	int pid;
};

/*
 * Starts the process. `downloads`: the process may ask debuginfod servers for debug information.
 * Returns 0 or -errno.
 */
int line_helper_start(bool downloads, struct line_helper *ret);

/*
 * Asks about an address in the file `fd`, which stays open. Returns 0, -EAGAIN (too many open
 * questions), or another -errno if the process has ended.
 */
int line_helper_ask(const struct line_helper *h, const struct line_question *q, int fd);

/*
 * Gets the next answer. Answers have the order of the questions. Returns 0, -EAGAIN (no answer
 * yet), or another -errno if the process has ended.
 */
int line_helper_take(const struct line_helper *h, struct line_answer *ret);

/*
 * Returns the CPU time in ns that the process has used; 0: not known. While the CPU time grows, the
 * process makes progress, even if other programs keep it from the CPU most of the time.
 */
__u64 line_helper_cpu_ns(const struct line_helper *h);

void line_helper_stop(struct line_helper *h);

#endif
