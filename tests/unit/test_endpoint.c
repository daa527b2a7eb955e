// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests HTTP responses of the endpoint over a local socket. Client and server run in the same
 * thread.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <crypt.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "serve/gzip.h"
#include "serve/http.h"
#include "tap.h"

#define ANSWER_BYTES 65536

/* Arguments and results of the callbacks that write the metrics page. */
struct page {
	const char *type, *text;
	bool ready;
	char accept[64];
	double timeout_s;
	int asked;
};

static char config_path[] = "/tmp/faultscope-endpoint-XXXXXX";
static char error[512];
static size_t length; /* value of the Content-Length header in the last response */

static const char *make_metrics(void *ctx, const char *accept, double timeout_s, struct buf *body)
{
	struct page *p = ctx;

	p->asked++;
	p->timeout_s = timeout_s;
	snprintf(p->accept, sizeof(p->accept), "%s", accept ? accept : "(none)");
	buf_puts(body, p->text);
	return p->type;
}

static bool is_ready(void *ctx)
{
	return ((struct page *)ctx)->ready;
}

static struct endpoint *open_endpoint(struct page *p, const char *path, const char *config)
{
	static const char *const address[] = {"127.0.0.1:0"};
	struct endpoint_options o = {
		.address = address,
		.addresses = 1,
		.path = path,
		.config_file = config,
		.metrics = make_metrics,
		.ready = is_ready,
		.ctx = p,
	};
	struct endpoint *e = NULL;
	int err = endpoint_open(&o, &e, error, sizeof(error));

	if (!ok(!err, "an endpoint is opened: %s", err ? error : endpoint_url(e, 0)))
		exit(tap_done());
	return e;
}

static int connect_to(const struct endpoint *e)
{
	struct sockaddr_in to = {.sin_family = AF_INET};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	to.sin_port = htons(atoi(strrchr(endpoint_url(e, 0), ':') + 1));
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (connect(fd, (struct sockaddr *)&to, sizeof(to)))
		exit(99);
	return fd;
}

/* Runs the event loop once. Returns whether the client can read a response. */
static bool turn(struct endpoint *e, int fd)
{
	struct pollfd p[2] = {{.fd = fd, .events = POLLIN},
			      {.fd = endpoint_fd(e), .events = POLLIN}};

	poll(p, 2, endpoint_timeout_ms(e));
	endpoint_run(e);
	return p[0].revents;
}

/* Removes a header line from a response. Returns its value, or "" if there is none. */
static const char *take_header(char *s, size_t *len, const char *name)
{
	static char value[64];
	char *at = strstr(s, name), *end = at ? strstr(at, "\r\n") : NULL;

	value[0] = 0;
	if (!end)
		return value;
	snprintf(value, sizeof(value), "%.*s", (int)(end - at - strlen(name)), at + strlen(name));
	memmove(at, end + 2, s + *len + 1 - (end + 2));
	*len -= end + 2 - at;
	return value;
}

/*
 * Reads until the server closes the connection, and removes the Date header. Also removes the first
 * Content-Length header, because its position depends on the version of libmicrohttpd. Stores the
 * value of this header in `length`.
 */
static const char *read_all(struct endpoint *e, int fd)
{
	static char s[ANSWER_BYTES];
	size_t len = 0;
	ssize_t n = 1;

	while (n > 0) {
		if (!turn(e, fd))
			continue;
		n = recv(fd, s + len, sizeof(s) - 1 - len, MSG_DONTWAIT);
		len += n > 0 ? n : 0;
		n = n < 0 && errno == EAGAIN ? 1 : n;
	}
	close(fd);
	s[len] = 0;
	take_header(s, &len, "Date: ");
	length = atoi(take_header(s, &len, "Content-Length: "));
	return s;
}

static int send_text(const struct endpoint *e, const char *text)
{
	int fd = connect_to(e);

	if (send(fd, text, strlen(text), MSG_NOSIGNAL) != (ssize_t)strlen(text))
		exit(99);
	return fd;
}

/* Sends a request with these header lines and "Connection: close". Returns the response. */
static const char *ask(struct endpoint *e, const char *lines)
{
	char text[4096];

	snprintf(text, sizeof(text), "%sHost: here\r\nConnection: close\r\n\r\n", lines);
	return read_all(e, send_text(e, text));
}

#define PLAIN "Content-Type: text/plain; charset=utf-8\r\n"
#define CLOSE "HTTP/1.1 %s\r\nConnection: close\r\n%s\r\n%s"

/* Checks that the response has this status, these headers and this body, and nothing else. */
static void answers(struct endpoint *e, const char *lines, const char *status, const char *headers,
		    const char *body, const char *name)
{
	bool is_head = !strncmp(lines, "HEAD", 4);
	char want[8192];

	snprintf(want, sizeof(want), CLOSE, status, headers, is_head ? "" : body);
	is_str(ask(e, lines), want, name);
	is_u64(length, strlen(body), "and its length");
}

static void test_pages(void)
{
	static const char *const vary = "Content-Type: text/x\r\nVary: Accept, Accept-Encoding\r\n";
	struct page p = {.type = "text/x", .text = "faults 1\n"};
	struct endpoint *e = open_endpoint(&p, NULL, NULL);
	char landing[1024];

	ok(!strcmp(strrchr(endpoint_url(e, 0), '/'), "/metrics") && !endpoint_url(e, 1),
	   "it has one address, and the usual path");
	answers(e, "GET /metrics HTTP/1.1\r\n", "200 OK", vary, "faults 1\n", "the metrics");
	is_str(p.accept, "(none)", "without the header Accept");
	ok(p.timeout_s == 0, "without a time");
	ask(e, "GET /metrics HTTP/1.1\r\nAccept: text/y\r\n"
	       "X-Prometheus-Scrape-Timeout-Seconds: 2.5\r\n");
	is_str(p.accept, "text/y", "with the header Accept");
	ok(p.timeout_s == 2.5, "with a time");
	ask(e, "GET /metrics HTTP/1.1\r\nX-Prometheus-Scrape-Timeout-Seconds: -1\r\n");
	ok(p.timeout_s == 0, "a negative time is none");
	answers(e, "HEAD /metrics HTTP/1.1\r\n", "200 OK", vary, "faults 1\n",
		"HEAD: the same without the body");
	answers(e, "POST /metrics HTTP/1.1\r\nContent-Length: 0\r\n", "200 OK", vary, "faults 1\n",
		"POST is answered too");
	is_u64(p.asked, 5, "the metrics were made once for each request");
	p.type = NULL;
	answers(e, "GET /metrics HTTP/1.1\r\n", "500 Internal Server Error", PLAIN,
		"The metrics could not be collected.\n", "metrics that cannot be had");
	snprintf(landing, sizeof(landing),
		 "<!DOCTYPE html>\n<html lang=\"en\"><head><meta "
		 "charset=\"utf-8\"><title>faultscope "
		 "exporter</title></head>\n<body><h1>faultscope exporter</h1>\n<p>Page faults, "
		 "mappings, descriptors and swap of the workloads of this machine, for "
		 "Prometheus.</p>\n<p>Version %s</p>\n<ul><li><a href=\"/metrics\">Metrics</a></li>"
		 "<li><a href=\"/-/healthy\">Healthy</a></li><li><a href=\"/-/ready\">Ready</a>"
		 "</li></ul></body></html>\n",
		 VERSION);
	answers(e, "GET / HTTP/1.1\r\n", "200 OK", "Content-Type: text/html; charset=utf-8\r\n",
		landing, "the page at /");
	answers(e, "GET /-/healthy HTTP/1.1\r\n", "200 OK", PLAIN, "faultscope is healthy.\n",
		"healthy");
	answers(e, "GET /-/ready HTTP/1.1\r\n", "503 Service Unavailable", PLAIN, "Not ready.\n",
		"not ready");
	p.ready = true;
	answers(e, "GET /-/ready HTTP/1.1\r\n", "200 OK", PLAIN, "faultscope is ready.\n", "ready");
	answers(e, "GET /metrics/ HTTP/1.1\r\n", "404 Not Found", PLAIN, "There is nothing here.\n",
		"another path");
	endpoint_close(e);
}

static void test_refusals(void)
{
	struct page p = {.type = "text/x", .text = "faults 1\n"};
	struct endpoint *e = open_endpoint(&p, "/m", NULL);
	const char *first;
	int fd;

	answers(e, "GET /metrics HTTP/1.1\r\n", "404 Not Found", PLAIN, "There is nothing here.\n",
		"a path of one's own replaces /metrics");
	answers(e, "PUT /m HTTP/1.1\r\nContent-Length: 0\r\n", "405 Method Not Allowed",
		PLAIN "Allow: GET, HEAD, POST\r\n", "Method not allowed\n", "another method");
	answers(e, "POST /m HTTP/1.1\r\nContent-Length: 0\r\nContent-Length: 0\r\n",
		"400 Bad Request", PLAIN,
		"Bad request: more than one Content-Length or Transfer-Encoding\n", "two lengths");
	is_u64(p.asked, 0, "none of them is asked for metrics");
	fd = send_text(e, "POST /m HTTP/1.1\r\nHost: here\r\nConnection: close\r\n"
			  "Content-Length: 5\r\n\r\nhello");
	ok(strstr(read_all(e, fd), "\r\n\r\nfaults 1\n"), "a body is passed over");
	fd = send_text(e, "GET /m HTTP/1.1\r\nHost: here\r\n\r\n"
			  "GET /-/healthy HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n");
	first = strstr(read_all(e, fd), "faults 1\n");
	ok(first && strstr(first, "faultscope is healthy.\n"),
	   "two requests on one connection are answered in their order");
	while (e->nr_clients)
		turn(e, -1);
	ok(endpoint_timeout_ms(e) == -1 && !e->clients && !e->nr_clients,
	   "no connection is left, and there is nothing to wait for");
	endpoint_close(e);
}

/*
 * Tests a new connection when the maximum number is reached. The connection that has been idle
 * longest must be closed.
 */
static void test_connections(void)
{
	struct page p = {.type = "text/x", .text = "faults 1\n"};
	struct endpoint *e = open_endpoint(&p, NULL, NULL);
	int fd[ENDPOINT_CONNECTIONS + 1];
	char c;

	for (int i = 0; i < ENDPOINT_CONNECTIONS; i++) {
		fd[i] = connect_to(e);
		while (e->nr_clients < (size_t)i + 1)
			turn(e, -1);
	}
	ok(endpoint_timeout_ms(e) > 0, "there is a time by which they have to ask");
	for (int i = 0; i < ENDPOINT_CONNECTIONS; i++)
		c = recv(fd[i], &c, 1, MSG_DONTWAIT) == -1 && errno == EAGAIN ? c : 'x';
	ok(c != 'x', "as many as there may be stay open");
	fd[ENDPOINT_CONNECTIONS] = connect_to(e);
	while (!turn(e, fd[0]))
		;
	ok(recv(fd[0], &c, 1, MSG_DONTWAIT) == 0, "for one more the first is closed");
	while (e->nr_clients != ENDPOINT_CONNECTIONS)
		turn(e, -1);
	ok(recv(fd[1], &c, 1, MSG_DONTWAIT) == -1 && errno == EAGAIN, "and no other");
	for (int i = 0; i <= ENDPOINT_CONNECTIONS; i++)
		close(fd[i]);
	while (e->nr_clients)
		turn(e, -1);
	endpoint_close(e);
}

static void write_config(const char *text)
{
	FILE *f = fopen(config_path, "w");

	if (!f || fputs(text, f) < 0 || fclose(f))
		exit(99);
}

/* Returns a request with Basic authentication. `base64` is "user:password" in base64. */
static const char *with_password(const char *base64)
{
	static char lines[256];

	snprintf(lines, sizeof(lines), "GET /metrics HTTP/1.1\r\nAuthorization: Basic %s\r\n",
		 base64);
	return lines;
}

#define ALICE_GOOD "YWxpY2U6b3Blbg==" /* base64 of alice:open */
#define ALICE_BAD  "YWxpY2U6c2h1dA==" /* base64 of alice:shut */
#define BOB_GOOD   "Ym9iOm9wZW4="     /* base64 of bob:open */

static void test_passwords(void)
{
	static const char *const refused = PLAIN "WWW-Authenticate: Basic realm=\"faultscope\"\r\n"
						 "X-Frame-Options: deny\r\n";
	static const char *const good = "Content-Type: text/x\r\nVary: Accept, Accept-Encoding\r\n"
					"X-Frame-Options: deny\r\n";
	struct page p = {.type = "text/x", .text = "faults 1\n"};
	struct endpoint *e;
	char config[512];

	snprintf(config, sizeof(config),
		 "basic_auth_users:\n  alice: %s\nhttp_server_config:\n  headers:\n"
		 "    X-Frame-Options: deny\n",
		 crypt("open", "$2b$04$abcdefghijklmnopqrstuu"));
	write_config(config);
	e = open_endpoint(&p, NULL, config_path);
	is_str(endpoint_reads(e, 0), "/tmp", "it reads from the directory of its configuration");
	ok(!endpoint_reads(e, 1), "and from no other");
	answers(e, "GET /metrics HTTP/1.1\r\n", "401 Unauthorized", refused, "Unauthorized\n",
		"without a password");
	answers(e, with_password(ALICE_BAD), "401 Unauthorized", refused, "Unauthorized\n",
		"with a wrong one");
	answers(e, with_password(BOB_GOOD), "401 Unauthorized", refused, "Unauthorized\n",
		"with the password of somebody else");
	is_u64(p.asked, 0, "nobody has seen the metrics");
	answers(e, with_password(ALICE_GOOD), "200 OK", good, "faults 1\n", "with the right one");
	answers(e, with_password(ALICE_GOOD), "200 OK", good, "faults 1\n",
		"and again, without asking anew");
	is_u64(e->verifier.last, 3, "each password is checked once; a good one is remembered");
	kill(e->verifier.pid, SIGKILL);
	while (e->verifier.fd >= 0)
		turn(e, -1);
	answers(e, with_password(ALICE_BAD), "401 Unauthorized", refused, "Unauthorized\n",
		"without the process that checks, nobody new comes in");
	answers(e, with_password(ALICE_GOOD), "200 OK", good, "faults 1\n",
		"but who is remembered does");
	endpoint_close(e);
}

static void test_reload(void)
{
	struct page p = {.type = "text/x", .text = "faults 1\n"};
	struct endpoint *e;
	char c, config[512];
	int fd;

	write_config("rate_limit:\n  interval: 1h\n  burst: 1\n");
	e = open_endpoint(&p, NULL, config_path);
	answers(e, "GET /-/healthy HTTP/1.1\r\n", "200 OK", PLAIN, "faultscope is healthy.\n",
		"the first request");
	answers(e, "GET /-/healthy HTTP/1.1\r\n", "429 Too Many Requests", PLAIN,
		"Too many requests\n", "the second, where one is allowed in an hour");
	fd = connect_to(e);
	while (!e->nr_clients)
		turn(e, -1);
	write_config("nonsense: 1\n");
	ok(endpoint_reload(e, error, sizeof(error)) == -EINVAL && strstr(error, "nonsense"),
	   "a wrong configuration is refused: %s", error);
	ok(recv(fd, &c, 1, MSG_DONTWAIT) == -1 && errno == EAGAIN, "and closes no connection");
	snprintf(config, sizeof(config), "basic_auth_users:\n  alice: %s\n",
		 crypt("open", "$2b$04$abcdefghijklmnopqrstuu"));
	write_config(config);
	ok(!endpoint_reload(e, error, sizeof(error)), "another is taken");
	ok(recv(fd, &c, 1, MSG_DONTWAIT) == 0, "which closes connections");
	close(fd);
	answers(e, "GET /-/healthy HTTP/1.1\r\n", "401 Unauthorized",
		PLAIN "WWW-Authenticate: Basic realm=\"faultscope\"\r\n", "Unauthorized\n",
		"it holds from now on");
	ok(strstr(ask(e, with_password(ALICE_GOOD)), "\r\n\r\nfaults 1\n"),
	   "and its users come in");
	unlink(config_path);
	ok(endpoint_reload(e, error, sizeof(error)) == -ENOENT, "a file that is gone: %s", error);
	endpoint_close(e);
}

/* Tests that a gzip response is smaller, has the right header, and unpacks to the original page. */
static void test_gzip(void)
{
	static char text[8192];
	struct page p = {.type = "text/x", .text = text};
	struct endpoint *e = open_endpoint(&p, NULL, NULL);
	struct buf packed = {}, body = {};
	struct gzip *gzip = NULL;
	const char *s, *at;

	memset(text, 'f', sizeof(text) - 1);
	buf_puts(&body, text);
	ok(!gzip_pack(&gzip, &(struct gzip_way){.level = 1, .window_bits = 12, .memory = 6}, &body,
		      &packed),
	   "a compressed page");
	s = ask(e, "GET /metrics HTTP/1.1\r\nAccept-Encoding: gzip\r\n");
	ok(strstr(s, "\r\nContent-Encoding: gzip\r\n"), "the answer says that it is compressed");
	at = strstr(s, "\r\n\r\n");
	ok(at && length == packed.len && !memcmp(at + 4, packed.s, packed.len),
	   "and it is that page");
	s = ask(e, "GET /metrics HTTP/1.1\r\nAccept-Encoding: gzip;q=0\r\n");
	at = strstr(s, "\r\n\r\n");
	ok(!strstr(s, "Content-Encoding") && at && !strcmp(at + 4, text),
	   "who does not take gzip gets it plain");
	gzip_free(gzip);
	buf_free(&packed);
	buf_free(&body);
	endpoint_close(e);
}

static void test_addresses(void)
{
	struct endpoint_options o = {.metrics = make_metrics, .ready = is_ready};
	static const char *const bad[] = {"127.0.0.1:0", "127.0.0.1:nothing"};
	struct endpoint *e = NULL;

	o.address = bad;
	o.addresses = 2;
	ok(endpoint_open(&o, &e, error, sizeof(error)) == -EINVAL && !e,
	   "where one of two addresses is wrong, none is served: %s", error);
	o.addresses = 1;
	o.config_file = "/nowhere/web.yml";
	ok(endpoint_open(&o, &e, error, sizeof(error)) == -ENOENT && !e &&
		   strstr(error, "/nowhere/web.yml"),
	   "a configuration that is not there: %s", error);
}

int main(void)
{
	int fd = mkstemp(config_path);

	close(fd);
	alarm(60); /* ends the test after 60 s, in case a response never arrives */
	test_pages();
	test_refusals();
	test_connections();
	test_passwords();
	test_reload();
	test_gzip();
	test_addresses();
	unlink(config_path);
	return tap_done();
}
