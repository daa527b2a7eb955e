/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * probe: recordings. A file is a header (magic, format, byte order) and chunks of packed records
 * (probe/record_packing.h): first the list of fields, then one chunk for each scan. If a crash or a
 * full disk cuts a chunk off, all earlier chunks are readable, and later ones from the next key
 * chunk on. docs/design/recording-format.md describes each byte.
 */
#ifndef FS_PROBE_RECORDING_H
#define FS_PROBE_RECORDING_H

#include <stdbool.h>
#include <stddef.h>

#include "probe/source.h"

struct recorder;

/*
 * Creates a recording. An existing file is kept, or with `force` replaced when this one is
 * published or closed. Returns -EEXIST or -errno, with `error` set.
 */
int recorder_open(const char *path, bool force, struct recorder **ret, char *error, size_t size);

/*
 * As recorder_open(), with a maximum size (0: none). Before the recording would exceed it, it is
 * ended properly, and recorder_take() returns -EOVERFLOW once.
 */
int recorder_open_capped(const char *path, bool force, unsigned long long max_bytes,
			 struct recorder **ret, char *error, size_t size);

/* Returns the number of bytes in complete chunks so far. */
unsigned long long recorder_bytes(const struct recorder *rec);

/* Returns whether the recording has no complete interval, so that a failure would leave nothing. */
bool recorder_is_empty(const struct recorder *rec);

/* Appends a record. Returns 0, or -errno once after a failure (a full disk); later records are
 * dropped silently, and recorder_close() cuts the file back to its last whole interval. */
int recorder_take(struct recorder *rec, const struct record *h);

/* Gives the recording its name now, before it is complete. Returns 0 or -errno. */
int recorder_publish(struct recorder *rec);

/*
 * Flushes, closes and names the recording. Returns 0; or -errno: its end is missing, or all of it
 * unless it was published.
 */
int recorder_close(struct recorder *rec);

/* Closes an unwanted recording. Its file is removed unless it was published. */
void recorder_discard(struct recorder *rec);

/* Opens a recording as a source. Returns 0; or -ENOENT, -EINVAL, -errno with `error` set. */
int replay_open(const char *path, struct source **ret, char *error, size_t size);

/*
 * Facts about the part of a recording that was read so far. raw_bytes: bytes of its chunks before
 * deflation. damage_offset: offset of its first damage.
 */
struct replay_facts {
	unsigned int format;
	unsigned long long bytes; /* size of the file in bytes */
	unsigned long long read_bytes;
	unsigned long long records, record_bytes;
	unsigned long long chunks, raw_bytes;
	unsigned long long damages, damage_offset, lost_bytes;
	bool at_end;	     /* every record was read */
	bool ended;	     /* the last record says that the recording is complete */
	unsigned int reason; /* END_* code, if `ended` */
};

const struct replay_facts *replay_facts(const struct source *src);

#endif
