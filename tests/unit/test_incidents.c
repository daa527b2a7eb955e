// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the store of incidents, what triggers them, and the socket of `snapshot`: bounds, equal and
 * too many triggers, a writer that is killed, and a full disk.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "fixture.h"
#include "incident/incidents.h"
#include "incident/snapshot_socket.h"
#include "probe/recording.h"
#include "tap.h"

#define HOUR_NS 3600000000000ULL
#define WALL_NS 1700000000000000000ULL
#define KILLS	40
#define TMPFS	(256 << 10)

static struct incidents in;
static struct incident_options opt;
static size_t news[INCIDENT_FAILED + 1]; /* number of calls of count_news(), by event */
static int failure;
static size_t raised, lowered;

static int tell_nothing(void *ctx, const struct sink *sink)
{
	struct tick_record tick = tick_record(5 * SECOND);

	(void)ctx;
	return sink->take(sink->ctx, &tick.h);
}

static void count_news(void *ctx, const struct incident_news *one)
{
	(void)ctx;
	news[one->event]++;
	if (one->event == INCIDENT_FAILED)
		failure = one->err;
}

static void raise_detail(void *ctx, struct incident_record *r)
{
	(void)ctx;
	raised++;
	r->raised = INCIDENT_RAISED_SCANS;
}

static void lower_detail(void *ctx)
{
	(void)ctx;
	lowered++;
}

/* Fills the ring with `bytes` of data that cannot be compressed much. */
static void fill_ring(struct record_ring *ring, size_t bytes)
{
	struct host_record host = host_record(1);
	uint64_t x = 88172645463325252ULL;

	record_ring_take(ring, &host.h);
	for (uint64_t t = 2 * SECOND; record_ring_use(ring).bytes < bytes; t += SECOND) {
		struct tick_record tick = tick_record(t);

		for (int i = 0; i < 50; i++) {
			struct process_record p = process_record(10 + i, 1, t);

			for (size_t k = 0; k < sizeof(p.c) / 8; k++) {
				x ^= x << 13;
				x ^= x >> 7;
				x ^= x << 17;
				((uint64_t *)&p.c)[k] = x;
			}
			record_ring_take(ring, &p.h);
		}
		record_ring_take(ring, &tick.h);
	}
}

static void begin(const char *dir, size_t ring_bytes)
{
	char error[512];

	opt = (struct incident_options){
		.ring = {.bytes = 8 << 20},
		.store = {.count = 10},
		.on = INCIDENT_ON_DEFAULT,
		.rest_ns = HOUR_NS,
		.per_hour = 16,
	};
	memset(news, 0, sizeof(news));
	failure = 0;
	raised = lowered = 0;
	if (incidents_open(&in, &opt, dir, tell_nothing, NULL, error, sizeof(error))) {
		printf("# %s\n", error);
		exit(1);
	}
	in.raise = raise_detail;
	in.lower = lower_detail;
	in.news = count_news;
	fill_ring(in.ring, ring_bytes);
}

static const char *trigger(enum incident_trigger t, const char *cause, const char *workload)
{
	struct incident_cause c = {
		.trigger = t, .cause = cause, .workload = workload, .title = "a title"};

	return incidents_trigger(&in, &c);
}

static size_t count_files(const char *dir, const char *begin)
{
	DIR *d = opendir(dir);
	struct dirent *de;
	size_t n = 0;

	while (d && (de = readdir(d)))
		n += !strncmp(de->d_name, begin, strlen(begin));
	if (d)
		closedir(d);
	return n;
}

/* Returns whether a recording can be read to its end record. */
static bool is_whole(const char *dir, const char *name)
{
	struct sink sink = {.take = NULL};
	char path[PATH_MAX], error[512];
	struct source *src;
	bool whole;
	int err = 0;
	struct model m;

	if (model_init(&m))
		exit(1);
	sink.take = (int (*)(void *, const struct record *))model_take;
	sink.ctx = &m;
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (replay_open(path, &src, error, sizeof(error))) {
		model_free(&m);
		return false;
	}
	while (!err)
		err = src->ops->look(src, &sink);
	whole = err == 1 && replay_facts(src)->ended && !replay_facts(src)->damages;
	src->ops->close(src);
	model_free(&m);
	return whole;
}

static void test_triggers(void)
{
	const char *dir = fixture_path("triggers");
	struct incident_list list;
	const char *name;

	begin(dir, 1000);
	name = trigger(INCIDENT_REFUSED, "max_map_count", "web");
	ok(name && strstr(name, "-refused.fsr"), "a trigger writes an incident at once");
	is_u64(raised, 1, "and raises the detail");
	is_u64(incident_list_read(dir, &list), 0, "it is listed");
	ok(list.n == 1 && !*list.one[0].why, "as one incident");
	is_str(list.one[0].r.cause, "max_map_count", "with its cause");
	is_str(list.one[0].r.workload, "web", "its workload");
	is_str(list.one[0].r.title, "a title", "and its title");
	is_u64(list.one[0].r.raised, INCIDENT_RAISED_SCANS, "and what was raised");
	ok(list.one[0].bytes > 100, "and the size of its file");
	ok(is_whole(dir, list.one[0].name), "which is a complete recording");
	incident_list_free(&list);
	in.o.rest_ns = 0;
	ok(!trigger(INCIDENT_REFUSED, "max_map_count", "web"), "a second trigger of the workload");
	in.o.rest_ns = HOUR_NS;
	is_u64(in.counts.merged, 1, "belongs to the incident that waits");
	ok(trigger(INCIDENT_OOM, NULL, "db"), "that of another workload does not");
	ok(incidents_wait(&in), "both wait");
	incidents_work(&in);
	is_u64(lowered, 1, "the detail is lowered when none waits any more");
	ok(!incidents_wait(&in), "now none waits");
	is_u64(in.store.stored, 4, "each file was written twice");
	is_u64(count_files(dir, "2"), 2, "under the same name");
	incident_list_read(dir, &list);
	is_u64(list.one[0].r.more + list.one[1].r.more, 1, "with the number of its triggers");
	incident_list_free(&list);
	ok(!trigger(INCIDENT_REFUSED, "max_map_count", "web"), "an equal trigger is ignored");
	ok(!trigger(INCIDENT_OOM, NULL, "db"), "also one of another incident");
	is_u64(in.counts.repeated, 2, "and counted");
	ok(trigger(INCIDENT_REFUSED, "rlimit_nofile", "web"), "another cause is not ignored");
	ok(trigger(INCIDENT_USR1, NULL, NULL) && trigger(INCIDENT_USR1, NULL, NULL),
	   "requests by hand are never equal");
	incidents_close(&in);
	is_u64(count_files(dir, "2"), 5, "the end writes what waits");
	is_u64(news[INCIDENT_STORED], 5, "each stored incident is reported");
	is_u64(news[INCIDENT_COMPLETED], 5, "and when it is complete");
}

static void test_rate(void)
{
	const char *dir = fixture_path("rate");
	size_t n = 0, by_hand = 0;
	char workload[32];

	begin(dir, 1000);
	for (int i = 0; i < 100; i++) {
		snprintf(workload, sizeof(workload), "w%d", i);
		n += !!trigger(INCIDENT_OOM, NULL, workload);
		incidents_work(&in);
	}
	is_u64(n, 6, "a storm of triggers writes at most a quarter of the incidents of an hour");
	is_u64(in.counts.over_rate, 94, "and counts the others");
	is_u64(news[INCIDENT_REFUSED_RATE], 94, "each of which is reported");
	for (int i = 0; i < 100; i++) {
		by_hand += !!trigger(INCIDENT_USR1, NULL, NULL);
		incidents_work(&in);
	}
	is_u64(by_hand, 10, "requests have a bound of their own");
	incidents_close(&in);
}

/* Returns the number of incidents that wait for what comes after their trigger. */
static size_t waiting(void)
{
	size_t n = 0;

	for (size_t i = 0; i < INCIDENTS_AT_ONCE; i++)
		n += in.waiting[i].due_ns != 0;
	return n;
}

/* More incidents than can wait at once. */
static void test_places(void)
{
	const char *dir = fixture_path("places");
	char workload[32];

	begin(dir, 1000);
	in.automatic = (struct allowance){1e9, 1e9, 0, 0};
	in.store.bounds.count = 0; /* without bounds */
	in.o.after_ns = HOUR_NS;
	for (int i = 0; i < INCIDENTS_AT_ONCE - INCIDENTS_BY_HAND; i++) {
		snprintf(workload, sizeof(workload), "w%d", i);
		trigger(INCIDENT_OOM, NULL, workload);
	}
	is_u64(waiting(), INCIDENTS_AT_ONCE - INCIDENTS_BY_HAND, "incidents that wait at once");
	is_u64(news[INCIDENT_COMPLETED], 0, "none is complete");
	ok(trigger(INCIDENT_OOM, NULL, "one more"), "one more trigger");
	is_u64(waiting(), INCIDENTS_AT_ONCE - INCIDENTS_BY_HAND, "takes no place from requests");
	is_u64(news[INCIDENT_COMPLETED], 1, "completes an incident before its time is over");
	is_str(in.waiting[0].r.workload, "one more", "the one whose time is over next");
	is_u64(in.counts.over_rate, 0, "none is ignored");
	for (int i = 0; i < INCIDENTS_BY_HAND; i++)
		ok(trigger(INCIDENT_USR1, NULL, NULL), "a request by hand still has a place");
	is_u64(waiting(), INCIDENTS_AT_ONCE, "in addition");
	ok(trigger(INCIDENT_USR1, NULL, NULL), "one more request");
	is_u64(news[INCIDENT_COMPLETED], 2, "completes an incident, too");
	incidents_close(&in);
	is_u64(count_files(dir, "2"), INCIDENTS_AT_ONCE + 2, "each has a file");
	is_u64(news[INCIDENT_COMPLETED], INCIDENTS_AT_ONCE + 2, "and is complete at the end");
}

static void put_files(struct incident_store *s, const char *dir, size_t n)
{
	struct store_bounds none = {};
	struct incident_record head = RECORD(incident_record, RECORD_INCIDENT, 1);
	char name[STORED_NAME_BYTES];

	if (incident_store_open(s, dir, &none))
		exit(1);
	for (size_t i = 0; i < n; i++) {
		stored_name(WALL_NS + i * HOUR_NS, "oom", name);
		if (incident_store_put(s, in.ring, &head, name))
			exit(1);
	}
}

static void test_bounds(void)
{
	const char *dir = fixture_path("bounds");
	struct incident_store s;
	struct stat st;

	begin(fixture_path("other"), 20000);
	put_files(&s, dir, 10);
	ok(!stat(dir, &st) && (st.st_mode & 0777) == 0700, "the directory is for its owner only");
	is_u64(count_files(dir, "2"), 10, "without bounds, all files stay");
	s.bounds.age_ns = 5 * HOUR_NS + 1;
	incident_store_keep_bounds(&s, WALL_NS + 9 * HOUR_NS);
	is_u64(count_files(dir, "2"), 6, "old files are removed");
	s.bounds = (struct store_bounds){.count = 4};
	incident_store_keep_bounds(&s, WALL_NS);
	is_u64(count_files(dir, "2"), 4, "and those beyond the number of files");
	s.bounds = (struct store_bounds){.bytes = 50000};
	incident_store_keep_bounds(&s, WALL_NS);
	ok(count_files(dir, "2") && count_files(dir, "2") <= 2, "and those beyond the bytes");
	s.bounds = (struct store_bounds){.bytes = 1, .count = 1, .age_ns = 1};
	incident_store_keep_bounds(&s, WALL_NS + 100 * HOUR_NS);
	is_u64(count_files(dir, "20231115"), 1, "the newest one always stays");
	incident_store_close(&s);
	incidents_close(&in);
}

/* A writer that is killed at a random moment leaves no file that looks complete but is not. */
static void test_kills(void)
{
	const char *dir = fixture_path("killed");
	size_t broken = 0, unknown = 0, killed = 0;
	struct store_bounds bounds = {.count = 5};
	struct incident_list list;

	for (int i = 0; i < KILLS; i++) {
		pid_t pid = fork();
		int status;

		if (!pid) {
			begin(dir, 300000);
			in.o.per_hour = 1000000;
			in.automatic = (struct allowance){1e9, 1e9, 0, 0};
			for (char w[16] = "", *end = w;; snprintf(w, sizeof(w), "%d", rand())) {
				(void)end;
				trigger(INCIDENT_OOM, NULL, w);
				incidents_work(&in);
			}
		}
		while (!count_files(dir, "2")) /* until the first child has begun to write */
			nanosleep(&(struct timespec){0, 1000000}, NULL);
		nanosleep(&(struct timespec){0, 20000000 + (i * 7919 % 50) * 1000000L}, NULL);
		kill(pid, SIGKILL);
		killed += waitpid(pid, &status, 0) == pid && WIFSIGNALED(status);
		incident_list_read(dir, &list);
		for (size_t k = 0; k < list.n; k++) {
			unknown += !!*list.one[k].why;
			broken += !is_whole(dir, list.one[k].name);
		}
		incident_list_free(&list);
	}
	is_u64(killed, KILLS, "writers were killed");
	ok(count_files(dir, "2"), "incidents are listed");
	is_u64(unknown + broken, 0, "and each of them is a complete recording");
	ok(count_files(dir, "2") <= 11, "within the bound");
	if (count_files(dir, ".faultscope.")) {
		struct incident_store s;
		DIR *d = opendir(dir);
		struct dirent *de;

		/* as if the crash was long ago */
		while ((de = readdir(d)))
			utimensat(dirfd(d), de->d_name,
				  (const struct timespec[2]){{.tv_sec = 1}, {.tv_sec = 1}}, 0);
		closedir(d);
		if (incident_store_open(&s, dir, &bounds))
			exit(1);
		incident_store_close(&s);
	}
	is_u64(count_files(dir, ".faultscope."), 0,
	       "unfinished files are removed at the next start");
}

static void test_full_disk(void)
{
	const char *dir = fixture_path("full");
	struct incident_list list;

	mkdir(dir, 0700);
	if (mount("tmpfs", dir, "tmpfs", 0, "size=256k")) {
		ok(true, "a full disk # SKIP needs root");
		return;
	}
	begin(dir, TMPFS * 2 / 3);
	ok(trigger(INCIDENT_OOM, NULL, "a"), "there is room for the first incident");
	ok(!trigger(INCIDENT_OOM, NULL, "b"), "but not for the second one");
	is_u64(-failure, ENOSPC, "which is reported");
	is_u64(in.store.failed, 1, "and which is counted");
	is_u64(incident_list_read(dir, &list), 0, "the first one");
	ok(list.n == 1 && is_whole(dir, list.one[0].name), "is unchanged");
	incident_list_free(&list);
	is_u64(count_files(dir, ".faultscope."), 0, "nothing unfinished remains");
	ok(!trigger(INCIDENT_OOM, NULL, "c") && news[INCIDENT_FAILED] == 1, "once");
	unlink(fixture_path("full/none"));
	incidents_close(&in);
	umount(dir);
}

static void test_no_store(void)
{
	char error[512];

	ok(incidents_open(&in, &opt, fixture_path("a/b/c"), tell_nothing, NULL, error,
			  sizeof(error)) == -ENOENT,
	   "a directory that cannot be made");
	ok(strstr(error, "No such file"), "is an error");
	opt.signal_pattern = "(";
	ok(incidents_open(&in, &opt, fixture_path("x"), tell_nothing, NULL, error, sizeof(error)) ==
		   -EINVAL,
	   "and so is a wrong pattern: %s", error);
	incidents_close(&in);
}

static void answer_one(int fd)
{
	char reason[SNAPSHOT_REASON_BYTES], text[256];
	int client = -EAGAIN;

	while (client == -EAGAIN)
		client = snapshot_accept(fd, reason);
	snprintf(text, sizeof(text), "+%s", client < 0 ? "refused" : reason);
	if (client >= 0)
		snapshot_answer(client, text);
}

static void test_socket(void)
{
	char answer[SNAPSHOT_ANSWER_BYTES];
	const char *dir = fixture_path("s");
	struct stat st;
	int fd, status;
	pid_t pid;

	mkdir(dir, 0700);
	ok(snapshot_ask(dir, "x", answer) == -ENOENT, "nobody listens");
	fd = snapshot_listen(dir);
	ok(fd >= 0, "the socket is open");
	ok(!stat(fixture_path("s/" SNAPSHOT_SOCKET), &st) && (st.st_mode & 0777) == 0600,
	   "for its owner only");
	ok(snapshot_listen(dir) == -EADDRINUSE, "a second one cannot replace it");
	pid = fork();
	if (!pid) {
		answer_one(fd); /* the try of the second one to connect */
		answer_one(fd);
		_exit(0);
	}
	is_u64(snapshot_ask(dir, "two\nlines", answer), 0, "a request");
	is_str(answer, "+two lines", "gets its answer, and control characters are blanks");
	waitpid(pid, &status, 0);
	close(fd);
	ok(snapshot_ask(dir, "x", answer) == -ECONNREFUSED, "its faultscope was killed");
	fd = snapshot_listen(dir);
	ok(fd >= 0, "the next one takes its place");
	close(fd);
}

int main(void)
{
	test_triggers();
	test_rate();
	test_places();
	test_bounds();
	test_kills();
	test_full_disk();
	test_no_store();
	test_socket();
	return tap_done();
}
