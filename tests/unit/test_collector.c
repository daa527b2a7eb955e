// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>

#include "collect/collector.h"
#include "fixture.h"
#include "model/pressure.h"
#include "tap.h"

static struct model m;
static struct collector c;

static void begin(const struct filter *f)
{
	begin_model(&m, NULL);
	c = (struct collector){.m = &m, .filter = f};
}

static void end(void)
{
	collector_free(&c);
	model_free(&m);
}

static const struct {
	const char *name;
	uint32_t kind, len, short_len;
} kinds[] = {
	{"process", RECORD_PROCESS, sizeof(struct process_record),
	 offsetof(struct process_record, c)},
	{"crossing", RECORD_CROSSING, sizeof(struct crossing_record), 0},
	{"refused", RECORD_REFUSED, sizeof(struct refused_record), 0},
	{"signal", RECORD_SIGNAL, sizeof(struct signal_record), 0},
	{"kernel fault", RECORD_KERNEL_FAULT, sizeof(struct kernel_fault_record), 0},
	{"fork", RECORD_FORK, sizeof(struct fork_record), 0},
	{"exec", RECORD_EXEC, sizeof(struct exec_record), 0},
	{"host", RECORD_HOST, sizeof(struct host_record), 0},
	{"hook", RECORD_HOOK, sizeof(struct hook_record), 0},
	{"tick", RECORD_TICK, sizeof(struct tick_record), 0},
	{"names", RECORD_NAMES, sizeof(struct names_record), 0},
	{"symbol", RECORD_SYMBOL, sizeof(struct symbol_record), 0},
	{"probe cost", RECORD_PROBE_COST, sizeof(struct probe_cost_record), 0},
	{"end", RECORD_END, sizeof(struct end_record), 0},
};

#define MOST_MADE 8192

static int take(uint32_t kind, uint32_t len)
{
	/*
	 * For a length above MOST_MADE, only a header is allocated. Sanitizers then report a read
	 * beyond the header.
	 */
	size_t made = len < sizeof(struct record) || len > MOST_MADE ? sizeof(struct record) : len;
	struct record *h = calloc(1, made);
	int err;

	h->kind = kind;
	h->len = len;
	err = collector_take(&c, h);
	free(h);
	return err;
}

static void test_sizes(void)
{
	begin(NULL);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		bool refused = true;

		for (uint32_t len = 0; len <= 5000; len++)
			if (len != kinds[i].len &&
			    (!kinds[i].short_len || len != kinds[i].short_len))
				refused &= take(kinds[i].kind, len) == -EBADMSG;
		refused &= take(kinds[i].kind, UINT32_MAX - 16) == -EBADMSG;
		ok(refused, "%s: any other size is refused", kinds[i].name);
		is_u64(-take(kinds[i].kind, kinds[i].len), 0, kinds[i].name);
		if (kinds[i].short_len)
			is_u64(-take(kinds[i].kind, kinds[i].short_len), 0,
			       "process without counters");
	}
	ok(!take(0, 24) && !take(63, 24) && !take(UINT32_MAX, 24),
	   "kinds that are not known are passed over");
	end();
}

#define UNTERMINATED(r, member) memset((r).member, 'A', sizeof((r).member))

static void test_strings(void)
{
	struct process_record p = process_record(10, 1, SECOND);
	struct refused_record r = refused_record(10, CALL_OPEN, EMFILE);
	struct names_record n = RECORD(names_record, RECORD_NAMES, SECOND);
	struct host_record h = host_record(SECOND);
	struct hook_record k = hook_record("x", HOOK_BLIND);
	struct kernel_fault_record f = kernel_fault_record(10, 1, false);
	struct symbol_record s = RECORD(symbol_record, RECORD_SYMBOL, SECOND);
	struct subject *subject;

	begin(NULL);
	UNTERMINATED(p, g.comm);
	UNTERMINATED(r, comm);
	UNTERMINATED(n, exe);
	UNTERMINATED(n, cgroup);
	UNTERMINATED(f, comm);
	UNTERMINATED(s, symbol);
	UNTERMINATED(s, module);
	UNTERMINATED(h, version);
	UNTERMINATED(h, kernel);
	UNTERMINATED(h, arch);
	UNTERMINATED(h, host);
	UNTERMINATED(h, boot_id);
	UNTERMINATED(h, mode);
	UNTERMINATED(h, target);
	UNTERMINATED(k, name);
	UNTERMINATED(k, mechanism);
	UNTERMINATED(k, why);
	n.subject = p.subject;
	s.ip = 99;
	ok(!collector_take(&c, &p.h) && !collector_take(&c, &r.h) && !collector_take(&c, &n.h) &&
		   !collector_take(&c, &f.h) && !collector_take(&c, &s.h) &&
		   !collector_take(&c, &h.h) && !collector_take(&c, &k.h),
	   "strings without an end are taken");
	subject = model_find(&m, &p.subject);
	is_u64(strlen(subject->now.g.comm), 15, "a comm is ended");
	is_u64(strlen(subject->exe), 255, "an exe is");
	is_u64(strlen(subject->cgroup), 255, "a cgroup is");
	is_u64(strlen(m.event[0].refused.comm), 15, "the comm of an event is");
	is_u64(strlen(m.event[1].kernel_fault.comm), 15, "of each kind");
	is_u64(strlen(model_symbol(&m, 99)->symbol), 63, "a symbol is");
	is_u64(strlen(model_symbol(&m, 99)->module), 63, "a module is");
	is_u64(strlen(m.host.version) + strlen(m.host.kernel) + strlen(m.host.arch) +
		       strlen(m.host.host) + strlen(m.host.boot_id) + strlen(m.host.mode) +
		       strlen(m.host.target),
	       31 + 95 + 15 + 63 + 39 + 15 + 127, "the host's are");
	is_u64(strlen(m.hook[m.hooks - 1].name), 23, "a hook's name is");
	is_u64(strlen(m.hook[m.hooks - 1].why), 159, "and why it is blind");
	ok(p.g.comm[15] == 'A', "the caller's record is left as it was");
	end();
}

static bool shows(const struct filter *f, uint32_t pid, const char *comm, const char *cgroup)
{
	return filter_shows(f, pid, 0, comm, cgroup);
}

static void test_filter(void)
{
	struct filter f = {};
	char error[256] = "";

	ok(shows(&f, 1, "a", NULL) && shows(&f, 2, "", "/x"), "no filter shows all");
	f.pid[0] = 10;
	f.pid[1] = 20;
	f.pids = 2;
	ok(shows(&f, 10, "a", NULL) && shows(&f, 20, "a", NULL) && !shows(&f, 30, "a", NULL),
	   "by pids");
	ok(!filter_shows(&f, 30, PROC_WATCHED, "a", NULL), "a watched one is no target");
	f.children = true;
	ok(filter_shows(&f, 30, PROC_WATCHED, "a", NULL), "but a child, where those are asked for");
	ok(!filter_shows(&f, 30, PROC_BORN, "a", NULL), "others are not");
	f.children = false;
	f.pids = 0;
	ok(!filter_comm(&f, "^py(thon)?[0-9]*$", error, sizeof(error)),
	   "an extended regular expression");
	ok(shows(&f, 1, "python3", NULL) && shows(&f, 1, "py", NULL) &&
		   !shows(&f, 1, "apy", NULL) && !shows(&f, 1, "", NULL),
	   "by comm");
	f.pid[0] = 10;
	f.pids = 1;
	ok(shows(&f, 10, "py", NULL) && !shows(&f, 10, "sh", NULL) && !shows(&f, 11, "py", NULL),
	   "by pid and comm");
	filter_free(&f);
	f = (struct filter){};
	is_u64(-filter_comm(&f, "a(", error, sizeof(error)), EINVAL, "a bad expression is refused");
	ok(strstr(error, "--comm 'a('"), "the error names the option and what was given");
	filter_free(&f);
	f = (struct filter){};
	is_u64(-filter_cgroup(&f, "a", error, sizeof(error)), ENOENT,
	       "a relative cgroup is refused");
	ok(strstr(error, "--cgroup a"), "the error names the option and what was given");
	is_u64(-filter_cgroup(&f, "/a", error, sizeof(error)), 0, "a path as in /proc/PID/cgroup");
	ok(shows(&f, 1, "x", "/a") && shows(&f, 1, "x", "/a/b"),
	   "it shows its own and those below");
	ok(!shows(&f, 1, "x", "/ab") && !shows(&f, 1, "x", "/") && !shows(&f, 1, "x", "") &&
		   !shows(&f, 1, "x", "/b/a"),
	   "but not those that begin alike");
	ok(!shows(&f, 1, "x", NULL), "nor those that are not known");
	is_u64(-filter_cgroup(&f, "/a//", error, sizeof(error)), 0, "with slashes behind");
	is_str(f.cgroup, "/a", "they are cut");
	is_u64(-filter_cgroup(&f, "/", error, sizeof(error)), 0, "the root");
	ok(shows(&f, 1, "x", "/") && shows(&f, 1, "x", "/a/b"), "shows all");
}

static void test_view(void)
{
	struct process_record a = process_record(10, 1, SECOND), b = process_record(11, 1, SECOND);
	struct names_record n = RECORD(names_record, RECORD_NAMES, SECOND);
	struct refused_record r = refused_record(10, CALL_OPEN, EMFILE);
	struct filter f = {.pid = {10}, .pids = 1};
	struct totals t;

	begin(&f);
	b.g.map_high = 60000;
	collector_take(&c, &a.h);
	collector_take(&c, &b.h);
	ok(!model_find(&m, &a.subject)->hidden && model_find(&m, &b.subject)->hidden,
	   "others are hidden");
	model_totals(&m, &t);
	is_u64(t.maps.pid, 10, "a peak is of those that are shown");
	is_u64(t.processes, 1, "and so is the count of processes");
	end();

	f = (struct filter){.has_comm = false, .cgroup = "/a"};
	begin(&f);
	n.subject = a.subject;
	strcpy(n.cgroup, "/a/b");
	collector_take(&c, &a.h);
	collector_take(&c, &n.h);
	ok(!model_find(&m, &a.subject)->hidden, "a process is shown once its cgroup is known");
	collector_take(&c, &a.h);
	ok(!model_find(&m, &a.subject)->hidden, "and stays so");
	strcpy(n.cgroup, "/ab");
	n.subject = b.subject;
	collector_take(&c, &b.h);
	collector_take(&c, &n.h);
	collector_take(&c, &b.h);
	ok(model_find(&m, &b.subject)->hidden, "one of another cgroup is not");
	collector_take(&c, &r.h);
	is_u64(m.events, 1, "events are kept, whoever is hidden");
	end();
}

/* Tests that a malformed record is not written to the recording, and that recording continues. */
static void test_recording_failure(void)
{
	struct process_record a = process_record(10, 1, SECOND);
	struct recorder *rec = NULL;
	char error[256];

	begin(NULL);
	if (ok(!recorder_open(fixture_path("r"), false, &rec, error, sizeof(error)),
	       "a recorder")) {
		c.rec = rec;
		collector_take(&c, &a.h);
		is_u64(-take(RECORD_PROCESS, 20), EBADMSG, "a bad record with a recorder");
		ok(!c.rec_error && !recorder_close(rec),
		   "is not recorded, and is no failure of the recording");
	}
	end();
}

static void fork_from(uint32_t parent, uint32_t pid, uint64_t birth)
{
	struct fork_record r = RECORD(fork_record, RECORD_FORK, SECOND);

	r.subject = (struct process_key){.pid = pid, .start_ns = birth};
	r.parent = parent;
	collector_take(&c, &r.h);
}

static void exec_of(uint32_t pid, uint64_t birth, uint32_t execs, const char *path)
{
	struct exec_record r = RECORD(exec_record, RECORD_EXEC, SECOND);

	r.subject = (struct process_key){.pid = pid, .start_ns = birth};
	r.execs = execs;
	memcpy(r.path, path, strlen(path) < sizeof(r.path) ? strlen(path) + 1 : sizeof(r.path));
	collector_take(&c, &r.h);
}

static const char *exe_after(uint32_t pid, uint64_t birth, uint32_t execs, uint32_t flags)
{
	struct process_record p = process_record(pid, birth, SECOND);
	struct subject *s;

	p.g.execs = execs;
	p.g.flags = flags;
	collector_take(&c, &p.h);
	s = model_find(&m, &p.subject);
	return s ? s->exe : "no subject";
}

/* Tests processes whose /proc is not readable. BPF programs then report the path of the program. */
static void test_programs(void)
{
	struct names_record n = RECORD(names_record, RECORD_NAMES, SECOND);
	char path[300];

	begin(NULL);
	c.live = c.names.foreign = true;
	is_str(exe_after(10, 1, 0, 0), NULL, "nothing is known of one that was there before");
	exec_of(11, 2, 1, "/bin/a");
	is_str(exe_after(11, 2, 1, 0), "/bin/a", "an exec before its first figures");
	exec_of(11, 2, 2, "/bin/b");
	is_str(exe_after(11, 2, 2, 0), "/bin/b", "and the next one");
	fork_from(11, 12, 3);
	exec_of(11, 2, 3, "/bin/c");
	is_str(exe_after(12, 3, 0, 0), "/bin/b", "a child runs what its parent ran at the fork");
	is_str(exe_after(12, 3, 1, 0), NULL, "an exec that was lost leaves no name");
	exec_of(12, 3, 1, "/bin/late");
	is_str(exe_after(12, 3, 1, 0), "/bin/late", "an exec told behind the figures");
	fork_from(99, 13, 4);
	is_str(exe_after(13, 4, 0, 0), NULL, "a child of one that is not known");
	exec_of(14, 5, 1, "/bin/old");
	is_str(exe_after(14, 6, 1, 0), NULL, "a pid that is another's now");
	exec_of(15 + NAMES_PROCS, 7, 1, "/bin/far");
	is_str(exe_after(15, 7, 1, 0), NULL, "a pid that falls to the same place");
	exec_of(16, 8, 1, "/bin/brief");
	is_str(exe_after(16, 8, 1, PROC_FINAL), "/bin/brief", "one that is over already");
	memset(path, 'p', sizeof(path));
	path[299] = 0;
	exec_of(17, 9, 1, path);
	is_u64(strlen(exe_after(17, 9, 1, 0)), 255, "a path without an end is ended");

	n.subject = (struct process_key){.pid = 11, .start_ns = 2};
	strcpy(n.cgroup, "/a/b");
	collector_take(&c, &n.h);
	exec_of(11, 2, 4, "/bin/d");
	is_str(exe_after(11, 2, 4, 0), "/bin/d", "a new program");
	is_str(model_find(&m, &n.subject)->cgroup, "/a/b", "takes no cgroup away");
	end();

	begin(NULL);
	exec_of(11, 2, 1, "/bin/a");
	is_str(exe_after(11, 2, 1, 0), NULL, "a file cannot tell programs but by names");
	end();
}

/* A record of a later version has fields behind those that are known, up to a total length. */
static void test_unknown_fields(void)
{
	static const struct {
		uint32_t total;
		int want;
		const char *name;
	} rows[] = {
		{sizeof(struct hook_record), 0, "no further fields"},
		{sizeof(struct hook_record) + 8, 0, "further fields"},
		{RECORD_BYTES_MAX, 0, "the longest record"},
		{RECORD_BYTES_MAX + 8, -EBADMSG, "a record that is too long"},
	};
	static union {
		struct hook_record hook;
		char bytes[RECORD_BYTES_MAX + 8];
	} r;

	begin(NULL);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		r.hook = hook_record("signal", HOOK_ON);
		r.hook.h.extra = rows[i].total - r.hook.h.len;
		ok(collector_take(&c, &r.hook.h) == rows[i].want, "%s", rows[i].name);
	}
	end();
}

int main(void)
{
	test_sizes();
	test_programs();
	test_strings();
	test_filter();
	test_view();
	test_recording_failure();
	test_unknown_fields();
	return tap_done();
}
