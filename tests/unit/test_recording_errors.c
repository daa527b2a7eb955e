// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests recordings whose file cannot be opened, written, truncated or closed, and files that are no
 * recordings: the error, its text, and that no file stays open. Failures are those of this test.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "fixture.h"
#include "open_files.h"
#include "probe/recording.h"
#include "tap.h"

static struct {
	/* errno of the next call for a recording; 0: it succeeds */
	int open_error, flush_error, close_error, truncate_error, stat_error;
} kernel;

static char error[1024];

static int fails(int *number)
{
	errno = *number;
	*number = 0;
	return -1;
}

FILE *fdopen(int fd, const char *mode)
{
	FILE *(*real)(int, const char *) =
		(FILE * (*)(int, const char *)) dlsym(RTLD_NEXT, "fdopen");

	return kernel.open_error && fails(&kernel.open_error) ? NULL : real(fd, mode);
}

int fflush(FILE *f)
{
	int (*real)(FILE *) = (int (*)(FILE *))dlsym(RTLD_NEXT, "fflush");
	int err = real(f);

	return f != stdout && kernel.flush_error ? fails(&kernel.flush_error) : err;
}

int fclose(FILE *f)
{
	int (*real)(FILE *) = (int (*)(FILE *))dlsym(RTLD_NEXT, "fclose");
	int err = real(f);

	return kernel.close_error ? fails(&kernel.close_error) : err;
}

int ftruncate(int fd, off_t bytes)
{
	return kernel.truncate_error ? fails(&kernel.truncate_error)
				     : syscall(SYS_ftruncate, fd, bytes);
}

int fstat(int fd, struct stat *ret)
{
	return kernel.stat_error ? fails(&kernel.stat_error) : fstatat(fd, "", ret, AT_EMPTY_PATH);
}

static off_t bytes_of(const char *path)
{
	struct stat st;

	return fstatat(AT_FDCWD, path, &st, 0) ? -1 : st.st_size;
}

/* ---- writing ---- */

static const char *path; /* of the recording */
static struct recorder *rec;

static void begin(void)
{
	memset(&kernel, 0, sizeof(kernel));
	unlink(path);
	if (recorder_open(path, false, &rec, error, sizeof(error)) || recorder_publish(rec))
		abort();
}

static int tick(uint64_t s)
{
	struct tick_record r = tick_record(s * SECOND);

	return recorder_take(rec, &r.h);
}

static void test_no_file(void)
{
	size_t before = open_fds();
	char want[512];

	memset(&kernel, 0, sizeof(kernel));
	kernel.open_error = ENOMEM;
	ok(recorder_open(path, false, &rec, error, sizeof(error)) == -ENOMEM, "no memory");
	ok(bytes_of(path) < 0 && open_fds() == before, "no file is left");
	kernel.flush_error = ENOSPC;
	ok(recorder_open(path, false, &rec, error, sizeof(error)) == -ENOSPC, "a full disk");
	snprintf(want, sizeof(want), "cannot write the recording %s: No space left on device",
		 path);
	is_str(error, want, "this is told");
	ok(bytes_of(path) < 0 && open_fds() == before, "no file is left");
}

static void test_first_failure(void)
{
	size_t before = open_fds();
	unsigned long long whole;

	begin();
	ok(recorder_is_empty(rec), "a new recording is empty");
	is_u64(recorder_bytes(rec), RECORDING_HEADER_BYTES, "it has a header");
	is_u64(tick(1), 0, "a first scan");
	whole = recorder_bytes(rec);
	ok(!recorder_is_empty(rec) && whole > RECORDING_HEADER_BYTES, "it is empty no more");
	kernel.flush_error = EDQUOT;
	is_u64(-tick(2), EDQUOT, "a second scan that the disk does not take");
	is_u64(tick(3), 0, "is told once");
	is_u64(recorder_bytes(rec), whole, "the first chunk counts");
	is_u64(-recorder_close(rec), EDQUOT, "and told again at the end");
	is_u64(bytes_of(path), whole, "the file ends behind its last whole chunk");
	is_u64(open_fds(), before, "it is closed");
}

static void test_end(void)
{
	static const struct {
		int *fails;
		int number;
		const char *name;
	} rows[] = {{&kernel.flush_error, EIO, "a last chunk that the disk does not take"},
		    {&kernel.close_error, ENOSPC, "a file that cannot be closed"}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t before = open_fds();

		begin();
		tick(1);
		*rows[i].fails = rows[i].number;
		is_u64(-recorder_close(rec), rows[i].number, rows[i].name);
		is_u64(open_fds(), before, "it is closed");
	}
	begin();
	tick(1);
	kernel.flush_error = EIO;
	tick(2);
	kernel.truncate_error = EPERM;
	is_u64(-recorder_close(rec), EPERM, "a file that cannot be truncated");
	begin();
	tick(1);
	kernel.flush_error = EIO;
	tick(2);
	kernel.close_error = ENOSPC;
	is_u64(-recorder_close(rec), EIO, "the first error is told");
	begin();
	is_u64(recorder_close(rec), 0, "a recording without records");
	is_u64(bytes_of(path), RECORDING_HEADER_BYTES, "has a header only");
	unlink(path);
}

/* ---- reading ---- */

static void put_file(const void *bytes, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, bytes, n) != (ssize_t)n)
		abort();
	close(fd);
}

static void is_refused(int err, const char *why)
{
	size_t before = open_fds();
	struct source *src = NULL;
	char want[512];
	int got = replay_open(path, &src, error, sizeof(error));

	snprintf(want, sizeof(want), why, path);
	ok(got == -err && !src, "%d: %s", got, why);
	is_str(error, want, "this is told");
	is_u64(open_fds(), before, "no file stays open");
}

static void test_headers(void)
{
	unsigned char head[RECORDING_HEADER_BYTES], other[RECORDING_HEADER_BYTES];
	struct source *src;

	memset(&kernel, 0, sizeof(kernel));
	recording_header(head);
	is_refused(ENOENT, "cannot read the recording %s: No such file or directory");
	put_file("", 0);
	is_refused(EINVAL, "%s: truncated at offset 0: the file is empty");
	for (size_t n = 1; n < sizeof(head); n++) {
		char want[128];

		snprintf(want, sizeof(want),
			 "%%s: truncated at offset %zu: a recording's header takes %zu bytes", n,
			 sizeof(head));
		put_file(head, n);
		is_refused(EINVAL, want);
	}
	for (size_t i = 0; i < 8; i++) {
		memcpy(other, head, sizeof(head));
		other[i]++;
		put_file(other, sizeof(other));
		is_refused(EINVAL, "%s: not a faultscope recording (offset 0: no magic)");
		put_file(other, i + 1);
		is_refused(EINVAL, "%s: not a faultscope recording (offset 0: no magic)");
	}
	memcpy(other, head, sizeof(head));
	other[8] = 2;
	put_file(other, sizeof(other));
	is_refused(EINVAL, "%s: format 2 (offset 8); this faultscope reads 3");
	memcpy(other, head, sizeof(head));
	for (int i = 0; i < 4; i++)
		other[12 + i] = head[15 - i];
	put_file(other, sizeof(other));
	is_refused(EINVAL, "%s: recorded on a machine of the other byte order (offset 12)");
	memcpy(other, head, sizeof(head));
	other[12] = 9;
	put_file(other, sizeof(other));
	is_refused(EINVAL, "%s: format 3 (offset 8); this faultscope reads 3");
	put_file(head, sizeof(head));
	kernel.stat_error = EIO;
	is_refused(EIO, "cannot read the recording %s: Input/output error");
	kernel.open_error = ENOMEM;
	is_refused(ENOMEM, "cannot read the recording %s: Cannot allocate memory");
	if (!ok(!replay_open(path, &src, error, sizeof(error)), "a header alone can be read"))
		return;
	is_u64(replay_facts(src)->bytes, sizeof(head), "its size");
	is_u64(replay_facts(src)->format, 3, "its format");
	is_u64(replay_last_ns(src), 0, "it has no last record");
	src->ops->close(src);
	unlink(path);
}

static void test_directory(void)
{
	mkdir(path, 0700);
	is_refused(EINVAL, "%s: not a regular file: a recording is one");
	rmdir(path);
}

int main(void)
{
	path = strdup(fixture_path("recording"));
	test_no_file();
	test_first_failure();
	test_end();
	test_headers();
	test_directory();
	free((char *)path);
	return tap_done();
}
