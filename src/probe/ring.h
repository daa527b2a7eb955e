/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * probe: reads a BPF ring buffer. libbpf's reader maps the buffer twice in a row, so that no record
 * crosses its end, and the resident memory counts each page twice. This reader maps it once, and
 * copies a record that crosses the end.
 */
#ifndef FS_PROBE_RING_H
#define FS_PROBE_RING_H

#include <linux/types.h>
#include <stddef.h>

struct ring;

/* Called for each record. Returns 0, or -errno to stop. */
typedef int (*ring_take)(void *ctx, void *data, size_t size);

/* Maps a ring buffer of `bytes` bytes, a power of two. Returns 0 or -errno. */
int ring_open(int map_fd, size_t bytes, struct ring **ret);
void ring_close(struct ring *r);

/*
 * Passes on the records that are in the buffer now, and frees their room. Records that are sent
 * meanwhile stay: otherwise, a host that sends records faster than they are read would never let
 * this function return. Records of which a BPF program is not done yet stay too, and those after
 * them. Returns 0, -ENOMEM, or the error of `take`.
 */
int ring_drain(struct ring *r, ring_take take, void *ctx);

/*
 * Returns the size of the ring buffer for this number of CPUs: each CPU may send records, while one
 * thread reads all of them.
 */
__u32 ring_bytes_for(int cpus);

#endif
