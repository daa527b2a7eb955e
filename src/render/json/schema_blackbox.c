// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "render/json/schema_parts.h"

static const struct key boot_keys[] = {
	{"boot_id", T_TEXT, false, ""},
	{"records", T_COUNT, false, ""},
	{"missing", T_COUNT, false, "numbers that no record has: overwritten, or never written"},
	{"stopped", T_FLAG, false, "the recorder ended by itself, not with the machine"},
	{"alive", T_REAL, false, "seconds since the boot, when it last said so"},
	{"alive_time", T_TEXT, false, "RFC 3339"},
	{},
};

const struct shape blackbox_shapes[] = {
	{"blackbox",
	 "a record of the flight recorder",
	 {{"boot_id", T_TEXT, false, ""},
	  {"sequence", T_COUNT, false, "over all boots of a recorder"},
	  {"time", T_TEXT, false, "RFC 3339; `t` is since the boot"},
	  {"class", T_TEXT, false, ""},
	  {"severity", T_TEXT, false, ""},
	  {"count", T_COUNT, false, "equal ones so far"},
	  {"dropped", T_COUNT, false, "of its class, for which there was no record"},
	  {"text", T_TEXT, false, "key=value pairs"}}},
	{"blackbox_finding",
	 "what the records of a boot come to, behind them",
	 {{"boot_id", T_TEXT, false, ""},
	  {"id", T_TEXT, false, "of the diagnosis: faultscope explain"},
	  {"severity", T_TEXT, false, ""},
	  {"title", T_TEXT, false, ""},
	  {"module", T_TEXT_NULL, false, "whose doing it is"},
	  {"count", T_COUNT, false, "of events"},
	  {"first", T_REAL, false, "seconds since the boot"},
	  {"last", T_REAL, false, ""},
	  {"text", T_TEXT, false, "the worst, or first, of them"}},
	 true},
	{"blackbox_end",
	 "behind the records",
	 {{"boots", T_OBJECTS, false, "that left records", boot_keys},
	  {"torn", T_COUNT, false, "records that are not whole"},
	  {"lost", T_COUNT, false, "beyond the most that is read"}},
	 true},
};

const size_t nr_blackbox_shapes = sizeof(blackbox_shapes) / sizeof(blackbox_shapes[0]);
