// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests the output of `diagnose` as text, folded stacks and JSON. The test fills the model. */
#include "growth_fixture.h"
#include "render/render.h"
#include "tap.h"

static struct view view;

static void begin_view(uint32_t maps, uint32_t fds)
{
	struct process_record r = process_with(maps, fds);

	begin();
	model_take(&m, &r.h);
	view = (struct view){.m = &m, .findings = &fs, .width = 100, .command = true};
}

static char *said_by(const struct renderer *r)
{
	struct buf b = {};

	judge_window();
	r->close(&b, &view);
	return b.s ? b.s : strdup("");
}

static void has(const char *text, const char *part, const char *name)
{
	if (!ok(strstr(text, part), "%s", name))
		printf("#   no \"%s\" in:\n%s\n", part, text);
}

static void has_not(const char *text, const char *part, const char *name)
{
	if (!ok(!strstr(text, part), "%s", name))
		printf("#   \"%s\" in:\n%s\n", part, text);
}

static void hold_tensors(void)
{
	holds(WHAT_MAPS, 0, HOLDING_SHARED_MEMORY, "/dev/shm/torch_# (deleted)", 38000);
	holds(WHAT_MAPS, 1, HOLDING_ANONYMOUS, "rw-p", 1000);
	holds(WHAT_FDS, 0, HOLDING_SOCKET, "tcp CLOSE_WAIT to 10.0.0.9:6379", 40);
	made_file(WHAT_MAPS, 3, "torch_#", 2000, 0);
	unmapped(5);
	stack_reads(3, "mmap (libc.so.6)\nf1\nf2\nf3\nf4\nf5\nmain (python3)", 0);
	made_file(WHAT_FDS, 4, "log.#", 70, 30);
	stack_reads(4, "open (libc.so.6)\nwrite_log (python3)", FRAMES_SHORT);
}

static void test_verdict(void)
{
	struct process_record r;
	char *text;

	begin_view(40000, 50);
	r = process_with(200, 20);
	r.subject.pid = 11;
	r.g.ppid = 10;
	strcpy(r.g.comm, "worker");
	model_take(&m, &r.h);
	hold_tensors();
	text = said_by(&diagnosis_renderer);
	ok(!strncmp(text,
		    "warning[M03 pytorch-shared-tensors]: grower[10]: 39,995 of 40,000 mappings",
		    74),
	   "the verdict comes first");
	has(text,
	    "   = workaround (host-wide): raise vm.max_map_count\n"
	    "     $ sysctl -w vm.max_map_count=1048576\n",
	    "a command has a line of its own");
	has(text, "grower[10]  maps 40,000  fds 50  threads 1\n", "then each process");
	has(text, "  held at the start: 39,000 mappings\n", "what it held");
	has(text, "   |    38000  /dev/shm/torch_# (deleted)  (shared memory)\n", "by sort");
	has_not(text, "CLOSE_WAIT", "forty descriptors are not worth a table");
	has(text, "  created while watched (1.5 s): 2,000 mappings\n", "what it made");
	has(text, "   |    +1995  torch_#  (2,000 made, at most 5 gone)\n",
	    "by sort, less what went");
	has(text, "           from mmap (libc.so.6) <- f1 <- f2 <- f3 <- f4 <- ...\n",
	    "and from where, cut");
	has(text, "   |      +40  log.#  (70 made, 30 gone)\n",
	    "of descriptors what went is known");
	has(text, "from open (libc.so.6) <- write_log (python3) (stack may be short)\n",
	    "a stack that may be short is said to be");
	has(text, "worker[11], child of grower[10]  maps 200", "whose child it is");
	has(text, "checked: limits of mappings", "what was checked");
	has(text, "not checked: what 1 of 2 processes held", "and what was not");
	has(text, "2 findings (0 critical, 1 warning, 1 info).  More: faultscope explain M03\n",
	    "the sum");
	free(text);
	end();
}

static void test_well(void)
{
	char *text;

	begin_view(100, 10);
	holds(WHAT_MAPS, 0, HOLDING_ANONYMOUS, "rw-p", 30);
	holds(WHAT_FDS, 0, HOLDING_FILE, "/dev/null", 3);
	text = said_by(&diagnosis_renderer);
	ok(!strncmp(text, "grower[10]  maps 100", 20), "no verdict where there is none");
	has_not(text, "it held", "little is not told");
	has(text, "checked: limits of mappings, file descriptors", "it says what was checked");
	has_not(text, "not checked", "all was");
	has(text, "no finding: all is well as far as it was checked\n", "and that all is well");
	free(text);
	end();

	begin_model(&m, "calls");
	memset(&fs, 0, sizeof(fs));
	text = said_by(&diagnosis_renderer);
	has(text, "not measured: calls (tp_btf: EPERM)", "a blind hook is named, and why");
	has(text, "not checked: what processes held", "and what was not read");
	has_not(text, "all is well", "and it is no all-clear");
	free(text);
	end();
}

/* Tests that a process which exits while `diagnose` runs is reported with its last values. */
static void test_ended(void)
{
	struct process_record r;
	char *text;

	begin_view(64000, 10);
	judge_window();
	model_next_window(&m);
	findings_next_window(&fs);
	fs.keep_cleared = true;
	r = process_with(64000, 10);
	r.g.flags = PROC_FINAL;
	model_take(&m, &r.h);
	text = said_by(&diagnosis_renderer);
	has(text, "critical[M25 max-map-count-near]: grower[10]: 64,000",
	    "the finding of a process that ended");
	has(text, "grower[10], ended  maps 64,000", "which is said to have");
	free(text);
	model_next_window(&m);
	findings_next_window(&fs);
	text = said_by(&diagnosis_renderer);
	has(text, "critical[M25 max-map-count-near]: grower[10]: 64,000", "stays in the verdict");
	has(text, "1 finding (1 critical", "and in the sum");
	free(text);
	end();
}

static void test_severity(void)
{
	char *text;

	begin_view(40000, 50);
	view.min_severity = SEVERITY_CRITICAL;
	hold_tensors();
	text = said_by(&diagnosis_renderer);
	has_not(text, "[M03]", "lesser findings are left out");
	has(text, "no finding", "of the sum, too");
	free(text);
	end();
}

static void test_hostile(void)
{
	char *text;

	begin_view(5000, 50);
	holds(WHAT_MAPS, 0, HOLDING_SHARED_MEMORY, "/dev/shm/torch_#\x1b[31m", 4900);
	made_file(WHAT_MAPS, 3, "x\n\x1b]0;y\x07", 2000, 0);
	stack_reads(3, "f\x1b[2J\ng\xff", 0);
	text = said_by(&diagnosis_renderer);
	ok(!strpbrk(text, "\x1b\x07\xff"), "no control byte of a name reaches the terminal");
	has(text, "torch_#\\x1b[31m", "it is shown as what it is");
	free(text);
	text = said_by(&folded_renderer);
	ok(!strpbrk(text, "\x1b\x07\xff"), "nor by folded stacks");
	has(text, ";[maps] x\\x0a\\x1b]#:y\\x07 2000\n", "whose separators stay separators");
	free(text);
	end();
}

static void test_folded(void)
{
	char *text;

	begin_view(40000, 50);
	hold_tensors();
	made_split(-1, CALL_MPROTECT, 9);
	text = said_by(&folded_renderer);
	is_str(text,
	       "grower;main (python3);f5;f4;f3;f2;f1;mmap (libc.so.6);[maps] torch_# 2000\n"
	       "grower;write_log (python3);open (libc.so.6);[fds] log.# 40\n"
	       "grower;[maps] split by mprotect 9\n",
	       "outermost first, what is left last; what was taken away is no line");
	free(text);
	end();
}

static void test_json(void)
{
	char *text;

	begin_view(40000, 50);
	hold_tensors();
	text = said_by(&json_renderer);
	has(text,
	    "{\"type\":\"holdings\",\"t\":1.500000,"
	    "\"time\":\"2023-11-14T22:13:21.500Z\",\"pid\":10,\"comm\":\"grower\",\"what\":"
	    "\"maps\","
	    "\"complete\":true,\"groups\":[{\"name\":\"/dev/shm/torch_# (deleted)\","
	    "\"kind\":\"shared memory\",\"count\":38000,\"bytes\":0,\"pattern\":true},",
	    "what it held");
	has(text,
	    "\"what\":\"maps\",\"created\":2000,\"groups\":[{\"name\":\"torch_#\",\"created\":2000,"
	    "\"removed\":5,\"stack\":[\"mmap (libc.so.6)\",\"f1\",\"f2\",\"f3\",\"f4\",\"f5\","
	    "\"main (python3)\"],\"stack_truncated\":false,\"stack_end\":null,\"stack_chained\":0,"
	    "\"user_line\":null,\"frames\":[]}]}",
	    "what it made");
	has(text, "\"what\":\"fds\",\"created\":70,", "descriptors, too");
	free(text);
	model_find(&m, &(struct process_key){.pid = 10, .start_ns = 1})->hidden = true;
	text = said_by(&json_renderer);
	has_not(text, "\"type\":\"growth\"", "of a process that the view hides nothing");
	free(text);
	end();
}

int main(void)
{
	test_verdict();
	test_well();
	test_ended();
	test_severity();
	test_hostile();
	test_folded();
	test_json();
	return tap_done();
}
