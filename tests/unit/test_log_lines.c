// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests how kernel messages are extracted from the formats of loggers, terminals and test robots.
 * Checks each line of the logs. Also compares a checksum over the results for many damaged copies
 * of each log.
 */
#include <stdlib.h>

#include "sums.h"
#include "triage/lines.h"

#define OOPS "BUG: kernel NULL pointer dereference, address: 0000000000000018"

/*
 * A log, and the expected values of its first line. `level` is -1 if the line has none. `caller` is
 * a task ID or, for a CPU, -2 minus the number of the CPU. It is -1 if the line names neither.
 */
static const struct row {
	const char *log, *text;
	int level, caller;
	double seconds; /* timestamp in seconds; -1 if the line has none */
	bool user;
} rows[] = {
	{OOPS, OOPS, -1, -1, -1, false},
	{"<1>" OOPS, OOPS, 1, -1, -1, false},
	{"<14>" OOPS, OOPS, 6, -1, -1, false},
	{"<1234>" OOPS, "<1234>" OOPS, -1, -1, -1, false},
	{"[   12.345678] " OOPS, OOPS, -1, -1, 12.345678, false},
	{"[12.345] " OOPS, OOPS, -1, -1, 12.345, false},
	{"[12.34] " OOPS, "[12.34] " OOPS, -1, -1, -1, false},
	{"[12.123456789] " OOPS, OOPS, -1, -1, 12.123456789, false},
	{"[    0.048509 ] " OOPS, OOPS, -1, -1, 0.048509, false},
	{"[   12.345678@3] " OOPS, OOPS, -1, -1, 12.345678, false},
	{"[   12.345678 <    0.000010>] " OOPS, OOPS, -1, -1, 12.345678, false},
	{"<4>[   12.345678][ T123] " OOPS, OOPS, 4, 123, 12.345678, false},
	{"[   12.345678][    C3] " OOPS, OOPS, -1, -5, 12.345678, false},
	{"[   12.345678][    T0 ] " OOPS, OOPS, -1, 0, 12.345678, false},
	{"[Fri Nov 20 09:41:02 2026] " OOPS, OOPS, -1, -1, -1, false},
	{"[Nov20 09:41] " OOPS, OOPS, -1, -1, -1, false},
	{"[  +0.000012] " OOPS, OOPS, -1, -1, -1, false},
	{"kern  :alert : [   12.345678] " OOPS, OOPS, 1, -1, 12.345678, false},
	{"local7:debug : " OOPS, OOPS, 7, -1, -1, false},
	{"4,1234,5678901,-;" OOPS, OOPS, 4, -1, 5.678901, false},
	{"12,1234,5678901,-,caller=T12;" OOPS, OOPS, 4, 12, 5.678901, false},
	{"4,1234,5678901,-,caller=C2;" OOPS, OOPS, 4, -4, 5.678901, false},
	{"4,1234,5678901,-,ncfrag=0/80;" OOPS, OOPS, 4, -1, 5.678901, false},
	{"Nov 20 09:41:01 host kernel: [   12.345678] " OOPS, OOPS, -1, -1, 12.345678, false},
	{"Nov  2 9:41:01 kernel: " OOPS, OOPS, -1, -1, -1, false},
	{"Nov 20 09:41:01 host kern.warn kernel: " OOPS, OOPS, -1, -1, -1, false},
	{"Nov 20 09:41:01 host systemd[1]: " OOPS, OOPS, -1, -1, -1, true},
	{"Nov 20 09:41:01 host program: " OOPS, OOPS, -1, -1, -1, true},
	{"2026-11-20T09:41:01.593360+01:00 host kernel: " OOPS, OOPS, -1, -1, -1, false},
	{"2026-11-20T09:41:01Z host kernel: " OOPS, OOPS, -1, -1, -1, false},
	{"2018/01/09 14:28:48 " OOPS, OOPS, -1, -1, -1, false},
	{"2018/01/09 14:28:48 host program: x", "host program: x", -1, -1, -1, false},
	{"2018/01/09 14:28:48 host program[7]: x", "x", -1, -1, -1, true},
	{"Fri 2026-11-20 09:41:02 UTC host kernel: " OOPS, OOPS, -1, -1, -1, false},
	{"Fri 2026-11-20 09:41:02 +02 host kernel: " OOPS, OOPS, -1, -1, -1, false},
	{"1795000000.123456 host kernel: " OOPS, OOPS, -1, -1, -1, false},
	{"> > [   12.345678] " OOPS, OOPS, -1, -1, 12.345678, false},
	{">> " OOPS, OOPS, -1, -1, -1, false},
	{">ffff: 00 00", ">ffff: 00 00", -1, -1, -1, false},
	{"db-17 kernel: " OOPS, OOPS, -1, -1, -1, false},
	{"buildroot login: [   12.345678] " OOPS, OOPS, -1, -1, 12.345678, false},
	{"<0>.(1)[123:comm]" OOPS, OOPS, 0, -1, -1, false},
	{"** 93 printk messages dropped ** [   12.345678] " OOPS, OOPS, -1, -1, 12.345678, false},
	{"\033[1;31m[   12.345678]\033[0m " OOPS, OOPS, -1, -1, 12.345678, false},
	{"\033]0;title\a" OOPS, OOPS, -1, -1, -1, false},
	{"RIP: a&lt;b&gt;&amp;&quot;&#39;&#x27;\tc\001", "RIP: a<b>&\"'' c", -1, -1, -1, false},
	{"{\"MESSAGE\":\"a\\tb\\u0041\\\"\",\"PRIORITY\":\"3\",\"_TRANSPORT\":\"kernel\","
	 "\"_SOURCE_MONOTONIC_TIMESTAMP\":\"12345678\"}",
	 "a bA\"", 3, -1, 12.345678, false},
	{"{\"MESSAGE\":\"x\",\"_TRANSPORT\":\"syslog\"}", "x", -1, -1, -1, true},
	{"{\"SYSLOG_IDENTIFIER\":\"sshd\",\"MESSAGE\":\"x\"}", "x", -1, -1, -1, true},
	{"{\"MESSAGE\" : [66, 85,71]}", "BUG", -1, -1, -1, false},
	{"- {\"dt\": \"2020\", \"lvl\": \"target\", \"msg\": \"[   12.345678] x\"}", "x", -1, -1,
	 12.345678, false},
	{"__CURSOR=s=1\nMESSAGE=x\nPRIORITY=2\n_TRANSPORT=kernel\n"
	 "_SOURCE_MONOTONIC_TIMESTAMP=12345678\n\nMESSAGE=y\n_TRANSPORT=stdout\n",
	 "x", 2, -1, 12.345678, false},
	{"{\n   \"dmesg\": [\n      {\n         \"pri\": 1,\n         \"time\":    12.345678,\n"
	 "         \"msg\": \"" OOPS "\"\n      },{\n         \"pri\": 6,\n"
	 "         \"time\":    13.000001,\n         \"msg\": \"y\"\n      }\n   ]\n}\n",
	 OOPS, 1, -1, 12.345678, false},
	{"Fri 2026-11-20 09:41:02.123456 UTC [s=1;i=2]\n    PRIORITY=4\n    _TRANSPORT=kernel\n"
	 "    MESSAGE=x\nFri 2026-11-20 09:41:03.123456 UTC [s=1;i=3]\n    PRIORITY=5\n"
	 "    _TRANSPORT=syslog\n    MESSAGE=y\n",
	 "x", 4, -1, -1, false},
	{"{\n\t\"__CURSOR\" : \"s=1\",\n\t\"MESSAGE\" : \"x\\ny\",\n\t\"PRIORITY\" : \"3\",\n"
	 "\t\"_TRANSPORT\" : \"kernel\",\n\t\"_SOURCE_MONOTONIC_TIMESTAMP\" : \"12345678\"\n}\n"
	 "{\n\t\"MESSAGE\" : [ 65, 66 ],\n\t\"_TRANSPORT\" : \"audit\"\n}\n",
	 "xy", 3, -1, 12.345678, false},
	{"Oops#1 Part2\n<4>[   12.000001] first\nOops#1 Part1\n<4>[   12.000002] second\n", "first",
	 4, -1, 12.000001, false},
	{"Panic#2 Part1\n<4>[   12.000002] second\nPanic#2 Part2\n<4>[   12.000001] first\n"
	 "Panic#3 Part1\n<4>[   14.000001] third\n",
	 "first", 4, -1, 12.000001, false},
};

/*
 * Logs in which several input lines form one message, or one input line contains several messages.
 */
static const char *const more[] = {
	"[   12.345678] one[   12.345679] two[   12.345680] three\n",
	"4,1,5678901,-;one \n4,2,5678902,+;and on\n4,3,5678903,c;next\n",
	"4,1,5678901,-,ncfrag=0/20;one begin\n4,1,5678901,-,ncfrag=9/20; its end\n",
	"[   12.345678] one\r\n[   12.345679] two\r[   12.345680] three\r\r\n\n\n",
	"[   12.345678] a line of a terminal that is just as wide as it may be, and so it is\n"
	" broken\n[   12.345679] a line of a terminal that is just as wide as it may be, and so i\n"
	"s another\n[   12.345680] a line of a terminal that is just as wide as it may be, again \n"
	"as well\n[   12.345681] short\n",
	"[   12.345678] a mail program breaks lines where a word does not fit into\nthem\n"
	"[   12.345679] as this one is broken, because the next word would not\nfitinthere\n"
	"[   12.345680] short\n[   12.345681] again\n",
	"...\\n\"}\nx\"},\n\"}\n{\"msg\"}\n{}\n{\"msg\":5}\n",
};

static void mix_lines(uint64_t *sum, const char *data, size_t size)
{
	/* The memory block has the size of the log: sanitizers report a read beyond it. */
	char *copy = malloc(size + !size);
	struct triage_input in = {.name = "log", .data = copy, .size = size};
	struct lines ls;

	if (!copy)
		exit(99);
	memcpy(copy, data, size);
	if (lines_read(&ls, &in, 1))
		exit(99);
	free(copy);
	mix(sum, ls.n);
	mix(sum, ls.lost_lines + ls.lost_bytes);
	mix(sum, ls.dropped);
	mix(sum, ls.parts);
	for (size_t i = 0; i < ls.n; i++) {
		const struct log_line *l = &ls.line[i];

		for (size_t k = 0; k < l->text.n; k++)
			mix(sum, (unsigned char)l->text.s[k]);
		mix(sum, l->text.n);
		mix(sum, l->number);
		mix(sum, l->level);
		mix(sum, l->caller);
		mix(sum, l->user | l->timed << 1 | l->fragment << 2 | l->continues << 3);
		mix(sum, l->timed && l->seconds < 1e12 ? l->seconds * 1e6 + 0.5 : 0);
	}
	lines_free(&ls);
}

/*
 * Adds to the checksum the log itself, and damaged copies of it. Some copies lack a byte, others
 * have a changed byte or are truncated.
 */
static void mix_damaged(uint64_t *sum, const char *log)
{
	static const char others[] = "0 :.]T;\n\"-[,>";
	size_t n = strlen(log);
	char s[2048];

	mix_lines(sum, log, n);
	for (size_t i = 0; i < n; i++) {
		memcpy(s, log, i);
		memcpy(s + i, log + i + 1, n - i);
		mix_lines(sum, s, n - 1);
		mix_lines(sum, s, i);
		for (size_t k = 0; k < 3; k++) {
			memcpy(s, log, n);
			s[i] = others[(i * 5 + k * 4 + n) % (sizeof(others) - 1)];
			mix_lines(sum, s, n);
		}
	}
}

static void test_row(const struct row *row)
{
	struct triage_input in = {.name = "log", .data = row->log, .size = strlen(row->log)};
	const struct log_line *l;
	struct lines ls;
	bool timed = row->seconds >= 0;

	if (lines_read(&ls, &in, 1))
		exit(99);
	l = ls.line;
	ok(ls.n && l->text.n == strlen(row->text) && !memcmp(l->text.s, row->text, l->text.n) &&
		   l->level == row->level && l->caller == row->caller && l->user == row->user &&
		   l->timed == timed &&
		   (!timed ||
		    (l->seconds > row->seconds - 1e-9 && l->seconds < row->seconds + 1e-9)),
	   "%.60s", row->log);
	if (ls.n)
		printf("#   \"%.*s\", level %d, caller %d, %s%f s%s\n", STR_ARG(l->text), l->level,
		       l->caller, l->timed ? "" : "no time ", l->seconds, l->user ? ", user" : "");
	lines_free(&ls);
}

/* Tests the journal export format. The 8-byte size of a message precedes its line feeds. */
static void test_binary(void)
{
	static const char log[] = "__REALTIME_TIMESTAMP=1\nMESSAGE\n\x04\0\0\0\0\0\0\0x\nyz\n"
				  "PRIORITY=3\n\nMESSAGE=next\n\n";
	struct triage_input in = {.name = "log", .data = log, .size = sizeof(log) - 1};
	struct lines ls;

	if (lines_read(&ls, &in, 1))
		exit(99);
	ok(ls.n == 2 && ls.line[0].text.n == 3 && !memcmp(ls.line[0].text.s, "xyz", 3) &&
		   ls.line[0].level == 3 && ls.line[0].number == 6,
	   "a message of journal export with a line feed");
	ok(ls.n == 2 && ls.line[1].text.n == 4 && ls.line[1].number == 8 && ls.line[1].level == -1,
	   "and the one after it");
	for (size_t i = 0; i < ls.n; i++)
		printf("#   %u: \"%.*s\", level %d\n", ls.line[i].number, STR_ARG(ls.line[i].text),
		       ls.line[i].level);
	lines_free(&ls);
}

int main(void)
{
	struct sum sums[] = {
		{"logs of one format, damaged", SUM_BEGINS, 0x390fe5b327c44a4e},
		{"lines that belong together, damaged", SUM_BEGINS, 0xace9c579a83cef3e},
		{"formats one after the other", SUM_BEGINS, 0x9a26911ec485297c},
	};
	char both[4096];

	test_binary();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		test_row(&rows[i]);
		mix_damaged(&sums[0].got, rows[i].log);
	}
	for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++)
		mix_damaged(&sums[1].got, more[i]);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
			snprintf(both, sizeof(both), "%s\n%s\n", rows[i].log, rows[k].log);
			mix_lines(&sums[2].got, both, strlen(both));
		}
	are_sums(sums, sizeof(sums) / sizeof(sums[0]));
	return tap_done();
}
