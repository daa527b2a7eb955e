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

#define PF_EXITING 4 /* bit in the flags, field 9 of /proc/PID/stat (include/linux/sched.h) */

/* Returns whether a process is exiting: it has no address space, and root owns its /proc files. */
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
 * Returns 0 if the caller may ptrace a process, -EPERM if not, or -ESRCH if the process is gone.
 *
 * The owner of /proc/PID/maps decides. The file cannot be opened to test this, because Landlock
 * forbids to open files of any process. task_dump_owner() in fs/proc/base.c gives a process's files
 * to its effective user and group. If the process is not dumpable, as after set-user-ID or with
 * file capabilities, it gives them to root. The owner of the files passes ptrace_may_access().
 * stat(2) does not take mmap_lock.
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
	/*
	 * the uid comes from the BPF programs and not from /proc, because the pid may be reused by
	 * now
	 */
	if (w->foreign || (s && s->now.g.uid != getuid()))
		return false;
	err = ask(of->pid);
	/* addresses of a process that is gone are useless */
	return !err || (err == -ESRCH && (s || same_subject(child, of)));
}

/*
 * Returns the process of a record that contains addresses or file names. For other records, returns
 * NULL.
 */
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
	case RECORD_RESIDENT:
		return &((const struct resident_record *)h)->subject;
	case RECORD_SLOW_FAULTS:
		return &((const struct slow_faults_record *)h)->subject;
	case RECORD_SAMPLE:
		return &((const struct sample_record *)h)->subject;
	}
	return NULL;
}

void withhold(struct withholding *w, const struct model *m, struct record *h)
{
	/* kernel addresses, which the caller may not read in /proc/kallsyms either */
	bool kernel = h->kind == RECORD_KERNEL_FAULT || h->kind == RECORD_SYMBOL;
	const struct process_key *of = subject_of(h);

	if (!w->on || !(kernel || (of && !withholding_shows(w, m, of))))
		return;
	w->records++;
	if (h->kind == RECORD_NAMES)
		((struct names_record *)h)->exe[0] = ((struct names_record *)h)->command[0] = 0;
	else
		redact_record(&w->redaction, h);
}
