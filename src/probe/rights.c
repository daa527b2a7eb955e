// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "probe/rights.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probe/call_filter.h"

/* Copy of struct landlock_ruleset_attr, ABI 6; older ABIs have only its first members. */
struct ruleset {
	__u64 files;
	__u64 net;
	__u64 scopes;
};
#define NET_ALL 3ULL /* Landlock rights to bind and connect TCP sockets */
/* Landlock: forbid connections to abstract UNIX sockets of processes outside of the domain */
#define SCOPE_SOCKETS 1ULL
#define SCOPE_SIGNALS 2ULL /* Landlock: forbid signals to processes outside of the domain */

static const struct {
	int abi;
	unsigned int files; /* number of file access rights that the ABI defines */
	size_t size;
} abis[] = {{1, 13, 8}, {2, 14, 8}, {3, 15, 8}, {4, 15, 16}, {5, 16, 16}, {6, 16, 24}};

static void note(struct rights *r, const char *what, int err)
{
	size_t len = strlen(r->failed);

	snprintf(r->failed + len, sizeof(r->failed) - len, "%s%s: %s", len ? "; " : "", what,
		 strerror(err));
}

const char *rights_name(int capability, char *ret, size_t size)
{
	char *name = cap_to_name(capability);

	snprintf(ret, size, "%s", name ? name : "?");
	cap_free(name);
	return ret;
}

bool rights_are_of_file(void)
{
	return getauxval(AT_SECURE);
}

/*
 * Makes the calling user the effective user, and keeps the permitted capabilities. Without this
 * step, a set-user-ID process opens files as the owner of its program, even if it has no effective
 * capabilities.
 */
static int become_caller(void)
{
	if (geteuid() == getuid() && getegid() == getgid())
		return 0;
	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) || setresgid(getgid(), getgid(), getgid()) ||
	    setresuid(getuid(), getuid(), getuid()))
		return -errno;
	return 0;
}

int rights_set_aside(void)
{
	cap_t caps;
	int err;

	if (!rights_are_of_file())
		return 0;
	err = become_caller();
	caps = cap_get_proc();
	if (!err && (!caps || cap_clear_flag(caps, CAP_EFFECTIVE) || cap_set_proc(caps)))
		err = -errno;
	cap_free(caps);
	return err;
}

static bool permitted(cap_t caps, int capability)
{
	cap_flag_value_t v = CAP_CLEAR;

	return capability >= 0 && !cap_get_flag(caps, capability, CAP_PERMITTED, &v) &&
	       v == CAP_SET;
}

cap_t rights_raise(enum rights_use use)
{
	static const cap_value_t wanted[] = {CAP_BPF, CAP_PERFMON, CAP_SYS_ADMIN, CAP_SYS_RESOURCE,
					     CAP_DAC_READ_SEARCH};
	size_t n = sizeof(wanted) / sizeof(wanted[0]) - (use == RIGHTS_FOR_BPF);
	cap_t had = rights_are_of_file() ? cap_get_proc() : NULL,
	      raised = had ? cap_dup(had) : NULL;

	for (size_t i = 0; raised && i < n; i++)
		if (permitted(raised, wanted[i]))
			cap_set_flag(raised, CAP_EFFECTIVE, 1, &wanted[i], CAP_SET);
	/*
	 * If this fails, the operation of the caller fails too, and the caller reports that error.
	 */
	if (raised)
		cap_set_proc(raised);
	cap_free(raised);
	return had;
}

void rights_lower(cap_t had)
{
	if (had)
		cap_set_proc(had);
	cap_free(had);
}

/*
 * Chooses the capabilities of `keep` that the process has. For each capability that the process
 * lacks, chooses its member `instead`.
 */
static void choose_kept(cap_t caps, const struct right *keep, size_t n, struct rights *ret)
{
	for (size_t i = 0; i < n && ret->nr_kept < RIGHTS_KEPT_MAX; i++) {
		struct right one = keep[i];

		if (!permitted(caps, one.capability))
			one.capability = one.instead;
		if (permitted(caps, one.capability))
			ret->kept[ret->nr_kept++] = one;
	}
}

static void drop_capabilities(const struct right *keep, size_t n, struct rights *ret)
{
	cap_t had = cap_get_proc(), left = cap_init();

	if (!had || !left) {
		note(ret, "capabilities", errno);
		goto out;
	}
	choose_kept(had, keep, n, ret);
	/* Dropping the bounding set needs CAP_SETPCAP. If it fails, no_new_privs suffices. */
	for (int cap = 0; cap < cap_max_bits(); cap++)
		if (cap_drop_bound(cap))
			break;
	if (cap_reset_ambient())
		note(ret, "ambient capabilities", errno);
	for (size_t i = 0; i < ret->nr_kept; i++) {
		cap_value_t one = ret->kept[i].capability;

		cap_set_flag(left, CAP_PERMITTED, 1, &one, CAP_SET);
		cap_set_flag(left, CAP_EFFECTIVE, 1, &one, CAP_SET);
	}
	if (cap_set_proc(left))
		note(ret, "capabilities", errno);
out:
	cap_free(had);
	cap_free(left);
}

#define READING (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define REPLACING                                                                                  \
	(LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR |                              \
	 LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG |                             \
	 LANDLOCK_ACCESS_FS_REMOVE_FILE)

#define RENAMING (LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_REMOVE_FILE)

static int allow_below_fd(int ruleset, int fd, __u64 access)
{
	struct landlock_path_beneath_attr rule = {.allowed_access = access, .parent_fd = fd};
	struct stat st;

	/* Landlock rejects rights that only directories have, if they are set for a file. */
	if (fstat(fd, &st) || !S_ISDIR(st.st_mode))
		rule.allowed_access &= ~(__u64)LANDLOCK_ACCESS_FS_READ_DIR;
	return syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0)
		       ? -errno
		       : 0;
}

static int allow_below(int ruleset, const char *path, __u64 access)
{
	int fd = open(path, O_PATH | O_CLOEXEC), err;

	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
	err = allow_below_fd(ruleset, fd, access);
	close(fd);
	return err;
}

bool rights_keep(const struct rights *r, int capability)
{
	for (size_t i = 0; i < r->nr_kept; i++)
		if (r->kept[i].capability == capability)
			return true;
	return false;
}

static int allow_scope(int ruleset, const struct rights_scope *scope)
{
	int err = allow_below(ruleset, "/proc", READING);

	if (!err)
		err = allow_below(ruleset, "/sys", READING);
	for (size_t i = 0; scope->readable && scope->readable[i] && !err; i++) {
		err = allow_below(ruleset, scope->readable[i], READING);
		/* without search permission for its parent, a directory is unreadable anyway */
		if (err == -EACCES)
			err = 0;
	}
	for (int i = 0; i < 3 && !err; i++)
		if (scope->writable[i])
			err = allow_below(ruleset, scope->writable[i], REPLACING);
	for (int i = 0; i < 2 && !err; i++)
		if (scope->renames_in[i] > 0)
			err = allow_below_fd(ruleset, scope->renames_in[i], RENAMING);
	return err;
}

static int enter_landlock(struct rights *ret, const struct rights_scope *scope, int abi)
{
	struct ruleset set = {.net = NET_ALL, .scopes = SCOPE_SOCKETS};
	size_t at = 0;
	int fd, err;

	while (at + 1 < sizeof(abis) / sizeof(abis[0]) && abis[at + 1].abi <= abi)
		at++;
	set.files = (1ULL << abis[at].files) - 1;
	if (!rights_keep(ret, CAP_KILL))
		set.scopes |= SCOPE_SIGNALS;
	fd = syscall(SYS_landlock_create_ruleset, &set, abis[at].size, 0);
	if (fd < 0)
		return -errno;
	err = allow_scope(fd, scope);
	if (!err && syscall(SYS_landlock_restrict_self, fd, 0))
		err = -errno;
	close(fd);
	return err;
}

static void confine(struct rights *ret, const struct rights_scope *scope)
{
	int abi, err;

	if (rights_keep(ret, CAP_SYS_PTRACE)) {
		ret->no_landlock = "it would take what CAP_SYS_PTRACE is kept for";
		return;
	}
	abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	if (abi < 1) {
		ret->no_landlock = errno == ENOSYS ? "this kernel has none (5.13), or hides it"
				   : errno == EOPNOTSUPP ? "it is off on this kernel (lsm=)"
							 : "the kernel rejects it";
		return;
	}
	err = enter_landlock(ret, scope, abi);
	if (err) {
		ret->no_landlock = "it failed";
		note(ret, "landlock", -err);
		return;
	}
	ret->landlock = abi;
}

void rights_drop_to(const struct right *keep, size_t n, struct rights *ret)
{
	memset(ret, 0, sizeof(*ret));
	drop_capabilities(keep, n, ret);
	ret->no_new_privs = !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (!ret->no_new_privs)
		note(ret, "no_new_privs", errno);
}

void rights_filter_calls(struct rights *ret, bool all_threads)
{
	int err = call_filter_enter(all_threads);

	ret->filtered = !err;
	if (err)
		note(ret, "seccomp", -err);
}

void rights_drop(const struct right *keep, size_t n, const struct rights_scope *scope,
		 struct rights *ret)
{
	rights_drop_to(keep, n, ret);
	confine(ret, scope);
	if (scope->filters)
		rights_filter_calls(ret, false);
}

int rights_try_without(int (*call)(void *ctx), void *ctx, int *ret_answer)
{
	cap_t had = cap_get_proc(), none = had ? cap_dup(had) : NULL;
	int err = 0;

	if (!none || cap_clear_flag(none, CAP_EFFECTIVE) || cap_set_proc(none))
		err = -errno;
	else
		*ret_answer = call(ctx);
	if (had && cap_set_proc(had))
		err = -errno;
	cap_free(none);
	cap_free(had);
	return err;
}
