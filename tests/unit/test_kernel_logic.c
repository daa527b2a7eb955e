// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Runs BPF code in user space. Tests how entries of a shared table are claimed, how values of a
 * process are hashed, and how times of two CPU clocks are subtracted.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

#include "changes.h"
#include "claim.h"
#include "clock.h"
#include "tap.h"

/*
 * Several threads claim parts of a shared table. This is harder than in BPF programs, where all
 * claims of a part are on one CPU. Each thread fills its part with its own number, and checks that
 * the part keeps this number.
 */
#define PARTS 8
#define WORDS 64
#define USERS 4
#define TURNS 200000

struct part {
	__u32 users;
	volatile uint32_t word[WORDS];
};

static struct part parts[PARTS];
static volatile uint64_t mixed;

static struct part *begin(void)
{
	for (int i = 0; i < PARTS; i++)
		if (claim(&parts[i].users))
			return &parts[i];
	return NULL;
}

static void use(uint32_t number)
{
	struct part *p = begin();

	if (!p)
		return;
	for (int i = 0; i < WORDS; i++)
		p->word[i] = number;
	for (int i = 0; i < WORDS; i++)
		if (p->word[i] != number)
			__sync_fetch_and_add(&mixed, 1);
	unclaim(&p->users);
}

static void *use_often(void *number)
{
	for (int i = 0; i < TURNS; i++)
		use((uintptr_t)number);
	return NULL;
}

static int users_left(void)
{
	int left = 0;

	for (int i = 0; i < PARTS; i++)
		left += parts[i].users;
	return left;
}

static void test_claims_of_threads(void)
{
	pthread_t thread[USERS];

	for (uintptr_t i = 0; i < USERS; i++)
		pthread_create(&thread[i], NULL, use_often, (void *)(i + 1));
	for (int i = 0; i < USERS; i++)
		pthread_join(thread[i], NULL);
	is_u64(mixed, 0, "threads: nobody reads what another one wrote");
	is_u64(users_left(), 0, "threads: each part is free again");
}

static void test_claims_of_one(void)
{
	__u32 users = 0;

	ok(claim(&users) && !claim(&users) && !claim(&users), "the second user is refused");
	unclaim(&users);
	ok(claim(&users), "and admitted when the first one is done");
}

/* These gauges differ, but their weighted sums would be equal. Their hashes must differ. */
static void test_signature(void)
{
	struct gauges none = {}, a, b;
	uint8_t bytes[sizeof(none)];
	int alike = 0;

	a = b = none;
	a.map_count = 29;
	b.map_high = 23;
	ok(hash_gauges(&a) != hash_gauges(&b), "29 maps, or a peak of 23: 23 * 29 in a sum");
	a = b = none;
	a.fds = 37;
	b.fd_high = 31;
	ok(hash_gauges(&a) != hash_gauges(&b), "37 descriptors, or a peak of 31");
	a = b = none;
	a.rss_anon_pages = 5;
	b.rss_shmem_pages = 3;
	ok(hash_gauges(&a) != hash_gauges(&b), "pages that changed their kind");
	for (size_t i = 0; i < sizeof(none); i++)
		for (int value = 1; value < 256; value++) {
			memset(bytes, 0, sizeof(bytes));
			bytes[i] = value;
			memcpy(&a, bytes, sizeof(a));
			alike += hash_gauges(&a) == hash_gauges(&none);
		}
	is_u64(alike, 0, "every byte of the gauges counts");
}

#ifdef __x86_64__

/*
 * Interrupts the code under test after each of its instructions. The trap flag makes the processor
 * trap after each instruction. In each try, the trap handler runs the interrupting code once. In
 * the next try, it runs this code one instruction later. The interrupting code may keep its claim,
 * as a preempted task does.
 */
#define TRAP_FLAG 0x100

static void (*intrude)(void);
static int step, at_step;
static volatile bool tried;

static void trap(int signal, siginfo_t *info, void *context)
{
	greg_t *flags = &((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL];

	if (tried) {
		*flags &= ~TRAP_FLAG;
		return;
	}
	*flags |= TRAP_FLAG;
	if (step++ == at_step)
		intrude();
}

/* Returns the number of tries, or 0 if `judge` rejected the result of a try. */
static int interrupt_each(void (*prepare)(void), void (*once)(void), void (*intruder)(void),
			  bool (*judge)(void))
{
	struct sigaction action = {.sa_sigaction = trap, .sa_flags = SA_SIGINFO};
	int tries = 0;
	bool good = true;

	sigaction(SIGTRAP, &action, NULL);
	intrude = intruder;
	for (at_step = 1, step = 2; at_step < step; at_step++, tries++) {
		prepare();
		step = 0;
		tried = false;
		raise(SIGTRAP); /* after raise() returns, each instruction traps */
		once();
		tried = true;
		good &= judge();
	}
	return good ? tries : 0;
}

static struct part *mine, *others;

static void prepare_claims(void)
{
	memset(parts, 0, sizeof(parts));
	mine = others = NULL;
}

static void claim_mine(void)
{
	mine = begin();
}

static void claim_others(void)
{
	others = begin();
}

static void claim_and_end(void)
{
	struct part *p = begin();

	if (p)
		unclaim(&p->users);
}

static bool is_apart(void)
{
	return mine && others && mine != others && users_left() == 2;
}

static bool is_mine_alone(void)
{
	return mine && users_left() == 1;
}

static void test_claims_interrupted(void)
{
	ok(interrupt_each(prepare_claims, claim_mine, claim_others, is_apart) > 10,
	   "interrupted at each instruction, by who goes on: a part each");
	ok(interrupt_each(prepare_claims, claim_mine, claim_and_end, is_mine_alone) > 10,
	   "by who has ended then: the other parts are free");
}

/*
 * The function under test. It reads and clears the flag that says that a counter has changed. This
 * scan or the next one must report each count.
 */
static bool (*take)(__u32 *flag);
static volatile uint64_t counter, told;
static __u32 flag;

static bool take_at_once(__u32 *flag)
{
	return take_flag(flag);
}

static bool take_by_adding(__u32 *flag)
{
	return take_flag_by_adding(flag);
}

static void count(void)
{
	counter++;
	*(volatile __u32 *)&flag = 1;
}

static void look(void)
{
	if (take(&flag))
		told = counter;
}

static void prepare_still(void)
{
	counter = told = flag = 0;
}

static void prepare_moved(void)
{
	prepare_still();
	count();
}

static bool is_available(void)
{
	look();
	return told == counter && !flag;
}

static void test_flag(bool (*how)(__u32 *), const char *what)
{
	take = how;
	ok(interrupt_each(prepare_still, look, count, is_available) > 10,
	   "%s: what is counted during a look is told", what);
	ok(interrupt_each(prepare_moved, look, count, is_available) > 10,
	   "%s: so is what is counted on top", what);
}

static void test_interrupted(void)
{
	test_claims_interrupted();
	test_flag(take_at_once, "an exchange");
	test_flag(take_by_adding, "an addition");
}

#else

static void test_interrupted(void)
{
}

#endif

static void test_clock(void)
{
	is_u64(ns_between(1000, 1500), 500, "a span");
	is_u64(ns_between(1000, 1000), 0, "none");
	is_u64(ns_between(1003, 1000), 0, "what another CPU noted just before lies ahead: none");
	is_u64(ns_between(0, INT64_MAX), INT64_MAX, "the longest");
}

int main(void)
{
	test_claims_of_one();
	test_claims_of_threads();
	test_interrupted();
	test_signature();
	test_clock();
	return tap_done();
}
