// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests the text about messages and their possible causes: its paragraphs, and how it is broken. */
#include "fixture.h"
#include "render/text/candidates_text.h"
#include "tap.h"

static struct view v = {.width = 100};
static struct buf text;

static const struct message own = {.program = "prog", .means = "It has no room."},
			    other = {.program = "tool", .means = "It waits."};
static const struct diagnosis *first, *second; /* those that a command confirms */

static const char *shown(const struct candidates *c)
{
	buf_free(&text);
	candidates_text(&text, &v, c);
	return text.s ? text.s : "";
}

static void find_diagnoses(void)
{
	const struct diagnosis *d;
	size_t len;

	for (size_t i = 0; (d = diagnosis_at(i)); i++)
		if (diagnosis_check(d, &len) && !first)
			first = d;
		else if (diagnosis_check(d, &len))
			second = d;
}

static void test_messages(void)
{
	struct candidates c = {.nr_messages = 2,
			       .message = {&own, &other},
			       .wording = {"no room|is full", "please wait"}};

	is_str(shown(&c),
	       "Known messages in this text, with their meaning:\n"
	       "  prog: \"no room\"\n"
	       "      It has no room.\n"
	       "  tool: \"please wait\"\n"
	       "      It waits.\n"
	       "\n"
	       "No limit or fault that faultscope watches causes this message.\n",
	       "two messages that nothing causes");
	c.similar = true;
	ok(!strncmp(shown(&c),
		    "No known message is the same. Similar ones, with their meaning:\n  prog", 70),
	   "messages that are only similar");
	c.nr_messages = 1;
	ok(!strstr(shown(&c), "tool"), "one message");
	v.width = 40;
	c.wording[0] = "there is no room left in this file";
	ok(strstr(shown(&c), ":\n  prog: \"there is no room left in this\n      file\"\n"),
	   "a long message is indented");
	v.width = 100;
}

static void test_causes(void)
{
	struct candidates c = {.nr_messages = 1,
			       .message = {&own},
			       .wording = {"no room"},
			       .n = 1,
			       .diagnosis = {first}};
	char want[1024];
	size_t len;
	const char *command = diagnosis_check(first, &len);

	v.width = 200;
	snprintf(want, sizeof(want),
		 "Known messages in this text, with their meaning:\n"
		 "  prog: \"no room\"\n"
		 "      It has no room.\n"
		 "\n"
		 "Candidates, not a verdict, the most likely first:\n"
		 "  %s  %s\n"
		 "      check: $ %.*s\n"
		 "\n"
		 "What it means and what to do:  faultscope explain %s\n"
		 "A verdict with evidence:       faultscope run -- COMMAND\n"
		 "  of one that runs already:    faultscope diagnose -p PID\n",
		 first->id, first->title, (int)len, command, first->id);
	is_str(shown(&c), want, "a message with its cause");
	c.diagnosis[1] = second;
	c.n = 2;
	snprintf(want, sizeof(want), "to do:  faultscope explain %s\n", first->id);
	ok(strstr(shown(&c), want) && strstr(shown(&c), second->title),
	   "of two causes, the first one is proposed");
	v.width = 100;
}

int main(void)
{
	find_diagnoses();
	test_messages();
	test_causes();
	buf_free(&text);
	return tap_done();
}
