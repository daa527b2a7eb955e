/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * waiting THREADS N: half of the threads wait in accept(), the others in recvmsg(). While they
 * wait, the program opens and closes N files. Then each thread gets what it waits for. Prints the
 * counts "opens" and "accepts".
 *
 * waiting THREADS N --refuse M: then calls eventfd() M times. A seccomp filter makes each of these
 * calls fail with EMFILE. With --early, the filter exists before --wait.
 */
#include "common.h"

#include <dirent.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>

static int listener, receiver, sender;
static long opens; /* calls of open() that succeeded */
static struct sockaddr_un address = {.sun_family = AF_UNIX};

static void *wait_to_accept(void *arg)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		die("accept");
	close(fd);
	return arg;
}

static void *wait_to_receive(void *arg)
{
	char byte;
	struct iovec part = {&byte, 1};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

	if (recvmsg(receiver, &message, 0) != 1)
		die("recvmsg");
	return arg;
}

/* Waits until each thread but the main one sleeps in its call. */
static void wait_for_sleepers(long threads)
{
	long asleep;

	do {
		DIR *tasks = opendir("/proc/self/task");
		char path[300], text[256], *end;
		struct dirent *task;

		asleep = 0;
		opens += tasks != NULL;
		while (tasks && (task = readdir(tasks))) {
			FILE *f;

			snprintf(path, sizeof(path), "/proc/self/task/%s/stat", task->d_name);
			f = task->d_name[0] == '.' ? NULL : fopen(path, "re");
			opens += f != NULL;
			if (f && fgets(text, sizeof(text), f) && (end = strrchr(text, ')')))
				asleep += end[2] == 'S';
			if (f)
				fclose(f);
		}
		closedir(tasks);
	} while (asleep < threads);
}

static void open_sockets(void)
{
	int ends[2];

	/* an abstract address, which leaves no file */
	snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "waiting-%d", getpid());
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof(address)) ||
	    listen(listener, 64) || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		die("sockets");
	receiver = ends[0];
	sender = ends[1];
}

static void filter_eventfd(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_eventfd2, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EMFILE),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		die("seccomp");
}

static void connect_once(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)))
		die("connect");
	close(fd);
}

int main(int argc, char **argv)
{
	long refuse = 0, threads, files;
	bool early = false;
	pthread_t *thread;
	const char *words[2];
	const struct opt opts[] = {
		{"refuse", OPT_NUMBER, &refuse}, {"early", OPT_FLAG, &early}, {}};

	parse_args(argc, argv, "THREADS N [--refuse M [--early]]", opts, words, 2, 2);
	threads = parse_number(words[0]) / 2 * 2;
	files = parse_number(words[1]);
	thread = calloc(threads, sizeof(*thread));
	open_sockets();
	if (early)
		filter_eventfd();
	wait_for_go();
	for (long i = 0; i < threads; i++)
		thread[i] = start_thread(i % 2 ? wait_to_accept : wait_to_receive, NULL);
	wait_for_sleepers(threads);
	opens += files;
	for (long i = 0; i < files; i++)
		if (close(open("/dev/null", O_RDONLY | O_CLOEXEC)))
			die("open and close");
	for (long i = 0; i < threads; i++) {
		if (i % 2)
			connect_once();
		else if (send(sender, "x", 1, 0) != 1)
			die("send");
	}
	for (long i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	if (refuse && !early)
		filter_eventfd();
	for (long i = 0; i < refuse; i++)
		if (eventfd(0, 0) >= 0 || errno != EMFILE)
			die("eventfd is not refused");
	truth_open();
	truth_number("opens", opens);
	truth_number("accepts", threads / 2);
	truth_number("refused", refuse);
	truth_close();
	return 0;
}
