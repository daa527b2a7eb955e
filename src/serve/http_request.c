// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Handles one request: authentication, routing, response. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "serve/gzip.h"
#include "serve/http.h"

/*
 * Settings of gzip. Level 1 takes a third of the time of level 6, and its output is 20 % larger. A
 * window of 4 KB is enough, because similar lines are adjacent; 32 KB saves no bytes.
 */
static const struct gzip_way gzip_way = {.level = 1, .window_bits = 12, .memory = 6};

/*
 * A hash that no password matches, so that a check takes as long for unknown users as for known
 * users.
 */
#define NOBODY "$2y$10$QOauhQNbBCuQDKes6eFzPeMqBSjb7Mr5DUmpZ/VcEd00UAV/LDeSi"

static const char landing[] =
	"<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>faultscope "
	"exporter</title></head>\n<body><h1>faultscope exporter</h1>\n<p>Page faults, mappings, "
	"descriptors and swap of the workloads of this machine, for Prometheus.</p>\n<p>Version "
	"" VERSION "</p>\n<ul><li><a href=\"";
static const char landing_end[] =
	"\">Metrics</a></li><li><a href=\"/-/healthy\">Healthy</a></li><li><a "
	"href=\"/-/ready\">Ready</a></li></ul></body></html>\n";

struct answer {
	unsigned int status;
	const char *type;
	const char *body; /* constant text of the body; NULL: use the endpoint's buffer */
	const char *extra_name, *extra; /* additional response header; NULL: none */
	bool gzip;
};

static const char *header_of(struct MHD_Connection *connection, const char *name)
{
	return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static enum MHD_Result send_answer(struct endpoint *e, struct MHD_Connection *connection,
				   const struct answer *a)
{
	struct buf *b = a->gzip ? &e->packed : &e->body;
	struct MHD_Response *r;
	enum MHD_Result done;

	if (a->body)
		r = MHD_create_response_from_buffer(strlen(a->body), (void *)a->body,
						    MHD_RESPMEM_PERSISTENT);
	else
		r = MHD_create_response_from_buffer(b->len, b->s ? b->s : "",
						    MHD_RESPMEM_MUST_COPY);
	if (!r)
		return MHD_NO;
	if (a->type)
		MHD_add_response_header(r, "Content-Type", a->type);
	if (a->gzip)
		MHD_add_response_header(r, "Content-Encoding", "gzip");
	if (a->extra_name)
		MHD_add_response_header(r, a->extra_name, a->extra);
	for (size_t i = 0; i < e->config.headers; i++)
		MHD_add_response_header(r, e->config.header[i].name, e->config.header[i].value);
	done = MHD_queue_response(connection, a->status, r);
	MHD_destroy_response(r);
	return done;
}

static enum MHD_Result say(struct endpoint *e, struct MHD_Connection *connection,
			   unsigned int status, const char *text)
{
	return send_answer(e, connection,
			   &(struct answer){.status = status,
					    .type = "text/plain; charset=utf-8",
					    .body = text});
}

static enum MHD_Result send_metrics(struct endpoint *e, struct MHD_Connection *connection)
{
	const char *timeout = header_of(connection, "X-Prometheus-Scrape-Timeout-Seconds");
	double timeout_s = timeout ? strtod(timeout, NULL) : 0;
	struct answer a = {.status = MHD_HTTP_OK};

	buf_clear(&e->body);
	buf_clear(&e->packed);
	a.type = e->o.metrics(e->o.ctx, header_of(connection, "Accept"),
			      timeout_s > 0 ? timeout_s : 0, &e->body);
	if (!a.type || e->body.failed)
		return say(e, connection, MHD_HTTP_INTERNAL_SERVER_ERROR,
			   "The metrics could not be collected.\n");
	a.gzip = gzip_accepted(header_of(connection, "Accept-Encoding")) &&
		 !gzip_pack(&e->gzip, &gzip_way, &e->body, &e->packed);
	a.extra_name = "Vary";
	a.extra = "Accept, Accept-Encoding";
	return send_answer(e, connection, &a);
}

static enum MHD_Result send_landing(struct endpoint *e, struct MHD_Connection *connection)
{
	buf_clear(&e->body);
	buf_puts(&e->body, landing);
	buf_puts(&e->body, e->o.path);
	buf_puts(&e->body, landing_end);
	return send_answer(
		e, connection,
		&(struct answer){.status = MHD_HTTP_OK, .type = "text/html; charset=utf-8"});
}

/*
 * Stores an incident. Only users with a password or a client certificate may do this, because each
 * request writes a file.
 */
static enum MHD_Result send_snapshot(struct endpoint *e, struct MHD_Connection *connection,
				     const char *method)
{
	bool done;

	if (!e->config.users && e->config.client_auth != CLIENT_REQUIRE_AND_VERIFY)
		return say(e, connection, MHD_HTTP_FORBIDDEN,
			   "Snapshots need authentication: set basic_auth_users or client_ca_file "
			   "in the file of --web.config.file.\n");
	if (strcmp(method, MHD_HTTP_METHOD_POST))
		return send_answer(e, connection,
				   &(struct answer){.status = MHD_HTTP_METHOD_NOT_ALLOWED,
						    .type = "text/plain; charset=utf-8",
						    .body = "Use POST.\n",
						    .extra_name = "Allow",
						    .extra = "POST"});
	buf_clear(&e->body);
	done = e->o.snapshot(e->o.ctx, &e->body);
	return send_answer(e, connection,
			   &(struct answer){.status = done ? MHD_HTTP_OK
							   : MHD_HTTP_SERVICE_UNAVAILABLE,
					    .type = "text/plain; charset=utf-8"});
}

#define PROFILES "/debug/pprof/"

static enum MHD_Result send_profile(struct endpoint *e, struct MHD_Connection *connection,
				    const char *name)
{
	const char *seconds =
		MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "seconds");
	double s = seconds ? strtod(seconds, NULL) : 0;
	int err;

	buf_clear(&e->body);
	err = e->o.profile(e->o.ctx, name, s > 0 ? s : 0, &e->body);
	if (err == -ENOENT)
		return say(e, connection, MHD_HTTP_NOT_FOUND,
			   "There is no such profile: faults, mappings, fds or stalls.\n");
	if (err || e->body.failed)
		return say(e, connection, MHD_HTTP_SERVICE_UNAVAILABLE,
			   "There is no profile yet, or it could not be made.\n");
	return send_answer(e, connection,
			   &(struct answer){.status = MHD_HTTP_OK,
					    .type = "application/octet-stream",
					    .extra_name = "X-Content-Type-Options",
					    .extra = "nosniff"});
}

static enum MHD_Result send_page(struct endpoint *e, struct MHD_Connection *connection,
				 const char *url, const char *method)
{
	if (!strcmp(url, e->o.path))
		return send_metrics(e, connection);
	if (!strcmp(url, "/"))
		return send_landing(e, connection);
	if (!strcmp(url, "/-/snapshot") && e->o.snapshot)
		return send_snapshot(e, connection, method);
	if (!strncmp(url, PROFILES, strlen(PROFILES)) && e->o.profile)
		return send_profile(e, connection, url + strlen(PROFILES));
	if (!strcmp(url, "/-/healthy"))
		return say(e, connection, MHD_HTTP_OK, "faultscope is healthy.\n");
	if (!strcmp(url, "/-/ready"))
		return e->o.ready(e->o.ctx)
			       ? say(e, connection, MHD_HTTP_OK, "faultscope is ready.\n")
			       : say(e, connection, MHD_HTTP_SERVICE_UNAVAILABLE, "Not ready.\n");
	return say(e, connection, MHD_HTTP_NOT_FOUND, "There is nothing here.\n");
}

static const char *hash_of(const struct web_config *c, const char *user)
{
	for (size_t i = 0; i < c->users; i++)
		if (!strcmp(c->user[i].name, user))
			return c->user[i].value;
	return NULL;
}

/*
 * Starts to check the password of a request. Suspends the connection unless the result of the check
 * is cached.
 */
static void authenticate(struct request *r)
{
	struct endpoint *e = r->e;
	char *password = NULL, *user;
	enum verdict_known known = VERDICT_BAD;
	const char *hash = NULL;

	user = MHD_basic_auth_get_username_password(r->connection, &password);
	if (user && password) {
		hash = hash_of(&e->config, user);
		known = verify_ask(&e->verifier, hash ? hash : NOBODY, password, &r->question);
	}
	r->auth = known == VERDICT_GOOD && hash ? AUTH_GOOD : AUTH_BAD;
	if (known == VERDICT_PENDING) {
		r->auth = AUTH_UNKNOWN;
		r->next = e->waiting;
		e->waiting = r;
		MHD_suspend_connection(r->connection);
	}
	if (password)
		explicit_bzero(password, strlen(password));
	MHD_free(user);
	MHD_free(password);
}

static enum MHD_Result refuse(struct endpoint *e, struct MHD_Connection *connection)
{
	return send_answer(e, connection,
			   &(struct answer){.status = MHD_HTTP_UNAUTHORIZED,
					    .type = "text/plain; charset=utf-8",
					    .body = "Unauthorized\n",
					    .extra_name = "WWW-Authenticate",
					    .extra = "Basic realm=\"faultscope\""});
}

/*
 * POST is answered like GET, and its body is ignored, as node_exporter does. Some proxies send POST
 * requests for metrics.
 */
static bool is_answered(const char *method)
{
	return !strcmp(method, MHD_HTTP_METHOD_GET) || !strcmp(method, MHD_HTTP_METHOD_HEAD) ||
	       !strcmp(method, MHD_HTTP_METHOD_POST);
}

static enum MHD_Result count_length(void *count, enum MHD_ValueKind kind, const char *name,
				    const char *value)
{
	(void)kind, (void)value;
	*(int *)count += !strcasecmp(name, MHD_HTTP_HEADER_CONTENT_LENGTH) ||
			 !strcasecmp(name, MHD_HTTP_HEADER_TRANSFER_ENCODING);
	return MHD_YES;
}

/*
 * Returns whether the request has at most one header that states the length of its body. If there
 * were two, a proxy could use another one than this server. This server would then read the rest of
 * the body as a second request (RFC 9112, 6.3).
 */
static bool has_one_length(struct MHD_Connection *connection)
{
	int count = 0;

	MHD_get_connection_values(connection, MHD_HEADER_KIND, count_length, &count);
	return count <= 1;
}

/* Handles a new request. The body of the request has not been read yet. */
static enum MHD_Result begin(struct endpoint *e, struct MHD_Connection *connection,
			     const char *method, void **state)
{
	struct client *c = http_client_of(connection);
	struct request *r;

	if (!c || e->stopping)
		return MHD_NO;
	c->admitted = c->admitted || http_tls_admits(e, connection);
	if (!c->admitted)
		return MHD_NO;
	http_client_begins(c);
	if (!has_one_length(connection))
		return send_answer(e, connection,
				   &(struct answer){.status = MHD_HTTP_BAD_REQUEST,
						    .type = "text/plain; charset=utf-8",
						    .body = "Bad request: more than one "
							    "Content-Length or Transfer-Encoding\n",
						    .extra_name = "Connection",
						    .extra = "close"});
	if (!is_answered(method))
		return send_answer(e, connection,
				   &(struct answer){.status = MHD_HTTP_METHOD_NOT_ALLOWED,
						    .type = "text/plain; charset=utf-8",
						    .body = "Method not allowed\n",
						    .extra_name = "Allow",
						    .extra = "GET, HEAD, POST"});
	if (!rate_limit_take(&e->config.rate, http_now_ns()))
		return say(e, connection, MHD_HTTP_TOO_MANY_REQUESTS, "Too many requests\n");
	r = calloc(1, sizeof(*r));
	if (!r)
		return MHD_NO;
	r->e = e;
	r->connection = connection;
	r->auth = e->config.users ? AUTH_UNKNOWN : AUTH_GOOD;
	*state = r;
	return MHD_YES;
}

enum MHD_Result http_request(void *cls, struct MHD_Connection *connection, const char *url,
			     const char *method, const char *version, const char *upload,
			     size_t *upload_size, void **state)
{
	struct endpoint *e = cls;
	struct request *r = *state;

	(void)version, (void)upload;
	if (!r)
		return begin(e, connection, method, state);
	if (*upload_size) {
		*upload_size = 0; /* ignore the body of the request */
		return MHD_YES;
	}
	if (r->auth == AUTH_UNKNOWN)
		authenticate(r);
	if (r->auth == AUTH_UNKNOWN)
		/* libmicrohttpd calls this function again after the password check */
		return MHD_YES;
	return r->auth == AUTH_GOOD ? send_page(e, connection, url, method) : refuse(e, connection);
}

static void forget_waiting(struct endpoint *e, const struct request *r)
{
	struct request **at = &e->waiting;

	while (*at && *at != r)
		at = &(*at)->next;
	if (*at)
		*at = r->next;
}

void http_request_done(void *cls, struct MHD_Connection *connection, void **state,
		       enum MHD_RequestTerminationCode why)
{
	struct client *c = http_client_of(connection);

	(void)why;
	if (c)
		http_client_idles(c);
	if (*state)
		forget_waiting(cls, *state);
	free(*state);
	*state = NULL;
}

static void go_on(struct endpoint *e, struct request *r, bool good)
{
	const char *user_hash = NULL;
	char *user = MHD_basic_auth_get_username_password(r->connection, NULL);

	/*
	 * the password has matched, but a reload may have removed the user from the configuration
	 */
	if (user)
		user_hash = hash_of(&e->config, user);
	MHD_free(user);
	r->auth = good && user_hash ? AUTH_GOOD : AUTH_BAD;
	r->question = 0;
	MHD_resume_connection(r->connection);
}

void http_verdicts(struct endpoint *e, bool all)
{
	uint32_t number;
	bool good;

	while (verify_take(&e->verifier, &number, &good)) {
		struct request *r = e->waiting;

		while (r && r->question != number)
			r = r->next;
		if (r) {
			forget_waiting(e, r);
			go_on(e, r, good);
		}
	}
	/* if the password process has ended, reject all requests that wait for its answer */
	while (e->waiting && (all || e->verifier.fd < 0)) {
		struct request *r = e->waiting;

		forget_waiting(e, r);
		go_on(e, r, false);
	}
}
