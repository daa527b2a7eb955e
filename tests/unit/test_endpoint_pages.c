// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the pages of the endpoint for snapshots and profiles: who may ask, what the page gets, and
 * the answer to each result. Also tests how many addresses there may be.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include "fixture.h"
#include "serve/http.h"
#include "tap.h"

#define ALICE "Authorization: Basic YWxpY2U6b3Blbg==\r\n" /* base64 of alice:open */
#define OPEN                                                                                       \
	"$2b$04$abcdefghijklmnopqrstuu5cldSTjqTa.nw4QeJC5.F6G/ueChgIa" /* of the password open */
#define PLAIN "Content-Type: text/plain; charset=utf-8\r\n"

static struct {
	char name[64]; /* of the profile that was asked for; "": none */
	double seconds;
	unsigned int snapshots;
	int err;     /* result of the next profile */
	bool failed; /* the next profile cannot be made */
	bool done;   /* result of the next snapshot */
} page;

static char error[512];
static struct endpoint *e;

static const char *make_metrics(void *ctx, const char *accept, double timeout_s, struct buf *body)
{
	(void)ctx, (void)accept, (void)timeout_s;
	buf_puts(body, "faults 1\n");
	return "text/x";
}

static bool is_ready(void *ctx)
{
	(void)ctx;
	return true;
}

static int make_profile(void *ctx, const char *name, double seconds, struct buf *body)
{
	(void)ctx;
	snprintf(page.name, sizeof(page.name), "%s", name);
	page.seconds = seconds;
	buf_puts(body, "a profile");
	body->failed |= page.failed;
	return page.err;
}

static bool make_snapshot(void *ctx, struct buf *body)
{
	(void)ctx;
	page.snapshots++;
	buf_puts(body, page.done ? "/a/file\n" : "too many\n");
	return page.done;
}

static const char *const local[ENDPOINT_ADDRESSES + 1] = {
	"127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0",
	"127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0",
};

static int open_with(size_t addresses, bool pages, const char *config)
{
	struct endpoint_options o = {.address = local,
				     .addresses = addresses,
				     .config_file = config,
				     .metrics = make_metrics,
				     .ready = is_ready};

	if (pages) {
		o.snapshot = make_snapshot;
		o.profile = make_profile;
	}
	e = NULL;
	memset(&page, 0, sizeof(page));
	return endpoint_open(&o, &e, error, sizeof(error));
}

/* Sends a request, and returns the whole answer. The server runs in this thread. */
static const char *ask(const char *line, const char *headers)
{
	static char s[16384];
	char text[1024];
	struct sockaddr_in to = {.sin_family = AF_INET};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	size_t len = 0;
	ssize_t n = 1;

	to.sin_port = htons(atoi(strrchr(endpoint_url(e, 0), ':') + 1));
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	snprintf(text, sizeof(text), "%s HTTP/1.1\r\nHost: here\r\nConnection: close\r\n%s\r\n",
		 line, headers);
	if (connect(fd, (struct sockaddr *)&to, sizeof(to)) ||
	    send(fd, text, strlen(text), MSG_NOSIGNAL) != (ssize_t)strlen(text))
		exit(99);
	while (n > 0) {
		struct pollfd p[2] = {{.fd = fd, .events = POLLIN},
				      {.fd = endpoint_fd(e), .events = POLLIN}};

		poll(p, 2, endpoint_timeout_ms(e));
		endpoint_run(e);
		if (!p[0].revents)
			continue;
		n = recv(fd, s + len, sizeof(s) - 1 - len, MSG_DONTWAIT);
		len += n > 0 ? n : 0;
		n = n < 0 && errno == EAGAIN ? 1 : n;
	}
	close(fd);
	s[len] = 0;
	return s;
}

/* Checks the status, a header line, and the body of an answer. */
static void answers(const char *line, const char *headers, const char *status, const char *header,
		    const char *body)
{
	const char *got = ask(line, headers), *end = strstr(got, "\r\n\r\n");
	size_t len = strlen(status);

	ok(!strncmp(got, "HTTP/1.1 ", 9) && !strncmp(got + 9, status, len), "%s: %.3s", line,
	   status);
	ok(strstr(got, header) != NULL, "its header");
	is_str(end ? end + 4 : NULL, body, "its body");
}

static void test_profiles(void)
{
	static const struct {
		const char *url, *name;
		double seconds;
	} rows[] = {
		{"GET /debug/pprof/faults", "faults", 0},
		{"GET /debug/pprof/maps?seconds=2.5", "maps", 2.5},
		{"GET /debug/pprof/fds?seconds=0", "fds", 0},
		{"GET /debug/pprof/fds?seconds=-1", "fds", 0},
		{"GET /debug/pprof/?seconds=x", "", 0},
	};
	static const char octets[] = "Content-Type: application/octet-stream\r\n";

	ok(!open_with(1, true, NULL), "an endpoint");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		strcpy(page.name, "none");
		answers(rows[i].url, "", "200 OK\r\n", octets, "a profile");
		is_str(page.name, rows[i].name, "the profile that was asked for");
		ok(page.seconds == rows[i].seconds, "for %g s", rows[i].seconds);
	}
	ok(strstr(ask("GET /debug/pprof/faults", ""), "\r\nX-Content-Type-Options: nosniff\r\n"),
	   "no browser guesses what it is");
	page.err = -ENOENT;
	answers("GET /debug/pprof/x", "", "404 Not Found\r\n", PLAIN,
		"There is no such profile: faults, mappings, fds or stalls.\n");
	page.err = -EAGAIN;
	answers("GET /debug/pprof/x", "", "503 Service Unavailable\r\n", PLAIN,
		"There is no profile yet, or it could not be made.\n");
	page.err = 0;
	page.failed = true;
	answers("GET /debug/pprof/x", "", "503 Service Unavailable\r\n", PLAIN,
		"There is no profile yet, or it could not be made.\n");
	page.failed = false;
	answers("GET /debug/pprof/x", "", "200 OK\r\n", octets, "a profile");
	strcpy(page.name, "none");
	answers("GET /debug/pprof", "", "404 Not Found\r\n", PLAIN, "There is nothing here.\n");
	is_str(page.name, "none", "this is no profile");
	endpoint_close(e);
}

static void test_snapshots(void)
{
	static const char forbidden[] =
		"Snapshots need authentication: set basic_auth_users or client_ca_file in the file "
		"of --web.config.file.\n";
	const char *config = fixture_path("web.yml");
	FILE *f = fopen(config, "w");

	if (!f)
		abort();
	fputs("basic_auth_users:\n  alice: " OPEN "\n", f);
	fclose(f);
	ok(!open_with(1, true, NULL), "an endpoint for everybody");
	answers("POST /-/snapshot", "Content-Length: 0\r\n", "403 Forbidden\r\n", PLAIN, forbidden);
	answers("GET /-/snapshot", "", "403 Forbidden\r\n", PLAIN, forbidden);
	is_u64(page.snapshots, 0, "no snapshot is made");
	endpoint_close(e);
	if (!ok(!open_with(1, true, config), "an endpoint with passwords"))
		return;
	page.done = true;
	answers("POST /-/snapshot", "Content-Length: 0\r\n", "401 Unauthorized\r\n",
		"WWW-Authenticate: Basic realm=\"faultscope\"\r\n", "Unauthorized\n");
	answers("GET /-/snapshot", ALICE, "405 Method Not Allowed\r\n", "Allow: POST\r\n",
		"Use POST.\n");
	is_u64(page.snapshots, 0, "no snapshot is made");
	answers("POST /-/snapshot", ALICE "Content-Length: 0\r\n", "200 OK\r\n", PLAIN,
		"/a/file\n");
	is_u64(page.snapshots, 1, "one is made");
	page.done = false;
	answers("POST /-/snapshot", ALICE "Content-Length: 0\r\n", "503 Service Unavailable\r\n",
		PLAIN, "too many\n");
	is_u64(page.snapshots, 2, "each request makes one");
	endpoint_close(e);
}

static void test_no_pages(void)
{
	ok(!open_with(1, false, NULL), "an endpoint without these pages");
	answers("GET /debug/pprof/faults", "", "404 Not Found\r\n", PLAIN,
		"There is nothing here.\n");
	answers("POST /-/snapshot", "Content-Length: 0\r\n", "404 Not Found\r\n", PLAIN,
		"There is nothing here.\n");
	answers("GET /metrics", "", "200 OK\r\n", "Content-Type: text/x\r\n", "faults 1\n");
	endpoint_close(e);
}

/* There are at most eight addresses, each with a URL. */
static void test_addresses(void)
{
	bool differ = true;

	ok(!open_with(ENDPOINT_ADDRESSES, false, NULL), "as many addresses as there may be");
	for (size_t i = 0; i < ENDPOINT_ADDRESSES; i++) {
		const char *url = endpoint_url(e, i);

		ok(url && !strncmp(url, "http://127.0.0.1:", 17), "the URL of each");
		for (size_t k = 0; k < i; k++)
			differ &= strcmp(url, endpoint_url(e, k)) != 0;
	}
	ok(differ, "no two are the same");
	ok(!endpoint_url(e, ENDPOINT_ADDRESSES), "there is no other");
	ok(!endpoint_reads(e, 0), "and nothing to read");
	endpoint_close(e);
	ok(open_with(ENDPOINT_ADDRESSES + 1, false, NULL) == -E2BIG && !e, "one more");
	is_str(error, "cannot listen on 127.0.0.1:0: too many addresses", "is too many");
}

int main(void)
{
	alarm(60); /* ends the test after 60 s, in case a response never arrives */
	test_profiles();
	test_snapshots();
	test_no_pages();
	test_addresses();
	return tap_done();
}
