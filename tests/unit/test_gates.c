// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <math.h>
#include <signal.h>

#include "fixture.h"
#include "rules/gates.h"
#include "tap.h"

static struct model m;
static struct findings fs;
static struct gates gates;
static char error[512];

static int parse(const char *text)
{
	memset(&gates, 0, sizeof(gates));
	return gates_parse(&gates, text, error, sizeof(error));
}

static void begin(const char *text, const char *blind)
{
	begin_model(&m, blind);
	memset(&fs, 0, sizeof(fs));
	if (parse(text))
		ok(false, "%s: %s", text, error);
}

static void end(void)
{
	model_free(&m);
}

/* Sends the record of a process, and ends the scan interval. */
static void look(uint32_t pid, uint64_t minor, uint32_t maps, uint32_t flags)
{
	struct process_record r = process_record(pid, 1, m.last_ns + SECOND / 2);

	r.g.min_flt = minor;
	r.g.map_count = r.g.map_high = maps;
	r.g.flags = flags | PROC_BORN;
	model_take(&m, &r.h);
}

static void next_window(void)
{
	struct tick_record t = tick_record(m.last_ns + SECOND);

	model_take(&m, &t.h);
	gates_check(&gates, &m);
	model_next_window(&m);
}

static void judge(void)
{
	gates_check(&gates, &m);
	gates_judge(&gates, &m, &fs);
}

static void is_threshold(const char *text, double want, bool percent)
{
	ok(!parse(text) && gates.n == 1 && fabs(gates.gate[0].threshold - want) < 1e-6 &&
		   gates.gate[0].percent == percent,
	   "%s: %g%s", text, want, percent ? "%" : "");
}

static void test_thresholds(void)
{
	is_threshold("maps.peak>60%", 60, true);
	is_threshold("fds.peak >= 12.5 %", 12.5, true);
	is_threshold("minor_faults>2k", 2000, false);
	is_threshold("minor_faults>2M", 2e6, false);
	is_threshold("rss.peak>2K", 2048, false);
	is_threshold("rss.peak>1.5GiB", 1.5 * (1 << 30), false);
	is_threshold("swap.peak<=7B", 7, false);
	is_threshold("stall_ms<5", 5e6, false);
	is_threshold("stall_ms<5s", 5e9, false);
	is_threshold("stall_ms<5us", 5e3, false);
	is_threshold("faults.stall_ns>5", 5, false);
	is_threshold("failed_calls>0", 0, false);
}

static void test_refused(void)
{
	static const char *const bad[] = {"",
					  "maps.peak",
					  ">1",
					  "maps.peak>",
					  "maps.peak>x",
					  "maps.peak>-1",
					  "maps.peak>nan",
					  "maps.peak>1%1",
					  "sigsegv>1%",
					  "x>1",
					  "failed_calls>1,",
					  "a,b",
					  "rss.peak>1x",
					  "fds.limit>1",
					  "failed_calls>1,,failed_calls>2"};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		bool comma = !strcmp(bad[i], "failed_calls>1,");

		ok(!parse(bad[i]) == comma, "'%s' is %s", bad[i], comma ? "taken" : "failed_calls");
		ok(comma || strstr(error, "--fail-on"), "and says of what option");
	}
	ok(parse("x>1") && strstr(error, "maps.peak") && strstr(error, "findings.critical"),
	   "an unknown figure: the known ones are listed");
}

static void test_rows(void)
{
	struct gate_row row;
	char text[64];

	for (size_t i = 0; gate_row(i, &row); i++) {
		snprintf(text, sizeof(text), "%s>1", row.name);
		ok(!parse(text), "%s is a gate", row.name);
		ok(row.field == gates.gate[0].field && row.plus == gates.gate[0].plus &&
			   row.resource == gates.gate[0].resource,
		   "%s is parsed as its row says", row.name);
	}
	ok(gate_row(4, &row) && !strcmp(row.name, "failed_calls") &&
		   row.field == FIELD(map_refused) && row.plus == FIELD(fd_refused),
	   "fields of one name are added up");
	for (size_t i = 0; i < nr_fields; i++)
		ok(!fields[i].gate.limit || resource_find(fields[i].gate.limit) >= 0,
		   "%s: its limit is a resource", fields[i].key);
}

static bool is_state(size_t i, enum gate_state state, double value)
{
	return gates.gate[i].state == state && fabs(gates.gate[i].value - value) < 1e-6;
}

static void test_totals(void)
{
	begin("minor_faults>59,minor_faults>60,maps.peak>=300,maps.peak>300,threads<1", NULL);
	look(10, 10, 100, 0);
	look(11, 20, 300, 0);
	next_window();
	look(11, 30, 200, PROC_FINAL);
	next_window();
	look(12, 15, 50, PROC_FINAL);
	look(10, 15, 100, 0);
	judge();
	ok(is_state(0, GATE_TRIPPED, 60) && is_state(1, GATE_PASSED, 60),
	   "a total of those that ended, end now, and live");
	ok(is_state(2, GATE_TRIPPED, 300) && is_state(3, GATE_PASSED, 300) &&
		   gates.gate[2].pid == 11,
	   "the most of any at any look, and whose");
	is_u64(gates.failed, 2, "two of five failed");
	end();

	begin("minor_faults>0,sigsegv>0", NULL);
	struct signal_record s = RECORD(signal_record, RECORD_SIGNAL, SECOND);

	look(10, 10, 100, 0);
	s.subject.pid = 10;
	s.subject.start_ns = 1;
	s.signal = SIGSEGV;
	model_find(&m, &s.subject)->hidden = true;
	model_take(&m, &s.h);
	judge();
	ok(is_state(0, GATE_PASSED, 0) && is_state(1, GATE_PASSED, 0),
	   "what the view hides counts for nothing");
	end();
}

/* Tests that a peak is compared with the limit that was in force when the peak occurred. */
static void test_limits_of_their_time(void)
{
	struct process_record r = process_record(10, 1, 3 * SECOND / 2);

	begin("fds.peak>60%,fds.peak>113", NULL);
	r.g.fds = r.g.fd_high = 114;
	model_take(&m, &r.h);
	next_window();
	/* If the soft limit is lowered, BPF programs start to measure a new peak. */
	r.g.fds = r.g.fd_high = 20;
	r.g.fd_soft = 40;
	model_take(&m, &r.h);
	next_window();
	r.g.flags |= PROC_FINAL;
	model_take(&m, &r.h);
	judge();
	ok(is_state(0, GATE_PASSED, 50) && gates.gate[0].most_value == 20 &&
		   gates.gate[0].most_limit == 40,
	   "20 of 40 is the highest share, not 114 of 40");
	ok(is_state(1, GATE_TRIPPED, 114), "114 is the highest count");
	end();

	begin("fds.peak>60%", NULL);
	r = process_record(10, 1, 3 * SECOND / 2);
	r.g.fds = r.g.fd_high = 900;
	model_take(&m, &r.h);
	r.g.fds = r.g.fd_high = 900;
	r.g.fd_soft = 65536;
	next_window();
	model_take(&m, &r.h);
	judge();
	ok(is_state(0, GATE_TRIPPED, 900.0 / 1024 * 100) && gates.gate[0].most_limit == 1024,
	   "a limit that is raised later does not hide what was near it");
	end();

	begin("fds.peak>60%", NULL);
	r = process_record(10, 1, 3 * SECOND / 2);
	r.g.flags = PROC_BORN;
	r.g.fds = r.g.fd_high = 900;
	model_take(&m, &r.h);
	r.g.fds = r.g.fd_high = 3;
	r.g.execs = 1;
	model_take(&m, &r.h);
	next_window();
	judge();
	ok(is_state(0, GATE_PASSED, 3.0 / 1024 * 100),
	   "what it inherited until its first exec is its parent's");
	end();
}

static void test_signals(void)
{
	struct signal_record s = RECORD(signal_record, RECORD_SIGNAL, SECOND);

	begin("sigsegv>0,sigsegv>2,sigbus>0", NULL);
	s.subject.pid = 10;
	strcpy(s.comm, "crasher");
	s.signal = SIGSEGV;
	model_take(&m, &s.h);
	next_window();
	model_take(&m, &s.h);
	judge();
	ok(is_state(0, GATE_TRIPPED, 2) && is_state(1, GATE_PASSED, 2),
	   "one in each of two windows");
	ok(gates.gate[0].pid == 10 && !strcmp(gates.gate[0].comm, "crasher"), "and whose");
	ok(is_state(2, GATE_PASSED, 0), "none of another number");
	ok(!gates.gate[2].incomplete, "nothing was lost");
	m.tick.losses.ring = 1;
	gates_judge(&gates, &m, &fs);
	ok(gates.gate[2].incomplete, "with records lost it is at least that");
	end();
}

static void test_blind(void)
{
	begin("stall_ms<5,failed_calls>0,faults.minor>1", "fault_end");
	look(10, 1, 100, 0);
	judge();
	ok(gates.gate[0].state == GATE_NOT_MEASURED &&
		   !strcmp(gate_lacks(&gates.gate[0]), "fault_end"),
	   "a blind hook: not measured, and it names the hook");
	ok(is_state(1, GATE_PASSED, 0) && is_state(2, GATE_PASSED, 1), "the others are");
	is_u64(gates.failed, 1, "not measured is failed");
	end();
	begin("failed_calls>0,minor_faults>0", NULL);
	judge();
	ok(is_state(0, GATE_PASSED, 0) && is_state(1, GATE_PASSED, 0),
	   "without any process: nothing was refused");
	end();
}

static void test_findings(void)
{
	begin("findings.critical>0,findings.warning>1,findings.warning>2", NULL);
	fs.reached[SEVERITY_WARNING] = 2;
	judge();
	ok(is_state(0, GATE_PASSED, 0) && is_state(1, GATE_TRIPPED, 2) &&
		   is_state(2, GATE_PASSED, 2),
	   "findings, by what they came to");
	end();
}

int main(void)
{
	test_thresholds();
	test_refused();
	test_rows();
	test_totals();
	test_limits_of_their_time();
	test_signals();
	test_blind();
	test_findings();
	return tap_done();
}
