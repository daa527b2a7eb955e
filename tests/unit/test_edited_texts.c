// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests parsers of short texts with every edit of one character: each sample is cut at every place,
 * and at every place one character is removed, replaced or inserted. The test compares a checksum
 * over the results of each parser for all edits of its samples.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "base/buf.h"
#include "base/units.h"
#include "blackbox/log_lines.h"
#include "blackbox/ring_record.h"
#include "cli/moment.h"
#include "collect/files/target_file.h"
#include "collect/limits/origin_pam.h"
#include "collect/limits/origin_sysctl.h"
#include "collect/limits/origin_unit.h"
#include "collect/oom/oom_report.h"
#include "collect/symbols/perf_map.h"
#include "probe/call_functions.h"
#include "probe/variables.h"
#include "render/tui/tui_parts.h"
#include "rules/gates.h"
#include "serve/rate_limit.h"
#include "triage/facts.h"
#include "triage/prefix.h"
#include "triage/signature.h"
#include "triage_sums.h"

#define SAMPLES_MAX 24
#define TEXT_BYTES  512

static void mix_frame(uint64_t *sum, const struct frame *f)
{
	mix_str(sum, f->function);
	mix_str(sum, f->module);
	mix(sum, f->address);
	mix(sum, (uint64_t)f->offset << 32 | f->size);
	mix(sum, f->unreliable | f->inlined << 1 | f->decoded << 2 | f->has_address << 3);
}

static void parse_frame(uint64_t *sum, const char *text)
{
	struct frame f = {};
	size_t n = frame_parse(str_of(text), &f);

	mix(sum, n);
	if (n)
		mix_frame(sum, &f);
}

static void parse_trace(uint64_t *sum, const char *text)
{
	static struct incident e;
	struct reading r = {.e = &e, .section = SECTION_TRACE};

	e = (struct incident){};
	mix(sum, trace_section(&r, str_of(text), 3));
	mix(sum, r.section << 8 | r.part << 4 | r.irq << 3 | r.aside << 2 | r.main_seen << 1);
	for (uint32_t i = 0; i < e.nr_frames; i++)
		mix_frame(sum, &e.frame[i]);
}

static void parse_prefix(uint64_t *sum, const char *text)
{
	struct log_line l = {.level = -1, .caller = -1};
	struct str s = str_of(text);

	mix(sum, prefix_strip(&s, &l));
	mix_str(sum, s);
	mix(sum, l.level);
	mix(sum, l.user << 2 | l.timed << 1 | l.fragment);
	mix(sum, l.caller);
	mix(sum, l.timed ? llround(l.seconds * 1e6) : 0);
	mix(sum, prefix_inside(str_of(text)));
}

static void parse_facts(uint64_t *sum, const char *text)
{
	static struct incident e;
	struct reading r = {.e = &e};

	e = (struct incident){};
	mix(sum, facts_take(&r, str_of(text), 3));
	mix(sum, r.section << 3 | r.aside << 2 | r.regs_shut << 1 | r.body);
	mix(sum, e.arch);
	mix(sum, e.regs.known);
	for (int i = 0; i < REGS_MAX; i++)
		mix(sum, e.regs.known >> i & 1 ? e.regs.value[i] : 0);
	mix(sum, e.has_sp ? e.sp : 1);
	mix(sum, e.has_flags ? e.flags : 1);
	mix(sum, e.has_error ? e.error : 1);
	mix(sum, e.has_cr2 ? e.cr2 : 1);
	mix(sum, e.has_walk ? e.pgd ^ e.pud << 1 ^ e.pmd << 2 ^ e.pte << 3 : 1);
	mix(sum, e.has_walk_address ? e.walk_address : 1);
	mix(sum, e.has_cpu ? e.cpu : 9999);
	mix(sum, e.has_pid ? e.pid : 1);
	mix(sum, e.code_bytes << 8 | (e.has_code_at ? e.code_at : 255));
	for (int i = 0; i < e.code_bytes; i++)
		mix(sum, e.code[i]);
	mix_str(sum, e.comm);
	mix_str(sum, e.taint);
	mix_str(sum, e.kernel);
	mix_str(sum, e.hardware);
	mix_str(sum, e.workqueue);
	if (e.has_ip)
		mix_frame(sum, &e.ip);
	if (e.has_link)
		mix_frame(sum, &e.link);
	for (uint32_t i = 0; i < e.nr_modules; i++) {
		mix_str(sum, e.module[i].name);
		mix_str(sum, e.module[i].flags);
		mix(sum, e.module[i].loading | e.module[i].unloading << 1 | e.module[i].cut << 2);
	}
}

static void parse_signature(uint64_t *sum, const char *text)
{
	static struct signature_index index;
	struct captures c = {};
	const struct signature *s;

	if (!index.from[256])
		signature_index_make(&index);
	s = signature_find(&index, str_of(text), &c);
	mix(sum, s ? s->kind << 16 | s->flags : 0);
	mix(sum, c.has_address ? c.address : 1);
	mix(sum, c.has_error ? c.error : 1);
	mix(sum, c.has_pid ? c.pid : 1);
	mix(sum, c.has_cpu ? c.cpu : 1);
	mix(sum, c.has_number ? c.number : 1);
	mix(sum, c.has_size ? c.size : 1);
	if (s && c.has_function)
		mix_frame(sum, &c.function);
	if (s)
		mix_str(sum, c.place);
}

static void parse_kmsg(uint64_t *sum, const char *text)
{
	struct bb_line l = {};
	enum bb_severity severity = BB_INFO;

	mix(sum, bb_line_parse(text, strlen(text), &l));
	mix(sum, l.level);
	mix(sum, l.us);
	mix_text(sum, l.text);
	mix(sum, bb_line_class(l.level, l.text, &severity));
	mix(sum, severity << 1 | bb_line_ends_oops(l.text));
}

static void parse_record_line(uint64_t *sum, const char *text)
{
	struct bb_record r = {};
	uint64_t number = 0;
	char value[32] = "";

	mix(sum, bb_decode_line(text, strlen(text), &r));
	mix(sum, r.sequence);
	mix(sum, r.class);
	snprintf(r.text, sizeof(r.text), "%.100s", text);
	mix(sum, bb_get(&r, "comm", value, sizeof(value)));
	mix_text(sum, value);
	mix(sum, bb_get_u64(&r, "ip", &number));
	mix(sum, number);
}

static void parse_boot_id(uint64_t *sum, const char *text)
{
	uint8_t id[BB_BOOT_BYTES] = {};

	mix(sum, bb_boot_id(text, id));
	for (size_t i = 0; i < sizeof(id); i++)
		mix(sum, id[i]);
}

static void parse_perf_map(uint64_t *sum, const char *text)
{
	__u64 start = 0;
	__u32 bytes = 0;
	size_t name = 0;

	mix(sum, perf_map_parse(text, &start, &bytes, &name));
	mix(sum, start ^ (uint64_t)bytes << 32 ^ name << 56);
}

static void parse_status(uint64_t *sum, const char *text)
{
	struct target_identity id = {};

	mix(sum, target_identity_parse(text, &id));
	mix(sum, (uint64_t)id.euid << 32 | id.pid);
}

static void parse_numbers(uint64_t *sum, const char *text)
{
	double seconds = -1;
	uint64_t n = 7, bytes = 7, ns = 7;

	mix(sum, parse_seconds(text, &seconds));
	mix(sum, llround(seconds * 1e9));
	mix(sum, parse_seconds_or_0(text, &seconds));
	mix(sum, llround(seconds * 1e9));
	mix(sum, parse_u64(text, 5, 70000, &n));
	mix(sum, parse_bytes(text, &bytes));
	mix(sum, rate_interval_read(text, &ns));
	mix(sum, n ^ bytes << 1 ^ ns << 2);
}

static void parse_moment(uint64_t *sum, const char *text)
{
	struct moment m = {};

	mix(sum, moment_parse(text, &m));
	mix(sum, m.kind);
	mix(sum, llround(m.seconds * 1e3));
}

static void parse_gates(uint64_t *sum, const char *text)
{
	static struct gates g;
	char error[256] = "";

	g = (struct gates){};
	mix(sum, gates_parse(&g, text, error, sizeof(error)));
	mix_text(sum, error);
	for (size_t i = 0; i < g.n; i++) {
		mix_text(sum, g.gate[i].text);
		mix(sum, g.gate[i].kind << 8 | g.gate[i].op << 1 | g.gate[i].percent);
		mix(sum, llround(g.gate[i].threshold * 16));
	}
}

static void mix_origin(uint64_t *sum, const struct origin_line *l)
{
	mix_text(sum, l->text);
	mix_text(sum, l->value);
	mix(sum, l->line << 1 | l->glob);
}

static void parse_unit(uint64_t *sum, const char *text)
{
	struct unit_limit s = {.key = "LimitNOFILE"};

	unit_scan(&s, "a.service", (struct span){text, strlen(text)});
	mix_origin(sum, &s.line);
}

static void parse_pam(uint64_t *sum, const char *text)
{
	struct user user = {.name = "www",
			    .uid = 33,
			    .gid = 33,
			    .groups = 2,
			    .group = {{33, "www"}, {7, "web"}}};
	struct pam_limit s = {.user = &user, .item = "nofile"};

	pam_scan(&s, "limits.conf", (struct span){text, strlen(text)});
	mix_origin(sum, &s.soft);
	mix_origin(sum, &s.hard);
	mix(sum, s.soft_rank << 8 | s.hard_rank);
}

static void parse_sysctl(uint64_t *sum, const char *text)
{
	struct sysctl_setting s = {.key = "vm/max_map_count"};
	struct origin_line boot = {};

	sysctl_scan(&s, "a.conf", (struct span){text, strlen(text)});
	mix_origin(sum, &s.exact);
	mix_origin(sum, &s.glob);
	mix(sum, s.excluded);
	mix(sum, sysctl_scan_boot(s.key, (struct span){text, strlen(text)}, &boot));
	mix_origin(sum, &boot);
}

static void parse_oom(uint64_t *sum, const char *text)
{
	static struct oom_report r;
	char copy[TEXT_BYTES], *save = NULL;

	snprintf(copy, sizeof(copy), "%s", text);
	oom_report_begin(&r, 4096);
	for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		mix(sum, oom_report_line(&r, line));
	mix(sum, r.section << 8 | r.constraint << 4 | r.begun);
	mix(sum, r.order);
	mix_text(sum, r.gfp);
	for (int i = 0; i < NR_OOM_PRINTED; i++)
		mix(sum, r.printed[i]);
	mix(sum, r.tasks);
	mix(sum, r.tasks_kept_bytes ^ r.tasks_page_table_bytes << 1);
	for (size_t i = 0; i < r.holders; i++)
		mix(sum, r.holder[i].subject.pid);
	mix_text(sum, r.zone);
	mix(sum, r.zone_free ^ r.zone_min << 1);
	mix_text(sum, r.cgroup);
	mix_text(sum, r.victim_cgroup);
	mix(sum, r.pid);
}

static void parse_keys(uint64_t *sum, const char *text)
{
	struct tui_keys k = {};
	size_t at = 0, len = strlen(text);

	for (int i = 0; i < TEXT_BYTES && at < len; i++) {
		uint32_t key = 0;

		at += tui_decode(&k, text + at, len - at, &key);
		mix(sum, at);
		mix(sum, key);
	}
	mix(sum, (uint64_t)k.mouse.button << 32 ^ k.mouse.x << 16 ^ k.mouse.y ^ k.n << 48);
}

static void parse_utf8(uint64_t *sum, const char *text)
{
	uint32_t code = 0;

	mix(sum, utf8_decode(text, &code));
	mix(sum, code);
	mix(sum, utf8_is_unsafe(code));
	mix(sum, text_columns(text));
}

static void parse_kallsyms(uint64_t *sum, const char *text)
{
	static struct call_functions calls;
	__u64 address[NR_VARIABLES] = {};

	call_functions_parse(text, strlen(text), &calls);
	for (size_t i = 0; i < calls.nr; i++) {
		mix_text(sum, calls.name[i]);
		mix(sum, calls.address[i]);
	}
	mix(sum, calls.hidden);
	variables_parse(text, strlen(text), address);
	for (int i = 0; i < NR_VARIABLES; i++)
		mix(sum, address[i]);
}

typedef void parse_fn(uint64_t *sum, const char *text);

/* Calls a parser with all edits of a sample. */
static void parse_edits(parse_fn *parse, uint64_t *sum, const char *sample)
{
	static const char letters[] = "0179afxSz_.,:;+-=/%#*@~\"'()<>[]{}? \t\n\\\033\303";
	size_t len = strlen(sample);
	char text[TEXT_BYTES];

	if (len + 2 > sizeof(text))
		abort();
	parse(sum, sample);
	for (size_t at = 0; at <= len; at++) {
		snprintf(text, sizeof(text), "%.*s", (int)at, sample);
		parse(sum, text);
		if (at < len) {
			strcpy(text + at, sample + at + 1);
			parse(sum, text);
		}
		for (const char *c = letters; *c; c++) {
			snprintf(text, sizeof(text), "%.*s%c%s", (int)at, sample, *c, sample + at);
			parse(sum, text);
			if (at < len) {
				strcpy(text, sample);
				text[at] = *c;
				parse(sum, text);
			}
		}
	}
}

static const struct {
	const char *name;
	parse_fn *parse;
	uint64_t want;
	const char *sample[SAMPLES_MAX];
} parsers[] = {
	{"frames",
	 parse_frame,
	 0xbbeb60c73e82a22a,
	 {"[<ffffffff81234567>] foo.isra.0+0x1f/0x2e0 [ext3]", ":ext3:foo+0x1/0x2",
	  "foo+0x1/0x2 [ext3 0123456789abcdef01234567]", ".sys_read+0x1/0x2", "0xffffffffc05e7428",
	  "[c000000010f930b0] [c000000008068df8] .f+0x1/0x2", "<a::B as c::D>::e+0x1/0x2",
	  "foo (mm/slab.h:401 drivers/net/a.c:12)", "foo (kernel/entry.S:77) mod",
	  "foo (rust/kernel/sync.rs:7 (discriminator 3))", "foo+0xc/0x10 (inlined)",
	  "foo+0x1/0x2 [mod(OE)]", "__pfx_foo+0x10/0x10 ??:?"}},
	{"lines of traces",
	 parse_trace,
	 0xb659c1ff119c07a6,
	 {" ? foo+0x1/0x2 [mod]", " [<ffffffff81234567>] ? foo+0x1/0x2", " <IRQ>", " </NMI>",
	  "Call trace:", " widget_reset+0x14/0x40 [widget] (P)", " el0t_64_sync+0x190/0x198 (L)",
	  "[<c0012345>] (foo) from [<c0023456>] (bar+0x1c/0x40)", " foo+0x1/0x2 (unreliable)",
	  "Exception stack(0xc1001ed8 to 0xc1001f20)", "RIP: 0033:0x7f1234567890",
	  " foo+0x1/0x2 [inline]", " 00000000 c0123456 c0234567", "---[ end trace 0000 ]---"}},
	{"prefixes of logs",
	 parse_prefix,
	 0x5aed4c5a398bfb83,
	 {"<4>[   41.100000] text", "[   41.100000][  T77] text", "[   41.100000][    C3] text",
	  "Nov 29 08:00:00 host kernel: [   41.100000] text",
	  "2026-11-29T08:00:00.123456+00:00 host kernel: text", "kern  :warn  : [    1.5] text",
	  "[Sun Nov 29 08:00:00 2026] text", "host kernel: text", "6,1234,5678901,-;text",
	  "<0>1 2026-11-29T08:00:00Z host kernel - - - text", "[ 12.5] [ 12.6] text",
	  "Oops#1 Part1 text", "[    5.000000] BUG: a[    6.000000] b"}},
	{"facts of x86",
	 parse_facts,
	 0x1dce8ba68ed3593b,
	 {"RAX: ffff888012345678 RBX: 0000000000000000 R10: 0000000000000008",
	  "RSP: 0018:ffffc90000123e48 EFLAGS: 00010246",
	  "EAX: c0123456 EBX: 00000000 ESP: 00000001", "RIP: 0010:foo+0x1f/0x2e0 [ext3]",
	  "CR2: 0000000000000018 CR3: 0000000001a10000", "Code: 48 89 <8b> 87 00 00",
	  "PGD 1234067 P4D 1234067 PUD 5678063 PMD 0", "#PF: error_code(0x0002) - not-present page",
	  "CPU: 3 PID: 611 Comm: my tool Tainted: G           OE      6.12.9 #1",
	  "Pid: 12, comm: swapper/0 Not tainted 2.6.32 #1 KVM/Bochs",
	  "Modules linked in: a(O+) b-(P) c [last unloaded: d]",
	  "Hardware name: QEMU Standard PC, BIOS 1.16.2-1 04/01/2014",
	  "Workqueue: events foo_work [mod]", "EIP: [<c0123456>] foo+0x1/0x2 SS:ESP 0068:c0ffee00",
	  "DR0: 0000000000000000 DR6: 00000000fffe0ff0"}},
	{"facts of arm64 and others",
	 parse_facts,
	 0x6a0b258fc0da3e06,
	 {"x29: ffff8000833dbcb0 x9 : ffff0000c1ab8000 x0 : 0000000000000000",
	  "  ESR = 0x0000000096000046", "  FSC = 0x06: level 2 translation fault",
	  "  EC = 0x25: DABT (current EL), IL = 32 bits", "pc : widget_reset+0x14/0x40 [widget]",
	  "lr : widget_ioctl+0x58/0x120 [widget]", "sp : ffff8000833dbcb0",
	  "pstate: 60400005 (nZCv daif +PAN -UAO)", "Code: d503201f 528000e1 (b9001801) ",
	  "[0000000000000018] pgd=0800000043b0a003, p4d=0800000043b0a003, pud=0, "
	  "pmd=0000000000000000",
	  "[ffff1c93435d4a00] address between user and kernel address ranges",
	  "PC is at foo+0x1/0x2", "LR is at bar+0x1/0x2",
	  "r10: c0123456  r9 : 00000001  fp : 00000002", "epc : foo+0x1/0x2 ra : bar+0x1/0x2",
	  "status: 0000000200000120 badaddr: 18 cause: d",
	  "NIP:  c000000000012345 LR: c000000000012346 CTR: 0",
	  "Krnl PSW : 0704c00180000000 0000"}},
	{"signatures",
	 parse_signature,
	 0xa958881824dffd96,
	 {"BUG: unable to handle page fault for address: ffff888012345678",
	  "BUG: KASAN: slab-use-after-free in foo+0x1/0x2 [mod]",
	  "Unable to handle kernel NULL pointer dereference at virtual address 0000000000000018",
	  "Internal error: Oops: 0000000096000046 [#1] SMP", "kernel BUG at mm/slub.c:401!",
	  "WARNING: CPU: 3 PID: 77 at mm/slub.c:401 foo+0x1/0x2",
	  "watchdog: BUG: soft lockup - CPU#3 stuck for 22s! [tool:77]",
	  "general protection fault, probably for non-canonical address 0xdead000000000100: 0000 "
	  "[#1]",
	  "Kernel panic - not syncing: Fatal exception in interrupt",
	  "INFO: task tool:77 blocked for more than 120 seconds."}},
	{"lines of /dev/kmsg",
	 parse_kmsg,
	 0xffc4f1f3c9f05b82,
	 {"6,1234,5678901,-;text\n KEY=value", "4,1,2,c,more;Oops: 0002 [#1]",
	  "2,9,99999999999,-;---[ end trace 0123 ]---", "0,1,2,-;Kernel panic - not syncing: x"}},
	{"pairs of records",
	 parse_record_line,
	 0xf17aa94bd1107d73,
	 {"comm=\"a \\x22b\" ip=0x1f x=2", "ip=77 comm=a"}},
	{"boot IDs", parse_boot_id, 0x218c360f28883b45, {"01234567-89ab-cdef-0123-456789abcdef"}},
	{"perf maps",
	 parse_perf_map,
	 0x1b61f08f9d217f52,
	 {"7f0012345678 1f0 LazyCompile:*f /a.js:1"}},
	{"status files",
	 parse_status,
	 0xbff138a9345ca260,
	 {"Name:\ta\nUid:\t1\t2\t3\t4\nNSpid:\t77\t5\n"}},
	{"numbers with units",
	 parse_numbers,
	 0xd0de93a0f4399339,
	 {"65536", "64K", "1.5s", "1m30s", "250ms", "2h"}},
	{"moments",
	 parse_moment,
	 0x0e80623e405857d8,
	 {"90s", "+1.5", "-2m", "14:03", "23:59:59.5", "2026-11-28T14:03:20", "2026-02-28 14:03Z"}},
	{"gates",
	 parse_gates,
	 0xa4f0ff21ffa5e40e,
	 {"maps.peak>60%,fds.peak<=1.5K", "stall_ms>1s , sigsegv>=3"}},
	{"units of systemd",
	 parse_unit,
	 0x1b40f272a29a04d3,
	 {"[Unit]\nA=1\n[Service]\n# b\nLimitNOFILE=1024:2048\n",
	  "[Service]\nLimitNOFILE = 5 \\\n 6\n"}},
	{"limits of pam",
	 parse_pam,
	 0xb3ddee5e1f94feb9,
	 {"# a\nwww soft nofile 1024\n* - nofile 4096\n",
	  ":30 hard nofile unlimited\n@web - nofile 7"}},
	{"settings of sysctl",
	 parse_sysctl,
	 0x0c2656c8d6c1853b,
	 {"# a\nvm.max_map_count = 65530\n", "-vm/max_map_count\nvm.max_* = 7\n",
	  "quiet sysctl.vm.max_map_count=9 ro"}},
	{"reports of OOM kills",
	 parse_oom,
	 0x3e4d79045dacf518,
	 {"tool invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=2, oom_score_adj=0\n"
	  "memory: usage 204800kB, limit 204800kB, failcnt 7\n"
	  "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),oom_memcg=/a,task_memcg=/a/"
	  "b,task=t,"
	  "pid=77,uid=0\n",
	  "tool invoked oom-killer: gfp_mask=0xcc0, order=0\n"
	  "Tasks state (memory values in pages):\n"
	  "[  pid  ]   uid  tgid total_vm      rss pgtables_bytes swapents oom_score_adj name\n"
	  "[    77]     0    77   100000    25600   262144       11           0 my tool\n"}},
	{"keys of a terminal",
	 parse_keys,
	 0x778df43ab8a9a16d,
	 {"\033[A\033[5~", "\033[<0;12;34M", "\033[<65;1;2m", "a\303\251\033OP", "\033[1;5C"}},
	{"UTF-8",
	 parse_utf8,
	 0x9517e867c981b840,
	 {"\303\251", "\342\202\254x", "\360\237\230\200", "\033[1mx\033[0m"}},
	{"symbols of the kernel",
	 parse_kallsyms,
	 0x78088cdc3aa2d284,
	 {"ffffffff81234560 T __x64_sys_mmap\nffffffff81234570 t do_mmap\n",
	  "ffffffff82234560 D sysctl_max_map_count\nffffffff82234570 b nr_files\n"}},
};

int main(void)
{
	setenv("TZ", "UTC0", 1);
	tzset();
	for (size_t i = 0; i < sizeof(parsers) / sizeof(parsers[0]); i++) {
		struct sum sum = {parsers[i].name, SUM_BEGINS, parsers[i].want};

		for (const char *const *sample = parsers[i].sample; *sample; sample++)
			parse_edits(parsers[i].parse, &sum.got, *sample);
		are_sums(&sum, 1);
	}
	return tap_done();
}
