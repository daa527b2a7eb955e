/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Runs one test case of the zoo. Checks that the call fails for the cause that the case states.
 * Prints this cause and the results as JSON.
 */
#include "zoo.h"

#define SKIPPED	  77
/*
 * milliseconds between the failed call and the removal of the limit; meanwhile, tests can read the
 * limit in /proc
 */
#define SETTLE_MS 50

struct ask ask;
struct subject subject;

static const struct zoo_case *const tables[] = {
	mapping_cases,	  space_cases,	    file_cases,	   count_cases,	   change_cases,
	remap_cases,	  heap_cases,	    lock_cases,	   descriptor_cases, number_cases,
	object_cases,	  task_cases,	    exec_cases,	   cgroup_cases,   signal_cases,
	flood_cases,	  order_cases,	    injected_cases, compat_cases,  wrong_cases,
	caller_cases,	  fault_cases,	    room_cases,	   namespace_cases, counted_cases,
	length_cases,	  device_cases,	    multicast_cases, quota_cases,
	stub_cases,	  rdma_cases,	    machine_cases,   control_cases, guest_cases,
};

static const char *name_of_case;
static bool in_guest, abrupt;
static long seed = 1;
static int refused_as;
static unsigned long long birth; /* field 22 (starttime) of /proc/self/stat */

long make_asked(void)
{
	long ret = syscall(ask.number, ask.arg[0], ask.arg[1], ask.arg[2], ask.arg[3], ask.arg[4],
			   ask.arg[5]);

	if (ask.number == SYS_brk && ret < ask.arg[0]) {
		errno = 0;
		return -1;
	}
	return ret;
}

long make_fork(void)
{
	long child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

	if (!child)
		_exit(0);
	if (child > 0)
		waitpid(child, NULL, 0);
	return child;
}

void end_with(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent && getppid()) /* 0: the parent is outside of the pid namespace */
		_exit(1);
}

/* Waits until the other end of a pipe is closed, which is its only writer. */
static void wait_for_end(int fd)
{
	char none;

	while (read(fd, &none, 1) < 0 && errno == EINTR)
		;
	close(fd);
}

pid_t start_sleeper(void (*first)(void))
{
	pid_t parent = getpid(), child;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		die("pipe2");
	child = fork_or_die();
	if (child) {
		close(ends[1]);
		wait_for_end(ends[0]);
		return child;
	}
	if (first)
		first();
	/*
	 * This call must be the last one, because a change of the user ID resets PR_SET_PDEATHSIG.
	 */
	end_with(parent);
	close(ends[1]);
	for (;;)
		pause();
}

void *empty_thread(void *arg)
{
	return arg;
}

void skip(const char *format, ...)
{
	va_list args;

	printf("{\"case\":\"%s\",\"skip\":\"", name_of_case);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	puts("\"}");
	fflush(stdout);
	exit(SKIPPED);
}

long vary(long low, long high)
{
	static unsigned long state;
	unsigned long mixed = state += 0x9e3779b97f4a7c15UL * (2 * (unsigned long)seed + 1);

	mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9UL;
	mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebUL;
	return low + (mixed ^ mixed >> 31) % (high - low + 1);
}

size_t some_bytes(void)
{
	return vary(4 * MIB / PAGE_BYTES, 64 * MIB / PAGE_BYTES) * PAGE_BYTES;
}

size_t small_bytes(void)
{
	return vary(256 * KIB / PAGE_BYTES, 4 * MIB / PAGE_BYTES) * PAGE_BYTES;
}

static struct setting {
	const char *path;
	char text[64];
} settings[4];

static void restore_settings(void)
{
	raise_capability(CAP_SYS_ADMIN); /* the case may have dropped this capability */
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		if (settings[i].path && !write_text(settings[i].path, settings[i].text))
			fprintf(stderr, "%s is not as it was\n", settings[i].path);
}

static void keep_setting(struct setting *setting, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		skip("%s: %s", path, strerror(errno));
	if (read(fd, setting->text, sizeof(setting->text) - 1) < 1)
		die("read %s", path);
	close(fd);
	setting->path = path;
}

void machine_setting(const char *path, long number)
{
	size_t i = 0;

	if (!in_guest)
		skip("%s is the whole machine's: needs --guest", path);
	while (settings[i].path && strcmp(settings[i].path, path))
		i++;
	if (!settings[i].path) {
		if (!i)
			at_end(restore_settings);
		keep_setting(&settings[i], path);
	}
	write_number(path, number);
}

static const struct zoo_case *find_case(const char *name)
{
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		for (const struct zoo_case *c = tables[i]; c->name; c++)
			if (!strcmp(c->name, name))
				return c;
	return NULL;
}

static void list_cases(void)
{
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		for (const struct zoo_case *c = tables[i]; c->name; c++)
			printf("{\"case\":\"%s\",\"kind\":\"%s\",\"guest\":%s}\n", c->name,
			       c->control  ? "control"
			       : c->signal ? "signal"
			       : c->oom	   ? "oom"
					   : "refused",
			       c->guest ? "true" : "false");
}

/* Prints words that '|' separates, such as "a|b", as a JSON list. */
static void print_list(const char *key, const char *words)
{
	const char *comma = "";

	printf(",\"%s\":[", key);
	for (size_t length; words && *words; words += length + (words[length] == '|')) {
		length = strcspn(words, "|");
		printf("%s\"%.*s\"", comma, (int)length, words);
		comma = ",";
	}
	printf("]");
}

static void print_want(const struct want *want, int error, long times)
{
	const char *name = error == ERROR_NOTSUPP ? "ENOTSUPP" : strerrorname_np(error);

	printf("\"call\":\"%s\",\"errno\":", want->call);
	if (error && name)
		printf("\"%s\"", name);
	else if (error)
		printf("\"%d\"", error);
	else
		printf("null");
	printf(",\"cause\":\"%.*s\"", (int)strcspn(want->causes, "|"), want->causes);
	print_list("causes", want->causes);
	print_list("would_fail_next", want->next);
	printf(",\"expect_certain_allowed\":%s,\"times\":%ld",
	       want->undecidable ? "false" : "true", times);
}

static void print_truth(const struct zoo_case *c)
{
	printf("{\"case\":\"%s\",\"main\":%d,\"birth\":%llu,\"pid\":%d,\"tid\":%d", c->name,
	       getpid(), birth, subject.pid, subject.tid);
	if (c->control) {
		printf(",\"control\":true");
		print_list("allowed", c->want.causes);
	} else if (c->signal) {
		printf(",\"signal\":\"SIG%s\"", sigabbrev_np(c->signal));
		print_list("classes", c->class);
	} else if (c->oom) {
		print_list("oom", c->oom);
	}
	if (c->want.call && !c->control) {
		printf(",");
		print_want(&c->want, refused_as, c->times ? c->times : 1);
	}
	if (c->also.call) {
		printf(",\"also\":{");
		print_want(&c->also, c->also.error, 1);
		printf("}");
	}
	printf(",\"proved\":\"%s\"", abrupt ? "" : c->lift ? "lifted" : c->impose ? "before" : "");
	puts("}");
	fflush(stdout);
}

/* Returns this process's start time. Under the limits of a case, opening /proc may fail. */
static unsigned long long birth_of_this_process(void)
{
	char text[1024];
	unsigned long long ticks;
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	char *rest;

	if (n <= 0)
		die("/proc/self/stat: %s", strerror(errno));
	close(fd);
	text[n] = 0;
	rest = strrchr(text, ')'); /* the process name before ')' may contain spaces */
	if (!rest || sscanf(rest + 1, " %*c" " %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u"
			    " %*d %*d %*d %*d %*d %*d %llu", &ticks) != 1)
		die("/proc/self/stat is not as in proc(5): %s", text);
	return ticks;
}

static long make(const struct zoo_case *c)
{
	errno = 0;
	return c->make ? c->make() : make_asked();
}

static void must_succeed(const struct zoo_case *c, const char *when)
{
	if (make(c) == -1)
		die("%s: %s does not succeed %s", c->name, c->want.call ? c->want.call : "access",
		    when);
}

/* Makes the call as often as the case states. Each call must fail with the case's errno. */
static void must_fail(const struct zoo_case *c)
{
	for (long i = 0; i < (c->times ? c->times : 1); i++) {
		long ret = make(c);

		if (ret != -1) {
			errno = 0;
			die("%s: %s was not refused but gave %#lx", c->name,
			    c->want.call ? c->want.call : "access", ret);
		}
		if (!i)
			refused_as = errno;
		if (c->signal && got_signal != c->signal)
			die("%s: signal %d", c->name, (int)got_signal);
		if (!c->signal && !c->oom && errno != c->want.error &&
		    (!c->want.or_error || errno != c->want.or_error))
			die("%s: %s was not refused as %s", c->name, c->want.call,
			    c->want.error ? strerrorname_np(c->want.error) : "(none)");
	}
}

static void run(const struct zoo_case *c)
{
	subject = (struct subject){ getpid(), getpid() };
	if (c->guest && !in_guest)
		skip("needs a machine of its own: --guest");
	if (c->prepare)
		c->prepare();
	if (c->impose) {
		must_succeed(c, "before it is limited");
		c->impose();
	}
	wait_for_go();
	if (c->control)
		must_succeed(c, "though nothing limits it");
	else
		must_fail(c);
	if (!abrupt) {
		usleep(SETTLE_MS * 1000);
		if (c->lift) {
			c->lift();
			must_succeed(c, "when its limit is lifted");
		}
	}
	print_truth(c);
}

static void (*undos[8])(void);
static size_t nr_undos;
static pid_t owner;

void at_end(void (*undo)(void))
{
	if (nr_undos == sizeof(undos) / sizeof(undos[0]))
		die("too many things to undo");
	undos[nr_undos++] = undo;
}

void run_undo(void)
{
	while (getpid() == owner && nr_undos)
		undos[--nr_undos]();
}

int main(int argc, char **argv)
{
	static const char usage[] = "CASE|list [--guest] [--abrupt] [--seed N]";
	const struct opt opts[] = {
		{ "guest", OPT_FLAG, &in_guest },
		{ "abrupt", OPT_FLAG, &abrupt },
		{ "seed", OPT_NUMBER, &seed },
		{ 0 },
	};
	const struct zoo_case *c;

	parse_args(argc, argv, usage, opts, &name_of_case, 1, 1);
	if (!strcmp(name_of_case, "list")) {
		list_cases();
		return 0;
	}
	c = find_case(name_of_case);
	if (!c)
		wrong_usage(usage);
	owner = getpid();
	birth = birth_of_this_process();
	atexit(run_undo);
	run(c);
	return 0;
}
