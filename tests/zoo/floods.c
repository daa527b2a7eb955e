/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Test cases of a program that repeats a failing call 20,000 times a second. One of these calls
 * fails for another cause. faultscope must report this cause as well, even if system call and errno
 * are the same as for the other calls.
 */
#include "zoo.h"

#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/un.h>

#define RATE   20000 /* calls a second */
#define MIDDLE (MOST_FLOOD / 2)

static long long started;
static long made;
static struct ask hidden;
static int hidden_error;
static void (*in_the_middle)(void);

static void ask_hidden(void)
{
	struct ask flooding = ask;

	ask = hidden;
	errno = 0;
	if (make_asked() != -1 || errno != hidden_error)
		die("the hidden call was not refused as %s", strerrorname_np(hidden_error));
	ask = flooding;
}

static long make_many(void)
{
	if (!made++)
		started = now_ns();
	if (made == MIDDLE)
		in_the_middle();
	keep_rate(started, made, RATE);
	errno = 0;
	return make_asked();
}

static void hide(int error)
{
	hidden = ask;
	hidden_error = error;
	in_the_middle = ask_hidden;
}

static void space_in_as(void)
{
	size_t bytes = some_bytes();

	ASK(mmap, 0, 1L << 57, PROT_NONE, PRIVATE_ANON, -1, 0);
	hide(ENOMEM);
	ASK(mmap, 0, bytes, RW, PRIVATE_ANON, -1, 0);
	room_as(bytes / 2);
}

/*
 * The hidden call is the one that fails for another cause. It requests less memory than the
 * repeated call, and has usual arguments.
 */
static void window_in_as(void)
{
	size_t bytes = some_bytes();

	fill_window(0x40000000, 0x80000000);
	ASK(mmap, 0, 64 * KIB, PROT_NONE, PRIVATE_ANON | MAP_32BIT, -1, 0);
	hide(ENOMEM);
	ASK(mmap, 0, bytes, PROT_NONE, PRIVATE_ANON, -1, 0);
	room_as(bytes / 2);
}

static char *block;

static void data_in_hole(void)
{
	size_t bytes = some_bytes();

	block = map_anon(4 * PAGE_BYTES, PROT_READ, 0);
	if (munmap(block + PAGE_BYTES, PAGE_BYTES))
		die("munmap");
	ASK(mprotect, P(map_anon(bytes, PROT_READ, 0)), bytes, RW);
	hide(ENOMEM);
	ASK(mprotect, P(block), 4 * PAGE_BYTES, PROT_NONE);
	room_data(bytes / 2);
}

static void fill_hole(void)
{
	if (mmap(block + PAGE_BYTES, PAGE_BYTES, PROT_READ, PRIVATE_ANON | MAP_FIXED_NOREPLACE,
		 -1, 0) == MAP_FAILED)
		die("mmap of the hole");
}

static int plain_file;

static void noexec_in_sealed(void)
{
	int sealed = sized_memfd(PAGE_BYTES, MFD_ALLOW_SEALING);
	int file;

	if (fcntl(sealed, F_ADD_SEALS, F_SEAL_FUTURE_WRITE))
		skip("seals: %s", strerror(errno));
	enter_mount_namespace();
	if (mount("zoo", "/tmp", "tmpfs", MS_NOEXEC, "size=64k"))
		skip("mount: %s", strerror(errno));
	file = open("/tmp/file", O_RDWR | O_CREAT | O_CLOEXEC, 0755);
	if (file < 0 || ftruncate(file, PAGE_BYTES))
		die("/tmp/file");
	plain_file = sized_memfd(PAGE_BYTES, 0);
	ASK(mmap, 0, PAGE_BYTES, RX, MAP_SHARED, file, 0);
	hide(EPERM);
	ASK(mmap, 0, PAGE_BYTES, RW, MAP_SHARED, sealed, 0);
}

static void another_file(void)
{
	ask.arg[4] = plain_file;
}

/* Another limit makes the call fail. The call, its errno and its arguments stay the same. */
static void change_limit(void)
{
	restore_as();
	room_data(PAGE_BYTES);
}

static void as_then_data(void)
{
	size_t bytes = some_bytes();

	ASK(mmap, 0, bytes, RW, PRIVATE_ANON, -1, 0);
	room_as(bytes / 2);
	in_the_middle = change_limit;
}

/* A server that repeats accept without a free file descriptor. */
static void number_in_accept(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	socklen_t length = sizeof(address);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	if (fd < 0 || bind(fd, (void *)&address, sizeof(address.sun_family)) || listen(fd, 8) ||
	    getsockname(fd, (void *)&address, &length) ||
	    connect(socket(AF_UNIX, SOCK_STREAM, 0), (void *)&address, length))
		die("listen");
	ASK(dup2, STDOUT_FILENO, 10000);
	hide(EBADF);
	ASK(accept4, fd, 0, 0, SOCK_CLOEXEC);
	leave_free(0);
}

static void data_in_bad_fd(void)
{
	size_t bytes = some_bytes();

	ASK(mmap, 0, bytes, RW, PRIVATE_ANON, -1, 0);
	hide(ENOMEM);
	ASK(mmap, 0, PAGE_BYTES, PROT_READ, MAP_PRIVATE, -1, 0);
	room_data(bytes / 2);
}

static void no_file(void)
{
	ask.arg[3] |= MAP_ANONYMOUS;
}

#define FLOOD(prepare_, lift_)                                                                     \
	.prepare = prepare_, .make = make_many, .lift = lift_, .times = MOST_FLOOD

const struct zoo_case flood_cases[] = {
	{ "flood-as-hides-space", { "mmap", ENOMEM, "rlimit_as" }, FLOOD(space_in_as, restore_as),
	  .also = { "mmap", ENOMEM, "address_space" } },
	{ "flood-as-hides-window", { "mmap", ENOMEM, "rlimit_as" },
	  FLOOD(window_in_as, restore_as), .also = { "mmap", ENOMEM, "address_space" } },
	{ "flood-hole-hides-data", { "mprotect", ENOMEM, "range_hole" },
	  FLOOD(data_in_hole, fill_hole), .also = { "mprotect", ENOMEM, "rlimit_data" } },
	{ "flood-sealed-hides-noexec", { "mmap", EPERM, "sealed" },
	  FLOOD(noexec_in_sealed, another_file), .also = { "mmap", EPERM, "noexec_mount" } },
	{ "flood-as-then-data", { "mmap", ENOMEM, "rlimit_as" }, FLOOD(as_then_data, restore_data),
	  .also = { "mmap", ENOMEM, "rlimit_data" } },
	{ "flood-accept-hides-dup2", { "accept4", EMFILE, "rlimit_nofile" },
	  FLOOD(number_in_accept, restore_nofile),
	  .also = { "dup2", EBADF, "descriptor_number_limit" } },
	{ "flood-bad-fd-hides-data", { "mmap", EBADF, "bad_descriptor" },
	  FLOOD(data_in_bad_fd, no_file), .also = { "mmap", ENOMEM, "rlimit_data" } },
	{ 0 },
};
