// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "triage/facts.h"

/* Parses an arm frame: "[<a>] (f) from [<b>] (g+0x1/0x2)" or "f from g+0x1/0x2 [mod]". */
static bool frame_from(struct str s, struct frame *ret)
{
	struct frame f = {}, g;
	size_t at;
	long from = str_find(s, " from ");

	if (from < 0)
		return false;
	if (!frame_parse(str_trim(str_from(s, from + 6)), &g) || (!g.size && !g.has_address))
		return false;
	at = frame_parse(s, &f);
	if (str_at(s, at) == '(' || str_at(s, at + 1) == '(') {
		struct frame named = {};

		at += str_at(s, at) == '(' ? 1 : 2;
		at += frame_parse(str_from(s, at), &named);
		named.address = f.address;
		named.has_address = f.has_address;
		f = named;
		if (str_at(s, at) == ')')
			at++;
	}
	while (at < (size_t)from && is_blank(str_at(s, at)))
		at++;
	/* the whole text before " from " is the frame, unlike in "Kernel Offset: 0x0 from 0x1" */
	if (!f.function.n || (long)at < from || (long)at > from + 1)
		return false;
	*ret = f;
	return true;
}

/* Parses a test robot's inlined frame: "f+0x1/0x2 file.c:12 [inline]" or "[inline] f file.c:12". */
static bool frame_inlined(struct str s, struct frame *ret)
{
	struct frame f = {};
	size_t at;

	if (str_starts(s, "[inline] "))
		s = str_from(s, 9);
	else if (!str_ends(s, " [inline]"))
		return false;
	at = frame_parse(s, &f);
	if (!at || !f.function.n || str_at(s, at) != ' ')
		return false;
	f.inlined = true;
	*ret = f;
	return true;
}

/* Returns whether a text may follow a frame: flags " (P)", a build ID, a file, "(unreliable)". */
static bool tail_fits(struct str tail)
{
	tail = str_trim(tail);
	if (!tail.n || tail.s[0] == '(' || tail.s[0] == ')' || tail.s[0] == '[')
		return true;
	return str_has(tail, ":") && !str_has(tail, " ");
}

static bool trace_frame(struct str text, bool in_trace, struct frame *ret)
{
	struct str s = str_trim(text);
	struct frame f = {};
	bool doubtful = false;
	size_t at;

	if (str_starts(s, "(["))
		s = str_from(s, 1);
	if (str_starts(s, "([<"))
		s = str_from(s, 1);
	if (str_starts(s, "? ")) {
		doubtful = true;
		s = str_from(s, 2);
	}
	if (frame_inlined(s, ret) || frame_from(s, ret)) {
		ret->unreliable |= doubtful;
		return true;
	}
	at = frame_parse(s, &f);
	if (!at)
		return false;
	while (is_blank(str_at(s, at)))
		at++;
	if (!f.function.n && f.has_address && str_starts(str_from(s, at), "? ")) {
		struct frame named = {};

		doubtful = true;
		at += 2;
		at += frame_parse(str_from(s, at), &named);
		named.address = f.address;
		named.has_address = true;
		f = named;
	}
	if (str_has(str_from(s, at), "(unreliable)"))
		doubtful = true;
	/*
	 * A return address at the first byte of a function follows a call that never returns, such
	 * as that of panic(). The caller is the function before, whose name is not printed.
	 */
	if (f.size && !f.offset)
		doubtful = true;
	f.unreliable = doubtful;
	if (!tail_fits(str_from(s, at)))
		return false;
	if (!f.function.n && !(in_trace && f.has_address))
		return false;
	if (f.function.n && !f.size && !f.has_address && !f.decoded)
		return false;
	*ret = f;
	return true;
}

/* Removes the first frame from a line with several frames in braces: "<a>{f+12} <b>{g+3}". */
static struct str next_braced(struct str *s)
{
	long end = str_at(*s, 0) == '<' || str_at(*s, 0) == '[' ? str_find(*s, "}") : -1;
	struct str first = end < 0 ? *s : str_first(*s, end + 1);

	*s = str_from(*s, first.n);
	return first;
}

enum opens {
	OPENS_TRACE,
	OPENS_ALLOC,
	OPENS_FREE,
	OPENS_OTHER,
	OPENS_MAIN,
	OPENS_CPU,
	OPENS_ASIDE,
	OPENS_LOCK,
	OPENS_NONE
};

/* Lines that precede the frames of a trace, or frames that are skipped. */
static const struct {
	const char *pattern;
	enum opens opens;
} sections[] = {
#define SECTION(pattern, opens) {pattern, OPENS_##opens},
#include "triage/sections.def"
};

static void frame_keep(struct reading *r, const struct frame *f, uint32_t line)
{
	struct frame *added;

	added = incident_frame_add(r->e);
	if (!added)
		return;
	*added = *f;
	added->part = r->part;
	added->irq = r->irq;
	added->line = line;
}

static bool has_main(const struct incident *e)
{
	for (uint32_t i = 0; i < e->nr_frames; i++)
		if (e->frame[i].part == PART_MAIN)
			return true;
	return false;
}

static void section_open(struct reading *r, enum opens opens, const struct captures *c,
			 uint32_t line)
{
	r->section = SECTION_TRACE;
	r->irq = false;
	switch (opens) {
	case OPENS_ALLOC:
		r->part = PART_ALLOC;
		break;
	case OPENS_FREE:
		r->part = PART_FREE;
		break;
	case OPENS_MAIN:
		r->part = r->main_seen ? PART_OTHER : PART_MAIN;
		r->main_seen = true;
		break;
	case OPENS_ASIDE:
		/* The next trace is of a task that is not at fault, such as the kthread of RCU. */
		r->section = SECTION_OTHER;
		r->aside = true;
		break;
	case OPENS_LOCK:
		r->part = PART_LOCK;
		break;
	case OPENS_TRACE:
		r->part = r->aside || (r->main_seen && has_main(r->e)) ? PART_OTHER : PART_MAIN;
		r->main_seen |= !r->aside;
		r->aside = false;
		break;
	case OPENS_CPU:
		/*
		 * One CPU has requested backtraces of others. The first trace is that of the CPU
		 * that hangs.
		 */
		r->section = SECTION_OTHER;
		r->aside = false;
		break;
	case OPENS_OTHER:
		r->part = PART_OTHER;
		break;
	case OPENS_NONE:
		r->section = SECTION_OTHER;
		break;
	}
	if (c->has_function && (r->part == PART_ALLOC || r->part == PART_FREE))
		frame_keep(r, &c->function, line);
}

/* Removes marks such as "<IRQ>", "</IRQ>", "<NMI>", "<TASK>" before a frame; sets r->irq. */
static struct str context_marks(struct reading *r, struct str s)
{
	static const struct {
		const char *mark;
		int irq; /* interrupt frames: 1: begin here, 0: end here, -1: neither */
	} marks[] = {
#define MARK(mark, irq) {mark, irq},
#include "triage/sections.def"
	};

again:
	s = str_trim(s);
	for (size_t i = 0; str_at(s, 0) == '<' && i < sizeof(marks) / sizeof(marks[0]); i++) {
		if (!str_starts(s, marks[i].mark))
			continue;
		if (marks[i].irq >= 0)
			r->irq = marks[i].irq;
		s = str_from(s, strlen(marks[i].mark));
		goto again;
	}
	return s;
}

static bool section_begins(struct reading *r, struct str s, uint32_t line)
{
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		const char *p = sections[i].pattern;
		struct captures c;

		if (p[0] != '%' && (p[0] != str_at(s, 0) || p[1] != str_at(s, 1)))
			continue;
		memset(&c, 0, sizeof(c));
		if (!match(sections[i].pattern, s, &c))
			continue;
		section_open(r, sections[i].opens, &c, line);
		return true;
	}
	return false;
}

/* Finds the line that KCSAN prints instead of "Call Trace:": "write to 0x… of 8 bytes by …". */
static bool access_begins(struct reading *r, struct str s)
{
	struct captures c = {};

	if (!match("read to %A of %Z bytes by %*", s, &c) &&
	    !match("write to %A of %Z bytes by %*", s, &c) &&
	    !match("read-write to %A of %Z bytes by %*", s, &c) &&
	    !match("race at unknown origin, with %*", s, &c))
		return false;
	if (r->e->kind != KIND_KCSAN)
		return false;
	r->part = r->main_seen ? PART_OTHER : PART_MAIN;
	r->section = SECTION_TRACE;
	r->main_seen = true;
	return true;
}

/* Keeps all frames of a line. Returns false if the line has none. */
static bool frames_keep(struct reading *r, struct str s, uint32_t line)
{
	struct frame f;
	bool any = false;

	while (s.n && trace_frame(next_braced(&s), r->section == SECTION_TRACE, &f)) {
		if (r->section != SECTION_TRACE) {
			/* Without a "Call Trace:" line, frames are the main trace of the report. */
			if (r->section == SECTION_OTHER && r->main_seen)
				return true;
			r->section = SECTION_TRACE;
			r->part = r->main_seen && r->part == PART_MAIN ? PART_OTHER : r->part;
			r->main_seen = true;
		}
		frame_keep(r, &f, line);
		any = true;
		s = context_marks(r, s);
	}
	return any;
}

bool trace_section(struct reading *r, struct str text, uint32_t line)
{
	struct str bare = context_marks(r, text);

	if (!bare.n)
		return text.n > 0;
	if (section_begins(r, bare, line)) {
		/* the first frame may be on this line: "Call Trace: [<c0123456>] f+0x1/0x2" */
		long at = str_find(bare, "race:");

		if (at >= 0 && r->section == SECTION_TRACE)
			frames_keep(r, context_marks(r, str_from(bare, at + 5)), line);
		return true;
	}
	return access_begins(r, bare) || frames_keep(r, bare, line);
}
