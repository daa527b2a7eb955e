/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Makes an exact number of faults, mappings and fds in a few milliseconds, then exits. */
#include "common.h"

#include <link.h>

/* The requested numbers, and memory for the results. Parent and child share this struct. */
struct brief {
	long faults;
	long maps;
	long fds;
	long ms;
	bool close;
	char *area;
	void **made_maps;
	int *made_fds;
	struct faults *work;
};

static int touch_image(struct dl_phdr_info *image, size_t size, void *data)
{
	(void)size;
	(void)data;
	for (int i = 0; i < image->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &image->dlpi_phdr[i];
		uintptr_t at = image->dlpi_addr + part->p_vaddr;
		uintptr_t end = at + part->p_memsz;

		if (part->p_type != PT_LOAD || !(part->p_flags & PF_R))
			continue;
		for (at &= -PAGE_BYTES; at < end; at += PAGE_BYTES)
			read_pages((char *)at, 1);
	}
	return 0;
}

/* Uses only direct system calls, because library functions would cause page faults. */
static __attribute__((noinline)) void make_all(const struct brief *brief, long faults, long maps,
					       long fds)
{
	write_pages(brief->area, faults);
	for (long i = 0; i < maps; i++) {
		brief->made_maps[i] = map_unmergeable(i);
		if (brief->made_maps[i] == MAP_FAILED)
			die("mmap of map %ld", i);
	}
	for (long i = 0; i < fds; i++) {
		brief->made_fds[i] = syscall(SYS_openat, AT_FDCWD, "/dev/null",
					     O_RDONLY | O_CLOEXEC);
		if (brief->made_fds[i] < 0)
			die("open /dev/null, descriptor %ld", i);
	}
}

static void give_back(const struct brief *brief)
{
	for (long i = 0; i < brief->maps; i++)
		munmap(brief->made_maps[i], PAGE_BYTES);
	for (long i = 0; i < brief->fds; i++)
		close(brief->made_fds[i]);
}

/* Touches all pages that the work uses beforehand, so that only requested faults are counted. */
static void live(const struct brief *brief)
{
	long long start = now_ns();
	struct faults work;

	dl_iterate_phdr(touch_image, NULL);
	memset(brief->made_maps, 0, (brief->maps + 1) * sizeof(*brief->made_maps));
	memset(brief->made_fds, 0, (brief->fds + 1) * sizeof(*brief->made_fds));
	*brief->work = faults_now(RUSAGE_SELF);
	syscall(SYS_getpid);
	make_all(brief, 0, 0, 0);

	work = faults_now(RUSAGE_SELF);
	make_all(brief, brief->faults, brief->maps, brief->fds);
	*brief->work = faults_since(RUSAGE_SELF, work);
	if (brief->close)
		give_back(brief);
	sleep_until(start + brief->ms * 1000000);
}

static pid_t live_as_child(const struct brief *brief, struct rusage *usage)
{
	pid_t child = fork_or_die();
	int status;

	if (!child) {
		live(brief);
		_exit(0);
	}
	if (wait4(child, &status, 0, usage) != child || status)
		die("child ended with status %#x", status);
	return child;
}

int main(int argc, char **argv)
{
	struct brief brief = { .faults = 500, .maps = 40, .fds = 30, .ms = 3 };
	long times = 0;
	const struct opt opts[] = {
		{ "faults", OPT_NUMBER, &brief.faults },
		{ "maps", OPT_NUMBER, &brief.maps },
		{ "fds", OPT_NUMBER, &brief.fds },
		{ "ms", OPT_NUMBER, &brief.ms },
		{ "times", OPT_NUMBER, &times },
		{ "close", OPT_FLAG, &brief.close },
		{ 0 },
	};
	pid_t first = 0, last = getpid();
	struct rusage usage;
	long long start, lived;

	parse_args(argc, argv,
		   "[--faults F] [--maps M] [--fds D] [--ms T] [--times CHILDREN] [--close]", opts,
		   NULL, 0, 0);
	brief.area = map_pages(brief.faults);
	brief.made_maps = calloc(brief.maps + 1, sizeof(*brief.made_maps));
	brief.made_fds = calloc(brief.fds + 1, sizeof(*brief.made_fds));
	brief.work = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
			  0);
	if (!brief.made_maps || !brief.made_fds || brief.work == MAP_FAILED)
		die("setup");
	wait_for_go();

	start = now_ns();
	if (!times) {
		live(&brief);
		getrusage(RUSAGE_SELF, &usage);
	}
	for (long i = 0; i < times; i++) {
		last = live_as_child(&brief, &usage);
		first = first ? first : last;
	}
	lived = (now_ns() - start) / (times ? times : 1);

	truth_open();
	truth_number("times", times);
	truth_number("first_child", first);
	truth_number("child", last);
	truth_number("faults", brief.faults);
	truth_number("maps", brief.maps);
	truth_number("fds", brief.fds);
	truth_number("closed", brief.close);
	truth_number("mean_life_us", lived / 1000);
	truth_number("ru_minflt", usage.ru_minflt);
	truth_number("ru_majflt", usage.ru_majflt);
	truth_faults(*brief.work);
	truth_close();
	return 0;
}
