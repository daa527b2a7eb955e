// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe/rights.h"
#include "tap.h"

static const struct right keep[] = {{CAP_KILL, -1, "a"}, {CAP_BPF, CAP_SYS_ADMIN, "b"}};
static struct rights left;
static int before; /* an fd that was opened before capabilities were dropped */

static bool has(int cap, cap_flag_t set)
{
	cap_flag_value_t v = CAP_CLEAR;
	cap_t caps = cap_get_proc();

	cap_get_flag(caps, cap, set, &v);
	cap_free(caps);
	return v == CAP_SET;
}

static int count_caps(cap_flag_t set)
{
	int n = 0;

	for (int cap = 0; cap < cap_max_bits(); cap++)
		n += has(cap, set);
	return n;
}

static int error_of(int result)
{
	return result < 0 ? errno : 0;
}

static int error_of_connect(void)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9)};
	int fd = socket(AF_INET, SOCK_STREAM, 0), err;

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	err = error_of(connect(fd, (struct sockaddr *)&to, sizeof(to)));
	close(fd);
	return err;
}

static void check_files(void)
{
	char byte;

	if (!left.landlock) {
		ok(left.no_landlock && *left.no_landlock, "why there is no landlock is told");
		return;
	}
	is_u64(error_of(open("/proc/self/stat", O_RDONLY)), 0, "/proc can be read");
	is_u64(error_of(open("/sys", O_RDONLY | O_DIRECTORY)), 0, "/sys can be listed");
	is_u64(error_of(open("/proc/self/comm", O_WRONLY)), EACCES, "but not written");
	is_u64(error_of(open("/etc/passwd", O_RDONLY)), EACCES, "other files cannot be read");
	is_u64(error_of(open("/tmp/faultscope-rights", O_WRONLY | O_CREAT, 0600)), EACCES,
	       "nor made");
	is_u64(error_of(execl("/bin/true", "true", NULL)), EACCES, "nor run");
	is_u64(error_of(kill(getppid(), 0)), left.landlock >= 6 && !left.nr_kept ? EPERM : 0,
	       "signals go out where CAP_KILL is kept for them");
	ok(left.landlock < 4 || error_of_connect() == EACCES, "nor is there a way out by TCP");
	is_u64(read(before, &byte, 1), 1, "what was open stays so");
	ok(open("/etc/group", O_RDONLY) >= 0 && open("/usr/include", O_RDONLY | O_DIRECTORY) >= 0,
	   "what the scope names can be read");
	is_u64(error_of(open("/etc/group", O_WRONLY)), EACCES, "not written");
}

/* Runs in a child, because a process cannot regain capabilities that it has dropped. */
static void drop_and_check(size_t kept, bool root)
{
	static const char *const places[] = {"/etc/group", "/usr/include", "/nowhere", NULL};
	const struct rights_scope scope = {.readable = places};

	rights_drop(keep, kept, &scope, &left);
	is_str(left.failed, "", "nothing failed");
	is_u64(left.nr_kept, root ? kept : 0, "what is kept, of what there was");
	is_u64(count_caps(CAP_PERMITTED), left.nr_kept, "no other is permitted");
	is_u64(count_caps(CAP_EFFECTIVE), left.nr_kept, "nor in effect");
	is_u64(count_caps(CAP_INHERITABLE), 0, "none is inheritable");
	for (int cap = 0; root && cap < cap_max_bits(); cap++)
		if (cap_get_bound(cap) || cap_get_ambient(cap))
			ok(false, "%d is in the bounding or the ambient set", cap);
	is_u64(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), 1, "no_new_privs");
	check_files();
}

static void in_child(size_t kept, bool root)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		tap_failed = 0;
		drop_and_check(kept, root);
		_exit(tap_failed ? 100 : tap_count);
	}
	waitpid(pid, &status, 0);
	tap_count = WIFEXITED(status) ? WEXITSTATUS(status) : 100;
	if (tap_count == 100)
		tap_failed++;
}

/* Runs in a child. Of more rights than can be kept, the first ones are. */
static void keep_too_many(void)
{
	static const struct right many[] = {{CAP_KILL, -1, "1"},
					    {CAP_CHOWN, -1, "2"},
					    {CAP_SETUID, -1, "3"},
					    {CAP_SETGID, -1, "4"},
					    {CAP_SETPCAP, -1, "5"}};
	pid_t pid;
	int status;

	for (size_t i = 0; i < RIGHTS_KEPT_MAX + 1; i++)
		if (!has(many[i].capability, CAP_PERMITTED))
			return; /* the root of a container may lack them */
	pid = fork();
	if (!pid) {
		rights_drop(many, RIGHTS_KEPT_MAX + 1, &(struct rights_scope){}, &left);
		_exit(left.nr_kept == RIGHTS_KEPT_MAX && !strcmp(left.kept[3].why, "4") &&
		      has(CAP_SETGID, CAP_EFFECTIVE) && !has(CAP_SETPCAP, CAP_EFFECTIVE));
	}
	waitpid(pid, &status, 0);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 1, "of five rights, four are kept");
}

static int ask(void *ctx)
{
	*(int *)ctx = count_caps(CAP_EFFECTIVE);
	return -EPERM;
}

int main(void)
{
	bool root = has(CAP_SETPCAP, CAP_EFFECTIVE) && has(CAP_KILL, CAP_EFFECTIVE);
	int had = count_caps(CAP_EFFECTIVE), during = -1, answer = 0;
	char name[32];

	before = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
	is_u64(-rights_try_without(ask, &during, &answer), 0, "something is tried without rights");
	is_u64(during, 0, "there are none meanwhile");
	is_u64(-answer, EPERM, "its answer comes through");
	is_u64(count_caps(CAP_EFFECTIVE), had, "and all are back");
	is_str(rights_name(CAP_BPF, name, sizeof(name)), "cap_bpf", "the name of a capability");
	in_child(0, root);
	in_child(2, root);
	if (root)
		keep_too_many();
	return tap_done();
}
