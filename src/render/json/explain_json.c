// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "render/json/line_rows.h"
#include "render/text/candidates_text.h"
#include "render/text/explain_text.h"

static void put_words(struct json *j, const char *key, const char *words)
{
	struct buf word = {};

	json_array(j, key);
	while (*words) {
		size_t len = strcspn(words, " ");

		buf_end_part(j->b, &word);
		buf_add(&word, words, len);
		json_text(j, NULL, word.s ? word.s : "");
		words += len + (words[len] == ' ');
	}
	json_end_array(j);
	buf_end_part(j->b, &word);
}

static void put_check(struct json *j, const char *key, const struct diagnosis *d)
{
	struct buf command = {};
	size_t len;
	const char *check = diagnosis_check(d, &len);

	if (check)
		buf_add(&command, check, len);
	json_text_or_null(j, key, command.s);
	buf_end_part(j->b, &command);
}

#include "render/json/explain_lines.def"

void explain_json(struct buf *b, const struct diagnosis *d)
{
	put_line_diagnosis(b, d, diagnosis_rule(d));
}

void candidates_json(struct buf *b, const struct candidates *c)
{
	put_line_candidates(b, c);
}
