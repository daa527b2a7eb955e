/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Gives random records to the model, the rules and the renderers. Values are round numbers, and
 * limits are often 100, so that values often are exactly at a threshold of a rule.
 */
#ifndef FS_TESTS_RANDOM_SCENE_H
#define FS_TESTS_RANDOM_SCENE_H

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "fixture.h"
#include "model/node.h"
#include "model/samples.h"
#include "records/pressure_records.h"
#include "records/record_fields.h"
#include "render/formats/formats.h"
#include "render/gate_results.h"
#include "render/prom/prom.h"
#include "render/render.h"
#include "render/tui/tui.h"
#include "sums.h"

#define SCENE_RECORD_BYTES 16384 /* maximum size of a record */
#define PROCESSES	   4
/* conditions of --fail-on */
#define GATES                                                                                      \
	"maps.peak>60%,maps.peak>=100,fds.peak<50,fds.peak<=95%,major_faults>100,stall_ms>1s,"     \
	"failed_calls>=3,rss.peak>=100M,swap.peak<10M,sigsegv>0,findings.warning>0,"               \
	"findings.critical>=2,minor_faults<=1000"
#define EVENTS 12 /* records between two scans */

/* Writers of output, each with a checksum over all seeds. */
static const struct renderer *const writers[] = {&json_renderer, &text_renderer,
						 &diagnosis_renderer, &host_renderer};
#define WRITERS (sizeof(writers) / sizeof(writers[0]))

struct scene {
	struct model m;
	struct findings findings;
	struct view view;
	uint64_t dice, t_ns;
	struct buf out[WRITERS];
	struct process_record process[PROCESSES];
	struct pressure_record pressure;
	struct cgroup_record cgroup[2];
	struct history h;
	struct tui tui;
	struct census census;
	struct node node;
	struct samples samples;
	struct gates gates;
	struct buf pages;   /* reports, screens and pages of metrics */
	struct buf metrics; /* the last page of metrics */
	int err;	    /* first error of a function; 0: none */
};

static inline void note(struct scene *s, int err)
{
	s->err = s->err ? s->err : err;
}

static inline uint64_t below(struct scene *s, uint64_t n)
{
	return roll(&s->dice) % n;
}

/* Returns how much 1 is in a field with values of a unit: 1 MiB, 10 ms, or 1. */
static inline uint64_t scale_of(const char *unit)
{
	return !strcmp(unit, "bytes")	? 1 << 20
	       : !strcmp(unit, "pages") ? 1 << 8
	       : !strcmp(unit, "ns")	? SECOND / 100
	       : !strcmp(unit, "us")	? 10000
					: 1;
}

/* Returns a round number, or one that is not quite round. */
static inline uint64_t round_number(struct scene *s, uint64_t scale)
{
	static const uint64_t round[] = {0,  1,	 2,  3,	 5,  8,	 10, 15, 20, 25, 30,  33,  40,
					 50, 60, 66, 70, 75, 80, 85, 90, 95, 99, 100, 101, 120};
	uint64_t n = scale * round[below(s, sizeof(round) / sizeof(round[0]))];

	switch (below(s, 24)) {
	case 0:
		return n + 1;
	case 1:
		return n ? n - 1 : UINT64_MAX;
	case 2:
		return n * 100;
	case 3:
		return n * 10;
	default:
		return n;
	}
}

static inline uint64_t random_limit(struct scene *s, uint64_t scale)
{
	static const uint64_t limits[] = {100, 100, 100, 100, 100, 1000, 10, 1 << 20};

	return below(s, 8) ? scale * limits[below(s, sizeof(limits) / sizeof(limits[0]))]
			   : UINT64_MAX;
}

static inline bool is_limit(const char *name)
{
	return strstr(name, "limit") || strstr(name, "max") || strstr(name, "soft") ||
	       strstr(name, "hard") || strstr(name, "total_bytes");
}

/* Values that have a meaning in fields with these names. */
static const struct {
	const char *name;
	uint64_t value[10];
	size_t values;
} meanings[] = {
	{"signal", {SIGSEGV, SIGBUS, SIGKILL}, 3},
	{"code", {SEGV_MAPERR, SEGV_ACCERR, 3, BUS_MCEERR_AR, 5, 128}, 6},
	{"error", {ENOMEM, EMFILE, ENFILE, EAGAIN, EPERM, ENOSPC, EINVAL, EACCES, 0}, 9},
	{"magic", {0xef53, 0x01021994, 0x9fa0, 0x958458f6, 0}, 5},
	{"stack", {1, 1, (uint64_t)-1}, 3},
	{"what", {0, 1}, 2},
	{"constraint", {0, 1, 2, 3, 4}, 5},
	{"percent", {50, 80, 95}, 3},
	{"tmpfs_pages", {100 << 8, 100 << 8, 0}, 3},
	{"size_bytes", {100 << 20, 100 << 20, 4096, 0}, 4},
	{"mode", {0100644, 0040755, 0020666, 0010600, 0140777}, 5},
	{"address", {0, 8, 0x7f0000003008, 0x7ffd00001000, 0xdeadbeef0000}, 5},
	{"sp", {0, 0x7ffd00001100, 0x7f0000003000}, 3},
	{"ip_bytes", {0, 0x48008b48, 0xc3, 0xf4, 0x300f}, 5},
	{"area", {0, 1, 2}, 3},
	{"area_start", {0x7f0000003000, 0x7ffd00001000}, 2},
	{"area_end", {0x7f0000007000, 0x7ffd00002000}, 2},
	{"device", {0x100001, 0x100002, 0}, 3},
};

/* Returns the row of `meanings` for a field, or -1. Compares the last part of the field's name. */
static inline int meaning_of(const char *name)
{
	const char *dot = strrchr(name, '.');

	for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++)
		if (!strcmp(dot ? dot + 1 : name, meanings[i].name))
			return i;
	return -1;
}

/* Returns whether a field of a process, a cgroup or the host is a counter, which only grows. */
static inline bool is_counter(const struct record_field *f)
{
	return f->count > 1 || !strncmp(f->name, "c.", 2) || strstr(f->name, "_flt") ||
	       strstr(f->name, "cpu_ns") || strstr(f->name, "total_us");
}

static inline void set_field(struct scene *s, char *record, const struct record_field *f)
{
	uint64_t scale = scale_of(f->unit);
	int meaning = meaning_of(f->name);

	for (uint16_t i = 0; i < f->count; i++) {
		char *at = record + f->offset + i * f->stride;
		uint64_t n = is_limit(f->name) ? random_limit(s, scale) : round_number(s, scale);
		uint64_t old = 0;

		if (meaning >= 0 && below(s, 8))
			n = meanings[meaning].value[below(s, meanings[meaning].values)];
		/* most elements of an array keep their value */
		if (f->count > 1 && below(s, 4))
			continue;
		if (f->type != VALUE_TEXT && meaning < 0 && is_counter(f)) {
			memcpy(&old, at, f->size);
			n += old;
		}
		if (f->type == VALUE_TEXT)
			snprintf(at, f->size, "/word%" PRIu64 ".so", n % 7);
		else
			memcpy(at, &n, f->size); /* the tests run on little-endian machines */
	}
}

static inline bool is_identity(const struct record_field *f)
{
	return !strncmp(f->name, "subject.", 8) || !strncmp(f->name, "g.subject.", 10);
}

static const struct record_fields *fields_of(uint32_t kind)
{
	for (size_t i = 0; i < record_fields_count; i++)
		if (record_fields[i].kind == kind)
			return &record_fields[i];
	abort();
}

/* Changes about one of `rarely` fields of a record at random. */
static inline void change(struct scene *s, struct record *h, uint64_t rarely)
{
	const struct record_fields *r = fields_of(h->kind);

	for (size_t i = 0; i < r->fields; i++)
		if (!is_identity(&r->field[i]) && !below(s, rarely))
			set_field(s, (char *)h, &r->field[i]);
}

static inline void give(struct scene *s, const struct record *h)
{
	note(s, model_take(&s->m, h));
}

/* Counts a process for the metrics of its workload. */
static inline void count(struct scene *s, const struct process_record *p)
{
	struct identity id = {.serial = 1 + p->subject.pid % 3, .kind = KIND_COMM};

	snprintf(id.name, sizeof(id.name), "work%u", p->subject.pid % 3);
	note(s, census_take(&s->census, p, &id, s->t_ns));
	note(s, node_take(&s->node, p, &id));
}

static inline void scan(struct scene *s, unsigned int nth)
{
	struct tick_record tick = tick_record(s->t_ns);

	for (uint32_t pid = 1; pid <= PROCESSES; pid++) {
		struct process_record *p = &s->process[pid - 1];

		if (!nth) {
			*p = process_record(pid, pid, s->t_ns);
			p->g.fd_soft = 100;
			p->g.flags |= pid % 2 ? PROC_BORN | PROC_WATCHED : 0;
		}
		p->h.t_ns = s->t_ns;
		change(s, &p->h, 3 + 4 * pid);
		if (below(s, 3))
			p->g.flags &= ~PROC_FINAL;
		give(s, &p->h);
		count(s, p);
	}
	tick.limits.max_map_count = 100;
	tick.limits.file_max = 1000;
	tick.limits.nr_open = 1 << 20;
	tick.limits.threads_max = 1 << 20;
	tick.limits.pid_max = 1 << 22;
	tick.limits.commit_limit_bytes = tick.limits.mem_total_bytes = 100 << 20;
	tick.wall_ns = 1700000000 * SECOND + s->t_ns;
	change(s, &tick.h, 8);
	give(s, &tick.h);
}

/* Counts an event for the metrics of the node. */
static inline void count_event(struct scene *s, const struct record *h)
{
	struct identity id = {.serial = 1, .kind = KIND_COMM, .name = "work0"};

	switch (h->kind) {
	case RECORD_REFUSED:
		node_refused(&s->node, (const struct refused_record *)h, "rlimit_nofile");
		break;
	case RECORD_SIGNAL:
		node_signal(&s->node, (const struct signal_record *)h, &id, "f+0x1");
		break;
	case RECORD_OOM:
		node_oom(&s->node, (const struct oom_record *)h, &id);
		break;
	case RECORD_KERNEL_FAULT:
		node_kernel_fault(&s->node, (const struct kernel_fault_record *)h,
				  h->t_ns % 2 ? "ext4" : NULL, h->t_ns % 3 ? "f+0x2" : NULL);
		break;
	case RECORD_REPORT:
		node_report(&s->node, (const struct report_record *)h);
		break;
	case RECORD_PRESSURE:
		node_pressure(&s->node, (const struct memory_wait_record *)h);
		break;
	}
}

/* Returns the last record of a kind with counters that grow; NULL for other kinds. */
static inline char *kept_of(struct scene *s, uint32_t kind)
{
	return kind == RECORD_SHORTAGE ? (char *)&s->pressure
	       : kind == RECORD_LEVEL  ? (char *)&s->cgroup[below(s, 2)]
				       : NULL;
}

/* Gives a record of a random kind about one of the processes. */
static inline void happen(struct scene *s)
{
	static const uint32_t kinds[] = {
		RECORD_CROSSING, RECORD_SIGNAL,	     RECORD_KERNEL_FAULT, RECORD_OOM,
		RECORD_PRESSURE, RECORD_SLOW_FAULTS, RECORD_SAMPLE,	  RECORD_RETRY,
		RECORD_NAMES,	 RECORD_GROWTH,	     RECORD_HOLDING,	  RECORD_LEVELS,
		RECORD_REPORT,	 RECORD_SIGNAL,	     RECORD_SAMPLE,	  RECORD_SLOW_FAULTS,
		RECORD_SHORTAGE, RECORD_LEVEL,	     RECORD_MOUNT,	  RECORD_SCORE,
		RECORD_REFUSED,	 RECORD_REFUSED,     RECORD_REFUSED,	  RECORD_REFUSED,
		RECORD_RESIDENT, RECORD_RESIDENT,    RECORD_RESIDENT,	  RECORD_RESIDENT_SUM,
		RECORD_PHASE};
	uint32_t kind = kinds[below(s, sizeof(kinds) / sizeof(kinds[0]))];
	const struct record_fields *r = fields_of(kind);
	uint32_t pid = 1 + below(s, PROCESSES);
	struct refused_record refused =
		refused_record(pid, CALL_MMAP + below(s, CALL_MAX - CALL_MMAP), ENOMEM);
	union {
		struct record h;
		char bytes[SCENE_RECORD_BYTES];
	} room = {};
	char *record = room.bytes, *kept = kept_of(s, kind);
	struct record *h = &room.h;
	uint64_t birth = pid;

	if (r->len > sizeof(room))
		abort();
	if (kind == RECORD_REFUSED)
		memcpy(record, &refused, sizeof(refused));
	if (kept)
		memcpy(record, kept, r->len);
	h->kind = kind;
	h->len = r->len;
	h->t_ns = s->t_ns + below(s, SECOND / 2);
	change(s, h, kind == RECORD_REFUSED ? 8 : 2);
	if (kind == RECORD_REFUSED)
		((struct refused_record *)record)->call = refused.call;
	for (size_t i = 0; i < r->fields; i++) {
		const struct record_field *f = &r->field[i];

		if (is_identity(f) && strstr(f->name, ".pid"))
			memcpy(record + f->offset, &pid, sizeof(pid));
		else if (is_identity(f))
			memcpy(record + f->offset, &birth, sizeof(birth));
	}
	give(s, h);
	count_event(s, h);
	if (kept)
		memcpy(kept, record, r->len);
}

static inline void open_all(struct scene *s)
{
	struct host_record host = host_record(SECOND);

	struct frames_record frames = RECORD(frames_record, RECORD_FRAMES, SECOND);

	give(s, &host.h);
	frames.stack = 1;
	for (uint32_t pid = 1; pid <= PROCESSES; pid++) {
		frames.subject = (struct process_key){.pid = pid, .start_ns = pid};
		snprintf(frames.text, sizeof(frames.text),
			 "leaf%u+0x12 (libfoo.so)\nmiddle+0x4 (libfoo.so)\nmain+0x1 (exe)",
			 pid % 3);
		give(s, &frames.h);
	}
	for (size_t i = 0; i < NR_FIXTURE_HOOKS; i++) {
		struct hook_record h =
			hook_record(fixture_hooks[i], below(s, 30) ? HOOK_ON : HOOK_BLIND);

		give(s, &h.h);
	}
}

static inline void render_scan(struct scene *s)
{
	for (size_t w = 0; w < WRITERS; w++) {
		for (size_t i = 0; i < s->m.events; i++)
			writers[w]->event(&s->out[w], &s->view, &s->m.event[i]);
		for (size_t i = 0; i < s->findings.n; i++)
			if (s->findings.f[i].fresh)
				writers[w]->finding(&s->out[w], &s->view, &s->findings.f[i]);
		writers[w]->frame(&s->out[w], &s->view);
	}
}

/* Writes the results of the conditions of --fail-on. */
static inline void render_gates(struct scene *s)
{
	struct view v = s->view;

	gates_judge(&s->gates, &s->m, &s->findings);
	v.gates = &s->gates;
	gates_text(&s->pages, &v, false);
}

static inline void render_screen(struct scene *s)
{
	static const char keys[] = "123456tsrjjjk?h+-\r";
	uint32_t key = keys[below(s, sizeof(keys) - 1)];
	struct view v = s->view;

	v.height = 40;
	note(s, tui_update(&s->tui, &v));
	tui_press(&s->tui, &v, key);
	tui_frame(&s->tui, &v, &s->pages);
}

static inline void render_metrics(struct scene *s, struct buf *to)
{
	static const struct exposition_format *const formats[] = {
		&exposition_text, &exposition_openmetrics, &exposition_protobuf};
	struct buf page = {};
	struct exposition e = {.format = formats[below(s, 3)], .b = &page};
	struct prom_view v = {
		.m = &s->m, .c = &s->census, .n = &s->node, .up = true, .self = {.libbpf = "1"}};

	census_update(&s->census, s->t_ns, 100);
	prom_render(&e, &v);
	to->failed |= page.failed;
	buf_add(to, page.s, page.len);
	buf_free(&page);
}

static inline void render_reports(struct scene *s)
{
	struct story_view story = {.v = &s->view, .h = &s->h, .file = {.name = "x", .error = ""}};

	note(s, history_end(&s->h, &s->m));
	for (size_t i = 0; i < nr_report_formats; i++)
		if (report_formats[i].way == WAY_WHOLE)
			report_formats[i].make(&s->pages, &story);
	info_text(&s->pages, &story);
}

static inline void begin(struct scene *s, uint64_t seed)
{
	char error[256];

	*s = (struct scene){.dice = seed * 7919, .t_ns = SECOND};
	s->view = (struct view){.m = &s->m,
				.findings = &s->findings,
				.width = 200,
				.top = 20,
				.unicode = true,
				.summary = true,
				.page = true,
				.command = true,
				.layout = seed % 2 ? LAYOUT_TABLE : LAYOUT_BLOCKS};
	note(s, model_init(&s->m));
	note(s, history_init(&s->h));
	note(s, census_init(&s->census, &(struct census_limits){.workloads = 5, .series = 1000}));
	note(s, node_init(&s->node, &s->census));
	if (s->err)
		return;
	s->m.samples = &s->samples;
	if (gates_parse(&s->gates, GATES, error, sizeof(error)))
		abort();
	open_all(s);
	tui_open(&s->tui, &s->view);
	for (size_t w = 0; w < WRITERS; w++)
		writers[w]->open(&s->out[w], &s->view);
}

/* Plays the events of the second before a scan. Before the first scan there are none. */
static inline void pass_second(struct scene *s, unsigned int nth)
{
	for (int i = 0; nth && i < EVENTS; i++)
		happen(s);
	s->t_ns += SECOND;
}

static inline void scan_and_judge(struct scene *s, unsigned int nth)
{
	scan(s, nth);
	findings_judge(&s->findings, &s->m);
}

static inline void next_window(struct scene *s)
{
	model_next_window(&s->m);
	findings_next_window(&s->findings);
}

/*
 * Plays a scene as a recording is read, and writes no outputs. Afterwards outputs can show the last
 * scan and the history. s->err is the first error.
 */
static inline void play_recording(struct scene *s, uint64_t seed, unsigned int scans)
{
	begin(s, seed);
	for (unsigned int nth = 0; !s->err && nth < scans; nth++) {
		if (nth)
			next_window(s);
		pass_second(s, nth);
		scan_and_judge(s, nth);
		note(s, history_add_scan(&s->h, &s->m));
		census_update(&s->census, s->t_ns, 100);
	}
	if (!s->err)
		note(s, history_end(&s->h, &s->m));
}

/*
 * Plays a scene: events, scans, and outputs after each scan. `whole`: also makes reports, screens
 * and pages of metrics. s->err is the first error. end_scene() frees the outputs.
 */
static inline void play_scene(struct scene *s, uint64_t seed, unsigned int scans, bool whole)
{
	begin(s, seed);
	for (unsigned int nth = 0; !s->err && nth < scans; nth++) {
		pass_second(s, nth);
		scan_and_judge(s, nth);
		render_scan(s);
		note(s, history_add_scan(&s->h, &s->m));
		if (whole) {
			render_screen(s);
			render_metrics(s, &s->pages);
		}
		if (nth == scans - 1)
			render_metrics(s, &s->metrics);
		gates_check(&s->gates, &s->m);
		next_window(s);
	}
	if (s->err)
		return;
	render_gates(s);
	if (whole)
		render_reports(s);
	for (size_t w = 0; w < WRITERS; w++)
		writers[w]->close(&s->out[w], &s->view);
}

static inline void end_scene(struct scene *s)
{
	for (size_t w = 0; w < WRITERS; w++)
		buf_free(&s->out[w]);
	buf_free(&s->pages);
	buf_free(&s->metrics);
	tui_free(&s->tui);
	node_free(&s->node);
	census_free(&s->census);
	history_free(&s->h);
	samples_free(&s->samples);
	findings_free(&s->findings);
	model_free(&s->m);
}

#endif
