// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests which threads of a process are alive, as /proc shows them. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alive.h"
#include "tap.h"

static const struct {
	const char *what, *stat;
	bool over;
} texts[] = {
	{"a thread that sleeps", "7 (cat) S 1 7 7 0 -1 4194304 1 0", false},
	{"one that runs", "7 (cat) R 1 7 7 0 -1 4194304 1 0", false},
	{"a zombie", "7 (cat) Z 1 7 7 0 -1 4227084 1 0", true},
	{"a dead thread", "7 (cat) X 1 7 7 0 -1 4194304 1 0", true},
	{"one that exits", "7 (cat) R 1 7 7 0 -1 4194308 1 0", true},
	{"one that exits and waits", "7 (cat) D 1 7 7 0 -1 4 1 0", true},
	{"other flags", "7 (cat) S 1 7 7 0 -1 4194562 1 0", false},
	{"a name like a state", "7 (a) Z 1 1) S 1 7 7 0 -1 4194304 1 0", false},
	{"a name like a live thread", "7 (a) S 1 1) Z 1 7 7 0 -1 4194304 1 0", true},
	{"a text that is cut", "7 (cat) S", false},
	{"a zombie's text that is cut", "7 (cat) Z", true},
	{"no name", "7", false},
	{"nothing", "", false},
};

static void *go_on(void *unused)
{
	pause();
	return unused;
}

/* Begins a process whose main thread exits, and returns its pid. */
static pid_t without_main_thread(void)
{
	pthread_t other;
	pid_t pid = fork();

	if (!pid) {
		alarm(60);
		pthread_create(&other, NULL, go_on, NULL);
		pthread_exit(NULL);
	}
	return pid;
}

static bool main_is_over(pid_t pid)
{
	char path[48], text[512];
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "r");
	n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;
	if (f)
		fclose(f);
	text[n] = 0;
	return alive_is_over(text);
}

static void test_threads(void)
{
	pid_t pid = without_main_thread();
	char path[32];
	int proc;

	for (int i = 0; i < 2000 && !main_is_over(pid); i++)
		usleep(1000);
	ok(main_is_over(pid), "a main thread that has exited is a zombie");
	snprintf(path, sizeof(path), "/proc/%d", pid);
	proc = open(path, O_PATH | O_DIRECTORY);
	ok(alive_below(proc) && alive_below(proc) != (uint32_t)pid, "another thread is alive");
	is_u64(alive_thread(pid), alive_below(proc), "it stands for the process");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	is_u64(alive_below(proc), 0, "none is alive in a process that has ended");
	close(proc);
	is_u64(alive_thread(pid), pid, "its pid stays");
	is_u64(alive_thread(getpid()), getpid(), "this process has a main thread");
}

/* A program may run without standard input: then the list of threads has the descriptor 0. */
static void test_descriptor_0(void)
{
	int own = open("/proc/self", O_PATH | O_DIRECTORY);
	int proc = fcntl(own, F_DUPFD_CLOEXEC, 10);

	close(own);
	is_u64(alive_below(proc), getpid(), "this thread is alive");
	ok(fcntl(0, F_GETFD) < 0, "nothing is left open");
	close(proc);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		ok(alive_is_over(texts[i].stat) == texts[i].over, "%s", texts[i].what);
	test_threads();
	test_descriptor_0();
	return tap_done();
}
