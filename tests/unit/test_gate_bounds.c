// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests gates of --fail-on at their thresholds, and texts and lists of gates just at and above the
 * longest that fits.
 */
#include <errno.h>
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

/* Judges one process of 100 threads. */
static enum gate_state state_of(const char *text)
{
	struct process_record r = process_record(10, 1, 2 * SECOND);
	struct tick_record t = tick_record(3 * SECOND);
	enum gate_state state;

	begin_model(&m, NULL);
	if (parse(text))
		ok(false, "%s: %s", text, error);
	r.g.threads = 100;
	r.g.map_count = r.g.map_high = 6553;
	model_take(&m, &r.h);
	model_take(&m, &t.h);
	gates_check(&gates, &m);
	gates_judge(&gates, &m, &fs);
	state = gates.gate[0].state;
	model_free(&m);
	return state;
}

static void test_operators(void)
{
	static const struct {
		const char *text;
		bool trips;
	} rows[] = {
		{"threads>99", true},	   {"threads>100", false},    {"threads>=100", true},
		{"threads>=101", false},   {"threads<101", true},     {"threads<100", false},
		{"threads<=100", true},	   {"threads<=99", false},    {"maps.peak>6552", true},
		{"maps.peak>6553", false}, {"maps.peak>=6553", true}, {"maps.peak>=6554", false},
		{"maps.peak>9.9%", true},  {"maps.peak>10%", false},  {"maps.peak<=10%", true},
		{"maps.peak<9.9%", false}, {"maps.peak>=10%", true},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		is_u64(state_of(rows[i].text), rows[i].trips ? GATE_TRIPPED : GATE_PASSED,
		       rows[i].text);
		is_u64(gates.failed, rows[i].trips, "how many gates fail");
	}
}

/* A gate has at most 94 characters, without blanks. */
static void test_long_text(void)
{
	char text[200] = "threads>";
	size_t at = strlen(text), most = sizeof(gates.gate[0].text) - 2;

	memset(text + at, '1', most - at);
	ok(!parse(text), "the longest gate: %zu characters", strlen(text));
	is_str(gates.gate[0].text, text, "which is kept");
	strcat(text, " ");
	ok(!parse(text), "a blank does not count");
	text[most] = '1';
	is_u64((uint64_t)-parse(text), EINVAL, "a character more");
	ok(strstr(error, "too long"), "is too long: %s", error);
	is_u64(gates.n, 0, "and no gate");
}

static void test_many(void)
{
	char text[GATES_MAX * 12 + 24] = "";

	for (size_t i = 0; i < GATES_MAX; i++)
		strcat(text, i ? ",threads>1" : "threads>1");
	ok(!parse(text), "as many gates as fit");
	is_u64(gates.n, GATES_MAX, "all of them");
	strcat(text, ",");
	ok(!parse(text), "a comma at the end");
	is_u64(gates.n, GATES_MAX, "is no gate");
	strcat(text, "threads>1");
	is_u64((uint64_t)-parse(text), EINVAL, "one more");
	ok(strstr(error, "more than"), "has no room: %s", error);
	is_u64(gates.n, GATES_MAX, "the others stay");
}

/* The message about an unknown name is long: it is cut at the end of each buffer. */
static void test_cut_message(void)
{
	char all[8192];
	size_t len;

	memset(&gates, 0, sizeof(gates));
	gates_parse(&gates, "nothing>1", all, sizeof(all));
	len = strlen(all);
	ok(strstr(all, "no such value\n  gates: ") &&
		   strstr(all, "or any value of the JSON output"),
	   "the whole message has %zu characters", len);
	for (size_t size = 40; size <= len + 2; size += size < len - 1 ? 37 : 1) {
		char cut[8192];
		size_t at;

		memset(cut, '#', sizeof(cut));
		gates_parse(&gates, "nothing>1", cut, size);
		at = strnlen(cut, sizeof(cut));
		if (at >= size || cut[size] != '#' || strncmp(cut, all, at < 40 ? at : 40))
			ok(false, "a buffer of %zu bytes: %zu characters", size, at);
		if (size > len)
			is_str(cut, all, "a buffer in which it fits");
	}
}

static void test_bad_numbers(void)
{
	static const struct {
		const char *text, *says;
	} rows[] = {
		{"threads>", "a number is missing"},
		{"threads>x", "a number is missing"},
		{"threads>-1", "a number is missing"},
		{"threads>0x1", "a number is missing"},
		{"threads>=", "a number is missing"},
		{"threads", "expected a value"},
		{">1", "expected a value"},
		{"threads>1%", "a percentage needs a limit"},
		{"threads>1s", "no such unit"},
		{"threads>1%%", "no such unit"},
		{"maps.peak>1x", "a number is missing"},
		{"maps.peak>1kk", "no such unit"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		is_u64((uint64_t)-parse(rows[i].text), EINVAL, rows[i].text);
		ok(strstr(error, rows[i].says), "it says \"%s\": %s", rows[i].says, error);
	}
}

/* Each signal of this number counts, except those of hidden processes. */
static void test_signals(void)
{
	struct signal_record r = RECORD(signal_record, RECORD_SIGNAL, 2 * SECOND);
	struct process_record p = process_record(11, 1, 2 * SECOND);
	struct tick_record t = tick_record(3 * SECOND);

	begin_model(&m, NULL);
	ok(!parse("sigsegv>1,sigsegv>=3,sigbus>=1"), "gates on signals: %s", error);
	model_take(&m, &p.h);
	r.subject = (struct process_key){.pid = 10, .start_ns = 1};
	strcpy(r.comm, "first");
	r.signal = SIGSEGV;
	model_take(&m, &r.h);
	strcpy(r.comm, "second");
	model_take(&m, &r.h);
	r.subject = p.subject;
	model_find(&m, &p.subject)->hidden = true;
	strcpy(r.comm, "hidden");
	model_take(&m, &r.h);
	r.subject.pid = 12;
	r.signal = SIGABRT;
	model_take(&m, &r.h);
	model_take(&m, &t.h);
	gates_check(&gates, &m);
	gates_judge(&gates, &m, &fs);
	is_u64(gates.gate[0].state, GATE_TRIPPED, "two signals are more than one");
	is_u64(gates.gate[1].state, GATE_PASSED, "and less than three");
	is_u64(gates.gate[2].state, GATE_PASSED, "none was another one");
	is_u64(gates.failed, 1, "one gate fails");
	is_u64(gates.gate[0].pid, 10, "the process of the last one");
	is_str(gates.gate[0].comm, "second", "its name");
	ok(!gates.gate[0].incomplete, "nothing was lost");
	m.events_lost = 1;
	gates_judge(&gates, &m, &fs);
	ok(gates.gate[0].incomplete, "an event was lost");
	m.events_lost = 0;
	m.tick.losses.map = 1;
	gates_judge(&gates, &m, &fs);
	ok(!gates.gate[0].incomplete, "a lost process changes no signal");
	m.tick.losses.ring = 1;
	gates_judge(&gates, &m, &fs);
	ok(gates.gate[0].incomplete, "records were lost");
	is_str(gate_lacks(&gates.gate[0]), "signal", "the probe that it needs");
	model_free(&m);
}

int main(void)
{
	test_operators();
	test_long_text();
	test_many();
	test_cut_message();
	test_bad_numbers();
	test_signals();
	return tap_done();
}
