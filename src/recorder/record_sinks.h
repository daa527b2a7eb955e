/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * recorder: writes each record to every place that may survive a crash. Such a place is called a
 * sink. Sinks in memory are written first, so that a disk that hangs does not delay them. The
 * kernel log is written last, because its writer may have to print messages of other CPUs. Write
 * failures are counted for each sink.
 */
#ifndef FS_RECORDER_RECORD_SINKS_H
#define FS_RECORDER_RECORD_SINKS_H

#include "recorder/ring_file.h"

enum sink_id { SINK_MAP, SINK_MARKER, SINK_PMSG, SINK_FILE, SINK_KMSG, NR_SINKS };

#define SINK_LATER 16 /* maximum number of records that wait for the kernel log */

/* Texts of a sink: option name, description, and the failures that its records survive. */
struct sink_row {
	const char *name;
	const char *what;
	const char *survives;
};

extern const struct sink_row sink_rows[NR_SINKS];

int sink_find(const char *name); /* returns the sink with that name, or -1 */

struct sink_options {
	unsigned int record_sinks; /* sinks to use: bits of enum sink_id */
	const char *file;
	uint64_t file_bytes;
	const char *marker; /* path of the trace_marker of an instance; NULL: none */
	const char *pmsg, *kmsg;
	uint8_t *map; /* mapped memory of RING_SLOT * map_slots bytes for records; NULL: none */
	uint64_t map_slots;
};

struct record_sink {
	bool on;
	int error; /* errno of the last failure; 0: none */
	int fd;	   /* file descriptor of the sink; -1: the sink has none */
	uint64_t written, failed;
};

struct record_sinks {
	struct sink_options o;
	struct record_sink record_sink[NR_SINKS];
	struct ring_file ring;
	uint64_t sequence; /* sequence number of the last record */
	uint64_t map_at;
	/* records that are written to the kernel log after the ring file has them */
	struct bb_record later[SINK_LATER];
	size_t nr_later;
	uint8_t boot_id[BB_BOOT_BYTES];
	uint32_t dropped[NR_BB_CLASSES];
};

/*
 * Opens the sinks that the options request. A sink that cannot be opened is not used. Its member
 * `error` then contains the reason.
 */
void sinks_open(struct record_sinks *r, const struct sink_options *o);

/* Returns how many sinks are in use. */
int sinks_on(const struct record_sinks *r);

/*
 * Writes a record with the next sequence number and the current time. If boot_ns of the record is
 * already set, boot_ns is not changed.
 */
void sinks_write(struct record_sinks *r, struct bb_record *record);

/* Flushes written records to disk, then writes them to the kernel log. */
void sinks_flush(struct record_sinks *r);

/* Writes a heartbeat, and tries to reopen sinks that failed. */
void sinks_beat(struct record_sinks *r, struct bb_record *record);

void sinks_close(struct record_sinks *r);

#endif
