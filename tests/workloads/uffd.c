/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Causes N page faults one after another. userfaultfd handles each of them after a known delay. */
#include "common.h"

#include <linux/userfaultfd.h>
#include <sys/ioctl.h>

/*
 * Nanoseconds by which a sleep may end too late. So the program sleeps for less than the delay, and
 * waits for the rest in a busy loop.
 */
#define SPIN_NS 200000LL

struct answering {
	int fd;
	long delay_us;
};

static int open_uffd(void)
{
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);

#ifdef UFFD_USER_MODE_ONLY
	if (fd < 0 && errno == EPERM)
		fd = syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
#endif
	if (fd < 0)
		die("userfaultfd");
	return fd;
}

static void watch_area(int fd, char *area, long pages)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register area_of = {
		.range = { (uintptr_t)area, pages * PAGE_BYTES },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};

	if (ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &area_of))
		die("userfaultfd registration");
}

static void delay_until(long long at)
{
	if (at - now_ns() > SPIN_NS)
		sleep_until(at - SPIN_NS);
	while (now_ns() < at)
		;
}

static void *answer(void *arg)
{
	const struct answering *answering = arg;
	struct uffd_msg message;

	while (read(answering->fd, &message, sizeof(message)) == sizeof(message)) {
		struct uffdio_zeropage zero = {
			.range = { message.arg.pagefault.address & -PAGE_BYTES, PAGE_BYTES },
		};

		delay_until(now_ns() + answering->delay_us * 1000);
		if (ioctl(answering->fd, UFFDIO_ZEROPAGE, &zero))
			die("UFFDIO_ZEROPAGE");
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct answering answering = { 0 };
	const struct opt opts[] = { { "delay-us", OPT_NUMBER, &answering.delay_us }, { 0 } };
	long long took, total = 0, least = LLONG_MAX, most = 0;
	struct faults start, made;
	const char *word;
	long pages;
	char *area;

	parse_args(argc, argv, "N --delay-us D", opts, &word, 1, 1);
	pages = parse_number(word);
	if (!pages)
		die("needs at least one fault");
	area = map_pages(pages);
	answering.fd = open_uffd();
	watch_area(answering.fd, area, pages);
	start_thread(answer, &answering);
	wait_for_go();

	faults_now(RUSAGE_THREAD);
	now_ns();
	start = faults_now(RUSAGE_THREAD);
	for (long i = 0; i < pages; i++) {
		took = now_ns();
		read_pages(area + i * PAGE_BYTES, 1);
		took = now_ns() - took;
		total += took;
		least = took < least ? took : least;
		most = took > most ? took : most;
	}
	made = faults_since(RUSAGE_THREAD, start);

	truth_open();
	truth_number("faults", pages);
	truth_number("delay_us", answering.delay_us);
	truth_number("mean_ns", total / pages);
	truth_number("min_ns", least);
	truth_number("max_ns", most);
	truth_faults(made);
	truth_close();
	return 0;
}
