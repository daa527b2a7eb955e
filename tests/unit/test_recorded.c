// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests how triage reads flight recorder records in log lines, module names and traces. */
#include "blackbox/log_lines.h"
#include "blackbox/modules.h"
#include "blackbox/log_records.h"
#include "blackbox/trace_text.h"
#include "collect/precursor_names.h"
#include "tap.h"
#include "triage/triage.h"

static void is_line(const char *record, enum bb_class class, enum bb_severity severity,
		    const char *name)
{
	struct bb_line line = {};
	enum bb_severity said = BB_INFO;
	bool parsed = bb_line_parse(record, strlen(record), &line);

	ok(parsed && bb_line_class(line.level, line.text, &said) == class && said == severity, "%s",
	   name);
}

static void test_lines(void)
{
	struct bb_line line = {};

	is_line("1,812,4070512,-;BUG: kernel NULL pointer dereference, address: 0000000000000008\n",
		BB_OOPS, BB_CRITICAL, "a null pointer");
	is_line("4,1,2,-;WARNING: CPU: 1 PID: 7 at lib/x.c:1 f+0x1/0x2 [m]\n SUBSYSTEM=x\n",
		BB_REPORT, BB_WARNING, "a warning");
	is_line("6,1,2,-;traps: x[1] general protection fault ip:401000 sp:7ffd error:0\n", BB_NONE,
		BB_INFO, "a program's fault is no crash");
	is_line("4,1,2,-;faultscope: #3 fault critical BUG: unable to handle\n", BB_NONE, BB_INFO,
		"our own lines are no news");
	is_line("3,1,2,-;NVRM: Xid (PCI:0000:01:00): 31, pid=7\n", BB_GPU, BB_WARNING, "a GPU's");
	is_line("4,1,2,-;stress-ng: page allocation failure: order:9\n", BB_ALLOCATION, BB_INFO,
		"an allocation that failed is told, no more");
	is_line("6,1,2,-;usb 1-1: new device\n", BB_NONE, BB_INFO, "nothing");
	is_line("3,1,2,-;ata1: error\n", BB_CONSOLE, BB_INFO, "an error of no sort");
	ok(!bb_line_parse("no record", 9, &line), "what is no record");
	ok(bb_line_parse("4,1,99,c;cut", 12, &line) && line.us == 99 && line.level == 4,
	   "flags behind the time");
}

static void test_modules(void)
{
	static struct bb_modules m;
	struct bb_module one = {.name = "lab", .start = {0xffffffffc0100000}, .bytes = {0x2000}};
	struct bb_record list = {.class = BB_MODULE}, gone = {.class = BB_MODULE, .boot_ns = 5000};
	static struct bb_modules back;

	bb_module_loaded(&m, &one);
	strcpy(one.name, "other");
	one.start[0] = 0xffffffffc0200000;
	bb_module_loaded(&m, &one);
	is_u64(bb_modules_put(&list, &m, 0), 2, "two modules in one record");
	bb_modules_take(&back, &list);
	ok(bb_module_of(&back, 0xffffffffc0100010) &&
		   !strcmp(bb_module_of(&back, 0xffffffffc0100010)->name, "lab"),
	   "and out of it again");
	bb_put(&gone, "event", "unloaded");
	strcpy(one.name, "lab");
	one.start[0] = 0xffffffffc0100000;
	bb_module_put(&gone, &one);
	bb_modules_take(&back, &gone);
	ok(bb_module_of(&back, 0xffffffffc0101fff) &&
		   bb_module_of(&back, 0xffffffffc0101fff)->unloaded_ns == 5000,
	   "a module that is gone is still known");
	ok(!bb_module_of(&back, 0xffffffffc0102000), "up to its end");
	strcpy(one.name, "before");
	one.start[0] = 0xffffffffc00ff000;
	one.bytes[0] = 0x8000;
	bb_module_loaded(&back, &one);
	ok(!strcmp(bb_module_of(&back, 0xffffffffc0101000)->name, "lab"),
	   "one that seems to reach into it does not hide it");
	strcpy(one.name, "new");
	one.start[0] = 0xffffffffc0100000;
	one.loaded_ns = 6000;
	bb_module_loaded(&back, &one);
	ok(!strcmp(bb_module_of(&back, 0xffffffffc0101000)->name, "new"),
	   "one that took its place comes first");
	for (int i = 0; i < 2 * BB_MODULES_MAX; i++) {
		snprintf(one.name, sizeof(one.name), "m%d", i);
		one.start[0] = 0x1000000ull * (i + 1);
		bb_module_loaded(&back, &one);
	}
	ok(back.n == BB_MODULES_MAX && back.forgotten > 0, "a cap, and what fell out is counted");
}

#define WHEN	"           <...>-1       [000] d..1.    14.803885: "
#define BOOT_ID "df3257f3605f4c8ca93937309a32a963"

/* Makes the text of a trace instance after a warm reboot. The kernel then prints raw fields. */
static void make_trace(struct buf *b)
{
	struct bb_record r = {.sequence = 5, .boot_ns = 13000000000, .class = BB_MODULE};
	struct bb_module one = {.name = "lab", .start = {0xffffffffc04ee000}, .bytes = {0x2000}};
	char line[BB_LINE_MAX];

	bb_boot_id(BOOT_ID, r.boot_id);
	bb_put(&r, "event", "loaded");
	bb_module_put(&r, &one);
	bb_encode_line(&r, line);
	buf_puts(b, "# tracer: nop\n#\n");
	buf_printf(b, WHEN "tracing_mark_write: %s\n", line);
	buf_puts(b,
		 WHEN "bpf_trace_printk: bpf_string=faultscope! 0 0 ip=ffffffffc04ee579 "
		      "at=ffffc9e78086d4b0 error=0 pid=1 area=ffffc9e78086d000 bytes=3000 "
		      "owner=ffffffffc04ee554 freer=ffffffffc04ee569 freed=13803000000 flags=1\n");
	buf_puts(b, WHEN "console: msg=BUG: unable to handle page fault for address: "
			 "ffffc9e78086d4b0\n");
	buf_puts(b, WHEN "console: msg=#PF: supervisor read access in kernel mode\n");
	buf_puts(b, WHEN "console: msg=#PF: error_code(0x0000) - not-present page\n");
	buf_puts(b, WHEN "console: msg=PGD 1000067 \n");
	buf_printf(b, WHEN "console: msg=%s\n", line);
	buf_puts(b, WHEN "console: msg=P4D 1000067 \n");
	buf_puts(b, WHEN "console: msg=PTE 0\n" WHEN "console: msg=\n");
	buf_puts(b, WHEN "console: msg=Oops: Oops: 0000 [#1] PREEMPT SMP NOPTI\n");
	buf_puts(b, WHEN "console: msg=RIP: 0010:lab_read+0x79/0x90 [lab]\n");
	buf_puts(b, WHEN "console: msg=Call Trace:\n" WHEN "console: msg= <TASK>\n");
	buf_puts(b, WHEN "console: msg= lab_write+0x9c/0x110 [lab]\n");
}

static void test_trace(void)
{
	struct buf text = {}, log = {};
	struct bb_found f = {};
	struct triage_input in = {.name = "trace"};
	struct triage t;
	char value[64];

	make_trace(&text);
	ok(bb_is_trace(text.s, text.len), "a trace is one");
	bb_scan(&f, text.s, text.len);
	bb_trace_scan(&f, text.s, text.len);
	bb_found_settle(&f);
	is_u64(f.n, 2, "a record, and a fault that was marked");
	ok(f.record[1].class == BB_FAULT && bb_get(&f.record[1], "module", value, sizeof(value)) &&
		   !strcmp(value, "lab"),
	   "named by the module that the trace tells of");
	ok(bb_get(&f.record[1], "freer_module", value, sizeof(value)) && !strcmp(value, "lab"),
	   "and so is who gave the range back");
	bb_trace_log(&log, text.s, text.len);
	ok(strstr(log.s, "PGD 1000067 P4D 1000067 PTE 0\n"), "pieces of a line are joined");
	ok(strstr(log.s, "]  lab_write+0x9c"), "and lines of a trace are not");
	in.data = log.s;
	in.size = log.len;
	ok(!triage_run(&t, &in, 1) && t.primary >= 0, "the log has a crash");
	triage_join(&t, &f);
	ok(t.recorded.any && !strcmp(t.recorded.module, "lab"), "the record accuses its module");
	is_str(verdict_mechanism(&t.verdict[t.primary]), "mmio_uaf",
	       "and knows that the range was of ioremap");
	triage_free(&t);
	bb_found_free(&f);
	buf_free(&text);
	buf_free(&log);
}

static void add(struct bb_found *f, struct bb_record *r, enum bb_class class, double seconds)
{
	r->class = class;
	r->sequence = f->n + 1;
	r->boot_ns = seconds * 1e9;
	bb_boot_id(BOOT_ID, r->boot_id);
	bb_found_add(f, r);
	memset(r, 0, sizeof(*r));
}

/* Tests an oops from pstore. Another CPU wrote flight recorder records between its lines. */
static void test_records_in_a_log(void)
{
	static const char before[] =
		"[   12.100000] BUG: kernel NULL pointer dereference, address: 000000000000003e\n"
		"[   12.100001] #PF: supervisor read access in kernel mode\n"
		"[   12.100002] #PF: error_code(0x0000) - not-present page\n"
		"[   12.100003] Oops: Oops: 0000 [#1] PREEMPT SMP NOPTI\n"
		"[   12.100004] RIP: 0010:lab_err_ptr+0x17/0x1f [lab]\n";
	static const char after[] =
		"[   12.100005] Code: 1f 44 00 00 48 c7 c0 fe ff ff ff 48 c7 c7 a9 31 26 c0 "
		"<8b> 70 40 e9 27 01 f8 90 90\n"
		"[   12.100006] RSP: 0018:ffffcf85c0813d60 EFLAGS: 00010246\n"
		"[   12.100007] RAX: fffffffffffffffe RBX: ffffffffc0263700 RCX: 0000000000000000\n"
		"[   12.100008] Call Trace:\n"
		"[   12.100009]  <TASK>\n"
		"[   12.100010]  lab_write+0x9c/0x110 [lab]\n"
		"[   12.100011] ---[ end trace 0000000000000000 ]---\n";
	struct bb_record r = {.sequence = 14,
			      .class = BB_OOPS,
			      .severity = BB_CRITICAL,
			      .count = 1,
			      .boot_ns = 12100003000};
	struct triage_input in = {.name = "dmesg-ramoops-0"};
	char line[BB_LINE_MAX];
	struct buf log = {};
	struct triage t;

	bb_put(&r, "line", "Oops: Oops: 0000 [#1] PREEMPT SMP NOPTI");
	bb_encode_line(&r, line);
	buf_printf(&log, "%s[   12.100004] %s\n%s", before, line, after);
	in.data = log.s;
	in.size = log.len;
	ok(!triage_run(&t, &in, 1) && t.primary >= 0,
	   "a log with a record in the midst of an oops");
	is_u64(t.verdicts, 1, "is one crash");
	is_str(verdict_mechanism(&t.verdict[t.primary]), "err_ptr",
	       "of which the registers behind the record tell");
	triage_free(&t);
	buf_free(&log);
}

/* Tests a machine that crashed before it could print a log line. */
static void test_fault_alone(void)
{
	struct bb_found f = {};
	struct bb_record r = {.count = 65};
	struct triage_input in = {.name = "ring"};
	struct buf log = {};
	struct triage t;

	bb_put(&r, "symbol", "lab_poll+0x10");
	bb_put(&r, "module", "lab");
	add(&f, &r, BB_FIXUP, 14);
	r.severity = BB_CRITICAL;
	bb_put(&r, "verdict", "fatal");
	bb_put(&r, "access", "read");
	bb_put_hex(&r, "address", 0x3e);
	bb_put(&r, "symbol", "lab_get+0xe");
	bb_put(&r, "module", "lab");
	bb_put_hex(&r, "error", 0);
	bb_put(&r, "code", "0f1f440000<8b>4040");
	bb_put(&r, "stack", "lab_get+0xe[lab]<lab_write+0x98[lab]<vfs_write+0xc4");
	add(&f, &r, BB_FAULT, 40);
	bb_put_hex(&r, "ax", 0xfffffffffffffffe);
	add(&f, &r, BB_REGISTERS, 40);
	bb_found_settle(&f);
	bb_relog(&log, &f, f.boot[0].id);
	in.data = log.s ?: "";
	in.size = log.len;
	ok(!triage_run(&t, &in, 1) && t.primary >= 0, "the fault's record alone makes a log");
	triage_join(&t, &f);
	is_str(verdict_mechanism(&t.verdict[t.primary]), "err_ptr",
	       "whose instruction and registers are judged");
	ok(t.recorded.fatal && t.recorded.absorbed == 65, "near misses before it are counted");
	ok(t.recorded.notes &&
		   strstr(t.recorded.note[0].text, "65 absorbed bad accesses at one "
						   "site, lab_poll+0x10 [lab]") &&
		   strstr(t.recorded.note[0].text, "in 26.0 s before"),
	   "and told");
	triage_free(&t);
	bb_found_free(&f);
	buf_free(&log);
}

/* Tests a flood of recovered faults at different code locations. The result must stay small. */
static void test_many_sites(void)
{
	static const char log[] =
		"[   70.000000] BUG: kernel NULL pointer dereference, address: 8\n";
	struct triage_input in = {.name = "x", .data = log, .size = sizeof(log) - 1};
	struct bb_record fault = {.wall_ns = 1, .severity = BB_CRITICAL};
	struct bb_found f = {};
	struct triage t = {};
	char symbol[64];

	for (int i = 0; i < BB_FOUND_MAX - 1; i++) {
		struct bb_record r = {.wall_ns = 1, .count = 2};

		snprintf(symbol, sizeof(symbol), "f%d+0x1", i);
		bb_put(&r, "symbol", symbol);
		add(&f, &r, BB_FIXUP, 1 + i / 1000.0);
	}
	add(&f, &fault, BB_FAULT, 70);
	bb_found_settle(&f);
	ok(!triage_run(&t, &in, 1), "a log");
	triage_join(&t, &f);
	is_u64(t.recorded.notes, RECORDED_MAX, "so many notes");
	is_u64(t.recorded.left_out, BB_FOUND_MAX - RECORDED_MAX, "the others are counted");
	snprintf(symbol, sizeof(symbol), "f%d+0x1", BB_FOUND_MAX - 2);
	ok(strstr(t.recorded.note[RECORDED_MAX - 2].text, symbol), "the newest is there");
	triage_free(&t);
	bb_found_free(&f);
}

/* Tests the records of a panic() that no fault preceded. */
static void test_panic(void)
{
	static struct namer n;
	struct bb_module lab = {.name = "lab", .start = {0xffffffffc0100000}, .bytes = {0x2000}};
	struct precursor_record p = {.what = PRE_PANIC, .h.t_ns = 40000000000, .count = 1};
	struct bb_record records[PRECURSOR_RECORDS];
	struct triage_input in = {.name = "ring"};
	struct bb_found f = {};
	struct buf log = {};
	struct triage t;
	char line[200];

	bb_module_loaded(&n.modules, &lab);
	strcpy(p.text, "stack-protector: Kernel stack is corrupted in: %pB");
	p.arg[0] = 0xffffffffc010003d;
	p.stack[0] = 0xffffffffc010003d;
	p.stack_bytes = sizeof(p.stack[0]);
	is_u64(precursor_records(&n, &p, records), 1, "a panic is one record");
	ok(bb_get(&records[0], "line", line, sizeof(line)), "with the line it would print");
	is_str(line,
	       "Kernel panic - not syncing: stack-protector: Kernel stack is corrupted in: "
	       "0xffffffffc010003d [lab]",
	       "whose address is named");
	add(&f, &records[0], BB_PANIC, 40);
	bb_found_settle(&f);
	bb_relog(&log, &f, f.boot[0].id);
	in.data = log.s ?: "";
	in.size = log.len;
	ok(!triage_run(&t, &in, 1) && t.primary >= 0, "it alone makes a log");
	is_str(verdict_mechanism(&t.verdict[t.primary]), "stack_corruption",
	       "that is judged");
	triage_join(&t, &f);
	is_str(t.recorded.module, "lab", "and accuses who is on its stack");
	ok(t.verdict[t.primary].suspects && str_is(t.verdict[t.primary].suspect[0].module, "lab") &&
		   !t.verdict[t.primary].culprit_unknown,
	   "as the suspect");
	triage_free(&t);
	buf_free(&log);

	strcpy(p.text, "%s: 100%% of %5lu, %d (%pS) at %%");
	strcpy(p.text + PRE_WORD_AT, "lab");
	p.arg[1] = 7;
	p.arg[2] = -2;
	precursor_records(&n, &p, records);
	bb_get(&records[0], "line", line, sizeof(line));
	is_str(line, "Kernel panic - not syncing: lab: 100% of 7, -2 (0x0) at %",
	       "words, numbers, and no more than was taken along");
	memset(p.text, '%', sizeof(p.text));
	is_u64(precursor_records(&n, &p, records), 1,
	       "a format of nothing else is read to its end");
	bb_found_free(&f);
}

/* Tests a panic record that comes before the record of its oops. The oops must be printed first. */
static void test_order(void)
{
	struct bb_found f = {};
	struct bb_record r = {.count = 1};
	struct buf log = {};
	const char *oops, *panic;

	bb_put_u64(&r, "us", 40000200);
	bb_put(&r, "line", "Kernel panic - not syncing: Fatal exception");
	bb_put(&r, "stack", "panic+0x1<lab_get+0xe[lab]");
	add(&f, &r, BB_PANIC, 40);
	bb_put_u64(&r, "level", 1);
	bb_put_u64(&r, "us", 40000100);
	bb_put(&r, "line", "BUG: kernel NULL pointer dereference, address: 0000000000000008");
	add(&f, &r, BB_OOPS, 41);
	bb_found_settle(&f);
	bb_relog(&log, &f, f.boot[0].id);
	oops = strstr(log.s ?: "", "BUG:");
	panic = strstr(log.s ?: "", "Kernel panic");
	ok(oops && panic && oops < panic, "a panic stands behind its oops");
	ok(oops && !strstr(log.s, "Call Trace:"), "whose trace it does not repeat");
	bb_found_free(&f);
	buf_free(&log);
}

int main(void)
{
	test_lines();
	test_modules();
	test_trace();
	test_records_in_a_log();
	test_fault_alone();
	test_many_sites();
	test_panic();
	test_order();
	return tap_done();
}
