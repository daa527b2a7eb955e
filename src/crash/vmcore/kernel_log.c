// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "crash/vmcore/kernel_log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOG_BYTES_MAX	(64ull << 20)
#define RECORDS_MAX	(4ull << 20)
#define NS_PER_SECOND	UINT64_C(1000000000)
#define NS_PER_US	1000
#define STATE_SHIFT	62 /* state of a descriptor: kernel/printk/printk_ringbuffer.h */
#define STATE_COMMITTED 1
#define STATE_FINALIZED 2
#define ID_MASK		((1ull << STATE_SHIFT) - 1)
#define BLOCK_HEAD	8 /* a text begins after the descriptor's id */
#define LEVEL_SHIFT	5 /* struct printk_info: flags:5, level:3, behind text_len and facility */

/* Appends a message. Each of its lines gets the prefix, as the kernel does. */
static void put_message(struct buf *b, unsigned int level, uint64_t ns, const char *text,
			size_t size)
{
	while (size) {
		const char *end = memchr(text, '\n', size);
		size_t n = end ? (size_t)(end - text) : size;

		buf_printf(b, "<%u>[%5" PRIu64 ".%06" PRIu64 "] ", level, ns / NS_PER_SECOND,
			   ns % NS_PER_SECOND / NS_PER_US);
		for (size_t i = 0; i < n; i++)
			buf_putc(b, text[i] ? text[i] : ' ');
		buf_putc(b, '\n');
		n += end != NULL;
		text += n;
		size -= n;
	}
}

/* ---- Linux 5.10 and later: a ring of descriptors, and a ring of text ---- */

struct field {
	const char *name;
	uint64_t *value;
	bool is_size;
};

struct ring {
	uint64_t desc_ring, text_ring;			     /* in struct printk_ringbuffer */
	uint64_t count_bits, descs, infos, head_id, tail_id; /* in struct prb_desc_ring */
	uint64_t desc_size, state, block;		     /* struct prb_desc */
	uint64_t begin, next;				     /* struct prb_data_blk_lpos */
	uint64_t info_size, ns, text_len;		     /* struct printk_info */
	uint64_t size_bits, data;			     /* struct prb_data_ring */
};

static bool describe(const struct kernel_image *k, const struct field *f)
{
	for (; f->name; f++)
		if (!(f->is_size ? info_size(k, f->name, f->value)
				 : info_offset(k, f->name, f->value)))
			return false;
	return true;
}

static bool ring_describe(const struct kernel_image *k, struct ring *r)
{
	const struct field fields[] = {
		{"printk_ringbuffer.desc_ring", &r->desc_ring, false},
		{"printk_ringbuffer.text_data_ring", &r->text_ring, false},
		{"prb_desc_ring.count_bits", &r->count_bits, false},
		{"prb_desc_ring.descs", &r->descs, false},
		{"prb_desc_ring.infos", &r->infos, false},
		{"prb_desc_ring.head_id", &r->head_id, false},
		{"prb_desc_ring.tail_id", &r->tail_id, false},
		{"prb_desc", &r->desc_size, true},
		{"prb_desc.state_var", &r->state, false},
		{"prb_desc.text_blk_lpos", &r->block, false},
		{"prb_data_blk_lpos.begin", &r->begin, false},
		{"prb_data_blk_lpos.next", &r->next, false},
		{"printk_info", &r->info_size, true},
		{"printk_info.ts_nsec", &r->ns, false},
		{"printk_info.text_len", &r->text_len, false},
		{"prb_data_ring.size_bits", &r->size_bits, false},
		{"prb_data_ring.data", &r->data, false},
		{},
	};

	return describe(k, fields);
}

/* Both rings of a log, copied out of the dump. */
struct rings {
	struct ring of;
	char *desc, *info, *text;
	uint64_t count, text_size, head, tail;
};

static int copy(const struct kernel_image *k, uint64_t at, uint64_t size, char **ret)
{
	if (!size || size > LOG_BYTES_MAX * 4)
		return -EINVAL;
	*ret = malloc(size);
	if (!*ret)
		return -ENOMEM;
	return kernel_read(k, at, *ret, size);
}

static int rings_copy(const struct kernel_image *k, uint64_t ring, struct rings *r)
{
	uint64_t descs, infos, data, at = ring + r->of.desc_ring, text = ring + r->of.text_ring;
	uint32_t count_bits, size_bits;
	int err;

	if (kernel_read_u32(k, at + r->of.count_bits, &count_bits) ||
	    kernel_read_u64(k, at + r->of.descs, &descs) ||
	    kernel_read_u64(k, at + r->of.infos, &infos) ||
	    kernel_read_u64(k, at + r->of.head_id, &r->head) ||
	    kernel_read_u64(k, at + r->of.tail_id, &r->tail) ||
	    kernel_read_u32(k, text + r->of.size_bits, &size_bits) ||
	    kernel_read_u64(k, text + r->of.data, &data))
		return -ENODATA;
	if (count_bits > 22 || size_bits > 26)
		return -EINVAL;
	r->count = 1ull << count_bits;
	r->text_size = 1ull << size_bits;
	err = copy(k, descs, r->count * r->of.desc_size, &r->desc);
	err = err ?: copy(k, infos, r->count * r->of.info_size, &r->info);
	return err ?: copy(k, data, r->text_size, &r->text);
}

static uint64_t u64_at(const char *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static void put_record(struct buf *b, const struct rings *r, uint64_t id)
{
	const char *desc = r->desc + (id & (r->count - 1)) * r->of.desc_size;
	const char *info = r->info + (id & (r->count - 1)) * r->of.info_size;
	uint64_t state = u64_at(desc + r->of.state);
	uint64_t begin = u64_at(desc + r->of.block + r->of.begin);
	uint64_t next = u64_at(desc + r->of.block + r->of.next), at, room;
	uint16_t size;

	if ((state & ID_MASK) != (id & ID_MASK) ||
	    (state >> STATE_SHIFT != STATE_COMMITTED && state >> STATE_SHIFT != STATE_FINALIZED))
		return;
	if ((begin & 1) || begin == next) /* a record without text */
		return;
	at = begin & (r->text_size - 1);
	/* A block that does not fit before the end of the ring is at its beginning. */
	if (begin / r->text_size != (next - 1) / r->text_size)
		at = 0;
	room = r->text_size - at;
	memcpy(&size, info + r->of.text_len, sizeof(size));
	if (room < BLOCK_HEAD || size > room - BLOCK_HEAD)
		return;
	put_message(b, (unsigned char)info[r->of.text_len + 3] >> LEVEL_SHIFT,
		    u64_at(info + r->of.ns), r->text + at + BLOCK_HEAD, size);
}

static int read_rings(struct buf *b, const struct kernel_image *k, const char **ret_why)
{
	struct rings r = {};
	uint64_t pointer, ring;
	int err = -ENODATA;

	*ret_why = "its description of the kernel (VMCOREINFO) does not describe the log";
	if (!info_symbol(k, "prb", &pointer) || !ring_describe(k, &r.of))
		return -ENOTSUP;
	*ret_why = "the memory of the log is not in it";
	if (!kernel_read_u64(k, pointer, &ring))
		err = rings_copy(k, ring, &r);
	for (uint64_t id = r.tail, n = 0; !err && n < RECORDS_MAX; id = (id + 1) & ID_MASK, n++) {
		put_record(b, &r, id);
		if (id == r.head)
			break;
	}
	free(r.desc);
	free(r.info);
	free(r.text);
	return err;
}

/* ---- Linux 3.5 to 5.9: a buffer of records ---- */

struct records {
	uint64_t size, ns, len, text_len; /* struct printk_log; before 3.11 struct log */
};

static bool records_describe(const struct kernel_image *k, struct records *r)
{
	static const char *const names[] = {"printk_log", "log"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char ns[32], len[32], text_len[32];

		snprintf(ns, sizeof(ns), "%s.ts_nsec", names[i]);
		snprintf(len, sizeof(len), "%s.len", names[i]);
		snprintf(text_len, sizeof(text_len), "%s.text_len", names[i]);
		if (info_size(k, names[i], &r->size) && info_offset(k, ns, &r->ns) &&
		    info_offset(k, len, &r->len) && info_offset(k, text_len, &r->text_len))
			return true;
	}
	return false;
}

static void put_records(struct buf *b, const struct records *r, const char *log, uint64_t size,
			uint32_t first, uint32_t next)
{
	uint64_t left = size;

	for (uint32_t at = first; at != next && at + r->size <= size;) {
		uint16_t len, text;

		memcpy(&len, log + at + r->len, sizeof(len));
		memcpy(&text, log + at + r->text_len, sizeof(text));
		if (!len) { /* the rest is at the beginning of the buffer */
			if (!at)
				return;
			at = 0;
			continue;
		}
		if (len < r->size || text > len - r->size || at + len > size || len > left)
			return;
		/* level: the upper 3 bits of the last byte */
		put_message(b, (unsigned char)log[at + r->size - 1] >> LEVEL_SHIFT,
			    u64_at(log + at + r->ns), log + at + r->size, text);
		left -= len;
		at += len;
	}
}

static int read_records(struct buf *b, const struct kernel_image *k, const char **ret_why)
{
	uint64_t buffer, length, first, next, at;
	struct records r;
	uint32_t size, from, to;
	char *log = NULL;
	int err;

	*ret_why = "its description of the kernel (VMCOREINFO) does not describe the log";
	if (!info_symbol(k, "log_buf", &buffer) || !info_symbol(k, "log_buf_len", &length) ||
	    !info_symbol(k, "log_first_idx", &first) || !info_symbol(k, "log_next_idx", &next) ||
	    !records_describe(k, &r))
		return -ENOTSUP;
	*ret_why = "the memory of the log is not in it";
	if (kernel_read_u64(k, buffer, &at) || kernel_read_u32(k, length, &size) ||
	    kernel_read_u32(k, first, &from) || kernel_read_u32(k, next, &to))
		return -ENODATA;
	err = copy(k, at, size, &log);
	if (!err)
		put_records(b, &r, log, size, from, to);
	free(log);
	return err;
}

int kernel_log_read(struct buf *b, const struct kernel_image *k, const char **ret_why)
{
	uint64_t ring;

	return info_symbol(k, "prb", &ring) ? read_rings(b, k, ret_why)
					    : read_records(b, k, ret_why);
}
