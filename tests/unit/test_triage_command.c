// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests what `triage` prints of logs in each format, and what it returns. */
#define _GNU_SOURCE
#include <ftw.h>
#include <sys/stat.h>

#include "blackbox/ring_record.h"
#include "command_output.h"
#include "crash/triage_command.h"
#include "crash/triage_files.h"
#include "tap.h"

#define CRASH                                                                                      \
	"[   10.000000] BUG: kernel NULL pointer dereference, address: 0000000000000008\n"         \
	"[   10.000001] #PF: supervisor read access in kernel mode\n"                              \
	"[   10.000002] #PF: error_code(0x0000) - not-present page\n"                              \
	"[   10.000003] Oops: 0000 [#1] PREEMPT SMP NOPTI\n"                                       \
	"[   10.000004] CPU: 0 PID: 7 Comm: reader Not tainted 6.12.9 #1\n"                        \
	"[   10.000005] RIP: 0010:lab_read+0x10/0x20 [lab]\n"                                      \
	"[   10.000006] Call Trace:\n"                                                             \
	"[   10.000007]  vfs_read+0x10/0x20\n"                                                     \
	"[   10.000008] ---[ end trace 0000000000000000 ]---\n"
#define QUIET "[   10.000000] Linux version 6.1\n"

static char place[64];

static char *put(const char *name, const char *bytes, size_t size)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", place, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
		abort();
	close(fd);
	return strdup(path);
}

static char *put_text(const char *name, const char *text)
{
	return put(name, text, strlen(text));
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	return remove(path);
}

static struct options o;

static void run(char *path)
{
	char *argv[] = {path, NULL};

	o.argc = 1;
	o.argv = argv;
	o.colour = WHEN_NEVER;
	o.width = 200;
	run_command(command_triage, &o);
	free(path);
	o = (struct options){};
}

static void shows(const char *text)
{
	if (!ok(strstr(got.out, text) != NULL, "%s", text))
		printf("# %s\n", got.out);
}

static void complains(const char *text)
{
	if (!ok(strstr(got.err, text) != NULL, "%s", text))
		printf("# %s\n", got.err);
}

static void test_results(void)
{
	static const char noise[200] = "";

	run(put_text("crash", CRASH));
	is_u64(got.status, EXIT_GATE, "a crash");
	shows("lab_read");
	is_str(got.err, "", "nothing is missing");
	run(put_text("quiet", QUIET));
	is_u64(got.status, EXIT_DONE, "a log without a crash");
	shows("no crash found");
	is_str(got.err, "", "nothing is missing");
	run(put("noise", noise, sizeof(noise)));
	is_u64(got.status, EXIT_FAILED, "a file that is no text");
	complains("noise is no text (200 of 200 bytes)");
	run(put("empty", "", 0));
	is_u64(got.status, EXIT_FAILED, "an empty file");
	complains("nothing was read: the log has no line");
	run(strdup("/nowhere/log"));
	is_u64(got.status, EXIT_FAILED, "a file that does not exist");
	is_str(got.err, "faultscope: cannot read /nowhere/log: No such file or directory\n",
	       "its reason");
	is_str(got.out, "", "nothing is printed");
}

static void test_formats(void)
{
	o.format = &json_renderer;
	run(put_text("crash", CRASH));
	is_u64(got.status, EXIT_GATE, "a crash as JSON");
	ok(*got.out == '{', "begins with a brace");
	o.html = true;
	run(put_text("crash", CRASH));
	ok(!strncasecmp(got.out, "<!doctype html", 14), "an HTML page");
	o.markdown = true;
	run(put_text("crash", CRASH));
	shows("lab_read");
	ok(*got.out != '{' && *got.out != '<', "Markdown");
}

static void test_too_many(void)
{
	char name[32];

	for (int i = 0; i < TRIAGE_INPUTS_MAX + 1; i++) {
		snprintf(name, sizeof(name), "many%03d", i);
		free(put_text(name, QUIET));
		if (i == TRIAGE_INPUTS_MAX - 1) {
			run(strdup(place));
			is_u64(got.status, EXIT_DONE, "as many files as are read at once");
			is_str(got.err, "", "nothing is missing");
		}
	}
	run(strdup(place));
	is_u64(got.status, EXIT_INCOMPLETE, "one more");
	complains("1 file is left out: at most 256 are read at once");
	complains("lost: 1 file beyond the most that are read at once");
}

/* The ring file of the flight recorder is read beside the logs. */
static void test_ring(void)
{
	struct bb_record r = {.sequence = 1, .class = BB_FAULT, .severity = BB_CRITICAL};
	uint8_t bytes[BB_RECORD_MAX];
	char *path;

	bb_put(&r, "verdict", "fatal");
	bb_put(&r, "access", "read");
	bb_put_hex(&r, "address", 0x3e);
	bb_put(&r, "symbol", "lab_get+0xe");
	bb_put(&r, "module", "lab");
	bb_encode(&r, bytes);
	path = put("ring", (char *)bytes, sizeof(bytes));
	o.blackbox.file = path;
	run(put_text("quiet", QUIET));
	is_u64(got.status, EXIT_GATE, "a record of a crash");
	shows("lab_get");
	free(path);
	o.blackbox.file = "/nowhere/ring";
	run(put_text("quiet", QUIET));
	is_u64(got.status, EXIT_FAILED, "a ring file that does not exist");
	complains("cannot read /nowhere/ring: No such file or directory");
}

int main(void)
{
	strcpy(place, "/tmp/test_triage_command.XXXXXX");
	if (!mkdtemp(place))
		return 1;
	test_too_many();
	test_results();
	test_formats();
	test_ring();
	nftw(place, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	return tap_done();
}
