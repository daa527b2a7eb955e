/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* serve: declarations shared by the files of the HTTP server. */
#ifndef FS_SERVE_HTTP_H
#define FS_SERVE_HTTP_H

#include <microhttpd.h>
#include <stdint.h>

#include "serve/endpoint.h"
#include "base/compress.h"
#include "serve/listen.h"
#include "serve/verify.h"
#include "serve/web_config.h"

/* An open connection. */
struct client {
	struct endpoint *e;
	int fd;
	/*
	 * CLOCK_MONOTONIC time at which the connection is closed, unless a request begins or ends
	 * before
	 */
	uint64_t deadline_ns;
	bool idle; /* true: the connection has no request in progress */
	bool closing;
	bool admitted; /* true: the client's certificate was accepted */
	struct client *next;
};

/* A request that was not yet answered. */
struct request {
	struct endpoint *e;
	struct MHD_Connection *connection;
	/* number of the password check that the request waits for; 0: it waits for none */
	uint32_t question;
	enum { AUTH_UNKNOWN, AUTH_GOOD, AUTH_BAD } auth;
	struct request *next;
};

struct endpoint {
	struct endpoint_options o;
	struct listener listener[ENDPOINT_ADDRESSES];
	char url[ENDPOINT_ADDRESSES][192];
	struct MHD_Daemon *daemon[ENDPOINT_ADDRESSES];
	size_t listeners;
	char *config_path; /* absolute path of the configuration file; NULL: none; owned */
	struct web_config config;
	struct verifier verifier;
	struct gzip *gzip;
	struct client *clients;
	size_t nr_clients;
	struct request *waiting; /* list of requests that wait for a password check */
	struct buf body, packed; /* body of the current response, and its compressed form */
	int poll;
	bool stopping; /* true: the server is reloading or closing, and rejects new requests */
};

uint64_t http_now_ns(void);

/* Functions of http_request.c: request handlers of libmicrohttpd. */
enum MHD_Result http_request(void *cls, struct MHD_Connection *connection, const char *url,
			     const char *method, const char *version, const char *upload,
			     size_t *upload_size, void **state);
void http_request_done(void *cls, struct MHD_Connection *connection, void **state,
		       enum MHD_RequestTerminationCode why);
/*
 * Continues the requests whose password was checked. If `all` is set, also rejects the requests
 * whose password check is still pending.
 */
void http_verdicts(struct endpoint *e, bool all);

/* Functions of http_client.c: connections and their deadlines. */
void http_client_notify(void *cls, struct MHD_Connection *connection, void **context,
			enum MHD_ConnectionNotificationCode what);
struct client *http_client_of(struct MHD_Connection *connection);
void http_client_begins(struct client *c);
void http_client_idles(struct client *c);
void http_clients_expire(struct endpoint *e);
int http_clients_timeout_ms(const struct endpoint *e);

/* Functions of http_tls.c, for client certificates. */
void http_tls_demand(struct endpoint *e, struct MHD_Connection *connection);
/* Returns whether a name in the client's certificate permits requests. */
bool http_tls_admits(const struct endpoint *e, struct MHD_Connection *connection);

#endif
