// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests which parts of a kernel log a redacted report hides: addresses in memory and of hosts. */
#include <string.h>

#include "base/buf.h"
#include "render/crash/crash_view.h"
#include "tap.h"

static const struct {
	const char *text, *want;
} cases[] = {
	{"at ffff888012345678.", "at <address>."},
	{"0xffff888012345678", "0x<address>"},
	{"RDI: 0000000000000010 RSI: 0", "RDI: <address> RSI: 0"},
	{"12345678", "<address>"},
	{"1234567", "1234567"},
	{"<ffffffffc0100000>", "<<address>>"},
	{"addr=ffff888012345678,x", "addr=<address>,x"},
	{"FFFF888012345678", "<address>"},
	/* parts of names */
	{"deadbeef_fn+0x10", "deadbeef_fn+0x10"},
	{"free_deadbeef01", "free_deadbeef01"},
	{"xdeadbeef01", "xdeadbeef01"},
	{"n1deadbeef01", "n1deadbeef01"},
	{"ffff888012345678g", "ffff888012345678g"},
	{"_12345678", "_12345678"},
	/* hosts */
	{"from 10.0.4.9 port 22", "from <host> port 22"},
	{"10.0.4.9:80", "<host>:80"},
	{"255.255.255.255", "<host>"},
	{"lost 10.0.4.9.", "lost <host>."},
	{"256.0.0.1", "256.0.0.1"},
	{"1.2.3", "1.2.3"},
	{"1.2.3.4.5", "1.2.3.4.5"},
	{"1.2.3.1234", "1.2.3.1234"},
	{"v1.2.3.4", "v1.2.3.4"},
	{"1.2.3.x", "1.2.3.x"},
	{"", ""},
};

int main(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buf b = {};

		triage_redact(&b, (struct str){cases[i].text, strlen(cases[i].text)});
		is_str(b.s ? b.s : "", cases[i].want, cases[i].text);
		buf_free(&b);
	}
	return tap_done();
}
