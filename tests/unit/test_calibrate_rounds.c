// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests how `doctor` measures the overhead of probes, with a played kernel and a played clock: each
 * reading of the clock takes longer the more links are open. So what each set of probes adds is
 * known exactly.
 */
#define _GNU_SOURCE
#include <bpf/bpf.h>
#include <math.h>
#include <time.h>

#include "played_kernel.h"
#include "probe/live_load.h"
#include "session/calibrate.h"
#include "session/calibrate_work.h"
#include "tap.h"

#define LINK_NS	  1000 /* what an open link adds to a reading of the clock */
#define CPU_NS	  5000 /* what a reading adds to the CPU time */
#define PROCESSES 4
#define BEGIN_NS  (3600 * 1000000000ULL) /* CLOCK_MONOTONIC when a test begins */

static bool plays_clock;
static uint64_t now_ns, cpu_ns, step_ns; /* step_ns: what a reading takes without links */
static unsigned int cpu_readings;	 /* readings of the CPU time: three for each scan */

int clock_gettime(clockid_t clock, struct timespec *ret)
{
	uint64_t ns;

	if (!plays_clock || (clock != CLOCK_MONOTONIC && clock != CLOCK_PROCESS_CPUTIME_ID))
		return played_real(SYS_clock_gettime, clock, ret, 0, 0, 0, 0);
	if (clock == CLOCK_MONOTONIC)
		ns = now_ns += step_ns + LINK_NS * played_open(PLAYED_LINK);
	else
		ns = cpu_ns += CPU_NS, cpu_readings++;
	ret->tv_sec = ns / 1000000000;
	ret->tv_nsec = ns % 1000000000;
	return 0;
}

/* Numbers of calls that succeed before one fails; -1: none fails. */
static int pipes_left = -1, forks_left = -1;
static unsigned int watched; /* how often a process was added to the processes to watch */

static bool fails(int *left)
{
	return *left >= 0 && !(*left)--;
}

int pipe2(int ends[2], int flags)
{
	if (!fails(&pipes_left))
		return played_real(SYS_pipe2, ends, flags, 0, 0, 0, 0);
	errno = EMFILE;
	return -1;
}

pid_t fork(void)
{
	static pid_t (*real)(void);

	if (!real)
		real = (pid_t(*)(void))dlsym(RTLD_NEXT, "fork");
	if (!fails(&forks_left))
		return real();
	errno = EAGAIN;
	return -1;
}

int bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags)
{
	static int (*real)(int, const void *, const void *, __u64);
	const struct played *map = played_by_fd(fd);

	if (!real)
		real = (int (*)(int, const void *, const void *, __u64))dlsym(
			RTLD_NEXT, "bpf_map_update_elem");
	if (map && map->type == BPF_MAP_TYPE_TASK_STORAGE)
		watched++;
	return real(fd, key, value, flags);
}

static struct live_options wish;
static struct calibration c;
static char error[1024];
static unsigned int left_open; /* links that the source has after it was measured */

/* Returns the number of links of the probes that `is_in` chooses. */
static unsigned int links_of(const struct hook_status *status, bool (*is_in)(const struct hook *h))
{
	unsigned int n = 0;

	for (size_t h = 0; h < nr_hooks; h++) {
		const struct hook_alternate *used = status[h].used;

		if (status[h].state != HOOK_ON || !is_in(&hooks[h]))
			continue;
		if (used->attach == ATTACH_PERF_FAULTS)
			n += 2 * (PLAYED_CPUS - 1);
		for (int i = 0; used->attach == ATTACH_AUTO && i < HOOK_PROGRAMS; i++)
			n += used->program[i] != NULL;
	}
	return n;
}

static bool in_tier_1(const struct hook *h)
{
	return h->tier <= 1;
}

static bool in_fault_ends(const struct hook *h)
{
	return h->tier <= 2 && strcmp(h->name, "fault_class") && strcmp(h->name, "compaction") &&
	       strcmp(h->name, "mmap_lock");
}

static bool in_tier_2(const struct hook *h)
{
	return h->tier <= 2;
}

static bool in_all(const struct hook *h)
{
	(void)h;
	return true;
}

static struct source *load(void)
{
	struct source *src = NULL;

	played_begin();
	memset(&wish, 0, sizeof(wish));
	wish.watch_all = true;
	wish.attribute = true;
	wish.tiers = TIER_ALL;
	wish.accepts = OPTIONAL_CALLS;
	/* the links of these attach types are the same on each kernel */
	wish.forced[hook_find("calls")] = "tp_btf";
	wish.forced[hook_find("fault_end")] = "perf_event";
	plays_clock = false;
	ok(!live_open(&wish, &src, error, sizeof(error)), "all probes are loaded %s", error);
	return src;
}

static void measure(struct source *src, uint64_t step)
{
	now_ns = BEGIN_NS;
	cpu_ns = 1000;
	step_ns = step;
	cpu_readings = watched = 0;
	plays_clock = true;
	calibrate(&c, &wish, src, PROCESSES);
	plays_clock = false;
	left_open = played_open(PLAYED_LINK);
}

static int forget(void *ctx, const struct record *h)
{
	(void)ctx, (void)h;
	return 0;
}

static uint64_t look_readings; /* readings of the clock that a scan makes */

static void count_readings(struct source *src)
{
	const struct sink sink = {.take = forget};

	now_ns = step_ns = 0;
	plays_clock = true;
	step_ns = 1000000000;
	src->ops->look(src, &sink);
	plays_clock = false;
	look_readings = now_ns / step_ns;
}

/* Returns the number of scans, which end after 40 ms, or when there are enough of them. */
static unsigned int scans_in_40_ms(uint64_t reading_ns)
{
	unsigned int n = 0;

	for (uint64_t t = 0; n < 32; n++) {
		if (n >= COST_LEAST && (t += reading_ns) >= 40000000)
			break;
		t += look_readings * reading_ns;
	}
	return n;
}

/* Operations of one run: what works[] of calibrate_work.c says. */
static const double operations[NR_WORKS] = {128, 64, 192, 128, 128, 512, 128, 8};

static const struct {
	const char *hook;
	int work; /* NR_WORKS: none */
	int set;  /* index of sets[] */
} rows[] = {
	{"scan", NR_WORKS, 0},		{"lifecycle", WORK_PROCESS, 1},
	{"fault_begin", WORK_FAULT, 1}, {"fault_kernel", WORK_USER_COPY, 1},
	{"signal", WORK_SIGNAL, 1},	{"map_area", WORK_MAPPING, 1},
	{"fault_end", WORK_FAULT, 2},	{"fault_class", WORK_FAULT, 3},
	{"mmap_lock", WORK_MAPPING, 3}, {"calls", WORK_MAPPING, 4},
	{"calls", WORK_DESCRIPTOR, 4},	{"calls", WORK_OTHER_CALL, 4},
};
#define NR_ROWS (sizeof(rows) / sizeof(rows[0]))

static bool is_about(double got, double want)
{
	return fabs(got - want) < 1e-6 * (fabs(want) + 1);
}

static bool is_cost(const struct cost *cost, double want)
{
	return cost->measured && !*cost->why && is_about(cost->low, want) &&
	       is_about(cost->median, want) && is_about(cost->high, want);
}

static void check_rows(const unsigned int *links)
{
	size_t at = 0;

	for (size_t i = 0; i < c.rows; i++) {
		const struct cost *cost = &c.row[i].cost;
		double want;

		if (c.row[i].work < 0) {
			ok(!cost->measured && *cost->why, "%s is not measured", c.row[i].hook);
			continue;
		}
		while (at < NR_ROWS && strcmp(rows[at].hook, c.row[i].hook) != 0)
			at++; /* a probe that this kernel lacks */
		if (!ok(at < NR_ROWS, "%s is expected", c.row[i].hook))
			return;
		want = rows[at].work == NR_WORKS
			       ? 2.0 * CPU_NS / PROCESSES
			       : LINK_NS * ((double)links[rows[at].set] - links[rows[at].set - 1]) /
					 operations[rows[at].work];
		ok(is_cost(cost, want), "%s: %g to %g, median %g; want %g %s", c.row[i].hook,
		   cost->low, cost->high, cost->median, want, cost->why);
		at++;
	}
}

static void check_overheads(unsigned int all)
{
	static const struct {
		const char *event;
		int work, times;
	} events[] = {{"fault", WORK_FAULT, 1},
		      {"getppid", WORK_OTHER_CALL, 1},
		      {"mmap", WORK_MAPPING, 2},
		      {"open", WORK_FILE, 2},
		      {"signal", WORK_SIGNAL, 1}};

	is_u64(c.overheads, 10, "events, each in two processes");
	for (size_t i = 0; i < c.overheads; i++) {
		double want = (double)LINK_NS * all * events[i / 2].times /
			      operations[events[i / 2].work];

		is_str(c.overhead[i].event, events[i / 2].event, "the event");
		ok(is_cost(&c.overhead[i].cost, want), "%s: %g, want %g %s", c.overhead[i].event,
		   c.overhead[i].cost.median, want, c.overhead[i].cost.why);
	}
}

/* Measures all sets, and checks what each of them adds, and how many rounds there were. */
static void test_rounds(uint64_t step)
{
	size_t fds = played_fds();
	struct source *src = load();
	unsigned int links[5] = {}, rounds = 0;
	const struct hook_status *status;
	uint64_t round_ns, t;

	if (!src)
		return;
	status = live_hooks(src);
	links[1] = links_of(status, in_tier_1);
	links[2] = links_of(status, in_fault_ends);
	links[3] = links_of(status, in_tier_2);
	links[4] = links_of(status, in_all);
	is_u64(played_open(PLAYED_LINK), links[4], "all links");
	/* the last set is all probes again; each set reads the clock 8 times for each work */
	round_ns = 8 * NR_WORKS *
		   (6 * step + LINK_NS * (links[1] + links[2] + links[3] + 2 * links[4]));
	for (t = round_ns; rounds < 64 && t <= (rounds < 8 ? 2500000000 : 350000000); t += round_ns)
		rounds++;
	count_readings(src);
	measure(src, step);
	is_u64(c.rounds, rounds, "rounds");
	is_u64(cpu_readings, 3 * scans_in_40_ms(step + LINK_NS * links[4]),
	       "readings of the CPU time: three for each scan");
	ok(c.done, "it is done");
	ok(c.seconds > (rounds + 1) * round_ns / 1e9 && c.seconds < (rounds + 2) * round_ns / 1e9,
	   "%.3f s, %u rounds of %.3f s", c.seconds, rounds, round_ns / 1e9);
	is_u64(watched, 1, "one set of probes watches a process");
	check_rows(links);
	check_overheads(links[4]);
	is_u64(left_open, 0, "all probes are detached");
	src->ops->close(src);
	is_u64(played_fds(), fds, "no file is left");
}

/* Checks that all rows that could have been measured say why they were not. */
static void check_failed(const char *why)
{
	unsigned int said = 0;

	for (size_t i = 0; i < c.rows; i++)
		if (c.row[i].work >= 0 && strcmp(c.row[i].hook, "scan") != 0 &&
		    (c.row[i].cost.measured || strcmp(c.row[i].cost.why, why) != 0))
			ok(false, "%s: %s", c.row[i].hook, c.row[i].cost.why);
		else
			said += !strcmp(c.row[i].cost.why, why);
	for (size_t i = 0; i < c.overheads; i++)
		is_str(c.overhead[i].cost.why, why, "an event");
	ok(said >= 8 && !c.done, "%u rows: %s", said, why);
}

static void test_slow(void)
{
	struct source *src = load();

	if (!src)
		return;
	measure(src, 2000000);
	check_failed("not measured: attaching takes too long, or the machine is too busy");
	is_u64(left_open, 0, "all probes are detached");
	src->ops->close(src);
}

/* The `left`th program, or link, of those after the load fails. */
static void test_failing(enum played_kind kind, const char *name, long left, const char *why)
{
	size_t fds = played_fds();
	struct source *src = load();

	if (!src)
		return;
	played_fail(kind, name, left, ENOMEM);
	measure(src, 100000);
	check_failed(why);
	is_u64(left_open, 0, "all probes are detached");
	src->ops->close(src);
	is_u64(played_fds(), fds, "no file is left");
}

/* The work of another process cannot begin. */
static void test_failing_calls(int *left)
{
	size_t fds = played_fds();
	struct source *src = load();

	if (!src)
		return;
	*left = 3; /* two calls are made in each round */
	measure(src, 100000);
	is_u64(*left, -1, "a call has failed");
	*left = -1;
	check_failed("not measured: a probe could not be attached again");
	src->ops->close(src);
	is_u64(played_fds(), fds, "no file is left");
}

/* Too few rounds, and no process that was scanned. */
static void test_few(void)
{
	struct source *src = load();

	if (!src)
		return;
	wish.forced[hook_find("signal")] = "none";
	now_ns = BEGIN_NS;
	step_ns = 1500000;
	plays_clock = true;
	calibrate(&c, &wish, src, 0);
	plays_clock = false;
	ok(!c.done && c.rounds && c.rounds < COST_LEAST, "%u rounds are too few", c.rounds);
	for (size_t i = 0; i < c.rows; i++)
		if (!strcmp(c.row[i].hook, "scan"))
			is_str(c.row[i].cost.why, "not measured", "no process");
		else if (c.row[i].work >= 0)
			ok(!strncmp(c.row[i].cost.why, "too few measurements", 20), "%s: %s",
			   c.row[i].hook, c.row[i].cost.why);
	src->ops->close(src);
}

int main(void)
{
	if (access("/sys/kernel/btf/vmlinux", R_OK)) {
		ok(true, "# SKIP no types of the kernel");
		return tap_done();
	}
	test_rounds(100000);
	test_rounds(800000);
	test_slow();
	test_few();
	test_failing(PLAYED_PROGRAM, NULL, 3,
		     "not measured: the probes could not be loaded a second time");
	test_failing(PLAYED_LINK, NULL, 100, "not measured: a probe could not be attached again");
	test_failing(PLAYED_LINK, NULL, 300, "not measured: a probe could not be attached again");
	test_failing_calls(&pipes_left);
	test_failing_calls(&forks_left);
	return tap_done();
}
