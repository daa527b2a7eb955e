/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads /proc/PID/smaps repeatedly for SECONDS seconds, as some monitoring agents do. */
#include "common.h"

static long read_once(const char *path)
{
	static char text[65536];
	long sum = 0, n;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	while ((n = read(fd, text, sizeof(text))) > 0)
		sum += n;
	close(fd);
	return sum;
}

int main(int argc, char **argv)
{
	const char *words[2];
	char path[64];
	long times = 0;
	time_t end;

	parse_args(argc, argv, "PID SECONDS", NULL, words, 2, 2);
	snprintf(path, sizeof(path), "/proc/%ld/smaps", parse_number(words[0]));
	wait_for_go();
	end = time(NULL) + parse_number(words[1]);
	while (time(NULL) < end && read_once(path) > 0)
		times++;
	truth_open();
	truth_number("times", times);
	truth_close();
	return 0;
}
