// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Decodes mouse events of the terminal, and finds what is at a place of the screen. The terminal
 * sends events in SGR mode (1006): ESC [ < BUTTON ; COLUMN ; LINE M, and m at the end in place of M
 * when a button is released.
 */
#include <stdlib.h>

#include "render/tui/tui_parts.h"

/* Parses a number that ends in `end`. Returns false if the text is different. */
static bool take_number(const char **at, char end, unsigned int *ret)
{
	char *stop;
	unsigned long n;

	if (**at < '0' || **at > '9')
		return false;
	n = strtoul(*at, &stop, 10);
	if (*stop != end || n > TUI_MOUSE_MAX)
		return false;
	*at = stop + 1;
	*ret = n;
	return true;
}

bool mouse_decode(const char *s, struct tui_mouse *ret)
{
	const char *at = s + 2;

	if (s[0] != '[' || s[1] != '<')
		return false;
	return take_number(&at, ';', &ret->button) && take_number(&at, ';', &ret->x) &&
	       take_number(&at, 'M', &ret->y) && !*at && ret->x && ret->y;
}

bool tui_tab_at(const struct tui *t, const struct view *v, unsigned int x, size_t *ret)
{
	unsigned int at = 1;

	for (size_t i = 0; i < nr_tui_tabs; i++) {
		char name[TUI_TAB_NAME];

		at += text_columns(tui_tab_name(v, i, name, sizeof(name))) + 2;
		if (x < at) {
			*ret = i;
			return true;
		}
	}
	return false;
}

int tui_column_at(const struct tui *t, const struct view *v, const struct columns *c,
		  unsigned int x)
{
	bool shown[COLUMNS_MAX + 1];
	unsigned int at = 1;

	tui_visible(t, v, c, shown);
	for (size_t i = 0; i < c->n; i++) {
		if (!shown[i])
			continue;
		at += c->c[i].width + 1;
		if (x < at || c->c[i].cell == CELL_NAME)
			return i;
	}
	return -1;
}
