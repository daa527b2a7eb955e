// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/explain_message.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli/messages.h"
#include "render/text/candidates_text.h"

#define INPUT_MAX (256 << 10)

bool is_diagnosis_id(const char *word)
{
	size_t digits = isalpha((unsigned char)*word) ? strspn(word + 1, "0123456789") : 0;

	return digits && digits <= 3 && !word[1 + digits];
}

/*
 * Reads at most INPUT_MAX bytes of standard input. Returns 0, 1 if the input is longer, or -errno.
 */
static int read_input(struct buf *text)
{
	char block[4096];

	for (;;) {
		ssize_t n = read(STDIN_FILENO, block, sizeof(block));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : 0;
		if (text->len + (size_t)n > INPUT_MAX) {
			buf_add(text, block, INPUT_MAX - text->len);
			return 1;
		}
		buf_add(text, block, (size_t)n);
	}
}

static int read_text(const struct options *o, struct buf *text)
{
	if (o->argc == 1 && !strcmp(o->argv[0], "-"))
		return read_input(text);
	for (int i = 0; i < o->argc; i++) {
		if (i)
			buf_putc(text, ' ');
		buf_puts(text, o->argv[i]);
	}
	return 0;
}

static void complain_of_nothing(bool empty)
{
	complain("explain: %s\n"
		 "  list of all findings:  faultscope explain\n"
		 "  a kernel crash log:    faultscope triage FILE\n"
		 "  a program that fails:  faultscope run -- COMMAND",
		 empty ? "the text is empty" : "no known message is similar to this text");
}

int explain_message(const struct options *o, const struct view *v, struct buf *b)
{
	struct candidates c;
	struct buf text = {};
	int status = EXIT_DONE, err = read_text(o, &text);

	if (err < 0) {
		complain("explain: cannot read standard input: %s", strerror(-err));
		buf_free(&text);
		return EXIT_FAILED;
	}
	messages_match(text.s ? text.s : "", text.len, &c);
	if (!c.nr_messages && !c.n) {
		complain_of_nothing(!text.len);
		status = EXIT_FAILED;
	} else if (o->format == &json_renderer) {
		candidates_json(b, &c);
	} else {
		candidates_text(b, v, &c);
	}
	if (err > 0) {
		complain("explain: only the first 256 KiB were compared");
		if (status == EXIT_DONE)
			status = EXIT_INCOMPLETE;
	}
	buf_free(&text);
	return status;
}
