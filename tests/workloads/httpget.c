/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sends N HTTP requests for a path over one connection to a Unix socket, one after another. */
#include "common.h"

#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>

static int connect_to(const char *path)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
	if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof(at)))
		die("connect to %s", path);
	return fd;
}

/* Reads one answer, which must have the status 200 and a Content-Length. */
static void read_answer(int fd)
{
	static char text[1 << 16];
	size_t got = 0, whole = 0;

	while (!whole || got < whole) {
		ssize_t n = read(fd, text + got, sizeof(text) - 1 - got);
		char *end, *length;

		if (n <= 0)
			die("read an answer");
		got += n;
		text[got] = 0;
		end = whole ? NULL : strstr(text, "\r\n\r\n");
		if (!end)
			continue;
		length = strcasestr(text, "Content-Length: ");
		if (strncmp(text, "HTTP/1.1 200", 12) || !length || length > end)
			die("an answer begins with %.40s", text);
		whole = end + 4 - text + strtoul(length + 16, NULL, 10);
		if (whole >= sizeof(text))
			die("an answer of %zu bytes", whole);
	}
}

int main(int argc, char **argv)
{
	static const char usage[] = "SOCKET PATH N";
	const char *words[3];
	char request[256];
	long count;
	int fd, n;

	parse_args(argc, argv, usage, NULL, words, 3, 3);
	count = parse_number(words[2]);
	fd = connect_to(words[0]);
	n = snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n",
		     words[1]);
	wait_for_go();
	for (long i = 0; i < count; i++) {
		if (write(fd, request, n) != n)
			die("write a request");
		read_answer(fd);
	}
	truth_open();
	truth_number("requests", count);
	truth_close();
	return 0;
}
