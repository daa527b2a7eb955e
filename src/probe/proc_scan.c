// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "probe/proc_scan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alive.h"
#include "base/hash.h"
#include "base/io.h"
#include "probe/counter_parts.h"
#include "probe/host_facts.h"

#define SEEN 65536

struct seen {
	__u64 start_ns, signature;
	bool kept; /* true if BPF programs had state of the process at the last scan */
};

struct proc_scan {
	struct seen seen[SEEN]; /* index: pid modulo SEEN; newer processes replace older ones */
};

static __u64 tick_ns(void)
{
	return 1000000000ULL / sysconf(_SC_CLK_TCK);
}

__u64 proc_scan_birth(__u64 start_ns)
{
	return start_ns / tick_ns() * tick_ns();
}

__u64 proc_scan_start(__u64 start_ns, __u32 flags, __u64 exact_ns)
{
	bool exact = flags & PROC_BORN || start_ns >= exact_ns;

	return exact ? start_ns : proc_scan_birth(start_ns);
}

/* Parses /proc/PID/stat, see proc_pid_stat(5). A comm may contain any byte, even brackets. */
static bool read_stat(int dir, struct process_record *r)
{
	unsigned long long min, maj, user, system, start;
	char text[1024], *open, *close;
	unsigned int ppid, flags;
	long threads;

	if (io_read(dir, "stat", text, sizeof(text)) <= 0)
		return false;
	open = strchr(text, '(');
	close = strrchr(text, ')');
	if (!open || !close ||
	    sscanf(close + 1,
		   " %*c %u %*d %*d %*d %*d %u %llu %*u %llu %*u %llu %llu %*d %*d %*d %*d %ld %*d "
		   "%llu",
		   &ppid, &flags, &min, &maj, &user, &system, &threads, &start) != 8)
		return false;
	if (flags & 0x200000 /* flag PF_KTHREAD */)
		return false;
	*close = 0;
	snprintf(r->g.comm, sizeof(r->g.comm), "%.15s", open + 1);
	r->g.ppid = ppid;
	r->g.min_flt = min;
	r->g.maj_flt = maj;
	r->g.threads = threads;
	r->u.cpu_ns = (user + system) * tick_ns();
	r->u.user_threads = r->u.user_threads_limit = ~0ULL;
	r->subject.start_ns = start * tick_ns();
	return true;
}

static __u64 status_number(const char *status, const char *key)
{
	const char *at = strstr(status, key);
	unsigned long long n;

	return at && sscanf(at + strlen(key), "%llu", &n) == 1 ? n : 0;
}

static bool read_status(int dir, struct gauges *g)
{
	__u64 kib_a_page = sysconf(_SC_PAGESIZE) / 1024;
	char text[4096];

	if (io_read(dir, "status", text, sizeof(text)) <= 0)
		return false;
	g->uid = status_number(text, "\nUid:");
	g->total_vm_pages = status_number(text, "\nVmSize:") / kib_a_page;
	g->data_vm_pages = status_number(text, "\nVmData:") / kib_a_page;
	g->locked_vm_pages = status_number(text, "\nVmLck:") / kib_a_page;
	g->rss_anon_pages = status_number(text, "\nRssAnon:") / kib_a_page;
	g->rss_file_pages = status_number(text, "\nRssFile:") / kib_a_page;
	g->rss_shmem_pages = status_number(text, "\nRssShmem:") / kib_a_page;
	g->swap_pages = status_number(text, "\nVmSwap:") / kib_a_page;
	return true;
}

/* Parses a line such as "Max open files 1024 4096 files" (soft, hard). "unlimited" is ~0. */
static __u64 limit_of(const char *text, const char *name, __u64 *ret_hard)
{
	const char *at = strstr(text, name);
	unsigned long long soft, hard;
	char a[24], b[24];

	*ret_hard = ~0ULL;
	if (!at || sscanf(at + strlen(name), "%23s %23s", a, b) != 2)
		return ~0ULL;
	if (sscanf(b, "%llu", &hard) == 1)
		*ret_hard = hard;
	return sscanf(a, "%llu", &soft) == 1 ? soft : ~0ULL;
}

static bool read_limits(int dir, struct gauges *g)
{
	char text[2048];
	__u64 hard;

	if (io_read(dir, "limits", text, sizeof(text)) <= 0)
		return false;
	g->fd_soft = limit_of(text, "Max open files", &g->fd_hard);
	g->as_limit_bytes = limit_of(text, "Max address space", &hard);
	g->data_limit_bytes = limit_of(text, "Max data size", &hard);
	g->memlock_limit_bytes = limit_of(text, "Max locked memory", &hard);
	return true;
}

/*
 * Counts fds. Since f1f1f2569901 (6.2), the size of the directory /proc/PID/fd is this number;
 * before, the size is 0.
 */
static __u32 count_fds(int dir)
{
	struct stat st;
	__u32 n = 0;
	DIR *d;
	int fd;

	if (!fstatat(dir, "fd", &st, 0) && st.st_size)
		return st.st_size;
	fd = openat(dir, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	d = fd < 0 ? NULL : fdopendir(fd);
	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
	return n > 2 ? n - 2 : 0; /* without the entries . and .. */
}

static __u64 signature_of(const struct process_record *r)
{
	return hash64_bytes(HASH64_BEGIN, &r->g, sizeof(*r) - offsetof(struct process_record, g));
}

/* Describes a thread's last fault, as BPF programs do in the records that they send. */
static struct fs_pending pending_of(const struct fs_fault_slot *slot)
{
	struct fs_pending p = {.ns = slot->ended_ns, .end = slot->end & 1};

	for (__u64 n = slot->ended_ns >> LATENCY_SHIFT; n > 1 && p.bucket < NR_LATENCY - 1; n >>= 1)
		p.bucket++;
	/* without an address, the fault was not classified */
	p.class = slot->address ? slot->as[p.end] : NR_CLASSES;
	p.read_bytes = slot->read_bytes;
	memcpy(p.waited_ns, slot->waited_ns, sizeof(p.waited_ns));
	return p;
}

static void take_state(struct process_record *r, const struct fs_whole_state *whole)
{
	const struct fs_pending pending = pending_of(&whole->slot);
	const struct fs_state *st = &whole->st;

	counters_of_state(whole, &r->c);
	counters_add_pending(&r->c, &pending);
	r->g.flags = st->flags & ~PROC_KEPT;
	r->g.execs = st->execs;
	r->g.fd_base = st->fd_base;
	r->g.map_count = st->map_count ?: st->last_map_count;
	r->g.map_high = st->map_high;
	r->g.fd_high = st->fd_high;
}

/*
 * Reads the values that /proc shows only for a live thread, from the thread's directory. Returns
 * false if the thread has exited.
 */
static bool read_alive(int dir, struct process_record *r)
{
	char text[1024];

	if (io_read(dir, "stat", text, sizeof(text)) <= 0 || alive_is_over(text))
		return false;
	if (!read_status(dir, &r->g) || !read_limits(dir, &r->g))
		return false;
	r->g.fds = count_fds(dir);
	return true;
}

static bool read_process(int dir, __u32 pid, struct process_record *r)
{
	char path[32];
	__u32 tid;
	int task;
	bool read;

	if (!read_stat(dir, r))
		return false;
	if (read_alive(dir, r))
		return true;
	tid = alive_thread(pid);
	snprintf(path, sizeof(path), "task/%u", tid);
	task = tid == pid ? -1 : openat(dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	read = task >= 0 && read_alive(task, r);
	if (task >= 0)
		close(task);
	return read;
}

/*
 * Returns whether a process for which the BPF programs have no state was counted elsewhere. Its
 * last record may still be in the ring. If a thread called execve() and replaces the leader, the
 * state is in the table of processes without a leader, or was moved back after /proc was read.
 */
static bool has_counters_elsewhere(const struct proc_states *states, const struct seen *seen,
				   const struct process_key *s)
{
	struct fs_whole_state arrived;

	return (seen->kept && proc_scan_birth(seen->start_ns) == s->start_ns) ||
	       (states && (states->waits(states->ctx, s->pid, s->start_ns) ||
			   states->read(states->ctx, s->pid, &arrived)));
}

static int look_at(struct proc_scan *pl, int dir, __u32 pid, bool everyone,
		   const struct proc_states *states, const struct sink *sink)
{
	struct process_record r = {.subject.pid = pid};
	struct seen *seen = &pl->seen[pid % SEEN];
	__u64 signature;
	struct fs_whole_state whole;
	const struct fs_state *st = &whole.st;
	int kept = states ? states->read(states->ctx, pid, &whole) : 0;

	if (kept < 0 || (!kept && !everyone))
		return 0;
	/*
	 * Skips a command that still has the fds of faultscope: posix_spawn() may return before the
	 * exec.
	 */
	if (kept && st->flags & PROC_COMMAND && !st->execs)
		return 0;
	if (kept)
		take_state(&r, &whole);
	if (!read_process(dir, pid, &r))
		return 0;
	if (!kept && has_counters_elsewhere(states, seen, &r.subject))
		return 0; /* this process is sent at the next scan */
	if (kept && st->start_ns) {
		if (proc_scan_birth(st->start_ns) != r.subject.start_ns)
			return 0; /* the pid was used again after the state was read */
		r.subject.start_ns = proc_scan_start(st->start_ns, st->flags, states->exact_ns);
	}
	if (!r.g.map_count)
		r.g.flags |= PROC_NO_COUNT;
	if (r.g.fds > r.g.fd_high || (kept && (__u32)r.g.fd_soft < st->fd_limit))
		r.g.fd_high = r.g.fds;
	signature = signature_of(&r);
	if (seen->start_ns == r.subject.start_ns && seen->signature == signature)
		return 0;
	*seen = (struct seen){r.subject.start_ns, signature, kept};
	r.h = (struct record){RECORD_PROCESS, sizeof(r), host_monotonic_ns()};
	return sink->take(sink->ctx, &r.h);
}

int proc_scan(struct proc_scan **pl, bool everyone, const struct proc_states *states,
	      const struct sink *sink)
{
	struct dirent *de;
	int err = 0;
	DIR *proc;

	if (!*pl)
		*pl = calloc(1, sizeof(**pl));
	if (!*pl)
		return -ENOMEM;
	proc = opendir("/proc");
	if (!proc)
		return -errno;
	while (!err && (de = io_next_entry(proc, &err))) {
		__u32 pid = atoi(de->d_name);
		int dir;

		if (!pid)
			continue;
		dir = openat(dirfd(proc), de->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (dir < 0) {
			if (errno == EMFILE || errno == ENFILE || errno == ENOMEM)
				err = -errno;
			continue; /* without an error, the process has exited */
		}
		err = look_at(*pl, dir, pid, everyone, states, sink);
		close(dir);
	}
	closedir(proc);
	return err;
}

void proc_scan_free(struct proc_scan *pl)
{
	free(pl);
}
