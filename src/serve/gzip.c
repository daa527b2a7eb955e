// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "serve/gzip.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool gzip_accepted(const char *s)
{
	bool any = false; /* value of "*", which stands for all codings that are not named */

	while (s && *s) {
		size_t len, name;
		const char *q;
		bool good;

		s += strspn(s, " \t,");
		len = strcspn(s, ",");
		name = strcspn(s, " \t;,");
		q = memchr(s, ';', len);
		q = q ? strpbrk(q, "qQ,") : NULL;
		good = !(q && *q != ',' && q[1] == '=' && strtod(q + 2, NULL) <= 0);
		if (name == 4 && !strncasecmp(s, "gzip", 4))
			return good;
		if (name == 1 && *s == '*')
			any = good;
		s += len;
	}
	return any;
}
