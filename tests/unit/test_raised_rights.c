// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests how capabilities of the program file are set aside, raised for a short time, and dropped,
 * and what is told if a step fails. The kernel's state is the one of this test, so that it runs as
 * any user.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/capability.h>
#include <sys/prctl.h>

#include "probe/rights.h"
#include "tap.h"

#define BIT(cap) (1ULL << (cap))
#define FOR_BPF	 (BIT(CAP_BPF) | BIT(CAP_PERFMON) | BIT(CAP_SYS_ADMIN) | BIT(CAP_SYS_RESOURCE))
#define ANY	 (FOR_BPF | BIT(CAP_DAC_READ_SEARCH) | BIT(CAP_KILL) | BIT(CAP_CHOWN))
#define BOUNDS	 41 /* number of capabilities */

static struct {
	bool of_file;
	uid_t user, owner;   /* the user, and the owner of a set-user-ID program */
	gid_t group, owners; /* their groups */
	uid_t became[3];
	gid_t became_group[3];
	bool keeps; /* capabilities stay if the user changes */
	unsigned long long permitted, effective, inheritable;
	unsigned int sets, set_fails; /* calls of cap_set_proc(); the one that fails, from 1 on */
	unsigned int bounds_left;     /* capabilities that may leave the bounding set */
	unsigned long long out_of_bounds;
	bool no_caps, no_keep, no_group, no_user, no_ambient, no_new_privs, no_filter;
} kernel;

static int fails(int number)
{
	errno = number;
	return -1;
}

unsigned long getauxval(unsigned long type)
{
	return type == AT_SECURE && kernel.of_file;
}

uid_t getuid(void)
{
	return kernel.user;
}

uid_t geteuid(void)
{
	return kernel.owner;
}

gid_t getgid(void)
{
	return kernel.group;
}

gid_t getegid(void)
{
	return kernel.owners;
}

int setresuid(uid_t real, uid_t effective, uid_t saved)
{
	const uid_t users[] = {real, effective, saved};

	if (kernel.no_user)
		return fails(EAGAIN);
	memcpy(kernel.became, users, sizeof(users));
	if (!kernel.keeps)
		kernel.permitted = kernel.effective = 0;
	return 0;
}

int setresgid(gid_t real, gid_t effective, gid_t saved)
{
	const gid_t groups[] = {real, effective, saved};

	if (kernel.no_group)
		return fails(EINVAL);
	memcpy(kernel.became_group, groups, sizeof(groups));
	return 0;
}

int prctl(int option, ...)
{
	unsigned long value, others = 0;
	va_list args;

	va_start(args, option);
	value = va_arg(args, unsigned long);
	for (int i = 0; option != PR_SET_SECCOMP && i < 3; i++)
		others |= va_arg(args, unsigned int);
	va_end(args);
	if (others || (option == PR_SET_NO_NEW_PRIVS && value != 1))
		return fails(EINVAL);
	if (option == PR_SET_KEEPCAPS && (kernel.no_keep || value > 1))
		return fails(kernel.no_keep ? EPERM : EINVAL);
	if (option == PR_SET_KEEPCAPS)
		kernel.keeps = value;
	return option == PR_SET_NO_NEW_PRIVS && kernel.no_new_privs ? fails(EINVAL) : 0;
}

long syscall(long number, ...)
{
	(void)number;
	return kernel.no_filter ? fails(EACCES) : fails(ENOSYS);
}

cap_t cap_get_proc(void)
{
	cap_t caps = kernel.no_caps ? NULL : cap_init();

	if (!caps) {
		errno = ENOMEM;
		return NULL;
	}
	for (cap_value_t one = 0; one < BOUNDS; one++) {
		if (kernel.permitted & BIT(one))
			cap_set_flag(caps, CAP_PERMITTED, 1, &one, CAP_SET);
		if (kernel.effective & BIT(one))
			cap_set_flag(caps, CAP_EFFECTIVE, 1, &one, CAP_SET);
	}
	return caps;
}

static unsigned long long bits_of(cap_t caps, cap_flag_t flag)
{
	unsigned long long bits = 0;
	cap_flag_value_t v;

	for (cap_value_t one = 0; one < BOUNDS; one++)
		if (!cap_get_flag(caps, one, flag, &v) && v == CAP_SET)
			bits |= BIT(one);
	return bits;
}

int cap_set_proc(cap_t caps)
{
	if (++kernel.sets == kernel.set_fails)
		return fails(EPERM);
	kernel.permitted = bits_of(caps, CAP_PERMITTED);
	kernel.effective = bits_of(caps, CAP_EFFECTIVE);
	kernel.inheritable = bits_of(caps, CAP_INHERITABLE);
	return 0;
}

int cap_drop_bound(cap_value_t one)
{
	if (!kernel.bounds_left)
		return fails(EPERM);
	kernel.bounds_left--;
	kernel.out_of_bounds |= BIT(one);
	return 0;
}

int cap_reset_ambient(void)
{
	return kernel.no_ambient ? fails(EINVAL) : 0;
}

cap_value_t cap_max_bits(void)
{
	return BOUNDS;
}

/* A user starts a program with capabilities in its file. */
static void begin(void)
{
	memset(&kernel, 0, sizeof(kernel));
	kernel.of_file = true;
	kernel.user = kernel.owner = 1000;
	kernel.group = kernel.owners = 100;
	kernel.permitted = kernel.effective = ANY;
	kernel.bounds_left = BOUNDS;
}

/* A user starts a program that is set-user-ID root. */
static void begin_as_root(void)
{
	begin();
	kernel.owner = kernel.owners = 0;
	kernel.became[0] = kernel.became_group[0] = 77;
}

static void test_set_aside(void)
{
	begin();
	kernel.of_file = false;
	kernel.owner = 0;
	is_u64(rights_set_aside(), 0, "rights that the user has");
	ok(kernel.effective == ANY && !kernel.sets && !kernel.keeps, "are left alone");
	ok(!rights_are_of_file(), "they are not the file's");
	begin();
	is_u64(rights_set_aside(), 0, "rights of the file");
	ok(rights_are_of_file(), "are those of the file");
	is_u64(kernel.effective, 0, "none is in effect");
	is_u64(kernel.permitted, ANY, "all can be raised");
	ok(!kernel.keeps && !kernel.became[0], "the user stays");
	begin_as_root();
	is_u64(rights_set_aside(), 0, "a program that is set-user-ID");
	ok(kernel.became[0] == 1000 && kernel.became[1] == 1000 && kernel.became[2] == 1000,
	   "runs as the user");
	ok(kernel.became_group[0] == 100 && kernel.became_group[1] == 100 &&
		   kernel.became_group[2] == 100,
	   "and the user's group");
	ok(kernel.permitted == ANY && !kernel.effective, "and keeps its rights");
	begin();
	kernel.owners = 0;
	is_u64(rights_set_aside(), 0, "a program that is set-group-ID");
	ok(kernel.became_group[1] == 100 && kernel.became[1] == 1000, "runs as the user, too");
}

static void test_set_aside_failures(void)
{
	bool *const step[] = {&kernel.no_keep, &kernel.no_group, &kernel.no_user, &kernel.no_caps};
	static const int errors[] = {EPERM, EINVAL, EAGAIN, ENOMEM};

	for (size_t i = 0; i < sizeof(step) / sizeof(step[0]); i++) {
		begin_as_root();
		*step[i] = true;
		is_u64(-rights_set_aside(), errors[i], "a step that fails");
		ok(!kernel.sets, "no rights are set");
	}
	begin();
	kernel.set_fails = 1;
	is_u64(-rights_set_aside(), EPERM, "the kernel keeps the rights in effect");
}

/* Raises rights, and lowers them again. */
static void raises(enum rights_use use, unsigned long long permitted, unsigned long long want,
		   const char *name)
{
	cap_t had;

	begin();
	kernel.permitted = permitted;
	kernel.effective = 0;
	had = rights_raise(use);
	is_u64(kernel.effective, want, name);
	is_u64(kernel.permitted, permitted, "no more are permitted");
	rights_lower(had);
	is_u64(kernel.effective, 0, "lowered");
	is_u64(kernel.permitted, permitted, "and they can be raised again");
}

static void test_raise(void)
{
	const unsigned long long search = BIT(CAP_DAC_READ_SEARCH);

	raises(RIGHTS_FOR_BPF, ANY, FOR_BPF, "what BPF needs");
	raises(RIGHTS_FOR_TRACEFS, ANY, FOR_BPF | search, "what tracefs needs");
	raises(RIGHTS_FOR_TRACEFS, BIT(CAP_BPF) | search, BIT(CAP_BPF) | search,
	       "only what is permitted");
	raises(RIGHTS_FOR_BPF, BIT(CAP_KILL), 0, "nothing that helps");
	begin();
	kernel.effective = BIT(CAP_KILL);
	rights_lower(rights_raise(RIGHTS_FOR_BPF));
	is_u64(kernel.effective, BIT(CAP_KILL), "what was in effect before stays");
	kernel.of_file = false;
	ok(!rights_raise(RIGHTS_FOR_BPF), "rights of the user are not raised");
	kernel.sets = 0;
	rights_lower(NULL);
	is_u64(kernel.sets, 0, "nor lowered");
	kernel.of_file = kernel.no_caps = true;
	ok(!rights_raise(RIGHTS_FOR_BPF) && !kernel.sets, "no memory: nothing is raised");
}

static void test_kept(void)
{
	static const struct right keep[] = {
		{CAP_KILL, -1, "kill"},		  {CAP_SYSLOG, CAP_SYS_ADMIN, "log"},
		{CAP_SYSLOG, CAP_SETUID, "none"}, {CAP_SETUID, -1, "none"},
		{CAP_BPF, CAP_SYS_ADMIN, "bpf"},  {CAP_CHOWN, -1, "own"},
		{CAP_PERFMON, -1, "too many"}};
	static const int want[] = {CAP_KILL, CAP_SYS_ADMIN, CAP_BPF, CAP_CHOWN};
	unsigned long long bits = 0;
	struct rights r;

	begin();
	memset(&r, 0xff, sizeof(r));
	rights_drop_to(keep, sizeof(keep) / sizeof(keep[0]), &r);
	is_u64(r.nr_kept, RIGHTS_KEPT_MAX, "as many as can be kept");
	for (size_t i = 0; i < RIGHTS_KEPT_MAX; i++) {
		is_u64(r.kept[i].capability, want[i], r.kept[i].why);
		bits |= BIT(want[i]);
	}
	ok(rights_keep(&r, CAP_CHOWN) && rights_keep(&r, CAP_KILL), "it is told what is kept");
	ok(!rights_keep(&r, CAP_PERFMON) && !rights_keep(&r, CAP_SYSLOG), "and what is not");
	ok(kernel.permitted == bits && kernel.effective == bits && !kernel.inheritable,
	   "only these are permitted and in effect");
	is_u64(kernel.out_of_bounds, BIT(BOUNDS) - 1, "all leave the bounding set");
	is_str(r.failed, "", "nothing failed");
	ok(r.no_new_privs && !r.filtered && !r.landlock, "no program can give new ones");
	begin();
	kernel.bounds_left = 0;
	rights_drop_to(keep, 1, &r);
	is_str(r.failed, "", "the bounding set may stay");
	is_u64(kernel.permitted, BIT(CAP_KILL), "one is kept");
	ok(!rights_keep(&r, 0), "and no other");
}

static void test_drop_failures(void)
{
	static const struct right keep = {CAP_KILL, -1, "kill"};
	struct rights r;

	begin();
	kernel.no_caps = true;
	rights_drop_to(&keep, 1, &r);
	is_str(r.failed, "capabilities: Cannot allocate memory", "no memory");
	ok(!r.nr_kept && r.no_new_privs && !kernel.sets, "the next step is made");
	begin();
	kernel.no_ambient = true;
	rights_drop_to(&keep, 1, &r);
	is_str(r.failed, "ambient capabilities: Invalid argument", "an old kernel");
	is_u64(kernel.permitted, BIT(CAP_KILL), "the others are dropped");
	kernel.set_fails = 2;
	kernel.no_new_privs = true;
	rights_drop_to(&keep, 1, &r);
	is_str(r.failed,
	       "ambient capabilities: Invalid argument; capabilities: Operation not permitted; "
	       "no_new_privs: Invalid argument",
	       "everything that failed is told");
	ok(!r.no_new_privs, "no_new_privs is off");
	begin();
	kernel.no_filter = true;
	memset(&r, 0, sizeof(r));
	r.filtered = true;
	rights_filter_calls(&r, true);
	ok(!r.filtered, "no filter");
	is_str(r.failed, "seccomp: Permission denied", "why");
}

static unsigned long long during;

static int look(void *ctx)
{
	during = kernel.effective;
	return *(int *)ctx;
}

/* Makes a call without rights. */
static void tries(int err, bool called, const char *name)
{
	int given = -EBUSY, answer = 77;

	during = ANY;
	is_u64(-rights_try_without(look, &given, &answer), err, name);
	is_u64(during, called ? 0 : ANY, called ? "it is called without rights" : "no call");
	ok(answer == (called ? -EBUSY : 77), "the answer of the call: %d", answer);
}

static void test_try_without(void)
{
	begin();
	kernel.effective = FOR_BPF;
	tries(0, true, "something is tried");
	ok(kernel.effective == FOR_BPF && kernel.permitted == ANY, "all rights are back");
	kernel.sets = 0;
	kernel.set_fails = 1;
	tries(EPERM, false, "rights cannot be lowered");
	is_u64(kernel.effective, FOR_BPF, "all rights stay");
	kernel.sets = 0;
	kernel.set_fails = 2;
	tries(EPERM, true, "rights cannot be raised again");
	begin();
	kernel.no_caps = true;
	tries(ENOMEM, false, "no memory");
	is_u64(kernel.sets, 0, "no rights are changed");
}

static void test_names(void)
{
	char name[16], small[8];

	is_str(rights_name(CAP_SYS_ADMIN, name, sizeof(name)), "cap_sys_admin", "a name");
	is_str(rights_name(CAP_SYS_ADMIN, small, sizeof(small)), "cap_sys", "that is cut");
}

int main(void)
{
	test_set_aside();
	test_set_aside_failures();
	test_raise();
	test_kept();
	test_drop_failures();
	test_try_without();
	test_names();
	return tap_done();
}
