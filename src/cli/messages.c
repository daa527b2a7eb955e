// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/messages.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/output_file.h"
#include "render/completeness.h"

void complain(const char *format, ...)
{
	va_list ap;

	fputs("faultscope: ", stderr);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
}

int say_all(const struct options *o, const struct buf *b)
{
	int err = b->failed   ? -EFBIG
		  : o->output ? output_file_put(o->output, 0, b->s, b->len)
			      : io_write(STDOUT_FILENO, b->s, b->len);

	/* EPIPE is no failure: the reader has closed the pipe */
	if (!err || err == -EPIPE)
		return 0;
	complain("cannot write %s: %s", o->output ? o->output : "the output",
		 b->failed ? "too much text" : output_file_error(err));
	return EXIT_FAILED;
}

int fail_of_gaps(const struct buf *gaps)
{
	struct buf joined = {};

	gaps_join(&joined, gaps);
	complain("%s", joined.s ? joined.s : "out of memory");
	buf_free(&joined);
	return EXIT_FAILED;
}

int status_of_gaps(int status, const struct buf *gaps)
{
	struct buf joined = {};

	if (status || !has_gaps(gaps))
		return status;
	gaps_join(&joined, gaps);
	complain("incomplete: %s", joined.s ? joined.s : "out of memory");
	buf_free(&joined);
	return EXIT_INCOMPLETE;
}
