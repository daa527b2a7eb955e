/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Chooses colour, Unicode and width for commands that print once. */
#ifndef FS_LIVE_TERMINAL_VIEW_H
#define FS_LIVE_TERMINAL_VIEW_H

#include "cli/options.h"

/* Sets colour and Unicode, from the options, the locale and NO_COLOR. */
void view_choose_style(struct view *v, const struct options *o, bool on_terminal);

/* Sets colour, Unicode and width for standard output. */
void view_make(struct view *v, const struct options *o);

#endif
