// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "serve/gzip.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool gzip_accepted(const char *s)
{
	while (s && *s) {
		size_t len;
		const char *q;

		s += strspn(s, " \t,");
		len = strcspn(s, ",");
		q = memchr(s, ';', len);
		if ((!strncasecmp(s, "gzip", 4) || *s == '*') &&
		    strcspn(s, " \t;,") == (*s == '*' ? 1 : 4)) {
			q = q ? strpbrk(q, "qQ,") : NULL;
			return !(q && *q != ',' && q[1] == '=' && strtod(q + 2, NULL) <= 0);
		}
		s += len;
	}
	return false;
}
