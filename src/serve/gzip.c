// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "serve/gzip.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

/* Text of metrics: level 1 takes a third of the time of level 6 for a fifth more bytes. */
#define LEVEL	    1
#define WINDOW_GZIP (12 + 16) /* 4 KB: lines of one family are alike; of 32 KB it takes as many */
#define MEMORY	    6

struct gzip {
	z_stream z;
};

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

static bool make_state(struct gzip **state)
{
	if (*state)
		return deflateReset(&(*state)->z) == Z_OK;
	*state = calloc(1, sizeof(**state));
	if (*state && deflateInit2(&(*state)->z, LEVEL, Z_DEFLATED, WINDOW_GZIP, MEMORY,
				   Z_DEFAULT_STRATEGY) == Z_OK)
		return true;
	free(*state);
	*state = NULL;
	return false;
}

bool gzip_body(struct gzip **state, const struct buf *from, struct buf *to)
{
	unsigned char chunk[16384];
	z_stream *z;
	int said;

	if (!make_state(state))
		return false;
	z = &(*state)->z;
	z->next_in = (unsigned char *)from->s;
	z->avail_in = from->len;
	do {
		z->next_out = chunk;
		z->avail_out = sizeof(chunk);
		said = deflate(z, Z_FINISH);
		buf_add(to, (char *)chunk, sizeof(chunk) - z->avail_out);
	} while (said == Z_OK);
	return said == Z_STREAM_END && !to->failed;
}

void gzip_free(struct gzip *state)
{
	if (state)
		deflateEnd(&state->z);
	free(state);
}
