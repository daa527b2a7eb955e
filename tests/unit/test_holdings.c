// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests the lists of mappings and open fds of this process, which are read as for any process. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "collect/holdings_reader.h"
#include "fixture.h"
#include "model/holdings.h"
#include "tap.h"

#define FILES  37
#define PLAIN  11
#define EVENTS 20
#define PIPES  5

static const struct process_key me = {.pid = 4711, .start_ns = 1};
static struct model m;

static int take(void *ctx, const struct record *h)
{
	return model_take(ctx, h);
}

static const struct sink sink = {.take = take, .ctx = &m};

/* Returns the number of mappings or fds of a kind. Stores the row that contains this number. */
static uint64_t held(enum what what, uint32_t kind, const char *with, const struct holding **ret)
{
	const struct subject *s = model_find(&m, &me);
	const struct holdings *h = &s->held[what];

	for (size_t i = 0; i < h->n; i++) {
		if (h->sort[i].kind != kind || !strstr(h->sort[i].name, with))
			continue;
		if (ret)
			*ret = &h->sort[i];
		return h->sort[i].count;
	}
	return 0;
}

/* Returns whether rows are sorted by count, and by name where the counts are equal. */
static bool is_sorted(const struct holdings *h)
{
	size_t equal = 0;

	for (size_t i = 1; i < h->n; i++) {
		const struct holding *before = &h->sort[i - 1], *one = &h->sort[i];

		if (one->count > before->count ||
		    (one->count == before->count && strcmp(before->name, one->name) > 0))
			return false;
		equal += one->count == before->count;
	}
	return equal > 1;
}

static void map_files(void)
{
	char name[32];

	for (int i = 0; i < FILES; i++) {
		int fd;

		snprintf(name, sizeof(name), "pool_%d_%d", 1000 + i, i);
		fd = open(fixture_path(name), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		if (fd < 0 || ftruncate(fd, 8192) ||
		    mmap(NULL, 8192, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED)
			abort();
		close(fd);
		unlink(fixture_path(name));
	}
}

static void test_maps(void)
{
	const struct holding *g = NULL;

	map_files();
	/* Protections alternate, so that adjacent mappings do not merge. */
	for (int i = 0; i < PLAIN; i++)
		if (mmap(NULL, 4096, i & 1 ? PROT_NONE : PROT_READ | PROT_EXEC,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
			abort();
	is_u64(holdings_read(getpid(), &me, WHAT_MAPS, &sink), 0, "maps read");
	is_u64(held(WHAT_MAPS, HOLDING_FILE_SHARED, "/pool_# (deleted)", &g), FILES,
	       "files of one sort");
	ok(g && g->names == 2 && g->bytes == FILES * 8192, "names that differ, and their bytes");
	ok(is_sorted(&model_find(&m, &me)->held[WHAT_MAPS]),
	   "the most frequent sorts first, else by name");
	ok(held(WHAT_MAPS, HOLDING_ANONYMOUS, "r-xp", NULL) >= PLAIN / 2, "plain memory");
	ok(held(WHAT_MAPS, HOLDING_GUARD, "---p", NULL) >= PLAIN / 2, "without any right");
	is_u64(held(WHAT_MAPS, HOLDING_STACK, "[stack]", NULL), 1, "a stack");
	ok(held(WHAT_MAPS, HOLDING_FILE_PRIVATE, "libc", &g) >= 3 && g->names == 1,
	   "a library, by its own name");
}

static void test_fds(void)
{
	struct sockaddr_in here = {.sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(here);
	const struct holding *g = NULL;
	int pair[2], fd;
	char text[40];

	for (int i = 0; i < EVENTS; i++)
		if (eventfd(0, EFD_CLOEXEC) < 0)
			abort();
	for (int i = 0; i < PIPES; i++)
		if (pipe(pair))
			abort();
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || memfd_create("pool_77", 0) < 0)
		abort();
	fd = socket(AF_INET, SOCK_STREAM, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&here, sizeof(here)) || listen(fd, 1) ||
	    getsockname(fd, (struct sockaddr *)&here, &len))
		abort();
	is_u64(holdings_read(getpid(), &me, WHAT_FDS, &sink), 0, "descriptors read");
	is_u64(held(WHAT_FDS, HOLDING_ANON_INODE, "[eventfd]", &g), EVENTS, "eventfds");
	ok(g && g->names == 1, "all of one name");
	ok(held(WHAT_FDS, HOLDING_PIPE, "pipe", NULL) >= 2 * PIPES, "pipes");
	ok(held(WHAT_FDS, HOLDING_SOCKET, "unix", NULL) >= 2, "unix sockets");
	snprintf(text, sizeof(text), "tcp LISTEN on port %u", ntohs(here.sin_port));
	is_u64(held(WHAT_FDS, HOLDING_SOCKET, text, NULL), 1, text);
	is_u64(held(WHAT_FDS, HOLDING_MEMFD, "/memfd:pool_", NULL), 1, "a memory file");
}

static int refuse(void *ctx, const struct record *h)
{
	return -ENOSPC;
}

static void test_errors(void)
{
	static const struct sink full = {.take = refuse};
	uint32_t nobody = 0x7fffffff; /* a pid above any pid_max */

	is_u64(holdings_read(nobody, &me, WHAT_MAPS, &sink), -ESRCH, "maps of nobody");
	is_u64(holdings_read(nobody, &me, WHAT_FDS, &sink), -ESRCH, "descriptors of nobody");
	is_u64(holdings_read(getpid(), &me, WHAT_MAPS, &full), -ENOSPC, "what the sink says");
	is_str(holding_kind_name(HOLDING_SOCKET), "socket", "a kind");
	is_str(holding_kind_name(NR_HOLDING_KINDS), "?", "no kind");
}

/* Tests hostile records: a recording may contain any values. */
static void test_records(void)
{
	struct holding_record r = RECORD(holding_record, RECORD_HOLDING, SECOND);
	const struct holdings *h = &model_find(&m, &me)->held[WHAT_FDS];

	r.g.subject = me;
	r.g.what = WHAT_FDS;
	r.g.count = 5;
	model_take(&m, &r.h);
	ok(h->n == 1 && h->sort[0].count == 5, "a new reading takes the place of the old one");
	r.nth = HOLDINGS_MAX;
	model_take(&m, &r.h);
	is_u64(h->n, 1, "a place that there is not");
	r.nth = 0;
	r.g.what = 77;
	model_take(&m, &r.h);
	r.g.what = WHAT_FDS;
	r.g.subject.pid = 1;
	r.g.count = 6;
	model_take(&m, &r.h);
	is_u64(h->sort[0].count, 5, "of nobody, and of nothing");
}

static struct holding_record last;
static size_t rows;

static int count(void *ctx, const struct record *h)
{
	last = *(const struct holding_record *)h;
	rows++;
	return 0;
}

static const struct sink counter = {.take = count};

static size_t rows_of_fds(void)
{
	rows = 0;
	holdings_read(getpid(), &me, WHAT_FDS, &counter);
	return rows;
}

/* As many rows as are told are the whole list; with one more, the list is marked as cut. */
static void test_rows(void)
{
	size_t n = rows_of_fds();
	char name[] = "row-a";

	ok(n < HOLDINGS_TOLD && !last.g.cut, "%zu rows are the whole list", n);
	for (char c = '!'; n < HOLDINGS_TOLD; n++, c++) {
		c = c == '/' ? ':' : c; /* digits are left out of names */
		name[4] = c;
		if (memfd_create(name, 0) < 0)
			abort();
	}
	rows_of_fds();
	is_u64(rows, HOLDINGS_TOLD, "the longest list");
	ok(!last.g.cut && last.nth == HOLDINGS_TOLD - 1, "is whole");
	if (memfd_create("row-zz", 0) < 0)
		abort();
	is_u64(rows_of_fds(), HOLDINGS_TOLD, "a list of one more");
	ok(last.g.cut, "is cut");
}

int main(void)
{
	struct process_record p = process_record(me.pid, me.start_ns, SECOND);

	begin_model(&m, NULL);
	model_take(&m, &p.h);
	test_maps();
	test_fds();
	test_errors();
	test_records();
	model_free(&m);
	test_rows();
	return tap_done();
}
