// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "recorder/keepers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BOOT_ID "/proc/sys/kernel/random/boot_id"

const struct keeper_row keeper_rows[NR_KEEPERS] = {
	[KEEPER_MAP] = {"map", "a BPF map, marked so that it is found in a dump of memory",
			"a panic with kdump (vmcore)"},
	[KEEPER_MARKER] = {"instance", "a trace instance in memory that a warm reboot leaves alone",
			   "a panic and a warm reboot (6.12 and later)"},
	[KEEPER_PMSG] = {"pmsg", "/dev/pmsg0, memory that pstore keeps",
			 "a panic and a warm reboot"},
	[KEEPER_KMSG] = {"kmsg", "lines in the kernel's own log, of warning and above",
			 "whatever keeps the log: pstore, a serial line, netconsole, vmcore-dmesg"},
	[KEEPER_FILE] = {"file", "a file of fixed size, each record synced to the disk",
			 "everything, up to the last record that was synced"},
};

int keeper_find(const char *name)
{
	for (int i = 0; i < NR_KEEPERS; i++)
		if (!strcmp(keeper_rows[i].name, name))
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

static const char *path_of(const struct keeper_options *o, int id)
{
	switch (id) {
	case KEEPER_MARKER:
		return o->marker;
	case KEEPER_PMSG:
		return o->pmsg;
	case KEEPER_KMSG:
		return o->kmsg;
	default:
		return NULL;
	}
}

static int keeper_open(struct keepers *r, int id)
{
	struct keeper *k = &r->keeper[id];
	const char *path = path_of(&r->o, id);

	if (id == KEEPER_MAP)
		return r->o.map ? 0 : -ENOENT;
	if (id == KEEPER_FILE)
		return r->o.file ? ring_file_open(&r->ring, r->o.file, r->o.file_bytes) : -ENOENT;
	k->fd = path ? open(path, O_WRONLY | O_CLOEXEC) : -1;
	return k->fd < 0 ? (path ? -errno : -ENOENT) : 0;
}

static void open_missing(struct keepers *r)
{
	for (int i = 0; i < NR_KEEPERS; i++) {
		struct keeper *k = &r->keeper[i];
		int err;

		if (k->on || !(r->o.keepers >> i & 1))
			continue;
		err = keeper_open(r, i);
		k->on = !err;
		if (err)
			k->error = -err;
		if (!err && i == KEEPER_FILE && r->ring.sequence > r->sequence)
			r->sequence = r->ring.sequence;
	}
}

void keepers_open(struct keepers *r, const struct keeper_options *o)
{
	memset(r, 0, sizeof(*r));
	r->o = *o;
	r->ring.fd = -1;
	for (int i = 0; i < NR_KEEPERS; i++)
		r->keeper[i].fd = -1;
	read_boot_id(r->boot_id);
	open_missing(r);
}

int keepers_on(const struct keepers *r)
{
	int n = 0;

	for (int i = 0; i < NR_KEEPERS; i++)
		n += r->keeper[i].on;
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

static int put_map(struct keepers *r, const struct bb_record *record)
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

static int keeper_write(struct keepers *r, int id, const struct bb_record *record)
{
	struct keeper *k = &r->keeper[id];
	bool beat = record->class == BB_HEARTBEAT;

	switch (id) {
	case KEEPER_MAP:
		return put_map(r, record);
	case KEEPER_MARKER:
		return put_line(k->fd, "", record);
	case KEEPER_PMSG:
		return put_pmsg(k->fd, record);
	case KEEPER_KMSG:
		return put_line(k->fd, record->severity == BB_CRITICAL ? "<2>" : "<4>", record);
	default:
		return beat ? ring_file_beat(&r->ring, record) : ring_file_add(&r->ring, record);
	}
}

static void keeper_answer(struct keepers *r, int id, int err)
{
	struct keeper *k = &r->keeper[id];
	uint64_t lost = k->failed + 1;

	if (!err) {
		k->written++;
		return;
	}
	k->error = -err;
	k->failed = id == KEEPER_FILE && r->ring.lost >= lost ? r->ring.lost : lost;
}

static void write_all(struct keepers *r, struct bb_record *record)
{
	memcpy(record->boot_id, r->boot_id, sizeof(r->boot_id));
	record->wall_ns = clock_ns(CLOCK_REALTIME);
	if (!record->boot_ns)
		record->boot_ns = clock_ns(CLOCK_BOOTTIME);
	record->dropped = r->dropped[record->class];
	for (int i = 0; i < KEEPER_KMSG; i++)
		if (r->keeper[i].on)
			keeper_answer(r, i, keeper_write(r, i, record));
	if (!r->keeper[KEEPER_KMSG].on || record->severity < BB_WARNING)
		return;
	if (r->nr_later == KEEPER_LATER)
		keepers_flush(r);
	r->later[r->nr_later++] = *record;
}

void keepers_write(struct keepers *r, struct bb_record *record)
{
	record->sequence = ++r->sequence;
	write_all(r, record);
}

void keepers_flush(struct keepers *r)
{
	struct keeper *k = &r->keeper[KEEPER_FILE];
	int err = k->on ? ring_file_flush(&r->ring) : 0;

	if (err) {
		k->error = -err;
		k->failed = r->ring.lost > k->failed ? r->ring.lost : k->failed + 1;
	}
	for (size_t i = 0; i < r->nr_later; i++)
		keeper_answer(r, KEEPER_KMSG, keeper_write(r, KEEPER_KMSG, &r->later[i]));
	r->nr_later = 0;
}

void keepers_beat(struct keepers *r, struct bb_record *record)
{
	open_missing(r);
	record->class = BB_HEARTBEAT;
	record->sequence = r->sequence;
	write_all(r, record);
}

void keepers_close(struct keepers *r)
{
	keepers_flush(r);
	for (int i = 0; i < NR_KEEPERS; i++)
		if (r->keeper[i].fd >= 0)
			close(r->keeper[i].fd);
	ring_file_close(&r->ring);
}
