// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests the advice for a process without free fds. It depends on the soft and the hard limit. */
#include "fixture.h"
#include "rules/limits_rules.h"
#include "tap.h"
#include "finding_text.h"

#define PRLIMIT "workaround: raise the soft limit: prlimit --pid 7 --nofile="
#define AS_ROOT                                                                                    \
	"workaround: raise both limits, as root: the soft limit is at the hard limit: prlimit "    \
	"--pid 7 --nofile="
#define NEXT "workaround: raise the limit in the shell that starts the program: ulimit -n "

static const char *help(struct subject *s, uint64_t soft)
{
	static struct finding f;

	memset(&f, 0, sizeof(f));
	limit_help_nofile(&f, s, soft);
	is_u64(f.nr_remedies, 1, "one remedy");
	return remedy_str(&f, 0);
}

static void test_alive(void)
{
	struct subject s = {.id = {.pid = 7}};

	s.now.g.fd_hard = 1048576;
	is_str(help(&s, 1024), PRLIMIT "65536:", "a small limit: 65536");
	is_str(help(&s, 16384), PRLIMIT "65536:", "four times as much is as much");
	is_str(help(&s, 20000), PRLIMIT "131072:", "a larger one: at least four times as much");
	is_str(help(&s, 262144), PRLIMIT "1048576:", "up to the hard limit");
	is_str(help(&s, 300000), PRLIMIT "1048576:", "but not above it while there is room below");
	s.now.g.fd_hard = 4096;
	is_str(help(&s, 1024), PRLIMIT "4096:", "the hard limit may be small");
	is_str(help(&s, 4096), AS_ROOT "8192:8192", "at the hard limit: both twice as high");
}

static void test_gone(void)
{
	struct subject s = {.id = {.pid = 7}, .final = true};

	s.now.g.fd_hard = 1048576;
	is_str(help(&s, 1024), NEXT "65536", "of who has ended: for the next");
	is_str(help(NULL, 1024), NEXT "65536", "of who is not known, too");
	s.now.g.fd_hard = 4096;
	is_str(help(&s, 4096),
	       "workaround: raise the limit in the shell that starts the program. The value is "
	       "above the hard limit: run the command as root, or set LimitNOFILE= in the unit of "
	       "the program: ulimit -n 8192",
	       "above the hard limit it says who may");
}

static void test_map_count(void)
{
	struct finding f = {};
	struct model m;

	begin_model(&m, NULL);
	limit_help_map_count(&f, &m, 65530);
	is_str(remedy_str(&f, 0),
	       "workaround: raise vm.max_map_count: sysctl -w vm.max_map_count=1048576",
	       "room for twice the mappings that there are");
	model_free(&m);
}

int main(void)
{
	test_alive();
	test_gone();
	test_map_count();
	return tap_done();
}
