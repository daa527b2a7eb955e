/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Redraws text on a terminal, and restores the terminal whenever the program ends. */
#ifndef FS_LIVE_TERMINAL_H
#define FS_LIVE_TERMINAL_H

#include <stdbool.h>

#include "base/buf.h"

/* Returns whether fd is a terminal that can be redrawn: TERM is set and not "dumb". */
bool terminal_can_redraw(int fd);

/*
 * Gets the number of columns and rows of a terminal. Returns false if fd is no terminal or its size
 * is not known.
 */
bool terminal_size(int fd, int *ret_width, int *ret_height);

/*
 * Switches fd to the alternate screen and, if `keys` is a terminal, makes that terminal deliver
 * single keys. exit(), a fatal signal and terminal_leave() restore the screen and the keyboard
 * mode.
 */
void terminal_enter(int fd, int keys);
void terminal_leave(void);

/* Appends a frame with the escape sequences that redraw the frame in place. */
void terminal_redraw(struct buf *to, const struct buf *frame);

#endif
