// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "cli/messages.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/output_file.h"
#include "render/completeness.h"
#include "session/session.h"
#include "live/terminal.h"

#define WIDTH	    100
#define WIDTH_LEAST 40

void view_make(struct view *v, const struct options *o)
{
	const char *no_colour = getenv("NO_COLOR");
	int height = 0;

	setlocale(LC_CTYPE, "");
	v->unicode = !o->no_unicode && !strcmp(nl_langinfo(CODESET), "UTF-8");
	v->width = o->width;
	if (!v->width && !terminal_size(STDOUT_FILENO, &v->width, &height))
		v->width = WIDTH;
	if (v->width < WIDTH_LEAST)
		v->width = WIDTH;
	v->colour = o->colour == WHEN_ALWAYS || (o->colour == WHEN_AUTO && isatty(STDOUT_FILENO) &&
						 !o->output && !(no_colour && *no_colour));
}

int say_all(const struct options *o, const struct buf *b)
{
	int err = b->failed   ? -EFBIG
		  : o->output ? output_file_put(o->output, 0, b->s, b->len)
			      : io_write(STDOUT_FILENO, b->s, b->len);

	/* a reader that has enough is no failure */
	if (!err || err == -EPIPE)
		return 0;
	complain("cannot write %s: %s", o->output ? o->output : "the output",
		 b->failed ? "too much text" : output_file_error(err));
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
