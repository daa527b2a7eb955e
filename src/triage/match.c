// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "triage/match.h"

#define NAME_MAX_BYTES 512

static bool is_name(char c)
{
	return is_letter(c) || is_digit(c) || c == '_' || c == '.' || c == '$';
}

/* Returns the length of a symbol's name. Names of Rust functions contain colons and brackets. */
static size_t name_length(struct str s)
{
	size_t at = 0;
	int depth = 0;

	if (str_at(s, 0) != '<' && str_at(s, 0) != '_' && str_at(s, 0) != '.' &&
	    !is_letter(str_at(s, 0)))
		return 0;
	for (; at < s.n && at < NAME_MAX_BYTES; at++) {
		char c = s.s[at];

		if (c == '<')
			depth++;
		else if (c == '>' && depth)
			depth--;
		else if (c == ':' && str_at(s, at + 1) == ':')
			at++;
		else if (depth ? !(is_name(c) || strchr(" :,&*", c)) : !is_name(c))
			break;
	}
	return depth || str_is(str_first(s, at), ".") ? 0 : at;
}

/* Parses an address "[<ffffffff81234567>]", "<ffffffff81234567>" or, on ppc, "[c0000000080]". */
static size_t bracketed(struct str s, uint64_t *ret)
{
	size_t at = 0, n;

	if (str_at(s, at) == '[')
		at++;
	if (str_at(s, at) == '<')
		at++;
	if (!at)
		return 0;
	n = str_hex(str_from(s, at), ret);
	if (n < 8)
		return 0;
	at += n;
	if (str_at(s, at) == '>')
		at++;
	if (str_at(s, at) == ']')
		at++;
	return at;
}

static bool is_module(char c)
{
	return is_letter(c) || is_digit(c) || c == '_' || c == '-';
}

/* Returns whether a text is an address in brackets, as in the next frame of a joined line. */
static bool is_address(struct str s)
{
	bool digit = false;

	for (size_t i = 0; i < s.n; i++) {
		if (!is_hex(s.s[i]))
			return false;
		digit |= is_digit(s.s[i]);
	}
	return digit && (s.n == 8 || s.n == 16);
}

/* Parses a module: " [mod]", or " [mod 1234abcd…]" with STACKTRACE_BUILD_ID (5.14+). */
static size_t module_parse(struct str s, struct str *ret)
{
	size_t at = 0, start, end;

	while (str_at(s, at) == ' ')
		at++;
	if (str_at(s, at) != '[' || at > 2)
		return 0;
	start = ++at;
	while (is_module(str_at(s, at)))
		at++;
	end = at;
	if (str_at(s, at) == ' ')
		while (at < s.n && s.s[at] != ']')
			at++;
	if (str_at(s, at) != ']' || end == start || is_digit(s.s[start]))
		return 0;
	if (str_is(str_first(str_from(s, start), end - start), "inline") ||
	    is_address(str_first(str_from(s, start), end - start)))
		return 0;
	*ret = str_first(str_from(s, start), end - start);
	return at + 1;
}

/* Returns whether a text starts with a place in the source: "drivers/net/a.c:12". */
static bool is_place(struct str s)
{
	struct str word = str_word(&s);
	long colon = str_find(word, ":");

	if (colon <= 2 || !is_digit(str_at(word, colon + 1)))
		return str_is(word, "??:?");
	word = str_first(word, colon);
	return str_ends(word, ".c") || str_ends(word, ".h") || str_ends(word, ".S") ||
	       str_ends(word, ".rs");
}

static size_t offset_parse(struct str s, struct frame *f)
{
	uint64_t value;
	size_t at = 1, n;

	if (str_at(s, 0) != '+' || !str_starts(str_from(s, 1), "0x"))
		return 0;
	n = str_hex(str_from(s, at), &value);
	if (!n)
		return 0;
	f->offset = value;
	at += n;
	if (str_at(s, at) != '/')
		return at;
	n = str_hex(str_from(s, at + 1), &value);
	if (!n)
		return at;
	f->size = value;
	return at + 1 + n;
}

/* Returns whether a label follows an address, as in "[<c04ac80f>] EFLAGS: …", "[<a>] lr : …". */
static bool is_label(struct str rest)
{
	size_t at = 0;

	while (str_at(rest, at) == ' ')
		at++;
	return str_at(rest, at) == ':' && str_at(rest, at + 1) != ':';
}

/*
 * Parses the place and module that scripts/decode_stacktrace.sh prints instead of the offset:
 * " (drivers/net/a.c:12 (discriminator 3) drivers/net/a.c:34) mod". Returns the length; 0: none.
 */
static size_t decoded_parse(struct str s, struct frame *f)
{
	size_t at = 1, start;
	int depth = 0;

	if (str_at(s, 0) != ' ' || str_at(s, 1) != '(')
		return 0;
	do {
		depth += s.s[at] == '(';
		depth -= s.s[at] == ')';
	} while (++at < s.n && depth);
	if (depth || !is_place(str_first(str_from(s, 2), at - 3)))
		return 0;
	f->decoded = true;
	start = at + 1;
	if (str_at(s, at) != ' ' || str_at(s, start) == '(')
		return at;
	if (str_at(s, start) == '[')
		return at + module_parse(str_from(s, at), &f->module);
	for (at = start; is_module(str_at(s, at)); at++)
		;
	if (at == start || (at < s.n && !is_blank(s.s[at])))
		return start - 1;
	f->module = str_first(str_from(s, start), at - start);
	return at;
}

/* Parses a module that x86-64 kernels before 2.6.29 print before the function, as in ":mod:f". */
static size_t prefix_parse(struct str s, struct str *ret)
{
	size_t n = 1;

	if (str_at(s, 0) != ':')
		return 0;
	while (is_module(str_at(s, n)))
		n++;
	if (str_at(s, n) != ':')
		return 0;
	*ret = str_first(str_from(s, 1), n - 1);
	return n + 1;
}

/*
 * Parses a function in braces, with a decimal offset, as printk_address() of arch/x86_64/kernel/
 * traps.c prints it before 2.6.18: "{:mod:f+12}". Returns the length; 0: none.
 */
static size_t braced_parse(struct str s, struct frame *f)
{
	struct str module = {};
	uint64_t offset = 0;
	size_t at, n;

	if (str_at(s, 0) != '{')
		return 0;
	at = 1 + prefix_parse(str_from(s, 1), &module);
	n = name_length(str_from(s, at));
	if (!n)
		return 0;
	f->function = str_first(str_from(s, at), n);
	f->module = module;
	at += n;
	if (str_at(s, at) == '+')
		at += 1 + str_decimal(str_from(s, at + 1), &offset);
	f->offset = offset;
	return at + (str_at(s, at) == '}');
}

size_t frame_parse(struct str s, struct frame *ret)
{
	struct frame f = {};
	uint64_t address = 0;
	size_t at = 0, n;

	while ((n = bracketed(str_from(s, at), &address))) {
		f.has_address = true;
		f.address = address;
		at += n;
		while (str_at(s, at) == ' ')
			at++;
	}
	n = f.has_address ? braced_parse(str_from(s, at), &f) : 0;
	if (n) {
		*ret = f;
		return at + n;
	}
	if (str_at(s, at) == ':') {
		n = prefix_parse(str_from(s, at), &f.module);
		if (!n)
			return 0;
		at += n;
	}
	if (str_starts(str_from(s, at), "0x")) {
		n = str_hex(str_from(s, at), &f.address);
		if (!n)
			return 0;
		f.has_address = true;
		*ret = f;
		return at + n;
	}
	n = name_length(str_from(s, at));
	if (n && f.has_address && is_label(str_from(s, at + n)))
		n = 0;
	if (!n) {
		if (!f.has_address)
			return 0;
		*ret = f;
		return at;
	}
	f.function = str_first(str_from(s, at), n);
	if (str_at(f.function, 0) == '.' && f.function.n > 1) /* ".f" is an entry point on ppc64 */
		f.function = str_from(f.function, 1);
	at += n;
	at += offset_parse(str_from(s, at), &f);
	at += module_parse(str_from(s, at), &f.module);
	if (!f.offset && !f.size && !f.module.n)
		at += decoded_parse(str_from(s, at), &f);
	*ret = f;
	return at;
}

/* Parses an address, or NULL as kernels printed it over the years: "(null)" padded, "<NULL>". */
static size_t address_parse(struct str s, uint64_t *ret)
{
	size_t at = 0, n;

	while (str_at(s, at) == ' ')
		at++;
	s = str_from(s, at);
	n = str_starts_any(s, "(null)|<NULL>|(nil)");
	if (n) {
		*ret = 0;
		return at + n;
	}
	n = str_hex(s, ret);
	return n && !is_name(str_at(s, n)) ? at + n : 0;
}

static size_t place_length(struct str s)
{
	size_t at = 0;

	while (at < s.n && !is_blank(s.s[at]) && !strchr(",!()\"%", s.s[at]))
		at++;
	return at;
}

static size_t number_take(struct str s, uint64_t *ret, bool *has)
{
	size_t n = str_decimal(s, ret);

	*has |= n > 0;
	return n;
}

/* Matches one conversion, such as %A. Returns the length of the matched text, or -1. */
static long convert(char what, struct str s, struct captures *c)
{
	uint64_t unused;
	size_t n;

	switch (what) {
	case 'A':
		n = address_parse(s, &c->address);
		c->has_address |= n > 0;
		break;
	case 'E':
		n = str_hex(s, &c->error);
		c->has_error |= n > 0;
		break;
	case 'X':
		n = str_hex(s, &unused);
		break;
	case 'R':
		n = str_hex(s, &c->range[c->ranges & 1]);
		c->ranges += n > 0;
		break;
	case 'P':
		n = number_take(s, &c->pid, &c->has_pid);
		break;
	case 'C':
		n = number_take(s, &c->cpu, &c->has_cpu);
		break;
	case 'N':
		n = number_take(s, &c->number, &c->has_number);
		break;
	case 'Z':
		n = number_take(s, &c->size, &c->has_size);
		break;
	case 'D':
		n = str_decimal(s, &unused);
		break;
	case 'F':
		n = frame_parse(s, &c->function);
		/* the directory of "drivers/net/a.c:12" is no function */
		if (str_at(s, n) == '/' || (str_at(s, n) == ':' && is_place(s)))
			n = 0;
		c->has_function |= n > 0;
		break;
	case 'G':
		n = frame_parse(s, &c->second);
		c->has_second |= n > 0;
		break;
	case 'L':
		n = place_length(s);
		c->place = str_first(s, n);
		break;
	case '!':
		n = str_starts_any(s, "WARNING: |BUG: |INFO: |[ BUG: |[ INFO: |[ WARNING: ");
		break;
	case '$':
		return str_trim(s).n ? -1 : 0;
	case '_':
		for (n = 0; is_blank(str_at(s, n)); n++)
			;
		return n;
	default:
		return -1;
	}
	return n ? (long)n : -1;
}

/* Matches %*, %S or %W with the shortest text after which the rest of the pattern matches. */
static bool lazily(char what, const char *rest, struct str s, struct captures *c)
{
	bool literal = *rest && *rest != '%', two = literal && rest[1] && rest[1] != '%';

	for (size_t n = what == '*' ? 0 : 1; n <= s.n; n++) {
		struct captures tried;

		if (what == 'W' && n && is_blank(s.s[n - 1]))
			return false;
		if (literal && (str_at(s, n) != *rest || (two && str_at(s, n + 1) != rest[1])))
			continue;
		tried = *c;
		if (!match(rest, str_from(s, n), &tried))
			continue;
		*c = tried;
		if (what == 'W')
			c->comm = str_first(s, n);
		else if (what == 'S')
			c->text = str_first(s, n);
		return true;
	}
	return false;
}

bool match(const char *pattern, struct str s, struct captures *ret)
{
	for (; *pattern; pattern++) {
		long n;

		if (*pattern != '%' || pattern[1] == '%') {
			pattern += *pattern == '%';
			if (!s.n || s.s[0] != *pattern)
				return false;
			s = str_from(s, 1);
			continue;
		}
		pattern++;
		if (*pattern == '*' || *pattern == 'S' || *pattern == 'W')
			return lazily(*pattern, pattern + 1, s, ret);
		n = convert(*pattern, s, ret);
		if (n < 0)
			return false;
		s = str_from(s, n);
	}
	return true;
}
