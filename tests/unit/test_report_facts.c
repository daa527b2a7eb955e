// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests which facts triage reads from the lines of a report: the task, the kernel's release and
 * taint, the modules, the registers and the bytes of code. The logs have names and numbers at the
 * bounds of what counts as one.
 */
#include <stdlib.h>

#include "base/buf.h"
#include "tap.h"
#include "triage/recognise.h"

#define OOPS "BUG: kernel NULL pointer dereference, address: 0000000000000018\n"
#define CPU  "CPU: 1 PID: 2 Comm: "
#define A32  "abcdefghijklmnopqrstuvwxyzabcdef"

struct seen {
	struct lines ls;
	struct recognised r;
	const struct incident *e; /* the first report */
};

static void see(struct seen *s, const char *log)
{
	struct triage_input in = {.name = "log", .data = log, .size = strlen(log)};

	if (lines_read(&s->ls, &in, 1) || recognise(&s->r, &s->ls) || !s->r.n)
		abort();
	s->e = &s->r.event[0];
}

static void forget(struct seen *s)
{
	recognised_free(&s->r);
	lines_free(&s->ls);
}

static void test_tasks(void)
{
	static const struct {
		const char *line, *comm, *taint, *kernel;
	} rows[] = {
		{CPU "tool Not tainted 6.1.0 #1", "tool", "", "6.1.0"},
		{CPU "tool Tainted: A   Z 6.1.0 #1", "tool", "A   Z", "6.1.0"},
		{CPU "tool Tainted: A@ 6.1.0 #1", "tool", "", "6.1.0"},
		{CPU "tool Tainted: Z[ 6.1.0 #1", "tool", "", "6.1.0"},
		{CPU "tool Tainted: G   a 6.1.0 #1", "tool", "G", "6.1.0"},
		{CPU "Not tainted 6.1.0 #1", "", "", "6.1.0"},
		{CPU "0123456789abcdefg", "0123456789abcdef", "", ""},
		{CPU "tool Kdump: loaded Not tainted 6.1.0 #1", "tool", "", "6.1.0"},
		{CPU "tool Not tainted (2.6.24)", "tool", "", "2.6.24"},
		{CPU "tool Not tainted (2.6.24),", "tool", "", "2.6.24"},
		{CPU "tool Not tainted a b c d e 6.1.0", "tool", "", "6.1.0"},
		{CPU "tool Not tainted a b c d e f 6.1.0", "tool", "", ""},
		{CPU "tool Not tainted 123.4", "tool", "", "123.4"},
		{CPU "tool Not tainted 1234.5", "tool", "", ""},
		{"Pid: 2, comm: tool Not tainted 6.1.0 #1", "tool", "", "6.1.0"},
		{"Process tool (pid: 2, threadinfo 0)", "tool", "", ""},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char log[256];
		struct seen s;

		snprintf(log, sizeof(log), "%s%s\n", OOPS, rows[i].line);
		see(&s, log);
		if (!ok(str_is(s.e->comm, rows[i].comm) &&
				str_is(str_trim(s.e->taint), rows[i].taint) &&
				str_is(s.e->kernel, rows[i].kernel) && s.e->has_pid &&
				s.e->pid == 2,
			"%s", rows[i].line))
			printf("#   comm \"%.*s\", taint \"%.*s\", kernel \"%.*s\", pid %u\n",
			       STR_ARG(s.e->comm), STR_ARG(s.e->taint), STR_ARG(s.e->kernel),
			       s.e->pid);
		forget(&s);
	}
}

/* Lines without a task that have the kernel's release. */
static void test_releases(void)
{
	static const struct {
		const char *name, *log, *kernel;
	} rows[] = {
		{"the line after that of a hang",
		 "INFO: task tool:77 blocked for more than 120 seconds.\n      Not tainted 6.1.0 "
		 "#1\n",
		 "6.1.0"},
		{"such a line of another report", OOPS "      Not tainted 6.1.0 #1\n", ""},
		{"other text before it",
		 "INFO: task tool:77 blocked for more than 120 seconds.\n x    Not tainted 6.1.0 "
		 "#1\n",
		 ""},
		{"flags of i386", OOPS "EFLAGS: 00010246   (2.6.22-14 #1)\n", "2.6.22-14"},
		{"flags without a release", OOPS "EFLAGS: 00010246\n", ""},
		{"the instruction pointer of i386",
		 OOPS "EIP:    0060:[<f8a3c05b>]    Not tainted 2.6.9 #1\n", "2.6.9"},
		{"the registers of ppc",
		 OOPS "REGS: c000000012345678 TRAP: 0300   Not tainted  (3.10.0)\n", "3.10.0"},
		{"the version of the kernel", "Linux version 6.1.7 (x)\n" OOPS, "6.1.7"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct seen s;

		see(&s, rows[i].log);
		if (!ok(str_is(s.e->kernel, rows[i].kernel), "%s", rows[i].name))
			printf("#   got \"%.*s\"\n", STR_ARG(s.e->kernel));
		forget(&s);
	}
}

/* A second line with a CPU and a task shows that another CPU prints at the same time. */
static void test_interleaving(void)
{
	static const struct {
		const char *name, *log;
		bool interleaved;
	} rows[] = {
		{"another CPU and task",
		 OOPS "CPU: 1 PID: 2 Comm: a Not tainted 6.1.0 #1\nCPU: 0 PID: 3 Comm: b Not "
		      "tainted 6.1.0 "
		      "#1\n",
		 true},
		{"the same task",
		 OOPS "CPU: 1 PID: 2 Comm: a Not tainted 6.1.0 #1\nCPU: 0 PID: 2 Comm: a Not "
		      "tainted 6.1.0 "
		      "#1\n",
		 false},
		{"the same CPU",
		 OOPS "CPU: 1 PID: 2 Comm: a Not tainted 6.1.0 #1\nCPU: 1 PID: 3 Comm: b Not "
		      "tainted 6.1.0 "
		      "#1\n",
		 false},
		{"after the end of the report",
		 OOPS "CPU: 1 PID: 2 Comm: a Not tainted 6.1.0 #1\n---[ end trace 0000000000000000 "
		      "]---\n"
		      "CPU: 0 PID: 3 Comm: b Not tainted 6.1.0 #1\n",
		 false},
		{"with the CPU before each line",
		 "[    1.000000][    C1] " OOPS
		 "[    1.000000][    C1] CPU: 1 PID: 2 Comm: a Not tainted 6.1.0 #1\n"
		 "[    1.000000][    C1] CPU: 0 PID: 3 Comm: b Not tainted 6.1.0 #1\n",
		 false},
		{"a report that does not end the task",
		 "INFO: task tool:77 blocked for more than 120 seconds.\n"
		 "CPU: 1 PID: 2 Comm: a Not tainted 6.1.0 #1\n"
		 "CPU: 0 PID: 3 Comm: b Not tainted 6.1.0 #1\n",
		 false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct seen s;

		see(&s, rows[i].log);
		ok(s.e->interleaved == rows[i].interleaved, "%s", rows[i].name);
		forget(&s);
	}
}

static void test_modules(void)
{
	static const struct {
		const char *what, *lines, *want;
	} rows[] = {
		{"flags", "Modules linked in: a(OE) b c(+) d(-) e(P+)",
		 "a(OE) b c() loading d() unloading e(P) loading"},
		{"a name of 64 letters", "Modules linked in: " A32 A32 " b", A32 A32 " b"},
		{"a name of 65 letters", "Modules linked in: " A32 A32 "x b", ""},
		{"a word that is no module", "Modules linked in: a b: c", "a"},
		{"the module that was unloaded last", "Modules linked in: a [last unloaded: b]",
		 "a b gone"},
		{"the same, with flags", "Modules linked in: a [last unloaded: b(OE)]",
		 "a b(OE) gone"},
		{"a line that ends within its name", "Modules linked in: a [last unloaded: b",
		 "a b gone cut"},
		{"unloaded modules with their number", "Unloaded tainted modules: a():1 b(OE):2",
		 "a() gone b(OE) gone"},
		{"a list of two lines", "Modules linked in: a\nb c", "a b c"},
		{"one word on the next line", "Modules linked in: a\nb", "a"},
		{"other text on the next line", "Modules linked in: a\nb c=d", "a"},
		{"a second list", "Modules linked in: a\nModules linked in: b", "a"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct buf log = {}, got = {};
		struct seen s;

		buf_printf(&log, "%s%s\n", OOPS, rows[i].lines);
		see(&s, log.s);
		buf_printf(&got, "%s", "");
		for (uint32_t k = 0; k < s.e->nr_modules; k++) {
			const struct module *m = &s.e->module[k];

			buf_printf(&got, "%s%.*s", k ? " " : "", STR_ARG(m->name));
			if (m->flags.s)
				buf_printf(&got, "(%.*s)", STR_ARG(m->flags));
			buf_printf(&got, "%s%s%s%s", m->loading ? " loading" : "",
				   m->unloading ? " unloading" : "", m->gone ? " gone" : "",
				   m->cut ? " cut" : "");
		}
		is_str(got.s, rows[i].want, rows[i].what);
		forget(&s);
		buf_free(&log);
		buf_free(&got);
	}
}

/* A line of registers, and the numbers of those that it sets. */
static void test_registers(void)
{
	static const struct {
		const char *line;
		uint32_t known;
		enum arch arch;
	} rows[] = {
		{"RAX: 0000000000000001 R15: 0000000000000002", 1u | 1u << 15, ARCH_X86_64},
		{"RAX: 0000000000000001 R16: 0000000000000002", 1u, ARCH_X86_64},
		{"EAX: 00000001 edi: 00000002", 1u | 1u << 7, ARCH_I386},
		{"x0 : 0000000000000001 x30: 0000000000000002", 1u | 1u << 30, ARCH_ARM64},
		{"x29: 0000000000000001 x31: 0000000000000002", 1u << 29, ARCH_ARM64},
		{"r0 : 00000001 r15: 00000002", 1u | 1u << 15, ARCH_ARM},
		{"r0 : 00000001 r16: 00000002", 1u, ARCH_ARM},
		{"RAX: 0000000000000001 RBX: 000000000000002", 1u, ARCH_X86_64},
		{"RAX: 0000000000000001 RBX: 0002", 1u, ARCH_X86_64},
		{"RSP: 0018:ffffc90000123e48 EFLAGS: 00010246", 1u << 4, ARCH_X86_64},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char log[256];
		struct seen s;

		snprintf(log, sizeof(log), "%s%s\n", OOPS, rows[i].line);
		see(&s, log);
		if (!ok(s.e->regs.known == rows[i].known && s.e->arch == rows[i].arch, "%s",
			rows[i].line))
			printf("#   got %#x, %s\n", s.e->regs.known, arch_name(s.e->arch));
		forget(&s);
	}
}

static void test_stack_pointer(void)
{
	struct seen s;

	see(&s, OOPS "RSP: 0018:ffffc90000123e48 EFLAGS: 00010246\n"
		     "RSP: 002b:00007ffc12345678 EFLAGS: 00000202\n");
	ok(s.e->has_sp && s.e->sp == 0xffffc90000123e48 && s.e->has_flags &&
		   s.e->flags == 0x10246 && s.e->regs.value[4] == 0xffffc90000123e48,
	   "the first stack pointer and flags are those of the fault");
	forget(&s);
}

static void test_code(void)
{
	for (uint32_t bytes = 95; bytes <= 97; bytes++) {
		struct buf log = {};
		struct seen s;

		buf_printf(&log, "%sCode:", OOPS);
		for (uint32_t i = 0; i < bytes; i++)
			buf_printf(&log, i == 94 ? " <%02x>" : " %02x", i);
		buf_printf(&log, "\nCode: 90 90\n");
		see(&s, log.s);
		ok(s.e->code_bytes == (bytes < CODE_MAX ? bytes : CODE_MAX) && s.e->has_code_at &&
			   s.e->code_at == 94 && s.e->code[0] == 0 && s.e->code[94] == 94,
		   "%u bytes of code", bytes);
		forget(&s);
		buf_free(&log);
	}
}

static void test_code_words(void)
{
	struct seen s;

	see(&s, OOPS "Code: d503201f (b9001801) e1a0 123 90\n");
	ok(s.e->code_bytes == 10 && s.e->code[0] == 0x1f && s.e->code[3] == 0xd5 &&
		   s.e->code_at == 4 && s.e->code[4] == 0x01 && s.e->code[8] == 0xa0,
	   "words of 4 and 2 bytes, the low byte first, until a word of another size");
	forget(&s);
}

/* Frames of arm: the function, and the one from which it was called. */
static void test_arm_frames(void)
{
	static const struct {
		const char *line, *function, *module;
	} rows[] = {
		{"[<c0012345>] (widget_reset+0x14/0x40 [widget]) from [<c0054321>] "
		 "(widget_ioctl+0x58/0x120 [widget])",
		 "widget_reset", "widget"},
		{"widget_reset from widget_ioctl+0x58/0x120 [widget]", "widget_reset", ""},
		{"widget_reset [widget] from widget_ioctl+0x58/0x120 [widget]", "widget_reset",
		 "widget"},
		{"[<c0012345>] (widget_reset) from [<c0054321>] (widget_ioctl+0x58/0x120)",
		 "widget_reset", ""},
		{"widget_reset or so from widget_ioctl+0x58/0x120", "", ""},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct frame f = {};
		char log[256];
		struct seen s;

		snprintf(log, sizeof(log), "%sCall trace:\n %s\n", OOPS, rows[i].line);
		see(&s, log);
		if (s.e->nr_frames)
			f = s.e->frame[0];
		if (!ok(str_is(f.function, rows[i].function) && str_is(f.module, rows[i].module),
			"%s", rows[i].line))
			printf("#   got \"%.*s\" [%.*s]\n", STR_ARG(f.function), STR_ARG(f.module));
		forget(&s);
	}
}

int main(void)
{
	test_tasks();
	test_releases();
	test_interleaving();
	test_modules();
	test_registers();
	test_stack_pointer();
	test_code();
	test_code_words();
	test_arm_frames();
	return tap_done();
}
