// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "recorder/record_sinks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BOOT_ID "/proc/sys/kernel/random/boot_id"

const struct sink_row sink_rows[NR_SINKS] = {
	[SINK_MAP] = {"map", "a BPF map, marked so that it is found in a dump of memory",
		      "a panic with kdump (vmcore)"},
	[SINK_MARKER] = {"instance", "a trace instance in memory that a warm reboot leaves alone",
			 "a panic and a warm reboot (6.12 and later)"},
	[SINK_PMSG] = {"pmsg", "/dev/pmsg0, memory that pstore keeps", "a panic and a warm reboot"},
	[SINK_KMSG] = {"kmsg", "lines in the kernel's own log, of warning and above",
		       "whatever keeps the log: pstore, a serial line, netconsole, vmcore-dmesg"},
	[SINK_FILE] = {"file", "a file of fixed size, each record synced to the disk",
		       "everything, up to the last record that was synced"},
};

int sink_find(const char *name)
{
	for (int i = 0; i < NR_SINKS; i++)
		if (!strcmp(sink_rows[i].name, name))
			return i;
	return -1;
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void read_boot_id(uint8_t ret[BB_BOOT_BYTES])
{
	FILE *f = fopen(BOOT_ID, "re");
	char line[64];

	if (f && fgets(line, sizeof(line), f))
		bb_boot_id(line, ret);
	if (f)
		fclose(f);
}

static const char *path_of(const struct sink_options *o, int id)
{
	switch (id) {
	case SINK_MARKER:
		return o->marker;
	case SINK_PMSG:
		return o->pmsg;
	case SINK_KMSG:
		return o->kmsg;
	default:
		return NULL;
	}
}

static int sink_open(struct record_sinks *r, int id)
{
	struct record_sink *k = &r->record_sink[id];
	const char *path = path_of(&r->o, id);

	if (id == SINK_MAP)
		return r->o.map ? 0 : -ENOENT;
	if (id == SINK_FILE)
		return r->o.file ? ring_file_open(&r->ring, r->o.file, r->o.file_bytes) : -ENOENT;
	k->fd = path ? open(path, O_WRONLY | O_CLOEXEC) : -1;
	return k->fd < 0 ? (path ? -errno : -ENOENT) : 0;
}

static void open_missing(struct record_sinks *r)
{
	for (int i = 0; i < NR_SINKS; i++) {
		struct record_sink *k = &r->record_sink[i];
		int err;

		if (k->on || !(r->o.record_sinks >> i & 1))
			continue;
		err = sink_open(r, i);
		k->on = !err;
		if (err)
			k->error = -err;
		if (!err && i == SINK_FILE && r->ring.sequence > r->sequence)
			r->sequence = r->ring.sequence;
	}
}

void sinks_open(struct record_sinks *r, const struct sink_options *o)
{
	memset(r, 0, sizeof(*r));
	r->o = *o;
	r->ring.fd = -1;
	for (int i = 0; i < NR_SINKS; i++)
		r->record_sink[i].fd = -1;
	read_boot_id(r->boot_id);
	open_missing(r);
}

int sinks_on(const struct record_sinks *r)
{
	int n = 0;

	for (int i = 0; i < NR_SINKS; i++)
		n += r->record_sink[i].on;
	return n;
}

static int put(int fd, const void *data, size_t size)
{
	ssize_t n;

	do
		n = write(fd, data, size);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

static int put_line(int fd, const char *before, const struct bb_record *record)
{
	char line[BB_LINE_MAX + 8];
	size_t n = snprintf(line, sizeof(line), "%s", before);

	n += bb_encode_line(record, line + n);
	line[n++] = '\n';
	return put(fd, line, n);
}

static int put_map(struct record_sinks *r, const struct bb_record *record)
{
	bb_encode(record, r->o.map + r->map_at++ % r->o.map_slots * RING_SLOT);
	return 0;
}

static int put_pmsg(int fd, const struct bb_record *record)
{
	uint8_t bytes[BB_RECORD_MAX];
	size_t n = bb_encode(record, bytes);

	return put(fd, bytes, n);
}

static int sink_write(struct record_sinks *r, int id, const struct bb_record *record)
{
	struct record_sink *k = &r->record_sink[id];
	bool beat = record->class == BB_HEARTBEAT;

	switch (id) {
	case SINK_MAP:
		return put_map(r, record);
	case SINK_MARKER:
		return put_line(k->fd, "", record);
	case SINK_PMSG:
		return put_pmsg(k->fd, record);
	case SINK_KMSG:
		return put_line(k->fd, record->severity == BB_CRITICAL ? "<2>" : "<4>", record);
	default:
		return beat ? ring_file_beat(&r->ring, record) : ring_file_add(&r->ring, record);
	}
}

static void sink_result(struct record_sinks *r, int id, int err)
{
	struct record_sink *k = &r->record_sink[id];

	if (!err) {
		k->written++;
		return;
	}
	k->error = -err;
	k->failed = id == SINK_FILE ? r->ring.lost : k->failed + 1;
}

static void write_all(struct record_sinks *r, struct bb_record *record)
{
	memcpy(record->boot_id, r->boot_id, sizeof(r->boot_id));
	record->wall_ns = clock_ns(CLOCK_REALTIME);
	if (!record->boot_ns)
		record->boot_ns = clock_ns(CLOCK_BOOTTIME);
	record->dropped = r->dropped[record->class];
	for (int i = 0; i < SINK_KMSG; i++)
		if (r->record_sink[i].on)
			sink_result(r, i, sink_write(r, i, record));
	if (!r->record_sink[SINK_KMSG].on || record->severity < BB_WARNING)
		return;
	if (r->nr_later == SINK_LATER)
		sinks_flush(r);
	r->later[r->nr_later++] = *record;
}

void sinks_write(struct record_sinks *r, struct bb_record *record)
{
	record->sequence = ++r->sequence;
	write_all(r, record);
}

void sinks_flush(struct record_sinks *r)
{
	struct record_sink *k = &r->record_sink[SINK_FILE];
	int err = k->on ? ring_file_flush(&r->ring) : 0;

	if (err) {
		k->error = -err;
		k->failed = r->ring.lost;
	}
	for (size_t i = 0; i < r->nr_later; i++)
		sink_result(r, SINK_KMSG, sink_write(r, SINK_KMSG, &r->later[i]));
	r->nr_later = 0;
}

void sinks_beat(struct record_sinks *r, struct bb_record *record)
{
	open_missing(r);
	record->class = BB_HEARTBEAT;
	record->sequence = r->sequence;
	write_all(r, record);
}

void sinks_close(struct record_sinks *r)
{
	sinks_flush(r);
	for (int i = 0; i < NR_SINKS; i++)
		if (r->record_sink[i].fd >= 0)
			close(r->record_sink[i].fd);
	ring_file_close(&r->ring);
}
