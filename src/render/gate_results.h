/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* render: what became of the gates of --fail-on, for people and for continuous integration. */
#ifndef FS_RENDER_GATE_RESULTS_H
#define FS_RENDER_GATE_RESULTS_H

#include "render/render.h"

/* "FAIL maps.peak>60%   62.6%   41,022 of 65,530 in worker[991]", one a line. */
void gates_text(struct buf *b, const struct view *v, bool only_failed);

/* A JUnit file: a test case each. */
void gates_junit(struct buf *b, const struct view *v);

/* Annotations of GitHub's runner: errors for gates, warnings for critical findings. */
void gates_github(struct buf *b, const struct view *v);

/* "62.6%: 41,022 of 65,530 in worker[991]", hostile bytes and all. */
void gate_outcome(struct buf *b, const struct gate *g);

#endif
