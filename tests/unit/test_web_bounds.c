// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the web configuration at its bounds: sizes of files, lengths of lists and texts, numbers,
 * which values need which others, and where an error is.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#include "fixture.h"
#include "serve/web_config.h"
#include "serve/web_libraries.h"
#include "tap.h"

#define FILE_MOST (256 << 10)
#define TLS	  "tls_server_config:\n  cert: C\n  key: K\n"
#define HASH_58	  "$2y$05$abcdefghijklmnopqrstuuABCDEFGHIJKLMNOPQRSTUVWXYZ012"

static char error[512];
static struct web_config c;

static void put(const char *name, const char *text, size_t len)
{
	int fd = open(fixture_path(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, text, len) != (ssize_t)len)
		abort();
	close(fd);
}

/* Reads a configuration. The caller frees it if the result is 0. */
static int read_bytes(const char *text, size_t len)
{
	put("web.yml", text, len);
	error[0] = 0;
	memset(&c, 0, sizeof(c));
	return web_config_read(fixture_path("web.yml"), &c, error, sizeof(error));
}

static int read_text(const char *text)
{
	return read_bytes(text, strlen(text));
}

static void is_good(const char *text, const char *name)
{
	ok(!read_text(text), "%s %s", name, error);
}

/* Checks that a text is refused, and that the whole message is `want` behind the path. */
static void is_bad(const char *text, const char *want)
{
	const char *path = fixture_path("web.yml");
	int err = read_text(text);

	ok(err == -EINVAL && !strncmp(error, path, strlen(path)), "it is refused");
	is_str(error + strlen(path), want, "with this message");
	web_config_free(&c);
}

static void test_file_sizes(void)
{
	static char text[FILE_MOST + 2];

	memset(text, ' ', sizeof(text));
	memcpy(text, "rate_limit:\n  burst: 3\n#", 24);
	for (size_t len = FILE_MOST - 1; len <= FILE_MOST + 1; len++) {
		int err = read_bytes(text, len);

		ok(err == (len <= FILE_MOST ? 0 : -EFBIG), "a file of %zu bytes: %s", len, error);
		ok(c.rate.burst == (err ? 0 : 3), "is %s", err ? "not read" : "read");
		web_config_free(&c);
	}
	memset(text, 'x', sizeof(text));
	put("cert.pem", text, FILE_MOST);
	is_good("tls_server_config:\n  cert_file: cert.pem\n  key: K\n", "a long certificate");
	is_u64(c.cert ? strlen(c.cert) : 0, FILE_MOST, "is read to its end");
	web_config_free(&c);
	put("cert.pem", text, FILE_MOST + 1);
	ok(read_text("tls_server_config:\n  cert_file: cert.pem\n  key: K\n") == -EINVAL &&
		   strstr(error, "cert_file: cannot read ") && strstr(error, ": File too large"),
	   "a longer one is too large: %s", error);
	put("cert.pem", "", 0);
	is_good("tls_server_config:\n  cert_file: cert.pem\n  key: K\n", "an empty certificate");
	is_str(c.cert, "", "is empty");
	web_config_free(&c);
	ok(read_text("tls_server_config:\n  cert_file: /\n  key: K\n") == -EINVAL &&
		   strstr(error, "cert_file: cannot read /: Is a directory"),
	   "a directory is no certificate: %s", error);
	is_u64(-web_config_read(fixture_path(""), &c, error, sizeof(error)), EISDIR,
	       "nor a configuration");
}

/* A list of `n` elements below a key. */
static char *list_of(const char *begin, const char *element, int n)
{
	static char text[8192];
	size_t len = snprintf(text, sizeof(text), "%s", begin);

	for (int i = 0; i < n; i++)
		len += snprintf(text + len, sizeof(text) - len, "%s", element);
	return text;
}

static void test_lists(void)
{
	static const char *const keys[] = {"client_allowed_sans", "cipher_suites",
					   "curve_preferences"};
	static const char headers[] = "http_server_config:\n  headers:\n";

	for (int i = 0; i < 3; i++) {
		char begin[256], want[128];

		snprintf(begin, sizeof(begin),
			 TLS "  client_auth_type: RequireAnyClientCert\n  %s:\n", keys[i]);
		is_good(list_of(begin, "    - a\n", WEB_NAMES), keys[i]);
		is_u64(c.client_sans + c.cipher_suites + c.curves, 32, "32 elements");
		is_str(i == 0	? c.client_san[31]
		       : i == 1 ? c.cipher_suite[31]
				: c.curve[31],
		       "a", "the last of them");
		web_config_free(&c);
		snprintf(want, sizeof(want), ": %s: more than 32 elements", keys[i]);
		is_bad(list_of(begin, "    - a\n", WEB_NAMES + 1), want);
		snprintf(want, sizeof(want), ": %s: each element must be a text", keys[i]);
		is_bad(list_of(begin, "    - \"\"\n", 1), want);
	}
	is_good(list_of(headers, "    X-Frame-Options: deny\n", WEB_HEADERS), "headers:");
	is_u64(c.headers, 8, "8 of them");
	is_str(c.header[7].name, "X-Frame-Options", "the last of them");
	web_config_free(&c);
	is_bad(list_of(headers, "    X-Frame-Options: deny\n", WEB_HEADERS + 1),
	       ": X-Frame-Options: more than 8 entries in this section");
}

static void test_headers(void)
{
	static const char *const names[] = {"Strict-Transport-Security", "X-Content-Type-Options",
					    "X-Frame-Options", "X-XSS-Protection",
					    "Content-Security-Policy"};
	char text[256], want[256];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(text, sizeof(text), "http_server_config:\n  headers:\n    %s: v\n",
			 names[i]);
		is_good(text, names[i]);
		ok(c.headers == 1 && !strcmp(c.header[0].name, names[i]) &&
			   !strcmp(c.header[0].value, "v"),
		   "has its name and value");
		web_config_free(&c);
		snprintf(text, sizeof(text), "http_server_config:\n  headers:\n    %sx: v\n",
			 names[i]);
		snprintf(want, sizeof(want), ": http_server_config: headers: %sx is not supported",
			 names[i]);
		is_bad(text, want);
	}
	is_bad("http_server_config:\n  headers:\n    X-Frame-Options: [a]\n",
	       ": http_server_config: headers: X-Frame-Options is not supported");
	is_bad("http_server_config:\n  headers:\n    X-Frame-Options: \"a\\nb\"\n",
	       ": http_server_config: headers: X-Frame-Options is not supported");
	is_bad("http_server_config:\n  headers:\n    X-Frame-Options: \"a\\rb\"\n",
	       ": http_server_config: headers: X-Frame-Options is not supported");
}

/* A bcrypt hash has 60 characters, and begins with "$2". */
static void test_hashes(void)
{
	static const struct {
		const char *hash;
		bool good;
	} rows[] = {
		{HASH_58 "34", true},
		{HASH_58 "3", false},
		{HASH_58 "345", false},
		{"x" HASH_58 "3", false},
		{"$3y$05$abcdefghijklmnopqrstuuABCDEFGHIJKLMNOPQRSTUVWXYZ01234", false},
		{"_2y$05$abcdefghijklmnopqrstuuABCDEFGHIJKLMNOPQRSTUVWXYZ01234", false},
		{"[]", false},
	};
	char text[256];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snprintf(text, sizeof(text), "basic_auth_users:\n  eve: %s\n", rows[i].hash);
		if (rows[i].good) {
			is_good(text, "a hash");
			ok(c.users == 1 && !strcmp(c.user[0].name, "eve") &&
				   !strcmp(c.user[0].value, rows[i].hash),
			   "of a user");
			web_config_free(&c);
		} else {
			is_bad(text, ": basic_auth_users: eve: not a bcrypt hash");
		}
	}
}

static void test_rates(void)
{
	static const char wrong[] = ": rate_limit: burst: must be a number of requests up to "
				    "1000000";

	is_good("rate_limit:\n  burst: 1000000\n  interval: 1h\n", "the largest rate");
	ok(c.rate.burst == 1000000 && c.rate.interval_ns == 3600 * SECOND, "as it was given");
	web_config_free(&c);
	is_bad("rate_limit:\n  burst: 1000001\n", wrong);
	is_bad("rate_limit:\n  burst: 99999999999999999999999\n", wrong);
	is_bad("rate_limit:\n  burst: \" 1\"\n", wrong);
	is_bad("rate_limit:\n  burst: +1\n", wrong);
	is_bad("rate_limit:\n  burst:\n", wrong);
	is_bad("rate_limit:\n  burst: [1]\n", wrong);
	is_good("rate_limit:\n  burst: 0\n", "without an interval, a burst of 0");
	web_config_free(&c);
	is_good("rate_limit:\n  burst: 1\n  interval: 1ns\n", "the smallest rate");
	ok(c.rate.burst == 1 && c.rate.interval_ns == 1, "as it was given");
	web_config_free(&c);
	is_bad("rate_limit:\n  burst: 0\n  interval: 1ns\n",
	       ": rate_limit: burst: must be at least 1, or every request is rejected");
	is_bad("rate_limit:\n  interval: 1h1m\n  burst: 1\n",
	       ": rate_limit: interval: must be 0 or a time up to 1h (100ms)");
}

/* Which kinds of authentication need a CA, and which ones permit a list of names. */
static void test_clients(void)
{
	static const struct {
		const char *name;
		unsigned int value;
		bool needs_ca, permits_ca, permits_names;
	} rows[] = {
		{"", CLIENT_NONE, false, false, false},
		{"NoClientCert", CLIENT_NONE, false, false, false},
		{"RequestClientCert", CLIENT_REQUEST, false, true, false},
		{"RequireAnyClientCert", CLIENT_REQUIRE_ANY, false, true, true},
		{"RequireClientCert", CLIENT_REQUIRE_ANY, false, true, true},
		{"VerifyClientCertIfGiven", CLIENT_VERIFY_IF_GIVEN, true, true, false},
		{"RequireAndVerifyClientCert", CLIENT_REQUIRE_AND_VERIFY, true, true, true},
	};
	char text[512];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *ca = rows[i].needs_ca ? "  client_ca: A\n" : "";

		snprintf(text, sizeof(text), TLS "  client_auth_type: %s\n", rows[i].name);
		if (rows[i].needs_ca)
			is_bad(text, ": client_auth_type: needs client_ca_file");
		else
			is_good(text, rows[i].name);
		if (!rows[i].needs_ca) {
			is_u64(c.client_auth, rows[i].value, "its value");
			web_config_free(&c);
		}
		strcat(text, "  client_ca: A\n");
		if (rows[i].permits_ca) {
			is_good(text, "with a CA:");
			is_u64(c.client_auth, rows[i].value, "its value");
			is_str(c.client_ca, "A", "and the CA");
			web_config_free(&c);
		} else {
			is_bad(text, ": client_ca_file: needs client_auth_type");
		}
		snprintf(text, sizeof(text),
			 TLS "%s  client_auth_type: %s\n  client_allowed_sans: [a]\n", ca,
			 rows[i].name);
		if (rows[i].permits_names) {
			is_good(text, "with names:");
			is_u64(c.client_sans, 1, "a name");
			web_config_free(&c);
		} else {
			is_bad(text, ": client_allowed_sans: needs a client_auth_type that "
				     "requires a certificate");
		}
	}
}

static void test_versions(void)
{
	static const struct {
		const char *lines;
		bool tls13_only;
	} rows[] = {
		{"", false},
		{"  min_version: TLS12\n", false},
		{"  min_version: TLS13\n", true},
		{"  max_version: TLS13\n", false},
		{"  min_version: TLS12\n  max_version: TLS13\n", false},
		{"  min_version: TLS13\n  max_version: TLS13\n", true},
	};
	char text[256];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snprintf(text, sizeof(text), TLS "%s", rows[i].lines);
		is_good(text, "versions");
		ok(c.tls && c.tls13_only == rows[i].tls13_only, "TLS 1.3%s",
		   rows[i].tls13_only ? " alone" : " and others");
		web_config_free(&c);
	}
	is_bad(TLS "  min_version: TLS11\n", ": min_version: must be TLS12 or TLS13");
	is_bad(TLS "  min_version: [TLS12]\n", ": min_version: must be TLS12 or TLS13");
	is_bad(TLS "  max_version: TLS12\n", ": max_version: must be TLS13 or absent");
	is_bad(TLS "  max_version: TLS11\n", ": max_version: must be TLS13 or absent");
}

/* Messages say where an error is. Lines count from 1. */
static void test_places(void)
{
	is_bad("- a\n", ": line 1: the file must be a mapping (KEY: VALUE)");
	is_bad("a\n", ": line 1: the file must be a mapping (KEY: VALUE)");
	is_bad("rate_limit:\n  burst: 1\nbasic_auth_users:\n  - a\n",
	       ": line 4: basic_auth_users must be a mapping (KEY: VALUE)");
	is_bad("rate_limit:\n  burst: 1\n\n  [a]: 1\n", ": line 2: a key must be a text");
	ok(read_text("rate_limit:\n  burst: 1\n  interval: [\n") == -EINVAL &&
		   strstr(error, ": line 4: "),
	   "YAML that does not end: %s", error);
	is_bad("rate_limits:\n  burst: 1\n", ": rate_limits is not supported");
	is_bad("tls_server_config:\n  cert: C\n", ": tls_server_config: needs cert_file and "
						  "key_file");
	is_bad("tls_server_config:\n  key: K\n",
	       ": tls_server_config: needs cert_file and key_file");
	is_bad("tls_server_config: {}\n", ": tls_server_config: needs cert_file and key_file");
	is_bad(TLS "  key: L\n", ": key: the value was already given");
	is_bad(TLS "  client_ca:\n", ": client_ca: must be a text");
	is_bad(TLS "  client_ca: [a]\n", ": client_ca: must be a text");
	is_bad("tls_server_config:\n  cert_file: [a]\n", ": cert_file: must be the name of a file");
}

/* The directories of files, and of the targets of links, are noted once each. */
static void test_directories(void)
{
	char top[PATH_MAX], want[PATH_MAX], text[1024];

	if (mkdir(fixture_path("a"), 0700) || mkdir(fixture_path("b"), 0700) ||
	    symlink("../b/key.pem", fixture_path("a/link.pem")) ||
	    symlink("b/key.pem", fixture_path("same.pem")) || !realpath(fixture_path(""), top))
		abort();
	put("b/key.pem", "K", 1);
	put("here.pem", "C", 1);
	is_good("tls_server_config:\n  cert_file: here.pem\n  key_file: a/link.pem\n", "links");
	is_u64(c.dirs, 3, "three directories");
	is_str(c.dir[0], top, "that of the configuration, and of a file beside it");
	snprintf(want, sizeof(want), "%.4000s/a", top);
	is_str(c.dir[1], want, "that of a link");
	snprintf(want, sizeof(want), "%.4000s/b", top);
	is_str(c.dir[2], want, "that of its target");
	is_str(c.key, "K", "whose text is read");
	web_config_free(&c);
	snprintf(text, sizeof(text),
		 "tls_server_config:\n  cert_file: same.pem\n  key_file: %.500s/b/key.pem\n", top);
	is_good(text, "an absolute path");
	is_u64(c.dirs, 2, "two directories");
	is_str(c.dir[1], want, "the second is that of the target and of the file");
	web_config_free(&c);
	ok(!c.dirs && !c.dir[0] && !c.cert, "nothing is left");
}

int main(void)
{
	if (!ok(!config_libraries_load(), "the libraries are installed"))
		return tap_done();
	test_file_sizes();
	test_lists();
	test_headers();
	test_hashes();
	test_rates();
	test_clients();
	test_versions();
	test_places();
	test_directories();
	return tap_done();
}
