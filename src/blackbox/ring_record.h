/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * blackbox: one record of the flight recorder, as 512 bytes at most or as one line of text. It is
 * the same in a file, in /dev/pmsg0, in a BPF map, in the kernel's log and in a trace: whoever
 * finds one in any bytes knows by its checksum that it is whole. Pure: no file, no clock.
 */
#ifndef FS_BLACKBOX_RING_RECORD_H
#define FS_BLACKBOX_RING_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BB_RECORD_MAX  512
#define BB_HEAD_BYTES  64
#define BB_TEXT_MAX    (BB_RECORD_MAX - BB_HEAD_BYTES) /* its NUL is not stored */
#define BB_LINE_MAX    768
#define BB_BOOT_BYTES  16
#define BB_MAGIC       "FSbb"
#define BB_LINE_BEGINS "faultscope: #"

/* clang-format off */
/* X(id, name): what a record is about. Only ever appended to. */
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
	uint64_t sequence; /* over all boots of one recorder */
	uint64_t boot_ns;  /* CLOCK_BOOTTIME */
	uint64_t wall_ns;  /* CLOCK_REALTIME */
	uint8_t boot_id[BB_BOOT_BYTES];
	enum bb_class class;
	enum bb_severity severity;
	uint32_t count;		    /* of equal events until now */
	uint32_t dropped;	    /* events of this class that no record was made of, until now */
	char text[BB_TEXT_MAX + 1]; /* key=value pairs, see bb_put() */
};

const char *bb_class_name(enum bb_class class);
const char *bb_severity_name(enum bb_severity severity);

/* Bytes written: at most BB_RECORD_MAX. */
size_t bb_encode(const struct bb_record *r, uint8_t ret[BB_RECORD_MAX]);

/* Bytes it took; -EINVAL: no record begins here; -EILSEQ: one did, and it is torn. */
int bb_decode(const uint8_t *data, size_t size, struct bb_record *ret);

/* The same as a line without its end; returns its length. */
size_t bb_encode_line(const struct bb_record *r, char ret[BB_LINE_MAX]);

/* `line` may have more before and after it. 0, or as bb_decode(). */
int bb_decode_line(const char *line, size_t size, struct bb_record *ret);

/*
 * Adds a pair; the value is quoted where it must be, and bytes that are no printable ASCII become
 * \xNN. False: it did not fit, and nothing was added.
 */
bool bb_put(struct bb_record *r, const char *key, const char *value);
bool bb_put_hex(struct bb_record *r, const char *key, uint64_t value);
bool bb_put_u64(struct bb_record *r, const char *key, uint64_t value);

/* As much of a value as there is room for: for texts of others, last in a record. */
void bb_put_cut(struct bb_record *r, const char *key, const char *value);

/* A pair's value, unquoted. False where there is none, or where it is longer than `size`. */
bool bb_get(const struct bb_record *r, const char *key, char *ret, size_t size);
bool bb_get_u64(const struct bb_record *r, const char *key, uint64_t *ret); /* decimal or 0x */

/* "1f8e…" or "1f8e-…" to bytes; false where it is none. */
bool bb_boot_id(const char *text, uint8_t ret[BB_BOOT_BYTES]);

#endif
