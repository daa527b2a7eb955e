/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* model: who set the value of a limit, and how to describe it. */
#ifndef FS_MODEL_ORIGIN_H
#define FS_MODEL_ORIGIN_H

#include "base/buf.h"
#include "model/limit.h"
#include "model/workload.h"

#define ORIGIN_COMM 64 /* bytes of a name in /proc/PID/status, where it is escaped */

enum origin_from {
	ORIGIN_UNKNOWN, /* no source of the limit was found */
	ORIGIN_KERNEL,	/* the limit is the kernel's default */
	ORIGIN_BOOT,	/* the limit is set on the kernel command line */
	ORIGIN_FILE,	/* a line of sysctl.d, limits.conf, a unit or system.conf sets it */
	ORIGIN_MANAGER, /* systemd's default for units sets the limit */
	ORIGIN_RUNTIME, /* a container runtime or its configuration sets the limit */
	ORIGIN_PROCESS, /* the process or an ancestor changed the limit */
	ORIGIN_HAND,	/* a command or program changed the limit since boot */
	ORIGIN_OUTSIDE, /* the limit is set outside of this container: source unknown */
	ORIGIN_NOBODY,	/* no limit is set */
	NR_ORIGINS
};

/* A line of a configuration file that sets the limit. */
struct origin_line {
	char file[256];
	unsigned int line; /* line number, from 1; 0: no line */
	char text[128];	   /* text of the line, trimmed and cut */
	char value[64];	   /* value to which the line sets the limit */
	bool glob;	   /* the line has a wildcard, which matches other names, too */
};

struct origin_process {
	uint32_t pid; /* pid of the process; 0: none */
	char comm[ORIGIN_COMM];
	uint32_t uid;
	bool known; /* `soft` and `hard` are known */
	uint64_t soft, hard;
};

struct origin {
	const struct limit *limit;
	/* true: `value` is known; false: the limit is unreadable or the process has exited */
	bool known;
	uint64_t value; /* limit in force; of an rlimit the soft limit; LIMIT_NONE: unlimited */
	uint64_t hard;	/* hard limit of the process */
	uint64_t used;	/* memory or tasks that the cgroup uses */
	bool swap_known;
	uint64_t swap; /* bytes of swap that the cgroup may use; LIMIT_NONE: no limit */
	uint64_t most; /* maximum for a process's hard limit (fs.nr_open); 0: none */
	enum origin_from from;
	/*
	 * a line of a configuration file that either sets the limit, or should set it but has no
	 * effect
	 */
	struct origin_line line;
	struct origin_process holder; /* oldest ancestor that has the limit */
	struct origin_process above;  /* parent of `holder`, which has another limit */
	/* number of generations between the process and the holder; 0: the process is the holder */
	uint32_t generations;
	bool raised;		   /* the process raised its soft limit to the hard limit */
	struct workload workload;  /* workload of the process */
	struct workload at_holder; /* workload of the holder, or of the limiting cgroup */
	char dir[768];		   /* path of the limiting cgroup below the mount point */
	char file[64];		   /* name of the limit's file in `dir`; empty: no limit */
	uint32_t levels;	   /* number of levels from the process's cgroup up to `dir` */
	bool outside;		   /* faultscope runs in a container */
	uint32_t unread;	   /* number of files not read: no permission, or too many */
};

/* Writes the text that follows the words "set by" in a report. */
void origin_describe(const struct origin *o, struct buf *b);

const char *origin_name(enum origin_from from); /* returns a fixed name, such as "file" */

#endif
