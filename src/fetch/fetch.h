/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Pages of other hosts by HTTP and HTTPS, all at once. By libcurl, which is loaded when it is first
 * wanted: no other command has to carry it.
 */
#ifndef FS_FETCH_FETCH_H
#define FS_FETCH_FETCH_H

#include <stddef.h>
#include <stdint.h>

struct fetch;

/* NULL: not given. A name and password may also be in ~/.netrc. */
struct fetch_options {
	const char *user;		  /* for basic authentication, with: */
	const char *password_file;	  /* its first line */
	const char *ca_file;		  /* of authorities, in place of the system's */
	const char *cert_file, *key_file; /* to show to servers */
};

/* What came of one: its page, or NULL and the reason. Both are valid for the call only. */
typedef void fetch_done_fn(void *ctx, uint32_t i, const char *page, size_t len, const char *why);

/*
 * `urls` stay the caller's. -ENOSYS: there is no libcurl; -EINVAL: an option is wrong;
 * `error` then says what. Has to be freed.
 */
int fetch_open(const struct fetch_options *o, const char *const *urls, uint32_t n,
	       struct fetch **ret, char *error, size_t size);
void fetch_free(struct fetch *f);

/*
 * Fetches each, and tells of each once; waits no longer than this. Ends early, and tells only of
 * what has come, when `wake` can be read from (-1: it never is). Returns 1 if it did, 0, or
 * -ENOMEM.
 */
int fetch_all(struct fetch *f, double timeout_s, int wake, fetch_done_fn *done, void *ctx);

/* "host:port", "https://host:port" and whole addresses as whole ones. -EINVAL, -ENAMETOOLONG. */
int fetch_url(const char *given, char *ret, size_t size);

/* "host:port" of an address, without a name and password: what it is called. Of `port`, as ":80",
 * the host alone. */
void fetch_name(const char *url, const char *port, char *ret, size_t size);

#endif
