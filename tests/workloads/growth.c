/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Leaks mappings or fds as common bugs do. Each kind of leak has its own functions, so that its
 * call stacks differ from those of the others. With --children, forked children leak too.
 */
#include "common.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#pragma GCC optimize("no-omit-frame-pointer", "no-optimize-sibling-calls")

#define MOST 60000

static const char *prefix = "torch";
static struct sockaddr_in peer = { .sin_family = AF_INET };
static bool keep_fds;
static pid_t closer;

/* Creates shared memory with a name like PyTorch's, torch_PID_RANDOM_N. Unlinks and maps it. */
__attribute__((noinline)) static bool share_tensor(long n)
{
	char path[200];
	void *at;
	int fd;

	snprintf(path, sizeof(path), "/dev/shm/%s_%d_%u_%ld", prefix, getpid(),
		 2654435769U * (unsigned int)(n + 1), n);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, PAGE_BYTES))
		return false;
	unlink(path);
	at = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (!keep_fds)
		close(fd);
	return at != MAP_FAILED;
}

__attribute__((noinline)) static bool collate_batch(long n)
{
	bool made = share_tensor(n);

	/* prevents a tail call, which would hide this function in call stacks */
	__asm__ volatile("" ::: "memory");
	return made;
}

/*
 * Leaks a mapping. The protection of each mapping differs from that of the mapping before it, so
 * that adjacent mappings do not merge.
 */
__attribute__((noinline)) static bool leak_mapping(long n)
{
	void *at = mmap(NULL, PAGE_BYTES, n & 1 ? PROT_READ : PROT_NONE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return at != MAP_FAILED;
}

/* Leaks nothing, for comparison: unmaps each mapping at once. */
__attribute__((noinline)) static bool churn_mapping(long n)
{
	void *at = mmap(NULL, PAGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)n;
	return at != MAP_FAILED && !munmap(at, PAGE_BYTES);
}

/* Unmaps a page in the middle of a mapping, so that the mapping becomes two. */
__attribute__((noinline)) static bool cut_hole(long n)
{
	static char *whole;

	if (!whole)
		whole = mmap(NULL, 2L * MOST * PAGE_BYTES, PROT_NONE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return whole != MAP_FAILED && !munmap(whole + (2 * n + 1) * PAGE_BYTES, PAGE_BYTES);
}

static void *idle(void *arg)
{
	pause();
	return arg;
}

__attribute__((noinline)) static bool spawn_job(long n)
{
	(void)n;
	start_thread(idle, NULL);
	return true;
}

/* Leaks a socket: the peer closes the connection, but this process keeps its socket open. */
__attribute__((noinline)) static bool forget_connection(long n)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char byte;

	(void)n;
	if (fd < 0 || connect(fd, (struct sockaddr *)&peer, sizeof(peer)))
		return false;
	return read(fd, &byte, 1) == 0;
}

static void prepare_peer(void)
{
	socklen_t length = sizeof(peer);
	pid_t parent = getpid();
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	peer.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (listener < 0 || bind(listener, (struct sockaddr *)&peer, sizeof(peer)) ||
	    listen(listener, 16) || getsockname(listener, (struct sockaddr *)&peer, &length))
		die("listening socket");
	closer = fork_or_die();
	if (closer) {
		close(listener);
		return;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	while (getppid() == parent)
		close(accept(listener, NULL, NULL));
	_exit(0);
}

static const struct kind {
	const char *name;
	bool (*make)(long n);
} kinds[] = {
	{ "tensor", collate_batch }, { "leak", leak_mapping },	     { "churn", churn_mapping },
	{ "thread", spawn_job },     { "socket", forget_connection }, { "split", cut_hole },
};

static const struct kind *find_kind(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	errno = 0;
	die("no such kind: %s", name);
}

static long make_all(const struct kind *kind, long wanted, long rate)
{
	long long start = now_ns();
	long made = 0;

	while (made < wanted && made < MOST && kind->make(made))
		keep_rate(start, ++made, rate);
	return made;
}

static pid_t start_child(const struct kind *kind, long wanted)
{
	int pipes[2];
	pid_t child;
	char byte;

	if (pipe2(pipes, O_CLOEXEC))
		die("pipe");
	child = fork_or_die();
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		byte = make_all(kind, wanted, 0) == wanted;
		if (write(pipes[1], &byte, 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(pipes[1]);
	if (read(pipes[0], &byte, 1) != 1 || !byte)
		die("a child could not make %ld", wanted);
	close(pipes[0]);
	return child;
}

int main(int argc, char **argv)
{
	long wanted, before = 0, rate = 0, children = 0, made;
	const char *words[2];
	const struct opt opts[] = {
		{ "before", OPT_NUMBER, &before },
		{ "rate", OPT_NUMBER, &rate },
		{ "children", OPT_NUMBER, &children },
		{ "prefix", OPT_TEXT, &prefix },
		{ "keep-fds", OPT_FLAG, &keep_fds },
		{ 0 },
	};
	const struct kind *kind;
	char key[32];
	pid_t child;

	parse_args(argc, argv,
		   "KIND N [--before N] [--rate PER_SEC] [--children N] [--prefix NAME] "
		   "[--keep-fds]",
		   opts, words, 2, 2);
	kind = find_kind(words[0]);
	wanted = parse_count(words[1]);
	catch_stop();
	if (kind->make == forget_connection)
		prepare_peer();
	if (make_all(kind, before, 0) != before)
		die("%s: %ld could not be made", kind->name, before);
	wait_for_go();
	made = make_all(kind, wanted, rate);

	truth_open();
	truth_text("kind", kind->name);
	truth_number("made", made);
	for (long i = 0; i < children; i++) {
		child = start_child(kind, wanted / 2);
		snprintf(key, sizeof(key), "child%ld", i);
		truth_number(key, child);
	}
	truth_number("map_count", map_count());
	truth_close();
	return 0;
}
