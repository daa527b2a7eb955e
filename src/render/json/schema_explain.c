// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "render/json/schema_parts.h"

const struct key candidate_keys[] = {
	{"id", T_TEXT, false, "of the diagnosis: faultscope explain"},
	{"title", T_TEXT, false, ""},
	{"severity", T_TEXT, false, "the worst that it comes to"},
	{"check", T_TEXT_NULL, false, "a command that decides; null: none"},
	{},
};

const struct key message_keys[] = {
	{"program", T_TEXT, false, "that prints it"},
	{"pattern", T_TEXT, false, "# a number, * any text, | between wordings"},
	{"means", T_TEXT, false, ""},
	{"source", T_TEXT, false, "where the program has it, or a document"},
	{},
};
