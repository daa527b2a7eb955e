/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * probe: recordings. A file is a header (magic, format, wire version, byte order), then frames:
 * length, CRC-32 of the payload, payload (one wire record). What a crash or a full disk cuts off
 * is found by its frame; all before it is whole.
 */
#ifndef FS_PROBE_RECORDING_H
#define FS_PROBE_RECORDING_H

#include <stdbool.h>
#include <stddef.h>

#include "probe/source.h"

struct recorder;

/* Makes FILE; one that exists is kept unless `force`. -EEXIST, -errno with `error` set. */
int recorder_open(const char *path, bool force, struct recorder **ret, char *error, size_t size);

/* Appends a record. After a failure (a full disk) the file is cut back to its last whole frame
 * and -errno is returned, once; later records are dropped silently. */
int recorder_take(struct recorder *rec, const struct fs_header *h);

/* Flushes and closes. 0 or -errno: then the end of the recording is missing. */
int recorder_close(struct recorder *rec);

/* A source that reads a recording. -ENOENT, -EINVAL, -errno with `error` set. */
int replay_open(const char *path, struct source **ret, char *error, size_t size);

#endif
