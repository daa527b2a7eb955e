// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests what each kind of attachment asks of the kernel, in which order, and that an error leaves
 * the links of other probes as they were. libbpf, the events, tracefs and the keeper of links are
 * those of this test.
 */
#define _GNU_SOURCE
#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "base/buf.h"
#include "open_files.h"
#include "probe/attach.h"
#include "probe/calls.h"
#include "probe/keeper.h"
#include "probe/tracefs.h"
#include "tap.h"

#define EVENT	100 /* number of the tracepoint of the first call */
#define OFFLINE 1   /* the CPU that is not online */

struct bpf_link {
	int fd; /* file of an event; -1: another link */
	int number;
	bool open;
};

static struct bpf_link link_of[LINKS_MAX + 100];
static int links_made;

static struct {
	struct buf calls; /* the calls, in their order */
	int steps;	  /* calls that may fail: events, and links */
	int fails_at;	  /* the one that fails, from 1 on; 0: none */
	int error;
	int cpus;
	int tracefs_error, keeper; /* result of starting the keeper */
	bool tracefs_open;
	int absent[2], absences;       /* calls whose tracepoint is not there */
	int absent_error;	       /* the error of these */
	__u64 missed[LINKS_MAX + 100]; /* returns that links missed */
	int no_info;		       /* number of a link without information */
} kernel;

static struct links links;
static size_t fds; /* open files before a test */

#define NOTE(...) buf_printf(&kernel.calls, __VA_ARGS__)

static bool fails(void)
{
	errno = kernel.error;
	return ++kernel.steps == kernel.fails_at;
}

static struct bpf_link *make_link(int fd)
{
	struct bpf_link *link = &link_of[links_made];

	if (fails())
		return NULL;
	*link = (struct bpf_link){fd, links_made++, true};
	return link;
}

/* ---- libbpf, and the kernel ---- */

int bpf_link__destroy(struct bpf_link *link)
{
	if (!link->open)
		abort();
	link->open = false;
	NOTE("-%d ", link->number);
	if (link->fd >= 0)
		close(link->fd);
	return 0;
}

int bpf_link__fd(const struct bpf_link *link)
{
	return 1000 + link->number;
}

struct bpf_link *bpf_program__attach_perf_event(const struct bpf_program *prog, int fd)
{
	NOTE("%s ", (const char *)prog);
	return make_link(fd);
}

struct bpf_link *bpf_program__attach_iter(const struct bpf_program *prog,
					  const struct bpf_iter_attach_opts *opts)
{
	NOTE("iterator:%s%s ", (const char *)prog, opts ? "?" : "");
	return make_link(-1);
}

struct bpf_link *bpf_program__attach_kprobe_multi_opts(const struct bpf_program *prog,
						       const char *pattern,
						       const struct bpf_kprobe_multi_opts *opts)
{
	NOTE("returns:%s%s%s of %zu from %s to %s", (const char *)prog, pattern ? "?" : "",
	     opts->retprobe ? "" : "?", opts->cnt, opts->syms[0], opts->syms[opts->cnt - 1]);
	if (opts->cookies)
		NOTE(" cookie %llu", (unsigned long long)opts->cookies[0]);
	NOTE(" ");
	return make_link(-1);
}

struct bpf_link *parallel_load_attach(struct bpf_program *prog)
{
	NOTE("auto:%s ", (const char *)prog);
	return make_link(-1);
}

struct bpf_program *object_program(const struct object *o, const char *name)
{
	(void)o;
	return (struct bpf_program *)name;
}

int libbpf_num_possible_cpus(void)
{
	return kernel.cpus;
}

/* perf_event_open(2) is the only call. */
long syscall(long number, ...)
{
	const struct perf_event_attr *attr;
	long pid, cpu, group, flags;
	va_list list;

	va_start(list, number);
	attr = va_arg(list, const struct perf_event_attr *);
	pid = va_arg(list, int);
	cpu = va_arg(list, int);
	group = va_arg(list, int);
	flags = va_arg(list, int);
	va_end(list);
	if (number != SYS_perf_event_open || pid != -1 || group != -1 ||
	    flags != PERF_FLAG_FD_CLOEXEC || attr->size != sizeof(*attr))
		abort();
	if (cpu == OFFLINE) {
		errno = ENODEV;
		return -1;
	}
	NOTE("%s%u:%llu period %llu on %ld: ",
	     attr->type == PERF_TYPE_SOFTWARE	  ? "event "
	     : attr->type == PERF_TYPE_TRACEPOINT ? "tracepoint "
						  : "? ",
	     attr->type, (unsigned long long)attr->config, (unsigned long long)attr->sample_period,
	     cpu);
	return fails() ? -1 : open("/dev/null", O_RDONLY | O_CLOEXEC);
}

int bpf_obj_get_info_by_fd(int fd, void *info, __u32 *len)
{
	int number = fd - 1000;

	if (*len < 40 || number < 0 || number >= links_made || kernel.no_info == number)
		return -EINVAL;
	memcpy((char *)info + 32, &kernel.missed[number], 8);
	return 0;
}

int tracefs_open(void)
{
	if (kernel.tracefs_error)
		return -kernel.tracefs_error;
	kernel.tracefs_open = true;
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

int tracefs_tracepoint(int root, const char *name)
{
	static const char begin[] = "syscalls/sys_exit_";

	if (fcntl(root, F_GETFD) < 0 || strncmp(name, begin, strlen(begin)) != 0)
		abort();
	for (unsigned int i = 0; i < nr_call_rows; i++) {
		if (strcmp(call_rows[i].name, name + strlen(begin)) != 0)
			continue;
		for (int k = 0; k < kernel.absences; k++)
			if (kernel.absent[k] == (int)i)
				return -kernel.absent_error;
		return EVENT + i;
	}
	abort();
}

int keeper_start(void)
{
	NOTE("keeper ");
	return kernel.keeper < 0 ? kernel.keeper : open("/dev/null", O_RDONLY | O_CLOEXEC);
}

int keeper_hold(int keeper, const int *files, int n)
{
	if (fcntl(keeper, F_GETFD) < 0)
		abort();
	NOTE("holds %d from %d to %d ", n, files[0], files[n - 1]);
	return 0;
}

/* ---- what is attached ---- */

static struct hook_alternate alternate(enum attach_kind kind)
{
	return (struct hook_alternate){"x", kind, .program = {"a", "b"}};
}

static void begin(void)
{
	detach_all(&links);
	buf_free(&kernel.calls);
	memset(&kernel, 0, sizeof(kernel));
	memset(&links, 0, sizeof(links));
	links.iterator = kernel.no_info = -1;
	links_made = 0;
	kernel.cpus = 3;
	kernel.error = EBUSY;
}

static int attach(enum attach_kind kind)
{
	const struct hook_alternate alt = alternate(kind);

	buf_clear(&kernel.calls);
	return attach_alternate(&links, NULL, &alt);
}

static const char *calls(void)
{
	return kernel.calls.len ? kernel.calls.s : "";
}

#define EVENTS_OF(program, config)                                                                 \
	"event 1:" config " period 1 on 0: " program " event 1:" config " period 1 on 2: " program \
	" "

static const struct {
	enum attach_kind kind;
	int links;
	const char *calls;
} kinds[] = {
	{ATTACH_NOTHING, 0, ""},
	{ATTACH_AUTO, 2, "auto:a auto:b "},
	{ATTACH_ITERATOR, 1, "iterator:a "},
	{ATTACH_PERF_BEGIN, 2, EVENTS_OF("a", "2")},
	{ATTACH_PERF_MAJORS, 2, EVENTS_OF("a", "6")},
	{ATTACH_PERF_FAULTS, 4, EVENTS_OF("a", "5") EVENTS_OF("b", "6")},
	{ATTACH_MEMCG_FAULTS, 3, "auto:a " EVENTS_OF("b", "6")},
	{ATTACH_FILE_MAJORS, 3, "auto:b " EVENTS_OF("a", "6")},
};

static void test_kinds(void)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		begin();
		is_u64(attach(kinds[i].kind), 0, "a kind of attachment");
		is_str(calls(), kinds[i].calls, "its calls");
		is_u64(links.nr, kinds[i].links, "its links");
		is_u64(links.iterator, kinds[i].kind == ATTACH_ITERATOR ? 0 : (uint64_t)-1,
		       "the link of an iterator");
		ok(!links.keeper && !links.returns, "nothing else");
	}
	begin();
	is_u64(-attach(77), EINVAL, "no such kind");
	for (int cpus = -1; cpus < 2; cpus++) {
		kernel.cpus = cpus;
		is_u64(attach(ATTACH_PERF_BEGIN), 0, "a machine with few CPUs");
		is_u64(links.nr, cpus == 1, "has few links");
	}
	begin();
	is_u64(open_fds(), fds, "no file is left");
}

/* Each step fails once. The links of the probe before stay. */
static void test_failures(void)
{
	for (size_t i = 1; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		int wrong = 0, steps = 0, err;

		do {
			size_t before;

			begin();
			attach(ATTACH_ITERATOR);
			links.keeper = open("/dev/null", O_RDONLY | O_CLOEXEC);
			before = open_fds();
			kernel.steps = 0;
			kernel.fails_at = steps + 1;
			err = attach(kinds[i].kind);
			if (!err)
				break;
			steps++;
			wrong += err != -EBUSY || links.nr != 1 || links.iterator != 0 ||
				 !links.link[0]->open || open_fds() != before || links.keeper <= 0;
			for (int k = 1; k < links_made; k++)
				wrong += link_of[k].open;
		} while (steps < 100);
		wrong += err || kernel.steps != steps;
		ok(steps > 0 && !wrong, "kind %d: %d steps, %d wrong results", kinds[i].kind, steps,
		   wrong);
	}
	begin();
	is_u64(open_fds(), fds, "no file is left");
}

/* Links are closed in the reverse order, and the keeper with the last one. */
static void test_detaching(void)
{
	begin();
	attach(ATTACH_AUTO);
	attach(ATTACH_ITERATOR);
	is_u64(links.iterator, 2, "an iterator behind other links");
	links_keep(&links);
	ok(links.keeper > 0, "a keeper");
	buf_clear(&kernel.calls);
	links_keep(&links);
	is_str(calls(), "", "there is one keeper");
	detach_all(&links);
	is_str(calls(), "-2 -1 -0 ", "the order of closing");
	ok(!links.nr && links.iterator == -1 && !links.keeper, "nothing is left");
	is_u64(open_fds(), fds, "no file is left");
	detach_all(&links);
	kernel.keeper = -EAGAIN;
	links_keep(&links);
	is_u64(links.keeper, (uint64_t)-EAGAIN, "a keeper that cannot be started");
	buf_clear(&kernel.calls);
	links_keep(&links);
	is_str(calls(), "", "is not tried again");
	detach_all(&links);
	is_u64(links.keeper, 0, "until all links are closed");
}

static void test_most(void)
{
	begin();
	for (int i = 0; i < LINKS_MAX - 1; i++)
		links.link[links.nr++] = make_link(-1);
	is_u64(attach(ATTACH_ITERATOR), 0, "the last link");
	is_u64(links.nr, LINKS_MAX, "as many as there may be");
	is_u64(-attach(ATTACH_ITERATOR), E2BIG, "one more");
	is_str(calls(), "iterator:a -1200 ", "is closed");
	ok(links.nr == LINKS_MAX && links.iterator == LINKS_MAX - 1, "the others stay");
	is_u64(-attach(ATTACH_PERF_BEGIN), E2BIG, "an event");
	is_u64(open_fds(), fds, "does not stay open");
}

/* ---- tracepoints at the ends of calls ---- */

static void test_exits(void)
{
	const int last = nr_call_rows - 1;
	const struct {
		int absent[2], absences, error;
		int links; /* < 0: an error */
		const char *name;
	} rows[] = {
		{{}, 0, 0, last + 1, "all calls"},
		{{1}, 1, ENOENT, last, "a call without a tracepoint"},
		{{last}, 1, ENOENT, last, "the last one without"},
		{{last - 1, last}, 2, ENOENT, last - 1, "the last two"},
		{{0}, 1, ENOENT, -ENOENT, "a kernel without tracepoints of calls"},
		{{0}, 1, EACCES, -EACCES, "a tracepoint that may not be read"},
		{{last}, 1, EACCES, -EACCES, "the last one that may not be read"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char want[128];
		size_t len;

		begin();
		attach(ATTACH_AUTO);
		memcpy(kernel.absent, rows[i].absent, sizeof(kernel.absent));
		kernel.absences = rows[i].absences;
		kernel.absent_error = rows[i].error;
		is_u64(attach(ATTACH_CALL_EXITS), rows[i].links < 0 ? rows[i].links : 0,
		       rows[i].name);
		is_u64(links.nr, rows[i].links < 0 ? 2 : 2 + rows[i].links, "links");
		if (rows[i].links < 0) {
			ok(!strstr(calls(), "keeper"), "no keeper");
			continue;
		}
		snprintf(want, sizeof(want), "tracepoint 2:%d period 0 on 0: a ", EVENT);
		ok(!strncmp(calls(), want, strlen(want)), "the first one");
		len = snprintf(want, sizeof(want), "keeper holds %d from %d to %d ", rows[i].links,
			       1002, 1001 + rows[i].links);
		is_str(calls() + strlen(calls()) - len, want, "the keeper has these links");
	}
	begin();
	is_u64(open_fds(), fds, "no file is left");
	kernel.tracefs_error = EACCES;
	is_u64(-attach(ATTACH_CALL_EXITS), EACCES, "no tracefs");
	begin();
	kernel.keeper = -EMFILE;
	is_u64(attach(ATTACH_CALL_EXITS), 0, "without a keeper");
	ok(links.nr == last + 1 && !strstr(calls(), "holds"), "calls are traced nevertheless");
	begin();
	kernel.fails_at = 2 * last;
	is_u64(-attach(ATTACH_CALL_EXITS), EBUSY, "a link that cannot be made");
	ok(!links.nr && !links.keeper, "no link stays");
	begin();
	is_u64(open_fds(), fds, "no file is left");
}

/* ---- returns of functions ---- */

static struct call_functions functions;

static void make_functions(size_t n, int hidden)
{
	memset(&functions, 0, sizeof(functions));
	for (size_t i = 0; i < n; i++)
		snprintf(functions.name[i], sizeof(functions.name[0]), "f%zu", i);
	functions.nr = n;
	functions.hidden = hidden;
}

static void test_returns(void)
{
	static const struct {
		size_t n;
		int hidden, err;
		const char *name;
	} rows[] = {{3, 1, EACCES, "hidden addresses"},
		    {0, 0, ESRCH, "no function"},
		    {CALL_FUNCTIONS_MAX, 0, ESRCH, "too many functions"}};
	char want[128];

	begin();
	is_u64(-attach(ATTACH_CALL_RETURNS), EACCES, "functions that are not known");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin();
		make_functions(rows[i].n, rows[i].hidden);
		links.functions = &functions;
		is_u64(-attach(ATTACH_CALL_RETURNS), rows[i].err, rows[i].name);
		is_str(calls(), "", "nothing is attached");
	}
	for (int filtered = 0; filtered < 2; filtered++)
		for (size_t n = 1; n < CALL_FUNCTIONS_MAX; n += CALL_FUNCTIONS_MAX - 2) {
			begin();
			attach(ATTACH_AUTO);
			make_functions(n, 0);
			links.functions = &functions;
			links.filtered = filtered;
			is_u64(attach(ATTACH_CALL_RETURNS), 0, "functions of calls");
			snprintf(want, sizeof(want), "returns:a of %zu from f0 to f%zu %s", n,
				 n - 1,
				 filtered ? "returns:a of 1 from " FILTER_FUNCTION
					    " to " FILTER_FUNCTION " cookie 1 "
					  : "");
			is_str(calls(), want, "their returns");
			ok(links.first_return == 2 && links.returns == 1 + filtered &&
				   links.nr == 3 + filtered,
			   "links of returns");
		}
	begin();
	attach(ATTACH_AUTO);
	make_functions(3, 0);
	links.functions = &functions;
	links.filtered = true;
	kernel.steps = 0;
	kernel.fails_at = 2;
	is_u64(-attach(ATTACH_CALL_RETURNS), EBUSY, "the second link cannot be made");
	ok(links.nr == 2 && !links.returns && !link_of[2].open, "the first one does not stay");
}

static void test_missed(void)
{
	begin();
	attach(ATTACH_AUTO);
	make_functions(3, 0);
	links.functions = &functions;
	links.filtered = true;
	attach(ATTACH_CALL_RETURNS);
	attach(ATTACH_ITERATOR);
	for (int i = 0; i < links_made; i++)
		kernel.missed[i] = 1ULL << (4 * i);
	is_u64(links_missed(&links), 0x1100, "returns that both links missed");
	kernel.no_info = 2;
	is_u64(links_missed(&links), 0x1000, "an old kernel tells nothing");
	kernel.no_info = -1;
	attach_alternate(&links, NULL, &(struct hook_alternate){"x", 77});
	is_u64(links_missed(&links), 0x1100, "links of a probe that fails are no matter");
	detach_all(&links);
	is_u64(links_missed(&links), 0, "no links");
}

int main(void)
{
	if (fcntl(STDIN_FILENO, F_GETFD) < 0)
		open("/dev/null", O_RDONLY | O_CLOEXEC); /* a keeper never has the number 0 */
	fds = open_fds();
	test_kinds();
	test_failures();
	test_detaching();
	test_most();
	test_exits();
	test_returns();
	test_missed();
	begin();
	return tap_done();
}
