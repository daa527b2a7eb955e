// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "triage/unwrap.h"

#include "triage/match.h"
#include "triage/prefix.h"

#define WRAP_LEAST  60
#define WRAP_MOST   256
#define MAIL_MOST   120	 /* maximum columns at which mail programs break lines */
#define WIDTH_LINES 4096 /* number of lines examined to find the width of a terminal */
#define TERMINAL    80

size_t escape_end(struct str s, size_t at)
{
	size_t end = at + 2;

	if (str_at(s, at + 1) == '[') {
		while (end < s.n && !(s.s[end] >= '@' && s.s[end] <= '~'))
			end++;
		return end + 1;
	}
	if (str_at(s, at + 1) == ']') {
		while (end < s.n && s.s[end] != '\a')
			end++;
		return end + 1;
	}
	return end;
}

struct str next_raw(struct str *s)
{
	const char *nl = memchr(s->s, '\n', s->n);
	size_t n = nl ? (size_t)(nl - s->s) : s->n;
	struct str raw = str_first(*s, n);

	*s = str_from(*s, nl ? n + 1 : n);
	while (raw.n && (raw.s[raw.n - 1] == '\r' || !raw.s[raw.n - 1]))
		raw.n--;
	while (raw.n && (raw.s[0] == '\r' || !raw.s[0]))
		raw = str_from(raw, 1);
	return raw;
}

struct str unquoted(struct str raw)
{
	size_t at = 0;

	while (str_at(raw, at) == '>' ||
	       (at && str_at(raw, at) == ' ' && str_at(raw, at + 1) == '>'))
		at++;
	return at && is_blank(str_at(raw, at)) ? str_from(raw, at + 1) : raw;
}

bool has_prefix(const struct shapes *shapes, struct str raw)
{
	struct log_line unused = {};
	struct str s = str_first(unquoted(raw), 160);
	size_t at = 0;

	if (str_at(s, 0) == '\033')
		at = escape_end(s, 0);
	s = str_from(s, at);
	return shape_length(shapes, raw) || shape_length(shapes, s) ||
	       prefix_strip(&s, &unused) > 0;
}

bool is_continued(struct str line)
{
	return str_ends(line, " \\");
}

/* Returns whether a line begins as lines of reports do, so that it is no rest of another line. */
static bool begins_line(struct str s)
{
	struct frame f = {};

	if (str_starts_any(s,
			   "BUG: |Oops|CPU: |RIP: |EIP: |Code: |RSP: |RAX: |RDX: |RBP: |R10: |"
			   "R13: |FS: |GS: |CS: |CR2: |DR0: |DR3: |PKRU: |EAX: |ESI: |DS: |"
			   "Call Trace|Call trace|Modules linked|Hardware name|Workqueue: |---|"
			   "#PF: |PGD |P4D |general protection|WARNING: |Kernel panic|pc : |lr : |"
			   "sp : |pstate: |Internal error|Unable to|Tainted: |note: |<TASK>|"
			   "</TASK>|<IRQ>|</IRQ>|====|Read of size|Write of size|Allocated by|"
			   "Freed by|The buggy|which belongs|Kernel Offset|NIP |REGS: |MSR: |"
			   "CFAR: |GPR|LR |[<|? |NIP:|DAR: |ESR |  |Mem abort|Data abort|FSC "))
		return true;
	return frame_parse(s, &f) && f.size;
}

/* Returns whether a frame ends the line, so that only a module or a file may follow it. */
static bool ends_with_frame(struct str s)
{
	struct frame f = {};
	size_t at;

	s = str_trim(str_first(s, s.n - is_continued(s)));
	for (at = s.n; at && !is_blank(s.s[at - 1]) && s.s[at - 1] != ':'; at--)
		; /* "RIP: 0010:f+0x1/0x2" */
	return frame_parse(str_from(s, at), &f) && f.size;
}

/* Returns whether a text is only a module: "[drv]", or "[drv 1234abcd]" with a build ID. */
static bool is_module(struct str s)
{
	struct str name, id;

	s = str_trim(s);
	if (s.n < 3 || s.s[0] != '[' || s.s[s.n - 1] != ']' || !is_letter(s.s[1]))
		return false;
	s = str_first(str_from(s, 1), s.n - 2);
	name = str_word(&s);
	id = str_word(&s);
	for (size_t i = 0; i < id.n; i++)
		if (!is_hex(id.s[i]))
			return false;
	return name.n && !s.n;
}

/* Returns whether a text has only bytes of code: "48 8b <c7> 40", or only a module. */
static bool is_code_or_module(struct str code, struct str s)
{
	int bytes = 0;

	if (ends_with_frame(code))
		return is_module(s);
	while (s.n) {
		struct str word = str_word(&s);
		bool marked = str_at(word, 0) == '<' && str_at(word, 3) == '>';

		if (!word.n)
			break;
		if (word.n != (marked ? 4 : 2) || !is_hex(word.s[marked]) ||
		    !is_hex(word.s[marked + 1]))
			return false;
		bytes++;
	}
	return bytes && (str_has(code, "Code: ") || is_hex(str_at(str_trim(code), 0)));
}

/* Returns whether a frame's module ends the line without its build ID, which then follows. */
static bool is_build_id(struct str s, struct str rest)
{
	size_t at = 0;

	while (is_hex(str_at(rest, at)))
		at++;
	s = str_trim(s);
	for (size_t i = s.n; i && !is_blank(s.s[i - 1]); i--)
		if (s.s[i - 1] == '[')
			return at >= 16 && at + 1 == rest.n && rest.s[at] == ']';
	return false;
}

/* Returns whether a report's line goes on after `s`, whatever the width. */
static bool is_unfinished(struct str s, struct str rest)
{
	static const char *const ends[] = {
		" in", " for",	     " at",	  " address", " virtual",
		" by", ", address:", " address:", " Not",     " (stack is"};
	struct frame f = {};

	if (is_code_or_module(s, rest) || is_build_id(s, str_trim(rest)))
		return true;
	s = str_trim(s);
	/* " #1: ffff… (lock){+.+.}-{3:3}, at:", and the function on the next line */
	if (str_ends(s, ", at:") && frame_parse(rest, &f) && f.size)
		return true;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (str_ends(s, ends[i]) && (str_has(s, "BUG: ") || str_has(s, "Unable to ") ||
					     str_has(s, "CPU: ") || str_has(s, "general prot")))
			return true;
	/* "WARNING: CPU: 0 PID: 1 at file.c:12", and the function on the next line */
	return str_has(s, "WARNING: ") && str_has(s, " at ") && is_digit(str_at(s, s.n - 1)) &&
	       frame_parse(rest, &f) && f.size && !str_has(s, "+0x");
}

/* Returns how many columns a text takes: bytes 0x80 to 0xbf continue a character of UTF-8. */
static size_t columns_of(struct str s)
{
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++)
		n += ((unsigned char)s.s[i] & 0xc0) != 0x80;
	return n;
}

/* Returns whether a program wrote the line: "systemd[1]: Started …". */
static bool is_of_program(struct str s)
{
	struct str word = str_word(&s);
	long open = str_find(word, "[");

	return open > 0 && is_digit(str_at(word, open + 1)) && str_ends(word, "]:");
}

/*
 * A mail program breaks a line at the last blank before its width. So the width is between the
 * length of what it kept (*ret_low), and that length plus the next word (*ret_high). Returns
 * whether `raw` may be the rest of a line.
 */
static bool is_rest(const struct shapes *shapes, bool prefixed, struct str before, struct str raw,
		    size_t *ret_low, size_t *ret_high)
{
	struct str bare = unquoted(raw), rest = bare;

	if (!raw.n || is_blank(bare.s[0]) || !before.n || (prefixed && has_prefix(shapes, raw)) ||
	    (!prefixed && begins_line(bare)) || is_of_program(bare) ||
	    (ends_with_frame(before) && bare.s[0] != '[' && !str_has(bare, ":")))
		return false;
	while (before.n && is_blank(before.s[before.n - 1]))
		before.n--;
	*ret_low = columns_of(before);
	*ret_high = *ret_low + columns_of(str_word(&rest));
	return true;
}

/* Finds the width that explains most breaks. */
static void find_mail(struct wrap *w, const struct shapes *shapes, struct str data)
{
	uint32_t votes[MAIL_MOST + 2] = {}, longer[MAIL_MOST + 2] = {};
	size_t lines = 0, words = 0, columns = 0, most = 0, last = 0;
	struct str before = {}, whole = data;

	while (data.n && lines++ < WIDTH_LINES) {
		struct str raw = next_raw(&data);
		size_t low = 0, high = 0;

		if (raw.n)
			longer[raw.n < MAIL_MOST ? raw.n : MAIL_MOST]++;
		if (is_rest(shapes, w->prefixed, before, raw, &low, &high) && low <= MAIL_MOST)
			for (size_t i = low < WRAP_LEAST ? WRAP_LEAST : low;
			     i <= high && i <= MAIL_MOST; i++)
				votes[i]++;
		before = raw;
	}
	for (size_t i = WRAP_LEAST; i <= MAIL_MOST; i++)
		if (votes[i] > most) {
			most = votes[i];
			w->mail = i;
		}
	if (!most)
		return;
	for (size_t i = w->mail + 1; i <= MAIL_MOST; i++)
		last += longer[i];
	/* Without prefixes, only a log in which hardly a line is longer was broken. */
	if (!w->prefixed && (most < 2 || last * 8 > most))
		w->mail = 0;
	/* A terminal breaks each line at the same column, not at blanks. */
	before = (struct str){};
	for (lines = 0, data = whole; data.n && lines < WIDTH_LINES; lines++) {
		struct str raw = next_raw(&data);
		size_t low = 0, high = 0;

		if (is_rest(shapes, w->prefixed, before, raw, &low, &high) && high >= w->mail &&
		    low <= w->mail) {
			words += before.n != w->mail;
			columns += before.n == w->mail;
		}
		before = raw;
	}
	if (columns > words)
		w->mail = 0;
}

void wrap_find(struct wrap *ret, const struct shapes *shapes, struct str data)
{
	size_t count[WRAP_MOST + 1] = {}, codes[WRAP_MOST + 1] = {};
	size_t lines = 0, prefixed = 0, longest = 0;
	struct str whole = data;

	*ret = (struct wrap){};
	while (data.n) {
		struct str raw = next_raw(&data);

		if (!raw.n)
			continue;
		lines++;
		if (raw.n > longest)
			longest = raw.n;
		if (raw.n <= WRAP_MOST) {
			count[raw.n]++;
			/* "Code: " lines are equally long even if no terminal broke them. */
			codes[raw.n] += str_has(raw, "Code: ");
		}
		if (lines <= WIDTH_LINES && has_prefix(shapes, raw))
			prefixed++;
	}
	if (lines > WIDTH_LINES)
		lines = WIDTH_LINES;
	ret->prefixed = lines && prefixed * 5 >= lines * 2;
	find_mail(ret, shapes, whole);
	if (ret->mail)
		return;
	if (longest == TERMINAL && ret->prefixed)
		ret->terminal = longest;
	else if (longest >= WRAP_LEAST && longest <= WRAP_MOST && count[longest] > codes[longest] &&
		 count[longest] >= (longest == TERMINAL ? 2 : 3))
		ret->terminal = longest;
}

bool wrap_broke(const struct wrap *w, const struct shapes *shapes, struct str before,
		struct str raw)
{
	bool flowed = before.n && is_blank(before.s[before.n - 1]);
	size_t low, high;

	if (is_continued(before))
		return raw.n && !has_prefix(shapes, raw);
	if (!is_rest(shapes, w->prefixed, before, raw, &low, &high))
		return is_unfinished(before, unquoted(raw)) && !has_prefix(shapes, raw);
	if (w->prefixed && flowed)
		return true;
	return (w->mail && low <= w->mail && high >= w->mail) ||
	       is_unfinished(before, unquoted(raw));
}
