/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Opens and closes fds so that their number follows a pattern, until dup() fails or time is up. */
#include "common.h"
#include "growth_patterns.h"

#define SHORTEST 20 /* shortest period in ticks; a leak lasts for six periods */
#define SPREAD	 10

static int fds[LIMIT];
static int held;

static const struct kind *find_kind(const char *name)
{
	for (size_t i = 0; i < NR_KINDS; i++)
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	return NULL;
}

static void list_kinds(void)
{
	for (size_t i = 0; i < NR_KINDS; i++)
		printf("%s\t%s\n", kinds[i].name, kinds[i].reaches ? "reaches" : "never");
}

/* Opens or closes fds until there are `wanted` of them. Returns false if dup() fails. */
static bool hold(int wanted)
{
	while (held > wanted)
		close(fds[--held]);
	while (held < wanted) {
		int fd = dup(STDOUT_FILENO);

		if (fd < 0)
			return false;
		fds[held++] = fd;
	}
	return true;
}

static struct life brief_life(long nth, const struct kind *kind)
{
	struct life l;

	seed = nth * 7919 + (kind - kinds) * 104729 + 11;
	l = draw();
	l.period = SHORTEST + fmod(l.period, SPREAD);
	l.rate = (LIMIT - l.first) / (6 * l.period);
	return l;
}

int main(int argc, char **argv)
{
	static const char usage[] = "PATTERN|list [--life N] [--ticks N] [--tick-ms N]";
	const struct rlimit limit = { LIMIT, LIMIT };
	const char *name = "";
	long nth = 1, ticks = 480, tick_ms = 200, t;
	const struct opt opts[] = {
		{ "life", OPT_NUMBER, &nth },
		{ "ticks", OPT_NUMBER, &ticks },
		{ "tick-ms", OPT_NUMBER, &tick_ms },
		{ 0 },
	};
	const struct kind *kind;
	bool reached = false;
	long long start;
	struct life life;

	parse_args(argc, argv, usage, opts, &name, 1, 1);
	if (!strcmp(name, "list")) {
		list_kinds();
		return 0;
	}
	kind = find_kind(name);
	if (!kind)
		wrong_usage(usage);
	if (setrlimit(RLIMIT_NOFILE, &limit))
		die("setrlimit");
	life = brief_life(nth, kind);
	wait_for_go();
	start = now_ns();
	for (t = 1; t < ticks && !reached; t++) {
		sleep_until(start + t * tick_ms * 1000000);
		/* 3: stdin, stdout and stderr also count towards the limit */
		reached = !hold(fmax(0, kind->value(&life, t) - 3));
	}
	truth_open();
	truth_number("reached", reached);
	truth_number("ticks", t);
	truth_close();
	return 0;
}
