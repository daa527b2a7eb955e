// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "triage/recognise.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "triage/facts.h"
#include "triage/signature.h"

#define STREAMS_MAX   64
#define SILENCE_MOST  120 /* maximum number of other lines between two lines of a report */
#define SILENCE_ASIDE 40
#define CUT_MOST      3 /* maximum number of lines from "cut here" to a report's header */
#define RAN_SECONDS   10

/* maximum number of lines from a report's first line to the last that names its kind */
#define HEAD_MOST 24
/*
 * A log may begin in the middle of a report. In the first BEGINNING lines, a report therefore needs
 * no header.
 */
#define BEGINNING 400

/* The log lines of one task or CPU. Without CONFIG_PRINTK_CALLER there is only one stream. */
struct stream {
	int32_t caller;
	long event; /* index in `r` of the report being read; -1: none */
	struct reading reading;
	uint32_t used; /* index of the stream's last line */
};

struct state {
	struct recognised *r;
	const struct lines *ls;
	struct signature_index index;
	struct stream stream[STREAMS_MAX];
	size_t streams;
	long last;     /* index in `r` of the newest report; -1: none */
	size_t begins; /* index of the first line of the current input */
	uint32_t cut;  /* index after the last "cut here" line; 0: none */
	bool ran;      /* the kernel ran for RAN_SECONDS: a later boot message means that it died */
	bool asked;    /* registers were requested (sysrq, debugger): no crash */
};

static struct stream *stream_of(struct state *s, int32_t caller, uint32_t line)
{
	struct stream *oldest = &s->stream[0];

	for (size_t i = 0; i < s->streams; i++) {
		if (s->stream[i].caller == caller) {
			s->stream[i].used = line;
			return &s->stream[i];
		}
		if (s->stream[i].used < oldest->used)
			oldest = &s->stream[i];
	}
	if (s->streams < STREAMS_MAX)
		oldest = &s->stream[s->streams++];
	*oldest = (struct stream){.caller = caller, .event = -1, .used = line};
	return oldest;
}

static struct incident *incident_open(struct state *s, struct stream *st, uint32_t line)
{
	const struct log_line *l = &s->ls->line[line];
	struct recognised *r = s->r;
	struct incident *e = array_grow(r->event, r->n, &r->room, INCIDENTS_MAX, sizeof(*e));

	if (!e) {
		r->lost++;
		st->event = -1;
		return NULL;
	}
	r->event = e;
	e = &r->event[r->n];
	memset(e, 0, sizeof(*e));
	e->first = e->last = line;
	e->caller = l->caller;
	e->timed = l->timed;
	e->seconds = l->seconds;
	st->event = s->last = r->n++;
	st->reading = (struct reading){};
	return e;
}

/* Returns the rank of a kind of report. A kind of higher rank replaces others in one report. */
static int kind_rank(enum kind k)
{
	switch (k) {
	case KIND_NONE:
		return 0;
	case KIND_UNKNOWN:
	case KIND_WARNING:
	case KIND_OTHER:
	case KIND_PANIC:
	case KIND_INTERNAL_ERROR:
		return 1;
	case KIND_INVALID_OPCODE:
	case KIND_BUG:
		return 2;
	case KIND_PAGING_REQUEST:
		return 3;
	default:
		return 4;
	}
}

static void header_fill(struct incident *e, const struct signature *sig, const struct captures *c)
{
	if (kind_rank(sig->kind) > kind_rank(e->kind)) {
		e->kind = sig->kind;
		e->signature = sig;
	}
	e->fatal |= sig->flags & SIG_FATAL;
	if (e->access == ACCESS_NONE)
		e->access = sig->access;
	if (c->has_address && !e->has_address) {
		e->has_address = true;
		e->address = c->address;
	}
	if (c->has_error && !e->has_error) {
		e->has_error = true;
		e->error = c->error;
	}
	if (c->has_number && !e->number)
		e->number = c->number;
	if (c->has_size && !e->size)
		e->size = c->size;
	if (c->has_cpu && !e->has_cpu) {
		e->has_cpu = true;
		e->cpu = c->cpu;
	}
	if (c->has_pid && !e->has_pid) {
		e->has_pid = true;
		e->pid = c->pid;
	}
	if (c->has_function && !e->said.n && c->function.function.n)
		e->said = c->function.function;
	if (c->has_function && !e->has_printed_frame) {
		e->printed_frame = c->function;
		e->has_printed_frame = true;
	}
	if (c->ranges == 2 && !e->has_range) {
		e->has_range = true;
		e->range_low = c->range[0];
		e->range_high = c->range[1];
	}
	if (c->text.n && !e->detail.n)
		e->detail = c->text;
	if (c->place.n && !e->place.n)
		e->place = c->place;
}

/* Returns the architecture whose kernels alone print this line; ARCH_UNKNOWN if several do. */
static enum arch arch_of(const struct signature *sig)
{
	static const struct {
		const char *name;
		enum arch arch;
	} names[] = {
		{"riscv", ARCH_RISCV},
		{"s390", ARCH_S390},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(sig->kernels, names[i].name))
			return names[i].arch;
	if (str_ends(str_of(sig->kernels), " ppc") || !strcmp(sig->kernels, "ppc"))
		return ARCH_PPC;
	if (str_ends(str_of(sig->kernels), " arm64") && !strstr(sig->kernels, "arm "))
		return ARCH_ARM64;
	return ARCH_UNKNOWN;
}

/* Returns whether an oops begins as in __die() of arch/arm/kernel/traps.c since 3.2. */
static bool says_arm(struct str s)
{
	return str_starts(s, "Internal error: ") && (str_ends(s, " ARM") || str_ends(s, " THUMB2"));
}

/*
 * Returns whether the line with the number of an oops is there again, before the registers: the
 * kernel prints it once, but a console may show it twice.
 */
static bool repeats_number(const struct incident *e, const struct signature *sig,
			   const struct captures *c)
{
	return e->number && !e->has_ip && !e->nr_frames &&
	       (c->has_number ? c->number == e->number : sig->kind == KIND_INTERNAL_ERROR);
}

static bool joins(const struct state *s, const struct stream *st, const struct signature *sig,
		  const struct captures *c, uint32_t line)
{
	const struct incident *e;

	if (st->event < 0)
		return false;
	e = &s->r->event[st->event];
	/* a symbolizer repeats the line for each function that was inlined */
	if (e->signature == sig && line - e->last <= 2 &&
	    str_ends(str_trim(s->ls->line[line - 1].text), "[inline]"))
		return true;
	if (!(sig->flags & SIG_JOIN))
		return false;
	if (kind_is_precursor(e->kind))
		return false;
	if (e->headless && !e->number && (sig->flags & SIG_FATAL))
		return true;
	if (repeats_number(e, sig, c))
		return line - e->first <= HEAD_MOST * 2;
	/* Up to 3.8, "Hardware name:" is printed before the reason of a warning. */
	if ((sig->flags & SIG_NOTE) && e->kind == KIND_WARNING && !e->modules_line &&
	    !e->nr_frames && !e->note.n)
		return line - e->first <= HEAD_MOST;
	if (st->reading.body || st->reading.silence > HEAD_MOST)
		return false;
	/* The first line of the warning appears again, so a second warning begins. */
	if (e->signature == sig && !(sig->flags & SIG_NOTE) && e->kind != KIND_GPF)
		return false;
	return line - e->first <= HEAD_MOST * 2;
}

/* Returns whether the line is a panic that only ends an earlier report; updates that report. */
static bool wraps(struct state *s, struct stream *st, const struct signature *sig, uint32_t line)
{
	struct incident *e;

	if (s->last < 0)
		return false;
	/*
	 * A panic within a report is a consequence of the reported error, whatever the panic's text
	 * says.
	 */
	if (!(sig->flags & SIG_WRAPPER) &&
	    !(sig->kind == KIND_PANIC && st->event >= 0 && st->reading.silence < HEAD_MOST &&
	      !s->r->event[st->event].ended))
		return false;
	if (st->event < 0)
		st->event = s->last;
	e = &s->r->event[st->event];
	if (kind_is_precursor(e->kind))
		return false;
	if (kind_rank(sig->kind) > kind_rank(e->kind) && e->headless) {
		e->kind = sig->kind;
		e->signature = sig;
	}
	e->panicked = true;
	e->last = line;
	incident_state(e, line);
	if (st->reading.e == NULL)
		st->reading.main_seen = e->nr_frames > 0;
	st->reading.silence = 0;
	return true;
}

/*
 * Stores a message of one line as a report of its own. The lines around it belong to another
 * report, which continues.
 */
static void aside(struct state *s, const struct stream *st, const struct signature *sig,
		  const struct captures *c, uint32_t line)
{
	struct stream other = {.caller = st->caller, .event = -1};
	long last = s->last;
	struct incident *e = incident_open(s, &other, line);

	s->last = last;
	if (!e)
		return;
	header_fill(e, sig, c);
	incident_state(e, line);
}

/*
 * Finds the page fault to which an "Oops:" line belongs. The report of another CPU may be between
 * the two.
 */
static struct incident *waits_for(struct state *s, const struct signature *sig, uint32_t line)
{
	if (strcmp(sig->pattern, "Oops: %E [#%N]"))
		return NULL;
	for (size_t i = s->r->n; i-- > 0;) {
		struct incident *e = &s->r->event[i];

		if (line - e->first > SILENCE_MOST * 2)
			return NULL;
		if ((e->kind == KIND_NULL_DEREF || e->kind == KIND_PAGING_REQUEST) && !e->number &&
		    e->has_address && !e->has_ip && !e->nr_frames && !e->has_error)
			return e;
	}
	return NULL;
}

/*
 * Returns whether the first line of a report stands within the first lines of another one, whose
 * instruction and trace are still to come. Then, another CPU prints at the same time.
 */
static bool cuts_into(const struct state *s, const struct stream *st, const struct signature *sig,
		      uint32_t line)
{
	const struct incident *e = st->event < 0 ? NULL : &s->r->event[st->event];

	return e && e->fatal && (sig->flags & SIG_FATAL) && s->ls->line[line].caller == -1 &&
	       !e->ended && !e->has_ip && !e->nr_frames && !e->number &&
	       line - e->first <= HEAD_MOST && sig->kind != KIND_PANIC;
}

static void header_take(struct state *s, struct stream *st, const struct signature *sig,
			const struct captures *c, uint32_t line)
{
	struct incident *e, *interrupted;

	if (sig->flags & SIG_BENIGN ||
	    ((sig->flags & SIG_CUT) && (!s->cut || line >= s->cut + CUT_MOST)) ||
	    ((sig->flags & SIG_REBOOT) && (!s->ran || s->last >= 0)))
		return;
	if (wraps(s, st, sig, line))
		return;
	interrupted = waits_for(s, sig, line);
	if (joins(s, st, sig, c, line)) {
		e = &s->r->event[st->event];
	} else if (interrupted) {
		e = interrupted;
		st->event = e - s->r->event;
		st->reading = (struct reading){};
	} else if ((sig->flags & SIG_ASIDE) && st->event >= 0 &&
		   st->reading.silence < SILENCE_ASIDE) {
		aside(s, st, sig, c, line);
		return;
	} else {
		bool cuts = cuts_into(s, st, sig, line);
		long before = st->event;

		e = incident_open(s, st, line);
		if (!e)
			return;
		if (cuts)
			e->interleaved = s->r->event[before].interleaved = true;
		if (s->cut && line > s->cut && line < s->cut + CUT_MOST)
			e->message = s->ls->line[s->cut].text;
	}
	header_fill(e, sig, c);
	if (e->arch == ARCH_UNKNOWN)
		e->arch = arch_of(sig);
	if (e->arch == ARCH_UNKNOWN && says_arm(str_trim(s->ls->line[line].text)))
		e->arch = ARCH_ARM;
	e->debug_pagealloc |= str_has(s->ls->line[line].text, " DEBUG_PAGEALLOC");
	if (sig->flags & SIG_NOTE)
		e->note = s->ls->line[line].text;
	e->last = line;
	incident_state(e, line);
	st->reading.silence = 0;
}

/* Returns whether only faults print this line, so that it reveals a report without a header. */
static bool is_remnant(struct str s)
{
	s = str_trim(s);
	if (str_starts_any(s, "#PF: |RIP: 0010:|RIP: e030:|EIP: 0060:|Internal error"))
		return true;
	/* In reports about user space, these lines have a number instead of a symbol. */
	if (str_starts_any(s, "EIP is at |pc : |PC is at |NIP [|epc : "))
		return str_has(s, "+0x");
	/* exception classes of arm64 for faults in the kernel itself */
	return str_starts_any(s, "EC = 0x25:|EC = 0x21:");
}

static bool opens_headless(const struct state *s, struct str text, uint32_t line)
{
	return s->last < 0 && !s->asked && line - s->begins < BEGINNING && is_remnant(text);
}

/* Returns whether another CPU's backtrace begins, which the report of a hang requested. */
static bool answers(const struct state *s, const struct stream *st, struct str text)
{
	if (s->last < 0 || s->r->event[s->last].kind != KIND_HANG)
		return false;
	if (st->event >= 0 && st->event == s->last)
		return false;
	return str_starts(text, "NMI backtrace for cpu ") && !str_has(text, "skipped");
}

static bool is_damage_report(struct str s)
{
	return str_starts_any(s, "BUG: |Oops|Unable to handle kernel|Kernel panic|kernel BUG");
}

static bool ends_report(struct str s)
{
	return str_starts_any(s, "---[ end trace|---[ end Kernel panic");
}

static void line_judge(struct state *s, uint32_t i)
{
	const struct log_line *l = &s->ls->line[i];
	struct stream *st;
	struct captures c;
	const struct signature *sig;
	struct str text = str_trim(l->text);
	struct incident *e;

	if (l->user || !text.n)
		return;
	if (str_starts_any(text, "------------[ cut here|------------ cut here"))
		s->cut = i + 1;
	if (str_starts_any(text, "sysrq: |SysRq : |NMI backtrace for cpu"))
		s->asked = true;
	if (l->timed && l->seconds > RAN_SECONDS)
		s->ran = true;
	if (str_starts_any(text, "reboot: |Restarting system|"
				 "ACPI: PM: Preparing to enter system sleep state S5"))
		s->ran = false;
	if (str_starts(text, "Linux version ")) {
		struct str rest = str_from(text, 14);

		s->r->release = str_word(&rest);
		for (size_t k = 0; k < s->streams; k++)
			s->stream[k].event = -1;
	}
	st = stream_of(s, l->caller, i);
	sig = signature_find(&s->index, text, &c);
	if (sig) {
		header_take(s, st, sig, &c, i);
		return;
	}
	if (answers(s, st, text)) {
		st->event = s->last;
		st->reading = (struct reading){.main_seen = s->r->event[s->last].nr_frames > 0,
					       .body = true};
	}
	if (st->event < 0 && opens_headless(s, text, i)) {
		e = incident_open(s, st, i);
		if (e)
			e->headless = true;
	}
	if (st->event < 0) {
		if (is_damage_report(text) && !s->r->unknown++)
			s->r->unknown_line = i;
		return;
	}
	e = &s->r->event[st->event];
	if (ends_report(text)) {
		e->ended = true;
		e->last = i;
		st->reading.section = SECTION_OTHER;
		if (e->regs.known)
			st->reading.regs_shut = true;
		else
			st->reading.regs_shut = false;
		return;
	}
	st->reading.e = e;
	if (facts_take(&st->reading, text, i)) {
		e->last = i;
		e->strange += st->reading.silence;
		st->reading.silence = 0;
	} else if (++st->reading.silence > SILENCE_MOST) {
		st->event = -1;
	}
}

/*
 * Returns whether a program, not the kernel, may have printed the line: it has no kernel prefix,
 * and no further lines of a report follow.
 */
static bool is_hearsay(const struct incident *e, const struct log_line *l)
{
	return e->signature && (e->signature->flags & SIG_LAST) && e->first == e->last &&
	       !l->timed && l->level < 0 && !e->nr_frames && !e->has_ip && !e->comm.n;
}

static void drop_hearsay(struct recognised *r, const struct lines *ls)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->n; i++) {
		struct incident *e = &r->event[i];

		if (!is_hearsay(e, &ls->line[e->first])) {
			r->event[kept++] = *e;
			continue;
		}
		if (!r->unknown++)
			r->unknown_line = e->first;
		incident_free(e);
	}
	r->n = kept;
}

/* Completes truncated reports from other reports and from the "Linux version" line. */
static void fill_gaps(struct recognised *r)
{
	enum arch arch = ARCH_UNKNOWN;

	for (size_t i = 0; i < r->n; i++)
		if (arch == ARCH_UNKNOWN)
			arch = r->event[i].arch;
	for (size_t i = 0; i < r->n; i++) {
		struct incident *e = &r->event[i];

		if (e->arch == ARCH_UNKNOWN)
			e->arch = arch;
		if (!e->kernel.n)
			e->kernel = r->release;
		if (e->headless && e->kind == KIND_NONE)
			e->kind = KIND_UNKNOWN;
		/* Registers end at r15 and there is no ESR: this is a 32-bit arm kernel. */
		if (e->arch == ARCH_ARM64 && e->regs.known && !(e->regs.known >> 16) && !e->has_esr)
			e->arch = ARCH_ARM;
	}
}

int recognise(struct recognised *ret, const struct lines *ls)
{
	struct recognised r = {};
	struct state *s = calloc(1, sizeof(*s));
	uint16_t input = UINT16_MAX;

	if (!s)
		return -ENOMEM;
	s->r = &r;
	s->ls = ls;
	s->last = -1;
	signature_index_make(&s->index);
	for (size_t i = 0; i < ls->n; i++) {
		if (ls->line[i].input != input) {
			input = ls->line[i].input;
			s->begins = i;
		}
		line_judge(s, i);
	}
	drop_hearsay(&r, ls);
	fill_gaps(&r);
	free(s);
	*ret = r;
	return 0;
}

void recognised_free(struct recognised *r)
{
	for (size_t i = 0; i < r->n; i++)
		incident_free(&r->event[i]);
	free(r->event);
	memset(r, 0, sizeof(*r));
}
