// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "lines/line_helper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/passed_files.h"
#include "probe/rights.h"

#define HELPER_FILES  64 /* maximum number of files whose debug information is held */
#define HELPER_MEMORY (2ULL << 30)
#define HELPER_CPU_S  120
#define HELPER_FOUND  2048 /* number of addresses whose frames are kept; most have one or two */
#define FIRST_FD      3
#define LAST_FD	      1024

struct helper_file {
	__u32 serial;
	struct source_lines *lines; /* NULL: the file has no debug information */
	int fd;
	__u64 used;
};

/* The frames that were found for an address. Many stacks have the same outer frames. */
struct found_frames {
	__u64 address;
	__u32 serial;
	__u32 n;
	struct source_frame frame[];
};

struct helper {
	int socket;
	bool has_libdw, downloads;
	struct libdw dw;
	struct libdebuginfod debuginfod;
	struct helper_file file[HELPER_FILES];
	struct found_frames *found[HELPER_FOUND];
	__u64 clock;
};

static void close_file(struct helper_file *f)
{
	source_lines_close(f->lines);
	if (f->fd >= 0)
		close(f->fd);
	*f = (struct helper_file){.fd = -1};
}

/* Opens the debug information of a file, or else downloads it. */
static void open_file(struct helper *h, const struct line_question *q, int fd,
		      struct helper_file *ret)
{
	*ret = (struct helper_file){.serial = q->serial, .fd = fd};
	if (q->has_lines && !source_lines_open(&h->dw, fd, &ret->lines))
		return;
	if (!h->downloads || !q->build_id_bytes || q->build_id_bytes > LINE_BUILD_ID_BYTES)
		return;
	fd = h->debuginfod.find_debuginfo(h->debuginfod.client, q->build_id, q->build_id_bytes,
					  NULL);
	if (fd < 0)
		return;
	close(ret->fd);
	ret->fd = fd;
	source_lines_open(&h->dw, fd, &ret->lines);
}

/* Returns the debug information of the question's file, and takes over `fd`. */
static struct helper_file *file_of(struct helper *h, const struct line_question *q, int fd)
{
	struct helper_file *oldest = &h->file[0];

	for (size_t i = 0; i < HELPER_FILES; i++) {
		struct helper_file *f = &h->file[i];

		if (f->serial == q->serial) {
			close(fd);
			f->used = ++h->clock;
			return f;
		}
		if (f->used < oldest->used)
			oldest = f;
	}
	close_file(oldest);
	open_file(h, q, fd, oldest);
	oldest->used = ++h->clock;
	return oldest;
}

/* Returns the place of an address. It may hold the frames of another address with the same hash. */
static struct found_frames **place_of(struct helper *h, const struct line_question *q)
{
	const __u64 key[] = {q->address, q->serial};

	return &h->found[hash64_bytes(HASH64_BEGIN, key, sizeof(key)) % HELPER_FOUND];
}

/* Keeps the frames of an answer in place of those that were kept there. */
static void keep_found(struct found_frames **kept, const struct line_question *q,
		       const struct line_answer *a)
{
	size_t bytes = a->n * sizeof(a->frame[0]);
	struct found_frames *new = malloc(sizeof(*new) + bytes);

	if (!new)
		return;
	*new = (struct found_frames){.address = q->address, .serial = q->serial, .n = a->n};
	memcpy(new->frame, a->frame, bytes);
	free(*kept);
	*kept = new;
}

static void answer(struct helper *h, const struct line_question *q, int fd, struct line_answer *ret)
{
	struct found_frames **kept = place_of(h, q), *found = *kept;
	const struct helper_file *f;

	ret->lacks_libdw = !h->has_libdw;
	ret->n = 0;
	if (found && found->address == q->address && found->serial == q->serial) {
		ret->n = found->n;
		memcpy(ret->frame, found->frame, found->n * sizeof(found->frame[0]));
	}
	if (!h->has_libdw || ret->n) {
		close(fd);
		return;
	}
	f = file_of(h, q, fd);
	if (f->lines)
		ret->n = source_lines_find(f->lines, q->address, ret->frame);
	if (ret->n)
		keep_found(kept, q, ret);
}

/* Returns 0, or -errno if there are no more questions. */
static int receive_question(int socket, struct line_question *ret, int *ret_fd)
{
	union passed_files control;
	struct iovec part = {ret, sizeof(*ret)};
	struct msghdr m = {.msg_iov = &part,
			   .msg_iovlen = 1,
			   .msg_control = control.space,
			   .msg_controllen = sizeof(control)};
	struct cmsghdr *c;
	ssize_t n;

	do {
		n = recvmsg(socket, &m, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	c = n == sizeof(*ret) ? CMSG_FIRSTHDR(&m) : NULL;
	if (!c || c->cmsg_type != SCM_RIGHTS)
		return -EPIPE;
	memcpy(ret_fd, CMSG_DATA(c), sizeof(*ret_fd));
	return 0;
}

static void limit(int what, __u64 most)
{
	const struct rlimit value = {most, most};

	setrlimit(what, &value);
}

/*
 * Gives up all privileges. libdw may read further debug files, to which a debug file refers.
 * Downloads need sockets and a cache in the home directory.
 */
static void confine(const struct helper *h)
{
	static const char *const readable[] = {"/usr/lib/debug", NULL};
	const struct rights_scope scope = {.readable = readable, .filters = true};
	struct rights rights = {};

	prctl(PR_SET_NAME, "fs-source-lines");
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_CPU, HELPER_CPU_S);
#ifndef __SANITIZE_ADDRESS__ /* its shadow memory is larger */
	limit(RLIMIT_AS, HELPER_MEMORY);
#endif
	if (h->downloads)
		rights_drop_to(NULL, 0, &rights);
	else
		rights_drop(NULL, 0, &scope, &rights);
}

static _Noreturn void serve(int socket, bool downloads)
{
	struct helper *h = calloc(1, sizeof(*h));
	struct line_answer *a = calloc(1, sizeof(*a));
	struct line_question q;
	int fd;

	if (!h || !a)
		_exit(1);
	for (fd = FIRST_FD; fd < LAST_FD; fd++)
		if (fd != socket)
			close(fd);
	for (size_t i = 0; i < HELPER_FILES; i++)
		h->file[i].fd = -1;
	h->has_libdw = libdw_load(&h->dw);
	h->downloads = h->has_libdw && downloads && libdebuginfod_load(&h->debuginfod);
	confine(h);
	while (!receive_question(socket, &q, &fd)) {
		size_t bytes;

		answer(h, &q, fd, a);
		bytes = offsetof(struct line_answer, frame) + a->n * sizeof(a->frame[0]);
		if (send(socket, a, bytes, MSG_NOSIGNAL) < 0)
			break;
	}
	_exit(0);
}

int line_helper_start(bool downloads, struct line_helper *ret)
{
	int pair[2], err;
	pid_t pid;

	*ret = (struct line_helper){.socket = -1};
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	pid = fork();
	if (!pid)
		serve(pair[1], downloads);
	err = -errno;
	close(pair[1]);
	if (pid < 0) {
		close(pair[0]);
		return err;
	}
	*ret = (struct line_helper){.socket = pair[0], .pid = pid};
	return 0;
}

int line_helper_ask(const struct line_helper *h, const struct line_question *q, int fd)
{
	return passed_files_send(h->socket, q, sizeof(*q), &fd, 1, MSG_DONTWAIT);
}

int line_helper_take(const struct line_helper *h, struct line_answer *ret)
{
	ssize_t n = recv(h->socket, ret, sizeof(*ret), MSG_DONTWAIT);

	if (n < 0)
		return -errno;
	if (n < (ssize_t)offsetof(struct line_answer, frame) || ret->n > SOURCE_FRAMES_MAX ||
	    (size_t)n != offsetof(struct line_answer, frame) + ret->n * sizeof(ret->frame[0]))
		return -EPIPE;
	for (__u32 i = 0; i < ret->n; i++) {
		ret->frame[i].function[SOURCE_TEXT_BYTES - 1] = 0;
		ret->frame[i].file[SOURCE_TEXT_BYTES - 1] = 0;
	}
	return 0;
}

__u64 line_helper_cpu_ns(const struct line_helper *h)
{
	struct timespec used;
	clockid_t clock;

	if (h->pid <= 0 || clock_getcpuclockid(h->pid, &clock) || clock_gettime(clock, &used))
		return 0;
	return used.tv_sec * 1000000000ULL + used.tv_nsec;
}

void line_helper_stop(struct line_helper *h)
{
	if (h->pid <= 0)
		return;
	close(h->socket);
	kill(h->pid, SIGKILL);
	waitpid(h->pid, NULL, 0);
	*h = (struct line_helper){.socket = -1};
}
