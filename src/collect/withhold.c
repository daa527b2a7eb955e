// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "collect/withhold.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"

void withholding_begin(struct withholding *w, bool foreign)
{
	memset(w, 0, sizeof(*w));
	w->on = true;
	w->foreign = foreign;
	redaction_begin(&w->redaction);
	w->redaction.all_names = true;
}

#define PF_EXITING 4 /* include/linux/sched.h: field 9 of /proc/PID/stat */

/* It has given up its memory map, so that its files are root's, whoever it was. */
static bool is_ending(uint32_t pid)
{
	char path[32], text[512];
	unsigned int flags;
	const char *close;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	io_read(AT_FDCWD, path, text, sizeof(text));
	close = strrchr(text, ')');
	return !close || sscanf(close + 1, " %*c %*d %*d %*d %*d %*d %u", &flags) != 1 ||
	       flags & PF_EXITING;
}

/*
 * Not asked by opening a file of it: landlock, which we are in by then, refuses that for every
 * process. task_dump_owner() in fs/proc/base.c gives files of a process to its effective user and
 * group, and to root where the process may not be dumped, as after set-user-ID and file
 * capabilities: who owns them passes ptrace_may_access(). stat(2) takes no lock of the memory map.
 * Returns 0, -EPERM, or -ESRCH where it is gone.
 */
static int ask(uint32_t pid)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	if (stat(path, &st))
		return errno == ENOENT ? -ESRCH : -errno;
	if (st.st_uid == getuid() && st.st_gid == getgid())
		return 0;
	return is_ending(pid) ? -ESRCH : -EPERM;
}

void withholding_forked(struct withholding *w, const struct fork_record *r)
{
	if (w->on && !w->foreign && !ask(r->parent))
		w->child[r->subject.pid % WITHHOLDING_CHILDREN] = r->subject;
}

bool withholding_shows(const struct withholding *w, const struct model *m,
		       const struct process_key *of)
{
	const struct process_key *child = &w->child[of->pid % WITHHOLDING_CHILDREN];
	const struct subject *s = model_find(m, of);
	int err;

	if (!w->on)
		return true;
	/* the user that the kernel side saw: a pid may be another process' by now */
	if (w->foreign || (s && s->now.g.uid != getuid()))
		return false;
	err = ask(of->pid);
	/* of a process that is gone, addresses are of no use any more */
	return !err || (err == -ESRCH && (s || same_subject(child, of)));
}

/* Whose a record is that has addresses or names of files; NULL: it has none. */
static const struct process_key *subject_of(const struct record *h)
{
	switch (h->kind) {
	case RECORD_NAMES:
		return &((const struct names_record *)h)->subject;
	case RECORD_SIGNAL:
		return &((const struct signal_record *)h)->subject;
	case RECORD_REFUSED:
		return &((const struct refused_record *)h)->subject;
	case RECORD_GROWTH:
		return &((const struct growth_record *)h)->g.subject;
	case RECORD_HOLDING:
		return &((const struct holding_record *)h)->g.subject;
	case RECORD_SLOW_FAULTS:
		return &((const struct slow_faults_record *)h)->subject;
	case RECORD_SAMPLE:
		return &((const struct sample_record *)h)->subject;
	}
	return NULL;
}

void withhold(struct withholding *w, const struct model *m, struct record *h)
{
	/* where the kernel lies is told to nobody who may not read it in /proc/kallsyms */
	bool kernel = h->kind == RECORD_KERNEL_FAULT || h->kind == RECORD_SYMBOL;
	const struct process_key *of = subject_of(h);

	if (!w->on || !(kernel || (of && !withholding_shows(w, m, of))))
		return;
	w->records++;
	if (h->kind == RECORD_NAMES)
		((struct names_record *)h)->exe[0] = 0;
	else
		redact_record(&w->redaction, h);
}
