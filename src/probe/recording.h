/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * probe: recordings. A file is a header (magic, format, byte order) and chunks of packed records
 * (probe/record_packing.h): the list of fields, then one chunk for each scan. If a crash or a full
 * disk cuts a chunk off, all earlier chunks stay readable. If a chunk in the middle is damaged,
 * reading continues at the next key chunk. docs/design/recording-format.md describes each byte.
 */
#ifndef FS_PROBE_RECORDING_H
#define FS_PROBE_RECORDING_H

#include <stdbool.h>
#include <stddef.h>

#include "probe/source.h"

struct recorder;

#define RECORDING_HEADER_BYTES 16

/* Writes the first bytes of a recording, which precede its first chunk. */
void recording_header(unsigned char ret[RECORDING_HEADER_BYTES]);

/*
 * Creates a recording. Without `force`, an existing file is an error (-EEXIST). With `force`, an
 * existing file is replaced when the new recording is published or closed. Returns 0, or -EEXIST or
 * another -errno with `error` set.
 */
int recorder_open(const char *path, bool force, struct recorder **ret, char *error, size_t size);

/*
 * Creates a recording of at most max_bytes (0: no maximum), as recorder_open() does. Before a
 * record would exceed the maximum, the recording is ended properly, and recorder_take() returns
 * -EOVERFLOW once.
 */
int recorder_open_capped(const char *path, bool force, unsigned long long max_bytes,
			 struct recorder **ret, char *error, size_t size);

/* Returns the size of all complete chunks so far, in bytes. */
unsigned long long recorder_bytes(const struct recorder *rec);

/*
 * Returns whether the recording has no complete scan interval. If recording failed now, no file
 * would be left.
 */
bool recorder_is_empty(const struct recorder *rec);

/*
 * Appends a record. Returns 0, or -errno once after a failure (a full disk). After a failure,
 * records are dropped silently, and recorder_close() truncates the file to its last complete
 * interval.
 */
int recorder_take(struct recorder *rec, const struct record *h);

/* Renames the recording to its final name before it is complete. Returns 0 or -errno. */
int recorder_publish(struct recorder *rec);

/*
 * Flushes and closes the recording, and gives the file its final name. Returns 0 or -errno. On
 * error, a recording that was published lacks its end, and a recording that was not published is
 * lost.
 */
int recorder_close(struct recorder *rec);

/* Closes an unwanted recording, and removes its file unless it was published. */
void recorder_discard(struct recorder *rec);

/*
 * Opens a recording as a source. Returns 0, or -ENOENT, -EINVAL or another -errno with `error` set.
 */
int replay_open(const char *path, struct source **ret, char *error, size_t size);

/*
 * Facts about the part of a recording that was read so far. raw_bytes: bytes of the chunks before
 * deflation. damage_offset: file offset of the first damaged part.
 */
struct replay_facts {
	unsigned int format;
	unsigned long long bytes; /* size of the file in bytes */
	unsigned long long read_bytes;
	unsigned long long records, record_bytes;
	unsigned long long chunks, raw_bytes;
	unsigned long long damages, damage_offset, lost_bytes;
	bool at_end;	     /* all records were read */
	bool ended;	     /* the last record says that the recording is complete */
	unsigned int reason; /* END_* code, if `ended` */
};

const struct replay_facts *replay_facts(const struct source *src);

/*
 * Returns the time of the last record of a recording (CLOCK_MONOTONIC), up to the first damage.
 * Reads only the headers of its chunks, and does not move the source. Returns 0 if no chunk is
 * whole.
 */
__u64 replay_last_ns(const struct source *src);

#endif
