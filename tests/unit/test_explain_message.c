// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests `explain` with an error message: as words, or from standard input, of any length. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>

#include "cli/explain_message.h"
#include "error_output.h"
#include "tap.h"

#define INPUT_MAX (256 << 10)

static void test_ids(void)
{
	static const struct {
		const char *word;
		bool is;
	} rows[] = {
		{"P1", true},	{"P01", true},	{"p123", true}, {"P1234", false},
		{"P", false},	{"", false},	{"12", false},	{"P1x", false},
		{"PP1", false}, {"P-1", false}, {"é1", false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ok(is_diagnosis_id(rows[i].word) == rows[i].is, "'%s': %s", rows[i].word,
		   rows[i].is ? "an id" : "no id");
}

/* Explains words. Returns the exit status; *ret is the text, which the caller frees. */
static int explained(int argc, char **argv, struct buf *ret)
{
	struct options o = {.command = CMD_EXPLAIN, .argc = argc, .argv = argv};
	struct view v = {.width = 100};

	return explain_message(&o, &v, ret);
}

static void test_words(void)
{
	char *words[] = {"Too", "many", "open", "files"}, *nothing[] = {"qwertzuiop"};
	struct buf apart = {}, one = {};
	char *whole[] = {"Too many open files"};

	is_u64(explained(4, words, &apart), EXIT_DONE, "a message as words");
	is_u64(explained(1, whole, &one), EXIT_DONE, "and as one");
	ok(apart.len && apart.len == one.len && !memcmp(apart.s, one.s, one.len),
	   "have the same explanation");
	buf_free(&apart);
	buf_free(&one);
	errors_begin();
	is_u64(explained(1, nothing, &one), EXIT_FAILED, "a message that is not known");
	ok(strstr(errors_end(), "no known message is similar") && !one.len, "which is said");
	errors_begin();
	is_u64(explained(0, nothing, &one), EXIT_FAILED, "no word");
	ok(strstr(errors_end(), "the text is empty"), "which is said, too");
}

/* Explains standard input: a message, and blanks up to a length. */
static int from_input(const char *message, size_t len, struct buf *ret)
{
	int fd = memfd_create("input", MFD_CLOEXEC), status;
	char *text = malloc(len + 1), *dash[] = {"-"};

	if (!text || fd < 0)
		abort();
	memset(text, '\n', len);
	memcpy(text, message, strlen(message) < len ? strlen(message) : len);
	if (write(fd, text, len) != (ssize_t)len || lseek(fd, 0, SEEK_SET) ||
	    (fd && dup2(fd, STDIN_FILENO) < 0))
		abort();
	free(text);
	errors_begin();
	status = explained(1, dash, ret);
	close(STDIN_FILENO);
	if (fd)
		close(fd);
	return status;
}

static void test_input(void)
{
	static const char message[] = "Too many open files";
	struct buf b = {};

	is_u64(from_input(message, strlen(message), &b), EXIT_DONE, "a message of the input");
	errors_are("", "no error");
	ok(b.len, "is explained");
	buf_clear(&b);
	is_u64(from_input(message, INPUT_MAX, &b), EXIT_DONE, "an input of 256 KiB");
	errors_are("", "no error");
	ok(b.len, "is explained");
	buf_clear(&b);
	is_u64(from_input(message, INPUT_MAX + 1, &b), EXIT_INCOMPLETE, "one byte more");
	ok(strstr(errors_end(), "only the first 256 KiB were compared"), "is not compared");
	ok(b.len, "the rest is");
	buf_clear(&b);
	is_u64(from_input("", 0, &b), EXIT_FAILED, "an empty input");
	ok(strstr(errors_end(), "the text is empty"), "which is said");
	buf_free(&b);
}

/* Standard input that is open, but only for writing. */
static void test_unreadable(void)
{
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	char *dash[] = {"-"};
	struct buf b = {};

	if (fd < 0 || (fd && dup2(fd, STDIN_FILENO) < 0))
		abort();
	errors_begin();
	is_u64(explained(1, dash, &b), EXIT_FAILED, "an input that cannot be read");
	ok(strstr(errors_end(), "cannot read standard input: Bad file descriptor"), "and why");
	close(STDIN_FILENO);
	if (fd)
		close(fd);
	buf_free(&b);
}

int main(void)
{
	test_ids();
	test_words();
	test_input();
	test_unreadable();
	return tap_done();
}
