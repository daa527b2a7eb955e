// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdarg.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/overhead.h"
#include "base/units.h"
#include "render/doctor_report.h"
#include "render/style.h"

#define NAME_COLUMN  2
#define STATE_COLUMN 16
#define HOW_COLUMN   23
#define TIER_COLUMN  38
#define LABEL_COLUMN 6
#define TEXT_COLUMN  13
#define VALUE_COLUMN 36

static enum style style_of(const struct report_hook *h)
{
	return h->state == HOOK_ON    ? STYLE_PLAIN
	       : h->state == HOOK_OFF ? STYLE_DIM
	       : h->core	      ? STYLE_CRITICAL
				      : STYLE_WARNING;
}

/* Writes a labelled line such as "      cost   +98 ns", or nothing if there is no text. */
static void write_labelled(struct buf *b, const struct view *v, const char *label, const char *text)
{
	struct line l = {.v = v};

	if (!text || !*text)
		return;
	line_pad(&l, LABEL_COLUMN);
	line_printf(&l, "%s", label);
	line_pad(&l, TEXT_COLUMN);
	line_printf(&l, "%s", text);
	line_wrap_at(&l, b, STYLE_PLAIN, TEXT_COLUMN);
}

/* Writes a command on one line, of any length, so that users can copy it. */
static void write_command(struct buf *b, const struct view *v, const char *label,
			  const char *command)
{
	struct buf safe = {};

	if (!command || !*command)
		return;
	buf_safe(&safe, command, v->unicode);
	buf_printf(b, "%*s%-*s%s\n", LABEL_COLUMN, "", TEXT_COLUMN - LABEL_COLUMN, label,
		   safe.s ? safe.s : "");
	buf_end_part(b, &safe);
}

/* Formats a median and its quartiles in the median's unit, such as "350 ns" or "1.2 us". */
static void cost_text(const struct cost *c, const char *sign, char *ret, size_t size)
{
	double unit = c->median < 1000 ? 1 : 1000;
	int digits = c->median / unit < 100 ? 1 : 0;

	if (!c->measured)
		snprintf(ret, size, "%s: %s", c->said, c->why);
	else
		snprintf(ret, size, "%s%.*f %s (%.*f to %.*f) %s", sign, digits, c->median / unit,
			 unit > 1 ? "us" : "ns", digits, c->low / unit, digits, c->high / unit,
			 c->said);
}

static void write_costs(struct buf *b, const struct view *v, const struct report *r,
			const struct report_hook *h)
{
	bool is_scan = !strcmp(h->name, "scan");
	char text[256];

	for (size_t i = 0; i < h->costs; i++) {
		const struct cost *c = &h->cost[i];

		/*
		 * if a probe is unavailable, none of its costs was measured: write the reason once
		 */
		if (i && !strcmp(c->why, h->cost[0].why) && *c->why && h->state != HOOK_ON)
			continue;
		if (h->state != HOOK_ON || (h->costs == 1 && !c->measured))
			snprintf(text, sizeof(text), "%s", c->why);
		/*
		 * a cost that a probe adds to an operation has "+" before it; the cost of a scan
		 * has none
		 */
		else
			cost_text(c, is_scan ? "" : "+", text, sizeof(text));
		if (is_scan && c->measured)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), " of %zu",
				 r->processes);
		write_labelled(b, v, i ? "" : "cost", text);
	}
}

static void write_hook(struct buf *b, const struct view *v, const struct report *r,
		       const struct report_hook *h)
{
	struct line l = {.v = v};

	line_pad(&l, NAME_COLUMN);
	line_printf(&l, "%s", h->name);
	line_pad(&l, STATE_COLUMN);
	line_printf(&l, "%s", hook_state_name(h->state));
	line_pad(&l, HOW_COLUMN);
	line_printf(&l, "%s", h->mechanism ? h->mechanism : "-");
	line_pad(&l, TIER_COLUMN);
	line_printf(&l, "%s", overhead_level_name(h->tier));
	line_end(&l, b, style_of(h));
	write_labelled(b, v, "provides", h->feeds);
	write_costs(b, v, r, h);
	write_labelled(b, v, "tried", h->tried);
	write_labelled(b, v, "note", h->note);
	if (h->state != HOOK_ON)
		write_labelled(b, v, "lost", h->lost);
	if (h->remedy)
		write_command(b, v, "try", h->remedy);
	else if (h->state == HOOK_BLIND)
		write_labelled(b, v, "try", "no remedy is known on this kernel");
}

static void line_setting(struct line *l, const struct setting *s)
{
	if (!s->known)
		line_printf(l, "unknown here");
	else if (s->unlimited)
		line_printf(l, "unlimited");
	else if (s->unit == SETTING_TEXT)
		line_printf(l, "%s", s->text);
	else if (s->unit == SETTING_BYTES)
		line_printf(l, "%s", as_bytes(s->value).s);
	else if (s->value < 0)
		line_printf(l, "%" PRId64, s->value);
	else
		line_printf(l, "%s", as_count(s->value).s);
}

static const char *meaning_of(const struct setting *s)
{
	static const struct {
		const char *key;
		int64_t value;
		const char *means;
	} rows[] = {
		{"overcommit_memory", 0, "heuristic"},
		{"overcommit_memory", 1, "never fails"},
		{"overcommit_memory", 2, "strict: fails beyond CommitLimit"},
		{"unprivileged_bpf_disabled", 0, "BPF for every user"},
		{"unprivileged_bpf_disabled", 1, "BPF with CAP_BPF, until the next boot"},
		{"unprivileged_bpf_disabled", 2, "BPF with CAP_BPF"},
		{"kptr_restrict", 0, "kernel symbols for permitted users"},
		{"kptr_restrict", 1, "kernel symbols with CAP_SYSLOG"},
		{"kptr_restrict", 2, "kernel symbols for no user"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (s->known && rows[i].value == s->value && !strcmp(rows[i].key, s->key))
			return rows[i].means;
	return NULL;
}

static void write_origin(struct buf *b, const struct view *v, const struct origin *o)
{
	struct buf text = {};

	if (!o || o->from == ORIGIN_UNKNOWN)
		return;
	origin_describe(o, &text);
	write_labelled(b, v, "set by", text.s);
	buf_end_part(b, &text);
}

static void write_setting(struct buf *b, const struct view *v, const struct report *r,
			  const struct setting *s)
{
	const struct setting *use = setting_use(r->setting, r->settings, s->key);
	const struct advice *a = NULL;
	struct line l = {.v = v};

	for (size_t i = 0; i < r->advices && !a; i++)
		if (!strcmp(r->advice[i].key, s->key))
			a = &r->advice[i];
	line_pad(&l, NAME_COLUMN);
	line_printf(&l, "%s", s->name);
	line_pad(&l, VALUE_COLUMN);
	line_setting(&l, s);
	if (meaning_of(s))
		line_printf(&l, " (%s)", meaning_of(s));
	if (use && s->value) {
		line_printf(&l, " (");
		line_setting(&l, use);
		line_printf(&l, " %s)", use->name);
	}
	line_wrap_at(&l, b, a ? STYLE_WARNING : STYLE_PLAIN, VALUE_COLUMN);
	write_origin(b, v, report_origin(r, s));
	if (!a)
		return;
	write_labelled(b, v, "low", a->why);
	write_command(b, v, "now", a->command);
	write_command(b, v, "keep", a->lasting);
	write_labelled(b, v, "costs", a->cost);
}

static void write_title(struct buf *b, const struct view *v, const char *text)
{
	buf_putc(b, '\n');
	styled_wrap(b, v, STYLE_BOLD, 4, "%s", text);
}

/* Appends core probes that work only with their last attach type; returns whether there are any. */
static bool write_degraded(struct line *l, const struct report *r)
{
	bool said = false;

	for (size_t i = 0; i < r->hooks; i++) {
		if (!r->hook[i].degraded)
			continue;
		line_printf(l, "%s%s by %s", said ? ", " : "; degraded: ", r->hook[i].name,
			    r->hook[i].mechanism);
		said = true;
	}
	return said;
}

void report_text_title(struct buf *b, const struct view *v, const struct report *r)
{
	styled_wrap(b, v, STYLE_BOLD, 4, "faultscope %s on %s (%s)", r->version, r->host->kernel,
		    r->host->arch);
}

/*
 * Writes how many of the probes work that the command uses. Names the probes that do not work.
 */
void report_text_summary(struct buf *b, const struct view *v, const struct report *r)
{
	struct line l = {.v = v};
	enum style style = STYLE_BOLD;
	size_t on = 0, blind = 0;

	for (size_t i = 0; i < r->hooks; i++) {
		on += r->hook[i].state == HOOK_ON;
		blind += r->hook[i].state == HOOK_BLIND;
	}
	line_printf(&l, "%zu of %zu probes work", on, on + blind);
	for (size_t i = 0, said = 0; i < r->hooks; i++) {
		if (r->hook[i].state != HOOK_BLIND)
			continue;
		line_printf(&l, "%s%s", said++ ? ", " : "; unavailable: ", r->hook[i].name);
		if (r->hook[i].core)
			style = STYLE_CRITICAL;
		else if (style != STYLE_CRITICAL)
			style = STYLE_WARNING;
	}
	if (style == STYLE_CRITICAL)
		line_printf(&l, " (required: without them faultscope does not work)");
	else if (blind)
		line_printf(&l, " (optional: the other probes work without them)");
	if (write_degraded(&l, r) && style != STYLE_CRITICAL)
		style = STYLE_WARNING;
	line_wrap(&l, b, style);
}

static void write_row(struct buf *b, const struct view *v, const char *name, const char *format,
		      ...)
{
	struct line l = {.v = v};
	char text[256];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	line_pad(&l, NAME_COLUMN);
	line_printf(&l, "%-14s %s", name, text);
	line_wrap(&l, b, STYLE_PLAIN);
}

/* Tells whether kernel symbols can be read, by the rules of kallsyms_show_value() in the kernel. */
static const char *symbols_text(const struct report *r)
{
	const struct setting *s = setting_find(r->setting, r->settings, "kptr_restrict");

	if (r->rights.kernel_symbols)
		return "can be read";
	if (s && s->known && s->value > 1)
		return "hidden by kernel.kptr_restrict=2; with 1, CAP_SYSLOG can read them";
	return "hidden: CAP_SYSLOG is missing (or kernel.kptr_restrict=0 and "
	       "perf_event_paranoid=1)";
}

static void write_rights(struct buf *b, const struct view *v, const struct report *report)
{
	const struct report_rights *r = &report->rights;

	write_title(b, v, "privileges after all probes are attached");
	if (!r->nr_kept)
		write_row(b, v, "capabilities",
			  "none is kept; `run` keeps cap_kill, because its command may change its "
			  "user");
	for (size_t i = 0; i < r->nr_kept; i++)
		write_row(b, v, "capabilities", "%s is kept: %s", r->kept[i].capability,
			  r->kept[i].why);
	write_row(b, v, "no_new_privs", "%s", r->no_new_privs ? "on" : "off");
	if (r->landlock_off)
		write_row(b, v, "landlock", "off: %s", r->landlock_off);
	else
		write_row(b, v, "landlock", "opens /proc and /sys to read, nothing else (ABI %d)",
			  r->landlock_abi);
	write_row(b, v, "kernel symbols", "%s", symbols_text(report));
	if (r->not_given_up)
		write_row(b, v, "not dropped", "%s", r->not_given_up);
}

static void write_recorder(struct buf *b, const struct view *v, const struct report *r)
{
	write_title(b, v, "probes of the flight recorder (faultscope blackbox)");
	if (*r->recorder_lacks)
		write_row(b, v, "none", "%s", r->recorder_lacks);
	for (size_t i = 0; i < r->recorders; i++) {
		const struct report_recorder *one = &r->recorder[i];

		if (*one->refused)
			write_row(b, v, one->name, "unavailable: %s; lost: %s", one->refused,
				  one->lost);
		else
			write_row(b, v, one->name, "on: %s", one->feeds);
	}
	if (r->recorders && !r->recorder_holds)
		write_row(b, v, "hold",
			  "a panic does not wait for the flight recorder: this needs a "
			  "second CPU and bpf_loop() (Linux 5.17)");
}

/* Writes what faultscope -p adds to each event. Rows of one event follow each other. */
static void write_overheads(struct buf *b, const struct view *v, const struct report *r)
{
	const char *event = "";
	char text[256];

	if (!r->calibrated)
		return;
	write_title(b, v, "what faultscope -p adds to an event here (rows of make bench)");
	for (size_t i = 0; i < r->overheads; i++) {
		const struct report_overhead *o = &r->overhead[i];
		struct line l = {.v = v};

		if (strcmp(o->event, event)) {
			line_pad(&l, NAME_COLUMN);
			line_printf(&l, "%s", o->title);
			line_wrap(&l, b, STYLE_PLAIN);
		}
		event = o->event;
		cost_text(&o->cost, "+", text, sizeof(text));
		write_labelled(b, v, "-p", text);
	}
}

static void write_source_lines(struct buf *b, const struct view *v, const struct report *r)
{
	struct line l = {.v = v};

	line_pad(&l, NAME_COLUMN);
	if (r->no_source_lines)
		line_printf(&l, "not available: %s", r->no_source_lines);
	else
		line_printf(&l, "of files whose debug information is installed");
	line_wrap(&l, b, STYLE_PLAIN);
}

/* Writes how much kernel memory faultscope used for the processes of the first scan. */
static void write_kernel_memory(struct buf *b, const struct view *v, const struct report *r)
{
	struct line l = {.v = v};

	if (!r->tables_bytes)
		return; /* no BPF programs are loaded */
	write_title(b, v, "kernel memory of faultscope");
	line_pad(&l, NAME_COLUMN);
	line_printf(&l, "BPF maps: %s", as_bytes(r->tables_bytes).s);
	if (r->state_bytes)
		line_printf(&l,
			    "; state of the processes that run now: about %s, of which an idle "
			    "process takes %s",
			    as_bytes(r->state_bytes).s, as_bytes(r->idle_bytes).s);
	line_wrap(&l, b, STYLE_PLAIN);
}

void report_text_rest(struct buf *b, const struct view *v, const struct report *r)
{
	char text[160];

	if (r->calibrated)
		snprintf(text, sizeof(text),
			 "probes, and the time that each adds here: median (quartiles) of %u "
			 "rounds in %.2f s",
			 r->rounds, r->seconds);
	else
		snprintf(text, sizeof(text), "probes");
	write_title(b, v, text);
	for (size_t i = 0; i < r->hooks; i++)
		write_hook(b, v, r, &r->hook[i]);
	write_overheads(b, v, r);
	write_recorder(b, v, r);
	write_title(b, v, "file descriptors that are counted only in total, not by call");
	for (size_t i = 0; r->only_counted[i]; i++) {
		struct line l = {.v = v};

		line_pad(&l, NAME_COLUMN);
		line_printf(&l, "%s", r->only_counted[i]);
		line_wrap(&l, b, STYLE_PLAIN);
	}
	if (r->passed_over) {
		struct line l = {.v = v};

		write_title(b, v, "events that the kernel may skip");
		line_pad(&l, NAME_COLUMN);
		line_printf(&l, "%s", r->passed_over);
		line_wrap(&l, b, STYLE_PLAIN);
	}
	write_title(b, v, "source lines and inlined functions of native code in stacks");
	write_source_lines(b, v, r);
	write_kernel_memory(b, v, r);
	write_title(b, v, "limits of this machine and of this shell");
	for (size_t i = 0; i < r->settings; i++)
		if (!r->setting[i].of)
			write_setting(b, v, r, &r->setting[i]);
	write_rights(b, v, r);
}
