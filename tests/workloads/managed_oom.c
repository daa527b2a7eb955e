/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stands in for systemd's PID 1 when systemd-oomd starts: listens on the socket that systemd-oomd
 * connects to, and answers that the cgroups below CGROUP are to be killed when swap is used up
 * (ManagedOOMSwap=kill). Messages are JSON objects that end with a null byte (Varlink).
 */
#include "common.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#define ADDRESS "/run/systemd/io.system.ManagedOOM"

static int listen_at(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) || listen(fd, 1))
		die("%s", path);
	return fd;
}

/* Reads a request, up to its null byte. */
static void read_request(int fd)
{
	char byte;

	do
		if (read(fd, &byte, 1) != 1)
			die("request");
	while (byte);
}

int main(int argc, char **argv)
{
	const char *path = "/";
	char text[1024];
	int fd, client, len;

	parse_args(argc, argv, "CGROUP", NULL, &path, 1, 1);
	mkdir("/run/systemd", 0755);
	fd = listen_at(ADDRESS);
	printf("listening\n");
	fflush(stdout);
	client = accept(fd, NULL, NULL);
	if (client < 0)
		die("accept");
	read_request(client);
	len = snprintf(text, sizeof(text),
		       "{\"parameters\":{\"cgroups\":[{\"mode\":\"kill\",\"path\":\"%s\","
		       "\"property\":\"ManagedOOMSwap\"}]},\"continues\":true}",
		       path);
	if (len >= (int)sizeof(text) || write(client, text, len + 1) != len + 1)
		die("answer");
	for (;;)
		pause();
}
