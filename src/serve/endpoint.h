/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * serve: HTTP and HTTPS for one page of metrics, in the caller's event loop and thread. It knows
 * nothing of what it serves: the caller makes the body.
 *
 * GET and HEAD alone, no input is reflected, and everything has a bound: headers, connections, and
 * the time that each may take.
 */
#ifndef FS_SERVE_ENDPOINT_H
#define FS_SERVE_ENDPOINT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

#define ENDPOINT_PORT	      10435
#define ENDPOINT_ADDRESSES    8
#define ENDPOINT_CONNECTIONS  32
#define ENDPOINT_HEADER_BYTES 8192
#define ENDPOINT_PATIENCE_S   10  /* of a request, and of the first on a connection */
#define ENDPOINT_IDLE_S	      120 /* of a connection between two requests */

struct endpoint_options {
	const char *const *address; /* HOST:PORT, [IPV6]:PORT, :PORT, fd://; none: loopback */
	size_t addresses;
	const char *path;	 /* of the metrics; NULL: /metrics */
	const char *config_file; /* of exporter-toolkit's format; NULL: none */
	/*
	 * Makes the body for these headers (NULL and 0: not sent). Returns its content type, NULL
	 * where nothing can be said.
	 */
	const char *(*metrics)(void *ctx, const char *accept, double timeout_s, struct buf *body);
	bool (*ready)(void *ctx);
	void *ctx;
};

struct endpoint;

/*
 * Opens what is to be listened on and reads the configuration; answers with endpoint_run(). It
 * forks where passwords are to be checked: to be called early. -errno, with `error` set.
 */
int endpoint_open(const struct endpoint_options *o, struct endpoint **ret, char *error,
		  size_t size);

/* Readable when endpoint_run() has something to do; that is also so when its time has come. */
int endpoint_fd(const struct endpoint *e);
int endpoint_timeout_ms(struct endpoint *e); /* -1: none */
void endpoint_run(struct endpoint *e);

/*
 * Reads the configuration and its certificates anew: connections that are open are closed. Where
 * it cannot be read all stays as it was.
 */
int endpoint_reload(struct endpoint *e, char *error, size_t size);

/* Directories that a reload reads from: the nth, NULL at the end. */
const char *endpoint_reads(const struct endpoint *e, size_t nth);

/* Where it listens: the nth, as "http://127.0.0.1:10435/metrics"; NULL at the end. */
const char *endpoint_url(const struct endpoint *e, size_t nth);

void endpoint_close(struct endpoint *e);

#endif
