// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "crash/blackbox_command.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "crash/blackbox_arm.h"
#include "crash/blackbox_live.h"
#include "crash/blackbox_places.h"
#include "cli/options_table.h"
#include "recorder/record_sinks.h"
#include "render/crash/kernel_records.h"
#include "render/completeness.h"
#include "cli/messages.h"
#include "live/terminal_view.h"
#include "crash/surviving_logs.h"

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

static void found_gaps(struct buf *gaps, const struct bb_found *f)
{
	uint64_t missing = 0;

	for (size_t i = 0; i < f->boots; i++)
		missing += f->boot[i].missing;
	if (!f->n)
		gap_add(gaps, "nothing was read: there is no record");
	gap_lost(gaps, f->torn, "record{ that is|s that are} torn");
	gap_lost(gaps, f->lost, "record{|s} beyond the most that is read");
	gap_lost(gaps, missing, "record{ that was|s that were} overwritten or never written");
}

static int write_found(const struct options *o, const struct bb_found *f)
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
	struct buf gaps = {};
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
	found_gaps(&gaps, &f);
	gaps_add(&gaps, &files.gaps);
	if (!status)
		status = write_found(o, &f) ?: has_critical(&f) ? EXIT_GATE : EXIT_DONE;
	status = status_of_gaps(status, &gaps);
	buf_free(&gaps);
	bb_found_free(&f);
	triage_files_free(&files);
	return status;
}

/* Adds the losses that the recorder reports in its newest heartbeat. */
static void heartbeat_gaps(struct buf *gaps, const struct bb_record *beat)
{
	char key[32];
	uint64_t n;

	for (int c = BB_FAULT; c < NR_BB_CLASSES; c++) {
		snprintf(key, sizeof(key), "dropped.%s", bb_class_name(c));
		if (bb_get_u64(beat, key, &n))
			gap_lost(gaps, n, "record{|s} of class %s", bb_class_name(c));
	}
	for (int k = 0; k < NR_SINKS; k++) {
		snprintf(key, sizeof(key), "failed.%s", sink_rows[k].name);
		if (bb_get_u64(beat, key, &n))
			gap_lost(gaps, n, "record{|s} that %s could not keep", sink_rows[k].name);
	}
}

static int blackbox_status(const struct options *o)
{
	const char *path = o->blackbox.file ?: BLACKBOX_FILE;
	struct triage_files files = {};
	struct bb_found f = {};
	struct buf b = {};
	struct view v = {};
	struct crash_signs crash_signs = {};
	struct buf gaps = {};
	bool beats = false;
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
			heartbeat_gaps(&gaps, &f.record[i]);
			beats = true;
			break;
		}
	if (status == EXIT_DONE && f.boots)
		crash_signs_find(&crash_signs, &f, f.boots - 1);
	blackbox_text_crash_signs(&b, &v, &crash_signs);
	if (!beats)
		gap_add(&gaps, "not read: there is no sign of life of the recorder");
	if (status == EXIT_DONE)
		status = say_all(o, &b);
	status = status_of_gaps(status, &gaps);
	buf_free(&gaps);
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
	char error[256];

	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
		if (!strcmp(actions[i].name, word))
			return actions[i].run(o);
	snprintf(error, sizeof(error),
		 "blackbox %.64s: not understood\n  see: faultscope blackbox --help", word);
	options_near_word(word, "run, arm, read, status", error, sizeof(error));
	complain("%s", error);
	return EXIT_USAGE;
}
