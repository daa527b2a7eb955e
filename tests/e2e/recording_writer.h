/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions that write made-up records with faultscope's own recorder. */
#ifndef FS_TESTS_RECORDING_WRITER_H
#define FS_TESTS_RECORDING_WRITER_H

#include <stdio.h>
#include <stdlib.h>

#include "probe/recording.h"

static inline void put_record(struct recorder *rec, const struct record *h)
{
	if (!recorder_take(rec, h))
		return;
	fputs("cannot write the recording\n", stderr);
	exit(1);
}

#endif
