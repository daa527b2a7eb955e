/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How a command that prints once renders: what the options and the terminal say. */
#ifndef FS_LIVE_TERMINAL_VIEW_H
#define FS_LIVE_TERMINAL_VIEW_H

#include "cli/options.h"

/* Sets colour and Unicode, from the options, the locale and NO_COLOR. */
void view_choose_style(struct view *v, const struct options *o, bool on_terminal);

/* Sets the same and the width, for what goes to standard output. */
void view_make(struct view *v, const struct options *o);

#endif
