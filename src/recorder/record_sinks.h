/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * recorder: puts each record wherever it may survive: one table of keepers, those in memory first,
 * so that a disk that hangs cannot keep a record from them; the kernel's log comes last, for who
 * writes there may be made to print what a dying CPU says. What a keeper fails at is counted.
 */
#ifndef FS_RECORDER_RECORD_SINKS_H
#define FS_RECORDER_RECORD_SINKS_H

#include "recorder/ring_file.h"

enum sink_id { SINK_MAP, SINK_MARKER, SINK_PMSG, SINK_FILE, SINK_KMSG, NR_SINKS };

#define SINK_LATER 16 /* records that wait for the log */

/* How one is asked for, and what it survives: for arm, status and the manual. */
struct sink_row {
	const char *name;
	const char *what;
	const char *survives;
};

extern const struct sink_row sink_rows[NR_SINKS];

int sink_find(const char *name); /* -1: none of that name */

struct sink_options {
	unsigned int record_sinks; /* bits of enum sink_id */
	const char *file;
	uint64_t file_bytes;
	const char *marker; /* path of the trace_marker of an instance; NULL: none */
	const char *pmsg, *kmsg;
	uint8_t *map; /* memory of RING_SLOT * map_slots bytes; NULL: none */
	uint64_t map_slots;
};

struct record_sink {
	bool on;
	int error; /* of the last failure, an errno; 0: none */
	int fd;	   /* -1: none of its own */
	uint64_t written, failed;
};

struct record_sinks {
	struct sink_options o;
	struct record_sink record_sink[NR_SINKS];
	struct ring_file ring;
	uint64_t sequence; /* of the last record */
	uint64_t map_at;
	struct bb_record later[SINK_LATER]; /* for the log, once the file has them */
	size_t nr_later;
	uint8_t boot_id[BB_BOOT_BYTES];
	uint32_t dropped[NR_BB_CLASSES];
};

/* Opens what is asked for; what cannot be opened is off, with its error. */
void sinks_open(struct record_sinks *r, const struct sink_options *o);

/* How many keepers are on. */
int sinks_on(const struct record_sinks *r);

/* Numbers and dates a record (its boot_ns stays where it has one), and writes it. */
void sinks_write(struct record_sinks *r, struct bb_record *record);

/* What was written reaches the disk, and then the log. */
void sinks_flush(struct record_sinks *r);

/* Says that we live, and tries again what was off. */
void sinks_beat(struct record_sinks *r, struct bb_record *record);

void sinks_close(struct record_sinks *r);

#endif
