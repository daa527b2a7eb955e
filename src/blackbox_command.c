// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "blackbox_command.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "blackbox_arm.h"
#include "blackbox_live.h"
#include "render/blackbox.h"
#include "saying.h"
#include "session.h"
#include "survivors.h"

static int read_files(const struct options *o, struct triage_files *files, struct bb_found *f)
{
	int status = EXIT_DONE, err;

	for (int i = 1; i < o->argc; i++) {
		err = triage_files_add(files, o->argv[i]);
		if (err && files->dump)
			err = survivors_scan_dump(f, o->argv[i]);
		if (err) {
			complain("%s", files->error[0] ? files->error : strerror(-err));
			status = EXIT_FAILED;
		}
		files->dump = false;
	}
	return status;
}

static bool has_critical(const struct bb_found *f)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->record[i].severity == BB_CRITICAL)
			return true;
	return false;
}

static int say_found(const struct options *o, const struct bb_found *f)
{
	struct view v = {};
	struct buf b = {};
	int status;

	view_make(&v, o);
	if (o->format == &json_renderer)
		blackbox_json(&b, f);
	else
		blackbox_text(&b, &v, f);
	status = say_all(o, &b);
	buf_free(&b);
	return status;
}

static int blackbox_read(const struct options *o)
{
	struct triage_files files = {};
	struct bb_found f = {};
	int status = EXIT_DONE, err;

	if (o->argc > 1)
		status = read_files(o, &files, &f);
	else
		survivors_add(&files, o);
	if (!status && o->argc <= 1 && !files.n) {
		complain("nothing survived here: no %s, nothing in pstore, no trace instance\n"
			 "  try:  faultscope blackbox arm",
			 o->blackbox.file ?: BLACKBOX_FILE);
		status = EXIT_FAILED;
	}
	err = survivors_scan(&f, &files);
	if (err) {
		complain("cannot read the records: %s", strerror(-err));
		status = EXIT_FAILED;
	}
	if (!status)
		status = say_found(o, &f) ?: has_critical(&f) ? EXIT_GATE : EXIT_DONE;
	bb_found_free(&f);
	triage_files_free(&files);
	return status;
}

/* The newest heartbeat: it has the recorder's own figures. */
static int blackbox_status(const struct options *o)
{
	const char *path = o->blackbox.file ?: BLACKBOX_FILE;
	struct triage_files files = {};
	struct bb_found f = {};
	struct buf b = {};
	struct view v = {};
	struct portents portents = {};
	int status = EXIT_FAILED, err = triage_files_add(&files, path);

	if (err)
		complain("no recorder has written here: %s\n  try:  faultscope blackbox run",
			 files.error);
	else if (survivors_scan(&f, &files) || !f.n)
		complain("%s holds no record", path);
	else
		status = EXIT_DONE;
	view_make(&v, o);
	for (size_t i = f.n; status == EXIT_DONE && i--;)
		if (f.record[i].class == BB_HEARTBEAT) {
			double age = time(NULL) - f.record[i].wall_ns / 1e9;

			buf_printf(&b, "last sign of life %.0f s ago%s\n", age > 0 ? age : 0,
				   f.boot[f.boots - 1].stopped ? "; ended in order" : "");
			blackbox_text_record(&b, &v, &f.record[i]);
			break;
		}
	if (status == EXIT_DONE && f.boots)
		portents_find(&portents, &f, f.boots - 1);
	blackbox_text_portents(&b, &v, &portents);
	if (status == EXIT_DONE)
		status = say_all(o, &b);
	buf_free(&b);
	bb_found_free(&f);
	triage_files_free(&files);
	return status;
}

static const struct {
	const char *name;
	int (*run)(const struct options *o);
} actions[] = {
	{"run", blackbox_run},
	{"arm", blackbox_arm},
	{"read", blackbox_read},
	{"status", blackbox_status},
};

int command_blackbox(const struct options *o)
{
	const char *word = o->argc ? o->argv[0] : "run";

	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
		if (!strcmp(actions[i].name, word))
			return actions[i].run(o);
	complain("blackbox %s: not understood\n  see: faultscope blackbox --help", word);
	return EXIT_USAGE;
}
