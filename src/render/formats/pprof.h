/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* render: writes a profile in the format of pprof, for `report` and for the exporter. */
#ifndef FS_RENDER_FORMATS_PPROF_H
#define FS_RENDER_FORMATS_PPROF_H

#include "render/profile.h"

/*
 * Writes the message Profile of profile.proto, not compressed, with the measures whose bits
 * (1 << enum profile_measure) are set in `chosen`. Samples without a value of them are left out,
 * unless all measures are chosen.
 */
void pprof_write(struct buf *b, const struct story_view *s, const struct profile *p,
		 unsigned int chosen);

#endif
