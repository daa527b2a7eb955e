// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "live/terminal_view.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live/terminal.h"

#define WIDTH	    100
#define WIDTH_LEAST 40

void view_choose_style(struct view *v, const struct options *o, bool on_terminal)
{
	const char *no_colour = getenv("NO_COLOR");

	setlocale(LC_CTYPE, "");
	v->unicode = !o->no_unicode && !strcmp(nl_langinfo(CODESET), "UTF-8");
	v->colour = o->colour == WHEN_ALWAYS ||
		    (o->colour == WHEN_AUTO && on_terminal && !(no_colour && *no_colour));
}

void view_make(struct view *v, const struct options *o)
{
	int height = 0;

	view_choose_style(v, o, isatty(STDOUT_FILENO) && !o->output);
	v->width = o->width;
	if (!v->width && !terminal_size(STDOUT_FILENO, &v->width, &height))
		v->width = WIDTH;
	if (v->width < WIDTH_LEAST)
		v->width = WIDTH;
}
