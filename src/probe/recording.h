/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * probe: recordings. A file is a header (magic, format, byte order) and chunks of records packed
 * small (probe/record_packing.h): first the list of fields, then one for each look. What a crash or
 * a full disk cuts off is found by its chunk; all before it is whole, and so is what comes from the
 * next key chunk on. docs/design/recording-format.md describes each byte.
 */
#ifndef FS_PROBE_RECORDING_H
#define FS_PROBE_RECORDING_H

#include <stdbool.h>
#include <stddef.h>

#include "probe/source.h"

struct recorder;

/* Makes FILE; one that exists is kept, or with `force` until this one is published or closed.
 * -EEXIST, -errno with `error` set. */
int recorder_open(const char *path, bool force, struct recorder **ret, char *error, size_t size);

/*
 * The same; once it would be larger than `max_bytes` (0: no bound) it is ended whole, and
 * recorder_take() says -EOVERFLOW, once.
 */
int recorder_open_capped(const char *path, bool force, unsigned long long max_bytes,
			 struct recorder **ret, char *error, size_t size);

/* Written so far. */
unsigned long long recorder_bytes(const struct recorder *rec);

/* Returns whether no interval was written whole so far: after a failure nothing would be left. */
bool recorder_is_empty(const struct recorder *rec);

/* Appends a record. Returns 0, or -errno once after a failure (a full disk); later records are
 * dropped silently, and recorder_close() cuts the file back to its last whole interval. */
int recorder_take(struct recorder *rec, const struct record *h);

/* From now on the recording has its name, whatever becomes of it. Returns 0 or -errno. */
int recorder_publish(struct recorder *rec);

/* Flushes and closes, and gives the recording its name. Returns 0 or -errno: then the end of the
 * recording is missing, and all of it unless it was published. */
int recorder_close(struct recorder *rec);

/* Closes a recording that is not wanted. Its file is removed unless it was published. */
void recorder_discard(struct recorder *rec);

/* A source that reads a recording. -ENOENT, -EINVAL, -errno with `error` set. */
int replay_open(const char *path, struct source **ret, char *error, size_t size);

/* Of what was read so far of a source of replay_open(). */
struct replay_facts {
	unsigned int format;
	unsigned long long bytes; /* of the file; of these: */
	unsigned long long read_bytes;
	unsigned long long records, record_bytes;
	unsigned long long chunks, raw_bytes;		       /* of packed ones */
	unsigned long long damages, damage_offset, lost_bytes; /* the offset of the first */
	bool at_end;	     /* all records that can be read were read */
	bool ended;	     /* by a record that says so; else it was cut off, or goes on */
	unsigned int reason; /* then: END_* */
};

const struct replay_facts *replay_facts(const struct source *src);

#endif
