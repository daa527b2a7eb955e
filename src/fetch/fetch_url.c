// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "fetch/fetch.h"

#define PATH "/metrics"

static const char *behind_scheme(const char *url)
{
	const char *at = strstr(url, "://");

	return at ? at + 3 : url;
}

static int is_bad(const char *given)
{
	for (const char *s = given; *s; s++)
		if ((unsigned char)*s <= ' ' || *s == 0x7f)
			return 1;
	return !*behind_scheme(given) || *behind_scheme(given) == '/';
}

int fetch_url(const char *given, char *ret, size_t size)
{
	const char *host = behind_scheme(given), *path = strchr(host, '/');
	int len;

	if (is_bad(given) || (host != given && strncasecmp(given, "http://", 7) &&
			      strncasecmp(given, "https://", 8)))
		return -EINVAL;
	len = snprintf(ret, size, "%s%.*s%s", host == given ? "http://" : "",
		       (int)(path ? path - given : (long)strlen(given)), given,
		       path && path[1] ? path : PATH);
	return len > 0 && (size_t)len < size ? 0 : -ENAMETOOLONG;
}

void fetch_name(const char *url, const char *port, char *ret, size_t size)
{
	const char *host = behind_scheme(url);
	size_t len = strcspn(host, "/?#"), port_len = strlen(port);
	const char *at = memrchr(host, '@', len);

	if (at) {
		len -= at + 1 - host;
		host = at + 1;
	}
	if (len > port_len && !strncmp(host + len - port_len, port, port_len))
		len -= port_len;
	snprintf(ret, size, "%.*s", (int)len, host);
}
