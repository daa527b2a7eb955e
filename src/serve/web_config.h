/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * serve: reads the web configuration file in the format of Prometheus' exporter-toolkit. Unknown
 * and unsupported keys are errors: ignoring one could leave the server unprotected.
 */
#ifndef FS_SERVE_WEB_CONFIG_H
#define FS_SERVE_WEB_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

#include "serve/rate_limit.h"

#define WEB_USERS   64
#define WEB_HEADERS 8
#define WEB_DIRS    8
#define WEB_NAMES   32

/* Values of client_auth_type, named as in Go's crypto/tls. */
enum client_auth {
	CLIENT_NONE,
	CLIENT_REQUEST,
	CLIENT_REQUIRE_ANY,
	CLIENT_VERIFY_IF_GIVEN,
	CLIENT_REQUIRE_AND_VERIFY,
};

struct web_pair {
	char *name, *value; /* both texts are owned by the pair */
};

struct web_config {
	bool tls;
	char *cert, *key, *client_ca; /* certificate, key and CA as PEM texts; NULL: none; owned */
	enum client_auth client_auth;
	bool tls13_only;
	/* The texts in the arrays from `client_san` to `header` are owned by this struct. */
	/* a client certificate must have one of these names; empty: every name is allowed */
	char *client_san[WEB_NAMES];
	size_t client_sans;
	char *cipher_suite[WEB_NAMES]; /* IANA cipher suites, best first; empty: GnuTLS default */
	size_t cipher_suites;
	char *curve[WEB_NAMES]; /* elliptic curves, named as in Go's crypto/tls */
	size_t curves;
	struct web_pair user[WEB_USERS]; /* users: name and bcrypt hash of the password */
	size_t users;
	struct web_pair header[WEB_HEADERS]; /* headers that every response gets */
	size_t headers;
	struct rate_limit rate; /* rate limit for the requests of all clients */
	char *dir[WEB_DIRS];	/* directories of the files that were read; each is owned */
	size_t dirs;
};

/* Reads the configuration file. Returns 0, or -errno with `error` set and `ret` unchanged. */
int web_config_read(const char *path, struct web_config *ret, char *error, size_t size);
void web_config_free(struct web_config *c);

#endif
