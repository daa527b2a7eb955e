// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the tables of the HTML page about a crash: its facts, suspects, the order of events, lines
 * of the log, the call trace and the registers. The tests read a log, and then change single facts.
 */
#include "count_text.h"
#include "crash_of_log.h"
#include "render/crash/crash_view.h"
#include "render/html/html.h"
#include "tap.h"

static const struct buf no_gaps;
static const char *const names[] = {"a<b>.log"};
static struct view v = {.width = 160, .colour = true};
static struct triage_view tv = {.v = &v, .gaps = &no_gaps, .name = names, .names = 1};
static struct incident *report; /* the report of the crash */
static struct buf page;

static void begin(void)
{
	read_crash("<x>", "[   12.500007]  vfs_read+0x1/0x20\n");
	/* only the verdict about the crash: that about the warning has the same tables */
	t.verdict[0] = t.verdict[t.primary];
	t.verdicts = 1;
	t.primary = 0;
	crash = &t.verdict[0];
	report = (struct incident *)crash->event;
}

static void end(void)
{
	triage_free(&t);
	buf_free(&page);
}

/* Returns the page between two texts, without them; "(none)" if the first one is missing. */
static const char *between(const char *from, const char *to)
{
	static char part[16384];
	const char *at, *until;

	buf_free(&page);
	triage_html(&page, &tv, &t);
	at = strstr(page.s, from);
	if (!at)
		return "(none)";
	at += strlen(from);
	until = strstr(at, to);
	snprintf(part, sizeof(part), "%.*s", until ? (int)(until - at) : 0, at);
	return part;
}

/* Returns the rows of a table that follows a text. */
static const char *rows_behind(const char *text)
{
	char part[16384], *at;

	snprintf(part, sizeof(part), "%s", between(text, "</tbody>"));
	at = strstr(part, "<tbody>\n");
	return at ? between(text, "</tbody>") + (at - part) + strlen("<tbody>\n") : "(none)";
}

static unsigned int colour_of(const char *module)
{
	return html_module_colour(module, strlen(module));
}

static void test_order(void)
{
	begin();
	is_str(rows_behind("In the order of time"),
	       "<tr><td class=\"n\">2.500 s</td><th scope=\"row\">warning</th><td>WARNING: CPU: 1 "
	       "PID: 816 at drivers/x/y.c:12 early+0x9/0x50 [drv]</td></tr>\n"
	       "<tr><td class=\"n\">0 s</td><th scope=\"row\">this crash</th><td>BUG: kernel NULL "
	       "pointer dereference, address: 0000000000000010</td></tr>\n",
	       "the warning before the crash");
	crash->precursors = 2;
	crash->precursor[0] = (struct precursor){.event = 0};
	crash->precursor[1] = (struct precursor){.event = 0, .timed = true, .before = 1.25};
	t.recorded.notes = 3;
	t.recorded.note[0].before = 2;
	t.recorded.note[1].before = 0.25;
	t.recorded.note[2].before = -0.25;
	for (int i = 0; i < 3; i++)
		snprintf(t.recorded.note[i].text, sizeof(t.recorded.note[i].text), "note<%d>", i);
	crash->consequences = 2;
	crash->first_consequence = 0;
	is_str(rows_behind("In the order of time"),
	       "<tr><td class=\"n\">?</td><th scope=\"row\">warning</th><td>WARNING: CPU: 1 PID: "
	       "816 "
	       "at drivers/x/y.c:12 early+0x9/0x50 [drv]</td></tr>\n"
	       "<tr><td class=\"n\">1.250 s</td><th scope=\"row\">warning</th><td>WARNING: CPU: 1 "
	       "PID: 816 at drivers/x/y.c:12 early+0x9/0x50 [drv]</td></tr>\n"
	       "<tr><td class=\"n\">2.000 s</td><th scope=\"row\">flight recorder</th><td>"
	       "note&lt;0&gt;</td></tr>\n"
	       "<tr><td class=\"n\">0.250 s</td><th scope=\"row\">flight recorder</th><td>"
	       "note&lt;1&gt;</td></tr>\n"
	       "<tr><td class=\"n\">0.250 s after</td><th scope=\"row\">flight recorder</th><td>"
	       "note&lt;2&gt;</td></tr>\n"
	       "<tr><td class=\"n\">0 s</td><th scope=\"row\">this crash</th><td>BUG: kernel NULL "
	       "pointer dereference, address: 0000000000000010</td></tr>\n"
	       "<tr><td class=\"n\">2 after</td><th scope=\"row\">reports that it caused</th><td>"
	       "WARNING: CPU: 1 PID: 816 at drivers/x/y.c:12 early+0x9/0x50 [drv]</td></tr>\n",
	       "all kinds of events");
	end();
}

static void test_suspects(void)
{
	char want[1024];

	begin();
	crash->suspects = 2;
	crash->suspect[0] = (struct suspect){
		.module = str_of("drv"), .function = str_of("late"), .points = 90, .reasons = 2};
	crash->suspect[0].reason[0].why = "the instruction is in it";
	crash->suspect[0].reason[1].why = "a warning came <before>";
	crash->suspect[1] = (struct suspect){.module = str_of("vmlinux"), .points = -5};
	snprintf(want, sizeof(want),
		 "<tr><th scope=\"row\"><span class=\"key m%u\"></span> drv</th><td>late</td>"
		 "<td class=\"n\">90</td><td>the instruction is in it; a warning came "
		 "&lt;before&gt;</td></tr>\n"
		 "<tr><th scope=\"row\"><span class=\"key m%u\"></span> vmlinux</th><td></td>"
		 "<td class=\"n\">-5</td><td></td></tr>\n",
		 colour_of("drv"), colour_of("vmlinux"));
	is_str(rows_behind(">Suspects</h3>"), want, "suspects");
	crash->suspects = 0;
	is_str(rows_behind(">Suspects</h3>"), "(none)", "no suspects, no table");
	end();
}

/* Tests facts that a log may have or not. Each row of the table is about one of them. */
static void test_facts(void)
{
	char want[1024];

	begin();
	crash->has_base = false;
	crash->size = 0;
	crash->particulars = 0;
	strcpy(crash->bucket, "FS_X");
	snprintf(want, sizeof(want),
		 "<tr><th scope=\"row\">at</th><td><code>late+0x9 <span class=\"key m%u\"></span> "
		 "drv</code></td></tr>\n"
		 "<tr><th scope=\"row\">address</th><td>0x10 (null page)</td></tr>\n"
		 "<tr><th scope=\"row\">access</th><td>read</td></tr>\n"
		 "<tr><th scope=\"row\">process</th><td>&lt;x&gt;</td></tr>\n"
		 "<tr><th scope=\"row\">pid</th><td>816</td></tr>\n"
		 "<tr><th scope=\"row\">CPU</th><td>1</td></tr>\n"
		 "<tr><th scope=\"row\">kernel</th><td>6.1.0</td></tr>\n"
		 "<tr><th scope=\"row\">confidence</th><td>high</td></tr>\n"
		 "<tr><th scope=\"row\">bucket</th><td>FS_X</td></tr>\n",
		 colour_of("drv"));
	crash->confidence = CONFIDENCE_HIGH;
	is_str(rows_behind("</article>"), want, "the facts of the log");
	crash->has_address = report->has_ip = report->has_pid = report->has_cpu = false;
	crash->access = ACCESS_NONE;
	crash->functions = 0;
	report->comm = report->kernel = (struct str){};
	is_str(rows_behind("</article>"),
	       "<tr><th scope=\"row\">confidence</th><td>high</td></tr>\n"
	       "<tr><th scope=\"row\">bucket</th><td>FS_X</td></tr>\n",
	       "facts that are not known have no row");
	crash->functions = 1;
	crash->frame = (struct frame){.has_address = true, .address = 0xffffffffc0001234};
	ok(strstr(rows_behind("</article>"), "at</th><td><code>0xffffffffc0001234</code></td>"),
	   "an address without a function");
	crash->frame.has_address = false;
	ok(strstr(rows_behind("</article>"), "at</th><td><code>no known function</code></td>"),
	   "neither");
	crash->frame.function = str_of("f");
	ok(strstr(rows_behind("</article>"), "at</th><td><code>f</code></td>"), "no offset");
	crash->frame.size = 16;
	ok(strstr(rows_behind("</article>"), "at</th><td><code>f+0x0</code></td>"), "offset 0");
	crash->size = 1;
	ok(strstr(rows_behind("</article>"), "size</th><td>1 byte</td>"), "one byte");
	crash->size = 8;
	ok(strstr(rows_behind("</article>"), "size</th><td>8 bytes</td>"), "eight bytes");
	crash->has_base = true;
	crash->base = 0x18;
	strcpy(crash->base_register, "RAX");
	for (int64_t offset = -1; offset <= 1; offset++) {
		crash->offset = offset;
		snprintf(want, sizeof(want), "pointer</th><td>RAX held 0x18, %s%d</td>",
			 offset < 0 ? "" : "+", (int)offset);
		ok(strstr(rows_behind("</article>"), want), "%s", want);
	}
	report->hardware = str_of("board");
	report->taint = str_of("G W");
	report->place = str_of("mm/a.c:12");
	crash->particulars = 1;
	crash->particular[0].name = "device";
	strcpy(crash->particular[0].value, "sda");
	ok(strstr(rows_behind("</article>"),
		  "<tr><th scope=\"row\">machine</th><td>board</td></tr>\n"
		  "<tr><th scope=\"row\">taint</th><td>G W</td></tr>\n"
		  "<tr><th scope=\"row\">source</th><td>mm/a.c:12</td></tr>\n"
		  "<tr><th scope=\"row\">device</th><td>sda</td></tr>\n"),
	   "further facts");
	crash->particular[0].name = "source";
	is_u64(count(rows_behind("</article>"), ">source</th>"), 1, "a source that is told once");
	ok(strstr(rows_behind("</article>"), ">source</th><td>sda</td>"), "the better one");
	end();
}

static void test_trace(void)
{
	char want[1024];

	begin();
	report->frame[1].unreliable = true;
	snprintf(want, sizeof(want),
		 "<li class=\"edge%u\"><code>later+0x1 <span class=\"key m%u\"></span> drv</code>"
		 "</li>\n<li class=\"edge0 dim\"><code>vfs_read+0x1</code></li>\n",
		 colour_of("drv"), colour_of("drv"));
	is_str(between("<ol class=\"trace\">\n", "</ol>"), want, "the call trace");
	report->frame[1].unreliable = false;
	report->frame[1].part = PART_OTHER;
	report->frame[0].irq = report->frame[1].irq = true;
	report->frame[0].inlined = true;
	snprintf(want, sizeof(want),
		 "<li class=\"edge%u\"><code>later+0x1 <span class=\"key m%u\"></span> drv</code> "
		 "(inlined) (interrupt)</li>\n"
		 "<li class=\"edge0 part\"><code>vfs_read+0x1</code> (interrupt)</li>\n",
		 colour_of("drv"), colour_of("drv"));
	is_str(between("<ol class=\"trace\">\n", "</ol>"), want, "another part of the trace");
	report->frame[1].part = report->frame[0].part;
	report->frame[1].irq = false;
	ok(strstr(between("<ol class=\"trace\">\n", "</ol>"), "<li class=\"edge0 part\">"),
	   "the end of the interrupt begins a part, too");
	report->nr_frames = 0;
	ok(!strstr(between("<main", "</main>"), "Call trace</h3>"), "no trace");
	end();
}

static void test_registers(void)
{
	begin();
	report->regs.known = 0;
	report->has_cr2 = false;
	ok(!strstr(between("<main", "</main>"), "Registers</h3>"), "no registers");
	report->has_cr2 = true;
	report->cr2 = 0x10;
	is_str(between("<dl class=\"registers\">\n", "</dl>"),
	       "<div><dt>cr2</dt><dd>0000000000000010</dd></div>\n", "only CR2");
	report->has_cr2 = false;
	report->regs.known = 1 | 1u << 3;
	report->regs.value[0] = 0xffff888000001234;
	report->regs.value[3] = 0;
	crash->has_base = true;
	register_name(report->arch, 3, crash->base_register, sizeof(crash->base_register));
	ok(strstr(between("<dl class=\"registers\">\n", "</dl>"),
		  "<dd>ffff888000001234</dd></div>\n<div class=\"base\"><dt>") &&
		   count(page.s, "<dl class=\"registers\">\n<div class=\"\">") == 1,
	   "two registers, of which one held the pointer");
	crash->has_base = false;
	ok(!strstr(between("<dl class=\"registers\">\n", "</dl>"), "\"base\""),
	   "no pointer is known");
	end();
}

static void test_page(void)
{
	begin();
	crash->next = "read the <manual>";
	ok(strstr(between("<main", "</main>"),
		  "<span class=\"tag\">next</span> read the &lt;manual&gt;</p>"),
	   "advice");
	crash->next = "";
	ok(!strstr(between("<main", "</main>"), "<span class=\"tag\">next</span>"), "no advice");
	is_str(between("<ol class=\"log\">\n", "</code></li>\n"),
	       "<li value=\"6\"><code>BUG: kernel NULL pointer dereference, address: "
	       "0000000000000010",
	       "the first line that is evidence, with its number");
	report->nr_stated = 0;
	ok(!strstr(between("<main", "</main>"), "Evidence: lines of the log"), "no evidence");
	is_str(between("<title>", "</title>"), "Crash - faultscope", "the title");
	ok(strstr(page.s, ">a&lt;b&gt;.log<"), "the name of the log");
	ok(strstr(between("id=\"crash-0\"", "</article>"), ">Crash 1</h2>") &&
		   strstr(page.s, "<article class=\"finding critical\">"),
	   "a crash");
	t.notices = 1;
	t.notice = t.verdict;
	ok(strstr(between("id=\"crash-1\"", "</article>"), ">Notice 2</h2>") &&
		   strstr(page.s, "<article class=\"finding warning\">"),
	   "a report that is no crash");
	t.notices = 0;
	t.notice = NULL;
	ok(!strstr(between("<pre class=\"card\"", "</pre>"), "\033"), "text without colours");
	end();
}

int main(void)
{
	test_order();
	test_suspects();
	test_facts();
	test_trace();
	test_registers();
	test_page();
	return tap_done();
}
