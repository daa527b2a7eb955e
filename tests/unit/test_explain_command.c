// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests what the command `explain` prints for ids, for none, for wrong ones and for messages. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "error_output.h"
#include "fixture.h"
#include "render/text/explain_text.h"
#include "session/commands.h"

static struct options o = {.command = CMD_EXPLAIN, .colour = WHEN_NEVER};
static struct buf text;
static unsigned short columns; /* of the terminal; 0: there is no terminal */

/* Tells the size of the terminal. */
int ioctl(int fd, unsigned long request, ...)
{
	va_list list;

	(void)fd;
	if (request != TIOCGWINSZ || !columns) {
		errno = ENOTTY;
		return -1;
	}
	va_start(list, request);
	*va_arg(list, struct winsize *) = (struct winsize){.ws_col = columns, .ws_row = 30};
	va_end(list);
	return 0;
}

/* Explains up to three words. Returns the exit status. */
static int explain(const char *first, const char *second, const char *third)
{
	char *words[] = {(char *)first, (char *)second, (char *)third};

	o.argv = words;
	for (o.argc = 0; o.argc < 3 && words[o.argc]; o.argc++)
		;
	buf_free(&text);
	return command_explain(&o, &text);
}

static const char *shown(void)
{
	return text.s ? text.s : "";
}

/* Returns the text about one finding, as the renderer writes it. */
static const char *page_of(const char *word, unsigned int width)
{
	static struct buf b;
	struct view v = {.width = width};

	buf_free(&b);
	if (o.format == &json_renderer)
		explain_json(&b, diagnosis_find(word));
	else
		explain_text(&b, &v, diagnosis_find(word));
	return b.s;
}

static size_t lines_of(const char *s)
{
	size_t n = 0;

	while ((s = strchr(s, '\n'))) {
		n++;
		s++;
	}
	return n;
}

static size_t longest_line(const char *s)
{
	size_t most = 0;

	for (; *s; s += strcspn(s, "\n"), s += *s == '\n')
		if (strcspn(s, "\n") > most)
			most = strcspn(s, "\n");
	return most;
}

static void test_ids(void)
{
	char want[32768];

	is_u64(explain("P01", NULL, NULL), EXIT_DONE, "an id");
	is_str(shown(), page_of("P01", 100), "its page");
	is_u64(explain("p1", NULL, NULL), EXIT_DONE, "another notation of it");
	is_str(shown(), page_of("P01", 100), "the same page");
	is_u64(explain("P01", "F01", NULL), EXIT_DONE, "two ids");
	snprintf(want, sizeof(want), "%s\n", page_of("P01", 100));
	strcat(want, page_of("F01", 100));
	is_str(shown(), want, "both pages, with an empty line between them");
	o.format = &json_renderer;
	is_u64(explain("P01", "F01", NULL), EXIT_DONE, "two ids as JSON");
	strcpy(want, page_of("P01", 100));
	strcat(want, page_of("F01", 100));
	is_str(shown(), want, "one line each");
	o.format = NULL;
}

static void test_all(void)
{
	struct buf list = {};
	struct view v = {.width = 100};
	size_t n = 0;

	while (diagnosis_at(n))
		n++;
	explain_list(&list, &v);
	is_u64(explain(NULL, NULL, NULL), EXIT_DONE, "no word");
	is_str(shown(), list.s, "the list of all findings");
	buf_free(&list);
	o.format = &json_renderer;
	is_u64(explain(NULL, NULL, NULL), EXIT_DONE, "all as JSON");
	is_u64(lines_of(shown()), n, "a line for each finding");
	ok(!strncmp(shown(), page_of(diagnosis_at(0)->id, 100), 40), "the first one");
	o.format = NULL;
}

static void test_wrong_ids(void)
{
	errors_begin();
	is_u64(explain("P01", "P99", NULL), EXIT_USAGE, "an id that no finding has");
	ok(strstr(errors_end(), "faultscope: explain P99: no finding has this id\n  similar: P"),
	   "is named, with similar ones");
	is_str(shown(), "", "nothing is printed");
	errors_begin();
	explain("P99", NULL, NULL);
	ok(strstr(errors_end(), ", "), "several are similar");
	errors_begin();
	explain("Z99", NULL, NULL);
	ok(strstr(errors_end(), "\n  all:  faultscope explain\n"), "the list of all is proposed");
}

/* Words that are no ids are an error message. */
static void test_messages(void)
{
	is_u64(explain("Too", "many", "open"), EXIT_DONE, "a message");
	ok(!strncmp(shown(), "Known messages", 14) ||
		   !strncmp(shown(), "No known message is the same", 28),
	   "is explained");
	errors_begin();
	is_u64(explain("P01", "qwertzuiop", NULL), EXIT_FAILED,
	       "an id and a word are a message, not two ids");
	ok(strstr(errors_end(), "no known message is similar"), "which is not known");
}

/* Long lines are hard to read: the default is no wider than 100 columns. */
static void test_widths(void)
{
	columns = 150;
	explain("P01", NULL, NULL);
	is_str(shown(), page_of("P01", 100), "a wide terminal");
	o.width = 150;
	explain("P01", NULL, NULL);
	is_str(shown(), page_of("P01", 150), "but --width may ask for more");
	ok(longest_line(shown()) > 100, "which makes lines longer");
	o.width = 60;
	explain("P01", NULL, NULL);
	is_str(shown(), page_of("P01", 60), "or less");
	o.width = 0;
	columns = 70;
	explain("P01", NULL, NULL);
	is_str(shown(), page_of("P01", 70), "a narrow terminal");
	columns = 0;
	explain("P01", NULL, NULL);
	is_str(shown(), page_of("P01", 100), "no terminal");
}

int main(void)
{
	setenv("NO_COLOR", "1", 1);
	test_ids();
	test_all();
	test_wrong_ids();
	test_messages();
	test_widths();
	buf_free(&text);
	return tap_done();
}
