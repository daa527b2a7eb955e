// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests recordings with lost events, files that did not match, or an unavailable probe. A command
 * must then neither report that all is well nor exit with 0. Every command that reads a recording
 * gets random recordings.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"
#include "probe/recording.h"
#include "session/commands.h"
#include "session/session.h"
#include "tap.h"

#define CASES	  80
#define PROCESSES 3

/* Texts by which commands say that they found no problem. */
static const char *const all_clears[] = {
	"all is well",
	"not short of memory",
	"nothing found: no limit is near",
};

/* Properties of a random recording: which of its data is lost, unavailable or does not match. */
struct scene {
	/* number of lost events for each cause: ring, map, slot, missed, stack, growth */
	uint64_t lost[6];
	uint32_t state[NR_FIXTURE_HOOKS];
	bool unwanted[NR_FIXTURE_HOOKS]; /* the probe is unavailable because of --probe NAME=none */
	int processes;
	int unread; /* a limit of the machine that was not read: offset in struct host_limits */
};

#define NONE   (-1)
#define MEMORY (int)offsetof(struct host_limits, mem_total_bytes)

static uint64_t seed = 20261122;

/* Returns a random number below `n`. The sequence (xorshift64) is the same in each run. */
static uint64_t random_below(uint64_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % n;
}

/*
 * Returns a random recording. A quarter of the recordings are complete: for these, commands must
 * report no problem.
 */
static struct scene random_scene(void)
{
	bool whole = !random_below(4);
	static const int limits[] = {
		offsetof(struct host_limits, max_map_count), offsetof(struct host_limits, file_max),
		offsetof(struct host_limits, nr_open),	     offsetof(struct host_limits, pid_max),
		offsetof(struct host_limits, threads_max),   MEMORY,
	};
	struct scene s = {.processes = 1 + random_below(PROCESSES), .unread = NONE};

	for (size_t i = 0; i < NR_FIXTURE_HOOKS; i++)
		s.state[i] = HOOK_ON;
	if (whole)
		return s;
	if (!random_below(4))
		s.processes = 0;
	if (!random_below(4))
		s.unread = limits[random_below(sizeof(limits) / sizeof(limits[0]))];
	for (size_t i = 0; i < 6; i++)
		if (!random_below(6))
			s.lost[i] = 1 + random_below(20000);
	for (size_t i = 0; i < NR_FIXTURE_HOOKS; i++) {
		if (random_below(12))
			continue;
		s.state[i] = random_below(2) ? HOOK_BLIND : HOOK_OFF;
		s.unwanted[i] = s.state[i] == HOOK_BLIND && !random_below(3);
	}
	return s;
}

static void take(struct recorder *rec, const struct record *h)
{
	if (recorder_take(rec, h))
		abort();
}

static void record_hooks(struct recorder *rec, const struct scene *s)
{
	for (size_t i = 0; i < NR_FIXTURE_HOOKS; i++) {
		struct hook_record h = hook_record(fixture_hooks[i], s->state[i]);

		if (s->unwanted[i])
			snprintf(h.why, sizeof(h.why), "none: %s", SWITCHED_OFF);
		take(rec, &h.h);
	}
}

static void record_look(struct recorder *rec, const struct scene *s, uint64_t t_ns)
{
	struct tick_record tick = tick_record(t_ns);

	for (int i = 0; i < s->processes; i++) {
		struct process_record r = process_record(10 + i, 1, t_ns - SECOND / 4);

		take(rec, &r.h);
	}
	if (s->unread != NONE)
		memset((char *)&tick.limits + s->unread, 0, sizeof(uint64_t));
	tick.losses.ring = s->lost[0];
	tick.losses.map = s->lost[1];
	tick.losses.slot = s->lost[2];
	tick.losses.missed = s->lost[3];
	tick.losses.stack = s->lost[4];
	tick.losses.growth = s->lost[5];
	take(rec, &tick.h);
}

static char recording[160], said[160]; /* paths of the recording and of the command's output */

static void record(const struct scene *s)
{
	struct host_record host = host_record(SECOND / 2);
	struct end_record end = RECORD(end_record, RECORD_END, 4 * SECOND);
	struct recorder *rec;
	char error[256];

	if (recorder_open(recording, true, &rec, error, sizeof(error)))
		abort();
	take(rec, &host.h);
	record_hooks(rec, s);
	for (int i = 1; i < 4; i++)
		record_look(rec, s, i * SECOND);
	take(rec, &end.h);
	if (recorder_close(rec))
		abort();
}

struct ran {
	int status;
	char *said;
};

static int dispatch(const struct options *o)
{
	switch (o->command) {
	case CMD_DIAGNOSE:
		return command_diagnose(o);
	case CMD_HOST:
		return command_host(o);
	case CMD_REPLAY:
		return command_replay(o);
	case CMD_REPORT:
		return command_report(o, NULL); /* `report` is tested without writing a textfile */
	case CMD_INFO:
		return command_info(o);
	case CMD_DIFF:
		return command_diff(o);
	default:
		return command_watch(o);
	}
}

/* Runs a command in a child process, with its output in a file. */
static struct ran run(int argc, const char *const *argv)
{
	int fd = open(said, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), status;
	struct ran r = {.status = -1};
	struct stat st;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		struct options o;
		char error[512];

		dup2(fd, STDOUT_FILENO);
		dup2(fd, STDERR_FILENO);
		if (options_parse(argc, (char **)argv, &o, error, sizeof(error)))
			_exit(EXIT_USAGE);
		status = dispatch(&o);
		fflush(NULL);
		_exit(status);
	}
	if (pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status))
		r.status = WEXITSTATUS(status);
	if (fd < 0 || fstat(fd, &st))
		abort();
	r.said = calloc(1, st.st_size + 1);
	if (!r.said || pread(fd, r.said, st.st_size, 0) != st.st_size)
		abort();
	close(fd);
	return r;
}

static const char *all_clear_in(const char *text)
{
	for (size_t i = 0; i < sizeof(all_clears) / sizeof(all_clears[0]); i++)
		if (strstr(text, all_clears[i]))
			return all_clears[i];
	return NULL;
}

enum verdict_kind { SHOWS, JUDGES_PROCESSES, JUDGES_HOST };

/*
 * All commands that read a recording ("FILE"). For each command, the row says which part of the
 * recording it judges.
 */
static const struct {
	enum verdict_kind kind;
	const char *argv[8];
} commands[] = {
	{JUDGES_PROCESSES, {"faultscope", "diagnose", "--replay", "FILE"}},
	{JUDGES_PROCESSES, {"faultscope", "diagnose", "--json", "--replay", "FILE"}},
	{JUDGES_HOST, {"faultscope", "host", "--replay", "FILE"}},
	{JUDGES_HOST, {"faultscope", "host", "--json", "--replay", "FILE"}},
	{SHOWS, {"faultscope", "--replay", "FILE"}},
	{SHOWS, {"faultscope", "replay", "FILE"}},
	{SHOWS, {"faultscope", "replay", "--json", "FILE"}},
	{SHOWS, {"faultscope", "report", "FILE"}},
	{SHOWS, {"faultscope", "report", "--format", "html", "FILE"}},
	{SHOWS, {"faultscope", "report", "--format", "csv", "FILE"}},
	{SHOWS, {"faultscope", "info", "FILE"}},
	{SHOWS, {"faultscope", "diff", "FILE", "FILE"}},
};

/* Returns whether `host` needs a probe. It needs only the OOM probe, for memory findings. */
static bool host_needs(const char *hook)
{
	return !strcmp(hook, "oom");
}

static bool has_gap(const struct scene *s, enum verdict_kind kind)
{
	bool gap = !s->processes;

	gap |= s->unread != NONE && (kind != JUDGES_HOST || s->unread == MEMORY);
	for (size_t i = 0; i < 6; i++)
		gap |= s->lost[i] > 0;
	for (size_t i = 0; i < NR_FIXTURE_HOOKS; i++) {
		bool blind = s->state[i] == HOOK_BLIND;

		if (kind == SHOWS)
			gap |= blind && !s->unwanted[i];
		else if (kind == JUDGES_HOST)
			gap |= blind && host_needs(fixture_hooks[i]);
		else
			gap |= blind;
	}
	return gap;
}

static void judge(const struct scene *s, size_t c, size_t *wrong, size_t *gaps)
{
	const char *argv[8] = {};
	bool gap = has_gap(s, commands[c].kind);
	int argc = 0;
	struct ran r;

	for (; commands[c].argv[argc]; argc++)
		argv[argc] =
			strcmp(commands[c].argv[argc], "FILE") ? commands[c].argv[argc] : recording;
	r = run(argc, argv);
	*gaps += gap;
	if (gap && (r.status != EXIT_INCOMPLETE || all_clear_in(r.said) ||
		    !strstr(r.said, "incomplete: "))) {
		if (!(*wrong)++)
			printf("# %s %s: status %d, all-clear: %s\n", argv[1], argv[2], r.status,
			       all_clear_in(r.said) ?: "none");
	}
	free(r.said);
}

static void test_no_all_clear_after_a_loss(void)
{
	size_t wrong[sizeof(commands) / sizeof(commands[0])] = {}, gaps = 0;

	for (int i = 0; i < CASES; i++) {
		struct scene s = random_scene();

		record(&s);
		for (size_t c = 0; c < sizeof(commands) / sizeof(commands[0]); c++)
			judge(&s, c, &wrong[c], &gaps);
	}
	for (size_t c = 0; c < sizeof(commands) / sizeof(commands[0]); c++)
		ok(!wrong[c], "%s %s: no all-clear and no status 0 after a loss (%zu of %d wrong)",
		   commands[c].argv[1], commands[c].argv[2], wrong[c], CASES);
	ok(gaps > CASES, "the cases have gaps: %zu", gaps);
}

static void test_all_clear(void)
{
	struct scene s = {.processes = 1, .unread = NONE};
	struct ran r;

	for (size_t i = 0; i < NR_FIXTURE_HOOKS; i++)
		s.state[i] = HOOK_ON;
	record(&s);
	r = run(4, (const char *[]){"faultscope", "diagnose", "--replay", recording, NULL});
	ok(!r.status && strstr(r.said, "all is well"), "where all was seen it is said: %d",
	   r.status);
	free(r.said);
	r = run(4, (const char *[]){"faultscope", "host", "--replay", recording, NULL});
	ok(!r.status && strstr(r.said, "not short of memory"), "of the host, too: %d", r.status);
	free(r.said);
	r = run(5, (const char *[]){"faultscope", "replay", "--comm", "nosuch", recording, NULL});
	ok(r.status == EXIT_INCOMPLETE && strstr(r.said, "no process matched"),
	   "a filter that matches nothing: %d", r.status);
	free(r.said);
}

int main(void)
{
	snprintf(recording, sizeof(recording), "%s", fixture_path("random.fsr"));
	snprintf(said, sizeof(said), "%s", fixture_path("said"));
	test_all_clear();
	test_no_all_clear_after_a_loss();
	return tap_done();
}
