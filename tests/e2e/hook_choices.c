// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Prints the attach type that is chosen for each probe. The choice depends on the overhead level,
 * on --probe, and on the attach types that the kernel allows.
 */
#include <stdio.h>
#include <string.h>

#include "probe/attach_choice.h"

static const char *forced[HOOKS_MAX];
static struct choice c;
static unsigned int accepts;

static void begin(unsigned int tiers, bool majors)
{
	choice_begin(&c, tiers, majors, accepts, forced);
}

static void show_one(size_t h)
{
	static const char *const states[] = {"off", "on", "blind"};
	const struct hook_alternate *alt = choice_of(&c, h);

	printf("  %s: %s, %s", hooks[h].name, alt ? alt->mechanism : "-",
	       states[c.status[h].state]);
	printf(*c.status[h].why ? " (%s)" : "%s", c.status[h].why);
	printf(c.status[h].remedy ? " try %s\n" : "\n", c.status[h].remedy);
}

static void show(const char *what)
{
	printf("%s%s%s\n", what, choice_is_hash(&c) ? ", hash" : "", choice_why_no_classes(&c));
	for (size_t h = 0; h < nr_hooks; h++)
		show_one(h);
}

/* Forces each attach type of each probe, and makes the forced attach type fail. */
static void force_each(void)
{
	const struct answer answer = {.text = "EPERM", .remedy = "sysctl -w a=b"};
	char what[96];

	for (size_t h = 0; h < nr_hooks; h++) {
		for (int i = 0; hooks[h].alternate[i].mechanism; i++) {
			forced[h] = hooks[h].alternate[i].mechanism;
			snprintf(what, sizeof(what), "%s=%s", hooks[h].name, forced[h]);
			begin(0xf, false);
			show(what);
			if (choice_of(&c, h)) {
				choice_refused(&c, h, &answer);
				show_one(h);
			}
		}
		forced[h] = "none";
		begin(0xf, false);
		show(hooks[h].name);
		forced[h] = NULL;
	}
}

/* Makes the attach types of each probe fail one after another, until none is left. */
static void refuse_each(void)
{
	static const char *const remedies[] = {"first", "second", "third"};
	struct answer answer = {};

	for (size_t h = 0; h < nr_hooks; h++)
		for (int n = 0; choice_of(&c, h); n++) {
			if (h == (size_t)hook_find("state"))
				break;
			snprintf(answer.text, sizeof(answer.text), "answer %d", n);
			answer.remedy = remedies[n % 3];
			choice_refused(&c, h, &answer);
			show_one(h);
		}
}

static void show_programs(void)
{
	for (size_t h = 0; h < nr_hooks; h++)
		for (int i = 0; hooks[h].alternate[i].mechanism; i++)
			for (int p = 0; p < HOOK_PROGRAMS && hooks[h].alternate[i].program[p]; p++)
				printf("%s is of %d\n", hooks[h].alternate[i].program[p],
				       choice_hook_of(&c, hooks[h].alternate[i].program[p]));
	printf("another is of %d\n", choice_hook_of(&c, "no such program"));
}

/* Shows which attach types of `calls` follow each other. */
static void refuse_calls(void)
{
	const struct answer answer = {.text = "EPERM"};
	size_t calls = hook_find("calls");

	show_one(calls);
	while (choice_of(&c, calls)) {
		choice_refused(&c, calls, &answer);
		show_one(calls);
	}
}

int main(void)
{
	const struct answer none = {.text = "bpf(2) is refused", .remedy = "more rights"};

	for (unsigned int tiers = 0; tiers < 16; tiers++) {
		begin(tiers, tiers % 3 == 1);
		printf("levels %x\n", tiers);
		show("");
	}
	accepts = OPTIONAL_CALLS;
	begin(0xf, false);
	show("64-bit programs");
	refuse_calls();
	accepts = LACKS_WRITES;
	begin(0xf, false);
	refuse_calls();
	accepts = 0;
	begin(0xf, false);
	show_programs();
	printf("kfuncs: %d\n", choice_leave_kfuncs(&c));
	show("without them");
	printf("again: %d\n", choice_leave_kfuncs(&c));
	printf("fall back: %d\n", choice_fall_back(&c, "ENOTSUPP"));
	show("fallen back");
	show_programs();
	printf("again: %d\n", choice_fall_back(&c, "ENOTSUPP"));
	refuse_each();
	begin(0xf, false);
	refuse_each();
	show("all refused");
	begin(0xf, true);
	choice_refuse_programs(&c, &none);
	show("no programs");
	force_each();
	return 0;
}
