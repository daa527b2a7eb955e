// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "resident/page_tables.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <unistd.h>

/* the size of the buffer of an iterator's file: PAGE_SIZE << 3, kernel/bpf/bpf_iter.c */
#define RUN_BYTES 32768
#define RUN_MOST  (RUN_BYTES / sizeof(struct fs_page_read))

/* The records of one run of the program. */
struct run {
	size_t n;
	struct fs_page_read record[RUN_MOST];
};

/* Returns a link that limits the iterator to the main thread of a process, or -errno. */
static int link_process(int program, uint32_t pid)
{
	union bpf_iter_link_info task = {.task.tid = pid};
	LIBBPF_OPTS(bpf_link_create_opts, link, .iter_info = &task, .iter_info_len = sizeof(task));
	int fd = bpf_link_create(program, 0, BPF_TRACE_ITER, &link);

	return fd < 0 ? -errno : fd;
}

/* Runs the program once. Returns 0 or -errno. */
static int run_once(int link, struct run *ret)
{
	int fd = bpf_iter_create(link);
	size_t bytes = 0;
	ssize_t n;

	if (fd < 0)
		return -errno;
	do {
		n = read(fd, (char *)ret->record + bytes, sizeof(ret->record) - bytes);
		if (n > 0)
			bytes += n;
	} while ((n > 0 && bytes < sizeof(ret->record)) ||
		 (n < 0 && (errno == EINTR || errno == EAGAIN)));
	if (n < 0)
		n = -errno;
	close(fd);
	ret->n = bytes / sizeof(ret->record[0]);
	return n < 0 ? n : 0;
}

/*
 * Kernels before 6.1 do not limit the iterator, and run the program for each thread of the machine:
 * there is then more than one record.
 */
bool page_tables_usable(const struct page_tables *t)
{
	struct run run = {};
	int link, err;

	if (t->program < 0 || !t->shared->resident_map_base)
		return false;
	link = link_process(t->program, getpid());
	if (link < 0)
		return false;
	t->shared->resident_read = (struct fs_pages_wanted){};
	err = run_once(link, &run);
	close(link);
	return !err && run.n == 1 && run.record[0].what == FS_PAGE_NEXT;
}

/*
 * Sends the records of a run for pages from *next to `to` - 1: the program reads whole ranges of 2
 * MiB. *next: the first page of the next run.
 */
static int take_run(const struct run *r, uint64_t *next, uint64_t to, uint64_t *memory,
		    page_fn *take, void *ctx)
{
	const struct fs_page_read *last = r->n ? &r->record[r->n - 1] : NULL;
	uint64_t from = *next;
	int err = 0;

	if (!last || last->what != FS_PAGE_NEXT || (*memory && *memory != last->frame))
		return -ESRCH;
	*memory = last->frame;
	*next = last->page;
	for (size_t i = 0; i + 1 < r->n && !err; i++)
		if (r->record[i].page >= from && r->record[i].page < to)
			err = take(ctx, &r->record[i]);
	return err;
}

int page_tables_read(const struct page_tables *t, uint32_t pid, uint64_t from, uint64_t to,
		     uint64_t *memory, page_fn *take, void *ctx)
{
	int link = link_process(t->program, pid), err = 0;
	struct run run;

	if (link < 0)
		return link;
	while (from < to && !err) {
		t->shared->resident_read = (struct fs_pages_wanted){.from = from, .to = to};
		err = run_once(link, &run);
		err = err ?: take_run(&run, &from, to, memory, take, ctx);
	}
	close(link);
	return err;
}
