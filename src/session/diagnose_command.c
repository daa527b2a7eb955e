// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* diagnose: says what is wrong with a process, what it holds, what grows, and why calls failed. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "crash/blackbox_places.h"
#include "session/read_holdings.h"
#include "render/crash/kernel_records.h"
#include "render/completeness.h"
#include "crash/surviving_logs.h"
#include "session/commands.h"
#include "session/session.h"

#define WATCH_SECONDS 3.0

static int check_arguments(const struct options *o)
{
	if (o->replay || o->filter.pids)
		return 0;
	complain("diagnose: name a process or a recording\n"
		 "  try: sudo faultscope diagnose -p PID, or diagnose --replay FILE");
	return EXIT_USAGE;
}

static void fill_plan(struct run_plan *p, const struct options *o)
{
	plan_init(p, o);
	plan_targets(p);
	p->prompt = p->children = true;
	p->attributes_all = true;
	p->after_first_scan = o->replay ? NULL : holders_read;
	p->view.verdict = p->view.command = true;
	if (!o->replay && !o->duration)
		p->duration = WATCH_SECONDS;
	if (p->renderer == &text_renderer)
		p->renderer = &diagnosis_renderer;
}

/*
 * Opens the ring file of the flight recorder. Privileges are dropped later, and the file could then
 * not be opened. Returns the fd of the ring file, or -1.
 */
static int open_ring(const struct options *o, int *ret_status)
{
	int fd = open(o->blackbox.file ?: BLACKBOX_FILE, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0 && o->blackbox.file) {
		complain("cannot read %s: %s", o->blackbox.file, strerror(errno));
		*ret_status = EXIT_FAILED;
	}
	return fd;
}

/* Reads the flight recorder's events of the observed boot. Returns false if there are no events. */
static bool read_ring(struct session *s, int fd, struct crash_signs *ret)
{
	uint8_t boot_id[BB_BOOT_BYTES];
	struct bb_found f = {};
	int boot = -1, err = fd < 0 ? 0 : survivors_scan_fd(&f, fd);

	if (err && s->o->blackbox.file) {
		complain("cannot read %s: %s", s->o->blackbox.file, strerror(-err));
		s->status = s->status ?: EXIT_FAILED;
	}
	bb_found_settle(&f);
	if (bb_boot_id(s->in.m.host.boot_id, boot_id))
		boot = bb_boot_find(&f, boot_id);
	if (boot >= 0)
		crash_signs_find(ret, &f, boot);
	bb_found_free(&f);
	return boot >= 0;
}

/* Returns the exit status for all findings and flight-recorder events of the run. */
static int verdict_status(const struct session *s)
{
	enum severity least = s->o->min_severity_given ? s->o->min_severity : SEVERITY_WARNING;
	const struct crash_signs *recorded = s->out.view.recorded;

	for (size_t i = 0; recorded && i < recorded->n; i++)
		if (blackbox_severity(&recorded->one[i]) >= least)
			return EXIT_GATE;
	return s->in.findings.reached[least] ? EXIT_GATE : 0;
}

int command_diagnose(const struct options *o)
{
	struct crash_signs recorded;
	struct run_plan plan;
	struct session s;
	int err = check_arguments(o), ring = -1;

	if (!err)
		ring = open_ring(o, &err);
	if (err)
		return err;
	fill_plan(&plan, o);
	session_measure(&s, &plan);
	if (read_ring(&s, ring, &recorded))
		s.out.view.recorded = &recorded;
	else if (o->blackbox.file)
		gap_add(&s.out.gaps,
			"not read: the flight recorder file (--ring) has no record of this boot");
	if (ring >= 0)
		close(ring);
	if (!s.status)
		s.status = verdict_status(&s);
	return session_end(&s);
}
