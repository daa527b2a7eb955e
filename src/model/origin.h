/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* model: where a limit in force comes from, and how to say it. */
#ifndef FS_MODEL_ORIGIN_H
#define FS_MODEL_ORIGIN_H

#include "base/buf.h"
#include "model/limit.h"
#include "model/workload.h"

#define ORIGIN_COMM 64 /* as /proc/PID/status has it: escaped */

enum origin_from {
	ORIGIN_UNKNOWN, /* nothing here tells */
	ORIGIN_KERNEL,	/* the kernel's own */
	ORIGIN_BOOT,	/* the kernel's command line */
	ORIGIN_FILE, /* a line of a file: of sysctl.d, limits.conf, a unit, systemd's system.conf */
	ORIGIN_MANAGER, /* what systemd gives its units without being told */
	ORIGIN_RUNTIME, /* a container's runtime, or what told it to */
	ORIGIN_PROCESS, /* a process: itself, or on the way to it */
	ORIGIN_HAND,	/* a command or program, after the boot */
	ORIGIN_OUTSIDE, /* of this container: its files are not the host's */
	ORIGIN_NOBODY,	/* there is no limit */
	NR_ORIGINS
};

/* A line of a file that speaks of the limit. */
struct origin_line {
	char file[256];
	unsigned int line; /* from 1; 0: there is none */
	char text[128];	   /* without the blanks around it; cut */
	char value[64];	   /* of it */
	bool glob;	   /* it names more than this one */
};

struct origin_process {
	uint32_t pid; /* 0: none */
	char comm[ORIGIN_COMM];
	uint32_t uid;
	bool known; /* its limit */
	uint64_t soft, hard;
};

struct origin {
	const struct limit *limit;
	bool known;	/* the value in force; else it cannot be read, or its process is gone */
	uint64_t value; /* LIMIT_NONE: unlimited; of a process the soft one */
	uint64_t hard;	/* of a process */
	uint64_t used;	/* of a cgroup */
	bool swap_known;
	uint64_t swap; /* of a cgroup's memory: bytes that it may swap besides; LIMIT_NONE */
	uint64_t most; /* a process' hard limit cannot be above: fs.nr_open; 0: no such thing */
	enum origin_from from;
	struct origin_line line;      /* what sets it, or else what tried to */
	struct origin_process holder; /* of a process: the oldest ancestor that has the same */
	struct origin_process above;  /* the holder's parent, which has another */
	uint32_t generations;	      /* from the process up to the holder */
	bool raised;		      /* by itself: the soft limit, up to the hard one */
	struct workload workload;     /* of the process */
	struct workload at_holder;    /* of the holder, or of the cgroup that binds */
	char dir[768];		      /* of a cgroup: the one that binds, below the file system */
	char file[64];		      /* in it; empty: none binds */
	uint32_t levels;	      /* from the process' cgroup up to it */
	bool outside;		      /* we look from within a container */
	uint32_t unread; /* files that were there and could not be read, or were too many */
};

/* What follows "set by". */
void origin_describe(const struct origin *o, struct buf *b);

const char *origin_name(enum origin_from from); /* stable: "file", "kernel" */

#endif
