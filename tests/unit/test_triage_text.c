// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests how triage reads text: learned prefixes, lines that were broken, and very long logs. */
#include <stdlib.h>

#include "tap.h"
#include "triage/condense.h"
#include "triage/exports.h"
#include "triage/library.h"
#include "triage/unwrap.h"

static bool same(struct str s, const char *text)
{
	return s.n == strlen(text) && !memcmp(s.s, text, s.n);
}

/* ---- prefixes ---- */

#define REPORT(prefix)                                                                             \
	prefix "BUG: kernel NULL pointer dereference, address: 0000000000000010\n" prefix          \
	       "Oops: 0000 [#1] SMP\n" prefix "CPU: 1 PID: 816 Comm: x Not tainted 6.1.0 #1\n"     \
	       "other text\n" prefix "RIP: 0010:f+0x9/0x50\n" prefix "Call Trace:\n"

static void test_shapes(void)
{
	static const struct {
		const char *log, *line, *rest, *name;
	} rows[] = {
		{REPORT("mai 17 10:22:54 pc1 kernel: "), "mai 18 10:23:55 pc1 usb 1-1: new",
		 "pc1 usb 1-1: new", "a date in French"},
		{REPORT("a|12| "), "b|7|  f+0x1/0x2", " f+0x1/0x2", "blanks that indent are kept"},
		{REPORT("a|12| "), "b|seven f", "b|seven f", "another shape"},
		{REPORT("x1 kernel0 "), "usb 1-1: new", "usb 1-1: new", "a line without prefix"},
		{REPORT("[   12.345678] "), "[ 13.000000] usb", "[ 13.000000] usb",
		 "nothing to learn where the prefix is known"},
		{REPORT("app[812]: "), "app[812]: text", "app[812]: text", "a program's lines"},
		{"so: BUG: it broke\nso: BUG: again\nso: BUG: and again\n", "so: text", "so: text",
		 "one kind of line is not enough"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct str line = str_of(rows[i].line);
		struct shapes shapes;

		shapes_learn(&shapes, str_of(rows[i].log));
		line = str_from(line, shape_length(&shapes, line));
		ok(same(line, rows[i].rest), "%s: \"%.*s\"", rows[i].name, STR_ARG(line));
	}
}

/* ---- lines that were broken ---- */

static void test_wraps(void)
{
	static const char mail[] =
		"[    1.000000] CPU: 1 PID: 816 Comm: modprobe Not tainted 6.1.0-50-amd64 #1\n"
		"Debian 6.1.176-1\n"
		"[    1.000001] Hardware name: QEMU Standard PC (Q35 + ICH9, 2009), BIOS\n"
		"1.16.3-debian-1.16.3-2 04/01/2014\n"
		"[    1.000002] Code: 48 8b 00 48 8b 00 48 8b 00 48 8b 00 48 8b 00 48 8b 00 48 8b "
		"00 "
		"48 8b 00 48 8b 00 48 8b 00 48 8b 00\n";
	struct shapes none = {};
	struct wrap w;

	wrap_find(&w, &none, str_of(mail));
	ok(w.prefixed && w.mail >= 71 && w.mail <= 92 && !w.terminal,
	   "a mail program broke lines before column %zu, although one line is longer", w.mail);
	ok(wrap_broke(&w, &none,
		      str_of("[    1.000003] RSP: 0018:ffffb2c1c0a7bd98 EFLAGS: 00010046 and RAX:"),
		      str_of("0000000000000000")),
	   "a word that had no room is the rest of the line");
	ok(!wrap_broke(&w, &none, str_of("[    1.000003] short"), str_of("text")),
	   "a word that had room is not");
	ok(wrap_broke(&w, &none, str_of("[    1.000003] short "), str_of("text")),
	   "unless a blank ends the line before");
	ok(!wrap_broke(&w, &none, str_of("[    1.000003] short "), str_of("[ 1.000004] text")),
	   "a line with a prefix is whole");
	ok(!wrap_broke(&w, &none, str_of("[    1.000003] short "), str_of("systemd[1]: text")),
	   "a line of a program is no rest");
	ok(!wrap_broke(&w, &none, str_of("[    1.000003]  f+0x1/0x2 "), str_of("text")) &&
		   wrap_broke(&w, &none, str_of("[    1.000003]  f+0x1/0x2 "), str_of("[drv]")),
	   "only a module may follow a frame");
	ok(wrap_broke(&w, &none, str_of("> [    1.000003] short "), str_of("> text")),
	   "quoted lines");
}

/* ---- helpers, counted in module trees ---- */

static bool helper(const char *function, const char *module)
{
	struct frame f = {.function = str_of(function), .module = str_of(module)};

	return is_helper(&f);
}

static void test_helpers(void)
{
	ok(export_importers(STR("kfree"), STR("")) > 1000, "most modules import kfree()");
	ok(!export_importers(STR("kfre"), STR("")) && !export_importers(STR("kfree2"), STR("")),
	   "names are compared as a whole");
	ok(export_importers(STR("usb_submit_urb"), STR("usbcore")) > 50 &&
		   export_importers(STR("usb_submit_urb"), STR("")) > 50 &&
		   !export_importers(STR("usb_submit_urb"), STR("usbhid")),
	   "a module exports usb_submit_urb(), unless it is built in");
	ok(provider_importers(STR("mac80211")) && !provider_importers(STR("iwlmvm")),
	   "mac80211 is a library, a driver is none");
	ok(provider_uses(STR("mac80211"), STR("cfg80211")) &&
		   provider_uses(STR("rdma_cm"), STR("ib_core")),
	   "libraries that import functions of others");
	ok(!provider_uses(STR("cfg80211"), STR("mac80211")) &&
		   !provider_uses(STR("mac80211"), STR("cfg8021")) &&
		   !provider_uses(STR("iwlmvm"), STR("cfg80211")),
	   "not the other way round, and not of a part of a name; a driver is no library");
	ok(helper("napi_schedule_prep", "") && helper("kfree.part.0", ""), "helpers of the kernel");
	ok(!helper("tcp_v4_rcv", ""), "a function that no module calls");
	ok(!helper("drv_vmalloc_ring", "drv") && !helper("my_spin_lock", "drv"),
	   "a driver's function with a helper's name");
	ok(helper("memcpy", "drv"), "a driver's copy of memcpy()");
}

/* ---- very long logs ---- */

static void feed(struct condenser *c, const char *text, size_t times)
{
	size_t n = strlen(text), all = n * times;
	char *data = malloc(all);

	for (size_t i = 0; i < times; i++)
		memcpy(data + i * n, text, n);
	ok(!condense(c, data, all), "condense %zu bytes", all);
	free(data);
}

/* Returns the line number that a text of the condensed log had in the whole log; 0: not kept. */
static uint32_t number_of(const struct condenser *c, const char *text)
{
	struct str kept = {c->kept, c->kept_bytes};
	long at = str_find(kept, text);
	uint32_t number = 1;

	for (size_t i = 0; i < c->skips && at >= 0; i++)
		number += c->skip[i].at <= (size_t)at ? c->skip[i].lines : 0;
	for (long i = 0; i < at; i++)
		number += kept.s[i] == '\n';
	return at < 0 ? 0 : number;
}

#define CHATTER "[    1.000000] usb 1-1: new high-speed USB device number 7 using xhci_hcd\n"

static void test_condense(void)
{
	struct condenser c;

	condenser_make(&c);
	feed(&c, CHATTER, 100000);
	feed(&c, "[    2.000000] BUG: kernel NULL pointer dereference, address: 0000000000000010\n",
	     1);
	feed(&c, CHATTER, 100000);
	feed(&c, "[    3.000000] Kernel panic - not syncing: the last words", 1);
	ok(!condense_end(&c), "end");
	ok(number_of(&c, "BUG: kernel NULL") == 100001, "line number %u",
	   number_of(&c, "BUG: kernel NULL"));
	ok(number_of(&c, "the last words") == 200002, "line number of the last line, %u",
	   number_of(&c, "the last words"));
	ok(c.kept_bytes < 1 << 20, "%zu bytes of 15 MB are kept", c.kept_bytes);
	condenser_free(&c);

	condenser_make(&c);
	feed(&c, CHATTER, 100000);
	ok(!condense_end(&c) && !c.kept_bytes && c.skips == 1 && c.skip[0].lines == 100000,
	   "a log without reports");
	condenser_free(&c);

	condenser_make(&c);
	feed(&c, "{\"MESSAGE\":\"usb 1-1: new device\"}\n", 50000);
	feed(&c, "{\"MESSAGE\":\"Oops: 0002 [#1] SMP\"}\n", 1);
	ok(!condense_end(&c) && number_of(&c, "Oops: 0002") == 50001, "a log in JSON");
	condenser_free(&c);
}

int main(void)
{
	test_shapes();
	test_wraps();
	test_helpers();
	test_condense();
	return tap_done();
}
