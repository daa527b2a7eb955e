/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Test cases of execve calls that fail, and of programs that fail after execve, before main() runs.
 */
#include "zoo.h"

#include <sys/mount.h>

#define NOT_RUN	  111 /* exit status of a child whose execve failed */
#define ARG_BYTES (100 * KIB)
#define ARGS	  16

static char *arguments[ARGS + 2];
static char path[64] = "/proc/self/exe";

static void quiet(void)
{
	int null = open("/dev/null", O_RDWR);

	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
}

/*
 * An execve that must fail is called in this process. An execve that must succeed is called in a
 * child (`lifted` is true), because it would replace this program.
 */
static bool lifted;

static long run_program(void)
{
	char *const environment[] = { NULL };
	int status;
	pid_t child;

	if (!lifted) {
		execve(path, arguments, environment);
		return -1;
	}
	child = fork_or_die();
	if (!child) {
		quiet();
		execve(path, arguments, environment);
		_exit(NOT_RUN);
	}
	if (waitpid(child, &status, 0) != child)
		die("waitpid");
	return WIFEXITED(status) && WEXITSTATUS(status) == NOT_RUN ? -1 : 0;
}

static void long_arguments(size_t bytes, int count)
{
	arguments[0] = path;
	for (int i = 1; i <= count; i++) {
		arguments[i] = malloc(bytes + 1);
		memset(arguments[i], 'x', bytes);
		arguments[i][bytes] = '\0';
	}
}

/* The arguments of execve together may take a quarter of RLIMIT_STACK. */
static void past_stack(void)
{
	long_arguments(ARG_BYTES, ARGS);
	soft_limit(RLIMIT_STACK, 4 * MIB);
}

static void lift_stack(void)
{
	restore_stack();
	lifted = true;
}

/* One argument may be at most 32 pages long. No limit can change this. */
static void past_one(void)
{
	long_arguments(32 * PAGE_BYTES, 1);
}

static void shorten_one(void)
{
	arguments[1][32 * PAGE_BYTES - 1] = '\0';
	lifted = true;
}

static void not_to_run(void)
{
	static char whole[4096];
	ssize_t got;
	int from, to;

	enter_mount_namespace();
	from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (mount("zoo", "/tmp", "tmpfs", MS_NOEXEC, "size=16m"))
		skip("mount: %s", strerror(errno));
	strcpy(path, "/tmp/program");
	to = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
	while ((got = read(from, whole, sizeof(whole))) > 0)
		if (write(to, whole, got) != got)
			die("copy of the program");
	close(to);
	arguments[0] = path;
}

static void allow_to_run(void)
{
	if (mount("zoo", "/tmp", NULL, MS_REMOUNT, NULL))
		die("mount -o remount,exec");
	lifted = true;
}

/* If setuid() makes a process exceed RLIMIT_NPROC, a later execve in this process fails. */
static pid_t other;
static uid_t user;

static void become_user(void)
{
	if (setresuid(user, user, user))
		_exit(1);
}

static void end_other(void)
{
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
}

static void one_too_many(void)
{
	user = 1000000000 + getpid();
	arguments[0] = path;
	soft_limit(RLIMIT_NPROC, 0); /* the limit is 0, so one process of the user exceeds it */
	other = start_sleeper(become_user);
	at_end(end_other);
}

static long run_as_user(void)
{
	char *const environment[] = { NULL };
	int status;
	pid_t child = fork_or_die();

	if (!child) {
		become_user();
		quiet();
		execve(path, arguments, environment);
		_exit(errno == EAGAIN ? NOT_RUN : 1);
	}
	if (waitpid(child, &status, 0) != child)
		die("waitpid");
	if (!WIFEXITED(status) || WEXITSTATUS(status) != NOT_RUN)
		return 0;
	subject.pid = subject.tid = child;
	errno = EAGAIN;
	return -1;
}

/*
 * RLIMIT_AS is large enough for the new program to start, but its dynamic loader cannot map the C
 * library.
 */
static void small_space(void)
{
	if (access("/bin/true", X_OK) || access("/lib64/ld-linux-x86-64.so.2", X_OK))
		skip("no dynamic /bin/true");
}

static bool enough_space;

static long load_program(void)
{
	char *const words[] = { "true", NULL }, *const environment[] = { NULL };
	int status;
	pid_t child = fork_or_die();

	if (!child) {
		quiet();
		if (!enough_space)
			soft_limit(RLIMIT_AS, 2 * MIB);
		execve("/bin/true", words, environment);
		_exit(NOT_RUN);
	}
	if (waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
	    WEXITSTATUS(status) == NOT_RUN)
		die("/bin/true is not run: %#x", status);
	if (!WEXITSTATUS(status))
		return 0;
	subject.pid = subject.tid = child;
	errno = ENOMEM;
	return -1;
}

static void large_space(void)
{
	enough_space = true;
}

const struct zoo_case exec_cases[] = {
	{ "exec-arguments", { "execve", E2BIG, "rlimit_stack" }, past_stack, run_program,
	  lift_stack },
	{ "exec-argument", { "execve", E2BIG, "bad_argument" }, past_one, run_program,
	  shorten_one },
	{ "exec-noexec", { "execve", EACCES, "noexec_mount" }, not_to_run, run_program,
	  allow_to_run },
	{ "exec-nproc", { "execve", EAGAIN, "rlimit_nproc" }, one_too_many, run_as_user,
	  end_other },
	{ "exec-loader-as", { "mmap", ENOMEM, "rlimit_as" }, small_space, load_program,
	  large_space },
	{ 0 },
};
