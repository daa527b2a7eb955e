// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "triage/prefix.h"

#define PREFIXES_MAX 12

static size_t skip_blanks(struct str s, size_t at)
{
	while (is_blank(str_at(s, at)))
		at++;
	return at;
}

static size_t skip_digits(struct str s, size_t at)
{
	while (is_digit(str_at(s, at)))
		at++;
	return at;
}

/* Parses a level "<4>", as in the syslog protocol and in printk's records. */
static size_t take_level(struct str s, struct log_line *l)
{
	uint64_t priority; /* syslog priority: facility * 8 + level */
	size_t n = str_at(s, 0) == '<' ? str_decimal(str_from(s, 1), &priority) : 0;

	if (!n || n > 3 || str_at(s, 1 + n) != '>')
		return 0;
	/* in a dump of code, the marked byte begins a line that a mail program broke: "<48> 89 71"
	 */
	if (str_at(s, 2 + n) == ' ' && is_hex(str_at(s, 3 + n)) && is_hex(str_at(s, 4 + n)) &&
	    str_at(s, 5 + n) == ' ')
		return 0;
	l->level = priority & 7;
	return n + 2;
}

/* Skips text that precedes "]" in a time: "@3", a CPU (Amlogic), or " < 0.000010>" (dmesg -d). */
static size_t skip_beside_time(struct str s, size_t at)
{
	if (str_at(s, at) == '@')
		at = skip_digits(s, at + 1);
	at = skip_blanks(s, at);
	if (str_at(s, at) != '<')
		return at;
	at = skip_digits(s, skip_blanks(s, at + 1));
	if (str_at(s, at) == '.')
		at = skip_digits(s, at + 1);
	return str_at(s, at) == '>' ? at + 1 : at;
}

/* Parses a time: "[ 12.345678]", "[ 0.048509 ]", or with a wrong clock "[2001021079.622495]". */
static size_t take_time(struct str s, struct log_line *l)
{
	uint64_t whole, part = 0;
	size_t at = skip_blanks(s, 1), n, digits;
	double scale = 1;

	if (str_at(s, 0) != '[')
		return 0;
	n = str_decimal(str_from(s, at), &whole);
	if (!n || str_at(s, at + n) != '.')
		return 0;
	at += n + 1;
	digits = str_decimal(str_from(s, at), &part);
	if (digits < 3 || digits > 9)
		return 0;
	at = skip_beside_time(s, at + digits);
	if (str_at(s, at) != ']')
		return 0;
	while (digits--)
		scale *= 10;
	l->timed = true;
	l->seconds = whole + part / scale;
	return at + 1;
}

/* Parses the task or CPU "[ T123]", "[ C3]" of CONFIG_PRINTK_CALLER, 15ff2069cb7f (5.1). */
static size_t take_caller(struct str s, struct log_line *l)
{
	size_t at = skip_blanks(s, 1), n;
	uint64_t id;
	char what = str_at(s, at);

	if (str_at(s, 0) != '[' || (what != 'T' && what != 'C'))
		return 0;
	n = str_decimal(str_from(s, at + 1), &id);
	if (!n || n > 8)
		return 0;
	at = skip_blanks(s, at + 1 + n);
	if (str_at(s, at) != ']')
		return 0;
	l->caller = what == 'T' ? (int32_t)id : -2 - (int32_t)id;
	return at + 1;
}

static bool is_month(struct str s)
{
	return str_starts_any(s, "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|"
				 "JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC");
}

/* Returns the length of a time of day, "09:41:02" with or without a fraction; 0: none. */
static size_t clock_length(struct str s)
{
	size_t at = skip_digits(s, 0);

	if (at < 1 || at > 2 || str_at(s, at) != ':' || !is_digit(str_at(s, at + 1)) ||
	    !is_digit(str_at(s, at + 2)) || str_at(s, at + 3) != ':')
		return 0;
	at += 4;
	if (!is_digit(str_at(s, at)) || !is_digit(str_at(s, at + 1)))
		return 0;
	at += 2;
	if ((str_at(s, at) == '.' || str_at(s, at) == ',') && is_digit(str_at(s, at + 1)))
		at = skip_digits(s, at + 1);
	return at;
}

/* Parses a date of dmesg -T: "[Fri Nov 20 09:41:02 2026]"; such dates are too coarse to use. */
static size_t take_human_time(struct str s, struct log_line *l)
{
	size_t at = 1, n;

	if (str_at(s, 0) != '[' || !is_letter(str_at(s, 1)) || str_at(s, 4) != ' ' ||
	    !is_month(str_from(s, 5)))
		return 0;
	at = skip_digits(s, skip_blanks(s, 8));
	at = skip_blanks(s, at);
	n = clock_length(str_from(s, at));
	if (!n)
		return 0;
	at = skip_digits(s, skip_blanks(s, at + n));
	return str_at(s, at) == ']' ? at + 1 : 0;
}

/* Parses a time of dmesg -e or -H: "[Nov20 09:41] ", "[  +0.000012] ". */
static size_t take_relative_time(struct str s, struct log_line *l)
{
	size_t at = skip_blanks(s, 1);

	if (str_at(s, 0) != '[')
		return 0;
	if (str_at(s, at) == '+') {
		at = skip_digits(s, at + 1);
		if (str_at(s, at) == '.')
			at = skip_digits(s, at + 1);
	} else if (at == 1 && is_month(str_from(s, 1)) && is_digit(str_at(s, 4))) {
		at = skip_blanks(s, skip_digits(s, 4));
		at = skip_digits(s, at);
		if (str_at(s, at) != ':')
			return 0;
		at = skip_digits(s, at + 1);
	} else {
		return 0;
	}
	return str_at(s, at) == ']' ? at + 1 : 0;
}

/* Parses facility and level of dmesg -x: "kern  :alert : ". */
static size_t take_facility(struct str s, struct log_line *l)
{
	static const char *const facility[] = {"kern",	   "user",   "mail",   "daemon", "auth",
					       "syslog",   "lpr",    "news",   "uucp",	 "cron",
					       "authpriv", "ftp",    "local0", "local1", "local2",
					       "local3",   "local4", "local5", "local6", "local7"};
	static const char *const level[] = {"emerg", "alert",  "crit", "err",
					    "warn",  "notice", "info", "debug"};
	size_t at = 0;
	bool known = false;

	while (is_letter(str_at(s, at)) || is_digit(str_at(s, at)))
		at++;
	for (size_t i = 0; i < sizeof(facility) / sizeof(facility[0]); i++)
		known |= str_is(str_first(s, at), facility[i]);
	at = skip_blanks(s, at);
	if (!known || str_at(s, at) != ':')
		return 0;
	at++;
	for (int i = 0; i < 8; i++) {
		if (!str_starts(str_from(s, at), level[i]))
			continue;
		at = skip_blanks(s, at + strlen(level[i]));
		if (str_at(s, at) != ':')
			return 0;
		l->level = i;
		return at + 1;
	}
	return 0;
}

/* Parses the header of a /dev/kmsg or netconsole record: "4,1234,5678901,-;…", "…,caller=T12;". */
static size_t take_record(struct str s, struct log_line *l)
{
	uint64_t level, sequence, usec;
	size_t a, b, c, at;
	long caller, fragment;

	a = str_decimal(s, &level);
	if (!a || str_at(s, a) != ',')
		return 0;
	b = str_decimal(str_from(s, a + 1), &sequence);
	if (!b || str_at(s, a + 1 + b) != ',')
		return 0;
	c = str_decimal(str_from(s, a + b + 2), &usec);
	at = a + b + c + 2;
	if (!c || str_at(s, at) != ',')
		return 0;
	while (at < s.n && s.s[at] != ';' && at < 96)
		at++;
	if (str_at(s, at) != ';')
		return 0;
	/* '+' marks pr_cont() up to 4.9; "ncfrag=" marks a part of a long line (netconsole). */
	l->continues = s.s[a + b + c + 3] == '+';
	fragment = str_find(str_first(s, at), "ncfrag=");
	l->fragment = fragment >= 0;
	if (fragment >= 0 && str_decimal(str_from(s, fragment + 7), &sequence))
		l->continues |= sequence > 0;
	caller = str_find(str_first(s, at), "caller=");
	if (caller >= 0 && str_decimal(str_from(s, caller + 8), &sequence))
		l->caller = s.s[caller + 7] == 'T' ? (int32_t)sequence : -2 - (int32_t)sequence;
	l->level = level & 7;
	l->timed = true;
	l->seconds = usec / 1e6;
	return at + 1;
}

/* Returns the length of a weekday before a date ("Fri ", journalctl -o short-full); 0: none. */
static size_t weekday_length(struct str s)
{
	return str_starts_any(s, "Mon |Tue |Wed |Thu |Fri |Sat |Sun ");
}

/* Returns the length of a time zone after a date (" UTC", " CEST", " +02"); 0: none. */
static size_t zone_length(struct str s)
{
	size_t at = 1;

	if (str_at(s, 0) != ' ')
		return 0;
	if (str_at(s, at) == '+' || str_at(s, at) == '-')
		at = skip_digits(s, at + 1);
	while (str_at(s, at) >= 'A' && str_at(s, at) <= 'Z')
		at++;
	return at > 2 && str_at(s, at) == ' ' ? at : 0;
}

/* Returns the length of a date such as "2026-11-20T09:41:01.593360+01:00 "; 0: none. */
static size_t date_length(struct str s)
{
	size_t at = skip_digits(s, 0), n;
	char sep = str_at(s, 4);

	if (at != 4 || (sep != '-' && sep != '/') || str_at(s, 7) != sep || !is_digit(str_at(s, 8)))
		return 0;
	at = skip_digits(s, 8);
	if (str_at(s, at) != 'T' && str_at(s, at) != ' ')
		return 0;
	n = clock_length(str_from(s, at + 1));
	if (!n)
		return 0;
	at += 1 + n;
	if (str_at(s, at) == 'Z')
		at++;
	else if (str_at(s, at) == '+' || str_at(s, at) == '-')
		while (is_digit(str_at(s, at + 1)) || str_at(s, at + 1) == ':')
			at++;
	if (is_digit(str_at(s, at)) || (at < s.n && !is_blank(s.s[at])))
		at++;
	return at;
}

static bool is_host(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!is_letter(s.s[i]) && !is_digit(s.s[i]) && !strchr(".-_:@", s.s[i]))
			return false;
	return s.n > 0;
}

/*
 * Parses host and program after a date: "host kernel: ", "host kern.warn kernel: ", "host
 * systemd[1]: ". Text in any other form belongs to the kernel's message. If the date is not in
 * syslog's format (`sure` is false), the date may be the clock of a test robot. After such a date,
 * a program is accepted only with a pid, because the text "Internal error: " must not count as host
 * and program.
 */
static size_t take_host(struct str s, struct log_line *l, bool sure)
{
	struct str rest = s, host, word;
	size_t n;

	host = str_word(&rest);
	if (!is_host(host))
		return 0;
	if (str_ends(host, ":")) /* no host: "Nov 20 09:41:02 kernel: " */
		word = host;
	else
		word = str_word(&rest);
	if (word.n > 2 && word.s[word.n - 1] != ':' && str_has(word, "."))
		word = str_word(&rest);
	if (word.n < 2 || word.s[word.n - 1] != ':' || !is_letter(word.s[0]))
		return 0;
	n = rest.s - s.s;
	if (str_is(word, "kernel:") || str_is(word, "KERNEL:") || str_starts(word, "kernel["))
		return n;
	if (str_has(word, "[") || (sure && host.s != word.s)) {
		l->user = true;
		return n;
	}
	return 0;
}

/* Parses a syslog prefix: "Nov 20 09:41:01 host kernel: ", or with "2026-11-20T09:41:01+01:00". */
static size_t take_syslog(struct str s, struct log_line *l)
{
	bool sure = is_month(s) && is_blank(str_at(s, 3));
	size_t at, n;

	if (sure) {
		at = skip_digits(s, skip_blanks(s, 3));
		at = skip_blanks(s, at);
		n = clock_length(str_from(s, at));
		if (!n)
			return 0;
		at += n;
	} else {
		size_t day = weekday_length(s);

		at = date_length(str_from(s, day));
		if (!at)
			return 0;
		at += day;
		if (day)
			at += zone_length(str_from(s, at));
	}
	at = skip_blanks(s, at);
	return at + take_host(str_from(s, at), l, sure);
}

/* Parses a prefix of journalctl -o short-unix: "1795000000.123456 host kernel: ". */
static size_t take_unix(struct str s, struct log_line *l)
{
	size_t at = skip_digits(s, 0), n;

	if (at < 9 || at > 10 || str_at(s, at) != '.')
		return 0;
	at = skip_digits(s, at + 1);
	if (str_at(s, at) != ' ')
		return 0;
	n = take_host(str_from(s, at + 1), l, true);
	return n ? at + 1 + n : 0;
}

/* Parses the "> " or ">> " of a quoted mail. KASAN shadow dumps have no blank after '>'. */
static size_t take_quote(struct str s, struct log_line *l)
{
	size_t at = 0;

	while (str_at(s, at) == '>' || (at && str_at(s, at) == ' ' && str_at(s, at + 1) == '>'))
		at++;
	return at && (at == s.n || is_blank(s.s[at])) ? at : 0;
}

/* Parses "kernel: " of journalctl -o cat with a tag, or "db-17 kernel: " without time. */
static size_t take_kernel(struct str s, struct log_line *l)
{
	long at = str_find(str_first(s, 96), "kernel: ");

	if (at < 0 || (at && (!is_blank(s.s[at - 1]) || !is_host(str_first(s, at - 1)))))
		return 0;
	return at + 7;
}

/* Parses a notice of lost messages, such as "** 93 printk messages dropped **". */
static size_t take_dropped(struct str s, struct log_line *l)
{
	long end;

	if (!str_starts(s, "** "))
		return 0;
	end = str_find(str_from(s, 3), " **");
	if (end < 0 || !str_has(str_first(s, end + 3), "printk message"))
		return 0;
	return end + 6;
}

/* Parses a getty's prompt on the console before the kernel's text: "buildroot login: ". */
static size_t take_login(struct str s, struct log_line *l)
{
	long at = str_find(str_first(s, 80), " login: ");

	return at > 0 && is_host(str_first(s, at)) ? at + 8 : 0;
}

/* Parses a prefix of some vendors' kernels: ".(1)[123:comm]" or "(1)[123:comm]". */
static size_t take_vendor(struct str s, struct log_line *l)
{
	size_t at = str_at(s, 0) == '.' ? 1 : 0, n;
	uint64_t id;

	if (str_at(s, at) != '(')
		return 0;
	n = str_decimal(str_from(s, at + 1), &id);
	if (!n || n > 3 || str_at(s, at + 1 + n) != ')' || str_at(s, at + 2 + n) != '[')
		return 0;
	at += n + 3;
	while (at < s.n && s.s[at] != ']' && at < 64)
		at++;
	return str_at(s, at) == ']' ? at + 1 : 0;
}

int prefix_strip(struct str *text, struct log_line *l)
{
	static size_t (*const takes[])(struct str s, struct log_line * l) = {
		take_level,  take_time,		 take_caller, take_human_time, take_facility,
		take_record, take_syslog,	 take_kernel, take_dropped,    take_login,
		take_vendor, take_relative_time, take_unix,   take_quote,
	};
	struct str s = *text;
	int found = 0;

	for (int i = 0; i < PREFIXES_MAX; i++) {
		struct str bare = str_from(s, skip_blanks(s, 0));
		size_t n = 0;

		for (size_t t = 0; t < sizeof(takes) / sizeof(takes[0]) && !n; t++)
			n = takes[t](bare, l);
		if (!n)
			break;
		/* a program with the kernel's time after it passed on the kernel's console */
		if (l->user && take_time(bare, l) == n)
			l->user = false;
		s = str_from(bare, n);
		found++;
	}
	if (found && str_at(s, 0) == ' ' && !l->continues)
		s = str_from(s, 1);
	*text = s;
	return found;
}

long prefix_inside(struct str text)
{
	struct log_line unused = {};

	for (size_t at = 1; at + 8 < text.n; at++) {
		if (text.s[at] != '[')
			continue;
		if (!is_digit(text.s[at + 1]) && !is_blank(text.s[at + 1]))
			continue;
		if (take_time(str_from(text, at), &unused))
			return at;
	}
	return -1;
}
