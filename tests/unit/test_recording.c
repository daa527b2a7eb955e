// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "fixture.h"
#include "probe/recording.h"
#include "tap.h"

#define TAKEN_MAX 64
#define HEADER	  16 /* size of the file header in bytes */
#define CHUNK	  32 /* size of a chunk header in bytes */

static struct taken {
	size_t n;
	struct {
		uint32_t len;
		unsigned char bytes[4096];
	} rec[TAKEN_MAX];
} taken;

static unsigned char file[65536];
static size_t file_size;

/* Offsets in `file` of four chunks (list of fields, two intervals, end), and the file's size. */
static size_t chunk_at[TAKEN_MAX], chunks;
static const size_t records_before[] = {0, 0, 3, 6, 7};
static struct taken want;

static char error[512];

static int take(void *ctx, const struct record *h)
{
	if (taken.n == TAKEN_MAX || h->len > sizeof(taken.rec[0].bytes))
		return -ENOMEM;
	taken.rec[taken.n].len = h->len;
	memcpy(taken.rec[taken.n].bytes, h, h->len);
	taken.n++;
	return 0;
}

static void put_file(const char *path, const void *bytes, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, bytes, n) != (ssize_t)n)
		abort();
	close(fd);
}

/* Reads a recording to its end, or to the first error. Returns the last return value of look(). */
static int replay(const char *path)
{
	struct sink sink = {.take = take};
	struct source *src = NULL;
	int err;

	taken.n = 0;
	error[0] = 0;
	err = replay_open(path, &src, error, sizeof(error));
	if (err)
		return err;
	while (!err)
		err = src->ops->look(src, &sink);
	snprintf(error, sizeof(error), "%s", src->error);
	src->ops->close(src);
	return err;
}

static int replay_bytes(const void *bytes, size_t n)
{
	const char *path = fixture_path("bytes");

	put_file(path, bytes, n);
	return replay(path);
}

/* Returns whether the records that were read are the first recorded ones, without a gap. */
static bool is_prefix(void)
{
	if (taken.n > want.n)
		return false;
	for (size_t i = 0; i < taken.n; i++)
		if (taken.rec[i].len != want.rec[i].len ||
		    memcmp(taken.rec[i].bytes, want.rec[i].bytes, want.rec[i].len))
			return false;
	return true;
}

static void record(struct recorder *rec, const struct record *h)
{
	if (recorder_take(rec, h))
		abort();
	want.rec[want.n].len = h->len;
	memcpy(want.rec[want.n++].bytes, h, h->len);
}

static void test_round_trip(void)
{
	const char *path = fixture_path("whole");
	struct host_record host = host_record(1);
	struct hook_record hook = hook_record("lifecycle", HOOK_ON);
	struct process_record p = process_record(10, 1, SECOND);
	struct refused_record r = refused_record(10, CALL_MMAP, ENOMEM);
	struct tick_record t = tick_record(SECOND);
	struct end_record end = RECORD(end_record, RECORD_END, 3 * SECOND);
	struct recorder *rec = NULL;
	struct stat st;
	FILE *f;

	if (!ok(!recorder_open(path, false, &rec, error, sizeof(error)), "a recording is made"))
		return;
	record(rec, &host.h);
	record(rec, &hook.h);
	record(rec, &t.h);
	memset(&p.c, 0x5a, sizeof(p.c));
	record(rec, &p.h);
	record(rec, &r.h);
	t = tick_record(2 * SECOND);
	record(rec, &t.h);
	record(rec, &end.h);
	is_u64(-recorder_close(rec), 0, "and closed");
	is_u64(replay(path), 1, "it is read to its end");
	ok(is_prefix() && taken.n == want.n, "all records as they were");
	ok(!stat(path, &st) && (st.st_mode & 0777) == 0600, "it is the owner's alone");
	f = fopen(path, "r");
	file_size = f ? fread(file, 1, sizeof(file), f) : 0;
	if (f)
		fclose(f);
	for (size_t at = HEADER; at <= file_size && chunks < TAKEN_MAX;) {
		uint32_t len = 0;

		chunk_at[chunks++] = at;
		if (at == file_size)
			break;
		memcpy(&len, file + at + 12, sizeof(len));
		at += CHUNK + len;
	}
	is_u64(chunks, 5, "the fields, a chunk for each interval, the end");
	is_u64(chunk_at[chunks - 1], file_size, "and nothing else");
}

static void test_truncated(void)
{
	bool named = true, whole = true, clean = true, coded = true;

	for (size_t n = 0; n < file_size; n++) {
		int err = replay_bytes(file, n);
		size_t last = 0;
		char offset[40];

		while (n >= HEADER && last + 1 < chunks && chunk_at[last + 1] <= n)
			last++;
		snprintf(offset, sizeof(offset), "offset %zu:", n < HEADER ? n : chunk_at[last]);
		if (n < HEADER) {
			coded &= err == -EINVAL;
			named &= strstr(error, offset) != NULL;
			whole &= !taken.n;
		} else if (chunk_at[last] == n) {
			clean &= err == 1;
			whole &= taken.n == records_before[last] && is_prefix();
		} else {
			coded &= err == -EBADMSG;
			named &= strstr(error, offset) && strstr(error, fixture_path("bytes"));
			whole &= taken.n == records_before[last] && is_prefix();
		}
	}
	ok(coded, "cut anywhere: an error");
	ok(named, "it names the file and the offset of the chunk");
	ok(whole, "all whole chunks before it were delivered");
	ok(clean, "cut between chunks: an end");
}

static void test_flipped(void)
{
	static const unsigned char masks[] = {0x01, 0x80, 0xff};
	bool refused = true, prefix = true, named = true;

	for (size_t i = 0; i < file_size; i++)
		for (size_t k = 0; k < sizeof(masks); k++) {
			int err;

			file[i] ^= masks[k];
			err = replay_bytes(file, file_size);
			file[i] ^= masks[k];
			refused &= err < 0;
			prefix &= is_prefix();
			named &= strstr(error, "offset") || strstr(error, "byte order");
		}
	ok(refused, "a byte changed anywhere: an error");
	ok(named, "it says where");
	ok(prefix, "and never another record than was recorded");
}

static void set_u32(size_t at, uint32_t value)
{
	memcpy(file + at, &value, sizeof(value));
}

static void is_open_error(const char *path, int code, const char *text, const char *name)
{
	int err = replay(path);

	if (!ok(err == code && strstr(error, text), "%s", name))
		printf("#   got %d: %s\n", err, error);
}

static void test_headers(void)
{
	unsigned char keep[sizeof(file)];
	const char *path = fixture_path("bytes");

	memcpy(keep, file, sizeof(file));
	set_u32(12, 0x04030201);
	put_file(path, file, file_size);
	is_open_error(path, -EINVAL, "other byte order", "the other byte order");
	memcpy(file, keep, sizeof(file));
	set_u32(8, 4);
	put_file(path, file, file_size);
	is_open_error(path, -EINVAL, "format 4 (offset 8); this faultscope reads 3",
		      "another format");
	memcpy(file, keep, sizeof(file));
	put_file(path, "hello, this is no recording at all", 34);
	is_open_error(path, -EINVAL, "not a faultscope recording", "another file");
	put_file(path, "", 0);
	is_open_error(path, -EINVAL, "offset 0", "an empty file");
	put_file(path, file, HEADER);
	is_u64(replay(path), 1, "a header alone is an empty recording");
	is_open_error(fixture_path("none"), -ENOENT, "none", "no file");
	is_open_error(fixture_dir, -EINVAL, "not a regular file", "a directory");
	is_open_error("/dev/null", -EINVAL, "not a regular file", "a device");
}

static void test_fifo(void)
{
	const char *path = fixture_path("fifo");
	int status = -1;
	pid_t pid;

	if (mkfifo(path, 0600)) {
		ok(true, "a pipe # SKIP no mkfifo");
		return;
	}
	fflush(stdout);
	pid = fork();
	if (!pid) {
		alarm(2);
		_exit(replay(path) == -EINVAL ? 0 : 1);
	}
	waitpid(pid, &status, 0);
	ok(WIFEXITED(status) && !WEXITSTATUS(status),
	   "a pipe without a writer is refused, not waited for");
	unlink(path);
}

static int sink_fails(void *ctx, const struct record *h)
{
	return *(int *)ctx;
}

static void test_sink_errors(void)
{
	int code = -ENOMEM;
	struct sink sink = {.take = sink_fails, .ctx = &code};
	struct source *src = NULL;

	if (replay_open(fixture_path("whole"), &src, error, sizeof(error)))
		return;
	is_u64(-src->ops->look(src, &sink), ENOMEM, "an error of the taker ends the look");
	src->ops->close(src);
	code = -EBADMSG;
	if (replay_open(fixture_path("whole"), &src, error, sizeof(error)))
		return;
	is_u64(-src->ops->look(src, &sink), EBADMSG, "a record that the taker refuses too");
	ok(strstr(src->error, "damaged at offset"), "and its offset is named");
	ok(src->ops->fd(src) == -1 && !src->live, "a recording never wakes anyone");
	src->ops->close(src);
}

static void test_existing(void)
{
	const char *path = fixture_path("kept"), *link = fixture_path("link"),
		   *full = fixture_path("full");
	struct recorder *rec = NULL;
	char text[8] = "";
	int err, fd;

	put_file(path, "precious", 8);
	err = recorder_open(path, false, &rec, error, sizeof(error));
	ok(err == -EEXIST && strstr(error, path) && strstr(error, "--force"),
	   "an existing file is kept");
	fd = open(path, O_RDONLY);
	ok(read(fd, text, 8) == 8 && !memcmp(text, "precious", 8), "as it was");
	close(fd);
	ok(!recorder_open(path, true, &rec, error, sizeof(error)) && !recorder_close(rec),
	   "with force it is not");
	is_u64(replay(path), 1, "but a recording then");
	if (symlink(path, link) || symlink("/dev/full", full))
		abort();
	err = recorder_open(link, true, &rec, error, sizeof(error));
	ok(err == -ELOOP && strstr(error, link),
	   "a symbolic link is not followed, even with force");
	err = recorder_open(full, true, &rec, error, sizeof(error));
	ok(err == -ELOOP, "nor one to a device");
	err = recorder_open(full, false, &rec, error, sizeof(error));
	ok(err < 0, "nor without force");
	err = recorder_open("/dev/full", true, &rec, error, sizeof(error));
	ok(err == -ENOSPC && strstr(error, "No space"), "a full device fails at once");
	err = recorder_open(fixture_path("no/such"), false, &rec, error, sizeof(error));
	ok(err == -ENOENT && strstr(error, "no/such"), "no such directory");
	unlink(path);
	unlink(link);
	unlink(full);
}

/* Tests a disk that is full during a recording, and has room again at the end. */
static void test_full_disk(void)
{
	const char *path = fixture_path("short");
	struct process_record p = process_record(10, 1, SECOND);
	struct tick_record t = tick_record(SECOND);
	struct rlimit was, little;
	struct recorder *rec = NULL;
	int told = 0, first = 0, err;
	struct stat st;

	getrlimit(RLIMIT_FSIZE, &was);
	signal(SIGXFSZ, SIG_IGN);
	if (recorder_open(path, false, &rec, error, sizeof(error)) || recorder_publish(rec))
		abort();
	little = (struct rlimit){20000, was.rlim_max};
	setrlimit(RLIMIT_FSIZE, &little);
	for (int i = 0; i < 60; i++) {
		for (size_t k = 0; k < sizeof(p.c) / 8; k++) /* values that compress badly */
			((uint64_t *)&p.c)[k] = (i + 1) * (k + 1) * 0x9e3779b97f4a7c15ULL;
		err = recorder_take(rec, i % 4 == 3 ? &t.h : &p.h);
		if (err && !told++)
			first = err;
	}
	setrlimit(RLIMIT_FSIZE, &was);
	is_u64(-first, EFBIG, "a write that fails is told");
	is_u64(told, 1, "once");
	ok(!recorder_is_empty(rec), "the recording is not empty");
	ok(recorder_close(rec) < 0, "and at the end again");
	ok(!stat(path, &st) && st.st_size > 4000 && st.st_size <= 20000,
	   "the file keeps what fitted");
	ok(replay(path) == 1 && taken.n >= 4 && taken.n % 4 == 0, "it ends with a whole interval");
	unlink(path);
}

/* Returns the number of open fds of this process. */
static size_t count_fds(void)
{
	size_t n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* Tests a recording whose header cannot be written, because the disk is full. */
static void test_no_room(void)
{
	const char *path = fixture_path("none");
	struct rlimit was, none;
	struct recorder *rec = NULL;
	size_t fds = count_fds();
	struct stat st;
	int err;

	getrlimit(RLIMIT_FSIZE, &was);
	signal(SIGXFSZ, SIG_IGN);
	none = (struct rlimit){0, was.rlim_max};
	setrlimit(RLIMIT_FSIZE, &none);
	err = recorder_open(path, false, &rec, error, sizeof(error));
	setrlimit(RLIMIT_FSIZE, &was);
	ok(err == -EFBIG && strstr(error, path), "a header that cannot be written");
	ok(stat(path, &st), "leaves no file");
	is_u64(count_fds(), fds, "and no open file");
}

/* Tests that a discarded recording leaves no file, and that an existing file stays unchanged. */
static void test_discarded(void)
{
	const char *path = fixture_path("start");
	struct recorder *rec = NULL;
	struct stat st;

	if (!ok(!recorder_open(path, false, &rec, error, sizeof(error)), "a recording is made"))
		return;
	ok(recorder_is_empty(rec), "which is empty");
	recorder_discard(rec);
	ok(stat(path, &st), "one that is not wanted is removed");
	put_file(path, "precious", 8);
	if (!ok(!recorder_open(path, true, &rec, error, sizeof(error)), "with force"))
		return;
	recorder_discard(rec);
	ok(!stat(path, &st) && st.st_size == 8, "what it would have replaced stays");
	unlink(path);
}

/* Tests a file of 5 bytes (not a recording), and a file with only the magic number (truncated). */
static void test_short_files(void)
{
	replay_bytes("hello", 5);
	ok(strstr(error, "not a faultscope recording"), "5 bytes: %s", error);
	replay_bytes("", 0);
	ok(strstr(error, "empty"), "none: %s", error);
	replay_bytes("FSREC\r\n\032", 8);
	ok(strstr(error, "truncated at offset 8"), "a piece of a header: %s", error);
}

int main(void)
{
	test_discarded();
	test_short_files();
	test_round_trip();
	test_truncated();
	test_flipped();
	test_headers();
	test_fifo();
	test_sink_errors();
	test_existing();
	test_full_disk();
	test_no_room();
	return tap_done();
}
