// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests what the ring file of the flight recorder and its other places do if the kernel writes only
 * a part, is interrupted by a signal, or refuses a call.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "failing_memory.h"
#include "open_files.h"
#include "recorder/record_sinks.h"
#include "tap.h"

#define FIRST_SLOT   3	 /* behind the header and two heartbeats */
#define REFUSED_MOST 100 /* a caller that goes on after so many writes never ends */
#define LEAST	     (RING_BYTES_LEAST / RING_SLOT)

static char place[64], path[128], other[128];

static struct {
	size_t most;		    /* bytes that one call writes; 0: all */
	bool interrupts;	    /* each second call is interrupted */
	int write_error;	    /* errno of all writes; -1: they write nothing */
	unsigned int call, refused; /* numbers of calls */
	off_t last;		    /* offset of the last write */
	uint64_t written;	    /* bytes written by pwrite() */
	off_t end;		    /* end of the furthest write */
	off_t unreadable;	    /* offset of a read that fails; 0: none */
	int sync_error, sync_at;    /* the fsync() that fails, from 1 on */
	int room_error, lock_error, stat_error;
} kernel;

static int fails(int number)
{
	errno = number;
	return -1;
}

/* Returns whether a write fails, and with which result. */
static bool write_fails(ssize_t *ret)
{
	*ret = -1;
	if (kernel.interrupts && ++kernel.call % 2) {
		errno = EINTR;
		return true;
	}
	if (!kernel.write_error)
		return false;
	/* an old errno, which says nothing of a write that returned 0 */
	errno = kernel.write_error < 0 ? EINTR : kernel.write_error;
	*ret = kernel.write_error < 0 ? 0 : -1;
	if (++kernel.refused > REFUSED_MOST)
		abort();
	return true;
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at)
{
	ssize_t n;

	if (write_fails(&n))
		return n;
	if (kernel.most && size > kernel.most)
		size = kernel.most;
	kernel.last = at;
	kernel.written += size;
	if (at + (off_t)size > kernel.end)
		kernel.end = at + size;
	return syscall(SYS_pwrite64, fd, data, size, at);
}

ssize_t write(int fd, const void *data, size_t size)
{
	ssize_t n;

	return write_fails(&n) ? n : syscall(SYS_write, fd, data, size);
}

ssize_t pread(int fd, void *ret, size_t size, off_t at)
{
	if (kernel.unreadable && at == kernel.unreadable)
		return 0;
	return syscall(SYS_pread64, fd, ret, size, at);
}

int fsync(int fd)
{
	(void)fd;
	return kernel.sync_error && !--kernel.sync_at ? fails(kernel.sync_error) : 0;
}

int posix_fallocate(int fd, off_t from, off_t bytes)
{
	return kernel.room_error ?: from || ftruncate(fd, bytes) ? EINVAL : 0;
}

int flock(int fd, int operation)
{
	return kernel.lock_error ? fails(kernel.lock_error) : syscall(SYS_flock, fd, operation);
}

int fstat(int fd, struct stat *ret)
{
	return kernel.stat_error ? fails(kernel.stat_error) : fstatat(fd, "", ret, AT_EMPTY_PATH);
}

static void begin(void)
{
	memset(&kernel, 0, sizeof(kernel));
}

/* Makes a new file of `bytes` bytes, and opens it. */
static int make(struct ring_file *r, uint64_t bytes)
{
	unlink(path);
	return ring_file_open(r, path, bytes);
}

/* Returns the record in a slot of the file. Its sequence number is 0 if there is none. */
static struct bb_record in_slot(uint64_t slot)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct bb_record r = {};
	uint8_t bytes[RING_SLOT];

	if (syscall(SYS_pread64, fd, bytes, RING_SLOT, slot * RING_SLOT) != RING_SLOT ||
	    bb_decode(bytes, RING_SLOT, &r) < 0)
		r.sequence = 0;
	close(fd);
	return r;
}

static struct bb_record numbered(uint64_t sequence)
{
	struct bb_record r = {.class = BB_FAULT, .sequence = sequence};
	char text[16];

	snprintf(text, sizeof(text), "f%d", (int)sequence);
	bb_put(&r, "symbol", text);
	return r;
}

static void test_new_file(void)
{
	static const uint64_t slots[] = {LEAST, 63, 64, 65, 128, 130};
	struct ring_file r;

	for (size_t i = 0; i < sizeof(slots) / sizeof(slots[0]); i++) {
		begin();
		is_u64(make(&r, slots[i] * RING_SLOT), 0, "a new file");
		is_u64(r.slots, slots[i], "its slots");
		is_u64(kernel.written, (slots[i] + 1) * RING_SLOT, "all bytes, and the header");
		is_u64(kernel.end, slots[i] * RING_SLOT, "nothing behind the end");
		is_u64(kernel.last, 0, "the header is written last");
		ring_file_close(&r);
	}
	begin();
	is_u64(make(&r, RING_BYTES_LEAST + RING_SLOT - 1), 0, "a size between two slots");
	is_u64(r.slots, LEAST, "is rounded down");
	ring_file_close(&r);
}

/* Each part of a record is written, and at its place. */
static void test_parts(void)
{
	static const struct {
		size_t most;
		bool interrupts;
		const char *name;
	} rows[] = {{0, true, "signals interrupt the writes"},
		    {100, false, "100 bytes at a time"},
		    {RING_SLOT + 1, true, "both"}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bb_record beat = {.class = BB_HEARTBEAT, .sequence = 77};
		struct ring_file r;
		bool same = true;

		begin();
		kernel.most = rows[i].most;
		kernel.interrupts = rows[i].interrupts;
		is_u64(make(&r, RING_BYTES_LEAST), 0, rows[i].name);
		for (uint64_t n = 1; n <= 5; n++) {
			struct bb_record one = numbered(n);

			ring_file_add(&r, &one);
		}
		is_u64(ring_file_flush(&r), 0, "records are written");
		is_u64(ring_file_beat(&r, &beat), 0, "and a heartbeat");
		for (uint64_t n = 1; n <= 5; n++) {
			struct bb_record want = numbered(n), got = in_slot(FIRST_SLOT + n - 1);

			same &= got.sequence == n && !strcmp(got.text, want.text);
		}
		ok(same, "each record is where it belongs");
		is_u64(in_slot(FIRST_SLOT + 5).sequence, 0, "and nothing behind the last one");
		is_u64(in_slot(1).sequence, 77, "so is the heartbeat");
		is_u64(r.lost, 0, "nothing is lost");
		ring_file_close(&r);
	}
}

/* Opens a file in a way that fails. */
static void fails_to_open(const char *at, int err, const char *name)
{
	size_t before = open_fds();
	struct ring_file r;

	is_u64(-ring_file_open(&r, at, RING_BYTES_LEAST), err, name);
	ok(r.fd == -1 && !r.pending && open_fds() == before, "nothing is open");
}

static void test_no_new_file(void)
{
	begin();
	unlink(path);
	kernel.room_error = ENOSPC;
	fails_to_open(path, ENOSPC, "a disk that is full");
	ok(access(path, F_OK) && errno == ENOENT, "no file is left");
	begin();
	kernel.write_error = EIO;
	fails_to_open(path, EIO, "a disk that cannot be written");
	kernel.write_error = -1;
	fails_to_open(path, EIO, "or writes nothing");
	ok(access(path, F_OK) && errno == ENOENT, "no file is left");
	begin();
	kernel.sync_error = EDQUOT;
	kernel.sync_at = 1;
	fails_to_open(path, EDQUOT, "a disk that does not store what was written");
	ok(access(path, F_OK) && errno == ENOENT, "no file is left");
	begin();
	kernel.sync_error = EIO;
	kernel.sync_at = 2;
	fails_to_open(path, EIO, "a directory that is not stored");
	snprintf(other, sizeof(other), "%s/none/ring", place);
	begin();
	fails_to_open(other, ENOENT, "a directory that is missing");
}

static void test_old_file(void)
{
	struct bb_record one = numbered(9), older = numbered(5);
	struct ring_file r, second;

	begin();
	make(&r, RING_BYTES_LEAST);
	ring_file_add(&r, &one);
	ring_file_add(&r, &older);
	ring_file_flush(&r);
	is_u64(-ring_file_open(&second, path, RING_BYTES_LEAST), EBUSY, "another one uses it");
	is_u64(second.fd, (uint64_t)-1, "it is not open");
	ring_file_close(&r);
	kernel.lock_error = ENOLCK;
	fails_to_open(path, ENOLCK, "a file without locks");
	begin();
	kernel.stat_error = EOVERFLOW;
	fails_to_open(path, EOVERFLOW, "a file of unknown size");
	begin();
	kernel.unreadable = (LEAST - 1) * RING_SLOT;
	fails_to_open(path, EIO, "a slot that cannot be read");
	begin();
	memory_fail_after(0);
	fails_to_open(path, ENOMEM, "no memory for records that wait");
	ok(memory_recovers(), "this allocation failed");
	fails_to_open(place, EISDIR, "a directory");
	snprintf(other, sizeof(other), "%s/link", place);
	if (symlink(path, other))
		abort();
	fails_to_open(other, ELOOP, "a link");
	unlink(other);
	snprintf(other, sizeof(other), "%s/ring/x", place);
	fails_to_open(other, ENOTDIR, "a path through a file");
	is_u64(ring_file_open(&r, path, 4 * RING_BYTES_LEAST), 0, "the file itself");
	ok(r.slot == FIRST_SLOT + 1 && r.sequence == 9 && r.slots == LEAST,
	   "goes on behind the newest record, and keeps its size");
	ring_file_close(&r);
}

static void test_lost(void)
{
	struct ring_file r;
	struct bb_record one = numbered(1);

	begin();
	make(&r, RING_BYTES_LEAST);
	kernel.write_error = -1;
	for (int i = 0; i < 3; i++)
		is_u64(ring_file_add(&r, &one), 0, "a record waits");
	is_u64(-ring_file_flush(&r), EIO, "it cannot be written");
	ok(r.lost == 3 && !r.n && r.slot == FIRST_SLOT + 3, "all three are lost");
	is_u64(-ring_file_beat(&r, &one), EIO, "nor can a heartbeat");
	is_u64(r.lost, 4, "it is lost, too");
	for (uint64_t i = FIRST_SLOT + 3; i < LEAST - 1; i++)
		is_u64(ring_file_add(&r, &one), 0, "a record waits");
	is_u64(-ring_file_add(&r, &one), EIO, "the last one of the ring is written at once");
	ok(r.slot == FIRST_SLOT && r.lost == 4 + LEAST - FIRST_SLOT - 3, "the ring begins anew");
	ring_file_close(&r);
}

/* Records in the kernel log and in a trace instance, which are written with write(). */
static void test_sinks(void)
{
	const struct sink_options o = {.record_sinks = 1u << SINK_MARKER | 1u << SINK_PMSG |
						       1u << SINK_KMSG,
				       .marker = path,
				       .pmsg = path,
				       .kmsg = path};
	struct bb_record one = {.class = BB_FAULT, .severity = BB_WARNING};
	size_t before = open_fds();
	struct record_sinks s;

	begin();
	sinks_open(&s, &o);
	is_u64(open_fds(), before + 3, "three places are open");
	kernel.interrupts = true;
	sinks_write(&s, &one);
	sinks_flush(&s);
	for (int i = 0; i < NR_SINKS; i++)
		is_u64(s.record_sink[i].written, i == SINK_MAP || i == SINK_FILE ? 0 : 1,
		       sink_rows[i].name);
	ok(!s.record_sink[SINK_PMSG].failed, "a signal is no failure");
	kernel.interrupts = false;
	kernel.write_error = EPERM;
	sinks_write(&s, &one);
	is_u64(s.record_sink[SINK_KMSG].failed, 0, "the kernel log waits");
	is_u64(s.nr_later, 1, "for the flush");
	sinks_flush(&s);
	is_u64(s.nr_later, 0, "which is made once");
	for (int i = 0; i < NR_SINKS; i++) {
		bool used = o.record_sinks >> i & 1;

		ok(s.record_sink[i].failed == used && s.record_sink[i].error == (used ? EPERM : 0),
		   "%s: failed: %d", sink_rows[i].name, used);
	}
	sinks_flush(&s);
	is_u64(s.record_sink[SINK_KMSG].failed, 1, "a flush without records");
	sinks_close(&s);
	is_u64(open_fds(), before, "all are closed");
}

int main(void)
{
	strcpy(place, "/tmp/test_ring_writes.XXXXXX");
	if (!mkdtemp(place))
		return 1;
	snprintf(path, sizeof(path), "%s/ring", place);
	test_new_file();
	test_parts();
	test_no_new_file();
	test_old_file();
	test_lost();
	test_sinks();
	begin();
	unlink(path);
	ok(!rmdir(place), "nothing is left");
	return tap_done();
}
