// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "saying.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session.h"
#include "terminal.h"

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
	const char *name = o->output ? o->output : "standard output";
	FILE *f = b->failed ? NULL : o->output ? fopen(o->output, "we") : stdout;
	bool ok = f != NULL;

	if (ok && b->len)
		ok = fwrite(b->s, 1, b->len, f) == b->len;
	if (f && f != stdout)
		ok = !fclose(f) && ok;
	else if (f)
		ok = !fflush(f) && ok;
	if (ok)
		return 0;
	complain("cannot write to %s: %s", name, b->failed ? "too much text" : strerror(errno));
	return EXIT_FAILED;
}
