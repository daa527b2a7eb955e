/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* serve: what the parts of the endpoint share. */
#ifndef FS_SERVE_HTTP_H
#define FS_SERVE_HTTP_H

#include <microhttpd.h>
#include <stdint.h>

#include "serve/endpoint.h"
#include "base/compress.h"
#include "serve/listen.h"
#include "serve/verify.h"
#include "serve/web_config.h"

/* A connection that is open. */
struct client {
	struct endpoint *e;
	int fd;
	uint64_t deadline_ns; /* by which it has to be idle, or is closed */
	bool idle;	      /* between two requests */
	bool closing;
	bool admitted; /* its certificate was looked at */
	struct client *next;
};

/* A request that is being answered. */
struct request {
	struct endpoint *e;
	struct MHD_Connection *connection;
	uint32_t question; /* that the verifier works on; 0: none */
	enum { AUTH_UNKNOWN, AUTH_GOOD, AUTH_BAD } auth;
	struct request *next;
};

struct endpoint {
	struct endpoint_options o;
	struct listener listener[ENDPOINT_ADDRESSES];
	char url[ENDPOINT_ADDRESSES][192];
	struct MHD_Daemon *daemon[ENDPOINT_ADDRESSES];
	size_t listeners;
	char *config_path; /* absolute; NULL: there is none; owned */
	struct web_config config;
	struct verifier verifier;
	struct gzip *gzip;
	struct client *clients;
	size_t nr_clients;
	struct request *waiting; /* for the verifier */
	struct buf body, packed; /* of the answer at hand */
	int poll;
	bool stopping; /* nothing new is begun */
};

uint64_t http_now_ns(void);

/* http_request.c: MHD's handlers. */
enum MHD_Result http_request(void *cls, struct MHD_Connection *connection, const char *url,
			     const char *method, const char *version, const char *upload,
			     size_t *upload_size, void **state);
void http_request_done(void *cls, struct MHD_Connection *connection, void **state,
		       enum MHD_RequestTerminationCode why);
/* Goes on with whom a verdict has come for; with `all`, with everybody, to be refused. */
void http_verdicts(struct endpoint *e, bool all);

/* http_client.c: connections and their deadlines. */
void http_client_notify(void *cls, struct MHD_Connection *connection, void **context,
			enum MHD_ConnectionNotificationCode what);
struct client *http_client_of(struct MHD_Connection *connection);
void http_client_begins(struct client *c);
void http_client_idles(struct client *c);
void http_clients_expire(struct endpoint *e);
int http_clients_timeout_ms(const struct endpoint *e);

/* http_tls.c */
void http_tls_demand(struct endpoint *e, struct MHD_Connection *connection);
/* Whether a client may ask at all, by the names in its certificate. */
bool http_tls_admits(const struct endpoint *e, struct MHD_Connection *connection);

#endif
