// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Decodes instructions for tests/triage/decoder.py. Reads lines "ARCH BYTES", with the bytes in
 * hex, and prints "MEMORY ACCESS BASE INDEX SCALE OFFSET IP_RELATIVE" for each; "-" if the
 * instruction is not known.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "triage/insn.h"

static bool decode(const char *line, struct insn *ret)
{
	bool is_x86 = !strncmp(line, "x86_64 ", 7);
	const char *at = strchr(line, ' ');
	uint8_t code[16] = {};
	size_t n = 0;
	int used;

	while (at && n < sizeof(code) && sscanf(at, "%2hhx%n", &code[n], &used) == 1) {
		at += used;
		n++;
	}
	if (is_x86)
		return x86_decode(code, n, true, ret);
	return arm64_decode(code[0] | code[1] << 8 | code[2] << 16 | (uint32_t)code[3] << 24, ret);
}

int main(void)
{
	char line[128];

	while (fgets(line, sizeof(line), stdin)) {
		struct insn in = {};

		if (decode(line, &in))
			printf("%d %s %d %d %d %" PRId64 " %d\n", in.memory,
			       in.access ? access_name(in.access) : "none", in.base, in.index,
			       in.scale, in.offset, in.ip_relative);
		else
			printf("-\n");
	}
	return 0;
}
