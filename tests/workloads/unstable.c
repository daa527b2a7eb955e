/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Maps memory while its stack, its code or its mappings change:
 *   scribble   another thread overwrites the outer frames of the thread that maps
 *   protected  the outer frames of the thread that maps cannot be read
 *   reload     a library that calls back is loaded and unloaded again and again
 *   libraries  the calls go through the first and the last of many libraries
 *   forks      each mapping is made by a new forked child, which exits at once
 *
 * Usage: unstable scribble|protected|reload|libraries|forks N [--library FILE] [--libraries COUNT]
 *
 * FILE is the path of the library. With `libraries`, the files are FILE.0, FILE.1, ...
 */
#include "common.h"

#include <dlfcn.h>

#pragma GCC optimize("omit-frame-pointer", "no-optimize-sibling-calls")

#define NOINLINE    __attribute__((noinline, noclone))
#define KEEP	    __asm__ volatile("" ::: "memory")
#define SOON_MS	    3000 /* milliseconds after which faultscope has the tables of all libraries */
#define STACK_BYTES (1 << 20)
#define OUTER	    20 /* number of frames that are broken */

static long wanted;
static const char *library = "";
static long libraries = 1;
static unsigned long *low, *high; /* the outer frames */
static bool is_protected;
static volatile bool done;

static NOINLINE void map_one(long n)
{
	if (mmap(NULL, PAGE_BYTES, n & 1 ? PROT_READ : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		 0) == MAP_FAILED)
		die("mmap");
	KEEP;
}

static NOINLINE void map_all(void)
{
	for (long i = 0; i < wanted; i++)
		map_one(i);
	KEEP;
}

/* Writes addresses of code, of the stack itself, and random words into the outer frames. */
static void *scribble(void *arg)
{
	unsigned long random = 88172645463325252UL;

	while (!done) {
		for (unsigned long *at = low; at < high; at++) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			*(volatile unsigned long *)at =
				random & 1	? (unsigned long)map_all + (random >> 8 & 4095)
				: random & 2 ? (unsigned long)(low + (random >> 8) % (high - low))
					     : random;
		}
	}
	return arg;
}

/* Maps memory. The caller's frames are broken then, so this function must not return. */
static NOINLINE void never_return(void)
{
	map_all();
	done = true;
	truth_number("mapped", wanted);
	truth_close();
	while (done)
		pause();
}

static NOINLINE void outer(int n)
{
	volatile unsigned long frame[512];

	frame[0] = n;
	if (!n)
		high = (unsigned long *)frame + 512;
	if (n < OUTER) {
		outer(n + 1);
	} else {
		/* the frames from here on are not touched */
		low = (unsigned long *)frame + 512;
		if (is_protected)
			mprotect((void *)(((unsigned long)low + 4095) & ~4095UL), OUTER / 2 * 4096,
				 PROT_NONE);
		never_return();
	}
	KEEP;
}

/* Maps memory on a stack whose outer frames are in pages of their own. */
static void *on_broken_stack(void *arg)
{
	outer(0);
	KEEP;
	return arg;
}

static NOINLINE void by_broken_stack(void)
{
	pthread_attr_t attr;
	pthread_t thread;
	char *stack = mmap(NULL, 4 * STACK_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, stack, 4 * STACK_BYTES);
	errno = pthread_create(&thread, &attr, on_broken_stack, NULL);
	if (errno)
		die("pthread_create");
	while (!low)
		usleep(1000);
	if (!is_protected)
		scribble(NULL);
	for (;;)
		pause();
}

static void *load(const char *path, void (**ret_call)(void (*)(void)))
{
	void *lib = dlopen(path, RTLD_NOW);

	if (!lib)
		die("%s", dlerror());
	*(void **)ret_call = dlsym(lib, "call_back");
	if (!*ret_call)
		die("%s", dlerror());
	return lib;
}

static long made;

static void map_next(void)
{
	map_one(made++);
	KEEP;
}

static NOINLINE void by_reload(void)
{
	void (*call)(void (*)(void));

	while (made < wanted) {
		void *lib = load(library, &call);

		for (int i = 0; i < 10 && made < wanted; i++)
			call(map_next);
		dlclose(lib);
	}
}

static void (*last_call)(void (*)(void));

static void through_last(void)
{
	last_call(map_all);
	KEEP;
}

static NOINLINE void by_libraries(void)
{
	void (*first_call)(void (*)(void)) = NULL;

	for (long i = 0; i < libraries; i++) {
		char path[512];

		snprintf(path, sizeof(path), "%s.%ld", library, i);
		load(path, i ? &last_call : &first_call);
	}
	told_by_input(SOON_MS);
	first_call(through_last);
}

static NOINLINE void by_forks(void)
{
	for (long i = 0; i < wanted; i++) {
		pid_t child = fork_or_die();

		if (!child) {
			map_one(i);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
}

int main(int argc, char **argv)
{
	const struct opt opts[] = {
		{"library", OPT_TEXT, &library},
		{"libraries", OPT_NUMBER, &libraries},
		{0},
	};
	const char *words[2];

	parse_args(argc, argv,
		   "scribble|protected|reload|libraries|forks N [--library FILE] "
		   "[--libraries COUNT]",
		   opts, words, 2, 2);
	wanted = parse_number(words[1]);
	wait_for_go();
	truth_open();
	if (!strcmp(words[0], "scribble") || !strcmp(words[0], "protected")) {
		is_protected = words[0][0] == 'p';
		by_broken_stack();
	} else if (!strcmp(words[0], "reload")) {
		by_reload();
	} else if (!strcmp(words[0], "libraries")) {
		by_libraries();
	} else if (!strcmp(words[0], "forks")) {
		by_forks();
	} else {
		die("no such way: %s", words[0]);
	}
	truth_number("mapped", wanted);
	truth_close();
	return 0;
}
