// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests which findings and events begin an incident, and what its record says: those of the
 * options alone, each once, with process, program, workload, cause and time.
 */
#include <signal.h>

#include "fixture.h"
#include "incident/incidents.h"
#include "tap.h"

#define PID  42
#define UNIT "/system.slice/job.service"

static struct incidents in;
static struct incident_options opt;
static struct model m;
static struct findings fs;
static const struct rule rule = {.id = "M01"};

static int tell_nothing(void *ctx, const struct sink *sink)
{
	(void)ctx, (void)sink;
	return 0;
}

static void begin(void)
{
	struct process_record p = process_record(PID, 1, SECOND);
	struct names_record names = RECORD(names_record, RECORD_NAMES, SECOND);
	char error[512];

	opt.ring.bytes = 1 << 20;
	opt.store.count = 100;
	opt.per_hour = 400;
	if (incidents_open(&in, &opt, fixture_path("store"), tell_nothing, NULL, error,
			   sizeof(error))) {
		printf("# %s\n", error);
		exit(1);
	}
	begin_model(&m, NULL);
	names.subject = p.subject;
	strcpy(names.cgroup, UNIT);
	model_take(&m, &p.h);
	model_take(&m, &names.h);
	memset(&fs, 0, sizeof(fs));
}

static void end(void)
{
	incidents_close(&in);
	model_free(&m);
	memset(&opt, 0, sizeof(opt));
}

static void look(void)
{
	incidents_look(&in, &m, &fs);
}

static const struct incident_record *incident(size_t i)
{
	return &in.waiting[i].r;
}

static struct finding critical(void)
{
	struct finding f = {.rule = &rule,
			    .open = true,
			    .fresh = true,
			    .severity = SEVERITY_CRITICAL,
			    .seen_ns = 7 * SECOND,
			    .title = "it is bad",
			    .cause = "max_map_count"};

	f.subject = (struct process_key){.pid = PID, .start_ns = 1};
	strcpy(f.comm, "trainer");
	return f;
}

static void test_findings(void)
{
	struct finding f = critical();

	opt.on = INCIDENT_ON_FINDING;
	begin();
	fs.f = &f;
	fs.n = 1;
	f.open = false;
	look();
	f.open = true;
	f.fresh = false;
	look();
	f.fresh = true;
	f.severity = SEVERITY_CRITICAL - 1;
	look();
	is_u64(in.counts.triggers, 0, "a finding that is over, old, or a warning");
	ok(!f.triggered, "may become critical later");
	f.severity = SEVERITY_CRITICAL;
	look();
	is_u64(in.counts.triggers, 1, "a critical finding");
	is_u64(in.counts.by[INCIDENT_FINDING], 1, "begins an incident");
	ok(f.triggered, "once");
	is_str(incident(0)->finding, "M01", "its id");
	is_str(incident(0)->title, "it is bad", "its title");
	is_str(incident(0)->cause, "max_map_count", "its cause");
	is_str(incident(0)->comm, "trainer", "its program");
	ok(strstr(incident(0)->workload, "job"), "its workload: %s", incident(0)->workload);
	is_u64(incident(0)->subject.pid, PID, "its process");
	is_u64(incident(0)->at_ns, 7 * SECOND, "its time");
	is_u64(incident(0)->severity, SEVERITY_CRITICAL + 1, "its severity");
	look();
	is_u64(in.counts.triggers, 1, "it is not looked at again");
	end();
}

/* Findings about a cgroup or mount name its workload; those about the host have none. */
static void test_places(void)
{
	static const struct rule of_cgroup = {.id = "P01", .trigger = ON_CGROUP},
				 of_host = {.id = "P02", .trigger = ON_HOST};
	struct finding f[2] = {critical(), critical()};

	opt.on = INCIDENT_ON_FINDING;
	begin();
	f[0].rule = &of_cgroup;
	f[1].rule = &of_host;
	strcpy(f[0].place, "/system.slice/other.service");
	fs.f = f;
	fs.n = 2;
	look();
	is_u64(in.counts.triggers, 2, "two findings without a process");
	ok(strstr(incident(0)->workload, "other"), "the workload of a cgroup: %s",
	   incident(0)->workload);
	is_str(incident(1)->workload, "", "the host has none");
	is_u64(incident(0)->subject.pid, 0, "no process");
	is_str(incident(0)->comm, "", "no program");
	end();
	opt.on = INCIDENT_ON_OOM | INCIDENT_ON_PRESSURE;
	begin();
	fs.f = f;
	fs.n = 2;
	f[0].triggered = f[1].triggered = false;
	look();
	is_u64(in.counts.triggers, 0, "findings that were not asked for");
	end();
}

static struct oom_record kill_of(uint32_t pid)
{
	struct oom_record r = RECORD(oom_record, RECORD_OOM, 3 * SECOND);

	r.subject = (struct process_key){.pid = pid, .start_ns = 1};
	strcpy(r.comm, "victim");
	return r;
}

static void test_kills(void)
{
	struct oom_record r = kill_of(PID);

	opt.on = INCIDENT_ON_OOM;
	begin();
	model_take(&m, &r.h);
	look();
	is_u64(in.counts.by[INCIDENT_OOM], 1, "an OOM kill");
	is_str(incident(0)->title, "victim (pid 42) was OOM-killed", "its title");
	is_str(incident(0)->comm, "victim", "its program");
	ok(strstr(incident(0)->workload, "job"), "its workload: %s", incident(0)->workload);
	is_u64(incident(0)->subject.pid, PID, "its process");
	is_u64(incident(0)->at_ns, 3 * SECOND, "its time");
	look();
	is_u64(in.counts.triggers, 1, "an event is looked at once");
	model_next_window(&m);
	incidents_next_window(&in);
	look();
	is_u64(in.counts.triggers, 1, "the next window has none");
	r = kill_of(PID + 1);
	strcpy(r.comm, "other");
	model_take(&m, &r.h);
	look();
	is_u64(in.counts.by[INCIDENT_OOM], 2, "until there is another event");
	end();
	opt.on = INCIDENT_ON_FINDING;
	begin();
	model_take(&m, &r.h);
	look();
	is_u64(in.counts.triggers, 0, "kills that were not asked for");
	end();
}

static void test_failed_calls(void)
{
	struct refused_record r = refused_record(PID, CALL_MMAP, 12);

	r.map_count = 65531;
	opt.cause[0] = "another_cause";
	opt.cause[1] = "max_map_count";
	begin();
	model_take(&m, &r.h);
	look();
	is_u64(in.counts.by[INCIDENT_REFUSED], 1, "a failed call with a chosen cause");
	is_str(incident(0)->title, "mmap failed: max_map_count", "its title");
	is_str(incident(0)->cause, "max_map_count", "its cause");
	is_str(incident(0)->comm, "proc42", "its program");
	ok(strstr(incident(0)->workload, "job"), "its workload: %s", incident(0)->workload);
	is_u64(incident(0)->subject.pid, PID, "its process");
	is_u64(incident(0)->at_ns, 2 * SECOND, "its time");
	end();
	opt.cause[0] = "another_cause";
	begin();
	model_take(&m, &r.h);
	look();
	is_u64(in.counts.triggers, 0, "a cause that was not chosen");
	end();
	begin();
	model_take(&m, &r.h);
	look();
	is_u64(in.counts.triggers, 0, "no cause was chosen");
	end();
}

static struct signal_record death(int number, uint32_t flags)
{
	struct signal_record r = RECORD(signal_record, RECORD_SIGNAL, 4 * SECOND);

	r.subject = (struct process_key){.pid = PID, .start_ns = 1};
	r.signal = number;
	r.flags = flags;
	strcpy(r.comm, "trainer");
	return r;
}

/* Looks at one signal. Returns the number of triggers. */
static uint64_t triggers_of(const char *pattern, int number, uint32_t flags)
{
	struct signal_record r = death(number, flags);
	uint64_t found;

	opt.signal_pattern = pattern;
	begin();
	model_take(&m, &r.h);
	look();
	found = in.counts.triggers;
	if (found) {
		is_u64(in.counts.by[INCIDENT_SIGNAL], 1, "an incident");
		is_str(incident(0)->comm, "trainer", "its program");
		is_u64(incident(0)->subject.pid, PID, "its process");
		is_u64(incident(0)->at_ns, 4 * SECOND, "its time");
		ok(strstr(incident(0)->workload, "job"), "its workload");
		is_str(incident(0)->title,
		       number == SIGKILL ? "trainer was killed by SIGKILL"
					 : "trainer was killed by SIGSEGV",
		       "its title");
		ok(number == SIGKILL ? !*incident(0)->cause : *incident(0)->cause,
		   "its cause: \"%s\"", incident(0)->cause);
	}
	end();
	return found;
}

static void test_signals(void)
{
	is_u64(triggers_of("^job", SIGKILL, SIGNAL_FATAL), 1, "a workload that was chosen");
	is_u64(triggers_of("^job|x", SIGSEGV, SIGNAL_FATAL), 1, "a fault of it");
	is_u64(triggers_of("^job", SIGSEGV, 0), 0, "a signal that it handles");
	is_u64(triggers_of("^other", SIGSEGV, SIGNAL_FATAL), 0, "another workload");
	is_u64(triggers_of(NULL, SIGSEGV, SIGNAL_FATAL), 0, "no workload was chosen");
}

static void test_patterns(void)
{
	char error[512] = "";

	opt.signal_pattern = "(";
	ok(incidents_open(&in, &opt, fixture_path("store"), tell_nothing, NULL, error,
			  sizeof(error)) < 0,
	   "a pattern that is none");
	ok(!strncmp(error, "(: ", 3), "is named: %s", error);
	opt.signal_pattern = NULL;
}

int main(void)
{
	test_findings();
	test_places();
	test_kills();
	test_failed_calls();
	test_signals();
	test_patterns();
	return tap_done();
}
