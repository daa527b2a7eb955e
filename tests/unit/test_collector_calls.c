// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests which functions a collector calls for each kind of record, in which order, and what it
 * does with their results.
 */
#include "failing_memory.h"

#include "played_collector.h"

#define LATER_KIND 5000 /* a kind of record that only later versions know */

/* ---- each kind of record ---- */

static void test_kinds(void)
{
	for (int live = 0; live < 2; live++) {
		begin(live);
		make(RECORD_PRESSURE, sizeof(struct memory_wait_record));
		takes(&r, 0, "", "a record that only an export uses");
		make(RECORD_REPORT, sizeof(struct report_record));
		takes(&r, 0, "", "another one");
		make(RECORD_FORK, sizeof(r.fork));
		r.fork.parent = 9;
		takes(&r, 0, live ? "forked:9" : "", "a fork");
		make(RECORD_EXEC, sizeof(r.exec));
		strcpy(r.exec.path, "/bin/a");
		takes(&r, 0, live ? "execed:/bin/a" : "", "an exec of an unknown process");
		make(RECORD_CGROUP, sizeof(r.cgroup));
		strcpy(r.cgroup.path, "/a");
		takes(&r, 0, live ? "cgroup:/a" : "", "a cgroup");
		make(RECORD_OOM, sizeof(r.oom));
		takes(&r, 0, live ? "scene:10 record:oom keep:oom" : "record:oom keep:oom",
		      "an OOM kill");
		make(RECORD_PYTHON_CODE, sizeof(r.python));
		r.python.code = 7;
		takes(&r, 0, live ? "python:7" : "", "a code object of Python");
		make(RECORD_STACK, sizeof(struct stack_record));
		takes(&r, 0, "", "a stack while no stacks are named");
		make(RECORD_WALK, sizeof(struct walk_record));
		takes(&r, 0, "", "a walk while no stacks are named");
		make(RECORD_HOOK, sizeof(r.hook));
		takes(&r, 0, "record:hook keep:hook", "a kind that needs nothing else");
		make(RECORD_TICK, sizeof(r.tick));
		takes(&r, 0, "record:tick keep:tick", "a scan");
		end();
	}
}

static void test_lengths(void)
{
	static const struct {
		uint32_t kind, len;
	} kinds[] = {{RECORD_STACK, sizeof(struct stack_record)},
		     {RECORD_WALK, sizeof(struct walk_record)},
		     {RECORD_PYTHON_CODE, sizeof(struct python_code_record)},
		     {RECORD_HOOK, sizeof(struct hook_record)}};

	begin(false);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
			bool same = kinds[i].len == kinds[k].len;

			make(kinds[i].kind, kinds[k].len);
			ok(collector_take(&c, &r.h) == (same ? 0 : -EBADMSG),
			   "kind %u with the length of kind %u", kinds[i].kind, kinds[k].kind);
		}
	end();
}

static void test_errors(void)
{
	begin(true);
	c.reads_levels = true;
	make(RECORD_TICK, sizeof(r.tick));
	takes(&r, 0, "levels:2000000000 record:tick keep:tick", "a scan: cgroups are read first");
	fails = "cgroup_levels_read";
	takes(&r, -EPIPE, "levels:2000000000", "their error ends the scan");
	fails = "oom_scenes_take";
	make(RECORD_OOM, sizeof(r.oom));
	takes(&r, -EPIPE, "scene:10", "an error while an OOM kill is explained");
	fails = "python_codes_take";
	make(RECORD_PYTHON_CODE, sizeof(r.python));
	r.python.code = 8;
	takes(&r, -EPIPE, "python:8", "an error while a code object is kept");
	end();
	ok(strstr(calls, "close_levels"), "levels that were open are closed");
}

/* A failure of the recording is kept until the caller reports it. */
static void test_recorder_fails(void)
{
	begin(false);
	fails = "recorder_take";
	make(RECORD_HOOK, sizeof(r.hook));
	takes(&r, 0, "record:hook keep:hook", "a record that cannot be recorded");
	is_u64(-c.rec_error, EPIPE, "the error");
	fails = NULL;
	takes(&r, 0, "record:hook keep:hook", "a later record");
	is_u64(-c.rec_error, EPIPE, "the error is kept");
	c.rec_error = 0;
	fails = "recorder_take";
	make(LATER_KIND, sizeof(r.h));
	takes(&r, 0, "record:other", "a kind of a later version");
	is_u64(-c.rec_error, EPIPE, "its error is kept, too");
	c.rec = NULL;
	c.rec_error = 0;
	takes(&r, 0, "", "without a recorder, an unknown kind");
	make(RECORD_HOOK, sizeof(r.hook));
	takes(&r, 0, "keep:hook", "without a recorder, a known kind");
	c.ring = NULL;
	takes(&r, 0, "", "without a ring");
	is_u64(-c.rec_error, 0, "no error");
	end();
}

/* An error of the model is returned, but the recording and the ring get the record. */
static void test_no_memory(void)
{
	begin(false);
	make(RECORD_ORIGIN, sizeof(struct origin_record));
	calls[0] = 0;
	memory_fail_after(0);
	is_u64(-collector_take(&c, &r.h), ENOMEM, "a record without memory for it");
	ok(memory_recovers(), "an allocation has failed");
	is_str(calls, "record:origin keep:origin", "the calls for it");
	takes(&r, 0, "record:origin keep:origin", "the next time there is memory");
	end();
}

/* ---- redaction, withheld data, and fields of later versions ---- */

static const char *exe_in(const void *record)
{
	return ((const struct names_record *)record)->exe;
}

static void test_redaction(void)
{
	static struct redaction redaction;
	struct process_record p = process_record(10, 1, SECOND);
	struct process_key key = p.subject;

	redaction_begin(&redaction);
	begin(false);
	collector_take(&c, &p.h);
	make(RECORD_NAMES, sizeof(r.names));
	strcpy(r.names.exe, "/home/alice/server");
	takes(&r, 0, "record:names keep:names", "names");
	is_str(exe_in(recorded), "/home/alice/server", "the program in the recording");
	is_str(exe_in(kept), "/home/alice/server", "the program in the ring");
	ok(!memcmp(recorded, &r, r.h.len) && !memcmp(kept, &r, r.h.len), "all other bytes");
	c.redaction = &redaction;
	takes(&r, 0, "record:names keep:names", "names that are redacted");
	is_str(exe_in(recorded), "server", "the redacted program in the recording");
	is_str(exe_in(kept), "server", "the redacted program in the ring");
	is_u64(((struct record *)kept)->t_ns, 2 * SECOND, "with its time");
	is_str(model_find(&m, &key)->exe, "/home/alice/server", "the model has all of it");
	c.rec = NULL;
	memset(c.copy, 0, sizeof(c.copy));
	memset(kept, 0, sizeof(kept));
	takes(&r, 0, "keep:names", "names without a recorder");
	is_str(exe_in(kept), "server", "the redacted program in the ring");
	c.rec = (void *)recorded;
	make(LATER_KIND, sizeof(r.h));
	takes(&r, 0, "", "an unknown kind cannot be redacted");
	make(RECORD_FIELD, sizeof(struct field_record));
	takes(&r, 0, "record:other", "names of fields need not be redacted");
	end();
}

static void test_withheld(void)
{
	struct process_record p = process_record(10, 1, SECOND);
	struct process_key key = p.subject;

	begin(false);
	withholding_begin(&c.withholding, true);
	collector_take(&c, &p.h);
	make(RECORD_NAMES, sizeof(r.names));
	strcpy(r.names.exe, "/home/alice/server");
	strcpy(r.names.cgroup, "/a");
	takes(&r, 0, "record:names keep:names", "names of another user's process");
	is_str(exe_in(recorded), "", "no program in the recording");
	is_str(exe_in(kept), "", "none in the ring");
	is_str(model_find(&m, &key)->cgroup, "/a", "the model has the cgroup");
	ok(!model_find(&m, &key)->exe || !*model_find(&m, &key)->exe, "but no program");
	is_u64(c.withholding.records, 1, "one record was changed");
	is_str(r.names.exe, "/home/alice/server", "the caller's record stays as it was");
	end();
}

/* Fields of later versions are recorded behind the record that has them, and nowhere else. */
static void test_later_fields(void)
{
	struct record *last = (struct record *)recorded;

	begin(true);
	r.fault = kernel_fault_record(10, KERNEL_IP, false);
	r.h.extra = 8;
	memset(r.bytes + r.h.len, 0x77, 8);
	takes(&r, 0, "symbol record:symbol keep:symbol record:kernel_fault keep:kernel_fault",
	      "a kernel fault with a later field");
	ok(last->kind == RECORD_KERNEL_FAULT && last->extra == 8 && recorded[last->len] == 0x77 &&
		   recorded[last->len + 7] == 0x77,
	   "the field is recorded with the fault");
	is_u64(((struct record *)kept)->extra, 0, "the ring has no such field");
	is_str(model_symbol(&m, KERNEL_IP)->symbol, "startup+0x10", "the function has a name");
	takes(&r, 0, "record:kernel_fault keep:kernel_fault", "the next fault at this address");
	r.fault.ip++;
	takes(&r, 0, "symbol record:kernel_fault keep:kernel_fault", "an address without a name");
	make(RECORD_HOOK, sizeof(r.hook));
	takes(&r, 0, "record:hook keep:hook", "a record without a later field");
	is_u64(last->extra, 0, "has none in the recording");
	c.extra = 8;
	c.extra_of = RECORD_SYMBOL;
	collector_pass(&c, &r.h);
	is_u64(last->extra, 0, "a record of user space does not get the field of another kind");
	withholding_begin(&c.withholding, true);
	r.fault = kernel_fault_record(10, KERNEL_IP, false);
	r.h.extra = 8;
	takes(&r, 0, "record:kernel_fault keep:kernel_fault", "a fault whose address is withheld");
	is_u64(last->extra, 0, "without its later field");
	end();
}

/* The longest record, with its later fields, is RECORD_BYTES_MAX long. */
static void test_longest(void)
{
	begin(false);
	make(RECORD_HOOK, sizeof(r.hook));
	r.h.extra = RECORD_BYTES_MAX - r.h.len;
	r.bytes[RECORD_BYTES_MAX - 1] = 0x55;
	takes(&r, 0, "record:hook keep:hook", "the longest record");
	is_u64(recorded[RECORD_BYTES_MAX - 1], 0x55, "its last byte");
	r.h.extra++;
	takes(&r, -EBADMSG, "", "one byte more");
	end();
}

static int take_told(void *ctx, const struct record *h)
{
	note("told:%s", exe_in(h));
	return *(int *)ctx;
}

static void test_tell(void)
{
	static struct redaction redaction;
	int err = -ENOSPC;
	const struct sink sink = {.take = take_told, .ctx = &err};

	redaction_begin(&redaction);
	begin(false);
	is_u64(-collector_tell(&c, &sink), ENOSPC, "the state is sent to a consumer that fails");
	is_str(calls, "retell:1 told:/home/alice/server", "as it is");
	calls[0] = 0;
	c.redaction = &redaction;
	is_u64(-collector_tell(&c, &sink), ENOSPC, "it is sent redacted");
	is_str(calls, "retell:1 told:server", "without directories");
	err = 0;
	is_u64(-collector_tell(&c, &sink), 0, "the consumer takes it");
	end();
}

/* ---- signals and failed calls ---- */

static void test_full_files(void)
{
	static const char *const measured =
		"mount:10,77 record:symbol keep:symbol record:signal keep:signal";
	static const char *const only = "record:signal keep:signal";
	static const struct {
		bool live;
		int signal;
		uint32_t flags;
		bool measures;
	} rows[] = {
		{true, SIGBUS, FILE_KNOWN, true},   {true, SIGBUS, FILE_KNOWN | 0x80, true},
		{true, SIGBUS, 0, false},	    {true, SIGSEGV, FILE_KNOWN, false},
		{false, SIGBUS, FILE_KNOWN, false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin(rows[i].live);
		make(RECORD_SIGNAL, sizeof(r.signal));
		r.signal.signal = rows[i].signal;
		r.signal.file.flags = rows[i].flags;
		r.signal.file_device = 77;
		takes(&r, 0, rows[i].measures ? measured : only, "a signal");
		is_u64(m.events, 1, "one event");
		fails = "mount_of_file";
		takes(&r, rows[i].measures ? -EPIPE : 0, rows[i].measures ? "mount:10,77" : only,
		      "the measurement fails");
		end();
	}
}

static void test_failed_calls(void)
{
	begin(true);
	r.refused = refused_record(10, CALL_OPEN, ENOSPC);
	r.refused.space.device = 78;
	takes(&r, 0, "count:10 mount:10,78 record:symbol keep:symbol record:refused keep:refused",
	      "a failed call");
	is_u64(m.event[0].refused.counted.used, 123, "its counts are complete");
	c.names.foreign = true;
	fails = "mount_of_file";
	takes(&r, -EPIPE, "count:10,foreign mount:10,78", "the measurement fails");
	is_u64(m.events, 1, "the call is no event");
	end();
	begin(false);
	takes(&r, 0, "record:refused keep:refused", "a failed call of another machine");
	end();
}

/* ---- names ---- */

/* Changes of a process after which its names are looked up again. */
static void test_when_names_are_read(void)
{
	static const char *const only = "record:process keep:process";
	static const char *const finds = "record:process keep:process find";
	const struct process_record p = process_record(10, 1, SECOND);

	begin(true);
	r.process = p;
	takes(&r, 0, finds, "a new process");
	is_u64(named.subject.pid, 10, "its pid");
	takes(&r, 0, only, "the process without a change");
	r.process.g.execs++;
	takes(&r, 0, finds, "an exec");
	takes(&r, 0, only, "no further exec");
	r.process.g.cgroup_id++;
	takes(&r, 0, finds, "another cgroup");
	takes(&r, 0, only, "no further cgroup");
	r.process.g.uid++;
	takes(&r, 0, finds, "another user");
	takes(&r, 0, only, "no further user");
	r.process.g.fds++;
	takes(&r, 0, only, "another number of files");
	moved = true;
	takes(&r, 0, finds, "a move in a hierarchy of version 1");
	end();
	begin(false);
	takes(&r, 0, only, "a new process of another machine");
	r.process.g.execs++;
	takes(&r, 0, only, "its exec");
	end();
}

static void is_named(const char *exe, const char *cgroup, const char *command, const char *name)
{
	struct process_key key = {.pid = 10, .start_ns = 1};
	const struct subject *s = model_find(&m, &key);

	is_str(s && s->exe && *s->exe ? s->exe : NULL, exe, name);
	is_str(s && s->cgroup && *s->cgroup ? s->cgroup : NULL, cgroup, "its cgroup");
	is_str(s && s->command && *s->command ? s->command : NULL, command, "its command line");
}

/* Names that cannot be read any more keep their last value where this is right. */
static void test_kept_names(void)
{
	static const char *const only = "record:process keep:process find";
	static const char *const passes =
		"record:process keep:process find record:names keep:names";

	begin(true);
	r.process = process_record(10, 1, SECOND);
	takes(&r, 0, only, "a process whose names are unknown");
	is_named(NULL, NULL, NULL, "no program");
	found = moved = true;
	strcpy(names.exe, "/bin/a");
	strcpy(names.cgroup, "/a");
	strcpy(names.command, "a -x");
	takes(&r, 0, passes, "its names are found");
	is_named("/bin/a", "/a", "a -x", "the program");
	is_u64(((struct record *)recorded)->t_ns, SECOND, "with the time of the process's record");

	names.cgroup[0] = names.command[0] = 0;
	takes(&r, 0, passes, "only the program is found");
	is_named("/bin/a", "/a", "a -x", "the program, of which no exec is known");

	strcpy(names.cgroup, "/b");
	strcpy(names.command, "b");
	takes(&r, 0, passes, "new names are found");
	is_named("/bin/a", "/b", "b", "the program with its new names");

	names.command[0] = 0;
	r.process.g.execs++;
	strcpy(names.exe, "/bin/c");
	takes(&r, 0, passes, "an exec whose command line is unknown");
	is_named("/bin/c", "/b", NULL, "the new program without the old command line");

	found = false;
	names.exe[0] = names.cgroup[0] = 0;
	r.process.g.execs++;
	takes(&r, 0, passes, "an exec of an unknown program");
	is_named(NULL, "/b", NULL, "no program rather than the old one");
	end();
}

/* An exec record that comes behind the process's record has the path that was missing. */
static void test_late_exec(void)
{
	static const char *const only = "execed:/bin/x";
	static const char *const finds = "execed:/bin/x find record:names keep:names";
	static const struct {
		uint32_t execs, flags;
		const char *want, *name;
	} rows[] = {
		{2, 0, "execed:/bin/x find record:names keep:names", "the last exec"},
		{1, 0, "execed:/bin/x", "an earlier exec"},
		{3, 0, "execed:/bin/x", "an exec that the process's record does not count yet"},
		{2, PROC_FINAL, "execed:/bin/x", "an exec of a process that has ended"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin(true);
		found = true;
		strcpy(names.exe, "/bin/x");
		r.process = process_record(10, 1, SECOND);
		r.process.g.execs = 2;
		r.process.g.uid = 1234;
		r.process.g.flags = rows[i].flags;
		collector_take(&c, &r.h);
		memset(&named, 0, sizeof(named));
		make(RECORD_EXEC, sizeof(r.exec));
		r.exec.execs = rows[i].execs;
		strcpy(r.exec.path, "/bin/x");
		takes(&r, 0, rows[i].want, rows[i].name);
		if (!strcmp(rows[i].want, finds))
			ok(named.subject.pid == 10 && named.g.execs == 2 && named.g.uid == 1234 &&
				   named.h.t_ns == 2 * SECOND,
			   "names are looked up for the process as it is");
		end();
	}
	begin(true);
	make(RECORD_EXEC, sizeof(r.exec));
	strcpy(r.exec.path, "/bin/x");
	takes(&r, 0, only, "an unknown process");
	end();
}

/* All parts of a collector are freed. */
static void test_free(void)
{
	static const struct {
		bool levels;
		const char *want;
	} rows[] = {
		{false, "free_names close_symbols close_oom free_python"},
		{true, "free_names close_symbols close_oom close_levels free_python"},
	};

	for (size_t i = 0; i < 2; i++) {
		begin(true);
		c.reads_levels = rows[i].levels;
		end();
		is_str(calls, rows[i].want, "what is freed");
	}
}

int main(void)
{
	test_kinds();
	test_lengths();
	test_errors();
	test_recorder_fails();
	test_no_memory();
	test_redaction();
	test_withheld();
	test_later_fields();
	test_longest();
	test_tell();
	test_full_files();
	test_failed_calls();
	test_when_names_are_read();
	test_kept_names();
	test_late_exec();
	test_free();
	return tap_done();
}
