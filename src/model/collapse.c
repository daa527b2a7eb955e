// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/collapse.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/array.h"

#define RANDOM_LEN 5  /* length of the random suffix that the Kubernetes API server adds */
#define HEX_LEAST  16 /* minimum number of hex digits that count as random */
#define UUID_LEN   36

/* Characters of random names in Kubernetes: apimachinery/pkg/util/rand/rand.go. */
#define RANDOM_CHARS "bcdfghjklmnpqrstvwxz2456789"

/* Characters of hash values in Kubernetes names: SafeEncodeString() in rand.go. */
#define HASH_CHARS "456789bcdf"

/* Returns the last '-' of a name if `least` to `most` characters of `chars` follow it, or NULL. */
static char *last_segment(char *name, const char *chars, size_t least, size_t most)
{
	char *dash = strrchr(name, '-');
	size_t len;

	if (!dash || dash == name)
		return NULL;
	len = strlen(dash + 1);
	return len >= least && len <= most && strspn(dash + 1, chars) == len ? dash : NULL;
}

/* Finds the hash at the end of a name: a 32-bit number, nearly always of 8 to 10 digits. */
static char *template_hash(char *name)
{
	char *at = last_segment(name, HASH_CHARS, 4, 10);

	return at && strpbrk(at, "456789") ? at : NULL;
}

/* Finds a CronJob's scheduled time: minutes since 1970, but seconds before Kubernetes 1.21. */
static char *cron_time(char *name)
{
	char *at = last_segment(name, "0123456789", 8, 10);

	return at && (at[1] == '1' || at[1] == '2') ? at : NULL;
}

void pod_collapse(const char *pod, unsigned int collapse, char *ret, size_t size)
{
	char *at;

	array_copy(ret, size, pod);
	at = last_segment(ret, RANDOM_CHARS, RANDOM_LEN, RANDOM_LEN);
	if (!at || !(collapse & (COLLAPSE_REPLICAS | COLLAPSE_JOBS)))
		return;
	*at = 0;
	at = cron_time(ret);
	if (at) {
		if (collapse & COLLAPSE_JOBS)
			*at = 0;
		return;
	}
	if (!(collapse & COLLAPSE_REPLICAS)) {
		array_copy(ret, size, pod);
		return;
	}
	at = template_hash(ret);
	if (at)
		*at = 0;
}

static size_t uuid_len(const char *s)
{
	for (size_t i = 0; i < UUID_LEN; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;

		/* systemd replaces '-' by '_' in names of slices */
		if (dash ? s[i] != '-' && s[i] != '_' : !isxdigit((unsigned char)s[i]))
			return 0;
	}
	return UUID_LEN;
}

static size_t hex_len(const char *s)
{
	size_t n = 0, digits = 0;

	while (isxdigit((unsigned char)s[n]))
		digits += isdigit((unsigned char)s[n++]) != 0;
	return n >= HEX_LEAST && digits ? n : 0;
}

/* Returns the length of a D-Bus connection name such as ":1.42", or 0. */
static size_t bus_len(const char *s)
{
	size_t n = 1, m;

	if (s[0] != ':')
		return 0;
	n += strspn(s + n, "0123456789");
	m = s[n] == '.' ? strspn(s + n + 1, "0123456789") : 0;
	return m ? n + 1 + m : 0;
}

static size_t random_len(const char *s, bool word_begins)
{
	size_t n = 0;

	if (word_begins)
		n = uuid_len(s);
	if (!n && word_begins)
		n = hex_len(s);
	return n ? n : bus_len(s);
}

static void fold_random(const char *name, char *ret, size_t size)
{
	size_t to = 0, n;
	bool begins = true;

	while (*name && to + 2 < size) {
		n = random_len(name, begins);
		if (n) {
			ret[to++] = '#';
			name += n;
		} else {
			begins = !isalnum((unsigned char)*name);
			ret[to++] = *name++;
		}
	}
	ret[to] = 0;
}

/*
 * Returns whether an instance name numbers connections, as of sockets with Accept=yes in
 * systemd.socket(5): "3-10.0.0.1:22-10.0.0.2:4444" and "12-3456-0" number them, "15-main" does not.
 */
static bool is_counted_instance(const char *s)
{
	size_t number = strspn(s, "0123456789");
	const char *rest = s + number + 1;

	if (!number || s[number] != '-' || !*rest)
		return false;
	if (memchr(rest, ':', strspn(rest, "0123456789abcdef.:")))
		return true;
	return rest[strspn(rest, "0123456789-")] == 0;
}

/* Replaces an instance name, from which the unit suffix was removed, by '#'. */
static void fold_instance(char *at, unsigned int collapse)
{
	if (!*at)
		return;
	if (collapse & COLLAPSE_INSTANCES ||
	    (collapse & COLLAPSE_TRANSIENT && is_counted_instance(at)))
		strcpy(at, "#");
}

/* Returns whether systemd-run made a name: "run-u12", "run-r3f…", "run-p4211-i4212". */
static bool is_run(const char *name)
{
	return !strncmp(name, "run-", 4) && name[4] &&
	       name[4 + strspn(name + 4, "0123456789abcdefiupr-#")] == 0;
}

/* Replaces the pid at the end of a scope's name by '#'. */
static void fold_number(char *name)
{
	char *dash = strrchr(name, '-');

	if (dash && dash[1] && dash[1 + strspn(dash + 1, "0123456789")] == 0)
		strcpy(dash + 1, "#");
}

void unit_collapse(const char *unit, unsigned int collapse, char *ret, size_t size)
{
	char type[16] = "", name[LABEL_BYTES * 2], *dot, *at;

	if (collapse & COLLAPSE_TRANSIENT)
		fold_random(unit, name, sizeof(name));
	else
		array_copy(name, sizeof(name), unit);
	dot = strrchr(name, '.');
	if (dot && strlen(dot) < sizeof(type)) {
		strcpy(type, dot);
		*dot = 0;
	}
	at = strchr(name, '@');
	if (at)
		fold_instance(at + 1, collapse);
	else if (collapse & COLLAPSE_TRANSIENT && is_run(name))
		strcpy(name + 4, "#");
	else if (collapse & COLLAPSE_TRANSIENT && !strcmp(type, ".scope"))
		fold_number(name);
	array_copy(ret, size, name);
	array_append(ret, size, type);
}
