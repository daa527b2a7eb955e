/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * render: results of the gates for people and for CI systems. A gate is a condition of --fail-on.
 */
#ifndef FS_RENDER_GATE_RESULTS_H
#define FS_RENDER_GATE_RESULTS_H

#include "render/render.h"

/* Writes one line per gate, such as "FAIL maps.peak>60% 62.6% 41,022 of 65,530 in worker[991]". */
void gates_text(struct buf *b, const struct view *v, bool only_failed);

/* Writes a JUnit file with a test case for each gate, and for each phase of `run --phases`. */
void gates_junit(struct buf *b, const struct view *v);

/* Writes GitHub annotations: an error per failed gate, and a warning per critical finding. */
void gates_github(struct buf *b, const struct view *v);

/* Appends a gate's value, such as "62.6%". */
void gate_value(struct buf *b, const struct gate *g);

/* Appends a gate's value, such as "62.6%: 41,022 of 65,530 in worker[991]". Escapes nothing. */
void gate_outcome(struct buf *b, const struct gate *g);

#endif
