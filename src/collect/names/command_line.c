// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "collect/names/command_line.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/text_format.h"

#define CUT "..."

/* Removes the last character if its bytes are not complete. */
static size_t without_part(const char *text, size_t len)
{
	size_t from = len;
	uint32_t code;

	while (from && len - from < 3 && (text[from - 1] & 0xc0) == 0x80)
		from--;
	if (!from || !(text[from - 1] & 0x80))
		return len;
	return utf8_decode(text + from - 1, &code) ? len : from - 1;
}

void command_line_join(char *text, size_t len, size_t size)
{
	bool cut = len >= size;

	len = cut ? size - 1 : len;
	if (cut)
		len -= sizeof(CUT) - 1;
	/* a program that writes over its arguments, as for a title, fills the rest with zeros */
	while (len && (!text[len - 1] || text[len - 1] == ' '))
		len--;
	for (size_t i = 0; i < len; i++)
		if (!text[i])
			text[i] = ' ';
	text[len] = 0;
	if (cut) {
		len = without_part(text, len);
		strcpy(text + len, CUT);
	}
}

void command_line_read(int proc, char *ret, size_t size)
{
	int fd = openat(proc, "cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t len;

	*ret = 0;
	if (fd < 0)
		return;
	do
		len = read(fd, ret, size);
	while (len < 0 && errno == EINTR);
	close(fd);
	command_line_join(ret, len > 0 ? len : 0, size);
}
