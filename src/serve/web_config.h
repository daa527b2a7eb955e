/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * serve: the web configuration file, in the format of Prometheus' exporter-toolkit. A key that is
 * not known, or not supported here, is an error: what protects must not be passed over.
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

/* client_auth_type, as Go's crypto/tls names them. */
enum client_auth {
	CLIENT_NONE,
	CLIENT_REQUEST,
	CLIENT_REQUIRE_ANY,
	CLIENT_VERIFY_IF_GIVEN,
	CLIENT_REQUIRE_AND_VERIFY,
};

struct web_pair {
	char *name, *value; /* owned */
};

struct web_config {
	bool tls;
	char *cert, *key, *client_ca; /* PEM; NULL: none; owned */
	enum client_auth client_auth;
	bool tls13_only;
	/* owned, each of them */
	char *client_san[WEB_NAMES]; /* of which a client's certificate has to have one */
	size_t client_sans;
	char *cipher_suite[WEB_NAMES]; /* as IANA names them, the best first; none: the library's */
	size_t cipher_suites;
	char *curve[WEB_NAMES]; /* as Go names them */
	size_t curves;
	struct web_pair user[WEB_USERS]; /* name and bcrypt hash */
	size_t users;
	struct web_pair header[WEB_HEADERS]; /* of every answer */
	size_t headers;
	struct rate_limit rate; /* of all requests */
	char *dir[WEB_DIRS];	/* that files were read from; owned */
	size_t dirs;
};

/* -errno, with `error` set; `ret` is then not touched. */
int web_config_read(const char *path, struct web_config *ret, char *error, size_t size);
void web_config_free(struct web_config *c);

#endif
