// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests which files Landlock leaves accessible on each kernel, and the reasons why it is not in
 * use. The system calls of Landlock are those of this test, so that it runs on any kernel.
 */
#define TAP_KEEPS_INPUT /* struct rights_scope has no directory if its descriptor is 0 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fixture.h"
#include "probe/rights.h"
#include "tap.h"

#define RULES	16
#define READ	LANDLOCK_ACCESS_FS_READ_FILE
#define READING (READ | LANDLOCK_ACCESS_FS_READ_DIR)
#define RENAMES (LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_REMOVE_FILE)
#define WRITING (READING | LANDLOCK_ACCESS_FS_WRITE_FILE | RENAMES)

static struct {
	long abi, abi_errno;  /* answer about the version */
	int rule_error;	      /* errno of adding a rule; 0: none */
	size_t rule_fails;    /* only this rule fails, from 1 on; 0: each */
	size_t tried;	      /* rules that were added, or failed */
	const char *unopened; /* a path that cannot be opened; NULL: none */
	int open_error;
	char steps[64]; /* what was done, in its order */
	int create_error, restrict_error;
	unsigned long long set[3]; /* what is restricted: files, network, scopes */
	size_t set_bytes;
	struct {
		struct stat file;
		unsigned long long access;
	} rule[RULES];
	size_t rules;
	int ruleset; /* descriptor; -1: none */
	bool entered;
	unsigned long long has; /* capabilities of this test: bits 1 << CAP_* */
} kernel;

static long error(int number)
{
	errno = number;
	return -1;
}

static void step(const char *what)
{
	size_t len = strlen(kernel.steps);

	snprintf(kernel.steps + len, sizeof(kernel.steps) - len, "%s ", what);
}

static long create_ruleset(const void *attr, size_t size, unsigned int flags)
{
	if (flags == LANDLOCK_CREATE_RULESET_VERSION && (attr || size))
		return error(EINVAL);
	if (flags == LANDLOCK_CREATE_RULESET_VERSION)
		return kernel.abi_errno ? error(kernel.abi_errno) : kernel.abi;
	if (kernel.create_error || flags)
		return error(kernel.create_error ? kernel.create_error : EINVAL);
	kernel.set_bytes = size;
	memset(kernel.set, 0, sizeof(kernel.set));
	memcpy(kernel.set, attr, size);
	kernel.ruleset = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return kernel.ruleset;
}

static long add_rule(int ruleset, const struct landlock_path_beneath_attr *attr)
{
	kernel.tried++;
	if (kernel.rule_error && (!kernel.rule_fails || kernel.rule_fails == kernel.tried))
		return error(kernel.rule_error);
	if (ruleset != kernel.ruleset || kernel.rules == RULES)
		return error(EBADF);
	fstat(attr->parent_fd, &kernel.rule[kernel.rules].file);
	kernel.rule[kernel.rules++].access = attr->allowed_access;
	return 0;
}

long syscall(long number, ...)
{
	va_list args;
	long a[4];

	va_start(args, number);
	for (int i = 0; i < 4; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (number == SYS_landlock_create_ruleset)
		return create_ruleset((const void *)a[0], a[1], a[2]);
	if (number == SYS_landlock_add_rule && (a[1] != LANDLOCK_RULE_PATH_BENEATH || (int)a[3]))
		return error(EINVAL);
	if (number == SYS_landlock_add_rule)
		return add_rule(a[0], (const void *)a[2]);
	if (number != SYS_landlock_restrict_self)
		return error(ENOSYS);
	if (kernel.restrict_error || (int)a[1])
		return error(kernel.restrict_error ? kernel.restrict_error : EINVAL);
	step("landlock");
	kernel.entered = a[0] == kernel.ruleset;
	return 0;
}

int cap_get_flag(cap_t caps, cap_value_t one, cap_flag_t flag, cap_flag_value_t *ret)
{
	(void)caps, (void)flag;
	*ret = kernel.has >> one & 1 ? CAP_SET : CAP_CLEAR;
	return 0;
}

int cap_set_proc(cap_t caps)
{
	(void)caps;
	step("capabilities");
	return 0;
}

int cap_drop_bound(cap_value_t one)
{
	(void)one;
	return 0;
}

int cap_reset_ambient(void)
{
	return 0;
}

int prctl(int option, ...)
{
	unsigned long a[4];
	va_list args;

	va_start(args, option);
	for (int i = 0; i < 4; i++)
		a[i] = option == PR_SET_SECCOMP && i > 1 ? 0 : va_arg(args, unsigned long);
	va_end(args);
	/* the kernel rejects other arguments of no_new_privs */
	if (option == PR_SET_NO_NEW_PRIVS && (a[0] != 1 || (int)a[1] || (int)a[2] || (int)a[3]))
		return error(EINVAL);
	step(option == PR_SET_NO_NEW_PRIVS			       ? "no_new_privs"
	     : option == PR_SET_SECCOMP && a[0] == SECCOMP_MODE_FILTER ? "filter"
								       : "?");
	return 0;
}

int open(const char *path, int flags, ...)
{
	if (kernel.unopened && !strcmp(path, kernel.unopened))
		return error(kernel.open_error);
	return openat(AT_FDCWD, path, flags, 0600);
}

static void begin(long abi)
{
	memset(&kernel, 0, sizeof(kernel));
	kernel.abi = abi;
	kernel.ruleset = -1;
}

/* Drops all capabilities but one; -1: all. */
static struct rights drop(int kept, const struct rights_scope *scope)
{
	const struct right keep = {kept, -1, "a reason"};
	struct rights r;

	kernel.has = kept < 0 ? 0 : 1ULL << kept;
	rights_drop(&keep, kept >= 0, scope, &r);
	ok(kernel.ruleset < 0 || fcntl(kernel.ruleset, F_GETFD) < 0, "the rule set is closed");
	return r;
}

/* Returns the access below a file; 0: none. */
static unsigned long long access_of(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return 0;
	for (size_t i = 0; i < kernel.rules; i++)
		if (kernel.rule[i].file.st_ino == st.st_ino &&
		    kernel.rule[i].file.st_dev == st.st_dev)
			return kernel.rule[i].access;
	return 0;
}

/* Later versions restrict more: Documentation/userspace-api/landlock.rst. */
static void test_versions(void)
{
	static const struct {
		int abi, bits;
		size_t bytes;
	} want[] = {{1, 13, 8},	 {2, 14, 8},  {3, 15, 8}, {4, 15, 16},
		    {5, 16, 16}, {6, 16, 24}, {9, 16, 24}};
	const struct rights_scope none = {};

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		struct rights r;

		begin(want[i].abi);
		r = drop(-1, &none);
		is_u64(r.landlock, want[i].abi, "version");
		is_str(r.failed, "", "nothing failed");
		ok(kernel.entered && !r.no_landlock, "it is in use");
		is_u64(kernel.set_bytes, want[i].bytes, "size of the settings");
		is_u64(kernel.set[0], (1ULL << want[i].bits) - 1, "all access to files");
		is_u64(kernel.set[1], want[i].bytes > 8 ? 3 : 0, "binding and connecting");
		is_u64(kernel.set[2], want[i].bytes > 16 ? 3 : 0, "sockets and signals");
		is_u64(kernel.rules, 2, "two folders stay");
		is_u64(access_of("/proc"), READING, "/proc can be read");
		is_u64(access_of("/sys"), READING, "/sys can be read");
	}
	begin(6);
	drop(CAP_KILL, &none);
	is_u64(kernel.set[2], 1, "who may send signals may send them to all");
}

static void test_scope(void)
{
	char dir[3][160], file[160];
	const char *readable[] = {dir[0], file, "/no/such/file", "/dev/null/x", NULL};
	struct rights_scope scope = {.readable = readable, .writable = {NULL, dir[1]}};
	struct rights r;

	for (int i = 0; i < 3; i++) {
		char name[8] = {'d', '0' + i};

		snprintf(dir[i], sizeof(dir[i]), "%s", fixture_path(name));
		mkdir(dir[i], 0700);
	}
	snprintf(file, sizeof(file), "%s", fixture_path("file"));
	close(open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	begin(3);
	scope.renames_in[0] = open(dir[2], O_PATH | O_CLOEXEC);
	scope.renames_in[1] = -1;
	r = drop(-1, &scope);
	is_str(r.failed, "", "nothing failed");
	is_u64(kernel.rules, 6, "rules for what exists");
	is_u64(access_of(dir[0]), READING, "a folder that is read");
	is_u64(access_of(file), READ, "a file that is read");
	is_u64(access_of(dir[1]), WRITING, "a folder that is written");
	is_u64(access_of(dir[2]), RENAMES, "a folder in which files are renamed");
	ok(!r.filtered, "system calls are not filtered");
	close(scope.renames_in[0]);
}

#define PLACES 9

/* A scope with two files to read, three folders to write, and two in which files are renamed. */
static void test_rules(void)
{
	static const struct {
		int error;
		bool skips, reads; /* a path that is left out; one to be read only */
	} rows[] = {{ENOENT, true, true},
		    {ENOTDIR, true, true},
		    {EACCES, false, true},
		    {EMFILE, false, false}};
	char dir[PLACES][160];
	const char *readable[3] = {};
	struct rights_scope scope = {.readable = readable};

	strcpy(dir[0], "/proc");
	strcpy(dir[1], "/sys");
	for (int i = 2; i < PLACES; i++) {
		char name[8] = {'p', '0' + i};

		snprintf(dir[i], sizeof(dir[i]), "%s", fixture_path(name));
		mkdir(dir[i], 0700);
	}
	for (int i = 0; i < 2; i++)
		readable[i] = dir[2 + i];
	for (int i = 0; i < 3; i++)
		scope.writable[i] = dir[4 + i];
	begin(3);
	for (int i = 0; i < 2; i++)
		scope.renames_in[i] = open(dir[7 + i], O_PATH | O_CLOEXEC);
	scope.filters = true;
	ok(drop(-1, &scope).filtered, "system calls are filtered");
	is_str(kernel.steps, "capabilities no_new_privs landlock filter ", "the order of steps");
	is_u64(kernel.rules, PLACES, "a rule for each place");
	for (int i = 0; i < PLACES; i++)
		is_u64(access_of(dir[i]), i < 4 ? READING : i < 7 ? WRITING : RENAMES, dir[i]);
	for (size_t fails = 1; fails <= PLACES; fails++) {
		struct rights r;

		begin(3);
		kernel.rule_error = ENOSPC;
		kernel.rule_fails = fails;
		r = drop(-1, &scope);
		is_str(r.failed, "landlock: No space left on device", "a rule that fails");
		ok(kernel.tried == fails && !kernel.entered && r.filtered, "is the last one");
	}
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (int place = 0; place < 7; place++) {
			bool good = rows[i].skips || (rows[i].reads && (place == 2 || place == 3));
			struct rights r;

			begin(3);
			kernel.unopened = dir[place];
			kernel.open_error = rows[i].error;
			r = drop(-1, &scope);
			ok(kernel.entered == good && !*r.failed == good &&
				   kernel.tried == (good ? PLACES - 1 : (size_t)place),
			   "%s cannot be opened: %s", dir[place], strerror(rows[i].error));
		}
	for (int i = 0; i < 2; i++)
		close(scope.renames_in[i]);
}

static void is_not_in_use(const char *why, const char *failed, int kept)
{
	const struct rights_scope none = {};
	struct rights r = drop(kept, &none);

	is_str(r.no_landlock, why, "why it is not in use");
	is_str(r.failed, failed, "what failed");
	ok(!r.landlock && !kernel.entered, "it is not in use");
}

static void test_reasons(void)
{
	begin(6);
	is_not_in_use("it would take what CAP_SYS_PTRACE is kept for", "", CAP_SYS_PTRACE);
	begin(0);
	kernel.abi_errno = ENOSYS;
	is_not_in_use("this kernel has none (5.13), or hides it", "", -1);
	kernel.abi_errno = EOPNOTSUPP;
	is_not_in_use("it is off on this kernel (lsm=)", "", -1);
	kernel.abi_errno = EPERM;
	is_not_in_use("the kernel rejects it", "", -1);
	begin(1);
	kernel.create_error = EINVAL;
	is_not_in_use("it failed", "landlock: Invalid argument", -1);
	begin(1);
	kernel.rule_error = ENOMEM;
	is_not_in_use("it failed", "landlock: Cannot allocate memory", -1);
	begin(1);
	kernel.restrict_error = E2BIG;
	is_not_in_use("it failed", "landlock: Argument list too long", -1);
}

int main(void)
{
	test_versions();
	test_scope();
	test_rules();
	test_reasons();
	return tap_done();
}
