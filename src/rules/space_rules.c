// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Rules for calls that found no space in a tmpfs, or that reached a limit of System V IPC. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "model/limit.h"
#include "rules/pressure_rules.h"
#include "rules/refusal_rules.h"

bool refused_by_tmpfs(const struct occasion *o, const struct finding *open, struct finding *f)
{
	const struct file_space *s = &o->refused->space;
	uint64_t size = s->limit * s->block_bytes;
	const struct mount_use *u;
	char words[64];

	if (!refusal_has_cause(o, "tmpfs_size"))
		return false;
	u = tmpfs_find(o->m, s->device, o->refused->file.magic, size);
	snprintf(words, sizeof(words), "tmpfs of %s is full", as_bytes(size).s);
	refusal_say(o, f, words);
	if (u)
		finding_text(f, "file system", "%s", u->now.path);
	tmpfs_say_files(f, u);
	pressure_say_who(f, o->m);
	finding_advise(f);
	tmpfs_help(f, o->m, size, o->verdict->need * s->block_bytes, u ? u->now.path : "/dev/shm",
		   SCOPE_PROCESS);
	return true;
}

/* The limits of System V IPC, by cause. */
static const struct ipc_limit {
	const char *cause;
	const char *words; /* end of the finding's title */
	const char *check; /* command that shows what counts towards the limit */
	const char *value; /* value of the sysctl kernel.sem that is enough; NULL: see limits.def */
} ipc_limits[] = {
	{"shmmax", "kernel.shmmax is smaller than the segment", "ipcs -m -u"},
	{"shmall", "kernel.shmall reached", "ipcs -m -u"},
	{"shmmni", "kernel.shmmni reached", "ipcs -m"},
	/* the initial values of the kernel: include/uapi/linux/sem.h */
	{"semmsl", "the first number of kernel.sem (SEMMSL) reached", "ipcs -s -l",
	 "32000 1024000000 500 32000"},
	{"semmns", "the second number of kernel.sem (SEMMNS) reached", "ipcs -s",
	 "32000 1024000000 500 32000"},
	{"semmni", "the fourth number of kernel.sem (SEMMNI) reached", "ipcs -s",
	 "32000 1024000000 500 32000"},
	{"msgmni", "kernel.msgmni reached", "ipcs -q"},
};

/* Adds a command that raises the limit. Each IPC namespace has limits of its own. */
static void help_ipc(const struct occasion *o, const struct ipc_limit *i, struct finding *f)
{
	char name[32] = "kernel.sem", want[40];
	struct remedy *r;

	if (f->hopeless)
		return;
	if (i->value) {
		snprintf(want, sizeof(want), "'%s'", i->value);
	} else if (f->want && f->limit) {
		snprintf(name, sizeof(name), "%s", f->limit->name);
		snprintf(want, sizeof(want), "%" PRIu64, f->want);
	} else {
		return;
	}
	if (o->refused->ipc.initial) {
		r = finding_host_remedy(f, REMEDY_WORKAROUND, "raise the limit");
		remedy_command(r, "sysctl -w %s=%s", name, want);
		return;
	}
	r = finding_remedy(f, REMEDY_WORKAROUND,
			   "raise the limit in the IPC namespace of the process (docker run "
			   "--sysctl, or securityContext.sysctls in Kubernetes)");
	remedy_command(r, "nsenter -t %u -i sysctl -w %s=%s", o->refused->subject.pid, name, want);
}

bool refused_by_ipc(const struct occasion *o, const struct finding *open, struct finding *f)
{
	const struct ipc_limit *i = NULL;

	for (size_t k = 0; k < sizeof(ipc_limits) / sizeof(ipc_limits[0]); k++)
		if (refusal_has_cause(o, ipc_limits[k].cause))
			i = &ipc_limits[k];
	if (!i)
		return false;
	refusal_say(o, f, i->words);
	if (!o->refused->ipc.initial)
		snprintf(f->set_by, sizeof(f->set_by), "the IPC namespace of the process");
	remedy_command(finding_remedy(f, REMEDY_CHECK, "show what counts towards the limit"),
		       o->refused->ipc.initial ? "%s" : "nsenter -t %2$u -i %1$s", i->check,
		       o->refused->subject.pid);
	help_ipc(o, i, f);
	finding_advise(f);
	return true;
}
