/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * serve: an HTTP and HTTPS server for one page of metrics. The server runs in the caller's event
 * loop and thread, and the caller creates the page.
 *
 * The server answers GET, HEAD and POST, and never returns input of a client. The server limits the
 * bytes of headers, the number of connections, the time of a request, and the idle time of a
 * connection.
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
/* maximum seconds for a request, and from the connection to its first request */
#define ENDPOINT_PATIENCE_S 10
#define ENDPOINT_IDLE_S	    120 /* maximum seconds between two requests of a connection */

struct endpoint_options {
	/*
	 * addresses to listen on: HOST:PORT, [IPV6]:PORT, :PORT or fd://; default 127.0.0.1:10435
	 */
	const char *const *address;
	size_t addresses;
	const char *path;	 /* URL path of the metrics; NULL: /metrics */
	const char *config_file; /* web configuration of exporter-toolkit; NULL: none */
	/*
	 * Creates the body of a response. `accept` and `timeout_s` are the values of request
	 * headers. If a header is absent, `accept` is NULL, or `timeout_s` is 0. Returns the
	 * content type, or NULL on failure.
	 */
	const char *(*metrics)(void *ctx, const char *accept, double timeout_s, struct buf *body);
	bool (*ready)(void *ctx);
	/*
	 * Answers POST /-/snapshot, of users who are authenticated. Writes a line of text, and
	 * returns whether the request was successful. NULL: there is no such page.
	 */
	bool (*snapshot)(void *ctx, struct buf *body);
	/*
	 * Answers GET /debug/pprof/NAME with a profile, compressed by gzip. `seconds` is the
	 * parameter of the URL; 0: absent. Returns 0, -ENOENT if there is no such profile, or
	 * another -errno. NULL: there are no such pages.
	 */
	int (*profile)(void *ctx, const char *name, double seconds, struct buf *body);
	void *ctx;
};

struct endpoint;

/*
 * Reads the configuration and opens the sockets. If there is a configuration file, forks a process
 * that checks passwords: call this function early, while this process is small. Returns 0, or
 * -errno with `error` set.
 */
int endpoint_open(const struct endpoint_options *o, struct endpoint **ret, char *error,
		  size_t size);

/*
 * Returns a file descriptor. Call endpoint_run() when the descriptor is readable, or when
 * endpoint_timeout_ms() has passed.
 */
int endpoint_fd(const struct endpoint *e);
int endpoint_timeout_ms(struct endpoint *e); /* returns milliseconds, or -1 for no time-out */
void endpoint_run(struct endpoint *e);

/*
 * Reads configuration and certificates again, and closes all connections. On failure, the old
 * configuration stays in use. Returns 0, or -errno with `error` set.
 */
int endpoint_reload(struct endpoint *e, char *error, size_t size);

/*
 * Returns the nth directory that must stay readable so that endpoint_reload() works, or NULL after
 * the last directory.
 */
const char *endpoint_reads(const struct endpoint *e, size_t nth);

/* Returns the nth URL, such as "http://127.0.0.1:10435/metrics", or NULL after the last URL. */
const char *endpoint_url(const struct endpoint *e, size_t nth);

void endpoint_close(struct endpoint *e);

#endif
