// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the kernel log that is written from records of the flight recorder, if the kernel could not
 * print its own.
 */
#include <stdlib.h>

#include "blackbox/log_records.h"
#include "tap.h"

#define AT "[   40.000000] "

static struct bb_found found;
static struct buf text;

static void begin(void)
{
	bb_found_free(&found);
}

/* Adds a record of the boot whose id has this byte. */
static void add(enum bb_class class, uint8_t boot, const char *pairs)
{
	struct bb_record r = {.class = class, .boot_ns = 40000000000, .count = 1};

	r.sequence = found.n + 1;
	r.boot_id[0] = boot;
	snprintf(r.text, sizeof(r.text), "%s", pairs);
	if (bb_found_add(&found, &r))
		abort();
}

static const char *log_of(uint8_t boot)
{
	const uint8_t id[BB_BOOT_BYTES] = {boot};

	buf_free(&text);
	bb_relog(&text, &found, id);
	return text.s ? text.s : "";
}

static void is_log(const char *want, const char *name)
{
	is_str(log_of(1), want, name);
}

/* A fault with these pairs, and the lines of its log. */
static const struct {
	const char *pairs, *want, *name;
} faults[] = {
	{"access=read address=0xfff error=0x0 pid=7 cpu=3 comm=a symbol=f+0x1 module=lab",
	 AT "BUG: kernel NULL pointer dereference, address: 0000000000000fff\n" AT
	    "#PF: supervisor read access in kernel mode\n" AT
	    "#PF: error_code(0x0000) - not-present page\n" AT "Oops: 0000 [#1]\n" AT
	    "CPU: 3 PID: 7 Comm: a\n" AT "RIP: 0010:f+0x1 [lab]\n",
	 "a read in the first page"},
	{"access=write address=0x1000 error=0x3 symbol=f+0x1",
	 AT "BUG: unable to handle page fault for address: 0000000000001000\n" AT
	    "#PF: supervisor write access in kernel mode\n" AT
	    "#PF: error_code(0x0003) - permissions violation\n" AT "Oops: 0003 [#1]\n" AT
	    "CPU: 0 PID: 0 Comm: \n" AT "RIP: 0010:f+0x1\n",
	 "a write behind it"},
	{"access=exec address=0x1000 error=0x12",
	 AT "BUG: unable to handle page fault for address: 0000000000001000\n" AT
	    "#PF: supervisor instruction fetch in kernel mode\n" AT
	    "#PF: error_code(0x0012) - not-present page\n" AT "Oops: 0012 [#1]\n" AT
	    "CPU: 0 PID: 0 Comm: \n" AT "RIP: 0010:\n",
	 "an instruction that cannot be fetched"},
	{"access=protection address=0x0 error=0x0",
	 AT "general protection fault, probably for non-canonical address 0x0: 0000 [#1]\n" AT
	    "CPU: 0 PID: 0 Comm: \n" AT "RIP: 0010:\n",
	 "a protection fault without an address"},
	{"access=protection address=0xdead000000000100 error=0x1f",
	 AT "general protection fault, probably for non-canonical address "
	    "0xdead000000000100: 001f [#1]\n" AT "CPU: 0 PID: 0 Comm: \n" AT "RIP: 0010:\n",
	 "and one with an address"},
};

static void test_faults(void)
{
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		begin();
		add(BB_FAULT, 1, faults[i].pairs);
		is_log(faults[i].want, faults[i].name);
	}
}

#define PAIRS "access=protection address=0x0 error=0x0 "
#define HEAD                                                                                       \
	AT "general protection fault, probably for non-canonical address 0x0: 0000 [#1]\n" AT      \
	   "CPU: 0 PID: 0 Comm: \n" AT "RIP: 0010:\n"

static void test_code(void)
{
	static const struct {
		const char *pairs, *want, *name;
	} codes[] = {
		{"code=0f1f<8b>4040", "Code: 0f 1f <8b> 40 40\n", "bytes of code"},
		{"code=<8b>", "Code: <8b>\n", "only the instruction of the fault"},
		{"code=0f1", "Code: 0f\n", "half a byte is left out"},
		{"code=0f<8b", "Code: 0f\n", "also in brackets"},
	};
	char pairs[200], want[400];

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		begin();
		snprintf(pairs, sizeof(pairs), PAIRS "%s", codes[i].pairs);
		snprintf(want, sizeof(want), HEAD AT "%s", codes[i].want);
		add(BB_FAULT, 1, pairs);
		is_log(want, codes[i].name);
	}
}

static void test_registers(void)
{
	begin();
	add(BB_FAULT, 1, PAIRS);
	add(BB_REGISTERS, 1,
	    "ax=0x1 bx=0x2 cx=0x3 dx=0x4 si=0x5 di=0x6 bp=0x7 sp=0x8 r7=0x9 r8=0xa r15=0xb "
	    "r16=0xc");
	is_log(HEAD AT "RAX: 0000000000000001\n" AT "RBX: 0000000000000002\n" AT
		       "RCX: 0000000000000003\n" AT "RDX: 0000000000000004\n" AT
		       "RSI: 0000000000000005\n" AT "RDI: 0000000000000006\n" AT
		       "RBP: 0000000000000007\n" AT "R08: 000000000000000a\n" AT
		       "R15: 000000000000000b\n",
	       "registers");
	begin();
	add(BB_FAULT, 1, PAIRS);
	add(BB_CONSOLE, 1, "ax=0x1");
	is_log(HEAD, "a record of another class has none");
}

static void test_stack(void)
{
	begin();
	add(BB_FAULT, 1, PAIRS "stack=f+0x1[lab]<g+0x2<h+0x3[m]");
	is_log(HEAD AT "Call Trace:\n" AT " f+0x1 [lab]\n" AT " g+0x2\n" AT " h+0x3 [m]\n",
	       "a call trace");
	begin();
	add(BB_FAULT, 1, PAIRS "stack=f+0x1[lab");
	is_log(HEAD AT "Call Trace:\n" AT " f+0x1 [lab]\n", "one that is cut");
	begin();
	add(BB_FAULT, 1, PAIRS "stack=f+0x1<");
	is_log(HEAD AT "Call Trace:\n" AT " f+0x1\n", "behind a name");
}

#define FAULT	    PAIRS
#define LINE(us, s) "us=" us " line=" s

static void test_which_fault(void)
{
	begin();
	add(BB_FAULT, 2, FAULT);
	is_log("", "a fault of another boot");
	begin();
	add(BB_FAULT, 1, FAULT);
	add(BB_FIXUP, 1, "");
	is_log("", "a fault that the kernel survived");
	begin();
	add(BB_FIXUP, 1, "");
	add(BB_FAULT, 1, FAULT);
	is_log(HEAD, "a fault behind one that it survived");
	begin();
	add(BB_FAULT, 1, FAULT);
	add(BB_STOP, 1, "");
	is_log("", "a fault before the recorder was stopped");
	begin();
	add(BB_FAULT, 1, PAIRS "symbol=f");
	add(BB_FAULT, 1, FAULT);
	is_log(HEAD, "the last of two faults");
	begin();
	add(BB_FAULT, 1, FAULT);
	add(BB_FIXUP, 2, "");
	is_log(HEAD, "a survived fault of another boot");
	begin();
	add(BB_FAULT, 1, FAULT);
	add(BB_OOPS, 1, LINE("2000003", "Oops"));
	is_log("[    2.000003] Oops\n", "a fault of which the log tells");
}

static void test_lines(void)
{
	begin();
	add(BB_CONSOLE, 1, LINE("1", "first"));
	add(BB_CONSOLE, 2, LINE("2", "other"));
	add(BB_CONSOLE, 1, "line=timeless");
	add(BB_CONSOLE, 1, "us=5");
	add(BB_CONSOLE, 1, LINE("12345678901", "last"));
	is_log("[    0.000001] first\n[12345.678901] last\n", "lines of the log");
	is_str(log_of(2), "[    0.000002] other\n", "of each boot");
	is_str(log_of(3), "", "a boot without records");
}

static void test_panics(void)
{
	begin();
	add(BB_PANIC, 1, LINE("3", "panic") " stack=f+0x1");
	add(BB_CONSOLE, 1, LINE("2", "line"));
	is_log("[    0.000002] line\n[    0.000003] panic\n" AT "Call Trace:\n" AT " f+0x1\n",
	       "a panic that the kernel did not log comes last, with its stack");
	add(BB_OOPS, 1, LINE("1", "oops"));
	is_log("[    0.000002] line\n[    0.000001] oops\n[    0.000003] panic\n",
	       "behind an oops, without a stack");
	begin();
	add(BB_PANIC, 1, "level=0 " LINE("3", "panic") " stack=f+0x1");
	add(BB_CONSOLE, 1, LINE("4", "line"));
	is_log("[    0.000003] panic\n[    0.000004] line\n", "the kernel's own line of a panic");
	begin();
	add(BB_FAULT, 1, FAULT);
	add(BB_PANIC, 1, LINE("3", "panic") " stack=f+0x1");
	add(BB_PANIC, 2, LINE("4", "panic") " stack=f+0x1");
	is_log(HEAD "[    0.000003] panic\n", "a panic behind a fault");
}

int main(void)
{
	test_faults();
	test_code();
	test_registers();
	test_stack();
	test_which_fault();
	test_lines();
	test_panics();
	begin();
	buf_free(&text);
	return tap_done();
}
