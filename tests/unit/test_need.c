// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests that each suggested limit is large enough for the failed call and is not more than the
 * machine has. In random cases, the suggested value is compared with the sum of the current use and
 * the request.
 */
#include <inttypes.h>

#include "rules/need.h"
#include "rules/remedy.h"
#include "cause_fixture.h"

#define CASES 400

static struct need need;
static uint64_t seed = 20261122;

static uint64_t drawn(uint64_t least, uint64_t most)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return least + (seed >> 16) % (most - least + 1);
}

/* Returns a random size from 1 to 2^bits. Each power of two is equally likely. */
static uint64_t drawn_size(unsigned int bits)
{
	uint64_t top = 1ULL << drawn(0, bits);

	return drawn(top / 2 + 1, top);
}

/*
 * Limits of the random machine. begin() fills `l` with the limits of a fixed machine, so they are
 * stored here.
 */
static struct host_limits own;

static void machine(void)
{
	own = tick_record(0).limits;
	own.mem_total_bytes = drawn(1, 64) << 30;
	own.mem_available_bytes = drawn(0, own.mem_total_bytes);
	own.swap_total_bytes = drawn(0, 8) << 30;
	own.huge_page_bytes = 2 << 20;
	own.huge_pages = drawn(0, 100);
	own.huge_pages_free = drawn(0, own.huge_pages);
	own.huge_pages_reserved = drawn(0, own.huge_pages_free);
	own.pid_max = drawn(0, 1) ? 32768 : 4194304;
	own.threads_max = drawn(1000, 200000);
	own.threads = drawn(100, own.threads_max);
}

/*
 * The expected result: the limit that is exceeded, and the value that the request needs by the
 * kernel's rules.
 */
struct truth {
	enum limit_id limit;
	uint64_t wants;
	uint64_t machine; /* maximum that the machine can provide; LIMIT_NONE: no maximum */
};

static struct truth hugetlb(void)
{
	uint64_t asked = drawn_size(22), free = own.huge_pages_free - own.huge_pages_reserved;

	if (asked <= free)
		asked = free + 1;
	begin_mmap(ENOMEM, asked * 512, RW, ANON | MAP_HUGETLB);
	return (struct truth){LIMIT_HUGEPAGES, own.huge_pages - free + asked,
			      own.huge_pages + own.mem_available_bytes / own.huge_page_bytes};
}

static struct truth address_space(void)
{
	uint64_t asked = drawn_size(30);

	begin_mmap(ENOMEM, asked, PROT_READ, ANON);
	r.total_vm_pages = drawn_size(24);
	r.as_limit_bytes = drawn(0, (r.total_vm_pages + asked - 1) * PAGE);
	return (struct truth){LIMIT_AS, (r.total_vm_pages + asked) * PAGE, LIMIT_NONE};
}

static struct truth data(void)
{
	uint64_t asked = drawn_size(30);

	begin_mmap(ENOMEM, asked, RW, ANON);
	r.data_vm_pages = drawn_size(24);
	r.data_limit_bytes = drawn(PAGE, (r.data_vm_pages + asked - 1) * PAGE);
	return (struct truth){LIMIT_DATA, (r.data_vm_pages + asked) * PAGE, LIMIT_NONE};
}

static struct truth lock(void)
{
	uint64_t asked = drawn_size(26);

	begin_range(CALL_MLOCK, ENOMEM, asked, asked, VM_WRITE);
	r.locked_vm_pages = drawn_size(20);
	r.memlock_limit_bytes = drawn(PAGE, (r.locked_vm_pages + asked - 1) * PAGE);
	return (struct truth){LIMIT_MEMLOCK, (r.locked_vm_pages + asked) * PAGE,
			      own.mem_total_bytes};
}

static struct truth ring(void)
{
	begin(CALL_IO_URING_REGISTER, ENOMEM);
	r.asked.bytes = drawn_size(26) * PAGE;
	r.asked.whole = 1;
	r.user.locked_pages = drawn_size(16);
	r.memlock_limit_bytes = drawn(PAGE, r.asked.bytes - 1 + r.user.locked_pages * PAGE);
	return (struct truth){LIMIT_MEMLOCK, r.user.locked_pages * PAGE + r.asked.bytes,
			      own.mem_total_bytes};
}

static struct truth ring_files(void)
{
	begin(CALL_IO_URING_REGISTER, EMFILE);
	r.args[1] = 2;
	r.args[3] = drawn(r.fd_soft + 1, 1 << 24);
	return (struct truth){LIMIT_NOFILE, r.args[3], LIMIT_NONE};
}

static struct truth number(void)
{
	begin(CALL_DUP, EBADF);
	r.args[1] = drawn(1024, 900000);
	return (struct truth){LIMIT_NOFILE, r.args[1] + 1, LIMIT_NONE};
}

static struct truth descriptors(void)
{
	begin(CALL_OPEN, EMFILE);
	r.fd_soft = drawn_size(20);
	hold_fds(&r, r.fd_soft);
	return (struct truth){LIMIT_NOFILE, r.fds + 1, LIMIT_NONE};
}

static struct truth instances(void)
{
	begin(CALL_INOTIFY, EMFILE);
	r.user.inotify_instances = drawn(0, 300);
	r.user.inotify_instances_max = r.user.inotify_instances;
	return (struct truth){LIMIT_INOTIFY_INSTANCES, r.user.inotify_instances + 1, LIMIT_NONE};
}

static struct truth watches(void)
{
	begin(CALL_INOTIFY_WATCH, ENOSPC);
	r.user.inotify_watches = r.user.inotify_watches_max = drawn_size(24);
	return (struct truth){LIMIT_INOTIFY_WATCHES, r.user.inotify_watches + 1,
			      own.mem_total_bytes / 1080};
}

static struct truth processes(void)
{
	begin(CALL_CLONE, EAGAIN);
	r.user.processes = r.nproc_limit = drawn_size(22);
	return (struct truth){LIMIT_NPROC, r.user.processes + 1,
			      own.pid_max < own.threads_max ? own.pid_max : own.threads_max};
}

static struct truth pids(void)
{
	begin(CALL_CLONE, EAGAIN);
	own.threads = 0;
	r.pids.known = 1;
	r.pids.used = r.pids.limit = drawn_size(22);
	return (struct truth){LIMIT_CGROUP_PIDS, r.pids.used + 1,
			      own.pid_max < own.threads_max ? own.pid_max : own.threads_max};
}

static struct truth pipe_size(void)
{
	begin(CALL_PIPE_SIZE, EPERM);
	own.pipe_max_bytes = 1 << 20;
	r.args[2] = drawn((1 << 20) + 1, 1u << 31);
	r.user.pipe_pages = 16;
	return (struct truth){LIMIT_PIPE_SIZE, r.args[2], own.mem_total_bytes};
}

static struct truth arguments(void)
{
	begin(CALL_EXECVE, E2BIG);
	r.stack_limit_bytes = drawn(1 << 20, 8 << 20);
	r.asked.bytes = drawn(r.stack_limit_bytes / 4 + 1, 6 << 20);
	r.asked.whole = 1;
	return (struct truth){LIMIT_STACK, r.asked.bytes * 4, LIMIT_NONE};
}

static struct truth groups(void)
{
	begin(CALL_FANOTIFY, EMFILE);
	hold_fds(&r, 4);
	r.user.inotify_instances = r.user.inotify_instances_max = drawn_size(16);
	return (struct truth){LIMIT_FANOTIFY_GROUPS, r.user.inotify_instances + 1,
			      own.mem_total_bytes / 512};
}

/*
 * faultscope cannot read how many bytes the user's message queues hold. The limit is used as the
 * highest possible number.
 */
static struct truth queues(void)
{
	uint64_t held;

	begin(CALL_OPEN, EMFILE);
	hold_fds(&r, 4);
	r.facts = FACT_QUEUE;
	r.asked.longest = drawn_size(24);
	held = drawn(0, r.asked.longest);
	r.asked.bytes = r.asked.longest - held + drawn_size(30);
	r.asked.whole = 1;
	return (struct truth){LIMIT_MSGQUEUE, held + r.asked.bytes, own.mem_total_bytes};
}

static struct truth (*const kinds[])(void) = {
	hugetlb,     address_space, data,    lock,	ring, ring_files, number,    groups,
	descriptors, instances,	    watches, processes, pids, pipe_size,  arguments, queues,
};

#define NR_KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* Parses the value that a command sets. The value follows the last "=", ">" or blank. */
static bool value_of(const char *command, const struct limit *limit, uint64_t *ret)
{
	const char *at = strstr(command, limit->kind == LIMIT_OF_PROCESS ? limit->word : "=");
	char *end;

	if (limit->kind == LIMIT_OF_CGROUP)
		at = strstr(command, "echo ");
	else if (!strncmp(command, "sysctl -w fs.nr_open", 20) && limit->kind == LIMIT_OF_PROCESS)
		at = strstr(command, "--");
	if (!at)
		return false;
	while (*at && *at != '=' && *at != ' ')
		at++;
	at += *at != 0;
	if (!strncmp(at, "unlimited", 9)) {
		*ret = LIMIT_NONE;
		return true;
	}
	*ret = strtoull(at, &end, 10);
	return end != at;
}

static bool is_enough(uint64_t value, const struct truth *t)
{
	return value >= t->wants && (t->machine == LIMIT_NONE || value <= t->machine);
}

/* Checks all commands that are suggested if it is known where the limit was set. */
static bool commands_are_right(const struct truth *t, char *bad, size_t size)
{
	struct origin o = {.limit = need.limit, .known = true, .value = drawn_size(20)};
	uint64_t most = need_most(need.limit, &l);
	const struct remedy_for f = {
		.want = need.want, .most = most == LIMIT_NONE ? 0 : most, .pid = 77};
	struct remedy list[REMEDY_MAX];
	size_t n;

	o.hard = drawn(0, 1) ? LIMIT_NONE : o.value;
	strcpy(o.file, "x.max");
	n = remedies_for(&o, &f, list);
	for (size_t i = 0; i < n; i++) {
		uint64_t value = 0;

		if (list[i].kind != REMEDY_WORKAROUND || list[i].persistent || !list[i].command[0])
			continue;
		if (!value_of(list[i].command, need.limit, &value) || !is_enough(value, t)) {
			snprintf(bad, size, "%s", list[i].command);
			return false;
		}
	}
	return true;
}

static void test_case(size_t i)
{
	struct truth t;
	char bad[768] = "";
	bool good;

	machine();
	t = kinds[i % NR_KINDS]();
	l = own;
	cause_of(&r, &l, arch, &v);
	need_of(&v, &l, &need);
	if (need.never[0]) {
		good = v.nr_next || (t.machine != LIMIT_NONE && t.wants > t.machine);
		ok(good, "%zu: %s: no value helps: %s", i, v.cause, need.never);
		return;
	}
	good = need.limit == &limit_table[t.limit] && is_enough(need.want, &t) &&
	       commands_are_right(&t, bad, sizeof(bad));
	if (!ok(good, "%zu: %s: %" PRIu64 " covers %" PRIu64, i, v.cause, need.want, t.wants))
		printf("#   limit %s, machine %" PRIu64 ": %s\n",
		       need.limit ? need.limit->name : "none", t.machine, bad);
}

static void test_modes(void)
{
	machine();
	begin_mmap(ENOMEM, 1ULL << 28, RW, ANON); /* 2^28 pages: 1 TiB */
	l = own;
	l.overcommit_memory = 2;
	r.facts = FACT_SAID_COMMIT;
	cause_of(&r, &l, arch, &v);
	need_of(&v, &l, &need);
	is_str(v.cause, "overcommit_strict", "1 TiB, strict");
	is_u64(need.want, 1, "the heuristic would refuse it too: mode 1");
	r.args[1] = PAGE;
	cause_of(&r, &l, arch, &v);
	need_of(&v, &l, &need);
	is_u64(need.want, 0, "one page, strict: mode 0 takes it");
}

static void test_lock_all(void)
{
	machine();
	begin(CALL_MLOCKALL, ENOMEM);
	l = own;
	r.args[0] = 3;
	r.memlock_limit_bytes = PAGE;
	cause_of(&r, &l, arch, &v);
	need_of(&v, &l, &need);
	is_str(v.cause, "rlimit_memlock", "mlockall of all that is to come");
	ok(need.want == LIMIT_NONE, "no number of bytes is known to be enough");
}

int main(void)
{
	for (size_t i = 0; i < CASES; i++)
		test_case(i);
	test_modes();
	test_lock_all();
	verdicts_are(0xe358e8c79069deb5);
	return tap_done();
}
