/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * triage: patterns that match lines of the kernel log. A pattern is literal text with conversions:
 *
 *	%A  an address: hex, or "(null)" and the like
 *	%E  an error code or ESR: hex        %X  hex that is not stored
 *	%P  a pid   %C  a cpu   %N  #n of an oops   %Z  a size   %D  a number that is not stored
 *	%F  a function, with offset, size and module if they are printed
 *	%G  a second function
 *	%L  file:line     %W  a comm, a word without blanks     %S  text before the next part
 *	%*  anything before the next part     %_  blanks or none     %!  "BUG: ", "[ INFO: ", …
 *	%R  an end of a range: hex     %$  the end of the text
 *	%%  a percent sign
 */
#ifndef FS_TRIAGE_MATCH_H
#define FS_TRIAGE_MATCH_H

#include "triage/incident.h"

struct captures {
	bool has_address, has_error, has_pid, has_cpu, has_number, has_size, has_function,
		has_second;
	uint64_t address, error, pid, cpu, number, size;
	uint64_t range[2];
	int ranges;
	struct frame function, second;
	struct str place, comm, text;
};

/* Returns whether the start of `s` matches the pattern. */
bool match(const char *pattern, struct str s, struct captures *ret);

/*
 * Parses a frame: "f+0x1/0x2 [mod]", "[<addr>] f+0x1", ":mod:f+0x1/0x2", "<addr>{:mod:f+12}", ".f"
 * or "0xaddr". Returns the frame's length; 0: no frame.
 */
size_t frame_parse(struct str s, struct frame *ret);

#endif
