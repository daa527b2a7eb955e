/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * blackbox: one record of the flight recorder, in binary form (at most 512 bytes) or as a line of
 * text. A file, /dev/pmsg0, a BPF map, the kernel log and a trace all have the same format. A
 * checksum shows that a record is complete, wherever the record is found. This code uses no files
 * and no clock.
 */
#ifndef FS_BLACKBOX_RING_RECORD_H
#define FS_BLACKBOX_RING_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BB_RECORD_MAX  512
#define BB_HEAD_BYTES  64
#define BB_TEXT_MAX    (BB_RECORD_MAX - BB_HEAD_BYTES) /* bytes of text without the NUL */
#define BB_LINE_MAX    768
#define BB_BOOT_BYTES  16
#define BB_MAGIC       "FSbb"
#define BB_LINE_BEGINS "faultscope: #"

/* clang-format off */
/*
 * X(id, name): kinds of records. Append rows only, because records contain the numbers of the rows.
 */
#define BB_CLASSES(X)                                                                              \
	X(NONE, "none") X(HEARTBEAT, "heartbeat") X(START, "start") X(STOP, "stop")                \
	X(FAULT, "fault") X(FIXUP, "fixup") X(PROBE, "probe") X(REGISTERS, "registers")            \
	X(REPORT, "report") X(CONSOLE, "console") X(MODULE, "module") X(AREA, "area")              \
	X(ALLOCATION, "allocation") X(HARDWARE, "hardware") X(IOMMU, "iommu") X(TAINT, "taint")    \
	X(GPU, "gpu") X(OOM, "oom") X(OOPS, "oops") X(PANIC, "panic")
/* clang-format on */

enum bb_class {
#define X(id, name) BB_##id,
	BB_CLASSES(X)
#undef X
		NR_BB_CLASSES,
};

enum bb_severity { BB_INFO, BB_WARNING, BB_CRITICAL, NR_BB_SEVERITIES };

struct bb_record {
	uint64_t sequence; /* sequence number of the record, continued over all boots */
	uint64_t boot_ns;  /* time in ns, CLOCK_BOOTTIME */
	uint64_t wall_ns;  /* time in ns, CLOCK_REALTIME */
	uint8_t boot_id[BB_BOOT_BYTES];
	enum bb_class class;
	enum bb_severity severity;
	uint32_t count;		    /* number of equal events so far, including this one */
	uint32_t dropped;	    /* number of events of this class that were dropped so far */
	char text[BB_TEXT_MAX + 1]; /* key=value pairs, see bb_put() */
};

const char *bb_class_name(enum bb_class class);
const char *bb_severity_name(enum bb_severity severity);

/* Encodes a record in binary. Returns the number of bytes written, at most BB_RECORD_MAX. */
size_t bb_encode(const struct bb_record *r, uint8_t ret[BB_RECORD_MAX]);

/*
 * Decodes a record. Returns the number of bytes read, -EINVAL if no record starts here, or -EILSEQ
 * if the record is damaged.
 */
int bb_decode(const uint8_t *data, size_t size, struct bb_record *ret);

/* Encodes a record as a line of text without a newline. Returns the length of the line. */
size_t bb_encode_line(const struct bb_record *r, char ret[BB_LINE_MAX]);

/*
 * Decodes a record from a line. Other text may precede and follow the record. Returns 0, or the
 * errors of bb_decode().
 */
int bb_decode_line(const char *line, size_t size, struct bb_record *ret);

/*
 * Adds a key=value pair. The value is quoted if necessary; bytes that are not printable ASCII
 * become \xNN. Returns false and adds nothing if the pair does not fit into the record.
 */
bool bb_put(struct bb_record *r, const char *key, const char *value);
bool bb_put_hex(struct bb_record *r, const char *key, uint64_t value);
bool bb_put_u64(struct bb_record *r, const char *key, uint64_t value);

/*
 * Adds a key=value pair, with as much of the value as fits into the record. bb_put_cut() is for
 * texts that other programs wrote. It must be the last call for a record.
 */
void bb_put_cut(struct bb_record *r, const char *key, const char *value);

/*
 * Finds the value of a key and removes quotes. Returns false if the key is missing, or the value is
 * longer than `size`.
 */
bool bb_get(const struct bb_record *r, const char *key, char *ret, size_t size);
/* Finds a number, decimal or 0x hex. Returns false if the number is missing or invalid. */
bool bb_get_u64(const struct bb_record *r, const char *key, uint64_t *ret);

/* Parses a boot id with or without dashes. Returns false if it is invalid. */
bool bb_boot_id(const char *text, uint8_t ret[BB_BOOT_BYTES]);

#endif
