// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Prints names of user addresses. Reads requests from stdin, and prints a line for each request:
 *   learn PID             → 0 or -errno
 *   ip PID HEX            → "name<TAB>module<TAB>offset<TAB>address" of a return address
 *   id PID BUILDID HEX    → these four values for an offset into the file with this build-id
 *   lost                  → JSON with counts of the data that was lost
 * With --text, mappings are read from /proc/PID/maps, as before Linux 6.11.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/symbols/user_symbols.h"

static void parse_hex(const char *text, unsigned char *ret, size_t size)
{
	for (size_t i = 0; i < size && text[2 * i] && text[2 * i + 1]; i++) {
		char two[3] = {text[2 * i], text[2 * i + 1], 0};

		ret[i] = strtoul(two, NULL, 16);
	}
}

static void tell(struct user_symbols *us, unsigned int pid, const struct bpf_stack_build_id *frame)
{
	struct process_key of = {.pid = pid};
	struct user_symbol s;

	user_symbols_resolve(us, &of, frame, false, &s);
	printf("%s\t%s\t%llu\t%llu\n", s.name, s.module, s.offset, s.address);
}

static void answer(struct user_symbols *us, const char *line)
{
	struct bpf_stack_build_id frame = {.status = BPF_STACK_BUILD_ID_IP};
	const struct user_symbols_lost *l = &us->lost;
	unsigned long long at;
	char id[64];
	unsigned int pid;

	if (sscanf(line, "learn %u", &pid) == 1) {
		printf("%d\n", user_symbols_learn(us, &(struct process_key){.pid = pid}));
	} else if (sscanf(line, "ip %u %llx", &pid, &at) == 2) {
		frame.ip = at;
		tell(us, pid, &frame);
	} else if (sscanf(line, "id %u %63s %llx", &pid, id, &at) == 3) {
		frame.status = BPF_STACK_BUILD_ID_VALID;
		frame.offset = at;
		parse_hex(id, frame.build_id, sizeof(frame.build_id));
		tell(us, pid, &frame);
	} else {
		printf("{\"processes\":%llu,\"files\":%llu,\"maps\":%llu,\"refused\":%llu,"
		       "\"malformed\":%llu,\"symbols\":%llu,\"tables\":%llu,\"perf_maps\":%llu}\n",
		       l->processes, l->files, l->maps, l->refused, l->malformed, l->symbols,
		       l->tables, l->perf_maps);
	}
	fflush(stdout);
}

int main(int argc, char **argv)
{
	struct user_symbols us;
	char line[256];

	if (user_symbols_open(&us))
		return 1;
	us.text_only = argc > 1 && !strcmp(argv[1], "--text");
	while (fgets(line, sizeof(line), stdin))
		answer(&us, line);
	user_symbols_close(&us);
	return 0;
}
