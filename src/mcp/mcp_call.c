// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "mcp/mcp_call.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe/host_facts.h"

#define PROGRAM	   "/proc/self/exe"
#define NS_PER_S   1000000000ULL
#define PATIENCE_S 90 /* time that a command may take beside what it measures */
#define GRACE_NS   (5 * NS_PER_S)
#define READ_BYTES 65536

extern char **environ;

static int spawn(struct mcp_call *c, int out, int err)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;
	int failed;

	/* the server blocks the signals that it reads; its children must not */
	sigemptyset(&none);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
	c->words.word[0] = PROGRAM;
	failed = posix_spawnp(&c->pid, PROGRAM, &actions, &attributes, (char **)c->words.word,
			      environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return -failed;
}

int mcp_call_start(struct mcp_call *c, const struct mcp_tool *tool)
{
	int out[2] = {-1, -1}, err[2] = {-1, -1}, failed = 0;

	mcp_result_begin(&c->result, tool);
	c->out = c->err = -1;
	c->deadline_ns = host_monotonic_ns() + (c->words.seconds + PATIENCE_S) * NS_PER_S;
	if (pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC))
		failed = -errno;
	if (!failed)
		failed = spawn(c, out[1], err[1]);
	if (out[1] >= 0)
		close(out[1]);
	if (err[1] >= 0)
		close(err[1]);
	c->out = out[0];
	c->err = err[0];
	return failed;
}

/* Reads once from a pipe, and closes it at its end. */
static bool read_once(struct mcp_call *c, int *fd,
		      void (*take)(struct mcp_result *r, const char *s, size_t len))
{
	char bytes[READ_BYTES];
	ssize_t n = read(*fd, bytes, sizeof(bytes));

	if (n > 0)
		take(&c->result, bytes, n);
	if (n > 0 || (n < 0 && errno == EINTR))
		return true;
	close(*fd);
	*fd = -1;
	return false;
}

bool mcp_call_read_out(struct mcp_call *c)
{
	return read_once(c, &c->out, mcp_result_take);
}

bool mcp_call_read_err(struct mcp_call *c)
{
	return read_once(c, &c->err, mcp_result_say);
}

void mcp_call_check_time(struct mcp_call *c, uint64_t now)
{
	if (now < c->deadline_ns)
		return;
	kill(c->pid, c->late ? SIGKILL : SIGTERM);
	c->late = true;
	c->deadline_ns = now + GRACE_NS;
}

void mcp_call_cancel(struct mcp_call *c)
{
	c->cancelled = true;
	c->deadline_ns = 0;
	mcp_call_check_time(c, host_monotonic_ns());
}

static int wait_for(struct mcp_call *c)
{
	int status = 0;

	while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
		continue;
	c->pid = 0;
	return status;
}

void mcp_call_result(struct mcp_call *c, struct json *j)
{
	int status = wait_for(c);

	if (c->late)
		mcp_result_end(&c->result, &c->words, 128 + SIGTERM,
			       "the command took too long and was ended", j);
	else if (WIFSIGNALED(status))
		mcp_result_end(&c->result, &c->words, 128 + WTERMSIG(status),
			       "a signal ended the command", j);
	else
		mcp_result_end(&c->result, &c->words, WEXITSTATUS(status), NULL, j);
}

void mcp_call_free(struct mcp_call *c)
{
	if (c->pid > 0) {
		kill(c->pid, SIGKILL);
		wait_for(c);
	}
	if (c->out >= 0)
		close(c->out);
	if (c->err >= 0)
		close(c->err);
	json_free(c->arguments);
	json_free(c->id);
	mcp_result_free(&c->result);
	memset(c, 0, sizeof(*c));
	c->out = c->err = -1;
}
