/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The terminal that text is redrawn on, and its restoration on every way out. */
#ifndef FS_LIVE_TERMINAL_H
#define FS_LIVE_TERMINAL_H

#include <stdbool.h>

#include "base/buf.h"

/* Whether fd is a terminal that can be redrawn: TERM is set and not "dumb". */
bool terminal_can_redraw(int fd);

/* Size; false where fd is no terminal. */
bool terminal_size(int fd, int *ret_width, int *ret_height);

/* Takes the screen of fd and, where `keys` is a terminal, reads single keys from it. From now on
 * exit(), a fatal signal and terminal_leave() restore both. */
void terminal_enter(int fd, int keys);
void terminal_leave(void);

/* Turns the text of a frame into what redraws it in place. */
void terminal_redraw(struct buf *to, const struct buf *frame);

#endif
