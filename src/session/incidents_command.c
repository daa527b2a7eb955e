// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* incidents and snapshot: the incidents that a running faultscope has stored, and a new one. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/units.h"
#include "cli/messages.h"
#include "incident/incident_store.h"
#include "incident/snapshot_socket.h"
#include "live/terminal_view.h"
#include "render/incident_pages.h"
#include "session/commands.h"
#include "session/drop_privileges.h"
#include "session/recording_parts.h"

/* `compare` compares this time before the trigger, and what came after, with what was before. */
#define LAST_NS 120000000000ULL

/* One run of the command. */
struct listing {
	const struct options *o;
	const char *dir; /* the store */
	struct incident_list list;
	struct view v;
	struct buf b;
};

/* Reads the store of --store, the default one, or that of the service. Returns 0 or -errno. */
static int read_store(struct listing *l)
{
	int err;

	l->dir = l->o->incident.store ? l->o->incident.store : INCIDENT_STORE_PLACE;
	err = incident_list_read(l->dir, &l->list);
	if (l->list.n || l->o->incident.store || (err && err != -ENOENT && err != -EACCES))
		return err;
	if (!incident_list_read(INCIDENT_STORE_OF_SERVICE, &l->list) && l->list.n) {
		l->dir = INCIDENT_STORE_OF_SERVICE;
		return 0;
	}
	return err;
}

static void say_nothing_stored(const char *dir)
{
	complain("no incident is stored in %s\n"
		 "  incidents are stored while one of these runs:  faultscope export, faultscope "
		 "record --ring 1h\n"
		 "  to store one now:  sudo faultscope snapshot",
		 dir);
}

static void path_of(const struct listing *l, size_t i, char *ret, size_t size)
{
	snprintf(ret, size, "%s/%s", l->dir, l->list.one[i].name);
}

static struct incident_page page_of(const struct listing *l, size_t i, const char *path)
{
	const struct stored_incident *one = &l->list.one[i];

	return (struct incident_page){.number = i + 1,
				      .file = path,
				      .bytes = one->bytes,
				      .r = *one->why ? NULL : &one->r,
				      .why = one->why};
}

/* Returns the index of an incident, given as its number or file name; -1: there is none. */
static ssize_t find(const struct listing *l, const char *word)
{
	uint64_t number;

	if (!parse_u64(word, 1, UINT64_MAX, &number)) {
		if (number <= l->list.n)
			return number - 1;
		complain("there is no incident %s: %zu %s stored\n  see: faultscope incidents",
			 word, l->list.n, as_words(l->list.n, "incident{ is|s are}").s);
		return -1;
	}
	for (size_t i = 0; i < l->list.n; i++)
		if (!strcmp(l->list.one[i].name, word))
			return i;
	complain("there is no incident %s\n  see: faultscope incidents", word);
	return -1;
}

static int print(struct listing *l)
{
	return say_all(l->o, &l->b);
}

static bool is_json(const struct options *o)
{
	return o->format == &json_renderer;
}

/* Returns EXIT_INCOMPLETE, and says so, if files of the list could not be read. */
static int status_of_list(const struct listing *l, size_t unreadable)
{
	if (!unreadable)
		return 0;
	complain("incomplete: %zu of %zu %s in %s cannot be read; the list says why", unreadable,
		 l->list.n, as_words(l->list.n, "file{|s}").s, l->dir);
	return EXIT_INCOMPLETE;
}

static int list_all(struct listing *l)
{
	char path[PATH_MAX + STORED_NAME_BYTES];
	size_t most = l->o->top ? l->o->top : l->list.n, unreadable = 0;
	int err;

	if (!is_json(l->o))
		incident_list_heading(&l->b, &l->v);
	for (size_t i = 0; i < l->list.n && i < most; i++) {
		struct incident_page page;

		path_of(l, i, path, sizeof(path));
		page = page_of(l, i, path);
		if (is_json(l->o))
			incident_page_json(&l->b, &page);
		else
			incident_list_line(&l->b, &l->v, &page);
		unreadable += !page.r;
	}
	err = print(l);
	return err ? err : status_of_list(l, unreadable);
}

static int show(struct listing *l, size_t i, const char *path)
{
	struct incident_page page = page_of(l, i, path);
	int err;

	if (is_json(l->o))
		incident_page_json(&l->b, &page);
	else
		incident_page_text(&l->b, &l->v, &page);
	err = print(l);
	return err ? err : page.r ? 0 : EXIT_INCOMPLETE;
}

static int report(const struct listing *l, const char *path,
		  int (*write_metrics)(const struct options *o))
{
	struct options mine = *l->o;
	char copy[PATH_MAX + STORED_NAME_BYTES], *argv[] = {copy, NULL};

	snprintf(copy, sizeof(copy), "%s", path);
	mine.command = CMD_REPORT;
	mine.argv = argv;
	mine.argc = 1;
	if (is_json(l->o) && !mine.report_format)
		mine.report_format = report_format_find("jsonl");
	return command_report(&mine, write_metrics);
}

/* Compares the last minutes of an incident with what its ring kept from before. */
static int compare(const struct listing *l, size_t i, const char *path)
{
	const struct incident_record *r = &l->list.one[i].r;
	int part[2] = {memfd_create("before", MFD_CLOEXEC), memfd_create("after", MFD_CLOEXEC)};
	uint64_t half = (r->at_ns - r->h.t_ns) / 2, last = half < LAST_NS ? half : LAST_NS;
	char file[2][32], name[2][64];
	struct buf gaps = {};
	int status = EXIT_FAILED;

	if (r->at_ns <= r->h.t_ns) {
		complain("%s: it has nothing before its trigger to compare with", path);
	} else if (part[0] < 0 || part[1] < 0) {
		complain("%s", strerror(errno));
	} else {
		status = recording_part(path, 0, r->at_ns - last, part[0], &gaps);
		buf_clear(&gaps); /* the second part is read from the beginning, too */
		if (!status)
			status = recording_part(path, r->at_ns - last, UINT64_MAX, part[1], &gaps);
		snprintf(name[0], sizeof(name[0]), "before (%s)",
			 as_span((r->at_ns - last - r->h.t_ns) / 1e9).s);
		snprintf(name[1], sizeof(name[1]), "the last %s",
			 as_span((r->until_ns - r->at_ns + last) / 1e9).s);
		for (int k = 0; k < 2; k++)
			snprintf(file[k], sizeof(file[k]), "/proc/self/fd/%d", part[k]);
		if (!status)
			status = diff_print(l->o, (const char *const[2]){file[0], file[1]},
					    (const char *const[2]){name[0], name[1]});
		status = status_of_gaps(status, &gaps);
	}
	buf_free(&gaps);
	for (int k = 0; k < 2; k++)
		if (part[k] >= 0)
			close(part[k]);
	return status;
}

/* Opens the live view of an incident at its trigger. */
static int open_view(const struct listing *l, size_t i, const char *path)
{
	const struct stored_incident *one = &l->list.one[i];
	struct options mine = *l->o;

	mine.command = CMD_REPLAY;
	return replay_at(&mine, path, one->r.at_ns);
}

static int delete (const struct listing *l)
{
	int dir = open(l->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), status = 0;

	if (dir < 0) {
		complain("cannot open %s: %s", l->dir, strerror(errno));
		return EXIT_FAILED;
	}
	for (int k = 1; k < l->o->argc; k++) {
		ssize_t i = find(l, l->o->argv[k]);

		if (i < 0) {
			status = EXIT_FAILED;
		} else if (unlinkat(dir, l->list.one[i].name, 0)) {
			complain("cannot delete %s: %s", l->list.one[i].name, strerror(errno));
			status = EXIT_FAILED;
		}
	}
	close(dir);
	return status;
}

static int act(struct listing *l, const char *action, int (*write_metrics)(const struct options *o))
{
	char path[PATH_MAX + STORED_NAME_BYTES];
	ssize_t i;

	if (!strcmp(action, "list"))
		return list_all(l);
	if (!strcmp(action, "delete"))
		return delete (l);
	i = l->o->argc > 1 ? find(l, l->o->argv[1]) : 0;
	if (i < 0)
		return EXIT_FAILED;
	path_of(l, i, path, sizeof(path));
	if (!strcmp(action, "show"))
		return show(l, i, path);
	if (*l->list.one[i].why) {
		complain("%s: %s", path, l->list.one[i].why);
		return EXIT_FAILED;
	}
	if (!strcmp(action, "compare"))
		return compare(l, i, path);
	if (!strcmp(action, "open"))
		return open_view(l, i, path);
	return report(l, path, write_metrics);
}

int command_incidents(const struct options *o, int (*write_metrics)(const struct options *o))
{
	const char *action = o->argc ? o->argv[0] : "list";
	struct listing l = {.o = o};
	int err, status;

	privileges_drop_to_store(strcmp(action, "delete") ? CAP_DAC_READ_SEARCH : CAP_DAC_OVERRIDE);
	err = read_store(&l);
	if (err && err != -ENOENT) {
		complain("cannot read %s: %s", l.dir, strerror(-err));
		return EXIT_FAILED;
	}
	if (!l.list.n) {
		say_nothing_stored(l.dir);
		incident_list_free(&l.list);
		return EXIT_INCOMPLETE;
	}
	view_make(&l.v, o);
	status = act(&l, action, write_metrics);
	buf_free(&l.b);
	incident_list_free(&l.list);
	return status;
}

static int ask(const struct options *o, const char *dir, const char *reason)
{
	char answer[SNAPSHOT_ANSWER_BYTES];
	struct buf b = {};
	int err = snapshot_ask(dir, reason, answer);

	if (err)
		return err;
	if (answer[0] != '+') {
		complain("%s", answer[0] ? answer + 1 : "no answer");
		return 1;
	}
	buf_printf(&b, "%s\n", answer + 1);
	err = say_all(o, &b);
	buf_free(&b);
	return err;
}

int command_snapshot(const struct options *o)
{
	static const char *const places[] = {INCIDENT_STORE_PLACE, INCIDENT_STORE_OF_SERVICE};
	const char *dir = o->incident.store ? o->incident.store : places[0];
	char reason[SNAPSHOT_REASON_BYTES] = "";
	int err;

	privileges_drop_to_store(CAP_DAC_OVERRIDE);
	for (int i = 0; i < o->argc; i++)
		snprintf(reason + strlen(reason), sizeof(reason) - strlen(reason), "%s%s",
			 i ? " " : "", o->argv[i]);
	err = ask(o, dir, reason);
	if (err < 0 && !o->incident.store)
		err = ask(o, places[1], reason);
	if (err < 0)
		complain("no running faultscope keeps a ring for %s (%s)\n"
			 "  start one:  sudo faultscope export, or sudo faultscope record --ring "
			 "1h\n"
			 "  if it stores its incidents elsewhere:  --store DIR",
			 dir, strerror(-err));
	return err < 0 ? EXIT_NO_TARGET : err ? EXIT_FAILED : EXIT_DONE;
}
